//! Operations on short numbers on the CPU, word by word in one pass: the only work for each row is the
//! word's own arithmetic.

use crate::integers::passing::{Number, Operand, count_of, count_of_three, refuse_zeros};
use crate::values::column::{Column, Packer, SIGNS_OF_BYTE as GROUP, each_group};
use crate::{Error, Integers};
use bigint_core::operation::Signs;
use bigint_core::{LIMB_BITS, Limb};

/// Limbs of the widest number that a word holds.
const WORD_LIMBS: usize = 4;

/// Limbs of numbers whose sums, products and sums of products are words.
const HALF_LIMBS: usize = 2;

/// A magnitude, and whether it is negative where it is not zero.
type Word = (u128, bool);

/// The ways in which a quotient is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// Down: the remainder has the divisor's sign.
    Floor,
    /// Towards zero: the remainder has the dividend's sign.
    Truncated,
    /// So that the remainder is not negative.
    Euclid,
}

/// Whether no number of the column has more limbs than that.
pub(crate) fn are_within(column: &Integers, limbs: usize) -> bool {
    if column.limbs().len() > limbs * column.len() {
        return false;
    }
    let most = (limbs * size_of::<Limb>()) as i64;
    let offsets = column.offsets();
    let ends = offsets.iter().zip(&offsets[1..]);
    // The sign of what is left, of all together: a loop that ends early is no vector's.
    let left = ends.fold(0, |left, (start, end)| left | (most - (end - start)));
    left >= 0
}

/// The limbs of the longest number of a column.
pub(crate) fn longest(column: &Integers) -> usize {
    let lengths = column.offsets().windows(2).map(|ends| ends[1] - ends[0]);
    lengths.max().unwrap_or(0) as usize / size_of::<Limb>()
}

/// Whether all numbers have 64 bits at most.
pub(crate) fn are_short(columns: &[&Integers]) -> bool {
    columns.iter().all(|column| are_within(column, HALF_LIMBS))
}

/// A number of 64 bits.
#[inline]
pub(crate) fn signed((x, negative): Number<'_>) -> i128 {
    let word = i128::from(match *x {
        [] => 0,
        [low] => u64::from(low),
        [low, high, ..] => u64::from(high) << LIMB_BITS | u64::from(low),
    });
    if negative { -word } else { word }
}

#[inline]
fn split(word: i128) -> Word {
    (word.unsigned_abs(), word < 0)
}

#[inline]
fn product([x, y]: [Short; 2]) -> Word {
    (
        u128::from(x.magnitude) * u128::from(y.magnitude),
        x.negative != y.negative,
    )
}

/// A sum whose magnitude is a word.
#[inline]
fn sum((x, minus_x): Word, (y, minus_y): Word) -> Word {
    match minus_x == minus_y {
        true => (x + y, minus_x),
        false if x < y => (y - x, minus_y),
        false => (x - y, minus_x),
    }
}

/// The limbs of a word.
#[inline]
pub(crate) fn length(word: u128) -> usize {
    let (low, high) = (word as u64, (word >> 64) as u64);
    let limbs = |half: u64| usize::from(half != 0) + usize::from(half >> LIMB_BITS != 0);
    match high {
        0 => limbs(low),
        _ => HALF_LIMBS + limbs(high),
    }
}

/// Numbers of 64 bits that stand side by side: their magnitudes, and bit by bit which are negative.
#[derive(Clone, Copy)]
struct Group {
    magnitudes: [u64; GROUP],
    signs: u8,
}

impl Group {
    const ZEROS: Group = Group {
        magnitudes: [0; GROUP],
        signs: 0,
    };

