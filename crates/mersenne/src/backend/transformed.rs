//! Squares and products by weighted transforms, on the CPU or a GPU.

use bigint_cpu::Path;
use bigint_cpu::fast::number::weighted::{Length, Modulus, Operand, Weighted};
use bigint_host::{Engine, MersenneResidue, MersenneSquares};

use super::{Factor, Kept, Later, Multiplying, Squaring};
use crate::stage_2::gcd;
use crate::{Error, Number, Residue};

/// A machine with a transform.
pub(super) enum Machine {
    Cpu { weighted: Weighted, error: f64 },
    Device(MersenneSquares),
}

/// Squares and multiplies by the weighted transform: residues modulo `2^p - 1`, and modulo other `k b^n + c` residues divided
/// by the `k` of its modulus, which may have some of the number's powers of `b`.
pub(super) struct Transformed {
    form: Form,
    machine: Machine,
}

/// A number, and what residues are divided by.
#[derive(Clone)]
struct Form {
    number: Number,
    /// The factors of the `k` of the modulus; none modulo `2^p - 1`.
    factors: Vec<u32>,
}

impl Transformed {
    /// Modulo `2^p - 1`, by a machine for that.
    pub fn mersenne(number: Number, machine: Machine) -> Self {
        let factors = Vec::new();
        let form = Form { number, factors };
        Transformed { form, machine }
    }

    /// Modulo another number, by the CPU; `None` where there is no transform for the number.
    pub fn on_cpu(number: Number, longer_than: Option<Length>, path: Path) -> Option<Self> {
        let (form, modulus) = Form::of(number)?;
        let length = modulus.length(longer_than)?;
        let machine = Machine::cpu(Weighted::modulo(modulus, length, path)?);
        Some(Transformed { form, machine })
    }

    /// Modulo another number, by the engine's device; `None` where there is no transform for the number.
    ///
    /// # Errors
    /// If the device fails.
    pub fn on_device(
        number: Number,
        longer_than: Option<usize>,
        engine: &Engine,
    ) -> Result<Option<Self>, Error> {
        let Some((form, modulus)) = Form::of(number) else {
            return Ok(None);
        };
        let Some(words) = engine.transform_modulo(modulus, longer_than) else {
            return Ok(None);
        };
        let squares = engine.squares_modulo(modulus, words)?;
        Ok(squares.map(|squares| Transformed {
            form,
            machine: Machine::Device(squares),
        }))
    }
}

impl Machine {
    pub fn cpu(weighted: Weighted) -> Self {
        let error = 0.0;
        Machine::Cpu { weighted, error }
    }
}

impl Form {
    /// The form of a number, and its modulus. `None` where the `k` of the modulus has no inverse.
    fn of(number: Number) -> Option<(Self, Modulus)> {
        let (base, exponent) = root(number.base());
        let n = number.n().checked_mul(exponent)?;
        let modulus = Modulus::new(number.k().into(), base, n, number.c().into())?;
        let mut factors = vec![number.k()];
        let mut left = modulus.k / u64::from(number.k());
        while left > 1 {
            factors.push(base);
            left /= u64::from(base);
        }
        let divides = |&factor: &u32| gcd(factor.into(), number.modulo(factor).into()) != 1;
        let has_inverse = !factors.iter().any(divides);
        has_inverse.then_some((Form { number, factors }, modulus))
    }

    /// The residue with this quotient.
    fn residue(&self, (limbs, is_negative): (Vec<u64>, bool)) -> Residue {
        let mut x = Residue::reduce(self.number, &limbs);
        if is_negative {
            x = Residue::from_u64(self.number, 0).minus(&x);
        }
        self.factors.iter().fold(x, |x, &k| x.times(k))
    }

    /// The residue that a device had.
    fn of_device(&self, residue: MersenneResidue) -> Result<Residue, Error> {
        Ok(self.residue(match self.number.exponent() {
            Some(_) => (residue.limbs()?, false),
            None => residue.signed()?,
        }))
    }
}

