//! Kernels that `auto` takes move whole sectors of memory and meet in no bank of shared
//! memory, counted by the simulator. What does not is listed, with how far it goes and why.
//!
//! The simulator has no caches: it counts the sectors of each request of a warp, and those
//! that neighbouring requests share as often as they are asked for.

#[path = "../benches/count/launch.rs"]
mod launch;

use bigint_core::{Layout, Operation, Shape};
use bigint_host::{Options, Tuning};
use launch::{MANY, Modules, Row, count, widths};
use std::collections::BTreeMap;

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

const SECTORS_KNOWN: [Known; 12] = [
    Known {
        operations: &[("add", 1.26, SECTORS)],
        why: "a result is a limb wider than its operands, so that 32 limbs of them begin within \
              a sector; the other part is the request before's",
    },
    Known {
        operations: &[("sub", 1.1, SECTORS)],
        why: "a warp looks for its carry below its stretch, and in a batch as small as this one \
              a stretch is but a tile",
    },
    Known {
        operations: &[("mul", 2.1, SECTORS), ("square", 8.1, 2.1)],
        why: "of squares more than 32 limbs that are no multiple of four are loaded limb by limb; \
              lanes store four limbs, which are half a sector, and those that square have limbs \
              of four interleaved numbers at a time, which are as much",
    },
    Known {
        operations: &[("mul_high", 22.0, 11.2), ("mul_add", 14.4, 7.2)],
        why: "columns: operands are read again for every four of the result's limbs",
    },
    Known {
        operations: &[
            ("gcd", 7.1, SECTORS),
            ("lcm", 9.2, 1.55),
            ("inv_mod", 8.2, 2.4),
            ("inv_odd_mod", 9.7, 2.4),
        ],
        why: "a thread has a number to itself and takes its limbs one by one, those of a common \
              multiple's operands twice",
    },
    Known {
        operations: &[
            ("div_rem", 5.6, SECTORS),
            ("div", 5.3, SECTORS),
            ("rem", 6.4, SECTORS),
        ],
        why: "lanes take two limbs of the dividend at a time",
    },
    Known {
        operations: &[("isqrt", 21.0, 11.7)],
        why: "roots by a thread grow in scratch, which every step reads and writes",
    },
    Known {
        operations: &[
            ("shl", 2.3, 1.75),
            ("shr", 2.3, 1.75),
            ("test_bit", 4.0, SECTORS),
            ("set_bit", 2.6, 2.1),
            ("select", 1.95, 1.8),
        ],
        why: "up to four limbs, and interleaved, a lane looks at all limbs of the mask or of the \
              number of bits for every word of the result; up to 16 it looks at a number's alone",
    },
    Known {
        operations: &[
            ("compare", 2.8, SECTORS),
            ("equal", 2.8, SECTORS),
            ("bit_length", 2.6, SECTORS),
            ("trailing_zeros", 4.4, SECTORS),
            ("count_ones", 4.4, SECTORS),
            ("min", 3.1, 1.35),
            ("max", 3.1, 1.35),
            ("min_max", 3.1, 1.3),
            ("abs_diff", 5.7, 1.35),
            ("add_signed", 4.4, SECTORS),
            ("mod_add", 8.8, 1.8),
            ("mod_sub", 7.6, 1.55),
        ],
        why: "narrow numbers are read limb by limb where strips of shared memory took longer, which \
              `scanned` says; lanes read what is no multiple of four limbs so, and what was compared \
              or added is read again to be written, by lanes, and by threads of five interleaved \
              limbs and more",
    },
    Known {
        operations: &[("mont_mul", 8.1, SECTORS)],
        why: "a thread, and a lane, has limbs of its own, and takes them one by one",
    },
    Known {
        operations: &[("add_segments", 1.8, 6.8)],
        why: "marks are three limbs to 32, less than a sector of narrow numbers; a warp takes the limbs \
              of interleaved ones, of which lists have none, one by one",
    },
    Known {
        operations: &[
            ("pow_mod", 291.0, 274.0),
            ("pow_pair", 250.0, 250.0),
            ("pow_fixed", 20.0, 10.0),
        ],
        why: "the powers of a window stand in memory, and to tell nobody which is wanted all \
              of them are read",
    },
];

const CONFLICTS_KNOWN: [Known; 1] = [Known {
    operations: &[("mul", 0.52, 0.63), ("square", 0.52, 0.68)],
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
