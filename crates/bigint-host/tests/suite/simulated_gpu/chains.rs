//! Chains of residues in residue number systems, where tables say that they pay.

use super::residue_systems::slow_by_windows;
use bigint_core::rns::{CHAIN, RnsPlan};
use bigint_host::{Batch, BigUint, Engine, MontgomeryParams, Residues};
use bigint_testing::simulator::on_simulator;

/// Runs a test on the simulator; says what kernels were launched of those whose names begin so.
fn counted(name: &str, kernels: [&str; 2], launched: [std::ops::RangeInclusive<usize>; 2]) -> bool {
    counted_on("sm_90", name, kernels, launched)
}

/// The same on a device of this kind.
fn counted_on(
    device: &str,
    name: &str,
    kernels: [&str; 2],
    launched: [std::ops::RangeInclusive<usize>; 2],
) -> bool {
    let file = std::env::temp_dir().join(format!("bigint-{name}-{}", std::process::id()));
    let path = file.to_str().expect("Unicode");
    let name = format!("simulated_gpu::chains::{name}");
    let settings = [("CUDA_SIM_COUNTS", path), ("CUDA_SIM_DEVICES", device)];
    if on_simulator(&name, &settings) {
        return true;
    }
    let text = std::fs::read_to_string(&file).expect("counts");
    std::fs::remove_file(&file).expect("the file");
    for (kernel, launched) in kernels.into_iter().zip(launched) {
        let found = text.lines().filter(|line| line.contains(kernel)).count();
        assert!(launched.contains(&found), "{kernel}: {found}, {launched:?}");
    }
    false
}

fn batch(engine: &Engine, numbers: &[BigUint]) -> Batch {
    let batch = engine.batch_from_biguints_in(numbers, 4, bigint_host::Layout::Contiguous);
    batch.expect("they fit")
}

/// All ones, 2^127 + 1, a few limbs, 1, and what one base's primes divide, or both.
fn moduli() -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let ones = (&one << 128usize) - 1u8;
    let bases = RnsPlan::of(4).expect("it is narrow").bases();
    let prime = |base: usize, i: usize| BigUint::from(bases[base][i]);
    vec![
        ones.clone(),
        (&one << 127usize) + 1u8,
        &ones / 945u32 * 945u32,
        101u8.into(),
        one,
        prime(0, 3) * 3u8,
        ones,
        prime(0, 0) * prime(1, 0),
    ]
}

/// A chain of squares and products, sums and differences, of which values are held in between, as num-bigint has them; then one
/// product alone, which waits for nothing.
#[test]
fn residues_of_a_chain_are_those_of_num_bigint_and_leave_limbs_once() {
    let name = "residues_of_a_chain_are_those_of_num_bigint_and_leave_limbs_once";
    // Chains, one of them by both plans; of 18 differences a few are alone with sums, for which no chain pays.
    if counted(name, ["rns_warpgroups", "mod_sub"], [4..=12, 0..=4]) {
        chains_are_those_of_num_bigint();
    }
}

/// The same by `mma.sync`.
#[test]
fn residues_of_a_chain_are_those_of_num_bigint_without_warpgroups() {
    let name = "residues_of_a_chain_are_those_of_num_bigint_without_warpgroups";
    let kernels = ["rns_powers_5", "mod_sub"];
    if counted_on("sm_80", name, kernels, [4..=12, 0..=4]) {
        chains_are_those_of_num_bigint();
    }
}

