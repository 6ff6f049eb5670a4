//! Stage 1 on twisted Edwards curves `-x^2 + y^2 = 1 + d x^2 y^2` with six torsion
//! points, the family "Suyama-11" of [Barbulescu 2012].
//!
//! The curve `y^2 = x^3 - 9747 x + 285714` has rank 1 and the generator `G = (15, 378)`. A multiple
//! `(x, y)` of it gives Suyama's parameter `(213 - x) / (x + 3)` and the square root that brings the
//! curve into the form with `a = -1`:
//!
//! ```text
//! u = s^2 - 5, v = 4 s, A + 2 = (v - u)^3 (3 u + v) / (4 u^3 v), X = u^3 / v^3
//! t = 144 y / (x + 3)^2, Y = (s - 1) (s + 5) u^3 (s^2 + 5) / (128 s^4 t)
//! d = -(A - 2) / (A + 2), the point (X / Y, (X - 1) / (X + 1))
//! ```
//!
//! Points are in the extended coordinates of Hisil, Wong, Carter and Dawson (ASIACRYPT 2008), `(X : Y : Z)`
//! with `T = X Y / Z` where the next step is an addition. The scalar is written in digits that are odd, less
//! than `2^(w-1)` in magnitude, and 0 in between (`w`-NAF): a doubling for each bit, an addition of a
//! multiple from a table for about one bit in `w + 1`.
//!
//! Cost: three products and four squares a doubling, one more before an addition, seven an addition.

use bigint_host::advanced::Step;
use num_bigint::BigUint;

use crate::modular::{inverse, sub};

/// The window: a table of `2^(WINDOW - 2)` odd multiples.
const WINDOW: u32 = 7;

/// Entries of the table.
const ENTRIES: u16 = 1 << (WINDOW - 2);

/// Registers of the point `X, Y, Z, T`.
pub const POINT: [u16; 4] = [0, 1, 2, 3];

/// The register of `2 d`.
pub const TWICE_D: u16 = 4;

/// The first of eight scratch registers.
const SCRATCH: u16 = 5;

/// The table's first register; four for each entry, and for twice the point.
const TABLE: u16 = SCRATCH + 8;

/// Registers in all.
pub const REGISTERS: u16 = TABLE + 4 * (ENTRIES + 1);

/// A curve and its point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The point's `x`.
    pub x: BigUint,
    /// The point's `y`.
    pub y: BigUint,
    /// The curve's `d`.
    pub d: BigUint,
    /// `(A + 2) / 4`.
    pub a24: BigUint,
}

/// The affine sum of two points of `y^2 = x^3 - 9747 x + 285714`.
fn sum([x, y]: &[BigUint; 2], [u, v]: &[BigUint; 2], n: &BigUint) -> Result<[BigUint; 2], BigUint> {
    let slope = if x == u && y == v {
        let top = sub(&(x * x * 3u8 % n), &(BigUint::from(9747u32) % n), n);
        top * inverse(&(y * 2u8 % n), n)? % n
    } else {
        sub(y, v, n) * inverse(&sub(x, u, n), n)? % n
    };
    let third = sub(&sub(&(&slope * &slope % n), x, n), u, n);
    let height = sub(&(slope * sub(x, &third, n) % n), y, n);
    Ok([third, height])
}

