//! Primes of a range, counted, and random ones: what is no function of columns.

use crate::array::Array;
use crate::call::{is_scalar, operand};
use crate::place::Place;
use crate::run;
use bigint_host::{BigUint, Error, Integers, RandomPrimes};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::fs::File;
use std::io::Read;

/// Numbers of a range that are counted between two looks for signals, below and above 2^64.
const STRETCHES: [u64; 2] = [1 << 28, 1 << 19];

/// Random primes made between two looks for signals.
const PIECE: usize = 64;

/// A natural number; a negative one is 0, below which there are no primes either.
fn natural(object: &Bound<'_, PyAny>) -> PyResult<BigUint> {
    if !is_scalar(object)? {
        return Err(PyTypeError::new_err("count_primes is of two ints"));
    }
    let one = operand(object)?;
    let numbers = one.column.on_host(object.py())?;
    Ok(match numbers.is_negative(0) {
        true => BigUint::ZERO,
        false => BigUint::from_slice(numbers.magnitude(0)),
    })
}

/// How many primes a range has.
pub fn counted(start: &Bound<'_, PyAny>, stop: &Bound<'_, PyAny>) -> PyResult<u64> {
    let py = start.py();
    let (mut start, stop) = (natural(start)?, natural(stop)?);
    let engine = Place::Auto.engine(py)?;
    run::in_background(py, 1, move |pace| {
        let mut count = 0;
        while start < stop && !pace.is_stopped() {
            let length = STRETCHES[usize::from(start.bits() > 64)];
            let next = stop.clone().min(&start + length);
            count += engine.count_primes(&start, &next)?;
            start = next;
        }
        Ok(count)
    })
}

/// Primes drawn by the operating system's random bytes.
pub fn random(py: Python<'_>, wanted: RandomPrimes, count: usize) -> PyResult<Array> {
    let engine = Place::Auto.engine(py)?;
    let mut source = File::open("/dev/urandom")?;
    let primes = run::in_background(py, count, move |pace| {
        let mut primes = Integers::new();
        while primes.len() < count && !pace.is_stopped() {
            let fill = |bytes: &mut [u8]| source.read_exact(bytes).expect("it has no end");
            let more = (count - primes.len()).min(PIECE);
            let more = engine.random_primes(&wanted, more, fill)?;
            for prime in more.to_biguints()? {
                primes.push(false, &prime.to_u32_digits())?;
            }
            pace.reach(primes.len());
        }
        Ok::<_, Error>(primes)
    })?;
    Ok(Array::of(primes, None, Place::Auto))
}
