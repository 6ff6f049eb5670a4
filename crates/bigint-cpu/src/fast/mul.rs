//! Multiplication of a batch, and the choice of the engine for each piece.
//!
//! Numbers are multiplied in lanes if there are enough of them to fill the lanes, and they are
//! short enough that their working sets stay in the cache. Other numbers are multiplied one at
//! a time.

use bigint_core::{Layout, Limb};

use super::number::limbs::{pack, unpack};
use super::{Cpu, LaneTuning, Path, lanes, number};
use crate::memory::{grow, or_out_of_memory, scratch};
use crate::piece::{Piece, for_each_piece};
use crate::share::LIMB_WORK;
use crate::{Error, Numbers, NumbersMut, reference};

/// The most limbs of operands and result in a piece. They stay in the L2 cache of the thread
/// that computes the piece.
const PIECE_LIMBS: usize = 1 << 15;

/// The bytes of operands and results up to which they are likely to be in the L2 cache when
/// they are needed.
const CACHED_BYTES: usize = 1 << 20;

/// The words of a product up to which no scratch is allocated.
const SHORT_WORDS: usize = 64;

/// `r = a b` for every number.
///
/// One contiguous number is multiplied directly, as at 256 bits the work of [`batch`] takes as
/// long as the product itself.
#[inline]
pub(super) fn mul(
    cpu: &Cpu,
    mut r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) -> Result<(), Error> {
    if let (Some(x), Some(y)) = (a.alone(), b.alone())
        && let Some(product) = r.alone_mut()
        && product.len() <= x.len() + y.len()
        && let (Some(x), Some(y)) = (as_words(x), as_words(y))
        && let Some(product) = as_words_mut(product)
    {
        let is_shared = product.len() > PIECE_LIMBS / 8 && crate::threads() > 1;
        let is_short = product.len() <= SHORT_WORDS;
        let mut multiply = || {
            number::mul_tuned(product, x, y, cpu.path(), &cpu.tuning().number, is_shared);
        };
        if is_short {
            multiply();
            return Ok(());
        }
        return or_out_of_memory(multiply);
    }
    batch(cpu, r, a, b)
}

#[inline(never)]
fn batch(cpu: &Cpu, r: NumbersMut<'_>, a: Numbers<'_>, b: Numbers<'_>) -> Result<(), Error> {
    reference::check(&r, &[a, b], None)?;
    let shape = r.shape();
    let limbs = shape.width + a.shape().width + b.shape().width;
    let shorter = a.shape().width.min(b.shape().width).min(shape.width);
    let in_lanes = lanes_for(cpu, shape.count, shorter);
    let work = a
        .shape()
        .width
        .saturating_mul(b.shape().width)
        .saturating_add(LIMB_WORK * limbs);
    let most = PIECE_LIMBS / limbs.max(1);
    let sharing = cpu.tuning().sharing;
    match in_lanes {
        Some(tuning) => {
            // Whole groups of lanes; rows of an interleaved result are cut between lines.
            let granule = match shape.layout {
                Layout::Contiguous => 8,
                Layout::Interleaved => 16,
            };
            let cut = sharing.cut(shape.count, work, most, granule);
            let bytes = size_of::<Limb>() * (shape.limbs() + a.limbs().len() + b.limbs().len());
            let is_prefetched = bytes > CACHED_BYTES;
            for_each_piece(r, None, cut, |piece| {
                in_lanes_piece(cpu, tuning, is_prefetched, piece, a, b);
            })
        }
        None => {
            // If there are fewer numbers than cores, threads share each product, so that no
            // core is idle. Short products are not shared, as counting the cores takes longer
            // than such a product.
            let is_shared = limbs > PIECE_LIMBS / 8 && shape.count < crate::threads();
            let cut = sharing.cut(shape.count, work, most, 1);
            for_each_piece(r, None, cut, |piece| {
                one_by_one(cpu, is_shared, piece, a, b);
            })
        }
    }
}

/// The thresholds of the lanes on this path, if it has lanes.
fn lane_tuning(cpu: &Cpu) -> Option<LaneTuning> {
    match cpu.path() {
        Path::Avx512Ifma => Some(cpu.tuning().avx512ifma),
        Path::Avx2 => Some(cpu.tuning().avx2),
        Path::Portable => None,
    }
}

/// Those thresholds, where lanes multiply so many numbers, the shorter of so many limbs.
fn lanes_for(cpu: &Cpu, count: usize, shorter: usize) -> Option<LaneTuning> {
    lane_tuning(cpu).filter(|tuning| {
        // Numbers without limbs have no words for the lanes.
        let widths = tuning.narrowest.max(1)..=tuning.widest;
        count >= tuning.fewest && widths.contains(&shorter)
    })
}

