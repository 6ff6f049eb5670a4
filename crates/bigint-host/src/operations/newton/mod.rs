//! Quotients and roots of numbers wider than kernels hold, composed of products.
//!
//! Let `B` = 2^32, `d` of `m` limbs with its top bit set, `D = d / B^m` and `a` below `B^n`.
//!
//! **Reciprocal** of `k` limbs: `X` with `1 <= X - B^k / D <= 16`. From `x` of `h = k/2 + 1` limbs and `t`,
//! the top `k` limbs of `d`, by Newton's step
//!
//! ```text
//! e = x t - B^(h + k),    X = x B^(k-h) - x e / B^(h + k) B^(k-h) + 4
//! ```
//!
//! Squared, the error of `x` is less than `256 B^(k-2h)`, which is nothing. What `d` has below `t` makes
//! `X` greater by 4, and what is cut off the product by 1, each at most. `e` is cut to `k - h + 1` limbs. They are the
//! [middle](crate::device::middle) of a product whose upper end is known, so that the transform may wrap: they are
//! too great by less than 1 or too small by less than 3, which makes `X` too small by 2 or too great by 6. With the 4
//! `X` is always too great. So `e` is never negative; and `x t` begins with a one and zeros, not with ones, through
//! which carries would run.
//!
//! **Quotient**, `g` limbs at a time, by a reciprocal of `h > g` limbs and `x = X - 16 <= B^h / D`. Of
//! `r < 2 d B^g`
//!
//! ```text
//! q = floor(floor(r / B^(m-1)) x / B^(h+1)),    r - q d  is in  [0, d + 32 d / B)
//! ```
//!
//! as `q` is never too great, what is cut off `r` is worth `2 / B` here, and the error of `x` less than `30 / B`. The next
//! `g` limbs of `a` stand below what is left, and at the end `d` is taken off once more where that can be. Two
//! halves of a quotient need a reciprocal of half its length.
//!
//! By hand, with `B` = 10, `d` = 7, `a` = 85: `h` = 2, `g` = 1, `x` = 142, `q` = floor(85 142 / 1000) = 12, and 1 is left.
//!
//! **Cost**, in products of `m` limbs, where transforms wrap: a reciprocal of `m/2` limbs 0.8, a quotient of `m` limbs 3; and
//! passes over memory.

mod iroot;
mod root;

use crate::Error;
use crate::common::job::{Job, Wanted};
use crate::engine::inner::Resort;
use crate::operations::forms::Form;
use crate::plan::choose;
use crate::{Batch, Engine, Outcome};
use bigint_core::operation::Cost;
use bigint_core::{LIMB_BITS, Layout, Limb, Operation, Shape, WIDEST_COUNTED};

/// The widest reciprocals that kernels divide for, in limbs, and those that no step makes.
const BASE: std::ops::RangeInclusive<usize> = 4..=64;

/// By how much reciprocals are too great at most, in units of their last place.
const EXCESS: u64 = 16;

/// How many limbs a reciprocal stays below a power of two, where it would be longer by little: as many as it takes
/// for the last three steps, each of half the length of the next, to have transforms of a power of two.
const BELOW: usize = 30;

/// Limbs that are looked at first for the length of one number.
const PEEKED: usize = 1 << 10;

