//! Chains against num-bigint, on every path of the machine.

use super::*;
use num_bigint::BigUint;
use proptest::prelude::*;

/// A number of `bits` bits, chosen by `seed`: all ones, one bit, or any number.
fn number(bits: usize, seed: u64) -> BigUint {
    let top = BigUint::from(1u8) << (bits - 1);
    let ones = (&top << 1u8) - 1u8;
    match seed % 5 {
        0 => ones,
        1 => top,
        2 => BigUint::ZERO,
        _ => {
            let mut x = BigUint::from(seed | 1);
            while x.bits() < bits as u64 {
                x = &x * &x + seed;
            }
            x & ones
        }
    }
}

fn limbs(x: &BigUint) -> Vec<Limb> {
    x.to_u32_digits()
}

/// Whatever steps the bounds allow, the registers hold what num-bigint computes, modulo one number,
/// and modulo one for each row.
fn agree(bits: usize, seed: u64, count: usize, choices: &[(u8, u16, u16, u16)]) {
    let modulus = |bits: usize, seed: u64| {
        number(bits, seed) | BigUint::from(1u8) | (BigUint::from(1u8) << (bits - 1))
    };
    agree_modulo(&vec![modulus(bits, seed); count], seed, choices);
    let of = |row: usize| modulus(2 + (bits - 2) * (row % 5 + 1) / 5, seed + row as u64);
    agree_modulo(&(0..count).map(of).collect::<Vec<_>>(), seed, choices);
}

fn agree_modulo(moduli: &[BigUint], seed: u64, choices: &[(u8, u16, u16, u16)]) {
    let (count, bits) = (
        moduli.len(),
        moduli.iter().map(BigUint::bits).max().unwrap() as usize,
    );
    let of_limbs: Vec<_> = moduli.iter().map(limbs).collect();
    let is_one = moduli.iter().all(|m| *m == moduli[0]);
    let registers = 5u16;
    // All paths take the same steps, so that what is expected is computed once.
    let paths = Path::ALL.into_iter().filter(|path| path.is_supported());
    let chains = paths.map(|path| {
        let chain = match is_one {
            true => Chain::on(path, &of_limbs[0], registers, count),
            false => {
                let moduli: Vec<_> = of_limbs.iter().map(Vec::as_slice).collect();
                Chain::modulo(path, &moduli, registers, count)
            }
        };
        (path, chain.unwrap())
    });
    let mut chains: Vec<_> = chains.collect();
    let mut expected = Vec::new();
    for register in 0..registers {
        let of = |row: usize| {
            number(bits, seed ^ (row as u64 * 977 + u64::from(register))) % &moduli[row]
        };
        let numbers: Vec<_> = (0..count).map(of).collect();
        let rows: Vec<_> = numbers.iter().map(limbs).collect();
        for (_, chain) in &mut chains {
            chain.set(register, &rows).unwrap();
        }
        expected.push(numbers);
    }
    let scales: Vec<u32> = (0..count)
        .map(|i| (seed as u32).wrapping_mul(i as u32 + 1))
        .collect();
    let keys: Vec<BigUint> = (0..count)
        .map(|i| number(90 + i, seed.wrapping_add(3 * i as u64)))
        .collect();
    let of_keys: Vec<_> = keys.iter().map(limbs).collect();
    for (_, chain) in &mut chains {
        chain.set_scales(&scales).unwrap();
        chain.set_keys(&of_keys).unwrap();
    }
    // What a step divides by, 2^32.
    let inverse = |m: &BigUint| ((m + 1u8) >> 1u8).modpow(&32u8.into(), m);
    let inverses: Vec<BigUint> = moduli.iter().map(inverse).collect();
    for &(kind, r, a, b) in choices {
        let (r, a, b) = (r % registers, a % registers, b % registers);
        let of = |register: u16| chains[0].1.bounds[usize::from(register)];
        // Keys have 90 bits or more; those above them are zeros.
        let bit = 2 * u32::from(kind % 60);
        let step = match kind % 7 {
            4 => Step::Copy { r, a },
            5 => Step::Choose {
                r,
                a,
                b,
                bit: bit + 1,
            },
            6 if SHIFTED * of(a) <= SPARE => Step::Shift { r, a, bit },
            0 if of(a) * of(b) <= SPARE => Step::Mul { r, a, b },
            1 if of(a) + of(b) <= SPARE => Step::Add { r, a, b },
            2 if of(b) <= PRODUCT && of(a) + 2 <= SPARE => Step::Sub { r, a, b },
            _ if of(a) < SPARE => Step::Scale { r, a },
            _ => continue,
        };
        for (_, chain) in &mut chains {
            chain.run(&[step]);
        }
        for (row, m) in moduli.iter().enumerate() {
            let of = |register: u16| expected[usize::from(register)][row].clone();
            expected[usize::from(r)][row] = match step {
                Step::Mul { a, b, .. } => of(a) * of(b),
                Step::Add { a, b, .. } => of(a) + of(b),
                Step::Sub { a, b, .. } => of(a) + m - of(b),
                Step::Copy { a, .. } => of(a),
                Step::Scale { a, .. } => of(a) * scales[row] * &inverses[row],
                Step::Choose { a, b, bit, .. } => of(if keys[row].bit(bit.into()) { b } else { a }),
                Step::Shift { a, bit, .. } => {
                    let by = [bit, bit + 1].map(|bit| u32::from(keys[row].bit(bit.into())));
                    of(a) << (by[0] + 2 * by[1])
                }
            } % m;
        }
    }
    for (path, chain) in &chains {
        for register in 0..registers {
            let found = chain.get(register);
            let found: Vec<_> = found.into_iter().map(BigUint::new).collect();
            let expected = &expected[usize::from(register)];
            assert_eq!(&found, expected, "{} {bits}", path.name());
        }
    }
}

