//! The choice of a kernel for one launch: level, lanes, algorithm, layout.

use crate::common::device::Abilities;
use crate::plan::why::Why;
use crate::tuning::gpu::{FewTuning, LanesTuning};
use crate::{Error, Options, Tuning};
use bigint_core::kernel::{
    DIVISOR_IN_REGISTERS, LANES, SQUARE_DIGIT, WIDEST_MODULUS, is_in_strips, placed_width,
    slot_fours,
};
use bigint_core::operation::Cost;
use bigint_core::{Algorithm, Kernel, Layout, Level, Operation, Shape};

/// An operation, the widths of its operands, of which the first two have `n` and `m` limbs, and its results' shape.
pub(super) struct Sized<'a> {
    pub(super) operation: Operation,
    pub(super) widths: &'a [usize],
    n: usize,
    m: usize,
    pub(super) shape: Shape,
}

/// A kernel with the reasons for its level and its lanes.
type KernelAndWhy = (&'static Kernel, Why, Why);

impl Tuning {
    /// The kernel for operands of these widths in limbs and results of this shape, as far
    /// as `options` leave the choice, on a device that has all that kernels need. A kernel of the interleaved layout takes any.
    ///
    /// # Errors
    /// [`Error::Algorithm`] where `options` name what the operation does not have.
    pub fn kernel(
        &self,
        operation: Operation,
        widths: &[usize],
        shape: Shape,
        options: Options,
    ) -> Result<&'static Kernel, Error> {
        let device = Abilities {
            shared_bytes: u32::MAX,
            has_tensor_cores: true,
            has_warpgroups: false,
            multiprocessors: None,
        };
        let chosen = self.kernel_and_why(operation, widths, shape, options, device);
        chosen.map(|(kernel, ..)| kernel)
    }

    /// [`Tuning::kernel`] on a device, with the reasons for level and lanes.
    pub(crate) fn kernel_and_why(
        &self,
        operation: Operation,
        widths: &[usize],
        shape: Shape,
        options: Options,
        device: Abilities,
    ) -> Result<KernelAndWhy, Error> {
        check_lanes(options)?;
        if operation.multiplies_modulo() {
            return self.kernel_of_modulus(operation, widths, shape, options);
        }
        if matches!(
            operation.cost(),
            Cost::Quotient | Cost::Root | Cost::Divsteps
        ) {
            return self.kernel_of_divisor(operation, widths, shape.layout, options);
        }
        let (n, m) = match widths {
            [n, m, ..] => (*n, *m),
            [n] => (*n, *n),
            [] => (0, 0),
        };
        let of = Sized {
            operation,
            widths,
            n,
            m,
            shape,
        };
        let is_open = (options.level, options.lanes) == (None, None)
            && options.algorithm_for(operation) == Algorithm::Auto;
        if device.has_tensor_cores
            && is_open
            && let Some((kernel, why)) = self.by_toeplitz(&of)
        {
            const ONLY: Why = Why::Said("there is one number of lanes");
            return Ok((kernel, why, ONLY));
        }
        let (level, why) = self.level(&of, options);
        let algorithm = match options.algorithm_for(operation) {
            Algorithm::Auto => self.algorithm(operation, (n, m), level),
            Algorithm::Toeplitz if !device.has_tensor_cores => {
                return Err(Error::NoTensorCores { operation });
            }
            named => named,
        };
        let (lanes, why_lanes) = self.lanes(&of, algorithm, level, options);
        // Contiguous numbers that fill no slots go by way of shared memory, which the kernel of
        // any layout has.
        let fills_slots = slot_fours(Algorithm::School, n, m, shape.width) > 0;
        let layout = match (operation, algorithm, level) {
            (Operation::Mul, Algorithm::School, Level::Thread)
                if self.placed(&of).is_some_and(|why| why.holds()) && !fills_slots =>
            {
                Layout::Interleaved
            }
            _ => shape.layout,
        };
        match Kernel::find(operation, algorithm, level, lanes, layout) {
            Some(kernel) => Ok((kernel, why, why_lanes)),
            None => Err(Error::Algorithm {
                operation,
                algorithm,
            }),
        }
    }

    /// The kernel by Toeplitz matrices, where it takes less time than others: than lanes by rows, and not
    /// where a thread multiplies, or lanes square.
    fn by_toeplitz(&self, of: &Sized<'_>) -> Option<(&'static Kernel, Why)> {
        let &Sized {
            operation, n, m, ..
        } = of;
        let by_lanes = match operation {
            Operation::Mul => !self.thread(of).0,
            Operation::Square => n > self.mul.square_lanes_max_width,
            _ => false,
        };
        let why = self.toeplitz_or_others(operation, [n, m], of.shape.count)?;
        // Of narrower interleaved numbers a warp moves six times the fewest sectors.
        if !by_lanes || !why.holds() || of.shape.layout == Layout::Interleaved && n.max(m) <= 64 {
            return None;
        }
        let (algorithm, level) = (Algorithm::Toeplitz, Level::Warp);
        let kernel = Kernel::find(operation, algorithm, level, 32, of.shape.layout)?;
        Some((kernel, why))
    }

    /// The level: whether a thread, a warp or a block computes a number.
    fn level(&self, of: &Sized<'_>, options: Options) -> (Level, Why) {
        let operation = of.operation;
        let forced = options.level;
        if let Some(level) = forced.filter(|level| !operation.lanes(*level).is_empty()) {
            return (level, Why::Forced);
        }
        let (level, why) = self.level_for_lanes(of, options.lanes);
        // A named algorithm may be at one level only.
        let named = options.algorithm_for(operation);
        let has = |level: &Level| operation.algorithms(*level).any(|one| one == named);
        match named {
            Algorithm::Auto => (level, why),
            _ if has(&level) => (level, why),
            _ => {
                let level = Level::ALL.into_iter().rfind(has).unwrap_or(level);
                (level, Why::Said("the named algorithm is at this level"))
            }
        }
    }

    /// The level where nothing but a number of lanes may be forced.
    fn level_for_lanes(&self, of: &Sized<'_>, lanes: Option<u32>) -> (Level, Why) {
        const ONLY: Why = Why::Said("its kernels are at this level alone");
        let operation = of.operation;
        if operation.lanes(Level::Warp).is_empty() {
            return (Level::Thread, ONLY);
        }
        if operation.lanes(Level::Thread).is_empty() {
            return (Level::Warp, ONLY);
        }
        match lanes {
            Some(lanes) if lanes > 32 && !operation.lanes(Level::Block).is_empty() => {
                return (Level::Block, Why::Forced);
            }
            Some(lanes) if lanes > 1 => return (Level::Warp, Why::Forced),
            Some(_) => return (Level::Thread, Why::Forced),
            None => {}
        }
        let by_transform = self.blocks_or_rows(operation, of.n, of.m);
        if operation.has(Algorithm::Fft) && by_transform.holds() {
            return (Level::Block, by_transform);
        }
        match self.thread(of) {
            (true, why) => (Level::Thread, why),
            (false, why) => (Level::Warp, why),
        }
    }

    /// Whether each thread computes a number, or the lanes of a warp share one.
    fn thread(&self, of: &Sized<'_>) -> (bool, Why) {
        let &Sized { operation, .. } = of;
        let Shape { width, layout, .. } = of.shape;
        let is_contiguous = layout == Layout::Contiguous;
        let widest = of.n.max(of.m);
        let at_most = |limbs, key, limit| Why::AtMost { limbs, key, limit };
        let or_not = |why: Why| (why.holds(), why);
        let fills = Why::Many {
            numbers: of.shape.count,
            key: "add.interleaved_thread_min_count",
            limit: self.add.interleaved_thread_min_count,
        };
        let product = at_most(widest, "mul.thread_max_width", self.mul.thread_max_width);
        match operation {
            Operation::Mul => {
                if let Some(placed) = self.placed(of).filter(Why::holds) {
                    return (true, placed);
                }
                if is_contiguous || product.holds() {
                    return or_not(product);
                }
                // Lanes would touch a line of memory for each limb, which only products wide
                // enough to be busy multiplying can afford.
                let limit = self.mul.comba_max_width_thread;
                let narrow = at_most(of.n.min(of.m), "mul.comba_max_width_thread", limit);
                Why::all([narrow, fills])
            }
            Operation::Square => or_not(at_most(of.n, "the limbs of a thread", SQUARE_DIGIT)),
            _ if operation.multiplies() => match is_contiguous || product.holds() {
                true => or_not(product),
                false => or_not(fills),
            },
            _ if operation.has(Algorithm::Limbwise) => {
                let limbwise = &self.limbwise;
                let (key, limit) = match operation.guide() {
                    Some(_) => (
                        "limbwise.interleaved_thread_min_told_width",
                        limbwise.interleaved_thread_min_told_width,
                    ),
                    None => (
                        "limbwise.interleaved_thread_min_width",
                        limbwise.interleaved_thread_min_width,
                    ),
                };
                let limbs = width;
                match is_contiguous {
                    true => (false, Why::Said("warps take neighbouring words")),
                    false => Why::all([Why::AtLeast { limbs, key, limit }, fills]),
                }
            }
            _ if is_contiguous && operation.has(Algorithm::Scan) => {
                let narrow = at_most(widest, "scan.thread_max_width", self.scan.thread_max_width);
                match narrow.holds() || !is_in_strips(operation, of.widths, width) {
                    true => or_not(narrow),
                    false => (true, Why::Said("strips of shared memory hold the numbers")),
                }
            }
            _ if is_contiguous => or_not(at_most(
                width,
                "add.thread_max_width",
                self.add.thread_max_width,
            )),
            _ => or_not(fills),
        }
    }

    /// The number of lanes that share a number, for an algorithm at a level.
    fn lanes(
        &self,
        of: &Sized<'_>,
        algorithm: Algorithm,
        level: Level,
        options: Options,
    ) -> (u32, Why) {
        let operation = of.operation;
        let known = match operation.lanes_by(algorithm, level, of.shape.layout) {
            [only] => return (*only, Why::Said("there is one number of lanes")),
            known => known,
        };
        if let Some(lanes) = options.lanes.filter(|lanes| known.contains(lanes)) {
            return (lanes, Why::Forced);
        }
        if algorithm == Algorithm::Scan {
            return self.lanes_that_hold(known, of);
        }
        if level == Level::Block {
            let lanes = self.blocks(operation, of.n, of.m).lanes;
            return (lanes, Why::Said("the least time by mul.fft"));
        }
        if operation == Operation::Square {
            let holds = |lanes: &&u32| of.n <= SQUARE_DIGIT * **lanes as usize;
            let lanes = known.iter().find(holds).copied().unwrap_or(32);
            return (lanes, Why::Said("the fewest that hold the number"));
        }
        let (limbs, rows) = (of.n.max(of.m), &self.mul.lanes);
        let row = rows.iter().find(|row| limbs <= row.max_width);
        of_row(row.or(rows.last()), "mul.lanes", limbs)
    }

    /// The kernel for a division, a root or an inverse by division steps: a thread, or lanes whose registers hold numbers.
    fn kernel_of_divisor(
        &self,
        operation: Operation,
        widths: &[usize],
        layout: Layout,
        options: Options,
    ) -> Result<KernelAndWhy, Error> {
        let (div, is_by_steps) = (&self.div, operation.cost() == Cost::Divsteps);
        let (width, algorithm) = match (is_by_steps, options.algorithm_for(operation)) {
            (false, _) => (widths.last(), Algorithm::School),
            (true, Algorithm::Auto) => (widths.iter().max(), Algorithm::Divsteps),
            (true, named) => (widths.iter().max(), named),
        };
        let width = width.copied().unwrap_or(0);
        let is_near = layout == Layout::Contiguous || width > DIVISOR_IN_REGISTERS;
        let max_width = usize::MAX;
        let [thread, pair] = [1, 2].map(|lanes| [LanesTuning { max_width, lanes }]);
        let (key, limit) = match is_by_steps {
            true => ("div.steps_thread_max_width", div.steps_thread_max_width),
            false => ("div.root_thread_max_width", div.root_thread_max_width),
        };
        let limbs = width;
        let by_one = Why::AtMost { limbs, key, limit };
        let (rows, level): (&[_], _) = match operation.cost() {
            Cost::Root | Cost::Divsteps if by_one.holds() => (&thread, Some(by_one)),
            Cost::Root | Cost::Divsteps => (&pair, Some(by_one)),
            _ if is_near => (&div.lanes, None),
            _ => (&thread, Some(Why::Said("a thread holds the divisor"))),
        };
        let (fewest, why) = fewest_lanes(options, ("div.lanes", rows), width);
        let of_lanes = |fewest| of_registers(operation, algorithm, widths, layout, fewest);
        match of_lanes(fewest).or_else(|| of_lanes(1)) {
            Some(kernel) => Ok((kernel, level.unwrap_or(why), why)),
            None => Err(Error::Algorithm {
                operation,
                algorithm,
            }),
        }
    }

    /// The kernel for arithmetic modulo a number, which its registers must hold: the forced
    /// one or, where that does not, the next that does.
    fn kernel_of_modulus(
        &self,
        operation: Operation,
        widths: &[usize],
        shape: Shape,
        options: Options,
    ) -> Result<KernelAndWhy, Error> {
        let width = widths.last().copied().unwrap_or(0);
        let named = options.algorithm_for(operation);
        // What residue number systems refuse has a kernel of its own level.
        let options = match named {
            Algorithm::Rns | Algorithm::RnsVartime => Options::default(),
            _ => options,
        };
        let algorithm = match named {
            Algorithm::RnsVartime => Algorithm::WindowVartime,
            Algorithm::Auto | Algorithm::Rns => {
                operation.algorithms(Level::Warp).next().unwrap_or_default()
            }
            named => named,
        };
        let modular = &self.modular;
        let (key, rows) = match algorithm {
            Algorithm::Window if operation.cost() == Cost::PowerByTable => {
                ("modular.table_lanes", &modular.table_lanes)
            }
            Algorithm::Window => ("modular.scan_lanes", &modular.scan_lanes),
            _ => ("modular.lanes", &modular.lanes),
        };
        let (mut fewest, mut why) = fewest_lanes(options, (key, rows), width);
        let is_open = (options.level, options.lanes) == (None, None);
        if is_open && matches!(operation.cost(), Cost::Power | Cost::PairOfPowers) {
            let of_many = fewest;
            fewest = modular.few.lanes(of_many, width, shape.count);
            if fewest > of_many {
                why = Why::Said("few numbers have more lanes each, by modular.few");
            }
        }
        let kernel = of_registers(operation, algorithm, widths, shape.layout, fewest);
        kernel.map(|kernel| (kernel, why, why)).ok_or_else(|| {
            // There is code for powers modulo numbers twice as wide.
            let holds = |width: &usize| {
                let mut kernels = Kernel::ALL.iter();
                kernels.any(|kernel| kernel.operation == operation && kernel.takes(&[*width]))
            };
            let most = Some(2 * WIDEST_MODULUS).filter(holds);
            Error::ModulusWidth {
                operation,
                width,
                most: most.unwrap_or(WIDEST_MODULUS),
            }
        })
    }

    /// Whether threads that multiply by rows have both operands in shared memory; `None` where
    /// these do not fit.
    fn placed(&self, of: &Sized<'_>) -> Option<Why> {
        let &Sized { n, m, .. } = of;
        let Shape {
            count,
            width,
            layout,
        } = of.shape;
        let are_fours = layout == Layout::Contiguous && (n | m | width).is_multiple_of(4);
        let mul = &self.mul;
        let (key, limit) = match count >= mul.thread_many_min_count {
            true if are_fours => (
                "mul.thread_many_fours_max_width",
                mul.thread_many_fours_max_width,
            ),
            true => ("mul.thread_many_max_width", mul.thread_many_max_width),
            false => ("mul.thread_placed_max_width", mul.thread_placed_max_width),
        };
        let limbs = n.max(m);
        (placed_width(n, m, width) > 0).then_some(Why::AtMost { limbs, key, limit })
    }

    fn algorithm(&self, operation: Operation, (n, m): (usize, usize), level: Level) -> Algorithm {
        let (narrower, wider) = (n.min(m), n.max(m));
        match (operation, level) {
            (Operation::Mul, Level::Thread) if narrower >= self.mul.karatsuba_min_width_thread => {
                Algorithm::Karatsuba
            }
            (Operation::Mul, Level::Warp) if narrower >= self.mul.karatsuba_min_width_warp => {
                Algorithm::Karatsuba
            }
            (Operation::Mul, Level::Thread) if wider <= self.mul.comba_max_width_thread => {
                Algorithm::Comba
            }
            // Rows stand in registers, and chains of carries run along them.
            (Operation::Mul, Level::Thread | Level::Warp) => Algorithm::School,
            _ if operation.has(Algorithm::LehmerWords) && wider <= self.div.words_max_width => {
                Algorithm::LehmerWords
            }
            // The others have one at each level.
            _ => operation.algorithms(level).next().unwrap_or_default(),
        }
    }
}

