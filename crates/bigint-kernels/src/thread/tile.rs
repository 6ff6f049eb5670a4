//! Tiles: neighbouring numbers for the threads of a warp, one for each thread or several short
//! ones.
//!
//! If numbers follow each other without a gap, a tile is one run of memory. The warp then moves it
//! in whole lines into shared memory, where each thread finds its own number. A thread that loaded
//! its number by itself would load a small part of each of many lines.

use super::pieces::Pieces;
use super::places::Placed;
use super::{Batches, Work};
use crate::gpu::known::{self, Known as _};
use crate::gpu::memory::{Batch, CarryOut, Number, Stride, Unit};
use crate::gpu::shared::{Places, SharedNumber, Slots};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel::{
    PIECE, numbers_at_a_time, piece_bytes, place, place_bytes, placed_width, root_limbs, root_room,
};
use bigint_core::specialization::{
    NO_SLOTS, ProductInPlaces, ProductInSlots, are_dense, slot_width,
};
use bigint_core::{Algorithm, Arguments, MatrixArgument};
use core::marker::PhantomData;

/// The threads of a warp.
const WARP: u32 = 32;

/// A tile, seen from one of the warp's threads.
pub struct Tile<S> {
    /// A copy of the arguments. If they were read by reference, they would be kept in memory.
    arguments: Arguments,
    group: Group<32>,
    worker: u64,
    /// The tile's first number.
    first: u64,
    /// The number of numbers in the tile.
    numbers: u32,
    /// The limbs of each operand if tiles are dense, that is, pass through slots; else zero.
    /// Operands then have the same width, results twice that width, and all follow each other
    /// without a gap.
    pub dense_width: u32,
    stride: PhantomData<S>,
}

impl<S: Stride> Tile<S> {
    /// The number of numbers in the tile, which is less at the batch's end.
    #[inline(always)]
    pub fn numbers(&self) -> u32 {
        self.numbers
    }

    /// The thread's lane, which is the place of its number, or numbers, in the tile.
    #[inline(always)]
    pub fn lane(&self) -> u32 {
        self.group.lane()
    }

    /// Waits for all threads of the warp.
    #[inline(always)]
    pub fn sync(&self) {
        self.group.sync();
    }

