//! The memory of integers of any lengths: limbs, offsets and signs.

use crate::Error;
use crate::common::limbs;
use crate::common::pool::Pool;
use crate::values::foreign::Limbs;
use bigint_core::Limb;
use bigint_cpu::{Cpu, LIMB_WORK, map, share, threads};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Bytes in a limb.
const LIMB_BYTES: usize = size_of::<Limb>();

/// How many numbers have their signs in one byte.
pub(crate) const SIGNS_OF_BYTE: usize = 8;

/// The cost of a number beside its limbs, in limbs moved.
const OFFSET_LIMBS: usize = 16;

/// Numbers whose lengths are looked at to tell whether those of all may be alike.
const SAMPLES: usize = 64;

/// The most numbers of a part that a thread makes.
const MOST_OF_PART: usize = 1 << 12;

/// The limbs of rows that one thread has put together before others are awake.
const SHORT: usize = 1 << 19;

/// The parts of [`Integers`](crate::Integers), as their documentation describes them.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub limbs: Limbs,
    pub offsets: Vec<i64>,
    pub signs: Vec<u8>,
    /// The pool that the limbs' memory goes to in the end.
    home: Weak<Pool>,
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        self.offsets == other.offsets && self.signs == other.signs && *self.limbs == *other.limbs
    }
}

impl Eq for Column {}

impl Drop for Column {
    fn drop(&mut self) {
        if let Some(pool) = self.home.upgrade() {
            pool.give(self.limbs.take());
        }
    }
}

impl Default for Column {
    fn default() -> Self {
        Column::of_parts(Limbs::default(), vec![0], Vec::new())
    }
}

impl Column {
    /// A column of these parts.
    pub fn of_parts(limbs: impl Into<Limbs>, offsets: Vec<i64>, signs: Vec<u8>) -> Self {
        Column {
            limbs: limbs.into(),
            offsets,
            signs,
            home: Weak::new(),
        }
    }

    /// The column, whose limbs' memory goes to a pool in the end.
    pub fn kept_by(mut self, pool: &Arc<Pool>) -> Self {
        self.home = Arc::downgrade(pool);
        self
    }

    /// A column without numbers, with room for `count` numbers of `limbs` limbs together.
    pub fn with_capacity(count: usize, limbs: usize) -> Result<Self, Error> {
        let mut offsets = bigint_cpu::with_capacity(count + 1)?;
        offsets.push(0);
        let limbs = bigint_cpu::with_capacity(limbs)?;
        let signs = bigint_cpu::with_capacity(count.div_ceil(8))?;
        Ok(Column::of_parts(limbs, offsets, signs))
    }

    /// The number of numbers.
    #[inline]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The limbs of number `index`.
    #[inline]
    pub fn magnitude(&self, index: usize) -> &[Limb] {
        let limb = |at: usize| self.offsets[at] as usize / LIMB_BYTES;
        &self.limbs[limb(index)..limb(index + 1)]
    }

    /// The magnitude of number `index`, which exists, and whether it is negative.
    #[inline]
    pub fn number(&self, index: usize) -> (&[Limb], bool) {
        (self.magnitude(index), self.is_negative(index))
    }

    /// Whether number `index`, which exists, is negative.
    #[inline]
    pub fn is_negative(&self, index: usize) -> bool {
        self.signs[index / 8] >> (index % 8) & 1 == 1
    }

    /// The numbers of a range of indices that exist.
    pub fn slice(&self, range: Range<usize>) -> Result<Self, Error> {
        let ends = &self.offsets[range.start..=range.end];
        let limb = |at: usize| self.offsets[at] as usize / LIMB_BYTES;
        let (first, past) = (range.start % SIGNS_OF_BYTE, range.len() % SIGNS_OF_BYTE);
        let bytes = &self.signs[range.start / SIGNS_OF_BYTE..];
        let byte = |at: usize| u16::from(bytes.get(at).copied().unwrap_or(0));
        let signs = (0..range.len().div_ceil(SIGNS_OF_BYTE))
            .map(|at| ((byte(at + 1) << SIGNS_OF_BYTE | byte(at)) >> first) as u8);
        let mut signs = bigint_cpu::collect(signs)?;
        if let (Some(last), 1..) = (signs.last_mut(), past) {
            *last &= (1 << past) - 1;
        }
        Ok(Column::of_parts(
            limbs::copy(&self.limbs[limb(range.start)..limb(range.end)])?,
            bigint_cpu::collect(ends.iter().map(|end| end - ends[0]))?,
            signs,
        ))
    }

