//! Stage 1 of GMP-ECM's parametrization 3, by Montgomery's ladder.
//!
//! With `P = (2 : 1)` and `d = (A + 2) / 4 = sigma / 2^32`, the ladder has `(q : u) = k P` and
//! `(w : v) = (k + 1) P`, and for each bit of the scalar after the first doubles one of them and adds
//! both. Their difference is `P`, so that the sum needs no product by its `z`, 1, and a doubling by its
//! `x`, 2:
//!
//! ```text
//! s = v + w, f = v - w, a = u + q, e = u - q      CB = s e, DA = f a, AA = a^2, BB = e^2
//! q' = AA BB, K = AA - BB, u' = K (BB + d K)      w' = (DA + CB)^2, v' = 2 (DA - CB)^2
//! ```
//!
//! where for a bit of 1 the two points change places before and after: by the registers' names.
//!
//! Cost of a bit: four products, four squares, and a product by `sigma`, which is one limb.

use bigint_host::advanced::Step;

/// Registers of the points, two each; the others are scratch.
pub const Q: [u16; 4] = [0, 1, 2, 3];

/// Registers in all.
pub const REGISTERS: u16 = 12;

/// Appends the steps of a bit.
pub fn bit(steps: &mut Vec<Step>, bit: bool) {
    let [q, u, w, v] = match bit {
        false => Q,
        true => [Q[2], Q[3], Q[0], Q[1]],
    };
    let [s, f, a, e, cb, da, aa, bb] = [4, 5, 6, 7, 8, 9, 10, 11];
    let (k, dk) = (s, f);
    steps.extend([
        Step::Add { r: s, a: v, b: w },
        Step::Sub { r: f, a: v, b: w },
        Step::Add { r: a, a: u, b: q },
        Step::Sub { r: e, a: u, b: q },
        Step::Mul { r: cb, a: s, b: e },
        Step::Mul { r: da, a: f, b: a },
        Step::square(aa, a),
        Step::square(bb, e),
        Step::Mul { r: q, a: aa, b: bb },
        Step::Sub { r: k, a: aa, b: bb },
        Step::Scale { r: dk, a: k },
        Step::Add {
            r: dk,
            a: dk,
            b: bb,
        },
        Step::Mul { r: u, a: k, b: dk },
        Step::Add { r: a, a: da, b: cb },
        Step::Sub { r: e, a: da, b: cb },
        Step::square(w, a),
        Step::square(v, e),
        Step::Add { r: v, a: v, b: v },
    ]);
}
