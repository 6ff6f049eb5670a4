//! The conversion of limbs to decimal digits, by one division and then products only.
//!
//! Let `B = 2^64` and `P_k = 10^(19 k)`. A number `x < P_k`, which has `k` words of 19 digits,
//! is printed from a fraction of `k` limbs
//!
//! ```text
//! f / B^k = (x + e) / P_k,     0 < e < 1.                                       (1)
//! ```
//!
//! **Halving.** Let `h = k / 2` and `x = q P_h + r`. The product of the fraction by `P_h` has
//! `q` above the point and `(r + e) / P_h` behind it, which is the fraction of `r`, cut off at
//! `h` limbs. The upper `h` limbs of `f` are the fraction of `q`, but with `(r + e) / P_h` as
//! its `e`, which may be too near 0 or 1 for the part that is cut off. This `e` is the fraction
//! of `r`, which is known, so its difference to 1/2 is added, `1 / P_h` for each unit
//! ([`Power::center`]). Both fractions take the place of `f`, and are halved in turn, down to
//! leaves of a few dozen words. A leaf is multiplied by `10^19` again and again, and each time
//! the next word passes the point.
//!
//! An example with `B = 1000`, `P_k = 100^k`, `k = 2` and `x = 1234`: `f = 123450` stands for
//! `1234.5 / 100^2`. Multiplied by 100 it is `12.345`. So the fraction of `r` is `345`, which
//! is `34.5 / 100`. The fraction of `q` is `123`, which is `12.3 / 100`, and `0.5 - 0.345`
//! hundredths are added to it: `124`, which is `12.4 / 100`.
//!
//! **Exactness.** `P_k < B^k 2^(-0.88 k)`, so a unit of the last place of `f` adds less than
//! `2^(-0.88 k)` to `e`. Leaves have at least [`LEAST_LEAF`] words, for which that is `2^-21`.
//! The error of a halving is at most two units (one is cut off, and [`number::Factor::middle`]
//! has an error of one). That of [`Power::center`] is a few units and `2^-28`, and that of the
//! fractions of the first two halves some ten units. A leaf cuts off limbs that count for less
//! than a unit. So `e`, which starts at 1/2, stays between 1/4 and 3/4 in at most 26 halvings.
//!
//! **Powers of five.** `P_h = 5^(19 h) 2^(19 h)`, and the power of two is a shift. It moves
//! limbs at the upper end of `f` above the point, and these need not be multiplied. The factor
//! `5^(19 h)` has `0.69 h` limbs. Of its product with the other `0.85 k` limbs of `f` only the
//! middle `h` are needed. All nodes of a level have the same factor, whose transform is kept.
//!
//! **Cost**: two transforms of `0.85 k` limbs for each of `log2 k` levels (for all nodes of a
//! level together), and for the first division a reciprocal and five products of `k/2` by `k/2`
//! limbs. **Scratch**: 7 times the number, and the scratch of one product of its length.

use super::powers::small_power;
use super::{WORD_BASE, WORD_DIGITS};
use crate::fast::number;
use crate::fast::number::limbs::{add_assign, shift_left, sub_assign, trim};
use crate::fast::number::reciprocal::{Reciprocal, product};
use crate::memory::{empty, reserve_scratch, scratch};
use crate::{Path, share, threads};

/// The most words of a leaf. Leaves have more than half as many, or [`LEAST_LEAF`].
const MOST_LEAF: usize = 80;

/// The least words of a leaf.
const LEAST_LEAF: usize = 24;

/// The power `10^(19 words)`, as `value B^zeros`.
struct Power {
    words: usize,
    value: Vec<u64>,
    zeros: usize,
    /// The transform of `value`, if halving a number by it is worth its time.
    factor: Option<number::Factor>,
    /// `gap 2^gap_shift` is nearly `B^words / 10^(19 words)`.
    gap: i64,
    gap_shift: i64,
}

