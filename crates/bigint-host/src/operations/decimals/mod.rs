//! Decimal digits of long numbers, by products with powers of ten on devices. [`read`] has the way back, and
//! [`short`] many shorter numbers.
//!
//! Let `B` = 2^32, `D_j = 152 2^j` and `L_j = 16 2^j`. A number `x < 10^(D_j)` of height `j` is printed
//! from a fraction of `L_j` limbs
//!
//! ```text
//! f / B^(L_j) = (x + e) / 10^(D_j),     0 < e < 1.                                      (1)
//! ```
//!
//! **Halving.** Let `h = j - 1` and `x = q 10^(D_h) + r`. The product `f 10^(D_h) / B^(L_j)` has `q` before
//! the point and the fraction `g = (r + e) / 10^(D_h)` of `r` behind it. The upper half of `f` is the
//! fraction of `q`, with `g` for its `e`, which may be too near 0 or 1 for what is cut off. As `g` is known,
//! `1/2 - g` is added to this `e`, which is `(1/2 - g) Q_h` in `f`, for `Q_h = B^(L_h) / 10^(D_h)`.
//! All numbers of a height have one factor, whose transform is kept, and are halved in one batch. Of the
//! product the middle alone is wanted, so the transform has `L_j` limbs and wraps
//! ([`middle`](crate::device::middle)). A leaf is the integer `floor(f 10^152 / B^16)`.
//!
//! By hand, with `B` = 1000, `D` = 4, `L` = 2 and `x` = 1234: `f` = 123450 stands for 1234.5 / 10^4. Times
//! 10^2 it is 12.345, so that 345 is the fraction of 34. 123 is that of 12, with an `e` of .3 or .345, and
//! .155 10 is added: 124, which is 12.4 / 100.
//!
//! **The root.** With `P = 10^(D_t)` of the greatest `t` for which `L_t` limbs are no more than `x` has,
//! `x = q P + r`; `q` is shorter, and printed in turn, and `r` has the fraction `r B^(L_t) / P`, by a
//! reciprocal `X` of `P`: with `P 2^s = V B^m`, `1/2 <= V < 1`, it is `r 2^s X B^(L_t - m - k)`, `X` of
//! `k = m + 1` limbs at most 16 too great ([`newton`](super::newton)). Then 1/2 is added to `e`.
//!
//! **Exactness.** 10^152 is below `2^504.94`, so that a unit of the last place of a fraction of height `j`
//! is worth less than `u_j = 2^(-7.06 2^j)` of its `e`.
//!
//! * At the root `e` is 1/2, and more by up to `16 / B` from the reciprocal, as `r < B^m` and `P 2^s < B^m`; and
//!   less by a unit that is cut off.
//! * A lower half has its parent's `e`, and is off by 3 units of its own, or 1 for a product that is not by
//!   a transform that wraps.
//! * An upper half loses the unit that is cut off. It gets `(N / B - 1/2) K B^z` in place of
//!   `(1/2 - g) Q_h`, for the top limb `G` of `g`, `N = B - 1 - G`, and `K` of one or two limbs. `Q_h` is
//!   worth 1 of `e`. `N / B` is below `1 - g` by at most `1 / B`, and `K` is below `Q_h / B^z` by less than 2.
//!   With both terms rounded down, up to 3 of `B^z` are lost: less than `3 / B` of `e` where `z > 0`, as then
//!   `K >= B`, and else 3 units. `g` is off by 3 units, as above.
//!
//! So on the way down `e` is off by less than `16 / B` and 8 units at each height. The last is worth
//! `8 (u_0 + u_1 + ...) < 8 (2^-7.06 + 2^-14.12 + ...) < .061`, and all others are worth nothing in at most 25
//! halvings: `e` stays between .4 and .6, and every leaf is right. The fraction at the root is below 1,
//! as `P` is below `B^m` and what it is too great by is less than `16 / B` of `B^(L_t) / P`.
//!
//! **Cost**: two transforms of `L_t` limbs for each height (one of them once for all numbers of a height),
//! and a few passes over memory; at the root squares for the powers (as four transforms of `L_t` limbs), three
//! products for the reciprocal and one for the fraction, of `2 L_t` limbs each. **Memory**: `L_t` limbs for the
//! powers, and twelve bytes for each limb of a transform.

mod read;
mod short;

