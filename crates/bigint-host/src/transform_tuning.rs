//! What transforms take beside rows, by blocks and by the whole device: who multiplies wide
//! numbers.

use crate::job::Job;
use crate::pieces::Pieces;
use crate::{Tuning, grid, ntt};
use bigint_core::transform::Plan;
use bigint_core::transform::grid::GridPlan;
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Algorithm, Level, Operation};
use serde::Deserialize;

/// A transform by a block, of up to `8 lanes` limbs ([`Plan::lanes`]), takes so many
/// `nanoseconds` of a batch that fills the device.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FftTuning {
    /// 32, 64, 128, 256, 512 or 1024.
    pub lanes: u32,
    /// For one product.
    pub nanoseconds: f64,
    /// For one square.
    pub square_nanoseconds: f64,
}

/// A round of launches on the whole device takes `launch_nanoseconds` at least, and so many
/// `digit_nanoseconds` for each digit of a transform's length and each number.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridTuning {
    /// For all launches of a round.
    pub launch_nanoseconds: f64,
    /// For one digit of a product.
    pub digit_nanoseconds: f64,
    /// For one digit of a square.
    pub square_digit_nanoseconds: f64,
    /// For one digit of a product whose points leave the cache between launches.
    pub far_digit_nanoseconds: f64,
    /// The same of a square.
    pub far_square_digit_nanoseconds: f64,
}

/// What transforms modulo primes take in the same way, for each limb of their length.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NttTuning {
    /// For all launches of a round.
    pub launch_nanoseconds: f64,
    /// For one limb of the length of a product.
    pub limb_nanoseconds: f64,
    /// For one limb of the length of a square.
    pub square_limb_nanoseconds: f64,
    /// Limbs of the longest: longer products are made of several, of pieces of their operands.
    /// 512 at least.
    pub longest: usize,
}

/// By which transform the whole device multiplies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Transform {
    Fft(GridPlan),
    Ntt(NttPlan),
    /// Several modulo primes.
    Pieces(Pieces),
}

impl Transform {
    /// Those of products of `n` by `m` limbs, of which `width` are wanted, and how many limbs
    /// transforms modulo primes may have.
    pub fn of(n: usize, m: usize, width: usize, longest: usize) -> impl Iterator<Item = Transform> {
        let fft = GridPlan::of(n.max(m)).map(Transform::Fft);
        let (n, m) = (n.min(width), m.min(width));
        let ntt = NttPlan::of(n, m).filter(|plan| plan.length() as usize <= longest);
        let ntt = match ntt {
            Some(plan) => Transform::Ntt(plan),
            None => Transform::Pieces(Pieces::of(n, m, longest)),
        };
        fft.into_iter().chain([ntt])
    }

    /// Whether blocks fit a device that has so many bytes of shared memory for each.
    pub fn fits(&self, shared_bytes: u32) -> bool {
        match self {
            Transform::Fft(plan) => plan.fits(shared_bytes),
            Transform::Ntt(plan) => plan.fits(shared_bytes),
            Transform::Pieces(pieces) => pieces.fits(shared_bytes),
        }
    }

    fn algorithm(&self) -> Algorithm {
        match self {
            Transform::Fft(_) => Algorithm::Fft,
            Transform::Ntt(_) | Transform::Pieces(_) => Algorithm::Ntt,
        }
    }
}

impl Tuning {
    /// Whether a number of `n` limbs is squared as one, and not as the product of two that
    /// happen to be the same: where its memory does not take longer.
    pub(crate) fn squares(&self, n: usize) -> bool {
        n >= self.mul.square_min_width
    }

    /// Whether the high half of a product of operands of `n` and `m` limbs, or a product with a
    /// sum, is made of the whole product, as that and a pass over memory take less time than
    /// columns.
    pub fn takes_whole_product(&self, operation: Operation, n: usize, m: usize) -> bool {
        let is_of_product = matches!(operation, Operation::MulHigh | Operation::MulAdd);
        is_of_product && n.max(m) > self.mul.columns_max_width
    }

    /// Whether transforms multiply numbers of these widths in less time than rows do.
    fn transforms(&self, n: usize, m: usize) -> bool {
        let product = Operation::Mul;
        self.transform(product, n, m).1 < self.rows(product, n, m)
    }

