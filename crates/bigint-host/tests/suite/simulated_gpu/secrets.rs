//! What a device and the host know of secrets: while residues are computed with, and after they
//! are dropped.

use super::residue_systems::slow_by_windows;
use bigint_core::rns::{CHAIN, RnsPlan};
use bigint_host::{
    Algorithm, BackEnd, BigUint, Engine, Error, FixedBase, Layout, Limb, MontgomeryParams,
    Residues, Shape,
};
use bigint_testing::simulator::on_simulator;
use std::env;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Seek, SeekFrom};

/// Which secrets a process computes with.
const SECRETS: &str = "BIGINT_TEST_SECRETS";

/// Odd moduli of `width` limbs, as long as that is wide: they too are secret.
fn moduli(round: u32, width: usize, count: usize) -> Vec<BigUint> {
    let top = BigUint::from(1u8) << (32 * width - 1);
    let one = |i: usize| match round {
        0 => (&top << 1) - 1u8 - (i << 1),
        1 => &top + 1u8 + (i << 1),
        _ => &top + &top / (3 + round + i as u32) * 2u8 / 3u8 * 2u8 + 1u8,
    };
    (0..count).map(one).collect()
}

/// `count` secrets below these numbers: all 0, all one less, or any, by the round.
fn secrets(round: u32, below: &[BigUint], salt: u32) -> Vec<BigUint> {
    let each = below.iter().zip(salt..).map(|(m, i)| match round {
        0 => BigUint::ZERO,
        1 => m - 1u8,
        _ => BigUint::from(i.wrapping_mul(0x9e37_79b9) | round).pow(199) % m,
    });
    each.collect()
}

/// Everything that residues promise to do in constant time, of secrets by the round.
fn compute(engine: &Engine, round: u32) {
    for (width, layout, count, are_many) in [
        (3, Layout::Contiguous, 40, true),
        (3, Layout::Interleaved, 33, false),
        (34, Layout::Contiguous, 9, false),
    ] {
        let batch = |numbers: &[BigUint], width| {
            engine
                .batch_from_biguints_in(numbers, width, layout)
                .expect("a batch")
        };
        let m = moduli(round, width, if are_many { count } else { 1 });
        let params = MontgomeryParams::new(engine, &batch(&m, width)).expect("odd moduli");
        let radix = BigUint::from(1u8) << (32 * width);
        // As wide as the moduli, and wider.
        let wide = vec![&radix * &radix * 5u8; count];
        let [a, b] = [0, 7].map(|salt| batch(&secrets(round, &wide, salt), 2 * width + 1));
        let [a, b] = [a, b].map(|x| Residues::new(&x, &params).expect("residues"));
        let below = vec![m[0].clone(); count];
        let c = Residues::new(&batch(&secrets(round, &below, 3), width), &params);
        let c = c.expect("residues");
        // That differ nowhere, in the lowest limb, in the highest, and anywhere.
        let near: Vec<BigUint> = (0..count)
            .map(|_| match round {
                0 => BigUint::ZERO,
                1 => 1u8.into(),
                2 => BigUint::from(1u8) << (32 * width - 2),
                _ => &radix / 3u8,
            })
            .collect();
        let near = Residues::new(&batch(&near, width), &params).expect("residues");
        let two = Residues::new(&batch(&[2u8.into()], 1), &params).expect("residues");
        let zero = two.sub(&two).expect("a difference");
        for (x, y) in [(&a, &b), (&near, &zero)] {
            x.equal(y).expect("a comparison");
        }
        let sum = a.add(&b).and_then(|x| x.sub(&c)).and_then(|x| x.mul(&b));
        let sum = sum.and_then(|x| x.neg()?.double()?.square()?.halve());
        sum.and_then(|x| x.masked_invert()).expect("an inverse");
        let [x, y] = [&a, &b].map(|x| x.retrieve().expect("numbers"));
        engine.mul_add(&x, params.moduli(), &y).expect("a product");
        // Exponents of several limbs.
        let limbs = if width < 10 { 3 } else { 2 };
        let exponents = vec![BigUint::from(1u8) << (32 * limbs); count];
        let [e, f] = [1, 2].map(|salt| batch(&secrets(round, &exponents, salt), limbs));
        a.pow(&e).expect("a power");
        if width < 10 {
            a.pow_bounded_exp(&e, 41).expect("a power");
            Residues::multi_exponentiate(&[(&a, &e), (&b, &f)]).expect("a product of powers");
        }
        if !are_many {
            let base = FixedBase::new(&two, 32 * limbs).expect("a table");
            base.pow(&e).expect("powers");
        }
    }
}

