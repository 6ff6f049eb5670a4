//! Asynchronous copies, and the barriers in memory that their users wait at.
//!
//! `cp.async` reads its source when it is issued, and its target is as good as
//! unwritten until the thread waits for the copy's group: a use of what is read
//! before is a fault. Bulk copies are done when they are issued, which is one of the times at
//! which they may be.
//!
//! The 64 bits of an `mbarrier` object are nobody's business; here, from the lowest:
//! 20 bits of arrivals that the phase still waits for, 20 bits of arrivals in every
//! phase, 22 bits of bytes expected less bytes copied (two's complement), one bit
//! unused, and the phase's parity.

use super::access::addresses;
use super::in_flight::{Copies, InFlight};
use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use super::run::Worker;
use super::transfer::{ALL_WORDS, Buffer, Transfer};
use super::warp::Warp;
use crate::check::FaultKind;
use crate::ir::{AtomicOp, CopyOp, Longs, Order, Transit, Wait};

impl Worker<'_> {
    /// Runs a step of an asynchronous copy; `mask` is not empty.
    pub(super) fn copy(
        &mut self,
        warp: &mut Warp,
        frame: usize,
        copy: &CopyOp,
        mask: u32,
        line: u32,
    ) -> Step {
        match copy {
            CopyOp::Commit => {
                for lane in lanes_of(mask) {
                    warp.copies.groups[lane] += 1;
                }
                Ok(())
            }
            CopyOp::Wait(wait) => self.land(warp, *wait, mask),
            CopyOp::Start {
                to,
                from,
                bytes,
                given,
            } => {
                let from = addresses(&warp.frames[frame], from);
                let to = addresses(&warp.frames[frame], to);
                let given = warp.frames[frame].words[given.0 as usize];
                self.start(warp, (&to, &from), (*bytes, &given), mask, line)
            }
            CopyOp::Bulk {
                transit,
                to,
                from,
                bytes,
            } => {
                let from = addresses(&warp.frames[frame], from);
                let to = addresses(&warp.frames[frame], to);
                let bytes = warp.frames[frame].words[bytes.0 as usize];
                for lane in lanes_of(mask) {
                    let ends = (to[lane], from[lane]);
                    self.bulk(warp.index, *transit, ends, bytes[lane], lane, line)?;
                }
                Ok(())
            }
        }
    }

    /// Starts copies of single lanes.
    fn start(
        &mut self,
        warp: &mut Warp,
        (to, from): (&Longs, &Longs),
        (bytes, given): (u32, &[u32; 32]),
        mask: u32,
        line: u32,
    ) -> Step {
        fn transfer(addresses: &Longs, mask: u32, bytes: u32, line: u32) -> Transfer<'_> {
            Transfer {
                addresses,
                mask,
                bytes,
                line,
                order: Order::Weak,
                wanted: ALL_WORDS,
            }
        }
        transfer(to, mask, bytes, line).check_alignment()?;
        transfer(from, mask, bytes, line).check_alignment()?;
        let mut buffer = Buffer::new();
        let whole = lanes_of(mask)
            .filter(|&lane| given[lane] == bytes)
            .fold(0, |lanes, lane| lanes | 1 << lane);
        if whole != 0 {
            self.read_global(warp.index, &transfer(from, whole, bytes, line), &mut buffer)?;
        }
        for lane in lanes_of(mask & !whole) {
            if given[lane] > bytes {
                return Err(Mistake::new(
                    FaultKind::InvalidOperand,
                    lane as u32,
                    format!("{} bytes of a copy of {bytes}", given[lane]),
                ));
            }
            for word in &mut buffer.rows[..4] {
                word[lane] = 0;
            }
            for byte in 0..given[lane] {
                let mut one = Buffer::new();
                let at = [from[lane] + u64::from(byte); 32];
                self.read_global(warp.index, &transfer(&at, 1 << lane, 1, line), &mut one)?;
                let value = (one[0][lane] & 0xff) << (8 * (byte % 4));
                buffer[byte as usize / 4][lane] |= value;
                if one.undefined.is_some() {
                    buffer.mark(byte as usize / 4, lane, 1 << (byte % 4));
                }
            }
        }
        let target = transfer(to, mask, bytes, line);
        let block = &mut *self.block;
        block.shared.take_off(&block.clocks, warp.index, &target)?;
        for lane in lanes_of(mask) {
            warp.copies.open.push(InFlight {
                lane,
                group: warp.copies.groups[lane],
                to: to[lane],
                words: std::array::from_fn(|word| buffer[word][lane]),
                defined: std::array::from_fn(|word| buffer.defined(word, lane)),
                bytes,
                line,
            });
        }
        Ok(())
    }

    /// Writes the copies that the lanes of `mask` wait for.
    fn land(&mut self, warp: &mut Warp, wait: Wait, mask: u32) -> Step {
        let Copies { open, groups } = &mut warp.copies;
        let due = |copy: &mut InFlight| {
            let over = match wait {
                Wait::All => true,
                Wait::ButLast(groups_left) => groups[copy.lane] - copy.group > groups_left,
            };
            mask >> copy.lane & 1 != 0 && over
        };
        let landing: Vec<InFlight> = open.extract_if(.., due).collect();
        for copy in landing {
            let mut buffer = Buffer::new();
            for (k, (value, defined)) in copy.words.into_iter().zip(copy.defined).enumerate() {
                buffer[k][copy.lane] = value;
                if defined != 0xf {
                    buffer.mark(k, copy.lane, !defined & 0xf);
                }
            }
            let transfer = Transfer {
                addresses: &[copy.to; 32],
                mask: 1 << copy.lane,
                bytes: copy.bytes,
                line: copy.line,
                order: Order::Weak,
                wanted: ALL_WORDS,
            };
            self.shared_write(warp.index, &transfer, &buffer)?;
        }
        Ok(())
    }

    /// Reads what is to be copied.
    fn read_global(&mut self, warp: usize, from: &Transfer<'_>, buffer: &mut Buffer) -> Step {
        let clocks = &mut self.block.clocks;
        self.global.read(clocks, warp, from, buffer)
    }

    /// Copies many bytes for one lane.
    fn bulk(
        &mut self,
        warp: usize,
        transit: Transit,
        (to, from): (u64, u64),
        bytes: u32,
        lane: usize,
        line: u32,
    ) -> Step {
        if !bytes.is_multiple_of(16) {
            return Err(Mistake::new(
                FaultKind::InvalidOperand,
                lane as u32,
                format!("a bulk copy of {bytes} bytes, which is no multiple of 16"),
            ));
        }
        for offset in (0..u64::from(bytes)).step_by(16) {
            let mut buffer = Buffer::new();
            let (to, from) = (
                [to.wrapping_add(offset); 32],
                [from.wrapping_add(offset); 32],
            );
            let transfer = |addresses| Transfer {
                addresses,
                mask: 1 << lane,
                bytes: 16,
                line,
                order: Order::Weak,
                wanted: ALL_WORDS,
            };
            let (read, write) = (transfer(&from), transfer(&to));
            read.check_alignment()?;
            write.check_alignment()?;
            match transit {
                Transit::ToShared => {
                    self.read_global(warp, &read, &mut buffer)?;
                    self.in_cluster(&write, |worker, write| {
                        worker.shared_write(warp, write, &buffer)
                    })?;
                }
                Transit::Across => {
                    self.shared_read(warp, &read, &mut buffer)?;
                    self.in_cluster(&write, |worker, write| {
                        worker.shared_write(warp, write, &buffer)
                    })?;
                }
                Transit::ToGlobal => {
                    self.shared_read(warp, &read, &mut buffer)?;
                    let clocks = &mut self.block.clocks;
                    self.global.write(clocks, warp, &write, &buffer)?;
                }
            }
        }
        Ok(())
    }
}

const ARRIVALS: u64 = (1 << 20) - 1;
const BYTES: u64 = (1 << 22) - 1;

/// A step of a barrier in memory; `n` arrivals or bytes.
pub(super) fn barrier_step(op: AtomicOp, old: u64, n: u64) -> u64 {
    let (mut pending, mut expected) = (old & ARRIVALS, old >> 20 & ARRIVALS);
    let mut bytes = old >> 40 & BYTES;
    let mut parity = old >> 63;
    match op {
        AtomicOp::Expect => bytes = bytes.wrapping_add(n) & BYTES,
        AtomicOp::Landed => bytes = bytes.wrapping_sub(n) & BYTES,
        _ => pending = pending.wrapping_sub(n) & ARRIVALS,
    }
    if op == AtomicOp::ArriveAndDrop {
        expected = expected.wrapping_sub(n) & ARRIVALS;
    }
    // Bytes that are expected belong to the arrival that follows.
    if op != AtomicOp::Expect && pending == 0 && bytes == 0 {
        pending = expected;
        parity ^= 1;
    }
    parity << 63 | bytes << 40 | expected << 20 | pending
}
