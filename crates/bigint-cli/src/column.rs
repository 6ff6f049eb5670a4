//! A column of numbers, read from text.

use bigint_core::{Layout, Limb, Shape};
use bigint_cpu::radix::Decimals;
use bigint_cpu::{map, threads};
use bigint_host::{Engine, Error, SignedBatch};

use crate::number::{Number, Unread};

/// Lines that one task reads.
const LINES_PER_TASK: usize = 64;

/// Numbers of one width, row after row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Limbs in each number.
    pub width: usize,
    /// The magnitudes, each little-endian.
    pub limbs: Vec<Limb>,
    /// The signs.
    pub negative: Vec<bool>,
}

impl Column {
    /// The numbers of a batch.
    ///
    /// # Errors
    /// As [`Batch::rows`](bigint_host::Batch::rows).
    pub fn of(batch: &SignedBatch) -> Result<Self, Error> {
        let magnitude = batch.magnitude();
        Ok(Column {
            width: magnitude.width(),
            limbs: bigint_cpu::collect(magnitude.rows()?.iter().copied())?,
            negative: batch.negative()?,
        })
    }

    /// The magnitude of a row.
    pub fn magnitude(&self, row: usize) -> &[Limb] {
        &self.limbs[row * self.width..][..self.width]
    }

    /// Some of the rows.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn picked(&self, rows: &[usize]) -> Result<Self, Error> {
        let mut limbs = bigint_cpu::with_capacity(rows.len() * self.width)?;
        for &row in rows {
            limbs.extend_from_slice(self.magnitude(row));
        }
        let negative = rows.iter().map(|&row| self.negative[row]);
        Ok(Column {
            width: self.width,
            limbs,
            negative: bigint_cpu::collect(negative)?,
        })
    }

    /// The numbers in batches of an engine's.
    ///
    /// # Errors
    /// As [`Engine::batch_from_limbs`].
    pub fn batch(self, engine: &Engine) -> Result<SignedBatch, Error> {
        let shape = Shape::new(self.negative.len(), self.width, Layout::Contiguous);
        let magnitude = engine.batch_from_limbs(self.limbs, shape)?;
        SignedBatch::new(magnitude, &self.negative)
    }
}

/// Reads `count` numbers of at most `width` limbs.
///
/// # Errors
/// [`Unread::Bad`] tells of any that is none, not of the first.
pub fn read_column<'a>(
    count: usize,
    width: usize,
    text: impl Fn(usize) -> &'a [u8] + Sync,
) -> Result<Column, Unread> {
    let mut limbs = bigint_cpu::zeroed(count * width)?;
    let mut negative = bigint_cpu::with_capacity(count)?;
    negative.resize(count, false);
    let tasks = limbs.chunks_mut(LINES_PER_TASK * width);
    let tasks = tasks.zip(negative.chunks_mut(LINES_PER_TASK)).enumerate();
    let read = map(tasks, threads(), |(task, (limbs, negative))| {
        let rows = limbs.chunks_exact_mut(width).zip(negative);
        let mut decimals = Decimals::default();
        for (row, (limbs, negative)) in (task * LINES_PER_TASK..).zip(rows) {
            let number = Number::scan(text(row)).map_err(Unread::Bad)?;
            *negative = number.negative;
            number.write(limbs, &mut decimals)?;
        }
        Ok(())
    });
    read.into_iter().collect::<Result<(), Unread>>()?;
    Ok(without_zero_limbs(width, limbs, negative))
}

/// A decimal's width is known only when it is read: 309 digits may take 33
/// limbs, and those of a 1024-bit number take 32.
fn without_zero_limbs(width: usize, mut limbs: Vec<Limb>, negative: Vec<bool>) -> Column {
    let is_zero = |limb: usize| limbs.chunks_exact(width).all(|row| row[limb] == 0);
    let narrow = 1 + (1..width).rev().find(|&limb| !is_zero(limb)).unwrap_or(0);
    if narrow < width {
        for row in 0..negative.len() {
            limbs.copy_within(row * width..row * width + narrow, row * narrow);
        }
        limbs.truncate(negative.len() * narrow);
    }
    Column {
        width: narrow,
        limbs,
        negative,
    }
}