impl Power {
    /// The power `10^(19 words)`, computed from `five = 5^(19 words)`.
    fn new(words: usize, five: &[u64]) -> Self {
        let bits = WORD_DIGITS * words;
        let mut value = scratch(five.len() + 1);
        shift_left(&mut value, five, (bits % 64) as u32);
        // 5^(19 words) is nearly top 2^(length - 64).
        let length = 64 * five.len() - five.last().map_or(0, |top| top.leading_zeros() as usize);
        let top = five
            .iter()
            .rev()
            .chain(&[0])
            .take(2)
            .fold(0, |top, &limb| top << 64 | u128::from(limb));
        let top = (top << top.leading_zeros() >> 64) as u64;
        Power {
            words,
            value: trim(value),
            zeros: bits / 64,
            factor: None,
            gap: (((1_u128 << 126) / u128::from(top)) >> 32) as i64,
            gap_shift: (64 * words - bits) as i64 - length as i64 + 64 - 126 + 32,
        }
    }

    /// Changes `e` to 1/2 in the fraction `f` of `words` limbs, in which it is `e / B`.
    fn center(&self, f: &mut [u64], e: u64) {
        // (1/2 - e) 2^32 is at most 2^31 in absolute value, and the gap is below 2^31.
        let difference = (1 << 31) - (e >> 32) as i64;
        let (mut units, mut shift) = (i128::from(difference * self.gap), self.gap_shift - 32);
        if shift < 0 {
            (units, shift) = (units >> -shift, 0);
        }
        let (limb, bits) = (shift as usize / 64, shift as usize % 64);
        let magnitude = units.unsigned_abs() << bits;
        let magnitude = [magnitude as u64, (magnitude >> 64) as u64];
        if units < 0 {
            sub_assign(&mut f[limb..], &magnitude);
        } else {
            add_assign(&mut f[limb..], &magnitude);
        }
    }
}

/// The way in which numbers are split.
struct Cut {
    /// The power for a leaf's words, and its repeated squares. The last one halves the number.
    powers: Vec<Power>,
    /// The number of words up to which threads share nodes. Longer nodes are computed one after
    /// another, and threads share the work of each.
    task_words: usize,
}

impl Cut {
    /// The way to split numbers of at most `words` words.
    fn new(words: usize) -> Self {
        let half = words.div_ceil(2).max(LEAST_LEAF);
        let depth = half.div_ceil(MOST_LEAF).next_power_of_two().ilog2();
        let leaf = half.div_ceil(1 << depth);
        let mut five = small_power(5_u64.pow(WORD_DIGITS as u32), leaf);
        let mut powers = Vec::new();
        for level in 0..=depth {
            if level > 0 {
                five = product(&five, &five);
            }
            powers.push(Power::new(leaf << level, &five));
        }
        for power in &mut powers[..depth as usize] {
            let behind = 2 * power.words - power.zeros;
            power.factor = number::Factor::new(&power.value, behind, Path::best(), true);
        }
        let threads = threads();
        Cut {
            powers,
            task_words: match threads {
                1 => usize::MAX,
                _ => (leaf << depth) / (2 * threads),
            },
        }
    }

    /// Prints the number with the fraction `f`, which has as many words as power `level`. `f`
    /// is overwritten.
    fn print(&self, f: &mut [u64], text: &mut [u8], level: usize) {
        let Some(below) = level.checked_sub(1) else {
            return print_leaf(f, text);
        };
        let half = &self.powers[below];
        halve(f, half, false);
        let (low, high) = f.split_at_mut(half.words);
        let (high_text, low_text) = text.split_at_mut(text.len() / 2);
        self.print(high, high_text, below);
        self.print(low, low_text, below);
    }
}

/// Replaces the fraction of a number by the fractions of its two halves. `half` is the power
/// for half as many words.
fn halve(f: &mut [u64], half: &Power, is_shared: bool) {
    let (k, h) = (f.len(), half.words);
    let behind = k - half.zeros;
    let shifted = match &half.factor {
        Some(factor) => factor.middle(&f[..behind], h, is_shared),
        None => {
            let mut whole = scratch(behind + half.value.len());
            let (a, b) = (&f[..behind], &half.value);
            number::mul(&mut whole, a, b, Path::best(), is_shared);
            whole.truncate(behind);
            whole
        }
    };
    f[..h].copy_from_slice(&shifted[shifted.len() - h..]);
    let (low, high) = f.split_at_mut(h);
    half.center(high, low[h - 1]);
}

