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
const TOGETHER: usize = 4;

/// Limb by limb the sum of magnitudes, which carries at the end: a limb of 64 bits holds the
/// sum of any 2^32 of 32.
#[derive(Default)]
struct Total<'a> {
    sums: Vec<u64>,
    /// What is not yet added.
    waiting: Vec<&'a [Limb]>,
}

impl<'a> Total<'a> {
    fn add(&mut self, magnitude: &'a [Limb]) -> Result<(), Error> {
        if let Some(more) = magnitude.len().checked_sub(self.sums.len()) {
            bigint_cpu::reserve(&mut self.sums, more)?;
            self.sums.resize(magnitude.len(), 0);
        }
        bigint_cpu::reserve(&mut self.waiting, TOGETHER)?;
        self.waiting.push(magnitude);
        let &[a, b, c, d] = &self.waiting[..] else {
            return Ok(());
        };
        let least = a.len().min(b.len()).min(c.len()).min(d.len());
        let pairs = a[..least].iter().zip(&b[..least]);
        let others = c[..least].iter().zip(&d[..least]);
        for (sum, ((&a, &b), (&c, &d))) in self.sums.iter_mut().zip(pairs.zip(others)) {
            *sum += u64::from(a) + u64::from(b) + u64::from(c) + u64::from(d);
        }
        self.add_waiting(least);
        Ok(())
    }

    /// Adds those that wait, from limb `from` on.
    fn add_waiting(&mut self, from: usize) {
        for magnitude in self.waiting.drain(..) {
            let limbs = magnitude[from..].iter();
            for (sum, &limb) in self.sums[from..].iter_mut().zip(limbs) {
                *sum += u64::from(limb);
            }
        }
    }

    fn carried(mut self) -> Result<Vec<Limb>, Error> {
        self.add_waiting(0);
        let mut limbs = bigint_cpu::with_capacity(self.sums.len() + 2)?;
        let mut carry = 0_u128;
        for &sum in self.sums.iter().chain(&[0, 0]) {
            carry += u128::from(sum);
            limbs.push(carry as Limb);
            carry >>= LIMB_BITS;
        }
        Ok(limbs)
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
    let starts = (0..a.len()).step_by(cut.size.max(1));
    let parts = map(starts, cut.threads, |start| {
        let rows = start..a.len().min(start + cut.size.max(1));
        totals(rows.map(|row| (column.magnitude(row), column.is_negative(row))))
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let numbers = |[positive, negative]: &'_ [Vec<Limb>; 2]| {
        [
            (trimmed(positive).to_vec(), false),
            (trimmed(negative).to_vec(), true),
        ]
    };
    let numbers: Vec<_> = parts.iter().flat_map(numbers).collect();
    let [positive, negative] = totals(numbers.iter().map(|(limbs, sign)| (&limbs[..], *sign)))?;
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
