//! Atomic operations: a value in memory is replaced by one that depends on it, lane by
//! lane in ascending order.

use super::access::{addresses, read_only};
use super::copies::barrier_step;
use super::frame::Frame;
use super::mask::{put, put_long};
use super::mistake::{Mistake, Step};
use super::run::Worker;
use super::transfer::{ALL_WORDS, Transfer};
use super::warp::Warp;
use crate::check::FaultKind;
use crate::ir::{AtomicOp, Longs, Op, Order, Reg};
use crate::syntax::types::Space;
use std::cell::Cell;

impl Worker<'_> {
    /// Runs an atomic operation; `mask` is not empty.
    pub(super) fn change(
        &mut self,
        warp: &mut Warp,
        frame: usize,
        op: &Op,
        mask: u32,
        line: u32,
    ) -> Step {
        match op {
            Op::Atomic {
                space,
                op,
                bytes,
                d,
                address,
                a,
                b,
            } => {
                let addresses = addresses(&warp.frames[frame], address);
                let transfer = Transfer {
                    addresses: &addresses,
                    mask,
                    bytes: *bytes,
                    line,
                    order: Order::Strong,
                    wanted: ALL_WORDS,
                };
                transfer.check_alignment()?;
                let a = value_of(&warp.frames[frame], *a);
                let b = match b {
                    Some(b) => value_of(&warp.frames[frame], *b),
                    None => [0; 32],
                };
                let returns = d.is_some();
                let change = |lane: usize, old: u128| {
                    u128::from(apply(*op, *bytes, old as u64, a[lane], b[lane]))
                };
                let (old, changed) = self.atomic(warp, *space, &transfer, returns, &change)?;
                let frame = &mut warp.frames[frame];
                match *d {
                    Some(Reg::Word(d)) => {
                        let low = old.map(|value| value as u32);
                        put(&mut frame.words[d.0 as usize], &low, mask);
                    }
                    Some(Reg::Long(d)) => {
                        let low = old.map(|value| value as u64);
                        put_long(&mut frame.longs[d.0 as usize], &low, mask);
                    }
                    _ => {}
                }
                // Nobody waits by a minimum or maximum.
                let extreme = matches!(
                    op,
                    AtomicOp::MinU | AtomicOp::MinS | AtomicOp::MaxU | AtomicOp::MaxS
                );
                self.changed_atomically(warp, &transfer, returns, changed || extreme);
                Ok(())
            }
            Op::Exchange {
                space,
                d,
                address,
                new,
                compared,
            } => {
                let addresses = addresses(&warp.frames[frame], address);
                let transfer = Transfer {
                    addresses: &addresses,
                    mask,
                    bytes: 16,
                    line,
                    order: Order::Strong,
                    wanted: ALL_WORDS,
                };
                transfer.check_alignment()?;
                let joined = |[low, high]: [Reg; 2]| -> [u128; 32] {
                    let low = value_of(&warp.frames[frame], low);
                    let high = value_of(&warp.frames[frame], high);
                    std::array::from_fn(|i| u128::from(high[i]) << 64 | u128::from(low[i]))
                };
                let (new, compared) = (joined(*new), compared.map(joined));
                let change = |lane: usize, old: u128| match &compared {
                    Some(compared) if compared[lane] != old => old,
                    _ => new[lane],
                };
                let (old, changed) = self.atomic(warp, *space, &transfer, true, &change)?;
                let frame = &mut warp.frames[frame];
                for (d, shift) in d.iter().zip([0, 64]) {
                    if let Some(Reg::Long(d)) = d {
                        let part = old.map(|value| (value >> shift) as u64);
                        put_long(&mut frame.longs[d.0 as usize], &part, mask);
                    }
                }
                self.changed_atomically(warp, &transfer, true, changed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Changes memory atomically, lane by lane; what it was, and whether any differs.
    fn atomic(
        &mut self,
        warp: &mut Warp,
        space: Space,
        transfer: &Transfer<'_>,
        returns: bool,
        change: &dyn Fn(usize, u128) -> u128,
    ) -> Step<([u128; 32], bool)> {
        let mut old = [0; 32];
        let changed = Cell::new(false);
        let change = |lane: usize, old: u128| {
            let new = change(lane, old);
            changed.set(changed.get() | (new != old));
            new
        };
        self.in_spaces(space, transfer, |worker, space, transfer| match space {
            Space::Shared => worker.shared_atomic(warp.index, transfer, &change, &mut old),
            Space::Local => Err(Mistake::at(
                FaultKind::InvalidOperand,
                transfer.mask.trailing_zeros(),
                transfer.addresses[transfer.mask.trailing_zeros() as usize],
                "an atomic operation on local memory",
            )),
            Space::Param | Space::Constant => Err(read_only(transfer, space)),
            _ => {
                let clocks = &mut worker.block.clocks;
                let change = (returns, &change as &dyn Fn(usize, u128) -> u128);
                worker
                    .global
                    .atomic(clocks, warp.index, transfer, change, &mut old)
            }
        })?;
        Ok((old, changed.get()))
    }

    /// Notes for the turns of others what an atomic operation did.
    fn changed_atomically(
        &mut self,
        warp: &mut Warp,
        transfer: &Transfer<'_>,
        returns: bool,
        acted: bool,
    ) {
        if !returns {
            self.changed(warp);
        } else if acted {
            self.acted(warp);
        } else {
            let first = transfer.addresses[transfer.mask.trailing_zeros() as usize];
            self.polled(warp, first, transfer.mask, transfer.line);
        }
    }
}

/// The value of an operand.
fn value_of(frame: &Frame, reg: Reg) -> Longs {
    match reg {
        Reg::Word(a) => frame.words[a.0 as usize].map(u64::from),
        Reg::Long(a) => frame.longs[a.0 as usize],
        Reg::Pred(_) => [0; 32],
    }
}

/// The new value of a word or long under an atomic operation.
fn apply(op: AtomicOp, bytes: u32, old: u64, a: u64, b: u64) -> u64 {
    let extend = |x: u64| {
        if bytes == 4 {
            i64::from(x as u32 as i32)
        } else {
            x as i64
        }
    };
    match op {
        AtomicOp::Add => old.wrapping_add(a),
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
        AtomicOp::MinU => old.min(a),
        AtomicOp::MaxU => old.max(a),
        AtomicOp::MinS => extend(old).min(extend(a)) as u64,
        AtomicOp::MaxS => extend(old).max(extend(a)) as u64,
        AtomicOp::Inc => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Dec => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        AtomicOp::Exch => a,
        AtomicOp::Cas => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOp::AddF32 => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(a as u32);
            u64::from(sum.to_bits())
        }
        AtomicOp::Arrive | AtomicOp::ArriveAndDrop | AtomicOp::Expect | AtomicOp::Landed => {
            barrier_step(op, old, a)
        }
        AtomicOp::AddF64 => (f64::from_bits(old) + f64::from_bits(a)).to_bits(),
    }
}
