//! Powers in residue number systems.

use crate::bench::{Bench, LARGE, Operand, committed};
use bigint_core::rns::{FORMS, Form, RNS_MODULE, RnsArguments, RnsPlan, Stages};
use bigint_core::{Layout, MatrixArgument, Shape};
use bigint_testing::{sweep, sweep_all};
use cuda_sim::{Checks, DeviceConfig, LoadedModule, ptx::Module};
use num_bigint::BigUint;

/// A simulated device with the kernels, and with those of warpgroups, each a module.
struct Powers(Bench, Vec<LoadedModule>);

/// What launches made, how often a modulus was refused, and the traces of the launches.
struct Made {
    powers: Vec<BigUint>,
    refused: u32,
    traces: Vec<u64>,
}

impl Powers {
    fn new() -> Self {
        Powers::on(Bench::large(RNS_MODULE))
    }

    fn on(bench: Bench) -> Self {
        let load = |form: Form| {
            let module = Module::parse(&committed(form.entry.module)).unwrap();
            bench.device.load(&module).unwrap()
        };
        let warpgroups = FORMS[1].map(load).into();
        Powers(bench, warpgroups)
    }

    /// Powers of so many numbers, with one modulus for all or one for each.
    fn run(&self, plan: RnsPlan, [a, e, m]: [&Operand; 3], layout: Layout, scans: bool) -> Made {
        let bench = &self.0;
        let (count, moduli) = (a.1.len(), m.1.len());
        let mut table = vec![0; plan.words()];
        plan.fill(&mut table);
        let shape = Shape::new(count, m.0, layout);
        let window = plan.window(e.0, scans);
        let scratch = plan.scratch(count, moduli, window);
        let arguments = RnsArguments {
            r: bench.room(shape),
            a: bench.matrix(a, layout),
            e: bench.matrix(e, layout),
            m: match moduli {
                1 => MatrixArgument {
                    number_stride: 0,
                    ..bench.matrix(m, layout)
                },
                _ => bench.matrix(m, layout),
            },
            table: bench.upload_limbs(&table),
            scratch: scratch.map(|limbs| bench.device.alloc(4 * limbs as u64).unwrap()),
            refused: bench.upload_limbs(&[0]),
            plan,
            count: count as u32,
            moduli: moduli as u32,
            windows: (32 * e.0).div_ceil(window as usize) as u64,
            window,
            scans: scans.into(),
        };
        let launches = arguments.launches().map(|(entry, launch)| {
            let grid = [launch.grid, launch.block, launch.shared_bytes];
            let own = FORMS[1].iter().position(|form| form.entry == entry);
            let module = own.map_or(bench.module(), |own| &self.1[own]);
            let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
            bench.launch_in(module, entry.name, grid, &bytes, plan)
        });
        let matrices = [arguments.a, arguments.e, arguments.m].map(|matrix| matrix.limbs);
        let powers = bench.numbers(arguments.r, shape);
        let refused = bench.read(arguments.refused, 1)[0];
        let others = [arguments.r.limbs, arguments.table, arguments.refused];
        for address in matrices.into_iter().chain(others).chain(arguments.scratch) {
            bench.device.free(address).unwrap();
        }
        Made {
            powers,
            refused,
            traces: launches.iter().map(|counts| counts.trace).collect(),
        }
    }

    fn check(&self, operands: [&Operand; 3], layout: Layout, scans: bool) {
        let [a, e, m] = operands;
        for plan in plans(m.0) {
            let made = self.run(plan, operands, layout, scans);
            assert_eq!(made.refused, 0);
            for (i, found) in made.powers.iter().enumerate() {
                let modulus = m.1.get(i).unwrap_or(&m.1[0]);
                let value = a.1[i].modpow(&e.1[i], modulus);
                assert_eq!(
                    *found, value,
                    "number {i} of {plan:?}: {:#x}^{:#x} mod {modulus:#x}",
                    a.1[i], e.1[i]
                );
            }
        }
    }

