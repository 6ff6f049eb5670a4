//! Limbs of a batch in the memory of a device, for kernels of others to read.

use crate::common::device::Buffer;
use crate::{Batch, DeviceError, DeviceErrorKind, Error};
use bigint_core::Shape;
use std::sync::Arc;

/// Limbs in the memory of one CUDA device, where a batch has them: [`Batch::on_device`] lends them to
/// kernels of others.
///
/// The memory stays as it is until the last clone is dropped. Batches never change, so whoever has the
/// address may only read, and must have read before then: freed memory is used again.
#[derive(Clone)]
pub struct DeviceLimbs {
    buffer: Arc<Buffer>,
    shape: Shape,
}

impl DeviceLimbs {
    /// The device address of the first limb, 256-byte aligned; zero where there are no limbs. It is of
    /// the device's primary context, as CUDA's runtime has it.
    pub fn address(&self) -> u64 {
        self.buffer.address()
    }

    /// The number of the device, as the driver counts.
    pub fn ordinal(&self) -> usize {
        self.buffer.ordinal()
    }

    /// Count, width and layout.
    pub fn shape(&self) -> Shape {
        self.shape
    }
}

impl Batch {
    /// The limbs in the memory of the engine's first device, for kernels of others; they are brought
    /// there where they are not. Waits until they are written, so they may be read in any stream.
    ///
    /// # Errors
    /// [`Error::Secret`] of secrets; [`Error::Device`] where the engine has no device, or the device
    /// fails.
    pub fn on_device(&self) -> Result<DeviceLimbs, Error> {
        if self.is_secret() {
            return Err(Error::Secret);
        }
        let (node, shape) = (self.node(), self.shape());
        let Some(device) = node.engine.device() else {
            return Err(Error::Device(DeviceError {
                ordinal: 0,
                during: "lending the memory of a device".to_owned(),
                kind: DeviceErrorKind::NoDevice { found: 0 },
            }));
        };
        let buffer = node.resident(device, 0..shape.count)?;
        device.clear_padding(&buffer, shape)?;
        device.wait()?;
        Ok(DeviceLimbs { buffer, shape })
    }
}
