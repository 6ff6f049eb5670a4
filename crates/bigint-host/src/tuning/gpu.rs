//! Thresholds of the GPU back end: data with provenance, read from a file.

use crate::tuning::lanes::{LanesTuning, check_lanes, fewest_lanes, of_registers};
use crate::tuning::modular::ModularTuning;
use crate::tuning::start::StartTuning;
use crate::tuning::transforms::{FftTuning, GridTuning, NttTuning};
use crate::{Error, Options};
use bigint_core::kernel::{
    DIVISOR_IN_REGISTERS, SQUARE_DIGIT, is_in_strips, placed_width, slot_fours,
};
use bigint_core::operation::Cost;
use bigint_core::{Algorithm, Kernel, Layout, Level, Operation, Shape};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Where one kernel takes over from another.
///
/// The table that ships with the crate is `tuning/default.toml`; its form is the
/// form of a user's own file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// On which machine, when and how the thresholds were found.
    pub provenance: Provenance,
    /// Addition and subtraction.
    pub add: AddTuning,
    /// Bits and masks, limb by limb.
    pub limbwise: LimbwiseTuning,
    /// What is told of numbers by a pass over them, and what follows from it.
    pub scan: ScanTuning,
    /// Multiplication.
    pub mul: MulTuning,
    /// Division.
    pub div: DivTuning,
    /// Products and powers modulo numbers.
    pub modular: ModularTuning,
    /// Expressions of several operations.
    pub fused: FusedTuning,
    /// Several devices.
    pub devices: DevicesTuning,
    /// When the engine `auto` uses devices at all.
    pub start: StartTuning,
}

/// Where a table of thresholds comes from.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The processor or GPU.
    pub machine: String,
    /// The day of the measurement.
    pub date: String,
    /// The command or the reasoning.
    pub how: String,
}

/// Thresholds of addition and subtraction, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddTuning {
    /// The widest result that one thread computes, where operands and result are
    /// contiguous; wider ones are shared by the lanes of warps.
    pub thread_max_width: usize,
    /// The fewest interleaved numbers that threads compute, one each. Fewer are not
    /// enough threads, and lanes share them, far apart as their limbs are.
    pub interleaved_thread_min_count: usize,
}

/// Thresholds of operations limb by limb, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimbwiseTuning {
    /// The narrowest interleaved result that one thread computes, where there are as many
    /// numbers as for a sum; whole warps take neighbouring words of any other.
    pub interleaved_thread_min_width: usize,
    /// The same where an operand [tells] all limbs of a number something, which a thread
    /// looks at once.
    pub interleaved_thread_min_told_width: usize,
}

/// Thresholds of comparisons, counts of bits and the like, widths in limbs. Of interleaved
/// numbers there must be as many as for a sum before threads take one each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanTuning {
    /// The widest contiguous operand that one thread has to itself.
    pub thread_max_width: usize,
    /// Lanes per number by the wider operand's width, narrowest first: 8 or 32.
    pub lanes: Vec<LanesTuning>,
}

/// Thresholds of multiplication, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MulTuning {
    /// The widest operand whose product one thread computes.
    pub thread_max_width: usize,
    /// The widest operand whose product one thread computes as well, where operands are
    /// about as wide as each other: a tile of neighbouring numbers then goes by way of
    /// shared memory ([`placed_width`]).
    pub thread_placed_max_width: usize,
    /// The widest operand of [many](Self::thread_many_min_count) products that one thread
    /// computes in the same way, of numbers whose limbs lanes move four at a time.
    pub thread_many_fours_max_width: usize,
    /// The same of any other numbers.
    pub thread_many_max_width: usize,
    /// So many products are enough threads, where lanes could share each.
    pub thread_many_min_count: usize,
    /// The widest operand that a thread multiplies by columns.
    pub comba_max_width_thread: usize,
    /// The widest operand whose high half of a product, or product with a sum, is made by
    /// columns: where operands are wider, it is made of the whole product.
    pub columns_max_width: usize,
    /// Lanes per number by the wider operand's width, narrowest first.
    pub lanes: Vec<LanesTuning>,
    /// The narrower operand from which a thread uses Karatsuba.
    pub karatsuba_min_width_thread: usize,
    /// The narrower operand from which a warp uses Karatsuba.
    pub karatsuba_min_width_warp: usize,
    /// The narrowest operand whose product by itself a device computes as a square.
    pub square_min_width: usize,
    /// The same of [many](Self::thread_many_min_count) products.
    pub square_many_min_width: usize,
    /// The widest number that lanes square in less time than they multiply two.
    pub square_lanes_max_width: usize,
    /// What a product by rows takes for each limb of one operand and each of the other, in
    /// nanoseconds of a batch that fills the device.
    pub school_nanoseconds: f64,
    /// What a transform takes, by the lanes of its block, fewest first.
    pub fft: Vec<FftTuning>,
    /// Products of a step of a tree, at most, that are by one kernel for all such steps: they take
    /// as long as one does.
    pub tree_few: usize,
    /// Threads of a block, at most, that this kernel has.
    pub tree_max_lanes: u32,
    /// What transforms on the whole device take.
    pub grid: GridTuning,
    /// What those modulo primes take.
    pub ntt: NttTuning,
    /// The widest narrower operand for which `auto` uses a device.
    pub device_max_width: usize,
}

