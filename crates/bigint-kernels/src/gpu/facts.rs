//! What the host tells of the launch.

// `asm!`: a constant that the compiler of the Rust does not know.
#![allow(unsafe_code)]

use bigint_core::facts::{
    BASES, COLUMNS, DIGIT, FIRST_WIDTH, Field, PRODUCT_WIDTH, SCAN, SECOND_WIDTH, columns,
};
use bigint_core::{Arguments, MatrixArgument, kernel};
use core::arch::asm;

/// What the host has written into the PTX in place of [`UNTOLD`], one field of it, or what
/// was `found` where that says nothing: a constant for the driver's compiler, which drops
/// what does not occur.
///
/// The choice stands in the PTX as it is written here. Left to the compiler of the Rust it
/// becomes branches and logic of predicates, which the driver's does not see through.
///
/// [`UNTOLD`]: bigint_core::facts::UNTOLD
#[inline(always)]
pub fn told_or(field: Field, found: u32) -> u32 {
    let word: u32;
    // SAFETY: sets a register.
    unsafe {
        asm!(
            "{{",
            ".reg .b32 fact;",
            ".reg .pred is_known;",
            "mov.b32 fact, 0 /*told*/;",
            "bfe.u32 fact, fact, {at}, {bits};",
            "setp.ne.u32 is_known, fact, 0;",
            "selp.b32 {word}, fact, {found}, is_known;",
            "}}",
            word = out(reg32) word,
            found = in(reg32) found,
            at = in(reg32) field.at,
            bits = in(reg32) field.bits,
            options(pure, nomem, nostack)
        );
    }
    word
}

/// Limbs of a modulus of `width` limbs that each of `lanes` lanes has in registers.
#[inline(always)]
pub fn montgomery_digit(width: u32, lanes: u32) -> u32 {
    4 * told_or(
        DIGIT,
        kernel::montgomery_digit(width as usize, lanes) as u32 / 4,
    )
}

/// The same of a divisor.
#[inline(always)]
pub fn divisor_digit(width: u32, lanes: u32) -> u32 {
    4 * told_or(
        DIGIT,
        kernel::divisor_digit(width as usize, lanes) as u32 / 4,
    )
}

/// The same of a power.
#[inline(always)]
pub fn power_digit(width: u32, lanes: u32) -> u32 {
    4 * told_or(DIGIT, kernel::power_digit(width as usize, lanes) as u32 / 4)
}

/// Whether columns of digits stand in shared memory, where so many limbs of scratch do not.
#[inline(always)]
pub fn columns_are_shared(scratch: u32) -> bool {
    told_or(COLUMNS, columns(scratch.into())) == 1
}

/// Whether a power's table is read whole: in constant time, unless the host tells otherwise.
#[inline(always)]
pub fn scan() -> bool {
    told_or(SCAN, 1) == 1
}

/// What a power is made of: a base, unless the host tells otherwise.
#[inline(always)]
pub fn bases() -> u32 {
    told_or(BASES, 1)
}

/// Operands and result of a product, `[a, b, r]`, with their widths as they are told.
#[inline(always)]
pub fn of_told_widths(arguments: &Arguments) -> [MatrixArgument; 3] {
    let Arguments { r, a, b, .. } = arguments;
    let told = |batch: &MatrixArgument, field| MatrixArgument {
        width: told_or(field, batch.width as u32).into(),
        ..*batch
    };
    [
        told(a, FIRST_WIDTH),
        told(b, SECOND_WIDTH),
        told(r, PRODUCT_WIDTH),
    ]
}
