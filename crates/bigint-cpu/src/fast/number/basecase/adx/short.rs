//! Products and squares of up to eight limbs, in straight-line code with the running sum in
//! registers. A sum in memory would be stored and loaded once for every row, and rows as short as
//! these would wait for that.
#![allow(unsafe_code)]

use std::arch::asm;

use super::super::super::isa::Avx2;

/// The limbs of the longest operands.
pub(in super::super) const MAX_LIMBS: usize = 8;

/// Computes `r = a b` for two operands of the same length, from 1 to [`MAX_LIMBS`] limbs.
#[inline(never)]
pub(in super::super) fn mul_short(r: &mut [u64], a: &[u64], b: &[u64], token: Avx2) {
    match a.len() {
        1 => mul_1(r, a, b, token),
        2 => mul_2(r, a, b, token),
        3 => mul_3(r, a, b, token),
        4 => mul_4(r, a, b, token),
        5 => mul_5(r, a, b, token),
        6 => mul_6(r, a, b, token),
        7 => mul_7(r, a, b, token),
        8 => mul_8(r, a, b, token),
        n => unreachable!("{n} limbs are not few"),
    }
}

/// Computes `r = a^2` for 1 to [`MAX_LIMBS`] limbs.
#[inline(never)]
pub(in super::super) fn square_short(r: &mut [u64], a: &[u64], token: Avx2) {
    match a.len() {
        1 => mul_1(r, a, a, token),
        2 => square_2(r, a, token),
        3 => square_3(r, a, token),
        4 => square_4(r, a, token),
        5 => square_5(r, a, token),
        6 => square_6(r, a, token),
        7 => square_7(r, a, token),
        8 => square_8(r, a, token),
        n => unreachable!("{n} limbs are not few"),
    }
}

/// Rows of a fixed length. `first(a, y)` is the lowest limb of `a y` and the limbs above it.
/// `row(w, a, y)` is the same of `w + a y`.
///
/// Low halves go through CF at their own limb, and high halves through OF one limb higher. The last
/// high half takes both carries and is the new top. For two limbs `row` is
///
/// ```text
/// xor  l, l                  mulx h, l, [a]        adcx w0, l     adox w1, h
///                            mulx t, l, [a + 8]    adcx w1, l
/// mov  l, 0                  adcx t, l             adox t, l
/// ```
macro_rules! rows_of {
    ($n:literal, $first:ident, $row:ident, [$($w:ident)*],
     $w0:ident $w1:ident, [$($low:ident $high:ident $at:literal)*], $last:ident $top:literal) => {
        #[inline(always)]
        fn $first(a: &[u64; $n], y: u64, _token: Avx2) -> (u64, [u64; $n]) {
            $(let $w: u64;)*
            let top: u64;
            // SAFETY: the token proves BMI2 and ADX. `a` has N limbs, which are read, and nothing
            // else is. The stack is not used.
            unsafe {
                asm!(
                    "xor {l:e}, {l:e}", // clears CF
                    concat!("mulx {", stringify!($w1), "}, {", stringify!($w0), "}, [{a}]"),
                    $(
                        concat!("mulx {", stringify!($high), "}, {l}, [{a} + ", $at, "]"),
                        concat!("adc {", stringify!($low), "}, {l}"),
                    )*
                    concat!("mulx {t}, {l}, [{a} + ", $top, "]"),
                    concat!("adc {", stringify!($last), "}, {l}"),
                    "adc {t}, 0",
                    a = in(reg) a.as_ptr(),
                    l = out(reg) _,
                    t = out(reg) top,
                    $($w = out(reg) $w,)*
                    in("rdx") y,
                    options(nostack, readonly),
                );
            }
            let [lowest, rest @ ..] = [$($w,)* top];
            (lowest, rest)
        }

        #[inline(always)]
        fn $row(w: [u64; $n], a: &[u64; $n], y: u64, _token: Avx2) -> (u64, [u64; $n]) {
            let [$(mut $w),*] = w;
            let top: u64;
            // SAFETY: as for the first row.
            unsafe {
                asm!(
                    "xor {l:e}, {l:e}", // clears CF and OF
                    "mulx {t}, {l}, [{a}]",
                    concat!("adcx {", stringify!($w0), "}, {l}"),
                    concat!("adox {", stringify!($w1), "}, {t}"),
                    $(
                        concat!("mulx {t}, {l}, [{a} + ", $at, "]"),
                        concat!("adcx {", stringify!($low), "}, {l}"),
                        concat!("adox {", stringify!($high), "}, {t}"),
                    )*
                    concat!("mulx {t}, {l}, [{a} + ", $top, "]"),
                    concat!("adcx {", stringify!($last), "}, {l}"),
                    "mov {l:e}, 0", // keeps the flags, unlike xor
                    "adcx {t}, {l}",
                    "adox {t}, {l}",
                    a = in(reg) a.as_ptr(),
                    l = out(reg) _,
                    t = out(reg) top,
                    $($w = inout(reg) $w,)*
                    in("rdx") y,
                    options(nostack, readonly),
                );
            }
            let [lowest, rest @ ..] = [$($w,)* top];
            (lowest, rest)
        }
    };
}