/// Appends the digits of `x` to `text`, with zeros in front. `x` has no zeros at its end.
/// Returns the count of digits.
pub(super) fn print(x: Vec<u64>, text: &mut Vec<u8>) -> usize {
    // log10(2^64) < 19.2660.
    let words = (x.len() * 19_266).div_ceil(1000 * WORD_DIGITS);
    let cut = Cut::new(words);
    let level = cut.powers.len() - 1;
    let power = &cut.powers[level];
    let k = power.words;
    let mut fractions = halves(x, power);

    let digits = 2 * k * WORD_DIGITS;
    let start = text.len();
    reserve_scratch(text, digits);
    text.resize(start + digits, b'0');
    // The longest nodes use all threads for each product. The others have one thread each.
    let (mut k, mut level) = (k, level);
    while level > 0 && k > cut.task_words {
        level -= 1;
        let half = &cut.powers[level];
        fractions.chunks_mut(k).for_each(|f| halve(f, half, true));
        k = half.words;
    }
    let tasks = fractions.chunks_mut(k);
    let tasks = tasks.zip(text[start..].rchunks_mut(k * WORD_DIGITS));
    share(tasks, threads(), |(f, text)| cut.print(f, text, level));
    digits
}

/// The fractions of the lower and of the upper half of `x`. Each has as many limbs as the power
/// has words.
fn halves(x: Vec<u64>, power: &Power) -> Vec<u64> {
    let k = power.words;
    let inverse = Reciprocal::new(&power.value, k);
    let (low, high) = x.split_at(power.zeros.min(x.len()));
    let (quotient, remainder) = inverse.divide(high, &power.value);
    let mut low_half = empty(low.len() + remainder.len());
    low_half.extend_from_slice(low);
    low_half.extend_from_slice(&remainder);
    drop((x, remainder));
    let mut fractions = scratch(2 * k);
    for (half, f) in [trim(low_half), quotient]
        .iter()
        .zip(fractions.chunks_mut(k))
    {
        // x B^k / (value B^zeros)
        let scaled = product(half, &inverse.limbs);
        let whole = scaled.get(inverse.point + power.zeros - k..).unwrap_or(&[]);
        f[..whole.len()].copy_from_slice(whole);
        power.center(f, 0);
    }
    fractions
}

/// Prints the number with the fraction `f`. `f` is overwritten.
fn print_leaf(f: &mut [u64], text: &mut [u8]) {
    let k = f.len();
    for (printed, word) in text.chunks_exact_mut(WORD_DIGITS).enumerate() {
        // For each word that is printed the fraction loses a limb, as long as these count for
        // less than a unit.
        let limbs = (k - printed).max(LEAST_LEAF).min(k);
        let mut carry = 0;
        for limb in &mut f[k - limbs..] {
            let wide = u128::from(*limb) * u128::from(WORD_BASE) + u128::from(carry);
            (*limb, carry) = (wide as u64, (wide >> 64) as u64);
        }
        word.copy_from_slice(&word_digits(carry));
    }
}

/// The 19 digits of a number below `10^19`, with zeros in front.
///
/// ```
/// assert_eq!(&bigint_cpu::radix::word_digits(1204), b"0000000000000001204");
/// ```
pub fn word_digits(word: u64) -> [u8; WORD_DIGITS] {
    let mut digits = [0; WORD_DIGITS];
    let (low, rest) = (word % 100_000_000, word / 100_000_000);
    let (middle, high) = (rest % 100_000_000, rest / 100_000_000);
    digits[..3].copy_from_slice(&eight_digits(high)[5..]);
    digits[3..11].copy_from_slice(&eight_digits(middle));
    digits[11..].copy_from_slice(&eight_digits(low));
    digits
}

/// The digits of a value below `10^8`.
pub(super) fn eight_digits(value: u64) -> [u8; 8] {
    // The value is split into fours, pairs and digits. Each field is divided by a
    // multiplication and a shift, which are exact below the field's bound.
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | (pairs - 10 * tens) << 8;
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}
