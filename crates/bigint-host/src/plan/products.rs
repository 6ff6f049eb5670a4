//! The choice of a method for wide products: rows, transforms by blocks, or transforms by the whole
//! device.

use crate::common::job::{Job, Wanted};
use crate::device::middle::Middle;
use crate::device::transform::{
    Transform, are_near, grid_point_bytes, ntt_point_bytes, numbers_at_a_time,
};
use crate::plan::why::Why;
use crate::tuning::gpu::FftTuning;
use crate::{Error, Options, Tuning};
use bigint_core::specialization::{LONG, Rows, SHORT, STEP};
use bigint_core::transform::Plan;
use bigint_core::transform::grid::GridPlan;
use bigint_core::transform::ntt::{LONGEST, NttPlan};
use bigint_core::{Algorithm, Level, Operation, Shape};
use std::ops::Range;

/// Warps of rows that fill a device: fewer take as long as so many.
const WARPS: usize = 2048;

/// What the launches take that multiply marked numbers again where none is, on an H200
/// (2026-11-30-products-by-daring-digits.txt).
const AGAIN_NANOSECONDS: f64 = 8000.0;

impl Tuning {
    /// Whether the kernel of squares takes less time for `count` squares of `n` limbs than the
    /// kernel of products.
    pub(crate) fn squares(&self, n: usize, count: usize) -> Why {
        if n > self.mul.square_lanes_max_width {
            return self.blocks_or_rows(Operation::Square, n, n);
        }
        let (key, limit) = match count >= self.mul.thread_many_min_count {
            true => ("mul.square_many_min_width", self.mul.square_many_min_width),
            false => ("mul.square_min_width", self.mul.square_min_width),
        };
        let limbs = n;
        Why::AtLeast { limbs, key, limit }
    }

    /// Whether the high half of a product of `n` by `m` limbs, or a product with a sum, takes less
    /// time by the whole product and a pass over memory than by columns.
    pub fn takes_whole_product(&self, operation: Operation, n: usize, m: usize) -> bool {
        let is_of_product = matches!(operation, Operation::MulHigh | Operation::MulAdd);
        is_of_product && n.max(m) > self.mul.columns_max_width
    }

    /// Whether transforms by blocks multiply numbers of these widths in less time than rows do.
    pub(crate) fn blocks_or_rows(&self, operation: Operation, n: usize, m: usize) -> Why {
        Why::Faster {
            key: "mul.fft",
            nanoseconds: self.blocks(operation, n, m).one,
            than: "mul.school_nanoseconds",
            other: self.by_rows(n, m),
        }
    }

    /// The time of a product by rows in a batch that fills the device, in nanoseconds.
    fn by_rows(&self, n: usize, m: usize) -> f64 {
        self.mul.school_nanoseconds * n as f64 * m as f64
    }

    /// Whether a warp multiplies so many numbers of these widths by Toeplitz matrices in less time than
    /// lanes by rows and blocks by transforms; none where they are too wide or too few.
    pub(crate) fn toeplitz_or_others(
        &self,
        operation: Operation,
        [n, m]: [usize; 2],
        count: usize,
    ) -> Option<Why> {
        let (narrower, wider) = (n.min(m), n.max(m));
        let row = self.mul.toeplitz.iter().find(|row| wider <= row.max_width);
        let row = row.filter(|row| count >= row.min_count)?;
        let rows = self.mul.school_nanoseconds * self.products_by_rows(n, m) as f64;
        let blocks = self.blocks(operation, n, m).one;
        Some(Why::Faster {
            key: "mul.toeplitz",
            nanoseconds: row.nanoseconds + row.limb_nanoseconds * narrower as f64,
            than: if rows < blocks {
                "mul.school_nanoseconds"
            } else {
                "mul.fft"
            },
            other: rows.min(blocks),
        })
    }

    /// The products of limbs that lanes make by rows, of which one operand fills whole ones.
    pub(super) fn products_by_rows(&self, n: usize, m: usize) -> usize {
        let rows = &self.mul.lanes;
        let row = rows.iter().find(|row| n.max(m) <= row.max_width);
        let lanes = row.or(rows.last()).map_or(32, |row| row.lanes);
        let products = |whole: usize, cut: usize| {
            let digit = match Rows::of(cut as u32, lanes) {
                Rows::Short => SHORT,
                Rows::One | Rows::Several => LONG,
            };
            whole.next_multiple_of(STEP as usize) * cut.next_multiple_of((digit * lanes) as usize)
        };
        products(n, m).min(products(m, n))
    }

