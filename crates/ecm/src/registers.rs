//! Registers of rows of numbers modulo one number, for steps that all rows do: on all cores, or on the engine's
//! devices.

use bigint_host::advanced::{Chain, Step};
use bigint_host::{Batch, Engine, Limb};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::Error;
use crate::device::rows;
use crate::machine::Machine;
use crate::modular::{gcd, inverses};

/// What all rows do.
#[derive(Clone, Copy, Debug)]
pub enum Move {
    Step(Step),
    /// `r = p + q` of points of a curve, two registers each, whose difference is a third; `r` may be `p` or `q`, not
    /// the difference. The first of four scratch registers may be overwritten with those that follow.
    Sum {
        r: [u16; 2],
        p: [u16; 2],
        q: [u16; 2],
        difference: [u16; 2],
        scratch: u16,
    },
    /// From `product = first` on `top = top product` and `product = product bottom` for so many tops and bottoms, of which
    /// these are the first: of those that follow, or of those before where it goes down.
    Walk {
        product: u16,
        first: u16,
        top: u16,
        bottom: u16,
        count: u16,
        is_down: bool,
    },
}

impl From<Step> for Move {
    fn from(step: Step) -> Self {
        Move::Step(step)
    }
}

impl Move {
    /// The steps that do it.
    pub fn steps(self, steps: &mut Vec<Step>) {
        match self {
            Move::Step(step) => steps.push(step),
            Move::Sum {
                r,
                p,
                q,
                difference,
                scratch,
            } => steps.extend(sum(r, [p, q], difference, scratch)),
            Move::Walk {
                product,
                first,
                top,
                bottom,
                count,
                is_down,
            } => {
                steps.push(Step::Copy {
                    r: product,
                    a: first,
                });
                for i in 0..count {
                    let of = |first: u16| if is_down { first - i } else { first + i };
                    let (r, b) = (of(top), of(bottom));
                    steps.push(Step::Mul {
                        r,
                        a: r,
                        b: product,
                    });
                    steps.push(Step::Mul {
                        r: product,
                        a: product,
                        b,
                    });
                }
            }
        }
    }
}

/// `r = p + q` with `u = (p_x - p_z) (q_x + q_z)` and `v = (p_x + p_z) (q_x - q_z)`: the difference's `z` times `(u + v)^2`, and its
/// `x` times `(u - v)^2`.
fn sum([x, z]: [u16; 2], [p, q]: [[u16; 2]; 2], difference: [u16; 2], scratch: u16) -> [Step; 12] {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| scratch + i);
    let add = |r, a, b| Step::Add { r, a, b };
    let sub = |r, a, b| Step::Sub { r, a, b };
    let mul = |r, a, b| Step::Mul { r, a, b };
    [
        sub(a, p[0], p[1]),
        add(b, q[0], q[1]),
        mul(a, a, b),
        add(c, p[0], p[1]),
        sub(d, q[0], q[1]),
        mul(c, c, d),
        add(b, a, c),
        sub(d, a, c),
        mul(b, b, b),
        mul(d, d, d),
        mul(x, b, difference[1]),
        mul(z, d, difference[0]),
    ]
}

/// What a register begins with: values, and which of them each row has.
pub struct Column<'a> {
    pub values: Vec<BigUint>,
    pub of_row: Box<dyn Fn(usize) -> usize + Sync + 'a>,
}

impl<'a> Column<'a> {
    /// Every row has this value.
    pub fn all(value: impl Into<BigUint>) -> Self {
        Column::table(vec![value.into()], |_| 0)
    }

    /// Each row has its own.
    pub fn each(values: Vec<BigUint>) -> Self {
        Column::table(values, |row| row)
    }

    /// Rows have values of a table.
    pub fn table(values: Vec<BigUint>, of_row: impl Fn(usize) -> usize + Sync + 'a) -> Self {
        Column {
            values,
            of_row: Box::new(of_row),
        }
    }
}

/// Who computes.
#[derive(Debug)]
pub enum Registers {
    /// All cores.
    Cpu(Chain),
    /// The engine's devices.
    Device(Box<Machine>),
}

