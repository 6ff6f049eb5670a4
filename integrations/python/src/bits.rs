//! `& | ^` of numbers of either sign, which are taken for infinite two's complements, as Python does.

use bigint_host::{Error, Integers};

/// Writes the two's complement of a number, as many limbs as there are.
fn complement(numbers: &Integers, index: usize, limbs: &mut [u32]) {
    let magnitude = numbers.magnitude(index);
    limbs.fill(0);
    limbs[..magnitude.len()].copy_from_slice(magnitude);
    if numbers.is_negative(index) {
        negate(limbs);
    }
}

/// The two's complement of the negative.
fn negate(limbs: &mut [u32]) {
    let mut carry = true;
    for limb in limbs {
        (*limb, carry) = (!*limb).overflowing_add(u32::from(carry));
    }
}

/// A bitwise operation, row by row; a column of one number stands for all rows.
pub fn combined(
    a: &Integers,
    b: &Integers,
    operation: fn(u32, u32) -> u32,
) -> Result<Integers, Error> {
    let count = match (a.len(), b.len()) {
        (1, count) => count,
        (count, _) => count,
    };
    let row = |x: &Integers, index: usize| if x.len() == 1 { 0 } else { index };
    let (mut made, mut of_a, mut of_b) = (Integers::new(), Vec::new(), Vec::new());
    for index in 0..count {
        let (i, j) = (row(a, index), row(b, index));
        // The limb on top has nothing but signs.
        let width = a.magnitude(i).len().max(b.magnitude(j).len()) + 1;
        for limbs in [&mut of_a, &mut of_b] {
            if limbs.len() < width {
                let more = width - limbs.len();
                bigint_cpu::reserve(limbs, more)?;
                limbs.resize(width, 0);
            }
        }
        complement(a, i, &mut of_a[..width]);
        complement(b, j, &mut of_b[..width]);
        for (x, &y) in of_a[..width].iter_mut().zip(&of_b[..width]) {
            *x = operation(*x, y);
        }
        let negative = of_a[width - 1] != 0;
        if negative {
            negate(&mut of_a[..width]);
        }
        made.push(negative, &of_a[..width])?;
    }
    Ok(made)
}
