//! What operations share whose every limb comes from few limbs of the operands, and
//! from no carry (Limbwise): the batch as one flat row of limbs.
//!
//! The row has the order of memory, so that neighbouring lanes write, and mostly read,
//! neighbouring words whatever the width: of contiguous numbers limb `q mod width` of
//! number `q div width` is limb `q` of the row, of interleaved ones limb `q div count` of
//! number `q mod count`. With three numbers of two limbs, `x[i][j]` being limb `j` of
//! number `i`, the rows are
//!
//! ```text
//! contiguous   x[0][0] x[0][1] x[1][0] x[1][1] x[2][0] x[2][1]
//! interleaved  x[0][0] x[1][0] x[2][0] x[0][1] x[1][1] x[2][1]
//! ```
//!
//! A warp computes a stretch of the row, 32 limbs at a time, and loads [`AHEAD`] times as
//! many before it stores any, so that enough bytes are under way to keep the memory busy.
//!
//! Cost: an operation's own, a limb. No scratch, no shuffles, no votes.

use super::Batches;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::thread;
use crate::thread::limbwise::Limbwise;
use bigint_core::kernel::TILE;
use bigint_core::{Arguments, Limb, MatrixArgument};
use core::num::NonZero;

/// Lanes of a warp.
const LANES: u64 = 32;

/// Limbs that a lane has under way.
const AHEAD: u64 = 4;

/// Where a limb of the row is: `outer` and `inner` count numbers and limbs, whichever
/// way they are nested.
#[derive(Clone, Copy)]
struct Place {
    outer: u64,
    inner: u64,
}

/// The limbs of a batch in the order of memory.
#[derive(Clone, Copy)]
struct Flat<'a> {
    arguments: &'a Arguments,
    /// Limbs of the row for which `outer` is the same.
    period: NonZero<u64>,
    /// The way to the place of the same lane, 32 limbs on.
    step: Place,
}

impl Flat<'_> {
    #[inline(always)]
    fn place(self, at: u64) -> Place {
        Place {
            outer: at / self.period,
            inner: at % self.period,
        }
    }

    #[inline(always)]
    fn next(self, place: Place) -> Place {
        let outer = place.outer + self.step.outer;
        let inner = place.inner + self.step.inner;
        if inner < self.period.get() {
            Place { outer, inner }
        } else {
            Place {
                outer: outer + 1,
                inner: inner - self.period.get(),
            }
        }
    }

    /// The limb of the row at `place`, computed where it is `on`, and how to store it.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn limb<O: Limbwise, S: Stride>(self, place: Place, on: bool) -> Computed<S> {
        let (number, at) = if S::UNIT {
            (place.outer, place.inner)
        } else {
            (place.inner, place.outer)
        };
        let at = at as u32;
        let of = |batch: &MatrixArgument| {
            // SAFETY: by the contract of `Batches::new`: a number that is not switched off
            // is of the batch, and no other lane stores this limb of it.
            unsafe { Number::<S>::new(batch, number) }.switched(on)
        };
        let Arguments { r, a, b, c, .. } = self.arguments;
        let operands = [of(a), of(b), of(c)];
        let limb = O::limb(operands, O::plan(operands), at);
        Computed { r: of(r), at, limb }
    }
}

/// A limb, and where it goes.
struct Computed<S> {
    r: Number<S>,
    at: u32,
    limb: Limb,
}

impl<S: Stride> Computed<S> {
    #[inline(always)]
    fn store(self) {
        self.r.set(self.at, self.limb);
    }
}

/// Computes the calling warp's stretch of the batch.
#[inline(always)]
pub fn batch<O: Limbwise, S: Stride>(batches: Batches<'_, 32, S>) {
    let arguments = batches.arguments;
    let row = arguments.count * arguments.r.width;
    let Some(period) = NonZero::new(if S::UNIT {
        arguments.r.width
    } else {
        arguments.count
    }) else {
        return;
    };
    // As many tiles to a stretch, a power of two, as let the warps cover the row.
    let mut stretch = TILE;
    while stretch * arguments.workers < row {
        stretch *= 2;
    }
    let start = thread::index_1d() / LANES * stretch;
    if start >= row {
        return;
    }
    let end = (start + stretch).min(row);
    let mut flat = Flat {
        arguments,
        period,
        step: Place { outer: 0, inner: 0 },
    };
    flat.step = flat.place(LANES);
    let mut at = start + u64::from(thread::lane());
    let mut place = flat.place(at);
    while at < end {
        let mut next = |u: u64| {
            let computed = flat.limb::<O, S>(place, at + LANES * u < end);
            place = flat.next(place);
            computed
        };
        let [w, x, y, z] = [next(0), next(1), next(2), next(3)];
        w.store();
        x.store();
        y.store();
        z.store();
        at += LANES * AHEAD;
    }
}
