//! Modules of kernels that users wrote.

use super::device::{CudaDevice, FREE_SHARED_BYTES};
use super::{failure, modules};
use crate::common::device::{Buffer, Device, OwnModule};
use crate::common::reach::Parameter;
use crate::{DeviceError, DeviceErrorKind};
use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Launch, Limb};
use cust::error::CudaError;
use cust::function::Function;
use cust::module::Module;
use cust::sys;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// A module, unloaded when it is dropped.
struct Own {
    module: ManuallyDrop<Module>,
    device: Arc<CudaDevice>,
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the module, which is not used after the drop.
        let module = unsafe { ManuallyDrop::take(&mut self.module) };
        let unloaded = self.device.run("unloading a module", 0, || {
            // Launches may still be on their way.
            self.device.stream.synchronize()?;
            Module::drop(module).map_err(|(error, module)| {
                std::mem::forget(module);
                error
            })
        });
        // Where that fails the context is gone, and the module with it.
        let _ = unloaded;
    }
}

/// Dynamic shared memory above what every block has, for a kernel.
pub(super) fn allow_shared(function: sys::CUfunction, bytes: u32) -> Result<(), CudaError> {
    if bytes <= FREE_SHARED_BYTES {
        return Ok(());
    }
    // SAFETY: the handle is a loaded module's; the answer is one of the codes that `cust_raw` has
    // known since the function exists.
    let code = unsafe {
        sys::cuFuncSetAttribute(
            function,
            sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            bytes.cast_signed(),
        )
    };
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        _ => Err(CudaError::LaunchOutOfResources),
    }
}

impl CudaDevice {
    /// Has the driver compile PTX.
    pub(super) fn load_module(&self, ptx: &str) -> Result<OwnModule, DeviceError> {
        let failed = |kind| self.failed("loading a module", kind);
        self.enter().map_err(failed)?;
        let module = modules::load("of a module", ptx).map_err(failed)?;
        Ok(Arc::new(Own {
            module: ManuallyDrop::new(module),
            device: self.this(),
        }))
    }

    /// A kernel of such a module, which is this device's.
    fn function<'m>(
        &self,
        module: &'m OwnModule,
        kernel: &str,
    ) -> Result<Function<'m>, DeviceError> {
        let failed = |kind| self.failed(&format!("launching {kernel}"), kind);
        self.enter().map_err(failed)?;
        let own: &Own = module.downcast_ref().expect("a module of a CUDA device");
        assert!(
            std::ptr::eq(&*own.device, self),
            "a module of one device is another's"
        );
        own.module
            .get_function(kernel)
            .map_err(|error| match error {
                CudaError::NotFound => failed(DeviceErrorKind::Unsupported(
                    "the module has no such kernel".to_owned(),
                )),
                error => failed(failure::kind(error, 0)),
            })
    }

    /// Threads of a kernel of such a module that the device has at once.
    pub(super) fn threads_of_module(
        &self,
        module: &OwnModule,
        kernel: &str,
        shared_bytes: u32,
    ) -> Result<Option<usize>, DeviceError> {
        let function = self.function(module, kernel)?;
        let blocks = allow_shared(function.to_raw(), shared_bytes).and_then(|()| {
            function.max_active_blocks_per_multiprocessor(BLOCK.into(), shared_bytes as usize)
        });
        let failed = |error| self.failed("asking for a kernel's blocks", failure::kind(error, 0));
        let threads = (blocks.map_err(failed)? * BLOCK) as usize;
        let facts = self.facts();
        Ok(facts.map(|facts| threads * facts.multiprocessors as usize))
    }

    /// Queues a kernel of such a module.
    pub(super) fn launch_of_module(
        &self,
        module: &OwnModule,
        kernel: &str,
        launch: Launch,
        arguments: &Arguments,
        scalars: &[Limb],
        buffers: &[&Buffer],
    ) -> Result<(), DeviceError> {
        let failed = |kind| self.failed(&format!("launching {kernel}"), kind);
        let function = self.function(module, kernel)?;
        assert!(
            buffers.iter().all(|buffer| self.has(buffer)) && arguments.lies_within(buffers),
            "a module and buffers of one device"
        );
        let mut parameters = vec![(&raw const *arguments).cast::<c_void>().cast_mut()];
        if !scalars.is_empty() {
            parameters.push(scalars.as_ptr().cast::<c_void>().cast_mut());
        }
        let Launch {
            grid,
            block,
            shared_bytes,
            ..
        } = launch;
        let launched = allow_shared(function.to_raw(), shared_bytes).and_then(|()| {
            // SAFETY: the driver copies as many bytes of each parameter as the kernel declares before
            // it returns, where there are as many: `Arguments` of the first, `scalars` of the second,
            // for which the caller answers. No host memory is within a kernel's reach; device
            // memory that it reaches by its arguments is alive, and is freed behind it.
            unsafe {
                self.stream
                    .launch(&function, grid, block, shared_bytes, &parameters)
            }
        });
        launched.map_err(|error| failed(failure::kind(error, 0)))?;
        *self.last_launched() = Some("a kernel of a module of the user's");
        Ok(())
    }
}
