//! Complex values in shared memory, between two passes of a transform.
//!
//! Behind every run of 8 or 16 values one place is left free. So eight threads that move 16
//! bytes each at once use different banks, whether their values are neighbours or a run apart.
//! In runs of 16, the upper eight values are swapped in pairs, so that every second value of 16
//! in a row also has banks of its own.

use super::complex::Complex;
use crate::gpu::stretch::Stretch;

/// The values of one polynomial in shared memory.
#[derive(Clone, Copy)]
pub struct Exchange {
    places: Stretch,
    run: u32,
}

impl Exchange {
    /// Values in runs of `run`, 8 or 16, from the beginning of `places` on.
    #[inline(always)]
    pub fn new(places: Stretch, run: u32) -> Self {
        Exchange { places, run }
    }

    /// The values `at`, `at + apart`, `at + 2 apart` and so on. `apart` is a multiple of the
    /// run; or it is 1, and `at` a multiple of the run.
    #[inline(always)]
    pub fn get<const R: usize>(self, at: u32, apart: u32) -> [Complex; R] {
        let mut values = [Complex::ZERO; R];
        let mut k = 0;
        while k < R {
            let [re, im] = self.places.pair(self.place(at, apart, k as u32));
            values[k] = Complex::new(re, im);
            k += 1;
        }
        values
    }

    /// Sets the values `at`, `at + apart`, `at + 2 apart` and so on.
    #[inline(always)]
    pub fn set<const R: usize>(self, at: u32, apart: u32, values: &[Complex; R]) {
        let mut k = 0;
        while k < R {
            let place = self.place(at, apart, k as u32);
            self.places.set_pair(place, [values[k].re, values[k].im]);
            k += 1;
        }
    }

    /// The memory itself, once the values are no longer needed.
    #[inline(always)]
    pub fn memory(self) -> Stretch {
        self.places
    }

    #[inline(always)]
    fn place(self, at: u32, apart: u32, k: u32) -> u32 {
        let swapped = |x: u32| if self.run == 16 { x ^ x >> 3 & 1 } else { x };
        let first = at / self.run;
        if apart == 1 {
            first * (self.run + 1) + swapped(k)
        } else {
            swapped(at) + first + k * (apart + apart / self.run)
        }
    }
}
