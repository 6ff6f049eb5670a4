//! What this machine computes with.

use bigint_host::DeviceDescription;
use serde::Serialize;

/// The processor and the GPUs.
#[derive(Clone, Debug, Serialize)]
pub struct Hardware {
    /// The processor.
    pub cpu: Processor,
    /// The devices that the CUDA driver sees.
    pub cuda: Vec<Device>,
    /// Why there is none.
    pub no_cuda: Option<String>,
}

/// A processor, as the CPU back end uses it.
#[derive(Clone, Debug, Serialize)]
pub struct Processor {
    /// Its name, where the system tells it.
    pub name: Option<String>,
    /// The set of instructions that is used.
    pub path: &'static str,
    /// Threads that compute.
    pub threads: usize,
}

/// A CUDA device.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// Its number.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Its compute capability, as in `9.0`.
    pub compute_capability: String,
    /// Its memory.
    pub memory_bytes: usize,
}

impl Hardware {
    /// Looks at this machine.
    pub fn detect() -> Self {
        let (cuda, no_cuda) = match bigint_host::devices() {
            Ok(devices) if devices.is_empty() => {
                (devices, Some("the driver sees no device".into()))
            }
            Ok(devices) => (devices, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        Hardware {
            cpu: Processor {
                name: processor_name(),
                path: bigint_cpu::fast::Cpu::current().path().name(),
                threads: rayon::current_num_threads(),
            },
            cuda: cuda.into_iter().map(Device::from).collect(),
            no_cuda,
        }
    }
}

impl From<DeviceDescription> for Device {
    fn from(device: DeviceDescription) -> Self {
        let (major, minor) = device.compute_capability;
        Device {
            ordinal: device.ordinal,
            name: device.name,
            compute_capability: format!("{major}.{minor}"),
            memory_bytes: device.memory_bytes,
        }
    }
}

/// The processor's name, where the system tells it.
pub fn processor_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
