//! One SIMD lane for each number of a batch.
//!
//! A group of as many numbers as a vector has lanes is brought into *digit vectors*:
//! digit `i` of all of them in one vector, 52 bits wide with AVX-512 IFMA and 28 with
//! AVX2. From there on every lane computes its own product by the same instructions,
//! without branches and without a carry chain until the very end:
//!
//! 1. [`transfer`]: limbs to words, words transposed so that each vector holds one
//!    word of every number; `digits`: words to digits;
//! 2. `school`, `karatsuba`: digits to columns, the sums of the digit products of
//!    one weight;
//! 3. `digits`: columns carried through and packed into words; [`transfer`]: words
//!    transposed back and stored as limbs.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod digits;
mod karatsuba;
mod school;
mod transfer;
mod vector;

use super::{LaneTuning, Path};
use crate::Numbers;
use crate::piece::Piece;
use bigint_core::LIMB_BITS;
use digits::{PERIOD, digits_of_bits, period_words};
use karatsuba::Thresholds;
use transfer::{load, store, words_of_limbs};
use vector::Vector;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;

/// Calls `f` compiled for the instructions of `path`, where the machine has them.
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

/// An operand of a piece: which limbs of it count, and its digit vectors.
struct Operand<'a, V> {
    numbers: Numbers<'a>,
    width: usize,
    words: &'a mut [V],
    digits: &'a mut [V],
}

impl<V: Copy> Operand<'_, V> {
    /// Brings the digits of the numbers from `first` on into the lanes.
    #[inline(always)]
    fn load<I: Vector<V = V>>(&mut self, isa: I, first: usize) {
        load(isa, self.numbers, self.width, first, self.words);
        digits::from_words(isa, self.words, self.digits);
    }
}

/// The sizes of a multiplication, in vectors unless said otherwise.
struct Sizes {
    /// Limbs of the operands that count.
    limbs: [usize; 2],
    words: [usize; 2],
    digits: [usize; 2],
    result_words: usize,
    columns: usize,
    /// Columns that the result needs.
    kept: usize,
    scratch: usize,
}

impl Sizes {
    fn new<I: Vector>(thresholds: Thresholds, widths: [usize; 2], result: usize) -> Self {
        let limbs = widths.map(|width| width.min(result));
        let digits = limbs.map(|limbs| digits_of_bits::<I>(LIMB_BITS * limbs));
        let words = [0, 1].map(|i| {
            let touched = digits[i].div_ceil(PERIOD) * period_words::<I>();
            touched.max(words_of_limbs(limbs[i]))
        });
        let result_words = words_of_limbs(result);
        let product = digits[0] + digits[1];
        let kept = product.min(digits_of_bits::<I>(LIMB_BITS * result));
        Sizes {
            limbs,
            words,
            digits,
            result_words,
            columns: product.max(result_words.div_ceil(period_words::<I>()) * PERIOD),
            kept,
            scratch: if kept < product {
                karatsuba::low_scratch(thresholds, kept)
            } else {
                karatsuba::scratch(thresholds, digits[0], digits[1])
            },
        }
    }

    fn total(&self) -> usize {
        self.words.iter().sum::<usize>()
            + self.digits.iter().sum::<usize>()
            + self.result_words
            + self.columns
            + self.scratch
    }
}

/// The products of a piece of a batch.
pub(super) fn mul<I: Vector>(
    isa: I,
    tuning: LaneTuning,
    mut piece: Piece<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) {
    let thresholds = Thresholds::new::<I>(tuning.karatsuba, tuning.karatsuba_square);
    let widths = [a.shape().width, b.shape().width];
    let sizes = Sizes::new::<I>(thresholds, widths, piece.width);
    let is_square = a.same(&b);
    isa.with_scratch(sizes.total(), |memory| {
        let (words_a, memory) = memory.split_at_mut(sizes.words[0]);
        let (words_b, memory) = memory.split_at_mut(sizes.words[1]);
        let (digits_a, memory) = memory.split_at_mut(sizes.digits[0]);
        let (digits_b, memory) = memory.split_at_mut(sizes.digits[1]);
        let (words, memory) = memory.split_at_mut(sizes.result_words);
        let (columns, scratch) = memory.split_at_mut(sizes.columns);
        // Words above the operands and columns above the product stay zero.
        words_a.fill(isa.splat(0));
        words_b.fill(isa.splat(0));
        columns.fill(isa.splat(0));
        let mut a = Operand {
            numbers: a,
            width: sizes.limbs[0],
            words: words_a,
            digits: digits_a,
        };
        let mut b = Operand {
            numbers: b,
            width: sizes.limbs[1],
            words: words_b,
            digits: digits_b,
        };
        let is_low = sizes.kept < sizes.digits.iter().sum();
        isa.vectorize(
            #[inline(always)]
            || {
                for i in (0..piece.count).step_by(I::LANES) {
                    let first = piece.first + i;
                    // A number that stands for all is brought in once.
                    if i == 0 || !a.numbers.is_broadcast() {
                        a.load(isa, first);
                    }
                    if !is_square && (i == 0 || !b.numbers.is_broadcast()) {
                        b.load(isa, first);
                    }
                    let (x, y) = (&*a.digits, if is_square { &*a.digits } else { &*b.digits });
                    let r = &mut columns[..x.len() + y.len()];
                    if is_low {
                        karatsuba::low_product(isa, thresholds, r, x, y, sizes.kept, scratch);
                    } else if is_square {
                        karatsuba::square(isa, thresholds, r, x, scratch);
                    } else if sizes.scratch == 0 {
                        school::product(isa, r, x, y);
                    } else {
                        karatsuba::product(isa, thresholds, r, x, y, scratch);
                    }
                    digits::to_words(isa, columns, words);
                    store(isa, words, &mut piece, i);
                }
            },
        );
    });
}
