//! The environment variables that shape the simulated machine. The README describes each;
//! here is their syntax. What they can name is below: [`faults`] and [`version`]s; what they
//! have the library say goes through [`log`].

pub mod faults;
pub mod log;
pub mod version;

use crate::error::Code;
use faults::Faults;
use sim::Arch;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;
use version::DriverVersion;

/// One simulated device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSpec {
    /// The device's architecture.
    pub arch: Arch,
    /// The size of the device's memory, in bytes.
    pub memory: u64,
}

/// The order in which the work of different streams runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// The order of submission, as soon as possible.
    #[default]
    Submission,
    /// As late as possible, and the youngest first where CUDA leaves the order open: work that the
    /// program forgot to order runs in the wrong order.
    Adversarial,
}

/// The action of the report of unfreed resources at exit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaks {
    /// Nothing.
    Ignore,
    /// Lists them, if there are any.
    #[default]
    Report,
    /// Lists them, and the process ends with exit code 86.
    Fail,
}

/// Everything that the variables say.
#[derive(Debug)]
pub struct Environment {
    /// `CUDA_SIM_DEVICES`.
    pub devices: Vec<DeviceSpec>,
    /// `CUDA_SIM_DRIVER_VERSION`.
    pub version: DriverVersion,
    /// `CUDA_SIM_CHECKS`: which of the simulator's checks.
    pub checks: sim::Checks,
    /// Whether `copies` is one of them: what goes to the host must have been written.
    pub checks_copies: bool,
    /// `CUDA_SIM_COUNTS`.
    pub counts: Option<PathBuf>,
    /// `CUDA_SIM_LOG`.
    pub log: Option<PathBuf>,
    /// `CUDA_SIM_QUIET`: whether nothing is said of calls that fail.
    pub quiet: bool,
    /// `CUDA_SIM_LEAKS`.
    pub leaks: Leaks,
    /// `CUDA_SIM_FAULT`.
    pub faults: Faults,
    /// `CUDA_SIM_SCHEDULE`.
    pub schedule: Schedule,
    /// `CUDA_SIM_BLOCKS`: whose turn it is among the blocks of a kernel.
    pub blocks: sim::Schedule,
    /// `CUDA_SIM_BUDGET`: instructions a block may issue before its launch is
    /// ended as one that hangs.
    pub budget: u64,
}

/// The machine without any variable set: one device of this kind.
const DEFAULT_SM: u32 = 90;
const DEFAULT_MEMORY: u64 = 4 << 30;
/// The most devices: more would leave too little room in the unified address space.
pub const MAX_DEVICES: usize = 16;
const MAX_MEMORY: u64 = 1 << 40;
const MIN_MEMORY: u64 = 1 << 20;

/// The prefix of the names of all variables here: another name with it is misspelt.
const PREFIX: &str = "CUDA_SIM_";
/// Every variable.
const NAMES: &[&str] = &[
    "CUDA_SIM_BLOCKS",
    "CUDA_SIM_BUDGET",
    "CUDA_SIM_CHECKS",
    // Of this crate's tests.
    "CUDA_SIM_CLIENTS",
    "CUDA_SIM_COUNTS",
    "CUDA_SIM_DEVICES",
    "CUDA_SIM_DRIVER_VERSION",
    "CUDA_SIM_FAULT",
    "CUDA_SIM_LEAKS",
    "CUDA_SIM_LOG",
    "CUDA_SIM_QUIET",
    "CUDA_SIM_SCHEDULE",
];

/// An error that names the nearest known variable, if this one has our prefix and is
/// unknown.
fn check_name(name: &str) -> Result<(), String> {
    if !name.starts_with(PREFIX) || NAMES.contains(&name) {
        return Ok(());
    }
    let likeness = |known: &str| strsim::sorensen_dice(known, &name.to_uppercase());
    let nearest = NAMES
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let nearest = nearest.map_or("", |nearest| nearest);
    Err(format!("there is no variable {name}; is {nearest} meant?"))
}

