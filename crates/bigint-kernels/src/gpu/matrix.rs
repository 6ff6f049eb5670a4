//! Products of matrices of bytes, which tensor cores multiply for a whole warp, and what puts bytes
//! where they take them.

// The instruction has no name in Rust for the oldest target that the kernels are compiled for.
#![allow(unsafe_code)]

use super::warp::Group;
use core::arch::asm;

/// A part of a matrix of 16 rows and 32 columns of bytes. With `g = lane / 4` and `q = lane % 4` words 0
/// and 1 have bytes `4 q ..` of rows `g` and `g + 8`, and words 2 and 3 bytes `16 + 4 q ..` of the same.
pub type Left = [u32; 4];

/// A part of a matrix of 32 rows and 8 columns: word 0 has rows `4 q ..` of column `g`, word 1 rows
/// `16 + 4 q ..` of the same.
pub type Right = [u32; 2];

/// A part of a matrix of 16 rows and 8 columns of sums: row `g`, columns `2 q` and `2 q + 1`, and row
/// `g + 8`, likewise.
pub type Sums = [u32; 4];

/// `sums + left right`, of bytes from 0 to 255 and sums modulo 2^32. All lanes of the warp come here
/// together.
#[inline(always)]
pub fn multiply_add(_: Group<32>, sums: Sums, left: Left, right: Right) -> Sums {
    let [mut s0, mut s1, mut s2, mut s3] = sums;
    // SAFETY: register arithmetic; the group vouches that its warp is converged. Not `pure`: nobody
    // moves it into a branch.
    unsafe {
        asm!("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {{{s0}, {s1}, {s2}, {s3}}}, \
             {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, {{{s0}, {s1}, {s2}, {s3}}};",
            s0 = inout(reg32) s0, s1 = inout(reg32) s1, s2 = inout(reg32) s2, s3 = inout(reg32) s3,
            a0 = in(reg32) left[0], a1 = in(reg32) left[1],
            a2 = in(reg32) left[2], a3 = in(reg32) left[3],
            b0 = in(reg32) right[0], b1 = in(reg32) right[1],
            options(nomem, nostack, preserves_flags));
    }
    [s0, s1, s2, s3]
}

/// Four neighbouring bytes of eight, those of `high` above those of `low`, the highest first: byte `from`
/// comes lowest, and byte `from - 3` on top.
#[inline(always)]
pub fn reversed(low: u32, high: u32, from: usize) -> u32 {
    let bytes = 0x0123_u32 + 0x1111 * (from as u32 - 3);
    let word;
    // SAFETY: register arithmetic.
    unsafe {
        asm!("prmt.b32 {word}, {low}, {high}, {bytes};",
            word = out(reg32) word, low = in(reg32) low, high = in(reg32) high, bytes = in(reg32) bytes,
            options(pure, nomem, nostack, preserves_flags));
    }
    word
}
