//! Products longer than the longest transform, which are made of several.

use bigint_host::{Algorithm, BackEnd, Batch, BigUint, Engine, Error, Layout, Limb, Shape, Tuning};
use bigint_testing::simulator::on_simulator;

/// Transforms of at most 512 limbs.
fn short_transforms() -> Engine {
    let mut tuning = Tuning::default();
    tuning.mul.ntt.longest = 512;
    let engine = Engine::cuda(0).expect("a device").with_tuning(tuning);
    engine.using(Algorithm::Ntt)
}

/// Numbers of so many limbs: of any bits, of ones, with halves that are the same, with a greater
/// lower half, and with a single bit.
fn numbers(width: usize) -> Vec<Vec<Limb>> {
    let mut state = width as u64;
    let mut random = |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 32) as Limb
    };
    let any: Vec<Limb> = (0..width).map(&mut random).collect();
    let half = width.div_ceil(2).next_multiple_of(64).min(width);
    let same = [&any[..half], &any[..width - half]].concat();
    let lower = [&vec![Limb::MAX; half][..], &any[half..]].concat();
    let mut bit = vec![0; width];
    bit[width - 1] = 1 << 31;
    vec![any, vec![Limb::MAX; width], same, lower, bit]
}

fn found(batch: Result<Batch, Error>) -> Vec<BigUint> {
    let batch = batch.expect("a device");
    assert_eq!(batch.location(), BackEnd::Cuda(0.into()));
    batch.to_biguints().expect("comes back")
}

#[test]
fn products_longer_than_transforms_are_right() {
    if !on_simulator(
        "simulated_gpu::pieces::products_longer_than_transforms_are_right",
        &[],
    ) {
        return;
    }
    let engine = short_transforms();
    let big = |limbs: &Vec<Limb>| BigUint::from_slice(limbs);
    // Below the longest transform, at it, a limb above, in three, in nine, in such that two products fill the transform and
    // their sum is wider, and in more of a long one and a short one.
    let pairs = [
        (256, 256),
        (257, 255),
        (257, 256),
        (384, 384),
        (385, 200),
        (512, 512),
        (1024, 512),
        (1000, 900),
        (900, 3),
    ];
    for (n, m) in pairs {
        let (a, b) = (numbers(n), numbers(m));
        let batch = |numbers: &[Vec<Limb>], width| {
            let shape = Shape::new(numbers.len(), width, Layout::Contiguous);
            engine
                .batch_from_limbs(numbers.concat(), shape)
                .expect("fits")
        };
        let products = found(engine.mul(&batch(&a, n), &batch(&b, m)));
        for i in 0..a.len() {
            assert_eq!(
                products[i],
                big(&a[i]) * big(&b[i]),
                "{n} by {m}, number {i}"
            );
        }
    }
}

#[test]
fn squares_and_cut_products_longer_than_transforms_are_right() {
    let name = "simulated_gpu::pieces::squares_and_cut_products_longer_than_transforms_are_right";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = short_transforms();
    let of = |width| -> Vec<BigUint> {
        let numbers = numbers(width).into_iter().step_by(3);
        numbers.map(|limbs| BigUint::from_slice(&limbs)).collect()
    };
    let (a, b) = (of(600), of(500));
    for layout in Layout::ALL {
        let batch = |numbers: &[BigUint], width| {
            let batch = engine.batch_from_biguints_in(numbers, width, layout);
            batch.expect("fits")
        };
        let (x, y, one) = (batch(&a, 600), batch(&b, 500), batch(&b[..1], 500));
        let squares = found(engine.square(&x));
        let (by_one, cut) = (
            found(engine.mul(&x, &one)),
            found(engine.wrapping_mul(&x, &y)),
        );
        for i in 0..a.len() {
            assert_eq!(squares[i], &a[i] * &a[i], "{layout:?}");
            assert_eq!(by_one[i], &a[i] * &b[0], "{layout:?}");
            let modulus = BigUint::from(1_u8) << (32 * 600);
            assert_eq!(cut[i], &a[i] * &b[i] % modulus, "{layout:?}");
        }
    }
}
