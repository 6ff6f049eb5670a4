//! Lists of computations on numbers of any lengths.
//!
//! Every computation has an operation and two operands of its own; an engine computes
//! batches, of one operation and one width. So:
//!
//! 1. [`List::new`] (`bins.rs`): computations of one operation and alike lengths go into one bin,
//!    operands padded by a quarter at most; a bin that is large is cut, the costly come first.
//!    For a device, bins join where padding more costs less than another launch, and many sums
//!    and differences lie one behind the other, whatever their lengths (`segments.rs`).
//! 2. [`Engine::staged`] and [`Engine::computed`]: a bin is a batch that the engine computes
//!    as any other. On the CPU, threads take bins from the list until it is empty, and one
//!    that has a wide number helps the others with it; a device is given bins before those
//!    that it has are done.
//! 3. [`List::gathered`]: one pass in the list's order puts results one behind the other.
//!    What costs the CPU no more than such a pass (sums, differences, the lesser, the
//!    greater and orders) is computed in it, from where the numbers stand, and is in no bin.
//!
//! What a kernel would gain whose warps take computations from a pool by an atomic counter
//! [Langer 2015], docs/papers.md says.

use crate::common::limbs;
use crate::common::pool::Pool;
use crate::device::gather::REPEATED;
use crate::expression::grouping::InBin;
use crate::integers::bins::{Bin, Kind, List, Sums};
use crate::integers::list::Computation;
use crate::integers::passing::put;
use crate::integers::segments;
use crate::operations::forms::Form;
use crate::values::column::Column;
use crate::{BackEnd, Batch, Engine, Error, Integers, Options, SignedBatch};
use bigint_core::operation::Signs;
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::{collect, map, threads};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, mpsc};
use std::thread;

/// Results of bins that wait on a device to be fetched.
const MOST_WAITING: usize = 2;

/// The list's numbers on a device, by the width that they are padded to; numbers that are wider stand
/// there as zeros.
type Shared = BTreeMap<usize, Batch>;

