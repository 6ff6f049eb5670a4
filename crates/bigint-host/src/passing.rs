//! What the CPU computes of integers of any lengths where they stand, in one pass: sums,
//! differences, the lesser, the greater, orders, shifts, and the sum of a column.
//!
//! How long a result is, the top limbs of its operands tell, nearly always the topmost alone.
//! So every result has its place before it is computed ([`Column::filled`]), and none is moved.

use crate::column::{Column, trimmed};
use crate::expression::{Formula, Function, Term};
use crate::list::order;
use crate::pool::Pool;
use crate::{Engine, Error, Integers};
use bigint_core::operation::Signs;
use bigint_core::{LIMB_BITS, Limb, MAX_WIDTH, Operation};
use bigint_cpu::{Cpu, LIMB_WORK, map, signed_sum};
use std::cmp::Ordering;
use std::sync::Arc;

/// Numbers that a thread sums before it looks for more.
const MOST_OF_PART: usize = 1 << 13;

/// Magnitudes that are added to a total together.
const TOGETHER: usize = 4;

/// A magnitude without zeros on top, and whether it is negative.
pub(crate) type Number<'a> = (&'a [Limb], bool);

/// Whether an operation is computed in one pass over the rows.
pub(crate) fn passes(operation: Operation) -> bool {
    use Signs::{Difference, Greatest, Least, Order, Shifted, ShiftedFloor, Sum};
    let signs = operation.declaration().signs;
    matches!(
        signs,
        Sum | Difference | Least | Greatest | Order | Shifted | ShiftedFloor
    )
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

/// How two numbers compare.
#[inline]
fn compared((x, minus_x): Number<'_>, (y, minus_y): Number<'_>) -> Ordering {
    match (minus_x, minus_y) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => order(x, y),
        (true, true) => order(y, x),
    }
}

