//! How an engine computes: on its devices, and on the CPU when they fail.

use crate::batch::{Batch, Node};
use crate::cuda::{Buffer, Device, Roots};
use crate::job::{Computed, Job, Operands, Wanted};
use crate::members::{Members, each};
use crate::pieces::{self, Pieces};
use crate::plan::work;
use crate::pool::Pool;
use crate::spread;
use crate::task::{Made, Task};
use crate::transform_tuning::Transform;
use crate::{
    BackEnd, DeviceError, DeviceErrorKind, DeviceSet, Error, Tuning, grid, limbs, ntt,
    whole_product,
};
use bigint_core::facts::Facts;
use bigint_core::kernel::{MatrixArgument, WIDEST_MODULUS};
use bigint_core::{Arguments, Kernel, Layout, Level, Limb, Operation, Shape};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Operations that may follow one another on a device before `auto` brings a
/// result to the host as well, so that no failure has to redo more than these.
const MOST_UNSAVED_OPERATIONS: u32 = 16;

/// What an engine does where its devices fail, or are no good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resort {
    /// Return the error. What a device has not the memory for is done in pieces.
    None,
    /// Hand the work to the other devices, then to the CPU.
    Failures,
    /// The same, and use the CPU for what suits it better.
    Always,
}

/// What the engine's batches share.
pub(crate) struct Inner {
    members: Members,
    resort: Resort,
    tuning: Tuning,
    warnings: Mutex<Vec<String>>,
    /// Host memory for results.
    pub pool: Arc<Pool>,
}

impl Inner {
    pub fn new(members: Members, resort: Resort, tuning: Tuning) -> Self {
        Inner {
            members,
            resort,
            tuning,
            warnings: Mutex::default(),
            pool: Arc::default(),
        }
    }

    /// The same devices, with memory for so many limbs of results to come.
    pub fn keeping(&self, limbs: usize) -> Self {
        Inner {
            pool: Arc::new(Pool::keeping(limbs)),
            ..self.with_tuning(self.tuning.clone())
        }
    }

    /// The same devices under other thresholds; warnings move along.
    pub fn with_tuning(&self, tuning: Tuning) -> Self {
        let warnings = Mutex::new(self.take_warnings());
        Inner {
            warnings,
            ..Inner::new(self.members.ready_again(), self.resort, tuning)
        }
    }

