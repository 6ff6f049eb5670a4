//! Numbers as Python's objects.

use crate::array::Array;
use crate::digits::{Ahead, Digits};
use crate::error::exception;
use bigint_host::Integers;
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList};
use std::ops::Range;
use std::sync::mpsc::{TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Ints made between two looks for signals.
const INTS: usize = 1 << 17;

/// Ints that a thread fills in at a time, few enough to be in its core's cache.
const PART: usize = 1 << 9;

/// Number `index` as an int.
pub fn int(py: Python<'_>, numbers: &Integers, index: usize) -> PyResult<Py<PyAny>> {
    let (limbs, negative) = (numbers.magnitude(index), numbers.is_negative(index));
    if let [] | [_] = limbs {
        let magnitude = i64::from(limbs.first().copied().unwrap_or(0));
        let signed = if negative { -magnitude } else { magnitude };
        return Ok(signed.into_pyobject(py)?.into_any().unbind());
    }
    match Digits::known(py) {
        Some(digits) => {
            let made = digits.allocate(py, limbs)?;
            // SAFETY: it was made for these limbs, and nobody else has it yet.
            #[expect(unsafe_code, reason = "ints are written as CPython lays them out")]
            unsafe {
                digits.write(made.as_ptr(), limbs, negative);
            }
            Ok(made)
        }
        None => {
            let bytes = PyBytes::new(py, &numbers.to_bytes_le(index));
            let int = py.get_type::<PyInt>();
            let made = int.call_method1("from_bytes", (bytes, "little"))?;
            Ok(if negative { made.neg()? } else { made }.unbind())
        }
    }
}

/// An int to be filled in with the limbs and the sign.
struct Blank<'a> {
    int: *mut ffi::PyObject,
    limbs: &'a [u32],
    is_negative: bool,
}

// SAFETY: nobody but its owner looks at the int.
#[expect(unsafe_code, reason = "ints are written by several threads")]
unsafe impl Send for Blank<'_> {}

/// The numbers of a range, as a list of ints, with `None` where there is none.
pub fn list<'py>(
    py: Python<'py>,
    array: &Array,
    range: Range<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let (numbers, start) = (array.numbers(py)?, range.start);
    #[expect(
        unsafe_code,
        reason = "the list is as long as it will be from the start"
    )]
    // SAFETY: the answer is null with an exception, or a list, which is ours.
    let list = unsafe {
        let made = ffi::PyList_New(range.len() as ffi::Py_ssize_t);
        Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked::<PyList>()
    };
    let put = |row: usize, int: Py<PyAny>| {
        // SAFETY: the list has this place, which is empty; it takes the reference over.
        #[expect(unsafe_code, reason = "as above")]
        unsafe {
            let at = (row - start) as ffi::Py_ssize_t;
            ffi::PyList_SetItem(list.as_ptr(), at, int.into_ptr());
        }
    };
    for part in range.clone().step_by(INTS) {
        py.check_signals()?;
        let rows = part..range.end.min(part + INTS);
        match Digits::known(py) {
            Some(digits) => ints(py, digits, array, numbers, rows, put)?,
            None => {
                for row in rows {
                    put(row, either(py, array, numbers, row)?);
                }
            }
        }
    }
    Ok(list)
}

fn either(py: Python<'_>, array: &Array, numbers: &Integers, row: usize) -> PyResult<Py<PyAny>> {
    match array.is_null(row) {
        true => Ok(py.None()),
        false => int(py, numbers, row),
    }
}

