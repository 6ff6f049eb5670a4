//! Multiplication by Toeplitz matrices of bytes.
//!
//! `b` is cut into columns of `R` bytes. Column `s` of the product is
//!
//! ```text
//! c[s] = sum over d of A[d] b[s - d],     A[d][r][k] = a[R d + r - k],   0 <= r, k < R
//! ```
//!
//! where `A[d]` has the same byte of `a` all along a diagonal (which makes it a Toeplitz matrix),
//! and zeros where `a` has no byte. An example in decimal digits with `R` = 2 is 1234 by 78, of one
//! column (8, 7).
//!
//! ```text
//! A[0] = (4 0)   c[0] = (32)     A[1] = (2 3)   c[1] = (37)     A[2] = (0 1)   c[2] = (7)
//!        (3 4)          (52)            (1 2)          (22)            (0 0)          (0)
//!
//! 32 + 520 + 3700 + 22000 + 70000 = 96252
//! ```
//!
//! Devices multiply all columns by a matrix at once. **Bound**: an entry is a sum of at most `R`
//! products of bytes for each column, which is below 2^64 for numbers of any width. **Cost**:
//! `16 n m` products of bytes, and half as many by zeros for each column. **Scratch**: one column.

use bigint_core::{LIMB_BITS, Limb};

/// The bytes of a column.
const COLUMN: usize = 32;

/// Computes `r = (a * b) mod 2^(32 w)`, column by column.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::mul::toeplitz(&mut r, &[u32::MAX], &[u32::MAX]);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn toeplitz(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let [a, b] = [a, b].map(bytes);
    let columns: Vec<&[u8]> = b.chunks(COLUMN).collect();
    let matrices = a.len().div_ceil(COLUMN) + 1;
    let mut carry = 0_u128;
    for (s, limbs) in r.chunks_mut(COLUMN / size_of::<Limb>()).enumerate() {
        let mut column = [0_u64; COLUMN];
        for d in 0..matrices.min(s + 1) {
            if let Some(of_b) = columns.get(s - d) {
                add_product(&mut column, &a, d, of_b);
            }
        }
        for (limb, sums) in limbs.iter_mut().zip(column.as_chunks::<4>().0) {
            let weighted = (0..).zip(sums).map(|(i, &sum)| u128::from(sum) << (8 * i));
            carry += weighted.sum::<u128>();
            *limb = carry as Limb;
            carry >>= LIMB_BITS;
        }
    }
}

/// Computes `c += A[d] b`.
fn add_product(c: &mut [u64; COLUMN], a: &[u8], d: usize, b: &[u8]) {
    for (r, c) in c.iter_mut().enumerate() {
        for (k, &y) in b.iter().enumerate() {
            let x = (COLUMN * d + r).checked_sub(k).and_then(|i| a.get(i));
            *c += u64::from(x.copied().unwrap_or(0)) * u64::from(y);
        }
    }
}

/// The bytes of a number, the lowest first.
fn bytes(limbs: &[Limb]) -> Vec<u8> {
    limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect()
}
