//! What fuzz targets share.
//!
//! ```text
//! tar -xf corpus.tar.xz --one-top-level=corpus   # inputs that cover what has been found
//! cargo fuzz run -s none mul -- -max_total_time=600
//! ```
//!
//! With a nightly compiler `-s none` can be left out, and addresses are checked as well. `.ci/run`
//! builds every target and runs each for a few seconds.

mod call;
pub mod command;
pub mod damage;

pub use call::Input;
