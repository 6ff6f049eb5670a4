//! The program while it runs.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};

use crate::common::program::mersenne;

/// The program while it runs, and its standard error.
pub struct Running {
    pub child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    pub fn new(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = mersenne(folder, arguments);
        let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Running { child, stderr }
    }

    /// What it says until this word comes.
    pub fn wait_for(&mut self, word: &str) -> String {
        let mut all = String::new();
        while !all.contains(word) {
            let read = self.stderr.read_line(&mut all).unwrap();
            assert!(read > 0, "{word} is not in {all}");
        }
        all
    }

    pub fn signal(&self, name: &str) {
        let command = format!("kill {name} {}", self.child.id());
        let mut shell = std::process::Command::new("sh");
        assert!(shell.args(["-c", &command]).status().unwrap().success());
    }

    pub fn code(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}
