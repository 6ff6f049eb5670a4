//! Registers of rows of numbers modulo one number, for steps that all rows do: on all cores, or on the engine's
//! devices.

use bigint_host::advanced::{Chain, Step};
use bigint_host::{Batch, Engine, Limb};
use num_bigint::BigUint;

use crate::Error;
use crate::device::rows;
use crate::machine::Machine;

/// Who computes.
#[derive(Debug)]
pub enum Registers {
    /// All cores.
    Cpu(Chain),
    /// The engine's devices.
    Device(Box<Machine>),
}

impl Registers {
    /// Does the steps, then multiplies the register `product` by the difference of each pair of registers. The
    /// register `scratch` may be overwritten.
    pub fn run(
        &mut self,
        mut steps: Vec<Step>,
        product: u16,
        scratch: u16,
        pairs: &[[u16; 2]],
    ) -> Result<(), Error> {
        match self {
            Registers::Cpu(chain) => {
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
            Registers::Device(machine) => machine.run(&steps, product, pairs),
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

    /// A register of every row; on a device it is multiplied by one number for all, which has no divisor in
    /// common with the modulus.
    pub fn get(&self, register: u16) -> Result<Vec<BigUint>, Error> {
        match self {
            Registers::Cpu(chain) => {
                Ok(chain.get(register).into_iter().map(BigUint::new).collect())
            }
            Registers::Device(machine) => machine.get(register),
        }
    }
}
