//! The choice of what computes a job: from operation, widths and count to the CPU, or to launches
//! on a device.
//!
//! Read it downwards. [`who`] says whether the CPU, the devices, or a whole product and a pass over
//! it compute a job. [`launches`] then says for a device's share: a square or a product
//! ([`Tuning::squares`]), the whole device or a kernel ([`Tuning::transform`] in `products.rs`),
//! and by a kernel its level, lanes, algorithm and layout ([`Tuning::kernel`] in `kernels.rs`),
//! then grid and block. All are functions of lengths and thresholds alone; each answer comes with
//! [`Why`].
//!
//! Whether devices are ready, and worth their start, is [`crate::plan::readiness`]; it depends on
//! the moment.

use crate::common::device::Abilities;
use crate::common::job::{Job, Wanted};
use crate::common::program::Program;
use crate::device::launches::{By, Launches, Multiplier};
use crate::device::transform::Transform;
use crate::plan::powers;
use crate::plan::why::Why;
use crate::tuning::decimals::DecimalsTuning;
use crate::tuning::gpu::EuclidTuning;
use crate::values::node::Operands;
use crate::{Error, Options, Tuning};
use bigint_core::fused::{FusedKernel, MOST_INPUTS, MOST_STEPS};
use bigint_core::kernel::WIDEST_MODULUS;
use bigint_core::operation::Cost;
use bigint_core::transform::rings::RingPlan;
use bigint_core::{Algorithm, Kernel, Layout, Level, MAX_WIDTH, Operation, Shape, WIDEST_COUNTED};
use std::sync::Arc;

/// The properties of a job's operands on which choices depend.
pub(crate) struct Inputs {
    shapes: Vec<Shape>,
    /// Whether there are two operands and both are one batch.
    are_one: bool,
    /// Of how many operands, which differ, products keep the transform.
    kept: usize,
    /// Whether what is computed with may be secret.
    are_secrets: bool,
}

impl Inputs {
    pub fn of(operands: Operands<'_>) -> Self {
        let are_one = matches!(operands, [a, b] if Arc::ptr_eq(a, b));
        let kept = operands.iter().filter(|operand| operand.kept().is_some());
        Inputs {
            shapes: operands.iter().map(|operand| operand.shape).collect(),
            are_one,
            kept: if are_one { 0 } else { kept.count() },
            are_secrets: operands
                .iter()
                .any(|operand| operand.engine.pool.is_for_secrets()),
        }
    }

    /// Of different operands of these shapes.
    pub fn of_shapes(shapes: Vec<Shape>) -> Self {
        Inputs {
            shapes,
            are_one: false,
            kept: 0,
            are_secrets: false,
        }
    }

    /// Whether Montgomery products modulo the last operand are [made of
    /// products](crate::device::montgomery): it is wider than kernels hold, and no secret.
    pub fn is_modulus_wide(&self, tuning: &Tuning) -> Why {
        let limbs = self.shapes.last().map_or(0, |shape| shape.width);
        let (key, limit) = (
            "modular.products_min_width",
            tuning.modular.products_min_width,
        );
        match self.are_secrets {
            true => Why::AtMost {
                limbs: 1,
                key: "secrets",
                limit: 0,
            },
            false => Why::AtLeast { limbs, key, limit },
        }
    }

    /// The [two rings](bigint_core::transform::rings) in which a block computes powers modulo the last operand: it is wide,
    /// bases are no wider than the rings, and nothing is secret.
    pub fn rings(&self, tuning: &Tuning, device: Abilities, job: Job) -> Option<(RingPlan, Why)> {
        let bases = match job.operation.cost() {
            Cost::Power => 1,
            Cost::PairOfPowers => 2,
            _ => return None,
        };
        let is_auto = matches!(
            job.options.algorithm,
            Algorithm::Auto | Algorithm::AutoVartime
        );
        let width = self.width(2);
        let plan = RingPlan::of(width.max(self.width(0).div_ceil(bases)))?;
        let fits = plan.shared_bytes() <= device.shared_bytes;
        let why = Why::AtLeast {
            limbs: width,
            key: "modular.rings_min_width",
            limit: tuning.modular.rings_min_width,
        };
        let is_open = is_auto && !self.are_secrets && fits && why.holds();
        is_open.then_some((plan, why))
    }

