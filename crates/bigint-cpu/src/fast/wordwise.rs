//! Operations on numbers as 64-bit words, one number after another: what is too long a
//! computation for its words to be fetched in place to matter.

use bigint_core::Limb;

use super::Cpu;
use super::mul::{pack, unpack};
use crate::memory::{grow, or_out_of_memory, scratch};
use crate::piece::Piece;
use crate::share::share;
use crate::{Error, Numbers, Results, reference};

/// One number of a batch.
pub(super) struct Words<'a> {
    /// The result, zeros at first; a word more than is kept where the number of limbs is
    /// odd.
    pub r: &'a mut [u64],
    /// The second result, likewise; empty where the operation has one.
    pub s: &'a mut [u64],
    /// The operands without zeros on top.
    pub operands: [&'a [u64]; 3],
}

/// `number(words)` for every number, which answers the flag; `work` is what a number takes
/// in the unit of [`Sharing`](crate::Sharing).
pub(super) fn wordwise(
    cpu: &Cpu,
    results: Results<'_>,
    operands: &[Numbers<'_>],
    work: usize,
    number: impl Fn(Words<'_>) -> Limb + Sync,
) -> Result<(), Error> {
    let Results { r, s, flags } = results;
    reference::check(&r, operands, flags.as_deref())?;
    let count = r.shape().count;
    let cut = cpu.tuning().sharing.cut(count, work, count, 1);
    let size = cut.size.max(1);
    let pieces = Piece::cut(r, flags, size);
    let mut seconds: Vec<_> = match s {
        Some(s) => Piece::cut(s, None, size).into_iter().map(Some).collect(),
        None => Vec::new(),
    };
    seconds.resize_with(pieces.len(), || None);
    let both = pieces.into_iter().zip(seconds);
    or_out_of_memory(|| {
        share(both, cut.threads, |(piece, second)| {
            numbers(piece, second, operands, &number);
        });
    })
}

fn numbers(
    mut piece: Piece<'_>,
    mut second: Option<Piece<'_>>,
    operands: &[Numbers<'_>],
    number: impl Fn(Words<'_>) -> Limb,
) {
    let mut limbs = Vec::new();
    let mut words: [Vec<u64>; 3] = Default::default();
    for (words, operand) in words.iter_mut().zip(operands) {
        *words = scratch(operand.shape().width.div_ceil(2));
    }
    let mut r: Vec<u64> = scratch(piece.width.div_ceil(2));
    let mut s: Vec<u64> = scratch(second.as_ref().map_or(0, |s| s.width.div_ceil(2)));
    for i in 0..piece.count {
        for (words, operand) in words.iter_mut().zip(operands) {
            pack(words, operand.gather(piece.first + i, &mut limbs));
        }
        r.fill(0);
        s.fill(0);
        let flag = number(Words {
            r: &mut r,
            s: &mut s,
            operands: [&words[0], &words[1], &words[2]].map(|words| trimmed(words)),
        });
        piece.store_carry(i, flag);
        put(&mut piece, i, &r, &mut limbs);
        if let Some(second) = &mut second {
            put(second, i, &s, &mut limbs);
        }
    }
}

/// Writes number `i` of a piece.
fn put(piece: &mut Piece<'_>, i: usize, words: &[u64], limbs: &mut Vec<Limb>) {
    if let Some(number) = piece.contiguous_mut(i) {
        unpack(number, words);
    } else {
        grow(limbs, piece.width);
        unpack(limbs, words);
        piece.store(i, limbs);
    }
}

/// `x` without the zeros on top.
pub(super) fn trimmed(x: &[u64]) -> &[u64] {
    let words = x.iter().rposition(|&word| word != 0);
    &x[..words.map_or(0, |top| top + 1)]
}

/// `r = x`, as many words as there is room for; `r` is zero.
pub(super) fn store(r: &mut [u64], x: &[u64]) {
    let words = r.len().min(x.len());
    r[..words].copy_from_slice(&x[..words]);
}
