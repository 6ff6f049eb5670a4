//! A file that is written beside its target, and takes the target's place when it is complete.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::{signals, standard};

/// Content that is not yet complete.
///
/// It has no name where the file system can do that, so that nothing is left behind
/// however the program ends. Until [`Draft::finish`] whatever has the target's name
/// keeps it, and its content.
#[derive(Debug)]
pub struct Draft {
    file: File,
    /// The draft's name, where the file system needs one.
    name: Option<TempPath>,
    target: PathBuf,
    old: Option<Old>,
}

/// The file that is there already.
#[derive(Debug)]
struct Old {
    file: File,
    /// Whether the draft equals the old file in everything but the content, and so can take its
    /// place.
    can_be_replaced: bool,
    /// Whether the draft may be copied into it.
    in_place: bool,
}

impl Draft {
    /// Begins a draft of `target`; `old` is the target if it exists: an ordinary file, open for
    /// writing. Where no other file can replace it, it is written `in_place`, if that is allowed.
    ///
    /// # Errors
    /// Where neither the target's folder takes new files, nor there is one to
    /// write into; where the target cannot be replaced, and not be written in place.
    pub fn new(target: PathBuf, old: Option<(File, Metadata)>, in_place: bool) -> io::Result<Self> {
        signals::watch();
        let folder = standard::folder(&target);
        clear(folder);
        // As any new file: the umask takes away what it must. What replaces another
        // file is nobody else's until it has that one's owner and mode.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let made = unnamed(folder, mode).map(|file| (file, None));
        let made = made.or_else(|_| named(folder, mode).map(|(file, name)| (file, Some(name))));
        let Some((old, metadata)) = old else {
            let (file, name) = made?;
            return Ok(Draft {
                file,
                name,
                target,
                old: None,
            });
        };
        let lacks = match &made {
            Ok((file, _)) => take_after(file, &old, &metadata).err(),
            Err(error) => Some(io::Error::new(
                error.kind(),
                format!("its folder takes no new file: {error}"),
            )),
        };
        let can_be_replaced = match lacks {
            None => true,
            Some(_) if in_place => false,
            Some(why) => {
                let why = format!(
                    "{why}; --in-place writes into the file as it is, \
                     of which a full disk or a kill then leaves a part"
                );
                return Err(io::Error::other(why));
            }
        };
        let (file, name) = match made {
            Ok(made) => made,
            Err(_) => (tempfile::tempfile()?, None),
        };
        Ok(Draft {
            file,
            name,
            target,
            old: Some(Old {
                file: old,
                can_be_replaced,
                in_place,
            }),
        })
    }

    /// Appends `text`.
    ///
    /// # Errors
    /// As writing.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.write_all(text)
    }

    /// Makes the complete draft the target's content, on the disk and not only in memory
    /// that waits to be written there.
    ///
    /// # Errors
    /// If it cannot get the target's name: the error says what it is called instead.
    /// If it cannot be copied, the target is left incomplete, and the error says so.
    pub fn finish(self) -> io::Result<()> {
        let Draft {
            file,
            name,
            target,
            old,
        } = self;
        on_disk(file.sync_all())?;
        let mut unfinished = signals::unfinished();
        let named = name.as_deref().map(Path::to_path_buf);
        let outcome = match old {
            Some(old) if !old.can_be_replaced => copy(file, old.file),
            old => match (put_at(&file, name, &target), old) {
                (Ok(()), _) => placed(&target),
                // Not every file that can be written can be replaced: another user's in
                // a folder that is sticky, one that is a mount point.
                (Err(_), Some(old)) if old.in_place => copy(file, old.file),
                (Err(unplaced), _) => Err(unplaced.keep(&target)),
            },
        };
        unfinished.retain(|name| Some(name) != named.as_ref());
        outcome
    }
}

/// A draft that could not get its target's name, and the name that it has.
struct Unplaced {
    error: io::Error,
    name: Option<TempPath>,
}

impl Unplaced {
    /// Gives the draft a name that it keeps, and answers an error that says so.
    fn keep(self, target: &Path) -> io::Error {
        let Unplaced { error, name } = self;
        let Some(mut name) = name else {
            return error;
        };
        for number in 1..=MOST_KEPT {
            let mut kept = target.as_os_str().to_owned();
            kept.push(format!(".results.{number}"));
            match name.persist_noclobber(&kept) {
                Ok(()) => {
                    let what = format!("{error}; the results are in {}", kept.display());
                    return io::Error::new(error.kind(), what);
                }
                Err(failed) => name = failed.path,
            }
        }
        error
    }
}

/// The most results of one target that may be kept beside it.
const MOST_KEPT: usize = 1000;