    /// The width of an operand; zero where there is no such operand.
    pub fn width(&self, index: usize) -> usize {
        self.shapes.get(index).map_or(0, |shape| shape.width)
    }
}

/// The back end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Cpu,
    Devices,
    /// Devices, by the whole product of the operands and a pass over it.
    WholeProduct,
}

/// Chooses the back end of a job, where open devices have `shared_bytes` bytes of shared memory for
/// a block, or where none is open. An engine that [may use the
/// CPU](crate::engine::inner::Resort::Always) uses it where it is faster, unless a level is forced.
pub(crate) fn who(
    tuning: &Tuning,
    may_use_cpu: bool,
    shared_bytes: Option<u32>,
    job: Job,
    inputs: &Inputs,
) -> (Who, Why) {
    if job.operation.declaration().rows.is_empty() {
        return (Who::Cpu, Why::Said("it has no kernels"));
    }
    let suits = match may_use_cpu && job.options.level.is_none() {
        true => suits_devices(tuning, shared_bytes, job.operation, inputs),
        false => Why::Said("the engine is bound to devices, or a level is forced"),
    };
    if !suits.holds() {
        return (Who::Cpu, suits);
    }
    let (n, m) = (inputs.width(0), inputs.width(1));
    // The operations' own kernels are a thread's.
    let Options { level, lanes, .. } = job.options;
    let is_for_threads = level == Some(Level::Thread) || lanes == Some(1);
    if shared_bytes.is_none() || is_for_threads || !tuning.takes_whole_product(job.operation, n, m)
    {
        return (Who::Devices, suits);
    }
    if inputs.shapes.len() == 2 && n + m > WIDEST_COUNTED {
        return (Who::Cpu, Why::Said("no shift takes its whole product"));
    }
    let wide = Why::AtMost {
        limbs: n.max(m),
        key: "mul.columns_max_width",
        limit: tuning.mul.columns_max_width,
    };
    (Who::WholeProduct, wide)
}

/// Whether devices compute faster than the CPU. They do not where a product is wider than a block
/// multiplies well, a divisor wider than a thread holds, or a modulus wider than a warp holds.
fn suits_devices(
    tuning: &Tuning,
    shared_bytes: Option<u32>,
    operation: Operation,
    inputs: &Inputs,
) -> Why {
    let at_most = |limbs, key, limit| Why::AtMost { limbs, key, limit };
    let (n, m) = match inputs.shapes.len() {
        1 => (inputs.width(0), inputs.width(0)),
        _ => (inputs.width(0), inputs.width(1)),
    };
    if operation.multiplies_modulo() && !inputs.shapes.is_empty() {
        let width = inputs.width(inputs.shapes.len() - 1);
        if width > WIDEST_MODULUS && inputs.is_modulus_wide(tuning).holds() {
            let (key, limit) = (
                "modular.products_min_limbs",
                tuning.modular.products_min_limbs,
            );
            let limbs = width
                * inputs
                    .shapes
                    .iter()
                    .map(|shape| shape.count)
                    .max()
                    .unwrap_or(0);
            return Why::AtLeast { limbs, key, limit };
        }
        return at_most(width, "the widest modulus of a warp", WIDEST_MODULUS);
    }
    if operation.multiplies() {
        let limit = tuning.mul.device_max_width;
        let narrow = at_most(n.min(m), "mul.device_max_width", limit);
        let longest = tuning.mul.ntt.longest;
        let fits = |plan: Transform| shared_bytes.is_none_or(|bytes| plan.fits(bytes));
        let has_transform = || Transform::of(n, m, n.saturating_add(m), longest).any(fits);
        return match narrow.holds() || !has_transform() {
            true => narrow,
            false => Why::Said("the device has a transform for it"),
        };
    }
    let div = &tuning.div;
    match operation.cost() {
        Cost::Quotient if inputs.shapes.len() > 1 => {
            at_most(m, "div.device_max_width", div.device_max_width)
        }
        Cost::Radix => widest_of_thread(tuning, n),
        Cost::Root => at_most(
            n.max(m),
            "div.root_device_max_width",
            div.root_device_max_width,
        ),
        _ if operation.lanes(Level::Warp).is_empty() => at_most(
            n.max(m),
            "div.gcd_device_max_width",
            div.gcd_device_max_width,
        ),
        _ => Why::Said("devices compute it at any width"),
    }
}

