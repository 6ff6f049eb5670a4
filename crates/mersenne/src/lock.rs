//! Locks: files that are there as long as somebody works on something.
//!
//! AutoPrimeNet makes `worktodo.txt.lck` when it begins with `worktodo.txt`, which may take it
//! minutes of network calls, and removes it when it is done; it waits where the file is there
//! already. What it makes is empty. A lock of this program has a line in it, `mersenne PID`, and is
//! held by the system too (`flock`), which lets it go when the process ends, however that ends.
//!
//! So a lock of this program that the system does not hold was left by a kill, and is taken at once.
//! An empty one says nothing: it is waited for, and was left by a kill if it is hours old.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// From which age on an empty lock was left by a kill.
const ABANDONED: Duration = Duration::from_secs(6 * 3600);

/// Time from one look at a lock to the next.
const LOOK: Duration = Duration::from_millis(50);

const NAME: &str = "mersenne";

/// A lock that this process holds, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

/// Who holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The number of this program's process that does; another program's is not known.
    pub process: Option<u32>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(f, "process {process}"),
            None => f.write_str("another program"),
        }
    }
}

impl Lock {
    /// The lock file of a file.
    pub(crate) fn path(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".lck");
        PathBuf::from(name)
    }

    /// Takes a file's lock, if nobody has it.
    pub(crate) fn try_of(path: &Path) -> io::Result<Result<Self, Holder>> {
        let path = Self::path(path);
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true);
            match options.clone().create_new(true).open(&path) {
                Ok(file) => {
                    // Who looks at the file meanwhile has it for a moment.
                    let _ = file.lock();
                    return Lock { path, file }.signed().map(Ok);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            let mut file = match options.open(&path) {
                Ok(file) => file,
                // It was let go.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let held = match file.try_lock() {
                Ok(()) => false,
                Err(TryLockError::WouldBlock) => true,
                // Where the system has no such locks nobody can tell.
                Err(TryLockError::Error(_)) => true,
            };
            let holder = Self::holder(&mut file);
            let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
            if held || holder.process.is_none() && age < ABANDONED {
                return Ok(Err(holder));
            }
            return Lock { path, file }.signed().map(Ok);
        }
    }

    /// What the line in it says.
    fn holder(file: &mut File) -> Holder {
        let mut line = Vec::new();
        // What cannot be read is not this program's.
        let _ = file.take(64).read_to_end(&mut line);
        let line = String::from_utf8_lossy(&line);
        let process = line.trim().strip_prefix(NAME);
        Holder {
            process: process.and_then(|process| process.trim().parse().ok()),
        }
    }

    /// With this process's line in it.
    fn signed(mut self) -> io::Result<Self> {
        let line = format!("{NAME} {}\n", std::process::id());
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(line.as_bytes())?;
        Ok(self)
    }

    /// Takes a file's lock, once nobody else has it, and as long as `wait` agrees.
    ///
    /// An error of the kind `Interrupted` says that it did not.
    pub(crate) fn of(path: &Path, wait: Wait<'_>) -> io::Result<Self> {
        loop {
            match Self::try_of(path)? {
                Ok(lock) => return Ok(lock),
                Err(holder) if wait(&Self::path(path), holder) => std::thread::sleep(LOOK),
                Err(_) => return Err(io::ErrorKind::Interrupted.into()),
            }
        }
    }
}

/// Asked again and again while a lock is held, with its file: whether to wait on.
pub type Wait<'a> = &'a mut dyn FnMut(&Path, Holder) -> bool;

impl Drop for Lock {
    fn drop(&mut self) {
        // Who opened it before it goes finds nothing of this program's in it.
        let _ = self.file.set_len(0);
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn held(path: &Path) -> Option<u32> {
        Lock::try_of(path).unwrap().unwrap_err().process
    }

    #[test]
    fn a_lock_is_one_process_s_until_it_lets_it_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worktodo.txt");
        let lock = Lock::try_of(&path).unwrap().unwrap();
        assert_eq!(held(&path), Some(std::process::id()));
        drop(lock);
        assert!(!Lock::path(&path).exists());
        drop(Lock::try_of(&path).unwrap().unwrap());
    }

    #[test]
    fn what_a_kill_left_is_taken_and_what_another_program_holds_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worktodo.txt");
        let write = |text: &str, hours: u64| {
            fs::write(Lock::path(&path), text).unwrap();
            let file = File::options().write(true).open(Lock::path(&path)).unwrap();
            let time = SystemTime::now() - Duration::from_secs(3600 * hours);
            file.set_modified(time).unwrap();
        };
        // A process that is no more, of however long ago; others' are empty.
        for (text, hours, is_taken) in [
            ("mersenne 12345\n", 0, true),
            ("mersenne 12345\n", 100, true),
            ("", 0, false),
            ("", 5, false),
            ("", 7, true),
            ("somebody 12345\n", 5, false),
        ] {
            write(text, hours);
            match Lock::try_of(&path).unwrap() {
                Ok(lock) => {
                    assert!(is_taken, "{text:?} {hours}");
                    assert_eq!(held(&path), Some(std::process::id()));
                    drop(lock);
                }
                Err(holder) => {
                    assert!(!is_taken, "{text:?} {hours}");
                    assert_eq!(holder.process, None);
                }
            }
        }
        // Who waits goes on when the file is gone.
        write("", 0);
        let mut looks = 0;
        let lock = Lock::of(&path, &mut |lock, _| {
            looks += 1;
            fs::remove_file(lock).unwrap();
            true
        });
        assert!(lock.is_ok() && looks == 1);
        drop(lock);
        write("", 0);
        let error = Lock::of(&path, &mut |_, _| false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }
}