/// Takes the error of a file system that cannot write down to the disk for success.
fn on_disk(outcome: io::Result<()>) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, Unsupported};
    match outcome {
        Err(error) if matches!(error.kind(), InvalidInput | Unsupported) => Ok(()),
        outcome => outcome,
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

/// The path by which a file without a name can be given one. A container may lack it.
#[cfg(target_os = "linux")]
fn proc_name(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives a file without a name the name `name`, which must be free.
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

/// The names that drafts have in a folder; they say what the file is, should it stay.
fn unfinished_names(folder: &Path) -> impl Iterator<Item = PathBuf> {
    (1_u32..).map(|number| folder.join(format!(".bigint-{number}.unfinished")))
}

/// How many names of drafts are checked for files that were left behind.
const CLEARED: usize = 16;

/// Removes drafts that were left behind in a folder by commands that were killed. Each
/// command holds a lock on its own.
fn clear(folder: &Path) {
    for name in unfinished_names(folder).take(CLEARED) {
        let is_file = fs::symlink_metadata(&name).is_ok_and(|metadata| metadata.is_file());
        let file = is_file.then(|| File::options().write(true).open(&name));
        if let Some(Ok(file)) = file
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(&name);
        }
    }
}

/// Calls `make` with names for drafts in a folder until one is free.
fn at_free_name<T>(
    folder: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(T, TempPath)> {
    for name in unfinished_names(folder) {
        // Before there is a file: what asks for memory may end the program.
        let mut name = TempPath::try_from_path(name)?;
        name.disable_cleanup(true);
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                let made = made?;
                name.disable_cleanup(false);
                return Ok((made, name));
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// A file in `folder` under a name of its own, which a signal removes.
fn named(folder: &Path, mode: u32) -> io::Result<(File, TempPath)> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut unfinished = signals::unfinished();
    let (file, name) = at_free_name(folder, |name| {
        let file = options.open(name)?;
        // Where there are no locks, nobody takes it for one that was left behind.
        let _ = file.lock();
        match is_removed(&file)? {
            true => Err(io::ErrorKind::AlreadyExists.into()),
            false => Ok(file),
        }
    })?;
    unfinished.push(name.to_path_buf());
    Ok((file, name))
}

/// Whether somebody removed a file as left behind before it was locked.
#[cfg(unix)]
fn is_removed(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink() == 0)
}

#[cfg(not(unix))]
fn is_removed(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Gives the draft its target's name, which may be taken.
fn put_at(file: &File, name: Option<TempPath>, target: &Path) -> Result<(), Unplaced> {
    let name = match name {
        Some(name) => name,
        None if link(file, target).is_ok() => return Ok(()),
        None => {
            let _ = file.lock();
            match at_free_name(standard::folder(target), |name| link(file, name)) {
                Ok(((), name)) => name,
                Err(error) => return Err(Unplaced { error, name: None }),
            }
        }
    };
    name.persist(target).map_err(|failed| Unplaced {
        error: failed.error,
        name: Some(failed.path),
    })
}

/// Writes a file's new name to the disk.
fn placed(target: &Path) -> io::Result<()> {
    match File::open(standard::folder(target)) {
        Ok(folder) => on_disk(folder.sync_all()),
        // A folder that nobody may read cannot be told.
        Err(_) => Ok(()),
    }
}

/// Gives `draft` all that `old` has but its content.
///
/// # Errors
/// Names the first thing that the draft could not be given.
#[cfg(unix)]
fn take_after(draft: &File, old: &File, metadata: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    if metadata.nlink() != 1 {
        let why = "it has another name, a hard link, which a new file would not have";
        return Err(io::Error::other(why));
    }
    let owner = |file: &Metadata| (file.uid(), file.gid());
    if owner(&draft.metadata()?) != owner(metadata) {
        // What was refused is seen below.
        let _ = fchown(draft, Some(metadata.uid()), Some(metadata.gid()));
    }
    let _ = draft.set_permissions(metadata.permissions());
    copy_attributes(draft, old);
    let taken = draft.metadata()?;
    let lacked = [
        ("owner", owner(&taken) != owner(metadata)),
        ("attributes", attributes(draft) != attributes(old)),
        ("mode", taken.mode() != metadata.mode()),
    ];
    match lacked.iter().find(|(_, is_lacked)| *is_lacked) {
        Some((what, _)) => Err(io::Error::other(format!(
            "a new file cannot be given its {what}"
        ))),
        None => Ok(()),
    }
}

/// Extended attributes, by name.
#[cfg(unix)]
type Attributes = std::collections::BTreeMap<std::ffi::OsString, Vec<u8>>;

/// The extended attributes of a file: access lists, labels. `None` where the file system has none.
#[cfg(unix)]
fn attributes(file: &File) -> Option<Attributes> {
    use xattr::FileExt;
    let of = |name| Some((file.get_xattr(&name).ok()??, name));
    let names = file.list_xattr().ok()?;
    names
        .map(|name| of(name).map(|(value, name)| (name, value)))
        .collect()
}

/// Gives `draft` the attributes of `old` as far as it takes them.
#[cfg(unix)]
fn copy_attributes(draft: &File, old: &File) {
    use xattr::FileExt;
    let (Some(has), Some(wanted)) = (attributes(draft), attributes(old)) else {
        return;
    };
    for name in has.keys().filter(|name| !wanted.contains_key(*name)) {
        let _ = draft.remove_xattr(name);
    }
    for (name, value) in wanted
        .iter()
        .filter(|(name, value)| has.get(*name) != Some(value))
    {
        let _ = draft.set_xattr(name, value);
    }
}

#[cfg(not(unix))]
fn take_after(draft: &File, _: &File, metadata: &Metadata) -> io::Result<()> {
    draft.set_permissions(metadata.permissions())
}

/// Makes `draft`'s content that of `old`.
fn copy(mut draft: File, mut old: File) -> io::Result<()> {
    draft.rewind()?;
    make_room(&old, draft.metadata()?.len())?;
    let copied = io::copy(&mut draft, &mut old).and_then(|length| old.set_len(length));
    copied
        .and_then(|()| on_disk(old.sync_all()))
        .map_err(|error| io::Error::new(error.kind(), format!("{error}; it is incomplete now")))
}

/// Reserves space, so that a full disk is an error before anything is overwritten.
#[cfg(target_os = "linux")]
fn make_room(file: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes.max(1)) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        // Not every file system can tell.
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn make_room(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}
