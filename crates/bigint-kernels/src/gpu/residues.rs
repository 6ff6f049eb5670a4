//! Residues modulo a prime of one word in device memory, tables of factors, and the upper half
//! of a product of words.

// Device memory is reached through `ld.global` and `st.global`.
#![allow(unsafe_code)]

use super::access::{load, load_four, store_four};
use bigint_core::transform::ntt::Factor;
use core::arch::asm;

/// The upper half of `a b`, always by one instruction.
///
/// Written as a product of 64 bits it comes out wrong. LLVM extends a factor that a loop does
/// not change outside the loop. The driver's compiler (CUDA 13.0, from its second level of
/// optimisation on) then takes the product of the upper half with a third word for one that it
/// may reassociate.
#[inline(always)]
pub fn upper_half(a: u32, b: u32) -> u32 {
    let high;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("mul.hi.u32 {high}, {a}, {b};", high = out(reg32) high,
            a = in(reg32) a, b = in(reg32) b, options(pure, nomem, nostack, preserves_flags));
    }
    high
}

/// Residues in device memory that threads read and write.
#[derive(Clone, Copy)]
pub struct Residues {
    address: u64,
}

impl Residues {
    /// The residues from `address` on, a multiple of 16.
    ///
    /// # Safety
    /// The memory stays allocated while the kernel runs, and has every place that is read or
    /// set. No thread reads or writes what another one writes, unless a barrier of their block
    /// is in between.
    #[inline(always)]
    pub unsafe fn new(address: u64) -> Self {
        Residues { address }
    }

    /// Residue `at`.
    #[inline(always)]
    pub fn get(self, at: u32) -> u32 {
        // SAFETY: by the contract of `new`.
        unsafe { load(self.address + 4 * u64::from(at)) }
    }

    /// Sets residue `at`.
    #[inline(always)]
    pub fn set(self, at: u32, x: u32) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.global.u32 [{address}], {x};", x = in(reg32) x,
                address = in(reg64) self.address + 4 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// The four residues from `at` on, a multiple of 4.
    #[inline(always)]
    pub fn four(self, at: u32) -> [u32; 4] {
        // SAFETY: by the contract of `new`.
        unsafe { load_four(self.address + 4 * u64::from(at)) }
    }

    /// Sets the four residues from `at` on, a multiple of 4.
    #[inline(always)]
    pub fn set_four(self, at: u32, residues: [u32; 4]) {
        // SAFETY: by the contract of `new`.
        unsafe { store_four(self.address + 4 * u64::from(at), residues) }
    }
}

/// A table of factors in device memory that no thread writes.
#[derive(Clone, Copy)]
pub struct Factors {
    address: u64,
}

impl Factors {
    /// The table at `address`, a multiple of 16.
    ///
    /// # Safety
    /// The table stays allocated and unchanged while the kernel runs, and has every place that
    /// is read.
    #[inline(always)]
    pub unsafe fn new(address: u64) -> Self {
        Factors { address }
    }

    /// Factor `at`.
    #[inline(always)]
    pub fn at(self, at: u32) -> Factor {
        let (w, quotient);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.global.nc.v2.u32 {{{w}, {quotient}}}, [{address}];",
                w = out(reg32) w, quotient = out(reg32) quotient,
                address = in(reg64) self.address + 8 * u64::from(at),
                options(pure, nomem, nostack, preserves_flags));
        }
        Factor { w, quotient }
    }

    /// Factors `at` and `at + 1`; `at` is even.
    #[inline(always)]
    pub fn two(self, at: u32) -> [Factor; 2] {
        let (w0, q0, w1, q1);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.global.nc.v4.u32 {{{w0}, {q0}, {w1}, {q1}}}, [{address}];",
                w0 = out(reg32) w0, q0 = out(reg32) q0, w1 = out(reg32) w1, q1 = out(reg32) q1,
                address = in(reg64) self.address + 8 * u64::from(at),
                options(pure, nomem, nostack, preserves_flags));
        }
        [(w0, q0), (w1, q1)].map(|(w, quotient)| Factor { w, quotient })
    }
}
