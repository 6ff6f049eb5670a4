//! Roots of unity, and the kernels' table of them.

use super::rings::RingPlan;
use super::{LANES, Plan};

/// The number `pi/2`, in units of 2^-63.
const QUARTER: u64 = 0xc90f_daa2_2168_c235;

/// The real and the imaginary part of the point at `numerator / 2^log` turns on the unit
/// circle, each within 2^-54 + 2^-60 of the exact value. `log` is at most 61.
///
/// Symmetry reduces the angle to at most half a quadrant. There the series of sine and cosine
/// are evaluated in integers, in units of 2^-64. As `x x / 2 < 0.31`, the errors of the steps,
/// each of them below three units, sum to less than 5 units for the whole series; the error of
/// the angle is below 2. The last step rounds to nearest, which for values below 1 is off by at
/// most 2^-54.
///
/// ```
/// use bigint_core::transform::root;
/// assert_eq!(root(0, 3), [1.0, 0.0]);
/// assert_eq!(root(1, 2), [0.0, 1.0]);
/// assert_eq!(root(3, 3), [-0.5f64.sqrt(), 0.5f64.sqrt()]);
/// assert_eq!(root(5, 2), root(1, 2));
/// ```
pub const fn root(numerator: u64, log: u32) -> [f64; 2] {
    let numerator = numerator & ((1 << log) - 1);
    at(if log == 0 { 0 } else { numerator << (64 - log) })
}

/// The point at `numerator / denominator` turns, as near as [`root`]'s: the angle is off by another
/// `pi` units of 2^-64.
///
/// ```
/// use bigint_core::transform::{root, root_of};
/// assert_eq!(root_of(7, 28), root(1, 2));
/// assert!((root_of(1, 3)[0] + 0.5).abs() < 1e-15);
/// ```
pub const fn root_of(numerator: u64, denominator: u64) -> [f64; 2] {
    let (numerator, denominator) = (numerator % denominator, denominator as u128);
    let turn = (((numerator as u128) << 64) + denominator / 2) / denominator;
    at(turn as u64)
}

/// The point at `turn` turns, in units of 2^-64. The upper two bits are the quadrant.
const fn at(turn: u64) -> [f64; 2] {
    let (quadrant, within) = (turn >> 62, turn << 2);
    let is_upper = within > 1 << 63;
    let part = if is_upper {
        within.wrapping_neg()
    } else {
        within
    };
    let angle = ((part as u128 * QUARTER as u128) >> 63) as u64;
    let [cosine, sine] = cosine_and_sine(angle);
    let [x, y] = if is_upper {
        [sine, cosine]
    } else {
        [cosine, sine]
    };
    match quadrant {
        0 => [x, y],
        1 => [-y, x],
        2 => [-x, -y],
        _ => [y, -x],
    }
}

/// The cosine and the sine of an angle in units of 2^-64, at most pi/4.
const fn cosine_and_sine(angle: u64) -> [f64; 2] {
    const ONE: u128 = 1 << 64;
    let square = (angle as u128 * angle as u128) >> 64;
    // The cosine is 1 - x x / (1 2) (1 - x x / (3 4) (1 - ...)), the sine x times such a
    // series.
    let (mut cosine, mut sine) = (ONE, ONE);
    let mut k: u128 = 26;
    while k > 0 {
        cosine = ONE - ((square * cosine) >> 64) / (k * (k - 1));
        sine = ONE - ((square * sine) >> 64) / (k * (k + 1));
        k -= 2;
    }
    let sine = (angle as u128 * sine) >> 64;
    const UNIT: f64 = 1.0 / ONE as f64;
    [cosine as f64 * UNIT, sine as f64 * UNIT]
}

