//! Races between the threads of one block in global memory.
//!
//! Beside the shadow of each word stands, for the block that the shadow names, which
//! thread wrote it last and which read it last, each with the block's clock at the
//! time. Two accesses, at least one a write and not both atomic (or volatile, relaxed,
//! acquiring, releasing), must be ordered as `Clocks` says; writing the value that is
//! there already is no race. Of several readers the last is known, and that there were
//! others, and not which bytes of the word: some races pass so, all of accesses to less
//! than a word among them. A block of more than a million synchronisations is
//! followed no further.
//!
//! From the lowest bit, of the read and then of the write: thread (10 bits), clock since
//! the block began, counted from one (20 bits), whether another thread read it too
//! (reads) and whether any access was plain.

use super::clocks::Clocks;

const CLOCK_SHIFT: u32 = 10;
const MOST: u32 = (1 << 20) - 1;
const OTHERS: u32 = 1 << 30;
const PLAIN: u32 = 1 << 31;

/// An access by a thread.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub thread: usize,
    pub plain: bool,
    pub writes: bool,
}

/// An earlier access that is not ordered before one: the thread, and what it did.
pub(super) type Conflict = (usize, &'static str);

/// The thread in one half of a word.
fn thread(half: u32) -> usize {
    (half & 1023) as usize
}

/// The clock in one half of a word.
fn clock(half: u32) -> u32 {
    half >> CLOCK_SHIFT & MOST
}

/// The clock of the last write, since the block began and counted from one; zero for none.
pub(super) fn wrote(word: u64) -> u32 {
    clock((word >> 32) as u32)
}

impl Access {
    /// The record of a word that no thread of the block touched before, or zero if the block is followed no
    /// further.
    #[inline(always)]
    pub fn alone(&self, clocks: &Clocks) -> u64 {
        let now = clocks.now - clocks.begun + 1;
        if now > MOST {
            return 0;
        }
        let plain = if self.plain { PLAIN } else { 0 };
        let mine = self.thread as u32 | now << CLOCK_SHIFT | plain;
        u64::from(mine) << if self.writes { 32 } else { 0 }
    }
}

/// The record of a word after an access, and the access with which that one conflicts.
pub(super) fn follow(word: u64, access: Access, clocks: &Clocks) -> (u64, Option<Conflict>) {
    let alone = access.alone(clocks);
    if alone == 0 {
        return (0, None);
    }
    let (read, write) = (word as u32, (word >> 32) as u32);
    let me = access.thread;
    let plain = if access.plain { PLAIN } else { 0 };
    let mine = (alone | alone >> 32) as u32;
    let ordered = |half: u32| clocks.ordered(thread(half), clocks.begun + clock(half) - 1, me);
    let mut conflict = None;
    if write != 0 && (write | plain) & PLAIN != 0 && !ordered(write) {
        conflict = Some((thread(write), "wrote"));
    }
    if access.writes {
        if read != 0 && (read | plain) & PLAIN != 0 {
            if !ordered(read) {
                conflict = Some((thread(read), "read"));
            } else if thread(read) == me
                && read & OTHERS != 0
                && clocks.latest(me) < clocks.begun + clock(read)
            {
                conflict = Some((me, "with others, read"));
            }
        }
        return (alone, conflict);
    }
    let mut next = mine;
    if read != 0 {
        if thread(read) == me {
            next |= read & PLAIN;
            if clocks.latest(me) < clocks.begun + clock(read) {
                next |= read & OTHERS;
            }
        } else if !ordered(read) {
            next |= OTHERS | read & PLAIN;
        }
    }
    (u64::from(write) << 32 | u64::from(next), conflict)
}