impl Engine {
    /// Computes a list: result `i` is that of computation `i`, exact. Of signed numbers an
    /// operation is what it is of a [`SignedBatch`](crate::SignedBatch): a quotient is rounded
    /// down, an order is -1, 0 or 1.
    ///
    /// Lengths and operations may be mixed freely, and a number may be an operand of any
    /// number of computations.
    ///
    /// Numbers that are operands of many computations go to each device once, and are gathered
    /// there. Results must fit into the host's memory.
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
    /// [`Error::ZeroDivisor`] and the like name the first computation that has no value; [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn run(
        &self,
        integers: &Integers,
        computations: &[Computation],
    ) -> Result<Integers, Error> {
        let made = self.ran(integers, computations);
        Error::of_first_row(made, |count| self.ran(integers, &computations[..count]))
    }

    /// The same, with an error that may name any computation that has no value.
    fn ran(&self, integers: &Integers, computations: &[Computation]) -> Result<Integers, Error> {
        // Who forces an algorithm wants it to compute.
        let is_free = self.options.algorithm == Algorithm::Auto;
        self.inner.wake_for_list();
        if self.inner.are_devices_asleep() {
            // Its bins are computed at one time, by the threads of a pool.
            let cpu = Engine {
                inner: Arc::new(self.inner.on_cpu()),
                options: self.options,
            };
            return self.inner.timed(|| cpu.ran(integers, computations));
        }
        let (list, made) = match self.inner.back_end() {
            BackEnd::Cpu => {
                let sums = if is_free { Sums::Passing } else { Sums::Binned };
                let list = List::new(integers, computations, BackEnd::Cpu, sums)?;
                let made = map(&list.bins, threads(), |bin| {
                    let staged = self.staged(&list, bin, &mut Shared::new());
                    let made = staged.and_then(|staged| Made::of(self.computed(&staged)?));
                    made.map_err(|error| list.renumbered(error, bin))
                });
                (list, made.into_iter().collect::<Result<Vec<_>, _>>()?)
            }
            device => {
                // Numbers that are operands of many are gathered there, and segments are not.
                let most = (!self.gathers(integers, computations.len())).then_some(segments::MOVED);
                let list = self.list_on_device(integers, computations, device, most)?;
                let limbs = |bin: &Bin| bin.rows.saturating_mul(bin.kind.widths[0]);
                let limbs = list.bins.iter().map(limbs).sum();
                let mut shared = Shared::new();
                let made = self.one_after_another(&list.bins, limbs, |bin| {
                    let staged = self.staged(&list, bin, &mut shared);
                    let result = staged.and_then(|staged| self.computed(&staged));
                    let result = result.map_err(|error| list.renumbered(error, bin))?;
                    Ok(vec![result])
                })?;
                let made = made.into_iter().flatten().collect();
                (list, made)
            }
        };
        list.gathered(made, &self.inner.pool)
    }

    /// The results of bins that have so many limbs together, in the bins' order: while one thread
    /// fetches results from a device, this one brings it the next bins.
    pub(crate) fn one_after_another<B>(
        &self,
        bins: &[B],
        limbs: usize,
        mut results: impl FnMut(&B) -> Result<Vec<SignedBatch>, Error>,
    ) -> Result<Vec<Vec<Made>>, Error> {
        let least = self.inner.tuning().devices.fetched_apart_limbs;
        if limbs < least || self.inner.back_end() == BackEnd::Cpu {
            // So little is back sooner than a thread has begun to wait for it.
            let results = bins.iter().map(results).collect::<Result<Vec<_>, _>>()?;
            return results.into_iter().map(Made::all).collect();
        }
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(MOST_WAITING);
            let fetched = thread::Builder::new().spawn_scoped(scope, || {
                let made = receiver.into_iter().map(Made::all);
                made.collect::<Result<Vec<_>, _>>()
            });
            let Ok(fetched) = fetched else {
                return bins.iter().map(|bin| Made::all(results(bin)?)).collect();
            };
            for bin in bins {
                // Where nobody takes it, fetching one has failed.
                if sender.send(results(bin)?).is_err() {
                    break;
                }
            }
            drop(sender);
            fetched.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Puts the operands of a list where the engine computes, in the batches that it computes
    /// them in: for a list that is computed more than once, and to see what computing takes
    /// without the way there and back.
    ///
    /// ```
    /// use bigint_host::{BigInt, Computation, Engine, Integers, Operation};
    /// let engine = Engine::auto();
    /// let numbers = Integers::from_bigints(&[BigInt::from(-7), BigInt::from(5)])?;
    /// let product = Computation { operation: Operation::Mul, a: 0, b: 1 };
    /// let prepared = engine.prepare(&numbers, &[product, product])?;
    /// let results = prepared.compute()?;
    /// assert_eq!(results[0].magnitude().to_biguints()?, [35u32.into(), 35u32.into()]);
    /// assert_eq!(prepared.computations(0), [0, 1]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::run`].
    pub fn prepare(
        &self,
        integers: &Integers,
        computations: &[Computation],
    ) -> Result<Prepared, Error> {
        let list = match self.inner.back_end() {
            BackEnd::Cpu => List::new(integers, computations, BackEnd::Cpu, Sums::Binned)?,
            device => {
                let most = Some(segments::RESIDENT);
                self.list_on_device(integers, computations, device, most)?
            }
        };
        let mut shared = Shared::new();
        let staged = list.bins.iter();
        let staged = staged.map(|bin| self.staged(&list, bin, &mut shared));
        Ok(Prepared {
            engine: self.clone(),
            staged: staged.collect::<Result<_, _>>()?,
            bins: list.bins,
            order: list.order,
        })
    }

    /// A list for devices. Its sums are segments, at most `most` limbs of them in a launch, where
    /// that is given and the numbers are many and of several lengths: few numbers, or such as are
    /// alike, need less padding than marks cost. A kernel that is forced computes all sums in bins.
    fn list_on_device<'a>(
        &self,
        integers: &'a Integers,
        computations: &'a [Computation],
        device: BackEnd,
        most: Option<usize>,
    ) -> Result<List<'a>, Error> {
        let length = |i| integers.length(i);
        let are_alike = || (1..integers.len()).all(|i| length(i) == length(0));
        let mean = integers.limbs().len() / integers.len().max(1);
        let are_many =
            computations.len().saturating_mul(mean) >= self.inner.tuning().devices.segments_limbs;
        let sums = match most {
            Some(most) if self.options == Options::default() && are_many && !are_alike() => {
                Sums::Segments(most)
            }
            _ => Sums::Binned,
        };
        let mut list = List::new(integers, computations, device, sums)?;
        segments::lay_out(&mut list);
        Ok(list)
    }

    /// Whether a list has so many computations beside its numbers that the numbers go to each device
    /// once, and operands are gathered there.
    fn gathers(&self, integers: &Integers, computations: usize) -> bool {
        let has_devices = self.inner.device().is_some();
        has_devices && computations >= integers.len().saturating_mul(REPEATED)
    }

    /// Brings the operands of a bin to where the engine computes.
    fn staged(&self, list: &List<'_>, bin: &Bin, shared: &mut Shared) -> Result<Staged, Error> {
        if bin.is_of_segments() {
            let operands = self.segments(list, bin)?;
            return Ok(Staged {
                operation: Operation::AddSegments,
                operands: operands.into_iter().map(SignedBatch::natural).collect(),
            });
        }
        let Kind {
            operation,
            widths,
            is_of_one,
            ..
        } = bin.kind;
        let integers = list.integers;
        let rows = &list.order[bin.start..][..bin.count];
        let gathers = self.gathers(integers, bin.count);
        let mut operand = |which: usize| {
            let (width, count) = (widths[which], bin.count);
            let index = |i: usize| list.resolved[rows[i]].operands[which];
            if !is_of_magnitudes(operation) {
                return self.batch_of_integers(integers, count, width, index);
            }
            if !gathers {
                let magnitudes = self.magnitudes_of(integers, count, width, index)?;
                return Ok(SignedBatch::natural(magnitudes));
            }
            let all = match shared.entry(width) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let fits = |i: &usize| integers.length(*i) <= width;
                    let all = |i: usize| Some(i).filter(fits);
                    new.insert(self.rows_of(integers, integers.len(), width, all)?)
                }
            };
            let magnitudes = self.gather(all, &collect((0..count).map(index))?)?;
            Ok::<_, Error>(SignedBatch::natural(magnitudes))
        };
        let a = operand(0)?;
        let b = match is_of_one {
            true => a.clone(),
            false => operand(1)?,
        };
        let operands = vec![a, b];
        Ok(Staged {
            operation,
            operands,
        })
    }

    /// The results of a bin.
    fn computed(&self, staged: &Staged) -> Result<SignedBatch, Error> {
        let Staged {
            operation,
            operands,
        } = staged;
        if !is_of_magnitudes(*operation) {
            let operands: Vec<_> = operands.iter().collect();
            return self.signed_compute(*operation, &operands);
        }
        let form = match operation {
            // The greater is the first.
            Operation::Sub => Form::Wrapping,
            _ => Form::Exact,
        };
        let operands: Vec<_> = operands.iter().map(SignedBatch::magnitude).collect();
        Ok(SignedBatch::natural(
            self.first_of(*operation, form, &operands)?,
        ))
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
        let magnitudes = self.magnitudes_of(integers, count, width, &index)?;
        let negative = collect((0..count).map(|i| integers.is_negative(index(i))))?;
        SignedBatch::new(magnitudes, &negative)
    }

    /// [`Engine::batch_of_integers`], of magnitudes alone.
    pub(crate) fn magnitudes_of(
        &self,
        integers: &Integers,
        count: usize,
        width: usize,
        index: impl Fn(usize) -> usize + Sync,
    ) -> Result<Batch, Error> {
        self.rows_of(integers, count, width, |i| Some(index(i)))
    }

    /// A batch of magnitudes, as [`Engine::magnitudes_of`] makes it, with zeros where there is no
    /// index.
    fn rows_of(
        &self,
        integers: &Integers,
        count: usize,
        width: usize,
        index: impl Fn(usize) -> Option<usize> + Sync,
    ) -> Result<Batch, Error> {
        let shape = Shape::new(count, width, Layout::Contiguous);
        let limbs = limbs::build(&self.inner.pool, shape, |i, row| {
            let magnitude = index(i).map_or(&[][..], |index| integers.magnitude(index));
            let (number, above) = row.split_at_mut(magnitude.len());
            number.copy_from_slice(magnitude);
            above.fill(0);
        })?;
        self.inner.admit(shape, limbs)
    }
}

