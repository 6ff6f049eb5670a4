//! NumPy's files of one array: rows of unsigned words, least significant word first, of which each
//! row is a number; or integers, one after another.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

use bigint_host::{Integers, Limb};

use crate::failure::{Failure, SourcePlace};
use crate::packed::Packed;
use crate::rows::{Numbers, Rows, Table};
use crate::window::Results;

const MAGIC: &[u8] = b"\x93NUMPY";

/// About how many bytes of an array are read at once.
const BLOCK_BYTES: usize = 1 << 20;

/// The header of an array: type and shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    rows: u64,
    /// The number of words in a row.
    words: usize,
    /// The number of bytes in a word.
    bytes: usize,
    is_signed: bool,
    is_big_endian: bool,
}

/// The numbers of an array, read block by block.
pub struct Npy {
    path: String,
    file: BufReader<File>,
    header: Header,
    read: u64,
}

impl Npy {
    /// Opens the array in a file.
    ///
    /// # Errors
    /// [`Failure::Input`] where it is no array of integers.
    pub fn open(path: String, file: File) -> Result<Self, Failure> {
        let mut file = BufReader::new(file);
        match header(&mut file) {
            Ok(header) => Ok(Npy {
                path,
                file,
                header,
                read: 0,
            }),
            Err(what) => Err(wrong(&path, 0, &what)),
        }
    }
}

fn wrong(path: &str, row: u64, what: &str) -> Failure {
    let place = SourcePlace {
        source: path.to_owned(),
        line: row + 1,
        column: 1,
    };
    Failure::Input(place, what.to_owned())
}

fn header(file: &mut impl Read) -> Result<Header, String> {
    let cut = |error: std::io::Error| format!("cannot read: {error}");
    let mut begin = [0; 8];
    file.read_exact(&mut begin).map_err(cut)?;
    if !begin.starts_with(MAGIC) {
        return Err("not a file of NumPy's".to_owned());
    }
    let mut length = [0; 4];
    let length_bytes = if begin[6] == 1 { 2 } else { 4 };
    file.read_exact(&mut length[..length_bytes]).map_err(cut)?;
    let mut text = Vec::new();
    let most = u64::from(u32::from_le_bytes(length));
    file.take(most).read_to_end(&mut text).map_err(cut)?;
    let text = String::from_utf8_lossy(&text);
    parsed(&text).ok_or_else(|| {
        format!(
            "an array of {}: integers are rows of unsigned words, as of np.uint32 and of shape \
             (rows, words), or one-dimensional",
            text.trim()
        )
    })
}

/// Parses a header such as `{'descr': '<u4', 'fortran_order': False, 'shape': (3, 8), }`.
fn parsed(text: &str) -> Option<Header> {
    let value = |key: &str| Some(text.split_once(&format!("'{key}':"))?.1.trim_start());
    let description = value("descr")?.strip_prefix('\'')?.split_once('\'')?.0;
    let (order, kind) = description.split_at_checked(1)?;
    let (kind, bytes) = kind.split_at_checked(1)?;
    let bytes = bytes
        .parse()
        .ok()
        .filter(|bytes| [1, 2, 4, 8].contains(bytes))?;
    let shape = value("shape")?.strip_prefix('(')?.split_once(')')?.0;
    let shape = shape
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let shape: Vec<u64> = shape.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let is_signed = match kind {
        "u" => false,
        "i" => true,
        _ => return None,
    };
    let words = match shape[..] {
        [_] => 1,
        [_, words] if !is_signed && value("fortran_order")?.starts_with("False") => words,
        _ => return None,
    };
    Some(Header {
        rows: shape[0],
        words: usize::try_from(words).ok()?,
        bytes,
        is_signed,
        is_big_endian: order == ">",
    })
}

impl Table for Npy {
    fn next(&mut self) -> Result<Option<Vec<Rows>>, Failure> {
        let Header {
            words, bytes, rows, ..
        } = self.header;
        let row_bytes = words.saturating_mul(bytes);
        let count = (rows - self.read).min((BLOCK_BYTES / row_bytes.max(1)).max(1) as u64);
        if count == 0 {
            return Ok(None);
        }
        let mut block: Vec<u8> = bigint_cpu::zeroed(count as usize * row_bytes)?;
        if let Err(error) = self.file.read_exact(&mut block) {
            return Err(wrong(
                &self.path,
                self.read,
                &format!("cannot read: {error}"),
            ));
        }
        if self.header.is_big_endian {
            block.chunks_exact_mut(bytes).for_each(<[u8]>::reverse);
        }
        let mut numbers = Integers::new();
        let mut limbs: Vec<Limb> = Vec::new();
        for row in 0..count as usize {
            let row = &block[row * row_bytes..][..row_bytes];
            let negative = self.header.is_signed && row.last().is_some_and(|top| top >> 7 == 1);
            limbs.clear();
            if negative {
                let mut word = [0xff; 8];
                word[..bytes].copy_from_slice(row);
                let magnitude = i64::from_le_bytes(word).unsigned_abs();
                limbs.extend([magnitude as Limb, (magnitude >> 32) as Limb]);
            } else {
                limbs.extend(row.chunks(4).map(|chunk| {
                    let mut limb = [0; 4];
                    limb[..chunk.len()].copy_from_slice(chunk);
                    Limb::from_le_bytes(limb)
                }));
            }
            numbers.push(negative, &limbs)?;
        }
        let before = self.read;
        self.read += count;
        Ok(Some(vec![Rows::Numbers(Numbers {
            numbers,
            before,
            ..Numbers::default()
        })]))
    }
}

