//! Powers of one base modulo one odd number, from a table that is made once.

use crate::residues::vartime;
use crate::{Batch, BigUint, Engine, Error, Residues};
use bigint_core::kernel::TABLE_WINDOW;
use bigint_core::{LIMB_BITS, Layout, Shape};

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
    /// Limbs of the exponents that it is for.
    exponent: usize,
}

impl FixedBase {
    /// The table of one residue, modulo one number, for exponents of up to `bits` bits.
    ///
    /// Its cost is that of a power for each window, `bits / 6`, and 62 products; it is eleven
    /// numbers wide for each bit. Waits for the device.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where there are several residues or moduli; [`Error::Width`] where
    /// the table is longer than numbers may be; otherwise as [`Residues::pow_vartime`].
    pub fn new(base: &Residues, bits: usize) -> Result<Self, Error> {
        let moduli = base.params_of().moduli();
        for several in [base.as_montgomery(), moduli] {
            if several.len() != 1 {
                let (a, b) = (several.len(), 1);
                return Err(Error::CountMismatch { a, b });
            }
        }
        let engine = base.engine();
        let exponent = bits.div_ceil(LIMB_BITS).max(1);
        let windows = (LIMB_BITS * exponent).div_ceil(TABLE_WINDOW);
        let places: Vec<_> = (0..windows)
            .map(|i| BigUint::from(1u32) << (TABLE_WINDOW * i))
            .collect();
        let steps = base.pow_vartime(&engine.batch_from_biguints(&places)?)?;
        let width = moduli.width();
        let shape = Shape::new(1, (windows << TABLE_WINDOW) * width, Layout::Contiguous);
        let mut limbs = vec![0; shape.limbs()];
        let mut power = Residues::one(base.params_of())?;
        for digit in 0..1 << TABLE_WINDOW {
            let rows = power.as_montgomery().rows()?;
            // 1 is one for all windows.
            for (entries, row) in limbs
                .chunks_mut(width << TABLE_WINDOW)
                .zip(rows.chunks(width).cycle())
            {
                entries[width * digit..width * (digit + 1)].copy_from_slice(row);
            }
            power = power.mul(&steps)?;
        }
        Ok(FixedBase {
            base: base.clone(),
            table: engine.batch_from_limbs(limbs, shape)?,
            exponent,
        })
    }

    /// The base.
    pub fn base(&self) -> &Residues {
        &self.base
    }

    /// `g^e`, one for each exponent. The time depends on the exponents' width. Exponents of more
    /// bits than the table is for take the time of [`Residues::pow`].
    ///
    /// # Errors
    /// As [`Engine::pow_fixed`].
    pub fn pow(&self, exponents: &Batch) -> Result<Residues, Error> {
        match exponents.width() <= self.exponent {
            true => self.power(self.base.engine(), exponents),
            false => self.base.pow(exponents),
        }
    }

    /// [`FixedBase::pow`] in time that depends on the exponents.
    ///
    /// # Errors
    /// As [`Engine::pow_fixed`].
    pub fn pow_vartime(&self, exponents: &Batch) -> Result<Residues, Error> {
        match exponents.width() <= self.exponent {
            true => self.power(&vartime(self.base.engine()), exponents),
            false => self.base.pow_vartime(exponents),
        }
    }

    fn power(&self, engine: &Engine, exponents: &Batch) -> Result<Residues, Error> {
        let params = self.base.params_of();
        let power = engine.pow_fixed(&self.table, exponents, params.moduli())?;
        Residues::new(&power, params)
    }
}
