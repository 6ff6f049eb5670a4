//! P-1 ([Pollard 1974]) and P+1 ([Williams 1982]): a prime `p` is found where `p - 1`, or `p + 1`, is a product of
//! primes up to `B1` and one up to `B2`.
//!
//! With `v = a + 1/a` let `V_k = a^k + 1/a^k`: then `V_0 = 2`, `V_1 = v`, and
//!
//! ```text
//! V_(i+j) = V_i V_j - V_(i-j)      V_(2i) = V_i^2 - 2
//! ```
//!
//! have no `a`, which need not be a number modulo `p`: where `v^2 - 4` is no square it is in the field of `p^2`
//! elements, and its order divides `p + 1`; else it divides `p - 1`. In both, `V_k = 2` modulo `p` where the order
//! divides `k`. P+1 starts at some `v`, so that half of the starts are those of P-1; P-1 starts at a number `a`.
//!
//! **Stage 1** has `V_s` for the [`scalar`](crate::scalar) `s`. A bit costs two products, of P-1 a square and a
//! product by one limb.
//!
//! **Stage 2**, with a prime `q = m D + j` or `m D - j` after stage 1: where `q` is the order that is left,
//! `V_(mD) = V_j` modulo `p`. The product of all differences has the factor. Unlike points of curves, values need no
//! denominator. One number has no curves to fill the rows, so each row has a stretch of the giant steps `m D`, the
//! same number in all; since steps are those of all rows, each giant step meets all `j`, not those alone that
//! make a prime: twice the products, by as many rows as there are. Cost: `phi(D) / 2 D`, .104, of a product for each
//! number up to `B2`. Where that takes longer, the differences of all `j` and all steps are [resultants](crate::resultant).

use bigint_host::Engine;
use bigint_host::advanced::{Chain, Step};
use num_bigint::BigUint;

use crate::modular::{gcd, inverse, sub};
use crate::points::{Begun, Given, Group};
use crate::registers::{Column, Registers};
use crate::{Continuation, Error, Stage2, resultant};

/// Which numbers have to be smooth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `p - 1`.
    PMinus1,
    /// `p + 1`, or `p - 1`, as the start has it.
    PPlus1,
}

impl Method {
    /// `V_s` for [`LucasStage2`] of what stage 1 has left; or the divisor of the number that stage 1 has
    /// found, which may be the number itself.
    ///
    /// # Errors
    /// The divisor.
    pub fn value(self, residue: &BigUint, n: &BigUint) -> Result<BigUint, BigUint> {
        let neutral = match self {
            Method::PMinus1 => BigUint::from(1u8),
            Method::PPlus1 => BigUint::from(2u8),
        };
        let residue = residue % n;
        let divisor = gcd(&sub(&residue, &(neutral % n), n), n);
        match (divisor.bits(), self) {
            (2.., _) => Err(divisor),
            (_, Method::PMinus1) => Ok((inverse(&residue, n)? + residue) % n),
            (_, Method::PPlus1) => Ok(residue),
        }
    }
}

/// `V_k`, its next, the start, and 2. Of P-1, `a^k` alone.
const V: u16 = 0;
const NEXT: u16 = 1;
const START: u16 = 2;
const TWO: u16 = 3;

/// Steps that are written down at a time.
const STEPS: usize = 1 << 14;

/// Stage 1 of P-1 or P+1, on the way, on all cores: a row for each start.
#[derive(Debug)]
pub struct LucasStage1 {
    method: Method,
    scalar: BigUint,
    chain: Chain,
    done: usize,
}

