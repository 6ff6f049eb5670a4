//! Stage 1: points of many curves, multiplied by one [`scalar`](crate::scalar).

use bigint_host::Engine;
use bigint_host::advanced::{Chain, Step};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::device::{Kernel, Walks, room_for_edwards};
use crate::modular::{gcd, inverses, product, sub};
use crate::suyama::{Start, starts};
use crate::{Error, Family, Point, edwards, ladder};

/// Steps that are written down at a time.
const STEPS: usize = 1 << 14;

/// The result of stage 1 on a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A point, for stage 2.
    Point(Point),
    /// A divisor of the number, above 1; it may be the number itself.
    Factor(BigUint),
}

/// Who multiplies.
#[derive(Debug)]
enum Work {
    /// All cores.
    Cpu(Chain),
    /// The engine's devices.
    Device(Box<Walks>),
}

/// Stage 1 of curves `first`, `first + 1`, ... of a family, on the way.
#[derive(Debug)]
pub struct Stage1 {
    n: BigUint,
    family: Family,
    first: u64,
    scalar: BigUint,
    work: Work,
    /// Edwards curves: the digits, and of each curve `(A + 2) / 4`, or the divisor for which there
    /// is no such curve.
    digits: Vec<(u32, i32)>,
    curves: Vec<Result<BigUint, BigUint>>,
    /// Bits, or digits.
    done: usize,
}

impl Stage1 {
    /// Begins with curves modulo an odd number above 1. A curve of [`Family::Param3`] is less than 2^32,
    /// one of [`Family::Edwards`] at least 2.
    ///
    /// # Errors
    /// [`Error::Cpu`], where memory runs out.
    pub fn new(
        n: &BigUint,
        family: Family,
        first: u64,
        count: usize,
        scalar: &BigUint,
    ) -> Result<Self, Error> {
        let registers = match family {
            Family::Param3 => ladder::REGISTERS,
            Family::Edwards => edwards::registers(edwards::ON_CPU),
        };
        let mut chain = Chain::new(&n.to_u32_digits(), registers, count)?;
        let (digits, curves) = match family {
            Family::Param3 => {
                let of = |number: u32| (BigUint::from(number) % n).to_u32_digits();
                begin_ladder(&mut chain, of, &sigmas(first, count))?;
                Default::default()
            }
            Family::Edwards => {
                let starts = starts(first, count, n);
                begin_edwards(&mut chain, n, &starts)?;
                (
                    edwards::digits(scalar, edwards::ON_CPU),
                    a24_of_each(starts),
                )
            }
        };
        Ok(Stage1 {
            n: n.clone(),
            family,
            first,
            scalar: scalar.clone(),
            work: Work::Cpu(chain),
            done: begun(family),
            digits,
            curves,
        })
    }

