//! Lucas chains: multiples of points by sums of two points whose difference is known.
//!
//! **Maths** [Montgomery 1992]. To find `n P` three points are kept, `A`, `B` and `C`, which is `A - B` or its negative,
//! and two numbers with `n P = d A + e B`. At the beginning `A = 2 P`, `B = C = P`, `d = n - r` and `e = 2 r - n`. Each
//! step makes the numbers less, as Euclid's algorithm does. Most are `d A + e B = (d - e) A + e (A + B)`: `A + B` takes
//! the place of `B`, and `B` that of `C`. Where both numbers are 1, `A + B` is `n P`.
//!
//! A chain is short where `n / r` is near the golden ratio, or another number whose continued fraction ends in ones.
//! Of ten such the one with the cheapest chain is taken.
//!
//! Example, `n = 7` and `r = 4`: `3 A + B` with `A = 2 P` and `B = P`; `2 A + B` with `B = 3 P`; `A + B` with `B = 5 P`.
//!
//! **Cost**, in transforms: a product takes one back and its result one forth, be it a square or not. So a sum takes
//! 12 and a double 10, and a bit of a prime 17.6 to 18.1. A ladder's takes 20, as its differences have `Z = 1`.

use serde::{Deserialize, Serialize};

/// A chain at some step: the numbers by which `A` and `B` are multiplied. At its end the second is 0, and `A` is `n P`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chain {
    d: u64,
    e: u64,
}

/// What is done with points, by their places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// The first becomes the sum of two, whose difference is the last; or their difference, where that is their sum,
    /// as points are known but for their sign.
    Sum(usize, usize, usize, usize),
    /// The first becomes the double of the other.
    Double(usize, usize),
    /// Two change places.
    Swap(usize, usize),
}

use Op::{Double, Sum, Swap};

// The places of points, of which two are for those that a step needs alone.
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const T: usize = 3;
const U: usize = 4;

impl Op {
    /// The number of places.
    pub(super) const PLACES: usize = 5;

    /// What a chain begins with, where all points are `P`.
    pub(super) const BEGINNING: Op = Double(A, A);

    /// The transforms that it takes.
    fn cost(self) -> u32 {
        match self {
            Sum(..) => 12,
            Double(..) => 10,
            Swap(..) => 0,
        }
    }
}

/// Ratios `r / n`.
const RATIOS: [f64; 10] = [
    0.618_033_988_749_894_9, // the golden ratio less 1
    0.723_606_797_749_979,
    0.580_178_728_295_464_1,
    0.632_839_806_088_706_3,
    0.612_429_949_509_495,
    0.620_181_980_807_415_8,
    0.617_214_616_534_403_9,
    0.618_347_119_656_228_1,
    0.617_914_406_528_817_9,
    0.618_079_668_469_895_8,
];

impl Chain {
    /// The cheapest chain for a number; `None` for 1 and 2, and where it shares a divisor with each `r`, as no
    /// other prime does.
    pub(super) fn cheapest(n: u64) -> Option<Self> {
        let starts = RATIOS.iter().map(|ratio| (n as f64 * ratio).round() as u64);
        let starts = starts.filter(|&r| r < n && n - r < r);
        let chains = starts.map(|r| Chain {
            d: n - r,
            e: r - (n - r),
        });
        let costs = chains.filter_map(|chain| Some((chain.cost()?, chain)));
        Some(costs.min_by_key(|&(cost, _)| cost)?.1)
    }

    /// The transforms of the chain from here to its end; `None` where that is not `n P`, but a part of it.
    fn cost(mut self) -> Option<u32> {
        let mut cost = 0;
        while !self.is_done() {
            cost += self.step().iter().map(|op| op.cost()).sum::<u32>();
        }
        (self.d == 1).then_some(cost)
    }

    /// Whether a chain for such a number can be here.
    pub(super) fn is_of(self, n: u64) -> bool {
        let Chain { d, e } = self;
        (1..n).contains(&d) && (1..n).contains(&e)
    }

    /// Whether `A` is `n P`.
    pub(super) fn is_done(self) -> bool {
        self.e == 0
    }

