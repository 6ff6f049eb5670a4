//! RSA signatures by the Chinese remainder theorem, many at a time: with an openssl key in PEM,
//! PKCS #8 or PKCS #1.
//!
//! ```text
//! openssl genrsa -out key.pem 2048
//! cargo run --release -p bigint-host --example rsa -- sign key.pem MESSAGE... > signatures.hex
//! openssl dgst -sha256 -sign key.pem -out one.bin MESSAGE
//! cargo run --release -p bigint-host --example rsa -- verify key.pem MESSAGE one.bin
//! cargo run --release -p bigint-host --example rsa -- rate key.pem 200000
//! ```
//!
//! A signature is `s = h^d mod n` for the padded SHA-256 `h` of a message (PKCS #1 v1.5).
//! With `n = p q` it is put together of two powers modulo numbers half as long, an eighth of
//! the work each (Quisquater and Couvreur; Garner):
//!
//! ```text
//! s_p = h^(d mod p - 1) mod p,  s_q = h^(d mod q - 1) mod q
//! s = s_q + q ((s_p - s_q) / q mod p)
//! ```
//!
//! Each signature is checked by `s^e = h` before anybody sees it: one that is wrong modulo one
//! of the primes gives the key away (Boneh, DeMillo and Lipton). All that is computed with the key
//! is [`Residues`]' constant time, primes included, which are as long as they are wide; the
//! engine overwrites what it had of the key, but nothing does so with the key's file as it was
//! read and parsed: it is an example of the arithmetic, and no tool to keep secrets with.

use bigint_host::{Batch, BigUint, Engine, Layout, Limb, MontgomeryParams, Residues, Shape};
use pkcs1::RsaPrivateKey;
use pkcs8::{PrivateKeyInfo, SecretDocument};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// A private key, each number a batch of one that stands for as many as there are messages.
struct Key {
    engine: Engine,
    /// Bytes of the modulus, and of a signature.
    length: usize,
    modulus: Batch,
    exponent: Batch,
    /// `p` and `q`.
    primes: [MontgomeryParams; 2],
    /// `d` modulo `p - 1` and `q - 1`.
    exponents: [Batch; 2],
    /// `1 / q mod p`.
    coefficient: Residues,
}