proptest! {
    #[test]
    fn registers_are_what_the_steps_make_of_them(
        bits in 2usize..700,
        seed in any::<u64>(),
        count in 1usize..20,
        choices in prop::collection::vec(any::<(u8, u16, u16, u16)>(), 0..40),
    ) {
        agree(bits, seed, count, &choices);
    }
}

#[test]
fn moduli_at_the_boundaries_of_words_and_digits_have_room_for_the_bounds() {
    let choices: Vec<_> = (0..200u16)
        .map(|i| ((i % 7) as u8, i % 5, i * 3 % 11, i * 5 % 7))
        .collect();
    for bits in [
        2, 3, 45, 46, 47, 52, 57, 58, 59, 64, 98, 99, 122, 123, 250, 255, 1018, 2048, 8192,
    ] {
        agree(bits, 5, 9, &choices);
        agree(bits, 13, 2, &choices);
    }
}

#[test]
#[should_panic(expected = "Mul")]
fn a_product_of_sums_that_are_too_great_is_refused() {
    let mut chain = Chain::new(&[7], 2, 1).unwrap();
    chain.set(0, &[vec![3]]).unwrap();
    let double = Step::Add { r: 0, a: 0, b: 0 };
    chain.run(&[double, double, double, Step::square(1, 0)]);
}

#[test]
#[should_panic(expected = "Shift")]
fn a_shift_by_an_odd_bit_and_the_one_above_it_is_refused() {
    let mut chain = Chain::new(&[7], 1, 1).unwrap();
    chain.run(&[Step::Shift { r: 0, a: 0, bit: 1 }]);
}

#[test]
fn rows_are_one_for_all_or_as_many_as_the_chain_has() {
    let mut chain = Chain::new(&[7], 1, 3).unwrap();
    assert!(matches!(
        chain.set(0, &[vec![1], vec![2]]),
        Err(Error::Count {
            operand: 2,
            result: 3
        })
    ));
    assert!(matches!(chain.set_scales(&[]), Err(Error::Count { .. })));
    assert!(matches!(chain.set_keys(&[]), Err(Error::Count { .. })));
}
