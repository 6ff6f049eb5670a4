//! Elementary operations that need a look at the numbers: at a comparison's answers, and at
//! how far a shift goes.

use crate::operations::column::Column;
use crate::operations::forms::Form;
use crate::values::batch::Batch;
use crate::{Engine, Error};
use bigint_core::{LIMB_BITS, MAX_WIDTH, Operation};
use std::cmp::Ordering;

impl Engine {
    /// How each number of `a` compares with that of `b`. Waits for the device;
    /// [`Engine::order`] leaves the answers there.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// use std::cmp::Ordering;
    /// let engine = Engine::auto();
    /// let a = engine.batch_from_biguints(&[3u32.into(), 7u32.into()])?;
    /// let b = engine.batch_from_biguints(&[5u32.into()])?;
    /// assert_eq!(engine.compare(&a, &b)?, [Ordering::Less, Ordering::Greater]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::order`].
    pub fn compare<C: Column>(&self, a: &C, b: &C) -> Result<Vec<Ordering>, Error> {
        C::compare(self, a, b)
    }

    /// `a * 2^bits`, exact; a batch is wide enough for the longest shift, which is looked for on the
    /// host. `bits` is one number for all, or one for each.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::auto();
    /// let a = engine.batch_from_biguints(&[3u32.into()])?;
    /// let bits = engine.batch_from_biguints(&[0u32.into(), 100u32.into()])?;
    /// let shifted = engine.shl(&a, &bits)?.to_biguints()?;
    /// assert_eq!(shifted, [BigUint::from(3u32), BigUint::from(3u32) << 100]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Width`] where a shift goes beyond [`MAX_WIDTH`]; otherwise as
    /// [`Engine::wrapping_shl`].
    pub fn shl<C: Column>(&self, a: &C, bits: &C) -> Result<C, Error> {
        C::shl(self, a, bits)
    }

    /// [`Engine::shl`] of batches.
    pub(crate) fn shl_batch(&self, a: &Batch, bits: &Batch) -> Result<Batch, Error> {
        let rows = bits.rows()?;
        let longest = rows.chunks(bits.width()).map(|count| match count {
            [low, above @ ..] if above.iter().all(|&limb| limb == 0) => *low as usize,
            _ => usize::MAX,
        });
        let more = longest.max().unwrap_or(0).div_ceil(LIMB_BITS);
        let width = a.width().saturating_add(more);
        if width > MAX_WIDTH {
            return Err(Error::Width { width });
        }
        self.first_of(Operation::Shl, Form::Modulo(width), &[a, bits])
    }
}
