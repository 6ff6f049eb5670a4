//! The power that a certificate asks for, where it has an exponent.
//!
//! **Maths.** With the low bits `e[1]` to `e[m]` of the exponent, the top one first, those above them as a number
//! `E[0]`, and the base `D`,
//!
//! ```text
//! x[0] = X D^E[0],   x[i] = x[i - 1]^2 D^e[i],   x[m] = X^(2^m) D^e
//! ```
//!
//! Bits are taken four at a time, so that there is a product by one of `D` to `D^15` for every four squares.
//!
//! **Check** (Gerbicz and Li), at the end, as [`ladder`](crate::ladder) has it: with blocks of `b` squares, zeros
//! behind the last bit, `S` the sum of the blocks' exponents and `d` the product of `x[0]`, `x[b]`, ... up to the last
//! but one,
//!
//! ```text
//! d x[t b] = x[0] d^(2^b) D^S
//! ```
//!
//! Where it fails, everything is computed again, with a longer transform.

use bigint_host::BigUint;
use serde::{Deserialize, Serialize};

use super::{PrstCertificate, md5};
use crate::error::or_out_of_memory;
use crate::proof::powers::multiplying;
use crate::save::{NO_SAVE, opened, sealed};
use crate::{Backend, Error, Factor, Multiplying, Residue, Runner, Save};

/// The bits that are taken at a time.
const WINDOW: u32 = 4;

/// The checks that may fail.
const MOST_FAILURES: u32 = 3;

/// A certificate's power after some squarings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrstPower {
    certificate: PrstCertificate,
    base: Residue,
    exponent: BigUint,
    /// The squarings in a block.
    block: u32,
    now: Now,
    failures: u32,
}

/// How far the power is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Now {
    done: u32,
    x: Residue,
    /// The product of the residues at the ends of blocks.
    product: Residue,
    /// The residue after the last of the certificate's squarings.
    last: Option<Residue>,
}

/// A machine for a [`PrstPower`].
pub struct Windows<'a> {
    backend: &'a dyn Backend,
    base: Residue,
    machine: Box<dyn Multiplying>,
    /// The base's powers, from the first on.
    factors: Vec<Factor>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    worktype: String,
    /// The MD5 of the certificate.
    certificate: String,
    done: u32,
    has_last: bool,
    failures: u32,
}

const WORKTYPE: &str = "PRST certificate";

impl PrstPower {
    /// The power at its beginning; `None` where the certificate has no exponent, and squares alone.
    pub fn new(certificate: PrstCertificate) -> Option<Self> {
        let (base, exponent) = certificate.power.clone()?;
        let above: BigUint = &exponent >> certificate.squarings;
        let start = certificate.start.mul(&raised(&base, &above));
        Some(PrstPower {
            block: certificate.squarings.isqrt().max(1),
            now: Now {
                done: 0,
                x: start.clone(),
                product: start,
                last: None,
            },
            certificate,
            base,
            exponent,
            failures: 0,
        })
    }

    /// The residue that the power is, once it is computed and checked.
    pub fn residue(&self) -> Option<&Residue> {
        let is_done = self.now.done == self.progress().1;
        self.now.last.as_ref().filter(|_| is_done)
    }

    /// The squarings that are done, and all of them.
    pub fn progress(&self) -> (u32, u32) {
        let squarings = self.certificate.squarings;
        (self.now.done, squarings.next_multiple_of(self.block))
    }

    /// The checks that failed.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    #[cfg(test)]
    pub(super) fn flip(&mut self) {
        self.now.x = self.now.x.with_flipped_bit(5);
    }

    /// A machine for the squarings.
    ///
    /// # Errors
    /// As for [`Backend::multiplying`].
    pub fn machine<'a>(&self, backend: &'a dyn Backend) -> Result<Windows<'a>, Error> {
        or_out_of_memory(|| {
            let machine = multiplying(self.base.number(), backend)?;
            Windows::new(backend, self.base.clone(), machine)
        })
    }

    /// Runs up to `times` squarings, and returns whether the power is computed and checked.
    ///
    /// # Errors
    /// [`Error::Unstable`] where the check fails again and again; if the machine fails.
    pub fn advance(&mut self, machine: &mut Windows<'_>, times: u32) -> Result<bool, Error> {
        or_out_of_memory(|| {
            let (from, all) = self.progress();
            if from == all {
                return Ok(true);
            }
            let squarings = self.certificate.squarings;
            let mut until = (from / self.block + 1) * self.block;
            if from < squarings {
                until = until.min(squarings);
            }
            let until = until.min(from + times);
            let steps = steps(from..until, |i| self.bit(i));
            self.now.x = machine.raise(&self.now.x, &steps)?;
            self.now.done = until;
            if until == squarings {
                self.now.last = Some(self.now.x.clone());
            }
            if until.is_multiple_of(self.block) {
                let product = self.now.product.mul(&self.now.x);
                let before = std::mem::replace(&mut self.now.product, product);
                if until == all {
                    self.check(machine, &before)?;
                }
            }
            Ok(self.now.done == all)
        })
    }

    /// The bit of a square, from 0 on; 0 behind the last one.
    fn bit(&self, i: u32) -> bool {
        let place = self.certificate.squarings.checked_sub(i + 1);
        place.is_some_and(|place| self.exponent.bit(place.into()))
    }

    /// The check at the end, where `before` is the product without the last residue.
    fn check(&mut self, machine: &mut Windows<'_>, before: &Residue) -> Result<(), Error> {
        let (squarings, block) = (self.certificate.squarings, self.block);
        let all = self.progress().1;
        let behind = all - squarings;
        let low = (&self.exponent % (BigUint::from(1u32) << squarings)) << behind;
        let modulus = BigUint::from(1u32) << block;
        let blocks = (0..all / block).map(|t| (&low >> (t * block)) % &modulus);
        let sum = blocks.fold(BigUint::ZERO, |sum, block| sum + block);
        let above = &sum >> block;
        let start = before.mul(&raised(&self.base, &above));
        let steps = steps(0..block, |i| sum.bit((block - 1 - i).into()));
        let begun = PrstPower::new(self.certificate.clone()).expect("it has an exponent");
        if machine.raise(&start, &steps)?.mul(&begun.now.x) == self.now.product {
            return Ok(());
        }
        self.failures += 1;
        if self.failures == MOST_FAILURES {
            return Err(Error::Unstable {
                times: self.failures,
                from: 0,
                to: all,
            });
        }
        self.now = begun.now;
        if machine.machine.words().is_some() {
            machine.lengthen()?;
        }
        Ok(())
    }
}

