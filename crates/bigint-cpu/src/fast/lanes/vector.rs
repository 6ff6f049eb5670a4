//! The few vector operations that lanes arithmetic is written in.

use std::cell::Cell;

use bigint_core::Limb;
use bytemuck::Pod;

use crate::memory::grow;

thread_local! {
    static SCRATCH: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// Limbs of a number that one block takes: four 64-bit words.
pub(super) const BLOCK: usize = 8;

/// Words of a number in one block.
pub(super) const BLOCK_WORDS: usize = BLOCK / 2;

/// Bits of a digit. 16 digits are a whole number of words.
pub(in crate::fast) const DIGIT_BITS: u32 = 52;

/// A signed word of a column holds less than this many column units of `2^DIGIT_BITS`.
pub(super) const HEADROOM: u64 = 1 << (63 - DIGIT_BITS);

/// Column units in a column of `n` digit products at most: the low half of each, and
/// the high half of as many from the column below.
pub(super) const fn terms(n: usize) -> u64 {
    2 * n as u64
}

/// A machine's vectors of 64-bit lanes, one number in each lane.
///
/// A value of an implementing type is the proof that the machine has the
/// instructions: it is only made where they were detected. The methods are
/// therefore safe, and always inlined; they become single instructions inside
/// [`Vector::vectorize`], which compiles its argument for those instructions.
pub(in crate::fast) trait Vector: Copy + Send + Sync + 'static {
    /// `LANES` words of 64 bits.
    type V: Pod + Send + Sync;
    /// A product of digits, as both halves are got from it.
    type Product: Copy;
    /// Lanes of a vector.
    const LANES: usize;
    /// What a column needs besides for each product of which it gets the low half, and
    /// for each of which it gets the high half: the two sums take it off. Even.
    const BIAS: [u64; 2];
    /// Whether the low half of a product may be negative.
    const LOW_IS_SIGNED: bool;
    /// Whether the halves of a product come out of one computation, and are best added
    /// as they do; else all low halves of a step are added first, so that none waits for
    /// the sum before it.
    const HALVES_TOGETHER: bool;
    /// Digits of a factor that the schoolbook kernel keeps in registers, at most 14.
    const ROWS: usize;

    /// Calls `f` compiled for this machine's instructions.
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R;

    /// Lends memory that outlives the call, so that small batches need not
    /// allocate: `length` vectors of any contents.
    fn with_scratch<R>(self, length: usize, f: impl FnOnce(&mut [Self::V]) -> R) -> R {
        let mut words = SCRATCH.take();
        // One vector more, for what lies before the first aligned one.
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
    /// What [`Vector::carry`] takes as a carry of zero.
    fn no_carry(self) -> Self::V;
    /// A signed column, as [`Vector::carry`] takes it.
    fn raise(self, column: Self::V) -> Self::V;
    /// A raised column and the carry from below: their sum, whose low `DIGIT_BITS` bits
    /// are the column's digit, and the carry to the column above.
    fn carry(self, raised: Self::V, carry: Self::V) -> (Self::V, Self::V);
    /// The 64 bits from bit `s` of the first of two or three digits on, given the raised
    /// columns and the sums that [`Vector::carry`] made of them.
    fn word(self, s: u32, raised: &[Self::V], sums: &[Self::V]) -> Self::V;
    /// Bits `s .. s + 64` of `high 2^64 + low`, `0 < s < 64`.
    fn funnel(self, high: Self::V, low: Self::V, s: u32) -> Self::V;
    /// The form in which the digit in the low `DIGIT_BITS` bits of `x` is multiplied:
    /// a factor.
    fn factor(self, x: Self::V) -> Self::V;
    /// The digit that is multiplied as `factor`.
    fn digit(self, factor: Self::V) -> Self::V;
    /// The product `x y = h 2^DIGIT_BITS + l` of two factors, `0 <= h < 2^DIGIT_BITS` and
    /// `|l| < 2^DIGIT_BITS`.
    fn product(self, x: Self::V, y: Self::V) -> Self::Product;
    /// `column + l - BIAS[0]`.
    fn add_low(self, column: Self::V, product: Self::Product) -> Self::V;
    /// `column + h - BIAS[1]`.
    fn add_high(self, column: Self::V, product: Self::Product) -> Self::V;

    /// Words of `LANES` numbers from `width` limbs of each: limb `j` of lane `l` is
    /// `limbs[l * stride + j]`. `words` takes whole blocks; what is missing is zero.
    fn load_numbers(self, limbs: &[Limb], stride: usize, width: usize, words: &mut [Self::V]);

    /// The reverse of [`Vector::load_numbers`].
    fn store_numbers(self, words: &[Self::V], limbs: &mut [Limb], stride: usize, width: usize);

    /// The words of `LANES` limbs of an even row and of the odd row above it.
    fn load_rows(self, even: &[Limb], odd: &[Limb]) -> Self::V;

    /// The low halves of `LANES` words.
    fn store_row(self, words: Self::V, row: &mut [Limb]);
}

/// Methods of a machine's proof that are one instruction on registers each.
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
