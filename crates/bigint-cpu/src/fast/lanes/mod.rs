//! One SIMD lane for each number of a batch.
//!
//! A group has as many numbers as a vector has lanes. It is turned into *digit vectors*, each of which has
//! the same digit, of 52 bits, of all numbers. From there on each lane computes its own product by the
//! same instructions, without branches, and without a carry chain until the very end:
//!
//! 1. [`transfer`]: a block of limbs of each number transposed, so that each vector holds
//!    one word of every number; `digits`: the block's words to digits;
//! 2. `school`, `karatsuba`: digits to columns, the sums of the digit products of
//!    one weight;
//! 3. `digits`: columns carried through and packed into a block of words; [`transfer`]:
//!    the block transposed back and stored as limbs.
//!
//! `fixed` does this for short numbers, whose length is a constant there. `montgomery`, `chain`,
//! `fixed_base`, `division`, `root` and `gcd` compute other operations with digits in lanes.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(super) mod chain;
mod digits;
#[cfg(target_arch = "x86_64")]
mod division;
mod fixed;
#[cfg(target_arch = "x86_64")]
pub(super) mod fixed_base;
#[cfg(target_arch = "x86_64")]
mod gcd;
mod karatsuba;
pub(super) mod montgomery;
#[cfg(target_arch = "x86_64")]
mod reciprocal;
#[cfg(target_arch = "x86_64")]
mod root;
mod school;
mod transfer;
mod vector;

use super::prefetch::Lines;
use super::{LaneTuning, Path};
use crate::Numbers;
use crate::piece::Piece;
use bigint_core::LIMB_BITS;
use digits::{digits_of_bits, digits_of_blocks};
use karatsuba::Thresholds;
use transfer::{
    lines_of_operand, lines_of_result, load, prefetch_result_rows, prefetch_rows, store,
};
use vector::{BLOCK, BLOCK_WORDS, Vector};

pub(super) use vector::DIGIT_BITS;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;

/// Calls `f` compiled for the instructions of `path`, if the machine has them.
#[inline]
pub(super) fn compiled<R>(path: Path, f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    match path {
        Path::Avx512Ifma => {
            if let Some(isa) = Avx512::detect() {
                return isa.vectorize(f);
            }
        }
        Path::Avx2 => {
            if let Some(isa) = Avx2::detect() {
                return isa.vectorize(f);
            }
        }
        Path::Portable => {}
    }
    f()
}

/// Whether the lanes of a path multiply and add digits in one instruction. If not, 64-bit words are as
/// fast for everything but products.
pub(super) fn have_multipliers(path: Path) -> bool {
    cfg!(target_arch = "x86_64") && path == Path::Avx512Ifma
}

/// The numbers of a batch that lanes compute at once: as many as there are lanes, or fewer at the end of a
/// piece.
pub(super) struct Group<'g, 'p> {
    pub r: &'g mut Piece<'p>,
    /// The second result, for operations that have two.
    pub s: Option<&'g mut Piece<'p>>,
    /// The index of the group's first number in the pieces.
    pub i: usize,
    pub operands: &'g [Numbers<'g>],
}

impl Group<'_, '_> {
    /// The index of the group's first number in the operands.
    pub fn first(&self) -> usize {
        self.r.first + self.i
    }
}

/// Computes the quotients and remainders of a group. Returns the lanes whose results are right, as the
/// functions below do.
pub(super) fn div_rem(group: Group<'_, '_>) -> u8 {
    let first = group.first();
    let Group { r, s, i, operands } = group;
    quotients([Some(r), s], i, first, operands)
}

/// Computes the quotients of a group.
pub(super) fn div(group: Group<'_, '_>) -> u8 {
    let first = group.first();
    quotients([Some(group.r), None], group.i, first, group.operands)
}

/// Computes the remainders of a group.
pub(super) fn rem(group: Group<'_, '_>) -> u8 {
    let first = group.first();
    quotients([None, Some(group.r)], group.i, first, group.operands)
}

