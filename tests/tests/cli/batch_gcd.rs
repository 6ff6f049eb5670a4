//! `bigint batch-gcd`: weak keys are found, and nothing else.

use num_bigint::BigUint;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::{Ended, Workplace, ended};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// What the report has of each key, by file and line.
fn report(ended: &Ended) -> BTreeMap<(String, u64), Value> {
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let lines = ended.stdout.lines().map(|line| {
        let object: Value = serde_json::from_str(line).expect("a line of JSON");
        let file = object["file"].as_str().expect("a file").to_owned();
        ((file, object["line"].as_u64().expect("a line")), object)
    });
    lines.collect()
}

fn strings(array: &Value) -> Vec<String> {
    let array = array.as_array().expect("an array");
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    array.iter().map(text).collect()
}

/// Primes of so many bits.
fn primes(rng: &mut ChaCha8Rng, count: usize, bits: u64) -> Vec<BigUint> {
    let is_prime = |n: &BigUint| {
        let small = (3..1000u32).step_by(2).all(|p| (n % p) != BigUint::ZERO);
        let one = BigUint::from(1u8);
        small
            && [2u8, 3, 5]
                .iter()
                .all(|&base| BigUint::from(base).modpow(&(n - &one), n) == one)
    };
    let mut found = Vec::new();
    while found.len() < count {
        let limbs: Vec<u32> = (0..bits / 32).map(|_| rng.next_u32()).collect();
        let candidate = BigUint::new(limbs) | BigUint::from(1u8) | BigUint::from(3u8) << (bits - 2);
        if is_prime(&candidate) {
            found.push(candidate);
        }
    }
    found
}

fn example(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

#[test]
fn planted_keys_are_found_and_nothing_else() {
    let mut rng = ChaCha8Rng::seed_from_u64(30);
    let p = primes(&mut rng, 120, 128);
    let long = primes(&mut rng, 4, 256);
    let mut lines: Vec<(String, Option<&str>, Vec<u64>)> = Vec::new();
    let mut key = |n: BigUint, kind: Option<&'static str>, with: &[u64]| {
        lines.push((n.to_string(), kind, with.to_vec()))
    };
    // Lines 1 to 50: of primes of their own.
    (0..50).for_each(|i| key(&p[2 * i] * &p[2 * i + 1], None, &[]));
    key(&p[100] * &p[101], Some("shared"), &[52]);
    key(&p[100] * &p[102], Some("shared"), &[51]);
    // Each shares both.
    key(&p[103] * &p[104], Some("shared"), &[54, 55]);
    key(&p[104] * &p[105], Some("shared"), &[53, 55]);
    key(&p[103] * &p[105], Some("shared"), &[53, 54]);
    key(&p[106] * &p[107], Some("duplicate"), &[57]);
    key(&p[106] * &p[107], Some("duplicate"), &[56]);
    key(&p[108] * 2u8, Some("even"), &[]);
    key(&p[109] * 4093u32, Some("small"), &[]);
    key(p[110].clone(), Some("prime"), &[]);
    // Of mixed lengths, and a duplicate that shares.
    key(&long[0] * &p[111], Some("shared"), &[62, 63]);
    key(&long[1] * &long[0], Some("shared"), &[61, 63]);
    key(&long[1] * &long[0], Some("shared"), &[61, 62]);
    key(&p[112] * &p[112], None, &[]);
    let text: String = lines.iter().map(|(n, ..)| format!("{n}\n")).collect();
    let place = Workplace::new();
    place.file("keys.txt", text);
    for more in [&[][..], &["--memory", "1M"], &["--folder", "kept"]] {
        let arguments = [
            &["batch-gcd", "keys.txt", "--json", "--backend", "cpu"],
            more,
        ]
        .concat();
        let ended = place.run(&arguments);
        let report = report(&ended);
        for (index, (n, kind, with)) in lines.iter().enumerate() {
            let line = index as u64 + 1;
            let found = report.get(&("keys.txt".to_owned(), line));
            assert_eq!(
                found.map(|found| found["kind"].as_str().unwrap()),
                *kind,
                "line {line}"
            );
            let Some(found) = found else { continue };
            let with: Vec<String> = with.iter().map(u64::to_string).collect();
            assert_eq!(strings(&found["with"]), with, "line {line}");
            let factors = strings(&found["factors"]);
            let product: BigUint = factors
                .iter()
                .map(|f| f.parse::<BigUint>().unwrap())
                .product();
            match *kind {
                Some("duplicate") => assert!(factors.is_empty()),
                Some("prime") => assert_eq!(factors, std::slice::from_ref(n)),
                _ => assert!(
                    factors.len() == 2 && product.to_string() == *n,
                    "line {line}"
                ),
            }
        }
        assert!(
            ended.stderr.contains("13 of 64 keys are weak"),
            "{}",
            ended.stderr
        );
    }
    let words = place.run(&["batch-gcd", "keys.txt", "--no-primes", "-o", "report.txt"]);
    assert_eq!((words.code, words.stdout.as_str()), (0, ""));
    let words = std::fs::read_to_string(place.path().join("report.txt")).unwrap();
    let [a, b] = [&p[100], &p[101]].map(|p| p.to_string());
    let line = format!(
        "keys.txt:51: shared = {} * {}, with keys.txt:52\n",
        a.clone().min(b.clone()),
        a.max(b)
    );
    assert!(words.contains(&line), "{words}");
    assert!(!words.contains("prime"));
}

