//! The entry points, by subject. Each is a C function of the CUDA driver API, or in
//! [`runtime`] of the CUDA runtime API, with that API's contract. [`entries`] declares them,
//! what they share is in [`call`], and how they read and write the caller's memory in
//! [`raw`]. [`unsupported`] has those with nothing behind them.

// An exported C symbol is an unsafe attribute; the bodies are safe code.
#![allow(unsafe_code)]
// The names are NVIDIA's.
#![allow(non_snake_case)]

pub mod call;
mod entries;
pub mod raw;

mod captures;
mod contexts;
mod copies;
mod devices;
mod first;
mod graphs;
mod launches;
mod libraries;
mod linkers;
mod memories;
mod modules;
mod pools;
pub mod runtime;
mod streams;
mod symbols;
mod unsupported;

use entries::{Symbol, entries};

/// The entry points that do something.
const SYMBOLS: &[&[Symbol]] = &[
    captures::SYMBOLS,
    contexts::SYMBOLS,
    copies::SYMBOLS,
    devices::SYMBOLS,
    first::SYMBOLS,
    graphs::SYMBOLS,
    launches::SYMBOLS,
    libraries::SYMBOLS,
    linkers::SYMBOLS,
    memories::SYMBOLS,
    modules::SYMBOLS,
    pools::SYMBOLS,
    runtime::copies::SYMBOLS,
    runtime::devices::SYMBOLS,
    runtime::errors::SYMBOLS,
    runtime::launches::SYMBOLS,
    runtime::same::SYMBOLS,
    streams::SYMBOLS,
    symbols::SYMBOLS,
];

/// The function that the library exports under this name, if it does more than refuse.
fn symbol(name: &str) -> Option<&'static Symbol> {
    let mut all = SYMBOLS.iter().flat_map(|symbols| symbols.iter());
    all.find(|symbol| symbol.name == name)
}

/// The function that the library exports under this name.
fn any_symbol(name: &str) -> Option<&'static Symbol> {
    let refused = || {
        unsupported::SYMBOLS
            .iter()
            .find(|symbol| symbol.name == name)
    };
    symbol(name).or_else(refused)
}

/// Whether the library has something behind the function of this name.
pub fn exists(name: &str) -> bool {
    symbol(name).is_some()
}
