//! Proofs that PRST builds certificates of, and its certificates, as LLR2 has them [Pietrzak 2018].
//!
//! **Maths.** The claim `A^(2^s) 3^E = B` is halved as in our own [`Proof`](super::Proof), but for these
//! differences:
//!
//! * Of `k 2^n + c`, Fermat's test is `A = 3^k` and `n` squarings, without an `E`: the claim is of `3^(k 2^n)`,
//!   and `3^(N - 1)` is that times `3^(c - 1)`. Our own test has `3^floor((N - 1) / 2^i)`, so its residues are
//!   multiplied by a small power of 3.
//! * Where `s` is odd, the first half is the longer one: `A^2` takes the place of `A`, not `B^2` that of `B`. With
//!   `2^t` spans, `floor(s / 2^t)` squarings are left.
//! * A challenge `h` is of the MD5 of the number's fingerprint, the present `B` and the product `M`: its low 64
//!   bits, made odd and increased to the next number without a divisor below 1000.
//!
//! So `A`, `B` and the *products* `M` become a **certificate**: `X`, `m` and, where there is an `E`, the base 3 and
//! an exponent `e`, with
//!
//! ```text
//! X^(2^m) 3^e = Y
//! ```
//!
//! Who built it knows `Y`, and compares its low 64 bits with what another computes. The tester knows them too,
//! so `X`, `Y` and the 3 are raised to a secret power before.

mod file;
mod power;
#[cfg(test)]
mod tests;

use bigint_host::BigUint;
use md5::{Digest, Md5};

pub(crate) use file::md5;
pub use power::PrstPower;

use file::{CERTIFICATE, POINT, PRODUCT, Record, unit, value};

use super::claim::{Claim, above, factor};
use super::flaw::{SHORT, tested};
use super::powers::Powers;
use super::{Certificate, Flaw};
use crate::error::or_out_of_memory;
use crate::prp::proth_base;
use crate::{Backend, Error, Number, Prp, Residue, is_prime};

/// The last residue of a test and the products of its points, of which PRST builds a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrstProof {
    plan: Plan,
    last: Residue,
    products: Vec<Residue>,
}

/// What PRST raises to a power, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    number: Number,
    /// The base.
    a: u32,
    /// Whether each square may be multiplied by the base. If not, `a^k` is squared alone.
    has_exponent: bool,
    squarings: u32,
    /// The squarings of our own test.
    own: u32,
    /// Whether its residues are others, by small powers of 3.
    is_other: bool,
}

/// A certificate as PRST and LLR2 have it: a power that takes a `2^-t` of a test to compute, of which whoever
/// made it knows the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrstCertificate {
    /// The residue that is squared.
    pub start: Residue,
    /// The number of squarings.
    pub squarings: u32,
    /// The base and the exponent of the power that it is multiplied by, if it is.
    pub power: Option<(Residue, BigUint)>,
}

impl Plan {
    /// What PRST does with a number, or why not.
    fn of(number: Number) -> Result<Self, String> {
        let (k, n) = (number.k(), number.n());
        let is_short = number.base() == 2 && f64::from(k).log2() < f64::from(n / 4);
        let is_proth = number.is_binary() && number.has_proof() && number.c() > 0;
        if number.modulo(3) == 0 {
            return Err(format!("3 divides {number}"));
        }
        if is_proth && !is_short {
            return Err(format!(
                "PRST tests {number} in another way, as 2^(n/4) is not above k"
            ));
        }
        let test = Prp::proved(number);
        let own = test.squarings();
        Ok(Plan {
            number,
            a: if is_proth { proth_base(number) } else { 3 },
            has_exponent: !is_short,
            squarings: match (is_proth, is_short) {
                (true, _) => n - 1,
                (false, true) => n,
                (false, false) => own,
            },
            own,
            is_other: is_short && test.ladder().is_some(),
        })
    }

    /// The same for a proof of this power.
    fn with_power(number: Number, power: u32) -> Result<Self, String> {
        let plan = Plan::of(number)?;
        match power <= super::Proof::most_power(plan.squarings) {
            true => Ok(plan),
            false => Err(format!("there is no proof of power {power} for {number}")),
        }
    }

