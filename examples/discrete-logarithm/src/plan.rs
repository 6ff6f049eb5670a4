//! Where walks begin and how they jump: Pollard's rho in parallel, and Pollard's kangaroos.
//!
//! Each walk begins at a point `a P + b Q` with known `a` and `b`, its *start*, and each jump is a known multiple of `P`. So every
//! point of a walk is a known `a' P + b Q`. Where two walks meet, `a1 P + b1 Q = a2 P + b2 Q`, and
//!
//! ```text
//! k = (a1 - a2) / (b2 - b1)   modulo the order n
//! ```
//!
//! **Rho** ([Pollard 1978], [van Oorschot and Wiener 1999]): start `s` is `A P + s (B P + Q)` for random `A` and `B`, and jumps are
//! random multiples. Points are as good as random, so that walks meet after about `sqrt(pi n / 2)` steps of all of
//! them together. No two starts have the same `b`, so every meeting of two walks tells `k`.
//!
//! **Kangaroos** ([Pollard 1978], [van Oorschot and Wiener 1999]): `k` is in an interval of `w` numbers. Even starts, the tame
//! kangaroos, begin in its middle, odd ones, the wild ones, at `Q`, each `sqrt(w) / 2` beyond the one before of its kind.
//! All jump forward, `N sqrt(w) / 4` on the mean for `N` kangaroos. A tame and a wild one meet after about `2 sqrt(w)` jumps of
//! all together. Two tame ones that meet tell nothing: one of them begins anew, at the next start.
//!
//! Either way it takes `N 2^d` more steps of all until the walks that met come to a distinguished point, one of `2^d`.

use num_bigint::BigUint;
use sha2::{Digest, Sha256};

use crate::curve::{Point, Problem};
use crate::walk::JUMPS;

/// What the walks are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Rho: any logarithm.
    Rho,
    /// Kangaroos: one from `lowest` to `highest`.
    Kangaroo {
        /// The least logarithm.
        lowest: BigUint,
        /// The greatest.
        highest: BigUint,
    },
}

impl Method {
    /// The method and its interval as text.
    pub fn description(&self) -> String {
        match self {
            Method::Rho => "rho".into(),
            Method::Kangaroo { lowest, highest } => format!("kangaroo {lowest}..{highest}"),
        }
    }

    /// The numbers that `k` may be.
    fn choices(&self, problem: &Problem) -> BigUint {
        match self {
            Method::Rho => problem.order().clone(),
            Method::Kangaroo { lowest, highest } => highest - lowest + 1u8,
        }
    }

    /// The steps of all walks that are expected until two meet.
    pub fn expected(&self, problem: &Problem) -> f64 {
        let root = to_f64(&self.choices(problem)).sqrt();
        match self {
            // Of `r` jumps, not of random ones.
            Method::Rho => {
                let jumps = f64::from(JUMPS);
                (std::f64::consts::FRAC_PI_2 * jumps / (jumps - 1.0)).sqrt() * root
            }
            Method::Kangaroo { .. } => 2.0 * root,
        }
    }
}

/// A number as a float.
fn to_f64(number: &BigUint) -> f64 {
    let digits = number.iter_u64_digits();
    digits
        .rev()
        .fold(0.0, |sum, digit| sum * 2f64.powi(64) + digit as f64)
}

/// A point as `a P + b Q`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The multiple of `P`, modulo the order.
    pub a: BigUint,
    /// The multiple of `Q`, modulo the order.
    pub b: BigUint,
}

/// Starts and jumps.
#[derive(Clone, Debug)]
pub struct Plan {
    order: BigUint,
    is_rho: bool,
    /// The multiples of `P` that jumps add.
    jumps: Vec<BigUint>,
    /// The first start, or the first tame one.
    first: BigUint,
    /// The multiple of `P` from one start of a kind to the next.
    apart: BigUint,
}

/// The number below `bound` that a seed, a name and a place make, as good as random.
fn random(seed: u64, name: &str, at: u32, bound: &BigUint) -> BigUint {
    let block = |half: u8| {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(at.to_le_bytes());
        hash.update([half]);
        hash.finalize()
    };
    // 512 bits, so that no number below 2^256 is favoured.
    let bytes: Vec<u8> = [0, 1].into_iter().flat_map(block).collect();
    BigUint::from_bytes_le(&bytes) % bound
}

