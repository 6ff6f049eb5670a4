//! Langer: lists of sums and products of numbers whose lengths are drawn from a normal
//! distribution (figures 3 and 4): 1024 numbers, two of them at random for each computation.
//!
//! The figures are drawings, of GPU times with and without transfers and of LEDA's on a CPU,
//! over means in multiples of 1024 bits; so there is no figure beside these. Beside them
//! stand longer lists, and one number of 2^20 bits among a million short ones: what bins
//! cost a list, against batches that somebody has sorted and padded before.

use super::benchmark::{Benchmark, Case, Who, Work};
use super::lists::{Lengths, List, Way};
use bigint_core::Operation;

pub const BENCHMARK: Benchmark = Benchmark {
    name: "langer",
    authors: "Langer",
    title: "Arbitrary-Precision Arithmetics on the GPU",
    published_on: "K2100M and Core i7 4700MQ",
    widths: &[64, 1024, 2048, 4096, 8192, 16384, 32768, 65536],
    // Every list has its own; a copy beside them is of as many bits as memory shows its rate at.
    count: |bits| (1 << 30) / bits,
    unit: "ms for a list",
    figure: |_, list| list / 1e6,
    samples: 32,
    is_mean: true,
    cases,
    drawn: &[
        (
            "3: 4096",
            &[
                &["add, deviation 0 %, with transfers"],
                &["add, deviation 25 %, with transfers"],
                &["add, deviation 0 %, without transfers"],
                &["add, deviation 25 %, without transfers"],
                &["add, deviation 25 %, with transfers, one thread"],
                &["add, deviation 25 %, with transfers, all threads"],
            ],
        ),
        (
            "4: 4096",
            &[
                &["mul, deviation 0 %, with transfers"],
                &["mul, deviation 25 %, with transfers"],
                &["mul, deviation 0 %, without transfers"],
                &["mul, deviation 25 %, without transfers"],
                &["mul, deviation 25 %, with transfers, one thread"],
                &["mul, deviation 25 %, with transfers, all threads"],
            ],
        ),
    ],
};

/// A width that is the mean of both of the paper's figures, and of the long lists.
const MEAN: usize = 1024;
/// The width of the short numbers that a giant is among.
const SHORT: usize = 64;
/// Computations of the paper's lists, of a long one, and short ones beside a giant.
const COUNTS: [usize; 3] = [256, 1024, 4096];
const MANY: usize = 1_000_000;

fn cases(bits: usize, on_device: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |table: String, lengths: Lengths, operation: Operation, count, way: Way| {
        let work = Work::List(List {
            operation,
            count,
            lengths,
            way,
        });
        let told = format!("{}, {}, {}", operation.name(), lengths, way.name());
        let of_host = Case::new(table.clone(), &told, work);
        match on_device {
            true => cases.push(of_host),
            false => {
                for (threads, who) in [("one thread", Some(1)), ("all threads", None)] {
                    let case = Case::new(table.clone(), &format!("{told}, {threads}"), work);
                    let who = Who::Cpu(who);
                    cases.push(Case { who, ..case });
                }
            }
        }
    };
    let (add, sub, mul) = (Operation::Add, Operation::Sub, Operation::Mul);
    if bits == SHORT {
        for operation in [add, mul] {
            for lengths in [Lengths::Short, Lengths::Giant, Lengths::Both] {
                let table = "a giant of 2^20 bits among a million numbers".to_owned();
                case(table, lengths, operation, MANY, Way::Whole);
            }
        }
        return cases;
    }
    let ways: &[Way] = match on_device {
        true => &[Way::Whole, Way::OnDevice],
        false => &[Way::Whole],
    };
    for count in COUNTS {
        for (figure, operations, widths) in [
            (3, &[add, sub][..], 4 * MEAN..=64 * MEAN),
            (4, &[mul], MEAN..=16 * MEAN),
        ] {
            for &operation in operations.iter().filter(|_| widths.contains(&bits)) {
                for deviation in [0, 25] {
                    for &way in ways {
                        let table = format!("{figure}: {count} computations");
                        let lengths = Lengths::Normal { deviation };
                        case(table, lengths, operation, count, way);
                    }
                }
            }
        }
    }
    if bits == MEAN {
        for (count, operation) in [(4096, add), (4096, mul), (MANY, add), (MANY, mul)] {
            for deviation in [0, 25, 50] {
                for &way in [Way::Sorted].iter().chain(ways) {
                    let table = format!("bins against batches, {count} computations");
                    let lengths = Lengths::Normal { deviation };
                    case(table, lengths, operation, count, way);
                }
            }
        }
    }
    cases
}
