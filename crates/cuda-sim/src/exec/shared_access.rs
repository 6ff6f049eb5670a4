//! Accesses to shared memory: loads, stores and atomic operations of a warp, and the passes that
//! banks need for them.

use super::block::Block;
use super::run::Worker;
use super::shared::bits;
use super::transfer::{Buffer, Transfer};
use super::{Step, lanes_of};
use crate::ir::Order;

impl Worker<'_> {
    pub(super) fn shared_read(
        &mut self,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> Step {
        self.count_wavefronts(transfer);
        let Block { shared, clocks, .. } = &mut *self.block;
        shared.check_bounds(transfer)?;
        let words = transfer.bytes.div_ceil(4) as usize;
        let checked = shared.uninitialised || shared.races;
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let held = &shared.words[at as usize / 4..][..words];
            for (word, held) in buffer.iter_mut().zip(held) {
                word[lane] = held >> (8 * (at % 4));
            }
            for k in 0..if checked { words } else { 0 } {
                if transfer.wanted >> k & 1 == 0 {
                    continue;
                }
                if shared.uninitialised {
                    shared.check_written(at + 4 * k as u64, transfer.bytes.min(4), lane)?;
                }
                if shared.races {
                    let bits = bits(at, transfer.bytes);
                    let (at, thread) = (at + 4 * k as u64, 32 * warp + lane);
                    let strong = transfer.strong();
                    shared.note_read(clocks, at, bits, thread, transfer.line, strong)?;
                }
            }
            if transfer.order == Order::Strong {
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
        self.count_wavefronts(transfer);
        let Block { shared, clocks, .. } = &mut *self.block;
        shared.check_bounds(transfer)?;
        let words = transfer.bytes.div_ceil(4) as usize;
        let ones = u32::MAX >> (32 - 8 * transfer.bytes.min(4));
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let shift = 8 * (at % 4);
            if transfer.bytes >= 4 && !shared.races {
                let held = &mut shared.words[at as usize / 4..][..words];
                for (held, word) in held.iter_mut().zip(buffer) {
                    *held = word[lane];
                }
                if shared.uninitialised {
                    shared.mark_written(at, transfer.bytes);
                }
                continue;
            }
            for k in 0..words {
                let word = at as usize / 4 + k;
                let old = shared.words[word];
                let new = old & !(ones << shift) | (buffer[k][lane] & ones) << shift;
                if shared.races {
                    shared.note_write(
                        clocks,
                        at + 4 * k as u64,
                        bits(at, transfer.bytes),
                        32 * warp + lane,
                        transfer.line,
                        (transfer.strong(), new != old),
                    )?;
                }
                shared.words[word] = new;
            }
            if shared.uninitialised {
                shared.mark_written(at, transfer.bytes);
            }
        }
        if transfer.order == Order::Strong {
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
        self.count_wavefronts(transfer);
        let Block { shared, clocks, .. } = &mut *self.block;
        shared.check_bounds(transfer)?;
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let word = at as usize / 4;
            if shared.uninitialised {
                shared.check_written(at, transfer.bytes, lane)?;
            }
            if shared.races {
                for k in 0..u64::from(transfer.bytes / 4) {
                    let (thread, line) = (32 * warp + lane, transfer.line);
                    shared.note_write(clocks, at + 4 * k, 0xf, thread, line, (true, true))?;
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
    fn count_wavefronts(&mut self, transfer: &Transfer<'_>) {
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
        if transfer.mask == u32::MAX && transfer.bytes >= 4 {
            // Mostly lanes go to neighbouring places, and meet every bank once.
            let first = transfer.addresses[0];
            let each = u64::from(transfer.bytes);
            let expected = (0..).map(|lane: u64| first.wrapping_add(lane * each));
            if transfer.addresses.iter().copied().eq(expected.take(32)) {
                let passes = u64::from(32 / lanes_at_once).max(words);
                counts.shared_wavefronts += passes;
                counts.shared_wavefronts_fewest += passes;
                return;
            }
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
