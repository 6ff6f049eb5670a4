//! The bytes of a source: decompressed, without a byte-order mark, and as soon as they come from a
//! pipe.
//!
//! A file is read when more of it is needed. Whoever writes into a pipe may pause, and may wait for
//! answers before going on; so a pipe is read by a thread of its own, and it is always known
//! whether more has come.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::threads::{self, Work};

/// The most bytes that are read from a pipe at once.
const BLOCK_BYTES: usize = 1 << 18;

/// The least size of a block of a pipe, in bytes.
const LEAST_BLOCK_BYTES: usize = 1 << 12;

/// The most blocks that are read ahead from a pipe.
const BLOCKS: usize = 32;

/// The least number of blocks that the bytes to be read ahead are cut into.
const LEAST_BLOCKS: usize = 4;

/// A reader of a source's text.
pub struct Input(Way);

enum Way {
    Asked(Box<dyn Read + Send>),
    Ahead {
        blocks: Receiver<io::Result<Vec<u8>>>,
        block: Vec<u8>,
        /// How many bytes of `block` were handed out.
        taken: usize,
        stop: Stop,
    },
}

/// Ends the text of a pipe for a reader that waits for more of it.
#[derive(Clone)]
pub struct Stop {
    is_ended: Arc<AtomicBool>,
    out: Weak<Out>,
}

/// The channel for the blocks of a pipe; an empty block is the end.
type Out = SyncSender<io::Result<Vec<u8>>>;

impl Stop {
    /// Lets no reader wait for more from now on.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Release);
        if let Some(out) = self.out.upgrade() {
            // Where there is no room for it nobody is waiting.
            let _ = out.try_send(Ok(Vec::new()));
        }
    }
}

impl Input {
    /// Reads a file, or anything else that does not pause. The number of bytes read is added to
    /// `read`.
    pub fn file(raw: impl Read + Send + 'static, read: Arc<AtomicU64>) -> Self {
        Input(Way::Asked(Box::new(Text::new(raw, read))))
    }

    /// Reads a pipe, a terminal or standard input, about `ahead` bytes ahead.
    pub fn pipe(raw: impl Read + Send + 'static, read: Arc<AtomicU64>, ahead: usize) -> Self {
        let bytes = (ahead / LEAST_BLOCKS).clamp(LEAST_BLOCK_BYTES, BLOCK_BYTES);
        let (out, blocks) = sync_channel((ahead / bytes).clamp(1, BLOCKS));
        let out = Arc::new(out);
        let stop = Stop {
            is_ended: Arc::default(),
            out: Arc::downgrade(&out),
        };
        let text = Text::new(raw, read);
        // It ends with the source, or with the process.
        let spawn = |work: Work<'static>| {
            let thread = thread::Builder::new().name("pipe".to_owned());
            thread.spawn(work).map(drop)
        };
        Input(
            match threads::hand_over(text, move |text| read_ahead(text, bytes, &out), spawn) {
                Ok(()) => Way::Ahead {
                    blocks,
                    block: Vec::new(),
                    taken: 0,
                    stop,
                },
                Err(text) => Way::Asked(Box::new(text)),
            },
        )
    }

    /// Whether reading may have to wait for somebody.
    pub fn pauses(&self) -> bool {
        matches!(self.0, Way::Ahead { .. })
    }

    /// A way to end the wait for more, where reading may wait.
    pub fn stop(&self) -> Option<Stop> {
        match &self.0 {
            Way::Ahead { stop, .. } => Some(stop.clone()),
            Way::Asked(_) => None,
        }
    }

    /// Appends at most `most` bytes to `buffer`, which has room for them; answers how many, none at
    /// the end. `None` where there are none yet and `waits` is not set.
    ///
    /// # Errors
    /// As reading.
    pub fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        most: usize,
        waits: bool,
    ) -> io::Result<Option<usize>> {
        match &mut self.0 {
            Way::Asked(text) => text.take(most as u64).read_to_end(buffer).map(Some),
            Way::Ahead {
                blocks,
                block,
                taken,
                stop,
            } => {
                if *taken == block.len() {
                    let next = match blocks.try_recv() {
                        Err(TryRecvError::Empty) if !waits => return Ok(None),
                        _ if stop.is_ended.load(Ordering::Acquire) => return Ok(Some(0)),
                        Err(TryRecvError::Empty) => blocks.recv().ok(),
                        next => next.ok(),
                    };
                    // The last block is empty, or an error. Who panics sends neither, and what
                    // there is until then must not be taken for all.
                    let next = next.ok_or_else(|| io::Error::other("the reading was cut short"))?;
                    (*block, *taken) = (next?, 0);
                }
                let bytes = most.min(block.len() - *taken);
                buffer.extend_from_slice(&block[*taken..][..bytes]);
                *taken += bytes;
                Ok(Some(bytes))
            }
        }
    }
}

