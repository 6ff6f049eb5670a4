//! Verdicts beside those of k256, p256, ed25519-dalek and Wycheproof's vectors.

#[cfg(feature = "cuda")]
mod device;
mod ecdsa;
mod ed25519;
mod oracles;
mod secret;
mod wycheproof;

use bigint_curves::{Curve, Rejection, Signed, Verifier};
use bigint_host::Engine;

/// The outcomes on the CPU.
fn on_cpu(curve: Curve, low_s: bool, signed: &[Signed<'_>]) -> Vec<Result<(), Rejection>> {
    let verifier = Verifier::new(&Engine::cpu(), curve).unwrap();
    let verifier = if low_s {
        verifier.with_low_s()
    } else {
        verifier
    };
    verifier.verify(signed).unwrap()
}