/// Products, sums and differences that wait for one another, with a modulus each or one for all.
fn compute_chains(engine: &Engine, round: u32) {
    let engine = engine.with_tuning(slow_by_windows(CHAIN));
    let (width, count) = (4, 20);
    let batch = |numbers: &[BigUint]| {
        let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
        batch.expect("a batch")
    };
    for many in [1, count] {
        let m = moduli(round, width, many);
        let params = MontgomeryParams::new(&engine, &batch(&m)).expect("odd moduli");
        let below: Vec<_> = m.iter().cycle().take(count).cloned().collect();
        let [a, b, c] = [0, 5, 9].map(|salt| {
            let secrets = batch(&secrets(round, &below, salt));
            Residues::new(&secrets, &params).expect("residues")
        });
        let x = a.mul(&b).and_then(|x| x.add(&c)).and_then(|x| x.square());
        let x = x.and_then(|x| x.sub(&a)?.mul(&x)?.double()?.neg()?.mul(&b));
        x.and_then(|x| x.retrieve()).expect("numbers");
    }
}

/// What each kernel executed, on which addresses, is the same whatever the secrets are.
#[test]
fn residues_execute_the_same_for_all_secrets() {
    let name = "simulated_gpu::secrets::residues_execute_the_same_for_all_secrets";
    execute_the_same(name, "sm_90", "mont_mul", compute);
}

/// The same of chains by warpgroups.
#[test]
fn chains_execute_the_same_for_all_secrets() {
    let name = "simulated_gpu::secrets::chains_execute_the_same_for_all_secrets";
    execute_the_same(name, "sm_90", "rns_warpgroups_5", compute_chains);
}

/// The same by `mma.sync`.
#[test]
fn chains_without_warpgroups_execute_the_same_for_all_secrets() {
    let name = "simulated_gpu::secrets::chains_without_warpgroups_execute_the_same_for_all_secrets";
    execute_the_same(name, "sm_80", "rns_powers_5", compute_chains);
}

/// Runs a test of this name for each round of secrets on a device of this kind, which launches a kernel of this name among
/// others, and compares what is executed.
fn execute_the_same(name: &str, device: &str, kernel: &str, compute: impl Fn(&Engine, u32)) {
    if let Ok(round) = env::var(SECRETS) {
        compute(
            &Engine::cuda(0).expect("a device"),
            round.parse().expect("a round"),
        );
        return;
    }
    let test = name.rsplit("::").next().unwrap_or_default();
    let folder = env::temp_dir().join(format!("bigint-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let executed = ["0", "1", "2", "3"].map(|round| {
        let file = folder.join(round);
        let path = file.to_str().expect("Unicode");
        let settings = [
            (SECRETS, round),
            ("CUDA_SIM_COUNTS", path),
            ("CUDA_SIM_CHECKS", "none"),
            ("CUDA_SIM_DEVICES", device),
        ];
        assert!(!on_simulator(name, &settings));
        std::fs::read_to_string(&file).expect("counts")
    });
    std::fs::remove_dir_all(&folder).expect("the folder");
    let [first, others @ ..] = &executed;
    assert!(
        first.lines().count() > 10 && first.contains(kernel),
        "{first}"
    );
    for other in others {
        assert_eq!(first.lines().count(), other.lines().count());
        for (x, y) in first.lines().zip(other.lines()) {
            assert_eq!(x, y);
        }
    }
}