    /// Hands the warnings over; they are told once.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock_warnings())
    }

    /// The devices that can be used.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<Device>> {
        self.members.devices()
    }

    /// The first of them, for what one device does.
    pub fn device(&self) -> Option<&Arc<Device>> {
        self.devices().next()
    }

    /// Who computes.
    pub fn back_end(&self) -> BackEnd {
        let ordinals = self.devices().map(|device| device.ordinal());
        DeviceSet::new(ordinals).map_or(BackEnd::Cpu, BackEnd::Cuda)
    }

    /// Which of so many numbers each device takes, of so much work in picoseconds.
    pub fn shares(&self, count: usize, work: f64) -> Vec<(&Arc<Device>, Range<usize>)> {
        let devices = work::devices(work, self.tuning.devices.launch_ns);
        self.members.shares(count, devices)
    }

    fn lock_warnings(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a warning, if it does not wait to be told already.
    pub fn warn(&self, warning: String) {
        let mut warnings = self.lock_warnings();
        if !warnings.contains(&warning) {
            tracing::warn!("{warning}");
            warnings.push(warning);
        }
    }

    /// Decides about a device error: returned by an engine that is bound to its
    /// device, else noted, with what is done instead.
    pub fn make_good(&self, error: Error, instead: &str) -> Result<(), Error> {
        match error {
            Error::Device(error) if self.falls_back() => {
                if error.is_fatal() {
                    self.members.lose(error.ordinal);
                }
                self.warn(format!("{error}; {instead}"));
                Ok(())
            }
            error => Err(error),
        }
    }

    /// [`Inner::make_good`], where the device's work goes to the others, or to the CPU.
    pub fn hand_over(&self, error: Error) -> Result<(), Error> {
        let ordinal = match &error {
            Error::Device(error) => Some(error.ordinal),
            _ => None,
        };
        let has_others = self
            .devices()
            .any(|device| Some(device.ordinal()) != ordinal);
        self.make_good(
            error,
            match has_others {
                true => "handing its numbers to the other devices",
                false => "computing on the CPU",
            },
        )
    }

    /// Takes a user's limbs in: onto the devices where there are any. An engine that
    /// falls back keeps them on the host as well.
    pub fn admit(self: &Arc<Self>, shape: Shape, limbs: Vec<Limb>) -> Result<Batch, Error> {
        // A sum with as many is the least that they are for.
        let work = work::moved(3 * shape.count.saturating_mul(shape.width));
        let shares = self.shares(shape.count, work);
        let mut node = Node::on_host(self, shape, limbs);
        if shares.is_empty() {
            return Ok(Batch::new(node));
        }
        let brought = each(shares, |(device, numbers)| node.resident(device, numbers));
        let mut is_there = true;
        for error in brought.into_iter().filter_map(Result::err) {
            is_there = false;
            let instead = "keeping its numbers on the host";
            match error.is_of_device_memory() {
                true => self.warn(format!("{error}; {instead}")),
                false => self.make_good(error, instead)?,
            }
        }
        if is_there && !self.falls_back() {
            self.pool.give(node.host.take().unwrap_or_default());
        }
        Ok(Batch::new(node))
    }

    /// Computes a job, on the devices where there are any and it suits, else on the CPU.
    pub fn compute(self: &Arc<Self>, job: Job, operands: Operands<'_>) -> Result<Computed, Error> {
        if !self.suits_device(job, operands) {
            return self.compute_on_host(job, operands);
        }
        if let Some(computed) = whole_product::compute(self, job, operands)? {
            return Ok(computed);
        }
        let computed = spread::compute(self, Task::Job(job), operands)?;
        computed.nodes().try_for_each(|node| self.save(node))?;
        Ok(computed)
    }

    /// Brings a result to the host where too much would have to be done again for it.
    pub fn save(&self, node: &Node) -> Result<(), Error> {
        if node.depth() >= MOST_UNSAVED_OPERATIONS {
            node.limbs()?;
        }
        Ok(())
    }

    /// Whether errors of devices are made good, so that results remember how they were made.
    pub fn falls_back(&self) -> bool {
        self.resort != Resort::None
    }

    /// The thresholds.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
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
            let longest = self.tuning.mul.ntt.longest;
            Transform::of(n, m, n.saturating_add(m), longest).any(|plan| {
                let mut devices = self.devices();
                devices.all(|device| plan.fits(device.shared_bytes()))
            })
        };
        if job.operation.multiplies() {
            let (n, m) = (widths.clone().min(), widths.max());
            n <= Some(self.tuning.mul.device_max_width)
                || n.zip(m).is_some_and(|(n, m)| by_transform(n, m))
        } else if job.operation.divides() {
            widths.nth(1) <= Some(self.tuning.div.device_max_width)
        } else if job.operation.lanes(Level::Warp).is_empty() {
            widths.max() <= Some(self.tuning.div.gcd_device_max_width)
        } else {
            true
        }
    }

    /// Numbers `numbers` of a job, on a device; nothing where the CPU has to say why one of
    /// them has no value.
    pub fn compute_on_device(
        &self,
        device: &Arc<Device>,
        job: Job,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Option<Made>, Error> {
        // A batch's product by itself is its square: which kernel computes it, where that
        // is left open, is a matter of widths.
        let both;
        let is_square = |a: &Node| self.tuning.squares(a.shape.width);
        let (job, operands) = match (job.operation, operands) {
            (Operation::Mul, [a, b])
                if Arc::ptr_eq(a, b) && is_square(a) && job.leaves_open(Operation::Square) =>
            {
                (job.of(Operation::Square), &operands[..1])
            }
            (Operation::Square, [a]) if !is_square(a) && job.leaves_open(Operation::Mul) => {
                both = [Arc::clone(a), Arc::clone(a)];
                (job.of(Operation::Mul), &both[..])
            }
            _ => (job, operands),
        };
        let start = numbers.start;
        let job = job.with_count(numbers.len());
        let count = job.count();
        let of = |index: usize| operands.get(index).map_or(0, |operand| operand.shape.width);
        let is_kept = operands.iter().any(|operand| operand.kept().is_some());
        if let Some(plan) = self
            .tuning
            .grid(job, of(0), of(operands.len() - 1), is_kept)
            && plan.fits(device.shared_bytes())
        {
            let made = match plan {
                Transform::Fft(plan) => grid::compute(device, job, operands, numbers, plan)?,
                Transform::Ntt(plan) => ntt::compute(device, job, operands, numbers, plan)?,
                Transform::Pieces(Pieces { longest, .. }) => {
                    pieces::compute(device, job, operands, numbers, longest)?
                }
            };
            return Ok(Some(made));
        }
        // Kernels of the interleaved layout take any strides, so they also serve
        // operands of two layouts.
        let shapes = operands.iter().map(|operand| operand.shape);
        let layout = if shapes
            .clone()
            .chain(job.shapes().iter().copied())
            .all(|shape| shape.layout == Layout::Contiguous)
        {
            Layout::Contiguous
        } else {
            Layout::Interleaved
        };
        let widths: Vec<usize> = shapes.map(|shape| shape.width).collect();
        let r_shape = job.shapes()[0];
        let shape = Shape { layout, ..r_shape };
        let kernel = self
            .tuning
            .kernel(job.operation, &widths, shape, job.options)?;
        let kernel = fitting(kernel, device.shared_bytes());
        let launch = kernel.launch_within(count, &widths, r_shape.width, device.shared_bytes());

        let started = Instant::now();
        let given = operands
            .iter()
            .map(|operand| operand.resident(device, numbers.clone()))
            .collect::<Result<Vec<_>, _>>()?;
        let made = job
            .shapes()
            .iter()
            .map(|shape| device.allocate(shape.limbs()))
            .collect::<Result<Vec<_>, _>>()?;
        let scratch = match launch.scratch_width * launch.workers {
            0 => None,
            limbs => Some(device.allocate(limbs)?),
        };
        let (flags, first_flag) = match job.wanted {
            Wanted::Nothing => (None, None),
            Wanted::Flags if job.operation == Operation::PowMod => (
                Some(device.allocate(count)?),
                Some(device.allocate_ones(2)?),
            ),
            Wanted::Flags => (Some(device.allocate(count)?), None),
            Wanted::First => (None, Some(device.allocate_ones(2)?)),
        };
        let address = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, Buffer::address);
        let operand = |(node, buffer): (&Arc<Node>, &Arc<Buffer>)| {
            let is_one = node.shape.count == 1;
            let count = if is_one { 1 } else { count };
            let mut strides = Shape {
                count,
                ..node.shape
            }
            .strides();
            if is_one && numbers.len() > 1 {
                strides.number = 0;
            }
            MatrixArgument::new(buffer.address(), node.shape.width, strides)
        };
        let result = |(shape, buffer): (&Shape, &Buffer)| {
            MatrixArgument::new(buffer.address(), shape.width, shape.strides())
        };
        let results: Vec<_> = job.shapes().iter().zip(&made).map(result).collect();
        let matrices: Vec<_> = operands.iter().zip(&given).map(operand).collect();
        let arguments = Arguments {
            scratch: MatrixArgument::new(
                address(&scratch),
                launch.scratch_width,
                launch.scratch_strides(kernel.level),
            ),
            carry: address(&flags),
            first_carry: address(&first_flag),
            roots: match kernel.takes_roots() {
                true => device.roots(Roots::Blocks)?,
                false => 0,
            },
            count: count as u64,
            workers: launch.workers as u64,
            ..kernel.arguments(&results, &matrices)
        };
        let buffers: Vec<_> = made
            .iter()
            .chain(given.iter().map(|buffer| &**buffer))
            .chain(&scratch)
            .chain(&flags)
            .chain(&first_flag)
            .collect();
        let facts = Facts::of(kernel, &arguments);
        device.launch(kernel.entry_point(), facts, launch, arguments, &buffers)?;
        let first = match &first_flag {
            None => None,
            Some(first) => {
                let mut limbs = [0; 2];
                device.download(first, &mut limbs)?;
                let halves = limbs.iter().rev();
                let number = halves.fold(0, |n, &limb| n << 32 | u64::from(limb));
                (number != u64::MAX).then_some(number as usize)
            }
        };
        if first.is_some() && job.operation == Operation::PowMod {
            // It may be even moduli that the device tells of.
            return Ok(None);
        }
        tracing::debug!(
            back_end = %BackEnd::Cuda(device.ordinal().into()),
            kernel = kernel.name,
            count,
            width = r_shape.width,
            elapsed = ?started.elapsed(),
            "launched"
        );
        let shapes = job.shapes().iter().copied();
        let results = shapes.zip(made);
        let flags = flags.map(|flags| (job.flags_shape(), flags));
        Ok(Some(Made {
            buffers: results.chain(flags).collect(),
            first: first.map(|index| start + index),
        }))
    }

    /// Host memory for results of these shapes, whose padding is clear.
    pub fn memory(&self, shapes: &[Shape]) -> Result<Vec<Vec<Limb>>, Error> {
        let of_one = |shape: &Shape| {
            let mut limbs = self.pool.take(shape.limbs())?;
            limbs::clear_padding(&mut limbs, *shape);
            Ok(limbs)
        };
        shapes.iter().map(of_one).collect()
    }

    pub fn compute_on_host(
        self: &Arc<Self>,
        job: Job,
        operands: Operands<'_>,
    ) -> Result<Computed, Error> {
        let limbs = operands
            .iter()
            .map(|operand| operand.limbs())
            .collect::<Result<Vec<_>, _>>()?;
        let started = Instant::now();
        let mut made = self.memory(job.shapes())?;
        let mut flags = match job.wanted {
            Wanted::Nothing => Vec::new(),
            Wanted::Flags | Wanted::First => self.pool.take(job.count())?,
        };
        let algorithm = job.options.algorithm_for(job.operation);
        {
            let numbers = limbs.iter().zip(operands);
            let numbers = numbers
                .map(|(limbs, operand)| bigint_cpu::Numbers::new(limbs, operand.shape))
                .collect::<Result<Vec<_>, _>>()?;
            let mut results = made.iter_mut().zip(job.shapes());
            let mut next = || {
                let result = results.next();
                result
                    .map(|(limbs, shape)| bigint_cpu::NumbersMut::new(limbs, *shape))
                    .transpose()
            };
            let results = bigint_cpu::Results {
                r: next()?.expect("every operation has a result"),
                s: next()?,
                flags: (job.wanted != Wanted::Nothing).then_some(flags.as_mut_slice()),
            };
            bigint_cpu::compute(job.operation, results, &numbers, algorithm)?;
        }
        tracing::debug!(
            back_end = %BackEnd::Cpu,
            operation = job.operation.name(),
            algorithm = algorithm.name(),
            count = job.count(),
            width = job.shapes()[0].width,
            elapsed = ?started.elapsed(),
            "computed"
        );
        let first = flags.iter().position(|&flag| flag != 0);
        if job.wanted == Wanted::First {
            self.pool.give(std::mem::take(&mut flags));
        }
        let nodes = job.shapes().iter().zip(made);
        Ok(Computed {
            results: nodes
                .map(|(shape, limbs)| Node::on_host(self, *shape, limbs))
                .collect(),
            flags: (job.wanted == Wanted::Flags)
                .then(|| Node::on_host(self, job.flags_shape(), flags)),
            first,
        })
    }

    /// Copies what a device of the engine has; nothing where the engine goes on without it.
    pub fn download(&self, buffer: &Buffer, limbs: &mut [Limb]) -> Result<Option<()>, Error> {
        let mut devices = self.devices();
        let device = devices.find(|device| buffer.is_of(device));
        let brought = device.map(|device| device.download(buffer, limbs));
        Ok(brought.transpose()?)
    }

    /// The error of a result that was lost with a device.
    pub fn lost(&self, during: &str) -> Error {
        Error::Device(DeviceError {
            ordinal: self.members.first_ordinal().unwrap_or(0),
            during: during.to_owned(),
            kind: DeviceErrorKind::Lost("an earlier error ended it".to_owned()),
        })
    }
}