/// The limbs of `x + y`, and whether it is negative.
#[inline]
fn sum_length((x, minus_x): Number<'_>, (y, minus_y): Number<'_>) -> (usize, bool) {
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
    for i in 0..=top {
        let difference = i64::from(x[i]) - i64::from(limb(i)) - borrow;
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
fn write_sum(place: &mut [Limb], (x, minus_x): Number<'_>, (y, minus_y): Number<'_>) {
    let (long, short) = by_length(x, y);
    if long.len() > 2 && long.len() < 4 * short.len() {
        signed_sum(place, x, y, [minus_x, minus_y]);
        return;
    }
    let adds = minus_x == minus_y;
    if long.len() <= 2 {
        let word = |x: &[Limb]| {
            x.iter()
                .rev()
                .fold(0, |w, &limb| w << LIMB_BITS | i128::from(limb))
        };
        let (x, y) = (word(x), word(y));
        let mut sum = if adds { x + y } else { (x - y).abs() };
        for slot in place {
            *slot = sum as Limb;
            sum >>= LIMB_BITS;
        }
        return;
    }
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

/// A number of bits to shift by; more than there can be where it has several limbs.
fn count((bits, _): Number<'_>) -> usize {
    match bits {
        [] => 0,
        [bits] => *bits as usize,
        _ => usize::MAX,
    }
}

fn bit_length(x: &[Limb]) -> usize {
    let top = x.last().map_or(0, |top| top.leading_zeros() as usize);
    x.len() * LIMB_BITS - top
}

/// The limbs of `x 2^bits`.
fn shifted_length(x: &[Limb], bits: usize) -> usize {
    match x {
        [] => 0,
        _ => bit_length(x).saturating_add(bits).div_ceil(LIMB_BITS),
    }
}

/// Two neighbours in place, of which the higher gives its low bits.
#[inline]
fn joined(low: Limb, high: Limb, right: usize) -> Limb {
    ((u64::from(high) << LIMB_BITS | u64::from(low)) >> right) as Limb
}

fn shift_left(place: &mut [Limb], x: &[Limb], bits: usize) {
    let (whole, left) = (bits / LIMB_BITS, bits % LIMB_BITS);
    let [first, .., last] = x else {
        let wide = x.first().map_or(0, |&limb| u64::from(limb) << left);
        for (i, slot) in place.iter_mut().enumerate() {
            let at = i.wrapping_sub(whole);
            *slot = if at < 2 {
                (wide >> (LIMB_BITS * at)) as Limb
            } else {
                0
            };
        }
        return;
    };
    let (zeros, place) = place.split_at_mut(whole);
    zeros.fill(0);
    place[0] = first << left;
    let pairs = x.iter().zip(&x[1..]);
    for (slot, (&low, &high)) in place[1..].iter_mut().zip(pairs) {
        *slot = joined(low, high, LIMB_BITS - left);
    }
    if let Some(top) = place.get_mut(x.len()) {
        *top = joined(*last, 0, LIMB_BITS - left);
    }
}

/// `x / 2^bits`, rounded down: of the magnitude of a negative number, up.
struct Floor<'a> {
    /// What whole limbs leave.
    limbs: &'a [Limb],
    right: usize,
    is_up: bool,
}

impl<'a> Floor<'a> {
    #[inline]
    fn of((x, negative): Number<'a>, bits: usize) -> Self {
        let (cut, limbs) = x.split_at(x.len().min(bits / LIMB_BITS));
        let right = bits % LIMB_BITS;
        let is_odd = || {
            limbs
                .first()
                .is_some_and(|&low| low << 1 << (LIMB_BITS - 1 - right) != 0)
        };
        Floor {
            limbs,
            right,
            is_up: negative && (cut.iter().any(|&limb| limb != 0) || right > 0 && is_odd()),
        }
    }

    fn limb(&self, i: usize) -> Limb {
        joined(
            self.limbs[i],
            self.limbs.get(i + 1).copied().unwrap_or(0),
            self.right,
        )
    }

    #[inline]
    fn length(&self) -> usize {
        let bits = bit_length(self.limbs).saturating_sub(self.right);
        let length = bits.div_ceil(LIMB_BITS);
        // One more is longer where all bits are ones.
        let is_longer = self.is_up
            && bits.is_multiple_of(LIMB_BITS)
            && (0..length).rev().all(|i| self.limb(i) == Limb::MAX);
        length + usize::from(is_longer)
    }

    #[inline]
    fn write(&self, place: &mut [Limb]) {
        let pairs = self.limbs.iter().zip(self.limbs.iter().skip(1));
        for (slot, (&low, &high)) in place.iter_mut().zip(pairs) {
            *slot = joined(low, high, self.right);
        }
        if let Some(top) = self.limbs.len().checked_sub(1)
            && let Some(slot) = place.get_mut(top)
        {
            *slot = self.limb(top);
        }
        if let Some(above) = place.get_mut(self.limbs.len()) {
            *above = 0;
        }
        if self.is_up {
            for slot in place {
                *slot = slot.wrapping_add(1);
                if *slot != 0 {
                    break;
                }
            }
        }
    }
}

/// A column, or the one number that stands for all rows.
#[derive(Clone, Copy)]
struct Rows<'a> {
    column: &'a Column,
    step: usize,
}

impl<'a> Rows<'a> {
    fn of(integers: &'a Integers) -> Self {
        Rows {
            column: integers.column(),
            step: usize::from(integers.len() != 1),
        }
    }

    #[inline]
    fn number(self, row: usize) -> Number<'a> {
        let row = row * self.step;
        (self.column.magnitude(row), self.column.is_negative(row))
    }
}

/// Rows of two columns, one of which may be a number for all rows.
fn count_of(a: &Integers, b: &Integers) -> Result<usize, Error> {
    match (a.len(), b.len()) {
        (a, b) if a == b || b == 1 => Ok(a),
        (1, b) => Ok(b),
        (a, b) => Err(Error::CountMismatch { a, b }),
    }
}

/// Limbs of a row, about.
fn mean(columns: &[&Integers]) -> usize {
    let mean = |column: &&Integers| column.limbs().len() / column.len().max(1);
    columns.iter().map(mean).sum()
}

