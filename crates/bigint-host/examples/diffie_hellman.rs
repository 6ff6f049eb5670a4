//! Diffie and Hellman's exchange in the group of 2048 bits of RFC 3526, many at a time.
//!
//! ```text
//! cargo run --release -p bigint-host --example diffie_hellman
//! cargo run --release -p bigint-host --features cuda --example diffie_hellman rate 100000
//! ```
//!
//! Each of two has a secret, `a` and `b`, and tells `2^a` and `2^b` modulo the group's prime. Both know then
//! `(2^b)^a = (2^a)^b`, and nobody else does. Powers of 2 come from a table of one base; the others are powers
//! of as many bases as there are exchanges. All of it is constant time, and the engine overwrites what it had.
//! The secrets here are counted up; real ones are random numbers.

use bigint_host::{Batch, BigUint, Engine, Error, FixedBase, MontgomeryParams, Residues};
use std::time::Instant;

/// Bits of a secret: twice what the group's strength is taken for (RFC 3526, 8).
const SECRET_BITS: usize = 320;

/// The prime is `2^2048 - 2^1984 - 1 + 2^64 ([2^1918 pi] + 124476)`, of which this is `[2^1918 pi]` and so on.
const PRIME: &str = "\
    ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404dd\
    ef9519b3cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf0598da48361c55d39a69163fa8fd24cf5f\
    83655d23dca3ad961c62f356208552bb9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3b\
    e39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf6955817183995497cea956ae515d2261898fa0510\
    15728e5a8aacaa68ffffffffffffffff";

/// The group: its prime, and the table of 2.
struct Group {
    params: MontgomeryParams,
    two: FixedBase,
}

impl Group {
    fn new(engine: &Engine) -> Result<Self, Error> {
        let prime =
            BigUint::parse_bytes(PRIME.as_bytes(), 16).expect("it is written in hexadecimal");
        let number = |number| engine.batch_from_biguints(&[number]);
        let params = MontgomeryParams::new(engine, &number(prime)?)?;
        let two = Residues::new(&number(2u8.into())?, &params)?;
        let two = FixedBase::new(&two, SECRET_BITS)?;
        Ok(Group { params, two })
    }

    /// What is told of secrets.
    fn told(&self, secrets: &Batch) -> Result<Batch, Error> {
        self.two.pow(secrets)?.retrieve()
    }

    /// What is shared, by whoever has these secrets and was told those numbers.
    fn shared(&self, secrets: &Batch, told: &Batch) -> Result<Batch, Error> {
        Residues::new(told, &self.params)?.pow(secrets)?.retrieve()
    }
}

/// What each side of so many exchanges has at the end.
fn exchanges(count: usize) -> Result<[Vec<BigUint>; 2], Error> {
    let engine = Engine::auto().for_secrets()?;
    let group = Group::new(&engine)?;
    let secrets = |from: usize| {
        let secret = |i: usize| (BigUint::from(1u8) << (SECRET_BITS - 1)) + BigUint::from(i);
        let secrets: Vec<BigUint> = (from..from + count).map(secret).collect();
        engine.batch_from_biguints(&secrets)
    };
    let (a, b) = (secrets(0)?, secrets(count)?);
    let (of_a, of_b) = (group.told(&a)?, group.told(&b)?);
    Ok([
        group.shared(&a, &of_b)?.to_biguints()?,
        group.shared(&b, &of_a)?.to_biguints()?,
    ])
}

/// The best rates of some runs, from secrets on the host to numbers on the host.
fn rate(count: usize) -> Result<(), Error> {
    let engine = Engine::auto().for_secrets()?;
    let group = Group::new(&engine)?;
    let secret = |i: usize| (BigUint::from(1u8) << (SECRET_BITS - 1)) + BigUint::from(i);
    let secrets: Vec<BigUint> = (0..count).map(secret).collect();
    let [mut of_told, mut of_shared] = [f64::INFINITY; 2];
    for _ in 0..5 {
        let started = Instant::now();
        let batch = engine.batch_from_biguints(&secrets)?;
        let told = group.told(&batch)?.to_biguints()?;
        of_told = of_told.min(started.elapsed().as_secs_f64());
        let started = Instant::now();
        let told = engine.batch_from_biguints(&told)?;
        group.shared(&batch, &told)?.to_biguints()?;
        of_shared = of_shared.min(started.elapsed().as_secs_f64());
    }
    let [told, shared] = [of_told, of_shared].map(|seconds| count as f64 / seconds);
    println!("{count} at a time: {told:.0} told a second, {shared:.0} shared");
    Ok(())
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    if let (Some("rate"), Some(count)) = (arguments.next().as_deref(), arguments.next()) {
        return rate(count.parse().expect("a count"));
    }
    let [ours, theirs] = exchanges(1000)?;
    let same = ours.iter().zip(&theirs).filter(|(a, b)| a == b).count();
    println!("{same} of {} exchanges agree", ours.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_have_the_power_of_both_secrets() {
        let [ours, theirs] = exchanges(3).unwrap();
        assert_eq!(ours, theirs);
        let prime = BigUint::parse_bytes(PRIME.as_bytes(), 16).unwrap();
        let top = BigUint::from(1u8) << (SECRET_BITS - 1);
        for (i, shared) in ours.iter().enumerate() {
            let (a, b) = (&top + BigUint::from(i), &top + BigUint::from(i + 3));
            assert_eq!(*shared, BigUint::from(2u8).modpow(&(a * b), &prime));
        }
    }
}
