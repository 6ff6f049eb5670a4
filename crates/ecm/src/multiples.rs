//! Multiples of many points, as the roots of polynomials: `j Q` for `j` without a divisor in common with `D`, the
//! *babies*, and `m D Q`, the *giants*.
//!
//! Multiples of a point in arithmetic progression are each the sum of the one before and a step, whose difference is
//! the one before that. There are too few points to fill a device, so each has several *rows*: row `r` goes on from
//! multiple `s + r l` by steps of `t`, as all rows do. The rows' first two multiples, `s + r l` and `s + r l + t`, are
//! themselves progressions, with the step `l`: these are the trunk, of one row for each point.
//!
//! By hand: 6 giants by steps of 1 in two rows are 1, 2, 3 and 4, 5, 6; the trunk has 1, 2 and 4, 5.
//!
//! Each row of points has [a denominator of its own](crate::points). Times the others' denominators it is that of all.

use bigint_host::{Batch, Engine};
use num_bigint::BigUint;

use crate::Error;
use crate::modular::gcd;
use crate::points::{
    A24, ACC, Given, Group, LAST, PRODUCT, Q, SCRATCH, STEP, TABLES, TWICE, common, copy, of_points,
};
use crate::registers::{Move, Registers};
use crate::resultant::Plan;

/// Multiples of a row, about.
const OF_ROW: usize = 256;

/// The babies of a row are those of its `j` that have no divisor in common with this and `D`; of these the ones
/// that have one with `D` are left out later.
const PATTERN: u64 = 210;

/// The trunk's registers: a row's second multiple and the next row's, and the step from row to row. The first
/// ones are [`LAST`], the step in a row is [`TWICE`] or [`STEP`].
const SECOND: [[u16; 2]; 2] = [[TABLES, TABLES + 1], [TABLES + 2, TABLES + 3]];
const ROW: [u16; 2] = [TABLES + 4, TABLES + 5];
const UNUSED: [u16; 2] = [TABLES + 6, TABLES + 7];
const STARTS: u16 = TABLES + 8;

/// The multiples of points, on the way.
#[derive(Debug)]
pub struct Multiples {
    engine: Engine,
    n: BigUint,
    plan: Plan,
    trunk: Registers,
    /// Whether the trunk goes on from giants.
    has_giants: bool,
}

/// Multiples of all points, the roots of polynomials.
#[derive(Debug)]
pub struct Roots {
    /// For each row of each point a number, in which `x S` of its multiples, or values, are side by side.
    pub tops: Batch,
    /// `S` of each row of points.
    pub bottoms: Option<Batch>,
    /// Rows of a point, a power of two.
    pub rows: usize,
    /// Multiples of a row.
    pub of_row: usize,
}

impl Multiples {
    /// Begins on the engine's device or on all cores; `None` where a device has no kernel for so long a number.
    pub fn new(
        engine: &Engine,
        is_on_device: bool,
        given: Given<'_>,
        plan: Plan,
    ) -> Result<Option<Self>, Error> {
        let group = plan.group;
        let (_, rows) = Multiples::of_giants(plan);
        let registers = STARTS + 4 * rows.max(babies(plan).rows) as u16;
        let Some(mut trunk) = of_points(is_on_device.then_some(engine), given, registers)? else {
            return Ok(None);
        };
        let mut steps = Vec::new();
        group.double(&mut steps, TWICE, Q);
        group.multiply(&mut steps, [STEP, UNUSED], plan.stride, Q);
        trunk.run(steps, ACC, SCRATCH, &[])?;
        Ok(Some(Multiples {
            engine: engine.clone(),
            n: given.n.clone(),
            plan,
            trunk,
            has_giants: false,
        }))
    }

    /// Giants of a row, and rows of a block.
    fn of_giants(plan: Plan) -> (usize, usize) {
        let of_row = plan.degree.min(OF_ROW);
        (of_row, plan.degree / of_row)
    }

    /// The babies, and which of them have no divisor in common with `D`: as many as the degree.
    pub fn babies(&mut self) -> Result<(Roots, Vec<usize>), Error> {
        let Babies {
            length,
            kept,
            rows,
            chosen,
        } = babies(self.plan);
        let mut steps = Vec::new();
        self.begin(&mut steps, (1, 2, length), Q);
        let starts = self.starts(steps, TWICE, rows)?;
        let is_kept = |i: u64| kept.contains(&(2 * i + 1));
        Ok((self.walk(starts, rows, length / 2, is_kept)?, chosen))
    }

