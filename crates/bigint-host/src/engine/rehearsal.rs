//! Work on a device that computes nothing, so that the kernels that the real one will need are compiled side by side.
//!
//! A driver compiles a kernel in a fifth of a second or so when it has not kept it, and work of many kernels meets them one after
//! another. Which they are depends on shapes, hardly on numbers: so a thread does the same work on a device whose launches do
//! nothing but tell which kernels they would take. They are compiled in the order in which the work meets them, on as many threads as there are
//! cores, while the work itself waits for one after the other. No result depends on it: what the rehearsal does not meet is loaded
//! as it would be without.

use crate::Error;
use crate::common::device::{Buffer, Device, DeviceMemory, Kernels, OwnModule, Roots};
use crate::common::error::{DeviceError, DeviceErrorKind};
use crate::common::facts::Facts;
use crate::common::reach::Parameter;
use crate::common::threads::lock;
use crate::engine::handle::Engine;
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;
use bigint_core::{Arguments, Launch, Limb, Shape};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

/// A kernel, with what is known of its launches.
pub(crate) type Known = (EntryPoint, Specialization);

/// What a device is told to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Done {
    Launch(Known),
    Allocation,
    Upload,
    /// The host waits for it.
    Download,
}

/// What was rehearsed in this process, by the device's number and a key of the work.
static REHEARSED: Mutex<Option<HashSet<(usize, u64)>>> = Mutex::new(None);

/// Held while work is rehearsed: its parts need no rehearsals of their own.
static IN_PROGRESS: Mutex<()> = Mutex::new(());

/// The addresses of buffers are multiples of it.
const ALIGNMENT: u64 = 256;

/// A device that has memory without end, and does nothing.
struct Rehearsal {
    this: Weak<Rehearsal>,
    /// The device for which it stands.
    of: Arc<dyn Device>,
    /// The next free address.
    free: AtomicU64,
    /// Hears of all that is done.
    hear: Box<dyn Fn(Done) + Send + Sync>,
    /// Whether nobody needs it any more.
    is_over: Arc<AtomicBool>,
}

/// A key of work on batches of about these shapes, which take much the same kernels.
pub(crate) fn key(work: &str, shapes: &[Shape]) -> u64 {
    // Four bits and how many follow: steps of an eighth at most.
    let about = |width: usize| {
        let below = (width | 1).ilog2().saturating_sub(3);
        (width >> below, below)
    };
    let mut key = DefaultHasher::new();
    work.hash(&mut key);
    for shape in shapes {
        (about(shape.width), about(shape.count)).hash(&mut key);
    }
    key.finish()
}

/// Performs work on an engine whose first device is open, and has its kernels compiled side by side meanwhile, if work of this key is new to
/// the device: `rehearse` does the same work on the engine that it is given.
pub(crate) fn rehearsed<R>(
    engine: &Engine,
    key: u64,
    rehearse: impl FnOnce(&Engine) -> Result<(), Error> + Send,
    perform: impl FnOnce() -> R,
) -> R {
    let device = engine.inner.device();
    let Some(device) = device.filter(|device| !device.is_rehearsal() && !engine.is_for_secrets())
    else {
        return perform();
    };
    let Ok(_guard) = IN_PROGRESS.try_lock() else {
        return perform();
    };
    let is_new = lock(&REHEARSED)
        .get_or_insert_default()
        .insert((device.ordinal(), key));
    if !is_new {
        return perform();
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (told, kernels) = mpsc::channel();
        let kernels = Arc::new(Mutex::new(kernels));
        for _ in 0..threads {
            let (kernels, is_over) = (Arc::clone(&kernels), Arc::clone(&is_over));
            // Where there is no thread the work itself loads what it needs.
            let _ = thread::Builder::new().spawn_scoped(scope, move || {
                compile(device, &kernels, &is_over);
            });
        }
        let rehearsal = || {
            let rehearsing = rehearsing(engine, device, tell_each_once(told), &is_over);
            // Nothing of it is noted as a choice.
            let choices = &rehearsing.inner.choices;
            // Where it ends early, the work itself loads the rest.
            let _ = choices.as_steps(|| rehearse(&rehearsing));
        };
        let begun = thread::Builder::new().spawn_scoped(scope, rehearsal);
        let performed = perform();
        is_over.store(true, Ordering::Relaxed);
        // What goes wrong there has no consequences.
        let _ = begun.map(thread::ScopedJoinHandle::join);
        performed
    })
}

/// Has kernels compiled, as they are told of.
fn compile(device: &Arc<dyn Device>, kernels: &Mutex<Receiver<Known>>, is_over: &AtomicBool) {
    loop {
        let next = lock(kernels).recv();
        match next {
            Ok((entry, known)) if !is_over.load(Ordering::Relaxed) => device.load(entry, known),
            _ => return,
        }
    }
}

