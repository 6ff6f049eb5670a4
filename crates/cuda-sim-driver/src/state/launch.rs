//! A launch of a kernel, ready to run.

use crate::error::{Code, Result};
use crate::state::memory::{Kind, Memory};
use crate::state::module::Function;
use sim::{Grid, LaunchOptions};
use std::sync::Arc;

/// A kernel with its grid and the bytes of its parameters.
#[derive(Clone)]
pub struct Launch {
    /// The kernel, whose module says on which device it runs.
    pub function: Arc<Function>,
    /// The launch's extent.
    pub grid: Grid,
    /// Whether all of its blocks run at once, and which of them form clusters.
    pub options: LaunchOptions,
    /// The parameter buffer.
    pub params: Vec<u8>,
    /// All memory, of which the managed blocks are moved around the launch.
    pub memory: &'static Memory,
}

impl Launch {
    /// Runs it, with managed memory moved to the device and back around it.
    pub fn run(&self) -> Result {
        let module = &self.function.module;
        let gpu = module.gpu;
        let managed = self.memory.managed(gpu);
        for block in &managed {
            if let Kind::Managed(memory) = &block.kind {
                let span = memory.span();
                span.with_bytes(|bytes| gpu.write(block.base, bytes))?;
            }
        }
        let loaded = module.loaded().ok_or(Code::INVALID_HANDLE)?;
        let name = &self.function.kernel.name;
        gpu.launch(loaded, name, self.grid, &self.params, self.options)?;
        for block in &managed {
            if let Kind::Managed(memory) = &block.kind {
                let span = memory.span();
                span.with_bytes_mut(|bytes| gpu.read(block.base, bytes))?;
            }
        }
        Ok(())
    }
}
