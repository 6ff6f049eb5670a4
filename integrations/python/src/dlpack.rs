//! Limbs for other libraries' arrays, by DLPack and `__cuda_array_interface__`: rows of `uint32`, where
//! they are.

#![expect(unsafe_code, reason = "DLPack is structures behind pointers")]

use crate::array::Array;
use crate::column;
use crate::place::Place;
use crate::run;
use bigint_host::advanced::DeviceLimbs;
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::{CStr, c_void};
use std::ptr;

const ON_CPU: i32 = 1;
const ON_CUDA: i32 = 2;

/// Who asks for so new a version can be told that the limbs must not be written.
const VERSION: [u32; 2] = [1, 0];
const READ_ONLY: u64 = 1;
const COPIED: u64 = 2;

/// DLPack's `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    ordinal: i32,
}

/// DLPack's `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    dimensions: i32,
    /// Unsigned, 32 bits, one lane.
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    offset: u64,
}

/// DLPack's `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    delete: unsafe extern "C" fn(*mut Self),
}

/// DLPack's `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    delete: unsafe extern "C" fn(*mut Self),
    flags: u64,
    tensor: Tensor,
}

/// Who keeps the limbs while they are lent.
enum Limbs {
    Host(Vec<u32>),
    Device(DeviceLimbs),
}

/// A structure of DLPack, and behind it what it points to.
#[repr(C)]
struct Lent<M> {
    managed: M,
    shape: [i64; 2],
    strides: [i64; 2],
    limbs: Limbs,
}

/// A structure that a capsule points to.
trait Structure: Sized {
    /// What the capsule is called until somebody takes the structure out of it.
    const NAME: &CStr;

    fn of(flags: u64) -> Self;

    fn tensor(&mut self) -> &mut Tensor;
}

impl Structure for Managed {
    const NAME: &CStr = c"dltensor";

    fn of(_: u64) -> Self {
        Managed {
            tensor: Tensor::default(),
            context: ptr::null_mut(),
            delete: delete::<Self>,
        }
    }

    fn tensor(&mut self) -> &mut Tensor {
        &mut self.tensor
    }
}

impl Structure for Versioned {
    const NAME: &CStr = c"dltensor_versioned";

    fn of(flags: u64) -> Self {
        Versioned {
            version: VERSION,
            context: ptr::null_mut(),
            delete: delete::<Self>,
            flags,
            tensor: Tensor::default(),
        }
    }

    fn tensor(&mut self) -> &mut Tensor {
        &mut self.tensor
    }
}

impl Default for Tensor {
    fn default() -> Self {
        Tensor {
            data: ptr::null_mut(),
            device: Device {
                kind: ON_CPU,
                ordinal: 0,
            },
            dimensions: 2,
            code: 1,
            bits: u32::BITS as u8,
            lanes: 1,
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            offset: 0,
        }
    }
}

/// Ends a loan.
///
/// # Safety
/// `managed` is the first field of a [`Lent`] that [`lend`] made and nobody has deleted.
unsafe extern "C" fn delete<M>(managed: *mut M) {
    // SAFETY: as above; the structure begins where its first field does.
    drop(unsafe { Box::from_raw(managed.cast::<Lent<M>>()) });
}

/// Ends a loan that nobody took: who takes the structure out of a capsule gives it another name.
///
/// # Safety
/// Python calls it with a capsule that [`lend`] made.
unsafe extern "C" fn untaken<M: Structure>(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule of this name points to a structure that nobody has deleted.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) != 0 {
            let managed = ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr());
            delete(managed.cast::<M>());
        }
    }
}