/// Limbs of a secret, each hidden by [`MASK`]: it stands in memory where a test puts it, and
/// nowhere else.
const HIDDEN: [Limb; 8] = [
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
    0x6a09_e667,
    0x3b67_ae85,
];
const MASK: Limb = 0x5a5a_a5a5;

/// `count` numbers, each of which is the secret, of one layout.
fn hidden(count: usize, layout: Layout) -> (Vec<Limb>, Shape) {
    let shape = Shape::new(count, HIDDEN.len(), layout);
    let mut limbs = vec![0; shape.limbs()];
    for number in 0..count {
        for (limb, hidden) in HIDDEN.iter().enumerate() {
            limbs[shape.index(number, limb)] = hidden ^ black_box(MASK);
        }
    }
    (limbs, shape)
}

/// What is looked for, hidden as well: half of the secret, and a unit of its residues in the first base, of
/// numbers that are all the secret ([`bigint_core::rns`]).
fn patterns() -> [[Limb; 4]; 2] {
    let plan = RnsPlan::of(HIDDEN.len()).expect("it is narrow");
    let [first, second] = [0, 4].map(|channel| {
        let prime = u64::from(plan.bases()[0][channel]);
        let limbs = HIDDEN.iter().rev();
        let residue = limbs.fold(0, |high, limb| {
            (high << 32 | u64::from(limb ^ black_box(MASK))) % prime
        });
        residue as Limb ^ MASK
    });
    let half = [0, 1, 2, 3].map(|i| HIDDEN[i]);
    [half, [first, first, second, second]]
}

/// Where each of the [`patterns`] stands in the memory that this process can write, but for stacks: in
/// what was freed too, while nothing else has been written there.
fn found() -> [Vec<String>; 2] {
    let patterns = patterns();
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the kernel says");
    let mut memory = File::open("/proc/self/mem").expect("a process may read its memory");
    let mask = black_box(MASK);
    let mut found = [Vec::new(), Vec::new()];
    let mut guard = 0;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, rights) = (
            words.next().expect("a range"),
            words.next().expect("rights"),
        );
        let (start, end) = range.split_once('-').expect("a range");
        let [start, end] = [start, end].map(|x| u64::from_str_radix(x, 16).expect("an address"));
        // A stack is behind a page that nobody may touch.
        let is_stack = start == guard || line.ends_with("[stack]");
        guard = if rights.starts_with("---") && end - start == 4096 {
            end
        } else {
            0
        };
        if !rights.starts_with("rw") || is_stack {
            continue;
        }
        let mut bytes = vec![0; 1 << 16];
        for at in (start..end).step_by(bytes.len()) {
            let length = (end - at).min(bytes.len() as u64) as usize;
            memory.seek(SeekFrom::Start(at)).expect("a place");
            if memory.read_exact(&mut bytes[..length]).is_err() {
                break;
            }
            let words = bytes[..length].as_chunks::<4>().0;
            for (i, word) in words.iter().enumerate() {
                let word = Limb::from_le_bytes(*word) ^ mask;
                if word != patterns[0][0] && word != patterns[1][0] {
                    continue;
                }
                let four = words[i..].iter().take(4);
                let four = four.map(|word| Limb::from_le_bytes(*word) ^ mask);
                for (found, pattern) in found.iter_mut().zip(patterns) {
                    if four.clone().eq(pattern) {
                        found.push(format!("{:#x} in {line}", at + 4 * i as u64));
                    }
                }
            }
            bytes.fill(0);
        }
    }
    found
}

