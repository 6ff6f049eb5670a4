//! P-1 with one stage and with both: factors that are known, kills, and rounding errors.

use std::cell::Cell;
use std::fs;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::Short;
use crate::common::killed::run_and_kill;
use crate::common::program::{mersenne, run};
use mersenne::{Arithmetic, Backend, Cpu, Folder, PMinus1, Save, Saved, Stage2, Step};
use num_bigint::BigUint;

fn last_json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last();
    serde_json::from_str(line.unwrap_or_else(|| panic!("{output:?}"))).unwrap()
}

/// The first stage of P-1 after so many squarings, at most all.
fn first_stage(p: u32, bound: u32, squarings: u32) -> PMinus1 {
    let backend = Cpu::default();
    let mut stage = PMinus1::new(p, bound).unwrap();
    let start = Saved::PMinus1(stage.clone());
    let mut runner = start.runner(&backend).unwrap();
    if let Step::Going = stage.advance(&mut runner, squarings).unwrap() {
        stage.rest(&mut runner).unwrap();
    }
    stage
}

/// What both stages find, with so much memory.
fn divisor(p: u32, bounds: (u32, u64), memory: u64, backend: &dyn Backend) -> (Stage2, BigUint) {
    let first = first_stage(p, bounds.0, u32::MAX);
    let mut stage = Stage2::new(&first, bounds.1, memory);
    let mut steps = stage.steps(backend, None, &|| true).unwrap().unwrap();
    while !stage.advance(&mut steps, 3, &|| true).unwrap() {}
    let divisor = stage.divisor().unwrap();
    (stage, divisor)
}

/// Factors `q` of Cunningham's tables, and the two greatest prime powers of `(q - 1) / 2 p`, by Python:
/// `pow(2, p, q) == 1`.
const KNOWN: [(u32, u64, u32, u64); 9] = [
    (67, 193_707_721, 27, 2677),
    (101, 7_432_339_208_719, 44_029, 278_557),
    (109, 745_988_807, 107, 31_981),
    (157, 852_133_201, 25, 4523),
    (229, 20_492_753, 17, 47),
    (947, 25_749_931_927, 269, 991),
    (2017, 9_338_711, 5, 463),
    (7499, 284_222_298_641, 53, 1277),
    (12_007, 18_658_879, 7, 37),
];

#[test]
fn the_second_stage_finds_what_its_bound_lets_it() {
    let one = BigUint::from(1u32);
    for (p, factor, b1, b2) in KNOWN {
        let by_doubles = Cpu {
            arithmetic: if p < 512 {
                Arithmetic::Auto
            } else {
                Arithmetic::Fp64
            },
            ..Cpu::default()
        };
        let exact = Cpu {
            arithmetic: Arithmetic::Exact,
            ..Cpu::default()
        };
        assert_eq!(first_stage(p, b1, u32::MAX).divisor().unwrap(), one, "M{p}");
        // A prime that is the bound itself is met, and with no memory as well, which takes a step for each
        // other number.
        let is_far = b2 > 10_000;
        for memory in [0, 10_000, 1 << 30] {
            if memory == 0 && is_far {
                continue;
            }
            let (found, by_exact) = (
                divisor(p, (b1, b2), memory, &by_doubles),
                divisor(p, (b1, b2), memory, &exact),
            );
            assert_eq!(found.1, factor.into(), "M{p}, {memory} bytes");
            assert_eq!(found, by_exact, "M{p}");
        }
        if is_far {
            continue;
        }
        // With a stride of 2 no prime is met because one far below shares its difference.
        let less = divisor(p, (b1, b2 * 2 / 3), 0, &by_doubles);
        assert_eq!(less.1, one, "M{p}");
    }
}

