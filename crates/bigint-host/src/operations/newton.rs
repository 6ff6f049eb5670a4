//! Quotients and square roots of numbers wider than kernels hold, composed of products.
//!
//! Let `B` = 2^32, `d` of `m` limbs with its top bit set, `D = d / B^m` and `a` below `B^n`.
//!
//! **Reciprocal** of `k` limbs: `X` with `1 <= X - B^k / D <= 12`. From `x` of `h = k/2 + 1` limbs and `t`,
//! the top `k` limbs of `d`, by Newton's step
//!
//! ```text
//! e = x t - B^(h + k),    X = x B^(k-h) - x e / B^(h + k) B^(k-h) + 2
//! ```
//!
//! Squared, the error of `x` is less than `144 B^(k-2h)`, which is nothing. What `d` has below `t` makes
//! `X` greater by 4, `e` cut to `k - h + 1` limbs by 2 and what is cut off the product by 1, each at most, and
//! with the 2 `X` is always too great. So `e` is never negative: it is computed without its top, which
//! is known; and `x t` begins with a one and zeros, not with ones, through which carries would run.
//!
//! **Quotient**: `q = floor(floor(a / B^(m-1)) X / B^(k+1))` with `k = n - m + 1` is off by one at most,
//! as the error of `X` is worth `12 / B` here and what is cut off `a` is worth `2 / B`. With `r = a + d - q d`
//! in `[0, 3 d)` the quotient is `q - 1` and one more for each `d` that can be taken off.
//!
//! By hand, with `B` = 10, `d` = 7, `a` = 85: `k` = 2, `X` = 145, `q` = floor(85 145 / 1000) = 12, `r` = 8, from
//! which one 7 goes: 12, and 1 is left.
//!
//! **Square root** [Zimmermann 1999], of `2 k` limbs one of whose top two bits is set: with `s'`, `r'` the root of
//! the upper half and what it leaves, `q` and `u` quotient and rest of `r' B^l + x_1` by `2 s'`, the root is
//! `s' B^l + q`, or one less where `u B^l + x_0 - q^2` is negative.
//!
//! **Cost**, in products of `m` limbs: a reciprocal 3, a quotient of `m` limbs 5, a square root of `2 m` limbs
//! as much as quotients of `m`, `m/2`, ... limbs; and passes over memory.

use crate::Error;
use crate::common::job::{Job, Wanted};
use crate::engine::inner::Resort;
use crate::operations::forms::Form;
use crate::plan::choose;
use crate::{Batch, Engine};
use bigint_core::{LIMB_BITS, Layout, Limb, Operation, Shape, WIDEST_COUNTED};

/// The widest reciprocals that kernels divide for, in limbs, and those that no step makes.
const BASE: std::ops::RangeInclusive<usize> = 4..=64;

/// Limbs that are looked at first for the length of one number.
const PEEKED: usize = 1 << 10;

