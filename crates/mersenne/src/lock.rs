//! Locks: files that exist as long as a program works on what they are named after.
//!
//! AutoPrimeNet makes an empty `worktodo.txt.lck` before it works on `worktodo.txt`, which may take
//! minutes of network calls, and removes it afterwards; where the file exists, it waits. A lock of this
//! program has a line in it, `mersenne PID`, and is locked by the system too (`flock`), which unlocks it
//! when the process ends, however that ends.
//!
//! So a lock of this program that the system has unlocked was left by a kill, and is taken at once.
//! An empty one may be held: it is waited for, unless it is hours old.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The age from which on an empty lock counts as left by a kill.
const ABANDONED: Duration = Duration::from_secs(6 * 3600);

/// The time between two looks at a lock.
const LOOK: Duration = Duration::from_millis(50);

const NAME: &str = "mersenne";

/// A lock that this process holds until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

/// The process that holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number, if it runs this program; another program's is not known.
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
            let mut file = match File::options().read(true).write(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => match Self::made(&path) {
                    Ok(file) => return Ok(Ok(Lock { path, _file: file })),
                    // Somebody was faster.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(error),
                },
                file => file?,
            };
            // Where the system has no such locks, any counts as held.
            let held = file.try_lock().is_err();
            if !held && !is_at(&file, &path)? {
                // It was removed since it was opened.
                continue;
            }
            let holder = Self::holder(&mut file);
            let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
            if held || holder.process.is_none() && age < ABANDONED {
                return Ok(Err(holder));
            }
            Self::sign(&mut file)?;
            clear(&path);
            return Ok(Ok(Lock { path, _file: file }));
        }
    }

    /// The process that holds a file's lock, if one does.
    pub(crate) fn holder_of(path: &Path) -> Option<Holder> {
        let mut file = File::open(Self::path(path)).ok()?;
        // Those who only look do not stand in each other's way.
        file.try_lock_shared()
            .is_err()
            .then(|| Self::holder(&mut file))
    }

    /// Makes a lock file that is locked, and has this process's line in it, from the first moment
    /// on: a kill leaves no empty one.
    fn made(path: &Path) -> io::Result<File> {
        clear(path);
        let mut own = path.as_os_str().to_owned();
        own.push(format!(".{}", std::process::id()));
        let mut file = File::create(&own)?;
        let _ = file.lock();
        let signed = Self::sign(&mut file);
        let linked = signed.and_then(|()| fs::hard_link(&own, path));
        let _ = fs::remove_file(&own);
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                // A file system without links.
                file = File::create_new(path)?;
                let _ = file.lock();
                Self::sign(&mut file)?;
            }
            linked => linked?,
        }
        Ok(file)
    }

    /// Writes this process's line over the first one: at no moment the file is empty.
    fn sign(file: &mut File) -> io::Result<()> {
        let line = format!("{NAME} {}\n", std::process::id());
        file.rewind()?;
        file.write_all(line.as_bytes())
    }

    /// The process that the first line names.
    fn holder(file: &mut File) -> Holder {
        let mut line = Vec::new();
        // What cannot be read is not this program's.
        let _ = file.take(64).read_to_end(&mut line);
        let line = String::from_utf8_lossy(&line);
        let process = line.lines().next().unwrap_or_default().strip_prefix(NAME);
        Holder {
            process: process.and_then(|process| process.trim().parse().ok()),
        }
    }

    /// Takes a file's lock, once nobody else has it.
    ///
    /// # Errors
    /// Of the kind `Interrupted` where `wait` says no.
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

/// Removes locks that kills left half made: `NAME.lck.PID`, which nobody holds.
fn clear(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let is_left = |other: &Path| {
        let other_name = other.file_name().unwrap_or_default().to_string_lossy();
        let process = other_name.strip_prefix(&*name.to_string_lossy());
        let process = process.and_then(|rest| rest.strip_prefix('.'));
        process.is_some_and(|process| process.parse::<u32>().is_ok())
            && File::open(other).is_ok_and(|file| file.try_lock().is_ok())
    };
    for other in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_left(&other.path()) {
            // One that cannot be removed does no harm.
            let _ = fs::remove_file(other.path());
        }
    }
}

/// Whether `file` is the one at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether `file` is the one at `path`: an open file keeps its name.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Called again and again while a lock is held, with its file and holder: whether to go on waiting.
pub type Wait<'a> = &'a mut dyn FnMut(&Path, Holder) -> bool;

impl Drop for Lock {
    fn drop(&mut self) {
        // The system unlocks it afterwards.
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
        // One in the making, left by a kill.
        fs::write(folder.path().join("worktodo.txt.lck.12345"), "").unwrap();
        let lock = Lock::try_of(&path).unwrap().unwrap();
        assert_eq!(held(&path), Some(std::process::id()));
        drop(lock);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
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
            ("mersenne 99\n345\n", 0, true),
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
