//! The standard streams, under all the names that they have.

use std::fs::{self, File};
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

/// Standard output, unbuffered, with errors that the library's own stream keeps to
/// itself.
///
/// # Errors
/// Where the program was started without it.
#[cfg(unix)]
pub fn output() -> io::Result<File> {
    use std::os::fd::AsFd;

    if at_start::OUTPUT_IS_CLOSED.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(io::Error::other("it was closed when the program started"));
    }
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// As above.
#[cfg(windows)]
pub fn output() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}

#[cfg(unix)]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub static OUTPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

    // Before `main` the runtime opens /dev/null under each standard number that is
    // free, and what is written there is lost without a word.
    ctor::declarative::ctor! {
        // Sound: it asks the system one question, and needs nothing of the runtime.
        #[ctor(unsafe)]
        fn look() {
            let output = rustix::stdio::stdout();
            let is_closed = rustix::io::fcntl_getfd(output).is_err();
            OUTPUT_IS_CLOSED.store(is_closed, Ordering::Relaxed);
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