/// Whether lanes multiply so many numbers, the shorter of so many limbs.
pub(super) fn takes_lanes(cpu: &Cpu, count: usize, shorter: usize) -> bool {
    lanes_for(cpu, count, shorter).is_some()
}

fn in_lanes_piece(
    cpu: &Cpu,
    tuning: LaneTuning,
    is_prefetched: bool,
    mut piece: Piece<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) {
    // A last group with few numbers costs as much as a full one.
    let left_over = piece.count % lanes::of(cpu.path());
    if left_over > 0 && left_over < tuning.fewest {
        let rest = piece.split_off(piece.count - left_over);
        one_by_one(cpu, false, rest, a, b);
    }
    #[cfg(target_arch = "x86_64")]
    match cpu.path() {
        Path::Avx512Ifma => {
            if let Some(isa) = lanes::Avx512::detect() {
                return lanes::mul(isa, tuning, is_prefetched, piece, a, b);
            }
        }
        Path::Avx2 => {
            if let Some(isa) = lanes::Avx2::detect() {
                return lanes::mul(isa, tuning, is_prefetched, piece, a, b);
            }
        }
        Path::Portable => {}
    }
    let _ = (tuning, is_prefetched);
    one_by_one(cpu, false, piece, a, b);
}

/// Computes the products of a piece, one number at a time.
fn one_by_one(cpu: &Cpu, is_shared: bool, piece: Piece<'_>, a: Numbers<'_>, b: Numbers<'_>) {
    let words = |x: Numbers<'_>| x.shape().width.min(piece.width).div_ceil(2);
    let (n, m) = (words(a), words(b));
    let lengths = [n, m, piece.width.div_ceil(2).min(n + m)];
    let multiply = |r: &mut [u64], x: &[u64], y: &[u64]| {
        number::mul_tuned(r, x, y, cpu.path(), &cpu.tuning().number, is_shared);
    };
    // Clearing a large stack frame would take longer than a short product.
    match lengths.iter().sum() {
        0..=32 => with_words(&mut [0; 32], lengths, piece, a, b, multiply),
        33..=256 => with_words(&mut [0; 256], lengths, piece, a, b, multiply),
        length => with_words(&mut scratch(length), lengths, piece, a, b, multiply),
    }
}

/// Computes [`one_by_one`] for operands of `n` and `m` words and a product of `w` words, or its
/// low words. It calls `multiply(r, x, y)`, whose slices are in the first `n + m + w` words of
/// `memory`.
fn with_words(
    memory: &mut [u64],
    [n, m, w]: [usize; 3],
    mut piece: Piece<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    multiply: impl Fn(&mut [u64], &[u64], &[u64]),
) {
    let (x, rest) = memory.split_at_mut(n);
    let (y, rest) = rest.split_at_mut(m);
    let product = &mut rest[..w];
    let (mut limbs_a, mut limbs_b, mut limbs_r) = (Vec::new(), Vec::new(), Vec::new());
    let is_square = a.same(&b);
    for i in 0..piece.count {
        let in_place = (
            a.contiguous(piece.first + i).and_then(as_words),
            b.contiguous(piece.first + i).and_then(as_words),
            piece.contiguous_mut(i).and_then(as_words_mut),
        );
        if let (Some(x), Some(y), Some(r)) = in_place
            && x.len() >= n
            && y.len() >= m
            && r.len() >= w
        {
            let (product, above) = r.split_at_mut(w);
            multiply(product, &x[..n], &y[..m]);
            above.fill(0);
            continue;
        }
        pack(x, a.gather(piece.first + i, &mut limbs_a));
        if is_square {
            multiply(product, x, x);
        } else {
            pack(y, b.gather(piece.first + i, &mut limbs_b));
            multiply(product, x, y);
        }
        if let Some(r) = piece.contiguous_mut(i) {
            unpack(r, product);
        } else {
            grow(&mut limbs_r, piece.width);
            unpack(&mut limbs_r, product);
            piece.store(i, &limbs_r);
        }
    }
}

/// The 64-bit words of a number in memory, if the number is whole aligned words.
#[inline]
pub(super) fn as_words(limbs: &[Limb]) -> Option<&[u64]> {
    if cfg!(target_endian = "big") {
        return None;
    }
    bytemuck::try_cast_slice(limbs).ok()
}

/// [`as_words`] for writes.
#[inline]
pub(super) fn as_words_mut(limbs: &mut [Limb]) -> Option<&mut [u64]> {
    if cfg!(target_endian = "big") {
        return None;
    }
    bytemuck::try_cast_slice_mut(limbs).ok()
}
