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

use crate::operations::primes::in_parts;
use crate::operations::residues::vartime;
use crate::{Batch, BigUint, Engine, Error, Limb, Options};
use bigint_cpu::chain::{Chain, Step};

impl Engine {
    /// Which odd numbers above 1 have such a power `y` of 2 as all have that pass a strong test to base 2.
    /// Those that are not 1 modulo 8 pass it.
    pub(super) fn pass_symbol(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        if self.inner.device().is_none() {
            return in_parts(numbers, symbols);
        }
        let plain = self.using(Options::default());
        let one = plain.mask(&[true])?;
        let halves = plain.shr(numbers, &one)?;
        let two = plain.batch_from_biguints(&[2u8.into()])?;
        let powers = vartime(self).pow_mod(&two, &halves, numbers)?;
        let (numbers_rows, powers_rows) = (numbers.rows()?, powers.rows()?);
        let rows = numbers_rows.chunks(numbers.width());
        let rows = rows.zip(powers_rows.chunks(powers.width()));
        let passes = rows.map(|(n, y)| is_symbol(y, n));
        Ok(passes.collect())
    }

    /// Which of those that [`pass_symbol`](Self::pass_symbol) pass a strong test to base 2: those that are 1 modulo 8
    /// are tested as the definition says.
    pub(super) fn pass_two_after_symbol(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        let is_undecided = |n: &[Limb]| n[0] % 8 == 1;
        let rows = numbers.rows()?;
        let rows = rows.chunks(numbers.width());
        let undecided = rows.map(|n| is_undecided(n).then(|| BigUint::from_slice(n)));
        let undecided: Vec<Option<BigUint>> = undecided.collect();
        let open: Vec<BigUint> = undecided.iter().flatten().cloned().collect();
        let mut told = self.pass_base(&2u8.into(), &open)?.into_iter();
        let passes = undecided
            .iter()
            .map(|n| n.is_none() || told.next() == Some(true));
        Ok(passes.collect())
    }

    /// Which odd numbers above 1 pass a strong test to base 2.
    #[cfg(test)]
    pub(super) fn pass_two(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        self.pass_one_after_other(numbers, Engine::pass_symbol, Engine::pass_two_after_symbol)
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

/// [`Engine::pass_symbol`] of some numbers. To square and to shift costs less than windows, as 2 is the base.
fn symbols(numbers: &[Vec<Limb>]) -> Result<Vec<bool>, Error> {
    let (x, y) = (0, 1);
    let mut chain = Chain::with_moduli(numbers, 2)?;
    chain.set(x, &[vec![1]])?;
    let halves = numbers.iter().map(|n| BigUint::from_slice(n) >> 1);
    let halves: Vec<BigUint> = halves.collect();
    let longest = halves.iter().map(BigUint::bits).max().unwrap_or(0) as u32;
    let keys: Vec<Vec<Limb>> = halves.iter().map(BigUint::to_u32_digits).collect();
    chain.set_keys(&keys)?;
    // x^4 2^k for each two bits k.
    let of_two = |pair| {
        let bit = 2 * pair;
        [
            Step::square(x, x),
            Step::Shift { r: y, a: x, bit },
            Step::Mul { r: x, a: x, b: y },
        ]
    };
    let steps: Vec<Step> = (0..longest.div_ceil(2)).rev().flat_map(of_two).collect();
    chain.run(&steps);
    let powers = chain.get(x).into_iter().zip(numbers);
    let passes = powers.map(|(mut power, n)| {
        power.resize(n.len(), 0);
        is_symbol(&power, n)
    });
    Ok(passes.collect())
}

/// Whether `y` is the Jacobi symbol of 2 over `n`, which may be either where `n` is 3 modulo 4.
fn is_symbol(y: &[Limb], n: &[Limb]) -> bool {
    match n[0] % 8 {
        1 => is_one(y),
        5 => is_minus_one(y, n),
        _ => is_one(y) || is_minus_one(y, n),
    }
}

fn is_one(row: &[Limb]) -> bool {
    row[0] == 1 && row[1..].iter().all(|&limb| limb == 0)
}

/// Whether it is `n - 1`, `n` being odd.
fn is_minus_one(row: &[Limb], n: &[Limb]) -> bool {
    row[0] == n[0] - 1 && row[1..] == n[1..]
}
