//! `bigint tune`: measures thresholds on this machine, and writes them to a file.

use std::path::PathBuf;
use std::time::SystemTime;

use bigint_host::CpuTuning;

use crate::failure::Failure;
use crate::output::{self, Output};
use crate::{hardware, standard};

/// The environment variable that names the file in place of the one in the user's configuration.
const VARIABLE: &str = "BIGINT_CPU_TUNING";

/// Measure where one algorithm takes over from another, on this machine
///
/// The other commands read what it writes. Takes seconds, and wants the machine for
/// itself.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Who is measured
    #[arg(long, default_value = "cpu", value_parser = ["cpu"], value_name = "BACKEND")]
    backend: String,

    /// Write to this file instead of bigint/cpu.toml in the user's configuration
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write into that file where no new file can take its place
    #[arg(long)]
    in_place: bool,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Running`] where the file cannot be written.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.output.clone().or_else(place).ok_or_else(|| {
        Failure::Usage("no folder for configuration is known: say -o FILE".to_owned())
    })?;
    let folder = standard::folder(&file);
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::writing(&folder.display().to_string(), &error))?;
    // What cannot be written is said before anything is measured.
    let mut output = Output::open(Some(&file), arguments.in_place)?;
    let machine = hardware::processor_name().unwrap_or_else(|| "unknown".to_owned());
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let date = now.split('T').next().unwrap_or(&now);
    let tuning = CpuTuning::measure(&machine, date)?;
    output.write(tuning.text()?.as_bytes())?;
    output.finish()?;
    output::print(&format!("{}\n", file.display()))
}

/// Takes the thresholds of the user's file, if there is one, and answers its path: the one that the
/// environment variable names, or the one in the user's configuration. Where the latter cannot be
/// used, nobody asked for it: the defaults serve, with a warning.
///
/// # Errors
/// [`Failure::Usage`] with what is wrong in the file that the variable names, and where.
pub fn install() -> Result<Option<PathBuf>, Failure> {
    let install = |file: PathBuf| {
        let installed = CpuTuning::read(&file).and_then(CpuTuning::install);
        installed
            .map(|()| file)
            .map_err(|error| format!("{error}\n`bigint tune --backend cpu` writes it anew"))
    };
    if let Some(file) = named() {
        return install(file).map(Some).map_err(Failure::Usage);
    }
    let file = configured().filter(|file| file.exists());
    Ok(file.and_then(|file| {
        let warn = |why| {
            output::tell(format_args!("warning: {why}; going on with the defaults"));
        };
        install(file).map_err(warn).ok()
    }))
}

/// Where the file of the user's configuration is, or would be.
fn place() -> Option<PathBuf> {
    named().or_else(configured)
}

fn named() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os(VARIABLE)?)).filter(|file| !file.as_os_str().is_empty())
}

fn configured() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.is_absolute());
    let folder =
        folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(folder.join("bigint/cpu.toml"))
}
