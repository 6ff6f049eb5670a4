//! Montgomery products and powers modulo numbers wider than kernels hold, made of products.

use bigint_host::{
    Algorithm, BackEnd, Batch, BigUint, Engine, Error, FixedBase, Layout, MontgomeryParams,
    Operation, Residues, Tuning,
};
use bigint_testing::simulator::on_simulator;
use bigint_testing::sweep;

/// The device, with kernels for moduli of three limbs at most, and differences scanned up to so many.
fn engine(scanned: usize) -> Engine {
    let mut tuning = Tuning::default();
    tuning.modular.products_min_width = 4;
    tuning.modular.differences_scan_max_width = scanned;
    Engine::cuda(0).expect("a device").with_tuning(tuning)
}

/// The device, with powers modulo numbers of four limbs and more in two rings.
fn engine_in_rings() -> Engine {
    let mut tuning = Tuning::default();
    tuning.modular.rings_min_width = 4;
    tuning.modular.products_min_width = 4;
    Engine::cuda(0).expect("a device").with_tuning(tuning)
}

fn power(bits: usize) -> BigUint {
    BigUint::from(1u8) << bits
}

/// A number whose bits follow no rule.
fn mixed(limbs: usize, salt: u32) -> BigUint {
    let factor = BigUint::from(0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(salt));
    factor.pow(limbs as u32 / 2 + 1) % power(32 * limbs)
}

/// Odd moduli of up to so many limbs: all ones, next to powers of two, one limb in many, 1, and any.
fn moduli(limbs: usize) -> Vec<BigUint> {
    let top = 32 * limbs;
    let mut all = vec![
        power(top) - 1u8,
        power(top - 1) + 1u8,
        power(top - 1) - 1u8,
        power(top - 32) + 1u8,
        power(top - 33) - 1u8,
        power(16 * limbs) + 1u8,
        power(32) - 1u8,
        BigUint::from(1u8),
        BigUint::from(3u8),
    ];
    all.extend([0, 1, 40].map(|bits| (mixed(limbs, 1) | power(top - 1)) >> bits | power(0)));
    all
}

/// Bases about a modulus: 0, 1, one less, itself, and what is above it.
fn bases(limbs: usize, m: &BigUint) -> Vec<BigUint> {
    vec![
        BigUint::ZERO,
        power(0),
        m - 1u8,
        m.clone(),
        power(32 * limbs) - 1u8,
        mixed(limbs, 7),
    ]
}

fn batch_in(engine: &Engine, numbers: &[BigUint], limbs: usize, layout: Layout) -> Batch {
    let batch = engine.batch_from_biguints_in(numbers, limbs, layout);
    batch.expect("fits")
}

fn batch(engine: &Engine, numbers: &[BigUint], limbs: usize) -> Batch {
    batch_in(engine, numbers, limbs, Layout::Contiguous)
}

fn vartime(engine: &Engine) -> Engine {
    engine.using(Algorithm::AutoVartime)
}

/// Powers of all numbers, of any widths and layouts, by masks and by indices, and where they are.
fn check_powers(engine: &Engine, [a, e, m]: [&Batch; 3]) {
    let [x, y, n] = [a, e, m].map(|batch| batch.to_biguints().expect("a batch"));
    let of = |all: &[BigUint], i: usize| all[if all.len() == 1 { 0 } else { i }].clone();
    for engine in [engine.clone(), vartime(engine)] {
        let powers = engine.pow_mod(a, e, m).expect("no modulus is zero");
        assert_eq!(powers.location(), BackEnd::Cuda(0.into()));
        for (i, found) in powers.to_biguints().expect("comes back").iter().enumerate() {
            let (x, y, n) = (of(&x, i), of(&y, i), of(&n, i));
            assert_eq!(*found, x.modpow(&y, &n), "{x:x}^{y:x} modulo {n:x}");
        }
    }
}