    /// [`Stage1::new`] on the engine's devices; `None` where it has none, there are no curves, or there is no
    /// kernel for so long a number: there is one up to 2298 bits, of [`Family::Edwards`] up to 1018.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn on_device(
        engine: &Engine,
        n: &BigUint,
        family: Family,
        first: u64,
        count: usize,
        scalar: &BigUint,
    ) -> Result<Option<Self>, Error> {
        let kernel = Kernel::new(engine, n, family)?;
        let Some(kernel) = kernel.filter(|_| count > 0) else {
            return Ok(None);
        };
        let (mut digits, mut curves) = Default::default();
        let walks = match family {
            Family::Param3 => Some(Walks::ladders(kernel, &sigmas(first, count), scalar)?),
            Family::Edwards => {
                let starts = starts(first, count, n);
                let window = edwards::window_on_device(scalar.bits());
                digits = edwards::digits(scalar, window);
                let walks = Walks::edwards(kernel, &starts, window, &digits)?;
                curves = a24_of_each(starts);
                walks
            }
        };
        Ok(walks.map(|walks| Stage1 {
            n: n.clone(),
            family,
            first,
            scalar: scalar.clone(),
            work: Work::Device(Box::new(walks)),
            done: begun(family),
            digits,
            curves,
        }))
    }

    /// How many curves the engine's devices have room for together, at least one: those of [`Family::Edwards`] have tables.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn room_on_device(
        engine: &Engine,
        n: &BigUint,
        family: Family,
        scalar: &BigUint,
    ) -> Result<usize, Error> {
        let room = match family {
            Family::Param3 => usize::MAX,
            Family::Edwards => {
                room_for_edwards(engine, n, edwards::window_on_device(scalar.bits()))?
            }
        };
        Ok(room.max(1))
    }

    /// How many bits (or digits) are done, and of how many.
    pub fn progress(&self) -> (usize, usize) {
        let total = match self.family {
            Family::Param3 => self.scalar.bits() as usize,
            Family::Edwards => self.digits.len(),
        };
        (self.done.min(total), total)
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        let (done, total) = self.progress();
        done == total
    }

    /// Does so many bits (or digits) more, or the last ones.
    ///
    /// # Errors
    /// [`Error::Engine`], of a device.
    pub fn advance(&mut self, times: usize) -> Result<(), Error> {
        let (from, total) = self.progress();
        let to = total.min(from + times);
        let chain = match &mut self.work {
            Work::Cpu(chain) => chain,
            Work::Device(walks) => {
                match self.family {
                    Family::Param3 => walks.walk(total - from, total - to)?,
                    Family::Edwards => walks.walk(from, to)?,
                }
                self.done = to;
                return Ok(());
            }
        };
        let mut steps = Vec::with_capacity(STEPS + 64);
        for at in from..to {
            match self.family {
                Family::Param3 => {
                    ladder::bit(&mut steps, self.scalar.bit((total - 1 - at) as u64));
                }
                Family::Edwards => edwards::digit(&mut steps, self.digits[at]),
            }
            if steps.len() >= STEPS {
                chain.run(&steps);
                steps.clear();
            }
        }
        chain.run(&steps);
        self.done = to;
        Ok(())
    }

    /// The registers of points, from which [`Stage1::resume`] goes on.
    ///
    /// # Errors
    /// [`Error::Engine`], of a device.
    pub fn state(&self) -> Result<Vec<Vec<BigUint>>, Error> {
        match &self.work {
            Work::Cpu(chain) => {
                let numbers =
                    |register| chain.get(register).into_iter().map(BigUint::new).collect();
                Ok(self.registers().map(numbers).into())
            }
            Work::Device(walks) => walks.state(),
        }
    }

    /// Goes on where another process was: `done` bits (or digits) of a stage 1 like this one.
    ///
    /// # Errors
    /// [`Error::Cpu`] where `state` is not of so many curves.
    pub fn resume(&mut self, done: usize, state: &[Vec<BigUint>]) -> Result<(), Error> {
        let registers = self.registers();
        match &mut self.work {
            Work::Cpu(chain) => {
                for (register, numbers) in registers.into_iter().zip(state) {
                    let numbers = numbers
                        .iter()
                        .map(|number| (number % &self.n).to_u32_digits());
                    chain.set(register, &numbers.collect::<Vec<_>>())?;
                }
            }
            Work::Device(walks) => walks.resume(state)?,
        }
        self.done = done;
        Ok(())
    }

    fn registers(&self) -> [u16; 4] {
        match self.family {
            Family::Param3 => ladder::Q,
            Family::Edwards => edwards::POINT,
        }
    }

    /// The points, or the factors.
    ///
    /// # Errors
    /// [`Error::Engine`], of a device.
    ///
    /// # Panics
    /// If something is left to be done.
    pub fn finish(self) -> Result<Vec<Outcome>, Error> {
        assert!(self.is_done());
        let [x, y, z, _] = self.state()?.try_into().expect("four registers");
        let (tops, bottoms) = match self.family {
            Family::Param3 => (x, y),
            // The Montgomery curve's x is (1 + y) / (1 - y).
            Family::Edwards => {
                let pairs = || y.iter().zip(&z);
                (
                    pairs().map(|(y, z)| (y + z) % &self.n).collect(),
                    pairs().map(|(y, z)| sub(z, y, &self.n)).collect(),
                )
            }
        };
        Ok(outcomes(
            &self.n,
            self.family,
            self.first,
            &self.curves,
            &tops,
            &bottoms,
        ))
    }
}

