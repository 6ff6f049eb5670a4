//! The choice in words: what computes an operation, how, and which threshold says so.

use crate::common::device::Device;
use crate::common::job::Job;
use crate::device::launches::{By, Montgomery, Multiplier, Residues};
use crate::device::transform::Transform;
use crate::engine::inner::{Inner, Resort};
use crate::plan::choose::{Chosen, Who};
use crate::plan::spread;
use crate::plan::task::{Task, chosen};
use crate::plan::why::Why;
use crate::values::node::Operands;
use crate::{BackEnd, Error};
use bigint_core::{Algorithm, Level, Operation};
use bigint_cpu::Cpu;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How an engine computes an operation on operands of these widths, and why: the answer of
/// [`Engine::explain`](crate::Engine::explain). Its text names every threshold that decided, as it
/// is called in the file of thresholds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The operation; `None` for a chain of sums and products that is computed in one pass.
    pub operation: Option<Operation>,
    /// The widths of the operands, in limbs.
    pub widths: Vec<usize>,
    /// The number of results.
    pub count: usize,
    /// The back ends that compute, each with its share of the numbers.
    pub parts: Vec<Part>,
}

/// The share of a back end, and how it computes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The CPU or one device.
    pub back_end: BackEnd,
    /// The number of numbers in the share.
    pub count: usize,
    /// The algorithm; [`Algorithm::Auto`] where the CPU chooses for each product by its own
    /// lengths.
    pub algorithm: Algorithm,
    /// The level: what works on one number; `None` on the CPU.
    pub level: Option<Level>,
    /// The kernel with its grid and block, or the launches of the whole device.
    pub launches: String,
    /// The reasons, in order.
    pub why: Vec<String>,
}

