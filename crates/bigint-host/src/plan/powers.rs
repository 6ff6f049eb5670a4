//! The choice of residue number systems for powers, and of products for Montgomery's where moduli are wide.

use crate::common::device::Abilities;
use crate::common::job::Job;
use crate::device::launches::{Montgomery, Residues};
use crate::plan::choose::{Inputs, multiplier};
use crate::plan::why::Why;
use crate::tuning::gpu::RnsTuning;
use crate::{Error, Options, Tuning};
use bigint_core::kernel::TABLE_WINDOW;
use bigint_core::operation::Cost;
use bigint_core::rns::{RnsPlan, TABLE};
use bigint_core::{Algorithm, LIMB_BITS, Level, Operation, Shape};

/// The products of which a job's Montgomery products are made, and why; none where a kernel holds the moduli, or
/// computes for secrets: carries run through sums for as long as numbers say.
pub(super) fn montgomery(
    tuning: &Tuning,
    device: Abilities,
    job: Job,
    inputs: &Inputs,
) -> Result<Option<(Montgomery, Why)>, Error> {
    let Options { level, lanes, .. } = job.options;
    let algorithm = job.options.algorithm_for(job.operation);
    let scans = match (algorithm, job.options.algorithm) {
        (_, Algorithm::AutoVartime) | (Algorithm::WindowVartime, _) => false,
        (Algorithm::Auto | Algorithm::Window | Algorithm::Cios, _) => true,
        _ => return Ok(None),
    };
    let is_open = lanes.is_none() && matches!(level, None | Some(Level::Grid));
    let rings = inputs.rings(tuning, device, job);
    let why = match rings {
        Some((_, why)) => why,
        None => inputs.is_modulus_wide(tuning),
    };
    if !job.operation.multiplies_modulo() || !is_open || !why.holds() {
        return Ok(None);
    }
    let width = inputs.width(2);
    // Threads take numbers that follow one another without gaps, which halves of products do not.
    let options = Options {
        level: (width <= tuning.mul.thread_many_max_width).then_some(Level::Block),
        ..Options::default()
    };
    let of = |operation, operands: &[usize], result: usize| {
        multiplier(
            tuning,
            device,
            options,
            operation,
            (job.count(), operands, result),
        )
    };
    let by = Montgomery {
        square: of(Operation::Square, &[width], 2 * width)?,
        product: of(Operation::Mul, &[width; 2], 2 * width)?,
        low: of(Operation::Mul, &[width; 2], width)?,
        scans,
        is_scanned: width <= tuning.modular.differences_scan_max_width,
        rings: rings.map(|(plan, _)| plan),
    };
    Ok(Some((by, why)))
}

/// The residue number systems in which a job's powers, or products of two, are computed, and why. They are computed so
/// where an option names it or tables say that it takes less time, no base is wider than the moduli, or there is one
/// table of a base and one modulus, and the device has the shared memory.
pub(super) fn residues(
    tuning: &Tuning,
    device: Abilities,
    job: Job,
    shapes: &[Shape],
) -> Result<Option<(Residues, Why)>, Error> {
    let (operation, Options { level, lanes, .. }) = (job.operation, job.options);
    let &[a_shape, e_shape, m_shape] = shapes else {
        return Ok(None);
    };
    let [a, e, m] = [a_shape, e_shape, m_shape].map(|shape| shape.width);
    let is_open = operation.has(Algorithm::Rns) && level.is_none();
    let (is_named, scans) = match (job.options.algorithm, job.options.algorithm_for(operation)) {
        (_, Algorithm::Rns) => (true, true),
        (_, Algorithm::RnsVartime) => (true, false),
        (_, Algorithm::Auto) if is_open => (false, true),
        (Algorithm::AutoVartime, _) if is_open => (false, false),
        _ => return Ok(None),
    };
    if is_named && lanes.is_none() && !device.has_tensor_cores {
        return Err(Error::NoTensorCores { operation });
    }
    let is_for_all = lanes.is_none() && matches!(level, None | Some(Level::Grid));
    let plan = RnsPlan::of(m).map(|plan| plan.by_warpgroups(device.has_warpgroups));
    let plan = plan.filter(|plan| plan.shared_bytes() <= device.shared_bytes);
    let bases = match operation.cost() {
        Cost::PairOfPowers => 2,
        Cost::PowerByTable => TABLE,
        _ => 1,
    };
    let (fits, exponent) = match bases {
        // There is a product for each window, whatever exponents need.
        TABLE => {
            let windows = (a / m.max(1)) >> TABLE_WINDOW;
            let is_of_one = (a_shape.count, m_shape.count) == (1, 1);
            (is_of_one, (windows * TABLE_WINDOW).div_ceil(LIMB_BITS))
        }
        _ => (a.div_ceil(bases as usize) <= m, e),
    };
    let Some(plan) = plan.filter(|_| is_for_all && device.has_tensor_cores && fits) else {
        return Ok(None);
    };
    let share = exponent as f64;
    let of_block = plan.numbers_of_block(plan.window(exponent, scans, bases)) as usize;
    let residues = Residues {
        plan,
        bases,
        scans,
        wave: device.multiprocessors.map(|n| of_block * n as usize),
    };
    if is_named {
        return Ok(Some((residues, Why::Forced)));
    }
    let rows = &tuning.modular.rns;
    let why = residues
        .wave
        .and_then(|wave| rns_or_windows(rows, residues, wave, job.count(), (share, m, 1.0)));
    Ok(why.filter(Why::holds).map(|why| (residues, why)))
}

