//! Numbers from what Python programs keep them in.

use crate::array::Array;
use crate::digits::{Digits, Object};
use crate::error::exception;
use crate::place::Place;
use crate::{arrow, run};
use bigint_host::{Engine, Error, Integers};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyRange, PyString, PyTuple};
use std::sync::Arc;

/// Items between two looks for signals.
const ITEMS: usize = 1 << 14;

/// Limbs that are worth another thread.
const WORTH_SHARING: usize = 1 << 15;

/// Ints that a thread looks at, or reads, before it takes more.
const PART: usize = 1 << 10;

/// How numbers of a fixed number of bytes are written.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub is_big_endian: bool,
    pub is_signed: bool,
}

impl Bytes {
    /// The way of this byte order.
    pub fn ordered(order: &str, is_signed: bool) -> PyResult<Self> {
        match order {
            "big" | "little" => Ok(Bytes {
                is_big_endian: order == "big",
                is_signed,
            }),
            _ => Err(PyValueError::new_err(
                "byteorder must be \"big\" or \"little\"",
            )),
        }
    }

    /// Byte `i` of a number, the lowest first.
    fn byte(self, number: &[u8], i: usize) -> u8 {
        match self.is_big_endian {
            true => number[number.len() - 1 - i],
            false => number[i],
        }
    }

    /// Whether a number is negative.
    fn is_negative(self, number: &[u8]) -> bool {
        self.is_signed && !number.is_empty() && self.byte(number, number.len() - 1) >> 7 == 1
    }

    /// The limbs of a number's magnitude, zeros on top left out.
    fn length(self, number: &[u8]) -> (usize, bool) {
        let negative = self.is_negative(number);
        let filler = if negative { 0xFF } else { 0 };
        let differs = |&i: &usize| self.byte(number, i) != filler;
        let top = (0..number.len()).rev().find(differs);
        let mut bytes = top.map_or(0, |top| top + 1);
        // Of `-x` the bytes are those of `x - 1`, every bit the other: a power of 256 is one longer.
        if negative && (0..bytes).all(|i| self.byte(number, i) == 0) {
            bytes += 1;
        }
        (bytes.div_ceil(4), negative)
    }

    fn fill(self, number: &[u8], limbs: &mut [u32]) {
        let negative = self.is_negative(number);
        let mut carry = negative;
        for (j, limb) in limbs.iter_mut().enumerate() {
            let byte = |i: usize| match i < number.len() {
                true => self.byte(number, i),
                false if negative => 0xFF,
                false => 0,
            };
            *limb = u32::from_le_bytes([0, 1, 2, 3].map(|k| byte(4 * j + k)));
            if negative {
                (*limb, carry) = (!*limb).overflowing_add(u32::from(carry));
            }
        }
    }

    /// The numbers of a text of bytes, so many bytes each.
    pub fn numbers(self, bytes: &[u8], width: usize) -> Result<Integers, Error> {
        let number = |i: usize| &bytes[i * width..][..width];
        Integers::from_fn(
            bytes.len() / width,
            width.div_ceil(4),
            |i| self.length(number(i)),
            |i, limbs| self.fill(number(i), limbs),
        )
    }
}

/// An array of what `source` holds.
pub fn array(source: &Bound<'_, PyAny>, place: Place) -> PyResult<Array> {
    let py = source.py();
    if let Ok(array) = source.cast::<Array>() {
        return Ok(array.get().clone());
    }
    if let Ok(list) = source.cast::<PyList>() {
        return of_items(&Items::List(list), place);
    }
    if let Ok(tuple) = source.cast::<PyTuple>() {
        return of_items(&Items::Tuple(tuple), place);
    }
    if source.is_instance_of::<PyString>()
        || source.is_instance_of::<PyBytes>()
        || source.is_instance_of::<PyByteArray>()
    {
        return Err(PyTypeError::new_err(
            "one text is no column: put it into a list, or use bigint_engine.from_bytes",
        ));
    }
    if !source.is_instance_of::<PyRange>() {
        if let Some(array) = arrow::imported(source, place)? {
            return Ok(array);
        }
        if source.hasattr("__array__")? || source.hasattr("__array_interface__")? {
            let numpy = py.import("numpy")?;
            return of_numpy(&numpy.call_method1("asarray", (source,))?, place);
        }
    }
    let items = source.try_iter().map_err(|_| {
        let class = source.get_type();
        PyTypeError::new_err(format!("an array cannot be made of {class}"))
    })?;
    let list = py.get_type::<PyList>().call1((items,))?;
    of_items(&Items::List(list.cast()?), place)
}

