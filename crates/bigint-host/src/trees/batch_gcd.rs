//! Which of many numbers have a factor in common with another of them.
//!
//! A product tree has the product of all other numbers modulo each number, and the greatest common
//! divisor of both is what the number shares [Bernstein 2004; Heninger et al. 2012]. Where memory
//! does not hold the tree of all numbers, groups of them have a tree each. With `P_j` the product of
//! group `j`, a number of group `i` is compared with
//!
//! ```text
//! (the product of the others of its group) (the product of P_j over all j but i)  modulo P_i
//! ```
//!
//! and products of numbers of earlier runs are more such `P_j`: what is new is compared with what is
//! old without a tree of the old.
//!
//! On an engine of several devices there are at least as many groups, and each device computes one at a time.
//!
//! **Cost**, of `n` numbers of `w` limbs in `g` groups: `log2(n / g)` levels of the trees, twice
//! the way up where there is more than one group; and `g (g - 1)` products of `w n / g` limbs modulo
//! another. **Memory**: [`BYTES_OF_LIMB`] times what a group has of limbs, for each level and a few
//! more; and the products of all groups, which together are as long as the numbers.

use crate::common::threads::lock;
use crate::engine::rehearsal::rehearsed;
use crate::trees::folder::Folder;
use crate::trees::leaves::{self, Which, one_of};
use crate::trees::product_tree::{ProductTree, Wanted, refuse_negative};
use crate::trees::workers::{Task, Tell, Workers};
use crate::{Batch, BigUint, Engine, Error, Integers};
use bigint_core::{Limb, MAX_WIDTH};
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Limbs of the product of a group, at most: 2^31 bits.
const MOST_LIMBS: usize = 1 << 26;

/// Limbs of all numbers for which each device computes groups of them by itself, for each device.
const LEAST_LIMBS: usize = 1 << 22;

/// Limbs of all numbers for which devices are opened, if they are not open yet.
const OPENING_LIMBS: usize = 1 << 25;

/// Bytes that a group takes for each of its limbs, for each level of its tree.
const BYTES_OF_LIMB: usize = 4;

/// Levels whose memory is that of transforms and of what is computed of the root.
const MORE_LEVELS: usize = 18;

/// Groups whose products are multiplied before they are reduced: each costs a quotient then, and all of them a product.
const JOINED: usize = 4;

/// Primes below this are looked for in all numbers.
const SMALL: u32 = 1 << 12;

/// How numbers are compared with one another, and where what is found is kept.
///
/// ```
/// use bigint_host::{BatchGcd, Engine, Integers};
/// let numbers = Integers::from([101 * 103, 107 * 109, 103 * 113]);
/// let found = BatchGcd::new(&Engine::auto()).find(&numbers, &Integers::new(), &|_| ())?;
/// assert_eq!(found.divisors, Integers::from([103, 1, 103]));
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchGcd {
    engine: Engine,
    memory: usize,
    folder: Option<PathBuf>,
    wants_products: bool,
    /// Limbs of the product of a group, at most.
    most_limbs: usize,
    /// [`LEAST_LIMBS`].
    least_limbs: usize,
}

/// What [`BatchGcd::find`] has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Common {
    /// The greatest common divisor of each number and the product of all others.
    pub divisors: Integers,
    /// The product of the primes below 2^12 that divide each number.
    pub small: Integers,
    /// Products of which each number is a factor of one, for comparing other numbers with these, where
    /// [they are wanted](BatchGcd::with_products).
    pub products: Integers,
}

/// How much of the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Groups of numbers that are compared with all others.
    pub groups: usize,
    /// Groups.
    pub of_groups: usize,
    /// Levels of trees.
    pub levels: usize,
    /// Levels of all trees.
    pub of_levels: usize,
}

impl BatchGcd {
    /// Comparisons by this engine, in a memory of 8 GiB.
    pub fn new(engine: &Engine) -> Self {
        BatchGcd {
            engine: engine.clone(),
            memory: 8 << 30,
            folder: None,
            wants_products: false,
            most_limbs: MOST_LIMBS,
            least_limbs: LEAST_LIMBS,
        }
    }

