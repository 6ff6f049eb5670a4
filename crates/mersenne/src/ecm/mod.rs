//! The elliptic curve method, which finds factors of `2^p - 1` of some tens of digits, whatever the exponent.
//!
//! **Maths** [Lenstra 1987], [Montgomery 1987]. Modulo a prime `q` the points of a curve are a group, whose order
//! is near `q` and another one for each curve. With `E` the product of the greatest power up to `B1` of each prime,
//! `E P` is the point at infinity where no prime power that divides the order is above `B1`; then `q` divides its `Z`.
//! The second stage finds `q` where one prime `r` of the order of `Q = E P` is above `B1`, up to `B2`. With
//! `r = m D + j` or `m D - j`, as P-1 has it, `m D Q` and `j Q` have the same `X / Z` modulo `q`. The points of
//! the giant steps that are done together, and the baby steps, are brought to one `Z`, so that a difference of
//! two `X` is a multiple of `q` ([`points`](self)).
//!
//! Curves have the parameters `sigma`, `sigma + 1`, and so on; GMP-ECM does curve `S` by `ecm -sigma 0:S B1 B2`.
//!
//! Example, `2^29 - 1 = 233 1103 2089` and `sigma = 13`: the groups have orders `228 = 2^2 3 19`,
//! `1140 = 2^2 3 5 19` and `2124 = 2^2 3^2 59`, and `B1 = 4` with `B2 = 19` finds 233.
//!
//! **Cost** of a curve: nine products for each of the `1.44 B1` bits of `E`, by a Lucas chain for each of its primes
//! ([`chain`](self)); in the second stage a product for each difference, 10 for each giant step, and two or three for
//! each baby. **Memory**: four transforms for each baby.
//!
//! Nothing but the rounding error is checked, as in P-1.

mod chain;
mod curve;
mod first;
mod points;
mod second;

use std::f64::consts::LN_2;
use std::sync::Arc;

use bigint_host::BigUint;
use serde::{Deserialize, Serialize};

use crate::save::{NO_SAVE, opened, sealed};
use crate::stage_2::{STRIDES, babies, giants, giants_count};
use crate::steps::{Stepping, Steps};
use crate::{Backend, Cofactor, Error, Number, PMinus1, Residue, Save, Stage2};
use chain::Chain;
use curve::Curve;
use first::{First, Place};
use points::Points;
use second::Second;

/// The curves that are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The bound `B1`.
    pub first: u32,
    /// The bound `B2`, above `B1`; without it there is no second stage.
    pub second: Option<u64>,
    /// The number of curves.
    pub count: u32,
    /// The parameter of the first, from [`Ecm::LEAST_SIGMA`] on, if it is not to be chosen.
    pub sigma: Option<u64>,
    /// What is left without the factors that are known, if some are.
    pub left: Option<Cofactor>,
}

/// Curves at some step.
#[derive(Clone, Debug, PartialEq)]
pub struct Ecm {
    p: u32,
    curves: Curves,
    /// The parameter of the first curve.
    sigma: u64,
    /// The primes whose product is `E`.
    factors: Arc<[u32]>,
    /// The curves that are done.
    done: u32,
    stage: Stage,
}

/// Where a curve is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// At a place, with the points there; at the beginning without them.
    First {
        place: Place,
        points: Vec<[Residue; 2]>,
    },
    /// After so many giant steps, with `Q` and the product of the differences.
    Second {
        stride: u64,
        giants: u64,
        point: [Residue; 2],
        product: Residue,
    },
}

/// What a divisor of a curve is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// There is none but the factors that are known.
    Nothing,
    /// All that is left without those.
    Everything,
    /// A factor.
    Factor(BigUint),
}

impl Ecm {
    /// The least parameter of a curve.
    pub const LEAST_SIGMA: u64 = 6;

    /// The bound of parameters: they are exact in any program's numbers.
    pub const MOST_SIGMA: u64 = 1 << 53;

    /// The curves at their beginning; `chosen` is the parameter of the first where none is asked for.
    ///
    /// # Errors
    /// If the host lacks memory for `E`.
    ///
    /// # Panics
    /// If `p` is even, there are no curves, or bounds or the parameter are none.
    pub fn new(p: u32, curves: Curves, chosen: u64) -> Result<Self, Error> {
        assert!(p % 2 == 1, "the number is 2^p - 1 with odd p");
        let (first, sigma) = (curves.first, curves.sigma.unwrap_or(chosen));
        assert!((2..=PMinus1::GREATEST_BOUND).contains(&first), "B1");
        let has_second =
            |&second: &u64| u64::from(first) < second && second <= Stage2::GREATEST_BOUND;
        assert!(
            curves.second.as_ref().is_none_or(has_second),
            "B2 is above B1"
        );
        assert!(curves.count > 0 && sigma >= Self::LEAST_SIGMA, "curves");
        Ok(Ecm {
            p,
            sigma,
            factors: first::factors(first)?,
            curves,
            done: 0,
            stage: Stage::BEGINNING,
        })
    }

