//! The first three levels of a transform, truncated: they compute five to eight of eight blocks.
//!
//! A length between two powers of two is rounded up to `k/8` of the larger one, `5 <= k <= 8`. The
//! polynomial has `k` blocks of coefficients, and the forward pass computes the first `k` of the
//! eight blocks of values. `k` values and `8 - k` coefficients that are zero determine the `k`
//! coefficients [van der Hoeven 2004]. For one step of eight blocks the way back can be written
//! down.
//!
//! Let `A_j = f_j + f_(j+4)`, which follow from the first four values, and `B_j = f_j - f_(j+4)`.
//! If `f_(j+4) = 0`, then `B_j = A_j`. The other `B_j` follow from the values of the upper half,
//!
//! ```text
//! U_j = B_j + i B_(j+2),   V_j = B_j - i B_(j+2)            (j = 0, 1)
//! o4 = U_0 + r U_1,  o5 = U_0 - r U_1,  o6 = V_0 + i r V_1,  o7 = V_0 - i r V_1
//! ```
//!
//! with `r = roots[2]`, `i = roots[1]`.
//!
//! **Bounds**, in units of `p` as in `passes`: the forward pass takes `[0, 2)` and leaves `[0, 8)`.
//! The inverse pass takes and leaves `[0, 2)`, and multiplies by 8.

use super::field::{Ring, Row, Stored};

/// The constants of the first three levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct TopRoots {
    /// The roots `i`, `r` and `i r`.
    pub(super) roots: [Stored; 3],
    /// The constant `i r / 2`.
    pub(super) half: Stored,
}

/// Computes three levels forward on `K` blocks.
#[inline(always)]
pub(super) fn forward<R: Ring, const K: usize>(
    ring: R,
    mut blocks: [&mut [Row]; K],
    constants: &TopRoots,
) {
    let [i, r, ir] = &constants.roots;
    let (i, r, ir) = (ring.factor(i), ring.factor(r), ring.factor(ir));
    let columns = blocks[0].len();
    for block in &mut blocks {
        let whole = std::mem::take(block);
        *block = &mut whole[..columns];
    }
    for at in 0..columns * R::PARTS {
        let (column, part) = (at / R::PARTS, at % R::PARTS);
        // (A_j, B_j) are in [0, 4), for values from [0, 2).
        macro_rules! split {
            ($j:expr) => {{
                let low = ring.load(part, &blocks[$j][column]);
                if $j + 4 < K {
                    let high = ring.load(part, &blocks[$j + 4][column]);
                    (ring.add(low, high), ring.sub2(low, high))
                } else {
                    (low, low)
                }
            }};
        }
        let ((a0, b0), (a1, b1), (a2, b2), (a3, b3)) = (split!(0), split!(1), split!(2), split!(3));
        let (c0, c2) = (ring.add(a0, a2), ring.sub4(a0, a2)); // [0, 8)
        let (c1, c3) = (ring.add(a1, a3), ring.sub4(a1, a3));
        let [c4, c6] = ring.butterfly(ring.raise(b0), b2, i); // (0, 6)
        let [c5, c7] = ring.butterfly(ring.raise(b1), b3, i);
        let (c0, c1) = (ring.fold8(c0), ring.fold8(c1)); // [0, 4)
        let [d2, d3] = ring.butterfly(ring.lift(c2), c3, i); // (1, 7)
        let [d4, d5] = ring.butterfly(ring.raise(c4), c5, r); // (0, 8)
        let [d6, d7] = ring.butterfly(ring.raise(c6), c7, ir);
        let values = [ring.add(c0, c1), ring.sub4(c0, c1), d2, d3, d4, d5, d6, d7];
        for j in 0..K {
            ring.store(part, &mut blocks[j][column], values[j]);
        }
    }
}