#[test]
fn powers_modulo_wide_numbers_are_those_of_num_bigint() {
    let name = "simulated_gpu::wide_moduli::powers_modulo_wide_numbers_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    for (limbs, engine, step) in [
        (5, engine(5), 1),
        (6, engine(0), 4),
        (5, engine_in_rings(), 6),
    ] {
        let (mut a, mut e, mut m) = (Vec::new(), Vec::new(), Vec::new());
        let exponents = [0, 1, u32::MAX, 1 << 31, 0x9e37_79b9, 2].map(BigUint::from);
        for (i, modulus) in moduli(limbs).into_iter().step_by(step).enumerate() {
            let bases = bases(limbs, &modulus).into_iter().enumerate();
            // Every other base of each, in turns; in sweeps all.
            for (j, base) in bases.skip(sweep(i % 2, 0)).step_by(sweep(2, 1)) {
                m.push(modulus.clone());
                a.push(base);
                e.push(exponents[(i + j) % 6].clone());
            }
        }
        let [x, y, n] =
            [(&a, limbs), (&e, 1), (&m, limbs)].map(|(all, width)| batch(&engine, all, width));
        check_powers(&engine, [&x, &y, &n]);
    }
}

#[test]
fn operands_of_wide_powers_may_be_one_for_all_and_of_any_widths_and_layouts() {
    let name = "simulated_gpu::wide_moduli::operands_of_wide_powers_may_be_one_for_all_and_of_any_widths_and_layouts";
    if !on_simulator(name, &[]) {
        return;
    }
    for engine in [engine(5), engine_in_rings()] {
        check_widths_and_layouts(&engine);
    }
}

fn check_widths_and_layouts(engine: &Engine) {
    let (limbs, count) = (5, 3u32);
    let numbers = |limbs, salt| {
        (0..count)
            .map(|i| mixed(limbs, salt + i))
            .collect::<Vec<_>>()
    };
    let m: Vec<BigUint> = numbers(limbs, 1)
        .into_iter()
        .map(|m| m | power(0))
        .collect();
    let (a, wide, e) = (
        numbers(limbs, 20),
        numbers(2 * limbs + 1, 30),
        numbers(1, 40),
    );
    let one = |all: &[BigUint], limbs| batch(engine, &all[1..2], limbs);
    let all = |all: &[BigUint], limbs| batch(engine, all, limbs);
    let columns = |all: &[BigUint], limbs| batch_in(engine, all, limbs, Layout::Interleaved);
    for [a, e, m] in [
        [all(&a, limbs), one(&e, 1), all(&m, limbs)],
        [all(&wide, 2 * limbs + 1), all(&e, 1), one(&m, limbs)],
        [one(&a, limbs), all(&e, 1), one(&m, limbs)],
        [one(&a, limbs), one(&e, 1), one(&m, limbs)],
        // A limb of zero on top of moduli and exponents.
        [all(&a, limbs), all(&e, 2), all(&m, limbs + 1)],
        [
            columns(&wide, 2 * limbs + 1),
            columns(&e, 1),
            columns(&m, limbs),
        ],
    ] {
        check_powers(engine, [&a, &e, &m]);
    }
}

/// The moduli fill the rings, or share a factor with the larger one's modulus.
#[test]
fn powers_in_two_rings_are_those_of_num_bigint() {
    let name = "simulated_gpu::wide_moduli::powers_in_two_rings_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let limbs = 512;
    let m = [power(32 * limbs) - 1u8, mixed(limbs, 1) | power(0)];
    let a = [mixed(limbs, 2), power(32 * limbs) - 2u8];
    let [a, m] = [&a, &m].map(|all| batch(&engine, all, limbs));
    let e = batch(&engine, &[0xfffe_u32.into(), 0x8001_u32.into()], 1);
    for engine in [engine.clone(), vartime(&engine)] {
        let explained = engine.explain(Operation::PowMod, &[&a, &e, &m]);
        let explained = explained.expect("a kernel").to_string();
        assert!(
            explained.contains("Montgomery products in two rings of 512 limbs"),
            "{explained}"
        );
    }
    check_powers(&engine, [&a, &e, &m]);
    let forced = engine
        .using(Algorithm::Window)
        .explain(Operation::PowMod, &[&a, &e, &m]);
    let forced = forced.expect("a kernel").to_string();
    assert!(!forced.contains("rings"), "{forced}");
    // A prime factor of 2^16384 + 1.
    let factor = "116928085873074369829035993834596371340386703423373313";
    let factor: BigUint = factor.parse().expect("a number");
    assert_eq!((power(1 << 14) + 1u8) % &factor, BigUint::ZERO);
    let engine = engine_in_rings();
    let m = batch(&engine, &[factor, mixed(6, 3) | power(0)], 6);
    let [x, y, z, t] = [4, 5, 6, 7].map(|salt| mixed(6, salt));
    let e = batch(&engine, &[mixed(1, 6), mixed(1, 7)], 1);
    check_powers(
        &engine,
        [&batch(&engine, &[x.clone(), y.clone()], 6), &e, &m],
    );
    // Of two bases each.
    let m = m.to_biguints().expect("a batch").swap_remove(1);
    let pairs = [&x + (&y << 192), &z + (&t << 192)];
    let e = [9u64 + (5 << 32), 3 + (6 << 32)].map(BigUint::from);
    let [a, e] = [(pairs, 12), (e, 2)].map(|(all, limbs)| batch(&engine, &all, limbs));
    let products = engine.pow_pair(&a, &e, &batch(&engine, std::slice::from_ref(&m), 6));
    let products = products.expect("a device").to_biguints();
    assert_eq!(
        products.expect("comes back"),
        [x.pow(9) * y.pow(5) % &m, z.pow(3) * t.pow(6) % &m]
    );
}

