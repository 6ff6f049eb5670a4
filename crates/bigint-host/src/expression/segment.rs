//! The terms of a formula that one program computes.

use super::cost::limbs;
use crate::expression::{Formula, Function, Term};
use bigint_core::Operation;
use bigint_core::fused::StepKind;

/// A term, and the terms that only it needs, as steps whose operands are other terms.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    pub steps: Vec<(StepKind, usize)>,
    /// The terms inside, which no other term needs, in order.
    pub within: Vec<usize>,
}

/// The least number of operations for a program; one alone has kernels of its own.
const LEAST_OPERATIONS: usize = 2;

/// For each term that ends a program, its segment.
pub(super) fn segments(formula: &Formula) -> Vec<Option<Segment>> {
    let terms = &formula.terms;
    let mut uses = vec![0_usize; terms.len()];
    uses[formula.root] += 1;
    for term in terms {
        if let Term::Apply(_, operands) = term {
            operands.iter().for_each(|&operand| uses[operand] += 1);
        }
    }
    let mut segments = vec![None; terms.len()];
    let mut is_taken = vec![false; terms.len()];
    for at in (0..terms.len()).rev() {
        if is_taken[at] {
            continue;
        }
        let sum = sum(terms, &uses, at);
        // A product in it is more than a sum of two.
        let segment = match sum.steps.len() {
            3.. => sum,
            _ => chain(terms, &uses, at),
        };
        if segment.steps.len() > LEAST_OPERATIONS {
            segment
                .within
                .iter()
                .for_each(|&within| is_taken[within] = true);
            segments[at] = Some(segment);
        }
    }
    segments
}

fn operation(term: &Term) -> Option<(Operation, &[usize])> {
    match term {
        Term::Apply(Function::Operation(operation), operands) => Some((*operation, operands)),
        _ => None,
    }
}

/// A tree of sums and differences, as a list of terms that are added or subtracted.
fn sum(terms: &[Term], uses: &[usize], root: usize) -> Segment {
    let mut segment = Segment::default();
    let mut open = vec![(root, StepKind::Add)];
    while let Some((at, kind)) = open.pop() {
        let turned = match kind {
            StepKind::Add => StepKind::Sub,
            _ => StepKind::Add,
        };
        let parts = match (&terms[at], operation(&terms[at])) {
            _ if at != root && uses[at] > 1 => None,
            (_, Some((Operation::Add, of))) => Some(vec![(of[0], kind), (of[1], kind)]),
            (_, Some((Operation::Sub, of))) => Some(vec![(of[0], kind), (of[1], turned)]),
            (Term::Apply(Function::Negate, of), _) => Some(vec![(of[0], turned)]),
            _ => None,
        };
        match parts {
            Some(parts) => {
                open.extend(parts.into_iter().rev());
                segment.within.push(at);
            }
            None => segment.steps.push((kind, at)),
        }
    }
    // The first step adds.
    if let Some(first) = segment
        .steps
        .iter()
        .position(|step| step.0 == StepKind::Add)
    {
        segment.steps.swap(0, first);
    } else {
        segment.steps.clear();
    }
    segment.within.retain(|&at| at != root);
    segment.within.sort_unstable();
    segment
}

/// A chain of steps, each of which has the value before as an operand.
fn chain(terms: &[Term], uses: &[usize], root: usize) -> Segment {
    let mut segment = Segment::default();
    let steps = &mut segment.steps;
    let operation_of = |at: usize| operation(&terms[at]).map(|(operation, _)| operation);
    let mut at = root;
    // A difference may be negative, and then no factor: its sign would have to be carried
    // through all limbs of the product.
    let mut is_factor = false;
    loop {
        let Some((operation, of)) = operation(&terms[at]) else {
            // Only the root may be no operation of a chain.
            return Segment::default();
        };
        let (kind, mut pair) = match operation {
            Operation::Add => (StepKind::Add, [of[0], of[1]]),
            Operation::Sub => (StepKind::Sub, [of[0], of[1]]),
            Operation::Mul => (StepKind::Mul, [of[0], of[1]]),
            Operation::MulAdd => {
                steps.push((StepKind::Add, of[2]));
                (StepKind::Mul, [of[0], of[1]])
            }
            Operation::Square => (StepKind::Square, [of[0], of[0]]),
            _ => return Segment::default(),
        };
        is_factor |= matches!(kind, StepKind::Mul | StepKind::Square);
        let goes_on = |at: usize| {
            use Operation::{Add, Mul, MulAdd, Square, Sub};
            uses[at] == 1
                && match operation_of(at) {
                    Some(Add | Mul | MulAdd | Square) => true,
                    Some(Sub) => !is_factor,
                    _ => false,
                }
        };
        if matches!(kind, StepKind::Add | StepKind::Mul) && !goes_on(pair[0]) && goes_on(pair[1]) {
            pair.swap(0, 1);
        }
        steps.push((kind, pair[1]));
        if !goes_on(pair[0]) {
            steps.push((StepKind::Add, pair[0]));
            break;
        }
        at = pair[0];
        segment.within.push(at);
    }
    steps.reverse();
    segment.within.reverse();
    segment
}

