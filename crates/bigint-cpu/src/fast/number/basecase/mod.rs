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

/// `r = a b` by schoolbook.
#[inline]
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa) {
    debug_assert!(r.len() == a.len() + b.len() && !a.is_empty() && !b.is_empty());
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token, _) if b.len() >= ifma::MIN_LIMBS => ifma::mul(r, a, b, token),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_, token) | Isa::Avx2(token) => adx::mul(r, a, b, token),
        _ => portable::mul(r, a, b),
    }
}
