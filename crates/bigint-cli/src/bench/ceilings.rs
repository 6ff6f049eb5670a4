//! The highest rates that devices reach, beside which benchmarks stand.

use bigint_host::{BackEnd, Engine, Error};
use serde::{Deserialize, Serialize};

/// The highest rates of a device, measured in the same run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ceilings {
    pub copy_gigabytes_per_second: f64,
    pub giga_multiply_adds_per_second: f64,
    /// Of bytes, by tensor cores, as NVIDIA's table has it; 0 where there are none, and in older records.
    #[serde(default)]
    pub giga_byte_multiply_adds_per_second: f64,
    pub to_device_gigabytes_per_second: f64,
    pub to_host_gigabytes_per_second: f64,
}

impl Ceilings {
    /// Measures the engine's devices, if it has any, by copies that read and write `bytes` bytes.
    pub fn of(engine: &Engine, bytes: usize) -> Result<Option<Self>, Error> {
        let devices = match engine.back_end() {
            BackEnd::Cpu => 1,
            BackEnd::Cuda(devices) => devices.ordinals().count(),
        };
        let measured = engine.ceilings(bytes / devices)?;
        Ok(measured.map(|ceilings| Ceilings {
            copy_gigabytes_per_second: ceilings.copy_bytes_per_second / 1e9,
            giga_multiply_adds_per_second: ceilings.multiply_adds_per_second / 1e9,
            giga_byte_multiply_adds_per_second: ceilings.byte_multiply_adds_per_second / 1e9,
            to_device_gigabytes_per_second: ceilings.to_device_bytes_per_second / 1e9,
            to_host_gigabytes_per_second: ceilings.to_host_bytes_per_second / 1e9,
        }))
    }
}
