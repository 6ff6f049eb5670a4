//! Sums and differences of batches in one stretch are right on every path of this machine. Wherever
//! a number begins in a vector and a vector in a line, no carry is lost, and none enters the next
//! number.

use crate::oracle::{COUNTS, Case, Random, batch, expected, number};
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::{Cpu, Numbers, NumbersMut, Path, Tuning};

/// Engines for every path, within the caches and past them.
fn engines() -> Vec<Cpu> {
    let with = |stream_bytes| {
        let mut tuning = Tuning::default();
        tuning.stream_bytes = stream_bytes;
        tuning.stream_words_bytes = stream_bytes;
        tuning.stream_rows_bytes = stream_bytes;
        tuning
    };
    let cpus = Path::ALL.into_iter().filter_map(|path| Cpu::new(path).ok());
    cpus.flat_map(|cpu| [usize::MAX, 0].map(|bytes| cpu.with_tuning(with(bytes))))
        .collect()
}

fn apply(
    cpu: &Cpu,
    operation: Operation,
    (r, r_shape): (&mut [Limb], Shape),
    (a, a_shape): (&[Limb], Shape),
    (b, b_shape): (&[Limb], Shape),
    carry: Option<&mut [Limb]>,
) {
    let r = NumbersMut::new(r, r_shape).unwrap();
    let a = Numbers::new(a, a_shape).unwrap();
    let b = Numbers::new(b, b_shape).unwrap();
    match operation {
        Operation::Sub => cpu.sub(r, a, b, carry, Algorithm::Auto),
        _ => cpu.add(r, a, b, carry, Algorithm::Auto),
    }
    .unwrap();
}

/// Computes `count` numbers of `widths` limbs (result, operands) in memory that begins
/// `offset` limbs after an allocation, on every engine, with and without carries.
fn check(random: &mut Random, count: usize, widths: [usize; 3], offset: usize) {
    let [r_shape, a_shape, b_shape] =
        widths.map(|width| Shape::new(count, width, Layout::Contiguous));
    let a = batch(random, a_shape);
    let b = batch(random, b_shape);
    for operation in [Operation::Add, Operation::Sub] {
        let (mut limbs, mut carries) = (Vec::new(), Vec::new());
        for i in 0..count {
            let (a, b) = (number(&a, a_shape, i), number(&b, b_shape, i));
            let (value, carry) = expected(operation, &a, &b, widths[0]);
            limbs.extend(value.iter_u32_digits());
            limbs.resize((i + 1) * widths[0], 0);
            carries.push(carry);
        }
        for cpu in engines() {
            for with_carries in [true, false] {
                let mut memory = vec![0xdead_beef; offset + limbs.len() + 40];
                let mut found = vec![7; count];
                let r = &mut memory[offset..][..limbs.len()];
                apply(
                    &cpu,
                    operation,
                    (r, r_shape),
                    (&a, a_shape),
                    (&b, b_shape),
                    with_carries.then_some(&mut found[..]),
                );
                let case = (operation, cpu.path(), cpu.tuning().stream_bytes, widths);
                assert!(memory[offset..][..limbs.len()] == limbs, "{case:?}");
                assert!(!with_carries || found == carries, "carries of {case:?}");
                let (before, rest) = memory.split_at(offset);
                let around = before.iter().chain(&rest[limbs.len()..]);
                assert!(around.copied().all(|limb| limb == 0xdead_beef), "{case:?}");
            }
        }
    }
}

/// Enough numbers for a stretch whose vectors are full, and some more.
fn enough(random: &mut Random, width: usize) -> usize {
    600 / width + 1 + random.below(20)
}

#[test]
fn stretches_of_every_width_and_offset_are_right() {
    let mut random = Random(21);
    for w in (1..=70).chain([79, 80, 81, 127, 128, 129, 255, 256, 257, 272, 320, 511, 512]) {
        let count = enough(&mut random, w);
        for widths in [[w, w, w], [w + 1, w, w]] {
            let offset = random.below(17);
            check(&mut random, count, widths, offset);
        }
    }
}

