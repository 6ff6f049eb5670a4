//! The memory in which square roots grow: the registers of lanes, a thread's part of shared memory, or its
//! scratch.

/// The limbs of the root, and of what is left of the number, that each lane holds when lanes find a root
/// together.
pub const ROOT_DIGIT: usize = 16;

/// The narrowest number, in limbs, whose root a thread finds in shared memory. (On an H200 roots of 32 and
/// 64 bits take a tenth longer there.)
const NARROWEST_SHARED: usize = 4;

/// The widest number, in limbs, whose root a thread finds in shared memory.
const WIDEST_SHARED: usize = 32;

/// The room, in limbs, in which a thread finds the root of a number of `n` limbs. It holds what is left of
/// the number, and twice the root. It is odd, so that threads meet in no bank.
#[inline(always)]
pub const fn root_room(n: usize) -> usize {
    (3 * n.div_ceil(2) + 1) | 1
}

/// The limbs of shared memory for each thread that finds the root of a number of `n` limbs: the number,
/// then its [room](root_room). It is zero where the room is scratch.
#[inline(always)]
pub const fn root_limbs(n: usize) -> usize {
    match n {
        NARROWEST_SHARED..=WIDEST_SHARED => (n | 1) + root_room(n),
        _ => 0,
    }
}
