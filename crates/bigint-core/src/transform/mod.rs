//! Products by a transform over the complex numbers, in the form shared by host and device: the
//! ring, the passes, the table of roots, and the proof that a product is exact.
//!
//! # The ring
//!
//! A number of `n` digits to the base `2^16` is a polynomial with those coefficients. Two
//! polynomials of at most `L` digits each, `L` 4, 5 or 6 times a power of two, are multiplied modulo
//! `x^L - i`. Coefficient `k + L` of the product is added to coefficient `k`, multiplied by
//! `x^L = i`. So the low half of the product's coefficients is in the real parts, and the high half
//! in the imaginary parts. Nothing is lost, and operands are not padded to twice their length. For 12 times 34 to
//! the base 10, with `L` = 2: `(2 + x)(4 + 3 x)` = `8 + 10 x + 3 x^2`, and modulo `x^2 - i` that is
//! `(8 + 3 i) + 10 x`.
//!
//! # The tree
//!
//! `x^2m - z` is `(x^m - w)(x^m + w)` with `w w = z`. So a polynomial `a + b x^m` modulo `x^2m - z`
//! is reduced to two of half the length, by one butterfly for each coefficient of its halves `a`
//! and `b`:
//!
//! ```text
//! a + w b        modulo x^m - w
//! a - w b        modulo x^m + w
//! ```
//!
//! Let `e(t)` be the point at `t` turns on the unit circle. For `z = e(t)`, `w` is `e(t/2)`. At the
//! root of the tree `z` is `e(1/4)`. Below node `b` at depth `d` are nodes `2 b` and `2 b + 1`;
//! node `b` has `t = (1/4 + r) / 2^d`, where `r` is `b` with its `d` bits reversed. The tree ends
//! at `x^4 - z`, where polynomials are multiplied by the schoolbook method. The way back undoes
//! each butterfly, whose values are `p` and `q`: `a = (p + q) / 2`, `b = (p - q) / (2 w)`. The
//! divisions by 2 are left to the end and done at once.
//!
//! # The passes
//!
//! A thread has 16 complex values at a time, and threads exchange values in shared memory between
//! passes. A pass of radix 16 is four levels of the tree, one of radix 8 three. The last pass ends
//! in products modulo `x^4 - z`, which take the place of two levels. See [`Plan`].
//!
//! # Odd factors
//!
//! Where `L` is 5 or 6 times a power of two, the first pass has radix `R` = 10 or 12:
//! `x^Rm - z` is the product of the `x^m - w e(r/R)` with `w^R = z`, for `r < R`. With
//! `a_0 .. a_(R-1)` the parts of `m` coefficients of a polynomial, the residues are
//!
//! ```text
//! sum over k of  a_k w^k e(k r / R)        modulo x^m - w e(r/R),
//! ```
//!
//! `R` multiplications by roots and a discrete Fourier transform of `R` values. Child `r` of such a
//! node is in place `r`: there are no bits to reverse. All other passes are as above, and each thread
//! still has 16 values in them. In the first pass `2 R` values belong to a thread, so that only 4/5
//! or 2/3 of the threads take part.
//!
//! # Parts
//!
//! A polynomial modulo `x^L - i` splits into its residues modulo two, four or eight factors. These
//! parts are transformed independently until they are put together again. In the longest transforms
//! a block takes the parts one after the other, each in the shared memory of the one before:
//!
//! ```text
//! x^L - i = (x^(L/2) - w)(x^(L/2) + w)                        w = e(1/8)
//!         = (x^(L/4) - v)(x^(L/4) + v)(x^(L/4) - iv)(x^(L/4) + iv)    v v = w
//! ```

mod bound;
pub mod grid;
pub mod ntt;
pub mod rings;
mod roots;

pub use bound::{error_bound, widest_digit};
pub use roots::{fill_roots, root, root_of};

/// The bits of a digit in products at block level. Two digits make a limb.
pub const DIGIT_BITS: u32 = 16;

/// The complex values that a thread has at a time.
pub const VALUES: u32 = 16;

/// The values of [`Plan::lanes`] for which there are plans.
pub const LANES: [u32; 14] = [
    32, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024,
];

/// The number of roots, each a complex number, in the table of all plans.
pub const ROOTS: usize = Plan::end(LANES.len()) as usize;

/// The plan by which a block of threads multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// A sixteenth of the most digits of an operand: the threads that share it times the parts.
    pub lanes: u32,
    /// The parts that are transformed one after the other.
    pub parts: u32,
    /// The radix of the first pass: 8, or 10 or 12 where the length has a factor 5 or 3.
    pub first: u32,
    /// The radix of the pass between the first and the last, 8 or 16.
    pub middle: u32,
    /// The radix of the last pass, 8 or 16.
    pub last: u32,
    /// Whether digits are balanced, from -2^15 to 2^15. Else they are from 0 to 2^16 - 1.
    pub is_balanced: bool,
    /// The blocks for which a multiprocessor should have enough registers. It has room for [a third
    /// more](squares) blocks that square.
    pub blocks: u32,
}