    /// The transform by which the whole device multiplies numbers of these widths, where one is
    /// forced or takes the least time. Transforms modulo primes of so many operands are kept.
    pub(crate) fn transform(
        &self,
        job: Job,
        n: usize,
        m: usize,
        kept: usize,
    ) -> Option<(Transform, Why)> {
        let (operation, options) = (job.operation, job.options);
        let is_product = matches!(operation, Operation::Mul | Operation::Square);
        let width = job.shapes()[0].width;
        let named = options.algorithm_for(operation);
        // Wider results are for blocks; there are no kernels modulo primes at another level.
        if !is_product || width > n + m && named != Algorithm::Ntt {
            return None;
        }
        let is_open = named == Algorithm::Auto;
        let is_short = |transform: &Transform| match transform {
            Transform::Ntt(plan) => is_open && self.is_short(*plan, n.max(m)),
            _ => false,
        };
        let (by_grid, chosen) = Transform::of(n, m, width, self.mul.ntt.longest)
            .filter(|transform| !is_short(transform))
            .filter(|transform| named == Algorithm::Auto || named == transform.algorithm())
            .map(|transform| (self.on_the_whole_device(job, transform, kept), transform))
            .min_by(|(x, _), (y, _)| x.total_cmp(y))?;
        match (options.level, named) {
            // There are no kernels by this name at another level.
            (None | Some(Level::Grid), Algorithm::Ntt) => return Some((chosen, Why::Forced)),
            (Some(level), _) => return (level == Level::Grid).then_some((chosen, Why::Forced)),
            (None, _) if options.lanes.is_some() => return None,
            (None, Algorithm::Fft | Algorithm::Auto) => {}
            _ => return None,
        }
        // Those that wait for no other: a few numbers take as long as one.
        let blocks = self.blocks(operation, n, m);
        let by_blocks = blocks.alone.max(blocks.one * job.count() as f64);
        let by_rows = self.by_rows(n, m) * job.count().max(WARPS) as f64;
        let is_by_rows =
            named == Algorithm::Auto && !self.blocks_or_rows(Operation::Mul, n, m).holds();
        let (than, other) = match is_by_rows {
            true => ("mul.school_nanoseconds", by_rows),
            false => ("mul.fft", by_blocks),
        };
        let why = Why::Faster {
            key: match chosen {
                Transform::Fft(_) => "mul.grid",
                Transform::Ntt(_) | Transform::Pieces(_) => "mul.ntt",
            },
            nanoseconds: by_grid,
            than,
            other,
        };
        why.holds().then_some((chosen, why))
    }

    /// Whether transforms modulo primes are so short that the others, which there are for operands of `n` limbs, take
    /// less time, kept or not.
    fn is_short(&self, plan: NttPlan, n: usize) -> bool {
        (plan.length() as usize) < self.mul.ntt.shortest && GridPlan::of(n).is_some()
    }

    /// The [middle products](crate::device::middle) of numbers of these shapes, limbs `limbs`, where a transform of
    /// `least` limbs or more takes less time than products. Those modulo primes keep that of so many operands.
    pub(crate) fn middle(
        &self,
        shapes: [Shape; 2],
        options: Options,
        limbs: Range<usize>,
        least: usize,
        kept: usize,
    ) -> Result<Option<Middle>, Error> {
        let [n, m] = shapes.map(|shape| shape.width);
        let (from, to) = (limbs.start, limbs.end);
        let job = Job::new(Operation::Mul, &shapes, &[to], options, Wanted::Nothing)?;
        let least = least.max(n).max(m).max(to);
        let ntt = ntt_that_wraps(least.next_power_of_two());
        let ntt = ntt.filter(|plan| !self.is_short(*plan, n.max(m)));
        let fft = GridPlan::wraps(least).map(Transform::Fft);
        let plans = [fft, ntt.map(Transform::Ntt)];
        let time = |transform, kept| self.on_the_whole_device(job, transform, kept);
        let times = plans.into_iter().flatten();
        let times = times.map(|plan| (time(plan, kept), plan));
        let least = times.min_by(|(x, _), (y, _)| x.total_cmp(y));
        let least = least.filter(|(wrapped, _)| self.is_before_whole(*wrapped, job, [n, m]));
        Ok(least.map(|(_, plan)| Middle { job, from, plan }))
    }

