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
//! **Quotient**, whole or in two halves of at most `g = h - 1` limbs, by a reciprocal of `h` limbs and `x = X - 16 <= B^h / D`.
//! Of `0 <= r < 2 d B^g`
//!
//! ```text
//! q = floor(t x / B^(h+1)),    r / B^(m-1) - 2 < t <= r / B^(m-1) + 4,    r - q d  is in  (-8 d / B, d + 40 d / B)
//! ```
//!
//! as 1 of `t` is worth at most `2 / B` here, and the error of `x` less than `34 / B`. For the upper half `t` is cut off the
//! dividend, so that `q` is never too great; `r` of the lower half is what that leaves, with the next `g` limbs. Of its
//! `t` all that is above is known to vanish, so that a [middle](crate::device::middle) product `q d` tells it, by less than 3 too great or
//! less than 2 too small; with 1 more it is not negative.
//!
//! **What is left** of both halves together, `a - q d`, is less than `2 d` in size. So a product modulo `B^n + 1` tells it, `n > m`:
//! with `a = a1 B^n + a0` it is `a0 - a1 - q d`, and some times the modulus, from -1 to 3; and so does one modulo `B^n - 1`, with
//! `a0 + a1 - q d`. How often the lowest limb tells, `B^n` being 0 there. The host looks at it and at the top limbs of what is left, which tell, but for one number in `2^31`, that `d`
//! need be neither added nor taken off.
//!
//! By hand, with `B` = 10, `d` = 7, `a` = 85: `h` = 2, `g` = 1, `x` = 142, `q` = floor(85 142 / 1000) = 12, and 1 is left.
//!
//! **Cost**, in products of `m` limbs, where transforms wrap: a reciprocal of `m/2` limbs 1, a quotient of `m` limbs 3; and
//! passes over memory.

mod fraction;
mod iroot;
mod looks;
mod prepared;
mod root;
#[cfg(test)]
pub(super) mod tests;

use crate::Error;
use crate::common::job::{Job, Wanted};
use crate::device::newton::{Newton, Operations};
use crate::engine::inner::Resort;
use crate::engine::rehearsal::{key, rehearsed};
use crate::operations::forms::Form;
use crate::plan::choose;
use crate::plan::task::Task;
use crate::values::batch::stand_ins;
use crate::{Batch, Engine, Outcome};
use bigint_core::operation::Cost;
use bigint_core::transform::grid::GridPlan;
use bigint_core::{LIMB_BITS, Layout, Limb, Operation, Shape};
use std::sync::Arc;

/// The widest reciprocals that kernels divide for, in limbs, and those that no step makes.
const BASE: std::ops::RangeInclusive<usize> = 4..=64;

/// By how much reciprocals are too great at most, in units of their last place.
const EXCESS: u64 = 16;

/// Limbs of a reciprocal that are not worth being left out.
const SPARED: usize = 8;

