//! Sums of the signed numbers of a batch, as absolute values and signs, and absolute differences.

use std::cmp::Ordering;

use bigint_core::{Algorithm, Limb, Operation};

use super::linear::PIECE_LIMBS;
use super::packed::{Add, Sub};
use super::{Cpu, words};
use crate::memory::{grow, or_out_of_memory};
use crate::piece::Piece;
use crate::reference::add_signed::signs_of;
use crate::reference::compare::order;
use crate::share::{LIMB_WORK, share};
use crate::{Error, Numbers, Results, reference};

/// Computes `r = |a + b|` of each number, and its sign as the second result.
pub(super) fn add_signed(
    cpu: &Cpu,
    results: Results<'_>,
    operands: [Numbers<'_>; 3],
) -> Result<(), Error> {
    let Results { r, mut s, flags } = results;
    let Some(negative) = s.take_if(|s| s.shape().width == 1) else {
        let results = Results { r, s, flags };
        return reference::compute(Operation::AddSigned, results, &operands, Algorithm::Auto);
    };
    reference::check(&r, &operands, None)?;
    let shape = r.shape();
    let widths = operands.iter().map(|x| x.shape().width);
    let width = widths.fold(shape.width, usize::max).max(1);
    let sharing = cpu.tuning().sharing;
    let cut = sharing.cut(shape.count, LIMB_WORK * width, PIECE_LIMBS / width, 1);
    let size = cut.size.max(1);
    or_out_of_memory(|| {
        let pieces = Piece::cut(r, None, size).into_iter();
        let signs = Piece::cut(negative, None, size).into_iter();
        share(pieces.zip(signs), cut.threads, |(piece, signs)| {
            numbers(piece, signs, operands);
        });
    })
}

fn numbers(mut piece: Piece<'_>, mut negative: Piece<'_>, operands: [Numbers<'_>; 3]) {
    let mut gathered = [const { Vec::new() }; 3];
    let mut buffer = Vec::new();
    for i in 0..piece.count {
        let [x, y, z] = &mut gathered;
        let [a, b, signs] = operands;
        let a = a.gather(piece.first + i, x);
        let b = b.gather(piece.first + i, y);
        let signs = signs_of(signs.gather(piece.first + i, z));
        let sign = if let Some(r) = piece.contiguous_mut(i) {
            number(r, a, b, signs)
        } else {
            grow(&mut buffer, piece.width);
            let sign = number(&mut buffer, a, b, signs);
            piece.store(i, &buffer);
            sign
        };
        negative.store(i, &[sign]);
    }
}

/// Computes `r = |a + b|` modulo `2^(32 w)`, `w = r.len()`, of two numbers whose signs are
/// `negative`. Returns whether the sum is negative. **Cost**: linear. **Scratch**: none.
///
/// ```
/// let mut r = [0; 2];
/// assert!(bigint_cpu::signed_sum(&mut r, &[7], &[9], [false, true]));
/// assert_eq!(r, [2, 0]);
/// ```
pub fn signed_sum(r: &mut [Limb], a: &[Limb], b: &[Limb], negative: [bool; 2]) -> bool {
    number(r, a, b, negative.map(Limb::from)) == 1
}

/// Computes `r = |a - b|` of one number.
#[inline(always)]
pub(super) fn abs_diff(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let (greater, less) = if order(a, b).is_lt() { (b, a) } else { (a, b) };
    let greater = &greater[..greater.len().min(r.len())];
    let less = &less[..less.len().min(r.len())];
    words::number::<Sub>(r, greater, less);
}

/// Computes `r = |a + b|` of one number, modulo `2^(32 w)`. Returns the sign of the sum.
#[inline(always)]
fn number(r: &mut [Limb], a: &[Limb], b: &[Limb], [first, second]: [Limb; 2]) -> Limb {
    let most = r.len();
    let cut = |x: &'_ [Limb]| x.len().min(most);
    if first == second {
        words::number::<Add>(r, &a[..cut(a)], &b[..cut(b)]);
        return first;
    }
    let (greater, less, sign) = match order(a, b) {
        Ordering::Less => (b, a, second),
        Ordering::Equal => {
            r.fill(0);
            return 0;
        }
        Ordering::Greater => (a, b, first),
    };
    words::number::<Sub>(r, &greater[..cut(greater)], &less[..cut(less)]);
    sign
}