/// Whether a quotient or a root is composed of products ([`crate::operations::newton`]): of numbers
/// wider than kernels hold, and, where the CPU may compute it instead, of so many limbs that it pays.
pub(crate) fn by_newton(tuning: &Tuning, may_use_cpu: bool, job: Job, operands: &[Shape]) -> Why {
    let at_least = |limbs, key, limit| Why::AtLeast { limbs, key, limit };
    let div = &tuning.div;
    let is_wide = match (job.operation.cost(), operands) {
        (Cost::Quotient, [_, b]) => at_least(
            b.width,
            "div.device_max_width + 1",
            div.device_max_width + 1,
        ),
        (Cost::Root, [a, ..]) => {
            let limit = div.root_device_max_width + 1;
            at_least(a.width, "div.root_device_max_width + 1", limit)
        }
        _ => at_least(0, "no step of Newton's computes it", 1),
    };
    let is_contiguous = operands
        .iter()
        .all(|shape| shape.layout == Layout::Contiguous);
    let is_open = job.options == Options::default();
    if !is_wide.holds() || !is_contiguous || !is_open {
        return at_least(
            0,
            "Newton's steps are for contiguous batches and nothing forced",
            1,
        );
    }
    let limbs = operands.iter().map(|shape| shape.width).max().unwrap_or(0) * job.count();
    match may_use_cpu {
        true => at_least(limbs, "div.newton_min_limbs", div.newton_min_limbs),
        false => is_wide,
    }
}

/// Whether Euclid's algorithm goes by halves, whose products devices make ([`crate::operations::euclid`]): of numbers so
/// wide that it pays, and, where the CPU may compute it instead, of so many limbs.
pub(crate) fn by_half_gcd(tuning: &Tuning, may_use_cpu: bool, job: Job, operands: &[Shape]) -> Why {
    let at_least = |limbs, key, limit| Why::AtLeast { limbs, key, limit };
    let is_contiguous = operands
        .iter()
        .all(|shape| shape.layout == Layout::Contiguous);
    let is_euclids = job.operation.cost() == Cost::Euclid && job.count() > 0;
    if !is_euclids || !is_contiguous || job.options != Options::default() {
        return at_least(0, "halves are for contiguous batches and nothing forced", 1);
    }
    let EuclidTuning {
        min_width,
        min_limbs,
        ..
    } = tuning.euclid;
    let narrowest = operands.iter().map(|shape| shape.width).min().unwrap_or(0);
    let of_all = if may_use_cpu {
        narrowest * job.count()
    } else {
        min_limbs
    };
    let (_, why) = Why::all([
        at_least(of_all, "euclid.min_limbs", min_limbs),
        at_least(narrowest, "euclid.min_width", min_width),
    ]);
    why
}

/// Who converts numbers to decimal digits, or digits to numbers ([`crate::operations::decimals`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Converter {
    Cpu,
    /// A thread of a device for each number.
    Threads,
    /// Products with powers of ten, on devices.
    Products,
}