    /// The number whose factors it finds.
    pub fn number(&self) -> Number {
        self.p.into()
    }

    /// The curves that are asked for.
    pub fn curves(&self) -> &Curves {
        &self.curves
    }

    /// The curves that are done.
    pub fn done_curves(&self) -> u32 {
        self.done
    }

    /// The parameter of the first curve, and that of the present one.
    pub fn sigmas(&self) -> [u64; 2] {
        [self.sigma, self.sigma + u64::from(self.done)]
    }

    /// Whether the present curve is in its second stage.
    pub fn is_second(&self) -> bool {
        matches!(self.stage, Stage::Second { .. })
    }

    /// Whether all curves are done.
    pub fn is_done(&self) -> bool {
        self.done == self.curves.count
    }

    /// The bounds `B1` and `B2`.
    fn bounds(&self) -> [u64; 2] {
        let first = self.curves.first.into();
        [first, self.curves.second.unwrap_or(first)]
    }

    /// The steps of a curve: bits of `E`, and as many products in the second stage as nine are a step.
    fn steps_of_stages(&self) -> [u64; 2] {
        let [from, to] = self.bounds();
        let primes = (to - from) as f64 / (to as f64).ln();
        let second = self.curves.second.map_or(0, |_| primes as u64 / 9 + 1);
        [bits_up_to(self.curves.first), second]
    }

    /// The steps that are done, and those of all curves: a step takes nine products, more or less.
    pub fn progress(&self) -> (u64, u64) {
        let [first, second] = self.steps_of_stages();
        let here = match &self.stage {
            Stage::First { place, .. } => {
                let last = place.factors.checked_sub(1);
                last.map_or(0, |last| bits_up_to(self.factors[last as usize]))
            }
            Stage::Second {
                stride,
                giants: done,
                ..
            } => {
                let all = giants_count(self.bounds(), *stride);
                first + (u128::from(second) * u128::from(*done) / u128::from(all)) as u64
            }
        };
        let each = first + second;
        (
            u64::from(self.done) * each + here,
            u64::from(self.curves.count) * each,
        )
    }

