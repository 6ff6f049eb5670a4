//! How long stage 1 takes on the first device, for each curve and bit of the scalar: the median of ten
//! launches that fill it, and the least and the greatest.
//!
//! ```text
//! cargo run --release -p ecm --example stage1_rate [BLOCKS OF A WAVE, 132 by default]
//! ```

use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{Stage1, scalar};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let processors = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let processors: usize = processors.unwrap_or(132);
    let engine = Engine::cuda(0)?;
    let devices = bigint_host::advanced::devices()?;
    println!("device: {devices:?}");
    let scalar = scalar(60_000);
    println!("bits curves each-launch ns-a-curve-and-bit least greatest");
    // Blocks of a multiprocessor, by registers and shared memory.
    for (bits, blocks) in [
        (122, 8),
        (250, 4),
        (378, 3),
        (506, 2),
        (634, 3),
        (762, 3),
        (1018, 2),
        (1530, 1),
        (2042, 1),
        (2298, 1),
    ] {
        let n = (BigUint::from(1u8) << bits) - 1u8;
        let count = 2 * processors * blocks * 128;
        let each = 2_000_000 / (bits * bits / 64 + 400);
        let mut stage = Stage1::on_device(&engine, &n, 1000, count, &scalar)?.expect("a device");
        let mut times = Vec::new();
        for launch in 0..11 {
            let began = Instant::now();
            stage.advance(each)?;
            // The first one loads the module.
            if launch > 0 {
                times.push(1e9 * began.elapsed().as_secs_f64() / (count * each) as f64);
            }
        }
        times.sort_by(f64::total_cmp);
        println!(
            "{bits} {count} {each} {:.4} {:.4} {:.4}",
            (times[4] + times[5]) / 2.0,
            times[0],
            times[9]
        );
    }
    Ok(())
}
