//! Accesses to shared memory: loads, stores and atomic operations of a warp, and the passes that
//! banks need for them.

use super::block::Block;
use super::clocks::Clocks;
use super::run::Worker;
use super::shared::{Access, Shared, bits};
use super::transfer::{Buffer, Transfer};
use super::{Mistake, Step, lanes_of};
use crate::check::FaultKind;

impl Shared {
    /// Reads for a warp whose lanes go to neighbouring places of so many words; false, and
    /// nothing done, where they must be looked at one by one.
    fn read_row<const WORDS: usize>(
        &mut self,
        clocks: &Clocks,
        at: u64,
        access: Access,
        buffer: &mut Buffer,
    ) -> bool {
        let (first, words) = (at as usize / 4, 32 * WORDS);
        if !self.is_whole(at, 4 * words as u64)
            || self.uninitialised && !self.are_written(first, words)
            || self.races && !self.note_reads::<WORDS>(clocks, first, access)
        {
            return false;
        }
        let held = &self.words[first..first + words];
        for lane in 0..32 {
            for k in 0..WORDS {
                buffer.rows[k][lane] = held[WORDS * lane + k];
            }
        }
        true
    }

    /// Writes for such a warp.
    fn write_row<const WORDS: usize>(
        &mut self,
        clocks: &Clocks,
        at: u64,
        access: Access,
        buffer: &Buffer,
    ) -> bool {
        let (first, words) = (at as usize / 4, 32 * WORDS);
        if buffer.undefined.is_some()
            || !self.is_whole(at, 4 * words as u64)
            || self.races && !self.note_writes::<WORDS>(clocks, first, access)
        {
            return false;
        }
        let held = &mut self.words[first..first + words];
        for lane in 0..32 {
            for k in 0..WORDS {
                held[WORDS * lane + k] = buffer.rows[k][lane];
            }
        }
        if self.uninitialised {
            self.mark_words(first, words);
        }
        true
    }

    /// Reads for lanes that all go to one place, if no order has to be looked at; of their
    /// reads the last two are remembered.
    fn read_one(
        &mut self,
        clocks: &Clocks,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> Option<()> {
        let at = transfer.uniform().filter(|_| transfer.bytes >= 4)?;
        let (first, words) = (at as usize / 4, transfer.bytes as usize / 4);
        let settled = |word| self.is_settled(word, clocks);
        if !self.is_whole(at, transfer.bytes.into())
            || self.uninitialised && !self.are_written(first, words)
            || self.races && !(first..first + words).all(settled)
        {
            return None;
        }
        for k in 0..words {
            buffer.rows[k] = [self.words[first + k]; 32];
        }
        if self.races {
            let last = 31 - transfer.mask.leading_zeros();
            let before = transfer.mask & !(1 << last);
            let before = 31_u32.checked_sub(before.leading_zeros());
            for lane in before.into_iter().chain([last]) {
                for k in 0..words as u64 {
                    let access = access(warp, lane as usize, transfer, 0xf);
                    let noted = self.note_read(clocks, at + 4 * k, access);
                    debug_assert!(noted.is_ok());
                }
            }
        }
        Some(())
    }
}

fn access(warp: usize, lane: usize, transfer: &Transfer<'_>, bytes: u8) -> Access {
    Access {
        thread: 32 * warp + lane,
        bytes,
        line: transfer.line,
        strong: transfer.strong(),
    }
}

impl Shared {
    /// Reads lane by lane.
    fn read_each(
        &mut self,
        clocks: &Clocks,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> Step {
        self.check_bounds(transfer)?;
        let words = transfer.bytes.div_ceil(4) as usize;
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let access = access(warp, lane, transfer, bits(at, transfer.bytes));
            for k in 0..words {
                buffer.rows[k][lane] = self.words[at as usize / 4 + k] >> (8 * (at % 4));
                if transfer.wanted >> k & 1 == 0 {
                    continue;
                }
                let at = at + 4 * k as u64;
                if self.uninitialised {
                    let missing = self.unwritten(at, transfer.bytes);
                    if missing != 0 {
                        buffer.mark(k, lane, missing);
                    }
                }
                if self.races {
                    self.note_read(clocks, at, access)?;
                }
            }
        }
        Ok(())
    }

    /// Writes lane by lane.
    fn write_each(
        &mut self,
        clocks: &Clocks,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &Buffer,
    ) -> Step {
        self.check_bounds(transfer)?;
        let words = transfer.bytes.div_ceil(4) as usize;
        let ones = u32::MAX >> (32 - 8 * transfer.bytes.min(4));
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let shift = 8 * (at % 4);
            let access = access(warp, lane, transfer, bits(at, transfer.bytes));
            for k in 0..words {
                let word = at as usize / 4 + k;
                let old = self.words[word];
                let new = old & !(ones << shift) | (buffer.rows[k][lane] & ones) << shift;
                if self.races {
                    self.note_write(clocks, at + 4 * k as u64, access, new != old)?;
                }
                self.words[word] = new;
            }
            if self.uninitialised {
                self.mark_written(at, transfer.bytes);
            }
        }
        self.forget_undefined(transfer, buffer);
        Ok(())
    }
}

