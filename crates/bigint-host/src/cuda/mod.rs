//! The CUDA back end: one module per thing of the driver's that the engine needs.
//! Nothing outside this folder sees `cust` or a raw handle.
//!
//! `cust` 0.3 knows the error codes of CUDA 11.5. Those that it has no name for come
//! as `UnknownError`. So, as compiled today, do younger ones, of which there are few
//! (46, a device that another process has for itself); but they are no values of its
//! enum, and nothing promises it. Why PTX is refused, [`modules`] asks the driver
//! itself, in plain numbers.
#![allow(unsafe_code)] // Device memory and launches are out of the compiler's sight.

mod buffer;
mod device;
mod early;
mod failure;
mod kept;
mod launch;
mod loaded;
mod modules;
mod own;
mod staging;

use crate::common::back_end::Found;
use crate::common::device::{Device, Driver, Memory};
use crate::{DeviceDescription, DeviceError, DeviceErrorKind};
use cuda_loader::DriverError;
use cust::device::DeviceAttribute;
use cust::error::{CudaError, CudaResult};

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The driver of CUDA devices.
pub(crate) struct Cuda;

impl Driver for Cuda {
    fn devices(&self) -> Result<Vec<Found>, DeviceError> {
        let failed = |ordinal, kind| DeviceError {
            ordinal,
            during: "looking for devices".to_owned(),
            kind,
        };
        let found = count().map_err(|kind| failed(0, kind))?;
        let found = (0..found).map(|ordinal| {
            describe(ordinal).map_err(|error| failed(ordinal, failure::kind_at_opening(error)))
        });
        Ok(found.collect())
    }

    fn open(&self, ordinal: usize, memory: Memory) -> Result<Arc<dyn Device>, DeviceError> {
        Ok(device::CudaDevice::open(ordinal, memory)?)
    }

    fn exit(&self, code: u8) -> ! {
        cuda_loader::exit(code)
    }
}

/// How long the driver took to start.
static STARTED: OnceLock<Duration> = OnceLock::new();

/// Starts the driver, and counts its devices.
fn count() -> Result<usize, DeviceErrorKind> {
    let begun = Instant::now();
    let driver = cuda_loader::driver().map_err(|error| match error {
        DriverError::NotInstalled { .. } => DeviceErrorKind::NoDriver(error.to_string()),
        DriverError::Forked => DeviceErrorKind::Forked,
        error => DeviceErrorKind::DriverUnusable(error.to_string()),
    })?;
    let found = cust::init(cust::CudaFlags::empty())
        .and_then(|()| cust::device::Device::num_devices())
        .or_else(|error| match error {
            CudaError::NoDevice => Ok(0),
            error => Err(error),
        });
    STARTED.get_or_init(|| begun.elapsed());
    found.map(|found| found as usize).map_err(|error| {
        let (library, said) = (driver.library.display(), failure::name(error));
        DeviceErrorKind::DriverUnusable(format!(
            "the CUDA driver {library} does not start ({said}): repair its installation"
        ))
    })
}

/// The driver's name for a device. Ordinals that came from outside are checked
/// against [`count`] first.
fn raw_device(ordinal: usize) -> CudaResult<cust::device::Device> {
    let ordinal = u32::try_from(ordinal).map_err(|_| CudaError::InvalidDevice)?;
    cust::device::Device::get_device(ordinal)
}

fn describe(ordinal: usize) -> CudaResult<DeviceDescription> {
    let device = raw_device(ordinal)?;
    let number = |attribute| Ok(device.get_attribute(attribute)?.unsigned_abs());
    Ok(DeviceDescription {
        ordinal,
        name: device.name()?,
        compute_capability: (
            number(DeviceAttribute::ComputeCapabilityMajor)?,
            number(DeviceAttribute::ComputeCapabilityMinor)?,
        ),
        memory_bytes: device.total_memory()?,
        pci_bus_id: format!(
            "{:04X}:{:02X}:{:02X}.0",
            number(DeviceAttribute::PciDomainId)?,
            number(DeviceAttribute::PciBusId)?,
            number(DeviceAttribute::PciDeviceId)?
        ),
    })
}