impl LucasStage1 {
    /// Begins with so many starts modulo an odd number above 1, and a scalar of 2 or more. The starts of P+1 are
    /// 2/7, 6/5, 3, 4, and so on: other starts may find what one has missed. Those of P-1 are `3 / 2^32`,
    /// `5 / 2^32`, and so on, one of which does; the order of powers of two is small modulo Mersenne numbers.
    ///
    /// # Errors
    /// [`Error::Cpu`], where memory runs out.
    pub fn new(n: &BigUint, method: Method, starts: u32, scalar: &BigUint) -> Result<Self, Error> {
        let mut chain = Chain::new(&n.to_u32_digits(), TWO + 1, starts as usize)?;
        match method {
            Method::PMinus1 => {
                let odd = (0..starts).map(|i| 2 * i + 3);
                chain.set_scales(&odd.collect::<Vec<_>>())?;
                chain.set(V, &[vec![1]])?;
                chain.run(&[Step::Scale { r: V, a: V }]);
            }
            Method::PPlus1 => {
                let over = |top: u32, bottom: u32| {
                    let inverse = inverse(&(BigUint::from(bottom) % n), n).ok()?;
                    Some(inverse * top % n)
                };
                let start = |i: u32| {
                    let fraction = match i {
                        0 => over(2, 7),
                        1 => over(6, 5),
                        _ => None,
                    };
                    fraction.unwrap_or_else(|| BigUint::from(i + 1) % n)
                };
                let starts: Vec<_> = (0..starts).map(|i| start(i).to_u32_digits()).collect();
                chain.set(V, &starts)?;
                chain.set(START, &starts)?;
                chain.set(TWO, &[(BigUint::from(2u8) % n).to_u32_digits()])?;
                let (r, a) = (NEXT, V);
                chain.run(&[Step::square(r, a), Step::Sub { r, a: r, b: TWO }]);
            }
        }
        Ok(LucasStage1 {
            method,
            scalar: scalar.clone(),
            chain,
            // The first bit is the start itself.
            done: 1,
        })
    }

    /// How many bits of the scalar are done, and of how many.
    pub fn progress(&self) -> (usize, usize) {
        (self.done, self.scalar.bits() as usize)
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        self.done == self.scalar.bits() as usize
    }

    /// Does so many bits more, or the last ones.
    pub fn advance(&mut self, times: usize) {
        let (from, total) = self.progress();
        let to = total.min(from + times);
        let mut steps = Vec::with_capacity(STEPS + 8);
        for at in from..to {
            let bit = self.scalar.bit((total - 1 - at) as u64);
            match self.method {
                Method::PMinus1 => {
                    steps.push(Step::square(V, V));
                    if bit {
                        steps.push(Step::Scale { r: V, a: V });
                    }
                }
                Method::PPlus1 => double(&mut steps, bit),
            }
            if steps.len() >= STEPS {
                self.chain.run(&steps);
                steps.clear();
            }
        }
        self.chain.run(&steps);
        self.done = to;
    }

    /// The registers of this stage, of each start, with which [`resume`](Self::resume) goes on.
    pub fn state(&self) -> Vec<Vec<BigUint>> {
        let numbers = |&register: &u16| {
            let numbers = self.chain.get(register).into_iter();
            numbers.map(BigUint::new).collect()
        };
        self.registers().iter().map(numbers).collect()
    }

    /// Goes on where another process was: `done` bits of a stage 1 like this one.
    ///
    /// # Errors
    /// [`Error::Cpu`] where `state` is not of so many starts.
    pub fn resume(&mut self, done: usize, state: &[Vec<BigUint>]) -> Result<(), Error> {
        for (&register, numbers) in self.registers().iter().zip(state) {
            let numbers = numbers.iter().map(BigUint::to_u32_digits);
            self.chain.set(register, &numbers.collect::<Vec<_>>())?;
        }
        self.done = done;
        Ok(())
    }

    /// The registers that change on the way.
    fn registers(&self) -> &'static [u16] {
        match self.method {
            Method::PMinus1 => &[V],
            Method::PPlus1 => &[V, NEXT],
        }
    }

    /// What each start has become, as save lines have it: of P-1 a power, of P+1 a value.
    ///
    /// # Panics
    /// If something is left to be done.
    pub fn finish(self) -> Vec<BigUint> {
        assert!(self.is_done());
        let residues = self.chain.get(V).into_iter();
        residues.map(BigUint::new).collect()
    }
}

/// From `V_k` and `V_(k+1)` those of `2 k` or, for a bit, `2 k + 1`.
fn double(steps: &mut Vec<Step>, bit: bool) {
    let (same, other) = if bit { (NEXT, V) } else { (V, NEXT) };
    steps.extend([
        Step::Mul {
            r: other,
            a: other,
            b: same,
        },
        Step::Sub {
            r: other,
            a: other,
            b: START,
        },
        Step::square(same, same),
        Step::Sub {
            r: same,
            a: same,
            b: TWO,
        },
    ]);
}

