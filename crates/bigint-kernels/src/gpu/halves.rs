//! Doubles as two halves of 32 bits, and integers whose size varies from thread to thread.

// Instructions for which Rust has operators that become several.
#![allow(unsafe_code)]

use core::arch::asm;

/// The double with these halves.
#[inline(always)]
pub fn double(upper: u32, lower: u32) -> f64 {
    f64::from_bits(u64::from(upper) << 32 | u64::from(lower))
}

/// `x`, to whose upper half `by bit` is added by one instruction: with `by bit` of `2^20 e` it is multiplied by `2^e`.
#[inline(always)]
pub fn raised(x: f64, bit: u32, by: u32) -> f64 {
    let upper;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("mad.lo.u32 {upper}, {bit}, {by}, {x};",
            upper = out(reg32) upper, bit = in(reg32) bit, by = in(reg32) by, x = in(reg32) (x.to_bits() >> 32) as u32,
            options(pure, nomem, nostack, preserves_flags));
    }
    double(upper, x.to_bits() as u32)
}

/// `other` if a bit is set, else `x`. The bit is found by a predicate; the compiler would shift it.
#[inline(always)]
pub fn where_set(bit: u32, other: u32, x: u32) -> u32 {
    let selected;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("{{", ".reg .pred is_set;", "setp.ne.u32 is_set, {bit}, 0;", "selp.b32 {selected}, {other}, {x}, is_set;", "}}",
            selected = out(reg32) selected, bit = in(reg32) bit, other = in(reg32) other, x = in(reg32) x,
            options(pure, nomem, nostack));
    }
    selected
}

/// `x` as a signed integer without its upper `above` bits.
#[inline(always)]
pub fn lower(x: u32, above: u32) -> i32 {
    let lower;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("shl.b32 {lower}, {x}, {above};", "shr.s32 {lower}, {lower}, {above};",
            lower = out(reg32) lower, x = in(reg32) x, above = in(reg32) above,
            options(pure, nomem, nostack, preserves_flags));
    }
    lower
}

/// The lower 32 bits of `(2^32 upper + lower) / 2^(32 - above)`, rounded down.
#[inline(always)]
pub fn divided(upper: u32, lower: u32, above: u32) -> i32 {
    let divided;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("shf.l.clamp.b32 {divided}, {lower}, {upper}, {above};",
            divided = out(reg32) divided, lower = in(reg32) lower, upper = in(reg32) upper, above = in(reg32) above,
            options(pure, nomem, nostack, preserves_flags));
    }
    divided
}

/// `x / 2^by`, rounded down; `by` is below 64.
#[inline(always)]
pub fn shifted(x: i64, by: u32) -> i64 {
    let shifted;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("shr.s64 {shifted}, {x}, {by};",
            shifted = out(reg64) shifted, x = in(reg64) x, by = in(reg32) by,
            options(pure, nomem, nostack, preserves_flags));
    }
    shifted
}

/// `x / 2^above`, rounded down.
#[inline(always)]
pub fn without_lower(x: i32, above: u32) -> i32 {
    let shifted;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("shr.s32 {shifted}, {x}, {above};",
            shifted = out(reg32) shifted, x = in(reg32) x, above = in(reg32) above,
            options(pure, nomem, nostack, preserves_flags));
    }
    shifted
}
