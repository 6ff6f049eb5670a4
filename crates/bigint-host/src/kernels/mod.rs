//! The kernels that the library carries as PTX, and their specialisation.
//!
//! [`ptx`] has the text of every module of kernels as `bigint-kernels` was compiled to it;
//! [`specialize`] cuts a module to one kernel and to what is known of its arguments, before a
//! driver compiles it; [`alone`] cuts modules that users wrote. Nothing here needs a driver.

pub(crate) mod alone;
pub(crate) mod ptx;
pub(crate) mod specialize;

use crate::common::threads::lock;
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The bytes of PTX of kernels, by their names and specialisations.
static BYTES: Mutex<BTreeMap<(&str, u32), usize>> = Mutex::new(BTreeMap::new());

/// The kernels that [`BYTES`] has at most.
const MOST_KNOWN: usize = 4096;

/// The bytes of the PTX that a driver is given for a kernel. Making that text takes milliseconds, so that
/// what it came to is kept.
pub(crate) fn bytes(entry: EntryPoint, specialization: Specialization) -> usize {
    let key = (entry.name, specialization.word());
    if let Some(&bytes) = lock(&BYTES).get(&key) {
        return bytes;
    }
    let text = ptx::ptx(entry.module).unwrap_or_default();
    let bytes = specialize::specialize(text, entry, &specialization).len();
    let mut known = lock(&BYTES);
    if known.len() == MOST_KNOWN {
        known.clear();
    }
    known.insert(key, bytes);
    bytes
}
