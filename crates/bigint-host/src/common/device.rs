//! A device, as the engine sees it: the trait that a back end implements.
//!
//! [`Driver`] finds and opens devices, [`Device`] allocates [`Buffer`]s, copies, and launches
//! kernels. `cuda` is the only implementation; a build without it has no driver, and so its
//! engines have no devices. Nothing above this room names a back end.

use crate::common::back_end::Found;
use crate::common::error::DeviceError;
use crate::common::facts::Facts;
use crate::common::reach::Parameter;
use bigint_core::kernel::EntryPoint;
use bigint_core::rns::RnsPlan;
use bigint_core::specialization::Specialization;
use bigint_core::transform::grid::GridPlan;
use bigint_core::{Arguments, Launch, Limb, Shape};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Finds and opens the devices of one kind.
pub(crate) trait Driver: Sync {
    /// The devices that the driver lists, each with its description or the error with which it
    /// answers.
    fn devices(&self) -> Result<Vec<Found>, DeviceError>;

    /// Opens device `ordinal`, or shares it where it is open already.
    fn open(&self, ordinal: usize, memory: Memory) -> Result<Arc<dyn Device>, DeviceError>;

    /// Ends the process without a call to the driver, even in the middle of one.
    fn exit(&self, code: u8) -> !;
}

/// An open device.
///
/// Every call may come from any thread. All work but copies from and to the host
/// goes through one queue, so a kernel sees what earlier calls wrote, and memory is freed
/// behind the kernels that use it. A kernel's failure shows in a later call.
pub(crate) trait Device: DeviceMemory + Kernels {
    /// The device's number, as the driver counts.
    fn ordinal(&self) -> usize;

    /// Dynamic shared memory that a block may have, in bytes.
    fn shared_bytes(&self) -> u32;

    /// Whether it has tensor cores that multiply bytes, and takes the kernels that need them
    /// ([`TENSOR_CAPABILITY`](bigint_core::kernel::TENSOR_CAPABILITY)).
    fn has_tensor_cores(&self) -> bool;

    /// What the driver tells about its speed; none where it does not.
    fn facts(&self) -> Option<Facts>;

    /// What choices depend on.
    fn abilities(&self) -> Abilities {
        Abilities {
            shared_bytes: self.shared_bytes(),
            has_tensor_cores: self.has_tensor_cores(),
            has_warpgroups: self.facts().is_some_and(|facts| facts.has_warpgroups()),
            multiprocessors: self.facts().map(|facts| facts.multiprocessors),
        }
    }

    /// What kernels are chosen by.
    fn kind(&self) -> Kind {
        Kind {
            abilities: self.abilities(),
            facts: self.facts(),
        }
    }

    /// Whether a kernel can begin before the last one has ended.
    fn is_early(&self) -> bool;

    /// Whether it computes nothing, so that what is brought from it are not the numbers.
    fn is_rehearsal(&self) -> bool {
        false
    }

    /// Waits until all earlier work is done.
    fn wait(&self) -> Result<(), DeviceError>;
}

/// What a device can do, as far as choices depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// [`Device::shared_bytes`].
    pub shared_bytes: u32,
    /// [`Device::has_tensor_cores`].
    pub has_tensor_cores: bool,
    /// [`Facts::has_warpgroups`], where the driver tells.
    pub has_warpgroups: bool,
    /// How many it has, where the driver tells.
    pub multiprocessors: Option<u32>,
}

/// What kernels are chosen by on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub abilities: Abilities,
    pub facts: Option<Facts>,
}

impl Kind {
    /// A device of which nothing is known: like one that was measured.
    pub const UNKNOWN: Kind = Kind {
        abilities: Abilities {
            shared_bytes: 227 << 10,
            has_tensor_cores: true,
            has_warpgroups: true,
            multiprocessors: Some(132),
        },
        facts: None,
    };
}

/// The memory of a device.
pub(crate) trait DeviceMemory: Send + Sync {
    /// Memory for `limbs` limbs, of any content.
    fn allocate(&self, limbs: usize) -> Result<Buffer, DeviceError>;

    /// Memory for `limbs` limbs, all of whose bits will be ones.
    fn allocate_ones(&self, limbs: usize) -> Result<Buffer, DeviceError>;

    /// Copies limbs to new device memory, in a queue of its own: it waits for no kernel.
    fn upload(&self, limbs: &[Limb]) -> Result<Buffer, DeviceError>;

    /// Waits for all work, and copies a buffer's limbs to the host, into as many; many of them
    /// in a queue of their own, so that what other threads upload meanwhile does not wait.
    ///
    /// # Panics
    /// If the lengths differ; that is a defect of the caller.
    fn download(&self, buffer: &Buffer, limbs: &mut [Limb]) -> Result<(), DeviceError>;

    /// Notes that nothing that is queued from now on writes the buffer: a [`download`](Self::download) of it waits for what is
    /// queued now, and not for more.
    fn seal(&self, buffer: &mut Buffer) -> Result<(), DeviceError>;

    /// Zeroes what no kernel writes of an interleaved batch: the ends of its rows.
    fn clear_padding(&self, buffer: &Buffer, shape: Shape) -> Result<(), DeviceError>;

    /// Moves [`STAGED`] limbs of pinned memory `times` times, to measure the link.
    fn exercise_link(&self, to_device: bool, times: u32) -> Result<(), DeviceError>;

    /// Queues a copy of one buffer to another of equal length behind all earlier work.
    ///
    /// # Panics
    /// If the lengths differ; that is a defect of the caller.
    fn copy(&self, to: &mut Buffer, from: &Buffer) -> Result<(), DeviceError>;

