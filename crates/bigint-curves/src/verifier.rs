//! Batches of signatures on an engine.

use crate::device::{Device, verdicts};
use crate::ecdsa::{self, OnHost, P256, Secp256k1};
use crate::shared::weierstrass::Verdict;
use crate::{Curve, Rejection, ed25519};
use bigint_host::{Batch, Engine, Error};
use std::fmt;

/// Signatures that a thread takes at a time: one inversion serves them.
const PIECE: usize = 128;

/// Signatures of a launch. While one runs, the host reads the signatures of the next.
const LAUNCH: usize = 1 << 18;

/// The fewest signatures for which a device is taken unless somebody says otherwise: some that fill a large GPU. No GPU was
/// measured.
const DEVICE_FROM: usize = 1 << 14;

/// A message, or its digest, and what somebody says is its signature.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The public key: for ECDSA as SEC 1 has it, 33 bytes (`02` or `03` and `x`) or 65 (`04`, `x` and `y`); for
    /// Ed25519 32 bytes.
    pub public_key: &'a [u8],
    /// For ECDSA the digest of the message, of at least 16 bytes, of which the first 32 count; for Ed25519 the
    /// message.
    pub message: &'a [u8],
    /// 64 bytes: for ECDSA `r` and `s`, the highest byte first; for Ed25519 `R` and `S`.
    pub signature: &'a [u8],
}

/// A signature's outcome.
type Outcome = Result<(), Rejection>;

/// Verifies signatures on an engine's devices and on all cores.
#[derive(Clone)]
pub struct Verifier {
    curve: Curve,
    low_s: bool,
    device: Option<Device>,
    device_from: usize,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("curve", &self.curve)
            .field("low_s", &self.low_s)
            .field("has_device", &self.device.is_some())
            .finish_non_exhaustive()
    }
}

impl Verifier {
    /// A verifier of ECDSA signatures on [`Curve::Secp256k1`] or [`Curve::P256`], or of Ed25519's. If the engine has
    /// devices, their driver compiles the kernels now, which takes seconds the first time.
    ///
    /// # Errors
    /// The engine's, if the driver does not take the kernels.
    pub fn new(engine: &Engine, curve: Curve) -> Result<Self, Error> {
        Ok(Verifier {
            curve,
            low_s: false,
            device: Device::new(engine, curve)?,
            device_from: DEVICE_FROM,
        })
    }

    /// The verifier, which rejects ECDSA signatures whose `s` is more than half of the number of points: from
    /// `(r, s)` anybody can make `(r, n - s)`, which is as good. Bitcoin and Ethereum reject one of them.
    pub fn with_low_s(mut self) -> Self {
        self.low_s = true;
        self
    }

    /// The verifier, which takes the engine's devices for batches of so many signatures and more, and the CPU for
    /// others.
    pub fn with_device_from(mut self, signatures: usize) -> Self {
        self.device_from = signatures;
        self
    }