impl Engine {
    /// The results of a quotient or a square root by Newton's reciprocals, where that is [how it is
    /// computed](choose::by_newton).
    pub(crate) fn by_newton(
        &self,
        job: Job,
        operands: &[&Batch],
    ) -> Result<Option<Vec<Batch>>, Error> {
        let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape()).collect();
        let may_use_cpu = self.inner.resort == Resort::Always;
        let is_chosen = choose::by_newton(self.tuning(), may_use_cpu, job, &shapes).holds();
        // The lengths of secrets are secret, too.
        if !is_chosen || self.inner.device().is_none() || self.is_for_secrets() {
            return Ok(None);
        }
        // The steps are computed as any operations are.
        let engine = self.using(crate::Options::default());
        let made = match (job.operation, operands) {
            (Operation::Isqrt, [a]) => engine.newton_root(a)?,
            (_, [a, b]) => engine.newton_quotient(a, b, job.wanted)?,
            _ => None,
        };
        let Some(made) = made else {
            return Ok(None);
        };
        let made = match job.operation {
            Operation::Rem => &made[1..],
            _ => &made[..],
        };
        let results = job.shapes().iter().zip(made);
        let results = results.map(|(shape, made)| engine.limbs_from(made, 0, shape.width));
        results.collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// Quotients and remainders; nothing where that is for another to say.
    fn newton_quotient(
        &self,
        a: &Batch,
        b: &Batch,
        wanted: Wanted,
    ) -> Result<Option<[Batch; 2]>, Error> {
        let bits = self.lengths(b)?;
        if let Some(index) = bits.iter().position(|&bits| bits == 0) {
            return match wanted {
                Wanted::First => Err(Error::ZeroDivisor { index }),
                _ => Ok(None),
            };
        }
        let longest = bits.iter().max().copied().unwrap_or(1);
        let m = longest.div_ceil(LIMB_BITS as u64) as usize;
        let b = self.limbs_from(b, 0, m)?;
        let shifts: Vec<u64> = bits
            .iter()
            .map(|bits| (LIMB_BITS * m) as u64 - bits)
            .collect();
        let most = shifts.iter().max().copied().unwrap_or(0);
        let n = (a.width() + most.div_ceil(LIMB_BITS as u64) as usize).max(m);
        if most > 0 && m > WIDEST_COUNTED {
            return Ok(None);
        }
        let a = self.limbs_from(a, 0, n)?;
        if most == 0 {
            return self.divided(&a, &b).map(Some);
        }
        let shifts = self.of_limbs(&shifts)?;
        let b = self.cut(Operation::Shl, m, &[&b, &shifts])?;
        let a = self.shifted_up(&a, &shifts, most, WIDEST_COUNTED)?;
        let [quotient, rest] = self.divided(&a, &b)?;
        Ok(Some([
            quotient,
            self.cut(Operation::Shr, m, &[&rest, &shifts])?,
        ]))
    }

    /// `a 2^shifts`, modulo its width; in two halves where it is wider than `widest`, for shifts of up to
    /// `most` bits.
    pub(crate) fn shifted_up(
        &self,
        a: &Batch,
        shifts: &Batch,
        most: u64,
        widest: usize,
    ) -> Result<Batch, Error> {
        let n = a.width();
        if n <= widest {
            return self.cut(Operation::Shl, n, &[a, shifts]);
        }
        let (low, over) = (n / 2, most as usize / LIMB_BITS + 1);
        let lower = self.limbs_from(&self.limbs_from(a, 0, low)?, 0, low + over)?;
        let lower = self.cut(Operation::Shl, low + over, &[&lower, shifts])?;
        let upper = self.limbs_from(a, low, n - low)?;
        let upper = self.cut(Operation::Shl, n - low, &[&upper, shifts])?;
        let upper = self.lifted(&upper, low, n)?;
        self.cut(Operation::Or, n, &[&upper, &self.limbs_from(&lower, 0, n)?])
    }

    /// Quotients of `n - m + 1` limbs and remainders of `m`, for divisors of `m` limbs whose top bits are set
    /// and dividends of `n`, not fewer.
    fn divided(&self, a: &Batch, d: &Batch) -> Result<[Batch; 2], Error> {
        let (n, m) = (a.width(), d.width());
        let k = n - m + 1;
        let x = self.reciprocal(d, k)?;
        let top = self.limbs_from(a, m - 1, k)?;
        let product = self.cut(Operation::Mul, 2 * k + 1, &[&top, &x])?;
        drop((top, x));
        let q = self.limbs_from(&product, k + 1, k)?;
        drop(product);
        let product = self.cut(Operation::Mul, m + 1, &[&q, d])?;
        let a = self.limbs_from(a, 0, m + 1)?;
        let rest = self.cut(Operation::Add, m + 1, &[&a, d])?;
        let rest = self.cut(Operation::Sub, m + 1, &[&rest, &product])?;
        drop((a, product));
        let (rest, first) = self.less_once(rest, d)?;
        let (rest, second) = self.less_once(rest, d)?;
        // 1 for each that was less than the divisor.
        let less = self.cut(Operation::Add, 1, &[&first, &second])?;
        let q = self.cut(Operation::Add, k, &[&q, &self.of_limbs(&[1])?])?;
        let q = self.cut(Operation::Sub, k, &[&q, &less])?;
        Ok([q, self.limbs_from(&rest, 0, m)?])
    }

