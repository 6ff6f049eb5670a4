//! The chance that a curve finds a factor, and the bounds for factors of so many digits.
//!
//! A curve finds `p` where its group's order modulo `p`, about `p` in size, is a product of primes up to
//! `B1` and one up to `B2`. The order is as smooth as a number of about `p / e`, with the product over all primes
//! `l` of `e = l^(v - 1 / (l - 1))`, where orders have on average `v` factors `l`, and numbers `1 / (l - 1)`.
//! `v` is from [Barbulescu 2012]. Of 300,000 and 500,000 random curves modulo primes of 20 to 30 bits, PARI's `ellcard`
//! has it as 3.336 and .678, and as 3.665 and 1.687:
//!
//! | family | `v` of 2 | `v` of 3 | `v` of each `l` from 5 on | `e` |
//! |---|---|---|---|---|
//! | parametrization 3 | 10/3 | 87/128 | `l (l^3 + l^2 - 2 l - 1) / ((l^2 - 1)^2 (l - 1))` | 7.72 |
//! | Edwards | 11/3 | 27/16 | the same | 29.4 |
//!
//! [`smooth::chance`] is that of numbers up to `x`. Numbers near `x` are smooth less often: as often as those
//! up to `x e^g`, with Euler's constant `g`. So the chance is that of the size `p e^g / e`.

use std::f64::consts::{LN_2, LN_10};

use bigint_cpu::smooth;

use crate::{Continuation, Family};

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// What primes from 5 on add to the logarithm of `e`.
const OF_OTHERS: f64 = 0.229_504;

/// The bounds and the number of curves of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Stage 1's bound.
    pub b1: u64,
    /// Stage 2's bound.
    pub b2: u64,
    /// On a processor, curves of [`Family::Edwards`] after which a factor of so many digits is found with a chance of 63 in 100; with
    /// those of [`Family::Param3`] it is 52 to 57.
    pub curves: u64,
}

/// GMP-ECM's table: digits, `B1`, `B2`, curves.
const TABLE: [(u32, u64, u64, u64); 11] = [
    (15, 2_000, 147_396, 25),
    (20, 11_000, 1_900_000, 74),
    (25, 50_000, 13_000_000, 221),
    (30, 250_000, 130_000_000, 453),
    (35, 1_000_000, 1_000_000_000, 984),
    (40, 3_000_000, 5_700_000_000, 2_541),
    (45, 11_000_000, 35_000_000_000, 4_949),
    (50, 43_000_000, 240_000_000_000, 8_266),
    (55, 110_000_000, 780_000_000_000, 20_158),
    (60, 260_000_000, 3_200_000_000_000, 47_173),
    (65, 850_000_000, 16_000_000_000_000, 77_666),
];

/// The time of stage 1 on a GPU for each unit of `B1`, in that of a prime of stage 2 by giant steps: .69 and .084 ns modulo
/// 506 bits on an NVIDIA H100.
const STAGE_1: f64 = 8.2;

/// The bits of the numbers for which bounds are chosen.
const BITS: u64 = 506;

/// The least and the greatest `B1` there: stage 2 has all of its baby steps from 2310 on.
const ON_DEVICE: std::ops::RangeInclusive<u64> = 2310..=4_000_000_000;

/// The binary logarithms of `B2 / B1` there.
const FARTHER: std::ops::RangeInclusive<u32> = 4..=14;

/// Curves that fill a device: 256 for each of 128 multiprocessors. Others than a multiple of that leave some without work.
const FILLING: u64 = 1 << 15;

/// How often curves fill a device.
const FILLINGS: std::ops::RangeInclusive<u64> = 1..=8;

/// The bounds for factors of so many digits: of GMP-ECM's table the next row.
///
/// ```
/// let bounds = ecm::bounds_for_digits(30);
/// assert_eq!((bounds.b1, bounds.b2, bounds.curves), (250_000, 130_000_000, 453));
/// ```
pub fn bounds_for_digits(digits: u32) -> Bounds {
    let &(_, b1, b2, curves) = row_of(digits);
    Bounds { b1, b2, curves }
}

