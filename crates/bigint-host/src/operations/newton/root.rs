//! Square roots wider than kernels hold, by Newton's iteration for their inverses.
//!
//! Let `a` have `2 k` limbs, one of its top two bits set, `A = a / B^(2k)`, and `t` be its top `j` limbs.
//!
//! **Inverse root** of `j` limbs: `Y` with `1 <= Y - B^j / sqrt(A) <= 16`, from `y` of `h` limbs as
//! [reciprocals](super) are:
//!
//! ```text
//! e = y^2 t - B^(2h + j),    Y = y B^(j-h) - y e / 2 B^(2h + j) B^(j-h) + 4
//! ```
//!
//! What `a` has below `t` makes `Y` greater by 4, what is cut off by 1, each at most, and `e` makes it too small by 1 or too
//! great by 3.
//!
//! **Root**, with an inverse of `h` limbs, `y = Y - 16`, `l = k/2 - 1` and `g = k - l < h`:
//!
//! ```text
//! s = floor(floor(a / B^(2k-g-1)) y / B^(h+1)),    q = floor(floor((a - s^2 B^(2l)) / B^(k-1)) y / 2 B^(h+1))
//! ```
//!
//! `s B^l + q` is never too great, and too small by less than `1 + 20 / B`: `s` is off by less than `1 + 17 / B`, which
//! makes `q` less than `2 B^l`, so that what it lacks of its own square is less than `B^(2l - k)`; and what is cut off
//! and the error of `y` are worth less than `17 / B`. So the root is that or one more.
//!
//! By hand, with `B` = 10, `k` = 4, `a` = 12345678: `l` = 1, `g` = 3, `h` = 4, `y` = 28460. `s` = floor(1234 28460 / 10^5) = 351,
//! `a - s^2 B^2` = 25578, `q` = floor(25 28460 / 2 10^5) = 3, and the root is 3513.
//!
//! What `s` and the root leave is less than `4 B^(k-l)` and `4 B^k`, and is told by squares modulo `B^n + 1`, as what
//! [quotients](super) leave is.
//!
//! **Cost**, in products of `k` limbs, where transforms wrap: 3, and passes over memory.

use super::EXCESS;
use crate::{Batch, Engine, Error};
use bigint_core::LIMB_BITS;

impl Engine {
    /// Square roots, and what they leave; nothing where that is for another to say.
    pub(super) fn newton_root(&self, a: &Batch) -> Result<Option<[Batch; 2]>, Error> {
        let bits = self.lengths(a)?;
        let longest = bits.iter().max().copied().unwrap_or(0);
        let width = 2 * longest.div_ceil(2 * LIMB_BITS as u64) as usize;
        // Half a limb more of the root is zero, or less.
        let shifts = bits
            .iter()
            .map(|bits| ((LIMB_BITS * width) as u64 - bits) & !1);
        let shifts: Vec<u64> = shifts.collect();
        let most = shifts.iter().max().copied().unwrap_or(0);
        if bits.contains(&0) {
            return Ok(None);
        }
        let x = self.limbs_from(a, 0, width)?;
        if most == 0 {
            let [root, rest] = self.root_of(&x)?;
            return Ok(Some([root, rest]));
        }
        let x = self.shl_in(width, &x, &self.of_limbs(&shifts)?)?;
        let [root, _] = self.root_of(&x)?;
        let halves: Vec<u64> = shifts.iter().map(|bits| bits / 2).collect();
        let k = width / 2;
        let root = self.shr_in(k, &root, &self.of_limbs(&halves)?)?;
        let rest = self.rest(a, &root, &root, k + 1)?;
        Ok(Some([root, rest]))
    }

