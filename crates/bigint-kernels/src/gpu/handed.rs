//! What blocks of one launch hand to blocks that were started after them.

// Loads, stores and flags in device memory, at addresses that come from the launch.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// Looks at a flag before a thread gives up: some seconds.
const LOOKS: u32 = 1 << 22;

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

    /// Limbs `4 at .. 4 at + 4`, as they are in the cache that all blocks share.
    #[inline(always)]
    pub fn four(self, at: u32) -> [Limb; 4] {
        let (a, b, c, d);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.global.cg.v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];",
                a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                address = in(reg64) self.address + 16 * u64::from(at),
                options(nostack, preserves_flags));
        }
        [a, b, c, d]
    }

    /// Sets limbs `4 at .. 4 at + 4`.
    #[inline(always)]
    pub fn set_four(self, at: u32, [a, b, c, d]: [Limb; 4]) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.global.cg.v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};",
                a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
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
