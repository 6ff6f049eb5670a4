//! The engine `auto` and devices that take time: it does not wait for them.

use bigint_host::{BackEnd, Batch, BigUint, Engine, Tuning};

use crate::process::on_simulator;

/// Powers and moduli, and what they are.
struct Powers {
    numbers: Vec<BigUint>,
    moduli: Vec<BigUint>,
    expected: Vec<BigUint>,
}

impl Powers {
    fn new(count: u32) -> Self {
        let numbers: Vec<BigUint> = (2..2 + count).map(|i| BigUint::from(i).pow(20)).collect();
        let moduli: Vec<BigUint> = (2..2 + count)
            .map(|i| BigUint::from(2 * i + 1).pow(15))
            .collect();
        let of = |(n, m): (&BigUint, &BigUint)| n.modpow(n, m);
        let expected = numbers.iter().zip(&moduli).map(of).collect();
        Powers {
            numbers,
            moduli,
            expected,
        }
    }

    /// Computes them, and answers where that was.
    fn check(&self, engine: &Engine) -> BackEnd {
        let of = |numbers: &[BigUint]| engine.batch_from_biguints(numbers).expect("memory");
        let (a, m): (Batch, Batch) = (of(&self.numbers), of(&self.moduli));
        let powers = engine.pow_mod(&a, &a, &m).expect("odd moduli");
        let found = powers.location();
        assert!(powers.to_biguints().expect("powers") == self.expected);
        found
    }
}

/// An engine that takes the CPU for slow, and devices for worth their start.
fn eager() -> Engine {
    let mut tuning = Tuning::default();
    tuning.start.core.residue_ps = 1e9;
    Engine::auto().with_tuning(tuning)
}

#[test]
fn the_cpu_computes_until_devices_are_ready_which_then_take_over() {
    let name = "start::the_cpu_computes_until_devices_are_ready_which_then_take_over";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "2xsm_90:1GiB")]) {
        return;
    }
    let engine = eager();
    let powers = Powers::new(100);
    assert_eq!(powers.check(&engine), BackEnd::Cpu);
    // Where the result is shows that devices computed it all.
    while powers.check(&engine) == BackEnd::Cpu {}
    assert_eq!(engine.warnings(), Vec::<String>::new());
}

#[test]
fn a_kernel_that_takes_for_ever_to_compile_holds_nobody_up() {
    let name = "start::a_kernel_that_takes_for_ever_to_compile_holds_nobody_up";
    // What is being loaded at the end is not given back.
    let fault = ("CUDA_SIM_FAULT", "cuModuleLoadDataEx:*=3600s");
    if !on_simulator(name, &[fault, ("CUDA_SIM_LEAKS", "off")]) {
        return;
    }
    let engine = eager();
    engine.back_end();
    let powers = Powers::new(300);
    for _ in 0..3 {
        assert_eq!(powers.check(&engine), BackEnd::Cpu);
    }
    assert_eq!(engine.warnings(), Vec::<String>::new());
}

#[test]
fn a_device_that_does_not_start_is_warned_of_and_holds_nobody_up() {
    let name = "start::a_device_that_does_not_start_is_warned_of_and_holds_nobody_up";
    let fault = ("CUDA_SIM_FAULT", "cuDevicePrimaryCtxRetain:*=101");
    if !on_simulator(name, &[fault]) {
        return;
    }
    let engine = eager();
    let powers = Powers::new(100);
    while !engine
        .warnings()
        .iter()
        .any(|warning| warning.contains("device 0"))
    {
        assert_eq!(powers.check(&engine), BackEnd::Cpu);
    }
    assert_eq!(engine.back_end(), BackEnd::Cpu);
}
