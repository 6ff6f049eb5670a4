//! Finding `ptxas` and `cuobjdump`, or fetching them: PyPI carries NVIDIA's tools,
//! and they need neither a toolkit nor a GPU.

use crate::{wheels, workspace};
use anyhow::Result;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The wheels that hold the tools.
const WHEELS: [&str; 4] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-cuobjdump==13.4.92",
    "nvidia-cuda-nvdisasm==13.5.37",
];

/// Where the wheels keep their programs.
const FETCHED: &str = "nvidia/cu13/bin";

/// The folder of NVIDIA's tools.
pub struct CudaTools {
    folder: PathBuf,
}

impl CudaTools {
    /// Those of a CUDA toolkit, or else those in `target/cuda-tools`, which are
    /// fetched once.
    pub fn find() -> Result<CudaTools> {
        let toolkits = ["CUDA_HOME", "CUDA_PATH"]
            .into_iter()
            .filter_map(env::var_os)
            .map(|home| Path::new(&home).join("bin"));
        let path = env::var_os("PATH").unwrap_or_default();
        let fetched = workspace::target("cuda-tools").join(FETCHED);
        let found = toolkits
            .chain(env::split_paths(&path))
            .chain([fetched.clone()])
            .find(|folder| {
                ["ptxas", "cuobjdump", "nvdisasm"]
                    .iter()
                    .all(|tool| folder.join(tool).is_file())
            });
        let folder = match found {
            Some(folder) => folder,
            None => {
                fetch()?;
                fetched
            }
        };
        Ok(CudaTools { folder })
    }

    /// A command that runs one of the tools.
    pub fn command(&self, tool: &str) -> Command {
        let mut command = Command::new(self.folder.join(tool));
        // cuobjdump runs the nvdisasm that it finds in the path.
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [self.folder.clone()]
            .into_iter()
            .chain(env::split_paths(&path));
        if let Ok(path) = env::join_paths(folders) {
            command.env("PATH", path);
        }
        command
    }
}

fn fetch() -> Result<()> {
    let folder = workspace::target("cuda-tools");
    wheels::fetch(&WHEELS, &folder, "or set CUDA_HOME")?;
    wheels::make_executable(&folder.join(FETCHED))
}