    /// The squarings before each point but the first, of so many spans.
    fn points(&self, power: u32) -> Vec<u32> {
        let count = 1u32 << power;
        let point = |i: u32| {
            let (mut span, mut at) = (self.squarings, 0);
            for level in 0..power {
                let half = count >> (level + 1);
                if i & (2 * half - 1) == 0 {
                    break;
                }
                span /= 2;
                at += if i & half > 0 { span } else { 0 };
                at += self.squarings >> level & 1;
            }
            at
        };
        (1..count).map(point).chain([self.squarings]).collect()
    }

    /// The iteration of our own test for a point.
    fn iteration(&self, point: u32) -> u32 {
        point + self.own - self.squarings
    }

    /// The residue of a point, by that of our own test.
    fn residue(&self, point: u32, own: Residue) -> Residue {
        // Our own exponent is floor((k 2^n + c - 1) / 2^(n - point)).
        if !self.is_other {
            return own;
        }
        let left = (self.squarings - point).min(40);
        let less = (i64::from(self.number.c()) - 1) >> left;
        own.mul(&self.three(-less))
    }

    /// The power of 3.
    fn three(&self, exponent: i64) -> Residue {
        let one = Residue::from_u64(self.number, 1);
        match exponent {
            0 => one,
            1.. => Residue::from_u64(self.number, 3).pow(exponent.unsigned_abs()),
            _ => one.divided_by(3).pow(exponent.unsigned_abs()),
        }
    }

    /// The residue that is squared.
    fn start(&self) -> Residue {
        let a = Residue::from_u64(self.number, self.a.into());
        if self.has_exponent {
            a
        } else {
            a.pow(self.number.k().into())
        }
    }

    /// What files of the number belong to.
    fn fingerprint(&self) -> u32 {
        fingerprint(self.number)
    }

    /// The file of a point or product.
    fn file(&self, kind: u8, iteration: u32, residue: &Residue) -> Vec<u8> {
        let values = vec![value(residue)];
        Record { iteration, values }.to_bytes(kind, self.of_points())
    }

    /// What files of points and products belong to.
    fn of_points(&self) -> u32 {
        let hash = Md5::new_with_prefix(self.fingerprint().to_le_bytes());
        let name = format!("{}.{}", self.a, self.squarings);
        first_word(hash.chain_update(name))
    }
}

/// PRST's fingerprint of a number: its remainder by a prime.
fn fingerprint(number: Number) -> u32 {
    number.modulo(3_417_905_339)
}

fn first_word(hash: Md5) -> u32 {
    let hash: [u8; 16] = hash.finalize().into();
    let (low, _) = hash.split_first_chunk().expect("it has 16 bytes");
    u32::from_le_bytes(*low)
}

/// The next odd number, from `x` on, without a divisor below `bound`.
fn rough(x: u64, bound: u64) -> u64 {
    let mut x = x | 1;
    if x >> 32 == 0 {
        x |= 1 << 32;
    }
    // Beyond 2^64 PRST's exponents have one bit more: as rare as a hash that is found by chance.
    while (3..bound).step_by(2).any(|d| x.is_multiple_of(d)) {
        x = x.wrapping_add(2);
    }
    x
}

/// The challenge of a product, and the residue that it leads to.
fn challenge(fingerprint: u32, end: &Residue, product: &Residue) -> u64 {
    let hash = Md5::new_with_prefix(fingerprint.to_le_bytes());
    let hash = hash.chain_update(value(end)).chain_update(value(product));
    let hash: [u8; 16] = hash.finalize().into();
    let (low, _) = hash.split_first_chunk().expect("it has 16 bytes");
    rough(u64::from_le_bytes(*low), 1000)
}

impl PrstProof {
    /// The iterations whose residues a proof of this power is made of, ascending, of the test of a number of
    /// which [`Proof`](super::Proof)s are made.
    ///
    /// # Errors
    /// Where there is no such proof, in words.
    pub fn iterations(number: Number, power: u32) -> Result<Vec<u32>, String> {
        let plan = Plan::with_power(number, power)?;
        let points = plan.points(power).into_iter();
        Ok(points.map(|point| plan.iteration(point)).collect())
    }

