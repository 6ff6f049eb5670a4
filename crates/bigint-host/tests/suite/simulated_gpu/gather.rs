//! Gathered, sliced and concatenated numbers, which stay on the devices that have them.

use crate::simulated_gpu::at_once::{at_once, auto};
use bigint_host::{BackEnd, Batch, BigUint, DeviceSet, Engine, Error, Layout, Shape, Tuning};
use bigint_testing::simulator::on_simulator;

/// Limbs that are told apart by their number and place.
fn batch(engine: &Engine, seed: u32, shape: Shape) -> (Batch, Vec<BigUint>) {
    let limb = |i: usize, j: usize| (seed * 1000 + i as u32) * 1000 + j as u32 + 1;
    let numbers = (0..shape.count).map(|i| {
        let limbs = (0..shape.width).map(|j| limb(i, j));
        BigUint::new(limbs.collect())
    });
    let numbers: Vec<BigUint> = numbers.collect();
    let batch = engine.batch_from_biguints_in(&numbers, shape.width, shape.layout);
    (batch.expect("it fits"), numbers)
}

/// Numbers of every kind of move, one behind the other, and what they should be: by index, of
/// slices that begin anywhere, of batches of other widths and layouts; of contiguous ones also the limbs, and the
/// numbers again that were two and then one of another shape.
fn moved(engine: &Engine, layout: Layout, width: usize) -> (Batch, Vec<BigUint>) {
    let other = match layout {
        Layout::Contiguous => Layout::Interleaved,
        Layout::Interleaved => Layout::Contiguous,
    };
    let mut batches = Vec::new();
    let mut expected = Vec::new();
    for (seed, shape) in [
        (1, Shape::new(70, width, layout)),
        (2, Shape::new(41, width + 1, other)),
        (3, Shape::new(1, 1, layout)),
        (4, Shape::new(200, width + 4, layout)),
    ] {
        let (a, numbers) = batch(engine, seed, shape);
        let count = numbers.len();
        let indices: Vec<usize> = (0..150).map(|i| (i * i + 7 * i) % count).collect();
        batches.push(engine.gather(&a, &indices).expect("indices of the batch"));
        expected.extend(indices.iter().map(|&i| numbers[i].clone()));
        for range in [0..count / 2, count / 3..count, count - 1..count, 0..0] {
            batches.push(
                engine
                    .slice(&a, range.clone())
                    .expect("a part of the batch"),
            );
            expected.extend_from_slice(&numbers[range]);
        }
        if a.shape().layout == Layout::Contiguous {
            let limbs = engine.reshape(&a, 1).expect("limbs are numbers");
            expected.extend(numbers.iter().flat_map(limbs_of(a.width())));
            // Two numbers, where there is an even count of them, and all.
            let some = if count.is_multiple_of(2) { 2 } else { 1 };
            for together in [some, count].map(|k| k * a.width()) {
                let longer = engine.reshape(&limbs, together).expect("none is left over");
                batches.push(
                    engine
                        .reshape(&longer, a.width())
                        .expect("none is left over"),
                );
            }
            batches.insert(batches.len() - 2, limbs);
            expected.extend_from_slice(&numbers);
            expected.extend_from_slice(&numbers);
        }
        batches.push(a);
        expected.extend(numbers);
    }
    let all: Vec<&Batch> = batches.iter().collect();
    (engine.concatenate(&all).expect("they fit"), expected)
}

/// The limbs of a number, as many as it is wide.
fn limbs_of(width: usize) -> impl Fn(&BigUint) -> Vec<BigUint> {
    move |number| {
        let mut limbs = number.to_u32_digits();
        limbs.resize(width, 0);
        limbs.into_iter().map(BigUint::from).collect()
    }
}

