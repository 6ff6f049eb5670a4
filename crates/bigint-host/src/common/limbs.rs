//! Conversions between limbs in a layout and the forms that users have: `BigUint`, bytes, rows.

use crate::Error;
use crate::common::pool::Pool;
use bigint_core::{LIMB_BITS, Layout, Limb, MAX_WIDTH, Shape};
use bigint_cpu::{Cut, LIMB_WORK, share};
use bytemuck::Pod;
use num_bigint::BigUint;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many limbs a thread moves before it takes the next piece: a piece stays in its L2 cache.
const PIECE_LIMBS: usize = 1 << 16;

/// Limbs in a page.
const PAGE_LIMBS: usize = 1 << 10;

/// Finding memory for a number takes as long as copying so many limbs.
const ALLOCATION_LIMBS: usize = 1 << 6;

/// The bytes that an allocation takes beyond its size.
const ALLOCATION_BYTES: usize = 32;

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

/// Builds a batch number by number: `fill(i, row)` writes all of number `i`, whose
/// memory holds anything.
pub(crate) fn build(
    pool: &Pool,
    shape: Shape,
    fill: impl Fn(usize, &mut [Limb]) + Sync,
) -> Result<Vec<Limb>, Error> {
    let contiguous = Shape {
        layout: Layout::Contiguous,
        ..shape
    };
    checked_limbs(shape)?;
    let mut limbs = pool.take(checked_limbs(contiguous)?)?;
    each_row(&mut limbs, shape.width, fill);
    to_layout(pool, limbs, contiguous, shape.layout)
}

/// `fill(i, row)` for every row of `length` limbs, on as many threads as it is worth.
fn each_row(limbs: &mut [Limb], length: usize, fill: impl Fn(usize, &mut [Limb]) + Sync) {
    let cut = cut(limbs.len() / length.max(1), length, 1);
    let parts = limbs.chunks_mut((cut.size * length).max(1)).enumerate();
    share(parts, cut.threads, |(part, limbs)| {
        for (i, row) in limbs.chunks_mut(length).enumerate() {
            fill(part * cut.size + i, row);
        }
    });
}

/// How `count` numbers of `width` limbs, which are only moved, are shared out to threads, in whole
/// granules.
fn cut(count: usize, width: usize, granule: usize) -> Cut {
    // They are read and written.
    let work = LIMB_WORK.saturating_mul(2 * width);
    let sharing = bigint_cpu::Cpu::current().tuning().sharing;
    sharing.cut(count, work, PIECE_LIMBS.div_ceil(width.max(1)), granule)
}

/// Copies numbers into another layout, with padding of zeros.
pub(crate) fn to_layout(
    pool: &Pool,
    mut limbs: Vec<Limb>,
    from: Shape,
    layout: Layout,
) -> Result<Vec<Limb>, Error> {
    if from.layout == layout {
        return Ok(limbs);
    }
    let to = Shape { layout, ..from };
    let mut moved = bigint_cpu::zeroed(to.limbs())?;
    match layout {
        Layout::Contiguous => each_row(&mut moved, to.width, |number, row| {
            for (limb, slot) in row.iter_mut().enumerate() {
                *slot = limbs[from.index(number, limb)];
            }
        }),
        Layout::Interleaved => each_row(&mut moved, to.strides().limb, |limb, row| {
            for (number, slot) in row[..from.count].iter_mut().enumerate() {
                *slot = limbs[from.index(number, limb)];
            }
        }),
    }
    pool.wipe(&mut limbs);
    Ok(moved)
}

/// Writes a number into its row; the row is wide enough.
#[inline]
pub(crate) fn fill_with(row: &mut [Limb], number: &BigUint) {
    let (pairs, odd) = row.as_chunks_mut::<2>();
    let mut digits = number.iter_u64_digits();
    let used = digits.len().min(pairs.len());
    let (used, above) = pairs.split_at_mut(used);
    for (pair, digit) in used.iter_mut().zip(&mut digits) {
        *pair = [digit as Limb, (digit >> LIMB_BITS) as Limb];
    }
    above.fill([0; 2]);
    if let [limb] = odd {
        *limb = digits.next().unwrap_or(0) as Limb;
    }
}