/// An array of a NumPy array of one dimension.
fn of_numpy(source: &Bound<'_, PyAny>, place: Place) -> PyResult<Array> {
    let untyped = source.cast::<PyUntypedArray>()?;
    if untyped.ndim() != 1 {
        return Err(PyValueError::new_err(format!(
            "a column has one dimension, not {}: use ravel(), or from_limbs for rows of limbs",
            untyped.ndim()
        )));
    }
    let dtype = untyped.dtype();
    let kind: String = dtype.getattr("kind")?.extract()?;
    let py = source.py();
    let numbers = match &*kind {
        "i" => {
            let words = source.call_method1("astype", ("int64",))?;
            let words = words.cast::<PyArray1<i64>>()?.to_vec()?;
            let word = |i: usize| (words[i].unsigned_abs(), words[i] < 0);
            run::at_once(py, || of_words(words.len(), word))
        }
        "u" | "b" => {
            let words = source.call_method1("astype", ("uint64",))?;
            let words = words.cast::<PyArray1<u64>>()?.to_vec()?;
            run::at_once(py, || of_words(words.len(), |i| (words[i], false)))
        }
        "O" | "U" | "S" => {
            let items = source.call_method0("tolist")?;
            return of_items(&Items::List(items.cast()?), place);
        }
        _ => Err(PyTypeError::new_err(format!(
            "numbers of type {dtype} are no integers"
        ))),
    };
    Ok(Array::of(numbers?, None, place))
}

/// Numbers of one word each, and whether they are negative.
fn of_words(count: usize, word: impl Fn(usize) -> (u64, bool) + Sync) -> Result<Integers, Error> {
    let length = |i| {
        let (word, negative): (u64, bool) = word(i);
        let bits = u64::BITS - word.leading_zeros();
        (bits.div_ceil(u32::BITS) as usize, negative)
    };
    let fill = |i, limbs: &mut [u32]| {
        let (word, _) = word(i);
        for (limb, part) in limbs.iter_mut().zip([word as u32, (word >> 32) as u32]) {
            *limb = part;
        }
    };
    Integers::from_fn(count, 2, length, fill)
}

/// An array of limbs, a row of a two-dimensional array of `uint32` for each number, the lowest first.
pub fn of_limbs(source: &Bound<'_, PyAny>, place: Place) -> PyResult<Array> {
    let py = source.py();
    let numpy = py.import("numpy")?;
    let source = numpy.call_method1("asarray", (source,))?;
    let shape: Vec<usize> = source.getattr("shape")?.extract()?;
    let kind: String = source.getattr("dtype")?.getattr("str")?.extract()?;
    let ([_, width], "<u4") = (&shape[..], &*kind) else {
        return Err(PyTypeError::new_err(
            "limbs are a two-dimensional array of uint32, a row for each number",
        ));
    };
    let width = *width;
    let rows = source.call_method0("ravel")?;
    let rows: PyReadonlyArray1<'_, u32> = rows.extract()?;
    let rows = rows.as_slice()?;
    let row = |i: usize| &rows[i * width..][..width];
    let length = |i| {
        let top = row(i).iter().rposition(|&limb| limb != 0);
        (top.map_or(0, |top| top + 1), false)
    };
    let numbers = Integers::from_fn(shape[0], width, length, |i, limbs| {
        limbs.copy_from_slice(&row(i)[..limbs.len()]);
    });
    Ok(Array::of(
        numbers.map_err(|error| exception(&error))?,
        None,
        place,
    ))
}

