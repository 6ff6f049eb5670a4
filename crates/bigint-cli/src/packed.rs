//! Compresses output as the name of its file says.

use std::io::{self, Write};
use std::path::Path;

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::failure::Failure;
use crate::form::{self, Packing};
use crate::output::Output;

/// The least number of bytes of text in a Zstandard frame, but for the last.
const FRAME_BYTES: usize = 1 << 20;

/// How hard xz compresses, from 0 to 9 as in its command.
const XZ_PRESET: u32 = 6;

/// A sink for bytes, which are compressed on their way.
pub struct Packed {
    name: String,
    packer: Packer,
}

enum Packer {
    Plain(Output),
    Gzip(GzEncoder<Output>),
    Zstd(Output, Vec<u8>),
    Xz(Box<XzWriter<Output>>),
    Bzip2(BzEncoder<Output>),
}

impl Packed {
    /// Opens the file of this path, or standard output, as [`Output::open`] does.
    ///
    /// # Errors
    /// As for [`Output::open`].
    pub fn open(path: Option<&Path>, in_place: bool) -> Result<Self, Failure> {
        let packing = match path {
            Some(path) => form::of(path)?.1,
            None => Packing::Plain,
        };
        let output = Output::open(path, in_place)?;
        let name = output.name().to_owned();
        let packer = match packing {
            Packing::Plain => Packer::Plain(output),
            Packing::Gzip => Packer::Gzip(GzEncoder::new(output, flate2::Compression::default())),
            Packing::Zstd => Packer::Zstd(output, Vec::new()),
            Packing::Xz => {
                let writer = XzWriter::new(output, XzOptions::with_preset(XZ_PRESET));
                let writer = writer.map_err(|error| Failure::writing(&name, &error))?;
                Packer::Xz(Box::new(writer))
            }
            Packing::Bzip2 => Packer::Bzip2(BzEncoder::new(output, bzip2::Compression::default())),
        };
        Ok(Packed { name, packer })
    }

    /// The name by which errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// As for [`Output::write`].
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let outcome = self.write_all(bytes);
        outcome.map_err(|error| Failure::writing(&self.name, &error))
    }

    /// Makes what was written the file's content.
    ///
    /// # Errors
    /// As for [`Output::finish`].
    pub fn finish(self) -> Result<(), Failure> {
        let ended = match self.packer {
            Packer::Plain(output) => Ok(output),
            Packer::Gzip(writer) => writer.finish(),
            Packer::Zstd(mut output, text) => frame(&mut output, &text).map(|()| output),
            Packer::Xz(writer) => writer.finish(),
            Packer::Bzip2(writer) => writer.finish(),
        };
        ended
            .map_err(|error| Failure::writing(&self.name, &error))?
            .finish()
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.packer {
            Packer::Plain(output) => io::Write::write(output, bytes),
            Packer::Gzip(writer) => writer.write(bytes),
            Packer::Xz(writer) => writer.write(bytes),
            Packer::Bzip2(writer) => writer.write(bytes),
            Packer::Zstd(output, text) => {
                text.extend_from_slice(bytes);
                if text.len() >= FRAME_BYTES {
                    frame(output, text)?;
                    text.clear();
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a frame; frames one after another are one text.
fn frame(output: &mut Output, text: &[u8]) -> io::Result<()> {
    output.write_all(&compress_to_vec(text, CompressionLevel::Fastest))
}