/// Puts the result of two numbers behind those of a column.
#[inline]
pub(crate) fn put(column: &mut Column, signs: Signs, x: Number<'_>, y: Number<'_>) {
    let (length, negative) = Pass(signs).length(x, y);
    let start = column.limbs.len();
    column.limbs.resize(start + length, 0);
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
    let (x, y) = (Rows::of(a), Rows::of(b));
    let pass = Pass(operation.declaration().signs);
    if let Signs::Shifted | Signs::ShiftedFloor = pass.0 {
        check_shifts(operation, x, y, b.len(), count)?;
    }
    let length = |row| pass.length(x.number(row), y.number(row));
    let fill = |row, place: &mut [Limb]| pass.fill(place, x.number(row), y.number(row));
    Ok(Column::filled(Some(pool), count, mean(&[a, b]), length, fill)?.into())
}

/// Refuses to shift by less than nothing, and beyond the widest number.
fn check_shifts(
    operation: Operation,
    x: Rows<'_>,
    bits: Rows<'_>,
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

/// How each number of `a` compares with that of `b`.
pub(crate) fn orders(a: &Integers, b: &Integers) -> Result<Vec<Ordering>, Error> {
    let count = count_of(a, b)?;
    let (x, y) = (Rows::of(a), Rows::of(b));
    let mut orders = bigint_cpu::with_capacity(count)?;
    orders.resize(count, Ordering::Equal);
    crate::limbs::each_number(&mut orders, 1, |row, order| {
        *order = compared(x.number(row), y.number(row));
    });
    Ok(orders)
}

/// Limb by limb the sum of magnitudes, which carries at the end: a limb of 64 bits holds the
/// sum of any 2^32 of 32.
#[derive(Default)]
struct Total<'a> {
    sums: Vec<u64>,
    /// What is not yet added.
    waiting: Vec<&'a [Limb]>,
}

impl<'a> Total<'a> {
    fn add(&mut self, magnitude: &'a [Limb]) -> Result<(), Error> {
        if let Some(more) = magnitude.len().checked_sub(self.sums.len()) {
            bigint_cpu::reserve(&mut self.sums, more)?;
            self.sums.resize(magnitude.len(), 0);
        }
        bigint_cpu::reserve(&mut self.waiting, TOGETHER)?;
        self.waiting.push(magnitude);
        let &[a, b, c, d] = &self.waiting[..] else {
            return Ok(());
        };
        let least = a.len().min(b.len()).min(c.len()).min(d.len());
        let pairs = a[..least].iter().zip(&b[..least]);
        let others = c[..least].iter().zip(&d[..least]);
        for (sum, ((&a, &b), (&c, &d))) in self.sums.iter_mut().zip(pairs.zip(others)) {
            *sum += u64::from(a) + u64::from(b) + u64::from(c) + u64::from(d);
        }
        self.add_waiting(least);
        Ok(())
    }

    /// Adds those that wait, from limb `from` on.
    fn add_waiting(&mut self, from: usize) {
        for magnitude in self.waiting.drain(..) {
            let limbs = magnitude[from..].iter();
            for (sum, &limb) in self.sums[from..].iter_mut().zip(limbs) {
                *sum += u64::from(limb);
            }
        }
    }

    fn carried(mut self) -> Result<Vec<Limb>, Error> {
        self.add_waiting(0);
        let mut limbs = bigint_cpu::with_capacity(self.sums.len() + 2)?;
        let mut carry = 0_u128;
        for &sum in self.sums.iter().chain(&[0, 0]) {
            carry += u128::from(sum);
            limbs.push(carry as Limb);
            carry >>= LIMB_BITS;
        }
        Ok(limbs)
    }
}

/// The sums of magnitudes, of numbers that are not negative and of the others.
fn totals<'a>(numbers: impl Iterator<Item = Number<'a>>) -> Result<[Vec<Limb>; 2], Error> {
    let mut totals = [Total::default(), Total::default()];
    for (magnitude, negative) in numbers {
        totals[usize::from(negative)].add(magnitude)?;
    }
    let [positive, negative] = totals;
    Ok([positive.carried()?, negative.carried()?])
}