    /// The thread's own number. Past the batch's end it is the last number, with its results
    /// switched off.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn work(&self) -> Work<S> {
        let arguments = &self.arguments;
        let own = self.first + u64::from(self.lane());
        let index = own.min(arguments.count - 1);
        // SAFETY: by the contract of `Batches::new`; `index` is in the batch, no other
        // thread has it with its result switched on, or has this worker's scratch.
        unsafe {
            Work {
                r: Number::new(&arguments.r, index).switched(own < arguments.count),
                s: Number::new(&arguments.s, index).switched(own < arguments.count),
                a: Number::new(&arguments.a, index),
                b: Number::new(&arguments.b, index),
                c: Number::new(&arguments.c, index),
                scratch: Number::new(&arguments.scratch, self.worker),
                carry: CarryOut::new(arguments, index).switched(own < arguments.count),
            }
        }
    }

    /// Whether the first operands are a run of memory that begins at a multiple of 16 bytes.
    #[inline(always)]
    pub fn is_run(&self) -> bool {
        let Arguments { a, .. } = &self.arguments;
        let has_no_gaps = a.limb_stride == 1 && a.number_stride == a.width;
        has_no_gaps && a.limbs % 16 == 0
    }

    /// All first operands of a tile that is a run of memory, as one long number.
    #[inline(always)]
    pub fn a(&self) -> Number<Unit> {
        self.run(&self.arguments.a)
    }

    /// All second operands of a dense tile, as one long number.
    #[inline(always)]
    pub fn b(&self) -> Number<Unit> {
        self.run(&self.arguments.b)
    }

    /// All results of a dense tile, as one long number.
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

    /// The tile with its places in shared memory, if the launch has them.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn placed(&self) -> Option<Placed<S>> {
        use ProductInPlaces as Of;
        let widths = [Of::FIRST_WIDTH, Of::SECOND_WIDTH, Of::PRODUCT_WIDTH];
        let [a, b, r] = &known::of_widths(&self.arguments, widths);
        let (n, m, width) = (a.width as usize, b.width as usize, r.width as usize);
        let room = 8 * Of::ROOM.or(placed_width(n, m, width) as u32 / 8);
        if room == 0 {
            return None;
        }
        let bytes = place_bytes(n, m, width) as u32;
        let is_dense = Of::DENSE.or(are_dense(&self.arguments));
        let b_from = WARP * place(n) as u32;
        let is_cut = n + m > width;
        let r_from = b_from + if is_cut { WARP * place(m) as u32 } else { 0 };
        // SAFETY: by the contract of `Batches::new`: the tile is in the batch, no other warp
        // has its results, and the launch has these bytes.
        unsafe {
            Some(Placed {
                group: self.group,
                room,
                numbers: self.numbers,
                is_run: is_dense && self.numbers == WARP,
                a: (Batch::new(a, self.first), Places::new(bytes, 0, n as u32)),
                b: (
                    Batch::new(b, self.first),
                    Places::new(bytes, b_from, m as u32),
                ),
                r: (
                    Batch::new(r, self.first),
                    Places::new(bytes, r_from, width as u32),
                ),
            })
        }
    }

    /// The places for numbers whose roots are computed, and the thread's room behind them in which
    /// its root grows, if the launch has them.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn root_places(&self) -> Option<(Places, SharedNumber)> {
        let n = self.arguments.a.width as usize;
        let bytes = 4 * root_limbs(n) as u32;
        if bytes == 0 {
            return None;
        }
        // SAFETY: by the contract of `Batches::new` the launch has these bytes.
        let places =
            |before: usize, width| unsafe { Places::new(bytes, WARP * before as u32, width) };
        let room = places(n | 1, root_room(n) as u32);
        Some((places(0, n as u32), room.of_lane(self.lane())))
    }

    /// The pieces through which the tile's dividends, quotients and remainders pass. The launch has
    /// [`piece_bytes`] of shared memory for each thread.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn pieces(&self) -> Pieces<S> {
        let Arguments { r, s, a, .. } = &self.arguments;
        let places = |before| {
            // SAFETY: by the contract of `Batches::new` the launch has these bytes.
            unsafe { Places::new(piece_bytes() as u32, before, PIECE) }
        };
        let behind = WARP * place(PIECE as usize) as u32;
        // SAFETY: as above: the tile is in the batch, and no other warp has its results.
        let batch = |argument| unsafe { Batch::new(argument, self.first) };
        Pieces::new(
            self.group,
            self.numbers,
            (batch(a), places(0)),
            [batch(r), batch(s)],
            places(behind),
        )
    }

    /// The warp's slots in shared memory, for a dense tile. `FOURS` is the value of `slot_fours`
    /// for numbers of `dense_width` limbs.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn slots<const FOURS: u32>(&self) -> Slots<FOURS> {
        // SAFETY: by the contract of `Batches::new`.
        unsafe { Slots::new() }
    }
}

/// The numbers of the calling thread's warp, tile by tile, in a kernel that multiplies by rows
/// (School) or by columns (Comba).
pub struct Tiles<'a, S, const BY_ROWS: bool> {
    arguments: &'a Arguments,
    group: Group<32>,
    worker: u64,
    first: u64,
    dense_width: u32,
    at_a_time: u64,
    stride: PhantomData<S>,
}

