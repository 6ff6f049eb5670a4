//! Device memory: allocation, copies, and freeing.

use super::device::{CudaDevice, Way};
use crate::DeviceError;
use crate::common::device::{Buffer, DeviceMemory, Memory, STAGED};
use bigint_core::{Layout, Limb, Shape};
use cust::error::{CudaError, CudaResult};
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceBuffer, DeviceSlice};
use cust::stream::{Stream, StreamWaitEventFlags};
use cust::sys;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::Arc;

/// The memory of a [`Buffer`] of a CUDA device, which is freed when dropped, after whatever was
/// launched before.
struct CudaMemory {
    memory: ManuallyDrop<DeviceBuffer<Limb>>,
    /// The event after which nothing writes the memory any more, where that is known.
    sealed: Option<Event>,
    device: Arc<CudaDevice>,
}

impl CudaMemory {
    fn into_buffer(self) -> Buffer {
        let (address, limbs) = (self.as_device_ptr().as_raw(), self.len());
        let device = Arc::clone(&self.device);
        Buffer::new(address, limbs, self, device)
    }
}

impl Deref for CudaMemory {
    type Target = DeviceBuffer<Limb>;

    fn deref(&self) -> &Self::Target {
        &self.memory
    }
}

impl DerefMut for CudaMemory {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.memory
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the memory, which is not used after the
        // drop.
        let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
        self.device.free(memory);
    }
}

/// The memory of a buffer.
///
/// # Panics
/// Where another back end made the buffer; that is a defect of the caller.
fn memory_of(buffer: &Buffer) -> &CudaMemory {
    let memory = buffer.handle().downcast_ref();
    memory.expect("a buffer of a CUDA device")
}

/// The limbs of a buffer in its memory, or in that of the one of which it is a view.
fn limbs_of(buffer: &Buffer) -> DeviceSlice<Limb> {
    let (of, start) = buffer.viewed().unwrap_or((buffer, 0));
    memory_of(of).index(start..start + buffer.limbs())
}

/// The memory of a buffer, for writes.
fn memory_of_mut(buffer: &mut Buffer) -> &mut CudaMemory {
    let memory: Option<&mut CudaMemory> = buffer.handle_mut().downcast_mut();
    let memory = memory.expect("a buffer of a CUDA device");
    memory.sealed = None;
    memory
}

/// An event behind all that a stream has to do.
fn behind(stream: &Stream) -> CudaResult<Event> {
    let event = Event::new(EventFlags::DISABLE_TIMING)?;
    event.record(stream)?;
    Ok(event)
}

impl CudaDevice {
    /// Whether a buffer is this device's memory.
    pub(super) fn has(&self, buffer: &Buffer) -> bool {
        let (of, _) = buffer.viewed().unwrap_or((buffer, 0));
        let memory = of.handle().downcast_ref::<CudaMemory>();
        memory.is_some_and(|memory| ptr::eq(&*memory.device, self))
    }

    /// Memory for `limbs` limbs, of any content, which a stream may use from now on. It is freed behind what [`CudaDevice::stream`]
    /// has to do.
    fn memory_for(&self, limbs: usize, stream: &Stream) -> Result<CudaMemory, DeviceError> {
        let bytes = limbs.saturating_mul(size_of::<Limb>());
        let memory = self.run("allocating device memory", bytes, || {
            if self.has_memory_pools {
                // SAFETY: every 32 bits are a limb, whatever was there before; and
                // the memory is only used in the same stream, behind this, and in others that have waited for it.
                unsafe { DeviceBuffer::uninitialized_async(limbs, stream) }
            } else {
                // SAFETY: every 32 bits are a limb, whatever was there before.
                unsafe { DeviceBuffer::uninitialized(limbs) }
            }
        })?;
        Ok(CudaMemory {
            memory: ManuallyDrop::new(memory),
            sealed: None,
            device: self.this(),
        })
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
}

impl DeviceMemory for CudaDevice {
    fn allocate(&self, limbs: usize) -> Result<Buffer, DeviceError> {
        Ok(self.memory_for(limbs, &self.stream)?.into_buffer())
    }