/// A list whose operands are where its engine computes: [`Engine::prepare`] makes it.
#[derive(Debug)]
pub struct Prepared {
    engine: Engine,
    staged: Vec<Staged>,
    bins: Vec<Bin>,
    order: Vec<usize>,
}

impl Prepared {
    /// Computes the list: a batch of results for each bin, where they were computed; those of
    /// sums, differences and products are magnitudes.
    ///
    /// # Errors
    /// As for [`Engine::run`], but that numbers are counted in their bin.
    pub fn compute(&self) -> Result<Vec<SignedBatch>, Error> {
        let staged = self.staged.iter();
        staged.map(|staged| self.engine.computed(staged)).collect()
    }

    /// The operation and the operands of each bin. A sum of numbers of unlike signs is a
    /// difference, the greater magnitude first; on a device such sums are segments.
    pub fn batches(&self) -> impl ExactSizeIterator<Item = (Operation, &[SignedBatch])> {
        let staged = self.staged.iter();
        staged.map(|staged| (staged.operation, &*staged.operands))
    }

    /// Which computations of the list the results of a bin are of: row by row, or of
    /// [segments](Operation::AddSegments) in the order that they lie in.
    ///
    /// # Panics
    /// If there is no such bin.
    pub fn computations(&self, bin: usize) -> &[usize] {
        let Bin { start, count, .. } = self.bins[bin];
        &self.order[start..][..count]
    }
}