fn quotients(
    results: [Option<&mut Piece<'_>>; 2],
    i: usize,
    first: usize,
    operands: &[Numbers<'_>],
) -> u8 {
    #[cfg(target_arch = "x86_64")]
    if let (Some(isa), &[a, b]) = (Avx512::detect(), operands) {
        return division::div_rem(isa, results, i, first, [a, b]);
    }
    let _ = (results, i, first, operands);
    0
}

/// Computes the square roots of a group and their remainders.
pub(super) fn isqrt(group: Group<'_, '_>) -> u8 {
    let first = group.first();
    #[cfg(target_arch = "x86_64")]
    if let (Some(isa), &[a], Some(rest)) = (Avx512::detect(), group.operands, group.s) {
        return root::isqrt(isa, [group.r, rest], group.i, first, a);
    }
    let _ = first;
    0
}

/// Computes the greatest common divisors of a group.
pub(super) fn gcd(group: Group<'_, '_>) -> u8 {
    let first = group.first();
    #[cfg(target_arch = "x86_64")]
    if let (Some(isa), &[a, b]) = (Avx512::detect(), group.operands) {
        return gcd::gcd(isa, group.r, group.i, first, [a, b]);
    }
    let _ = first;
    0
}

/// Computes the modular inverses of a group.
pub(super) fn inv_mod(group: Group<'_, '_>) -> u8 {
    let first = group.first();
    #[cfg(target_arch = "x86_64")]
    if let (Some(isa), &[a, m]) = (Avx512::detect(), group.operands) {
        return gcd::inv_mod(isa, group.r, group.i, first, [a, m]);
    }
    let _ = first;
    0
}

/// The count of numbers that are multiplied at once on `path`.
pub(super) fn of(path: Path) -> usize {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Avx512Ifma => Avx512::LANES,
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => Avx2::LANES,
        _ => 1,
    }
}

/// An operand of a piece: how many of its limbs count, and its digit vectors.
struct Operand<'a, V> {
    numbers: Numbers<'a>,
    width: usize,
    /// The first number of the piece.
    first: usize,
    /// The digits of whole blocks. Those from `count` on are zero.
    digits: &'a mut [V],
    count: usize,
}

impl<V: Copy> Operand<'_, V> {
    /// Loads the digits of the numbers from `first` on into the lanes. A number that stands for all is
    /// loaded once.
    #[inline(always)]
    fn load<I: Vector<V = V>>(&mut self, isa: I, first: usize, words: &mut [V]) {
        if !self.numbers.is_broadcast() || first == self.first {
            load(isa, self.numbers, self.width, first, self.digits, words);
        }
    }
}

/// The sizes of a multiplication, in vectors unless something else is said.
struct Sizes {
    /// The limbs of each operand that the result depends on.
    limbs: [usize; 2],
    digits: [usize; 2],
    /// The digits of the whole blocks of each operand.
    digits_of_blocks: [usize; 2],
    columns: usize,
    /// The columns that the result needs.
    kept: usize,
    /// The words of the result's whole blocks.
    words: usize,
    scratch: usize,
}

impl Sizes {
    fn new(thresholds: Thresholds, widths: [usize; 2], result: usize) -> Self {
        let limbs = widths.map(|width| width.min(result));
        let digits = limbs.map(|limbs| digits_of_bits(LIMB_BITS * limbs));
        let blocks = |limbs: usize| limbs.div_ceil(BLOCK);
        let product = digits[0] + digits[1];
        // A result that holds the whole product may have fewer digits than the product has columns.
        let is_whole = result >= limbs[0] + limbs[1];
        let kept = if is_whole {
            product
        } else {
            digits_of_bits(LIMB_BITS * result)
        };
        Sizes {
            limbs,
            digits,
            digits_of_blocks: limbs.map(|limbs| digits_of_blocks(blocks(limbs))),
            columns: product.max(digits_of_blocks(blocks(result))),
            kept,
            words: BLOCK_WORDS * blocks(result),
            scratch: if kept < product {
                karatsuba::low_scratch(thresholds, kept)
            } else {
                karatsuba::scratch(thresholds, digits[0], digits[1])
            },
        }
    }

