//! The command on simulated GPUs: the same answers as on the CPU, and for every
//! failure of a driver the right answer with a warning, or a typed error. Never a
//! wrong answer, a panic, a hang or a leak.

mod answers;
#[path = "../cli/at_once.rs"]
mod at_once;
mod faults;

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How a run ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A folder to work in, and the command on a simulated machine there.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        Machine { folder }
    }

    /// Writes a file with a number on each line; answers its name.
    fn numbers(&self, name: &str, lines: &[String]) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(path, lines.join("\n")).expect("a file in a temporary folder");
        name.to_owned()
    }

    /// Runs the command with these variables on the simulator. What it leaves
    /// unfreed on the device makes it end with code 86.
    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
        self.run_program(env!("CARGO_BIN_EXE_bigint-e2e"), variables, arguments)
    }

    /// Runs a program as [`run`](Self::run) does the command.
    fn run_program(&self, program: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
        let out = self.folder.path().join("stdout");
        let err = self.folder.path().join("stderr");
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("BIGINT_CUDA_DRIVER", cuda_sim::driver::library())
            .env(at_once::VARIABLE, at_once::tuning())
            .env("CUDA_SIM_LEAKS", "fail")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(File::create(&out).expect("a file"))
            .stderr(File::create(&err).expect("a file"))
            .spawn()
            .expect("the command starts");
        let deadline = Instant::now() + Duration::from_secs(300);
        let status = loop {
            if let Some(status) = child.try_wait().expect("the child is ours") {
                break status;
            }
            if Instant::now() > deadline {
                child.kill().expect("it runs still");
                panic!("{variables:?} {arguments:?} hangs");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let read = |path| std::fs::read_to_string(path).expect("UTF-8");
        Ended {
            code: status.code(),
            stdout: read(out),
            stderr: read(err),
        }
    }
}
