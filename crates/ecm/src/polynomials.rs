//! Polynomials modulo a number `n`, as many at a time as there are rows, by operations of an engine on batches.
//!
//! A polynomial of `d` coefficients is one long number: they lie side by side, lowest first, in slots of `s` limbs.
//! The product of two such numbers is the product of the polynomials, if a slot holds each of its coefficients
//! (Kronecker's substitution). These are sums of at most `d` products of numbers up to `n < 2^b`, and with a number
//! or two below `n` more they are still below `d 2^(2b)`: so a slot has `2 b + log2 d` bits. Then each slot
//! is reduced modulo `n` by itself, all slots of all rows being the numbers of one batch.
//!
//! By hand, modulo 7 with slots of three decimal digits: `(3 + 5 x)(6 + 2 x)` is 005003 times 002006, which is
//! 10 036 018, and so `18 + 36 x + 10 x^2 = 4 + x + 3 x^2`.
//!
//! Below, *monic* polynomials of degree `d` lack their highest coefficient, 1: they have `d` coefficients, a power
//! of two, and so have their products twice as many.
//!
//! **Products of roots.** `(x^d + a)(x^d + b) = x^2d + (a + b) x^d + a b`. The polynomials of a level of the tree lie side by
//! side, and those of a row's lower half are multiplied by those of its upper half.
//!
//! **Remainders modulo a monic `F = x^d + f`** ([Barrett 1986]). With `J = floor(x^(2d-1) / F)`, of `d` coefficients,
//! and `P` of `2 d`, the quotient is the upper half of `J` times `P`'s coefficients from `d - 1` on, and the remainder the
//! lower half of `P - q f`. Newton's method doubles `J`: its upper coefficients depend on those of `F` alone, so that
//! with `J` right for the upper `d` of `F`, what `J F` has in its next `d` coefficients is the error, and `-error J` is
//! what comes below `J`.
//!
//! **Values at all roots** ([Bernstein 2004]). `H / F` is a series in `1/x`, whose first `d` coefficients are the upper
//! half of `H J`. Of `F = A B`, the series of `H / A` without its polynomial part is that of `H / F` times `B`: of `2 d`
//! coefficients and `d` of `B`, the `d` in the middle of the product. At a leaf `x + r` one coefficient is left: the
//! value at `-r`.
//!
//! Cost, in products of `d` by `d` coefficients: three for a remainder, as many for `J`; `log2 d / 2` for the products of
//! roots, three times that for the values, less for what is so short that it takes less than its share.

use bigint_host::advanced::Form;
use bigint_host::{Batch, Engine, Operation};
use num_bigint::BigUint;

use crate::Error;

/// Polynomials modulo a number, on an engine.
#[derive(Clone, Debug)]
pub struct Ring {
    engine: Engine,
    modulus: Batch,
    n: BigUint,
}

/// A monic polynomial in each row that has the product of its roots' factors, and what remainders and values take.
#[derive(Debug)]
pub struct Modulus {
    degree: usize,
    /// The halves of each level of the product, from the roots on.
    levels: Vec<[Batch; 2]>,
    /// `-f`.
    negative: Batch,
    /// `J`.
    inverse: Batch,
}

impl Ring {
    pub fn new(engine: &Engine, n: &BigUint) -> Result<Self, Error> {
        Ok(Ring {
            engine: engine.clone(),
            modulus: engine.batch_from_biguints(std::slice::from_ref(n))?,
            n: n.clone(),
        })
    }

    /// The limbs of a slot in polynomials of so many coefficients.
    pub fn slot(&self, length: usize) -> usize {
        let bits = 2 * self.n.bits() + u64::from(length.next_power_of_two().ilog2());
        bits.div_ceil(32) as usize
    }

    /// Numbers below the modulus, in slots of so many limbs, from numbers in slots of others.
    pub fn reduce(&self, rows: &Batch, from: usize, to: usize) -> Result<Batch, Error> {
        let slots = rows.width() / from;
        let numbers = self.engine.reshape(rows, from)?;
        let operands = [&numbers, &self.modulus];
        let made = self
            .engine
            .compute(Operation::Rem, Form::Modulo(to), &operands)?;
        Ok(self.engine.reshape(&made.results[0], slots * to)?)
    }

    /// Numbers below the modulus.
    pub fn residues(&self, numbers: &Batch) -> Result<Batch, Error> {
        Ok(self.engine.rem(numbers, &self.modulus)?)
    }

