//! Big integers for C: opaque columns of signed integers of any lengths, operations by name.
//!
//! `include/bigint.h` is made of this file by cbindgen; the comments of this file are its comments.
//! Every function that can fail answers a `bigint_status` and hands its result over by a pointer.
//! No panic crosses to C.

#![allow(unsafe_code, reason = "C hands pointers over")]
#![allow(non_camel_case_types, reason = "these are C's names")]

mod answer;

use answer::{Refused, answer, argument};
use bigint_host::expression::{Expression, Function};
use bigint_host::{Engine, Integers, Property};
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// How a call went. After any but `BIGINT_STATUS_OK` nothing was handed over.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::upper_case_acronyms, reason = "these are C's names")]
pub enum bigint_status {
    /// It was done.
    OK = 0,
    /// An argument is null or means nothing, or columns do not go together.
    ARGUMENT = 1,
    /// A row has no value: it is divided by zero, has no inverse, or the like.
    NO_VALUE = 2,
    /// Memory ran out. Operands are as they were.
    OUT_OF_MEMORY = 3,
    /// A GPU, its driver, or the way to it.
    DEVICE = 4,
    /// A defect of the library.
    PANIC = 5,
}

/// Who computes. Calls of several threads may use one engine at a time.
pub struct bigint_engine {
    engine: Engine,
}

/// Signed integers of any lengths, which never change. Calls of several threads may use one column
/// at a time.
pub struct bigint_column {
    integers: Integers,
}

/// What the last call of this thread that did not go well has to say. Never null; the text stays
/// until the thread's next such call.
#[unsafe(no_mangle)]
pub extern "C" fn bigint_error() -> *const c_char {
    answer::last_words()
}

/// Makes an engine: `"auto"` or null for the GPUs that there are and else the CPU, `"cpu"`,
/// `"cuda:0"`, or `"cuda:0,1"` for several.
///
/// # Safety
/// `back_end` is null or a text that ends with 0; `engine` is null or takes a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_engine_new(
    back_end: *const c_char,
    engine: *mut *mut bigint_engine,
) -> bigint_status {
    answer(|| {
        let back_end = match back_end.is_null() {
            true => "auto",
            // SAFETY: the caller promises a text that ends with 0.
            false => unsafe { text(back_end) }?,
        };
        let devices = back_end
            .strip_prefix("cuda:")
            .and_then(|set| set.parse().ok());
        let made = match (back_end, devices) {
            ("auto", _) => Engine::auto(),
            ("cpu", _) => Engine::cpu(),
            ("cuda", _) => Engine::cuda(0)?,
            (_, Some(devices)) => Engine::cuda_devices(devices)?,
            _ => {
                let expected = "expected auto, cpu, cuda, cuda:N or cuda:N,M,...";
                return Err(argument(format!("{back_end:?} is no back end: {expected}")));
            }
        };
        // SAFETY: the caller promises that it is null or takes a pointer.
        unsafe { hand_over(engine, bigint_engine { engine: made }) }
    })
}

/// Gives an engine back; null is none. Columns do not need it any more.
///
/// # Safety
/// `engine` is null or an engine that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_engine_free(engine: *mut bigint_engine) {
    // SAFETY: the caller promises an engine that nobody else has.
    unsafe { take_back(engine) };
}

/// Makes a column of `count` numbers of `width` limbs of 32 bits each, number after number, the
/// lowest limb first. Where `negative` is not null, a number is negative whose byte there is not 0.
///
/// # Safety
/// `limbs` has `count * width` limbs, `negative` is null or has `count` bytes, `column` is null or
/// takes a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_column_from_limbs(
    limbs: *const u32,
    count: usize,
    width: usize,
    negative: *const u8,
    column: *mut *mut bigint_column,
) -> bigint_status {
    answer(|| {
        let length = count.checked_mul(width);
        let length = length.ok_or_else(|| argument("more limbs than can be addressed"))?;
        // SAFETY: the caller promises so many limbs.
        let limbs = unsafe { slice(limbs, length, "limbs") }?;
        let negative = match negative.is_null() {
            true => None,
            // SAFETY: the caller promises so many bytes.
            false => Some(unsafe { slice(negative, count, "negative") }?),
        };
        let mut integers = Integers::with_capacity(count, length)?;
        for index in 0..count {
            let is_negative = negative.is_some_and(|negative| negative[index] != 0);
            integers.push(is_negative, &limbs[index * width..][..width])?;
        }
        // SAFETY: the caller promises that it is null or takes a pointer.
        unsafe { hand_over(column, bigint_column { integers }) }
    })
}