/// The environment of the process, read once. What is wrong with it is logged then, and
/// answered every time.
pub fn environment() -> Result<&'static Environment, Code> {
    static ENVIRONMENT: OnceLock<Result<Environment, ()>> = OnceLock::new();
    let environment = ENVIRONMENT.get_or_init(|| {
        Environment::read(std::env::vars_os())
            .map_err(|why| log::say(None, &format!("bad environment: {why}")))
    });
    environment.as_ref().map_err(|()| Code::INVALID_VALUE)
}

impl Environment {
    /// Logs a message: on stderr, or in the file `CUDA_SIM_LOG`.
    pub fn say(&self, message: &str) {
        log::say(self.log.as_deref(), message);
    }

    /// Reads every one of `variables`. The error names variable, value and reason.
    pub fn read(
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Environment, String> {
        let variables: HashMap<OsString, OsString> = variables.collect();
        let mut names: Vec<_> = variables
            .keys()
            .map(|name| name.to_string_lossy())
            .collect();
        names.sort_unstable();
        names.iter().try_for_each(|name| check_name(name))?;
        let variable = |name: &str| variables.get(OsStr::new(name)).cloned();
        let text = |name: &str| -> Result<Option<String>, String> {
            match variable(name) {
                None => Ok(None),
                Some(value) => match value.into_string() {
                    Ok(value) if value.trim().is_empty() => Ok(None),
                    Ok(value) => Ok(Some(value.trim().to_owned())),
                    Err(value) => Err(format!("{name}={}: not Unicode", value.display())),
                },
            }
        };
        let path = |name: &str| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| !path.as_os_str().is_empty())
        };
        fn parsed<T: Default>(
            name: &str,
            value: Option<String>,
            parse: impl Fn(&str) -> Result<T, String>,
        ) -> Result<T, String> {
            match value {
                None => Ok(T::default()),
                Some(value) => parse(&value).map_err(|why| format!("{name}={value}: {why}")),
            }
        }

        let devices = match text("CUDA_SIM_DEVICES")? {
            None => vec![device(DEFAULT_SM, DEFAULT_MEMORY)?],
            value => parsed("CUDA_SIM_DEVICES", value, parse_devices)?,
        };
        let faults = parsed("CUDA_SIM_FAULT", text("CUDA_SIM_FAULT")?, |value| {
            let faults = Faults::parse(value)?;
            match faults.last_device() {
                Some(last) if last >= devices.len() => {
                    Err(format!("there is no device {last} in CUDA_SIM_DEVICES"))
                }
                _ => Ok(faults),
            }
        })?;
        let (checks, checks_copies) =
            parsed("CUDA_SIM_CHECKS", text("CUDA_SIM_CHECKS")?, parse_checks)?;
        Ok(Environment {
            version: parsed(
                "CUDA_SIM_DRIVER_VERSION",
                text("CUDA_SIM_DRIVER_VERSION")?,
                str::parse,
            )?,
            checks,
            checks_copies,
            quiet: parsed("CUDA_SIM_QUIET", text("CUDA_SIM_QUIET")?, |value| {
                choose(value, &[("0", false), ("1", true)])
            })?,
            leaks: parsed("CUDA_SIM_LEAKS", text("CUDA_SIM_LEAKS")?, |value| {
                let choices = [
                    ("off", Leaks::Ignore),
                    ("report", Leaks::Report),
                    ("fail", Leaks::Fail),
                ];
                choose(value, &choices)
            })?,
            schedule: parsed("CUDA_SIM_SCHEDULE", text("CUDA_SIM_SCHEDULE")?, |value| {
                let choices = [
                    ("submission", Schedule::Submission),
                    ("adversarial", Schedule::Adversarial),
                ];
                choose(value, &choices)
            })?,
            blocks: parsed("CUDA_SIM_BLOCKS", text("CUDA_SIM_BLOCKS")?, str::parse)?,
            budget: parsed(
                "CUDA_SIM_BUDGET",
                text("CUDA_SIM_BUDGET")?,
                |value| match value.parse() {
                    Ok(budget) if budget > 0 => Ok(Some(budget)),
                    _ => Err("expected a number of instructions".to_owned()),
                },
            )?
            .unwrap_or(sim::DeviceConfig::BUDGET),
            counts: path("CUDA_SIM_COUNTS"),
            log: path("CUDA_SIM_LOG"),
            devices,
            faults,
        })
    }
}