/// The sum of all numbers, a column of one.
pub(crate) fn sum(a: &Integers) -> Result<Integers, Error> {
    let column = a.column();
    let sharing = Cpu::current().tuning().sharing;
    let work = LIMB_WORK * (mean(&[a]) + 1);
    let cut = sharing.cut(a.len(), work, MOST_OF_PART, 1);
    let starts = (0..a.len()).step_by(cut.size.max(1));
    let parts = map(starts, cut.threads, |start| {
        let rows = start..a.len().min(start + cut.size.max(1));
        totals(rows.map(|row| (column.magnitude(row), column.is_negative(row))))
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let numbers = |[positive, negative]: &'_ [Vec<Limb>; 2]| {
        [
            (trimmed(positive).to_vec(), false),
            (trimmed(negative).to_vec(), true),
        ]
    };
    let numbers: Vec<_> = parts.iter().flat_map(numbers).collect();
    let [positive, negative] = totals(numbers.iter().map(|(limbs, sign)| (&limbs[..], *sign)))?;
    let mut sum = Column::with_capacity(1, positive.len().max(negative.len()) + 1)?;
    put(
        &mut sum,
        Signs::Sum,
        (trimmed(&positive), false),
        (trimmed(&negative), true),
    );
    Ok(sum.into())
}

/// What a formula makes of columns, where each of its functions is computed in passing.
pub(crate) fn evaluated(
    engine: &Engine,
    formula: &Formula,
    inputs: &[Integers],
) -> Option<Result<Integers, Error>> {
    let is_passed = |function: Function| match function {
        Function::Operation(operation) => passes(operation),
        Function::Negate | Function::Absolute | Function::Sum => true,
        _ => false,
    };
    let evaluate = || {
        let mut values: Vec<Integers> = Vec::with_capacity(formula.terms.len());
        for term in &formula.terms {
            values.push(match term {
                Term::Input(input) => inputs[*input].clone(),
                Term::Apply(Function::Operation(operation), of) => {
                    let (a, b) = (&values[of[0]], &values[of[1]]);
                    computed(*operation, a, b, &engine.inner.pool)?
                }
                Term::Apply(Function::Sum, of) => sum(&values[of[0]])?,
                Term::Apply(function, of) => {
                    let mut value = values[of[0]].slice(0..values[of[0]].len())?;
                    let turns = *function == Function::Negate;
                    value.column_mut().sign_by(|_, negative| turns && !negative);
                    value
                }
            });
        }
        Ok(values.swap_remove(formula.root))
    };
    formula.functions().all(is_passed).then(evaluate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Terms;
    use crate::{Algorithm, BigInt};

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
        let orders = orders(&a, &b).unwrap();
        assert!((0..x.len()).all(|i| orders[i] == x[i].cmp(y[i])));
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
    fn a_sum_of_many_carries_at_its_end() {
        let most: BigInt = (BigInt::from(1) << 640) - 1;
        let numbers = |i: usize| match i % 5 {
            0 => -&most,
            1 => BigInt::ZERO,
            2 => BigInt::from(i as u64) << (i % 900),
            _ => most.clone(),
        };
        for count in [0, 1, 2, 7, 20_000] {
            let numbers: Vec<BigInt> = (0..count).map(numbers).collect();
            for sign in [1, -1] {
                let numbers: Vec<BigInt> = numbers.iter().map(|n| n * sign).collect();
                let column = Integers::from_bigints(&numbers).unwrap();
                let found = sum(&column).unwrap().to_bigints().unwrap();
                assert_eq!(found, [numbers.iter().sum::<BigInt>()], "{count} {sign}");
            }
        }
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
        let [x, y] = [[-7, 5, 0, i64::MIN], [3, 5, -9, i64::MAX]];
        let columns = [x, y].map(|x| x.map(BigInt::from));
        let columns = columns.map(|x| Integers::from_bigints(&x).unwrap());
        let evaluated = |part| {
            let formula = terms.formula(part, &[true, true]).unwrap();
            let found = evaluated(&engine, &formula, &columns)?;
            Some(found.unwrap().to_bigints().unwrap())
        };
        let expected = |i: usize| -i128::from(x[i].min(y[i])) - i128::from(y[i]);
        let differences = [0, 1, 2, 3].map(|i| BigInt::from(expected(i)));
        assert_eq!(evaluated(difference).unwrap(), differences);
        let sum = (0..4)
            .map(|i| BigInt::from(expected(i).abs()))
            .sum::<BigInt>();
        assert_eq!(evaluated(total).unwrap(), [sum]);
        assert!(evaluated(product).is_none());
        assert!(engine.passes() && !engine.using(Algorithm::Ripple).passes());
    }
}