    /// So many moduli that the first base takes: all ones, the top bit and 1, with small factors, even, of one
    /// limb, or any.
    fn moduli(&mut self, count: usize, width: usize) -> Operand {
        let one = BigUint::from(1u8);
        let bits = 32 * width;
        let fits = (&one << bits) - 1u8;
        let any = (0..count).map(|i| match i % 7 {
            0 => fits.clone(),
            1 => (&one << (bits - 1)) + 1u8,
            2 => &fits / 945u32 * 945u32,
            3 => (self.0.number(width) >> 1u8 << 1u8) + 2u8,
            4 => self.0.number(1) + 1u8,
            5 => &one << (i % bits),
            _ => self.0.number(width) | &one,
        });
        (
            width,
            any.map(|n| n % (&one << bits) + u8::from(bits == 0))
                .collect(),
        )
    }

    /// So many numbers, of which many are 0, 1, all ones and next to a modulus.
    fn bases(&mut self, count: usize, m: &Operand) -> Operand {
        let one = BigUint::from(1u8);
        let numbers = (0..count).map(|i| {
            let modulus = m.1.get(i).unwrap_or(&m.1[0]);
            match i % 5 {
                0 => (&one << (32 * m.0)) - 1u8,
                1 => modulus - 1u8,
                2 => modulus.clone(),
                _ => self.0.number(m.0),
            }
        });
        (m.0, numbers.collect())
    }
}

/// The plans for moduli of so many limbs: by warps and by warpgroups.
fn plans(width: usize) -> [RnsPlan; 2] {
    let plan = RnsPlan::of(width).unwrap();
    [false, true].map(|has_warpgroups| plan.by_warpgroups(has_warpgroups))
}

/// The moduli without zeros, which are refused.
fn without_zeros((width, mut moduli): Operand) -> Operand {
    let zeros = moduli.iter_mut().filter(|m| **m == BigUint::ZERO);
    zeros.for_each(|zero| *zero = BigUint::from(9u8));
    (width, moduli)
}

#[test]
fn powers_of_few_limbs_are_those_of_num_bigint() {
    let mut powers = Powers::new();
    for (width, exponent, count, layout, one) in [
        (1, 1, 1, Layout::Contiguous, true),
        (1, 2, 5, Layout::Interleaved, false),
        (7, 1, 17, Layout::Contiguous, true),
        (11, 1, 33, Layout::Interleaved, false),
        (32, 1, sweep(18, 257), Layout::Contiguous, false),
    ] {
        let m = without_zeros(powers.moduli(if one { 1 } else { count }, width));
        let a = powers.bases(count, &m);
        let e = powers.0.batch(count, exponent);
        powers.check([&a, &e, &m], layout, one);
    }
}

#[test]
fn powers_from_1024_to_4096_bits_are_those_of_num_bigint() {
    let mut powers = Powers::new();
    for width in [32, 48, 64, 96, 128] {
        let rounds = sweep_all(1, 2, 8);
        for round in 0..rounds {
            let count = if rounds < 8 { 21 } else { 128 };
            let moduli = if round % 4 == 1 { 1 } else { count };
            let m = without_zeros(powers.moduli(moduli, width));
            let a = powers.bases(count, &m);
            // The last of all are of full length.
            let exponent = if round == 7 { width } else { 1 };
            let count = if exponent > 1 { 16 } else { count };
            let part = |x: &Operand| (x.0, x.1[..count.min(x.1.len())].to_vec());
            let e = powers.0.batch(count, exponent);
            let scans = round % 2 == 0;
            powers.check([&part(&a), &e, &part(&m)], Layout::Contiguous, scans);
        }
    }
}

#[test]
fn moduli_that_are_zero_or_multiples_of_a_prime_of_the_first_base_are_refused() {
    let powers = Powers::new();
    let plan = RnsPlan::of(4).unwrap();
    let [first, second] = plan.bases();
    let three = |m: BigUint| (4, vec![BigUint::from(9u8), m, BigUint::from(15u8)]);
    let (a, e) = (
        (4, vec![BigUint::from(2u8); 3]),
        (1, vec![BigUint::from(5u8); 3]),
    );
    let last = plan.channels() as usize - 1;
    let refused = |m: BigUint| {
        powers
            .run(plan, [&a, &e, &three(m)], Layout::Contiguous, true)
            .refused
    };
    assert!(refused(BigUint::ZERO) > 0);
    for p in [first[0], first[last]] {
        assert_eq!(refused(BigUint::from(p) * 77u8), 1);
    }
    for p in [second[0], second[last]] {
        powers.check(
            [&a, &e, &three(BigUint::from(p) * 77u8)],
            Layout::Contiguous,
            false,
        );
    }
}

