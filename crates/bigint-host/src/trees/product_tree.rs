//! Products of many numbers as a tree, and remainders by all of them at once.
//!
//! Let `N_i` be the leaves, `P` the product of the leaves below a node, `l` and `r` its children,
//! and `B` = 2^32.
//!
//! ```text
//! up      P = P_l P_r                                   S = S_l P_r + S_r P_l
//! root    f = x / P, or S / P
//! down    f_l = frac(f P_r)                             f_r = frac(f P_l)
//! leaf    f N_i, rounded to the nearest integer
//! ```
//!
//! With `a_i` for `S` at the leaves, `S` at the root is the sum of `a_i P / N_i`. On the way down
//! the fraction of a node is that of `x / P` for its own `P`: what is taken away is an integer, so
//! that `f N_i` at the leaf is `x mod N_i`. This is the scaled remainder tree [Bernstein 2004]:
//! there is one division, at the root, and a product for each edge.
//!
//! By hand, with leaves 3, 5 and `x` = 7: `f` = 7/15 = .466.., times 5 is 2.33.., its fraction
//! times 3 is 1 = 7 mod 3; and .466.. times 3 is 1.4, .4 times 5 is 2 = 7 mod 5.
//!
//! **The error.** A node whose product has at most `w` limbs keeps `w + 1` limbs of its fraction,
//! rounded down, with `w = w_l + w_r`. So what it has is `f - e B^-(w+1)` with `-2 <= e`, and `e <= 2`
//! at the root. A child multiplies by `P_r < B^(w_r)` and keeps `w_r` limbs less: its error in its
//! own last place is `e P_r / B^(w_r) + 1 < e + 1`. A leaf at depth `d` has `e <= d + 2`, and
//! `f N_i` is off by less than `(d + 2) N_i B^-(w+1) < (d + 2) / B`, which is below 1/2 for any depth
//! that there is: the nearest integer is the remainder, or `N_i` where the remainder is zero and `f`
//! has been rounded down past it. Fractions are modulo 1: one that is rounded up past 1 is one just above 0.
//!
//! **Without the limb more.** Where leaves are not full, a product of so many of them has [`SLACK`](slack::SLACK) bits
//! of zeros on top, and halves of a batch of `2^k` leaves from some level on all have. From there
//! on up a node keeps `w` limbs of its fraction: a child has little of its parent's error, `|e| 2^-SLACK`, and
//! that of a [middle product](crate::device::middle), below 3. The lowest of these nodes give their children
//! `w + 1` limbs, with an error below `2^32 |e| 2^-SLACK + 3 < 4`, and a leaf has one below `d + 4`.
//! So fractions are as long as transforms, which wrap. That of the root has no more limbs than the product has below its zeros, and
//! two more, where its numerator is less than the product: what it lacks is `2 P B^-2 / P` at a leaf at most.
//!
//! **The shape.** Leaves of about one length are a class, and halves of a batch are multiplied with
//! one another; the last number of an odd count stands by itself. What stands by itself, at most
//! one number of each level of each class, is joined in the end, the shortest two first. So
//! no level is padded, and no product is of a long number and a short one unless leaves are.
//!
//! **Cost**, of `n` leaves of `w` limbs: `log2 n` levels with one product of all limbs up, two more
//! for `S`, two of twice as many limbs down. By transforms on the CPU, which share those of factors
//! ([`crate::operations::fractions`]), these are six for `P` and `S` and five down; a device, which keeps those of products, has three down. **Memory**:
//! `w n log2 n` limbs, and for a while up to 18 times `w n`; and up to 12 times `w n` for each level whose transforms are kept.

use crate::operations::forms::Form;
use crate::operations::fractions::bytes_of_transforms;
use crate::trees::leaves::{self, Class as OfOneLength, Which, one_of, rows, trimmed};
use crate::trees::levels::{Level, Store};
use crate::trees::slack::{self, Slack};
use crate::trees::workers::{Others, Tick};
use crate::{Batch, Engine, Error, Integers};
use bigint_core::{LIMB_BITS, Layout, Limb, Operation, Shape};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;
use std::path::Path;
use std::sync::OnceLock;

