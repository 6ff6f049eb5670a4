//! Powers in residue number systems, and what goes another way.

use bigint_core::rns::RnsPlan;
use bigint_host::{
    Algorithm, BigUint, Engine, Error, FixedBase, Form, Layout, MontgomeryParams, Operation,
    Residues, RnsTuning, Shape, Tuning,
};
use bigint_testing::simulator::on_simulator;

/// Compares powers of an algorithm with num-bigint's; says which one computes them.
fn check(algorithm: Algorithm, width: usize, operands: [&[BigUint]; 3]) -> Algorithm {
    let engine = Engine::cuda(0).expect("a device");
    check_of(&engine.using(algorithm), width, operands)
}

/// The same of an engine.
fn check_of(engine: &Engine, width: usize, [a, e, m]: [&[BigUint]; 3]) -> Algorithm {
    let batch = |numbers: &[BigUint], width| {
        let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
        batch.expect("fits")
    };
    let (x, y, z) = (batch(a, width), batch(e, 1), batch(m, 4));
    let outcome = engine.compute(Operation::PowMod, Form::Overflowing, &[&x, &y, &z]);
    let outcome = outcome.expect("a device");
    let powers = outcome.results[0].to_biguints().expect("comes back");
    for (i, power) in powers.iter().enumerate() {
        let modulus = m.get(i).unwrap_or(&m[0]);
        assert_eq!(*power, a[i].modpow(&e[i], modulus), "number {i}");
    }
    let flags = outcome.flags.expect("they are wanted");
    assert_eq!(
        flags.to_biguints().expect("come back"),
        vec![BigUint::ZERO; a.len()]
    );
    let explanation = engine.explain(Operation::PowMod, &[&x, &y, &z]);
    explanation.expect("a choice").parts[0].algorithm
}

#[test]
fn powers_by_name_are_right_and_what_is_refused_goes_by_windows() {
    let name = "simulated_gpu::residue_systems::powers_by_name_are_right_and_what_is_refused_goes_by_windows";
    if !on_simulator(name, &[]) {
        return;
    }
    let wide: BigUint = (BigUint::from(1u8) << 128usize) - BigUint::from(1u8);
    let numbers = |of: &[&BigUint]| of.iter().map(|x| (*x).clone()).collect::<Vec<_>>();
    let (three, odd) = (BigUint::from(3u8), wide.clone() - BigUint::from(58u8));
    let prime = BigUint::from(RnsPlan::of(4).expect("it is narrow").bases()[0][5]);
    let (a, e) = (
        numbers(&[&wide, &three, &odd]),
        numbers(&[&three, &prime, &three]),
    );
    for (algorithm, windows) in [
        (Algorithm::Rns, Algorithm::Window),
        (Algorithm::RnsVartime, Algorithm::WindowVartime),
    ] {
        for m in [&[&odd, &wide, &three][..], &[&odd], &[&odd, &prime, &three]] {
            assert_eq!(check(algorithm, 4, [&a, &e, &numbers(m)]), algorithm);
        }
        // Bases are wider than moduli.
        assert_eq!(check(algorithm, 5, [&a, &e, &numbers(&[&odd])]), windows);
    }
}

/// Thresholds by which windows take long modulo 4 limbs, for powers, products of two, or powers by a table.
pub fn slow_by_windows(bases: u32) -> Tuning {
    let mut tuning = Tuning::default();
    tuning.device = None;
    tuning.modular.rns = vec![RnsTuning {
        width: 4,
        bases,
        nanoseconds: 1.0,
        warps_nanoseconds: 1.0,
        conversion_nanoseconds: 1.0,
        windows_nanoseconds: 1e9,
        vartime_nanoseconds: 1.0,
        windows_vartime_nanoseconds: 1e9,
    }];
    tuning
}

