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

use crate::Family;

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

/// `B2` by giant steps on a GPU, in `B1`. On an NVIDIA H100 a curve modulo 506 bits takes .69 ns for each unit of `B1`, and .084 for
/// each prime of stage 2: 35 to 50 digits take least time between 30 and 100 `B1`, and 1.8 times that at 520.
const FARTHEST_ON_DEVICE: u64 = 60;

/// The least `B1` there: stage 2 has all of its baby steps from 2310 on.
const LEAST_ON_DEVICE: u64 = 2310;

/// Curves that fill a device: 256 for each of 128 multiprocessors.
const FILLING: u64 = 1 << 15;

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
/// there are 32,768 curves or more, and `B1` is less where GMP-ECM's table has fewer. `B2` is 60 `B1`. After
/// so many curves of [`Family::Param3`] a factor is found with a chance of 63 in 100.
///
/// ```
/// let bounds = ecm::bounds_for_digits_on_device(55);
/// assert_eq!((bounds.b1, bounds.b2, bounds.curves), (110_000_000, 6_600_000_000, 63_747));
/// let bounds = ecm::bounds_for_digits_on_device(35);
/// assert!(bounds.b1 < 200_000 && (32_768..32_800).contains(&bounds.curves));
/// ```
pub fn bounds_for_digits_on_device(digits: u32) -> Bounds {
    let &(digits, of_table, ..) = row_of(digits);
    let of = |b1: u64| {
        let b2 = FARTHEST_ON_DEVICE * b1;
        let curves = 1.0 / chance(Family::Param3, f64::from(digits), b1, b2);
        let curves = curves.ceil() as u64;
        Bounds { b1, b2, curves }
    };
    let (mut low, mut high) = (LEAST_ON_DEVICE, of_table.max(LEAST_ON_DEVICE));
    // The greatest bound that leaves so many curves.
    while low < high {
        let middle = (low + high).div_ceil(2);
        match of(middle).curves >= FILLING {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    of(low)
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
}