/// A product of many numbers, with the products of parts of them that it is made of.
///
/// ```
/// use bigint_host::{Engine, Integers, ProductTree};
/// let tree = ProductTree::new(&Engine::auto(), &Integers::from([3, 5, 7]))?;
/// assert_eq!(tree.product().to_biguints()?, [105u32.into()]);
/// assert_eq!(tree.remainders(&Integers::from([52]))?, Integers::from([1, 2, 3]));
/// assert_eq!(tree.reconstruct(&Integers::from([1, 2, 3]))?, Integers::from([52]));
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Debug)]
pub struct ProductTree {
    pub(super) engine: Engine,
    leaves: Integers,
    pub(super) classes: Vec<Class>,
    /// The nodes, those that are not joined from others before those that are. The root is the last.
    pub(super) nodes: Vec<Node>,
    /// Where it is known: its [zeros on top](Self::slack).
    slack: OnceLock<Option<Slack>>,
    store: Store,
}

/// What is wanted of a tree, beside its product.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// The sums that cofactors need, on the way up: both come from the same transforms.
    pub cofactors: bool,
    /// Transforms of products may be kept for the way down in so many bytes.
    pub room: usize,
}

/// Leaves of about one length.
#[derive(Debug)]
pub(super) struct Class {
    /// Which leaf each number of the lowest batch is.
    pub(super) leaves: Which,
    /// The batch of all of them.
    pub(super) numbers: Batch,
    /// From the leaves on.
    pub(super) levels: Vec<Level>,
}

/// A number of the upper part of the tree.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) product: Batch,
    /// The sum of the products of all leaves below but one, where it has been computed on the way up.
    sum: Option<Batch>,
    pub(super) origin: Origin,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// The odd number of a class's level.
    Odd { class: usize, level: usize },
    /// The product of two nodes before it.
    Joined([usize; 2]),
}

/// The numerators of the fractions at the leaves.
enum Numerators<'a> {
    Ones,
    /// Sums of these are below the product times `B^limbs`.
    Each {
        of: &'a Integers,
        limbs: usize,
    },
}

/// The sums of the numbers of a level, on the way up.
enum Sums {
    Unwanted,
    /// One for each leaf.
    Ones,
    Of(Batch),
}

impl Sums {
    /// The last of them, which stands by itself.
    fn last(&self, engine: &Engine) -> Result<Option<Batch>, Error> {
        Ok(match self {
            Sums::Unwanted => None,
            Sums::Ones => Some(engine.batch_from_biguints(&[1u8.into()])?),
            Sums::Of(all) => Some(engine.slice(all, all.len() - 1..all.len())?),
        })
    }
}

impl ProductTree {
    /// The tree of these numbers, none of which is zero or negative; of none, their product is 1.
    ///
    /// # Errors
    /// [`Error::ZeroDivisor`] and [`Error::Negative`] name the first number that is;
    /// [`Error::OutOfMemory`]; [`Error::Width`] where the product has more than 2^33 bits;
    /// [`Error::Device`] on a device.
    pub fn new(engine: &Engine, leaves: &Integers) -> Result<Self, Error> {
        ProductTree::watched(engine, leaves, Wanted::default(), &|| ())
    }

    /// The same, for which levels take so many bytes where they are computed, on a device or not. Others are kept by the host, or
    /// in files of a folder, until they are wanted; the leaves and the product stay.
    ///
    /// # Errors
    /// As for [`ProductTree::new`]; [`Error::File`].
    pub fn within(
        engine: &Engine,
        leaves: &Integers,
        memory: usize,
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let store = Store {
            room: memory,
            folder: folder.map(Path::to_owned),
        };
        ProductTree::stored(engine, leaves, Wanted::default(), store, &|| ())
    }

    /// [`ProductTree::new`], which tells of its levels.
    pub(crate) fn watched(
        engine: &Engine,
        leaves: &Integers,
        wanted: Wanted,
        tick: Tick<'_>,
    ) -> Result<Self, Error> {
        ProductTree::stored(engine, leaves, wanted, Store::ALL, tick)
    }

    fn stored(
        engine: &Engine,
        leaves: &Integers,
        wanted: Wanted,
        store: Store,
        tick: Tick<'_>,
    ) -> Result<Self, Error> {
        let extremes = leaves::extremes(leaves);
        let classes = leaves::classes(leaves, extremes)?;
        refuse_negative(leaves)?;
        let mut tree = ProductTree {
            engine: engine.clone(),
            leaves: leaves.clone(),
            classes: Vec::new(),
            nodes: Vec::new(),
            slack: OnceLock::new(),
            store,
        };
        // Shorter leaves have sums that may be wider than their products.
        let is_long = extremes.0 > 2;
        for (class, width) in classes {
            let has_sums = wanted.cofactors && is_long;
            let sums = if has_sums { Sums::Ones } else { Sums::Unwanted };
            tree.add_class((class, width), sums, wanted.room, tick)?;
        }
        tree.join()?;
        if wanted.cofactors {
            tree.slack();
        }
        Ok(tree)
    }

