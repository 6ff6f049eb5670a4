//! Reductions and rearrangements beside num-bigint, for every length around a power of
//! two, in both layouts.

use bigint_host::{Batch, BigUint, Engine, Error, Layout};

/// Numbers of up to three limbs: all ones, zeros, and anything between.
fn numbers(count: usize) -> Vec<BigUint> {
    let number = |i: usize| match i % 5 {
        0 => (BigUint::from(1u32) << 96) - 1u32,
        1 => BigUint::ZERO,
        2 => BigUint::from(i) << (i % 77),
        _ => BigUint::from(0x9e37_79b9_7f4a_7c15_u64).pow(2) >> (i % 100 + 32),
    };
    (0..count).map(number).collect()
}

const COUNTS: [usize; 12] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 100];

#[test]
fn sums_products_and_prefix_sums_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    for layout in Layout::ALL {
        for count in COUNTS {
            let numbers = numbers(count);
            let a = engine.batch_from_biguints_in(&numbers, 3, layout).unwrap();
            let sum = engine.sum(&a).unwrap();
            let total: BigUint = numbers.iter().sum();
            assert_eq!(sum.to_biguints().unwrap(), [total], "{count}");
            assert!(sum.width() <= 4);
            let odd: Vec<BigUint> = numbers
                .iter()
                .map(|number| number | BigUint::from(1u32))
                .collect();
            let odd_batch = engine.batch_from_biguints_in(&odd, 3, layout).unwrap();
            let product = engine.product(&odd_batch).unwrap();
            let total: BigUint = odd.iter().product();
            assert_eq!(product.to_biguints().unwrap(), [total], "{count}");
            assert_eq!(product.width(), (3 * count).max(1));
            let mut total = BigUint::ZERO;
            let expected: Vec<BigUint> = numbers
                .iter()
                .map(|number| {
                    total += number;
                    total.clone()
                })
                .collect();
            let found = engine.prefix_sum(&a).unwrap();
            assert_eq!(found.to_biguints().unwrap(), expected, "{count}");
            assert_eq!(found.shape().layout, layout);
        }
    }
}

#[test]
fn a_sum_of_all_ones_fills_the_limb_above() {
    let engine = Engine::cpu();
    let ones = vec![BigUint::from(u32::MAX); 1000];
    let a = engine.batch_from_biguints(&ones).unwrap();
    let sum = engine.sum(&a).unwrap();
    assert_eq!(sum.to_limbs().unwrap(), [u32::MAX - 999, 999]);
}

#[test]
fn numbers_are_taken_by_index_range_and_batch() {
    let engine = Engine::cpu();
    for (layout, other) in [
        (Layout::Contiguous, Layout::Interleaved),
        (Layout::Interleaved, Layout::Contiguous),
    ] {
        let numbers = numbers(40);
        let a = engine.batch_from_biguints_in(&numbers, 3, layout).unwrap();
        let indices = [39, 0, 7, 7, 33];
        let gathered = engine.gather(&a, &indices).unwrap();
        let expected: Vec<_> = indices.iter().map(|&i| numbers[i].clone()).collect();
        assert_eq!(gathered.to_biguints().unwrap(), expected);
        for range in [0..0, 0..1, 3..35, 39..40, 0..40, 40..40] {
            let part = engine.slice(&a, range.clone()).unwrap();
            assert_eq!(part.to_biguints().unwrap(), numbers[range]);
            assert_eq!(part.shape().layout, layout);
        }
        let wide: BigUint = BigUint::from(1u32) << 150;
        let b = engine
            .batch_from_biguints_in(std::slice::from_ref(&wide), 5, other)
            .unwrap();
        let none = engine.batch_from_biguints_in(&[], 1, other).unwrap();
        let all = engine.concatenate(&[&a, &none, &b, &a]).unwrap();
        assert_eq!((all.width(), all.shape().layout), (5, layout));
        let expected = [numbers.clone(), vec![wide], numbers].concat();
        assert_eq!(all.to_biguints().unwrap(), expected);
    }
    assert!(engine.concatenate::<Batch>(&[]).unwrap().is_empty());
}

#[test]
fn an_index_past_the_end_is_named() {
    let engine = Engine::cpu();
    let a = engine.batch_from_biguints(&numbers(3)).unwrap();
    let told = |error: Error| error.to_string();
    let gathered = engine.gather(&a, &[2, 3]).map_err(told).unwrap_err();
    assert!(
        gathered.contains("number 3") && gathered.contains("has 3,"),
        "{gathered}"
    );
    let sliced = engine.slice(&a, 1..4).map_err(told).unwrap_err();
    assert!(sliced.contains("number 4"), "{sliced}");
    #[expect(clippy::reversed_empty_ranges)]
    let reversed = engine.slice(&a, 2..1);
    assert!(matches!(reversed, Err(Error::NoSuchNumber { .. })));
}
