//! A folder to work in, and the command run there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A fresh folder, removed at the end of the test.
pub struct Workplace {
    folder: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Workplace {
    pub fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        Workplace { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file; answers its name.
    pub fn file<'a>(&self, name: &'a str, text: impl AsRef<[u8]>) -> &'a str {
        std::fs::write(self.path().join(name), text).expect("a file in a temporary folder");
        name
    }

    /// The names of all files, sorted.
    pub fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path()).expect("the folder");
        let mut files: Vec<_> = entries
            .map(|entry| entry.expect("a file").file_name().into())
            .collect();
        files.sort();
        files
    }

    /// The command, about to run in this folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bigint-e2e"));
        // No GPU and no thresholds of the user's here, whatever the machine has.
        command
            .env_remove("BIGINT_CUDA_DRIVER")
            .env_remove("BIGINT_CPU_TUNING")
            .env("XDG_CONFIG_HOME", self.path())
            .env("CUDA_VISIBLE_DEVICES", "");
        command.current_dir(self.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        ended(
            self.command()
                .args(arguments)
                .output()
                .expect("the command starts"),
        )
    }

    /// Runs `calc`, which must succeed without a word on standard error.
    pub fn calc(&self, arguments: &[&str]) -> String {
        let ended = self.run(&[&["calc"], arguments].concat());
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (0, ""),
            "{arguments:?}"
        );
        ended.stdout
    }
}

pub fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code().expect("an exit code"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}
