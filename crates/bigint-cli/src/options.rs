//! The values of options: sizes of memory, and names with their sources.

use std::ffi::{OsStr, OsString};

/// Reads a number of bytes, with a unit or without.
pub fn memory(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" | "k" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        _ => return Err("expected a size in bytes, K, M, G or T, as in 2G".to_owned()),
    };
    let bytes = digits
        .parse()
        .ok()
        .and_then(|number: usize| number.checked_mul(1 << shift));
    match bytes {
        Some(bytes) if bytes >= LEAST_MEMORY => Ok(bytes),
        Some(_) => Err(format!("expected at least {LEAST_MEMORY} bytes")),
        None => Err("expected fewer bytes than 2^64".to_owned()),
    }
}

/// The least memory that may be given; with less, each line would be a window.
const LEAST_MEMORY: usize = 1 << 20;

/// Splits at the first `=`.
#[cfg(unix)]
pub fn split_once(text: &OsStr) -> Option<(String, OsString)> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let text = text.as_bytes();
    let equals = memchr::memchr(b'=', text)?;
    let (name, source) = (&text[..equals], text[equals + 1..].to_vec());
    let name = String::from_utf8_lossy(name).into_owned();
    Some((name, OsString::from_vec(source)))
}

#[cfg(not(unix))]
pub fn split_once(text: &OsStr) -> Option<(String, OsString)> {
    let (name, source) = text.to_str()?.split_once('=')?;
    Some((name.to_owned(), source.into()))
}