    /// `rest - d`, or the rest where that is less than `d`, and then 1.
    fn less_once(&self, rest: Batch, d: &Batch) -> Result<(Batch, Batch), Error> {
        let width = rest.width();
        let less = self.cut(Operation::Sub, width, &[&rest, d])?;
        let is_negative = self.sign(&less)?;
        let rest = self.cut(Operation::Select, width, &[&rest, &less, &is_negative])?;
        Ok((rest, is_negative))
    }

    /// The top bits of numbers in two's complement.
    fn sign(&self, a: &Batch) -> Result<Batch, Error> {
        let top = self.limbs_from(a, a.width() - 1, 1)?;
        self.cut(
            Operation::Shr,
            1,
            &[&top, &self.of_limbs(&[LIMB_BITS as u64 - 1])?],
        )
    }

    /// `X` of `k + 1` limbs, `1 <= X - B^k / D <= 12`.
    pub(crate) fn reciprocal(&self, d: &Batch, k: usize) -> Result<Batch, Error> {
        let m = d.width();
        let two = self.of_limbs(&[2])?;
        if k <= self
            .tuning()
            .div
            .device_max_width
            .clamp(*BASE.start(), *BASE.end())
        {
            let take = m.min(k + 1);
            let top = self.limbs_from(d, m - take, take)?;
            let mut power = vec![0; k + take + 1];
            power[k + take] = 1;
            let shape = Shape::new(1, power.len(), Layout::Contiguous);
            let power = self.batch_from_limbs(power, shape)?;
            let x = self
                .by_kernels(Operation::Div, &[&power, &top])?
                .swap_remove(0);
            return self.cut(
                Operation::Add,
                k + 1,
                &[&self.limbs_from(&x, 0, k + 1)?, &two],
            );
        }
        let h = k / 2 + 1 + k % 2;
        let x = self.reciprocal(d, h)?;
        let take = k.min(m);
        let t = self.limbs_from(d, m - take, take)?;
        let e = self.cut(Operation::Mul, take + 1, &[&x, &t])?;
        drop(t);
        let keep = k - h + 1;
        let e = match (take + 1).checked_sub(keep) {
            Some(from) => self.limbs_from(&e, from, keep)?,
            None => self.lifted(&e, keep - take - 1, keep)?,
        };
        let product = self.cut(Operation::Mul, h + 1 + keep, &[&x, &e])?;
        let less = self.limbs_from(&product, h, keep + 1)?;
        drop(product);
        let x = self.lifted(&x, k - h, k + 1)?;
        let x = self.cut(Operation::Sub, k + 1, &[&x, &less])?;
        self.cut(Operation::Add, k + 1, &[&x, &two])
    }

    /// Square roots, and what they leave; nothing where that is for another to say.
    fn newton_root(&self, a: &Batch) -> Result<Option<[Batch; 2]>, Error> {
        let bits = self.lengths(a)?;
        let longest = bits.iter().max().copied().unwrap_or(0);
        let width = 2 * longest.div_ceil(2 * LIMB_BITS as u64) as usize;
        // Half a limb more of the root is zero, or less.
        let shifts = bits
            .iter()
            .map(|bits| ((LIMB_BITS * width) as u64 - bits) & !1);
        let shifts: Vec<u64> = shifts.collect();
        let is_shifted = shifts.iter().any(|&bits| bits > 0);
        if bits.contains(&0) || is_shifted && width > WIDEST_COUNTED {
            return Ok(None);
        }
        let x = self.limbs_from(a, 0, width)?;
        if !is_shifted {
            let [root, rest] = self.root_of(&x)?;
            return Ok(Some([root, rest]));
        }
        let x = self.cut(Operation::Shl, width, &[&x, &self.of_limbs(&shifts)?])?;
        let [root, _] = self.root_of(&x)?;
        let halves: Vec<u64> = shifts.iter().map(|bits| bits / 2).collect();
        let k = width / 2;
        let root = self.cut(Operation::Shr, k, &[&root, &self.of_limbs(&halves)?])?;
        let square = self.cut(Operation::Square, k + 1, &[&root])?;
        let rest = self.cut(
            Operation::Sub,
            k + 1,
            &[&self.limbs_from(a, 0, k + 1)?, &square],
        )?;
        Ok(Some([root, rest]))
    }

