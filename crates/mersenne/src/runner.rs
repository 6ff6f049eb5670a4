//! Iterations that are known to have been rounded safely.

use crate::{Backend, Error, Residue, Squaring};

/// A residue and the machine that squares it, with the way back when a rounding error
/// grows too large: the iterations since the residue was last read are done again by a
/// longer transform.
pub struct Runner<'a> {
    p: u32,
    backend: &'a dyn Backend,
    squaring: Box<dyn Squaring + 'a>,
    /// The residue as it was last read or set, and the iterations since.
    base: Residue,
    since: u32,
    minus: u32,
    greatest: f64,
    lengthened: u32,
}

impl<'a> Runner<'a> {
    /// The rounding error from which on a longer transform is taken.
    pub const LIMIT: f64 = 0.4;

    /// Zero modulo `2^p - 1` on this machine; every iteration takes off `minus`.
    ///
    /// # Errors
    /// As [`Backend::squaring`].
    pub fn new(p: u32, minus: u32, backend: &'a dyn Backend) -> Result<Self, Error> {
        Ok(Runner {
            p,
            backend,
            squaring: backend.squaring(p, None)?,
            base: Residue::from_u64(p, 0),
            since: 0,
            minus,
            greatest: 0.0,
            lengthened: 0,
        })
    }

    /// Takes this residue.
    pub fn set(&mut self, x: &Residue) {
        self.squaring.set(x);
        self.base.clone_from(x);
        self.since = 0;
    }

    /// The residue. Takes as long as some iterations.
    pub fn residue(&mut self) -> Residue {
        if self.since > 0 {
            self.base = self.squaring.residue();
            self.since = 0;
        }
        self.base.clone()
    }

    /// So many iterations.
    ///
    /// # Errors
    /// [`Error::TooLong`] where no transform is long enough; what the machine says.
    pub fn square(&mut self, times: u32) -> Result<(), Error> {
        self.since += times;
        let mut error = self.squaring.square(times, self.minus)?;
        while error > Self::LIMIT {
            self.lengthen()?;
            error = self.squaring.square(self.since, self.minus)?;
        }
        self.greatest = self.greatest.max(error);
        Ok(())
    }

    /// Goes on with a longer transform, from the residue last read.
    ///
    /// # Errors
    /// [`Error::TooLong`] where there is none.
    pub fn lengthen(&mut self) -> Result<(), Error> {
        self.squaring = self.backend.squaring(self.p, self.squaring.words())?;
        self.squaring.set(&self.base);
        self.lengthened += 1;
        self.greatest = 0.0;
        Ok(())
    }

    /// The exponent.
    pub fn p(&self) -> u32 {
        self.p
    }

    /// The greatest rounding error since the transform has its length.
    pub fn greatest_error(&self) -> f64 {
        self.greatest
    }

    /// Words of the transform; `None` where nothing is rounded.
    pub fn words(&self) -> Option<usize> {
        self.squaring.words()
    }

    /// How often a longer transform was taken.
    pub fn lengthened(&self) -> u32 {
        self.lengthened
    }
}
