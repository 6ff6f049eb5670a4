//! Lists of computations on numbers of any lengths.
//!
//! Every computation has an operation and two operands of its own; an engine computes
//! batches, of one operation and one width. So:
//!
//! 1. [`reserved`]: each computation is given the limbs that its result may need, by the
//!    rules of `bigint-core`, in one place for all results.
//! 2. [`bins`]: computations of one operation and alike lengths go into one bin, operands
//!    padded by a quarter at most; a bin that is large is cut, the costly come first.
//! 3. [`Engine::compute_bin`]: a bin is a batch that the engine computes as any other. On
//!    the CPU, threads take bins from the list until it is empty, and one that has a wide
//!    number helps the others with it; on a device bins follow one another.
//! 4. [`compact`]: results move together.
//!
//! Where a device has kernels whose warps take computations from a pool by an atomic counter
//! (Langer), they replace the second step and the third: they take the list as it is, and
//! the places of the first.

use crate::integers::trimmed;
use crate::plan::padded;
use crate::{BackEnd, Engine, Error, Integers, SignedBatch, limbs};
use bigint_core::operation::{Signs, Width};
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::{collect, map, share, threads};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Limbs that the operands of one batch may take, unless it is a single computation: for
/// the CPU so few that threads have bins to choose from, for a device so many that a launch
/// is worth it.
const MOST_LIMBS: [usize; 2] = [1 << 18, 1 << 24];

/// Results that a thread brings to their places at a time.
const MOVED: usize = 1 << 10;

/// One computation of a list: an operation on two of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Computation {
    /// What is computed: [`Computation::takes`] says what may be.
    pub operation: Operation,
    /// The index of the first operand.
    pub a: usize,
    /// The index of the second operand.
    pub b: usize,
}

impl Computation {
    /// Whether lists may have this operation: it has two operands, says what it is of signed
    /// numbers, and its result's length follows from theirs. `+ - * / %` do, `gcd`, `lcm`,
    /// `min`, `max`, `compare`, `inv_mod`, `jacobi` and `shr`; of more than one result it is
    /// the first.
    pub fn takes(operation: Operation) -> bool {
        let declared = operation.declaration();
        declared.operands.len() == 2
            && declared.signs != Signs::Natural
            && !matches!(declared.exact[0], Width::Cut(_))
    }
}

