//! Squares by rows (School), with each product of two limbs computed once.
//!
//! Each of `L` lanes has a digit of 32 limbs ([`squares`]). Numbers of more than `32 L` limbs are
//! squared by columns, four at a time (Comba; [Honda 2015]). [`columns`] explains the maths, and
//! [`each_four`] how lanes share the columns.
//!
//! Cost: `n (n + 1) / 2` products, with `n` rounded up to the digits of all lanes; by columns with
//! `n` rounded up to a multiple of 4, and an addition for each product. No scratch. `r` overlaps no
//! operand.

use super::Batches;
use super::columns::each_four;
use crate::columns::{self, Columns};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::squares;
use bigint_core::kernel::SQUARE_DIGIT;

/// Computes the squares that fall to the calling lane's group.
#[inline(always)]
pub fn school<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    let Batches {
        arguments, group, ..
    } = batches;
    if arguments.a.width as u32 <= SQUARE_DIGIT as u32 * group.lanes() {
        squares::of_tiles::<LANES, S>(group, batches.digits());
    } else {
        for work in batches.numbers() {
            by_columns(group, work.r, work.a);
        }
    }
}

/// Computes `r = a a`, cut or zero-extended to the width of `r`, by columns.
#[inline(always)]
fn by_columns<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
) {
    let sum = |k| {
        let mut pairs = Columns::default();
        pairs.add_pairs(k, a);
        pairs.sum().doubled_plus(columns::squares(k, a))
    };
    each_four(group, r.width(), sum, |at, limbs| {
        r.set_limbs(at, limbs);
    });
}
