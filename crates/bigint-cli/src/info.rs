//! `bigint info`: who could compute here.

use bigint_host::Engine;

use crate::failure::Failure;

/// List back ends and devices
#[derive(Debug, clap::Args)]
pub struct Arguments {}

/// Runs the command.
///
/// # Errors
/// [`Failure::Running`] where it cannot be printed.
pub fn run(_: &Arguments) -> Result<(), Failure> {
    let mut text = format!("bigint {}\n", env!("CARGO_PKG_VERSION"));
    text += &format!("auto: {}\n", Engine::auto().back_end());
    let path = bigint_cpu::fast::Cpu::current().path().name();
    text += &format!("cpu: {path}, {} threads", rayon::current_num_threads());
    text += &processor().map_or_else(String::new, |name| format!(", {name}"));
    text.push('\n');
    match bigint_host::devices() {
        Ok(devices) if devices.is_empty() => text += "cuda: none: the driver sees no device\n",
        Ok(devices) => {
            for device in devices {
                let (major, minor) = device.compute_capability;
                let memory = device.memory_bytes as f64 / (1u64 << 30) as f64;
                text += &format!(
                    "cuda:{}: {}, compute capability {major}.{minor}, {memory:.1} GiB\n",
                    device.ordinal, device.name
                );
            }
        }
        Err(error) => text += &format!("cuda: none: {error}\n"),
    }
    crate::output::print(&text)
}

/// The processor's name, where the system tells it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
