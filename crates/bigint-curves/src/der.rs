//! Signatures of ECDSA in DER, as TLS and Bitcoin write them.

use crate::Rejection;

/// The 64 bytes of `r` and `s` that [`Signed`](crate::Signed) takes, from a signature in DER: a sequence of two
/// integers, each in the one way that DER has.
///
/// ```
/// let mut expected = [0; 64];
/// (expected[31], expected[63]) = (7, 128);
/// let der = [0x30, 7, 2, 1, 7, 2, 2, 0, 128];
/// assert_eq!(bigint_curves::signature_of_der(&der), Ok(expected));
/// ```
///
/// # Errors
/// [`Rejection::SignatureEncoding`] for all else, and for integers that are negative or longer than 32 bytes.
pub fn signature_of_der(der: &[u8]) -> Result<[u8; 64], Rejection> {
    let numbers = || {
        let [0x30, length, rest @ ..] = der else {
            return None;
        };
        let (r, rest) =
            integer((usize::from(*length) == rest.len() && *length < 128).then_some(rest)?)?;
        let (s, rest) = integer(rest)?;
        rest.is_empty().then(|| [r, s].concat())
    };
    let bytes = numbers().ok_or(Rejection::SignatureEncoding)?;
    Ok(bytes.try_into().expect("64 bytes"))
}

/// The 32 bytes of the integer that comes first, and the rest.
fn integer(der: &[u8]) -> Option<([u8; 32], &[u8])> {
    let [2, length, rest @ ..] = der else {
        return None;
    };
    let (integer, rest) = rest.split_at_checked(usize::from(*length))?;
    let magnitude = match integer {
        // A zero is in front where the top bit would say that the number is negative.
        [0, next @ ..] if next.first().is_none_or(|&first| first >= 128) => next,
        [first, ..] if (1..128).contains(first) => integer,
        _ => return None,
    };
    let mut bytes = [0; 32];
    bytes[32usize.checked_sub(magnitude.len())?..].copy_from_slice(magnitude);
    Some((bytes, rest))
}
