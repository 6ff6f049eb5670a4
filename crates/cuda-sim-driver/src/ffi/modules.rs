//! Modules and functions.

use super::call;
use super::entries::entries;
use super::images::{Log, read_file, read_image, text};
use super::raw::{HostPointer, Out, Text, Values};
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::handle::Handle;
use crate::state::memory::Kind;
use crate::state::module::{Function, Module};
use sim::occupancy;
use sim::ptx::Kernel;
use std::ffi::c_char;
use std::sync::Arc;
use std::sync::atomic::Ordering;

entries! {
    context fn cuModuleLoad(out: Out<Handle>, path: Text) |context| {
        out.check()?;
        out.set(load(context, read_file(path)?, &mut Log::none())?)
    }

    context fn cuModuleLoadData(out: Out<Handle>, image: Text) |context| {
        out.check()?;
        out.set(load_image(context, image, Log::none())?)
    }

    context fn cuModuleLoadDataEx(
        out: Out<Handle>,
        image: Text,
        count: u32,
        options: Values<u32>,
        values: Values<HostPointer>,
    ) |context| {
        out.check()?;
        let log = Log::read(count, &options, values)?;
        out.set(load_image(context, image, log)?)
    }

    context fn cuModuleLoadFatBinary(out: Out<Handle>, image: Text) |context| {
        out.check()?;
        out.set(load_image(context, image, Log::none())?)
    }

    driver_wide fn cuModuleGetLoadingMode(mode: Out<u32>) |_driver| {
        // CU_MODULE_LAZY_LOADING: nothing is compiled before it is used.
        mode.set(2)
    }

    release fn cuModuleUnload(module: Handle) |context| {
        let unloaded = context.driver.modules.remove(module);
        let unloaded = unloaded.ok_or_else(|| no_module(module))?;
        // A launch under way still needs it.
        context.driver.scheduler.finish();
        context.driver.functions.drain(|function| function.module.handle == module);
        context.driver.memory.remove_variables(module);
        drop(unloaded);
        Ok(())
    }

    context fn cuModuleGetFunction(out: Out<Handle>, module: Handle, name: Text) |context| {
        out.check()?;
        let module = known(context, module)?;
        let name = name.string()?;
        let function = Function::new(module, &name)?;
        let handle = function.handle;
        context.driver.functions.insert(handle, Arc::new(function));
        out.set(handle)
    }

    context fn cuModuleGetGlobal_v2(
        address: Out<u64>,
        bytes: Out<usize>,
        module: Handle,
        name: Text,
    ) |context| {
        let module = known(context, module)?;
        let name = name.string()?;
        let (start, size) = variable(context, &module, &name)?;
        address.set_if_asked(start);
        bytes.set_if_asked(size as usize);
        Ok(())
    }

    context fn cuFuncGetName(name: Out<*const c_char>, function: Handle) |context| {
        let function = known_function(context, function)?;
        name.set(function.name().as_ptr())
    }

    context fn cuFuncGetParamInfo(
        function: Handle,
        index: usize,
        offset: Out<usize>,
        bytes: Out<usize>,
    ) |context| {
        let function = known_function(context, function)?;
        parameter(&function.kernel, index, &offset, &bytes)
    }

    context fn cuFuncIsLoaded(state: Out<u32>, function: Handle) |context| {
        known_function(context, function)?;
        // CU_FUNCTION_LOADING_STATE_LOADED
        state.set(1)
    }

    context fn cuFuncLoad(function: Handle) |context| {
        known_function(context, function).map(|_| ())
    }

    context fn cuFuncGetModule(out: Out<Handle>, function: Handle) |context| {
        out.set(known_function(context, function)?.module.handle)
    }

    context fn cuFuncGetAttribute(value: Out<i32>, attribute: u32, function: Handle) |context| {
        let function = known_function(context, function)?;
        value.set(attribute_of(context, &function, attribute)?)
    }

    context fn cuFuncSetAttribute(function: Handle, attribute: u32, value: i32) |context| {
        let function = known_function(context, function)?;
        set_attribute(context, &function, attribute, value)
    }

    context fn cuFuncSetCacheConfig(function: Handle, config: u32) |context| {
        known_function(context, function)?;
        cache_config(config)
    }

    context fn cuFuncSetSharedMemConfig(function: Handle, config: u32) |context| {
        known_function(context, function)?;
        bank_config(config)
    }
}

const MAX_DYNAMIC_SHARED: u32 = 8;
const CARVEOUT: u32 = 9;
const LARGE_CLUSTERS: u32 = 14;

/// Sets a `CUfunction_attribute`.
pub(super) fn set_attribute(
    context: &Context,
    function: &Function,
    attribute: u32,
    value: i32,
) -> Result {
    let arch = context.device().gpu.arch();
    match attribute {
        MAX_DYNAMIC_SHARED => {
            let fixed = function.kernel.shared_bytes;
            let most = arch.shared_per_block_optin.saturating_sub(fixed);
            let value = u32::try_from(value).map_err(|_| invalid("a size is negative"))?;
            if value > most {
                let why = format!("{value} bytes of dynamic shared memory, and a block has {most}");
                return Err(invalid(why));
            }
            function.max_dynamic_shared.store(value, Ordering::Relaxed);
        }
        CARVEOUT if (-1..=100).contains(&value) => {
            let value = value.cast_unsigned();
            function.carveout.store(value, Ordering::Relaxed);
        }
        LARGE_CLUSTERS => {
            function.large_clusters.store(value != 0, Ordering::Relaxed);
        }
        // Clusters: their shape, which the kernel says, and how they are scheduled.
        10..=13 | 15 => {}
        _ => {
            return Err(invalid(format!(
                "attribute {attribute} cannot be set to {value}"
            )));
        }
    }
    Ok(())
}

