//! Division steps [Bernstein and Yang 2019], by which every back end computes inverses in constant
//! time.
//!
//! For an odd `f`, any `g` and a counter `delta` that begins at 1, a step maps `(delta, f, g)` to
//!
//! ```text
//! (1 - delta, g, (g - f) / 2)            where delta > 0 and g is odd
//! (1 + delta, f, (g + (g mod 2) f) / 2)  else
//! ```
//!
//! After [`divstep_rounds`] rounds of [`DIGIT_BITS`] steps, whatever the numbers, `g` is 0 and `f`
//! is their greatest common divisor or its negative. By hand, `(delta, f, g)` from 7 and 3 on is
//! (1, 7, 3), (0, 3, -2), (1, 3, -1), (0, -1, -2), (1, -1, -1), (0, -1, 0).
//!
//! The effect of 30 steps depends on the lowest 30 bits of `f` and `g` alone. It is a matrix of
//! integers divided by 2^30, so numbers are kept in digits of 30 bits: dividing by 2^30 moves each
//! digit down by one place. On the CPU, whose words have 64 bits, it is 62 steps.

use crate::LIMB_BITS;

/// The bits of a digit, which are also the steps of a round.
pub const DIGIT_BITS: usize = 30;

/// The digits of a signed number that is at most twice a number of `width` limbs in size.
#[inline(always)]
pub const fn divstep_digits(width: usize) -> usize {
    (LIMB_BITS * width + 2).div_ceil(DIGIT_BITS)
}

/// The pairs of digits in the column of a thread that inverts numbers of `width` limbs. The column
/// holds five numbers: `f`, `g`, their two cofactors and the modulus. Two digits of a number make a
/// pair, so each number has its digits rounded up to an even count.
#[inline(always)]
pub const fn divstep_pairs(width: usize) -> usize {
    5 * divstep_digits(width).div_ceil(2)
}

/// The digits of a number that each lane has where lanes of a warp share the numbers.
pub const DIVSTEP_LANE: usize = 18;

/// Whether `lanes` lanes hold the cofactors of numbers of `width` limbs in their digits. These grow by half the modulus
/// in each round, so that 11 bits more than the modulus has are enough for any width that 32 lanes hold, and one is for
/// the sign.
#[inline(always)]
pub const fn divstep_lanes_hold(width: usize, lanes: u32) -> bool {
    LIMB_BITS * width + 12 <= DIGIT_BITS * DIVSTEP_LANE * lanes as usize
}

/// The steps that suffice for numbers of up to `width` limbs [Bernstein and Yang 2019, theorem
/// 11.2].
#[inline(always)]
pub const fn divstep_count(width: usize) -> usize {
    let bits = LIMB_BITS * width;
    (49 * bits + if bits < 46 { 80 } else { 57 }) / 17
}

/// Rounds of [`DIGIT_BITS`] steps that suffice for numbers of up to `width` limbs.
#[inline(always)]
pub const fn divstep_rounds(width: usize) -> usize {
    divstep_count(width).div_ceil(DIGIT_BITS)
}

/// Defines a round of two halves of steps on words of one size.
macro_rules! round {
    ($(#[$doc:meta])* $name:ident: $half:literal $half_name:ident $word:ty, $signed:ty) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(
            delta: $signed,
            f: $word,
            g: $word,
            hidden: impl Fn($word) -> $word + Copy,
        ) -> ($signed, [[$signed; 2]; 2]) {
            let start = (delta.wrapping_neg(), f, g);
            let (middle, [[u, v], [q, r]]) = $half_name(start, hidden);
            let ((less_delta, ..), second) = $half_name(middle, hidden);
            let sum = |[a, b]: [$signed; 2], x: $signed, y: $signed| {
                a.wrapping_mul(x).wrapping_add(b.wrapping_mul(y))
            };
            let matrix = second.map(|row| [sum(row, u, q), sum(row, v, r)]);
            (less_delta.wrapping_neg(), matrix)
        }

        /// The state after half a round, and its matrix. The state is `-delta` and the lowest bits of `f` and `g`.
        ///
        /// Both entries of a row are in one word, the second in its upper half, and are added up together. They fit: with
        /// `h` steps, `q` and `r` are less than `2^h` in size, and so are `u` and `v` without the factor 2 of the last step.
        /// (A `q` of `2^h` would be all of its row, and `v` would be 1, as the determinant `u r - v q` is `2^h` in size; but
        /// `v` is even.)
        #[inline(always)]
        fn $half_name(
            (mut less_delta, mut f, mut g): ($signed, $word, $word),
            hidden: impl Fn($word) -> $word,
        ) -> (($signed, $word, $word), [[$signed; 2]; 2]) {
            const UP: u32 = <$word>::BITS / 2;
            let (mut upper, mut lower): ($word, $word) = (1, 1 << UP);
            let mut step = 0;
            while step < $half {
                let is_odd = g & 1;
                // 1 where delta > 0 and g is odd, else 0.
                let swaps = hidden(is_odd & less_delta as $word >> (<$word>::BITS - 1));
                // The multiple of `f` that is added to `g`: -1, 0 or 1.
                let sign = is_odd.wrapping_sub(swaps << 1);
                g = g.wrapping_add(sign.wrapping_mul(f));
                lower = lower.wrapping_add(sign.wrapping_mul(upper));
                // Where it swaps, `g` is now `g - f`; adding that to `f` makes `f` the old `g`.
                f = f.wrapping_add(swaps.wrapping_mul(g));
                upper = upper.wrapping_add(swaps.wrapping_mul(lower));
                let turned = (1 as $signed).wrapping_sub((swaps << 1) as $signed);
                less_delta = turned.wrapping_mul(less_delta).wrapping_sub(1);
                g >>= 1;
                step += 1;
                if step < $half {
                    upper <<= 1;
                }
            }
            let entries = |row: $word, factor: $signed| {
                let first = (row << UP) as $signed >> UP;
                let second = (row as $signed).wrapping_sub(first) >> UP;
                [first * factor, second * factor]
            };
            ((less_delta, f, g), [entries(upper, 2), entries(lower, 1)])
        }
    };
}

