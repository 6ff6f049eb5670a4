//! `bigint info`: which back ends and devices this machine has.

use std::path::Path;

use bigint_host::Engine;

use crate::failure::Failure;
use crate::hardware::Hardware;
use crate::{output, tune};

/// List back ends and devices
#[derive(Debug, clap::Args)]
pub struct Arguments {}

/// Runs the command, with the thresholds of the file `tuning`.
///
/// # Errors
/// [`Failure::Running`] where it cannot be printed, and [`Failure::Usage`] what is wrong in the file of a
/// GPU's thresholds that the environment names.
pub fn run(_: &Arguments, tuning: Option<&Path>) -> Result<(), Failure> {
    let Hardware {
        cpu,
        cuda,
        silent,
        no_cuda,
        driver,
    } = Hardware::detect();
    let auto = Engine::auto();
    let of_gpus = tune::of_gpus()?;
    let mut lines = vec![
        format!("bigint {}", env!("CARGO_PKG_VERSION")),
        format!("auto: {}", auto.back_end()),
        format!(
            "cpu: {}, {} threads, {}",
            cpu.path,
            cpu.threads,
            cpu.name.as_deref().unwrap_or("of a name unknown")
        ),
    ];
    lines.extend(tuning.map(|file| format!("cpu: thresholds of {}", file.display())));
    lines.extend(cuda.iter().map(|device| {
        // `auto` has it open already, if it can be opened.
        let engine = Engine::cuda(device.ordinal).map(|engine| match &of_gpus {
            Some(tuning) => engine.with_tuning(tuning.clone()),
            None => engine,
        });
        let thresholds = engine.as_ref().ok().and_then(Engine::origin);
        let thresholds = thresholds.map(|origin| format!("; thresholds: {origin}"));
        let unusable = engine.err();
        format!(
            "cuda:{}: {}, compute capability {}, {:.1} GiB{}{}",
            device.ordinal,
            device.name,
            device.compute_capability,
            device.memory_bytes as f64 / (1_u64 << 30) as f64,
            unusable.map_or_else(String::new, |why| format!(": cannot be used: {why}")),
            thresholds.unwrap_or_default()
        )
    }));
    lines.extend(
        silent
            .iter()
            .map(|device| format!("cuda:{}: cannot be used: {}", device.ordinal, device.why)),
    );
    lines.extend(driver.map(|version| format!("cuda: driver {version}")));
    lines.extend(no_cuda.map(|why| format!("cuda: none: {why}")));
    output::print(&(lines.join("\n") + "\n"))
}
