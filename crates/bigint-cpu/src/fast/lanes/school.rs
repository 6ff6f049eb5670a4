//! Products of digits in every lane, by blocks of rows.
//!
//! The result is `n + m` *columns*: `sum_k r[k] 2^(D k) = a b`, where `r[k]` is the
//! plain sum of the digit products that belong to weight `k`. With `HALVES` a
//! product `a[i] b[j]` adds its low digit to column `i + j` and its high digit to
//! `i + j + 1`, both below `2^D`; else all of it, below `2^(2 D)`, to column `i + j`.
//! No carry is propagated. With `t = min(n, m)`, a column stays below
//! `2 t 2^52` (D = 52) or `t 2^56` (D = 28); the callers keep that below `2^63`.
//!
//! A block of `N` digits of one factor stays in registers and moves along the other,
//! and with it a window of as many columns: a step loads a digit and the column that
//! enters the window, multiplies the digit by the block, and stores the column that
//! leaves.
//!
//! Preconditions: digits below `2^D`, if multiplication does not cut them itself.
//! Cost: `n m` multiply-adds (twice that with `HALVES`), two loads and a store for
//! each `N` of them. No scratch.

use super::vector::Vector;

/// The digit `d` times the block `a`, in the window of columns that begins at that of
/// `a[0] d`: its first column is finished and returned, and `top` enters.
#[inline(always)]
fn step<I: Vector, const N: usize>(
    isa: I,
    window: &mut [I::V; N],
    top: I::V,
    a: &[I::V; N],
    d: I::V,
) -> I::V {
    let mut low = [top; N];
    for t in 0..N {
        low[t] = isa.multiply_low(window[t], a[t], d);
    }
    for t in 0..N {
        let next = if t + 1 < N { low[t + 1] } else { top };
        window[t] = isa.multiply_high(next, a[t], d);
    }
    low[0]
}

/// `r += a b`, or `r = a b` if `FIRST`; `a` has `N` digits, no more than `b`, and `r` is
/// as long as both. Columns of `r` that only this block reaches are taken as zero.
#[inline(always)]
fn slide<I: Vector, const N: usize, const FIRST: bool>(
    isa: I,
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
) {
    isa.vectorize(
        #[inline(always)]
        || {
            assert!(r.len() == N + b.len() && a.len() == N && N <= b.len());
            let mut block = [isa.splat(0); N];
            block.copy_from_slice(a);
            let mut window = [isa.splat(0); N];
            if !FIRST {
                window.copy_from_slice(&r[..N]);
                r[b.len()..].copy_from_slice(&[isa.splat(0); N]);
            }
            along::<I, N, FIRST>(isa, &mut window, r, &block, b);
        },
    );
}

/// Moves the block `a` and its window along `b`, to the end of `r`, of which nothing is
/// read if `FIRST`.
#[inline(always)]
fn along<I: Vector, const N: usize, const FIRST: bool>(
    isa: I,
    window: &mut [I::V; N],
    r: &mut [I::V],
    a: &[I::V; N],
    b: &[I::V],
) {
    let r = &mut r[..N + b.len()];
    for (j, &d) in b.iter().enumerate() {
        let top = if FIRST { isa.splat(0) } else { r[j + N] };
        r[j] = step(isa, window, top, a, d);
    }
    r[b.len()..].copy_from_slice(window);
}

/// [`slide`] for the length of `a`, `Vector::ROWS` at most.
#[inline(always)]
fn slide_block<I: Vector, const FIRST: bool>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match a.len() {
                0 => r.fill(isa.splat(0)),
                $($n if $n <= I::ROWS => slide::<I, $n, FIRST>(isa, r, a, b),)*
                length => unreachable!("a block of {length} digits"),
            }
        };
    }
    by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

/// Digits cut into as few blocks as can be, of nearly the same length: where each ends.
fn ends<I: Vector>(digits: usize) -> impl Iterator<Item = usize> {
    let blocks = digits.div_ceil(I::ROWS);
    (1..=blocks).map(move |block| digits * block / blocks)
}

/// The columns of `a * b`; `r` is as long as both together.
#[inline]
pub(super) fn product<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut ends = ends::<I>(a.len());
    let mut first = ends.next().unwrap_or(0);
    slide_block::<I, true>(isa, &mut r[..first + b.len()], &a[..first], b);
    for end in ends {
        slide_block::<I, false>(isa, &mut r[first..end + b.len()], &a[first..end], b);
        first = end;
    }
}

