//! Products by transforms of a block: the operands that are worst for rounding.

use crate::bench::{Bench, Launch};
use bigint_core::transform::{LANES, Plan};
use bigint_core::{Algorithm, Kernel, Layout, Level, Limb, Operation};
use num_bigint::BigUint;

/// A device with the kernels and their table of roots.
struct Transforms {
    bench: Bench,
    roots: u64,
}

impl Transforms {
    fn new() -> Self {
        let bench = Bench::large("mul");
        let roots = bench.roots();
        Transforms { bench, roots }
    }

    /// Compares the products of these pairs, whose widths are `n` and `m`, or the squares of the
    /// first ones, cut to `width`.
    fn check(
        &self,
        operation: Operation,
        lanes: u32,
        [n, m, width]: [usize; 3],
        pairs: &[[BigUint; 2]],
    ) {
        let (algorithm, layout) = (Algorithm::Fft, Layout::Contiguous);
        let kernel = Kernel::find(operation, algorithm, Level::Block, lanes, layout).unwrap();
        let operand = |i: usize| pairs.iter().map(|pair| pair[i].clone()).collect();
        let operands = [(n, operand(0)), (m, operand(1))];
        let arity = operation.declaration().operands.len();
        let of_result = [width];
        let launch = Launch {
            roots: self.roots,
            ..Launch::new(kernel, &operands[..arity], &of_result).of(layout)
        };
        self.bench.check(&launch, |x| x[0] * x[arity - 1]);
    }
}

/// Operands of `n` limbs whose digits are the greatest there are, in either sense, in several
/// orders; and any.
fn worst(bench: &mut Bench, n: usize) -> Vec<BigUint> {
    let mut of = |limb: &dyn Fn(usize, Limb) -> Limb| {
        BigUint::new((0..n).map(|i| limb(i, bench.next())).collect())
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
    let mut transforms = Transforms::new();
    for lanes in LANES {
        let n = Plan::of(lanes).limbs() as usize;
        let worst = worst(&mut transforms.bench, n);
        let mut pairs: Vec<_> = worst.iter().map(|a| [a.clone(), a.clone()]).collect();
        let turned = worst.iter().zip(worst.iter().skip(1));
        pairs.extend(turned.map(|(a, b)| [a.clone(), b.clone()]));
        transforms.check(Operation::Mul, lanes, [n, n, 2 * n], &pairs);
        pairs.truncate(worst.len());
        transforms.check(Operation::Square, lanes, [n, n, 2 * n], &pairs);
    }
}

/// One piece, which is transformed once, and several, whose products are no squares.
#[test]
fn squares_of_pieces_are_right() {
    let mut transforms = Transforms::new();
    for lanes in LANES {
        let piece = Plan::of(lanes).limbs() as usize;
        for n in [1, piece - 1, piece + 1] {
            let x = worst(&mut transforms.bench, n);
            let pairs: Vec<_> = [0, 4, 9].map(|i| [x[i].clone(), x[i].clone()]).into();
            for width in [2 * n, n, 2 * n + piece] {
                transforms.check(Operation::Square, lanes, [n, n, width], &pairs);
            }
        }
    }
}

/// Widths of one piece and of several, of which the last is short; results that are cut, or
/// wider than the product.
#[test]
fn products_of_pieces_are_right() {
    let mut transforms = Transforms::new();
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
            let (x, y) = (
                worst(&mut transforms.bench, n),
                worst(&mut transforms.bench, m),
            );
            let pairs: Vec<_> = [0, 4, 9].map(|i| [x[i].clone(), y[i].clone()]).into();
            for width in [n + m, (n + m).div_ceil(2), n + m + 3 * piece + 1] {
                transforms.check(Operation::Mul, lanes, [n, m, width], &pairs);
            }
        }
    }
}
