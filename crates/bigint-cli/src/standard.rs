//! The standard streams, under all the names that they have.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Links that lead on to links, at most, as the system has it.
const MAX_LINKS: usize = 40;

/// What a path leads to, by way of symbolic links.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// What is open in this process under this number, as of `/dev/stdout`.
    Descriptor(u32),
    /// Anything else, or nothing yet: no link itself.
    Path(PathBuf),
}

/// Follows `path` to its end, also where nothing is there.
///
/// # Errors
/// Where links lead in a circle.
pub fn follow(path: &Path) -> io::Result<Target> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Some(number) = descriptor(&path) {
            return Ok(Target::Descriptor(number));
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => return Ok(Target::Path(path)),
        }
    }
    Err(io::Error::other("too many links lead on to links"))
}

/// The folder that a path's last part is in.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The number of an entry of the folder that lists what this process has open.
fn descriptor(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(folder(path)).ok()?;
    let lists = ["/proc/self/fd", "/dev/fd"];
    let is_list = |list| fs::canonicalize(list).is_ok_and(|list| list == folder);
    lists.into_iter().any(is_list).then_some(number)
}

/// What can be read but once, by whatever name: its device and its number there.
pub type Stream = (u64, u64);

/// The stream that this is, unless it is a file that can be opened anew; standard input
/// was opened before and is one in any case.
#[cfg(unix)]
pub fn stream(metadata: &Metadata, is_stdin: bool) -> Option<Stream> {
    use std::os::unix::fs::MetadataExt;
    let can_be_reopened = metadata.is_file() || metadata.is_dir();
    (is_stdin || !can_be_reopened).then(|| (metadata.dev(), metadata.ino()))
}

/// As above, of which the system tells no number: standard input.
#[cfg(not(unix))]
pub fn stream(_: &Metadata, is_stdin: bool) -> Option<Stream> {
    is_stdin.then_some((0, 0))
}

/// Standard input, unbuffered.
///
/// # Errors
/// Where the program was started without it.
pub fn input() -> io::Result<File> {
    reopened(0, io::stdin())
}

/// Standard output, unbuffered, with errors that the library's own stream keeps to
/// itself.
///
/// # Errors
/// Where the program was started without it.
pub fn output() -> io::Result<File> {
    reopened(1, io::stdout())
}

#[cfg(unix)]
fn reopened(number: usize, stream: impl std::os::fd::AsFd) -> io::Result<File> {
    if at_start::IS_CLOSED[number].load(std::sync::atomic::Ordering::Relaxed) {
        return Err(io::Error::other("it was closed when the program started"));
    }
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn reopened(_: usize, stream: impl std::os::windows::io::AsHandle) -> io::Result<File> {
    Ok(stream.as_handle().try_clone_to_owned()?.into())
}

#[cfg(unix)]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub static IS_CLOSED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

    // Before `main` the runtime opens /dev/null under each standard number that is
    // free: what is written there is lost, and nothing is read, without a word.
    ctor::declarative::ctor! {
        // Sound: it asks the system two questions, and needs nothing of the runtime.
        #[ctor(unsafe)]
        fn look() {
            use rustix::stdio::{stdin, stdout};
            for (stream, is_closed) in [stdin(), stdout()].into_iter().zip(&IS_CLOSED) {
                let flags = rustix::io::fcntl_getfd(stream);
                is_closed.store(flags.is_err(), Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_is_followed_to_where_it_leads() {
        use std::os::unix::fs::symlink;

        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("folder")).unwrap();
        for (link, target) in [
            ("folder/first", "second"),
            ("folder/second", "../third"),
            ("out", "/dev/stdout"),
            ("circle", "circle"),
        ] {
            symlink(target, path(link)).unwrap();
        }
        let followed = |name: &str| follow(&path(name)).unwrap();
        let third = Target::Path(path("folder/../third"));
        assert_eq!(followed("folder/first"), third);
        assert_eq!(followed("none"), Target::Path(path("none")));
        assert_eq!(followed("out"), Target::Descriptor(1));
        assert!(follow(&path("circle")).is_err());
        for (name, number) in [("/dev/stdin", 0), ("/dev/fd/7", 7)] {
            assert_eq!(follow(Path::new(name)).unwrap(), Target::Descriptor(number));
        }
        let plain = Path::new("1");
        assert_eq!(follow(plain).unwrap(), Target::Path(plain.to_owned()));
    }
}
