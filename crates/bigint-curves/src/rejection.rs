//! Why a signature is not accepted.

/// Why a signature is not accepted, or a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The public key has another length or another first byte than an encoding has, or a coordinate that is not below
    /// the prime.
    #[error("the public key is no encoding of a point")]
    KeyEncoding,
    /// The public key's coordinates are those of no point.
    #[error("the public key is not on the curve")]
    NotOnCurve,
    /// The public key, or the point `R` of the signature, is one of the eight points whose eighth multiple is 0.
    #[error("a point has a small order")]
    SmallOrder,
    /// The signature has another length than 64 bytes, or is not the DER of two numbers.
    #[error("the signature is no encoding of two numbers")]
    SignatureEncoding,
    /// `r` or `s` is 0, or not below the number of points; `S` of Ed25519 is not below the generator's order.
    #[error("a number of the signature is out of range")]
    Range,
    /// `s` is more than half of the number of points, and low ones are asked for.
    #[error("s is in the upper half")]
    HighS,
    /// The digest is shorter than 16 bytes.
    #[error("the digest is too short")]
    ShortDigest,
    /// The signature is not of this message by this key.
    #[error("the signature does not match")]
    Mismatch,
}
