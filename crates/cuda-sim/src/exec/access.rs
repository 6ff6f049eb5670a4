//! Loads and stores: from registers to a space and back.
//!
//! An access moves up to 32 bytes per lane, aligned to their number. They pass
//! through a buffer of words, so that every space knows one kind of transfer only.

use super::frame::Frame;
use super::mask::{FULL, lanes_of, put, put_long};
use super::mistake::{Mistake, Step};
use super::run::Worker;
use super::tally::digest;
use super::transfer::{ALL_WORDS, Buffer, Rows, Transfer};
use super::undefined::Origin;
use super::warp::Warp;
use crate::check::FaultKind;
use crate::ir::{Address, Element, L, Longs, Op, Reg, W, Words};
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};
use crate::syntax::types::Space;

/// The words of a vector whose elements have a register to go to.
fn wanted(d: &[Option<Reg>], element: Element) -> u8 {
    if element.bytes < 4 {
        return ALL_WORDS;
    }
    let each = element.bytes as usize / 4;
    let ones = (1 << each) - 1;
    d.iter()
        .enumerate()
        .filter(|(_, d)| d.is_some())
        .fold(0, |words, (i, _)| words | ones << (i * each))
}

/// The address of each lane.
pub(super) fn addresses(frame: &Frame, address: &Address) -> Longs {
    let offset = address.offset as u64;
    let mut out = [0; 32];
    match address.base {
        Reg::Long(base) => {
            let base = &frame.longs[base.0 as usize];
            for lane in 0..32 {
                out[lane] = base[lane].wrapping_add(offset);
            }
        }
        Reg::Word(base) => {
            let base = &frame.words[base.0 as usize];
            for lane in 0..32 {
                // 32-bit addresses, of shared memory above all, wrap at 32 bits.
                out[lane] = u64::from(base[lane].wrapping_add(offset as u32));
            }
        }
        Reg::Pred(_) => {}
    }
    out
}

/// Takes the elements of a vector out of the buffer.
fn unload(
    (words, longs): (&mut [Words], &mut [Longs]),
    d: &[Option<Reg>],
    element: Element,
    rows: &Rows,
    mask: u32,
) {
    for (i, d) in d.iter().enumerate() {
        let place = i * element.bytes as usize;
        let word = &rows[place / 4];
        match (*d, element.bytes) {
            (None | Some(Reg::Pred(_)), _) => {}
            (Some(Reg::Word(d)), 4) => put(&mut words[d.0 as usize], word, mask),
            (Some(Reg::Long(d)), 8) => {
                let high = &rows[place / 4 + 1];
                let mut value = [0; 32];
                for lane in 0..32 {
                    value[lane] = u64::from(high[lane]) << 32 | u64::from(word[lane]);
                }
                put_long(&mut longs[d.0 as usize], &value, mask);
            }
            (Some(d), bytes) => {
                let (drop, shift) = (32 - 8 * bytes.min(4), 8 * (place % 4));
                let mut value = [0; 32];
                for lane in 0..32 {
                    let bits = word[lane] >> shift << drop;
                    value[lane] = if element.signed {
                        (bits as i32 >> drop) as u32
                    } else {
                        bits >> drop
                    };
                }
                match d {
                    Reg::Word(d) => put(&mut words[d.0 as usize], &value, mask),
                    Reg::Long(d) => {
                        let mut long = [0; 32];
                        for lane in 0..32 {
                            long[lane] = if element.signed {
                                i64::from(value[lane] as i32) as u64
                            } else {
                                u64::from(value[lane])
                            };
                        }
                        put_long(&mut longs[d.0 as usize], &long, mask);
                    }
                    Reg::Pred(_) => {}
                }
            }
        }
    }
}

/// Puts the elements of a vector into the buffer.
fn stow((words, longs): (&[Words], &[Longs]), a: &[Reg], element: Element, rows: &mut Rows) {
    for (i, a) in a.iter().enumerate() {
        let place = i * element.bytes as usize;
        let mut low = [0; 32];
        match *a {
            Reg::Word(a) => low = words.get(a.0 as usize).copied().unwrap_or([0; 32]),
            Reg::Long(a) => {
                let long = longs.get(a.0 as usize).unwrap_or(&[0; 32]);
                for lane in 0..32 {
                    low[lane] = long[lane] as u32;
                }
                if element.bytes == 8 {
                    for lane in 0..32 {
                        rows[place / 4 + 1][lane] = (long[lane] >> 32) as u32;
                    }
                }
            }
            Reg::Pred(_) => {}
        }
        if element.bytes >= 4 {
            rows[place / 4] = low;
        } else {
            let ones = (1u32 << (8 * element.bytes)) - 1;
            let shift = 8 * (place % 4);
            for lane in 0..32 {
                let word = &mut rows[place / 4][lane];
                *word = *word & !(ones << shift) | (low[lane] & ones) << shift;
            }
        }
    }
}

