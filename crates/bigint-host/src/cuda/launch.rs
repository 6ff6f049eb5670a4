//! Launches of kernels.

use super::buffer::Buffer;
use super::device::{Device, FREE_SHARED_BYTES};
use super::reach::Reaching;
use super::{early, failure};
use crate::DeviceError;
use bigint_core::Launch;
use bigint_core::specialization::Specialization;
use bigint_core::kernel::EntryPoint;
use cust::error::CudaError;
use cust::memory::DeviceCopy;
use cust::sys;

/// The parameter of every kernel, as `cust` passes it.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Parameter<A>(A);

// SAFETY: the launch ABI is plain numbers, with no pointer to host memory.
unsafe impl<A: Reaching> DeviceCopy for Parameter<A> {}

impl Device {
    /// Queues a kernel behind all earlier work, specialised to what is known of the arguments.
    ///
    /// `buffers` are the device memory that the arguments are about. The kernel reads
    /// and writes the matrices and the carries in the arguments, reads the device's own
    /// tables of roots, and touches nothing else.
    ///
    /// # Panics
    /// Where the arguments reach out of the buffers; that is a defect of the caller.
    pub fn launch<A: Reaching>(
        &self,
        entry: EntryPoint,
        specialization: Specialization,
        launch: Launch,
        arguments: A,
        buffers: &[&Buffer],
    ) -> Result<(), DeviceError> {
        let failed = |kind| self.failed(&format!("launching {}", entry.name), kind);
        self.enter().map_err(failed)?;
        let mut roots = arguments.roots().into_iter();
        assert!(
            buffers.iter().all(|buffer| buffer.is_of(self))
                && arguments.lies_within(buffers)
                && roots.all(|roots| roots.1 == 0 || self.has_roots(roots)),
            "the arguments of {} reach out of their buffers",
            entry.name
        );
        let module = self.modules.of(entry, specialization).map_err(failed)?;
        let parameter = Parameter(arguments);
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
            // that host and device share. It touches the memory in the arguments
            // only, which lies in buffers that are alive; if they are dropped they
            // are freed behind the kernel.
            unsafe {
                if matches!(specialization, Specialization::LongTransform(known) if known.is_early) {
                    early::launch(&function, launch, stream, parameter)
                } else {
                    cust::launch!(
                        function<<<launch.grid, launch.block, launch.shared_bytes, stream>>>(parameter)
                    )
                }
            }
        });
        launched.map_err(|error| failed(failure::kind(error, 0)))?;
        *self.last_launched() = Some(entry.name);
        Ok(())
    }
}
