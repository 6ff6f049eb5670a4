//! Tiles: neighbouring numbers for the threads of a warp, one for each, or several short
//! ones.
//!
//! Where numbers follow each other without a gap, a tile is one run of memory. The warp
//! then moves it in whole lines, by way of shared memory, where each thread finds its own
//! number; a thread that fetched a number by itself would take a small piece of a line
//! from each of many lines.

use super::Batches;
use crate::gpu::memory::{Number, Stride, Unit};
use crate::gpu::shared::Slots;
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel::{numbers_at_a_time, staged_fours};
use bigint_core::{Algorithm, Arguments, MatrixArgument};
use core::marker::PhantomData;

/// Threads in a warp.
const WARP: u32 = 32;

/// A tile, seen from one of the warp's threads.
pub struct Tile<S> {
    /// A copy: what is read by reference would be kept in memory.
    arguments: Arguments,
    group: Group<32>,
    /// The tile's first number.
    first: u64,
    /// Numbers in the tile.
    numbers: u32,
    /// Limbs of each operand.
    pub width: u32,
    stride: PhantomData<S>,
}

impl<S: Stride> Tile<S> {
    /// Numbers in the tile: fewer at the batch's end.
    #[inline(always)]
    pub fn numbers(&self) -> u32 {
        self.numbers
    }

    /// The thread's lane: the place of its number, or numbers, in the tile.
    #[inline(always)]
    pub fn lane(&self) -> u32 {
        self.group.lane()
    }

    /// Waits for the warp.
    #[inline(always)]
    pub fn sync(&self) {
        self.group.sync();
    }

    /// All first operands as one long number.
    #[inline(always)]
    pub fn a(&self) -> Number<Unit> {
        self.run(&self.arguments.a)
    }

    /// All second operands.
    #[inline(always)]
    pub fn b(&self) -> Number<Unit> {
        self.run(&self.arguments.b)
    }

    /// All results.
    #[inline(always)]
    pub fn r(&self) -> Number<Unit> {
        self.run(&self.arguments.r)
    }

    #[allow(unsafe_code)]
    #[inline(always)]
    fn run(&self, argument: &MatrixArgument) -> Number<Unit> {
        // SAFETY: by the contract of `Batches::new`: the tile is in the batch, and no
        // other warp has it.
        unsafe { Number::<S>::run(argument, self.first, self.numbers) }
    }

    /// The warp's slots in shared memory. `FOURS` is that of
    /// [`staged_fours`] for numbers of `width` limbs.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn slots<const FOURS: u32>(&self) -> Slots<FOURS> {
        // SAFETY: by the contract of `Batches::new`.
        unsafe { Slots::new() }
    }
}

/// The numbers of the calling thread's warp, a tile after the other, in a kernel that
/// multiplies by columns.
pub struct Tiles<'a, S> {
    arguments: &'a Arguments,
    group: Group<32>,
    worker: u64,
    first: u64,
    at_a_time: u64,
    stride: PhantomData<S>,
}

impl<'a, S: Stride> Batches<'a, S> {
    /// The tiles that fall to the calling thread's warp, whose threads go through them
    /// together. Operands have the same width, one of a few, results twice that, and all
    /// follow each other without a gap; else there are none.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn tiles(self) -> Option<Tiles<'a, S>> {
        let arguments = self.arguments;
        let Arguments { r, a, b, .. } = arguments;
        let width = a.width as usize;
        let is_dense = S::UNIT
            && has_no_gaps(r)
            && has_no_gaps(a)
            && has_no_gaps(b)
            && a.width == b.width
            && r.width == 2 * a.width
            && staged_fours(Algorithm::Comba, width, width) > 0;
        is_dense.then(
            #[inline(always)]
            || Tiles {
                arguments,
                // SAFETY: by the contract of `Batches::new` the warp is here as a whole.
                group: unsafe { Group::new() },
                worker: thread::index_1d(),
                first: 0,
                at_a_time: numbers_at_a_time(Algorithm::Comba, width, width) as u64,
                stride: PhantomData,
            },
        )
    }
}

#[inline(always)]
fn has_no_gaps(argument: &MatrixArgument) -> bool {
    argument.number_stride == argument.width && argument.limbs % 16 == 0
}

impl<S: Stride> Iterator for Tiles<'_, S> {
    type Item = Tile<S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Tile<S>> {
        let Tiles {
            arguments,
            group,
            worker,
            at_a_time,
            ..
        } = *self;
        let first = (self.first + worker - u64::from(group.lane())) * at_a_time;
        if first >= arguments.count {
            return None;
        }
        self.first += arguments.workers;
        let numbers = u64::from(WARP) * at_a_time;
        Some(Tile {
            arguments: *arguments,
            group,
            first,
            numbers: (arguments.count - first).min(numbers) as u32,
            width: arguments.a.width as u32,
            stride: PhantomData,
        })
    }
}

/// Brings numbers of two fours into the slots, from four `at` on. Thread `lane` moves fours
/// `lane` and `lane + 32` of the run.
#[inline(always)]
pub fn bring_in<const FOURS: u32>(run: Number<Unit>, slots: Slots<FOURS>, lane: u32, at: u32) {
    let first = run.fours::<4, true>(4 * lane);
    let next = run.fours::<4, true>(4 * lane + 4 * WARP);
    slots.set_four(lane / 2, at + lane % 2, first);
    slots.set_four(lane / 2 + WARP / 2, at + lane % 2, next);
}

/// Stores the first `P` fours of all slots, two or four, likewise; `WHOLE` says that the run
/// ends with a four.
#[inline(always)]
pub fn bring_out<const P: u32, const WHOLE: bool, const FOURS: u32>(
    run: Number<Unit>,
    slots: Slots<FOURS>,
    lane: u32,
) {
    bring_two_out::<P, 0, WHOLE, FOURS>(run, slots, lane);
    if P > 2 {
        bring_two_out::<P, 2, WHOLE, FOURS>(run, slots, lane);
    }
}

#[inline(always)]
fn bring_two_out<const P: u32, const K: u32, const WHOLE: bool, const FOURS: u32>(
    run: Number<Unit>,
    slots: Slots<FOURS>,
    lane: u32,
) {
    let (number, part) = (lane / P + K * (WARP / P), lane % P);
    let four = slots.four(number, part);
    let next = slots.four(number + WARP / P, part);
    run.set_fours::<4, WHOLE>(4 * lane + 4 * WARP * K, four);
    run.set_fours::<4, WHOLE>(4 * lane + 4 * WARP * (K + 1), next);
}
