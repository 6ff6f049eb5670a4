//! Proofs that a PRP test was run [Pietrzak 2018], of `2^p - 1` in the form of GIMPS. Checking one takes a
//! small part of the test's time.
//!
//! The claim `A^(2^n) = B`, where `A = 3`, `n = p` and `B` is the test's last residue, is
//! halved. ([`claim`] has what differs for other numbers.) With `M = A^(2^m)`, `m = ceil(n / 2)`, it says the same as
//!
//! ```text
//! A^(2^m) = M   and   M^(2^m) = B     (B^2 where n is odd)
//! ```
//!
//! and both follow, but for a chance of about `2^-64`, from one claim of length `m`:
//!
//! ```text
//! (A^h M)^(2^m) = M^h B               (B^2 where n is odd)
//! ```
//!
//! where `h` is the SHA3-256 of `B` and all `M` so far, so that no `M` can be chosen to suit it. A
//! proof of power `k` has the `M` of `k` halvings, and leaves a [`Certificate`] of `ceil(p / 2^k)`
//! squarings to check.
//!
//! The `M` of later halvings are products of powers of the test's residues after the `2^k`
//! iterations of [`Proof::iterations`].
//!
//! **Cost**: of disk, `2^k` residues while the test runs and `k + 1` in the proof; of time,
//! `2^k` powers with exponents of 64 bits, about `96 2^k` squares and products. Half of it is the last `M`'s.
//!
//! [`Flaw`] says what a proof that holds is worth, and which proofs are refused before a squaring.

mod claim;
mod flaw;
#[cfg(test)]
mod forgeries;
mod powers;
mod prst;

pub use flaw::Flaw;
pub(crate) use prst::md5;
pub use prst::{PrstCertificate, PrstPower, PrstProof};

use std::ops::Range;

use claim::{Claim, above, factor};
use powers::Powers;
use sha3::{Digest, Sha3_256};

use crate::error::or_out_of_memory;
use crate::{Backend, Cpu, Error, Number, Prp, Residue, Runner, is_prime};

/// A proof of a PRP test.
///
/// ```
/// use mersenne::{Cpu, Proof, Residue, Runner};
/// let (p, cpu) = (607, Cpu::default());
/// let mut runner = Runner::new(p, 0, &cpu)?;
/// let proof = Proof::build(p, 2, |iteration| {
///     runner.set(&Residue::from_u64(p, 3))?;
///     runner.square(iteration)?;
///     runner.residue()
/// })?;
/// let certificate = proof.certificate()?;
/// assert_eq!(certificate.squarings(), 152); // a quarter of 607
/// assert_eq!(proof.flaw()?, None);
/// assert!(certificate.holds(&cpu)? && proof.is_prime());
/// # Ok::<_, mersenne::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The last residue: `3^(2^p)` of `2^p - 1`.
    last: Residue,
    /// The `M`, in the order of the halvings.
    middles: Vec<Residue>,
}

/// The claim that a proof leaves to check: squares of `start`, each times its factor, lead to `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The residue that is squared.
    pub start: Residue,
    /// The factors of the squares, in their order: 1 or 3.
    pub factors: Vec<u32>,
    /// The residue that they lead to.
    pub end: Residue,
}

impl Proof {
    /// The greatest power, for which 4096 residues are kept.
    pub const MOST_POWER: u32 = 12;

    /// The power that is worth its cost: 10 from 60 million on, one less for an exponent a quarter as
    /// long, 8 at least where there can be. The check of a proof then takes some 60,000 to 240,000
    /// squarings, and building it about as many.
    pub fn good_power(p: u32) -> u32 {
        let power = match p {
            60_000_000.. => 10,
            15_000_000.. => 9,
            _ => 8,
        };
        power.min(Self::most_power(p))
    }

    /// The greatest power for so many squarings, `p` of `2^p - 1`. Above it, iterations would lie too close
    /// together.
    pub fn most_power(squarings: u32) -> u32 {
        (squarings.ilog2() / 2).min(Self::MOST_POWER)
    }

    /// The number of halvings.
    pub fn power(&self) -> u32 {
        self.middles.len() as u32
    }

    /// The number that was tested.
    pub fn number(&self) -> Number {
        self.last.number()
    }

    /// Whether the number is a probable prime, by a proof without [`flaw`](Self::flaw) that holds.
    pub fn is_prime(&self) -> bool {
        let number = self.number();
        let [zero, one, nine] = [0, 1, 9].map(|x| Residue::from_u64(number, x));
        // Proth's power is of half the exponent.
        let is_of_squares = Prp::proved(number).ladder().is_none();
        self.last
            == match number.exponent() {
                Some(_) => nine,
                None if is_of_squares => zero.minus(&one),
                None => one,
            }
    }

