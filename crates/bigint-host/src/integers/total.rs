//! The sum of a column of integers, on the CPU.

use crate::integers::passing::{Number, mean, put};
use crate::values::column::{Column, trimmed};
use crate::{Error, Integers};
use bigint_core::operation::Signs;
use bigint_core::{LIMB_BITS, Limb};
use bigint_cpu::{Cpu, LIMB_WORK, map};

/// Numbers that a thread sums before it looks for more.
const MOST_OF_PART: usize = 1 << 13;

/// Magnitudes that are added to a total together.
const TOGETHER: usize = 8;

/// The sum of magnitudes word by word, which carries at the end: 128 bits hold the sum of any 2^64
/// words.
#[derive(Default)]
struct Total<'a> {
    sums: Vec<u128>,
    /// Magnitudes that are not yet added.
    waiting: [&'a [Limb]; TOGETHER],
    /// How many magnitudes wait.
    count: usize,
}

/// Two limbs.
#[inline(always)]
fn word([low, high]: [Limb; 2]) -> u64 {
    u64::from(high) << LIMB_BITS | u64::from(low)
}

impl<'a> Total<'a> {
    #[inline]
    fn add(&mut self, magnitude: &'a [Limb]) -> Result<(), Error> {
        let words = magnitude.len().div_ceil(2);
        if let Some(more @ 1..) = words.checked_sub(self.sums.len()) {
            bigint_cpu::reserve(&mut self.sums, more)?;
            self.sums.resize(words, 0);
        }
        self.waiting[self.count] = magnitude;
        self.count += 1;
        if self.count == TOGETHER {
            self.add_waiting();
        }
        Ok(())
    }

    /// Adds all that wait.
    fn add_waiting(&mut self) {
        let sums = &mut self.sums[..];
        let mut waiting = &self.waiting[..self.count];
        while let Some((&together, others)) = waiting.split_first_chunk() {
            add_together::<TOGETHER>(sums, together);
            waiting = others;
        }
        if let Some((&together, others)) = waiting.split_first_chunk() {
            add_together::<{ TOGETHER / 2 }>(sums, together);
            waiting = others;
        }
        for &magnitude in waiting {
            add_together(sums, [magnitude]);
        }
        self.count = 0;
    }

    fn carried(mut self) -> Result<Vec<Limb>, Error> {
        self.add_waiting();
        let mut limbs = bigint_cpu::zeroed(2 * self.sums.len() + 4)?;
        let mut carry = 0_u128;
        let (pairs, _) = limbs.as_chunks_mut::<2>();
        let (pairs, above) = pairs.split_at_mut(self.sums.len());
        let put = |pair: &mut [Limb; 2], carry: u128| {
            *pair = [carry as Limb, (carry >> LIMB_BITS) as Limb];
            carry >> (2 * LIMB_BITS)
        };
        for (pair, &sum) in pairs.iter_mut().zip(&self.sums) {
            carry = put(pair, carry + sum);
        }
        for pair in above {
            carry = put(pair, carry);
        }
        Ok(limbs)
    }
}

/// Adds magnitudes to sums, word by word as far as all of them go, and then each alone.
#[inline(always)]
fn add_together<const N: usize>(sums: &mut [u128], magnitudes: [&[Limb]; N]) {
    let least = magnitudes.iter().map(|x| x.len() / 2).min().unwrap_or(0);
    let together = magnitudes.map(|x| &x.as_chunks::<2>().0[..least]);
    let (low, high) = sums.split_at_mut(least);
    for (i, sum) in low.iter_mut().enumerate() {
        let add = |sum, words: &[[Limb; 2]]| sum + u128::from(word(words[i]));
        *sum = together.into_iter().fold(*sum, add);
    }
    for magnitude in magnitudes {
        let (words, odd) = magnitude[2 * least..].as_chunks::<2>();
        for (sum, &pair) in high.iter_mut().zip(words) {
            *sum += u128::from(word(pair));
        }
        if let (Some(sum), &[limb]) = (high.get_mut(words.len()), odd) {
            *sum += u128::from(limb);
        }
    }
}

/// The sums of magnitudes, of numbers that are not negative and of the others.
fn totals<'a>(numbers: impl Iterator<Item = Number<'a>>) -> Result<[Vec<Limb>; 2], Error> {
    let mut totals = [Total::default(), Total::default()];
    for (magnitude, negative) in numbers {
        totals[usize::from(negative)].add(magnitude)?;
    }
    let [positive, negative] = totals;
    Ok([positive.carried()?, negative.carried()?])
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
        totals(rows.map(|row| column.number(row)))
    })
    .into_iter()
    .collect::<Result<Vec<_>, _>>()?;
    let [positive, negative] = match parts.len() {
        1 => parts.swap_remove(0),
        _ => totals(
            parts
                .iter()
                .flatten()
                .zip([false, true].into_iter().cycle())
                .map(|(limbs, negative)| (trimmed(limbs), negative)),
        )?,
    };
    let mut sum = Column::with_capacity(1, positive.len().max(negative.len()) + 1)?;
    put(
        &mut sum,
        Signs::Sum,
        (trimmed(&positive), false),
        (trimmed(&negative), true),
    );
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
