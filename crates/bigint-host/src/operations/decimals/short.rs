//! Decimal digits of many short numbers: a thread of a device has a number to itself.
//!
//! A conversion takes a time that is quadratic in the length, but for the text itself. The device does that part, between
//! limbs and digits to base `10^9` ([`to_decimal`](Engine::to_decimal) and [`from_decimal`](Engine::from_decimal)), nine
//! decimal digits each. These are 1.07 limbs for each limb of a number, where text is 2.4 of them, so that the way to the
//! device and back carries hardly more than the numbers. The cores write the digits of each limb, or read them.

use super::characters;
use crate::values::column::trimmed;
use crate::{Batch, Engine, Error, Options};
use bigint_core::{Layout, Shape};
use bigint_cpu::radix::nines;
use bigint_cpu::{map, threads};

/// The decimal digits of a limb.
const DIGITS: usize = 9;

/// The limbs that a thread reads digits into at a time, at least.
const LIMBS_OF_TASK: usize = 1 << 12;

impl Engine {
    /// [`Engine::decimals`] of many numbers.
    pub(crate) fn decimals_by_threads(
        &self,
        a: &Batch,
        is_negative: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<String>, Error> {
        let engine = self.using(Options::default());
        let nines = self.inner.choices.as_steps(|| engine.to_decimal(a))?;
        let (rows, width) = (nines.rows()?, nines.width());
        let write = |i| {
            let number = trimmed(&rows[i * width..][..width]);
            let mut text = bigint_cpu::with_capacity(DIGITS * number.len() + 2)?;
            if is_negative(i) && !number.is_empty() {
                text.push(b'-');
            }
            nines::write(number, &mut text)?;
            Ok(characters(text))
        };
        map(0..a.len(), threads(), write).into_iter().collect()
    }

    /// The numbers of these digits, of which there are some.
    pub(super) fn numbers_by_threads(&self, texts: &[&[u8]]) -> Result<Batch, Error> {
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let shape = Shape::new(texts.len(), longest.div_ceil(DIGITS), Layout::Contiguous);
        let mut limbs = bigint_cpu::zeroed(shape.limbs())?;
        let of_task = LIMBS_OF_TASK.div_ceil(shape.width);
        let tasks = limbs.chunks_mut(of_task * shape.width);
        let read = map(
            tasks.zip(texts.chunks(of_task)),
            threads(),
            |(rows, texts)| {
                let mut rows = rows.chunks_mut(shape.width).zip(texts);
                rows.try_for_each(|(row, text)| nines::read(text, row))
            },
        );
        read.into_iter().collect::<Result<(), _>>()?;
        self.from_decimal(&self.batch_from_limbs(limbs, shape)?)
    }
}