/// A prime of the key in `keys/`, which is of nobody.
const PRIME: &str = "0xf4d0c3af54f057e7a063f73349e6c860e59b9f370a2137381a254c6495967f5d0e8388d1bb22cbeb2539182ae82df9bc432b05a10e6432689c29ce058030bf87";

#[test]
fn keys_are_read_in_every_form() {
    let place = Workplace::new();
    for file in ["keys.pem", "certificate.der"] {
        std::fs::copy(
            example("tests/cli/keys").join(file),
            place.path().join(file),
        )
        .unwrap();
    }
    let ended = place.run(&["batch-gcd", "keys.pem", "certificate.der", "--json"]);
    let found = report(&ended);
    let lines: Vec<_> = found
        .keys()
        .map(|(file, line)| format!("{file}:{line}"))
        .collect();
    let expected = [
        "certificate.der:1",
        "keys.pem:1",
        "keys.pem:15",
        "keys.pem:25",
        "keys.pem:35",
        "keys.pem:40",
    ];
    assert_eq!(lines, expected);
    assert!(found.values().all(|key| key["kind"] == "duplicate"));
    let first = &found[&("keys.pem".to_owned(), 1)];
    assert_eq!(
        strings(&first["with"]),
        ["15", "25", "35", "40", "certificate.der:1"]
    );
    // The one of an elliptic curve is no key of RSA.
    assert!(
        ended.stderr.contains("1 passed over") && ended.stderr.contains("keys.pem:31:1"),
        "{}",
        ended.stderr
    );

    let prime = BigUint::parse_bytes(&PRIME.as_bytes()[2..], 16).unwrap();
    place.file(
        "shared.txt",
        format!("{}\n", &prime * ((BigUint::from(1u8) << 521) - 1u8)),
    );
    let ended = place.run(&["batch-gcd", "shared.txt", "keys.pem", "--json"]);
    let found = report(&ended);
    assert_eq!(found.len(), 6);
    for key in found.values() {
        assert_eq!(key["kind"], "shared");
        assert!(strings(&key["factors"]).contains(&prime.to_string()));
    }
}

