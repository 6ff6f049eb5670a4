//! What num-bigint says: one line for each operation.

use bigint_host::{BigUint, Operation};
use num_bigint::BigInt;

/// The exact value of each result, from as many operands as the operation has, of these
/// widths in limbs.
pub fn values(operation: Operation, operands: &[&BigUint], widths: &[usize]) -> Vec<BigInt> {
    let x = |i: usize| BigInt::from(operands[i].clone());
    match operation {
        Operation::Add => vec![x(0) + x(1)],
        Operation::Sub => vec![x(0) - x(1)],
        Operation::Mul => vec![x(0) * x(1)],
        Operation::Square => vec![x(0) * x(0)],
        Operation::MulHigh => vec![(x(0) * x(1)) >> (32 * widths[0].max(widths[1]))],
        Operation::MulAdd => vec![x(0) * x(1) + x(2)],
    }
}
