//! The leaves of trees: which are of about one length, and batches of them.

use crate::common::limbs;
use crate::{Batch, Engine, Error, Integers};
use bigint_core::{Layout, Limb, Shape};
use std::ops::Range;

/// Numbers of about one length, and as many limbs as the longest has.
pub(super) type Class = (Which, usize);

/// Which of a list's numbers: some that follow one another, of which no list is written, or these.
#[derive(Debug)]
pub(super) enum Which {
    Range(Range<usize>),
    These(Vec<usize>),
}

impl Which {
    /// All of so many numbers.
    pub fn all(count: usize) -> Self {
        Which::Range(0..count)
    }

    pub fn len(&self) -> usize {
        match self {
            Which::Range(range) => range.len(),
            Which::These(indices) => indices.len(),
        }
    }

    pub fn at(&self, index: usize) -> usize {
        match self {
            Which::Range(range) => range.start + index,
            Which::These(indices) => indices[index],
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }

    /// Whether they are in the list's order.
    pub fn are_in_order(&self) -> bool {
        match self {
            Which::Range(_) => true,
            Which::These(indices) => indices.is_sorted(),
        }
    }
}

/// The lengths of the shortest number and of the longest, in limbs.
pub(super) fn extremes(numbers: &Integers) -> (usize, usize) {
    let offsets = numbers.offsets();
    let lengths = offsets.iter().zip(offsets.iter().skip(1));
    let lengths = lengths.map(|(begin, end)| end - begin);
    let around = |(least, most): (i64, i64), length: i64| (least.min(length), most.max(length));
    let (least, most) = lengths.fold((i64::MAX, 0), around);
    let limbs = |bytes: i64| bytes as usize / size_of::<Limb>();
    (limbs(least), limbs(most))
}

/// Whether all numbers of these [extremes] are in one class.
pub(super) fn are_of_one_class((least, most): (usize, usize)) -> bool {
    class_of(least) == class_of(most)
}

/// Refuses zeros, where the shortest number has so many limbs.
pub(super) fn refuse_zero(numbers: &Integers, least: usize) -> Result<(), Error> {
    let is_zero = |&i: &usize| numbers.length(i) == 0;
    let index = (least == 0).then(|| (0..numbers.len()).find(is_zero));
    match index.flatten() {
        Some(index) => Err(Error::ZeroDivisor { index }),
        None => Ok(()),
    }
}

/// Leaves in classes of about one length, the shortest first, of these [extremes]; nothing where one is zero, and which.
pub(super) fn classes(
    leaves: &Integers,
    (least, most): (usize, usize),
) -> Result<Vec<Class>, Error> {
    refuse_zero(leaves, least)?;
    // Of one class none needs to come before another.
    if !leaves.is_empty() && are_of_one_class((least, most)) {
        return Ok(vec![(Which::all(leaves.len()), most)]);
    }
    let mut order: Vec<usize> = (0..leaves.len()).collect();
    order.sort_by_key(|&i| leaves.length(i));
    let class = |&i: &usize| class_of(leaves.length(i));
    let classes = order.chunk_by(|i, j| class(i) == class(j));
    let longest = |class: &[usize]| class.last().map_or(1, |&i| leaves.length(i));
    Ok(classes
        .map(|class| (Which::These(class.to_vec()), longest(class)))
        .collect())
}

/// The same for lengths that differ by less than a quarter.
fn class_of(length: usize) -> (u32, usize) {
    let cut = length.max(1).ilog2().saturating_sub(2);
    (cut, length >> cut)
}

/// These of the numbers, none of which is wider, in a batch of so many limbs.
pub(super) fn rows(
    engine: &Engine,
    of: &Integers,
    which: &Which,
    width: usize,
) -> Result<Batch, Error> {
    let shape = Shape::new(which.len(), width, Layout::Contiguous);
    // All of them, in their order and as wide as that, for none is wider, lie in memory as a batch does.
    let are_all = which.len() == of.len() && of.limbs().len() == shape.limbs();
    if are_all
        && which.are_in_order()
        && let Some(batch) = engine.inner.admit_column(of, shape)
    {
        return Ok(batch);
    }
    let limbs = limbs::build(&engine.inner.pool, shape, |i, row| {
        let number = of.magnitude(which.at(i));
        let (low, high) = row.split_at_mut(number.len());
        low.copy_from_slice(number);
        high.fill(0);
    });
    engine.batch_from_limbs(limbs?, shape)
}

/// The one number of a batch.
pub(super) fn one_of(a: &Batch) -> Result<Integers, Error> {
    let rows = a.rows()?;
    let number = trimmed(&rows);
    let fill = |_, limbs: &mut [Limb]| bigint_cpu::copy(limbs, number);
    Integers::from_fn(1, number.len(), |_| (number.len(), false), fill)
}

/// Without zeros on top.
pub(super) fn trimmed(limbs: &[Limb]) -> &[Limb] {
    let top = limbs.iter().rposition(|&limb| limb != 0);
    &limbs[..top.map_or(0, |top| top + 1)]
}