use crate::engine::rehearsal::{key, rehearsed};
use crate::operations::column::Column;
use crate::plan::choose::{self, Converter};
use crate::values::batch::stand_ins;
use crate::values::column::trimmed;
use crate::{Batch, BigUint, Engine, Error, Options};
use bigint_core::{LIMB_BITS, Layout, Limb};
use bigint_cpu::radix::Decimals;
use bigint_cpu::{map, threads};
use std::f64::consts::LOG2_10;
use std::iter::zip;

/// Limbs and digits of a leaf.
const LEAF_LIMBS: usize = 16;
const LEAF_DIGITS: usize = 152;

/// The least height of a root: below it the reciprocal would be longer than a fraction.
const LEAST_HEIGHT: u32 = 5;

/// The leaves that a thread writes at a time.
const LEAVES_OF_TASK: usize = 64;

/// Limbs of a power that its factor for `1/2 - g` is computed from.
const TOP_LIMBS: usize = 4;

/// `10^(D_j)`, and what goes with it.
struct Power {
    value: Batch,
    /// Its length in bits.
    bits: u64,
    /// `K` and `z`.
    gap: Batch,
    gap_lift: usize,
    /// `K B^z / 2`.
    half_gap: Batch,
}

/// Leaves of numbers of one height. Leaf `s`, counted from the least significant one, of number `i` of
/// `count` is row `i + count bitrev(s)`, for the bits of `s` in reverse.
struct Leaves {
    limbs: Vec<Limb>,
    height: u32,
    count: usize,
}

impl Leaves {
    /// Leaf `index` of a number, counted from the most significant one.
    fn leaf(&self, number: usize, index: usize) -> &[Limb] {
        let from_below = (1_usize << self.height) - 1 - index;
        let turned = reversed(from_below, self.height);
        &self.limbs[(number + self.count * turned) * LEAF_LIMBS..][..LEAF_LIMBS]
    }
}

/// Numbers as digits: those of `top`, and behind them those of leaves.
struct Converted {
    top: Vec<Limb>,
    top_width: usize,
    /// The most significant first.
    leaves: Vec<Leaves>,
}

impl Converted {
    /// The digits of a number, with `-` before those of a negative one.
    fn text(&self, number: usize, is_negative: bool) -> Result<String, Error> {
        let count = self
            .leaves
            .iter()
            .map(|leaves| 1 << leaves.height)
            .sum::<usize>();
        let leaf = |mut index: usize| {
            let mut all = self.leaves.iter();
            let of_it = all.find(|leaves| match index >> leaves.height {
                0 => true,
                _ => {
                    index -= 1 << leaves.height;
                    false
                }
            });
            of_it.map_or(&[][..], |leaves| leaves.leaf(number, index))
        };
        let top = trimmed(&self.top[number * self.top_width..][..self.top_width]);
        // Leaves of zeros in front are not written, but for the last one.
        let (first, next) = match top {
            [] if count > 0 => {
                let is_last = |index: &usize| index + 1 == count;
                let is_zero = |index: &usize| trimmed(leaf(*index)).is_empty();
                let first = (0..count).find(|index| is_last(index) || !is_zero(index));
                let first = first.unwrap_or_default();
                (leaf(first), first + 1)
            }
            _ => (top, 0),
        };
        let mut text = begun(is_negative, first)?;
        let head = text.len();
        bigint_cpu::reserve(&mut text, (count - next) * LEAF_DIGITS)?;
        text.resize(head + (count - next) * LEAF_DIGITS, b'0');
        let tasks = text[head..].chunks_mut(LEAVES_OF_TASK * LEAF_DIGITS);
        let written = map(tasks.enumerate(), threads(), |(task, text)| {
            let (mut decimals, mut digits) = (Decimals::default(), Vec::new());
            for (at, text) in text.chunks_mut(LEAF_DIGITS).enumerate() {
                let leaf = leaf(next + task * LEAVES_OF_TASK + at);
                digits.clear();
                decimals.write(trimmed(leaf), &mut digits)?;
                text[LEAF_DIGITS - digits.len()..].copy_from_slice(&digits);
            }
            Ok::<_, Error>(())
        });
        written.into_iter().collect::<Result<(), _>>()?;
        Ok(characters(text))
    }
}

/// The digits of a number, by the CPU.
fn begun(is_negative: bool, magnitude: &[Limb]) -> Result<Vec<u8>, Error> {
    let magnitude = trimmed(magnitude);
    let mut text = bigint_cpu::with_capacity(1 + 10 * magnitude.len())?;
    if is_negative && !magnitude.is_empty() {
        text.push(b'-');
    }
    Decimals::default().write(magnitude, &mut text)?;
    Ok(text)
}