    /// Queues a copy of some limbs of one buffer to another, from an index in it on, behind all
    /// earlier work.
    ///
    /// # Panics
    /// If a buffer does not reach that far; that is a defect of the caller.
    fn copy_part(
        &self,
        to: (&mut Buffer, usize),
        from: (&Buffer, Range<usize>),
    ) -> Result<(), DeviceError>;
}

/// The kernels of a device.
pub(crate) trait Kernels: Send + Sync {
    /// Whether a launch of this kernel need not wait for the driver to compile it.
    fn has_module(&self, entry: EntryPoint, specialization: Specialization) -> bool;

    /// Whether the caller is the first that will [`Kernels::load`] the kernel.
    fn begins_module(&self, entry: EntryPoint, specialization: Specialization) -> bool;

    /// Has the driver compile a kernel before its first launch, which meets the same error if that
    /// fails.
    fn load(&self, entry: EntryPoint, specialization: Specialization);

    /// Whether the driver is compiling a kernel: any other call waits for it.
    fn is_loading(&self) -> bool;

    /// The device address of a table of roots of unity. A table is made when it is first needed,
    /// and lives as long as the device.
    fn roots(&self, of: Roots) -> Result<u64, DeviceError>;

    /// Queues a kernel behind all earlier work. The kernel is specialised to what is known of the
    /// arguments.
    ///
    /// `buffers` are the device memory that the arguments are about. The kernel reads
    /// and writes the matrices and the carries in the arguments, reads the device's own
    /// tables of roots, and touches nothing else.
    ///
    /// # Panics
    /// If the arguments reach out of the buffers; that is a defect of the caller.
    fn launch(
        &self,
        entry: EntryPoint,
        specialization: Specialization,
        launch: Launch,
        arguments: &dyn Parameter,
        buffers: &[&Buffer],
    ) -> Result<(), DeviceError>;

    /// Has the driver compile a module of kernels that a user wrote.
    fn load_own(&self, ptx: &str) -> Result<OwnModule, DeviceError>;

    /// Queues a kernel of such a module behind all earlier work; `scalars` are its second parameter, if
    /// there are any.
    ///
    /// # Panics
    /// As for [`Kernels::launch`].
    fn launch_own(
        &self,
        module: &OwnModule,
        kernel: &str,
        launch: Launch,
        arguments: &Arguments,
        scalars: &[Limb],
        buffers: &[&Buffer],
    ) -> Result<(), DeviceError>;

    /// How many threads of such a module's kernel the device has at once, in blocks of [`bigint_core::kernel::BLOCK`] with
    /// so many bytes of dynamic shared memory; `None` where the driver does not tell.
    fn threads_at_once(
        &self,
        module: &OwnModule,
        kernel: &str,
        shared_bytes: u32,
    ) -> Result<Option<usize>, DeviceError>;
}

/// A module of kernels that a user wrote, loaded: the back end's own handle.
pub(crate) type OwnModule = Arc<dyn Any + Send + Sync>;

/// What happens to memory that is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Memory is freed as it is.
    Plain,
    /// Memory, pinned memory too, is overwritten before it is freed; and no copy goes through the
    /// driver's own memory.
    Wiped,
}

/// The tables of roots of unity.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Roots {
    /// The table of transforms in a block, whatever their number of threads.
    Blocks,
    /// The tables of a transform on the whole device, by its plan: the tree, then the columns' and the
    /// rows' roots.
    Grid(GridPlan),
    /// The table of transforms modulo primes on the whole device, for any plan.
    Ntt,
    /// What residue number systems for moduli of a width know of their primes.
    Rns(RnsPlan),
    /// The table of Montgomery products in two rings, for any plan.
    Rings,
}

/// Copies of so many limbs or more go through pinned memory.
pub(crate) const STAGED: usize = 2 << 20;

/// Limbs in the memory of a device, freed when dropped, after whatever was launched before.
pub(crate) struct Buffer {
    address: u64,
    limbs: usize,
    /// The back end's own handle, which frees the memory.
    handle: Box<dyn Any + Send + Sync>,
    device: Arc<dyn Device>,
}

/// The handle of some limbs of another buffer.
struct View {
    of: Arc<Buffer>,
    start: usize,
}

impl Buffer {
    /// A buffer of so many limbs at a device address; `handle` frees it when dropped.
    pub fn new(
        address: u64,
        limbs: usize,
        handle: impl Any + Send + Sync,
        device: Arc<dyn Device>,
    ) -> Self {
        Buffer {
            address,
            limbs,
            handle: Box::new(handle),
            device,
        }
    }

    /// Limbs of a buffer, where they are: nothing writes them any more. The buffer lives as long.
    pub fn view(of: &Arc<Buffer>, limbs: Range<usize>) -> Self {
        let (of, start) = (Arc::clone(of), limbs.start);
        let address = of.address + (size_of::<Limb>() * start) as u64;
        let device = Arc::clone(&of.device);
        Buffer {
            address,
            limbs: limbs.len(),
            handle: Box::new(View { of, start }),
            device,
        }
    }

    /// The buffer of which this is a view, and where it begins there.
    pub fn viewed(&self) -> Option<(&Buffer, usize)> {
        let view = self.handle.downcast_ref::<View>();
        view.map(|view| (&*view.of, view.start))
    }

    /// The back end's own handle.
    pub fn handle(&self) -> &dyn Any {
        &*self.handle
    }

    /// The back end's own handle, for writes to the memory.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "a back end's"))]
    pub fn handle_mut(&mut self) -> &mut dyn Any {
        &mut *self.handle
    }

    /// The number of the device whose memory it is.
    pub fn ordinal(&self) -> usize {
        self.device.ordinal()
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The device address of the first limb, 256-byte aligned; zero where there
    /// are no limbs.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The number of limbs in the buffer.
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// Whether the buffer is this device's memory.
    pub fn is_of(&self, device: &Arc<dyn Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }
}