    /// Puts magnitudes without zeros on top in the places of others, in the order of these places.
    pub fn replace(&mut self, places: &[(usize, &[Limb])]) -> Result<(), Error> {
        let limb = |offsets: &[i64], at: usize| offsets[at] as usize / LIMB_BYTES;
        let length = |at: usize| limb(&self.offsets, at + 1) - limb(&self.offsets, at);
        if places.iter().all(|&(at, new)| length(at) == new.len()) {
            for &(at, new) in places {
                let start = limb(&self.offsets, at);
                self.limbs.own()[start..start + new.len()].copy_from_slice(new);
            }
            return Ok(());
        }
        let more = places.iter().map(|(_, new)| new.len()).sum::<usize>();
        let mut limbs = bigint_cpu::with_capacity(self.limbs.len() + more)?;
        let (mut done, mut next) = (0, 0);
        for &(at, new) in places {
            // Up to the place: as they were, but behind what has become longer or shorter.
            let (start, end) = (limb(&self.offsets, at), limb(&self.offsets, at + 1));
            let shift = (LIMB_BYTES * limbs.len()) as i64 - (LIMB_BYTES * done) as i64;
            limbs.extend_from_slice(&self.limbs[done..start]);
            limbs.extend_from_slice(new);
            self.offsets[next..=at]
                .iter_mut()
                .for_each(|offset| *offset += shift);
            (done, next) = (end, at + 1);
        }
        let shift = (LIMB_BYTES * limbs.len()) as i64 - (LIMB_BYTES * done) as i64;
        limbs.extend_from_slice(&self.limbs[done..]);
        self.offsets[next..]
            .iter_mut()
            .for_each(|offset| *offset += shift);
        *self.limbs.own() = limbs;
        Ok(())
    }

    /// Appends a number, without zeros on top.
    pub fn push(&mut self, negative: bool, magnitude: &[Limb]) -> Result<(), Error> {
        let magnitude = trimmed(magnitude);
        self.make_room(magnitude.len())?;
        self.limbs.own().extend_from_slice(magnitude);
        self.end_number(negative);
        Ok(())
    }

    /// Makes room for one more number, of `limbs` limbs.
    pub fn make_room(&mut self, limbs: usize) -> Result<(), Error> {
        room(self.limbs.own(), limbs)?;
        room(&mut self.offsets, 1)?;
        room(&mut self.signs, 1)
    }

    /// Appends a number without zeros on top, for which there is room.
    #[inline]
    pub fn append(&mut self, (magnitude, negative): (&[Limb], bool)) {
        let index = self.len();
        self.limbs.own().extend_from_slice(magnitude);
        let sign = u8::from(negative && !magnitude.is_empty()) << (index % 8);
        match self.signs.last_mut() {
            Some(signs) if !index.is_multiple_of(8) => *signs |= sign,
            _ => self.signs.push(sign),
        }
        self.offsets.push((self.limbs.len() * LIMB_BYTES) as i64);
    }

    /// Ends a number: the limbs that were written after the last one, without zeros on top.
    pub fn end_number(&mut self, negative: bool) {
        let start = self.offsets[self.len()] as usize / LIMB_BYTES;
        let length = trimmed(&self.limbs[start..]).len();
        self.limbs.own().truncate(start + length);
        self.end_at(start + length, negative && length > 0);
    }

    /// Ends a number: the limbs after the last one, up to `end`.
    #[inline]
    pub fn end_at(&mut self, end: usize, negative: bool) {
        let index = self.len();
        if index.is_multiple_of(8) {
            self.signs.push(0);
        }
        self.signs[index / 8] |= u8::from(negative) << (index % 8);
        self.offsets.push((end * LIMB_BYTES) as i64);
    }

    /// Sets the sign of every number that is not zero, by its index and its sign so far.
    pub fn sign_by(&mut self, negative: impl Fn(usize, bool) -> bool) {
        for index in 0..self.len() {
            let sign = negative(index, self.is_negative(index));
            let sign = u8::from(sign && !self.magnitude(index).is_empty());
            let byte = &mut self.signs[index / 8];
            *byte = *byte & !(1 << (index % 8)) | sign << (index % 8);
        }
    }

