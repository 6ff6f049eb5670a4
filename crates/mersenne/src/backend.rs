//! What squares modulo `2^p - 1`: the CPU, by either arithmetic.

use bigint_cpu::Path;
use bigint_cpu::fast::number::weighted::{Length, Weighted};

use crate::{Error, Residue, Runner};

/// A residue on some machine that is squared again and again.
pub trait Squaring {
    /// Takes this residue.
    fn set(&mut self, x: &Residue);

    /// The residue.
    fn residue(&self) -> Residue;

    /// Replaces `x` by `x^2 - minus`, so many times. Answers with the greatest rounding
    /// error: distances of words from integers, 0 where nothing is rounded.
    ///
    /// # Errors
    /// Where the machine fails.
    fn square(&mut self, times: u32, minus: u32) -> Result<f64, Error>;

    /// Words of the transform; `None` where nothing is rounded.
    fn words(&self) -> Option<usize>;
}

/// A machine that squares.
pub trait Backend {
    /// The machine, in a word.
    fn name(&self) -> &str;

    /// Squares modulo `2^p - 1`: by what suits `p` best, or by the next longer transform
    /// than one of `longer_than` words.
    ///
    /// # Errors
    /// [`Error::TooLong`] where there is none.
    fn squaring(&self, p: u32, longer_than: Option<usize>) -> Result<Box<dyn Squaring>, Error>;
}

/// How the CPU squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Whichever is faster for the exponent.
    #[default]
    Auto,
    /// The engine's exact product, folded modulo `2^p - 1`.
    Exact,
    /// The weighted transform in doubles, with its error watched.
    Fp64,
}

/// The CPU, with all threads.
#[derive(Clone, Debug)]
pub struct Cpu {
    /// How it squares.
    pub arithmetic: Arithmetic,
    /// The instructions it uses.
    pub path: Path,
    /// Lengths in words to choose from; any where there are none.
    pub lengths: Vec<usize>,
}

/// Exponents from which on transforms in doubles are the faster ones. With AVX-512, as
/// tests are compiled, a product took 2.9 us and a transform 8.7 at 4423, both took 10 at
/// 9689; optimised, the transform takes half of that there.
const FP64_FROM: u32 = 5000;

impl Default for Cpu {
    fn default() -> Self {
        Cpu {
            arithmetic: Arithmetic::Auto,
            path: bigint_cpu::Cpu::current().path(),
            lengths: Vec::new(),
        }
    }
}

impl Cpu {
    fn length(&self, p: u32, longer_than: Option<usize>) -> Option<Length> {
        let first = match longer_than {
            Some(words) => Length::of_words(words)?.next(),
            None => Length::for_exponent(p),
        }?;
        let listed = |length: &Length| self.lengths.contains(&length.words());
        let longer = || Length::all().skip_while(move |length| length.words() < first.words());
        Some(longer().find(listed).unwrap_or(first))
    }
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn squaring(&self, p: u32, longer_than: Option<usize>) -> Result<Box<dyn Squaring>, Error> {
        let exact = match self.arithmetic {
            Arithmetic::Auto => p < FP64_FROM,
            Arithmetic::Exact => true,
            Arithmetic::Fp64 => false,
        };
        if exact {
            return Ok(Box::new(Exact(Residue::from_u64(p, 0))));
        }
        let Some(length) = self.length(p, longer_than) else {
            // Very short numbers need no transform, and very long ones get none.
            let limit = Runner::LIMIT;
            return match self.arithmetic {
                Arithmetic::Fp64 => Err(Error::TooLong { p, limit }),
                _ => Ok(Box::new(Exact(Residue::from_u64(p, 0)))),
            };
        };
        let weighted = Weighted::new(p, length, self.path);
        Ok(Box::new(Transformed { p, weighted }))
    }
}

/// The engine's product, folded.
struct Exact(Residue);

impl Squaring for Exact {
    fn set(&mut self, x: &Residue) {
        self.0 = x.clone();
    }

    fn residue(&self) -> Residue {
        self.0.clone()
    }

    fn square(&mut self, times: u32, minus: u32) -> Result<f64, Error> {
        for _ in 0..times {
            self.0 = self.0.square_minus(minus);
        }
        Ok(0.0)
    }

    fn words(&self) -> Option<usize> {
        None
    }
}

/// The weighted transform.
struct Transformed {
    p: u32,
    weighted: Weighted,
}

impl Squaring for Transformed {
    fn set(&mut self, x: &Residue) {
        self.weighted.set(x.limbs());
    }

    fn residue(&self) -> Residue {
        Residue::reduce(self.p, &self.weighted.residue())
    }

    fn square(&mut self, times: u32, minus: u32) -> Result<f64, Error> {
        let mut greatest: f64 = 0.0;
        for _ in 0..times {
            let error = self.weighted.square(minus);
            greatest = if error.is_nan() {
                f64::INFINITY
            } else {
                greatest.max(error)
            };
        }
        Ok(greatest)
    }

    fn words(&self) -> Option<usize> {
        Some(self.weighted.length().words())
    }
}
