//! Straight-line programs modulo one odd number, run for many numbers at once.
//!
//! A [`Chain`] has registers; each holds a residue for every one of `count` rows, and a [`Step`]
//! computes one register from others in all rows. Points on elliptic curves, Lucas chains and products
//! over many differences are such programs: all rows walk the same steps, so that a row is a lane
//! (AVX-512 IFMA) or takes its turn in 64-bit words, and threads share
//! the rows.
//!
//! Residues are in Montgomery's form with `R > 64 m` and are not reduced after each step: a product of
//! `a < x m` and `b < y m` with `x y <= 64` is below `(64 m m + R m) / R < 2 m`. So a register's bound
//! follows from the steps alone, is the same in all rows, and is checked before they run.
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

/// What a chain computes next: a register from others, in all rows. Registers are counted from 0, and
/// `r` may be one of the others.
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
        /// What is subtracted from.
        a: u16,
        /// What is subtracted: a product, or a register that was [set](Chain::set).
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
}

impl Step {
    /// `r = a a`.
    pub const fn square(r: u16, a: u16) -> Step {
        Step::Mul { r, a, b: a }
    }
}

/// `R` is greater than so many times the modulus, as are products of bounds.
const SPARE: u32 = 64;

/// Bits of `SPARE`.
const SPARE_BITS: usize = SPARE.ilog2() as usize;

/// What a product stays below, in moduli.
const PRODUCT: u32 = 2;

/// Rows that are computed together.
pub(super) trait Rows: Send {
    /// Sets a register to numbers below the modulus, one for each row.
    fn set(&mut self, register: usize, numbers: &[&[Limb]]);
    /// The numbers of a register, below the modulus.
    fn get(&self, register: usize) -> Vec<Vec<Limb>>;
    /// Sets the rows' scales.
    fn set_scales(&mut self, scales: &[u32]);
    /// Runs steps whose bounds are checked.
    fn run(&mut self, steps: &[Step]);
}

/// Registers of residues modulo one odd number, for many rows.
pub struct Chain {
    modulus: Vec<Limb>,
    count: usize,
    /// Rows of a group.
    size: usize,
    groups: Vec<Box<dyn Rows>>,
    /// Each register is below so many moduli.
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
    /// Registers of so many rows modulo an odd number greater than 1, lowest limb first, all of
    /// them zero.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// Where the modulus is even, or 1.
    pub fn new(modulus: &[Limb], registers: u16, count: usize) -> Result<Self, Error> {
        Chain::on(Cpu::current().path(), modulus, registers, count)
    }

    /// [`Chain::new`] by the instructions of a path, or those of a slower one that has chains.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// As [`Chain::new`].
    pub fn on(path: Path, modulus: &[Limb], registers: u16, count: usize) -> Result<Self, Error> {
        let top = modulus.iter().rposition(|&limb| limb != 0);
        let modulus = top.map_or(&[][..], |top| &modulus[..=top]);
        assert!(
            modulus.first().is_some_and(|limb| limb % 2 == 1) && modulus != [1],
            "the modulus of a chain is odd and greater than 1"
        );
        let registers = usize::from(registers);
        let (mut groups, mut size) = (Vec::new(), 1);
        if let Some(lanes) = lanes::chain::lanes(path, modulus) {
            size = lanes;
            for _ in 0..count.div_ceil(lanes) {
                groups.push(lanes::chain::group(modulus, registers)?);
            }
        } else {
            for _ in 0..count {
                groups.push(words::group(modulus, registers)?);
            }
        }
        Ok(Chain {
            modulus: modulus.to_vec(),
            count,
            size,
            groups,
            bounds: vec![1; registers],
        })
    }

    /// Rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Sets a register to numbers below the modulus, one for each row, or one for all; limbs that
    /// are missing are zero.
    ///
    /// # Errors
    /// [`Error::Count`] where there are neither one nor as many as rows.
    ///
    /// # Panics
    /// Where there is no such register, or a number has more limbs than the modulus.
    pub fn set(&mut self, register: u16, numbers: &[Vec<Limb>]) -> Result<(), Error> {
        self.fits(numbers.len())?;
        let of = |row: usize| &numbers[row.min(numbers.len() - 1)][..];
        let size = self.size;
        let is_short = |number: &Vec<Limb>| number.len() <= self.modulus.len();
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
        // The form of a number is a product.
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

    /// The numbers of a register, below the modulus and as long as it.
    ///
    /// # Panics
    /// Where there is no such register.
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

    /// Runs the steps, one after another, in all rows; threads share the rows.
    ///
    /// # Panics
    /// Where a step has a register that does not exist, or one that is not within the step's bounds:
    /// factors whose bounds' product is above 64 moduli, or a number subtracted that may be 2 moduli
    /// or more.
    pub fn run(&mut self, steps: &[Step]) {
        for step in steps {
            self.bound(*step);
        }
        share(&mut self.groups, usize::MAX, |group| group.run(steps));
    }

    /// Follows the bounds through a step.
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

/// `2^exponent mod m`, of an odd number of words above 1, by doubling.
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

/// Words that hold the modulus and what a chain has to spare.
pub(super) fn spare_bits(modulus: &[Limb]) -> usize {
    let top = modulus[modulus.len() - 1];
    LIMB_BITS * modulus.len() - top.leading_zeros() as usize + SPARE_BITS
}

#[cfg(test)]
mod tests;
