//! Products of digits in every lane, by rows of columns.
//!
//! The result is `n + m` *columns*: `sum_k r[k] 2^(D k) = a b`, where `r[k]` is the
//! plain sum of the digit products that belong to weight `k`. With `HALVES` a
//! product `a[i] b[j]` adds its low digit to column `i + j` and its high digit to
//! `i + j + 1`, both below `2^D`; else all of it, below `2^(2 D)`, to column `i + j`.
//! No carry is propagated. With `t = min(n, m)`, a column stays below
//! `2 t 2^52` (D = 52) or `t 2^56` (D = 28); the callers keep that below `2^63`.
//!
//! Preconditions: digits below `2^D`. Cost: `n m` multiply-adds (twice that with
//! `HALVES`), of which `ROW` at a time share one load of a digit. No scratch.

use super::vector::Vector;

/// `r[..a.len() + M] += a * b`, `b` held as `M` digits.
///
/// The `M` columns that row `i` adds to are held in registers; one is finished and
/// one comes in with each row.
#[inline(never)]
fn rows<I: Vector, const M: usize>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            assert!(r.len() == a.len() + M && b.len() == M);
            let mut columns = [isa.splat(0); M];
            columns.copy_from_slice(&r[..M]);
            for (i, &digit) in a.iter().enumerate() {
                columns[0] = isa.multiply_low(columns[0], digit, b[0]);
                r[i] = columns[0];
                for j in 1..M {
                    let column = isa.multiply_high(columns[j], digit, b[j - 1]);
                    columns[j - 1] = isa.multiply_low(column, digit, b[j]);
                }
                columns[M - 1] = isa.multiply_high(r[i + M], digit, b[M - 1]);
            }
            r[a.len()..].copy_from_slice(&columns);
        },
    );
}

/// [`rows`] for the length of `b`.
#[inline(always)]
fn rows_of_length<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    macro_rules! by_length {
        ($($m:literal)*) => {
            match b.len() {
                0 => {}
                $($m if $m <= I::ROW => rows::<I, $m>(isa, r, a, b),)*
                length => unreachable!("a row of {length} digits"),
            }
        };
    }
    by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
}

/// `r += a * b`, `r` as long as both together.
fn add_product<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    // Long rows of few: the digits that are held serve every row.
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let blocks = b.len().div_ceil(I::ROW).max(1);
    let mut first = 0;
    for block in 0..blocks {
        let end = b.len() * (block + 1) / blocks;
        rows_of_length(isa, &mut r[first..end + a.len()], a, &b[first..end]);
        first = end;
    }
}

/// The columns of `a * b`; `r` is as long as both together.
pub(super) fn product<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V]) {
    r.fill(isa.splat(0));
    add_product(isa, r, a, b);
}

/// The first `k` columns of `a * b`; `r` is as long as both together, and what is
/// in the columns from `k` on has no meaning.
///
/// Row `i` of the block of `b` that begins at `j` is needed only where `i + j < k`:
/// half the products for `k = n = m`, and a triangle for each block.
pub(super) fn low_product<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V], b: &[I::V], k: usize) {
    r.fill(isa.splat(0));
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let b = &b[..b.len().min(k)];
    // Short blocks waste little on triangles, long ones save loads.
    let length = (k / 4).clamp(4, I::ROW);
    for (block, b) in b.chunks(length).enumerate() {
        let first = block * length;
        let a = &a[..a.len().min(k - first)];
        rows_of_length(isa, &mut r[first..first + a.len() + b.len()], a, b);
    }
}

/// The columns of `a * a`; `r` is twice as long.
///
/// `a^2 = sum_i a[i]^2 2^(2 D i) + 2 sum_(i < j) a[i] a[j] 2^(D (i + j))`: the second
/// sum is half the products, and is doubled as a sum of columns.
pub(super) fn square<I: Vector>(isa: I, r: &mut [I::V], a: &[I::V]) {
    r.fill(isa.splat(0));
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
    let half = a.len() / 2;
    if half == 0 {
        return;
    }
    let (low, high) = a.split_at(half);
    add_product(isa, &mut r[half..half + a.len()], low, high);
    add_triangle(isa, &mut r[..2 * half], low);
    add_triangle(isa, &mut r[2 * half..], high);
}
