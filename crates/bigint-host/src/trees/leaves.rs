//! The leaves of trees: which are of about one length, and batches of them.

use crate::common::limbs;
use crate::{Batch, Engine, Error, Integers};
use bigint_core::{Layout, Shape};

/// Numbers of about one length, and as many limbs as the longest has.
pub(super) type Class = (Vec<usize>, usize);

/// Leaves in classes of about one length, the shortest first; nothing where one is zero, and which.
pub(super) fn classes(leaves: &Integers) -> Result<Vec<Class>, Error> {
    let lengths = || (0..leaves.len()).map(|i| leaves.length(i));
    let around =
        |(least, most): (usize, usize), length: usize| (least.min(length), most.max(length));
    let (least, most) = lengths().fold((usize::MAX, 0), around);
    if least == 0 {
        let index = lengths().position(|length| length == 0).unwrap_or(0);
        return Err(Error::ZeroDivisor { index });
    }
    let mut order: Vec<usize> = (0..leaves.len()).collect();
    // Of one class none needs to come before another.
    if !order.is_empty() && class_of(least) == class_of(most) {
        return Ok(vec![(order, most)]);
    }
    order.sort_by_key(|&i| leaves.length(i));
    let class = |&i: &usize| class_of(leaves.length(i));
    let classes = order.chunk_by(|i, j| class(i) == class(j));
    let longest = |class: &[usize]| class.last().map_or(1, |&i| leaves.length(i));
    Ok(classes
        .map(|class| (class.to_vec(), longest(class)))
        .collect())
}

/// The same for lengths that differ by less than a quarter.
fn class_of(length: usize) -> (u32, usize) {
    let cut = length.max(1).ilog2().saturating_sub(2);
    (cut, length >> cut)
}

/// These of the numbers, in a batch of so many limbs.
pub(super) fn rows(
    engine: &Engine,
    of: &Integers,
    which: &[usize],
    width: usize,
) -> Result<Batch, Error> {
    let shape = Shape::new(which.len(), width, Layout::Contiguous);
    // All of them, in their order and as wide as that, lie in memory as a batch does.
    let are_all = which.len() == of.len() && of.limbs().len() == shape.limbs();
    let are_rows = are_all && (0..of.len()).all(|i| which[i] == i && of.length(i) == width);
    if are_rows && let Some(batch) = engine.inner.admit_column(of, shape) {
        return Ok(batch);
    }
    let limbs = limbs::build(&engine.inner.pool, shape, |i, row| {
        let number = of.magnitude(which[i]);
        let (low, high) = row.split_at_mut(number.len());
        low.copy_from_slice(number);
        high.fill(0);
    });
    engine.batch_from_limbs(limbs?, shape)
}
