//! The times by which `Auto` chooses, beside what an H200 took by its record.

use crate::Tuning;
use bigint_core::LIMB_BITS;
use bigint_core::kernel::Toeplitz;
use std::fs;
use std::path::Path;

/// The nanoseconds of products by tensor cores of operands of so many limbs, of the kernel that the record calls new in its second
/// run.
fn measured() -> Vec<(usize, f64)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/record/gpu/nvidia-h200");
    let record = fs::read_to_string(folder.join("2026-12-01-products-by-columns-in-groups.txt"));
    let record = record.unwrap();
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
        let row = tuning
            .mul
            .toeplitz
            .iter()
            .find(|row| limbs <= row.max_width);
        let row = row.unwrap();
        let told = row.nanoseconds + row.limb_nanoseconds * limbs as f64;
        let off = told / time - 1.0;
        assert!(off.abs() < 0.1, "{limbs} limbs: {told} ns, {time} measured");
        compared += 1;
    }
    assert!(compared > 30, "{compared} widths");
}
