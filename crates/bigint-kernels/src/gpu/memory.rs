//! Numbers in device memory: loads and stores of limbs that stay inside a number.

// Device memory is reached through `ld.global` and `st.global`: addresses come
// from the launch as integers, which the compiler would take for generic ones.
#![allow(unsafe_code)]

use bigint_core::{Limb, MatrixArgument};
use core::arch::asm;

/// Bytes in a limb.
const LIMB_BYTES: u64 = 4;

/// The distance between a number's limbs.
pub trait Stride: Copy {
    /// Whether limbs are known to be neighbours, so that four of them may be
    /// moved at once.
    const UNIT: bool;

    /// The stride that a launch asks for.
    fn of(argument: &MatrixArgument) -> Self;

    /// The distance, in limbs.
    fn limbs(self) -> u64;
}

/// Neighbouring limbs: the contiguous layout.
#[derive(Clone, Copy)]
pub struct Unit;

impl Stride for Unit {
    const UNIT: bool = true;

    #[inline(always)]
    fn of(_: &MatrixArgument) -> Self {
        Unit
    }

    #[inline(always)]
    fn limbs(self) -> u64 {
        1
    }
}

/// Any distance: the interleaved layout, and operands of different layouts.
#[derive(Clone, Copy)]
pub struct Any(u64);

impl Stride for Any {
    const UNIT: bool = false;

    #[inline(always)]
    fn of(argument: &MatrixArgument) -> Self {
        Any(argument.limb_stride)
    }

    #[inline(always)]
    fn limbs(self) -> u64 {
        self.0
    }
}

/// A number in device memory, little-endian, or a part of one.
///
/// Loads above its width give zero and stores there do nothing, so a `Number` is
/// its own zero-extension and truncation. Widths and indices fit 32 bits: the widest
/// product has 2^27 limbs. Copies name the same memory; Rust holds
/// no reference to it, so they may overlap as the algorithm likes.
#[derive(Clone, Copy)]
pub struct Number<S> {
    address: u64,
    stride: S,
    width: u32,
    /// Limbs that may be touched: `width`, or 0 where the number is switched off.
    reach: u32,
}

impl<S: Stride> Number<S> {
    /// Number `index` of a batch.
    ///
    /// # Safety
    /// The argument describes device memory that holds number `index` and stays
    /// allocated while the kernel runs. What other threads write to it is ordered
    /// with this thread's loads and stores by barriers, or never met.
    #[inline(always)]
    pub unsafe fn new(argument: &MatrixArgument, index: u64) -> Self {
        let width = argument.width as u32;
        Number {
            address: argument.limbs + LIMB_BYTES * index * argument.number_stride,
            stride: S::of(argument),
            width,
            reach: width,
        }
    }

    /// Limbs in the number.
    #[inline(always)]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The same width, but without memory behind it where `on` is false: reads as
    /// zero, and nothing that is stored arrives.
    #[inline(always)]
    pub fn switched(self, on: bool) -> Self {
        let reach = if on { self.reach } else { 0 };
        Number { reach, ..self }
    }

    /// Limbs `from` up to, not including, `to`, cut to the number's own width.
    #[inline(always)]
    pub fn part(self, from: u32, to: u32) -> Self {
        Number {
            address: self.address_of(from),
            stride: self.stride,
            width: self.width.min(to).saturating_sub(from),
            reach: self.reach.min(to).saturating_sub(from),
        }
    }

    /// The same number with its stride known only at run time.
    #[inline(always)]
    pub fn strided(self) -> Number<Any> {
        Number {
            address: self.address,
            stride: Any(self.stride.limbs()),
            width: self.width,
            reach: self.reach,
        }
    }

    #[inline(always)]
    fn address_of(self, at: u32) -> u64 {
        self.address + LIMB_BYTES * (u64::from(at) * self.stride.limbs())
    }

    /// Limb `at`.
    #[inline(always)]
    pub fn limb(self, at: u32) -> Limb {
        // SAFETY: where `at` is inside the number, it is allocated.
        unsafe { load_below(at, self.reach, self.address_of(at)) }
    }