/// Curve `sigma`, from 2 on, modulo an odd number; or a divisor of the number.
pub fn start(sigma: u64, n: &BigUint) -> Result<Start, BigUint> {
    let number = |k: u32| BigUint::from(k) % n;
    let generator = [number(15), number(378)];
    let mut multiple = generator.clone();
    for bit in (0..sigma.ilog2()).rev() {
        multiple = sum(&multiple, &multiple, n)?;
        if sigma >> bit & 1 == 1 {
            multiple = sum(&multiple, &generator, n)?;
        }
    }
    let [x, y] = multiple;
    let cube = |k: &BigUint| k * k % n * k % n;
    let below = inverse(&((&x + 3u8) % n), n)?;
    let s = sub(&number(213), &x, n) * &below % n;
    let square = &s * &s % n;
    let (u, v) = (sub(&square, &number(5), n), &s * 4u8 % n);
    let of_curve = inverse(&(cube(&u) * &v * 4u8 % n), n)?;
    let a_and_2 = cube(&sub(&v, &u, n)) * (&u * 3u8 + &v) % n * of_curve % n;
    let point = cube(&u) * inverse(&cube(&v), n)? % n;
    let root = y * 144u8 * &below % n * below % n;
    let height = sub(&s, &number(1), n) * (&s + 5u8) % n * cube(&u) % n * (&square + 5u8) % n;
    let height = height * inverse(&(&square * &square % n * root * 128u8 % n), n)? % n;
    let ratio = inverse(&a_and_2, n)?;
    Ok(Start {
        x: &point * inverse(&height, n)? % n,
        y: sub(&point, &number(1), n) * inverse(&((&point + 1u8) % n), n)? % n,
        d: sub(&(ratio * 4u8 % n), &number(1), n),
        a24: a_and_2 * inverse(&number(4), n)? % n,
    })
}

/// The digits of a scalar from the highest on: the doublings before each, and the digit; after the
/// last one, the doublings that remain with the digit 0.
pub fn digits(scalar: &BigUint) -> Vec<(u32, i32)> {
    let words = scalar.to_u64_digits();
    let bit = |i: u64| {
        words
            .get((i / 64) as usize)
            .map_or(0, |word| word >> (i % 64) & 1)
    };
    let (mut at, mut carry, bits) = (0u64, 0u64, scalar.bits());
    let mut found: Vec<(u64, i32)> = Vec::new();
    while at < bits || carry > 0 {
        if (bit(at) + carry) & 1 == 0 {
            // 1 + 1 hands the carry on.
            at += 1;
            continue;
        }
        let window = (0..u64::from(WINDOW))
            .map(|i| bit(at + i) << i)
            .sum::<u64>()
            + carry;
        let is_negative = window >> (WINDOW - 1) & 1;
        found.push((at, window as i32 - (is_negative << WINDOW) as i32));
        carry = is_negative;
        at += u64::from(WINDOW);
    }
    let mut above = found.last().map_or(0, |(at, _)| *at);
    let mut digits = Vec::new();
    for &(at, digit) in found.iter().rev() {
        digits.push(((above - at) as u32, digit));
        above = at;
    }
    digits.push((above as u32, 0));
    digits
}

/// Appends the steps that make the table of the point `(X, Y)` with `Z = 1` in the point's
/// registers, and leave the neutral element's `(0 : 1 : 1)`, `T = 0`, to be set there.
pub fn table(steps: &mut Vec<Step>) {
    let [x, y, _, t] = POINT;
    steps.push(Step::Mul { r: t, a: x, b: y });
    cache(steps, 0);
    double(steps, true);
    cache(steps, ENTRIES);
    // The point again, from its table: 3 P = 2 P + P, then 2 P more each time.
    add(steps, 0, false, true);
    for entry in 1..ENTRIES {
        cache(steps, entry);
        if entry + 1 < ENTRIES {
            add(steps, ENTRIES, false, true);
        }
    }
}

/// Appends the steps of a digit and of the doublings before it.
pub fn digit(steps: &mut Vec<Step>, (doublings, digit): (u32, i32)) {
    for left in (0..doublings).rev() {
        double(steps, left == 0 && digit != 0);
    }
    if digit != 0 {
        let entry = (digit.unsigned_abs() as u16 - 1) / 2;
        add(steps, entry, digit < 0, false);
    }
}

