//! The processor and the GPUs of this machine.

use bigint_host::DeviceDescription;
use serde::Serialize;

/// The processor and the GPUs.
#[derive(Clone, Debug, Serialize)]
pub struct Hardware {
    /// The processor.
    pub cpu: Processor,
    /// The CUDA devices that the driver lists.
    pub cuda: Vec<Device>,
    /// The devices that do not answer what they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<Silent>,
    /// Why there is no CUDA device.
    pub no_cuda: Option<String>,
    /// The version of NVIDIA's driver, where the system knows it.
    pub driver: Option<String>,
}

/// A processor, as the CPU back end uses it.
#[derive(Clone, Debug, Serialize)]
pub struct Processor {
    /// The processor's name, where the system knows it.
    pub name: Option<String>,
    /// The name of the instruction set that the CPU back end uses.
    pub path: &'static str,
    /// The number of threads that compute.
    pub threads: usize,
}

/// A CUDA device.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// The device's number.
    pub ordinal: usize,
    /// The device's name.
    pub name: String,
    /// Its compute capability, as in `9.0`.
    pub compute_capability: String,
    /// The size of the device's memory.
    pub memory_bytes: usize,
}

/// A CUDA device that does not answer what it is.
#[derive(Clone, Debug, Serialize)]
pub struct Silent {
    /// The device's number.
    pub ordinal: usize,
    /// The driver's error.
    pub why: String,
}

impl Hardware {
    /// Looks at this machine.
    pub fn detect() -> Self {
        let (mut cuda, mut silent) = (Vec::new(), Vec::new());
        let no_cuda = match bigint_host::devices() {
            Ok(devices) if devices.is_empty() => Some("the driver sees no device".to_owned()),
            Ok(devices) => {
                for device in devices {
                    match device {
                        Ok(device) => cuda.push(Device::from(device)),
                        Err(error) => silent.push(Silent {
                            ordinal: error.ordinal,
                            why: error.kind.to_string(),
                        }),
                    }
                }
                None
            }
            Err(error) => Some(error.to_string()),
        };
        Hardware {
            cpu: Processor {
                name: processor_name(),
                path: bigint_cpu::fast::Cpu::current().path().name(),
                threads: bigint_cpu::threads(),
            },
            cuda,
            silent,
            no_cuda,
            driver: driver_version(),
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

/// The processor's name, where the system knows it.
pub fn processor_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The version of NVIDIA's kernel module, as `580.159.04`.
fn driver_version() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_version =
        |word: &&str| word.contains('.') && word.bytes().all(|c| c == b'.' || c.is_ascii_digit());
    Some(
        text.lines()
            .next()?
            .split_whitespace()
            .find(is_version)?
            .to_owned(),
    )
}
