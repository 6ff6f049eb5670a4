//! What the CPU computes of integers of any lengths where they stand, in one pass: sums,
//! differences, the lesser, the greater and shifts.
//!
//! The top limbs of the operands, nearly always the topmost alone, show how long a result is.
//! So every result has its place before it is computed ([`Column::filled`]), and none is moved.
//! Products and quotients of [narrow] numbers, and all results of [short] ones, are put one behind
//! the other as they are computed.

use crate::common::pool::Pool;
use crate::expression::{Formula, Function, Term};
use crate::integers::list::{is_in_passing, order};
use crate::integers::narrow;
use crate::integers::shifts::{Floor, count, shift_left, shifted_length};
use crate::integers::short::{self, Rounding, length, signed};
use crate::integers::total::sum;
use crate::plan::{Explanation, Part};
use crate::values::column::Column;
use crate::{BackEnd, Engine, Error, Integers};
use bigint_core::operation::Signs;
use bigint_core::{Algorithm, LIMB_BITS, Limb, MAX_WIDTH, Operation};
use bigint_cpu::{signed_sum, threads};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A magnitude without zeros on top, and whether it is negative.
pub(crate) type Number<'a> = (&'a [Limb], bool);

/// Whether an operation is computed in one pass over the rows.
pub(crate) fn passes(operation: Operation) -> bool {
    let signs = operation.declaration().signs;
    is_in_passing(operation) || matches!(signs, Signs::Shifted | Signs::ShiftedFloor)
}

/// What one pass computes of two numbers.
#[derive(Clone, Copy)]
struct Pass(Signs);

impl Pass {
    /// The limbs of the result, and whether it is negative if it is not zero.
    #[inline]
    fn length(self, x: Number<'_>, y: Number<'_>) -> (usize, bool) {
        match self.0 {
            Signs::Order => {
                let order = compared(x, y);
                (usize::from(order.is_ne()), order.is_lt())
            }
            Signs::Least | Signs::Greatest => {
                let (magnitude, negative) = self.chosen(x, y);
                (magnitude.len(), negative)
            }
            Signs::Shifted => (shifted_length(x.0, count(y)), x.1),
            Signs::ShiftedFloor => (Floor::of(x, count(y)).length(), x.1),
            _ => sum_length(x, self.other(y)),
        }
    }

    /// Writes the magnitude, which is as long as its place.
    #[inline]
    fn fill(self, place: &mut [Limb], x: Number<'_>, y: Number<'_>) {
        match self.0 {
            Signs::Order => place.fill(1),
            Signs::Least | Signs::Greatest => place.copy_from_slice(self.chosen(x, y).0),
            Signs::Shifted => shift_left(place, x.0, count(y)),
            Signs::ShiftedFloor => Floor::of(x, count(y)).write(place),
            _ => write_sum(place, x, self.other(y)),
        }
    }

    /// The second number of the sum that it is.
    fn other(self, (y, minus_y): Number<'_>) -> Number<'_> {
        (y, minus_y != (self.0 == Signs::Difference))
    }

    fn chosen<'n>(self, x: Number<'n>, y: Number<'n>) -> Number<'n> {
        match compared(x, y).is_lt() == (self.0 == Signs::Least) {
            true => x,
            false => y,
        }
    }
}

/// Whether both numbers are of 64 bits: of those nothing is looked at limb by limb.
#[inline]
fn are_short(x: &[Limb], y: &[Limb]) -> bool {
    x.len() <= 2 && y.len() <= 2
}

#[inline]
fn write_short(place: &mut [Limb], mut word: u128) {
    for slot in place {
        *slot = word as Limb;
        word >>= LIMB_BITS;
    }
}

/// How two numbers compare.
#[inline]
pub(crate) fn compared((x, minus_x): Number<'_>, (y, minus_y): Number<'_>) -> Ordering {
    match (minus_x, minus_y) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => order(x, y),
        (true, true) => order(y, x),
    }
}

