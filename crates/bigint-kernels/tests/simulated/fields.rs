//! The fields of the device library, by the kernels of `examples/field-kernels`: every function at the values where
//! carries are rare and bounds are reached, beside num-bigint.

use crate::bench::{Bench, Operand};
use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Layout, Limb, Shape};
use cuda_sim::DeviceConfig;
use num_bigint::BigUint;

/// A launch: numbers of lanes, bytes of shared memory for a thread, the second parameter.
#[derive(Clone, Default)]
struct Launch {
    lanes: u32,
    shared: u32,
    scalars: Vec<Limb>,
}

/// What a kernel makes of these operands, in rows of these widths.
fn made(kernel: &str, operands: &[Operand], widths: &[usize], launch: Launch) -> Vec<Vec<BigUint>> {
    let path = "/../../examples/field-kernels/field_kernels.ptx";
    let path = format!("{}{path}", env!("CARGO_MANIFEST_DIR"));
    // All kernels of the module would be parsed.
    let ptx = std::fs::read_to_string(path).unwrap();
    let ptx = bigint_host::advanced::kernel_alone(&ptx, kernel).unwrap();
    let bench = Bench::of(ptx, DeviceConfig::default());
    let count = operands[0].1.len();
    let shape = |width: usize| Shape::new(count, width, Layout::Contiguous);
    let matrices: Vec<_> = operands
        .iter()
        .map(|operand| bench.matrix(operand, Layout::Contiguous))
        .collect();
    let results: Vec<_> = widths
        .iter()
        .map(|&width| bench.room(shape(width)))
        .collect();
    let grid = (count as u32 * launch.lanes.max(1)).div_ceil(BLOCK);
    let arguments = Arguments {
        count: count as u64,
        workers: u64::from(grid * BLOCK / launch.lanes.max(1)),
        ..Arguments::of(&results, &matrices)
    };
    let words = arguments.words().flat_map(u64::to_le_bytes);
    let scalars = launch.scalars.iter().flat_map(|limb| limb.to_le_bytes());
    let bytes: Vec<u8> = words.chain(scalars).collect();
    let shape_of_launch = [grid, BLOCK, launch.shared * BLOCK];
    bench.launch_in(bench.module(), kernel, shape_of_launch, &bytes, count);
    let results = results.iter().zip(widths);
    results
        .map(|(&result, &width)| bench.numbers(result, shape(width)))
        .collect()
}

fn power_of_two(exponent: usize) -> BigUint {
    BigUint::from(1u8) << exponent
}

/// Numbers below `bound` where carries are rare, and around the multiples of `m`.
fn numbers(m: &BigUint, bound: &BigUint) -> Vec<BigUint> {
    let bits = bound.bits() as usize;
    let mut numbers: Vec<BigUint> = (0..3u8).map(BigUint::from).collect();
    for multiple in [m.clone(), m << 1u8, (m + 1u8) >> 1u8, bound.clone()] {
        numbers.extend((0..4u8).map(|k| &multiple + 1u8 - k.min(2)));
    }
    for exponent in [31, 32, 33, 63, 64, 65, bits / 2, bits - 1] {
        numbers.extend([power_of_two(exponent), power_of_two(exponent) - 1u8]);
    }
    let any = BigUint::from(0x9e37_79b9_7f4a_7c15u64);
    numbers.extend((bits as u32 / 64..).take(3).map(|k| any.pow(k + 1) % bound));
    numbers.retain(|number| number < bound);
    numbers.sort();
    numbers.dedup();
    numbers
}

/// Pairs of numbers: each with itself, the next ones and the last.
fn pairs(numbers: &[BigUint]) -> [Vec<BigUint>; 2] {
    let n = numbers.len();
    let pair =
        |i: usize| [0, 1, n / 2].map(|by| (i, if by == 1 { n - 1 - i } else { (i + by) % n }));
    let pairs: Vec<_> = (0..n).flat_map(pair).collect();
    let side = |of: fn(&(usize, usize)) -> usize| {
        pairs.iter().map(|pair| numbers[of(pair)].clone()).collect()
    };
    [side(|pair| pair.0), side(|pair| pair.1)]
}