/// Makes a column of `count` texts: decimal digits, or those of another base after `0x`, `0o` or
/// `0b`; `-` or `+` before them or not, `_` between two of them or not.
///
/// # Safety
/// `texts` has `count` texts that end with 0; `column` is null or takes a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_column_from_texts(
    texts: *const *const c_char,
    count: usize,
    column: *mut *mut bigint_column,
) -> bigint_status {
    answer(|| {
        // SAFETY: the caller promises so many pointers.
        let texts = unsafe { slice(texts, count, "texts") }?;
        if texts.iter().any(|text| text.is_null()) {
            return Err(argument("one of texts is null"));
        }
        // SAFETY: none is null, and the caller promises texts that end with 0.
        let texts = texts
            .iter()
            .map(|&text| unsafe { CStr::from_ptr(text) }.to_bytes());
        let integers = Integers::from_texts(texts)?;
        // SAFETY: the caller promises that it is null or takes a pointer.
        unsafe { hand_over(column, bigint_column { integers }) }
    })
}

/// Makes a column of `count` machine integers.
///
/// # Safety
/// `numbers` has `count` of them; `column` is null or takes a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_column_from_int64(
    numbers: *const i64,
    count: usize,
    column: *mut *mut bigint_column,
) -> bigint_status {
    answer(|| {
        // SAFETY: the caller promises so many numbers.
        let numbers = unsafe { slice(numbers, count, "numbers") }?;
        let integers = Integers::from(numbers);
        // SAFETY: the caller promises that it is null or takes a pointer.
        unsafe { hand_over(column, bigint_column { integers }) }
    })
}

/// Gives a column back; null is none.
///
/// # Safety
/// `column` is null or a column that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_column_free(column: *mut bigint_column) {
    // SAFETY: the caller promises a column that nobody else has.
    unsafe { take_back(column) };
}

/// How many numbers a column has; 0 of null.
///
/// # Safety
/// `column` is null or a column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_column_count(column: *const bigint_column) -> usize {
    // SAFETY: the caller promises null or a column.
    unsafe { column.as_ref() }.map_or(0, |column| column.integers.len())
}

/// The limbs of the longest number of a column, 1 at least; 0 of null.
///
/// # Safety
/// `column` is null or a column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_column_width(column: *const bigint_column) -> usize {
    // SAFETY: the caller promises null or a column.
    let column = unsafe { column.as_ref() };
    column.map_or(0, |column| {
        let lengths = (0..column.integers.len()).map(|i| column.integers.magnitude(i).len());
        lengths.max().unwrap_or(0).max(1)
    })
}

/// Copies the magnitudes out, `width` limbs to each number, zeros on top, and which are negative.
///
/// # Safety
/// `column` is null or a column; `limbs` takes `width` limbs for each of its numbers, and `negative`
/// is null or takes a byte for each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_column_limbs(
    column: *const bigint_column,
    limbs: *mut u32,
    width: usize,
    negative: *mut u8,
) -> bigint_status {
    answer(|| {
        // SAFETY: the caller promises null or a column.
        let integers = unsafe { numbers(column) }?;
        if limbs.is_null() && !integers.is_empty() {
            return Err(argument("limbs is null"));
        }
        let longest = (0..integers.len()).find(|&i| integers.magnitude(i).len() > width);
        if let Some(index) = longest {
            let length = integers.magnitude(index).len();
            let words = format!("number {index} has {length} limbs and does not fit {width}");
            return Err(argument(words));
        }
        for index in 0..integers.len() {
            let magnitude = integers.magnitude(index);
            // SAFETY: the caller promises `width` limbs for each number, and the magnitude has no
            // more.
            unsafe {
                let place = limbs.add(index * width);
                place.copy_from_nonoverlapping(magnitude.as_ptr(), magnitude.len());
                place
                    .add(magnitude.len())
                    .write_bytes(0, width - magnitude.len());
                if !negative.is_null() {
                    negative
                        .add(index)
                        .write(u8::from(integers.is_negative(index)));
                }
            }
        }
        Ok(())
    })
}

