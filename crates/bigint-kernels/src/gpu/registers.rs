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

/// `x` in another register. The compilers do not know that `zero` is, and take it for something else:
/// where branches that are hardly ever gone meet, limbs would else be brought to common registers
/// before each of them.
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