/// Computes three levels backwards, which gives eight times the coefficients.
#[inline(always)]
pub(super) fn inverse<R: Ring, const K: usize>(
    ring: R,
    mut blocks: [&mut [Row]; K],
    constants: &TopRoots,
) {
    let [i, r, ir] = &constants.roots;
    let (i, r, ir) = (ring.factor(i), ring.factor(r), ring.factor(ir));
    let half = ring.factor(&constants.half);
    let columns = blocks[0].len();
    for block in &mut blocks {
        let whole = std::mem::take(block);
        *block = &mut whole[..columns];
    }
    // This brings a value from [0, 8) to [0, 2).
    macro_rules! fold {
        ($x:expr) => {
            ring.fold4(ring.fold8($x))
        };
    }
    for at in 0..columns * R::PARTS {
        let (column, part) = (at / R::PARTS, at % R::PARTS);
        // This loads a value, in [0, 2). (a - b) / w is (b - a) w' with 1/w = -w'.
        macro_rules! o {
            ($j:expr) => {
                ring.load(part, &blocks[$j][column])
            };
        }
        // 4 A_j are in [0, 2).
        let (s0, d0) = (ring.add(o!(0), o!(1)), ring.sub2(o!(0), o!(1))); // [0, 4)
        let (s1, d1) = (ring.add(o!(2), o!(3)), ring.mul(ring.sub2(o!(3), o!(2)), i)); // 4, 2
        let a0 = fold!(ring.add(s0, s1));
        let a2 = fold!(ring.sub4(s0, s1));
        let a1 = fold!(ring.add(d0, d1)); // from [0, 6)
        let a3 = fold!(ring.sub2(d0, d1)); // from [0, 6)

        // 4 B_j are in [0, 2). 1/r = -i r, and 1/(i r) = -r.
        let (b0, b1, b2, b3);
        if K == 5 {
            let p3 = ring.mul(a3, i);
            let u1 = ring.add(a1, p3); // 4 U_1: [0, 4)
            let o4 = ring.fold4(ring.add(o!(4), o!(4)));
            let u0 = ring.sub2(ring.add(o4, o4), ring.mul(u1, r)); // 4 U_0: [0, 6)
            b0 = fold!(ring.sub2(u0, ring.mul(a2, i))); // from [0, 8)
            (b1, b2, b3) = (a1, a2, a3);
        } else {
            let s2 = ring.fold4(ring.add(o!(4), o!(5))); // 2 U_0: [0, 2)
            let d2 = ring.mul(ring.sub2(o!(5), o!(4)), ir); // 2 U_1: (0, 2)
            match K {
                6 => {
                    b0 = fold!(ring.sub2(ring.add(s2, s2), ring.mul(a2, i))); // from [0, 6)
                    b1 = fold!(ring.sub2(ring.add(d2, d2), ring.mul(a3, i)));
                    (b2, b3) = (a2, a3);
                }
                7 => {
                    let p3 = ring.mul(a3, i);
                    b1 = fold!(ring.sub2(ring.add(d2, d2), p3)); // from [0, 6)
                    let v1 = ring.sub2(b1, p3); // 4 V_1: [0, 4)
                    // 2 V_0 = 2 o6 - (i r / 2) 4 V_1: [0, 6)
                    let v0 = ring.sub2(ring.add(o!(6), o!(6)), ring.mul(v1, half));
                    b0 = fold!(ring.add(s2, v0)); // from [0, 8)
                    b2 = ring.mul(ring.sub2(v0, s2), i); // of [0, 8)
                    b3 = a3;
                }
                _ => {
                    let s3 = ring.add(o!(6), o!(7)); // 2 V_0: [0, 4)
                    let d3 = ring.mul(ring.sub2(o!(7), o!(6)), r); // 2 V_1: (0, 2)
                    b0 = fold!(ring.add(s2, s3));
                    b2 = ring.mul(ring.sub4(s3, s2), i);
                    b1 = ring.fold4(ring.add(d2, d3));
                    b3 = ring.mul(ring.sub2(d3, d2), i);
                }
            }
        }
        let halves = [(a0, b0), (a1, b1), (a2, b2), (a3, b3)];
        for j in 0..4 {
            let (a, b) = halves[j];
            ring.store(part, &mut blocks[j][column], ring.fold4(ring.add(a, b)));
            if j + 4 < K {
                ring.store(
                    part,
                    &mut blocks[j + 4][column],
                    ring.fold4(ring.sub2(a, b)),
                );
            }
        }
    }
}
