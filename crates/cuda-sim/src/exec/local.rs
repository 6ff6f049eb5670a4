//! Local memory of a warp: each word stands 32 times side by side, so that lanes
//! which use the same offset, as they mostly do, move a whole row at once.

use super::mask::{lanes_of, put};
use super::mistake::{Mistake, Step};
use super::transfer::{Buffer, Transfer};
use crate::check::FaultKind;
use crate::ir::{Longs, Words};

/// Bytes of local memory that a thread can have.
const MOST: u32 = 512 << 10;
/// Local memory begins here, so that null is outside it.
pub(crate) const BASE: u32 = 16;

#[derive(Default)]
pub(crate) struct Local {
    words: Vec<Words>,
    /// For each byte of each word, the lanes that have written it.
    written: Vec<[u32; 4]>,
    top: u32,
    watched: bool,
}

impl Local {
    /// Empties the memory for the next block.
    pub fn reset(&mut self, watched: bool) {
        self.top = BASE;
        self.watched = watched;
        self.written.fill([0; 4]);
    }

    /// The end of the topmost frame's memory.
    pub fn top(&self) -> u32 {
        self.top
    }

    /// Makes room for a frame on top.
    pub fn push(&mut self, bytes: u32, lane: u32) -> Step<u32> {
        let base = self.top;
        let top = base.saturating_add(bytes);
        if top > MOST {
            return Err(Mistake::new(
                FaultKind::StackOverflow,
                lane,
                format!("more than {MOST} bytes of local memory"),
            ));
        }
        let words = (top / 4) as usize;
        if self.words.len() < words {
            self.words.resize(words, [0; 32]);
            if self.watched {
                self.written.resize(words, [0; 4]);
            }
        }
        // What an earlier frame left here is not this frame's.
        if self.watched {
            self.written[(base / 4) as usize..words].fill([0; 4]);
        }
        self.top = top;
        Ok(base)
    }

    /// Gives back the memory from `base` on.
    pub fn pop(&mut self, base: u32) {
        self.top = base;
    }

    /// An error unless every lane's bytes lie in some frame.
    fn check(&self, addresses: &Longs, mask: u32, bytes: u32) -> Step {
        for lane in lanes_of(mask) {
            let at = addresses[lane];
            if at < u64::from(BASE)
                || at
                    .checked_add(u64::from(bytes))
                    .is_none_or(|end| end > u64::from(self.top))
            {
                return Err(Mistake::at(
                    FaultKind::OutOfBounds,
                    lane as u32,
                    at,
                    format!(
                        "{bytes} bytes of local memory, which ends at {:#x}",
                        self.top
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Loads from each lane's own memory.
    pub fn read(&mut self, transfer: &Transfer<'_>, buffer: &mut Buffer) -> Step {
        let &Transfer {
            addresses,
            mask,
            bytes,
            ..
        } = transfer;
        self.check(addresses, mask, bytes)?;
        if self.watched {
            self.mark_unwritten(transfer, buffer);
        }
        let words = bytes.div_ceil(4) as usize;
        if let Some(at) = transfer.uniform() {
            for k in 0..words {
                let row = &self.words[at as usize / 4 + k];
                let shift = 8 * (at % 4) as u32;
                for lane in 0..32 {
                    buffer[k][lane] = row[lane] >> shift;
                }
            }
            return Ok(());
        }
        for lane in lanes_of(mask) {
            let at = addresses[lane] as usize;
            for k in 0..words {
                buffer[k][lane] = self.words[at / 4 + k][lane] >> (8 * (at % 4));
            }
        }
        Ok(())
    }

    /// Notes what nothing has written of the words that somebody wants.
    fn mark_unwritten(&self, transfer: &Transfer<'_>, buffer: &mut Buffer) {
        let bytes = transfer.bytes.min(4);
        let words = (transfer.bytes.div_ceil(4) as usize).min(8);
        for k in (0..words).filter(|k| transfer.wanted >> k & 1 != 0) {
            if bytes == 4
                && let Some(at) = transfer.uniform()
                && let [a, b, c, d] = self.written[at as usize / 4 + k]
                && transfer.mask & !(a & b & c & d) == 0
            {
                continue;
            }
            for lane in lanes_of(transfer.mask) {
                let at = transfer.addresses[lane] as usize + 4 * k;
                let written = &self.written[at / 4][at % 4..];
                let missing = written.iter().take(bytes as usize).zip(0..);
                let missing = missing.fold(0, |missing, (lanes, byte)| {
                    missing | u8::from(lanes >> lane & 1 == 0) << byte
                });
                if missing != 0 {
                    buffer.mark(k, lane, missing);
                }
            }
        }
    }

    /// Stores to each lane's own memory.
    pub fn write(&mut self, transfer: &Transfer<'_>, buffer: &Buffer) -> Step {
        let &Transfer {
            addresses,
            mask,
            bytes,
            ..
        } = transfer;
        self.check(addresses, mask, bytes)?;
        let words = bytes.div_ceil(4) as usize;
        if bytes >= 4
            && let Some(at) = transfer.uniform()
        {
            for k in 0..words {
                put(&mut self.words[at as usize / 4 + k], &buffer[k], mask);
                if self.watched {
                    for byte in &mut self.written[at as usize / 4 + k] {
                        *byte |= mask;
                    }
                }
            }
            self.forget_undefined(transfer, buffer);
            return Ok(());
        }
        let ones = u32::MAX >> (32 - 8 * bytes.min(4));
        for lane in lanes_of(mask) {
            let at = addresses[lane] as usize;
            let shift = 8 * (at % 4);
            for k in 0..words {
                let word = &mut self.words[at / 4 + k][lane];
                *word = *word & !(ones << shift) | (buffer[k][lane] & ones) << shift;
            }
            if self.watched {
                for byte in at..at + bytes as usize {
                    self.written[byte / 4][byte % 4] |= 1 << lane;
                }
            }
        }
        self.forget_undefined(transfer, buffer);
        Ok(())
    }

    /// A byte that is written with an undefined value is as good as unwritten.
    fn forget_undefined(&mut self, transfer: &Transfer<'_>, buffer: &Buffer) {
        if !self.watched || buffer.undefined.is_none() {
            return;
        }
        for lane in lanes_of(transfer.mask) {
            for i in 0..transfer.bytes as usize {
                if buffer.defined(i / 4, lane) >> (i % 4) & 1 == 0 {
                    let byte = transfer.addresses[lane] as usize + i;
                    self.written[byte / 4][byte % 4] &= !(1 << lane);
                }
            }
        }
    }
}