    /// The products of numbers of these shapes modulo `B^width - 1`, or as much more, of a limb more, where a transform of this length
    /// takes less time than products.
    pub(crate) fn cyclic(
        &self,
        shapes: [Shape; 2],
        options: Options,
        width: usize,
    ) -> Result<Option<Middle>, Error> {
        let [n, m] = shapes.map(|shape| shape.width);
        let limbs = width + 1;
        let job = Job::new(Operation::Mul, &shapes, &[limbs], options, Wanted::Nothing)?;
        let plan = ntt_that_wraps(width).filter(|plan| !self.is_short(*plan, n.max(m)));
        let plan = plan.map(Transform::Ntt);
        let plan = plan.filter(|plan| {
            let wrapped = self.on_the_whole_device(job, *plan, 0);
            n.max(m) <= width && self.is_before_whole(wrapped, job, [n, m])
        });
        Ok(plan.map(|plan| Middle { job, from: 0, plan }))
    }

    /// Whether this time is less than that of whole products.
    fn is_before_whole(&self, nanoseconds: f64, job: Job, [n, m]: [usize; 2]) -> bool {
        let whole = match self.transform(job, n, m, 0) {
            Some((whole, _)) => self.on_the_whole_device(job, whole, 0),
            None if self.blocks_or_rows(Operation::Mul, n, m).holds() => {
                let blocks = self.blocks(Operation::Mul, n, m);
                blocks.alone.max(blocks.one * job.count() as f64)
            }
            None => return false,
        };
        nanoseconds < whole
    }

    /// Whether the whole device multiplies numbers of these shapes by transforms modulo primes, where it keeps those of both.
    pub(crate) fn is_by_primes(&self, shapes: [Shape; 2], options: Options) -> Result<bool, Error> {
        let [n, m] = shapes.map(|shape| shape.width);
        let job = Job::new(Operation::Mul, &shapes, &[n + m], options, Wanted::Nothing)?;
        let transform = self.transform(job, n, m, 2);
        Ok(matches!(transform, Some((Transform::Ntt(_), _))))
    }

    /// The plan by which the whole device makes [pairs](crate::device::pairs) of products of numbers of these shapes, up and down
    /// a tree, where these take less time than products and than transforms modulo primes that are kept.
    pub(crate) fn pairs(
        &self,
        shapes: [Shape; 2],
        options: Options,
    ) -> Result<Option<GridPlan>, Error> {
        let [n, m] = shapes.map(|shape| shape.width);
        let job = Job::new(Operation::Mul, &shapes, &[n + m], options, Wanted::Nothing)?;
        let is_open = options.algorithm_for(Operation::Mul) == Algorithm::Auto;
        let are_pairs = options.level.is_none() && shapes[0].count == shapes[1].count;
        // Fractions may have a limb more.
        let plan = GridPlan::of_pairs(n.max(m), n + m + 1).filter(|_| is_open && are_pairs);
        let (Some(plan), Some(_)) = (plan, self.transform(job, n, m, 0)) else {
            return Ok(None);
        };
        let time = |transform| self.on_the_whole_device(job, transform, 0);
        // Of six passes over the points of a product pairs have twelve up and eight down.
        let pairs = 20.0 / 6.0 * time(Transform::Fft(plan));
        let ntt = NttPlan::of(n, m).filter(|plan| !self.is_short(*plan, n.max(m)));
        // Of three transforms of a product those that are kept have six up and three down.
        let ntt = ntt.map(|plan| 3.0 * time(Transform::Ntt(plan)));
        Ok(Some(plan).filter(|_| ntt.is_none_or(|ntt| pairs < ntt)))
    }