round! {
    /// The counter after a round, and the round's matrix `[[u, v], [q, r]]`, from the lowest bits of
    /// `f` and `g`. The round replaces `(f, g)` by `(u f + v g, q f + r g)` divided by 2^30. No branch
    /// depends on the numbers. `|u| + |v|` and `|q| + |r|` are at most 2^30.
    ///
    /// It is the product of the matrices of two halves. `hidden` returns its argument, and may hide from
    /// the compiler that it is 0 or 1, from which a branch could be made.
    divsteps: 15 half u32, i32
}

round! {
    /// The same of [`WIDE_DIGIT_BITS`] steps.
    wide_divsteps: 31 wide_half u64, i64
}

/// The bits of a digit of words of 64 bits, which are also the steps of a round of [`wide_divsteps`].
pub const WIDE_DIGIT_BITS: usize = 62;

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps by the definition, one after another.
    fn steps(mut delta: i128, mut f: i128, mut g: i128, count: usize) -> (i128, i128, i128) {
        for _ in 0..count {
            (delta, f, g) = match (delta > 0, g % 2 != 0) {
                (true, true) => (1 - delta, g, (g - f) / 2),
                (_, odd) => (1 + delta, f, (g + i128::from(odd) * f) / 2),
            };
        }
        (delta, f, g)
    }

    #[test]
    fn a_round_is_its_steps() {
        let mut state = 1_u64;
        for _ in 0..1000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let (f, g) = ((state >> 30) as u32 | 1, (state >> 7) as u32);
            let delta = (state >> 60) as i32 - 8;
            let (after, [[u, v], [q, r]]) = divsteps(delta, f, g, |x| x);
            let (f, g) = (i128::from(f), i128::from(g));
            let of = |x: i32, y: i32| i128::from(x) * f + i128::from(y) * g;
            let found = (i128::from(after), of(u, v) >> 30, of(q, r) >> 30);
            assert_eq!(found, steps(delta.into(), f, g, DIGIT_BITS));
            assert!((of(u, v) | of(q, r)) & ((1 << 30) - 1) == 0);
            assert!(u.unsigned_abs() + v.unsigned_abs() <= 1 << 30);
            assert!(q.unsigned_abs() + r.unsigned_abs() <= 1 << 30);

            let (f, g) = (i128::from(state | 1), i128::from(state.rotate_left(29)));
            let (after, [[u, v], [q, r]]) = wide_divsteps(delta.into(), f as u64, g as u64, |x| x);
            let of = |x: i64, y: i64| i128::from(x) * f + i128::from(y) * g;
            let found = (i128::from(after), of(u, v) >> 62, of(q, r) >> 62);
            assert_eq!(found, steps(delta.into(), f, g, WIDE_DIGIT_BITS));
            assert!((of(u, v) | of(q, r)) & ((1 << 62) - 1) == 0);
            assert!(u.unsigned_abs() + v.unsigned_abs() <= 1 << 62);
            assert!(q.unsigned_abs() + r.unsigned_abs() <= 1 << 62);
        }
    }

    #[test]
    fn every_pair_of_small_numbers_ends_within_the_rounds() {
        for f in (1..200_i128).step_by(2) {
            for g in 0..200 {
                let (_, f, g) = steps(1, f, g, DIGIT_BITS * divstep_rounds(1));
                assert_eq!((f.abs() > 0, g), (true, 0));
            }
        }
    }
}