/// `V_k` of one `v`, which is below `n`.
pub fn value(v: &BigUint, k: u64, n: &BigUint) -> BigUint {
    let two = BigUint::from(2u8) % n;
    let (mut low, mut high) = (two.clone(), v.clone());
    for i in (0..64 - k.leading_zeros()).rev() {
        let both = sub(&(&low * &high % n), v, n);
        if k >> i & 1 == 1 {
            high = sub(&(&high * &high % n), &two, n);
            low = both;
        } else {
            low = sub(&(&low * &low % n), &two, n);
            high = both;
        }
    }
    low
}

/// The product of differences, 1, the values of 1, 2 and `D`, and a row's next two giants.
const ACC: u16 = 0;
const ONE: u16 = 1;
const FIRST: u16 = 2;
const SECOND: u16 = 3;
const STRIDE: u16 = 4;
const GIANTS: u16 = 5;

/// Giant steps of a block.
const BLOCK: u64 = 16;

/// The first of three scratch registers, after the giants of a block and the next two.
const SCRATCH: u16 = GIANTS + BLOCK as u16 + 2;
const TABLE: u16 = SCRATCH + 3;

/// Rows of a device: enough to fill one.
const ON_DEVICE: u64 = 1 << 16;

/// Rows of each core: those of a vector.
const OF_CORE: u64 = 8;

/// Products of a step for each `j`, on the way.
#[derive(Debug)]
struct Steps {
    n: BigUint,
    work: Registers,
    /// Rows of each value.
    rows: usize,
    /// Giant steps of each row.
    giants: u64,
    done: u64,
    babies: u16,
}

impl Steps {
    fn advance(&mut self) -> Result<(), Error> {
        let mut steps = Vec::new();
        if self.done > 0 {
            let last = GIANTS + BLOCK as u16;
            steps.extend([0, 1].map(|i| Step::Copy {
                r: GIANTS + i,
                a: last + i,
            }));
        }
        let giants = GIANTS..GIANTS + BLOCK as u16;
        for giant in giants.clone() {
            next(&mut steps, giant + 2, giant + 1, STRIDE, giant);
        }
        let babies = TABLE..TABLE + self.babies;
        let count = BLOCK.min(self.giants - self.progress().0) as usize;
        let pairs = giants
            .take(count)
            .flat_map(|giant| babies.clone().map(move |baby| [giant, baby]));
        let pairs: Vec<_> = pairs.collect();
        self.work.run(steps, ACC, SCRATCH, &pairs)?;
        self.done += BLOCK;
        Ok(())
    }

    fn progress(&self) -> (u64, u64) {
        (self.done.min(self.giants), self.giants)
    }

    fn finish(self) -> Result<Vec<Option<BigUint>>, Error> {
        let products = self.work.get(ACC)?;
        let of_value = |rows: &[BigUint]| {
            let one = BigUint::from(1u8);
            let product = rows.iter().fold(one, |all, x| all * x % &self.n);
            Some(gcd(&product, &self.n)).filter(|divisor| divisor.bits() > 1)
        };
        Ok(products.chunks(self.rows.max(1)).map(of_value).collect())
    }
}

/// Who does stage 2.
#[derive(Debug)]
enum Work {
    Steps(Steps),
    Polynomials(Stage2),
}

/// Stage 2 of P-1 or P+1 on the way.
#[derive(Debug)]
pub struct LucasStage2(Work);

impl LucasStage2 {
    /// Begins on all cores with what stage 1 up to `b1`, 11 or more, has left modulo an odd number.
    ///
    /// # Errors
    /// [`Error::Cpu`], where memory runs out.
    pub fn new(n: &BigUint, values: &[BigUint], b1: u64, b2: u64) -> Result<Self, Error> {
        let by = continuation(false, n.bits(), b1, b2);
        LucasStage2::new_by(by, n, values, b1, b2)
    }

