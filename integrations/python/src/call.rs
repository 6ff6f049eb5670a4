//! Calls: operands become columns, rows without numbers are left out, long work is done in pieces.

use crate::array::Array;
use crate::column::Numbers;
use crate::error::exception;
use crate::expr::Expr;
use crate::functions::{Function, Made};
use crate::place::Place;
use crate::{read, run, write};
use bigint_host::{Engine, Error, Integers, SignedBatch};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a piece of work should take: about as long as two looks for signals are apart.
const PIECE: Duration = Duration::from_millis(50);

/// Limbs of the first piece's operands.
const FIRST_PIECE: usize = 1 << 12;

/// Numbers that the CPU computes together, several times over: pieces are multiples of it.
const TOGETHER: usize = 32;

/// Limbs of a row from which on its product takes much longer than its copy.
const LONG_ROW: usize = 1 << 11;

/// Whether an object is one number.
pub fn is_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.is_instance_of::<PyInt>()
        || !object.hasattr("__len__")? && object.hasattr("__index__")?)
}

/// An operand as a column, of one number where it is one.
pub fn operand(object: &Bound<'_, PyAny>) -> PyResult<Array> {
    match is_scalar(object)? {
        true => {
            let one = PyTuple::new(object.py(), [object])?;
            read::array(&one, Place::Auto)
        }
        false => read::array(object, Place::Auto),
    }
}

/// What an operator answers: `NotImplemented` where an operand is no column and no number.
pub fn operated<'py>(
    function: &'static Function,
    operands: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let py = operands[0].py();
    called(py, function, operands).or_else(|error| match error.is_instance_of::<PyTypeError>(py) {
        true => Ok(py.NotImplemented().into_bound(py)),
        false => Err(error),
    })
}

/// What a function answers: an array, a mask or a tuple of them; numbers where all operands are.
pub fn called<'py>(
    py: Python<'py>,
    function: &'static Function,
    operands: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    if operands
        .iter()
        .any(|object| object.is_instance_of::<Expr>())
    {
        let made = Expr::applied(function, operands)?;
        return Ok(Bound::new(py, made)?.into_any());
    }
    let mut are_scalars = true;
    for object in operands {
        are_scalars &= is_scalar(object)?;
    }
    let operands = operands.iter().map(|object| operand(object));
    let operands = operands.collect::<PyResult<Vec<Array>>>()?;
    let rows = Rows::of(&operands).map_err(|error| exception(&error))?;
    let place = place_of(&operands);
    let mut results = Vec::new();
    let array = |column: Numbers| {
        let array = Array::of(column, rows.nulls.clone(), place);
        Ok::<_, PyErr>(array.into_pyobject(py)?.into_any())
    };
    let mut masks = Vec::new();
    if let Some(columns) = on_device(py, function, &operands, &rows)? {
        for column in columns {
            results.push(array(column.into())?);
        }
    } else {
        let made = computed(py, function, &operands, &rows)?;
        masks = made.masks;
        for column in made.columns {
            results.push(match are_scalars {
                true => write::int(py, &column, 0)?.into_bound(py),
                false => array(column.into())?,
            });
        }
    }
    for mask in masks {
        results.push(match are_scalars {
            true => mask[0].into_pyobject(py)?.to_owned().into_any(),
            false => PyArray1::from_vec(py, mask).into_any(),
        });
    }
    match results.len() {
        1 => Ok(results.swap_remove(0)),
        _ => Ok(PyTuple::new(py, results)?.into_any()),
    }
}

/// Where the operands meet.
pub fn place_of(operands: &[Array]) -> Place {
    operands
        .iter()
        .fold(Place::Auto, |place, x| place.and(x.place))
}

/// The rows of several columns.
pub struct Rows {
    /// How many there are.
    pub count: usize,
    /// Which have no number, in one column at least.
    pub nulls: Option<Arc<[bool]>>,
    /// Those that have.
    known: Option<Arc<[usize]>>,
}

impl Rows {
    /// The rows of columns that must be equally long, or of one number, which stands for all rows.
    pub fn of(columns: &[Array]) -> Result<Self, Error> {
        let mut counts = columns.iter().map(Array::len).filter(|&count| count != 1);
        let count = counts.next().unwrap_or(1);
        if let Some(other) = counts.find(|&other| other != count) {
            return Err(Error::CountMismatch { a: count, b: other });
        }
        if columns.iter().all(|x| x.nulls.is_none()) {
            return Ok(Rows {
                count,
                nulls: None,
                known: None,
            });
        }
        let is_null = |x: &Array, row: usize| x.is_null(if x.len() == 1 { 0 } else { row });
        let nulls = (0..count).map(|row| columns.iter().any(|x| is_null(x, row)));
        let nulls = bigint_cpu::collect(nulls)?;
        let known: Vec<usize> = (0..count).filter(|&row| !nulls[row]).collect();
        Ok(Rows {
            count,
            nulls: Some(nulls.into()),
            known: Some(known.into()),
        })
    }

    /// A column's numbers in the rows that have all of them.
    pub fn known(&self, numbers: &Integers) -> Result<Integers, Error> {
        let Some(known) = &self.known else {
            return Ok(numbers.clone());
        };
        match numbers.len() == self.count {
            true => numbers.gather(known),
            // One number for all rows, if there are any.
            false if known.is_empty() => Ok(Integers::new()),
            false => Ok(numbers.clone()),
        }
    }

    /// The row that is number `index` of those with numbers.
    pub fn row(&self) -> impl Fn(usize) -> usize + Send + use<> {
        let known = self.known.clone();
        move |index| known.as_ref().map_or(index, |known| known[index])
    }