/// The operands of a bin.
#[derive(Debug)]
struct Staged {
    operation: Operation,
    operands: Vec<SignedBatch>,
}

/// Whether a bin of this operation is of magnitudes alone: the result of signed numbers then follows
/// from their signs.
fn is_of_magnitudes(operation: Operation) -> bool {
    use Signs::{Difference, Magnitudes, Product, Sum};
    let signs = operation.declaration().signs;
    matches!(signs, Sum | Difference | Product | Magnitudes)
}

/// The results of a bin: rows of so many limbs, and which are negative.
pub(crate) struct Made {
    rows: Vec<Limb>,
    width: usize,
    negative: Vec<bool>,
}

impl Made {
    /// Brings the results of a bin to the host. Waits for the device.
    pub fn of(result: SignedBatch) -> Result<Self, Error> {
        let width = result.magnitude().width();
        let negative = result.negative()?;
        let rows = result.into_magnitude().into_rows()?;
        Ok(Made {
            rows,
            width,
            negative,
        })
    }

    /// Brings all columns of results of a bin to the host.
    fn all(results: Vec<SignedBatch>) -> Result<Vec<Self>, Error> {
        results.into_iter().map(Made::of).collect()
    }

    /// The lowest `most` limbs of a row, and whether the number is negative, where that is not known
    /// already.
    fn number(&self, row: usize, most: usize, negative: Option<bool>) -> (&[Limb], bool) {
        let negative = negative.unwrap_or_else(|| self.negative[row]);
        (&self.rows[row * self.width..][..most], negative)
    }
}

