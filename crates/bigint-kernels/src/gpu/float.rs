//! Arithmetic in FP64. Every operation rounds once to nearest, ties to even.
//!
//! Rust's own `+`, `-` and `*` become `add.rn`, `sub.rn` and `mul.rn`, which no later compiler
//! contracts. This file adds the fused operation, approximations, and tables of roots.

// The intrinsic is a foreign function, and roots are loaded from addresses.
#![allow(unsafe_code)]

use core::arch::asm;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.fma.f64"]
    fn fused(x: f64, y: f64, z: f64) -> f64;
    #[link_name = "llvm.sqrt.f64"]
    fn square_root(x: f64) -> f64;
    #[link_name = "llvm.nvvm.rcp.approx.ftz.d"]
    fn approximate_reciprocal(x: f64) -> f64;
}

/// `x y + z`, rounded once.
#[inline(always)]
pub fn multiply_add(x: f64, y: f64, z: f64) -> f64 {
    // SAFETY: register arithmetic only.
    unsafe { fused(x, y, z) }
}

/// A whole number below 2^32 as a double. It uses no conversion, as those are slow.
#[inline(always)]
pub fn whole(x: u32) -> f64 {
    const TWO_52: u64 = 0x4330 << 48;
    f64::from_bits(TWO_52 | u64::from(x)) - f64::from_bits(TWO_52)
}

/// A whole number from -2^31 to 2^31 - 1 as a double.
#[inline(always)]
pub fn signed(x: i32) -> f64 {
    const TWO_52: u64 = 0x4330 << 48;
    const TWO_31: u32 = 1 << 31;
    f64::from_bits(TWO_52 | u64::from(x as u32 ^ TWO_31))
        - f64::from_bits(TWO_52 | u64::from(TWO_31))
}

/// The whole number nearest to `x scale`, ties to even, in two's complement, plus
/// [`NEAREST_OFFSET`]. The product is below 2^51 in size. It is rounded once.
#[inline(always)]
pub fn nearest(x: f64, scale: f64) -> u64 {
    multiply_add(x, scale, f64::from_bits(NEAREST_OFFSET)).to_bits()
}

/// The bits of the double `3 2^51`, whose last bit has weight 1.
pub const NEAREST_OFFSET: u64 = 0x4338 << 48;

/// A table of complex numbers in device memory that no thread writes.
#[derive(Clone, Copy)]
pub struct Roots {
    address: u64,
}

impl Roots {
    /// The table at `address`, a multiple of 16.
    ///
    /// # Safety
    /// The table stays allocated and unchanged while the kernel runs, and has every place that is
    /// read.
    #[inline(always)]
    pub unsafe fn new(address: u64) -> Self {
        Roots { address }
    }

    /// The table from place `by` on. (If a place is the sum of a variable and a constant, two
    /// calls, the variable first, let the compiler share one address for all the constants.)
    #[inline(always)]
    pub fn up(self, by: u32) -> Self {
        Roots {
            address: self.address + 16 * u64::from(by),
        }
    }

    /// The real and the imaginary part at place `at`.
    #[inline(always)]
    pub fn at(self, at: u32) -> [f64; 2] {
        let (re, im);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.global.nc.v2.f64 {{{re}, {im}}}, [{address}];",
                re = out(reg64) re, im = out(reg64) im,
                address = in(reg64) self.address + 16 * u64::from(at),
                options(pure, nomem, nostack, preserves_flags));
        }
        [re, im]
    }
}

/// The square root of `x`, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f64) -> f64 {
    // SAFETY: register arithmetic only.
    unsafe { square_root(x) }
}

/// `1 / x` within a relative error of `2^-19`, by one instruction. The lower 32 bits are zero.
#[inline(always)]
pub fn reciprocal(x: f64) -> f64 {
    // SAFETY: register arithmetic only.
    unsafe { approximate_reciprocal(x) }
}

/// `x` as a float of 32 bits, within a relative error of `2^-23` if it is at least `2^32` in size.
#[inline(always)]
pub fn short(x: i64) -> f32 {
    // A conversion of 64 bits would be as slow as doubles are.
    const TWO_32: f32 = 4_294_967_296.0;
    ((x >> 32) as i32 as f32) * TWO_32 + (x as u32 as f32)
}

/// `1 / x` for a float of 32 bits, within a relative error of `2^-22`.
#[inline(always)]
pub fn short_reciprocal(x: f32) -> f32 {
    let reciprocal;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("rcp.approx.ftz.f32 {r}, {x};", r = out(reg32) reciprocal, x = in(reg32) x,
            options(pure, nomem, nostack));
    }
    reciprocal
}

