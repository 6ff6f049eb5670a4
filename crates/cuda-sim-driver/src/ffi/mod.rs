//! The entry points, by subject. Each is a C function of the CUDA driver API, or in
//! [`runtime`] of the CUDA runtime API, with that API's contract: it checks the arguments,
//! has the state do the work, and translates errors.
//!
//! [`entries`] declares them, what they share is in [`call`] and [`failures`], and how they
//! read and write the caller's memory in [`raw`] and [`images`]. [`unsupported`] has those
//! with nothing behind them, [`first`] older forms of others, and [`symbols`] finds them all
//! by name.

// An exported C symbol is an unsafe attribute; the bodies are safe code.
#![allow(unsafe_code)]
// The names are NVIDIA's.
#![allow(non_snake_case)]

mod call;
mod entries;
mod exit;
mod failures;
mod images;
mod raw;

mod captures;
mod contexts;
mod copies;
mod devices;
mod fills;
mod first;
mod graphs;
mod launches;
mod libraries;
mod linkers;
mod memories;
mod modules;
mod pools;
mod runtime;
mod streams;
mod symbols;
mod unsupported;