/// The simulator's own checks, and whether `copies` stands among them.
fn parse_checks(text: &str) -> Result<(sim::Checks, bool), String> {
    let names = text.split(',').map(str::trim);
    let (ours, theirs): (Vec<_>, Vec<_>) = names.partition(|name| *name == "copies");
    let checks: sim::Checks = theirs
        .join(",")
        .parse()
        .map_err(|why| format!("{why}, or copies beside them"))?;
    if !ours.is_empty() && !checks.uninitialised {
        return Err("copies needs uninitialised, as in uninitialised,copies".to_owned());
    }
    Ok((checks, !ours.is_empty()))
}

fn choose<T: Copy>(value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(word, _)| *word == value);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
        format!("expected one of: {}", words.join(", "))
    })
}

fn device(sm: u32, memory: u64) -> Result<DeviceSpec, String> {
    let arch = Arch::by_sm(sm).ok_or_else(|| {
        let known: Vec<_> = Arch::ALL.iter().map(|a| format!("sm_{}", a.sm())).collect();
        format!("no architecture sm_{sm}; there are {}", known.join(", "))
    })?;
    Ok(DeviceSpec { arch, memory })
}

/// `none`, or devices separated by commas, each `[COUNT "x"] "sm_" NN [":" SIZE]`.
fn parse_devices(text: &str) -> Result<Vec<DeviceSpec>, String> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let mut devices = Vec::new();
    for one in text.split(',').map(str::trim) {
        let (spec, memory) = match one.split_once(':') {
            Some((spec, size)) => (spec, parse_size(size)?),
            None => (one, DEFAULT_MEMORY),
        };
        let (count, name) = match spec.split_once('x') {
            Some((count, name)) => (
                count
                    .parse::<usize>()
                    .map_err(|_| format!("'{count}' is not a number of devices"))?,
                name,
            ),
            None => (1, spec),
        };
        let sm = name
            .strip_prefix("sm_")
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| format!("'{name}' is not an architecture such as sm_90"))?;
        if count > MAX_DEVICES || devices.len() + count > MAX_DEVICES {
            return Err(format!("more than {MAX_DEVICES} devices"));
        }
        devices.extend(std::iter::repeat_n(device(sm, memory)?, count));
    }
    Ok(devices)
}

