//! Barriers in shared memory at which threads and bytes arrive. For devices of compute capability 9.0.

// Rust has no word for the instructions.
#![allow(unsafe_code)]

use super::flat::Row;
use super::stretch::Stretch;
use core::arch::asm;

/// A barrier whose phase ends once all threads that it was set for, and all bytes that they announced, have
/// arrived. The first phase is 0, and they count modulo 2.
#[derive(Clone, Copy)]
pub struct Arrivals(u32);

impl Arrivals {
    /// The barrier at a byte of a stretch, a multiple of 8, which has room for 8.
    #[inline(always)]
    pub fn at(stretch: Stretch, byte: u32) -> Self {
        Arrivals(stretch.address_of_byte(byte))
    }

    /// Sets it for so many arrivals in each phase, before a barrier of the block.
    #[inline(always)]
    pub fn set(self, arrivals: u32) {
        // SAFETY: by the contract of the stretch.
        unsafe {
            asm!("mbarrier.init.shared::cta.b64 [{barrier}], {arrivals};",
                "fence.mbarrier_init.release.cluster;",
                barrier = in(reg32) self.0, arrivals = in(reg32) arrivals, options(nostack));
        }
    }

    /// Arrives, and begins to copy so many bytes of a row, from a byte on, to a byte of a stretch: all multiples of
    /// 16. Nobody changes them meanwhile. The phase ends once they are there.
    #[inline(always)]
    pub fn bring(self, stretch: Stretch, to: u32, row: Row, from: u32, bytes: u32) {
        // SAFETY: by the contracts of the stretch and of `Row::new`.
        unsafe {
            asm!("{{",
                ".reg .b64 phase;",
                "mbarrier.arrive.expect_tx.shared::cta.b64 phase, [{barrier}], {bytes};",
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{from}], {bytes}, [{barrier}];",
                "}}",
                barrier = in(reg32) self.0, to = in(reg32) stretch.address_of_byte(to),
                from = in(reg64) row.address_of_four(from / 16), bytes = in(reg32) bytes,
                options(nostack));
        }
    }

    /// Arrives: what the thread has read before may be written then.
    #[inline(always)]
    pub fn arrive(self) {
        // SAFETY: by the contract of the stretch.
        unsafe {
            asm!("{{",
                ".reg .b64 phase;",
                "mbarrier.arrive.shared::cta.b64 phase, [{barrier}];",
                "}}",
                barrier = in(reg32) self.0, options(nostack));
        }
    }

    /// The same if the thread does so, without a branch.
    #[inline(always)]
    pub fn arrive_if(self, does: bool) {
        // SAFETY: by the contract of the stretch.
        unsafe {
            asm!("{{",
                ".reg .pred does;",
                ".reg .b64 phase;",
                "setp.ne.u32 does, {does}, 0;",
                "@does mbarrier.arrive.shared::cta.b64 phase, [{barrier}];",
                "}}",
                does = in(reg32) u32::from(does), barrier = in(reg32) self.0, options(nostack));
        }
    }

    /// Waits for the end of the phase.
    #[inline(always)]
    pub fn wait(self, phase: u32) {
        // The label is one of the braces. A loop in Rust would take the compiler minutes where there are many.
        #[allow(named_asm_labels)]
        // SAFETY: by the contract of the stretch.
        unsafe {
            asm!("{{",
                ".reg .pred over;",
                "again:",
                "mbarrier.try_wait.parity.shared::cta.b64 over, [{barrier}], {phase};",
                "@!over bra again;",
                "}}",
                barrier = in(reg32) self.0, phase = in(reg32) phase,
                options(nostack));
        }
    }
}
