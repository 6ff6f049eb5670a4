//! Who computes: an engine's devices where there are any and it suits, else the CPU.

use crate::Error;
use crate::common::job::Job;
use crate::device::transform::Transform;
use crate::engine::inner::{Inner, Resort};
use crate::host::on_host;
use crate::plan::readiness::{Choice, Load, State};
use crate::plan::task::Task;
use crate::plan::{spread, whole_product};
use crate::values::made::Computed;
use crate::values::node::Operands;
use bigint_core::Level;
use bigint_core::kernel::WIDEST_MODULUS;
use bigint_core::operation::Cost;
use std::sync::Arc;
use std::time::Instant;

impl Inner {
    /// Computes a job, on the devices where there are any and it suits, else on the CPU.
    pub fn compute(self: &Arc<Self>, job: Job, operands: Operands<'_>) -> Result<Computed, Error> {
        if !self.suits_device(job, operands) {
            return on_host::compute(self, job, operands);
        }
        if let Some(computed) = whole_product::compute(self, job, operands)? {
            return Ok(computed);
        }
        spread::compute(self, &Task::Job(job), operands)
    }

    /// Who computes a task that suits devices.
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
            return start.choose(self.load(task, operands), state);
        }
        let is_ready = spread::shares(self, task, operands)
            .into_iter()
            .all(|(device, numbers)| {
                let module = task.module(self, device, operands, numbers.len());
                let has_it = |(entry, specialization)| device.has_module(entry, specialization);
                !device.is_loading() && module.is_none_or(has_it)
            });
        match is_ready {
            true => Choice::Devices,
            false => start.choose(self.load(task, operands), State::Loading),
        }
    }

    /// What a task would take.
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

    /// Milliseconds that all cores would take for a task.
    pub fn cpu_ms(&self, task: &Task, operands: Operands<'_>) -> f64 {
        let work = task.work(&self.tuning().start.core, operands);
        work / (1e9 * bigint_cpu::threads() as f64)
    }

    /// Whether devices may come that are not open yet: the CPU computes in their place.
    pub fn are_devices_asleep(&self) -> bool {
        if !self.devices.are_asleep() {
            return false;
        }
        if !bigint_cpu::is_in_pool() {
            self.devices.look();
        }
        self.devices.are_asleep()
    }

    /// Has devices opened for lists, of which nobody estimates what they take, once the CPU has
    /// computed as long as that takes.
    pub fn wake_for_list(self: &Arc<Self>) {
        self.open_if_that_is_free();
        let spent_ms = 1e3 * self.devices.spent().as_secs_f64();
        if self.are_devices_asleep() && spent_ms > self.tuning().start.driver_ms {
            self.open_in_background(|_, _| ());
        }
    }

    /// Does what the CPU does in the place of devices that are not open yet.
    pub fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.devices.spend(started.elapsed());
        done
    }

    /// Whether the device should be used: not for what has no kernels, and by `auto` not for
    /// products wider than a block multiplies well, nor for divisors wider than a thread or
    /// moduli wider than a warp holds, unless a level is forced.
    fn suits_device(&self, job: Job, operands: Operands<'_>) -> bool {
        if job.operation.declaration().rows.is_empty() {
            return false;
        }
        if self.resort != Resort::Always || job.options.level.is_some() {
            return true;
        }
        if let [.., modulus] = operands
            && job.operation.multiplies_modulo()
        {
            return modulus.shape.width <= WIDEST_MODULUS;
        }
        let mut widths = operands.iter().map(|operand| operand.shape.width).take(2);
        let by_transform = |n: usize, m: usize| {
            let longest = self.tuning().mul.ntt.longest;
            Transform::of(n, m, n.saturating_add(m), longest).any(|plan| {
                let mut devices = self.devices();
                devices.all(|device| plan.fits(device.shared_bytes()))
            })
        };
        if job.operation.multiplies() {
            let (n, m) = (widths.clone().min(), widths.max());
            n <= Some(self.tuning().mul.device_max_width)
                || n.zip(m).is_some_and(|(n, m)| by_transform(n, m))
        } else if job.operation.divides() {
            widths.nth(1) <= Some(self.tuning().div.device_max_width)
        } else if job.operation.cost() == Cost::Root {
            widths.max() <= Some(self.tuning().div.root_device_max_width)
        } else if job.operation.lanes(Level::Warp).is_empty() {
            widths.max() <= Some(self.tuning().div.gcd_device_max_width)
        } else {
            true
        }
    }
}
