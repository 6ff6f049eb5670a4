//! Every kernel is one that `auto` takes, or that a paper's benchmark names. Those that `auto`
//! takes move whole sectors of memory and meet in no bank of shared
//! memory, counted by the simulator. What does not is listed, with how far it goes and why.
//!
//! Sectors that a warp finds in its share of the caches do not move; how many requests ask for
//! is counted too (`request_ratio`), and bounds nothing here.

#[path = "../benches/count/launch.rs"]
mod launch;

use bigint_core::fused::FusedKernel;
use bigint_core::{Kernel, Layout, Operation, Shape};
use bigint_host::{Facts, Options, Tuning};
use launch::{MANY, Modules, Row, count, widths};
use std::collections::{BTreeMap, BTreeSet};

/// Sectors moved over the fewest, at most.
const SECTORS: f64 = 1.05;

/// Passes of shared memory beyond the fewest over the fewest, at most.
const CONFLICTS: f64 = 0.05;

/// Whole lines, parts of them, and what is above a thread's registers.
const WIDTHS: [usize; 9] = [32, 96, 128, 160, 256, 512, 1024, 1056, 2048];

/// The widest powers, whose exponents are as wide, and inverses in constant time: they take the
/// simulator long.
const WIDEST_POWER: usize = 160;

/// Why operations go over a limit, and how far they do: contiguous and interleaved.
struct Known {
    operations: &'static [(&'static str, f64, f64)],
    why: &'static str,
}

const SECTORS_KNOWN: [Known; 8] = [
    Known {
        operations: &[("mul", 1.12, SECTORS)],
        why: "products of 33 limbs and more have so much of their numbers in shared memory that \
              little is left of a cache for the ends of lines",
    },
    Known {
        operations: &[
            ("div_rem", 1.46, SECTORS),
            ("div", 1.62, SECTORS),
            ("rem", 1.62, SECTORS),
            ("gcd", 3.8, SECTORS),
            ("lcm", 5.7, 1.51),
            ("inv_mod", 2.2, 1.4),
            ("inv_odd_mod", 5.5, 1.25),
            ("mont_mul", 1.06, SECTORS),
        ],
        why: "a thread loads numbers of its own into registers or columns, four limbs at a time or \
              one by one, and shared memory leaves few lines",
    },
    Known {
        operations: &[("isqrt", 3.0, 3.0)],
        why: "roots of up to 96 bits grow in scratch, which every step reads and writes: in shared \
              memory, where wider ones do, they take a tenth longer; 1.09 by lanes, of 2048 bits",
    },
    Known {
        operations: &[("to_decimal", 6.1, 4.7), ("from_decimal", 4.7, 4.0)],
        why: "what is left to divide, or has been read, stands in scratch, over which every eight digits go: the link to the \
              host, which all of it crosses, takes longer",
    },
    Known {
        operations: &[("test_bit", 1.2, SECTORS)],
        why: "numbers of bits as wide as these are read limb by limb, by a lane each",
    },
    Known {
        operations: &[("mod_add", SECTORS, 1.75), ("mod_sub", SECTORS, 1.5)],
        why: "to tell nothing of the numbers, threads go through all limbs for what is to be written, \
              and again to write it, and of wide interleaved ones a cache keeps few",
    },
    Known {
        operations: &[("add_segments", SECTORS, 4.0)],
        why: "a warp takes the limbs of interleaved numbers, of which lists have none, one by one",
    },
    Known {
        operations: &[("pow_mod", 1.65, 1.6), ("pow_pair", 3.46, 3.46)],
        why: "powers stand in tables with all limbs of the registers that hold them, four of one and \
              eight of five",
    },
];

const CONFLICTS_KNOWN: [Known; 1] = [Known {
    operations: &[("mul", 0.52, 0.63)],
    why: "slots and places are as far apart as threads want them; the copies of whole lines to \
          them and from them meet in a bank here and there, and threads two by two in places of \
          as many limbs as are no multiple of four, but of two",
}];

/// The limit of an operation in a layout.
fn limit(known: &[Known], general: f64, operation: &str, layout: Layout) -> f64 {
    let mut all = known.iter().flat_map(|known| known.operations);
    let found = all.find(|(name, ..)| *name == operation);
    found.map_or(general, |&(_, contiguous, interleaved)| match layout {
        Layout::Contiguous => contiguous,
        Layout::Interleaved => interleaved,
    })
}

/// What `auto` takes at every width, counted.
fn counted(operation: Operation, modules: &mut Modules, layout: Layout) -> Vec<Row> {
    let tuning = Tuning::default();
    let widest = match operation {
        Operation::InvOddMod => WIDEST_POWER,
        _ if operation.is_power() => WIDEST_POWER,
        _ => usize::MAX,
    };
    let mut row = |bits| {
        let (widths, result) = widths(operation, bits);
        if tuning.takes_whole_product(operation, widths[0], widths[widths.len() - 1]) {
            return None;
        }
        let shape = Shape::new(MANY, result, layout);
        let kernel = tuning.kernel(operation, &widths, shape, Options::default());
        Some(count(&tuning, kernel.ok()?, modules, bits, layout))
    };
    let bits = WIDTHS.into_iter().filter(|&bits| bits <= widest);
    bits.filter_map(&mut row).collect()
}

