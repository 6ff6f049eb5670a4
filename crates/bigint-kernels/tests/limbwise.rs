//! Shifts, selection and set bits of contiguous numbers by warps that find out once for each
//! number what its operand tells, as they stand in the committed PTX, on the simulated GPU with
//! all of its checks on: beside num-bigint.

use bigint_core::{Algorithm, Arguments, Kernel, Layout, Level, Limb};
use bigint_core::{MatrixArgument, Operation, Shape};
use cuda_sim::{Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use num_bigint::BigUint;

/// A simulated device with the kernel of one operation.
struct Bench {
    device: Device,
    module: LoadedModule,
    kernel: &'static Kernel,
    state: u64,
}

impl Bench {
    fn new(operation: Operation, ptx: &str) -> Self {
        let device = Device::new(DeviceConfig::default());
        let module = device.load(&Module::parse(ptx).unwrap()).unwrap();
        let kernel = Kernel::find(
            operation,
            Algorithm::Limbwise,
            Level::Warp,
            32,
            Layout::Contiguous,
        );
        Bench {
            device,
            module,
            kernel: kernel.unwrap(),
            state: 1,
        }
    }

    fn next(&mut self) -> Limb {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 32) as Limb
    }

    fn number(&mut self, width: usize) -> Vec<Limb> {
        (0..width).map(|_| self.next()).collect()
    }

    /// What tells: nothing, a number of bits around `bits`, or one that no limb holds.
    fn tells(&mut self, width: usize, bits: usize) -> Vec<Limb> {
        let mut limbs = vec![0; width];
        match self.next() % 4 {
            0 => {}
            1 if width > 1 => {
                let at = 1 + self.next() as usize % (width - 1);
                limbs[at] = 1 << (self.next() % 32);
            }
            _ => limbs[0] = self.next() % (bits as Limb + 40),
        }
        limbs
    }

    fn matrix(&self, width: usize, numbers: &[Vec<Limb>]) -> MatrixArgument {
        let shape = Shape::new(numbers.len(), width, Layout::Contiguous);
        let limbs = numbers.iter().flatten();
        let bytes: Vec<u8> = limbs.flat_map(|limb| limb.to_le_bytes()).collect();
        let address = self.device.alloc(bytes.len() as u64).unwrap();
        self.device.write(address, &bytes).unwrap();
        MatrixArgument::new(address, width, shape.strides())
    }

    /// Compares `count` results of `n` limbs, where `tells` limbs tell, of one number for all
    /// if `is_one`.
    fn check(&mut self, n: usize, tells: usize, count: usize, is_one: bool) {
        let operation = self.kernel.operation;
        let mut operands: Vec<Vec<Vec<Limb>>> = Vec::new();
        let mut widths = vec![n; operation.declaration().operands.len()];
        let last = widths.len() - 1;
        widths[last] = tells;
        for &width in &widths[..last] {
            operands.push((0..count).map(|_| self.number(width)).collect());
        }
        let those = if is_one { 1 } else { count };
        operands.push((0..those).map(|_| self.tells(tells, 32 * n)).collect());
        let mut matrices: Vec<_> = operands
            .iter()
            .zip(&widths)
            .map(|(numbers, &width)| self.matrix(width, numbers))
            .collect();
        if is_one {
            matrices[last].number_stride = 0;
        }
        let r = self.device.alloc(4 * (n * count) as u64).unwrap();
        let strides = Shape::new(count, n, Layout::Contiguous).strides();
        let launch = self.kernel.launch(count, &widths, n);
        let arguments = Arguments {
            count: count as u64,
            workers: launch.workers as u64,
            ..Arguments::of(&[MatrixArgument::new(r, n, strides)], &matrices)
        };
        let grid = Grid {
            grid: [launch.grid, 1, 1],
            block: [launch.block, 1, 1],
            shared_bytes: launch.shared_bytes,
        };
        let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
        let what = format!("{} of {n} limbs, told by {tells}", operation.name());
        let launched = self
            .device
            .launch(&self.module, self.kernel.name, grid, &bytes);
        launched.unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let mut bytes = vec![0; 4 * n * count];
        self.device.read(r, &mut bytes).unwrap();
        let modulus = BigUint::from(1u8) << (32 * n);
        for (i, found) in bytes.chunks(4 * n).enumerate() {
            let x = |operand: usize| {
                let numbers: &[Vec<Limb>] = &operands[operand];
                BigUint::new(numbers[i % numbers.len()].clone())
            };
            // As many bits as leave nothing of a number stand for all that are more.
            let most = BigUint::from(32 * n + 1);
            let bits = usize::try_from(x(last).min(most)).unwrap();
            let value = match operation {
                Operation::Shl => (x(0) << bits) % &modulus,
                Operation::Shr => x(0) >> bits,
                Operation::Select if bits > 0 => x(0),
                Operation::Select => x(1),
                _ => (x(0) | BigUint::from(1u8) << bits) % &modulus,
            };
            assert_eq!(BigUint::from_bytes_le(found), value, "{what}: number {i}");
        }
        for address in matrices.iter().map(|matrix| matrix.limbs).chain([r]) {
            self.device.free(address).unwrap();
        }
    }
}

/// Results narrower and wider than what a warp loads at once, of fours of limbs and not, in rows that
/// end within a four, a stretch that begins and ends within a number, and more numbers than there are lanes; told by a limb, by as many as a lane
/// looks at, by more, and by one number for all.
#[test]
fn what_an_operand_tells_is_told_to_every_limb() {
    for (operation, ptx) in [
        (
            Operation::Shl,
            include_str!("../../bigint-host/ptx/shl.ptx"),
        ),
        (
            Operation::Shr,
            include_str!("../../bigint-host/ptx/shr.ptx"),
        ),
        (
            Operation::Select,
            include_str!("../../bigint-host/ptx/select.ptx"),
        ),
        (
            Operation::SetBit,
            include_str!("../../bigint-host/ptx/set_bit.ptx"),
        ),
    ] {
        let mut bench = Bench::new(operation, ptx);
        for (n, count) in [
            (1, 70),
            (4, 70),
            (5, 203),
            (6, 301),
            (7, 129),
            (8, 130),
            (9, 120),
            (12, 97),
            (36, 50),
            (37, 33),
            (127, 9),
            (129, 31),
            (300, 7),
        ] {
            for tells in [1, 3, 4, 8, 17, 70] {
                bench.check(n, tells, count, false);
            }
            bench.check(n, 33, count, true);
        }
    }
}
