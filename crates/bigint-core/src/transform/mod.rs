//! Products by a transform over the complex numbers, as host and device agree on them: the
//! ring, the passes, the table of roots, and the proof that a product is exact.
//!
//! # The ring
//!
//! A number of `n` digits to the base `2^16` is a polynomial with those coefficients. Two
//! of them, of at most `L` digits each, `L` a power of two, are multiplied modulo
//! `x^L - i`: coefficient `k + L` of the product comes back multiplied by `x^L = i`, so
//! that the low half of the product's coefficients is the real part and the high half the
//! imaginary part. Nothing is lost, and operands are not padded to twice their length.
//! For 12 times 34 to the base 10, `L` = 2: `(2 + x)(4 + 3 x)` = `8 + 10 x + 3 x^2`, and
//! modulo `x^2 - i` that is `(8 + 3 i) + 10 x`.
//!
//! # The tree
//!
//! `x^2m - z` is `(x^m - w)(x^m + w)` with `w w = z`. So a polynomial modulo `x^2m - z`,
//! halves `a + b x^m`, is reduced to two of half the length by one butterfly for each
//! coefficient,
//!
//! ```text
//! a + w b        modulo x^m - w
//! a - w b        modulo x^m + w
//! ```
//!
//! With `e(t)` = the point at `t` turns on the unit circle and `z = e(t)`, `w` is `e(t/2)`.
//! The root of the tree is `e(1/4)`; node `b` at depth `d`, the two below it being `2 b`
//! and `2 b + 1`, has `t = (1/4 + r) / 2^d`, where `r` is `b` with its `d` bits reversed.
//! The tree ends at `x^4 - z`, where polynomials are multiplied by the schoolbook. Back the
//! same way: `a = (p + q) / 2`, `b = (p - q) / (2 w)`, the halvings saved up for the end.
//!
//! # The passes
//!
//! A thread has 16 complex values at a time, and values change hands in shared memory
//! between passes. A pass of radix 16 is four levels of the tree, one of radix 8 three; the
//! last ends in products modulo `x^4 - z`, so that of radix 16 it has two levels and of
//! radix 8 one. See [`Plan`].
//!
//! # Parts
//!
//! The halves of a number modulo `x^L - i`, its quarters or eighths, have nothing to do with each
//! other until they are put together again. Of the longest transforms a block takes one after the
//! other, each in the shared memory that the one before had:
//!
//! ```text
//! x^L - i = (x^(L/2) - w)(x^(L/2) + w)                        w = e(1/8)
//!         = (x^(L/4) - v)(x^(L/4) + v)(x^(L/4) - iv)(x^(L/4) + iv)    v v = w
//! ```

mod bound;
pub mod grid;
pub mod ntt;
mod roots;

pub use bound::{error_bound, widest_digit};
pub use roots::{fill_roots, root};

/// Bits of a digit of the block level's products: two digits make a limb.
pub const DIGIT_BITS: u32 = 16;

/// Complex values that a thread has at a time.
pub const VALUES: u32 = 16;

/// The radix of the first pass, but of the shortest transform.
pub const FIRST: u32 = 8;

/// Sixteenths of the digits of a number that a block may transform, [`Plan::lanes`].
pub const LANES: [u32; 7] = [16, 32, 64, 128, 256, 512, 1024];

/// Roots in the table of all plans: complex numbers.
pub const ROOTS: usize = Plan::end(LANES.len()) as usize;

/// How a block of threads multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// A sixteenth of the digits of an operand: threads times parts.
    pub lanes: u32,
    /// The number of parts that are transformed one after the other.
    pub parts: u32,
    /// The radix of the first pass: 8, or 16 where only the last one follows.
    pub first: u32,
    /// The radix of the pass between the first and the last: 8 or 16, or 1 where there is none.
    pub middle: u32,
    /// The radix of the last pass, 8 or 16.
    pub last: u32,
    /// Whether digits are from -2^15 to 2^15; else from 0 to 2^16 - 1.
    pub is_balanced: bool,
    /// Blocks that a multiprocessor should have room for, by their registers; of squares it has
    /// for [a third more](squares).
    pub blocks: u32,
}

impl Plan {
    /// The plan for one of [`LANES`].
    pub const fn of(lanes: u32) -> Plan {
        let (parts, middle, last, blocks) = match lanes {
            16 => (1, 1, 16, 12),
            32 => (1, 8, 8, 12),
            64 => (1, 16, 8, 6),
            128 => (1, 16, 16, 3),
            256 => (2, 16, 16, 3),
            512 => (4, 16, 16, 3),
            1024 => (8, 16, 16, 3),
            _ => panic!("a product is by 16, 32, 64, 128, 256, 512 or 1024 lanes"),
        };
        Plan {
            lanes,
            parts,
            first: if middle == 1 { 16 } else { FIRST },
            middle,
            last,
            // By `error_bound`.
            is_balanced: lanes > 512,
            blocks,
        }
    }

    /// Threads that share a number.
    const fn sharers(&self) -> u32 {
        self.lanes / self.parts
    }