    /// A column of rows of `width` limbs; `number` gives for each row an upper bound of its length
    /// and its sign. The rows' own memory is used where it is little longer; other memory comes
    /// from a pool, and the rows' goes there.
    pub fn of_rows(
        mut rows: Vec<Limb>,
        width: usize,
        number: impl Fn(usize) -> (usize, bool) + Sync,
        pool: &Arc<Pool>,
    ) -> Result<Self, Error> {
        let count = rows.len() / width.max(1);
        if rows.len() > SHORT {
            let number = |i: usize| {
                let (most, negative) = number(i);
                (&rows[i * width..][..most], negative)
            };
            let column = Column::of_numbers(Some(pool), count, width, number)?;
            pool.give(rows);
            return Ok(column);
        }
        let mut offsets = bigint_cpu::with_capacity(count + 1)?;
        let mut signs: Vec<u8> = bigint_cpu::zeroed(count.div_ceil(SIGNS_OF_BYTE))?;
        offsets.push(0);
        let mut end = 0;
        for (i, row) in rows.chunks_exact(width.max(1)).enumerate() {
            let (most, negative) = number(i);
            let length = trimmed(&row[..most]).len();
            let sign = u8::from(length > 0 && negative);
            signs[i / SIGNS_OF_BYTE] |= sign << (i % SIGNS_OF_BYTE);
            end += length;
            offsets.push((end * LIMB_BYTES) as i64);
        }
        let is_tight = rows.len() <= end + end / 8;
        let places = offsets.windows(2).enumerate();
        let places = places.map(|(i, ends)| {
            let [start, end] = [ends[0], ends[1]].map(|at| at as usize / LIMB_BYTES);
            (i * width..i * width + (end - start), start)
        });
        let limbs = match is_tight {
            true => {
                for (row, place) in places.filter(|(row, place)| row.start != *place) {
                    rows.copy_within(row, place);
                }
                rows.truncate(end);
                rows
            }
            false => {
                let mut limbs = pool.take(end)?;
                for (row, place) in places {
                    limbs[place..place + row.len()].copy_from_slice(&rows[row]);
                }
                pool.give(rows);
                limbs
            }
        };
        let mut column = Column::of_parts(limbs, offsets, signs);
        column.home = Arc::downgrade(pool);
        Ok(column)
    }

    /// A column of `count` numbers of about `limbs` limbs each; `number` gives the limbs and the
    /// sign of each. It is called twice: for the lengths, and for the limbs. Memory comes from a
    /// pool, if there is one.
    pub fn of_numbers<'n>(
        pool: Option<&Arc<Pool>>,
        count: usize,
        limbs: usize,
        number: impl Fn(usize) -> (&'n [Limb], bool) + Sync,
    ) -> Result<Self, Error> {
        let length = |i| {
            let (magnitude, negative) = number(i);
            (trimmed(magnitude).len(), negative)
        };
        let fill = |i, place: &mut [Limb]| place.copy_from_slice(&number(i).0[..place.len()]);
        Column::filled(pool, count, limbs, length, fill)
    }

    /// A column of `count` numbers of about `limbs` limbs each; `length` gives the length and the
    /// sign of each, and `fill` writes its limbs.
    pub fn filled(
        pool: Option<&Arc<Pool>>,
        count: usize,
        limbs: usize,
        length: impl Fn(usize) -> (usize, bool) + Sync,
        fill: impl Fn(usize, &mut [Limb]) + Sync,
    ) -> Result<Self, Error> {
        let sharing = Cpu::current().tuning().sharing;
        let work = LIMB_WORK * (2 * limbs + OFFSET_LIMBS);
        let cut = sharing.cut(count, work, MOST_OF_PART, SIGNS_OF_BYTE);
        let size = cut.size.max(1);
        let mut samples = (0..count).step_by(count.div_ceil(SAMPLES).max(1));
        if limbs > 0 && samples.all(|i| length(i).0 == limbs) {
            let threads = cut.threads;
            if let Some(column) = Column::alike(pool, count, limbs, size, threads, &length, &fill)?
            {
                return Ok(column);
            }
        }
        let mut offsets: Vec<i64> = bigint_cpu::zeroed(count + 1)?;
        let mut signs: Vec<u8> = bigint_cpu::zeroed(count.div_ceil(SIGNS_OF_BYTE))?;
        // Ends of the numbers of a part, from its start.
        let parts = offsets[1..].chunks_mut(size);
        let parts = parts.zip(signs.chunks_mut(size.div_ceil(SIGNS_OF_BYTE)));
        share(parts.enumerate(), cut.threads, |(part, (ends, signs))| {
            let mut end = 0;
            for (i, of_number) in ends.iter_mut().enumerate() {
                let (length, negative) = length(part * size + i);
                signs[i / SIGNS_OF_BYTE] |= u8::from(negative && length > 0) << (i % SIGNS_OF_BYTE);
                end += (length * LIMB_BYTES) as i64;
                *of_number = end;
            }
        });
        let lengths = offsets[1..].chunks(size).filter_map(|ends| ends.last());
        let total = lengths.sum::<i64>() as usize / LIMB_BYTES;
        let mut limbs = match pool {
            Some(pool) => pool.take(total)?,
            None => bigint_cpu::zeroed(total)?,
        };
        let (mut rest, mut start) = (&mut limbs[..], 0);
        let parts = offsets[1..].chunks_mut(size).enumerate();
        let parts = parts.map(|(part, ends)| {
            let (before, bytes) = (start, ends.last().copied().unwrap_or(0));
            start += bytes;
            let length = bytes as usize / LIMB_BYTES;
            let (place, others) = std::mem::take(&mut rest).split_at_mut(length);
            rest = others;
            (part, ends, before, place)
        });
        let parts: Vec<_> = parts.collect();
        share(parts, cut.threads, |(part, ends, before, mut place)| {
            let mut last = 0;
            for (i, end) in ends.iter_mut().enumerate() {
                let length = (*end - last) as usize / LIMB_BYTES;
                let (of_number, others) = place.split_at_mut(length);
                fill(part * size + i, of_number);
                place = others;
                last = *end;
                *end += before;
            }
        });
        let mut column = Column::of_parts(limbs, offsets, signs);
        column.home = pool.map_or(Weak::new(), Arc::downgrade);
        Ok(column)
    }

