//! Batches of signatures on an engine.

use crate::device::{Device, verdict_of};
use crate::ecdsa::{self, OnHost, P256, Secp256k1};
use crate::shared::weierstrass::Verdict;
use crate::{Curve, Rejection, ed25519};
use bigint_host::{Batch, Engine, Error};
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;

/// Signatures that a thread verifies at a time: one inversion serves them.
const PIECE: usize = 128;

/// Signatures that a thread reads at a time for a device.
const READ: usize = 512;

/// Signatures of a launch unless somebody says otherwise: three blocks of 128 threads on each of 132 multiprocessors, eight times. In the
/// end of a launch a device is not full.
const LAUNCH: usize = 8 * 3 * 128 * 132;

/// Those of Ed25519, whose hash keeps the host busy for longer than a device takes for the rest: in the end all wait for the last launch.
const LAUNCH_OF_HASHES: usize = LAUNCH / 4;

/// The first launch has one in so many of the signatures of a launch, and each after it twice as many as the one before, so that the
/// device begins soon: while one runs, the host reads the signatures of the next.
const FIRST_PART: usize = 4;

/// Launches that a device has before the host waits for the first of them.
const AHEAD: usize = 2;

/// The fewest signatures for which a device is taken unless somebody says otherwise. An H100's kernels took
/// 2.4 to 5.1 ms for 65,536, and take no longer for fewer; 16 cores verify some 700 in that time.
const DEVICE_FROM: usize = 1 << 12;

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
    launch: usize,
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
            launch: match curve {
                Curve::Secp256k1 | Curve::P256 => LAUNCH,
                Curve::Ed25519 => LAUNCH_OF_HASHES,
            },
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

    /// The verifier, which gives a device at most so many signatures at a time, and fewer at first: it computes with them while the host
    /// reads the next. Many fill a device better, and few have the last of them begin sooner.
    ///
    /// # Panics
    /// If there are none.
    pub fn with_launches_of(mut self, signatures: usize) -> Self {
        assert!(signatures > 0, "signatures of a launch");
        self.launch = signatures;
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
        let mut outcomes = vec![Ok(()); signed.len()];
        let (mut signed, mut rest) = (signed, &mut outcomes[..]);
        let mut launched = VecDeque::new();
        let mut size = self.launch.div_ceil(FIRST_PART);
        while !signed.is_empty() {
            let count = size.min(signed.len());
            let (of_launch, later) = rest.split_at_mut(count);
            launched.push_back(Launched::<S>::new(
                device,
                &signed[..count],
                self.low_s,
                of_launch,
            )?);
            (signed, rest) = (&signed[count..], later);
            if launched.len() > AHEAD
                && let Some(first) = launched.pop_front()
            {
                first.finish(self.low_s)?;
            }
            size = self.launch.min(2 * size);
        }
        for launched in launched {
            launched.finish(self.low_s)?;
        }
        Ok(outcomes)
    }
}

/// Each limb of a row of a signature that is rejected before: its numbers have inverses.
const DUMMY: u32 = 1;

/// Signatures whose rows are with the devices. Those that are rejected before have rows too, and verdicts that nobody looks at:
/// so every thread knows where its rows go.
struct Launched<'a, S> {
    signed: &'a [Signed<'a>],
    /// Rejections, and `Ok` where a verdict is to come.
    outcomes: &'a mut [Outcome],
    /// `None` if all were rejected.
    verdicts: Option<Batch>,
    scheme: PhantomData<S>,
}

impl<'a, S: Scheme> Launched<'a, S> {
    fn new(
        device: &Device,
        signed: &'a [Signed<'a>],
        low_s: bool,
        outcomes: &'a mut [Outcome],
    ) -> Result<Self, Error> {
        let mut rows = device.rows(signed.len())?;
        let parts = signed
            .chunks(READ)
            .zip(rows.chunks_mut(READ * device.width()))
            .zip(outcomes.chunks_mut(READ));
        bigint_cpu::share(parts, usize::MAX, |((signed, rows), outcomes)| {
            let rows = rows.chunks_exact_mut(device.width());
            for ((signed, row), outcome) in signed.iter().zip(rows).zip(outcomes) {
                *outcome = S::fill_row(signed, low_s, row);
                if outcome.is_err() {
                    row.fill(DUMMY);
                }
            }
        });
        let verdicts = match outcomes.iter().any(Result::is_ok) {
            true => Some(device.launch(rows)?),
            false => None,
        };
        Ok(Launched {
            signed,
            outcomes,
            verdicts,
            scheme: PhantomData,
        })
    }

    /// Waits for the verdicts, and turns them into outcomes, on all cores: somebody may have made all of them undecided.
    fn finish(self, low_s: bool) -> Result<(), Error> {
        let Some(verdicts) = &self.verdicts else {
            return Ok(());
        };
        let verdicts = verdicts.rows()?;
        let parts = self.signed.chunks(READ);
        let parts = parts
            .zip(self.outcomes.chunks_mut(READ))
            .zip(verdicts.chunks(READ));
        bigint_cpu::share(parts, usize::MAX, |((signed, outcomes), verdicts)| {
            let all = signed.iter().zip(outcomes).zip(verdicts);
            for ((signed, outcome), &verdict) in all.filter(|((_, outcome), _)| outcome.is_ok()) {
                *outcome = match verdict_of(verdict) {
                    Verdict::Valid => Ok(()),
                    Verdict::NoPoint => Err(Rejection::NotOnCurve),
                    Verdict::Mismatch => Err(Rejection::Mismatch),
                    Verdict::Undecided => S::decided(signed, low_s),
                };
            }
        });
        Ok(())
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

    /// Writes the row of a signature for the device, every limb of it, if it is not rejected before.
    fn fill_row(signed: &Signed<'_>, low_s: bool, row: &mut [u32]) -> Outcome;

    /// The outcome of a signature for which the device's formulas have failed.
    fn decided(signed: &Signed<'_>, low_s: bool) -> Outcome;
}

/// ECDSA on a curve.
struct EcdsaOn<C>(PhantomData<C>);

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

    fn fill_row(signed: &Signed<'_>, low_s: bool, row: &mut [u32]) -> Outcome {
        ecdsa::fill_row::<C>(signed, low_s, row)
    }

    fn decided(signed: &Signed<'_>, low_s: bool) -> Outcome {
        let claims = ecdsa::claims::<C>(std::slice::from_ref(signed), low_s);
        claims
            .into_iter()
            .try_for_each(|claim| ecdsa::decided::<C>(&claim?))
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

    fn fill_row(signed: &Signed<'_>, _: bool, row: &mut [u32]) -> Outcome {
        ed25519::fill_row(signed, row)
    }

    fn decided(_: &Signed<'_>, _: bool) -> Outcome {
        unreachable!("sums of points of edwards25519 never fail")
    }
}
