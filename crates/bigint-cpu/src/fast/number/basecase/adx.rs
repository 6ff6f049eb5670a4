//! Schoolbook by rows of `mulx`: two carry chains that do not wait for each
//! other.
//!
//! A row `r += a y` needs, at each limb, the low half of this product plus the
//! high half of the last one plus the limb of `r`. `adcx` carries the first
//! sum in CF and `adox` the second in OF, so both advance at once; one chain
//! of `add`/`adc` would have to save and restore its carry at every limb.
//!
//! The carry out of a row is one limb: `a y + r < 2^(64 n) 2^64` as in
//! `portable`, so neither chain can carry out of the last high half.
#![allow(unsafe_code)]

use std::arch::asm;

use super::super::isa::Avx2;

/// `r = a b`; lengths as [`super::mul`] states, `a` not shorter than `b`.
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64], token: Avx2) {
    let n = a.len();
    r[..n].fill(0);
    for (j, &y) in b.iter().enumerate() {
        r[j + n] = add_row(&mut r[j..j + n], a, y, token);
    }
}

/// `r += a y`, both of the same length; returns the limb carried out.
#[inline(always)]
fn add_row(r: &mut [u64], a: &[u64], y: u64, _token: Avx2) -> u64 {
    assert_eq!(r.len(), a.len());
    let quads = a.len() / 4;
    let mut carry = 0;
    // The odd limbs first, so that the unrolled loop ends the row.
    let odd = a.len() % 4;
    for (z, &x) in r[..odd].iter_mut().zip(a) {
        let t = u128::from(x) * u128::from(y) + u128::from(*z) + u128::from(carry);
        *z = t as u64;
        carry = (t >> 64) as u64;
    }
    if quads == 0 {
        return carry;
    }
    // SAFETY: the token proves BMI2 and ADX. The loop runs `quads >= 1` times
    // and reads 32 bytes at `a` and reads and writes 32 bytes at `r` each time,
    // starting `odd` limbs in: it ends at limb `odd + 4 quads`, the length of
    // both slices. `jrcxz` and `lea` leave both carry flags alone. No stack.
    unsafe {
        asm!(
            "xor {t0:e}, {t0:e}", // clears CF and OF
            "2:",
            "mulx {t1}, {t0}, [{a}]",
            "adcx {t0}, {carry}",
            "adox {t0}, [{r}]",
            "mov [{r}], {t0}",
            "mulx {carry}, {t0}, [{a} + 8]",
            "adcx {t0}, {t1}",
            "adox {t0}, [{r} + 8]",
            "mov [{r} + 8], {t0}",
            "mulx {t1}, {t0}, [{a} + 16]",
            "adcx {t0}, {carry}",
            "adox {t0}, [{r} + 16]",
            "mov [{r} + 16], {t0}",
            "mulx {carry}, {t0}, [{a} + 24]",
            "adcx {t0}, {t1}",
            "adox {t0}, [{r} + 24]",
            "mov [{r} + 24], {t0}",
            "lea {a}, [{a} + 32]",
            "lea {r}, [{r} + 32]",
            "lea rcx, [rcx - 1]",
            "jrcxz 3f",
            "jmp 2b",
            "3:",
            "mov {t0:e}, 0", // keeps the flags, unlike xor
            "adcx {carry}, {t0}",
            "adox {carry}, {t0}",
            t0 = out(reg) _,
            t1 = out(reg) _,
            a = inout(reg) a.as_ptr().add(odd) => _,
            r = inout(reg) r.as_mut_ptr().add(odd) => _,
            carry = inout(reg) carry,
            inout("rcx") quads => _,
            in("rdx") y,
            options(nostack),
        );
    }
    carry
}