    /// The numbers that end where `ends` says, but for the first, where they begin.
    #[inline(always)]
    fn read(limbs: &[Limb], ends: &[i64], signs: u8) -> Self {
        let mut magnitudes = [0; GROUP];
        let first = ends[0] as usize / size_of::<Limb>();
        if let &[start, .., end] = ends
            && end - start == size_of::<[u64; GROUP]>() as i64
            && let Some(limbs) = limbs[first..].first_chunk::<{ HALF_LIMBS * GROUP }>()
        {
            // None has less than all its limbs.
            for (at, magnitude) in magnitudes.iter_mut().enumerate() {
                let [low, high] = [limbs[2 * at], limbs[2 * at + 1]];
                *magnitude = u64::from(high) << LIMB_BITS | u64::from(low);
            }
            return Group { magnitudes, signs };
        }
        for (magnitude, ends) in magnitudes.iter_mut().zip(ends.windows(2)) {
            let start = ends[0] as usize / size_of::<Limb>();
            let length = (ends[1] - ends[0]) as usize / size_of::<Limb>();
            *magnitude = match limbs.get(start..start + HALF_LIMBS) {
                Some(&[low, high]) if length == HALF_LIMBS => {
                    u64::from(high) << LIMB_BITS | u64::from(low)
                }
                _ if length == 0 => 0,
                _ => limbs[start].into(),
            };
        }
        Group { magnitudes, signs }
    }

    #[inline(always)]
    fn number(&self, at: usize) -> Short {
        Short {
            magnitude: self.magnitudes[at],
            negative: self.signs >> at & 1 == 1,
        }
    }
}

/// A number of 64 bits.
#[derive(Clone, Copy)]
struct Short {
    magnitude: u64,
    negative: bool,
}

impl Short {
    const ZERO: Short = Short {
        magnitude: 0,
        negative: false,
    };

    #[inline(always)]
    fn signed(self) -> i128 {
        let word = i128::from(self.magnitude);
        if self.negative { -word } else { word }
    }

    #[inline(always)]
    fn word(self) -> Word {
        (self.magnitude.into(), self.negative)
    }
}

/// A column of [short](are_short) numbers, or the one that stands for all rows.
struct Groups<'a> {
    column: &'a Column,
    one: Option<Group>,
}

impl<'a> Groups<'a> {
    fn of(integers: &'a Integers) -> Self {
        let column = integers.column();
        let all = || Group {
            magnitudes: [signed((column.magnitude(0), false)) as u64; GROUP],
            signs: if column.is_negative(0) { u8::MAX } else { 0 },
        };
        Groups {
            column,
            one: (column.len() == 1).then(all),
        }
    }

    /// The numbers of rows `GROUP * group ..`, and zeros behind the last row.
    #[inline(always)]
    fn group(&self, group: usize) -> Group {
        if let Some(one) = self.one {
            return one;
        }
        let (limbs, signs) = (&self.column.limbs[..], self.column.signs[group]);
        let ends = &self.column.offsets[GROUP * group..];
        match ends.first_chunk::<{ GROUP + 1 }>() {
            Some(ends) => Group::read(limbs, ends, signs),
            None => Group::read(limbs, ends, signs),
        }
    }
}

/// Puts the words of a group behind those of a column that is being made.
#[inline(always)]
fn put(made: &mut Packer, count: usize, word: impl Fn(usize) -> Word) {
    made.put(count, |at, place| {
        let (word, negative) = word(at);
        let (low, high) = (word as u64, (word >> 64) as u64);
        let upper = |half: u64| (half >> LIMB_BITS) as Limb;
        let place = place.first_chunk_mut().expect("every word has room");
        *place = [low as Limb, upper(low), high as Limb, upper(high)];
        (length(word), negative)
    });
}

/// Columns of the words that `put` makes of each group of rows: of its number, and how many rows
/// it has.
fn columns<const N: usize>(
    count: usize,
    put: impl Fn(&mut [Packer; N], usize, usize) + Sync,
) -> Result<[Integers; N], Error> {
    let columns = Column::gathered(count, 2 * WORD_LIMBS, |rows| {
        let columns = [(); N].map(|()| Packer::new(rows.len(), WORD_LIMBS * rows.len()));
        let mut made = Vec::with_capacity(N);
        for column in columns {
            made.push(column?);
        }
        let Ok(mut columns) = <[Packer; N]>::try_from(made) else {
            unreachable!("as many were made");
        };
        each_group(rows, |group, rows| put(&mut columns, group, rows));
        Ok(columns.into_iter().map(Packer::column).collect())
    })?;
    let columns: Vec<Integers> = columns.into_iter().map(Integers::from).collect();
    Ok(columns
        .try_into()
        .unwrap_or_else(|_| [(); N].map(|()| Integers::new())))
}