impl FewTuning {
    /// The lanes for each of `count` numbers of `width` limbs, of which many have so many.
    fn lanes(&self, of_many: u32, width: usize, count: usize) -> u32 {
        let mut lanes = of_many;
        let fits = |lanes: u32| {
            width >= self.limbs_of_lane * lanes as usize
                && count.saturating_mul(lanes as usize) <= self.most_lanes
        };
        while width >= self.min_width && lanes < 32 && fits(2 * lanes) {
            lanes *= 2;
        }
        lanes
    }
}

/// The lanes in a row of a table; 32 where there is no row.
fn of_row(row: Option<&LanesTuning>, key: &'static str, limbs: usize) -> (u32, Why) {
    match row {
        Some(row) => {
            let limit = row.max_width;
            (row.lanes, Why::AtMost { limbs, key, limit })
        }
        None => (32, Why::Said("more limbs than the table has")),
    }
}

/// The fewest lanes for a modulus or divisor of `width` limbs, by `options` or the tuned rows.
fn fewest_lanes(
    options: Options,
    (key, rows): (&'static str, &[LanesTuning]),
    width: usize,
) -> (u32, Why) {
    let (tuned, why) = of_row(rows.iter().find(|row| width <= row.max_width), key, width);
    match (options.level, options.lanes) {
        (Some(Level::Thread), _) => (1, Why::Forced),
        (_, Some(lanes)) => (lanes, Why::Forced),
        (None, None) => (tuned, why),
        (Some(_), None) => (tuned.max(4), Why::Forced),
    }
}

/// The kernel with the fewest lanes, at least `fewest`, that has its last operand in registers.
fn of_registers(
    operation: Operation,
    algorithm: Algorithm,
    widths: &[usize],
    layout: Layout,
    fewest: u32,
) -> Option<&'static Kernel> {
    let mut kernels = Kernel::ALL.iter().filter(|kernel| {
        (kernel.operation, kernel.algorithm) == (operation, algorithm) && kernel.serves(layout)
    });
    kernels.find(|kernel| kernel.lanes >= fewest && kernel.takes(widths))
}

