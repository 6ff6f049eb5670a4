//! Schoolbook products: every limb of one operand times every limb of the
//! other.
//!
//! One algorithm, three machines:
//!
//! - [`portable`]: `u64 x u64 -> u128`, safe Rust;
//! - `adx`: rows of `mulx` with two independent carry chains (`adcx`, `adox`);
//! - `ifma`: 52-bit digits, eight multiply-adds at a time.
//!
//! **Preconditions**: `r.len() == a.len() + b.len()`, both operands at least
//! one limb. **Cost**: `a.len() * b.len()` limb products. **Scratch**: none
//! from the caller; `ifma` keeps its digits on the stack.

#[cfg(target_arch = "x86_64")]
mod adx;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod portable;

use super::isa::Isa;

/// `r = a b` by schoolbook; a square where both are the same slice.
#[inline]
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa) {
    debug_assert!(r.len() == a.len() + b.len() && !a.is_empty() && !b.is_empty());
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let is_square = std::ptr::eq(a, b);
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token, _) if b.len() >= ifma::min_limbs(is_square) => {
            ifma::mul(r, a, b, token);
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_, token) | Isa::Avx2(token) if is_square => adx::square(r, a, token),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_, token) | Isa::Avx2(token) => adx::mul(r, a, b, token),
        _ if is_square => portable::square(r, a),
        _ => portable::mul(r, a, b),
    }
}

/// Limbs of the longest of the shortest products.
const MAX_SHORT: usize = portable::WIDEST;

/// `r` = the low limbs of `a b`, or all of them, where this is one of the shortest products,
/// which take less time than finding out what else they might be; returns whether it was.
#[inline]
pub(super) fn mul_short(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa) -> bool {
    let n = a.len();
    if b.len() != n || !(1..=MAX_SHORT).contains(&n) || !(n..=2 * n).contains(&r.len()) {
        return false;
    }
    if r.len() == 2 * n {
        short(r, a, b, isa);
    } else {
        short_low(r, a, b, isa);
    }
    true
}

/// `r` = the low limbs of one of the shortest products: leaving out the others would
/// take as long as computing them.
#[inline(never)]
fn short_low(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa) {
    let mut product = [0; 2 * MAX_SHORT];
    short(&mut product[..2 * a.len()], a, b, isa);
    r.copy_from_slice(&product[..r.len()]);
}

/// `r = a b` for two operands of the same length, from 1 to [`MAX_SHORT`] limbs.
#[inline]
fn short(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa) {
    let is_square = std::ptr::eq(a, b);
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_, token) | Isa::Avx2(token) if is_square => adx::square_short(r, a, token),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_, token) | Isa::Avx2(token) => adx::mul_short(r, a, b, token),
        _ if is_square => portable::square(r, a),
        _ => portable::mul(r, a, b),
    }
}

/// `r` = the low limbs of `a b`, where schoolbook can leave out the others: up to
/// 128 limbs of any lengths under IFMA; up to [`adx::MAX_LOW`] limbs by rows of `mulx`,
/// where operands are as long as the result. Whether it was.
///
/// **Preconditions**: both operands at least one limb, neither longer than `r`, and
/// together longer.
pub(super) fn mul_low(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa) -> bool {
    debug_assert!(a.len().max(b.len()) <= r.len() && r.len() < a.len() + b.len());
    if mul_short(r, a, b, isa) {
        return true;
    }
    #[cfg(target_arch = "x86_64")]
    if let Isa::Avx512(token, _) = isa
        && ifma::takes_low(a, b)
    {
        ifma::mul_low(r, a, b, token);
        return true;
    }
    #[cfg(target_arch = "x86_64")]
    if let Isa::Avx512(_, token) | Isa::Avx2(token) = isa
        && a.len().min(b.len()) == r.len()
        && r.len() <= adx::MAX_LOW
    {
        adx::mul_low(r, a, b, token);
        return true;
    }
    false
}
