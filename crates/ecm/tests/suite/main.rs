//! All tests of the library and the program: one binary is linked once, and the tests of all files share the
//! cores.

mod batch;
mod device;
mod formats;
mod lucas;
mod modules;
mod program;
mod residues;