/// The kernel, or the widest like it whose blocks fit a device with so many bytes of shared
/// memory for each: fewer threads take a product in smaller pieces.
fn fitting(kernel: &'static Kernel, shared_bytes: u32) -> &'static Kernel {
    let fits = |kernel: &Kernel| {
        let needed = kernel.launch(1, &[1, 1], 2).shared_bytes;
        needed <= shared_bytes
    };
    let narrower = |kernel: &&'static Kernel| {
        let Kernel {
            operation,
            algorithm,
            level,
            lanes,
            layout,
            ..
        } = **kernel;
        Kernel::find(operation, algorithm, level, lanes / 2, layout)
    };
    let mut kernels = std::iter::successors(Some(kernel), narrower);
    kernels.find(|kernel| fits(kernel)).unwrap_or(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_core::{Algorithm, Level};

    #[test]
    fn a_device_with_little_shared_memory_takes_fewer_threads_for_a_product() {
        let kernel = |lanes| {
            let (algorithm, layout) = (Algorithm::Fft, Layout::Contiguous);
            Kernel::find(Operation::Mul, algorithm, Level::Block, lanes, layout).unwrap()
        };
        assert_eq!(fitting(kernel(1024), 99 << 10).lanes, 1024);
        assert_eq!(fitting(kernel(512), 64 << 10).lanes, 64);
    }
}
