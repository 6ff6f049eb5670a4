//! The cost of a row of a formula, from the lengths of its inputs alone.

use crate::expression::{Formula, Function, Term};
use bigint_core::operation::{self, Signs};
use bigint_core::{LIMB_BITS, MAX_WIDTH, Operation};

/// What is known of an input before its numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The length in bits of its longest number.
    pub bits: usize,
    /// Its greatest number, if known: a shift depends on it.
    pub most: Option<u64>,
    /// Whether it has one number for each row.
    pub is_column: bool,
}

/// The memory, in limbs, that a row of a batch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// All columns and intermediate results at the worst moment.
    pub peak: usize,
    /// The result.
    pub result: usize,
    /// The widest intermediate result, or the result.
    pub widest: usize,
}

/// The bits that a shift of unknown size is counted as.
const UNKNOWN_SHIFT: usize = 1 << 10;

/// The value that an unknown exponent is counted as.
const UNKNOWN_EXPONENT: usize = 64;

/// The number of limbs that hold `bits` bits, at least one.
pub(crate) fn limbs(bits: usize) -> usize {
    bits.div_ceil(LIMB_BITS).max(1)
}

impl Formula {
    /// The memory that a row takes. Cost: one pass over the formula.
    ///
    /// # Panics
    /// If an input is not in `inputs`.
    pub(crate) fn cost(&self, inputs: &[Extent]) -> Cost {
        let columns = inputs.iter().filter(|input| input.is_column);
        let columns: usize = columns.map(|input| limbs(input.bits)).sum();
        let bits = self.bits(inputs);
        let last_uses = self.last_uses();
        let mut owned: Vec<usize> = Vec::with_capacity(bits.len());
        let (mut alive, mut peak, mut widest) = (0, 0, 0);
        for (at, last) in last_uses.iter().enumerate() {
            match &self.terms[at] {
                Term::Input(_) => owned.push(0),
                // A sign moves no limbs.
                Term::Apply(Function::Negate | Function::Absolute, of) => {
                    owned.push(owned[of[0]]);
                    alive += owned[at];
                }
                Term::Apply(..) => {
                    owned.push(limbs(bits[at]));
                    widest = widest.max(owned[at]);
                    alive += owned[at];
                    // While a term is computed, its operands are still there.
                    peak = peak.max(alive);
                }
            }
            alive -= last.iter().map(|&operand| owned[operand]).sum::<usize>();
        }
        Cost {
            peak: columns + peak,
            result: limbs(bits[self.root]),
            widest,
        }
    }

    /// For each term, an upper bound of its length in bits.
    pub(crate) fn bits(&self, inputs: &[Extent]) -> Vec<usize> {
        let mut bits: Vec<usize> = Vec::with_capacity(self.terms.len());
        let most = |at: usize| match &self.terms[at] {
            Term::Input(index) => inputs[*index].most,
            Term::Apply(..) => None,
        };
        for term in &self.terms {
            bits.push(match term {
                Term::Input(index) => inputs[*index].bits,
                Term::Apply(Function::Operation(Operation::Shl), operands) => {
                    let most = most(operands[1]).map_or(UNKNOWN_SHIFT, |most| most as usize);
                    bits[operands[0]].saturating_add(most)
                }
                // However large exponents are, powers of 1 are short.
                Term::Apply(Function::Power, operands) => {
                    let most = most(operands[1]).map_or(UNKNOWN_EXPONENT, |most| most as usize);
                    let longest = bits[operands[0]].saturating_mul(most.max(1));
                    longest.min(MAX_WIDTH * LIMB_BITS)
                }
                Term::Apply(function, operands) => {
                    bits_of(*function, operands.iter().map(|&operand| bits[operand]))
                }
            });
        }
        bits
    }

    /// For each term, the operands that no later term needs.
    pub(crate) fn last_uses(&self) -> Vec<Vec<usize>> {
        let mut last_uses = vec![Vec::new(); self.terms.len()];
        let mut is_needed = vec![false; self.terms.len()];
        is_needed[self.root] = true;
        for (at, term) in self.terms.iter().enumerate().rev() {
            if let Term::Apply(_, operands) = term {
                for &operand in operands {
                    if !std::mem::replace(&mut is_needed[operand], true) {
                        last_uses[at].push(operand);
                    }
                }
            }
        }
        last_uses
    }
}

/// An upper bound of a result's length from the operands' lengths, in bits.
pub(super) fn bits_of(function: Function, operands: impl Iterator<Item = usize>) -> usize {
    let operands: Vec<usize> = operands.collect();
    let widest = operands.iter().copied().max().unwrap_or(0);
    match function {
        Function::Operation(operation) => match operation.declaration().signs {
            Signs::Sum | Signs::Difference => widest + 1,
            Signs::Product => operands.iter().sum(),
            Signs::ProductPlus => (operands[0] + operands[1]).max(operands[2]) + 1,
            _ if operation.cost() == operation::Cost::Square => 2 * widest,
            Signs::Least | Signs::Greatest => widest,
            Signs::Order => 1,
            _ => {
                let widths: Vec<usize> = operands.iter().map(|&bits| limbs(bits)).collect();
                operation.exact_width(&widths) * LIMB_BITS
            }
        },
        Function::Negate
        | Function::Absolute
        | Function::Sum
        | Function::Product
        | Function::PrevPrime => widest,
        Function::Power => operands[0].saturating_mul(UNKNOWN_EXPONENT),
        Function::IsPrime => 1,
        Function::NextPrime => widest + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::{Part, Terms};

    const ADD: Function = Function::Operation(Operation::Add);
    const SUB: Function = Function::Operation(Operation::Sub);
    const MUL: Function = Function::Operation(Operation::Mul);

    /// The cost of what `build` makes of two columns of these widths.
    fn cost(widths: [usize; 2], build: impl Fn(&mut Terms, Part, Part) -> Part) -> Cost {
        let mut terms = Terms::default();
        let (a, b) = (terms.input(0), terms.input(1));
        let root = build(&mut terms, a, b);
        let column = |width| Extent {
            bits: width * LIMB_BITS,
            most: None,
            is_column: true,
        };
        let formula = terms.formula(root, &[true; 2]).unwrap();
        formula.cost(&widths.map(column))
    }

    #[test]
    fn widths_follow_the_operations() {
        let expected = |peak, result, widest| Cost {
            peak,
            result,
            widest,
        };
        assert_eq!(cost([7, 0], |_, a, _| a), expected(8, 7, 0));
        let product = cost([3, 4], |t, a, b| t.apply(MUL, &[a, b]));
        assert_eq!(product, expected(14, 7, 7));
        let sum = cost([3, 4], |t, a, b| t.apply(ADD, &[a, b]));
        assert_eq!(sum, expected(12, 5, 5));
        // Both columns and both squares are there while the difference is made.
        let squares = cost([1, 1], |t, a, b| {
            let (x, y) = (t.apply(MUL, &[a, a]), t.apply(MUL, &[b, b]));
            t.apply(SUB, &[x, y])
        });
        assert_eq!(squares, expected(2 + 2 + 2 + 3, 3, 3));
    }

    #[test]
    fn a_long_sum_is_as_narrow_as_its_value() {
        let long = cost([1, 1], |t, a, b| {
            (0..200).fold(a, |sum, _| {
                let sum = t.apply(ADD, &[sum, b]);
                t.apply(ADD, &[sum, a])
            })
        });
        // Each term may double what a bound knows: it counts carries, not values.
        assert_eq!(long.result, limbs(LIMB_BITS + 400));
    }
}
