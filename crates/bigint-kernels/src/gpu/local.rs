//! A thread's own memory, for values for which it has no registers.

// Local memory is reached through `ld.local` and `st.local`. The compilers keep a plain array in
// registers as far as these go, and then spill and reload at the worst places.
#![allow(unsafe_code)]

use core::arch::asm;
use core::mem::MaybeUninit;

/// `N` pairs of doubles in memory that only this thread accesses.
#[repr(align(16))]
pub struct Places<const N: usize>(MaybeUninit<[[f64; 2]; N]>);

impl<const N: usize> Places<N> {
    /// Places in which nothing has been set.
    #[inline(always)]
    pub const fn new() -> Self {
        Places(MaybeUninit::uninit())
    }

    /// The address of place `at`, which is below `N`.
    #[inline(always)]
    fn address(&self, at: u32) -> u64 {
        assert!(at < N as u32);
        self.0.as_ptr().addr() as u64 + 16 * u64::from(at)
    }

    /// The pair in place `at`, which has been set.
    #[inline(always)]
    pub fn pair(&self, at: u32) -> [f64; 2] {
        let (x, y);
        // SAFETY: the place is below `N`.
        unsafe {
            asm!("{{",
                ".reg .b64 place;",
                "cvta.to.local.u64 place, {address};",
                "ld.local.v2.f64 {{{x}, {y}}}, [place];",
                "}}",
                x = out(reg64) x, y = out(reg64) y, address = in(reg64) self.address(at),
                options(readonly, nostack, preserves_flags));
        }
        [x, y]
    }

    /// Sets place `at`.
    #[inline(always)]
    pub fn set_pair(&mut self, at: u32, [x, y]: [f64; 2]) {
        // SAFETY: the place is below `N`.
        unsafe {
            asm!("{{",
                ".reg .b64 place;",
                "cvta.to.local.u64 place, {address};",
                "st.local.v2.f64 [place], {{{x}, {y}}};",
                "}}",
                x = in(reg64) x, y = in(reg64) y, address = in(reg64) self.address(at),
                options(nostack, preserves_flags));
        }
    }
}
