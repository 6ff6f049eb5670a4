//! Stage 2 of points that are computed together: points whose order, after stage 1, is a single prime `p` with `B1 < p <= B2`.
//!
//! With `p = m D + j` or `m D - j` the order `p` shows as `x(m D Q) = x(j Q)` modulo the
//! factor: `j Q` are the *baby steps*, of all `j` below a reach without a divisor in common with `D`, and `m D Q` the
//! *giant steps*. The product of the differences of [pairs](crate::pairing) has the factor.
//!
//! Differences need [one denominator for all](crate::points): that of the babies and that of a block of giants
//! multiply the others'.
//!
//! Cost: a product for each pair; ten products for each point, its denominator included, and a product
//! for each baby and block.

use std::collections::HashMap;

use bigint_host::advanced::{Chain, Step};
use bigint_host::{Batch, Engine};
use num_bigint::BigUint;

use crate::Error;
use crate::machine::Machine;
use crate::pairing::{Pairing, Plan};
use crate::points::{
    A24, ACC, Given, Group, LAST, PRODUCT, Q, SCRATCH, STEP, TABLES, TWICE, common, copy, of_points,
};
use crate::registers::{Move, Registers};

/// The products of denominators.
const OF_BABIES: u16 = PRODUCT;
const OF_GIANTS: u16 = PRODUCT + 1;

/// Giant steps of points, on the way.
#[derive(Debug)]
pub struct Giants {
    work: Registers,
    plan: Plan,
    pairing: Pairing,
    /// The pairs of the next block of giants, found while a device is at work.
    pairs: Vec<[u16; 2]>,
    tables: Tables,
    /// The next giant.
    next: u64,
}

/// The first registers of tables: those of giants, then of babies as a block has them, whose denominators are
/// there before, then of babies as they stay, so that rows of later launches end before these.
#[derive(Clone, Copy, Debug)]
struct Tables {
    giants: u16,
    of_giants: u16,
    scaled: u16,
    babies: u16,
    end: u16,
}

impl Tables {
    fn new(plan: &Plan) -> Self {
        // Giants' registers have multiples that are no babies at first.
        let beside = plan.multiples().filter(|&(j, _)| !plan.is_baby(j)).count();
        let giants = plan.block.max(beside as u64) as u16;
        let scaled = TABLES + 2 * giants;
        Tables {
            giants: TABLES,
            of_giants: TABLES + giants,
            scaled,
            babies: scaled + plan.count,
            end: scaled + 2 * plan.count,
        }
    }
}

impl Giants {
    /// Begins on all cores.
    pub fn on_cpu(given: Given<'_>) -> Result<Self, Error> {
        let plan = Plan::new(false, given.b1, given.b2);
        let work = of_points(None, given, Tables::new(&plan).end)?;
        Giants::begin(work.expect("cores"), plan)
    }

    /// The registers of a chain for [`Giants::after`], or of a device for [`Giants::of_machine`].
    pub fn registers(is_on_device: bool, b1: u64, b2: u64) -> u16 {
        Tables::new(&Plan::new(is_on_device, b1, b2)).end
    }

    /// The numbers that a device keeps of a point: the rows of the first launch, the last one and the next.
    pub fn numbers(b1: u64, b2: u64) -> usize {
        let tables = Tables::new(&Plan::new(true, b1, b2));
        usize::from(tables.end) + 2 * usize::from(tables.babies)
    }

    /// Begins on all cores with the points that a chain of stage 1 has in the registers `x` and `z`; its scales
    /// are `2^32 (A + 2) / 4`.
    pub fn after(mut chain: Chain, [x, z]: [u16; 2], b1: u64, b2: u64) -> Result<Self, Error> {
        let moves = [
            [SCRATCH, x],
            [SCRATCH + 1, z],
            [Q[0], SCRATCH],
            [Q[1], SCRATCH + 1],
        ];
        chain.run(&moves.map(|[r, a]| Step::Copy { r, a }));
        chain.set(ACC, &[vec![1]])?;
        chain.run(&[Step::Scale { r: A24, a: ACC }]);
        Giants::begin(Registers::Cpu(chain), Plan::new(false, b1, b2))
    }

    /// Begins on the engine's devices; `None` where it has none, or no kernel for so long a number. There is
    /// at least one point.
    pub fn on_device(engine: &Engine, given: Given<'_>) -> Result<Option<Self>, Error> {
        let plan = Plan::new(true, given.b1, given.b2);
        let work = of_points(Some(engine), given, Tables::new(&plan).end)?;
        work.map(|work| Giants::begin(work, plan)).transpose()
    }

    /// Begins on the engine's devices with rows that have [`Giants::registers`] and, set, 1, `(A + 2) / 4`, and
    /// the points' `x` and `z`.
    pub fn of_machine(machine: Machine, b1: u64, b2: u64) -> Result<Self, Error> {
        let work = Registers::Device(Box::new(machine));
        Giants::begin(work, Plan::new(true, b1, b2))
    }