/// The first `k` columns of `a * b`; `r` is as long as both together, and what is
/// in the columns from `k` on has no meaning.
///
/// The block of `a` that begins at `i` meets the digits of `b` below `k - i` only: half
/// the products for `k = n = m`, and a triangle for each block.
pub(super) fn low_product<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V], k: usize) {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let a = &a[..a.len().min(k)];
    if a.is_empty() {
        r.fill(isa.splat(0));
    }
    // Short blocks waste little on triangles, long ones save loads.
    let length = (k / 4).clamp(4, I::ROWS);
    for (block, a) in a.chunks(length).enumerate() {
        let first = block * length;
        let b = &b[..b.len().min(k - first)];
        // Only where both end beyond column k is the block the longer one.
        let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let r = &mut r[first..first + a.len() + b.len()];
        if block == 0 {
            slide_block::<I, true>(isa, r, a, b);
        } else {
            slide_block::<I, false>(isa, r, a, b);
        }
    }
}

/// The columns of `a * a`; `r` is twice as long.
///
/// `a^2 = sum_i a[i]^2 2^(2 D i) + 2 sum_(i < j) a[i] a[j] 2^(D (i + j))`: the second
/// sum is half the products, and is doubled as a sum of columns.
pub(super) fn square<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V]) {
    let mut first = 0;
    for end in ends::<I>(a.len()) {
        let r = &mut r[2 * first..a.len() + end];
        let (n, a) = (end - first, &a[first..]);
        if first == 0 {
            triangle_block::<I, true>(isa, r, a, n);
        } else {
            triangle_block::<I, false>(isa, r, a, n);
        }
        first = end;
    }
    isa.vectorize(
        #[inline(always)]
        || {
            for (r, &a) in r.chunks_exact_mut(2).zip(a) {
                r[0] = isa.multiply_low(isa.add(r[0], r[0]), a, a);
                r[1] = isa.multiply_high(isa.add(r[1], r[1]), a, a);
            }
        },
    );
}

/// [`triangle`] for a block of `n` digits, `Vector::ROWS` at most.
#[inline(always)]
fn triangle_block<I: Vector, const FIRST: bool>(isa: I, r: &mut [I::V], a: &[I::V], n: usize) {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match n {
                0 => {}
                $($n if $n <= I::ROWS => triangle::<I, $n, FIRST>(isa, r, a),)*
                length => unreachable!("a block of {length} digits"),
            }
        };
    }
    by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

/// `r += sum_(i < N, i < j) a[i] a[j] 2^(D (i + j))`, as [`slide`]: the block of the first
/// `N` digits meets each of its own digits in those above it only, then the digits
/// beyond as a whole. `r` is `N` longer than `a`.
#[inline(always)]
fn triangle<I: Vector, const N: usize, const FIRST: bool>(isa: I, r: &mut [I::V], a: &[I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            assert!(a.len() >= N && r.len() == a.len() + N);
            let (own, beyond) = a.split_at(N);
            let mut block = [isa.splat(0); N];
            block.copy_from_slice(own);
            let mut window = [isa.splat(0); N];
            if !FIRST {
                window.copy_from_slice(&r[..N]);
                r[a.len()..].copy_from_slice(&[isa.splat(0); N]);
            }
            // All indices must be constants for the window to stay in registers.
            macro_rules! unrolled {
                ($($j:literal)*) => {$(
                    if $j < N {
                        let top = if FIRST { isa.splat(0) } else { r[$j + N] };
                        let mut low = window;
                        for t in $j + 1..N {
                            low[t] = isa.multiply_low(window[t], block[t], block[$j]);
                        }
                        for t in 0..N {
                            let next = if t + 1 < N { low[t + 1] } else { top };
                            window[t] = if t > $j {
                                isa.multiply_high(next, block[t], block[$j])
                            } else {
                                next
                            };
                        }
                        r[$j] = low[0];
                    }
                )*};
            }
            unrolled!(0 1 2 3 4 5 6 7 8 9 10 11 12 13);
            along::<I, N, FIRST>(isa, &mut window, &mut r[N..], &block, beyond);
        },
    );
}
