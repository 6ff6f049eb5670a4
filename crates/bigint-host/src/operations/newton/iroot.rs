//! Roots of one degree for all, of numbers wider than kernels hold, by Newton's iteration for ever longer tops.
//!
//! Let `a` have `k w` limbs and one of its top `k` bits be set, so that its root `R = a^(1/k)` is between `B^w / 2` and
//! `B^w`. Let `x` be a whole number above the root of the top `k h` limbs, `h = w/2 + 1`, by less than `1 + 3 k / B`. With
//! `l = w - h` the root of `a` is below `X = x B^l`, and Newton's step stays above it:
//!
//! ```text
//! D = (X^k - a) / (k X^(k-1)),    0 <= X - D - R < k (X - R)^2 / 2 X < k / B
//! ```
//!
//! `D` has `l` limbs before the point, and one behind it is computed:
//!
//! ```text
//! q = floor(floor((x^k B^l - 1 - floor(a / B^(l (k-1)))) / B^j) B / (floor(k x^(k-1) / B^j) + 1))
//! ```
//!
//! where `B^j` leaves a divisor of `l + 2` limbs or more, if it has as many. `q` is not greater than `D B`, and what is cut off
//! makes it too small by less than 4. So `X - q / B` is above the root by less than `(k + 4) / B`. The next `x` is that without its
//! fraction, and 1 more. Of the last one the whole part is the root or one more, and what its power leaves of `a` tells which.
//!
//! By hand, with `B` = 10, `k` = 3, `a` = 12345678: `w` = 3, `h` = 2, `l` = 1; the root of 12345 is 23.1, and `x` = 24.
//! `X^3` = 13824000, `D` = 1478322 / 172800 = 8.55, `q` = 85, `X - q / B` = 231.5, and the root is 231.
//!
//! **Cost**: a power of degree `k`, one of half that length, a quotient of `w/2` limbs, and half as much again for shorter tops.

use crate::{Batch, Engine, Error};
use bigint_core::{LIMB_BITS, MAX_WIDTH};

/// The most limbs of a root that the CPU begins with.
const BASE: usize = 4;

/// The highest degree.
const HIGHEST: u64 = 1 << 10;

impl Engine {
    /// Roots, and what they leave; nothing where that is for another to say.
    pub(super) fn newton_iroot(
        &self,
        a: &Batch,
        degrees: &Batch,
    ) -> Result<Option<[Batch; 2]>, Error> {
        let rows = degrees.rows()?;
        let mut rows = rows.chunks(degrees.width());
        let Some(degree) = rows.next().filter(|_| degrees.len() <= a.len()) else {
            return Ok(None);
        };
        let k = u64::from(degree[0]);
        let is_one = degree[1..].iter().all(|&limb| limb == 0) && rows.all(|row| row == degree);
        if !is_one || !(2..=HIGHEST).contains(&k) {
            return Ok(None);
        }
        let bits = self.lengths(a)?;
        let longest = bits.iter().max().copied().unwrap_or(0);
        let w = longest.div_ceil(LIMB_BITS as u64 * k) as usize;
        let width = k as usize * w;
        if bits.contains(&0) || w <= 2 * BASE || width >= MAX_WIDTH {
            return Ok(None);
        }
        // A number is a power of `2^k` too short, and its root as many bits.
        let of_root = |bits: &u64| ((LIMB_BITS * width) as u64 - bits) / k;
        let of_roots: Vec<u64> = bits.iter().map(of_root).collect();
        let shifts: Vec<u64> = of_roots.iter().map(|bits| k * bits).collect();
        let x = self.limbs_from(a, 0, width)?;
        let x = self.shl_in(width, &x, &self.of_limbs(&shifts)?)?;
        let root = self.limbs_from(&self.root_above(&x, w, k)?, 1, w + 1)?;
        let root = self.shr_in(w + 1, &root, &self.of_limbs(&of_roots)?)?;
        let rest = |root: &Batch| {
            let power = self.power_of(root, k, width + 1)?;
            self.sub_in(width + 1, &self.limbs_from(a, 0, width + 1)?, &power)
        };
        let left = rest(&root)?;
        let more = self.is_negative(&left)?;
        if more.rows()?.iter().all(|&more| more == 0) {
            return Ok(Some([root, left]));
        }
        let root = self.sub_in(w + 1, &root, &more)?;
        let left = rest(&root)?;
        Ok(Some([root, left]))
    }

