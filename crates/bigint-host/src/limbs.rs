//! Between limbs in a layout and the forms users have: `BigUint`, bytes, rows.

use crate::Error;
use bigint_core::{LIMB_BITS, Layout, Limb, MAX_WIDTH, Shape};
use num_bigint::BigUint;
use rayon::prelude::*;

/// The limbs that `shape` takes, or why it is not possible.
pub(crate) fn checked_limbs(shape: Shape) -> Result<usize, Error> {
    if shape.width == 0 || shape.width > MAX_WIDTH {
        return Err(Error::Width { width: shape.width });
    }
    shape
        .checked_limbs()
        .filter(|&limbs| limbs <= isize::MAX as usize / size_of::<Limb>())
        .ok_or(Error::TooLarge {
            count: shape.count,
            width: shape.width,
        })
}

/// Builds a batch number by number: `fill(i, row)` writes number `i` into a row
/// of zeros.
pub(crate) fn build(
    shape: Shape,
    fill: impl Fn(usize, &mut [Limb]) + Sync,
) -> Result<Vec<Limb>, Error> {
    let contiguous = Shape {
        layout: Layout::Contiguous,
        ..shape
    };
    checked_limbs(shape)?;
    let mut limbs = bigint_cpu::zeroed(checked_limbs(contiguous)?)?;
    limbs
        .par_chunks_mut(shape.width)
        .enumerate()
        .with_min_len(64)
        .for_each(|(index, row)| fill(index, row));
    to_layout(limbs, contiguous, shape.layout)
}

/// The same numbers in another layout; padding is zero.
pub(crate) fn to_layout(limbs: Vec<Limb>, from: Shape, layout: Layout) -> Result<Vec<Limb>, Error> {
    if from.layout == layout {
        return Ok(limbs);
    }
    let to = Shape { layout, ..from };
    let mut moved = bigint_cpu::zeroed(to.limbs())?;
    let row = match layout {
        Layout::Contiguous => to.width,
        Layout::Interleaved => to.strides().limb,
    };
    if moved.is_empty() {
        return Ok(moved);
    }
    moved
        .par_chunks_mut(row)
        .enumerate()
        .for_each(|(outer, row)| match layout {
            Layout::Contiguous => {
                for (limb, slot) in row.iter_mut().enumerate() {
                    *slot = limbs[from.index(outer, limb)];
                }
            }
            Layout::Interleaved => {
                for (number, slot) in row[..from.count].iter_mut().enumerate() {
                    *slot = limbs[from.index(number, outer)];
                }
            }
        });
    Ok(moved)
}

/// Copies numbers `range` of a batch into a batch of their own.
pub(crate) fn slice(
    limbs: &[Limb],
    shape: Shape,
    range: std::ops::Range<usize>,
) -> Result<Vec<Limb>, Error> {
    let piece = Shape {
        count: range.len(),
        ..shape
    };
    if shape.layout == Layout::Contiguous {
        return copy(&limbs[range.start * shape.width..range.end * shape.width]);
    }
    let mut copied = bigint_cpu::zeroed(piece.limbs())?;
    for limb in 0..shape.width {
        let row = piece.index(0, limb);
        copied[row..row + range.len()].copy_from_slice(
            &limbs[shape.index(range.start, limb)..shape.index(range.start, limb) + range.len()],
        );
    }
    Ok(copied)
}

/// A copy of limbs.
pub(crate) fn copy(limbs: &[Limb]) -> Result<Vec<Limb>, Error> {
    let mut copied = bigint_cpu::with_capacity(limbs.len())?;
    copied.extend_from_slice(limbs);
    Ok(copied)
}

/// Copies a batch of `piece.count` numbers to number `start` and on of another.
pub(crate) fn splice(
    limbs: &mut [Limb],
    shape: Shape,
    start: usize,
    piece: &[Limb],
    piece_shape: Shape,
) {
    if shape.layout == Layout::Contiguous {
        limbs[start * shape.width..][..piece.len()].copy_from_slice(piece);
        return;
    }
    for limb in 0..shape.width {
        let count = piece_shape.count;
        limbs[shape.index(start, limb)..][..count]
            .copy_from_slice(&piece[piece_shape.index(0, limb)..][..count]);
    }
}

/// The limbs of number `index`, lowest first.
pub(crate) fn row(
    limbs: &[Limb],
    shape: Shape,
    index: usize,
) -> impl ExactSizeIterator<Item = Limb> {
    let strides = shape.strides();
    (0..shape.width).map(move |limb| limbs[index * strides.number + limb * strides.limb])
}

/// All numbers of a batch.
pub(crate) fn to_biguints(limbs: &[Limb], shape: Shape) -> Vec<BigUint> {
    (0..shape.count)
        .into_par_iter()
        .with_min_len(64)
        .map(|index| BigUint::new(row(limbs, shape, index).collect()))
        .collect()
}

/// The limbs that hold every one of `numbers`; at least one.
pub(crate) fn width_of(numbers: &[BigUint]) -> usize {
    let bits = numbers.par_iter().map(BigUint::bits).max().unwrap_or(0);
    usize::try_from(bits.div_ceil(LIMB_BITS as u64))
        .unwrap_or(usize::MAX)
        .max(1)
}

/// Zeroes the padding of an interleaved batch, so that equal batches are equal
/// limb for limb.
pub(crate) fn clear_padding(limbs: &mut [Limb], shape: Shape) {
    let row = shape.strides().limb;
    if shape.layout == Layout::Interleaved && row > shape.count {
        for row in limbs.chunks_mut(row) {
            row[shape.count..].fill(0);
        }
    }
}
