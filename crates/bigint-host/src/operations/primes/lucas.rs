//! The strong Lucas test of many numbers at once.
//!
//! With Selfridge's parameters, `D` the first of 5, -7, 9, -11, ... whose Jacobi symbol over `n` is
//! -1, `P` = 1, `Q` = (1 - D) / 4, and `n + 1 = 2^s d`, `d` odd, a prime has `U(d) = 0`, or
//! `V(2^r d) = 0` for an `r < s`. For the roots `a`, `b` of `x^2 - P x + Q` that says
//!
//! ```text
//! (a / b)^d = 1,   or   (a / b)^(2^r d) = -1 for an r < s,
//! ```
//!
//! and `a / b` has the norm 1: its own sequence `W(k) = (a/b)^k + (b/a)^k`, of which `W(0) = 2` and
//! `W(1) = c = P^2 / Q - 2`, needs no powers of `Q`:
//!
//! ```text
//! W(2k) = W(k)^2 - 2,      W(2k+1) = W(k) W(k+1) - c
//! (a/b)^m = 1   where W(m) = 2 and W(m+1) = c
//! (a/b)^m = -1  where W(m) = -2 and W(m+1) = -c, and of even m where W(m / 2) = 0
//! ```
//!
//! So two products and two differences for each bit of `d`: on a device all numbers together, in one launch
//! [in residue number systems](crate::device::rns::chain) where that takes less time, else as [`Residues`]; on the CPU a [`Chain`]
//! of some on each core. By hand: `n` = 13, `D` = 5, `Q` = -1, `c` = -3, and 14 = 2 7: `W` from 0 on is
//! 2, -3, 7, 8, 8, 7, -3, 2, -3, of which `W(7)` = 2 and `W(8)` = `c`: it passes.
//!
//! `D` is prime to `n`, whose symbol is -1; `Q` has an inverse, or `n`, which is greater, a divisor.
//! The test is that of [Baillie and Wagstaff 1980].

use crate::device::rns::chain::{self, Source, Term};
use crate::operations::primes::in_parts;
use crate::operations::residues::{MontgomeryParams, Residues};
use crate::{Batch, BigUint, Engine, Error, Limb, Options};
use bigint_cpu::chain::{Chain, Step};
use bigint_cpu::{map, threads};

/// `D`s after which a number is looked at: no square has one.
const BEFORE_ROOT: usize = 40;

impl Engine {
    /// Which odd numbers above 2^32 pass the strong Lucas test with Selfridge's parameters. The time
    /// depends on the numbers.
    pub(super) fn pass_lucas(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        if self.inner.device().is_none() {
            // A step of all numbers is too little work for all cores: each takes some numbers all the way.
            return in_parts(numbers, pass_some);
        }
        let rows = numbers.to_biguints()?;
        let starts = map(&rows, threads(), first);
        let mut verdicts: Vec<bool> = starts.iter().map(Option::is_some).collect();
        let open: Vec<usize> = (0..rows.len()).filter(|&i| verdicts[i]).collect();
        if open.is_empty() {
            return Ok(verdicts);
        }
        let engine = self.using(Options::default());
        let moduli = match open.len() == rows.len() {
            true => numbers.clone(),
            false => engine.gather(numbers, &open)?,
        };
        let params = MontgomeryParams::new(&engine, &moduli)?;
        let starts: Vec<BigUint> = starts.into_iter().flatten().collect();
        let c = Residues::new(&engine.batch_from_biguints(&starts)?, &params)?;
        let above: Vec<BigUint> = open.iter().map(|&i| &rows[i] + 1u8).collect();
        for (i, passes) in open.into_iter().zip(engine.ends(&c, &above)?) {
            verdicts[i] = passes;
        }
        Ok(verdicts)
    }

    /// Whether the sequences of `c` end, for `n + 1`, as those of primes do.
    fn ends(&self, c: &Residues, above: &[BigUint]) -> Result<Vec<bool>, Error> {
        let (zeros, odd) = parted(above);
        let one = Residues::one(c.params_of())?;
        let two = one.double()?;
        let bits = odd.iter().map(BigUint::bits).max().unwrap_or(0);
        let width = c.params_of().moduli().width();
        let (mut x, y) = match self.is_chain(odd.len(), width, [2 * bits as usize, 4]) {
            true => self.by_chain([c, &two], &odd, bits)?,
            false => self.by_steps([c, &two], &odd, bits)?,
        };
        // All d are odd: x is W(d), and y is W(d + 1).
        let is_one = both(x.sub(&two)?.are_zero()?, y.sub(c)?.are_zero()?);
        let is_minus_one = both(x.add(&two)?.are_zero()?, y.add(c)?.are_zero()?);
        let of_first = is_one.into_iter().zip(is_minus_one);
        let mut passes: Vec<bool> = of_first.map(|(a, b)| a || b).collect();
        for r in 1.. {
            let is_open = |i: usize| !passes[i] && zeros[i] > r;
            if !(0..odd.len()).any(is_open) {
                break;
            }
            for (i, is_zero) in x.are_zero()?.into_iter().enumerate() {
                passes[i] |= is_zero && zeros[i] > r;
            }
            x = x.square()?.sub(&two)?;
        }
        Ok(passes)
    }
}

