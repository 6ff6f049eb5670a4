//! Iterations whose rounding was safe.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use crate::{Backend, Error, Multiplying, Number, Residue, Squaring};

/// A residue and the machine that squares it. Where a rounding error is too large, the iterations
/// since the residue was last read are repeated with a longer transform.
pub struct Runner<'a> {
    number: Number,
    backend: &'a dyn Backend,
    squaring: Box<dyn Squaring + 'a>,
    /// The residue as it was last read or set, and the iterations since: how many, and the factor
    /// of their squares.
    base: Residue,
    since: Vec<(u32, u32)>,
    minus: u32,
    /// The machine's residue is the number's times `2^at`, and was times `2^shift` when it was set.
    shift: u32,
    at: u32,
    greatest: f64,
    lengthened: u32,
    failure: Option<Error>,
    product: Option<Beside<Residue>>,
    reading: Option<Beside<()>>,
    /// How often `base` has changed, and how often a machine was lost.
    reads: u32,
    losses: u32,
    /// The machines of [`Runner::lucas`].
    pair: Option<[Box<dyn Multiplying>; 2]>,
}

/// Work that is done with a residue while the machine squares on. Whoever drops it waits for it.
pub struct Beside<T> {
    thread: Option<JoinHandle<Done<T>>>,
    work: Arc<dyn Fn(&Residue) -> T + Send + Sync>,
    /// The runner's `base`, `since`, `reads` and `losses` when it began.
    base: Residue,
    since: Vec<(u32, u32)>,
    reads: u32,
    losses: u32,
}

/// The residue, and what the work made of it.
type Done<T> = Result<(Residue, T), Error>;

impl<T> Beside<T> {
    /// Whether nobody has to wait for it.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl<T> Drop for Beside<T> {
    fn drop(&mut self) {
        // One that panicked is of no use to anybody.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The residue of a number times `2^at`, divided by that.
fn unshifted(x: Residue, at: u32) -> Residue {
    match at {
        0 => x,
        _ => x.shifted(x.number().n() - at),
    }
}

impl<'a> Runner<'a> {
    /// The rounding error above which a longer transform is used.
    ///
    /// The squares of words' greatest errors grow as the logarithm of how many there are: a test whose first 350,000 squarings of 2^22
    /// words reach 0.39 reaches 0.43 at its end, after 77 million, and 0.55, which looks like 0.45, with a chance below 10^-9.
    pub const LIMIT: f64 = 0.45;

    /// The residue 0 on this machine; every iteration subtracts `minus`.
    ///
    /// # Errors
    /// As for [`Backend::squaring`].
    pub fn new(
        number: impl Into<Number>,
        minus: u32,
        backend: &'a dyn Backend,
    ) -> Result<Self, Error> {
        let number = number.into();
        Ok(Runner {
            number,
            backend,
            squaring: backend.squaring(number, None)?,
            base: Residue::from_u64(number, 0),
            since: Vec::new(),
            minus,
            shift: 0,
            at: 0,
            greatest: 0.0,
            lengthened: 0,
            failure: None,
            product: None,
            reading: None,
            reads: 0,
            losses: 0,
            pair: None,
        })
    }

    /// The machine with this shift: it begins with `2^shift` times the residue, and takes twice the shift
    /// modulo `p` with every square.
    ///
    /// # Panics
    /// If there is a shift and the number is not `2^p - 1`, `p` above the shift.
    #[must_use]
    pub fn with_shift(self, shift: u32) -> Self {
        let fits = self.number.exponent().is_some_and(|p| shift < p);
        assert!(shift == 0 || fits, "a shift modulo 2^p - 1");
        Runner { shift, ..self }
    }

    /// Gives the machine the residue that was last read.
    fn begin(&mut self) -> Result<(), Error> {
        self.at = self.shift;
        match self.at {
            0 => self.squaring.set(&self.base),
            at => self.squaring.set(&self.base.shifted(at)),
        }
    }

    /// Sets the residue.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn set(&mut self, x: &Residue) -> Result<(), Error> {
        self.base = x.clone();
        self.forget();
        match self.begin() {
            Err(error) => self.fall_back(error),
            Ok(()) => Ok(()),
        }
    }

    /// The residue. Reading it takes as long as some iterations.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn residue(&mut self) -> Result<Residue, Error> {
        if !self.since.is_empty() {
            let residue = match self.squaring.residue() {
                Err(error) => {
                    self.fall_back(error)?;
                    self.squaring.residue()?
                }
                Ok(residue) => residue,
            };
            self.base = unshifted(residue, self.at);
            self.forget();
        }
        Ok(self.base.clone())
    }