/// The limbs of `x + y`, and whether it is negative.
#[inline]
fn sum_length(x: Number<'_>, y: Number<'_>) -> (usize, bool) {
    if are_short(x.0, y.0) {
        let sum = signed(x) + signed(y);
        return (length(sum.unsigned_abs()), sum < 0);
    }
    let ((x, minus_x), (y, minus_y)) = (x, y);
    if minus_x == minus_y {
        return (length_of_sum(x, y), minus_x);
    }
    match order(x, y) {
        Ordering::Less => (length_of_difference(y, x), minus_y),
        _ => (length_of_difference(x, y), minus_x),
    }
}

/// The limbs of a sum of magnitudes: the first pair of limbs from the top whose sum is not all
/// ones tells whether there is a carry.
#[inline]
fn length_of_sum(x: &[Limb], y: &[Limb]) -> usize {
    let (long, short) = by_length(x, y);
    let limb = |i: usize| short.get(i).map_or(0, |&limb| u64::from(limb));
    for (i, &top) in long.iter().enumerate().rev() {
        match (u64::from(top) + limb(i)).cmp(&u64::from(Limb::MAX)) {
            Ordering::Less => return long.len(),
            Ordering::Greater => return long.len() + 1,
            Ordering::Equal => {}
        }
    }
    long.len()
}

/// The limbs of a difference of magnitudes, the first of which is not the lesser.
#[inline]
fn length_of_difference(x: &[Limb], y: &[Limb]) -> usize {
    let limb = |i: usize| y.get(i).copied().unwrap_or(0);
    let differ = |&i: &usize| x[i] != limb(i);
    let Some(top) = (0..x.len()).rev().find(differ) else {
        return 0;
    };
    if x[top] - limb(top) > 1 {
        return top + 1;
    }
    // What is borrowed from below takes it away.
    let (mut borrow, mut length) = (0, 0);
    for (i, &greater) in x[..=top].iter().enumerate() {
        let difference = i64::from(greater) - i64::from(limb(i)) - borrow;
        borrow = i64::from(difference < 0);
        if difference as Limb != 0 {
            length = i + 1;
        }
    }
    length
}

fn by_length<'n>(x: &'n [Limb], y: &'n [Limb]) -> (&'n [Limb], &'n [Limb]) {
    match x.len() >= y.len() {
        true => (x, y),
        false => (y, x),
    }
}

/// Writes `|x + y|`.
#[inline]
fn write_sum(place: &mut [Limb], x: Number<'_>, y: Number<'_>) {
    if are_short(x.0, y.0) {
        return write_short(place, (signed(x) + signed(y)).unsigned_abs());
    }
    let ((x, minus_x), (y, minus_y)) = (x, y);
    let (long, short) = by_length(x, y);
    if long.len() < 4 * short.len() {
        signed_sum(place, x, y, [minus_x, minus_y]);
        return;
    }
    let adds = minus_x == minus_y;
    // The greater but for its low limbs, and for what is carried out of those.
    let kept = place.len().min(long.len());
    place[..kept].copy_from_slice(&long[..kept]);
    place[kept..].fill(0);
    let mut carry = 0;
    for (i, slot) in place.iter_mut().enumerate() {
        let limb = short.get(i).map_or(0, |&limb| i64::from(limb)) + carry;
        if limb == 0 && i >= short.len() {
            break;
        }
        let sum = i64::from(*slot) + if adds { limb } else { -limb };
        *slot = sum as Limb;
        carry = i64::from(sum < 0 || sum > i64::from(Limb::MAX));
    }
}

/// A column, or the one number that stands for all rows.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    column: &'a Column,
    /// All ones, or zero where one number stands for all rows.
    mask: usize,
}

impl<'a> Operand<'a> {
    pub fn of(integers: &'a Integers) -> Self {
        Operand {
            column: integers.column(),
            mask: if integers.len() == 1 { 0 } else { usize::MAX },
        }
    }

