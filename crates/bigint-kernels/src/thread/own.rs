//! Numbers of which a thread has each to itself, wherever they are: in device memory, in registers, or
//! in a strip of shared memory, through which its warp moves them in whole lines.
//!
//! Numbers of up to four limbs that are compared or added, and then written, stay in registers. Wider
//! contiguous numbers pass through strips where that pays ([`scanned`](bigint_core::kernel::scanned)): a
//! thread that loaded its number by itself would load a small part of a line at a time, and load limbs
//! again that it has compared. A warp moves 32 numbers at a time, or 64 narrow ones:
//!
//! ```text
//! device memory   a ---->  strip of a   \                  / strip of r  ----> r   device memory
//!                 b ---->  strip of b   /  a thread each   \ strip of s  ----> s
//! ```
//!
//! All other numbers are read and written in device memory.

use super::{Batches, CHUNK, Work, pick};
use crate::gpu::flat::Row;
use crate::gpu::known::Known as _;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::shared::{Fours, SharedNumber};
use crate::gpu::strip::{Held, Strip};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel;
use bigint_core::specialization::{Home, ScanByThread, home};
use bigint_core::{Arguments, Layout, Limb, MatrixArgument, Operation};

/// The threads of a warp.
const WARP: u32 = 32;

/// A number that a thread has to itself. Above its width it reads as zero, and stores do nothing.
pub trait Own: Fours {
    /// The limbs of the number.
    fn width(self) -> u32;

    /// Limb `at`.
    fn limb(self, at: u32) -> Limb;

    /// Sets limb `at`.
    fn set(self, at: u32, limb: Limb);
}

impl<S: Stride> Fours for Number<S> {
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        self.limbs::<4>(at)
    }

    #[inline(always)]
    fn set_four(self, at: u32, limbs: [Limb; 4]) {
        self.set_limbs(at, limbs);
    }
}

impl<S: Stride> Own for Number<S> {
    #[inline(always)]
    fn width(self) -> u32 {
        Number::width(self)
    }

    #[inline(always)]
    fn limb(self, at: u32) -> Limb {
        Number::limb(self, at)
    }

    #[inline(always)]
    fn set(self, at: u32, limb: Limb) {
        Number::set(self, at, limb);
    }
}

impl Own for Held {
    #[inline(always)]
    fn width(self) -> u32 {
        Held::width(self)
    }

    #[inline(always)]
    fn limb(self, at: u32) -> Limb {
        Held::limb(self, at)
    }

    #[inline(always)]
    fn set(self, at: u32, limb: Limb) {
        Held::set(self, at, limb);
    }
}

impl Own for SharedNumber {
    #[inline(always)]
    fn width(self) -> u32 {
        SharedNumber::width(self)
    }

    #[inline(always)]
    fn limb(self, at: u32) -> Limb {
        SharedNumber::limb(self, at)
    }

    #[inline(always)]
    fn set(self, at: u32, limb: Limb) {
        SharedNumber::set(self, at, limb);
    }
}

/// An operand of up to four limbs in registers. Stores do nothing.
#[derive(Clone, Copy)]
struct Few {
    limbs: [Limb; 4],
    width: u32,
}

impl Few {
    #[inline(always)]
    fn of<S: Stride>(number: Number<S>) -> Self {
        let limbs = match number.in_fours() {
            true => number.fours::<4, true>(0),
            false => number.fours::<4, false>(0),
        };
        let width = number.width();
        Few { limbs, width }
    }
}

impl Fours for Few {
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        if at == 0 { self.limbs } else { [0; 4] }
    }

    #[inline(always)]
    fn set_four(self, _: u32, _: [Limb; 4]) {}
}

impl Own for Few {
    #[inline(always)]
    fn width(self) -> u32 {
        self.width
    }

    #[inline(always)]
    fn limb(self, at: u32) -> Limb {
        pick(self.limbs, at)
    }

    #[inline(always)]
    fn set(self, _: u32, _: Limb) {}
}

/// The numbers of one computation. `r` may have the same memory as `a`, and `s` the same as `b`, limb by
/// limb.
#[derive(Clone, Copy)]
pub struct Numbers<R, N> {
    /// The result.
    pub r: R,
    /// The second result.
    pub s: R,
    /// The first operand.
    pub a: N,
    /// The second operand.
    pub b: N,
    /// The third operand.
    pub c: N,
}

/// An operation that a thread computes on its numbers.
pub trait Leaf {
    /// The operation that it computes.
    const OPERATION: Operation;

    /// Computes the results. A limb of an operand is read before the limb of a result at the same place
    /// is set; if limbs are set in groups of four, so are all four.
    fn number<R: Own, N: Own>(numbers: Numbers<R, N>);
}