fn characters(text: Vec<u8>) -> String {
    String::from_utf8(text).expect("digits are characters")
}

/// The decimal digits of numbers that the host has, by all threads of the CPU.
pub(crate) fn written<'a>(
    count: usize,
    number: impl Fn(usize) -> (bool, &'a [Limb]) + Sync,
) -> Result<Vec<String>, Error> {
    let write = |i| {
        let (is_negative, magnitude) = number(i);
        Ok(characters(begun(is_negative, magnitude)?))
    };
    map(0..count, threads(), write).into_iter().collect()
}

impl Engine {
    /// Each number in decimal digits, with `-` before those of a negative one, as
    /// [`Integers::decimals`](crate::Integers::decimals) writes them. Long numbers, and many shorter ones, are
    /// converted on devices where there are any, others by all threads of the CPU.
    ///
    /// ```
    /// use bigint_host::{Engine, Integers};
    /// let engine = Engine::auto();
    /// let a = Integers::from_texts(["-7", "0x10000000000000000"])?;
    /// assert_eq!(engine.decimals(&a)?, ["-7", "18446744073709551616"]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn decimals<C: Column>(&self, a: &C) -> Result<Vec<String>, Error> {
        C::decimals(self, a)
    }

    /// [`Engine::decimals`] of numbers with these signs.
    pub(crate) fn decimals_of_batch(
        &self,
        a: &Batch,
        is_negative: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<String>, Error> {
        let mut a = self.to_layout(&self.adopt(a)?, Layout::Contiguous)?;
        // A quotient, as wide as its dividend, may be half zeros.
        if a.width() >= self.tuning().decimals.min_width && !self.is_for_secrets() {
            a = self.without_zeros(&a)?;
        }
        match self.converter(a.width(), a.len()) {
            Converter::Products => self.decimals_by_products(&a, is_negative),
            Converter::Threads => self.decimals_by_threads(&a, is_negative),
            Converter::Cpu => {
                let (rows, width) = (a.rows()?, a.width());
                written(a.len(), |i| (is_negative(i), &rows[i * width..][..width]))
            }
        }
    }

    /// [`Engine::decimals`] of long numbers of a contiguous batch, the longest of which has no zeros in front.
    pub(crate) fn decimals_by_products(
        &self,
        a: &Batch,
        is_negative: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<String>, Error> {
        let engine = self.using(Options::default());
        let shapes = [a.shape()];
        let rehearse = |engine: &Self| {
            let stand_ins = stand_ins(engine, &shapes)?;
            engine.rehearse_decimals(&stand_ins[0])
        };
        let convert = || {
            rehearsed(&engine, key("decimals", &shapes), rehearse, || {
                engine.converted(a)
            })
        };
        let converted = self.inner.choices.as_steps(convert)?;
        let text = |i| converted.text(i, is_negative(i));
        map(0..a.len(), threads(), text).into_iter().collect()
    }

    /// Does what a conversion by products takes of a device, where nothing is computed, and writes no digits.
    pub(crate) fn rehearse_decimals(&self, a: &Batch) -> Result<(), Error> {
        match self.converter(a.width(), a.len()) {
            Converter::Products => self.converted(a).map(drop),
            Converter::Threads | Converter::Cpu => Ok(()),
        }
    }

    /// Whether open devices convert so many numbers of so many limbs to decimal digits, or digits to numbers.
    pub fn converts_decimals(&self, width: usize, count: usize) -> bool {
        self.converter(width, count) != Converter::Cpu
    }

    /// Who converts so many numbers of so many limbs; noted where choices are.
    pub(crate) fn converter(&self, width: usize, count: usize) -> Converter {
        let (chosen, why) = choose::converter(self.tuning(), width, count);
        // Secrets stay in one place.
        let chosen = match self.has_open_devices() && !self.is_for_secrets() {
            true => chosen,
            false => Converter::Cpu,
        };
        if self.inner.choices.is_wanted() {
            let device = self.inner.back_end();
            let who = match chosen {
                Converter::Products => format!("{device}: by products with powers of ten"),
                Converter::Threads => format!("{device}: a thread for each number"),
                Converter::Cpu => format!("cpu: on {} threads", threads()),
            };
            self.inner.choices.note(format!(
                "decimal digits of {width} limbs, {count} numbers\n  {who}\n    who: {why}"
            ));
        }
        chosen
    }

    /// Whether so many numbers of so many limbs are converted by products.
    fn is_for_products(&self, width: usize, count: usize) -> bool {
        choose::converter(self.tuning(), width, count).0 == Converter::Products
    }

    /// Numbers as leaves of a tree, and what is shorter than the least tree.
    fn converted(&self, a: &Batch) -> Result<Converted, Error> {
        let (mut top, mut leaves) = (a.clone(), Vec::new());
        let powers = self.powers(height(top.width()))?;
        let powers = zip(0.., powers).map(|(j, value)| self.power(value, LEAF_LIMBS << j));
        let powers = powers.collect::<Result<Vec<_>, _>>()?;
        while self.is_for_products(top.width(), top.len()) {
            let height = height(top.width());
            let Some(power) = powers
                .get(height as usize)
                .filter(|_| height >= LEAST_HEIGHT)
            else {
                break;
            };
            let (quotient, rest) = self.div_rem(&top, &power.value)?;
            let quotient = self.limbs_from(&quotient, 0, top.width() + 1 - power.value.width())?;
            drop(top);
            let mut f = self.fraction(&rest, power, LEAF_LIMBS << height)?;
            drop(rest);
            for half in powers[..height as usize].iter().rev() {
                f = self.halved(&f, half)?;
            }
            let product = self.mul(&f, &powers[0].value)?;
            leaves.push(Leaves {
                limbs: self
                    .limbs_from(&product, LEAF_LIMBS, LEAF_LIMBS)?
                    .into_rows()?,
                height,
                count: a.len(),
            });
            top = self.without_zeros(&quotient)?;
        }
        leaves.reverse();
        Ok(Converted {
            top_width: top.width(),
            top: top.into_rows()?,
            leaves,
        })
    }

    /// The numbers in as few limbs as the longest of them has.
    fn without_zeros(&self, a: &Batch) -> Result<Batch, Error> {
        let longest = self.lengths(a)?.into_iter().max().unwrap_or(0);
        let width = longest.div_ceil(LIMB_BITS as u64).max(1) as usize;
        self.limbs_from(a, 0, width)
    }

    /// `10^(D_j)` for all heights `j` up to one.
    fn powers(&self, height: u32) -> Result<Vec<Batch>, Error> {
        let least = BigUint::from(10u8).pow(LEAF_DIGITS as u32);
        let mut powers = vec![self.batch_from_biguints(&[least])?];
        for half in 0..height as usize {
            let square = self.square(&powers[half])?;
            // Not less than the bits of the power.
            let bits =
                ((LEAF_DIGITS << (half + 1)) as f64 * LOG2_10 * (1.0 + f64::EPSILON)) as usize + 1;
            powers.push(self.limbs_from(&square, 0, bits.div_ceil(LIMB_BITS))?);
        }
        Ok(powers)
    }

    /// A power for fractions of so many limbs.
    fn power(&self, value: Batch, limbs: usize) -> Result<Power, Error> {
        let m = value.width();
        let below = m - TOP_LIMBS;
        let top = &self.limbs_from(&value, below, TOP_LIMBS)?.to_biguints()?[0];
        let bits = (LIMB_BITS * below) as u64 + top.bits();
        // Q_h is at least 2^slack, and less than twice that.
        let slack = LIMB_BITS * limbs - bits as usize;
        let gap_lift = (slack / LIMB_BITS).saturating_sub(1);
        let one = BigUint::from(1u8);
        let gap = (one << (LIMB_BITS * (limbs - gap_lift - below))) / (top + 1u8);
        let half_gap = (&gap >> 1) << (LIMB_BITS * gap_lift);
        Ok(Power {
            value,
            bits,
            gap: self.batch_from_biguints(&[gap])?,
            gap_lift,
            half_gap: self.batch_from_biguints(&[half_gap])?,
        })
    }

    /// Fractions of so many limbs of numbers below a power.
    fn fraction(&self, r: &Batch, power: &Power, limbs: usize) -> Result<Batch, Error> {
        let m = power.value.width();
        let k = m + 1;
        let shift = self.of_limbs(&[(LIMB_BITS * m) as u64 - power.bits])?;
        let shifted = |a: &Batch| self.shl_in(a.width(), a, &shift);
        let x = self.reciprocal(&shifted(&power.value)?, k)?;
        let x = shifted(&self.limbs_from(&x, 0, k + 2)?)?;
        let product = self.mul(r, &x)?;
        drop(x);
        let f = self.limbs_from(&product, m + k - limbs, limbs)?;
        drop(product);
        self.wrapping_add(&f, &power.half_gap)
    }

    /// The fractions of the lower halves, and behind them those of the upper halves. `half` is the power of
    /// the halves.
    fn halved(&self, f: &Batch, half: &Power) -> Result<Batch, Error> {
        let w = f.width() / 2;
        let low = match self.middle([f, &half.value], w..2 * w, 2 * w, &half.value)? {
            Some(low) => low,
            None => self.limbs_from(&self.wrapping_mul(f, &half.value)?, w, w)?,
        };
        let behind = self.not(&self.limbs_from(&low, w - 1, 1)?)?;
        let more = self.limbs_from(&self.mul(&behind, &half.gap)?, 1, 2)?;
        let more = self.lifted(&more, half.gap_lift, half.gap_lift + 2)?;
        let high = self.wrapping_add(&self.limbs_from(f, w, w)?, &more)?;
        let high = self.wrapping_sub(&high, &half.half_gap)?;
        self.concatenate(&[&low, &high])
    }
}

/// The `bits` bits of a number in reverse.
fn reversed(number: usize, bits: u32) -> usize {
    number.reverse_bits() >> (usize::BITS - bits)
}

/// The greatest height whose fractions are no longer than a number of so many limbs.
pub(crate) fn height(width: usize) -> u32 {
    (width / LEAF_LIMBS).max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tuning;

    /// An engine that converts short numbers by products.
    fn engine() -> Engine {
        let mut tuning = Tuning::default();
        tuning.decimals.min_width = LEAF_LIMBS << LEAST_HEIGHT;
        tuning.decimals.min_limbs = 0;
        Engine::cpu().with_tuning(tuning)
    }

    fn ten(exponent: usize) -> BigUint {
        BigUint::from(10u8).pow(exponent as u32)
    }

    fn ones(bits: usize) -> BigUint {
        (BigUint::from(1u8) << bits) - 1u8
    }

    fn check(engine: &Engine, numbers: &[BigUint]) {
        let batch = engine.batch_from_biguints(numbers).unwrap();
        let found = engine.decimals_by_products(&batch, |i| i % 3 == 1).unwrap();
        for (i, (text, number)) in zip(found, numbers).enumerate() {
            let sign = if i % 3 == 1 && *number != BigUint::ZERO {
                "-"
            } else {
                ""
            };
            assert!(text == format!("{sign}{number}"), "{} bits", number.bits());
        }
    }

    #[test]
    fn digits_about_every_length_of_a_tree_are_those_of_num_bigint() {
        let engine = engine();
        for height in LEAST_HEIGHT..LEAST_HEIGHT + 3 {
            let (digits, limbs) = (LEAF_DIGITS << height, LEAF_LIMBS << height);
            for exponent in [digits - 1, digits, digits + 1, 2 * digits, 2 * digits + 152] {
                let power = ten(exponent);
                let numbers = [&power - 1u8, power.clone(), &power + 1u8, power * 7u8 / 3u8];
                check(&engine, &numbers);
                numbers
                    .iter()
                    .for_each(|number| check(&engine, std::slice::from_ref(number)));
            }
            for limbs in [limbs - 1, limbs, limbs + 1, 2 * limbs - 1, 3 * limbs + 17] {
                let top = ones(32 * limbs);
                let numbers = [top.clone(), &top / 7u8, &top >> 1, &top - ones(16 * limbs)];
                check(&engine, &numbers);
                check(&engine, &numbers[1..2]);
            }
        }
    }

    #[test]
    fn digits_about_every_length_of_a_tree_are_read_as_num_bigint_reads_them() {
        let engine = engine();
        for height in LEAST_HEIGHT..LEAST_HEIGHT + 3 {
            let digits = LEAF_DIGITS << height;
            for digits in [
                digits - 1,
                digits,
                digits + 1,
                2 * digits - 1,
                3 * digits + 7,
            ] {
                let power = ten(digits);
                for number in [
                    &power - 1u8,
                    power.clone(),
                    &power + 1u8,
                    &power * 7u8 / 3u8,
                ] {
                    let text = format!("000{number}");
                    let found = engine.numbers_of_digits(vec![text.as_bytes()]).unwrap();
                    assert!(found.to_biguints().unwrap() == [number], "{digits} digits");
                }
            }
        }
    }

    #[test]
    fn short_numbers_among_long_ones_have_no_zeros_in_front() {
        let engine = engine();
        let long = ten(152 * 70 + 3) - 5u8;
        let mut numbers: Vec<BigUint> = [0u32, 1, 9, 10].map(BigUint::from).to_vec();
        let exponents = [151, 152, 153, 304, 4863, 4864, 4865];
        numbers.extend(exponents.map(ten));
        numbers.extend(exponents.map(|exponent| ten(exponent) - 1u8));
        numbers.push(long);
        check(&engine, &numbers);
        check(&engine, &numbers[..3]);
        check(&engine, &[]);
    }

    #[test]
    fn digits_of_several_lengths_are_read_together() {
        let engine = engine();
        let longest = 152 * 100 + 5;
        let lengths = [
            longest,
            1,
            152 * 64,
            152 * 64 + 1,
            152 * 63,
            152 * 96,
            4864,
            0,
        ];
        let texts = lengths.map(|digits| (ten(longest) / 7u8).to_string()[..digits].to_owned());
        let digits = texts.iter().map(|text| text.as_bytes()).collect();
        let found = engine.numbers_of_digits(digits).unwrap().to_biguints();
        for (found, text) in zip(found.unwrap(), texts) {
            assert!(
                found == text.parse().unwrap_or_default(),
                "{} digits",
                text.len()
            );
        }
    }

    #[test]
    fn runs_of_nines_and_zeros_over_many_leaves_go_both_ways() {
        let engine = engine();
        for limbs in [4100, 9000] {
            let factor = BigUint::from(0x9e37_79b9_7f4a_7c15_u64);
            let digits = (factor.pow(limbs / 2) * 0xffff_ffff_u32).to_string();
            for (run, part) in [(b'9', 3), (b'0', 3), (b'9', 7), (b'0', 7)] {
                let mut text = digits.clone().into_bytes();
                let from = text.len() / part;
                text[from..][..from].fill(run);
                let number = BigUint::parse_bytes(&text, 10).unwrap();
                let found = engine.numbers_of_digits(vec![&text[..]]).unwrap();
                assert!(found.to_biguints().unwrap() == [number], "{limbs} limbs");
                let back = engine.decimals_by_products(&found, |_| false).unwrap();
                assert!(back[0].as_bytes() == text, "{limbs} limbs");
            }
        }
    }

    /// `10 e` of each number whose fraction `f` has so many digits, which are the lowest of `x / 10^at`.
    #[track_caller]
    fn check_halves(f: &BigUint, x: &BigUint, at: usize, digits: usize, limbs: usize) {
        let number = x / ten(at) % ten(digits);
        let whole = BigUint::from(1u8) << (32 * limbs);
        let scaled = f * ten(digits);
        let base = number * &whole;
        assert!(scaled > base, "{digits} digits at {at}");
        let tenths = (scaled - base) * 10u8 / whole;
        assert!(
            (4u8..6).any(|tenth| tenths == tenth.into()),
            "e is {tenths} tenths"
        );
    }

    #[test]
    fn what_fractions_have_behind_the_number_stays_near_a_half() {
        let engine = engine();
        let height = LEAST_HEIGHT + 1;
        let powers = engine.powers(height).unwrap();
        let powers = zip(0.., powers).map(|(j, value)| engine.power(value, LEAF_LIMBS << j));
        let powers = powers.collect::<Result<Vec<_>, _>>().unwrap();
        let digits = LEAF_DIGITS << height;
        // Halves that are zeros and nines, whose fractions are next to 0 and 1.
        let mut numbers = vec![BigUint::ZERO, ten(digits) - 1u8, ten(digits) / 7u8];
        for at in (LEAF_DIGITS..digits).step_by(LEAF_DIGITS) {
            numbers.extend([ten(at), ten(at) - 1u8, ten(digits) - ten(at)]);
        }
        let r = engine.batch_from_biguints(&numbers).unwrap();
        let limbs = LEAF_LIMBS << height;
        let mut f = engine
            .fraction(&r, &powers[height as usize], limbs)
            .unwrap();
        let mut places = vec![0];
        for j in (0..height).rev() {
            f = engine.halved(&f, &powers[j as usize]).unwrap();
            let digits = LEAF_DIGITS << j;
            let high: Vec<usize> = places.iter().map(|place| place + digits).collect();
            places.extend(high);
            let found = f.to_biguints().unwrap();
            for (i, f) in found.iter().enumerate() {
                let (x, at) = (&numbers[i % numbers.len()], places[i / numbers.len()]);
                check_halves(f, x, at, digits, LEAF_LIMBS << j);
            }
        }
    }
}
