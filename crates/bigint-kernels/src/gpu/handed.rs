//! What blocks of one launch hand to blocks that were started after them.

// Loads, stores and flags in device memory, at addresses that come from the launch.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// Looks before a thread gives up: some seconds.
pub const LOOKS: u32 = 1 << 22;

/// Limbs in device memory that one block writes and another reads, and flags that say so.
#[derive(Clone, Copy)]
pub struct Handed {
    address: u64,
}

impl Handed {
    /// Limbs at `address`, a multiple of 16.
    ///
    /// # Safety
    /// The memory stays allocated while the kernel runs, and has every place that is asked
    /// for. Who reads what another thread writes has [waited](Self::wait) for a flag that was
    /// [raised](Self::raise) behind it.
    #[inline(always)]
    pub unsafe fn new(address: u64) -> Self {
        Handed { address }
    }

    /// Two values and their tags, at `4 at`: what some [`set_two`](Self::set_two) set there, each
    /// value with its own tag.
    #[inline(always)]
    pub fn two(self, at: u32) -> ([Limb; 2], [Limb; 2]) {
        let (a, b): (u64, u64);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.relaxed.gpu.global.v2.u64 {{{a}, {b}}}, [{address}];",
                a = out(reg64) a, b = out(reg64) b,
                address = in(reg64) self.address + 16 * u64::from(at),
                options(nostack, preserves_flags));
        }
        (
            [a as Limb, b as Limb],
            [(a >> 32) as Limb, (b >> 32) as Limb],
        )
    }

    /// Sets two values, which others may wait for by their tag: nothing else needs to be ordered.
    #[inline(always)]
    pub fn set_two(self, at: u32, values: [Limb; 2], tag: Limb) {
        let [a, b] = values.map(|value| u64::from(tag) << 32 | u64::from(value));
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.relaxed.gpu.global.v2.u64 [{address}], {{{a}, {b}}};",
                a = in(reg64) a, b = in(reg64) b,
                address = in(reg64) self.address + 16 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// Replaces limb `at` by `x` where that is greater.
    #[inline(always)]
    pub fn raise_to(self, at: u32, x: Limb) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("red.global.max.u32 [{address}], {x};", x = in(reg32) x,
                address = in(reg64) self.address + 4 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// Sets limb `at`, a flag, behind all that this thread, and those that met it at a
    /// barrier, wrote before.
    #[inline(always)]
    pub fn raise(self, at: u32, flag: Limb) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.release.gpu.global.u32 [{address}], {flag};", flag = in(reg32) flag,
                address = in(reg64) self.address + 4 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// Waits until limb `at` is `flag`: what was written before it was raised, this thread,
    /// and those that meet it at a barrier, may read after. Whether it was, before patience
    /// ended.
    #[inline(always)]
    pub fn wait(self, at: u32, flag: Limb) -> bool {
        let mut looks = 0;
        while looks < LOOKS {
            let found: Limb;
            // SAFETY: by the contract of `new`.
            unsafe {
                asm!("ld.acquire.gpu.global.u32 {found}, [{address}];", found = out(reg32) found,
                    address = in(reg64) self.address + 4 * u64::from(at),
                    options(nostack, preserves_flags));
            }
            if found == flag {
                return true;
            }
            looks += 1;
        }
        false
    }
}
