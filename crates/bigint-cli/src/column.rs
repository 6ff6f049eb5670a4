//! A column of numbers, read from text.

use std::ops::Range;

use bigint_cpu::radix::{self, Decimals};
use bigint_cpu::{map, threads};
use bigint_host::{Engine, Error, Integers};

use crate::number::{Number, Unread};

/// About how many bytes of text a task reads.
const BYTES_PER_TASK: usize = 1 << 16;

/// Cuts `0..count` into parts of `size`.
pub fn parts(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..count).step_by(size);
    starts.map(move |start| start..count.min(start + size))
}

/// Reads `count` numbers; those of a long column by the open devices of an engine.
///
/// # Errors
/// [`Unread::Bad`] names one that is none, which need not be the first.
pub fn read_column<'a>(
    count: usize,
    text: impl Fn(usize) -> &'a [u8] + Sync,
    engine: Option<&Engine>,
) -> Result<Integers, Unread> {
    let bytes: usize = (0..count).map(|row| text(row).len()).sum();
    let average = bytes / count.max(1) + 1;
    if let Some(engine) = engine
        && engine.converts_decimals(radix::limbs_of_digits(average), count)
    {
        match engine.integers_from_texts((0..count).map(&text)) {
            // What is wrong is told below.
            Err(Error::NotADigit { .. }) => {}
            read => return Ok(read?),
        }
    }
    let tasks = parts(count, (BYTES_PER_TASK / average).max(1));
    let read = map(tasks, threads(), |rows| {
        let mut decimals = Decimals::default();
        let number = |row: usize| Number::scan(text(rows.start + row));
        let width = |row| number(row).map_or(0, |number| number.width());
        Integers::try_from_fn(rows.len(), width, |row, limbs| {
            let number = number(row).map_err(Unread::Bad)?;
            number.write(limbs, &mut decimals)?;
            Ok(number.negative)
        })
    });
    let mut columns = read.into_iter().collect::<Result<Vec<_>, Unread>>()?;
    match columns.len() {
        1 => Ok(columns.swap_remove(0)),
        _ => Ok(Integers::concatenate(&columns.iter().collect::<Vec<_>>())?),
    }
}
