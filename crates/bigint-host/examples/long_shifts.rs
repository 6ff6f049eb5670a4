//! Shifts long numbers up and down, by bits that one limb counts and by more, multiplies them by one limb, times it beside sums, and
//! checks every limb.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example long_shifts -- gpu 8589934592
//! ```
//!
//! The arguments are the bits of the numbers. `cpu` before the arguments is for the CPU, `gpu` for the first GPU.

mod long;

use bigint_host::{Batch, Engine, Error, LIMB_BITS, Layout, Limb, Shape};
use std::process::ExitCode;

fn main() -> ExitCode {
    long::check_each(0, |engine, bits, _| check(engine, bits))
}

/// Shifts and multiplies a number of so many bits; answers whether all results are right.
fn check(engine: &Engine, bits: usize) -> Result<bool, Error> {
    let width = bits.div_ceil(LIMB_BITS).max(2);
    let given = long::random(width);
    let batch = |limbs: Vec<Limb>| {
        let shape = Shape::new(1, limbs.len(), Layout::Contiguous);
        engine.batch_from_limbs(limbs, shape)
    };
    let a = batch(given.clone())?;
    let (_, of_sum) = long::timed(engine, || engine.wrapping_add(&a, &a))?;
    let say = |what: &str, time: std::time::Duration, is_right: bool| {
        let say = if is_right { "" } else { ", WRONG" };
        println!("{width} limbs {what}: {time:.1?}{say}, a sum {of_sum:.1?}");
        is_right
    };
    let mut are_right = true;
    let one_limb = 1 << LIMB_BITS;
    for by in [
        37,
        one_limb - 2,
        one_limb - 1,
        one_limb + 37,
        bits - 31,
        bits,
    ] {
        if by > bits {
            continue;
        }
        let counts = batch(vec![by as Limb, (by >> LIMB_BITS) as Limb])?;
        let (up, of_up) = long::timed(engine, || engine.wrapping_shl(&a, &counts))?;
        let (down, of_down) = long::timed(engine, || engine.shr(&a, &counts))?;
        let is = |found: &Batch, up: bool| {
            Ok::<bool, Error>(is_shifted(&found.to_limbs()?, &given, by, up))
        };
        are_right &= say(&format!("up by {by} bits"), of_up, is(&up, true)?);
        are_right &= say(&format!("down by {by} bits"), of_down, is(&down, false)?);
    }
    if width < 1 << 28 {
        let (product, time) = long::timed(engine, || engine.mul(&a, &batch(vec![Limb::MAX])?))?;
        are_right &= say("times one", time, is_less(&product.to_limbs()?, &given));
    }
    for warning in engine.warnings() {
        println!("warning: {warning}");
    }
    Ok(are_right)
}

/// Whether `found` is `a` shifted by so many bits, in as many limbs.
fn is_shifted(found: &[Limb], a: &[Limb], by: usize, up: bool) -> bool {
    let (limbs, bits) = (by / LIMB_BITS, by % LIMB_BITS);
    let at = |i: Option<usize>| i.and_then(|i| a.get(i)).map_or(0, |&limb| u64::from(limb));
    // Two neighbours, the lower one of which begins at this limb of `a`.
    let both = |i: Option<usize>, next: Option<usize>| at(next) << LIMB_BITS | at(i);
    let limb = |i: usize| match up {
        true => {
            let from = i.checked_sub(limbs);
            both(from.and_then(|i| i.checked_sub(1)), from) << bits >> LIMB_BITS
        }
        false => both(Some(i + limbs), Some(i + limbs + 1)) >> bits,
    };
    let mut all = found.iter().enumerate();
    found.len() == a.len() && all.all(|(i, &found)| found == limb(i) as Limb)
}

/// Whether `product` is `(B - 1) a`, which is `a B - a`.
fn is_less(product: &[Limb], a: &[Limb]) -> bool {
    let mut borrow = 0;
    let mut all = product.iter().enumerate();
    all.all(|(i, &limb)| {
        let above = i.checked_sub(1).map_or(0, |i| i64::from(a[i]));
        let rest = above - a.get(i).map_or(0, |&limb| i64::from(limb)) + borrow;
        borrow = rest >> LIMB_BITS;
        rest as Limb == limb
    }) && borrow == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shifted_and_multiplied_right_on_the_cpu() {
        for bits in [64, 100, 4000] {
            assert!(check(&Engine::cpu(), bits).expect("memory"));
        }
    }

    #[test]
    fn a_wrong_shift_and_a_wrong_product_are_found() {
        let a = [1, 2, 3];
        assert!(is_shifted(&[0, 16, 32], &a, 36, true) && is_shifted(&[0, 0, 0], &a, 96, true));
        assert!(!is_shifted(&[0, 16, 33], &a, 36, true));
        assert!(is_shifted(&[0, 1 + (1 << 31), 1], &a, 1, false));
        assert!(!is_shifted(&[1, 1 + (1 << 31), 1], &a, 1, false));
        assert!(is_less(&[Limb::MAX, 0], &[1]));
        assert!(!is_less(&[Limb::MAX, 1], &[1]));
    }
}
