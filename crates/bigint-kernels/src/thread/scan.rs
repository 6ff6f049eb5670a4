//! Facts about one number or two that one pass over their limbs finds out (Scan), computed by a
//! thread by itself.
//!
//! Each limb, or pair of limbs at the same place, gives a word. The words are combined by their
//! maximum, their minimum or their sum. The order in which they are combined does not matter,
//! so lanes of a warp may share them. The words of a comparison, for example, grow with the
//! place of the limb:
//!
//! ```text
//! a         7 5 3 9
//! b         7 4 3 9
//! a[j] b[j] = > = =    words 0 7 0 0: limb 2 decides, 2 (2 + 1) + 1, odd, for greater
//! ```
//!
//! Cost: one pass from the top, which ends early if a word decides the result. No scratch.

use super::own::{self, Leaf, Numbers, Own};
use super::{Batches, CHUNK};
use crate::gpu::memory::Stride;
use bigint_core::{Limb, Operation};
use core::marker::PhantomData;

/// An operation that is computed in one pass over a number, or over two.
pub trait Scan {
    /// The word that changes nothing when it is combined with others.
    const NOTHING: Limb;

    /// The operation.
    const OPERATION: Operation;

    /// Whether any other word of higher limbs makes the limbs below irrelevant.
    const SETTLES: bool;

    /// The word of the limbs `x` and `y` at place `at`.
    fn word(x: Limb, y: Limb, at: u32) -> Limb;

    /// The combination of two words.
    fn both(first: Limb, second: Limb) -> Limb;

    /// The result for a first number of `width` limbs, if all words together are `word`.
    fn answer(word: Limb, width: u32) -> Limb;
}

/// The result for `a` and `b`.
#[inline(always)]
pub fn number<O: Scan>(a: impl Own, b: impl Own) -> Limb {
    let mut word = O::NOTHING;
    let mut at = a.width().max(b.width()).next_multiple_of(CHUNK);
    while at > 0 && !(O::SETTLES && word != O::NOTHING) {
        at -= CHUNK;
        let (x, y) = (a.four(at), b.four(at));
        let of = |i: u32| O::word(x[i as usize], y[i as usize], at + i);
        word = O::both(word, O::both(O::both(of(3), of(2)), O::both(of(1), of(0))));
    }
    O::answer(word, a.width())
}

/// The leaf of an operation that stores its result in a number.
struct Finding<O>(PhantomData<O>);

impl<O: Scan> Leaf for Finding<O> {
    const OPERATION: Operation = O::OPERATION;

    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, a, b, .. }: Numbers<R, N>) {
        r.set(0, number::<O>(a, b));
        let mut at = 1;
        while at < r.width() {
            r.set(at, 0);
            at += 1;
        }
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn numbers<O: Scan, S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<Finding<O>, S>(batches);
}
