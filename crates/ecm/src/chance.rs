//! The chance that a curve finds a factor, and the bounds for factors of so many digits.
//!
//! A curve finds `p` where its group's order modulo `p`, about `p` in size, is a product of primes up to
//! `B1` and one up to `B2`. The order is as smooth as a number of about `p / e`. What GMP-ECM expects of
//! its curves is met with `e` = 40 for Suyama's (parametrization 0) and a third of that for
//! parametrization 3; orders of the Edwards family have on average a factor 2^(1/3) more than Suyama's.
//! With Dickman's `rho` and `u = log(p / e) / log B1`,
//!
//! ```text
//! chance = rho(u) + integral over t from B1 to B2 of rho(u - log t / log B1) / (t log t)
//! ```

use crate::Family;

/// The bounds and the number of curves of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Stage 1's bound.
    pub b1: u64,
    /// Stage 2's bound.
    pub b2: u64,
    /// Curves after which a factor of so many digits is found with a chance of 63 in 100.
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

/// Baby and giant steps pay up to so many times `B1`.
const FARTHEST: u64 = 520;

/// The bounds for factors of so many digits: of GMP-ECM's table the next row. Where its `B2` is above
/// 520 `B1`, for which GMP-ECM has polynomials, it is less here, and there are more curves.
///
/// ```
/// let bounds = ecm::bounds_for_digits(30);
/// assert_eq!((bounds.b1, bounds.b2, bounds.curves), (250_000, 130_000_000, 453));
/// ```
pub fn bounds_for_digits(digits: u32) -> Bounds {
    let row = TABLE.iter().find(|row| row.0 >= digits);
    let &(digits, b1, far, curves) = row.unwrap_or(&TABLE[TABLE.len() - 1]);
    let b2 = far.min(FARTHEST * b1);
    let of = |b2| chance(Family::Param3, f64::from(digits), b1, b2);
    let curves = if b2 == far {
        curves
    } else {
        (curves as f64 * of(far) / of(b2)).ceil() as u64
    };
    Bounds { b1, b2, curves }
}

/// The chance that one curve finds a prime factor of so many digits.
pub fn chance(family: Family, digits: f64, b1: u64, b2: u64) -> f64 {
    let smoother: f64 = match family {
        Family::Param3 => 40.0 / 3.0,
        Family::Edwards => 40.0 * 2f64.cbrt(),
    };
    let size = digits * std::f64::consts::LN_10 - smoother.ln();
    let log = (b1.max(2) as f64).ln();
    let rho = Rho::new();
    let u = size / log;
    let last = (b2.max(b1).max(2) as f64).ln();
    // With w = log t, dt / (t log t) is dw / w.
    let steps = 400;
    let width = (last - log) / f64::from(steps);
    let at = |i: u32| log + width * f64::from(i);
    let value = |w: f64| rho.at(u - w / log) / w;
    let sum: f64 = (0..steps)
        .map(|i| (value(at(i)) + 4.0 * value(at(i) + width / 2.0) + value(at(i + 1))) * width / 6.0)
        .sum();
    (rho.at(u) + sum).min(1.0)
}

/// Dickman's function: 1 up to 1, and `u rho'(u) = -rho(u - 1)` from there on.
struct Rho(Vec<f64>);

/// Values of a unit.
const UNIT: usize = 256;

impl Rho {
    fn new() -> Self {
        let mut values = vec![1.0; UNIT + 1];
        for i in UNIT + 1..=UNIT * 30 {
            // u rho(u) is the integral of rho from u - 1 to u; by trapezia, with the last one solved for.
            let u = i as f64 / UNIT as f64;
            let inner: f64 = values[i - UNIT + 1..i].iter().sum();
            let sum = (values[i - UNIT] / 2.0 + inner) / UNIT as f64;
            values.push(sum / (u - 0.5 / UNIT as f64));
        }
        Rho(values)
    }

    fn at(&self, u: f64) -> f64 {
        let place = u.max(0.0) * UNIT as f64;
        let i = place as usize;
        match self.0.get(i..i + 2) {
            Some(&[a, b]) => a + (b - a) * (place - i as f64),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dickman_has_its_published_values() {
        let rho = Rho::new();
        for (u, value) in [
            (1.5, 0.594_534_9),
            (2.0, 0.306_852_8),
            (3.0, 0.048_608_39),
            (5.0, 3.547_247e-4),
        ] {
            assert!((rho.at(u) / value - 1.0).abs() < 1e-3, "{u}: {}", rho.at(u));
        }
    }

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
