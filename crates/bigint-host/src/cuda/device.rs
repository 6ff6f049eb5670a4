//! A device: its context, its stream, and what is loaded there. Everything happens in the stream's
//! order, but for copies to the device, which the stream only waits for, and for copies to the host that are large or of what
//! nothing writes any more.

use super::kept::Kept;
use super::loaded::Loaded;
use super::modules::Modules;
use super::staging::Staging;
use super::{STARTED, count, describe, early, failure, raw_device};
use crate::common::device::{Device, Memory, Roots, STAGED};
use crate::common::facts::Facts;
use crate::common::notes::{Notes, Start};
use crate::common::threads::lock;
use crate::{DeviceError, DeviceErrorKind};
use bigint_core::Limb;
use bigint_core::kernel::{EntryPoint, TENSOR_CAPABILITY};
use bigint_core::specialization::Specialization;
use bigint_core::transform::grid::{TREE, fill_tree};
use bigint_core::transform::ntt::{FACTORS, fill_tables};
use bigint_core::transform::rings::{RING_ROOTS, RingPlan};
use bigint_core::transform::{ROOTS, fill_roots};
use cust::context::{Context, CurrentContext};
use cust::error::{CudaError, CudaResult};
use cust::memory::DeviceBuffer;
use cust::stream::{Stream, StreamFlags};
use cust::sys;
use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The oldest compute capability that the kernels' PTX is for.
const OLDEST_CAPABILITY: (u32, u32) = (7, 5);

/// Dynamic shared memory that a block may have without opting in, in bytes.
pub(super) const FREE_SHARED_BYTES: u32 = 48 << 10;

/// A device's pool keeps one part in so many of its memory for later.
const KEPT_PART: u64 = 2;

/// The most limbs that are kept by [`Kept`]; of a small device one part in so many of its memory.
const KEPT_LIMBS: (usize, usize) = (1 << 27, 32);

/// The devices that are open. Engines of one process share a device, so that its
/// kernels are compiled once.
static OPEN: Mutex<Vec<Weak<CudaDevice>>> = Mutex::new(Vec::new());

/// An open device.
///
/// Every call may come from any thread: it makes the context current first. All
/// work but copies from and to the host goes through one stream, so a
/// kernel sees what earlier calls wrote, and memory is freed behind the kernels that use it. A kernel's failure shows in a
/// later call; [`Kernels::launch`](crate::common::device::Kernels::launch) notes what ran last.
pub(super) struct CudaDevice {
    /// The device itself, for buffers, which keep it open.
    this: Weak<CudaDevice>,
    ordinal: usize,
    // Dropped in this order: modules, pinned memory, stream and memory need the context.
    pub(super) modules: Modules,
    /// Pinned memory for large copies, one for each [`Way`]; made when first needed, `None` inside
    /// if none could be pinned.
    staging: [Mutex<Option<Option<Staging>>>; 2],
    pub(super) stream: Stream,
    /// The stream of copies to the device, for which the other stream waits.
    pub(super) incoming: Stream,
    /// The stream of copies to the host that are large, each of which waits for what the other stream had to do, or are of
    /// what nothing writes any more.
    pub(super) outgoing: Stream,
    /// Tables of roots of unity that kernels needed. They are no `Buffer`s, which would keep the
    /// device open.
    roots: Mutex<HashMap<Roots, DeviceBuffer<u64>>>,
    context: Context,
    /// Dynamic shared memory that a block may have, in bytes.
    shared_bytes: u32,
    /// Whether tensor cores multiply bytes.
    has_tensor_cores: bool,
    facts: Option<Facts>,
    /// Whether a kernel can begin before the last one has ended.
    is_early: bool,
    /// Whether memory is taken and freed in the stream's order, which neither
    /// waits for the device nor for the operating system.
    pub(super) has_memory_pools: bool,
    pub(super) memory: Memory,
    /// Memory that [`stream`](Self::stream) may use behind all that it has to do.
    kept: Mutex<Kept<DeviceBuffer<Limb>>>,
    /// Why the device can no longer be used.
    pub(super) lost: OnceLock<String>,
    last_launched: Mutex<Option<&'static str>>,
    /// What is not noted yet of the start.
    start: Mutex<Option<Start>>,
    /// The number of threads in [`Kernels::load`](crate::common::device::Kernels::load).
    pub(super) loading: AtomicUsize,
}

/// The direction of a large copy: each has pinned memory of its own, so that neither waits for the
/// other.
#[derive(Clone, Copy)]
pub(super) enum Way {
    In,
    Out,
}

