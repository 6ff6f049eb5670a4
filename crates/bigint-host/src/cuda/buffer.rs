//! Device memory: how it comes to be, how limbs come there and from there, and how it is freed.

use super::device::{Device, Memory, Way};
use super::staging::STAGED;
use crate::DeviceError;
use bigint_core::{Layout, Limb, Shape};
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceBuffer};
use cust::stream::StreamWaitEventFlags;
use cust::sys;
use std::mem::ManuallyDrop;
use std::ops::Range;
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

impl Device {
    /// Memory for `limbs` limbs, of any content.
    pub fn allocate(self: &Arc<Self>, limbs: usize) -> Result<Buffer, DeviceError> {
        let bytes = limbs.saturating_mul(size_of::<Limb>());
        let memory = self.run("allocating device memory", bytes, || {
            if self.has_memory_pools {
                // SAFETY: every 32 bits are a limb, whatever was there before; and
                // the memory is only used in the same stream, behind this.
                unsafe { DeviceBuffer::uninitialized_async(limbs, &self.stream) }
            } else {
                // SAFETY: every 32 bits are a limb, whatever was there before.
                unsafe { DeviceBuffer::uninitialized(limbs) }
            }
        })?;
        Ok(Buffer::new(memory, self))
    }

    /// Memory for `limbs` limbs, all of whose bits will be ones.
    pub fn allocate_ones(self: &Arc<Self>, limbs: usize) -> Result<Buffer, DeviceError> {
        let mut buffer = self.allocate(limbs)?;
        let memory = buffer.memory_mut();
        self.run("filling device memory", 0, || {
            // SAFETY: the memory is nobody else's, and is used and freed behind this.
            unsafe { memory.set_8_async(0xff, &self.stream) }
        })?;
        Ok(buffer)
    }

    /// Frees memory behind what was launched before. A failure is one of those that
    /// end the context, and the memory with it.
    fn free(&self, mut memory: DeviceBuffer<Limb>) {
        if self.lost.get().is_some() {
            // The driver has taken it back, or will when the process ends; nothing
            // on the host belongs to it.
            std::mem::forget(memory);
            return;
        }
        let _ = self.run("freeing device memory", 0, || {
            if self.memory == Memory::Wiped {
                // It fails where the context is gone, and the memory with it.
                // SAFETY: the memory is nobody else's any more, and is freed behind this.
                let _ = unsafe { memory.set_8_async(0, &self.stream) };
            }
            if self.has_memory_pools {
                memory.drop_async(&self.stream)
            } else {
                DeviceBuffer::drop(memory).map_err(|(error, memory)| {
                    std::mem::forget(memory);
                    error
                })
            }
        });
    }

    /// Copies limbs to new device memory.
    pub fn upload(self: &Arc<Self>, limbs: &[Limb]) -> Result<Buffer, DeviceError> {
        let mut buffer = self.allocate(limbs.len())?;
        let memory = buffer.memory_mut();
        let bytes = size_of_val(limbs);
        self.run("copying to the device", bytes, || {
            let staged = self.staged(Way::In, limbs.len(), |staging| {
                staging.upload(memory, limbs, &self.stream)
            });
            if let Some(done) = staged {
                return done;
            }
            // SAFETY: the limbs stay borrowed until the stream is empty or its
            // context is dead, and the new memory is nobody else's.
            unsafe { memory.async_copy_from(limbs, &self.stream)? };
            self.stream.synchronize()
        })?;
        Ok(buffer)
    }

    /// Waits for all work, and copies a buffer's limbs to the host, into as many; many of them
    /// in a stream of their own, so that what other threads upload meanwhile does not wait.
    ///
    /// # Panics
    /// Where the lengths differ; that is a defect of the caller.
    pub fn download(&self, buffer: &Buffer, limbs: &mut [Limb]) -> Result<(), DeviceError> {
        assert_eq!(limbs.len(), buffer.limbs());
        self.run("copying from the device", 0, || {
            let staged = self.staged(Way::Out, limbs.len(), |staging| {
                let behind = Event::new(EventFlags::DISABLE_TIMING)?;
                behind.record(&self.stream)?;
                self.outgoing
                    .wait_event(behind, StreamWaitEventFlags::DEFAULT)?;
                staging.download(limbs, buffer.memory(), &self.outgoing)
            });
            if let Some(done) = staged {
                return done;
            }
            // SAFETY: the host memory is not touched until the stream is empty or
            // its context is dead; the device memory is written by this stream only.
            unsafe { buffer.memory().async_copy_to(limbs, &self.stream)? };
            self.stream.synchronize()
        })
    }

    /// Zeroes what no kernel writes of an interleaved batch: the ends of its rows.
    pub fn clear_padding(&self, buffer: &Buffer, shape: Shape) -> Result<(), DeviceError> {
        let row = shape.strides().limb;
        if shape.layout == Layout::Contiguous || row == shape.count {
            return Ok(());
        }
        assert!(shape.limbs() <= buffer.limbs());
        let first = buffer.address() + (size_of::<Limb>() * shape.count) as u64;
        self.run("clearing padding", 0, || {
            // SAFETY: so many limbs from `first` on, in each of `width` rows, are the buffer's
            // and no number's; the stream writes them behind all that was launched before, and
            // the memory is freed behind that.
            // Where it fails, so does the copy that comes next, which says why.
            let _ = unsafe {
                sys::cuMemsetD2D32Async(
                    first,
                    size_of::<Limb>() * row,
                    0,
                    row - shape.count,
                    shape.width,
                    self.stream.as_inner(),
                )
            };
            Ok(())
        })
    }

    /// Moves [`STAGED`] limbs of pinned memory `times` times, to see how long the link takes.
    pub fn exercise_link(self: &Arc<Self>, to_device: bool, times: u32) -> Result<(), DeviceError> {
        let mut buffer = self.allocate(STAGED)?;
        let memory = buffer.memory_mut();
        self.run("measuring the link", 0, || {
            let way = if to_device { Way::In } else { Way::Out };
            let moved = self.staged(way, STAGED, |staging| {
                staging.exercise(memory, to_device, times, &self.stream)
            });
            moved.unwrap_or(Err(CudaError::OutOfMemory))
        })
    }

    /// Queues a copy of one buffer to another of equal length behind all earlier work.
    ///
    /// # Panics
    /// Where the lengths differ; that is a defect of the caller.
    pub fn copy(&self, to: &mut Buffer, from: &Buffer) -> Result<(), DeviceError> {
        assert_eq!(to.limbs(), from.limbs());
        self.run("copying on the device", 0, || {
            // SAFETY: both are device memory of equal length; the copy happens in
            // the stream's order, and dropping either frees it behind the copy.
            unsafe { from.memory().async_copy_to(to.memory_mut(), &self.stream) }
        })
    }

    /// Queues a copy of some limbs of one buffer to another, from a place in it on, behind all
    /// earlier work.
    ///
    /// # Panics
    /// Where a buffer does not reach that far; that is a defect of the caller.
    pub fn copy_part(
        &self,
        (to, place): (&mut Buffer, usize),
        (from, limbs): (&Buffer, Range<usize>),
    ) -> Result<(), DeviceError> {
        let mut to = to.memory_mut().index(place..place + limbs.len());
        let from = from.memory().index(limbs);
        self.run("copying on the device", 0, || {
            // SAFETY: as in `copy`, of parts of the buffers.
            unsafe { from.async_copy_to(&mut to, &self.stream) }
        })
    }
}
