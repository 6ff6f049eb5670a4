//! Verifies signatures, one to a line of standard input: the curve, then in hexadecimal the public key, the digest (for
//! Ed25519 the message) and the signature. Prints a line for each: `good`, or what is wrong.
//!
//! ```text
//! cargo run --release -p bigint-curves --example verify_lines < signatures.txt
//! ```

use bigint_curves::{Curve, Signed, Verifier};
use bigint_host::Engine;
use std::error::Error;
use std::io;

/// What a line says: a curve's place in [`CURVES`], and the bytes.
type Line = (usize, [Vec<u8>; 3]);

const CURVES: [(&str, Curve); 3] = [
    ("secp256k1", Curve::Secp256k1),
    ("p256", Curve::P256),
    ("ed25519", Curve::Ed25519),
];

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = (0..hex.len()).step_by(2);
    pairs
        .map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok())
        .collect()
}

fn parsed(line: &str) -> Option<Line> {
    let words: Vec<_> = line.split(' ').collect();
    let [curve, key, message, signature] = words[..] else {
        return None;
    };
    let curve = CURVES.iter().position(|(name, _)| *name == curve)?;
    Some((curve, [bytes(key)?, bytes(message)?, bytes(signature)?]))
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = io::read_to_string(io::stdin())?;
    let lines = text.lines().enumerate();
    let lines = lines.map(|(i, line)| parsed(line).ok_or(format!("line {}: {line}", i + 1)));
    let lines: Vec<Line> = lines.collect::<Result<_, _>>()?;
    let engine = Engine::auto();
    let mut said = vec![String::new(); lines.len()];
    for (at, (_, curve)) in CURVES.into_iter().enumerate() {
        // All of a curve are one batch.
        let own = (0..lines.len()).filter(|&i| lines[i].0 == at);
        let own: Vec<_> = own.collect();
        let signed = own.iter().map(|&i| {
            let [public_key, message, signature] = &lines[i].1;
            Signed {
                public_key,
                message,
                signature,
            }
        });
        if own.is_empty() {
            continue;
        }
        let verifier = Verifier::new(&engine, curve)?;
        let outcomes = verifier.verify(&signed.collect::<Vec<_>>())?;
        for (i, outcome) in own.into_iter().zip(outcomes) {
            said[i] = outcome.map_or_else(|rejection| rejection.to_string(), |()| "good".into());
        }
    }
    said.iter().for_each(|line| println!("{line}"));
    Ok(())
}
