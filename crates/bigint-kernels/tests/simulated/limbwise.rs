//! Shifts, selection and set bits of contiguous numbers by warps that find out once for each
//! number what its operand tells.

use crate::bench::{Bench, Launch};
use bigint_core::{Algorithm, Kernel, Layout, Level, Operation};
use num_bigint::BigUint;

/// What tells: nothing, a number of bits around `bits`, or one that no limb holds.
fn tells(bench: &mut Bench, width: usize, bits: usize) -> BigUint {
    match bench.random.below(4) {
        0 => BigUint::ZERO,
        1 if width > 1 => BigUint::from(1u8) << (32 + bench.random.below(32 * (width - 1))),
        _ => bench.random.below(bits + 40).into(),
    }
}

/// Compares `count` results of `n` limbs, where `of_tells` limbs of `those` numbers tell: of as many,
/// or of one for all.
fn check(
    bench: &mut Bench,
    kernel: &Kernel,
    n: usize,
    of_tells: usize,
    [count, those]: [usize; 2],
) {
    let arity = kernel.operation.declaration().operands.len();
    let mut operands: Vec<_> = (1..arity)
        .map(|_| {
            (
                n,
                (0..count)
                    .map(|_| bench.random.limbs(n, |any| any))
                    .collect(),
            )
        })
        .collect();
    let telling = (0..those).map(|_| tells(bench, of_tells, 32 * n)).collect();
    operands.push((of_tells, telling));
    bench.check(&Launch::new(kernel, &operands, &[n]), |x| {
        // As many bits as leave nothing of a number stand for all that are more.
        let most = BigUint::from(32 * n + 1);
        let bits = usize::try_from(x[arity - 1].min(&most)).unwrap();
        match kernel.operation {
            Operation::Shl => x[0] << bits,
            Operation::Shr => x[0] >> bits,
            Operation::Select if bits > 0 => x[0].clone(),
            Operation::Select => x[1].clone(),
            _ => x[0] | BigUint::from(1u8) << bits,
        }
    });
}

/// Results narrower and wider than what a warp loads at once, of fours of limbs and not, in rows that
/// end within a four, a stretch that begins and ends within a number, and more numbers than there are
/// lanes; told by a limb, by as many as a lane looks at, by more, and by one number for all.
#[test]
fn what_an_operand_tells_is_told_to_every_limb() {
    use Operation::{Select, SetBit, Shl, Shr};
    for operation in [Shl, Shr, Select, SetBit] {
        let mut bench = Bench::new(operation.name());
        let (algorithm, layout) = (Algorithm::Limbwise, Layout::Contiguous);
        let kernel = Kernel::find(operation, algorithm, Level::Warp, 32, layout).unwrap();
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
                check(&mut bench, kernel, n, tells, [count, count]);
            }
            check(&mut bench, kernel, n, 33, [count, 1]);
        }
    }
}