    /// The same in about so many bytes of memory, beside the numbers and their products.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        BatchGcd { memory, ..self }
    }

    /// The same, which finds [`Common::products`] as well.
    #[must_use]
    pub fn with_products(self) -> Self {
        BatchGcd {
            wants_products: true,
            ..self
        }
    }

    /// The same, which keeps what is done of each group in this folder. A run of the same numbers,
    /// products and memory, on as many devices, takes it up there; what is kept is removed by [`BatchGcd::forget`].
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> Self {
        BatchGcd {
            folder: Some(folder.to_owned()),
            ..self
        }
    }

    /// Compares each number with all others, and with the numbers of which `others` are products.
    ///
    /// # Errors
    /// [`Error::ZeroDivisor`] and [`Error::Negative`] name the first number that is zero or negative;
    /// [`Error::File`]; [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn find(
        &self,
        numbers: &Integers,
        others: &Integers,
        progress: &dyn Fn(Progress),
    ) -> Result<Common, Error> {
        let run = Run::new(self, numbers, others)?;
        let mut key = DefaultHasher::new();
        (numbers.len(), numbers.limbs().len(), run.groups.len()).hash(&mut key);
        rehearsed(
            &self.engine,
            key.finish(),
            |engine| self.rehearse(engine, &run),
            || self.find_in(&run, progress),
        )
    }

    /// Compares the numbers of the first group on another engine.
    fn rehearse(&self, engine: &Engine, of: &Run<'_>) -> Result<(), Error> {
        let none = Integers::new();
        let numbers = match of.groups.len() {
            0 => return Ok(()),
            1 => of.numbers.clone(),
            _ => of.numbers(0)?,
        };
        let how = BatchGcd {
            engine: engine.clone(),
            folder: None,
            ..self.clone()
        };
        let run = Run::new(&how, &numbers, &none)?;
        how.find_in(&run, &|_| ()).map(drop)
    }

    /// [`BatchGcd::find`] of a run.
    fn find_in(&self, run: &Run<'_>, progress: &dyn Fn(Progress)) -> Result<Common, Error> {
        let groups = run.groups.len();
        let levels = |group: &Which| levels(group.len());
        // Up, and where trees are not kept up again; sums; down.
        let ways = if run.keeps_trees { 3 } else { 4 };
        let of_levels = ways * run.groups.iter().map(levels).sum::<usize>();
        let done = Cell::new(Progress {
            groups: 0,
            of_groups: groups,
            levels: 0,
            of_levels,
        });
        let tell = |groups: usize, levels: usize| {
            let Progress {
                groups: before,
                levels: so_far,
                ..
            } = done.get();
            done.set(Progress {
                groups: before + groups,
                levels: (so_far + levels).min(of_levels),
                ..done.get()
            });
            progress(done.get());
        };
        let mut workers = Workers::new(&self.engine, run.by_devices);
        let wants_products = groups > 1 || run.wants_columns;
        let tasks = (0..groups).map(|group| Task { group, tree: None });
        let trees = workers.each(tasks.collect(), &tell, |(worker, engine), task, tell| {
            let group = task.group;
            if run.column(group)?.is_some() {
                return Ok(None);
            }
            let tree = run.tree(engine, group, run.keeps_trees, tell)?;
            if wants_products {
                run.keep_product(worker, group, &tree)?;
            }
            Ok(run.keeps_trees.then_some((worker, tree)))
        })?;
        let tasks = trees.into_iter().enumerate();
        let tasks = tasks.map(|(group, tree)| Task { group, tree });
        let found = workers.each(tasks.collect(), &tell, |(worker, engine), task, tell| {
            let Task { group, tree } = task;
            let found = match run.kept(&name(group, "divisors"))? {
                Some(both) => {
                    let count = run.groups[group].len();
                    [both.slice(0..count)?, both.slice(count..2 * count)?]
                }
                None => run.compare((worker, engine), group, tree.map(|(_, tree)| tree), tell)?,
            };
            tell(1, 0);
            Ok(found)
        })?;
        run.common(&found, self.wants_products)
    }

    /// How many devices compute groups of numbers of so many limbs, each by itself; none where the engine does as a whole.
    fn devices(&self, limbs: usize) -> usize {
        let inner = &self.engine.inner;
        if limbs >= OPENING_LIMBS {
            inner.open_now();
        }
        // Those that are lost count as well: groups are the same as long as the engine lives.
        inner
            .devices
            .members()
            .count()
            .min(limbs / self.least_limbs)
    }

    /// Removes from the folder what [`BatchGcd::find`] has kept of a run that is over.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn forget(&self, numbers: &Integers, others: &Integers) -> Result<(), Error> {
        let run = Run::new(self, numbers, others)?;
        let names =
            (0..run.groups.len()).flat_map(|g| ["product", "divisors"].map(|of| name(g, of)));
        if let Some(folder) = &run.folder {
            folder.remove(names);
        }
        Ok(())
    }
}