/// Computes with secrets so that results have their limbs, and drops all but what does not.
fn compute_with_hidden(engine: &Engine, layout: Layout) {
    let (limbs, shape) = hidden(300, layout);
    let a = engine.batch_from_limbs(limbs, shape).expect("secrets");
    let number = |number: u32| {
        engine
            .batch_from_biguints_in(&[number.into()], 1, layout)
            .expect("a number")
    };
    let [zero, one] = [0, 1].map(number);
    let m = engine
        .batch_from_biguints(&[(BigUint::from(1u8) << 256) - 189u8])
        .expect("a modulus");
    let mut copies = vec![
        engine.or(&a, &zero).expect("the secrets"),
        engine
            .to_layout(&a, Layout::Contiguous)
            .expect("the secrets"),
        engine
            .to_layout(&a, Layout::Interleaved)
            .expect("the secrets"),
    ];
    // What the CPU's algorithms keep while they compute is not overwritten.
    if engine.back_end() != BackEnd::Cpu {
        let params = MontgomeryParams::new(engine, &m).expect("an odd modulus");
        let residues = Residues::new(&a, &params).expect("residues");
        copies.push(residues.retrieve().expect("the secrets"));
        for algorithm in [Algorithm::Auto, Algorithm::Rns] {
            let engine = engine.using(algorithm);
            copies.push(engine.pow_mod(&a, &one, &m).expect("the secrets"));
        }
    }
    let ones = engine.count_ones(&a).expect("a count");
    // Brought to the host, where they are dropped.
    for batch in &copies {
        engine.count_ones(batch).expect("a count");
        drop(batch.to_limbs().map(wiped));
        drop(batch.rows().map(|rows| wiped(rows.into_owned())));
    }
    drop((a, copies));
    engine.wait().expect("the device");
    for (pattern, found) in found().into_iter().enumerate() {
        let is_hidden =
            engine.is_for_secrets() || pattern == 1 && engine.back_end() == BackEnd::Cpu;
        let some = &found[..found.len().min(9)];
        assert!(
            found.is_empty() == is_hidden,
            "{engine:?} {layout:?} {pattern}: {} {some:#?}",
            found.len()
        );
    }
    let count: u32 = HIDDEN.iter().map(|limb| (limb ^ MASK).count_ones()).sum();
    assert_eq!(ones.to_limbs().expect("counts")[0], count);
}

/// What a caller copies is his to overwrite.
fn wiped(mut limbs: Vec<Limb>) {
    limbs.fill(0);
    black_box(&limbs);
}

/// First by an engine for secrets, then by one that is not, to see that the looking finds them.
fn secrets_are_overwritten_by(engine: &Engine) {
    let secrets = engine.for_secrets().expect("an engine");
    for layout in Layout::ALL {
        compute_with_hidden(&secrets, layout);
    }
    // So few that pools do not keep them.
    let (limbs, shape) = hidden(3, Layout::Contiguous);
    let batch = secrets.batch_from_limbs(limbs, shape).expect("secrets");
    for refused in [
        engine.add(&batch, &batch),
        engine.to_layout(&batch, Layout::Interleaved),
    ] {
        assert!(matches!(refused, Err(Error::Secret)), "{refused:?}");
    }
    drop(batch);
    assert_eq!(found()[0], [""; 0]);
    let one = secrets
        .batch_from_biguints(&[1u8.into()])
        .expect("a number");
    assert!(secrets.add(&one, &one).expect("a sum").is_secret());
    compute_with_hidden(engine, Layout::Contiguous);
}

#[test]
fn secrets_that_are_dropped_are_nowhere_in_memory() {
    let name = "simulated_gpu::secrets::secrets_that_are_dropped_are_nowhere_in_memory";
    if on_simulator(name, &[]) {
        secrets_are_overwritten_by(&Engine::cpu());
    }
}

/// Memory of simulated devices and pinned memory are this process's too. The engine makes failures
/// good, so that results of ordinary numbers remember how they were made.
#[test]
fn secrets_that_are_dropped_are_nowhere_on_devices() {
    let name = "simulated_gpu::secrets::secrets_that_are_dropped_are_nowhere_on_devices";
    if on_simulator(name, &[("CUDA_SIM_DEVICES", "2xsm_90")]) {
        secrets_are_overwritten_by(&Engine::all().expect("devices"));
    }
}
