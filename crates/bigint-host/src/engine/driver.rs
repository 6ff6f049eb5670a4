//! The driver of the devices that this build is for: the one place that names a back end.

use crate::common::back_end::Found;
use crate::common::device::{Device, Driver, Memory};
use crate::common::error::{DeviceError, DeviceErrorKind};
use std::process;
use std::sync::Arc;

#[cfg(feature = "cuda")]
const DRIVER: Option<&dyn Driver> = Some(&crate::cuda::Cuda);

#[cfg(not(feature = "cuda"))]
const DRIVER: Option<&dyn Driver> = None;

fn driver(ordinal: usize) -> Result<&'static dyn Driver, DeviceError> {
    DRIVER.ok_or_else(|| DeviceError {
        ordinal,
        during: "opening the device".to_owned(),
        kind: DeviceErrorKind::NotBuilt,
    })
}

/// The devices that the driver sees, in the order of their numbers; of a device that does not
/// answer, why.
pub(crate) fn devices() -> Result<Vec<Found>, DeviceError> {
    driver(0)?.devices()
}

/// Opens a device, or shares it where it is open already.
pub(crate) fn open(ordinal: usize, memory: Memory) -> Result<Arc<dyn Device>, DeviceError> {
    driver(ordinal)?.open(ordinal, memory)
}

/// Ends the process without a word to the driver.
pub(crate) fn exit(code: u8) -> ! {
    match DRIVER {
        Some(driver) => driver.exit(code),
        None => process::exit(code.into()),
    }
}
