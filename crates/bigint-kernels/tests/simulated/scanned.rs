//! Entries of tables, picked by digits that do not show.

use crate::bench::{Bench, Operand};
use bigint_core::gather::{GATHER_MODULE, GATHER_SCANNED, ScanArguments};
use bigint_core::{Layout, Shape};
use num_bigint::BigUint;

/// Picks entries of so many limbs by `bits` bits of exponents from bit `at` on, and returns the launch's trace.
fn check(
    bench: &Bench,
    (width, layout): (usize, Layout),
    [table, e]: [&Operand; 2],
    [at, bits]: [usize; 2],
) -> u64 {
    let shape = Shape::new(table.1.len(), width, Layout::Contiguous);
    let mut exponents = bench.matrix(e, Layout::Contiguous);
    if e.1.len() == 1 {
        exponents.number_stride = 0;
    }
    let mut arguments = ScanArguments {
        r: bench.room(shape),
        table: bench.matrix(table, layout),
        e: exponents,
        at: at as u64,
        bits: bits as u64,
        count: shape.count as u64,
        workers: 0,
    };
    let launch = arguments.launch();
    let grid = [launch.grid, launch.block, launch.shared_bytes];
    let counts = bench.launch(GATHER_SCANNED.name, grid, arguments.words(), (width, at));
    let numbers = bench.numbers(arguments.r, shape);
    for (i, found) in numbers.iter().enumerate() {
        let digit = e.1.get(i).unwrap_or(&e.1[0]) >> at;
        let digit = u32::try_from(digit % (1u32 << bits)).unwrap() as usize;
        let entry = (&table.1[i] >> (32 * width * digit)) % (BigUint::from(1u8) << (32 * width));
        assert_eq!(*found, entry, "number {i} of {width} limbs, bit {at}");
    }
    for matrix in [arguments.r, arguments.table, arguments.e] {
        bench.device.free(matrix.limbs).unwrap();
    }
    counts.trace
}

#[test]
fn entries_are_those_of_the_digits_whatever_they_are() {
    let mut bench = Bench::new(GATHER_MODULE);
    for (width, bits, layout) in [
        (1, 1, Layout::Contiguous),
        (3, 4, Layout::Contiguous),
        (8, 3, Layout::Contiguous),
        (8, 3, Layout::Interleaved),
        (132, 5, Layout::Contiguous),
    ] {
        let table = bench.batch(3, width << bits);
        let e = bench.batch(3, 2);
        // Within a limb, across two, and above all.
        for at in [0, 7, 30, 62, 64, 100] {
            let trace = check(&bench, (width, layout), [&table, &e], [at, bits]);
            let other = bench.batch(3, 2);
            let again = check(&bench, (width, layout), [&table, &other], [at, bits]);
            assert_eq!(trace, again, "{width} limbs, bit {at}");
        }
        let one = bench.batch(1, 2);
        check(&bench, (width, layout), [&table, &one], [5, bits]);
    }
}
