//! Races in a block's shared memory.
//!
//! Accesses of two threads to the same bytes, at least one a write and not both atomic (or
//! volatile, relaxed, acquiring, releasing), must be ordered as [`Clocks`] says: by a barrier,
//! or by a release and a look. Nothing else orders lanes, not even standing in the same warp.
//! Writes of the same value are no race. Known are the last write of a word and the last reads
//! by three different threads, of which one is in another warp if any was.
//!
//! If warps access rows of 32 words by strides, few accesses need a check: as long as every
//! access to a row gives each word to the same thread, there is nothing to conflict with, and
//! what was last done there is noted once for the row.

use super::clocks::Clocks;
use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use super::stride::Stride;
use crate::check::FaultKind;
use std::ops::Range;

/// An access to a word, as far as it matters later.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Synchronisations of the block before it; zero is no access.
    clock: u32,
    line: u32,
    thread: u16,
    /// The bytes of the word that the access touches, a bit each.
    bytes: u8,
    /// Atomic, volatile, relaxed, acquiring or releasing.
    strong: bool,
}

impl Seen {
    /// Whether a synchronisation lies between this access and now.
    fn ordered(&self, clocks: &Clocks, thread: usize) -> bool {
        self.clock == 0 || clocks.ordered(self.thread as usize, self.clock, thread)
    }

    /// Whether the access is ordered before all that is done now, or the thread's own.
    #[inline(always)]
    fn is_past(&self, floor: u32, thread: usize) -> bool {
        self.clock < floor || usize::from(self.thread) == thread
    }
}

/// An access of a thread to a word of shared memory.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub thread: usize,
    /// The bytes of the word that the access touches, a bit each.
    pub bytes: u8,
    pub line: u32,
    pub strong: bool,
}

impl Access {
    /// The access, done at this clock.
    fn at(self, clock: u32) -> Seen {
        Seen {
            clock,
            line: self.line,
            thread: self.thread as u16,
            bytes: self.bytes,
            strong: self.strong,
        }
    }
}

/// What was last done to a word.
#[derive(Clone, Copy, Default)]
struct Word {
    write: Seen,
    /// The last read.
    read: Seen,
    /// The last read by another thread of its warp, the last by another warp.
    others: [Seen; 2],
}

impl Word {
    /// The access that a write conflicts with, and what it did, if there is one.
    #[inline(always)]
    fn conflict(
        &self,
        clocks: &Clocks,
        access: Access,
        changes: bool,
    ) -> Option<(Seen, &'static str)> {
        let past = |seen: &Seen| seen.is_past(clocks.floor, access.thread);
        let [second, third] = &self.others;
        if past(&self.write) && past(&self.read) && past(second) && past(third) {
            return None;
        }
        self.unordered(clocks, access, changes)
    }

    /// The same where the word was touched lately.
    #[inline(never)]
    fn unordered(
        &self,
        clocks: &Clocks,
        access: Access,
        changes: bool,
    ) -> Option<(Seen, &'static str)> {
        let past = |seen: &Seen| seen.is_past(clocks.floor, access.thread);
        let [second, third] = &self.others;
        let conflicts = |seen: &Seen| {
            let both_strong = seen.strong && access.strong;
            let meet = seen.bytes & access.bytes != 0 && !both_strong;
            meet && !past(seen) && !seen.ordered(clocks, access.thread)
        };
        if changes && conflicts(&self.write) {
            return Some((self.write, "wrote"));
        }
        let mut reads = [&self.read, second, third].into_iter();
        let read = reads.find(|read| conflicts(read))?;
        Some((*read, "read"))
    }
}

/// Which thread each word of a row belongs to: those of a warp take turns from a word on, the
/// origin, every so many words, the step. In one number, so that two are soon compared: 24 bits
/// of origin, 24 of step, the warp, and one that is always set.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Owners(u64);

impl Owners {
    const NONE: Owners = Owners(0);

    /// The owners that an access of a warp by a stride takes its words for.
    #[inline(always)]
    pub fn new<const WORDS: usize>(stride: &Stride<WORDS>, first: Access) -> Self {
        let (start, step) = stride.in_words();
        let origin = start - start % step.max(1);
        let warp = first.thread as u64 / 32;
        Owners(1 << 63 | warp << 48 | (step as u64) << 24 | origin as u64)
    }

    /// The thread of a word.
    fn of(self, word: usize) -> usize {
        let field = |at: u32, bits: u32| (self.0 >> at) as usize & ((1 << bits) - 1);
        32 * field(48, 15) + (word - field(0, 24)) / field(24, 24)
    }
}

/// The last accesses of owners to their words, as masks of words.
#[derive(Clone, Copy, Default)]
struct Done {
    mask: u32,
    clock: u32,
    line: u32,
}

/// What was last done to 32 words.
#[derive(Clone, Default)]
struct Row {
    /// The owners of the words, if all accesses that are not past give each word to one thread.
    owners: Owners,
    /// The accesses that are not noted at the words themselves yet, if there are owners.
    read: Done,
    write: Done,
    /// No access here is later.
    latest: u32,
}

