//! Values of a polynomial at many points, by a remainder tree (multi-point evaluation).
//!
//! Let `p` have integer coefficients, and `X = B^w` for `B` = 2^32. As `X = a` modulo `X - a`,
//!
//! ```text
//! p(X) = p(a)   modulo   X - a
//! ```
//!
//! and with `|c|`, `|a|` and `|p(a)|` below `X / 4` for every coefficient `c` and point `a`, the least number
//! that is so tells `p(a)`: it is that, below `X / 4`, or `p(a) + X - a`, which is at least `X / 2`. `p(X)` is
//! coefficients one behind the other, and one [`ProductTree`] of all `X - a` has what it is modulo each.
//!
//! By hand, with `X` = 100: `p` = 3 x^2 - 5 is 29995. Modulo 100 - 2 that is 7 = p(2), and modulo 100 - 1 it is 97, which is
//! 99 more than p(1) = -2.
//!
//! **Cost**: that of the tree, whose leaves are as long as the longest value can be.

use crate::common::limbs::bit_length;
use crate::trees::product_tree::ProductTree;
use crate::{Engine, Error, Integers};
use bigint_core::{LIMB_BITS, Limb, MAX_WIDTH};
use bigint_cpu::zeroed;

impl Engine {
    /// The values at all points of the polynomial whose coefficients these are, that of `x^0` first.
    ///
    /// ```
    /// use bigint_host::{Engine, Integers};
    /// let engine = Engine::auto();
    /// // 3 x^2 - 5.
    /// let values = engine.evaluate_polynomial(&Integers::from([-5, 0, 3]), &Integers::from([2, 1, -7]))?;
    /// assert_eq!(values, Integers::from([7, -2, 142]));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Width`] where the polynomial or the product of as many numbers as points would be too wide, each number as long as
    /// the longest value can be; [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn evaluate_polynomial(
        &self,
        coefficients: &Integers,
        points: &Integers,
    ) -> Result<Integers, Error> {
        if points.is_empty() {
            return Ok(Integers::new());
        }
        let width = width(coefficients, points)?;
        // Both signs' coefficients apart.
        let [plus, minus] = [false, true].map(|sign| side_by_side(coefficients, sign, width));
        let whole = self.sub(&plus?, &minus?)?;
        let (of_size, is_negative) = (self.abs(&whole)?, whole.is_negative(0));
        let mut limbs = zeroed(width + 1)?;
        limbs[width] = 1;
        let mut radix = Integers::new();
        radix.push(false, &limbs)?;
        let leaves = self.sub(&radix, points)?;
        let residues = ProductTree::new(self, &leaves)?.remainders(&of_size)?;
        // Those of negative values are `X / 2` or more.
        let is_less_than_zero = |i: usize| {
            let limbs = residues.magnitude(i);
            limbs.len() > width || limbs.len() == width && limbs[width - 1] >> (LIMB_BITS - 1) > 0
        };
        let mut too_much = Integers::new();
        for i in 0..points.len() {
            let leaf = match is_less_than_zero(i) {
                true => leaves.magnitude(i),
                false => &[],
            };
            too_much.push(false, leaf)?;
        }
        let values = self.sub(&residues, &too_much)?;
        match is_negative {
            true => self.neg(&values),
            false => Ok(values),
        }
    }
}

/// The limbs of `X`'s exponent: two bits more than any coefficient, point or value has.
fn width(coefficients: &Integers, points: &Integers) -> Result<usize, Error> {
    let bits = |column: &Integers, index| bit_length(column.magnitude(index));
    let of_points = (0..points.len()).map(|index| bits(points, index));
    let of_points = of_points.max().unwrap_or(0);
    let mut most = of_points;
    for degree in 0..coefficients.len() {
        let of_power = of_points.checked_mul(degree);
        let of_power = of_power.ok_or(Error::Width { width: usize::MAX })?;
        most = most.max(bits(coefficients, degree).saturating_add(of_power));
    }
    // So many values below `2^most` are added.
    let of_count = coefficients.len().max(1).ilog2() as usize + 1;
    let width = most.saturating_add(of_count + 2).div_ceil(LIMB_BITS);
    let all = width.checked_mul(coefficients.len().max(points.len()) + 1);
    match all.is_some_and(|all| all <= MAX_WIDTH) {
        true => Ok(width),
        false => Err(Error::Width {
            width: all.unwrap_or(usize::MAX),
        }),
    }
}

/// The coefficients of one sign as the digits of a number.
fn side_by_side(coefficients: &Integers, sign: bool, width: usize) -> Result<Integers, Error> {
    let mut limbs = zeroed::<Limb>(width * coefficients.len())?;
    for (index, digit) in limbs.chunks_mut(width).enumerate() {
        if coefficients.is_negative(index) == sign {
            let magnitude = coefficients.magnitude(index);
            digit[..magnitude.len()].copy_from_slice(magnitude);
        }
    }
    let mut whole = Integers::new();
    whole.push(false, &limbs)?;
    Ok(whole)
}
