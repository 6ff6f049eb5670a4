//! Failures on request: which call of which function fails, and with what.
//!
//! ```text
//! faults   = [fault {";" fault}]
//! fault    = function ":" calls "=" code ["!"] ["@" device]
//! function = an entry point's name, or "*" for all that concern a device
//! calls    = n | n "+" | "*"         the n-th call, from the n-th on, every call
//! code     = number | CUDA_ERROR_... | seconds "s"
//! ```
//!
//! `cuMemAlloc_v2` stands for every function that takes device memory: which one a
//! program takes depends on what the driver offers, and the n-th allocation should
//! fail all the same. A clause on `cuMemAllocAsync` is about that one alone.
//!
//! With a number of seconds in the place of a code the call takes so long, and does not fail.
//!
//! With `!` the device is lost: every later call that concerns it answers the
//! code, and a new context does not help.

use crate::error::Code;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The reason of a call that was chosen to fail.
pub const ASKED_FOR: &str = "CUDA_SIM_FAULT asks for it";

/// Which calls of a function a fault hits; calls are counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    Nth(u64),
    From(u64),
}

impl Calls {
    fn hits(self, call: u64) -> bool {
        match self {
            Calls::Nth(n) => call == n,
            Calls::From(n) => call >= n,
        }
    }
}

/// One clause of `CUDA_SIM_FAULT`.
#[derive(Debug)]
struct Fault {
    function: Option<String>,
    calls: Calls,
    answer: Answer,
    device: Option<usize>,
    loses_device: bool,
    seen: AtomicU64,
}

/// The kind of the call that a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Fails(Code),
    Takes(Duration),
}

/// The functions that take device memory.
const ALLOCATIONS: [&str; 4] = [
    "cuMemAlloc_v2",
    "cuMemAllocAsync",
    "cuMemAllocManaged",
    "cuMemAllocPitch_v2",
];

/// The status that a call returns which was chosen to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injected {
    /// The code.
    pub code: Code,
    /// Whether the device is gone with it.
    pub loses_device: bool,
}

/// All clauses of `CUDA_SIM_FAULT`.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Parses the variable.
    pub fn parse(text: &str) -> Result<Faults, String> {
        text.split(';')
            .map(str::trim)
            .filter(|clause| !clause.is_empty())
            .map(|clause| parse_fault(clause).map_err(|why| format!("'{clause}': {why}")))
            .collect::<Result<_, _>>()
            .map(Faults)
    }

    /// The largest device number that a clause names.
    pub fn last_device(&self) -> Option<usize> {
        self.0.iter().filter_map(|fault| fault.device).max()
    }

    /// Counts one call of `function` on `device`; the failure that it is to answer, if any.
    ///
    /// Every clause counts, so that two clauses on one function keep in step.
    pub fn count_call(&self, function: &str, device: Option<usize>) -> Option<Injected> {
        let mut injected = None;
        for fault in &self.0 {
            let concerned = match fault.function.as_deref() {
                Some("cuMemAlloc_v2") => ALLOCATIONS.contains(&function),
                Some(name) => name == function,
                None => device.is_some(),
            };
            if !concerned || fault.device.is_some_and(|d| Some(d) != device) {
                continue;
            }
            let call = fault.seen.fetch_add(1, Ordering::Relaxed) + 1;
            match fault.answer {
                _ if !fault.calls.hits(call) => {}
                Answer::Takes(time) => thread::sleep(time),
                Answer::Fails(code) => {
                    injected.get_or_insert(Injected {
                        code,
                        loses_device: fault.loses_device,
                    });
                }
            }
        }
        injected
    }
}

fn parse_fault(clause: &str) -> Result<Fault, String> {
    let form = "expected FUNCTION:CALLS=CODE, CALLS being N, N+ or *";
    let (function, rest) = clause.split_once(':').ok_or(form)?;
    let (calls, answer) = rest.split_once('=').ok_or(form)?;
    let (answer, device) = match answer.split_once('@') {
        Some((answer, device)) => {
            let device = device
                .trim()
                .parse()
                .map_err(|_| format!("'{device}' is not a device number"))?;
            (answer.trim(), Some(device))
        }
        None => (answer.trim(), None),
    };
    let (code, loses_device) = match answer.strip_suffix('!') {
        Some(code) => (code.trim(), true),
        None => (answer, false),
    };
    Ok(Fault {
        function: parse_function(function.trim())?,
        calls: parse_calls(calls.trim())?,
        answer: parse_answer(code)?,
        device,
        loses_device,
        seen: AtomicU64::new(0),
    })
}

/// The entry points that do something, and so can fail on request: `build.rs` lists them.
const FUNCTIONS: &[&str] = include!(concat!(env!("OUT_DIR"), "/functions.rs"));

fn parse_function(name: &str) -> Result<Option<String>, String> {
    let exists = |name: &str| FUNCTIONS.contains(&name);
    if name == "*" {
        return Ok(None);
    }
    if exists(name) {
        return Ok(Some(name.to_owned()));
    }
    let versioned = ["_v2", "_v3"].map(|suffix| format!("{name}{suffix}"));
    match versioned.iter().find(|name| exists(name)) {
        Some(other) => Err(format!("no function '{name}'; it is exported as '{other}'")),
        None => Err(format!("no function '{name}' in this driver")),
    }
}

