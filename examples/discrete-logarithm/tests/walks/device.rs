//! Walks on the simulated GPU, through the driver and under all checks of the simulator, beside the processor.
#![cfg(feature = "cuda")]

use bigint_host::Engine;
use bigint_testing::simulator::on_simulator;
use discrete_logarithm::field::{Field, Montgomery, Secp256k1};
use discrete_logarithm::{Cores, Device, Error, Shape, Table, Walkers};
use num_bigint::BigUint;

use super::{Begun, round};

const SHAPE: Shape = Shape {
    groups: 256,
    walks: 3,
    bits: 2,
    records: 2,
};

/// Checks that walks on the device tell what those on the processor tell, and are where they are.
fn check<F: Field<LIMBS>, const LIMBS: usize>(name: &str, field: impl Fn(&BigUint) -> F) {
    let mut begun = Begun::new(name, field, SHAPE);
    let extremes = begun.extremes(SHAPE.count());
    // A walk at a jump.
    begun.points[200] = begun.table.0[63];
    let Begun {
        field,
        table,
        points,
        ..
    } = begun;
    let engine = Engine::cuda(0).unwrap();
    let mut cores = Cores::new(&field, table.clone(), SHAPE, points.clone());
    let device = Device::new(&engine, &field, &table, SHAPE, points.clone(), 4).unwrap();
    let mut device = device.unwrap();
    assert_eq!(device.points().unwrap(), points);
    for steps in [1, 4, 3] {
        let mut told = round(&mut device, steps);
        let mut expected = round(&mut cores, steps);
        told.sort_unstable();
        expected.sort_unstable();
        assert_eq!(told, expected, "{name}");
        assert!(told.len() > 100);
        assert_eq!(device.points().unwrap(), cores.points().unwrap(), "{name}");
    }
    device.put(points.clone()).unwrap();
    assert_eq!(device.points().unwrap(), points);
    check_extremes(&engine, &extremes);
}

/// Checks steps on the device, by plain arithmetic, where carries are rare.
fn check_extremes<F: Field<LIMBS>, const LIMBS: usize>(engine: &Engine, begun: &Begun<F, LIMBS>) {
    let points = begun.points.clone();
    let device = Device::new(engine, &begun.field, &begun.table, SHAPE, points, 4).unwrap();
    let mut device = device.unwrap();
    // A step that every walk takes: a group has room for two that leave a distinguished point.
    let told = round(&mut device, 1);
    let made = device.points().unwrap();
    let mut stay = 0;
    for (at, (from, to)) in begun.points.iter().zip(made).enumerate() {
        if to == *from {
            stay += 1;
            assert!(
                told.iter()
                    .filter(|told| told.walk / SHAPE.walks == at / SHAPE.walks)
                    .count()
                    == SHAPE.records
            );
        } else {
            assert_eq!(begun.point(to), begun.after(*from, 1), "walk {at}");
        }
    }
    assert!(stay < begun.points.len() / 2);
}

#[test]
fn a_device_walks_as_the_processor_modulo_a_prime_of_four_limbs() {
    if on_simulator(
        "device::a_device_walks_as_the_processor_modulo_a_prime_of_four_limbs",
        &[],
    ) {
        check("toy-32", Montgomery::<4>::new);
        check("eccp-79", Montgomery::<4>::new);
    }
}

#[test]
fn a_device_walks_as_the_processor_modulo_primes_of_eight_limbs() {
    if on_simulator(
        "device::a_device_walks_as_the_processor_modulo_primes_of_eight_limbs",
        &[],
    ) {
        check("p-192", Montgomery::<8>::new);
        check("p-256", Montgomery::<8>::new);
        check("secp256k1", |p| Secp256k1::new(p).unwrap());
    }
}

#[test]
fn groups_that_make_no_blocks_are_refused() {
    if !on_simulator("device::groups_that_make_no_blocks_are_refused", &[]) {
        return;
    }
    let shape = Shape {
        groups: 130,
        ..SHAPE
    };
    let begun = Begun::new("toy-32", Montgomery::<4>::new, shape);
    let engine = Engine::cuda(0).unwrap();
    let table = Table(begun.table.0.clone());
    let error = Device::new(
        &engine,
        &begun.field,
        &table,
        shape,
        begun.points.clone(),
        4,
    );
    assert!(matches!(error.err(), Some(Error::Walks(_))));
    assert!(
        Device::new(&Engine::cpu(), &begun.field, &table, SHAPE, begun.points, 4)
            .unwrap()
            .is_none()
    );
}

/// Multiply-adds of 32 by 32 bits of a step, beside the least: five products and a square.
#[test]
fn a_step_takes_as_many_multiply_adds_as_are_known() {
    let name = "device::a_step_takes_as_many_multiply_adds_as_are_known";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts");
    let shape = Shape {
        groups: 128,
        walks: 32,
        bits: 26,
        records: 1,
    };
    if on_simulator(name, &[("CUDA_SIM_COUNTS", file.to_str().unwrap())]) {
        count("eccp-79", Montgomery::<4>::new, shape);
        count("p-192", Montgomery::<8>::new, shape);
        count("p-256", Montgomery::<8>::new, shape);
        count("secp256k1", |p| Secp256k1::new(p).unwrap(), shape);
        return;
    }
    let counts = std::fs::read_to_string(file).unwrap();
    let counts = counts
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let counts: Vec<_> = counts.collect();
    assert_eq!(counts.len(), 2 * KNOWN.len());
    let found = counts.chunks(2).map(|pair| {
        // What two steps take more than one does.
        let of = |key: &str| {
            let [few, many] = [0, 1].map(|at: usize| pair[at][key].as_f64().unwrap());
            (many - few) / shape.count() as f64
        };
        let kernel = pair[0]["kernel"].as_str().unwrap();
        (kernel, of("multiply_adds"), of("lane_instructions"))
    });
    let found: Vec<_> = found.collect();
    let is_as_known = |(found, known): (&(&str, f64, f64), &(&str, f64, f64))| {
        found.0 == known.0 && found.1 <= known.1 && found.2 <= known.2
    };
    assert!(found.iter().zip(&KNOWN).all(is_as_known), "{found:?}");
}

/// A round of one step and one of two.
fn count<F: Field<LIMBS>, const LIMBS: usize>(
    name: &str,
    field: impl Fn(&BigUint) -> F,
    shape: Shape,
) {
    let begun = Begun::new(name, field, shape);
    let engine = Engine::cuda(0).unwrap();
    for steps in [1, 2] {
        let points = begun.points.clone();
        let device = Device::new(&engine, &begun.field, &begun.table, shape, points, 4);
        round(&mut device.unwrap().unwrap(), steps);
    }
}

/// Of each kernel, multiply-adds and instructions of PTX of a step, with the block's inverse divided among 128 x 32 walks.
/// Without it a step takes 186, 740, 740 and 416 multiply-adds: those of five products and a square.
const KNOWN: [(&str, f64, f64); 4] = [
    ("walk_lazy_4", 213.6, 1066.3),
    ("walk_lazy_8", 1087.3, 3709.7),
    ("walk_strict_8", 1075.3, 4133.9),
    ("walk_secp256k1", 526.3, 1728.3),
];
