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
use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use super::transfer::{Buffer, Transfer};
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

/// The last access of a kind to each word, field by field, so that a warp's words are
/// looked at together.
#[derive(Default)]
struct Marks {
    clocks: Vec<u32>,
    /// From the lowest bit: thread (16 bits), bytes (4), and whether it was strong.
    who: Vec<u32>,
    lines: Vec<u32>,
}

/// An access of a thread to a word of shared memory.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub thread: usize,
    /// Of the word; a bit each.
    pub bytes: u8,
    pub line: u32,
    pub strong: bool,
}

impl Access {
    fn who(&self) -> u32 {
        self.thread as u32 | u32::from(self.bytes) << 16 | u32::from(self.strong) << 20
    }
}

impl Marks {
    fn new(words: usize) -> Self {
        Marks {
            clocks: vec![0; words],
            who: vec![0; words],
            lines: vec![0; words],
        }
    }

    fn at(&self, word: usize) -> Seen {
        let who = self.who[word];
        Seen {
            clock: self.clocks[word],
            line: self.lines[word],
            thread: who as u16,
            bytes: (who >> 16 & 0xf) as u8,
            strong: who >> 20 != 0,
        }
    }

    #[inline(always)]
    fn put(&mut self, word: usize, now: u32, access: Access) {
        self.clocks[word] = now;
        self.who[word] = access.who();
        self.lines[word] = access.line;
    }

    /// Whether the access is ordered before all that is done now, or the thread's own.
    #[inline(always)]
    fn is_past(&self, word: usize, floor: u32, thread: usize) -> bool {
        self.clocks[word] < floor || self.who[word] & 0xffff == thread as u32
    }

    /// The same of a warp's accesses, of which each lane's has so many words and begins where
    /// the one before it ends.
    #[inline(always)]
    fn are_past<const WORDS: usize>(&self, first: usize, floor: u32, thread: usize) -> bool {
        let words = first..first + 32 * WORDS;
        let (clocks, who) = (&self.clocks[words.clone()], &self.who[words]);
        are_ordered(clocks, who, floor, (thread as u32, WORDS.ilog2()))
    }

    /// Notes the accesses of such a warp; `access` is the first lane's.
    #[inline(always)]
    fn put_all<const WORDS: usize>(&mut self, first: usize, now: u32, access: Access) {
        let words = first..first + 32 * WORDS;
        self.clocks[words.clone()].fill(now);
        self.lines[words.clone()].fill(access.line);
        put_threads(&mut self.who[words], access.who(), WORDS.ilog2());
    }
}

/// Whether clocks are below the floor, or the access that of the thread which goes there now:
/// the first, and one further every `1 << shift` words. Of slices, as compilers make vector
/// instructions of loops whose length they do not know, and scalar ones of those they unroll.
#[inline(never)]
fn are_ordered(clocks: &[u32], who: &[u32], floor: u32, (first, shift): (u32, u32)) -> bool {
    let who = &who[..clocks.len()];
    let mut unordered = 0;
    for k in 0..clocks.len() {
        // The highest bit is set where the clock is not below the floor, of which it lies less
        // than 2^31 apart, and the thread is another.
        let thread = first.wrapping_add((k as u32).wrapping_shr(shift));
        let differs = who[k] & 0xffff ^ thread;
        unordered |= !clocks[k].wrapping_sub(floor) & differs.wrapping_add(0x7fff_ffff);
    }
    unordered >> 31 == 0
}

/// Notes who goes there: `first`, and the next thread every `1 << shift` words.
#[inline(never)]
fn put_threads(who: &mut [u32], first: u32, shift: u32) {
    for k in 0..who.len() {
        who[k] = first.wrapping_add((k as u32).wrapping_shr(shift));
    }
}

/// Whether all clocks are below the floor.
#[inline(never)]
fn are_below(clocks: &[u32], floor: u32) -> bool {
    let not = |all, clock: &u32| all | !clock.wrapping_sub(floor);
    clocks.iter().fold(0, not) >> 31 == 0
}

/// What belongs to the words of a warp's lanes side by side, `WORDS` of each, in rows of 32.
#[inline(always)]
fn row<const WORDS: usize, T>(all: &[T], first: usize) -> &[[T; 32]] {
    all[first..first + 32 * WORDS].as_chunks().0
}

