//! Digits of constants, to any number of them.
//!
//! Each is `x` = floor(`c` 10^(d + g)), by integers alone, for `d` digits and `g` more: of these the last few
//! are off, and the others say whether the digits before them can be.
//!
//! ```text
//! pi      426880 sqrt(10005) / sum of (-1)^n (6n)! (13591409 + 545140134 n) / ((3n)! n!^3 640320^3n)
//!         [Chudnovsky and Chudnovsky 1988]
//! e       sum of 1 / n!
//! ln2     3/4 of the sum of (-1)^n n!^2 / (2^n (2n + 1)!)
//! zeta3   1/64 of the sum of (-1)^n (205 n^2 + 250 n + 77) n!^10 / (2n + 1)!^5
//!         [Amdeberhan and Zeilberger 1997]
//! sqrt2 sqrt3 phi     square roots; phi = (1 + sqrt(5)) / 2
//! ```
//!
//! **Cost**: the series by binary splitting, a quotient, for pi a square root, and the conversion to decimal
//! digits.

use crate::engine::rehearsal::rehearsed;
use crate::expression::Expression;
use crate::trees::series::Series;
use crate::{Batch, Engine, Error};
use bigint_core::{LIMB_BITS, MAX_WIDTH};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::str::FromStr;

/// Digits computed beyond those that are asked for.
const GUARD: usize = 20;

/// The last of these digits, which may be wrong.
const OFF: usize = 6;

/// A constant whose digits [`Engine::constant`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Constant {
    /// 3.14159...
    Pi,
    /// 2.71828...
    E,
    /// The square root of 2, 1.41421...
    Sqrt2,
    /// The square root of 3, 1.73205...
    Sqrt3,
    /// The golden ratio, 1.61803...
    Phi,
    /// The natural logarithm of 2, 0.69314...
    Ln2,
    /// Apéry's constant, 1.20205...
    Zeta3,
}

impl Constant {
    /// All of them.
    pub const ALL: [Constant; 7] = [
        Constant::Pi,
        Constant::E,
        Constant::Sqrt2,
        Constant::Sqrt3,
        Constant::Phi,
        Constant::Ln2,
        Constant::Zeta3,
    ];

    /// Its name, as the command has it.
    pub fn name(self) -> &'static str {
        match self {
            Constant::Pi => "pi",
            Constant::E => "e",
            Constant::Sqrt2 => "sqrt2",
            Constant::Sqrt3 => "sqrt3",
            Constant::Phi => "phi",
            Constant::Ln2 => "ln2",
            Constant::Zeta3 => "zeta3",
        }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Constant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Constant::ALL
            .into_iter()
            .find(|constant| constant.name() == name);
        found.ok_or_else(|| {
            format!(
                "expected one of {}",
                Constant::ALL.map(Constant::name).join(", ")
            )
        })
    }
}

