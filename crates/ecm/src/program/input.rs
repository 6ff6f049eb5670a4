//! The numbers that are to be factored.

use std::fs;
use std::io;
use std::path::Path;

use num_bigint::BigUint;

use super::Failure;
use super::output::say;
use crate::{Error, evaluate};

/// The numbers of an argument: an expression, the lines of a file, or those of standard input. Empty
/// lines and those from `#` on are no numbers.
pub fn numbers(argument: &str) -> Result<Vec<BigUint>, Failure> {
    let name = argument;
    // A pipe is read as a file is, as `<(command)` makes one.
    let is_read = fs::metadata(name).is_ok_and(|found| !found.is_dir());
    if name != "-" && !is_read {
        return match number(name) {
            Ok(n) => Ok(vec![n]),
            Err((column, what)) => Err(Failure::Usage(format!(
                "{name}: column {column}: {what}; and there is no such file"
            ))),
        };
    }
    let text = text(Path::new(name))?;
    let mut numbers = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        numbers.push(number(line).map_err(|(column, what)| {
            Failure::Usage(format!("{name}:{}:{column}: {what}", i + 1))
        })?);
    }
    if numbers.is_empty() {
        say!("{name}: it has no numbers");
    }
    Ok(numbers)
}

/// The text of a file, or of standard input (`-`), without the mark with which some editors begin it.
pub fn text(path: &Path) -> Result<String, Failure> {
    let text = match path.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(path),
    };
    let mut text = text.map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// The number of an expression, or where it is wrong and how.
fn number(text: &str) -> Result<BigUint, (usize, String)> {
    match evaluate(text) {
        Ok(n) if n < 2u8.into() => Err((1, format!("{n} has no factors: a number is 2 or more"))),
        Ok(n) => Ok(n),
        Err(Error::Expression { column, what }) => Err((column, what)),
        Err(other) => Err((1, other.to_string())),
    }
}
