//! Signatures verified in batches beside libsecp256k1, k256, p256 and ed25519-dalek: the same signatures in the same process, in turn.
//!
//! Everyone starts from bytes: a key is read, a signature is read and verified. Each signature has a key of its own.
//! `cargo run --release -- [THREADS] [SIGNATURES] [ROUNDS] [LAUNCH]`; on one thread the clock is that thread's CPU time, on
//! several the wall's, and a GPU verifies beside them if there is one: alone, in launches of at most so many, if a number is given, and of
//! as many as the library chooses if it is 0.

use bigint_curves::{Curve, Signed, Verifier};
use bigint_host::Engine;
use cpu_time::ThreadTime;
use sha2::{Digest, Sha256};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A key, a message or its digest, and a signature.
type Row = [Vec<u8>; 3];

/// Who verifies a signature, or all.
enum Who {
    Ours(Verifier),
    Peer(fn(&Row) -> bool),
}

fn digest(seed: usize) -> [u8; 32] {
    Sha256::digest(seed.to_le_bytes()).into()
}

macro_rules! ecdsa {
    ($krate:ident) => {{
        use $krate::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
        use $krate::ecdsa::{Signature, SigningKey, VerifyingKey};
        let row = |i: usize, compress: bool| -> Row {
            let key = SigningKey::from_slice(&digest(2 * i)).expect("a key");
            let message = digest(2 * i + 1);
            let signature: Signature = key.sign_prehash(&message).expect("a signature");
            let point = key.verifying_key().to_sec1_point(compress);
            [
                point.as_bytes().to_vec(),
                message.to_vec(),
                signature.to_bytes().to_vec(),
            ]
        };
        let verify: fn(&Row) -> bool = |[key, message, signature]| {
            let key = VerifyingKey::from_sec1_bytes(key).expect("a key");
            let signature = Signature::from_slice(signature).expect("a signature");
            key.verify_prehash(message, &signature).is_ok()
        };
        (row, verify)
    }};
}

fn by_libsecp256k1([key, message, signature]: &Row) -> bool {
    use secp256k1::{Message, PublicKey, ecdsa::Signature};
    let key = PublicKey::from_slice(key).expect("a key");
    let signature = Signature::from_compact(signature).expect("a signature");
    let message = Message::from_digest(message[..].try_into().expect("32 bytes"));
    secp256k1::ecdsa::verify(&signature, message, &key).is_ok()
}

fn ed25519(i: usize) -> Row {
    use ed25519_dalek::{Signer, SigningKey};
    let key = SigningKey::from_bytes(&digest(2 * i));
    let message = digest(2 * i + 1);
    let signature = key.sign(&message).to_bytes();
    [
        key.verifying_key().to_bytes().to_vec(),
        message.to_vec(),
        signature.to_vec(),
    ]
}

fn by_dalek([key, message, signature]: &Row) -> bool {
    use ed25519_dalek::{Signature, VerifyingKey};
    let key = VerifyingKey::from_bytes(key[..].try_into().expect("32 bytes")).expect("a key");
    let signature = Signature::from_slice(signature).expect("a signature");
    key.verify_strict(message, &signature).is_ok()
}

/// What everyone takes for the batch.
fn time(who: &Who, rows: &[Row], threads: usize) -> Duration {
    let signed: Vec<_> = rows
        .iter()
        .map(|[public_key, message, signature]| Signed {
            public_key,
            message,
            signature,
        })
        .collect();
    let (wall, own) = (Instant::now(), ThreadTime::now());
    let good = match who {
        Who::Ours(verifier) => {
            let outcomes = verifier.verify(&signed).expect("no engine fails");
            outcomes.iter().all(Result::is_ok)
        }
        Who::Peer(verify) => {
            let parts = rows.chunks(rows.len().div_ceil(4 * threads));
            let good = bigint_cpu::map(parts, threads, |part| part.iter().all(verify));
            good.into_iter().all(|good| good)
        }
    };
    assert!(black_box(good), "all signatures are good");
    if threads == 1 {
        own.elapsed()
    } else {
        wall.elapsed()
    }
}