impl Engine {
    /// Computes a list: result `i` is that of computation `i`, exact. What an operation is
    /// of signed numbers is what it is in [`Engine::signed_compute`]: a quotient is rounded
    /// down, an order is -1, 0 or 1.
    ///
    /// Lengths and operations may be mixed freely, and a number may be an operand of any
    /// number of computations.
    ///
    /// Not there yet: bins go to the devices one after another, and their operands go there
    /// with each; its results must fit into the host's memory.
    ///
    /// ```
    /// use bigint_host::{BigInt, Computation, Engine, Integers, Operation};
    /// let engine = Engine::auto();
    /// let numbers = Integers::from_bigints(&[BigInt::from(-7), BigInt::from(1) << 100])?;
    /// let list = [(Operation::Add, 0, 1), (Operation::Mul, 0, 0), (Operation::Div, 1, 0)]
    ///     .map(|(operation, a, b)| Computation { operation, a, b });
    /// let results = engine.run(&numbers, &list)?;
    /// assert_eq!(results.get(0), Some((BigInt::from(1) << 100) - 7));
    /// assert_eq!(results.magnitude(1), [49]);
    /// assert!(results.is_negative(2));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] and [`Error::NotInLists`] before anything is computed;
    /// [`Error::ZeroDivisor`] and the like name the first computation of some bin that has
    /// no value; [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn run(
        &self,
        integers: &Integers,
        computations: &[Computation],
    ) -> Result<Integers, Error> {
        check(integers, computations)?;
        let length = |i: usize| integers.magnitude(i).len();
        let sizes = computations
            .iter()
            .map(|c| reserved(c.operation, length(c.a), length(c.b)));
        let sizes: Vec<usize> = collect(sizes)?;
        let total = sizes
            .iter()
            .try_fold(0, |sum: usize, &n| sum.checked_add(n));
        let mut limbs = bigint_cpu::zeroed::<Limb>(total.unwrap_or(usize::MAX))?;
        let mut made = collect(sizes.iter().map(|_| Made::default()))?;

        let mut rest = &mut limbs[..];
        let slots = sizes.iter().zip(&mut made).map(|(&size, made)| {
            let (limbs, others) = std::mem::take(&mut rest).split_at_mut(size);
            rest = others;
            Some(Slot { limbs, made })
        });
        let mut slots: Vec<Option<Slot<'_>>> = collect(slots)?;
        let (most, threads) = match self.back_end() {
            BackEnd::Cpu => (MOST_LIMBS[0], threads()),
            BackEnd::Cuda(_) => (MOST_LIMBS[1], 1),
        };
        let bins = bins(integers, computations, most).into_iter().map(|bin| {
            let own = bin.of.iter().map(|entry| slots[entry.of].take());
            let own = own.flatten().collect();
            (bin, own)
        });
        let computed = map(bins, threads, |(bin, slots)| {
            self.compute_bin(integers, &bin, slots)
                .map_err(|error| error.renumbered(|index| bin.of[index].of))
        });
        computed.into_iter().collect::<Result<(), Error>>()?;
        compact(limbs, &sizes, &made)
    }

    /// Computes a bin, and brings each result to its place.
    fn compute_bin(
        &self,
        integers: &Integers,
        bin: &Bin,
        mut slots: Vec<Slot<'_>>,
    ) -> Result<(), Error> {
        let Key {
            operation,
            widths,
            is_of_one,
        } = bin.key;
        let count = bin.of.len();
        let batch = |of: fn(&Entry) -> usize, width: usize| {
            self.batch_of_integers(integers, count, width, |i| of(&bin.of[i]))
        };
        let a = batch(|entry| entry.a, widths[0])?;
        let result = match is_of_one {
            true => self.signed_compute(operation, &[&a, &a])?,
            false => {
                let b = batch(|entry| entry.b, widths[1])?;
                self.signed_compute(operation, &[&a, &b])?
            }
        };
        let (rows, negative) = (result.magnitude().rows()?, result.negative()?);
        let width = result.magnitude().width();
        let parts = slots.chunks_mut(MOVED).enumerate();
        share(parts, threads(), |(part, slots)| {
            for (i, slot) in (part * MOVED..).zip(slots) {
                let number = trimmed(&rows[i * width..][..width]);
                slot.limbs[..number.len()].copy_from_slice(number);
                *slot.made = Made {
                    length: number.len(),
                    negative: negative[i],
                };
            }
        });
        Ok(())
    }

    /// A batch of `count` of these numbers, each padded to `width` limbs: number `index(i)`
    /// is the `i`-th.
    pub(crate) fn batch_of_integers(
        &self,
        integers: &Integers,
        count: usize,
        width: usize,
        index: impl Fn(usize) -> usize + Sync,
    ) -> Result<SignedBatch, Error> {
        let shape = Shape::new(count, width, Layout::Contiguous);
        let limbs = limbs::build(&self.inner.pool, shape, |i, row| {
            let magnitude = integers.magnitude(index(i));
            let (number, above) = row.split_at_mut(magnitude.len());
            number.copy_from_slice(magnitude);
            above.fill(0);
        })?;
        let negative = collect((0..count).map(|i| integers.is_negative(index(i))))?;
        SignedBatch::new(self.inner.admit(shape, limbs)?, &negative)
    }
}

/// The place of a result.
struct Slot<'a> {
    limbs: &'a mut [Limb],
    made: &'a mut Made,
}

/// What came of a computation: as many limbs of its place.
#[derive(Clone, Copy, Default)]
struct Made {
    length: usize,
    negative: bool,
}