#[test]
fn results_say_what_both_stages_found() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        (
            "Pminus1=N/A,1,2,947,-1,269,991",
            "F",
            "25749931927",
            Some(991),
        ),
        ("Pminus1=N/A,1,2,947,-1,269,990", "NF", "", Some(990)),
        // The first stage finds it, and there is no second.
        ("Pminus1=N/A,1,2,947,-1,1000,9000", "F", "25749931927", None),
        ("Pminus1=N/A,1,2,2017,-1,5,5", "NF", "", None),
    ];
    for (line, status, factor, b2) in lines {
        fs::write(folder.path().join("worktodo.txt"), line).unwrap();
        let output = run(folder.path(), &["work"]);
        assert!(output.status.success(), "{output:?}");
        let found = last_json(&output);
        assert_eq!(found["worktype"], "P-1", "{line}");
        assert_eq!(found["status"], status, "{line}");
        assert_eq!(found["factors"][0].as_str().unwrap_or(""), factor, "{line}");
        assert_eq!(found["b2"].as_u64(), b2, "{line}");
    }
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    assert_eq!(text.lines().count(), 4);
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 3, "results, worktodo.txt and the log");
    for bad in [
        &["pm1", "947", "--b1", "100", "--b2", "99"][..],
        &["pm1", "947", "--b2", "99"],
        &["pm1", "947", "--b1", "100", "--factored", "60"],
        // It saves less than it costs.
        &["pm1", "947", "--factored", "60"],
    ] {
        let output = run(folder.path(), bad);
        assert_eq!(output.status.code(), Some(2), "{bad:?}");
    }
}

#[test]
fn bounds_that_pay_are_chosen_and_find_a_factor() {
    let folder = tempfile::tempdir().unwrap();
    // 1068889 = 2 12 44537 + 1 is just above 2^20.
    let line = "Pfactor=N/A,1,2,44537,-1,20,1\n";
    fs::write(folder.path().join("worktodo.txt"), line).unwrap();
    let output = run(folder.path(), &["work"]);
    assert!(output.status.success(), "{output:?}");
    let found = last_json(&output);
    let factor: u64 = found["factors"][0].as_str().unwrap().parse().unwrap();
    assert!(factor.is_multiple_of(1_068_889), "{factor}");
    assert!(found["b1"].as_u64() > Some(100));
}

/// The test that a killed first stage goes on is below; here the second one is killed.
#[test]
fn the_second_stage_that_is_killed_again_and_again_goes_on_and_finds_its_factors() {
    let folder = tempfile::tempdir().unwrap();
    // 284222298641 and 99121783, whose primes are 1277 and 2203.
    let line = "Pminus1=N/A,1,2,7499,-1,60,150000\n";
    fs::write(folder.path().join("worktodo.txt"), line).unwrap();
    let arguments = ["work", "--save-every", "1ms"];
    let save = folder.path().join("m7499.60.150000.pm1");
    let start = Stage2::new(&first_stage(7499, 60, u32::MAX), 150_000, 1 << 30);
    let mut last = 0;
    for _ in 0..4 {
        let mut child = mersenne(folder.path(), &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // As soon as it has saved a step that was not there.
        loop {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            let saved = fs::read(&save).ok();
            let saved = saved.and_then(|bytes| Stage2::from_bytes(&bytes, &start).ok()?);
            if let Some(stage) = saved.filter(|stage| stage.done() > last) {
                last = stage.done();
                break;
            }
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let output = run(folder.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("taken up at giant step"), "{said}");
    let found = last_json(&output);
    let factors = serde_json::json!(["28172621009654396903"]);
    assert_eq!(found["factors"], factors);
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 3, "results, worktodo.txt and the log");
}

#[test]
fn saves_of_the_second_stage_are_of_one_test_and_whole() {
    let first = first_stage(2017, 100, u32::MAX);
    let start = Stage2::new(&first, 50_000, 1 << 30);
    let mut stage = start.clone();
    let backend = Cpu::default();
    let mut steps = stage.steps(&backend, None, &|| true).unwrap().unwrap();
    assert!(!stage.advance(&mut steps, 2, &|| true).unwrap());
    let bytes = stage.to_bytes();
    assert_eq!(Stage2::from_bytes(&bytes, &start), Ok(Some(stage.clone())));
    // Other memory means another stride: the file's is taken.
    let other = Stage2::new(&first, 50_000, 0);
    assert_eq!(Stage2::from_bytes(&bytes, &other), Ok(Some(stage.clone())));
    // It goes on from there to where a run without a break ends.
    let mut again = stage.clone();
    let mut new = again.steps(&backend, None, &|| true).unwrap().unwrap();
    while !again.advance(&mut new, 1, &|| true).unwrap() {}
    while !stage.advance(&mut steps, 5, &|| true).unwrap() {}
    assert_eq!(again, stage);
    for other in [
        Stage2::new(&first, 50_001, 1 << 30),
        Stage2::new(&first_stage(2017, 101, u32::MAX), 50_000, 1 << 30),
        Stage2::new(&first_stage(2027, 100, u32::MAX), 50_000, 1 << 30),
    ] {
        assert!(Stage2::from_bytes(&bytes, &other).is_err());
    }
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        assert!(Stage2::from_bytes(&bytes[..cut], &start).is_err());
    }
    // Whoever says no before the babies are there gets no machine.
    let asked = Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 3
    };
    assert!(start.steps(&backend, None, &goes_on).unwrap().is_none());
}

