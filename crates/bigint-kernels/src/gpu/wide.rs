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

/// Implements `a b + c`, modulo 2^64, of factors of a type.
macro_rules! multiply_add {
    ($($(#[$doc:meta])* $name:ident $factor:ty, $suffix:literal)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(a: $factor, b: $factor, c: u64) -> u64 {
            let sum;
            // SAFETY: register arithmetic only; the first line does not read the carry flag, and the second does not set it.
            unsafe {
                asm!("{{",
                    ".reg .b32 low, high;",
                    "mov.b64 {{low, high}}, {c};",
                    concat!("mad.lo.cc.", $suffix, " low, {a}, {b}, low;"),
                    concat!("madc.hi.", $suffix, " high, {a}, {b}, high;"),
                    "mov.b64 {sum}, {{low, high}};",
                    "}}",
                    sum = out(reg64) sum, a = in(reg32) a, b = in(reg32) b, c = in(reg64) c,
                    options(pure, nomem, nostack));
            }
            sum
        }
    )*};
}

multiply_add! {
    /// `a b + c`, modulo 2^64.
    multiply_add u32, "u32"
    /// `a b + c` of signed factors, modulo 2^64.
    multiply_add_signed i32, "s32"
}