#[inline(always)]
fn first_1([x]: &[u64; 1], y: u64, _token: Avx2) -> (u64, [u64; 1]) {
    let product = u128::from(*x) * u128::from(y);
    (product as u64, [(product >> 64) as u64])
}

#[inline(always)]
fn row_1([w]: [u64; 1], [x]: &[u64; 1], y: u64, _token: Avx2) -> (u64, [u64; 1]) {
    let sum = u128::from(*x) * u128::from(y) + u128::from(w);
    (sum as u64, [(sum >> 64) as u64])
}

rows_of!(2, first_2, row_2, [w0 w1], w0 w1, [], w1 8);
rows_of!(3, first_3, row_3, [w0 w1 w2], w0 w1, [w1 w2 8], w2 16);
rows_of!(4, first_4, row_4, [w0 w1 w2 w3], w0 w1, [w1 w2 8 w2 w3 16], w3 24);
rows_of!(5, first_5, row_5, [w0 w1 w2 w3 w4], w0 w1, [w1 w2 8 w2 w3 16 w3 w4 24], w4 32);
rows_of!(6, first_6, row_6, [w0 w1 w2 w3 w4 w5],
    w0 w1, [w1 w2 8 w2 w3 16 w3 w4 24 w4 w5 32], w5 40);
rows_of!(7, first_7, row_7, [w0 w1 w2 w3 w4 w5 w6],
    w0 w1, [w1 w2 8 w2 w3 16 w3 w4 24 w4 w5 32 w5 w6 40], w6 48);
rows_of!(8, first_8, row_8, [w0 w1 w2 w3 w4 w5 w6 w7],
    w0 w1, [w1 w2 8 w2 w3 16 w3 w4 24 w4 w5 32 w5 w6 40 w6 w7 48], w7 56);

/// Products of `N` limbs by `N`, with one row for each limb of `b`. Each row finishes its lowest
/// limb.
macro_rules! mul_of {
    ($name:ident, $n:literal, $first:ident, $row:ident, [$($j:literal)*]) => {
        #[inline(always)]
        fn $name(r: &mut [u64], a: &[u64], b: &[u64], token: Avx2) {
            let (a, b): (&[u64; $n], &[u64; $n]) = (fixed(a), fixed(b));
            let r: &mut [u64; 2 * $n] = fixed_mut(r);
            let (limb, w) = $first(a, b[0], token);
            r[0] = limb;
            $(
                let (limb, w) = $row(w, a, b[$j], token);
                r[$j] = limb;
            )*
            for (r, w) in r[$n..].iter_mut().zip(w) {
                *r = w;
            }
        }
    };
}

