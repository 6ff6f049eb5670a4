//! What decides the speed of a device, as its driver tells it.

use bigint_core::rns::WARPGROUPS_CAPABILITY;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a driver tells about the speed of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Major and minor compute capability.
    pub capability: (u32, u32),
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// The highest clock of multiprocessors, in kHz.
    pub clock_khz: u32,
    /// The highest clock of memory, in kHz.
    pub memory_clock_khz: u32,
    /// The width of the memory's bus, in bits.
    pub memory_bus_bits: u32,
    /// The size of the second-level cache, in bytes.
    pub cache_bytes: u32,
    /// Operations on floats of 32 bits in the time of one on doubles.
    pub floats_for_a_double: u32,
}

impl Facts {
    /// Whether its warpgroups multiply matrices, as only one capability's do.
    pub fn has_warpgroups(&self) -> bool {
        self.capability == WARPGROUPS_CAPABILITY
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.capability;
        write!(
            f,
            "compute capability {major}.{minor}, {} multiprocessors at {} MHz, {:.0} GB/s, doubles at \
             a {} of the rate of floats",
            self.multiprocessors,
            self.clock_khz / 1000,
            self.memory_bytes_per_nanosecond(),
            match self.floats_for_a_double {
                2 => "half".to_owned(),
                n => format!("{n}th"),
            },
        )
    }
}

impl Facts {
    /// The rate of the memory: two transfers a clock.
    pub(crate) fn memory_bytes_per_nanosecond(&self) -> f64 {
        f64::from(self.memory_clock_khz) * 2.0 * f64::from(self.memory_bus_bits) / 8.0 / 1e6
    }
}