/// The name of a group's file.
fn name(group: usize, of: &str) -> String {
    format!("group-{group:05}.{of}")
}

/// Numbers in groups, with what is known of these.
struct Run<'a> {
    /// Whether each device computes groups by itself.
    by_devices: bool,
    /// How many trees there are at one time.
    at_once: usize,
    numbers: &'a Integers,
    others: &'a Integers,
    groups: Vec<Which>,
    memory: usize,
    /// Whether there is memory for the trees of all groups at once.
    keeps_trees: bool,
    /// The bytes that these would leave.
    room: usize,
    folder: Option<Folder>,
    /// Whether products come to the host: they are wanted, or another worker than the one that made them takes them.
    wants_columns: bool,
    /// The products of groups.
    products: Mutex<Vec<Option<Product>>>,
    /// Those of [`JOINED`] groups, by the worker that has them and their number.
    joined: Mutex<HashMap<(usize, usize), Vec<Batch>>>,
}

/// The product of a group.
#[derive(Clone)]
enum Product {
    Column(Integers),
    /// Where the worker of this number has it.
    OfWorker(usize, Batch),
}

impl<'a> Run<'a> {
    fn new(how: &'a BatchGcd, numbers: &'a Integers, others: &'a Integers) -> Result<Self, Error> {
        leaves::refuse_zero(numbers, leaves::extremes(numbers).0)?;
        refuse_negative(numbers)?;
        let devices = how.devices(numbers.limbs().len());
        let at_once = devices.max(1);
        let groups = groups(numbers, how.memory / at_once, how.most_limbs, at_once);
        let limbs = groups.iter().map(|group| limbs_of(numbers, group));
        let work = at_once * bytes(limbs.max().unwrap_or(0), MORE_LEVELS);
        let trees = groups.iter().map(|group| bytes_of_tree(numbers, group));
        let all = trees.sum::<usize>() + work;
        let folder = how.folder.as_deref().map(|path| {
            let mut key = DefaultHasher::new();
            key.write_usize(groups.len());
            for column in [numbers, others] {
                key.write(bytemuck::cast_slice(column.limbs()));
                key.write(bytemuck::cast_slice(column.offsets()));
            }
            Folder::open(path, key.finish())
        });
        let keeps_trees = groups.len() == 1 || all <= how.memory;
        Ok(Run {
            by_devices: devices > 0,
            at_once,
            numbers,
            others,
            memory: how.memory,
            keeps_trees,
            room: how.memory.saturating_sub(all),
            wants_columns: at_once > 1 || how.folder.is_some() || how.wants_products,
            products: Mutex::new(vec![None; groups.len()]),
            joined: Mutex::default(),
            groups,
            folder: folder.transpose()?,
        })
    }

    /// What the folder has by this name.
    fn kept(&self, name: &str) -> Result<Option<Integers>, Error> {
        let kept = self.folder.as_ref().map(|folder| folder.read(name));
        Ok(kept.transpose()?.flatten())
    }

    /// The product of a group, if it is known on the host.
    fn column(&self, group: usize) -> Result<Option<Integers>, Error> {
        if let Some(Product::Column(known)) = &lock(&self.products)[group] {
            return Ok(Some(known.clone()));
        }
        let kept = self.kept(&name(group, "product"))?;
        if let Some(kept) = &kept {
            lock(&self.products)[group] = Some(Product::Column(kept.clone()));
        }
        Ok(kept)
    }

    fn keep_product(&self, worker: usize, group: usize, tree: &ProductTree) -> Result<(), Error> {
        let product = match self.wants_columns {
            true => Product::Column(one_of(tree.product())?),
            false => Product::OfWorker(worker, tree.product_alone()?),
        };
        if let (Some(folder), Product::Column(product)) = (&self.folder, &product) {
            folder.write(&name(group, "product"), product)?;
        }
        lock(&self.products)[group] = Some(product);
        Ok(())
    }

    /// The product of a group for a worker, made again where the one that had it is lost.
    fn factor(
        &self,
        (worker, engine): (usize, &Engine),
        group: usize,
        tell: Tell<'_>,
    ) -> Result<Batch, Error> {
        let known = lock(&self.products)[group].clone();
        match known {
            Some(Product::Column(product)) => one_row(engine, &product),
            Some(Product::OfWorker(of, product)) if of == worker => Ok(product),
            _ => {
                let tree = self.tree(engine, group, false, tell)?;
                self.keep_product(worker, group, &tree)?;
                tree.product_alone()
            }
        }
    }

