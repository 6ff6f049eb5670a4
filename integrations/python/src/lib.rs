//! Columns of big integers for Python: the module `bigint_engine` of the wheel `bigint-engine`.
//!
//! [`read`](mod@read) takes numbers from lists, NumPy, Arrow and bytes, and [`write`](mod@write) gives
//! them back; between them [`call`] has [`functions`] computed, on a thread that
//! [`run`] watches. What users see is `bigint_engine.pyi` and README.md.

#[macro_use]
mod operators;

mod array;
mod arrow;
mod bits;
mod call;
mod column;
mod digits;
mod dlpack;
mod error;
mod expr;
mod functions;
mod order;
mod place;
mod primes;
mod read;
mod run;
mod write;

use pyo3::prelude::*;

/// Columns of big integers, computed on every CPU core or an NVIDIA GPU.
#[pymodule]
mod bigint_engine {
    use super::*;
    use crate::place::Place;
    use crate::read::Bytes;
    use pyo3::types::PyBytes;

    #[pymodule_export]
    use crate::array::Array;
    #[pymodule_export]
    use crate::expr::Expr;
    #[pymodule_export]
    use crate::run::Progress;

    /// An array of the numbers of `source`: a list or another iterable of ints, of texts in decimal or
    /// `0x` hexadecimal digits, or of big-endian bytes, with `None` where there is none; an array of
    /// NumPy; a column of pyarrow, polars, pandas or whoever else speaks Arrow.
    #[pyfunction]
    #[pyo3(signature = (source, *, device = None))]
    fn array(source: &Bound<'_, PyAny>, device: Option<&str>) -> PyResult<Array> {
        let place = Place::chosen(device)?;
        let array = read::array(source, place)?;
        match device {
            // What cannot be opened is told now.
            Some(_) => array.at(source.py(), place),
            None => Ok(array),
        }
    }

    /// An array of numbers of `width` bytes each.
    #[pyfunction]
    #[pyo3(signature = (source, width, byteorder = "big", *, signed = false, device = None))]
    fn from_bytes(
        py: Python<'_>,
        source: &Bound<'_, PyBytes>,
        width: usize,
        byteorder: &str,
        signed: bool,
        device: Option<&str>,
    ) -> PyResult<Array> {
        let (place, order) = (Place::chosen(device)?, Bytes::ordered(byteorder, signed)?);
        let bytes = source.as_bytes();
        if width == 0 || !bytes.len().is_multiple_of(width) {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "{} bytes are no numbers of {width} bytes each",
                bytes.len()
            )));
        }
        let numbers = run::at_once(py, || order.numbers(bytes, width))?;
        Ok(Array::of(numbers, None, place))
    }

    /// An array of limbs: a two-dimensional array of `uint32`, a row for each number, the lowest limb first.
    #[pyfunction]
    #[pyo3(signature = (limbs, *, device = None))]
    fn from_limbs(limbs: &Bound<'_, PyAny>, device: Option<&str>) -> PyResult<Array> {
        read::of_limbs(limbs, Place::chosen(device)?)
    }

    /// The rows of `a` where `mask` is set, and those of `b` elsewhere.
    #[pyfunction(name = "where")]
    fn choose(
        mask: &Bound<'_, PyAny>,
        a: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
    ) -> PyResult<Array> {
        crate::array::chosen(mask, a, b)
    }

    /// The rows of all of these, one column after another.
    #[pyfunction]
    fn concatenate(arrays: &Bound<'_, PyAny>) -> PyResult<Array> {
        crate::array::concatenated(arrays)
    }

    /// A lazy column: operators and functions of it are computed by `eval`, in one pass.
    #[pyfunction]
    fn expr(source: &Bound<'_, PyAny>) -> PyResult<Expr> {
        Expr::new(source)
    }

    /// How many primes there are from `start` on and below `stop`.
    #[pyfunction]
    fn count_primes(start: &Bound<'_, PyAny>, stop: &Bound<'_, PyAny>) -> PyResult<u64> {
        crate::primes::counted(start, stop)
    }

    /// `count` random primes of `bits` bits, from the operating system's random bytes. Not in constant time.
    #[pyfunction]
    #[pyo3(signature = (count, bits, *, safe = false, two_top_bits = false, coprime_to = 1))]
    fn random_primes(
        py: Python<'_>,
        count: usize,
        bits: u64,
        safe: bool,
        two_top_bits: bool,
        coprime_to: u64,
    ) -> PyResult<Array> {
        let mut wanted = bigint_host::RandomPrimes::of_bits(bits).one_less_coprime_to(coprime_to);
        if safe {
            wanted = wanted.safe();
        }
        if two_top_bits {
            wanted = wanted.with_two_top_bits();
        }
        crate::primes::random(py, wanted, count)
    }

    /// The array that was pickled.
    #[pyfunction]
    fn _restored(
        limbs: &[u8],
        offsets: &[u8],
        signs: &[u8],
        nulls: Option<&[u8]>,
        device: &str,
    ) -> PyResult<Array> {
        crate::array::restored(limbs, offsets, signs, nulls, device)
    }

    /// What went wrong on devices and was made good.
    #[pyfunction]
    #[pyo3(signature = (device = None))]
    fn warnings(py: Python<'_>, device: Option<&str>) -> PyResult<Vec<String>> {
        Ok(Place::chosen(device)?.engine(py)?.warnings())
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        functions::add_to(module)?;
        // As the library and its command call them.
        for (alias, name) in [
            ("pow_mod", "powmod"),
            ("invmod", "invert"),
            ("inv_mod", "invert"),
            ("mul_add", "fma"),
            ("count_ones", "popcount"),
            ("trailing_zeros", "bit_scan1"),
            ("test_bit", "bit_test"),
            ("set_bit", "bit_set"),
            ("is_perfect_power", "is_power"),
            ("is_strong_probable_prime", "is_strong_prp"),
            ("div_exact", "divexact"),
        ] {
            module.add(alias, module.getattr(name)?)?;
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
