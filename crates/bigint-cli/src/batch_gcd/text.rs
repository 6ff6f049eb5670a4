//! The keys of one text: integers on lines, RSA keys in PEM, DER or SSH's form.
//!
//! Text is read line by line, and what stands on a line says what it is: `-----BEGIN` begins a block of
//! PEM, a word `ssh-` a key of SSH, and anything else is an integer, or, in a file with blocks of PEM, words
//! about them. A file that begins as DER does is one key.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use base64ct::{Base64, Encoding};
use bigint_host::{Error, Integers, Limb};
use pkcs1::RsaPublicKey;
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::{self, Decode, Reader, SliceReader, Tag, Tagged, oid::ObjectIdentifier};
use x509_cert::spki::SubjectPublicKeyInfoRef;

use crate::failure::{Failure, SourcePlace};
use crate::number::{MAX_TEXT, Number};
use crate::source::Input;
use crate::standard;

/// Keys of RSA, of either padding.
const RSA: [ObjectIdentifier; 2] = [
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10"),
];

/// Bytes that are read at once.
pub const BLOCK: usize = 4 << 20;

/// Keys that a thread reads at a time.
const SHARED: usize = 64;

/// Bytes read ahead of a pipe.
const AHEAD: usize = 8 << 20;

/// What is said of an integer that is no modulus.
pub const NOT_POSITIVE: &str = "a modulus is positive, not zero";

/// What stands on a line, or several.
enum Item {
    Integer(Vec<u8>),
    Pem {
        label: String,
        body: Vec<u8>,
    },
    /// A block of PEM without an end.
    Open(String),
    Ssh(Vec<u8>),
    Der(Vec<u8>),
}

/// What an item is.
enum Read {
    Modulus(Integers),
    /// No key of RSA, and why.
    Other(String),
    /// No number: the offset, and why.
    Bad(usize, String),
    Memory(Error),
}

/// Some of a text's keys.
#[derive(Default)]
pub struct Piece {
    /// Their lines, counted from 1, and the hashes of their moduli.
    pub keys: Vec<(u64, u64)>,
    pub moduli: Integers,
    /// How many others were passed over, and the first of them in words.
    pub passed_over: usize,
    pub first_passed_over: Option<String>,
}

/// What a source of texts is called in messages.
pub fn name_of(path: &OsStr) -> String {
    match path == "-" {
        true => "standard input".to_owned(),
        false => path.to_string_lossy().into_owned(),
    }
}

/// A text, or a file of DER, which is read piece by piece.
pub struct Text {
    name: String,
    input: Input,
    hasher: RandomState,
    /// The threads that read keys.
    threads: usize,
    buffer: Vec<u8>,
    lines: Lines,
    words: Words,
    is_over: bool,
}

impl Text {
    /// Opens it, or standard input. Of moduli there will be the hashes of `hasher`.
    ///
    /// # Errors
    /// [`Failure::Input`] where it cannot be read.
    pub fn open(path: &OsStr, hasher: RandomState, threads: usize) -> Result<Self, Failure> {
        let name = name_of(path);
        let opened = match path == "-" {
            true => standard::input(),
            false => File::open(Path::new(path)),
        };
        let opened = opened.and_then(|file| Ok((file.metadata()?.is_file(), file)));
        let (is_file, file) = opened.map_err(|error| unreadable(&name, &error))?;
        Ok(Text {
            name,
            input: match is_file {
                true => Input::file(file, Arc::default()),
                false => Input::pipe(file, Arc::default(), AHEAD),
            },
            hasher,
            threads,
            buffer: Vec::new(),
            lines: Lines::default(),
            words: Words::default(),
            is_over: false,
        })
    }

    /// The keys of the next block, or those of what is left.
    fn next_piece(&mut self) -> Result<Piece, Failure> {
        let read = self.input.read(&mut self.buffer, BLOCK, true);
        let read = read.map_err(|error| unreadable(&self.name, &error))?;
        self.is_over = read.unwrap_or(0) == 0;
        let (lines, buffer) = (&mut self.lines, &mut self.buffer);
        if lines.line == 0 && is_der(buffer) {
            if self.is_over {
                lines.items.push((1, Item::Der(std::mem::take(buffer))));
            }
        } else {
            let end = match self.is_over {
                true => buffer.len(),
                false => memchr::memrchr(b'\n', buffer).map_or(0, |at| at + 1),
            };
            buffer[..end]
                .split_inclusive(|&byte| byte == b'\n')
                .for_each(|line| lines.take(line));
            buffer.drain(..end);
            if buffer.len() > MAX_TEXT {
                let long = "a line longer than any number".to_owned();
                return Err(Failure::Input(place(&self.name, lines.line + 1, 1), long));
            }
        }
        if self.is_over {
            lines.end();
        }
        let items = std::mem::take(&mut lines.items);
        let piece = self.piece(&items)?;
        match self
            .words
            .first
            .take_if(|_| self.is_over && !self.words.has_block)
        {
            Some(first) => Err(first),
            None => Ok(piece),
        }
    }

