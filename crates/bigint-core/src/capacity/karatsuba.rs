//! Karatsuba's recursion, declared once: every level of every back end splits
//! by [`split`], at most [`DEPTH`] times, and multiplies the rest by Comba.
//!
//! Let `n >= m` be the operands' widths in limbs (swap them if need be), `B` =
//! 2^32, `h = ceil(n / 2)`, `a = a1 B^h + a0` and `b = b1 B^h + b0`. The product
//! of `n + m` limbs is written to `p`; `s` is scratch.
//!
//! Three products, where `m > h`:
//! ```text
//! p[0..h], p[h..2h] = |a0 - a1|, |b0 - b1|                 and the sign of both
//! s[0..2h]          = p[0..h] * p[h..2h]                   recursion
//! p[0..2h]          = a0 * b0                              recursion
//! p[2h..n+m]        = a1 * b1                              recursion
//! s[0..2h+1]        = a0 b0 + a1 b1 - sign * s[0..2h]      = a0 b1 + a1 b0
//! p[h..n+m]        += s[0..2h+1]
//! ```
//! Two products, where `m <= h` and so `b1 = 0`:
//! ```text
//! s[0..n-h+m]       = a1 * b                               recursion
//! p[0..h+m]         = a0 * b                               recursion
//! p[h..n+m]         = p[h..h+m] + s[0..n-h+m]
//! ```
//! The recursion's own scratch is `s[2h+1..]` in either case. The differences are
//! subtracted, not added as in Karatsuba's first form, so that they need no limb
//! more than their operands [Honda 2015], [Carlessi and Kashani 2013].

/// The most times that a product is split: "Karatsuba^2" of [Honda 2015].
///
/// The bound keeps the device free of recursion: each level is a loop of its own.
pub const DEPTH: usize = 2;

/// The least limbs of the shorter operand of a split. Below this width the linear work of a
/// split costs more than the product that it saves.
pub const MIN_WIDTH: usize = 16;

/// How one product is split at one level of the recursion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The product is not split but computed by Comba's method: the operand is too short, or
    /// the product has been split [`DEPTH`] times.
    Base,
    /// Only the longer operand is split, at `half` limbs: two products.
    Two {
        /// The limbs of the low half, `h`.
        half: usize,
    },
    /// Both operands are split, at `half` limbs: three products.
    Three {
        /// The limbs of the low halves, `h`.
        half: usize,
    },
}

/// Decides how operands of `n >= m` limbs are split when `depth` more splits are allowed.
///
/// ```
/// use bigint_core::karatsuba::{split, Split};
/// assert_eq!(split(33, 33, 2), Split::Three { half: 17 });
/// assert_eq!(split(33, 17, 2), Split::Two { half: 17 });
/// assert_eq!(split(33, 15, 2), Split::Base);
/// assert_eq!(split(33, 33, 0), Split::Base);
/// ```
#[inline]
pub const fn split(n: usize, m: usize, depth: usize) -> Split {
    let half = n.div_ceil(2);
    if depth == 0 || m < MIN_WIDTH {
        Split::Base
    } else if m <= half {
        Split::Two { half }
    } else {
        Split::Three { half }
    }
}

/// The limbs of scratch for a product whose longer operand has `n` limbs.
///
/// One level keeps `2h + 1` limbs while it calls the next on operands of at
/// most `h` limbs: `S(n) = 2h + 1 + S(h)`, for at most [`DEPTH`] levels.
///
/// ```
/// use bigint_core::karatsuba::scratch;
/// assert_eq!(scratch(15), 0);
/// assert_eq!(scratch(16), 2 * 8 + 1);
/// assert_eq!(scratch(33), (2 * 17 + 1) + (2 * 9 + 1));
/// ```
pub const fn scratch(n: usize) -> usize {
    let mut limbs = 0;
    let mut length = n;
    let mut depth = DEPTH;
    // No operand is longer than `n`, so `split(n, n)` is the deepest recursion.
    while let Split::Two { half } | Split::Three { half } = split(length, length, depth) {
        limbs += 2 * half + 1;
        length = half;
        depth -= 1;
    }
    limbs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scratch that the recursion touches, found by walking it.
    fn walk(n: usize, m: usize, depth: usize) -> usize {
        let (n, m) = if n < m { (m, n) } else { (n, m) };
        let below = |pairs: &[(usize, usize)], half: usize| {
            let deepest = pairs.iter().map(|&(n, m)| walk(n, m, depth - 1)).max();
            2 * half + 1 + deepest.unwrap_or(0)
        };
        match split(n, m, depth) {
            Split::Base => 0,
            Split::Two { half } => {
                assert!(n - half + m < 2 * half + 1);
                below(&[(half, m), (n - half, m)], half)
            }
            Split::Three { half } => {
                assert!(2 * half <= n + m && m > half);
                below(&[(half, half), (n - half, m - half)], half)
            }
        }
    }

    #[test]
    fn scratch_covers_every_recursion() {
        for n in 1..150 {
            for m in 1..=n {
                assert!(walk(n, m, DEPTH) <= scratch(n), "{n} x {m}");
            }
            assert_eq!(walk(n, n, DEPTH), scratch(n));
        }
    }
}
