//! The door to computing: an engine's devices where there are any and they suit, or the CPU.

use crate::common::device::Kind;
use crate::common::job::Job;
use crate::common::notes::Notes;
use crate::common::program::Program;
use crate::device::gather::Gather;
use crate::engine::inner::{Inner, Resort};
use crate::host;
use crate::kernels;
use crate::plan::choose::{self, Inputs, Who};
use crate::plan::readiness::{Choice, Load, State};
use crate::plan::task::Task;
use crate::plan::why::Why;
use crate::plan::{spread, whole_product};
use crate::values::batch::Batch;
use crate::values::made::Computed;
use crate::values::node::Operands;
use crate::{DeviceError, DeviceErrorKind, Error};
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;
use std::sync::Arc;
use std::time::Instant;

/// The most milliseconds that the CPU computes in a rehearsal.
const MOST_REHEARSED_MS: f64 = 10.0;

impl Inner {
    /// Computes a task on the devices, where there are any and they suit, or on the CPU. Every task
    /// comes this way.
    pub fn compute(
        self: &Arc<Self>,
        task: &Task,
        operands: Operands<'_>,
    ) -> Result<Computed, Error> {
        self.note(task, operands);
        if let Task::Job(job) = task {
            match self.who(*job, operands).0 {
                Who::Cpu => {
                    self.is_worth_rehearsing(task, operands)?;
                    return host::job::compute(self, *job, operands);
                }
                Who::WholeProduct => return whole_product::compute(self, *job, operands),
                Who::Devices => {}
            }
        }
        spread::compute(self, task, operands)
    }

    /// Notes how a task is computed, if that is recorded.
    fn note(&self, task: &Task, operands: Operands<'_>) {
        if self.choices.is_wanted()
            && !matches!(task, Task::Gather(_))
            && let Ok(explanation) = self.explain(task, operands)
        {
            self.choices.note(explanation.to_string());
        }
    }

    /// Gathers numbers of batches in another order: on the devices that have them, or on the host.
    pub fn gather(
        self: &Arc<Self>,
        gather: Gather,
        operands: Operands<'_>,
    ) -> Result<Batch, Error> {
        let gather = Arc::new(gather);
        let task = Task::Gather(Arc::clone(&gather));
        if spread::shares(self, &task, operands).is_empty() {
            let limbs = gather.limbs(self, operands, 0..gather.shape.count)?;
            return self.admit(gather.shape, limbs);
        }
        let mut made = self.compute(&task, operands)?;
        Ok(Batch::new(made.results.swap_remove(0)))
    }

    /// The back end of a job and the reason, whether or not devices are ready.
    pub fn who(&self, job: Job, operands: Operands<'_>) -> (Who, Why) {
        let shared_bytes = self.devices().map(|device| device.shared_bytes()).min();
        let may_use_cpu = self.resort == Resort::Always;
        let inputs = Inputs::of(operands);
        choose::who(self.tuning(), may_use_cpu, shared_bytes, job, &inputs)
    }

    /// The task that computes a program in one launch, or block by block on the CPU; none where
    /// devices take its steps one by one.
    pub fn task_of(&self, program: Program, inputs: Operands<'_>) -> Option<Task> {
        let shapes = inputs.iter().map(|input| input.shape);
        let kernel = choose::fused(self.tuning(), &program, shapes);
        let is_for_steps = kernel.is_none() && self.device().is_some();
        (!is_for_steps).then(|| Task::Program(Arc::new(program), kernel))
    }

    /// Chooses between devices and the CPU, by what is ready, for a task that suits devices.
    pub fn choice(&self, task: &Task, operands: Operands<'_>) -> Choice {
        let start = &self.tuning().start;
        if self.resort != Resort::Always {
            return Choice::Devices;
        }
        if matches!(task, Task::Job(job) if job.options.level.is_some()) {
            // Only devices have levels.
            self.open_now();
            return Choice::Devices;
        }
        self.open_if_that_is_free();
        if self.are_devices_asleep() {
            // A pool's thread does not wait for devices, and a program may have no kernel.
            if bigint_cpu::is_in_pool() || matches!(task, Task::Program(_, None)) {
                return Choice::Cpu;
            }
            let state = match self.devices.are_starting() {
                true => State::Starting,
                false => State::Asleep {
                    spent_ms: 1e3 * self.devices.spent().as_secs_f64(),
                    times: self.devices.times(),
                },
            };
            let driver_ms = || self.driver_ms();
            let start_ms = || self.start_ms(task, operands);
            return start.choose(self.load(task, operands), state, driver_ms, start_ms);
        }
        let is_ready = spread::shares(self, task, operands)
            .into_iter()
            .all(|(device, numbers)| {
                let kernels = task.modules(self, device.kind(), operands, numbers.len());
                let mut kernels = kernels.into_iter();
                !device.is_loading()
                    && kernels.all(|(entry, known)| device.has_module(entry, known))
            });
        match is_ready {
            true => Choice::Devices,
            false => {
                let load_ms = || self.missing_ms(task, operands);
                start.choose(self.load(task, operands), State::Loading, || 0.0, load_ms)
            }
        }
    }