    /// `B` times what is above the root of degree `k` by less than `(k + 4) / B`, in `w + 2` limbs, for `a` of `k w` limbs.
    fn root_above(&self, a: &Batch, w: usize, k: u64) -> Result<Batch, Error> {
        let (one, degree) = (self.of_limbs(&[1])?, self.of_limbs(&[k])?);
        let (all, k) = (w, k as usize);
        let top = |w| self.limbs_from(a, k * (all - w), k * w);
        if w <= BASE {
            let (root, _) = self.iroot(&top(w)?, &degree)?;
            let root = self.limbs_from(&root, 0, w + 1)?;
            return self.lifted(&self.add_in(w + 1, &root, &one)?, 1, w + 2);
        }
        let h = w / 2 + 1;
        let l = w - h;
        let x = self.root_above(&top(h)?, h, k as u64)?;
        let x = self.add_in(h + 1, &self.limbs_from(&x, 1, h + 1)?, &one)?;
        // The divisor, below `k B^below`, and what it divides, which is less than `2 B^l` times that.
        let below = (k - 1) * h;
        let power = self.power_of(&x, k as u64 - 1, below + 1)?;
        let divisor = self.mul_in(below + 2, &power, &degree)?;
        let power = self.mul_in(below + 2, &power, &x)?;
        let width = below + l + 2;
        let above = self.sub_in(width, &self.lifted(&power, l, width)?, &one)?;
        let above = self.sub_in(
            width,
            &above,
            &self.limbs_from(&top(w)?, l * (k - 1), width)?,
        )?;
        // Where roots are little more than `B^h / 2`, the divisor has as many limbs less.
        let j = below.saturating_sub((k - 1).div_ceil(LIMB_BITS) + l + 2);
        let divisor = self.limbs_from(&divisor, j, below + 2 - j)?;
        let divisor = self.add_in(below + 3 - j, &divisor, &one)?;
        let above = self.limbs_from(&above, j, width - j)?;
        let above = self.lifted(&above, 1, width - j + 1)?;
        let q = self.div(&above, &divisor)?;
        self.sub_in(w + 2, &self.lifted(&x, l + 1, w + 2)?, &q)
    }

    /// `x^e` modulo `B^width`, for `x` of `n + 1` limbs that is not above `B^n`.
    fn power_of(&self, x: &Batch, e: u64, width: usize) -> Result<Batch, Error> {
        let n = x.width() - 1;
        let (mut power, mut of) = (x.clone(), 1);
        for bit in (0..e.ilog2()).rev() {
            of *= 2;
            let square = width.min(of * n + 1);
            power = self.mul_in(square, &power, &power)?;
            if e >> bit & 1 == 1 {
                of += 1;
                power = self.mul_in(width.min(of * n + 1), &power, x)?;
            }
        }
        Ok(power)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{engine, numbers};
    use crate::BigUint;
    use bigint_core::{Layout, Shape};

    #[test]
    fn roots_of_any_degree_and_what_they_leave_are_those_of_num_bigint() {
        let engine = engine();
        for (k, w) in [
            (2u32, 9usize),
            (2, 16),
            (3, 10),
            (3, 17),
            (3, 33),
            (5, 12),
            (7, 9),
            (8, 11),
            (33, 9),
            (65, 10),
        ] {
            let mut given = numbers(k as usize * w);
            for x in numbers(w) {
                let power = x.pow(k);
                given.extend([&power - 1u8, &power + 1u8, (&x + 1u8).pow(k) - 1u8, power]);
            }
            given.retain(|x| x.bits() <= 32 * u64::from(k) * w as u64 && *x != BigUint::ZERO);
            let width = k as usize * w;
            let a = engine
                .batch_from_biguints_in(&given, width, Layout::Contiguous)
                .unwrap();
            let degree = engine.of_limbs(&[k.into()]).unwrap();
            let [root, left] = engine.newton_iroot(&a, &degree).unwrap().unwrap();
            let (root, left) = (root.to_biguints().unwrap(), left.to_biguints().unwrap());
            for (i, x) in given.iter().enumerate() {
                let expected = x.nth_root(k);
                assert_eq!(root[i], expected, "degree {k} of {x:x}");
                assert_eq!(left[i], x - expected.pow(k), "degree {k} of {x:x}");
            }
        }
    }

    #[test]
    fn what_newton_has_no_steps_for_is_for_another() {
        let engine = engine();
        let a = engine
            .batch_from_biguints_in(&numbers(40)[..2], 40, Layout::Contiguous)
            .unwrap();
        let zero = engine
            .batch_from_limbs(vec![0; 40], Shape::new(1, 40, Layout::Contiguous))
            .unwrap();
        for degrees in [
            &[0u64] as &[u64],
            &[1],
            &[6],
            &[1 << 11],
            &[3, 4],
            &[3, 3, 3],
        ] {
            let degrees = engine.of_limbs(degrees).unwrap();
            assert!(engine.newton_iroot(&a, &degrees).unwrap().is_none());
        }
        let three = engine.of_limbs(&[3]).unwrap();
        assert!(engine.newton_iroot(&zero, &three).unwrap().is_none());
        assert!(engine.newton_iroot(&a, &three).unwrap().is_some());
    }
}
