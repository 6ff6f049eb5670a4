//! Powers of 2 modulo four numbers at a time, and products modulo one number, in Montgomery's form.
//!
//! No product ends with a subtraction: for `q < R / 16`, `a a / R + q < 2 q` if `a < 4 q`.

use bigint_core::trial::Powers;

use crate::fast::number::limbs::inverse;

/// Tests which of four odd `q`, of at most 60 bits, divide `2^p - 1`, with the powers for 64 bits.
pub fn narrow(q: [u64; 4], powers: Powers) -> [bool; 4] {
    let inverse = q.map(|q| inverse(q).wrapping_neg());
    let mut x = [1u64 << powers.start; 4];
    for left in (0..powers.squares).rev() {
        let doubled = u32::from(powers.is_doubled(left));
        for i in 0..4 {
            let square = u128::from(x[i]) * u128::from(x[i]);
            let multiple = (square as u64).wrapping_mul(inverse[i]);
            let sum = square + u128::from(multiple) * u128::from(q[i]);
            x[i] = ((sum >> 64) as u64) << doubled;
        }
    }
    [0, 1, 2, 3].map(|i| x[i] % q[i] == 1 % q[i])
}

/// Tests which of four odd `q`, of at most 124 bits, divide `2^p - 1`, with the powers for 128
/// bits.
pub fn wide(q: [u128; 4], powers: Powers) -> [bool; 4] {
    let moduli = q.map(Modulus::new);
    let mut x = [1u128 << powers.start; 4];
    for left in (0..powers.squares).rev() {
        let doubled = u32::from(powers.is_doubled(left));
        for i in 0..4 {
            x[i] = moduli[i].product(x[i], x[i]) << doubled;
        }
    }
    [0, 1, 2, 3].map(|i| x[i] % q[i] == 1 % q[i])
}

/// An odd modulus of at most 124 bits.
#[derive(Clone, Copy)]
pub struct Modulus {
    q: [u64; 2],
    inverse: u64,
}

impl Modulus {
    pub fn new(q: u128) -> Self {
        Modulus {
            q: halves(q),
            inverse: inverse(q as u64).wrapping_neg(),
        }
    }

    /// Returns `a b / 2^128 mod q`, below `2 q`, for numbers below `4 q`.
    #[inline(always)]
    pub fn product(self, a: u128, b: u128) -> u128 {
        let wide = |x: u64, y: u64| u128::from(x) * u128::from(y);
        let ([a0, a1], [b0, b1], [_, q1]) = (halves(a), halves(b), self.q);
        // The sum is below 2^126, as one factor of each product is below 2^62.
        let middle = wide(a0, b1) + wide(a1, b0);
        let low = wide(a0, b0);
        let multiple = (low as u64).wrapping_mul(self.inverse);
        let first = self.carried(low as u64, multiple);
        let second = u128::from((low >> 64) as u64)
            + u128::from(middle as u64)
            + u128::from(first)
            + wide(multiple, q1);
        let multiple = (second as u64).wrapping_mul(self.inverse);
        let third = self.carried(second as u64, multiple);
        wide(a1, b1) + (middle >> 64) + (second >> 64) + u128::from(third) + wide(multiple, q1)
    }

    /// The carry out of the lower half of `low + multiple q0`, which is zero.
    #[inline(always)]
    fn carried(self, low: u64, multiple: u64) -> u64 {
        let product = u128::from(multiple) * u128::from(self.q[0]);
        (product >> 64) as u64 + u64::from(low != 0)
    }
}

fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}
