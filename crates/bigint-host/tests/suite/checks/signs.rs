//! Signed numbers beside num-bigint, on the CPU and on the simulated GPU, where signs stay.

use bigint_host::{BigInt, Engine, Layout, Operation, SignedBatch};
use num_integer::Integer;

/// Zeros, ends of limbs and long carries, of either sign.
fn numbers() -> Vec<BigInt> {
    let power = |bits: u32| BigInt::from(1) << bits;
    let magnitudes = [
        BigInt::ZERO,
        BigInt::from(7),
        power(32) - 1,
        power(32),
        power(96) + 5,
        power(300) - 1,
        power(300),
    ];
    magnitudes
        .iter()
        .flat_map(|n| [n.clone(), -n.clone()])
        .collect()
}

/// A batch of these numbers in a layout; those that are zero have a sign every other time.
fn batch(engine: &Engine, numbers: &[BigInt], layout: Layout) -> SignedBatch {
    let signed = engine.signed_from_bigints(numbers).unwrap();
    let magnitude = engine.to_layout(signed.magnitude(), layout).unwrap();
    let is_negative =
        |(i, n): (usize, &BigInt)| *n < BigInt::ZERO || i % 2 == 1 && *n == BigInt::ZERO;
    let negative: Vec<bool> = numbers.iter().enumerate().map(is_negative).collect();
    SignedBatch::new(magnitude, &negative).unwrap()
}

/// Compares every operation of two signed numbers that says what it is of them, each with
/// each, and one with all.
pub fn check_signs(engine: &Engine) {
    let pairs: Vec<(BigInt, BigInt)> = numbers()
        .into_iter()
        .flat_map(|a| numbers().into_iter().map(move |b| (a.clone(), b)))
        .collect();
    let (a, b): (Vec<BigInt>, Vec<BigInt>) = pairs.into_iter().unzip();
    type Meant = fn(&BigInt, &BigInt) -> BigInt;
    let order: Meant = |a, b| (a.cmp(b) as i8).into();
    let operations: [(Operation, Meant); 9] = [
        (Operation::Add, |a, b| a + b),
        (Operation::Sub, |a, b| a - b),
        (Operation::Mul, |a, b| a * b),
        (Operation::Min, |a, b| a.min(b).clone()),
        (Operation::Max, |a, b| a.max(b).clone()),
        (Operation::Compare, order),
        (Operation::Gcd, |a, b| a.gcd(b)),
        (Operation::Div, |a, b| a.div_floor(b)),
        (Operation::Rem, |a, b| a.mod_floor(b)),
    ];
    for (layout, other) in [
        (Layout::Contiguous, Layout::Contiguous),
        (Layout::Interleaved, Layout::Contiguous),
    ] {
        for (operation, meant) in operations {
            let is_taken =
                |(_, b): &(&BigInt, &BigInt)| !operation.divides() || **b != BigInt::ZERO;
            let taken = a.iter().zip(&b).filter(is_taken);
            let (a, b): (Vec<BigInt>, Vec<BigInt>) =
                taken.map(|(a, b)| (a.clone(), b.clone())).unzip();
            let (x, y) = (batch(engine, &a, layout), batch(engine, &b, other));
            let is = |x: &SignedBatch, y: &SignedBatch, expected: Vec<BigInt>| {
                let found = engine.apply(operation, &[x, y]).unwrap().swap_remove(0);
                assert_eq!(found.to_bigints().unwrap(), expected, "{operation:?}");
                // Without signs it may be another way.
                let [x, y] = [x, y].map(|x| SignedBatch::natural(x.magnitude().clone()));
                let found = engine.apply(operation, &[&x, &y]).unwrap().swap_remove(0);
                let [x, y] = [x, y].map(|x| x.to_bigints().unwrap());
                let at = |x: &'_ [BigInt], i: usize| x[if x.len() == 1 { 0 } else { i }].clone();
                for (i, found) in found.to_bigints().unwrap().iter().enumerate() {
                    assert_eq!(*found, meant(&at(&x, i), &at(&y, i)), "{operation:?}");
                }
            };
            let expected = a.iter().zip(&b).map(|(a, b)| meant(a, b)).collect();
            is(&x, &y, expected);
            let one = &b[3];
            let single = batch(engine, std::slice::from_ref(one), other);
            is(&x, &single, a.iter().map(|a| meant(a, one)).collect());
            if !operation.divides() {
                is(&single, &x, a.iter().map(|a| meant(one, a)).collect());
            }
            let sum = engine.sum(&x).unwrap().to_bigints().unwrap();
            assert_eq!(sum, [a.iter().sum::<BigInt>()]);
        }
    }
    let all = numbers();
    let x = batch(engine, &all[2..], Layout::Contiguous);
    for x in [&x, &engine.neg(&x).unwrap()] {
        let product: BigInt = x.to_bigints().unwrap().iter().product();
        let found = engine.product(x).unwrap();
        assert_eq!(found.to_bigints().unwrap(), [product]);
    }
    // One sign that stands for five.
    let natural = engine.batch_from_biguints(&[2u32, 3, 5, 7, 11].map(Into::into));
    let turned = engine.neg(&SignedBatch::natural(natural.unwrap())).unwrap();
    let product = engine.product(&turned).unwrap();
    assert_eq!(product.to_bigints().unwrap(), [(-2310).into()]);
}

/// A chain of signed operations, and what it is of each pair.
pub fn check_chain(engine: &Engine) {
    let (a, b): (Vec<BigInt>, Vec<BigInt>) = numbers()
        .into_iter()
        .zip(numbers().into_iter().rev())
        .unzip();
    let (x, y) = (
        engine.signed_from_bigints(&a).unwrap(),
        engine.signed_from_bigints(&b).unwrap(),
    );
    let compute = |operation, x: &SignedBatch, y: &SignedBatch| {
        engine.apply(operation, &[x, y]).unwrap().swap_remove(0)
    };
    let sum = compute(Operation::Add, &x, &y);
    let product = compute(Operation::Mul, &sum, &y);
    let difference = compute(Operation::Sub, &x, &product);
    let least = compute(Operation::Min, &difference, &engine.neg(&y).unwrap());
    let order = compute(Operation::Compare, &least, &x);
    let found = compute(Operation::Sub, &least, &order);
    let found = found.to_bigints().unwrap();
    for ((a, b), found) in a.iter().zip(&b).zip(found) {
        let least = (a - (a + b) * b).min(-b);
        let order = least.cmp(a) as i8;
        assert_eq!(found, least - order, "{a} {b}");
    }
}
