//! The kernels' PTX, compiled by the driver when first needed: a kernel at a time, and of it only the
//! cases that occur. The driver takes seconds for all products, and a process needs one or two.

use super::failure;
use super::loaded::Loaded;
use crate::DeviceErrorKind;
use crate::common::threads::lock;
use crate::kernels::ptx::ptx;
use crate::kernels::specialize::specialize;
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;
use cust::error::CudaError;
use cust::module::Module;
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The kernels loaded into one context so far, each a module of its own; one for every
/// choice of its cases.
#[derive(Default)]
pub(super) struct Modules {
    slots: Mutex<HashMap<(&'static str, Specialization), Arc<Slot>>>,
}

/// A module that is loaded, or will be.
#[derive(Default)]
struct Slot {
    /// The module. Its loader holds the lock.
    module: Mutex<Option<Arc<Loaded>>>,
    /// Whether a thread has begun to load the module.
    is_begun: AtomicBool,
    /// Whether loading has ended, with a module or an error.
    is_done: AtomicBool,
}

impl Modules {
    /// The module that has `entry`, specialised to what is known of its launches, and nothing
    /// else. A kernel's first launch waits for the driver to compile it; the driver keeps
    /// the result in a cache on disk.
    ///
    /// The context that the modules are for must be current. `note` hears what loading took.
    pub fn of(
        &self,
        entry: EntryPoint,
        specialization: Specialization,
        note: impl FnOnce(Duration),
    ) -> Result<Arc<Loaded>, DeviceErrorKind> {
        let slot = self.slot(entry, specialization);
        let mut module = lock(&slot.module);
        if let Some(module) = &*module {
            return Ok(Arc::clone(module));
        }
        let ptx = ptx(entry.module).unwrap_or_default();
        let begun = Instant::now();
        let ptx = specialize(ptx, entry, &specialization);
        let loaded = Loaded::new(entry.name, &ptx).map(Arc::new);
        slot.is_done.store(true, Ordering::Release);
        if loaded.is_ok() {
            note(begun.elapsed());
        }
        Ok(Arc::clone(module.insert(loaded?)))
    }

    /// Whether that module can be had without waiting.
    pub fn has(&self, entry: EntryPoint, specialization: Specialization) -> bool {
        self.slot(entry, specialization)
            .is_done
            .load(Ordering::Acquire)
    }

    /// Whether the caller is the first that will load the module in the background.
    pub fn begins(&self, entry: EntryPoint, specialization: Specialization) -> bool {
        let slot = self.slot(entry, specialization);
        !slot.is_begun.swap(true, Ordering::Relaxed)
    }

    fn slot(&self, entry: EntryPoint, specialization: Specialization) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        Arc::clone(slots.entry((entry.name, specialization)).or_default())
    }
}

pub(super) fn load(name: &str, ptx: &str) -> Result<Module, DeviceErrorKind> {
    let ptx = text(name, ptx)?;
    Module::from_ptx_cstr(&ptx, &[]).map_err(|error| refused(name, &ptx, error))
}

/// The text as the driver takes it.
pub(super) fn text(name: &str, ptx: &str) -> Result<CString, DeviceErrorKind> {
    CString::new(ptx).map_err(|error| unsupported(name, &error.to_string()))
}

/// Why a kernel is not loaded.
pub(super) fn refused(name: &str, ptx: &CString, error: CudaError) -> DeviceErrorKind {
    match refusal(ptx) {
        Some(why) => unsupported(name, &why),
        None => failure::kind(error, ptx.as_bytes().len()),
    }
}

fn unsupported(name: &str, why: &str) -> DeviceErrorKind {
    DeviceErrorKind::Unsupported(format!("kernel {name}: {why}"))
}

unsafe extern "C" {
    // `cust_raw` declares it as well, with an enum for a result that lacks the
    // codes of later drivers; a value that is none of the enum's is undefined
    // behaviour there, and just a number here.
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        options: c_uint,
        names: *mut c_int,
        values: *mut *mut c_void,
    ) -> c_int;
    fn cuModuleUnload(module: *mut c_void) -> c_int;
}

const CU_JIT_ERROR_LOG_BUFFER: c_int = 5;
const CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;

/// Why the driver refuses this PTX, if it does.
///
/// `cust` hands neither the newer codes on nor the compiler's words, so a module
/// that failed to load is loaded once more, for these alone.
fn refusal(ptx: &CString) -> Option<String> {
    let mut log = [0_u8; 4096];
    let mut module = ptr::null_mut();
    let mut names = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes a number as the pointer's own value.
    let mut values = [
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut(log.len()),
    ];
    // SAFETY: all four addresses are valid for what the driver reads and writes
    // there: one handle, a string that ends in a null, two options and their two
    // values, of which one is a buffer and the other its length.
    let code = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            ptx.as_ptr().cast(),
            2,
            names.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if code == 0 {
        // SAFETY: the handle is of a module that was just loaded, and nobody else
        // has it.
        unsafe { cuModuleUnload(module) };
    }
    let why = match code {
        200 | 218 => "the driver's compiler refuses it",
        209 => "the driver has no code for this device",
        221 => "the driver's compiler, libnvidia-ptxjitcompiler, is missing",
        222 => "the driver is older than the PTX",
        223 => "the environment has switched the driver's compiler off",
        _ => return None,
    };
    let words = String::from_utf8_lossy(&log);
    let first = words.split(['\0', '\n']).next().unwrap_or_default().trim();
    let separator = if first.is_empty() { "" } else { ": " };
    Some(format!(
        "{why} (CUDA error {code}{separator}{first}): update the driver"
    ))
}