/// The values of `examples/field-kernels/src/values.rs` of residues modulo a prime.
fn values(a: &BigUint, b: &BigUint, e: &BigUint, p: &BigUint) -> [BigUint; 10] {
    let (a, b) = (a % p, b % p);
    let over = |x: &BigUint| match &a * &b % p == BigUint::ZERO {
        // One inverse for both.
        true => BigUint::ZERO,
        false => x.modinv(p).unwrap(),
    };
    let chosen = if a == b {
        BigUint::from(1u8)
    } else {
        a.clone()
    };
    [
        (&a + &b) % p,
        (&a + p - &b) % p,
        (p - &a) % p,
        &a * 7u8 % p,
        &a * &b % p,
        &a * &a % p,
        chosen,
        a.modpow(e, p),
        over(&a),
        over(&b),
    ]
}

/// The numbers of a row, from limbs of so many each.
fn row(row: &BigUint, limbs: usize) -> Vec<BigUint> {
    let mask = power_of_two(32 * limbs) - 1u8;
    (0..10).map(|k| row >> (32 * limbs * k) & &mask).collect()
}

/// Checks rows of values: whether they are in Montgomery's form, and below so many primes, where `bounds` are not 0.
fn check(
    rows: &[BigUint],
    [a, b]: [&[BigUint]; 2],
    p: impl Fn(usize) -> BigUint,
    limbs: usize,
    is_form: bool,
    bounds: [u32; 10],
) {
    for (i, found) in rows.iter().enumerate() {
        let p = p(i);
        let radix = if is_form {
            power_of_two(32 * limbs)
        } else {
            BigUint::from(1u8)
        };
        // Powers of lazy elements, which may be above the prime, are with odd exponents.
        let is_lazy = bounds[7] > 1;
        let e = &b[i] | BigUint::from(u8::from(is_lazy));
        let expected = values(&a[i], &b[i], &e, &p);
        for (k, (found, expected)) in row(found, limbs).iter().zip(expected).enumerate() {
            assert_eq!(
                found % &p,
                expected * &radix % &p,
                "value {k} of {:x} and {:x} modulo {p:x}",
                a[i],
                b[i]
            );
            if bounds[k] > 0 {
                assert!(
                    *found < &p * bounds[k],
                    "value {k} of {:x} and {:x}: {found:x}",
                    a[i],
                    b[i]
                );
            }
        }
    }
}

