//! Stage 2 of all points: those that are computed together are [`Giants`]. On all cores they are all points, on
//! a device as many as its memory has room for, one group after another.

use bigint_host::Engine;
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::giants::Giants;
use crate::modular::{gcd, product};
use crate::{Error, Point};

/// Stage 2 on the way.
#[derive(Debug)]
pub struct Stage2 {
    n: BigUint,
    points: Vec<Point>,
    b1: u64,
    b2: u64,
    /// The devices, where they compute.
    engine: Option<Engine>,
    /// The giant steps that are being computed, once the products are done.
    giants: Option<Giants>,
    together: usize,
    /// The products of the points that are done.
    products: Vec<BigUint>,
}

impl Stage2 {
    /// Begins with points modulo an odd number, of which stage 1 went up to `b1`, 11 or more. Points of
    /// curves that there are not modulo the number are factors already: they are [`Err`]s.
    ///
    /// # Errors
    /// [`Error::Cpu`], where memory runs out.
    pub fn new(n: &BigUint, points: &[Point], b1: u64, b2: u64) -> Result<Self, Error> {
        let giants = Giants::on_cpu(n, points, b1, b2)?;
        Ok(Stage2 {
            giants: Some(giants),
            ..Stage2::of(n, points, b1, b2)
        })
    }

    /// [`Stage2::new`] on the engine's devices; `None` where it has none, no kernel for so long a number
    /// (there is one up to 2298 bits), or there are no points. Where their memory has no room for all points
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
        if points.is_empty() {
            return Ok(None);
        }
        let mut stage = Stage2 {
            engine: Some(engine.clone()),
            ..Stage2::of(n, points, b1, b2)
        };
        let begun = stage.begin();
        stage.make_room(begun)?;
        Ok(stage.giants.is_some().then_some(stage))
    }

    fn of(n: &BigUint, points: &[Point], b1: u64, b2: u64) -> Self {
        Stage2 {
            n: n.clone(),
            points: points.to_vec(),
            b1,
            b2,
            engine: None,
            giants: None,
            together: points.len(),
            products: Vec::new(),
        }
    }

    /// Begins with the next points, on devices.
    fn begin(&mut self) -> Result<(), Error> {
        let next = &self.points[self.products.len()..];
        let next = &next[..self.together.min(next.len())];
        if let Some(engine) = &self.engine
            && !next.is_empty()
        {
            self.giants = Giants::on_device(engine, &self.n, next, self.b1, self.b2)?;
        }
        Ok(())
    }

    /// Begins again with half as many points for as long as a device has no room for them.
    fn make_room(&mut self, mut done: Result<(), Error>) -> Result<(), Error> {
        while let Err(error) = &done
            && error.is_devices_memory()
            && self.together > 1
        {
            self.together = self.together.div_ceil(2);
            self.giants = None;
            done = self.begin();
        }
        done
    }

    /// How many giant steps of points are done, and of how many.
    pub fn progress(&self) -> (u64, u64) {
        let (done, total) = self.giants.as_ref().map_or((1, 1), Giants::progress);
        let at_work = self.points.len() - self.products.len();
        let at_work = at_work.min(self.together) as u64;
        (
            total * self.products.len() as u64 + done * at_work,
            total * self.points.len() as u64,
        )
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        self.products.len() == self.points.len()
    }

    /// Does a block of giant steps.
    ///
    /// # Errors
    /// [`Error::Engine`], of a device.
    pub fn advance(&mut self) -> Result<(), Error> {
        let done = self.step();
        self.make_room(done)
    }

    fn step(&mut self) -> Result<(), Error> {
        let Some(giants) = &mut self.giants else {
            return Ok(());
        };
        giants.advance()?;
        if giants.is_done() {
            self.products.append(&mut giants.products()?);
            self.giants = None;
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
