//! The choice of the path and the thresholds with which this process computes.

use std::sync::OnceLock;

use bigint_core::Algorithm::{self, Auto, Rns, RnsVartime, WindowVartime};
use bigint_core::{Limb, Operation};

use super::limbwise::{limbwise, numberwise};
use super::packed::{Add, Sub};
use super::{
    Path, Tuning, add_signed, linear, montgomery, mul, mul_add, mul_high, shift, wordwise,
};
use crate::{Error, Numbers, NumbersMut, Results, reference};

/// The way in which this process computes: the path in use and the thresholds.
///
/// The function [`crate::compute`] uses [`Cpu::current`].
///
/// ```
/// use bigint_cpu::{Cpu, Path};
/// println!("{}", Cpu::current().path().name());
/// let portable = Cpu::new(Path::Portable)?;
/// assert_eq!(portable.path(), Path::Portable);
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    path: Path,
    tuning: Tuning,
}

static CURRENT: OnceLock<Cpu> = OnceLock::new();

impl Cpu {
    /// The environment variable that names the path to use instead of the best.
    pub const PATH_VARIABLE: &str = "BIGINT_CPU_PATH";

    /// The engine on this path, with the default thresholds.
    ///
    /// # Errors
    ///
    /// [`Error::Path`] if the machine lacks its instructions.
    pub fn new(path: Path) -> Result<Cpu, Error> {
        if !path.is_supported() {
            return Err(Error::Path { path });
        }
        Ok(Cpu {
            path,
            tuning: Tuning::default(),
        })
    }

    /// The engine on the path that `BIGINT_CPU_PATH` names, or on the best path if it names
    /// none.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchPath`] if there is no path of that name, and [`Error::Path`] if the
    /// machine lacks its instructions.
    pub fn from_environment() -> Result<Cpu, Error> {
        let name = std::env::var_os(Self::PATH_VARIABLE).unwrap_or_default();
        let path = match name.to_str() {
            Some("") => Some(Path::best()),
            name => name.and_then(Path::named),
        };
        path.map_or_else(
            || {
                let name = name.to_string_lossy().into_owned();
                Err(Error::NoSuchPath { name })
            },
            Cpu::new,
        )
    }

    /// [`Cpu::from_environment`], or the engine on the best path if that is an error.
    pub fn detect() -> Cpu {
        Cpu::from_environment().unwrap_or_else(|_| Cpu {
            path: Path::best(),
            tuning: Tuning::default(),
        })
    }

