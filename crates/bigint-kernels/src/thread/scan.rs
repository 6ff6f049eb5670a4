//! What one pass over the limbs of a number, or of two, finds out (Scan), by the thread
//! that has them.
//!
//! Every limb, or pair of limbs, says a word, and of the words of all there is a greatest,
//! a least or a sum: an order in which they meet does not matter, so that lanes of a warp
//! may share them. A comparison's words, say, grow with the place of the limb:
//!
//! ```text
//! a         7 5 3 9
//! b         7 4 3 9
//! a[j] b[j] = > = =    words 0 7 0 0: limb 2 decides, 2 (2 + 1) + 1, odd, for greater
//! ```
//!
//! Cost: one pass from the top, which ends early where a word settles the matter. No
//! scratch.

use super::own::{self, Leaf, Numbers, Own};
use super::{Batches, CHUNK};
use crate::gpu::memory::Stride;
use bigint_core::{Limb, Operation};
use core::marker::PhantomData;

/// What an operation finds out in one pass over a number, or over two.
pub trait Scan {
    /// The word of limbs that say nothing.
    const NOTHING: Limb;

    /// The operation.
    const OPERATION: Operation;

    /// Whether any other word of higher limbs makes those below superfluous.
    const SETTLES: bool;

    /// The finding of limb `at` of both numbers, a word.
    fn word(x: Limb, y: Limb, at: u32) -> Limb;

    /// The finding of two words together.
    fn both(first: Limb, second: Limb) -> Limb;

    /// The answer, of a first number of `width` limbs, where all limbs together say `word`.
    fn answer(word: Limb, width: u32) -> Limb;
}

/// The finding of `a` and `b`.
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

/// An operation whose finding is a result.
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

/// Finds out about the numbers that fall to the calling thread.
#[inline(always)]
pub fn numbers<O: Scan, S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<Finding<O>, S>(batches);
}