    /// The proof of this power on this machine, where the first products are there already, and `residue` reads
    /// residues of [`iterations`](Self::iterations). `keep` is given the other products.
    ///
    /// # Errors
    /// As `residue`.
    ///
    /// # Panics
    /// If there are no such iterations, or more products than the power.
    pub fn go_on(
        number: Number,
        power: u32,
        backend: &dyn Backend,
        mut products: Vec<Residue>,
        mut residue: impl FnMut(u32) -> Result<Residue, Error>,
        mut keep: impl FnMut(&Residue),
    ) -> Result<Self, Error> {
        assert!(products.len() <= power as usize, "no more than the power");
        let plan = Plan::of(number).expect("a number that PRST proves");
        or_out_of_memory(|| {
            let points = plan.points(power);
            let mut read = |point| Ok(plan.residue(point, residue(plan.iteration(point))?));
            let mut powers = Powers::new(number, backend)?;
            let last = read(plan.squarings)?;
            let (mut end, mut hashes) = (last.clone(), Vec::new());
            for level in 0..power as usize {
                if level == products.len() {
                    let product = powers.middle(power, &points, &hashes, &mut read)?;
                    keep(&product);
                    products.push(product);
                }
                let hash = challenge(plan.fingerprint(), &end, &products[level]);
                end = powers.power_times(&products[level], hash, &end)?;
                hashes.push(hash);
            }
            Ok(PrstProof {
                plan,
                last,
                products,
            })
        })
    }

    /// The number that was tested.
    pub fn number(&self) -> Number {
        self.plan.number
    }

    /// The number of products.
    pub fn power(&self) -> u32 {
        self.products.len() as u32
    }

    /// Whether the number is a probable prime, by a proof without [`flaw`](Self::flaw) that holds.
    pub fn is_prime(&self) -> bool {
        self.result().square_minus(1, 0) == Residue::from_u64(self.number(), 1)
            && (self.is_of_proth() || self.result() == Residue::from_u64(self.number(), 1))
    }

    fn is_of_proth(&self) -> bool {
        !self.plan.has_exponent && self.plan.squarings < self.plan.number.n()
    }

    /// The residue of the test: `3^(N - 1)`, or Proth's power.
    fn result(&self) -> Residue {
        let Plan { number, .. } = self.plan;
        match self.plan.has_exponent || self.is_of_proth() {
            true => self.last.clone(),
            false => self.last.mul(&self.plan.three(i64::from(number.c()) - 1)),
        }
    }