    /// Does a step, before the end, and returns what is done with the points.
    pub(super) fn step(&mut self) -> &'static [Op] {
        let Chain { d, e } = *self;
        if d < e {
            *self = Chain { d: e, e: d };
            return &[Swap(A, B)];
        }
        let is_near = d - e <= e / 4;
        let (ops, d, e): (&[Op], _, _) = if d == e {
            (&[Sum(A, A, B, C)], d, 0)
        } else if is_near && (d + e).is_multiple_of(3) {
            // 2 A + B, A + 2 B
            let ops = &[
                Sum(T, A, B, C),
                Sum(U, T, A, B),
                Sum(B, T, B, A),
                Swap(A, U),
            ];
            (ops, (2 * d - e) / 3, (2 * e - d) / 3)
        } else if is_near && (d - e).is_multiple_of(6) {
            (&[Sum(B, A, B, C), Double(A, A)], (d - e) / 2, e)
        } else if d.div_ceil(4) <= e {
            (&[Sum(C, A, B, C), Swap(B, C)], d - e, e)
        } else if (d + e).is_multiple_of(2) {
            (&[Sum(B, A, B, C), Double(A, A)], (d - e) / 2, e)
        } else if d.is_multiple_of(2) {
            (&[Sum(C, A, C, B), Double(A, A)], d / 2, e)
        } else if d.is_multiple_of(3) {
            // 3 A, 3 A + B = 2 A + (A + B)
            let sums = &[
                Double(T, A),
                Sum(U, A, B, C),
                Sum(A, T, A, A),
                Sum(C, T, U, C),
                Swap(B, C),
            ];
            (sums, d / 3 - e, e)
        } else if (d + e).is_multiple_of(3) {
            // 3 A, 2 A + B
            let sums = &[
                Sum(T, A, B, C),
                Sum(B, T, A, B),
                Double(T, A),
                Sum(A, T, A, A),
            ];
            (sums, (d - 2 * e) / 3, e)
        } else if (d - e).is_multiple_of(3) {
            // 3 A, A + B
            let sums = &[
                Sum(T, A, B, C),
                Sum(C, A, C, B),
                Swap(B, T),
                Double(T, A),
                Sum(A, T, A, A),
            ];
            (sums, (d - e) / 3, e)
        } else {
            // e is even.
            (&[Sum(C, C, B, A), Double(B, B)], d, e / 2)
        };
        *self = Chain { d, e };
        ops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage_2::primes_up_to;

    /// What a chain makes of 1, as points are added; and its transforms.
    fn multiple(n: u64) -> (u64, u32) {
        let mut chain = Chain::cheapest(n).unwrap();
        let (mut at, mut cost) = ([2u64, 1, 1, 0, 0], 10);
        while !chain.is_done() {
            assert!(chain.is_of(n));
            for &op in chain.step() {
                cost += op.cost();
                match op {
                    Sum(to, p, q, less) => {
                        let both = [at[p] + at[q], at[p].abs_diff(at[q])];
                        let is_less = both.map(|x| x == at[less]);
                        assert!(is_less[0] || is_less[1], "{n}");
                        at[to] = both[usize::from(!is_less[1])];
                    }
                    Double(to, p) => at[to] = 2 * at[p],
                    Swap(p, q) => at.swap(p, q),
                }
            }
        }
        (at[A], cost)
    }

    #[test]
    fn chains_of_sums_with_known_differences_end_with_the_multiple() {
        for n in primes_up_to(20_000).into_iter().filter(|&n| n > 2) {
            assert_eq!(multiple(n).0, n);
        }
        let mut n = 1u64;
        for _ in 0..5000 {
            n = n.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            for n in [n, n >> 20, n >> 40, !n] {
                if Chain::cheapest(n).is_some() {
                    assert_eq!(multiple(n).0, n);
                }
            }
        }
        assert!([1, 2].map(Chain::cheapest).iter().all(Option::is_none));
    }

    #[test]
    fn a_bit_of_a_prime_takes_fewer_transforms_than_a_step_of_a_ladder() {
        for (from, to, most) in [
            (2, 1000, 17.6),
            (1000, 20_000, 17.8),
            (900_000, 905_000, 18.1),
        ] {
            let primes = primes_up_to(to).into_iter().filter(|&n| n > from);
            let (cost, bits) = primes.fold((0, 0.0), |(cost, bits), n| {
                (cost + multiple(n).1, bits + (n as f64).log2())
            });
            let each = f64::from(cost) / bits;
            assert!((most - 0.3..most).contains(&each), "{each} to {to}");
        }
    }
}
