//! Straight-line programs modulo odd numbers, which run for many rows of numbers at once.
//!
//! A [`Chain`] has registers, each of which holds a residue for each of `count` rows. A [`Step`]
//! computes one register from others in all rows. Arithmetic of points on elliptic curves, Lucas
//! chains and products of many differences are such programs. All rows run the same steps, so a row
//! is a lane of a vector (AVX-512 IFMA), or rows are computed one after another in 64-bit words.
//! Threads share the rows.
//!
//! Residues are in Montgomery's form with `R > 64 m`, and are not reduced after each step. A
//! product of `a < x m` and `b < y m` with `x y <= 64` is below `(64 m m + R m) / R < 2 m`. So the
//! bound of a register follows from the steps alone, is the same in all rows, and is checked before
//! the steps run.
//!
//! ```
//! use bigint_cpu::chain::{Chain, Step};
//! let mut chain = Chain::new(&[101], 3, 2)?;      // modulo 101, three registers, two rows
//! chain.set(0, &[vec![7], vec![100]])?;
//! chain.set(1, &[vec![30]])?;                      // the same in all rows
//! chain.run(&[Step::Mul { r: 2, a: 0, b: 0 }, Step::Add { r: 2, a: 2, b: 1 }]);
//! assert_eq!(chain.get(2), [[79], [31]]);          // 7 7 + 30, 100 100 + 30
//! # Ok::<(), bigint_cpu::Error>(())
//! ```

mod words;

use bigint_core::{LIMB_BITS, Limb};

use super::{Cpu, Path, lanes};
use crate::{Error, share};

/// A step of a chain, which computes one register from others in all rows. Registers are numbered
/// from 0, and the result may replace an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `r = a b`.
    Mul {
        /// The result's register.
        r: u16,
        /// A factor.
        a: u16,
        /// The other factor.
        b: u16,
    },
    /// `r = a + b`.
    Add {
        /// The result's register.
        r: u16,
        /// A term.
        a: u16,
        /// The other term.
        b: u16,
    },
    /// `r = a - b`.
    Sub {
        /// The result's register.
        r: u16,
        /// The number from which `b` is subtracted.
        a: u16,
        /// The number that is subtracted. It must be a product, or a register that was
        /// [set](Chain::set).
        b: u16,
    },
    /// `r = a`.
    Copy {
        /// The result's register.
        r: u16,
        /// The register that is copied.
        a: u16,
    },
    /// `r = a s / 2^32`, where `s` is the row's [scale](Chain::set_scales).
    Scale {
        /// The result's register.
        r: u16,
        /// The factor.
        a: u16,
    },
    /// `r = b` in rows whose [key](Chain::set_keys) has this bit, `r = a` in the others.
    Choose {
        /// The result's register.
        r: u16,
        /// What rows without the bit take.
        a: u16,
        /// What rows with the bit take.
        b: u16,
        /// The bit's number, from 0 for the lowest.
        bit: u32,
    },
    /// `r = a 2^k`, where `k`, 0 to 3, is two bits of the row's [key](Chain::set_keys).
    Shift {
        /// The result's register.
        r: u16,
        /// The factor.
        a: u16,
        /// The number of the lower bit, which is even.
        bit: u32,
    },
}

impl Step {
    /// `r = a a`.
    pub const fn square(r: u16, a: u16) -> Step {
        Step::Mul { r, a, b: a }
    }
}

/// `R` is greater than so many times the modulus. Products of two bounds are at most this.
const SPARE: u32 = 64;

/// The logarithm of `SPARE`, in bits.
const SPARE_BITS: usize = SPARE.ilog2() as usize;

/// The bound of a product, in moduli.
const PRODUCT: u32 = 2;

/// The greatest power of two by which a step shifts.
const SHIFTED: u32 = 8;

/// The rows from which on lanes take them: they take as long for one row as for all that they hold.
const WORTH_LANES: usize = 3;

/// A group of rows that are computed together.
pub(super) trait Rows: Send {
    /// Sets a register to numbers below the modulus, one for each row.
    fn set(&mut self, register: usize, numbers: &[&[Limb]]);
    /// The numbers of a register, below the modulus.
    fn get(&self, register: usize) -> Vec<Vec<Limb>>;
    /// Sets the rows' scales.
    fn set_scales(&mut self, scales: &[u32]);
    /// Sets the rows' keys.
    fn set_keys(&mut self, keys: &[&[Limb]]);
    /// Runs steps. The caller has checked their bounds.
    fn run(&mut self, steps: &[Step]);
}

