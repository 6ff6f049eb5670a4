//! What programs register before `main`: fat binaries, and which addresses of theirs
//! stand for which kernels and variables. A binary is read when something of it is
//! first used, so a program that never touches the GPU starts without one.

use super::call::{current, driver_call};
use crate::error::{Code, Result};
use crate::ffi::exit::at_exit;
use crate::ffi::images::{Log, read_image};
use crate::ffi::libraries::{cuLibraryUnload, kernel_of, known, load, module};
use crate::ffi::modules;
use crate::ffi::raw::{HostPointer, Text};
use crate::state::driver::{Driver, driver};
use crate::state::handle::Handle;
use crate::sync::locked;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, Once};

/// A fat binary of the program.
struct Binary {
    image: u64,
    library: Option<Handle>,
}

/// All that is registered. Names belong to a binary.
#[derive(Default)]
struct Programs {
    binaries: HashMap<Handle, Binary>,
    kernels: HashMap<u64, (Handle, String)>,
    variables: HashMap<u64, (Handle, String)>,
}

static PROGRAMS: LazyLock<Mutex<Programs>> = LazyLock::new(Mutex::default);

fn programs() -> MutexGuard<'static, Programs> {
    locked(&PROGRAMS)
}

impl Programs {
    /// The library of a binary, which is read if it is not yet.
    fn library(&mut self, driver: &Driver, binary: Handle) -> Result<Handle> {
        let binary = self.binaries.get_mut(&binary);
        let gone = || Code::INVALID_HANDLE.because("the program's binary is unregistered");
        let binary = binary.ok_or_else(gone)?;
        if let Some(library) = binary.library {
            return Ok(library);
        }
        let mut log = Log::none();
        let image = HostPointer::from_address(binary.image).text();
        let library = load(driver, read_image(image, &mut log)?, &mut log)?;
        binary.library = Some(library);
        // The program never loaded it itself, so it is no leak.
        static ONCE: Once = Once::new();
        ONCE.call_once(|| at_exit(unload));
        Ok(library)
    }
}

/// Unloads what was read of the program's binaries.
fn unload() {
    let read = |binary: &mut Binary| binary.library.take();
    let libraries: Vec<_> = programs().binaries.values_mut().filter_map(read).collect();
    // Unloading waits for kernels under way, so nothing is locked here.
    for library in libraries {
        let _ = driver_call!(cuLibraryUnload(library));
    }
}

/// Whether a kernel is registered under this address.
pub fn is_kernel(function: u64) -> bool {
    programs().kernels.contains_key(&function)
}

/// The error for an address that stands for no kernel.
pub fn no_kernel(function: u64) -> Code {
    let why = format!("{function:#x} is no kernel of the program's");
    Code::INVALID_DEVICE_FUNCTION.because(why)
}

/// The `CUkernel` that an address of the program, or that kernel's own handle, names.
pub fn kernel(function: u64) -> Result<Handle> {
    let driver = driver()?;
    let mut programs = programs();
    let Some((binary, name)) = programs.kernels.get(&function).cloned() else {
        let handle = Handle(function as usize);
        let kernel = driver.kernels.get(handle).map(|_| handle);
        return kernel.ok_or_else(|| no_kernel(function));
    };
    let library = known(driver, programs.library(driver, binary)?)?;
    if !library.kernels.contains(&name) {
        let why = format!("the PTX of the program has no kernel '{name}'");
        return Err(Code::INVALID_DEVICE_FUNCTION.because(why));
    }
    Ok(kernel_of(driver, &library, name))
}

/// Address and bytes on the device of the variable that an address of the program names.
pub fn variable(symbol: u64) -> Result<(u64, u64)> {
    let context = current()?;
    let mut programs = programs();
    let named = programs.variables.get(&symbol).cloned();
    let (binary, name) = named.ok_or_else(|| {
        Code::INVALID_SYMBOL.because(format!("{symbol:#x} is no variable of the program's"))
    })?;
    let library = programs.library(context.driver, binary)?;
    let module = module(&context, library)?;
    modules::variable(&context, &module, &name).map_err(|code| match code {
        Code::NOT_FOUND => {
            let why = format!("the PTX of the program has no variable '{name}'");
            Code::INVALID_SYMBOL.because(why)
        }
        code => code,
    })
}

/// Answers a handle of the fat binary that this wrapper leads to.
///
/// # Safety
/// The wrapper stays there until it is unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: HostPointer) -> Handle {
    let handle = Handle::fresh();
    let binary = Binary {
        image: wrapper.address(),
        library: None,
    };
    programs().binaries.insert(handle, binary);
    handle
}

/// Nothing is left to do when everything of a binary is registered.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_binary: Handle) {}

/// Asked for where there are managed variables, which are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(_binary: Handle) -> u8 {
    1
}

/// # Safety
/// None: the handle is looked up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaUnregisterFatBinary(binary: Handle) {
    let mut programs = programs();
    programs.kernels.retain(|_, (of, _)| *of != binary);
    programs.variables.retain(|_, (of, _)| *of != binary);
    let removed = programs.binaries.remove(&binary);
    // Unloading waits for kernels under way.
    drop(programs);
    if let Some(library) = removed.and_then(|binary| binary.library) {
        let _ = driver_call!(cuLibraryUnload(library));
    }
}

/// Says that `function` in the program stands for the kernel `name`.
///
/// # Safety
/// The name is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    binary: Handle,
    function: HostPointer,
    _device_function: HostPointer,
    name: Text,
    _threads: i32,
    _thread: HostPointer,
    _block: HostPointer,
    _block_shape: HostPointer,
    _grid_shape: HostPointer,
    _warp: HostPointer,
) {
    if let Ok(name) = name.string() {
        let kernels = &mut programs().kernels;
        kernels.insert(function.address(), (binary, name));
    }
}

/// Says that `variable` in the program stands for the device's variable `name`.
///
/// # Safety
/// The name is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterVar(
    binary: Handle,
    variable: HostPointer,
    _device_address: HostPointer,
    name: Text,
    _external: i32,
    _bytes: usize,
    _constant: i32,
    _global: i32,
) {
    if let Ok(name) = name.string() {
        let variables = &mut programs().variables;
        variables.insert(variable.address(), (binary, name));
    }
}