impl Squaring for Transformed {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        let factors = self.form.factors.iter();
        let divided = factors.fold(x.clone(), |x, &k| x.divided_by(k));
        match &mut self.machine {
            Machine::Cpu { weighted, .. } => weighted.set(divided.limbs()),
            Machine::Device(squares) => squares.set(divided.limbs())?,
        }
        Ok(())
    }

    fn residue(&self) -> Result<Residue, Error> {
        match &self.machine {
            Machine::Cpu { weighted, .. } => {
                Ok(self.form.residue(match self.form.number.exponent() {
                    Some(_) => (weighted.residue(), false),
                    None => weighted.signed_residue(),
                }))
            }
            Machine::Device(squares) => self.form.of_device(squares.residue_now()?),
        }
    }

    fn residue_later(&self) -> Result<Option<Later>, Error> {
        let Machine::Device(squares) = &self.machine else {
            return Ok(None);
        };
        let (form, residue) = (self.form.clone(), squares.residue_now()?);
        Ok(Some(Box::new(move || form.of_device(residue))))
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        match &mut self.machine {
            Machine::Cpu { weighted, error } => {
                for _ in 0..times {
                    *error = greater(*error, weighted.square(by, minus));
                }
            }
            Machine::Device(squares) => squares.square(times, by, minus)?,
        }
        Ok(())
    }

    fn square_shifted(&mut self, by: u32, minus: u32, bit: u32) -> Result<(), Error> {
        match &mut self.machine {
            Machine::Cpu { weighted, error } => {
                *error = greater(*error, weighted.square_shifted(by, minus, bit));
            }
            Machine::Device(squares) => squares.square_shifted(by, minus, bit)?,
        }
        Ok(())
    }

    fn error(&self) -> Result<f64, Error> {
        Ok(match &self.machine {
            Machine::Cpu { error, .. } => *error,
            Machine::Device(squares) => greater(0.0, squares.error()?),
        })
    }

    fn words(&self) -> Option<usize> {
        Some(match &self.machine {
            Machine::Cpu { weighted, .. } => weighted.length().words(),
            Machine::Device(squares) => squares.words(),
        })
    }
}

impl Multiplying for Transformed {
    fn keep(&mut self) -> Result<Factor, Error> {
        Ok(Factor(match &mut self.machine {
            Machine::Cpu { weighted, .. } => Kept::Transformed(weighted.keep()),
            Machine::Device(squares) => Kept::OnDevice(squares.keep()?),
        }))
    }

    fn multiply(
        &mut self,
        Factor(factor): &Factor,
        less: Option<&Factor>,
        minus: u32,
    ) -> Result<(), Error> {
        let less = less.map(|Factor(less)| less);
        match &mut self.machine {
            Machine::Cpu { weighted, error } => {
                let less = less.map(Kept::transformed);
                let found = weighted.multiply(factor.transformed(), less, minus);
                *error = greater(*error, found);
            }
            Machine::Device(squares) => {
                let less = less.map(Kept::on_device);
                squares.multiply(factor.on_device(), less, minus)?;
            }
        }
        Ok(())
    }

    fn product(&mut self, operands: [Operand<&Factor>; 2]) -> Result<(), Error> {
        let operands = operands.map(|side| side.map(|Factor(factor)| factor));
        match &mut self.machine {
            Machine::Cpu { weighted, error } => {
                let operands = operands.map(|side| side.map(Kept::transformed));
                *error = greater(*error, weighted.product(operands));
            }
            Machine::Device(squares) => {
                squares.product(operands.map(|side| side.map(Kept::on_device)))?;
            }
        }
        Ok(())
    }
}

/// The greater of two errors; a NaN is infinite.
fn greater(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// The number of which `b` is the greatest power, and the power's exponent.
fn root(b: u32) -> (u32, u32) {
    let roots = (2..u32::BITS).rev().filter_map(|exponent| {
        let near = f64::from(b).powf(1.0 / f64::from(exponent)).round() as u32;
        (near.checked_pow(exponent) == Some(b)).then_some((near, exponent))
    });
    roots.into_iter().next().unwrap_or((b, 1))
}