/// Fills the table of the roots of all plans. It has [`ROOTS`](super::ROOTS) entries, each
/// `[re, im]`.
///
/// A node of a pass with `n` nodes stands for `x^m - e(t)` with `t = (1/4 + r) / n`
/// (`place` has its `r`). Its forward roots are that of its own split, `e(t/2)`, and those of the
/// splits below it that do not follow by a multiplication by `i`: `e(t/4)`, then `e(t/8)` and
/// `e(t/8 + 1/8)`, then `e(t/16 + g/16)` for `g` = 0, 2, 1, 3. On the way back, a pass of radix `R`
/// multiplies value `k` by `e(-k t / R)`. In the last pass, two levels that end in products modulo
/// `x^4 - z` take `e(t/2)`, `e(t/4)` and `e(3 t / 4)`; one level takes `e(t/2)`.
pub fn fill_roots(table: &mut [[f64; 2]]) {
    for lanes in LANES {
        let plan = Plan::of(lanes);
        for (pass, radix) in [plan.first, plan.middle].into_iter().enumerate() {
            let inverse = |turn, t, j| inverse_root(radix, turn, t, j);
            let (roots, at) = (plan.forward_roots(pass), plan.forward_at(pass));
            fill(
                &mut table[at as usize..],
                &plan,
                (pass, 4),
                roots,
                forward_root,
            );
            let (roots, at) = (plan.inverse_roots(pass), plan.inverse_at(pass));
            fill(&mut table[at as usize..], &plan, (pass, 4), roots, inverse);
        }
        let (roots, at) = (plan.forward_roots(2), plan.forward_at(2));
        fill(&mut table[at as usize..], &plan, (2, 4), roots, last_root);
    }
}

/// Fills the table of the roots of one plan for the ring `x^L - e(1 / order)`.
pub(super) fn fill_ring(table: &mut [[f64; 2]], ring_plan: RingPlan, order: u32) {
    let plan = ring_plan.plan();
    let mut fill_at = |at: u32, pass, roots, of: &dyn Fn(u64, u64, u32) -> [f64; 2]| {
        let at = (at - plan.forward_at(0)) as usize;
        fill(&mut table[at..], &plan, (pass, order), roots, of);
    };
    let first = ring_plan.first_up_at() - ring_plan.first_down_at();
    fill_at(ring_plan.first_down_at(), 0, first, &forward_root);
    for pass in [1, 2] {
        let of: &dyn Fn(u64, u64, u32) -> [f64; 2] =
            if pass == 1 { &forward_root } else { &last_root };
        fill_at(plan.forward_at(pass), pass, plan.forward_roots(pass), of);
    }
    for (pass, radix, at) in [
        (0, plan.first, ring_plan.first_up_at()),
        (1, plan.middle, plan.inverse_at(1)),
    ] {
        let inverse = |turn, t, j| inverse_root(radix, turn, t, j);
        fill_at(at, pass, radix - 1, &inverse);
    }
}

/// Root `j` of the last pass of a node `x^m - e(t / turn)`.
const fn last_root(turn: u64, t: u64, j: u32) -> [f64; 2] {
    match j {
        0 => root_of(t, 2 * turn),
        _ => root_of(t * (2 * j as u64 - 1), 4 * turn),
    }
}

/// Forward root `j` of a node `x^m - e(t / turn)`.
const fn forward_root(turn: u64, t: u64, j: u32) -> [f64; 2] {
    match j {
        0 => root_of(t, 2 * turn),
        1 => root_of(t, 4 * turn),
        2 | 3 => root_of(t + (j as u64 - 2) * turn, 8 * turn),
        _ => {
            let sixteenths = [0, 2, 1, 3][j as usize - 4];
            root_of(t + sixteenths * turn, 16 * turn)
        }
    }
}

/// The factor of value `j + 1` in a pass of radix `radix` on the way back to a node `x^m - e(t / turn)`.
const fn inverse_root(radix: u32, turn: u64, t: u64, j: u32) -> [f64; 2] {
    let [re, im] = root_of(t * (j as u64 + 1), turn * radix as u64);
    [re, -im]
}

/// Fills places `j n + b` with root `j` of node `b` of the `n` nodes of a pass, which is
/// `of(order n, 1 + order r, j)`, in the ring `x^L - e(1 / order)`.
fn fill(
    table: &mut [[f64; 2]],
    plan: &Plan,
    (pass, order): (usize, u32),
    roots: u32,
    of: impl Fn(u64, u64, u32) -> [f64; 2],
) {
    let (nodes, order) = (plan.nodes(pass), u64::from(order));
    for j in 0..roots {
        for b in 0..nodes {
            let t = 1 + order * u64::from(place(plan, pass, b));
            table[(j * nodes + b) as usize] = of(order * u64::from(nodes), t, j);
        }
    }
}

