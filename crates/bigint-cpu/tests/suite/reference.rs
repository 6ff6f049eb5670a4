//! The reference algorithms give num-bigint's results.

use crate::oracle::{COUNTS, Case, Random};
use bigint_core::{Algorithm, Layout, Operation, Shape};
use bigint_cpu::{Cpu, Error, Numbers, NumbersMut, Results, reference};

const ADDING: [Algorithm; 2] = [Algorithm::Ripple, Algorithm::CarryLookahead];
const MULTIPLYING: [Algorithm; 3] = [Algorithm::School, Algorithm::Comba, Algorithm::Karatsuba];

fn check(random: &mut Random, case: Case, operation: Operation, algorithm: Algorithm) {
    case.check(random, operation, false, |r, a, b, carry| {
        let r = NumbersMut::new(r, case.r).unwrap();
        let a = Numbers::new(a, case.a).unwrap();
        let b = Numbers::new(b, case.b).unwrap();
        let results = Results {
            r,
            s: None,
            flags: Some(carry),
        };
        reference::compute(operation, results, &[a, b], algorithm).unwrap();
    });
}

#[test]
fn sums_and_differences_of_every_width_are_right() {
    let mut random = Random(1);
    for n in (0..=70).chain([127, 128, 129]) {
        for m in [n, n / 2, n + 3] {
            for w in [n.max(m) + 1, n.max(m), n / 3] {
                let case = Case::new(&mut random, 5, (w, n, m), (false, false));
                for algorithm in ADDING {
                    check(&mut random, case, Operation::Add, algorithm);
                    check(&mut random, case, Operation::Sub, algorithm);
                }
            }
        }
    }
}

#[test]
fn products_of_every_width_are_right() {
    let mut random = Random(2);
    for n in (0..=70).chain([96, 127, 128, 129, 130, 257]) {
        for m in [n, n / 2, n + 3, 1] {
            for w in [n + m, n.max(m), n + m + 2, n / 3] {
                let case = Case::new(&mut random, 3, (w, n, m), (false, false));
                for algorithm in MULTIPLYING {
                    check(&mut random, case, Operation::Mul, algorithm);
                }
            }
        }
    }
}

#[test]
fn batches_of_every_size_and_broadcasts_are_right() {
    let mut random = Random(3);
    for count in COUNTS {
        for broadcast in [(false, false), (true, false), (false, true), (true, true)] {
            let case = Case::new(&mut random, count, (9, 5, 4), broadcast);
            for algorithm in ADDING {
                check(&mut random, case, Operation::Add, algorithm);
                check(&mut random, case, Operation::Sub, algorithm);
            }
            for algorithm in MULTIPLYING {
                check(&mut random, case, Operation::Mul, algorithm);
            }
        }
    }
}

#[test]
fn a_batch_of_several_pieces_is_right() {
    let mut random = Random(4);
    let case = Case::new(&mut random, 1000, (200, 100, 100), (false, false));
    check(&mut random, case, Operation::Mul, Algorithm::Comba);
    check(&mut random, case, Operation::Sub, Algorithm::Ripple);
}

#[test]
fn what_does_not_fit_is_refused() {
    let shape = Shape::new(2, 2, Layout::Contiguous);
    let limbs = [0; 6];
    assert_eq!(
        Numbers::new(&limbs, shape).unwrap_err(),
        Error::Length { shape, found: 6 }
    );
    assert!(Numbers::new(&limbs, Shape::new(usize::MAX, 2, Layout::Contiguous)).is_err());

    let three = Numbers::new(&limbs, Shape::new(3, 2, Layout::Contiguous)).unwrap();
    let two = Numbers::new(&limbs[..4], shape).unwrap();
    let mut memory = [1; 4];
    let mut r = |carry: Option<&mut [u32]>, a, b, algorithm| {
        Cpu::current().add(
            NumbersMut::new(&mut memory, shape).unwrap(),
            a,
            b,
            carry,
            algorithm,
        )
    };
    assert_eq!(
        r(None, three, two, Algorithm::Auto),
        Err(Error::Count {
            operand: 3,
            result: 2
        })
    );
    assert_eq!(
        r(Some(&mut [0; 3]), two, two, Algorithm::Auto),
        Err(Error::CarryLength { count: 2, found: 3 })
    );
    assert_eq!(
        r(None, two, two, Algorithm::Comba),
        Err(Error::Algorithm {
            operation: Operation::Add,
            algorithm: Algorithm::Comba
        })
    );
    assert_eq!(memory, [1; 4]);
}