mul_of!(mul_1, 1, first_1, row_1, []);
mul_of!(mul_2, 2, first_2, row_2, [1]);
mul_of!(mul_3, 3, first_3, row_3, [1 2]);
mul_of!(mul_4, 4, first_4, row_4, [1 2 3]);
mul_of!(mul_5, 5, first_5, row_5, [1 2 3 4]);
mul_of!(mul_6, 6, first_6, row_6, [1 2 3 4 5]);
mul_of!(mul_7, 7, first_7, row_7, [1 2 3 4 5 6]);
mul_of!(mul_8, 8, first_8, row_8, [1 2 3 4 5 6 7]);

/// Squares of `N` limbs. Row `i` is `a_i` times the limbs above it, and finishes limbs `2 i + 1`
/// and `2 i + 2`. Then the sum is doubled and the squares are added.
macro_rules! square_of {
    ($name:ident, $n:literal, $first:ident, [$($row:ident $i:literal)*], $all:literal) => {
        #[inline(always)]
        fn $name(r: &mut [u64], a: &[u64], token: Avx2) {
            let a: &[u64; $n] = fixed(a);
            let r: &mut [u64; 2 * $n] = fixed_mut(r);
            let (_, above) = a.split_first().expect("a square has limbs");
            let (odd, w) = $first(fixed(above), a[0], token);
            r[1] = odd;
            $(
                let [even, w @ ..] = w;
                let (_, above) = above.split_first().expect("rows end at the last limb");
                let (odd, w) = $row(w, fixed(above), a[$i], token);
                (r[2 * $i], r[2 * $i + 1]) = (even, odd);
            )*
            let [top] = w;
            r[2 * $n - 2] = top;
            (r[0], r[2 * $n - 1]) = (0, 0);
            // SAFETY: the token proves BMI2 and ADX. N limbs of `a` are read, and 2 N limbs of `r`
            // read and written. The stack is not used.
            unsafe {
                asm!(
                    "xor {l:e}, {l:e}", // clears CF and OF
                    concat!(".irp i, ", $all),
                    "mov rdx, [{a} + 8 * \\i]",
                    "mulx {h}, {l}, rdx",
                    "mov {t}, [{r} + 16 * \\i]",
                    "adcx {t}, {t}",
                    "adox {t}, {l}",
                    "mov [{r} + 16 * \\i], {t}",
                    "mov {t}, [{r} + 16 * \\i + 8]",
                    "adcx {t}, {t}",
                    "adox {t}, {h}",
                    "mov [{r} + 16 * \\i + 8], {t}",
                    ".endr",
                    a = in(reg) a.as_ptr(),
                    r = in(reg) r.as_mut_ptr(),
                    l = out(reg) _,
                    h = out(reg) _,
                    t = out(reg) _,
                    out("rdx") _,
                    options(nostack),
                );
            }
        }
    };
}

square_of!(square_2, 2, first_1, [], "0,1");
square_of!(square_3, 3, first_2, [row_1 1], "0,1,2");
square_of!(square_4, 4, first_3, [row_2 1 row_1 2], "0,1,2,3");
square_of!(square_5, 5, first_4, [row_3 1 row_2 2 row_1 3], "0,1,2,3,4");
square_of!(square_6, 6, first_5, [row_4 1 row_3 2 row_2 3 row_1 4], "0,1,2,3,4,5");
square_of!(square_7, 7, first_6, [row_5 1 row_4 2 row_3 3 row_2 4 row_1 5], "0,1,2,3,4,5,6");
square_of!(square_8, 8, first_7,
    [row_6 1 row_5 2 row_4 3 row_3 4 row_2 5 row_1 6], "0,1,2,3,4,5,6,7");

/// The limbs as an array, for a known number of them.
#[inline(always)]
fn fixed<const N: usize>(limbs: &[u64]) -> &[u64; N] {
    limbs.try_into().expect("the caller matched the length")
}

/// The limbs as an array for writing, as for [`fixed`].
#[inline(always)]
fn fixed_mut<const N: usize>(limbs: &mut [u64]) -> &mut [u64; N] {
    limbs
        .try_into()
        .expect("a product is as long as both operands")
}
