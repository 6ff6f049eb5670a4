//! Stage 2 of all points: by [baby and giant steps](crate::giants) or, where these are many,
//! by [polynomials](crate::resultant). Points that are computed together are as many as memory has room for, one
//! group after another; of several devices each has a part of a group.

use bigint_host::Engine;
use bigint_host::advanced::BackEnd;
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::device::{room, width};
use crate::giants::Giants;
use crate::modular::{gcd, product};
use crate::points::{Begun, Given, Group, begun};
use crate::resultant::{Plan, Resultants};
use crate::waves::slice;
use crate::{Error, Point};

/// How stage 2 goes over primes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// A product for each prime.
    Giants,
    /// Products of polynomials that have all giant steps, and all baby steps, as roots.
    Polynomials,
}

/// The memory of polynomials that are computed together, in bytes: of the host, and of each device half of what it has.
const OF_HOST: usize = 1 << 31;

impl Continuation {
    /// The one that takes less time modulo a number of so many bits.
    pub fn of(is_on_device: bool, bits: u64, b1: u64, b2: u64) -> Self {
        Continuation::with_cost(is_on_device, bits, b1, b2).0
    }

    /// [`Continuation::of`], and the time that it takes for a point, in that of a prime by giant steps.
    pub(crate) fn with_cost(is_on_device: bool, bits: u64, b1: u64, b2: u64) -> (Self, f64) {
        let count = |b: u64| b as f64 / (b.max(2) as f64).ln();
        let primes = count(b2) - count(b1);
        let polynomials = Plan::new(Group::Curve, b1, b2).products(is_on_device, bits);
        match polynomials < primes {
            true => (Continuation::Polynomials, polynomials),
            false => (Continuation::Giants, primes),
        }
    }
}

/// What computes a group of points.
#[derive(Debug)]
enum Work {
    Giants(Box<Giants>),
    /// For each device a part of the points, in order.
    Polynomials(Vec<Resultants>),
}

impl Work {
    fn progress(&self) -> (u64, u64) {
        match self {
            Work::Giants(giants) => giants.progress(),
            Work::Polynomials(parts) => parts[0].progress(),
        }
    }

    fn is_done(&self) -> bool {
        match self {
            Work::Giants(giants) => giants.is_done(),
            Work::Polynomials(parts) => parts.iter().all(Resultants::is_done),
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        match self {
            Work::Giants(giants) => giants.advance(),
            Work::Polynomials(parts) => parts.par_iter_mut().try_for_each(Resultants::advance),
        }
    }

    fn products(&self) -> Result<Vec<BigUint>, Error> {
        match self {
            Work::Giants(giants) => giants.products(),
            Work::Polynomials(parts) => {
                let products = parts.iter().map(Resultants::products);
                Ok(products.collect::<Result<Vec<_>, _>>()?.concat())
            }
        }
    }
}

/// Stage 2 on the way.
#[derive(Debug)]
pub struct Stage2 {
    n: BigUint,
    group: Group,
    begun: Vec<Begun>,
    b1: u64,
    b2: u64,
    by: Continuation,
    /// The devices, where they compute: of polynomials each by itself.
    engines: Vec<Engine>,
    /// What is being computed, once the products are done.
    work: Option<Work>,
    together: usize,
    /// The products of the points that are done.
    products: Vec<BigUint>,
}

impl Stage2 {
    /// Begins with points modulo an odd number, of which stage 1 went up to `b1`, 11 or more. Points of
    /// curves that there are not modulo the number are factors already: they are [`Err`]s.
    ///
    /// # Errors
    /// [`Error::Cpu`] and [`Error::Engine`], where memory runs out.
    pub fn new(n: &BigUint, points: &[Point], b1: u64, b2: u64) -> Result<Self, Error> {
        let by = Continuation::of(false, n.bits(), b1, b2);
        Stage2::new_by(by, n, points, b1, b2)
    }

    /// [`Stage2::new`] by one of the ways, which finds what the other one does, and some more factors by chance.
    ///
    /// # Errors
    /// As for [`Stage2::new`].
    pub fn new_by(
        by: Continuation,
        n: &BigUint,
        points: &[Point],
        b1: u64,
        b2: u64,
    ) -> Result<Self, Error> {
        let given = Given {
            n,
            begun: &begun(n, points),
            b1,
            b2,
        };
        Stage2::on_cpu(by, Group::Curve, given)
    }

    /// [`Stage2::new_by`] of members of a group; values go by polynomials.
    pub(crate) fn on_cpu(by: Continuation, group: Group, given: Given<'_>) -> Result<Self, Error> {
        let mut stage = Stage2::of(by, group, given);
        if by == Continuation::Polynomials {
            let bytes = stage.plan().bytes(given.n.bits());
            stage.together = stage.together.min(OF_HOST / bytes).max(1);
        }
        stage.begin()?;
        Ok(stage)
    }

    /// [`Stage2::new`] on the engine's devices; `None` where it has none, no kernel for so long a number
    /// (there is one up to 9210 bits), or there are no points. Where their memory has no room for all points
    /// at once, a half of them goes first, or a quarter, and so on.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn on_device(
        engine: &Engine,
        n: &BigUint,
        points: &[Point],
        b1: u64,
        b2: u64,
    ) -> Result<Option<Self>, Error> {
        let by = Continuation::of(true, n.bits(), b1, b2);
        Stage2::on_device_by(by, engine, n, points, b1, b2)
    }

