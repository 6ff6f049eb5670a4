//! Limbs to decimal digits: one division, then products only.
//!
//! Let `B = 2^64` and `P_k = 10^(19 k)`. A number `x < P_k`, of `k` words of 19 digits,
//! is printed from a fraction of `k` limbs
//!
//! ```text
//! f / B^k = (x + e) / P_k,     0 < e < 1.                                       (1)
//! ```
//!
//! **Halving.** With `h = k / 2` and `x = q P_h + r`, multiplying by `P_h` brings `q`
//! above the point and leaves `(r + e) / P_h` behind it: the fraction of `r`, cut off
//! at `h` limbs. The upper `h` limbs of `f` are the fraction of `q`, but with
//! `e = (r + e) / P_h`, which may be too near 0 or 1 for what is cut off. The fraction
//! of `r` has just shown what it is, so the difference to 1/2 is added, `1 / P_h` for
//! each unit ([`Power::center`]). Both fractions take the place of `f`, and so on to
//! leaves of a few dozen words, each multiplied by `10^19` again and again: what
//! passes the point is the next word.
//!
//! With `B = 1000`, `P_k = 100^k`, `k = 2` and `x = 1234`: from `f = 123450`, which
//! is `1234.5 / 100^2`, one multiplies by 100 and gets `12.345`. So `r`'s fraction
//! is `345`, `34.5 / 100`. `q`'s is `123`, `12.3 / 100`, and to it `0.5 - 0.345`
//! hundredths are added: `124`, `12.4 / 100`.
//!
//! **Exactness.** `P_k < B^k 2^(-0.88 k)`, so a unit of the last place of `f` is less
//! than `2^(-0.88 k)` of `e`. Leaves have at least [`LEAST_LEAF`] words, where that is
//! `2^-21`. Each halving is right to two units (one is cut off, and
//! [`number::Factor::middle`] is right to one), [`Power::center`] to a few units and
//! `2^-28`, the fractions of the first two halves to some ten units, and the leaf cuts
//! off limbs that count for less than a unit; `e`, which starts at 1/2, stays between
//! 1/4 and 3/4 on the way through at most 26 halvings.
//!
//! **Powers of five.** `P_h = 5^(19 h) 2^(19 h)`, and a power of two is a shift: as
//! many limbs at the upper end of `f` go above the point whatever they are and need
//! not be multiplied, and the factor is of `0.69 h` limbs. Of its product with the
//! other `0.85 k` limbs of `f` the middle `h` are wanted; all nodes of a level have the
//! same factor, which is kept as its transform.
//!
//! **Cost**: `log2 k` times two transforms of `0.85 k` limbs (each level: all nodes
//! together), and for the first division a reciprocal and five products of `k/2`
//! by `k/2`. **Scratch**: 7 times the number, and what one product of its length takes.

use super::powers::small_power;
use super::{WORD_BASE, WORD_DIGITS};
use crate::fast::number;
use crate::fast::number::limbs::{add_assign, shift_left, sub_assign, trim};
use crate::fast::number::reciprocal::{Reciprocal, product};
use crate::memory::{empty, reserve_scratch, scratch};
use crate::{Path, share, threads};

/// Words of a leaf, at most. Leaves have more than half as many, or the least.
const MOST_LEAF: usize = 80;

/// Words of a leaf, at least.
const LEAST_LEAF: usize = 24;

/// `10^(19 words)`, as `value B^zeros`.
struct Power {
    words: usize,
    value: Vec<u64>,
    zeros: usize,
    /// `value`, where halving a number by its transform is worth it.
    factor: Option<number::Factor>,
    /// `B^words / 10^(19 words)` is `gap 2^gap_shift`, nearly.
    gap: i64,
    gap_shift: i64,
}

impl Power {
    /// The power `10^(19 words)` from `5^(19 words)`.
    fn new(words: usize, five: &[u64]) -> Self {
        let bits = WORD_DIGITS * words;
        let mut value = scratch(five.len() + 1);
        shift_left(&mut value, five, (bits % 64) as u32);
        // 5^(19 words) is top 2^(length - 64), nearly.
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

    /// Makes `e` a half in the fraction `f` of `words` limbs, where it is `e / B`.
    fn center(&self, f: &mut [u64], e: u64) {
        // (1/2 - e) 2^32, below 2^31 in absolute value, and the gap below 2^31.
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

/// How a number is cut.
struct Cut {
    /// The power of a leaf's words, and its squares: the last one halves the number.
    powers: Vec<Power>,
    /// Words up to which nodes are shared out and not the products of each.
    task_words: usize,
}

impl Cut {
    /// How numbers of at most so many words are cut.
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

    /// Prints the number of fraction `f`, of the words of power `level`; `f` is used up.
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

/// Puts the fractions of both halves in the place of a number's; `half` is the power
/// of half as many words.
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

/// Writes the digits of `x`, trimmed, with zeros in front, behind `text`; returns how
/// many.
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
    // The longest have all threads for each product; the others one thread each.
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

/// The fractions of the lower and of the upper half of `x`, of as many limbs as the
/// power has words.
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

/// Prints the number of fraction `f`; `f` is used up.
fn print_leaf(f: &mut [u64], text: &mut [u8]) {
    let k = f.len();
    for (printed, word) in text.chunks_exact_mut(WORD_DIGITS).enumerate() {
        // A limb less for each word less, as long as that counts for nothing.
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
fn eight_digits(value: u64) -> [u8; 8] {
    // Split into fours, pairs and digits; each field is divided by a multiply
    // and a shift that are exact below its bound.
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | (pairs - 10 * tens) << 8;
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}
