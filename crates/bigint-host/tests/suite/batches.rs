//! What goes into a batch comes out of it, and what cannot go in is refused by name.

use crate::checks::signs::{check_chain, check_signs};
use bigint_host::{Algorithm, BigUint, Engine, Error, Layout, MAX_WIDTH, Shape};
use proptest::prelude::*;

fn powers(count: usize) -> Vec<BigUint> {
    (0..count)
        .map(|i| BigUint::from(1u32) << (i % 96))
        .collect()
}

#[test]
fn numbers_survive_every_form_in_every_layout() {
    let engine = Engine::cpu();
    for layout in Layout::ALL {
        for count in [0, 1, 31, 32, 33, 1000] {
            let numbers = powers(count);
            let batch = engine.batch_from_biguints_in(&numbers, 3, layout).unwrap();
            assert_eq!(batch.shape(), Shape::new(count, 3, layout));
            assert_eq!(batch.to_biguints().unwrap(), numbers);

            let limbs = batch.to_limbs().unwrap();
            let again = engine
                .batch_from_limbs(limbs.clone(), batch.shape())
                .unwrap();
            assert_eq!(again.to_limbs().unwrap(), limbs);

            let bytes = batch.to_bytes_le().unwrap();
            let again = engine.batch_from_bytes_le(&bytes, 12, layout).unwrap();
            assert_eq!(again.to_biguints().unwrap(), numbers);

            for other in Layout::ALL {
                let moved = engine.to_layout(&batch, other).unwrap();
                assert_eq!(moved.shape().layout, other);
                assert_eq!(moved.to_biguints().unwrap(), numbers);
                assert_eq!(moved.rows().unwrap(), batch.rows().unwrap());
            }
        }
    }
}

#[test]
fn bytes_that_are_no_whole_number_of_limbs_are_extended_by_zeros() {
    let engine = Engine::cpu();
    let batch =
        engine.batch_from_bytes_le(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 5, Layout::Interleaved);
    let batch = batch.unwrap();
    assert_eq!((batch.len(), batch.width()), (2, 2));
    assert_eq!(batch.rows().unwrap()[..], [0x0403_0201, 5, 0x0908_0706, 10]);
}

#[test]
fn padding_that_a_user_fills_does_not_show() {
    let engine = Engine::cpu();
    let shape = Shape::new(2, 1, Layout::Interleaved);
    let batch = engine
        .batch_from_limbs(vec![7; shape.limbs()], shape)
        .unwrap();
    let limbs = batch.to_limbs().unwrap();
    assert_eq!(
        (&limbs[..2], limbs[2..].iter().max()),
        (&[7, 7][..], Some(&0))
    );
}

#[test]
fn limbs_are_numbers_of_any_width_that_leaves_none_over() {
    let engine = Engine::cpu();
    let limbs: Vec<u32> = (1..=60).collect();
    for layout in Layout::ALL {
        let shape = Shape::new(20, 3, Layout::Contiguous);
        let batch = engine.batch_from_limbs(limbs.clone(), shape).unwrap();
        let batch = engine.to_layout(&batch, layout).unwrap();
        for width in 0..70 {
            let made = engine.reshape(&batch, width);
            match width {
                0 => assert!(matches!(made, Err(Error::Width { width: 0 }))),
                _ if 60 % width != 0 => {
                    let expected = 60 / width * width;
                    let found = 60;
                    let unit = "limbs";
                    let error = made.unwrap_err();
                    assert_eq!(
                        error.to_string(),
                        Error::Length {
                            expected,
                            found,
                            unit
                        }
                        .to_string()
                    );
                }
                _ => {
                    let made = made.unwrap();
                    assert_eq!(
                        made.shape(),
                        Shape::new(60 / width, width, Layout::Contiguous)
                    );
                    assert_eq!(made.to_limbs().unwrap(), limbs);
                }
            }
        }
        let none = engine.slice(&batch, 5..5).unwrap();
        assert_eq!(engine.reshape(&none, 7).unwrap().shape().count, 0);
    }
}

