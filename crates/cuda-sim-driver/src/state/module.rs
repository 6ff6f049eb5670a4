//! Modules: from PTX text to functions.

use crate::environment::environment;
use crate::error::{Code, Result};
use crate::state::gpu::Gpu;
use crate::state::handle::Handle;
use sim::LoadedModule;
use sim::ptx::Kernel;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// A loaded module.
pub struct Module {
    /// The module's handle, which the program holds.
    pub handle: Handle,
    /// The context that the module is loaded into.
    pub context: Handle,
    /// The device it is on.
    pub gpu: &'static Gpu,
    /// Whether the module belongs to a library, which is what the program unloads.
    pub of_library: bool,
    /// Taken out when the module is dropped.
    loaded: Option<LoadedModule>,
}

/// A kernel of a module.
pub struct Function {
    /// The function's handle, which the program holds.
    pub handle: Handle,
    /// The module.
    pub module: Arc<Module>,
    /// The kernel.
    pub kernel: Kernel,
    /// The function's name, as C wants it.
    name: CString,
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
    pub max_dynamic_shared: AtomicU32,
    /// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`: kept and answered.
    pub carveout: AtomicU32,
    /// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`
    pub large_clusters: AtomicBool,
}

impl Module {
    /// Compiles PTX for a context on a device. The error comes with the text for the JIT
    /// log.
    pub fn load(
        (gpu, context): (&'static Gpu, Handle),
        source: &str,
        of_library: bool,
    ) -> Result<Arc<Module>, (Code, String)> {
        let loaded = gpu.load(&Module::parse(source)?)?;
        Ok(Arc::new(Module {
            handle: Handle::fresh(),
            context,
            gpu,
            of_library,
            loaded: Some(loaded),
        }))
    }

    /// Reads PTX, as new as the driver takes it.
    pub fn parse(source: &str) -> Result<sim::ptx::Module, (Code, String)> {
        if let Some((major, minor)) = version(source) {
            let driver = environment().map_err(|code| (code, String::new()))?.version;
            let newest = driver.newest_ptx();
            if (major, minor) > newest {
                let why = format!(
                    "the PTX is of version {major}.{minor}, CUDA {driver} takes up to {}.{}",
                    newest.0, newest.1
                );
                return Err((Code::UNSUPPORTED_PTX_VERSION, why));
            }
        } else {
            let why = "the image is no PTX: it does not begin with .version";
            return Err((Code::INVALID_IMAGE, why.to_owned()));
        }
        sim::ptx::Module::parse(source)
            .map_err(|error| (Code::INVALID_PTX, format!("ptxas error: {error}")))
    }

    /// The simulator's side.
    pub fn loaded(&self) -> Option<&LoadedModule> {
        self.loaded.as_ref()
    }

    /// The architecture that the PTX was written for, as the number in `sm_75`.
    pub fn target(&self) -> u32 {
        let loaded = self.loaded.as_ref();
        loaded.map_or(0, |loaded| loaded.module().target_sm())
    }

    /// The line on the module in the report of leaks, with the names of its first kernels.
    pub fn describe(&self) -> String {
        let kernels = self.loaded.iter().flat_map(|it| it.module().kernels());
        let mut names = kernels.map(|kernel| kernel.name.as_str());
        let first: Vec<_> = names.by_ref().take(2).collect();
        let more = names.next().map_or("", |_| ", ...");
        let module = self.handle.named("module");
        format!("{module} ({}{more})", first.join(", "))
    }
}

impl Function {
    /// A kernel of a module; an error unless it has one of that name.
    pub fn new(module: Arc<Module>, name: &str) -> Result<Function> {
        let kernel = module.loaded().and_then(|loaded| loaded.kernel(name));
        let none = || Code::NOT_FOUND.because(format!("the module has no kernel '{name}'"));
        let kernel = kernel.ok_or_else(none)?.clone();
        let arch = module.gpu.arch();
        let most = arch.shared_per_block.saturating_sub(kernel.shared_bytes);
        Ok(Function {
            handle: Handle::fresh(),
            module,
            // A name of PTX has no zero byte.
            name: CString::new(name).unwrap_or_default(),
            kernel,
            max_dynamic_shared: AtomicU32::new(most),
            carveout: AtomicU32::new(u32::MAX),
            large_clusters: AtomicBool::new(false),
        })
    }

    /// The function's name, as C wants it.
    pub fn name(&self) -> &CStr {
        &self.name
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Some(loaded) = self.loaded.take() {
            self.gpu.unload(loaded);
        }
    }
}

/// The version that PTX begins with, read before the rest: what comes after may be
/// of a language that is newer than the parser.
fn version(source: &str) -> Option<(u32, u32)> {
    let mut rest = source.trim_start();
    loop {
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n')?.1.trim_start();
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1.trim_start();
        } else {
            break;
        }
    }
    let number = rest.strip_prefix(".version")?.split_whitespace().next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_stands_behind_comments() {
        assert_eq!(version(".version 7.0\n"), Some((7, 0)));
        assert_eq!(version("// a\n/* b\n */\n\t.version 8.7 .x"), Some((8, 7)));
        for wrong in ["", "//", "/*", ".target sm_75", ".version", ".version 7"] {
            assert_eq!(version(wrong), None, "{wrong}");
        }
    }
}
