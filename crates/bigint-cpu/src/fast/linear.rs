//! What addition and subtraction share: one pass over the limbs, number by number or,
//! where the batch is interleaved, row by row.
//!
//! The work per limb is so small that memory decides the time: operands are read
//! once, in order, and a result too large for the caches is written past them.

use bigint_core::{LIMB_BITS, Layout, Limb};

use super::lanes::compiled;
use super::{Cpu, Path, stream};
#[cfg(target_arch = "x86_64")]
use super::{lanes::Avx512, lookahead};
use crate::piece::{Piece, PieceLimbs, for_each_piece};
use crate::{Error, Numbers, NumbersMut, reference};

/// Addition or subtraction with the carry or borrow from below.
pub(super) trait Linear {
    /// Whether this is subtraction.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    const SUB: bool;
    /// On 64-bit words.
    fn words(x: u64, y: u64, carry: bool) -> (u64, bool);
    /// On limbs.
    fn limbs(x: Limb, y: Limb, carry: bool) -> (Limb, bool);
    /// On limbs, the carry as 0 or 1: without branches, for whole vectors.
    fn lanes(x: Limb, y: Limb, carry: Limb) -> (Limb, Limb);
}

/// Limbs of a result that a worker writes before it takes the next piece.
const PIECE_LIMBS: usize = 1 << 16;

/// Limbs of a result that are computed before they are written past the caches: they
/// and their operands stay in L1.
const TILE_LIMBS: usize = 1 << 11;

/// Numbers to a multiple of which pieces of an interleaved batch are cut: stretches of
/// a row long enough to be read ahead, and whole cache lines.
const ROW_NUMBERS: usize = 1 << 11;

/// `r = a op b` for every number, and the carries.
pub(super) fn apply<O: Linear>(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    carry: Option<&mut [Limb]>,
) -> Result<(), Error> {
    reference::check(&r, a, b, carry.as_deref())?;
    let shape = r.shape();
    let has_rows = |x: Numbers<'_>| x.is_broadcast() || x.shape().layout == Layout::Interleaved;
    let by_rows = shape.layout == Layout::Interleaved && has_rows(a) && has_rows(b);
    let stream_bytes = if by_rows {
        cpu.tuning().stream_rows_bytes
    } else {
        cpu.tuning().stream_bytes
    };
    // The portable path is safe Rust throughout: its stores are ordinary ones.
    let is_streamed = cpu.path() != Path::Portable
        && size_of::<Limb>() * shape.limbs() >= stream_bytes
        && (1..=PIECE_LIMBS).contains(&shape.width);
    let size = PIECE_LIMBS / shape.width.max(1);
    if by_rows {
        for_each_piece(r, carry, size.next_multiple_of(ROW_NUMBERS), |piece| {
            compiled(
                cpu.path(),
                #[inline(always)]
                || rows::<O>(piece, a, b, is_streamed),
            );
        });
    } else {
        for_each_piece(r, carry, size, |piece| {
            #[cfg(target_arch = "x86_64")]
            if cpu.path() == Path::Avx512Ifma
                && let Some(isa) = Avx512::detect()
            {
                return compiled(
                    cpu.path(),
                    #[inline(always)]
                    || {
                        numbers(
                            piece,
                            a,
                            b,
                            is_streamed,
                            #[inline(always)]
                            |r, a, b| lookahead::number(isa, O::SUB, r, a, b),
                        );
                    },
                );
            }
            numbers(piece, a, b, is_streamed, number::<O>);
        });
    }
    Ok(())
}

