//! What is chosen on devices of each compute capability, which the simulator plays.

use bigint_host::{Algorithm, Batch, Engine, Layout, Operation, Shape};
use bigint_testing::simulator::on_simulator;

/// So many numbers that tensor cores take the widest.
const COUNT: usize = 600;

/// A batch of numbers of so many limbs.
fn filled(engine: &Engine, limbs: &[u32], width: usize) -> Batch {
    let shape = Shape::new(limbs.len() / width, width, Layout::Contiguous);
    engine
        .batch_from_limbs(limbs.to_vec(), shape)
        .expect("memory")
}

/// The algorithm of a batch of numbers of so many limbs, and why.
fn chosen(engine: &Engine, operation: Operation, limbs: usize) -> (Algorithm, Vec<String>) {
    let batch = |limb: u32| filled(engine, &vec![limb; COUNT * limbs], limbs);
    let (batch, other) = (batch(!0), batch(0x8000_0001));
    let explanation = engine
        .explain(operation, &[&batch, &other])
        .expect("a choice");
    let part = &explanation.parts[0];
    (part.algorithm, part.why.clone())
}

/// Where doubles are slow, integers compute all that they are modelled to be faster at; elsewhere
/// doubles have wide products, divisors and inverses.
fn check(are_slow: bool) {
    use Operation::{Gcd, InvMod, Mul};
    let engine = Engine::cuda(0).expect("the simulator");
    for (operation, limbs) in [
        (Mul, 128),
        (Mul, 256),
        (Mul, 1024),
        (Gcd, 8),
        (Gcd, 64),
        (InvMod, 32),
    ] {
        let (algorithm, why) = chosen(&engine, operation, limbs);
        let by_doubles = [Algorithm::Fft, Algorithm::Lehmer].contains(&algorithm);
        // Tensor cores are ahead of doubles up to 384 limbs.
        let expected = !are_slow && algorithm != Algorithm::Toeplitz;
        assert_eq!(
            by_doubles, expected,
            "{operation:?} of {limbs} limbs: {why:?}"
        );
        let origin = why
            .iter()
            .find(|why| why.starts_with("thresholds: "))
            .expect("why");
        assert_eq!(
            origin.contains("modelled for"),
            engine.is_modelled(),
            "{origin}"
        );
    }
    let a = filled(&engine, &[12, 0, 35, 0], 2);
    let b = filled(&engine, &[18, 0, 25, 0], 2);
    let divisors = engine.gcd(&a, &b).expect("it runs");
    assert_eq!(
        divisors.to_biguints().expect("it runs"),
        [6u32.into(), 5u32.into()]
    );
}

macro_rules! plays {
    ($name:ident, $sm:literal, $are_slow:literal) => {
        #[test]
        fn $name() {
            let name = concat!("simulated_gpu::capabilities::", stringify!($name));
            if on_simulator(name, &[("CUDA_SIM_DEVICES", $sm)]) {
                check($are_slow);
            }
        }
    };
}

plays!(a_t4_computes_by_integers, "sm_75", true);
plays!(an_a100_computes_by_doubles, "sm_80", false);
plays!(an_rtx_3090_computes_by_integers, "sm_86", true);
plays!(an_rtx_4090_computes_by_integers, "sm_89", true);
plays!(an_h200_computes_by_doubles, "sm_90", false);
plays!(a_b200_computes_by_doubles, "sm_100", false);
plays!(an_rtx_5090_computes_by_integers, "sm_120", true);
