//! The conversion of a batch's numbers to digits in lanes, and of columns back to numbers.

use std::ops::Range;

use bigint_core::{Layout, Limb};

use super::super::prefetch;
use super::digits::{cut, pack};
use super::vector::{BLOCK, BLOCK_WORDS, Vector};
use crate::Numbers;
use crate::memory::scratch;
use crate::piece::{Piece, PieceLimbs};

/// Loads the words of block `q` of contiguous numbers. The numbers have `width` limbs, and one
/// begins every `stride` limbs.
#[inline(always)]
pub(super) fn load_block<I: Vector>(
    isa: I,
    limbs: &[Limb],
    stride: usize,
    width: usize,
    q: usize,
) -> [I::V; BLOCK_WORDS] {
    let limbs = &limbs[q * BLOCK..];
    let mut words = [isa.splat(0); BLOCK_WORDS];
    if width >= (q + 1) * BLOCK {
        isa.load_numbers(limbs, stride, BLOCK, &mut words);
    } else {
        isa.load_numbers(limbs, stride, width - q * BLOCK, &mut words);
    }
    words
}

/// The reverse of [`load_block`], for numbers of `width` limbs with nothing between them.
#[inline(always)]
pub(super) fn store_block<I: Vector>(
    isa: I,
    words: &[I::V; BLOCK_WORDS],
    limbs: &mut [Limb],
    width: usize,
    q: usize,
) {
    let limbs = &mut limbs[q * BLOCK..];
    if width >= (q + 1) * BLOCK {
        isa.store_numbers(words, limbs, width, BLOCK);
    } else {
        isa.store_numbers(words, limbs, width, width - q * BLOCK);
    }
}

/// Loads the digits of `width` limbs of each of the numbers `first`, `first + 1`, ... into the
/// lanes, extended with zeros to whole blocks. Lanes beyond the batch become zero, or anything
/// in an interleaved batch. `words` is memory for whole blocks.
///
/// `first` is a multiple of the lanes. The function is never inlined: its code is long, and a
/// call costs little beside what is then computed.
#[inline(never)]
pub(super) fn load<I: Vector>(
    isa: I,
    numbers: Numbers<'_>,
    width: usize,
    first: usize,
    digits: &mut [I::V],
    words: &mut [I::V],
) {
    let shape = numbers.shape();
    let blocks = width.div_ceil(BLOCK);
    let is_whole = first + I::LANES <= shape.count && !numbers.is_broadcast();
    if shape.layout == Layout::Contiguous && is_whole {
        let limbs = &numbers.limbs()[first * shape.width..];
        isa.vectorize(
            #[inline(always)]
            || {
                cut(
                    isa,
                    blocks,
                    digits,
                    #[inline(always)]
                    |q| load_block(isa, limbs, shape.width, width, q),
                )
            },
        );
    } else {
        let words = &mut words[..blocks * BLOCK_WORDS];
        load_any(isa, numbers, width, first, digits, words);
    }
}

/// [`load`] for any batch, in two steps.
#[inline(never)]
fn load_any<I: Vector>(
    isa: I,
    numbers: Numbers<'_>,
    width: usize,
    first: usize,
    digits: &mut [I::V],
    words: &mut [I::V],
) {
    isa.vectorize(
        #[inline(always)]
        || {
            load_words(isa, numbers, width, first, words);
            let (blocks, _) = words.as_chunks::<BLOCK_WORDS>();
            cut(
                isa,
                blocks.len(),
                digits,
                #[inline(always)]
                |q| blocks[q],
            );
        },
    );
}

/// Loads the words of any group, with zeros above the numbers.
#[inline(always)]
fn load_words<I: Vector>(
    isa: I,
    numbers: Numbers<'_>,
    width: usize,
    first: usize,
    words: &mut [I::V],
) {
    let shape = numbers.shape();
    let limbs = numbers.limbs();
    if numbers.is_broadcast() {
        let limb = |j: usize| {
            if j < width {
                limbs[shape.index(0, j)]
            } else {
                0
            }
        };
        for (i, word) in words.iter_mut().enumerate() {
            *word = isa.splat(u64::from(limb(2 * i)) | u64::from(limb(2 * i + 1)) << 32);
        }
        return;
    }
    match shape.layout {
        Layout::Contiguous => {
            let live = I::LANES.min(shape.count - first);
            let limbs = &limbs[first * shape.width..];
            let mut group = scratch(I::LANES * width);
            for lane in 0..live {
                group[lane * width..][..width]
                    .copy_from_slice(&limbs[lane * shape.width..][..width]);
            }
            isa.load_numbers(&group, width, width, words);
        }
        Layout::Interleaved => {
            let row = |j: usize| &limbs[shape.index(first, j)..][..I::LANES];
            let (words, above) = words.split_at_mut(width.div_ceil(2));
            for (i, word) in words.iter_mut().enumerate() {
                *word = if 2 * i + 1 < width {
                    isa.load_rows(row(2 * i), row(2 * i + 1))
                } else {
                    isa.load_rows(row(2 * i), &[0; 8])
                };
            }
            above.fill(isa.splat(0));
        }
    }
}

