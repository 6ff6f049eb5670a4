//! The passes of the transform. Forward passes evaluate a polynomial modulo `x^n - w^2` by
//! splitting it into those modulo `x^(n/2) - w` and `x^(n/2) + w`. Inverse passes go the same way
//! back.
//!
//! **Forward.** A node holds a polynomial modulo `x^(2m) - w^2`, low coefficients first, with
//! `w = roots[j]` for node `j` of its level. The halves of `f = f0 + f1 x^m` are `f0 + w f1` (node
//! `2 j`) and `f0 - w f1` (node `2 j + 1`). Nodes stay where their coefficients were, so nothing is
//! ever permuted. A node has one root, which is broadcast and never streamed. The coefficients of a
//! level are rows: splitting ends at nodes of one row, modulo `x^8 -+ roots[..]`.
//!
//! **Inverse.** `2 f0 = g0 + g1` and `2 f1 = (g0 - g1) w^-1`. The powers of two are divided out
//! once, in the pointwise product.
//!
//! **Bounds**, in units of `p`, for the rings in integers: forward passes take and leave `[0, 8)`,
//! and inverse passes take and leave `[0, 2)`. The comments give the range of each value. No factor
//! exceeds 10.
//!
//! **Cost**: `log2(rows)` levels, two or three in each pass over memory. Nodes of at most
//! [`CACHED_ROWS`] rows finish all their levels before the next node begins.

use super::field::{Ring, Row, Stored};

/// The rows whose passes stay in the first-level cache: 32 KiB.
const CACHED_ROWS: usize = 512;

/// The factor by which `(g1 - g0)` is multiplied to give `(g0 - g1) roots[j]^-1`.
#[inline(always)]
fn inverse_root<R: Ring>(ring: R, roots: &[Stored], j: usize, minus_one: &Stored) -> R::Factor {
    if j == 0 {
        ring.factor(minus_one)
    } else {
        ring.factor(&roots[j ^ ((1 << j.ilog2()) - 1)])
    }
}

fn quarters(rows: &mut [Row]) -> [&mut [Row]; 4] {
    let (low, high) = rows.split_at_mut(rows.len() / 2);
    let (x0, x1) = low.split_at_mut(low.len() / 2);
    let (x2, x3) = high.split_at_mut(high.len() / 2);
    [x0, x1, x2, x3]
}

/// Splits node `j` down to nodes of one row.
#[inline(always)]
pub(super) fn forward<R: Ring>(ring: R, rows: &mut [Row], j: usize, roots: &[Stored]) {
    let size = rows.len();
    debug_assert!(size.is_power_of_two());
    // The walk goes depth first, so that each quarter is finished while it is in a near cache. It
    // is a loop, because a recursive function cannot be inlined into the function that enables the
    // vector instructions.
    let cached = cached_size(size);
    for start in (0..size).step_by(cached) {
        // These are all nodes that begin here, the largest first. Their sizes are `cached 4^k`.
        let begins = if start == 0 {
            size
        } else {
            1 << start.trailing_zeros()
        };
        let mut node = cached << ((begins / cached).ilog2() / 2 * 2);
        while node > cached {
            let index = j * (size / node) + start / node;
            forward4(ring, &mut rows[start..start + node], index, roots);
            node /= 4;
        }
        let index = j * (size / cached) + start / cached;
        forward_cached(ring, &mut rows[start..start + cached], index, roots);
    }
}

/// The size of the nodes at which quartering `size` rows depth first stops.
#[inline(always)]
fn cached_size(size: usize) -> usize {
    let mut cached = size;
    while cached > CACHED_ROWS {
        cached /= 4;
    }
    cached
}

/// Computes all levels of a node that fits the cache, level by level.
#[inline(always)]
fn forward_cached<R: Ring>(ring: R, rows: &mut [Row], j: usize, roots: &[Stored]) {
    let mut size = rows.len();
    let mut nodes = 1;
    if size.ilog2() % 2 == 1 {
        if size == 2 {
            return forward2(ring, rows, j, roots);
        }
        forward8(ring, rows, j, roots);
        size /= 8;
        nodes = 8;
    }
    while size > 1 {
        for (t, node) in rows.chunks_exact_mut(size).enumerate() {
            forward4(ring, node, j * nodes + t, roots);
        }
        size /= 4;
        nodes *= 4;
    }
}