/// So many parameters of 32 bits.
///
/// # Panics
/// If one is longer.
fn sigmas(first: u64, count: usize) -> Vec<u32> {
    let sigmas = (first..).take(count);
    sigmas
        .map(|sigma| u32::try_from(sigma).expect("a sigma of 32 bits"))
        .collect()
}

/// What is done before the first step: the ladder's first bit is the point itself.
fn begun(family: Family) -> usize {
    usize::from(family == Family::Param3)
}

/// `(A + 2) / 4` of each curve.
fn a24_of_each(starts: Vec<Result<Start, BigUint>>) -> Vec<Result<BigUint, BigUint>> {
    let starts = starts.into_iter();
    starts.map(|start| start.map(|start| start.a24)).collect()
}

/// Sets the registers of the ladder; `of` makes residues of numbers up to 64.
pub(crate) fn begin_ladder(
    chain: &mut Chain,
    of: impl Fn(u32) -> Vec<u32>,
    sigmas: &[u32],
) -> Result<(), Error> {
    chain.set_scales(sigmas)?;
    let [q, u, w, v] = ladder::Q;
    // P, and 2 P = (9 : 64 d + 8).
    for (register, number) in [(q, 2), (u, 1), (w, 9), (v, 64)] {
        chain.set(register, &[of(number)])?;
    }
    let eight = 4;
    chain.set(eight, &[of(8)])?;
    chain.run(&[
        Step::Scale { r: v, a: v },
        Step::Add {
            r: v,
            a: v,
            b: eight,
        },
    ]);
    Ok(())
}

/// Sets the registers of points on Edwards curves, and makes their tables.
fn begin_edwards(
    chain: &mut Chain,
    n: &BigUint,
    starts: &[Result<Start, BigUint>],
) -> Result<(), Error> {
    let column = |of: &dyn Fn(&Start) -> BigUint| -> Vec<_> {
        let numbers = starts
            .iter()
            .map(|start| start.as_ref().map(of).unwrap_or_default());
        numbers.map(|number| number.to_u32_digits()).collect()
    };
    let [x, y, z, t] = edwards::POINT;
    chain.set(x, &column(&|start| start.x.clone()))?;
    chain.set(y, &column(&|start| start.y.clone()))?;
    chain.set(z, &[vec![1]])?;
    chain.set(edwards::TWICE_D, &column(&|start| &start.d * 2u8 % n))?;
    let mut steps = Vec::new();
    edwards::table(&mut steps, edwards::ON_CPU);
    chain.run(&steps);
    for (register, number) in [(x, vec![]), (y, vec![1]), (z, vec![1]), (t, vec![])] {
        chain.set(register, &[number])?;
    }
    Ok(())
}

/// The value `x = top / bottom` of each curve, or the factor that makes the division impossible.
pub(crate) fn outcomes(
    n: &BigUint,
    family: Family,
    first: u64,
    edwards: &[Result<BigUint, BigUint>],
    tops: &[BigUint],
    bottoms: &[BigUint],
) -> Vec<Outcome> {
    let inverses = inverses(bottoms, n);
    // A point of order 2, where a curve modulo a prime has it, shows in the product of all.
    let has_none = gcd(&product(tops, n), n).bits() == 1;
    let rows = tops.par_iter().zip(inverses).enumerate();
    rows.map(|(i, (top, inverse))| {
        let curve = match edwards.get(i) {
            None => family.curve(first + i as u64, n),
            Some(Ok(a24)) => Ok(crate::Curve::A(sub(
                &(a24 * 4u8 % n),
                &(BigUint::from(2u8) % n),
                n,
            ))),
            Some(Err(divisor)) => Err(divisor.clone()),
        };
        match (curve, inverse) {
            (Err(divisor), _) | (_, Err(divisor)) => Outcome::Factor(divisor),
            (Ok(curve), Ok(inverse)) => {
                let x = top * inverse % n;
                let divisor = if has_none {
                    BigUint::from(1u8)
                } else {
                    gcd(&x, n)
                };
                match divisor.bits() {
                    0 | 1 => Outcome::Point(Point { curve, x }),
                    _ => Outcome::Factor(divisor),
                }
            }
        }
    })
    .collect()
}
