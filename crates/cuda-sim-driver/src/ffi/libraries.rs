//! Libraries, which belong to no context, and their kernels.

use super::call;
use super::entries::entries;
use super::images::{Log, read_file, read_image, text};
use super::modules::{attribute_of, cache_config, parameter, set_attribute, variable};
use super::raw::{HostPointer, Out, Text, Values};
use crate::error::{Code, Result};
use crate::state::context::Context;
use crate::state::contexts;
use crate::state::driver::Driver;
use crate::state::handle::Handle;
use crate::state::library::{Kernel, Library};
use crate::state::module::Module;
use crate::state::thread;
use std::ffi::c_char;
use std::sync::Arc;

entries! {
    driver_wide fn cuLibraryLoadData(
        out: Out<Handle>,
        code: Text,
        options: Values<u32>,
        values: Values<HostPointer>,
        count: u32,
        _library_options: Values<u32>,
        _library_values: Values<HostPointer>,
        _library_count: u32,
    ) |driver| {
        out.check()?;
        let mut log = Log::read(count, &options, values)?;
        let source = read_image(code, &mut log)?;
        out.set(load(driver, source, &mut log)?)
    }

    driver_wide fn cuLibraryLoadFromFile(
        out: Out<Handle>,
        path: Text,
        options: Values<u32>,
        values: Values<HostPointer>,
        count: u32,
        _library_options: Values<u32>,
        _library_values: Values<HostPointer>,
        _library_count: u32,
    ) |driver| {
        out.check()?;
        let source = read_file(path)?;
        let mut log = Log::read(count, &options, values)?;
        out.set(load(driver, source, &mut log)?)
    }

    driver_wide fn cuLibraryUnload(library: Handle) |driver| {
        let unloaded = driver.libraries.remove(library);
        let unloaded = unloaded.ok_or_else(|| no_library(library))?;
        // A launch under way still needs it.
        driver.scheduler.finish();
        driver.kernels.drain(|kernel| kernel.library.handle == library);
        for module in unloaded.unload() {
            driver.modules.remove(module.handle);
            driver.functions.drain(|function| function.module.handle == module.handle);
            driver.memory.remove_variables(module.handle);
        }
        Ok(())
    }

    driver_wide fn cuLibraryGetKernel(out: Out<Handle>, library: Handle, name: Text) |driver| {
        out.check()?;
        let library = known(driver, library)?;
        let name = name.string()?;
        if !library.kernels.contains(&name) {
            let why = format!("the library has no kernel '{name}'");
            return Err(Code::NOT_FOUND.because(why));
        }
        out.set(kernel_of(driver, &library, name))
    }

    driver_wide fn cuLibraryGetKernelCount(count: Out<u32>, library: Handle) |driver| {
        count.set(known(driver, library)?.kernels.len() as u32)
    }

    driver_wide fn cuLibraryEnumerateKernels(
        kernels: Values<Handle>,
        count: u32,
        library: Handle,
    ) |driver| {
        let library = known(driver, library)?;
        for (index, name) in library.kernels.iter().take(count as usize).enumerate() {
            kernels.set(index, kernel_of(driver, &library, name.clone()))?;
        }
        Ok(())
    }

    context fn cuLibraryGetModule(out: Out<Handle>, library: Handle) |context| {
        out.set(module(context, library)?.handle)
    }

    context fn cuLibraryGetGlobal(
        address: Out<u64>,
        bytes: Out<usize>,
        library: Handle,
        name: Text,
    ) |context| {
        let module = module(context, library)?;
        let (start, size) = variable(context, &module, &name.string()?)?;
        address.set_if_asked(start);
        bytes.set_if_asked(size as usize);
        Ok(())
    }

    context fn cuLibraryGetManaged(
        _address: Out<u64>,
        _bytes: Out<usize>,
        library: Handle,
        _name: Text,
    ) |context| {
        known(context.driver, library)?;
        // Variables of PTX live on the device here, whatever their attribute says.
        Err(Code::NOT_FOUND.because("managed variables are not supported"))
    }

    context fn cuKernelGetFunction(out: Out<Handle>, kernel: Handle) |context| {
        let kernel = known_kernel(context.driver, kernel)?;
        out.set(context.function_of(&kernel)?.handle)
    }

    driver_wide fn cuKernelGetLibrary(out: Out<Handle>, kernel: Handle) |driver| {
        out.set(known_kernel(driver, kernel)?.library.handle)
    }

    context fn cuKernelGetName(name: Out<*const c_char>, kernel: Handle) |context| {
        let kernel = known_kernel(context.driver, kernel)?;
        name.set(context.function_of(&kernel)?.name().as_ptr())
    }

    context fn cuKernelGetParamInfo(
        kernel: Handle,
        index: usize,
        offset: Out<usize>,
        bytes: Out<usize>,
    ) |context| {
        let kernel = known_kernel(context.driver, kernel)?;
        parameter(&context.function_of(&kernel)?.kernel, index, &offset, &bytes)
    }

    driver_wide fn cuKernelGetAttribute(value: Out<i32>, attribute: u32, kernel: Handle, device: i32) |driver| {
        let context = context_on(driver, device)?;
        let function = context.function_of(&*known_kernel(driver, kernel)?)?;
        value.set(attribute_of(&context, &function, attribute)?)
    }

    driver_wide fn cuKernelSetAttribute(attribute: u32, value: i32, kernel: Handle, device: i32) |driver| {
        let context = context_on(driver, device)?;
        let function = context.function_of(&*known_kernel(driver, kernel)?)?;
        set_attribute(&context, &function, attribute, value)
    }

    driver_wide fn cuKernelSetCacheConfig(kernel: Handle, config: u32, device: i32) |driver| {
        driver.device(device)?;
        known_kernel(driver, kernel)?;
        cache_config(config)
    }
}