/// Copies at the speed of memory.
pub(crate) fn copy<T: Pod + Send + Sync>(from: &[T]) -> Result<Vec<T>, Error> {
    let limbs = |length: usize| (length * size_of::<T>()).div_ceil(size_of::<Limb>());
    let cut = cut(limbs(from.len()).div_ceil(PAGE_LIMBS), PAGE_LIMBS, 1);
    if cut.threads == 1 {
        let mut to = bigint_cpu::with_capacity(from.len())?;
        to.extend_from_slice(from);
        return Ok(to);
    }
    let size = cut.size * PAGE_LIMBS * size_of::<Limb>() / size_of::<T>();
    let mut to = bigint_cpu::zeroed(from.len())?;
    let parts = to.chunks_mut(size).zip(from.chunks(size));
    share(parts, cut.threads, |(to, from)| {
        to.copy_from_slice(from);
    });
    Ok(to)
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

/// Makes `BigUint`s of numbers that stand one after another, `width` limbs each; `numbers` lends
/// memory.
pub(crate) fn to_biguints(
    rows: &[Limb],
    width: usize,
    numbers: &mut Vec<BigUint>,
) -> Result<(), Error> {
    let count = rows.len() / width;
    let missing = count.saturating_sub(numbers.len());
    leave_for_numbers(missing, missing.saturating_mul(size_of::<Limb>() * width))?;
    bigint_cpu::reserve(numbers, missing)?;
    numbers.truncate(count);
    numbers.resize(count, BigUint::ZERO);
    each_number(numbers, width, |i, number| {
        number.assign_from_slice(&rows[i * width..][..width]);
    });
    Ok(())
}

/// Returns an error where memory for `count` numbers, of `bytes` bytes in all, cannot be had. Each
/// number allocates for itself, and would end the process.
pub(crate) fn leave_for_numbers(count: usize, bytes: usize) -> Result<(), Error> {
    let own = count.saturating_mul(ALLOCATION_BYTES).saturating_add(bytes);
    // Or the compiler leaves out an allocation that nobody uses.
    drop(black_box(bigint_cpu::with_capacity::<u8>(own)?));
    Ok(())
}

/// Calls `assign(i, number)` for every number, of about `width` limbs each.
fn each_number<N: Send>(numbers: &mut [N], width: usize, assign: impl Fn(usize, &mut N) + Sync) {
    each_part(numbers, width, 1, |first, part| {
        for (i, number) in (first..).zip(part) {
            assign(i, number);
        }
    });
}

/// Calls `assign(first, part)` for parts of the numbers, of about `width` limbs each; a part begins
/// with number `first`, a multiple of `granule`.
pub(crate) fn each_part<N: Send>(
    numbers: &mut [N],
    width: usize,
    granule: usize,
    assign: impl Fn(usize, &mut [N]) + Sync,
) {
    let cut = cut(numbers.len(), width + ALLOCATION_LIMBS, granule);
    let parts = numbers.chunks_mut(cut.size.max(1)).enumerate();
    share(parts, cut.threads, |(part, numbers)| {
        assign(part * cut.size, numbers);
    });
}

/// The bits of a number without zeros on top.
#[inline]
pub(crate) fn bit_length(x: &[Limb]) -> usize {
    let top = x.last().map_or(0, |top| top.leading_zeros() as usize);
    x.len() * LIMB_BITS - top
}

/// Number `index` of a batch.
pub(crate) fn number(limbs: &[Limb], shape: Shape, index: usize) -> BigUint {
    match shape.layout {
        Layout::Contiguous => BigUint::from_slice(&limbs[index * shape.width..][..shape.width]),
        Layout::Interleaved => {
            let limb = |limb| limbs[shape.index(index, limb)];
            BigUint::new((0..shape.width).map(limb).collect())
        }
    }
}

/// The length in bits of the longest of these numbers.
pub(crate) fn most_bits<'a>(count: usize, number: impl Fn(usize) -> &'a BigUint + Sync) -> u64 {
    let most = AtomicU64::new(0);
    let cut = cut(count, ALLOCATION_LIMBS, 1);
    let parts = (0..count).step_by(cut.size.max(1));
    share(parts, cut.threads, |first| {
        let part = first..count.min(first + cut.size);
        let bits = part.map(|i| number(i).bits()).max().unwrap_or(0);
        most.fetch_max(bits, Ordering::Relaxed);
    });
    most.into_inner()
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