impl Registers {
    /// Begins with `count` rows of so many registers modulo an odd number, of which the first are set: on the engine's
    /// devices, or on all cores where no engine is given. `None` where the engine has no device, or there is no kernel for so long
    /// a number.
    pub fn new(
        engine: Option<&Engine>,
        n: &BigUint,
        registers: u16,
        count: usize,
        columns: &[Column<'_>],
    ) -> Result<Option<Self>, Error> {
        if let Some(engine) = engine {
            let machine = Machine::new(engine, n, registers, count, columns)?;
            return Ok(machine.map(|machine| Registers::Device(Box::new(machine))));
        }
        let mut chain = Chain::new(&n.to_u32_digits(), registers, count)?;
        for (register, Column { values, of_row }) in (0..).zip(columns) {
            let limbs: Vec<_> = values.iter().map(|x| (x % n).to_u32_digits()).collect();
            match &limbs[..] {
                [_] => chain.set(register, &limbs)?,
                _ => {
                    let of_rows: Vec<_> =
                        (0..count).map(|row| limbs[of_row(row)].clone()).collect();
                    chain.set(register, &of_rows)?;
                }
            }
        }
        Ok(Some(Registers::Cpu(chain)))
    }

    /// Of a device the rows that launches write are from now on in tiles, in which a step moves four limbs at a time.
    pub fn in_tiles(self) -> Self {
        match self {
            Registers::Cpu(_) => self,
            Registers::Device(machine) => Registers::Device(Box::new(machine.in_tiles())),
        }
    }

    /// Does the steps, then multiplies the register `product` by the difference of each pair of registers. The
    /// register `scratch` may be overwritten.
    pub fn run(
        &mut self,
        steps: impl IntoIterator<Item = impl Into<Move>>,
        product: u16,
        scratch: u16,
        pairs: &[[u16; 2]],
    ) -> Result<(), Error> {
        self.start(steps, product, scratch, pairs)?;
        self.wait()
    }

    /// [`Registers::run`] that does not wait for a device.
    pub fn start(
        &mut self,
        steps: impl IntoIterator<Item = impl Into<Move>>,
        product: u16,
        scratch: u16,
        pairs: &[[u16; 2]],
    ) -> Result<(), Error> {
        let moves = steps.into_iter().map(Into::into);
        match self {
            Registers::Cpu(chain) => {
                let mut steps = Vec::new();
                moves.for_each(|of: Move| of.steps(&mut steps));
                for &[a, b] in pairs {
                    let (r, difference) = (product, scratch);
                    steps.push(Step::Sub {
                        r: difference,
                        a,
                        b,
                    });
                    steps.push(Step::Mul {
                        r,
                        a: r,
                        b: difference,
                    });
                }
                chain.run(&steps);
                Ok(())
            }
            Registers::Device(machine) => machine.start(moves, product, pairs),
        }
    }

    /// Waits for all that was started.
    pub fn wait(&self) -> Result<(), Error> {
        match self {
            Registers::Cpu(_) => Ok(()),
            Registers::Device(machine) => machine.wait(),
        }
    }

    /// Some registers of every row, side by side in a number of a batch of the engine, which is the devices' own;
    /// on a device they are multiplied as by [`Registers::get`], and not reduced.
    pub fn columns(&self, engine: &Engine, registers: &[u16]) -> Result<Batch, Error> {
        let chain = match self {
            Registers::Cpu(chain) => chain,
            Registers::Device(machine) => return machine.columns(registers),
        };
        let columns: Vec<_> = registers.iter().map(|&r| chain.get(r)).collect();
        let mut limbs = Vec::new();
        for row in 0..chain.count() {
            for column in &columns {
                limbs.extend(&column[row]);
            }
        }
        let width = limbs.len() / chain.count();
        rows(engine, limbs, width)
    }

    /// Other rows modulo the same number `n`, with so many registers, of which the first are these, as
    /// [`Registers::columns`] has them.
    pub fn with_rows(&self, n: &BigUint, set: Batch, registers: u16) -> Result<Self, Error> {
        if let Registers::Device(machine) = self {
            let machine = machine.with_rows(set, registers);
            return Ok(Registers::Device(Box::new(machine)));
        }
        let n = n.to_u32_digits();
        let mut chain = Chain::new(&n, registers, set.len())?;
        let limbs = set.rows()?;
        for i in 0..set.width() / n.len() {
            let of_row = |row: &[Limb]| row[i * n.len()..][..n.len()].to_vec();
            let column: Vec<_> = limbs.chunks(set.width()).map(of_row).collect();
            chain.set(i as u16, &column)?;
        }
        Ok(Registers::Cpu(chain))
    }

    /// Inverts a register of every row modulo `n`, the number of all rows. Where that cannot be, zero is left, and the row is told with
    /// the divisor that it has in common with `n`.
    pub fn invert(&mut self, n: &BigUint, register: u16) -> Result<Vec<(usize, BigUint)>, Error> {
        match self {
            Registers::Cpu(chain) => {
                let numbers: Vec<_> = chain.get(register).into_iter().map(BigUint::new).collect();
                let mut none = Vec::new();
                let inverses = inverses(&numbers, n).into_iter().enumerate();
                let limbs = inverses.map(|(row, inverse)| match inverse {
                    Ok(inverse) => inverse.to_u32_digits(),
                    Err(divisor) => {
                        none.push((row, divisor));
                        Vec::new()
                    }
                });
                let limbs: Vec<_> = limbs.collect();
                chain.set(register, &limbs)?;
                Ok(none)
            }
            Registers::Device(machine) => {
                let none = machine.invert(register)?.into_par_iter();
                Ok(none.map(|(row, number)| (row, gcd(&number, n))).collect())
            }
        }
    }

    /// A register of every row.
    pub fn get(&self, register: u16) -> Result<Vec<BigUint>, Error> {
        match self {
            Registers::Cpu(chain) => {
                Ok(chain.get(register).into_iter().map(BigUint::new).collect())
            }
            Registers::Device(machine) => machine.get(register),
        }
    }
}