/// Propagates the carries of columns and stores the lanes as the numbers `i`, `i + 1`, ... of a
/// piece, as many as it has. There are columns for whole blocks, and `words` is memory for
/// whole blocks. As [`load`], it is never inlined.
#[inline(never)]
pub(super) fn store<I: Vector>(
    isa: I,
    columns: &[I::V],
    piece: &mut Piece<'_>,
    i: usize,
    words: &mut [I::V],
) {
    let width = piece.width;
    let blocks = width.div_ceil(BLOCK);
    match &mut piece.limbs {
        PieceLimbs::Contiguous(limbs) if i + I::LANES <= piece.count => {
            let limbs = &mut limbs[i * width..];
            isa.vectorize(
                #[inline(always)]
                || {
                    pack(
                        isa,
                        blocks,
                        columns,
                        #[inline(always)]
                        |q, words| store_block(isa, words, limbs, width, q),
                    )
                },
            );
        }
        _ => store_any(isa, columns, piece, i, &mut words[..blocks * BLOCK_WORDS]),
    }
}

/// [`store`] for any group, in two steps.
#[inline(never)]
fn store_any<I: Vector>(
    isa: I,
    columns: &[I::V],
    piece: &mut Piece<'_>,
    i: usize,
    words: &mut [I::V],
) {
    isa.vectorize(
        #[inline(always)]
        || {
            let (blocks, _) = words.as_chunks_mut::<BLOCK_WORDS>();
            pack(
                isa,
                blocks.len(),
                columns,
                #[inline(always)]
                |q, words| blocks[q] = *words,
            );
            let width = piece.width;
            let live = I::LANES.min(piece.count - i);
            if let PieceLimbs::Rows(rows) = &mut piece.limbs
                && live == I::LANES
            {
                for (rows, &word) in rows.chunks_mut(2).zip(&*words) {
                    isa.store_row(word, &mut rows[0][i..]);
                    if let Some(odd) = rows.get_mut(1) {
                        isa.store_row(isa.shift_right(word, 32), &mut odd[i..]);
                    }
                }
                return;
            }
            let mut group = scratch(I::LANES * width);
            isa.store_numbers(words, &mut group, width, width);
            for lane in 0..live {
                piece.store(i + lane, &group[lane * width..][..width]);
            }
        },
    );
}

/// The limbs that a [`load`] from number `first` on will read, if they are contiguous.
pub(super) fn lines_of_operand<'a, I: Vector>(numbers: Numbers<'a>, first: usize) -> &'a [Limb] {
    let shape = numbers.shape();
    if numbers.is_broadcast() || first >= shape.count || shape.layout != Layout::Contiguous {
        return &[];
    }
    let end = (first + I::LANES).min(shape.count);
    with_last_line(numbers.limbs(), first * shape.width..end * shape.width)
}

/// The limbs that a [`store`] to number `i` of the piece will write, if they are contiguous.
pub(super) fn lines_of_result<'a, I: Vector>(piece: &'a Piece<'_>, i: usize) -> &'a [Limb] {
    let end = (i + I::LANES).min(piece.count);
    match &piece.limbs {
        PieceLimbs::Contiguous(limbs) => with_last_line(limbs, i * piece.width..end * piece.width),
        PieceLimbs::Rows(_) => &[],
    }
}

/// A part of some limbs, and the limbs beyond it that may share its last cache line.
fn with_last_line(limbs: &[Limb], part: Range<usize>) -> &[Limb] {
    &limbs[part.start..(part.end + prefetch::LINE - 1).min(limbs.len())]
}

/// Prefetches the rows of interleaved batches that a [`load`] from number `first` on will
/// read.
pub(super) fn prefetch_rows(numbers: Numbers<'_>, width: usize, first: usize) {
    let shape = numbers.shape();
    if !numbers.is_broadcast() && first < shape.count && shape.layout == Layout::Interleaved {
        for j in 0..width {
            prefetch::line(&numbers.limbs()[shape.index(first, j)..]);
        }
    }
}

/// Prefetches the rows that a [`store`] to number `i` of the piece will write.
pub(super) fn prefetch_result_rows(piece: &Piece<'_>, i: usize) {
    if let PieceLimbs::Rows(rows) = &piece.limbs
        && i < piece.count
    {
        rows.iter().for_each(|row| prefetch::line(&row[i..]));
    }
}