impl Engine {
    /// A constant with so many digits behind the point, cut off, not rounded.
    ///
    /// ```
    /// use bigint_host::{Constant, Engine};
    /// let pi = Engine::auto().constant(Constant::Pi, 50)?;
    /// assert_eq!(pi, "3.14159265358979323846264338327950288419716939937510");
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Width`] where numbers would have more than 2^33 bits;
    /// [`Error::Device`] on a device.
    pub fn constant(&self, constant: Constant, digits: usize) -> Result<String, Error> {
        let mut key = DefaultHasher::new();
        ("constant", constant, digits).hash(&mut key);
        rehearsed(
            self,
            key.finish(),
            |engine| engine.rehearse_constant(constant, digits),
            || self.constant_in_digits(constant, digits),
        )
    }

    /// Does what a constant takes of a device, where nothing is computed.
    fn rehearse_constant(&self, constant: Constant, digits: usize) -> Result<(), Error> {
        let scaled = self.scaled(constant, digits.saturating_add(GUARD))?;
        self.rehearse_decimals(&scaled)
    }

    /// [`Engine::constant`].
    fn constant_in_digits(&self, constant: Constant, digits: usize) -> Result<String, Error> {
        let mut guard = GUARD;
        loop {
            let scaled = self.scaled(constant, digits.saturating_add(guard))?;
            let mut text = self.decimals(&scaled)?.swap_remove(0).into_bytes();
            drop(scaled);
            // The digits that decide whether those before them are right.
            let checked = &text[text.len() - guard..text.len() - OFF];
            let is_open = checked.iter().all(|&digit| digit == b'9')
                || checked.iter().all(|&digit| digit == b'0');
            if is_open {
                guard *= 2;
                continue;
            }
            text.truncate(text.len() - guard);
            // All begin with one digit before the point, which may be a zero that is not written.
            let missing = (digits + 1).saturating_sub(text.len());
            text.splice(0..0, std::iter::repeat_n(b'0', missing));
            if digits > 0 {
                text.insert(1, b'.');
            }
            return Ok(String::from_utf8(text).expect("digits are characters"));
        }
    }

    /// About `c 10^digits`: within 10^5, where `digits` is not less than [`GUARD`].
    fn scaled(&self, constant: Constant, digits: usize) -> Result<Batch, Error> {
        let bits = digits as f64 * std::f64::consts::LOG2_10;
        // Each is a root or a quotient of a number of twice as many digits.
        let width = (2.0 * bits / LIMB_BITS as f64) as usize + 1;
        if width > MAX_WIDTH {
            return Err(Error::Width { width });
        }
        let power = |digits| self.power_of_ten(digits);
        let root = |of: u32| Ok::<_, Error>(self.isqrt(&self.times(&power(2 * digits)?, of)?)?.0);
        let ratio = |terms: usize, series: &Series, times: u32, over: u32| {
            let [t, q] = series.sum(self, terms, bits as usize)?;
            let dividend = self.times(&self.mul(&power(digits)?, &t)?, times)?;
            drop(t);
            self.div(&dividend, &self.times(&q, over)?)
        };
        let scaled = match constant {
            Constant::Sqrt2 => root(2),
            Constant::Sqrt3 => root(3),
            Constant::Phi => {
                let sum = self.add(&root(5)?, &power(digits)?)?;
                self.div(&sum, &self.small(2)?)
            }
            Constant::Pi => {
                let [t, q] = CHUDNOVSKY.sum(self, (bits / 47.11) as usize + 2, bits as usize)?;
                let dividend = self.times(&self.mul(&root(10005)?, &q)?, 426_880)?;
                drop(q);
                self.div(&dividend, &t)
            }
            Constant::E => ratio(terms_of_e(bits), &E, 1, 1),
            Constant::Ln2 => ratio((bits / 3.0) as usize + 2, &LN2, 3, 4),
            Constant::Zeta3 => ratio((bits / 10.0) as usize + 8, &ZETA3, 1, 64),
        }?;
        // A quotient is as wide as its dividend; this is less than 2^5 times the power.
        let width = ((bits + 5.0) / LIMB_BITS as f64) as usize + 1;
        self.limbs_from(&scaled, 0, width.min(scaled.width()))
    }

    /// `10^exponent`, one number, by squares from the top bit on.
    fn power_of_ten(&self, exponent: usize) -> Result<Batch, Error> {
        let (mut power, mut done) = (self.batch_from_biguints(&[1u8.into()])?, 0);
        for bit in (0..usize::BITS - exponent.leading_zeros()).rev() {
            power = self.square(&power)?;
            done = 2 * done + (exponent >> bit & 1);
            if exponent >> bit & 1 == 1 {
                power = self.times(&power, 10)?;
            }
            // At most a limb for each 9 digits, and one.
            let width = (done as f64 * std::f64::consts::LOG2_10 / 32.0) as usize + 2;
            if width < power.width() {
                power = self.limbs_from(&power, 0, width)?;
            }
        }
        Ok(power)
    }

    pub(super) fn times(&self, a: &Batch, factor: u32) -> Result<Batch, Error> {
        match factor {
            1 => Ok(a.clone()),
            _ => self.mul(a, &self.small(factor)?),
        }
    }

    fn small(&self, number: u32) -> Result<Batch, Error> {
        self.batch_from_biguints(&[number.into()])
    }
}

/// Terms after which those of `1 / n!` are below `2^-bits`.
fn terms_of_e(bits: f64) -> usize {
    let (mut n, mut sum) = (1.0f64, 0.0);
    // By Stirling's bound, n! > (n / e)^n; doubled, then found between both.
    let below = |n: f64| n * (n.log2() - std::f64::consts::LOG2_E);
    while below(n) < bits {
        sum = n;
        n *= 2.0;
    }
    while n - sum > 1.0 {
        let middle = (n + sum) / 2.0;
        if below(middle) < bits {
            sum = middle
        } else {
            n = middle
        }
    }
    n as usize + 4
}

// Terms of `n` = `k + 1`.

const CHUDNOVSKY: Series = Series {
    // 640320^3 / 24.
    after: |k| {
        let n = k + 1u32;
        let p = (k * 6u32 + 1u32) * (k * 2u32 + 1u32) * (k * 6u32 + 5u32);
        let q = n.clone() * &n * &n * 10_939_058_860_032_000_u64;
        [p, q, n * 545_140_134u32 + 13_591_409u32]
    },
    first: 13_591_409,
    alternates: true,
};

const E: Series = Series {
    after: |k| {
        let n = k + 1u32;
        // Ones, as many as numbers.
        let one = n.clone().min(1u32);
        [one.clone(), n, one]
    },
    first: 1,
    alternates: false,
};

const LN2: Series = Series {
    after: |k| {
        let n = k + 1u32;
        [n.clone(), k * 8u32 + 12u32, n.min(1u32)]
    },
    first: 1,
    alternates: true,
};

const ZETA3: Series = Series {
    after: |k| {
        let (n, m) = (k + 1u32, k * 2u32 + 3u32);
        let a = (n.clone() * 205u32 + 250u32) * &n + 77u32;
        [fifth(&n), fifth(&m) * 32u32, a]
    },
    first: 77,
    alternates: true,
};

fn fifth(n: &Expression<Batch>) -> Expression<Batch> {
    let square = n * n;
    &square * &square * n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rehearsal::{counts, meets};

    #[test]
    fn a_rehearsal_meets_the_kernels_of_pi() {
        let name = "trees::constants::tests::a_rehearsal_meets_the_kernels_of_pi";
        let Some(counts) = counts(name) else {
            return;
        };
        let digits = 2000;
        let engine = Engine::cuda(0).expect("the simulated device");
        let rehearse = |engine: &Engine| {
            let rehearsed = engine.rehearse_constant(Constant::Pi, digits);
            rehearsed.expect("a rehearsal goes through");
        };
        let perform = || {
            engine
                .constant_in_digits(Constant::Pi, digits)
                .expect("memory")
        };
        let pi = meets(&engine, (&counts, 0), rehearse, perform);
        assert_eq!(
            pi,
            Engine::cpu()
                .constant(Constant::Pi, digits)
                .expect("memory")
        );
    }
}