/// Special primes: the name, the limbs and the number.
fn primes() -> [(&'static str, usize, BigUint); 4] {
    [
        (
            "secp256k1",
            8,
            power_of_two(256) - power_of_two(32) - 977u32,
        ),
        ("25519", 8, power_of_two(255) - 19u8),
        ("192", 6, power_of_two(192) - 237u8),
        ("107", 4, power_of_two(107) - 1u8),
    ]
}

#[test]
fn special_fields_compute_with_any_number_of_their_limbs() {
    for (name, limbs, p) in primes() {
        let [a, b] = pairs(&numbers(&p, &power_of_two(32 * limbs)));
        let operands = [(limbs, a.clone()), (limbs, b.clone())];
        let kernel = format!("special_values_{name}");
        let launch = Launch {
            shared: 32,
            ..Launch::default()
        };
        let made = made(&kernel, &operands, &[10 * limbs, limbs], launch);
        for (i, found) in made[1].iter().enumerate() {
            let inverse = (&a[i] % &p).modinv(&p);
            assert_eq!(
                *found,
                inverse.unwrap_or(BigUint::from(1u8)),
                "1 / {:x}",
                a[i]
            );
        }
        check(&made[0], [&a, &b], |_| p.clone(), limbs, false, [0; 10]);
    }
}

/// Three numbers `a`, `b` and `c` each, of which the sum or difference that is named has a carry, or a borrow, out of its third limb where
/// multiples of `C` are added or subtracted, or nearly so. Some go on to the last limb.
fn far_carries(p: &BigUint) -> [Vec<BigUint>; 3] {
    let (all, c) = (power_of_two(256), power_of_two(256) - p);
    let third = power_of_two(96);
    let mut triples = Vec::new();
    let mut push = |a: &BigUint, b: &BigUint, c: BigUint| {
        triples.push([a.clone(), b.clone(), c % &all]);
    };
    let edges = numbers(p, &all);
    let uppers = [
        BigUint::ZERO,
        BigUint::from(1u8),
        power_of_two(160) - 1u8,
        power_of_two(160) - 2u8,
        power_of_two(159),
    ];
    let few = [0u32, 1, 2, 976, 977, 978].map(BigUint::from);
    let deltas: Vec<_> = few
        .into_iter()
        .chain([&c - 1u8, c.clone(), &c + 1u8, &c << 1u8, &c * &c])
        .collect();
    for upper in &uppers {
        for delta in &deltas {
            // a - b just above or below a multiple of B^3, as are -b - c.
            let difference = (upper * &third + delta) % &all;
            for b in &edges {
                push(&((b + &difference) % &all), b, BigUint::from(1u8));
                push(&BigUint::ZERO, b, (&all << 1u8) - b - &difference);
            }
            // a b + c, of which what is above eight limbs times `C`, added to the rest, comes near it.
            for b in edges.iter().rev().take(6) {
                let a = power_of_two(255);
                let product = &a * b;
                let folded = (&product >> 256u32) * &c + &product % &all;
                let above = (&folded >> 256u32) * &c;
                let wanted = upper * &third + (&third << 1u8) - &above + delta;
                for wanted in [wanted.clone(), wanted - (delta << 1u8)] {
                    push(&a, b, (&all << 2u8) + wanted - folded.clone() % &all);
                }
            }
        }
    }
    let side = |i: usize| triples.iter().map(|triple| triple[i].clone()).collect();
    [side(0), side(1), side(2)]
}

#[test]
fn public_numbers_of_special_fields_follow_carries_that_go_far() {
    let (_, limbs, p) = &primes()[0];
    let [mut a, mut b, mut c] = far_carries(p);
    let [more_a, more_b] = pairs(&numbers(p, &power_of_two(256)));
    c.extend(more_b.iter().rev().cloned());
    a.extend(more_a);
    b.extend(more_b);
    let operands = [&a, &b, &c].map(|numbers| (*limbs, numbers.clone()));
    let made = made("public_values", &operands, &[6 * limbs], Launch::default());
    for (i, found) in made[0].iter().enumerate() {
        let [a, b, c] = [&a, &b, &c].map(|numbers| &numbers[i] % p);
        let expected = [
            (&a + p - &b) % p,
            &a * &b % p,
            (&a * &b + &c) % p,
            (&a * &a + p + p - &b - &c) % p,
            &a * &a % p,
            a.clone(),
        ];
        for (k, expected) in expected.into_iter().enumerate() {
            let found = found >> (256 * k) & (power_of_two(256) - 1u8);
            let found = if k < 5 { found % p } else { found };
            assert_eq!(found, expected, "value {k} of {a:x}, {b:x} and {c:x}");
        }
    }
}

#[test]
fn lazy_fields_keep_the_bounds_that_types_say() {
    let modulus = power_of_two(250) - 207u8;
    for (kernel, limbs, p) in [
        ("lazy_values_8", 8, modulus),
        ("lazy_values_4", 4, primes()[3].2.clone()),
    ] {
        let [a, b] = pairs(&numbers(&p, &(&p * 32u8)));
        let operands = [(limbs, a.clone()), (limbs, b.clone())];
        let mut scalars: Vec<Limb> = Vec::new();
        if limbs == 8 {
            scalars.extend(p.iter_u32_digits().chain((&p << 1u8).iter_u32_digits()));
        }
        let launch = Launch {
            shared: 8 * limbs as u32,
            scalars,
            ..Launch::default()
        };
        let made = made(kernel, &operands, &[10 * limbs, limbs], launch);
        let bounds = [4, 4, 3, 14, 2, 2, 2, 8, 2, 2];
        check(&made[0], [&a, &b], |_| p.clone(), limbs, true, bounds);
        for (i, found) in made[1].iter().enumerate() {
            assert_eq!(*found, &a[i] * &b[i] % &p);
        }
    }
}

/// Primes of up to so many bits, odd numbers above 3, in turn.
fn own_primes(bits: usize) -> Vec<BigUint> {
    let below = |k: usize, c: u32| power_of_two(k) - c;
    let all = [
        below(3, 1),
        below(32, 5),
        below(61, 1),
        below(107, 1),
        below(127, 1),
        below(192, 237),
        below(255, 19),
        below(256, 189),
    ];
    all.into_iter()
        .filter(|p| p.bits() as usize <= bits)
        .collect()
}

#[test]
fn threads_compute_in_fields_of_their_own() {
    let primes = own_primes(192);
    let greatest = primes.last().unwrap();
    let [a, b] = pairs(&numbers(greatest, &power_of_two(192)));
    let c: Vec<_> = primes.iter().cycle().take(a.len()).cloned().collect();
    let operands = [(6, a.clone()), (6, b.clone()), (6, c.clone())];
    let made = made("own_values", &operands, &[60], Launch::default());
    check(&made[0], [&a, &b], |i| c[i].clone(), 6, true, [1; 10]);
}

#[test]
fn lanes_compute_in_fields_of_their_groups() {
    let primes = own_primes(256);
    let greatest = primes.last().unwrap();
    let [a, b] = pairs(&numbers(greatest, &power_of_two(256)));
    let c: Vec<_> = primes.iter().cycle().take(a.len()).cloned().collect();
    let operands = [(8, a.clone()), (8, b.clone()), (8, c.clone())];
    let launch = Launch {
        lanes: 4,
        ..Launch::default()
    };
    let made = made("values_by_lanes", &operands, &[80], launch);
    check(&made[0], [&a, &b], |i| c[i].clone(), 8, true, [1; 10]);
}

#[test]
fn a_warp_computes_modulo_numbers_of_8192_bits() {
    for bits in [8192, 8160, 4097] {
        let limbs = usize::div_ceil(bits, 32);
        for c in [power_of_two(bits) - 1u8, power_of_two(bits - 1) + 1u8] {
            let [a, b] = pairs(&numbers(&c, &power_of_two(32 * limbs))[..12]);
            let operands = [
                (limbs, a.clone()),
                (limbs, b.clone()),
                (limbs, vec![c.clone(); a.len()]),
            ];
            let launch = Launch {
                lanes: 32,
                ..Launch::default()
            };
            let made = made("long_values", &operands, &[limbs], launch);
            let half = (&c + 1u8) >> 1u8;
            for (i, found) in made[0].iter().enumerate() {
                let sum = &a[i] * &b[i] + &a[i] + &c - &b[i] % &c;
                assert_eq!(*found, &sum * &sum * &half % &c, "{i} of {bits} bits");
            }
        }
    }
}

#[test]
fn products_of_every_even_number_of_limbs_are_right_at_their_bounds() {
    for limbs in [2, 6, 10, 14, 18, 22, 26, 30] {
        let most = power_of_two(32 * limbs - 6) - 1u8;
        let least = power_of_two(32 * limbs - 7) + 1u8;
        for m in [most, least, BigUint::from(3u8)] {
            let [a, b] = pairs(&numbers(&m, &(&m * 8u8)));
            let operands = [
                (limbs, a.clone()),
                (limbs, b.clone()),
                (limbs, vec![m.clone(); a.len()]),
            ];
            let kernel = format!("products_{limbs}");
            let made = made(&kernel, &operands, &[limbs, limbs], Launch::default());
            let radix = power_of_two(32 * limbs);
            for (i, (product, square)) in made[0].iter().zip(&made[1]).enumerate() {
                assert!(*product < &m * 2u8 && *square < &m * 2u8);
                assert_eq!(
                    product * &radix % &m,
                    &a[i] * &b[i] % &m,
                    "{i} of {limbs} limbs"
                );
                assert_eq!(
                    square * &radix % &m,
                    &a[i] * &a[i] % &m,
                    "{i} of {limbs} limbs"
                );
            }
        }
    }
}
