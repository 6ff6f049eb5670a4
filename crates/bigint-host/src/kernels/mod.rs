//! The kernels that the library carries as PTX, and their specialisation.
//!
//! [`ptx`] has the text of every module of kernels as `bigint-kernels` was compiled to it;
//! [`specialize`] cuts a module to one kernel and to what is known of its arguments, before a
//! driver compiles it. Nothing here needs a driver.

pub(crate) mod ptx;
pub(crate) mod specialize;
