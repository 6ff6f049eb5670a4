//! Totals of groups of integers.
//!
//! Rows wait until there are many, and then all groups are reduced together, in rounds: a round
//! combines the first row of each group with the second, the third with the fourth, and so on, all
//! in one call of the engine. With groups of 5, 2 and 1 rows
//!
//! ```text
//! a1 a2 a3 a4 a5 | b1 b2 | c1     round 1: a1*a2 a3*a4 b1*b2; c is done
//! a12 a34 a5 | b12                round 2: a12*a34; b is done
//! a1234 a5                        round 3: a1234*a5; a is done
//! ```
//!
//! So batches are large, whatever the groups are, and factors of a product are of alike lengths.
//! Cost: rounds are as many as the longest group's rows have bits, each about half of the one before;
//! what is done is not touched again.

use std::ops::Range;
use std::sync::Arc;

use bigint_arrow::Column;
use bigint_host::expression::Function;
use bigint_host::{Integers, Operation};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::common::Result;

use crate::joined::Joined;
use crate::value::failed;

/// What is made of the numbers of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Total {
    Sum,
    Product,
    Gcd,
    Min,
    Max,
    /// The sum divided by the number of rows, rounded down.
    Mean,
}

impl Total {
    pub fn operation(self) -> Operation {
        match self {
            Total::Sum | Total::Mean => Operation::Add,
            Total::Product => Operation::Mul,
            Total::Gcd => Operation::Gcd,
            Total::Min => Operation::Min,
            Total::Max => Operation::Max,
        }
    }

    /// What totals mean: a divisor is not negative, and a mean is a quotient.
    pub fn told(self, engine: &Joined, column: Column, counts: Vec<u64>) -> Result<Column> {
        let (numbers, nulls) = column.into_parts();
        let numbers = match self {
            Total::Gcd => engine.engine().abs(&numbers),
            Total::Mean => {
                let counts: Integers = counts.into_iter().map(|count| count.max(1)).collect();
                engine.engine().div(&numbers, &counts)
            }
            _ => Ok(numbers),
        };
        Column::new(numbers.map_err(failed)?, nulls).map_err(failed)
    }
}

/// Limbs and rows that wait before groups are reduced: 16 MiB of limbs.
const MOST_WAITING: usize = 1 << 22;

/// Totals of groups, which are numbered from 0.
pub(crate) struct Totals {
    total: Total,
    engine: Arc<Joined>,
    /// The total of each group that has one so far, or else any number.
    settled: Integers,
    is_settled: Vec<bool>,
    /// How many numbers went into each group.
    counts: Vec<u64>,
    waiting: Vec<Integers>,
    /// The group of each number that waits.
    groups: Vec<usize>,
    /// Limbs that wait.
    limbs: usize,
}

impl std::fmt::Debug for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} groups", self.total, self.counts.len())
    }
}

impl Totals {
    pub fn new(total: Total, engine: &Arc<Joined>) -> Self {
        Totals {
            total,
            engine: Arc::clone(engine),
            settled: Integers::new(),
            is_settled: Vec::new(),
            counts: Vec::new(),
            waiting: Vec::new(),
            groups: Vec::new(),
            limbs: 0,
        }
    }

    /// There are so many groups now.
    pub fn grow(&mut self, groups: usize) {
        if groups > self.counts.len() {
            self.counts.resize(groups, 0);
            self.is_settled.resize(groups, false);
        }
    }

    /// Adds the rows of a column that are not null and are chosen, each to its group, as so many
    /// numbers.
    pub fn add(
        &mut self,
        column: &Column,
        is_chosen: impl Fn(usize) -> bool,
        group: impl Fn(usize) -> usize,
        count: impl Fn(usize) -> u64,
    ) -> Result<()> {
        let rows = (0..column.len()).filter(|&row| !column.is_null(row) && is_chosen(row));
        let rows: Vec<usize> = rows.collect();
        for &row in &rows {
            self.counts[group(row)] += count(row);
            self.groups.push(group(row));
        }
        let numbers = match rows.len() == column.len() {
            true => column.numbers().clone(),
            false => column.numbers().gather(&rows).map_err(failed)?,
        };
        if !numbers.is_empty() {
            self.limbs += numbers.limbs().len();
            self.waiting.push(numbers);
        }
        let waiting = self.limbs + self.groups.len();
        // What is settled is copied when groups are reduced.
        match waiting >= MOST_WAITING.max(self.settled.limbs().len() + self.settled.len()) {
            true => self.settle(),
            false => Ok(()),
        }
    }

    /// Bytes in use.
    pub fn size(&self) -> usize {
        let limbs = self.limbs + self.settled.limbs().len();
        4 * limbs + 8 * (self.groups.capacity() + 3 * self.counts.capacity())
    }

