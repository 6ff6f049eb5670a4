//! The values `a b + c` of a batch: the product, to which `c` is added in place.

use bigint_core::Limb;

use super::{Cpu, mul};
use crate::piece::{Piece, PieceLimbs, for_each_piece};
use crate::share::LIMB_WORK;
use crate::{Error, Numbers, NumbersMut, reference};

/// The limbs that a thread adds before it takes the next piece.
const PIECE_LIMBS: usize = 1 << 15;

/// Computes `r = a b + c` for every number.
pub(super) fn mul_add(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    c: Numbers<'_>,
) -> Result<(), Error> {
    reference::check(&r, &[a, b, c], None)?;
    let shape = r.shape();
    let limbs = r.into_limbs();
    mul::mul(cpu, NumbersMut::new(limbs, shape)?, a, b)?;
    let width = shape.width.max(1);
    let work = LIMB_WORK.saturating_mul(2 * width);
    let sharing = cpu.tuning().sharing;
    let cut = sharing.cut(shape.count, work, PIECE_LIMBS.div_ceil(width), 1);
    for_each_piece(NumbersMut::new(limbs, shape)?, None, cut, |piece| {
        add(piece, c);
    })
}

/// Adds number `i` of `c` to number `i` of the piece, cut to its width.
fn add(mut piece: Piece<'_>, c: Numbers<'_>) {
    let mut gathered = Vec::new();
    for i in 0..piece.count {
        let added = c.gather(piece.first + i, &mut gathered);
        match &mut piece.limbs {
            PieceLimbs::Contiguous(limbs) => {
                let number = &mut limbs[i * piece.width..][..piece.width];
                add_to(number.iter_mut(), added);
            }
            PieceLimbs::Rows(rows) => add_to(rows.iter_mut().map(|row| &mut row[i]), added),
        }
    }
}

fn add_to<'a>(number: impl Iterator<Item = &'a mut Limb>, added: &[Limb]) {
    let mut carry = false;
    for (i, limb) in number.enumerate() {
        if i >= added.len() && !carry {
            break;
        }
        (*limb, carry) = limb.carrying_add(added.get(i).copied().unwrap_or(0), carry);
    }
}
