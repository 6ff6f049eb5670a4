//! `cuda-sim`: runs a kernel of a PTX file, checks it and counts what it does.

mod arguments;
mod report;

use anyhow::{Context, Result, bail};
use arguments::{Buffers, Dimensions};
use clap::{Args, Parser, Subcommand};
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Device, DeviceConfig, Grid, LaunchOptions, Schedule};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs PTX kernels on the CPU, checks them and counts what they do.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a kernel.
    Run(Box<Run>),
    /// List the kernels of a PTX file.
    Info {
        /// The PTX file.
        ptx: PathBuf,
    },
}

#[derive(Args)]
struct Run {
    /// The PTX file.
    ptx: PathBuf,
    /// The kernel; may be left out where the file has one only.
    #[arg(long)]
    kernel: Option<String>,
    /// Blocks: X, X,Y or X,Y,Z.
    #[arg(long, default_value = "1")]
    grid: Dimensions,
    /// Threads of a block: X, X,Y or X,Y,Z.
    #[arg(long, default_value = "32")]
    block: Dimensions,
    /// Bytes of dynamic shared memory.
    #[arg(long, default_value_t = 0)]
    shared: u32,
    /// A buffer in device memory, as NAME=CONTENTS. Contents: `zero:BYTES`,
    /// `unset:BYTES`, `file:PATH`, or `u8|u32|u64|f32|f64:VALUE,VALUE,...`.
    #[arg(long = "buffer", value_name = "NAME=CONTENTS")]
    buffers: Vec<String>,
    /// A kernel argument, in order: `@NAME` or `@NAME+BYTES` for an address,
    /// `u8|u16|u32|u64|s32|s64|f32|f64:VALUE`, or `{ARG;ARG;...}` for a struct
    /// passed by value.
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Print a buffer after the run, as NAME or NAME:TYPE; may be repeated.
    #[arg(long, value_name = "NAME[:TYPE]")]
    print: Vec<String>,
    /// Write a buffer to a file after the run, as NAME=PATH; may be repeated.
    #[arg(long, value_name = "NAME=PATH")]
    save: Vec<String>,
    /// Checks: `all`, `none`, or a list out of bounds, uninitialised, races,
    /// barriers, shuffles, carry.
    #[arg(long, default_value = "all")]
    checks: Checks,
    /// Architecture: 75, 80, 86, 89, 90 or 100; by default the PTX file's target.
    #[arg(long)]
    sm: Option<u32>,
    /// Bytes of device memory.
    #[arg(long, default_value_t = 4 << 30)]
    memory: u64,
    /// Warp instructions that one block may issue before the run is ended.
    #[arg(long, default_value_t = DeviceConfig::BUDGET)]
    budget: u64,
    /// Whose turn it is among blocks that wait for each other or share work, and among warps:
    /// `rotating`, `random:SEED` or `adversarial`.
    #[arg(long, default_value = "rotating")]
    schedule: Schedule,
    /// Run all blocks together: a cooperative launch.
    #[arg(long)]
    cooperative: bool,
    /// Blocks of a cluster: x, x,y or x,y,z.
    #[arg(long)]
    cluster: Option<Dimensions>,
    /// Print the counts as JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(run) => run.execute(),
        Command::Info { ptx } => info(&ptx),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn read_module(path: &Path) -> Result<Module> {
    let shown = path.display();
    let source = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    Module::parse(&source).with_context(|| format!("cannot understand {shown}"))
}

/// Writes to stdout; a reader that has seen enough, as `head` has, is no error.
fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(()),
    }
}

fn info(path: &Path) -> Result<()> {
    let module = read_module(path)?;
    let (major, minor) = module.version();
    let mut text = format!("PTX {major}.{minor} for {}\n", module.target());
    for kernel in module.kernels() {
        writeln!(
            text,
            "{}: {} bytes of parameters, {} of shared and {} of local memory, about {} registers",
            kernel.name,
            kernel.param_bytes,
            kernel.shared_bytes,
            kernel.local_bytes,
            kernel.registers
        )?;
        if let Some(why) = &kernel.unknown {
            writeln!(text, "    runs until it executes what is not known: {why}")?;
        }
        for param in &kernel.params {
            writeln!(
                text,
                "    {:6} bytes at {:4}  {}",
                param.size, param.offset, param.name
            )?;
        }
    }
    for global in module.globals() {
        let space = if global.constant {
            "constant"
        } else {
            "global"
        };
        writeln!(
            text,
            "{}: {} bytes of {space} memory",
            global.name, global.size
        )?;
    }
    print(&text)
}

impl Run {
    fn execute(&self) -> Result<()> {
        let module = read_module(&self.ptx)?;
        let kernel = match &self.kernel {
            Some(name) => module
                .kernel(name)
                .with_context(|| format!("no kernel `{name}`; there are {}", names(&module)))?,
            None => {
                let mut kernels = module.kernels();
                match (kernels.next(), kernels.next()) {
                    (Some(kernel), None) => kernel,
                    _ => bail!("--kernel is needed; there are {}", names(&module)),
                }
            }
        };
        let device = Device::new(DeviceConfig {
            arch: self.arch(&module)?,
            memory_bytes: self.memory,
            checks: self.checks,
            count: true,
            instruction_budget: Some(self.budget),
            schedule: self.schedule,
            ..DeviceConfig::default()
        });
        let loaded = device.load(&module)?;
        let buffers = Buffers::new(&device, &self.buffers)?;
        let params = buffers.params(kernel, &self.args)?;
        let grid = Grid {
            grid: self.grid.0,
            block: self.block.0,
            shared_bytes: self.shared,
        };
        let options = LaunchOptions {
            cooperative: self.cooperative,
            cluster: self.cluster.as_ref().map(|dimensions| dimensions.0),
        };
        let done = device.launch_with(&loaded, &kernel.name, grid, &params, options);
        print(&device.take_printed())?;
        let report = done?;
        if self.json {
            print(&format!("{}\n", report::json(&report.counts)))?;
        } else {
            print(&report::table(&report.counts))?;
        }
        for request in &self.print {
            print(&buffers.show(&device, request)?)?;
        }
        for request in &self.save {
            buffers.save(&device, request)?;
        }
        Ok(())
    }

    fn arch(&self, module: &Module) -> Result<Arch> {
        if let Some(sm) = self.sm {
            return Arch::by_sm(sm).with_context(|| format!("sm_{sm} is not known"));
        }
        let target = module.target_sm();
        Arch::ALL
            .into_iter()
            .find(|arch| arch.sm() >= target)
            .with_context(|| format!("{} is newer than every known device", module.target()))
    }
}

fn names(module: &Module) -> String {
    let names: Vec<&str> = module
        .kernels()
        .map(|kernel| kernel.name.as_str())
        .collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