/// Who converts so many numbers of so many limbs, where devices are open, and why.
pub(crate) fn converter(tuning: &Tuning, width: usize, count: usize) -> (Converter, Why) {
    let DecimalsTuning {
        min_width,
        min_limbs,
        thread_min_width,
        thread_min_count,
        ..
    } = tuning.decimals;
    let at_least = |limbs, key, limit| Why::AtLeast { limbs, key, limit };
    let of_all = width.saturating_mul(count);
    let (by_products, why_products) = Why::all([
        at_least(of_all, "decimals.min_limbs", min_limbs),
        at_least(width, "decimals.min_width", min_width),
        // Products of quotients and reciprocals are twice as long.
        Why::AtMost {
            limbs: width,
            key: "half the widest number",
            limit: MAX_WIDTH / 2,
        },
    ]);
    let (by_threads, why_threads) = Why::all([
        Why::Many {
            numbers: count,
            key: "decimals.thread_min_count",
            limit: thread_min_count,
        },
        at_least(width, "decimals.thread_min_width", thread_min_width),
        widest_of_thread(tuning, width),
    ]);
    match (by_products, by_threads) {
        (true, _) => (Converter::Products, why_products),
        (false, true) => (Converter::Threads, why_threads),
        (false, false) if width >= min_width => (Converter::Cpu, why_products),
        (false, false) => (Converter::Cpu, why_threads),
    }
}

/// Whether a number is as narrow as those that a thread converts.
fn widest_of_thread(tuning: &Tuning, limbs: usize) -> Why {
    Why::AtMost {
        limbs,
        key: "decimals.thread_max_width",
        limit: tuning.decimals.thread_max_width,
    }
}

/// Launches, with the reasons for the operation, if it is not the job's, for the level and for the
/// lanes.
pub(crate) struct Chosen {
    pub launches: Launches,
    pub operation: Option<Why>,
    pub level: Why,
    pub lanes: Option<Why>,
}

/// Chooses the launches by which a device computes a job.
///
/// # Errors
/// [`Error::Algorithm`] and others where the options name what the operation or the device does not
/// have.
pub(crate) fn launches(
    tuning: &Tuning,
    device: Abilities,
    job: Job,
    inputs: &Inputs,
) -> Result<Chosen, Error> {
    let shared_bytes = device.shared_bytes;
    let (job, operands, operation) = square_or_product(tuning, job, inputs);
    let widths: Vec<usize> = match operands {
        [] => inputs.shapes.iter().map(|shape| shape.width).collect(),
        _ => operands.iter().map(|&index| inputs.width(index)).collect(),
    };
    let of = |by| Launches {
        operation: job.operation,
        operands,
        by,
        is_for_widths: job.count() * widths.iter().sum::<usize>()
            >= tuning.mul.own_kernel_min_limbs,
    };
    let (n, m) = (widths.first(), widths.last());
    let [n, m] = [n, m].map(|width| width.copied().unwrap_or(0));
    let plan = tuning.transform(job, n, m, inputs.kept);
    if let Some((plan, level)) = plan.filter(|(plan, _)| plan.fits(shared_bytes)) {
        return Ok(Chosen {
            launches: of(By::Transform(plan)),
            operation,
            level,
            lanes: None,
        });
    }
    if let Some((products, level)) = powers::montgomery(tuning, device, job, inputs)? {
        return Ok(Chosen {
            launches: of(By::Montgomery(products)),
            operation,
            level,
            lanes: None,
        });
    }
    // Kernels of the interleaved layout take any strides, so they also serve operands of two
    // layouts.
    let mut shapes = inputs.shapes.iter().chain(job.shapes());
    let layout = match shapes.all(|shape| shape.layout == Layout::Contiguous) {
        true => Layout::Contiguous,
        false => Layout::Interleaved,
    };
    let result = job.shapes()[0];
    let shape = Shape { layout, ..result };
    let (kernel, level, lanes) =
        tuning.kernel_and_why(job.operation, &widths, shape, job.options, device)?;
    let kernel = fitting(kernel, shared_bytes);
    let launch = kernel.launch_within(job.count(), &widths, result.width, shared_bytes);
    if let Some((residues, level)) = powers::residues(tuning, device, job, &inputs.shapes)? {
        return Ok(Chosen {
            launches: of(By::Residues(residues, kernel, launch)),
            operation,
            level,
            lanes: None,
        });
    }
    Ok(Chosen {
        launches: of(By::Kernel(kernel, launch)),
        operation,
        level,
        lanes: Some(lanes),
    })
}

