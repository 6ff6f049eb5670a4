//! Images of modules, libraries and linkers, as programs pass them, and the logs of their
//! compilation.

use super::raw::{HostPointer, Text, Values};
use crate::error::{Code, Result};
use crate::state::fatbin;

/// `CU_JIT_INFO_LOG_BUFFER`, `..._SIZE_BYTES`, and the same for errors.
const INFO_LOG: u32 = 3;
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

/// The first bytes of machine code: a cubin is an ELF file.
const ELF: [u8; 4] = *b"\x7fELF";
const MACHINE_CODE: &str = "the image is machine code; the simulator takes PTX";

/// The PTX of a file: its text, or that of the fat binary in it.
pub fn read_file(path: Text) -> Result<Vec<u8>> {
    let path = path.string()?;
    let missing = |why| Code::FILE_NOT_FOUND.because(format!("cannot read {path}: {why}"));
    let file = std::fs::read(&path).map_err(missing)?;
    if file.starts_with(&ELF) {
        return Err(Code::NO_BINARY_FOR_GPU.because(MACHINE_CODE));
    }
    fatbin::unpack(file).map_err(|(code, why)| code.because(why))
}

/// The PTX of an image: its text, or that of the fat binary in it.
pub fn read_image(image: Text, log: &mut Log) -> Result<Vec<u8>> {
    let magic = image.magic()?;
    if fatbin::MAGICS.contains(&magic) {
        let read = |start, bytes| {
            let span = HostPointer::from_address(start).span(bytes)?;
            Ok(span.with_bytes(<[u8]>::to_vec))
        };
        return fatbin::in_memory(image.address(), read).map_err(|(code, why)| {
            let logged = log.error(why);
            logged.err().unwrap_or_else(|| code.because(why))
        });
    }
    if magic == ELF {
        log.error(MACHINE_CODE)?;
        return Err(Code::NO_BINARY_FOR_GPU.because(MACHINE_CODE));
    }
    image.bytes()
}

/// The text of PTX, without the zeros that may end it.
pub fn text(source: Vec<u8>) -> Result<String, (Code, String)> {
    let not_text = |_| (Code::INVALID_IMAGE, "the image is not text".to_owned());
    let text = String::from_utf8(source).map_err(not_text)?;
    Ok(text.trim_end_matches('\0').to_owned())
}

/// The log buffers that a program passed among the JIT options.
pub struct Log {
    values: Option<Values<HostPointer>>,
    info: Buffer,
    error: Buffer,
}

/// A buffer, and the option that takes back how much of it was used.
#[derive(Default)]
struct Buffer {
    start: Option<HostPointer>,
    bytes: Option<(usize, u32)>,
}

impl Log {
    /// The log of a program that passed no buffers.
    pub fn none() -> Log {
        Log {
            values: None,
            info: Buffer::default(),
            error: Buffer::default(),
        }
    }

    /// The buffers among the options that a program passed. Other options steer a compiler
    /// that is not there, so their values are not looked at.
    pub fn read(count: u32, options: &Values<u32>, values: Values<HostPointer>) -> Result<Log> {
        let mut log = Log::none();
        for index in 0..count as usize {
            let buffer = match options.get(index)? {
                INFO_LOG | INFO_LOG_BYTES => &mut log.info,
                ERROR_LOG | ERROR_LOG_BYTES => &mut log.error,
                _ => continue,
            };
            let value = values.get(index)?;
            match options.get(index)? {
                INFO_LOG | ERROR_LOG => buffer.start = Some(value),
                // The size is passed in place of a pointer, and is 32 bits wide.
                _ => buffer.bytes = Some((index, value.address() as u32)),
            }
        }
        log.values = Some(values);
        Ok(log)
    }

    fn has_error_buffer(&self) -> bool {
        matches!((&self.error.start, self.error.bytes), (Some(_), Some((_, bytes))) if bytes > 0)
    }

    /// Writes the log of a compilation, and returns what came of it.
    pub fn close<T>(&mut self, compiled: Result<T, (Code, String)>) -> Result<T> {
        let (code, why) = match compiled {
            Ok(made) => return self.error("").map(|()| made),
            Err(error) => error,
        };
        self.error(&why)?;
        Err(if self.has_error_buffer() {
            code.because("why is in the log that the program asked for")
        } else {
            code.because(why)
        })
    }

    /// Writes the error log; the info log stays empty.
    fn error(&mut self, message: &str) -> Result {
        let Some(values) = &self.values else {
            return Ok(());
        };
        for (buffer, message) in [(&self.info, ""), (&self.error, message)] {
            let (Some(start), Some((index, bytes))) = (buffer.start, buffer.bytes) else {
                continue;
            };
            if bytes == 0 {
                continue;
            }
            let shown = message.len().min(bytes as usize - 1);
            start.span(shown + 1)?.with_bytes_mut(|target| {
                target[..shown].copy_from_slice(&message.as_bytes()[..shown]);
                target[shown] = 0;
            });
            values.set(index, HostPointer::from_address(shown as u64))?;
        }
        Ok(())
    }
}
