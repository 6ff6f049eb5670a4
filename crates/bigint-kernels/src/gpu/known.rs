//! The specialization of a kernel, as the kernel reads it: see [`bigint_core::specialization`].

// `asm!`: the word is a constant for the driver's compiler that the Rust compiler does not know.
#![allow(unsafe_code)]

use bigint_core::rns::{RnsArguments, Window};
use bigint_core::specialization::{
    Bases, Column, DivisionByLanes, Field, Home, Montgomery, Moves, Power, PowerInResidues, Rows,
    columns_are_shared,
};
use bigint_core::{Arguments, MatrixArgument, kernel};
use core::arch::asm;

/// A field of a kernel's family.
pub trait Known<V> {
    /// The field's value if the host knows it, else the value that the kernel has `found`.
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

/// The `bits` bits from bit `at` on of the word that the host writes into the PTX in place of
/// [`UNKNOWN`]; or, if they are zero, the code `found`. In a specialised kernel this is a constant
/// for the driver's compiler, which drops the cases that do not occur.
///
/// The choice between both stands in the PTX as it is written here. The Rust compiler would turn it
/// into branches and logic of predicates, through which the driver's compiler cannot see.
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

/// The registers, in limbs, in which each of `lanes` lanes holds its part of a modulus of `width`
/// limbs: those that the host knows, or that follow from the width.
#[inline(always)]
pub fn montgomery_digit(width: u32, lanes: u32) -> u32 {
    4 * Montgomery::FOURS.or(kernel::montgomery_digit(width as usize, lanes) as u32 / 4)
}

/// The registers, in limbs, in which each of `lanes` lanes holds its part of a divisor: those that
/// the host knows, or that follow from the width.
#[inline(always)]
pub fn divisor_digit(width: u32, lanes: u32) -> u32 {
    4 * DivisionByLanes::FOURS.or(kernel::divisor_digit(width as usize, lanes) as u32 / 4)
}

/// The registers, in limbs, in which each of `lanes` lanes holds its part of the modulus of a
/// power: those that the host knows, or that follow from the width.
#[inline(always)]
pub fn power_digit(width: u32, lanes: u32) -> u32 {
    4 * Power::FOURS.or(kernel::power_digit(width as usize, lanes) as u32 / 4)
}

/// Whether columns of digits stand in shared memory, in a launch with `scratch` limbs of scratch
/// for each worker.
#[inline(always)]
pub fn column_is_shared(scratch: u32) -> bool {
    Column::SHARED.or(columns_are_shared(scratch.into()))
}

/// Whether a power's whole table is read for each entry, in constant time. It is unless the host
/// knows otherwise.
#[inline(always)]
pub fn scans() -> bool {
    Power::SCANS.or(true)
}

/// The form of the base of a power: one base, unless the host knows otherwise.
#[inline(always)]
pub fn bases() -> Bases {
    Power::BASES.or(Bases::One)
}

/// The arguments of powers in residue number systems, with what the host knows of them.
#[inline(always)]
pub fn of_residues(arguments: &RnsArguments) -> RnsArguments {
    let Window { bits, bases, scans } = arguments.window;
    RnsArguments {
        window: Window {
            bits,
            bases: PowerInResidues::BASES.or(bases),
            scans: PowerInResidues::SCANS.or(scans == 1).into(),
        },
        ..*arguments
    }
}

/// The operands and the result of a product, `[a, b, r]`, with the widths that the host knows in
/// these fields.
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
