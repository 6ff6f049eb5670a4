//! ECDSA: `(r, s)` is a signature of a digest `e` by the key `Q` if `r` is `x(R) mod n` for the point
//! `R = (e / s) G + (r / s) Q`, `n` being the number of points.
//!
//! `x(R)` is below the prime, so it is `r` or `r + n`, if that is below the prime. So that no point is divided out, both are
//! compared with `X / Z^2` by products.

use crate::host::batch::invert;
use crate::host::digits::{Naf, offset, place};
use crate::host::fold::{Fold, OfSecp256k1, Special};
use crate::host::generator::Places;
use crate::host::montgomery::{Modulus, Montgomery, OfP256, PointsOfP256, PointsOfSecp256k1};
use crate::host::words::{self, Words, is_less};
use crate::host::{complete, generator, split};
use crate::shared::combination::{Digits, PLACE_BITS, PLACE_ENTRIES};
use crate::shared::field::{Field, Limbs};
use crate::shared::weierstrass::{self, Affine, Curve, Ordinate, Verdict, decoded};
use crate::shared::{curves, rows};
use crate::{Rejection, Signed};
use std::sync::LazyLock;

/// A curve as the processor computes with it.
pub trait OnHost: Curve<Field: Field<Element = Words>> + 'static {
    /// The prime of the field.
    const PRIME: Words;
    /// The number of points.
    type Points: Modulus;
    /// Digits of numbers modulo that.
    type Digits: Digits;

    /// The digits of a number.
    fn digits(v: Words) -> Self::Digits;

    /// The processor's table of the generator.
    fn table() -> &'static [Affine<Words>];
}

/// Places of a number below `2^256`, of which the last is a carry.
const PLACES: Places = Places {
    count: 33,
    bits: PLACE_BITS,
};

/// secp256k1.
pub type Secp256k1 = curves::Secp256k1<Fold<OfSecp256k1>>;
/// P-256.
pub type P256 = curves::P256<Montgomery<OfP256>>;

impl OnHost for Secp256k1 {
    const PRIME: Words = OfSecp256k1::PRIME;
    type Points = PointsOfSecp256k1;
    type Digits = Naf<2, 129>;

    fn digits(v: Words) -> Self::Digits {
        Naf::new(split::halves(v))
    }

    fn table() -> &'static [Affine<Words>] {
        static TABLE: LazyLock<Vec<Affine<Words>>> =
            LazyLock::new(|| generator::of_curve::<Secp256k1>(PLACES, OfSecp256k1::PRIME));
        &TABLE
    }
}

impl OnHost for P256 {
    const PRIME: Words = OfP256::MODULUS;
    type Points = PointsOfP256;
    type Digits = Naf<1, 257>;

    fn digits(v: Words) -> Self::Digits {
        Naf::new([(v, false)])
    }

    fn table() -> &'static [Affine<Words>] {
        static TABLE: LazyLock<Vec<Affine<Words>>> =
            LazyLock::new(|| generator::of_curve::<P256>(PLACES, OfP256::MODULUS));
        &TABLE
    }
}

/// What a public key tells: `x`, and `y` or its parity.
pub fn key<C: OnHost>(bytes: &[u8]) -> Result<(Limbs, Ordinate), Rejection> {
    let coordinate = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("32 bytes");
        let number = words::of_big_endian(bytes);
        let is_below = is_less(number, C::PRIME);
        is_below
            .then(|| words::limbs(number))
            .ok_or(Rejection::KeyEncoding)
    };
    match (bytes.first(), bytes.len()) {
        (Some(2 | 3), 33) => Ok((coordinate(&bytes[1..])?, Ordinate::IsOdd(bytes[0] == 3))),
        (Some(4), 65) => Ok((
            coordinate(&bytes[1..33])?,
            Ordinate::Is(coordinate(&bytes[33..])?),
        )),
        _ => Err(Rejection::KeyEncoding),
    }
}

/// A signature whose numbers are in range.
pub struct Claim {
    /// The public key.
    pub key: (Limbs, Ordinate),
    /// `e / s` and `r / s`.
    pub factors: [Words; 2],
    /// What `x(R)` may be.
    pub candidates: [Limbs; 2],
}

/// The number that a digest is: its first 256 bits.
fn number_of_digest(digest: &[u8]) -> Result<Words, Rejection> {
    if digest.len() < 16 {
        return Err(Rejection::ShortDigest);
    }
    let first = &digest[..digest.len().min(32)];
    let mut bytes = [0; 32];
    bytes[32 - first.len()..].copy_from_slice(first);
    Ok(words::of_big_endian(&bytes))
}