impl Key {
    /// Reads what `openssl genrsa` writes.
    fn from_pem(engine: &Engine, pem: &str) -> Result<Self> {
        let (label, document) = SecretDocument::from_pem(pem)?;
        let der = document.as_bytes();
        let key = match label {
            "RSA PRIVATE KEY" => RsaPrivateKey::try_from(der)?,
            _ => RsaPrivateKey::try_from(PrivateKeyInfo::try_from(der)?.private_key)?,
        };
        let engine = engine.for_secrets()?;
        let number = |number: pkcs1::UintRef<'_>| {
            engine.batch_from_biguints(&[BigUint::from_bytes_be(number.as_bytes())])
        };
        let prime = |prime| MontgomeryParams::new(&engine, &number(prime)?);
        let primes = [prime(key.prime1)?, prime(key.prime2)?];
        Ok(Key {
            length: key.modulus.as_bytes().len(),
            modulus: number(key.modulus)?,
            exponent: number(key.public_exponent)?,
            exponents: [number(key.exponent1)?, number(key.exponent2)?],
            coefficient: Residues::new(&number(key.coefficient)?, &primes[0])?,
            primes,
            engine,
        })
    }

    /// The signatures of messages, in their order.
    fn sign(&self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let ([p, q], [d_p, d_q]) = (&self.primes, &self.exponents);
        let hashes = self.padded(messages)?;
        let of_p = Residues::new(&hashes, p)?.pow(d_p)?;
        let of_q = Residues::new(&hashes, q)?.pow(d_q)?.retrieve()?;
        let difference = of_p.sub(&Residues::new(&of_q, p)?)?;
        let quotient = difference.mul(&self.coefficient)?.retrieve()?;
        let signatures = self.engine.mul_add(&quotient, q.moduli(), &of_q)?;
        if self.opened(&signatures)?.rows()? != hashes.rows()? {
            return Err("a signature does not open: the key is none, or memory failed".into());
        }
        let rows = signatures.rows()?;
        let rows = rows.chunks_exact(signatures.width());
        Ok(rows.map(|row| self.bytes(row)).collect())
    }

    /// Whether each is the signature of its message.
    fn verify(&self, messages: &[&[u8]], signatures: &[&[u8]]) -> Result<Vec<bool>> {
        let modulus = self.bytes(&self.modulus.rows()?);
        let width = self.modulus.width();
        let fits = |bytes: &&[u8]| bytes.len() == self.length && **bytes < *modulus;
        let limbs = signatures.iter().flat_map(|bytes| match fits(bytes) {
            true => limbs(bytes, width),
            false => limbs(&[], width),
        });
        let shape = Shape::new(signatures.len(), width, Layout::Contiguous);
        let numbers = self.engine.batch_from_limbs(limbs.collect(), shape)?;
        let (opened, hashes) = (self.opened(&numbers)?, self.padded(messages)?);
        let (opened, hashes) = (opened.rows()?, hashes.rows()?);
        let rows = opened.chunks(width).zip(hashes.chunks(width));
        let pairs = signatures.iter().zip(rows);
        Ok(pairs
            .map(|(bytes, (opened, hash))| fits(bytes) && opened == hash)
            .collect())
    }

    /// `s^e mod n`. Everybody knows the exponent, but it is short: constant time costs nothing.
    fn opened(&self, signatures: &Batch) -> Result<Batch> {
        let (exponent, modulus) = (&self.exponent, &self.modulus);
        Ok(self.engine.pow_mod(signatures, exponent, modulus)?)
    }

    /// Hashes as numbers nearly as long as the modulus (EMSA-PKCS1-v1_5, RFC 8017, 9.2).
    fn padded(&self, messages: &[&[u8]]) -> Result<Batch> {
        /// What says that a SHA-256 follows.
        const SHA_256: [u8; 19] = [
            0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
            0x01, 0x05, 0x00, 0x04, 0x20,
        ];
        let ones = self.length.checked_sub(3 + SHA_256.len() + 32);
        let ones = ones.filter(|&ones| ones >= 8);
        let ones = ones.ok_or("the key is too short for a SHA-256: it takes 496 bits")?;
        let mut bytes = vec![0, 1];
        bytes.resize(2 + ones, 0xff);
        bytes.push(0);
        bytes.extend(SHA_256);
        let before_hash = bytes.len();
        let width = self.modulus.width();
        let mut all = Vec::with_capacity(width * messages.len());
        for message in messages {
            bytes.truncate(before_hash);
            bytes.extend(Sha256::digest(message));
            all.extend(limbs(&bytes, width));
        }
        let shape = Shape::new(messages.len(), width, Layout::Contiguous);
        Ok(self.engine.batch_from_limbs(all, shape)?)
    }

    /// A number as bytes, the highest first.
    fn bytes(&self, limbs: &[Limb]) -> Vec<u8> {
        let bytes = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes());
        let all: Vec<u8> = bytes.collect();
        all[all.len() - self.length..].to_vec()
    }
}

/// The limbs of a number of which the highest byte comes first.
fn limbs(bytes: &[u8], width: usize) -> impl Iterator<Item = Limb> {
    let limb = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0, |limb, &byte| limb << 8 | Limb::from(byte))
    };
    let limbs = bytes.rchunks(4).map(limb);
    limbs.chain(std::iter::repeat(0)).take(width)
}

/// The best rate of signatures of some runs, from messages on the host to signatures on the host.
fn rate(key: &Key, count: usize) -> Result<()> {
    let messages: Vec<String> = (0..count).map(|i| format!("message {i}")).collect();
    let messages: Vec<_> = messages.iter().map(String::as_bytes).collect();
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let started = Instant::now();
        key.sign(&messages)?;
        best = best.min(started.elapsed().as_secs_f64());
    }
    let (bits, rate) = (8 * key.length, count as f64 / best);
    println!("RSA-{bits}, {count} at a time: {rate:.0} signatures a second");
    Ok(())
}

