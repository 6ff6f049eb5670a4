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

/// `r = a b` where this is one of the shortest products, which take less time than
/// finding out what else they might be; whether it was.
#[inline]
pub(super) fn mul_short(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Isa::Avx512(_, token) | Isa::Avx2(token) = isa
        && a.len() == b.len()
        && (1..=adx::MAX_SHORT).contains(&a.len())
    {
        if std::ptr::eq(a, b) {
            adx::square_short(r, a, token);
        } else {
            adx::mul_short(r, a, b, token);
        }
        return true;
    }
    if let Isa::Portable = isa
        && a.len() == b.len()
        && (1..=portable::WIDEST).contains(&a.len())
        && r.len() == 2 * a.len()
    {
        if std::ptr::eq(a, b) {
            portable::square(r, a);
        } else {
            portable::mul(r, a, b);
        }
        return true;
    }
    false
}
