//! The linker: several PTX sources become one. The image that comes out is PTX too,
//! which only this driver takes for what it is.

use crate::sync::locked;
use std::sync::{Mutex, MutexGuard};

/// A `CUlinkState`.
#[derive(Default)]
pub struct Linker {
    sources: Mutex<Sources>,
}

/// The inputs of a linker, and its result.
#[derive(Default)]
pub struct Sources {
    given: Vec<String>,
    /// The image, with the zero that ends it: the program's until the linker is gone.
    image: Box<[u8]>,
}

impl Linker {
    /// The sources that the linker was given, with exclusive access.
    pub fn sources(&self) -> MutexGuard<'_, Sources> {
        locked(&self.sources)
    }
}

/// Directives that stand once, at the beginning of a module.
const HEAD: [&str; 3] = [".version", ".target", ".address_size"];

impl Sources {
    /// Adds a source.
    pub fn add(&mut self, source: String) {
        self.given.push(source);
    }

    /// Puts the sources together under one head, that of the newest version.
    pub fn link(&mut self) -> &[u8] {
        let is_head = |line: &&str| HEAD.iter().any(|word| line.trim_start().starts_with(word));
        let version = |source: &&String| {
            let line = source
                .lines()
                .find(|line| line.trim_start().starts_with(HEAD[0]));
            let number = line.and_then(|line| line.split_whitespace().nth(1));
            let (major, minor) = number
                .and_then(|number| number.split_once('.'))
                .unwrap_or_default();
            (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
        };
        let newest: Option<&String> = self
            .given
            .iter()
            .max_by_key(|source| -> (u32, u32) { version(source) });
        let mut image = String::new();
        for line in newest
            .into_iter()
            .flat_map(|source| source.lines().filter(is_head))
        {
            image.push_str(line);
            image.push('\n');
        }
        for source in &self.given {
            for line in source.lines().filter(|line| !is_head(line)) {
                image.push_str(line);
                image.push('\n');
            }
        }
        if let [alone] = &self.given[..] {
            image.clone_from(alone);
        }
        image.push('\0');
        self.image = image.into_bytes().into();
        &self.image
    }
}
