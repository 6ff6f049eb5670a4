//! Products and quotients of narrow numbers, on the CPU: one after another where they stand, as
//! batches of them take longer to be put together than to be computed.

use crate::integers::passing::{Operand, count_of, count_of_three, mean, put, refuse_zeros};
use crate::integers::short::{self, Rounding};
use crate::values::column::{Column, trimmed};
use crate::{Error, Integers};
use bigint_core::operation::Signs;
use bigint_core::{LIMB_BITS, Limb};
use bigint_cpu::fast::{self, number};
use bigint_cpu::{Cpu, Path, signed_sum};
use std::ptr;

/// Limbs of the widest factor and divisor.
const MOST_LIMBS: usize = 32;

/// Limbs of the widest product and dividend.
const MOST_BOTH: usize = 2 * MOST_LIMBS;

/// A magnitude of at most so many words of 64 bits.
struct Magnitude<const WORDS: usize> {
    words: [u64; WORDS],
    length: usize,
}

impl<const WORDS: usize> Magnitude<WORDS> {
    fn new() -> Self {
        Magnitude {
            words: [0; WORDS],
            length: 0,
        }
    }

    /// Makes this the magnitude of these limbs.
    #[inline]
    fn set(&mut self, limbs: &[Limb]) {
        let (pairs, odd) = limbs.as_chunks::<2>();
        for (word, [low, high]) in self.words.iter_mut().zip(pairs) {
            *word = u64::from(*high) << LIMB_BITS | u64::from(*low);
        }
        self.length = limbs.len().div_ceil(2);
        if let [top] = odd {
            self.words[self.length - 1] = u64::from(*top);
        }
    }

    #[inline]
    fn get(&self) -> &[u64] {
        &self.words[..self.length]
    }
}

/// The limbs of words.
#[inline]
fn unpack<'l>(words: &[u64], limbs: &'l mut [Limb; MOST_BOTH + 2]) -> &'l mut [Limb] {
    let (pairs, _) = limbs.as_chunks_mut::<2>();
    for (pair, word) in pairs.iter_mut().zip(words) {
        *pair = [*word as Limb, (*word >> LIMB_BITS) as Limb];
    }
    &mut limbs[..2 * words.len()]
}

/// Limbs of the widest divisor. Lanes of AVX-512 divide by wider ones in half the time, with the time
/// that it takes to make batches.
fn widest_divisor(path: Path) -> usize {
    match path {
        Path::Avx512Ifma => 4,
        _ => MOST_LIMBS,
    }
}

/// Whether products of factors of so many limbs are computed here.
pub(crate) fn multiplies(factors: &[usize]) -> bool {
    factors.iter().all(|&limbs| limbs <= MOST_LIMBS)
}

/// Whether quotients of a dividend and a divisor of so many limbs are computed here.
pub(crate) fn divides(dividend: usize, divisor: usize) -> bool {
    dividend <= MOST_BOTH && divisor <= widest_divisor(Cpu::current().path())
}

/// [`divides`], of the numbers of columns.
pub(crate) fn divides_columns(a: &Integers, b: &Integers) -> bool {
    let is_wide = |column: &&Integers| column.limbs().len() > MOST_BOTH * column.len();
    ![a, b].iter().any(is_wide) && divides(short::longest(a), short::longest(b))
}

/// `a b`, or `a b + c`, row by row.
pub(crate) fn products([a, b]: [&Integers; 2], c: Option<&Integers>) -> Result<Integers, Error> {
    let count = match c {
        None => count_of(a, b)?,
        Some(c) => count_of_three([a, b, c])?,
    };
    let path = Cpu::current().path();
    let is_square = ptr::eq(a.column(), b.column());
    let [x, y] = [a, b].map(Operand::of);
    let z = c.map(Operand::of);
    let columns = Column::gathered(count, 2 * mean(&[a, b]), |rows| {
        let of_c = z.map_or(0, |z| z.limbs(rows.clone()) + 3 * rows.len());
        let room = x.limbs(rows.clone()) + y.limbs(rows.clone()) + of_c;
        let mut made = Column::with_capacity(rows.len(), room)?;
        let (mut u, mut v) = (Magnitude::new(), Magnitude::new());
        let mut words = [0; MOST_BOTH / 2 + 1];
        let mut limbs = [0; MOST_BOTH + 2];
        for row in rows {
            let ((x, minus_x), (y, minus_y)) = (x.number(row), y.number(row));
            u.set(x);
            let factors: [&Magnitude<{ MOST_LIMBS / 2 }>; 2] = match is_square {
                true => [&u; 2],
                false => {
                    v.set(y);
                    [&u, &v]
                }
            };
            let [u, v] = factors.map(Magnitude::get);
            let (words, is_negative) = (&mut words[..=u.len() + v.len()], minus_x != minus_y);
            let (product, above) = words.split_at_mut(u.len() + v.len());
            number::mul(product, u, v, path, false);
            above.fill(0);
            match z.map(|z| z.number(row)) {
                None => {
                    let product = trimmed(unpack(product, &mut limbs));
                    made.append((product, is_negative));
                }
                // The product stays the greater.
                Some((z, minus_z))
                    if z.len() + 2 < x.len() + y.len() && !x.is_empty() && !y.is_empty() =>
                {
                    add(words, z, minus_z != is_negative);
                    made.append((trimmed(unpack(words, &mut limbs)), is_negative));
                }
                Some(z) => {
                    let product = trimmed(unpack(product, &mut limbs));
                    put(&mut made, Signs::Sum, (product, is_negative), z);
                }
            }
        }
        Ok(vec![made])
    })?;
    only(columns)
}