impl Engine {
    /// The results of a quotient or a square root by Newton's reciprocals, where that is [how it is
    /// computed](choose::by_newton).
    pub(crate) fn by_newton(
        &self,
        job: Job,
        operands: &[&Batch],
    ) -> Result<Option<Outcome>, Error> {
        let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape()).collect();
        let may_use_cpu = self.inner.resort == Resort::Always;
        let why = choose::by_newton(self.tuning(), may_use_cpu, job, &shapes);
        // The lengths of secrets are secret, too.
        if !why.holds() || self.inner.device().is_none() || self.is_for_secrets() {
            return Ok(None);
        }
        // The steps are computed as any operations are.
        let engine = self.using(crate::Options::default());
        let choices = &self.inner.choices;
        let made = choices.as_steps(|| match (job.operation.cost(), operands) {
            (Cost::Root, [a]) => engine.newton_root(a),
            (Cost::Root, [a, degrees]) => engine.newton_iroot(a, degrees),
            (_, [a, b]) => engine.newton_quotient(a, b, job.wanted),
            _ => Ok(None),
        })?;
        let Some(made) = made else {
            return Ok(None);
        };
        let widths: Vec<usize> = shapes.iter().map(|shape| shape.width).collect();
        let how = format_args!("products, by Newton's reciprocals\n    who: {why}");
        self.inner.note_composed(job, &widths, how);
        let made = match job.operation {
            Operation::Rem => &made[1..],
            _ => &made[..],
        };
        let results = job.shapes().iter().zip(made);
        let results = results.map(|(shape, made)| engine.limbs_from(made, 0, shape.width));
        // Where one has none, another says which.
        let all_have_values = || self.mask(&vec![false; job.count()]);
        let flags = (job.wanted == Wanted::Flags).then(all_have_values);
        Ok(Some(Outcome {
            results: results.collect::<Result<_, _>>()?,
            flags: flags.transpose()?,
        }))
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
        let b = self.shl_in(m, &b, &shifts)?;
        let a = self.shifted_up(&a, &shifts, most, WIDEST_COUNTED)?;
        let [quotient, rest] = self.divided(&a, &b)?;
        Ok(Some([quotient, self.shr_in(m, &rest, &shifts)?]))
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
            return self.shl_in(n, a, shifts);
        }
        let (low, over) = (n / 2, most as usize / LIMB_BITS + 1);
        let lower = self.limbs_from(&self.limbs_from(a, 0, low)?, 0, low + over)?;
        let lower = self.shl_in(low + over, &lower, shifts)?;
        let upper = self.limbs_from(a, low, n - low)?;
        let upper = self.shl_in(n - low, &upper, shifts)?;
        let upper = self.lifted(&upper, low, n)?;
        self.or_in(n, &upper, &self.limbs_from(&lower, 0, n)?)
    }

    /// Quotients of `n - m + 1` limbs and remainders of `m`, for divisors of `m` limbs whose top bits are set
    /// and dividends of `n`, not fewer.
    fn divided(&self, a: &Batch, d: &Batch) -> Result<[Batch; 2], Error> {
        let (n, m) = (a.width(), d.width());
        let (q, rest) = match n - m {
            0 => (self.of_limbs(&[0])?, self.limbs_from(a, 0, m + 1)?),
            _ => self.digits(a, d)?,
        };
        let (rest, more) = self.less_once(rest, d)?;
        let q = self.add_in(n - m + 1, &q, &more)?;
        Ok([q, self.limbs_from(&rest, 0, m)?])
    }

    /// `q` and `a - q d` of `m + 1` limbs, from which `d` can be taken off once more at most.
    fn digits(&self, a: &Batch, d: &Batch) -> Result<(Batch, Batch), Error> {
        let m = d.width();
        let digits = a.width() - m;
        let h = reciprocal_limbs(digits);
        let excess = self.of_limbs(&[EXCESS])?;
        let x = self.sub_in(h + 1, &self.reciprocal(d, h)?, &excess)?;
        // A batch of its own, with which a transform may be kept.
        let d = self.limbs_from(d, 0, m + 1)?;
        if digits >= h {
            self.keep_transform(&x);
            self.keep_transform(&d);
        }
        let mut g = digits.min(h - 1);
        let mut below = digits - g;
        let (mut q, mut rest) =
            self.digits_at_once(&self.limbs_from(a, below, m + g)?, &x, &d, g)?;
        while below > 0 {
            g = below.min(h - 1);
            below -= g;
            let r = self.lifted(&rest, g, m + g + 1)?;
            let next = self.limbs_from(a, below, g)?;
            let r = self.or_in(m + g + 1, &r, &next)?;
            let digit;
            (digit, rest) = self.digits_at_once(&r, &x, &d, g)?;
            let width = q.width() + g;
            q = self.add_in(width, &self.lifted(&q, g, width)?, &digit)?;
        }
        Ok((q, rest))
    }

    /// `q` of `g + 1` limbs and `r - q d` of as many as `d` has here, which is one more than `m`.
    fn digits_at_once(
        &self,
        r: &Batch,
        x: &Batch,
        d: &Batch,
        g: usize,
    ) -> Result<(Batch, Batch), Error> {
        let width = d.width();
        // So few limbs need no more of the reciprocal; of what is below it is too small by less than 1.
        let x = self.limbs_from(x, x.width() - g - 2, g + 2)?;
        let top = self.limbs_from(r, width - 2, g + 2)?;
        let product = self.mul_in(g + 1 + x.width(), &top, &x)?;
        drop(top);
        let q = self.limbs_from(&product, x.width(), g + 1)?;
        let product = self.mul_in(width, &q, d)?;
        let rest = self.sub_in(width, &self.limbs_from(r, 0, width)?, &product)?;
        Ok((q, rest))
    }

    /// `rest - d` and 1, or the rest where that is less than `d`, and 0.
    fn less_once(&self, rest: Batch, d: &Batch) -> Result<(Batch, Batch), Error> {
        let less = self.sub_in(rest.width(), &rest, d)?;
        self.unless_negative(less, rest)
    }

    /// 1 where numbers in two's complement are negative, else 0.
    fn is_negative(&self, a: &Batch) -> Result<Batch, Error> {
        let top = self.limbs_from(a, a.width() - 1, 1)?;
        self.shr_in(1, &top, &self.of_limbs(&[LIMB_BITS as u64 - 1])?)
    }

    /// The first numbers and 1 where they, in two's complement, are not negative, else the others and 0.
    fn unless_negative(&self, first: Batch, other: Batch) -> Result<(Batch, Batch), Error> {
        let width = first.width();
        let is_negative = self.is_negative(&first)?;
        let is_not = self.sub_in(1, &self.of_limbs(&[1])?, &is_negative)?;
        let chosen = self.cut(Operation::Select, width, &[&other, &first, &is_negative])?;
        Ok((chosen, is_not))
    }

    /// `X` of `k + 1` limbs, `1 <= X - B^k / D <= 16`.
    pub(crate) fn reciprocal(&self, d: &Batch, k: usize) -> Result<Batch, Error> {
        let m = d.width();
        let (lengths, k) = steps(k, self.tuning().div.device_max_width);
        let take = m.min(k + 1);
        let top = self.limbs_from(d, m - take, take)?;
        let first = self.power_by(k + take, &top, k + 1)?;
        self.newton_steps(first, &lengths, |x, k| {
            let h = x.width() - 1;
            let e = self.excess(x, d, h, k)?;
            let product = self.mul_in(h + 1 + e.width(), x, &e)?;
            self.limbs_from(&product, h, k - h + 2)
        })
    }

    /// `floor(B^n / d) + 2` in `width` limbs, by kernels.
    fn power_by(&self, n: usize, d: &Batch, width: usize) -> Result<Batch, Error> {
        let mut power = vec![0; n + 1];
        power[n] = 1;
        let power = self.batch_from_limbs(power, Shape::new(1, n + 1, Layout::Contiguous))?;
        let quotient = self
            .by_kernels(Operation::Div, &[&power, d])?
            .swap_remove(0);
        let quotient = self.limbs_from(&quotient, 0, width)?;
        self.add_in(width, &quotient, &self.of_limbs(&[2])?)
    }

    /// Newton's steps from one length to the next; `less` tells what an approximation of the length before has too
    /// much.
    fn newton_steps(
        &self,
        first: Batch,
        lengths: &[usize],
        less: impl Fn(&Batch, usize) -> Result<Batch, Error>,
    ) -> Result<Batch, Error> {
        let four = self.of_limbs(&[4])?;
        lengths.iter().try_fold(first, |x, &k| {
            let less = less(&x, k)?;
            let x = self.lifted(&x, k + 1 - x.width(), k + 1)?;
            let x = self.sub_in(k + 1, &x, &less)?;
            self.add_in(k + 1, &x, &four)
        })
    }

    /// The `k - h + 1` limbs of `e`, for `x` that is `x` above, or `y^2`, by an approximation of `h` limbs, and the top
    /// `k` limbs of `d`.
    fn excess(&self, x: &Batch, d: &Batch, h: usize, k: usize) -> Result<Batch, Error> {
        let (take, keep) = (k.min(d.width()), k - h + 1);
        let below = d.width() - take;
        // e is shorter than that, and its limbs from here on are wanted.
        let end = x.width() - h + take;
        let from = end.checked_sub(keep);
        // Above it there is nothing but a one k limbs above limb `from`, which comes back below that.
        let wrapped = end.max(k + 1).next_power_of_two();
        if let Some(from) = from.filter(|_| wrapped < x.width() + take) {
            let t = self.limbs_from(d, below, wrapped)?;
            if let Some(e) = self.middle(&t, x, from, x)? {
                return self.limbs_from(&e, 0, keep);
            }
        }
        let t = self.limbs_from(d, below, take)?;
        let e = self.mul_in(end, x, &t)?;
        match from {
            Some(from) => self.limbs_from(&e, from, keep),
            None => self.lifted(&e, keep - end, keep),
        }
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

    // Results modulo `B^width`.

    pub(crate) fn add_in(&self, width: usize, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        self.cut(Operation::Add, width, &[a, b])
    }

    pub(crate) fn sub_in(&self, width: usize, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        self.cut(Operation::Sub, width, &[a, b])
    }

    pub(crate) fn mul_in(&self, width: usize, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        self.cut(Operation::Mul, width, &[a, b])
    }

    pub(crate) fn or_in(&self, width: usize, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        self.cut(Operation::Or, width, &[a, b])
    }

    pub(crate) fn shl_in(&self, width: usize, a: &Batch, bits: &Batch) -> Result<Batch, Error> {
        self.cut(Operation::Shl, width, &[a, bits])
    }

    pub(crate) fn shr_in(&self, width: usize, a: &Batch, bits: &Batch) -> Result<Batch, Error> {
        self.cut(Operation::Shr, width, &[a, bits])
    }

    /// Roots by kernels, and what they leave.
    fn kernel_root(&self, a: &Batch) -> Result<Vec<Batch>, Error> {
        self.by_kernels(Operation::Isqrt, &[a])
    }

    /// The first result modulo `B^width`.
    fn cut(&self, operation: Operation, width: usize, operands: &[&Batch]) -> Result<Batch, Error> {
        self.first_of(operation, Form::Modulo(width), operands)
    }
}