/// The numbers `r` and `s` of a signature.
fn numbers<C: OnHost>(signature: &[u8], low_s: bool) -> Result<[Words; 2], Rejection> {
    let (halves, []) = signature.as_chunks::<32>() else {
        return Err(Rejection::SignatureEncoding);
    };
    let [r, s] = halves else {
        return Err(Rejection::SignatureEncoding);
    };
    let n = C::Points::MODULUS;
    let [r, s] = [r, s].map(words::of_big_endian);
    if [r, s].into_iter().any(|x| x == [0; 4] || !is_less(x, n)) {
        return Err(Rejection::Range);
    }
    // n is odd: s is high if it is more than n - s.
    if low_s && is_less(words::subtract(n, s).0, s) {
        return Err(Rejection::HighS);
    }
    Ok([r, s])
}

/// What a signature says: a key whose coordinates are below the prime, and numbers in range.
struct Read {
    key: (Limbs, Ordinate),
    r: Words,
    s: Words,
    digest: Words,
}

/// What a signature says, or why it is rejected before anything is computed.
fn read<C: OnHost>(signed: &Signed<'_>, low_s: bool) -> Result<Read, Rejection> {
    let key = key::<C>(signed.public_key)?;
    let [r, s] = numbers::<C>(signed.signature, low_s)?;
    let digest = number_of_digest(signed.message)?;
    Ok(Read { key, r, s, digest })
}

/// What is to be computed for each signature, or why it is rejected. One inversion serves all.
pub fn claims<C: OnHost>(signed: &[Signed<'_>], low_s: bool) -> Vec<Result<Claim, Rejection>> {
    type Scalars<C> = Montgomery<<C as OnHost>::Points>;
    let n = C::Points::MODULUS;
    let element = |words| Scalars::<C>::element(words::limbs(words));
    let read: Vec<_> = signed
        .iter()
        .map(|signed| read::<C>(signed, low_s))
        .collect();
    let mut inverses: Vec<Words> = read.iter().flatten().map(|read| element(read.s)).collect();
    invert::<Scalars<C>>(&mut inverses, n);
    let mut inverses = inverses.into_iter();
    let mut claim = |Read { key, r, digest, .. }| {
        let inverse = inverses.next().expect("one for each that was read");
        // The product of a number and a form is a number.
        let factors = [digest, r].map(|x| Scalars::<C>::mul(x, inverse));
        let (above, carry) = words::add(r, n);
        let other = if carry == 0 && is_less(above, C::PRIME) {
            above
        } else {
            r
        };
        Claim {
            key,
            factors,
            candidates: [r, other].map(words::limbs),
        }
    };
    read.into_iter().map(|read| read.map(&mut claim)).collect()
}

/// The processor's outcome.
pub fn outcome<C: OnHost>(claim: &Claim) -> Result<(), Rejection> {
    let [u, v] = claim.factors;
    let places = offset(u, PLACE_BITS);
    let table = C::table();
    let fixed = |at: u32| {
        let (entry, is_negative) = place(&places, PLACE_BITS, at)?;
        Some((table[at as usize * PLACE_ENTRIES + entry], is_negative))
    };
    let digits = C::digits(v);
    match weierstrass::verdict::<C, _>(claim.key, &digits, PLACES.count, fixed, || claim.candidates)
    {
        Verdict::Valid => Ok(()),
        Verdict::NoPoint => Err(Rejection::NotOnCurve),
        Verdict::Mismatch => Err(Rejection::Mismatch),
        Verdict::Undecided => decided::<C>(claim),
    }
}

/// The outcome where formulas have failed.
pub fn decided<C: OnHost>(claim: &Claim) -> Result<(), Rejection> {
    let (q, is_on_curve) = decoded::<C>(claim.key.0, claim.key.1);
    if !is_on_curve {
        return Err(Rejection::NotOnCurve);
    }
    let is_right = complete::matches::<C>(q, claim.factors, claim.candidates);
    is_right.then_some(()).ok_or(Rejection::Mismatch)
}

/// Writes the row of a signature for the device, every limb of it, if it is not rejected before.
pub fn fill_row<C: OnHost>(
    signed: &Signed<'_>,
    low_s: bool,
    row: &mut [u32],
) -> Result<(), Rejection> {
    let Read { key, r, s, digest } = read::<C>(signed, low_s)?;
    let y = match key.1 {
        Ordinate::Is(y) => y,
        Ordinate::IsOdd(is_odd) => [!u32::from(is_odd), !0, !0, !0, !0, !0, !0, !0],
    };
    let [r, s, digest] = [r, s, digest].map(words::limbs);
    row.copy_from_slice([key.0, y, r, s, digest].as_flattened());
    Ok(())
}

/// The generator's table for the device.
pub fn device_table<C: OnHost>() -> Vec<u32> {
    let places = Places {
        count: rows::PLACES,
        bits: rows::PLACE_BITS,
    };
    let points = generator::of_curve::<C>(places, C::PRIME);
    let limbs = |point: &Affine<Words>| [point.x, point.y].map(words::limbs);
    points.iter().flat_map(limbs).flatten().collect()
}
