//! The engine `auto` and devices that take time: it does not wait for them.

use bigint_host::advanced::is_busy;
use bigint_host::{BackEnd, Batch, BigUint, Engine, Tuning};
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use bigint_testing::simulator::on_simulator;

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

/// An engine that takes the CPU for slow, and devices for worth their start, but not for so fast that
/// they are waited for.
fn eager() -> Engine {
    let mut tuning = Tuning::default();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    tuning.start.core.residue_ps = 1e9;
    tuning.start.device.residue_ps = 0.5e9 / cores as f64;
    Engine::auto().with_tuning(tuning)
}

#[test]
fn the_cpu_computes_until_devices_are_ready_which_then_take_over() {
    let name =
        "simulated_gpu::start::the_cpu_computes_until_devices_are_ready_which_then_take_over";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "2xsm_90:1GiB")]) {
        return;
    }
    let engine = eager();
    let powers = Powers::new(100);
    assert_eq!(powers.check(&engine), BackEnd::Cpu);
    // Where the result is shows that devices computed it all.
    while powers.check(&engine) == BackEnd::Cpu {}
    assert_eq!(engine.warnings(), Vec::<String>::new());
    // What has made them ready may have them still, and a process that ended now would leave them open.
    while is_busy() {
        thread::yield_now();
    }
}

#[test]
fn a_kernel_that_takes_for_ever_to_compile_holds_nobody_up() {
    let name = "simulated_gpu::start::a_kernel_that_takes_for_ever_to_compile_holds_nobody_up";
    // What is being loaded at the end is not given back.
    let fault = ("CUDA_SIM_FAULT", "cuLibraryLoadData:*=3600s");
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

/// An engine `auto` by whose tuning the CPU takes a second or two for [`Powers`] of a hundred, and a
/// kernel that the driver must compile an hour.
fn weighing() -> Engine {
    let mut tuning = Tuning::default();
    tuning.start.core.residue_ps = 1e9;
    tuning.start.compile_kilobyte_ms = 1e6;
    tuning.start.driver_ms = 300.0;
    Engine::auto().with_tuning(tuning)
}

/// Whether such an engine starts devices for these powers. Then they compute at last, though a busy
/// machine may take longer than was noted.
fn starts_devices(powers: &Powers) -> bool {
    let engine = weighing();
    let is_started = powers.check(&engine) != BackEnd::Cpu || is_busy();
    while is_started && powers.check(&engine) == BackEnd::Cpu {}
    while is_busy() {
        thread::yield_now();
    }
    is_started
}

/// The folder in which a test's processes note what starts took.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if env::var_os(STAGE).is_none() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for tests");
    }
    folder
}

/// Tells a process of a test which one it is.
const STAGE: &str = "BIGINT_TEST_STAGE";

/// Runs the test `name` in a process for each stage, with its settings and a folder for notes; answers
/// which process this is.
fn stage(name: &str, stages: &[(&str, &[(&str, &str)])]) -> Option<String> {
    let folder = folder(name.rsplit("::").next().expect("a name"));
    let folder = folder.to_str().expect("a path in UTF-8");
    for (stage, settings) in stages {
        let mut all = vec![("CUDA_CACHE_PATH", folder), (STAGE, stage)];
        all.extend(*settings);
        if on_simulator(name, &all) {
            return env::var(STAGE).ok();
        }
    }
    None
}

#[test]
fn work_waits_for_devices_whose_kernel_is_noted_as_compiled() {
    let name = "simulated_gpu::start::work_waits_for_devices_whose_kernel_is_noted_as_compiled";
    let off = ("BIGINT_NOTES", "off");
    let stages: &[(&str, &[(&str, &str)])] = &[
        ("unknown", &[]),
        ("noting", &[]),
        ("known", &[]),
        ("off", &[off]),
        ("of another device", &[("CUDA_SIM_DEVICES", "1xsm_80:1GiB")]),
    ];
    let Some(stage) = stage(name, stages) else {
        return;
    };
    let powers = Powers::new(100);
    if stage == "noting" {
        powers.check(&Engine::all().expect("the simulated device"));
        return;
    }
    let is_noted = !["unknown", "off"].contains(&stage.as_str());
    assert_eq!(starts_devices(&powers), is_noted, "{stage}");
}

#[test]
fn a_kernel_that_takes_longer_than_was_noted_is_not_waited_for() {
    let name = "simulated_gpu::start::a_kernel_that_takes_longer_than_was_noted_is_not_waited_for";
    let slow = ("CUDA_SIM_FAULT", "cuLibraryLoadData:*=3600s");
    let stages: &[(&str, &[(&str, &str)])] = &[
        ("noting", &[]),
        ("slow", &[slow, ("CUDA_SIM_LEAKS", "off")]),
    ];
    let Some(stage) = stage(name, stages) else {
        return;
    };
    let powers = Powers::new(100);
    match stage.as_str() {
        "noting" => assert_ne!(
            powers.check(&Engine::all().expect("the simulated device")),
            BackEnd::Cpu
        ),
        _ => assert_eq!(powers.check(&weighing()), BackEnd::Cpu),
    }
}

#[test]
fn damaged_notes_and_folders_that_cannot_be_written_harm_nobody() {
    let name = "simulated_gpu::start::damaged_notes_and_folders_that_cannot_be_written_harm_nobody";
    let stages: &[(&str, &[(&str, &str)])] = &[
        ("noting", &[]),
        ("damaged", &[]),
        ("a folder in the file's place", &[]),
        ("no folder", &[("CUDA_CACHE_PATH", "/dev/null/none")]),
    ];
    let Some(stage) = stage(name, stages) else {
        return;
    };
    let powers = Powers::new(100);
    let notes = folder(name.rsplit("::").next().expect("a name")).join("bigint-notes");
    match stage.as_str() {
        "damaged" => fs::write(&notes, [0xff; 5000]).expect("the file of notes"),
        "a folder in the file's place" => {
            fs::remove_file(&notes).expect("the file of notes");
            fs::create_dir(&notes).expect("a folder");
        }
        _ => {}
    }
    powers.check(&Engine::all().expect("the simulated device"));
    // Damaged lines are written anew.
    let is_noted = ["noting", "damaged"].contains(&stage.as_str());
    assert_eq!(starts_devices(&powers), is_noted, "{stage}");
}

#[test]
fn a_device_that_does_not_start_is_warned_of_and_holds_nobody_up() {
    let name =
        "simulated_gpu::start::a_device_that_does_not_start_is_warned_of_and_holds_nobody_up";
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