/// The limbs of the reciprocal that quotients of so many limbs are computed with, of one limb fewer at a time.
fn reciprocal_limbs(digits: usize) -> usize {
    let limbs = match digits <= *BASE.end() {
        true => digits + 1,
        false => digits.div_ceil(2) + 1,
    };
    // Two halves of a quotient and a few limbs take less than two halves by longer transforms.
    let power = 1 << limbs.ilog2();
    match limbs - power <= power / 16 && power > 16 * BELOW {
        true => power - BELOW,
        false => limbs,
    }
}

/// The lengths of Newton's steps up to `k` limbs, and the length that kernels begin with, whose operands may have
/// `widest` limbs.
fn steps(mut k: usize, widest: usize) -> (Vec<usize>, usize) {
    let mut lengths = Vec::new();
    while k > widest.clamp(*BASE.start(), *BASE.end()) {
        lengths.push(k);
        k = k / 2 + 1;
    }
    lengths.reverse();
    (lengths, k)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{BigUint, Tuning};

    /// An engine whose kernels hold numbers of four limbs.
    pub(super) fn engine() -> Engine {
        let mut tuning = Tuning::default();
        tuning.div.device_max_width = 4;
        tuning.div.root_device_max_width = 4;
        Engine::cpu().with_tuning(tuning)
    }

    fn ones(limbs: usize) -> BigUint {
        (BigUint::from(1u8) << (32 * limbs)) - 1u8
    }

    /// Numbers of up to so many limbs: about powers of two, all ones, and anything between.
    pub(super) fn numbers(limbs: usize) -> Vec<BigUint> {
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
                    let most = x * d <= &power + 16u8 * d;
                    assert!(least && most, "{d:x} to {k} limbs");
                }
            }
        }
    }
}
