//! The engine as users see it: makes batches and computes with them.

use crate::common::back_end::Found;
use crate::common::device::Memory;
use crate::common::facts::Facts;
use crate::engine::driver;
use crate::engine::inner::{Inner, Resort};
use crate::engine::members::Members;
use crate::engine::start;
use crate::engine::start::Devices;
use crate::{
    BackEnd, Ceilings, DeviceDescription, DeviceError, DeviceErrorKind, DeviceSet, Error, Options,
    Tuning,
};
use bigint_core::{Algorithm, Layout, Limb, Operation};
use bigint_cpu::Cpu;
use std::fmt;
use std::sync::Arc;

/// Computes with batches, on one back end.
///
/// Cloning an engine is free; clones share the device. Engines are `Send` and
/// `Sync`.
///
/// Every operation takes two batches of equal length, or one batch and a single
/// number that stands for all (it is broadcast, not copied). Operands may have any two
/// widths and layouts and may be the same batch. The result has the layout of the
/// longer operand.
///
/// ```
/// use bigint_host::{BigUint, Engine};
/// let engine = Engine::auto();
/// let a = engine.batch_from_biguints(&[3u32.into(), 1u32.into()])?;
/// let b = engine.batch_from_biguints(&[BigUint::from(5u32) << 100])?;
/// let product = engine.mul(&a, &b)?;
/// assert_eq!(product.to_biguints()?[0], BigUint::from(15u32) << 100);
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
    pub(crate) options: Options,
}

impl Engine {
    /// The engine for whatever this machine has: every CUDA device that can be used, as
    /// [`Engine::all`], else the CPU; also the CPU for what suits it better.
    ///
    /// It never fails for want of a device: what a device cannot do, the CPU does,
    /// and [`Engine::warnings`] tells of it.
    ///
    /// Devices are not opened before they pay, by what [`Tuning::start`] says that this takes:
    /// little work is never worth the driver's start. They are waited for where earlier processes noted
    /// that they are ready before the CPU would be done; else they are opened in the background, as kernels
    /// are compiled, while the CPU computes; then devices take over. Who wants them at once, asks
    /// for the engine's [`back_end`](Engine::back_end), or takes [`Engine::all`].
    pub fn auto() -> Self {
        Engine::new(Devices::asleep(), Resort::Always)
    }

    /// The engine on all cores of the CPU.
    pub fn cpu() -> Self {
        Engine::new(Devices::open(Members::NOBODY), Resort::Always)
    }

    /// The engine on CUDA device `ordinal`, and on nothing else: its errors are
    /// returned. What the device has not the memory for is computed in pieces.
    ///
    /// # Errors
    /// [`Error::Device`] where there is no driver, no such device, or the device
    /// cannot run the kernels.
    pub fn cuda(ordinal: usize) -> Result<Self, Error> {
        let members = Members::new(vec![(driver::open(ordinal, Memory::Plain)?, 1.0)]);
        Ok(Engine::new(Devices::open(members), Resort::None))
    }

    /// The engine on every CUDA device of the machine.
    ///
    /// Each has its share of the numbers of a batch, as large as the device is fast: devices
    /// of one name are taken for equally fast, others are measured first, in a fraction of a
    /// second each. A share stays on its device from operation to operation. What a device
    /// cannot do, because it fails or has not the memory, the others do, then the CPU, and
    /// [`Engine::warnings`] tells of it. Results are the same bits, whoever computes.
    ///
    /// # Errors
    /// [`Error::Device`] where there is no driver or no device, or none can be used: of those that
    /// cannot, while others can, [`Engine::warnings`] tells.
    pub fn all() -> Result<Self, Error> {
        let found = devices()?;
        if found.is_empty() {
            // Which says so.
            return Engine::cuda(0);
        }
        Engine::of(found)
    }

    /// [`Engine::all`] for these devices alone.
    ///
    /// # Errors
    /// [`Error::Device`] where there is no driver, one of the numbers is no device's, or none of
    /// the devices can be used.
    pub fn cuda_devices(set: DeviceSet) -> Result<Self, Error> {
        let mut found: Vec<_> = devices()?.into_iter().map(Some).collect();
        let chosen = set.ordinals().map(|ordinal| match found.get_mut(ordinal) {
            Some(device) => Ok(device.take().expect("a set has each number once")),
            None => Err(DeviceError {
                ordinal,
                during: "opening the device".to_owned(),
                kind: DeviceErrorKind::NoDevice { found: found.len() },
            }),
        });
        let chosen = chosen.collect::<Result<Vec<_>, _>>()?;
        Engine::of(chosen)
    }

