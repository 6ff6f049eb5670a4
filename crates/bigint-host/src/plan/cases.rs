//! The jobs by which a GPU's table is measured.
//!
//! [`Tuning::cases`] lists jobs, each with a kernel forced, whose times rows of the table give. The table with
//! what was measured in their place ([`Tuning::measured`]) has each row multiplied by measured over given, so
//! that a job takes by the new table what it was measured to take. What no job is for stays as it was.

use crate::common::facts::Facts;
use crate::common::job::{Job, Wanted};
use crate::device::transform::Transform;
use crate::tuning::gpu::first;
use crate::tuning::refused;
use crate::{Error, Options, Provenance, Tuning};
use bigint_core::operation::Cost;
use bigint_core::rns::{CHAIN, RnsPlan};
use bigint_core::transform::grid::GridPlan;
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Algorithm, LIMB_BITS, Layout, Level, Limb, Operation, Shape};

/// A job whose time a table gives.
#[derive(Clone, Debug)]
pub struct Case {
    /// The operation.
    pub operation: Operation,
    /// The kernel.
    pub options: Options,
    /// The limbs of each operand.
    pub limbs: usize,
    /// The numbers in the batch.
    pub count: usize,
    /// The nanoseconds for one of these numbers by the table; none where the table has a threshold alone.
    pub nanoseconds: Option<f64>,
    /// Those of launches among them, which the row leaves as they are.
    launches: f64,
    row: Row,
}

/// What a case says something of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    School,
    Toeplitz(usize),
    /// The row, whether of squares, whether of one alone.
    Fft(usize, bool, bool),
    /// Whether of squares, whether of points that leave the cache.
    Grid(bool, bool),
    /// Whether of squares.
    Ntt(bool),
    /// The row, whether in constant time.
    Rns(usize, bool),
    Windows(usize, bool),
    /// Whether the steps are in integers.
    Divisors(bool),
}

/// Which cases there are.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The widest operands, in bits.
    pub bits: usize,
    /// The most numbers in a batch.
    pub count: usize,
}

impl Default for Extent {
    fn default() -> Self {
        Extent {
            bits: usize::MAX,
            count: usize::MAX,
        }
    }
}

/// The widths, in limbs, at which common divisors by steps in doubles and in integers are compared.
const DIVISORS: [usize; 5] = [8, 16, 32, 64, 128];

/// The limbs of numbers that the whole device transforms: points stay in the cache, and leave it.
const NEAR: usize = 1 << 16;
const FAR: usize = 1 << 20;

/// The nanoseconds that a batch takes by the table at most.
const MOST_NANOSECONDS: f64 = 5e7;

impl Tuning {
    /// The jobs that measure this table on a device of which its driver tells `facts`.
    pub fn cases(&self, facts: &Facts, extent: Extent) -> Vec<Case> {
        let tuning = &self.on(facts);
        let mut cases = tuning.products(facts);
        cases.extend(tuning.long_products());
        cases.extend(tuning.powers(facts));
        for limbs in DIVISORS {
            for (algorithm, is_by_words) in
                [(Algorithm::Lehmer, false), (Algorithm::LehmerWords, true)]
            {
                let count = filling(facts, limbs);
                let row = Row::Divisors(is_by_words);
                cases.push(Case::new(first(Cost::Euclid), algorithm, limbs, count, row));
            }
        }
        cases.retain(|case| case.limbs.saturating_mul(LIMB_BITS) <= extent.bits);
        for case in &mut cases {
            let each = case.nanoseconds.unwrap_or(1.0);
            let in_time = (MOST_NANOSECONDS / each) as usize;
            let is_of_waves = matches!(case.row, Row::Rns(..) | Row::Windows(..));
            let most = if is_of_waves { usize::MAX } else { in_time };
            case.count = case.count.min(most).min(extent.count).max(1);
        }
        cases
    }

