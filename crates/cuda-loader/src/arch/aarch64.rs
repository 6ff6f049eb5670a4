//! The jumps for AArch64, by the AAPCS64 calling convention.

use std::arch::naked_asm;

use crate::functions::resolve;

/// The body of one function: jump to where its slot points, or, while the slot
/// is null, to [`resolve_and_jump`] with the function's index in `x16`. That
/// register and `x17` are free at a call: linkers use them for the same end.
///
/// The symbol is hidden, so that neither an executable nor a shared library
/// exports it: a driver loaded later could otherwise find its own functions'
/// names bound to these.
macro_rules! trampoline {
    ($name:ident, $index:expr) => {
        std::arch::naked_asm!(
            concat!(".hidden ", stringify!($name)),
            "adrp x16, {slots} + 8 * {index}",
            "add x16, x16, :lo12:{slots} + 8 * {index}",
            "ldar x17, [x16]",
            "cbz x17, 2f",
            "br x17",
            "2:",
            "mov w16, {index}",
            "b {resolve_and_jump}",
            slots = sym crate::functions::SLOTS,
            index = const $index,
            resolve_and_jump = sym crate::arch::resolve_and_jump,
        )
    };
}
pub(crate) use trampoline;

/// Calls [`resolve`] with the index in `x16` and jumps to its answer, with all
/// registers that may hold arguments (`x0` to `x8`, `q0` to `q7`), the return
/// address and the stack as they were.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn resolve_and_jump() {
    naked_asm!(
        "stp x29, x30, [sp, #-224]!",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "str x8, [sp, #80]",
        "stp q0, q1, [sp, #96]",
        "stp q2, q3, [sp, #128]",
        "stp q4, q5, [sp, #160]",
        "stp q6, q7, [sp, #192]",
        "mov w0, w16",
        "bl {resolve}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldr x8, [sp, #80]",
        "ldp q0, q1, [sp, #96]",
        "ldp q2, q3, [sp, #128]",
        "ldp q4, q5, [sp, #160]",
        "ldp q6, q7, [sp, #192]",
        "ldp x29, x30, [sp], #224",
        "br x16",
        resolve = sym resolve,
    )
}
