//! Stage 2 of points that are computed together: points whose order, after stage 1, is a single prime `p` with `B1 < p <= B2`.
//!
//! With `p = m D + j` or `m D - j`, `|j| < D / 2`, the order `p` shows as `x(m D Q) = x(j Q)` modulo the
//! factor: `j Q` are the *baby steps*, of all `j` without a divisor in common with `D`, and `m D Q` the
//! *giant steps*. The product of all differences has the factor. Two primes `m D + j` and `m D - j`
//! share a difference.
//!
//! Differences need [one denominator for all](crate::points): that of the babies and that of a block of giants
//! multiply the others'.
//!
//! Cost: a product for each pair; six products for each point, three for its denominator, and a product
//! for each baby and block.

use bigint_host::advanced::{Chain, Step};
use bigint_host::{Batch, Engine};
use num_bigint::BigUint;

use crate::Error;
use crate::machine::Machine;
use crate::modular::gcd;
use crate::points::{
    A24, ACC, Given, Group, LAST, PRODUCT, Q, SCRATCH, STEP, TABLES, TWICE, common, copy, on_cpu,
    on_device,
};
use crate::primes::primes;
use crate::registers::Registers;

/// Giant steps of a block: an even number, after which the last two giants are where they were.
const BLOCK: u64 = 64;
const _: () = assert!(BLOCK.is_multiple_of(2));

/// The products of denominators.
const OF_BABIES: u16 = PRODUCT;
const OF_GIANTS: u16 = PRODUCT + 1;

/// The babies of a stride.
pub struct Babies {
    /// `D`.
    pub stride: u64,
    /// The number of each `j` among them.
    pub numbers: Vec<Option<u16>>,
    pub count: u16,
}

impl Babies {
    /// The babies for a stage 2 from this bound on.
    pub fn new(b1: u64) -> Self {
        let stride = match b1 {
            2310.. => 2310,
            210.. => 210,
            30.. => 30,
            _ => 6,
        };
        let mut numbers = vec![None; stride as usize / 2 + 1];
        let mut count = 0;
        for (j, number) in numbers.iter_mut().enumerate() {
            if gcd(&BigUint::from(j), &BigUint::from(stride)).bits() == 1 {
                *number = Some(count);
                count += 1;
            }
        }
        Babies {
            stride,
            numbers,
            count,
        }
    }

    /// Registers in all.
    fn registers(&self) -> u16 {
        TABLES + 3 * self.count + 2 * BLOCK as u16
    }
}

/// Giant steps of points, on the way.
#[derive(Debug)]
pub struct Giants {
    work: Registers,
    b1: u64,
    b2: u64,
    /// `D`.
    stride: u64,
    /// The number of each `j` among the babies.
    babies: Vec<Option<u16>>,
    count: u16,
    first: u64,
    /// The next giant.
    next: u64,
}

impl Giants {
    /// Begins on all cores.
    pub fn on_cpu(given: Given<'_>) -> Result<Self, Error> {
        let babies = Babies::new(given.b1);
        let work = on_cpu(given, babies.registers())?;
        Giants::begin(work, babies, given.b1, given.b2)
    }

    /// The registers of a chain for [`Giants::after`].
    pub fn registers(b1: u64) -> u16 {
        Babies::new(b1).registers()
    }

    /// Begins on all cores with the points that a chain of stage 1 has in the registers `x` and `z`; its scales
    /// are `2^32 (A + 2) / 4`.
    pub fn after(mut chain: Chain, [x, z]: [u16; 2], b1: u64, b2: u64) -> Result<Self, Error> {
        let mut steps = Vec::new();
        copy(&mut steps, [SCRATCH, SCRATCH + 1], [x, z]);
        copy(&mut steps, Q, [SCRATCH, SCRATCH + 1]);
        chain.run(&steps);
        chain.set(ACC, &[vec![1]])?;
        chain.run(&[Step::Scale { r: A24, a: ACC }]);
        Giants::begin(Registers::Cpu(chain), Babies::new(b1), b1, b2)
    }

    /// Begins on the engine's devices; `None` where it has none, or no kernel for so long a number. There is
    /// at least one point.
    pub fn on_device(engine: &Engine, given: Given<'_>) -> Result<Option<Self>, Error> {
        let babies = Babies::new(given.b1);
        let work = on_device(engine, given, babies.registers())?;
        work.map(|work| Giants::begin(work, babies, given.b1, given.b2))
            .transpose()
    }

    /// Begins on the engine's devices with rows that have [`Giants::registers`] and, set, 1, `(A + 2) / 4`, and
    /// the points' `x` and `z`.
    pub fn of_machine(machine: Machine, b1: u64, b2: u64) -> Result<Self, Error> {
        let work = Registers::Device(Box::new(machine));
        Giants::begin(work, Babies::new(b1), b1, b2)
    }

    /// Makes the babies, their denominator, and the first two giants.
    fn begin(work: Registers, babies: Babies, b1: u64, b2: u64) -> Result<Self, Error> {
        let Babies {
            stride,
            numbers,
            count,
        } = babies;
        let first = (b1 + 1 + stride / 2) / stride;
        let mut stage = Giants {
            work,
            b1,
            b2,
            stride,
            babies: numbers,
            count,
            first,
            next: first,
        };
        let steps = stage.first_steps();
        stage.work.run(steps, ACC, SCRATCH, &[])?;
        Ok(stage)
    }

