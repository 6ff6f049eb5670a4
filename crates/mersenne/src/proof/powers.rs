//! Products of powers of residues, of which proofs are made.

use crate::stage_2::power;
use crate::{Backend, Error, Multiplying, Number, Residue, Runner};

/// A machine for [`power_times`](super::power_times) of long numbers.
pub(super) struct Powers<'a> {
    number: Number,
    backend: &'a dyn Backend,
    machine: Box<dyn Multiplying>,
}

impl<'a> Powers<'a> {
    pub(super) fn new(number: Number, backend: &'a dyn Backend) -> Result<Self, Error> {
        let machine = multiplying(number, backend)?;
        Ok(Powers {
            number,
            backend,
            machine,
        })
    }

    /// The next middle of a proof of this power, behind those with these hashes, of the residues of these iterations.
    pub(super) fn middle(
        &mut self,
        power: u32,
        iterations: &[u32],
        hashes: &[u64],
        residue: &mut dyn FnMut(u32) -> Result<Residue, Error>,
    ) -> Result<Residue, Error> {
        // It is a tree: of two neighbours the first to the power of a hash, the last one's at the leaves.
        let level = hashes.len();
        let step = 1 << (power as usize - level);
        let leaves = (0..1 << level).map(|i| iterations[step * i + step / 2 - 1]);
        let mut trees: Vec<(usize, Residue)> = Vec::new();
        for iteration in leaves {
            let (mut height, mut tree) = (0, residue(iteration)?);
            while let Some((_, first)) = trees.pop_if(|(other, _)| *other == height) {
                let hash = hashes[level - 1 - height];
                tree = self.power_times(&first, hash, &tree)?;
                height += 1;
            }
            trees.push((height, tree));
        }
        let (_, middle) = trees.pop().expect("there are leaves");
        Ok(middle)
    }

    /// The product `base^exponent times`.
    pub(super) fn power_times(
        &mut self,
        base: &Residue,
        exponent: u64,
        times: &Residue,
    ) -> Result<Residue, Error> {
        loop {
            match self.attempt(base, exponent, times) {
                Ok(Some(product)) => return Ok(product),
                Ok(None) => {
                    let longer_than = self.machine.words();
                    self.machine = self.backend.multiplying(self.number, longer_than)?;
                }
                Err(error) if self.backend.falls_back(&error) => {
                    self.machine = multiplying(self.number, self.backend)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The same; `None` where rounding errors are too great.
    fn attempt(
        &mut self,
        base: &Residue,
        exponent: u64,
        times: &Residue,
    ) -> Result<Option<Residue>, Error> {
        let machine = &mut *self.machine;
        machine.set(times)?;
        let times = machine.keep()?;
        machine.set(base)?;
        power(machine, exponent)?;
        machine.multiply(&times, None, 0)?;
        match machine.error()? <= Runner::LIMIT {
            true => machine.residue().map(Some),
            false => Ok(None),
        }
    }
}

/// A machine that multiplies modulo the number: another one where one fails.
pub(super) fn multiplying(
    number: Number,
    backend: &dyn Backend,
) -> Result<Box<dyn Multiplying>, Error> {
    match backend.multiplying(number, None) {
        Err(error) if backend.falls_back(&error) => backend.multiplying(number, None),
        machine => machine,
    }
}