#[test]
fn keys_are_read_whatever_stands_around_them() {
    let place = Workplace::new();
    let keys = example("tests/cli/keys");
    let pem = std::fs::read_to_string(keys.join("keys.pem")).unwrap();
    let lines: Vec<_> = pem.lines().collect();
    let certificate = lines[..13].join("\n");
    // As `openssl x509 -text` and bundles of certificates have it.
    place.file(
        "text.pem",
        format!("Certificate:\n  00:c2:5f\n====\n{certificate}\n12x\n"),
    );
    // Of a device whose clock stood before 1970.
    let mut old = std::fs::read(keys.join("certificate.der")).unwrap();
    let date = old.windows(4).position(|at| at == b"\x17\x0d26").unwrap();
    old[date + 2] = b'5';
    place.file("old.der", old);
    place.file("request.txt", lines[15..23].join("\n"));
    let ssh = lines
        .iter()
        .find(|line| line.starts_with("ssh-rsa "))
        .unwrap();
    place.file(
        "authorized",
        format!("command=\"echo ssh-rsa AAAA\" {ssh}\n"),
    );
    let script = "base64 -d request.txt > request.der && \"$bigint\" batch-gcd text.pem old.der \
                  request.der authorized --json";
    let ended = ended(place.script(script).output().unwrap());
    let found: Vec<_> = report(&ended).into_keys().collect();
    let expected = [
        ("authorized", 1),
        ("old.der", 1),
        ("request.der", 1),
        ("text.pem", 4),
    ];
    assert_eq!(
        found,
        expected.map(|(file, line)| (file.to_owned(), line)),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("passed over"), "{}", ended.stderr);
    // Without a block words are no words around one.
    place.file("words.txt", "15\nhello\n21\n12x\n");
    let ended = place.run(&["batch-gcd", "words.txt"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("words.txt:2:1: 'h' is not"),
        "{}",
        ended.stderr
    );
}

#[test]
fn keys_of_a_later_run_are_compared_with_those_of_the_folder() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let p = primes(&mut rng, 12, 96);
    let place = Workplace::new();
    let text = |pairs: &[[usize; 2]]| -> String {
        pairs
            .iter()
            .map(|[i, j]| format!("{}\n", &p[*i] * &p[*j]))
            .collect()
    };
    place.file("a.txt", text(&[[0, 1], [2, 3], [4, 5]]));
    place.file("b.txt", text(&[[6, 7], [2, 8]]));
    place.file("c.txt", text(&[[9, 10], [3, 8], [0, 1]]));
    let run = |file| report(&place.run(&["batch-gcd", file, "--json", "--folder", "kept"]));
    let keys = |found: BTreeMap<(String, u64), Value>| -> Vec<(String, String)> {
        let key = |((file, line), key): ((String, u64), Value)| {
            (format!("{file}:{line}"), strings(&key["with"]).join(" "))
        };
        found.into_iter().map(key).collect()
    };
    let expect = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(key, with)| ((*key).to_owned(), (*with).to_owned()))
            .collect()
    };
    assert_eq!(keys(run("a.txt")), []);
    assert_eq!(
        keys(run("b.txt")),
        expect(&[("a.txt:2", "b.txt:2"), ("b.txt:2", "a.txt:2")])
    );
    let third = expect(&[
        ("a.txt:1", "c.txt:3"),
        ("a.txt:2", "b.txt:2 c.txt:2"),
        ("b.txt:2", "a.txt:2 c.txt:2"),
        ("c.txt:2", "a.txt:2 b.txt:2"),
        ("c.txt:3", "a.txt:1"),
    ]);
    assert_eq!(keys(run("c.txt")), third);
    // The same again says the same again.
    assert_eq!(keys(run("c.txt")), third);
    assert!(
        !place
            .path()
            .join("kept/run")
            .read_dir()
            .unwrap()
            .any(|_| true)
    );
}

/// Killed whenever another group is done; what the last run says is what a run in one piece says.
#[test]
fn a_run_that_is_killed_is_taken_up_by_the_same_command() {
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let is_prime = |n: &u32| {
        (2..*n)
            .take_while(|d| d * d <= *n)
            .all(|d| !n.is_multiple_of(d))
    };
    let small: BigUint = (2..1400).filter(is_prime).product();
    let key = |_| &small * rng.next_u32() + 1u8;
    let keys: Vec<BigUint> = (0..1600).map(key).collect();
    let place = Workplace::new();
    place.file(
        "keys.txt",
        keys.iter().map(|n| format!("{n}\n")).collect::<String>(),
    );
    let plain = [
        "batch-gcd",
        "keys.txt",
        "--json",
        "--no-primes",
        "--backend",
        "cpu",
    ];
    let whole = place.run(&plain);
    let in_parts = [&plain[..], &["--memory", "1M", "--folder", "kept"]].concat();
    let done = || {
        let files = place.path().join("kept/run").read_dir().ok()?;
        Some(files.count())
    };
    let mut kills = 0;
    for _ in 0..3 {
        let before = done().unwrap_or(0);
        let mut command = place.command();
        command
            .args(&in_parts)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        while child.try_wait().unwrap().is_none() && done().unwrap_or(0) < before + 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        kills += u32::from(!child.wait().unwrap().success());
    }
    assert!(kills > 0, "it has ended before");
    assert!(done().is_some_and(|files| files > 0));
    assert!(!place.path().join("kept/keys.jsonl").exists());
    let found = report(&place.run(&in_parts));
    assert!(found.len() > 10);
    assert_eq!(found, report(&whole));
    assert_eq!(done(), Some(0));
}

