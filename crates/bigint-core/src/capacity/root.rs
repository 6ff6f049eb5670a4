//! Where square roots grow: in the registers of lanes, in a thread's part of shared memory, or in its
//! scratch.

/// Limbs of a root, and of what is left of the number, that each of the lanes has which find it.
pub const ROOT_DIGIT: usize = 16;

/// The narrowest number, in limbs, whose root a thread finds in shared memory. (On an H200 roots of 32 and
/// 64 bits take a tenth longer there.)
const NARROWEST_SHARED: usize = 4;

/// The widest number, in limbs, whose root a thread finds in shared memory.
const WIDEST_SHARED: usize = 32;

/// Limbs in which a thread finds the root of a number of `n` limbs: what is left of the number, and twice
/// the root. Odd, so that threads meet in no bank.
#[inline(always)]
pub const fn root_room(n: usize) -> usize {
    (3 * n.div_ceil(2) + 1) | 1
}

/// Limbs of shared memory for each such thread, for the number and then the room; none where the room is
/// scratch.
#[inline(always)]
pub const fn root_limbs(n: usize) -> usize {
    match n {
        NARROWEST_SHARED..=WIDEST_SHARED => (n | 1) + root_room(n),
        _ => 0,
    }
}
