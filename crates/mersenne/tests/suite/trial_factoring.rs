//! Trial factoring, as hunters meet it and on the simulated GPU.

use std::fs;

use crate::common::killed::run_and_kill;
use crate::common::program::run;
use bigint_testing::simulator::on_simulator;
use bigint_testing::sweep;
use mersenne::{Auto, Backend, Cpu, Cuda, Folder, TrialFactoring, is_prime};
use num_bigint::BigUint;

/// The prime factors that the range has on this machine.
fn factors(p: u32, from: u32, to: u32, backend: &dyn Backend) -> Vec<u128> {
    let mut trial = TrialFactoring::new(p, from, to).unwrap();
    let tries = trial.tries(backend).unwrap();
    while !trial.advance(&*tries, 500).unwrap() {}
    trial.factors().to_vec()
}

#[test]
fn every_small_factor_of_exponents_below_2000_is_found() {
    let bits = sweep(22, 24);
    for p in (3..2000).filter(|&p| is_prime(p)) {
        let number = (BigUint::from(1u8) << p) - 1u8;
        let all = (1..).map(|k| 2 * k * u128::from(p) + 1);
        let below = all.take_while(|&q| q < 1 << bits);
        let is_prime = |q: &u128| u32::try_from(*q).is_ok_and(is_prime);
        let divides = |q: &u128| &number % BigUint::from(*q) == BigUint::ZERO;
        let is_part = |q: &u128| BigUint::from(*q) != number;
        let right: Vec<u128> = below
            .filter(divides)
            .filter(is_prime)
            .filter(is_part)
            .collect();
        assert_eq!(factors(p, 1, bits, &Cpu::default()), right, "{p}");
    }
}

#[test]
fn products_of_factors_are_split() {
    // 233 1103, 233 2089 and 1103 2089 are in the range, and no prime is.
    assert_eq!(factors(29, 18, 22, &Cpu::default()), [233, 1103, 2089]);
    assert_eq!(factors(29, 12, 17, &Cpu::default()), [0; 0]);
}

#[test]
fn a_device_finds_the_factors_that_the_cpu_finds() {
    if !on_simulator(
        "trial_factoring::a_device_finds_the_factors_that_the_cpu_finds",
        &[],
    ) {
        return;
    }
    let (device, cpu) = (Cuda::open(0).unwrap(), Cpu::default());
    for (p, from, to) in [
        (3, 1, 3),
        (5, 1, 5),
        (7, 1, 7),
        (11, 1, 11),
        (23, 1, 19),
        (29, 1, 20),
        (1009, 1, 22),
        (99_991, 1, 30),
        (118_845_473, 1, 41),
        (4_294_967_291, 30, 45),
    ] {
        let found = factors(p, from, to, &device);
        assert_eq!(found, factors(p, from, to, &cpu), "{p} {from} {to}");
    }
    assert_eq!(factors(1009, 1, 22, &device), [3_454_817]);
}

/// 2^67 - 1 = 193707721 761838257287, whose greater factor is in a whole segment.
#[test]
fn a_device_finds_a_long_factor() {
    if !on_simulator("trial_factoring::a_device_finds_a_long_factor", &[]) {
        return;
    }
    let q = 761_838_257_287;
    let trial = TrialFactoring::new(67, 39, 40).unwrap();
    let step = trial.trial().candidates().step();
    let has = |&segment: &u64| {
        let first = trial.trial().candidate(segment, 0);
        first <= q && (q - first).is_multiple_of(step) && (q - first) / step < 1 << 18
    };
    let segment = (0..trial.progress().1).find(has).unwrap();
    let tries = trial.tries(&Cuda::open(0).unwrap()).unwrap();
    assert_eq!(tries.divisors(segment..segment + 1).unwrap(), [q]);
}

