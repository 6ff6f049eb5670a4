//! Strips: the numbers of one operand of a warp's threads, or their results, in shared memory, in the
//! order in which they follow one another in device memory.
//!
//! Lane `lane` moves limb `32 j + lane` of the strip in row `j`. So whole lines are moved, whatever the
//! width of the numbers.
//!
//! Threads read the same limb of their numbers together. If the width is odd, they meet in no bank.
//! Otherwise, with `g = gcd(width, 32)`, threads `32 / g` apart would meet in one. So a limb is left
//! free behind every `32 / g` numbers, which are a block of `width / g` rows. If there were 4 banks and
//! 4 threads, numbers of two limbs would stand as follows:
//!
//! ```text
//! bank    0    1    2    3
//!        0,0  0,1  1,0  1,1    number, limb
//!         -   2,0  2,1  3,0
//!        3,1
//! ```
//!
//! If the width is a power of two, a block is one row, and leaving a limb free only increases the
//! distance between rows.

// Shared memory is reached through `ld.shared` and `st.shared`, with 32-bit addresses of
// its own.
#![allow(unsafe_code)]

use super::access::shared::{load, store};
use super::flat::Row;
use super::shared::{Fours, part_of_warp};
use super::thread;
use bigint_core::Limb;

/// The bytes of a limb.
const LIMB_BYTES: u32 = 4;

/// The threads of a warp.
const WARP: u32 = 32;

/// The numbers of a warp's threads in shared memory.
#[derive(Clone, Copy)]
pub struct Strip {
    address: u32,
    /// The limbs of each number.
    width: u32,
    /// The binary logarithm of `g`.
    factor: u32,
}

impl Strip {
    /// A strip for numbers of `width` limbs in the warp's part of shared memory, of which each thread
    /// has `limbs` limbs. Strips that take `before` limbs of each thread lie below it.
    ///
    /// # Safety
    /// The launch has `limbs` limbs of shared memory for each thread of a block; the strip takes as many
    /// of them as [`strip`](bigint_core::kernel::strip) says. Barriers order what threads write and
    /// others read.
    #[inline(always)]
    pub unsafe fn new(limbs: u32, before: u32, width: u32) -> Self {
        Strip {
            address: part_of_warp(LIMB_BYTES * limbs) + LIMB_BYTES * WARP * before,
            width,
            factor: (width | WARP).trailing_zeros(),
        }
    }

    /// Number `i`.
    #[inline(always)]
    pub fn number(self, i: u32) -> Held {
        let left_out = match self.factor {
            0 => 0,
            factor => i >> (WARP.trailing_zeros() - factor),
        };
        Held {
            address: self.address + LIMB_BYTES * (i * self.width + left_out),
            width: self.width,
        }
    }

    /// The limbs that the calling thread moves between the strip and device memory. The strip has room
    /// for `of_thread` numbers of each thread; in device memory there are `limbs` limbs from the
    /// beginning of `row` on.
    #[inline(always)]
    pub fn way(self, row: Row, limbs: u32, of_thread: u32) -> Way {
        let lane = thread::lane();
        let way = Way {
            row: row.up(lane),
            address: self.address + LIMB_BYTES * lane,
            step: LIMB_BYTES * WARP,
            blocks: 1,
            rows: self.width * of_thread,
            left: self.width * of_thread,
            end: (limbs + (WARP - 1 - lane)) / WARP,
        };
        match self.width >> self.factor {
            _ if self.factor == 0 => way,
            1 => Way {
                step: LIMB_BYTES * (WARP + 1),
                ..way
            },
            rows => Way {
                blocks: of_thread << self.factor,
                rows,
                left: rows,
                ..way
            },
        }
    }
}

/// The limbs that a thread still has to move between a strip and device memory: one in each row.
#[derive(Clone, Copy)]
pub struct Way {
    /// The lane's limb in the next row, in device memory and in shared memory.
    row: Row,
    address: u32,
    /// The bytes from a row to the next in shared memory.
    step: u32,
    /// The blocks of rows that are left.
    blocks: u32,
    /// The rows of each block.
    rows: u32,
    /// The rows that are left of this block.
    left: u32,
    /// The number of rows, from the next one on, in which the thread has a limb.
    end: u32,
}