    /// Roots of `k` limbs of numbers of `2 k`, one of whose top two bits is set, and `k + 1` limbs that they
    /// leave.
    fn root_of(&self, x: &Batch) -> Result<[Batch; 2], Error> {
        let k = x.width() / 2;
        if 2 * k <= self.tuning().div.root_device_max_width.max(4) {
            let mut made = self.kernel_root(x)?;
            let rest = self.limbs_from(&made[1], 0, k + 1)?;
            return Ok([self.limbs_from(&made.swap_remove(0), 0, k)?, rest]);
        }
        let l = k / 2 - 1;
        let g = k - l;
        let h = g + 1;
        let excess = self.of_limbs(&[EXCESS])?;
        let y = self.sub_in(h + 1, &self.inverse_root(x, h)?, &excess)?;
        self.keep_transform(&y);
        let t = self.limbs_from(x, 2 * k - h, h)?;
        let product = self.mul_in(2 * h + 1, &t, &y)?;
        let s = self.limbs_from(&product, h + 1, g)?;
        let rest = self.rest(&self.limbs_from(x, 2 * l, 2 * g)?, &s, &s, g + 1)?;
        let top = self.limbs_from(&rest, k - 1 - 2 * l, l + 2)?;
        let product = self.mul_in(l + h + 3, &top, &y)?;
        drop((t, y, top));
        let one = self.of_limbs(&[1])?;
        let twice = self.limbs_from(&product, h + 1, l + 2)?;
        let q = self.shr_in(l + 1, &twice, &one)?;
        let root = self.add_in(k, &self.lifted(&s, l, k)?, &q)?;
        let rest = self.rest(x, &root, &root, k + 1)?;
        // Of the root that is one more.
        let less = self.sub_in(k + 1, &rest, &root)?;
        let less = self.sub_in(k + 1, &less, &root)?;
        let less = self.sub_in(k + 1, &less, &one)?;
        let (rest, more) = self.unless_negative(less, rest)?;
        Ok([self.add_in(k, &root, &more)?, rest])
    }

    /// `Y` of `k + 1` limbs, `1 <= Y - B^k / sqrt(A) <= 16`, for `a` of `2 n` limbs.
    fn inverse_root(&self, a: &Batch, k: usize) -> Result<Batch, Error> {
        let div = &self.tuning().div;
        let widest = div.root_device_max_width / 2;
        let lengths = self.steps(k, a.len(), widest, div.newton_host_limbs);
        let k = lengths[0];
        // Two limbs more than the reciprocal has.
        let width = 2 * (k + 2);
        let top = match a.width().checked_sub(width) {
            Some(_) if self.is_begun_by_host(k) => self.top_for_host(a, width)?,
            Some(below) => self.limbs_from(a, below, width)?,
            None => self.lifted(a, width - a.width(), width)?,
        };
        let first = match self.is_begun_by_host(k) {
            true => self.begun_by_host(true, &top, k)?,
            false => {
                let root = self.kernel_root(&top)?.swap_remove(0);
                self.power_by(2 * k + 2, &self.limbs_from(&root, 0, k + 2)?, k + 1)?
            }
        };
        self.newton_steps(true, [&first, a], lengths)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{engine, numbers};
    use crate::{BigUint, Engine};
    use bigint_core::Layout;

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
    fn an_inverse_root_is_too_great_by_few_of_its_last_place() {
        for n in [2usize, 4, 6, 10, 20, 40] {
            for k in [1, 3, 4, 5, 6, 7, 8, 9, 17, 40, 77] {
                check_inverse_roots(&engine(), n, k);
            }
        }
    }

    pub fn check_inverse_roots(engine: &Engine, n: usize, k: usize) {
        let top = BigUint::from(1u8) << (32 * n - 2);
        let mut given: Vec<BigUint> = numbers(n).into_iter().map(|a| a | &top).collect();
        given.push(top);
        let a = engine
            .batch_from_biguints_in(&given, n, Layout::Contiguous)
            .unwrap();
        let found = engine.inverse_root(&a, k).unwrap().to_biguints().unwrap();
        let power = BigUint::from(1u8) << (32 * (2 * k + n));
        for (y, a) in found.iter().zip(&given) {
            let squared = |less: u8| {
                let y = if y > &less.into() {
                    y - less
                } else {
                    BigUint::ZERO
                };
                &y * &y * a
            };
            let is_it = squared(1) >= power && squared(16) <= power;
            assert!(is_it, "{a:x} to {k} limbs");
        }
    }
}
