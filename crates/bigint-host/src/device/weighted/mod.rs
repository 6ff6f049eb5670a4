//! Squares and products modulo `2^p - 1` and other `k b^n + c` on a device: [`bigint_core::weighted`] has the kernels.

mod general;
mod long;
mod squares;

use crate::common::device::Buffer;
use crate::{Engine, Error};
use bigint_cpu::fast::number::weighted::{self, Layout, Modulus, Operand};
use general::General;
use long::Long;
use squares::{Digits, Sides, Squares};

/// A residue modulo `2^p - 1` or another `k b^n + c` on a device, squared and multiplied again and again by a weighted
/// transform in doubles, in two launches each or in three ([`Engine::takes_two_launches`]).
/// Rounding errors are measured as on the CPU ([`bigint_cpu::fast::number::weighted`]), by
/// the same limits.
pub struct MersenneSquares {
    layout: Layout,
    squares: Box<dyn Squares + Send + Sync>,
}

impl Engine {
    /// Zero modulo a number on the engine's device: by a transform of the length that [`Engine::transform_modulo`] chose.
    /// A residue `x` is kept as `X = x / k`, and what is said of `x^2` and `minus` is true of `k X^2` and `minus / k`.
    /// `None` on the CPU, and where no transform of so many words suits the modulus.
    ///
    /// # Errors
    /// [`Error::Device`] where the device has not the memory.
    pub fn squares_modulo(
        &self,
        modulus: Modulus,
        words: usize,
    ) -> Result<Option<MersenneSquares>, Error> {
        self.inner.open_now();
        let layout = Layout::new(modulus, words);
        let (Some(device), Some(layout)) = (self.inner.device(), layout) else {
            return Ok(None);
        };
        let long = long::shape(words, device).filter(|_| long::columns(modulus, words).is_some());
        let squares: Box<dyn Squares + Send + Sync> = match long {
            Some(shape) => Box::new(Long::new(device, layout, shape)?),
            None if layout.reach > 4 || general::shape(words, device).is_none() => return Ok(None),
            None => Box::new(General::new(device, layout, words)?),
        };
        Ok(Some(MersenneSquares { layout, squares }))
    }

    /// The lengths in words that the engine's device can transform modulo `2^p - 1` for [`MersenneSquares`],
    /// shortest first: powers of two, 3, 5 and 7 times those, and 9, 11, 13 and 15 times some. None
    /// on the CPU.
    pub fn mersenne_words(&self) -> Vec<usize> {
        let mut words: Vec<usize> = (7..=24)
            .flat_map(|log| [1, 3, 5, 7, 9, 11, 13, 15].map(|odd| odd << log))
            .collect();
        words.sort_unstable();
        self.inner.open_now();
        let device = self.inner.device();
        words.retain(|&words| {
            device.is_some_and(|device| {
                general::shape(words, device).is_some() || long::shape(words, device).is_some()
            })
        });
        words
    }

    /// Whether squares and products by a transform of so many words, one of [`Engine::mersenne_words`], take two launches
    /// and not three: modulo `2^p - 1`, and modulo `k b^n + c` where `c` is 1 or -1.
    pub fn takes_two_launches(&self, modulus: Modulus, words: usize) -> bool {
        self.inner.open_now();
        let device = self.inner.device();
        let has = |device| long::shape(words, device).is_some();
        device.is_some_and(has) && long::columns(modulus, words).is_some()
    }

    /// Whether a transform of so many words, one of [`Engine::mersenne_words`], has room for the modulus.
    pub(crate) fn takes_transform(&self, modulus: Modulus, words: usize) -> bool {
        let device = self.inner.device();
        let in_three = device.is_some_and(|device| general::shape(words, device).is_some());
        in_three && modulus.fits(words, 4)
            || modulus.fits(words, 8) && self.takes_two_launches(modulus, words)
    }
}

/// The transform of a residue on the device, by which others modulo the same number are multiplied by
/// transforms of the same length. It takes as much memory as the residue's own, 8 bytes a word.
pub struct MersenneFactor {
    modulus: Modulus,
    words: usize,
    transform: Buffer,
}

/// A residue of [`MersenneSquares`] on the device, as it was when [`MersenneSquares::residue_now`]
/// was called.
pub struct MersenneResidue {
    layout: Layout,
    digits: Digits,
}

impl MersenneResidue {
    /// The residue's limbs. Any thread may fetch them while the device goes on squaring.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// If the modulus is not `2^p - 1`.
    pub fn limbs(self) -> Result<Vec<u64>, Error> {
        let p = self.layout.modulus.exponent();
        let p = p.expect("the modulus is 2^p - 1");
        let (mut digits, end) = self.digits.fetch()?;
        digits[0] += end;
        let words = digits.len();
        Ok(weighted::limbs(digits.into_iter(), p, words))
    }

