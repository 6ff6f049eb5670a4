//! Powers in residue number systems.

use crate::bench::{Bench, LARGE, Operand, committed};
use crate::modular::powers::table;
use bigint_core::kernel::{EntryPoint, TABLE_WINDOW};
use bigint_core::rns::{MOST_JOINED, RNS_MODULE, RnsArguments, RnsPlan, Stages, TABLE, WARPGROUPS};
use bigint_core::{Launch, Layout, MatrixArgument, Shape};
use bigint_testing::{sweep, sweep_all};
use cuda_sim::{Checks, DeviceConfig};
use num_bigint::BigUint;

/// A simulated device with the kernels, and of how many bits exponents are at most.
pub struct Powers(pub Bench, usize);

/// Bits of exponents of wide moduli, as a block's products of those take long: two windows.
const SHORT: usize = 4;

/// The same where entries of four windows of four bits are chosen at once: five windows.
const LONGER: usize = 18;

/// What launches made, a mark for each modulus that was refused, and the traces of the launches.
struct Made {
    powers: Vec<BigUint>,
    refused: Vec<u32>,
    traces: Vec<u64>,
}

impl Powers {
    pub fn new() -> Self {
        Powers::new_of(Bench::large(RNS_MODULE))
    }

    pub fn new_of(bench: Bench) -> Self {
        Powers(bench, usize::MAX)
    }