impl Worker<'_> {
    pub(super) fn shared_read(
        &mut self,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> Step {
        let row = transfer.contiguous();
        self.count_wavefronts(transfer, row.is_some());
        let Block { shared, clocks, .. } = &mut *self.block;
        let words = transfer.bytes.div_ceil(4) as usize;
        let whole = transfer.wanted | (0xff << words) as u8 == u8::MAX;
        let first = access(warp, 0, transfer, 0xf);
        let done = match row {
            _ if !whole => false,
            Some(at) if words == 1 => shared.read_row::<1>(clocks, at, first, buffer),
            Some(at) if words == 2 => shared.read_row::<2>(clocks, at, first, buffer),
            Some(at) if words == 4 => shared.read_row::<4>(clocks, at, first, buffer),
            _ => shared.read_one(clocks, warp, transfer, buffer).is_some(),
        };
        if !done {
            shared.read_each(clocks, warp, transfer, buffer)?;
        }
        if transfer.order.is_strong() {
            for lane in lanes_of(transfer.mask) {
                clocks.look(32 * warp + lane);
            }
        }
        Ok(())
    }

    pub(super) fn shared_write(
        &mut self,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &Buffer,
    ) -> Step {
        let row = transfer.contiguous();
        self.count_wavefronts(transfer, row.is_some());
        let Block { shared, clocks, .. } = &mut *self.block;
        let first = access(warp, 0, transfer, 0xf);
        let done = match (row, transfer.bytes) {
            (Some(at), 4) => shared.write_row::<1>(clocks, at, first, buffer),
            (Some(at), 8) => shared.write_row::<2>(clocks, at, first, buffer),
            (Some(at), 16) => shared.write_row::<4>(clocks, at, first, buffer),
            _ => false,
        };
        if !done {
            shared.write_each(clocks, warp, transfer, buffer)?;
        }
        if transfer.order.is_strong() {
            clocks.release();
        }
        Ok(())
    }

    pub(super) fn shared_atomic(
        &mut self,
        warp: usize,
        transfer: &Transfer<'_>,
        change: &dyn Fn(usize, u128) -> u128,
        old: &mut [u128; 32],
    ) -> Step {
        self.count_wavefronts(transfer, false);
        let Block { shared, clocks, .. } = &mut *self.block;
        shared.check_bounds(transfer)?;
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let word = at as usize / 4;
            for word in (at..at + u64::from(transfer.bytes)).step_by(4) {
                let missing = if shared.uninitialised {
                    shared.unwritten(word, 4)
                } else {
                    0
                };
                if missing != 0 {
                    return Err(Mistake::at(
                        FaultKind::UninitialisedMemory,
                        lane as u32,
                        word + u64::from(missing.trailing_zeros()),
                        "by an atomic operation on shared memory",
                    ));
                }
                if shared.races {
                    let access = access(warp, lane, transfer, 0xf);
                    shared.note_write(clocks, word, access, true)?;
                }
            }
            let held = &mut shared.words[word..][..transfer.bytes as usize / 4];
            let joined = |value, &word: &u32| value << 32 | u128::from(word);
            old[lane] = held.iter().rev().fold(0, joined);
            let new = change(lane, old[lane]);
            for (k, word) in held.iter_mut().enumerate() {
                *word = (new >> (32 * k)) as u32;
            }
            clocks.look(32 * warp + lane);
        }
        clocks.release();
        Ok(())
    }

    /// Passes that the banks need, and the fewest possible.
    fn count_wavefronts(&mut self, transfer: &Transfer<'_>, row: bool) {
        if !self.launch.count {
            return;
        }
        // 8- and 16-byte accesses go by half and quarter warps.
        let lanes_at_once = 32 / (transfer.bytes / 4).clamp(1, 4);
        let words = u64::from(transfer.bytes.div_ceil(4));
        let group = if lanes_at_once == 32 {
            u32::MAX
        } else {
            (1 << lanes_at_once) - 1
        };
        let counts = &mut self.global.counts;
        if row {
            // Mostly lanes go to neighbouring places, and meet every bank once.
            let passes = u64::from(32 / lanes_at_once).max(words);
            counts.shared_wavefronts += passes;
            counts.shared_wavefronts_fewest += passes;
            return;
        }
        if transfer.mask == u32::MAX && words <= 4 && transfer.uniform().is_some() {
            let passes = u64::from(32 / lanes_at_once);
            counts.shared_wavefronts += passes;
            counts.shared_wavefronts_fewest += passes;
            return;
        }
        for first in (0..32).step_by(lanes_at_once as usize) {
            let mask = transfer.mask & group << first;
            if mask == 0 {
                continue;
            }
            let mut distinct = [0u64; 32];
            let mut n = 0;
            let mut ascending = true;
            for lane in lanes_of(mask) {
                distinct[n] = transfer.addresses[lane] / 4;
                ascending &= n == 0 || distinct[n - 1] <= distinct[n];
                n += 1;
            }
            let distinct = &mut distinct[..n];
            if !ascending {
                distinct.sort_unstable();
            }
            let mut banks = [0u8; 32];
            let mut previous = u64::MAX;
            let mut total = 0;
            for &start in distinct.iter() {
                if start == previous {
                    continue;
                }
                previous = start;
                for word in start..start + words {
                    banks[(word % 32) as usize] += 1;
                    total += 1;
                }
            }
            let most = banks.iter().copied().max().unwrap_or(0);
            counts.shared_wavefronts += u64::from(most);
            counts.shared_wavefronts_fewest += u64::div_ceil(total, 32);
        }
    }
}