#[test]
fn a_result_that_no_memory_holds_is_an_error_with_its_size() {
    let engine = Engine::cpu();
    let short = Shape::new(1 << 20, 1, Layout::Contiguous);
    let short = engine.batch_from_limbs(vec![1; 1 << 20], short).unwrap();
    let long = Shape::new(1, 1 << 24, Layout::Contiguous);
    let long = engine.batch_from_limbs(vec![1; 1 << 24], long).unwrap();
    match engine.mul(&short, &long) {
        Err(Error::OutOfMemory { bytes }) => assert_eq!(bytes, (4 * ((1 << 24) + 1)) << 20),
        other => panic!("{other:?}"),
    }
    // The operands are as they were.
    assert_eq!(
        engine.add(&short, &short).unwrap().rows().unwrap()[..3],
        [2, 0, 2]
    );
}

#[test]
fn what_cannot_be_a_batch_is_refused_by_name() {
    let engine = Engine::cpu();
    let wide = engine.batch_from_biguints_in(&powers(65), 2, Layout::Contiguous);
    assert!(matches!(
        wide,
        Err(Error::TooWide {
            index: 64,
            bits: 65,
            width: 2
        })
    ));
    for width in [0, MAX_WIDTH + 1] {
        let error = engine.batch_from_limbs(vec![], Shape::new(0, width, Layout::Contiguous));
        assert!(matches!(error, Err(Error::Width { width: found }) if found == width));
    }
    let huge = engine.batch_from_limbs(vec![], Shape::new(usize::MAX / 2, 4, Layout::Interleaved));
    assert!(matches!(huge, Err(Error::TooLarge { .. })));
    let short = engine.batch_from_limbs(vec![0; 5], Shape::new(2, 3, Layout::Contiguous));
    assert!(matches!(
        short,
        Err(Error::Length {
            expected: 6,
            found: 5,
            ..
        })
    ));
    let bytes = engine.batch_from_bytes_le(&[0; 10], 4, Layout::Contiguous);
    assert!(matches!(
        bytes,
        Err(Error::Length {
            expected: 12,
            found: 10,
            ..
        })
    ));
    let none = engine.batch_from_bytes_le(&[], 0, Layout::Contiguous);
    assert!(matches!(none, Err(Error::Width { width: 0 })));

    let two = engine.batch_from_biguints(&powers(2)).unwrap();
    let three = engine.batch_from_biguints(&powers(3)).unwrap();
    let error = engine.mul(&two, &three).unwrap_err();
    assert!(matches!(error, Error::CountMismatch { a: 2, b: 3 }));
    assert!(matches!(
        engine.sub(&two, &three),
        Err(Error::CountMismatch { .. })
    ));
}

#[test]
fn the_first_negative_difference_is_named() {
    let engine = Engine::cpu();
    let numbers = |list: &[u32]| {
        let list: Vec<BigUint> = list.iter().map(|&n| n.into()).collect();
        engine.batch_from_biguints(&list).unwrap()
    };
    let (a, b) = (numbers(&[5, 5, 5, 5]), numbers(&[5, 4, 6, 7]));
    assert!(matches!(
        engine.sub(&a, &b),
        Err(Error::Underflow { index: 2 })
    ));
    let (_, borrows) = engine.overflowing_sub(&a, &b).unwrap();
    assert_eq!(borrows, [false, false, true, true]);
}

#[test]
fn a_shift_is_as_wide_as_the_longest_needs() {
    let engine = Engine::cpu();
    let numbers = |numbers: &[u64]| {
        let numbers: Vec<BigUint> = numbers.iter().map(|&n| n.into()).collect();
        engine.batch_from_biguints(&numbers).unwrap()
    };
    let (a, bits) = (numbers(&[1 << 40, 5, 0]), numbers(&[3, 70, 64]));
    let shifted = engine.shl(&a, &bits).unwrap();
    assert_eq!(shifted.width(), 5);
    let exact = [1_u64 << 43, 5, 0].map(BigUint::from);
    let exact = [exact[0].clone(), &exact[1] << 70, exact[2].clone()];
    assert_eq!(shifted.to_biguints().unwrap(), exact);
    let cut = engine.wrapping_shl(&a, &bits).unwrap();
    assert_eq!(cut.to_biguints().unwrap()[1], BigUint::ZERO);
    let far = numbers(&[1 << 40]);
    assert!(matches!(engine.shl(&a, &far), Err(Error::Width { .. })));
    assert_eq!(engine.wrapping_shl(&a, &far).unwrap().width(), 2);
}