/// The offset and the length of a parameter.
pub(super) fn parameter(
    kernel: &Kernel,
    index: usize,
    offset: &Out<usize>,
    bytes: &Out<usize>,
) -> Result {
    let param = kernel.params.get(index);
    let param = param.ok_or_else(|| invalid(format!("the kernel has no parameter {index}")))?;
    bytes.set_if_asked(param.size as usize);
    offset.set(param.offset as usize)
}

/// Address and length of a variable of a module, which is known from now on.
pub(super) fn variable(context: &Context, module: &Module, name: &str) -> Result<(u64, u64)> {
    let variable = module.loaded().and_then(|loaded| loaded.global(name));
    let none = || Code::NOT_FOUND.because(format!("the module has no variable '{name}'"));
    let (start, size) = variable.ok_or_else(none)?;
    let memory = &context.driver.memory;
    if memory.block(start).is_none() {
        let owner = (module.gpu, module.context);
        let kind = Kind::Variable(module.handle);
        memory.add(start, size, owner, kind, "cuModuleGetGlobal_v2");
    }
    Ok((start, size))
}

/// A `CUfunction_attribute`.
pub(super) fn attribute_of(context: &Context, function: &Function, attribute: u32) -> Result<i32> {
    let kernel = &function.kernel;
    let arch = context.device().gpu.arch();
    let value = match attribute {
        0 => max_threads(context, function),
        1 => kernel.shared_bytes,
        // Constant memory of the module is not told apart by kernel.
        2 => 0,
        3 => kernel.local_bytes,
        4 => registers(context, function),
        5 => function.module.target(),
        6 => arch.sm(),
        // Whether it was compiled to cache global loads: the default is not.
        7 => 0,
        MAX_DYNAMIC_SHARED => function.max_dynamic_shared.load(Ordering::Relaxed),
        // -1, the default, is kept as its two's complement.
        CARVEOUT => return Ok(function.carveout.load(Ordering::Relaxed).cast_signed()),
        // Clusters: whether their shape is required, and which.
        10 => kernel.required_cluster.is_some().into(),
        11..=13 => kernel
            .required_cluster
            .map_or(0, |shape| shape[attribute as usize - 11]),
        LARGE_CLUSTERS => function.large_clusters.load(Ordering::Relaxed).into(),
        // How they are scheduled: by default.
        15 => 0,
        _ => return Err(invalid(format!("{attribute} is no attribute of functions"))),
    };
    i32::try_from(value).map_err(|_| invalid("an attribute is too large for its type"))
}

/// Most threads of a block that the kernel's registers and directives allow.
pub(super) fn max_threads(context: &Context, function: &Function) -> u32 {
    let arch = context.device().gpu.arch();
    occupancy::block_limit(arch, registers(context, function)).min(function.kernel.max_threads)
}

/// Registers of a thread: what an assembler would keep above the most that there are, it keeps in memory.
pub(super) fn registers(context: &Context, function: &Function) -> u32 {
    let most = context.device().gpu.arch().registers_per_thread;
    function.kernel.registers.min(most)
}

fn known(context: &Context, handle: Handle) -> Result<Arc<Module>> {
    let module = context.driver.modules.get(handle);
    module.ok_or_else(|| no_module(handle))
}

/// The function with this handle, or a library's kernel in this context: launches
/// take either.
pub(super) fn known_function(context: &Context, handle: Handle) -> Result<Arc<Function>> {
    if let Some(function) = context.driver.functions.get(handle) {
        return Ok(function);
    }
    let kernel = context.driver.kernels.get(handle);
    let none = || handle.is_no(Code::INVALID_HANDLE, "function");
    context.function_of(&*kernel.ok_or_else(none)?)
}

fn no_module(handle: Handle) -> Code {
    handle.is_no(Code::INVALID_HANDLE, "module")
}

/// Holds a `CUfunc_cache` to what there is.
pub(super) fn cache_config(config: u32) -> Result {
    match config {
        0..=3 => Ok(()),
        _ => Err(invalid(format!("{config} is no cache configuration"))),
    }
}

/// Holds a `CUsharedconfig` to what there is.
pub(super) fn bank_config(config: u32) -> Result {
    match config {
        0..=2 => Ok(()),
        _ => Err(invalid(format!(
            "{config} is no configuration of shared memory"
        ))),
    }
}

fn load_image(context: &Context, image: Text, mut log: Log) -> Result<Handle> {
    let source = read_image(image, &mut log)?;
    load(context, source, &mut log)
}

fn load(context: &Context, source: Vec<u8>, log: &mut Log) -> Result<Handle> {
    let module = text(source).and_then(|text| Module::load(context.place(), &text, false));
    let module = log.close(module)?;
    let handle = module.handle;
    context.driver.modules.insert(handle, module);
    Ok(handle)
}
