//! How an engine computes: on its device, and on the CPU when that fails.

use crate::batch::{Batch, Node};
use crate::cuda::{Buffer, Device};
use crate::job::{Computed, How, Job, Operands, Part, Wanted};
use crate::pool::Pool;
use crate::{BackEnd, DeviceError, DeviceErrorKind, Error, Tuning, limbs, pieces};
use bigint_core::facts::Facts;
use bigint_core::kernel::{MatrixArgument, WIDEST_MODULUS};
use bigint_core::{Arguments, Kernel, Layout, Level, Limb, Operation, Shape};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Operations that may follow one another on a device before `auto` brings a
/// result to the host as well, so that no failure has to redo more than these.
const MOST_UNSAVED_OPERATIONS: u32 = 16;

/// What the engine's batches share.
pub(crate) struct Inner {
    device: Option<Arc<Device>>,
    /// Whether device errors are answered on the CPU instead of returned.
    falls_back: bool,
    /// Set once the device can no longer be used.
    device_lost: AtomicBool,
    tuning: Tuning,
    warnings: Mutex<Vec<String>>,
    /// Host memory for results.
    pub pool: Pool,
}

impl Inner {
    pub fn new(device: Option<Arc<Device>>, falls_back: bool, tuning: Tuning) -> Self {
        Inner {
            device,
            falls_back,
            device_lost: AtomicBool::new(false),
            tuning,
            warnings: Mutex::default(),
            pool: Pool::default(),
        }
    }

    /// The same device under other thresholds.
    pub fn with_tuning(&self, tuning: Tuning) -> Self {
        Inner::new(self.device().cloned(), self.falls_back, tuning)
    }