/// What computes an operation on `count` numbers of such widths anywhere in a device's memory: its kernel, or a transform.
///
/// # Errors
/// As for [`launches`].
pub(crate) fn multiplier(
    tuning: &Tuning,
    device: Abilities,
    options: Options,
    operation: Operation,
    (count, operands, result): (usize, &[usize], usize),
) -> Result<Multiplier, Error> {
    let shape = |&width: &usize| Shape::new(count, width, Layout::Contiguous);
    let shapes: Vec<Shape> = operands.iter().map(shape).collect();
    let job = Job::new(operation, &shapes, &[result], options, Wanted::Nothing)?;
    let Launches {
        by, is_for_widths, ..
    } = launches(tuning, device, job, &Inputs::of_shapes(shapes))?.launches;
    Ok(match by {
        By::Kernel(kernel, _) => Multiplier::Kernel(kernel, is_for_widths),
        By::Transform(transform) => Multiplier::Transform(transform),
        By::Residues(..) | By::Montgomery(_) => unreachable!("a product is by no others"),
    })
}

/// The kernel that computes a program on inputs of these shapes in one launch, if there is one and
/// it is faster than the steps one by one.
pub(crate) fn fused(
    tuning: &Tuning,
    program: &Program,
    mut inputs: impl ExactSizeIterator<Item = Shape>,
) -> Option<FusedKernel> {
    let (multiplies, widest) = (program.multiplies(), program.widest());
    let fits = program.steps.len() <= MOST_STEPS
        && inputs.len() <= MOST_INPUTS
        && inputs.all(|shape| shape.layout == Layout::Contiguous)
        && (!multiplies || widest <= tuning.fused.product_max_width);
    FusedKernel::of(multiplies, widest).filter(|_| fits)
}

/// The job as the operation whose kernels compute it, and the operands that these take. A batch
/// times itself is a square; where nothing is forced, widths and count decide whether the kernel of
/// squares or of products computes it.
fn square_or_product(
    tuning: &Tuning,
    job: Job,
    inputs: &Inputs,
) -> (Job, &'static [usize], Option<Why>) {
    let squares = tuning.squares(inputs.width(0), job.count());
    match job.operation {
        Operation::Mul
            if inputs.are_one && squares.holds() && job.leaves_open(Operation::Square) =>
        {
            (job.of(Operation::Square), &[0], Some(squares))
        }
        Operation::Square if !squares.holds() && job.leaves_open(Operation::Mul) => {
            (job.of(Operation::Mul), &[0, 0], Some(squares))
        }
        _ => (job, &[], None),
    }
}