    /// The next block of giants.
    pub fn giants(&mut self) -> Result<Roots, Error> {
        let (of_row, rows) = Multiples::of_giants(self.plan);
        let mut steps = Vec::new();
        if !self.has_giants {
            self.begin(&mut steps, (self.plan.first, 1, of_row as u64), STEP);
            self.has_giants = true;
        }
        let starts = self.starts(steps, STEP, rows)?;
        self.walk(starts, rows, of_row as u64, |_| true)
    }

    /// The first registers of each row of each point that the trunk comes to; the rows' step is `step`.
    fn starts(
        &mut self,
        mut steps: Vec<Move>,
        step: [u16; 2],
        rows: usize,
    ) -> Result<Batch, Error> {
        let mut order = Vec::with_capacity(12 * rows);
        for start in (STARTS..).step_by(4).take(rows) {
            let [first, second] = [[start, start + 1], [start + 2, start + 3]];
            for (kept, two) in [(first, LAST), (second, SECOND)] {
                copy(&mut steps, kept, two[0]);
                let next = [SCRATCH + 4, SCRATCH + 5];
                self.plan.group.add(&mut steps, next, [two[1], ROW], two[0]);
                copy(&mut steps, two[0], two[1]);
                copy(&mut steps, two[1], next);
            }
            // In the order of the registers of `points`.
            order.extend([[ACC, A24], Q, Q, step, first, second].concat());
        }
        self.trunk.run(steps, ACC, SCRATCH, &[])?;
        let starts = self.trunk.columns(&self.engine, &order)?;
        Ok(self.engine.reshape(&starts, starts.width() / rows)?)
    }

    /// The multiples of rows that begin so, `count` steps of each, of which those of some places are kept.
    fn walk(
        &self,
        starts: Batch,
        rows: usize,
        count: u64,
        is_kept: impl Fn(u64) -> bool,
    ) -> Result<Roots, Error> {
        let of_row = (0..count).filter(|&i| is_kept(i)).count() as u16;
        let tops = TABLES..TABLES + of_row;
        let registers = tops.end + of_row;
        let (engine, group) = (&self.engine, self.plan.group);
        let mut work = self.trunk.with_rows(&self.n, starts, registers)?;
        let (mut steps, mut last, mut kept) = (Vec::new(), LAST, 0);
        for i in 0..count {
            if is_kept(i) {
                copy(&mut steps, [tops.start + kept, tops.end + kept], last[0]);
                kept += 1;
            }
            let next = [SCRATCH + 4, SCRATCH + 5];
            group.add(&mut steps, next, [last[1], STEP], last[0]);
            copy(&mut steps, last[0], next);
            last.swap(0, 1);
        }
        if group == Group::Curve {
            common(&mut steps, PRODUCT, tops.clone(), tops.end, None);
        }
        work.run(steps, ACC, SCRATCH, &[])?;
        let bottoms = match group {
            Group::Curve => Some(work.columns(engine, &[PRODUCT])?),
            Group::Values => None,
        };
        Ok(Roots {
            tops: work.columns(engine, &tops.collect::<Vec<_>>())?,
            bottoms,
            rows,
            of_row: of_row.into(),
        })
    }

    /// Begins a trunk: rows from multiple `first` of a point on, by steps of `step`, and `length` multiples from one row to the next.
    fn begin(&self, steps: &mut Vec<Move>, (first, step, length): (u64, u64, u64), p: [u16; 2]) {
        let group = self.plan.group;
        for (r, k) in [(LAST, first), (SECOND, first + step)] {
            group.multiply(steps, [r[0], UNUSED], k, p);
            group.multiply(steps, [r[1], UNUSED], k + length, p);
        }
        group.multiply(steps, [ROW, UNUSED], length, p);
    }
}

/// The rows of babies.
struct Babies {
    /// Numbers `j` from one row to the next.
    length: u64,
    /// Those of the first row that are kept.
    kept: Vec<u64>,
    rows: usize,
    /// Which of all that are kept are babies.
    chosen: Vec<usize>,
}