    /// The machine that goes on from here. `None` where `goes_on` says no before it is made: baby steps take as
    /// long as thousands of squarings.
    ///
    /// # Errors
    /// As for [`Backend::multiplying`].
    pub fn steps<'a>(
        &self,
        backend: &'a dyn Backend,
        longer_than: Option<usize>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Steps<'a, Self>>, Error> {
        Steps::new(self, backend, longer_than, goes_on)
    }

    fn end_of_first(&self) -> Place {
        Place {
            factors: self.factors.len() as u32,
            chain: None,
        }
    }

    /// Whether a first stage can be at this place.
    fn has(&self, Place { factors, chain }: Place) -> bool {
        match (self.factors.get(factors as usize), chain) {
            (Some(&factor), Some(chain)) => chain.is_of(factor.into()),
            (Some(_), None) => true,
            (None, _) => (factors, chain) == (self.factors.len() as u32, None),
        }
    }

    fn curve(&self) -> Result<Curve, Residue> {
        Curve::new(self.p, self.sigmas()[1])
    }

    /// Does so many giant steps, or steps of chains and up to as many more to the end of one, at most to the end of the
    /// stage, and returns whether that is reached. `steps` is where the curve is. It is made anew as [`Stage2::advance`] does.
    ///
    /// # Errors
    /// As for [`Ecm::steps`].
    pub fn advance(
        &mut self,
        steps: &mut Steps<'_, Self>,
        times: u32,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<bool, Error> {
        let step = |machine: &mut Machine| self.next(machine, times);
        let Some(next) = steps.take(self, goes_on, step)? else {
            return Ok(false);
        };
        self.stage = next;
        Ok(match &self.stage {
            Stage::First { place, .. } => *place == self.end_of_first(),
            Stage::Second {
                stride,
                giants: done,
                ..
            } => *done == giants_count(self.bounds(), *stride),
        })
    }

    /// The stage after so many steps.
    fn next(&self, machine: &mut Machine, times: u32) -> Result<Stage, Error> {
        Ok(match (machine, &self.stage) {
            (Machine::First(first), Stage::First { .. }) => {
                let (place, points) = first.steps(times)?;
                Stage::First { place, points }
            }
            (
                Machine::Second(second),
                Stage::Second {
                    stride,
                    giants: done,
                    point,
                    ..
                },
            ) => {
                let all = giants_count(self.bounds(), *stride);
                let times = (all - done).min(times.into());
                Stage::Second {
                    stride: *stride,
                    giants: done + times,
                    point: point.clone(),
                    product: second.giant_steps(times)?,
                }
            }
            (Machine::Divisor, _) => {
                let below = self.curve().expect_err("there is no such curve");
                Stage::First {
                    place: self.end_of_first(),
                    points: vec![[below.clone(), below]],
                }
            }
            _ => unreachable!("the machine is where the curve is"),
        })
    }

    /// The greatest common divisor of `2^p - 1` and what the present stage ends with, once it is done: as
    /// [`PMinus1::divisor`].
    ///
    /// # Errors
    /// If the host lacks memory.
    ///
    /// # Panics
    /// If the stage has not begun.
    pub fn divisor(&self) -> Result<BigUint, Error> {
        match &self.stage {
            Stage::First { points, .. } => points[0][1].divisor(),
            Stage::Second { product, .. } => product.divisor(),
        }
    }

    /// What this divisor is.
    pub fn found(&self, divisor: &BigUint) -> Found {
        let one = BigUint::from(1u32);
        let mut factor = divisor.clone();
        let mut left = (&one << self.p) - 1u32;
        let known = self.curves.left.iter().flat_map(Cofactor::factors);
        for known in known {
            left /= known;
            if (&factor % known) == BigUint::ZERO {
                factor /= known;
            }
        }
        match factor {
            factor if factor == one => Found::Nothing,
            factor if factor == left => Found::Everything,
            factor => Found::Factor(factor),
        }
    }

    /// Goes to the second stage, or to the next curve. Of the strides whose steps fit `memory` bytes the second
    /// stage has the one with the fewest products.
    ///
    /// # Panics
    /// If the first stage has not begun.
    pub fn go_on(&mut self, memory: u64) {
        let stage = std::mem::replace(&mut self.stage, Stage::BEGINNING);
        match stage {
            Stage::First { mut points, .. }
                if self.curves.second.is_some() && self.curve().is_ok() =>
            {
                self.stage = Stage::Second {
                    stride: self.stride(memory),
                    giants: 0,
                    point: points.swap_remove(0),
                    product: Residue::from_u64(self.p, 1),
                };
            }
            _ => self.done += 1,
        }
    }

    fn stride(&self, memory: u64) -> u64 {
        let bounds = self.bounds();
        // A transform has a double for some 17 bits.
        let size = self.number().limbs() as u64 * 32;
        let fits = |&(stride, greatest): &(u64, u64)| {
            can_be(stride, greatest, bounds[0])
                && (stride == 2 || 4 * babies(stride).count() as u64 * size <= memory)
        };
        let products = |&(stride, _): &(u64, u64)| {
            let babies = babies(stride).count() as u64;
            6 * stride / 4 + 6 * babies + 12 * giants_count(bounds, stride)
        };
        let stride = STRIDES.into_iter().filter(fits).min_by_key(products);
        stride.expect("2 divides no prime above B1").0
    }
}

/// The bits of the product of the greatest powers up to a bound of all primes, more or less.
fn bits_up_to(bound: u32) -> u64 {
    (f64::from(bound) / LN_2) as u64
}

/// Whether no prime above `B1` divides this stride, and its first giant step is not 0.
fn can_be(stride: u64, greatest: u64, first: u64) -> bool {
    greatest <= first && stride / 2 <= first
}

impl Stage {
    const BEGINNING: Stage = Stage::First {
        place: Place {
            factors: 0,
            chain: None,
        },
        points: Vec::new(),
    };
}

/// A machine for [`Ecm`].
pub enum Machine {
    First(Box<First>),
    Second(Box<Second>),
    /// There is no curve: its parameter has a divisor.
    Divisor,
}

impl Stepping for Ecm {
    type Machine = Machine;