/// Whether so many powers take less time in residue number systems, of which a wave of numbers fills the
/// device, than by windows; none where that was not measured. A part of a wave takes as long as a wave. Both
/// times grow as exponents do, that of windows also as the square of the modulus.
fn rns_or_windows(
    rows: &[RnsTuning],
    Residues {
        plan, bases, scans, ..
    }: Residues,
    wave: usize,
    count: usize,
    (exponent, modulus, conversions): (f64, usize, f64),
) -> Option<Why> {
    let pairs = |row: &RnsTuning| RnsPlan::of(row.width).map(|plan| plan.pairs);
    let is_it = |row: &&RnsTuning| row.bases == bases && pairs(row) == Some(plan.pairs);
    let row = rows.iter().find(is_it)?;
    let [exponents, moduli] = [exponent, modulus as f64].map(|limbs| limbs / row.width as f64);
    let in_waves = (count.div_ceil(wave) * wave) as f64 / count.max(1) as f64;
    let (by_rns, by_windows) = match scans {
        true => (row.nanoseconds, row.windows_nanoseconds),
        false => (row.vartime_nanoseconds, row.windows_vartime_nanoseconds),
    };
    Some(Why::Faster {
        key: "modular.rns, in whole waves",
        nanoseconds: in_waves * exponents * by_rns + conversions * row.conversion_nanoseconds,
        than: "windows",
        other: exponents * moduli.min(1.0).powi(2) * by_windows,
    })
}

