#![doc = include_str!("../README.md")]

mod backend;
mod bounds;
mod candidates;
mod cofactor;
mod division;
mod ecm;
mod error;
mod exponent;
mod folder;
mod ladder;
mod lock;
mod lucas_lehmer;
mod n_plus_1;
mod number;
mod p_minus_1;
pub mod primenet;
pub mod program;
mod proof;
mod prp;
mod residue;
mod runner;
mod save;
mod stage_2;
mod steps;
mod temperature;
mod trial_factoring;

pub use backend::{Arithmetic, Auto, Backend, Cpu, Cuda, Factor, Later, Multiplying, Squaring};
pub use bounds::bounds;
pub use candidates::{candidates, number};
pub use cofactor::Cofactor;
pub use ecm::{Curves, Ecm, Found};
pub use error::Error;
pub use exponent::{KNOWN_PRIMES, is_prime};
pub use folder::{Folder, Save};
pub use lock::{Holder, Lock, Wait};
pub use lucas_lehmer::{Check, LucasLehmer};
pub use n_plus_1::NPlus1;
pub use number::Number;
pub use p_minus_1::PMinus1;
pub use proof::{Certificate, Flaw, Proof, PrstCertificate, PrstPower, PrstProof};
pub use prp::{Certification, Prp};
pub use residue::Residue;
pub use runner::{Beside, Runner};
pub use save::Saved;
pub use stage_2::Stage2;
pub use steps::Steps;
pub use trial_factoring::{TrialFactoring, Tries};

/// What a test of a number found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the number is prime (Lucas-Lehmer, Proth, Pocklington, Morrison) or a probable prime (PRP).
    pub is_prime: bool,
    /// The low 64 bits of the last residue: of the Lucas-Lehmer sequence's, of
    /// `3^(N - 1) mod N` (PRP; type 1 for `2^p - 1`), of another base (Pocklington), or of Proth's power.
    pub res64: u64,
    /// Errors that were caught and undone on the way.
    pub errors: u32,
}

/// Whether a test goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The test has come further, and goes on.
    Going,
    /// The test is done, and found this.
    Done(Outcome),
}
