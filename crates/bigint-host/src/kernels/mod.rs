//! The kernels that the library carries as PTX, and their specialisation.
//!
//! [`ptx`] has the text of every module of kernels as `bigint-kernels` was compiled to it;
//! [`specialize`] cuts a module to one kernel and to what is known of its arguments, before a
//! driver compiles it; [`alone`] cuts modules that users wrote. Nothing here needs a driver.

pub(crate) mod alone;
pub(crate) mod ptx;
pub(crate) mod specialize;

use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;

/// The bytes of the PTX that a driver is given for a kernel.
pub(crate) fn bytes(entry: EntryPoint, specialization: Specialization) -> usize {
    let text = ptx::ptx(entry.module).unwrap_or_default();
    specialize::specialize(text, entry, &specialization).len()
}
