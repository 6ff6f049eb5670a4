//! Tiles: neighbouring numbers for the threads of a warp, one for each, or several short
//! ones.
//!
//! Where numbers follow each other without a gap, a tile is one run of memory. The warp
//! then moves it in whole lines, by way of shared memory, where each thread finds its own
//! number; a thread that fetched a number by itself would take a small piece of a line
//! from each of many lines.

use super::Work;
use crate::gpu::memory::{CarryOut, Number, Stride, Unit};
use crate::gpu::shared::Slots;
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel::{numbers_at_a_time, staged_fours};
use bigint_core::{Algorithm, Arguments, Limb, MatrixArgument};
use core::marker::PhantomData;

/// Threads in a warp.
const WARP: u32 = 32;

/// A tile, seen from one of the warp's threads.
pub struct Tile<S> {
    /// A copy: what is read by reference would be kept in memory.
    arguments: Arguments,
    group: Group<32>,
    worker: u64,
    /// The tile's first number.
    first: u64,
    /// Numbers in the tile.
    numbers: u32,
    /// The limbs of each operand where tiles are runs of memory: where operands have the
    /// same width, results twice that, all follow each other without a gap, and the
    /// launch has shared memory for them. Else zero.
    pub dense_width: u32,
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

    /// The thread's own number; past the batch's end, where its result is switched off,
    /// the last one.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn work(&self) -> Work<S> {
        let arguments = &self.arguments;
        let own = self.first + u64::from(self.lane());
        let index = own.min(arguments.count - 1);
        // SAFETY: by the contract of `Tiles::new`; `index` is in the batch, no other
        // thread has it with its result switched on, or has this worker's scratch.
        unsafe {
            Work {
                r: Number::new(&arguments.r, index).switched(own < arguments.count),
                a: Number::new(&arguments.a, index),
                b: Number::new(&arguments.b, index),
                scratch: Number::new(&arguments.scratch, self.worker),
                carry: CarryOut::new(arguments, index),
            }
        }
    }

    /// All first operands of a dense tile as one long number.
    #[inline(always)]
    pub fn a(&self) -> Number<Unit> {
        self.run(&self.arguments.a)
    }

    /// All second operands of a dense tile.
    #[inline(always)]
    pub fn b(&self) -> Number<Unit> {
        self.run(&self.arguments.b)
    }

    /// All results of a dense tile.
    #[inline(always)]
    pub fn r(&self) -> Number<Unit> {
        self.run(&self.arguments.r)
    }

    #[allow(unsafe_code)]
    #[inline(always)]
    fn run(&self, argument: &MatrixArgument) -> Number<Unit> {
        // SAFETY: by the contract of `Tiles::new`: the tile is in the batch, and no
        // other warp has it.
        unsafe { Number::<S>::run(argument, self.first, self.numbers) }
    }

    /// The warp's slots in shared memory, for a dense tile. `FOURS` is that of
    /// [`staged_fours`] for numbers of `dense_width` limbs.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn slots<const FOURS: u32>(&self) -> Slots<FOURS> {
        // SAFETY: by the contract of `Tiles::new`.
        unsafe { Slots::new() }
    }
}

/// The numbers of the calling thread's warp, a tile after the other, in a kernel that
/// multiplies by rows (School) or by columns (Comba).
pub struct Tiles<'a, S, const BY_ROWS: bool> {
    arguments: &'a Arguments,
    group: Group<32>,
    worker: u64,
    first: u64,
    dense_width: u32,
    at_a_time: u64,
    stride: PhantomData<S>,
}

