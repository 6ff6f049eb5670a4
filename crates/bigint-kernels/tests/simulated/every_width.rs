//! Products and squares of every width by every kernel.

use crate::bench::{Bench, LARGE, Launch, committed};
use bigint_core::{Kernel, Limb, Operation};
use bigint_testing::sweep_all;
use cuda_sim::DeviceConfig;
use num_bigint::BigUint;
use std::collections::BTreeMap;

/// Up to 32,768 bits in steps of 32 with `BIGINT_SWEEPS=all`, which takes hours; other runs take some. Numbers are all ones, whose
/// sums are the greatest, of the digits that are worst for transforms, and any.
#[test]
fn products_and_squares_of_every_width_are_right_by_every_kernel() {
    let mut benches: BTreeMap<&str, (Bench, u64)> = BTreeMap::new();
    let widths = (1..=1024).step_by(sweep_all(409, 93, 1));
    let kernels = Kernel::ALL.iter();
    let kernels = kernels.filter(|k| [Operation::Mul, Operation::Square].contains(&k.operation));
    for (i, kernel) in kernels.enumerate() {
        let (bench, roots) = benches
            .entry(kernel.entry_point().module)
            .or_insert_with_key(|module| {
                let config = DeviceConfig {
                    arch: LARGE,
                    ..DeviceConfig::default()
                };
                let bench = Bench::of(committed(module), config);
                let roots = bench.roots();
                (bench, roots)
            });
        for n in widths.clone() {
            let of = |limb: Limb| BigUint::new(vec![limb; n]);
            let numbers = vec![of(Limb::MAX), of(0x8000_8000), bench.number(n)];
            let turned = [0, 2, 1].map(|k: usize| numbers[k].clone()).to_vec();
            let operands = [(n, numbers), (n, turned)];
            let arity = kernel.operation.declaration().operands.len();
            let of_result = [2 * n];
            let launch = Launch {
                roots: *roots,
                is_specialized: (i + n) % 2 == 0,
                ..Launch::new(kernel, &operands[..arity], &of_result)
            };
            bench.check(&launch, |x| x[0] * x[arity - 1]);
        }
    }
}