/// The kernel, or the widest one like it whose blocks fit a device with so many bytes of shared
/// memory for each: with fewer threads it takes a product in smaller pieces.
fn fitting(kernel: &'static Kernel, shared_bytes: u32) -> &'static Kernel {
    let fits = |kernel: &Kernel| kernel.launch(1, &[1, 1], 2).shared_bytes <= shared_bytes;
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
    use crate::Options;
    use bigint_core::Algorithm;

    const SHARED_BYTES: u32 = 227 << 10;
    const DEVICE: Abilities = Abilities {
        shared_bytes: SHARED_BYTES,
        has_tensor_cores: true,
        has_warpgroups: true,
        multiprocessors: Some(132),
    };

    fn job(operation: Operation, count: usize, widths: &[usize]) -> (Job, Inputs) {
        let shape = |&width| Shape::new(count, width, Layout::Contiguous);
        let shapes: Vec<Shape> = widths.iter().map(shape).collect();
        let results = [operation.exact_width(widths)];
        let options = Options::default();
        let job = Job::new(operation, &shapes, &results, options, Wanted::Nothing);
        (job.unwrap(), Inputs::of_shapes(shapes))
    }

    #[test]
    fn a_device_with_little_shared_memory_takes_fewer_threads_for_a_product() {
        let kernel = |lanes| {
            let (algorithm, layout) = (Algorithm::Fft, Layout::Contiguous);
            Kernel::find(Operation::Mul, algorithm, Level::Block, lanes, layout).unwrap()
        };
        assert_eq!(fitting(kernel(1024), 99 << 10).lanes, 1024);
        assert_eq!(fitting(kernel(512), 64 << 10).lanes, 64);
    }

    #[test]
    fn the_cpu_has_what_devices_are_slow_at_unless_the_engine_is_bound_to_them() {
        let tuning = Tuning::default();
        let who = |operation, widths: &[usize], may_use_cpu| {
            let (job, inputs) = job(operation, 10, widths);
            who(&tuning, may_use_cpu, Some(SHARED_BYTES), job, &inputs).0
        };
        use Operation::{DivRem, Gcd, Isqrt, MontMul, Mul, MulHigh, PowMod};
        for (operation, widths, expected) in [
            (Mul, &[8192, 8192][..], Who::Devices),
            (Mul, &[100_000, 100_000], Who::Devices),
            (MulHigh, &[12, 12], Who::Devices),
            (MulHigh, &[13, 13], Who::WholeProduct),
            (DivRem, &[2000, 512], Who::Devices),
            (DivRem, &[2000, 513], Who::Cpu),
            (Gcd, &[128, 128], Who::Devices),
            (Gcd, &[129, 1], Who::Cpu),
            (Isqrt, &[512], Who::Devices),
            (Isqrt, &[513], Who::Cpu),
            (PowMod, &[512, 1, 512], Who::Devices),
            // So few limbs of moduli do not fill a device with products.
            (PowMod, &[600, 1, 600], Who::Cpu),
            (PowMod, &[4000, 1, 4000], Who::Devices),
            (MontMul, &[4000, 4000, 4000], Who::Devices),
        ] {
            assert_eq!(
                who(operation, widths, true),
                expected,
                "{operation:?} {widths:?}"
            );
        }
        assert_eq!(who(Gcd, &[129, 1], false), Who::Devices);
    }

    #[test]
    fn a_product_by_itself_is_a_square_where_that_is_faster() {
        let tuning = Tuning::default();
        let operation = |operation, widths: &[usize], are_one| {
            let (job, inputs) = job(operation, 1000, widths);
            let inputs = Inputs { are_one, ..inputs };
            let chosen = launches(&tuning, DEVICE, job, &inputs).unwrap();
            (chosen.launches.operation, chosen.launches.operands)
        };
        let (mul, square): (_, &[usize]) = (Operation::Mul, &[0]);
        assert_eq!(operation(mul, &[64, 64], true), (Operation::Square, square));
        assert_eq!(operation(mul, &[64, 64], false), (mul, &[][..]));
        assert_eq!(operation(mul, &[8, 8], true), (mul, &[][..]));
        assert_eq!(
            operation(Operation::Square, &[8], false),
            (mul, &[0, 0][..])
        );
    }

    #[test]
    fn many_numbers_are_converted_by_threads_and_long_ones_by_products() {
        let tuning = Tuning::default();
        let converter = |width, count| converter(&tuning, width, count).0;
        assert_eq!(converter(64, 4096), Converter::Threads);
        assert_eq!(converter(4096, 4096), Converter::Products);
        assert_eq!(converter(1024, 4096), Converter::Threads);
        assert_eq!(converter(1 << 21, 1), Converter::Products);
        assert_eq!(converter(MAX_WIDTH / 2, 1), Converter::Products);
        for (width, count) in [
            (63, 1 << 30),
            (64, 4095),
            (1025, 4096),
            (4096, 511),
            (MAX_WIDTH / 2 + 1, 9),
        ] {
            assert_eq!(converter(width, count), Converter::Cpu, "{width} {count}");
        }
    }
}