fn read(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let path = path.as_ref();
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn run(arguments: &[&str]) -> Result<bool> {
    let key = |path: &str| Key::from_pem(&Engine::auto(), &String::from_utf8(read(path)?)?);
    match *arguments {
        ["sign", path, ref messages @ ..] if !messages.is_empty() => {
            let messages: Vec<_> = messages.iter().map(read).collect::<Result<_>>()?;
            let messages: Vec<_> = messages.iter().map(Vec::as_slice).collect();
            for signature in key(path)?.sign(&messages)? {
                let hex = signature.iter().map(|byte| format!("{byte:02x}"));
                println!("{}", hex.collect::<String>());
            }
            Ok(true)
        }
        ["verify", path, message, signature] => {
            let good = key(path)?.verify(&[&read(message)?], &[&read(signature)?])?[0];
            println!(
                "{}",
                if good {
                    "verified"
                } else {
                    "not the signature"
                }
            );
            Ok(good)
        }
        ["rate", path, count] => {
            rate(&key(path)?, count.parse()?)?;
            Ok(true)
        }
        _ => Err(
            "usage: rsa sign KEY MESSAGE... | rsa verify KEY MESSAGE SIGNATURE | rsa rate KEY COUNT"
                .into(),
        ),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Made by openssl 3.0: `genrsa 2048`, and `dgst -sha256 -sign` of the message.
    const KEY: &str = include_str!("key.pem");
    const MESSAGE: &[u8] = include_bytes!("message.txt");
    const SIGNATURE: &[u8] = include_bytes!("signature.bin");

    #[test]
    fn signatures_are_those_of_openssl() {
        let key = Key::from_pem(&Engine::auto(), KEY).unwrap();
        let messages = [MESSAGE, b"", b"another", MESSAGE];
        let signatures = key.sign(&messages).unwrap();
        assert_eq!(signatures[0], SIGNATURE);
        assert_eq!(signatures[3], SIGNATURE);
        let signatures: Vec<_> = signatures.iter().map(Vec::as_slice).collect();
        assert_eq!(key.verify(&messages, &signatures).unwrap(), [true; 4]);
        let swapped = [b"another".as_slice(), b"", MESSAGE, MESSAGE];
        let verified = key.verify(&swapped, &signatures).unwrap();
        assert_eq!(verified, [false, true, false, true]);
    }

    #[test]
    fn a_signature_beyond_the_modulus_or_of_another_length_is_none() {
        let key = Key::from_pem(&Engine::auto(), KEY).unwrap();
        let modulus = &key.modulus.to_biguints().unwrap()[0];
        let beyond = (BigUint::from_bytes_be(SIGNATURE) + modulus).to_bytes_be();
        let longer = [&[0], SIGNATURE].concat();
        let verified = key.verify(&[MESSAGE; 2], &[&beyond, &longer]).unwrap();
        assert_eq!(verified, [false; 2]);
    }

    /// A fresh key of each form, where the machine has openssl.
    #[test]
    fn openssl_verifies_what_is_signed_with_its_keys() {
        let openssl = |arguments: &[&str]| {
            let mut command = Command::new("openssl");
            let command = command.args(arguments).stdin(Stdio::null());
            command.stderr(Stdio::null()).output().ok()
        };
        let folder = std::env::temp_dir().join(format!("bigint-rsa-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        let (message, signature) = (path("message"), path("signature"));
        std::fs::write(&message, MESSAGE).unwrap();
        for form in [&["-traditional", "1024"][..], &["1536"]] {
            let pem = path("key.pem");
            let made = openssl(&[&["genrsa", "-out", &pem], form].concat());
            if !made.is_some_and(|made| made.status.success()) {
                break;
            }
            let key = std::fs::read_to_string(&pem).unwrap();
            let key = Key::from_pem(&Engine::auto(), &key).unwrap();
            std::fs::write(&signature, &key.sign(&[MESSAGE]).unwrap()[0]).unwrap();
            let check = [
                "dgst",
                "-sha256",
                "-prverify",
                &pem,
                "-signature",
                &signature,
                &message,
            ];
            assert!(openssl(&check).unwrap().status.success());
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