    /// Products of batches by rows, by Toeplitz matrices and by transforms of blocks.
    fn products(&self, facts: &Facts) -> Vec<Case> {
        let case = |operation, algorithm, limbs, row, nanoseconds| {
            let case = Case::new(operation, algorithm, limbs, filling(facts, limbs), row);
            case.by_table(nanoseconds)
        };
        let mul = &self.mul;
        let rows = mul.school_nanoseconds * 64.0 * 64.0;
        let mut cases = vec![case(product(), Algorithm::School, 64, Row::School, rows)];
        // There are no tensor cores that these products can use before.
        let toeplitz = mul.toeplitz.iter().enumerate();
        for (i, row) in toeplitz.filter(|_| facts.capability >= (8, 0)) {
            let time = row.nanoseconds + row.limb_nanoseconds * row.max_width as f64;
            let (algorithm, row) = (Algorithm::Toeplitz, (row.max_width, Row::Toeplitz(i)));
            cases.push(case(product(), algorithm, row.0, row.1, time));
        }
        for (i, row) in mul.fft.iter().enumerate() {
            for (operation, one, alone) in [
                (product(), row.nanoseconds, row.alone_nanoseconds),
                (
                    square(),
                    row.square_nanoseconds,
                    row.square_alone_nanoseconds,
                ),
            ] {
                let is_square = operation == square();
                for (time, is_alone) in [(one, false), (alone, true)] {
                    let of = Row::Fft(i, is_square, is_alone);
                    let limbs = 8 * row.lanes as usize;
                    let mut case = case(operation, Algorithm::Fft, limbs, of, time);
                    case.options.lanes = Some(row.lanes);
                    if is_alone {
                        case.count = 1;
                    }
                    cases.push(case);
                }
            }
        }
        cases
    }

    /// Products by transforms on the whole device.
    fn long_products(&self) -> impl Iterator<Item = Case> {
        let fft = GridPlan::of(NEAR).map(Transform::Fft);
        let far = GridPlan::of(FAR).map(Transform::Fft);
        let ntt = NttPlan::of(FAR, FAR).map(Transform::Ntt);
        let plans = [(NEAR, fft), (FAR, far), (FAR, ntt)];
        let both = [product(), square()];
        let cases = plans
            .into_iter()
            .flat_map(move |plan| both.map(|operation| (plan, operation)));
        cases.filter_map(|((limbs, transform), operation)| {
            let transform = transform?;
            let is_square = operation == square();
            let row = match transform {
                Transform::Fft(_) => Row::Grid(is_square, limbs == FAR),
                _ => Row::Ntt(is_square),
            };
            let mut case = Case::new(operation, transform.algorithm(), limbs, 1, row);
            case.options.level = Some(Level::Grid);
            let shape = Shape::new(1, limbs, Layout::Contiguous);
            let shapes = if is_square {
                vec![shape]
            } else {
                vec![shape; 2]
            };
            let (results, options) = ([2 * limbs], case.options);
            let job = Job::new(operation, &shapes, &results, options, Wanted::Nothing).ok()?;
            case.launches = match row {
                Row::Grid(..) => self.mul.grid.launch_nanoseconds,
                _ => self.mul.ntt.launch_nanoseconds,
            };
            let time = self.on_the_whole_device(job, transform, 0);
            Some(case.by_table(time))
        })
    }

    /// Powers, a wave of those in residue number systems.
    fn powers(&self, facts: &Facts) -> Vec<Case> {
        let mut cases = Vec::new();
        let rows = self.modular.rns.iter().enumerate();
        for (i, row) in rows.filter(|_| facts.capability >= (8, 0)) {
            // A chain is no operation.
            let plan = RnsPlan::of(row.width).filter(|_| row.bases != CHAIN);
            let Some(plan) = plan.map(|plan| plan.by_warpgroups(facts.has_warpgroups())) else {
                continue;
            };
            let wave_of = |scans| {
                let window = plan.window(row.width, scans, row.bases);
                plan.numbers_of_block(window) as usize * facts.multiprocessors as usize
            };
            let by_rns = |time| time + row.conversion_nanoseconds;
            for (algorithm, row_of, scans, time) in [
                (
                    Algorithm::Rns,
                    Row::Rns(i, true),
                    true,
                    by_rns(row.nanoseconds),
                ),
                (
                    Algorithm::Window,
                    Row::Windows(i, true),
                    true,
                    row.windows_nanoseconds,
                ),
                (
                    Algorithm::RnsVartime,
                    Row::Rns(i, false),
                    false,
                    by_rns(row.vartime_nanoseconds),
                ),
                (
                    Algorithm::WindowVartime,
                    Row::Windows(i, false),
                    false,
                    row.windows_vartime_nanoseconds,
                ),
            ] {
                let cost = match row.bases {
                    1 => Cost::Power,
                    2 => Cost::PairOfPowers,
                    _ => Cost::PowerByTable,
                };
                let case = Case::new(first(cost), algorithm, row.width, wave_of(scans), row_of);
                cases.push(case.by_table(time));
            }
        }
        cases
    }