    fn allocate_ones(&self, limbs: usize) -> Result<Buffer, DeviceError> {
        let mut memory = self.memory_for(limbs, &self.stream)?;
        self.run("filling device memory", 0, || {
            // SAFETY: the memory is nobody else's, and is used and freed behind this.
            unsafe { memory.set_8_async(0xff, &self.stream) }
        })?;
        Ok(memory.into_buffer())
    }

    fn upload(&self, limbs: &[Limb]) -> Result<Buffer, DeviceError> {
        let mut memory = self.memory_for(limbs.len(), &self.incoming)?;
        let bytes = size_of_val(limbs);
        self.run("copying to the device", bytes, || {
            let staged = self.staged(Way::In, limbs.len(), |staging| {
                staging.upload(&mut memory, limbs, &self.incoming)
            });
            if let Some(done) = staged {
                let is_there = done
                    .and_then(|()| behind(&self.incoming))
                    .and_then(|event| self.stream.wait_event(event, StreamWaitEventFlags::DEFAULT));
                // Else the memory would be freed before the copy.
                return is_there.or_else(|error| self.incoming.synchronize().and(Err(error)));
            }
            // SAFETY: the limbs stay borrowed until the stream is empty or its
            // context is dead, and the new memory is nobody else's.
            unsafe { memory.async_copy_from(limbs, &self.incoming)? };
            self.incoming.synchronize()
        })?;
        Ok(memory.into_buffer())
    }

    fn download(&self, buffer: &Buffer, limbs: &mut [Limb]) -> Result<(), DeviceError> {
        assert_eq!(limbs.len(), buffer.limbs());
        let memory = memory_of(buffer.viewed().map_or(buffer, |(of, _)| of));
        let from = limbs_of(buffer);
        self.run("copying from the device", 0, || {
            let mut stream = &self.stream;
            if let Some(written) = &memory.sealed {
                written.synchronize()?;
                stream = &self.outgoing;
            }
            let staged = self.staged(Way::Out, limbs.len(), |staging| {
                if memory.sealed.is_none() {
                    self.outgoing
                        .wait_event(behind(&self.stream)?, StreamWaitEventFlags::DEFAULT)?;
                }
                staging.download(limbs, &from, &self.outgoing)
            });
            if let Some(done) = staged {
                return done;
            }
            // SAFETY: the host memory is not touched until the stream is empty or
            // its context is dead; the device memory is written by this stream only, or by none.
            unsafe { from.async_copy_to(limbs, stream)? };
            stream.synchronize()
        })
    }

    fn seal(&self, buffer: &mut Buffer) -> Result<(), DeviceError> {
        self.run("noting that a buffer is written", 0, || {
            memory_of_mut(buffer).sealed = Some(behind(&self.stream)?);
            Ok(())
        })
    }

    fn clear_padding(&self, buffer: &Buffer, shape: Shape) -> Result<(), DeviceError> {
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

    fn exercise_link(&self, to_device: bool, times: u32) -> Result<(), DeviceError> {
        let mut memory = self.memory_for(STAGED, &self.stream)?;
        self.run("measuring the link", 0, || {
            let way = if to_device { Way::In } else { Way::Out };
            let moved = self.staged(way, STAGED, |staging| {
                staging.exercise(&mut memory, to_device, times, &self.stream)
            });
            moved.unwrap_or(Err(CudaError::OutOfMemory))
        })
    }

    fn copy(&self, to: &mut Buffer, from: &Buffer) -> Result<(), DeviceError> {
        assert_eq!(to.limbs(), from.limbs());
        self.run("copying on the device", 0, || {
            // SAFETY: both are device memory of equal length; the copy happens in
            // the stream's order, and dropping either frees it behind the copy.
            unsafe { limbs_of(from).async_copy_to(&mut **memory_of_mut(to), &self.stream) }
        })
    }

    fn copy_part(
        &self,
        (to, start): (&mut Buffer, usize),
        (from, limbs): (&Buffer, Range<usize>),
    ) -> Result<(), DeviceError> {
        let mut to = memory_of_mut(to).index(start..start + limbs.len());
        let from = limbs_of(from).index(limbs);
        self.run("copying on the device", 0, || {
            // SAFETY: as in `copy`, of parts of the buffers.
            unsafe { from.async_copy_to(&mut to, &self.stream) }
        })
    }
}