    /// Adds the levels of leaves of about one length.
    fn add_class(
        &mut self,
        (leaves, width): OfOneLength,
        mut sums: Sums,
        room: usize,
        tick: Tick<'_>,
    ) -> Result<(), Error> {
        let engine = self.engine.clone();
        let numbers = rows(&engine, &self.leaves, &leaves, width)?;
        let (mut levels, mut all) = (Vec::new(), numbers.clone());
        loop {
            let half = all.len() / 2;
            if all.len() % 2 == 1 {
                let class = self.classes.len();
                let level = levels.len();
                self.nodes.push(Node {
                    product: engine.slice(&all, 2 * half..all.len())?,
                    sum: sums.last(&engine)?,
                    origin: Origin::Odd { class, level },
                });
            }
            if half == 0 {
                break;
            }
            let halves = [
                engine.slice(&all, 0..half)?,
                engine.slice(&all, half..2 * half)?,
            ];
            if bytes_of_transforms(numbers.shape().limbs(), half.ilog2()) <= room {
                engine.keep_transforms([&halves[0], &halves[1]])?;
            }
            let products;
            (sums, products) = self.up([&halves[0], &halves[1]], sums, 0, true)?;
            all = products.expect("they are wanted");
            levels.push(Level::Here(halves));
            let others = self.classes.iter_mut().flat_map(|class| &mut class.levels);
            self.store.put_away(others.chain(&mut levels))?;
            tick();
            if matches!(sums, Sums::Of(_)) {
                tick();
            }
        }
        self.classes.push(Class {
            leaves,
            numbers,
            levels,
        });
        Ok(())
    }

    /// The sums of the halves of a level, `more` limbs wider than products, and the products where they are wanted.
    fn up(
        &self,
        [low, high]: [&Batch; 2],
        sums: Sums,
        more: usize,
        wants_products: bool,
    ) -> Result<(Sums, Option<Batch>), Error> {
        let engine = &self.engine;
        let width = low.width() + high.width() + more;
        let products = || wants_products.then(|| engine.mul(low, high)).transpose();
        Ok(match sums {
            Sums::Unwanted => (Sums::Unwanted, products()?),
            Sums::Ones => {
                let sum = engine.first_of(Operation::Add, Form::Modulo(width), &[low, high])?;
                (Sums::Of(sum), products()?)
            }
            Sums::Of(all) => {
                let half = low.len();
                let halves = [0..half, half..2 * half].map(|range| engine.slice(&all, range));
                drop(all);
                let [l, h] = halves;
                let fractions = [(&l?, low), (&h?, high)];
                let (sum, product) = engine.sum_of_fractions(fractions, width, wants_products)?;
                (Sums::Of(sum), product)
            }
        })
    }

    /// Joins what stands by itself, the shortest two first.
    fn join(&mut self) -> Result<(), Error> {
        let nodes = self.nodes.iter().enumerate();
        let mut shortest: BinaryHeap<Reverse<(usize, usize)>> = nodes
            .map(|(i, node)| Reverse((node.product.width(), i)))
            .collect();
        while let (Some(Reverse((_, a))), Some(&Reverse((_, b)))) =
            (shortest.pop(), shortest.peek())
        {
            shortest.pop();
            let [x, y] = [a, b].map(|node| &self.nodes[node]);
            let width = x.product.width() + y.product.width();
            let (sum, product) = match (&x.sum, &y.sum) {
                (Some(s), Some(r)) => {
                    let fractions = [(s, &x.product), (r, &y.product)];
                    let made = self.engine.sum_of_fractions(fractions, width, true)?;
                    (Some(made.0), made.1.expect("it is wanted"))
                }
                _ => (None, self.engine.mul(&x.product, &y.product)?),
            };
            shortest.push(Reverse((width, self.nodes.len())));
            self.nodes.push(Node {
                product,
                sum,
                origin: Origin::Joined([a, b]),
            });
        }
        if self.nodes.is_empty() {
            let product = self.engine.batch_from_biguints(&[1u8.into()])?;
            let origin = Origin::Joined([0, 0]);
            self.nodes.push(Node {
                product,
                sum: None,
                origin,
            });
        }
        Ok(())
    }