    fn first_steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        Group::Curve.double(&mut steps, TWICE, Q);
        // j Q for odd j, each from the two before: those that are no babies in two registers' turn.
        let [odd, other] = LAST;
        let mut last = [Q, Q];
        for j in (1..=self.stride / 2).step_by(2) {
            let point = match (j, last) {
                (1, _) => Q,
                (_, [before, at]) => {
                    let r = if at == odd { other } else { odd };
                    // (j - 2) Q + 2 Q, whose difference is (j - 4) Q; -Q has the x of Q.
                    let r = if before == r {
                        [SCRATCH + 4, SCRATCH + 5]
                    } else {
                        r
                    };
                    Group::Curve.add(&mut steps, r, [at, TWICE], before);
                    r
                }
            };
            if let Some(i) = self.babies[j as usize] {
                copy(&mut steps, [TABLES + i, TABLES + self.count + i], point);
            }
            last = [last[1], point];
        }
        Group::Curve.multiply(&mut steps, [STEP, LAST[0]], self.stride, Q);
        Group::Curve.multiply(&mut steps, LAST, self.first, STEP);
        common(
            &mut steps,
            OF_BABIES,
            (TABLES..TABLES + self.count).collect(),
            TABLES + self.count,
        );
        steps
    }

    /// The last giant step.
    fn last(&self) -> u64 {
        (self.b2 + self.stride / 2) / self.stride
    }

    /// How many giant steps are done, and of how many.
    pub fn progress(&self) -> (u64, u64) {
        let total = (self.last() + 1).saturating_sub(self.first);
        ((self.next - self.first).min(total), total)
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        self.next > self.last()
    }

    /// Does a block of giant steps.
    pub fn advance(&mut self) -> Result<(), Error> {
        if self.is_done() {
            return Ok(());
        }
        let count = BLOCK.min(self.last() + 1 - self.next) as u16;
        let scaled = TABLES + 2 * self.count;
        let (giants, bottoms) = (scaled + self.count, scaled + self.count + BLOCK as u16);
        let mut steps = Vec::new();
        let mut last = LAST;
        for i in 0..count {
            copy(&mut steps, [giants + i, bottoms + i], last[0]);
            let next = [SCRATCH + 4, SCRATCH + 5];
            Group::Curve.add(&mut steps, next, [last[1], STEP], last[0]);
            // The older of the two is not needed any more.
            copy(&mut steps, last[0], next);
            last.swap(0, 1);
        }
        common(
            &mut steps,
            OF_GIANTS,
            (giants..giants + count).collect(),
            bottoms,
        );
        for i in 0..count {
            steps.push(Step::Mul {
                r: giants + i,
                a: giants + i,
                b: OF_BABIES,
            });
        }
        for i in 0..self.count {
            steps.push(Step::Mul {
                r: scaled + i,
                a: TABLES + i,
                b: OF_GIANTS,
            });
        }
        let pairs = self.pairs(count).into_iter();
        let pairs: Vec<_> = pairs
            .map(|(giant, baby)| [giants + giant, scaled + baby])
            .collect();
        self.work.run(steps, ACC, SCRATCH, &pairs)?;
        self.next += u64::from(count);
        Ok(())
    }

    /// The pairs of the next giants, each counted from the first of them, and of babies, once each.
    fn pairs(&self, count: u16) -> Vec<(u16, u16)> {
        let (half, stride) = (self.stride / 2, self.stride);
        let low = (self.next * stride - half).max(self.b1 + 1);
        let high = ((self.next + u64::from(count)) * stride - half - 1).min(self.b2);
        let mut pairs = Vec::new();
        primes(low, high, |p| {
            let giant = (p + half) / stride;
            let j = p.abs_diff(giant * stride);
            let baby = self.babies[j as usize].expect("a prime has no divisor in common with D");
            pairs.push(((giant - self.next) as u16, baby));
        });
        pairs.sort_unstable();
        pairs.dedup();
        pairs
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

/// The registers that [`Giants::of_machine`] begins with: the point's `z` is the last.
pub const GIVEN_Z: u16 = Q[1];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prime_is_in_a_pair_of_its_block_alone() {
        let n = BigUint::from(1_000_003u32);
        let begun = [[BigUint::from(5u8), 2u8.into()]];
        for (b1, b2) in [
            (11, 40),
            (11, 3000),
            (40, 41),
            (31, 9000),
            (211, 30_000),
            (2311, 500_000),
        ] {
            let given = Given {
                n: &n,
                begun: &begun,
                b1,
                b2,
            };
            let mut giants = Giants::on_cpu(given).unwrap();
            let mut expected = Vec::new();
            primes(b1 + 1, b2, |p| expected.push(p));
            let mut found: Vec<u64> = Vec::new();
            while !giants.is_done() {
                let count = BLOCK.min(giants.last() + 1 - giants.next);
                for (giant, baby) in giants.pairs(count as u16) {
                    assert!(u64::from(giant) < count);
                    let is_it = |&number: &Option<u16>| number == Some(baby);
                    let j = giants.babies.iter().position(is_it).unwrap() as u64;
                    let at = (giants.next + u64::from(giant)) * giants.stride;
                    found.extend(
                        [at - j, at + j]
                            .iter()
                            .filter(|p| expected.binary_search(p).is_ok()),
                    );
                }
                giants.next += count;
            }
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, expected, "{b1} {b2}");
        }
    }
}
