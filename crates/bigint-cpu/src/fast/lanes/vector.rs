//! The vector operations in which the arithmetic of lanes is written.

use std::cell::Cell;

use bigint_core::Limb;
use bytemuck::Pod;

use crate::memory::grow;

thread_local! {
    static SCRATCH: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// The limbs of a block: four 64-bit words of a number.
pub(super) const BLOCK: usize = 8;

/// The 64-bit words of a block.
pub(super) const BLOCK_WORDS: usize = BLOCK / 2;

/// The bits of a digit. 16 digits are a whole number of words.
pub(in crate::fast) const DIGIT_BITS: u32 = 52;

/// A column, which is a signed word, holds less than this many column units of `2^DIGIT_BITS`.
pub(super) const HEADROOM: u64 = 1 << (63 - DIGIT_BITS);

/// The most column units in a column of `n` products of digits: the low half of each, and the high
/// half of as many products from the column below.
pub(super) const fn terms(n: usize) -> u64 {
    2 * n as u64
}

/// The vectors of 64-bit lanes of a machine. Each lane has one number.
///
/// A value of an implementing type proves that the machine has the instructions, as it is only
/// made after they were detected. So the methods are safe. They are always inlined, and become
/// single instructions inside [`Vector::vectorize`], which compiles its argument for those
/// instructions.
pub(in crate::fast) trait Vector: Copy + Send + Sync + 'static {
    /// `LANES` words of 64 bits.
    type V: Pod + Send + Sync;
    /// A product of digits, from which both halves can be computed.
    type Product: Copy;
    /// The lanes of a vector.
    const LANES: usize;
    /// What a column must contain beforehand for each product of which it gets the low half, and
    /// for each of which it gets the high half. [`Vector::add_low`] and [`Vector::add_high`]
    /// subtract it. Both are even.
    const BIAS: [u64; 2];
    /// Whether the low half of a product may be negative.
    const LOW_IS_SIGNED: bool;
    /// Whether both halves of a product are computed together, and are best added at once. If not,
    /// all low halves of a step are added first, so that none waits for the sum before it.
    const HALVES_TOGETHER: bool;
    /// The digits of a factor that the schoolbook kernel keeps in registers, at most 14.
    const ROWS: usize;

    /// Calls `f` compiled for this machine's instructions.
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R;

    /// Lends `f` memory of `length` vectors, with any contents. The memory is kept after the call,
    /// so that small batches need not allocate.
    fn with_scratch<R>(self, length: usize, f: impl FnOnce(&mut [Self::V]) -> R) -> R {
        let mut words = SCRATCH.take();
        // One more vector allows for the words before the first aligned one.
        let needed = (length + 1) * Self::LANES;
        if words.len() < needed {
            grow(&mut words, needed);
        }
        let (_, vectors, _) = bytemuck::pod_align_to_mut(&mut words);
        let result = f(&mut vectors[..length]);
        SCRATCH.set(words);
        result
    }

    /// The same word in every lane.
    fn splat(self, word: u64) -> Self::V;
    /// `x + y mod 2^64`.
    fn add(self, x: Self::V, y: Self::V) -> Self::V;
    /// `x - y mod 2^64`.
    fn sub(self, x: Self::V, y: Self::V) -> Self::V;
    /// Bitwise and.
    fn and(self, x: Self::V, y: Self::V) -> Self::V;
    /// Bitwise or.
    fn or(self, x: Self::V, y: Self::V) -> Self::V;
    /// `x << s`, `s < 64`.
    fn shift_left(self, x: Self::V, s: u32) -> Self::V;
    /// `x >> s` without sign, `s < 64`.
    fn shift_right(self, x: Self::V, s: u32) -> Self::V;
    /// A carry of zero, in the form that [`Vector::carry`] takes.
    fn no_carry(self) -> Self::V;
    /// A signed column, in the form that [`Vector::carry`] takes: raised.
    fn raise(self, column: Self::V) -> Self::V;
    /// The sum of a raised column and the carry from below, and the carry to the column above. The
    /// low `DIGIT_BITS` bits of the sum are the digit of the column.
    fn carry(self, raised: Self::V, carry: Self::V) -> (Self::V, Self::V);
    /// The 64 bits of two or three digits that begin at bit `s` of the first one. The digits are
    /// given as raised columns and as their sums by [`Vector::carry`].
    fn word(self, s: u32, raised: &[Self::V], sums: &[Self::V]) -> Self::V;
    /// Bits `s .. s + 64` of `high 2^64 + low`, `0 < s < 64`.
    fn funnel(self, high: Self::V, low: Self::V, s: u32) -> Self::V;
    /// The factor of the digit in the low `DIGIT_BITS` bits of `x`: the form in which it is
    /// multiplied.
    fn factor(self, x: Self::V) -> Self::V;
    /// The digit of which `factor` is the factor.
    fn digit(self, factor: Self::V) -> Self::V;
    /// The product `x y = h 2^DIGIT_BITS + l` of two factors, `0 <= h < 2^DIGIT_BITS` and
    /// `|l| < 2^DIGIT_BITS`.
    fn product(self, x: Self::V, y: Self::V) -> Self::Product;
    /// `column + l - BIAS[0]`.
    fn add_low(self, column: Self::V, product: Self::Product) -> Self::V;
    /// `column + h - BIAS[1]`.
    fn add_high(self, column: Self::V, product: Self::Product) -> Self::V;

    /// Loads `width` limbs of each of `LANES` numbers as words. Limb `j` of lane `l` is
    /// `limbs[l * stride + j]`. `words` has whole blocks, which are filled up with zeros.
    fn load_numbers(self, limbs: &[Limb], stride: usize, width: usize, words: &mut [Self::V]);

    /// The reverse of [`Vector::load_numbers`].
    fn store_numbers(self, words: &[Self::V], limbs: &mut [Limb], stride: usize, width: usize);

    /// The words of `LANES` limbs of an even row and of the odd row above it.
    fn load_rows(self, even: &[Limb], odd: &[Limb]) -> Self::V;

    /// The low halves of `LANES` words.
    fn store_row(self, words: Self::V, row: &mut [Limb]);
}

/// Defines methods each of which is one instruction on registers.
#[cfg(target_arch = "x86_64")]
macro_rules! instructions {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident($($x:ident: $t:ty),+) -> $r:ty = $instruction:path;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        $vis fn $name(self, $($x: $t),+) -> $r {
            // SAFETY: `self` proves that the machine has the instruction, which touches no memory.
            unsafe { $instruction($($x),+) }
        }
    )+};
}

#[cfg(target_arch = "x86_64")]
pub(super) use instructions;
