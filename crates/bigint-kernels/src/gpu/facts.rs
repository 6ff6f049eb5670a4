//! What the host tells of the launch.

// `asm!`: a constant that the compiler of the Rust does not know.
#![allow(unsafe_code)]

use bigint_core::facts::Facts;
use core::arch::asm;

/// What the host has written into the PTX, in place of [`UNTOLD`]: a constant for the
/// driver's compiler, which drops what does not occur.
///
/// [`UNTOLD`]: bigint_core::facts::UNTOLD
#[inline(always)]
pub fn told() -> Facts {
    let word: u32;
    // SAFETY: sets a register.
    unsafe {
        asm!("mov.b32 {word}, 0 /*told*/;", word = out(reg32) word,
            options(pure, nomem, nostack));
    }
    Facts(word)
}
