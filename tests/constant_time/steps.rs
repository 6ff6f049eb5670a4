//! Two runs of the same work with different secrets, instruction by instruction: both must be at the
//! same place after each, and name the same memory.
//!
//! Two children of this process begin with the same memory, as `fork` leaves it, choose their secrets
//! and are followed ([`follow`]): their logs must be equal. Where they part, this process, which has the
//! same code at the same addresses, says at which instruction.
#![allow(unsafe_code)] // fork and shared memory

use crate::follow::{FAR, follow};
use crate::translate::{Program, range, words};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

/// The most words of a log.
const MOST: usize = 1 << 26;

/// Where two runs of `work` part or address other memory, or that one of them fails.
pub fn leaks(work: &dyn Fn(bool)) -> Option<String> {
    // What is made once, at the first call, is there before the children are.
    work(false);
    let runs = [false, true].map(|other| Run::of(work, other));
    if let Some(failure) = runs.iter().find_map(|run| run.failure.clone()) {
        return Some(failure);
    }
    let [x, y] = runs.each_ref().map(Run::log);
    assert!(!x.is_empty(), "nothing was followed");
    (x != y).then(|| parting(x, y))
}

/// Where two logs part.
fn parting(x: &[u64], y: &[u64]) -> String {
    let mut program = Program::new();
    let same = x.iter().zip(y).take_while(|(x, y)| x == y).count();
    let mut at = 0;
    let mut last = 0;
    while at < same {
        let block = program.block(x[at]);
        at += 1;
        for (instruction, registers) in &block {
            last = instruction.ip();
            for register in registers {
                at += words(*register);
                if at > same {
                    let place = place(last);
                    return format!("an address or a division by {register:?} at {place}");
                }
            }
        }
    }
    let next = [x, y].map(|log| log.get(same).map_or("its end".into(), |&at| place(at)));
    format!(
        "a branch at {} to {} or to {}",
        place(last),
        next[0],
        next[1]
    )
}

/// The log of a run, in memory that is shared with it, behind the number of its words.
struct Run {
    memory: *mut u64,
    failure: Option<String>,
}

impl Run {
    /// Runs the work in a child.
    fn of(work: &dyn Fn(bool), other: bool) -> Self {
        let (rights, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: fresh memory; the child goes on with this thread alone, and other threads have no
        // lock of what the work needs: the tests of this process come one after another.
        let (memory, id) = unsafe {
            let length = MOST * size_of::<u64>();
            let wanted = FAR + u64::from(other) * length as u64;
            let memory = libc::mmap(wanted as *mut _, length, rights, kind, -1, 0);
            assert!(memory != libc::MAP_FAILED, "no memory for the log");
            (memory.cast::<u64>(), libc::fork())
        };
        assert!(id >= 0, "no child: {}", std::io::Error::last_os_error());
        if id == 0 {
            // SAFETY: the memory is as long; ends the child, without what its parent does at its own
            // end.
            unsafe {
                let log = std::slice::from_raw_parts_mut(memory.add(1), MOST - 1);
                let mut has_worked = false;
                let work = || {
                    let worked = catch_unwind(AssertUnwindSafe(|| work(other)));
                    has_worked = worked.is_ok();
                };
                *memory = follow(work, log) as u64;
                libc::_exit(i32::from(!has_worked))
            }
        }
        let mut status = 0;
        // SAFETY: there is room for the status.
        let found = unsafe { libc::waitpid(id, &mut status, 0) };
        let is_good = found == id && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        Run {
            memory,
            failure: (!is_good).then(|| format!("the work failed, or is too long: {status:#x}")),
        }
    }

    fn log(&self) -> &[u64] {
        // SAFETY: the child has ended, and has written as many behind their number.
        unsafe { std::slice::from_raw_parts(self.memory.add(1), *self.memory as usize) }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // SAFETY: as it was mapped; nobody has a reference to it any more.
        unsafe {
            libc::munmap(self.memory.cast(), MOST * size_of::<u64>());
        }
    }
}

/// Where an instruction is, for people: the file that has it, and a line of source where `addr2line`
/// finds one.
fn place(at: u64) -> String {
    let maps = fs::read_to_string("/proc/self/maps").expect("what is mapped");
    let has_it = |line: &&str| range(line).is_some_and(|range| range.contains(&at));
    let line = maps.lines().find(has_it);
    let Some(file) = line.and_then(|line| line.split_whitespace().nth(5)) else {
        return format!("{at:#x}, in no file");
    };
    let start = maps.lines().find(|line| line.ends_with(file));
    let offset = at - start.and_then(range).map_or(0, |range| range.start);
    let mut command = Command::new("addr2line");
    let command = command.args(["-Cfpie", file, &format!("{offset:#x}")]);
    let found = command.output().ok().map(|output| output.stdout);
    let found = String::from_utf8_lossy(&found.unwrap_or_default()).replace('\n', " ");
    format!("{offset:#x} of {file}: {found}")
}