    /// The time of a job's products by the whole device, in nanoseconds. Transforms modulo primes of so many operands are kept.
    pub(super) fn on_the_whole_device(&self, job: Job, transform: Transform, kept: usize) -> f64 {
        let is_square = job.operation == Operation::Square;
        let operands = if is_square { 1 } else { 2 };
        let of_primes = |spared: usize| {
            let whole = self.mul.ntt.limb_nanoseconds;
            whole - spared as f64 * (whole - self.mul.ntt.square_limb_nanoseconds)
        };
        let (bytes, one, launches) = match transform {
            Transform::Fft(plan) => {
                let tuning = &self.mul.grid;
                let bytes = grid_point_bytes(&plan, operands);
                let digit = match (is_square, are_near(bytes)) {
                    (true, true) => tuning.square_digit_nanoseconds,
                    (false, true) => tuning.digit_nanoseconds,
                    (true, false) => tuning.far_square_digit_nanoseconds,
                    (false, false) => tuning.far_digit_nanoseconds,
                };
                let again = if plan.is_exact() {
                    0.0
                } else {
                    AGAIN_NANOSECONDS
                };
                (
                    bytes,
                    f64::from(plan.length()) * digit,
                    tuning.launch_nanoseconds + again,
                )
            }
            Transform::Ntt(plan) => {
                // A square has one transform less than a product.
                let limb = of_primes(kept.max(usize::from(is_square)));
                (
                    ntt_point_bytes(&plan, operands),
                    f64::from(plan.length()) * limb,
                    self.mul.ntt.launch_nanoseconds,
                )
            }
            Transform::Pieces(pieces) => {
                // A product has three transforms.
                let one = pieces.transformed as f64 / 3.0 * of_primes(0);
                return job.count() as f64 * one;
            }
        };
        let count = job.count().max(1);
        let at_once = numbers_at_a_time(bytes).min(count);
        let rounds = count.div_ceil(at_once) as f64;
        rounds * launches + count as f64 * one
    }

    /// The threads of a block for those steps of a product tree that have
    /// [few](crate::tuning::gpu::MulTuning::tree_few) products: the fewest that hold the operands
    /// of the last step in one piece, or else the most there may be.
    pub(crate) fn lanes_of_tree(&self, count: usize, width: usize) -> u32 {
        // What is left over by odd lengths joins all others, so many numbers, in the end.
        let numbers = count.max(2).next_power_of_two() / 2;
        let widest = width.saturating_mul(numbers);
        let known = self.mul.fft.iter().map(|row| row.lanes);
        let mut lanes = known.filter(|&lanes| lanes <= self.mul.tree_max_lanes);
        let held = lanes.find(|&lanes| Plan::of(lanes).limbs() as usize >= widest);
        held.unwrap_or(self.mul.tree_max_lanes)
    }

    /// The fastest way for blocks to multiply numbers of these widths by transforms: wider operands
    /// are cut into pieces.
    pub(crate) fn blocks(&self, operation: Operation, n: usize, m: usize) -> Blocks {
        let time = |row: &FftTuning| {
            let piece = Plan::of(row.lanes).limbs() as usize;
            let pieces = n.div_ceil(piece) * m.div_ceil(piece);
            let (one, alone) = match (operation, pieces) {
                // The kernels' own condition: `bigint_core::specialization::is_square`.
                (Operation::Square, 1) => (row.square_nanoseconds, row.square_alone_nanoseconds),
                _ => (row.nanoseconds, row.alone_nanoseconds),
            };
            Blocks {
                lanes: row.lanes,
                one: pieces as f64 * one,
                alone: pieces as f64 * alone,
            }
        };
        let times = self.mul.fft.iter().map(time);
        let least = times.min_by(|x, y| x.one.total_cmp(&y.one));
        least.expect("a table has at least one row")
    }
}

/// The plan modulo primes for products modulo `2^(32 n) - 1`, if there is one. That of the longest transform serves, too: coefficients are
/// sums of at most [`LONGEST`] products of limbs, for which the primes have room.
fn ntt_that_wraps(n: usize) -> Option<NttPlan> {
    let longest = || NttPlan::of(n / 2, n / 2).filter(|_| n == LONGEST);
    NttPlan::wraps(n).or_else(longest)
}