/// The items of a list or tuple.
enum Items<'a, 'py> {
    List(&'a Bound<'py, PyList>),
    Tuple(&'a Bound<'py, PyTuple>),
}

impl<'a, 'py> Items<'a, 'py> {
    fn py(&self) -> Python<'py> {
        match self {
            Items::List(list) => list.py(),
            Items::Tuple(tuple) => tuple.py(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Items::List(list) => list.len(),
            Items::Tuple(tuple) => tuple.len(),
        }
    }

    /// Item `index`, which stays alive until Python code runs.
    #[expect(unsafe_code, reason = "PyO3 counts references to a list's items")]
    #[inline]
    fn get(&self, index: usize) -> PyResult<Borrowed<'a, 'py, PyAny>> {
        match self {
            // SAFETY: the answer is null with an exception, or an item that the list keeps alive.
            Items::List(list) => unsafe {
                let item = ffi::PyList_GetItem(list.as_ptr(), index as ffi::Py_ssize_t);
                Borrowed::from_ptr_or_err(list.py(), item)
            },
            Items::Tuple(tuple) => tuple.get_borrowed_item(index),
        }
    }

    fn iter(&self) -> impl Iterator<Item = PyResult<Bound<'py, PyAny>>> + '_ {
        (0..self.len()).map(|index| Ok(self.get(index)?.to_owned()))
    }
}

/// What the first item that is not `None` is says what the others are.
fn of_items(items: &Items<'_, '_>, place: Place) -> PyResult<Array> {
    let first = items
        .iter()
        .find(|item| item.as_ref().is_ok_and(|item| !item.is_none()));
    let first = first.transpose()?;
    let is = |is: fn(&Bound<'_, PyAny>) -> bool| first.as_ref().is_some_and(is);
    let is_text = is(|item| item.is_instance_of::<PyString>());
    let is_bytes = is(|item| item.is_instance_of::<PyBytes>());
    match (is_text, is_bytes, Digits::known(items.py())) {
        (true, ..) => of_texts(items, place),
        (_, true, _) => of_bytes(items, place),
        (.., Some(digits)) => of_ints(items, digits, place),
        (.., None) => of_ints_stably(items, place),
    }
}

/// The rows that are `None`, told row by row.
#[derive(Default)]
struct Nulls(Vec<bool>);

impl Nulls {
    fn insert(&mut self, index: usize, count: usize) -> PyResult<()> {
        if self.0.is_empty() {
            let none = bigint_cpu::collect((0..count).map(|_| false));
            self.0 = none.map_err(|error| exception(&error.into()))?;
        }
        self.0[index] = true;
        Ok(())
    }

    fn found(self) -> Option<Arc<[bool]>> {
        (!self.0.is_empty()).then(|| self.0.into())
    }
}

/// An int of an item that is none but can be taken for one, as NumPy's and gmpy2's integers can.
fn as_int<'py>(item: &Bound<'py, PyAny>, index: usize) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `item` is an object; the answer is null with an exception, or ours.
    #[expect(unsafe_code, reason = "PyO3 has no name for __index__")]
    let int =
        unsafe { Bound::from_owned_ptr_or_err(item.py(), ffi::PyNumber_Index(item.as_ptr())) };
    int.map_err(|_| {
        let class = item.get_type();
        PyTypeError::new_err(format!("item {index} is {class}, and no integer"))
    })
}

/// What an item of a list is, once it was looked at.
#[derive(Clone, Copy)]
enum Found {
    /// An int of so many limbs, and whether it is negative.
    Int(usize, bool),
    None,
    Other,
}

/// Ints on their way into a column. While items are here no Python code runs, so that whatever holds them
/// goes on doing so.
struct Reader {
    digits: Digits,
    engine: Engine,
    limbs: Vec<u32>,
    /// The limbs that have been read.
    end: usize,
    offsets: Vec<i64>,
    signs: Vec<u8>,
    nulls: Nulls,
}

