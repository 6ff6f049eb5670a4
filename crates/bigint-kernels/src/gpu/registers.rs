//! When values are computed, where there are hardly registers for them.
//!
//! The compiler puts off what only one branch needs, though what it is computed from takes
//! more registers, and keeps what it needs twice. The functions are no instruction.

// `asm!`: the compiler does not see through it.
#![allow(unsafe_code)]

use core::arch::asm;

/// `x`, of which the compiler no longer knows what it is: what follows from it is computed
/// again.
#[inline(always)]
pub fn afresh(mut x: u32) -> u32 {
    // SAFETY: an empty line.
    unsafe {
        asm!("/* {x} */", x = inout(reg32) x, options(nostack, preserves_flags));
    }
    x
}

/// `x`, computed by now.
#[inline(always)]
pub fn computed(mut x: f64) -> f64 {
    // SAFETY: an empty line.
    unsafe {
        asm!("/* {x} */", x = inout(reg64) x, options(nostack, preserves_flags));
    }
    x
}

/// `x`, which the driver's compiler knows and that of the Rust does not.
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
