//! `Array`: a column of integers.

use crate::call::{Rows, computed, is_scalar, operand, operated, place_of};
use crate::column::{self, Numbers};
use crate::error::exception;
use crate::place::Place;
use crate::read::Bytes;
use crate::{arrow, dlpack, functions, order, run, write};
use bigint_host::{Engine, Error, Integers, SignedBatch};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice, PyString, PyTuple};
use std::cmp::Ordering;
use std::sync::Arc;

/// A column of integers of any lengths, some of which may be missing.
///
/// Arrays never change. Operators work row by row, with columns of as many rows, with one number for
/// all rows, and with whatever `array` takes.
#[pyclass(module = "bigint_engine", frozen)]
#[derive(Clone)]
pub struct Array {
    /// The numbers; zero in rows without one.
    pub column: Arc<Numbers>,
    /// Which rows have none.
    pub nulls: Option<Arc<[bool]>>,
    /// Who computes with them.
    pub place: Place,
}

impl Array {
    /// An array of these parts.
    pub fn of(numbers: impl Into<Numbers>, nulls: Option<Arc<[bool]>>, place: Place) -> Self {
        Array {
            column: Arc::new(numbers.into()),
            nulls: nulls.filter(|nulls| nulls.contains(&true)),
            place,
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.column.len()
    }

    /// The same numbers in another place: what cannot be opened, or has not the memory, says so.
    pub fn at(&self, py: Python<'_>, place: Place) -> PyResult<Self> {
        let engine = place.engine(py)?;
        let column = match place == self.place {
            true => Arc::clone(&self.column),
            false => Arc::new(self.numbers(py)?.clone().into()),
        };
        if matches!(place, Place::Cuda(_)) {
            run::at_once(py, || column.on_device(&engine).map(drop))?;
        }
        Ok(Array {
            column,
            nulls: self.nulls.clone(),
            place,
        })
    }

    /// The numbers on the host.
    pub fn numbers(&self, py: Python<'_>) -> PyResult<&Integers> {
        self.column.on_host(py)
    }

    /// Whether a row has no number.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls[row])
    }

