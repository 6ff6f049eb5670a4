//! Numbers of a batch to words in lanes, and back.

use std::ops::Range;

use bigint_core::Layout;

use super::super::prefetch;
use super::vector::{BLOCK, BLOCK_WORDS, Vector};
use crate::Numbers;
use crate::piece::{Piece, PieceLimbs};

/// Words that the blocks of `limbs` limbs take.
pub(super) const fn words_of_limbs(limbs: usize) -> usize {
    limbs.div_ceil(BLOCK) * BLOCK_WORDS
}

/// Brings `width` limbs of each of the numbers `first`, `first + 1`, ... into the
/// lanes; lanes beyond the batch become zero, or anything in an interleaved batch.
///
/// `first` is a multiple of the lanes.
#[inline(always)]
pub(super) fn load<I: Vector>(
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
        for (i, word) in words[..words_of_limbs(width)].iter_mut().enumerate() {
            *word = isa.splat(u64::from(limb(2 * i)) | u64::from(limb(2 * i + 1)) << 32);
        }
        return;
    }
    match shape.layout {
        Layout::Contiguous => {
            let live = I::LANES.min(shape.count - first);
            let limbs = &limbs[first * shape.width..];
            if live == I::LANES {
                isa.load_numbers(limbs, shape.width, width, words);
            } else {
                let mut group = vec![0; I::LANES * width];
                for lane in 0..live {
                    group[lane * width..][..width]
                        .copy_from_slice(&limbs[lane * shape.width..][..width]);
                }
                isa.load_numbers(&group, width, width, words);
            }
        }
        Layout::Interleaved => {
            let row = |j: usize| &limbs[shape.index(first, j)..][..I::LANES];
            for (i, word) in words[..width.div_ceil(2)].iter_mut().enumerate() {
                *word = if 2 * i + 1 < width {
                    isa.load_rows(row(2 * i), row(2 * i + 1))
                } else {
                    isa.load_rows(row(2 * i), &[0; 8])
                };
            }
        }
    }
}

/// Stores the lanes as the numbers `i`, `i + 1`, ... of a piece, as many as it has.
#[inline(always)]
pub(super) fn store<I: Vector>(isa: I, words: &[I::V], piece: &mut Piece<'_>, i: usize) {
    let width = piece.width;
    let live = I::LANES.min(piece.count - i);
    if live < I::LANES {
        let mut group = vec![0; I::LANES * width];
        isa.store_numbers(words, &mut group, width, width);
        for lane in 0..live {
            piece.store(i + lane, &group[lane * width..][..width]);
        }
        return;
    }
    match &mut piece.limbs {
        PieceLimbs::Contiguous(limbs) => {
            isa.store_numbers(words, &mut limbs[i * width..], width, width);
        }
        PieceLimbs::Rows(rows) => {
            for (rows, &word) in rows.chunks_mut(2).zip(words) {
                isa.store_row(word, &mut rows[0][i..]);
                if let Some(odd) = rows.get_mut(1) {
                    isa.store_row(isa.shift_right(word, 32), &mut odd[i..]);
                }
            }
        }
    }
}

/// Asks for the numbers that a later [`load`] from `first` on will read.
#[inline(always)]
pub(super) fn prefetch_operand<I: Vector>(numbers: Numbers<'_>, width: usize, first: usize) {
    let shape = numbers.shape();
    if numbers.is_broadcast() || first >= shape.count {
        return;
    }
    match shape.layout {
        Layout::Contiguous => {
            let end = (first + I::LANES).min(shape.count);
            prefetch::all(&numbers.limbs()[first * shape.width..end * shape.width]);
        }
        Layout::Interleaved => {
            for j in 0..width {
                prefetch::line(&numbers.limbs()[shape.index(first, j)..]);
            }
        }
    }
}

/// Asks for the memory that a later [`store`] to number `i` of the piece and those
/// after it will write; a part of it, in proportion to the limbs of a number.
#[inline(always)]
pub(super) fn prefetch_result<I: Vector>(piece: &Piece<'_>, i: usize, part: Range<usize>) {
    let live = I::LANES.min(piece.count.saturating_sub(i));
    if live == 0 {
        return;
    }
    match &piece.limbs {
        PieceLimbs::Contiguous(limbs) => {
            let group = &limbs[i * piece.width..];
            prefetch::all(&group[live * part.start..live * part.end]);
        }
        PieceLimbs::Rows(rows) => rows[part].iter().for_each(|row| prefetch::line(&row[i..])),
    }
}