    /// [`filled`](Self::filled), where every number has so many limbs: these are looked at once, not once for
    /// the lengths and once for the limbs. `None` where one has more or fewer.
    fn alike(
        pool: Option<&Arc<Pool>>,
        count: usize,
        limbs: usize,
        size: usize,
        threads: usize,
        length: &(impl Fn(usize) -> (usize, bool) + Sync),
        fill: &(impl Fn(usize, &mut [Limb]) + Sync),
    ) -> Result<Option<Self>, Error> {
        let total = count.saturating_mul(limbs);
        let mut all = match pool {
            Some(pool) => pool.take(total)?,
            None => bigint_cpu::zeroed(total)?,
        };
        let mut signs: Vec<u8> = bigint_cpu::zeroed(count.div_ceil(SIGNS_OF_BYTE))?;
        let are_alike = AtomicBool::new(true);
        let parts = all.chunks_mut(size.saturating_mul(limbs));
        let parts = parts.zip(signs.chunks_mut(size.div_ceil(SIGNS_OF_BYTE)));
        share(parts.enumerate(), threads, |(part, (places, signs))| {
            for (i, place) in places.chunks_exact_mut(limbs).enumerate() {
                let (found, negative) = length(part * size + i);
                if found != limbs {
                    are_alike.store(false, Ordering::Relaxed);
                }
                if !are_alike.load(Ordering::Relaxed) {
                    return;
                }
                signs[i / SIGNS_OF_BYTE] |= u8::from(negative) << (i % SIGNS_OF_BYTE);
                fill(part * size + i, place);
            }
        });
        if !are_alike.into_inner() {
            if let Some(pool) = pool {
                pool.give(all);
            }
            return Ok(None);
        }
        let ends = (0..count + 1).map(|i| (i * limbs * LIMB_BYTES) as i64);
        let column = Column::of_parts(all, bigint_cpu::collect(ends)?, signs);
        Ok(Some(match pool {
            Some(pool) => column.kept_by(pool),
            None => column,
        }))
    }

    /// Columns of `count` numbers that `part` makes range by range, on as many threads as are worth
    /// it where each number reads and writes `limbs` limbs.
    pub fn gathered(
        count: usize,
        limbs: usize,
        part: impl Fn(Range<usize>) -> Result<Vec<Column>, Error> + Sync,
    ) -> Result<Vec<Self>, Error> {
        let sharing = Cpu::current().tuning().sharing;
        let work = LIMB_WORK * (limbs + OFFSET_LIMBS);
        let cut = sharing.cut(count, work, MOST_OF_PART, SIGNS_OF_BYTE);
        // No numbers are a part too.
        let starts = (0..count.max(1)).step_by(cut.size.max(1));
        let parts = map(starts, cut.threads, |start| {
            part(start..count.min(start + cut.size))
        });
        let mut columns: Vec<Vec<Column>> = Vec::new();
        for part in parts {
            let part = part?;
            columns.resize_with(part.len(), Vec::new);
            for (parts, part) in columns.iter_mut().zip(part) {
                parts.push(part);
            }
        }
        let together = |mut parts: Vec<Column>| {
            if parts.len() == 1 {
                let mut only = parts.swap_remove(0);
                only.limbs.own().shrink_to_fit();
                return Ok(only);
            }
            Column::joined(&parts.iter().collect::<Vec<_>>())
        };
        columns.into_iter().map(together).collect()
    }

