//! Products of digits in every lane, by rows of columns.
//!
//! The result is `n + m` *columns*: `sum_k r[k] 2^(D k) = a b`, where `r[k]` is the
//! plain sum of the digit products that belong to weight `k`. With `HALVES` a
//! product `a[i] b[j]` adds its low digit to column `i + j` and its high digit to
//! `i + j + 1`, both below `2^D`; else all of it, below `2^(2 D)`, to column `i + j`.
//! No carry is propagated. With `t = min(n, m)`, a column stays below
//! `2 t 2^52` (D = 52) or `t 2^56` (D = 28); the callers keep that below `2^63`.
//!
//! Preconditions: digits below `2^D`, if multiplication does not cut them itself. Cost: `n m` multiply-adds (twice that with
//! `HALVES`), of which `ROW` at a time share one load of a digit. No scratch.

use super::vector::Vector;

/// `r[..a.len() + M] += a * b`, `b` of `M` digits; `first` takes `r` as zero.
///
/// The `M` columns that a row adds to are held in registers. Several rows are done
/// at once, so that a digit of `b` is loaded once for all of them; as many columns
/// come in from `r` and are finished.
#[inline(always)]
fn rows<I: Vector, const M: usize>(isa: I, first: bool, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            assert!(r.len() == a.len() + M && b.len() == M);
            let mut columns = [isa.splat(0); M];
            if !first {
                columns.copy_from_slice(&r[..M]);
            }
            let mut done = 0;
            while I::ROWS >= 4 && a.len() - done >= 4 {
                rows_at_once::<I, M, 4>(isa, first, &mut columns, &mut r[done..], &a[done..], b);
                done += 4;
            }
            while I::ROWS >= 2 && a.len() - done >= 2 {
                rows_at_once::<I, M, 2>(isa, first, &mut columns, &mut r[done..], &a[done..], b);
                done += 2;
            }
            while done < a.len() {
                rows_at_once::<I, M, 1>(isa, first, &mut columns, &mut r[done..], &a[done..], b);
                done += 1;
            }
            r[done..].copy_from_slice(&columns);
        },
    );
}

/// The first `N` rows of `a` times `b`: `N` columns are finished in `r`, and the `M`
/// above them left in `columns`.
#[inline(always)]
fn rows_at_once<I: Vector, const M: usize, const N: usize>(
    isa: I,
    first: bool,
    columns: &mut [I::V; M],
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
) {
    // Columns in use: M + N, which the language does not let us write.
    const WINDOW: usize = MOST_DIGITS + 4;
    let mut window = [isa.splat(0); WINDOW];
    window[..M].copy_from_slice(columns);
    if !first {
        window[M..M + N].copy_from_slice(&r[M..M + N]);
    }
    let a: [I::V; N] = std::array::from_fn(
        #[inline(always)]
        |t| a[t],
    );
    // All indices must be constants for the window to stay in registers.
    macro_rules! unrolled {
        ($($j:literal)*) => {$(
            if $j < M {
                let digit = isa.reload(&b[$j]);
                for t in 0..N {
                    window[$j + t] = isa.multiply_low(window[$j + t], a[t], digit);
                    window[$j + t + 1] = isa.multiply_high(window[$j + t + 1], a[t], digit);
                }
            }
        )*};
    }
    unrolled!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21);
    r[..N].copy_from_slice(&window[..N]);
    columns.copy_from_slice(&window[N..M + N]);
}

/// The longest row for which code is generated.
const MOST_DIGITS: usize = 22;

/// [`rows`] for the length of `b`.
#[inline(always)]
fn rows_of_length<I: Vector>(isa: I, first: bool, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    macro_rules! by_length {
        ($($m:literal)*) => {
            match b.len() {
                0 => {}
                $($m if $m <= I::ROW => rows::<I, $m>(isa, first, r, a, b),)*
                length => unreachable!("a row of {length} digits"),
            }
        };
    }
    by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22)
}

