//! A test from its beginning to its end, a machine whose transforms are too short, and the program as a process.

pub mod killed;
pub mod program;
pub mod running;

use mersenne::{
    Arithmetic, Backend, Cpu, Error, Multiplying, Number, Outcome, Saved, Squaring, Step,
};

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

/// A machine whose first transforms are too short.
pub struct Short;

impl Backend for Short {
    fn name(&self) -> &str {
        "short"
    }

    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        Cpu::default().squaring(number, longer_than)
    }

    fn multiplying(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Multiplying>, Error> {
        let cpu = Cpu {
            arithmetic: Arithmetic::Fp64,
            ..Cpu::default()
        };
        cpu.multiplying(number, Some(longer_than.unwrap_or(256)))
    }
}