    /// Makes the engine of those of these devices that can be opened; an error where none can.
    fn of(found: Vec<Found>) -> Result<Self, Error> {
        let (members, mut errors) = start::open(found);
        if members.devices().next().is_none() && !errors.is_empty() {
            return Err(errors.swap_remove(0));
        }
        let engine = Engine::new(Devices::open(members), Resort::Failures);
        for error in &errors {
            engine.inner.warn(start::going_on(error));
        }
        Ok(engine)
    }

    fn new(devices: Devices, resort: Resort) -> Self {
        let inner = Inner::new(devices, resort, Tuning::default());
        if let Err(error) = Cpu::from_environment() {
            let variable = Cpu::PATH_VARIABLE;
            inner.warn(format!("{variable}: {error}; going on with the best"));
        }
        Engine {
            inner: Arc::new(inner),
            options: Options::default(),
        }
    }

    /// The thresholds.
    pub fn tuning(&self) -> &Tuning {
        self.inner.tuning()
    }

    /// The engine with other thresholds.
    ///
    /// Batches of the old engine are foreign to it: they go through the host.
    pub fn with_tuning(&self, tuning: Tuning) -> Self {
        Engine {
            inner: Arc::new(self.inner.with_tuning(tuning)),
            options: self.options,
        }
    }

    /// The engine with another limit to the memory that it keeps of dropped batches for results to
    /// come, in bytes; by default 1 GiB.
    ///
    /// Batches of the old engine are foreign to it: they go through the host.
    #[must_use]
    pub fn keeping(&self, bytes: usize) -> Self {
        Engine {
            inner: Arc::new(self.inner.keeping(bytes / size_of::<Limb>())),
            options: self.options,
        }
    }

    /// The engine for secrets: all numbers of the engine and its batches are overwritten before
    /// their memory is used otherwise, on the host, in the pinned memory of copies and on devices,
    /// scratch of kernels included. Results of secrets are secret: another engine refuses them.
    ///
    /// Dropping the last clone of a batch overwrites it, also while results made of it live:
    /// nothing is kept to make these again, so what a device loses is an error, on every engine.
    /// What is not overwritten: what a user has copied from batches (`to_limbs` and the like) or
    /// keeps of what they were made of, but for the limbs that [`Engine::batch_from_limbs`]
    /// takes; [`Integers`](crate::Integers); registers, stacks and scratch of the CPU's
    /// algorithms; registers, shared and local memory of kernels; what the system swaps out or
    /// dumps; and memory of a process that is killed or a device that is lost.
    ///
    /// Costs a write of every buffer that is let go, and small copies to and from devices go by way of
    /// pinned memory, which takes 128 MiB. Batches of the old engine are foreign to it: they go
    /// through the host.
    ///
    /// ```
    /// use bigint_host::{Engine, Error};
    /// let engine = Engine::auto();
    /// let secrets = engine.for_secrets()?;
    /// let key = secrets.batch_from_biguints(&[12345u32.into()])?;
    /// let square = secrets.square(&key)?;
    /// assert!(square.is_secret());
    /// assert!(matches!(engine.square(&key), Err(Error::Secret)));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] where a device cannot be opened once more.
    pub fn for_secrets(&self) -> Result<Self, Error> {
        Ok(Engine {
            inner: Arc::new(self.inner.for_secrets()?),
            options: self.options,
        })
    }

    /// What decides the speed of the first device, as its driver tells it; `None` without a device.
    pub fn facts(&self) -> Option<Facts> {
        self.inner.open_now();
        self.inner.device()?.facts()
    }

    /// Where the thresholds on the first device come from, in words; `None` without a device.
    pub fn origin(&self) -> Option<String> {
        self.inner.open_now();
        let device = self.inner.device()?;
        Some(self.inner.tuning_on(device.facts()).origin())
    }

    /// Whether the times on the first device are those of a model, not measured on one like it.
    pub fn is_modelled(&self) -> bool {
        self.inner.open_now();
        let device = self.inner.device();
        device.is_some_and(|device| self.inner.tuning_on(device.facts()).is_modelled)
    }

    /// Whether it computes nothing: [`rehearsal`](super::rehearsal).
    pub(crate) fn is_rehearsing(&self) -> bool {
        self.inner
            .device()
            .is_some_and(|device| device.is_rehearsal())
    }

    /// Whether the engine overwrites numbers ([`Engine::for_secrets`]).
    pub fn is_for_secrets(&self) -> bool {
        self.inner.pool.is_for_secrets()
    }

