//! Shared memory of a block: its bytes, their bounds, and what is initialised of them.

use super::clocks::Clocks;
use super::layout::Layout;
use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use super::races::{Access, Owners, Races};
use super::stride::Stride;
use super::transfer::Transfer;
use super::written::Written;
use crate::check::{Checks, FaultKind};

pub(crate) struct Shared {
    pub(super) words: Vec<u32>,
    /// First byte and end of each range that may be touched, ascending.
    ranges: Vec<(u32, u32)>,
    /// The bytes that were written, where that is checked.
    pub(super) written: Option<Written>,
    /// The accesses of each word, where races are looked for.
    pub races: Option<Races>,
}

impl Shared {
    /// Zeroed memory in this layout.
    pub fn new(layout: &Layout, checks: Checks) -> Self {
        let words = layout.bytes.div_ceil(4) as usize;
        Shared {
            words: vec![0; words],
            ranges: layout.ranges.clone(),
            written: checks.uninitialised.then(|| Written::new(words)),
            races: checks.races.then(|| Races::new(words)),
        }
    }

    /// Makes ready for the next block; the clock may have begun anew.
    pub fn begin(&mut self, restarted: bool) {
        if let Some(races) = self.races.as_mut().filter(|_| restarted) {
            *races = Races::new(self.words.len());
        }
        self.words.fill(0);
        if let Some(written) = &mut self.written {
            written.clear();
        }
    }

    /// An error unless each lane's bytes lie in one range.
    pub(super) fn check_bounds(&self, transfer: &Transfer<'_>) -> Step {
        let (low, high) = transfer.range();
        if self.is_whole(low, high.saturating_add(transfer.bytes.into())) {
            return Ok(());
        }
        let mut range = (0, 0);
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let end = at.saturating_add(u64::from(transfer.bytes));
            let within = |&(first, last): &(u32, u32)| at >= u64::from(first) && end <= last.into();
            if within(&range) {
                continue;
            }
            let Some(found) = self.ranges.iter().find(|range| within(range)) else {
                return Err(self.outside(at, transfer.bytes, lane));
            };
            range = *found;
        }
        Ok(())
    }

    /// The mistake of an access to no range.
    fn outside(&self, at: u64, bytes: u32, lane: usize) -> Box<Mistake> {
        let before = self
            .ranges
            .iter()
            .rev()
            .find(|range| u64::from(range.0) <= at);
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

    /// Whether the bytes from `at` to `end` lie in one range.
    fn is_whole(&self, at: u64, end: u64) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|&(first, last)| at >= first.into() && end <= last.into())
    }

    /// The bytes of one word that an access reads and nothing has written, counted from the
    /// first that it reads; a bit each.
    pub(super) fn unwritten(&self, at: u64, bytes: u32) -> u8 {
        let written = self.written.as_ref();
        let written = written.map_or(0xf, |written| written.of(at as usize / 4));
        (bits(at, bytes) & !written) >> (at % 4)
    }

    /// Notes that an asynchronous copy writes here: what was there is gone, and what
    /// comes is not there yet.
    pub fn take_off(&mut self, clocks: &Clocks, warp: usize, transfer: &Transfer<'_>) -> Step {
        self.check_bounds(transfer)?;
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            for word in (at..at + u64::from(transfer.bytes)).step_by(4) {
                if let Some(races) = &mut self.races {
                    let access = Access {
                        thread: 32 * warp + lane,
                        bytes: 0xf,
                        line: transfer.line,
                        strong: false,
                    };
                    races.note_write(clocks, word, access, true)?;
                }
                if let Some(written) = &mut self.written {
                    written.set(word as usize / 4, 0);
                }
            }
        }
        Ok(())
    }

    /// The words from the first that a warp reads on; nothing where its lanes must be looked
    /// at one by one. The first lane's access is `first`.
    #[inline(always)]
    pub(super) fn read_by_stride<const WORDS: usize>(
        &mut self,
        clocks: &Clocks,
        stride: &Stride<WORDS>,
        first: Access,
    ) -> Step<Option<&[u32]>> {
        if !self.is_whole(stride.at, stride.end()) {
            return Ok(None);
        }
        let (start, step) = stride.in_words();
        let Shared { written, races, .. } = self;
        if step == 0 {
            let words = start..start + WORDS;
            if let Some(written) = written
                && !words.clone().all(|word| written.of(word) == 0xf)
            {
                return Ok(None);
            }
            if let Some(races) = races {
                races.note_reads_by_all(clocks, words, first)?;
            }
        } else if written.is_some() || races.is_some() {
            let owners = Owners::new(stride, first);
            let mut race = None;
            let all = stride.rows(|row, mask| {
                if written
                    .as_ref()
                    .is_some_and(|written| !written.has_row(row, mask))
                {
                    return false;
                }
                if let Some(races) = races
                    && let Err(found) = races.note_reads(clocks, (row, mask), owners, first)
                {
                    race = Some(found);
                    return false;
                }
                true
            });
            if let Some(race) = race {
                return Err(race);
            }
            if !all {
                return Ok(None);
            }
        }
        Ok(Some(&self.words[start..start + 31 * step + WORDS]))
    }

    /// The words from the first that a warp is to write on, which are noted as written; nothing
    /// where its lanes must be looked at one by one.
    #[inline(always)]
    pub(super) fn write_by_stride<const WORDS: usize>(
        &mut self,
        clocks: &Clocks,
        stride: &Stride<WORDS>,
        first: Access,
    ) -> Option<&mut [u32]> {
        let (start, step) = stride.in_words();
        if step == 0 || !self.is_whole(stride.at, stride.end()) {
            return None;
        }
        let Shared { written, races, .. } = self;
        let owners = Owners::new(stride, first);
        let is_free = (written.is_none() && races.is_none())
            || stride.rows(|row, mask| {
                if let Some(races) = races
                    && !races.note_writes(clocks, (row, mask), owners, first)
                {
                    return false;
                }
                if let Some(written) = written {
                    written.add_row(row, mask);
                }
                true
            });
        is_free.then(|| &mut self.words[start..start + 31 * step + WORDS])
    }
}

/// The bits of an access's bytes within one word.
#[inline(always)]
pub(super) fn bits(at: u64, bytes: u32) -> u8 {
    match bytes {
        1 => 1 << (at % 4),
        2 => 3 << (at % 4),
        _ => 0xf,
    }
}
