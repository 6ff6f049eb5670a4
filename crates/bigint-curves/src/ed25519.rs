//! Ed25519 by the strict rule.
//!
//! `(R, S)` is a signature of a message `M` by the key `A` if
//!
//! * `S` is less than the order `L` of the generator `B` ([RFC 8032]),
//! * neither `A` nor `R` is one of the eight points of small order,
//! * and `R` is, byte for byte, the encoding of `S B - k A` with `k = SHA-512(R, A, M) mod L`.
//!
//! This is what `ed25519_dalek::VerifyingKey::verify_strict` takes. The equation is the one without the cofactor. `A`'s encoding may
//! be one that is not canonical (`y` from the prime on, or -0), as there; `R`'s may not.

use crate::host::batch::invert;
use crate::host::digits::{Naf, offset, place};
use crate::host::fold::{Fold, Of25519, Special};
use crate::host::generator::{self, Places};
use crate::host::montgomery::{Modulus, Montgomery, OrderOf25519};
use crate::host::words::{self, Words, is_less, of_little_endian};
use crate::shared::combination::{PLACE_BITS, PLACE_ENTRIES};
use crate::shared::curves::GENERATOR;
use crate::shared::edwards::{Fixed, combined, encoded};
use crate::shared::field::{Field, Limbs};
use crate::shared::rows;
use crate::{Rejection, Signed};
use sha2::{Digest, Sha512};
use std::sync::LazyLock;

/// The field.
pub type F = Fold<Of25519>;
type Scalars = Montgomery<OrderOf25519>;

/// `y` of the points of small order: of orders 4, 1, 8, 8 and 2.
const SMALL: [Words; 5] = [
    [0; 4],
    [1, 0, 0, 0],
    [
        0xb027_b2c2_8f95_e826,
        0xf098_eff2_89f4_c345,
        0x3933_c6d3_05ac_dfd5,
        0x05fc_536d_8802_38b1,
    ],
    [
        0x4fd8_4d3d_706a_17c7,
        0x0f67_100d_760b_3cba,
        0xc6cc_392c_fa53_202a,
        0x7a03_ac92_77fd_c74e,
    ],
    [u64::MAX - 19, u64::MAX, u64::MAX, u64::MAX >> 1],
];

/// A signature that is to be looked at.
pub struct Claim {
    /// The encodings of the key and of `R`.
    pub points: [Limbs; 2],
    /// `S` and `k`.
    pub factors: [Words; 2],
}

/// Whether an encoding is that of a point of small order.
fn is_small(encoding: Words) -> bool {
    let [a, b, c, d] = encoding;
    let y = words::of_limbs(F::number([a, b, c, d & u64::MAX >> 1]));
    SMALL.contains(&y)
}

/// What is to be computed for a signature, or why it is rejected.
pub fn claim(signed: &Signed<'_>) -> Result<Claim, Rejection> {
    let key: &[u8; 32] = signed
        .public_key
        .try_into()
        .map_err(|_| Rejection::KeyEncoding)?;
    let (halves, []) = signed.signature.as_chunks::<32>() else {
        return Err(Rejection::SignatureEncoding);
    };
    let [r, s] = halves else {
        return Err(Rejection::SignatureEncoding);
    };
    let [a, s_of, r_of] = [key, s, r].map(of_little_endian);
    if !is_less(s_of, OrderOf25519::MODULUS) {
        return Err(Rejection::Range);
    }
    if is_small(a) || is_small(r_of) {
        return Err(Rejection::SmallOrder);
    }
    let hash = Sha512::new()
        .chain_update(r)
        .chain_update(key)
        .chain_update(signed.message)
        .finalize();
    let (halves, _) = hash.as_chunks::<32>();
    let k = Scalars::of_halves([&halves[0], &halves[1]].map(of_little_endian));
    Ok(Claim {
        points: [a, r_of].map(words::limbs),
        factors: [s_of, words::of_limbs(Scalars::number(k))],
    })
}

/// Places of a number below `2^255`.
const PLACES: Places = Places {
    count: 32,
    bits: PLACE_BITS,
};

/// The processor's table of the generator.
fn table() -> &'static [Fixed<Words>] {
    static TABLE: LazyLock<Vec<Fixed<Words>>> =
        LazyLock::new(|| generator::of_edwards::<F>(PLACES, GENERATOR, Of25519::PRIME));
    &TABLE
}

/// The processor's verdicts. One inversion serves all.
pub fn outcomes(claims: &[Result<Claim, Rejection>]) -> Vec<Result<(), Rejection>> {
    let table = table();
    let combine = |claim: &Claim| {
        let [s, k] = claim.factors;
        let places = offset(s, PLACE_BITS);
        let fixed = |at: u32| {
            let (entry, is_negative) = place(&places, PLACE_BITS, at)?;
            Some((table[at as usize * PLACE_ENTRIES + entry], is_negative))
        };
        let digits: Naf<1, 254> = Naf::new([(k, false)]);
        let (sum, is_point) = combined::<F, _>(claim.points[0], &digits, PLACES.count, fixed);
        is_point.then_some(sum).ok_or(Rejection::NotOnCurve)
    };
    let sums: Vec<_> = claims
        .iter()
        .map(|claim| combine(claim.as_ref().map_err(|rejection| *rejection)?))
        .collect();
    let mut inverses: Vec<Words> = sums.iter().flatten().map(|sum| sum[2]).collect();
    invert::<F>(&mut inverses, Of25519::PRIME);
    let mut inverses = inverses.into_iter();
    let outcome = |(claim, sum): (&Result<Claim, Rejection>, Result<[Words; 3], Rejection>)| {
        let sum = sum?;
        let inverse = inverses.next().expect("one for each sum");
        let claim = claim.as_ref().map_err(|rejection| *rejection)?;
        if encoded::<F>(sum, inverse) == claim.points[1] {
            Ok(())
        } else {
            Err(Rejection::Mismatch)
        }
    };
    claims.iter().zip(sums).map(outcome).collect()
}

/// Writes the row of a signature for the device, every limb of it, if it is not rejected before.
pub fn fill_row(signed: &Signed<'_>, row: &mut [u32]) -> Result<(), Rejection> {
    let Claim { points, factors } = claim(signed)?;
    let [s, k] = factors;
    row[..16].copy_from_slice(points.as_flattened());
    // Both are short: nothing is carried out of 256 bits.
    row[16..24].copy_from_slice(&offset(s, rows::PLACE_BITS)[..8]);
    row[24..].copy_from_slice(&offset(k, rows::WINDOW_BITS)[..8]);
    Ok(())
}

/// The generator's table for the device.
pub fn device_table() -> Vec<u32> {
    let places = Places {
        count: rows::PLACES,
        bits: rows::PLACE_BITS,
    };
    let points = generator::of_edwards::<F>(places, GENERATOR, Of25519::PRIME);
    let limbs = |point: &Fixed<Words>| [point.plus, point.minus, point.product].map(words::limbs);
    points.iter().flat_map(limbs).flatten().collect()
}