#[test]
fn a_lost_device_costs_no_factor() {
    let fault = [(
        "CUDA_SIM_FAULT",
        "cuLaunchKernel:3=CUDA_ERROR_LAUNCH_FAILED!",
    )];
    if !on_simulator("trial_factoring::a_lost_device_costs_no_factor", &fault) {
        return;
    }
    let mut auto = Auto::new(0, Cpu::default());
    auto.device_from_candidates = 0;
    let mut trial = TrialFactoring::new(1009, 1, 24).unwrap();
    let mut tries = trial.tries(&auto).unwrap();
    let mut failures = 0;
    loop {
        match trial.advance(&*tries, 100) {
            Ok(true) => break,
            Ok(false) => {}
            Err(error) => {
                assert!(auto.falls_back(&error), "{error}");
                failures += 1;
                tries = trial.tries(&auto).unwrap();
            }
        }
    }
    assert_eq!((failures, trial.factors()), (1, &[3_454_817][..]));
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_result_is_a_line_of_primenets() {
    let folder = tempfile::tempdir().unwrap();
    let line = |from: &str, to: &str| {
        let arguments = ["tf", "29", "--from", from, "--to", to, "--json"];
        let output = run(folder.path(), &arguments);
        assert!(output.status.success());
        json(
            String::from_utf8_lossy(&output.stdout)
                .lines()
                .last()
                .unwrap(),
        )
    };
    let mut found = line("10", "12");
    let left = found.as_object_mut().unwrap();
    assert!(left.remove("timestamp").is_some());
    assert_eq!(left.remove("program").unwrap()["name"], "mersenne");
    let right = r#"{"status":"F","exponent":29,"worktype":"TF","bitlo":10,"bithi":12,
        "rangecomplete":true,"factors":["1103","2089"]}"#;
    assert_eq!(found, json(right));
    let none = line("12", "13");
    assert_eq!((&none["status"], none.get("factors")), (&"NF".into(), None));
    // Another range of the same exponent is another result, the same is not.
    line("12", "13");
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_no_range_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["tf", "1277", "--from", "61", "--to", "61"][..],
        &["tf", "1277", "--from", "0", "--to", "61"],
        &["tf", "1277", "--from", "60", "--to", "96"],
        &["tf", "1277", "--from", "60"],
        &["tf", "3", "--from", "1", "--to", "95"],
        &["tf", "2", "--from", "1", "--to", "2"],
        &["tf", "1275", "--from", "1", "--to", "2"],
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_range_that_is_killed_again_and_again_goes_on_and_finds_its_factors() {
    let folder = tempfile::tempdir().unwrap();
    let id = "0123456789ABCDEF0123456789ABCDEF";
    fs::write(
        folder.path().join("worktodo.txt"),
        format!("Factor={id},10007,1,40\n"),
    )
    .unwrap();
    let arguments = ["work", "--backend", "cpu", "--save-every", "0ms"];
    for milliseconds in [20, 60, 100, 200] {
        run_and_kill(folder.path(), &arguments, milliseconds);
    }
    assert!(run(folder.path(), &arguments).status.success());
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{text}");
    let found = json(lines[0]);
    assert_eq!((&found["aid"], &found["bithi"]), (&id.into(), &40.into()));
    let right: Vec<String> = factors(10_007, 1, 40, &Cpu::default())
        .iter()
        .map(u128::to_string)
        .collect();
    assert!(!right.is_empty());
    assert_eq!(found["factors"], serde_json::json!(right));
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3,
        "results, worktodo.txt and the log are left"
    );
}

#[test]
fn a_range_is_taken_up_where_its_furthest_whole_file_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = Folder::new(folder.path());
    let start = TrialFactoring::new(29, 1, 28).unwrap();
    let mut trial = start.clone();
    let cpu = Cpu::default();
    let tries = start.tries(&cpu).unwrap();
    assert!(files.load(&start).unwrap().0.is_none());
    for segments in [300, 200, 100] {
        assert!(!trial.advance(&*tries, segments).unwrap());
        files.save(&trial).unwrap();
    }
    let place = |trial: Option<TrialFactoring>| {
        trial.map(|trial| (trial.progress(), trial.factors().to_vec()))
    };
    let loaded = || {
        files
            .load(&start)
            .map(|(trial, wrong)| (place(trial), wrong.len()))
    };
    assert_eq!(loaded().unwrap(), (place(Some(trial.clone())), 0));
    // Another range has other files.
    let other = TrialFactoring::new(29, 1, 27).unwrap();
    assert!(files.load(&other).unwrap().0.is_none());
    let name = folder.path().join("m29.1-28.tf");
    let whole = fs::read(&name).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&name, bytes).unwrap();
        let (found, wrong) = loaded().unwrap();
        assert_eq!((found.unwrap().0.0, wrong), (500, 1), "flipped at {at}");
        fs::write(&name, &whole[..at]).unwrap();
        let (found, wrong) = loaded().unwrap();
        assert_eq!((found.unwrap().0.0, wrong), (500, 1), "cut at {at}");
    }
    fs::remove_file(folder.path().join("m29.1-28.tf.old")).unwrap();
    assert!(loaded().is_err());
    for name in Folder::saves("m29.1-28.tf") {
        files.remove(&name).unwrap();
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