/// Writes number `index` in decimal digits, or in hexadecimal ones after `0x` where `base` is 16.
/// The text goes back to `bigint_text_free`.
///
/// # Safety
/// `column` is null or a column; `text` is null or takes a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_column_text(
    column: *const bigint_column,
    index: usize,
    base: u32,
    text: *mut *mut c_char,
) -> bigint_status {
    answer(|| {
        // SAFETY: the caller promises null or a column.
        let integers = unsafe { numbers(column) }?;
        if index >= integers.len() {
            let count = integers.len();
            return Err(argument(format!("there is no number {index} of {count}")));
        }
        let mut digits = Vec::new();
        match base {
            10 => integers.write_decimal(index, &mut digits)?,
            16 => integers.write_hexadecimal(index, &mut digits),
            _ => return Err(argument(format!("base {base} is neither 10 nor 16"))),
        }
        let digits = CString::new(digits).map_err(|_| argument("digits are no text"))?;
        if text.is_null() {
            return Err(argument(
                "there is no place for the result: the pointer is null",
            ));
        }
        // SAFETY: it is not null, and the caller promises that it takes a pointer.
        unsafe { text.write(digits.into_raw()) };
        Ok(())
    })
}

/// Gives a text of `bigint_column_text` back; null is none.
///
/// # Safety
/// `text` is null or such a text, which is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it came from `CString::into_raw`, and the caller promises that nobody has it.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Tells operation `index`, counted from 0: its name, its operands and its results. False past the
/// last.
///
/// # Safety
/// `name`, `operands` and `results` are null or take what is told; the name stays forever.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_operation(
    index: usize,
    name: *mut *const c_char,
    operands: *mut usize,
    results: *mut usize,
) -> bool {
    let Some((known, function)) = names().get(index) else {
        return false;
    };
    // SAFETY: the caller promises null or a place.
    unsafe {
        if !name.is_null() {
            name.write(known.as_ptr());
        }
        if !operands.is_null() {
            operands.write(function.operands().len());
        }
        if !results.is_null() {
            results.write(count_of_results(*function));
        }
    }
    true
}

/// Computes an operation, row by row: its name is as `bigint_operation` tells it, or as the
/// command writes it (`powmod`). Operands are columns of as many numbers each, or one number that
/// stands for all; quotients are rounded down. `results` takes as many columns as the operation
/// has results.
///
/// Where `no_value` is not null, it takes a byte for each row: 1 where the row has no value, as a
/// division by zero has none, and 0 else; the row's results are zero then. Where it is null, such
/// a row is `BIGINT_STATUS_NO_VALUE`.
///
/// # Safety
/// `engine` is null or an engine, `operands` has `operand_count` columns, `results` takes
/// `result_count` pointers, and `no_value` is null or takes a byte for each row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bigint_apply(
    engine: *const bigint_engine,
    operation: *const c_char,
    operands: *const *const bigint_column,
    operand_count: usize,
    results: *mut *mut bigint_column,
    result_count: usize,
    no_value: *mut u8,
) -> bigint_status {
    answer(|| {
        // SAFETY: the caller promises null or an engine.
        let engine = unsafe { engine.as_ref() }.ok_or_else(|| argument("engine is null"))?;
        // SAFETY: the caller promises a text that ends with 0.
        let name = unsafe { text(operation) }?;
        let function = Function::named(name)
            .ok_or_else(|| argument(format!("{name:?} is no operation: ask bigint_operation")))?;
        // SAFETY: the caller promises so many columns.
        let operands = unsafe { slice(operands, operand_count, "operands") }?;
        // SAFETY: the same.
        let operands = operands.iter().map(|&column| unsafe { numbers(column) });
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let (takes, makes) = (function.operands().len(), count_of_results(function));
        if (takes, makes) != (operands.len(), result_count) {
            let words = format!("{name} has {takes} operands and {makes} results");
            return Err(argument(words));
        }
        if results.is_null() {
            return Err(argument("results is null"));
        }
        let (made, flags) = compute(&engine.engine, function, &operands, !no_value.is_null())?;
        for (index, &flag) in flags.iter().enumerate() {
            // SAFETY: there are flags where `no_value` is not null, and the caller promises a byte
            // for each row.
            unsafe { no_value.add(index).write(u8::from(flag)) };
        }
        for (index, integers) in made.into_iter().enumerate() {
            // SAFETY: `results` is not null and takes so many pointers, as the caller promises.
            unsafe { hand_over(results.add(index), bigint_column { integers }) }?;
        }
        Ok(())
    })
}