    /// A number that is the residue modulo `k b^n + c`: its magnitude, and whether it is negative.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn signed(self) -> Result<(Vec<u64>, bool), Error> {
        let (digits, end) = self.digits.fetch()?;
        Ok(self.layout.value(digits, end))
    }
}

impl MersenneSquares {
    /// The number of words of the transform.
    pub fn words(&self) -> usize {
        self.squares.words()
    }

    /// Sets the residue to the number with these limbs.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// If the modulus is `2^p - 1` and it has more than `p` bits.
    pub fn set(&mut self, limbs: &[u64]) -> Result<(), Error> {
        let digits: Vec<f64> = match self.layout.modulus.exponent() {
            Some(p) => weighted::digits(limbs, p, self.words())
                .map(|digit| digit as f64)
                .collect(),
            None => {
                let digits = self.layout.digits(limbs).into_iter();
                digits.map(|digit| digit as f64).collect()
            }
        };
        self.squares.set(&digits)
    }

    /// The residue, below `2^p - 1`, in as many limbs as `p` bits need.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// If the modulus is not `2^p - 1`.
    pub fn residue(&self) -> Result<Vec<u64>, Error> {
        self.residue_now()?.limbs()
    }

    /// The residue as it is now, to be brought to the host while the device goes on.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn residue_now(&self) -> Result<MersenneResidue, Error> {
        Ok(MersenneResidue {
            layout: self.layout,
            digits: self.squares.digits()?,
        })
    }

    /// Replaces the residue `x` by `by x^2 - minus`, so many times; `by` up to 3. A carry that is
    /// too great for the device is an infinite [`error`](Self::error).
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// If something is subtracted modulo `k b^n + c` where `c` is neither 1 nor -1.
    pub fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        self.check_minus(minus);
        self.squares.square(times, by, minus, 0)
    }

    /// Replaces the residue `x` by `by x^2 - minus 2^bit`, with `by` and `minus` up to 3, in the time of a square.
    /// With it a residue that is kept multiplied by a power of two is squared as others are.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// If the modulus is not `2^p - 1`, or `bit` is not below `p`.
    pub fn square_shifted(&mut self, by: u32, minus: u32, bit: u32) -> Result<(), Error> {
        let p = self.layout.modulus.exponent();
        assert!(p.is_some_and(|p| bit < p), "a bit of 2^p - 1");
        self.squares.square(1, by, minus, bit)
    }

    /// The transform of the residue as it is now, to multiply by. It takes as long as half a square.
    ///
    /// # Errors
    /// [`Error::Device`] where the device has not the memory.
    pub fn keep(&self) -> Result<MersenneFactor, Error> {
        Ok(MersenneFactor {
            modulus: self.layout.modulus,
            words: self.words(),
            transform: self.squares.keep()?,
        })
    }

    /// Replaces the residue `x` by `x (factor - less) - minus`, in the time of a square.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// As for [`square`](Self::square), and if a factor is of another modulus or
    /// length.
    pub fn multiply(
        &mut self,
        factor: &MersenneFactor,
        less: Option<&MersenneFactor>,
        minus: u32,
    ) -> Result<(), Error> {
        self.check_minus(minus);
        let factor = self.transform(factor);
        let side = match less {
            Some(less) => Operand::Difference(factor, self.transform(less)),
            None => Operand::One(factor),
        };
        self.squares.multiply(Sides::of([None, Some(side)]), minus)
    }

    /// Replaces the residue by the product of two sides, in the time of a square.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// As for [`multiply`](Self::multiply).
    pub fn product(&mut self, operands: [Operand<&MersenneFactor>; 2]) -> Result<(), Error> {
        let operands = operands.map(|side| Some(side.map(|factor| self.transform(factor))));
        self.squares.multiply(Sides::of(operands), 0)
    }

    /// The transform of a factor of this kind.
    fn transform<'a>(&self, of: &'a MersenneFactor) -> &'a Buffer {
        let is_alike = (of.modulus, of.words) == (self.layout.modulus, self.words());
        assert!(is_alike, "a factor of the same kind");
        &of.transform
    }

    fn check_minus(&self, minus: u32) {
        let has_inverse = self.layout.modulus.c.abs() == 1;
        assert!(minus == 0 || has_inverse, "1 / k is known");
    }

    /// The greatest distance of a word of a square or product from an integer before it was rounded, since
    /// the beginning. Waits for the squares.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn error(&self) -> Result<f64, Error> {
        self.squares.error()
    }
}