/// Thresholds of division, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DivTuning {
    /// The widest operand of common divisors and inverses for which `auto` uses a device.
    pub gcd_device_max_width: usize,
    /// The same of square roots.
    pub root_device_max_width: usize,
    /// The widest number whose square root a thread finds by itself.
    pub root_thread_max_width: usize,
    /// The widest divisor for which `auto` uses a device.
    pub device_max_width: usize,
    /// Lanes per number by the width of the divisor, narrowest first; 1 for a thread, which
    /// also has interleaved numbers whose divisor its registers hold, and any divisor that no
    /// lanes hold. Where registers of so many do not hold it, the next number of lanes that do.
    pub lanes: Vec<LanesTuning>,
}

/// Thresholds of programs that are one launch, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FusedTuning {
    /// The widest value of a program that multiplies.
    pub product_max_width: usize,
}

/// Thresholds of what several devices share, and of what goes to and fro.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevicesTuning {
    /// Nanoseconds that each device costs an operation.
    pub launch_ns: f64,
    /// Limbs of a list's results from which on a thread of its own fetches them.
    pub fetched_apart_limbs: usize,
    /// Limbs of each operand from which on a list's sums are segments.
    pub segments_limbs: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning::parse(
            include_str!("../../tuning/default.toml"),
            "tuning/default.toml",
        )
        .expect("the shipped tuning table is read by a test")
    }
}

