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
use super::portable;

/// `r = a b`; lengths as [`super::mul`] states, `a` not shorter than `b`.
#[inline]
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64], token: Avx2) {
    match (a.len(), b.len()) {
        (1, 1) => portable::fixed::<1>(r, a, b),
        (2, 2) => portable::fixed::<2>(r, a, b),
        (3, 3) => portable::fixed::<3>(r, a, b),
        (4, 4) => mul_4(r, a, b, token),
        (5, 5) => mul_5(r, a, b, token),
        (6, 6) => mul_6(r, a, b, token),
        (7, 7) => mul_7(r, a, b, token),
        (8, 8) => mul_8(r, a, b, token),
        (9, 9) => mul_9(r, a, b, token),
        _ => rows(r, a, b, token),
    }
}

fn rows(r: &mut [u64], a: &[u64], b: &[u64], token: Avx2) {
    let n = a.len();
    r[..n].fill(0);
    for (j, &y) in b.iter().enumerate() {
        r[j + n] = add_row(&mut r[j..j + n], a, y, token);
    }
}

/// Rows of a fixed length with the running sum in registers.
///
/// `short!(name, N, [w0 .. wN])` defines `name`, which multiplies `N` limbs by
/// `N` limbs. Each row adds `a y` to the window `w0 .. w(N-1)`: the low halves
/// through CF at their own limb, the high halves through OF one limb up; the
/// last high half takes both carries and is the window's new top. For two limbs
/// a row is
///
/// ```text
/// xor  zero, zero            mulx h, l, [a]        adcx w0, l     adox w1, h
///                            mulx h, l, [a + 8]    adcx w1, l
/// mov  l, 0                  adcx h, l             adox h, l
/// ```
macro_rules! short {
    ($name:ident, $n:literal, [$($w:ident)*], [$($at:literal $low:ident $high:ident)*], $last:ident) => {
        #[inline(always)]
        fn $name(r: &mut [u64], a: &[u64], b: &[u64], _token: Avx2) {
            assert!(r.len() == 2 * $n && a.len() == $n && b.len() == $n);
            $(let mut $w = 0u64;)*
            for j in 0..$n {
                let top: u64;
                // SAFETY: the token proves BMI2 and ADX; `a` has N limbs, which
                // are read and nothing else; no stack.
                unsafe {
                    asm!(
                        "xor {l:e}, {l:e}", // clears CF and OF
                        $(
                            concat!("mulx {h}, {l}, [{a} + ", $at, "]"),
                            concat!("adcx {", stringify!($low), "}, {l}"),
                            concat!("adox {", stringify!($high), "}, {h}"),
                        )*
                        concat!("mulx {h}, {l}, [{a} + 8 * ", $n, " - 8]"),
                        concat!("adcx {", stringify!($last), "}, {l}"),
                        "mov {l:e}, 0", // keeps the flags, unlike xor
                        "adcx {h}, {l}",
                        "adox {h}, {l}",
                        a = in(reg) a.as_ptr(),
                        l = out(reg) _,
                        h = out(reg) top,
                        $($w = inout(reg) $w,)*
                        in("rdx") b[j],
                        options(nostack, readonly),
                    );
                }
                short!(@shift r[j], [$($w)*], top);
            }
            for (r, w) in r[$n..].iter_mut().zip([$($w),*]) {
                *r = w;
            }
        }
    };
    // The lowest limb is finished; the others move down.
    (@shift $r:expr, [$first:ident $($rest:ident)*], $top:ident) => {
        $r = $first;
        short!(@move $first [$($rest)*] $top);
    };
    (@move $to:ident [$from:ident $($rest:ident)*] $top:ident) => {
        $to = $from;
        short!(@move $from [$($rest)*] $top);
    };
    (@move $to:ident [] $top:ident) => {
        $to = $top;
    };
}

short!(mul_4, 4, [w0 w1 w2 w3], [0 w0 w1 8 w1 w2 16 w2 w3], w3);
short!(mul_5, 5, [w0 w1 w2 w3 w4], [0 w0 w1 8 w1 w2 16 w2 w3 24 w3 w4], w4);
short!(mul_6, 6, [w0 w1 w2 w3 w4 w5], [0 w0 w1 8 w1 w2 16 w2 w3 24 w3 w4 32 w4 w5], w5);
short!(mul_7, 7, [w0 w1 w2 w3 w4 w5 w6],
    [0 w0 w1 8 w1 w2 16 w2 w3 24 w3 w4 32 w4 w5 40 w5 w6], w6);
short!(mul_8, 8, [w0 w1 w2 w3 w4 w5 w6 w7],
    [0 w0 w1 8 w1 w2 16 w2 w3 24 w3 w4 32 w4 w5 40 w5 w6 48 w6 w7], w7);
short!(mul_9, 9, [w0 w1 w2 w3 w4 w5 w6 w7 w8],
    [0 w0 w1 8 w1 w2 16 w2 w3 24 w3 w4 32 w4 w5 40 w5 w6 48 w6 w7 56 w7 w8], w8);

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
