//! Powers of one base modulo one odd number, from a table that is made once.

use crate::operations::residues::vartime;
use crate::{Batch, BigUint, Engine, Error, Residues};
use bigint_core::kernel::TABLE_WINDOW;
use bigint_core::{LIMB_BITS, Layout, Limb, MAX_WIDTH, Operation, Shape};
use std::sync::{Arc, OnceLock};

/// Windows whose steps are taken at once: as many powers of one base, for exponents of up to 384
/// bits.
const WINDOWS_AT_ONCE: usize = 64;

/// A residue `g`, and its powers `g^(d 64^i)` for all windows of six bits of exponents: a power
/// takes a product for each window, and no squares.
///
/// Cloning is free. Time is constant, or not, as that of [`Residues`] is.
///
/// ```
/// use bigint_host::{BigUint, Engine, FixedBase, MontgomeryParams, Residues};
/// let engine = Engine::auto();
/// let params = MontgomeryParams::new(&engine, &engine.batch_from_biguints(&[101u32.into()])?)?;
/// let base = Residues::new(&engine.batch_from_biguints(&[2u32.into()])?, &params)?;
/// let base = FixedBase::new(&base, 32)?;
/// let exponents = engine.batch_from_biguints(&[7u32.into(), 100u32.into()])?;
/// let powers = base.pow(&exponents)?.retrieve()?.to_biguints()?;
/// assert_eq!(powers, [27u32, 1].map(BigUint::from));
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FixedBase {
    base: Residues,
    /// One number: entry `64 i + d` is `g^(d 64^i)`, in Montgomery's form.
    table: Batch,
    /// The beginning of the table that exponents of up to `2^k` limbs need, for each `k` for which they do not
    /// need all of it.
    beginnings: Arc<[OnceLock<Batch>]>,
    /// Limbs of the exponents that it is for.
    exponent: usize,
}

impl FixedBase {
    /// The table of one residue, modulo one number, for exponents of up to `bits` bits.
    ///
    /// Its cost is that of a power of at most 384 bits for each window, `bits / 6`, and 64 products; it
    /// is eleven numbers wide for each bit. Waits for the device. Devices that compute powers in residue number
    /// systems keep it in residues as well, and make these at the first power.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where there are several residues or moduli; [`Error::Width`] where
    /// the table is longer than numbers may be; otherwise as [`Residues::pow_vartime`].
    pub fn new(base: &Residues, bits: usize) -> Result<Self, Error> {
        let moduli = base.params_of().moduli();
        for several in [base.as_montgomery()?, moduli] {
            if several.len() != 1 {
                let (a, b) = (several.len(), 1);
                return Err(Error::CountMismatch { a, b });
            }
        }
        let (engine, width) = (base.engine(), moduli.width());
        let exponent = bits.div_ceil(LIMB_BITS).max(1);
        let length = limbs_of(exponent, width);
        if length > MAX_WIDTH {
            return Err(Error::Width { width: length });
        }
        let places = |numbers: std::ops::RangeInclusive<usize>| {
            let places: Vec<_> = numbers
                .map(|i| BigUint::from(1u32) << (TABLE_WINDOW * i))
                .collect();
            engine.batch_from_biguints(&places)
        };
        let steps_at = places(0..=WINDOWS_AT_ONCE - 1)?;
        let next_at = places(WINDOWS_AT_ONCE..=WINDOWS_AT_ONCE)?;
        let one = Residues::one(base.params_of())?;
        let mut limbs: Vec<Limb> = bigint_cpu::zeroed(length)?;
        let mut next = base.clone();
        let of_window = width << TABLE_WINDOW;
        for windows in limbs.chunks_mut(WINDOWS_AT_ONCE * of_window) {
            let steps = next.pow_vartime(&steps_at)?;
            let mut power = one.clone();
            for digit in 0..1 << TABLE_WINDOW {
                let rows = power.as_montgomery()?.rows()?;
                // 1 is one for all windows.
                for (entries, row) in windows
                    .chunks_mut(of_window)
                    .zip(rows.chunks(width).cycle())
                {
                    entries[width * digit..width * (digit + 1)].copy_from_slice(row);
                }
                power = power.mul(&steps)?;
            }
            next = next.pow_vartime(&next_at)?;
        }
        let shape = Shape::new(1, length, Layout::Contiguous);
        let beginnings = (0..exponent.next_power_of_two().ilog2()).map(|_| OnceLock::new());
        Ok(FixedBase {
            base: base.clone(),
            table: engine.batch_from_limbs(limbs, shape)?,
            beginnings: beginnings.collect(),
            exponent,
        })
    }

    /// The base.
    pub fn base(&self) -> &Residues {
        &self.base
    }