/// Adds `x` to words, or subtracts it. The words have room for a sum, and are not less than what is
/// subtracted.
#[inline]
fn add(words: &mut [u64], x: &[Limb], subtracts: bool) {
    let (pairs, odd) = x.as_chunks::<2>();
    let (low, high) = words.split_at_mut(pairs.len());
    let mut carry = false;
    let wide = |low: Limb, high: Limb| u64::from(high) << LIMB_BITS | u64::from(low);
    for (word, &[low, high]) in low.iter_mut().zip(pairs) {
        (*word, carry) = match subtracts {
            true => word.borrowing_sub(wide(low, high), carry),
            false => word.carrying_add(wide(low, high), carry),
        };
    }
    let mut odd = odd.first().map_or(0, |&limb| u64::from(limb));
    for word in high {
        if odd == 0 && !carry {
            return;
        }
        (*word, carry) = match subtracts {
            true => word.borrowing_sub(odd, carry),
            false => word.carrying_add(odd, carry),
        };
        odd = 0;
    }
}

/// Quotients and remainders, row by row.
pub(crate) fn divided(
    a: &Integers,
    b: &Integers,
    rounding: Rounding,
) -> Result<[Integers; 2], Error> {
    if let Some(divided) = short::divided(a, b, rounding) {
        return divided;
    }
    let count = count_of(a, b)?;
    let (x, y) = (Operand::of(a), Operand::of(b));
    refuse_zeros(y, count)?;
    let columns = Column::gathered(count, 2 * mean(&[a, b]), |rows| {
        let room = x.limbs(rows.clone()) + 3 * rows.len();
        let mut quotients = Column::with_capacity(rows.len(), room)?;
        let mut remainders = Column::with_capacity(rows.len(), y.limbs(rows.clone()))?;
        let mut divisor = Magnitude::<{ MOST_LIMBS / 2 }>::new();
        let mut dividend = Magnitude::<{ MOST_BOTH / 2 }>::new();
        let (mut quotient, mut rest) = ([0; MOST_BOTH / 2 + 1], [0; MOST_LIMBS / 2]);
        let (mut q, mut r) = ([0; MOST_BOTH + 2], [0; MOST_BOTH + 2]);
        let mut other = [0; MOST_LIMBS];
        for row in rows.clone() {
            let ((x, minus_x), (y, minus_y)) = (x.number(row), y.number(row));
            dividend.set(x);
            divisor.set(y);
            let (n, m) = (dividend.length, divisor.length);
            // One word more, for a quotient that is rounded up.
            let quotient = &mut quotient[..(n + 2).saturating_sub(m).max(1)];
            let rest = &mut rest[..m];
            quotient.fill(0);
            rest.fill(0);
            if n < m {
                rest[..n].copy_from_slice(dividend.get());
            } else {
                fast::divide(quotient, rest, dividend.get(), divisor.get());
            }
            let (is_rounded_up, minus_rest) = rounding.of([minus_x, minus_y]);
            let is_rounded_up = is_rounded_up && rest.iter().any(|&word| word != 0);
            if is_rounded_up {
                let carries = |word: &mut u64| {
                    *word = word.wrapping_add(1);
                    *word == 0
                };
                let _ = quotient.iter_mut().all(carries);
            }
            quotients.append((trimmed(unpack(quotient, &mut q)), minus_x != minus_y));
            let mut rest = trimmed(unpack(rest, &mut r));
            if is_rounded_up {
                let other = &mut other[..y.len()];
                signed_sum(other, y, rest, [false, true]);
                rest = trimmed(other);
            }
            remainders.append((rest, minus_rest));
        }
        Ok(vec![quotients, remainders])
    })?;
    let [quotients, remainders] = <[Column; 2]>::try_from(columns).unwrap_or_default();
    Ok([quotients.into(), remainders.into()])
}