    /// The iterations whose residues a proof of this power is made of, ascending, of a test of so many
    /// squarings. The last is the last of those, `p` of `2^p - 1`.
    ///
    /// # Panics
    /// If the power is above [`Proof::most_power`].
    pub fn iterations(squarings: u32, power: u32) -> Vec<u32> {
        let most = Self::most_power(squarings);
        assert!(power <= most, "no proof of power {power}");
        let mut iterations = vec![0];
        let mut span = squarings;
        for _ in 0..power {
            span = span.div_ceil(2);
            iterations = iterations.iter().flat_map(|&at| [at, at + span]).collect();
        }
        // Numbers whose bits say which spans have been passed, the longest first.
        iterations.remove(0);
        iterations.push(squarings);
        iterations
    }

    /// The proof of this power, where `residue` reads the residues of [`Proof::iterations`].
    ///
    /// # Errors
    /// As `residue`.
    ///
    /// # Panics
    /// If the power is above [`Proof::most_power`].
    pub fn build(
        number: impl Into<Number>,
        power: u32,
        mut residue: impl FnMut(u32) -> Result<Residue, Error>,
    ) -> Result<Self, Error> {
        let cpu = Cpu::default();
        Self::go_on(number, power, &cpu, Vec::new(), &mut residue, |_| {})
    }

    /// The same on this machine, where the first `M` are there already. `keep` is given the others, each as soon as it is
    /// known.
    ///
    /// # Errors
    /// As `residue`.
    ///
    /// # Panics
    /// If the power is above [`Proof::most_power`], or there are more `M` than that.
    pub fn go_on(
        number: impl Into<Number>,
        power: u32,
        backend: &dyn Backend,
        middles: Vec<Residue>,
        mut residue: impl FnMut(u32) -> Result<Residue, Error>,
        mut keep: impl FnMut(&Residue),
    ) -> Result<Self, Error> {
        assert!(middles.len() <= power as usize, "no more than the power");
        let number = number.into();
        let iterations = Self::iterations(Claim::of(number).squarings, power);
        or_out_of_memory(|| {
            let mut powers = Powers::new(number, backend)?;
            Self::build_of(
                power,
                &iterations,
                &mut powers,
                middles,
                &mut residue,
                &mut keep,
            )
        })
    }

    fn build_of(
        power: u32,
        iterations: &[u32],
        powers: &mut Powers<'_>,
        mut middles: Vec<Residue>,
        residue: &mut dyn FnMut(u32) -> Result<Residue, Error>,
        keep: &mut dyn FnMut(&Residue),
    ) -> Result<Self, Error> {
        let last = residue(iterations[iterations.len() - 1])?;
        let mut challenges = Challenges::new(&last);
        let mut hashes: Vec<u64> = middles.iter().map(|known| challenges.next(known)).collect();
        while hashes.len() < power as usize {
            let middle = powers.middle(power, iterations, &hashes, residue)?;
            hashes.push(challenges.next(&middle));
            keep(&middle);
            middles.push(middle);
        }
        Ok(Proof { last, middles })
    }

    /// The claim to check of a proof without [`flaw`](Self::flaw). It takes some 200 exact products
    /// for each halving.
    ///
    /// # Errors
    /// If the host lacks memory.
    pub fn certificate(&self) -> Result<Certificate, Error> {
        or_out_of_memory(|| Ok(self.halved()))
    }

    fn halved(&self) -> Certificate {
        let number = self.number();
        let mut challenges = Challenges::new(&self.last);
        let claim = Claim::of(number);
        let mut exponents = claim.exponents(self.power());
        let Claim {
            mut start,
            mut squarings,
            ..
        } = claim;
        let mut end = self.last.clone();
        for middle in &self.middles {
            let hash = challenges.next(middle);
            if !squarings.is_multiple_of(2) {
                end = end.square_minus(1, 0);
            }
            start = power_times(&start, hash, middle);
            end = power_times(middle, hash, &end);
            squarings = squarings.div_ceil(2);
            let (first, second) = exponents.split_at(exponents.len() / 2);
            let pairs = first.iter().zip(second);
            exponents = pairs.map(|(first, second)| first * hash + second).collect();
        }
        let exponent = exponents.pop().unwrap_or_default();
        let start = start.mul(&above(number, &exponent, squarings));
        let bits = (0..squarings).rev().map(|i| exponent.bit(i.into()));
        Certificate {
            start,
            factors: bits.map(factor).collect(),
            end,
        }
    }

