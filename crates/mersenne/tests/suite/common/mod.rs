//! A test from its beginning to its end, and the program as a process.

pub mod killed;
pub mod program;
pub mod running;

use mersenne::{Backend, Outcome, Saved, Step};

/// What the test finds on this machine.
pub fn outcome(test: Saved, backend: &dyn Backend) -> Outcome {
    let mut test = test;
    let mut runner = test.runner(backend).unwrap();
    loop {
        if let Step::Done(outcome) = test.advance(&mut runner, 1000).unwrap() {
            return outcome;
        }
    }
}