    /// The table of the device that was measured: what each case took, in nanoseconds for one number, in the
    /// place of what this table says.
    ///
    /// # Errors
    /// [`Error::Tuning`] where a time is none: not a number, or not above 0.
    pub fn measured(
        &self,
        facts: Facts,
        provenance: Provenance,
        measured: &[(Case, f64)],
    ) -> Result<Tuning, Error> {
        let mut tuning = self.on(&facts);
        tuning.device = Some(facts);
        tuning.is_modelled = false;
        tuning.provenance = provenance;
        let mut by_words = Vec::new();
        for (case, time) in measured {
            if !(time.is_finite() && *time > 0.0) {
                let message = format!("{} took {time} ns", case.name());
                return Err(refused("what was measured", message));
            }
            tuning.multiply(case.row, case.over_given(*time));
            if let Row::Divisors(is_by_words) = case.row {
                by_words.push((case.limbs, is_by_words, *time));
            }
        }
        if !by_words.is_empty() {
            let of = |limbs, is_by_words| {
                let mut cases = by_words.iter();
                let found = cases.find(|case| (case.0, case.1) == (limbs, is_by_words));
                found.map(|case| case.2)
            };
            let is_faster = |&&limbs: &&usize| of(limbs, true) < of(limbs, false);
            let widest = DIVISORS.iter().rev().find(is_faster).copied();
            tuning.div.words_max_width = widest.unwrap_or(0);
        }
        Ok(tuning)
    }

    /// Multiplies the times of a row.
    fn multiply(&mut self, row: Row, by: f64) {
        let (mul, modular) = (&mut self.mul, &mut self.modular);
        let times = match row {
            Row::School => vec![&mut mul.school_nanoseconds],
            Row::Toeplitz(i) => {
                let row = &mut mul.toeplitz[i];
                vec![&mut row.nanoseconds, &mut row.limb_nanoseconds]
            }
            Row::Fft(i, is_square, is_alone) => {
                let row = &mut mul.fft[i];
                vec![match (is_square, is_alone) {
                    (false, false) => &mut row.nanoseconds,
                    (true, false) => &mut row.square_nanoseconds,
                    (false, true) => &mut row.alone_nanoseconds,
                    (true, true) => &mut row.square_alone_nanoseconds,
                }]
            }
            Row::Grid(is_square, is_far) => vec![match (is_square, is_far) {
                (false, false) => &mut mul.grid.digit_nanoseconds,
                (true, false) => &mut mul.grid.square_digit_nanoseconds,
                (false, true) => &mut mul.grid.far_digit_nanoseconds,
                (true, true) => &mut mul.grid.far_square_digit_nanoseconds,
            }],
            Row::Ntt(false) => vec![&mut mul.ntt.limb_nanoseconds],
            Row::Ntt(true) => vec![&mut mul.ntt.square_limb_nanoseconds],
            Row::Rns(i, true) => {
                let row = &mut modular.rns[i];
                vec![&mut row.nanoseconds, &mut row.conversion_nanoseconds]
            }
            Row::Rns(i, false) => vec![&mut modular.rns[i].vartime_nanoseconds],
            Row::Windows(i, true) => vec![&mut modular.rns[i].windows_nanoseconds],
            Row::Windows(i, false) => vec![&mut modular.rns[i].windows_vartime_nanoseconds],
            Row::Divisors(_) => vec![],
        };
        for time in times {
            *time *= by;
        }
    }
}

impl Case {
    fn new(
        operation: Operation,
        algorithm: Algorithm,
        limbs: usize,
        count: usize,
        row: Row,
    ) -> Self {
        Case {
            operation,
            options: algorithm.into(),
            limbs,
            count,
            nanoseconds: None,
            launches: 0.0,
            row,
        }
    }

    /// How many times as long the case took as the table says, launches apart: should it have taken less
    /// than these alone, they are taken to be most of it.
    fn over_given(&self, took: f64) -> f64 {
        let given = self.nanoseconds.unwrap_or(took);
        (took - self.launches).max(0.05 * took) / (given - self.launches)
    }

    fn by_table(mut self, nanoseconds: f64) -> Self {
        self.nanoseconds = Some(nanoseconds);
        self
    }

    /// The case in words: `mul by fft, 16 lanes, of 4096 bits, one alone`.
    #[must_use]
    pub fn name(&self) -> String {
        let lanes = self.options.lanes;
        let lanes = lanes.map_or_else(String::new, |lanes| format!(", {lanes} lanes,"));
        let is_alone = matches!(self.row, Row::Fft(_, _, true));
        format!(
            "{} by {}{lanes} of {} bits{}",
            self.operation.name(),
            self.options.algorithm.name(),
            self.limbs * LIMB_BITS,
            if is_alone { ", one alone" } else { "" }
        )
    }
}

