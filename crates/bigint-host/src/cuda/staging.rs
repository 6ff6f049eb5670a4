//! Large copies between the host and a device, by way of pinned memory.
//!
//! The driver moves pinned memory at the link's rate, and any other by way of a small
//! pinned buffer of its own, which one thread fills. Here all threads fill or empty one
//! part of a pinned buffer while the device has the others.

use crate::common::device::STAGED;
use bigint_core::Limb;
use cust::error::CudaResult;
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceSlice, LockedBuffer};
use cust::stream::Stream;
use zeroize::Zeroize;

/// Limbs of a part: 16 MiB, which a link takes much longer to move than threads to wake.
const PART: usize = 4 << 20;

/// The number of parts: one for the host, one for the device, and one for each that is late.
const PARTS: usize = 4;

/// A copy is worth the detour from half a part on.
const _: () = assert!(STAGED == PART / 2);

/// A pinned buffer, in parts. Whoever drops it has waited for the stream of its copies.
pub(super) struct Staging {
    parts: Vec<Part>,
}

struct Part {
    limbs: LockedBuffer<Limb>,
    /// The event after which the device no longer uses the part.
    moved: Event,
}

impl Staging {
    /// Pins memory, in the current context.
    pub fn new() -> CudaResult<Self> {
        let part = |_| {
            Ok(Part {
                // SAFETY: every 32 bits are a limb, and are set before they are read.
                limbs: unsafe { LockedBuffer::uninitialized(PART)? },
                moved: Event::new(EventFlags::DISABLE_TIMING)?,
            })
        };
        let parts = (0..PARTS).map(part).collect::<CudaResult<_>>()?;
        Ok(Staging { parts })
    }

    /// Copies limbs to device memory of that length, after all that the stream has to do. On return
    /// the last of them are still on their way, but `from` is no longer needed.
    pub fn upload(
        &mut self,
        to: &mut DeviceSlice<Limb>,
        from: &[Limb],
        stream: &Stream,
    ) -> CudaResult<()> {
        for (k, from) in from.chunks(PART).enumerate() {
            let Part { limbs, moved } = &mut self.parts[k % PARTS];
            moved.synchronize()?;
            let pinned = &mut limbs.as_mut_slice()[..from.len()];
            bigint_cpu::copy(pinned, from);
            let mut to = to.index(k * PART..k * PART + from.len());
            // SAFETY: nobody touches this part of the buffer, which lives as long as the
            // stream, until the event behind the copy has come; the device memory is the
            // caller's, and is used and freed behind the copy.
            unsafe { to.async_copy_from(&*pinned, stream)? };
            moved.record(stream)?;
        }
        Ok(())
    }

    /// Waits for all that the stream has to do, and copies device memory into `to`.
    pub fn download(
        &mut self,
        to: &mut [Limb],
        from: &DeviceSlice<Limb>,
        stream: &Stream,
    ) -> CudaResult<()> {
        let mut outgoing = to.chunks_mut(PART);
        for start in (0..from.len() + PARTS * PART).step_by(PART) {
            let Part { limbs, moved } = &mut self.parts[start / PART % PARTS];
            // What came into this part when its turn was last.
            if start >= PARTS * PART
                && let Some(to) = outgoing.next()
            {
                moved.synchronize()?;
                bigint_cpu::copy(to, &limbs.as_slice()[..to.len()]);
            }
            if start < from.len() {
                let from = from.index(start..(start + PART).min(from.len()));
                let mut pinned = &mut limbs.as_mut_slice()[..from.len()];
                // SAFETY: as in `upload`.
                unsafe { from.async_copy_to(&mut pinned, stream)? };
                moved.record(stream)?;
            }
        }
        Ok(())
    }

    /// Overwrites what a copy of so many limbs has left here, once the device is done with it.
    pub fn wipe(&mut self, limbs: usize) -> CudaResult<()> {
        let mut waited = Ok(());
        for Part { limbs: part, moved } in self.parts.iter_mut().take(limbs.div_ceil(PART)) {
            waited = waited.and(moved.synchronize());
            part.as_mut_slice()[..limbs.min(PART)].zeroize();
        }
        waited
    }

    /// Moves [`STAGED`] limbs `times` times to or from device memory, to measure the link.
    pub fn exercise(
        &mut self,
        device: &mut DeviceSlice<Limb>,
        to_device: bool,
        times: u32,
        stream: &Stream,
    ) -> CudaResult<()> {
        let mut pinned = &mut self.parts[0].limbs.as_mut_slice()[..STAGED];
        for _ in 0..times {
            // SAFETY: as in `upload`; the stream is waited for below.
            unsafe {
                if to_device {
                    device.async_copy_from(&*pinned, stream)?;
                } else {
                    device.async_copy_to(&mut pinned, stream)?;
                }
            }
        }
        stream.synchronize()
    }
}