#[test]
fn an_algorithm_binds_only_the_operations_that_have_it() {
    let engine = Engine::cpu();
    let a = engine.batch_from_biguints(&powers(40)).unwrap();
    for algorithm in Algorithm::NAMED {
        let engine = engine.using(algorithm);
        let sum = engine.add(&a, &a).unwrap().to_biguints().unwrap();
        let product = engine.mul(&a, &a).unwrap().to_biguints().unwrap();
        for (i, number) in powers(40).iter().enumerate() {
            assert_eq!(
                (&sum[i], &product[i]),
                (&(number + number), &(number * number))
            );
        }
    }
}

#[test]
fn batches_of_one_engine_serve_another() {
    let (one, other) = (Engine::cpu(), Engine::auto());
    let a = one.batch_from_biguints(&powers(10)).unwrap();
    let b = other.batch_from_biguints(&powers(1)).unwrap();
    assert_eq!(
        other.mul(&a, &b).unwrap().to_biguints().unwrap(),
        powers(10)
    );
}

#[test]
fn a_device_that_is_not_there_is_a_typed_error() {
    let error = Engine::cuda(99).unwrap_err();
    assert!(matches!(&error, Error::Device(device) if device.ordinal == 99));
    assert!(error.to_string().contains("CUDA device 99"));
}

#[test]
fn signed_numbers_are_those_of_num_bigint() {
    check_signs(&Engine::cpu());
    check_chain(&Engine::cpu());
}

proptest! {
    #[test]
    fn signed_results_are_num_bigints(
        pairs in prop::collection::vec((any::<i128>(), any::<i128>(), 0u8..4), 1..40)
    ) {
        // Every second pair is close together, so that signs of differences vary.
        let (a, b): (Vec<_>, Vec<_>) = pairs
            .iter()
            .map(|&(a, b, near)| match near {
                0 => (a, a),
                1 => (a, a.wrapping_neg()),
                _ => (a, b),
            })
            .map(|(a, b)| (num_bigint::BigInt::from(a), num_bigint::BigInt::from(b)))
            .unzip();
        let engine = Engine::cpu();
        let x = engine.signed_from_bigints(&a).unwrap();
        let y = engine.signed_from_bigints(&b).unwrap();
        let sum = engine.add(&x, &y).unwrap().to_bigints().unwrap();
        let difference = engine.sub(&x, &y).unwrap().to_bigints().unwrap();
        let product = engine.mul(&x, &y).unwrap().to_bigints().unwrap();
        let one = engine.signed_from_bigints(&b[..1]).unwrap();
        let broadcast = engine.sub(&one, &x).unwrap().to_bigints().unwrap();
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            prop_assert_eq!(&sum[i], &(a + b));
            prop_assert_eq!(&difference[i], &(a - b));
            prop_assert_eq!(&product[i], &(a * b));
        }
        for (a, found) in a.iter().zip(&broadcast) {
            prop_assert_eq!(found, &(&b[0] - a));
        }
    }
}

/// Numbers of all lengths up to `bits`, from xorshift.
fn numbers_up_to(bits: usize, count: usize, seed: u64) -> Vec<BigUint> {
    let mut state = seed;
    let mut digit = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    (0..count)
        .map(|i| {
            let number = BigUint::new((0..bits.div_ceil(32)).map(|_| digit()).collect());
            number >> (i * 7 % bits)
        })
        .collect()
}

#[test]
fn numbers_of_every_length_survive_in_batches_large_and_small() {
    let engine = Engine::cpu();
    // Lengths of whole and half digits, batches for one thread and for several, twice:
    // the second finds memory that others have written to.
    for bits in [32, 64, 96, 480, 512, 1056] {
        for count in [1, 3, 64, 5000] {
            for seed in [1, 2] {
                let numbers = numbers_up_to(bits, count, seed);
                let batch = engine.batch_from_biguints(&numbers).unwrap();
                for others in [0, 1, count, count + 9] {
                    let mut again = numbers_up_to(512, others, 7);
                    batch.to_biguints_into(&mut again).unwrap();
                    assert_eq!(again, numbers);
                }
                let bytes = batch.to_bytes_le().unwrap();
                let size = 4 * batch.width();
                for (bytes, number) in bytes.chunks(size).zip(&numbers) {
                    assert_eq!(&BigUint::from_bytes_le(bytes), number);
                }
                let size = size + 3;
                let spread: Vec<u8> = numbers
                    .iter()
                    .flat_map(|number| {
                        let mut bytes = number.to_bytes_le();
                        bytes.resize(size, 0);
                        bytes
                    })
                    .collect();
                let again = engine.batch_from_bytes_le(&spread, size, Layout::Interleaved);
                assert_eq!(again.unwrap().to_biguints().unwrap(), numbers);
            }
        }
    }
}

