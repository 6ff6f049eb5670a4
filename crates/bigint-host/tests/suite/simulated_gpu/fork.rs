//! Processes that are forked from one that computes: they have its memory and none of its threads.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, exit};

use bigint_host::{Batch, BigUint, DeviceErrorKind, Engine, Error, devices};
use fork::{Fork, WEXITSTATUS, WIFEXITED, fork, waitpid};

use crate::simulated_gpu::at_once::auto;
use bigint_testing::simulator::run;

/// Runs the test `name` again, as others do; it and all that it forks are ended after minutes.
fn on_simulator_in_time(name: &str, settings: &[(&str, &str)]) -> bool {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=1", "180"]);
    command.arg(env::current_exe().expect("this executable's path"));
    run(command, name, settings)
}

/// Does `work` in a forked process, which must end well.
fn in_child(work: impl FnOnce()) {
    match fork().expect("a process") {
        Fork::Child => {
            let done = catch_unwind(AssertUnwindSafe(work));
            exit(i32::from(done.is_err()));
        }
        Fork::Parent(child) => {
            let status = waitpid(child).expect("the child");
            assert!(WIFEXITED(status) && WEXITSTATUS(status) == 0, "{status}");
        }
    }
}

fn numbers() -> Vec<BigUint> {
    (1_u32..3000).map(|i| BigUint::from(i).pow(150)).collect()
}

fn squares() -> Vec<BigUint> {
    numbers().iter().map(|number| number * number).collect()
}

fn square(engine: &Engine, a: &Batch) -> Result<Vec<BigUint>, Error> {
    engine.mul(a, a)?.to_biguints()
}

#[test]
fn a_child_has_threads_of_its_own() {
    let name = "simulated_gpu::fork::a_child_has_threads_of_its_own";
    if !on_simulator_in_time(name, &[("RAYON_NUM_THREADS", "3")]) {
        return;
    }
    let engine = Engine::cpu();
    let a = engine.batch_from_biguints(&numbers()).expect("memory");
    let check = |engine: &Engine| assert!(square(engine, &a).expect("memory") == squares());
    check(&engine);
    assert_eq!(bigint_cpu::threads(), 3);
    in_child(|| {
        assert_eq!(bigint_cpu::threads(), 3);
        check(&engine);
        check(&Engine::cpu());
        // What is one number's by all threads.
        let long: BigUint = (BigUint::from(1_u32) << 4_000_000) - 1_u32;
        let batch = engine
            .batch_from_biguints(std::slice::from_ref(&long))
            .expect("memory");
        let square =
            (BigUint::from(1_u32) << 8_000_000) - (BigUint::from(1_u32) << 4_000_001) + 1_u32;
        assert!(self::square(&engine, &batch).expect("memory") == [square]);
        in_child(|| check(&engine));
    });
    check(&engine);
}

/// The kind of error that a device's engine answers.
fn kind<T>(result: Result<T, Error>) -> DeviceErrorKind {
    match result {
        Err(Error::Device(error)) => error.kind,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("a device error was due"),
    }
}

#[test]
fn a_child_of_a_process_with_a_device_is_told_so() {
    let name = "simulated_gpu::fork::a_child_of_a_process_with_a_device_is_told_so";
    if !on_simulator_in_time(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let a = engine
        .batch_from_biguints(&numbers()[..50])
        .expect("memory");
    let product = engine.mul(&a, &a).expect("a device that works");
    let auto = auto();
    let b = auto.batch_from_biguints(&numbers()[..50]).expect("memory");
    let made = auto.mul(&b, &b).expect("a device that works");
    let expected = &squares()[..50];
    let mut all = Some((engine, a, product, auto, b, made));
    in_child(|| {
        let (engine, a, product, auto, b, made) = all.take().expect("the parent's");
        assert!(matches!(kind(square(&engine, &a)), DeviceErrorKind::Forked));
        assert!(matches!(
            kind(product.to_biguints()),
            DeviceErrorKind::Forked
        ));
        assert!(matches!(kind(engine.wait()), DeviceErrorKind::Forked));
        assert!(matches!(kind(Engine::cuda(0)), DeviceErrorKind::Forked));
        assert!(matches!(kind(Engine::all()), DeviceErrorKind::Forked));
        assert!(matches!(
            devices().unwrap_err().kind,
            DeviceErrorKind::Forked
        ));
        // `auto` makes it good: what the device has is made again.
        assert!(made.to_biguints().expect("made again") == expected);
        assert!(square(&auto, &b).expect("the CPU") == expected);
        let warnings = auto.warnings().join("\n");
        assert!(warnings.contains("forked"), "{warnings}");
        let fresh = crate::simulated_gpu::at_once::auto();
        let c = fresh.batch_from_biguints(&numbers()[..50]).expect("memory");
        assert!(square(&fresh, &c).expect("the CPU") == expected);
        // The last of all that the driver gave.
        drop((engine, a, product, auto, b, made));
    });
    let (engine, a, product, ..) = all.take().expect("only the child took it");
    assert!(square(&engine, &a).expect("a device that works") == expected);
    assert!(product.to_biguints().expect("a device that works") == expected);
}
