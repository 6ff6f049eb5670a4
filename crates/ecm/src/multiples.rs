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
//! Each row has [a denominator of its own](crate::points). Times the others' denominators it is that of all.

use bigint_host::advanced::Step;
use bigint_host::{Batch, Engine};
use num_bigint::BigUint;

use crate::modular::gcd;
use crate::points::{
    A24, ACC, LAST, PRODUCT, Q, SCRATCH, STEP, TABLES, TWICE, add, common, copy, double, multiply,
    on_cpu, on_device,
};
use crate::registers::Registers;
use crate::resultant::Plan;
use crate::{Error, Point};

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
    /// For each row of each point a number, in which `x S` of its multiples are side by side.
    pub tops: Batch,
    /// `S` of each row.
    pub bottoms: Batch,
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
        n: &BigUint,
        points: &[Point],
        plan: Plan,
    ) -> Result<Option<Self>, Error> {
        let (_, rows) = Multiples::of_giants(plan);
        let registers = STARTS + 4 * rows.max(babies(plan).rows) as u16;
        let mut trunk = match is_on_device {
            true => match on_device(engine, n, points, registers)? {
                Some(trunk) => trunk,
                None => return Ok(None),
            },
            false => on_cpu(n, points, registers)?,
        };
        let mut steps = Vec::new();
        double(&mut steps, TWICE, Q);
        multiply(&mut steps, [STEP, UNUSED], plan.stride, Q);
        trunk.run(steps, ACC, SCRATCH, &[])?;
        Ok(Some(Multiples {
            engine: engine.clone(),
            n: n.clone(),
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
        begin(&mut steps, (1, 2, length), Q);
        let starts = self.starts(steps, TWICE, rows)?;
        let is_kept = |i: u64| kept.contains(&(2 * i + 1));
        Ok((self.walk(starts, rows, length / 2, is_kept)?, chosen))
    }

    /// The next block of giants.
    pub fn giants(&mut self) -> Result<Roots, Error> {
        let (of_row, rows) = Multiples::of_giants(self.plan);
        let mut steps = Vec::new();
        if !self.has_giants {
            begin(&mut steps, (self.plan.first, 1, of_row as u64), STEP);
            self.has_giants = true;
        }
        let starts = self.starts(steps, STEP, rows)?;
        self.walk(starts, rows, of_row as u64, |_| true)
    }

    /// The first registers of each row of each point that the trunk comes to; the rows' step is `step`.
    fn starts(
        &mut self,
        mut steps: Vec<Step>,
        step: [u16; 2],
        rows: usize,
    ) -> Result<Batch, Error> {
        let mut order = Vec::with_capacity(12 * rows);
        for start in (STARTS..).step_by(4).take(rows) {
            let [first, second] = [[start, start + 1], [start + 2, start + 3]];
            for (kept, two) in [(first, LAST), (second, SECOND)] {
                copy(&mut steps, kept, two[0]);
                let next = [SCRATCH + 4, SCRATCH + 5];
                add(&mut steps, next, two[1], ROW, two[0]);
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
        let engine = &self.engine;
        let mut work = self.trunk.with_rows(&self.n, starts, registers)?;
        let (mut steps, mut last, mut kept) = (Vec::new(), LAST, 0);
        for i in 0..count {
            if is_kept(i) {
                copy(&mut steps, [tops.start + kept, tops.end + kept], last[0]);
                kept += 1;
            }
            let next = [SCRATCH + 4, SCRATCH + 5];
            add(&mut steps, next, last[1], STEP, last[0]);
            copy(&mut steps, last[0], next);
            last.swap(0, 1);
        }
        common(&mut steps, PRODUCT, tops.clone().collect(), tops.end);
        work.run(steps, ACC, SCRATCH, &[])?;
        Ok(Roots {
            tops: work.columns(engine, &tops.collect::<Vec<_>>())?,
            bottoms: work.columns(engine, &[PRODUCT])?,
            rows,
            of_row: of_row.into(),
        })
    }
}

/// Begins a trunk: rows from multiple `first` of a point on, by steps of `step`, and `length` multiples from one row to the next.
fn begin(steps: &mut Vec<Step>, (first, step, length): (u64, u64, u64), p: [u16; 2]) {
    for (r, k) in [(LAST, first), (SECOND, first + step)] {
        multiply(steps, [r[0], UNUSED], k, p);
        multiply(steps, [r[1], UNUSED], k + length, p);
    }
    multiply(steps, [ROW, UNUSED], length, p);
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