    /// The bytes of its file, in PrimeNet's version 2.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = header(self.power(), self.number()).into_bytes();
        for residue in [&self.last].into_iter().chain(&self.middles) {
            bytes.extend(residue.to_bytes());
        }
        bytes
    }

    /// The proof with the bytes of its file.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let mut rest = bytes;
        let mut field = |name: &str| -> Result<&str, String> {
            let end = rest.iter().take(80).position(|&byte| byte == b'\n');
            let (line, others) = rest.split_at(end.ok_or("its header is cut short")?);
            rest = &others[1..];
            let line = std::str::from_utf8(line).unwrap_or_default();
            line.strip_prefix(name)
                .ok_or_else(|| format!("it has `{line}` where `{name}` should be"))
        };
        field("PRP PROOF")?;
        if field("VERSION=")? != "2" || field("HASHSIZE=")? != "64" {
            return Err("only proofs of version 2 with hashes of 64 bits are known".to_owned());
        }
        let power: u32 = field("POWER=")?.parse().map_err(|_| "its power is none")?;
        let text = field("NUMBER=")?;
        let number = match text.strip_prefix('M') {
            Some(p) => {
                let p: u32 = p.parse().map_err(|_| "its number is none 2^p - 1")?;
                Some(p).filter(|&p| p >= 3 && is_prime(p)).map(Number::from)
            }
            None => crate::number(text).ok(),
        };
        let none = || format!("there is no proof of power {power} for {}", named(text));
        // No test has more squarings than its number has bits.
        let can_be = |number: &Number| power <= Self::most_power(number.bits() as u32);
        let number = number.filter(can_be).ok_or_else(none)?;
        let length = number.bytes();
        let wanted = length as u64 * (u64::from(power) + 1);
        if rest.len() as u64 != wanted {
            let found = rest.len();
            return Err(format!(
                "it has {found} bytes of residues in place of {wanted}"
            ));
        }
        // Only now is it worth to compute the number.
        if power > Self::most_power(Claim::of(number).squarings) {
            return Err(none());
        }
        let residues = rest.chunks(length).zip(0..).map(|(bytes, i)| {
            let refused = || {
                let name = match i {
                    0 => "last residue".to_owned(),
                    i => format!("middle {i}"),
                };
                format!(
                    "its {name} is 0, or not below {}: nothing is proved",
                    named(text)
                )
            };
            Residue::unit_from_bytes(number, bytes).ok_or_else(refused)
        });
        let mut middles = residues.collect::<Result<Vec<_>, _>>()?;
        Ok(Proof {
            last: middles.remove(0),
            middles,
        })
    }
}

impl Certificate {
    /// The number of squarings.
    pub fn squarings(&self) -> u32 {
        self.factors.len() as u32
    }

    /// Some of the squarings, as [`Runner::square_by`] takes them.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn stretches(&self, squarings: Range<u32>) -> impl Iterator<Item = (u32, u32)> {
        let factors = &self.factors[squarings.start as usize..squarings.end as usize];
        let stretches = factors.chunk_by(|a, b| a == b);
        stretches.map(|stretch| (stretch.len() as u32, stretch[0]))
    }

    /// Whether the claim is true, by its squarings.
    ///
    /// # Errors
    /// As for [`Runner::square`].
    pub fn holds(&self, backend: &dyn Backend) -> Result<bool, Error> {
        let mut runner = self.runner(backend)?;
        runner.square_by(self.stretches(0..self.squarings()))?;
        Ok(runner.residue()? == self.end)
    }

    /// A machine at the beginning of the squarings.
    ///
    /// # Errors
    /// As for [`Runner::new`].
    pub fn runner<'a>(&self, backend: &'a dyn Backend) -> Result<Runner<'a>, Error> {
        let mut runner = Runner::new(self.start.number(), 0, backend)?;
        runner.set(&self.start)?;
        Ok(runner)
    }
}

fn header(power: u32, number: Number) -> String {
    format!("PRP PROOF\nVERSION=2\nHASHSIZE=64\nPOWER={power}\nNUMBER={number}\n")
}

/// The number that a header calls so.
fn named(text: &str) -> String {
    match text.strip_prefix('M') {
        Some(p) => format!("2^{p} - 1"),
        None => text.to_owned(),
    }
}

/// The product `base^exponent times`.
fn power_times(base: &Residue, exponent: u64, times: &Residue) -> Residue {
    match exponent {
        0 => times.clone(),
        _ => base.pow(exponent).mul(times),
    }
}

/// The challenges `h`: each is part of the hash of the hash before it and a residue.
struct Challenges([u8; 32]);