    /// Rows of `count` numbers each, side by side, in slots of polynomials of degree 1: a number for each.
    pub fn spread(&self, rows: &Batch, count: usize) -> Result<Batch, Error> {
        let slot = self.slot(1);
        let rows = self.reduce(rows, rows.width() / count, slot)?;
        Ok(self.engine.reshape(&rows, slot)?)
    }

    /// [`Ring::spread`] of rows times a number below the modulus of each row.
    pub fn scale(&self, rows: &Batch, count: usize, by: &Batch) -> Result<Batch, Error> {
        let slot = self.slot(1);
        let rows = self.reduce(rows, rows.width() / count, slot)?;
        let product = self.engine.wrapping_mul(&rows, by)?;
        self.spread(&product, count)
    }

    /// Products of numbers below the modulus.
    pub fn product(&self, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        self.residues(&self.engine.mul(a, b)?)
    }

    /// The lower and the upper half of each row, as rows of numbers of so many limbs each.
    fn halves(&self, rows: &Batch, width: usize) -> Result<[Batch; 2], Error> {
        let (engine, half) = (&self.engine, rows.width() / 2);
        let of = |from| engine.reshape(&engine.limbs_from(rows, from, half)?, width);
        Ok([of(0)?, of(half)?])
    }

    /// `count` rows whose halves are these.
    fn joined(&self, [lower, upper]: [&Batch; 2], count: usize) -> Result<Batch, Error> {
        let engine = &self.engine;
        let half = lower.len() * lower.width() / count;
        let upper = engine.lifted(&engine.reshape(upper, half)?, half, 2 * half)?;
        Ok(engine.wrapping_add(&upper, &engine.reshape(lower, half)?)?)
    }

    /// The product of all numbers of each row, of as many limbs each, a power of two of them.
    pub fn product_of_each(&self, rows: Batch, width: usize) -> Result<Batch, Error> {
        let (count, mut rows, mut width) = (rows.len(), rows, width);
        while rows.width() > width {
            let [a, b] = self.halves(&rows, width)?;
            let product = self.product(&a, &b)?;
            width = product.width();
            let limbs = product.len() * width / count;
            rows = self.engine.reshape(&product, limbs)?;
        }
        Ok(rows)
    }

    /// The product of all other numbers of its row for each number, in their place, and of all numbers of each row.
    /// Rows have a power of two of numbers, more than one of as many limbs as the modulus.
    pub fn products_of_others(&self, rows: Batch) -> Result<[Batch; 2], Error> {
        let (count, width) = (rows.len(), self.modulus.width());
        let (mut levels, mut rows) = (Vec::new(), rows);
        while rows.width() > width {
            let [a, b] = self.halves(&rows, width)?;
            let product = self.product(&a, &b)?;
            rows = self
                .engine
                .reshape(&product, product.len() * width / count)?;
            levels.push([a, b]);
        }
        let mut others: Option<Batch> = None;
        for [a, b] in levels.iter().rev() {
            let both = match &others {
                None => [b.clone(), a.clone()],
                Some(others) => {
                    let others = self.engine.reshape(others, width)?;
                    [self.product(&others, b)?, self.product(&others, a)?]
                }
            };
            others = Some(self.joined([&both[0], &both[1]], count)?);
        }
        Ok([others.expect("there is more than one"), rows])
    }

    /// The monic polynomials with roots `-r`, so many for each row, a power of two: a row of `roots` has them in slots of polynomials of
    /// degree 1. Calls `level` with the halves that are multiplied, from the roots on.
    pub fn with_roots(
        &self,
        roots: Batch,
        degree: usize,
        mut level: impl FnMut([Batch; 2]),
    ) -> Result<Batch, Error> {
        let engine = &self.engine;
        let (count, mut all, mut length) = (roots.len(), roots, 1);
        while length < degree {
            let slot = self.slot(length);
            let half = slot * length;
            let [a, b] = self.halves(&all, half)?;
            let product = engine.mul(&a, &b)?;
            let sum = engine.lifted(&engine.wrapping_add(&a, &b)?, half, 2 * half)?;
            let product = engine.wrapping_add(&product, &sum)?;
            level([a, b]);
            length *= 2;
            let reduced = self.reduce(&product, slot, self.slot(length))?;
            let limbs = reduced.len() * reduced.width() / count;
            all = engine.reshape(&reduced, limbs)?;
        }
        Ok(all)
    }