    /// Roots of `k` limbs of numbers of `2 k`, one of whose top two bits is set, and `k + 1` limbs that they
    /// leave.
    fn root_of(&self, x: &Batch) -> Result<[Batch; 2], Error> {
        let k = x.width() / 2;
        if 2 * k <= self.tuning().div.root_device_max_width.max(4) {
            let mut made = self.by_kernels(Operation::Isqrt, &[x])?;
            let rest = self.limbs_from(&made[1], 0, k + 1)?;
            return Ok([self.limbs_from(&made.swap_remove(0), 0, k)?, rest]);
        }
        let (l, h) = (k / 2, k - k / 2);
        let [s, r] = self.root_of(&self.limbs_from(x, 2 * l, 2 * h)?)?;
        let next = self.limbs_from(x, l, l)?;
        let dividend = self.lifted(&r, l, h + 1 + l)?;
        let dividend = self.cut(Operation::Or, h + 1 + l, &[&dividend, &next])?;
        // By s, then by 2.
        let [twice, u] = self.divided(&dividend, &s)?;
        let one = self.of_limbs(&[1])?;
        let odd = self.cut(Operation::And, 1, &[&self.limbs_from(&twice, 0, 1)?, &one])?;
        let q = self.cut(Operation::Shr, l + 2, &[&twice, &one])?;
        let zero = self.of_limbs(&[0])?;
        let more = self.cut(Operation::Select, h, &[&s, &zero, &odd])?;
        let u = self.cut(Operation::Add, h + 1, &[&u, &more])?;
        let root = self.cut(Operation::Add, k + 1, &[&self.lifted(&s, l, k + 1)?, &q])?;
        let low = self.limbs_from(x, 0, l)?;
        let rest = self.cut(Operation::Or, k + 2, &[&self.lifted(&u, l, k + 2)?, &low])?;
        let square = self.cut(Operation::Square, k + 2, &[&q])?;
        let rest = self.cut(Operation::Sub, k + 2, &[&rest, &square])?;
        // r + 2 s - 1 where it is negative.
        let is_negative = self.sign(&rest)?;
        let more = self.cut(Operation::Add, k + 2, &[&root, &root])?;
        let more = self.cut(Operation::Sub, k + 2, &[&more, &one])?;
        let more = self.cut(Operation::Add, k + 2, &[&rest, &more])?;
        let rest = self.cut(Operation::Select, k + 2, &[&more, &rest, &is_negative])?;
        let root = self.cut(Operation::Sub, k + 1, &[&root, &is_negative])?;
        Ok([
            self.limbs_from(&root, 0, k)?,
            self.limbs_from(&rest, 0, k + 1)?,
        ])
    }

    /// The lengths of numbers in bits. The top of one number is brought to the host, by whose lanes all of
    /// it would be looked at.
    pub(crate) fn lengths(&self, a: &Batch) -> Result<Vec<u64>, Error> {
        let length = |limbs: &[Limb], below: usize| {
            let top = limbs.iter().rposition(|&limb| limb != 0)?;
            let zeros = limbs[top].leading_zeros() as usize;
            Some((LIMB_BITS * (below + top + 1) - zeros) as u64)
        };
        let (mut end, mut peeked) = (a.width(), if a.len() == 1 { PEEKED } else { 1 });
        loop {
            let start = end.saturating_sub(peeked);
            let part = self.limbs_from(a, start, end - start)?;
            let rows = part.rows()?;
            let found = rows.chunks(end - start).map(|limbs| length(limbs, start));
            if let Some(found) = found.collect::<Option<Vec<_>>>() {
                return Ok(found);
            }
            if start == 0 {
                let found = rows.chunks(end).map(|limbs| length(limbs, 0).unwrap_or(0));
                return Ok(found.collect());
            }
            match a.len() {
                1 => (end, peeked) = (start, 4 * peeked),
                _ => {
                    let bits = self.bit_length(a)?;
                    return Ok(bits.rows()?.iter().map(|&bits| bits.into()).collect());
                }
            }
        }
    }