    /// The engine with an algorithm or level forced.
    #[must_use]
    pub fn using(&self, options: impl Into<Options>) -> Self {
        Engine {
            inner: Arc::clone(&self.inner),
            options: options.into(),
        }
    }

    /// Says that the next operations are parts of work about `times` as large, such as parts of a
    /// file: [`Engine::auto`] then knows sooner whether devices pay.
    pub fn expect(&self, times: f64) {
        self.inner.devices.expect(times);
    }

    /// Every choice that `operation` has on this back end: first the default, by thresholds, then
    /// each one that can be forced.
    pub fn choices(&self, operation: Operation) -> Vec<Options> {
        let mut choices = vec![Options::default()];
        self.inner.open_now();
        if self.inner.device().is_some() {
            let kernels = bigint_core::Kernel::ALL.iter();
            let has_tensor_cores = (self.inner.devices()).all(|device| device.has_tensor_cores());
            let kernels = kernels.filter(|kernel| {
                kernel.operation == operation
                    && kernel.serves(Layout::Contiguous)
                    && (has_tensor_cores || !kernel.takes_tensor_cores())
            });
            choices.extend(kernels.map(|kernel| Options {
                algorithm: kernel.algorithm,
                level: Some(kernel.level),
                lanes: Some(kernel.lanes),
            }));
            let of_all: &[Algorithm] = match operation {
                Operation::Mul | Operation::Square => &[Algorithm::Fft, Algorithm::Ntt],
                _ if operation.has(Algorithm::Rns) && has_tensor_cores => {
                    &[Algorithm::Rns, Algorithm::RnsVartime]
                }
                _ => &[],
            };
            choices.extend(of_all.iter().map(|&algorithm| Options {
                algorithm,
                level: Some(bigint_core::Level::Grid),
                lanes: None,
            }));
        } else {
            let has_it = |algorithm: &Algorithm| operation.has(*algorithm);
            let algorithms = Algorithm::NAMED.into_iter().filter(has_it);
            choices.extend(algorithms.map(Options::from));
        }
        choices
    }

    /// The engine's back end. Devices of [`Engine::auto`] are opened to answer this.
    pub fn back_end(&self) -> BackEnd {
        self.inner.open_now();
        self.inner.back_end()
    }

    /// Whether devices are open that operations use. Those of [`Engine::auto`] are not opened to answer
    /// this.
    pub fn has_open_devices(&self) -> bool {
        self.inner.device().is_some()
    }

    /// Waits until the devices have done all their work. Where a device fails, an engine with
    /// another back end notices it when results are read.
    ///
    /// # Errors
    /// [`Error::Device`] of [`Engine::cuda`]'s device.
    pub fn wait(&self) -> Result<(), Error> {
        self.inner.devices().try_for_each(|device| {
            let waited = device.wait().map_err(Error::from);
            waited.or_else(|error| self.inner.make_good(error, "going on without it"))
        })
    }

    /// Records, from now on, how operations are computed, for [`Engine::noted_choices`].
    pub fn note_choices(&self) {
        self.inner.choices.want();
    }

    /// How operations were computed since [`Engine::note_choices`]: the first 50 different ways,
    /// oldest first, in the words of [`Engine::explain`].
    pub fn noted_choices(&self) -> Vec<String> {
        self.inner.choices.take()
    }

    /// Failures that were made good, oldest first; each is returned once.
    pub fn warnings(&self) -> Vec<String> {
        self.inner.take_warnings()
    }

    /// Measures the device's ceilings, in a fraction of a second; `None` on the CPU. Of
    /// several devices they are the sums, each device being measured by itself.
    ///
    /// `bytes` of each device's memory are taken for the copy. They should be several times
    /// the device's cache, or the copy is the cache's.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn ceilings(&self, bytes: usize) -> Result<Option<Ceilings>, Error> {
        self.inner.open_now();
        let each = self.inner.devices();
        let each = each.map(|device| Ceilings::of(device, bytes));
        let each = each.collect::<Result<Vec<_>, _>>()?;
        Ok(each.into_iter().reduce(Ceilings::and))
    }
}

impl Default for Engine {
    /// [`Engine::auto`].
    fn default() -> Self {
        Engine::auto()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("back_end", &self.inner.back_end())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The CUDA devices that the driver lists, in the order of their numbers, each with its description
/// or the error with which it answers.
///
/// # Errors
/// [`DeviceErrorKind::NoDriver`], [`DeviceErrorKind::DriverUnusable`],
/// [`DeviceErrorKind::Forked`] or [`DeviceErrorKind::NotBuilt`] says why there is none.
pub fn devices() -> Result<Vec<Result<DeviceDescription, DeviceError>>, DeviceError> {
    driver::devices()
}