#[test]
fn auto_takes_them_where_tables_say_that_whole_waves_take_less_time() {
    let name = "simulated_gpu::residue_systems::auto_takes_them_where_tables_say_that_whole_waves_take_less_time";
    if !on_simulator(name, &[]) {
        return;
    }
    // On 132 multiprocessors 33,792 numbers of 1536 bits are two waves, or one and a third where exponents are known.
    let engine = Engine::cuda(0).expect("a device");
    let explained = |count, engine: &Engine| {
        let numbers = engine.batch_from_limbs(
            vec![u32::MAX; count * 48],
            Shape::new(count, 48, Layout::Contiguous),
        );
        let numbers = numbers.expect("they fit");
        let explained = engine.explain(Operation::PowMod, &[&numbers; 3]);
        explained.expect("a choice").to_string()
    };
    let of_wave = explained(33_792, &engine);
    for words in [
        "33792 by rns at level grid: 55 primes of each of two bases",
        "ns by modular.rns, in whole waves, less than",
        "ns by windows",
    ] {
        assert!(of_wave.contains(words), "{words:?} is not in {of_wave}");
    }
    assert!(explained(4000, &engine).contains("4000 by window at level warp"));
    // Where anybody may know the exponents.
    let vartime = engine.using(Algorithm::AutoVartime);
    assert!(explained(33_792, &vartime).contains("33792 by rns_vartime at level grid"));
    assert!(explained(2000, &vartime).contains("2000 by window_vartime at level warp"));

    // What it takes is right, also where a modulus is refused.
    let engine = engine.with_tuning(slow_by_windows(1));
    let odd = (BigUint::from(1u8) << 128usize) - BigUint::from(59u8);
    let prime = BigUint::from(RnsPlan::of(4).expect("it is narrow").bases()[0][5]);
    let a: Vec<BigUint> = (0..5u32).map(|i| &odd - BigUint::from(i)).collect();
    let e: Vec<BigUint> = (0..5u32).map(|i| BigUint::from(u32::MAX - i)).collect();
    let moduli = |second: &BigUint| {
        let mut moduli = vec![odd.clone(); 5];
        moduli[2] = second.clone();
        moduli
    };
    for m in [moduli(&odd), moduli(&prime)] {
        assert_eq!(check_of(&engine, 4, [&a, &e, &m]), Algorithm::Rns);
        let vartime = engine.using(Algorithm::AutoVartime);
        assert_eq!(check_of(&vartime, 4, [&a, &e, &m]), Algorithm::RnsVartime);
    }
}

#[test]
fn products_of_two_powers_are_right_by_name_and_where_tables_say_that_they_take_less_time() {
    let name = "simulated_gpu::residue_systems::products_of_two_powers_are_right_by_name_and_where_tables_say_that_they_take_less_time";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let odd = (BigUint::from(1u8) << 128usize) - BigUint::from(59u8);
    let prime = BigUint::from(RnsPlan::of(4).expect("it is narrow").bases()[0][5]);
    let [x, y]: [Vec<BigUint>; 2] =
        [1u32, 77].map(|by| (0..5u32).map(|i| &odd / (by + i)).collect());
    let [e, f]: [Vec<BigUint>; 2] = [5, 0].map(|by| {
        (0..5u32)
            .map(|i| BigUint::from(u32::MAX / (by + i + 1)))
            .collect()
    });
    let pairs = |low: &[BigUint], high: &[BigUint], limbs: usize| {
        let both = low
            .iter()
            .zip(high)
            .map(|(low, high)| low | high << (32 * limbs));
        both.collect::<Vec<_>>()
    };
    // Says which algorithm computes them.
    let check = |engine: &Engine, m: &BigUint, width: usize| {
        let batch = |numbers: &[BigUint], width| {
            let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
            batch.expect("fits")
        };
        let [a, e_f] = [pairs(&x, &y, width), pairs(&e, &f, 1)];
        let moduli = vec![
            odd.clone(),
            m.clone(),
            odd.clone(),
            odd.clone(),
            odd.clone(),
        ];
        let operands = [batch(&a, 2 * width), batch(&e_f, 2), batch(&moduli, 4)];
        let [a, e_f, n] = &operands;
        let found = engine.pow_pair(a, e_f, n).expect("a device");
        for (i, found) in found.to_biguints().expect("comes back").iter().enumerate() {
            let [x, y] = [(&x, &e), (&y, &f)].map(|(x, e)| x[i].modpow(&e[i], &moduli[i]));
            assert_eq!(*found, x * y % &moduli[i], "number {i}");
        }
        let explained = engine.explain(Operation::PowPair, &[a, e_f, n]);
        explained.expect("a choice").parts[0].algorithm
    };
    use Algorithm::{Auto, AutoVartime, Rns, RnsVartime, Window, WindowVartime};
    for m in [&odd, &prime] {
        for algorithm in [Rns, RnsVartime] {
            assert_eq!(check(&engine.using(algorithm), m, 4), algorithm);
        }
    }
    let by_tables = engine.with_tuning(slow_by_windows(2));
    assert_eq!(check(&by_tables.using(Auto), &odd, 4), Rns);
    assert_eq!(check(&by_tables.using(AutoVartime), &prime, 4), RnsVartime);
    // Those are the times of powers, and bases are wider than moduli.
    let of_powers = engine.with_tuning(slow_by_windows(1));
    assert_eq!(check(&of_powers, &odd, 4), Window);
    assert_eq!(check(&engine.using(RnsVartime), &odd, 5), WindowVartime);
}

