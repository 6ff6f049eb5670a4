//! The part that both kinds of transforms share that square on a device.

use crate::Error;
use crate::common::device::{Buffer, Device};
use bigint_core::weighted::Around;
use bigint_cpu::fast::number::weighted::{Layout, Modulus, Operand};
use std::sync::Arc;

/// A transform that squares, of either kind: see the methods of
/// [`MersenneSquares`](super::MersenneSquares).
pub(super) trait Squares {
    fn words(&self) -> usize;
    /// Sets the digits, which are as many as there are words.
    fn set(&mut self, digits: &[f64]) -> Result<(), Error>;
    fn digits(&self) -> Result<Digits, Error>;
    fn square(&mut self, times: u32, by: u32, minus: u32, bit: u32) -> Result<(), Error>;
    /// The transform of the residue, to multiply by.
    fn keep(&self) -> Result<Buffer, Error>;
    /// Replaces the residue by the product of two sides less `minus`.
    fn multiply(&mut self, sides: Sides<'_>, minus: u32) -> Result<(), Error>;
    fn error(&self) -> Result<f64, Error>;
}

/// The two sides of a product, of which each is a factor, or a sum or difference of two; the first may be the residue.
pub(super) struct Sides<'a> {
    /// Each side's factors; 0 in place of a second one that is not there, and of the residue.
    pub addresses: [[u64; 2]; 2],
    /// The sign of each second one.
    pub signs: [f64; 2],
    pub buffers: Vec<&'a Buffer>,
}

impl<'a> Sides<'a> {
    /// `None` is the residue.
    pub fn of(operands: [Option<Operand<&'a Buffer>>; 2]) -> Self {
        let mut sides = Sides {
            addresses: [[0; 2]; 2],
            signs: [1.0; 2],
            buffers: Vec::new(),
        };
        for (i, operand) in operands.into_iter().enumerate() {
            let Some((first, second)) = operand.map(Operand::parts) else {
                continue;
            };
            sides.addresses[i][0] = first.address();
            sides.buffers.push(first);
            if let Some((sign, second)) = second {
                sides.addresses[i][1] = second.address();
                sides.signs[i] = sign;
                sides.buffers.push(second);
            }
        }
        sides
    }

    /// Whether the first is the residue.
    pub fn are_of_residue(&self) -> bool {
        self.addresses[0][0] == 0
    }
}

/// A copy of a residue's digits on the device.
pub(super) struct Digits {
    /// A double for each word.
    pub digits: Buffer,
    /// A double for each group of four words, which is carried into the next group; none where
    /// there are no carries.
    pub carries: Option<Buffer>,
}

impl Digits {
    /// The digits with the carries into them, and the carry out of the last, brought to the host while the device
    /// goes on.
    pub fn fetch(self) -> Result<(Vec<i64>, i64), Error> {
        let device = self.digits.device();
        let digits = doubles(device, &self.digits)?;
        let carries = match &self.carries {
            Some(carries) => doubles(device, carries)?,
            None => Vec::new(),
        };
        let mut sums: Vec<i64> = digits.into_iter().map(|digit| digit as i64).collect();
        let groups = sums.chunks_exact_mut(4).skip(1);
        for (group, &carry) in groups.zip(&carries) {
            group[0] += carry as i64;
        }
        let end = carries.last().map_or(0, |&carry| carry as i64);
        Ok((sums, end))
    }
}

/// Copies doubles to the device.
pub(super) fn upload_doubles(device: &Arc<dyn Device>, doubles: &[f64]) -> Result<Buffer, Error> {
    Ok(device.upload(bytemuck::cast_slice(doubles))?)
}

/// Copies pairs of doubles to the device.
pub(super) fn upload_pairs(
    device: &Arc<dyn Device>,
    pairs: impl Iterator<Item = [f64; 2]>,
) -> Result<Buffer, Error> {
    let pairs: Vec<[f64; 2]> = pairs.collect();
    upload_doubles(device, pairs.as_flattened())
}

pub(super) fn with_inverse(x: f64) -> [f64; 2] {
    [x, 1.0 / x]
}

/// How a carry out of the last word goes around.
pub(super) fn around(layout: &Layout) -> Around {
    let Modulus { k, base, c, .. } = layout.modulus;
    Around {
        k: with_inverse(k as f64),
        over: f64::from(base).powi(layout.over as i32),
        c: c as f64,
        power: layout.power,
    }
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
