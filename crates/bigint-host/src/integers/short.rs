//! What the CPU computes of short numbers: by words, in one pass, with nothing done row by row
//! but the word's own arithmetic.

use crate::integers::passing::{Number, Rows, count_of};
use crate::values::column::Column;
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

/// Whether no number of the column is longer than that.
fn are_within(column: &Integers, limbs: usize) -> bool {
    let most = (limbs * size_of::<Limb>()) as i64;
    let mut ends = column.offsets().windows(2);
    column.limbs().len() <= limbs * column.len() && ends.all(|ends| ends[1] - ends[0] <= most)
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
fn product(x: i128, y: i128) -> Word {
    let factor = |x: i128| u128::from(x.unsigned_abs() as u64);
    (factor(x) * factor(y), (x < 0) != (y < 0))
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
    let limbs = |half: u64| HALF_LIMBS - half.leading_zeros() as usize / LIMB_BITS;
    match high {
        0 => limbs(low),
        _ => HALF_LIMBS + limbs(high),
    }
}

/// A column that is being made: every word is put where the last one ends, all its limbs, and
/// those that are zero on top are overwritten by the next.
struct Words {
    limbs: Vec<Limb>,
    end: usize,
    offsets: Vec<i64>,
    signs: Vec<u8>,
}

impl Words {
    fn new(count: usize) -> Result<Self, Error> {
        Ok(Words {
            limbs: bigint_cpu::zeroed(WORD_LIMBS * count)?,
            end: 0,
            offsets: bigint_cpu::zeroed(count + 1)?,
            signs: bigint_cpu::zeroed(count.div_ceil(8))?,
        })
    }

    #[inline]
    fn put(&mut self, index: usize, (word, negative): Word) {
        let (low, high) = (word as u64, (word >> 64) as u64);
        let upper = |half: u64| (half >> LIMB_BITS) as Limb;
        let place = self.limbs[self.end..].first_chunk_mut();
        *place.expect("every word has room") = [low as Limb, upper(low), high as Limb, upper(high)];
        self.end += length(word);
        self.offsets[index + 1] = (self.end * size_of::<Limb>()) as i64;
        self.signs[index / 8] |= u8::from(negative && word != 0) << (index % 8);
    }

    fn column(mut self) -> Column {
        self.limbs.truncate(self.end);
        Column::of_parts(self.limbs, self.offsets, self.signs)
    }
}

/// Columns of what `words` makes of each row.
fn columns<const N: usize>(
    count: usize,
    words: impl Fn(usize) -> [Word; N] + Sync,
) -> Result<[Integers; N], Error> {
    let columns = Column::gathered(count, 2 * WORD_LIMBS, |rows| {
        let columns = [(); N].map(|()| Words::new(rows.len()));
        let mut columns = columns.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (index, row) in rows.enumerate() {
            for (column, word) in columns.iter_mut().zip(&words(row)) {
                column.put(index, *word);
            }
        }
        Ok(columns.into_iter().map(Words::column).collect())
    })?;
    let columns: Vec<Integers> = columns.into_iter().map(Integers::from).collect();
    Ok(columns
        .try_into()
        .unwrap_or_else(|_| [(); N].map(|()| Integers::new())))
}

/// What `word` makes of each row of two columns of [short](are_short) numbers.
fn pairwise(
    a: &Integers,
    b: &Integers,
    word: impl Fn(i128, i128) -> Word + Sync,
) -> Result<Integers, Error> {
    let (x, y) = (Rows::of(a), Rows::of(b));
    let words = |row| [word(signed(x.number(row)), signed(y.number(row)))];
    let [made] = columns(count_of(a, b)?, words)?;
    Ok(made)
}

/// What an operation makes of columns of [short](are_short) numbers, where that is a word.
pub(crate) fn computed(
    signs: Signs,
    a: &Integers,
    b: &Integers,
) -> Option<Result<Integers, Error>> {
    Some(match signs {
        Signs::Sum => pairwise(a, b, |x, y| split(x + y)),
        Signs::Difference => pairwise(a, b, |x, y| split(x - y)),
        Signs::Least => pairwise(a, b, |x, y| split(x.min(y))),
        Signs::Greatest => pairwise(a, b, |x, y| split(x.max(y))),
        Signs::Order => pairwise(a, b, |x, y| split(x.cmp(&y) as i128)),
        Signs::Product => pairwise(a, b, product),
        // By more than 64 bits a word is too short.
        Signs::Shifted if b.len() == 1 && signed(Rows::of(b).number(0)) <= 64 => {
            pairwise(a, b, |x, bits| (x.unsigned_abs() << bits, x < 0))
        }
        Signs::ShiftedFloor => pairwise(a, b, |x, bits| split(x >> bits.min(127))),
        _ => return None,
    })
}

/// `a b + c` of columns of [short](are_short) numbers.
pub(crate) fn mul_add([a, b, c]: [&Integers; 3]) -> Result<Integers, Error> {
    let (x, y, z) = (Rows::of(a), Rows::of(b), Rows::of(c));
    let count = match count_of(a, b)? {
        1 => c.len(),
        count if count == c.len() || c.len() == 1 => count,
        count => {
            return Err(Error::CountMismatch {
                a: count,
                b: c.len(),
            });
        }
    };
    let [x, y, z] = [x, y, z].map(|rows| move |row| signed(rows.number(row)));
    let [made] = columns(count, |row| [sum(product(x(row), y(row)), split(z(row)))])?;
    Ok(made)
}

/// Quotients and remainders of columns of words; `None` where there are longer numbers.
pub(crate) fn divided(
    a: &Integers,
    b: &Integers,
    rounding: Rounding,
) -> Option<Result<[Integers; 2], Error>> {
    let are_words = |column: &&Integers| are_within(column, WORD_LIMBS);
    [a, b].iter().all(are_words).then(|| {
        let (x, y) = (Rows::of(a), Rows::of(b));
        let count = count_of(a, b)?;
        let is_zero = |&row: &usize| y.number(row).0.is_empty();
        match (0..count).find(is_zero) {
            Some(index) => Err(Error::ZeroDivisor { index }),
            None => columns(count, |row| {
                quotient(word(x.number(row)), word(y.number(row)), rounding)
            }),
        }
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

/// The quotient and the remainder, by a divisor that is not zero.
#[inline]
fn quotient((x, minus_x): Word, (y, minus_y): Word, rounding: Rounding) -> [Word; 2] {
    let quotient = x / y;
    let rest = x - quotient * y;
    let (is_rounded_up, minus_rest) = match rounding {
        Rounding::Floor => (minus_x != minus_y, minus_y),
        Rounding::Truncated => (false, minus_x),
        Rounding::Euclid => (minus_x, false),
    };
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
