//! The numbers of an array: on the host, in the memory of a CUDA device, or on both.

use crate::run;
use bigint_host::advanced::DeviceLimbs;
use bigint_host::{Engine, Error, Integers, Layout, Shape, SignedBatch};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use std::sync::OnceLock;

/// How many times the limbs of a column may take on a device, where all numbers are as wide as the
/// widest.
const WASTE: usize = 4;

/// Numbers that never change. Where they were made they are; they are brought to the other side when
/// they are first wanted there, and then are on both.
pub struct Numbers {
    count: usize,
    host: OnceLock<Integers>,
    device: OnceLock<SignedBatch>,
    /// What others may be reading: it stays where it is for as long as the numbers live.
    lent: OnceLock<DeviceLimbs>,
}

impl From<Integers> for Numbers {
    fn from(numbers: Integers) -> Self {
        Numbers {
            count: numbers.len(),
            host: OnceLock::from(numbers),
            device: OnceLock::new(),
            lent: OnceLock::new(),
        }
    }
}

impl From<SignedBatch> for Numbers {
    fn from(batch: SignedBatch) -> Self {
        Numbers {
            count: batch.len(),
            host: OnceLock::new(),
            device: OnceLock::from(batch),
            lent: OnceLock::new(),
        }
    }
}

impl Numbers {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The numbers on the host.
    pub fn on_host(&self, py: Python<'_>) -> PyResult<&Integers> {
        if let Some(numbers) = self.host.get() {
            return Ok(numbers);
        }
        let brought = run::at_once(py, || match self.device.get() {
            Some(batch) => fetched(batch),
            None => Ok(Integers::new()),
        })?;
        Ok(self.host.get_or_init(|| brought))
    }

    /// The numbers on the engine's device; `None` where they are of such lengths that they would take
    /// many times their size there.
    pub fn on_device(&self, engine: &Engine) -> Result<Option<&SignedBatch>, Error> {
        if let (None, Some(numbers)) = (self.device.get(), self.host.get()) {
            let Some(batch) = batch(engine, numbers)? else {
                return Ok(None);
            };
            return Ok(Some(self.device.get_or_init(|| batch)));
        }
        Ok(self.device.get())
    }

    /// The numbers on a device, if they have been there.
    pub fn if_on_device(&self) -> Option<&SignedBatch> {
        self.device.get()
    }

    /// The bytes that the numbers take where they were made.
    pub fn bytes(&self) -> usize {
        match (self.host.get(), self.device.get()) {
            (Some(numbers), _) => {
                let (limbs, offsets) = (numbers.limbs(), numbers.offsets());
                size_of_val(limbs) + size_of_val(offsets) + numbers.signs().len()
            }
            (None, Some(batch)) => size_of::<u32>() * batch.len() * batch.magnitude().width(),
            (None, None) => 0,
        }
    }

    /// The limbs of natural numbers in the memory of the engine's device, for kernels of others.
    pub fn lent(&self, py: Python<'_>, engine: &Engine) -> PyResult<DeviceLimbs> {
        if let Some(limbs) = self.lent.get() {
            return Ok(limbs.clone());
        }
        let lent = run::at_once(py, || {
            let Some(batch) = self.on_device(engine)? else {
                return Ok(None);
            };
            let is_natural = !batch.negative()?.contains(&true);
            Ok(Some((batch.magnitude().on_device()?, is_natural)))
        })?;
        let (limbs, is_natural) = lent.ok_or_else(|| {
            PyBufferError::new_err(
                "the lengths of the numbers differ too much for rows of one width on a device",
            )
        })?;
        if !is_natural {
            // Zeros may be marked.
            let numbers = self.on_host(py)?;
            if let Some(row) = (0..self.count).find(|&row| numbers.is_negative(row)) {
                return Err(negative(row));
            }
        }
        Ok(self.lent.get_or_init(|| limbs).clone())
    }
}

/// Why there are no limbs of a column.
pub fn negative(row: usize) -> PyErr {
    PyBufferError::new_err(format!(
        "limbs have no sign, and number {row} is negative: use abs(a)"
    ))
}

/// A batch as integers of the lengths that they have.
fn fetched(batch: &SignedBatch) -> Result<Integers, Error> {
    let (rows, width) = (batch.magnitude().rows()?, batch.magnitude().width());
    let negative = batch.negative()?;
    let row = |i: usize| &rows[i * width..][..width];
    let length = |i: usize| {
        let length = row(i)
            .iter()
            .rposition(|&limb| limb != 0)
            .map_or(0, |top| top + 1);
        (length, length > 0 && negative[i])
    };
    Integers::from_fn(batch.len(), width, length, |i, limbs| {
        limbs.copy_from_slice(&row(i)[..limbs.len()]);
    })
}

/// Integers as rows of one width, on the engine's device.
fn batch(engine: &Engine, numbers: &Integers) -> Result<Option<SignedBatch>, Error> {
    let count = numbers.len();
    let width = widest(numbers).max(1);
    if width.saturating_mul(count) / WASTE > numbers.limbs().len() + count {
        return Ok(None);
    }
    let magnitudes = engine.batch_from_limbs(
        rows(numbers, width)?,
        Shape::new(count, width, Layout::Contiguous),
    )?;
    let negative = bigint_cpu::collect((0..count).map(|row| numbers.is_negative(row)))?;
    SignedBatch::new(magnitudes, &negative).map(Some)
}

/// The limbs of the longest magnitude.
pub fn widest(numbers: &Integers) -> usize {
    let lengths = numbers.offsets().windows(2).map(|ends| ends[1] - ends[0]);
    lengths.max().unwrap_or(0) as usize / size_of::<u32>()
}

/// The magnitudes' limbs, so many of each, the lowest first.
pub fn rows(numbers: &Integers, width: usize) -> Result<Vec<u32>, Error> {
    let mut all = bigint_cpu::zeroed(width.saturating_mul(numbers.len()))?;
    for (i, row) in all.chunks_exact_mut(width.max(1)).enumerate() {
        let magnitude = numbers.magnitude(i);
        row[..magnitude.len()].copy_from_slice(magnitude);
    }
    Ok(all)
}