    fn machine(
        &self,
        backend: &dyn Backend,
        longer_than: Option<usize>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Machine>, Error> {
        let Ok(Curve { x, a24 }) = self.curve() else {
            return Ok(Some(Machine::Divisor));
        };
        let mut points = Points::new(backend, self.number(), longer_than, &a24)?;
        Ok(Some(match &self.stage {
            Stage::First { place, points: at } => {
                let start = [[x, Residue::from_u64(self.p, 1)]];
                let at = if at.is_empty() { &start[..] } else { at };
                let at = at.iter().map(|at| points.point(at));
                let at = at.collect::<Result<Vec<_>, _>>()?;
                let first = First::new(points, self.factors.clone(), *place, &at);
                Machine::First(Box::new(first))
            }
            Stage::Second {
                stride,
                giants: done,
                point,
                product,
            } => {
                let point = points.point(point)?;
                let (stride, bounds) = (*stride, self.bounds());
                let m = giants(bounds, stride).start() + done;
                let mut machine = backend.multiplying(self.number(), longer_than)?;
                machine.set(product)?;
                let second = Second::new(points, &point, stride, m, bounds, machine, goes_on)?;
                let Some(second) = second else {
                    return Ok(None);
                };
                Machine::Second(Box::new(second))
            }
        }))
    }

    fn error(machine: &Machine) -> Result<f64, Error> {
        match machine {
            Machine::First(first) => first.points.error(),
            Machine::Second(second) => second.error(),
            Machine::Divisor => Ok(0.0),
        }
    }

    fn words(machine: &Machine) -> Option<usize> {
        match machine {
            Machine::First(first) => first.points.words(),
            Machine::Second(second) => second.points.words(),
            Machine::Divisor => None,
        }
    }
}

/// The second line of a save file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    exponent: u32,
    worktype: String,
    bounds: [u64; 2],
    sigma: u64,
    curve: u32,
    /// The factors of `E` by which the point is multiplied, and the chain for the next.
    factors: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chain: Option<Chain>,
    /// The stride of the second stage, and the giant steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    second: Option<[u64; 2]>,
}

const WORKTYPE: &str = "ECM";

impl Save for Ecm {
    const UNIT: &'static str = "step";

    fn name(&self) -> String {
        let [first, second] = self.bounds();
        format!("m{}.{first}.{second}.ecm", self.p)
    }

    fn done(&self) -> u64 {
        self.progress().0
    }

    fn res64(&self) -> Option<u64> {
        match &self.stage {
            Stage::First { points, .. } => points.first().map(|[x, _]| x.res64()),
            Stage::Second { product, .. } => Some(product.res64()),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let (place, second, residues) = match &self.stage {
            Stage::First { place, points } => (*place, None, points.iter().flatten().collect()),
            Stage::Second {
                stride,
                giants,
                point,
                product,
            } => {
                let residues: Vec<&Residue> = point.iter().chain([product]).collect();
                (self.end_of_first(), Some([*stride, *giants]), residues)
            }
        };
        let header = Header {
            exponent: self.p,
            worktype: WORKTYPE.to_owned(),
            bounds: self.bounds(),
            sigma: self.sigma,
            curve: self.done,
            factors: place.factors,
            chain: place.chain,
            second,
        };
        sealed(&header, residues.into_iter().flat_map(Residue::to_bytes))
    }

    fn from_bytes(bytes: &[u8], start: &Self) -> Result<Option<Self>, String> {
        let (header, rest): (Header, _) = opened(bytes)?;
        let is_same = (header.exponent, header.bounds) == (start.p, start.bounds());
        if !is_same || header.worktype != WORKTYPE {
            return Err(format!("it is of another test: M{}", header.exponent));
        }
        let broken = || NO_SAVE.to_owned();
        let size = start.number().bytes();
        let residues: Vec<Residue> = rest
            .chunks(size)
            .map(|bytes| Residue::from_bytes(start.p, bytes))
            .collect();
        let place = Place {
            factors: header.factors,
            chain: header.chain,
        };
        if !start.has(place) || rest.len() % size != 0 || header.sigma < Ecm::LEAST_SIGMA {
            return Err(broken());
        }
        let stage = match header.second {
            None if residues.is_empty() && place == Place::default() => Stage::BEGINNING,
            None if residues.len() == 2 * place.points() => Stage::First {
                place,
                points: residues.as_chunks().0.to_vec(),
            },
            None => return Err(broken()),
            Some([stride, done]) => {
                let bounds = start.bounds();
                let fits = |&(known, greatest): &(u64, u64)| {
                    known == stride && can_be(stride, greatest, bounds[0])
                };
                let [x, z, product] = residues.try_into().map_err(|_| broken())?;
                let is_whole = start.curves.second.is_some() && STRIDES.iter().any(fits);
                if !is_whole || done > giants_count(bounds, stride) {
                    return Err(broken());
                }
                Stage::Second {
                    stride,
                    giants: done,
                    point: [x, z],
                    product,
                }
            }
        };
        // Other curves than are asked for, or more of them, are of no use.
        let is_asked = start.curves.sigma.is_none_or(|sigma| sigma == header.sigma);
        Ok(
            (is_asked && header.curve < start.curves.count).then(|| Ecm {
                sigma: header.sigma,
                done: header.curve,
                stage,
                ..start.clone()
            }),
        )
    }
}