/// Nulls are no keys; a line is that of the table.
#[test]
fn moduli_in_the_column_of_a_table_are_keys() {
    let place = Workplace::new();
    place.file("keys.csv", "host,modulus\na,15\nb,\nc,0x23\nd,77\n");
    place.file(
        "keys.jsonl",
        "{\"n\": \"143\"}\n{\"n\": null}\n{\"n\": 221}\n",
    );
    place.file("keys.tsv", "143\n");
    let sources = ["keys.csv:modulus", "keys.jsonl:n", "keys.tsv"];
    let found = report(&place.run(&[&["batch-gcd", "--json"], &sources[..]].concat()));
    let found: Vec<_> = found
        .iter()
        .map(|((file, line), key)| {
            (
                format!("{file}:{line}"),
                key["kind"].as_str().unwrap(),
                strings(&key["with"]).join(" "),
            )
        })
        .collect();
    let expected = [
        ("keys.csv:2", "shared", "4"),
        ("keys.csv:4", "shared", "2 5"),
        ("keys.csv:5", "shared", "4 keys.jsonl:1 keys.tsv:1"),
        ("keys.jsonl:1", "shared", "keys.csv:5 3 keys.tsv:1"),
        ("keys.jsonl:3", "shared", "1 keys.tsv:1"),
        (
            "keys.tsv:1",
            "shared",
            "keys.csv:5 keys.jsonl:1 keys.jsonl:3",
        ),
    ];
    let expected = expected.map(|(key, kind, with)| (key.to_owned(), kind, with.to_owned()));
    assert_eq!(found, expected);
    for (text, expected) in [
        (
            "n,m\n3,15\n5,7x\n",
            "bad.csv:3:4: 'x' is not a decimal digit",
        ),
        (
            "n,m\n3,15\n5,0\n",
            "bad.csv:3:3: a modulus is positive, not zero",
        ),
        ("n,o\n3,15\n", "bad.csv: there is no column \"m\", but n, o"),
    ] {
        place.file("bad.csv", text);
        let ended = place.run(&["batch-gcd", "bad.csv:m"]);
        assert_eq!(ended.code, 2, "{text}");
        assert!(ended.stderr.contains(expected), "{text}: {}", ended.stderr);
    }
}

#[test]
fn the_moduli_of_certificate_authorities_share_nothing() {
    let moduli = example("../examples/rsa-moduli/moduli.txt");
    let ended = Workplace::new().run(&[
        "batch-gcd",
        moduli.to_str().unwrap(),
        "--json",
        "--no-primes",
    ]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""));
}

#[test]
fn what_is_no_key_is_told_with_its_place() {
    let place = Workplace::new();
    for (text, expected) in [
        ("15\n\n12x\n", "keys.txt:3:3: 'x' is not a decimal digit"),
        (
            "15\n  -7\n",
            "keys.txt:2:3: a modulus is positive, not zero",
        ),
        ("0x0\n", "keys.txt:1:1: a modulus is positive, not zero"),
        (
            "7\n-----BEGIN CERTIFICATE-----\nMIIC\n",
            "keys.txt:2:1: no line -----END CERTIFICATE----- ends",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nMIIC\n-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n",
            "keys.txt:1:1: no line -----END CERTIFICATE----- ends",
        ),
        ("# nothing\n", "no RSA key and no integer"),
    ] {
        place.file("keys.txt", text);
        let ended = place.run(&["batch-gcd", "keys.txt", "-o", "report.txt"]);
        assert_eq!(ended.code, 2, "{text}");
        assert!(ended.stderr.contains(expected), "{text}: {}", ended.stderr);
        assert!(!place.path().join("report.txt").exists());
    }
    let ended = place.run(&["batch-gcd", "none.txt"]);
    assert!(
        ended.code == 2 && ended.stderr.contains("none.txt:1:1: cannot read"),
        "{}",
        ended.stderr
    );
}

#[test]
fn files_that_are_read_side_by_side_are_told_of_in_their_order() {
    let place = Workplace::new();
    // Two blocks and a bit, whose end is read when the others are over.
    let long = "# nothing\n".repeat(900_000);
    let other_key = "-----BEGIN THING-----\n-----END THING-----\n";
    let [p, q, r, s] = [4099u64, 4111, 4127, 4129];
    place.file("long.txt", format!("{long}{}\n{other_key}", p * q));
    place.file("short.txt", format!("{other_key}{}\n{}\n", p * r, q * q));
    place.file("last.txt", format!("{}\n", r * s));
    let files = ["long.txt", "short.txt", "last.txt", "short.txt"];
    let ended = place.run(&[&["batch-gcd", "--json"], &files[..]].concat());
    let found = report(&ended);
    let object = |line: &str| serde_json::from_str::<Value>(line).expect("a line of JSON");
    let lines = ended.stdout.lines().map(object);
    let places: Vec<String> = lines
        .map(|object| format!("{}:{}", object["file"], object["line"]))
        .collect();
    let expected = [
        "\"long.txt\":900001",
        "\"short.txt\":3",
        "\"short.txt\":4",
        "\"last.txt\":1",
    ];
    assert_eq!(places, expected);
    let first = &found[&("long.txt".to_owned(), 900_001)];
    assert_eq!(strings(&first["factors"]), [p, q].map(|p| p.to_string()));
    let told = "3 passed over that are no RSA keys; the first: long.txt:900002:1: THING";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    // The first of several failures is that of the first file.
    place.file("long.txt", format!("{long}12x\n"));
    place.file("short.txt", "0\n");
    let ended = place.run(&[&["batch-gcd", "last.txt"], &files[..]].concat());
    assert_eq!(ended.code, 2);
    let told = "long.txt:900001:3: 'x' is not a decimal digit";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}