    /// The outcome of each, in their order.
    ///
    /// # Errors
    /// The engine's, if a device fails.
    pub fn verify(&self, signed: &[Signed<'_>]) -> Result<Vec<Outcome>, Error> {
        match self.curve {
            Curve::Secp256k1 => self.verify_by::<EcdsaOn<Secp256k1>>(signed),
            Curve::P256 => self.verify_by::<EcdsaOn<P256>>(signed),
            Curve::Ed25519 => self.verify_by::<Ed25519>(signed),
        }
    }

    fn verify_by<S: Scheme>(&self, signed: &[Signed<'_>]) -> Result<Vec<Outcome>, Error> {
        let device = self
            .device
            .as_ref()
            .filter(|_| signed.len() >= self.device_from);
        let Some(device) = device else {
            let outcomes = bigint_cpu::map(signed.chunks(PIECE), usize::MAX, |piece| {
                S::outcomes(&S::claims(piece, self.low_s))
            });
            return Ok(outcomes.concat());
        };
        let mut launched = Vec::new();
        for signed in signed.chunks(LAUNCH) {
            launched.push(Launched::<S>::new(device, signed, self.low_s)?);
        }
        let outcomes: Result<Vec<_>, Error> = launched.iter().map(Launched::outcomes).collect();
        Ok(outcomes?.concat())
    }
}

/// Claims whose rows are with the devices, but for those that were rejected before.
struct Launched<S: Scheme> {
    claims: Vec<Result<S::Claim, Rejection>>,
    verdicts: Option<Batch>,
}

impl<S: Scheme> Launched<S> {
    fn new(device: &Device, signed: &[Signed<'_>], low_s: bool) -> Result<Self, Error> {
        let read = bigint_cpu::map(signed.chunks(PIECE), usize::MAX, |piece| {
            let claims = S::claims(piece, low_s);
            let rows: Vec<u32> = claims.iter().flatten().flat_map(S::row).collect();
            (claims, rows)
        });
        let (claims, rows): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let rows = rows.concat();
        let verdicts = if rows.is_empty() {
            None
        } else {
            Some(device.launch(rows)?)
        };
        Ok(Launched {
            claims: claims.into_iter().flatten().collect(),
            verdicts,
        })
    }

    fn outcomes(&self) -> Result<Vec<Outcome>, Error> {
        let verdicts = self.verdicts.as_ref().map_or(Ok(Vec::new()), verdicts)?;
        let mut verdicts = verdicts.into_iter();
        let outcome = |claim: &Result<S::Claim, Rejection>| {
            let claim = claim.as_ref().map_err(|rejection| *rejection)?;
            match verdicts.next().expect("one for each row") {
                Verdict::Valid => Ok(()),
                Verdict::NoPoint => Err(Rejection::NotOnCurve),
                Verdict::Mismatch => Err(Rejection::Mismatch),
                Verdict::Undecided => S::decided(claim),
            }
        };
        Ok(self.claims.iter().map(outcome).collect())
    }
}

/// A signature scheme.
trait Scheme {
    /// What is to be computed for a signature.
    type Claim: Send;

    /// The claims, or why they are rejected before anything is computed.
    fn claims(signed: &[Signed<'_>], low_s: bool) -> Vec<Result<Self::Claim, Rejection>>;

    /// The processor's outcomes.
    fn outcomes(claims: &[Result<Self::Claim, Rejection>]) -> Vec<Outcome>;

    /// The row of a claim for the device.
    fn row(claim: &Self::Claim) -> Vec<u32>;

    /// The outcome where the device's formulas have failed.
    fn decided(claim: &Self::Claim) -> Outcome;
}

/// ECDSA on a curve.
struct EcdsaOn<C>(std::marker::PhantomData<C>);

impl<C: OnHost> Scheme for EcdsaOn<C> {
    type Claim = ecdsa::Claim;

    fn claims(signed: &[Signed<'_>], low_s: bool) -> Vec<Result<Self::Claim, Rejection>> {
        ecdsa::claims::<C>(signed, low_s)
    }

    fn outcomes(claims: &[Result<Self::Claim, Rejection>]) -> Vec<Outcome> {
        let outcome = |claim: &Result<_, Rejection>| {
            ecdsa::outcome::<C>(claim.as_ref().map_err(|rejection| *rejection)?)
        };
        claims.iter().map(outcome).collect()
    }

    fn row(claim: &Self::Claim) -> Vec<u32> {
        ecdsa::row::<C>(claim)
    }

    fn decided(claim: &Self::Claim) -> Outcome {
        ecdsa::decided::<C>(claim)
    }
}

/// Ed25519.
struct Ed25519;

impl Scheme for Ed25519 {
    type Claim = ed25519::Claim;

    fn claims(signed: &[Signed<'_>], _: bool) -> Vec<Result<Self::Claim, Rejection>> {
        signed.iter().map(ed25519::claim).collect()
    }

    fn outcomes(claims: &[Result<Self::Claim, Rejection>]) -> Vec<Outcome> {
        ed25519::outcomes(claims)
    }

    fn row(claim: &Self::Claim) -> Vec<u32> {
        ed25519::row(claim)
    }

    fn decided(_: &Self::Claim) -> Outcome {
        unreachable!("sums of points of edwards25519 never fail")
    }
}
