//! The crates that decide what is right.

use bigint_curves::{Curve, Rejection, Signed};

/// A public key, a message and a signature.
pub type Row = [Vec<u8>; 3];

/// The rows as the library takes them.
pub fn signed(rows: &[Row]) -> Vec<Signed<'_>> {
    let signed = rows.iter().map(|[public_key, message, signature]| Signed {
        public_key,
        message,
        signature,
    });
    signed.collect()
}

/// The row with another bit in one of the three.
pub fn changed(mut row: Row, seed: usize) -> Row {
    let at = bytes::<3>(seed).map(usize::from);
    let part = &mut row[at[0] % 3];
    if !part.is_empty() {
        let byte = at[1] % part.len();
        part[byte] ^= 1 << (at[2] % 8);
    }
    row
}

/// A key's encodings, and its signature of a digest.
pub struct Made {
    pub compressed: Vec<u8>,
    pub uncompressed: Vec<u8>,
    pub signature: Vec<u8>,
}

/// ECDSA by another crate.
pub struct Oracle {
    pub curve: Curve,
    /// Whether it rejects signatures with a high `s`.
    pub low_s: bool,
    pub sign: fn(secret: &[u8; 32], digest: &[u8]) -> Made,
    pub verify: fn(&Signed<'_>) -> bool,
}

macro_rules! oracle {
    ($crate_name:ident, $curve:ident, $low_s:literal) => {
        Oracle {
            curve: Curve::$curve,
            low_s: $low_s,
            sign: |secret, digest| {
                use $crate_name::ecdsa::{Signature, SigningKey, signature::hazmat::PrehashSigner};
                let key = SigningKey::from_slice(secret).unwrap();
                let signature: Signature = key.sign_prehash(digest).unwrap();
                let point = |compress| {
                    key.verifying_key()
                        .to_sec1_point(compress)
                        .as_bytes()
                        .to_vec()
                };
                Made {
                    compressed: point(true),
                    uncompressed: point(false),
                    signature: signature.to_bytes().to_vec(),
                }
            },
            verify: |signed| {
                use $crate_name::ecdsa::{
                    Signature, VerifyingKey, signature::hazmat::PrehashVerifier,
                };
                let key = VerifyingKey::from_sec1_bytes(signed.public_key);
                let signature = Signature::from_slice(signed.signature);
                let (Ok(key), Ok(signature)) = (key, signature) else {
                    return false;
                };
                key.verify_prehash(signed.message, &signature).is_ok()
            },
        }
    };
}

pub const ECDSA: [Oracle; 2] = [oracle!(k256, Secp256k1, true), oracle!(p256, P256, false)];

impl Oracle {
    /// Checks that all outcomes are the oracle's, and gives them.
    pub fn check(&self, rows: &[Row]) -> Vec<Result<(), Rejection>> {
        let signed = &signed(rows)[..];
        let outcomes = super::on_cpu(self.curve, self.low_s, signed);
        assert_eq!(outcomes.len(), signed.len());
        for (signed, outcome) in signed.iter().zip(&outcomes) {
            assert_eq!(
                outcome.is_ok(),
                (self.verify)(signed),
                "{signed:02x?}: {outcome:?}"
            );
        }
        outcomes
    }
}

/// Bytes that look random.
pub fn bytes<const N: usize>(seed: usize) -> [u8; N] {
    use sha2::{Digest, Sha512};
    let mut bytes = [0; N];
    for (i, chunk) in bytes.chunks_mut(64).enumerate() {
        let hash = Sha512::digest([seed.to_le_bytes(), i.to_le_bytes()].concat());
        chunk.copy_from_slice(&hash[..chunk.len()]);
    }
    bytes
}