#[test]
fn sums_of_bytes_times_digits_fit_32_bits_in_every_column() {
    for [plan, of_warpgroups] in FORMS[0].map(|form| {
        let mut widths = (1..200)
            .filter(|width| RnsPlan::of(*width).is_some_and(|plan| plan.pairs == form.pairs));
        plans(widths.next().unwrap())
    }) {
        let words = |plan: RnsPlan| {
            let mut table = vec![0; plan.words()];
            plan.fill(&mut table);
            table[plan.matrices_at() as usize..plan.weights_at() as usize].to_vec()
        };
        let pairs = plan.pairs as usize;
        let all = words(plan);
        // A column of units of a pair: what a lane's word of a step says of one digit.
        let mut sums = vec![[0_i64; 2]; 2 * pairs * 16];
        for (at, word) in all.iter().enumerate() {
            let (unit, k) = (at / 4, at % 4);
            let (lane, group) = (unit % 32, unit / 32 % 2);
            let pair = unit / 64 / pairs;
            let (prime, digit) = (lane / 4 / 2, lane / 4 % 2);
            let column = ((pair * 2 + group) * 4 + prime) * 2 + k / 2;
            for byte in word.to_le_bytes() {
                let byte = (i64::from(byte as i8) * 255) << (8 * digit);
                sums[column][usize::from(byte < 0)] += byte;
            }
        }
        let most = sums.iter().flatten().map(|sum| sum.abs()).max();
        assert!(
            most.is_some_and(|most| most < 1 << 31),
            "{plan:?}: {most:?}"
        );
        // Those of warpgroups are the same in another order, chunk by chunk.
        let stages = Stages::of(of_warpgroups.form());
        let mut others = words(of_warpgroups);
        let mut all = all;
        for chunk in 0..2 * stages.chunks() {
            let (matrix, chunk) = (chunk / stages.chunks(), chunk % stages.chunks());
            let at =
                |chunk: u32| 256 * pairs * (matrix * plan.pairs + stages.first(chunk)) as usize;
            let words = at(chunk)..at(chunk + 1);
            all[words.clone()].sort_unstable();
            others[words].sort_unstable();
        }
        assert!(all == others, "{of_warpgroups:?}");
    }
}

#[test]
fn powers_execute_the_same_for_all_bases_exponents_and_moduli_of_full_length() {
    let config = DeviceConfig {
        arch: LARGE,
        trace: true,
        checks: Checks::NONE,
        ..DeviceConfig::default()
    };
    let width = sweep(9, 40);
    let traces = [0, 1, 2, 3].map(|round| {
        let mut powers = Powers::on(Bench::of(committed(RNS_MODULE), config));
        let one = BigUint::from(1u8);
        let (count, top) = (18, &one << (32 * width - 1));
        (0..round).for_each(|_| {
            powers.0.next();
        });
        let mut any = |width: usize| match round {
            0 => BigUint::ZERO,
            1 => (&one << (32 * width)) - 1u8,
            _ => powers.0.number(width),
        };
        let a = (width, (0..count).map(|_| any(width)).collect());
        let e = (1, (0..count).map(|_| any(1)).collect());
        let m = (
            width,
            (0..count).map(|_| any(width) | &top | &one).collect(),
        );
        plans(width).map(|plan| {
            let made = powers.run(plan, [&a, &e, &m], Layout::Contiguous, true);
            made.traces
        })
    });
    let [first, others @ ..] = &traces;
    assert!(first.iter().flatten().all(|trace| *trace != 0));
    assert!(others.iter().all(|traces| traces == first), "{traces:x?}");
}