/// The power with an exponent that may be 0.
fn raised(base: &Residue, exponent: &BigUint) -> Residue {
    let one = Residue::from_u64(base.number(), 1);
    (0..exponent.bits()).rev().fold(one, |power, i| {
        let square = power.square_minus(1, 0);
        if exponent.bit(i) {
            square.mul(base)
        } else {
            square
        }
    })
}

/// Squares in windows: how many, and the power of the base that follows them.
fn steps(range: std::ops::Range<u32>, bit: impl Fn(u32) -> bool) -> Vec<(u32, usize)> {
    let windows = range.clone().step_by(WINDOW as usize);
    let window = |from: u32| {
        let bits = from..range.end.min(from + WINDOW);
        let digit = bits
            .clone()
            .fold(0, |digit, i| 2 * digit + usize::from(bit(i)));
        (bits.len() as u32, digit)
    };
    windows.map(window).collect()
}

impl<'a> Windows<'a> {
    fn new(
        backend: &'a dyn Backend,
        base: Residue,
        mut machine: Box<dyn Multiplying>,
    ) -> Result<Self, Error> {
        machine.set(&base)?;
        let mut factors = vec![machine.keep()?];
        for _ in 2..1 << WINDOW {
            machine.multiply(&factors[0], None, 0)?;
            factors.push(machine.keep()?);
        }
        Ok(Windows {
            backend,
            base,
            machine,
            factors,
        })
    }

    /// Another machine, with a longer transform.
    fn lengthen(&mut self) -> Result<(), Error> {
        let longer_than = self.machine.words();
        let machine = self.backend.multiplying(self.base.number(), longer_than)?;
        *self = Windows::new(self.backend, self.base.clone(), machine)?;
        Ok(())
    }

    fn raise(&mut self, x: &Residue, steps: &[(u32, usize)]) -> Result<Residue, Error> {
        loop {
            match self.attempt(x, steps) {
                Ok(Some(residue)) => return Ok(residue),
                Ok(None) => self.lengthen()?,
                Err(error) if self.backend.falls_back(&error) => {
                    let machine = multiplying(self.base.number(), self.backend)?;
                    *self = Windows::new(self.backend, self.base.clone(), machine)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The same; `None` where rounding errors are too great.
    fn attempt(&mut self, x: &Residue, steps: &[(u32, usize)]) -> Result<Option<Residue>, Error> {
        self.machine.set(x)?;
        for &(squares, digit) in steps {
            self.machine.square(squares, 1, 0)?;
            if let Some(factor) = digit.checked_sub(1).map(|at| &self.factors[at]) {
                self.machine.multiply(factor, None, 0)?;
            }
        }
        match self.machine.error()? <= Runner::LIMIT {
            true => self.machine.residue().map(Some),
            false => Ok(None),
        }
    }

    /// Words of the transform; `None` where nothing is rounded.
    pub fn words(&self) -> Option<usize> {
        self.machine.words()
    }
}

impl Save for PrstPower {
    const UNIT: &'static str = "squaring";

    fn name(&self) -> String {
        format!("{}.certificate", self.certificate.number().stem())
    }

    fn done(&self) -> u64 {
        self.now.done.into()
    }

    fn res64(&self) -> Option<u64> {
        Some(self.now.x.res64())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let header = Header {
            worktype: WORKTYPE.to_owned(),
            certificate: md5(&self.certificate.to_bytes()),
            done: self.now.done,
            has_last: self.now.last.is_some(),
            failures: self.failures,
        };
        let residues = [&self.now.x, &self.now.product].into_iter();
        let residues = residues.chain(&self.now.last);
        sealed(&header, residues.flat_map(Residue::to_bytes))
    }

    fn from_bytes(bytes: &[u8], start: &Self) -> Result<Option<Self>, String> {
        let (header, rest): (Header, _) = opened(bytes)?;
        if header.certificate != md5(&start.certificate.to_bytes()) {
            return Ok(None);
        }
        let number = start.certificate.number();
        let residues = rest.chunks(number.bytes());
        let mut residues = residues.map(|bytes| Residue::from_bytes(number, bytes));
        let count = 2 + usize::from(header.has_last);
        let has_come = header.done >= start.certificate.squarings;
        let is_whole = rest.len() == count * number.bytes() && header.done <= start.progress().1;
        if !is_whole || header.worktype != WORKTYPE || header.has_last != has_come {
            return Err(NO_SAVE.to_owned());
        }
        let mut next = || residues.next().expect("there are as many");
        let (x, product) = (next(), next());
        let now = Now {
            done: header.done,
            x,
            product,
            last: header.has_last.then(next),
        };
        Ok(Some(PrstPower {
            now,
            failures: header.failures,
            ..start.clone()
        }))
    }
}