/// The product of Montgomery's, `a b / 2^(32 limbs)` modulo `m`.
fn montgomery_product(a: &BigUint, b: &BigUint, m: &BigUint, limbs: usize) -> BigUint {
    let inverse = (power(32 * limbs) % m).modinv(m).unwrap_or_default();
    a * b * inverse % m
}

#[test]
fn montgomery_products_modulo_wide_numbers_are_those_of_num_bigint() {
    let name = "simulated_gpu::wide_moduli::montgomery_products_modulo_wide_numbers_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    for (limbs, scanned) in [(4, 4), (70, 0)] {
        let engine = engine(scanned);
        let (mut a, mut b, mut m) = (Vec::new(), Vec::new(), Vec::new());
        for modulus in moduli(limbs) {
            let below = bases(limbs, &modulus).into_iter().map(|x| x % &modulus);
            let below: Vec<BigUint> = below.collect();
            for (i, x) in below.iter().enumerate() {
                a.push(x.clone());
                b.push(below[(i * i + 2) % below.len()].clone());
                m.push(modulus.clone());
            }
        }
        let check = |x: &Batch, y: &Batch, n: &Batch, m: &dyn Fn(usize) -> BigUint| {
            let products = engine.mont_mul(x, y, n).expect("odd moduli");
            assert_eq!(products.location(), BackEnd::Cuda(0.into()));
            let (x, y) = (
                x.to_biguints().expect("a batch"),
                y.to_biguints().expect("a batch"),
            );
            for (i, found) in products
                .to_biguints()
                .expect("comes back")
                .iter()
                .enumerate()
            {
                let expected = montgomery_product(&x[i], &y[i], &m(i), limbs);
                assert_eq!(*found, expected, "{:x} {:x} modulo {:x}", x[i], y[i], m(i));
            }
        };
        let [x, y, n] = [&a, &b, &m].map(|all| batch(&engine, all, limbs));
        // The inverses are there the second time.
        for _ in 0..2 {
            check(&x, &y, &n, &|i| m[i].clone());
        }
        let all = &m[60];
        let [a, b] = [&a, &b].map(|xs| xs.iter().map(|x| x % all).collect::<Vec<_>>());
        let [x, y] = [&a, &b].map(|xs| batch_in(&engine, xs, limbs, Layout::Interleaved));
        check(&x, &y, &batch(&engine, &m[60..61], limbs), &|_| all.clone());
        let [x, y] = [&a, &b].map(|xs| batch(&engine, &xs[5..6], limbs));
        check(&x, &y, &batch(&engine, &m[60..61], limbs), &|_| all.clone());
    }
}

