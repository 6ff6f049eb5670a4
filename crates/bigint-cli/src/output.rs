//! Where results go: standard output, or a file that appears only when complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// The unfinished file that an interrupt must remove.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The exit code of a program ended by SIGINT, as shells report it.
const INTERRUPTED: i32 = 130;

/// A sink for text.
#[derive(Debug)]
pub struct Output {
    name: String,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    /// A device, a pipe: there is nothing to put in its place.
    Special(File),
    /// Written beside the target, and renamed once complete.
    Replacing(NamedTempFile, PathBuf),
}

impl Output {
    /// Standard output, or a file.
    ///
    /// The file gets its name only in [`Output::finish`]; until then, and for
    /// ever where that is not reached, whatever had the name keeps it.
    ///
    /// # Errors
    /// [`Failure::Usage`] where no such file can be made.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Output {
                name: "standard output".to_owned(),
                sink: Sink::Stdout(io::stdout()),
            });
        };
        let name = path.display().to_string();
        let sink = Sink::open(path);
        let sink =
            sink.map_err(|error| Failure::Usage(format!("{name}: cannot create: {error}")))?;
        Ok(Output { name, sink })
    }

    /// Appends `text`.
    ///
    /// # Errors
    /// [`Failure::Running`]; [`Failure::ReaderGone`].
    pub fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        let outcome = match &mut self.sink {
            Sink::Stdout(stdout) => stdout.write_all(text),
            Sink::Special(file) => file.write_all(text),
            Sink::Replacing(file, _) => file.write_all(text),
        };
        outcome.map_err(|error| Failure::writing(&self.name, &error))
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// [`Failure::Running`]; [`Failure::ReaderGone`].
    pub fn finish(self) -> Result<(), Failure> {
        let outcome = match self.sink {
            Sink::Stdout(mut stdout) => stdout.flush(),
            Sink::Special(mut file) => file.flush(),
            Sink::Replacing(file, target) => {
                let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
                let outcome = file.persist(target);
                *unfinished = None;
                outcome.map(drop).map_err(|error| error.error)
            }
        };
        outcome.map_err(|error| Failure::writing(&self.name, &error))
    }
}

impl Sink {
    fn open(path: &Path) -> io::Result<Self> {
        let target = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => {
                return Ok(Sink::Special(File::options().write(true).open(path)?));
            }
            // Renaming would replace a symbolic link, not the file it leads to.
            Ok(_) => fs::canonicalize(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        remove_unfinished_on_interrupt();
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".bigint-").suffix(".unfinished");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: the umask takes away what it must.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder)?;
        *unfinished = Some(file.path().to_owned());
        Ok(Sink::Replacing(file, target))
    }
}

fn remove_unfinished_on_interrupt() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Where a handler cannot be set, an interrupt leaves the unfinished file
        // behind, under a name that says so. No reason to refuse the work.
        let _ = ctrlc::set_handler(|| {
            let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(path) = &*unfinished {
                let _ = fs::remove_file(path);
            }
            std::process::exit(INTERRUPTED);
        });
    });
}

/// Prints `text` to standard output.
///
/// # Errors
/// [`Failure::Running`]; [`Failure::ReaderGone`].
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = Output::open(None)?;
    output.write(text.as_bytes())?;
    output.finish()
}