/// What was done to each word of a block's shared memory.
pub(crate) struct Races {
    words: Vec<Word>,
    rows: Vec<Row>,
}

impl Races {
    /// Nothing done yet to so many words.
    pub fn new(words: usize) -> Self {
        Races {
            words: vec![Word::default(); words],
            rows: vec![Row::default(); words.div_ceil(32)],
        }
    }

    /// Notes at the words of a row what is noted of the row.
    fn spread(&mut self, row: usize) {
        let at = &mut self.rows[row];
        let owners = std::mem::replace(&mut at.owners, Owners::NONE);
        let (read, write) = (std::mem::take(&mut at.read), std::mem::take(&mut at.write));
        self.spread_one(row, owners, read, false);
        self.spread_one(row, owners, write, true);
    }

    /// Notes at words of a row what their owners have done to them.
    fn spread_one(&mut self, row: usize, owners: Owners, done: Done, writes: bool) {
        for lane in lanes_of(done.mask) {
            let word = 32 * row + lane;
            let access = Access {
                thread: owners.of(word),
                bytes: 0xf,
                line: done.line,
                strong: false,
            };
            let known = &mut self.words[word];
            let seen = if writes {
                &mut known.write
            } else {
                &mut known.read
            };
            *seen = access.at(done.clock);
        }
    }

    /// What was done to a word that is about to be touched by itself.
    #[inline(always)]
    fn touch(&mut self, word: usize, now: u32) -> &mut Word {
        if self.rows[word / 32].owners != Owners::NONE {
            self.spread(word / 32);
        }
        self.rows[word / 32].latest = now;
        &mut self.words[word]
    }

    /// Checks a read against the last write, and notes it.
    #[inline(always)]
    pub fn note_read(&mut self, clocks: &Clocks, at: u64, access: Access) -> Step {
        let thread = access.thread;
        let known = self.touch(at as usize / 4, clocks.now);
        if !known.write.is_past(clocks.floor, thread) {
            let write = known.write;
            let both_strong = write.strong && access.strong;
            if write.bytes & access.bytes != 0 && !both_strong && !write.ordered(clocks, thread) {
                return Err(race(at, thread % 32, "read", &write, "wrote"));
            }
        }
        let last = known.read;
        if !last.is_past(clocks.floor, thread) {
            let elsewhere = usize::from(last.thread) / 32 != thread / 32;
            known.others[usize::from(elsewhere)] = last;
        }
        known.read = access.at(clocks.now);
        Ok(())
    }

    /// Checks a write against what came before, and notes it; `changes` where it leaves
    /// another value.
    #[inline(always)]
    pub fn note_write(&mut self, clocks: &Clocks, at: u64, access: Access, changes: bool) -> Step {
        let known = self.touch(at as usize / 4, clocks.now);
        if let Some((seen, then)) = known.conflict(clocks, access, changes) {
            return Err(race(at, access.thread % 32, "written", &seen, then));
        }
        known.write = access.at(clocks.now);
        Ok(())
    }

    /// Checks and notes reads of words of a row by their owners; `first` is the first lane's.
    #[inline(always)]
    pub fn note_reads(
        &mut self,
        clocks: &Clocks,
        (row, mask): (usize, u32),
        owners: Owners,
        first: Access,
    ) -> Step {
        if self.note_row(clocks, (row, mask), owners, (first.line, false)) {
            return Ok(());
        }
        for lane in lanes_of(mask) {
            let word = 32 * row + lane;
            let thread = owners.of(word);
            self.note_read(clocks, 4 * word as u64, Access { thread, ..first })?;
        }
        Ok(())
    }

    /// The same of writes; false where one may be a race: then each must be looked at with the
    /// value it leaves.
    #[inline(always)]
    pub fn note_writes(
        &mut self,
        clocks: &Clocks,
        (row, mask): (usize, u32),
        owners: Owners,
        first: Access,
    ) -> bool {
        self.note_row(clocks, (row, mask), owners, (first.line, true))
            || lanes_of(mask).all(|lane| {
                let word = 32 * row + lane;
                let thread = owners.of(word);
                let access = Access { thread, ..first };
                let noted = self.note_write(clocks, 4 * word as u64, access, true);
                noted.is_ok()
            })
    }

    /// Checks and notes reads of the same words by all lanes of a warp. If what was written
    /// there is past, only the last two are of any account later.
    pub fn note_reads_by_all(
        &mut self,
        clocks: &Clocks,
        words: Range<usize>,
        first: Access,
    ) -> Step {
        let mut all = words.clone();
        let settled = all.all(|word| self.touch(word, clocks.now).write.clock < clocks.floor);
        for lane in if settled { 30 } else { 0 }..32 {
            let thread = first.thread + lane;
            for word in words.clone() {
                self.note_read(clocks, 4 * word as u64, Access { thread, ..first })?;
            }
        }
        Ok(())
    }

