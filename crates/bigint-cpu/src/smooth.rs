//! The chance that a number is smooth, from which programs that look for factors choose bounds.
//!
//! A number of about the size `n` has no prime factor above `B1`, except for one up to `B2`, with the
//! chance [Knuth and Trabb Pardo 1976]
//!
//! ```text
//! rho(u) + integral over t from B1 to B2 of rho(u - log t / log B1) / (t log t),    u = log n / log B1
//! ```
//!
//! where `rho` is Dickman's function: `rho(u) = 1` up to 1, and `u rho'(u) = -rho(u - 1)` above, so
//! `u rho(u)` is the integral of `rho` from `u - 1` to `u`. For small numbers the chance is a little
//! less than this limit: by an eighth near 10^7.
//!
//! **Cost**: 33 values of `rho`, which are interpolated in a table of 60 KB. The first call makes it.

use std::sync::LazyLock;

/// The values of the table for each unit of `u`.
const UNIT: usize = 256;

/// The values of `rho` up to 30, by the trapezoidal rule.
static RHO: LazyLock<[f64; 30 * UNIT + 1]> = LazyLock::new(|| {
    let mut values = [1.0; _];
    for i in UNIT + 1..values.len() {
        // The last trapezoid has the value itself, for which the equation is solved.
        let inner: f64 = values[i - UNIT + 1..i].iter().sum();
        values[i] = (values[i - UNIT] / 2.0 + inner) / (i as f64 - 0.5);
    }
    values
});

/// Dickman's function, or 0 from 30 on.
fn rho(u: f64) -> f64 {
    let place = u.max(0.0) * UNIT as f64;
    let i = place as usize;
    match RHO.get(i..i + 2) {
        Some(&[a, b]) => a + (b - a) * (place - i as f64),
        _ => 0.0,
    }
}

/// The chance that a number with this natural logarithm has no prime factor above `b1`, except for one
/// up to `b2`. A bound below 2 counts as 2.
///
/// ```
/// // A number of 60 bits has a chance of 1 in 21 to be without a prime above a million.
/// let chance = bigint_cpu::smooth::chance(60.0 * 2_f64.ln(), 1e6, 1e6);
/// assert!((chance - 0.0476).abs() < 0.001);
/// ```
pub fn chance(log: f64, b1: f64, b2: f64) -> f64 {
    /// The parabolas that the integral is summed from.
    const STEPS: u32 = 16;
    let first = b1.max(2.0).ln();
    // With w = log t, dt / (t log t) is dw / w. No prime factor is above the number.
    let last = b2.ln().min(log).max(first);
    let half = (last - first) / f64::from(2 * STEPS);
    let value = |i: u32| {
        let w = first + half * f64::from(i);
        rho((log - w) / first) / w
    };
    let inner: f64 = (1..2 * STEPS)
        .map(|i| f64::from(2 + 2 * (i % 2)) * value(i))
        .sum();
    let sum = (value(0) + inner + value(2 * STEPS)) * half / 3.0;
    (rho(log / first) + sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dickman_has_its_published_values() {
        for (u, value) in [
            (1.0, 1.0),
            (1.5, 0.594_534_9),
            (2.0, 0.306_852_8),
            (3.0, 0.048_608_39),
            (5.0, 3.547_247e-4),
        ] {
            assert!((rho(u) / value - 1.0).abs() < 1e-3, "{u}: {}", rho(u));
        }
    }

    #[test]
    fn smooth_numbers_are_as_many_as_trial_division_finds() {
        let all = 10_000_000..10_005_000;
        // Below 500^2 a number without a factor below 500 is prime.
        let is_smooth = |&n: &u32| {
            let mut left = n;
            for d in 2..500 {
                while left.is_multiple_of(d) {
                    left /= d;
                }
            }
            left <= 20_000
        };
        let found = all.clone().filter(is_smooth).count() as f64 / all.len() as f64;
        let expected = chance(1e7_f64.ln(), 500.0, 20_000.0);
        let off = expected / found - 1.0;
        assert!(off.abs() < 0.15, "{expected}, not {found}");
    }
}
