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

/// How many threads may work on one product.
pub const THREADS: [u32; 5] = [32, 64, 128, 256, 512];

/// Roots in the table of all plans: complex numbers.
pub const ROOTS: usize = Plan::end(THREADS.len()) as usize;

/// How a block of threads multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Threads in the block.
    pub threads: u32,
    /// The radices of the passes between the first, which is of radix 8, and the last: 8 or
    /// 16, or 1 where there is none.
    pub middle: [u32; 2],
    /// The radix of the last pass, 8 or 16.
    pub last: u32,
    /// Whether both operands are in shared memory at a time; else one is kept in registers
    /// while the other is transformed.
    pub has_two_buffers: bool,
    /// Whether digits are from -2^15 to 2^15; else from 0 to 2^16 - 1.
    pub is_balanced: bool,
    /// Blocks that a multiprocessor should have room for, by their registers.
    pub blocks: u32,
}

impl Plan {
    /// The plan for one of [`THREADS`].
    pub const fn of(threads: u32) -> Plan {
        let (middle, last, has_two_buffers, blocks) = match threads {
            32 => ([8, 1], 8, true, 12),
            64 => ([16, 1], 8, true, 6),
            128 => ([16, 1], 16, true, 3),
            256 => ([8, 8], 8, false, 2),
            512 => ([8, 8], 16, false, 1),
            _ => panic!("a product is by 32, 64, 128, 256 or 512 threads"),
        };
        Plan {
            threads,
            middle,
            last,
            has_two_buffers,
            // By `error_bound`.
            is_balanced: threads > 256,
            blocks,
        }
    }

    /// Digits of each operand, at most: `L`.
    pub const fn length(&self) -> u32 {
        VALUES * self.threads
    }

    /// Limbs of each operand, at most.
    pub const fn limbs(&self) -> u32 {
        self.length() / 2
    }

    /// Nodes of the tree that middle pass `pass` splits; of the last pass, `pass` is 2.
    pub const fn nodes(&self, pass: usize) -> u32 {
        let (mut nodes, mut i) = (8, 0);
        while i < pass {
            nodes *= self.middle[i];
            i += 1;
        }
        nodes
    }

    /// Passes on the way back, each of which multiplies by roots.
    pub const fn passes(&self) -> u32 {
        if self.middle[1] == 1 { 3 } else { 4 }
    }

    /// Of how many values one place is left free behind them in shared memory, so that
    /// threads a power of two apart meet in no bank.
    pub const fn run(&self) -> u32 {
        self.last
    }

    /// Bytes of the shared memory that one operand takes.
    pub const fn buffer_bytes(&self) -> u32 {
        16 * (self.length() + self.length() / self.run())
    }

    /// Bytes of shared memory that a block takes. Carries between warps take no more: they
    /// have places of values that are no longer needed, and the last free one.
    pub const fn shared_bytes(&self) -> u32 {
        let buffers = if self.has_two_buffers { 2 } else { 1 };
        buffers * self.buffer_bytes()
    }

    /// Roots of each node in the forward half of middle pass `pass`.
    const fn forward_roots(&self, pass: usize) -> u32 {
        match self.middle[pass] {
            1 => 0,
            radix => radix / 2,
        }
    }

    /// Roots of each node in the last pass.
    const fn last_roots(&self) -> u32 {
        if self.last == 16 { 3 } else { 1 }
    }

    /// Where the table has the forward roots of middle pass `pass`: root `j` of node `b`
    /// is `j nodes + b` further on.
    pub const fn forward_at(&self, pass: usize) -> u32 {
        let mut at = Plan::end(index(self.threads));
        let mut i = 0;
        while i < pass {
            at += self.forward_roots(i) * self.nodes(i);
            i += 1;
        }
        at
    }

    /// Where the roots of the last pass are.
    pub const fn last_at(&self) -> u32 {
        self.forward_at(2)
    }

    /// Where the roots of middle pass `pass` on the way back are, the first root 1 of each
    /// node left out.
    pub const fn inverse_at(&self, pass: usize) -> u32 {
        let mut at = self.last_at() + self.last_roots() * self.nodes(2);
        let mut i = 0;
        while i < pass {
            at += (self.middle[i] - 1) * self.nodes(i);
            i += 1;
        }
        at
    }

    /// Where the table of the first `count` plans ends.
    const fn end(count: usize) -> u32 {
        match count {
            0 => 0,
            count => Plan::of(THREADS[count - 1]).inverse_at(2),
        }
    }
}

/// Where in [`THREADS`] this number stands.
const fn index(threads: u32) -> usize {
    (threads / THREADS[0]).trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_make_up_the_length_and_tables_follow_one_another() {
        let mut end = 0;
        for threads in THREADS {
            let plan = Plan::of(threads);
            assert_eq!(plan.nodes(2) * plan.last, plan.length());
            assert_eq!(plan.forward_at(0), end);
            assert!(plan.forward_at(0) < plan.last_at() && plan.last_at() < plan.inverse_at(0));
            end = plan.inverse_at(2);
            // What a block of an H200 may ask for.
            assert!(plan.shared_bytes() <= 227 << 10);
        }
        assert_eq!(ROOTS, end as usize);
    }
}