    /// `g^e`, one for each exponent. The time depends on the exponents' width, which decides how
    /// many windows there are. Exponents of more bits than the table is for take the time of
    /// [`Residues::pow`].
    ///
    /// # Errors
    /// As for [`Engine::pow_fixed`].
    pub fn pow(&self, exponents: &Batch) -> Result<Residues, Error> {
        match exponents.width() <= self.exponent {
            true => self.power(self.base.engine(), exponents),
            false => self.base.pow(exponents),
        }
    }

    /// [`FixedBase::pow`] in time that depends on the exponents.
    ///
    /// # Errors
    /// As for [`Engine::pow_fixed`].
    pub fn pow_vartime(&self, exponents: &Batch) -> Result<Residues, Error> {
        match exponents.width() <= self.exponent {
            true => self.power(&vartime(self.base.engine()), exponents),
            false => self.base.pow_vartime(exponents),
        }
    }

    fn power(&self, engine: &Engine, exponents: &Batch) -> Result<Residues, Error> {
        let params = self.base.params_of();
        let table = self.beginning(exponents.width())?;
        let operands = [table, exponents, params.moduli()];
        Residues::new(&engine.of_residues(Operation::PowFixed, &operands)?, params)
    }

    /// The beginning of the table that exponents of `width` limbs, or of up to twice as many, need. Kernels
    /// walk through the whole table that they are given.
    fn beginning(&self, width: usize) -> Result<&Batch, Error> {
        let k = width.next_power_of_two().ilog2();
        let Some(beginning) = self.beginnings.get(k as usize) else {
            return Ok(&self.table);
        };
        if let Some(beginning) = beginning.get() {
            return Ok(beginning);
        }
        let engine = self.base.engine();
        let length = limbs_of(1 << k, self.base.params_of().moduli().width());
        let mut limbs = bigint_cpu::with_capacity(length)?;
        limbs.extend_from_slice(&self.table.rows()?[..length]);
        let made = engine.batch_from_limbs(limbs, Shape::new(1, length, Layout::Contiguous))?;
        Ok(beginning.get_or_init(|| made))
    }
}

/// Limbs of the table for exponents of so many limbs, modulo a number of `width`; of more than there
/// can be, as many as no number has.
fn limbs_of(exponent: usize, width: usize) -> usize {
    let windows = exponent.saturating_mul(LIMB_BITS).div_ceil(TABLE_WINDOW);
    windows.saturating_mul(width << TABLE_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MontgomeryParams;

    /// Beside num-bigint: exponents narrower than the table, as wide and wider, one and more than
    /// lanes take at once.
    #[test]
    fn powers_take_as_much_of_the_table_as_their_exponents_have() {
        let engine = Engine::cpu();
        let batch = |numbers: &[BigUint]| engine.batch_from_biguints(numbers).unwrap();
        let ones = |bits: usize| (BigUint::from(1u32) << bits) - 1u32;
        for width in [1, 2, 5, 8] {
            let modulus = ones(32 * width) - 188u32;
            let g = ones(32 * width - 3) / 5u32;
            let params =
                MontgomeryParams::new(&engine, &batch(std::slice::from_ref(&modulus))).unwrap();
            let base = Residues::new(&batch(std::slice::from_ref(&g)), &params).unwrap();
            // More windows than are made at once.
            let base = FixedBase::new(&base, 500).unwrap();
            for bits in [1, 31, 32, 33, 100, 384, 385, 500, 512, 513] {
                for count in [1_u32, 7, 8, 19] {
                    let exponents: Vec<_> = (0..count)
                        .map(|i| match i {
                            0 => ones(bits),
                            1 => BigUint::ZERO,
                            _ => ones(bits) / BigUint::from(2 * i + 1),
                        })
                        .collect();
                    let powers = base.pow(&batch(&exponents)).unwrap();
                    let vartime = base.pow_vartime(&batch(&exponents)).unwrap();
                    let expected: Vec<_> =
                        exponents.iter().map(|e| g.modpow(e, &modulus)).collect();
                    for powers in [powers, vartime] {
                        let found = powers.retrieve().unwrap().to_biguints().unwrap();
                        assert_eq!(found, expected, "{width} limbs, {bits} bits");
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_longer_than_numbers_may_be_is_refused() {
        let engine = Engine::cpu();
        let batch = |n: u32| engine.batch_from_biguints(&[n.into()]).unwrap();
        let params = MontgomeryParams::new(&engine, &batch(101)).unwrap();
        let base = Residues::new(&batch(2), &params).unwrap();
        for bits in [usize::MAX, usize::MAX / 2, MAX_WIDTH] {
            let refused = FixedBase::new(&base, bits).unwrap_err();
            assert!(matches!(refused, Error::Width { .. }), "{refused}");
        }
    }
}
