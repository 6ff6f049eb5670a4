//! Device memory.

use super::Device;
use bigint_core::Limb;
use cust::memory::DeviceBuffer;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Limbs in device memory, freed when dropped, after whatever was launched before.
pub(crate) struct Buffer {
    memory: ManuallyDrop<DeviceBuffer<Limb>>,
    device: Arc<Device>,
}

impl Buffer {
    pub(super) fn new(memory: DeviceBuffer<Limb>, device: &Arc<Device>) -> Self {
        Buffer {
            memory: ManuallyDrop::new(memory),
            device: Arc::clone(device),
        }
    }

    /// The number of the device whose memory it is.
    pub fn ordinal(&self) -> usize {
        self.device.ordinal()
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The device address of the first limb, 256-byte aligned; zero where there
    /// are no limbs.
    pub fn address(&self) -> u64 {
        self.memory.as_device_ptr().as_raw()
    }

    /// Limbs it holds.
    pub fn limbs(&self) -> usize {
        self.memory.len()
    }

    pub(super) fn memory(&self) -> &DeviceBuffer<Limb> {
        &self.memory
    }

    pub(super) fn memory_mut(&mut self) -> &mut DeviceBuffer<Limb> {
        &mut self.memory
    }

    /// Whether it is this device's memory.
    pub fn is_of(&self, device: &Device) -> bool {
        std::ptr::eq(&*self.device, device)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the memory, and the buffer is
        // not used after its drop.
        let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
        self.device.free(memory);
    }
}