impl Challenges {
    /// Those of a proof with this last residue. Other numbers than `2^p - 1` are part of them.
    fn new(last: &Residue) -> Self {
        let number = last.number();
        let name = match number.exponent() {
            Some(_) => String::new(),
            None => number.to_string(),
        };
        let hash = Sha3_256::new_with_prefix(name).chain_update(last.to_bytes());
        Challenges(hash.finalize().into())
    }

    fn next(&mut self, middle: &Residue) -> u64 {
        let hash = Sha3_256::new_with_prefix(self.0);
        self.0 = hash.chain_update(middle.to_bytes()).finalize().into();
        let (low, _) = self.0.split_first_chunk().expect("it has 32 bytes");
        u64::from_le_bytes(*low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;
    use num_bigint::BigUint;

    pub(super) fn value(residue: &Residue) -> BigUint {
        BigUint::from_bytes_le(&residue.to_bytes())
    }

    /// A proof whose residues are num-bigint's.
    pub(super) fn proof(p: u32, power: u32) -> Proof {
        let modulus = (BigUint::from(1u32) << p) - 1u32;
        let residue = |iteration: u32| {
            let exponent = BigUint::from(1u32) << iteration;
            let x = BigUint::from(3u32).modpow(&exponent, &modulus);
            Ok(Residue::from_bytes(p, &x.to_bytes_le()))
        };
        Proof::build(p, power, residue).unwrap()
    }

    #[test]
    fn iterations_rise_to_the_last() {
        assert_eq!(Proof::iterations(127, 0), [127]);
        assert_eq!(Proof::iterations(127, 1), [64, 127]);
        assert_eq!(
            Proof::iterations(127, 3),
            [16, 32, 48, 64, 80, 96, 112, 127]
        );
        for p in [3, 5, 17, 89, 1021, 65_537, 1_048_573, 118_845_473, u32::MAX] {
            for power in 0..=Proof::most_power(p) {
                let iterations = Proof::iterations(p, power);
                assert_eq!(iterations.len(), 1 << power);
                assert!(iterations.is_sorted_by(|x, y| x < y), "{p} {power}");
                assert_eq!(iterations.last(), Some(&p));
            }
        }
    }

    #[test]
    fn what_a_proof_leaves_is_true_by_num_bigint() {
        for (p, is_prime) in [
            (5, true),
            (127, true),
            (131, false),
            (1021, false),
            (1279, true),
        ] {
            let modulus = (BigUint::from(1u32) << p) - 1u32;
            for power in (0..=Proof::most_power(p)).step_by(2) {
                let proof = proof(p, power);
                assert_eq!((proof.power(), proof.is_prime()), (power, is_prime));
                let left = proof.certificate().unwrap();
                assert_eq!(proof.flaw().unwrap(), None);
                assert_eq!(left.squarings(), p.div_ceil(1 << power));
                let exponent = BigUint::from(1u32) << left.squarings();
                let end = value(&left.start).modpow(&exponent, &modulus);
                assert_eq!(end, value(&left.end), "p {p}, power {power}");
                assert!(left.holds(&Cpu::default()).unwrap());
                assert_eq!(Proof::from_bytes(&proof.to_bytes()), Ok(proof));
            }
        }
    }

    /// The number, and the proof of its test, whose residues are num-bigint's.
    fn other_proof(k: u64, b: u32, n: u32, c: i32, power: u32) -> (BigUint, Proof) {
        let number = Number::of(k, b, n, c).unwrap();
        let modulus =
            value(&Residue::from_u64(number, 0).minus(&Residue::from_u64(number, 1))) + 1u32;
        let less = &modulus - 1u32;
        let claim = Claim::of(number);
        let squarings = u64::from(claim.squarings);
        let residue = |iteration: u32| {
            // The exponent's first bits: of all of it, or of Proth's half.
            let is_proths = b == 2 && c == 1;
            let exponent = if is_proths { &less >> 1 } else { less.clone() };
            let a = match is_proths {
                true => (3u32..).find(|&a| number.jacobi(a) == -1).unwrap(),
                false => 3,
            };
            let exponent = exponent >> (squarings - u64::from(iteration));
            let x = BigUint::from(a).modpow(&exponent, &modulus);
            Ok(Residue::from_bytes(number, &x.to_bytes_le()))
        };
        (
            modulus.clone(),
            Proof::build(number, power, residue).unwrap(),
        )
    }

    #[test]
    fn what_proofs_of_other_numbers_leave_is_true_by_num_bigint() {
        for (k, b, n, c, is_prime) in [
            (3, 2, 391, -1, true),
            (3, 2, 392, -1, false),
            (7, 2, 400, 1, false),
            (9, 2, 547, 1, false),
            (3, 2, 534, 1, true),
            (2, 3, 320, 1, true),
            (2, 3, 222, -1, true),
            (4, 7, 200, 3, false),
            (1, 10, 99, 289, true),
            (7, 2, 201, 33, false),
        ] {
            let most = Proof::most_power(Claim::of(Number::of(k, b, n, c).unwrap()).squarings);
            for power in 0..=most {
                let (modulus, proof) = other_proof(k, b, n, c, power);
                let number = proof.number();
                let name = format!("{number}, power {power}");
                assert_eq!(
                    (proof.power(), proof.is_prime()),
                    (power, is_prime),
                    "{name}"
                );
                assert_eq!(proof.flaw().unwrap(), None, "{name}");
                let left = proof.certificate().unwrap();
                let squarings = Claim::of(number).squarings;
                assert_eq!(left.squarings(), squarings.div_ceil(1 << power), "{name}");
                let factors = left.factors.iter();
                let end = factors.fold(value(&left.start), |x, by| &x * &x * by % &modulus);
                assert_eq!(end, value(&left.end), "{name}");
                assert!(left.holds(&Cpu::default()).unwrap(), "{name}");
                assert_eq!(Proof::from_bytes(&proof.to_bytes()), Ok(proof), "{name}");
            }
        }
    }

    #[test]
    fn a_bit_that_is_wrong_in_a_proof_of_another_number_is_found() {
        let (_, proof) = other_proof(2, 3, 320, 1, 3);
        let bytes = proof.to_bytes();
        let header = header(3, proof.number()).len();
        for at in (header..bytes.len() - 1).step_by(13) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 4;
            let wrong = Proof::from_bytes(&bytes).unwrap();
            assert!(
                !wrong.certificate().unwrap().holds(&Cpu::default()).unwrap(),
                "byte {at}"
            );
        }
        // The number is part of the challenges, and a prime's residue cannot be told to be another.
        let text = |number: &str| {
            let text = String::from_utf8(bytes[..header].to_vec()).unwrap();
            let text = text.replace("2*3^320+1", number);
            Proof::from_bytes(&[text.as_bytes(), &bytes[header..]].concat())
        };
        assert_eq!(text("2*3^320+1"), Ok(proof.clone()));
        assert!(text("2*3^320+3").unwrap().flaw().unwrap().is_some());
        for wrong in ["2*3^320+2", "2*3^3200+1", "2*3^4294967295+1", "3^", ""] {
            assert!(text(wrong).is_err(), "{wrong}");
        }
        let hidden = Residue::from_u64(proof.number(), 0).minus(&proof.last);
        let hidden = Proof {
            last: hidden,
            middles: proof.middles,
        };
        assert!(hidden.is_disguised());
    }

    #[test]
    fn a_bit_that_is_wrong_anywhere_is_found() {
        let bytes = proof(607, 3).to_bytes();
        let residues = header(3, 607.into()).len();
        for at in (residues..bytes.len()).step_by(19) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 4;
            let wrong = Proof::from_bytes(&bytes).unwrap();
            let left = wrong.certificate().unwrap();
            let holds = left.holds(&Cpu::default()).unwrap();
            assert!(!holds, "byte {at}");
        }
    }