impl Plan {
    /// The plan of a seed, for so many walks.
    pub fn new(problem: &Problem, method: &Method, walks: usize, seed: u64) -> Self {
        let order = problem.order().clone();
        let multiples = |bound: &BigUint| {
            // All are different, so that jumps are different points.
            let mut jumps: Vec<BigUint> = Vec::new();
            let mut at = 0;
            while jumps.len() < JUMPS as usize {
                let jump = random(seed, "jump", at, bound) + 1u8;
                let is_known = jumps
                    .iter()
                    .any(|known| *known == jump || known + &jump == order);
                if !is_known && jump < order {
                    jumps.push(jump);
                }
                at += 1;
            }
            jumps
        };
        match method {
            Method::Rho => Plan {
                is_rho: true,
                jumps: multiples(&order),
                first: random(seed, "first", 0, &order),
                apart: random(seed, "apart", 0, &order),
                order,
            },
            Method::Kangaroo { lowest, highest } => {
                let root = method.choices(problem).sqrt();
                // Twice the mean, so that the interval has room for them all.
                let most = (&root * walks / 2u8).max(BigUint::from(8 * JUMPS));
                Plan {
                    is_rho: false,
                    jumps: multiples(&most.min(&order / 2u8)),
                    first: (lowest + highest) >> 1,
                    apart: (root >> 1) + 1u8,
                    order,
                }
            }
        }
    }

    /// How many starts follow each other before the next of the first one's kind.
    pub fn kinds(&self) -> u32 {
        if self.is_rho { 1 } else { 2 }
    }

    /// From one start of a kind to the next.
    pub fn apart(&self) -> Combination {
        Combination {
            a: self.apart.clone(),
            b: BigUint::from(u8::from(self.is_rho)),
        }
    }

    /// A start.
    pub fn start(&self, start: u32) -> Combination {
        let apart = &self.apart * (start / self.kinds());
        let (a, b) = match (self.is_rho, start % 2) {
            (true, _) => (&self.first + apart, BigUint::from(start)),
            (false, 0) => (&self.first + apart, BigUint::ZERO),
            (false, _) => (apart, BigUint::from(1u8)),
        };
        Combination {
            a: a % &self.order,
            b: b % &self.order,
        }
    }

    /// The jumps' points.
    pub fn jumps(&self, problem: &Problem) -> Vec<Point> {
        let multiples = self.jumps.iter();
        multiples
            .map(|jump| problem.combination(jump, &BigUint::ZERO))
            .collect()
    }

    /// Where a walk is that took each jump so often.
    pub fn after(&self, start: u32, taken: &[u64]) -> Combination {
        let Combination { a, b } = self.start(start);
        let jumps = self.jumps.iter().zip(taken);
        let sum: BigUint = jumps.map(|(jump, &times)| jump * times).sum();
        Combination {
            a: (a + sum) % &self.order,
            b,
        }
    }

    /// Whether walks of these starts can tell the logarithm where they meet.
    pub fn can_tell(&self, one: u32, other: u32) -> bool {
        self.start(one).b != self.start(other).b
    }

    /// The logarithm that two forms of one point, or of one and its negative, tell.
    pub fn logarithm(
        &self,
        one: &Combination,
        other: &Combination,
        is_negative: bool,
    ) -> Option<BigUint> {
        let n = &self.order;
        let signed = |number: &BigUint| match is_negative {
            true => (n - number) % n,
            false => number.clone(),
        };
        let (a, b) = (signed(&other.a), signed(&other.b));
        let run = ((b + n - &one.b) % n).modinv(n)?;
        Some((&one.a + n - a) * run % n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_the_numbers_to_53_bits() {
        assert_eq!(to_f64(&BigUint::ZERO), 0.0);
        assert_eq!(to_f64(&(BigUint::from(5u8) << 200)), 5.0 * 2f64.powi(200));
    }

    #[test]
    fn random_numbers_are_below_their_bound_and_differ() {
        let bound = BigUint::from(1000u32);
        let numbers: Vec<_> = (0..100).map(|at| random(7, "a", at, &bound)).collect();
        assert!(numbers.iter().all(|number| *number < bound));
        assert_ne!(numbers[0], random(8, "a", 0, &bound));
        assert_ne!(numbers[0], random(7, "b", 0, &bound));
    }
}
