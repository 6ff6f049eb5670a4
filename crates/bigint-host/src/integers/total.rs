//! The sum of a column of integers, on the CPU.

use crate::integers::passing::{Number, mean};
use crate::values::column::{Column, trimmed};
use crate::{Error, Integers};
use bigint_core::{LIMB_BITS, Limb};
use bigint_cpu::{Cpu, LIMB_WORK, map};

/// Numbers that a thread sums before it looks for more.
const MOST_OF_PART: usize = 1 << 13;

/// Magnitudes that are added to a total together.
const TOGETHER: usize = 8;

/// The sum of numbers word by word, which carries at the end: 128 bits hold the sum of any 2^63
/// words of either sign.
#[derive(Default)]
struct Total<'a> {
    sums: Vec<i128>,
    /// Numbers that are not yet added: those that are not negative, and the others.
    waiting: [Waiting<'a>; 2],
}

/// Magnitudes of one sign.
#[derive(Default)]
struct Waiting<'a> {
    magnitudes: [&'a [Limb]; TOGETHER],
    count: usize,
}

/// Two limbs.
#[inline(always)]
fn word([low, high]: [Limb; 2]) -> i128 {
    i128::from(u64::from(high) << LIMB_BITS | u64::from(low))
}

impl<'a> Total<'a> {
    #[inline]
    fn add(&mut self, (magnitude, negative): Number<'a>) -> Result<(), Error> {
        let words = magnitude.len().div_ceil(2);
        if let Some(more @ 1..) = words.checked_sub(self.sums.len()) {
            bigint_cpu::reserve(&mut self.sums, more)?;
            self.sums.resize(words, 0);
        }
        let waiting = &mut self.waiting[usize::from(negative)];
        waiting.magnitudes[waiting.count] = magnitude;
        waiting.count += 1;
        if waiting.count == TOGETHER {
            self.add_waiting(negative);
        }
        Ok(())
    }

    /// Adds all of one sign that wait.
    fn add_waiting(&mut self, negative: bool) {
        let waiting = &mut self.waiting[usize::from(negative)];
        let magnitudes = &waiting.magnitudes[..waiting.count];
        match negative {
            false => add_all::<false>(&mut self.sums, magnitudes),
            true => add_all::<true>(&mut self.sums, magnitudes),
        }
        waiting.count = 0;
    }

    /// The magnitude of the sum, with zeros on top, and its sign.
    fn carried(mut self) -> Result<(Vec<Limb>, bool), Error> {
        self.add_waiting(false);
        self.add_waiting(true);
        let mut limbs = bigint_cpu::zeroed(2 * self.sums.len() + 4)?;
        let negative = carry(&self.sums, &mut limbs, |sum| sum) < 0;
        if negative {
            carry(&self.sums, &mut limbs, |sum| -sum);
        }
        Ok((limbs, negative))
    }
}

/// Writes the sum of words of 128 bits, or of their negatives, which has two words more; returns
/// what is carried out of it.
#[inline(always)]
fn carry(sums: &[i128], limbs: &mut [Limb], term: impl Fn(i128) -> i128) -> i128 {
    let (pairs, _) = limbs.as_chunks_mut::<2>();
    let (pairs, above) = pairs.split_at_mut(sums.len());
    let put = |pair: &mut [Limb; 2], carry: i128| {
        *pair = [carry as Limb, (carry >> LIMB_BITS) as Limb];
        carry >> (2 * LIMB_BITS)
    };
    let mut carry = 0;
    for (pair, &sum) in pairs.iter_mut().zip(sums) {
        carry = put(pair, carry + term(sum));
    }
    for pair in above {
        carry = put(pair, carry);
    }
    carry
}

/// Adds magnitudes to sums, or subtracts them.
fn add_all<const MINUS: bool>(sums: &mut [i128], mut magnitudes: &[&[Limb]]) {
    add_some::<MINUS, TOGETHER>(sums, &mut magnitudes);
    add_some::<MINUS, { TOGETHER / 2 }>(sums, &mut magnitudes);
    add_some::<MINUS, { TOGETHER / 4 }>(sums, &mut magnitudes);
    add_some::<MINUS, 1>(sums, &mut magnitudes);
}