/// Whether a chain of so many numbers takes less time in residue number systems than product by product, and how: of `products`
/// products, and of `ends` numbers that go in or come out. Tables say it of as many products as moduli have bits.
pub(crate) fn is_chain(
    tuning: &Tuning,
    device: Abilities,
    count: usize,
    width: usize,
    [products, ends]: [usize; 2],
) -> bool {
    let residues = Residues::of_chain(width, device);
    let Some((residues, wave)) = residues.and_then(|of| Some((of, of.wave?))) else {
        return false;
    };
    let exponent = products as f64 / LIMB_BITS as f64;
    // What goes in and what comes out is half of conversions each.
    let conversions = ends as f64 / 2.0;
    let rows = &tuning.modular.rns;
    rns_or_windows(rows, residues, wave, count, (exponent, width, conversions))
        .is_some_and(|why| why.holds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::device::Kind;
    use crate::common::facts::Facts;
    use crate::common::job::Wanted;
    use bigint_core::Layout;

    /// The algorithm of so many powers, where it is none by windows.
    fn chosen(
        tuning: &Tuning,
        count: usize,
        widths: [usize; 3],
        options: Options,
    ) -> Option<Algorithm> {
        chosen_of(Operation::PowMod, tuning, count, widths, options)
    }

    fn chosen_of(
        operation: Operation,
        tuning: &Tuning,
        count: usize,
        widths: [usize; 3],
        options: Options,
    ) -> Option<Algorithm> {
        let of_shapes = widths.map(|width| (count, width));
        chosen_of_shapes(operation, tuning, of_shapes, options)
    }

    fn chosen_of_shapes(
        operation: Operation,
        tuning: &Tuning,
        shapes: [(usize, usize); 3],
        options: Options,
    ) -> Option<Algorithm> {
        let device = Abilities {
            shared_bytes: 227 << 10,
            has_tensor_cores: true,
            has_warpgroups: true,
            multiprocessors: Some(132),
        };
        let results = [shapes[2].1];
        let shapes = shapes.map(|(count, width)| Shape::new(count, width, Layout::Contiguous));
        let job = Job::new(operation, &shapes, &results, options, Wanted::Nothing).unwrap();
        let residues = residues(tuning, device, job, &shapes).unwrap();
        residues.map(|(residues, _)| match residues.scans {
            true => Algorithm::Rns,
            false => Algorithm::RnsVartime,
        })
    }

    #[test]
    fn residue_number_systems_take_whole_waves_and_leave_the_rest_to_windows() {
        let tuning = Tuning::default();
        let by_rns = |count, [a, e, m]: [usize; 3]| {
            let chosen = chosen(&tuning, count, [a, e, m], Options::default());
            assert_ne!(chosen, Some(Algorithm::RnsVartime));
            chosen.is_some()
        };
        let wave_of = |width| {
            let plan = RnsPlan::of(width).unwrap().by_warpgroups(true);
            132 * plan.numbers_of_block(plan.window(width, true, 1)) as usize
        };
        for width in [32, 48, 64, 96, 128, 192, 256] {
            let wave = wave_of(width);
            let widths = [width; 3];
            assert!(by_rns(wave, widths) && by_rns(8 * wave, widths), "{width}");
            assert!(by_rns(100 * wave + 1, widths), "{width}");
            // A wave for one number, or a fifth of one.
            assert!(!by_rns(1, widths) && !by_rns(wave / 5, widths), "{width}");
            // Conversions cost more than so few squares.
            assert!(!by_rns(wave, [width, 1, width]), "{width}");
            // Bases are wider than moduli.
            assert!(!by_rns(wave, [width + 1, width, width]), "{width}");
        }
        assert!(!by_rns(wave_of(32) + 1, [32; 3]));
        // As many primes as for 8192 bits: windows of seven limbs a lane take longer still.
        assert!(by_rns(wave_of(193), [193; 3]));
        // As many as for 1024 bits, and too wide.
        assert!(!by_rns(wave_of(16), [16; 3]) && !by_rns(wave_of(256), [300; 3]));
    }

    #[test]
    fn products_of_two_powers_are_chosen_by_rows_of_their_own() {
        let mut tuning = Tuning::default();
        let by = |tuning: &Tuning, count, widths, algorithm| {
            let options = Options::from(algorithm);
            chosen_of(Operation::PowPair, tuning, count, widths, options)
        };
        let vartime = Algorithm::AutoVartime;
        let wave = 132 * 128;
        for width in [64, 96, 128, 192, 256] {
            let by_rns = Some(Algorithm::RnsVartime);
            // Bases and exponents as wide as the modulus, each half of an operand.
            let widths = [2 * width, 2 * width, width];
            assert_eq!(by(&tuning, wave, widths, vartime), by_rns, "{width}");
            assert_eq!(by(&tuning, 1, widths, vartime), None, "{width}");
            let wider = [2 * width + 1, width, width];
            assert_eq!(by(&tuning, wave, wider, vartime), None, "{width}");
        }
        let widths = [192, 192, 96];
        let by_rns = Some(Algorithm::Rns);
        assert_eq!(by(&tuning, wave, widths, Algorithm::Auto), by_rns);
        tuning.modular.rns.retain(|row| row.bases == 1);
        assert_eq!(by(&tuning, wave, widths, Algorithm::Auto), None);
        assert_eq!(by(&tuning, wave, widths, vartime), None);
        assert_eq!(by(&tuning, wave, widths, Algorithm::Rns), by_rns);
    }

    /// Of exponents as wide as the modulus, and a tenth of it.
    #[test]
    fn powers_by_a_table_are_chosen_by_rows_of_their_own() {
        let mut tuning = Tuning::default();
        let by =
            |tuning: &Tuning, [bases, numbers, moduli]: [usize; 3], width: usize, algorithm| {
                let t = (bases, (64 * width) * (32 * width).div_ceil(6));
                let shapes = [t, (numbers, width), (moduli, width)];
                let options = Options::from(algorithm);
                chosen_of_shapes(Operation::PowFixed, tuning, shapes, options)
            };
        let wave = 132 * 256;
        for width in [64, 96, 128, 192, 256] {
            for (auto, by_rns) in [
                (Algorithm::Auto, Algorithm::Rns),
                (Algorithm::AutoVartime, Algorithm::RnsVartime),
            ] {
                let by_rns = Some(by_rns);
                assert_eq!(by(&tuning, [1, wave, 1], width, auto), by_rns, "{width}");
                // A wave for one number; several tables, or moduli.
                for counts in [[1, 1, 1], [wave, wave, 1], [1, wave, wave]] {
                    assert_eq!(by(&tuning, counts, width, auto), None, "{width}");
                }
            }
        }
        let (counts, by_rns) = ([1, wave, 1], Algorithm::Rns);
        tuning.modular.rns.retain(|row| row.bases != TABLE);
        assert_eq!(by(&tuning, counts, 64, Algorithm::Auto), None);
        assert_eq!(by(&tuning, counts, 64, by_rns), Some(by_rns));
        assert_eq!(by(&tuning, [1, wave, wave], 64, by_rns), None);
    }

    #[test]
    fn options_and_files_without_times_leave_powers_to_windows() {
        let mut tuning = Tuning::default();
        let auto = Options::default();
        let by = |tuning: &Tuning, options| chosen(tuning, 132 * 256, [48; 3], options);
        assert_eq!(by(&tuning, auto), Some(Algorithm::Rns));
        let lanes = Some(4);
        let level = Some(Level::Warp);
        for options in [Options { lanes, ..auto }, Options { level, ..auto }] {
            assert_eq!(by(&tuning, options), None);
        }
        let algorithm = Algorithm::Window;
        assert_eq!(by(&tuning, Options { algorithm, ..auto }), None);
        // Where time may depend on exponents, other times are compared.
        let algorithm = Algorithm::AutoVartime;
        let vartime = Options::from(algorithm);
        let by_rns = Some(Algorithm::RnsVartime);
        assert_eq!(by(&tuning, vartime), by_rns);
        for options in [Options { lanes, ..vartime }, Options { level, ..vartime }] {
            assert_eq!(by(&tuning, options), None);
        }
        let slow = |row: &mut RnsTuning| row.vartime_nanoseconds = 1e9;
        tuning.modular.rns.iter_mut().for_each(slow);
        assert_eq!(by(&tuning, vartime), None);
        assert_eq!(by(&tuning, auto), Some(Algorithm::Rns));
        tuning.modular.rns.clear();
        assert_eq!(by(&tuning, auto), None);
        assert_eq!(by(&tuning, vartime), None);
        let algorithm = Algorithm::RnsVartime;
        assert_eq!(by(&tuning, Options { algorithm, ..auto }), Some(algorithm));
    }

    #[test]
    fn powers_modulo_wide_numbers_go_by_two_rings_where_doubles_are_fast() {
        let tuning = Tuning::default();
        let device = Kind::UNKNOWN.abilities;
        let limbs = |tuning: &Tuning, operation, [a, e, m]: [usize; 3], options| {
            let shapes = [a, e, m].map(|width| Shape::new(600, width, Layout::Contiguous));
            let job = Job::new(operation, &shapes, &[m], options, Wanted::Nothing).unwrap();
            let inputs = Inputs::of_shapes(shapes.into());
            let chosen = montgomery(tuning, device, job, &inputs).unwrap();
            chosen.and_then(|(by, _)| by.rings.map(|plan| plan.limbs()))
        };
        let auto = Options::default();
        let (power, pair) = (Operation::PowMod, Operation::PowPair);
        let rings = |widths| limbs(&tuning, power, widths, auto);
        assert_eq!(rings([256; 3]), None);
        assert_eq!(rings([257; 3]), Some(512));
        assert_eq!(rings([513; 3]), Some(1024));
        assert_eq!(rings([513, 1, 300]), Some(1024));
        assert_eq!(rings([1025; 3]), None);
        assert_eq!(limbs(&tuning, pair, [1024, 2, 512], auto), Some(512));
        assert_eq!(limbs(&tuning, Operation::MontMul, [512; 3], auto), None);
        for algorithm in [Algorithm::Window, Algorithm::WindowVartime] {
            assert_eq!(
                limbs(&tuning, power, [600; 3], Options::from(algorithm)),
                None
            );
        }
        let vartime = Options::from(Algorithm::AutoVartime);
        assert_eq!(limbs(&tuning, power, [600; 3], vartime), Some(1024));
        let weak = Facts {
            floats_for_a_double: 64,
            ..Tuning::default().device.unwrap()
        };
        assert_eq!(limbs(&tuning.on(&weak), power, [600; 3], auto), None);
    }

    /// An RTX 4090's tensor cores do two fifths of what an H200's do in a clock.
    #[test]
    fn devices_with_weaker_tensor_cores_stay_with_windows() {
        let weak = Facts {
            capability: (8, 9),
            ..Tuning::default().device.unwrap()
        };
        let tuning = Tuning::default().on(&weak);
        assert_eq!(
            chosen(&tuning, 132 * 256, [64; 3], Options::default()),
            None
        );
    }
}
