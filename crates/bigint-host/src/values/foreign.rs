//! The limbs of a column: its own, or those of somebody who lends them.

use bigint_core::Limb;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Limbs that are read as a slice, wherever they are; to be written they become the column's own.
#[derive(Clone)]
pub(crate) enum Limbs {
    Own(Vec<Limb>),
    Foreign(Arc<dyn AsRef<[Limb]> + Send + Sync>),
}

impl Default for Limbs {
    fn default() -> Self {
        Limbs::Own(Vec::new())
    }
}

impl From<Vec<Limb>> for Limbs {
    fn from(limbs: Vec<Limb>) -> Self {
        Limbs::Own(limbs)
    }
}

impl Deref for Limbs {
    type Target = [Limb];

    #[inline]
    fn deref(&self) -> &[Limb] {
        match self {
            Limbs::Own(limbs) => limbs,
            Limbs::Foreign(limbs) => (**limbs).as_ref(),
        }
    }
}

impl DerefMut for Limbs {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Limb] {
        self.own()
    }
}

impl Limbs {
    /// The limbs, to write them: copied if they are somebody else's.
    ///
    /// # Panics
    /// With the error of memory that ends.
    #[inline]
    pub fn own(&mut self) -> &mut Vec<Limb> {
        if let Limbs::Foreign(limbs) = self {
            let limbs = (**limbs).as_ref();
            match bigint_cpu::with_capacity(limbs.len()) {
                Ok(mut own) => {
                    own.extend_from_slice(limbs);
                    *self = Limbs::Own(own);
                }
                Err(error) => std::panic::panic_any(error),
            }
        }
        match self {
            Limbs::Own(limbs) => limbs,
            Limbs::Foreign(_) => unreachable!("they have been copied"),
        }
    }

    /// The memory of limbs that are the column's own; of others nothing.
    pub fn take(&mut self) -> Vec<Limb> {
        match std::mem::take(self) {
            Limbs::Own(limbs) => limbs,
            Limbs::Foreign(_) => Vec::new(),
        }
    }
}

impl fmt::Debug for Limbs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