    fn total(&self) -> usize {
        self.digits_of_blocks.iter().sum::<usize>() + self.columns + self.words + self.scratch
    }
}

/// Computes the products of a piece of a batch. `is_prefetched` says that the memory of the piece is not
/// in the cache yet, and is prefetched.
pub(super) fn mul<I: Vector>(
    isa: I,
    tuning: LaneTuning,
    is_prefetched: bool,
    mut piece: Piece<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) {
    let done = fixed::mul(isa, is_prefetched, &mut piece, a, b);
    if done > 0 {
        piece = piece.split_off(done);
        if piece.count == 0 {
            return;
        }
    }
    let thresholds = Thresholds::new(tuning.karatsuba, tuning.karatsuba_square);
    let widths = [a.shape().width, b.shape().width];
    let sizes = Sizes::new(thresholds, widths, piece.width);
    let is_square = a.same(&b);
    isa.with_scratch(sizes.total(), |memory| {
        let (digits_a, memory) = memory.split_at_mut(sizes.digits_of_blocks[0]);
        let (digits_b, memory) = memory.split_at_mut(sizes.digits_of_blocks[1]);
        let (columns, memory) = memory.split_at_mut(sizes.columns);
        let (words, scratch) = memory.split_at_mut(sizes.words);
        // Columns above the product stay zero.
        columns[sizes.digits[0] + sizes.digits[1]..].fill(isa.splat(0));
        let mut a = Operand {
            numbers: a,
            width: sizes.limbs[0],
            first: piece.first,
            digits: digits_a,
            count: sizes.digits[0],
        };
        let mut b = Operand {
            numbers: b,
            width: sizes.limbs[1],
            first: piece.first,
            digits: digits_b,
            count: sizes.digits[1],
        };
        let is_low = sizes.kept < sizes.digits.iter().sum();
        isa.vectorize(
            #[inline(always)]
            || {
                for i in (0..piece.count).step_by(I::LANES) {
                    let first = piece.first + i;
                    a.load(isa, first, words);
                    if !is_square {
                        b.load(isa, first, words);
                    }
                    // The memory of this result and of the next operands is prefetched while
                    // the machine multiplies.
                    let next = first + I::LANES;
                    let mut ahead = Lines::none();
                    if is_prefetched {
                        let result = lines_of_result::<I>(&piece, i);
                        let second = if is_square {
                            &[]
                        } else {
                            lines_of_operand::<I>(b.numbers, next)
                        };
                        let first = lines_of_operand::<I>(a.numbers, next);
                        ahead = Lines::new(result, first, second);
                        prefetch_rows(a.numbers, a.width, next);
                        prefetch_rows(b.numbers, b.width, next);
                        prefetch_result_rows(&piece, i + I::LANES);
                    }
                    let x = &a.digits[..a.count];
                    let y = if is_square { x } else { &b.digits[..b.count] };
                    let r = &mut columns[..x.len() + y.len()];
                    if is_low {
                        karatsuba::low_product(
                            isa, thresholds, r, x, y, sizes.kept, scratch, &mut ahead,
                        );
                    } else if is_square {
                        karatsuba::square(isa, thresholds, r, x, scratch, &mut ahead);
                    } else if sizes.scratch == 0 {
                        school::product(isa, r, x, y, &mut ahead);
                    } else {
                        karatsuba::product(isa, thresholds, r, x, y, scratch, &mut ahead);
                    }
                    ahead.finish();
                    store(isa, columns, &mut piece, i, words);
                }
            },
        );
    });
}