    /// The milliseconds in which open devices have a task's kernel; infinite where nobody knows, or the
    /// caller may not wait.
    fn missing_ms(&self, task: &Task, operands: Operands<'_>) -> f64 {
        let notes = self.devices.notes();
        let shares = spread::shares(self, task, operands).into_iter();
        let ms = shares.map(|(device, numbers)| {
            if device.is_loading() || bigint_cpu::is_in_pool() {
                return f64::INFINITY;
            }
            let kind = device.kind();
            let mut kernels = task.modules(self, kind, operands, numbers.len());
            kernels.retain(|&(entry, known)| !device.has_module(entry, known));
            self.load_ms(notes, &kernels, kind)
        });
        ms.fold(0.0, f64::max)
    }

    /// The milliseconds that opening the devices takes.
    fn driver_ms(&self) -> f64 {
        let noted = self.devices.notes().and_then(Notes::start);
        noted.map_or(self.tuning().start.driver_ms, |start| start.ms as f64)
    }

    /// The milliseconds that opening the devices and loading a task's kernel takes.
    pub fn start_ms(&self, task: &Task, operands: Operands<'_>) -> f64 {
        let notes = self.devices.notes();
        let noted = notes.and_then(Notes::start);
        let (kind, devices) = match noted {
            Some(start) => (start.kind, start.devices),
            None => (Kind::UNKNOWN, 1),
        };
        let kernels = task.modules(self, kind, operands, task.count().div_ceil(devices));
        let load_ms = self.load_ms(notes, &kernels, kind);
        self.driver_ms() + load_ms.max(self.tuning().start.module_ms)
    }

    /// The milliseconds that the driver takes for kernels: as noted, or for its compiler.
    fn load_ms(
        &self,
        notes: Option<&Notes>,
        kernels: &[(EntryPoint, Specialization)],
        kind: Kind,
    ) -> f64 {
        let start = &self.tuning().start;
        let ms = kernels.iter().map(|&(entry, known)| {
            let kept_ms = start.module_ms as u64;
            let noted =
                notes.and_then(|notes| notes.load_ms((entry.name, known), kind.facts, kept_ms));
            match noted {
                Some(ms) => ms as f64,
                None => start.compile_ms(kernels::bytes(entry, known)),
            }
        });
        ms.sum()
    }

    /// The times that a task would take.
    fn load(&self, task: &Task, operands: Operands<'_>) -> Load {
        let widths = operands
            .iter()
            .map(|node| (node.shape.count, node.shape.width));
        let results = task.shapes().into_iter();
        let results = results.map(|shape| (shape.count, shape.width));
        let limbs = widths
            .chain(results)
            .map(|(count, width)| count as f64 * width as f64);
        Load {
            cpu_ms: self.cpu_ms(task, operands),
            devices_ms: task.work(&self.tuning().start.device, operands) / 1e9,
            way_ms: self.tuning().start.link_ms(limbs.sum()),
            is_on_host: operands.iter().all(|node| node.host.get().is_some()),
        }
    }

    /// Ends a rehearsal where the CPU would compute for long: no kernels are met there.
    pub fn is_worth_rehearsing(&self, task: &Task, operands: Operands<'_>) -> Result<(), Error> {
        match self.device().filter(|device| device.is_rehearsal()) {
            Some(device) if self.cpu_ms(task, operands) > MOST_REHEARSED_MS => Err(DeviceError {
                ordinal: device.ordinal(),
                during: "rehearsing what the CPU computes".to_owned(),
                kind: DeviceErrorKind::Unsupported("a rehearsal".to_owned()),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// The milliseconds that all cores would take for a task.
    pub fn cpu_ms(&self, task: &Task, operands: Operands<'_>) -> f64 {
        let work = task.work(&self.tuning().start.core, operands);
        work / (1e9 * bigint_cpu::threads() as f64)
    }

    /// Whether there may be devices that are not open yet, in whose place the CPU computes.
    pub fn are_devices_asleep(&self) -> bool {
        if !self.devices.are_asleep() {
            return false;
        }
        if !bigint_cpu::is_in_pool() {
            self.devices.look();
        }
        self.devices.are_asleep()
    }

    /// Has devices opened for lists once the CPU has computed for as long as that takes: the time
    /// of a list is not estimated.
    pub fn wake_for_list(self: &Arc<Self>) {
        self.open_if_that_is_free();
        let spent_ms = 1e3 * self.devices.spent().as_secs_f64();
        if self.are_devices_asleep() && spent_ms > self.tuning().start.driver_ms {
            self.open_in_background(|_, _| ());
        }
    }

    /// Does work of the CPU in the place of devices that are not open yet, and notes its time.
    pub fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.devices.spend(started.elapsed());
        done
    }
}
