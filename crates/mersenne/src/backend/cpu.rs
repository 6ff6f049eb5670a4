//! The CPU, by either arithmetic.

use bigint_cpu::Path;
use bigint_cpu::fast::number::weighted::{Length, Operand, Weighted};
use bigint_host::plan::mersenne_by_doubles;

use super::transformed::{Machine, Transformed};
use super::{Backend, Factor, Kept, Multiplying, Squaring, for_differences};
use crate::{Error, Number, Residue, Runner};

/// The arithmetic by which the CPU squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// The one that is faster for the exponent.
    #[default]
    Auto,
    /// The engine's exact product, folded modulo `2^p - 1`.
    Exact,
    /// The weighted transform in doubles, with its error watched.
    Fp64,
}

/// The CPU, with all its threads.
#[derive(Clone, Debug)]
pub struct Cpu {
    /// The arithmetic.
    pub arithmetic: Arithmetic,
    /// The instructions it uses.
    pub path: Path,
    /// The lengths of transforms to choose from, in words; empty for all.
    pub lengths: Vec<usize>,
}

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

    /// The machine for a number, with a transform for an exponent that is greater by `more`.
    fn machine(
        &self,
        number: Number,
        longer_than: Option<usize>,
        more: u32,
    ) -> Result<Box<dyn Multiplying>, Error> {
        let transformed = match number.exponent() {
            Some(p) => self.modulo_mersenne(p, longer_than, more)?,
            None => self.modulo_other(number, longer_than),
        };
        Ok(match transformed {
            Some(transformed) => Box::new(transformed),
            None => Exact::boxed(number),
        })
    }

    /// The transform for an exponent that is greater than `p` by `more`; `None` where exact products are to be taken.
    fn modulo_mersenne(
        &self,
        p: u32,
        longer_than: Option<usize>,
        more: u32,
    ) -> Result<Option<Transformed>, Error> {
        let exact = match self.arithmetic {
            Arithmetic::Auto => !mersenne_by_doubles(p),
            Arithmetic::Exact => true,
            Arithmetic::Fp64 => false,
        };
        if exact {
            return Ok(None);
        }
        let length = self.length(p.saturating_add(more), longer_than);
        let Some(length) = length.filter(|length| length.words() <= p as usize) else {
            // Very short numbers need no transform, and very long ones get none.
            let limit = Runner::LIMIT;
            return match self.arithmetic {
                Arithmetic::Fp64 => Err(Error::TooLong { p, limit }),
                _ => Ok(None),
            };
        };
        let machine = Machine::cpu(Weighted::new(p, length, self.path));
        Ok(Some(Transformed::mersenne(p.into(), machine)))
    }

    /// The bits of a number from which on transforms are faster than exact products.
    const SCALED: u64 = 8000;

    /// The transform for a number that is not `2^p - 1`; `None` where exact products are to be taken.
    fn modulo_other(&self, number: Number, longer_than: Option<usize>) -> Option<Transformed> {
        let is_exact = match self.arithmetic {
            Arithmetic::Auto => number.bits() < Self::SCALED,
            Arithmetic::Exact => true,
            Arithmetic::Fp64 => false,
        };
        if is_exact {
            return None;
        }
        Transformed::on_cpu(number, longer_than.and_then(Length::of_words), self.path)
    }
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        Ok(self.machine(number, longer_than, 0)?)
    }

    fn multiplying(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Multiplying>, Error> {
        self.machine(number, longer_than, for_differences(number))
    }
}

/// Squares by the engine's exact product, folded modulo the number.
pub(super) struct Exact(Residue);

impl Exact {
    pub(super) fn boxed(number: Number) -> Box<Exact> {
        Box::new(Exact(Residue::from_u64(number, 0)))
    }
}

impl Squaring for Exact {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        self.0 = x.clone();
        Ok(())
    }

    fn residue(&self) -> Result<Residue, Error> {
        Ok(self.0.clone())
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        for _ in 0..times {
            self.0 = self.0.square_minus(by, minus);
        }
        Ok(())
    }

    fn square_shifted(&mut self, by: u32, minus: u32, bit: u32) -> Result<(), Error> {
        let less = Residue::from_u64(self.0.number(), minus.into()).shifted(bit);
        self.0 = self.0.square_minus(by, 0).minus(&less);
        Ok(())
    }

    fn error(&self) -> Result<f64, Error> {
        Ok(0.0)
    }

    fn words(&self) -> Option<usize> {
        None
    }
}

impl Multiplying for Exact {
    fn keep(&mut self) -> Result<Factor, Error> {
        Ok(Factor(Kept::Exact(self.0.clone())))
    }

    fn multiply(
        &mut self,
        Factor(factor): &Factor,
        less: Option<&Factor>,
        minus: u32,
    ) -> Result<(), Error> {
        let factor = factor.exact().clone();
        let factor = match less {
            Some(Factor(less)) => factor.minus(less.exact()),
            None => factor,
        };
        let minus = Residue::from_u64(self.0.number(), minus.into());
        self.0 = self.0.mul(&factor).minus(&minus);
        Ok(())
    }

    fn product(&mut self, operands: [Operand<&Factor>; 2]) -> Result<(), Error> {
        let [left, right] = operands.map(|side| match side.map(|Factor(factor)| factor.exact()) {
            Operand::One(a) => a.clone(),
            Operand::Sum(a, b) => a.clone().plus(b),
            Operand::Difference(a, b) => a.clone().minus(b),
        });
        self.0 = left.mul(&right);
        Ok(())
    }
}