    /// The rows that have a number.
    fn known(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.len()).filter(|&row| !self.is_null(row))
    }

    /// The same rows of the column, which are made on the device where the column is there.
    fn moved(
        &self,
        py: Python<'_>,
        nulls: Option<Arc<[bool]>>,
        on_host: impl FnOnce(&Integers) -> Result<Integers, Error> + Send,
        on_device: impl FnOnce(&Engine, &SignedBatch) -> Result<SignedBatch, Error> + Send,
    ) -> PyResult<Self> {
        if let (Some(batch), None) = (self.column.if_on_device(), &nulls) {
            let engine = self.place.engine(py)?;
            let made = run::at_once(py, || on_device(&engine, batch))?;
            return Ok(Array::of(made, nulls, self.place));
        }
        let numbers = self.numbers(py)?;
        let made = run::at_once(py, || on_host(numbers))?;
        Ok(Array::of(made, nulls, self.place))
    }

    /// These rows, in this order.
    fn rows(&self, py: Python<'_>, rows: &[usize]) -> PyResult<Self> {
        let nulls = self
            .nulls
            .as_ref()
            .map(|nulls| rows.iter().map(|&row| nulls[row]).collect());
        self.moved(
            py,
            nulls,
            |numbers| numbers.gather(rows),
            |engine, batch| engine.gather(batch, rows),
        )
    }

    /// The index that Python's, which may count from the end, is.
    fn index(&self, index: isize) -> PyResult<usize> {
        let count = self.len();
        let counted = match index < 0 {
            true => index
                .checked_add_unsigned(count)
                .and_then(|at| usize::try_from(at).ok()),
            false => Some(index.unsigned_abs()),
        };
        counted.filter(|&at| at < count).ok_or_else(|| {
            PyIndexError::new_err(format!("there is no row {index}: the array has {count}"))
        })
    }

    /// One row: an int, or `None`.
    fn row(&self, py: Python<'_>, row: usize) -> PyResult<Py<PyAny>> {
        match self.is_null(row) {
            true => Ok(py.None()),
            false => write::int(py, self.numbers(py)?, row),
        }
    }

    /// The rows of a slice.
    fn sliced(&self, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let py = slice.py();
        let found = slice.indices(self.len() as isize)?;
        let (start, length) = (found.start as usize, found.slicelength);
        if found.step == 1 {
            let start = start.min(self.len());
            let range = start..start + length;
            let nulls = self.nulls.as_ref();
            let nulls = nulls.map(|nulls| nulls[range.clone()].into());
            return self.moved(
                py,
                nulls,
                |numbers| numbers.slice(range.clone()),
                |engine, batch| engine.slice(batch, range.clone()),
            );
        }
        let rows: Vec<usize> = (0..length as isize)
            .map(|i| (found.start + i * found.step) as usize)
            .collect();
        self.rows(py, &rows)
    }

    /// The rows that a mask, or an array of indices, says.
    fn taken(&self, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = key.py();
        let key = py.import("numpy")?.call_method1("asarray", (key,))?;
        let kind: String = key.getattr("dtype")?.getattr("kind")?.extract()?;
        let is_empty = key.len()? == 0;
        match &*kind {
            "b" => {
                let mask: PyReadonlyArray1<'_, bool> = key.extract()?;
                let mask = mask.as_array();
                let (count, found) = (self.len(), mask.len());
                if found != count {
                    return Err(PyIndexError::new_err(format!(
                        "a mask of {found} rows is not one of an array of {count}"
                    )));
                }
                let rows = mask.iter().enumerate().filter(|(_, set)| **set);
                let rows: Vec<usize> = rows.map(|(row, _)| row).collect();
                self.rows(py, &rows)
            }
            _ if is_empty => self.rows(py, &[]),
            "i" | "u" => {
                let indices = key.call_method1("astype", ("int64",))?;
                let indices = indices.cast::<PyArray1<i64>>()?.to_vec()?;
                let indices = indices.iter().map(|&index| self.index(index as isize));
                self.rows(py, &indices.collect::<PyResult<Vec<_>>>()?)
            }
            _ => Err(PyTypeError::new_err(
                "rows are chosen by an int, a slice, a mask or an array of ints",
            )),
        }
    }

    /// The first row of the least, or of the greatest number.
    fn extreme(&self, py: Python<'_>, is_greatest: bool) -> PyResult<usize> {
        let numbers = self.numbers(py)?;
        let found = py.detach(|| order::extreme(numbers, self.known(), is_greatest));
        found.ok_or_else(|| PyValueError::new_err("there is no number in the array"))
    }

    /// Rows in the order of their numbers; those without one come last.
    fn sorted(&self, py: Python<'_>, is_reversed: bool) -> PyResult<Vec<usize>> {
        let (numbers, nulls) = (self.numbers(py)?.clone(), self.nulls.clone());
        run::in_background(py, numbers.len(), move |_| {
            let is_null = |row: &usize| nulls.as_ref().is_some_and(|nulls| nulls[*row]);
            let known = (0..numbers.len()).filter(|row| !is_null(row));
            let mut rows = order::sorted(&numbers, known, is_reversed)?;
            rows.extend((0..numbers.len()).filter(is_null));
            Ok(rows)
        })
    }

    /// One number made of all.
    fn total(
        &self,
        py: Python<'_>,
        total: fn(&Engine, &Integers) -> Result<Integers, Error>,
        on_device: fn(&Engine, &SignedBatch) -> Result<SignedBatch, Error>,
    ) -> PyResult<Py<PyAny>> {
        if let (Some(batch), None) = (self.column.if_on_device(), &self.nulls) {
            let (engine, batch) = (self.place.engine(py)?, batch.clone());
            let made = run::in_background(py, self.len(), move |_| on_device(&engine, &batch))?;
            return write::int(py, Numbers::from(made).on_host(py)?, 0);
        }
        let rows = Rows::of(std::slice::from_ref(self)).map_err(|error| exception(&error))?;
        let numbers = rows.known(self.numbers(py)?);
        let numbers = numbers.map_err(|error| exception(&error))?;
        let engine = self.place.engine(py)?;
        let made = run::in_background(py, numbers.len(), move |_| total(&engine, &numbers))?;
        write::int(py, &made, 0)
    }
}