    /// The certificate of a proof without [`flaw`](Self::flaw), and what it leads to, raised to a secret power.
    /// Its low 64 bits without the secret are the *raw* certificate's, which come third.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn certificate(
        &self,
        backend: &dyn Backend,
        secret: Option<u64>,
    ) -> Result<(PrstCertificate, Residue, u64), Error> {
        or_out_of_memory(|| {
            let Plan {
                number, squarings, ..
            } = self.plan;
            let mut powers = Powers::new(number, backend)?;
            let (mut start, mut end) = (self.plan.start(), self.last.clone());
            let mut spans = self.spans();
            let mut left = squarings;
            for product in &self.products {
                let hash = challenge(self.plan.fingerprint(), &end, product);
                if left % 2 == 1 {
                    start = start.square_minus(1, 0);
                }
                start = powers.power_times(&start, hash, product)?;
                end = powers.power_times(product, hash, &end)?;
                left /= 2;
                let (first, second) = spans.split_at(spans.len() / 2);
                let pairs = first.iter().zip(second);
                spans = pairs.map(|(first, second)| first * hash + second).collect();
            }
            let raw = end.res64();
            let mut base = Residue::from_u64(number, self.plan.a.into());
            if let Some(secret) = secret {
                let (secret, one) = (rough(secret, 1_000_000), Residue::from_u64(number, 1));
                for residue in [&mut start, &mut end, &mut base] {
                    *residue = powers.power_times(residue, secret, &one)?;
                }
            }
            let certificate = PrstCertificate {
                start,
                squarings: left,
                power: spans.pop().map(|exponent| (base, exponent)),
            };
            Ok((certificate, end, raw))
        })
    }

    /// The exponents of the spans between points; none where there is no exponent.
    fn spans(&self) -> Vec<BigUint> {
        if !self.plan.has_exponent {
            return Vec::new();
        }
        let claim = Claim::of(self.plan.number);
        let points = [vec![0], self.plan.points(self.power())].concat();
        let spans = points.windows(2);
        spans.map(|span| claim.exponent(span[0], span[1])).collect()
    }

    /// The claim of the certificate without a secret.
    ///
    /// # Errors
    /// As for [`certificate`](Self::certificate).
    pub fn claim(&self, backend: &dyn Backend) -> Result<Certificate, Error> {
        let (
            PrstCertificate {
                start,
                squarings,
                power,
            },
            end,
            _,
        ) = self.certificate(backend, None)?;
        let exponent = power.map(|(_, exponent)| exponent).unwrap_or_default();
        let bits = (0..squarings).rev().map(|i| exponent.bit(i.into()));
        Ok(Certificate {
            start: start.mul(&above(self.number(), &exponent, squarings)),
            factors: bits.map(factor).collect(),
            end,
        })
    }

    /// The [`Flaw`] of the proof, if it has one, whatever its claim. Finding it takes as long as some thousands
    /// of squarings, on the CPU. The last residue may have no order that divides what is known of `N - 1`: the primes
    /// of `k b^n`, and those below 2^20.
    ///
    /// # Errors
    /// If the host lacks memory.
    pub fn flaw(&self) -> Result<Option<Flaw>, Error> {
        or_out_of_memory(|| {
            let product = |product: Residue, other| product.mul(other);
            let product = self.products.iter().fold(self.last.clone(), product);
            let divisor = product.divisor()?;
            if divisor != BigUint::from(1u32) {
                return Ok(Some(Flaw::SharedFactor(divisor)));
            }
            if self.number().bits() <= SHORT {
                let last = self
                    .plan
                    .residue(self.plan.squarings, tested(self.number()));
                return Ok((self.last != last).then_some(Flaw::Wrong));
            }
            let is_disguised = !self.is_prime() && self.has_small_order();
            Ok(is_disguised.then_some(Flaw::Disguised))
        })
    }

    /// Whether the order of the test's residue divides what is known of `N - 1`.
    fn has_small_order(&self) -> bool {
        let number = self.number();
        let mut power = self.result();
        if number.c() == 1 {
            power = power.pow(number.k().into());
            for q in number.primes() {
                let times = 64 / q.ilog2() + 1;
                power = (0..times).fold(power, |power, _| power.pow(q.into()));
            }
        } else {
            // Of 2^p - 1, p is among them.
            let divides = |&q: &u32| number.modulo(q) == 1;
            let odd = (3..1 << 20).step_by(2).filter(divides);
            for q in odd.filter(|&q| is_prime(q)).chain([2, number.n()]) {
                let times = 31 / q.ilog2().max(1);
                power = (0..times).fold(power, |power, _| power.pow(q.into()));
            }
        }
        power == Residue::from_u64(number, 1)
    }

    /// The files, with their names: points and products, those that PRST needs for a certificate.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let number = self.number();
        let point = |i: u32, iteration, residue: &Residue| {
            let name = Self::name(number, &format!("proof.{i}"));
            (name, self.plan.file(POINT, iteration, residue))
        };
        let first = (!self.plan.has_exponent).then(|| point(0, 0, &self.plan.start()));
        let last = point(1 << self.power(), self.plan.squarings, &self.last);
        let products = (0..).zip(&self.products);
        let products = products.map(|(level, product)| Self::product_file(level, product));
        first.into_iter().chain([last]).chain(products).collect()
    }

    /// The file of a product, with its name.
    ///
    /// # Panics
    /// If PRST proves no such number so.
    pub fn product_file(level: u32, product: &Residue) -> (String, Vec<u8>) {
        let number = product.number();
        let plan = Plan::of(number).expect("a number that PRST proves");
        (
            Self::product(number, level),
            plan.file(PRODUCT, level, product),
        )
    }

    /// The name of a product's file.
    pub fn product(number: Number, level: u32) -> String {
        Self::name(number, &format!("prod.{level}"))
    }

    /// PRST's name of a file of a number.
    pub fn name(number: Number, end: &str) -> String {
        format!("prst_{}.{end}", fingerprint(number))
    }

    /// The proof of this power with the bytes of its files, which `read` reads by their names.
    ///
    /// # Errors
    /// What `read` returns; what is wrong with a file, with its name, in words.
    pub fn from_files(
        number: Number,
        power: u32,
        mut read: impl FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Self, String> {
        let plan = Plan::with_power(number, power)?;
        let mut residue = |end: String, kind, iteration| -> Result<Residue, String> {
            let name = Self::name(number, &end);
            let bytes = read(&name)?;
            let of_file = |what: String| format!("{name}: {what}");
            let record = Record::from_bytes(&bytes, kind, plan.of_points());
            // LLR2's files are of the number, and its points are counted from 1.
            let llr2 = |_| Record::from_bytes(&bytes, kind, plan.fingerprint()).ok();
            let record = record
                .or_else(|what| llr2(()).ok_or(what))
                .map_err(of_file)?;
            let is_it = record.iteration == iteration
                || kind == POINT && bytes[4] == 2 && record.iteration == iteration + 1;
            match &record.values[..] {
                [value] if is_it => unit(number, value).map_err(of_file),
                _ => Err(of_file("it is of another point".to_owned())),
            }
        };
        if !plan.has_exponent && residue("proof.0".to_owned(), POINT, 0)? != plan.start() {
            let name = Self::name(number, "proof.0");
            return Err(format!("{name}: it is not {}^{}", plan.a, number.k()));
        }
        let last = residue(format!("proof.{}", 1 << power), POINT, plan.squarings)?;
        let products = (0..power).map(|level| residue(format!("prod.{level}"), PRODUCT, level));
        Ok(PrstProof {
            plan,
            last,
            products: products.collect::<Result<_, _>>()?,
        })
    }

    /// The first products of a proof of this number that `read` finds whole.
    pub fn products(
        number: Number,
        power: u32,
        mut read: impl FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Vec<Residue> {
        let Ok(plan) = Plan::of(number) else {
            return Vec::new();
        };
        let product = |level| {
            let bytes = read(&Self::product(number, level)).ok()?;
            let record = Record::from_bytes(&bytes, PRODUCT, plan.of_points()).ok()?;
            let is_it = record.iteration == level && record.values.len() == 1;
            is_it.then(|| unit(number, &record.values[0]).ok())?
        };
        (0..power).map_while(product).collect()
    }
}

impl PrstCertificate {
    /// The number that was tested.
    pub fn number(&self) -> Number {
        self.start.number()
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (exponent, base) = match &self.power {
            Some((base, exponent)) => (exponent.to_bytes_le(), value(base)),
            None => (Vec::new(), Vec::new()),
        };
        let record = Record {
            iteration: self.squarings,
            values: vec![value(&self.start), exponent, base],
        };
        record.to_bytes(CERTIFICATE, fingerprint(self.number()))
    }

    /// The certificate of a number with the bytes of its file.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn from_bytes(number: Number, bytes: &[u8]) -> Result<Self, String> {
        let record = Record::from_bytes(bytes, CERTIFICATE, fingerprint(number))?;
        let squarings = record.iteration;
        if squarings == 0 || u64::from(squarings) > number.bits() {
            return Err(format!("there is no certificate of {squarings} squarings"));
        }
        let (start, power) = match &record.values[..] {
            [start] => (start, None),
            [start, exponent, base] if exponent.is_empty() && base.is_empty() => (start, None),
            [start, exponent, base] => (start, Some((exponent, base))),
            _ => return Err("it is cut short".to_owned()),
        };
        let power = power.map(|(exponent, base)| {
            let exponent = BigUint::from_bytes_le(exponent);
            // Each halving adds the bits of a challenge.
            if exponent.bits() > u64::from(squarings) + 64 * 21 {
                return Err("its exponent is too long".to_owned());
            }
            Ok((unit(number, base)?, exponent))
        });
        Ok(PrstCertificate {
            start: unit(number, start)?,
            squarings,
            power: power.transpose()?,
        })
    }
}