/// [`Engine::pass_lucas`] of some numbers.
fn pass_some(numbers: &[Vec<Limb>]) -> Result<Vec<bool>, Error> {
    let numbers: Vec<BigUint> = numbers.iter().map(|n| BigUint::from_slice(n)).collect();
    let starts: Vec<Option<BigUint>> = numbers.iter().map(first).collect();
    let open = numbers.iter().zip(&starts);
    let open = open.filter_map(|(n, start)| Some((n, start.as_ref()?)));
    let (moduli, c): (Vec<&BigUint>, Vec<&BigUint>) = open.unzip();
    let mut passes = chain(&moduli, &c)?.into_iter();
    let told = starts
        .iter()
        .map(|start| start.is_some() && passes.next() == Some(true));
    Ok(told.collect())
}

/// Whether the sequences of `c` modulo `n` end, for `n + 1`, as those of primes do.
fn chain(n: &[&BigUint], c: &[&BigUint]) -> Result<Vec<bool>, Error> {
    if n.is_empty() {
        return Ok(Vec::new());
    }
    let limbs = |numbers: &[&BigUint]| numbers.iter().map(|x| x.to_u32_digits()).collect();
    let (moduli, starts): (Vec<_>, Vec<_>) = (limbs(n), limbs(c));
    let above: Vec<BigUint> = n.iter().map(|&n| n + 1u8).collect();
    let (zeros, odd) = parted(&above);
    // W(k+1) and W(k), the first in `x` where the last bit of k was 0, else in `y`; the square is of `of`.
    let (x, y, of, start, two) = (0, 1, 2, 3, 4);
    let mut chain = Chain::with_moduli(&moduli, 5)?;
    chain.set(x, &starts)?;
    chain.set(start, &starts)?;
    chain.set(y, &[vec![2]])?;
    chain.set(two, &[vec![2]])?;
    // Whether a bit is another than the one above it.
    let changes = odd
        .iter()
        .map(|d| BigUint::to_u32_digits(&(d ^ &(d >> 1u8))));
    chain.set_keys(&changes.collect::<Vec<_>>())?;
    let square = [Step::square(y, of), Step::Sub { r: y, a: y, b: two }];
    let of_bit = |bit| {
        [
            Step::Choose {
                r: of,
                a: y,
                b: x,
                bit,
            },
            Step::Mul { r: x, a: x, b: y },
            Step::Sub {
                r: x,
                a: x,
                b: start,
            },
            square[0],
            square[1],
        ]
    };
    let bits = odd.iter().map(BigUint::bits).max().unwrap_or(0) as u32;
    let steps: Vec<Step> = (0..bits).rev().flat_map(of_bit).collect();
    chain.run(&steps);
    // All d are odd: x is W(d), and y is W(d + 1).
    let of_register = |chain: &Chain, r| chain.get(r).into_iter().map(BigUint::new).collect();
    let mut last: Vec<BigUint> = of_register(&chain, x);
    let next: Vec<BigUint> = of_register(&chain, y);
    let mut passes: Vec<bool> = (0..n.len())
        .map(|i| {
            let (one, minus_one) = ([2u8.into(), c[i].clone()], [n[i] - 2u8, n[i] - c[i]]);
            let ends = [&last[i], &next[i]];
            ends == one.each_ref() || ends == minus_one.each_ref()
        })
        .collect();
    for r in 1.. {
        let is_open = |i: usize| !passes[i] && zeros[i] > r;
        let open: Vec<usize> = (0..n.len()).filter(|&i| is_open(i)).collect();
        if open.is_empty() {
            break;
        }
        for i in open {
            passes[i] = last[i] == BigUint::ZERO;
        }
        chain.run(&[
            Step::square(of, x),
            Step::Sub {
                r: x,
                a: of,
                b: two,
            },
        ]);
        last = of_register(&chain, x);
    }
    Ok(passes)
}

/// With `n = 2^s d`, `d` odd, all `s` and all `d`.
fn parted(numbers: &[BigUint]) -> (Vec<u64>, Vec<BigUint>) {
    let part = |n: &BigUint| {
        let zeros = n.trailing_zeros().unwrap_or(0);
        (zeros, n >> zeros)
    };
    numbers.iter().map(part).unzip()
}

fn both(a: Vec<bool>, b: Vec<bool>) -> Vec<bool> {
    a.into_iter().zip(b).map(|(a, b)| a && b).collect()
}