#[inline(always)]
fn forward2<R: Ring>(ring: R, rows: &mut [Row], j: usize, roots: &[Stored]) {
    let (x0, x1) = rows.split_at_mut(rows.len() / 2);
    let w = ring.factor(&roots[j]);
    for (x0, x1) in x0.iter_mut().zip(x1) {
        for part in 0..R::PARTS {
            let [y0, y1] = ring.butterfly(ring.lift(ring.load(part, x0)), ring.load(part, x1), w);
            ring.store(part, x0, y0);
            ring.store(part, x1, y1);
        }
    }
}

/// Computes two levels of node `j`.
#[inline(always)]
fn forward4<R: Ring>(ring: R, rows: &mut [Row], j: usize, roots: &[Stored]) {
    let [x0, x1, x2, x3] = quarters(rows);
    let w = ring.factor(&roots[j]);
    let v0 = ring.factor(&roots[2 * j]);
    let v1 = ring.factor(&roots[2 * j + 1]);
    for (((x0, x1), x2), x3) in x0.iter_mut().zip(x1).zip(x2).zip(x3) {
        for part in 0..R::PARTS {
            // x0 is in [2, 6) after the lift, and x1 in [1, 9).
            let a0 = ring.lift(ring.load(part, x0));
            let a1 = ring.raise(ring.load(part, x1));
            let [b0, b2] = ring.butterfly(a0, ring.load(part, x2), w); // (1, 7)
            let [b1, b3] = ring.butterfly(a1, ring.load(part, x3), w); // (0, 10)
            let [c0, c1] = ring.butterfly(b0, b1, v0); // (0, 8)
            let [c2, c3] = ring.butterfly(b2, b3, v1);
            ring.store(part, x0, c0);
            ring.store(part, x1, c1);
            ring.store(part, x2, c2);
            ring.store(part, x3, c3);
        }
    }
}

/// Computes three levels of node `j`.
#[inline(always)]
fn forward8<R: Ring>(ring: R, rows: &mut [Row], j: usize, roots: &[Stored]) {
    let (low, high) = rows.split_at_mut(rows.len() / 2);
    let [x0, x1, x2, x3] = quarters(low);
    let [x4, x5, x6, x7] = quarters(high);
    let u = ring.factor(&roots[j]);
    let v = [ring.factor(&roots[2 * j]), ring.factor(&roots[2 * j + 1])];
    let w: [R::Factor; 4] = std::array::from_fn(|t| ring.factor(&roots[4 * j + t]));
    let columns = x0
        .iter_mut()
        .zip(x1)
        .zip(x2)
        .zip(x3)
        .zip(x4)
        .zip(x5)
        .zip(x6)
        .zip(x7);
    for (((((((x0, x1), x2), x3), x4), x5), x6), x7) in columns {
        for part in 0..R::PARTS {
            let [b0, b4] = ring.butterfly(ring.lift(ring.load(part, x0)), ring.load(part, x4), u); // (1, 7)
            let [b1, b5] = ring.butterfly(ring.lift(ring.load(part, x1)), ring.load(part, x5), u); // (1, 7)
            let [b2, b6] = ring.butterfly(ring.raise(ring.load(part, x2)), ring.load(part, x6), u); // (0, 10)
            let [b3, b7] = ring.butterfly(ring.raise(ring.load(part, x3)), ring.load(part, x7), u); // (0, 10)
            let [c0, c2] = ring.butterfly(b0, b2, v[0]); // (0, 8)
            let [c1, c3] = ring.butterfly(b1, b3, v[0]); // (0, 8)
            let [c4, c6] = ring.butterfly(b4, b6, v[1]);
            let [c5, c7] = ring.butterfly(b5, b7, v[1]);
            let pairs = [
                (c0, c1, &mut *x0, &mut *x1),
                (c2, c3, &mut *x2, &mut *x3),
                (c4, c5, &mut *x4, &mut *x5),
                (c6, c7, &mut *x6, &mut *x7),
            ];
            for ((even, odd, to_even, to_odd), w) in pairs.into_iter().zip(w) {
                let [d0, d1] = ring.butterfly(ring.lift(even), odd, w); // (1, 7)
                ring.store(part, to_even, d0);
                ring.store(part, to_odd, d1);
            }
        }
    }
}