#[test]
fn results_in_memory_of_other_results_are_right() {
    let engine = Engine::cpu();
    for layout in Layout::ALL {
        for (bits, count) in [(512, 70), (512, 71), (1024, 40), (64, 9000)] {
            let a = numbers_up_to(bits, count, 3);
            let b = numbers_up_to(bits, count, 4);
            let width = bits / 32;
            let batch = |numbers: &[BigUint]| {
                let batch = engine.batch_from_biguints_in(numbers, width, layout);
                batch.unwrap()
            };
            let (x, y) = (batch(&a), batch(&b));
            let both = || a.iter().zip(&b);
            let product: Vec<BigUint> = both().map(|(a, b)| a * b).collect();
            let sum: Vec<BigUint> = both().map(|(a, b)| a + b).collect();
            for _ in 0..2 {
                let r = engine.mul(&x, &y).unwrap();
                assert_eq!(r.to_biguints().unwrap(), product);
                let r = engine.add(&x, &y).unwrap();
                assert_eq!(r.to_biguints().unwrap(), sum);
                let (padding, shape) = (r.to_limbs().unwrap(), r.shape());
                let again = engine.batch_from_limbs(padding.clone(), shape).unwrap();
                assert_eq!(again.to_limbs().unwrap(), padding, "padding is zero");
                let (_, wrapped) = engine.overflowing_sub(&x, &y).unwrap();
                assert_eq!(wrapped, both().map(|(a, b)| a < b).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn an_operation_into_a_batch_leaves_its_clones_alone() {
    let engine = Engine::cpu();
    let a = engine.batch_from_biguints(&powers(3000)).unwrap();
    let expected = |f: fn(&BigUint) -> BigUint| powers(3000).iter().map(f).collect::<Vec<_>>();
    let mut r = engine.mul(&a, &a).unwrap();
    let kept = r.clone();
    engine.add_into(&mut r, &a, &a).unwrap();
    assert_eq!(r.to_biguints().unwrap(), expected(|n| n + n));
    assert_eq!(kept.to_biguints().unwrap(), expected(|n| n * n));
    engine.mul_into(&mut r, &a, &a).unwrap();
    assert_eq!(r.to_biguints().unwrap(), kept.to_biguints().unwrap());
    engine.sub_into(&mut r, &a, &a).unwrap();
    assert_eq!(r.to_biguints().unwrap(), expected(|_| BigUint::ZERO));
    engine.wrapping_sub_into(&mut r, &kept, &kept).unwrap();
    engine.wrapping_add_into(&mut r, &kept, &kept).unwrap();
    engine.wrapping_mul_into(&mut r, &a, &a).unwrap();
    let other = engine.batch_from_biguints(&powers(2)).unwrap();
    assert!(engine.mul_into(&mut r, &a, &other).is_err());
    assert!(r.is_empty());
}

#[test]
fn batches_are_equal_where_their_numbers_are() {
    let engine = Engine::cpu();
    let numbers = powers(100);
    let batch = engine.batch_from_biguints(&numbers).unwrap();
    for layout in Layout::ALL {
        for width in [3, 4, 9] {
            let other = engine.batch_from_biguints_in(&numbers, width, layout);
            let other = other.unwrap();
            assert_eq!(batch, other);
            assert_eq!(other, numbers);
            assert!(other.iter().unwrap().eq(numbers.iter().cloned()));
            assert_eq!(other.get(95).unwrap(), Some(numbers[95].clone()));
            assert_eq!(other.get(100).unwrap(), None);
            assert_eq!(Vec::try_from(&other).unwrap(), numbers);
            let bytes = other.to_bytes_be().unwrap();
            assert_eq!(BigUint::from_bytes_be(&bytes[..4 * width]), numbers[0]);
            let again = engine.batch_from_bytes_be(&bytes, 4 * width, layout);
            assert_eq!(again.unwrap(), numbers);
        }
    }
    let mut longer = numbers.clone();
    longer.push(BigUint::ZERO);
    assert!(batch != longer && batch != engine.batch_from_biguints(&longer).unwrap());
    let mut wider = numbers.clone();
    wider[7] += BigUint::from(1u32) << 96;
    assert!(batch != wider && batch != engine.batch_from_biguints(&wider).unwrap());
}