    /// The limbs that these rows have together.
    pub fn limbs(self, rows: Range<usize>) -> usize {
        match self.mask {
            0 => rows.len() * self.column.limbs.len(),
            _ => {
                let ends = &self.column.offsets[rows.start..=rows.end];
                (ends[rows.len()] - ends[0]) as usize / size_of::<Limb>()
            }
        }
    }

    #[inline]
    pub fn number(self, row: usize) -> Number<'a> {
        self.column.number(row & self.mask)
    }
}

/// How many rows two columns have, one of which may be a number for all rows.
pub(crate) fn count_of(a: &Integers, b: &Integers) -> Result<usize, Error> {
    match (a.len(), b.len()) {
        (a, b) if a == b || b == 1 => Ok(a),
        (1, b) => Ok(b),
        (a, b) => Err(Error::CountMismatch { a, b }),
    }
}

/// How many rows three columns have, each of which may be a number for all rows.
pub(crate) fn count_of_three([a, b, c]: [&Integers; 3]) -> Result<usize, Error> {
    let both = count_of(a, b)?;
    match (both, c.len()) {
        (1, count) | (count, 1) => Ok(count),
        (a, b) if a == b => Ok(a),
        (a, b) => Err(Error::CountMismatch { a, b }),
    }
}

/// Refuses a divisor that is zero.
pub(crate) fn refuse_zeros(divisors: Operand<'_>, count: usize) -> Result<(), Error> {
    let ends = divisors.column.offsets.windows(2);
    match ends.take(count).position(|ends| ends[0] == ends[1]) {
        Some(index) => Err(Error::ZeroDivisor { index }),
        None => Ok(()),
    }
}

/// Limbs of a row, about.
pub(crate) fn mean(columns: &[&Integers]) -> usize {
    let mean = |column: &&Integers| column.limbs().len() / column.len().max(1);
    columns.iter().map(mean).sum()
}

/// Puts the result of two numbers behind those of a column.
#[inline]
pub(crate) fn put(column: &mut Column, signs: Signs, x: Number<'_>, y: Number<'_>) {
    let (length, negative) = Pass(signs).length(x, y);
    let start = column.limbs.len();
    column.limbs.own().resize(start + length, 0);
    Pass(signs).fill(&mut column.limbs[start..], x, y);
    column.end_number(negative);
}

/// An operation that [`passes`], row by row.
pub(crate) fn computed(
    operation: Operation,
    a: &Integers,
    b: &Integers,
    pool: &Arc<Pool>,
) -> Result<Integers, Error> {
    let count = count_of(a, b)?;
    let (x, y) = (Operand::of(a), Operand::of(b));
    let pass = Pass(operation.declaration().signs);
    if let Signs::Shifted | Signs::ShiftedFloor = pass.0 {
        check_shifts(operation, x, y, b.len(), count)?;
    }
    if short::are_short(&[a, b])
        && let Some(computed) = short::computed(pass.0, a, b)
    {
        return computed;
    }
    let length = |row| pass.length(x.number(row), y.number(row));
    let fill = |row, place: &mut [Limb]| pass.fill(place, x.number(row), y.number(row));
    Ok(Column::filled(Some(pool), count, mean(&[a, b]), length, fill)?.into())
}

/// Refuses to shift by less than nothing, and beyond the widest number.
fn check_shifts(
    operation: Operation,
    x: Operand<'_>,
    bits: Operand<'_>,
    bit_counts: usize,
    count_of_rows: usize,
) -> Result<(), Error> {
    if let Some(index) = (0..bit_counts).find(|&index| bits.number(index).1) {
        return Err(Error::Negative {
            operation,
            operand: operation.declaration().operands[1],
            index,
        });
    }
    let length = |row| match operation {
        Operation::Shl => shifted_length(x.number(row).0, count(bits.number(row))),
        _ => 0,
    };
    match (0..count_of_rows).map(length).max() {
        Some(width) if width > MAX_WIDTH => Err(Error::Width { width }),
        _ => Ok(()),
    }
}

/// Whether an operation has a form of its own for [narrow] numbers: products and quotients do.
fn has_narrow_form(operation: Operation) -> bool {
    use Operation::{Div, Mul, MulAdd, Rem, Square};
    matches!(operation, Mul | Square | MulAdd | Div | Rem)
}

