//! The order of numbers: what is least and greatest, sorting, distinct numbers.

use bigint_host::{Error, Integers};
use std::cmp::Ordering;

/// How numbers `i` and `j` compare.
fn order(numbers: &Integers, i: usize, j: usize) -> Ordering {
    let (negative, other) = (numbers.is_negative(i), numbers.is_negative(j));
    if negative != other {
        return other.cmp(&negative);
    }
    let (a, b) = (numbers.magnitude(i), numbers.magnitude(j));
    let magnitudes = a.len().cmp(&b.len());
    let magnitudes = magnitudes.then_with(|| a.iter().rev().cmp(b.iter().rev()));
    match negative {
        true => magnitudes.reverse(),
        false => magnitudes,
    }
}

/// The first of the least, or of the greatest numbers of these rows.
pub fn extreme(
    numbers: &Integers,
    rows: impl Iterator<Item = usize>,
    is_greatest: bool,
) -> Option<usize> {
    let wanted = if is_greatest {
        Ordering::Greater
    } else {
        Ordering::Less
    };
    rows.reduce(|best, row| match order(numbers, row, best) == wanted {
        true => row,
        false => best,
    })
}

/// Rows in the order of their numbers; equal ones stay in theirs.
pub fn sorted(
    numbers: &Integers,
    rows: impl Iterator<Item = usize>,
    is_reversed: bool,
) -> Result<Vec<usize>, Error> {
    let mut sorted = Vec::new();
    bigint_cpu::reserve(&mut sorted, numbers.len())?;
    sorted.extend(rows);
    match is_reversed {
        true => sorted.sort_by(|&i, &j| order(numbers, j, i)),
        false => sorted.sort_by(|&i, &j| order(numbers, i, j)),
    }
    Ok(sorted)
}

/// Of sorted rows the first of each number, and how many have it.
pub fn distinct(numbers: &Integers, sorted: &[usize]) -> (Vec<usize>, Vec<i64>) {
    let runs = sorted.chunk_by(|&i, &j| order(numbers, i, j).is_eq());
    runs.map(|run| (run[0], run.len() as i64)).unzip()
}
