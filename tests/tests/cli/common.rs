//! A folder to work in, and the command run there.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A fresh folder, removed at the end of the test.
pub struct Workplace {
    folder: TempDir,
    /// Where [`Self::copy_of_the_command`] lies.
    programs: OnceCell<TempDir>,
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
        Workplace {
            folder,
            programs: OnceCell::new(),
        }
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
        self.program(env!("CARGO_BIN_EXE_bigint-e2e"))
    }

    /// A script for bash, about to run in this folder, in which `$bigint` is the
    /// command.
    pub fn script(&self, script: &str) -> Command {
        let mut command = self.program("bash");
        command.env("bigint", env!("CARGO_BIN_EXE_bigint-e2e"));
        command.args(["-c", script]);
        command
    }

    /// The same, run by a user whom the system refuses what it refuses to users.
    /// The folder becomes that user's, with all that is in it.
    #[cfg(unix)]
    pub fn script_of_a_user(&self, script: &str) -> Command {
        use std::fs::read_dir;
        use std::os::unix::fs::chown;
        use std::os::unix::process::CommandExt;

        const USER: u32 = 54321;
        let mut command = self.script(script);
        if !rustix::process::getuid().is_root() {
            return command;
        }
        command.env("bigint", self.copy_of_the_command());
        command.uid(USER).gid(USER);
        let entries = read_dir(self.path()).expect("the folder");
        let entries = entries.map(|entry| entry.expect("a file").path());
        for path in entries.chain([self.path().to_owned()]) {
            chown(path, Some(USER), Some(USER)).expect("root may");
        }
        command
    }

    /// A copy of the command in a folder of its own, which every user may read: root's programs may
    /// lie where no one else can reach them, and other programs may lie beside the command.
    #[cfg(unix)]
    pub fn copy_of_the_command(&self) -> PathBuf {
        use std::fs::{Permissions, copy, set_permissions};
        use std::os::unix::fs::PermissionsExt;

        let folder = self.programs.get_or_init(|| {
            let folder = TempDir::new().expect("a temporary folder");
            set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("it is ours");
            let program = env!("CARGO_BIN_EXE_bigint-e2e");
            copy(program, folder.path().join("bigint")).expect("a copy of the command");
            folder
        });
        folder.path().join("bigint")
    }

    /// Another program, about to run in this folder.
    pub fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
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

    /// Runs `calc`, which must succeed without a word on standard error but that a
    /// file has one number.
    pub fn calc(&self, arguments: &[&str]) -> String {
        let ended = self.run(&[&["calc"], arguments].concat());
        let mut told = ended.stderr.lines();
        let unexpected = told.find(|line| !line.starts_with("note: "));
        assert_eq!((ended.code, unexpected), (0, None), "{arguments:?}");
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
