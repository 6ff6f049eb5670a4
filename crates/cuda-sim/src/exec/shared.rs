//! Shared memory of a block: bounds, what is initialised, races and bank conflicts.
//!
//! **Races.** Accesses of two threads to the same bytes, at least one a write and
//! not both atomic (or volatile, relaxed, acquiring, releasing), must be ordered as
//! `Clocks` says: by a barrier, or by a release and a look. Nothing else orders
//! lanes, not even standing in the same warp. Writes of the same value are no race. Reports know the last write of a
//! word and the last reads by three different threads, of which one is in
//! another warp if any was.

use super::clocks::Clocks;
use super::layout::Layout;
use super::transfer::Transfer;
use super::{Mistake, Step, lanes_of};
use crate::check::{Checks, FaultKind};

/// An access to a word, as far as it matters later.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Synchronisations of the block before it; zero is no access.
    clock: u32,
    line: u32,
    thread: u16,
    bytes: u8,
    /// Atomic, volatile, relaxed, acquiring or releasing.
    strong: bool,
}

impl Seen {
    /// Whether a synchronisation lies between this access and now.
    fn ordered(&self, clocks: &Clocks, thread: usize) -> bool {
        self.clock == 0 || clocks.ordered(self.thread as usize, self.clock, thread)
    }
}

#[derive(Clone, Copy, Default)]
struct History {
    write: Seen,
    /// The last read, the last by another thread of its warp, the last by another warp.
    reads: [Seen; 3],
}

pub(crate) struct Shared {
    pub(super) words: Vec<u32>,
    /// First byte and end of what there is, ascending.
    places: Vec<(u32, u32)>,
    /// Bits of the bytes written, per word.
    written: Vec<u8>,
    histories: Vec<History>,
    /// Whether races are looked for.
    pub races: bool,
    pub(super) uninitialised: bool,
}

impl Shared {
    pub fn new(layout: &Layout, checks: Checks) -> Self {
        let words = layout.bytes.div_ceil(4) as usize;
        let Checks {
            races,
            uninitialised,
            ..
        } = checks;
        Shared {
            words: vec![0; words],
            places: layout.places.clone(),
            written: vec![0; if uninitialised { words } else { 0 }],
            histories: vec![History::default(); if races { words } else { 0 }],
            races,
            uninitialised,
        }
    }

    /// Makes ready for the next block; the clock may have begun anew.
    pub fn begin(&mut self, restarted: bool) {
        if restarted {
            self.histories.fill(History::default());
        }
        self.words.fill(0);
        self.written.fill(0);
    }

    pub(super) fn check_bounds(&self, transfer: &Transfer<'_>) -> Step {
        let mut place = (0, 0);
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let end = at.saturating_add(u64::from(transfer.bytes));
            let within = |&(first, last): &(u32, u32)| at >= u64::from(first) && end <= last.into();
            if within(&place) {
                continue;
            }
            let Some(found) = self.places.iter().find(|place| within(place)) else {
                return Err(self.outside(at, transfer.bytes, lane));
            };
            place = *found;
        }
        Ok(())
    }

    fn outside(&self, at: u64, bytes: u32, lane: usize) -> Box<Mistake> {
        let before = self
            .places
            .iter()
            .rev()
            .find(|place| u64::from(place.0) <= at);
        let near = before.map_or(String::new(), |&(first, end)| {
            let past = at.saturating_sub(u64::from(end));
            format!(
                ", {past} bytes past the end of the {} at {first:#x}",
                end - first
            )
        });
        Mistake::at(
            FaultKind::OutOfBounds,
            lane as u32,
            at,
            format!("{bytes} bytes of shared memory{near}"),
        )
    }

    pub(super) fn check_written(&self, at: u64, bytes: u32, lane: usize) -> Step {
        let bits = bits(at, bytes);
        if self.written[at as usize / 4] & bits == bits {
            return Ok(());
        }
        for byte in at..at + u64::from(bytes) {
            if self.written[byte as usize / 4] >> (byte % 4) & 1 == 0 {
                return Err(Mistake::at(
                    FaultKind::UninitialisedMemory,
                    lane as u32,
                    byte,
                    "in shared memory",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn mark_written(&mut self, at: u64, bytes: u32) {
        let first = at as usize / 4;
        for written in &mut self.written[first..first + bytes.div_ceil(4) as usize] {
            *written |= bits(at, bytes);
        }
    }

    /// Notes that an asynchronous copy writes here: what was there is gone, and what
    /// comes is not there yet.
    pub fn take_off(&mut self, clocks: &Clocks, warp: usize, transfer: &Transfer<'_>) -> Step {
        self.check_bounds(transfer)?;
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            for word in (at..at + u64::from(transfer.bytes)).step_by(4) {
                if self.races {
                    let thread = 32 * warp + lane;
                    self.note_write(clocks, word, 0xf, thread, transfer.line, (false, true))?;
                }
                if self.uninitialised {
                    self.written[word as usize / 4] = 0;
                }
            }
        }
        Ok(())
    }

    fn race(&self, at: u64, lane: usize, now: &str, before: &Seen, then: &str) -> Box<Mistake> {
        Mistake::at(
            FaultKind::SharedRace,
            lane as u32,
            at,
            format!(
                "{now} while unordered with thread number {}, which {then} it at line {}",
                before.thread, before.line
            ),
        )
    }

    /// Checks a read against the last write, and notes it.
    pub(super) fn note_read(
        &mut self,
        clocks: &Clocks,
        at: u64,
        bytes: u8,
        thread: usize,
        line: u32,
        strong: bool,
    ) -> Step {
        let word = at as usize / 4;
        let history = self.histories[word];
        let write = history.write;
        let both_strong = write.strong && strong;
        if write.bytes & bytes != 0 && !both_strong && !write.ordered(clocks, thread) {
            return Err(self.race(at, thread % 32, "read", &write, "wrote"));
        }
        let seen = Seen {
            clock: clocks.now,
            line,
            thread: thread as u16,
            bytes,
            strong,
        };
        let reads = &mut self.histories[word].reads;
        let last = reads[0];
        if last.clock != 0 && last.thread != seen.thread {
            if last.thread / 32 == seen.thread / 32 {
                reads[1] = last;
            } else {
                reads[2] = last;
            }
        }
        reads[0] = seen;
        Ok(())
    }

    /// Checks a write against what came before, and notes it.
    pub(super) fn note_write(
        &mut self,
        clocks: &Clocks,
        at: u64,
        bytes: u8,
        thread: usize,
        line: u32,
        (strong, changes): (bool, bool),
    ) -> Step {
        let word = at as usize / 4;
        let history = self.histories[word];
        let write = history.write;
        let both_strong = write.strong && strong;
        if write.bytes & bytes != 0 && changes && !both_strong && !write.ordered(clocks, thread) {
            return Err(self.race(at, thread % 32, "written", &write, "wrote"));
        }
        for read in &history.reads {
            let both_strong = read.strong && strong;
            if read.bytes & bytes != 0 && !both_strong && !read.ordered(clocks, thread) {
                return Err(self.race(at, thread % 32, "written", read, "read"));
            }
        }
        self.histories[word].write = Seen {
            clock: clocks.now,
            line,
            thread: thread as u16,
            bytes,
            strong,
        };
        Ok(())
    }
}

/// The bits of an access's bytes within one word.
pub(super) fn bits(at: u64, bytes: u32) -> u8 {
    if bytes < 4 {
        (((1 << bytes) - 1) << (at % 4)) as u8
    } else {
        0xf
    }
}