/// Whether numbers of so many limbs are [narrow] enough for it.
fn is_narrow(operation: Operation, widths: &[usize]) -> bool {
    use Operation::{Div, Rem};
    match (operation, widths) {
        (Div | Rem, &[dividend, divisor]) => narrow::divides(dividend, divisor),
        (_, factors) => narrow::multiplies(&factors[..factors.len().min(2)]),
    }
}

/// Whether an operation is computed in passing of these columns.
pub(crate) fn takes(operation: Operation, operands: &[&Integers]) -> bool {
    // Of most operations nobody has to look at the numbers.
    let longest = || operands.iter().map(|column| short::longest(column));
    passes(operation)
        || has_narrow_form(operation) && is_narrow(operation, &longest().collect::<Vec<_>>())
}

/// Whether all functions of a formula are computed in passing: products and quotients are where
/// numbers are [narrow], which the widths of the inputs decide.
fn are_passed(formula: &Formula, inputs: &[Integers]) -> bool {
    use Operation::{Rem, Shl};
    // Of others nobody has to look at the numbers.
    let looks_at_widths = formula.terms.iter().any(|term| match term {
        Term::Apply(Function::Operation(operation), _) => has_narrow_form(*operation),
        _ => false,
    });
    let mut widths: Vec<usize> = Vec::with_capacity(formula.terms.len());
    for term in &formula.terms {
        let width = match term {
            Term::Input(input) if looks_at_widths => short::longest(&inputs[*input]),
            Term::Input(_) => 0,
            Term::Apply(function, of) => {
                let of: Vec<usize> = of.iter().map(|&operand| widths[operand]).collect();
                let longest = of.iter().copied().max().unwrap_or(0);
                match *function {
                    Function::Operation(operation) if has_narrow_form(operation) => {
                        if !is_narrow(operation, &of) {
                            return false;
                        }
                        match operation {
                            // `3 % -m` is `3 - m`: rounded down, it may be longer than the dividend.
                            Rem => of[1],
                            _ => operation.exact_width(&of),
                        }
                    }
                    // Nobody knows by how many bits.
                    Function::Operation(Shl) => MAX_WIDTH,
                    Function::Operation(operation) if passes(operation) => {
                        longest.saturating_add(1)
                    }
                    Function::Negate | Function::Absolute => longest,
                    // Of fewer numbers than two limbs count.
                    Function::Sum => longest.saturating_add(2),
                    _ => return false,
                }
            }
        };
        widths.push(width);
    }
    true
}

