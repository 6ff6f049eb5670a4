//! Products of matrices of bytes by warpgroups, which are four warps that follow one another: each has sixteen rows
//! on the left in registers, and they share the columns on the right, which the tensor cores read from shared
//! memory by themselves. For devices of compute capability 9.0.
//!
//! A product runs while the warp goes on. Between [`begin`] and [`wait`] nobody touches what it reads or
//! makes, but for the next product that adds to it.

// Rust has no word for the instructions.
#![allow(unsafe_code)]

use super::matrix::Left;
use core::arch::asm;

/// A lane's sums of 32 columns: four times [`Sums`](super::matrix::Sums).
pub type WideSums = [u32; 16];

/// 32 rows of some columns of bytes in shared memory. Eight columns have sixteen bytes each, one column
/// after the other, then the next sixteen bytes of each; the next eight columns follow.
#[derive(Clone, Copy)]
pub struct Columns(u64);

impl Columns {
    /// Bytes of a column's half of 32.
    const EIGHT: u64 = 8 * 16;

    /// Those at an address of shared memory, a multiple of 16.
    #[inline(always)]
    pub(super) fn at(address: u32) -> Self {
        let sixteens = |bytes: u64| bytes / 16;
        Columns(
            u64::from(address / 16) | sixteens(Self::EIGHT) << 16 | sixteens(2 * Self::EIGHT) << 32,
        )
    }

    /// Those so many bytes further on, a multiple of 16.
    #[inline(always)]
    pub fn up(self, bytes: u32) -> Self {
        Columns(self.0 + u64::from(bytes / 16))
    }
}

/// Functions that begin a sum, and that add to it: of so many times 32 columns.
macro_rules! products {
    ($($first:ident $next:ident $pairs:literal $shape:literal
        ($d:ident $p:literal $i:literal) $(($ds:ident $ps:literal $is:literal))*;)*) => {$(
        #[inline(always)]
        fn $first<const N: usize>(sums: &mut [WideSums; N], left: Left, columns: Columns) {
            // SAFETY: registers, and shared memory by the contract of `multiply_add`.
            unsafe {
                asm!("{{",
                    ".reg .pred adds;",
                    "setp.ne.u32 adds, 0, 0;",
                    concat!("wgmma.mma_async.sync.aligned.m64n", $shape, "k32.s32.u8.s8 {{",
                        "{", stringify!($d), "}", $(",{", stringify!($ds), "}",)*
                        "}}, {{{a0}, {a1}, {a2}, {a3}}}, {columns}, adds;"),
                    "}}",
                    $d = out(reg32) sums[$p][$i], $($ds = out(reg32) sums[$ps][$is],)*
                    a0 = in(reg32) left[0], a1 = in(reg32) left[1],
                    a2 = in(reg32) left[2], a3 = in(reg32) left[3],
                    columns = in(reg64) columns.0,
                    options(readonly, nostack));
            }
        }

        #[inline(always)]
        fn $next<const N: usize>(sums: &mut [WideSums; N], left: Left, columns: Columns) {
            // SAFETY: as before.
            unsafe {
                asm!("{{",
                    ".reg .pred adds;",
                    "setp.eq.u32 adds, 0, 0;",
                    concat!("wgmma.mma_async.sync.aligned.m64n", $shape, "k32.s32.u8.s8 {{",
                        "{", stringify!($d), "}", $(",{", stringify!($ds), "}",)*
                        "}}, {{{a0}, {a1}, {a2}, {a3}}}, {columns}, adds;"),
                    "}}",
                    $d = inout(reg32) sums[$p][$i], $($ds = inout(reg32) sums[$ps][$is],)*
                    a0 = in(reg32) left[0], a1 = in(reg32) left[1],
                    a2 = in(reg32) left[2], a3 = in(reg32) left[3],
                    columns = in(reg64) columns.0,
                    options(readonly, nostack));
            }
        }
    )*};
}

products! {
    first_1 next_1 1 "32"
        (d0 0 0) (d1 0 1) (d2 0 2) (d3 0 3) (d4 0 4) (d5 0 5) (d6 0 6) (d7 0 7)
        (d8 0 8) (d9 0 9) (da 0 10) (db 0 11) (dc 0 12) (dd 0 13) (de 0 14) (df 0 15);
    first_2 next_2 2 "64"
        (d0 0 0) (d1 0 1) (d2 0 2) (d3 0 3) (d4 0 4) (d5 0 5) (d6 0 6) (d7 0 7)
        (d8 0 8) (d9 0 9) (da 0 10) (db 0 11) (dc 0 12) (dd 0 13) (de 0 14) (df 0 15)
        (e0 1 0) (e1 1 1) (e2 1 2) (e3 1 3) (e4 1 4) (e5 1 5) (e6 1 6) (e7 1 7)
        (e8 1 8) (e9 1 9) (ea 1 10) (eb 1 11) (ec 1 12) (ed 1 13) (ee 1 14) (ef 1 15);
    first_3 next_3 3 "96"
        (d0 0 0) (d1 0 1) (d2 0 2) (d3 0 3) (d4 0 4) (d5 0 5) (d6 0 6) (d7 0 7)
        (d8 0 8) (d9 0 9) (da 0 10) (db 0 11) (dc 0 12) (dd 0 13) (de 0 14) (df 0 15)
        (e0 1 0) (e1 1 1) (e2 1 2) (e3 1 3) (e4 1 4) (e5 1 5) (e6 1 6) (e7 1 7)
        (e8 1 8) (e9 1 9) (ea 1 10) (eb 1 11) (ec 1 12) (ed 1 13) (ee 1 14) (ef 1 15)
        (f0 2 0) (f1 2 1) (f2 2 2) (f3 2 3) (f4 2 4) (f5 2 5) (f6 2 6) (f7 2 7)
        (f8 2 8) (f9 2 9) (fa 2 10) (fb 2 11) (fc 2 12) (fd 2 13) (fe 2 14) (ff 2 15);
}