/// A base's table is kept in residues for each modulus, and for each way of reading it.
#[test]
fn powers_of_a_fixed_base_are_right_by_name_and_where_tables_say_that_they_take_less_time() {
    let name = "simulated_gpu::residue_systems::powers_of_a_fixed_base_are_right_by_name_and_where_tables_say_that_they_take_less_time";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let odd = (BigUint::from(1u8) << 128usize) - BigUint::from(59u8);
    let prime = BigUint::from(RnsPlan::of(4).expect("it is narrow").bases()[0][5]);
    let g = &odd / 3u8;
    let batch = |numbers: &[BigUint], width| {
        let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
        batch.expect("fits")
    };
    let exponents: Vec<BigUint> = [0, 1, u64::MAX, u64::MAX / 7, 1 << 62, 3]
        .map(BigUint::from)
        .into();
    for m in [&odd, &(&prime * 3u8)] {
        let modulus = batch(std::slice::from_ref(m), 4);
        let params = MontgomeryParams::new(&engine, &modulus).expect("it is odd");
        let base = Residues::new(&batch(&[&g % m], 4), &params).expect("a device");
        let base = FixedBase::new(&base, 64).expect("a device");
        let entries = 64 * 64_usize.div_ceil(6);
        let one = BigUint::from(1u8);
        let radix = (&one << 128usize) % m;
        let entry = |at: usize| {
            let e = BigUint::from(at % 64) << (6 * (at / 64));
            g.modpow(&e, m) * &radix % m
        };
        let table = (0..entries).rev();
        let table = table.fold(BigUint::ZERO, |above, at| (above << 128usize) + entry(at));
        let t = batch(&[table], 4 * entries);
        let e = batch(&exponents, 2);
        // Says which algorithm computes them.
        let check = |engine: &Engine| {
            let found = engine.pow_fixed(&t, &e, &modulus).expect("a device");
            for (e, found) in exponents
                .iter()
                .zip(found.to_biguints().expect("comes back"))
            {
                assert_eq!(found, g.modpow(e, m), "{e} modulo {m}");
            }
            let explained = engine.explain(Operation::PowFixed, &[&t, &e, &modulus]);
            explained.expect("a choice").parts[0].algorithm
        };
        use Algorithm::{Auto, AutoVartime, Rns, RnsVartime, Window};
        for algorithm in [Rns, RnsVartime, Rns] {
            assert_eq!(check(&engine.using(algorithm)), algorithm);
        }
        let by_tables = engine.with_tuning(slow_by_windows(3));
        assert_eq!(check(&by_tables.using(Auto)), Rns);
        assert_eq!(check(&by_tables.using(AutoVartime)), RnsVartime);
        assert_eq!(check(&engine.with_tuning(slow_by_windows(2))), Window);
        let powers = base
            .pow(&e)
            .expect("a device")
            .retrieve()
            .expect("a device");
        let expected: Vec<_> = exponents.iter().map(|e| g.modpow(e, m)).collect();
        assert_eq!(powers.to_biguints().expect("comes back"), expected);
    }
}