/// Copies to the host fail from the ninth on: one for each batch that is compared.
#[test]
fn moves_take_nothing_to_the_host() {
    let name = "simulated_gpu::gather::moves_take_nothing_to_the_host";
    let fault = ("CUDA_SIM_FAULT", "cuMemcpyDtoHAsync_v2:9+=999");
    if !on_simulator(name, &[fault]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    for layout in Layout::ALL {
        for width in [1, 3, 4, 8] {
            let (found, expected) = moved(&engine, layout, width);
            assert_eq!(found.location(), BackEnd::Cuda(0.into()));
            assert_eq!((found.width(), found.shape().layout), (width + 4, layout));
            assert_eq!(found.to_biguints().expect("the last copies"), expected);
        }
    }
    let (found, _) = moved(&engine, Layout::Contiguous, 2);
    assert!(matches!(found.to_biguints(), Err(Error::Device(_))));
    let past = engine.gather(&found, &[0, found.len() + 5, found.len()]);
    assert!(matches!(
        past,
        Err(Error::NoSuchNumber { index, count }) if (index, count) == (found.len() + 5, found.len())
    ));
}

#[test]
fn moves_of_shared_batches_are_right() {
    let name = "simulated_gpu::gather::moves_of_shared_batches_are_right";
    let devices = ("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_90:256MiB,sm_80:1GiB");
    if !on_simulator(name, &[devices]) {
        return;
    }
    let mut tuning = Tuning::default();
    tuning.devices.launch_ns = 0.0;
    let all = Engine::all().expect("devices");
    for (engine, widths) in [(auto(), &[3, 4][..]), (all, &[4])] {
        let engine = engine.with_tuning(at_once(tuning.clone()));
        engine.back_end();
        for layout in Layout::ALL {
            for &width in widths {
                let (found, expected) = moved(&engine, layout, width);
                assert_eq!(found.to_biguints().expect("devices that work"), expected);
            }
            // What each of them has of a slice stays there, and is computed with there.
            let (a, numbers) = batch(&engine, 5, Shape::new(300, 2, layout));
            let all = DeviceSet::new(0..3).expect("three");
            let part = engine.slice(&a, 10..290).expect("a part");
            assert_eq!(part.location(), BackEnd::Cuda(all));
            let sum = engine.add(&part, &part).expect("devices that work");
            let expected: Vec<BigUint> = numbers[10..290].iter().map(|x| x + x).collect();
            assert_eq!(sum.to_biguints().expect("devices that work"), expected);
            // Of numbers that are asked for often each device has all, and gathers its share.
            let often: Vec<usize> = (0..900).map(|i| (i * i + 7) % 300).collect();
            let gathered = engine.gather(&a, &often).expect("indices of the batch");
            assert_eq!(gathered.location(), BackEnd::Cuda(all));
            let expected: Vec<BigUint> = often.iter().map(|&i| numbers[i].clone()).collect();
            assert_eq!(gathered.to_biguints().expect("devices that work"), expected);
            let total: BigUint = numbers.iter().sum();
            assert_eq!(engine.sum(&a).expect("devices that work"), [total]);
        }
        assert_eq!(engine.warnings(), Vec::<String>::new());
    }
}

#[test]
fn a_device_that_fails_loses_nothing_that_was_moved() {
    let name = "simulated_gpu::gather::a_device_that_fails_loses_nothing_that_was_moved";
    let fault = ("CUDA_SIM_FAULT", "cuLaunchKernel:7=719!");
    if !on_simulator(name, &[fault]) {
        return;
    }
    let mut tuning = Tuning::default();
    tuning.devices.launch_ns = 0.0;
    let engine = auto().with_tuning(at_once(tuning));
    let (first, expected_first) = moved(&engine, Layout::Contiguous, 3);
    let (second, expected) = moved(&engine, Layout::Interleaved, 4);
    assert_eq!(first.to_biguints().expect("made good"), expected_first);
    assert_eq!(second.to_biguints().expect("made good"), expected);
    assert!(
        engine
            .warnings()
            .iter()
            .any(|warning| warning.contains("719") || warning.contains("launch"))
    );
}