    /// [`LucasStage2::new`] by one of the ways.
    ///
    /// # Errors
    /// As for [`LucasStage2::new`].
    pub fn new_by(
        by: Continuation,
        n: &BigUint,
        values: &[BigUint],
        b1: u64,
        b2: u64,
    ) -> Result<Self, Error> {
        if by == Continuation::Polynomials {
            let begun = &begun(values, n);
            let given = Given { n, begun, b1, b2 };
            let stage = Stage2::on_cpu(by, Group::Values, given)?;
            return Ok(LucasStage2(Work::Polynomials(stage)));
        }
        let most = OF_CORE * bigint_cpu::threads() as u64;
        let plan = Plan::new(values.len(), b1, b2, most);
        let work = plan.work(None, values, n)?;
        plan.begin(n, work.expect("cores"))
    }

    /// [`LucasStage2::new`] on the engine's devices; `None` where it has none, or no kernel for so long a number:
    /// there is one up to 9210 bits.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn on_device(
        engine: &Engine,
        n: &BigUint,
        values: &[BigUint],
        b1: u64,
        b2: u64,
    ) -> Result<Option<Self>, Error> {
        let by = continuation(true, n.bits(), b1, b2);
        LucasStage2::on_device_by(by, engine, n, values, b1, b2)
    }

    /// [`LucasStage2::on_device`] by one of the ways.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn on_device_by(
        by: Continuation,
        engine: &Engine,
        n: &BigUint,
        values: &[BigUint],
        b1: u64,
        b2: u64,
    ) -> Result<Option<Self>, Error> {
        if by == Continuation::Polynomials {
            let begun = &begun(values, n);
            let given = Given { n, begun, b1, b2 };
            let stage = Stage2::on_devices(by, engine, Group::Values, given)?;
            return Ok(stage.map(|stage| LucasStage2(Work::Polynomials(stage))));
        }
        let plan = Plan::new(values.len(), b1, b2, ON_DEVICE);
        let work = plan.work(Some(engine), values, n)?;
        work.map(|work| plan.begin(n, work)).transpose()
    }

    /// How many giant steps of each row are done, and of how many; of polynomials, how many steps.
    pub fn progress(&self) -> (u64, u64) {
        match &self.0 {
            Work::Steps(steps) => steps.progress(),
            Work::Polynomials(stage) => stage.progress(),
        }
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        match &self.0 {
            Work::Steps(steps) => steps.done >= steps.giants,
            Work::Polynomials(stage) => stage.is_done(),
        }
    }

    /// Does a block of giant steps, or a step of polynomials.
    ///
    /// # Errors
    /// [`Error::Engine`], of a device.
    pub fn advance(&mut self) -> Result<(), Error> {
        match &mut self.0 {
            Work::Steps(steps) => steps.advance(),
            Work::Polynomials(stage) => stage.advance(),
        }
    }

    /// The divisor of the number that each value has found, above 1; it may be the number itself.
    ///
    /// # Errors
    /// [`Error::Engine`], of a device.
    ///
    /// # Panics
    /// If something is left to be done.
    pub fn finish(self) -> Result<Vec<Option<BigUint>>, Error> {
        assert!(self.is_done());
        match self.0 {
            Work::Steps(steps) => steps.finish(),
            Work::Polynomials(stage) => Ok(stage.finish()),
        }
    }
}

/// What rows of values begin with.
fn begun(values: &[BigUint], n: &BigUint) -> Vec<Begun> {
    let two = BigUint::from(2u8) % n;
    let of_value = |v: &BigUint| [two.clone(), v % n];
    values.iter().map(of_value).collect()
}

/// The way that takes less time modulo a number of so many bits.
fn continuation(is_on_device: bool, bits: u64, b1: u64, b2: u64) -> Continuation {
    let Babies { stride, count, .. } = Babies::new(b1);
    let products = b2.saturating_sub(b1) as f64 * f64::from(count) / stride as f64;
    let polynomials = resultant::Plan::new(Group::Values, b1, b2);
    match polynomials.products(is_on_device, bits) < products {
        true => Continuation::Polynomials,
        false => Continuation::Giants,
    }
}

/// `r = x y - z`, where it may be subtracted itself: so it is a product by 1.
fn next(steps: &mut Vec<Step>, r: u16, x: u16, y: u16, z: u16) {
    steps.extend([
        Step::Mul { r, a: x, b: y },
        Step::Sub { r, a: r, b: z },
        Step::Mul { r, a: r, b: ONE },
    ]);
}

