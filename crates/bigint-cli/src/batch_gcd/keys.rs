//! Keys of files: integers on lines or in a table's column, RSA keys in PEM, DER or SSH's form.
//!
//! Text is read line by line, and what stands on a line says what it is: `-----BEGIN` begins a block of
//! PEM, a word `ssh-` a key of SSH, and anything else is an integer, or, in a file with blocks of PEM, words
//! about them. A file that begins as DER does is one key.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
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
use crate::files;
use crate::form::{self, Form};
use crate::number::{MAX_TEXT, Number, Unread};
use crate::rows::next_rows;
use crate::source::Input;
use crate::standard;
use crate::text_table::Wanted;

/// Keys of RSA, of either padding.
const RSA: [ObjectIdentifier; 2] = [
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10"),
];

/// Bytes that are read at once.
const BLOCK: usize = 4 << 20;

/// Keys that a thread reads at a time.
const SHARED: usize = 64;

/// Bytes read ahead of a pipe.
const AHEAD: usize = 8 << 20;

/// What is said of an integer that is no modulus.
const NOT_POSITIVE: &str = "a modulus is positive, not zero";

/// Where a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Which file.
    pub file: usize,
    /// Counted from 1.
    pub line: u64,
    /// Which modulus.
    pub modulus: usize,
}

/// Keys, and their moduli, each once.
pub struct Keys {
    files: Vec<String>,
    places: Vec<Place>,
    /// The first place of the files that are read now.
    first_new: usize,
    moduli: Integers,
    /// The last modulus of each hash, and before each modulus the one of the same hash.
    last: HashMap<u64, usize>,
    before: Vec<Option<usize>>,
    hasher: RandomState,
    weak_before: Vec<usize>,
    passed_over: usize,
    first_passed_over: Option<String>,
}

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

impl Keys {
    pub fn new() -> Self {
        Keys {
            files: Vec::new(),
            places: Vec::new(),
            first_new: 0,
            moduli: Integers::new(),
            last: HashMap::new(),
            before: Vec::new(),
            hasher: RandomState::new(),
            weak_before: Vec::new(),
            passed_over: 0,
            first_passed_over: None,
        }
    }

    pub fn files(&self) -> &[String] {
        &self.files
    }

    pub fn places(&self) -> &[Place] {
        &self.places
    }

    pub fn moduli(&self) -> &Integers {
        &self.moduli
    }

    /// Old moduli that were found to share a factor when they were new.
    pub fn weak_before(&self) -> &[usize] {
        &self.weak_before
    }

    /// What follows is of the files that are read now.
    pub fn begin_new(&mut self) {
        self.first_new = self.places.len();
    }

    /// Ends the reading: what stood before where now another key stands, or the same, is forgotten, and
    /// so is what was read twice.
    pub fn end_new(&mut self) {
        let mut seen = HashSet::new();
        let mut new = self.places.split_off(self.first_new);
        new.retain(|place| seen.insert((place.file, place.line)));
        self.places
            .retain(|place| !seen.contains(&(place.file, place.line)));
        self.first_new = self.places.len();
        self.places.append(&mut new);
    }

    /// Whether this place is of the files that are read now.
    pub fn is_new(&self, place: usize) -> bool {
        place >= self.first_new
    }

    /// What was passed over, in words.
    pub fn passed_over(&self) -> Option<String> {
        let first = self.first_passed_over.as_ref()?;
        let count = self.passed_over;
        Some(format!(
            "{count} passed over that are no RSA keys; the first: {first}"
        ))
    }