/// Rows for seeds from 0, made on all threads.
fn rows(count: usize, threads: usize, row: impl Fn(usize) -> Row + Sync) -> Vec<Row> {
    let seeds: Vec<usize> = (0..count).collect();
    let parts = seeds.chunks(count.div_ceil(4 * threads));
    bigint_cpu::map(parts, threads, |part| {
        part.iter().map(|&i| row(i)).collect::<Vec<_>>()
    })
    .concat()
}

fn measure(
    what: &str,
    rows: &[Row],
    mut everyone: Vec<(&str, Who)>,
    gpu: Option<Verifier>,
    (threads, rounds, launch): (usize, usize, Option<usize>),
) {
    if let (Some(gpu), Some(launch)) = (&gpu, launch) {
        let verifier = gpu.clone().with_device_from(1);
        let verifier = match launch {
            0 => verifier,
            launch => verifier.with_launches_of(launch),
        };
        everyone = vec![("ours, GPU", Who::Ours(verifier))];
    } else {
        everyone.extend(gpu.map(|verifier| ("ours, GPU", Who::Ours(verifier.with_device_from(1)))));
    }
    let mut times = vec![Vec::new(); everyone.len()];
    for round in 0..=rounds {
        for turn in 0..everyone.len() {
            let at = (round + turn) % everyone.len();
            let time = time(&everyone[at].1, rows, threads);
            // The first round makes tables.
            if round > 0 {
                times[at].push(time.as_secs_f64() * 1e6 / rows.len() as f64);
            }
        }
    }
    for ((who, _), times) in everyone.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let [least, quarter, median, more] = [0, 1, 2, 3].map(|i| times[i * (times.len() - 1) / 4]);
        let spread = 100.0 * (more - quarter) / median;
        println!(
            "{what:<32}{who:<16}{median:>8.4} us   least {least:>8.4}   spread {spread:>4.1} %"
        );
    }
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"));
    let threads = arguments.next().unwrap_or(1);
    let count = arguments.next().unwrap_or(1024);
    let rounds = arguments.next().unwrap_or(11);
    let how = (threads, rounds, arguments.next());
    bigint_cpu::set_threads(threads);
    let clock = if threads == 1 {
        "CPU time"
    } else {
        "wall time"
    };
    println!("{count} signatures on {threads} threads, {clock} for each, {rounds} rounds");
    // A GPU's time is on no thread's clock.
    let gpu = (threads > 1).then(|| Engine::cuda(0)).and_then(Result::ok);
    if let Some(engine) = &gpu {
        println!("GPU: {}", engine.back_end());
    }
    let on_gpu = |curve| {
        let engine = gpu.as_ref()?;
        Some(Verifier::new(engine, curve).expect("the driver takes the kernels"))
    };
    let ours = |curve| {
        (
            "ours",
            Who::Ours(Verifier::new(&Engine::cpu(), curve).expect("no device")),
        )
    };
    for compress in [false, true] {
        let form = if compress { "33 bytes" } else { "65 bytes" };
        let (row, verify) = ecdsa!(k256);
        let signed = rows(count, threads, |i| row(i, compress));
        let everyone = vec![
            ours(Curve::Secp256k1),
            ("libsecp256k1", Who::Peer(by_libsecp256k1)),
            ("k256", Who::Peer(verify)),
        ];
        measure(
            &format!("secp256k1, keys of {form}"),
            &signed,
            everyone,
            on_gpu(Curve::Secp256k1),
            how,
        );
        let (row, verify) = ecdsa!(p256);
        let signed = rows(count, threads, |i| row(i, compress));
        let everyone = vec![ours(Curve::P256), ("p256", Who::Peer(verify))];
        measure(
            &format!("P-256, keys of {form}"),
            &signed,
            everyone,
            on_gpu(Curve::P256),
            how,
        );
    }
    let signed = rows(count, threads, ed25519);
    let everyone = vec![ours(Curve::Ed25519), ("ed25519-dalek", Who::Peer(by_dalek))];
    let gpu = on_gpu(Curve::Ed25519);
    measure("Ed25519", &signed, everyone, gpu, how);
}