    /// [`Stage2::on_device`] by one of the ways.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn on_device_by(
        by: Continuation,
        engine: &Engine,
        n: &BigUint,
        points: &[Point],
        b1: u64,
        b2: u64,
    ) -> Result<Option<Self>, Error> {
        let given = Given {
            n,
            begun: &begun(n, points),
            b1,
            b2,
        };
        Stage2::on_devices(by, engine, Group::Curve, given)
    }

    /// [`Stage2::on_device_by`] of members of a group; values go by polynomials.
    pub(crate) fn on_devices(
        by: Continuation,
        engine: &Engine,
        group: Group,
        given: Given<'_>,
    ) -> Result<Option<Self>, Error> {
        let BackEnd::Cuda(set) = engine.back_end() else {
            return Ok(None);
        };
        if given.begun.is_empty() {
            return Ok(None);
        }
        let mut stage = Stage2::of(by, group, given);
        stage.engines.push(engine.clone());
        if by == Continuation::Giants {
            let bytes = 4 * width(given.n).unwrap_or(0) * Giants::numbers(given.b1, given.b2);
            let room = room(engine, bytes.max(1))?.max(1);
            stage.together = stage.together.min(slice(engine, given.n, room)?);
        }
        if by == Continuation::Polynomials {
            let each = set.ordinals().map(Engine::cuda);
            stage.engines = each.collect::<Result<_, _>>()?;
            let room = room(engine, stage.plan().bytes(given.n.bits()))?;
            stage.together = stage.together.min(room.max(stage.engines.len()));
        }
        let begun = stage.begin();
        stage.make_room(begun)?;
        Ok(stage.work.is_some().then_some(stage))
    }

    fn of(by: Continuation, group: Group, given: Given<'_>) -> Self {
        Stage2 {
            n: given.n.clone(),
            group,
            begun: given.begun.to_vec(),
            b1: given.b1,
            b2: given.b2,
            by,
            engines: Vec::new(),
            work: None,
            together: given.begun.len(),
            products: Vec::new(),
        }
    }

    /// What polynomials do.
    fn plan(&self) -> Plan {
        Plan::new(self.group, self.b1, self.b2)
    }

    /// Begins with the next points.
    fn begin(&mut self) -> Result<(), Error> {
        let next = &self.begun[self.products.len()..];
        let given = Given {
            n: &self.n,
            begun: &next[..self.together.min(next.len())],
            b1: self.b1,
            b2: self.b2,
        };
        if next.is_empty() {
            return Ok(());
        }
        self.work = match (self.by, self.engines.first()) {
            (Continuation::Giants, None) => Some(Work::Giants(Box::new(Giants::on_cpu(given)?))),
            (Continuation::Giants, Some(engine)) => {
                let giants = Giants::on_device(engine, given)?;
                giants.map(|giants| Work::Giants(Box::new(giants)))
            }
            (Continuation::Polynomials, _) => {
                let plan = self.plan();
                let on_cpu = [Engine::cpu()];
                let (is_on_device, engines) = match self.engines.is_empty() {
                    true => (false, &on_cpu[..]),
                    false => (true, &self.engines[..]),
                };
                let parts = given
                    .begun
                    .chunks(given.begun.len().div_ceil(engines.len()));
                let parts = parts.zip(engines).map(|(begun, engine)| {
                    let given = Given { begun, ..given };
                    Resultants::new(engine, is_on_device, given, plan)
                });
                let parts = parts.collect::<Result<Option<Vec<_>>, _>>()?;
                parts.map(Work::Polynomials)
            }
        };
        Ok(())
    }

    /// Begins again with half as many points for as long as a device has no room for them.
    fn make_room(&mut self, mut done: Result<(), Error>) -> Result<(), Error> {
        while let Err(error) = &done
            && error.is_devices_memory()
            && self.together > 1
        {
            self.together = self.together.div_ceil(2);
            self.work = None;
            done = self.begin();
        }
        done
    }

    /// How many giant steps of points are done, and of how many; of polynomials, how many steps.
    pub fn progress(&self) -> (u64, u64) {
        let (done, total) = self.work.as_ref().map_or((1, 1), Work::progress);
        let at_work = self.begun.len() - self.products.len();
        let at_work = at_work.min(self.together) as u64;
        (
            total * self.products.len() as u64 + done * at_work,
            total * self.begun.len() as u64,
        )
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        self.products.len() == self.begun.len()
    }

    /// Does a block of giant steps, or a step of polynomials.
    ///
    /// # Errors
    /// [`Error::Engine`], of a device.
    pub fn advance(&mut self) -> Result<(), Error> {
        let done = self.step();
        self.make_room(done)
    }

    fn step(&mut self) -> Result<(), Error> {
        let Some(work) = &mut self.work else {
            return Ok(());
        };
        work.advance()?;
        if work.is_done() {
            self.products.append(&mut work.products()?);
            self.work = None;
            self.begin()?;
        }
        Ok(())
    }

    /// The divisor of the number that each point has found, above 1; it may be the number itself.
    ///
    /// # Panics
    /// If something is left to be done.
    pub fn finish(self) -> Vec<Option<BigUint>> {
        assert!(self.is_done());
        let n = &self.n;
        if gcd(&product(&self.products, n), n).bits() == 1 {
            return vec![None; self.products.len()];
        }
        let divisors = self.products.par_iter().map(|product| gcd(product, n));
        divisors
            .map(|divisor| Some(divisor).filter(|d| d.bits() > 1))
            .collect()
    }
}
