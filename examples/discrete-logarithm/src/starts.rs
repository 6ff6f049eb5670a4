//! The points at which walks begin, millions of them.
//!
//! A block of starts is a few points and sums of them with the same small multiples, so that a block takes some inverses.

use crate::curve::{Affine, Point, Problem};
use crate::field::{Field, invert, sum};
use crate::plan::Plan;

/// Starts of a kind in a block.
const BLOCK: u32 = 4096;

/// A point in a field's forms.
pub type Forms<const LIMBS: usize> = [[u32; LIMBS]; 2];

/// The forms of a point.
pub fn forms<F: Field<LIMBS>, const LIMBS: usize>(field: &F, point: &Affine) -> Forms<LIMBS> {
    point.each_ref().map(|coordinate| field.form(coordinate))
}

/// The point of forms.
pub fn point<F: Field<LIMBS>, const LIMBS: usize>(field: &F, forms: Forms<LIMBS>) -> Affine {
    forms.map(|form| field.number(form))
}

/// All starts of a plan.
#[derive(Clone, Debug)]
pub struct Starts<'a, F, const LIMBS: usize> {
    problem: &'a Problem,
    plan: &'a Plan,
    field: &'a F,
    /// From one start of a kind to those behind it in its block.
    multiples: Vec<Forms<LIMBS>>,
}

impl<'a, F: Field<LIMBS>, const LIMBS: usize> Starts<'a, F, LIMBS> {
    /// The starts of a plan, of which about `count` will be wanted.
    pub fn new(problem: &'a Problem, plan: &'a Plan, field: &'a F, count: usize) -> Self {
        let apart = plan.apart();
        let step = problem.combination(&apart.a, &apart.b);
        let (mut at, mut multiples) = (None, Vec::new());
        // A block ends before a multiple that is infinity.
        while multiples.len() + 1 < (BLOCK as usize).min(count.div_ceil(plan.kinds() as usize)) {
            at = problem.curve().add(&at, &step);
            match &at {
                Some(multiple) => multiples.push(forms(field, multiple)),
                None => break,
            }
        }
        Starts {
            problem,
            plan,
            field,
            multiples,
        }
    }

    /// A start; `None` where it is infinity.
    pub fn one(&self, start: u32) -> Point {
        let start = self.plan.start(start);
        self.problem.combination(&start.a, &start.b)
    }

    /// The first `count` starts from `from` on that are points, each with its number, and the number behind
    /// the last.
    pub fn first(&self, from: u32, count: usize) -> (Vec<(u32, Forms<LIMBS>)>, u32) {
        let kinds = self.plan.kinds();
        let length = kinds * (self.multiples.len() as u32 + 1);
        let mut starts = Vec::with_capacity(count);
        // A block begins with a start of the first kind.
        let mut next = from - from % kinds;
        while starts.len() < count {
            let blocks = (count - starts.len()).div_ceil(length as usize) as u32;
            let begins = (0..blocks).map(|block| next + block * length);
            let made = bigint_cpu::map(begins, usize::MAX, |begin| self.block(begin));
            next += blocks * length;
            let made = made.into_iter().flatten();
            starts.extend(made.filter(|(start, _)| *start >= from));
        }
        starts.truncate(count);
        let end = starts.last().map_or(from, |(start, _)| start + 1);
        (starts, end)
    }

    /// A block that begins with a start of the first kind: those that are points.
    fn block(&self, begin: u32) -> Vec<(u32, Forms<LIMBS>)> {
        let kinds = self.plan.kinds();
        let number = |kind: u32, at: u32| begin + kind + kinds * at;
        let slow = |start: u32| self.one(start).map(|point| forms(self.field, &point));
        let mut points = Vec::with_capacity(kinds as usize * (self.multiples.len() + 1));
        for kind in 0..kinds {
            let base = slow(number(kind, 0));
            points.push((number(kind, 0), base));
            let Some(base) = base else {
                points.extend(
                    (1..)
                        .zip(&self.multiples)
                        .map(|(at, multiple)| (number(kind, at), Some(*multiple))),
                );
                continue;
            };
            // Where the points are equal or opposite the sum is another formula's.
            let runs = self
                .multiples
                .iter()
                .map(|[u, _]| self.field.difference(*u, base[0]));
            let (mut runs, mut slowly) = (runs.collect::<Vec<_>>(), Vec::new());
            for (run, [u, _]) in runs.iter_mut().zip(&self.multiples) {
                slowly.push(*u == base[0]);
                if *u == base[0] {
                    *run = self.field.one();
                }
            }
            invert(self.field, &mut runs);
            for (at, ((multiple, run), is_slow)) in
                (1..).zip(self.multiples.iter().zip(runs).zip(slowly))
            {
                let start = number(kind, at);
                points.push((
                    start,
                    match is_slow {
                        true => slow(start),
                        false => Some(sum(self.field, base, *multiple, run)),
                    },
                ));
            }
        }
        points.sort_unstable_by_key(|(start, _)| *start);
        let points = points.into_iter();
        points
            .filter_map(|(start, point)| Some((start, point?)))
            .collect()
    }
}

/// The forms of the jumps.
pub fn jumps<F: Field<LIMBS>, const LIMBS: usize>(
    problem: &Problem,
    plan: &Plan,
    field: &F,
) -> Vec<Forms<LIMBS>> {
    let points = plan.jumps(problem).into_iter();
    points
        .map(|jump| {
            forms(
                field,
                &jump.expect("a multiple of P that is not of its order"),
            )
        })
        .collect()
}
