//! The step from residues modulo four primes to the limbs of the product.
//!
//! **Mixed radix.** A coefficient `c` below `M = p0 p1 p2 p3` is `x0 + p0 (x1 + p1 (x2 + p2 x3))`
//! with `0 <= x_k < p_k` (Garner's method):
//!
//! ```text
//! x1 = (r1 - x0) / p0 mod p1    x2 = ((r2 - x0) / p0 - x1) / p1 mod p2    ...
//! ```
//!
//! **Columns.** With `H = 2^h` each coefficient is five pieces, `d0 + d1 H + .. + d4 H^4`, and
//! coefficient `i` has the weight `H^(2 i)`. So pieces `2 i` and `2 i + 1` of the product are, but
//! for carries,
//!
//! ```text
//! E_i = d0[i] + d2[i - 1] + d4[i - 2]        O_i = d1[i] + d3[i - 1]
//! ```
//!
//! Pieces may exceed `h` bits: a column of the vector form is below `2^53`, and a sum of columns
//! below `2^55`. The chain of carries takes the bits from `h` on. [`one_by_one`] works on any ring,
//! and `avx512_recombine` does eight coefficients together.

use super::field::{PRIMES, Ring, Row, Stored, inverse_mod, words};

/// The inverses that the mixed radix needs: `inverses[j][k] = 1/p_k mod p_j`.
pub(super) type Inverses = [[Stored; 3]; 4];

pub(super) fn inverses(stored: fn(u64, usize) -> Stored) -> Inverses {
    std::array::from_fn(|j| {
        std::array::from_fn(|k| {
            if k < j {
                stored(inverse_mod(PRIMES[k], PRIMES[j]), j)
            } else {
                [0; 2]
            }
        })
    })
}

/// The mixed-radix digits of coefficients, computed from residues in `[0, 2p)`.
#[inline(always)]
pub(super) fn mixed_radix<R: Ring>(
    rings: [R; 4],
    residues: [R::Residues; 4],
    inverses: &Inverses,
) -> [R::Integers; 4] {
    let mut digits = [rings[0].canonical(residues[0]); 4];
    for j in 1..4 {
        let mut x = residues[j];
        for k in 0..j {
            let difference = rings[j].sub2(x, rings[j].residues(digits[k]));
            x = rings[j].mul(difference, rings[j].factor(&inverses[j][k]));
        }
        digits[j] = rings[j].canonical(x);
    }
    digits
}

/// The products `p0 .. p_(k-1)` for `k = 1, 2, 3`, in limbs.
const PRODUCTS: [[u64; 3]; 3] = products();

const fn products() -> [[u64; 3]; 3] {
    let mut all = [[PRIMES[0], 0, 0]; 3];
    let mut k = 1;
    while k < 3 {
        let mut carry = 0;
        let mut i = 0;
        while i < 3 {
            let t = all[k - 1][i] as u128 * PRIMES[k] as u128 + carry;
            all[k][i] = t as u64;
            carry = t >> 64;
            i += 1;
        }
        k += 1;
    }
    all
}

/// The products `p0 .. p_(k-1)` in digits of `h` bits, each multiplied by `2^(52 - h)`. With that
/// factor the high half of a 52-bit product is its part from `2^h` on.
#[cfg(target_arch = "x86_64")]
pub(super) const fn scaled_products(h: u32) -> [[u64; 4]; 3] {
    let mut all = [[0; 4]; 3];
    let mut k = 0;
    while k < 3 {
        let mut i = 0;
        while i < 4 {
            let bit = h as usize * i;
            let limb = bit / 64;
            let low = if limb < 3 {
                PRODUCTS[k][limb] as u128
            } else {
                0
            };
            let high = if limb < 2 {
                PRODUCTS[k][limb + 1] as u128
            } else {
                0
            };
            let digit = ((low | high << 64) >> (bit % 64)) as u64 & ((1 << h) - 1);
            all[k][i] = digit << (52 - h);
            i += 1;
        }
        k += 1;
    }
    all
}