/// `c = 1 / Q - 2 mod n`, unless `n` is a composite by what is seen on the way.
fn first(n: &BigUint) -> Option<BigUint> {
    let d = parameter(n)?;
    let q = (1 - d) / 4;
    let magnitude = q.unsigned_abs();
    // (n t + 1) / q is the inverse of q for t = -1 / n mod q.
    let rest = word(&(n % magnitude));
    let t = (0..magnitude).find(|t| (rest * t + 1).is_multiple_of(magnitude))?;
    let inverse = (n * t + 1u8) / magnitude;
    let value = if q < 0 { n - inverse } else { inverse };
    Some((value + n - 2u8) % n)
}

/// Selfridge's `D`; a square has none, and neither has a number that a `D` divides.
fn parameter(n: &BigUint) -> Option<i64> {
    let of_sign = |i: usize, d: i64| if i.is_multiple_of(2) { d } else { -d };
    for (i, d) in (5..)
        .step_by(2)
        .enumerate()
        .map(|(i, d)| (i, of_sign(i, d)))
    {
        match jacobi(d, n) {
            -1 => return Some(d),
            0 if BigUint::from(d.unsigned_abs()) < *n => return None,
            _ if i == BEFORE_ROOT => {
                let root = n.sqrt();
                if &root * &root == *n {
                    return None;
                }
            }
            _ => {}
        }
    }
    None
}

fn word(n: &BigUint) -> u64 {
    n.iter_u64_digits().next().unwrap_or(0)
}

/// The Jacobi symbol of `d` over an odd `n`, `d` odd, from -2^31 to 2^31.
fn jacobi(d: i64, n: &BigUint) -> i32 {
    let magnitude = d.unsigned_abs();
    let n_mod_8 = n.iter_u32_digits().next().unwrap_or(0) % 8;
    let mut symbol = if d < 0 && n_mod_8 % 4 == 3 { -1 } else { 1 };
    if magnitude % 4 == 3 && n_mod_8 % 4 == 3 {
        symbol = -symbol;
    }
    // By reciprocity, that of n over |d|.
    let (mut a, mut m) = (word(&(n % magnitude)), magnitude);
    while a != 0 {
        while a.is_multiple_of(2) {
            a /= 2;
            if matches!(m % 8, 3 | 5) {
                symbol = -symbol;
            }
        }
        (a, m) = (m, a);
        if a % 4 == 3 && m % 4 == 3 {
            symbol = -symbol;
        }
        a %= m;
    }
    if m == 1 { symbol } else { 0 }
}

impl Engine {
    /// `W(d)` and `W(d+1)` of as many bits of odd `d`, as a chain.
    fn by_chain(
        &self,
        [c, two]: [&Residues; 2],
        odd: &[BigUint],
        bits: u64,
    ) -> Result<(Residues, Residues), Error> {
        let params = c.params_of();
        // W(k+1) and W(k), the first in `x` where the last bit of k was 0, else in `y`; what is made of them goes to two
        // registers in turn.
        let ([of_c, of_two], mut steps) = ([0, 1], Vec::new());
        let (mut x, mut y) = (of_c, of_two);
        let less = |register| {
            Some(Term {
                register,
                is_subtracted: true,
            })
        };
        for bit in (0..bits as u32).rev() {
            let made = if bit % 2 == 0 { [2, 3] } else { [4, 5] };
            steps.push(chain::Step {
                r: made[0],
                x: Source::Register(x),
                y: Some(y),
                t: less(of_c),
            });
            // W(2k+2) is of W(k+1), W(2k) of W(k).
            steps.push(chain::Step {
                r: made[1],
                x: Source::Chosen(bit, [y, x]),
                y: None,
                t: less(of_two),
            });
            [x, y] = made;
        }
        let chain = chain::Chain {
            count: odd.len(),
            width: params.moduli().width(),
            registers: 6,
            inputs: 2,
            has_keys: true,
            steps,
            outputs: vec![x, y],
        };
        // Whether a bit is another than the one above it.
        let changes: Vec<BigUint> = odd.iter().map(|d| d ^ &(d >> 1u8)).collect();
        let operands = [
            params.moduli().clone(),
            c.retrieve()?,
            two.retrieve()?,
            self.batch_from_biguints(&changes)?,
        ];
        let made = self.of_chain(chain, &operands)?;
        let made = made.iter().map(|form| Residues::new(form, params));
        let [x, y] = <[_; 2]>::try_from(made.collect::<Result<Vec<_>, _>>()?)
            .unwrap_or_else(|_| unreachable!("two results"));
        Ok((x, y))
    }

