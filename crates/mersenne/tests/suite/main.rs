//! All tests of the library and the program but those of `memory`, which are a program of their own: one
//! binary is linked once, and the tests of all files share the cores.

mod common;

mod autoprimenet;
mod certificates;
mod device;
mod ecm;
mod faults;
mod hunting;
#[cfg(unix)]
mod keeping;
mod long_transforms;
mod month;
mod numbers;
mod other_bases;
mod p_minus_1;
mod program;
mod proof;
mod riesel_proth;
mod streams;
mod temperature;
mod trial_factoring;
mod variants;
mod workers;