    /// The index of a file by its name.
    pub fn file(&mut self, name: &str) -> usize {
        let known = self.files.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        })
    }

    /// Takes a key in, whose modulus has these limbs.
    pub fn add(
        &mut self,
        file: usize,
        line: u64,
        limbs: &[Limb],
        was_weak: bool,
    ) -> Result<(), Error> {
        let hash = self.hasher.hash_one(limbs);
        let mut candidate = self.last.get(&hash).copied();
        while let Some(index) = candidate.filter(|&index| self.moduli.magnitude(index) != limbs) {
            candidate = self.before[index];
        }
        let index = match candidate {
            Some(index) => index,
            None => {
                let index = self.moduli.len();
                self.moduli.push(false, limbs)?;
                self.before.push(self.last.insert(hash, index));
                index
            }
        };
        if was_weak {
            self.weak_before.push(index);
        }
        self.places.push(Place {
            file,
            line,
            modulus: index,
        });
        Ok(())
    }

    /// Reads the keys of a file, or of a table's column.
    ///
    /// # Errors
    /// [`Failure::Input`] where it cannot be read, or has a line that is no positive integer; [`Failure::Usage`] where it has no such
    /// column.
    pub fn read(&mut self, source: &OsString) -> Result<(), Failure> {
        match form::split(source)? {
            (_, Form::Lines, _) => self.read_text(source),
            (path, form, column) => self.read_column(&path, form, column),
        }
    }

    /// Reads the moduli of a table's column. Nulls are none.
    fn read_column(
        &mut self,
        path: &Path,
        form: Form,
        column: Option<String>,
    ) -> Result<(), Failure> {
        let column = [column];
        let wanted = Wanted::Some(&column);
        let mut opened = files::open(path, form, wanted, BLOCK, &Arc::default())?;
        let name = opened.reader.paths().swap_remove(0);
        let file = self.file(&name);
        while let Some(rows) = next_rows(std::slice::from_mut(&mut opened.reader))? {
            let rows = &rows[0];
            let bad = |row: usize, offset: usize, what: String| {
                let (line, column) = rows.position(row);
                let place = SourcePlace {
                    source: name.clone(),
                    line,
                    column: column + offset as u64,
                };
                Failure::Input(place, what)
            };
            let nulls = rows.nulls();
            let are_keys = (0..rows.len()).filter(|row| nulls.binary_search(row).is_err());
            let are_keys: Vec<usize> = are_keys.collect();
            for &row in &are_keys {
                if let Some((offset, what)) = rows.wrong(row) {
                    return Err(bad(row, offset, what));
                }
            }
            let numbers = rows.column(0..rows.len(), &[], None);
            let numbers = numbers.map_err(|unread| match unread {
                Unread::Memory(error) => error.into(),
                Unread::Bad(what) => bad(0, what.offset, what.to_string()),
            })?;
            for row in are_keys {
                if numbers.is_negative(row) || numbers.magnitude(row).is_empty() {
                    return Err(bad(row, 0, NOT_POSITIVE.to_owned()));
                }
                let (line, _) = rows.position(row);
                self.add(file, line, numbers.magnitude(row), false)?;
            }
        }
        Ok(())
    }

    /// Reads the keys of a text, or the one in a file of DER.
    fn read_text(&mut self, path: &OsString) -> Result<(), Failure> {
        let name = match path == "-" {
            true => "standard input".to_owned(),
            false => path.to_string_lossy().into_owned(),
        };
        let place = |line, column| SourcePlace {
            source: name.clone(),
            line,
            column,
        };
        let unreadable =
            |error: std::io::Error| Failure::Input(place(1, 1), format!("cannot read: {error}"));
        let opened = match path == "-" {
            true => standard::input(),
            false => File::open(Path::new(path)),
        };
        let file = opened.map_err(unreadable)?;
        let is_file = file.metadata().map_err(unreadable)?.is_file();
        let mut input = match is_file {
            true => Input::file(file, Arc::default()),
            false => Input::pipe(file, Arc::default(), AHEAD),
        };
        let index = self.file(&name);
        let mut words = Words::default();
        let mut lines = Lines::default();
        let mut buffer = Vec::new();
        loop {
            let read = input
                .read(&mut buffer, BLOCK, true)
                .map_err(unreadable)?
                .unwrap_or(0);
            let is_end = read == 0;
            if lines.line == 0 && is_der(&buffer) {
                if !is_end {
                    continue;
                }
                lines
                    .items
                    .push((1, Item::Der(std::mem::take(&mut buffer))));
            } else {
                let end = match is_end {
                    true => buffer.len(),
                    false => memchr::memrchr(b'\n', &buffer).map_or(0, |at| at + 1),
                };
                buffer[..end]
                    .split_inclusive(|&byte| byte == b'\n')
                    .for_each(|line| lines.take(line));
                buffer.drain(..end);
                if buffer.len() > MAX_TEXT {
                    let long = "a line longer than any number".to_owned();
                    return Err(Failure::Input(place(lines.line + 1, 1), long));
                }
            }
            let items = std::mem::take(&mut lines.items);
            self.take_items(index, items, &mut words, &place)?;
            if is_end {
                break;
            }
        }
        lines.end();
        self.take_items(index, lines.items, &mut words, &place)?;
        match words.first {
            Some(first) if !words.has_block => Err(first),
            _ => Ok(()),
        }
    }

    fn take_items(
        &mut self,
        file: usize,
        items: Vec<(u64, Item)>,
        words: &mut Words,
        place: &dyn Fn(u64, u64) -> SourcePlace,
    ) -> Result<(), Failure> {
        let parts: Vec<&[(u64, Item)]> = items.chunks(SHARED).collect();
        let read = |part: &[(u64, Item)]| part.iter().map(|(_, item)| item.read()).collect();
        let read: Vec<Vec<Read>> = bigint_cpu::map(parts, usize::MAX, read);
        for ((line, item), read) in items.iter().zip(read.into_iter().flatten()) {
            words.has_block |= matches!(item, Item::Pem { .. });
            match read {
                Read::Modulus(modulus) => self.add(file, *line, modulus.magnitude(0), false)?,
                Read::Other(why) => {
                    self.passed_over += 1;
                    let at = place(*line, 1);
                    self.first_passed_over
                        .get_or_insert_with(|| format!("{at}: {why}"));
                }
                Read::Bad(offset, why) => {
                    let bad = Failure::Input(place(*line, offset as u64 + 1), why);
                    if !words.may_have(item) {
                        return Err(bad);
                    }
                    words.first.get_or_insert(bad);
                }
                Read::Memory(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
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