class_with_operators! { Array {
    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        comparison: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let other = match is_scalar(other)? || !other.is_instance_of::<PyString>() {
            true => operand(other),
            false => Err(PyTypeError::new_err(())),
        };
        let other = match other {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                return Ok(py.NotImplemented().into_bound(py));
            }
            other => other?,
        };
        let operands = [slf.get().clone(), other];
        let rows = Rows::of(&operands).map_err(|error| exception(&error))?;
        let order = computed(py, functions::CMP, &operands, &rows)?;
        let order = &order.columns[0];
        let is = |row: usize| {
            let order = match order.magnitude(row) {
                [] => Ordering::Equal,
                _ if order.is_negative(row) => Ordering::Less,
                _ => Ordering::Greater,
            };
            comparison.matches(order) && rows.nulls.as_ref().is_none_or(|nulls| !nulls[row])
        };
        let mask = bigint_cpu::collect((0..rows.count).map(is));
        let mask = mask.map_err(|error| exception(&error.into()))?;
        Ok(PyArray1::from_vec(py, mask).into_any())
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyValueError::new_err(
            "whether an array is true is not clear: compare it, or use len(a) > 0",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        write::represented(py, self)
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        if let Ok(slice) = key.cast::<PySlice>() {
            return Ok(self.sliced(slice)?.into_pyobject(py)?.into_any());
        }
        if is_scalar(key)? && !key.is_instance_of::<pyo3::types::PyBool>() {
            let index = key.extract().map_err(|_| PyIndexError::new_err("there is no such row"))?;
            return Ok(self.row(py, self.index(index)?)?.into_bound(py));
        }
        Ok(self.taken(key)?.into_pyobject(py)?.into_any())
    }

    fn __iter__(slf: Bound<'_, Self>) -> Rowwise {
        Rowwise { array: slf.unbind(), next: 0 }
    }

    /// How pickle makes the array again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = py.import("bigint_engine")?.getattr("_restored")?;
        let numbers = self.numbers(py)?;
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
        let state = (
            bytes(&numbers.limbs().iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>()),
            bytes(&numbers.offsets().iter().flat_map(|end| end.to_le_bytes()).collect::<Vec<_>>()),
            bytes(numbers.signs()),
            self.nulls.as_ref().map(|nulls| bytes(&nulls.iter().map(|&null| u8::from(null)).collect::<Vec<_>>())),
            self.place.to_string(),
        );
        Ok((made, state).into_pyobject(py)?.into_any())
    }

    /// Who computes: "auto", "cpu" or "cuda:0" and its like.
    #[getter]
    fn device(&self) -> String {
        self.place.to_string()
    }

    /// The same numbers, with which another device computes.
    fn to(&self, py: Python<'_>, device: &str) -> PyResult<Self> {
        let place = Place::named(device)?;
        self.at(py, place)
    }

    /// The bytes that the numbers take.
    #[getter]
    fn nbytes(&self) -> usize {
        self.column.bytes()
    }

    /// How many rows have no number.
    #[getter]
    fn null_count(&self) -> usize {
        self.len() - self.known().count()
    }

    /// Which rows have no number, as a mask.
    #[pyo3(name = "is_null")]
    fn is_null_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        let mask = (0..self.len()).map(|row| self.is_null(row)).collect();
        PyArray1::from_vec(py, mask).into_any()
    }

    /// The numbers as ints, `None` where there is none.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        write::list(py, self, 0..self.len())
    }

    /// The numbers as a NumPy array: of ints, or of machine integers that hold them all.
    #[pyo3(signature = (dtype = None))]
    fn to_numpy<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let objects = numpy.call_method1("empty", (self.len(), "O"))?;
        objects.set_item(PySlice::full(py), self.to_list(py)?)?;
        let Some(dtype) = dtype else {
            return Ok(objects);
        };
        let dtype = numpy.call_method1("dtype", (dtype,))?;
        let kind: String = dtype.getattr("kind")?.extract()?;
        if kind == "O" {
            return Ok(objects);
        }
        if let ("i" | "u", Ok(known)) = (&*kind, self.extreme(py, false)) {
            let (least, greatest) = (known, self.extreme(py, true)?);
            let bounds = numpy.call_method1("iinfo", (&dtype,))?;
            for row in [least, greatest] {
                let number = self.row(py, row)?.into_bound(py);
                if number.lt(bounds.getattr("min")?)? || number.gt(bounds.getattr("max")?)? {
                    return Err(PyOverflowError::new_err(format!("number {row} does not fit {dtype}")));
                }
            }
        }
        objects.call_method1("astype", (dtype,))
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match copy {
            Some(false) => Err(PyValueError::new_err("ints are made of an array: that is a copy")),
            _ => self.to_numpy(py, dtype),
        }
    }

    /// The limbs of the magnitudes, a row of `uint32` for each number, the lowest first.
    #[pyo3(signature = (width = None))]
    fn to_limbs<'py>(&self, py: Python<'py>, width: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        let numbers = self.numbers(py)?;
        let most = column::widest(numbers);
        let width = width.unwrap_or(most.max(1));
        if most > width {
            let is_widest = |&i: &usize| numbers.magnitude(i).len() == most;
            let index = (0..numbers.len()).find(is_widest).unwrap_or(0);
            return Err(PyOverflowError::new_err(format!("number {index} does not fit {width} limbs")));
        }
        let all = run::at_once(py, || column::rows(numbers, width))?;
        let all = PyArray1::from_vec(py, all).into_any();
        all.call_method1("reshape", (numbers.len(), width))
    }

    /// The numbers as bytes, `width` each.
    #[pyo3(signature = (width, byteorder = "big", *, signed = false))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        byteorder: &str,
        signed: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if width == 0 {
            return Err(PyValueError::new_err("a number has one byte at least"));
        }
        let order = Bytes::ordered(byteorder, signed)?;
        let bytes = write::bytes(self.numbers(py)?, width, order.is_big_endian, signed)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The numbers as texts in base 10 or 16, `None` where there is none.
    #[pyo3(signature = (base = 10))]
    fn to_str<'py>(&self, py: Python<'py>, base: u32) -> PyResult<Bound<'py, PyList>> {
        if base != 10 && base != 16 {
            return Err(PyValueError::new_err("texts are in base 10 or 16"));
        }
        let (list, mut text) = (PyList::empty(py), Vec::new());
        let numbers = self.numbers(py)?;
        for row in 0..numbers.len() {
            if row.is_multiple_of(1 << 10) {
                py.check_signals()?;
            }
            if self.is_null(row) {
                list.append(py.None())?;
                continue;
            }
            text.clear();
            match base {
                16 => numbers.write_hexadecimal(row, &mut text),
                _ => run::at_once(py, || numbers.write_decimal(row, &mut text))?,
            }
            list.append(PyString::from_bytes(py, &text)?)?;
        }
        Ok(list)
    }

    /// The numbers as a pyarrow array of the extension type `bigint.any`, or of another type that holds
    /// them.
    #[pyo3(signature = (r#type = None))]
    fn to_arrow<'py>(
        slf: &Bound<'py, Self>,
        r#type: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        arrow::pyarrow(slf, r#type)
    }

    /// The numbers as Arrow's C structures, for every library that reads these.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        arrow::exported(py, self, requested_schema.as_ref())
    }

    /// The type of what `__arrow_c_array__` gives.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::schema(py)
    }

    /// The limbs of an array of natural numbers, for other libraries' `from_dlpack`: a row of `uint32`
    /// for each, the lowest first; of an array on a device where they are there. Rows without a number
    /// are zero.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Whatever it is, the limbs are written before it reads.
        drop(stream);
        dlpack::capsule(py, self, max_version, dl_device, copy)
    }

    /// DLPack's numbers of the device's kind and of the device.
    fn __dlpack_device__(&self) -> (i32, i32) {
        dlpack::device(self)
    }

    /// Where the limbs of an array on a CUDA device are, as `__dlpack__` describes them; they must not
    /// be written.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dlpack::interface(py, self)
    }

    /// The sum of all numbers; 0 of none.
    fn sum(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.total(py, |engine, x| engine.sum(x), |engine, x| engine.sum(x))
    }

    /// The product of all numbers; 1 of none.
    fn prod(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.total(py, |engine, x| engine.product(x), |engine, x| engine.product(x))
    }

    /// The sums of the numbers up to each row.
    fn cumsum(&self, py: Python<'_>) -> PyResult<Self> {
        let rows = Rows::of(std::slice::from_ref(self)).map_err(|error| exception(&error))?;
        let numbers = rows.known(self.numbers(py)?);
        let numbers = numbers.map_err(|error| exception(&error))?;
        let engine = self.place.engine(py)?;
        let sums = run::in_background(py, numbers.len(), move |_| {
            engine.prefix_sum(&numbers)
        })?;
        let sums = rows.spread(sums).map_err(|error| exception(&error))?;
        Ok(Array::of(sums, self.nulls.clone(), self.place))
    }

    /// The least number.
    fn min(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.row(py, self.extreme(py, false)?)
    }

    /// The greatest number.
    fn max(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.row(py, self.extreme(py, true)?)
    }

    /// The first row of the least number.
    fn argmin(&self, py: Python<'_>) -> PyResult<usize> {
        self.extreme(py, false)
    }

    /// The first row of the greatest number.
    fn argmax(&self, py: Python<'_>) -> PyResult<usize> {
        self.extreme(py, true)
    }

    /// The numbers in order, those that are missing last.
    #[pyo3(signature = (*, reverse = false))]
    fn sort(&self, py: Python<'_>, reverse: bool) -> PyResult<Self> {
        let rows = self.sorted(py, reverse)?;
        self.rows(py, &rows)
    }

    /// The rows in the order of their numbers, as indices.
    #[pyo3(signature = (*, reverse = false))]
    fn argsort<'py>(&self, py: Python<'py>, reverse: bool) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.sorted(py, reverse)?.into_iter().map(|row| row as i64);
        Ok(PyArray1::from_iter(py, rows).into_any())
    }

    /// The distinct numbers in order; `None` is no number. With `return_counts` also how many rows
    /// have each.
    #[pyo3(signature = (*, return_counts = false))]
    fn unique<'py>(&self, py: Python<'py>, return_counts: bool) -> PyResult<Bound<'py, PyAny>> {
        let mut rows = self.sorted(py, false)?;
        rows.truncate(self.known().count());
        let (first, counts) = order::distinct(self.numbers(py)?, &rows);
        let unique = self.rows(py, &first)?.into_pyobject(py)?;
        match return_counts {
            true => Ok((unique, PyArray1::from_vec(py, counts)).into_pyobject(py)?.into_any()),
            false => Ok(unique.into_any()),
        }
    }
} }

