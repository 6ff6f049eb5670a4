//! Which PTX the library carries.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The part of `ptx/MANIFEST` that is told.
#[derive(Deserialize)]
struct Manifest {
    modules: BTreeMap<String, String>,
}

/// SHA-256 of the PTX of each module of kernels, by the module's name: which kernels
/// a measurement measured.
///
/// ```
/// let hashes = bigint_host::ptx_hashes();
/// assert_eq!(hashes["mul"].len(), 64);
/// ```
pub fn ptx_hashes() -> BTreeMap<String, String> {
    let manifest: Manifest =
        toml::from_str(include_str!("../../ptx/MANIFEST")).expect("the manifest is read by a test");
    manifest.modules
}
