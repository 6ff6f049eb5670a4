//! Device memory: allocation, copies, and freeing.

use super::device::{CudaDevice, Way};
use super::kept::Kept;
use crate::common::device::{Buffer, DeviceMemory, Memory, STAGED};
use crate::{DeviceError, DeviceErrorKind};
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

/// The most limbs that go to a device one by one.
const FEW: usize = 3;

/// The memory of a [`Buffer`] of a CUDA device, which is freed when dropped, after whatever was
/// launched before.
struct CudaMemory {
    memory: ManuallyDrop<DeviceBuffer<Limb>>,
    /// The event after which nothing writes the memory any more, where that is known.
    sealed: Option<Event>,
    device: Arc<CudaDevice>,
}

impl CudaMemory {
    fn into_buffer(self, limbs: usize) -> Buffer {
        let address = self.as_device_ptr().as_raw();
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

    /// New memory of few limbs, which the host waits for nowhere: where it copies them, it waits until they are there.
    fn filled(&self, limbs: &[Limb]) -> Result<Buffer, DeviceError> {
        let memory = self.memory_of_stream(limbs.len())?;
        self.run("filling device memory", 0, || {
            for (at, &limb) in limbs.iter().enumerate() {
                // SAFETY: the memory is nobody else's, and is used and freed behind this.
                unsafe { memory.index(at..at + 1).set_32_async(limb, &self.stream)? };
            }
            Ok(())
        })?;
        Ok(memory.into_buffer(limbs.len()))
    }

    /// Memory for `limbs` limbs or little more, of any content, which [`CudaDevice::stream`] may use from now on.
    fn memory_of_stream(&self, limbs: usize) -> Result<CudaMemory, DeviceError> {
        if self.memory == Memory::Wiped {
            return self.memory_for(limbs, &self.stream);
        }
        let length = Kept::<DeviceBuffer<Limb>>::length(limbs);
        // A forked process goes no further, where a thread that it has not may have the lock.
        let kept = self.run("allocating device memory", 0, || {
            Ok(self.kept().take(length))
        })?;
        match kept {
            Some(memory) => Ok(self.own(memory)),
            None => self.memory_for(length, &self.stream),
        }
    }

    fn own(&self, memory: DeviceBuffer<Limb>) -> CudaMemory {
        CudaMemory {
            memory: ManuallyDrop::new(memory),
            sealed: None,
            device: self.this(),
        }
    }

    /// Memory for `limbs` limbs, of any content, which a stream may use from now on. It is freed behind what [`CudaDevice::stream`]
    /// has to do.
    fn memory_for(&self, limbs: usize, stream: &Stream) -> Result<CudaMemory, DeviceError> {
        let bytes = limbs.saturating_mul(size_of::<Limb>());
        let new = || {
            if self.has_memory_pools {
                // SAFETY: every 32 bits are a limb, whatever was there before; and
                // the memory is only used in the same stream, behind this, and in others that have waited for it.
                unsafe { DeviceBuffer::uninitialized_async(limbs, stream) }
            } else {
                // SAFETY: every 32 bits are a limb, whatever was there before.
                unsafe { DeviceBuffer::uninitialized(limbs) }
            }
        };
        let new = || self.run("allocating device memory", bytes, new);
        let memory = new().or_else(|error| match error.kind {
            // What is kept may be what is missing.
            DeviceErrorKind::OutOfMemory { .. } if self.free_kept() => new(),
            _ => Err(error),
        })?;
        Ok(self.own(memory))
    }

    /// Frees memory behind what was launched before, or keeps it for what comes.
    fn free(&self, memory: DeviceBuffer<Limb>) {
        if self.memory == Memory::Wiped || self.lost.get().is_some() || self.enter().is_err() {
            return self.free_now(memory);
        }
        let gone = self.kept().give(memory.len(), memory);
        gone.into_iter().for_each(|memory| self.free_now(memory));
    }

    /// Frees what is kept; answers whether that is something.
    fn free_kept(&self) -> bool {
        let gone = self.kept().clear();
        let is_some = !gone.is_empty();
        gone.into_iter().for_each(|memory| self.free_now(memory));
        is_some
    }

    /// Frees memory behind what was launched before. A failure is one of those that
    /// end the context, and the memory with it.
    pub(super) fn free_now(&self, mut memory: DeviceBuffer<Limb>) {
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
        Ok(self.memory_of_stream(limbs)?.into_buffer(limbs))
    }

    fn allocate_ones(&self, limbs: usize) -> Result<Buffer, DeviceError> {
        let mut memory = self.memory_of_stream(limbs)?;
        self.run("filling device memory", 0, || {
            // SAFETY: the memory is nobody else's, and is used and freed behind this.
            unsafe { memory.set_8_async(0xff, &self.stream) }
        })?;
        Ok(memory.into_buffer(limbs))
    }

    fn upload(&self, limbs: &[Limb]) -> Result<Buffer, DeviceError> {
        if (1..=FEW).contains(&limbs.len()) && self.memory == Memory::Plain {
            return self.filled(limbs);
        }
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
        Ok(memory.into_buffer(limbs.len()))
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
            let limbs = to.limbs();
            let mut to = memory_of_mut(to).index(0..limbs);
            // SAFETY: both are device memory of equal length; the copy happens in
            // the stream's order, and dropping either frees it, or hands it on, behind the copy.
            unsafe { limbs_of(from).async_copy_to(&mut to, &self.stream) }
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