    /// Limbs `at .. at + N`; `N` is a multiple of 4.
    #[inline(always)]
    pub fn limbs<const N: usize>(self, at: u32) -> [Limb; N] {
        let mut limbs = [0; N];
        if at + N as u32 <= self.reach {
            let address = self.address_of(at);
            if S::UNIT && address % 16 == 0 {
                for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    // SAFETY: all N limbs are inside the number, which is
                    // allocated; they are neighbours and aligned to 16 bytes.
                    *four = unsafe { load_four(address + 16 * i as u64) };
                }
            } else {
                for (i, limb) in limbs.iter_mut().enumerate() {
                    // SAFETY: all N limbs are inside the number.
                    *limb = unsafe { load(self.address_of(at + i as u32)) };
                }
            }
        } else {
            for (i, limb) in limbs.iter_mut().enumerate() {
                *limb = self.limb(at + i as u32);
            }
        }
        limbs
    }

    /// Sets limb `at`.
    #[inline(always)]
    pub fn set(self, at: u32, limb: Limb) {
        // SAFETY: where `at` is inside the number, it is allocated.
        unsafe { store_below(at, self.reach, self.address_of(at), limb) }
    }

    /// Sets limbs `at .. at + N`; `N` is a multiple of 4.
    #[inline(always)]
    pub fn set_limbs<const N: usize>(self, at: u32, limbs: [Limb; N]) {
        let address = self.address_of(at);
        if S::UNIT && at + N as u32 <= self.reach && address % 16 == 0 {
            for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
                // SAFETY: all N limbs are inside the number, which is allocated;
                // they are neighbours and aligned to 16 bytes.
                unsafe { store_four(address + 16 * i as u64, *four) };
            }
        } else {
            for (i, limb) in limbs.iter().enumerate() {
                self.set(at + i as u32, *limb);
            }
        }
    }
}

/// Where each number's carry or borrow out goes, if anybody asks.
#[derive(Clone, Copy)]
pub struct CarryOut(u64);

impl CarryOut {
    /// The word of number `index` in the array at device address `words`, or
    /// nothing where `words` is zero.
    ///
    /// # Safety
    /// A `words` that is not zero is the address of more than `index` words of
    /// device memory, and no other worker has number `index`.
    #[inline(always)]
    pub unsafe fn new(words: u64, index: u64) -> Self {
        CarryOut(if words == 0 {
            0
        } else {
            words + LIMB_BYTES * index
        })
    }

    /// Reports `carry`.
    #[inline(always)]
    pub fn set(self, carry: Limb) {
        if self.0 != 0 {
            // SAFETY: the word is allocated by the contract of `new`.
            unsafe { store_below(0, 1, self.0, carry) }
        }
    }
}

#[inline(always)]
unsafe fn load(address: u64) -> Limb {
    let limb;
    // SAFETY: the caller vouches for a limb at `address`.
    unsafe {
        asm!("ld.global.u32 {limb}, [{address}];",
            limb = out(reg32) limb, address = in(reg64) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    limb
}

/// The limb at `address` where `at < reach`, else zero, without a branch.
#[inline(always)]
unsafe fn load_below(at: u32, reach: u32, address: u64) -> Limb {
    let limb;
    // SAFETY: the caller vouches for a limb at `address` where `at < reach`.
    unsafe {
        asm!("{{",
            ".reg .pred inside;",
            "setp.lt.u32 inside, {at}, {reach};",
            "mov.u32 {limb}, 0;",
            "@inside ld.global.u32 {limb}, [{address}];",
            "}}",
            limb = out(reg32) limb, address = in(reg64) address,
            at = in(reg32) at, reach = in(reg32) reach,
            options(pure, readonly, nostack));
    }
    limb
}

#[inline(always)]
unsafe fn load_four(address: u64) -> [Limb; 4] {
    let (a, b, c, d);
    // SAFETY: the caller vouches for four limbs at `address`, a multiple of 16.
    unsafe {
        asm!("ld.global.v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];",
            a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
            address = in(reg64) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    [a, b, c, d]
}

/// Stores `limb` at `address` where `at < reach`, without a branch.
#[inline(always)]
unsafe fn store_below(at: u32, reach: u32, address: u64, limb: Limb) {
    // SAFETY: the caller vouches for a limb at `address` where `at < reach`.
    unsafe {
        asm!("{{",
            ".reg .pred inside;",
            "setp.lt.u32 inside, {at}, {reach};",
            "@inside st.global.u32 [{address}], {limb};",
            "}}",
            limb = in(reg32) limb, address = in(reg64) address,
            at = in(reg32) at, reach = in(reg32) reach,
            options(nostack));
    }
}

#[inline(always)]
unsafe fn store_four(address: u64, [a, b, c, d]: [Limb; 4]) {
    // SAFETY: the caller vouches for four limbs at `address`, a multiple of 16.
    unsafe {
        asm!("st.global.v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};",
            a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
            address = in(reg64) address,
            options(nostack, preserves_flags));
    }
}