/// The words of a table of roots of unity.
pub(super) fn words(of: Roots) -> Vec<u64> {
    let table = match of {
        Roots::Blocks => {
            let mut table = vec![[0.0; 2]; ROOTS];
            fill_roots(&mut table);
            table
        }
        Roots::Grid(plan) => {
            let (columns, rows) = (plan.rows() as usize, plan.row_roots() as usize);
            let mut table = vec![[0.0; 2]; TREE + columns + rows];
            fill_tree(&mut table[..TREE]);
            plan.fill_columns(&mut table[TREE..][..columns]);
            plan.fill_rows(&mut table[TREE + columns..]);
            table
        }
        Roots::Ntt => {
            let mut words = vec![0; FACTORS];
            fill_tables(&mut words);
            return words;
        }
        Roots::Rings => {
            let mut table = vec![[0.0; 2]; RING_ROOTS];
            RingPlan::fill(&mut table);
            table
        }
        Roots::Rns(plan) => {
            let mut words = vec![0; plan.words()];
            plan.fill(&mut words);
            let pairs = words.as_chunks::<2>().0.iter();
            return pairs
                .map(|&[low, high]| u64::from(high) << 32 | u64::from(low))
                .collect();
        }
    };
    table.iter().flatten().map(|x| x.to_bits()).collect()
}

/// The open device of this number, if it can be used.
fn usable(
    open: &mut Vec<Weak<CudaDevice>>,
    ordinal: usize,
    memory: Memory,
) -> Option<Arc<CudaDevice>> {
    open.retain(|device| device.strong_count() > 0);
    let is_it = |device: &CudaDevice| device.ordinal == ordinal && device.memory == memory;
    let is_usable = |device: &Arc<CudaDevice>| is_it(device) && device.lost.get().is_none();
    open.iter().filter_map(Weak::upgrade).find(is_usable)
}

impl CudaDevice {
    /// Opens device `ordinal`, or shares it where it is open already.
    pub fn open(ordinal: usize, memory: Memory) -> Result<Arc<Self>, DeviceError> {
        let failed = |kind| DeviceError {
            ordinal,
            during: "opening the device".to_owned(),
            kind,
        };
        let found = count().map_err(failed)?;
        if ordinal >= found {
            return Err(failed(DeviceErrorKind::NoDevice { found }));
        }
        if let Some(device) = CudaDevice::opened(ordinal, memory) {
            return Ok(device);
        }
        let described =
            describe(ordinal).map_err(|error| failed(failure::kind_at_opening(error)))?;
        let capability @ (major, minor) = described.compute_capability;
        if capability < OLDEST_CAPABILITY {
            let (least, least_minor) = OLDEST_CAPABILITY;
            return Err(failed(DeviceErrorKind::Unsupported(format!(
                "{} has compute capability {major}.{minor}, and they need \
                 {least}.{least_minor}: choose a newer device",
                described.name
            ))));
        }
        let begun = Instant::now();
        let device = CudaDevice::in_new_stream(ordinal, capability, memory)
            .map_err(|error| failed(failure::kind_at_opening(error)))?;
        if ordinal == 0 && memory == Memory::Plain {
            device.has_started(found, begun.elapsed());
        }
        // Several devices are opened at one time; who was first with this one has it.
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = usable(&mut open, ordinal, memory) {
            return Ok(other);
        }
        open.push(Arc::downgrade(&device));
        Ok(device)
    }