    /// The numbers of all parts, one part after another.
    pub fn joined(parts: &[&Column]) -> Result<Self, Error> {
        let count = parts.iter().map(|part| part.len()).sum();
        let total = parts.iter().map(|part| part.limbs.len()).sum();
        let mut all = Column::with_capacity(count, 0)?;
        all.limbs = bigint_cpu::zeroed(total)?.into();
        for part in parts {
            let shift = all.len() % 8;
            match all.signs.last_mut().filter(|_| shift > 0) {
                None => all.signs.extend_from_slice(&part.signs),
                Some(last) => {
                    let mut carried = *last;
                    all.signs.pop();
                    for byte in &part.signs {
                        all.signs.push(carried | byte << shift);
                        carried = byte >> (8 - shift);
                    }
                    all.signs.push(carried);
                }
            }
            let start = all.offsets[all.len()];
            let ends = part.offsets[1..].iter();
            all.offsets.extend(ends.map(|end| start + end));
            all.signs.truncate(all.len().div_ceil(8));
        }
        let mut rest = &mut all.limbs[..];
        let places = parts.iter().map(|part| {
            let (place, others) = std::mem::take(&mut rest).split_at_mut(part.limbs.len());
            rest = others;
            (place, &part.limbs)
        });
        share(places, threads(), |(place, limbs)| {
            place.copy_from_slice(limbs);
        });
        Ok(all)
    }
}

/// A column that is being made. Each number is written where the last one ends, into more room than
/// it may need; the next one begins at its end.
pub(crate) struct Packer {
    limbs: Vec<Limb>,
    end: usize,
    offsets: Vec<i64>,
    signs: Vec<u8>,
}

impl Packer {
    /// A packer without numbers, with room for `count` numbers that need `limbs` limbs together
    /// while they are written.
    pub fn new(count: usize, limbs: usize) -> Result<Self, Error> {
        let mut offsets = bigint_cpu::with_capacity(count + 1)?;
        offsets.push(0);
        Ok(Packer {
            limbs: bigint_cpu::zeroed(limbs)?,
            end: 0,
            offsets,
            signs: bigint_cpu::with_capacity(count.div_ceil(SIGNS_OF_BYTE))?,
        })
    }

    /// Puts the numbers of one byte of signs, or the few that are left: `put` writes number `at` of
    /// them into its room, and returns its length and its sign.
    #[inline(always)]
    pub fn put(&mut self, count: usize, put: impl Fn(usize, &mut [Limb]) -> (usize, bool)) {
        let mut signs = 0;
        self.put_magnitudes(count, |at, place| {
            let (length, negative) = put(at, place);
            signs |= u8::from(negative && length > 0) << at;
            length
        });
        self.signs.push(signs);
    }

    /// The same with all signs at once, of which none is a zero's: `put` returns lengths.
    #[inline(always)]
    pub fn put_signed(
        &mut self,
        count: usize,
        signs: u8,
        put: impl Fn(usize, &mut [Limb]) -> usize,
    ) {
        self.put_magnitudes(count, put);
        self.signs.push(signs & u8::MAX >> (SIGNS_OF_BYTE - count));
    }

    #[inline(always)]
    fn put_magnitudes(&mut self, count: usize, mut put: impl FnMut(usize, &mut [Limb]) -> usize) {
        let mut end = self.end;
        let mut ends = [0; SIGNS_OF_BYTE];
        for (at, of_number) in ends[..count].iter_mut().enumerate() {
            end += put(at, &mut self.limbs[end..]);
            *of_number = (end * LIMB_BYTES) as i64;
        }
        self.offsets.extend_from_slice(&ends[..count]);
        self.end = end;
    }

    /// The column of all numbers that were put.
    pub fn column(mut self) -> Column {
        self.limbs.truncate(self.end);
        Column::of_parts(self.limbs, self.offsets, self.signs)
    }
}

