//! The kernel of `examples/fused-kernel`, launched on the simulated GPU with all of its
//! checks on, against num-bigint.

use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb, MatrixArgument, Strides};
use cuda_sim::ptx::Module;
use cuda_sim::{Device, DeviceConfig, Grid};
use num_bigint::BigInt;
use num_bigint::BigUint;

#[test]
fn a_kernel_of_ones_own_computes_a_product_and_a_difference_by_one_launch() {
    let path = "/../../examples/fused-kernel/multiply_subtract.ptx";
    let path = format!("{}{path}", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).unwrap();
    let device = Device::new(DeviceConfig::default());
    let module = device.load(&Module::parse(&source).unwrap()).unwrap();
    for (width, count) in [(1, 3), (5, 100), (8, 129), (33, 7)] {
        let upload = |limbs: &[Limb]| {
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            let address = device.alloc(bytes.len() as u64).unwrap();
            device.write(address, &bytes).unwrap();
            address
        };
        // Limbs of every kind; in some numbers `c` is greater than `a b`.
        let limbs = |factor: usize, wide: usize| -> Vec<Limb> {
            let limb = |i: usize| match i % 11 {
                0 => Limb::MAX,
                1 | 2 if factor < 7 => 0,
                _ => (i * factor).wrapping_mul(0x9e37_79b9) as Limb,
            };
            (0..count * wide).map(limb).collect()
        };
        let (a, b, c) = (limbs(3, width), limbs(5, width), limbs(7, 2 * width));
        let matrix = |address, width| {
            MatrixArgument::new(
                address,
                width,
                Strides {
                    number: width,
                    limb: 1,
                },
            )
        };
        let r = device.alloc((8 * count * width) as u64).unwrap();
        let borrows = upload(&vec![9; count]);
        let grid = count.div_ceil(BLOCK as usize);
        let arguments = Arguments {
            r: matrix(r, 2 * width),
            a: matrix(upload(&a), width),
            b: matrix(upload(&b), width),
            c: matrix(upload(&c), 2 * width),
            carry: borrows,
            count: count as u64,
            workers: grid as u64 * u64::from(BLOCK),
            ..Arguments::default()
        };
        let extent = Grid {
            grid: [grid as u32, 1, 1],
            block: [BLOCK, 1, 1],
            shared_bytes: 0,
        };
        let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
        let launched = device.launch(&module, "multiply_subtract", extent, &bytes);
        launched.unwrap_or_else(|fault| panic!("{fault}"));
        let fetch = |address, length: usize| {
            let mut bytes = vec![0; length];
            device.read(address, &mut bytes).unwrap();
            bytes
        };
        let (found, borrows) = (fetch(r, 8 * count * width), fetch(borrows, 4 * count));
        let modulus = BigInt::from(1) << (64 * width);
        for i in 0..count {
            let number = |limbs: &[Limb], width: usize| {
                BigInt::from(BigUint::new(limbs[i * width..][..width].to_vec()))
            };
            let value = number(&a, width) * number(&b, width) - number(&c, 2 * width);
            let is_negative = value < BigInt::ZERO;
            let expected = ((value % &modulus) + &modulus) % &modulus;
            let found = BigUint::from_bytes_le(&found[8 * width * i..][..8 * width]);
            assert_eq!(BigInt::from(found), expected, "number {i} of {width} limbs");
            assert_eq!(borrows[4 * i..][..4], u32::from(is_negative).to_le_bytes());
        }
    }
}
