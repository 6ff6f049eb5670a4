//! The temperature of a device, by NVIDIA's management library (NVML), which comes with the driver.

use std::env;

use bigint_host::DeviceDescription;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::TemperatureSensor;

/// The environment variable that names another library.
const LIBRARY_VARIABLE: &str = "BIGINT_NVML";

/// What tells the temperature of a device.
#[derive(Debug)]
pub struct Thermometer {
    library: Nvml,
    /// The device by its place on the PCI bus: the library has an order of devices of its own.
    pci_bus_id: String,
}

impl Thermometer {
    /// The thermometer of a device, where the library is there and tells its temperature.
    pub fn of(device: &DeviceDescription) -> Option<Self> {
        let library = env::var_os(LIBRARY_VARIABLE).unwrap_or_else(|| "libnvidia-ml.so.1".into());
        let thermometer = Thermometer {
            library: Nvml::builder().lib_path(&library).init().ok()?,
            pci_bus_id: device.pci_bus_id.clone(),
        };
        thermometer.celsius().map(|_| thermometer)
    }

    /// The temperature in degrees Celsius.
    pub fn celsius(&self) -> Option<u32> {
        let device = self.library.device_by_pci_bus_id(&*self.pci_bus_id).ok()?;
        device.temperature(TemperatureSensor::Gpu).ok()
    }
}
