//! Stage 1 on twisted Edwards curves `-x^2 + y^2 = 1 + d x^2 y^2` ([which ones](crate::suyama)).
//!
//! Points are in the extended coordinates of [Hisil 2008], `(X : Y : Z)`
//! with `T = X Y / Z` where the next step is an addition. The scalar is written in digits that are odd, less
//! than `2^(w-1)` in magnitude, and 0 in between (`w`-NAF): a doubling for each bit, an addition of a
//! multiple from a table for about one bit in `w + 1`.
//!
//! Cost: three products and four squares a doubling, one more before an addition, seven an addition.

use bigint_host::advanced::Step;
use num_bigint::BigUint;

use crate::operations;
use crate::suyama::{self, Places};

/// The window `w` on the CPU, whose caches have no room for more than a table of 32 odd multiples.
pub const ON_CPU: u32 = 7;

/// The windows on a device.
const ON_DEVICE: std::ops::RangeInclusive<u32> = 4..=11;

/// The time in which a device makes an entry of the table, in that of a product: the numbers of a program's steps come from memory.
const OF_ENTRY: u64 = 30;

/// The window on a device of a scalar of so many bits: the one that takes least time.
pub fn window_on_device(bits: u64) -> u32 {
    let cost =
        |window: u32| 8 * bits / u64::from(window + 1) + OF_ENTRY * u64::from(entries(window));
    let least = ON_DEVICE.min_by_key(|&window| cost(window));
    least.expect("there are windows")
}

/// Entries of the table, odd multiples.
const fn entries(window: u32) -> u16 {
    1 << (window - 2)
}

/// Registers of the point `X, Y, Z, T`.
pub const POINT: [u16; 4] = [0, 1, 2, 3];

/// The register of `2 d P`.
pub const TWICE_D: u16 = 4;

/// The first of eight scratch registers.
pub const SCRATCH: u16 = 5;

/// The table's first register.
const TABLE: u16 = operations::TABLE as u16;
const _: () = assert!(TABLE == SCRATCH + 8 && suyama::GIVEN <= TABLE);
// The shortest table has room for what makes curves.
const _: () = assert!(suyama::SCRATCH <= CACHED * (entries(*ON_DEVICE.start()) + 1));

/// Registers of an entry.
const CACHED: u16 = operations::CACHED as u16;

/// `P` and `Q` of `(A + 2) / 4 = P / Q`, and 1: registers behind a table of odd multiples and of twice the point.
pub const fn kept(window: u32) -> [u16; 3] {
    let end = TABLE + CACHED * (entries(window) + 1);
    [end, end + 1, end + 2]
}

/// Registers in all.
pub const fn registers(window: u32) -> u16 {
    kept(window)[2] + 1
}

/// The digits of a scalar from the highest on: the doublings before each, and the digit; after the
/// last one, the doublings that remain with the digit 0.
pub fn digits(scalar: &BigUint, window: u32) -> Vec<(u32, i32)> {
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
        let digit = (0..u64::from(window))
            .map(|i| bit(at + i) << i)
            .sum::<u64>()
            + carry;
        let is_negative = digit >> (window - 1) & 1;
        found.push((at, digit as i32 - (is_negative << window) as i32));
        carry = is_negative;
        at += u64::from(window);
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

/// The steps that make the table of a curve's point of what [`Multiples::columns`](suyama::Multiples::columns) sets, and the neutral element.
///
/// The numbers of an entry are multiplied by `P`, as `d` is `(Q - P) / P`: coordinates of a sum are then multiplied by `P^2`.
pub fn table(window: u32) -> Vec<Step> {
    let entries = entries(window);
    let kept @ [of_p, _, one] = kept(window);
    let mut made = suyama::steps(&Places {
        point: POINT,
        twice: TWICE_D,
        kept,
        scratch: TABLE,
    });
    let steps = &mut made;
    let cache = |steps: &mut Vec<Step>, entry| cache(steps, entry, of_p);
    cache(steps, 0);
    double(steps, true);
    cache(steps, entries);
    // The point again, from its table: 3 P = 2 P + P, then 2 P more each time.
    add(steps, 0, false, true);
    for entry in 1..entries {
        cache(steps, entry);
        if entry + 1 < entries {
            add(steps, entries, false, true);
        }
    }
    let [x, y, z, t] = POINT;
    steps.extend([
        Step::Sub {
            r: x,
            a: one,
            b: one,
        },
        Step::Mul { r: x, a: x, b: one },
        Step::Copy { r: y, a: one },
        Step::Copy { r: z, a: one },
        Step::Copy { r: t, a: x },
    ]);
    made
}

/// Appends the steps of a digit and of the doublings before it.
pub fn digit(steps: &mut Vec<Step>, (doublings, digit): (u32, i32)) {
    for left in (0..doublings).rev() {
        double(steps, left == 0 && digit != 0);
    }
    if digit != 0 {
        add(steps, entry(digit), digit < 0, false);
    }
}

/// The entry of a digit.
pub fn entry(digit: i32) -> u16 {
    (digit.unsigned_abs() as u16 - 1) / 2
}

/// `Y - X, Y + X, 2 d T, 2 Z` of the point, times `P`, become an entry.
fn cache(steps: &mut Vec<Step>, entry: u16, of_p: u16) {
    let [x, y, z, t] = POINT;
    let at = TABLE + CACHED * entry;
    let [less, more, product, twice] = [at, at + 1, at + 2, at + 3];
    steps.extend([
        Step::Sub {
            r: less,
            a: y,
            b: x,
        },
        Step::Add {
            r: more,
            a: y,
            b: x,
        },
        Step::Add {
            r: twice,
            a: z,
            b: z,
        },
        Step::Mul {
            r: product,
            a: t,
            b: TWICE_D,
        },
    ]);
    steps.extend([less, more, twice].map(|r| Step::Mul { r, a: r, b: of_p }));
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
    let at = TABLE + CACHED * entry;
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
    fn digits_make_the_scalar_again() {
        for k in (1u32..3000).chain([u32::MAX, 1 << 31, 0x5555_5555, 0x8000_0001]) {
            for k in [
                BigUint::from(k),
                BigUint::from(k) << 70u8,
                BigUint::from(k).pow(9),
            ] {
                for window in [ON_CPU, 4, 11] {
                    let mut sum = num_bigint::BigInt::ZERO;
                    for (doublings, digit) in digits(&k, window) {
                        sum = (sum << doublings) + digit;
                        assert!(digit == 0 || digit % 2 != 0 && digit.abs() < 1 << (window - 1));
                    }
                    assert_eq!(sum, k.clone().into());
                }
            }
        }
    }

    #[test]
    fn longer_scalars_take_wider_windows() {
        let windows = [10, 300, 14_000, 30_000, 144_000, 10_000_000].map(window_on_device);
        assert!(windows.is_sorted());
        assert_eq!((windows[0], windows[5]), (4, 11));
    }
}