/// The same, so many together as long as there are as many.
fn add_some<const MINUS: bool, const N: usize>(sums: &mut [i128], magnitudes: &mut &[&[Limb]]) {
    while let Some((&together, others)) = magnitudes.split_first_chunk() {
        add_together::<MINUS, N>(sums, together);
        *magnitudes = others;
    }
}

/// Adds magnitudes to sums, two words at a time as far as all of them go, and then each alone.
#[inline(always)]
fn add_together<const MINUS: bool, const N: usize>(sums: &mut [i128], magnitudes: [&[Limb]; N]) {
    let add = |sum: i128, word: i128| if MINUS { sum - word } else { sum + word };
    let (pairs, _) = sums.as_chunks_mut::<2>();
    let mut least = pairs.len();
    let mut words = [&[][..]; N];
    for (words, magnitude) in words.iter_mut().zip(magnitudes) {
        *words = magnitude.as_chunks::<4>().0;
        least = least.min(words.len());
    }
    for words in &mut words {
        *words = &words[..least];
    }
    for (i, pair) in pairs[..least].iter_mut().enumerate() {
        let [mut first, mut second] = *pair;
        for words in &words {
            let [a, b, c, d] = words[i];
            first = add(first, word([a, b]));
            second = add(second, word([c, d]));
        }
        *pair = [first, second];
    }
    let high = &mut sums[2 * least..];
    for magnitude in magnitudes {
        let (words, odd) = magnitude[4 * least..].as_chunks::<2>();
        for (sum, &pair) in high.iter_mut().zip(words) {
            *sum = add(*sum, word(pair));
        }
        if let (Some(sum), &[limb]) = (high.get_mut(words.len()), odd) {
            *sum = add(*sum, limb.into());
        }
    }
}

/// The sum of numbers: its magnitude, with zeros on top, and its sign.
fn total<'a>(numbers: impl Iterator<Item = Number<'a>>) -> Result<(Vec<Limb>, bool), Error> {
    let mut total = Total::default();
    for number in numbers {
        total.add(number)?;
    }
    total.carried()
}

/// The sum of all numbers, a column of one.
pub(crate) fn sum(a: &Integers) -> Result<Integers, Error> {
    let column = a.column();
    let sharing = Cpu::current().tuning().sharing;
    let work = LIMB_WORK * (mean(&[a]) + 1);
    let cut = sharing.cut(a.len(), work, MOST_OF_PART, 1);
    // No numbers are a part too.
    let starts = (0..a.len().max(1)).step_by(cut.size.max(1));
    let mut parts = map(starts, cut.threads, |start| {
        let rows = start..a.len().min(start + cut.size.max(1));
        total(rows.map(|row| column.number(row)))
    })
    .into_iter()
    .collect::<Result<Vec<_>, _>>()?;
    let (limbs, negative) = match parts.len() {
        1 => parts.swap_remove(0),
        _ => total(
            parts
                .iter()
                .map(|(limbs, negative)| (trimmed(limbs), *negative)),
        )?,
    };
    let mut sum = Column::default();
    sum.push(negative, &limbs)?;
    Ok(sum.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BigInt;

    #[test]
    fn a_sum_of_many_carries_at_its_end() {
        let most: BigInt = (BigInt::from(1) << 640) - 1;
        let numbers = |i: usize| match i % 5 {
            0 => -&most,
            1 => BigInt::ZERO,
            2 => BigInt::from(i as u64) << (i % 900),
            _ => most.clone(),
        };
        for count in [0, 1, 2, 7, 20_000] {
            let numbers: Vec<BigInt> = (0..count).map(numbers).collect();
            for sign in [1, -1] {
                let numbers: Vec<BigInt> = numbers.iter().map(|n| n * sign).collect();
                let column = Integers::from_bigints(&numbers).unwrap();
                let found = sum(&column).unwrap().to_bigints().unwrap();
                assert_eq!(found, [numbers.iter().sum::<BigInt>()], "{count} {sign}");
            }
        }
    }
}