    /// The plan by which the whole device multiplies numbers of these widths: where that is
    /// forced, or else takes the least time.
    /// Of one factor transforms modulo primes may be kept.
    pub(crate) fn grid(&self, job: Job, n: usize, m: usize, is_kept: bool) -> Option<Transform> {
        let (operation, options) = (job.operation, job.options);
        let is_product = matches!(operation, Operation::Mul | Operation::Square);
        let width = job.shapes()[0].width;
        let named = options.algorithm_for(operation);
        // Wider results are for blocks; there are no kernels modulo primes at another level.
        if !is_product || width > n + m && named != Algorithm::Ntt {
            return None;
        }
        let (by_grid, chosen) = Transform::of(n, m, width, self.mul.ntt.longest)
            .filter(|transform| named == Algorithm::Auto || named == transform.algorithm())
            .map(|transform| (self.on_the_whole_device(job, transform, is_kept), transform))
            .min_by(|(x, _), (y, _)| x.total_cmp(y))?;
        match (options.level, named) {
            // There are no kernels by this name at another level.
            (None | Some(Level::Grid), Algorithm::Ntt) => return Some(chosen),
            (Some(level), _) => return (level == Level::Grid).then_some(chosen),
            (None, _) if options.lanes.is_some() => return None,
            (None, Algorithm::Fft) => {}
            (None, Algorithm::Auto) if self.transforms(n, m) => {}
            _ => return None,
        }
        // Blocks that wait for no other: a few numbers take as long as one.
        let (lanes, one) = self.transform(operation, n, m);
        let blocks = self.mul.multiprocessors * Plan::of(lanes).blocks as usize;
        let alone = self.mul.alone_share * blocks as f64;
        let by_blocks = one * alone.max(job.count() as f64);
        (by_grid < by_blocks).then_some(chosen)
    }

    /// What a job's products take by the whole device, in nanoseconds.
    fn on_the_whole_device(&self, job: Job, transform: Transform, is_kept: bool) -> f64 {
        let is_square = job.operation == Operation::Square;
        let operands = if is_square { 1 } else { 2 };
        let of_primes = |spares_one: bool| match spares_one {
            true => self.mul.ntt.square_limb_nanoseconds,
            false => self.mul.ntt.limb_nanoseconds,
        };
        let (bytes, one, least) = match transform {
            Transform::Fft(plan) => {
                let tuning = &self.mul.grid;
                let bytes = grid::point_bytes(&plan, operands);
                let digit = match (is_square, grid::stays_in_cache(bytes)) {
                    (true, true) => tuning.square_digit_nanoseconds,
                    (false, true) => tuning.digit_nanoseconds,
                    (true, false) => tuning.far_square_digit_nanoseconds,
                    (false, false) => tuning.far_digit_nanoseconds,
                };
                (
                    bytes,
                    f64::from(plan.length()) * digit,
                    tuning.launch_nanoseconds,
                )
            }
            Transform::Ntt(plan) => {
                // Either has one transform less than a product.
                let limb = of_primes(is_square || is_kept);
                (
                    ntt::point_bytes(&plan, operands),
                    f64::from(plan.length()) * limb,
                    self.mul.ntt.launch_nanoseconds,
                )
            }
            Transform::Pieces(pieces) => {
                let one = pieces.transformed() as f64 * of_primes(is_square);
                return job.count() as f64 * one;
            }
        };
        let count = job.count().max(1);
        let at_once = grid::numbers_at_a_time(bytes).min(count);
        let rounds = count.div_ceil(at_once) as f64;
        rounds * (at_once as f64 * one).max(least)
    }

    /// What a product or square by rows takes, in nanoseconds.
    pub(crate) fn rows(&self, operation: Operation, n: usize, m: usize) -> f64 {
        let share = match operation {
            Operation::Square => self.mul.square_share,
            _ => 1.0,
        };
        share * self.mul.school_nanoseconds * n as f64 * m as f64
    }

    /// How many lanes multiply numbers of these widths by transforms in the least time, and
    /// in what time: wider operands are cut into pieces.
    pub(crate) fn transform(&self, operation: Operation, n: usize, m: usize) -> (u32, f64) {
        let time = |row: &FftTuning| {
            let piece = Plan::of(row.lanes).limbs() as usize;
            let pieces = n.div_ceil(piece) * m.div_ceil(piece);
            let one = match (operation, pieces) {
                // The kernels' own condition: `bigint_core::facts::is_square`.
                (Operation::Square, 1) => row.square_nanoseconds,
                _ => row.nanoseconds,
            };
            (row.lanes, pieces as f64 * one)
        };
        let times = self.mul.fft.iter().map(time);
        let least = times.min_by(|(_, x), (_, y)| x.total_cmp(y));
        least.expect("a table has at least one row")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::job::Wanted;
    use bigint_core::{Layout, Shape};

    #[test]
    fn the_whole_device_takes_few_wide_products_and_those_that_no_block_holds() {
        let tuning = Tuning::default();
        let is_for_all = |count, n, m, options| {
            let shapes = [n, m].map(|width| Shape::new(count, width, Layout::Contiguous));
            let mul = Operation::Mul;
            let job = Job::new(mul, &shapes, &[n + m], options, Wanted::Nothing);
            tuning.grid(job.unwrap(), n, m, false).is_some()
        };
        let auto = Options::default();
        assert!(is_for_all(1, 1 << 15, 1 << 15, auto));
        assert!(is_for_all(1000, 1 << 15, 1 << 15, auto));
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
}
