//! Finds common divisors, inverses and Jacobi symbols of long numbers, times them beside products, and checks them: that a
//! divisor divides both numbers and has the divisor that they were made with, that a number times its inverse leaves 1, and that
//! the symbol of a product is the product of symbols.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example long_divisors -- gpu 1048576 16777216
//! ```
//!
//! The arguments are the bits of all numbers. Each is computed for one pair and for as many as have 2^26 bits together.
//! `cpu` before the arguments is for the CPU, `gpu` for the first GPU; else a GPU computes where that is faster.

mod long;

use bigint_host::{Batch, Engine, Error, LIMB_BITS, Layout, Shape};
use std::process::ExitCode;

/// The bits of one number of each pair of a batch, together.
const BITS: usize = 1 << 26;

fn main() -> ExitCode {
    long::check_each(BITS, check)
}

/// Computes everything of `count` pairs; answers whether all is right.
fn check(engine: &Engine, bits: usize, count: usize) -> Result<bool, Error> {
    let width = bits.div_ceil(LIMB_BITS).max(2);
    let batch = |width: usize, is_odd: bool| {
        let mut limbs = long::random(width * count);
        for number in limbs.chunks_mut(width) {
            number[0] |= u32::from(is_odd);
            number[width - 1] |= 1 << (LIMB_BITS - 1);
        }
        engine.batch_from_limbs(limbs, Shape::new(count, width, Layout::Contiguous))
    };
    let (a, b, n) = (
        batch(width, false)?,
        batch(width, false)?,
        batch(width, true)?,
    );
    let made_with = batch(width / 2, false)?;
    let [x, y] = [(); 2].map(|()| batch(width - width / 2, false));
    let (x, y) = (engine.mul(&made_with, &x?)?, engine.mul(&made_with, &y?)?);
    let (_, of_product) = long::timed(engine, || engine.mul(&a, &b))?;
    let (divisor, of_divisor) = long::timed(engine, || engine.gcd(&a, &n))?;
    let (long_divisor, of_long_divisor) = long::timed(engine, || engine.gcd(&x, &y))?;
    let (inverse, of_inverse) = long::timed(engine, || engine.masked_inv_mod(&a, &n))?;
    let (symbol, of_symbol) = long::timed(engine, || engine.jacobi(&a, &n))?;
    let are_divisors = divides(engine, &divisor, &[&a, &n])?
        && divides(engine, &long_divisor, &[&x, &y])?
        && divides(engine, &made_with, &[&long_divisor])?;
    let are_inverses = are_inverses(engine, &inverse, [&a, &n, &divisor])?;
    let are_symbols = are_symbols(engine, &symbol, [&a, &b, &n])?;
    for (name, time, is_right) in [
        ("product", of_product, true),
        ("greatest common divisor", of_divisor, are_divisors),
        ("the same, half as long", of_long_divisor, are_divisors),
        ("inverse", of_inverse, are_inverses),
        ("Jacobi symbol", of_symbol, are_symbols),
    ] {
        println!(
            "{count} x {bits} bits on {}, {name}: {:.3} ms each, {:.0} products{}",
            engine.back_end(),
            time.as_secs_f64() * 1e3 / count as f64,
            time.as_secs_f64() / of_product.as_secs_f64(),
            if is_right { "" } else { ", WRONG" },
        );
    }
    for warning in engine.warnings() {
        println!("warning: {warning}");
    }
    Ok(are_divisors && are_inverses && are_symbols)
}

/// Whether numbers divide those of each batch.
fn divides(engine: &Engine, divisor: &Batch, of: &[&Batch]) -> Result<bool, Error> {
    let rest = of.iter().map(|of| is(&engine.rem(*of, divisor)?, |_| 0));
    rest.collect::<Result<Vec<_>, _>>()
        .map(|all| all.into_iter().all(|is| is))
}

/// Whether each number is the one limb that its place tells.
fn is(numbers: &Batch, limb: impl Fn(usize) -> u32) -> Result<bool, Error> {
    let rows = numbers.rows()?;
    let mut rows = rows.chunks(numbers.width()).enumerate();
    Ok(rows.all(|(i, row)| row[0] == limb(i) && row[1..].iter().all(|&limb| limb == 0)))
}

/// Whether inverses of `a` modulo `n` are there where the divisor is 1, and are right.
fn are_inverses(
    engine: &Engine,
    (inverse, have_none): &(Batch, Vec<bool>),
    [a, n, divisor]: [&Batch; 3],
) -> Result<bool, Error> {
    let rest = engine.rem(&engine.mul(a, inverse)?, n)?;
    let are_there = is(&rest, |i| u32::from(!have_none[i]))?;
    let rows = divisor.rows()?;
    let divisors = rows.chunks(divisor.width());
    let are_one = divisors.map(|row| row[0] == 1 && row[1..].iter().all(|&limb| limb == 0));
    Ok(are_there
        && are_one
            .zip(have_none)
            .all(|(is_one, has_none)| is_one != *has_none))
}

/// Whether the symbols of `a` over `n` times those of `b` are those of products.
fn are_symbols(engine: &Engine, of_a: &Batch, [a, b, n]: [&Batch; 3]) -> Result<bool, Error> {
    let of_b = engine.jacobi(b, n)?;
    let of_product = engine.jacobi(&engine.mul(a, b)?, n)?;
    let [x, y, z] = [of_a, &of_b, &of_product].map(Batch::rows);
    let (x, y, z) = (x?, y?, z?);
    let sign = |limb: &u32| i64::from(*limb) - 1;
    Ok((x.iter().zip(&*y).zip(&*z)).all(|((x, y), z)| sign(x) * sign(y) == sign(z)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_inverses_and_symbols_on_the_cpu_are_right() {
        for bits in [64, 4000, 1 << 18] {
            assert!(check(&Engine::cpu(), bits, 2).expect("memory"));
        }
    }

    #[test]
    fn what_is_wrong_is_found() {
        let engine = Engine::cpu();
        let batch = |limb| {
            let shape = Shape::new(1, 1, Layout::Contiguous);
            engine.batch_from_limbs(vec![limb], shape).expect("memory")
        };
        let [one, two, three, seven] = [1, 2, 3, 7].map(batch);
        assert!(!divides(&engine, &two, &[&seven]).expect("memory"));
        // 3 times 5 is 1 modulo 7, and 3 times 2 is not.
        let wrong = (two.clone(), vec![false]);
        assert!(!are_inverses(&engine, &wrong, [&three, &seven, &one]).expect("memory"));
        // (2 / 7) is 1 and (3 / 7) is -1, which is written as 0.
        let symbols = [&two, &three, &seven];
        assert!(are_symbols(&engine, &two, symbols).expect("memory"));
        assert!(!are_symbols(&engine, &batch(0), symbols).expect("memory"));
    }
}