#[test]
fn kernels_that_auto_takes_move_whole_sectors_and_meet_in_no_bank() {
    let mut over = Vec::new();
    // Of each operation the greatest: of sectors and of conflicts.
    let mut greatest = BTreeMap::new();
    let has_kernels = |operation: &Operation| !operation.declaration().rows.is_empty();
    for operation in Operation::ALL.into_iter().filter(has_kernels) {
        let mut modules = Modules::new();
        for layout in Layout::ALL {
            let most_sectors = limit(&SECTORS_KNOWN, SECTORS, operation.name(), layout);
            let most_conflicts = limit(&CONFLICTS_KNOWN, CONFLICTS, operation.name(), layout);
            for row in counted(operation, &mut modules, layout) {
                let what = format!("{} of {} bits, {}", row.op, row.bits, row.layout);
                let (sectors, conflicts) = (row.sector_ratio, row.bank_conflict_ratio);
                if sectors > most_sectors {
                    over.push(format!("{what}: {sectors:.3} times the fewest sectors"));
                }
                if conflicts > most_conflicts {
                    over.push(format!("{what}: {conflicts:.3} of bank conflicts"));
                }
                let (most, worst) = greatest.entry(row.op).or_insert((0.0_f64, 0.0_f64));
                (*most, *worst) = (most.max(sectors), worst.max(conflicts));
            }
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
    // A reason that no operation has any more is to be taken off the list.
    for known in &SECTORS_KNOWN {
        let mut of = known.operations.iter().map(|(name, ..)| greatest[name].0);
        assert!(of.any(|sectors| sectors > SECTORS), "mended: {}", known.why);
    }
    for known in &CONFLICTS_KNOWN {
        let mut of = known.operations.iter().map(|(name, ..)| greatest[name].1);
        assert!(
            of.any(|conflicts| conflicts > CONFLICTS),
            "mended: {}",
            known.why
        );
    }
}

/// Kernels that no threshold takes: the benchmarks of these papers name them
/// (`bigint bench honda`, `bigint bench carlessi`), and products by an algorithm's name.
const NAMED_BY_PAPERS: [(&str, &[&str]); 2] = [
    (
        "Honda, Ito and Nakano",
        &[
            "mul_comba_warp32_contiguous",
            "mul_comba_warp32_interleaved",
            "mul_karatsuba_warp32_interleaved",
        ],
    ),
    (
        "Carlessi and Kashani",
        &[
            "add_ripple_thread_contiguous",
            "sub_ripple_thread_contiguous",
            "mul_karatsuba_thread_contiguous",
            "mul_karatsuba_thread_interleaved",
        ],
    ),
];

/// Widths in limbs: all that registers and places of a thread hold, then powers of two, their quarters in
/// between, and their neighbours.
fn all_widths() -> impl Iterator<Item = usize> + Clone {
    let quarters = |log: usize| (4..8).map(move |quarters| quarters << (log - 2));
    let wide = (6..14).flat_map(move |log| quarters(log).chain([(1 << log) + 1]));
    (1..=50).chain(wide)
}

/// The names of the kernels that `auto` takes for an operation, on the device that was measured and on
/// one that is slow with doubles.
fn taken(operation: Operation) -> BTreeSet<&'static str> {
    let measured = Tuning::default();
    let slow = Facts {
        floats_for_a_double: 64,
        ..measured.device.expect("the shipped table names its device")
    };
    let slow = measured.on(&slow);
    let mut names = taken_by(&measured, operation);
    names.extend(taken_by(&slow, operation));
    names
}

/// The names of the kernels that these thresholds take for an operation.
fn taken_by(tuning: &Tuning, operation: Operation) -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    let mut take = |widths: &[usize], result| {
        if tuning.takes_whole_product(operation, widths[0], widths[widths.len() - 1]) {
            return;
        }
        for count in [1, 1 << 12, MANY] {
            for layout in Layout::ALL {
                let shape = Shape::new(count, result, layout);
                let kernel = tuning.kernel(operation, widths, shape, Options::default());
                names.extend(kernel.ok().map(|kernel| kernel.name));
            }
        }
    };
    let operands = operation.declaration().operands.len();
    for n in all_widths() {
        for m in [1, n.div_ceil(2), n, 2 * n] {
            let widths = &[n, m, n.max(m)][..operands];
            let exact = operation.exact_width(widths);
            for result in [1, exact.div_ceil(2), exact] {
                take(widths, result);
            }
        }
    }
    names
}

#[test]
fn every_kernel_is_taken_by_auto_for_some_numbers_or_named_by_a_paper() {
    let has_kernels = |operation: &Operation| !operation.declaration().rows.is_empty();
    let operations = Operation::ALL.into_iter().filter(has_kernels);
    let taken: BTreeSet<_> = operations.flat_map(taken).collect();
    let all: BTreeSet<_> = Kernel::ALL.iter().map(|kernel| kernel.name).collect();
    let idle: BTreeSet<_> = all.difference(&taken).copied().collect();
    let named = NAMED_BY_PAPERS.iter().flat_map(|(_, names)| *names);
    assert_eq!(idle, named.copied().collect());
}

#[test]
fn every_fused_kernel_is_taken_by_auto_for_values_of_some_width() {
    let widest = Tuning::default().fused.product_max_width;
    let products = (1..=widest).map(|width| FusedKernel::of(true, width));
    let taken: Vec<_> = products.chain([FusedKernel::of(false, 1)]).collect();
    for kernel in FusedKernel::ALL {
        assert!(taken.contains(&Some(kernel)), "{kernel:?}");
    }
}