/// The integer nearest to `x`.
#[inline(always)]
pub fn nearest_integer(x: f32) -> i32 {
    let nearest;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("cvt.rni.s32.f32 {r}, {x};", r = out(reg32) nearest, x = in(reg32) x,
            options(pure, nomem, nostack));
    }
    nearest
}

/// The number `3 2^51`. Adding it to a double below 2^31 in size, and subtracting it again, rounds
/// the double to an integer. Before the subtraction the lower 32 bits are that integer.
pub const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// A step of Euclid's algorithm: replaces `x` by `x - t y`, where `t` is about the nearest integer
/// to `x / y`, of up to 26 bits. `x` is a combination of two numbers with the cofactors `[u, v]`,
/// and `y` one with `[p, q]`; the cofactors of `x` are replaced with it. The step changes nothing
/// if the [upper half](upper) of `y` is below `least`.
///
/// Cofactors are integers: multiplying them as doubles would take as long, and the unit for
/// doubles has enough to do.
#[inline(always)]
pub fn euclid(
    mut x: f64,
    [mut u, mut v]: [i32; 2],
    y: f64,
    [p, q]: [i32; 2],
    least: u32,
) -> (f64, [i32; 2]) {
    // SAFETY: register arithmetic only.
    unsafe {
        asm!(
            "{{",
            ".reg .pred is_enough;",
            ".reg .b32 low, high;",
            ".reg .b64 t, reciprocal;",
            // Upper halves of positive doubles are compared as floats of 32 bits, which have the
            // same order.
            "mov.b64 {{low, high}}, {y};",
            "abs.f32 high, high;",
            "setp.ge.f32 is_enough, high, {least};",
            "rcp.approx.ftz.f64 reciprocal, {y};",
            "mov.b64 {{low, high}}, reciprocal;",
            "selp.b32 high, high, 0, is_enough;",
            "mov.b64 reciprocal, {{low, high}};",
            "neg.f64 t, {x};",
            "fma.rn.f64 t, t, reciprocal, {rounding};",
            "mov.b64 {{low, high}}, t;",
            "sub.rn.f64 t, t, {rounding};",
            "fma.rn.f64 {x}, t, {y}, {x};",
            "mad.lo.s32 {u}, low, {p}, {u};",
            "mad.lo.s32 {v}, low, {q}, {v};",
            "}}",
            x = inout(reg64) x,
            u = inout(reg32) u,
            v = inout(reg32) v,
            y = in(reg64) y,
            p = in(reg32) p,
            q = in(reg32) q,
            least = in(reg32) least,
            rounding = in(reg64) ROUNDING,
            options(pure, nomem, nostack)
        );
    }
    (x, [u, v])
}

/// The upper 32 bits of `|x|`, which have the same order as `|x|`.
#[inline(always)]
pub fn upper(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32 & 0x7fff_ffff
}

/// Doubles in device memory that threads read and write, in pairs or one by one.
#[derive(Clone, Copy)]
pub struct Pairs {
    address: u64,
}

impl Pairs {
    /// The doubles from `address` on, a multiple of 16.
    ///
    /// # Safety
    /// The memory stays allocated while the kernel runs, and has every place that is read or set.
    /// No thread reads or writes what another one writes, unless a barrier of their block is in
    /// between.
    #[inline(always)]
    pub unsafe fn new(address: u64) -> Self {
        Pairs { address }
    }

    /// The pairs from pair `by` on.
    #[inline(always)]
    pub fn up(self, by: u32) -> Self {
        Pairs {
            address: self.address + 16 * u64::from(by),
        }
    }

    /// Pair `at`.
    #[inline(always)]
    pub fn pair(self, at: u32) -> [f64; 2] {
        let (x, y);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.global.v2.f64 {{{x}, {y}}}, [{address}];",
                x = out(reg64) x, y = out(reg64) y,
                address = in(reg64) self.address + 16 * u64::from(at),
                options(pure, readonly, nostack, preserves_flags));
        }
        [x, y]
    }

    /// Sets pair `at`.
    #[inline(always)]
    pub fn set_pair(self, at: u32, [x, y]: [f64; 2]) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.global.v2.f64 [{address}], {{{x}, {y}}};",
                x = in(reg64) x, y = in(reg64) y,
                address = in(reg64) self.address + 16 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// Double `at`, where `at` counts doubles and not pairs.
    #[inline(always)]
    pub fn double(self, at: u32) -> f64 {
        let x;
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.global.f64 {x}, [{address}];", x = out(reg64) x,
                address = in(reg64) self.address + 8 * u64::from(at),
                options(pure, readonly, nostack, preserves_flags));
        }
        x
    }

    /// Sets double `at`.
    #[inline(always)]
    pub fn set_double(self, at: u32, x: f64) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.global.f64 [{address}], {x};", x = in(reg64) x,
                address = in(reg64) self.address + 8 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }
}
