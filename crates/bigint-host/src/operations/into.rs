//! Operations that write over a batch instead of making one.

use crate::values::batch::Batch;
use crate::values::node::Node;
use crate::{Engine, Error};
use bigint_core::{Layout, Shape};
use std::sync::Arc;

/// Each takes the memory of `r` for its result, where nobody else has a clone of `r` and
/// the memory is as long as the result or up to an eighth longer; what `r` was does not
/// matter otherwise. After an error `r` is an empty batch.
///
/// Results find memory that batches have given back without this too, up to 1 GiB of it
/// for each engine; `_into` is for loops that must not depend on it, and for more.
///
/// ```
/// use bigint_host::{BigUint, Engine};
/// let engine = Engine::auto();
/// let a = engine.batch_from_biguints(&[3u32.into(), 4u32.into()])?;
/// let mut r = engine.mul(&a, &a)?;
/// engine.add_into(&mut r, &a, &a)?;
/// assert_eq!(r.to_biguints()?, [BigUint::from(6u32), BigUint::from(8u32)]);
/// # Ok::<(), bigint_host::Error>(())
/// ```
impl Engine {
    /// [`Engine::add`] into `r`.
    ///
    /// # Errors
    /// As for [`Engine::add`].
    pub fn add_into(&self, r: &mut Batch, a: &Batch, b: &Batch) -> Result<(), Error> {
        self.write_over(r, || self.add(a, b))
    }

    /// [`Engine::sub`] into `r`.
    ///
    /// # Errors
    /// As for [`Engine::sub`].
    pub fn sub_into(&self, r: &mut Batch, a: &Batch, b: &Batch) -> Result<(), Error> {
        self.write_over(r, || self.sub(a, b))
    }

    /// [`Engine::mul`] into `r`.
    ///
    /// # Errors
    /// As for [`Engine::mul`].
    pub fn mul_into(&self, r: &mut Batch, a: &Batch, b: &Batch) -> Result<(), Error> {
        self.write_over(r, || self.mul(a, b))
    }

    /// [`Engine::wrapping_add`] into `r`.
    ///
    /// # Errors
    /// As for [`Engine::wrapping_add`].
    pub fn wrapping_add_into(&self, r: &mut Batch, a: &Batch, b: &Batch) -> Result<(), Error> {
        self.write_over(r, || self.wrapping_add(a, b))
    }

    /// [`Engine::wrapping_sub`] into `r`.
    ///
    /// # Errors
    /// As for [`Engine::wrapping_sub`].
    pub fn wrapping_sub_into(&self, r: &mut Batch, a: &Batch, b: &Batch) -> Result<(), Error> {
        self.write_over(r, || self.wrapping_sub(a, b))
    }

    /// [`Engine::wrapping_mul`] into `r`.
    ///
    /// # Errors
    /// As for [`Engine::wrapping_mul`].
    pub fn wrapping_mul_into(&self, r: &mut Batch, a: &Batch, b: &Batch) -> Result<(), Error> {
        self.write_over(r, || self.wrapping_mul(a, b))
    }

    fn write_over(
        &self,
        r: &mut Batch,
        compute: impl FnOnce() -> Result<Batch, Error>,
    ) -> Result<(), Error> {
        let none = Shape::new(0, 1, Layout::Contiguous);
        let none = Batch::new(Node::on_host(&self.inner, none, Vec::new()));
        let mut old = std::mem::replace(r, none);
        let memory = Arc::get_mut(&mut old.handle)
            .and_then(|handle| Arc::get_mut(&mut handle.node)?.host.take());
        if let Some(memory) = memory {
            self.inner.pool.hand(memory);
        }
        drop(old);
        *r = compute()?;
        Ok(())
    }
}