/// Writes an array with as many words of 32 bits to a row as the longest number has. That is known
/// only at the end; until then the numbers are in a file without a name.
pub struct Writer {
    output: Packed,
    numbers: BufWriter<File>,
    count: u64,
    words: usize,
}

impl Writer {
    /// Begins an array that will be written to `output`.
    ///
    /// # Errors
    /// [`Failure::Running`] where there is no place for the numbers until then.
    pub fn new(output: Packed) -> Result<Self, Failure> {
        let file =
            tempfile::tempfile().map_err(|error| Failure::writing("a temporary file", &error))?;
        Ok(Writer {
            output,
            numbers: BufWriter::new(file),
            count: 0,
            words: 1,
        })
    }

    /// Appends results.
    ///
    /// # Errors
    /// [`Failure::Running`] where a result is negative, or a row has none.
    pub fn write(&mut self, results: &Results) -> Result<(), Failure> {
        for line in 0..results.lines {
            let refused = |what| {
                let row = self.count + 1;
                let what = format!(
                    "{}: row {row} is {what}, which an .npy file cannot hold",
                    self.output.name()
                );
                Err(Failure::Running(what))
            };
            let Some(row) = results.row(line) else {
                return refused("null");
            };
            if results.values.is_negative(row) {
                return refused("negative");
            }
            let magnitude = results.values.magnitude(row);
            let length = (magnitude.len() as u32).to_le_bytes();
            let limbs = magnitude.iter().flat_map(|limb| limb.to_le_bytes());
            let bytes: Vec<u8> = length.into_iter().chain(limbs).collect();
            let written = self.numbers.write_all(&bytes);
            written.map_err(|error| Failure::writing("a temporary file", &error))?;
            self.words = self.words.max(magnitude.len());
            self.count += 1;
        }
        Ok(())
    }

    /// Writes the array.
    ///
    /// # Errors
    /// As writing.
    pub fn finish(mut self) -> Result<(), Failure> {
        let between = |error: std::io::Error| Failure::writing("a temporary file", &error);
        let mut numbers = self
            .numbers
            .into_inner()
            .map_err(|error| between(error.into_error()))?;
        numbers.rewind().map_err(between)?;
        let mut numbers = BufReader::new(numbers);
        let (count, words) = (self.count, self.words);
        let mut header =
            format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({count}, {words}), }}");
        // The numbers begin at a multiple of 64 bytes.
        let padding = 64 - (10 + header.len() + 1) % 64;
        header += &" ".repeat(padding % 64);
        header.push('\n');
        self.output.put(MAGIC)?;
        self.output.put(&[1, 0])?;
        self.output.put(&(header.len() as u16).to_le_bytes())?;
        self.output.put(header.as_bytes())?;
        let mut row = vec![0; 4 * words];
        let mut block = Vec::with_capacity(BLOCK_BYTES + row.len());
        for _ in 0..count {
            let mut length = [0; 4];
            numbers.read_exact(&mut length).map_err(between)?;
            let length = 4 * u32::from_le_bytes(length) as usize;
            row.fill(0);
            numbers.read_exact(&mut row[..length]).map_err(between)?;
            block.extend_from_slice(&row);
            if block.len() >= BLOCK_BYTES {
                self.output.put(&block)?;
                block.clear();
            }
        }
        self.output.put(&block)?;
        self.output.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_what_an_array_is_of() {
        let header = |rows, words, bytes| Header {
            rows,
            words,
            bytes,
            is_signed: false,
            is_big_endian: false,
        };
        let text = |descr: &str, order: &str, shape: &str| {
            parsed(&format!(
                "{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }} \n"
            ))
        };
        assert_eq!(text("<u4", "False", "(3, 8)"), Some(header(3, 8, 4)));
        assert_eq!(text("|u1", "False", "(0, 32)"), Some(header(0, 32, 1)));
        assert_eq!(text("<u8", "True", "(5,)"), Some(header(5, 1, 8)));
        let signed = Header {
            is_signed: true,
            is_big_endian: true,
            ..header(5, 1, 2)
        };
        assert_eq!(text(">i2", "False", "(5,)"), Some(signed));
        for (descr, order, shape) in [
            ("<i4", "False", "(3, 8)"),
            ("<u4", "True", "(3, 8)"),
            ("<u4", "False", "()"),
            ("<u4", "False", "(1, 2, 3)"),
            ("<f8", "False", "(3,)"),
            ("|O", "False", "(3,)"),
        ] {
            assert_eq!(text(descr, order, shape), None, "{descr} {order} {shape}");
        }
    }
}