    #[test]
    fn files_that_are_no_proofs_are_told() {
        let good = proof(127, 2).to_bytes();
        let text = |from: &str, to: &str| {
            let header = String::from_utf8(good[..header(2, 127.into()).len()].to_vec()).unwrap();
            let rest = &good[header.len()..];
            [header.replace(from, to).as_bytes(), rest].concat()
        };
        let what = |bytes: &[u8]| Proof::from_bytes(bytes).unwrap_err();
        assert!(what(b"").contains("cut short"));
        assert!(what(&good[..good.len() - 1]).contains("47 bytes of residues in place of 48"));
        assert!(what(&text("PRP PROOF", "POOF")).contains("`POOF` where `PRP PROOF`"));
        assert!(what(&text("VERSION=2", "VERSION=1")).contains("version 2"));
        assert!(what(&text("POWER=2", "POWER=4")).contains("no proof of power 4"));
        assert!(what(&text("M127", "M127/7")).contains("number"));
        assert!(what(&text("M127", "M128")).contains("2^128 - 1"));
        assert!(what(&text("M127", "M121")).contains("2^121 - 1"));
        assert!(what(&text("M127", "M4294967291")).contains("in place of"));
        assert!(what(&text("M127", "M4294967296")).contains("number"));
        assert!(what(&text("POWER=2", "POWER=4294967295")).contains("no proof"));
    }
}
