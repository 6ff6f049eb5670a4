//! A file that is written aside, and takes its place when it is complete.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::{signals, standard};

/// What is written before it is complete.
///
/// It has no name where the file system can do that, so that nothing is left behind
/// however the program ends. Until [`Draft::finish`] whatever has the target's name
/// keeps it, and its content.
#[derive(Debug)]
pub struct Draft {
    file: File,
    /// The name it has nonetheless.
    name: Option<TempPath>,
    target: PathBuf,
    old: Option<Old>,
}

/// The file that is there already.
#[derive(Debug)]
struct Old {
    file: File,
    /// Whether the draft is all that the file is, but for the content, and can be
    /// put in its place. If not, it is copied into the file.
    can_be_replaced: bool,
}

impl Draft {
    /// A draft of `target`, which is `old` if that is there: open for writing, and
    /// an ordinary file.
    ///
    /// # Errors
    /// Where neither the target's folder takes new files, nor there is one to
    /// write into.
    pub fn new(target: PathBuf, old: Option<(File, Metadata)>) -> io::Result<Self> {
        signals::watch();
        let folder = standard::folder(&target);
        // As any new file: the umask takes away what it must. What replaces another
        // file is nobody else's until it has that one's owner and mode.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let (file, name, is_in_place) = match unnamed(folder, mode) {
            Ok(file) => (file, None, true),
            Err(_) => match named(folder, mode) {
                Ok((file, name)) => (file, Some(name), true),
                Err(_) if old.is_some() => (tempfile::tempfile()?, None, false),
                Err(error) => return Err(error),
            },
        };
        let old = old.map(|(old, metadata)| Old {
            can_be_replaced: is_in_place && take_after(&file, &old, &metadata).unwrap_or(false),
            file: old,
        });
        Ok(Draft {
            file,
            name,
            target,
            old,
        })
    }

    /// Appends `text`.
    ///
    /// # Errors
    /// As writing.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.write_all(text)
    }

    /// Makes the complete draft the target's content.
    ///
    /// # Errors
    /// Where it cannot get the target's name. Where it cannot be copied, which is
    /// told, the target is left incomplete.
    pub fn finish(self) -> io::Result<()> {
        let mut unfinished = signals::unfinished();
        let named = self.name.as_deref().map(Path::to_path_buf);
        let outcome = match self.old {
            None => put_at(&self.file, self.name, &self.target),
            Some(old) => {
                // Not every file that can be written can be replaced: another
                // user's in a folder that is sticky, one that is a mount point.
                if old.can_be_replaced && put_at(&self.file, self.name, &self.target).is_ok() {
                    Ok(())
                } else {
                    copy(self.file, old.file).map_err(|error| {
                        io::Error::new(error.kind(), format!("{error}; it is incomplete now"))
                    })
                }
            }
        };
        unfinished.retain(|name| Some(name) != named.as_ref());
        outcome
    }
}

/// A file without a name in `folder`, which can be given one.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path, mode: u32) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(mode))?.into();
    fs::metadata(proc_name(&file))?;
    Ok(file)
}

/// Where a file without a name can be found to get one. A container may lack it.
#[cfg(target_os = "linux")]
fn proc_name(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives a file without a name this one, which must be free.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    let flags = AtFlags::SYMLINK_FOLLOW;
    Ok(rustix::fs::linkat(CWD, proc_name(file), CWD, name, flags)?)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path, _: u32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Names that say what the file is, should it stay.
fn unfinished_names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bigint-").suffix(".unfinished");
    builder
}

/// A file in `folder` under a name of its own, which a signal removes.
fn named(folder: &Path, mode: u32) -> io::Result<(File, TempPath)> {
    let mut unfinished = signals::unfinished();
    let mut names = unfinished_names();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        names.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    let (file, name) = names.tempfile_in(folder)?.into_parts();
    unfinished.push(name.to_path_buf());
    Ok((file, name))
}

/// Gives the draft its target's name, which may be taken.
fn put_at(file: &File, name: Option<TempPath>, target: &Path) -> io::Result<()> {
    let name = match name {
        Some(name) => name,
        None if link(file, target).is_ok() => return Ok(()),
        None => {
            let folder = standard::folder(target);
            let named = unfinished_names().make_in(folder, |name| link(file, name))?;
            named.into_temp_path()
        }
    };
    name.persist(target).map_err(|error| error.error)
}

/// Makes `draft` what `old` is, but for its content; answers whether it is.
#[cfg(unix)]
fn take_after(draft: &File, old: &File, metadata: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let owner = |file: &Metadata| (file.uid(), file.gid());
    if owner(&draft.metadata()?) != owner(metadata) {
        fchown(draft, Some(metadata.uid()), Some(metadata.gid()))?;
    }
    draft.set_permissions(metadata.permissions())?;
    let taken = draft.metadata()?;
    Ok(metadata.nlink() == 1
        && owner(&taken) == owner(metadata)
        && taken.mode() == metadata.mode()
        && attributes(draft) == attributes(old))
}

/// What else a file is: who else may read it, its labels. `None` where the file
/// system has nothing of the kind.
#[cfg(unix)]
fn attributes(file: &File) -> Option<Vec<(std::ffi::OsString, Vec<u8>)>> {
    use xattr::FileExt;
    let of = |name| Some((file.get_xattr(&name).ok()??, name));
    let names = file.list_xattr().ok()?;
    names
        .map(|name| of(name).map(|(value, name)| (name, value)))
        .collect()
}

#[cfg(not(unix))]
fn take_after(draft: &File, _: &File, metadata: &Metadata) -> io::Result<bool> {
    draft.set_permissions(metadata.permissions())?;
    Ok(true)
}

/// Makes `draft`'s content that of `old`.
fn copy(mut draft: File, mut old: File) -> io::Result<()> {
    draft.rewind()?;
    let length = io::copy(&mut draft, &mut old)?;
    old.set_len(length)
}