/// What a quotient leaves.
struct Rest {
    limbs: Batch,
    /// Small numbers that are still to be added to it.
    more: Option<Batch>,
    /// Its top two limbs and those of the divisor, if the host knows them.
    tops: Option<[Vec<Limb>; 2]>,
}

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
        let steps = |engine: &Self, operands: &[&Batch]| match (job.operation.cost(), operands) {
            (Cost::Root, [a]) => engine.newton_root(a),
            (Cost::Root, [a, degrees]) => engine.newton_iroot(a, degrees),
            (_, [a, b]) => engine.newton_quotient(a, b, job.wanted),
            _ => Ok(None),
        };
        let rehearse = |engine: &Self| {
            let operands = stand_ins(engine, &shapes)?;
            let operands: Vec<&Batch> = operands.iter().collect();
            steps(engine, &operands).map(drop)
        };
        let made = choices.as_steps(|| {
            rehearsed(
                &engine,
                key(job.operation.name(), &shapes),
                rehearse,
                || steps(&engine, operands),
            )
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
        let a = self.limbs_from(a, 0, n)?;
        if most == 0 {
            return self.divided(&a, &b, None).map(Some);
        }
        let shifts = self.of_limbs(&shifts)?;
        let b = self.shl_in(m, &b, &shifts)?;
        let a = self.shl_in(n, &a, &shifts)?;
        let [quotient, rest] = self.divided(&a, &b, None)?;
        Ok(Some([quotient, self.shr_in(m, &rest, &shifts)?]))
    }

    /// Quotients of `n - m + 1` limbs and remainders of `m`, for divisors of `m` limbs whose top bits are set
    /// and dividends of `n`, not fewer. A reciprocal that is [known](Self::reciprocal_below) serves shorter quotients.
    fn divided(
        &self,
        a: &Batch,
        d: &Batch,
        reciprocal: Option<&Batch>,
    ) -> Result<[Batch; 2], Error> {
        let m = d.width();
        let (q, rest) = match a.width() - m {
            0 => {
                let limbs = self.limbs_from(a, 0, m + 1)?;
                (self.of_limbs(&[0])?, Rest::of(limbs))
            }
            digits => {
                let known = reciprocal.filter(|x| digits < x.width() - 1);
                let (q, rest) = self.digits(a, (d, known), digits, true)?;
                (q, rest.expect("it is wanted"))
            }
        };
        let Rest {
            limbs: rest,
            more,
            tops,
        } = rest;
        // Nearly always the rest is less than the divisor by its top limbs, whatever `more` carries to them.
        let [top, of_d] = match tops {
            Some(tops) => tops,
            None => {
                let windows = [(&rest, m - 1..m + 1), (d, m - 1..m)];
                let tops = self.look_at(&windows)?;
                tops.try_into().expect("two windows")
            }
        };
        let mut tops = top.chunks(2).enumerate();
        let is_less =
            a.width() > m && tops.all(|(i, top)| top[1] == 0 && top[0] < limb(&of_d, i) - 1);
        let rest = match more {
            Some(more) if is_less => self.add_in(m, &rest, &more)?,
            Some(more) => self.add_in(m + 1, &rest, &more)?,
            None => rest,
        };
        if is_less {
            return Ok([q, self.limbs_from(&rest, 0, m)?]);
        }
        let width = q.width();
        let less = self.is_negative(&rest)?;
        let q = self.sub_in(width, &q, &less)?;
        let more = self.add_in(m + 1, &rest, d)?;
        let rest = self.cut(Operation::Select, m + 1, &[&more, &rest, &less])?;
        let less = self.sub_in(m + 1, &rest, d)?;
        let (rest, more) = self.unless_negative(less, rest)?;
        let q = self.add_in(width, &q, &more)?;
        Ok([q, self.limbs_from(&rest, 0, m)?])
    }

    /// `q` of as many limbs as there are digits and one more, and where it is wanted `a - q d` as [`Engine::rest_and_more`] has it.
    fn digits(
        &self,
        a: &Batch,
        (d, known): (&Batch, Option<&Batch>),
        digits: usize,
        wants_rest: bool,
    ) -> Result<(Batch, Option<Rest>), Error> {
        let m = d.width();
        let rest_of = |a: &Batch, q: &Batch, d: &Batch| {
            let rest = || self.rest_and_more(a, q, d, m + 1);
            wants_rest.then(rest).transpose()
        };
        let x = match known {
            Some(known) => known.clone(),
            None => self.reciprocal_below(d, reciprocal_limbs(digits), wants_rest)?,
        };
        let h = x.width() - 1;
        if digits < h {
            let top = self.limbs_from(a, m - 1, digits + 2)?;
            let q = self.quotient_by(&x, &top, digits)?;
            let rest = rest_of(a, &q, d)?;
            return Ok((q, rest));
        }
        self.keep_transform(&x);
        let g = h - 1;
        let upper = digits - g;
        let top = self.limbs_from(a, g + m - 1, upper + 2)?;
        let high = self.quotient_by(&x, &top, upper)?;
        let lifted = |high: &Batch, low: &Batch| {
            let high = self.lifted(high, g, digits + 1)?;
            self.add_in(digits + 1, &high, low)
        };
        // The limbs of the product from here on are those of what is divided, but for few.
        let from = m.saturating_sub(g + 1);
        if from > 0
            && let Some(product) = self.middle([d, &high], from..m + 1, digits + 3, &high)?
        {
            let top = self.limbs_from(a, m - 1, g + 2)?;
            let top = self.sub_in(g + 2, &top, &product)?;
            let top = self.add_in(g + 2, &top, &self.of_limbs(&[1])?)?;
            let low = self.quotient_by(&x, &top, g)?;
            let q = lifted(&high, &low)?;
            let rest = rest_of(a, &q, d)?;
            return Ok((q, rest));
        }
        let mut d = d.clone();
        if GridPlan::wraps(m + 1).is_none() {
            // A batch of its own, with which a transform is kept.
            d = self.limbs_from(&d, 0, m + 1)?;
            self.keep_transform(&d);
        }
        let rest = self.limbs_from(a, g, m + upper)?;
        let rest = self.rest(&rest, &high, &d, m + 1)?;
        let rest = self.lifted(&rest, g, m + g + 1)?;
        let rest = self.or_in(m + g + 1, &rest, &self.limbs_from(a, 0, g)?)?;
        let top = self.limbs_from(&rest, m - 1, g + 2)?;
        let low = self.quotient_by(&x, &top, g)?;
        let rest = rest_of(&rest, &low, &d)?;
        Ok((lifted(&high, &low)?, rest))
    }

    /// `x` of `h + 1` limbs, not above `B^h / D`, and nearer than [`EXCESS`]. The host may begin it, or be ahead of the device and
    /// wait for nothing.
    fn reciprocal_below(&self, d: &Batch, h: usize, may_host_begin: bool) -> Result<Batch, Error> {
        let reciprocal = match may_host_begin {
            true => self.reciprocal(d, h)?,
            false => self.reciprocal_by(d, h, 0)?,
        };
        self.sub_in(h + 1, &reciprocal, &self.of_limbs(&[EXCESS])?)
    }

    /// `floor(top x / B^(h+1))` of `g + 1` limbs, for `top` of `g + 2`.
    fn quotient_by(&self, x: &Batch, top: &Batch, g: usize) -> Result<Batch, Error> {
        // So few limbs need no more of the reciprocal; of what is below it is too small by less than 1. But a transform is kept of
        // all of it.
        let below = x.width() - g - 2;
        let below = if below > SPARED { below } else { 0 };
        let x = self.limbs_from(x, below, x.width() - below)?;
        let product = self.mul_in(g + 1 + x.width(), top, &x)?;
        self.limbs_from(&product, x.width(), g + 1)
    }

    /// `a - q d` modulo `B^width`, for what is less than `B^width / 16` in size.
    fn rest(&self, a: &Batch, q: &Batch, d: &Batch, width: usize) -> Result<Batch, Error> {
        let Rest { limbs, more, .. } = self.rest_and_more(a, q, d, width)?;
        match more {
            Some(more) => self.add_in(width, &limbs, &more),
            None => Ok(limbs),
        }
    }

    /// The same, but for small numbers, which are still to be added to it.
    fn rest_and_more(&self, a: &Batch, q: &Batch, d: &Batch, width: usize) -> Result<Rest, Error> {
        let Some((product, wrapped)) = self.product_that_wraps([d, q], width)? else {
            let product = self.mul_in(width, q, d)?;
            return Ok(Rest::of(self.sub_in(width, a, &product)?));
        };
        let length = wrapped.length();
        let above = a.width().saturating_sub(length).min(width);
        let rest = match above {
            0 => self.sub_in(width, a, &product)?,
            _ => {
                let above = self.limbs_from(a, length, above)?;
                let rest = self.cut(wrapped.sign_of_above(), width, &[a, &above])?;
                self.sub_in(width, &rest, &product)?
            }
        };
        // The lowest limbs tell how often the modulus is missing.
        let windows = [
            (a, 0..1),
            (q, 0..1),
            (d, 0..1),
            (&rest, 0..1),
            (&rest, width - 2..width),
            (d, d.width() - 1..d.width()),
        ];
        let looks: [Vec<Limb>; 6] = self.look_at(&windows)?.try_into().expect("six windows");
        let [a, q, d, low, top, of_d] = looks;
        let missing = |i: usize| {
            let product = limb(&q, i).wrapping_mul(limb(&d, i));
            let rest = limb(&a, i).wrapping_sub(product);
            rest.wrapping_sub(limb(&low, i)) as i32
        };
        let missing: Vec<i32> = (0..rest.len()).map(missing).collect();
        let of = |sign: i32| {
            let numbers = missing.iter().map(|&times| (sign * times).max(0) as u64);
            self.of_limbs(&numbers.collect::<Vec<_>>())
        };
        let more = Some(of(1)?);
        Ok(match missing.iter().any(|&times| times < 0) {
            true => Rest {
                more,
                ..Rest::of(self.sub_in(width, &rest, &of(-1)?)?)
            },
            false => Rest {
                limbs: rest,
                more,
                tops: Some([top, of_d]),
            },
        })
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
        self.reciprocal_by(d, k, self.tuning().div.newton_host_limbs)
    }

    /// The same, which begins with so many limbs of all numbers by the host, if those are more than kernels begin with.
    fn reciprocal_by(&self, d: &Batch, k: usize, of_host: usize) -> Result<Batch, Error> {
        let m = d.width();
        let widest = self.tuning().div.device_max_width;
        let lengths = self.steps(k, d.len(), widest, of_host);
        let k = lengths[0];
        let take = m.min(k + 1);
        let first = match self.is_begun_by_host(k) {
            true => self.begun_by_host(false, &self.top_for_host(d, take)?, k)?,
            false => {
                let top = self.limbs_from(d, m - take, take)?;
                self.power_by(k + take, &top, k + 1)?
            }
        };
        self.newton_steps(false, [&first, d], lengths)
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

    /// Whether steps begin with so many limbs by the host: these are more than kernels begin with.
    fn is_begun_by_host(&self, k: usize) -> bool {
        k > *BASE.end() + 1 && self.inner.device().is_some()
    }

    /// The highest limbs of numbers, as many as that, where the host has them if it has the numbers.
    fn top_for_host(&self, d: &Batch, take: usize) -> Result<Batch, Error> {
        let window = d.width() - take..d.width();
        match looks::of_host(d, window.clone()) {
            Some(limbs) => {
                self.batch_from_limbs(limbs, Shape::new(d.len(), take, Layout::Contiguous))
            }
            None => self.limbs_from(d, window.start, take),
        }
    }

    /// Approximations of `k` limbs by the host, of numbers of which these are the tops.
    fn begun_by_host(&self, is_root: bool, top: &Batch, k: usize) -> Result<Batch, Error> {
        let newton = Newton {
            by: operations(is_root),
            count: top.len(),
            lengths: vec![k],
        };
        let operands = [top, top].map(|batch| Arc::clone(batch.node()));
        let limbs = newton.limbs(&self.inner, &operands, top.len())?;
        self.batch_from_limbs(limbs, newton.shape())
    }

    /// The lengths of approximations up to `k` limbs of so many numbers, from that on that Newton's steps begin with: what
    /// kernels, whose operands may have `widest` limbs, or the host, for which all together may have `of_host`, are quick at.
    fn steps(&self, mut k: usize, count: usize, widest: usize, of_host: usize) -> Vec<usize> {
        let of_kernels = widest.clamp(*BASE.start(), *BASE.end());
        let of_host = of_host / count.max(1);
        let mut lengths = vec![k];
        while k > of_kernels.max(of_host) {
            k = k / 2 + 1;
            lengths.push(k);
        }
        lengths.reverse();
        lengths
    }

    /// Newton's steps from one of these lengths to the next, of [reciprocals or inverse roots](crate::device::newton) of `d`.
    fn newton_steps(
        &self,
        is_root: bool,
        [first, d]: [&Batch; 2],
        lengths: Vec<usize>,
    ) -> Result<Batch, Error> {
        if lengths.len() == 1 {
            return Ok(first.clone());
        }
        let count = d.len();
        let newton = Newton {
            by: operations(is_root),
            count,
            lengths,
        };
        let operands = [first, d].map(|batch| Arc::clone(batch.node()));
        let task = Task::Newton(Arc::new(newton));
        let mut computed = self.inner.compute(&task, &operands)?;
        Ok(Batch::new(computed.results.swap_remove(0)))
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
            let rows = match looks::of_host(a, start..end) {
                Some(rows) => rows,
                None => {
                    let part = self.limbs_from(a, start, end - start)?;
                    part.rows()?.into_owned()
                }
            };
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

    /// The job of such products.
    pub(crate) fn job_of_product(&self, width: usize, a: &Batch, b: &Batch) -> Result<Job, Error> {
        self.job(Operation::Mul, Form::Modulo(width), &[a, b])
    }

    pub(crate) fn or_in(&self, width: usize, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        self.cut(Operation::Or, width, &[a, b])
    }

    /// `a` modulo numbers that are not zero: the host waits for nothing.
    pub(crate) fn rem_by(&self, a: &Batch, moduli: &Batch) -> Result<Batch, Error> {
        self.of_values(Operation::Rem, &[a, moduli])
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

impl Rest {
    /// One to which nothing is to be added.
    fn of(limbs: Batch) -> Self {
        Rest {
            limbs,
            more: None,
            tops: None,
        }
    }
}

/// The operations of steps.
fn operations(is_root: bool) -> Operations {
    Operations {
        product: Operation::Mul,
        difference: Operation::Sub,
        shift: Operation::Shr,
        quotient: Operation::Div,
        root: is_root.then_some(Operation::Isqrt),
    }
}

/// The limbs of the reciprocal that quotients of so many limbs are computed with, whole or in two halves.
fn reciprocal_limbs(digits: usize) -> usize {
    match digits <= *BASE.end() {
        true => digits + 1,
        false => digits.div_ceil(2) + 1,
    }
}

/// The limb of number `i`, or of the one that stands for all.
fn limb(limbs: &[Limb], i: usize) -> Limb {
    limbs[if limbs.len() == 1 { 0 } else { i }]
}
