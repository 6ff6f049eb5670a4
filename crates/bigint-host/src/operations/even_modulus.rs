//! Powers modulo even numbers wider than kernels hold, on a device.
//!
//! Let `m = 2^k q` with `q` odd, and `B` = 2^32. By Montgomery's products a device has `r = a^e mod q`, and by products
//! modulo `B^w >= 2^k`, which are shorter the smaller `k` is, `p = a^e mod B^w`. Then
//!
//! ```text
//! a^e mod m  =  r + q ((p - r) / q mod 2^k)
//! ```
//!
//! since that is `r` modulo `q`, `p` modulo `2^k`, and below `2^k q`. By hand, 7^5 = 16,807 modulo 12 = 4 3: `r` = 1,
//! `p` = 3, `1/3 mod 4` = 3, `2 3 mod 4` = 2, and `1 + 3 2` = 7.
//!
//! Powers modulo `B^w` need no more than `w` limbs of the exponent: odd numbers have orders that divide `B^w`, and even
//! ones to the power of more are 0.
//!
//! **Cost.** That of the power modulo `q`, and for each bit of `w` limbs a square of `w` limbs and a quarter of a product; the
//! time depends on the moduli.

use crate::common::job::{Job, Wanted};
use crate::operations::forms::{Form, Outcome, no_value};
use crate::plan::choose::Who;
use crate::{Batch, Engine, Error, Options};
use bigint_core::operation::Cost;
use bigint_core::{LIMB_BITS, Layout, Limb, Operation};
use std::sync::Arc;

/// The bits of the exponent that a product takes.
const WINDOW: usize = 4;

impl Engine {
    /// The outcome of powers modulo numbers of which some are even; nothing where that is for another to say.
    pub(crate) fn by_odd_part(
        &self,
        job: Job,
        operands: &[&Batch],
    ) -> Result<Option<Outcome>, Error> {
        let (&[a, e, m], Cost::Power) = (operands, job.operation.cost()) else {
            return Ok(None);
        };
        let Options { level, lanes, .. } = job.options;
        let is_contiguous = operands
            .iter()
            .all(|x| x.shape().layout == Layout::Contiguous);
        let is_open = level.is_none() && lanes.is_none() && is_contiguous;
        let is_wide = m.width() >= self.tuning().modular.products_min_width;
        if !is_open || !is_wide || self.inner.device().is_none() || self.is_for_secrets() {
            return Ok(None);
        }
        let nodes: Vec<_> = operands.iter().map(|x| Arc::clone(x.node())).collect();
        if self.inner.who(job, &nodes).0 != Who::Devices || m.node().known.odd.get().is_some() {
            return Ok(None);
        }
        let lowest = self.limbs_from(m, 0, 1)?;
        let are_even: Vec<bool> = lowest.rows()?.iter().map(|limb| limb % 2 == 0).collect();
        if !are_even.contains(&true) {
            m.node().known.odd.get_or_init(|| ());
            return Ok(None);
        }
        let are_zero: Vec<bool> = self.lengths(m)?.iter().map(|&bits| bits == 0).collect();
        if let (Some(index), Wanted::First) = (are_zero.iter().position(|&is| is), job.wanted) {
            return Err(no_value(job.operation, operands, index)?);
        }
        let steps = || {
            let m = self.or_in(m.width(), m, &self.mask(&are_zero)?)?;
            self.powers_of_both(a, e, &m, &are_even)
        };
        let powers = self.inner.choices.as_steps(steps)?;
        let how = "modulo the odd parts of moduli, and modulo powers of two";
        self.inner.note_composed(job, &[m.width()], how);
        let have_none: Vec<bool> = (0..job.count())
            .map(|i| are_zero[i % are_zero.len()])
            .collect();
        let flags = (job.wanted == Wanted::Flags).then(|| self.mask(&have_none));
        Ok(Some(Outcome {
            results: vec![powers],
            flags: flags.transpose()?,
        }))
    }