/// Registers of residues modulo an odd number, for many rows: one number for all, or one for each.
pub struct Chain {
    /// The limbs of the longest modulus.
    width: usize,
    count: usize,
    /// The number of rows in a group.
    size: usize,
    groups: Vec<Box<dyn Rows>>,
    /// The bound of each register, in moduli.
    bounds: Vec<u32>,
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain")
            .field("registers", &self.bounds.len())
            .field("rows", &self.count)
            .finish_non_exhaustive()
    }
}

impl Chain {
    /// Creates registers of `count` rows, all of them zero, modulo an odd number greater than 1,
    /// least significant limb first.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the registers cannot be allocated.
    ///
    /// # Panics
    /// If the modulus is even, or 1.
    pub fn new(modulus: &[Limb], registers: u16, count: usize) -> Result<Self, Error> {
        Chain::on(Cpu::current().path(), modulus, registers, count)
    }

    /// [`Chain::new`] with the instructions of a path, or of a slower path if the given one does
    /// not have chains.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the registers cannot be allocated.
    ///
    /// # Panics
    /// As [`Chain::new`].
    pub fn on(path: Path, modulus: &[Limb], registers: u16, count: usize) -> Result<Self, Error> {
        Chain::modulo(path, &[modulus], registers, count)
    }

    /// [`Chain::new`] with a row for each of these moduli, computed as the longest of them is.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// Where a modulus is even, or 1.
    pub fn with_moduli(moduli: &[Vec<Limb>], registers: u16) -> Result<Self, Error> {
        let path = Cpu::current().path();
        let moduli: Vec<_> = moduli.iter().map(Vec::as_slice).collect();
        Chain::modulo(path, &moduli, registers, moduli.len())
    }

    /// One modulus for each row, or one for all.
    fn modulo(path: Path, moduli: &[&[Limb]], registers: u16, count: usize) -> Result<Self, Error> {
        let trimmed = |modulus: &&'_ [Limb]| {
            let length = modulus
                .iter()
                .rposition(|&limb| limb != 0)
                .map_or(0, |top| top + 1);
            assert!(
                length > 0 && modulus[0] % 2 == 1 && modulus[..length] != [1],
                "the modulus of a chain is odd and greater than 1"
            );
            length
        };
        let moduli: Vec<_> = moduli.iter().map(|m| &m[..trimmed(m)]).collect();
        let longest = moduli.iter().copied().max_by_key(|m| spare_bits(m));
        let longest = longest.unwrap_or(&[3]);
        let of = |row: usize| moduli[row.min(moduli.len() - 1)];
        let registers = usize::from(registers);
        let (mut groups, mut size) = (Vec::new(), 1);
        let lanes = lanes::chain::lanes(path, longest).filter(|_| count >= WORTH_LANES);
        if let Some(lanes) = lanes {
            size = lanes;
            for first in (0..count).step_by(lanes) {
                // Lanes without a row repeat the last one.
                let rows: Vec<_> = (first..first + lanes).map(of).collect();
                groups.push(lanes::chain::group(&rows, longest, registers)?);
            }
        } else {
            for row in 0..count {
                groups.push(words::group(of(row), longest, registers)?);
            }
        }
        Ok(Chain {
            width: longest.len(),
            count,
            size,
            groups,
            bounds: vec![1; registers],
        })
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Sets a register to numbers below the moduli of their rows: one for each row, or one for all. Missing
    /// upper limbs are zero.
    ///
    /// # Errors
    /// [`Error::Count`] if there is neither one number nor one for each row.
    ///
    /// # Panics
    /// If there is no such register, or a number has more limbs than the longest modulus.
    pub fn set(&mut self, register: u16, numbers: &[Vec<Limb>]) -> Result<(), Error> {
        self.fits(numbers.len())?;
        let of = |row: usize| &numbers[row.min(numbers.len() - 1)][..];
        let size = self.size;
        let is_short = |number: &Vec<Limb>| number.len() <= self.width;
        assert!(numbers.iter().all(is_short), "as long as the modulus");
        share(
            self.groups.iter_mut().enumerate(),
            usize::MAX,
            |(i, group)| {
                // Lanes without a row repeat the last one.
                let rows: Vec<_> = (i * size..(i + 1) * size).map(of).collect();
                group.set(register.into(), &rows);
            },
        );
        // The number in Montgomery's form is computed as a product.
        self.bounds[usize::from(register)] = PRODUCT;
        Ok(())
    }

