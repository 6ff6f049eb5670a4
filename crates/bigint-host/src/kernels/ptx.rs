//! The PTX that the library carries.

use bigint_core::for_each_operation;
use bigint_core::fused::FUSED_MODULE;
use bigint_core::gather::GATHER_MODULE;
use bigint_core::kernel::TENSOR_MODULE;
use bigint_core::modules::CEILING;
use bigint_core::rns::RNS_MODULE;
use bigint_core::transform::{grid, ntt, rings};
use bigint_core::trial::TRIAL_MODULE;
use bigint_core::weighted::{self, long};
use serde::Deserialize;
use std::collections::BTreeMap;

macro_rules! modules {
    ($(
        $(#[$doc:meta])*
        $variant:ident $operation:ident $operands:tt -> $results:tt {
            exact: $exact:tt,
            flag: $flag:ident,
            methods: $method:ident $wrapping:tt $overflowing:tt,
            syntax: $syntax:ident$(($symbol:literal))?,
            $(signs: $signs:ident,)?
            $(cost: $cost:ident,)?
            $(properties: $properties:tt,)?
            kernels: {$($row:tt)*}
        }
    )*) => {
        /// The PTX of every module, by name; operations without a module have none.
        const MODULES: &[(&str, &[&str])] = &[
            $((stringify!($operation), own_texts!($operation $($row)*)),)*
            (CEILING.module, &[include_str!("../../ptx/ceiling.ptx")]),
            (FUSED_MODULE, &[include_str!("../../ptx/fused.ptx")]),
            (GATHER_MODULE, &[include_str!("../../ptx/gather.ptx")]),
            (grid::MODULE, &[include_str!("../../ptx/mul_grid.ptx")]),
            (
                grid::AGAIN_MODULE,
                &[include_str!("../../ptx/mul_grid_again.ptx")],
            ),
            (ntt::MODULE, &[include_str!("../../ptx/mul_ntt.ptx")]),
            (rings::MODULE, &[include_str!("../../ptx/rings.ptx")]),
            (RNS_MODULE, &[include_str!("../../ptx/rns.ptx")]),
            ("rns_warpgroups_5", &[include_str!("../../ptx/rns_warpgroups_5.ptx")]),
            ("rns_warpgroups_7", &[include_str!("../../ptx/rns_warpgroups_7.ptx")]),
            ("rns_warpgroups_9", &[include_str!("../../ptx/rns_warpgroups_9.ptx")]),
            ("rns_warpgroups_13", &[include_str!("../../ptx/rns_warpgroups_13.ptx")]),
            ("rns_warpgroups_18", &[include_str!("../../ptx/rns_warpgroups_18.ptx")]),
            ("rns_warpgroups_26", &[include_str!("../../ptx/rns_warpgroups_26.ptx")]),
            ("rns_warpgroups_35", &[include_str!("../../ptx/rns_warpgroups_35.ptx")]),
            (TENSOR_MODULE, &[include_str!("../../ptx/mul_toeplitz.ptx")]),
            (TRIAL_MODULE, &[include_str!("../../ptx/trial.ptx")]),
            (weighted::MODULE, &[include_str!("../../ptx/weighted.ptx")]),
            (long::LONG_MODULE, &[include_str!("../../ptx/weighted_long.ptx")]),
        ];
    };
}

/// An operation's module, if one of its rows has a text of its own.
macro_rules! own_texts {
    ($operation:ident) => {
        &[]
    };
    // The text is another row's.
    (
        $operation:ident $algorithm:ident $level:ident $lanes:tt $layouts:tt
        $(: $family:ident)? $(@ $blocks:literal)? = $text:ident $by:ident $($rows:tt)*
    ) => {
        own_texts!($operation $($rows)*)
    };
    ($operation:ident $($rows:tt)*) => {
        &[include_str!(concat!("../../ptx/", stringify!($operation), ".ptx"))]
    };
}
for_each_operation!(modules);

/// The PTX of a module of kernels, [of one of these](bigint_core::modules::MODULES), as it is
/// committed: not [specialised](crate::specialize) to anything.
///
/// ```
/// assert!(bigint_host::ptx("mul").is_some_and(|ptx| ptx.starts_with(".version")));
/// assert_eq!(bigint_host::ptx("no_such_module"), None);
/// ```
pub fn ptx(module: &str) -> Option<&'static str> {
    let (_, ptx) = MODULES.iter().find(|(name, _)| *name == module)?;
    ptx.first().copied()
}

/// The part of `ptx/MANIFEST` that is read.
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
