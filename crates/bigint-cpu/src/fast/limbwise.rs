//! Results each of whose limbs depends only on the operands' limbs at the same place. They take one
//! pass, in vectors. A batch whose limbs lie one after another is treated as one row of limbs. The
//! file also has results that need their operands as whole numbers.
//!
//! Memory decides the time, as it does for sums.

use bigint_core::{Layout, Limb};

use super::Cpu;
use super::lanes::compiled;
use super::linear::{PIECE_LIMBS, ROW_NUMBERS, TILE_LIMBS, stretch};
use crate::memory::grow;
use crate::piece::{Piece, PieceLimbs, for_each_piece};
use crate::share::LIMB_WORK;
use crate::{Error, Numbers, NumbersMut, reference};

/// Computes `r[j] = limb(operands[..][j])` for every number, with operands extended by zeros.
pub(super) fn limbwise<const N: usize>(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    operands: [Numbers<'_>; N],
    limb: impl Fn([Limb; N]) -> Limb + Copy + Sync + Send,
) -> Result<(), Error> {
    let shape = r.shape();
    let has_rows = |x: &Numbers<'_>| x.is_broadcast() || x.shape().layout == Layout::Interleaved;
    let by_rows = shape.layout == Layout::Interleaved && operands.iter().all(has_rows);
    each_piece(cpu, r, operands, by_rows, |piece| {
        if by_rows {
            rows(piece, operands, limb);
        } else {
            limbs(piece, operands, limb);
        }
    })
}

/// Calls `number(r, operands)` for every number, as slices.
pub(super) fn numberwise<const N: usize>(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    operands: [Numbers<'_>; N],
    number: impl Fn(&mut [Limb], [&[Limb]; N]) + Copy + Sync + Send,
) -> Result<(), Error> {
    each_piece(cpu, r, operands, false, |piece| {
        numbers(piece, operands, number);
    })
}

/// Does `work` on every piece of `r`, compiled for the machine.
fn each_piece<'a, const N: usize>(
    cpu: &Cpu,
    r: NumbersMut<'a>,
    operands: [Numbers<'_>; N],
    by_rows: bool,
    work: impl Fn(Piece<'a>) + Copy + Sync + Send,
) -> Result<(), Error> {
    reference::check(&r, &operands, None)?;
    let shape = r.shape();
    let widths = operands.iter().map(|x| x.shape().width);
    let width = widths.fold(shape.width, usize::max).max(1);
    let cut = cpu.tuning().sharing.cut(
        shape.count,
        LIMB_WORK * width,
        PIECE_LIMBS / width,
        if by_rows { ROW_NUMBERS } else { 1 },
    );
    for_each_piece(r, None, cut, |piece| {
        compiled(
            cpu.path(),
            #[inline(always)]
            || work(piece),
        );
    })
}

/// Computes a piece of interleaved numbers, row by row.
#[inline(always)]
fn rows<const N: usize>(
    piece: Piece<'_>,
    operands: [Numbers<'_>; N],
    limb: impl Fn([Limb; N]) -> Limb + Copy,
) {
    let PieceLimbs::Rows(rows) = piece.limbs else {
        return;
    };
    let mut equal_limbs = [[0; TILE_LIMBS]; N];
    for (j, row) in rows.into_iter().enumerate() {
        for (t, tile) in row.chunks_mut(TILE_LIMBS).enumerate() {
            let first = piece.first + t * TILE_LIMBS;
            let mut buffers = equal_limbs.iter_mut();
            let limbs = operands.map(|x| match buffers.next() {
                Some(buffer) => stretch(x, j, first, tile.len(), buffer),
                None => &[],
            });
            each(tile, limbs, limb);
        }
    }
}

/// Computes a piece number by number, or as one number if all are equally wide.
#[inline(always)]
fn limbs<const N: usize>(
    mut piece: Piece<'_>,
    operands: [Numbers<'_>; N],
    limb: impl Fn([Limb; N]) -> Limb + Copy,
) {
    let (first, count, width) = (piece.first, piece.count, piece.width);
    let is_packed = |x: &Numbers<'_>| {
        let shape = x.shape();
        shape.layout == Layout::Contiguous && shape.width == width && !x.is_broadcast()
    };
    if let PieceLimbs::Contiguous(r) = &mut piece.limbs
        && operands.iter().all(is_packed)
    {
        let limbs = operands.map(|x| &x.limbs()[first * width..][..count * width]);
        return each(r, limbs, limb);
    }
    numbers(
        piece,
        operands,
        #[inline(always)]
        |r, operands| each(r, operands, limb),
    );
}

/// Computes a piece number by number.
#[inline(always)]
fn numbers<const N: usize>(
    mut piece: Piece<'_>,
    operands: [Numbers<'_>; N],
    number: impl Fn(&mut [Limb], [&[Limb]; N]),
) {
    let mut gathered = [const { Vec::new() }; N];
    let mut buffer = Vec::new();
    for i in 0..piece.count {
        let mut buffers = gathered.iter_mut();
        let limbs = operands.map(|x| match buffers.next() {
            Some(buffer) => x.gather(piece.first + i, buffer),
            None => &[],
        });
        if let Some(r) = piece.contiguous_mut(i) {
            number(r, limbs);
        } else {
            grow(&mut buffer, piece.width);
            number(&mut buffer, limbs);
            piece.store(i, &buffer);
        }
    }
}

/// Computes one row of limbs. Operands may end before it does.
#[inline(always)]
fn each<const N: usize>(r: &mut [Limb], operands: [&[Limb]; N], limb: impl Fn([Limb; N]) -> Limb) {
    let shortest = operands.iter().map(|x| x.len()).min().unwrap_or(0);
    let (below, above) = r.split_at_mut(shortest.min(r.len()));
    let lower = operands.map(|x| &x[..below.len()]);
    for (j, r) in below.iter_mut().enumerate() {
        *r = limb(lower.map(|x| x[j]));
    }
    let at = below.len();
    for (j, r) in above.iter_mut().enumerate() {
        *r = limb(operands.map(|x| x.get(at + j).copied().unwrap_or(0)));
    }
}