/// Puts node `j` together again, multiplied by its number of rows.
#[inline(always)]
pub(super) fn inverse<R: Ring>(
    ring: R,
    rows: &mut [Row],
    j: usize,
    roots: &[Stored],
    minus_one: &Stored,
) {
    let size = rows.len();
    debug_assert!(size.is_power_of_two());
    let cached = cached_size(size);
    for start in (0..size).step_by(cached) {
        let end = start + cached;
        let index = j * (size / cached) + start / cached;
        inverse_cached(ring, &mut rows[start..end], index, roots, minus_one);
        // These are all larger nodes that end here, the smallest first.
        let mut node = 4 * cached;
        while node <= size && end.is_multiple_of(node) {
            let index = j * (size / node) + end / node - 1;
            inverse4(ring, &mut rows[end - node..end], index, roots, minus_one);
            node *= 4;
        }
    }
}

#[inline(always)]
fn inverse_cached<R: Ring>(
    ring: R,
    rows: &mut [Row],
    j: usize,
    roots: &[Stored],
    minus_one: &Stored,
) {
    let len = rows.len();
    let mut size = 4;
    while size <= len {
        let nodes = len / size;
        for (t, node) in rows.chunks_exact_mut(size).enumerate() {
            inverse4(ring, node, j * nodes + t, roots, minus_one);
        }
        size *= 4;
    }
    if size / 4 < len {
        inverse2(ring, rows, j, roots, minus_one);
    }
}

#[inline(always)]
fn inverse2<R: Ring>(ring: R, rows: &mut [Row], j: usize, roots: &[Stored], minus_one: &Stored) {
    let (x0, x1) = rows.split_at_mut(rows.len() / 2);
    let w = inverse_root(ring, roots, j, minus_one);
    for (x0, x1) in x0.iter_mut().zip(x1) {
        for part in 0..R::PARTS {
            let (g0, g1) = (ring.load(part, x0), ring.load(part, x1));
            ring.store(part, x0, ring.fold4(ring.add(g0, g1)));
            ring.store(part, x1, ring.mul(ring.sub2(g1, g0), w));
        }
    }
}

/// Computes two levels of node `j`, backwards.
#[inline(always)]
fn inverse4<R: Ring>(ring: R, rows: &mut [Row], j: usize, roots: &[Stored], minus_one: &Stored) {
    let [x0, x1, x2, x3] = quarters(rows);
    let w = inverse_root(ring, roots, j, minus_one);
    let v0 = inverse_root(ring, roots, 2 * j, minus_one);
    let v1 = inverse_root(ring, roots, 2 * j + 1, minus_one);
    for (((x0, x1), x2), x3) in x0.iter_mut().zip(x1).zip(x2).zip(x3) {
        for part in 0..R::PARTS {
            let (g0, g1, g2, g3) = (
                ring.load(part, x0),
                ring.load(part, x1),
                ring.load(part, x2),
                ring.load(part, x3),
            );
            let s0 = ring.add(g0, g1); // [0, 4)
            let s1 = ring.add(g2, g3);
            let d0 = ring.mul(ring.sub2(g1, g0), v0); // (0, 2)
            let d1 = ring.mul(ring.sub2(g3, g2), v1);
            ring.store(part, x0, ring.fold4(ring.fold8(ring.add(s0, s1))));
            ring.store(part, x1, ring.fold4(ring.add(d0, d1)));
            ring.store(part, x2, ring.mul(ring.sub4(s1, s0), w));
            ring.store(part, x3, ring.mul(ring.sub2(d1, d0), w));
        }
    }
}
