//! What an access moves: up to 32 bytes per lane, by way of a buffer of words, and which of
//! their bits nobody defined.

use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use crate::check::FaultKind;
use crate::ir::{Longs, Order, Words};
use std::ops::{Index, IndexMut};

/// Up to 32 bytes per lane.
pub(crate) type Rows = [Words; 8];

/// What an access moves.
pub(crate) struct Buffer {
    pub rows: Rows,
    /// The bits that nobody defined; nothing where all are defined.
    pub undefined: Option<Box<Rows>>,
}

impl Buffer {
    /// Zeros, all of them defined.
    pub fn new() -> Self {
        Buffer {
            rows: [[0; 32]; 8],
            undefined: None,
        }
    }

    /// Notes bytes of a lane's word that nobody defined; a bit each.
    pub fn mark(&mut self, word: usize, lane: usize, bytes: u8) {
        let rows = self.undefined.get_or_insert_with(|| Box::new([[0; 32]; 8]));
        for byte in (0..4).filter(|byte| bytes >> byte & 1 != 0) {
            rows[word][lane] |= 0xff << (8 * byte);
        }
    }

    /// The bytes of a lane's word that somebody defined; a bit each.
    pub fn defined(&self, word: usize, lane: usize) -> u8 {
        let Some(rows) = &self.undefined else {
            return 0xf;
        };
        let bits = rows[word][lane];
        (0..4).fold(0, |bytes, byte| {
            bytes | u8::from(bits >> (8 * byte) & 0xff == 0) << byte
        })
    }
}

impl Index<usize> for Buffer {
    type Output = Words;

    fn index(&self, word: usize) -> &Words {
        &self.rows[word]
    }
}

impl IndexMut<usize> for Buffer {
    fn index_mut(&mut self, word: usize) -> &mut Words {
        &mut self.rows[word]
    }
}

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
        self.order.is_strong() || self.order == Order::Guess
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

    /// The lowest address and the highest.
    pub fn range(&self) -> (u64, u64) {
        lanes_of(self.mask).fold((u64::MAX, 0), |(low, high), lane| {
            let at = self.addresses[lane];
            (low.min(at), high.max(at))
        })
    }

    /// An error unless every lane's address is a multiple of what it moves.
    pub(super) fn check_alignment(&self) -> Step {
        let low = u64::from(self.bytes) - 1;
        let any = if self.mask == u32::MAX {
            self.addresses.iter().fold(0, |any, address| any | address)
        } else {
            lanes_of(self.mask).fold(0, |any, lane| any | self.addresses[lane])
        };
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
