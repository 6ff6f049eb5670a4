//! The state that the entry points work on. Each file knows only those named before it:
//!
//! - [`handle`]: what programs hold, and tables of what handles name;
//! - [`host`]: host memory, by address;
//! - [`gpu`]: a device of the simulator;
//! - [`pool`], [`memory`], [`copy`]: who owns which addresses, and what moves between them;
//! - [`fatbin`], [`linker`], [`module`], [`library`]: from images to functions;
//! - [`schedule`], [`launch`], [`graph`], [`stream`]: asynchronous work and its order;
//! - [`driver`]: the devices, and the tables of all of that;
//! - [`context`], [`contexts`], [`thread`]: where work is put, and which context is current;
//! - [`leaks`]: what is left of it all at exit.

pub mod context;
pub mod contexts;
pub mod copy;
pub mod driver;
pub mod fatbin;
pub mod gpu;
pub mod graph;
pub mod handle;
pub mod host;
pub mod launch;
pub mod leaks;
pub mod library;
pub mod linker;
pub mod memory;
pub mod module;
pub mod pool;
pub mod schedule;
pub mod stream;
pub mod thread;