#[inline(always)]
fn row_mut<const WORDS: usize, T>(all: &mut [T], first: usize) -> &mut [[T; 32]] {
    all[first..first + 32 * WORDS].as_chunks_mut().0
}

pub(crate) struct Shared {
    pub(super) words: Vec<u32>,
    /// First byte and end of what there is, ascending.
    places: Vec<(u32, u32)>,
    /// Bits of the bytes written, per word.
    pub(super) written: Vec<u8>,
    writes: Marks,
    /// The last read.
    reads: Marks,
    /// The last read by another thread of its warp, the last by another warp.
    others: Vec<[Seen; 2]>,
    /// The clock of the later of these.
    others_clock: Vec<u32>,
    /// Whether races are looked for.
    pub races: bool,
    pub(super) uninitialised: bool,
}

impl Shared {
    pub fn new(layout: &Layout, checks: Checks) -> Self {
        let words = layout.bytes.div_ceil(4) as usize;
        let watched = if checks.races { words } else { 0 };
        let Checks {
            races,
            uninitialised,
            ..
        } = checks;
        Shared {
            words: vec![0; words],
            places: layout.places.clone(),
            written: vec![0; if uninitialised { words } else { 0 }],
            writes: Marks::new(watched),
            reads: Marks::new(watched),
            others: vec![Default::default(); watched],
            others_clock: vec![0; watched],
            races,
            uninitialised,
        }
    }

    /// Makes ready for the next block; the clock may have begun anew.
    pub fn begin(&mut self, restarted: bool) {
        if restarted {
            let words = self.others_clock.len();
            (self.writes, self.reads) = (Marks::new(words), Marks::new(words));
            self.others.fill(Default::default());
            self.others_clock.fill(0);
        }
        self.words.fill(0);
        self.written.fill(0);
    }