impl Plan {
    /// Makes the plan for one of [`LANES`].
    pub const fn of(lanes: u32) -> Plan {
        let (parts, [first, middle, last], blocks) = match lanes {
            32 => (1, [8, 8, 8], 12),
            64 => (1, [8, 16, 8], 6),
            80 => (1, [10, 16, 8], 4),
            96 => (1, [12, 16, 8], 4),
            128 => (1, [8, 16, 16], 3),
            160 => (1, [10, 16, 16], 2),
            192 => (1, [12, 16, 16], 2),
            256 => (2, [8, 16, 16], 3),
            320 => (2, [10, 16, 16], 2),
            384 => (2, [12, 16, 16], 2),
            512 => (4, [8, 16, 16], 3),
            640 => (4, [10, 16, 16], 2),
            768 => (4, [12, 16, 16], 2),
            1024 => (8, [8, 16, 16], 3),
            _ => panic!("a product is by one of `LANES`"),
        };
        Plan {
            lanes,
            parts,
            first,
            middle,
            last,
            // `error_bound` proves longer transforms exact for balanced digits only.
            is_balanced: lanes > 512,
            blocks,
        }
    }

    /// The threads that share a number.
    pub const fn sharers(&self) -> u32 {
        self.lanes / self.parts
    }

    /// The threads of a block: whole warps. The last one may have threads that the number has not.
    pub const fn threads(&self) -> u32 {
        self.sharers().next_multiple_of(32)
    }

    /// The threads of a block, and the blocks that a multiprocessor should have room for.
    pub const fn bounds(&self) -> [u32; 2] {
        [self.threads(), self.blocks]
    }

    /// The most digits of an operand: `L`.
    pub const fn length(&self) -> u32 {
        VALUES * self.lanes
    }

    /// The most limbs of an operand.
    pub const fn limbs(&self) -> u32 {
        self.length() / 2
    }

    /// The complex values of a part.
    pub const fn part(&self) -> u32 {
        VALUES * self.sharers()
    }

    /// The nodes of the tree, in all parts, that pass `pass` splits. The first pass is 0, the last
    /// 2.
    pub const fn nodes(&self, pass: usize) -> u32 {
        match pass {
            0 => self.parts,
            1 => self.parts * self.first,
            _ => self.parts * self.first * self.middle,
        }
    }

    /// The number of passes on the way back, each of which multiplies by roots. Putting parts
    /// together counts as one.
    pub const fn passes(&self) -> u32 {
        3 + (self.parts > 1) as u32
    }

    /// The number of values behind which one place in shared memory is left free, so that threads a
    /// power of two apart meet in no bank.
    pub const fn run(&self) -> u32 {
        self.last
    }

    /// The bytes of shared memory that one operand takes.
    pub const fn buffer_bytes(&self) -> u32 {
        16 * (self.part() + self.part() / self.run())
    }

    /// The offset in shared memory, in bytes, of carries between warps. They take the place of
    /// values of the second operand, behind the sums of a round, which take 8.5 bytes for each of a
    /// part's values.
    pub const fn links_at(&self) -> u32 {
        self.buffer_bytes() + 9 * self.part()
    }

    /// The bytes of shared memory that a block takes. A product takes both operands. A square takes
    /// one operand, the sums, two limbs for each warp, and one place.
    pub const fn shared_bytes(&self, is_square: bool) -> u32 {
        match is_square {
            true => self.links_at() + (self.threads() / 4).next_multiple_of(16) + 16,
            false => 2 * self.buffer_bytes(),
        }
    }

    /// The odd factor of the length: 1, 3 or 5.
    pub const fn odd(&self) -> u32 {
        self.first >> self.first.trailing_zeros()
    }

    /// The number of roots for each node of pass `pass` on the way forward. Where there is one
    /// part, the first pass takes none from the table, as its roots are constants. Those of an odd
    /// factor are the conjugates of the roots on the way back.
    const fn forward_roots(&self, pass: usize) -> u32 {
        match pass {
            0 if self.parts == 1 || self.odd() > 1 => 0,
            0 => self.first / 2,
            1 => self.middle / 2,
            _ if self.last == 16 => 3,
            _ => 1,
        }
    }

    /// The number of roots for each node of pass `pass` on the way back, without the first one,
    /// which is 1. The last pass takes the roots of its way forward.
    const fn inverse_roots(&self, pass: usize) -> u32 {
        match pass {
            0 if self.parts == 1 => 0,
            0 => self.first - 1,
            _ => self.middle - 1,
        }
    }

    /// The index in the table of the forward roots of pass `pass`. Root `j` of node `b` is
    /// `j nodes + b` further on, where `nodes` is the number of [nodes](Self::nodes).
    pub const fn forward_at(&self, pass: usize) -> u32 {
        let mut at = Plan::end(index(self.lanes));
        let mut i = 0;
        while i < pass {
            at += self.forward_roots(i) * self.nodes(i);
            i += 1;
        }
        at
    }

    /// The index in the table of the roots of pass `pass` on the way back. They are laid out as the
    /// [forward roots](Self::forward_at) are.
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

/// The number of blocks that square for which a multiprocessor has room, if it has room for
/// `blocks` that multiply. A square takes less shared memory and fewer registers.
pub const fn squares(blocks: u32) -> u32 {
    blocks + blocks / 3
}

/// The index of a number of lanes in [`LANES`].
const fn index(lanes: u32) -> usize {
    let mut index = 0;
    while LANES[index] != lanes {
        index += 1;
    }
    index
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
            assert_eq!(plan.length(), 16 * lanes);
            assert_eq!(plan.part() % (2 * plan.first), 0);
            end = plan.inverse_at(2);
            // A block may have so much on an H200.
            assert!(plan.shared_bytes(false) <= 227 << 10);
            assert!(plan.shared_bytes(true) <= plan.shared_bytes(false));
        }
        assert_eq!(ROOTS, end as usize);
    }
}