impl Reader {
    fn new(digits: Digits, engine: Engine, count: usize) -> Result<Self, Error> {
        let mut offsets = bigint_cpu::with_capacity(count + 1)?;
        offsets.push(0);
        Ok(Reader {
            digits,
            engine,
            limbs: Vec::new(),
            end: 0,
            offsets,
            signs: bigint_cpu::zeroed(count.div_ceil(8))?,
            nulls: Nulls::default(),
        })
    }

    /// What the items are.
    fn look(&self, items: &[Object]) -> Result<Vec<Found>, Error> {
        let mut found = bigint_cpu::collect(items.iter().map(|_| Found::None))?;
        let parts = items.chunks(PART).zip(found.chunks_mut(PART));
        let digits = self.digits;
        bigint_cpu::share(parts, items.len().div_ceil(PART), |(items, found)| {
            for (item, found) in items.iter().zip(found) {
                *found = match item.int() {
                    Some(int) => {
                        let (length, negative) = digits.length(int);
                        Found::Int(length, negative)
                    }
                    None if item.is_none() => Found::None,
                    None => Found::Other,
                };
            }
        });
        Ok(found)
    }

    /// Reads items up to the first that is neither an int nor `None`, of a column of so many numbers;
    /// returns how many they are.
    fn read(&mut self, items: &[Object], count: usize) -> PyResult<usize> {
        let found = self.look(items).map_err(|error| exception(&error))?;
        let (first, start) = (self.offsets.len() - 1, self.end);
        for (row, &found) in (first..).zip(&found) {
            match found {
                Found::Int(length, negative) => {
                    self.signs[row / 8] |= u8::from(negative) << (row % 8);
                    self.end += length;
                }
                Found::None => self.nulls.insert(row, count)?,
                Found::Other => break,
            }
            self.offsets.push((4 * self.end) as i64);
        }
        let read = self.offsets.len() - 1 - first;
        let made = self.make_room(read, count);
        made.map_err(|error| exception(&error))?;
        let mut rest = &mut self.limbs[start..self.end];
        let parts = (0..read).step_by(PART).map(|at| {
            let past = read.min(at + PART);
            let limbs = (self.offsets[first + past] - self.offsets[first + at]) as usize / 4;
            let (place, others) = std::mem::take(&mut rest).split_at_mut(limbs);
            rest = others;
            (at..past, place)
        });
        let (digits, threads) = (self.digits, (self.end - start).div_ceil(WORTH_SHARING));
        bigint_cpu::share(parts, threads, |(part, mut place)| {
            for (item, found) in items[part.clone()].iter().zip(&found[part]) {
                if let (Some(int), &Found::Int(length, _)) = (item.int(), found) {
                    let (of_int, others) = place.split_at_mut(length);
                    digits.read(int, of_int);
                    place = others;
                }
            }
        });
        Ok(read)
    }

    /// Makes room for the limbs up to the end, where so many of all numbers have been looked at last.
    fn make_room(&mut self, read: usize, count: usize) -> Result<(), Error> {
        if self.limbs.is_empty() {
            // The others are taken for as long.
            let mean = (self.end + self.end / 64).div_ceil(read.max(1));
            self.limbs = self
                .engine
                .memory(self.end.max(mean.saturating_mul(count)))?;
        }
        if self.limbs.len() < self.end {
            let more = self.end - self.limbs.len() + self.end / 8;
            bigint_cpu::reserve(&mut self.limbs, more)?;
            self.limbs.resize(self.limbs.len() + more, 0);
        }
        Ok(())
    }

    fn finish(mut self, place: Place) -> PyResult<Array> {
        self.limbs.truncate(self.end);
        let made = self
            .engine
            .integers_from_parts(self.limbs, self.offsets, self.signs);
        let numbers = made.map_err(|error| exception(&error))?;
        Ok(Array::of(numbers, self.nulls.found(), place))
    }
}