    /// The same step by step.
    fn by_steps(
        &self,
        [c, two]: [&Residues; 2],
        odd: &[BigUint],
        bits: u64,
    ) -> Result<(Residues, Residues), Error> {
        let (mut x, mut y) = (c.clone(), two.clone());
        let mut last = vec![false; odd.len()];
        for i in (0..bits).rev() {
            let bits: Vec<bool> = odd.iter().map(|d| d.bit(i)).collect();
            let same: Vec<bool> = bits.iter().zip(&last).map(|(a, b)| a == b).collect();
            let of = y.select(&x, &self.mask(&same)?)?;
            (x, y) = (x.mul(&y)?.sub(c)?, of.square()?.sub(two)?);
            last = bits;
        }
        Ok((x, y))
    }
}

impl Residues {
    /// The residues of `self` in rows whose mask is 1, and of `other` in the others.
    fn select(&self, other: &Self, mask: &Batch) -> Result<Self, Error> {
        let [ours, theirs] = [self, other].map(Residues::as_montgomery);
        let chosen = self.engine().select(ours?, theirs?, mask)?;
        Ok(self.params_of().residues(chosen))
    }

    /// Which are 0.
    fn are_zero(&self) -> Result<Vec<bool>, Error> {
        let form = self.as_montgomery()?;
        let is_zero = |row: &[Limb]| row.iter().all(|&limb| limb == 0);
        Ok(form.rows()?.chunks(form.width()).map(is_zero).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test as the paper has it, with `U`, `V` and the powers of `Q`.
    fn is_strong_lucas(n: &BigUint) -> bool {
        let Some(d) = parameter(n) else { return false };
        let residue = |x: i64| {
            let magnitude = BigUint::from(x.unsigned_abs()) % n;
            if x < 0 {
                (n - magnitude) % n
            } else {
                magnitude
            }
        };
        let minus = |x: BigUint, y: BigUint| (x + n - y) % n;
        let half = |x: BigUint| if x.bit(0) { (x + n) >> 1 } else { x >> 1 };
        let (d, q) = (residue(d), residue((1 - d) / 4));
        let above = n + 1u8;
        let zeros = above.trailing_zeros().unwrap_or(0);
        let odd = &above >> zeros;
        let mut u = BigUint::from(1u8);
        let mut v = u.clone();
        let mut power = q.clone();
        for i in (0..odd.bits() - 1).rev() {
            u = &u * &v % n;
            v = minus(&v * &v % n, &power * 2u8 % n);
            power = &power * &power % n;
            if odd.bit(i) {
                (u, v) = (half((&u + &v) % n), half((&d * &u + &v) % n));
                power = &power * &q % n;
            }
        }
        u == BigUint::ZERO
            || (0..zeros).any(|_| {
                let is_zero = v == BigUint::ZERO;
                v = minus(&v * &v % n, &power * 2u8 % n);
                power = &power * &power % n;
                is_zero
            })
    }

    fn agrees(numbers: &[BigUint]) -> Vec<bool> {
        let engine = Engine::cpu();
        let batch = engine.batch_from_biguints(numbers).unwrap();
        let found = engine.pass_lucas(&batch).unwrap();
        for (n, &passes) in numbers.iter().zip(&found) {
            assert_eq!(passes, is_strong_lucas(n), "{n}");
        }
        found
    }

    /// All odd numbers of a stretch without small divisors, in which OEIS A217255 names the
    /// composites that pass, the squares of Wieferich's primes, and long numbers of each kind of
    /// `n + 1`.
    #[test]
    fn verdicts_are_those_of_the_papers_sequences() {
        let small = |n: &u32| (3..40).step_by(2).all(|p| !n.is_multiple_of(p));
        let stretch: Vec<u32> = (41 * 41..61_000).step_by(2).filter(small).collect();
        let found = agrees(&stretch.iter().map(|&n| n.into()).collect::<Vec<_>>());
        let is_prime = |n: u32| {
            (2..)
                .take_while(|p| p * p <= n)
                .all(|p| !n.is_multiple_of(p))
        };
        let liars = stretch
            .iter()
            .zip(found)
            .filter(|&(&n, passes)| passes != is_prime(n));
        let liars: Vec<u32> = liars.map(|(&n, _)| n).collect();
        assert_eq!(
            liars,
            [
                5459, 5777, 10_877, 16_109, 18_971, 22_499, 24_569, 25_199, 40_309, 58_519
            ]
        );

        let one = BigUint::from(1u8);
        let squares = [1093u32, 3511].map(|p| BigUint::from(p).pow(2));
        assert_eq!(agrees(&squares), [false, false]);
        let mersenne = [61u32, 67, 89, 127, 257, 521];
        let mersenne = mersenne.map(|p| (&one << p) - &one);
        assert_eq!(agrees(&mersenne), [true, false, true, true, false, true]);
        let near =
            (0..60u32).flat_map(|k| [(&one << (70 + k)) + 13u8, (&one << (70 + 3 * k)) - 17u8]);
        agrees(&near.collect::<Vec<_>>());
    }
}