/// Two primes of the first base of the systems for four limbs, and two of the second.
fn primes() -> [[BigUint; 2]; 2] {
    let bases = RnsPlan::of(4).expect("it is narrow").bases();
    bases.map(|base| [base[0], base[5]].map(BigUint::from))
}

/// Among ordinary moduli, one of them even, some share factors with the first base, the second, or both. By kernels' names:
/// the batch goes by residue number systems, what the first base refuses too, and by windows what both refuse, in fewer blocks.
#[test]
fn a_modulus_that_shares_a_factor_with_a_base_costs_its_own_number_alone() {
    let name = "simulated_gpu::residue_systems::a_modulus_that_shares_a_factor_with_a_base_costs_its_own_number_alone";
    let file = std::env::temp_dir().join(format!("bigint-refused-{}", std::process::id()));
    let path = file.to_str().expect("Unicode");
    if !on_simulator(name, &[("CUDA_SIM_COUNTS", path)]) {
        let launched = std::fs::read_to_string(&file).expect("counts");
        std::fs::remove_file(&file).expect("the file");
        let times = |kernel: &str| {
            let lines = launched.lines();
            lines.filter(|line| line.contains(kernel)).count()
        };
        let found = ["rns_limbs", "pow_mod", "gather"].map(times);
        // Of two layouts: all, what the first base refuses, and what both do; three operands and one result of each.
        assert_eq!(found, [4, 2, 2 * 2 * (3 + 3)]);
        return;
    }
    let [[p, q], [u, _]] = primes();
    let odd = (BigUint::from(1u8) << 128usize) - BigUint::from(59u8);
    let moduli = [
        &odd,
        &(&p * 3u8),
        &(&odd - 1u8),
        &(&p * &q * &p),
        &(&u * &u),
        &(&q * &u),
        &odd,
        &q,
    ];
    let moduli = moduli.map(BigUint::clone);
    let count = moduli.len() as u32;
    let a: Vec<BigUint> = (0..count).map(|i| &odd / (i + 1)).collect();
    let e: Vec<BigUint> = (0..count)
        .map(|i| BigUint::from(u32::MAX / (i + 1)))
        .collect();
    let engine = Engine::cuda(0).expect("a device").using(Algorithm::Rns);
    for layout in Layout::ALL {
        let batch = |numbers: &[BigUint], width| {
            let batch = engine.batch_from_biguints_in(numbers, width, layout);
            batch.expect("fits")
        };
        let powers = engine.pow_mod(&batch(&a, 4), &batch(&e, 1), &batch(&moduli, 4));
        let powers = powers
            .and_then(|powers| powers.to_biguints())
            .expect("a device");
        for (i, power) in powers.iter().enumerate() {
            assert_eq!(
                *power,
                a[i].modpow(&e[i], &moduli[i]),
                "number {i}, {layout:?}"
            );
        }
    }
}