/// A piece, number by number.
#[inline(always)]
fn numbers(
    mut piece: Piece<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    is_streamed: bool,
    number: impl Fn(&mut [Limb], &[Limb], &[Limb]) -> Limb,
) {
    let (first, width) = (piece.first, piece.width);
    let mut operands = Operands {
        a,
        b,
        buffers: (Vec::new(), Vec::new()),
    };
    let in_tile = (TILE_LIMBS / width.max(1)).max(1);
    match piece.limbs {
        PieceLimbs::Contiguous(limbs) if is_streamed => {
            let mut buffer = vec![0; in_tile * width];
            for (t, tile) in limbs.chunks_mut(in_tile * width).enumerate() {
                let buffer = &mut buffer[..tile.len()];
                for (i, r) in buffer.chunks_exact_mut(width).enumerate() {
                    let (a, b) = operands.get(first + t * in_tile + i);
                    let carry = number(r, a, b);
                    if let Some(carries) = &mut piece.carry {
                        carries[t * in_tile + i] = carry;
                    }
                }
                stream::copy(tile, buffer);
            }
        }
        PieceLimbs::Contiguous(limbs) if width > 0 => {
            for (i, r) in limbs.chunks_exact_mut(width).enumerate() {
                let (a, b) = operands.get(first + i);
                let carry = number(r, a, b);
                if let Some(carries) = &mut piece.carry {
                    carries[i] = carry;
                }
            }
        }
        _ => {
            let mut buffer = vec![0; width];
            for i in 0..piece.count {
                let (a, b) = operands.get(first + i);
                let carry = number(&mut buffer, a, b);
                piece.store(i, &buffer);
                piece.store_carry(i, carry);
            }
        }
    }
}

/// The operands of a piece, and room to gather numbers that do not lie in one place.
struct Operands<'a> {
    a: Numbers<'a>,
    b: Numbers<'a>,
    buffers: (Vec<Limb>, Vec<Limb>),
}

impl Operands<'_> {
    #[inline(always)]
    fn get(&mut self, i: usize) -> (&[Limb], &[Limb]) {
        (
            self.a.gather(i, &mut self.buffers.0),
            self.b.gather(i, &mut self.buffers.1),
        )
    }
}

/// One number: `r = a op b`, and the carry out.
#[inline(always)]
fn number<O: Linear>(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    let a = &a[..a.len().min(r.len())];
    let b = &b[..b.len().min(r.len())];
    let (a, a_rest) = a.split_at(a.len().min(b.len()));
    let (b, b_rest) = b.split_at(a.len());
    let (r, r_rest) = r.split_at_mut(a.len());
    let mut carry = both::<O>(r, a, b);
    for (i, r) in r_rest.iter_mut().enumerate() {
        let limb = |rest: &[Limb]| rest.get(i).copied().unwrap_or(0);
        (*r, carry) = O::limbs(limb(a_rest), limb(b_rest), carry);
    }
    Limb::from(carry)
}

/// [`number`] for operands as wide as the result, eight words at a time.
#[inline(always)]
fn both<O: Linear>(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> bool {
    let (r, r_tail) = r.as_chunks_mut::<16>();
    let (a, a_tail) = a.as_chunks::<16>();
    let (b, b_tail) = b.as_chunks::<16>();
    let mut carry = false;
    for ((r, a), b) in r.iter_mut().zip(a).zip(b) {
        for k in 0..8 {
            let word = |x: &[Limb; 16]| u64::from(x[2 * k]) | u64::from(x[2 * k + 1]) << LIMB_BITS;
            let sum;
            (sum, carry) = O::words(word(a), word(b), carry);
            r[2 * k] = sum as Limb;
            r[2 * k + 1] = (sum >> LIMB_BITS) as Limb;
        }
    }
    for ((r, a), b) in r_tail.iter_mut().zip(a_tail).zip(b_tail) {
        (*r, carry) = O::limbs(*a, *b, carry);
    }
    carry
}

/// A piece of interleaved numbers, row by row: one limb of all of them at a time.
#[inline(always)]
fn rows<O: Linear>(piece: Piece<'_>, a: Numbers<'_>, b: Numbers<'_>, is_streamed: bool) {
    let PieceLimbs::Rows(rows) = piece.limbs else {
        return;
    };
    let mut own_carries = Vec::new();
    let carries = piece.carry.unwrap_or_else(|| {
        own_carries.resize(piece.count, 0);
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
}

/// Limb `j` of `count` numbers from `first`: in place, or as many times as needed in
/// `buffer` where one number stands for all or ends below limb `j`.
#[inline(always)]
fn stretch<'a>(
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