    fn piece(&mut self, items: &[(u64, Item)]) -> Result<Piece, Failure> {
        let read = |part: &[(u64, Item)]| part.iter().map(|(_, item)| item.read()).collect();
        let read: Vec<Vec<Read>> = bigint_cpu::map(items.chunks(SHARED), self.threads, read);
        let (words, mut piece) = (&mut self.words, Piece::default());
        for ((line, item), read) in items.iter().zip(read.into_iter().flatten()) {
            words.has_block |= matches!(item, Item::Pem { .. });
            match read {
                Read::Modulus(modulus) => {
                    let limbs = modulus.magnitude(0);
                    piece.keys.push((*line, self.hasher.hash_one(limbs)));
                    piece.moduli.push(false, limbs)?;
                }
                Read::Other(why) => {
                    piece.passed_over += 1;
                    let at = place(&self.name, *line, 1);
                    let first = &mut piece.first_passed_over;
                    first.get_or_insert_with(|| format!("{at}: {why}"));
                }
                Read::Bad(offset, why) => {
                    let at = place(&self.name, *line, offset as u64 + 1);
                    let bad = Failure::Input(at, why);
                    if !words.may_have(item) {
                        return Err(bad);
                    }
                    words.first.get_or_insert(bad);
                }
                Read::Memory(error) => return Err(error.into()),
            }
        }
        Ok(piece)
    }
}

impl Iterator for Text {
    type Item = Result<Piece, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.is_over).then(|| self.next_piece())
    }
}

fn place(name: &str, line: u64, column: u64) -> SourcePlace {
    SourcePlace {
        source: name.to_owned(),
        line,
        column,
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    Failure::Input(place(name, 1, 1), format!("cannot read: {error}"))
}

/// Lines of words, as stand around blocks of PEM. Whether a file has blocks is known at its end.
#[derive(Default)]
struct Words {
    has_block: bool,
    /// The error that the first of them is where there is no block.
    first: Option<Failure>,
}

impl Words {
    /// Whether a line that is no integer may be of words: what begins with a digit is only after others.
    fn may_have(&self, item: &Item) -> bool {
        let Item::Integer(line) = item else {
            return false;
        };
        let begins = |byte: &u8| byte.is_ascii_digit() || b"+-".contains(byte);
        let is_number = line.trim_ascii_start().first().is_some_and(begins);
        self.has_block || self.first.is_some() || !is_number
    }
}

/// Lines of a text, and what they are.
#[derive(Default)]
struct Lines {
    /// The last line that was taken.
    line: u64,
    items: Vec<(u64, Item)>,
    /// The line, label and body of a block of PEM that has not ended.
    block: Option<(u64, String, Vec<u8>)>,
}

impl Lines {
    fn take(&mut self, line: &[u8]) {
        self.line += 1;
        let text = line.trim_ascii();
        let begun = pem_label(text, b"-----BEGIN ");
        if begun.is_some() {
            // Else the block before would swallow a key.
            self.end();
        }
        if let Some((_, label, body)) = &mut self.block {
            if pem_label(text, b"-----END ").is_some_and(|end| end == *label) {
                let (line, label, body) = self.block.take().expect("it was looked at");
                self.items.push((line, Item::Pem { label, body }));
            } else if !text.contains(&b':') {
                // What has a colon is a header of old.
                body.extend_from_slice(text);
            }
            return;
        }
        if let Some(label) = begun {
            self.block = Some((self.line, label, Vec::new()));
        } else if memchr::memmem::find(text, b"ssh-").is_some() {
            self.items.push((self.line, Item::Ssh(text.to_vec())));
        } else if !text.is_empty() && text[0] != b'#' {
            // With what stands before it, for the column.
            let line = line.trim_ascii_end().to_vec();
            self.items.push((self.line, Item::Integer(line)));
        }
    }

    /// What is open has no end.
    fn end(&mut self) {
        if let Some((line, label, _)) = self.block.take() {
            self.items.push((line, Item::Open(label)));
        }
    }
}

/// What a block of PEM is called.
fn pem_label(line: &[u8], begin: &[u8]) -> Option<String> {
    let label = line.strip_prefix(begin)?.strip_suffix(b"-----")?;
    Some(String::from_utf8_lossy(label).into_owned())
}

/// Whether bytes begin as a sequence of DER that is longer than 127 bytes, which no text does.
fn is_der(bytes: &[u8]) -> bool {
    matches!(bytes, [0x30, 0x81..=0x84, ..])
}

impl Item {
    fn read(&self) -> Read {
        match self {
            Item::Integer(line) => integer(line),
            Item::Ssh(line) => ssh(line),
            Item::Der(bytes) => of_der(bytes, ""),
            Item::Open(label) => Read::Bad(
                0,
                format!("no line -----END {label}----- ends the block that begins here"),
            ),
            Item::Pem { label, body } => {
                let body = std::str::from_utf8(body).ok();
                match body.and_then(|body| Base64::decode_vec(body).ok()) {
                    Some(bytes) => of_der(&bytes, label),
                    None => Read::Other(format!("{label}: its body is not base64")),
                }
            }
        }
    }
}

fn integer(line: &[u8]) -> Read {
    let text = line.trim_ascii_start();
    let start = line.len() - text.len();
    let mut integers = Integers::new();
    match integers.push_text(text) {
        Ok(()) if integers.is_negative(0) || integers.magnitude(0).is_empty() => {
            Read::Bad(start, NOT_POSITIVE.to_owned())
        }
        Ok(()) => Read::Modulus(integers),
        Err(Error::NotADigit { position, .. }) => {
            let bad = Number::scan(text).and_then(|number| number.check());
            let why = bad.err().map_or_else(String::new, |bad| bad.to_string());
            Read::Bad(start + position, why)
        }
        Err(error) => Read::Memory(error),
    }
}

fn ssh(line: &[u8]) -> Read {
    let text = String::from_utf8_lossy(line);
    let mut why = "a key of SSH of another kind than RSA".to_owned();
    // Options may stand before it in a file of authorised keys, a host's name in one of known hosts.
    for (at, _) in text.match_indices("ssh-rsa ") {
        match ssh_key::PublicKey::from_openssh(&text[at..]) {
            Ok(key) => {
                if let Some(rsa) = key.key_data().rsa() {
                    return modulus(rsa.n.as_positive_bytes().unwrap_or(&[]));
                }
            }
            Err(error) => why = format!("a key of SSH: {error}"),
        }
    }
    Read::Other(why)
}

/// The key of a certificate, a request for one or a public key; the label says which, or is empty.
fn of_der(bytes: &[u8], label: &str) -> Read {
    match label {
        "CERTIFICATE" | "X509 CERTIFICATE" | "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => {
            match signed_info(bytes) {
                Ok(info) => of_info(info),
                Err(error) => Read::Other(format!("{label}: {error}")),
            }
        }
        "PUBLIC KEY" => of_info(bytes),
        "RSA PUBLIC KEY" => of_pkcs1(bytes),
        "" => match (signed_info(bytes), RsaPublicKey::from_der(bytes)) {
            (Ok(info), _) => of_info(info),
            (Err(_), Ok(key)) => modulus(key.modulus.as_bytes()),
            (Err(_), Err(_)) => of_info(bytes),
        },
        other => Read::Other(format!("{other} is no public key of RSA")),
    }
}

