//! FLINT's `fft_small`, from a shared library that the user built.
//!
//! It is measured where it was built for: one long product. The library is
//! opened at run time, so that nothing here depends on it.
#![allow(unsafe_code)] // Calls into a C library: `libloading` has no safe form.

use std::ffi::{c_int, c_long};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use libloading::Library;

use crate::operands::{Op, Operands, words};
use crate::runner::Runner;

/// `void mpn_mul_default_mpn_ctx(nn_ptr r, nn_srcptr a, slong an, nn_srcptr b, slong bn)`
type Multiply = unsafe extern "C" fn(*mut u64, *const u64, c_long, *const u64, c_long);
/// `void flint_set_num_threads(int)`
type SetThreads = unsafe extern "C" fn(c_int);

/// The opened library.
pub struct Flint {
    multiply: Multiply,
    set_threads: SetThreads,
    // Never closed: FLINT keeps threads, and the functions above live in it.
    _library: &'static Library,
}

impl Flint {
    /// Opens `libflint.so` at `path`.
    pub fn open(path: &Path) -> Result<&'static Flint> {
        // SAFETY: running a library's initialisers is as sound as the library;
        // the user names one, FLINT's own, which has none with preconditions.
        let library = unsafe { Library::new(path) }
            .with_context(|| format!("cannot open FLINT at {}", path.display()))?;
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the signatures are those of FLINT 3's `fft_small.h` and
        // `flint.h` where `slong` and `ulong` are 64 bits wide, and the library
        // is leaked, so the functions stay where they are.
        let (multiply, set_threads) = unsafe {
            (
                *library.get::<Multiply>(b"mpn_mul_default_mpn_ctx\0")?,
                *library.get::<SetThreads>(b"flint_set_num_threads\0")?,
            )
        };
        Ok(Box::leak(Box::new(Flint {
            multiply,
            set_threads,
            _library: library,
        })))
    }
}

/// One product by FLINT.
pub struct FlintProduct {
    flint: &'static Flint,
    a: Vec<u64>,
    b: Vec<u64>,
    result: Vec<u64>,
}

impl FlintProduct {
    /// The first pair of operands, as FLINT's limbs.
    pub fn new(flint: &'static Flint, operands: &Operands) -> Self {
        let width = operands.shape.width;
        let (a, b) = (words(&operands.a[..width]), words(&operands.b[..width]));
        FlintProduct {
            flint,
            result: vec![0; a.len() + b.len()],
            a,
            b,
        }
    }
}

impl Runner for FlintProduct {
    fn name(&self) -> &'static str {
        "flint"
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn splits_a_number(&self) -> bool {
        true
    }

    fn run(&mut self, op: Op, _range: Range<usize>, threads: usize) {
        let b = if op == Op::Sqr { &self.a } else { &self.b };
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let length = |words: &[u64]| c_long::try_from(words.len()).expect("fits in memory");
        // SAFETY: the operands are initialised and as long as said, the first no
        // shorter than the second and neither empty; the result has room for
        // the sum of their lengths and overlaps neither; `&mut self` keeps
        // others away.
        unsafe {
            (self.flint.set_threads)(threads);
            (self.flint.multiply)(
                self.result.as_mut_ptr(),
                self.a.as_ptr(),
                length(&self.a),
                b.as_ptr(),
                length(b),
            );
        }
    }

    fn first(&mut self, op: Op) -> Option<Vec<u64>> {
        self.run(op, 0..1, 1);
        Some(self.result.clone())
    }
}