/// Calls `word` for each row of columns of [short](are_short) numbers, and returns its results as a column.
fn rowwise<const N: usize>(
    count: usize,
    operands: [&Integers; N],
    word: impl Fn([Short; N]) -> Word + Sync,
) -> Result<Integers, Error> {
    let operands = operands.map(Groups::of);
    let [made] = columns(count, |[made], group, rows| {
        let mut groups = [Group::ZEROS; N];
        for (of_group, operand) in groups.iter_mut().zip(&operands) {
            *of_group = operand.group(group);
        }
        put(made, rows, |at| {
            let mut numbers = [Short::ZERO; N];
            for (number, group) in numbers.iter_mut().zip(&groups) {
                *number = group.number(at);
            }
            word(numbers)
        });
    })?;
    Ok(made)
}

/// Calls `word` for each row of two columns of [short](are_short) numbers, and returns its results as a
/// column.
fn pairwise(
    a: &Integers,
    b: &Integers,
    word: impl Fn(i128, i128) -> Word + Sync,
) -> Result<Integers, Error> {
    let count = count_of(a, b)?;
    rowwise(count, [a, b], |[x, y]| word(x.signed(), y.signed()))
}

/// The lesser of each two numbers, or the greater: eight rows at a time, by bytes that have a bit for
/// each row.
fn chosen(a: &Integers, b: &Integers, is_least: bool) -> Result<Integers, Error> {
    let count = count_of(a, b)?;
    let (x, y) = (Groups::of(a), Groups::of(b));
    let [made] = columns(count, |[made], group, rows| {
        let (x, y) = (x.group(group), y.group(group));
        let mut less = 0_u8;
        for (at, (x, y)) in x.magnitudes.iter().zip(&y.magnitudes).enumerate() {
            less |= u8::from(x < y) << at;
        }
        // Where signs differ the numbers are not both zero, and the negative one is less.
        let alike = !(x.signs ^ y.signs);
        let is_less = less & alike ^ x.signs;
        let first = if is_least { is_less } else { !is_less };
        let signs = first & x.signs | !first & y.signs;
        made.put_signed(rows, signs, |at, place| {
            let chosen = if first >> at & 1 == 1 { &x } else { &y };
            let word = chosen.magnitudes[at];
            let place = place.first_chunk_mut().expect("every word has room");
            *place = [word as Limb, (word >> LIMB_BITS) as Limb];
            length(word.into())
        });
    })?;
    Ok(made)
}

/// The results of an operation on columns of [short](are_short) numbers, if they are words.
pub(crate) fn computed(
    signs: Signs,
    a: &Integers,
    b: &Integers,
) -> Option<Result<Integers, Error>> {
    Some(match signs {
        Signs::Sum => pairwise(a, b, |x, y| split(x + y)),
        Signs::Difference => pairwise(a, b, |x, y| split(x - y)),
        Signs::Least => chosen(a, b, true),
        Signs::Greatest => chosen(a, b, false),
        Signs::Order => pairwise(a, b, |x, y| split(x.cmp(&y) as i128)),
        Signs::Product => count_of(a, b).and_then(|count| rowwise(count, [a, b], product)),
        // By more than 64 bits a word is too short.
        Signs::Shifted if b.len() == 1 && signed(Operand::of(b).number(0)) <= 64 => {
            pairwise(a, b, |x, bits| (x.unsigned_abs() << bits, x < 0))
        }
        Signs::ShiftedFloor => pairwise(a, b, |x, bits| split(x >> bits.min(127))),
        _ => return None,
    })
}

