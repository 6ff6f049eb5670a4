//! Schoolbook products of digits in every lane, by blocks of rows.
//!
//! The result is `n + m` *columns*: `sum_k r[k] 2^(D k) = a b`, `D = DIGIT_BITS`, where
//! `r[k]` is the plain sum of what belongs to weight `k`. A product `a[i] b[j]` adds its
//! low half to column `i + j` and its high half to `i + j + 1`, both below `2^D` in
//! magnitude. No carry is propagated. With `t = min(n, m)`, a column stays below
//! `2 t 2^D`; the callers keep that below `2^63`.
//!
//! A block of `N` digits of one factor stays in registers and moves along the other factor,
//! together with a window of `N` columns. A step loads a digit and the column that enters the
//! window, multiplies the digit by the block, and stores the column that leaves the window.
//!
//! **Bias.** Each product subtracts [`Vector::BIAS`] from its two columns. A column that passes
//! through the whole window gets `N` low and `N` high halves, and the bias of these is added as
//! it enters. Columns that are in the window at the start or at the end get fewer halves. Sums
//! are modulo `2^64`, so only the final ones must fit.
//!
//! Operands are [factors](Vector::factor). Cost: `n m` products of digits, and two loads and a
//! store for each `N` of them. There is no scratch.

use super::vector::Vector;
use crate::fast::prefetch::{self, Lines};

/// The bias of a column that gets so many low and high halves of products.
#[inline(always)]
fn owed<I: Vector>(isa: I, low: usize, high: usize) -> I::V {
    let [a, b] = I::BIAS;
    let low = (low as u64).wrapping_mul(a);
    isa.splat(low.wrapping_add((high as u64).wrapping_mul(b)))
}

/// Adds the digit `d` times the block `a` to the window of columns, which begins at that of
/// `a[0] d`. Returns the first column, which is finished. `top` enters the window.
#[inline(always)]
fn step<I: Vector, const N: usize>(
    isa: I,
    window: &mut [I::V; N],
    top: I::V,
    a: &[I::V; N],
    d: I::V,
) -> I::V {
    let mut low = [top; N];
    if !I::HALVES_TOGETHER {
        for t in 0..N {
            low[t] = isa.add_low(window[t], isa.product(a[t], d));
        }
    }
    for t in (0..N).rev() {
        let above = if t + 1 < N { low[t + 1] } else { top };
        let product = isa.product(a[t], d);
        if I::HALVES_TOGETHER {
            low[t] = isa.add_low(window[t], product);
        }
        window[t] = isa.add_high(above, product);
    }
    low[0]
}

/// `r += a b`, or `r = a b` if `FIRST`. `a` has `N` digits, at most as many as `b`, and `r` is
/// as long as both together. Columns of `r` that no earlier block has reached are taken as
/// zero.
#[inline(always)]
fn slide<I: Vector, const N: usize, const FIRST: bool>(
    isa: I,
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
    ahead: &mut Lines<'_>,
) {
    isa.vectorize(
        #[inline(always)]
        || {
            assert!(r.len() == N + b.len() && a.len() == N && N <= b.len());
            let window = window::<I, N, FIRST>(isa, r, b.len());
            along::<I, N, FIRST>(isa, window, r, a, b, ahead);
        },
    );
}

/// The window at the start of `r`. The columns from `reached` on, which no earlier block has
/// reached, become zero. Nothing is read or written if `FIRST`.
#[inline(always)]
fn window<I: Vector, const N: usize, const FIRST: bool>(
    isa: I,
    r: &mut [I::V],
    reached: usize,
) -> [I::V; N] {
    let zero = isa.splat(0);
    if FIRST {
        return [zero; N];
    }
    // One by one, here and below: a copy of a slice would be a call.
    for t in 0..N {
        r[reached + t] = zero;
    }
    std::array::from_fn(
        #[inline(always)]
        |t| r[t],
    )
}