    /// Makes the babies, their denominator, and the first two giants.
    fn begin(mut work: Registers, plan: Plan) -> Result<Self, Error> {
        let tables = Tables::new(&plan);
        work.start(first_steps(&plan, tables), ACC, SCRATCH, &[])?;
        let mut giants = Giants {
            work,
            pairing: Pairing::new(&plan),
            pairs: Vec::new(),
            tables,
            next: plan.first,
            plan,
        };
        giants.find_pairs();
        giants.work.wait()?;
        Ok(giants)
    }

    /// How many giants the next block has.
    fn block(&self) -> u64 {
        let left = (self.plan.last + 1).saturating_sub(self.next);
        self.plan.block.min(left)
    }

    /// Finds the next block's pairs.
    fn find_pairs(&mut self) {
        if self.is_done() {
            return;
        }
        let Tables { giants, scaled, .. } = self.tables;
        let pairs = self.pairing.next(self.block()).into_iter();
        self.pairs = pairs
            .map(|(giant, baby)| [giants + giant, scaled + baby])
            .collect();
    }

    /// How many giant steps are done, and of how many.
    pub fn progress(&self) -> (u64, u64) {
        let Plan { first, last, .. } = self.plan;
        (self.next - first, (last + 1).saturating_sub(first))
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        self.next > self.plan.last
    }

    /// Does a block of giant steps.
    pub fn advance(&mut self) -> Result<(), Error> {
        if self.is_done() {
            return Ok(());
        }
        let count = self.block() as u16;
        let Tables {
            giants,
            of_giants,
            scaled,
            babies,
            ..
        } = self.tables;
        let giant = |i: u16| [giants + i, of_giants + i];
        let mut steps = Vec::new();
        for (i, last) in (0..count).zip(LAST) {
            copy(&mut steps, giant(i), last);
        }
        for i in 2..count {
            Group::Curve.add(&mut steps, giant(i), [giant(i - 1), STEP], giant(i - 2));
        }
        self.next += u64::from(count);
        if !self.is_done() {
            let [next, after] = LAST;
            let [older, newer] = [giant(count - 2), giant(count - 1)];
            Group::Curve.add(&mut steps, next, [newer, STEP], older);
            Group::Curve.add(&mut steps, after, [next, STEP], newer);
        }
        let tops = giants..giants + count;
        common(&mut steps, OF_GIANTS, tops, of_giants, Some(OF_BABIES));
        for i in 0..self.plan.count {
            let (r, a, b) = (scaled + i, babies + i, OF_GIANTS);
            steps.push(Step::Mul { r, a, b }.into());
        }
        self.work.start(steps, ACC, SCRATCH, &self.pairs)?;
        self.find_pairs();
        self.work.wait()
    }

    /// [`Giants::products`] as devices have them; `None` on the CPU.
    pub fn products_on_device(&self) -> Result<Option<Batch>, Error> {
        match &self.work {
            Registers::Device(machine) => machine.column(ACC).map(Some),
            Registers::Cpu(_) => Ok(None),
        }
    }

    /// The product of each point's differences.
    pub fn products(&self) -> Result<Vec<BigUint>, Error> {
        self.work.get(ACC)
    }
}

fn first_steps(plan: &Plan, tables: Tables) -> Vec<Move> {
    let mut steps = Vec::new();
    let mut points = HashMap::from([(1, Q)]);
    let (mut babies, mut others) = (0, 0);
    // The multiple that STEP is.
    let mut at = 1;
    for (j, step) in plan.multiples() {
        if at < step {
            next_step(&mut steps, &mut at, step);
        }
        let (table, number) = match plan.is_baby(j) {
            true => ([tables.babies, tables.scaled], &mut babies),
            false => ([tables.giants, tables.of_giants], &mut others),
        };
        let r = table.map(|first| first + *number);
        *number += 1;
        match j {
            1 => copy(&mut steps, r, Q),
            _ => Group::Curve.add(
                &mut steps,
                r,
                [points[&(j - step)], STEP],
                points[&j.abs_diff(2 * step)],
            ),
        }
        points.insert(j, r);
    }
    if at < plan.stride {
        next_step(&mut steps, &mut at, plan.stride);
    }
    Group::Curve.multiply(&mut steps, LAST, plan.first, STEP);
    let tops = tables.babies..tables.end;
    common(&mut steps, OF_BABIES, tops, tables.scaled, None);
    steps
}

/// Makes another multiple of the point of STEP, which is that of `at`; it is one of Q where that is 1.
fn next_step(steps: &mut Vec<Move>, at: &mut u64, step: u64) {
    let p = if *at == 1 { Q } else { STEP };
    Group::Curve.multiply(steps, [TWICE, LAST[0]], step / *at, p);
    copy(steps, STEP, TWICE);
    *at = step;
}

