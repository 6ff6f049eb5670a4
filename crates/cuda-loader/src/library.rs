//! Finding and opening the driver, once in a process.

use std::env;
use std::error::Error;
use std::ffi::{CStr, OsString, c_int};
use std::path::PathBuf;
use std::sync::OnceLock;

use libloading::Library;

use crate::functions;

/// The environment variable that names another driver than the system's.
pub const DRIVER_VARIABLE: &str = "BIGINT_CUDA_DRIVER";

/// The driver's name on every Linux system.
const SYSTEM_DRIVER: &str = "libcuda.so.1";

/// The driver that was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverInfo {
    /// The library, as it was asked for: a path, or a name that the dynamic
    /// linker looks up.
    pub library: PathBuf,
    /// The newest CUDA version that the driver offers, as (major, minor).
    pub cuda_version: (u32, u32),
}

/// Why there is no driver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The system has no driver, or it cannot be loaded.
    #[error("no CUDA driver on this machine ({reason}); install the NVIDIA driver to use a GPU")]
    NotInstalled {
        /// What the dynamic linker said.
        reason: String,
    },
    /// The library that [`DRIVER_VARIABLE`] names does not exist or cannot be loaded.
    #[error(
        "the CUDA driver that {DRIVER_VARIABLE} names cannot be loaded ({reason}); \
         correct the variable, or unset it to use the system's driver"
    )]
    Unloadable {
        /// The variable's value.
        library: PathBuf,
        /// What the dynamic linker said.
        reason: String,
    },
    /// This process was forked from one that had loaded the driver, whose threads it has not.
    #[error(
        "this process was forked from one that had loaded the CUDA driver, which does not survive \
         it: fork before anything asks for a GPU, or start a program (Python: the start method \
         `spawn`)"
    )]
    Forked,
    /// The library was loaded but lacks a function that every driver has.
    #[error(
        "{} is not a CUDA driver: it has no function {function}; let {DRIVER_VARIABLE} name one",
        library.display()
    )]
    NotADriver {
        /// The library that was loaded.
        library: PathBuf,
        /// The function it lacks.
        function: &'static str,
    },
}

/// A driver that is loaded for good: functions of it are called through bare
/// addresses, so it must never be unloaded.
pub(crate) struct Driver {
    library: Library,
    info: DriverInfo,
}

impl Driver {
    /// The address of a function, if the driver has it.
    pub(crate) fn function(&self, name: &CStr) -> Option<*const ()> {
        // SAFETY: the symbol is only taken as an address, and no claim about the
        // function's type is made here.
        let symbol = unsafe { self.library.get::<*const ()>(name.to_bytes_with_nul()) };
        symbol
            .ok()
            .map(|address| *address)
            .filter(|address| !address.is_null())
    }

    fn open(asked: Option<OsString>) -> Result<Driver, DriverError> {
        let library = PathBuf::from(asked.clone().unwrap_or_else(|| SYSTEM_DRIVER.into()));
        // SAFETY: loading runs the library's initialisers. The system's driver is
        // made to be loaded so; for another one its user vouches by naming it.
        let opened = unsafe { Library::new(&library) }.map_err(|error| {
            // The dynamic linker's own words, where there are any.
            let reason = error.source().unwrap_or(&error).to_string();
            match &asked {
                None => DriverError::NotInstalled { reason },
                Some(_) => DriverError::Unloadable {
                    library: library.clone(),
                    reason,
                },
            }
        })?;
        let mut driver = Driver {
            library: opened,
            info: DriverInfo {
                library,
                cuda_version: (0, 0),
            },
        };
        driver.info.cuda_version = driver.version()?;
        // SAFETY: the handler, which lives as long as the process, writes to atomics alone, as one
        // may in a child of a process with threads. It fails for want of memory, and the child is
        // then as it would be without it.
        let _ = unsafe { pthread_atfork(None, None, Some(functions::forget_driver)) };
        Ok(driver)
    }

    /// Asks the library for its version, having made sure that it is a driver.
    fn version(&self) -> Result<(u32, u32), DriverError> {
        let lacks = |function| DriverError::NotADriver {
            library: self.info.library.clone(),
            function,
        };
        self.function(c"cuInit").ok_or_else(|| lacks("cuInit"))?;
        let address = self
            .function(c"cuDriverGetVersion")
            .ok_or_else(|| lacks("cuDriverGetVersion"))?;
        // SAFETY: the CUDA driver API fixes this type for a function of this
        // name, and the library is a driver as far as its symbols can tell.
        let get_version = unsafe {
            std::mem::transmute::<*const (), unsafe extern "C" fn(*mut c_int) -> c_int>(address)
        };
        let mut version = 0;
        // SAFETY: the function writes one integer to the address, which is valid
        // for that; it may be called at any time, even before `cuInit`.
        let status = unsafe { get_version(&mut version) };
        let version = if status == 0 {
            version.unsigned_abs()
        } else {
            0
        };
        Ok((version / 1000, version % 1000 / 10))
    }
}

/// Ends the process at once: nothing is done that the C library would do at its end. A driver that
/// a thread is in the middle of need not survive that.
pub fn exit(code: u8) -> ! {
    // SAFETY: it has no precondition, and does not come back.
    unsafe { _exit(code.into()) }
}

unsafe extern "C" {
    fn _exit(code: c_int) -> !;
    fn pthread_atfork(
        before: Option<extern "C" fn()>,
        in_parent: Option<extern "C" fn()>,
        in_child: Option<extern "C" fn()>,
    ) -> c_int;
}

/// The process's driver, opened by the first call. The environment is read then,
/// and never again.
pub(crate) fn loaded() -> Result<&'static Driver, &'static DriverError> {
    static DRIVER: OnceLock<Result<Driver, DriverError>> = OnceLock::new();
    DRIVER
        .get_or_init(|| {
            // A variable that is set to nothing means what an unset one means.
            Driver::open(env::var_os(DRIVER_VARIABLE).filter(|name| !name.is_empty()))
        })
        .as_ref()
}

/// The driver that this process uses, or why it has none.
///
/// The first call loads the library, as does the first call of any function of
/// the driver API; the answer is the same for the rest of the process. A driver
/// without a usable GPU is still a driver: `cuInit` tells.
///
/// # Errors
/// No driver can be loaded, or the library is not one: [`DriverError`] names the
/// library and the reason.
///
/// ```
/// match cuda_loader::driver() {
///     Ok(driver) => println!("{} offers CUDA {:?}", driver.library.display(), driver.cuda_version),
///     Err(error) => println!("{error}"),
/// }
/// ```
pub fn driver() -> Result<DriverInfo, DriverError> {
    if functions::is_forked() {
        return Err(DriverError::Forked);
    }
    match loaded() {
        Ok(driver) => Ok(driver.info.clone()),
        Err(error) => Err(error.clone()),
    }
}
