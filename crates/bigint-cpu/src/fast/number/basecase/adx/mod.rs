//! Schoolbook by rows of `mulx`, with two chains of carries that do not wait for each other.
//!
//! A row `r += a y` needs, at each limb, the sum of the low half of this product, the high half of
//! the last product and the limb of `r`. `adcx` carries the first of these sums in CF and `adox`
//! the second in OF, so both chains advance at once. One chain of `add` and `adc` would have to
//! save and restore its carry at every limb.
//!
//! The carry out of a row is one limb: `a y + r < 2^(64 n) 2^64` as in `portable`, so neither chain
//! can carry out of the last high half.
//!
//! A square adds the products `a_i a_j`, `i < j`, once. It doubles their sum in the chain of CF and
//! adds the squares `a_i^2` in the chain of OF, in the same pass. That takes `n (n - 1) / 2 + n`
//! products instead of `n^2`.
//!
//! * [`short`]: operands of up to eight limbs, with the running sum in registers.
//! * [`rows`]: operands of any lengths, with the running sum in the result.

mod rows;
mod short;

pub(super) use self::rows::{STEPS as MAX_LOW, mul_low};
pub(super) use self::short::{mul_short, square_short};
use super::super::isa::Avx2;

/// Computes `r = a b`, for lengths as [`super::mul`] states them and `a` not shorter than `b`.
#[inline]
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64], token: Avx2) {
    if a.len() == b.len() && a.len() <= short::MAX_LIMBS {
        mul_short(r, a, b, token);
    } else {
        rows::mul(r, a, b, token);
    }
}

/// Computes `r = a^2`, for `r.len() == 2 a.len()` and at least one limb.
#[inline]
pub(super) fn square(r: &mut [u64], a: &[u64], token: Avx2) {
    if a.len() <= short::MAX_LIMBS {
        square_short(r, a, token);
    } else {
        rows::square(r, a, token);
    }
}