impl Explanation {
    fn new(task: &Task, operands: Operands<'_>, parts: Vec<Part>) -> Self {
        Explanation {
            operation: match task {
                Task::Job(job) => Some(job.operation),
                Task::Program(..) | Task::Gather(_) | Task::Chain(_) => None,
                Task::Newton(newton) => newton.by.root.or(Some(newton.by.quotient)),
                Task::Middle(middle) => Some(middle.job.operation),
                Task::SumOfProducts(sum) => Some(sum.product.operation),
                Task::Pair(pair) => Some(pair.operation()),
            },
            widths: operands.iter().map(|node| node.shape.width).collect(),
            count: task.count(),
            parts,
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.operation.map_or("fused", Operation::name);
        let widths: Vec<String> = self.widths.iter().map(ToString::to_string).collect();
        let (widths, count) = (widths.join(" x "), self.count);
        write!(f, "{name} of {widths} limbs, {count} numbers")?;
        for part in &self.parts {
            let Part {
                back_end, count, ..
            } = part;
            write!(f, "\n  {back_end}: {count} by {}", part.algorithm.name())?;
            if let Some(level) = part.level {
                write!(f, " at level {}", level.name())?;
            }
            if !part.launches.is_empty() {
                write!(f, ": {}", part.launches)?;
            }
            for why in &part.why {
                write!(f, "\n    {why}")?;
            }
        }
        Ok(())
    }
}

impl Inner {
    /// Explains how a task is computed.
    pub fn explain(&self, task: &Task, operands: Operands<'_>) -> Result<Explanation, Error> {
        let explained = |parts| Explanation::new(task, operands, parts);
        let who = match task {
            Task::Job(job) => self.who(*job, operands),
            Task::Program(..) => (Who::Devices, Why::Said("sums and products in one pass")),
            Task::Gather(_) => (Who::Devices, Why::Said("numbers are moved, not computed")),
            Task::Middle(_) => (
                Who::Devices,
                Why::Said("a middle product by transforms that wrap"),
            ),
            Task::SumOfProducts(_) => (
                Who::Devices,
                Why::Said("two products added before the way back of their transforms"),
            ),
            Task::Pair(_) => (
                Who::Devices,
                Why::Said("two products that have transforms in common"),
            ),
            Task::Newton(_) => (
                Who::Devices,
                Why::Said("Newton's steps, which the host does not wait for"),
            ),
            Task::Chain(_) => (
                Who::Devices,
                Why::Said("a chain of products in residue number systems"),
            ),
        };
        let mut why = vec![format!("who: {}", who.1)];
        if who.0 == Who::Cpu {
            return Ok(explained(vec![on_cpu(task, task.count(), why)]));
        }
        if self.resort == Resort::Always && self.devices.are_asleep() {
            let costs = &self.tuning().start;
            let (cpu_ms, devices_ms) = (
                self.cpu_ms(task, operands),
                task.work(&costs.device, operands) / 1e9,
            );
            why.push(format!(
                "devices are not started: {:.0} ms for the driver and kernels, as noted or by \
                 start.driver_ms = {} and start.compile_kilobyte_ms = {}, against {cpu_ms:.3} ms by \
                 the CPU and {devices_ms:.3} ms by devices",
                self.start_ms(task, operands),
                costs.driver_ms,
                costs.compile_kilobyte_ms
            ));
            return Ok(explained(vec![on_cpu(task, task.count(), why)]));
        }
        let shares = spread::shares(self, task, operands);
        if shares.is_empty() {
            why.push("the engine has no device".to_owned());
            return Ok(explained(vec![on_cpu(task, task.count(), why)]));
        }
        if who.0 == Who::WholeProduct {
            why.push("as a whole product, and a pass over it".to_owned());
        }
        let part = |(device, numbers): (&Arc<dyn Device>, Range<usize>)| {
            let mut why = why.clone();
            why.push(format!(
                "thresholds: {}",
                self.tuning_on(device.facts()).origin()
            ));
            let back_end = BackEnd::Cuda(device.ordinal().into());
            match task {
                Task::Job(job) if who.0 == Who::Devices => {
                    let chosen = chosen(self, device.kind(), *job, operands, numbers.len())?;
                    Ok(on_device(back_end, *job, numbers.len(), &chosen, why))
                }
                _ => Ok(Part {
                    back_end,
                    count: numbers.len(),
                    algorithm: Algorithm::Auto,
                    level: None,
                    launches: String::new(),
                    why,
                }),
            }
        };
        let parts = shares.into_iter().map(part);
        Ok(explained(parts.collect::<Result<_, Error>>()?))
    }
}

/// The part of the CPU.
fn on_cpu(task: &Task, count: usize, mut why: Vec<String>) -> Part {
    let cpu = Cpu::current();
    let path = cpu.path().name();
    why.push(format!(
        "thresholds: those of the CPU's path {path}, which `bigint tune` measures"
    ));
    let algorithm = match task {
        Task::Job(job) => job.options.algorithm_for(job.operation),
        Task::Program(program, _) => program.algorithm,
        Task::Gather(_) => Algorithm::Auto,
        Task::Middle(middle) => middle.plan.algorithm(),
        Task::SumOfProducts(_) => Algorithm::Ntt,
        Task::Pair(_) => Algorithm::Fft,
        Task::Newton(_) | Task::Chain(_) => Algorithm::Auto,
    };
    Part {
        back_end: BackEnd::Cpu,
        count,
        algorithm,
        level: None,
        launches: format!("on {} threads", bigint_cpu::threads()),
        why,
    }
}

/// The part of a device.
fn on_device(
    back_end: BackEnd,
    job: Job,
    count: usize,
    chosen: &Chosen,
    mut why: Vec<String>,
) -> Part {
    let operation = chosen.launches.operation;
    if let Some(reason) = chosen.operation {
        why.push(format!(
            "as {} in place of {}: {reason}",
            operation.name(),
            job.operation.name()
        ));
    }
    why.push(format!("level: {}", chosen.level));
    if let Some(lanes) = chosen.lanes {
        why.push(format!("lanes: {lanes}"));
    }
    let (algorithm, level, launches) = match chosen.launches.by {
        By::Kernel(kernel, launch) => {
            let (grid, block) = (launch.grid, launch.block);
            let (name, lanes) = (kernel.name, kernel.lanes);
            let words = format!("{name}, {lanes} lanes, {grid} blocks of {block} threads");
            (kernel.algorithm, kernel.level, words)
        }
        By::Residues(Residues { plan, scans, .. }, ..) => {
            let words = format!("{} primes of each of two bases", plan.channels());
            let algorithm = match scans {
                true => Algorithm::Rns,
                false => Algorithm::RnsVartime,
            };
            (algorithm, Level::Grid, words)
        }
        By::Montgomery(Montgomery {
            scans,
            product,
            rings,
            ..
        }) => {
            let products = match product {
                Multiplier::Kernel(kernel, _) => kernel.name,
                Multiplier::Transform(transform) => transform.algorithm().name(),
            };
            let words = match rings {
                None => format!("Montgomery products by {products}"),
                Some(plan) => format!("Montgomery products in two rings of {} limbs", plan.limbs()),
            };
            let algorithm = match (operation.is_power(), scans) {
                (false, _) => Algorithm::Cios,
                (true, true) => Algorithm::Window,
                (true, false) => Algorithm::WindowVartime,
            };
            (algorithm, Level::Grid, words)
        }
        By::Transform(transform) => {
            let words = match transform {
                Transform::Fft(plan) => format!("a transform of {} digits", plan.length()),
                Transform::Ntt(plan) => format!("a transform of {} limbs", plan.length()),
                Transform::Pieces(pieces) => {
                    format!("transforms of {} limbs in all", pieces.transformed)
                }
            };
            (transform.algorithm(), Level::Grid, words)
        }
    };
    Part {
        back_end,
        count,
        algorithm,
        level: Some(level),
        launches,
        why,
    }
}