    /// Sets the rows' scales: one for each, or one for all.
    ///
    /// # Errors
    /// As [`Chain::set`].
    pub fn set_scales(&mut self, scales: &[u32]) -> Result<(), Error> {
        self.fits(scales.len())?;
        let of = |row: usize| scales[row.min(scales.len() - 1)];
        for (i, group) in self.groups.iter_mut().enumerate() {
            let rows: Vec<_> = (i * self.size..(i + 1) * self.size).map(of).collect();
            group.set_scales(&rows);
        }
        Ok(())
    }

    /// Sets the rows' keys, least significant limb first: one for each, or one for all. Missing upper limbs are zero.
    ///
    /// # Errors
    /// As [`Chain::set`].
    pub fn set_keys(&mut self, keys: &[Vec<Limb>]) -> Result<(), Error> {
        self.fits(keys.len())?;
        let of = |row: usize| &keys[row.min(keys.len() - 1)][..];
        for (i, group) in self.groups.iter_mut().enumerate() {
            let rows: Vec<_> = (i * self.size..(i + 1) * self.size).map(of).collect();
            group.set_keys(&rows);
        }
        Ok(())
    }

    /// The numbers of a register, one for each row, below the modulus of the row and with as many limbs as
    /// the longest modulus.
    ///
    /// # Panics
    /// If there is no such register.
    pub fn get(&self, register: u16) -> Vec<Vec<Limb>> {
        let register = usize::from(register);
        assert!(
            self.bounds[register] <= SPARE,
            "a register within its bound"
        );
        let groups = self.groups.iter();
        let mut rows: Vec<_> = groups.flat_map(|group| group.get(register)).collect();
        rows.truncate(self.count);
        rows
    }

    /// Runs the steps, one after another, in all rows. Threads share the rows.
    ///
    /// # Panics
    /// If a step has a register that does not exist, shifts by an odd bit and the one above it, or breaks a bound:
    /// the product of the bounds of two factors is above 64, the number subtracted may be 2 moduli or more, or the
    /// result of another step may be 64 moduli or more.
    pub fn run(&mut self, steps: &[Step]) {
        for step in steps {
            self.bound(*step);
        }
        share(&mut self.groups, usize::MAX, |group| group.run(steps));
    }

    /// Checks the bounds of a step's operands, and computes that of its result.
    fn bound(&mut self, step: Step) {
        let of = |register: u16| self.bounds[usize::from(register)];
        let (r, bound) = match step {
            Step::Mul { r, a, b } => {
                assert!(of(a) * of(b) <= SPARE, "{step:?}: {} {}", of(a), of(b));
                (r, PRODUCT)
            }
            Step::Add { r, a, b } => (r, of(a) + of(b)),
            Step::Sub { r, a, b } => {
                assert!(of(b) <= PRODUCT, "{step:?}: {}", of(b));
                (r, of(a) + PRODUCT)
            }
            Step::Copy { r, a } => (r, of(a)),
            // The scale is less than 2^32: (a s 2^k + (2^(32 + k) - 1) m) / 2^(32 + k) < a + m.
            Step::Scale { r, a } => (r, of(a) + 1),
            Step::Choose { r, a, b, .. } => (r, of(a).max(of(b))),
            Step::Shift { r, a, bit } => {
                assert!(bit % 2 == 0, "{step:?}");
                (r, SHIFTED * of(a))
            }
        };
        assert!(bound <= SPARE, "{step:?}: {bound}");
        self.bounds[usize::from(r)] = bound;
    }

    fn fits(&self, operand: usize) -> Result<(), Error> {
        match operand == 1 || operand == self.count {
            true => Ok(()),
            false => Err(Error::Count {
                operand,
                result: self.count,
            }),
        }
    }
}

/// `2^exponent mod m` by doubling, for an odd `m` above 1 in 64-bit words.
pub(super) fn power_of_two(m: &[u64], exponent: usize) -> Vec<u64> {
    let mut x = vec![0; m.len()];
    x[0] = 1;
    for _ in 0..exponent {
        let over = x[x.len() - 1] >> 63;
        let mut above = 0;
        for word in &mut x {
            (*word, above) = (*word << 1 | above, *word >> 63);
        }
        if over == 1 || !super::number::limbs::is_less(&x, m) {
            super::number::limbs::sub_assign(&mut x, m);
        }
    }
    x
}

/// The bits of the modulus and those that a chain has to spare above it.
pub(super) fn spare_bits(modulus: &[Limb]) -> usize {
    let top = modulus[modulus.len() - 1];
    LIMB_BITS * modulus.len() - top.leading_zeros() as usize + SPARE_BITS
}

#[cfg(test)]
mod tests;