    /// Powers modulo numbers that are not zero, some of which are even. Others are for whoever computes in constant time.
    fn powers_of_both(
        &self,
        a: &Batch,
        e: &Batch,
        m: &Batch,
        are_even: &[bool],
    ) -> Result<Batch, Error> {
        if !are_even.contains(&false) {
            return self.powers_by_odd_part(a, e, m);
        }
        let (even, odd): (Vec<usize>, Vec<usize>) = (0..are_even.len()).partition(|&i| are_even[i]);
        let part = |x: &Batch, of: &[usize]| match x.len() {
            1 => Ok(x.clone()),
            _ => self.gather(x, of),
        };
        let [by_part, whole] = [&even, &odd].map(|of| {
            let (a, e, m) = (part(a, of)?, part(e, of)?, self.gather(m, of)?);
            match are_even[of[0]] {
                true => self.powers_by_odd_part(&a, &e, &m),
                false => self.pow_mod(&a, &e, &m),
            }
        });
        let mut places = vec![0; are_even.len()];
        for (place, i) in even.into_iter().chain(odd).enumerate() {
            places[i] = place;
        }
        self.gather(&self.concatenate(&[&by_part?, &whole?])?, &places)
    }

    /// Powers modulo numbers that are not zero.
    fn powers_by_odd_part(&self, a: &Batch, e: &Batch, m: &Batch) -> Result<Batch, Error> {
        let engine = self.using(Options::default());
        let n = m.width();
        let twos = engine.trailing_zeros(m)?;
        let odd = engine.shr_in(n, m, &twos)?;
        let most = twos.rows()?.iter().max().copied().unwrap_or(0) as usize;
        let w = most.div_ceil(LIMB_BITS).max(1);
        let r = self.pow_mod(a, e, &odd)?;
        let p = engine.powers_modulo_limbs(a, e, w)?;
        let difference = engine.sub_in(w, &p, &engine.limbs_from(&r, 0, w)?)?;
        let quotient = engine.mul_in(w, &difference, &engine.inverse_modulo_limbs(&odd, w)?)?;
        // Without the bits from 2^k on.
        let above: Vec<u64> = twos
            .rows()?
            .iter()
            .map(|&k| (LIMB_BITS * w) as u64 - u64::from(k))
            .collect();
        let above = engine.of_limbs(&above)?;
        let quotient = engine.shl_in(w, &quotient, &above)?;
        let quotient = engine.shr_in(w, &quotient, &above)?;
        engine.add_in(n, &engine.mul_in(n, &odd, &quotient)?, &r)
    }

    /// `a^e` modulo `B^w`.
    fn powers_modulo_limbs(&self, a: &Batch, e: &Batch, w: usize) -> Result<Batch, Error> {
        let count = a.len().max(e.len());
        let lengths = self.lengths(e)?;
        let are_long: Vec<bool> = lengths
            .iter()
            .map(|&bits| bits > (LIMB_BITS * w) as u64)
            .collect();
        let digits = e.width().min(w);
        let exponents = self.limbs_from(e, 0, digits)?;
        let exponents = exponents.rows()?;
        let a = self.limbs_from(a, 0, w)?;
        let a = if a.len() == count {
            a
        } else {
            self.gather(&a, &vec![0; count])?
        };
        // Entry d of number i is its power d.
        let one = self.gather(&self.of_limbs(&[1])?, &vec![0; count])?;
        let mut entries = vec![self.limbs_from(&one, 0, w)?, a.clone()];
        for d in 2..1 << WINDOW {
            entries.push(self.mul_in(w, &entries[d - 1], &a)?);
        }
        let table = self.concatenate(&entries.iter().collect::<Vec<_>>())?;
        let digit = |i: usize, at: usize| {
            let exponent = &exponents[i % e.len() * digits..][..digits];
            let limb = exponent[at * WINDOW / LIMB_BITS];
            (limb >> (at * WINDOW % LIMB_BITS)) as usize % (1 << WINDOW)
        };
        let longest = lengths.iter().max().copied().unwrap_or(0) as usize;
        let windows = longest.min(LIMB_BITS * digits).div_ceil(WINDOW);
        let mut power = entries.swap_remove(0);
        for at in (0..windows).rev() {
            for _ in 0..WINDOW {
                power = self.mul_in(w, &power, &power)?;
            }
            let places: Vec<usize> = (0..count).map(|i| digit(i, at) * count + i).collect();
            power = self.mul_in(w, &power, &self.gather(&table, &places)?)?;
        }
        if !are_long.contains(&true) {
            return Ok(power);
        }
        // Such powers of even numbers are 0.
        let is_odd = self.first_of(
            Operation::And,
            Form::Modulo(1),
            &[&a, &self.of_limbs(&[1])?],
        )?;
        let are_short: Vec<bool> = are_long.iter().map(|is_long| !is_long).collect();
        let are_there = self.or_in(1, &is_odd, &self.mask(&are_short)?)?;
        self.select(&power, &self.of_limbs(&[0])?, &are_there)
    }

