//! Bounds of P-1 by what it costs and what it saves.
//!
//! **Chances.** Of the numbers `2^p - 1` one in `x` has a factor between `2^x` and `2^(x + 1)`. P-1 finds
//! a factor `q = 2 k p + 1` if `k` has no prime factor above `B1`, except for one up to `B2`, for which
//! [`smooth::chance`] is the chance.
//!
//! **Costs**, in squarings: `1.44 B1` for the first stage, a product for each prime from `B1` to `B2` for
//! the second. A test takes `p`. The bounds are those for which the tests that are saved, on average, less
//! the cost, are the most.

use bigint_cpu::smooth;

use crate::{PMinus1, Stage2};

/// The bounds `B1` and `B2` that save the most squarings for `2^p - 1`, which has no factor below
/// `2^bits`, where a factor saves so many tests; `None` where no bounds save any.
///
/// ```
/// let (b1, b2) = mersenne::bounds(118_845_473, 77, 1.3).unwrap();
/// assert!((200_000..2_000_000).contains(&b1) && b2 > 10 * u64::from(b1));
/// assert_eq!(mersenne::bounds(1277, 90, 1.0), None);
/// ```
pub fn bounds(p: u32, bits: u32, tests: f64) -> Option<(u32, u64)> {
    let gain = |b1: f64, b2: f64| {
        let saved = chance(p, bits, b1, b2) * tests * f64::from(p);
        saved - cost(b1, b2)
    };
    let mut best = (0.0, None);
    // Steps of a tenth, from 100 on.
    for i in 0..170 {
        let b1 = (100.0 * 1.1f64.powi(i)).round();
        if b1 > f64::from(PMinus1::GREATEST_BOUND) {
            break;
        }
        for times in (0..13).map(|j| 1.5f64.powi(j)) {
            let b2 = (b1 * times).round();
            let found = gain(b1, b2);
            if found > best.0 && b2 <= Stage2::GREATEST_BOUND as f64 {
                best = (found, Some((b1 as u32, b2 as u64)));
            }
        }
    }
    best.1
}

/// The squarings that both stages take.
fn cost(b1: f64, b2: f64) -> f64 {
    let primes = |bound: f64| bound / (bound.ln() - 1.0);
    b1 / std::f64::consts::LN_2 + primes(b2) - primes(b1)
}

/// The chance that both stages find a factor from `2^bits` on.
fn chance(p: u32, bits: u32, b1: f64, b2: f64) -> f64 {
    // Factors half a bit at a time, to where there are hardly any that are smooth.
    let step = 0.5;
    let sizes = (0..120).map(|i| f64::from(bits.max(1)) + step * f64::from(i));
    let of_size = |size: f64| {
        let k = (size + step / 2.0) * std::f64::consts::LN_2 - (2.0 * f64::from(p)).ln();
        step / (size + step) * smooth::chance(k.max(0.0), b1, b2)
    };
    let none = sizes.fold(1.0, |none, size| none * (1.0 - of_size(size)));
    1.0 - none
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_save_more_than_their_neighbours_and_grow_with_the_tests_saved() {
        let mut last = 0;
        for tests in [0.5, 1.0, 1.3, 2.0, 4.0] {
            let (b1, b2) = bounds(110_503_007, 77, tests).unwrap();
            assert!(b1 >= last);
            last = b1;
            let gain = |b1: f64, b2: f64| {
                chance(110_503_007, 77, b1, b2) * tests * 110_503_007.0 - cost(b1, b2)
            };
            let (b1, b2) = (f64::from(b1), b2 as f64);
            let best = gain(b1, b2);
            assert!(best > 0.0);
            for (x, y) in [(1.5, 1.0), (1.0 / 1.5, 1.0), (1.0, 2.0), (1.0, 0.5)] {
                assert!(gain(b1 * x, b2 * y) < best);
            }
        }
    }
}
