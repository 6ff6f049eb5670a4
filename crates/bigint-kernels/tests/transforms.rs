//! Products by transforms, as they stand in the committed PTX, on the simulated GPU with all
//! of its checks on: the operands that are worst for rounding, beside num-bigint.

use bigint_core::transform::{LANES, Plan, ROOTS, fill_roots};
use bigint_core::{
    Algorithm, Arguments, Kernel, Layout, Level, Limb, MatrixArgument, Operation, Shape,
};
use cuda_sim::{Arch, Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use num_bigint::BigUint;

const MUL: &str = include_str!("../../bigint-host/ptx/mul.ptx");

/// A simulated device with the kernels and their table of roots.
struct Bench {
    device: Device,
    module: LoadedModule,
    roots: u64,
    state: u64,
}

impl Bench {
    fn new() -> Self {
        let device = Device::new(DeviceConfig {
            arch: Arch::SM_90,
            ..DeviceConfig::default()
        });
        let module = device.load(&Module::parse(MUL).unwrap()).unwrap();
        let mut table = vec![[0.0; 2]; ROOTS];
        fill_roots(&mut table);
        let bytes = table.iter().flatten().flat_map(|x: &f64| x.to_le_bytes());
        let bytes: Vec<u8> = bytes.collect();
        let roots = device.alloc(bytes.len() as u64).unwrap();
        device.write(roots, &bytes).unwrap();
        Bench {
            device,
            module,
            roots,
            state: 1,
        }
    }

    fn next(&mut self) -> Limb {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as Limb
    }

    fn upload(&self, limbs: &[Limb]) -> u64 {
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let address = self.device.alloc(bytes.len() as u64).unwrap();
        self.device.write(address, &bytes).unwrap();
        address
    }

    /// Compares the products of these pairs, whose widths are `n` and `m`, cut to `width`.
    fn check(&mut self, lanes: u32, pairs: &[[Vec<Limb>; 2]], width: usize) {
        self.check_as(Operation::Mul, lanes, pairs, width);
    }

    /// The same, of pairs of the same number for squares.
    fn check_as(
        &mut self,
        operation: Operation,
        lanes: u32,
        pairs: &[[Vec<Limb>; 2]],
        width: usize,
    ) {
        let [n, m] = [0, 1].map(|operand| pairs[0][operand].len());
        let (algorithm, layout) = (Algorithm::Fft, Layout::Contiguous);
        let kernel = Kernel::find(operation, algorithm, Level::Block, lanes, layout).unwrap();
        let [a, b] = [0, 1].map(|operand| {
            let limbs: Vec<Limb> = pairs
                .iter()
                .flat_map(|pair| pair[operand].clone())
                .collect();
            self.upload(&limbs)
        });
        let shape = |width| Shape::new(pairs.len(), width, layout);
        let matrix = |address, width| MatrixArgument::new(address, width, shape(width).strides());
        let r = self.device.alloc(4 * shape(width).limbs() as u64).unwrap();
        let operands = operation.declaration().operands.len();
        let launch = kernel.launch(pairs.len(), &[n, m], width);
        let arguments = Arguments {
            roots: self.roots,
            count: pairs.len() as u64,
            workers: launch.workers as u64,
            ..kernel.arguments(
                &[matrix(r, width)],
                &[matrix(a, n), matrix(b, m)][..operands],
            )
        };
        let grid = Grid {
            grid: [launch.grid, 1, 1],
            block: [launch.block, 1, 1],
            shared_bytes: launch.shared_bytes,
        };
        let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
        self.device
            .launch(&self.module, kernel.name, grid, &bytes)
            .unwrap_or_else(|fault| panic!("{} {n} {m} {width}: {fault}", kernel.name));
        let mut bytes = vec![0; 4 * shape(width).limbs()];
        self.device.read(r, &mut bytes).unwrap();
        let limbs: Vec<Limb> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|four| Limb::from_le_bytes(*four))
            .collect();
        let modulus = BigUint::from(1u8) << (32 * width);
        for (i, [a, b]) in pairs.iter().enumerate() {
            let found = BigUint::new(limbs[i * width..][..width].to_vec());
            let value = BigUint::new(a.clone()) * BigUint::new(b.clone()) % &modulus;
            assert!(
                found == value,
                "{} {n} {m} {width}: number {i}",
                kernel.name
            );
        }
        for address in [a, b, r] {
            self.device.free(address).unwrap();
        }
    }
}