/// Who tells of each kernel that is launched, the first time.
fn tell_each_once(told: Sender<Known>) -> Box<dyn Fn(Done) + Send + Sync> {
    let told = Mutex::new((HashSet::new(), told));
    Box::new(move |done| {
        let Done::Launch((entry, known)) = done else {
            return;
        };
        let (met, told) = &mut *lock(&told);
        if met.insert((entry.name, known)) {
            // Nobody needs to hear it.
            let _ = told.send((entry, known));
        }
    })
}

/// An engine that does nothing on a device.
fn rehearsing(
    engine: &Engine,
    device: &Arc<dyn Device>,
    hear: Box<dyn Fn(Done) + Send + Sync>,
    is_over: &Arc<AtomicBool>,
) -> Engine {
    let device: Arc<dyn Device> = Arc::new_cyclic(|this| Rehearsal {
        this: Weak::clone(this),
        of: Arc::clone(device),
        free: AtomicU64::new(ALIGNMENT),
        hear,
        is_over: Arc::clone(is_over),
    });
    Engine {
        inner: Arc::new(engine.inner.on_device(Some(&device))),
        options: engine.options,
    }
}

/// The file to which the simulator writes what is launched, in the process in which the test `name` runs [on the
/// simulator](bigint_testing::simulator::on_simulator); none in that which has started it.
#[cfg(test)]
pub(crate) fn counts(name: &str) -> Option<String> {
    let file = format!("{}-{}", name.replace("::", "-"), std::process::id());
    let file = std::env::temp_dir().join(file).display().to_string();
    // The path is that of the process that starts the other.
    let file = std::env::var("CUDA_SIM_COUNTS").unwrap_or(file);
    if bigint_testing::simulator::on_simulator(name, &[("CUDA_SIM_COUNTS", &file)]) {
        return Some(file);
    }
    let _ = std::fs::remove_file(file);
    None
}

/// Checks on the simulated device that a rehearsal meets the kernels that the work launches, which stand in the file
/// [`counts`], and at most so many others.
///
/// # Panics
/// If it is not.
#[cfg(test)]
pub(crate) fn meets<R>(
    engine: &Engine,
    (counts, most_others): (&str, usize),
    rehearse: impl FnOnce(&Engine),
    perform: impl FnOnce() -> R,
) -> R {
    let device = engine.inner.device().expect("the simulated device");
    let (told, kernels) = mpsc::channel();
    let hear = tell_each_once(told);
    rehearse(&rehearsing(engine, device, hear, &Arc::default()));
    let met: Vec<Known> = kernels.iter().collect();
    assert!(met.len() > 10, "{met:?}");
    let mut loaded = met.iter();
    assert!(!loaded.any(|&(entry, known)| device.has_module(entry, known)));
    let performed = perform();
    let is_other = |&&(entry, known): &&Known| !device.has_module(entry, known);
    let others: Vec<&Known> = met.iter().filter(is_other).collect();
    assert!(others.len() <= most_others, "not needed: {others:?}");
    engine.wait().expect("the simulated device");
    for line in std::fs::read_to_string(counts).expect("counts").lines() {
        let mut names = met.iter().map(|(entry, _)| format!("\"{}\"", entry.name));
        assert!(
            names.any(|name| line.contains(&name)),
            "not met: {line:.200}"
        );
    }
    performed
}

/// All that work on an engine's first device has it do.
#[cfg(test)]
pub(crate) fn done(engine: &Engine, rehearse: impl FnOnce(&Engine)) -> Vec<Done> {
    let device = engine.inner.device().expect("an open device");
    let done = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&done);
    let hear = Box::new(move |what| lock(&heard).push(what));
    rehearse(&rehearsing(engine, device, hear, &Arc::default()));
    std::mem::take(&mut *lock(&done))
}

impl Rehearsal {
    /// Memory all of whose limbs are brought as this one.
    fn buffer(&self, limbs: usize, brought: Limb) -> Result<Buffer, DeviceError> {
        let bytes = (size_of::<Limb>() * limbs) as u64;
        let address = self
            .free
            .fetch_add(bytes.next_multiple_of(ALIGNMENT), Ordering::Relaxed);
        let this = self.this.upgrade().expect("whoever calls has it");
        Ok(Buffer::new(address, limbs, brought, this))
    }

    fn refused(&self, during: &str) -> DeviceError {
        DeviceError {
            ordinal: self.of.ordinal(),
            during: during.to_owned(),
            kind: DeviceErrorKind::Unsupported("a rehearsal".to_owned()),
        }
    }
}

impl Device for Rehearsal {
    fn ordinal(&self) -> usize {
        self.of.ordinal()
    }

    fn shared_bytes(&self) -> u32 {
        self.of.shared_bytes()
    }