    /// [`Modulus`] of the polynomials with these roots, as [`Ring::with_roots`] has them.
    pub fn modulus(&self, roots: Batch, degree: usize) -> Result<Modulus, Error> {
        let engine = &self.engine;
        let mut levels = Vec::new();
        let f = self.with_roots(roots, degree, |halves| levels.push(halves))?;
        let slot = self.slot(degree);
        // n in each slot: no slot borrows from the next.
        let mut limbs = Vec::with_capacity(slot * degree);
        for _ in 0..degree {
            crate::device::push(&mut limbs, &self.n, slot);
        }
        let all = crate::device::rows(engine, limbs, slot * degree)?;
        let negative = engine.wrapping_sub(&all, &f)?;
        let mut one = vec![0; slot * f.len()];
        one.iter_mut().step_by(slot).for_each(|limb| *limb = 1);
        let (mut inverse, mut length) = (crate::device::rows(engine, one, slot)?, 1);
        while length < degree {
            let half = slot * length;
            let top = slot * (degree - 2 * length);
            let upper = engine.limbs_from(&negative, top, 2 * half)?;
            let error = self.middle(&upper, &inverse)?;
            let error = self.reduce(&error, slot, slot)?;
            let below = self.upper(&error, &inverse, length - 1, slot)?;
            let above = engine.lifted(&inverse, half, 2 * half)?;
            inverse = engine.wrapping_add(&above, &below)?;
            length *= 2;
        }
        // For remainders and values.
        engine.keep_transform(&inverse);
        engine.keep_transform(&negative);
        Ok(Modulus {
            degree,
            levels,
            negative,
            inverse,
        })
    }

    /// The middle of products of `2 d` by `d` coefficients: those from `d` up to `2 d`, not reduced.
    fn middle(&self, long: &Batch, short: &Batch) -> Result<Batch, Error> {
        let product = self.engine.mul(long, short)?;
        let limbs = short.width();
        Ok(self.engine.limbs_from(&product, limbs, limbs)?)
    }

    /// As many coefficients of products as the factors have, from number `first` on.
    fn upper(&self, a: &Batch, b: &Batch, first: usize, slot: usize) -> Result<Batch, Error> {
        let product = self.engine.mul(a, b)?;
        let upper = self.engine.limbs_from(&product, slot * first, a.width())?;
        self.reduce(&upper, slot, slot)
    }

    /// A monic polynomial of the modulus's degree modulo it.
    pub fn remainder_of_monic(&self, g: &Batch, modulus: &Modulus) -> Result<Batch, Error> {
        let slot = self.slot(modulus.degree);
        let sum = self.engine.wrapping_add(g, &modulus.negative)?;
        self.reduce(&sum, slot, slot)
    }

    /// The product of two remainders modulo the modulus.
    pub fn product_modulo(&self, a: &Batch, b: &Batch, modulus: &Modulus) -> Result<Batch, Error> {
        let (engine, degree) = (&self.engine, modulus.degree);
        let slot = self.slot(degree);
        let limbs = slot * degree;
        let product = self.reduce(&engine.mul(a, b)?, slot, slot)?;
        let upper = engine.limbs_from(&product, limbs - slot, limbs)?;
        let quotient = self.upper(&upper, &modulus.inverse, degree, slot)?;
        let multiple = engine.wrapping_mul(&quotient, &modulus.negative)?;
        let lower = engine.limbs_from(&product, 0, limbs)?;
        self.reduce(&engine.wrapping_add(&multiple, &lower)?, slot, slot)
    }

