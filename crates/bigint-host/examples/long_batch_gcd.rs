//! Finds which of many numbers have a common factor with another, times it level by level, and checks what is found: numbers are
//! `a + i M`, where `M` has all small primes and `a` none, for those `i` with which no prime that could divide two of them does. A few are
//! products of primes instead, two of which each two share.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example long_batch_gcd -- gpu 16 20
//! ```
//!
//! The arguments are the base-2 logarithms of counts of numbers, of 2048 bits each. `cpu` before the arguments is for the CPU,
//! `gpu` for the first GPU; else a GPU computes where that is faster. The times begin with the numbers in the host's memory,
//! and end with the divisors there.

mod long;

use bigint_host::{BatchGcd, Engine, Error, Integers, Limb};
use std::cell::RefCell;
use std::process::ExitCode;
use std::time::Instant;

/// Limbs of a number.
const LIMBS: usize = 64;

/// Memory for the trees: that of groups of 2^20 numbers up to 2^24, where these are kept on a device.
const MEMORY: usize = 96 << 30;

fn main() -> ExitCode {
    long::check_each(0, |engine, logarithm, _| check(engine, 1 << logarithm))
}

/// Compares so many numbers; answers whether the divisors are right.
fn check(engine: &Engine, count: usize) -> Result<bool, Error> {
    // Two pairs share their first primes, with a number from each quarter.
    let quarter = count / 4;
    let places = long::random(4).into_iter().zip(0..);
    let places: Vec<usize> = places
        .map(|(random, of)| of * quarter + random as usize % quarter)
        .collect();
    let mut planted = planted();
    planted[1][0] = planted[0][0];
    planted[3][0] = planted[2][0];
    let mut expected = vec![1; count];
    for (place, primes) in places.iter().zip(&planted) {
        expected[*place] = u64::from(primes[0]);
    }
    let expected: Integers = expected.into_iter().collect();
    let others = Others::new(count, &planted.concat());
    let products = planted.map(|primes| product(primes.into_iter()));
    let number = |i: usize, limbs: &mut [Limb]| match places.iter().position(|&place| place == i) {
        Some(of) => limbs.copy_from_slice(&products[of]),
        None => others.write(i, limbs),
    };
    let numbers = Integers::from_fn(count, LIMBS, |_| (LIMBS, false), number)?;
    let how = BatchGcd::new(engine).within(MEMORY);
    let (found, time) = long::timed(engine, || how.find(&numbers, &Integers::new(), &|_| ()))?;
    let is_right = found.divisors == expected;
    println!(
        "{count} numbers: {:.3} ms{}",
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

/// Primes of 32 bits for four numbers, from the top.
fn planted() -> [Vec<Limb>; 4] {
    let is_prime = |n: &Limb| (3..1 << 16).step_by(2).all(|d| !n.is_multiple_of(d));
    let mut primes = (0..=Limb::MAX).rev().step_by(2).filter(is_prime);
    // Their product has all limbs: each is above 2^32 - 2^14.
    [(); 4].map(|()| primes.by_ref().take(LIMBS).collect())
}

/// Primes below this, by Eratosthenes.
fn primes(end: usize) -> Vec<u64> {
    let mut is_composite = vec![false; end];
    let mut found = Vec::new();
    for n in 2..end {
        if !is_composite[n] {
            found.push(n as u64);
            let multiples = is_composite.iter_mut().skip(n * n).step_by(n);
            multiples.for_each(|is_composite| *is_composite = true);
        }
    }
    found
}

/// Numbers of which no two have a common divisor.
struct Others {
    a: Vec<Limb>,
    /// The product of small primes.
    m: Vec<Limb>,
    /// For each number its `i`.
    which: Vec<u32>,
}

impl Others {
    /// So many, none of which has one of these primes.
    fn new(count: usize, planted: &[Limb]) -> Self {
        let mut range = 3 * count + 10_000;
        loop {
            let primes = primes(range);
            let limbs = |n: usize| product(primes[..n].iter().map(|&p| p as Limb));
            // `i M` is below a fourth of `B^LIMBS`.
            let small = (1..=primes.len()).take_while(|&n| limbs(n).len() < LIMBS - 1);
            let small = small.last().unwrap_or(0);
            let m = limbs(small);
            let mut a = long::random(LIMBS);
            a[LIMBS - 1] = a[LIMBS - 1] >> 2 | 1 << 31;
            while primes[..small].iter().any(|&p| modulo(&a, p) == 0) {
                a[0] = a[0].wrapping_add(1);
            }
            let mut is_out = vec![false; range];
            let planted = planted.iter().map(|&p| u64::from(p));
            for p in primes[small..].iter().copied().chain(planted) {
                // The first i with a + i M = 0 modulo p.
                let inverse = power(modulo(&m, p), p - 2, p);
                let first = (p - modulo(&a, p)) % p * inverse % p;
                let multiples = is_out.iter_mut().skip(first as usize).step_by(p as usize);
                multiples.for_each(|is_out| *is_out = true);
            }
            let which = (0..).zip(&is_out).filter(|(_, is_out)| !**is_out);
            let which: Vec<u32> = which.map(|(i, _)| i).take(count).collect();
            if which.len() == count {
                return Others { a, m, which };
            }
            range *= 2;
        }
    }

    /// Writes number `at`.
    fn write(&self, at: usize, limbs: &mut [Limb]) {
        let (mut carry, i) = (0, u64::from(self.which[at]));
        let m = self.m.iter().copied().chain(std::iter::repeat(0));
        for ((limb, &a), m) in limbs.iter_mut().zip(&self.a).zip(m) {
            carry += u64::from(a) + i * u64::from(m);
            *limb = carry as Limb;
            carry >>= 32;
        }
    }
}

/// A number modulo one of 32 bits.
fn modulo(number: &[Limb], p: u64) -> u64 {
    let limbs = number.iter().rev();
    limbs.fold(0, |rest, &limb| (rest << 32 | u64::from(limb)) % p)
}

fn power(mut a: u64, mut k: u64, p: u64) -> u64 {
    let mut power = 1;
    while k > 0 {
        if k % 2 == 1 {
            power = power * a % p;
        }
        a = a * a % p;
        k /= 2;
    }
    power
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
    use bigint_host::BigUint;
    use num_integer::Integer;

    #[test]
    fn numbers_that_share_a_prime_are_found_on_the_cpu() {
        assert!(check(&Engine::cpu(), 64).expect("memory"));
    }

    #[test]
    fn others_have_all_limbs_and_no_common_divisors() {
        let planted = planted().concat();
        let others = Others::new(300, &planted);
        let number = |i| {
            let mut limbs = vec![0; LIMBS];
            others.write(i, &mut limbs);
            BigUint::from_slice(&limbs)
        };
        let planted: BigUint = planted.into_iter().product();
        let mut product = planted;
        for i in 0..300 {
            let n = number(i);
            assert_eq!(n.bits(), 2048);
            assert_eq!(product.gcd(&n), BigUint::from(1u8), "number {i}");
            product *= n;
        }
    }
}
