//! Digits of pi by GMP, to stand beside `bigint constant pi`: Chudnovsky's series by binary splitting, whose two
//! halves run on cores of their own; GMP computes each product, the quotient, the root and the digits on one core.
//!
//! ```text
//! cd benches/peers; cargo run --release --bin pi -- 10000000
//! ```
//!
//! The program prints the last ten digits and the seconds that each part took.

use std::io::{Write, stdout};
use std::time::Instant;

use rug::Integer;
use rug::ops::Pow;

/// Decimal digits that a term of the series gives.
const DIGITS_A_TERM: f64 = 14.181_647_462_725_477;

/// Digits computed beyond those that are printed.
const GUARD: u32 = 20;

/// Terms of a range that one core takes.
const LEAF: u64 = 1000;

/// `P`, `Q` and `T` of the terms `from..to`: `T / Q` is their sum.
fn terms(from: u64, to: u64) -> [Integer; 3] {
    if to - from == 1 {
        let n = from;
        if n == 0 {
            return [Integer::from(1), Integer::from(1), Integer::from(13_591_409)];
        }
        let p = Integer::from(6 * n - 5) * (2 * n - 1) * (6 * n - 1);
        let q = Integer::from(n).pow(3) * 10_939_058_860_032_000_u64;
        let t = Integer::from(545_140_134_u64 * n + 13_591_409) * &p;
        return [p, q, if n % 2 == 1 { -t } else { t }];
    }
    let middle = from.midpoint(to);
    let (lower, upper) = (|| terms(from, middle), || terms(middle, to));
    let ([p, q, t], [p2, q2, t2]) = if to - from > LEAF {
        rayon::join(lower, upper)
    } else {
        (lower(), upper())
    };
    let sum = || {
        let (t, t2) = rayon::join(|| t * &q2, || Integer::from(&p * &t2));
        t + t2
    };
    let ((p2, q), t) = rayon::join(|| rayon::join(|| &p * p2, || q * &q2), sum);
    [p2, q, t]
}

fn main() {
    let digits = std::env::args().nth(1).and_then(|digits| digits.parse().ok());
    let digits: u32 = digits.expect("how many digits?");
    let start = Instant::now();
    let count = (f64::from(digits + GUARD) / DIGITS_A_TERM) as u64 + 2;
    let (root, [_, q, t]) = rayon::join(
        || (Integer::from(10_005) * Integer::from(10).pow(2 * (digits + GUARD))).sqrt(),
        || terms(0, count),
    );
    let series = start.elapsed();
    let pi = root * 426_880_u32 * q / t;
    let quotient = start.elapsed();
    let text = pi.to_string();
    let all = start.elapsed();
    let last = &text[(digits - 9) as usize..=digits as usize];
    let line = format!(
        "{digits} digits of pi end in {last}: {:.2} s ({:.2} s of series and root, {:.2} s of quotient, {:.2} s of digits)",
        all.as_secs_f64(),
        series.as_secs_f64(),
        (quotient - series).as_secs_f64(),
        (all - quotient).as_secs_f64(),
    );
    writeln!(stdout(), "{line}").expect("standard output is open");
}