fn chains_are_those_of_num_bigint() {
    let engine = Engine::cuda(0).expect("a device");
    let engine = engine.with_tuning(slow_by_windows(CHAIN));
    for m in [&moduli()[..5], &moduli()[..6], &moduli()[..1]] {
        let at = |i: usize| &m[i.min(m.len() - 1)];
        let count = 6;
        let x: Vec<BigUint> = (0..count).map(|i| at(i) - 1u8).collect();
        let y: Vec<BigUint> = (0..count as u32)
            .map(|i| at(i as usize) / (i + 2))
            .collect();
        let m_all: Vec<BigUint> = (0..count).map(|i| at(i).clone()).collect();
        let moduli = if m.len() == 1 { m } else { &m_all[..] };
        let params = MontgomeryParams::new(&engine, &batch(&engine, moduli)).expect("odd");
        let residues = |x: &[BigUint]| Residues::new(&batch(&engine, x), &params).expect("fit");
        let (a, b) = (residues(&x), residues(&y));
        let one = Residues::one(&params).expect("a device");
        let (mut found, mut expected) = ((a.clone(), b.clone()), (x.clone(), y.clone()));
        let mut held = Vec::new();
        for i in 0..12u32 {
            let (u, v) = &found;
            let product = u.mul(v).expect("a device");
            let next = match i % 4 {
                0 => product.sub(u).expect("a device"),
                1 => v.sub(&product).expect("a device").neg().expect("a device"),
                2 => product.add(&product).expect("a device"),
                _ => product
                    .add(&one)
                    .expect("a device")
                    .square()
                    .expect("a device"),
            };
            found = (next, u.double().expect("a device"));
            let values = (0..count).map(|k| {
                let (u, v, m) = (&expected.0[k], &expected.1[k], at(k));
                let product = u * v % m;
                let next = match i % 4 {
                    0 => (&product + m - u % m) % m,
                    1 => (&product + m - v % m) % m,
                    2 => &product * 2u8 % m,
                    _ => (&product + 1u8) * (&product + 1u8) % m,
                };
                (next, u * 2u8 % m)
            });
            expected = values.unzip();
            if i % 5 == 3 {
                held.push((found.clone(), expected.clone()));
            }
        }
        held.push((found, expected));
        for ((u, v), (x, y)) in held.into_iter().rev() {
            for (u, x) in [(u, x), (v, y)] {
                let numbers = u.retrieve().and_then(|u| u.to_biguints());
                assert_eq!(numbers.expect("a device"), x);
            }
        }
    }
}

/// As the CPU computes them where both bases refuse a modulus.
#[test]
fn chains_modulo_what_both_bases_refuse_are_the_cpus() {
    let name = "chains_modulo_what_both_bases_refuse_are_the_cpus";
    if !on_simulator(&format!("simulated_gpu::chains::{name}"), &[]) {
        return;
    }
    let engine = Engine::auto().with_tuning(slow_by_windows(CHAIN));
    let m = moduli();
    let params = MontgomeryParams::new(&engine, &batch(&engine, &m)).expect("odd");
    let x: Vec<BigUint> = m.iter().map(|m| m / 3u8).collect();
    let a = Residues::new(&batch(&engine, &x), &params).expect("fit");
    let power = a.square().and_then(|x| x.mul(&a)).and_then(|x| x.add(&a));
    let found = power
        .and_then(|x| x.retrieve())
        .and_then(|x| x.to_biguints());
    for ((found, x), m) in found.expect("a device").iter().zip(&x).zip(&m) {
        assert_eq!(*found, (x * x * x + x) % m, "modulo {m}");
    }
}

/// Primes of each kind of `n + 1`, and strong pseudoprimes to base 2, which Lucas' test tells.
#[test]
fn lucas_tests_of_many_numbers_are_one_chain() {
    // Of numbers one less than a multiple of a power of two squares follow, one by one.
    let (name, launched) = (
        "lucas_tests_of_many_numbers_are_one_chain",
        [1..=130, 0..=0],
    );
    if !counted(name, ["rns_warpgroups", "select"], launched) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let engine = engine.with_tuning(slow_by_windows(CHAIN));
    let one = BigUint::from(1u8);
    // Carmichael numbers (6k+1)(12k+1)(18k+1) whose factors are primes, and a strong pseudoprime to the bases 2 to 37.
    let arnault = "3825123056546413051";
    let mut numbers: Vec<BigUint> = vec![
        (&one << 127usize) - 1u8,
        (&one << 89usize) - 1u8,
        (&one << 128usize) - 159u8,
        (&one << 128usize) - 173u8,
        (&one << 107usize) - 1u8,
        arnault.parse().expect("digits"),
        "318665857834031151167461".parse().expect("digits"),
    ];
    numbers.extend((0..9u32).map(|i| (&one << 120usize) + 2u32 * i + 1u8));
    let batch = batch(&engine, &numbers);
    let found = engine.is_prime(&batch).expect("a device");
    let on_cpu = Engine::cpu();
    let copied = on_cpu.batch_from_biguints(&numbers).expect("they fit");
    assert_eq!(found, on_cpu.is_prime(&copied).expect("the CPU"));
    assert_eq!(found[..5], [true, true, true, true, true]);
    assert_eq!(found[5..7], [false, false]);
}