/// Operands of `n` limbs whose digits are the greatest there are, in either sense, in several
/// orders; and any.
fn worst(bench: &mut Bench, n: usize) -> Vec<Vec<Limb>> {
    let mut of = |limb: &dyn Fn(usize, Limb) -> Limb| {
        (0..n).map(|i| limb(i, bench.next())).collect::<Vec<_>>()
    };
    let (low, high) = (0x8000_8000, 0x7fff_7fff);
    vec![
        of(&|_, _| Limb::MAX),
        of(&|_, _| low),
        of(&|_, _| high),
        of(&|i, _| if i % 2 == 0 { low } else { high }),
        of(&|_, any| if any & 1 == 0 { low } else { high }),
        of(&|_, any| 0x8000_7fff_u32.rotate_left(16 * (any & 1))),
        of(&|i, _| if i < n / 2 { Limb::MAX } else { 0 }),
        of(&|i, _| if i == n - 1 { 1 << 31 } else { 0 }),
        of(&|_, _| 0xffff_8000),
        of(&|_, any| any << 16 ^ any),
    ]
}

#[test]
fn products_of_the_worst_digits_are_right_at_every_length() {
    let mut bench = Bench::new();
    for lanes in LANES {
        let n = Plan::of(lanes).limbs() as usize;
        let worst = worst(&mut bench, n);
        let mut pairs: Vec<_> = worst.iter().map(|a| [a.clone(), a.clone()]).collect();
        let turned = worst.iter().zip(worst.iter().skip(1));
        pairs.extend(turned.map(|(a, b)| [a.clone(), b.clone()]));
        bench.check(lanes, &pairs, 2 * n);
        pairs.truncate(worst.len());
        bench.check_as(Operation::Square, lanes, &pairs, 2 * n);
    }
}

/// One piece, which is transformed once, and several, whose products are no squares.
#[test]
fn squares_of_pieces_are_right() {
    let mut bench = Bench::new();
    for lanes in LANES {
        let piece = Plan::of(lanes).limbs() as usize;
        for n in [1, piece - 1, piece + 1] {
            let x = worst(&mut bench, n);
            let pairs: Vec<_> = [0, 4, 9].map(|i| [x[i].clone(), x[i].clone()]).into();
            for width in [2 * n, n, 2 * n + piece] {
                bench.check_as(Operation::Square, lanes, &pairs, width);
            }
        }
    }
}

/// Widths of one piece and of several, of which the last is short; results that are cut, or
/// wider than the product.
#[test]
fn products_of_pieces_are_right() {
    let mut bench = Bench::new();
    for lanes in LANES {
        let piece = Plan::of(lanes).limbs() as usize;
        let cases = [
            (piece + 1, piece),
            (1, 1),
            (piece - 1, 3),
            (7, 2 * piece + 5),
            (2 * piece + 1, 2 * piece),
        ];
        // Of the longest, which take long, one.
        let cases = if lanes > 256 { &cases[..1] } else { &cases };
        for &(n, m) in cases {
            let (x, y) = (worst(&mut bench, n), worst(&mut bench, m));
            let pairs: Vec<_> = [0, 4, 9].map(|i| [x[i].clone(), y[i].clone()]).into();
            for width in [n + m, (n + m).div_ceil(2), n + m + 3 * piece + 1] {
                bench.check(lanes, &pairs, width);
            }
        }
    }
}