    pub(super) fn check_bounds(&self, transfer: &Transfer<'_>) -> Step {
        let (low, high) = transfer.range();
        if self.is_whole(low, high.saturating_add(transfer.bytes.into())) {
            return Ok(());
        }
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

    /// The bytes of one word that an access reads and nothing has written, counted from the
    /// first that it reads; a bit each.
    pub(super) fn unwritten(&self, at: u64, bytes: u32) -> u8 {
        (bits(at, bytes) & !self.written[at as usize / 4]) >> (at % 4)
    }

    pub(super) fn mark_written(&mut self, at: u64, bytes: u32) {
        let first = at as usize / 4;
        for written in &mut self.written[first..first + bytes.div_ceil(4) as usize] {
            *written |= bits(at, bytes);
        }
    }

    /// Marks bytes that are written with an undefined value: they are as good as unwritten.
    pub(super) fn forget_undefined(&mut self, transfer: &Transfer<'_>, buffer: &Buffer) {
        if !self.uninitialised || buffer.undefined.is_none() {
            return;
        }
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            for k in 0..transfer.bytes.div_ceil(4) as usize {
                let lost = !buffer.defined(k, lane) & bits(0, transfer.bytes);
                self.written[at as usize / 4 + k] &= !(lost << (at % 4));
            }
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
                    let access = Access {
                        thread: 32 * warp + lane,
                        bytes: 0xf,
                        line: transfer.line,
                        strong: false,
                    };
                    self.note_write(clocks, word, access, true)?;
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
                "{now} while unordered with thread number {}, which {then} it",
                before.thread
            ),
        )
        .after(before.line)
    }

    /// Checks a read against the last write, and notes it.
    #[inline(always)]
    pub(super) fn note_read(&mut self, clocks: &Clocks, at: u64, access: Access) -> Step {
        let (word, floor, thread) = (at as usize / 4, clocks.floor, access.thread);
        if self.writes.is_past(word, floor, thread) && self.reads.is_past(word, floor, thread) {
            self.reads.put(word, clocks.now, access);
            return Ok(());
        }
        self.note_read_among_others(clocks, at, access)
    }

    fn note_read_among_others(&mut self, clocks: &Clocks, at: u64, access: Access) -> Step {
        let word = at as usize / 4;
        let thread = access.thread;
        let write = self.writes.at(word);
        let both_strong = write.strong && access.strong;
        if write.bytes & access.bytes != 0 && !both_strong && !write.ordered(clocks, thread) {
            return Err(self.race(at, thread % 32, "read", &write, "wrote"));
        }
        let last = self.reads.at(word);
        if last.clock != 0 && usize::from(last.thread) != thread {
            let elsewhere = usize::from(last.thread) / 32 != thread / 32;
            self.others[word][usize::from(elsewhere)] = last;
            self.others_clock[word] = self.others_clock[word].max(last.clock);
        }
        self.reads.put(word, clocks.now, access);
        Ok(())
    }

    /// Checks a write against what came before, and notes it; `changes` where it leaves
    /// another value.
    #[inline(always)]
    pub(super) fn note_write(
        &mut self,
        clocks: &Clocks,
        at: u64,
        access: Access,
        changes: bool,
    ) -> Step {
        let (word, floor, thread) = (at as usize / 4, clocks.floor, access.thread);
        let alone = self.writes.is_past(word, floor, thread)
            && self.reads.is_past(word, floor, thread)
            && self.others_clock[word] < floor;
        if !alone {
            self.check_write(clocks, at, access, changes)?;
        }
        self.writes.put(word, clocks.now, access);
        Ok(())
    }

    fn check_write(&self, clocks: &Clocks, at: u64, access: Access, changes: bool) -> Step {
        let word = at as usize / 4;
        let conflicts = |seen: &Seen| {
            let both_strong = seen.strong && access.strong;
            let meet = seen.bytes & access.bytes != 0 && !both_strong;
            meet && !seen.ordered(clocks, access.thread)
        };
        let write = self.writes.at(word);
        if changes && conflicts(&write) {
            return Err(self.race(at, access.thread % 32, "written", &write, "wrote"));
        }
        let [second, third] = self.others[word];
        for read in [self.reads.at(word), second, third] {
            if conflicts(&read) {
                return Err(self.race(at, access.thread % 32, "written", &read, "read"));
            }
        }
        Ok(())
    }

    /// Notes reads of a warp whose lanes go to neighbouring places of so many words, from
    /// `first` on; false, and nothing done, where they must be looked at one by one.
    #[inline(always)]
    pub(super) fn note_reads<const WORDS: usize>(
        &mut self,
        clocks: &Clocks,
        first: usize,
        access: Access,
    ) -> bool {
        let (floor, thread) = (clocks.floor, access.thread);
        let past = self.writes.are_past::<WORDS>(first, floor, thread)
            && self.reads.are_past::<WORDS>(first, floor, thread);
        if past {
            self.reads.put_all::<WORDS>(first, clocks.now, access);
        }
        past
    }

    /// The same of writes.
    #[inline(always)]
    pub(super) fn note_writes<const WORDS: usize>(
        &mut self,
        clocks: &Clocks,
        first: usize,
        access: Access,
    ) -> bool {
        let (floor, thread) = (clocks.floor, access.thread);
        let past = are_below(&self.others_clock[first..first + 32 * WORDS], floor)
            && self.writes.are_past::<WORDS>(first, floor, thread)
            && self.reads.are_past::<WORDS>(first, floor, thread);
        if past {
            self.writes.put_all::<WORDS>(first, clocks.now, access);
        }
        past
    }

    /// Whether what was last written at a word is ordered before all that is done now.
    pub(super) fn is_settled(&self, word: usize, clocks: &Clocks) -> bool {
        self.writes.clocks[word] < clocks.floor
    }

    /// Whether so many accesses side by side, each aligned, lie in one place.
    pub(super) fn holds(&self, at: u64, bytes: usize, accesses: usize) -> bool {
        at.is_multiple_of(bytes as u64)
            && self.is_whole(at, at.saturating_add((bytes * accesses) as u64))
    }

    /// Whether the bytes from `at` to `end` lie in one place.
    fn is_whole(&self, at: u64, end: u64) -> bool {
        let mut places = self.places.iter();
        places.any(|&(first, last)| at >= first.into() && end <= last.into())
    }

    /// Whether the words of such a warp are written, every byte of them.
    #[inline(always)]
    pub(super) fn are_written<const WORDS: usize>(&self, first: usize) -> bool {
        let mut rows = row::<WORDS, _>(&self.written, first).iter();
        rows.all(|written| *written == [0xf; 32])
    }

    /// Notes that the words of such a warp are written.
    #[inline(always)]
    pub(super) fn mark_row<const WORDS: usize>(&mut self, first: usize) {
        row_mut::<WORDS, _>(&mut self.written, first).fill([0xf; 32]);
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