    fn has_tensor_cores(&self) -> bool {
        self.of.has_tensor_cores()
    }

    fn facts(&self) -> Option<Facts> {
        self.of.facts()
    }

    fn is_early(&self) -> bool {
        self.of.is_early()
    }

    fn is_rehearsal(&self) -> bool {
        true
    }

    fn wait(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl DeviceMemory for Rehearsal {
    /// All limbs of results are ones: of lengths, divisors and remainders they lead furthest.
    fn allocate(&self, limbs: usize) -> Result<Buffer, DeviceError> {
        (self.hear)(Done::Allocation);
        self.buffer(limbs, 1)
    }

    /// Nothing is found.
    fn allocate_ones(&self, limbs: usize) -> Result<Buffer, DeviceError> {
        self.buffer(limbs, Limb::MAX)
    }

    fn upload(&self, limbs: &[Limb]) -> Result<Buffer, DeviceError> {
        (self.hear)(Done::Upload);
        self.allocate(limbs.len())
    }

    fn download(&self, buffer: &Buffer, limbs: &mut [Limb]) -> Result<(), DeviceError> {
        (self.hear)(Done::Download);
        let (buffer, _) = buffer.viewed().unwrap_or((buffer, 0));
        limbs.fill(buffer.handle().downcast_ref().copied().unwrap_or(1));
        Ok(())
    }

    fn seal(&self, _buffer: &mut Buffer) -> Result<(), DeviceError> {
        Ok(())
    }

    fn clear_padding(&self, _buffer: &Buffer, _shape: Shape) -> Result<(), DeviceError> {
        Ok(())
    }

    fn exercise_link(&self, _to_device: bool, _times: u32) -> Result<(), DeviceError> {
        Ok(())
    }

    fn copy(&self, _to: &mut Buffer, _from: &Buffer) -> Result<(), DeviceError> {
        Ok(())
    }

    fn copy_part(
        &self,
        _to: (&mut Buffer, usize),
        _from: (&Buffer, Range<usize>),
    ) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl Kernels for Rehearsal {
    fn has_module(&self, _entry: EntryPoint, _specialization: Specialization) -> bool {
        true
    }

    fn begins_module(&self, _entry: EntryPoint, _specialization: Specialization) -> bool {
        false
    }

    fn load(&self, _entry: EntryPoint, _specialization: Specialization) {}

    fn is_loading(&self) -> bool {
        false
    }

    fn roots(&self, _of: Roots) -> Result<u64, DeviceError> {
        Ok(ALIGNMENT)
    }

    fn launch(
        &self,
        entry: EntryPoint,
        specialization: Specialization,
        _launch: Launch,
        _arguments: &dyn Parameter,
        _buffers: &[&Buffer],
    ) -> Result<(), DeviceError> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(self.refused("rehearsing a launch"));
        }
        (self.hear)(Done::Launch((entry, specialization)));
        Ok(())
    }

    fn load_own(&self, _ptx: &str) -> Result<OwnModule, DeviceError> {
        Err(self.refused("rehearsing a module"))
    }

    fn launch_own(
        &self,
        _module: &OwnModule,
        _kernel: &str,
        _launch: Launch,
        _arguments: &Arguments,
        _scalars: &[Limb],
        _buffers: &[&Buffer],
    ) -> Result<(), DeviceError> {
        Err(self.refused("rehearsing a launch"))
    }

    fn threads_at_once(
        &self,
        _module: &OwnModule,
        _kernel: &str,
        _shared_bytes: u32,
    ) -> Result<Option<usize>, DeviceError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::task::Task;
    use crate::values::batch::stand_ins;
    use bigint_core::Layout;
    use bigint_testing::simulator::on_simulator;

    #[test]
    fn a_rehearsal_ends_where_the_cpu_would_compute_for_long() {
        let name =
            "engine::rehearsal::tests::a_rehearsal_ends_where_the_cpu_would_compute_for_long";
        if !on_simulator(name, &[]) {
            return;
        }
        let engine = Engine::cuda(0).expect("the simulated device");
        let device = engine.inner.device().expect("the simulated device");
        let rehearsing = rehearsing(&engine, device, Box::new(drop), &Arc::default());
        for (limbs, is_long) in [(100, false), (10_000_000, true)] {
            let shapes = [Shape::new(1, limbs, Layout::Contiguous); 2];
            let operands = stand_ins(&rehearsing, &shapes).expect("memory");
            let nodes = [0, 1].map(|i| Arc::clone(operands[i].node()));
            let job = rehearsing.job_of_product(2 * limbs, &operands[0], &operands[1]);
            let task = Task::Job(job.expect("a product"));
            let on_host = |engine: &Engine| task.on_host(&engine.inner, &nodes, 0..1);
            assert_eq!(on_host(&rehearsing).is_err(), is_long, "{limbs} limbs");
        }
    }
}