/// The operation that a product by rows or transforms is measured by.
fn product() -> Operation {
    first(Cost::Product)
}

/// The same of squares.
fn square() -> Operation {
    first(Cost::Square)
}

/// How many numbers of so many limbs, two operands and a result as wide as both, leave the cache.
fn filling(facts: &Facts, limbs: usize) -> usize {
    4 * facts.cache_bytes as usize / (4 * limbs * size_of::<Limb>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance() -> Provenance {
        let [machine, date, how] = ["mine", "2026-11-27", "by hand"].map(str::to_owned);
        Provenance { machine, date, how }
    }

    fn shipped() -> (Tuning, Facts) {
        let tuning = Tuning::default();
        let facts = tuning.device.expect("the shipped table names its device");
        (tuning, facts)
    }

    #[test]
    fn a_job_takes_by_the_new_table_what_it_was_measured_to_take() {
        let (shipped, h200) = shipped();
        let other = Facts {
            capability: (8, 6),
            multiprocessors: 84,
            floats_for_a_double: 64,
            ..h200
        };
        for facts in [h200, other] {
            let cases = shipped.cases(&facts, Extent::default());
            let took =
                |case: &Case| case.nanoseconds.unwrap_or(7.0) * (1.0 + case.limbs as f64 / 1e4);
            let measured: Vec<_> = cases
                .iter()
                .map(|case| (case.clone(), took(case)))
                .collect();
            let tuning = shipped.measured(facts, provenance(), &measured).unwrap();
            let again = tuning.cases(&facts, Extent::default());
            assert_eq!(again.len(), cases.len());
            for ((case, took), again) in measured.iter().zip(&again) {
                assert_eq!(again.name(), case.name());
                let is_same = |given: f64| f64::abs(given / took - 1.0) < 1e-9;
                assert!(again.nanoseconds.is_none_or(is_same), "{}", case.name());
            }
            // What is written is read.
            let text = tuning.text().unwrap();
            let read = Tuning::parse(&text, "mine.toml").unwrap();
            assert_eq!(format!("{:?}", read.mul), format!("{:?}", tuning.mul));
            assert_eq!(read.device, Some(facts));
            assert!(!read.on(&facts).is_modelled);
        }
    }

    #[test]
    fn steps_in_integers_are_for_widths_up_to_the_last_at_which_they_were_faster() {
        let (shipped, facts) = shipped();
        let cases = shipped.cases(&facts, Extent::default());
        let of = |fast: usize| {
            let took = |case: &Case| match case.row {
                Row::Divisors(true) if case.limbs <= fast => 1.0,
                Row::Divisors(false) => 2.0,
                Row::Divisors(true) => 3.0,
                _ => case.nanoseconds.expect("a time"),
            };
            let measured: Vec<_> = cases
                .iter()
                .map(|case| (case.clone(), took(case)))
                .collect();
            let tuning = shipped.measured(facts, provenance(), &measured);
            tuning.unwrap().div.words_max_width
        };
        assert_eq!([0, 16, 64, 128].map(of), [0, 16, 64, 128]);
    }

    #[test]
    fn an_extent_leaves_out_wide_numbers_and_large_batches() {
        let (shipped, facts) = shipped();
        let extent = Extent {
            bits: 2048,
            count: 3,
        };
        let cases = shipped.cases(&facts, extent);
        assert!(!cases.is_empty());
        assert!(cases.iter().all(|case| case.limbs <= 64 && case.count <= 3));
        let old = Facts {
            capability: (7, 5),
            ..facts
        };
        let cases = shipped.cases(&old, Extent::default());
        let names: Vec<_> = [Cost::Product, Cost::Square, Cost::Power, Cost::Euclid]
            .map(|cost| first(cost).name())
            .into();
        assert_eq!(names, ["mul", "square", "pow_mod", "gcd"]);
        let is_by_tensor_cores =
            |case: &Case| [Algorithm::Toeplitz, Algorithm::Rns].contains(&case.options.algorithm);
        assert!(!cases.iter().any(is_by_tensor_cores));
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        let (shipped, facts) = shipped();
        let case = shipped.cases(&facts, Extent::default()).swap_remove(0);
        for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let measured = [(case.clone(), time)];
            let refused = shipped.measured(facts, provenance(), &measured);
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("mul by school"), "{message}");
        }
    }
}