    /// Notes what owners do to words of a row, at a line, and whether they write; false where
    /// others may have been there.
    #[inline(always)]
    fn note_row(
        &mut self,
        clocks: &Clocks,
        (row, mask): (usize, u32),
        owners: Owners,
        (line, writes): (u32, bool),
    ) -> bool {
        let known = &mut self.rows[row];
        if known.owners != owners {
            if known.latest >= clocks.floor {
                return false;
            }
            *known = Row {
                owners,
                ..Row::default()
            };
        }
        known.latest = clocks.now;
        let done = if writes {
            &mut known.write
        } else {
            &mut known.read
        };
        let earlier = Done {
            mask: done.mask & !mask,
            ..*done
        };
        *done = Done {
            mask,
            clock: clocks.now,
            line,
        };
        if earlier.mask != 0 {
            self.spread_one(row, owners, earlier, writes);
        }
        true
    }
}

/// The mistake of an access that meets an earlier one.
fn race(at: u64, lane: usize, now: &str, before: &Seen, then: &str) -> Box<Mistake> {
    let thread = before.thread;
    let detail = format!("{now} while unordered with thread number {thread}, which {then} it");
    Mistake::at(FaultKind::SharedRace, lane as u32, at, detail).after(before.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of shared memory, and warps.
    const WORDS: usize = 1200;
    const WARPS: usize = 3;

    fn lane_by_lane<const N: usize>(
        races: &mut Races,
        clocks: &Clocks,
        stride: &Stride<N>,
        first: Access,
        writes: bool,
    ) -> Step {
        for lane in 0..32 {
            let at = stride.at + lane as u64 * stride.step;
            let thread = first.thread + lane;
            let access = Access { thread, ..first };
            for at in (0..N as u64).map(|k| at + 4 * k) {
                if writes {
                    races.note_write(clocks, at, access, true)?;
                } else {
                    races.note_read(clocks, at, access)?;
                }
            }
        }
        Ok(())
    }

    fn by_rows<const N: usize>(
        races: &mut Races,
        clocks: &Clocks,
        stride: &Stride<N>,
        first: Access,
        writes: bool,
    ) -> Step {
        if stride.step == 0 {
            let (start, _) = stride.in_words();
            return match writes {
                true => lane_by_lane(races, clocks, stride, first, true),
                false => races.note_reads_by_all(clocks, start..start + N, first),
            };
        }
        let owners = Owners::new(stride, first);
        let mut done = Ok(());
        let free = stride.rows(|row, mask| {
            if writes {
                return races.note_writes(clocks, (row, mask), owners, first);
            }
            done = races.note_reads(clocks, (row, mask), owners, first);
            done.is_ok()
        });
        match free || !writes {
            true => done,
            false => lane_by_lane(races, clocks, stride, first, true),
        }
    }

    /// Does an access in both ways; whether it was no race in either.
    fn same<const N: usize>(
        [rows, lanes]: &mut [Races; 2],
        clocks: &Clocks,
        (at, step): (u64, u64),
        first: Access,
        writes: bool,
    ) -> bool {
        let bytes = 4 * N as u64;
        let step = step.next_multiple_of(N as u64) * 4;
        let last = 4 * WORDS as u64 - 31 * step - bytes;
        let at = (at % last) / bytes * bytes;
        let stride = Stride::<N> { at, step };
        let done = by_rows(rows, clocks, &stride, first, writes);
        let want = lane_by_lane(lanes, clocks, &stride, first, writes);
        assert_eq!(format!("{done:?}"), format!("{want:?}"), "{stride:?}");
        done.is_ok()
    }

    #[test]
    fn rows_know_of_races_what_lanes_one_by_one_know() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut races_found, mut accesses) = (0, 0);
        for _ in 0..400 {
            let mut both = [(); 2].map(|()| Races::new(WORDS));
            let mut clocks = Clocks::default();
            clocks.begin(WARPS);
            for line in 0..60 {
                let warp = random(WARPS as u64) as usize;
                match random(8) {
                    0 => clocks.sync(warp, u32::MAX),
                    1..6 => clocks.barrier(&[(0, u32::MAX), (1, u32::MAX), (2, u32::MAX)]),
                    _ => {}
                }
                let first = Access {
                    thread: 32 * warp,
                    bytes: 0xf,
                    line,
                    strong: false,
                };
                let step = [0, 1, 1, 2, 4, 4, 8, 3, 33][random(9) as usize];
                // Few places, so that accesses meet.
                let place = (128 * random(4) + 4 * random(5), step);
                let writes = random(3) == 0;
                accesses += 1;
                let good = match random(4) {
                    0 => same::<2>(&mut both, &clocks, place, first, writes),
                    1 => same::<4>(&mut both, &clocks, place, first, writes),
                    _ => same::<1>(&mut both, &clocks, place, first, writes),
                };
                if !good {
                    races_found += 1;
                    break;
                }
            }
        }
        // Enough of both: accesses in a row that are good, and races.
        assert!(
            races_found > 100 && accesses > 5 * races_found,
            "{races_found} of {accesses}"
        );
    }
}