    /// The engine that [`crate::compute`] uses: the one that was installed, or else the one
    /// that [`Cpu::detect`] returned at the first call.
    #[inline]
    pub fn current() -> &'static Cpu {
        CURRENT.get_or_init(Cpu::detect)
    }

    /// Makes this engine [`Cpu::current`].
    ///
    /// # Errors
    ///
    /// This engine, if another one is already in use. The engine is chosen once, at the start.
    #[expect(
        clippy::result_large_err,
        reason = "called once, and the thresholds may be of use to who is refused"
    )]
    pub fn install(self) -> Result<(), Cpu> {
        CURRENT.set(self)
    }

    /// The engine on the same path with these thresholds.
    pub fn with_tuning(self, tuning: Tuning) -> Cpu {
        Cpu { tuning, ..self }
    }

    /// The path in use.
    #[inline]
    pub fn path(&self) -> Path {
        self.path
    }

    /// The thresholds in use.
    #[inline]
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// [`crate::compute`] with this engine.
    ///
    /// # Errors
    ///
    /// As [`crate::compute`].
    #[inline]
    pub fn compute(
        &self,
        operation: Operation,
        results: Results<'_>,
        operands: &[Numbers<'_>],
        algorithm: Algorithm,
    ) -> Result<(), Error> {
        let Results { r, s, flags } = results;
        match (operation, algorithm, operands) {
            (Operation::Add, Auto, &[a, b]) => linear::apply::<Add>(self, r, a, b, flags),
            (Operation::Sub, Auto, &[a, b]) => linear::apply::<Sub>(self, r, a, b, flags),
            (Operation::Mul, Auto, &[a, b]) => mul::mul(self, r, a, b),
            // `mul` recognises the product of a number with itself.
            (Operation::Square, Auto, &[a]) => mul::mul(self, r, a, a),
            (Operation::MulHigh, Auto, &[a, b]) => mul_high::mul_high(self, r, a, b),
            (Operation::MulAdd, Auto, &[a, b, c]) => mul_add::mul_add(self, r, a, b, c),
            (Operation::AddSigned, Auto, &[a, b, signs]) => {
                add_signed::add_signed(self, Results { r, s, flags }, [a, b, signs])
            }
            (Operation::And, Auto, &[a, b]) => limbwise(self, r, [a, b], |[x, y]| x & y),
            (Operation::Or, Auto, &[a, b]) => limbwise(self, r, [a, b], |[x, y]| x | y),
            (Operation::Xor, Auto, &[a, b]) => limbwise(self, r, [a, b], |[x, y]| x ^ y),
            (Operation::Not, Auto, &[a]) => limbwise(self, r, [a], |[x]| !x),
            (Operation::Shl, Auto, &[a, b]) => {
                numberwise(self, r, [a, b], |r, [a, b]| shift::left(r, a, b))
            }
            (Operation::Shr, Auto, &[a, b]) => {
                numberwise(self, r, [a, b], |r, [a, b]| shift::right(r, a, b))
            }
            (Operation::AbsDiff, Auto, &[a, b]) => {
                numberwise(self, r, [a, b], |r, [a, b]| add_signed::abs_diff(r, a, b))
            }
            (Operation::CountOnes, Auto, &[a]) => {
                numberwise(self, r, [a], |r, [a]| reference::count_ones::scan(r, a))
            }
            (Operation::MontMul, Auto, &[a, b, m]) => montgomery::mont_mul(self, r, a, b, m),
            (Operation::PowMod, Auto | Rns, &[a, e, m]) => {
                montgomery::pow_mod::<true>(self, Results { r, s, flags }, [a, e, m])
            }
            (Operation::PowMod, WindowVartime | RnsVartime, &[a, e, m]) => {
                montgomery::pow_mod::<false>(self, Results { r, s, flags }, [a, e, m])
            }
            (Operation::PowPair, Auto | Rns, &[a, e, m]) => {
                montgomery::pow_pair::<true>(self, r, [a, e, m])
            }
            (Operation::PowPair, WindowVartime | RnsVartime, &[a, e, m]) => {
                montgomery::pow_pair::<false>(self, r, [a, e, m])
            }
            (Operation::PowFixed, Auto | Rns, &[t, e, m]) => {
                montgomery::pow_fixed::<true>(self, r, [t, e, m])
            }
            (Operation::PowFixed, WindowVartime | RnsVartime, &[t, e, m]) => {
                montgomery::pow_fixed::<false>(self, r, [t, e, m])
            }
            _ => wordwise::compute(
                self,
                operation,
                Results { r, s, flags },
                operands,
                algorithm,
            ),
        }
    }

    /// `r = (a + b) mod 2^(32 w)` for every number of the batch, `w = r.width`.
    ///
    /// Operands are cut to `w` limbs or extended by zeros. An operand of one number is used for
    /// all numbers of `r`. `carry`, if given, gets one word (0 or 1) for each number: the carry
    /// out of limb `w - 1`. `w = max(n, m) + 1` is always exact. The cost is linear in the
    /// limbs. Large batches use all cores.
    ///
    /// # Errors
    ///
    /// [`Error::Count`] if an operand has neither one number nor as many as `r`,
    /// [`Error::CarryLength`] if `carry` does not have one word for each number,
    /// [`Error::Algorithm`] for an algorithm that does not add, and [`Error::OutOfMemory`] if
    /// scratch cannot be allocated. Then `r` may hold anything.
    #[inline]
    pub fn add(
        &self,
        r: NumbersMut<'_>,
        a: Numbers<'_>,
        b: Numbers<'_>,
        flags: Option<&mut [Limb]>,
        algorithm: Algorithm,
    ) -> Result<(), Error> {
        let results = Results { r, s: None, flags };
        self.compute(Operation::Add, results, &[a, b], algorithm)
    }

    /// `r = (a - b) mod 2^(32 w)` for every number of the batch, `w = r.width`.
    ///
    /// This is like [`Cpu::add`], with the borrow out of limb `w - 1` in `borrow`: 1 if
    /// `a mod 2^(32 w) < b mod 2^(32 w)`.
    ///
    /// # Errors
    ///
    /// As [`Cpu::add`].
    #[inline]
    pub fn sub(
        &self,
        r: NumbersMut<'_>,
        a: Numbers<'_>,
        b: Numbers<'_>,
        flags: Option<&mut [Limb]>,
        algorithm: Algorithm,
    ) -> Result<(), Error> {
        let results = Results { r, s: None, flags };
        self.compute(Operation::Sub, results, &[a, b], algorithm)
    }

    /// `r = (a * b) mod 2^(32 w)` for every number of the batch, `w = r.width`.
    ///
    /// Operands and counts are as in [`Cpu::add`]. `w = n + m` is always exact, and a narrower
    /// result costs less.
    ///
    /// # Errors
    ///
    /// [`Error::Count`] if an operand has neither one number nor as many as `r`,
    /// [`Error::Algorithm`] for an algorithm that does not multiply, and [`Error::OutOfMemory`]
    /// if scratch cannot be allocated. Then `r` may hold anything.
    #[inline]
    pub fn mul(
        &self,
        r: NumbersMut<'_>,
        a: Numbers<'_>,
        b: Numbers<'_>,
        algorithm: Algorithm,
    ) -> Result<(), Error> {
        let results = Results {
            r,
            s: None,
            flags: None,
        };
        self.compute(Operation::Mul, results, &[a, b], algorithm)
    }
}