/// The place `r` among the points of the unit circle of node `node` of pass `pass`. Child `c` of place
/// `r` among `n` has place `r + n c`; children of a radix that is a power of two stand in the order of
/// their index with its bits reversed.
fn place(plan: &Plan, pass: usize, node: u32) -> u32 {
    let above = &[plan.parts, plan.first, plan.middle][..=pass];
    let step = |(r, node): (u32, u32), radix: &u32| {
        let index = node % radix;
        let child = match radix.is_power_of_two() {
            // Radix 1 has no bits to reverse.
            true => index.reverse_bits().checked_shr(32 - radix.ilog2()),
            false => Some(index),
        };
        (child.unwrap_or(0) + radix * r, node / radix)
    };
    above.iter().rev().fold((0, node), step).0
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn roots_are_those_of_the_library_but_for_a_unit_and_symmetric() {
        for log in [3, 7, 12, 20, 40] {
            let step = (1_u64 << log).div_ceil(4001).max(1);
            for numerator in (0..1 << log).step_by(step as usize) {
                let [re, im] = root(numerator, log);
                let angle = TAU * numerator as f64 / (1_u64 << log) as f64;
                assert!((re - angle.cos()).abs() < 1e-15, "{numerator}/2^{log}");
                assert!((im - angle.sin()).abs() < 1e-15, "{numerator}/2^{log}");
                let opposite = root(numerator + (1 << (log - 1)), log);
                assert_eq!(opposite, [-re, -im]);
            }
        }
    }

    #[test]
    fn roots_of_any_order_are_those_of_the_library_but_for_a_unit() {
        for odd in [3, 5, 7] {
            for log in [1, 5, 12] {
                let denominator = odd << log;
                for numerator in 0..denominator {
                    let [re, im] = root_of(numerator, denominator);
                    let angle = TAU * numerator as f64 / denominator as f64;
                    assert!(
                        (re - angle.cos()).abs() < 2e-15,
                        "{numerator}/{denominator}"
                    );
                    assert!(
                        (im - angle.sin()).abs() < 2e-15,
                        "{numerator}/{denominator}"
                    );
                    if numerator % odd == 0 {
                        assert_eq!([re, im], root(numerator / odd, log));
                    }
                }
            }
        }
    }

    /// Each node of a pass stands for a point of its own, and the points of all are those of
    /// `x^n - i`.
    #[test]
    fn nodes_have_all_places_and_children_are_roots_of_their_parent() {
        for plan in LANES.map(Plan::of) {
            for pass in 0..3 {
                let nodes = plan.nodes(pass);
                let mut is_taken = std::vec![false; nodes as usize];
                for node in 0..nodes {
                    let r = place(&plan, pass, node);
                    assert!(!std::mem::replace(&mut is_taken[r as usize], true));
                    if pass > 0 {
                        let radix = [plan.first, plan.middle][pass - 1];
                        let parent = place(&plan, pass - 1, node / radix);
                        assert_eq!(r % (nodes / radix), parent);
                    }
                }
            }
        }
    }

    /// The norm `|w|^2`, computed without rounding, is as near 1 as the stated distance of a
    /// root from its exact point implies.
    #[test]
    fn roots_are_as_near_as_stated() {
        let near = (-54f64).exp2() + (-60f64).exp2();
        for log in [5, 9, 15] {
            for numerator in 0..1 << log {
                let [x, y] = root(numerator, log);
                // A square as the rounded product and the part that rounding took from it.
                let exact_square = |a: f64| (a * a, a.mul_add(a, -(a * a)));
                let ((xx, dx), (yy, dy)) = (exact_square(x), exact_square(y));
                let (high, low) = (xx.max(yy), xx.min(yy));
                // `high - 1` is exact by Sterbenz's lemma, as high >= 1/2. The sum is below
                // 2^-50.
                let off = (high - 1.0) + low + dx + dy;
                assert!(
                    off.abs() <= 2.0 * 1.415 * near,
                    "{numerator}/2^{log}: {off:e}"
                );
            }
        }
    }
}