    /// Threads in the block: a warp at least, which then has [several numbers](Self::numbers).
    pub const fn threads(&self) -> u32 {
        self.sharers() * self.numbers()
    }

    /// Numbers that a block has at a time.
    pub const fn numbers(&self) -> u32 {
        32_u32.div_ceil(self.sharers())
    }

    /// Threads in the block, and blocks that a multiprocessor should have room for.
    pub const fn bounds(&self) -> [u32; 2] {
        [self.threads(), self.blocks]
    }

    /// Digits of each operand, at most: `L`.
    pub const fn length(&self) -> u32 {
        VALUES * self.lanes
    }

    /// Limbs of each operand, at most.
    pub const fn limbs(&self) -> u32 {
        self.length() / 2
    }

    /// Values of a part.
    pub const fn part(&self) -> u32 {
        VALUES * self.sharers()
    }

    /// Nodes of the tree that pass `pass` splits, of all parts: the first is 0, the last 2.
    pub const fn nodes(&self, pass: usize) -> u32 {
        match pass {
            0 => self.parts,
            1 => self.parts * self.first,
            _ => self.parts * self.first * self.middle,
        }
    }

    /// Passes on the way back, each of which multiplies by roots.
    pub const fn passes(&self) -> u32 {
        2 + (self.middle > 1) as u32 + (self.parts > 1) as u32
    }

    /// The number of values behind which one place is left free in shared memory, so that threads a
    /// power of two apart meet in no bank.
    pub const fn run(&self) -> u32 {
        self.last
    }

    /// Bytes of the shared memory that one operand takes.
    pub const fn buffer_bytes(&self) -> u32 {
        16 * (self.part() + self.part() / self.run())
    }

    /// The place in shared memory, in bytes, of carries between warps: in place of values of the
    /// second operand, behind the sums of a round, which take 8.5 bytes for each of a part's
    /// values.
    pub const fn links_at(&self) -> u32 {
        self.buffer_bytes() + 9 * self.part()
    }

    /// Bytes of shared memory that a block takes: both operands, the last place of which is free; a
    /// square has one, sums, two limbs for each of at most four warps, and a place. Where a block has
    /// several numbers, each has one operand at a time.
    pub const fn shared_bytes(&self, is_square: bool) -> u32 {
        match (self.numbers(), is_square) {
            (1, true) => self.links_at() + 32 + 16,
            (1, false) => 2 * self.buffer_bytes(),
            (numbers, _) => numbers * self.buffer_bytes(),
        }
    }

    /// Roots of each node forward in pass `pass`; where there is one part, those of the first are
    /// constants.
    const fn forward_roots(&self, pass: usize) -> u32 {
        match pass {
            0 if self.parts == 1 => 0,
            0 => self.first / 2,
            1 => self.middle / 2,
            _ if self.last == 16 => 3,
            _ => 1,
        }
    }

    /// Roots of each node on the way back in pass `pass`, the first root 1 left out; the last
    /// pass has those of the way forward.
    const fn inverse_roots(&self, pass: usize) -> u32 {
        match pass {
            0 if self.parts == 1 => 0,
            0 => self.first - 1,
            _ => self.middle - 1,
        }
    }

    /// The index in the table of the forward roots of pass `pass`: root `j` of node `b` is `j nodes
    /// + b` further on.
    pub const fn forward_at(&self, pass: usize) -> u32 {
        let mut at = Plan::end(index(self.lanes));
        let mut i = 0;
        while i < pass {
            at += self.forward_roots(i) * self.nodes(i);
            i += 1;
        }
        at
    }

    /// The index in the table of the roots of pass `pass` on the way back, laid out likewise.
    pub const fn inverse_at(&self, pass: usize) -> u32 {
        let mut at = self.forward_at(3);
        let mut i = 0;
        while i < pass {
            at += self.inverse_roots(i) * self.nodes(i);
            i += 1;
        }
        at
    }

    /// The index in the table at which the roots of the first `count` plans end.
    const fn end(count: usize) -> u32 {
        match count {
            0 => 0,
            count => Plan::of(LANES[count - 1]).inverse_at(2),
        }
    }
}

/// Blocks that square where so many multiply: they have less in shared memory and in registers.
pub const fn squares(blocks: u32) -> u32 {
    blocks + blocks / 3
}

/// The index of a number of lanes in [`LANES`].
const fn index(lanes: u32) -> usize {
    (lanes / LANES[0]).trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_make_up_the_length_and_tables_follow_one_another() {
        let mut end = 0;
        for lanes in LANES {
            let plan = Plan::of(lanes);
            assert_eq!(plan.nodes(2) * plan.last, plan.length());
            assert_eq!(plan.forward_at(0), end);
            assert!(plan.forward_at(0) <= plan.forward_at(2));
            assert!(plan.forward_at(2) < plan.inverse_at(0));
            end = plan.inverse_at(2);
            // What a block of an H200 may ask for.
            assert!(plan.shared_bytes(false) <= 227 << 10);
            assert!(plan.shared_bytes(true) <= plan.shared_bytes(false));
        }
        assert_eq!(ROOTS, end as usize);
    }
}
