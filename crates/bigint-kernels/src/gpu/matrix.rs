//! Products of matrices of bytes, which tensor cores compute for a whole warp, and the permutation of
//! bytes that prepares their operands.

// Rust has no intrinsic for the instruction on the oldest target for which the kernels are compiled.
#![allow(unsafe_code)]

use super::warp::Group;
use core::arch::asm;

/// A lane's part of a matrix of 16 rows and 32 columns of bytes. Let `g = lane / 4` and `q = lane % 4`.
/// Words 0 and 1 hold bytes `4 q .. 4 q + 4` of rows `g` and `g + 8`, words 2 and 3 bytes
/// `16 + 4 q .. 20 + 4 q` of the same rows.
pub type Left = [u32; 4];

/// A lane's part of a matrix of 32 rows and 8 columns of bytes. Word 0 holds rows `4 q .. 4 q + 4` of
/// column `g`, word 1 rows `16 + 4 q .. 20 + 4 q` of the same column.
pub type Right = [u32; 2];

/// A lane's part of a matrix of 16 rows and 8 columns of sums: columns `2 q` and `2 q + 1` of row `g`,
/// then of row `g + 8`.
pub type Sums = [u32; 4];

/// A function that multiplies matrices whose right bytes are of this type.
macro_rules! multiply_add {
    ($(#[$doc:meta])* $name:ident $right:literal) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(_: Group<32>, sums: Sums, left: Left, right: Right) -> Sums {
            let [mut s0, mut s1, mut s2, mut s3] = sums;
            // SAFETY: register arithmetic; the group vouches that its warp is converged. Not `pure`:
            // nobody moves it into a branch.
            unsafe {
                asm!(concat!("mma.sync.aligned.m16n8k32.row.col.s32.u8.", $right, ".s32 \
                     {{{s0}, {s1}, {s2}, {s3}}}, {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, \
                     {{{s0}, {s1}, {s2}, {s3}}};"),
                    s0 = inout(reg32) s0, s1 = inout(reg32) s1,
                    s2 = inout(reg32) s2, s3 = inout(reg32) s3,
                    a0 = in(reg32) left[0], a1 = in(reg32) left[1],
                    a2 = in(reg32) left[2], a3 = in(reg32) left[3],
                    b0 = in(reg32) right[0], b1 = in(reg32) right[1],
                    options(nomem, nostack, preserves_flags));
            }
            [s0, s1, s2, s3]
        }
    };
}

multiply_add! {
    /// `sums + left right`, of bytes from 0 to 255 and sums modulo 2^32. All lanes of the warp come
    /// here together.
    multiply_add "u8"
}

multiply_add! {
    /// The same where bytes on the right are from -128 to 127.
    multiply_add_signed "s8"
}

/// Four of the eight bytes of `high` above `low`: hexadecimal digit `i` of `order` says which is byte `i`.
#[inline(always)]
pub fn permuted(low: u32, high: u32, order: u32) -> u32 {
    let word;
    // SAFETY: register arithmetic.
    unsafe {
        asm!("prmt.b32 {word}, {low}, {high}, {order};",
            word = out(reg32) word, low = in(reg32) low, high = in(reg32) high, order = in(reg32) order,
            options(pure, nomem, nostack, preserves_flags));
    }
    word
}