    /// The product of the products of [`JOINED`] groups for a worker, or several where one would be too wide.
    fn joined(
        &self,
        by: (usize, &Engine),
        set: usize,
        tell: Tell<'_>,
    ) -> Result<Vec<Batch>, Error> {
        let mut all = lock(&self.joined);
        if let Some(known) = all.get(&(by.0, set)) {
            return Ok(known.clone());
        }
        let mut made: Vec<Batch> = Vec::new();
        for group in set * JOINED..self.groups.len().min((set + 1) * JOINED) {
            let factor = self.factor(by, group, tell)?;
            match made.last_mut() {
                Some(last) if last.width() + factor.width() <= MAX_WIDTH => {
                    *last = by.1.mul(last, &factor)?;
                }
                _ => made.push(factor),
            }
        }
        all.insert((by.0, set), made.clone());
        Ok(made)
    }

    /// The numbers of a group.
    fn numbers(&self, group: usize) -> Result<Integers, Error> {
        match &self.groups[group] {
            Which::Range(range) => self.numbers.slice(range.clone()),
            Which::These(indices) => self.numbers.gather(indices),
        }
    }

    /// The tree of a group.
    fn tree(
        &self,
        engine: &Engine,
        group: usize,
        wants_cofactors: bool,
        tell: Tell<'_>,
    ) -> Result<ProductTree, Error> {
        let room = match self.keeps_trees {
            true => self.room / self.groups.len(),
            // What the tree itself leaves of its part.
            false => {
                let limbs = limbs_of(self.numbers, &self.groups[group]);
                let own =
                    bytes_of_tree(self.numbers, &self.groups[group]) + bytes(limbs, MORE_LEVELS);
                (self.memory / self.at_once).saturating_sub(own)
            }
        };
        let wanted = Wanted {
            cofactors: wants_cofactors,
            room,
        };
        ProductTree::watched(engine, &self.numbers(group)?, wanted, &|| tell(0, 1))
    }