/// A way for blocks to multiply by transforms, with its times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub lanes: u32,
    /// The time of a product in a batch that fills the device.
    pub one: f64,
    /// The time of a single product.
    pub alone: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::device::Abilities;
    use bigint_core::Layout;
    use bigint_core::transform::ntt::PRIMES;

    #[test]
    fn the_longest_transform_wraps_and_its_coefficients_have_room() {
        let lengths = [1 << 25, LONGEST].map(|n| ntt_that_wraps(n).map(|plan| plan.length()));
        assert_eq!(lengths, [Some(1 << 25), Some(1 << 26)]);
        assert_eq!(
            [ntt_that_wraps(2 * LONGEST), ntt_that_wraps(3 << 20)],
            [None; 2]
        );
        let room: u128 = PRIMES.iter().map(|prime| u128::from(prime.p)).product();
        assert!(LONGEST as u128 * u128::from(u32::MAX).pow(2) < room);
    }

    #[test]
    fn products_of_a_tree_are_by_the_fewest_threads_that_hold_its_last_step() {
        let tuning = Tuning::default();
        let lanes = |count, width| tuning.lanes_of_tree(count, width);
        assert_eq!(
            [0, 1, 16, 17].map(|count| lanes(count, 32)),
            [32, 32, 32, 64]
        );
        assert_eq!([200, 256, 257].map(|count| lanes(count, 32)), [512; 3]);
        assert_eq!(lanes(2, usize::MAX), 512);
    }

    #[test]
    fn the_whole_device_takes_few_wide_products_and_those_that_no_block_holds() {
        let tuning = Tuning::default();
        let is_for_all = |count, n, m, options| {
            let shapes = [n, m].map(|width| Shape::new(count, width, Layout::Contiguous));
            let mul = Operation::Mul;
            let job = Job::new(mul, &shapes, &[n + m], options, Wanted::Nothing);
            tuning.transform(job.unwrap(), n, m, 0).is_some()
        };
        let auto = Options::default();
        assert!(is_for_all(1, 1 << 15, 1 << 15, auto));
        assert!(is_for_all(1000, 1 << 16, 1 << 16, auto));
        assert!(!is_for_all(1000, 1 << 12, 1 << 12, auto));
        assert!(!is_for_all(1, 1 << 8, 1 << 8, auto));
        assert!(!is_for_all(1, 1 << 15, 1, auto));
        let level = Some(Level::Grid);
        assert!(is_for_all(1, 1, 1, Options { level, ..auto }));
        let level = Some(Level::Warp);
        assert!(!is_for_all(1, 1 << 15, 1 << 15, Options { level, ..auto }));
        let lanes = Some(256);
        assert!(!is_for_all(1, 1 << 15, 1 << 15, Options { lanes, ..auto }));
        assert!(!is_for_all(1, 1 << 15, 1 << 15, Algorithm::School.into()));
        // Wider than digits of FP64 are exact for.
        let wide = GridPlan::most_limbs() + 1;
        assert!(is_for_all(1, wide, wide, auto));
        assert!(!is_for_all(1, wide, wide, Algorithm::Fft.into()));
        assert!(is_for_all(1, 1, 1, Algorithm::Ntt.into()));
    }

    #[test]
    fn products_between_rows_and_long_transforms_are_for_tensor_cores_where_a_device_has_them() {
        let tuning = Tuning::default();
        let kernel = |operation: Operation, widths: &[usize], has_tensor_cores, options| {
            let shape = Shape::new(1000, operation.exact_width(widths), Layout::Contiguous);
            let device = Abilities {
                shared_bytes: 227 << 10,
                has_tensor_cores,
                has_warpgroups: false,
                multiprocessors: None,
            };
            let chosen = tuning.kernel_and_why(operation, widths, shape, options, device);
            chosen.map(|(kernel, ..)| (kernel.algorithm, kernel.level))
        };
        let auto = Options::default();
        use Algorithm::{Fft, School, Toeplitz};
        for ([n, m], with, without) in [
            ([40, 40], School, School),
            ([48, 48], Toeplitz, School),
            ([64, 64], Toeplitz, School),
            ([65, 65], Toeplitz, School),
            ([96, 96], Toeplitz, School),
            ([128, 128], Toeplitz, School),
            ([129, 129], Toeplitz, School),
            ([256, 256], Toeplitz, Fft),
            ([384, 384], Toeplitz, Fft),
            ([448, 448], Toeplitz, Fft),
            ([512, 512], Fft, Fft),
            ([512, 256], Toeplitz, Fft),
            ([256, 4], School, School),
            ([1024, 65], School, School),
        ] {
            let of = |has| kernel(Operation::Mul, &[n, m], has, auto).unwrap().0;
            assert_eq!((of(true), of(false)), (with, without), "{n} by {m} limbs");
        }
        let named = Algorithm::Toeplitz.into();
        for (operation, widths) in [(Operation::Mul, &[9, 2000][..]), (Operation::Square, &[9])] {
            let forced = kernel(operation, widths, true, named).unwrap();
            assert_eq!(forced, (Toeplitz, Level::Warp));
            let refused = kernel(operation, widths, false, named).unwrap_err();
            assert!(
                refused
                    .to_string()
                    .contains("from compute capability 8.0 on")
            );
        }
    }
}