    /// The open device of this number.
    fn opened(ordinal: usize, memory: Memory) -> Option<Arc<Self>> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        usable(&mut open, ordinal, memory)
    }

    fn in_new_stream(
        ordinal: usize,
        capability: (u32, u32),
        memory: Memory,
    ) -> CudaResult<Arc<Self>> {
        let device = raw_device(ordinal)?;
        let context = Context::new(device)?;
        CurrentContext::set_current(&context)?;
        let has_memory_pools = has_memory_pools(device);
        let bytes = device.total_memory()?;
        if has_memory_pools {
            keep_memory(device, bytes as u64 / KEPT_PART);
        }
        let (most, part) = KEPT_LIMBS;
        // Before there are streams: of a device that is lost they could not be freed.
        let is_early = early::is_possible(device)?;
        let stream = Stream::new(StreamFlags::DEFAULT, None)?;
        let incoming = Stream::new(StreamFlags::DEFAULT, None)?;
        let outgoing = Stream::new(StreamFlags::DEFAULT, None)?;
        Ok(Arc::new_cyclic(|this| CudaDevice {
            this: Weak::clone(this),
            ordinal,
            modules: Modules::default(),
            staging: Default::default(),
            stream,
            incoming,
            outgoing,
            roots: Mutex::default(),
            context,
            shared_bytes: shared_bytes(device),
            has_tensor_cores: capability >= TENSOR_CAPABILITY,
            facts: facts(device, capability),
            is_early,
            has_memory_pools,
            memory,
            kept: Mutex::new(Kept::new(most.min(bytes / size_of::<Limb>() / part))),
            lost: OnceLock::new(),
            last_launched: Mutex::new(None),
            start: Mutex::default(),
            loading: AtomicUsize::new(0),
        }))
    }

    /// The device itself, for objects that keep it open.
    pub(super) fn this(&self) -> Arc<Self> {
        self.this.upgrade().expect("whoever calls has it open")
    }

    /// Keeps for [`Notes`] what it took to start the driver and this device, unless the process had
    /// it open before.
    fn has_started(&self, devices: usize, took: Duration) {
        static FIRST: Once = Once::new();
        FIRST.call_once(|| {
            let took = took + STARTED.get().copied().unwrap_or_default();
            *lock(&self.start) = Some(Start {
                ms: took.as_millis().try_into().unwrap_or(u64::MAX),
                devices,
                kind: self.kind(),
            });
        });
    }

    /// The module of a kernel. What loading it took is noted, and what the start took: the driver's
    /// folder may be there only now.
    pub(super) fn module(
        &self,
        entry: EntryPoint,
        specialization: Specialization,
    ) -> Result<Arc<Loaded>, DeviceErrorKind> {
        self.modules.of(entry, specialization, |took| {
            if let Some(notes) = Notes::read() {
                notes.note_load((entry.name, specialization), self.facts, took);
                if let Some(start) = lock(&self.start).take() {
                    notes.note_start(&start);
                }
            }
        })
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, Kept<DeviceBuffer<Limb>>> {
        lock(&self.kept)
    }

    pub(super) fn tables(&self) -> MutexGuard<'_, HashMap<Roots, DeviceBuffer<u64>>> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a table of roots holds all of so many limbs at an address.
    pub(super) fn has_roots(&self, (address, limbs): (u64, u64)) -> bool {
        self.tables().values().any(|table| {
            let first = table.as_device_ptr().as_raw();
            let end = first + size_of::<u64>() as u64 * table.len() as u64;
            first <= address && address + size_of::<Limb>() as u64 * limbs <= end
        })
    }

    /// Copies through pinned memory, if there is any and so many limbs are worth it. Secrets always
    /// go through it, and are overwritten there.
    pub(super) fn staged(
        &self,
        way: Way,
        limbs: usize,
        copy: impl FnOnce(&mut Staging) -> CudaResult<()>,
    ) -> Option<CudaResult<()>> {
        let is_wiped = self.memory == Memory::Wiped;
        if limbs < STAGED && !is_wiped {
            return None;
        }
        let staging = &self.staging[way as usize];
        let mut staging = staging.lock().unwrap_or_else(PoisonError::into_inner);
        let staging = staging.get_or_insert_with(|| Staging::new().ok());
        match staging {
            Some(staging) if is_wiped => {
                let copied = copy(staging);
                let wiped = staging.wipe(limbs);
                Some(copied.and(wiped))
            }
            None if is_wiped => Some(Err(CudaError::OutOfMemory)),
            staging => staging.as_mut().map(copy),
        }
    }

    pub(super) fn last_launched(&self) -> MutexGuard<'_, Option<&'static str>> {
        self.last_launched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the context the calling thread's, unless the device is lost.
    pub(super) fn enter(&self) -> Result<(), DeviceErrorKind> {
        if let Some(why) = self.lost.get() {
            return Err(DeviceErrorKind::Lost(why.clone()));
        }
        CurrentContext::set_current(&self.context).map_err(|error| failure::kind(error, 0))
    }

    /// Does `work` in the context; an error of memory says that `bytes` bytes were needed.
    pub(super) fn run<T>(
        &self,
        during: &str,
        bytes: usize,
        work: impl FnOnce() -> CudaResult<T>,
    ) -> Result<T, DeviceError> {
        self.enter()
            .and_then(|()| work().map_err(|error| failure::kind(error, bytes)))
            .map_err(|kind| self.failed(during, kind))
    }

    /// Makes the error to return, and notes it if the device does not survive it.
    pub(super) fn failed(&self, during: &str, kind: DeviceErrorKind) -> DeviceError {
        let kind = match kind {
            DeviceErrorKind::Lost(why) => {
                let noted = self.lost.get_or_init(|| match *self.last_launched() {
                    Some(kernel) => format!("{why}; the last kernel launched was {kernel}"),
                    None => why,
                });
                DeviceErrorKind::Lost(noted.clone())
            }
            kind => kind,
        };
        DeviceError {
            ordinal: self.ordinal,
            during: during.to_owned(),
            kind,
        }
    }
}

impl Device for CudaDevice {
    fn ordinal(&self) -> usize {
        self.ordinal
    }

    fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    fn has_tensor_cores(&self) -> bool {
        self.has_tensor_cores
    }

    fn facts(&self) -> Option<Facts> {
        self.facts
    }

    fn is_early(&self) -> bool {
        self.is_early
    }

    fn wait(&self) -> Result<(), DeviceError> {
        self.run("waiting for the device", 0, || self.stream.synchronize())
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        let kept = self.kept.get_mut();
        let kept = kept.unwrap_or_else(PoisonError::into_inner).clear();
        kept.into_iter().for_each(|memory| self.free_now(memory));
        // Modules and stream are given back in the current context, after the kernels
        // that may still run. Where that fails the context is gone, and they with it.
        let _ = self.run("closing the device", 0, || {
            self.incoming.synchronize()?;
            self.stream.synchronize()?;
            self.outgoing.synchronize()
        });
    }
}

/// Whether the driver takes and frees memory in a stream's order (since CUDA 11.2).
fn has_memory_pools(device: cust::device::Device) -> bool {
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    attribute_of(device, attribute).is_some_and(|value| value != 0)
}

/// Dynamic shared memory that a block may have if the host asks for it, in bytes.
fn shared_bytes(device: cust::device::Device) -> u32 {
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let bytes = attribute_of(device, attribute).and_then(|value| u32::try_from(value).ok());
    bytes.unwrap_or(0).max(FREE_SHARED_BYTES)
}

/// What the driver tells about a device's speed, if it knows all of it.
fn facts(device: cust::device::Device, capability: (u32, u32)) -> Option<Facts> {
    use sys::CUdevice_attribute as Attribute;
    let of = |attribute| {
        let value = u32::try_from(attribute_of(device, attribute)?).ok();
        value.filter(|value| *value > 0)
    };
    Some(Facts {
        capability,
        multiprocessors: of(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        clock_khz: of(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        memory_clock_khz: of(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
        memory_bus_bits: of(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
        cache_bytes: of(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        floats_for_a_double: of(
            Attribute::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
        )?,
    })
}

/// An attribute of a device that `cust` has no name for, if the driver knows it.
fn attribute_of(device: cust::device::Device, attribute: sys::CUdevice_attribute) -> Option<i32> {
    let mut value = 0;
    // SAFETY: the address is valid for one integer. The device is one the driver
    // handed out. The answer is one of the codes that `cust_raw` has known since
    // the function exists.
    let code = unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device.as_raw()) };
    (code == sys::CUresult::CUDA_SUCCESS).then_some(value)
}

/// Lets the device's pool keep up to `bytes` bytes of freed memory. By default it returns all of it
/// whenever the stream is waited for, and the next result waits until a few hundred megabytes are
/// mapped again: more than a millisecond.
fn keep_memory(device: cust::device::Device, bytes: u64) {
    let (mut pool, mut bytes) = (std::ptr::null_mut(), bytes);
    // SAFETY: the address is valid for one handle, and the device is one the driver
    // handed out; both functions answer codes that `cust_raw` knows.
    let code = unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, device.as_raw()) };
    if code == sys::CUresult::CUDA_SUCCESS {
        // A driver that refuses maps memory again, as it did.
        // SAFETY: the pool is the device's own; the value is 64 bits, as this attribute's
        // is, and is read before the call returns.
        let _ = unsafe {
            sys::cuMemPoolSetAttribute(
                pool,
                sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut bytes).cast(),
            )
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::device::Buffer;

    #[test]
    fn devices_engines_and_what_they_hold_go_between_threads() {
        fn goes_between_threads<T: Send + Sync>() {}
        goes_between_threads::<CudaDevice>();
        goes_between_threads::<Buffer>();
        goes_between_threads::<crate::Engine>();
        goes_between_threads::<crate::Batch>();
    }
}
