//! The part that addition and subtraction share: one pass over the limbs, number by number, or row
//! by row if the batch is interleaved.
//!
//! There is so little work for each limb that memory decides the time. Operands are read once, in
//! order, and a result that is too large for the caches is written past them.

use bigint_core::{Layout, Limb};

use super::lanes::compiled;
use super::packed::{Linear, Packed, Stretch};
use super::{Cpu, Path, stream, words};
#[cfg(target_arch = "x86_64")]
use super::{lanes::Avx512, lookahead};
use crate::memory::grow;
use crate::piece::{Piece, PieceLimbs, for_each_piece};
use crate::share::LIMB_WORK;
use crate::{Error, Numbers, NumbersMut, reference};

/// The limbs of a result that a worker writes before it takes the next piece.
pub(super) const PIECE_LIMBS: usize = 1 << 17;

/// The limbs of a result that are computed before they are written past the caches. They and their
/// operands stay in L1.
pub(super) const TILE_LIMBS: usize = 1 << 11;

/// The numbers to a multiple of which pieces of an interleaved batch are cut. They give stretches
/// of a row that are long enough to be read ahead, and whole cache lines.
pub(super) const ROW_NUMBERS: usize = 1 << 11;

/// Computes `r = a op b` for every number, and the carries.
pub(super) fn apply<O: Linear>(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    carry: Option<&mut [Limb]>,
) -> Result<(), Error> {
    reference::check(&r, &[a, b], carry.as_deref())?;
    let shape = r.shape();
    let has_rows = |x: Numbers<'_>| x.is_broadcast() || x.shape().layout == Layout::Interleaved;
    let by_rows = shape.layout == Layout::Interleaved && has_rows(a) && has_rows(b);
    let tuning = cpu.tuning();
    let stream_bytes = match cpu.path() {
        _ if by_rows => tuning.stream_rows_bytes,
        Path::Avx512Ifma => tuning.stream_bytes,
        Path::Avx2 | Path::Portable => tuning.stream_words_bytes,
    };
    // The portable path is safe Rust throughout, so its stores are ordinary ones.
    let is_streamed =
        cpu.path() != Path::Portable && size_of::<Limb>() * shape.limbs() >= stream_bytes;
    let cut = tuning.sharing.cut(
        shape.count,
        LIMB_WORK * shape.width,
        PIECE_LIMBS / shape.width.max(1),
        if by_rows { ROW_NUMBERS } else { 1 },
    );
    if by_rows {
        for_each_piece(r, carry, cut, |piece| {
            compiled(
                cpu.path(),
                #[inline(always)]
                || rows::<O>(piece, a, b, is_streamed),
            );
        })
    } else {
        for_each_piece(r, carry, cut, |piece| {
            #[cfg(target_arch = "x86_64")]
            if cpu.path() == Path::Avx512Ifma
                && let Some(isa) = Avx512::detect()
            {
                return numbers(piece, [a, b], is_streamed, |stretch, is_streamed| {
                    lookahead::stretch(isa, O::SUB, stretch, is_streamed);
                });
            }
            numbers(piece, [a, b], is_streamed, words::stretch::<O>);
        })
    }
}

