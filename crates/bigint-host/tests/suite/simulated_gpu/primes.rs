//! Primes on the simulated GPU: what the CPU finds.

use bigint_host::{BigUint, Engine, RandomPrimes};
use bigint_testing::simulator::on_simulator;

/// Numbers of two and three limbs on both sides of 2^64 and of the limbs' ends.
fn numbers() -> Vec<BigUint> {
    let power = |k: u32| BigUint::from(1u8) << k;
    let mut numbers = vec![
        BigUint::from(3u8),
        power(64) - 60u8,
        power(64) - 1u8,
        power(96) - 2u8,
    ];
    numbers.extend((0..4u32).map(|k| (power(70 + 7 * k) / 3u8) + k));
    numbers
}

fn check_primes(gpu: &Engine) {
    let cpu = Engine::cpu();
    let found = [gpu, &cpu].map(|engine| {
        let batch = engine.batch_from_biguints(&numbers()).unwrap();
        let next = engine.next_prime(&batch).unwrap();
        let below = engine.prev_prime(&next).unwrap();
        let mersenne = [61u32, 67, 79, 89].map(|p| (BigUint::from(1u8) << p) - 1u8);
        let mersenne = engine.batch_from_biguints(&mersenne).unwrap();
        let mut state = 3u8;
        let fill = |bytes: &mut [u8]| {
            for byte in bytes {
                state = state.wrapping_mul(141).wrapping_add(3);
                *byte = state;
            }
        };
        let wanted = RandomPrimes::of_bits(72)
            .with_two_top_bits()
            .one_less_coprime_to(3);
        let drawn = engine.random_primes(&wanted, 3, fill).unwrap();
        assert_eq!(
            engine.is_prime(&mersenne).unwrap(),
            [true, false, false, true]
        );
        [next, below, drawn].map(|batch| batch.to_biguints().unwrap())
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn primes_of_a_gpu_are_those_of_the_cpu() {
    let name = "simulated_gpu::primes::primes_of_a_gpu_are_those_of_the_cpu";
    if on_simulator(name, &[]) {
        check_primes(&Engine::cuda(0).unwrap());
    }
}
