//! How the numbers of two columns compare: most are told apart by their signs, their lengths and
//! their topmost limbs, eight rows at a time.

use crate::common::limbs::each_part;
use crate::integers::passing::{Operand, compared, count_of};
use crate::values::column::{Column, SIGNS_OF_BYTE as GROUP};
use crate::{Error, Integers};
use bigint_core::{LIMB_BITS, Limb};
use std::cmp::Ordering;

/// How each number of `a` compares with that of `b`.
pub(crate) fn orders(a: &Integers, b: &Integers) -> Result<Vec<Ordering>, Error> {
    let count = count_of(a, b)?;
    let (x, y) = (Operand::of(a), Operand::of(b));
    let mut orders = bigint_cpu::with_capacity(count)?;
    orders.resize(count, Ordering::Equal);
    // Lengths are compared as 32 bits.
    let are_counted = a.limbs().len().max(b.limbs().len()) < 1 << 29;
    let are_columns = a.len() == b.len() && are_counted;
    each_part(&mut orders, 1, GROUP, |first, orders| {
        let (groups, _) = orders.as_chunks_mut::<GROUP>();
        let groups = if are_columns { groups } else { &mut [] };
        let grouped = GROUP * groups.len();
        for (group, orders) in (first / GROUP..).zip(groups) {
            order_group(orders, a.column(), b.column(), group);
        }
        for (row, order) in (first + grouped..).zip(&mut orders[grouped..]) {
            *order = compared(x.number(row), y.number(row));
        }
    });
    Ok(orders)
}

/// Orders by a byte that has a bit for each number, set where it is less than the other.
const BY_BITS: [[Ordering; GROUP]; 1 << GROUP] = {
    let mut orders = [[Ordering::Greater; GROUP]; 1 << GROUP];
    let mut bits = 0;
    while bits < orders.len() {
        let mut at = 0;
        while at < GROUP {
            if bits >> at & 1 == 1 {
                orders[bits][at] = Ordering::Less;
            }
            at += 1;
        }
        bits += 1;
    }
    orders
};

/// How the numbers of two columns compare whose signs are in byte `group`: nearly always they differ
/// in their signs, their lengths or their topmost limbs.
fn order_group(orders: &mut [Ordering; GROUP], a: &Column, b: &Column, group: usize) {
    const LIMB_BYTES: usize = size_of::<Limb>();
    let ends = |column: &'_ Column| {
        let ends = column.offsets[GROUP * group..].first_chunk::<{ GROUP + 1 }>();
        *ends.expect("a group is whole")
    };
    let (x, y) = (ends(a), ends(b));
    let top = |limbs: &[Limb], end: i64| {
        let top = limbs.get((end as usize / LIMB_BYTES).wrapping_sub(1));
        top.map_or(0, |&top| i64::from(top))
    };
    let (limbs_x, limbs_y) = (&a.limbs[..], &b.limbs[..]);
    // Bit by bit: whose magnitude is less, and of whom that is not seen at once.
    let (mut less, mut unseen) = (0_u8, 0_u8);
    for at in 0..GROUP {
        let length = x[at + 1] - x[at];
        let longer = length - (y[at + 1] - y[at]);
        let greater = (longer << LIMB_BITS) + top(limbs_x, x[at + 1]) - top(limbs_y, y[at + 1]);
        less |= u8::from(greater < 0) << at;
        if greater == 0 || length == 0 {
            unseen |= 1 << at;
        }
    }
    // Where signs differ the numbers are not both zero, and the negative one is less.
    let (minus, alike) = (a.signs[group], !(a.signs[group] ^ b.signs[group]));
    *orders = BY_BITS[usize::from(less & alike ^ minus)];
    unseen &= alike;
    while unseen != 0 {
        let at = unseen.trailing_zeros() as usize;
        orders[at] = compared_apart(a, b, GROUP * group + at);
        unseen &= unseen - 1;
    }
}

/// How two numbers compare, where that is not seen at once.
#[cold]
#[inline(never)]
fn compared_apart(a: &Column, b: &Column, row: usize) -> Ordering {
    compared(a.number(row), b.number(row))
}