/// What a formula makes of columns, where each of its functions is computed in passing; `note` is
/// given the result of each operation, with its name and the moment at which it began. An error
/// comes with the number of the term that it is about.
pub(crate) fn evaluated(
    engine: &Engine,
    formula: &Formula,
    inputs: &[Integers],
    note: &mut dyn FnMut(&'static str, &Integers, Instant),
) -> Option<Result<Integers, (usize, Error)>> {
    let pool = &engine.inner.pool;
    let evaluate = || {
        let last_uses = formula.last_uses();
        let mut values: Vec<Option<Integers>> = vec![None; formula.terms.len()];
        for (at, term) in formula.terms.iter().enumerate() {
            let value = |operand: usize| {
                let value: &Option<Integers> = &values[operand];
                value.as_ref().expect("operands stay to their last use")
            };
            let computed = match term {
                Term::Input(input) => Ok(inputs[*input].clone()),
                Term::Apply(function, of) => {
                    let (started, first) = (Instant::now(), value(of[0]));
                    let computed = match *function {
                        Function::Operation(operation) => {
                            let operands: Vec<_> = of.iter().map(|&of| value(of)).collect();
                            explain(engine, operation, &operands);
                            operated(operation, &operands, pool)
                        }
                        Function::Sum => sum(first),
                        turn => first.slice(0..first.len()).map(|mut turned| {
                            let turns = turn == Function::Negate;
                            let column = turned.column_mut();
                            column.sign_by(|_, negative| turns && !negative);
                            turned
                        }),
                    };
                    computed.inspect(|computed| note(function.name(), computed, started))
                }
            };
            values[at] = Some(computed.map_err(|error| (at, error))?);
            for &operand in &last_uses[at] {
                values[operand] = None;
            }
        }
        let result = values[formula.root].take();
        Ok(result.expect("the root is a term"))
    };
    are_passed(formula, inputs).then(evaluate)
}

/// Notes how an operation is computed, if that is wanted.
fn explain(engine: &Engine, operation: Operation, operands: &[&Integers]) {
    let choices = &engine.inner.choices;
    if !choices.is_wanted() {
        return;
    }
    let who = match passes(operation) {
        true => "who: in one pass over the numbers where they stand",
        false => "who: one after another where they stand, as the numbers are short",
    };
    let count = operands.iter().map(|column| column.len()).max();
    let count = count.unwrap_or(0);
    let part = Part {
        back_end: BackEnd::Cpu,
        count,
        algorithm: Algorithm::Auto,
        level: None,
        launches: format!("on {} threads", threads()),
        why: vec![who.to_owned()],
    };
    let explanation = Explanation {
        operation: Some(operation),
        widths: operands
            .iter()
            .map(|column| short::longest(column))
            .collect(),
        count,
        parts: vec![part],
    };
    choices.note(explanation.to_string());
}

/// What an operation that [`passes`], or that is [narrow], makes of columns.
pub(crate) fn operated(
    operation: Operation,
    operands: &[&Integers],
    pool: &Arc<Pool>,
) -> Result<Integers, Error> {
    match (operation, operands) {
        (Operation::Square, &[a]) => product([a, a], None),
        (Operation::Mul, &[a, b]) => product([a, b], None),
        (Operation::MulAdd, &[a, b, c]) => product([a, b], Some(c)),
        (Operation::Div, &[a, b]) => {
            let [quotients, _] = narrow::divided(a, b, Rounding::Floor)?;
            Ok(quotients)
        }
        (Operation::Rem, &[a, b]) => {
            let [_, remainders] = narrow::divided(a, b, Rounding::Floor)?;
            Ok(remainders)
        }
        (operation, &[a, b]) => computed(operation, a, b, pool),
        (operation, operands) => Err(Error::Operands {
            operation,
            found: operands.len(),
        }),
    }
}

/// `a b`, or `a b + c`, of numbers that are [narrow].
fn product([a, b]: [&Integers; 2], c: Option<&Integers>) -> Result<Integers, Error> {
    let short = match c {
        _ if !short::are_short(&[a, b]) => None,
        None => short::computed(Signs::Product, a, b),
        Some(c) => short::are_short(&[c]).then(|| short::mul_add([a, b, c])),
    };
    short.unwrap_or_else(|| narrow::products([a, b], c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BigInt;
    use crate::expression::Terms;
    use num_integer::Integer;

    /// Zero, and numbers around powers of two, whose sums are longer or far shorter than they are.
    fn numbers() -> Vec<BigInt> {
        let mut numbers = vec![BigInt::ZERO];
        for bits in [0, 1, 31, 32, 33, 63, 64, 65, 96, 128, 320, 352, 1000] {
            for near in [-1, 0, 1] {
                let number: BigInt = (BigInt::from(1) << bits) + near;
                numbers.extend([-&number, number]);
            }
        }
        numbers
    }

    #[test]
    fn results_have_the_length_that_was_foreseen() {
        let engine = Engine::cpu();
        let numbers = numbers();
        let pairs = || {
            numbers
                .iter()
                .flat_map(|x| numbers.iter().map(move |y| (x, y)))
        };
        let [x, y] = [
            pairs().map(|pair| pair.0).collect(),
            pairs().map(|pair| pair.1).collect(),
        ];
        let [x, y]: [Vec<&BigInt>; 2] = [x, y];
        let column = |numbers: &[&BigInt]| numbers.iter().map(|&n| n.clone()).collect::<Integers>();
        let (a, b) = (column(&x), column(&y));
        let check = |operation, b: &Integers, expected: &dyn Fn(usize) -> BigInt| {
            let found = computed(operation, &a, b, &engine.inner.pool).unwrap();
            for (i, found) in found.iter().enumerate() {
                assert_eq!(found, expected(i), "{} {} {}", operation.name(), x[i], y[i]);
            }
            // One way to write each.
            let (limbs, offsets, signs) = found.into_parts();
            Integers::from_parts(limbs, offsets, signs).unwrap();
        };
        check(Operation::Add, &b, &|i| x[i] + y[i]);
        check(Operation::Sub, &b, &|i| x[i] - y[i]);
        check(Operation::Min, &b, &|i| x[i].min(y[i]).clone());
        check(Operation::Max, &b, &|i| x[i].max(y[i]).clone());
        check(Operation::Compare, &b, &|i| {
            BigInt::from(x[i].cmp(y[i]) as i8)
        });
        for bits in [0_u32, 1, 31, 32, 33, 64, 100, 353, 1001, 3000] {
            let by: Integers = [BigInt::from(bits)].into_iter().collect();
            check(Operation::Shl, &by, &|i| x[i] << bits);
            check(Operation::Shr, &by, &|i| x[i] >> bits);
        }
        let found = crate::integers::orders::orders(&a, &b).unwrap();
        assert!((0..x.len()).all(|i| found[i] == x[i].cmp(y[i])));
        // Columns that end within a group, and parts that begin in one.
        for end in 0..20 {
            let [a, b] = [&a, &b].map(|column| column.slice(3..3 + end).unwrap());
            let expected: Vec<_> = (3..3 + end).map(|i| x[i].cmp(y[i])).collect();
            assert_eq!(crate::integers::orders::orders(&a, &b).unwrap(), expected);
        }
    }

    #[test]
    fn shifts_that_mean_nothing_are_refused_by_their_row() {
        let engine = Engine::cpu();
        let column = |numbers: &[i64]| numbers.iter().map(|&n| BigInt::from(n)).collect();
        let shift = |operation, a: &[i64], bits: &[i64]| {
            computed(operation, &column(a), &column(bits), &engine.inner.pool)
        };
        let refused = shift(Operation::Shr, &[1, 2, 3], &[0, 5, -1]).unwrap_err();
        assert!(
            matches!(refused, Error::Negative { index: 2, .. }),
            "{refused}"
        );
        let refused = shift(Operation::Shl, &[0, 1], &[1 << 60]).unwrap_err();
        assert!(matches!(refused, Error::Width { .. }), "{refused}");
        let found = shift(Operation::Shl, &[0], &[1 << 60]).unwrap();
        assert_eq!(found.get(0), Some(BigInt::ZERO));
        let found = shift(Operation::Shr, &[-5, 5], &[1 << 60]).unwrap();
        assert_eq!(found.to_bigints().unwrap(), [-1, 0].map(BigInt::from));
    }

    #[test]
    fn what_passes_compute_makes_no_batch() {
        let engine = Engine::cpu();
        let mut terms = Terms::default();
        let (a, b) = (terms.input(0), terms.input(1));
        let function = Function::Operation;
        let less = terms.apply(function(Operation::Min), &[a, b]);
        let turned = terms.apply(Function::Negate, &[less]);
        let difference = terms.apply(function(Operation::Sub), &[turned, b]);
        let magnitude = terms.apply(Function::Absolute, &[difference]);
        let total = terms.apply(Function::Sum, &[magnitude]);
        let product = terms.apply(function(Operation::Mul), &[a, b]);
        let square = terms.apply(function(Operation::Mul), &[a, a]);
        let [x, y] = [[-7, 5, 0, i64::MIN], [3, 5, -9, i64::MAX]];
        let columns = [x, y].map(|x| x.map(BigInt::from));
        let columns = columns.map(|x| Integers::from_bigints(&x).unwrap());
        let evaluated = |part| {
            let formula = terms.formula(part, &[true, true]).unwrap();
            let found = evaluated(&engine, &formula, &columns, &mut |_, _, _| ())?;
            Some(found.unwrap().to_bigints().unwrap())
        };
        let expected = |i: usize| -i128::from(x[i].min(y[i])) - i128::from(y[i]);
        let differences = [0, 1, 2, 3].map(|i| BigInt::from(expected(i)));
        assert_eq!(evaluated(difference).unwrap(), differences);
        let sum = (0..4)
            .map(|i| BigInt::from(expected(i).abs()))
            .sum::<BigInt>();
        assert_eq!(evaluated(total).unwrap(), [sum]);
        let product_of = |x: i64, y: i64| BigInt::from(i128::from(x) * i128::from(y));
        let products = [0, 1, 2, 3].map(|i| product_of(x[i], y[i]));
        assert_eq!(evaluated(product).unwrap(), products);
        assert_eq!(evaluated(square).unwrap(), x.map(|x| product_of(x, x)));
        let wide = [BigInt::from(-3) << 64].into_iter().collect::<Integers>();
        assert!(!short::are_short(&[&columns[0], &wide]));
        assert!(engine.passes() && !engine.using(Algorithm::Ripple).passes());
    }

    #[test]
    fn formulas_of_narrow_numbers_make_no_batch() {
        let engine = Engine::cpu();
        let mut terms = Terms::default();
        let (a, b) = (terms.input(0), terms.input(1));
        let function = Function::Operation;
        let product = terms.apply(function(Operation::Mul), &[a, b]);
        let sum = terms.apply(function(Operation::Add), &[product, b]);
        let quotient = terms.apply(function(Operation::Div), &[sum, b]);
        let rest = terms.apply(function(Operation::Rem), &[quotient, b]);
        let formula = terms.formula(rest, &[true, true]).unwrap();
        let is_passed = |bits: usize| {
            let of = |numbers: &[BigInt]| Integers::from_bigints(numbers).unwrap();
            // No divisor is wide: lanes may divide those.
            let [x, y] =
                [bits, 96].map(|bits| vec![(BigInt::from(1) << bits) - 1, BigInt::from(-3)]);
            let found = evaluated(&engine, &formula, &[of(&x), of(&y)], &mut |_, _, _| ())?;
            let expected = |i: usize| (&x[i] * &y[i] + &y[i]).div_floor(&y[i]).mod_floor(&y[i]);
            assert_eq!(
                found.unwrap().to_bigints().unwrap(),
                [expected(0), expected(1)]
            );
            Some(())
        };
        assert_eq!([64, 640, 1000].map(is_passed), [Some(()); 3]);
        assert_eq!(is_passed(2048), None);
    }

    #[test]
    fn a_remainder_of_a_negative_divisor_is_as_long_as_the_divisor() {
        let engine = Engine::cpu();
        let mut terms = Terms::default();
        let [a, b, c] = [0, 1, 2].map(|input| terms.input(input));
        let function = Function::Operation;
        let rest = terms.apply(function(Operation::Rem), &[a, b]);
        let product = terms.apply(function(Operation::Mul), &[rest, c]);
        let again = terms.apply(function(Operation::Mul), &[product, a]);
        let formula = terms.formula(again, &[true; 3]).unwrap();
        let [x, y, z] = [
            BigInt::from(3),
            BigInt::from(-1) << 127,
            (BigInt::from(1) << 960) - 1,
        ];
        let expected = x.mod_floor(&y) * &z * &x;
        let inputs = [x, y, z].map(|number| Integers::from_bigints(&[number]).unwrap());
        // The last product has a factor of 34 limbs, for which there is no room.
        assert!(evaluated(&engine, &formula, &inputs, &mut |_, _, _| ()).is_none());
        let [x, y, z] = &inputs;
        let rest = crate::Expression::apply(Operation::Rem, [x.into(), y.into()]);
        assert_eq!(engine.eval(&(rest * z * x)).unwrap().get(0), Some(expected));
    }
}