fn read_ahead(mut text: impl Read, bytes: usize, out: &Out) {
    let mut buffer = vec![0; bytes];
    loop {
        let block = match text.read(&mut buffer) {
            Ok(bytes) => Ok(buffer[..bytes].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let ends = block.as_ref().map_or(true, Vec::is_empty);
        if out.send(block).is_err() || ends {
            return;
        }
    }
}

/// The text in the bytes of a file. The first bytes, which say how it is compressed, are read when
/// text is first wanted, one by one: a pipe need hold no more than these.
struct Text<R> {
    raw: Option<Counted<R>>,
    text: Box<dyn Read + Send>,
}

impl<R: Read + Send + 'static> Text<R> {
    fn new(raw: R, read: Arc<AtomicU64>) -> Self {
        Text {
            raw: Some(Counted { raw, read }),
            text: Box::new(io::empty()),
        }
    }
}

impl<R: Read + Send + 'static> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(raw) = self.raw.take() {
            self.text = decoded(raw)?;
        }
        self.text.read(buffer)
    }
}

/// The first bytes of compressed files.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const XZ: &[u8] = b"\xfd7zXZ\0";
const BZIP2: &[u8] = b"BZh";
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

fn decoded(mut raw: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut first = Vec::new();
    let begins = |first: &[u8]| {
        let may_follow = |mark: &&[u8]| first.len() < mark.len() && mark.starts_with(first);
        [GZIP, ZSTD, XZ, BZIP2].iter().any(may_follow)
    };
    while begins(&first) && raw.by_ref().take(1).read_to_end(&mut first)? > 0 {}
    let is = |mark| first == mark;
    let whole = |first: Vec<u8>, raw| Cursor::new(first).chain(raw);
    without_mark(match () {
        () if is(GZIP) => Box::new(MultiGzDecoder::new(whole(first, raw))),
        () if is(ZSTD) => Box::new(Zstd::new(whole(first, raw))),
        () if is(XZ) => Box::new(XzReader::new(whole(first, raw), true)),
        () if is(BZIP2) => Box::new(MultiBzDecoder::new(whole(first, raw))),
        () => Box::new(whole(first, raw)),
    })
}

/// A text behind the mark with which some editors begin it.
fn without_mark(mut text: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut first = Vec::new();
    let begins = |first: &[u8]| first.len() < 3 && BYTE_ORDER_MARK.starts_with(first);
    while begins(&first) && text.by_ref().take(1).read_to_end(&mut first)? > 0 {}
    Ok(match first == BYTE_ORDER_MARK {
        true => text,
        false => Box::new(Cursor::new(first).chain(text)),
    })
}

/// A reader that counts the bytes it reads of a file, compressed or not.
struct Counted<R> {
    raw: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.raw.read(buffer)?;
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// The text of Zstandard frames, one after another.
struct Zstd<R> {
    frames: BufReader<R>,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: Read> Zstd<R> {
    fn new(raw: R) -> Self {
        Zstd {
            frames: BufReader::new(raw),
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }

    /// Whether there is another frame; reads its head.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.frames.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.frames) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.frames.by_ref().take(length.into());
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(corrupt(&error.to_string())),
            }
        }
        Ok(false)
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame && !self.next_frame()? {
                return Ok(0);
            }
            self.in_frame = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.frames, one);
                decoded.map_err(|error| corrupt(&error.to_string()))?;
            }
            let bytes = self.decoder.read(buffer)?;
            if bytes > 0 || buffer.is_empty() {
                return Ok(bytes);
            }
            let (told, found) = (
                self.decoder.get_checksum_from_data(),
                self.decoder.get_calculated_checksum(),
            );
            if told.is_some() && told != found {
                return Err(corrupt("its checksum is wrong"));
            }
            self.in_frame = false;
        }
    }
}