#[test]
fn stretches_of_unequal_widths_are_right() {
    let mut random = Random(22);
    for w in (1..=40).chain([47, 48, 49, 63, 64, 65, 100]) {
        let count = enough(&mut random, w);
        let (n, m) = (random.below(w + 1), random.below(w + 1));
        let wider = w + 1 + random.below(20);
        for widths in [
            [w, n, m],
            [w, w, m],
            [w, n, w],
            [w, wider, m],
            [w, wider, wider],
            [wider, w, w],
        ] {
            let offset = random.below(17);
            check(&mut random, count, widths, offset);
        }
    }
}

/// Each number is all ones and one is added: its carry runs through every limb, and would run on
/// through all numbers that follow if nothing stopped it.
#[test]
fn a_carry_stops_where_its_number_ends() {
    for w in 1..=70 {
        let count = 1200 / w + 3;
        let shape = Shape::new(count, w, Layout::Contiguous);
        let ones = vec![Limb::MAX; shape.limbs()];
        let zeros = vec![0; shape.limbs()];
        // One is added to every third number only.
        let ended = |i: usize| i.is_multiple_of(3);
        let one = |i: usize| Limb::from(i.is_multiple_of(w) && ended(i / w));
        let addend: Vec<Limb> = (0..shape.limbs()).map(one).collect();
        let carries: Vec<Limb> = (0..count).map(|i| ended(i).into()).collect();
        for cpu in engines() {
            for operation in [Operation::Add, Operation::Sub] {
                // All ones plus one is 2^(32 w). 0 minus one is all ones and a borrow.
                let (a, after) = match operation {
                    Operation::Sub => (&zeros, Limb::MAX),
                    _ => (&ones, 0),
                };
                let before = a[0];
                let mut r = vec![7; shape.limbs()];
                let mut found = vec![7; count];
                apply(
                    &cpu,
                    operation,
                    (&mut r, shape),
                    (a, shape),
                    (&addend, shape),
                    Some(&mut found),
                );
                for (i, number) in r.chunks(w).enumerate() {
                    let limb = if ended(i) { after } else { before };
                    assert!(number.iter().all(|&x| x == limb), "{cpu:?} {w} {i}");
                }
                assert_eq!(found, carries, "{cpu:?} {w}");
            }
        }
    }
}

#[test]
fn one_number_for_all_and_mixed_layouts_are_right() {
    let mut random = Random(23);
    let widths = (1..=24).chain([31, 32, 33, 48, 64, 65, 2047, 2048, 2049]);
    for w in widths {
        let count = enough(&mut random, w) + random.below(60);
        for broadcast in [(true, false), (false, true), (true, true), (false, false)] {
            let n = [w, w + 1, w.div_ceil(2)][random.below(3)];
            let case = Case::new(&mut random, count, (w, w, n), broadcast);
            for operation in [Operation::Add, Operation::Sub] {
                for cpu in engines() {
                    case.check(&mut random, operation, false, |r, a, b, carry| {
                        let (r, a, b) = ((r, case.r), (a, case.a), (b, case.b));
                        apply(&cpu, operation, r, a, b, Some(carry));
                    });
                }
            }
        }
    }
}

#[test]
fn stretches_of_every_length_are_right() {
    let mut random = Random(25);
    for count in COUNTS {
        for widths in [[1, 1, 1], [3, 3, 3], [5, 4, 4], [16, 16, 16], [24, 20, 9]] {
            check(&mut random, count, widths, 3);
        }
    }
}

#[test]
fn stretches_of_several_pieces_are_right() {
    let mut random = Random(24);
    for widths in [[3, 2, 2], [5, 5, 5], [33, 32, 32], [700, 700, 650]] {
        check(&mut random, (1 << 19) / widths[0] + 100, widths, 5);
    }
}
