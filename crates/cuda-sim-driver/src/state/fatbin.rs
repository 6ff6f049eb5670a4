//! Fat binaries, as `nvcc` puts them into programs: of the code for several
//! architectures that one holds, the PTX.
//!
//! The format is not documented; these are the fields that programs of CUDA 11 to 13
//! have. A wrapper (magic, version, address) leads to the container: magic, version
//! (16 bits), bytes of the header (16), bytes behind it (64), then entries. Of an
//! entry the first word is its kind (1 is PTX, 2 machine code), the second the bytes
//! of its header, the third (64 bits) those of what follows; at 0x10 stand the bytes
//! of the content without padding, at 0x1c the architecture, at 0x28 (64 bits) flags,
//! at 0x38 (64 bits) the bytes of the content before compression.

use crate::environment::environment;
use crate::error::{Code, Result};
use std::io::Read;

const WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const CONTAINER: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// The first bytes of a fat binary.
pub const MAGICS: [[u8; 4]; 2] = [WRAPPER, CONTAINER];

const PTX: u16 = 1;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// More than any PTX has; what says so is damaged.
const MOST: u64 = 1 << 30;

type Failure = (Code, &'static str);
const DAMAGED: Failure = (Code::INVALID_IMAGE, "the fat binary is damaged");

/// The number in `N` bytes of a header.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<u64, Failure> {
    let mut wide = [0; 8];
    let field = at
        .checked_add(N)
        .and_then(|end| bytes.get(at..end))
        .ok_or(DAMAGED)?;
    wide[..N].copy_from_slice(field);
    Ok(u64::from_le_bytes(wide))
}

/// The PTX of a fat binary in memory, or of the one that a wrapper there leads to; `read`
/// copies bytes from an address on.
pub fn in_memory(
    mut start: u64,
    read: impl Fn(u64, usize) -> Result<Vec<u8>>,
) -> Result<Vec<u8>, Failure> {
    let read = |start, bytes| read(start, bytes).map_err(|code| (code, "a null pointer"));
    if read(start, 4)? == WRAPPER {
        start = number::<8>(&read(start, 16)?, 8)?;
    }
    let head = read(start, 16)?;
    if head[..4] != CONTAINER {
        return Err(DAMAGED);
    }
    let bytes = number::<2>(&head, 6)? + number::<8>(&head, 8)?.min(MOST);
    unpack(read(start, bytes as usize)?)
}

/// The PTX of a file that is a fat binary; any other file as it is.
pub fn unpack(file: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if !file.starts_with(&CONTAINER) {
        return Ok(file);
    }
    let devices = environment().map_err(|code| (code, "a bad environment"))?;
    let newest = devices.devices.iter().map(|device| device.arch.sm()).max();
    let newest = u64::from(newest.unwrap_or(0));
    let end = number::<2>(&file, 6)? + number::<8>(&file, 8)?;
    let mut at = number::<2>(&file, 6)?;
    // The newest that a device takes, or else the oldest there is.
    let mut best: Option<(u64, Vec<u8>)> = None;
    while at < end {
        let entry = file.get(at as usize..).ok_or(DAMAGED)?;
        let (header, bytes) = (number::<4>(entry, 4)?, number::<8>(entry, 8)?);
        if header == 0 {
            return Err(DAMAGED);
        }
        if number::<2>(entry, 0)? == u64::from(PTX) {
            let sm = number::<4>(entry, 0x1c)?;
            let better = best.as_ref().is_none_or(|(other, _)| {
                if *other > newest {
                    sm < *other
                } else {
                    (*other..=newest).contains(&sm)
                }
            });
            if better {
                best = Some((sm, content(entry, header, bytes)?));
            }
        }
        at = at
            .checked_add(header)
            .and_then(|at| at.checked_add(bytes))
            .ok_or(DAMAGED)?;
    }
    let none = (
        Code::NO_BINARY_FOR_GPU,
        "the fat binary holds machine code alone; the simulator takes PTX",
    );
    best.map(|(_, source)| source).ok_or(none)
}

/// The text of an entry, unpacked if it is compressed.
fn content(entry: &[u8], header: u64, bytes: u64) -> Result<Vec<u8>, Failure> {
    let flags = number::<8>(entry, 0x28)?;
    let (packed, whole) = (number::<4>(entry, 0x10)?, number::<8>(entry, 0x38)?);
    let compressed = flags & (LZ4 | ZSTD) != 0;
    let stored = if compressed { packed } else { bytes };
    let body = entry
        .get(header as usize..)
        .and_then(|rest| rest.get(..stored as usize))
        .ok_or(DAMAGED)?;
    if whole > MOST {
        return Err(DAMAGED);
    }
    let mut source = if flags & ZSTD != 0 {
        let mut source = Vec::new();
        let decoder = ruzstd::decoding::StreamingDecoder::new(body).map_err(|_| DAMAGED)?;
        decoder
            .take(whole)
            .read_to_end(&mut source)
            .map_err(|_| DAMAGED)?;
        source
    } else if flags & LZ4 != 0 {
        lz4_flex::block::decompress(body, whole as usize).map_err(|_| DAMAGED)?
    } else {
        body.to_vec()
    };
    if let Some(end) = source.iter().position(|&byte| byte == 0) {
        source.truncate(end);
    }
    Ok(source)
}
