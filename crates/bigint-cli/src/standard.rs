//! The standard streams, under all their names.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The most links that are followed from link to link, as in the system.
const MAX_LINKS: usize = 40;

/// The target of a path, after symbolic links.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// A descriptor of this process, as of `/dev/stdout`.
    Descriptor(u32),
    /// A path that is no link; it need not exist.
    Path(PathBuf),
}

/// Follows the links of `path` to their end, which need not exist.
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

/// The folder of a path's last part.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The number of a descriptor, if this is its entry in the folder of open descriptors.
fn descriptor(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(folder(path)).ok()?;
    let lists = ["/proc/self/fd", "/dev/fd"];
    let is_list = |list| fs::canonicalize(list).is_ok_and(|list| list == folder);
    lists.into_iter().any(is_list).then_some(number)
}

/// The identity of something that can be read only once: its device, and its number there.
pub type Stream = (u64, u64);

/// The identity of a stream; none for a file that can be opened anew. Standard input is always a
/// stream, as it was opened before.
#[cfg(unix)]
pub fn stream(metadata: &Metadata, is_stdin: bool) -> Option<Stream> {
    use std::os::unix::fs::MetadataExt;
    let can_be_reopened = metadata.is_file() || metadata.is_dir();
    (is_stdin || !can_be_reopened).then(|| (metadata.dev(), metadata.ino()))
}

/// The identity of a stream where the system has no such numbers: standard input's alone.
#[cfg(not(unix))]
pub fn stream(_: &Metadata, is_stdin: bool) -> Option<Stream> {
    is_stdin.then_some((0, 0))
}

/// Standard input, unbuffered.
///
/// # Errors
/// If the program was started without it.
pub fn input() -> io::Result<File> {
    reopened(0, io::stdin())
}

/// Standard output, unbuffered, with errors that the library's own stream keeps to
/// itself.
///
/// # Errors
/// If the program was started without it.
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
