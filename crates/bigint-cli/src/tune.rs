//! `bigint tune`: measures thresholds on this machine, and writes them to a file.

mod gpu;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bigint_host::{CpuTuning, Tuning};

use crate::backend::BackendName;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::{hardware, standard};

/// The environment variables that name the files in place of those in the user's configuration.
const CPU_VARIABLE: &str = "BIGINT_CPU_TUNING";
const GPU_VARIABLE: &str = "BIGINT_GPU_TUNING";

/// The files in the user's configuration.
const CPU_FILE: &str = "bigint/cpu.toml";
const GPU_FILE: &str = "bigint/gpu.toml";

/// Measure where one algorithm takes over from another, on this machine
///
/// The other commands read what it writes. Takes seconds for the CPU and a minute or two for a GPU, and
/// wants the machine for itself. Of a GPU, the times are printed beside those that the other commands went
/// by before: measured on another GPU, and for this one by a model.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Who is measured: cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu", value_name = "BACKEND")]
    backend: BackendName,

    /// Write to this file instead of bigint/cpu.toml or bigint/gpu.toml in the user's configuration
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write into that file where no new file can take its place
    #[arg(long)]
    in_place: bool,

    #[command(flatten)]
    gpu: gpu::Effort,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Running`] where the file cannot be written, or an engine fails.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (variable, file) = match arguments.backend {
        BackendName::Cpu => (CPU_VARIABLE, CPU_FILE),
        BackendName::Cuda(devices) if devices.ordinals().nth(1).is_none() => {
            (GPU_VARIABLE, GPU_FILE)
        }
        other => {
            return Err(Failure::Usage(format!(
                "one back end is measured at a time, cpu, cuda or cuda:N, and not {other}"
            )));
        }
    };
    let file = arguments.output.clone().or_else(|| place(variable, file));
    let file = file.ok_or_else(|| {
        Failure::Usage("no folder for configuration is known: say -o FILE".to_owned())
    })?;
    let folder = standard::folder(&file);
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::writing(&folder.display().to_string(), &error))?;
    // What cannot be written is said before anything is measured.
    let mut output = Output::open(Some(&file), arguments.in_place)?;
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let date = now.split('T').next().unwrap_or(&now);
    let text = match arguments.backend {
        BackendName::Cpu => {
            let machine = hardware::processor_name().unwrap_or_else(|| "unknown".to_owned());
            CpuTuning::measure(&machine, date)?.text()?
        }
        backend => {
            let (tuning, table) = gpu::measure(backend, &arguments.gpu, date)?;
            output::print(&table)?;
            tuning.text()?
        }
    };
    output.write(text.as_bytes())?;
    output.finish()?;
    output::print(&format!("{}\n", file.display()))
}

/// Takes the CPU's thresholds of the user's file, if there is one, and answers its path.
///
/// # Errors
/// [`Failure::Usage`] with what is wrong in the file that the variable names, and where.
pub fn install() -> Result<Option<PathBuf>, Failure> {
    let install = |file: &Path| CpuTuning::read(file).and_then(CpuTuning::install);
    Ok(read(CPU_VARIABLE, CPU_FILE, "cpu", install)?.map(|((), file)| file))
}

/// The GPUs' thresholds of the user's file, if there is one.
///
/// # Errors
/// As for [`install`].
pub fn of_gpus() -> Result<Option<Tuning>, Failure> {
    Ok(read(GPU_VARIABLE, GPU_FILE, "cuda", Tuning::read)?.map(|(tuning, _)| tuning))
}

/// Reads the user's file, if there is one, and answers its path too: the one that the environment variable
/// names, or the one in the user's configuration. Where the latter cannot be used, nobody asked for it: the
/// defaults serve, with a warning.
fn read<T>(
    variable: &str,
    file: &str,
    backend: &str,
    read: impl Fn(&Path) -> Result<T, bigint_host::Error>,
) -> Result<Option<(T, PathBuf)>, Failure> {
    let read = |file: PathBuf| match read(&file) {
        Ok(read) => Ok((read, file)),
        Err(error) => Err(format!(
            "{error}\n`bigint tune --backend {backend}` writes it anew"
        )),
    };
    if let Some(file) = named(variable) {
        return read(file).map(Some).map_err(Failure::Usage);
    }
    let file = configured(file).filter(|file| file.exists());
    Ok(file.and_then(|file| {
        let warn = |why| {
            output::tell(format_args!("warning: {why}; going on with the defaults"));
        };
        read(file).map_err(warn).ok()
    }))
}

/// Where a file of the user's is, or would be.
fn place(variable: &str, file: &str) -> Option<PathBuf> {
    named(variable).or_else(|| configured(file))
}

fn named(variable: &str) -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os(variable)?)).filter(|file| !file.as_os_str().is_empty())
}

fn configured(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.is_absolute());
    let folder =
        folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(folder.join(file))
}