/// The results of rows that are in bins, in the order of the rows; a pool takes the bins' memory.
/// `seen` is given a row and the limbs that it has in its bin; it says how many of them the result
/// has at most, and its sign where that is known.
pub(crate) fn in_order(
    mut made: Vec<Made>,
    places: &[InBin],
    pool: &Arc<Pool>,
    seen: impl Fn(usize, usize) -> (usize, Option<bool>) + Sync,
) -> Result<Integers, Error> {
    if let [only] = &made[..]
        && only.rows.len() == only.width * places.len()
    {
        let Made {
            rows,
            width,
            negative,
        } = made.swap_remove(0);
        let number = |row: usize| {
            let (most, known) = seen(row, width);
            (most, known.unwrap_or_else(|| negative[row]))
        };
        return Ok(Column::of_rows(rows, width, number, pool)?.into());
    }
    let limbs: usize = made.iter().map(|made| made.rows.len()).sum();
    let number = |row: usize| {
        let made = &made[places[row].bin];
        let (most, negative) = seen(row, made.width);
        made.number(places[row].row, most, negative)
    };
    let mean = limbs / places.len().max(1);
    let column = Column::of_numbers(Some(pool), places.len(), mean, number);
    made.into_iter().for_each(|made| pool.give(made.rows));
    Ok(column?.into())
}

impl List<'_> {
    /// The results, in the list's order; a pool takes the bins' memory.
    fn gathered(&self, mut made: Vec<Made>, pool: &Arc<Pool>) -> Result<Integers, Error> {
        for (made, bin) in made.iter_mut().zip(&self.bins) {
            if bin.is_of_segments() {
                // They are found by their first limbs; their signs are known.
                made.width = 1;
            }
        }
        if !self.places.contains(&InBin::NOWHERE) {
            return in_order(made, &self.places, pool, |of, width| self.seen(of, width));
        }
        let (count, integers) = (self.computations.len(), self.integers);
        let mean = integers.limbs().len() / integers.len().max(1);
        let part = |range| Ok(vec![self.part(range, &made)?]);
        let column = Column::gathered(count, 2 * mean, part)?.swap_remove(0);
        made.into_iter().for_each(|made| pool.give(made.rows));
        Ok(column.into())
    }

    /// The greatest length of a computation's result in a row of `width` limbs, and its sign where
    /// that is known.
    fn seen(&self, of: usize, width: usize) -> (usize, Option<bool>) {
        let resolved = &self.resolved[of];
        (resolved.most_limbs().unwrap_or(width), resolved.negative)
    }

    /// Some of the results, one behind the other; those that are in no bin are computed here.
    fn part(&self, range: Range<usize>, made: &[Made]) -> Result<Column, Error> {
        let length = |i: usize| self.integers.length(i);
        let longest = range.clone().map(|of| match made.get(self.places[of].bin) {
            Some(made) => made.width,
            None => {
                let Computation { a, b, .. } = self.computations[of];
                length(a).max(length(b)) + 1
            }
        });
        let mut column = Column::with_capacity(range.len(), longest.sum())?;
        for of in range {
            if self.places[of].bin >= made.len() {
                self.put(&mut column, of);
                continue;
            }
            let (InBin { bin, row }, made) = (self.places[of], made);
            let (most, negative) = self.seen(of, made[bin].width);
            let (magnitude, negative) = made[bin].number(row, most, negative);
            column.limbs.own().extend_from_slice(magnitude);
            column.end_number(negative);
        }
        Ok(column)
    }

    /// Puts the result of a computation that is in no bin behind the others.
    fn put(&self, column: &mut Column, of: usize) {
        let Computation { operation, a, b } = self.computations[of];
        let number = |i| self.integers.column().number(i);
        put(column, operation.declaration().signs, number(a), number(b));
    }
}
