//! A checkpoint: how far a search is, in a file that a kill at any moment leaves whole.
//!
//! A line of JSON, the [`Header`]; then little-endian numbers: of each walk its start, 32 bits, and the limbs of its `x` and `y`;
//! of each known point its key, 64 bits, and its start, 32 bits; at the end SHA-256 of all before.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::field::Field;
use crate::search::{Count, Known, Search, State};
use crate::walkers::Shape;

/// What a checkpoint begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The problem and the method. A search for another one does not go on from here.
    pub job: String,
    /// The seed of starts and jumps.
    pub seed: u64,
    /// The walks.
    pub groups: usize,
    /// Walks of a group.
    pub walks: usize,
    /// Bits that distinguish points.
    pub bits: u32,
    /// Room for points of a group.
    pub records: usize,
    /// How far it is.
    pub count: Count,
    /// Known points.
    pub known: usize,
}

impl Header {
    /// The walks.
    pub fn shape(&self) -> Shape {
        Shape {
            groups: self.groups,
            walks: self.walks,
            bits: self.bits,
            records: self.records,
        }
    }
}

/// A checkpoint that was read: its header, and the numbers behind it.
#[derive(Debug)]
pub struct Checkpoint {
    /// The header.
    pub header: Header,
    path: PathBuf,
    numbers: Vec<u8>,
}

/// Bytes of a known point.
const KNOWN: usize = 12;

impl Checkpoint {
    /// The checkpoint of a file, if it is there.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] where it is of another job, or damaged; [`Error::File`].
    pub fn read(path: &Path, job: &str) -> Result<Option<Self>, Error> {
        let wrong = |what: &str| Error::checkpoint(path, what);
        let mut bytes = Vec::new();
        match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::file(path, source)),
            Ok(_) => {}
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or_else(|| wrong("it is no checkpoint of discrete-logarithm"))?;
        let header: Header = serde_json::from_slice(&bytes[..end])
            .map_err(|_| wrong("it is no checkpoint of discrete-logarithm"))?;
        let behind = bytes.len().checked_sub(32).filter(|&at| at > end);
        let behind = behind.ok_or_else(|| wrong("it is damaged: it ends early"))?;
        if Sha256::digest(&bytes[..behind])[..] != bytes[behind..] {
            return Err(wrong("it is damaged: its sum is another"));
        }
        if header.job != job {
            return Err(wrong(&format!("it is of another search, {}", header.job)));
        }
        bytes.truncate(behind);
        Ok(Some(Checkpoint {
            header,
            path: path.to_owned(),
            numbers: bytes.split_off(end + 1),
        }))
    }

    /// The search's state, for a field of this length.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] where there are other numbers than the header says.
    pub fn state<const LIMBS: usize>(self) -> Result<State<LIMBS>, Error> {
        let Header { count, known, .. } = self.header;
        let walks = self.header.shape().count();
        let of_walk = 4 + 8 * LIMBS;
        if self.numbers.len() != walks * of_walk + known * KNOWN {
            return Err(Error::checkpoint(
                &self.path,
                "it has other numbers than it says",
            ));
        }
        let limb = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let (of_walks, of_known) = self.numbers.split_at(walks * of_walk);
        let rows = of_walks.chunks_exact(of_walk);
        let (starts, points) = rows
            .map(|row| {
                let coordinate =
                    |at| std::array::from_fn(|i| limb(&row[4 + 4 * (at * LIMBS + i)..]));
                (limb(row), [coordinate(0), coordinate(1)])
            })
            .unzip();
        let rows = of_known.chunks_exact(KNOWN);
        let known: Known = rows
            .map(|row| {
                let key = u64::from(limb(row)) | u64::from(limb(&row[4..])) << 32;
                (key, limb(&row[8..]))
            })
            .collect();
        Ok((starts, points, known, count))
    }
}

/// Writes to a file, and sums up what it writes.
struct Summed<W> {
    to: W,
    sum: Sha256,
}

impl<W: Write> Summed<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.to.write_all(bytes)
    }
}

/// Writes the checkpoint of a search that is [settled](Search::settle) beside the file, brings it to the disk, and
/// renames it.
///
/// # Errors
/// [`Error::File`]; [`Error::Engine`] where the walks cannot be had from a device.
pub fn write<F: Field<LIMBS>, const LIMBS: usize>(
    path: &Path,
    job: &str,
    seed: u64,
    shape: Shape,
    search: &Search<'_, F, LIMBS>,
) -> Result<(), Error> {
    let header = Header {
        job: job.to_owned(),
        seed,
        groups: shape.groups,
        walks: shape.walks,
        bits: shape.bits,
        records: shape.records,
        count: search.count(),
        known: search.known().len(),
    };
    let points = search.points()?;
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let written = File::create(&new).and_then(|file| {
        let mut summed = Summed {
            to: BufWriter::with_capacity(1 << 20, file),
            sum: Sha256::new(),
        };
        let header = serde_json::to_string(&header).expect("text and numbers");
        summed.put(format!("{header}\n").as_bytes())?;
        let mut row = Vec::new();
        for (start, point) in search.starts().iter().zip(points) {
            row.clear();
            row.extend(start.to_le_bytes());
            for limb in point.into_iter().flatten() {
                row.extend(limb.to_le_bytes());
            }
            summed.put(&row)?;
        }
        for (key, start) in search.known() {
            row.clear();
            row.extend(key.to_le_bytes());
            row.extend(start.to_le_bytes());
            summed.put(&row)?;
        }
        let Summed { mut to, sum } = summed;
        to.write_all(&sum.finalize())?;
        to.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()
    });
    written.map_err(|source| Error::file(&new, source))?;
    fs::rename(&new, path).map_err(|source| Error::file(path, source))
}

/// Removes the file of a search that is done.
///
/// # Errors
/// [`Error::File`].
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::file(path, source)),
        _ => Ok(()),
    }
}
