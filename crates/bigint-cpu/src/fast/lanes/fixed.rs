//! Products of short numbers, with a kernel for each count of words.
//!
//! If both operands have few digits, the general work for each group (sizes, scratch memory,
//! loops over a few vectors) takes as long as the product. Here the counts of words `W` and of
//! digits `D = ceil(64 W / 52)` are constants, all groups are whole and all numbers contiguous,
//! and a block of words is stored as soon as the carries of its columns are propagated.
//!
//! Operands may be shorter than `W` words, and are then extended with zeros. Results may be
//! narrower than `2 W` words, and the words above them are then not stored.
//!
//! A column is at most `2 D 2^52`, as in [`school`](super::school).

use bigint_core::{LIMB_BITS, Layout, Limb};

use super::digits::{cut, digits_of_bits, pack};
use super::school;
use super::transfer::{load_block, store_block};
use super::vector::{BLOCK, BLOCK_WORDS, Vector};
use crate::Numbers;
use crate::fast::prefetch::Lines;
use crate::piece::{Piece, PieceLimbs};

/// The limbs of the longest operand for which this file has a kernel.
const WIDEST: usize = 32;

/// Computes the products of the whole groups at the start of a piece, if this file has a kernel
/// for them. Returns how many numbers these are.
pub(super) fn mul<I: Vector>(
    isa: I,
    is_prefetched: bool,
    piece: &mut Piece<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) -> usize {
    let count = piece.count / I::LANES * I::LANES;
    let (Some(a), Some(b)) = (Source::new(a, piece), Source::new(b, piece)) else {
        return 0;
    };
    let PieceLimbs::Contiguous(r) = &mut piece.limbs else {
        return 0;
    };
    let r = &mut r[..count * piece.width];
    // The result is written as a whole.
    match a.width.max(b.width).max(piece.width.div_ceil(2)) {
        0..=8 => by_words::<I, 4, 5, 10>(isa, is_prefetched, r, piece.width, a, b),
        9..=16 => by_words::<I, 8, 10, 20>(isa, is_prefetched, r, piece.width, a, b),
        17..=24 => by_words::<I, 12, 15, 30>(isa, is_prefetched, r, piece.width, a, b),
        25..=WIDEST => by_words::<I, 16, 20, 40>(isa, is_prefetched, r, piece.width, a, b),
        _ => return 0,
    }
    count
}

/// The numbers of an operand from the first number of a piece on. One begins every `stride`
/// limbs, and has `width` limbs that count.
#[derive(Clone, Copy)]
struct Source<'a> {
    limbs: &'a [Limb],
    stride: usize,
    width: usize,
}

impl<'a> Source<'a> {
    /// The numbers of a piece and those after it, if they are contiguous.
    fn new(numbers: Numbers<'a>, piece: &Piece<'_>) -> Option<Self> {
        let shape = numbers.shape();
        if shape.layout != Layout::Contiguous || numbers.is_broadcast() {
            return None;
        }
        Some(Source {
            limbs: &numbers.limbs()[piece.first * shape.width..],
            stride: shape.width,
            width: shape.width.min(piece.width),
        })
    }

    /// The digits of group `i`, `D = ceil(64 W / 52)` of them.
    #[inline(always)]
    fn digits<I: Vector, const W: usize, const D: usize>(&self, isa: I, i: usize) -> [I::V; D] {
        let limbs = &self.limbs[i * I::LANES * self.stride..];
        let mut digits = [isa.splat(0); D];
        cut(
            isa,
            W / BLOCK_WORDS,
            &mut digits,
            #[inline(always)]
            |q| {
                if q * BLOCK < self.width {
                    load_block(isa, limbs, self.stride, self.width, q)
                } else {
                    [isa.splat(0); BLOCK_WORDS]
                }
            },
        );
        digits
    }

    /// The limbs that [`Source::digits`] of group `i` will read.
    fn lines<I: Vector>(&self, i: usize) -> &'a [Limb] {
        let group = I::LANES * self.stride;
        part(self.limbs, i * group, group)
    }
}

/// The `length` limbs from `first` on, or as many of them as there are.
fn part(limbs: &[Limb], first: usize, length: usize) -> &[Limb] {
    &limbs[first.min(limbs.len())..(first + length).min(limbs.len())]
}

/// [`mul`] for operands of `W` words and `D` digits, with `C = 2 D` columns.
#[inline(never)]
fn by_words<I: Vector, const W: usize, const D: usize, const C: usize>(
    isa: I,
    is_prefetched: bool,
    r: &mut [Limb],
    width: usize,
    a: Source<'_>,
    b: Source<'_>,
) {
    let is_square = std::ptr::eq(a.limbs, b.limbs) && a.stride == b.stride;
    isa.vectorize(
        #[inline(always)]
        || {
            // Digits above an operand are not multiplied, and the columns above stay zero.
            let [n, m] = [a.width, b.width].map(|limbs| digits_of_bits(LIMB_BITS * limbs));
            let mut columns = [isa.splat(0); C];
            // Leaving out the columns above a narrow result is not worth its time if they are
            // few.
            let kept = digits_of_bits(LIMB_BITS * width);
            let is_low = kept >= 10 && 5 * kept < 4 * (n + m);
            let group = I::LANES * width;
            for i in 0..r.len() / group {
                let mut lines = Lines::none();
                if is_prefetched {
                    lines = Lines::new(
                        part(r, (i + 1) * group, group),
                        a.lines::<I>(i + 1),
                        if is_square { &[] } else { b.lines::<I>(i + 1) },
                    );
                }
                let x: [I::V; D] = a.digits::<I, W, D>(isa, i);
                if is_square {
                    school::square(isa, &mut columns[..2 * n], &x[..n], &mut lines);
                } else {
                    let y: [I::V; D] = b.digits::<I, W, D>(isa, i);
                    let (r, x, y) = (&mut columns[..n + m], &x[..n], &y[..m]);
                    if is_low {
                        school::low_product(isa, r, x, y, kept, &mut lines);
                    } else {
                        school::product(isa, r, x, y, &mut lines);
                    }
                }
                lines.finish();
                let r = &mut r[i * group..][..group];
                pack(
                    isa,
                    2 * W / BLOCK_WORDS,
                    &columns,
                    #[inline(always)]
                    |q, words| {
                        if q * BLOCK < width {
                            store_block(isa, words, r, width, q);
                        }
                    },
                );
            }
        },
    );
}
