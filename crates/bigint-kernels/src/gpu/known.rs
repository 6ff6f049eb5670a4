//! What the host knows of the launch, as a kernel reads it: [`bigint_core::specialization`].

// `asm!`: a constant that the compiler of the Rust does not know.
#![allow(unsafe_code)]

use bigint_core::specialization::{
    Bases, Column, DivisionByLanes, Field, Home, Montgomery, Moves, Power, Rows, columns_are_shared,
};
use bigint_core::{Arguments, MatrixArgument, kernel};
use core::arch::asm;

/// A field of a kernel's family.
pub trait Known<V> {
    /// What the host knows, or what the kernel has `found` where it knows nothing.
    fn or(self, found: V) -> V;
}

macro_rules! known {
    ($($value:ty)*) => {$(
        impl Known<$value> for Field<$value> {
            #[inline(always)]
            fn or(self, found: $value) -> $value {
                Self::value(code_or([self.at, self.bits], Self::code(found)))
            }
        }
    )*};
}
known! { u32 bool Moves Rows Bases Home }

/// The bits, from the lowest, so many, of the word that the host has written into the PTX in place of
/// [`UNKNOWN`], or the code of what was `found` where they are zero: a constant for the driver's
/// compiler, which drops what does not occur.
///
/// The choice stands in the PTX as it is written here. Left to the compiler of the Rust it
/// becomes branches and logic of predicates, which the driver's does not see through.
///
/// [`UNKNOWN`]: bigint_core::specialization::UNKNOWN
#[inline(always)]
fn code_or([at, bits]: [u32; 2], found: u32) -> u32 {
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
            at = in(reg32) at,
            bits = in(reg32) bits,
            options(pure, nomem, nostack)
        );
    }
    word
}

/// Limbs of a modulus of `width` limbs that each of `lanes` lanes has in registers.
#[inline(always)]
pub fn montgomery_digit(width: u32, lanes: u32) -> u32 {
    4 * Montgomery::FOURS.or(kernel::montgomery_digit(width as usize, lanes) as u32 / 4)
}

/// Limbs of a divisor that each of `lanes` lanes has, as the host knows or by its width.
#[inline(always)]
pub fn divisor_digit(width: u32, lanes: u32) -> u32 {
    4 * DivisionByLanes::FOURS.or(kernel::divisor_digit(width as usize, lanes) as u32 / 4)
}

/// Limbs of a power's modulus that each of `lanes` lanes has, as the host knows or by its width.
#[inline(always)]
pub fn power_digit(width: u32, lanes: u32) -> u32 {
    4 * Power::FOURS.or(kernel::power_digit(width as usize, lanes) as u32 / 4)
}

/// Whether columns of digits stand in shared memory, where a launch has so many limbs of scratch.
#[inline(always)]
pub fn column_is_shared(scratch: u32) -> bool {
    Column::SHARED.or(columns_are_shared(scratch.into()))
}

/// Whether a power's table is read whole: in constant time, unless the host knows otherwise.
#[inline(always)]
pub fn scans() -> bool {
    Power::SCANS.or(true)
}

/// What is raised to powers: a base, unless the host knows otherwise.
#[inline(always)]
pub fn bases() -> Bases {
    Power::BASES.or(Bases::One)
}

/// Operands and result of a product, `[a, b, r]`, of the widths that the host knows by these fields.
#[inline(always)]
pub fn of_widths(arguments: &Arguments, fields: [Field<u32>; 3]) -> [MatrixArgument; 3] {
    let Arguments { r, a, b, .. } = arguments;
    let known = |batch: &MatrixArgument, field: Field<u32>| MatrixArgument {
        width: field.or(batch.width as u32).into(),
        ..*batch
    };
    let [first, second, product] = fields;
    [known(a, first), known(b, second), known(r, product)]
}
