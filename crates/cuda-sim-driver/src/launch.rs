//! A launch of a kernel, ready to run.

use crate::context::Context;
use crate::error::{Code, Result};
use crate::memory::Kind;
use crate::module::Function;
use sim::{Grid, LaunchOptions};
use std::sync::Arc;

/// A kernel with its grid and the bytes of its parameters.
#[derive(Clone)]
pub struct Launch {
    /// Where it runs.
    pub context: Arc<Context>,
    /// The kernel.
    pub function: Arc<Function>,
    /// Its extent.
    pub grid: Grid,
    /// Whether all of its blocks run at once, and which of them form clusters.
    pub options: LaunchOptions,
    /// The parameter buffer.
    pub params: Vec<u8>,
}

impl Launch {
    /// Runs it, with managed memory moved to the device and back around it.
    pub fn run(&self) -> Result {
        let gpu = &self.context.device().gpu;
        let managed = self.context.driver.memory.managed(self.context.ordinal);
        for block in &managed {
            if let Kind::Managed(memory) = &block.kind {
                let span = memory.span();
                span.with_bytes(|bytes| gpu.write(block.base, bytes))?;
            }
        }
        let module = &self.function.module;
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
