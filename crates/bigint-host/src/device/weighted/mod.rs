//! Squares modulo `2^p - 1` on a device: [`bigint_core::weighted`] has the kernels.

mod general;
mod long;
mod squares;

use crate::{Engine, Error};
use general::General;
use long::Long;
use squares::{Digits, Squares};

/// A residue modulo `2^p - 1` on a device, squared again and again by a weighted transform
/// in doubles, in two launches each or in three ([`Engine::mersenne_takes_two_launches`]).
/// Rounding errors are measured as on the CPU ([`bigint_cpu::fast::number::weighted`]), by
/// the same limits.
pub struct MersenneSquares(Box<dyn Squares + Send + Sync>);

impl Engine {
    /// Zero modulo `2^p - 1` on the engine's device, to be squared by a transform of `words`
    /// words, one of [`Engine::mersenne_words`]. `None` on the CPU.
    ///
    /// # Errors
    /// [`Error::Device`] where the device has not the memory.
    ///
    /// # Panics
    /// For other numbers of words, and for `p` below them.
    pub fn mersenne_squares(&self, p: u32, words: usize) -> Result<Option<MersenneSquares>, Error> {
        assert!(words <= p as usize, "a word has at least one bit");
        self.inner.open_now();
        let Some(device) = self.inner.device() else {
            return Ok(None);
        };
        Ok(Some(MersenneSquares(match long::shape(words, device) {
            Some(shape) => Box::new(Long::new(device, p, shape)?),
            None => Box::new(General::new(device, p, words)?),
        })))
    }

    /// The lengths in words that the engine's device can transform for [`MersenneSquares`],
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

    /// Whether squares by a transform of so many words, one of [`Engine::mersenne_words`], take two
    /// launches and not three.
    pub fn mersenne_takes_two_launches(&self, words: usize) -> bool {
        self.inner.open_now();
        let device = self.inner.device();
        device.is_some_and(|device| long::shape(words, device).is_some())
    }
}

/// A residue of [`MersenneSquares`] on the device, as it was when [`MersenneSquares::residue_now`]
/// was called.
pub struct MersenneResidue(Digits);

impl MersenneResidue {
    /// The residue's limbs. Any thread may fetch them while the device goes on squaring.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn limbs(self) -> Result<Vec<u64>, Error> {
        self.0.limbs()
    }
}

impl MersenneSquares {
    /// The number of words of the transform.
    pub fn words(&self) -> usize {
        self.0.words()
    }

    /// Sets the residue to the number with these limbs.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// If it has more than `p` bits.
    pub fn set(&mut self, limbs: &[u64]) -> Result<(), Error> {
        self.0.set(limbs)
    }

    /// The residue, below `2^p - 1`, in as many limbs as `p` bits need.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn residue(&self) -> Result<Vec<u64>, Error> {
        self.residue_now()?.limbs()
    }

    /// The residue as it is now, to be brought to the host while the device goes on.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn residue_now(&self) -> Result<MersenneResidue, Error> {
        self.0.digits().map(MersenneResidue)
    }

    /// Replaces the residue `x` by `by x^2 - minus`, so many times; `by` up to 3. A carry that is
    /// too great for the device is an infinite [`error`](Self::error).
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        self.0.square(times, by, minus)
    }

    /// The greatest distance of a word of a square from an integer before it was rounded, since
    /// the beginning. Waits for the squares.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn error(&self) -> Result<f64, Error> {
        self.0.error()
    }
}