    /// The column of all rows, zero where there is no number.
    pub fn spread(&self, column: Integers) -> Result<Integers, Error> {
        let Some(known) = &self.known else {
            return Ok(column);
        };
        let (limbs, ends, signs) = column.into_parts();
        let mut offsets = bigint_cpu::zeroed::<i64>(self.count + 1)?;
        let mut spread = bigint_cpu::zeroed::<u8>(self.count.div_ceil(8))?;
        for (index, &row) in known.iter().enumerate() {
            offsets[row + 1] = ends[index + 1];
            spread[row / 8] |= (signs[index / 8] >> (index % 8) & 1) << (row % 8);
        }
        for row in 1..offsets.len() {
            offsets[row] = offsets[row].max(offsets[row - 1]);
        }
        Integers::from_parts(limbs, offsets, spread)
    }

    fn spread_mask(&self, mask: Vec<bool>) -> Vec<bool> {
        let Some(known) = &self.known else {
            return mask;
        };
        let mut spread = vec![false; self.count];
        known
            .iter()
            .zip(mask)
            .for_each(|(&row, set)| spread[row] = set);
        spread
    }
}

/// A function's results of columns that a device has, where they stay; `None` where it is not done
/// there. What is refused there is done on the host, whose columns may do it after all, or say why not.
fn on_device(
    py: Python<'_>,
    function: &'static Function,
    operands: &[Array],
    rows: &Rows,
) -> PyResult<Option<Vec<SignedBatch>>> {
    let place = place_of(operands);
    let (Place::Cuda(_), Some(compute), None) = (place, function.on_device, &rows.nulls) else {
        return Ok(None);
    };
    let engine = place.engine(py)?;
    let columns: Vec<_> = operands.iter().map(|x| Arc::clone(&x.column)).collect();
    run::in_background(py, rows.count, move |_| {
        let batches = columns.iter().map(|x| x.on_device(&engine));
        let Some(batches) = batches.collect::<Result<Option<Vec<_>>, _>>()? else {
            return Ok(None);
        };
        Ok(compute(&engine, &batches).ok().map(|made| made.columns))
    })
}

/// A function's results, row by row.
pub fn computed(
    py: Python<'_>,
    function: &'static Function,
    operands: &[Array],
    rows: &Rows,
) -> PyResult<Made> {
    let engine = place_of(operands).engine(py)?;
    let columns = operands.iter().map(|x| {
        let known = rows.known(x.numbers(py)?);
        known.map_err(|error| exception(&error))
    });
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    let limbs: usize = columns.iter().map(|x| x.limbs().len() + x.len()).sum();
    let row = rows.row();
    let made = match function.is_long || limbs >= run::SHORT {
        true => run::in_background(py, rows.count, move |pace| {
            let made = in_pieces(&engine, function, &columns, pace);
            made.map_err(|error| error.renumbered(row))
        }),
        false => run::at_once(py, || {
            let made = function.of(&engine, &columns.iter().collect::<Vec<_>>());
            made.map_err(|error| error.renumbered(row))
        }),
    }?;
    let spread = made.columns.into_iter().map(|column| rows.spread(column));
    let spread = spread.collect::<Result<_, _>>();
    Ok(Made {
        columns: spread.map_err(|error| exception(&error))?,
        masks: made
            .masks
            .into_iter()
            .map(|mask| rows.spread_mask(mask))
            .collect(),
    })
}

/// A function's results, piece by piece where it takes long, until nobody waits for them.
fn in_pieces(
    engine: &Engine,
    function: &Function,
    columns: &[Integers],
    pace: &run::Pace,
) -> Result<Made, Error> {
    let count = columns
        .iter()
        .map(Integers::len)
        .find(|&count| count != 1)
        .unwrap_or(1);
    let of_row = |x: &Integers| x.limbs().len() / x.len().max(1);
    let limbs = columns.iter().map(of_row).sum::<usize>();
    let is_whole = count <= 1 || !(function.is_long || limbs >= LONG_ROW);
    if is_whole {
        return function.of(engine, &columns.iter().collect::<Vec<_>>());
    }
    let (mut parts, mut start) = (Vec::new(), 0);
    let mut size = (FIRST_PIECE / limbs.max(1))
        .next_multiple_of(TOGETHER)
        .max(TOGETHER);
    while start < count && !pace.is_stopped() {
        let end = count.min(start + size);
        let piece = columns.iter().map(|x| match x.len() {
            1 => Ok(x.clone()),
            _ => x.slice(start..end),
        });
        let piece = piece.collect::<Result<Vec<_>, _>>()?;
        let begun = Instant::now();
        let made = function.of(engine, &piece.iter().collect::<Vec<_>>());
        parts.push(made.map_err(|error| error.renumbered(|index| start + index))?);
        let took = begun.elapsed();
        if took < PIECE {
            size *= 2;
        } else if took > 2 * PIECE {
            size = (size / 2).max(TOGETHER);
        }
        start = end;
        pace.reach(end);
    }
    joined(parts)
}

/// The results of all pieces, one after another.
fn joined(mut parts: Vec<Made>) -> Result<Made, Error> {
    let Some(first) = parts.first() else {
        return Ok(Made::default());
    };
    let columns = (0..first.columns.len()).map(|i| {
        let parts: Vec<_> = parts.iter().map(|part| &part.columns[i]).collect();
        Integers::concatenate(&parts)
    });
    let columns = columns.collect::<Result<_, _>>()?;
    let masks = (0..first.masks.len()).map(|i| {
        parts
            .iter_mut()
            .flat_map(|part| std::mem::take(&mut part.masks[i]))
            .collect()
    });
    Ok(Made {
        masks: masks.collect(),
        columns,
    })
}
