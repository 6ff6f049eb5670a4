//! What is told of a number, or of two, by one pass over their limbs (Scan), by the lanes
//! that share them: [`crate::thread::scan`] has the maths.
//!
//! Lane `t` has limbs `t`, `t + LANES`, ... and keeps what they say; at the end every lane
//! meets the one whose number differs in one bit, bit after bit, and all know all.
//!
//! Cost: a chunk's load, two votes where a chunk may settle it, and `log2 LANES` shuffles a
//! number. No scratch.

use super::Batches;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::thread::scan::Scan;
use bigint_core::Limb;

/// What is told of `a` and `b`, in every lane.
#[inline(always)]
pub fn number<O: Scan, const LANES: u32>(
    group: Group<LANES>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    let mut word = O::NOTHING;
    let mut chunk = a.width().max(b.width()).div_ceil(LANES);
    while chunk > 0 {
        chunk -= 1;
        let at = chunk * LANES + group.lane();
        word = O::both(word, O::word(a.limb(at), b.limb(at), at));
        // The groups of a warp stay together, as long as the last of them needs.
        if O::SETTLES && group.all(group.ballot(word != O::NOTHING) != 0) {
            break;
        }
    }
    let mut apart = LANES / 2;
    while apart > 0 {
        word = O::both(word, group.shuffle(word, group.lane() ^ apart));
        apart /= 2;
    }
    O::answer(word, a.width())
}

/// What is told of the numbers that fall to the calling lane's group.
#[inline(always)]
pub fn numbers<O: Scan, const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let answer = number::<O, LANES>(work.group, work.a, work.b);
        let mut at = work.group.lane();
        while at < work.r.width() {
            work.r.set(at, if at == 0 { answer } else { 0 });
            at += LANES;
        }
    }
}

/// `r = x`, cut or extended to the width of `r`.
#[inline(always)]
pub fn copy<const LANES: u32>(group: Group<LANES>, r: Number<impl Stride>, x: Number<impl Stride>) {
    let mut at = group.lane();
    while at < r.width() {
        r.set(at, x.limb(at));
        at += LANES;
    }
}