/// Calls `put(group, count)` for each byte of signs of some rows, with the number of rows that it
/// is for.
#[inline(always)]
pub(crate) fn each_group(rows: Range<usize>, mut put: impl FnMut(usize, usize)) {
    for first in rows.clone().step_by(SIGNS_OF_BYTE) {
        // Of as many as a byte is for the compiler makes no loop.
        match SIGNS_OF_BYTE.min(rows.end - first) {
            SIGNS_OF_BYTE => put(first / SIGNS_OF_BYTE, SIGNS_OF_BYTE),
            count => put(first / SIGNS_OF_BYTE, count),
        }
    }
}

/// `magnitude` without the zeros on top.
#[inline]
pub(crate) fn trimmed(magnitude: &[Limb]) -> &[Limb] {
    let top = magnitude.iter().rposition(|&limb| limb != 0);
    &magnitude[..top.map_or(0, |top| top + 1)]
}

/// Makes room for `more` elements, and for as many again.
fn room<T>(vector: &mut Vec<T>, more: usize) -> Result<(), Error> {
    let bytes = more.saturating_mul(size_of::<T>());
    let reserved = bigint_cpu::program::fallible(|| vector.try_reserve(more));
    reserved.map_err(|_| Error::OutOfMemory { bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_of_other_lengths_take_the_places_of_others() {
        let column = |numbers: &[Vec<Limb>]| {
            let mut column = Column::default();
            for number in numbers {
                column.push(false, number).unwrap();
            }
            column
        };
        let numbers: Vec<Vec<Limb>> = (0..9u32).map(|i| vec![i + 1; i as usize % 3]).collect();
        for lengths in [[1, 1, 1], [0, 7, 2], [3, 0, 0], [1, 2, 0]] {
            for at in [[0, 1, 2], [2, 4, 8], [6, 7, 8], [0, 3, 8]] {
                let new = lengths.map(|length| vec![99; length]);
                let (mut expected, mut found) = (numbers.clone(), column(&numbers));
                let places: Vec<_> = at.into_iter().zip(new.iter().map(Vec::as_slice)).collect();
                found.replace(&places).unwrap();
                for (at, new) in places {
                    expected[at] = new.to_vec();
                }
                assert_eq!(found, column(&expected), "{lengths:?} at {at:?}");
            }
        }
    }

    #[test]
    fn a_slice_has_the_numbers_and_signs_of_its_range_and_no_others() {
        let mut all = Column::default();
        for i in 0..40_u32 {
            let magnitude = vec![i + 1; i as usize % 4];
            all.push(i % 3 != 0, &magnitude).unwrap();
        }
        for (start, end) in (0..=40).flat_map(|start| (start..=40).map(move |end| (start, end))) {
            let mut expected = Column::default();
            for i in start..end {
                let number = all.magnitude(i);
                expected.push(all.is_negative(i), number).unwrap();
            }
            assert!(all.slice(start..end).unwrap() == expected, "{start}..{end}");
        }
    }

    #[test]
    fn rows_are_put_together_in_their_own_memory_or_copied() {
        let pool = Arc::new(Pool::default());
        // Full rows, rows of which some lack a limb, short ones, and many.
        for (count, width, lacks) in [(300, 9, 0), (300, 9, 1), (300, 9, 7), (90_000, 9, 1)] {
            let row = |i: usize| {
                let length = width - i % 3 * lacks.min(width / 2);
                (0..width).map(move |j| if j < length { (i + j + 1) as Limb } else { 0 })
            };
            let rows: Vec<Limb> = (0..count).flat_map(row).collect();
            let negative = |i: usize| i.is_multiple_of(5);
            let number = |i: usize| (&rows[i * width..][..width], negative(i));
            let expected = Column::of_numbers(None, count, width, number).unwrap();
            assert!((0..count).all(|i| expected.magnitude(i).last() != Some(&0)));
            let own = rows.clone();
            let memory = own.as_ptr();
            let of_row = |i: usize| (width - i % 3 * lacks.min(width / 2), negative(i));
            let column = Column::of_rows(own, width, of_row, &pool).unwrap();
            assert!(column == expected, "{count} {width} {lacks}");
            let is_in_place = count == 300 && lacks < 7;
            assert_eq!(column.limbs.as_ptr() == memory, is_in_place);
            // What is dropped is there for the next.
            let (memory, length) = (column.limbs.as_ptr(), column.limbs.len());
            drop(column);
            let taken = pool.take(length).unwrap();
            assert_eq!(taken.as_ptr(), memory);
        }
    }
}
