//! Stage 1: points of many curves, multiplied by one [`scalar`](crate::scalar).

use bigint_host::Engine;
use bigint_host::advanced::{Chain, Step};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::device::{Kernel, Walks, room_for_edwards};
use crate::modular::gcd;
use crate::registers::Registers;
use crate::suyama::Multiples;
use crate::{Curve, Error, Family, Point, edwards, ladder};

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
    Cpu(Registers),
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
    /// Edwards curves: the window, and the digits.
    window: u32,
    digits: Vec<(u32, i32)>,
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
        let window = edwards::ON_CPU;
        let (work, digits) = match family {
            Family::Param3 => {
                let mut chain = Chain::new(&n.to_u32_digits(), ladder::REGISTERS, count)?;
                let of = |number: u32| (BigUint::from(number) % n).to_u32_digits();
                begin_ladder(&mut chain, of, &sigmas(first, count))?;
                (Registers::Cpu(chain), Vec::new())
            }
            Family::Edwards => {
                let work = edwards_registers(None, n, (first, count), window)?;
                (work.expect("cores"), edwards::digits(scalar, window))
            }
        };
        Ok(Stage1 {
            n: n.clone(),
            family,
            first,
            scalar: scalar.clone(),
            work: Work::Cpu(work),
            done: begun(family),
            window,
            digits,
        })
    }

    /// [`Stage1::new`] on the engine's devices; `None` where it has none, there are no curves, or there is no
    /// kernel for so long a number: there is one up to 9210 bits.
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
        let window = edwards::window_on_device(scalar.bits());
        let (walks, digits) = match family {
            Family::Param3 => {
                let sigmas = sigmas(first, count);
                (Walks::ladders(kernel, &sigmas, scalar)?, Vec::new())
            }
            Family::Edwards => {
                let digits = edwards::digits(scalar, window);
                let table = edwards_registers(Some(engine), n, (first, count), window)?;
                let walks = table.map(|table| Walks::edwards(kernel, table, &digits));
                (walks.transpose()?, digits)
            }
        };
        Ok(walks.map(|walks| Stage1 {
            n: n.clone(),
            family,
            first,
            scalar: scalar.clone(),
            work: Work::Device(Box::new(walks)),
            done: begun(family),
            window,
            digits,
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
        let work = match &mut self.work {
            Work::Cpu(work) => work,
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
                work.run(std::mem::take(&mut steps), 0, 0, &[])?;
            }
        }
        work.run(steps, 0, 0, &[])?;
        self.done = to;
        Ok(())
    }

    /// The registers of points, from which [`Stage1::resume`] goes on.
    ///
    /// # Errors
    /// [`Error::Engine`], of a device.
    pub fn state(&self) -> Result<Vec<Vec<BigUint>>, Error> {
        match &self.work {
            Work::Cpu(work) => self
                .registers()
                .map(|register| work.get(register))
                .into_iter()
                .collect(),
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
            Work::Cpu(work) => {
                let Registers::Cpu(chain) = work else {
                    unreachable!("registers of all cores")
                };
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
        let registers = match self.work {
            Work::Cpu(work) => work,
            Work::Device(walks) => walks.into_registers(),
        };
        match self.family {
            Family::Param3 => {
                let curve = |i: usize| Curve::Sigma {
                    param: 3,
                    sigma: (self.first + i as u64).into(),
                };
                of_ladder(&self.n, registers, curve)
            }
            Family::Edwards => of_edwards(&self.n, registers, edwards::kept(self.window)),
        }
    }
}

/// The registers of points on Edwards curves, with their tables; `None` where the engine has no kernel for so long a number.
fn edwards_registers(
    engine: Option<&Engine>,
    n: &BigUint,
    (first, count): (u64, usize),
    window: u32,
) -> Result<Option<Registers>, Error> {
    let multiples = Multiples::new(first, count.max(1), n);
    let columns = multiples.columns();
    let made = Registers::new(engine, n, edwards::registers(window), count, &columns)?;
    let Some(mut made) = made else {
        return Ok(None);
    };
    made.run(edwards::table(window), 0, 0, &[])?;
    Ok(Some(made))
}

/// The points of ladders, `x = q / u`, on these curves.
pub(crate) fn of_ladder(
    n: &BigUint,
    mut registers: Registers,
    curve: impl Fn(usize) -> Curve + Sync,
) -> Result<Vec<Outcome>, Error> {
    let [q, u, inverse, x] = ladder::Q;
    let both = Step::Mul {
        r: inverse,
        a: q,
        b: u,
    };
    registers.run(vec![both, Step::square(x, q)], 0, 0, &[])?;
    let none = registers.invert(n, inverse)?;
    let top = Step::Mul {
        r: x,
        a: x,
        b: inverse,
    };
    registers.run(vec![top], 0, 0, &[])?;
    let rows = registers.get(x)?.into_par_iter().enumerate();
    let points = rows.map(|(i, x)| Point { curve: curve(i), x });
    outcomes(points, n, none, &registers, u)
}

/// The points on Edwards curves, as those of Montgomery's: `x = (Z + Y) / (Z - Y)`, and `A = 4 P / Q - 2`.
///
/// One inversion has all denominators, and the top of `x`: it is 0 where the point has order 2.
fn of_edwards(
    n: &BigUint,
    mut registers: Registers,
    [of_p, of_q, one]: [u16; 3],
) -> Result<Vec<Outcome>, Error> {
    let [_, y, z, _] = edwards::POINT;
    let [top, bottom, x, a, inverse] = [0, 1, 2, 3, 4].map(|i| edwards::SCRATCH + i);
    let mul = |r, a, b| Step::Mul { r, a, b };
    let steps = [
        Step::Add { r: top, a: z, b: y },
        Step::Sub {
            r: bottom,
            a: z,
            b: y,
        },
        mul(inverse, top, bottom),
        mul(inverse, inverse, of_q),
        mul(x, top, of_q),
        mul(x, x, top),
        mul(a, top, bottom),
        mul(a, a, of_p),
    ];
    registers.run(steps, 0, 0, &[])?;
    let none = registers.invert(n, inverse)?;
    let double = Step::Add { r: a, a, b: a };
    let less = Step::Sub { r: a, a, b: one };
    let steps = [
        mul(x, x, inverse),
        mul(a, a, inverse),
        double,
        double,
        mul(a, a, one),
        less,
        mul(a, a, one),
        less,
    ];
    registers.run(steps, 0, 0, &[])?;
    let rows = registers.get(x)?.into_par_iter().zip(registers.get(a)?);
    let points = rows.map(|(x, a)| Point {
        curve: Curve::A(a),
        x,
    });
    outcomes(points, n, none, &registers, bottom)
}

/// The points, and in place of those of some rows divisors: of `x`'s bottom and `n` where there is one, or those that are told.
fn outcomes(
    points: impl IndexedParallelIterator<Item = Point>,
    n: &BigUint,
    divisors: Vec<(usize, BigUint)>,
    registers: &Registers,
    bottom: u16,
) -> Result<Vec<Outcome>, Error> {
    let mut outcomes = Vec::new();
    points.map(Outcome::Point).collect_into_vec(&mut outcomes);
    if !divisors.is_empty() {
        let bottoms = registers.get(bottom)?;
        let of_bottoms = divisors.into_par_iter().map(|(row, divisor)| {
            let of_bottom = gcd(&bottoms[row], n);
            (
                row,
                if of_bottom.bits() > 1 {
                    of_bottom
                } else {
                    divisor
                },
            )
        });
        for (row, divisor) in of_bottoms.collect::<Vec<_>>() {
            outcomes[row] = Outcome::Factor(divisor);
        }
    }
    Ok(outcomes)
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