/// The babies of a stride: all `j` up to its half that have no divisor in common with it.
struct Babies {
    stride: u64,
    /// The number of each `j` among them.
    numbers: Vec<Option<u16>>,
    count: u16,
}

impl Babies {
    /// The babies for a stage 2 from this bound on.
    fn new(b1: u64) -> Self {
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
}

/// What the rows of stage 2 do.
struct Plan {
    babies: Babies,
    /// The first giant of all.
    first: u64,
    /// Giants of a row, and rows of a value.
    giants: u64,
    rows: u64,
}

impl Plan {
    /// So many rows at most for all values.
    fn new(values: usize, b1: u64, b2: u64, most: u64) -> Self {
        let babies = Babies::new(b1);
        let half = babies.stride / 2;
        let first = (b1 + 1 + half) / babies.stride;
        let giants = ((b2.max(b1) + half) / babies.stride + 1)
            .saturating_sub(first)
            .max(1);
        let rows = (most / values.max(1) as u64).clamp(1, giants);
        Plan {
            babies,
            first,
            giants: giants.div_ceil(rows),
            rows,
        }
    }

    /// The registers of all rows, on the engine's devices or on all cores; `None` where there is no kernel.
    fn work(
        &self,
        engine: Option<&Engine>,
        values: &[BigUint],
        n: &BigUint,
    ) -> Result<Option<Registers>, Error> {
        let rows: Vec<_> = self.rows(values, n).collect();
        let column = |i: usize| Column::each(rows.iter().map(|row| row[i].clone()).collect());
        let columns: Vec<_> = (0..usize::from(GIANTS) + 2).map(column).collect();
        let registers = TABLE + self.babies.count;
        let made = Registers::new(engine, n, registers, rows.len(), &columns)?;
        Ok(made.map(Registers::in_tiles))
    }

    /// The registers from [`ACC`] on that each row begins with.
    fn rows(&self, values: &[BigUint], n: &BigUint) -> impl Iterator<Item = Vec<BigUint>> {
        values.iter().flat_map(move |v| {
            let one = BigUint::from(1u8);
            let stride = value(v, self.babies.stride, n);
            let of_row = value(&stride, self.giants, n);
            // The first giants of rows are values of multiples of the same number too.
            let at = |giant| value(&stride, giant, n);
            let begun =
                [self.first, self.first + 1].map(|giant| [at(giant), at(giant + self.giants)]);
            let head = [one.clone(), one, v.clone(), value(v, 2, n), stride.clone()];
            let rows = std::iter::successors(Some(begun), move |giants| {
                Some(giants.clone().map(|[last, this]| {
                    let next = sub(&(&this * &of_row % n), &last, n);
                    [this, next]
                }))
            });
            let row = move |[[giant, _], [other, _]]: [[BigUint; 2]; 2]| {
                head.iter().cloned().chain([giant, other]).collect()
            };
            rows.take(self.rows as usize).map(row)
        })
    }

    /// Makes the babies of all rows.
    fn begin(self, n: &BigUint, mut work: Registers) -> Result<LucasStage2, Error> {
        let mut steps = Vec::new();
        // The values of odd j; those that are no babies are scratch, as two more are made of them.
        let register = |j: u64| match self.babies.numbers[j as usize] {
            Some(i) => TABLE + i,
            None => SCRATCH + (j / 2 % 3) as u16,
        };
        for j in (1..=self.babies.stride / 2).step_by(2) {
            let r = register(j);
            match j {
                1 => steps.push(Step::Copy { r, a: FIRST }),
                // V_(-1) = V_1.
                3 => next(&mut steps, r, FIRST, SECOND, FIRST),
                _ => next(&mut steps, r, register(j - 2), SECOND, register(j - 4)),
            }
        }
        work.run(steps, ACC, SCRATCH, &[])?;
        Ok(LucasStage2(Work::Steps(Steps {
            n: n.clone(),
            work,
            rows: self.rows as usize,
            giants: self.giants,
            done: 0,
            babies: self.babies.count,
        })))
    }
}