/// Refuses a number of lanes that no kernel has.
fn check_lanes(options: Options) -> Result<(), Error> {
    match options.lanes {
        Some(lanes) if lanes != 1 && !LANES.contains(&lanes) => Err(Error::Lanes { lanes }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_finds_a_kernel_for_every_size() {
        let tuning = Tuning::default();
        let has_kernels = |operation: &Operation| !operation.declaration().rows.is_empty();
        for operation in Operation::ALL.into_iter().filter(has_kernels) {
            for layout in Layout::ALL {
                for width in [1, 2, 8, 9, 16, 17, 32, 33, 64, 65, 1024, 1 << 20] {
                    for count in [1, 1 << 20] {
                        let shape = Shape::new(count, width, layout);
                        let operands = operation.declaration().operands.len();
                        let widths = &[width, 1, 1][..operands];
                        let kernel = tuning
                            .kernel(operation, widths, shape, Options::default())
                            .unwrap();
                        assert_eq!(kernel.operation, operation);
                        assert!([layout, Layout::Interleaved].contains(&kernel.layout));
                    }
                }
            }
        }
    }

    #[test]
    fn bits_of_many_wide_interleaved_numbers_are_for_threads_and_all_others_for_warps() {
        let tuning = Tuning::default();
        let level = |count, width, layout| {
            let shape = Shape::new(count, width, layout);
            let kernel = tuning.kernel(Operation::Xor, &[width; 2], shape, Options::default());
            kernel.unwrap().level
        };
        assert_eq!(level(1 << 20, 32, Layout::Interleaved), Level::Thread);
        assert_eq!(level(1 << 20, 1, Layout::Interleaved), Level::Warp);
        assert_eq!(level(100, 32, Layout::Interleaved), Level::Warp);
        assert_eq!(level(1 << 20, 32, Layout::Contiguous), Level::Warp);
    }

    #[test]
    fn lanes_forced_for_products_leave_sums_alone() {
        let tuning = Tuning::default();
        let options = Options {
            lanes: Some(8),
            ..Options::default()
        };
        let shape = Shape::new(100, 64, Layout::Contiguous);
        let lanes = |operation| {
            let kernel = tuning.kernel(operation, &[32, 32], shape, options);
            kernel.unwrap().lanes
        };
        assert_eq!(lanes(Operation::Mul), 8);
        assert_eq!(lanes(Operation::Add), 32);
        assert_eq!(lanes(Operation::Sub), 32);
        assert_eq!(lanes(Operation::Xor), 32);
        assert_eq!(lanes(Operation::Compare), 8);
    }

    #[test]
    fn threads_take_wider_products_only_where_they_come_through_shared_memory() {
        let tuning = Tuning::default();
        let level = |count, n, m, layout| {
            let shape = Shape::new(count, n + m, layout);
            let kernel = tuning.kernel(Operation::Mul, &[n, m], shape, Options::default());
            kernel.unwrap().level
        };
        for layout in Layout::ALL {
            for count in [1000, 1 << 20] {
                assert_eq!(level(count, 32, 32, layout), Level::Thread);
                assert_eq!(level(count, 32, 17, layout), Level::Thread);
                assert_eq!(level(count, 32, 16, layout), Level::Warp);
                assert_eq!(level(count, 49, 48, layout), Level::Warp);
            }
            assert_eq!(level(1000, 33, 33, layout), Level::Warp);
            assert_eq!(level(1 << 20, 33, 33, layout), Level::Thread);
            assert_eq!(level(1 << 20, 40, 40, layout), Level::Thread);
            assert_eq!(level(1 << 20, 45, 48, layout), Level::Thread);
        }
        // Lanes move limbs of these four at a time.
        assert_eq!(level(1 << 20, 48, 44, Layout::Contiguous), Level::Warp);
        assert_eq!(level(1 << 20, 48, 44, Layout::Interleaved), Level::Thread);
    }

    #[test]
    fn lanes_that_cannot_share_a_number_are_refused_by_number() {
        let options = Options {
            lanes: Some(3),
            ..Options::default()
        };
        let shape = Shape::new(64, 64, Layout::Contiguous);
        for operation in Operation::ALL {
            let refused = Tuning::default().kernel(operation, &[32, 32], shape, options);
            assert!(refused.unwrap_err().to_string().starts_with("3 lanes"));
        }
    }

    #[test]
    fn threads_take_many_interleaved_products_by_narrow_numbers() {
        let tuning = Tuning::default();
        let level = |m, count| {
            let shape = Shape::new(count, 64 + m, Layout::Interleaved);
            let kernel = tuning.kernel(Operation::Mul, &[64, m], shape, Options::default());
            kernel.unwrap().level
        };
        assert_eq!(level(1, 1 << 20), Level::Thread);
        assert_eq!(level(1, 100), Level::Warp);
        assert_eq!(level(64, 1 << 20), Level::Warp);
    }

    #[test]
    fn wide_products_are_for_blocks_with_as_many_threads_as_are_fastest() {
        let tuning = Tuning::default();
        let kernel = |n, m| {
            let shape = Shape::new(1000, n + m, Layout::Contiguous);
            let kernel = tuning.kernel(Operation::Mul, &[n, m], shape, Options::default());
            let kernel = kernel.unwrap();
            (kernel.algorithm, kernel.lanes)
        };
        assert_eq!(kernel(1023, 1023), (Algorithm::Fft, 128));
        assert_eq!(kernel(1024, 1024), (Algorithm::Fft, 128));
        assert_eq!(kernel(4096, 4096), (Algorithm::Fft, 512));
        // Sixteen short transforms in place of one long one.
        assert_eq!(kernel(4096, 256), (Algorithm::Fft, 32));
        assert_eq!(kernel(4096, 16).0, Algorithm::School);
    }

    #[test]
    fn squares_are_for_threads_then_for_as_few_lanes_as_have_a_digit_each_then_for_transforms() {
        let tuning = Tuning::default();
        let choice = |n| {
            let shape = Shape::new(1000, 2 * n, Layout::Contiguous);
            let kernel = tuning.kernel(Operation::Square, &[n], shape, Options::default());
            let kernel = kernel.unwrap();
            (kernel.level, kernel.lanes)
        };
        assert_eq!(choice(32), (Level::Thread, 1));
        assert_eq!(choice(33), (Level::Warp, 2));
        assert_eq!(choice(64), (Level::Warp, 2));
        assert_eq!([65, 128, 256].map(choice), [(Level::Warp, 32); 3]);
        assert_eq!(choice(512), (Level::Block, 64));
        assert_eq!(choice(4096), (Level::Block, 512));
        let squares = |count| [23, 24, 32, 33, 64].map(|n| tuning.squares(n, count).holds());
        assert_eq!(squares(1000), [false, false, false, true, true]);
        assert_eq!(squares(1 << 20), [false, true, true, true, true]);
        // Up to 129 limbs products take less: four lanes take as long for 65 limbs as for 128, and blocks have no squares as short.
        let squares = [65, 80, 96, 128, 129, 192, 4096].map(|n| tuning.squares(n, 1 << 20).holds());
        assert_eq!(squares, [false, false, false, false, false, true, true]);
    }

    #[test]
    fn an_algorithm_by_name_is_found_at_its_level_and_forced_threads_are_kept() {
        let shape = Shape::new(10, 20, Layout::Contiguous);
        let kernel = |lanes| {
            let options = Options {
                algorithm: Algorithm::Fft,
                lanes,
                ..Options::default()
            };
            let kernel = Tuning::default().kernel(Operation::Mul, &[10, 10], shape, options);
            let kernel = kernel.unwrap();
            (kernel.level, kernel.lanes)
        };
        assert_eq!(kernel(None), (Level::Block, 32));
        assert_eq!(kernel(Some(256)), (Level::Block, 256));
    }

    #[test]
    fn few_powers_have_more_lanes_each_as_far_as_they_fill_them() {
        let tuning = Tuning::default();
        let lanes = |algorithm, count, width: usize| {
            let options = Options {
                algorithm,
                ..Options::default()
            };
            let shape = Shape::new(count, width, Layout::Contiguous);
            let widths = [width, width, width];
            let kernel = tuning.kernel(Operation::PowMod, &widths, shape, options);
            kernel.unwrap().lanes
        };
        for algorithm in [Algorithm::Window, Algorithm::WindowVartime] {
            let lanes = |count, width| lanes(algorithm, count, width);
            assert_eq!(
                [1, 256, 8192, 8193, 1 << 20].map(|n| lanes(n, 32)),
                [4, 4, 4, 2, 1]
            );
            assert_eq!(
                [256, 2048, 8192, 1 << 20].map(|n| lanes(n, 64)),
                [8, 8, 4, 2]
            );
            assert_eq!(
                [256, 2048, 8192, 1 << 20].map(|n| lanes(n, 128)),
                [16, 16, 4, 4]
            );
            // Not measured.
            assert_eq!([1, 1 << 20].map(|n| lanes(n, 16)), [1, 1]);
        }
        let forced = Options {
            lanes: Some(4),
            ..Options::default()
        };
        let shape = Shape::new(1, 64, Layout::Contiguous);
        let kernel = tuning.kernel(Operation::PowMod, &[64, 64, 64], shape, forced);
        assert_eq!(kernel.unwrap().lanes, 4);
    }
}