/// What the computations of a bin have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    operation: Operation,
    /// Limbs that the operands are padded to.
    widths: [usize; 2],
    /// Whether both operands are one number, whose product is a square.
    is_of_one: bool,
}

/// Computation `of` of the list, its operands in the order that suits the bin.
struct Entry {
    of: usize,
    a: usize,
    b: usize,
}

struct Bin {
    key: Key,
    of: Vec<Entry>,
}

/// Refuses what is no computation.
fn check(integers: &Integers, computations: &[Computation]) -> Result<(), Error> {
    let count = integers.len();
    for &Computation { operation, a, b } in computations {
        if a.max(b) >= count {
            let index = a.max(b);
            return Err(Error::NoSuchNumber { index, count });
        }
        if !Computation::takes(operation) {
            return Err(Error::NotInLists { operation });
        }
    }
    Ok(())
}

/// The limbs that a result may need, of operands of `n` and `m` limbs.
fn reserved(operation: Operation, n: usize, m: usize) -> usize {
    match operation.declaration().signs {
        // Magnitudes are added where signs are not as they are in a natural difference.
        Signs::Sum | Signs::Difference => n.max(m) + 1,
        // What is left has the divisor's sign, and may be all but as long.
        Signs::Remainder => m,
        _ => operation.exact_width(&[n, m]),
    }
}

/// The computations in bins of at most `most` limbs of operands, the costliest first: who
/// has taken the last one is soon done.
fn bins(integers: &Integers, computations: &[Computation], most: usize) -> Vec<Bin> {
    let mut bins: Vec<Bin> = Vec::new();
    let mut open: HashMap<Key, usize> = HashMap::new();
    for (of, &Computation { operation, a, b }) in computations.iter().enumerate() {
        let length = |i: usize| integers.magnitude(i).len();
        let (a, b) = match commutes(operation) && length(a) < length(b) {
            true => (b, a),
            false => (a, b),
        };
        let widths = match is_linear(operation) {
            // The longer operand costs what both do.
            true => [padded(length(a).max(length(b))); 2],
            false => [a, b].map(|i| padded(length(i))),
        };
        let key = Key {
            operation,
            widths,
            is_of_one: a == b,
        };
        let is_full = |bin: &Bin| (bin.of.len() + 1) * (widths[0] + widths[1]) > most;
        let at = match open.get(&key) {
            Some(&at) if !is_full(&bins[at]) => at,
            _ => {
                bins.push(Bin {
                    key,
                    of: Vec::new(),
                });
                open.insert(key, bins.len() - 1);
                bins.len() - 1
            }
        };
        bins[at].of.push(Entry { of, a, b });
    }
    bins.sort_by_key(|bin| Reverse(cost(bin)));
    bins
}

/// Whether operands may change places.
fn commutes(operation: Operation) -> bool {
    matches!(operation, Operation::Mul | Operation::Gcd | Operation::Lcm)
}

/// Whether it costs a pass over the operands.
fn is_linear(operation: Operation) -> bool {
    operation.has(Algorithm::CarryLookahead) || operation.has(Algorithm::Scan)
}

/// About what a bin costs, in products of limbs.
fn cost(bin: &Bin) -> usize {
    let [n, m] = bin.key.widths;
    let one = match is_linear(bin.key.operation) {
        true => n,
        false => n.saturating_mul(m),
    };
    bin.of.len().saturating_mul(one)
}

/// The results without what was reserved in vain.
fn compact(limbs: Vec<Limb>, sizes: &[usize], made: &[Made]) -> Result<Integers, Error> {
    let mut results = Integers::within(limbs, made.len())?;
    let mut from = 0;
    for (&size, made) in sizes.iter().zip(made) {
        let to = results.place_of_next();
        results
            .limbs_mut()
            .copy_within(from..from + made.length, to);
        results.end_number(made.negative, made.length);
        from += size;
    }
    let end = results.place_of_next();
    results.limbs_mut().truncate(end);
    results.limbs_mut().shrink_to_fit();
    Ok(results)
}
