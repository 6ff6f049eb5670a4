//! Proofs of any bytes: none makes a composite number a probable prime.
#![no_main]

use mersenne::{Cpu, KNOWN_PRIMES, Proof};

/// Exponents that are quick to check, of primes and of composite numbers.
const EXPONENTS: [u32; 6] = [61, 67, 101, 127, 251, 521];

/// A residue of a forgery.
#[derive(arbitrary::Arbitrary, Debug)]
enum Forged<'a> {
    Small(u8),
    /// `2^p - 1` less a little.
    Top(u8),
    Bytes(&'a [u8]),
}

impl Forged<'_> {
    fn bytes(&self, p: u32) -> Vec<u8> {
        let length = p.div_ceil(8) as usize;
        let mut bytes = vec![0; length];
        match self {
            Forged::Small(value) => bytes[0] = *value,
            Forged::Top(less) => {
                bytes.fill(255);
                bytes[length - 1] >>= 8 * length as u32 - p;
                bytes[0] -= less;
            }
            Forged::Bytes(from) => {
                let most = from.len().min(length);
                bytes[..most].copy_from_slice(&from[..most]);
            }
        }
        bytes
    }
}

libfuzzer_sys::fuzz_target!(|input: (Option<&[u8]>, u8, Vec<Forged<'_>>)| {
    let (raw, which, residues) = input;
    let p = EXPONENTS[usize::from(which) % EXPONENTS.len()];
    let bytes = raw.map(<[u8]>::to_vec).unwrap_or_else(|| {
        let power = residues.len().saturating_sub(1);
        let header = format!("PRP PROOF\nVERSION=2\nHASHSIZE=64\nPOWER={power}\nNUMBER=M{p}\n");
        let residues = residues.iter().flat_map(|residue| residue.bytes(p));
        header.into_bytes().into_iter().chain(residues).collect()
    });
    let Ok(proof) = Proof::from_bytes(&bytes) else {
        return;
    };
    if proof.number().bits() > 1000 {
        return;
    }
    assert_eq!(Proof::from_bytes(&proof.to_bytes()).as_ref(), Ok(&proof));
    let is_flawless = matches!(proof.flaw(), Ok(None));
    let holds = proof
        .certificate()
        .and_then(|left| left.holds(&Cpu::default()));
    if let Some(p) = proof.number().exponent()
        && proof.is_prime()
        && is_flawless
        && matches!(holds, Ok(true))
    {
        assert!(KNOWN_PRIMES.contains(&p), "a proof for 2^{p} - 1");
    }
});