/// `4GiB`, `64MiB`, `512KiB`, or plain bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let (number, shift) = units
        .iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))
        .unwrap_or((text, 0));
    number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(1 << shift))
        .filter(|bytes| (MIN_MEMORY..=MAX_MEMORY).contains(bytes))
        .ok_or_else(|| {
            format!("'{text}' is not a memory size from 1MiB to 1024GiB, such as 512MiB")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Environment, String> {
        Environment::read(
            variables
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        )
    }

    #[test]
    fn nothing_set_is_one_checked_device() {
        let e = read(&[]).expect("defaults");
        assert_eq!(e.devices.len(), 1);
        assert_eq!(e.devices[0].memory, 4 << 30);
        assert_eq!(e.version, DriverVersion::default());
        assert_eq!(e.checks, sim::Checks::ALL);
        assert!(e.counts.is_none() && e.log.is_none());
        assert_eq!(e.budget, sim::DeviceConfig::BUDGET);
        assert_eq!(e.blocks, sim::Schedule::Rotating);
        assert_eq!(e.leaks, Leaks::Report);
        assert_eq!(e.schedule, Schedule::Submission);
    }

    #[test]
    fn devices_have_each_their_architecture_and_memory() {
        let e = read(&[("CUDA_SIM_DEVICES", "sm_90:4GiB, 2xsm_75:64MiB,sm_80")]).expect("list");
        let seen: Vec<_> = e.devices.iter().map(|d| (d.arch.sm(), d.memory)).collect();
        assert_eq!(
            seen,
            [(90, 4 << 30), (75, 64 << 20), (75, 64 << 20), (80, 4 << 30)]
        );
        let none = read(&[("CUDA_SIM_DEVICES", "none")]).expect("none");
        assert!(none.devices.is_empty());
    }

    #[test]
    fn checks_are_chosen_one_by_one() {
        let checks = read(&[("CUDA_SIM_CHECKS", "bounds,races")])
            .expect("two")
            .checks;
        let want = sim::Checks {
            bounds: true,
            races: true,
            ..sim::Checks::NONE
        };
        assert_eq!(checks, want);
        let none = read(&[("CUDA_SIM_CHECKS", "none")]).expect("none").checks;
        assert_eq!(none, sim::Checks::NONE);
        let more = read(&[("CUDA_SIM_CHECKS", "all, copies")]).expect("one more");
        assert_eq!((more.checks, more.checks_copies), (sim::Checks::ALL, true));
    }

    #[test]
    fn the_error_for_a_misspelt_variable_names_the_one_that_is_meant() {
        for (wrong, meant) in [
            ("CUDA_SIM_CHECK", "CUDA_SIM_CHECKS"),
            ("CUDA_SIM_DEVICE", "CUDA_SIM_DEVICES"),
            ("CUDA_SIM_FUALT", "CUDA_SIM_FAULT"),
            ("CUDA_SIM_FAULTS", "CUDA_SIM_FAULT"),
            ("CUDA_SIM_VERSION", "CUDA_SIM_DRIVER_VERSION"),
            ("CUDA_SIM_checks", "CUDA_SIM_CHECKS"),
        ] {
            let why = read(&[(wrong, "all")]).expect_err(wrong);
            let want = format!("there is no variable {wrong}; is {meant} meant?");
            assert_eq!(why, want);
        }
        // Others' variables are others' business, and an empty one of ours is not set.
        let e = read(&[("CUDA_VISIBLE_DEVICES", "0"), ("CUDA_SIM_LOG", "")]);
        assert!(e.expect("good").log.is_none());
    }

    #[test]
    fn every_variable_of_the_readme_is_known_and_the_other_way_round() {
        let readme = include_str!("../../README.md");
        let rows = readme
            .lines()
            .filter_map(|line| line.strip_prefix("| `CUDA_SIM_"));
        let mut rows: Vec<_> = rows
            .filter_map(|row| Some(format!("{PREFIX}{}", row.split_once('`')?.0)))
            .collect();
        rows.sort_unstable();
        let known: Vec<_> = NAMES
            .iter()
            .filter(|name| **name != "CUDA_SIM_CLIENTS")
            .collect();
        assert_eq!(rows.iter().collect::<Vec<_>>(), known);
    }

    #[test]
    fn a_wrong_value_is_named_with_its_variable() {
        for (name, value, word) in [
            ("CUDA_SIM_DEVICES", "sm_91", "sm_91"),
            ("CUDA_SIM_DEVICES", "H100", "H100"),
            ("CUDA_SIM_DEVICES", "sm_90:4GB", "4GB"),
            ("CUDA_SIM_DEVICES", "sm_90:1", "'1'"),
            ("CUDA_SIM_DEVICES", "17xsm_90", "more than"),
            ("CUDA_SIM_DEVICES", "yxsm_90", "'y'"),
            ("CUDA_SIM_DEVICES", "sm_90,", "''"),
            ("CUDA_SIM_DRIVER_VERSION", "new", "'new'"),
            ("CUDA_SIM_BUDGET", "0", "instructions"),
            ("CUDA_SIM_CHECKS", "some", "all, none"),
            ("CUDA_SIM_CHECKS", "bounds,some", "some"),
            ("CUDA_SIM_CHECKS", "bounds,copies", "uninitialised,copies"),
            ("CUDA_SIM_BLOCKS", "sideways", "random:SEED"),
            ("CUDA_SIM_LEAKS", "yes", "off, report, fail"),
            ("CUDA_SIM_QUIET", "yes", "0, 1"),
            ("CUDA_SIM_SCHEDULE", "random", "submission, adversarial"),
            ("CUDA_SIM_FAULT", "cuMemAlloc:1=2", "cuMemAlloc_v2"),
            ("CUDA_SIM_FAULT", "cuMemAlloc_v2:1=2@1", "device 1"),
        ] {
            let why = read(&[(name, value)]).expect_err(value);
            assert!(why.contains(name) && why.contains(word), "{why}");
        }
    }
}
