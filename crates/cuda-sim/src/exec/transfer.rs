//! What an access moves: up to 32 bytes per lane, by way of a buffer of words.

use super::{Mistake, Step, lanes_of};
use crate::check::FaultKind;
use crate::ir::{Longs, Order, Words};

/// Up to 32 bytes per lane.
pub(crate) type Buffer = [Words; 8];

/// Which lanes move which bytes.
pub(crate) struct Transfer<'a> {
    pub addresses: &'a Longs,
    pub mask: u32,
    /// Bytes per lane: 1, 2, 4, 8, 16 or 32.
    pub bytes: u32,
    /// Line of the instruction, for reports about an earlier access.
    pub line: u32,
    pub order: Order,
    /// Bits of the words that somebody will read; all, for writes.
    pub wanted: u8,
}

/// Every word of a transfer.
pub(crate) const ALL_WORDS: u8 = u8::MAX;

impl Transfer<'_> {
    /// Whether it conflicts with plain accesses only.
    pub fn strong(&self) -> bool {
        matches!(self.order, Order::Strong | Order::Guess)
    }

    /// The address, if all lanes have the same.
    pub fn uniform(&self) -> Option<u64> {
        let first = self.addresses[self.mask.trailing_zeros() as usize & 31];
        let same = if self.mask == u32::MAX {
            self.addresses.iter().all(|&address| address == first)
        } else {
            lanes_of(self.mask).all(|lane| self.addresses[lane] == first)
        };
        same.then_some(first)
    }

    pub(super) fn check_alignment(&self) -> Step {
        let low = u64::from(self.bytes) - 1;
        let mut any = 0;
        for lane in lanes_of(self.mask) {
            any |= self.addresses[lane];
        }
        if any & low == 0 {
            return Ok(());
        }
        for lane in lanes_of(self.mask) {
            if self.addresses[lane] & low != 0 {
                return Err(Mistake::at(
                    FaultKind::Misaligned,
                    lane as u32,
                    self.addresses[lane],
                    format!("{} bytes", self.bytes),
                ));
            }
        }
        Ok(())
    }
}
