//! The jumps for x86-64, by the System V calling convention.

use std::arch::naked_asm;

use crate::functions::resolve;

/// The body of one function: jump to where its slot points, or, while the slot
/// is null, to [`resolve_and_jump`] with the function's index in `r11`. That
/// register is free at a call: it carries no argument and nobody's value.
///
/// A plain load is an acquire load here. The symbol is hidden, so that neither
/// an executable nor a shared library exports it: a driver loaded later could
/// otherwise find its own functions' names bound to these.
macro_rules! trampoline {
    ($name:ident, $index:expr) => {
        std::arch::naked_asm!(
            concat!(".hidden ", stringify!($name)),
            "mov r11, qword ptr [rip + {slots} + 8 * {index}]",
            "test r11, r11",
            "jz 2f",
            "jmp r11",
            "2:",
            "mov r11d, {index}",
            "jmp {resolve_and_jump}",
            slots = sym crate::functions::SLOTS,
            index = const $index,
            resolve_and_jump = sym crate::arch::resolve_and_jump,
        )
    };
}
pub(crate) use trampoline;

/// Calls [`resolve`] with the index in `r11` and jumps to its answer, with all
/// registers that may hold arguments (six integers, the count of vector
/// registers in `al`, eight vectors) and the stack as they were.
///
/// No function of the driver API takes vectors wider than 128 bits.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn resolve_and_jump() {
    naked_asm!(
        // The call that led here left the stack 8 bytes off a multiple of 16;
        // this push puts it back on one, and 192 is another.
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 192",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "mov [rsp + 48], rax",
        "movaps [rsp + 64], xmm0",
        "movaps [rsp + 80], xmm1",
        "movaps [rsp + 96], xmm2",
        "movaps [rsp + 112], xmm3",
        "movaps [rsp + 128], xmm4",
        "movaps [rsp + 144], xmm5",
        "movaps [rsp + 160], xmm6",
        "movaps [rsp + 176], xmm7",
        "mov edi, r11d",
        "call {resolve}",
        "mov r11, rax",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "mov rax, [rsp + 48]",
        "movaps xmm0, [rsp + 64]",
        "movaps xmm1, [rsp + 80]",
        "movaps xmm2, [rsp + 96]",
        "movaps xmm3, [rsp + 112]",
        "movaps xmm4, [rsp + 128]",
        "movaps xmm5, [rsp + 144]",
        "movaps xmm6, [rsp + 160]",
        "movaps xmm7, [rsp + 176]",
        "leave",
        "jmp r11",
        resolve = sym resolve,
    )
}