    /// The values of a remainder at all roots of the modulus: rows of them, in slots of polynomials of degree 1.
    pub fn values(&self, h: &Batch, modulus: &Modulus) -> Result<Batch, Error> {
        let (engine, degree) = (&self.engine, modulus.degree);
        let slot = self.slot(degree);
        let mut series = self.upper(h, &modulus.inverse, degree - 1, slot)?;
        let (count, mut length, mut slot) = (h.len(), degree, slot);
        for [a, b] in modulus.levels.iter().rev() {
            length /= 2;
            let of_level = self.slot(length);
            if slot != of_level {
                series = self.reduce(&series, slot, of_level)?;
                slot = of_level;
            }
            let half = slot * length;
            let series_of = engine.reshape(&series, 2 * half)?;
            let lower = engine.limbs_from(&series_of, 0, half)?;
            let of_half = |other: &Batch| {
                let middle = self.middle(&series_of, other)?;
                Ok::<_, Error>(engine.wrapping_add(&middle, &lower)?)
            };
            let both = [of_half(b)?, of_half(a)?];
            let both = self.joined([&both[0], &both[1]], count)?;
            series = self.reduce(&both, slot, slot)?;
        }
        Ok(series)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{push, rows};

    /// Numbers below `n` from a row of digits of a square, with the least and the greatest among them.
    fn numbers(n: &BigUint, count: usize, seed: u32) -> Vec<BigUint> {
        let mut x = BigUint::from(seed) + 5u8;
        let mut next = |i: usize| {
            x = (&x * &x + 7u8) % n;
            match (i + seed as usize) % 5 {
                0 => n - 1u8,
                3 => BigUint::ZERO,
                _ => x.clone(),
            }
        };
        (0..count).map(&mut next).collect()
    }

    /// The coefficients of each row.
    fn coefficients(batch: &Batch, slot: usize) -> Vec<Vec<BigUint>> {
        let width = batch.width();
        let limbs = batch.rows().unwrap();
        let row = |row: &[u32]| row.chunks(slot).map(BigUint::from_slice).collect();
        limbs.chunks(width).map(row).collect()
    }

    /// `x^d + ..` with roots `-r`, without its highest coefficient.
    fn with_roots(roots: &[BigUint], n: &BigUint) -> Vec<BigUint> {
        let mut all = vec![BigUint::from(1u8)];
        for r in roots {
            let mut next = vec![BigUint::ZERO; all.len() + 1];
            for (i, c) in all.iter().enumerate() {
                next[i] = (&next[i] + c * r) % n;
                next[i + 1] = (&next[i + 1] + c) % n;
            }
            all = next;
        }
        all.pop();
        all
    }

    fn value(h: &[BigUint], x: &BigUint, n: &BigUint) -> BigUint {
        h.iter()
            .rev()
            .fold(BigUint::ZERO, |sum, c| (sum * x + c) % n)
    }

    #[test]
    fn remainders_and_their_values_are_those_of_numbers_one_by_one() {
        let engine = Engine::cpu();
        let one = || BigUint::from(1u8);
        // All ones, 2^k + 1, and lengths at which a slot's last limb fills or does not.
        let moduli: Vec<BigUint> = [13u64, 32, 61, 64, 94, 127, 250]
            .iter()
            .flat_map(|&bits| [(one() << bits) - 1u8, (one() << bits) + 1u8])
            .collect();
        for n in &moduli {
            for (degree, count) in [(1, 1), (2, 3), (4, 1), (8, 5), (32, 2)] {
                let ring = Ring::new(&engine, n).unwrap();
                let slot = ring.slot(degree);
                let of_all = |seed: u32| -> Vec<Vec<BigUint>> {
                    (0..count).map(|i| numbers(n, degree, seed + i)).collect()
                };
                let batch = |roots: &[Vec<BigUint>]| {
                    let mut limbs = Vec::new();
                    for root in roots.iter().flatten() {
                        push(&mut limbs, root, ring.slot(1));
                    }
                    rows(&engine, limbs, ring.slot(1) * degree).unwrap()
                };
                let (babies, first, second) = (of_all(1), of_all(20), of_all(33));
                let modulus = ring.modulus(batch(&babies), degree).unwrap();
                let mut product: Option<Batch> = None;
                for giants in [&first, &second] {
                    let block = ring.with_roots(batch(giants), degree, |_| ()).unwrap();
                    let found = coefficients(&block, slot);
                    for (found, giants) in found.iter().zip(giants) {
                        assert_eq!(*found, with_roots(giants, n), "{n} {degree}");
                    }
                    let block = ring.remainder_of_monic(&block, &modulus).unwrap();
                    product = Some(match product {
                        Some(product) => ring.product_modulo(&product, &block, &modulus).unwrap(),
                        None => block,
                    });
                }
                let product = product.unwrap();
                let values = ring.values(&product, &modulus).unwrap();
                let remainders = coefficients(&product, slot);
                let values = coefficients(&values, ring.slot(1));
                for (row, babies) in babies.iter().enumerate() {
                    for (i, r) in babies.iter().enumerate() {
                        let x = (n - r) % n;
                        let roots = first[row].iter().chain(&second[row]);
                        let expected = roots.fold(one(), |all, g| all * (&x + g) % n);
                        assert_eq!(values[row][i], expected, "{n} {degree}");
                        assert_eq!(value(&remainders[row], &x, n), expected);
                    }
                }
            }
        }
    }
}
