//! How long stage 1 takes on the first device, for each curve and bit of the scalar: the median of ten
//! launches that fill it, and the least and the greatest; and the time in which a curve begins, on the host and, where
//! it is an Edwards curve, with its table on the device.
//!
//! ```text
//! cargo run --release -p ecm --example stage1_rate [MULTIPROCESSORS, 132 by default]
//! ```

use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{Family, Stage1, scalar};

/// `B1` of the scalar.
const B1: u64 = 1_000_000;

/// The greatest number of so many bits without a small factor, which would make some curves none.
fn modulus(bits: u64) -> BigUint {
    let is_divided = |n: &BigUint| (3u32..10_000).step_by(2).any(|p| n % p == BigUint::ZERO);
    let mut n = (BigUint::from(1u8) << bits) - 1u8;
    while is_divided(&n) {
        n -= 2u8;
    }
    n
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let processors = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let processors: usize = processors.unwrap_or(132);
    let engine = Engine::cuda(0)?;
    let devices = bigint_host::advanced::devices()?;
    println!("device: {devices:?}");
    let scalar = scalar(B1);
    println!("family bits curves each-launch ns-a-curve-and-bit least greatest begin-us-a-curve");
    // Curves of a multiprocessor, by registers and shared memory.
    for (bits, curves) in [
        (122, 1024),
        (250, 512),
        (378, 384),
        (506, 256),
        (634, 384),
        (762, 384),
        (1018, 256),
        (1530, 192),
        (2042, 128),
        (2298, 128),
        (3066, 96),
        (4602, 64),
        (6138, 48),
        (9210, 32),
    ] {
        for family in [Family::Param3, Family::Edwards] {
            let n = modulus(bits);
            let count = 2 * processors * curves;
            if Stage1::room_on_device(&engine, &n, family, &scalar)? < count {
                println!("{family:?} {bits}: {count} curves take too much memory");
                continue;
            }
            let begun = Instant::now();
            let stage = Stage1::on_device(&engine, &n, family, 1000, count, &scalar)?;
            let Some(mut stage) = stage else {
                println!("{family:?} {bits}: no kernel");
                continue;
            };
            let begin = begun.elapsed().as_secs_f64();
            let (_, steps) = stage.progress();
            let bits_of_step = scalar.bits() as f64 / steps as f64;
            let each = (2_000_000.0 / (bits * bits / 64 + 400) as f64 / bits_of_step).ceil();
            let each = each as usize;
            let mut times = Vec::new();
            for launch in 0..11 {
                let began = Instant::now();
                stage.advance(each)?;
                // The first one loads the module.
                if launch > 0 {
                    let walked = count as f64 * each as f64 * bits_of_step;
                    times.push(1e9 * began.elapsed().as_secs_f64() / walked);
                }
            }
            times.sort_by(f64::total_cmp);
            println!(
                "{family:?} {bits} {count} {each} {:.4} {:.4} {:.4} {:.2}",
                (times[4] + times[5]) / 2.0,
                times[0],
                times[9],
                1e6 * begin / count as f64,
            );
        }
    }
    Ok(())
}