    /// How many leaves there are.
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// The product of all leaves, one number, as wide as all of them together.
    pub fn product(&self) -> &Batch {
        &self.nodes[self.nodes.len() - 1].product
    }

    /// The same without zeros on top, but for few.
    pub(crate) fn product_alone(&self) -> Result<Batch, Error> {
        let bits = self.slack().and_then(|slack| slack.bits);
        let bits = bits.map_or_else(
            || Ok(self.engine.lengths(self.product())?[0]),
            Ok::<_, Error>,
        )?;
        let limbs = bits.div_ceil(LIMB_BITS as u64) as usize;
        self.engine.limbs_from(self.product(), 0, limbs)
    }

    /// The one number of `x` modulo each leaf.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where `x` is not one number; [`Error::Negative`];
    /// [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn remainders(&self, x: &Integers) -> Result<Integers, Error> {
        if x.len() != 1 {
            return Err(Error::CountMismatch { a: x.len(), b: 1 });
        }
        refuse_negative(x)?;
        let x = rows(&self.engine, x, &Which::all(1), x.length(0).max(1))?;
        let remainders = self.remainders_of(&x, false, &|| ())?;
        self.in_order(&remainders)
    }

    /// The product of all other leaves modulo each leaf.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn cofactors(&self) -> Result<Integers, Error> {
        let remainders = self.cofactors_by_class(&mut iter::empty(), &|| ())?;
        self.in_order(&remainders)
    }

    /// The sum of `a_i P / N_i`, for `P` the product of the leaves `N_i`: the numerator of the sum of
    /// the fractions `a_i / N_i`.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where there are not as many as leaves; [`Error::Negative`];
    /// [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn sum(&self, a: &Integers) -> Result<Integers, Error> {
        self.refuse_others(a)?;
        let more = |i| (a.length(i) + 1).saturating_sub(self.leaves.length(i));
        let limbs = 1 + (0..a.len()).map(more).max().unwrap_or(0);
        one_of(&self.sum_of(&Numerators::Each { of: a, limbs }, &|| ())?)
    }

    /// The one number below the product that is each of `residues` modulo its leaf, for leaves no
    /// two of which have a common divisor (the Chinese remainder theorem).
    ///
    /// # Errors
    /// [`Error::NotInvertible`] names the first leaf that has a common divisor with another;
    /// otherwise as [`ProductTree::sum`].
    pub fn reconstruct(&self, residues: &Integers) -> Result<Integers, Error> {
        self.refuse_others(residues)?;
        let mut numerators = Vec::new();
        let cofactors = self.cofactors_by_class(&mut iter::empty(), &|| ())?;
        for (class, cofactors) in self.classes.iter().zip(cofactors) {
            let inverses = self.engine.inv_mod(&cofactors, &class.numbers);
            let inverses = inverses.map_err(|error| match error {
                Error::NotInvertible { index } => Error::NotInvertible {
                    index: class.leaves.at(index),
                },
                other => other,
            })?;
            let longest = class.leaves.iter().map(|i| residues.length(i)).max();
            let width = longest.unwrap_or(1).max(1);
            let given = rows(&self.engine, residues, &class.leaves, width)?;
            let product = self.engine.mul(&given, &inverses)?;
            numerators.push(self.engine.rem(&product, &class.numbers)?);
        }
        let of = &self.in_order(&numerators)?;
        let sum = self.sum_of(&Numerators::Each { of, limbs: 1 }, &|| ())?;
        one_of(&self.engine.rem(&sum, self.product())?)
    }

    /// The products of all other leaves, times `others`, modulo each leaf; or the leaf itself for 0.
    pub(super) fn cofactors_by_class(
        &self,
        others: Others<'_>,
        tick: Tick<'_>,
    ) -> Result<Vec<Batch>, Error> {
        let (engine, root) = (&self.engine, self.product());
        let mut sum = match self.nodes.last().and_then(|root| root.sum.clone()) {
            Some(sum) => sum,
            None => self.sum_of(&Numerators::Ones, tick)?,
        };
        // As `sum_of` has it.
        let is_less = sum.width() == root.width();
        let mut others = others.peekable();
        if others.peek().is_none() {
            return self.remainders_of(&sum, is_less, tick);
        }
        if !is_less {
            sum = engine.rem(&sum, root)?;
        }
        let bits = self.slack().and_then(|slack| slack.bits);
        let prepared = engine.prepared(root, bits)?;
        if let Some(by) = &prepared {
            sum = by.shifted(&sum)?;
        }
        for other in others {
            let other = other?;
            sum = match &prepared {
                Some(by) => by.product_modulo(&sum, &other)?,
                None => engine.rem(&engine.mul(&sum, &engine.rem(&other, root)?)?, root)?,
            };
        }
        match prepared {
            Some(by) => self.parts_of(by.fraction(&sum, self.limbs_of_root())?, tick),
            None => self.remainders_of(&sum, false, tick),
        }
    }

    /// The sum of `a_i P / N_i`.
    fn sum_of(&self, a: &Numerators<'_>, tick: Tick<'_>) -> Result<Batch, Error> {
        let engine = &self.engine;
        let narrowest = self.classes.iter().map(|class| class.numbers.width()).min();
        // A sum of up to 2^32 fractions 1 / N_i is below 1 where leaves have three limbs, and then its
        // numerator is no wider than its denominator.
        let more = match a {
            Numerators::Ones if narrowest > Some(2) => 0,
            Numerators::Ones => 1,
            Numerators::Each { limbs, .. } => *limbs,
        };
        let mut sums: Vec<Option<Batch>> = self.nodes.iter().map(|_| None).collect();
        for (index, class) in self.classes.iter().enumerate() {
            let mut all = match a {
                Numerators::Ones => Sums::Ones,
                Numerators::Each { of, .. } => {
                    let width = class.numbers.width() + more;
                    Sums::Of(rows(engine, of, &class.leaves, width)?)
                }
            };
            for level in 0..=class.levels.len() {
                let is_here = |origin| matches!(origin, Origin::Odd { class, level: at } if class == index && at == level);
                if let Some(odd) = self.nodes.iter().position(|node| is_here(node.origin)) {
                    sums[odd] = all.last(engine)?;
                }
                let Some(level) = class.levels.get(level) else {
                    break;
                };
                let halves = level.halves(engine)?;
                (all, _) = self.up(halves.each_ref(), all, more, false)?;
                tick();
            }
        }
        for at in 0..self.nodes.len() {
            if let (Origin::Joined([i, j]), None) = (self.nodes[at].origin, &sums[at]) {
                let [a, b] = [i, j].map(|child| sums[child].take());
                sums[at] = Some(match (a, b) {
                    (Some(a), Some(b)) => {
                        let [p, q] = [i, j].map(|child| &self.nodes[child].product);
                        let width = p.width() + q.width() + more;
                        engine.sum_of_fractions([(&a, p), (&b, q)], width, false)?.0
                    }
                    _ => engine.batch_from_biguints(&[0u8.into()])?,
                });
            }
        }
        Ok(sums.pop().flatten().expect("the root has a sum"))
    }

    /// `x` modulo each leaf, or the leaf itself for 0, class by class; `x` may be known to be less than the product.
    fn remainders_of(&self, x: &Batch, is_less: bool, tick: Tick<'_>) -> Result<Vec<Batch>, Error> {
        let engine = &self.engine;
        let root = self.product();
        let width = root.width();
        let x = match x.width() > width {
            true => &engine.rem(x, root)?,
            false => x,
        };
        let bits = self
            .slack()
            .filter(|_| is_less)
            .and_then(|slack| slack.bits);
        let f = engine.fraction_of(x, root, self.limbs_of_root(), bits)?;
        self.parts_of(f, tick)
    }

    /// The limbs that the root keeps of its fraction.
    fn limbs_of_root(&self) -> usize {
        self.product().width() + usize::from(self.slack().is_none())
    }

    /// The remainders that have this fraction of the root's, class by class.
    fn parts_of(&self, f: Batch, tick: Tick<'_>) -> Result<Vec<Batch>, Error> {
        let engine = &self.engine;
        let slack_from = self.slack().map(|slack| slack.from);
        let mut fractions: Vec<Option<Batch>> = self.nodes.iter().map(|_| None).collect();
        if let (Some(root), false) = (fractions.last_mut(), self.is_empty()) {
            *root = Some(f);
        }
        for at in (0..self.nodes.len()).rev() {
            if let (Origin::Joined([i, j]), Some(f)) = (self.nodes[at].origin, &fractions[at]) {
                let [l, h] = [i, j].map(|child| &self.nodes[child].product);
                let limbs = [l, h].map(|child| child.width() + 1);
                let parts = engine.halves_of_fraction(f, [h, l], limbs)?;
                fractions[at] = None;
                [fractions[i], fractions[j]] = parts.map(Some);
            }
        }
        let classes = self.classes.iter().enumerate();
        let mut down = |(index, class): (usize, &Class)| {
            let slack_from = slack_from.unwrap_or(class.levels.len());
            self.class_down((index, class), slack_from, &mut fractions, tick)
        };
        classes.map(&mut down).collect()
    }

    /// The remainders of a class from the fractions of what stands by itself. Numbers of levels above
    /// `slack_from` need no limb more.
    fn class_down(
        &self,
        (index, class): (usize, &Class),
        slack_from: usize,
        fractions: &mut [Option<Batch>],
        tick: Tick<'_>,
    ) -> Result<Batch, Error> {
        let engine = &self.engine;
        let mut all: Option<Batch> = None;
        for level in (0..=class.levels.len()).rev() {
            let mut parts = Vec::new();
            if let (Some(f), Some(halves)) = (all.take(), class.levels.get(level)) {
                let halves = halves.halves(engine)?;
                let [low, high] = &*halves;
                let width = low.width() + usize::from(level <= slack_from);
                parts.extend(engine.halves_of_fraction(&f, [high, low], [width; 2])?);
                tick();
            }
            let is_here = |origin| matches!(origin, Origin::Odd { class, level: at } if class == index && at == level);
            let odd = self.nodes.iter().position(|node| is_here(node.origin));
            parts.extend(odd.and_then(|odd| fractions[odd].take()));
            all = Some(engine.concatenate(&parts.iter().collect::<Vec<_>>())?);
        }
        // Half of the last place more, so that what is cut off is rounded.
        let f = all.expect("a class has leaves");
        let (width, k) = (class.numbers.width(), f.width());
        let mut half = vec![0; k];
        half[k - 1] = 1 << (LIMB_BITS - 1);
        let half = engine.batch_from_limbs(half, Shape::new(1, k, Layout::Contiguous))?;
        let of = |operation, a, b| engine.first_of(operation, Form::Modulo(k + width), &[a, b]);
        let product = of(Operation::Mul, &f, &class.numbers)?;
        engine.limbs_from(&of(Operation::Add, &product, &half)?, k, width)
    }

    /// What zeros on top there are, where the tree is one class without odd numbers and levels above some have enough.
    fn slack(&self) -> Option<Slack> {
        let ([class], [_]) = (&self.classes[..], &self.nodes[..]) else {
            return None;
        };
        let (width, levels) = (class.numbers.width(), class.levels.len());
        let find = || slack::lowest_level(&self.leaves, &class.leaves, width, levels);
        *self.slack.get_or_init(find)
    }

    /// Remainders of all classes in the order of the leaves, 0 in place of the leaf.
    fn in_order(&self, by_class: &[Batch]) -> Result<Integers, Error> {
        let rows = by_class.iter().map(Batch::rows);
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let mut places = vec![(0, 0); self.len()];
        for (index, class) in self.classes.iter().enumerate() {
            for (row, leaf) in class.leaves.iter().enumerate() {
                places[leaf] = (index, row);
            }
        }
        let number = |leaf: usize| -> &[Limb] {
            let (class, row) = places[leaf];
            let width = by_class[class].width();
            let number = trimmed(&rows[class][row * width..][..width]);
            match number == self.leaves.magnitude(leaf) {
                true => &[],
                false => number,
            }
        };
        let mean = rows.iter().map(|rows| rows.len()).sum::<usize>() / self.len().max(1);
        let length = |leaf| (number(leaf).len(), false);
        let fill = |leaf, limbs: &mut [Limb]| limbs.copy_from_slice(number(leaf));
        Integers::from_fn(self.len(), mean, length, fill)
    }

    /// Refuses what is not one number that is not negative for each leaf.
    fn refuse_others(&self, a: &Integers) -> Result<(), Error> {
        if a.len() != self.len() {
            let (a, b) = (a.len(), self.len());
            return Err(Error::CountMismatch { a, b });
        }
        refuse_negative(a)
    }
}

/// Refuses numbers that are negative.
pub(super) fn refuse_negative(a: &Integers) -> Result<(), Error> {
    if a.signs().iter().all(|&signs| signs == 0) {
        return Ok(());
    }
    match (0..a.len()).find(|&index| a.is_negative(index)) {
        Some(index) => Err(Error::Negative {
            operation: Operation::Mul,
            operand: "a",
            index,
        }),
        None => Ok(()),
    }
}
