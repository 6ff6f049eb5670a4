//! Machines for the steps of long stages, which are made anew where they fail.

use crate::{Backend, Error, Runner};

/// A stage whose steps a machine does.
pub trait Stepping: Sized {
    /// The machine.
    type Machine;

    /// A machine that goes on from here, with transforms longer than those of so many words. `None` where
    /// `goes_on` says no before it is made.
    ///
    /// # Errors
    /// As for [`Backend::multiplying`].
    fn machine(
        &self,
        backend: &dyn Backend,
        longer_than: Option<usize>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Self::Machine>, Error>;

    /// The greatest rounding error of a machine.
    ///
    /// # Errors
    /// If the machine fails.
    fn error(machine: &Self::Machine) -> Result<f64, Error>;

    /// Words of a machine's transform; `None` where nothing is rounded.
    fn words(machine: &Self::Machine) -> Option<usize>;
}

/// What does the steps of [`Stage2`](crate::Stage2) or of [`Ecm`](crate::Ecm) on a backend.
pub struct Steps<'a, S: Stepping> {
    backend: &'a dyn Backend,
    machine: S::Machine,
    failure: Option<Error>,
}

impl<'a, S: Stepping> Steps<'a, S> {
    /// From where the stage is: see [`Stepping::machine`]. Where the machine fails, it is made by another one of
    /// the backend, if there is one.
    pub(crate) fn new(
        stage: &S,
        backend: &'a dyn Backend,
        longer_than: Option<usize>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, Error> {
        let make = |longer_than| stage.machine(backend, longer_than, goes_on);
        let (made, failure) = match make(longer_than) {
            Err(error) if backend.falls_back(&error) => (make(None)?, Some(error)),
            made => (made?, None),
        };
        Ok(made.map(|machine| Steps {
            backend,
            machine,
            failure,
        }))
    }

    /// What `step` returns of the machine, which is where the stage is. Where rounding errors are too great, it is
    /// made anew, with a longer transform, and where it fails, on another machine. `None` where `goes_on` says no
    /// meanwhile.
    pub(crate) fn take<T>(
        &mut self,
        stage: &S,
        goes_on: &dyn Fn() -> bool,
        step: impl Fn(&mut S::Machine) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        loop {
            let done = step(&mut self.machine).and_then(|done| Ok((done, self.error()?)));
            let failure = match done {
                Ok((done, error)) if error <= Runner::LIMIT => return Ok(Some(done)),
                Ok(_) => None,
                Err(error) if self.backend.falls_back(&error) => Some(error),
                Err(error) => return Err(error),
            };
            let longer_than = self.words().filter(|_| failure.is_none());
            let Some(others) = Self::new(stage, self.backend, longer_than, goes_on)? else {
                return Ok(None);
            };
            *self = others;
            self.failure = failure.or(self.failure.take());
        }
    }

    /// The greatest rounding error.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn error(&self) -> Result<f64, Error> {
        S::error(&self.machine)
    }

    /// Why the machine was changed, if it was since the last call.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Words of the transform; `None` where nothing is rounded.
    pub fn words(&self) -> Option<usize> {
        S::words(&self.machine)
    }
}
