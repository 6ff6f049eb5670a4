//! Launches of kernels.

use super::device::{CudaDevice, FREE_SHARED_BYTES, words};
use super::{early, failure};
use crate::DeviceError;
use crate::common::device::{Buffer, Kernels, Roots};
use crate::common::reach::Parameter;
use bigint_core::Launch;
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;
use cust::error::CudaError;
use cust::memory::DeviceBuffer;
use cust::sys;
use std::ffi::c_void;
use std::sync::atomic::Ordering;

impl Kernels for CudaDevice {
    fn has_module(&self, entry: EntryPoint, specialization: Specialization) -> bool {
        self.modules.has(entry, specialization)
    }

    fn begins_module(&self, entry: EntryPoint, specialization: Specialization) -> bool {
        self.modules.begins(entry, specialization)
    }

    fn load(&self, entry: EntryPoint, specialization: Specialization) {
        self.loading.fetch_add(1, Ordering::Relaxed);
        if self.enter().is_ok() {
            let _ = self.modules.of(entry, specialization);
        }
        self.loading.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_loading(&self) -> bool {
        self.loading.load(Ordering::Relaxed) > 0
    }

    fn roots(&self, of: Roots) -> Result<u64, DeviceError> {
        let during = "copying roots of unity to the device";
        // A forked process goes no further, where a thread that it has not may have the lock.
        self.enter().map_err(|kind| self.failed(during, kind))?;
        let mut tables = self.tables();
        if let Some(table) = tables.get(&of) {
            return Ok(table.as_device_ptr().as_raw());
        }
        let words = words(of);
        let bytes = size_of_val(words.as_slice());
        let table = self.run(during, bytes, || DeviceBuffer::from_slice(&words))?;
        Ok(tables.entry(of).or_insert(table).as_device_ptr().as_raw())
    }

    fn launch(
        &self,
        entry: EntryPoint,
        specialization: Specialization,
        launch: Launch,
        arguments: &dyn Parameter,
        buffers: &[&Buffer],
    ) -> Result<(), DeviceError> {
        let failed = |kind| self.failed(&format!("launching {}", entry.name), kind);
        self.enter().map_err(failed)?;
        let mut roots = arguments.roots().into_iter();
        assert!(
            buffers.iter().all(|buffer| self.has(buffer))
                && arguments.lies_within(buffers)
                && roots.all(|roots| roots.1 == 0 || self.has_roots(roots)),
            "the arguments of {} reach out of their buffers",
            entry.name
        );
        let module = self.modules.of(entry, specialization).map_err(failed)?;
        let parameter = (&raw const *arguments).cast::<c_void>().cast_mut();
        let stream = &self.stream;
        let launched = module.get_function(entry.name).and_then(|function| {
            if launch.shared_bytes > FREE_SHARED_BYTES {
                // SAFETY: the handle is the module's, which is loaded; the answer is one of
                // the codes that `cust_raw` has known since the function exists.
                let code = unsafe {
                    sys::cuFuncSetAttribute(
                        function.to_raw(),
                        sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                        launch.shared_bytes.cast_signed(),
                    )
                };
                if code != sys::CUresult::CUDA_SUCCESS {
                    return Err(CudaError::LaunchOutOfResources);
                }
            }
            // SAFETY: the kernel takes these arguments and this launch by the ABI
            // that host and device share: a `Parameter` is that parameter itself, plain
            // numbers, which the driver copies before it returns. It touches the memory in
            // the arguments only, which lies in buffers that are alive; if they are dropped
            // they are freed behind the kernel.
            unsafe {
                if matches!(specialization, Specialization::LongTransform(known) if known.is_early) {
                    early::launch(&function, launch, stream, parameter)
                } else {
                    let Launch { grid, block, shared_bytes, .. } = launch;
                    stream.launch(&function, grid, block, shared_bytes, &[parameter])
                }
            }
        });
        launched.map_err(|error| failed(failure::kind(error, 0)))?;
        *self.last_launched() = Some(entry.name);
        Ok(())
    }
}
