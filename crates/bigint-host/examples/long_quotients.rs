//! Divides long numbers and takes their square roots, times it beside products, and checks every result by
//! its residues modulo three random primes of 61 bits.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example long_quotients -- 2097152 67108864
//! ```
//!
//! The arguments are the bits of dividends; divisors are half as long, and so are the factors of the products.
//! Each is computed for one number and for as many as have 2^30 bits together. `cpu` before the arguments is for the
//! CPU, `gpu` for the first GPU; else a GPU divides where that is faster.

mod long;
#[path = "long/residues.rs"]
mod residues;

use bigint_host::{Batch, Engine, Error, LIMB_BITS, Layout, Limb, Shape};
use residues::{primes, residue, times};
use std::process::ExitCode;

/// The bits of the dividends of a batch.
const BITS: usize = 1 << 30;

fn main() -> ExitCode {
    long::check_each(BITS, check)
}

/// Divides, and takes roots; answers whether both are right.
fn check(engine: &Engine, bits: usize, count: usize) -> Result<bool, Error> {
    let half = bits.div_ceil(2 * LIMB_BITS).max(1);
    let batch = |width| {
        let mut limbs = long::random(width * count);
        // As long as their width.
        for number in limbs.chunks_mut(width) {
            number[width - 1] |= 1 << (LIMB_BITS - 1);
        }
        engine.batch_from_limbs(limbs, Shape::new(count, width, Layout::Contiguous))
    };
    let (a, b, c) = (batch(2 * half)?, batch(half)?, batch(half)?);
    let (product, of_product) = long::timed(engine, || engine.mul(&b, &c))?;
    drop(product);
    let (quotient, of_quotient) = long::timed(engine, || engine.div_rem(&a, &b))?;
    let (root, of_root) = long::timed(engine, || engine.isqrt(&a))?;
    let is_quotient = are_right(engine, [&quotient.0, &b, &quotient.1, &a])?;
    let is_root = are_right(engine, [&root.0, &root.0, &root.1, &a])?;
    for (name, time, is_right) in [
        ("product", of_product, true),
        ("quotient and remainder", of_quotient, is_quotient),
        ("square root and remainder", of_root, is_root),
    ] {
        println!(
            "{count} x {bits} bits on {}, {name}: {:.3} us each, {:.2} products{}",
            quotient.0.location(),
            time.as_secs_f64() * 1e6 / count as f64,
            time.as_secs_f64() / of_product.as_secs_f64(),
            if is_right { "" } else { ", WRONG" },
        );
    }
    for warning in engine.warnings() {
        println!("warning: {warning}");
    }
    Ok(is_quotient && is_root)
}

/// Whether `x y + r` is `a` for each number, by residues, and `r` below `y`, where `x` is not `y`, too.
fn are_right(engine: &Engine, [x, y, r, a]: [&Batch; 4]) -> Result<bool, Error> {
    let primes = primes(engine)?;
    let is_quotient = !std::ptr::eq(x, y);
    let is_below = !is_quotient || engine.compare(r, y)?.iter().all(|order| order.is_lt());
    let residues = |batch: &Batch| {
        let rows = batch.rows()?;
        let of = |limbs: &[Limb]| primes.map(|p| residue(limbs, p));
        Ok::<Vec<_>, Error>(rows.chunks(batch.width()).map(of).collect())
    };
    let (x, y, r, a) = (residues(x)?, residues(y)?, residues(r)?, residues(a)?);
    let is_sum = |number: usize, prime: usize| {
        let p = primes[prime];
        let product = times(x[number][prime], y[number][prime], p);
        (u128::from(product) + u128::from(r[number][prime])) % u128::from(p)
            == a[number][prime].into()
    };
    let all = (0..a.len()).all(|number| (0..primes.len()).all(|prime| is_sum(number, prime)));
    Ok(is_below && all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_roots_on_the_cpu_are_right() {
        for bits in [64, 4000, 1 << 20] {
            assert!(check(&Engine::cpu(), bits, 2).expect("memory"));
        }
    }

    #[test]
    fn a_wrong_quotient_is_found() {
        let engine = Engine::cpu();
        let batch = |limb| {
            let shape = Shape::new(1, 1, Layout::Contiguous);
            engine.batch_from_limbs(vec![limb], shape).expect("memory")
        };
        let [seven, three, two, one] = [7, 3, 2, 1].map(batch);
        assert!(are_right(&engine, [&two, &three, &one, &seven]).expect("memory"));
        assert!(!are_right(&engine, [&two, &three, &two, &seven]).expect("memory"));
        // 1 is 2 less, and 4 more is left.
        let four = batch(4);
        assert!(!are_right(&engine, [&one, &three, &four, &seven]).expect("memory"));
    }
}