fn corrupt(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("corrupt Zstandard file: {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads all text, with pauses or without.
    fn text(bytes: &[u8], ahead: bool) -> io::Result<String> {
        let raw = Cursor::new(bytes.to_vec());
        let mut input = match ahead {
            true => Input::pipe(raw, Arc::default(), 0),
            false => Input::file(raw, Arc::default()),
        };
        let mut text = Vec::new();
        while input.read(&mut text, 5, true)? != Some(0) {}
        Ok(String::from_utf8(text).expect("UTF-8"))
    }

    /// "12\n34\n" as gzip and as zstd compress it.
    const GZIPPED: &[u8] = &[
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x33, 0x34, 0xe2, 0x32, 0x36,
        0xe1, 0x02, 0x00, 0x09, 0x3f, 0x6a, 0xb7, 0x06, 0x00, 0x00, 0x00,
    ];
    /// The same behind a byte order mark.
    const MARKED: &[u8] = &[
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x7b, 0xbf, 0x7b, 0xbf, 0xa1,
        0x11, 0x97, 0xb1, 0x09, 0x17, 0x00, 0x86, 0x31, 0x8f, 0x58, 0x09, 0x00, 0x00, 0x00,
    ];
    const ZSTANDARD: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x31, 0x00, 0x00, 0x31, 0x32, 0x0a, 0x33, 0x34, 0x0a,
        0xd6, 0xd3, 0x11, 0x59,
    ];

    /// The same as xz and bzip2 do.
    const XZIPPED: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
        0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x05, 0x31, 0x32, 0x0a,
        0x33, 0x34, 0x0a, 0x00, 0x00, 0x00, 0xcf, 0xda, 0xc5, 0xa1, 0x61, 0x5a, 0xa7, 0xc1, 0x00,
        0x01, 0x1e, 0x06, 0xc1, 0x2f, 0xa4, 0x1d, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00,
        0x00, 0x04, 0x59, 0x5a,
    ];
    const BZIPPED: &[u8] = &[
        0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x29, 0x59, 0x8a, 0x22, 0x00,
        0x00, 0x01, 0x48, 0x00, 0x00, 0x10, 0x3c, 0x00, 0x20, 0x00, 0x30, 0xcd, 0x00, 0xc3, 0x46,
        0x29, 0x37, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0x29, 0x59, 0x8a, 0x22,
    ];

    #[test]
    fn a_file_is_the_text_it_holds_however_it_is_packed() {
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
        for ahead in [false, true] {
            let text = |bytes: &[u8]| text(bytes, ahead).unwrap();
            assert_eq!(text(b""), "");
            assert_eq!(text(b"12\n34\n"), "12\n34\n");
            assert_eq!(text(b"\xef\xbb\xbf12\n34\n"), "12\n34\n");
            assert_eq!(text(MARKED), "12\n34\n");
            assert_eq!(text(b"("), "(");
            assert_eq!(text(GZIPPED), "12\n34\n");
            assert_eq!(text(&[GZIPPED, GZIPPED].concat()), "12\n34\n".repeat(2));
            assert_eq!(text(ZSTANDARD), "12\n34\n");
            for packed in [XZIPPED, BZIPPED] {
                assert_eq!(text(packed), "12\n34\n");
                assert_eq!(text(&[packed, packed].concat()), "12\n34\n".repeat(2));
            }
            let frames = [ZSTANDARD, &skipped, ZSTANDARD].concat();
            assert_eq!(text(&frames), "12\n34\n".repeat(2));
        }
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        for good in [GZIPPED, ZSTANDARD, XZIPPED, BZIPPED] {
            for ahead in [false, true] {
                assert!(text(&good[..good.len() - 5], ahead).is_err());
                let mut bad = good.to_vec();
                bad[10] ^= 1;
                assert!(text(&bad, ahead).is_err());
            }
        }
    }
}