/// The library with this handle.
pub(super) fn known(driver: &Driver, handle: Handle) -> Result<Arc<Library>> {
    driver
        .libraries
        .get(handle)
        .ok_or_else(|| no_library(handle))
}

fn no_library(handle: Handle) -> Code {
    handle.is_no(Code::INVALID_HANDLE, "library")
}

fn known_kernel(driver: &Driver, handle: Handle) -> Result<Arc<Kernel>> {
    let kernel = driver.kernels.get(handle);
    kernel.ok_or_else(|| handle.is_no(Code::INVALID_HANDLE, "kernel of a library"))
}

/// The module of a library in a context.
pub(super) fn module(context: &Context, library: Handle) -> Result<Arc<Module>> {
    context.module_of(&*known(context.driver, library)?)
}

/// The current context, if it is on the device, or the device's primary one.
fn context_on(driver: &Driver, device: i32) -> Result<Arc<Context>> {
    driver.device(device)?;
    let ordinal = device as usize;
    let primary = contexts::primary(ordinal).context.clone();
    let current = thread::top()?.filter(|context| context.ordinal == ordinal);
    current.or(primary).ok_or_else(thread::no_context)
}

/// The handle of a kernel, the same every time.
pub(super) fn kernel_of(driver: &Driver, library: &Arc<Library>, name: String) -> Handle {
    let same = |kernel: &Kernel| kernel.library.handle == library.handle && kernel.name == name;
    if let Some(handle) = driver.kernels.find(same) {
        return handle;
    }
    let handle = Handle::fresh();
    let kernel = Kernel::new(Arc::clone(library), name);
    driver.kernels.insert(handle, Arc::new(kernel));
    handle
}

/// Loads a library, and returns its handle.
pub(super) fn load(driver: &Driver, source: Vec<u8>, log: &mut Log) -> Result<Handle> {
    let library = log.close(text(source).and_then(Library::new))?;
    let handle = library.handle;
    driver.libraries.insert(handle, Arc::new(library));
    Ok(handle)
}
