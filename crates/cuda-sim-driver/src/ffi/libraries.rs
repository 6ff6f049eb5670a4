//! Libraries, which belong to no context, and their kernels.

use super::entries;
use super::modules::{
    Log, attribute_of, cache_config, parameter, read_file, read_image, set_attribute, variable,
};
use super::raw::{HostPointer, Out, Text, Values};
use crate::context::{self, Context};
use crate::driver::Driver;
use crate::error::{Code, Result};
use crate::handle::Handle;
use crate::library::{Kernel, Library};
use crate::module::Module;
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
        let file = read_file(&path.string()?)?;
        let source = crate::fatbin::unpack(file).map_err(|(code, why)| code.because(why))?;
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
        out.set(kernel.function(context)?.handle)
    }

    driver_wide fn cuKernelGetLibrary(out: Out<Handle>, kernel: Handle) |driver| {
        out.set(known_kernel(driver, kernel)?.library.handle)
    }

    context fn cuKernelGetName(name: Out<*const c_char>, kernel: Handle) |context| {
        let kernel = known_kernel(context.driver, kernel)?;
        name.set(kernel.function(context)?.name().as_ptr())
    }

    context fn cuKernelGetParamInfo(
        kernel: Handle,
        index: usize,
        offset: Out<usize>,
        bytes: Out<usize>,
    ) |context| {
        let kernel = known_kernel(context.driver, kernel)?;
        parameter(&kernel.function(context)?.kernel, index, &offset, &bytes)
    }

    driver_wide fn cuKernelGetAttribute(value: Out<i32>, attribute: u32, kernel: Handle, device: i32) |driver| {
        let context = context_on(driver, device)?;
        let function = known_kernel(driver, kernel)?.function(&context)?;
        value.set(attribute_of(&context, &function, attribute)?)
    }

    driver_wide fn cuKernelSetAttribute(attribute: u32, value: i32, kernel: Handle, device: i32) |driver| {
        let context = context_on(driver, device)?;
        let function = known_kernel(driver, kernel)?.function(&context)?;
        set_attribute(&context, &function, attribute, value)
    }

    driver_wide fn cuKernelSetCacheConfig(kernel: Handle, config: u32, device: i32) |driver| {
        driver.device(device)?;
        known_kernel(driver, kernel)?;
        cache_config(config)
    }
}

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

pub(super) fn module(context: &Context, library: Handle) -> Result<Arc<Module>> {
    known(context.driver, library)?.module(context)
}

/// The current context, if it is on the device, or the device's primary one.
fn context_on(driver: &Driver, device: i32) -> Result<Arc<Context>> {
    let primary = driver.device(device)?.primary().context.clone();
    let current = context::current()?;
    let there = |context: &Arc<Context>| context.ordinal == device as usize;
    current.filter(there).or(primary).ok_or_else(context::none)
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

pub(super) fn load(driver: &Driver, source: Vec<u8>, log: &mut Log) -> Result<Handle> {
    let text = String::from_utf8(source);
    let library = text
        .map_err(|_| (Code::INVALID_IMAGE, "the image is not text".to_owned()))
        .and_then(|text| Library::new(text.trim_end_matches('\0').to_owned()));
    match library {
        Ok(library) => {
            let handle = library.handle;
            driver.libraries.insert(handle, Arc::new(library));
            log.error("")?;
            Ok(handle)
        }
        Err((code, why)) => {
            log.error(&why)?;
            if !log.has_error_buffer() {
                return Err(code.because(why));
            }
            Err(code.because("why is in the log that the program asked for"))
        }
    }
}
