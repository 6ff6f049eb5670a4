//! The fast engine gives the reference's results for everything but arithmetic, on every path of
//! this machine. The conformance suite compares both with num-bigint.

use crate::oracle::{Random, batch};
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::{Cpu, Numbers, NumbersMut, Path, Results, Sharing, Tuning, reference};

/// Engines for every path, whose batches of any size are cut into pieces.
fn engines() -> Vec<Cpu> {
    let mut tuning = Tuning::default();
    tuning.sharing = Sharing {
        thread: 1 << 12,
        piece: 1 << 10,
    };
    let paths = Path::ALL.into_iter();
    paths
        .filter_map(|path| Cpu::new(path).ok())
        .flat_map(|cpu| [cpu, cpu.with_tuning(tuning)])
        .collect()
}

fn shape(random: &mut Random, count: usize, width: usize) -> Shape {
    Shape::new(count, width, Layout::ALL[random.below(2)])
}

/// Both results, by the reference or by `cpu`, over memory whose padding must not change.
fn computed(
    cpu: Option<&Cpu>,
    operation: Operation,
    shapes: [Shape; 2],
    operands: &[Numbers<'_>],
) -> [Vec<Limb>; 2] {
    let [mut r, mut s] = shapes.map(|shape| vec![0xdead_beef; shape.limbs()]);
    let has_second = operation.declaration().results.len() == 2;
    let results = Results {
        r: NumbersMut::new(&mut r, shapes[0]).unwrap(),
        s: has_second.then(|| NumbersMut::new(&mut s, shapes[1]).unwrap()),
        flags: None,
    };
    match cpu {
        Some(cpu) => cpu.compute(operation, results, operands, Algorithm::Auto),
        None => {
            let named = operation.declaration().rows[0].algorithm;
            reference::compute(operation, results, operands, named)
        }
    }
    .unwrap();
    [r, s]
}

#[test]
fn every_path_says_what_the_reference_says() {
    let mut random = Random(19);
    let engines = engines();
    for operation in Operation::ALL {
        let rows = operation.declaration().rows.first();
        let algorithm = rows.map_or(Algorithm::Auto, |row| row.algorithm);
        let is_radix = matches!(operation, Operation::ToDecimal | Operation::FromDecimal);
        if !is_radix && !matches!(algorithm, Algorithm::Limbwise | Algorithm::Scan) {
            continue;
        }
        for case in 0..300 {
            let count = [0, 1, 2, 9, 33, 100, 3000][random.below(7)];
            let widest = if count > 100 { 9 } else { 70 };
            let n = random.below(widest);
            let mut memory = Vec::new();
            for operand in 0..operation.declaration().operands.len() {
                let width = [n, n, random.below(widest), 1][random.below(4)];
                let count = if case % 5 == operand { 1 } else { count };
                let shape = shape(&mut random, count, width);
                let mut limbs = batch(&mut random, shape);
                // This is a count of bits that is within bounds.
                if operand == 1 && case % 2 == 0 {
                    for i in 0..count * usize::from(width > 0) {
                        (1..width).for_each(|j| limbs[shape.index(i, j)] = 0);
                        limbs[shape.index(i, 0)] = random.below(32 * n + 40) as Limb;
                    }
                }
                // Digits to base 10^9, as they mostly are.
                if operation == Operation::FromDecimal && case % 2 == 0 {
                    limbs.iter_mut().for_each(|limb| *limb %= 1_000_000_000);
                }
                memory.push((limbs, shape));
            }
            let operands: Vec<_> = memory
                .iter()
                .map(|(limbs, shape)| Numbers::new(limbs, *shape).unwrap())
                .collect();
            let width = [n, n, n + 2, n / 2][random.below(4)];
            let r = shape(&mut random, count, width);
            let shapes = [r, r.with_width(random.below(widest))];
            let expected = computed(None, operation, shapes, &operands);
            for cpu in &engines {
                let found = computed(Some(cpu), operation, shapes, &operands);
                assert_eq!(found, expected, "{operation:?} {r:?} {cpu:?} {memory:?}");
            }
        }
    }
}