/// The registers that [`Giants::of_machine`] begins with: the point's `z` is the last.
pub const GIVEN_Z: u16 = Q[1];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::gcd;
    use crate::points::Begun;

    /// The prime that curves find.
    const P: u64 = 1009;

    /// A number with that prime and one that no curve finds.
    fn modulus() -> BigUint {
        ((BigUint::from(1u8) << 107u32) - 1u8) * P
    }

    /// Curves and points modulo P, and so modulo any number.
    fn begun() -> Vec<Begun> {
        let row = |i: u64| [i * i * 7 + 3, 2 + i].map(|number| BigUint::from(number % P));
        (1..=130).map(row).collect()
    }

    /// The least multiple of the point that is neutral modulo P, one after another.
    fn order([a24, x]: &Begun) -> u64 {
        let [a24, x] = [a24, x].map(|number| u64::try_from(number).unwrap());
        let sub = |a: u64, b: u64| (a + P - b) % P;
        let square = |a: u64| a * a % P;
        let (sum, difference) = (square(x + 1), square(sub(x, 1)));
        let four = sub(sum, difference);
        let twice = [
            sum * difference % P,
            four * (difference + a24 * four % P) % P,
        ];
        let (mut before, mut at, mut order) = ([x, 1], twice, 2);
        while at[1] != 0 {
            if at[0] == 0 {
                // Half of the order, which is no difference.
                return 2 * order;
            }
            let u = sub(at[0], at[1]) * (x + 1) % P;
            let v = (at[0] + at[1]) * sub(x, 1) % P;
            let next = [
                square(u + v) * before[1] % P,
                square(sub(u, v)) * before[0] % P,
            ];
            (before, at, order) = (at, next, order + 1);
        }
        order
    }

    fn plan(stride: u64, halves: u64, block: u64) -> Plan {
        Plan::of(31, 700, (stride, halves, block)).unwrap()
    }

    fn hits(mut giants: Giants) -> Vec<bool> {
        while !giants.is_done() {
            let (done, of) = giants.progress();
            assert!(done < of);
            giants.advance().unwrap();
        }
        let n = modulus();
        let products = giants.products().unwrap().into_iter();
        products
            .map(|product| gcd(&product, &n).bits() > 1)
            .collect()
    }

    /// Several blocks and one, with one giant in the last and more, and all reaches.
    const WAYS: [(u64, u64, u64); 6] = [
        (6, 1, 32),
        (6, 8, 32),
        (12, 2, 64),
        (30, 4, 32),
        (210, 6, 32),
        (210, 16, 64),
    ];

    #[test]
    fn a_point_is_found_where_its_order_divides_a_multiple_of_a_pair_and_nowhere_else() {
        let (n, begun) = (modulus(), begun());
        let orders: Vec<_> = begun.iter().map(order).collect();
        let [mut primes, mut missed] = [0; 2];
        for way in WAYS {
            let plan = plan(way.0, way.1, way.2);
            let given = Given {
                n: &n,
                begun: &begun,
                b1: 31,
                b2: 700,
            };
            let work = of_points(None, given, Tables::new(&plan).end)
                .unwrap()
                .unwrap();
            let found = hits(Giants::begin(work, plan.clone()).unwrap());
            let babies: Vec<_> = (1..plan.reach).filter(|&j| plan.is_baby(j)).collect();
            let giants = plan.last + 1 - plan.first;
            let pairs = Pairing::new(&plan).next(giants);
            for (&order, found) in orders.iter().zip(found) {
                let is_neutral = |k: u64| k.is_multiple_of(order);
                let is_shown = pairs.iter().any(|&(giant, baby)| {
                    let at = (plan.first + u64::from(giant)) * plan.stride;
                    let j = babies[usize::from(baby)];
                    is_neutral(at + j) || is_neutral(at.abs_diff(j))
                });
                // Where a point that others are made from is neutral, or twice it is, a denominator may be zero.
                let is_near = |k: u64| (2 * k).is_multiple_of(order);
                let is_by_chance = plan.multiples().any(|(j, _)| is_near(j))
                    || (plan.first..=plan.last).any(|m| is_near(m * plan.stride));
                assert!(found || !is_shown, "{way:?}: order {order}");
                assert!(!found || is_shown || is_by_chance, "{way:?}: order {order}");
                missed += usize::from(!found);
                let is_prime = (2..order).all(|d| !order.is_multiple_of(d));
                if is_prime && (32..=700).contains(&order) {
                    assert!(found);
                    primes += 1;
                }
            }
        }
        assert!(primes > 20 && missed > 20, "{primes} {missed}");
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn a_device_finds_what_the_cpu_finds_in_blocks_of_any_number_of_giants() {
        let name =
            "giants::tests::a_device_finds_what_the_cpu_finds_in_blocks_of_any_number_of_giants";
        if !bigint_testing::simulator::on_simulator(name, &[]) {
            return;
        }
        let (n, begun) = (modulus(), begun());
        let engine = Engine::cuda(0).unwrap();
        for way in WAYS {
            let plan = plan(way.0, way.1, way.2);
            let given = Given {
                n: &n,
                begun: &begun,
                b1: 31,
                b2: 700,
            };
            let registers = Tables::new(&plan).end;
            let device = of_points(Some(&engine), given, registers).unwrap().unwrap();
            let device = Giants::begin(device, plan.clone()).unwrap();
            let cpu =
                Giants::begin(of_points(None, given, registers).unwrap().unwrap(), plan).unwrap();
            assert_eq!(hits(device), hits(cpu), "{way:?}");
        }
    }
}