    /// Powers of so many numbers, or products of two powers, with one modulus for all or one for each.
    fn run(
        &self,
        (plan, bases): (RnsPlan, u32),
        [a, e, m]: [&Operand; 3],
        layout: Layout,
        scans: bool,
    ) -> Made {
        let bench = &self.0;
        let (count, moduli) = (a.1.len(), m.1.len());
        let mut table = vec![0; plan.words()];
        plan.fill(&mut table);
        let shape = Shape::new(count, m.0, layout);
        let exponent = e.0.div_ceil(bases as usize);
        let window = plan.window(exponent, scans, bases);
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
            refused: bench.upload_limbs(&vec![0; moduli]),
            base: 0,
            plan,
            count: count as u32,
            moduli: moduli as u32,
            windows: (32 * exponent).min(self.1).div_ceil(window.bits as usize) as u64,
            window,
        };
        let traces = self.launch(&arguments, &arguments.launches());
        self.made(&arguments, shape, traces)
    }

    /// Launches, and their traces.
    pub fn launch(&self, arguments: &RnsArguments, launches: &[(EntryPoint, Launch)]) -> Vec<u64> {
        let traces = launches.iter().map(|&(entry, launch)| {
            let grid = [launch.grid, launch.block, launch.shared_bytes];
            // Of warpgroups each is a module.
            let own = (entry.module != RNS_MODULE).then(|| self.0.load(entry.module));
            let module = own.as_ref().unwrap_or(self.0.module());
            let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
            let counts = self
                .0
                .launch_in(module, entry.name, grid, &bytes, arguments.plan);
            counts.trace
        });
        traces.collect()
    }

    /// What was made, of memory that is given back.
    fn made(&self, arguments: &RnsArguments, shape: Shape, traces: Vec<u64>) -> Made {
        let RnsArguments {
            r,
            a,
            e,
            m,
            table,
            refused,
            base,
            ..
        } = *arguments;
        let bench = &self.0;
        let made = Made {
            powers: bench.numbers(r, shape),
            refused: bench.read(refused, arguments.moduli as usize),
            traces,
        };
        let matrices = [r, a, e, m].map(|matrix| matrix.limbs);
        let others = [table, refused, base].into_iter().filter(|at| *at != 0);
        for address in matrices.into_iter().chain(others).chain(arguments.scratch) {
            bench.device.free(address).unwrap();
        }
        made
    }

    /// Powers of one base `g`, with a table for exponents of so many limbs, modulo one number.
    fn run_of_base(
        &self,
        plan: RnsPlan,
        (g, long): (&BigUint, usize),
        [e, m]: [&Operand; 2],
        layout: Layout,
        scans: bool,
    ) -> Made {
        let bench = &self.0;
        let (count, modulus) = (e.1.len(), &m.1[0]);
        let t = table(g, modulus, m.0, long);
        let mut primes = vec![0; plan.words()];
        plan.fill(&mut primes);
        let window = plan.window(e.0, scans, TABLE);
        let windows = (32 * long).div_ceil(TABLE_WINDOW) * TABLE_WINDOW / window.bits as usize;
        let channels = plan.channels() as usize;
        let radix = plan.bases()[0][..channels].iter().product::<BigUint>();
        let inverse = (BigUint::from(1u8) << (32 * m.0)).modinv(modulus).unwrap();
        let first = (&radix * inverse).modpow(&windows.into(), modulus) * &radix * &radix % modulus;
        let mut first = first.to_u32_digits();
        let shape = Shape::new(count, m.0, layout);
        let [one, scratch] = [1, count].map(|count| plan.scratch(count, 1, window));
        first.resize(one[4], 0);
        let room = |limbs: usize| bench.device.alloc(4 * limbs as u64).unwrap();
        let [units, own, radix, tables, rest] = one.map(room);
        bench.device.free(rest).unwrap();
        let mut arguments = RnsArguments {
            r: bench.room(shape),
            a: bench.matrix(&t, layout),
            e: bench.matrix(e, layout),
            m: MatrixArgument {
                number_stride: 0,
                ..bench.matrix(m, layout)
            },
            table: bench.upload_limbs(&primes),
            scratch: [units, own, radix, tables, bench.upload_limbs(&first)],
            refused: bench.upload_limbs(&[0]),
            base: 0,
            plan,
            count: 1,
            moduli: 1,
            windows: windows as u64,
            window,
        };
        arguments.base = room(arguments.base_words() as usize);
        let mut traces = self.launch(&arguments, &arguments.launches_of_base());
        for i in [0, 3, 4] {
            bench.device.free(arguments.scratch[i]).unwrap();
            arguments.scratch[i] = room(scratch[i]);
        }
        arguments.count = count as u32;
        traces.extend(self.launch(&arguments, &arguments.launches()[2..]));
        self.made(&arguments, shape, traces)
    }

    fn check(&self, operands: [&Operand; 3], layout: Layout, scans: bool) {
        self.check_of(1, operands, layout, scans);
    }

    fn check_of(&self, bases: u32, operands: [&Operand; 3], layout: Layout, scans: bool) {
        let [a, e, m] = operands;
        for plan in plans(m.0) {
            let made = self.run((plan, bases), operands, layout, scans);
            assert_eq!(made.refused.iter().sum::<u32>(), 0);
            for (i, found) in made.powers.iter().enumerate() {
                let modulus = m.1.get(i).unwrap_or(&m.1[0]);
                let part = |x: &Operand, which| part(&x.1[i], x.0, [which, bases]);
                let powers =
                    (0..bases).map(|which| part(a, which).modpow(&part(e, which), modulus));
                let value = powers.product::<BigUint>() % modulus;
                assert_eq!(
                    *found, value,
                    "number {i} of {plan:?}, {bases} bases: {:#x}^{:#x} mod {modulus:#x}",
                    a.1[i], e.1[i]
                );
            }
        }
    }

    /// So many moduli that the first base takes: all ones, the top bit and 1, with small factors, even, of one
    /// limb, or any.
    pub fn moduli(&mut self, count: usize, width: usize) -> Operand {
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

    /// So many exponents.
    fn exponents(&mut self, count: usize, width: usize) -> Operand {
        let (width, exponents) = self.0.batch(count, width);
        let bits = self.1.min(32 * width);
        let short = |e: BigUint| e % (BigUint::from(1u8) << bits);
        (width, exponents.into_iter().map(short).collect())
    }

    /// So many numbers, of which many are 0, 1, all ones and next to a modulus.
    pub fn bases(&mut self, count: usize, m: &Operand) -> Operand {
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

/// One of the halves of a number of some limbs, or the whole.
fn part(x: &BigUint, width: usize, [which, of]: [u32; 2]) -> BigUint {
    let bits = 32 * width.div_ceil(of as usize);
    match which {
        0 => x % (BigUint::from(1u8) << bits),
        _ => x >> bits,
    }
}

/// The plans for moduli of so many limbs: by warps, and by warpgroups.
fn plans(width: usize) -> Vec<RnsPlan> {
    let plan = RnsPlan::of(width).unwrap();
    [false, true].map(|has| plan.by_warpgroups(has)).into()
}

/// The moduli without zeros, which are refused.
pub fn without_zeros((width, mut moduli): Operand) -> Operand {
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

/// Powers modulo numbers of so many limbs. Exponents have a limb, or `bits` where `BIGINT_SWEEPS` is not `all`.
fn powers_of_width(width: usize, bits: usize) {
    let mut powers = Powers::new();
    let rounds = sweep_all(1, if width > 64 { 1 } else { 2 }, 8);
    for round in 0..rounds {
        powers.1 = if rounds < 8 { bits } else { usize::MAX };
        let count = if rounds < 8 { 21 } else { 128 };
        let moduli = if round % 4 == 1 { 1 } else { count };
        let m = without_zeros(powers.moduli(moduli, width));
        let a = powers.bases(count, &m);
        // The last of all are of full length.
        let exponent = if round == 7 { width } else { 1 };
        let count = if exponent > 1 { 16 } else { count };
        let part = |x: &Operand| (x.0, x.1[..count.min(x.1.len())].to_vec());
        let e = powers.exponents(count, exponent);
        let scans = (round % 2 == 0) != [48, 192].contains(&width);
        powers.check([&part(&a), &e, &part(&m)], Layout::Contiguous, scans);
    }
}

/// A test for each width, so that all cores have one.
macro_rules! powers_of_widths {
    ($($name:ident: $width:literal, $bits:expr;)*) => {$(
        #[test]
        fn $name() {
            powers_of_width($width, $bits);
        }
    )*};
}

powers_of_widths! {
    powers_of_8192_bits_are_those_of_num_bigint: 256, SHORT;
    powers_of_6144_bits_are_those_of_num_bigint: 192, SHORT;
    powers_of_4096_bits_are_those_of_num_bigint: 128, SHORT;
    powers_of_3072_bits_are_those_of_num_bigint: 96, LONGER;
    powers_of_2048_bits_are_those_of_num_bigint: 64, usize::MAX;
    powers_of_1536_bits_are_those_of_num_bigint: 48, usize::MAX;
    powers_of_1024_bits_are_those_of_num_bigint: 32, usize::MAX;
}

/// Lower halves are a limb longer where widths are odd; bases and exponents are of any lengths.
#[test]
fn products_of_two_powers_are_those_of_num_bigint() {
    let mut powers = Powers::new();
    let cases = [
        (1_usize, [2_usize, 2_usize], 1, Layout::Contiguous, true),
        (1, [1, 3], 5, Layout::Interleaved, false),
        (7, [13, 2], 17, Layout::Contiguous, false),
        (11, [22, 3], 33, Layout::Interleaved, true),
        (9, [17, 1], 18, Layout::Contiguous, true),
        // Windows of three bits.
        (32, [64, 20], 19, Layout::Contiguous, false),
        (65, [130, 2], 17, Layout::Contiguous, false),
        (128, [256, 2], 17, Layout::Interleaved, true),
        (193, [385, 2], 17, Layout::Contiguous, true),
    ];
    // The widest of all in sweeps.
    let most = sweep(cases.len() - 1, cases.len());
    for (width, [base, exponent], count, layout, scans) in cases.into_iter().take(most) {
        powers.1 = match width {
            0..32 => usize::MAX,
            32 => 40,
            _ => SHORT,
        };
        let moduli = if count == 17 { 1 } else { count };
        let m = without_zeros(powers.moduli(moduli, width));
        let halves = powers.bases(count, &m);
        let ones: BigUint = (BigUint::from(1u8) << (32 * base)) - 1u8;
        let both = |(i, half): (usize, &BigUint)| match i % 4 {
            0 => ones.clone(),
            1 => half << (32 * width),
            2 => powers.0.number(base),
            _ => half | half << (32 * width),
        };
        let numbers = halves.1.iter().enumerate().map(both);
        let a = (base, numbers.map(|a| a % (&ones + 1u8)).collect());
        let half = exponent.div_ceil(2);
        let of_short = |x: BigUint| {
            let [low, high] = [0, 1].map(|which| part(&x, exponent, [which, 2]));
            let short = |e: BigUint| e % (BigUint::from(1u8) << powers.1.min(32 * half));
            short(low) | short(high) << (32 * half)
        };
        let (_, exponents) = powers.0.batch(count, exponent);
        let e = (exponent, exponents.into_iter().map(of_short).collect());
        powers.check_of(2, [&a, &e, &m], layout, scans);
    }
}

/// Exponents of as many limbs as the table is for, or fewer; entries stand at any strides.
#[test]
fn powers_of_a_base_with_a_table_are_those_of_num_bigint() {
    let mut powers = Powers::new();
    let cases = [
        (1, [1, 1], 1, Layout::Contiguous, true),
        (11, [1, 1], 33, Layout::Interleaved, false),
        (7, [2, 1], 18, Layout::Contiguous, true),
        (1, [3, 2], 5, Layout::Interleaved, false),
        (
            32,
            [1, 1],
            sweep_all(17, 17, 257),
            Layout::Contiguous,
            false,
        ),
        (32, [4, 4], 18, Layout::Contiguous, true),
        (65, [1, 1], 17, Layout::Contiguous, true),
        (128, [1, 1], 17, Layout::Interleaved, false),
        (193, [1, 1], 17, Layout::Contiguous, true),
    ];
    let few = sweep_all(5, 5, cases.len());
    for (i, (width, [long, exponent], count, layout, scans)) in
        cases.into_iter().take(few).enumerate()
    {
        let one = BigUint::from(1u8);
        let bits = 32 * width;
        let moduli = [
            (&one << bits) - 1u8,
            BigUint::from(9u8),
            (&one << (bits - 1)) + 1u8,
            one.clone(),
            powers.0.number(width) | &one,
        ];
        let which = sweep_all(i % 5..i % 5 + 1, i % 5..i % 5 + 1, 0..5);
        for modulus in moduli[which].iter().cloned() {
            let g = match count % 2 {
                0 => &modulus - 1u8,
                _ => powers.0.number(width) % &modulus,
            };
            let e = powers.0.batch(count, exponent);
            let m = (width, vec![modulus]);
            for plan in plans(width) {
                let made = powers.run_of_base(plan, (&g, long), [&e, &m], layout, scans);
                assert_eq!(made.refused.iter().sum::<u32>(), 0);
                for (e, found) in e.1.iter().zip(made.powers) {
                    let expected = match e.bits() {
                        0 => &one % &m.1[0],
                        _ => g.modpow(e, &m.1[0]),
                    };
                    assert_eq!(found, expected, "{plan:?}, {g:#x}^{e:#x} mod {:#x}", m.1[0]);
                }
            }
        }
    }
}

/// Others of their batch have their powers. Where bases have changed places, it is the second's primes that are refused.
#[test]
fn moduli_that_are_zero_or_multiples_of_a_prime_of_the_first_base_are_marked_and_harm_no_other() {
    let mut powers = Powers::new();
    // Exponents are below 32.
    powers.1 = 5;
    let plans = plans(4).into_iter();
    for plan in plans.flat_map(|plan| [plan, plan.spare().unwrap()]) {
        let last = plan.channels() as usize - 1;
        let [[p, q], [u, v]] = plan
            .bases()
            .map(|base| [base[0], base[last]].map(BigUint::from));
        let mut moduli = vec![BigUint::from(9u8); 19];
        moduli[1] = &u * &v;
        moduli[15] = &v * 77u8;
        let marked = [0, 3, 16, 17, 18];
        let of = [&p * &q * 6u8, BigUint::ZERO, q.clone(), q * u, p * 77u8];
        for (at, m) in marked.into_iter().zip(of) {
            moduli[at] = m;
        }
        let a: Vec<BigUint> = (0..19u32).map(|i| BigUint::from(u32::MAX - i)).collect();
        let e: Vec<BigUint> = (0..19u32).map(|i| BigUint::from(5 + i)).collect();
        let operands = [&(4, a.clone()), &(1, e.clone()), &(4, moduli.clone())];
        for scans in [false, true] {
            let made = powers.run((plan, 1), operands, Layout::Contiguous, scans);
            for i in 0..19 {
                let is_marked = marked.contains(&i);
                assert_eq!(made.refused[i], u32::from(is_marked), "{plan:?}, {i}");
                if !is_marked {
                    let power = a[i].modpow(&e[i], &moduli[i]);
                    assert_eq!(made.powers[i], power, "{plan:?}, {i}");
                }
            }
        }
    }
}

#[test]
fn windows_of_long_exponents_that_are_known_have_six_bits_by_warpgroups() {
    let bits = |by_warpgroups, limbs, scans| {
        let plan = RnsPlan::of(limbs).unwrap().by_warpgroups(by_warpgroups);
        plan.window(limbs, scans, 1).bits
    };
    for limbs in [48, 64, 96, 128] {
        assert_eq!([false, true].map(|by| bits(by, limbs, false)), [5, 6]);
        let whole = if limbs == 96 { 4 } else { 3 };
        assert_eq!([false, true].map(|by| bits(by, limbs, true)), [3, whole]);
    }
    assert_eq!(
        [32, 47, 192, 256].map(|limbs| bits(true, limbs, false)),
        [5, 5, 6, 6]
    );
}

#[test]
fn sums_of_bytes_times_digits_fit_32_bits_in_every_column() {
    let plans = WARPGROUPS.into_iter().flat_map(|form| {
        let mut plans = (1..300).filter_map(RnsPlan::of);
        let plan = plans.find(|plan| plan.pairs == form.pairs);
        [plan, plan.and_then(RnsPlan::spare)].map(|plan| (form, plan))
    });
    for (form, plan) in plans {
        let words = |plan: RnsPlan| {
            let mut table = vec![0; plan.words()];
            plan.fill(&mut table);
            table[plan.matrices_at() as usize..plan.weights_at() as usize].to_vec()
        };
        let (stages, pairs) = (Stages::of(form), form.pairs as usize);
        let plan = plan.unwrap();
        let [mut others, all] = [false, true].map(|has| words(plan.by_warpgroups(has)));
        for chunk in 0..2 * stages.chunks() {
            let (matrix, chunk) = (chunk / stages.chunks(), chunk % stages.chunks());
            let at =
                |chunk: u32| 256 * pairs * (matrix * form.pairs + stages.first(chunk)) as usize;
            let range = at(chunk)..at(chunk + 1);
            // Of each digit of a prime, the sums that it adds up to at least and at most.
            let columns = 64 * stages.pairs_of(chunk) as usize;
            let mut sums = vec![[[0_i64; 2]; 4]; columns / 8];
            for (at, word) in all[range.clone()].iter().enumerate() {
                let (eight, prime, digit) = (at / 64 % (columns / 16), at % 32 / 8, at % 8 / 4);
                let sum = &mut sums[4 * (eight / 2) + prime][eight % 2 * 2 + digit];
                // The last place has bytes 255 on top.
                let is_last = at / (4 * columns) == pairs - 1 && at % 64 / 32 == 1 && at % 4 == 3;
                for (i, byte) in word.to_le_bytes().into_iter().enumerate() {
                    let product = i64::from(byte as i8) * 255;
                    let is_always = is_last && i > 1;
                    sum[0] += if is_always { product } else { product.min(0) };
                    sum[1] += if is_always { product } else { product.max(0) };
                }
            }
            let base = &plan.bases()[1 - matrix as usize];
            for (prime, digits) in sums.iter().enumerate() {
                let channel = 8 * stages.first(chunk) as usize + prime;
                let all = |side: usize| -> i64 {
                    let digits = digits.iter().enumerate();
                    digits.map(|(i, digit)| digit[side] << (8 * i)).sum()
                };
                for [low, high] in digits {
                    assert!(-1 << 31 <= *low && *high < 1 << 31);
                }
                let low = [0, 1].map(|side| digits[0][side] + (digits[1][side] << 8));
                let fits = -1 << 31 <= low[0] && low[1] < 1 << 31;
                assert!(fits || pairs > MOST_JOINED, "{form:?}, {channel}: {low:?}");
                // The residue is below `3 F / 4`.
                let [least, most] = [0, 1].map(all);
                let p = base.get(channel).copied().unwrap_or_default();
                let residue = (1 << 30) + (most >> 30) * ((1 << 30) - i64::from(p));
                let is_prime = channel < 8 * pairs - 1;
                assert!(0 <= least && most < 1 << 48, "{form:?}, {channel}: {least}");
                assert!(
                    !is_prime || residue < 3 << 30,
                    "{form:?}, {channel}: {residue}"
                );
            }
            // Those of warps are the same in another order.
            let mut own = all[range.clone()].to_vec();
            own.sort_unstable();
            others[range.clone()].sort_unstable();
            assert!(own == others[range], "{form:?}, chunk {chunk}");
        }
    }
}

/// Whether all numbers are zero, or ones, or any, launches of powers execute the same.
fn powers_of_width_execute_the_same(width: usize) {
    let config = DeviceConfig {
        arch: LARGE,
        trace: true,
        checks: Checks::NONE,
        ..DeviceConfig::default()
    };
    // All are zero, or ones, or any.
    let rounds = if width > 40 { 2 } else { sweep(3, 4) };
    let traces = (0..rounds).map(|round| {
        // Two windows of a power, or one.
        let bits = if width > 40 { 3 } else { 6 };
        let mut powers = Powers(Bench::of(committed(RNS_MODULE), config), bits);
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
        let twice = |x: &Operand| {
            let both = x.1.iter().map(|x_of| x_of | x_of << (32 * x.0));
            (2 * x.0, both.collect())
        };
        let pair: [Operand; 2] = [&a, &e].map(twice);
        let run = |powers: &Powers, bases, [a, e]: [&Operand; 2]| {
            let made = |plan| powers.run((plan, bases), [a, e, &m], Layout::Contiguous, true);
            let plans = plans(width).into_iter();
            plans.map(|plan| made(plan).traces).collect::<Vec<_>>()
        };
        let of_one = run(&powers, 1, [&a, &e]);
        // Of the widest a power alone.
        if width > 129 {
            return of_one;
        }
        let modulus = (width, vec![m.1[0].clone()]);
        let of_base = plans(width).into_iter().map(|plan| {
            let base = (&BigUint::from(3u8), 1);
            let made = powers.run_of_base(plan, base, [&e, &modulus], Layout::Contiguous, true);
            made.traces
        });
        let of_base = of_base.collect();
        [of_one, run(&powers, 2, pair.each_ref()), of_base].concat()
    });
    let traces: Vec<_> = traces.collect();
    let (first, others) = traces.split_first().unwrap();
    assert!(first.iter().flatten().all(|trace| *trace != 0));
    assert!(others.iter().all(|traces| traces == first), "{traces:x?}");
}

macro_rules! powers_execute_the_same {
    ($($name:ident: $widths:expr;)*) => {$(
        #[test]
        fn $name() {
            let widths: &[usize] = $widths;
            widths.iter().copied().for_each(powers_of_width_execute_the_same);
        }
    )*};
}

// Matrices stand in shared memory, pass through it, or do so beside the units of a base; of the widest moduli in
// chunks of one pair.
powers_execute_the_same! {
    powers_execute_the_same_for_all_numbers_of_few_limbs: sweep_all(&[9], &[40], &[9, 40]);
    powers_execute_the_same_for_all_numbers_of_2080_bits: sweep_all(&[65], &[65], &[64, 65]);
    powers_execute_the_same_for_all_numbers_of_4128_bits: sweep_all(&[], &[129], &[128, 129]);
    powers_execute_the_same_for_all_numbers_of_6432_bits: sweep(&[], &[201]);
}
