//! The table of kernels and their launches.

extern crate std;
use super::launch::{MOST_STRETCHES, NUMBERS_SCANNED, TILES};
use super::*;
use crate::operation::{MOST_OPERANDS, MOST_RESULTS};
use std::collections::HashSet;
use std::format;

#[test]
fn declarations_are_complete() {
    for operation in Operation::ALL {
        let declared = operation.declaration();
        assert!((1..=MOST_OPERANDS).contains(&declared.operands.len()));
        assert!((1..=MOST_RESULTS).contains(&declared.results.len()));
        assert_eq!(declared.exact.len(), declared.results.len());
        for level in Level::ALL {
            // `lanes` speaks for all rows of a level.
            let rows = declared.rows.iter().filter(|row| row.level == level);
            for row in rows {
                let lanes = operation.lanes(level);
                let are_known = row.lanes.iter().all(|lane| lanes.contains(lane));
                assert!(are_known, "{}", declared.name);
                assert!(!row.layouts.is_empty());
            }
        }
    }
}

#[test]
fn every_row_is_multiplied_out_and_named_after_what_it_says() {
    let mut names = HashSet::new();
    for operation in Operation::ALL {
        for row in operation.declaration().rows {
            for &lanes in row.lanes {
                for &layout in row.layouts {
                    let kernel = Kernel::find(operation, row.algorithm, row.level, lanes, layout);
                    let shared = match row.level {
                        Level::Thread => "".into(),
                        _ if row.is_one_text => "".into(),
                        _ => format!("{lanes}"),
                    };
                    let own = (operation.name(), row.algorithm);
                    let (operation_of_text, algorithm) = row.text.unwrap_or(own);
                    let name = format!(
                        "{operation_of_text}_{}_{}{shared}_{}",
                        algorithm.name(),
                        row.level.name(),
                        layout.name()
                    );
                    assert_eq!(kernel.unwrap().name, name);
                    names.insert((operation.name(), name, row.algorithm, lanes));
                }
            }
        }
    }
    assert_eq!(Kernel::ALL.len(), names.len());
    let rows = "mul_school_warp_interleaved".into();
    assert!(names.contains(&("mul", rows, Algorithm::School, 16)));
}

#[test]
fn a_text_of_another_operation_is_given_what_it_takes() {
    let matrix = |limbs| MatrixArgument {
        limbs,
        ..MatrixArgument::default()
    };
    let (x, y, z) = (matrix(1), matrix(2), matrix(3));
    let kernel = |operation, text| {
        let is_it = |kernel: &&Kernel| kernel.operation == operation && kernel.text == text;
        Kernel::ALL.iter().find(is_it).unwrap()
    };
    let rem = kernel(Operation::Rem, Operation::DivRem).arguments(&[x], &[y, z]);
    assert_eq!(rem, Arguments::of(&[matrix(0), x], &[y, z]));
    let div = kernel(Operation::Div, Operation::DivRem).arguments(&[x], &[y, z]);
    assert_eq!(div, Arguments::of(&[x], &[y, z]));
    let square = kernel(Operation::Square, Operation::Mul).arguments(&[x], &[y]);
    assert_eq!(square, Arguments::of(&[x], &[y, y]));
    let square = kernel(Operation::Square, Operation::Square).arguments(&[x], &[y]);
    assert_eq!(square, Arguments::of(&[x], &[y]));
}

#[test]
fn words_are_all_there_is_in_the_order_of_the_fields() {
    let arguments = Arguments {
        carry: 5,
        workers: 7,
        ..Arguments::default()
    };
    let words: std::vec::Vec<u64> = arguments.words().collect();
    assert_eq!(words.len() * size_of::<u64>(), size_of::<Arguments>());
    let carry = core::mem::offset_of!(Arguments, carry) / size_of::<u64>();
    let workers = core::mem::offset_of!(Arguments, workers) / size_of::<u64>();
    assert_eq!((words[carry], words[workers]), (5, 7));
}

#[test]
fn launches_cover_the_batch_and_bound_the_scratch() {
    for kernel in Kernel::ALL {
        for count in [1, 31, 32, 33, 1000, 1 << 20] {
            for width in [1, 32, 1024, 1 << 20] {
                let launch = kernel.launch(count, &[width, width], width);
                let is_block = kernel.level == Level::Block;
                let threads = match is_block {
                    // A thread may have several parts.
                    true => launch.block,
                    false => kernel.lanes,
                };
                let all = u64::from(launch.grid) * u64::from(launch.block);
                assert_eq!(launch.workers as u64 * u64::from(threads), all);
                let bytes = 4 * launch.scratch_width * launch.workers;
                assert!(launch.grid == 1 || bytes <= kernel.scratch_budget());
                if kernel.takes_stretches() {
                    let stretch = (count * width).div_ceil(launch.workers);
                    assert!(stretch as u64 <= TILES * TILE);
                    assert!(launch.workers as u64 <= 3 + count as u64 * MOST_STRETCHES);
                } else {
                    let (_, at_a_time) = kernel.staged(&[width, width], width);
                    let at_a_time = match kernel.algorithm {
                        Algorithm::Scan if kernel.level == Level::Warp => NUMBERS_SCANNED,
                        _ => at_a_time,
                    };
                    assert!(launch.scratch_width > 0 || launch.workers * at_a_time >= count);
                }
                // More needs the driver's leave, for which the host asks.
                let is_wide = kernel.level == Level::Block || kernel.digit_pairs(1, 1) > 0;
                let most = if is_wide { u32::MAX } else { SHARED_BYTES };
                assert!(launch.shared_bytes <= most);
            }
        }
    }
}