fn babies(plan: Plan) -> Babies {
    let divisor = |a: u64, b: u64| {
        let divisor = gcd(&a.into(), &b.into());
        divisor.to_u64_digits().first().copied().unwrap_or(0)
    };
    let pattern = divisor(plan.stride, PATTERN);
    let of_pattern = |length| -> Vec<u64> {
        let odd = (1..length).step_by(2);
        odd.filter(|&j| divisor(j, pattern) == 1).collect()
    };
    let times = plan.degree.min(OF_ROW) / of_pattern(pattern).len();
    let length = pattern * times.max(1) as u64;
    let kept = of_pattern(length);
    let (mut chosen, mut rows) = (Vec::new(), 0);
    while chosen.len() < plan.degree {
        let all = kept.iter().map(|j| length * rows as u64 + j);
        let babies = all
            .enumerate()
            .filter(|&(_, j)| divisor(j, plan.stride) == 1);
        chosen.extend(babies.map(|(i, _)| kept.len() * rows + i));
        rows += 1;
    }
    chosen.truncate(plan.degree);
    Babies {
        length,
        kept,
        rows: rows.next_power_of_two(),
        chosen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lucas;
    use crate::modular::{inverse, sub};
    use crate::points::Begun;

    /// `x(k Q)` of a curve, by Montgomery's ladder on numbers one by one.
    fn multiple([a24, x]: &Begun, k: u64, n: &BigUint) -> BigUint {
        let double = |[x, z]: &[BigUint; 2]| {
            let (s, d) = ((x + z).pow(2) % n, sub(x, z, n).pow(2) % n);
            let e = sub(&s, &d, n);
            [s * &d % n, (d + a24 * &e) * &e % n]
        };
        let add = |p: &[BigUint; 2], q: &[BigUint; 2]| {
            let cross = |a: BigUint, b: BigUint| a * b % n;
            let one = cross(sub(&p[0], &p[1], n), &q[0] + &q[1]);
            let other = cross(&p[0] + &p[1], sub(&q[0], &q[1], n));
            [
                (&one + &other).pow(2) % n,
                sub(&one, &other, n).pow(2) * x % n,
            ]
        };
        let start = [x.clone(), BigUint::from(1u8)];
        let (mut low, mut high) = (start.clone(), double(&start));
        for i in (0..k.ilog2()).rev() {
            let sum = add(&high, &low);
            (low, high) = match k >> i & 1 {
                0 => (double(&low), sum),
                _ => (sum, double(&high)),
            };
        }
        &low[0] * inverse(&low[1], n).unwrap() % n
    }

    /// The multiples that each row has at its ends are those with these numbers, for each of two points.
    fn check(
        roots: &Roots,
        plan: Plan,
        (n, begun): (&BigUint, &[Begun]),
        number: impl Fn(usize, usize) -> u64,
    ) {
        let limbs = n.to_u32_digits().len();
        let tops = roots.tops.rows().unwrap();
        let tops: Vec<_> = tops.chunks(limbs).map(BigUint::from_slice).collect();
        let bottoms = roots
            .bottoms
            .as_ref()
            .map(|bottoms| bottoms.to_biguints().unwrap());
        for (point, begun) in begun.iter().enumerate() {
            for row in 0..roots.rows {
                let of_all = point * roots.rows + row;
                let bottom = bottoms
                    .as_ref()
                    .map_or(1u8.into(), |bottoms| bottoms[of_all].clone());
                for i in [0, 1, roots.of_row - 1] {
                    let k = number(row, i);
                    let x = match plan.group {
                        Group::Curve => multiple(begun, k, n),
                        Group::Values => lucas::value(&begun[1], k, n),
                    };
                    let top = &tops[of_all * roots.of_row + i];
                    assert_eq!(top, &(x * &bottom % n), "{:?} {row} {i}: {k}", plan.group);
                }
            }
        }
    }

    #[test]
    fn rows_go_on_where_others_end() {
        let n = (BigUint::from(1u8) << 89u8) - 1u8;
        let begun = [[2u8, 7], [2, 11]].map(|row| row.map(BigUint::from));
        for (group, b1) in [
            (Group::Curve, 2_400),
            (Group::Values, 2_400),
            (Group::Values, 100_000),
        ] {
            let plan = Plan::of_degree(group, 1024, b1, 50_000_000);
            let given = Given {
                n: &n,
                begun: &begun,
                b1,
                b2: 50_000_000,
            };
            let made = Multiples::new(&Engine::cpu(), false, given, plan).unwrap();
            let mut multiples = made.unwrap();
            let (roots, chosen) = multiples.babies().unwrap();
            assert!(roots.rows > 1 && chosen.len() == plan.degree);
            let Babies { length, kept, .. } = babies(plan);
            let number = |row, i: usize| length * row as u64 + kept[i];
            check(&roots, plan, (&n, &begun), number);
            // The second block goes on where the first one ends.
            for block in 0..2 {
                let roots = multiples.giants().unwrap();
                assert_eq!((roots.rows, roots.of_row), (4, 256));
                let number = |row: usize, i| {
                    let giant = plan.first + 1024 * block + (256 * row + i) as u64;
                    giant * plan.stride
                };
                check(&roots, plan, (&n, &begun), number);
            }
        }
    }
}