    /// The divisors that the numbers of a group have in common with all others, and their small factors.
    fn compare(
        &self,
        by: (usize, &Engine),
        group: usize,
        tree: Option<ProductTree>,
        tell: Tell<'_>,
    ) -> Result<[Integers; 2], Error> {
        let engine = by.1;
        let tree = match tree {
            Some(tree) => tree,
            None => self.tree(engine, group, true, tell)?,
        };
        let (count, own) = (self.groups.len(), group / JOINED);
        let in_set = (own * JOINED..count.min((own + 1) * JOINED)).filter(|&other| other != group);
        let in_set = in_set.map(|other| self.factor(by, other, tell));
        let sets = (0..count.div_ceil(JOINED)).filter(|&set| set != own);
        let sets = sets.flat_map(|set| match self.joined(by, set, tell) {
            Ok(products) => products.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        let given = (0..self.others.len())
            .map(|other| one_row(engine, &self.others.slice(other..other + 1)?));
        let mut others = in_set.chain(sets).chain(given);
        // Nobody waits for the product before the divisors.
        let primes: BigUint = small_primes().limbs().iter().product();
        let primes = engine.batch_from_biguints(&[primes])?;
        let modulo = tree.product_modulo(&primes)?;
        // Most numbers have no small factor, and the host has nothing to do. A device would take longer for one divisor.
        let cpu = Engine::cpu();
        let ones = Integers::from_fn(
            self.groups[group].len(),
            1,
            |_| (1, false),
            |_, limbs| limbs[0] = 1,
        )?;
        let divisors = tree.common_divisors(&mut others, &ones, &|| tell(0, 1))?;
        let small = self.small(engine, group, &cpu, [&modulo, &primes], ones)?;
        if let Some(folder) = &self.folder {
            let both = Integers::concatenate(&[&divisors, &small])?;
            folder.write(&name(group, "divisors"), &both)?;
        }
        Ok([divisors, small])
    }

    /// The product of the small primes that divide each number of a group: of most groups none divides
    /// any, and they are `ones`, which the group's product modulo that of the primes says.
    fn small(
        &self,
        engine: &Engine,
        group: usize,
        cpu: &Engine,
        [modulo, primes]: [&Batch; 2],
        ones: Integers,
    ) -> Result<Integers, Error> {
        let common = cpu.gcd(&one_of(modulo)?, &one_of(primes)?)?;
        match common == Integers::from([1]) {
            true => Ok(ones),
            false => engine.gcd(&self.numbers(group)?, &common),
        }
    }

    /// The results of all groups, in the order of the numbers.
    fn common(&self, found: &[[Integers; 2]], wants_products: bool) -> Result<Common, Error> {
        let groups = if wants_products { self.groups.len() } else { 0 };
        let products = (0..groups).map(|group| self.column(group));
        let products = products
            .collect::<Result<Option<Vec<_>>, _>>()?
            .unwrap_or_default();
        let products = Integers::concatenate(&products.iter().collect::<Vec<_>>())?;
        // Groups of numbers that follow one another follow one another.
        if self
            .groups
            .iter()
            .all(|group| matches!(group, Which::Range(_)))
        {
            let of = |column: usize| match found {
                [one] => Ok(one[column].clone()),
                _ => Integers::concatenate(
                    &found.iter().map(|both| &both[column]).collect::<Vec<_>>(),
                ),
            };
            return Ok(Common {
                divisors: of(0)?,
                small: of(1)?,
                products,
            });
        }
        let mut places = vec![(0, 0); self.numbers.len()];
        for (group, which) in self.groups.iter().enumerate() {
            for (at, index) in which.iter().enumerate() {
                places[index] = (group, at);
            }
        }
        let column = |of: usize| {
            let number = |index: usize| {
                let (group, at): (usize, usize) = places[index];
                found[group][of].magnitude(at)
            };
            Integers::from_fn(
                places.len(),
                1,
                |index| (number(index).len(), false),
                |index, limbs: &mut [Limb]| limbs.copy_from_slice(number(index)),
            )
        };
        Ok(Common {
            divisors: column(0)?,
            small: column(1)?,
            products,
        })
    }
}

/// The one number of a column in a batch.
fn one_row(engine: &Engine, of: &Integers) -> Result<Batch, Error> {
    leaves::rows(engine, of, &Which::all(1), of.length(0).max(1))
}

/// Numbers in groups whose trees have their place in so many bytes, each of numbers of about one length; a multiple of
/// `least` groups, of as many numbers.
fn groups(numbers: &Integers, memory: usize, most_limbs: usize, least: usize) -> Vec<Which> {
    let most = (memory / bytes(1, levels(numbers.len()) + MORE_LEVELS)).min(most_limbs);
    let (limbs, all) = (numbers.limbs().len(), numbers.len());
    if least == 1 && (1..=most).contains(&limbs) {
        return vec![Which::all(all)];
    }
    // All groups as long as one another, about.
    let count = limbs.div_ceil(most.max(1)).max(1).next_multiple_of(least);
    if all > 0 && leaves::are_of_one_class(leaves::extremes(numbers)) {
        let each = all.div_ceil(count);
        let starts = (0..all).step_by(each);
        return starts
            .map(|start| Which::Range(start..all.min(start + each)))
            .collect();
    }
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by_key(|&i| numbers.length(i));
    let most = limbs.div_ceil(count);
    let (mut groups, mut last, mut length) = (Vec::new(), Vec::new(), 0);
    for index in order {
        length += numbers.length(index);
        last.push(index);
        if length >= most {
            groups.push(Which::These(std::mem::take(&mut last)));
            length = 0;
        }
    }
    groups.extend((!last.is_empty()).then_some(Which::These(last)));
    groups
}

/// The levels of a tree of so many numbers.
fn levels(count: usize) -> usize {
    count.max(2).ilog2() as usize
}

/// The bytes of so many levels of so many limbs.
fn bytes(limbs: usize, levels: usize) -> usize {
    BYTES_OF_LIMB * limbs * levels
}

/// The limbs of the numbers of a group.
fn limbs_of(numbers: &Integers, group: &Which) -> usize {
    match group.len() == numbers.len() {
        true => numbers.limbs().len(),
        false => group.iter().map(|i| numbers.length(i)).sum(),
    }
}

/// The bytes that the tree of a group takes, about.
fn bytes_of_tree(numbers: &Integers, group: &Which) -> usize {
    bytes(limbs_of(numbers, group), levels(group.len()))
}

/// The primes below [`SMALL`], by Eratosthenes.
pub(crate) fn small_primes() -> Integers {
    let mut is_prime = vec![true; SMALL as usize];
    is_prime[..2].fill(false);
    for n in 2..1 << (SMALL.ilog2() / 2) {
        if is_prime[n] {
            (n * n..SMALL as usize)
                .step_by(n)
                .for_each(|multiple| is_prime[multiple] = false);
        }
    }
    (0..SMALL).filter(|&n| is_prime[n as usize]).collect()
}

#[cfg(test)]
mod tests;