/// Powers, products of two and powers of one base modulo one such number, and modulo one of each; and a zero among them.
#[test]
fn powers_modulo_one_number_that_shares_factors_with_bases_are_right() {
    let name = "simulated_gpu::residue_systems::powers_modulo_one_number_that_shares_factors_with_bases_are_right";
    if !on_simulator(name, &[]) {
        return;
    }
    let [[p, q], [u, v]] = primes();
    let odd = (BigUint::from(1u8) << 128usize) - BigUint::from(59u8);
    let engine = Engine::cuda(0).expect("a device");
    let batch = |numbers: &[BigUint], width| {
        let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
        batch.expect("fits")
    };
    let a: Vec<BigUint> = (1..4u32).map(|i| &odd / i).collect();
    let e: Vec<BigUint> = (1..4u32).map(|i| BigUint::from(0x155 * i)).collect();
    let one_of_each = [&p * &q, &p * &v, &u * 3u8];
    for (algorithm, moduli) in [
        (Algorithm::Rns, &[&p * &q * 3u8][..]),
        (Algorithm::RnsVartime, &[&q * &u]),
        (Algorithm::Rns, &one_of_each),
    ] {
        let engine = engine.using(algorithm);
        let modulus = |i: usize| moduli.get(i).unwrap_or(&moduli[0]);
        let m = batch(moduli, 4);
        let powers = engine.pow_mod(&batch(&a, 4), &batch(&e, 1), &m);
        let powers = powers.and_then(|powers| powers.to_biguints());
        for (i, power) in powers.expect("a device").iter().enumerate() {
            assert_eq!(*power, a[i].modpow(&e[i], modulus(i)), "number {i}");
        }
        // And a seventh of it.
        let two = |x: &BigUint, by: u32| x + ((x / 7u8) << by);
        let pairs = engine.pow_pair(
            &batch(&a.iter().map(|a| two(a, 128)).collect::<Vec<_>>(), 8),
            &batch(&e.iter().map(|e| two(e, 32)).collect::<Vec<_>>(), 2),
            &m,
        );
        let pairs = pairs.and_then(|pairs| pairs.to_biguints());
        for (i, found) in pairs.expect("a device").iter().enumerate() {
            let [x, y] = [(a[i].clone(), e[i].clone()), (&a[i] / 7u8, &e[i] / 7u8)]
                .map(|(a, e)| a.modpow(&e, modulus(i)));
            assert_eq!(*found, x * y % modulus(i), "number {i}");
        }
    }
    for (algorithm, m) in [
        (Algorithm::RnsVartime, &p * &q * 3u8),
        (Algorithm::Rns, &q * &u),
    ] {
        let engine = engine.using(algorithm);
        let modulus = batch(std::slice::from_ref(&m), 4);
        let params = MontgomeryParams::new(&engine, &modulus).expect("it is odd");
        let base = Residues::new(&batch(&a[..1], 4), &params).expect("a device");
        let base = FixedBase::new(&base, 32).expect("a device");
        let powers = base.pow(&batch(&e, 1)).and_then(|powers| powers.retrieve());
        let powers = powers
            .and_then(|powers| powers.to_biguints())
            .expect("a device");
        let expected: Vec<_> = e.iter().map(|e| a[0].modpow(e, &m)).collect();
        assert_eq!(powers, expected, "{algorithm:?}, {m}");
    }
    // A zero has no power, and its number is told.
    let zero = batch(&[odd.clone(), BigUint::ZERO, p.clone()], 4);
    let operands = [&batch(&a, 4), &batch(&e, 1), &zero];
    let engine = engine.using(Algorithm::Rns);
    let refused = engine.pow_mod(operands[0], operands[1], operands[2]);
    assert!(
        matches!(refused, Err(Error::ZeroDivisor { index: 1 })),
        "{refused:?}"
    );
    let outcome = engine.compute(Operation::PowMod, Form::Overflowing, &operands);
    let outcome = outcome.expect("a device");
    let flags = outcome.flags.expect("they are wanted").to_biguints();
    assert_eq!(flags.expect("come back"), [0u8, 1, 0].map(BigUint::from));
    let powers = outcome.results[0].to_biguints().expect("come back");
    for i in [0, 2] {
        let m = [&odd, &odd, &p][i];
        assert_eq!(powers[i], a[i].modpow(&e[i], m), "number {i}");
    }
}