/// The bounds for factors of so many digits on a device, which takes as long for one curve as for some ten thousand:
/// those with which such factors of numbers of 506 bits are found in the least time. There are 32,768 curves or a multiple of that, after
/// which a factor is found with a chance of 63 in 100 or more.
///
/// ```
/// use ecm::{Family, bounds_for_digits_on_device};
/// let bounds = bounds_for_digits_on_device(40, Family::Edwards);
/// assert_eq!((bounds.b2, bounds.curves), (32 * bounds.b1, 32_768));
/// assert!((700_000..800_000).contains(&bounds.b1));
/// ```
pub fn bounds_for_digits_on_device(digits: u32, family: Family) -> Bounds {
    let digits = f64::from(row_of(digits).0);
    let all = FILLINGS.flat_map(|times| FARTHER.map(move |log| (times * FILLING, log)));
    let least = all
        .filter_map(|(curves, log)| {
            let is_found = |b1| chance(family, digits, b1, b1 << log) * curves as f64 >= 1.0;
            let (mut low, mut high) = ON_DEVICE.into_inner();
            while low < high {
                let middle = low.midpoint(high);
                match is_found(middle) {
                    true => high = middle,
                    false => low = middle + 1,
                }
            }
            let bounds = Bounds {
                b1: low,
                b2: low << log,
                curves,
            };
            is_found(low).then(|| (time_on_device(bounds), bounds))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    least.expect("there are bounds").1
}

/// The time of all curves on a device, in that of a prime by giant steps.
fn time_on_device(Bounds { b1, b2, curves }: Bounds) -> f64 {
    let (_, stage_2) = Continuation::with_cost(true, BITS, b1, b2);
    curves as f64 * (STAGE_1 * b1 as f64 + stage_2)
}

/// The row for factors of so many digits.
fn row_of(digits: u32) -> &'static (u32, u64, u64, u64) {
    let row = TABLE.iter().find(|row| row.0 >= digits);
    row.unwrap_or(&TABLE[TABLE.len() - 1])
}

/// The chance that one curve finds a prime factor of so many digits: of about `10^(digits - 1/2)`, the middle of
/// such primes, which is what GMP-ECM tells of.
pub fn chance(family: Family, digits: f64, b1: u64, b2: u64) -> f64 {
    // The average numbers of factors 2 and 3.
    let (twos, threes) = match family {
        Family::Param3 => (10.0 / 3.0, 87.0 / 128.0),
        Family::Edwards => (11.0 / 3.0, 27.0 / 16.0),
    };
    let smoother = (twos - 1.0) * LN_2 + (threes - 0.5) * 3f64.ln() + OF_OTHERS;
    let size = (digits - 0.5) * LN_10 + EULER - smoother;
    smooth::chance(size, b1 as f64, b2.max(b1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GMP_ECM: [(u64, u64, f64, f64); 7] = [
        (50_000, 5_000_000, 35.0, 129_752.0),
        (50_000, 5_000_000, 40.0, 3_629_632.0),
        (250_000, 130_000_000, 35.0, 6_673.0),
        (250_000, 130_000_000, 40.0, 97_966.0),
        (1_000_000, 500_000_000, 35.0, 1_420.0),
        (1_000_000, 500_000_000, 40.0, 13_967.0),
        (1_000_000, 500_000_000, 45.0, 162_681.0),
    ];

    /// `ecm -v -param 3 B1 B2`, "Expected number of curves to find a factor of n digits"; with the
    /// extra factors of its stage 2 switched off.
    #[test]
    fn curves_are_as_many_as_gmp_ecm_expects() {
        for (b1, b2, digits, curves) in GMP_ECM {
            let ours = 1.0 / chance(Family::Param3, digits, b1, b2);
            assert!(
                (ours / curves - 1.0).abs() < 0.03,
                "{digits}: {ours}, not {curves}"
            );
        }
    }

    #[test]
    fn after_all_curves_the_chance_is_what_the_bounds_promise() {
        for digits in TABLE.map(|row| row.0) {
            let Bounds { b1, b2, curves } = bounds_for_digits(digits);
            let of = |family| {
                let none = 1.0 - chance(family, digits.into(), b1, b2);
                1.0 - none.powf(curves as f64)
            };
            let both = [of(Family::Edwards), of(Family::Param3)];
            assert!((0.63..0.67).contains(&both[0]), "{digits}: {both:?}");
            assert!((0.515..0.575).contains(&both[1]), "{digits}: {both:?}");
        }
    }

    /// Orders modulo random primes of 15 digits of 130,000 random curves of each family, by PARI's `ellcard`, that
    /// are a product of prime powers up to 2000 and of at most one prime up to 147,396. The chance is 2 and 6 %
    /// above that. Orders of starting points, which are less than their group's, and luck in stage 2 add 2 and
    /// 4 % to the hits: of 12,000 curves of each family, 326 where 320 groups are smooth, and 485 where 467 are.
    #[test]
    fn orders_that_pari_counts_are_as_smooth_as_the_chance_says() {
        for (family, smooth) in [(Family::Param3, 3_370.0), (Family::Edwards, 4_611.0)] {
            // Primes spread evenly: the mean over 10^14 to 10^15.
            let of = |i: u32| {
                let log = 14.0 + (1.0 + 9.0 * (f64::from(i) + 0.5) / 100.0).log10();
                chance(family, log + 0.5, 2_000, 147_396)
            };
            let expected = 1_300.0 * (0..100).map(of).sum::<f64>();
            let ratio = expected / smooth;
            assert!((0.98..1.08).contains(&ratio), "{family:?}: {ratio}");
        }
    }

    #[test]
    fn more_digits_take_higher_bounds_and_more_curves() {
        let all: Vec<_> = (1..70).map(bounds_for_digits).collect();
        assert!(all.is_sorted_by(|a, b| a.b1 <= b.b1 && a.b2 <= b.b2 && a.curves <= b.curves));
        assert_eq!(
            all[19],
            Bounds {
                b1: 11_000,
                b2: 1_900_000,
                curves: 74
            }
        );
    }

    #[test]
    fn bounds_of_a_device_fill_it_and_take_least_time() {
        for family in [Family::Edwards, Family::Param3] {
            let all = TABLE.map(|row| row.0);
            let bounds = all.map(|digits| bounds_for_digits_on_device(digits, family));
            assert!(bounds.is_sorted_by(|a, b| a.b1 <= b.b1 && a.b2 <= b.b2));
            for (digits, bounds) in all.into_iter().zip(bounds) {
                let Bounds { b1, b2, curves } = bounds;
                assert!(curves > 0 && curves.is_multiple_of(FILLING));
                let found = |b1, b2| {
                    let none = 1.0 - chance(family, digits.into(), b1, b2);
                    1.0 - none.powf(curves as f64)
                };
                assert!(found(b1, b2) > 0.632, "{digits}");
                if b1 == *ON_DEVICE.start() {
                    continue;
                }
                assert!(found(b1 - b1 / 100, b2) < 0.632, "{digits}");
                // More of one bound and less of the other, for the same chance, take no less time.
                for b2 in [b2 / 3, b2 * 3] {
                    let least = (1..200u64).map(|i| b1 / 2 + b1 * i / 100);
                    let least = least.into_iter().find(|&b1| found(b1, b2) > 0.633);
                    let other = least.map(|b1| time_on_device(Bounds { b1, b2, curves }));
                    let is_worse = other.is_none_or(|time| time > 0.99 * time_on_device(bounds));
                    assert!(is_worse, "{digits} {b2}");
                }
            }
        }
    }
}