/// An array's rows one after another.
#[pyclass(module = "bigint_engine")]
pub struct Rowwise {
    array: Py<Array>,
    next: usize,
}

#[pymethods]
impl Rowwise {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let array = self.array.get();
        if self.next == array.len() {
            return Ok(None);
        }
        self.next += 1;
        array.row(py, self.next - 1).map(Some)
    }
}

/// The array of what `Array.__reduce__` told.
pub fn restored(
    limbs: &[u8],
    offsets: &[u8],
    signs: &[u8],
    nulls: Option<&[u8]>,
    device: &str,
) -> PyResult<Array> {
    let (limbs, _) = limbs.as_chunks();
    let (offsets, _) = offsets.as_chunks();
    let numbers = Integers::from_parts(
        limbs.iter().map(|limb| u32::from_le_bytes(*limb)).collect(),
        offsets.iter().map(|end| i64::from_le_bytes(*end)).collect(),
        signs.to_vec(),
    );
    let numbers = numbers.map_err(|error| exception(&error))?;
    let nulls: Option<Arc<[bool]>> =
        nulls.map(|nulls| nulls.iter().map(|&null| null != 0).collect());
    if nulls
        .as_ref()
        .is_some_and(|nulls| nulls.len() != numbers.len())
    {
        return Err(PyValueError::new_err("this is no pickled array"));
    }
    Ok(Array::of(numbers, nulls, Place::named(device)?))
}

