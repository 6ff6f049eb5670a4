//! What promises constant time takes no branch and no address from secrets, on the CPU.
//!
//! [`promises`] lists all that promises it. Two judges look at each on machine code, as the compiler
//! has made it: [`memcheck`] marks secrets as undefined and has valgrind say what branches or addresses
//! depend on them, on the portable path, as it says that it has no ADX and no AVX-512; [`steps`] goes
//! through two runs with different secrets instruction by instruction, on every path that the machine
//! has, and compares where they are and what memory they name. Both must find the leaks that
//! [`promises::LEAKS`] has.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod follow;
mod memcheck;
mod promises;
mod steps;
mod translate;

use bigint_cpu::{Cpu, Path};
use promises::Setting;
use std::env;
use std::process::{Command, Output};
use std::thread;

#[global_allocator]
static MEMORY: follow::Apart = follow::Apart;

const CHILD: &str = "BIGINT_TEST_CHILD";

/// Runs the test `name` again on a path, in a process of its own, behind the words of `wrapper`.
fn on_path(name: &str, path: Path, wrapper: &[String]) -> Output {
    let this = env::current_exe().expect("this executable's path");
    let this = this
        .into_os_string()
        .into_string()
        .expect("a path in UTF-8");
    let words: Vec<String> = wrapper.iter().cloned().chain([this]).collect();
    Command::new(&words[0])
        .args(&words[1..])
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .env(Cpu::PATH_VARIABLE, path.name())
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", words[0]))
}

/// What such a process said, which must be that its one test has passed.
fn assert_passed(path: Path, output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    let has_passed = output.status.success() && said.contains("1 passed");
    assert!(
        has_passed,
        "{path:?}: {}\n{said}{complained}",
        output.status
    );
}

/// All promises of these names that `leaks` finds broken, and those of [`promises::LEAKS`] that it
/// does not find.
fn judge(
    setting: &Setting,
    is_named: impl Fn(&str) -> bool,
    leaks: impl Fn(&dyn Fn(bool)) -> Option<String>,
) {
    let found = |work: fn(&Setting)| leaks(&|other| work(&setting.with(other)));
    let mut wrong = Vec::new();
    for (name, work) in promises::LEAKS {
        if found(*work).is_none() {
            wrong.push(format!("{name} was not found"));
        }
    }
    for (name, work) in promises::PROMISES.iter().filter(|(name, _)| is_named(name)) {
        if let Some(what) = found(*work) {
            wrong.push(format!("{name}: {what}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}:\n{}",
        setting.name(),
        wrong.join("\n")
    );
}

#[test]
fn valgrind_finds_no_branch_and_no_address_that_depends_on_secrets() {
    let name = "valgrind_finds_no_branch_and_no_address_that_depends_on_secrets";
    if env::var_os(CHILD).is_some() {
        assert!(memcheck::is_running(), "not under valgrind");
        // Sums that are checked for overflow, as the profile `dev` has them, are branches.
        let sums = |name: &str| name.contains("inv") || name.contains("equal");
        let is_judged = |name: &str| !(cfg!(debug_assertions) && sums(name));
        let settings = promises::settings().take(if cfg!(debug_assertions) { 1 } else { 3 });
        return settings.for_each(|setting| judge(&setting, is_judged, memcheck::leaks));
    }
    let Some(wrapper) = memcheck::wrapper() else {
        return eprintln!("there is no valgrind: the CPU's constant time was not looked at so");
    };
    assert_passed(Path::Portable, &on_path(name, Path::Portable, &wrapper));
}

#[test]
fn every_step_and_every_address_is_the_same_for_other_secrets() {
    let name = "every_step_and_every_address_is_the_same_for_other_secrets";
    if env::var_os(CHILD).is_some() {
        let settings = promises::settings().take(if cfg!(debug_assertions) { 1 } else { 5 });
        return settings.for_each(|setting| judge(&setting, |_| true, steps::leaks));
    }
    // Threads that a child starts would not be followed.
    let alone = ["env", "RAYON_NUM_THREADS=1"].map(String::from);
    let look = |path: Path| {
        if !path.is_supported() {
            return eprintln!("this machine has no {}: it was not looked at", path.name());
        }
        assert_passed(path, &on_path(name, path, &alone));
        eprintln!("{}: every promise is kept", path.name());
    };
    thread::scope(|scope| {
        for path in Path::ALL {
            scope.spawn(move || look(path));
        }
    });
}