    /// Forgets the iterations: `base` is the residue.
    fn forget(&mut self) {
        self.since.clear();
        self.reads += 1;
    }

    /// Begins work with the present residue, on a thread of its own, beside the machine's next iterations. `None` where
    /// the machine cannot do that.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn beside<T: Send + 'static>(
        &mut self,
        work: impl Fn(&Residue) -> T + Send + Sync + 'static,
    ) -> Result<Option<Beside<T>>, Error> {
        let later = match self.squaring.residue_later() {
            Err(error) => {
                self.fall_back(error)?;
                self.squaring.residue_later()?
            }
            Ok(later) => later,
        };
        let Some(later) = later else {
            return Ok(None);
        };
        let work = Arc::new(work);
        let (own, at) = (work.clone(), self.at);
        let thread = Builder::new().spawn(move || {
            let x = unshifted(later()?, at);
            let done = own(&x);
            Ok((x, done))
        });
        // Where there is no thread to be had, the machine waits.
        Ok(thread.ok().map(|thread| Beside {
            thread: Some(thread),
            work,
            base: self.base.clone(),
            since: self.since.clone(),
            reads: self.reads,
            losses: self.losses,
        }))
    }

    /// The residue at the time the work began, and what the work made of it; waits for both.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn finish<T>(&mut self, mut work: Beside<T>) -> Result<(Residue, T), Error> {
        let thread = work.thread.take().expect("nobody else takes it");
        match thread.join().unwrap_or_else(|panic| resume_unwind(panic)) {
            Ok((x, done)) => {
                if work.reads == self.reads {
                    self.base = x.clone();
                    self.since.drain(..work.since.len());
                    self.reads += 1;
                }
                Ok((x, done))
            }
            Err(error) => {
                if work.losses == self.losses {
                    self.fall_back(error)?;
                }
                let mut exchange = |runner: &mut Self| {
                    std::mem::swap(&mut runner.base, &mut work.base);
                    std::mem::swap(&mut runner.since, &mut work.since);
                    runner.restart()
                };
                exchange(self)?;
                let x = unshifted(self.squaring.residue()?, self.at);
                exchange(self)?;
                let done = (work.work)(&x);
                Ok((x, done))
            }
        }
    }

    /// Begins to read the residue beside the machine's next iterations, so that fewer are to be repeated later on, and
    /// ends what was so begun before. False where the machine cannot do that.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn begin_reading(&mut self) -> Result<bool, Error> {
        if let Some(reading) = self.reading.take() {
            self.finish(reading)?;
        }
        self.reading = self.beside(|_| ())?;
        Ok(self.reading.is_some())
    }

    /// Begins the product of the present residue and `factor` beside the machine's next iterations. False where
    /// the machine cannot do that.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn begin_product(&mut self, factor: &Residue) -> Result<bool, Error> {
        let factor = factor.clone();
        self.product = self.beside(move |x| x.mul(&factor))?;
        Ok(self.product.is_some())
    }

    /// The residue at the time the last product began, and the product, if one was begun; waits for
    /// both.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn product(&mut self) -> Result<Option<(Residue, Residue)>, Error> {
        match self.product.take() {
            Some(product) => Ok(Some(self.finish(product)?)),
            None => Ok(None),
        }
    }

    /// So many iterations.
    ///
    /// # Errors
    /// [`Error::TooLong`] where no transform is long enough; what the machine says.
    pub fn square(&mut self, times: u32) -> Result<(), Error> {
        self.square_by([(times, 1)])
    }

    /// Iterations in stretches: of each pair, the first is their number, and the second the factor
    /// of their squares.
    ///
    /// # Errors
    /// As for [`square`](Self::square).
    pub fn square_by(
        &mut self,
        iterations: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<(), Error> {
        let from = self.since.len();
        self.since.extend(iterations);
        match self.again(from) {
            Err(error) => self.fall_back(error),
            Ok(error) => self.judge(error),
        }
    }

    /// Runs the iterations from entry `from` of `since` on, and returns the greatest error of all.
    fn again(&mut self, from: usize) -> Result<f64, Error> {
        let p = u64::from(self.number.n());
        let doubled = |at: u32| (2 * u64::from(at) % p) as u32;
        for &(times, by) in &self.since[from..] {
            if self.minus == 0 || self.at == 0 {
                self.squaring.square(times, by, self.minus)?;
                self.at = (0..times).fold(self.at, |at, _| doubled(at));
                continue;
            }
            for _ in 0..times {
                self.at = doubled(self.at);
                self.squaring.square_shifted(by, self.minus, self.at)?;
            }
        }
        self.squaring.error()
    }

    /// Accepts this rounding error, or repeats the iterations with longer transforms.
    fn judge(&mut self, error: f64) -> Result<(), Error> {
        let mut error = error;
        while error > Self::LIMIT {
            self.lengthen()?;
            error = self.again(0)?;
        }
        self.greatest = error;
        Ok(())
    }

    /// Repeats the iterations since the residue was last read on another machine, if there is one.
    fn fall_back(&mut self, error: Error) -> Result<(), Error> {
        if !self.backend.falls_back(&error) {
            return Err(error);
        }
        self.squaring = self.backend.squaring(self.number, None)?;
        self.losses += 1;
        self.failure = Some(error);
        self.greatest = 0.0;
        self.restart()
    }

    /// Repeats the iterations from the residue that was last read.
    fn restart(&mut self) -> Result<(), Error> {
        self.begin()?;
        let error = self.again(0)?;
        self.judge(error)
    }

    /// Terms `V_i` and `V_(i + 1)` of the sequence `V_0 = 2`, `V_1 = P`, `V_(i + 1) = P V_i - V_(i - 1)`, after
    /// steps from these: each doubles `i`, and adds 1 if its bit is set. By
    ///
    /// ```text
    /// V_(2 i) = V_i^2 - 2,   V_(2 i + 1) = V_i V_(i + 1) - P
    /// ```
    ///
    /// a step is a square and a product. It leaves the runner's own residue alone.
    ///
    /// # Errors
    /// As for [`Runner::square`].
    pub fn lucas(
        &mut self,
        terms: &[Residue; 2],
        p: u32,
        bits: &[bool],
    ) -> Result<[Residue; 2], Error> {
        let mut longer_than = None;
        loop {
            match self.lucas_once(terms, p, bits, longer_than) {
                Ok(Some(terms)) => return Ok(terms),
                Ok(None) => {
                    longer_than = self.words();
                    self.lengthened += 1;
                }
                Err(error) if self.backend.falls_back(&error) => {
                    longer_than = None;
                    self.failure = Some(error);
                }
                Err(error) => return Err(error),
            }
            self.pair = None;
        }
    }

    /// The same; `None` where a rounding error is too large.
    fn lucas_once(
        &mut self,
        terms: &[Residue; 2],
        p: u32,
        bits: &[bool],
        longer_than: Option<usize>,
    ) -> Result<Option<[Residue; 2]>, Error> {
        let machine = || self.backend.multiplying(self.number, longer_than);
        let pair = match self.pair.take() {
            Some(pair) => pair,
            None => [machine()?, machine()?],
        };
        let [v, next] = self.pair.insert(pair);
        v.set(&terms[0])?;
        next.set(&terms[1])?;
        for &bit in bits {
            let (squared, other) = if bit {
                (&mut *next, &mut *v)
            } else {
                (&mut *v, &mut *next)
            };
            let factor = squared.keep()?;
            other.multiply(&factor, None, p)?;
            squared.square(1, 1, 2)?;
        }
        self.greatest = f64::max(v.error()?, next.error()?);
        match self.greatest <= Self::LIMIT {
            true => Ok(Some([v.residue()?, next.residue()?])),
            false => Ok(None),
        }
    }

    /// Why the machine was changed, if it was since the last call.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Takes a longer transform, and goes back to the residue that was last read.
    ///
    /// # Errors
    /// [`Error::TooLong`] where no transform is longer.
    pub fn lengthen(&mut self) -> Result<(), Error> {
        self.squaring = self.backend.squaring(self.number, self.squaring.words())?;
        self.begin()?;
        self.lengthened += 1;
        self.greatest = 0.0;
        Ok(())
    }

    /// The modulus.
    pub fn number(&self) -> Number {
        self.number
    }

    /// The greatest rounding error of the present transform.
    pub fn greatest_error(&self) -> f64 {
        self.greatest
    }

    /// Words of the transform; `None` where nothing is rounded.
    pub fn words(&self) -> Option<usize> {
        match &self.pair {
            Some([v, _]) => v.words(),
            None => self.squaring.words(),
        }
    }

    /// The number of times that a longer transform was taken.
    pub fn lengthened(&self) -> u32 {
        self.lengthened
    }
}
