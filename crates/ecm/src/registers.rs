//! Registers of rows of numbers modulo one number, for steps that all rows do: on all cores, or on the engine's
//! devices.

use bigint_host::advanced::{Chain, Step};
use num_bigint::BigUint;

use crate::Error;
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