/// `Y - X, Y + X, 2 d T, 2 Z` of the point become an entry.
fn cache(steps: &mut Vec<Step>, entry: u16) {
    let [x, y, z, t] = POINT;
    let at = TABLE + 4 * entry;
    steps.extend([
        Step::Sub { r: at, a: y, b: x },
        Step::Add {
            r: at + 1,
            a: y,
            b: x,
        },
        Step::Mul {
            r: at + 2,
            a: t,
            b: TWICE_D,
        },
        Step::Add {
            r: at + 3,
            a: z,
            b: z,
        },
    ]);
}

fn double(steps: &mut Vec<Step>, with_t: bool) {
    let [x, y, z, t] = POINT;
    let [a, b, c, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6].map(|i| SCRATCH + i);
    steps.extend([
        Step::square(a, x),
        Step::square(b, y),
        Step::Add { r: e, a: x, b: y },
        Step::square(e, e),
        Step::square(c, z),
        Step::Add { r: c, a: c, b: c },
        Step::Add { r: h, a, b },
        Step::Sub { r: g, a, b },
        Step::Sub { r: e, a: h, b: e },
        Step::Add { r: f, a: g, b: c },
        Step::Mul { r: x, a: e, b: f },
        Step::Mul { r: y, a: g, b: h },
        Step::Mul { r: z, a: f, b: g },
    ]);
    if with_t {
        steps.push(Step::Mul { r: t, a: e, b: h });
    }
}

fn add(steps: &mut Vec<Step>, entry: u16, is_negative: bool, with_t: bool) {
    let [x, y, z, t] = POINT;
    let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| SCRATCH + i);
    let at = TABLE + 4 * entry;
    let (less, more, f, g) = match is_negative {
        false => (at, at + 1, f, g),
        true => (at + 1, at, g, f),
    };
    steps.extend([
        Step::Sub { r: a, a: y, b: x },
        Step::Mul { r: a, a, b: less },
        Step::Add { r: b, a: y, b: x },
        Step::Mul {
            r: b,
            a: b,
            b: more,
        },
        Step::Mul {
            r: c,
            a: t,
            b: at + 2,
        },
        Step::Mul {
            r: d,
            a: z,
            b: at + 3,
        },
        Step::Sub { r: e, a: b, b: a },
        Step::Add { r: h, a: b, b: a },
        Step::Sub { r: f, a: d, b: c },
        Step::Add { r: g, a: d, b: c },
        Step::Mul {
            r: x,
            a: e,
            b: SCRATCH + 5,
        },
        Step::Mul {
            r: y,
            a: SCRATCH + 6,
            b: h,
        },
        Step::Mul {
            r: z,
            a: SCRATCH + 5,
            b: SCRATCH + 6,
        },
    ]);
    if with_t {
        steps.push(Step::Mul { r: t, a: e, b: h });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_is_on_the_curve_for_every_multiple() {
        let n = (BigUint::from(1u8) << 127u8) - 1u8;
        for sigma in [2, 3, 4, 5, 100, u64::MAX] {
            let Start { x, y, d, a24 } = start(sigma, &n).unwrap();
            let (xx, yy) = (&x * &x % &n, &y * &y % &n);
            assert_eq!(
                (&yy + &n - &xx) % &n,
                (d.clone() * xx * yy + 1u8) % &n,
                "{sigma}"
            );
            // d = -(A - 2) / (A + 2) = 1 / a24 - 1.
            assert_eq!((d + 1u8) * a24 % &n, BigUint::from(1u8));
        }
    }

    #[test]
    fn digits_make_the_scalar_again() {
        for k in (1u32..3000).chain([u32::MAX, 1 << 31, 0x5555_5555, 0x8000_0001]) {
            for k in [
                BigUint::from(k),
                BigUint::from(k) << 70u8,
                BigUint::from(k).pow(9),
            ] {
                let mut sum = num_bigint::BigInt::ZERO;
                for (doublings, digit) in digits(&k) {
                    sum = (sum << doublings) + digit;
                    assert!(digit == 0 || digit % 2 != 0 && digit.abs() < 1 << (WINDOW - 1));
                }
                assert_eq!(sum, k.into());
            }
        }
    }
}