/// Begins a product: what registers and copies hold by now is what it reads. All lanes of the warpgroup
/// come here together, and to what follows.
#[inline(always)]
pub fn begin() {
    // SAFETY: orders registers.
    unsafe {
        asm!(
            "wgmma.fence.sync.aligned;",
            options(nostack, preserves_flags)
        )
    }
}

/// Sets the first `count` sums, at most three and `N`, to `left` times 32 rows of as many times 32 columns of
/// bytes with signs, or `adds` that to them, modulo 2^32.
#[inline(always)]
pub fn multiply_add<const N: usize>(
    sums: &mut [WideSums; N],
    count: u32,
    left: Left,
    columns: Columns,
    adds: bool,
) {
    match (count, adds) {
        (1, false) => first_1(sums, left, columns),
        (1, true) => next_1(sums, left, columns),
        (2, false) => first_2(sums, left, columns),
        (2, true) => next_2(sums, left, columns),
        (_, false) => first_3(sums, left, columns),
        (_, true) => next_3(sums, left, columns),
    }
}

/// Ends what is asked for of a product.
#[inline(always)]
pub fn commit() {
    // SAFETY: as in `begin`.
    unsafe {
        asm!(
            "wgmma.commit_group.sync.aligned;",
            options(nostack, preserves_flags)
        );
    }
}

/// Waits for all products but what was asked for last: what the others read may be written then.
#[inline(always)]
pub fn wait_but_last() {
    // SAFETY: as in `begin`.
    unsafe {
        asm!(
            "wgmma.wait_group.sync.aligned 1;",
            options(nostack, preserves_flags)
        );
    }
}

/// Waits for all products, whose sums are there then: the first `count`.
#[inline(always)]
pub fn wait<const N: usize>(sums: [WideSums; N], count: usize) -> [WideSums; N] {
    // SAFETY: as in `begin`.
    unsafe {
        asm!(
            "wgmma.wait_group.sync.aligned 0;",
            options(nostack, preserves_flags)
        );
    }
    let mut at = 0;
    sums.map(
        #[inline(always)]
        |sums| {
            at += 1;
            if at > count {
                return sums;
            }
            let [
                mut a,
                mut b,
                mut c,
                mut d,
                mut e,
                mut f,
                mut g,
                mut h,
                rest @ ..,
            ] = sums;
            let [mut i, mut j, mut k, mut l, mut m, mut n, mut o, mut p] = rest;
            // SAFETY: does nothing. Nobody reads the registers before.
            unsafe {
                asm!("//{a}{b}{c}{d}{e}{f}{g}{h}{i}{j}{k}{l}{m}{n}{o}{p}",
                    a = inout(reg32) a, b = inout(reg32) b, c = inout(reg32) c, d = inout(reg32) d,
                    e = inout(reg32) e, f = inout(reg32) f, g = inout(reg32) g, h = inout(reg32) h,
                    i = inout(reg32) i, j = inout(reg32) j, k = inout(reg32) k, l = inout(reg32) l,
                    m = inout(reg32) m, n = inout(reg32) n, o = inout(reg32) o, p = inout(reg32) p,
                    options(nostack, preserves_flags));
            }
            [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
        },
    )
}

/// Leaves so many registers to each thread of the calling warpgroup, fewer than it had and a multiple of 8. All of its warps
/// come here.
#[inline(always)]
pub fn less_registers<const REGISTERS: u32>() {
    // SAFETY: who needs more is not compiled.
    unsafe {
        asm!("setmaxnreg.dec.sync.aligned.u32 {registers};", registers = const REGISTERS, options(nostack));
    }
}

/// Waits for so many registers for each thread of the calling warpgroup, more than it had and a multiple of 8. All of its
/// warps come here.
#[inline(always)]
pub fn more_registers<const REGISTERS: u32>() {
    // SAFETY: the others leave them.
    unsafe {
        asm!("setmaxnreg.inc.sync.aligned.u32 {registers};", registers = const REGISTERS, options(nostack));
    }
}
