//! Products of two words, of which each is one instruction. The compilers forget that factors are words, and take sums
//! of several products apart.

// Rust has no word for the instructions.
#![allow(unsafe_code)]

use core::arch::asm;

/// `a b`.
#[inline(always)]
pub fn multiply(a: u32, b: u32) -> u64 {
    let product;
    // SAFETY: sets a register.
    unsafe {
        asm!("mul.wide.u32 {product}, {a}, {b};", product = out(reg64) product,
            a = in(reg32) a, b = in(reg32) b, options(pure, nomem, nostack, preserves_flags));
    }
    product
}

/// `a b + c`, modulo 2^64.
#[inline(always)]
pub fn multiply_add(a: u32, b: u32, c: u64) -> u64 {
    let sum;
    // SAFETY: as before.
    unsafe {
        asm!("{{",
            ".reg .b32 low, high;",
            "mov.b64 {{low, high}}, {c};",
            "mad.lo.cc.u32 low, {a}, {b}, low;",
            "madc.hi.u32 high, {a}, {b}, high;",
            "mov.b64 {sum}, {{low, high}};",
            "}}",
            sum = out(reg64) sum, a = in(reg32) a, b = in(reg32) b, c = in(reg64) c,
            options(pure, nomem, nostack));
    }
    sum
}