    /// Reduces the groups of what waits.
    fn settle(&mut self) -> Result<()> {
        let count = self.counts.len();
        if self.waiting.is_empty() && self.settled.len() == count {
            return Ok(());
        }
        let mut columns = vec![&self.settled];
        columns.extend(&self.waiting);
        let all = Integers::concatenate(&columns).map_err(failed)?;
        let before = self.settled.len();
        let settled = (0..before).filter(|&group| self.is_settled[group]);
        let settled = settled.map(|group| (group, group));
        let waiting = self.groups.iter().enumerate();
        let rows = settled.chain(waiting.map(|(row, &group)| (group, before + row)));
        let (rows, ends) = by_group(rows, count);
        self.settled = self.reduced(all, rows, &ends).map_err(failed)?;
        self.waiting.clear();
        self.groups.clear();
        self.limbs = 0;
        for (is_settled, &count) in self.is_settled.iter_mut().zip(&self.counts) {
            *is_settled = count > 0;
        }
        Ok(())
    }

    /// The totals of groups of rows, which lie one behind the other; zero where there is no row.
    fn reduced(
        &self,
        mut numbers: Integers,
        mut rows: Vec<usize>,
        ends: &[usize],
    ) -> Result<Integers, bigint_host::Error> {
        let starts = std::iter::once(&0).chain(ends);
        let lengths = starts.zip(ends).map(|(start, end)| end - start);
        let mut open: Vec<(usize, usize)> = lengths.enumerate().filter(|open| open.1 > 0).collect();
        let zero = Integers::from_parts(Vec::new(), vec![0, 0], vec![0])?;
        // Totals, and for each group its place among them.
        let (mut done, mut places, mut count) = (vec![zero], vec![0; ends.len()], 1);
        while !open.is_empty() {
            let (mut firsts, mut seconds, mut odd, mut last) = (vec![], vec![], vec![], vec![]);
            let mut next = Vec::with_capacity(open.len());
            let mut start = 0;
            for &(group, length) in &open {
                let of_group = &rows[start..start + length];
                start += length;
                if let [row] = of_group {
                    places[group] = count + last.len();
                    last.push(*row);
                    continue;
                }
                let (pairs, rest) = of_group.as_chunks::<2>();
                firsts.extend(pairs.iter().map(|pair| pair[0]));
                seconds.extend(pairs.iter().map(|pair| pair[1]));
                odd.extend_from_slice(rest);
                next.push((group, length.div_ceil(2)));
            }
            count += last.len();
            done.push(numbers.gather(&last)?);
            let pairs = [numbers.gather(&firsts)?, numbers.gather(&seconds)?];
            let odd = numbers.gather(&odd)?;
            let function = Function::Operation(self.total.operation());
            let combined = self.engine.eval(function, &pairs)?;
            numbers = Integers::concatenate(&[&combined, &odd])?;
            let (mut pairs, mut odd) = (0.., combined.len()..);
            rows.clear();
            for (_, length) in open.iter().filter(|open| open.1 > 1) {
                rows.extend(pairs.by_ref().take(length / 2));
                rows.extend(odd.by_ref().take(length % 2));
            }
            open = next;
        }
        let done: Vec<&Integers> = done.iter().collect();
        Integers::concatenate(&done)?.gather(&places)
    }

    /// The totals of these groups, and how many numbers went into them. Null where none did.
    pub fn settled(&mut self, groups: Range<usize>) -> Result<(Column, Vec<u64>)> {
        self.settle()?;
        let counts = self.counts[groups.clone()].to_vec();
        let nulls = NullBuffer::from_iter(counts.iter().map(|&count| count > 0));
        let numbers = self.settled.slice(groups).map_err(failed)?;
        Ok((Column::new(numbers, Some(nulls)).map_err(failed)?, counts))
    }

    /// Who computes them.
    pub fn engine(&self) -> &Arc<Joined> {
        &self.engine
    }

    /// Groups in all.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Forgets the first groups; the others are numbered anew.
    pub fn forget(&mut self, groups: usize) -> Result<()> {
        self.settle()?;
        self.settled = self.settled.slice(groups..self.len()).map_err(failed)?;
        self.counts.drain(..groups);
        self.is_settled.drain(..groups);
        Ok(())
    }
}

/// Rows group after group, and where each group ends.
fn by_group(
    rows: impl Iterator<Item = (usize, usize)> + Clone,
    groups: usize,
) -> (Vec<usize>, Vec<usize>) {
    let mut ends = vec![0; groups];
    rows.clone().for_each(|(group, _)| ends[group] += 1);
    let mut end = 0;
    for length in &mut ends {
        let start = end;
        end += *length;
        *length = start;
    }
    let mut ordered = vec![0; end];
    for (group, row) in rows {
        ordered[ends[group]] = row;
        ends[group] += 1;
    }
    (ordered, ends)
}