/// `a b + c` of columns of [short](are_short) numbers.
pub(crate) fn mul_add([a, b, c]: [&Integers; 3]) -> Result<Integers, Error> {
    let sum_of = |[x, y, z]: [Short; 3]| sum(product([x, y]), z.word());
    rowwise(count_of_three([a, b, c])?, [a, b, c], sum_of)
}

/// Quotients and remainders of columns of words; `None` where there are longer numbers.
pub(crate) fn divided(
    a: &Integers,
    b: &Integers,
    rounding: Rounding,
) -> Option<Result<[Integers; 2], Error>> {
    let are_words = |column: &&Integers| are_within(column, WORD_LIMBS);
    [a, b].iter().all(are_words).then(|| {
        let (x, y) = (Operand::of(a), Operand::of(b));
        let count = count_of(a, b)?;
        refuse_zeros(y, count)?;
        columns(count, |[quotients, remainders], group, rows| {
            let made: [[Word; 2]; GROUP] = std::array::from_fn(|at| {
                let row = GROUP * group + at;
                match at < rows {
                    true => quotient(word(x.number(row)), word(y.number(row)), rounding),
                    false => [(0, false); 2],
                }
            });
            put(quotients, rows, |at| made[at][0]);
            put(remainders, rows, |at| made[at][1]);
        })
    })
}

#[inline]
fn word((x, negative): Number<'_>) -> Word {
    let half = |x: &[Limb]| signed((x, false)).unsigned_abs();
    let word = match x.split_at_checked(HALF_LIMBS) {
        Some((low, high)) => half(high) << 64 | half(low),
        None => half(x),
    };
    (word, negative)
}

impl Rounding {
    /// Whether the magnitude of a quotient of numbers of these signs is rounded up, and whether
    /// the remainder is negative.
    #[inline]
    pub fn of(self, [minus_x, minus_y]: [bool; 2]) -> (bool, bool) {
        match self {
            Rounding::Floor => (minus_x != minus_y, minus_y),
            Rounding::Truncated => (false, minus_x),
            Rounding::Euclid => (minus_x, false),
        }
    }
}