impl Tuning {
    /// Reads a tuning file.
    ///
    /// # Errors
    /// [`Error::Tuning`] where the file cannot be read or says what no kernel can do.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Error::Tuning {
            path: name.clone(),
            message: error.to_string(),
        })?;
        Tuning::parse(&text, &name)
    }

    fn parse(text: &str, path: &str) -> Result<Self, Error> {
        let refuse = |message: String| Error::Tuning {
            path: path.to_owned(),
            message,
        };
        let tuning: Tuning = toml::from_str(text).map_err(|error| refuse(error.to_string()))?;
        let tables = [
            ("mul", &tuning.mul.lanes, Operation::Mul),
            ("scan", &tuning.scan.lanes, Operation::Compare),
            ("modular", &tuning.modular.lanes, Operation::PowMod),
            ("modular", &tuning.modular.scan_lanes, Operation::PowMod),
            ("modular", &tuning.modular.table_lanes, Operation::PowFixed),
            ("div", &tuning.div.lanes, Operation::DivRem),
        ];
        for (name, rows, operation) in tables {
            if rows.is_empty() {
                return Err(refuse(format!("{name}.lanes must have at least one row")));
            }
            let mut known = operation.lanes(Level::Warp).to_vec();
            if operation.multiplies_modulo() || operation.divides() {
                known.insert(0, 1);
            }
            if let Some(row) = rows.iter().find(|row| !known.contains(&row.lanes)) {
                let lanes = row.lanes;
                return Err(refuse(format!(
                    "{name}.lanes: {lanes} lanes cannot share a number: {known:?} can"
                )));
            }
        }
        let known = Operation::Mul.lanes(Level::Block);
        let rows = &tuning.mul.fft;
        if rows.is_empty() || rows.iter().any(|row| !known.contains(&row.lanes)) {
            return Err(refuse(format!(
                "mul.fft must have at least one row, and blocks of {known:?} lanes"
            )));
        }
        if !known.contains(&tuning.mul.tree_max_lanes) {
            return Err(refuse(format!(
                "mul.tree_max_lanes must be one of {known:?}"
            )));
        }
        if tuning.mul.ntt.longest < 512 {
            return Err(refuse("mul.ntt.longest must be at least 512".to_owned()));
        }
        Ok(tuning)
    }

    /// The kernel for operands of these widths in limbs and results of this shape, as far
    /// as `options` leave the choice. A kernel of the interleaved layout takes any.
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
        let (n, m) = match widths {
            [n, m, ..] => (*n, *m),
            [n] => (*n, *n),
            [] => (0, 0),
        };
        if operation.multiplies_modulo() {
            return self.modular.kernel(operation, widths, shape, options);
        }
        if matches!(operation.cost(), Cost::Quotient | Cost::Root) {
            return self.kernel_of_divisor(operation, widths, shape.layout, options);
        }
        let Shape {
            count,
            width,
            layout,
        } = shape;
        let by_threads = match (operation, layout) {
            (Operation::Mul, _) if self.is_placed((n, m), shape) => true,
            (Operation::Mul, Layout::Contiguous) => n.max(m) <= self.mul.thread_max_width,
            // Lanes would touch a line of memory for each limb, which only products wide
            // enough to be busy multiplying can afford.
            (Operation::Mul, Layout::Interleaved) => {
                n.max(m) <= self.mul.thread_max_width
                    || n.min(m) <= self.mul.comba_max_width_thread && self.fills_threads(count)
            }
            (Operation::Square, _) => n <= SQUARE_DIGIT,
            (operation, _) if operation.multiplies() => {
                n.max(m) <= self.mul.thread_max_width
                    || layout == Layout::Interleaved && self.fills_threads(count)
            }
            (operation, _) if operation.has(Algorithm::Limbwise) => {
                let min_width = match operation.guide() {
                    Some(_) => self.limbwise.interleaved_thread_min_told_width,
                    None => self.limbwise.interleaved_thread_min_width,
                };
                layout == Layout::Interleaved && width >= min_width && self.fills_threads(count)
            }
            (_, Layout::Contiguous) if operation.has(Algorithm::Scan) => {
                n.max(m) <= self.scan.thread_max_width || is_in_strips(operation, widths, width)
            }
            (_, Layout::Contiguous) => width <= self.add.thread_max_width,
            (_, Layout::Interleaved) => self.fills_threads(count),
        };
        check_lanes(options)?;
        let named = options.algorithm_for(operation);
        let blocks = self.blocks(operation, n, m);
        let is_wide = operation.has(Algorithm::Fft) && blocks.one < self.rows(n, m);
        let chosen = match options.lanes {
            _ if operation.lanes(Level::Warp).is_empty() => Level::Thread,
            _ if operation.lanes(Level::Thread).is_empty() => Level::Warp,
            Some(lanes) if lanes > 32 && !operation.lanes(Level::Block).is_empty() => Level::Block,
            Some(lanes) if lanes > 1 => Level::Warp,
            Some(_) => Level::Thread,
            None if is_wide => Level::Block,
            None if by_threads => Level::Thread,
            None => Level::Warp,
        };
        let forced = options.level;
        let forced = forced.filter(|level| !operation.lanes(*level).is_empty());
        let level = forced.unwrap_or_else(|| {
            // A named algorithm may be at one level only.
            let has = |level: &Level| operation.algorithms(*level).any(|one| one == named);
            match named {
                Algorithm::Auto => chosen,
                _ if has(&chosen) => chosen,
                _ => Level::ALL.into_iter().rfind(has).unwrap_or(chosen),
            }
        });
        let lanes = match operation.lanes(level) {
            // Where there is one number of lanes, there is no choice to force.
            [only] => *only,
            known => options
                .lanes
                .filter(|lanes| known.contains(lanes))
                .unwrap_or_else(|| {
                    if level == Level::Block {
                        return blocks.lanes;
                    }
                    if operation == Operation::Square {
                        let holds = |lanes: &&u32| n <= SQUARE_DIGIT * **lanes as usize;
                        return known.iter().find(holds).copied().unwrap_or(32);
                    }
                    let rows = match operation.multiplies() {
                        true => &self.mul.lanes,
                        false => &self.scan.lanes,
                    };
                    let row = rows.iter().find(|row| n.max(m) <= row.max_width);
                    row.or(rows.last()).map_or(32, |row| row.lanes)
                }),
        };
        let algorithm = match named {
            Algorithm::Auto => self.algorithm(operation, (n, m), level),
            named => named,
        };
        // Contiguous numbers that fill no slots go by way of places, which the kernel of any
        // layout has.
        let fills_slots = slot_fours(Algorithm::School, n, m, width) > 0;
        let layout = match (operation, algorithm, level) {
            (Operation::Mul, Algorithm::School, Level::Thread)
                if self.is_placed((n, m), shape) && !fills_slots =>
            {
                Layout::Interleaved
            }
            _ => layout,
        };
        Kernel::find(operation, algorithm, level, lanes, layout).ok_or(Error::Algorithm {
            operation,
            algorithm,
        })
    }

    /// The kernel for a division or a root: lanes whose registers hold the divisor or the root, or
    /// a thread.
    fn kernel_of_divisor(
        &self,
        operation: Operation,
        widths: &[usize],
        layout: Layout,
        options: Options,
    ) -> Result<&'static Kernel, Error> {
        check_lanes(options)?;
        let width = widths.last().copied().unwrap_or(0);
        let is_near = layout == Layout::Contiguous || width > DIVISOR_IN_REGISTERS;
        let max_width = usize::MAX;
        let [thread, pair] = [1, 2].map(|lanes| [LanesTuning { max_width, lanes }]);
        let is_root = operation.cost() == Cost::Root;
        let rows: &[_] = match layout {
            _ if is_root && width > self.div.root_thread_max_width => &pair,
            _ if is_root => &thread,
            _ if is_near => &self.div.lanes,
            _ => &thread,
        };
        let fewest = fewest_lanes(options, rows, width);
        let of_lanes = |fewest| of_registers(operation, Algorithm::School, widths, layout, fewest);
        of_lanes(fewest)
            .or_else(|| of_lanes(1))
            .ok_or(Error::Algorithm {
                operation,
                algorithm: Algorithm::School,
            })
    }

    /// Whether so many interleaved numbers are enough threads, one each.
    fn fills_threads(&self, count: usize) -> bool {
        count >= self.add.interleaved_thread_min_count
    }

    /// Whether threads that multiply by rows have operands of `n` and `m` limbs in shared
    /// memory, of whose products those of this shape are wanted.
    fn is_placed(&self, (n, m): (usize, usize), shape: Shape) -> bool {
        let Shape {
            count,
            width,
            layout,
        } = shape;
        let are_fours = layout == Layout::Contiguous && (n | m | width).is_multiple_of(4);
        let widest = match count >= self.mul.thread_many_min_count {
            true if are_fours => self.mul.thread_many_fours_max_width,
            true => self.mul.thread_many_max_width,
            false => self.mul.thread_placed_max_width,
        };
        n.max(m) <= widest && placed_width(n, m, width) > 0
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
            // The others have one at each level.
            _ => operation.algorithms(level).next().unwrap_or_default(),
        }
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
        assert_eq!(kernel(112, 112), (Algorithm::School, 8));
        assert_eq!(kernel(128, 128), (Algorithm::Fft, 16));
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
        assert_eq!(choice(65), (Level::Warp, 4));
        assert_eq!(choice(128), (Level::Block, 16));
        assert_eq!(choice(256), (Level::Block, 32));
        assert_eq!(choice(4096), (Level::Block, 512));
        let squares = |count| [23, 24, 32, 33, 64].map(|n| tuning.squares(n, count));
        assert_eq!(squares(1000), [false, false, false, true, true]);
        assert_eq!(squares(1 << 20), [false, true, true, true, true]);
        // Four lanes take as long for 65 limbs as for 128, and products of as many take less.
        let squares = [65, 80, 96, 128, 129, 192, 4096].map(|n| tuning.squares(n, 1 << 20));
        assert_eq!(squares, [false, false, true, true, false, true, true]);
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
        assert_eq!(kernel(None), (Level::Block, 16));
        assert_eq!(kernel(Some(256)), (Level::Block, 256));
    }

    #[test]
    fn a_table_with_five_lanes_or_an_unknown_key_is_refused() {
        let shipped = include_str!("../../tuning/default.toml");
        let five = shipped.replace("lanes = 8", "lanes = 5");
        let error = Tuning::parse(&five, "mine.toml").unwrap_err().to_string();
        assert!(error.contains("mine.toml") && error.contains("5 lanes"));
        let unknown = shipped.replace("thread_max_width", "thread_width");
        let error = Tuning::parse(&unknown, "mine.toml").unwrap_err();
        assert!(error.to_string().contains("thread_width"));
        let odd = shipped.replace("tree_max_lanes = 512", "tree_max_lanes = 500");
        let error = Tuning::parse(&odd, "mine.toml").unwrap_err().to_string();
        assert!(error.contains("tree_max_lanes must be one of"));
        let short = shipped.replace("longest = 67108864", "longest = 511");
        let error = Tuning::parse(&short, "mine.toml").unwrap_err();
        assert!(error.to_string().contains("at least 512"));
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
