//! The launch ABI of fused kernels: several operations by one launch, whose values in
//! between stay where they are computed.
//!
//! A program works on one value for each number, from its inputs one after the other:
//!
//! ```text
//! value = 0                          a b + c:   add a
//! value = value op input, cut to             mul b
//!         the step's width,                  add c
//!         for each step
//! ```
//!
//! The steps are the same for all numbers, and come with the launch.

use crate::kernel::{BLOCK, EntryPoint, Launch, MatrixArgument, TILE};

/// Inputs of a program at most.
pub const MOST_INPUTS: usize = 16;

/// Steps of a program at most.
pub const MOST_STEPS: usize = 32;

/// The widest value between steps of a program that multiplies, in limbs.
pub const MOST_STEP_WIDTH: usize = 128;

/// Warps from which on a launch of sums fills any device.
const MANY_WARPS: usize = 1 << 12;

/// Tiles that a warp of such a launch has at most.
const MOST_TILES: usize = 16;

/// What a step does with the value.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// Adds an input.
    Add = 0,
    /// Subtracts an input.
    Sub = 1,
    /// Multiplies by an input.
    Mul = 2,
    /// Multiplies by the value itself.
    Square = 3,
}

/// One step, in 32 bits: what is done, with which input, and how many limbs the value then
/// has; what lies above is cut off. Steps of [`FusedKernel::Sums`] all have the result's
/// width, and in its place say how often an input is added or subtracted.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Step(pub u32);

impl Step {
    /// A step; `input` is below [`MOST_INPUTS`], `width` at most [`MOST_STEP_WIDTH`].
    pub const fn new(kind: StepKind, input: usize, width: usize) -> Self {
        Step((kind as u32) << 28 | (input as u32) << 24 | width as u32)
    }

    /// The kind of the step: a [`StepKind`].
    #[inline(always)]
    pub const fn kind(self) -> u32 {
        self.0 >> 28
    }

    /// The index of the step's input.
    #[inline(always)]
    pub const fn input(self) -> u32 {
        self.0 >> 24 & 15
    }

    /// Limbs of the value after it.
    #[inline(always)]
    pub const fn width(self) -> u32 {
        self.0 & 0x00ff_ffff
    }

    /// How often an input is added or subtracted, of [`FusedKernel::Sums`].
    #[inline(always)]
    pub const fn times(self) -> u32 {
        self.width()
    }
}

/// A contiguous batch, or a number that stands for all.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FusedInput {
    /// Device address of the first limb.
    pub limbs: u64,
    /// Limbs in each number.
    pub width: u32,
    /// Limbs from one number to the next: the width, or 0.
    pub number_stride: u32,
}

impl FusedInput {
    /// The input as an operand of any kernel.
    #[inline(always)]
    pub const fn matrix(self) -> MatrixArgument {
        MatrixArgument {
            limbs: self.limbs,
            number_stride: self.number_stride as u64,
            limb_stride: 1,
            width: self.width as u64,
        }
    }
}

/// The one parameter of a fused kernel, passed by value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusedArguments {
    /// The result: contiguous, and no part of it overlaps an input.
    pub r: MatrixArgument,
    /// The inputs.
    pub inputs: [FusedInput; MOST_INPUTS],
    /// The steps.
    pub steps: [Step; MOST_STEPS],
    /// The number of steps.
    pub step_count: u64,
    /// Numbers in the batch.
    pub count: u64,
    /// Neighbouring numbers that a worker of [`FusedKernel::Sums`], a warp, has at a time;
    /// of the others, whose worker is a group of lanes, it is 1.
    pub numbers: u64,
    /// Workers of the launch.
    pub workers: u64,
    /// Limbs of shared memory for a value: of kernels that multiply, a multiple of 4.
    pub capacity: u64,
}

impl FusedArguments {
    /// The result, then the inputs.
    pub fn matrices(&self) -> impl Iterator<Item = MatrixArgument> {
        core::iter::once(self.r).chain(self.inputs.map(FusedInput::matrix))
    }

    /// The arguments as a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let r = [
            self.r.limbs,
            self.r.number_stride,
            self.r.limb_stride,
            self.r.width,
        ];
        let inputs = self.inputs.into_iter();
        let inputs = inputs.flat_map(move |x| [x.limbs, pair(x.width, x.number_stride)]);
        let steps: [u64; MOST_STEPS / 2] =
            core::array::from_fn(|i| pair(self.steps[2 * i].0, self.steps[2 * i + 1].0));
        let rest = [
            self.step_count,
            self.count,
            self.numbers,
            self.workers,
            self.capacity,
        ];
        r.into_iter().chain(inputs).chain(steps).chain(rest)
    }
}

/// A fused kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FusedKernel {
    /// Sums and differences of any width: a warp on a run of numbers, whose limbs are one
    /// flat row.
    Sums,
    /// Products too: so many lanes on a number, whose value is in shared memory.
    Steps(u32),
}

/// The lanes that share a number in a kernel that multiplies.
pub const STEPS_LANES: [u32; 3] = [1, 2, 4];

/// The module of the fused kernels.
pub const FUSED_MODULE: &str = "fused";

impl FusedKernel {
    /// Every one.
    pub const ALL: [FusedKernel; 4] = [
        FusedKernel::Sums,
        FusedKernel::Steps(1),
        FusedKernel::Steps(2),
        FusedKernel::Steps(4),
    ];

