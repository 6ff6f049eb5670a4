//! Batches: many numbers of one width, on the host or on a device.

use crate::compute::Inner;
use crate::cuda::{Buffer, Device};
use crate::job::Recipe;
use crate::{BackEnd, DeviceSet, Error, limbs, spread};
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Layout, Limb, Shape};
use num_bigint::BigUint;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A batch of unsigned integers of one width, made by an
/// [`Engine`](crate::Engine).
///
/// A batch never changes; cloning one is free. A result of a GPU stays there
/// until one of the `to_` methods asks for it.
#[derive(Clone)]
pub struct Batch {
    pub(crate) handle: Arc<Handle>,
}

/// Where the numbers are.
///
/// The engine `auto` promises that no device error loses a result. Each node
/// therefore remembers how it was made, from nodes that do the same, down to
/// numbers that the host has; but only a user's handle keeps device memory alive.
pub(crate) struct Node {
    pub shape: Shape,
    /// The limbs on the host, once they are there.
    pub host: OnceLock<Vec<Limb>>,
    /// What devices have of them, in the order of the numbers: each number once; or, where
    /// the host has all, what was brought to a device last.
    shares: Mutex<Vec<Share>>,
    /// How to make it again; `None` where the host has it or nobody promised.
    recipe: Mutex<Option<Recipe>>,
    /// Its transforms, where products are to keep them.
    kept: OnceLock<Mutex<Vec<Kept>>>,
    pub engine: Arc<Inner>,
}

/// The transform of some of a batch's numbers, in the memory of a device.
pub(crate) struct Kept {
    pub plan: NttPlan,
    pub numbers: Range<usize>,
    pub buffer: Arc<Buffer>,
}

/// Some of a batch's numbers, in the memory of a device.
#[derive(Clone)]
pub(crate) struct Share {
    pub numbers: Range<usize>,
    pub buffer: Arc<Buffer>,
}

/// A user's hold on a node. Dropping the last one frees the device memory, even
/// while recipes still refer to the node.
pub(crate) struct Handle {
    pub node: Arc<Node>,
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(limbs) = self.host.take() {
            self.engine.pool.give(limbs);
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.node.take_shares();
        if let Some(mut kept) = self.node.kept() {
            kept.clear();
        }
    }
}

impl Node {
    pub fn on_host(engine: &Arc<Inner>, shape: Shape, limbs: Vec<Limb>) -> Self {
        debug_assert_eq!(limbs.len(), shape.limbs());
        Node {
            shape,
            host: OnceLock::from(limbs),
            shares: Mutex::default(),
            recipe: Mutex::new(None),
            kept: OnceLock::new(),
            engine: Arc::clone(engine),
        }
    }

    pub fn on_devices(
        engine: &Arc<Inner>,
        shape: Shape,
        shares: Vec<Share>,
        recipe: Option<Recipe>,
    ) -> Self {
        Node {
            shape,
            host: OnceLock::new(),
            shares: Mutex::new(shares),
            recipe: Mutex::new(recipe),
            kept: OnceLock::new(),
            engine: Arc::clone(engine),
        }
    }

    fn lock_shares(&self) -> MutexGuard<'_, Vec<Share>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What devices have of it.
    pub fn shares(&self) -> Vec<Share> {
        self.lock_shares().clone()
    }

    /// Gives the device memory up.
    pub fn take_shares(&self) -> Vec<Share> {
        std::mem::take(&mut *self.lock_shares())
    }

    /// The limbs of these numbers, or of the one that stands for all, in a device's memory,
    /// if they are there.
    pub fn resident_on(&self, device: &Device, numbers: &Range<usize>) -> Option<Arc<Buffer>> {
        let one = 0..1;
        let numbers = if self.shape.count == 1 { &one } else { numbers };
        let shares = self.lock_shares();
        let mut shares = shares.iter();
        let share = shares.find(|share| share.numbers == *numbers && share.buffer.is_of(device));
        share.map(|share| Arc::clone(&share.buffer))
    }

    /// The same, brought there from the host if they are not, in the place of what the device
    /// had of this batch.
    pub fn resident(
        &self,
        device: &Arc<Device>,
        numbers: Range<usize>,
    ) -> Result<Arc<Buffer>, Error> {
        if let Some(buffer) = self.resident_on(device, &numbers) {
            return Ok(buffer);
        }
        let numbers = if self.shape.count == 1 { 0..1 } else { numbers };
        let limbs = self.limbs()?;
        self.lock_shares()
            .retain(|share| !share.buffer.is_of(device));
        let Shape { width, layout, .. } = self.shape;
        let buffer = match layout {
            _ if numbers.len() == self.shape.count => device.upload(limbs)?,
            Layout::Contiguous => {
                device.upload(&limbs[numbers.start * width..numbers.end * width])?
            }
            Layout::Interleaved => {
                device.upload(&limbs::slice(limbs, self.shape, numbers.clone())?)?
            }
        };
        let buffer = Arc::new(buffer);
        self.lock_shares().push(Share {
            numbers,
            buffer: Arc::clone(&buffer),
        });
        Ok(buffer)
    }

