//! Limbs that blocks hand on to blocks of the same launch that were started after them.

// Loads and stores of device memory, at addresses that come from the launch.
#![allow(unsafe_code)]

use super::registers::afresh;
use bigint_core::Limb;
use core::arch::asm;

/// The number of times that a thread looks at memory before it gives up, which takes some
/// seconds.
const LOOKS: u32 = 1 << 22;

/// Limbs in device memory that one block writes and another reads in the same launch.
#[derive(Clone, Copy)]
pub struct Handed {
    address: u64,
}

impl Handed {
    /// The limbs from `address` on, a multiple of 16.
    ///
    /// # Safety
    /// The memory stays allocated while the kernel runs, and has every place that is read or set.
    /// Each limb is accessed only by [`set`](Self::set) and the methods for groups of four, only by
    /// [`raise_to`](Self::raise_to), or only as a flag.
    #[inline(always)]
    pub unsafe fn new(address: u64) -> Self {
        Handed { address }
    }

    /// Limbs `4 at .. 4 at + 4`, each as some thread of any block has set it. The load orders no
    /// other access, and the four limbs may have been set at different times.
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        let (a, b, c, d);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.relaxed.gpu.global.v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];",
                a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                address = in(reg64) self.address + 16 * u64::from(at),
                options(nostack, preserves_flags));
        }
        [a, b, c, d]
    }

    /// Sets limbs `4 at .. 4 at + 4`. The store is not atomic for all four, and orders no other
    /// access.
    #[inline(always)]
    pub fn set_four(self, at: u32, [a, b, c, d]: [Limb; 4]) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.relaxed.gpu.global.v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};",
                a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
                address = in(reg64) self.address + 16 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// Sets limb `at`. The store orders no other access.
    #[inline(always)]
    pub fn set(self, at: u32, x: Limb) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.relaxed.gpu.global.u32 [{address}], {x};", x = in(reg32) x,
                address = in(reg64) self.address + 4 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// Waits until no limb of `N` groups is `nothing`, so that each limb shows by itself that it
    /// has been set. The groups of four limbs are `at`, `at + apart` and so on. Then sets all the
    /// limbs to `nothing` again. Returns the limbs, and whether all of them arrived in time.
    #[inline(always)]
    pub fn take<const N: usize>(
        self,
        at: u32,
        apart: u32,
        nothing: Limb,
    ) -> ([[Limb; 4]; N], bool) {
        let (mut fours_at, mut i) = ([at; N], 1);
        while i < N {
            fours_at[i] = fours_at[i - 1] + apart;
            i += 1;
        }
        let mut looks = 0;
        while looks < LOOKS {
            let fours = fours_at.map(|at| self.four(at));
            let are_set = fours.map(|four| four.map(|limb| limb != nothing));
            let are_set = are_set.map(|[a, b, c, d]| a & b & c & d);
            let (mut all, mut i) = (true, 0);
            while i < N {
                all &= are_set[i];
                i += 1;
            }
            if all {
                let mut i = 0;
                while i < N {
                    self.set_four(fours_at[i], [nothing; 4]);
                    i += 1;
                }
                // Returning behind the loop would take more registers.
                return (fours.map(|four| four.map(afresh)), true);
            }
            looks += 1;
        }
        ([[nothing; 4]; N], false)
    }

    /// Atomically replaces limb `at` by `x` if that is greater.
    #[inline(always)]
    pub fn raise_to(self, at: u32, x: Limb) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("red.global.max.u32 [{address}], {x};", x = in(reg32) x,
                address = in(reg64) self.address + 4 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// Sets limb `at`, which is a flag. A thread that sees the flag also sees what this thread
    /// wrote before, and what threads wrote before they met it at a barrier.
    #[inline(always)]
    pub fn raise(self, at: u32, flag: Limb) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.release.gpu.global.u32 [{address}], {flag};", flag = in(reg32) flag,
                address = in(reg64) self.address + 4 * u64::from(at),
                options(nostack, preserves_flags));
        }
    }

    /// Waits until limb `at` is `flag`. Afterwards this thread, and those that meet it at a
    /// barrier, may read what was written before the flag was [raised](Self::raise). Returns
    /// whether it was raised in time.
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