/// Puts what a load brought into registers, and notes what nobody defined of it.
fn receive(
    frame: &mut Frame,
    d: &[Option<Reg>],
    element: Element,
    buffer: &Buffer,
    mask: u32,
    origin: impl Fn(usize) -> Origin,
) {
    unload(
        (&mut frame.words, &mut frame.longs),
        d,
        element,
        &buffer.rows,
        mask,
    );
    let Some(rows) = &buffer.undefined else {
        return;
    };
    for (i, &reg) in d.iter().enumerate() {
        let (mut word, mut long) = ([[0; 32]], [[0; 32]]);
        let (one, bits) = match reg {
            Some(Reg::Word(_)) => (Reg::Word(W(0)), false),
            Some(Reg::Long(_)) => (Reg::Long(L(0)), true),
            _ => continue,
        };
        let mut place = vec![None; i];
        place.push(Some(one));
        unload((&mut word, &mut long), &place, element, rows, mask);
        let bits = if bits {
            long[0]
        } else {
            word[0].map(u64::from)
        };
        let reg = reg.unwrap_or(one);
        frame.undefined.loaded(reg, &bits, |lane, byte| {
            let mut origin = origin(lane);
            if let Origin::Loaded { address, .. } = &mut origin {
                *address += i as u64 * u64::from(element.bytes) + u64::from(byte);
            }
            origin
        });
    }
}

/// Takes what a store writes out of registers, with what nobody defined of it.
fn send(frame: &Frame, a: &[Reg], element: Element, mask: u32) -> Buffer {
    let mut buffer = Buffer::new();
    stow((&frame.words, &frame.longs), a, element, &mut buffer.rows);
    if frame.undefined.lanes & mask != 0 {
        let mut rows = Box::new([[0; 32]; 8]);
        let undefined = (&*frame.undefined.words, &*frame.undefined.longs);
        stow(undefined, a, element, &mut rows);
        if *rows != [[0; 32]; 8] {
            buffer.undefined = Some(rows);
        }
    }
    buffer
}

