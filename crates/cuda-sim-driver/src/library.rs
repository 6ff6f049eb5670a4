//! Libraries: code that belongs to no context, and is loaded into each at its first
//! use there.

use crate::context::Context;
use crate::error::{Code, Result};
use crate::handle::Handle;
use crate::module::{Function, Module};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A `CUlibrary`.
pub struct Library {
    /// What the program holds.
    pub handle: Handle,
    source: String,
    /// The names of its kernels, ascending.
    pub kernels: Vec<String>,
    /// By context.
    modules: Mutex<HashMap<Handle, Arc<Module>>>,
}

/// A `CUkernel`: a kernel of a library, whatever the context.
pub struct Kernel {
    /// The library.
    pub library: Arc<Library>,
    /// Its name.
    pub name: String,
    /// By context.
    functions: Mutex<HashMap<Handle, Arc<Function>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Library {
    /// Reads PTX; the error comes with what the JIT log says. Whether a device can
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

    /// The library in a context.
    pub fn module(&self, context: &Context) -> Result<Arc<Module>> {
        let mut modules = locked(&self.modules);
        if let Some(module) = modules.get(&context.handle) {
            return Ok(Arc::clone(module));
        }
        let module =
            Module::load(context, &self.source, true).map_err(|(code, why)| code.because(why))?;
        let driver = context.driver;
        driver.modules.insert(module.handle, Arc::clone(&module));
        modules.insert(context.handle, Arc::clone(&module));
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

    /// The kernel in a context.
    pub fn function(&self, context: &Context) -> Result<Arc<Function>> {
        let mut functions = locked(&self.functions);
        if let Some(function) = functions.get(&context.handle) {
            return Ok(Arc::clone(function));
        }
        let module = self.library.module(context)?;
        let function = Function::new(module, &self.name)?;
        let function = Arc::new(function);
        let driver = context.driver;
        driver
            .functions
            .insert(function.handle, Arc::clone(&function));
        functions.insert(context.handle, Arc::clone(&function));
        Ok(function)
    }

    /// Lets go of the function in a context that ends.
    pub fn leave(&self, context: Handle) {
        locked(&self.functions).remove(&context);
    }
}