#[test]
fn too_short_a_transform_is_seen_in_the_second_stage_and_a_longer_one_taken() {
    let found = divisor(7499, (53, 1277), 1 << 30, &Short);
    assert_eq!(found, divisor(7499, (53, 1277), 1 << 30, &Cpu::default()));
    assert_eq!(found.1, 284_222_298_641_u64.into());
    let stage = Stage2::new(&first_stage(7499, 53, u32::MAX), 1277, 1 << 30);
    let short = stage.steps(&Short, None, &|| true).unwrap().unwrap();
    assert_eq!(short.words(), Some(320));
}

#[test]
fn p_minus_1_finds_what_its_bound_lets_it() {
    let folder = tempfile::tempdir().unwrap();
    // 193707721 = 2 67 2^2 3^3 5 2677 + 1; the others by Python's integers.
    for (p, bound, factor) in [
        (67, 2676, None),
        (67, 2677, Some("193707721")),
        (131, 1000, Some("263")),
        (947, 3000, Some("25749931927")),
        (1277, 100, None),
        (2017, 1000, Some("9338711")),
        (9689, 300, None),
    ] {
        let (exponent, b1) = (p.to_string(), bound.to_string());
        let output = run(folder.path(), &["pm1", &exponent, "--b1", &b1, "--json"]);
        assert!(output.status.success());
        let found = last_json(&output);
        let status = if factor.is_some() { "F" } else { "NF" };
        assert_eq!(
            (&found["exponent"], &found["b1"]),
            (&p.into(), &bound.into())
        );
        assert_eq!(
            (&found["status"], &found["worktype"]),
            (&status.into(), &"P-1".into())
        );
        assert_eq!(found["factors"][0].as_str(), factor, "M{p} {bound}");
        assert_eq!(found.get("res64"), None);
    }
    let bad = [
        (&["pm1", "67"][..], 2),
        (&["pm1", "67", "--b1", "1"], 2),
        (&["pm1", "68", "--b1", "100"], 2),
        (&["pm1", "2", "--b1", "100"], 2),
        // 2047 = 23 89, both with 11-smooth k.
        (&["pm1", "11", "--b1", "100"], 1),
    ];
    for (arguments, code) in bad {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn p_minus_1_that_is_killed_again_and_again_goes_on_and_finds_its_factor() {
    let folder = tempfile::tempdir().unwrap();
    // Two primes at once, 99121783 and 284222298641.
    let line = "Pminus1=N/A,1,2,7499,-1,2300,0\n";
    fs::write(folder.path().join("worktodo.txt"), line).unwrap();
    // What another bound left stays as it is.
    let files = Folder::new(folder.path());
    let other = Saved::PMinus1(PMinus1::new(7499, 100).unwrap());
    let at_rest = Saved::PMinus1(first_stage(7499, 100, 70));
    files.save(&at_rest).unwrap();
    let arguments = ["work", "--save-every", "1ms"];
    for milliseconds in [3, 20, 40, 60] {
        run_and_kill(folder.path(), &arguments, milliseconds);
    }
    let output = run(folder.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{text}");
    let found: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(
        found["factors"],
        serde_json::json!(["28172621009654396903"])
    );
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        4,
        "results, worktodo.txt, the log and the other bound's are left"
    );
    assert_eq!(files.load(&other).unwrap().0, Some(at_rest));
}
