//! Launches of kernels.

use super::device::{CudaDevice, words};
use super::{early, failure};
use crate::DeviceError;
use crate::common::device::{Buffer, Kernels, OwnModule, Roots};
use crate::common::reach::Parameter;
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;
use bigint_core::{Arguments, Launch, Limb};
use cust::memory::DeviceBuffer;
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
            let _ = self.module(entry, specialization);
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

    fn load_own(&self, ptx: &str) -> Result<OwnModule, DeviceError> {
        self.load_module(ptx)
    }

    fn launch_own(
        &self,
        module: &OwnModule,
        kernel: &str,
        launch: Launch,
        arguments: &Arguments,
        scalars: &[Limb],
        buffers: &[&Buffer],
    ) -> Result<(), DeviceError> {
        self.launch_of_module(module, kernel, launch, arguments, scalars, buffers)
    }

    fn threads_at_once(
        &self,
        module: &OwnModule,
        kernel: &str,
        shared_bytes: u32,
    ) -> Result<Option<usize>, DeviceError> {
        self.threads_of_module(module, kernel, shared_bytes)
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
        let module = self.module(entry, specialization).map_err(failed)?;
        let parameter = (&raw const *arguments).cast::<c_void>().cast_mut();
        let stream = &self.stream;
        let launched = module.function(launch.shared_bytes).and_then(|function| {
            // SAFETY: the kernel takes these arguments and this launch by the ABI
            // that host and device share: a `Parameter` is that parameter itself, plain
            // numbers, which the driver copies before it returns. It touches the memory in
            // the arguments only, which lies in buffers that are alive; if they are dropped
            // they are freed behind the kernel.
            unsafe {
                if matches!(specialization, Specialization::LongTransform(known) if known.is_early)
                {
                    early::launch(function, launch, stream, parameter)
                } else {
                    early::launch_in_turn(function, launch, stream, parameter)
                }
            }
        });
        launched.map_err(|error| failed(failure::kind(error, 0)))?;
        *self.last_launched() = Some(entry.name);
        Ok(())
    }
}
