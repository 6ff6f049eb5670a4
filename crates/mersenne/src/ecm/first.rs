//! The machine of the first stage.

use std::array::from_fn;
use std::sync::Arc;

use super::chain::{Chain, Op};
use super::points::{Point, Points};
use crate::p_minus_1::primes;
use crate::{Error, Residue};

/// The primes up to a bound, each as often as its greatest power up to that has it: their product is `E`.
pub(super) fn factors(bound: u32) -> Result<Arc<[u32]>, Error> {
    let primes = primes(bound)?;
    let power = |prime: &u32| bound.ilog(*prime) as usize;
    let mut factors = bigint_cpu::with_capacity(primes.iter().map(power).sum())?;
    for prime in &primes {
        factors.extend(std::iter::repeat_n(*prime, power(prime)));
    }
    Ok(factors.into())
}

/// Where a first stage is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// How many factors of `E` the point is multiplied by.
    pub(super) factors: u32,
    /// The chain for the next, if that has begun.
    pub(super) chain: Option<Chain>,
}

impl Place {
    /// The points that stand here: the multiple, or `A`, `B` and `C` of the chain.
    pub(super) fn points(self) -> usize {
        self.chain.map_or(1, |_| 3)
    }
}

pub struct First {
    pub(super) points: Points,
    factors: Arc<[u32]>,
    place: Place,
    /// The points by the places of [`Op`].
    at: [Point; Op::PLACES],
}

impl First {
    /// The machine at a place where these points stand.
    pub(super) fn new(points: Points, factors: Arc<[u32]>, place: Place, at: &[Point]) -> Self {
        First {
            points,
            factors,
            place,
            at: from_fn(|i| at.get(i).unwrap_or(&at[0]).clone()),
        }
    }

    /// Does so many steps of chains, and some more where a factor's end is near, and with it one point to be read in place of
    /// three. Returns the place, and the points that stand there.
    pub(super) fn steps(&mut self, times: u32) -> Result<(Place, Vec<[Residue; 2]>), Error> {
        let mut done = 0;
        while (self.place.factors as usize) < self.factors.len()
            && (done < times || done < 2 * times && self.place.chain.is_some())
        {
            self.step()?;
            done += 1;
        }
        let mut residues = Vec::new();
        for Point { x, z } in &self.at[..self.place.points()] {
            residues.push([self.points.residue(x)?, self.points.residue(z)?]);
        }
        Ok((self.place, residues))
    }

    /// Does a step of a chain. Two has none: its multiple is the double that every other begins with.
    fn step(&mut self) -> Result<(), Error> {
        let mut chain = self.place.chain;
        if chain.is_none() {
            let [a, b, c, ..] = &mut self.at;
            (*b, *c) = (a.clone(), a.clone());
            self.run(Op::BEGINNING)?;
            chain = Chain::cheapest(self.factors[self.place.factors as usize].into());
        }
        if let Some(chain) = &mut chain {
            for &op in chain.step() {
                self.run(op)?;
            }
        }
        self.place = match chain.filter(|chain| !chain.is_done()) {
            None => Place {
                factors: self.place.factors + 1,
                chain: None,
            },
            chain => Place {
                chain,
                ..self.place
            },
        };
        Ok(())
    }

    fn run(&mut self, op: Op) -> Result<(), Error> {
        let (at, points) = (&mut self.at, &mut self.points);
        match op {
            Op::Sum(to, p, q, less) => at[to] = points.sum(&at[p], &at[q], &at[less])?,
            Op::Double(to, p) => at[to] = points.double(&at[p])?,
            Op::Swap(p, q) => at.swap(p, q),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecm::curve::Curve;
    use crate::{Arithmetic, Cpu, Number};

    /// Chains end with a ladder's point, and do so from any of their steps.
    #[test]
    fn a_first_stage_multiplies_by_all_powers_of_primes() {
        let (p, bound) = (521, 40);
        let cpu = Cpu {
            arithmetic: Arithmetic::Exact,
            ..Cpu::default()
        };
        let Curve { x, a24 } = Curve::new(p, 11).unwrap();
        let points = || Points::new(&cpu, Number::from(p), None, &a24).unwrap();
        let start = [x, Residue::from_u64(p, 1)];
        let all = factors(bound).unwrap();

        let mut ladder = points();
        let mut right = ladder.point(&start).unwrap();
        let (mut place, mut residues) = (Place::default(), vec![start]);
        let mut in_chains = 0;
        for (done, &factor) in (1..).zip(&*all) {
            right = ladder.multiples(&right, factor.into()).unwrap()[0].clone();
            while place.factors < done {
                let mut points = points();
                let at: Vec<Point> = residues
                    .iter()
                    .map(|at| points.point(at).unwrap())
                    .collect();
                (place, residues) = First::new(points, all.clone(), place, &at)
                    .steps(1)
                    .unwrap();
                in_chains += u32::from(place.chain.is_some());
            }
            let [x, z] = [&right.x, &right.z].map(|x| ladder.residue(x).unwrap());
            let [[u, v]] = &residues[..] else {
                panic!("one point at a factor's end")
            };
            assert_eq!(x.mul(v), u.mul(&z), "{factor}");
        }
        assert!(place.factors as usize == all.len() && in_chains > 20);
        let product = all.iter().map(|&factor| u64::from(factor)).product::<u64>();
        assert_eq!(product, 5_342_931_457_063_200);
    }
}