/// Computes a piece in stretches. A stretch is the whole piece if its numbers and those of its
/// operands lie one after another, and if not, as many numbers as are gathered at a time.
#[inline(always)]
fn numbers(
    mut piece: Piece<'_>,
    operands: [Numbers<'_>; 2],
    is_streamed: bool,
    compute: impl Fn(Stretch<'_>, bool),
) {
    let (width, count) = (piece.width, piece.count);
    if width == 0 || count == 0 {
        return piece.carry.into_iter().for_each(|words| words.fill(0));
    }
    let mut operands = operands.map(|numbers| Operand::new(numbers, width));
    let is_packed = operands.iter().all(|x| x.is_packed);
    let is_in_place = matches!(piece.limbs, PieceLimbs::Contiguous(_));
    let in_tile = if is_packed && is_in_place {
        count
    } else {
        (TILE_LIMBS / width).clamp(1, count)
    };
    let mut buffer = Vec::new();
    if !is_in_place {
        grow(&mut buffer, in_tile * width);
    }
    let mut carries = piece.carry.take();
    for at in (0..count).step_by(in_tile) {
        let count = in_tile.min(count - at);
        let r = match &mut piece.limbs {
            PieceLimbs::Contiguous(limbs) => &mut limbs[at * width..][..count * width],
            PieceLimbs::Rows(_) => &mut buffer[..count * width],
        };
        let stretch = Stretch {
            r,
            width,
            operands: operands
                .each_mut()
                .map(|x| x.numbers(piece.first + at, count)),
            carries: carries
                .as_deref_mut()
                .map(|words| &mut words[at..][..count]),
        };
        compute(stretch, is_streamed && is_in_place);
        if !is_in_place {
            for (i, number) in buffer[..count * width].chunks_exact(width).enumerate() {
                piece.store(at + i, number);
            }
        }
    }
}

/// An operand of a piece, and room to gather numbers that do not lie one after another.
struct Operand<'a> {
    numbers: Numbers<'a>,
    /// The limbs of a number that count, at most those of the result.
    width: usize,
    is_packed: bool,
    gathered: Vec<Limb>,
}

impl<'a> Operand<'a> {
    fn new(numbers: Numbers<'a>, width: usize) -> Self {
        let shape = numbers.shape();
        Operand {
            numbers,
            width: width.min(shape.width),
            is_packed: shape.layout == Layout::Contiguous
                && shape.width <= width
                && !numbers.is_broadcast(),
            gathered: Vec::new(),
        }
    }

    /// Returns `count` numbers from number `first` on. Of a number that stands for all, the same
    /// number of copies is returned every time, or fewer at last.
    fn numbers(&mut self, first: usize, count: usize) -> Packed<'_> {
        let Operand { numbers, width, .. } = *self;
        let limbs = if self.is_packed {
            &numbers.limbs()[first * width..][..count * width]
        } else if count == 1
            && let Some(number) = numbers.contiguous(first)
        {
            &number[..width]
        } else {
            if !(numbers.is_broadcast() && self.gathered.len() >= count * width) {
                self.gathered.clear();
                for i in first..first + count {
                    self.gather(i);
                }
            }
            &self.gathered[..count * width]
        };
        Packed { limbs, width }
    }

    fn gather(&mut self, i: usize) {
        let Operand { numbers, width, .. } = *self;
        if let Some(number) = numbers.contiguous(i) {
            self.gathered.extend_from_slice(&number[..width]);
        } else {
            let shape = numbers.shape();
            let i = if numbers.is_broadcast() { 0 } else { i };
            let limb = |j| numbers.limbs()[shape.index(i, j)];
            self.gathered.extend((0..width).map(limb));
        }
    }
}

/// Computes a piece of interleaved numbers, row by row: one limb of all of them at a time.
#[inline(always)]
fn rows<O: Linear>(piece: Piece<'_>, a: Numbers<'_>, b: Numbers<'_>, is_streamed: bool) {
    let PieceLimbs::Rows(rows) = piece.limbs else {
        return;
    };
    let mut own_carries = Vec::new();
    let carries = piece.carry.unwrap_or_else(|| {
        grow(&mut own_carries, piece.count);
        &mut own_carries
    });
    carries.fill(0);
    let mut equal_limbs = ([0; TILE_LIMBS], [0; TILE_LIMBS]);
    let mut buffer = [0; TILE_LIMBS];
    for (j, row) in rows.into_iter().enumerate() {
        let tiles = row
            .chunks_mut(TILE_LIMBS)
            .zip(carries.chunks_mut(TILE_LIMBS));
        for (t, (tile, carries)) in tiles.enumerate() {
            let first = piece.first + t * TILE_LIMBS;
            let a = stretch(a, j, first, tile.len(), &mut equal_limbs.0);
            let b = stretch(b, j, first, tile.len(), &mut equal_limbs.1);
            if is_streamed {
                let buffer = &mut buffer[..tile.len()];
                row_of_limbs::<O>(buffer, a, b, carries);
                stream::copy(tile, buffer);
            } else {
                row_of_limbs::<O>(tile, a, b, carries);
            }
        }
    }
    if is_streamed {
        stream::fence();
    }
}

/// Limb `j` of `count` numbers from `first` on. They are in place, or repeated in `buffer` if one
/// number stands for all or ends below limb `j`.
#[inline(always)]
pub(super) fn stretch<'a>(
    x: Numbers<'a>,
    j: usize,
    first: usize,
    count: usize,
    buffer: &'a mut [Limb; TILE_LIMBS],
) -> &'a [Limb] {
    let shape = x.shape();
    if j < shape.width && !x.is_broadcast() {
        return &x.limbs()[shape.index(first, j)..][..count];
    }
    let limb = if j < shape.width {
        x.limbs()[shape.index(0, j)]
    } else {
        0
    };
    let buffer = &mut buffer[..count];
    buffer.fill(limb);
    buffer
}

#[inline(always)]
fn row_of_limbs<O: Linear>(r: &mut [Limb], a: &[Limb], b: &[Limb], carries: &mut [Limb]) {
    for (((r, a), b), carry) in r.iter_mut().zip(a).zip(b).zip(carries) {
        (*r, *carry) = O::lanes(*a, *b, *carry);
    }
}