/// Both numbers, the other way around if `is_so`.
#[inline(always)]
pub fn swapped(is_so: bool, x: [Limb; 4], y: [Limb; 4]) -> ([Limb; 4], [Limb; 4]) {
    if is_so { (y, x) } else { (x, y) }
}

/// Sets `r` to `x`, cut or extended to the width of `r`.
#[inline(always)]
pub fn copy(r: impl Own, x: impl Own) {
    let mut at = 0;
    while at < r.width() {
        r.set_four(at, x.four(at));
        at += CHUNK;
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn numbers<L: Leaf, S: Stride>(batches: Batches<'_, S>) {
    let arguments = batches.arguments;
    let layout = match S::UNIT {
        true => Layout::Contiguous,
        false => Layout::Interleaved,
    };
    let home = ScanByThread::HOME.or(home(L::OPERATION, layout, arguments));
    if S::UNIT && home == Home::Strips {
        by_strips::<L>(batches);
        return;
    }
    for Work { r, s, a, b, c, .. } in batches.numbers() {
        if !const { L::OPERATION.makes_one_limb() } && home == Home::Registers {
            let (a, b, c) = (Few::of(a), Few::of(b), Few::of(c));
            L::number(Numbers { r, s, a, b, c });
        } else {
            L::number(Numbers { r, s, a, b, c });
        }
    }
}

/// Computes the numbers of the calling warp through strips, for which the launch has shared memory.
#[allow(unsafe_code)]
#[inline(always)]
fn by_strips<L: Leaf>(batches: Batches<'_, impl Stride>) {
    let operands = const { L::OPERATION.declaration().operands.len() };
    let results = const { L::OPERATION.declaration().exact.len() };
    let Arguments {
        r,
        s,
        a,
        b,
        c,
        count,
        workers,
        ..
    } = batches.arguments;
    // SAFETY: by the contract of `Batches::new` the warp is here as a whole.
    let group: Group<WARP> = unsafe { Group::new() };
    let lane = group.lane();
    let of_thread = kernel::numbers_scanned(a.width as u32);
    // Operands that the operation does not have have no limbs.
    let limbs = |is_there: bool, batch: &MatrixArgument| match is_there {
        true => kernel::strip(batch.width as u32) * of_thread,
        false => 0,
    };
    let (of_a, of_b) = (limbs(true, a), limbs(operands > 1, b));
    let above = of_a + of_b + limbs(operands > 2, c);
    let of_r = limbs(r.width != a.width, r);
    let of_s = limbs(results > 1 && s.width != b.width, s);
    let strip = |before: u32, batch: &MatrixArgument| {
        // SAFETY: by the contract of `Batches::new` the launch has these limbs.
        unsafe { Strip::new(above + of_r + of_s, before, batch.width as u32) }
    };
    let (to_a, to_b, to_c) = (strip(0, a), strip(of_a, b), strip(of_a + of_b, c));
    let from_r = strip(if of_r == 0 { 0 } else { above }, r);
    let from_s = strip(if of_s == 0 { of_a } else { above + of_r }, s);
    let at_a_time = u64::from(of_thread);
    let mut first = (thread::index_1d() - u64::from(lane)) * at_a_time;
    while first < *count {
        let numbers = (count - first).min(u64::from(WARP) * at_a_time) as u32;
        let way = |batch: &MatrixArgument, strip: Strip| {
            // SAFETY: by the contract of `Batches::new`: the numbers are in the batch, and no other
            // warp has their results.
            let row = unsafe { Row::new(batch, first * batch.width) };
            strip.way(row, numbers * batch.width as u32, of_thread)
        };
        each(operands, |i| {
            match i {
                0 => way(a, to_a),
                1 => way(b, to_b),
                _ => way(c, to_c),
            }
            .bring_in()
        });
        group.sync();
        let mut i = lane;
        while i < numbers {
            L::number(Numbers {
                r: from_r.number(i),
                s: from_s.number(i),
                a: to_a.number(i),
                b: to_b.number(i),
                c: to_c.number(i),
            });
            i += WARP;
        }
        group.sync();
        each(results, |i| {
            match i {
                0 => way(r, from_r),
                _ => way(s, from_s),
            }
            .bring_out()
        });
        group.sync();
        first += workers * at_a_time;
    }
}

/// Calls `take` with each number below `end`. The kernel has its text once.
#[inline(always)]
pub fn each(end: usize, take: impl Fn(u32)) {
    let mut i = thread::here(0);
    while i < end as u32 {
        take(i);
        i = thread::here(i + 1);
    }
}
