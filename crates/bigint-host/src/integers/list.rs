//! A list's computations, and each of them as a computation of magnitudes.

use crate::{Error, Integers};
use bigint_core::operation::{Signs, Width};
use bigint_core::{Algorithm, Limb, Operation};
use std::cmp::Ordering;

/// One computation of a list: an operation on two of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Computation {
    /// What is computed: [`Computation::takes`] says what may be.
    pub operation: Operation,
    /// The index of the first operand.
    pub a: usize,
    /// The index of the second operand.
    pub b: usize,
}

impl Computation {
    /// Whether lists may have this operation: it has two operands, says what it is of signed
    /// numbers, and its result's length follows from theirs. `+ - * / %` do, `gcd`, `lcm`,
    /// `min`, `max`, `compare`, `inv_mod`, `jacobi` and `shr`; of more than one result it is
    /// the first.
    pub fn takes(operation: Operation) -> bool {
        let declared = operation.declaration();
        declared.operands.len() == 2
            && declared.signs != Signs::Natural
            && !matches!(declared.exact[0], Width::Cut(_))
    }
}

/// A computation as one of magnitudes, in which form it is in a bin.
#[derive(Clone, Copy)]
pub(crate) struct Resolved {
    /// The operation on the magnitudes: where signs differ, a sum of numbers is a difference of
    /// magnitudes, and a difference a sum.
    pub operation: Operation,
    /// Whether the result is negative, where that follows from the operands alone.
    pub negative: Option<bool>,
    /// The indices of the operands: the greater magnitude first where they are subtracted, the
    /// longer first where the order makes no difference.
    pub operands: [usize; 2],
    /// The limbs of each operand; widths have 27 bits.
    lengths: [u32; 2],
}

impl Resolved {
    /// The computation as it is declared, whose numbers nobody has looked at.
    pub fn unchanged(&Computation { operation, a, b }: &Computation) -> Self {
        Resolved {
            operation,
            negative: None,
            operands: [a, b],
            lengths: [0; 2],
        }
    }

    /// The computation of magnitudes that gives the same result.
    #[inline]
    pub fn of(integers: &Integers, &Computation { operation, a, b }: &Computation) -> Self {
        let length = |i| integers.length(i) as u32;
        let (n, m) = (length(a), length(b));
        let is_longer_first = n >= m;
        let resolved = |operation, is_first: bool, negative| Resolved {
            operation,
            negative,
            operands: if is_first { [a, b] } else { [b, a] },
            lengths: if is_first { [n, m] } else { [m, n] },
        };
        let signs = operation.declaration().signs;
        let (minus_a, minus_b) = (integers.is_negative(a), integers.is_negative(b));
        match signs {
            Signs::Sum | Signs::Difference => {
                let minus_b = minus_b != (signs == Signs::Difference);
                if minus_a == minus_b {
                    return resolved(Operation::Add, is_longer_first, Some(minus_a));
                }
                let is_first = match n == m {
                    true => !order(integers.magnitude(a), integers.magnitude(b)).is_lt(),
                    false => is_longer_first,
                };
                let negative = if is_first { minus_a } else { minus_b };
                resolved(Operation::Sub, is_first, Some(negative))
            }
            _ => {
                let is_first = is_longer_first || !commutes(operation);
                let negative = (signs == Signs::Product).then_some(minus_a != minus_b);
                resolved(operation, is_first, negative)
            }
        }
    }

    /// The limbs of each operand.
    pub fn lengths(&self) -> [usize; 2] {
        self.lengths.map(|length| length as usize)
    }

    /// Whether both operands are one number.
    pub fn is_of_one(&self) -> bool {
        self.operands[0] == self.operands[1]
    }

    /// Whether the operation is a sum or a difference.
    pub fn is_sum(&self) -> bool {
        matches!(self.operation, Operation::Add | Operation::Sub)
    }

    /// The greatest length of the result in limbs, of sums, differences and products.
    pub fn most_limbs(&self) -> Option<usize> {
        match self.operation {
            Operation::Add | Operation::Sub => Some(self.limbs_of_sum()),
            Operation::Mul => Some(self.lengths().iter().sum()),
            _ => None,
        }
    }

    /// The limbs that a sum or difference needs as a segment. A difference is no longer than its
    /// first operand, which is the greater.
    pub fn limbs_of_sum(&self) -> usize {
        let [n, _] = self.lengths();
        (n + usize::from(self.operation == Operation::Add)).max(1)
    }
}

/// Refuses a computation that names no number, or an operation that lists do not have.
pub(crate) fn check(integers: &Integers, computation: &Computation) -> Result<(), Error> {
    let &Computation { operation, a, b } = computation;
    let (index, count) = (a.max(b), integers.len());
    if index >= count {
        return Err(Error::NoSuchNumber { index, count });
    }
    match Computation::takes(operation) {
        true => Ok(()),
        false => Err(Error::NotInLists { operation }),
    }
}

/// How two magnitudes compare that have no zeros on top.
#[inline]
pub(crate) fn order(x: &[Limb], y: &[Limb]) -> Ordering {
    let lengths = x.len().cmp(&y.len());
    let mut pairs = x.iter().zip(y).rev();
    lengths.then_with(|| match pairs.find(|(x, y)| x != y) {
        Some((x, y)) => x.cmp(y),
        None => Ordering::Equal,
    })
}

/// Whether the order of the operands makes no difference.
fn commutes(operation: Operation) -> bool {
    matches!(operation, Operation::Mul | Operation::Gcd | Operation::Lcm)
}

/// Whether an operation costs no more than a pass over its operands.
pub(crate) fn is_linear(operation: Operation) -> bool {
    match operation {
        // The most frequent ones, which need not be looked up.
        Operation::Add | Operation::Sub => true,
        Operation::Mul => false,
        _ => operation.has(Algorithm::CarryLookahead) || operation.has(Algorithm::Scan),
    }
}

/// Whether the CPU computes an operation in the pass that gathers results.
pub(crate) fn is_in_passing(operation: Operation) -> bool {
    use Signs::{Difference, Greatest, Least, Order, Sum};
    let signs = operation.declaration().signs;
    matches!(signs, Sum | Difference | Least | Greatest | Order)
}