impl Worker<'_> {
    /// Runs a memory instruction; `mask` is not empty.
    pub(super) fn memory(
        &mut self,
        warp: &mut Warp,
        frame: usize,
        op: &Op,
        mask: u32,
        line: u32,
    ) -> Step {
        if mask == FULL && !self.launch.trace && self.shared_by_stride(warp, frame, op, line)? {
            return Ok(());
        }
        match op {
            Op::LoadParam { element, d, offset } => {
                let mut buffer = Buffer::new();
                let words = (element.bytes * d.len() as u32).div_ceil(4);
                let frame = &mut warp.frames[frame];
                frame.read_param(*offset, words, &mut buffer);
                receive(frame, d, *element, &buffer, mask, |_| Origin::Loaded {
                    space: Space::Param,
                    address: u64::from(*offset),
                    line,
                });
                Ok(())
            }
            Op::StoreParam { element, a, offset } => {
                let frame = &mut warp.frames[frame];
                let buffer = send(frame, a, *element, mask);
                let bytes = element.bytes * a.len() as u32;
                frame.write_param(*offset, bytes, &buffer, mask);
                Ok(())
            }
            Op::Load { .. } | Op::Store { .. } => self.transfer(warp, frame, op, mask, line),
            Op::Atomic { .. } | Op::Exchange { .. } => self.change(warp, frame, op, mask, line),
            Op::ClusterArrive => self.arrive_in_cluster(warp, mask),
            Op::Rows(rows) => self.rows(warp, frame, rows, mask, line),
            Op::Release => {
                let block = &mut *self.block;
                block.clocks.release();
                self.global.released(block.number, &block.clocks);
                Ok(())
            }
            Op::System(call) => self.system(warp, frame, call, mask, line),
            Op::Copy(copy) => self.copy(warp, frame, copy, mask, line),
            _ => Ok(()),
        }
    }

    /// Runs a load or a store.
    fn transfer(&mut self, warp: &mut Warp, frame: usize, op: &Op, mask: u32, line: u32) -> Step {
        match op {
            Op::Load {
                space,
                element,
                d,
                address,
                order,
            } => {
                let mut buffer = Buffer::new();
                let addresses = addresses(&warp.frames[frame], address);
                let transfer = Transfer {
                    addresses: &addresses,
                    mask,
                    bytes: element.bytes * d.len() as u32,
                    line,
                    order: *order,
                    wanted: wanted(d, *element),
                };
                transfer.check_alignment()?;
                self.load(*space, &transfer, warp, frame, &mut buffer)?;
                let frame = &mut warp.frames[frame];
                receive(frame, d, *element, &buffer, mask, |lane| Origin::Loaded {
                    space: *space,
                    address: addresses[lane],
                    line,
                });
                if order.is_strong() {
                    let first = addresses[mask.trailing_zeros() as usize];
                    self.polled(warp, first, mask, line);
                }
            }
            Op::Store {
                space,
                element,
                a,
                address,
                order,
            } => {
                let addresses = addresses(&warp.frames[frame], address);
                let buffer = send(&warp.frames[frame], a, *element, mask);
                let transfer = Transfer {
                    addresses: &addresses,
                    mask,
                    bytes: element.bytes * a.len() as u32,
                    line,
                    order: *order,
                    wanted: ALL_WORDS,
                };
                transfer.check_alignment()?;
                self.store(*space, &transfer, warp, &buffer)?;
                if order.is_strong() {
                    self.acted(warp);
                } else if *space != Space::Local {
                    self.changed(warp);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes to one space, or to each that generic addresses lie in.
    pub(super) fn store(
        &mut self,
        space: Space,
        transfer: &Transfer<'_>,
        warp: &mut Warp,
        buffer: &Buffer,
    ) -> Step {
        self.in_spaces(space, transfer, |worker, space, transfer| match space {
            Space::Shared => worker.shared_write(warp.index, transfer, buffer),
            Space::Local => warp.local.write(transfer, buffer),
            Space::Param | Space::Constant => Err(read_only(transfer, space)),
            _ => {
                let clocks = &mut worker.block.clocks;
                worker.global.write(clocks, warp.index, transfer, buffer)
            }
        })
    }

    /// Reads from one space, or from each that generic addresses lie in.
    pub(super) fn load(
        &mut self,
        space: Space,
        transfer: &Transfer<'_>,
        warp: &mut Warp,
        frame: usize,
        buffer: &mut Buffer,
    ) -> Step {
        self.in_spaces(space, transfer, |worker, space, transfer| match space {
            Space::Shared => worker.shared_read(warp.index, transfer, buffer),
            Space::Local => warp.local.read(transfer, buffer),
            Space::Param => warp.frames[frame].read_param_at(transfer, buffer),
            _ => {
                let clocks = &mut worker.block.clocks;
                worker.global.read(clocks, warp.index, transfer, buffer)
            }
        })
    }

    /// Runs `act` on the lanes of each space that a transfer goes to, with
    /// addresses relative to the space.
    pub(super) fn in_spaces(
        &mut self,
        space: Space,
        transfer: &Transfer<'_>,
        mut act: impl FnMut(&mut Self, Space, &Transfer<'_>) -> Step,
    ) -> Step {
        if self.launch.trace {
            for lane in lanes_of(transfer.mask) {
                self.trace = digest(self.trace, transfer.addresses[lane]);
            }
        }
        let of_block = |act: &mut dyn FnMut(&mut Self, Space, &Transfer<'_>) -> Step,
                        worker: &mut Self,
                        transfer: &Transfer<'_>| {
            worker.in_cluster(transfer, |worker, transfer| {
                act(worker, Space::Shared, transfer)
            })
        };
        if space == Space::Cluster {
            return of_block(&mut act, self, transfer);
        }
        if space != Space::Generic {
            return act(self, space, transfer);
        }
        let mut rest = transfer.mask;
        for (space, window) in [
            (Space::Shared, SHARED_WINDOW),
            (Space::Local, LOCAL_WINDOW),
            (Space::Param, PARAM_WINDOW),
        ] {
            let mut mask = 0;
            for lane in lanes_of(rest) {
                mask |= u32::from(in_window(transfer.addresses[lane], window)) << lane;
            }
            if mask == 0 {
                continue;
            }
            let mut relative = *transfer.addresses;
            for lane in lanes_of(mask) {
                relative[lane] -= window;
            }
            let part = Transfer {
                addresses: &relative,
                mask,
                ..*transfer
            };
            if space == Space::Shared {
                of_block(&mut act, self, &part)?;
            } else {
                act(self, space, &part)?;
            }
            rest &= !mask;
        }
        if rest == 0 {
            return Ok(());
        }
        let part = Transfer {
            mask: rest,
            ..*transfer
        };
        act(self, Space::Global, &part)
    }
}

/// The mistake of a write to memory that cannot be written.
pub(super) fn read_only(transfer: &Transfer<'_>, space: Space) -> Box<Mistake> {
    let lane = transfer.mask.trailing_zeros();
    Mistake::at(
        FaultKind::ReadOnly,
        lane,
        transfer.addresses[lane as usize & 31],
        format!("{} bytes to {} memory", transfer.bytes, space.name()),
    )
}