/// An array of ints, read as they lie in memory.
#[expect(unsafe_code, reason = "ints are read as CPython lays them out")]
fn of_ints(items: &Items<'_, '_>, digits: Digits, place: Place) -> PyResult<Array> {
    let (py, count) = (items.py(), items.len());
    let reader = Reader::new(digits, place.of_host(py)?, count);
    let mut reader = reader.map_err(|error| exception(&error))?;
    let (mut next, mut most, mut waiting) = (0, ITEMS, Vec::with_capacity(ITEMS.min(count)));
    while next < count {
        py.check_signals()?;
        waiting.clear();
        for index in next..count.min(next + most) {
            // SAFETY: `items` keeps it alive until Python code runs, and by then it is read.
            waiting.push(unsafe { Object::of(&*items.get(index)?) });
        }
        let read = reader.read(&waiting, count)?;
        next += read;
        most = ITEMS.min(2 * most);
        if read < waiting.len() {
            // Python code runs here. What waits behind this one is asked for again, and where others of its
            // kind follow, little waits.
            let other = as_int(&items.get(next)?.to_owned(), next)?;
            // SAFETY: `other` keeps it alive until it is read.
            reader.read(&[unsafe { Object::of(&other) }], count)?;
            (next, most) = (next + 1, 1);
        }
    }
    reader.finish(place)
}

/// An array of ints, by the stable ABI alone.
fn of_ints_stably(items: &Items<'_, '_>, place: Place) -> PyResult<Array> {
    let (mut numbers, mut nulls) = (Integers::new(), Nulls::default());
    for (index, item) in items.iter().enumerate() {
        let item = item?;
        if index.is_multiple_of(ITEMS) {
            items.py().check_signals()?;
        }
        if item.is_none() {
            nulls.insert(index, items.len())?;
            push(&mut numbers, false, &[])?;
            continue;
        }
        let int = as_int(&item, index)?;
        let bits: usize = int.call_method0("bit_length")?.extract()?;
        let bytes = int.call_method0("__abs__")?;
        let bytes = bytes.call_method1("to_bytes", (bits.div_ceil(8), "little"))?;
        push(
            &mut numbers,
            int.lt(0)?,
            bytes.cast::<PyBytes>()?.as_bytes(),
        )?;
    }
    Ok(Array::of(numbers, nulls.found(), place))
}

/// Takes a number of little-endian bytes in.
fn push(numbers: &mut Integers, negative: bool, bytes: &[u8]) -> PyResult<()> {
    let pushed = numbers.push_bytes_le(negative, bytes);
    pushed.map_err(|error| exception(&error))
}

/// An array of numbers written in digits.
fn of_texts(items: &Items<'_, '_>, place: Place) -> PyResult<Array> {
    let (mut numbers, mut nulls) = (Integers::new(), Nulls::default());
    for (index, item) in items.iter().enumerate() {
        let item = item?;
        if index.is_multiple_of(ITEMS) {
            items.py().check_signals()?;
        }
        if item.is_none() {
            nulls.insert(index, items.len())?;
            push(&mut numbers, false, &[])?;
            continue;
        }
        let text = item.cast::<PyString>().map_err(|_| {
            let class = item.get_type();
            PyTypeError::new_err(format!(
                "item {index} is {class}, and no text as the others are"
            ))
        })?;
        let read = numbers.push_text(text.to_cow()?.as_bytes());
        read.map_err(|error| exception(&error))?;
    }
    Ok(Array::of(numbers, nulls.found(), place))
}

/// An array of numbers that are big-endian bytes, each of its own length.
fn of_bytes(items: &Items<'_, '_>, place: Place) -> PyResult<Array> {
    let (mut numbers, mut nulls) = (Integers::new(), Nulls::default());
    for (index, item) in items.iter().enumerate() {
        let item = item?;
        if item.is_none() {
            nulls.insert(index, items.len())?;
            push(&mut numbers, false, &[])?;
            continue;
        }
        let bytes = item.cast::<PyBytes>().map_err(|_| {
            let class = item.get_type();
            PyTypeError::new_err(format!(
                "item {index} is {class}, and not bytes as the others are"
            ))
        })?;
        let bytes: Vec<u8> = bytes.as_bytes().iter().rev().copied().collect();
        push(&mut numbers, false, &bytes)?;
    }
    Ok(Array::of(numbers, nulls.found(), place))
}