/// The quotient and the remainder, by a divisor that is not zero.
#[inline]
fn quotient((x, minus_x): Word, (y, minus_y): Word, rounding: Rounding) -> [Word; 2] {
    let quotient = x / y;
    let rest = x - quotient * y;
    let (is_rounded_up, minus_rest) = rounding.of([minus_x, minus_y]);
    let (quotient, rest) = match is_rounded_up && rest != 0 {
        true => (quotient + 1, y - rest),
        false => (quotient, rest),
    };
    [(quotient, minus_x != minus_y), (rest, minus_rest)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BigInt, Engine, SignedBatch};

    /// Zero, and the numbers at the ends of limbs and words, of both signs.
    fn numbers(bits: &[u32]) -> Vec<BigInt> {
        let near = |&bits: &u32| [-2, -1, 0, 1, 2].map(|near| (BigInt::from(1) << bits) + near);
        let mut numbers: Vec<BigInt> = bits.iter().flat_map(near).collect();
        numbers.retain(|number| number.bits() <= u64::from(*bits.last().unwrap()));
        numbers.extend_from_within(..);
        let half = numbers.len() / 2;
        numbers[half..].iter_mut().for_each(|number| *number *= -1);
        numbers
    }

    fn pairs(numbers: &[BigInt]) -> [Vec<BigInt>; 2] {
        let with_each = |x: &BigInt| numbers.iter().map(|y| (x.clone(), y.clone())).collect();
        numbers
            .iter()
            .flat_map::<Vec<_>, _>(with_each)
            .unzip()
            .into()
    }

    #[test]
    fn words_are_computed_as_num_bigint_does() {
        let [x, y] = pairs(&numbers(&[0, 3, 31, 32, 33, 63, 64]));
        let [a, b] = [&x, &y].map(|x| Integers::from_bigints(x).unwrap());
        assert!(are_short(&[&a, &b]));
        let is = |found: Integers, expected: &dyn Fn(&BigInt, &BigInt) -> BigInt| {
            let expected: Vec<BigInt> = x.iter().zip(&y).map(|(x, y)| expected(x, y)).collect();
            // In the one way to write each.
            assert!(found == Integers::from_bigints(&expected).unwrap());
        };
        let found = |signs| computed(signs, &a, &b).unwrap().unwrap();
        is(found(Signs::Sum), &|x, y| x + y);
        is(found(Signs::Difference), &|x, y| x - y);
        is(found(Signs::Least), &|x, y| x.min(y).clone());
        is(found(Signs::Greatest), &|x, y| x.max(y).clone());
        is(found(Signs::Order), &|x, y| BigInt::from(x.cmp(y) as i8));
        is(found(Signs::Product), &|x, y| x * y);
        is(mul_add([&a, &b, &b]).unwrap(), &|x, y| x * y + y);
        is(mul_add([&a, &b, &a]).unwrap(), &|x, y| x * y + x);
        // Rows that fill no byte of signs, beside one number for all.
        let rows = x.len() - 3;
        let some = a.slice(0..rows).unwrap();
        for one in [-5, 0, 7] {
            let one = BigInt::from(one);
            let all = Integers::from_bigints(std::slice::from_ref(&one)).unwrap();
            for (signs, is_least) in [(Signs::Least, true), (Signs::Greatest, false)] {
                let chosen = |x: &BigInt| match is_least {
                    true => x.min(&one).clone(),
                    false => x.max(&one).clone(),
                };
                let expected: Vec<BigInt> = x[..rows].iter().map(chosen).collect();
                let found = computed(signs, &some, &all).unwrap().unwrap();
                assert!(found == Integers::from_bigints(&expected).unwrap());
            }
        }
        for bits in [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 1000] {
            let by = Integers::from_bigints(&[bits.into()]).unwrap();
            let of = |signs| Some(computed(signs, &a, &by)?.unwrap());
            is(of(Signs::ShiftedFloor).unwrap(), &|x, _| x >> bits);
            match of(Signs::Shifted) {
                Some(shifted) => is(shifted, &|x, _| x << bits),
                None => assert!(bits > 64),
            }
        }
    }

    #[test]
    fn quotients_of_words_are_rounded_as_those_of_batches() {
        let [x, y] = pairs(&numbers(&[0, 32, 64, 65, 96, 127, 128]));
        let is_divisor = |pair: &(BigInt, BigInt)| pair.1 != BigInt::ZERO;
        let (x, y): (Vec<_>, Vec<_>) = x.into_iter().zip(y).filter(is_divisor).unzip();
        let [a, b] = [&x, &y].map(|x| Integers::from_bigints(x).unwrap());
        let engine = Engine::cpu();
        let [c, d] = [&x, &y].map(|x| engine.signed_from_bigints(x).unwrap());
        for (rounding, expected) in [
            (Rounding::Floor, engine.signed_div_rem_floor(&c, &d)),
            (Rounding::Truncated, engine.signed_div_rem_truncated(&c, &d)),
            (Rounding::Euclid, engine.signed_div_rem_euclid(&c, &d)),
        ] {
            let [quotients, remainders] = divided(&a, &b, rounding).unwrap().unwrap();
            let is = |found: Integers, expected: SignedBatch| {
                let (found, expected) = (found.to_bigints(), expected.to_bigints());
                assert_eq!(found.unwrap(), expected.unwrap(), "{rounding:?}");
            };
            let (q, r) = expected.unwrap();
            is(quotients, q);
            is(remainders, r);
        }
        let zero = Integers::from_texts(["5", "0"]).unwrap();
        let refused = divided(&zero, &zero, Rounding::Floor).unwrap();
        assert!(matches!(refused, Err(Error::ZeroDivisor { index: 1 })));
        let wide = Integers::from_bigints(&[BigInt::from(1) << 128]).unwrap();
        assert!(divided(&wide, &wide, Rounding::Floor).is_none());
    }
}