/// Moves the block `a` and its window along `b`, to the end of `r`, of which nothing is
/// read if `FIRST`.
#[inline(always)]
fn along<I: Vector, const N: usize, const FIRST: bool>(
    isa: I,
    mut window: [I::V; N],
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
    ahead: &mut Lines<'_>,
) {
    let r = &mut r[..N + b.len()];
    let mut lines = ahead.take();
    let block: [I::V; N] = std::array::from_fn(
        #[inline(always)]
        |t| a[t],
    );
    for (t, column) in window.iter_mut().enumerate() {
        *column = isa.add(*column, owed(isa, t + 1, t));
    }
    for (j, &d) in b.iter().enumerate() {
        prefetch::next(&mut lines);
        let top = owed(isa, N, N);
        let top = if FIRST { top } else { isa.add(r[j + N], top) };
        r[j] = step(isa, &mut window, top, &block, d);
    }
    ahead.rest(lines);
    for t in 0..N {
        r[b.len() + t] = isa.sub(window[t], owed(isa, t + 1, t));
    }
}

/// [`slide`] for the length of `a`, `Vector::ROWS` at most.
#[inline(always)]
fn slide_block<I: Vector, const FIRST: bool>(
    isa: I,
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
    ahead: &mut Lines<'_>,
) {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match a.len() {
                0 => r.fill(isa.splat(0)),
                $($n if const { $n <= I::ROWS } => slide::<I, $n, FIRST>(isa, r, a, b, ahead),)*
                length => unreachable!("a block of {length} digits"),
            }
        };
    }
    by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

/// The ends of the blocks into which digits are cut: as few blocks as possible, of nearly the
/// same length.
#[inline(always)]
fn ends<I: Vector>(digits: usize) -> impl Iterator<Item = usize> {
    let blocks = digits.div_ceil(I::ROWS).max(1);
    let (short, longer) = (digits / blocks, digits % blocks);
    let mut end = 0;
    (0..blocks).map(move |block| {
        end += short + usize::from(block < longer);
        end
    })
}

/// Computes the columns of `a * b`. `r` is as long as both operands together.
///
/// The function is never inlined, as its kernels need all registers.
#[inline(never)]
pub(super) fn product<I: Vector>(
    isa: I,
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
    ahead: &mut Lines<'_>,
) {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if a.len() <= I::ROWS {
        return slide_block::<I, true>(isa, r, a, b, ahead);
    }
    let mut ends = ends::<I>(a.len());
    let mut first = ends.next().unwrap_or(0);
    slide_block::<I, true>(isa, &mut r[..first + b.len()], &a[..first], b, ahead);
    for end in ends {
        slide_block::<I, false>(isa, &mut r[first..end + b.len()], &a[first..end], b, ahead);
        first = end;
    }
}

/// Computes the first `k` columns of `a * b`. `r` is as long as both operands together, and its
/// columns from `k` on have no meaning afterwards.
///
/// The block of `a` that begins at `i` is multiplied only by the digits of `b` below `k - i`.
/// For `k = n = m` that is half of the products, and a triangle more for each block.
pub(super) fn low_product<I: Vector>(
    isa: I,
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
    k: usize,
    ahead: &mut Lines<'_>,
) {
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
            slide_block::<I, true>(isa, r, a, b, ahead);
        } else {
            slide_block::<I, false>(isa, r, a, b, ahead);
        }
    }
}

/// Computes the columns of `a * a`. `r` is twice as long as `a`.
///
/// `a^2 = sum_i a[i]^2 2^(2 D i) + 2 sum_(i < j) a[i] a[j] 2^(D (i +
/// j))`. The second sum has half of the products of `a * a`, and its columns are doubled.
pub(super) fn square<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], ahead: &mut Lines<'_>) {
    if a.len() <= I::ROWS {
        return triangle_block::<I, true, true>(isa, r, a, a.len(), ahead);
    }
    let mut first = 0;
    for end in ends::<I>(a.len()) {
        let r = &mut r[2 * first..a.len() + end];
        let (n, a) = (end - first, &a[first..]);
        if first == 0 {
            triangle_block::<I, true, false>(isa, r, a, n, ahead);
        } else {
            triangle_block::<I, false, false>(isa, r, a, n, ahead);
        }
        first = end;
    }
    isa.vectorize(
        #[inline(always)]
        || {
            for (r, &a) in r.chunks_exact_mut(2).zip(a) {
                r[0] = doubled(isa, r[0], a, 0);
                r[1] = doubled(isa, r[1], a, 1);
            }
        },
    );
}

