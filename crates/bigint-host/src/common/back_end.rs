//! Back ends: the CPU, and one or several CUDA devices.

use crate::DeviceError;
use std::fmt;
use std::str::FromStr;

/// The back end of an engine: where its numbers are, and what computes with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackEnd {
    /// Every core of the CPU.
    Cpu,
    /// One or several CUDA devices.
    Cuda(DeviceSet),
}

impl fmt::Display for BackEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackEnd::Cpu => f.write_str("cpu"),
            BackEnd::Cuda(devices) => write!(f, "cuda:{devices}"),
        }
    }
}

/// A set of CUDA devices, at least one, by their numbers; written as `0,2`.
///
/// ```
/// use bigint_host::DeviceSet;
/// let devices: DeviceSet = "2,0".parse()?;
/// assert!(devices.ordinals().eq([0, 2]));
/// assert_eq!(devices.to_string(), "0,2");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceSet(u64);

impl DeviceSet {
    /// The set of these devices; `None` for no device, and for a number that is not below
    /// [`DeviceSet::MOST`].
    pub fn new(ordinals: impl IntoIterator<Item = usize>) -> Option<Self> {
        let mut bits = 0;
        for ordinal in ordinals {
            bits |= 1_u64.checked_shl(u32::try_from(ordinal).ok()?)?;
        }
        (bits != 0).then_some(DeviceSet(bits))
    }

    /// Numbers of devices in a set are below this.
    pub const MOST: usize = u64::BITS as usize;

    /// The devices' numbers, smallest first.
    pub fn ordinals(self) -> impl Iterator<Item = usize> {
        (0..Self::MOST).filter(move |&ordinal| self.0 >> ordinal & 1 == 1)
    }

    /// The smallest of the devices' numbers.
    pub fn first(self) -> usize {
        self.0.trailing_zeros() as usize
    }
}

impl From<usize> for DeviceSet {
    /// The set of one device.
    ///
    /// # Panics
    /// If the number is not below [`DeviceSet::MOST`].
    fn from(ordinal: usize) -> Self {
        DeviceSet::new([ordinal]).expect("a driver counts fewer devices")
    }
}

impl fmt::Display for DeviceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ordinals: Vec<String> = self.ordinals().map(|ordinal| ordinal.to_string()).collect();
        f.write_str(&ordinals.join(","))
    }
}

impl FromStr for DeviceSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ordinals: Option<Vec<usize>> = text.split(',').map(|word| word.parse().ok()).collect();
        let set = ordinals.and_then(DeviceSet::new);
        set.ok_or_else(|| format!("{text:?} is no list of devices, as in 0,2"))
    }
}

/// A CUDA device that the driver sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceDescription {
    /// The device's number, for [`Engine::cuda`](crate::Engine::cuda).
    pub ordinal: usize,
    /// The device's name.
    pub name: String,
    /// The device's compute capability, as in `(9, 0)`.
    pub compute_capability: (u32, u32),
    /// The size of the device's memory, in bytes.
    pub memory_bytes: usize,
    /// The device's place on the PCI bus, as other libraries of NVIDIA know it: `0000:65:00.0`.
    pub pci_bus_id: String,
}

impl DeviceDescription {
    /// Whether both devices compute equally fast, as far as their names say.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.name == other.name && self.compute_capability == other.compute_capability
    }
}

/// A device that the driver lists: its description, or the error with which it answers.
pub(crate) type Found = Result<DeviceDescription, DeviceError>;