/// Makes ints, which only this thread may, while others fill in the limbs of those that are made.
fn ints(
    py: Python<'_>,
    digits: Digits,
    array: &Array,
    numbers: &Integers,
    rows: Range<usize>,
    put: impl Fn(usize, Py<PyAny>),
) -> PyResult<()> {
    let mean = numbers.limbs().len() / numbers.len().max(1);
    let threads = match mean > 4 && rows.len() > 4 * PART {
        true => bigint_cpu::threads(),
        false => 1,
    };
    let fill = |part: Vec<Blank<'_>>| {
        for blank in part {
            // SAFETY: it was made for these limbs, and Python code has not run since.
            #[expect(unsafe_code, reason = "ints are written as CPython lays them out")]
            unsafe {
                digits.write(blank.int, blank.limbs, blank.is_negative);
            }
        }
    };
    let (sender, receiver) = sync_channel(threads);
    let receiver = Mutex::new(receiver);
    let next = || {
        receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv()
    };
    let fill_all = || {
        while let Ok(part) = next() {
            fill(part);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where there are no more threads to be had, there are fewer.
            let _ = thread::Builder::new().spawn_scoped(scope, fill_all);
        }
        let (sender, mut ahead) = (sender, Ahead::new());
        for part in rows.clone().step_by(PART) {
            let mut blanks = Vec::with_capacity(PART);
            for row in part..rows.end.min(part + PART) {
                let limbs = numbers.magnitude(row);
                if array.is_null(row) || limbs.len() <= 1 {
                    put(row, either(py, array, numbers, row)?);
                    continue;
                }
                let made = digits.allocate(py, limbs)?;
                ahead.follow(made.as_ptr());
                blanks.push(Blank {
                    int: made.as_ptr(),
                    limbs,
                    is_negative: numbers.is_negative(row),
                });
                put(row, made);
            }
            // Where the others have enough to do, this thread helps.
            if let Err(TrySendError::Full(part) | TrySendError::Disconnected(part)) =
                sender.try_send(blanks)
            {
                fill(part);
            }
        }
        drop(sender);
        fill_all();
        Ok(())
    })
}

/// Number `index` in decimal digits, or the ends of a long one.
fn shown(numbers: &Integers, index: usize) -> PyResult<String> {
    const LONGEST: usize = 8;
    let limbs = numbers.magnitude(index);
    let mut text = Vec::new();
    if limbs.len() <= LONGEST {
        let written = numbers.write_decimal(index, &mut text);
        written.map_err(|error| exception(&error))?;
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
    let top = limbs.last().map_or(0, |top| top.leading_zeros() as usize);
    Ok(format!(
        "{}0x{:x}{:08x}\u{2026}{:08x} ({} bits)",
        if numbers.is_negative(index) { "-" } else { "" },
        limbs[limbs.len() - 1],
        limbs[limbs.len() - 2],
        limbs[0],
        32 * limbs.len() - top
    ))
}

/// The first and last numbers, and how many there are.
pub fn represented(py: Python<'_>, array: &Array) -> PyResult<String> {
    const ENDS: usize = 3;
    let numbers = array.numbers(py)?;
    let count = numbers.len();
    let row = |index| match array.is_null(index) {
        true => Ok("None".to_owned()),
        false => shown(numbers, index),
    };
    let rows = |range: Range<usize>| range.map(row).collect::<PyResult<Vec<_>>>();
    let place = match array.place {
        crate::place::Place::Auto => String::new(),
        place => format!(", device=\"{place}\""),
    };
    if count <= 2 * ENDS {
        return Ok(format!("array([{}]{place})", rows(0..count)?.join(", ")));
    }
    let (first, last) = (rows(0..ENDS)?, rows(count - ENDS..count)?);
    let (first, last) = (first.join(", "), last.join(", "));
    Ok(format!(
        "array([{first}, \u{2026}, {last}], length={count}{place})"
    ))
}

/// The numbers as bytes, `width` each; of negative ones the two's complement.
pub fn bytes(
    numbers: &Integers,
    width: usize,
    is_big_endian: bool,
    is_signed: bool,
) -> PyResult<Vec<u8>> {
    let mut all = bigint_cpu::zeroed::<u8>(width.saturating_mul(numbers.len()))
        .map_err(|error| exception(&error.into()))?;
    for (index, place) in all.chunks_exact_mut(width.max(1)).enumerate() {
        let (limbs, negative) = (numbers.magnitude(index), numbers.is_negative(index));
        let filler = if negative { u32::MAX } else { 0 };
        let mut carry = negative;
        let mut fits = is_signed || !negative;
        for (i, &limb) in limbs.iter().enumerate() {
            let mut limb = limb;
            if negative {
                (limb, carry) = (!limb).overflowing_add(u32::from(carry));
            }
            for (k, byte) in limb.to_le_bytes().into_iter().enumerate() {
                match place.get_mut(4 * i + k) {
                    Some(slot) => *slot = byte,
                    None => fits &= u32::from(byte) == filler & 0xFF,
                }
            }
        }
        if let Some(above) = place.get_mut(4 * limbs.len()..) {
            above.fill(filler as u8);
        }
        let is_top_set = place.last().is_some_and(|top| top >> 7 == 1);
        fits &= !is_signed || is_top_set == negative;
        if !fits {
            return Err(PyOverflowError::new_err(format!(
                "number {index} does not fit {width} bytes"
            )));
        }
        if is_big_endian {
            place.reverse();
        }
    }
    Ok(all)
}
