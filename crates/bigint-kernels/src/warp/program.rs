//! The program of a fused launch ([`bigint_core::fused`]), spread over the lanes of a warp.
//!
//! Which input a step takes is known only at run time, and registers cannot be indexed. So lane
//! `i` keeps input `i` and step `i`, and all lanes ask it by a shuffle.

use crate::gpu::warp::Group;
use bigint_core::MatrixArgument;
use bigint_core::fused::{FusedArguments, FusedInput, Step, StepKind};

/// `$own = $all[$lane]`, written out, as for a loop the compiler would keep `$all` in memory.
macro_rules! own_of {
    ($lane:ident, $own:ident, $all:expr, $($i:literal)*) => {$(
        if $lane == $i {
            $own = $all[$i];
        }
    )*};
}

/// The inputs and steps of a program, seen from one of the warp's lanes.
#[derive(Clone, Copy)]
pub struct Program {
    warp: Group<32>,
    own: FusedInput,
    step: Step,
    /// The number of steps.
    pub steps: u32,
}

impl Program {
    /// The program of a launch.
    ///
    /// # Safety
    /// The contract is that of [`Group::new`]: the whole warp is here.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub unsafe fn new(arguments: &FusedArguments) -> Self {
        // SAFETY: by this function's own contract.
        let warp = unsafe { Group::<32>::new() };
        let lane = warp.lane();
        let mut own = FusedInput::default();
        own_of! { lane, own, arguments.inputs, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 }
        let mut step = Step::default();
        own_of! { lane, step, arguments.steps,
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
            16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        }
        Program {
            warp,
            own,
            step,
            steps: arguments.step_count as u32,
        }
    }

    /// The number of terms that a sum subtracts. The whole warp asks together.
    #[inline(always)]
    pub fn differences(self) -> u32 {
        let (mut differences, mut at) = (0, 0);
        while at < self.steps {
            let step = Step(self.warp.shuffle(self.step.0, at));
            if step.kind() == StepKind::Sub as u32 {
                differences += step.times();
            }
            at += 1;
        }
        differences
    }

    /// Whether all inputs are rows of numbers of `width` limbs without gaps that begin at a
    /// multiple of 16 bytes. The whole warp asks together.
    #[inline(always)]
    pub fn are_rows(self, width: u32) -> bool {
        let FusedInput {
            limbs,
            width: own,
            number_stride,
        } = self.own;
        let is_row = own == width && number_stride == width && limbs % 16 == 0;
        // An input that the launch does not have has width 0.
        self.warp.all(is_row || own == 0)
    }

    /// Step `at`, and the address of its input, which is a row. The whole warp asks together.
    #[inline(always)]
    pub fn row(self, at: u32) -> (Step, MatrixArgument) {
        let step = Step(self.warp.shuffle(self.step.0, at));
        let of_input = |value| u64::from(self.warp.shuffle(value, step.input()));
        let low = of_input(self.own.limbs as u32);
        let high = of_input((self.own.limbs >> 32) as u32);
        let row = MatrixArgument {
            limbs: high << 32 | low,
            ..MatrixArgument::default()
        };
        (step, row)
    }

    /// Step `at`, and its input. The whole warp asks together.
    #[inline(always)]
    pub fn step(self, at: u32) -> (Step, MatrixArgument) {
        let step = Step(self.warp.shuffle(self.step.0, at));
        let of_input = |value| self.warp.shuffle(value, step.input());
        let FusedInput {
            limbs,
            width,
            number_stride,
        } = self.own;
        let low = u64::from(of_input(limbs as u32));
        let high = u64::from(of_input((limbs >> 32) as u32));
        let input = FusedInput {
            limbs: high << 32 | low,
            width: of_input(width),
            number_stride: of_input(number_stride),
        };
        (step, input.matrix())
    }
}
