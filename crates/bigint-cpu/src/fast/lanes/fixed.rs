//! Products of short numbers: one kernel for each number of words.
//!
//! Where both operands have few digits, what is done for every group of any length
//! (sizes, scratch memory, loops over a few vectors) takes as long as the product. Here
//! the numbers of words `W` and digits `D = ceil(64 W / 52)` are constants, whole groups
//! of contiguous numbers are all that there is, and a block of words is stored as soon
//! as its columns are carried through.
//!
//! Operands may be shorter and results narrower than `W` and `2 W` words: what an
//! operand lacks is zero, what a result lacks is not stored.
//!
//! A column is at most `2 D 2^52`, as in [`school`](super::school).

use bigint_core::{Layout, Limb};

use super::digits::{cut_digit, pack_word};
use super::school;
use super::vector::{BLOCK, BLOCK_WORDS, DIGIT_BITS, Vector};
use crate::Numbers;
use crate::fast::prefetch;
use crate::piece::{Piece, PieceLimbs};

/// Limbs of the longest operand that a kernel of this file takes.
const WIDEST: usize = 32;

/// The products of the whole groups that a piece begins with, where this file has a
/// kernel for them; answers how many numbers that were.
pub(super) fn mul<I: Vector>(
    isa: I,
    is_prefetched: bool,
    piece: &mut Piece<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) -> usize {
    let count = piece.count / I::LANES * I::LANES;
    let (Some(a), Some(b)) = (
        Source::new::<I>(a, piece, count),
        Source::new::<I>(b, piece, count),
    ) else {
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

/// Expands a macro for every column that a kernel of this file can have: all indices and
/// shifts must be constants.
macro_rules! for_each_column {
    ($do:ident) => {
        $do!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
             20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39)
    };
}

/// The numbers of an operand that belong to a piece: one every `stride` limbs, of which
/// `width` count.
#[derive(Clone, Copy)]
struct Source<'a> {
    limbs: &'a [Limb],
    stride: usize,
    width: usize,
}

impl<'a> Source<'a> {
    /// The first `count` numbers of a piece, if they lie one after the other.
    fn new<I: Vector>(numbers: Numbers<'a>, piece: &Piece<'_>, count: usize) -> Option<Self> {
        let shape = numbers.shape();
        if shape.layout != Layout::Contiguous || numbers.is_broadcast() {
            return None;
        }
        Some(Source {
            limbs: &numbers.limbs()[piece.first * shape.width..][..count * shape.width],
            stride: shape.width,
            width: shape.width.min(piece.width),
        })
    }

    /// The digits of group `i`.
    #[inline(always)]
    fn digits<I: Vector, const W: usize, const D: usize>(&self, isa: I, i: usize) -> [I::V; D] {
        let limbs = &self.limbs[i * I::LANES * self.stride..];
        let mut words = [isa.splat(0); W];
        for (q, words) in words.chunks_exact_mut(BLOCK_WORDS).enumerate() {
            let count = self.width.saturating_sub(q * BLOCK);
            if count >= BLOCK {
                isa.load_numbers(&limbs[q * BLOCK..], self.stride, BLOCK, words);
            } else if count > 0 {
                isa.load_numbers(&limbs[q * BLOCK..], self.stride, count, words);
            }
        }
        let mut digits = [isa.splat(0); D];
        macro_rules! cut {
            ($($t:literal)*) => {$(
                if $t < D {
                    digits[$t] = cut_digit(isa, &words, $t);
                }
            )*};
        }
        for_each_column!(cut);
        digits
    }

    /// Asks for the memory of group `i`.
    #[inline(always)]
    fn prefetch<I: Vector>(&self, i: usize) {
        let group = I::LANES * self.stride;
        if let Some(limbs) = self.limbs.get(i * group..(i + 1) * group) {
            prefetch::all(limbs);
        }
    }
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
            let mut columns = [isa.splat(0); C];
            for (i, r) in r.chunks_exact_mut(I::LANES * width).enumerate() {
                if is_prefetched {
                    a.prefetch::<I>(i + 2);
                    b.prefetch::<I>(i + 2);
                }
                let x: [I::V; D] = a.digits::<I, W, D>(isa, i);
                if is_square {
                    school::square(isa, &mut columns, &x);
                } else {
                    let y: [I::V; D] = b.digits::<I, W, D>(isa, i);
                    product(isa, &mut columns, &x, &y);
                }
                store(isa, &columns, r, width);
            }
        },
    );
}

#[inline(never)]
fn product<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    school::product(isa, r, a, b);
}

/// Carries columns through, packs them and stores the numbers of a group.
#[inline(always)]
fn store<I: Vector, const C: usize>(isa: I, columns: &[I::V; C], r: &mut [Limb], width: usize) {
    let mut sums = [isa.splat(0); C];
    let mut words = [isa.splat(0); BLOCK_WORDS];
    let mut carry = isa.no_carry();
    macro_rules! carry_and_pack {
        ($($t:literal)*) => {$(
            if $t < C {
                let sum;
                (sum, carry) = isa.carry(columns[$t], carry);
                sums[$t] = sum;
                let word = $t * DIGIT_BITS as usize / 64;
                if ($t + 1) * DIGIT_BITS as usize >= 64 * (word + 1) {
                    words[word % BLOCK_WORDS] = pack_word(isa, &sums, word);
                    if word % BLOCK_WORDS == BLOCK_WORDS - 1 {
                        let first = word / BLOCK_WORDS * BLOCK;
                        let count = width.saturating_sub(first);
                        if count >= BLOCK {
                            isa.store_numbers(&words, &mut r[first..], width, BLOCK);
                        } else if count > 0 {
                            isa.store_numbers(&words, &mut r[first..], width, count);
                        }
                    }
                }
            }
        )*};
    }
    for_each_column!(carry_and_pack);
    let _ = carry;
}
