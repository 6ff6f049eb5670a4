//! The choices of `Auto`, and the times by which it chooses, beside what an H200 took by its records.

use crate::common::job::{Job, Wanted};
use crate::tuning::gpu::ToeplitzTuning;
use crate::{Options, Tuning};
use bigint_core::kernel::Toeplitz;
use bigint_core::{Algorithm, LIMB_BITS, Layout, Level, Operation, Shape};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A record's text.
fn record(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/record/gpu/nvidia-h200");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// What is read of a record that `bigint bench --json` has written.
#[derive(Deserialize)]
struct Record {
    rows: Vec<Row>,
}

/// One operation of numbers of one width in one way.
#[derive(Deserialize)]
struct Row {
    operation: String,
    layout: String,
    algorithm: String,
    level: Option<String>,
    lanes: Option<u32>,
    bits: usize,
    count: usize,
    median_ns: f64,
}

impl Record {
    fn of(name: &str) -> Record {
        serde_json::from_str(&record(name)).unwrap()
    }
}

impl Row {
    fn limbs(&self) -> usize {
        self.bits / LIMB_BITS
    }

    fn way(&self) -> String {
        let level = self.level.as_deref().unwrap_or_default();
        way(&self.algorithm, level, self.lanes.unwrap_or(1))
    }
}

/// The name of a kernel, but for its operation and layout.
fn way(algorithm: &str, level: &str, lanes: u32) -> String {
    format!("{algorithm} {level} {lanes}")
}

/// Records of every kernel that an operation had.
const CHOICES: [&str; 3] = [
    "2026-11-20-choices.json",
    "2026-11-21-elementary-choices.json",
    "2026-11-21-elementary-choices-interleaved.json",
];

/// Operations whose choice took more than a tenth longer than another by these records, up to so many bits, and why it is made.
const SLOWER: [(&str, usize, &str); 6] = [
    ("abs_diff", 512, SCANS),
    ("min", 512, SCANS),
    ("bit_length", 4096, FOURS),
    ("compare", 1024, FOURS),
    ("select", 4096, FOURS),
    ("shl", 4096, FOURS),
];

const SCANS: &str =
    "one width serves all scans, and threads are 1.4 to 2.4 times as fast at others";
const FOURS: &str = "lanes move four limbs at a time since (2026-11-22-fours.txt)";

/// Of all ways that a record has `Auto` takes one that took at most a tenth longer than the fastest one. Kernels that were not there
/// then have records of their own.
#[test]
fn no_choice_costs_a_tenth_more_than_another_by_the_records_of_all() {
    let tuning = Tuning::default();
    let (mut compared, mut slower) = (0, Vec::new());
    for name in CHOICES {
        let mut cases: BTreeMap<_, Vec<Row>> = BTreeMap::new();
        let rows = Record::of(name).rows;
        for row in rows.into_iter().filter(|row| row.algorithm != "auto") {
            let case = (
                row.operation.clone(),
                row.layout.clone(),
                row.bits,
                row.count,
            );
            cases.entry(case).or_default().push(row);
        }
        for ((operation, layout, bits, count), rows) in cases {
            let all = Operation::ALL.into_iter();
            let mut named = all.filter(|one| one.name() == operation);
            let operation = named.next().unwrap();
            let layout = Layout::ALL.into_iter().find(|one| one.name() == layout);
            let limbs = bits / LIMB_BITS;
            let widths: Vec<usize> = match operation {
                Operation::Shl => vec![limbs, 1],
                Operation::Select => vec![limbs, limbs, 1],
                _ => vec![limbs; operation.declaration().operands.len()],
            };
            let shape = Shape::new(count, operation.exact_width(&widths), layout.unwrap());
            let kernel = tuning.kernel(operation, &widths, shape, Options::default());
            let kernel = kernel.unwrap();
            let way = way(kernel.algorithm.name(), kernel.level.name(), kernel.lanes);
            let Some(chosen) = rows.iter().find(|row| row.way() == way) else {
                continue;
            };
            let times = rows.iter().map(|row| row.median_ns);
            let least = times.fold(f64::INFINITY, f64::min);
            compared += 1;
            let is_known =
                |(name, most, _): &(&str, usize, &str)| *name == operation.name() && bits <= *most;
            if chosen.median_ns > 1.1 * least && !SLOWER.iter().any(is_known) {
                let (operation, taken) = (operation.name(), chosen.median_ns);
                slower.push(format!(
                    "{name} {operation} {bits} bits: {way} took {taken} ns, another way {least}"
                ));
            }
        }
    }
    assert!(slower.is_empty(), "{slower:#?}");
    assert!(compared > 60, "{compared}");
}

/// The time by which `Auto` chooses for products of a batch: of numbers that a thread does not multiply, whose kernels have thresholds.
fn told(tuning: &Tuning, limbs: usize, count: usize) -> Option<(&'static str, f64)> {
    let shape = |width| Shape::new(count, width, Layout::Contiguous);
    let (shapes, options) = ([shape(limbs); 2], Options::default());
    let job = Job::new(
        Operation::Mul,
        &shapes,
        &[2 * limbs],
        options,
        Wanted::Nothing,
    )
    .unwrap();
    if let Some((transform, _)) = tuning.transform(job, limbs, limbs, 0) {
        let all = tuning.on_the_whole_device(job, transform, 0);
        return Some(("grid", all / count as f64));
    }
    let kernel = tuning.kernel(Operation::Mul, &[limbs; 2], shape(2 * limbs), options);
    let kernel = kernel.unwrap();
    match (kernel.algorithm, kernel.level) {
        (_, Level::Thread) => None,
        (_, Level::Block) => Some(("block", tuning.blocks(Operation::Mul, limbs, limbs).one)),
        (Algorithm::Toeplitz, _) => Some(("toeplitz", by_toeplitz(tuning, limbs))),
        _ => {
            let products = tuning.products_by_rows(limbs, limbs) as f64;
            Some(("rows", tuning.mul.school_nanoseconds * products))
        }
    }
}

/// The time of a product by tensor cores.
fn by_toeplitz(tuning: &Tuning, limbs: usize) -> f64 {
    let mut rows = tuning.mul.toeplitz.iter();
    let row: &ToeplitzTuning = rows.find(|row| limbs <= row.max_width).unwrap();
    row.nanoseconds + row.limb_nanoseconds * limbs as f64
}

/// Widths in bits whose times are off by more than a tenth, and why.
const OFF: [(usize, &str); 3] = [
    (1568, "no multiple of 128 bits, of which the row is"),
    (
        2144,
        "no multiple of 128 bits, and a twelfth above its neighbours",
    ),
    (
        4_718_592,
        "digits of 13 bits where 5,242,880 bits have as many of 14",
    ),
];

#[test]
fn times_of_products_are_within_a_tenth_of_what_auto_was_measured_to_take() {
    let tuning = Tuning::default();
    let (mut compared, mut off) = (0, Vec::new());
    for row in Record::of("2026-12-01-products-32-to-2p24.json").rows {
        let Some((by, told)) = told(&tuning, row.limbs(), row.count) else {
            continue;
        };
        compared += 1;
        let is_off = |(bits, _): &(usize, &str)| *bits == row.bits;
        if (told / row.median_ns - 1.0).abs() > 0.1 && !OFF.iter().any(is_off) {
            off.push(format!(
                "{} bits by {by}: {told} ns, {} measured",
                row.bits, row.median_ns
            ));
        }
    }
    assert!(off.is_empty(), "{off:#?}");
    assert!(compared > 60, "{compared}");
}

/// The nanoseconds of products by tensor cores of operands of so many limbs, of the kernel that the record calls new in its second
/// run.
fn measured() -> Vec<(usize, f64)> {
    let record = record("2026-12-01-products-by-columns-in-groups.txt");
    let second = record.split("# Second run").nth(1).unwrap();
    let of_line = |line: &str| {
        let (head, times) = line.split_once(" : ")?;
        let words: Vec<_> = head.split_whitespace().collect();
        let [bits, "bits", name, "random", ..] = words[..] else {
            return None;
        };
        let limbs = bits.parse::<usize>().ok()? / LIMB_BITS;
        let time = times.split(' ').next()?.parse().ok()?;
        (name == format!("new_{limbs}")).then_some((limbs, time))
    };
    second.lines().filter_map(of_line).collect()
}

/// So no choice costs more than a tenth: of two ways the one that takes less time by the table takes at most so much more.
#[test]
fn times_of_products_by_tensor_cores_are_within_a_tenth_of_what_was_measured() {
    let tuning = Tuning::default();
    let mut compared = 0;
    for (limbs, time) in measured() {
        // The record has kernels with up to three limbs above the columns, where a group more is taken now.
        let of = Toeplitz::of(limbs as u32, limbs as u32);
        if of.above == 0 && limbs % 64 < 4 && limbs % 64 > 0 {
            continue;
        }
        let told = by_toeplitz(&tuning, limbs);
        let off = told / time - 1.0;
        assert!(off.abs() < 0.1, "{limbs} limbs: {told} ns, {time} measured");
        compared += 1;
    }
    assert!(compared > 30, "{compared} widths");
}
