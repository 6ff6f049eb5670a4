//! Libraries: code that belongs to no context, and is loaded into each at its first
//! use there.

use crate::error::{Code, Result};
use crate::state::gpu::Gpu;
use crate::state::handle::{Handle, Table};
use crate::state::module::{Function, Module};
use crate::sync::locked;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A `CUlibrary`.
pub struct Library {
    /// The library's handle, which the program holds.
    pub handle: Handle,
    source: String,
    /// The names of its kernels, ascending.
    pub kernels: Vec<String>,
    /// The library's modules, by context.
    modules: Mutex<HashMap<Handle, Arc<Module>>>,
}

/// A `CUkernel`: a kernel of a library, whatever the context.
pub struct Kernel {
    /// The library.
    pub library: Arc<Library>,
    /// The kernel's name.
    pub name: String,
    /// The kernel's functions, by context.
    functions: Mutex<HashMap<Handle, Arc<Function>>>,
}

impl Library {
    /// Reads PTX; the error comes with the text for the JIT log. Whether a device can
    /// run it is found when it is loaded there.
    pub fn new(source: String) -> Result<Library, (Code, String)> {
        let parsed = Module::parse(&source)?;
        let kernels = parsed.kernels().map(|kernel| kernel.name.clone()).collect();
        Ok(Library {
            handle: Handle::fresh(),
            source,
            kernels,
            modules: Mutex::default(),
        })
    }

    /// The library in a context on a device; `loaded` takes the module if it is new.
    pub fn module(
        &self,
        (gpu, context): (&'static Gpu, Handle),
        loaded: &Table<Module>,
    ) -> Result<Arc<Module>> {
        let mut modules = locked(&self.modules);
        if let Some(module) = modules.get(&context) {
            return Ok(Arc::clone(module));
        }
        let module = Module::load((gpu, context), &self.source, true)
            .map_err(|(code, why)| code.because(why))?;
        loaded.insert(module.handle, Arc::clone(&module));
        modules.insert(context, Arc::clone(&module));
        Ok(module)
    }

    /// Lets go of what was loaded into a context that ends.
    pub fn leave(&self, context: Handle) {
        locked(&self.modules).remove(&context);
    }

    /// Takes out every module.
    pub fn unload(&self) -> Vec<Arc<Module>> {
        locked(&self.modules)
            .drain()
            .map(|(_, module)| module)
            .collect()
    }
}

impl Kernel {
    /// A kernel of a library; the library has one of that name.
    pub fn new(library: Arc<Library>, name: String) -> Kernel {
        Kernel {
            library,
            name,
            functions: Mutex::default(),
        }
    }

    /// The kernel in a context on a device; the tables take module and function if they
    /// are new.
    pub fn function(
        &self,
        (gpu, context): (&'static Gpu, Handle),
        (loaded, known): (&Table<Module>, &Table<Function>),
    ) -> Result<Arc<Function>> {
        let mut functions = locked(&self.functions);
        if let Some(function) = functions.get(&context) {
            return Ok(Arc::clone(function));
        }
        let module = self.library.module((gpu, context), loaded)?;
        let function = Arc::new(Function::new(module, &self.name)?);
        known.insert(function.handle, Arc::clone(&function));
        functions.insert(context, Arc::clone(&function));
        Ok(function)
    }

    /// Lets go of the function in a context that ends.
    pub fn leave(&self, context: Handle) {
        locked(&self.functions).remove(&context);
    }
}