    /// Has products keep what they transform it to.
    pub fn keep(&self) {
        self.kept.get_or_init(Mutex::default);
    }

    /// What products have kept, if they are to.
    pub fn kept(&self) -> Option<MutexGuard<'_, Vec<Kept>>> {
        let kept = self.kept.get()?;
        Some(kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock_recipe(&self) -> MutexGuard<'_, Option<Recipe>> {
        self.recipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How to make it again, if that is known and still needed.
    pub fn recipe(&self) -> Option<Recipe> {
        self.lock_recipe().clone()
    }

    /// The limbs, brought to the host if they are not there.
    pub fn limbs(&self) -> Result<&[Limb], Error> {
        if let Some(limbs) = self.host.get() {
            return Ok(limbs);
        }
        let fetched = spread::fetch(&self.engine, self);
        let limbs = match fetched {
            Ok(limbs) => self.host.get_or_init(|| limbs),
            // Another thread may have been first, and given the recipe up.
            Err(error) => self.host.get().ok_or(error)?,
        };
        // What the host has is never made again: its operands may go.
        drop(self.lock_recipe().take());
        Ok(limbs)
    }

    /// Operations between this node and limbs on the host.
    pub fn depth(&self) -> u32 {
        match &*self.lock_recipe() {
            Some(recipe) if self.host.get().is_none() => recipe.depth,
            _ => 0,
        }
    }
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

    /// Count, width and layout.
    pub fn shape(&self) -> Shape {
        self.node().shape
    }

    /// Numbers in the batch.
    pub fn len(&self) -> usize {
        self.shape().count
    }

    /// Whether the batch holds no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Limbs of 32 bits in each number.
    pub fn width(&self) -> usize {
        self.shape().width
    }

    /// Where the numbers are now.
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

    /// The numbers, in place of those that `numbers` holds, whose memory is used again:
    /// where it suffices, nothing is allocated, which takes longer than a short product.
    ///
    /// # Errors
    /// As [`Batch::to_biguints`]; `numbers` is as it was then.
    pub fn to_biguints_into(&self, numbers: &mut Vec<BigUint>) -> Result<(), Error> {
        limbs::to_biguints(&self.rows()?, self.width(), numbers)
    }

    /// The limbs number after number, `width()` to each, whatever the layout:
    /// borrowed where they already lie so.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn rows(&self) -> Result<Cow<'_, [Limb]>, Error> {
        let limbs = self.node().limbs()?;
        Ok(match self.shape().layout {
            Layout::Contiguous => Cow::Borrowed(limbs),
            Layout::Interleaved => Cow::Owned(limbs::to_layout(
                limbs::copy(limbs)?,
                self.shape(),
                Layout::Contiguous,
            )?),
        })
    }

    /// [`Batch::rows`], not copied where nobody else has a clone of the batch.
    pub(crate) fn into_rows(mut self) -> Result<Vec<Limb>, Error> {
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

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("shape", &self.shape())
            .field("location", &self.location())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::Resort;
    use crate::job::{Job, Part, Wanted};
    use crate::members::Members;
    use crate::{Options, Tuning};
    use bigint_core::Operation;

    #[test]
    fn a_result_that_the_host_has_lets_its_operands_go() {
        let engine = Arc::new(Inner::new(
            Members::new(Vec::new()),
            Resort::Always,
            Tuning::default(),
        ));
        let shape = Shape::new(1, 1, Layout::Contiguous);
        let a = Arc::new(Node::on_host(&engine, shape, vec![3]));
        let options = Options::default();
        let job = Job::new(Operation::Add, &[shape; 2], &[1], options, Wanted::Nothing).unwrap();
        let recipe = job.recipe(&[Arc::clone(&a), Arc::clone(&a)], Part::Result(0));
        let sum = Node {
            shape,
            host: OnceLock::new(),
            shares: Mutex::default(),
            recipe: Mutex::new(Some(recipe)),
            kept: OnceLock::new(),
            engine,
        };
        assert_eq!((sum.depth(), Arc::strong_count(&a)), (1, 3));
        assert_eq!(sum.limbs().unwrap(), [6]);
        assert_eq!((sum.depth(), Arc::strong_count(&a)), (0, 1));
    }
}