    /// The inverses of odd numbers modulo `B^w`, by Newton's steps `y (2 - q y)`, each of which makes twice as many bits right.
    fn inverse_modulo_limbs(&self, q: &Batch, w: usize) -> Result<Batch, Error> {
        let lowest = self.limbs_from(q, 0, 1)?;
        let of_limb = |&limb: &Limb| {
            let step = |y: Limb, _| y.wrapping_mul(Limb::wrapping_sub(2, limb.wrapping_mul(y)));
            // Right modulo 8.
            u64::from((0..4).fold(limb, step))
        };
        let mut y = self.of_limbs(&lowest.rows()?.iter().map(of_limb).collect::<Vec<_>>())?;
        let two = self.of_limbs(&[2])?;
        let mut width = 1;
        while width < w {
            width = w.min(2 * width);
            let product = self.mul_in(width, &self.limbs_from(q, 0, width)?, &y)?;
            let rest = self.sub_in(width, &two, &product)?;
            y = self.mul_in(width, &y, &rest)?;
        }
        Ok(y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BigUint;

    #[test]
    fn powers_modulo_even_numbers_are_those_of_num_bigint() {
        let engine = Engine::cpu();
        let one = BigUint::from(1u8);
        let mixed =
            |limbs: u32, salt: u64| BigUint::from(0x9e37_79b9_7f4a_7c15 ^ salt).pow(limbs / 2);
        let n = 10;
        let odd = mixed(6, 1) | &one;
        let moduli = [0usize, 1, 31, 32, 33, 100, 128].map(|bits| &odd << bits);
        let mut moduli = moduli.to_vec();
        moduli.extend([&one << 319, one.clone(), 2u8.into(), 12u8.into()]);
        let bases = [
            BigUint::ZERO,
            one.clone(),
            2u8.into(),
            7u8.into(),
            mixed(9, 2) << 1,
            mixed(9, 3) | &one,
        ];
        let exponents = [
            BigUint::ZERO,
            one.clone(),
            5u8.into(),
            mixed(10, 4),
            &one << 300,
        ];
        let mut all = Vec::new();
        for m in &moduli {
            for a in &bases {
                all.extend(exponents.iter().map(|e| [a, e, m]));
            }
        }
        let batch = |i: usize, of: &[[&BigUint; 3]]| {
            let numbers: Vec<BigUint> = of.iter().map(|row| row[i].clone()).collect();
            engine
                .batch_from_biguints_in(&numbers, n, Layout::Contiguous)
                .unwrap()
        };
        let check = |rows: &[[&BigUint; 3]], [a, e, m]: [Batch; 3]| {
            let found = engine
                .powers_by_odd_part(&a, &e, &m)
                .unwrap()
                .to_biguints()
                .unwrap();
            for (row, found) in rows.iter().zip(found) {
                let [a, e, m] = row;
                assert_eq!(found, a.modpow(e, m), "{a:x} ^ {e:x} mod {m:x}");
            }
        };
        check(&all, [0, 1, 2].map(|i| batch(i, &all)));
        // One modulus and one exponent for all, and one base.
        let (e, m) = (&exponents[3], &moduli[4]);
        let rows: Vec<_> = bases.iter().map(|a| [a, e, m]).collect();
        check(
            &rows,
            [batch(0, &rows), batch(1, &rows[..1]), batch(2, &rows[..1])],
        );
        let rows: Vec<_> = moduli.iter().map(|m| [&bases[5], e, m]).collect();
        check(
            &rows,
            [batch(0, &rows[..1]), batch(1, &rows[..1]), batch(2, &rows)],
        );
    }
}