/// Computes the five pieces of eight coefficients from their mixed-radix digits.
#[inline(always)]
fn columns(digits: &[Row; 4], h: u32, columns: [&mut Row; 5]) {
    let mut pieces = [[0; 8]; 5];
    for lane in 0..8 {
        let x = [
            digits[0].0[lane],
            digits[1].0[lane],
            digits[2].0[lane],
            digits[3].0[lane],
        ];
        // Four limbs are enough, as c < 2^195.
        let mut c = [x[0], 0, 0, 0];
        for (k, product) in PRODUCTS.iter().enumerate() {
            let mut carry = 0;
            for i in 0..4 {
                let limb = if i <= k { product[i] } else { 0 };
                let t = u128::from(limb) * u128::from(x[k + 1]) + u128::from(c[i]) + carry;
                c[i] = t as u64;
                carry = t >> 64;
            }
        }
        for (i, pieces) in pieces.iter_mut().enumerate() {
            let bit = h as usize * i;
            let low = if bit < 256 { c[bit / 64] } else { 0 };
            let high = if bit < 192 { c[bit / 64 + 1] } else { 0 };
            let two = u128::from(low) | u128::from(high) << 64;
            pieces[lane] = (two >> (bit % 64)) as u64 & ((1 << h) - 1);
        }
    }
    for (column, piece) in columns.into_iter().zip(pieces) {
        column.0 = piece;
    }
}

/// The limbs that a range of coefficients reaches beyond its own limbs.
pub(super) type Overflow = [u64; 3];

/// The rows that are taken together: their 32 coefficients are `h` whole limbs.
pub(super) const GROUP: usize = 4;

/// Makes limbs of residues, coefficient by coefficient.
#[inline(always)]
pub(super) fn one_by_one<R: Ring>(
    rings: [R; 4],
    residues: [&[Row]; 4],
    inverses: &Inverses,
    h: u32,
    out: &mut [u64],
) -> Overflow {
    debug_assert!(residues[0].len().is_multiple_of(GROUP));
    let mask = (1 << h) - 1;
    // The columns of a group stand after those of the last row of the group before.
    let mut pieces = [[Row::ZERO; 1 + GROUP]; 5];
    let mut carry = 0u64;
    let mut out = out.iter_mut();
    let mut push = |limb| {
        if let Some(to) = out.next() {
            *to = limb;
        }
    };
    for group in (0..residues[0].len()).step_by(GROUP) {
        for row in 0..GROUP {
            let at = group + row;
            let [d0, d1, d2, d3, d4] = &mut pieces;
            let row = 1 + row;
            let columns = [
                &mut d0[row],
                &mut d1[row],
                &mut d2[row],
                &mut d3[row],
                &mut d4[row],
            ];
            let mut rows = [Row::ZERO; 4];
            for part in 0..R::PARTS {
                let loaded = std::array::from_fn(|k| rings[k].load(part, &residues[k][at]));
                let digits = mixed_radix(rings, loaded, inverses);
                for (row, x) in rows.iter_mut().zip(digits) {
                    rings[0].store_integers(part, row, x);
                }
            }
            self::columns(&rows, h, columns);
        }
        let [d0, d1, d2, d3, d4] = &pieces;
        let (d0, d1, d2): ([u64; 40], _, _) = (words(d0), words::<_, 40>(d1), words::<_, 40>(d2));
        let (d3, d4) = (words::<_, 40>(d3), words::<_, 40>(d4));
        let mut window = 0u128;
        let mut filled = 0;
        let mut append = |piece: u64| {
            window |= u128::from(piece) << filled;
            filled += h;
            if filled >= 64 {
                push(window as u64);
                window >>= 64;
                filled -= 64;
            }
        };
        for i in 8..8 * (1 + GROUP) {
            let even = d0[i] + d2[i - 1] + d4[i - 2] + carry;
            let odd = d1[i] + d3[i - 1] + (even >> h);
            append(even & mask);
            append(odd & mask);
            carry = odd >> h;
        }
        for column in &mut pieces {
            column[0] = column[GROUP];
        }
    }
    let last = &pieces;
    overflow(
        h,
        last[2][0].0[7] + last[4][0].0[6] + carry,
        last[3][0].0[7],
        last[4][0].0[7],
    )
}

/// The limbs of `e0 + o0 2^h + e1 2^2h`. These are the pieces that remain after the last
/// coefficients, each below `2^56`.
#[inline(always)]
pub(super) fn overflow(h: u32, e0: u64, o0: u64, e1: u64) -> Overflow {
    let low = u128::from(e0) + (u128::from(o0) << h);
    let middle = (low >> 64) + (u128::from(e1) << (2 * h - 64));
    [low as u64, middle as u64, (middle >> 64) as u64]
}