/// Column `k` of a square, computed from that of the sum over `i < j` and from
/// `digit = a[k / 2]`.
#[inline(always)]
fn doubled<I: Vector>(isa: I, column: I::V, digit: I::V, k: usize) -> I::V {
    let product = isa.product(digit, digit);
    let column = isa.add(column, column);
    if k.is_multiple_of(2) {
        isa.add_low(column, product)
    } else {
        isa.add_high(column, product)
    }
}

/// [`triangle`] for a block of `n` digits, `Vector::ROWS` at most.
#[inline(always)]
fn triangle_block<I: Vector, const FIRST: bool, const WHOLE: bool>(
    isa: I,
    r: &mut [I::V],
    a: &[I::V],
    n: usize,
    ahead: &mut Lines<'_>,
) {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match n {
                0 => {}
                $($n if const { $n <= I::ROWS } => triangle::<I, $n, FIRST, WHOLE>(isa, r, a, ahead),)*
                length => unreachable!("a block of {length} digits"),
            }
        };
    }
    by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

/// The bias of column `k` in the sum of `a[i] a[j]`, `i < j < N`, and half of its bias in the
/// sum of `a[i]^2`.
#[inline(always)]
fn owed_by_triangle<I: Vector>(isa: I, n: usize, k: usize) -> I::V {
    let pairs = |k: usize| (k + 1).min(2 * n - 1 - k) / 2;
    let pairs = owed(isa, pairs(k), if k == 0 { 0 } else { pairs(k - 1) });
    isa.add(pairs, isa.splat(I::BIAS[k % 2] / 2))
}

/// `r += sum_(i < N, i < j) a[i] a[j] 2^(D (i + j))`, as [`slide`]: the block of the first
/// `N` digits meets each of its own digits in those above it only, then the digits
/// beyond as a whole. `r` is `N` longer than `a`, and is owed what is added to its
/// double in [`square`]; or it is the square itself if `WHOLE`, of `N` digits.
#[inline(always)]
fn triangle<I: Vector, const N: usize, const FIRST: bool, const WHOLE: bool>(
    isa: I,
    r: &mut [I::V],
    a: &[I::V],
    ahead: &mut Lines<'_>,
) {
    isa.vectorize(
        #[inline(always)]
        || {
            assert!(a.len() >= N && r.len() == a.len() + N);
            let block: [I::V; N] = std::array::from_fn(
                #[inline(always)]
                |t| a[t],
            );
            let mut lines = ahead.take();
            let mut window = window::<I, N, FIRST>(isa, r, a.len());
            for (t, column) in window.iter_mut().enumerate() {
                *column = isa.add(*column, owed_by_triangle(isa, N, t));
            }
            // All indices must be constants for the window to stay in registers.
            macro_rules! unrolled {
                ($($j:literal)*) => {$(
                    if const { $j < N } {
                        prefetch::next(&mut lines);
                        let owed = owed_by_triangle(isa, N, $j + N);
                        let top = if FIRST { owed } else { isa.add(r[$j + N], owed) };
                        let mut low = window;
                        for t in $j + 1..N {
                            low[t] = isa.add_low(window[t], isa.product(block[t], block[$j]));
                        }
                        for t in 0..N {
                            let next = if t + 1 < N { low[t + 1] } else { top };
                            window[t] = if t > $j {
                                isa.add_high(next, isa.product(block[t], block[$j]))
                            } else {
                                next
                            };
                        }
                        r[$j] = if WHOLE {
                            doubled(isa, low[0], block[$j / 2], $j)
                        } else {
                            low[0]
                        };
                    }
                )*};
            }
            unrolled!(0 1 2 3 4 5 6 7 8 9 10 11 12 13);
            ahead.rest(lines);
            if WHOLE {
                for t in 0..N {
                    r[N + t] = doubled(isa, window[t], block[(N + t) / 2], N + t);
                }
                return;
            }
            along::<I, N, FIRST>(isa, window, &mut r[N..], &block, &a[N..], ahead);
        },
    );
}
