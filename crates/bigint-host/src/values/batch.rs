//! Batches: many numbers of one width, on the host or on a device.

use crate::common::limbs;
use crate::values::node::{Node, Share};
use crate::{BackEnd, DeviceSet, Engine, Error};
use bigint_core::{Layout, Limb, Shape};
use num_bigint::BigUint;
use std::borrow::Cow;
use std::sync::Arc;

/// A batch of unsigned integers of one width, made by an
/// [`Engine`](crate::Engine).
///
/// A batch never changes; cloning one is free. A result of a GPU stays there
/// until one of the `to_` methods asks for it.
#[derive(Clone)]
pub struct Batch {
    pub(crate) handle: Arc<Handle>,
}

/// A user's hold on a node. Dropping the last one frees the device memory, even
/// while recipes still refer to the node.
pub(crate) struct Handle {
    pub node: Arc<Node>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.node.take_shares();
        if let Some(mut kept) = self.node.kept() {
            kept.clear();
        }
    }
}

/// Batches of these shapes in the memory of an engine's device, in which nothing is written: for
/// [rehearsals](crate::engine::rehearsal).
pub(crate) fn stand_ins(engine: &Engine, shapes: &[Shape]) -> Result<Vec<Batch>, Error> {
    let device = engine.inner.device().expect("it rehearses");
    let stand_in = |shape: &Shape| {
        let share = Share {
            numbers: 0..shape.count,
            buffer: Arc::new(device.allocate(shape.limbs())?),
        };
        let node = Node::on_devices(&engine.inner, *shape, vec![share], None);
        Ok(Batch::new(node))
    };
    shapes.iter().map(stand_in).collect()
}

impl Batch {
    pub(crate) fn new(node: Node) -> Self {
        Batch {
            handle: Arc::new(Handle {
                node: Arc::new(node),
            }),
        }
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        &self.handle.node
    }

    /// The count, width and layout of the numbers.
    pub fn shape(&self) -> Shape {
        self.node().shape
    }

    /// The number of numbers in the batch.
    pub fn len(&self) -> usize {
        self.shape().count
    }

    /// Whether the batch holds no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of 32-bit limbs in each number.
    pub fn width(&self) -> usize {
        self.shape().width
    }

    /// Whether the batch is overwritten when it is dropped
    /// ([`Engine::for_secrets`](crate::Engine::for_secrets)).
    pub fn is_secret(&self) -> bool {
        self.node().engine.pool.is_for_secrets()
    }

    /// The back end that has the numbers now.
    pub fn location(&self) -> BackEnd {
        let shares = self.node().shares();
        let ordinals = shares.iter().map(|share| share.buffer.ordinal());
        DeviceSet::new(ordinals).map_or(BackEnd::Cpu, BackEnd::Cuda)
    }

    /// The limbs, in the batch's layout; padding of an interleaved batch is zero.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn to_limbs(&self) -> Result<Vec<Limb>, Error> {
        limbs::copy(self.node().limbs()?)
    }

    /// The numbers.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn to_biguints(&self) -> Result<Vec<BigUint>, Error> {
        let mut numbers = Vec::new();
        self.to_biguints_into(&mut numbers)?;
        Ok(numbers)
    }

    /// Writes the numbers into `numbers`, using the memory of those that are there. Where that
    /// suffices nothing is allocated, which would take longer than a short product.
    ///
    /// # Errors
    /// As for [`Batch::to_biguints`]; `numbers` is as it was then.
    pub fn to_biguints_into(&self, numbers: &mut Vec<BigUint>) -> Result<(), Error> {
        let rows = self.rows()?;
        let done = limbs::to_biguints(&rows, self.width(), numbers);
        if let Cow::Owned(mut own) = rows {
            self.node().engine.pool.wipe(&mut own);
        }
        done
    }

    /// The limbs number after number, `width()` to each, whatever the layout:
    /// borrowed where they already lie so.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn rows(&self) -> Result<Cow<'_, [Limb]>, Error> {
        self.node().rows()
    }

    /// [`Batch::rows`] without a copy, if there is no other clone of the batch.
    ///
    /// # Errors
    /// As for [`Batch::rows`].
    pub fn into_rows(mut self) -> Result<Vec<Limb>, Error> {
        self.node().limbs()?;
        let own = Arc::get_mut(&mut self.handle);
        let own = own.and_then(|handle| Arc::get_mut(&mut handle.node));
        match own.filter(|node| node.shape.layout == Layout::Contiguous) {
            Some(node) => Ok(node.host.take().unwrap_or_default()),
            None => Ok(self.rows()?.into_owned()),
        }
    }

    /// The numbers as little-endian bytes, `4 * width()` to each.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn to_bytes_le(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = limbs::copy(bytemuck::cast_slice::<Limb, u8>(&self.rows()?))?;
        if cfg!(target_endian = "big") {
            bytes
                .chunks_exact_mut(size_of::<Limb>())
                .for_each(<[u8]>::reverse);
        }
        Ok(bytes)
    }
}
