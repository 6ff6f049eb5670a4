//! Functions that control when values are computed, for code that has hardly enough registers.
//!
//! The compiler computes a value that only one branch needs as late as possible, even if its
//! operands take more registers than it does. It also keeps a value that is needed twice. Most of
//! these functions are no instruction.

// `asm!` hides a value from the compiler.
#![allow(unsafe_code)]

use core::arch::asm;

/// `x`, hiding from the compiler what it is, so that values that depend on it are computed again.
#[inline(always)]
pub fn afresh(mut x: u32) -> u32 {
    // SAFETY: there is no instruction.
    unsafe {
        asm!("/* {x} */", x = inout(reg32) x, options(nostack, preserves_flags));
    }
    x
}

/// `x`, which the compiler has computed when it comes here.
#[inline(always)]
pub fn computed(mut x: f64) -> f64 {
    // SAFETY: there is no instruction.
    unsafe {
        asm!("/* {x} */", x = inout(reg64) x, options(nostack, preserves_flags));
    }
    x
}

/// `x`, which is known to the driver's compiler but not to the Rust compiler.
#[inline(always)]
pub fn known_later(x: u32) -> u32 {
    let known;
    // SAFETY: sets a register.
    unsafe {
        asm!("mov.b32 {known}, {x};", known = out(reg32) known, x = in(reg32) x,
            options(pure, nomem, nostack, preserves_flags));
    }
    known
}

/// `x` in another register. `zero` is 0, which the compilers do not know, so they take the result
/// for another value. Without this, limbs would be moved to common registers before each of several
/// rare branches that lead to the same code.
#[inline(always)]
pub fn moved(x: u32, zero: u32) -> u32 {
    let moved;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("xor.b32 {moved}, {x}, {zero};", moved = out(reg32) moved, x = in(reg32) x,
            zero = in(reg32) zero, options(nostack, nomem, preserves_flags));
    }
    moved
}
