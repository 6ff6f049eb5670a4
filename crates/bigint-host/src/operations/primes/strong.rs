//! Strong tests of many numbers at once (Miller, Rabin): powers as one batch.
//!
//! With `n - 1 = 2^s d`, `d` odd, `n` passes to a base `b` where `b^d` is 1, or one of its first `s`
//! squares, itself among them, is -1.
//!
//! To base 2, to which nearly all powers are taken, one power and no square mostly decides it. Let
//! `y = 2^((n-1)/2)`. What passes has `y` equal to the Jacobi symbol of 2 over `n`
//! (Pomerance, Selfridge and Wagstaff, *The pseudoprimes to 25 10^9*, theorem 3), and that is all that is asked where
//!
//! ```text
//! n = 3 (mod 4):  (n - 1) / 2 is d itself: y = 1 or y = -1
//! n = 5 (mod 8):  (n - 1) / 2 is 2 d, and the symbol is -1: y = -1 (2^d is neither 1 nor -1 then,
//!                 both of which have the symbol 1)
//! n = 1 (mod 8):  y = 1; what has it is tested as the definition says
//! ```

use crate::operations::residues::vartime;
use crate::{Batch, BigUint, Engine, Error, Limb, Options};

impl Engine {
    /// Which odd numbers above 1 pass a strong test to base 2.
    pub(super) fn pass_two(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let plain = self.using(Options::default());
        let one = plain.mask(&[true])?;
        let halves = plain.shr(numbers, &one)?;
        let two = plain.batch_from_biguints(&[2u8.into()])?;
        let powers = vartime(self).pow_mod(&two, &halves, numbers)?;
        let (numbers_rows, powers_rows) = (numbers.rows()?, powers.rows()?);
        let rows = numbers_rows.chunks(numbers.width());
        let rows = rows.zip(powers_rows.chunks(powers.width()));
        let passes = rows.map(|(n, y)| match n[0] % 8 {
            1 => is_one(y),
            5 => is_minus_one(y, n),
            _ => is_one(y) || is_minus_one(y, n),
        });
        let mut passes: Vec<bool> = passes.collect();
        let undecided = |&i: &usize| passes[i] && numbers_rows[i * numbers.width()] % 8 == 1;
        let undecided: Vec<usize> = (0..passes.len()).filter(undecided).collect();
        let left = undecided.iter().map(|&i| numbers.get(i));
        let left = left.collect::<Result<Vec<_>, _>>()?;
        let left: Vec<BigUint> = left.into_iter().flatten().collect();
        for (i, verdict) in undecided
            .into_iter()
            .zip(self.pass_base(&2u8.into(), &left)?)
        {
            passes[i] = verdict;
        }
        Ok(passes)
    }

    /// Which of these odd numbers above 1 pass a strong test to a base. Anybody may know them.
    pub(super) fn pass_base(
        &self,
        base: &BigUint,
        numbers: &[BigUint],
    ) -> Result<Vec<bool>, Error> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let one = BigUint::from(1u8);
        let zeros = |n: &BigUint| (n - &one).trailing_zeros().unwrap_or(0);
        let zeros: Vec<u64> = numbers.iter().map(zeros).collect();
        let odd = numbers.iter().zip(&zeros).map(|(n, s)| (n - &one) >> s);
        let batch = |numbers: &[BigUint]| self.batch_from_biguints(numbers);
        let [base, odd] = [&[base.clone()][..], &odd.collect::<Vec<_>>()].map(batch);
        let powers = vartime(self).pow_mod(&base?, &odd?, &batch(numbers)?)?;
        let mut powers = powers.to_biguints()?;
        let is_minus_one = |power: &BigUint, n: &BigUint| power + &one == *n;
        let mut passes: Vec<bool> = numbers
            .iter()
            .zip(&powers)
            .map(|(n, power)| *power == one || is_minus_one(power, n))
            .collect();
        let plain = self.using(Options::default());
        let mut open: Vec<usize> = (0..numbers.len()).collect();
        for r in 1.. {
            open.retain(|&i| !passes[i] && zeros[i] > r);
            if open.is_empty() {
                break;
            }
            let [roots, moduli] = [&powers, numbers]
                .map(|all: &[BigUint]| plain.batch_of(open.len(), |i| &all[open[i]]));
            let squares = plain
                .rem(&plain.square(&roots?)?, &moduli?)?
                .to_biguints()?;
            for (&i, square) in open.iter().zip(squares) {
                passes[i] = is_minus_one(&square, &numbers[i]);
                powers[i] = square;
            }
        }
        Ok(passes)
    }
}

fn is_one(row: &[Limb]) -> bool {
    row[0] == 1 && row[1..].iter().all(|&limb| limb == 0)
}

/// Whether it is `n - 1`, `n` being odd.
fn is_minus_one(row: &[Limb], n: &[Limb]) -> bool {
    row[0] == n[0] - 1 && row[1..] == n[1..]
}
