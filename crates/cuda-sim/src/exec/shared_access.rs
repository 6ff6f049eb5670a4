//! Accesses to shared memory: loads, stores and atomic operations of a warp, and the passes that
//! banks need for them.

use super::block::Block;
use super::clocks::Clocks;
use super::mask::{FULL, lanes_of};
use super::mistake::{Mistake, Step};
use super::races::Access;
use super::run::Worker;
use super::shared::{Shared, bits};
use super::transfer::{Buffer, Transfer};
use super::written::Written;
use crate::check::FaultKind;

/// Runs `act` on lanes, ascending, until one makes a mistake; mostly they are all.
#[inline(always)]
fn each_lane_or_fault(mask: u32, mut act: impl FnMut(usize) -> Step) -> Step {
    if mask == FULL {
        (0..32).try_for_each(act)
    } else {
        lanes_of(mask).try_for_each(&mut act)
    }
}

/// Runs `act` on lanes, ascending; mostly they are all.
#[inline(always)]
fn each_lane(mask: u32, mut act: impl FnMut(usize)) {
    if mask == FULL {
        for lane in 0..32 {
            act(lane);
        }
    } else {
        lanes_of(mask).for_each(act);
    }
}

/// What a lane's part of a transfer is to the check for races.
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
        for (k, row) in buffer.rows.iter_mut().enumerate().take(words) {
            each_lane(transfer.mask, |lane| {
                let at = transfer.addresses[lane];
                row[lane] = self.words[at as usize / 4 + k] >> (8 * (at % 4));
            });
        }
        let wanted = || (0..words).filter(|k| transfer.wanted >> k & 1 != 0);
        if self.written.is_some() {
            for k in wanted() {
                each_lane(transfer.mask, |lane| {
                    let at = transfer.addresses[lane] + 4 * k as u64;
                    let missing = self.unwritten(at, transfer.bytes);
                    if missing != 0 {
                        buffer.mark(k, lane, missing);
                    }
                });
            }
        }
        if let Some(races) = &mut self.races {
            return each_lane_or_fault(transfer.mask, |lane| {
                let at = transfer.addresses[lane];
                let access = access(warp, lane, transfer, bits(at, transfer.bytes));
                wanted().try_for_each(|k| races.note_read(clocks, at + 4 * k as u64, access))
            });
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
        let whole = transfer.bytes >= 4;
        if whole && self.races.is_none() && self.written.is_none() {
            each_lane(transfer.mask, |lane| {
                let first = transfer.addresses[lane] as usize / 4;
                for (k, word) in self.words[first..first + words].iter_mut().enumerate() {
                    *word = buffer.rows[k][lane];
                }
            });
            return Ok(());
        }
        each_lane_or_fault(transfer.mask, |lane| {
            let at = transfer.addresses[lane];
            let (first, shift) = (at as usize / 4, 8 * (at % 4));
            let access = access(warp, lane, transfer, bits(at, transfer.bytes));
            let held = self.words[first..first + words].iter_mut();
            for (held, (k, row)) in held.zip(buffer.rows.iter().enumerate()) {
                let new = if whole {
                    row[lane]
                } else {
                    *held & !(ones << shift) | (row[lane] & ones) << shift
                };
                if let Some(races) = &mut self.races {
                    races.note_write(clocks, at + 4 * k as u64, access, new != *held)?;
                }
                *held = new;
            }
            if let Some(written) = &mut self.written {
                if whole && buffer.undefined.is_none() {
                    written.add(first, words);
                } else {
                    mark_written(written, (at, transfer.bytes), lane, buffer);
                }
            }
            Ok(())
        })
    }
}

/// Notes that a lane's bytes are written, but for those that nobody defined: they are as good
/// as unwritten.
fn mark_written(written: &mut Written, (at, bytes): (u64, u32), lane: usize, buffer: &Buffer) {
    for k in 0..bytes.div_ceil(4) as usize {
        let word = at as usize / 4 + k;
        let mine = bits(at, bytes);
        let defined = mine & buffer.defined(k, lane) << (at % 4);
        written.set(word, written.of(word) & !mine | defined);
    }
}

impl Worker<'_> {
    /// Loads from the block's shared memory.
    pub(super) fn shared_read(
        &mut self,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> Step {
        let Block { shared, clocks, .. } = &mut *self.block;
        shared.read_each(clocks, warp, transfer, buffer)?;
        if transfer.order.is_strong() {
            for lane in lanes_of(transfer.mask) {
                clocks.look(32 * warp + lane);
            }
        }
        self.count_wavefronts(transfer);
        Ok(())
    }

    /// Stores to the block's shared memory.
    pub(super) fn shared_write(
        &mut self,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &Buffer,
    ) -> Step {
        let Block { shared, clocks, .. } = &mut *self.block;
        shared.write_each(clocks, warp, transfer, buffer)?;
        if transfer.order.is_strong() {
            clocks.release();
        }
        self.count_wavefronts(transfer);
        Ok(())
    }

    /// Changes words of the block's shared memory, lane by lane.
    pub(super) fn shared_atomic(
        &mut self,
        warp: usize,
        transfer: &Transfer<'_>,
        change: &dyn Fn(usize, u128) -> u128,
        old: &mut [u128; 32],
    ) -> Step {
        let Block { shared, clocks, .. } = &mut *self.block;
        shared.check_bounds(transfer)?;
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let word = at as usize / 4;
            for word in (at..at + u64::from(transfer.bytes)).step_by(4) {
                let missing = shared.unwritten(word, 4);
                if missing != 0 {
                    return Err(Mistake::at(
                        FaultKind::UninitialisedMemory,
                        lane as u32,
                        word + u64::from(missing.trailing_zeros()),
                        "by an atomic operation on shared memory",
                    ));
                }
                if let Some(races) = &mut shared.races {
                    let access = access(warp, lane, transfer, 0xf);
                    races.note_write(clocks, word, access, true)?;
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
        self.count_wavefronts(transfer);
        Ok(())
    }

    /// Counts the passes that the banks need, and the fewest possible.
    fn count_wavefronts(&mut self, transfer: &Transfer<'_>) {
        if !self.launch.count {
            return;
        }
        // 8- and 16-byte accesses go by half and quarter warps.
        let lanes_at_once = 32 / (transfer.bytes / 4).clamp(1, 4);
        let words = transfer.bytes.div_ceil(4);
        let group = u32::MAX >> (32 - lanes_at_once);
        for first in (0..32).step_by(lanes_at_once as usize) {
            let mask = transfer.mask & group << first;
            if mask != 0 {
                let (passes, fewest) = self.banks.passes(transfer.addresses, mask, words);
                self.global.counts.shared_wavefronts += passes;
                self.global.counts.shared_wavefronts_fewest += fewest;
            }
        }
    }
}
