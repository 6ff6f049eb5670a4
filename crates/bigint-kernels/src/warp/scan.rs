//! Facts about one number or two that one pass over their limbs finds out (Scan), computed by
//! lanes that share them. [`crate::thread::scan`] explains the maths.
//!
//! Lane `t` has limbs `t`, `t + LANES` and so on; or, if limbs can be moved four at a time, the
//! groups of four limbs with these indices. It combines their words. At the end every lane
//! combines its word with that of the lane whose index differs in one bit, bit after bit, so that
//! all lanes have the combination of all words.
//!
//! Cost: a load for each chunk, two votes if a chunk may decide the result, and `log2 LANES`
//! shuffles for each number. No scratch.

use super::Batches;
use crate::gpu::known::Known;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::thread::scan::Scan;
use bigint_core::Limb;
use bigint_core::specialization::ScanByLanes;

/// The result for `a` and `b`, in every lane.
#[inline(always)]
pub fn number<O: Scan, const LANES: u32>(
    group: Group<LANES>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    match are_in_fours(a, b) {
        true => of_units::<O, LANES, 4>(group, a, b),
        false => of_units::<O, LANES, 1>(group, a, b),
    }
}

/// Whether limbs of both numbers are neighbours and are moved four at a time.
#[inline(always)]
pub fn are_in_fours<A: Stride, B: Stride>(a: Number<A>, b: Number<B>) -> bool {
    let found = a.in_fours() && b.in_fours();
    A::UNIT && B::UNIT && ScanByLanes::BY_FOURS.or(found)
}

/// The result, computed `UNIT` limbs at a time.
#[inline(always)]
fn of_units<O: Scan, const LANES: u32, const UNIT: usize>(
    group: Group<LANES>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    let mut word = O::NOTHING;
    let mut chunk = a.width().max(b.width()).div_ceil(LANES * UNIT as u32);
    while chunk > 0 {
        chunk -= 1;
        let at = (chunk * LANES + group.lane()) * UNIT as u32;
        if UNIT == 1 {
            word = O::both(word, O::word(a.limb(at), b.limb(at), at));
        } else {
            let (x, y) = (a.fours::<4, true>(at), b.fours::<4, true>(at));
            let of = |i: u32| O::word(x[i as usize], y[i as usize], at + i);
            word = O::both(word, O::both(O::both(of(3), of(2)), O::both(of(1), of(0))));
        }
        // The groups of a warp stay together until the last of them is done.
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

/// Computes the numbers that fall to the calling lane's group.
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

/// Sets `r` to `x`, cut or extended to the width of `r`. `in_fours` says that limbs of `x` are
/// moved four at a time.
#[inline(always)]
pub fn copy<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    x: Number<impl Stride>,
    in_fours: bool,
) {
    if in_fours && r.in_fours() {
        let mut at = 4 * group.lane();
        while at < r.width() {
            r.set_fours::<4, true>(at, x.fours::<4, true>(at));
            at += 4 * LANES;
        }
        return;
    }
    let mut at = group.lane();
    while at < r.width() {
        r.set(at, x.limb(at));
        at += LANES;
    }
}