/// The rows of arrays, and of whatever `array` takes, one after another.
pub fn concatenated(arrays: &Bound<'_, PyAny>) -> PyResult<Array> {
    let py = arrays.py();
    let arrays = arrays.try_iter()?.map(|array| operand(&array?));
    let arrays = arrays.collect::<PyResult<Vec<_>>>()?;
    let place = place_of(&arrays);
    let batches = arrays.iter().map(|array| array.column.if_on_device());
    let are_known = arrays.iter().all(|array| array.nulls.is_none());
    if let (Some(batches), true, false) = (
        batches.collect::<Option<Vec<_>>>(),
        are_known,
        arrays.is_empty(),
    ) {
        let engine = place.engine(py)?;
        let all = run::at_once(py, || engine.concatenate(&batches))?;
        return Ok(Array::of(all, None, place));
    }
    let parts = arrays.iter().map(|array| array.numbers(py));
    let parts = parts.collect::<PyResult<Vec<_>>>()?;
    let all = run::at_once(py, || Integers::concatenate(&parts))?;
    let rows = arrays
        .iter()
        .flat_map(|array| (0..array.len()).map(|row| array.is_null(row)));
    let nulls = (!are_known).then(|| rows.collect());
    Ok(Array::of(all, nulls, place))
}

/// The rows of one array where a mask is set, and of another elsewhere.
pub fn chosen(
    mask: &Bound<'_, PyAny>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
) -> PyResult<Array> {
    let py = mask.py();
    let mask = py
        .import("numpy")?
        .call_method1("asarray", (mask, "bool"))?;
    let mask: Vec<bool> = mask
        .extract::<PyReadonlyArray1<'_, bool>>()?
        .as_array()
        .to_vec();
    let (a, b) = (operand(a)?, operand(b)?);
    for x in [&a, &b] {
        let (found, count) = (x.len(), mask.len());
        if found != 1 && found != count {
            let error = Error::CountMismatch { a: count, b: found };
            return Err(exception(&error));
        }
    }
    let numbers = functions::chosen(&mask, a.numbers(py)?, b.numbers(py)?);
    let is_null = |x: &Array, row| x.is_null(if x.len() == 1 { 0 } else { row });
    let rows = mask.iter().enumerate();
    let nulls = rows.map(|(row, &is_first)| is_null(if is_first { &a } else { &b }, row));
    let nulls: Arc<[bool]> = nulls.collect();
    let numbers = numbers.map_err(|error| exception(&error))?;
    Ok(Array::of(numbers, Some(nulls), a.place.and(b.place)))
}
