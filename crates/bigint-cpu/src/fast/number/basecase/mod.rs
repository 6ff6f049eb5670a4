//! Schoolbook products: every limb of one operand is multiplied by every limb of the other.
//!
//! There is one algorithm for three machines:
//!
//! * [`portable`]: `u64 x u64 -> u128`, in safe Rust.
//! * `adx`: rows of `mulx` with two independent chains of carries (`adcx`, `adox`).
//! * `ifma`: digits of 52 bits, with eight multiply-adds at a time.
//!
//! **Preconditions**: `r.len() == a.len() + b.len()`, and both operands have at least one limb.
//! **Cost**: `a.len() * b.len()` products of limbs. **Scratch**: none from the caller. `ifma` keeps
//! its digits on the stack.

#[cfg(target_arch = "x86_64")]
mod adx;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod portable;

use super::isa::Isa;

/// Computes `r = a b` by schoolbook, as a square if both are the same slice.
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

/// The limbs of the longest of the shortest products.
const MAX_SHORT: usize = portable::WIDEST;

/// Sets `r` to the low limbs of `a b`, or to all of them, if this is one of the shortest products.
/// These take less time than a look at the other cases. Returns whether it did.
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

/// Sets `r` to the low limbs of one of the shortest products. It would take as long to leave out
/// the other limbs as to compute them.
#[inline(never)]
fn short_low(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa) {
    let mut product = [0; 2 * MAX_SHORT];
    short(&mut product[..2 * a.len()], a, b, isa);
    r.copy_from_slice(&product[..r.len()]);
}

/// Computes `r = a b` for two operands of the same length, from 1 to [`MAX_SHORT`] limbs.
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

/// Sets `r` to the low limbs of `a b`, if schoolbook can leave out the others. With IFMA it can for
/// operands of up to 128 limbs of any lengths. With rows of `mulx` it can for up to
/// [`adx::MAX_LOW`] limbs, if the operands are as long as the result. Returns whether it did.
///
/// **Preconditions**: both operands have at least one limb, neither is longer than `r`, and
/// together they are longer.
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
