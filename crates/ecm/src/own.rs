//! A curve on many numbers on the engine's devices: a thread for each number, which computes modulo it.
//!
//! The host hands over the numbers' limbs and gets back the limbs of divisors: constants and points are made,
//! and stay, on the devices.

use bigint_host::advanced::Module;
use bigint_host::{Batch, Engine, Limb};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::device::{module, push, rows, width};
use crate::giants::{GIVEN_Z, Giants};
use crate::machine::Machine;
use crate::{Bounds, Error};

/// The most limbs of a number that has a modulus of its own.
const WIDEST: usize = 20;

/// The length in limbs as kernels take a number, where one does: up to 634 bits.
pub fn own_width(n: &BigUint) -> Option<usize> {
    width(n).filter(|&width| width <= WIDEST)
}

/// Curves on numbers of one length.
pub struct Curves {
    engine: Engine,
    width: usize,
    bounds: Bounds,
    ladder: Module,
    registers: Module,
    scalar: Batch,
    /// The scalar's bits below its highest.
    bits: Limb,
}

impl Curves {
    /// `None` where the engine has no device.
    pub fn new(
        engine: &Engine,
        width: usize,
        bounds: Bounds,
        scalar: &BigUint,
    ) -> Result<Option<Self>, Error> {
        let Some(ladder) = module(engine, &format!("own_ladder_{width}"))? else {
            return Ok(None);
        };
        let Some(registers) = module(engine, &format!("own_registers_{width}"))? else {
            return Ok(None);
        };
        let bits = (scalar.bits() - 1) as Limb;
        let scalar = scalar.to_u32_digits();
        let length = scalar.len();
        Ok(Some(Curves {
            engine: engine.clone(),
            width,
            bounds,
            ladder,
            registers,
            scalar: rows(engine, scalar, length)?,
            bits,
        }))
    }

    /// A divisor of each number where the curve finds one. Where devices have no room for all numbers at once,
    /// a half of them goes first.
    pub fn curve(&self, numbers: &[&BigUint], sigma: u32) -> Result<Vec<Option<BigUint>>, Error> {
        match self.together(numbers, sigma) {
            Err(error) if error.is_devices_memory() && numbers.len() > 1 => {
                let (first, second) = numbers.split_at(numbers.len() / 2);
                let mut found = self.curve(first, sigma)?;
                found.extend(self.curve(second, sigma)?);
                Ok(found)
            }
            done => done,
        }
    }

    fn together(&self, numbers: &[&BigUint], sigma: u32) -> Result<Vec<Option<BigUint>>, Error> {
        let Bounds { b1, b2, .. } = self.bounds;
        let mut limbs = Vec::with_capacity(self.width * numbers.len());
        for n in numbers {
            push(&mut limbs, n, self.width);
        }
        let moduli = rows(&self.engine, limbs, self.width)?;
        let sigma = rows(&self.engine, vec![sigma], 1)?;
        let operands = [&moduli, &sigma, &self.scalar];
        let kernel = format!("own_ladder_{}", self.width);
        let made = self
            .ladder
            .launch(&kernel, &operands, &[5 * self.width], &[self.bits])?;
        let set = made.into_iter().next().expect("one result");
        let machine = Machine::own(
            &self.engine,
            self.registers.clone(),
            self.width,
            Giants::registers(true, b1, b2),
            set,
        );
        let mut found = self.divisors(numbers, &moduli, &machine.column(GIVEN_Z)?)?;
        if b2 > b1 {
            let mut giants = Giants::of_machine(machine, b1, b2)?;
            while !giants.is_done() {
                giants.advance()?;
            }
            let products = giants.products_on_device()?.expect("giants of a device");
            let later = self.divisors(numbers, &moduli, &products)?;
            for (found, later) in found.iter_mut().zip(later) {
                *found = found.take().or(later);
            }
        }
        Ok(found)
    }

    /// The divisor that each number has in common with a residue, where it is neither 1 nor the number.
    fn divisors(
        &self,
        numbers: &[&BigUint],
        moduli: &Batch,
        residues: &Batch,
    ) -> Result<Vec<Option<BigUint>>, Error> {
        let divisors = self.engine.gcd(moduli, residues)?;
        let width = divisors.width();
        let limbs = divisors.rows()?;
        let divisors = limbs.par_chunks_exact(width).zip(numbers);
        let of_each = divisors.map(|(limbs, &n)| {
            if limbs[0] == 1 && limbs[1..].iter().all(|&limb| limb == 0) {
                return None;
            }
            Some(BigUint::from_slice(limbs)).filter(|divisor| divisor != n)
        });
        Ok(of_each.collect())
    }
}
