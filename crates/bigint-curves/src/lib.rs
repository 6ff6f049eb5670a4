#![doc = include_str!("../README.md")]

mod der;
mod device;
mod ecdsa;
mod ed25519;
#[doc(hidden)] // For examples/discrete-logarithm, without a promise.
pub mod host;
mod rejection;
mod secret;
#[doc(hidden)] // As `host`.
pub mod shared;
mod verifier;

pub use der::signature_of_der;
pub use rejection::Rejection;
pub use verifier::{Signed, Verifier};

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// secp256k1, Bitcoin's and Ethereum's.
    Secp256k1,
    /// P-256 of FIPS 186, also secp256r1.
    P256,
    /// edwards25519.
    Ed25519,
}