impl<'a, S: Stride> Batches<'a, S> {
    /// The tiles that fall to the calling thread's warp. Its threads go through them together.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn tiles<const BY_ROWS: bool>(self) -> Tiles<'a, S, BY_ROWS> {
        let arguments = self.arguments;
        let algorithm = match BY_ROWS {
            true => Algorithm::School,
            false => Algorithm::Comba,
        };
        let width = match S::UNIT {
            true => ProductInSlots::WIDTH.or(slot_width(algorithm, arguments)),
            false => NO_SLOTS,
        };
        let is_dense = width != NO_SLOTS;
        Tiles {
            arguments,
            // SAFETY: by the contract of `Batches::new` the warp is here as a whole.
            group: unsafe { Group::new() },
            worker: thread::index_1d(),
            first: 0,
            dense_width: if is_dense { width } else { 0 },
            at_a_time: if is_dense {
                numbers_at_a_time(algorithm, width as usize, width as usize) as u64
            } else {
                1
            },
            stride: PhantomData,
        }
    }
}

impl<'a, S: Stride> Batches<'a, S> {
    /// The tiles of a kernel whose numbers do not pass through slots.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn tiles_of_one(self) -> Tiles<'a, S, true> {
        Tiles {
            arguments: self.arguments,
            // SAFETY: by the contract of `Batches::new` the warp is here as a whole.
            group: unsafe { Group::new() },
            worker: thread::index_1d(),
            first: 0,
            dense_width: 0,
            at_a_time: 1,
            stride: PhantomData,
        }
    }
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

/// Moves numbers of `Q` groups of four limbs from a run into the slots, from group `at` of each on.
/// `GAP` groups are left free in the middle of a number. Thread `lane` moves groups `lane`,
/// `lane + 32` and so on of the run, up to eight at a time. They are always the same part of a
/// number, as `Q` divides 32.
#[inline(always)]
pub fn bring_in<const Q: u32, const GAP: u32, const FOURS: u32>(
    run: Number<Unit>,
    slots: Slots<FOURS>,
    lane: u32,
    at: u32,
) {
    let four = |k: u32| run.fours::<4, true>(4 * lane + 4 * WARP * k);
    let (number, part) = (lane / Q, lane % Q);
    let at = at + part + GAP * (part / (Q / 2));
    let (f0, f1) = (four(0), four(1));
    if Q == 2 {
        slots.set_four(number, at, f0);
        slots.set_four(number + WARP / Q, at, f1);
        return;
    }
    let (f2, f3) = (four(2), four(3));
    if Q == 4 {
        slots.set_four(number, at, f0);
        slots.set_four(number + WARP / Q, at, f1);
        slots.set_four(number + 2 * (WARP / Q), at, f2);
        slots.set_four(number + 3 * (WARP / Q), at, f3);
        return;
    }
    let (f4, f5, f6, f7) = (four(4), four(5), four(6), four(7));
    slots.set_four(number, at, f0);
    slots.set_four(number + WARP / Q, at, f1);
    slots.set_four(number + 2 * (WARP / Q), at, f2);
    slots.set_four(number + 3 * (WARP / Q), at, f3);
    slots.set_four(number + 4 * (WARP / Q), at, f4);
    slots.set_four(number + 5 * (WARP / Q), at, f5);
    slots.set_four(number + 6 * (WARP / Q), at, f6);
    slots.set_four(number + 7 * (WARP / Q), at, f7);
}

/// Moves the first `P` groups of four limbs of all slots to a run, as [`bring_in`] moves operands.
/// `WHOLE` says that the run's length is a multiple of four limbs.
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
    if P > 4 {
        bring_two_out::<P, 4, WHOLE, FOURS>(run, slots, lane);
        bring_two_out::<P, 6, WHOLE, FOURS>(run, slots, lane);
    }
    if P > 8 {
        bring_two_out::<P, 8, WHOLE, FOURS>(run, slots, lane);
        bring_two_out::<P, 10, WHOLE, FOURS>(run, slots, lane);
        bring_two_out::<P, 12, WHOLE, FOURS>(run, slots, lane);
        bring_two_out::<P, 14, WHOLE, FOURS>(run, slots, lane);
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