    /// Hands the warnings over; they are told once.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock_warnings())
    }

    /// The device, while it can be used.
    pub fn device(&self) -> Option<&Arc<Device>> {
        let device = self.device.as_ref()?;
        let gone = self.falls_back && self.device_lost.load(Ordering::Relaxed);
        (!gone).then_some(device)
    }

    fn lock_warnings(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn warn(&self, warning: String) {
        tracing::warn!("{warning}");
        self.lock_warnings().push(warning);
    }

    /// Decides about a device error: returned by an engine that is bound to its
    /// device, else noted, with what is done instead.
    pub fn make_good(&self, error: Error, instead: &str) -> Result<(), Error> {
        match error {
            Error::Device(error) if self.falls_back => {
                if error.is_fatal() {
                    self.device_lost.store(true, Ordering::Relaxed);
                }
                self.warn(format!("{error}; {instead}"));
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Takes a user's limbs in: onto the device where there is one. An engine that
    /// falls back keeps them on the host as well.
    pub fn admit(self: &Arc<Self>, shape: Shape, limbs: Vec<Limb>) -> Result<Batch, Error> {
        let Some(device) = self.device().filter(|_| !limbs.is_empty()) else {
            return Ok(Batch::new(Node::on_host(self, shape, limbs)));
        };
        if !self.falls_back {
            let buffer = device.upload(&limbs)?;
            self.pool.give(limbs);
            return Ok(Batch::new(Node::on_device(self, shape, buffer, None)));
        }
        let node = Node::on_host(self, shape, limbs);
        if let Err(error) = node.resident(device) {
            self.make_good(error, "keeping the batch on the host")?;
        }
        Ok(Batch::new(node))
    }

    /// Computes a job, on the device where there is one and it suits, else on the CPU.
    pub fn compute(self: &Arc<Self>, job: Job, operands: Operands<'_>) -> Result<Computed, Error> {
        let device = self.device().filter(|_| self.suits_device(job, operands));
        let Some(device) = device.filter(|_| job.count() > 0) else {
            return self.compute_on_host(job, operands);
        };
        let error = match self.compute_on_device(device, job, operands) {
            Ok(computed) => {
                computed.nodes().try_for_each(|node| self.save(node))?;
                return Ok(computed);
            }
            Err(error) => error,
        };
        let out_of_memory = matches!(&error, Error::Device(e) if e.is_out_of_memory());
        if out_of_memory && self.falls_back {
            self.make_good(error, "computing in smaller pieces")?;
            return pieces::compute(self, device, job, operands);
        }
        self.make_good(error, "computing on the CPU")?;
        self.compute_on_host(job, operands)
    }

    /// Brings a result to the host where too much would have to be done again for it.
    pub fn save(&self, node: &Node) -> Result<(), Error> {
        if node.depth() >= MOST_UNSAVED_OPERATIONS {
            node.limbs()?;
        }
        Ok(())
    }

    /// Whether errors of the device are made good, so that results remember how they were
    /// made.
    pub fn falls_back(&self) -> bool {
        self.falls_back
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
        if !self.falls_back || job.options.level.is_some() {
            return true;
        }
        if let [.., modulus] = operands
            && job.operation.multiplies_modulo()
        {
            return modulus.shape.width <= WIDEST_MODULUS;
        }
        let mut widths = operands.iter().map(|operand| operand.shape.width).take(2);
        if job.operation.multiplies() {
            widths.min() <= Some(self.tuning.mul.device_max_width)
        } else if job.operation.divides() {
            widths.nth(1) <= Some(self.tuning.div.device_max_width)
        } else if job.operation.lanes(Level::Warp).is_empty() {
            widths.max() <= Some(self.tuning.div.gcd_device_max_width)
        } else {
            true
        }
    }

    pub fn compute_on_device(
        self: &Arc<Self>,
        device: &Arc<Device>,
        job: Job,
        operands: Operands<'_>,
    ) -> Result<Computed, Error> {
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
        let count = job.count();
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
        let launch = kernel.launch(count, &widths, r_shape.width);

        let started = Instant::now();
        let given = operands
            .iter()
            .map(|operand| operand.resident(device))
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
            let mut strides = node.shape.strides();
            if node.shape.count == 1 && count > 1 {
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
                true => device.roots()?,
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
            return self.compute_on_host(job, operands);
        }
        tracing::debug!(
            back_end = %BackEnd::Cuda(device.ordinal()),
            kernel = kernel.name,
            count,
            width = r_shape.width,
            elapsed = ?started.elapsed(),
            "launched"
        );
        let recipe = |part| self.falls_back.then(|| job.recipe(operands, part));
        let nodes = job.shapes().iter().zip(made).enumerate();
        let nodes = nodes.map(|(part, (shape, buffer))| {
            Node::on_device(self, *shape, buffer, recipe(Part::Result(part)))
        });
        Ok(Computed {
            results: nodes.collect(),
            flags: flags
                .map(|flags| Node::on_device(self, job.flags_shape(), flags, recipe(Part::Flags))),
            first,
        })
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

    /// Brings a node's limbs to the host, from the device or, where that fails and
    /// the engine falls back, by making them again on the CPU.
    pub fn fetch(self: &Arc<Self>, node: &Node) -> Result<Vec<Limb>, Error> {
        let lost = || DeviceError {
            ordinal: self.device.as_ref().map_or(0, |device| device.ordinal()),
            during: "bringing a result to the host".to_owned(),
            kind: DeviceErrorKind::Lost("an earlier error ended it".to_owned()),
        };
        if let (Some(buffer), Some(device)) = (node.buffer(), self.device()) {
            let mut limbs = self.pool.take(buffer.limbs())?;
            match device.download(&buffer, &mut limbs) {
                Ok(()) => {
                    limbs::clear_padding(&mut limbs, node.shape);
                    return Ok(limbs);
                }
                Err(error) => {
                    self.make_good(error.into(), "computing the result again on the CPU")?;
                }
            }
        }
        let recipe = node.recipe().ok_or_else(lost)?;
        let mut again = match recipe.how {
            How::Job(job, part) => self.compute_on_host(job, &recipe.operands)?.part(part),
            How::Program(program) => program.run_on_host(self, &recipe.operands)?,
        };
        Ok(again.host.take().unwrap_or_default())
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
        assert_eq!(fitting(kernel(512), 227 << 10).lanes, 512);
        assert_eq!(fitting(kernel(512), 99 << 10).lanes, 256);
        assert_eq!(fitting(kernel(512), 64 << 10).lanes, 64);
    }
}