/// The columns of `a * b`; `r` is as long as both together.
#[inline]
pub(super) fn product<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    // Long rows of few: the digits of a row serve all that are done at once.
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let blocks = b.len().div_ceil(I::ROW).max(1);
    let mut first = 0;
    for block in 0..blocks {
        let end = b.len() * (block + 1) / blocks;
        let r = &mut r[first..end + a.len()];
        if block > 0 {
            // The columns that no earlier block has reached.
            clear(isa, &mut r[a.len()..]);
        }
        rows_of_length(isa, block == 0, r, a, &b[first..end]);
        first = end;
    }
}

fn clear<I: Vector>(isa: I, r: &mut [I::V]) {
    isa.vectorize(
        #[inline(always)]
        || r.fill(isa.splat(0)),
    );
}

/// The first `k` columns of `a * b`; `r` is as long as both together, and what is
/// in the columns from `k` on has no meaning.
///
/// Row `i` of the block of `b` that begins at `j` is needed only where `i + j < k`:
/// half the products for `k = n = m`, and a triangle for each block.
pub(super) fn low_product<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V], k: usize) {
    clear(isa, r);
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let b = &b[..b.len().min(k)];
    // Short blocks waste little on triangles, long ones save loads.
    let length = (k / 4).clamp(4, I::ROW);
    for (block, b) in b.chunks(length).enumerate() {
        let first = block * length;
        let a = &a[..a.len().min(k - first)];
        rows_of_length(isa, false, &mut r[first..first + a.len() + b.len()], a, b);
    }
}

/// The columns of `a * a`; `r` is twice as long.
///
/// `a^2 = sum_i a[i]^2 2^(2 D i) + 2 sum_(i < j) a[i] a[j] 2^(D (i + j))`: the second
/// sum is half the products, and is doubled as a sum of columns.
pub(super) fn square<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V]) {
    clear(isa, r);
    add_triangle(isa, r, a);
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

/// `r += sum_(i < j) a[i] a[j] 2^(D (i + j))`.
fn add_triangle<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V]) {
    match a.len() {
        0 | 1 => return,
        2 => return small_triangle::<I, 2>(isa, r, a),
        3 => return small_triangle::<I, 3>(isa, r, a),
        4 => return small_triangle::<I, 4>(isa, r, a),
        5 => return small_triangle::<I, 5>(isa, r, a),
        6 => return small_triangle::<I, 6>(isa, r, a),
        _ => {}
    }
    let half = a.len() / 2;
    let (low, high) = a.split_at(half);
    let mut first = half;
    for high in high.chunks(I::ROW) {
        let r = &mut r[first..first + half + high.len()];
        rows_of_length(isa, false, r, low, high);
        first += high.len();
    }
    add_triangle(isa, &mut r[..2 * half], low);
    add_triangle(isa, &mut r[2 * half..], high);
}

/// [`add_triangle`] for `N <= 6` digits, its columns in registers.
#[inline(always)]
fn small_triangle<I: Vector, const N: usize>(isa: I, r: &mut [I::V], a: &[I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            assert!(r.len() == 2 * N && a.len() == N);
            let mut columns = [isa.splat(0); 12];
            columns[..2 * N].copy_from_slice(r);
            macro_rules! row {
                ($i:literal: $($j:literal)*) => {$(
                    if $j < N {
                        let k = $i + $j;
                        columns[k] = isa.multiply_low(columns[k], a[$i], a[$j]);
                        columns[k + 1] = isa.multiply_high(columns[k + 1], a[$i], a[$j]);
                    }
                )*};
            }
            row!(0: 1 2 3 4 5);
            row!(1: 2 3 4 5);
            row!(2: 3 4 5);
            row!(3: 4 5);
            row!(4: 5);
            r.copy_from_slice(&columns[..2 * N]);
        },
    );
}