/// The results, and which rows have no value, if that is asked.
fn compute(
    engine: &Engine,
    function: Function,
    operands: &[&Integers],
    masked: bool,
) -> Result<(Vec<Integers>, Vec<bool>), Refused> {
    if let Function::Operation(operation) = function {
        return Ok(match masked {
            true => engine.masked_apply(operation, operands)?,
            false => (engine.apply(operation, operands)?, Vec::new()),
        });
    }
    let columns = operands.iter().map(|&column| Expression::from(column));
    let made = engine.eval(&Expression::call(function, columns))?;
    let flags = if masked {
        vec![false; made.len()]
    } else {
        Vec::new()
    };
    Ok((vec![made], flags))
}

/// Every operation that columns have, by its name.
fn names() -> &'static [(CString, Function)] {
    static NAMES: std::sync::OnceLock<Vec<(CString, Function)>> = std::sync::OnceLock::new();
    NAMES.get_or_init(|| {
        let all = Function::all().filter(|function| match function {
            Function::Operation(operation) => !operation.is(Property::OfWidths),
            _ => true,
        });
        let named = |function: Function| Some((CString::new(function.name()).ok()?, function));
        all.filter_map(named).collect()
    })
}

fn count_of_results(function: Function) -> usize {
    match function {
        Function::Operation(operation) => operation.declaration().results.len(),
        _ => 1,
    }
}

/// A text of the caller.
///
/// # Safety
/// `text` is null or a text that ends with 0 and stays for `'a`.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Refused> {
    if text.is_null() {
        return Err(argument("a name is null"));
    }
    // SAFETY: it is not null, and the rest is the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| argument("a name is not UTF-8"))
}

/// A slice of the caller's; of no elements the pointer may be null.
///
/// # Safety
/// `start` is null or has `length` elements, which stay for `'a`.
unsafe fn slice<'a, T>(start: *const T, length: usize, name: &str) -> Result<&'a [T], Refused> {
    match (start.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(argument(format!("{name} is null"))),
        // SAFETY: it is not null, and the rest is the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(start, length) }),
    }
}

/// The numbers of a column.
///
/// # Safety
/// `column` is null or a column that stays for `'a`.
unsafe fn numbers<'a>(column: *const bigint_column) -> Result<&'a Integers, Refused> {
    // SAFETY: the caller's promise.
    let column = unsafe { column.as_ref() };
    column
        .map(|column| &column.integers)
        .ok_or_else(|| argument("a column is null"))
}

/// Hands a value over to the caller, who gives it back by a function that ends with `_free`.
///
/// # Safety
/// `place` is null or takes a pointer.
unsafe fn hand_over<T>(place: *mut *mut T, value: T) -> Result<(), Refused> {
    if place.is_null() {
        return Err(argument(
            "there is no place for the result: the pointer is null",
        ));
    }
    // SAFETY: it is not null, and the rest is the caller's promise.
    unsafe { place.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// Ends a value that was handed over.
///
/// # Safety
/// `value` is null or came from [`hand_over`], and nobody uses it any more.
unsafe fn take_back<T>(value: *mut T) {
    if !ptr::eq(value, ptr::null()) {
        // SAFETY: it came from a box, and nobody else has it.
        let value = unsafe { Box::from_raw(value) };
        // What is dropped may be memory of a device, whose driver may panic.
        answer(|| {
            drop(value);
            Ok(())
        });
    }
}