#[test]
fn residues_modulo_wide_numbers_are_those_of_num_bigint() {
    let name = "simulated_gpu::wide_moduli::residues_modulo_wide_numbers_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let (engine, limbs, count) = (engine(4), 5, 2);
    let m = moduli(limbs).swap_remove(9);
    let params = MontgomeryParams::new(&engine, &batch(&engine, std::slice::from_ref(&m), limbs));
    let params = params.expect("an odd modulus");
    let numbers: Vec<BigUint> = (0..count).map(|i| mixed(2 * limbs, i)).collect();
    // Of three windows, the highest of one bit.
    let exponents: Vec<BigUint> = (0..count)
        .map(|i| mixed(1, 50 + i) >> 19 | power(12))
        .collect();
    let x = Residues::new(&batch(&engine, &numbers, 2 * limbs), &params).expect("residues");
    let y = x.square().expect("a device");
    let e = batch(&engine, &exponents, 1);
    let product = Residues::multi_exponentiate(&[(&x, &e), (&y, &e)]).expect("powers");
    let product = product
        .retrieve()
        .expect("numbers")
        .to_biguints()
        .expect("comes back");
    for (i, found) in product.iter().enumerate() {
        assert_eq!(*found, numbers[i].modpow(&(3u8 * &exponents[i]), &m));
    }
    let base = Residues::new(&batch(&engine, &numbers[..1], 2 * limbs), &params).expect("residues");
    let table = FixedBase::new(&base, 13).expect("a table");
    for power in [table.pow(&e), table.pow_vartime(&e)] {
        let power = power.and_then(|power| power.retrieve()).expect("powers");
        for (found, e) in power
            .to_biguints()
            .expect("comes back")
            .iter()
            .zip(&exponents)
        {
            assert_eq!(*found, numbers[0].modpow(e, &m));
        }
    }
}

#[test]
fn even_moduli_are_computed_modulo_their_odd_parts_and_zero_is_named() {
    let name = "simulated_gpu::wide_moduli::even_moduli_are_computed_modulo_their_odd_parts_and_zero_is_named";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine(4);
    let m = [power(100) + 1u8, power(130) + 2u8, power(159)];
    let a = batch(&engine, &[mixed(5, 1), mixed(5, 2), mixed(5, 3)], 5);
    let e = batch(&engine, &[1000u32.into()], 1);
    let powers = engine
        .pow_mod(&a, &e, &batch(&engine, &m, 5))
        .expect("no modulus is zero");
    assert_eq!(powers.location(), BackEnd::Cuda(0.into()));
    for (i, found) in powers.to_biguints().expect("a batch").iter().enumerate() {
        assert_eq!(
            *found,
            mixed(5, i as u32 + 1).modpow(&1000u32.into(), &m[i])
        );
    }
    let zero = [power(100) + 1u8, BigUint::ZERO, power(1)];
    let refused = engine
        .pow_mod(&a, &e, &batch(&engine, &zero, 5))
        .unwrap_err();
    assert!(
        matches!(refused, Error::ZeroDivisor { index: 1 }),
        "{refused}"
    );
    let (powers, flags) = engine
        .masked_pow_mod(&a, &e, &batch(&engine, &m[..1], 5))
        .expect("an odd modulus");
    assert_eq!((powers.len(), flags), (3, vec![false; 3]));
    let (powers, flags) = engine
        .masked_pow_mod(&a, &e, &batch(&engine, &zero, 5))
        .expect("a device");
    assert_eq!(flags, [false, true, false]);
    let [first, none, last] = [0, 1, 2].map(|i| powers.get(i).expect("a batch"));
    let expected = mixed(5, 1).modpow(&1000u32.into(), &zero[0]);
    assert_eq!((first, none), (Some(expected), Some(BigUint::ZERO)));
    assert_eq!(last, Some(mixed(5, 3) % 2u8));
}

#[test]
fn wide_moduli_are_explained_and_secrets_are_not_computed_with_so() {
    let name = "simulated_gpu::wide_moduli::wide_moduli_are_explained_and_secrets_are_not_computed_with_so";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let operands =
        [1100, 2, 1100].map(|limbs| batch(&engine, &[mixed(limbs, 1) | power(0)], limbs));
    let [a, e, m] = &operands;
    let explained = engine
        .explain(Operation::PowMod, &[a, e, m])
        .expect("a kernel");
    assert!(
        explained
            .to_string()
            .contains("Montgomery products by mul_fft"),
        "{explained}"
    );
    let secrets = engine.for_secrets().expect("a device");
    let [a, e, m] =
        [1100, 2, 1100].map(|limbs| batch(&secrets, &[mixed(limbs, 1) | power(0)], limbs));
    let refused = secrets
        .explain(Operation::PowMod, &[&a, &e, &m])
        .unwrap_err();
    assert!(
        matches!(refused, Error::ModulusWidth { width: 1100, .. }),
        "{refused}"
    );
}