/// The rows that are moved together.
const ROWS: u32 = 8;

impl Way {
    /// Whether there are rows left.
    #[inline(always)]
    fn goes_on(self) -> bool {
        self.blocks > 0
    }

    /// The number of rows that are to be moved next; if it is above eight, eight.
    #[inline(always)]
    fn moved(self) -> u32 {
        if self.blocks > 0 {
            self.end.min(self.left)
        } else {
            0
        }
    }

    /// Goes on behind the rows that have been moved.
    #[inline(always)]
    fn go_on(&mut self) {
        let rows = self.left.min(ROWS);
        self.row = self.row.up(WARP * rows);
        self.address += self.step * rows;
        self.end = self.end.saturating_sub(rows);
        self.left -= rows;
        if self.left == 0 {
            self.address += LIMB_BYTES;
            self.left = self.rows;
            self.blocks -= 1;
        }
    }

    /// Moves the limbs from device memory into the strip. Eight loads are on their way before the first
    /// has arrived.
    #[inline(always)]
    pub fn bring_in(mut self) {
        while self.goes_on() {
            let moved = self.moved();
            let get = |i: u32| self.row.up(WARP * i).first_below(i, moved);
            let (a, b, c, d) = (get(0), get(1), get(2), get(3));
            let (e, f, g, h) = (get(4), get(5), get(6), get(7));
            let set = |i: u32, limb: Limb| {
                if i < moved {
                    // SAFETY: by the contract of `Strip::new`, as the row exists.
                    unsafe { store(self.address + self.step * i, limb) }
                }
            };
            set(0, a);
            set(1, b);
            set(2, c);
            set(3, d);
            set(4, e);
            set(5, f);
            set(6, g);
            set(7, h);
            self.go_on();
        }
    }

    /// Moves the limbs from the strip to device memory.
    #[inline(always)]
    pub fn bring_out(mut self) {
        while self.goes_on() {
            let moved = self.moved();
            let get = |i: u32| match i < moved {
                // SAFETY: by the contract of `Strip::new`, as the row exists.
                true => unsafe { load(self.address + self.step * i) },
                false => 0,
            };
            let (a, b, c, d) = (get(0), get(1), get(2), get(3));
            let (e, f, g, h) = (get(4), get(5), get(6), get(7));
            let set = |i: u32, limb: Limb| {
                self.row.up(WARP * i).set_first_below(i, moved, limb);
            };
            set(0, a);
            set(1, b);
            set(2, c);
            set(3, d);
            set(4, e);
            set(5, f);
            set(6, g);
            set(7, h);
            self.go_on();
        }
    }
}

/// A thread's number in a strip. Above its width it reads as zero, and stores do nothing.
#[derive(Clone, Copy)]
pub struct Held {
    address: u32,
    width: u32,
}

impl Held {
    /// The limbs of the number.
    #[inline(always)]
    pub fn width(self) -> u32 {
        self.width
    }

    /// Limb `at`.
    #[inline(always)]
    pub fn limb(self, at: u32) -> Limb {
        match at < self.width {
            // SAFETY: by the contract of `Strip::new`.
            true => unsafe { load(self.address + LIMB_BYTES * at) },
            false => 0,
        }
    }

    /// Sets limb `at`.
    #[inline(always)]
    pub fn set(self, at: u32, limb: Limb) {
        if at < self.width {
            // SAFETY: as in `limb`.
            unsafe { store(self.address + LIMB_BYTES * at, limb) }
        }
    }
}

impl Fours for Held {
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        match at + 4 <= self.width {
            // SAFETY: as in `limb`.
            true => [0, 1, 2, 3].map(|i| unsafe { load(self.address + LIMB_BYTES * (at + i)) }),
            false => [0, 1, 2, 3].map(|i| self.limb(at + i)),
        }
    }

    #[inline(always)]
    fn set_four(self, at: u32, limbs: [Limb; 4]) {
        let [x, y, z, w] = limbs;
        self.set(at, x);
        self.set(at + 1, y);
        self.set(at + 2, z);
        self.set(at + 3, w);
    }
}
