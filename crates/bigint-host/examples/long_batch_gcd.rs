//! Finds which of many numbers have a common factor with another, times it level by level, and checks what is found: all
//! numbers are products of primes of 32 bits of their own, but for a few that share one.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example long_batch_gcd -- gpu 16 20
//! ```
//!
//! The arguments are the base-2 logarithms of counts of numbers, of 2048 bits each or little less. `cpu` before the arguments is for the CPU,
//! `gpu` for the first GPU; else a GPU computes where that is faster. The times begin with the numbers in the host's memory,
//! and end with the divisors there.

mod long;

use bigint_host::{BatchGcd, Engine, Error, Integers, Limb};
use std::cell::RefCell;
use std::process::ExitCode;
use std::time::Instant;

/// The primes of a number, of 32 bits each.
const PRIMES: usize = 64;

/// Memory for the trees: that of one group up to 2^20 numbers.
const MEMORY: usize = 64 << 30;

fn main() -> ExitCode {
    long::check_each(0, |engine, logarithm, _| {
        check(engine, 1 << logarithm, PRIMES)
    })
}

/// Compares so many numbers, each the product of `of_each` primes; answers whether the divisors are right.
fn check(engine: &Engine, count: usize, of_each: usize) -> Result<bool, Error> {
    let mut factors = primes(count * of_each);
    // Two pairs share their first primes, with a number from each quarter.
    let quarter = count / 4;
    let places = long::random(4).into_iter().zip(0..);
    let places: Vec<usize> = places
        .map(|(random, of)| of * quarter + random as usize % quarter)
        .collect();
    let shared = [(places[0], places[1]), (places[2], places[3])];
    let mut expected = vec![1; count];
    for (i, j) in shared {
        factors[j] = factors[i];
        [expected[i], expected[j]] = [u64::from(factors[i]); 2];
    }
    let expected: Integers = expected.into_iter().collect();
    // Each has primes from all of the range, so that all are about as long.
    let of = |i: usize| factors[i..].iter().step_by(count).copied();
    let products: Vec<_> = (0..count).map(|i| product(of(i))).collect();
    let numbers = Integers::from_fn(
        count,
        of_each,
        |i| (products[i].len(), false),
        |i, number| number.copy_from_slice(&products[i]),
    )?;
    let how = BatchGcd::new(engine).within(MEMORY);
    let (found, time) = long::timed(engine, || how.find(&numbers, &Integers::new(), &|_| ()))?;
    let is_right = found.divisors == expected;
    println!(
        "{count} numbers of {} primes: {:.3} ms{}",
        of_each,
        time.as_secs_f64() * 1e3,
        if is_right { "" } else { ", WRONG" },
    );
    // Once more, each level waited for.
    let levels = RefCell::new(vec![Instant::now()]);
    how.find(&numbers, &Integers::new(), &|_| {
        let waited = engine.wait();
        levels
            .borrow_mut()
            .extend(waited.ok().map(|()| Instant::now()));
    })?;
    let levels = levels.into_inner();
    let times = levels
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3);
    let times = times.map(|time| format!("{time:.2}")).collect::<Vec<_>>();
    println!("    level by level, ms: {}", times.join(" "));
    for warning in engine.warnings() {
        println!("warning: {warning}");
    }
    Ok(is_right)
}

/// As many primes of 32 bits, by Eratosthenes in segments from the top.
fn primes(count: usize) -> Vec<Limb> {
    const SEGMENT: u64 = 1 << 20;
    let is_prime = |n: &u64| {
        (2..)
            .take_while(|d| d * d <= *n)
            .all(|d| !n.is_multiple_of(d))
    };
    let small: Vec<u64> = (3..1 << 16).filter(is_prime).collect();
    let (mut found, mut end) = (Vec::with_capacity(count + SEGMENT as usize), 1_u64 << 32);
    while found.len() < count {
        // Odd numbers from `start` on.
        let start = end - SEGMENT;
        let mut is_composite = vec![false; SEGMENT as usize / 2];
        for prime in &small {
            let first = start.next_multiple_of(*prime);
            let first = if first % 2 == 0 { first + prime } else { first };
            let multiples = (first - start) as usize / 2..;
            let multiples = multiples.step_by(*prime as usize);
            multiples
                .take_while(|&at| at < SEGMENT as usize / 2)
                .for_each(|at| is_composite[at] = true);
        }
        let primes = (0..).zip(&is_composite).filter(|(_, is)| !**is);
        found.extend(primes.map(|(at, _)| (start + 2 * at + 1) as Limb));
        end = start;
    }
    found.truncate(count);
    found
}

/// The product of numbers of a limb.
fn product(factors: impl Iterator<Item = Limb>) -> Vec<Limb> {
    factors.fold(vec![1], |mut product, factor| {
        let mut carry = 0;
        for limb in &mut product {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as Limb;
            carry >>= 32;
        }
        product.extend((carry > 0).then_some(carry as Limb));
        product
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_share_a_prime_are_found_on_the_cpu() {
        for of_each in [2, 64] {
            assert!(check(&Engine::cpu(), 64, of_each).expect("memory"));
        }
    }

    #[test]
    fn primes_differ_and_are_prime() {
        let mut found = primes(100_000);
        let is_prime = |n: u64| {
            (2..)
                .take_while(|d| d * d <= n)
                .all(|d| !n.is_multiple_of(d))
        };
        assert!(found.iter().step_by(999).all(|&n| is_prime(n.into())));
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 100_000);
    }
}