/// A capsule of so many rows of limbs.
fn lend<M: Structure>(
    py: Python<'_>,
    limbs: Limbs,
    shape: [usize; 2],
    flags: u64,
) -> PyResult<Bound<'_, PyAny>> {
    let mut lent = Box::new(Lent {
        managed: M::of(flags),
        shape: shape.map(|length| length as i64),
        strides: [shape[1] as i64, 1],
        limbs,
    });
    let (shape, strides) = (lent.shape.as_mut_ptr(), lent.strides.as_mut_ptr());
    let (data, device) = match &mut lent.limbs {
        Limbs::Host(limbs) => (limbs.as_mut_ptr().cast(), (ON_CPU, 0)),
        Limbs::Device(limbs) => (
            ptr::without_provenance_mut(limbs.address() as usize),
            (ON_CUDA, limbs.ordinal() as i32),
        ),
    };
    let tensor = lent.managed.tensor();
    tensor.data = data;
    tensor.device = Device {
        kind: device.0,
        ordinal: device.1,
    };
    (tensor.shape, tensor.strides) = (shape, strides);
    let lent = Box::into_raw(lent);
    // SAFETY: the structure lives until the capsule is gone or whoever took it deletes it; the answer
    // is null with an exception, or ours.
    unsafe {
        let capsule = ffi::PyCapsule_New(lent.cast(), M::NAME.as_ptr(), Some(untaken::<M>));
        Bound::from_owned_ptr_or_err(py, capsule).inspect_err(|_| delete(lent.cast::<M>()))
    }
}

/// What `__dlpack_device__` answers.
pub fn device(array: &Array) -> (i32, i32) {
    match array.place {
        Place::Cuda(ordinal) => (ON_CUDA, ordinal as i32),
        Place::Auto | Place::Cpu => (ON_CPU, 0),
    }
}

/// What `__dlpack__` answers: the limbs of an array of natural numbers, a row for each, the lowest
/// first. What a device has is lent, what the host has is copied into rows of one width.
pub fn capsule<'py>(
    py: Python<'py>,
    array: &Array,
    version: Option<(u32, u32)>,
    wanted: Option<(i32, i32)>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let here = device(array);
    let wanted = wanted.unwrap_or(here);
    let (limbs, shape, flags) = if wanted == (ON_CPU, 0) {
        if copy == Some(false) {
            return Err(PyBufferError::new_err(
                "rows of limbs are made of an array on the host: that is a copy",
            ));
        }
        let numbers = array.numbers(py)?;
        if let Some(row) = (0..numbers.len()).find(|&row| numbers.is_negative(row)) {
            return Err(column::negative(row));
        }
        let width = column::widest(numbers).max(1);
        let rows = run::at_once(py, || column::rows(numbers, width))?;
        (Limbs::Host(rows), [numbers.len(), width], COPIED)
    } else if wanted == here {
        if copy == Some(true) {
            return Err(PyBufferError::new_err(
                "limbs on a device are lent, not copied: copy them there",
            ));
        }
        let limbs = array.column.lent(py, &array.place.engine(py)?)?;
        let shape = [limbs.shape().count, limbs.shape().width];
        (Limbs::Device(limbs), shape, READ_ONLY)
    } else {
        let (kind, ordinal) = wanted;
        return Err(PyBufferError::new_err(format!(
            "the array is not on DLPack's device ({kind}, {ordinal}): use to() first"
        )));
    };
    match version {
        Some((major, _)) if major >= VERSION[0] => lend::<Versioned>(py, limbs, shape, flags),
        _ => lend::<Managed>(py, limbs, shape, flags),
    }
}

/// What `__cuda_array_interface__` is of an array on a device.
pub fn interface<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyDict>> {
    let Place::Cuda(_) = array.place else {
        return Err(PyAttributeError::new_err(
            "the array is on no CUDA device: use to(\"cuda:0\")",
        ));
    };
    // The column keeps them.
    let limbs = array.column.lent(py, &array.place.engine(py)?)?;
    let interface = PyDict::new(py);
    interface.set_item("version", 3)?;
    interface.set_item("typestr", "<u4")?;
    interface.set_item("shape", (limbs.shape().count, limbs.shape().width))?;
    interface.set_item("strides", py.None())?;
    interface.set_item("data", (limbs.address(), true))?;
    // They are written, whatever stream reads them.
    interface.set_item("stream", py.None())?;
    Ok(interface)
}
