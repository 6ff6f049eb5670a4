//! A kernel that the driver has compiled.
//!
//! Drivers since CUDA 12 have *libraries*, several of which they compile at one time in several threads; of modules they
//! compile one at a time in a process. Where there are no libraries a kernel is in a module.

use super::device::FREE_SHARED_BYTES;
use super::own::allow_shared;
use super::{failure, modules};
use crate::DeviceErrorKind;
use cust::error::{CudaError, CudaResult};
use cust::module::Module;
use cust::sys;
use std::ffi::{CString, c_char, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// A kernel of its own library or module, which is unloaded when it is dropped.
pub(super) struct Loaded {
    function: sys::CUfunction,
    /// Dynamic shared memory that a block may have, in bytes.
    shared_bytes: AtomicU32,
    _owner: Owner,
}

// SAFETY: the driver's handles may be used by any thread.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

enum Owner {
    Library { _library: Library },
    Module { _module: Module },
}

/// A `CUlibrary`.
struct Library(*mut c_void);

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle is of a library that was loaded, and nobody uses it or its kernels any more. Where that fails the
        // context is gone, and the library with it.
        let _ = unsafe { cuLibraryUnload(self.0) };
    }
}

unsafe extern "C" {
    // `cust_raw` is older than libraries: CUDA 12.0. The answers are just numbers here.
    fn cuLibraryLoadData(
        library: *mut *mut c_void,
        code: *const c_void,
        jit_options: *mut c_uint,
        jit_values: *mut *mut c_void,
        jit_count: c_uint,
        library_options: *mut c_uint,
        library_values: *mut *mut c_void,
        library_count: c_uint,
    ) -> u32;
    fn cuLibraryGetKernel(
        kernel: *mut *mut c_void,
        library: *mut c_void,
        name: *const c_char,
    ) -> u32;
    fn cuKernelGetFunction(function: *mut sys::CUfunction, kernel: *mut c_void) -> u32;
    fn cuLibraryUnload(library: *mut c_void) -> u32;
}

impl Loaded {
    /// Has the driver compile a kernel for the current context.
    pub(super) fn new(name: &str, ptx: &str) -> Result<Self, DeviceErrorKind> {
        let text = modules::text(name, ptx)?;
        match of_library(name, &text) {
            Ok(loaded) => Ok(loaded),
            // The driver is older than libraries.
            Err(CudaError::NotSupported) => {
                let module = modules::load(name, ptx)?;
                let function = module.get_function(name);
                let function = function.map_err(|error| failure::kind(error, 0))?.to_raw();
                Ok(Loaded {
                    function,
                    shared_bytes: AtomicU32::new(FREE_SHARED_BYTES),
                    _owner: Owner::Module { _module: module },
                })
            }
            Err(error) => Err(modules::refused(name, &text, error)),
        }
    }

    /// The kernel, as long as this lives, which may have so much dynamic shared memory.
    pub(super) fn function(&self, shared_bytes: u32) -> CudaResult<sys::CUfunction> {
        // What others allow meanwhile is more, or is allowed again.
        if shared_bytes > self.shared_bytes.load(Ordering::Relaxed) {
            allow_shared(self.function, shared_bytes)?;
            self.shared_bytes.fetch_max(shared_bytes, Ordering::Relaxed);
        }
        Ok(self.function)
    }
}

fn of_library(name: &str, text: &CString) -> CudaResult<Loaded> {
    let name = CString::new(name).map_err(|_| CudaError::InvalidValue)?;
    let (mut library, mut kernel) = (ptr::null_mut(), ptr::null_mut());
    let mut function = ptr::null_mut();
    let none = ptr::null_mut;
    // SAFETY: the address is valid for one handle; the text ends in a null, and is read before the call returns; there are no
    // options.
    let code = unsafe {
        cuLibraryLoadData(
            &mut library,
            text.as_ptr().cast(),
            none(),
            ptr::null_mut(),
            0,
            none(),
            ptr::null_mut(),
            0,
        )
    };
    failure::answered(code)?;
    let library = Library(library);
    // SAFETY: the addresses are valid for one handle each, the library is loaded and the name ends in a null.
    failure::answered(unsafe { cuLibraryGetKernel(&mut kernel, library.0, name.as_ptr()) })?;
    // SAFETY: the address is valid for one handle, and the kernel is the library's.
    failure::answered(unsafe { cuKernelGetFunction(&mut function, kernel) })?;
    Ok(Loaded {
        function,
        shared_bytes: AtomicU32::new(FREE_SHARED_BYTES),
        _owner: Owner::Library { _library: library },
    })
}