    /// The steps of a program of this kernel, [`MOST_STEPS`] at most, and how many: what is
    /// done, with which input, and how many limbs the value then has. An input of a sum is
    /// there once, with how often it is added, and once, with how often subtracted.
    pub fn steps(
        self,
        program: impl IntoIterator<Item = (StepKind, usize, usize)>,
    ) -> ([Step; MOST_STEPS], usize) {
        let (mut steps, mut count) = ([Step::default(); MOST_STEPS], 0);
        for (kind, input, width) in program {
            let mut step = Step::new(kind, input, width);
            if self == FusedKernel::Sums {
                step = Step::new(kind, input, 1);
                let of = |step: &Step| (step.kind(), step.input());
                if let Some(at) = steps[..count].iter().position(|same| of(same) == of(&step)) {
                    steps[at].0 += 1;
                    continue;
                }
            }
            steps[count] = step;
            count += 1;
        }
        (steps, count)
    }

    /// The kernel for values of up to `width` limbs, if there is one: for sums always.
    pub fn of(multiplies: bool, width: usize) -> Option<Self> {
        if !multiplies {
            return Some(FusedKernel::Sums);
        }
        // A lane has up to eight limbs of a number; where there are four lanes, more. (Of four
        // a lane has too little to do: on an H200 twice as many lanes take a third longer.)
        let lanes = STEPS_LANES
            .into_iter()
            .find(|lanes| width <= 8 * *lanes as usize);
        let wide = (width <= MOST_STEP_WIDTH).then_some(4);
        lanes.or(wide).map(FusedKernel::Steps)
    }

    /// The entry point that is launched.
    pub const fn entry_point(self) -> EntryPoint {
        EntryPoint {
            name: match self {
                FusedKernel::Sums => "fused_sums",
                FusedKernel::Steps(1) => "fused_steps1",
                FusedKernel::Steps(2) => "fused_steps2",
                FusedKernel::Steps(_) => "fused_steps4",
            },
            module: FUSED_MODULE,
        }
    }

    /// Grid and shared memory for `count` numbers, `count` not zero, whose results have
    /// `width` limbs and whose widest value has `widest`; and the arguments that say the
    /// same, without addresses.
    pub fn launch(self, count: usize, width: usize, widest: usize) -> (Launch, FusedArguments) {
        let warps = (BLOCK / 32) as usize;
        let (lanes, numbers, capacity) = match self {
            // Whole numbers, of many tiles where there are warps enough: a run of few may end
            // with a tile that is nearly empty. So many of them that the next warp's row
            // begins with a line of memory.
            FusedKernel::Sums => {
                let aligned = 32 >> width.trailing_zeros().min(5);
                let limbs = count.saturating_mul(width) / MANY_WARPS;
                let limbs = limbs.clamp(TILE as usize, MOST_TILES * TILE as usize);
                (32, limbs.div_ceil(width).next_multiple_of(aligned), 0)
            }
            FusedKernel::Steps(lanes) => (lanes, 1, widest.next_multiple_of(4)),
        };
        let workers_per_block = match self {
            FusedKernel::Sums => warps,
            FusedKernel::Steps(_) => (BLOCK / lanes) as usize,
        };
        let grid = count
            .div_ceil(numbers)
            .div_ceil(workers_per_block)
            .min(1 << 20);
        let workers = grid * workers_per_block;
        // Three values of each group: the one that there is, an input, and the next one.
        let shared_bytes = 3 * 4 * capacity * workers_per_block;
        let launch = Launch {
            grid: grid as u32,
            block: BLOCK,
            shared_bytes: shared_bytes as u32,
            workers,
            scratch_width: 0,
        };
        let arguments = FusedArguments {
            r: MatrixArgument::default(),
            inputs: [FusedInput::default(); MOST_INPUTS],
            steps: [Step::default(); MOST_STEPS],
            step_count: 0,
            count: count as u64,
            numbers: numbers as u64,
            workers: workers as u64,
            capacity: capacity as u64,
        };
        (launch, arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_has_lanes_for_its_fours_and_shared_memory_that_needs_no_leave() {
        for width in 1..=MOST_STEP_WIDTH {
            let Some(FusedKernel::Steps(lanes)) = FusedKernel::of(true, width) else {
                panic!("{width}");
            };
            assert!(8 * lanes as usize >= width.min(32));
            let (launch, _) = FusedKernel::Steps(lanes).launch(1000, width, width);
            assert!(launch.shared_bytes <= 48 << 10, "{width}");
        }
        assert_eq!(FusedKernel::of(true, MOST_STEP_WIDTH + 1), None);
    }

    #[test]
    fn words_are_all_there_is() {
        let (_, arguments) = FusedKernel::Sums.launch(1, 1, 1);
        assert_eq!(8 * arguments.words().count(), size_of::<FusedArguments>());
    }

    #[test]
    fn rows_of_sums_begin_with_a_line_of_memory() {
        for width in 1..3000 {
            let (_, arguments) = FusedKernel::Sums.launch(1 << 20, width, width);
            assert_eq!(arguments.numbers as usize * width % 32, 0);
            let limbs = arguments.numbers as usize * width;
            assert!((256..4096 + 32 * width).contains(&limbs), "{width}");
        }
    }
}
