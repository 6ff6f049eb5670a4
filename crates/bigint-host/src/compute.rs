//! How an engine computes: on its device, and on the CPU when that fails.

use crate::batch::{Batch, Node, Recipe};
use crate::cuda::{Buffer, Device};
use crate::pool::Pool;
use crate::{BackEnd, DeviceError, DeviceErrorKind, Error, Options, Tuning, limbs, pieces};
use bigint_core::kernel::MatrixArgument;
use bigint_core::{Arguments, Layout, Limb, Operation, Shape};
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

/// What one operation is about, as dispatch sees it.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub operation: Operation,
    pub shape: Shape,
    pub options: Options,
    pub wanted: Wanted,
}

/// What is wanted of the carries or borrows out of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Nothing,
    /// Whether each number carries.
    Each,
    /// The first number that carries, if one does.
    First,
}

/// What was wanted.
#[derive(Debug, Default)]
pub(crate) struct Carries {
    /// For each number, 0 or 1.
    pub each: Vec<Limb>,
    pub first: Option<usize>,
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
            return Ok(Batch::new(Node::on_device(self, shape, buffer, None)));
        }
        let node = Node::on_host(self, shape, limbs);
        if let Err(error) = node.resident(device) {
            self.make_good(error, "keeping the batch on the host")?;
        }
        Ok(Batch::new(node))
    }

    pub fn compute(
        self: &Arc<Self>,
        job: Job,
        a: &Arc<Node>,
        b: &Arc<Node>,
    ) -> Result<(Node, Carries), Error> {
        let device = self.device().filter(|_| self.suits_device(job, a, b));
        let Some(device) = device.filter(|_| job.shape.count > 0) else {
            return self.compute_on_host(job, a, b);
        };
        let error = match self.compute_on_device(device, job, a, b) {
            Ok((node, carries)) => {
                if node.depth() >= MOST_UNSAVED_OPERATIONS {
                    node.limbs()?;
                }
                return Ok((node, carries));
            }
            Err(error) => error,
        };
        let out_of_memory = matches!(&error, Error::Device(e) if e.is_out_of_memory());
        if out_of_memory && self.falls_back {
            self.make_good(error, "computing in smaller pieces")?;
            return pieces::compute(self, device, job, a, b);
        }
        self.make_good(error, "computing on the CPU")?;
        self.compute_on_host(job, a, b)
    }

    /// Whether `auto` should use the device: not for products wider than a warp
    /// multiplies well, unless a level is forced.
    fn suits_device(&self, job: Job, a: &Node, b: &Node) -> bool {
        !self.falls_back
            || job.options.level.is_some()
            || job.operation != Operation::Mul
            || a.shape.width.min(b.shape.width) <= self.tuning.mul.device_max_width
    }

    pub fn compute_on_device(
        self: &Arc<Self>,
        device: &Arc<Device>,
        job: Job,
        a: &Arc<Node>,
        b: &Arc<Node>,
    ) -> Result<(Node, Carries), Error> {
        let Job {
            operation, shape, ..
        } = job;
        // Kernels of the interleaved layout take any strides, so they also serve
        // operands of two layouts.
        let layouts = [shape.layout, a.shape.layout, b.shape.layout];
        let layout = if layouts == [Layout::Contiguous; 3] {
            Layout::Contiguous
        } else {
            Layout::Interleaved
        };
        let widths = (a.shape.width, b.shape.width);
        let kernel =
            self.tuning
                .kernel(operation, widths, Shape { layout, ..shape }, job.options)?;
        let launch = kernel.launch(shape.count, widths, shape.width);

        let started = Instant::now();
        let (a_buffer, b_buffer) = (a.resident(device)?, b.resident(device)?);
        let r = device.allocate(shape.limbs())?;
        let scratch = match launch.scratch_width * launch.workers {
            0 => None,
            limbs => Some(device.allocate(limbs)?),
        };
        let (carry, first_carry) = match job.wanted {
            Wanted::Nothing => (None, None),
            Wanted::Each => (Some(device.allocate(shape.count)?), None),
            Wanted::First => (None, Some(device.allocate_ones(2)?)),
        };
        let address = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, Buffer::address);
        let operand = |node: &Node, buffer: &Buffer| {
            let mut strides = node.shape.strides();
            if node.shape.count == 1 && shape.count > 1 {
                strides.number = 0;
            }
            MatrixArgument::new(buffer.address(), node.shape.width, strides)
        };
        let arguments = Arguments {
            r: MatrixArgument::new(r.address(), shape.width, shape.strides()),
            a: operand(a, &a_buffer),
            b: operand(b, &b_buffer),
            scratch: MatrixArgument::new(
                address(&scratch),
                launch.scratch_width,
                launch.scratch_strides(kernel.level),
            ),
            carry: address(&carry),
            first_carry: address(&first_carry),
            count: shape.count as u64,
            workers: launch.workers as u64,
        };
        let operands = [&r, &*a_buffer, &*b_buffer].into_iter();
        let buffers: Vec<_> = operands
            .chain(&scratch)
            .chain(&carry)
            .chain(&first_carry)
            .collect();
        device.launch(kernel.entry_point(), launch, arguments, &buffers)?;
        let mut carries = Carries::default();
        if let Some(carry) = &carry {
            carries.each = device.download(carry)?;
        }
        if let Some(first) = &first_carry {
            let limbs = device.download(first)?;
            let number = limbs
                .iter()
                .rev()
                .fold(0, |n, &limb| n << 32 | u64::from(limb));
            carries.first = (number != u64::MAX).then_some(number as usize);
        }
        tracing::debug!(
            back_end = %BackEnd::Cuda(device.ordinal()),
            kernel = kernel.name,
            count = shape.count,
            width = shape.width,
            elapsed = ?started.elapsed(),
            "launched"
        );
        let recipe = self.falls_back.then(|| Recipe {
            operation,
            options: job.options,
            a: Arc::clone(a),
            b: Arc::clone(b),
            depth: 1 + a.depth().max(b.depth()),
        });
        Ok((Node::on_device(self, shape, r, recipe), carries))
    }

    pub fn compute_on_host(
        self: &Arc<Self>,
        job: Job,
        a: &Node,
        b: &Node,
    ) -> Result<(Node, Carries), Error> {
        let Job {
            operation, shape, ..
        } = job;
        let (a_limbs, b_limbs) = (a.limbs()?, b.limbs()?);
        let started = Instant::now();
        let mut r = self.pool.take(shape.limbs())?;
        limbs::clear_padding(&mut r, shape);
        let wants_none = job.wanted == Wanted::Nothing;
        let mut each = self.pool.take(if wants_none { 0 } else { shape.count })?;
        let algorithm = job.options.algorithm_for(operation);
        {
            let r = bigint_cpu::NumbersMut::new(&mut r, shape)?;
            let a = bigint_cpu::Numbers::new(a_limbs, a.shape)?;
            let b = bigint_cpu::Numbers::new(b_limbs, b.shape)?;
            let carry = (!wants_none).then_some(each.as_mut_slice());
            match operation {
                Operation::Add => bigint_cpu::add(r, a, b, carry, algorithm),
                Operation::Sub => bigint_cpu::sub(r, a, b, carry, algorithm),
                Operation::Mul => bigint_cpu::mul(r, a, b, algorithm),
            }?;
        }
        tracing::debug!(
            back_end = %BackEnd::Cpu,
            operation = operation.name(),
            algorithm = algorithm.name(),
            count = shape.count,
            width = shape.width,
            elapsed = ?started.elapsed(),
            "computed"
        );
        let first = each.iter().position(|&carry| carry != 0);
        if job.wanted != Wanted::Each {
            self.pool.give(std::mem::take(&mut each));
        }
        Ok((Node::on_host(self, shape, r), Carries { each, first }))
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
            match device.download(&buffer) {
                Ok(mut limbs) => {
                    limbs::clear_padding(&mut limbs, node.shape);
                    return Ok(limbs);
                }
                Err(error) => {
                    self.make_good(error, "computing the result again on the CPU")?;
                }
            }
        }
        let recipe = node.recipe().ok_or_else(lost)?;
        let job = Job {
            operation: recipe.operation,
            shape: node.shape,
            options: recipe.options,
            wanted: Wanted::Nothing,
        };
        let (mut again, _) = self.compute_on_host(job, &recipe.a, &recipe.b)?;
        Ok(again.host.take().unwrap_or_default())
    }
}