/// The public key in a certificate, whose signed part is `([0] version) serial algorithm issuer validity
/// subject KEY ...`, or in a request for one, `version subject KEY attributes`. Names, dates and extensions
/// are whatever they are.
fn signed_info(bytes: &[u8]) -> Result<&[u8], der::Error> {
    const VERSION: u8 = 0xa0;
    let missing = || Tag::Sequence.value_error();
    let signed = *elements(bytes)?.first().ok_or_else(missing)?;
    let mut fields = elements(signed)?;
    if fields.first().is_some_and(|field| field[0] == VERSION) {
        fields.remove(0);
    }
    let key = if fields.len() < 6 { 2 } else { 5 };
    fields.get(key).copied().ok_or_else(missing)
}

/// The elements of a sequence, each with its tag.
fn elements(bytes: &[u8]) -> Result<Vec<&[u8]>, der::Error> {
    let sequence = AnyRef::from_der(bytes)?;
    sequence.tag().assert_eq(Tag::Sequence)?;
    let mut reader = SliceReader::new(sequence.value())?;
    let mut elements = Vec::new();
    while !reader.is_finished() {
        elements.push(reader.tlv_bytes()?);
    }
    Ok(elements)
}

fn of_info(bytes: &[u8]) -> Read {
    match SubjectPublicKeyInfoRef::from_der(bytes) {
        Ok(info) if RSA.contains(&info.algorithm.oid) => {
            of_pkcs1(info.subject_public_key.raw_bytes())
        }
        Ok(info) => Read::Other(format!("a key of the algorithm {}", info.algorithm.oid)),
        Err(error) => Read::Other(format!("a public key: {error}")),
    }
}

fn of_pkcs1(bytes: &[u8]) -> Read {
    match RsaPublicKey::from_der(bytes) {
        Ok(key) => modulus(key.modulus.as_bytes()),
        Err(error) => Read::Other(format!("a key of RSA: {error}")),
    }
}

/// The modulus of big-endian bytes.
fn modulus(bytes: &[u8]) -> Read {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    let bytes = &bytes[zeros..];
    if bytes.is_empty() {
        return Read::Other("a key whose modulus is zero".to_owned());
    }
    let fill = |_, limbs: &mut [Limb]| {
        for (limb, bytes) in limbs.iter_mut().zip(bytes.rchunks(4)) {
            *limb = bytes
                .iter()
                .fold(0, |limb, &byte| limb << 8 | Limb::from(byte));
        }
    };
    let limbs = bytes.len().div_ceil(4);
    match Integers::from_fn(1, limbs, |_| (limbs, false), fill) {
        Ok(modulus) => Read::Modulus(modulus),
        Err(error) => Read::Memory(error),
    }
}