    /// Numbers of 64 bits, in as few limbs as all have.
    pub(crate) fn of_limbs(&self, numbers: &[u64]) -> Result<Batch, Error> {
        let width = if numbers.iter().any(|&number| number >> LIMB_BITS != 0) {
            2
        } else {
            1
        };
        let limbs = numbers
            .iter()
            .flat_map(|&number| [number as Limb, (number >> LIMB_BITS) as Limb]);
        let limbs = limbs
            .enumerate()
            .filter(|(at, _)| at % 2 < width)
            .map(|(_, limb)| limb);
        self.batch_from_limbs(
            limbs.collect(),
            Shape::new(numbers.len(), width, Layout::Contiguous),
        )
    }

    /// The first result modulo `B^width`.
    fn cut(&self, operation: Operation, width: usize, operands: &[&Batch]) -> Result<Batch, Error> {
        self.first_of(operation, Form::Modulo(width), operands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BigUint, Tuning};

    /// An engine whose kernels hold numbers of four limbs.
    fn engine() -> Engine {
        let mut tuning = Tuning::default();
        tuning.div.device_max_width = 4;
        tuning.div.root_device_max_width = 4;
        Engine::cpu().with_tuning(tuning)
    }

    fn ones(limbs: usize) -> BigUint {
        (BigUint::from(1u8) << (32 * limbs)) - 1u8
    }

    /// Numbers of up to so many limbs: about powers of two, all ones, and anything between.
    fn numbers(limbs: usize) -> Vec<BigUint> {
        let one = BigUint::from(1u8);
        let top = &one << (32 * limbs - 1);
        let mixed = ones(limbs) / 7u8 * 5u8;
        let mut all = vec![
            ones(limbs),
            top.clone(),
            &top + 1u8,
            &top - 1u8,
            mixed.clone(),
            ones(limbs) / 3u8,
        ];
        all.extend([
            &mixed >> 13,
            &mixed >> (16 * limbs),
            ones(limbs) - (ones(limbs.div_ceil(2)) - 5u8),
        ]);
        all.push((&one << (32 * limbs - 32)) + 1u8);
        all
    }

    #[test]
    fn quotients_and_what_they_leave_are_those_of_num_bigint() {
        let engine = engine();
        for (n, m) in [
            (5, 5),
            (6, 5),
            (9, 9),
            (12, 5),
            (20, 9),
            (21, 10),
            (40, 20),
            (41, 20),
            (33, 31),
            (90, 6),
            (70, 33),
        ] {
            let mut pairs: Vec<(BigUint, BigUint)> = Vec::new();
            for b in numbers(m) {
                for mut a in numbers(n) {
                    pairs.push((a.clone(), b.clone()));
                    // Remainders of 0 and of the divisor less 1.
                    a = (a / &b) * &b;
                    pairs.push((a.clone(), b.clone()));
                    pairs.push((if a == BigUint::ZERO { a } else { a - 1u8 }, b.clone()));
                }
            }
            let batch = |of: fn(&(BigUint, BigUint)) -> &BigUint, width| {
                let numbers: Vec<BigUint> = pairs.iter().map(|pair| of(pair).clone()).collect();
                engine
                    .batch_from_biguints_in(&numbers, width, Layout::Contiguous)
                    .unwrap()
            };
            let (a, b) = (batch(|pair| &pair.0, n), batch(|pair| &pair.1, m));
            let [q, r] = engine
                .newton_quotient(&a, &b, Wanted::First)
                .unwrap()
                .unwrap();
            let (q, r) = (q.to_biguints().unwrap(), r.to_biguints().unwrap());
            for (i, (a, b)) in pairs.iter().enumerate() {
                assert_eq!((&q[i], &r[i]), (&(a / b), &(a % b)), "{a:x} by {b:x}");
            }
            // One divisor for all, and numbers of one length, of which none is shifted by limbs.
            let one = engine.slice(&b, 0..1).unwrap();
            let [q, r] = engine
                .newton_quotient(&a, &one, Wanted::First)
                .unwrap()
                .unwrap();
            let (q, r) = (q.to_biguints().unwrap(), r.to_biguints().unwrap());
            for (i, (a, _)) in pairs.iter().enumerate() {
                let b = &pairs[0].1;
                assert_eq!((&q[i], &r[i]), (&(a / b), &(a % b)), "{a:x} by {b:x}");
            }
        }
    }

    #[test]
    fn roots_and_what_they_leave_are_those_of_num_bigint() {
        let engine = engine();
        for n in [5usize, 6, 7, 8, 9, 16, 17, 31, 40, 63] {
            let mut given = numbers(n);
            for x in numbers(n.div_ceil(2)) {
                // Squares, one less, and the most that a root leaves.
                let square = &x * &x;
                given.extend([
                    square.clone(),
                    &square - 1u8,
                    &square + 2u8 * &x,
                    &square + 1u8,
                ]);
            }
            given.retain(|x| x.bits() <= 32 * n as u64);
            let a = engine
                .batch_from_biguints_in(&given, n, Layout::Contiguous)
                .unwrap();
            let [root, rest] = engine.newton_root(&a).unwrap().unwrap();
            let (root, rest) = (root.to_biguints().unwrap(), rest.to_biguints().unwrap());
            for (i, x) in given.iter().enumerate() {
                let expected = x.sqrt();
                assert_eq!(root[i], expected, "{x:x}");
                assert_eq!(rest[i], x - &expected * &expected, "{x:x}");
            }
            let one = engine.slice(&a, 0..1).unwrap();
            assert_eq!(
                engine.newton_root(&one).unwrap().unwrap()[0]
                    .to_biguints()
                    .unwrap(),
                root[..1]
            );
        }
    }

    #[test]
    fn what_is_too_wide_for_a_shift_is_shifted_in_two_halves() {
        let engine = engine();
        let given = numbers(9);
        let a = engine
            .batch_from_biguints_in(&given, 9, Layout::Contiguous)
            .unwrap();
        for bits in [0u64, 1, 31, 32, 45, 64] {
            let shifts = engine.of_limbs(&[bits]).unwrap();
            let found = engine.shifted_up(&a, &shifts, bits, 8).unwrap();
            let expected: Vec<BigUint> = given.iter().map(|x| (x << bits) & ones(9)).collect();
            assert_eq!(found.to_biguints().unwrap(), expected, "{bits}");
        }
    }

    #[test]
    fn a_reciprocal_is_too_great_by_few_of_its_last_place() {
        let engine = engine();
        for m in [1usize, 3, 5, 9, 20, 40] {
            for k in [1, 3, 4, 5, 6, 7, 8, 9, 17, 40, 77] {
                let top = BigUint::from(1u8) << (32 * m - 1);
                let given: Vec<BigUint> = numbers(m).into_iter().map(|d| d | &top).collect();
                let d = engine
                    .batch_from_biguints_in(&given, m, Layout::Contiguous)
                    .unwrap();
                let found = engine.reciprocal(&d, k).unwrap().to_biguints().unwrap();
                for (x, d) in found.iter().zip(&given) {
                    let power = BigUint::from(1u8) << (32 * (k + m));
                    let least = x * d >= &power + d;
                    let most = x * d <= &power + 12u8 * d;
                    assert!(least && most, "{d:x} to {k} limbs");
                }
            }
        }
    }
}
