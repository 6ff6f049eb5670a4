//! High halves of the products of a batch. Whole products are computed in scratch, and their high
//! limbs are copied.

use bigint_core::{Layout, Limb, Shape};

use super::{Cpu, mul};
use crate::piece::for_each_piece;
use crate::share::LIMB_WORK;
use crate::{Error, Numbers, NumbersMut, memory, reference};

/// The limbs that a thread copies before it takes the next piece.
const PIECE_LIMBS: usize = 1 << 15;

/// Sets `r` to `a b` without as many of its lowest limbs as the wider operand has, for every
/// number. **Scratch**: the products.
pub(super) fn mul_high(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) -> Result<(), Error> {
    reference::check(&r, &[a, b], None)?;
    let (n, m) = (a.shape().width, b.shape().width);
    let half = n.max(m);
    let (count, width) = (r.shape().count, r.shape().width);
    // The limbs of the product that do not fit the result are not computed.
    let whole = Shape::new(count, (n + m).min(half + width), Layout::Contiguous);
    let mut products = memory::zeroed(whole.checked_limbs().unwrap_or(usize::MAX))?;
    mul::mul(cpu, NumbersMut::new(&mut products, whole)?, a, b)?;
    let work = LIMB_WORK.saturating_mul(2 * width.max(1));
    let sharing = cpu.tuning().sharing;
    let cut = sharing.cut(count, work, PIECE_LIMBS.div_ceil(width.max(1)), 1);
    for_each_piece(r, None, cut, |mut piece| {
        let mut number: Vec<Limb> = memory::scratch(width);
        for i in 0..piece.count {
            let product = &products[(piece.first + i) * whole.width..][..whole.width];
            let high = &product[half.min(whole.width)..];
            number[..high.len()].copy_from_slice(high);
            piece.store(i, &number);
        }
    })
}