fn only(columns: Vec<Column>) -> Result<Integers, Error> {
    Ok(columns.into_iter().next().unwrap_or_default().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BigInt;
    use num_bigint::Sign;
    use num_integer::Integer;

    /// A number of each length, of limbs that carry or borrow, or do not, of either sign.
    fn numbers(most: usize) -> Vec<BigInt> {
        let number = |length: usize, pattern: usize| {
            let limb = |i: usize| match pattern {
                0 => Limb::MAX,
                1 => Limb::from(i == length - 1),
                2 => 1 << (LIMB_BITS - 1),
                _ => (0x9e37_79b9_u32).wrapping_mul((i * most + length) as u32) | 1,
            };
            let sign = if (length + pattern).is_multiple_of(3) {
                Sign::Minus
            } else {
                Sign::Plus
            };
            BigInt::from_slice(sign, &(0..length).map(limb).collect::<Vec<_>>())
        };
        let patterns = |length| (0..4).map(move |pattern| number(length, pattern));
        (0..=most).flat_map(patterns).collect()
    }

    /// Every number of the first beside one of the second, and all lengths beside all.
    fn columns(first: usize, second: usize) -> [Vec<BigInt>; 2] {
        let (x, y) = (numbers(first), numbers(second));
        let pair = |i: usize| {
            let j = (i * 7 + i / y.len()) % y.len();
            (x[i % x.len()].clone(), y[j].clone())
        };
        (0..20 * x.len()).map(pair).unzip().into()
    }

    fn column(numbers: &[BigInt]) -> Integers {
        Integers::from_bigints(numbers).unwrap()
    }

    #[test]
    fn products_and_what_is_added_to_them_are_those_of_num_bigint() {
        let [x, y] = columns(MOST_LIMBS, MOST_LIMBS);
        let z: Vec<BigInt> = numbers(70).into_iter().cycle().take(x.len()).collect();
        let [a, b, c] = [&x, &y, &z].map(|x| column(x));
        let is = |found: Integers, expected: &dyn Fn(usize) -> BigInt| {
            let expected: Vec<BigInt> = (0..x.len()).map(expected).collect();
            // In the one way to write each.
            assert!(found == column(&expected));
        };
        is(products([&a, &b], None).unwrap(), &|i| &x[i] * &y[i]);
        is(products([&a, &a], None).unwrap(), &|i| &x[i] * &x[i]);
        is(products([&a, &b], Some(&c)).unwrap(), &|i| {
            &x[i] * &y[i] + &z[i]
        });
        let [one, two] = [&z[90], &y[50]].map(|one| column(std::slice::from_ref(one)));
        let found = products([&two, &b], Some(&one)).unwrap();
        is(found, &|i| &y[50] * &y[i] + &z[90]);
    }

    #[test]
    fn quotients_are_rounded_as_num_integer_does() {
        let [x, mut y] = columns(MOST_BOTH, MOST_LIMBS);
        y.iter_mut()
            .filter(|y| **y == BigInt::ZERO)
            .for_each(|y| *y = BigInt::from(-3));
        let [a, b] = [&x, &y].map(|x| column(x));
        let found = [Rounding::Floor, Rounding::Truncated, Rounding::Euclid]
            .map(|rounding| divided(&a, &b, rounding).unwrap());
        let found = found.map(|columns| columns.map(|column| column.to_bigints().unwrap()));
        for i in 0..x.len() {
            let (x, y) = (&x[i], &y[i]);
            let row = |rounding: usize| [0, 1].map(|of| found[rounding][of][i].clone());
            assert_eq!(row(0), <[BigInt; 2]>::from(x.div_mod_floor(y)), "{x} {y}");
            assert_eq!(row(1), [x / y, x % y], "{x} {y}");
            let [quotient, rest] = row(2);
            assert!(rest.sign() != Sign::Minus && rest < y.magnitude().clone().into());
            assert_eq!(quotient * y + rest, *x);
        }
        let zero = column(&[1 << 9, 0].map(|x: i64| BigInt::from(x) << 140 >> 9));
        let refused = divided(&a.slice(0..2).unwrap(), &zero, Rounding::Floor);
        assert!(matches!(refused, Err(Error::ZeroDivisor { index: 1 })));
    }
}
