//! The launch ABI of fused kernels. One launch computes several operations, and the values in
//! between stay in the registers or shared memory in which they were computed.
//!
//! A program has one value for each number of the batch, to which it applies its inputs one
//! after the other:
//!
//! ```text
//! value = 0                          a b + c:   add a
//! value = value op input, cut to             mul b
//!         the step's width,                  add c
//!         for each step
//! ```
//!
//! The steps are the same for all numbers, and are an argument of the launch.

use crate::kernel::{BLOCK, EntryPoint, Launch, MatrixArgument, TILE};

/// The most inputs of a program.
pub const MOST_INPUTS: usize = 16;

/// The most steps of a program.
pub const MOST_STEPS: usize = 32;

/// The widest value, in limbs, between the steps of a program that multiplies.
pub const MOST_STEP_WIDTH: usize = 128;

/// The number of warps with which a launch of sums fills any device.
const MANY_WARPS: usize = 1 << 12;

/// The most tiles of limbs that a warp of a launch of sums takes.
const MOST_TILES: usize = 16;

/// The operation that a step applies to the value.
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

/// One step of a program, in 32 bits: its kind in the upper 4, its input in the next 4, and in
/// the lower 24 the limbs of the value after the step, above which it is cut off. All values of
/// [`FusedKernel::Sums`] have the result's width; its steps hold the number of times that the
/// input is added or subtracted in the lower 24 bits.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Step(pub u32);

impl Step {
    /// Makes a step. `input` is below [`MOST_INPUTS`], `width` at most [`MOST_STEP_WIDTH`]
    /// limbs.
    pub const fn new(kind: StepKind, input: usize, width: usize) -> Self {
        Step((kind as u32) << 28 | (input as u32) << 24 | width as u32)
    }

    /// The step's [`StepKind`], as a number.
    #[inline(always)]
    pub const fn kind(self) -> u32 {
        self.0 >> 28
    }

    /// The index of the step's input.
    #[inline(always)]
    pub const fn input(self) -> u32 {
        self.0 >> 24 & 15
    }

    /// The limbs of the value after the step.
    #[inline(always)]
    pub const fn width(self) -> u32 {
        self.0 & 0x00ff_ffff
    }

    /// The number of times that a step of [`FusedKernel::Sums`] adds or subtracts its input.
    #[inline(always)]
    pub const fn times(self) -> u32 {
        self.width()
    }
}

/// An input of a program: a contiguous batch, or one number that is broadcast to the whole
/// batch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FusedInput {
    /// The device address of the first limb.
    pub limbs: u64,
    /// The limbs of each number.
    pub width: u32,
    /// The distance from one number to the next, in limbs: the width, or 0 for a broadcast
    /// number.
    pub number_stride: u32,
}

impl FusedInput {
    /// The input in the form that other kernels take.
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
    /// The result. It is contiguous, and no part of it overlaps an input.
    pub r: MatrixArgument,
    /// The inputs.
    pub inputs: [FusedInput; MOST_INPUTS],
    /// The steps.
    pub steps: [Step; MOST_STEPS],
    /// The number of steps.
    pub step_count: u64,
    /// The number of numbers in the batch.
    pub count: u64,
    /// The neighbouring numbers that a worker takes at a time. A worker of
    /// [`FusedKernel::Sums`] is a warp and takes several; a worker of the other kernels is a
    /// group of lanes and takes 1.
    pub numbers: u64,
    /// The number of workers of the launch.
    pub workers: u64,
    /// The limbs of shared memory for a value: a multiple of 4 for kernels that multiply, 0 for
    /// sums.
    pub capacity: u64,
}

impl FusedArguments {
    /// The result, then the inputs.
    pub fn matrices(&self) -> impl Iterator<Item = MatrixArgument> {
        core::iter::once(self.r).chain(self.inputs.map(FusedInput::matrix))
    }

    /// The arguments in the order in which a launch copies them, 64 bits at a time.
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
    /// Sums and differences of any width. A warp takes a run of numbers, whose limbs it treats
    /// as one row.
    Sums,
    /// Programs that multiply as well. So many lanes share a number, and its value is in shared
    /// memory.
    Steps(u32),
}

/// The numbers of lanes that may share a number in a kernel that multiplies.
pub const STEPS_LANES: [u32; 3] = [1, 2, 4];

/// The module of the fused kernels.
pub const FUSED_MODULE: &str = "fused";

impl FusedKernel {
    /// Every fused kernel.
    pub const ALL: [FusedKernel; 4] = [
        FusedKernel::Sums,
        FusedKernel::Steps(1),
        FusedKernel::Steps(2),
        FusedKernel::Steps(4),
    ];

    /// Encodes a program of at most [`MOST_STEPS`] steps for this kernel, and counts its steps.
    /// Each step of the program is its kind, its input, and the limbs of the value after it.
    /// The steps of [`FusedKernel::Sums`] that add the same input become one step with their
    /// count, and so do those that subtract it.
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

    /// The kernel for a program whose values have up to `width` limbs, if there is one. There
    /// always is for sums.
    pub fn of(multiplies: bool, width: usize) -> Option<Self> {
        if !multiplies {
            return Some(FusedKernel::Sums);
        }
        // A lane has up to eight limbs of a number, or more where four lanes share it. (With
        // four limbs a lane has too little to do: on an H200 twice as many lanes take a third
        // longer.)
        let lanes = STEPS_LANES
            .into_iter()
            .find(|lanes| width <= 8 * *lanes as usize);
        let wide = (width <= MOST_STEP_WIDTH).then_some(4);
        lanes.or(wide).map(FusedKernel::Steps)
    }

    /// The kernel's entry point.
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

    /// The launch for `count` numbers, and its arguments but for addresses, inputs and steps.
    /// Results have `width` limbs and the widest value between steps has `widest`. `count` must
    /// not be zero.
    pub fn launch(self, count: usize, width: usize, widest: usize) -> (Launch, FusedArguments) {
        let warps = (BLOCK / 32) as usize;
        let (lanes, numbers, capacity) = match self {
            // A warp takes whole numbers, and many tiles of them where there are warps enough:
            // the last tile of a short run may be nearly empty, and costs as much as a full
            // one. It takes so many numbers that the next warp's row begins with a line of
            // memory.
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
        // Each group of lanes has three values in shared memory: the present value, an input,
        // and the next value.
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
