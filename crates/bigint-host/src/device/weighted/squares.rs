//! The part that both kinds of transforms share that square modulo `2^p - 1` on a device.

use crate::Error;
use crate::common::device::{Buffer, Device};
use bigint_cpu::fast::number::weighted::limbs;
use std::sync::Arc;

/// A transform that squares, of either kind: see the methods of
/// [`MersenneSquares`](super::MersenneSquares).
pub(super) trait Squares {
    fn words(&self) -> usize;
    fn set(&mut self, limbs: &[u64]) -> Result<(), Error>;
    fn digits(&self) -> Result<Digits, Error>;
    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error>;
    fn error(&self) -> Result<f64, Error>;
}

/// A copy of a residue's digits on the device.
pub(super) struct Digits {
    pub p: u32,
    /// A double for each word.
    pub digits: Buffer,
    /// A double for each group of four words, which is carried into the next group; none where
    /// there are no carries.
    pub carries: Option<Buffer>,
}

impl Digits {
    /// The residue, brought to the host while the device goes on.
    pub fn limbs(self) -> Result<Vec<u64>, Error> {
        let device = self.digits.device();
        let digits = doubles(device, &self.digits)?;
        let carries = match &self.carries {
            Some(carries) => doubles(device, carries)?,
            None => Vec::new(),
        };
        let carried = |j: usize| match j % 4 {
            0 if !carries.is_empty() => carries[(j / 4 + carries.len() - 1) % carries.len()] as i64,
            _ => 0,
        };
        let sums = (0..digits.len()).map(|j| digits[j] as i64 + carried(j));
        Ok(limbs(sums, self.p, digits.len()))
    }
}

/// The digits of a residue, as doubles.
pub(super) fn upload_digits(
    device: &Arc<dyn Device>,
    limbs: &[u64],
    p: u32,
    words: usize,
) -> Result<Buffer, Error> {
    let digits: Vec<f64> = bigint_cpu::fast::number::weighted::digits(limbs, p, words)
        .map(|digit| digit as f64)
        .collect();
    Ok(device.upload(bytemuck::cast_slice(&digits))?)
}

/// Copies pairs of doubles to the device.
pub(super) fn upload_pairs(
    device: &Arc<dyn Device>,
    pairs: impl Iterator<Item = [f64; 2]>,
) -> Result<Buffer, Error> {
    let pairs: Vec<[f64; 2]> = pairs.collect();
    Ok(device.upload(bytemuck::cast_slice(&pairs))?)
}

/// Waits for all work, and copies a buffer's doubles to the host.
pub(super) fn doubles(device: &Arc<dyn Device>, buffer: &Buffer) -> Result<Vec<f64>, Error> {
    let mut doubles = bigint_cpu::zeroed(buffer.limbs() / 2)?;
    device.download(buffer, bytemuck::cast_slice_mut(&mut doubles))?;
    Ok(doubles)
}

/// The greatest of some errors; a NaN is greater than all.
pub(super) fn greatest(errors: impl Iterator<Item = f64>) -> f64 {
    errors.fold(0.0, |greatest, error| {
        if error > greatest || error.is_nan() {
            error
        } else {
            greatest
        }
    })
}

/// `g` of word `j`, whose weight is `2^(g / words)`.
pub(super) fn exponent(p: u32, j: usize, words: usize) -> u64 {
    let (j, words) = (j as u64, words as u64);
    (words - u64::from(p) * j % words) % words
}
