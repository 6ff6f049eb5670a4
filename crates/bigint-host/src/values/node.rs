//! Where the numbers of a batch are, and how to make them again.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::common::limbs;
use crate::common::threads::each;
use crate::engine::inner::Inner;
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Layout, Limb, Shape};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Operations that may follow one another on a device before `auto` brings a
/// result to the host as well, so that no failure has to redo more than these.
const MOST_UNSAVED_OPERATIONS: u32 = 16;

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
    /// What checks have found of the numbers.
    pub known: Known,
    /// Its transforms, where products are to keep them.
    kept: OnceLock<Mutex<Vec<Kept>>>,
    pub engine: Arc<Inner>,
}

/// What is known of a batch's numbers.
#[derive(Default)]
pub(crate) struct Known {
    /// All are odd.
    pub odd: OnceLock<()>,
    /// None is zero; and what stands for these numbers where others are known to be below them.
    pub bound: OnceLock<Arc<()>>,
    /// Each is below its number of the batch of which this is the `bound`.
    pub below: OnceLock<Arc<()>>,
}

/// The operands of a task, in declared order.
pub(crate) type Operands<'a> = &'a [Arc<Node>];

/// Makes some of a batch's numbers again, on the CPU.
type Again = dyn Fn(&Arc<Inner>, Range<usize>) -> Result<Node, Error> + Send + Sync;

/// How a batch was made.
#[derive(Clone)]
pub(crate) struct Recipe {
    again: Arc<Again>,
    /// Operations between the batch and limbs on the host.
    depth: u32,
}

impl Recipe {
    /// What was made of these operands is made by `again`, which has them.
    pub fn new(
        operands: Operands<'_>,
        again: impl Fn(&Arc<Inner>, Range<usize>) -> Result<Node, Error> + Send + Sync + 'static,
    ) -> Self {
        let depths = operands.iter().map(|operand| operand.depth());
        Recipe {
            again: Arc::new(again),
            depth: 1 + depths.max().unwrap_or(0),
        }
    }
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

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(limbs) = self.host.take() {
            self.engine.pool.give(limbs);
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
            known: Known::default(),
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
            known: Known::default(),
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
    pub fn resident_on(
        &self,
        device: &Arc<dyn Device>,
        numbers: &Range<usize>,
    ) -> Option<Arc<Buffer>> {
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
        device: &Arc<dyn Device>,
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
                let mut own = limbs::slice(limbs, self.shape, numbers.clone())?;
                let buffer = device.upload(&own);
                self.engine.pool.wipe(&mut own);
                buffer?
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
        let fetched = self.fetch();
        let limbs = match fetched {
            Ok(limbs) => {
                if let Err(limbs) = self.host.set(limbs) {
                    self.engine.pool.give(limbs);
                }
                self.host.get().expect("somebody has set it")
            }
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

    /// Brings the limbs to the host where too much would have to be done again for them.
    pub fn save(&self) -> Result<(), Error> {
        if self.depth() >= MOST_UNSAVED_OPERATIONS {
            self.limbs()?;
        }
        Ok(())
    }

    /// Brings a node's limbs to the host: from the devices that have them, and what one of them
    /// cannot give is computed again on the CPU, where it is known how.
    fn fetch(&self) -> Result<Vec<Limb>, Error> {
        let Node { shape, engine, .. } = self;
        let shape = *shape;
        let shares = self.shares();
        let again = |numbers: Range<usize>| -> Result<Option<Node>, Error> {
            let recipe = self.recipe();
            recipe
                .map(|recipe| (recipe.again)(engine, numbers))
                .transpose()
        };
        let lost = || engine.lost("bringing a result to the host");
        if shares.is_empty() {
            let node = again(0..shape.count)?;
            return node.and_then(|mut node| node.host.take()).ok_or_else(lost);
        }
        let mut limbs = engine.pool.take(shape.limbs())?;
        // Where each share's limbs lie among all, they are brought there at once.
        let is_direct = shape.layout == Layout::Contiguous || shares.len() == 1;
        let mut rest = &mut limbs[..];
        let places = shares.into_iter().map(|share| {
            let place = is_direct.then(|| {
                let (place, others) = std::mem::take(&mut rest).split_at_mut(share.buffer.limbs());
                rest = others;
                place
            });
            (share, place)
        });
        let brought = each(places.collect(), |(share, place)| {
            let (buffer, count) = (&share.buffer, share.numbers.len());
            let part = Shape { count, ..shape };
            let mut own = Vec::new();
            let brought = match place {
                Some(place) => engine.download(buffer, part, place),
                None => engine.pool.take(buffer.limbs()).and_then(|limbs| {
                    own = limbs;
                    engine.download(buffer, part, &mut own)
                }),
            };
            (share.numbers, brought.map(|brought| brought.map(|()| own)))
        });
        for (numbers, brought) in brought {
            let part = Shape {
                count: numbers.len(),
                ..shape
            };
            match brought {
                Ok(Some(own)) if own.is_empty() => continue,
                Ok(Some(own)) => {
                    limbs::splice(&mut limbs, shape, numbers.start, &own, part);
                    engine.pool.give(own);
                    continue;
                }
                Ok(None) => {}
                Err(error) => engine.make_good(error, "computing the result again on the CPU")?,
            }
            let again = again(numbers.clone())?.ok_or_else(lost)?;
            limbs::splice(&mut limbs, shape, numbers.start, again.limbs()?, part);
        }
        limbs::clear_padding(&mut limbs, shape);
        Ok(limbs)
    }
}
