//! The place of a batch's numbers, and the recipe by which they can be made again.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::common::limbs;
use crate::common::threads::each;
use crate::engine::inner::Inner;
use bigint_core::rns::RnsPlan;
use bigint_core::transform::grid::GridPlan;
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Layout, Limb, Shape};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The most operations that follow one another on a device before `auto` brings a result to the
/// host as well: a failure repeats no more than these.
const MOST_UNSAVED_OPERATIONS: u32 = 16;

/// The numbers of a batch, on the host or on devices.
///
/// The engine `auto` promises that no device error loses a result. Each node
/// therefore remembers how it was made, from nodes that do the same, down to
/// numbers that the host has; but only a user's handle keeps device memory alive.
pub(crate) struct Node {
    pub shape: Shape,
    /// The limbs on the host, once they are there.
    pub host: OnceLock<Vec<Limb>>,
    /// The parts that devices have, in the order of the numbers: each number once; or, where the
    /// host has all, the part that was brought to a device last.
    shares: Mutex<Vec<Share>>,
    /// The recipe; `None` where the host has the numbers, or where none is kept.
    recipe: Mutex<Option<Recipe>>,
    /// Facts about the numbers that checks have found.
    pub known: Known,
    /// The transforms of the numbers, where products should keep them.
    kept: OnceLock<Mutex<Vec<Kept>>>,
    /// The inverses of odd numbers modulo `2^(32 w)`, `w` their width, where they were moduli.
    pub inverses: Mutex<Vec<Share>>,
    /// What Montgomery products in two rings keep of moduli.
    pub rings: Mutex<Vec<Share>>,
    /// What devices have of the number as a table of a base in residues.
    pub in_residues: Mutex<Vec<Arc<InResidues>>>,
    pub engine: Arc<Inner>,
}

/// Facts about a batch's numbers.
#[derive(Default)]
pub(crate) struct Known {
    /// Set where all numbers are odd.
    pub odd: OnceLock<()>,
    /// Set where no number is zero; a token of these numbers, for others that are known to be below
    /// them.
    pub bound: OnceLock<Arc<()>>,
    /// Set where each number is below its number of the batch whose `bound` this is.
    pub below: OnceLock<Arc<()>>,
}

/// The operands of a task, in declared order.
pub(crate) type Operands<'a> = &'a [Arc<Node>];

/// A function that makes some of a batch's numbers again, on the CPU.
type Again = dyn Fn(&Arc<Inner>, Range<usize>) -> Result<Node, Error> + Send + Sync;

/// A recipe: how a batch was made.
#[derive(Clone)]
pub(crate) struct Recipe {
    again: Arc<Again>,
    /// The number of operations between the batch and limbs on the host.
    depth: u32,
}

impl Recipe {
    /// The recipe of what was made of these operands; `again` makes it, and owns them.
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

/// How numbers are transformed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Transformed {
    /// By columns alone, for [pairs](bigint_core::transform::grid::PAIRS).
    ByColumns(GridPlan),
    Ntt(NttPlan),
    /// Pieces of so many limbs of one number, one after the other.
    Pieces(NttPlan, usize),
}

/// The transform of some of a batch's numbers, in the memory of a device.
pub(crate) struct Kept {
    pub plan: Transformed,
    pub numbers: Range<usize>,
    pub buffer: Arc<Buffer>,
}

/// The table of a base in residue number systems, in the memory of a device.
pub(crate) struct InResidues {
    /// The modulus, which may be gone.
    pub modulus: Weak<Node>,
    pub plan: RnsPlan,
    /// Whether it is read whole.
    pub scans: bool,
    /// The units of the modulus.
    pub own: Buffer,
    /// Those of what chains begin with.
    pub radix: Buffer,
    pub table: Buffer,
    /// How many windows it has; none where the systems refuse the modulus.
    pub windows: Option<u64>,
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
            inverses: Mutex::default(),
            rings: Mutex::default(),
            in_residues: Mutex::default(),
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
            inverses: Mutex::default(),
            rings: Mutex::default(),
            in_residues: Mutex::default(),
            engine: Arc::clone(engine),
        }
    }

    fn lock_shares(&self) -> MutexGuard<'_, Vec<Share>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The parts that devices have.
    pub fn shares(&self) -> Vec<Share> {
        self.lock_shares().clone()
    }

    /// Takes the parts that devices have.
    pub fn take_shares(&self) -> Vec<Share> {
        std::mem::take(&mut *self.lock_shares())
    }

    /// The part with these numbers, or with the one that stands for all, if it is in the device's
    /// memory.
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

    /// The part with these numbers in the device's memory. If it is not there, it is brought from
    /// the host, in place of what devices had of this batch.
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

    /// Has products keep their transforms of the numbers.
    pub fn keep(&self) {
        self.kept.get_or_init(Mutex::default);
    }

    /// The transforms that products have kept, if they should keep them.
    pub fn kept(&self) -> Option<MutexGuard<'_, Vec<Kept>>> {
        let kept = self.kept.get()?;
        Some(kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock_recipe(&self) -> MutexGuard<'_, Option<Recipe>> {
        self.recipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recipe, if there is one and it is still needed.
    pub fn recipe(&self) -> Option<Recipe> {
        self.lock_recipe().clone()
    }

    /// The limbs, which are brought to the host if they are not there.
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

    /// The limbs number after number, whatever the layout.
    pub fn rows(&self) -> Result<Cow<'_, [Limb]>, Error> {
        let limbs = self.limbs()?;
        Ok(match self.shape.layout {
            Layout::Contiguous => limbs.into(),
            Layout::Interleaved => {
                let copy = limbs::copy(limbs)?;
                limbs::to_layout(&self.engine.pool, copy, self.shape, Layout::Contiguous)?.into()
            }
        })
    }

    /// The number of operations between this node and limbs on the host.
    pub fn depth(&self) -> u32 {
        match &*self.lock_recipe() {
            Some(recipe) if self.host.get().is_none() => recipe.depth,
            _ => 0,
        }
    }

    /// Brings the limbs to the host if making them again would take too much.
    pub fn save(&self) -> Result<(), Error> {
        if self.depth() >= MOST_UNSAVED_OPERATIONS {
            self.limbs()?;
        }
        Ok(())
    }

    /// Brings the limbs to the host from the devices that have them. Those that a device cannot
    /// give are made again on the CPU by the recipe, if there is one.
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