/// The steps of a segment, with the width of the value after each.
pub(super) struct Planned {
    pub steps: Vec<(StepKind, usize, usize)>,
    /// An upper bound of the result's length in bits.
    pub bits: usize,
    /// Whether the result may be negative: then it is computed modulo `2^(32 w)`, with `w` wide
    /// enough for its top bit to be its sign.
    pub is_signed: bool,
}

/// The widths of a segment's values, from the lengths of terms in bits; with `wrapping` none is
/// wider than that.
pub(super) fn planned(
    segment: &Segment,
    bits: impl Fn(usize) -> usize,
    wrapping: Option<usize>,
) -> Planned {
    let steps = &segment.steps;
    let is_linear = |&(kind, _): &(StepKind, usize)| matches!(kind, StepKind::Add | StepKind::Sub);
    let is_sum = steps.iter().all(is_linear);
    let mut bound = 0_usize;
    let mut bounds = Vec::with_capacity(steps.len());
    for (at, &(kind, term)) in steps.iter().enumerate() {
        bound = match kind {
            _ if at == 0 => bits(term),
            StepKind::Mul => bound + bits(term),
            StepKind::Square => 2 * bound,
            StepKind::Add | StepKind::Sub => bound.max(bits(term)) + 1,
        };
        bounds.push(bound);
    }
    if is_sum {
        let widest = steps.iter().map(|&(_, term)| bits(term)).max().unwrap_or(1);
        bound = widest + steps.len().next_power_of_two().ilog2() as usize;
    }
    let first_difference = steps.iter().position(|step| step.0 == StepKind::Sub);
    let is_signed = first_difference.is_some();
    let whole = wrapping.unwrap_or_else(|| limbs(bound + usize::from(is_signed)));
    // From the first difference on a value may be negative, and cannot be widened.
    let whole_from = match is_sum {
        true => 0,
        false => first_difference.unwrap_or(steps.len() - 1),
    };
    let width = |at: usize| match at >= whole_from {
        true => whole,
        false => limbs(bounds[at]).min(whole),
    };
    let steps = steps.iter().enumerate();
    Planned {
        steps: steps
            .map(|(at, &(kind, term))| (kind, term, width(at)))
            .collect(),
        bits: bound,
        is_signed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::{Part, Terms};
    use StepKind::{Add, Mul, Square, Sub};

    /// The segments of what is built of inputs 0 to 4, which are terms 0 to 4.
    fn of(build: impl Fn(&mut Terms, &[Part]) -> Part) -> Vec<Segment> {
        let mut terms = Terms::default();
        let inputs: Vec<Part> = (0..5).map(|index| terms.input(index)).collect();
        let root = build(&mut terms, &inputs);
        let formula = terms.formula(root, &[true; 5]).unwrap();
        segments(&formula).into_iter().flatten().collect()
    }

    fn apply(terms: &mut Terms, operation: Operation, a: Part, b: Part) -> Part {
        terms.apply(Function::Operation(operation), &[a, b])
    }

    #[test]
    fn sums_and_differences_in_any_parentheses_are_one_program() {
        let found = of(|terms, x| {
            let left = apply(terms, Operation::Sub, x[0], x[1]);
            let right = apply(terms, Operation::Sub, x[2], x[3]);
            apply(terms, Operation::Sub, left, right)
        });
        assert_eq!(found[0].steps, [(Add, 0), (Sub, 1), (Sub, 2), (Add, 3)]);
        let planned = planned(&found[0], |_| 64, None);
        // Four terms: two bits more, and a sign.
        assert_eq!((planned.bits, planned.is_signed), (66, true));
        assert!(planned.steps.iter().all(|step| step.2 == 3));
    }

    #[test]
    fn a_polynomial_is_a_chain_and_a_difference_no_factor_in_one() {
        let found = of(|terms, x| {
            let square = apply(terms, Operation::Mul, x[0], x[0]);
            let cube = apply(terms, Operation::Mul, square, x[0]);
            apply(terms, Operation::Add, cube, x[1])
        });
        let steps = [(Add, 0), (Square, 0), (Mul, 0), (Add, 1)];
        assert_eq!(found[0].steps, steps);
        let widths = |wrapping| {
            let planned = planned(&found[0], |_| 64, wrapping);
            planned.steps.iter().map(|step| step.2).collect::<Vec<_>>()
        };
        assert_eq!(widths(None), [2, 4, 6, 7]);
        assert_eq!(widths(Some(3)), [2, 3, 3, 3]);
        let none = of(|terms, x| {
            let difference = apply(terms, Operation::Sub, x[0], x[1]);
            apply(terms, Operation::Mul, difference, x[2])
        });
        assert!(none.is_empty());
    }

    #[test]
    fn what_is_needed_twice_is_an_input_of_both() {
        let found = of(|terms, x| {
            let product = apply(terms, Operation::Mul, x[0], x[1]);
            let sum = apply(terms, Operation::Add, product, x[2]);
            apply(terms, Operation::Mul, sum, product)
        });
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].steps.len(), 3);
        assert_eq!(found[0].within.len(), 1);
    }
}
