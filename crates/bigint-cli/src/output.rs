//! The destination of results: standard output, a file written in place, or a file that appears
//! only when it is complete.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::draft::Draft;
use crate::failure::Failure;
use crate::standard::{self, Target};

/// The name by which errors call standard output.
pub const STANDARD_OUTPUT: &str = "standard output";

/// A sink for text.
#[derive(Debug)]
pub struct Output {
    name: String,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// Standard output, a device or a pipe: what is written cannot be taken back.
    Direct(File),
    Draft(Draft),
}

impl Output {
    /// Opens standard output, which is also `-`, or the file of this path, following links.
    ///
    /// A file gets its content only in [`Output::finish`]; until then it stays as it was, for ever
    /// if that is never reached. It keeps its mode, its owner and its links. A file that no other
    /// file can replace is written `in_place` if that is allowed, and refused if not.
    ///
    /// # Errors
    /// [`Failure::Usage`] where there can be no such file, or it must not be
    /// written; [`Failure::Running`] where standard output is closed.
    pub fn open(path: Option<&Path>, in_place: bool) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let name = STANDARD_OUTPUT.to_owned();
            return match standard::output() {
                Ok(stdout) => Ok(Output {
                    name,
                    sink: Sink::Direct(stdout),
                }),
                Err(error) => Err(Failure::writing(&name, &error)),
            };
        };
        let name = path.display().to_string();
        match Sink::open(path, in_place) {
            Ok(sink) => Ok(Output { name, sink }),
            Err(error) => Err(Failure::Usage(format!("{name}: cannot write: {error}"))),
        }
    }

    /// The name by which errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends `text`.
    ///
    /// # Errors
    /// [`Failure::Running`]; [`Failure::ReaderGone`].
    pub fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        let outcome = self.write_all(text);
        outcome.map_err(|error| Failure::writing(&self.name, &error))
    }

    /// Makes what was written the file's content.
    ///
    /// # Errors
    /// [`Failure::Running`]; [`Failure::ReaderGone`].
    pub fn finish(self) -> Result<(), Failure> {
        let outcome = match self.sink {
            Sink::Direct(_) => Ok(()),
            Sink::Draft(draft) => draft.finish(),
        };
        outcome.map_err(|error| Failure::writing(&self.name, &error))
    }
}

impl Write for Output {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Direct(file) => file.write_all(text),
            Sink::Draft(draft) => draft.write(text),
        }
        .map(|()| text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn open(path: &Path, in_place: bool) -> io::Result<Self> {
        let target = match standard::follow(path)? {
            // Opened anew, a file would be written from its beginning.
            Target::Descriptor(1) => return standard::output().map(Sink::Direct),
            Target::Descriptor(_) => {
                let file = File::options().append(true).open(path)?;
                return Ok(Sink::Direct(file));
            }
            Target::Path(target) => target,
        };
        let old = match File::options().write(true).open(&target) {
            Ok(file) => {
                let metadata = file.metadata()?;
                if !metadata.is_file() {
                    return Ok(Sink::Direct(file));
                }
                Some((file, metadata))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Draft::new(target, old, in_place).map(Sink::Draft)
    }
}

/// Prints `text` on standard error, and ignores failure.
pub fn tell(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints `text` to standard output.
///
/// # Errors
/// [`Failure::Running`]; [`Failure::ReaderGone`].
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = Output::open(None, false)?;
    output.write(text.as_bytes())?;
    output.finish()
}