impl<'a, S: Stride, const BY_ROWS: bool> Tiles<'a, S, BY_ROWS> {
    /// The tiles that fall to the calling thread's warp.
    ///
    /// # Safety
    /// As for [`Numbers::new`](super::Numbers::new), of a launch whose blocks are made of
    /// whole warps and have the shared memory of `Kernel::launch`. The threads of a warp
    /// go through the tiles together, as [`Group::new`] asks.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a Arguments) -> Self {
        let Arguments { r, a, b, .. } = arguments;
        let width = a.width as usize;
        let algorithm = match BY_ROWS {
            true => Algorithm::School,
            false => Algorithm::Comba,
        };
        let is_dense = S::UNIT
            && [r, a, b].into_iter().all(has_no_gaps)
            && a.width == b.width
            && r.width == 2 * a.width
            && staged_fours(algorithm, width, width) > 0;
        Tiles {
            arguments,
            // SAFETY: by this function's own contract.
            group: unsafe { Group::new() },
            worker: thread::index_1d(),
            first: 0,
            dense_width: if is_dense { width as u32 } else { 0 },
            at_a_time: if is_dense {
                numbers_at_a_time(algorithm, width, width) as u64
            } else {
                1
            },
            stride: PhantomData,
        }
    }
}

#[inline(always)]
fn has_no_gaps(argument: &MatrixArgument) -> bool {
    argument.number_stride == argument.width && argument.limbs % 16 == 0
}

impl<S: Stride, const BY_ROWS: bool> Iterator for Tiles<'_, S, BY_ROWS> {
    type Item = Tile<S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Tile<S>> {
        let Tiles {
            arguments,
            group,
            worker,
            dense_width,
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
            worker,
            first,
            numbers: (arguments.count - first).min(numbers) as u32,
            dense_width,
            stride: PhantomData,
        })
    }
}

/// Brings numbers of `Q` fours into the slots, from four `at` on; `GAP` fours are left out
/// in the middle. Thread `lane` moves fours `lane`, `lane + 32`, ... of the run, up to eight
/// at a time.
#[inline(always)]
pub fn bring_in<const Q: u32, const GAP: u32, const FOURS: u32>(
    run: Number<Unit>,
    slots: Slots<FOURS>,
    lane: u32,
    at: u32,
) {
    let four = |k: u32| run.fours::<4, true>(4 * (lane + k * WARP));
    let put = put::<Q, GAP, FOURS>;
    let (f0, f1) = (four(0), four(1));
    if Q == 2 {
        put(slots, lane, at, f0);
        put(slots, lane + WARP, at, f1);
        return;
    }
    let (f2, f3) = (four(2), four(3));
    if Q == 4 {
        put(slots, lane, at, f0);
        put(slots, lane + WARP, at, f1);
        put(slots, lane + 2 * WARP, at, f2);
        put(slots, lane + 3 * WARP, at, f3);
        return;
    }
    let (f4, f5, f6, f7) = (four(4), four(5), four(6), four(7));
    put(slots, lane, at, f0);
    put(slots, lane + WARP, at, f1);
    put(slots, lane + 2 * WARP, at, f2);
    put(slots, lane + 3 * WARP, at, f3);
    put(slots, lane + 4 * WARP, at, f4);
    put(slots, lane + 5 * WARP, at, f5);
    put(slots, lane + 6 * WARP, at, f6);
    put(slots, lane + 7 * WARP, at, f7);
}

/// Puts four `place` of a tile of numbers of `Q` fours into its number's slot.
#[inline(always)]
fn put<const Q: u32, const GAP: u32, const FOURS: u32>(
    slots: Slots<FOURS>,
    place: u32,
    at: u32,
    four: [Limb; 4],
) {
    let (number, part) = (place / Q, place % Q);
    let gap = GAP * (part / (Q / 2));
    slots.set_four(number, at + part + gap, four);
}

/// Stores the first `P` fours of all slots; `WHOLE` says that the run ends with a four.
#[inline(always)]
pub fn bring_out<const P: u32, const WHOLE: bool, const FOURS: u32>(
    run: Number<Unit>,
    slots: Slots<FOURS>,
    lane: u32,
) {
    let mut place = lane;
    while place < WARP * P {
        let next = place + WARP;
        let four = slots.four(place / P, place % P);
        let next_four = slots.four(next / P, next % P);
        run.set_fours::<4, WHOLE>(4 * place, four);
        run.set_fours::<4, WHOLE>(4 * next, next_four);
        place = next + WARP;
    }
}
