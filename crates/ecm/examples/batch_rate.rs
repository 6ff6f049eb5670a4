//! How long a curve on each of many numbers takes, on the first device and on all cores: numbers a second, and in
//! stage 1 ns for each number and bit of the scalar.
//!
//! ```text
//! cargo run --release -p ecm --example batch_rate [NUMBERS [NUMBERS-OF-CPU [B1 [B2]]]]      # 1e6 65536 1000 5e4
//! ```

use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{Bounds, Ecm, scalar};

/// Odd numbers of so many bits that 3, 5 and 7 do not divide.
fn numbers(bits: u32, count: usize) -> Vec<BigUint> {
    let mut state = u64::from(bits);
    let mut word = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let random = std::iter::repeat_with(|| {
        let limbs: Vec<_> = (0..bits / 32).map(|_| word() as u32).collect();
        let mut n = BigUint::new(limbs);
        n.set_bit(0, true);
        n.set_bit(u64::from(bits) - 1, true);
        n
    });
    let is_left = |n: &BigUint| [3u8, 5, 7].into_iter().all(|p| n % p != BigUint::from(0u8));
    random.filter(is_left).take(count).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| words.get(i).map(|word| word.parse::<f64>()).transpose();
    let count = number(0)?.map_or(1_000_000, |count| count as usize);
    let of_cpu = number(1)?.map_or(65_536, |count| count as usize).min(count);
    let b1 = number(2)?.map_or(1000, |b1| b1 as u64);
    let b2 = number(3)?.map_or(50_000, |b2| b2 as u64);
    println!("device: {:?}", bigint_host::advanced::devices()?);
    println!("B1 = {b1}, B2 = {b2}: {} bits", scalar(b1).bits());
    println!("bits where numbers stage-1-s ns-a-number-and-bit both-stages-s numbers/s found");
    for bits in [64, 128, 256, 512] {
        let numbers = numbers(bits, count);
        let mut found = Vec::new();
        let engines = [
            ("gpu", Engine::cuda(0)?, count),
            ("cpu", Engine::cpu(), of_cpu),
        ];
        for (name, engine, count) in engines {
            let numbers = &numbers[..count];
            let run = |b2: u64| {
                let bounds = Bounds { b1, b2, curves: 1 };
                let ecm = Ecm::new(&engine, bounds);
                // The first run compiles the kernels.
                ecm.batch(&numbers[..count.min(4096)], 1000)?;
                let began = Instant::now();
                let found = ecm.batch(numbers, 1000)?;
                Ok::<_, ecm::Error>((began.elapsed().as_secs_f64(), found))
            };
            let (stage1, _) = run(0)?;
            let (both, divisors) = run(b2)?;
            println!(
                "{bits} {name} {count} {stage1:.3} {:.4} {both:.3} {:.0} {}",
                1e9 * stage1 / (count as f64 * scalar(b1).bits() as f64),
                count as f64 / both,
                divisors.iter().flatten().count(),
            );
            found.push(divisors);
        }
        assert_eq!(found[0][..of_cpu], found[1][..], "{bits} bits");
    }
    Ok(())
}