fn parse_calls(calls: &str) -> Result<Calls, String> {
    if calls == "*" {
        return Ok(Calls::From(1));
    }
    let (number, open) = match calls.strip_suffix('+') {
        Some(number) => (number, true),
        None => (calls, false),
    };
    match number.parse() {
        Ok(n) if n >= 1 && open => Ok(Calls::From(n)),
        Ok(n) if n >= 1 => Ok(Calls::Nth(n)),
        _ => Err(format!("'{calls}' is not N, N+ or * with N from 1")),
    }
}

fn parse_answer(answer: &str) -> Result<Answer, String> {
    let seconds = answer.strip_suffix('s').and_then(|s| s.parse().ok());
    match seconds {
        Some(seconds) => Ok(Answer::Takes(Duration::from_secs(seconds))),
        None => parse_code(answer).map(Answer::Fails),
    }
}

fn parse_code(code: &str) -> Result<Code, String> {
    if let Some(known) = Code::from_name(code) {
        return Ok(known);
    }
    match code.parse() {
        Ok(number) if number > 0 => Ok(Code(number)),
        _ => Err(format!(
            "'{code}' is not a CUresult such as 2 or CUDA_ERROR_OUT_OF_MEMORY"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Faults {
        Faults::parse(text).expect(text)
    }

    fn codes(faults: &Faults, function: &str, device: usize, calls: usize) -> Vec<u32> {
        (0..calls)
            .map(|_| {
                faults
                    .count_call(function, Some(device))
                    .map_or(0, |s| s.code.0)
            })
            .collect()
    }

    #[test]
    fn the_nth_call_fails_and_only_it() {
        let plan = faults("cuMemAlloc_v2:3=2; cuLaunchKernel:2+=719");
        assert_eq!(codes(&plan, "cuMemAlloc_v2", 0, 5), [0, 0, 2, 0, 0]);
        assert_eq!(codes(&plan, "cuLaunchKernel", 0, 4), [0, 719, 719, 719]);
        assert_eq!(codes(&plan, "cuMemFree_v2", 0, 4), [0, 0, 0, 0]);
    }

    #[test]
    fn every_way_to_take_memory_is_an_allocation() {
        let plan = faults("cuMemAlloc_v2:2=2; cuMemAllocAsync:1=46");
        assert_eq!(codes(&plan, "cuMemAllocManaged", 0, 1), [0]);
        assert_eq!(codes(&plan, "cuMemAllocAsync", 0, 2), [2, 0]);
        assert_eq!(codes(&plan, "cuMemAllocHost_v2", 0, 2), [0, 0]);
    }

    #[test]
    fn a_device_counts_its_own_calls() {
        let plan = faults("cuMemAlloc_v2:2=CUDA_ERROR_OUT_OF_MEMORY@1");
        assert_eq!(codes(&plan, "cuMemAlloc_v2", 0, 3), [0, 0, 0]);
        assert_eq!(codes(&plan, "cuMemAlloc_v2", 1, 3), [0, 2, 0]);
    }

    #[test]
    fn a_call_that_takes_long_is_no_failure() {
        let plan = faults("cuMemAlloc_v2:1=0s; cuMemAlloc_v2:2=2");
        assert_eq!(codes(&plan, "cuMemAlloc_v2", 0, 3), [0, 2, 0]);
        assert_eq!(plan.0[0].answer, Answer::Takes(Duration::ZERO));
    }

    #[test]
    fn two_clauses_on_one_function_count_in_step() {
        let plan = faults("cuMemAlloc_v2:1=2;cuMemAlloc_v2:3=2");
        assert_eq!(codes(&plan, "cuMemAlloc_v2", 0, 4), [2, 0, 2, 0]);
    }

    #[test]
    fn a_lost_device_is_said_so() {
        let plan = faults("*:*=999!@1");
        assert_eq!(plan.count_call("cuInit", None), None);
        assert_eq!(plan.count_call("cuCtxSynchronize", Some(0)), None);
        let lost = plan
            .count_call("cuCtxSynchronize", Some(1))
            .expect("a fault");
        assert!(lost.loses_device && lost.code == Code::UNKNOWN);
        assert_eq!(plan.last_device(), Some(1));
    }

    #[test]
    fn what_is_wrong_with_a_clause_is_named() {
        for (text, word) in [
            ("cuMemAlloc_v2", "FUNCTION"),
            ("cuMemAlloc_v2:1", "FUNCTION"),
            ("cuMemAlloc:1=2", "cuMemAlloc_v2"),
            ("cuNothing:1=2", "cuNothing"),
            ("cuMemAlloc_v2:0=2", "'0'"),
            ("cuMemAlloc_v2:x=2", "'x'"),
            ("cuMemAlloc_v2:1=0", "'0'"),
            ("cuMemAlloc_v2:1=2@a", "'a'"),
        ] {
            let why = Faults::parse(text).expect_err(text);
            assert!(why.contains(word), "{text}: {why}");
        }
        assert!(Faults::parse(" ; ").is_ok());
    }
}
