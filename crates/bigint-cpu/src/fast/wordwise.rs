//! Operations on numbers as 64-bit words, one number after another. They take so long that copying
//! a number to words does not matter. If an operation has lanes, these compute the numbers that
//! they can, and words compute the rest.

use bigint_core::{Algorithm, Limb, Operation};

use super::lanes::{self, Group};
use super::number::limbs::{pack, trimmed, unpack};
use super::{Cpu, decimal, div_rem, euclid, root};
use crate::memory::{grow, or_out_of_memory, scratch};
use crate::piece::Piece;
use crate::share::share;
use crate::{Error, Numbers, Results, reference};

/// One number of a batch.
pub(super) struct Words<'a> {
    /// The result, which is zero at first. If the number of limbs is odd, it has a half word more
    /// than is kept.
    pub r: &'a mut [u64],
    /// The second result in the same form, or nothing if the operation has only one.
    pub s: &'a mut [u64],
    /// The operands, without zeros at their ends.
    pub operands: [&'a [u64]; 3],
}

/// A function that computes a group in lanes. It returns a bit for each number that is right and
/// whose flag is 0. The other numbers are computed one after another.
pub(super) type InLanes = fn(Group<'_, '_>) -> u8;

/// The least number of numbers that is worth a group.
const FEWEST: usize = 2;

/// The way in which an operation on words is computed: the cost of a number in the unit of
/// [`Sharing`](crate::Sharing), the lanes for a group, and the function for one number, which
/// returns its flag.
type Leaf = (
    fn(&[Numbers<'_>]) -> usize,
    Option<InLanes>,
    fn(&Cpu, Words<'_>) -> Limb,
);

/// The leaf of an operation, if it is one on words.
fn leaf(operation: Operation) -> Option<Leaf> {
    let leaf: Leaf = match operation {
        Operation::DivRem => (div_rem::work, Some(lanes::div_rem), div_rem::div_rem),
        Operation::Div => (div_rem::work, Some(lanes::div), div_rem::div),
        Operation::Rem => (div_rem::work, Some(lanes::rem), div_rem::rem),
        Operation::Gcd => (euclid::work, Some(lanes::gcd), euclid::gcd),
        Operation::Lcm => (euclid::work, None, euclid::lcm),
        Operation::InvMod => (euclid::work, Some(lanes::inv_mod), euclid::inv_mod),
        Operation::Jacobi => (euclid::work, None, euclid::jacobi),
        Operation::Isqrt => (root::work, Some(lanes::isqrt), root::isqrt),
        Operation::Iroot => (root::work, None, root::iroot),
        Operation::ToDecimal => (decimal::work, None, decimal::to_decimal),
        Operation::FromDecimal => (decimal::work, None, decimal::from_decimal),
        _ => return None,
    };
    Some(leaf)
}

/// Computes an operation on words for every number, and any other operation by its reference.
pub(super) fn compute(
    cpu: &Cpu,
    operation: Operation,
    results: Results<'_>,
    operands: &[Numbers<'_>],
    algorithm: Algorithm,
) -> Result<(), Error> {
    let declared = operation.declaration();
    let is_as_declared = operands.len() == declared.operands.len()
        && 1 + usize::from(results.s.is_some()) == declared.results.len();
    match leaf(operation) {
        Some(leaf) if is_as_declared && algorithm == Algorithm::Auto => {
            wordwise(cpu, results, operands, leaf)
        }
        _ => reference::compute(operation, results, operands, algorithm),
    }
}

fn wordwise(
    cpu: &Cpu,
    results: Results<'_>,
    operands: &[Numbers<'_>],
    (work, in_lanes, number): Leaf,
) -> Result<(), Error> {
    let Results { r, s, flags } = results;
    reference::check(&r, operands, flags.as_deref())?;
    let count = r.shape().count;
    let in_lanes = in_lanes.filter(|_| lanes::have_multipliers(cpu.path()));
    // Rows of an interleaved result are cut between lines, and groups are whole.
    let granule = if in_lanes.is_some() { 16 } else { 1 };
    let cut = cpu
        .tuning()
        .sharing
        .cut(count, work(operands), count, granule);
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
            numbers(piece, second, operands, in_lanes, |words| {
                number(cpu, words)
            });
        });
    })
}

fn numbers<'p>(
    mut piece: Piece<'p>,
    mut second: Option<Piece<'p>>,
    operands: &[Numbers<'_>],
    in_lanes: Option<InLanes>,
    number: impl Fn(Words<'_>) -> Limb,
) {
    let mut buffers = None;
    for i in (0..piece.count).step_by(LANES) {
        let live = LANES.min(piece.count - i);
        let done = match in_lanes {
            Some(group) if live >= FEWEST => group(Group {
                r: &mut piece,
                s: second.as_mut(),
                i,
                operands,
            }),
            _ => 0,
        };
        for lane in 0..live {
            if done >> lane & 1 == 1 {
                piece.store_carry(i + lane, 0);
                continue;
            }
            let width = second.as_ref().map_or(0, |s| s.width);
            buffers
                .get_or_insert_with(|| Buffers::new(operands, [piece.width, width]))
                .number(&mut piece, &mut second, i + lane, operands, &number);
        }
    }
}

/// The numbers of a group.
const LANES: usize = 8;

/// The memory of one number.
struct Buffers {
    limbs: Vec<Limb>,
    operands: [Vec<u64>; 3],
    results: [Vec<u64>; 2],
}

impl Buffers {
    fn new(operands: &[Numbers<'_>], widths: [usize; 2]) -> Self {
        let mut words: [Vec<u64>; 3] = Default::default();
        for (words, operand) in words.iter_mut().zip(operands) {
            *words = scratch(operand.shape().width.div_ceil(2));
        }
        Buffers {
            limbs: Vec::new(),
            operands: words,
            results: widths.map(|width| scratch(width.div_ceil(2))),
        }
    }

    fn number(
        &mut self,
        piece: &mut Piece<'_>,
        second: &mut Option<Piece<'_>>,
        i: usize,
        operands: &[Numbers<'_>],
        number: impl Fn(Words<'_>) -> Limb,
    ) {
        let limbs = &mut self.limbs;
        for (words, operand) in self.operands.iter_mut().zip(operands) {
            pack(words, operand.gather(piece.first + i, limbs));
        }
        let [r, s] = &mut self.results;
        r.fill(0);
        s.fill(0);
        let flag = number(Words {
            r,
            s,
            operands: self.operands.each_ref().map(|words| trimmed(words)),
        });
        piece.store_carry(i, flag);
        put(piece, i, r, limbs);
        if let Some(second) = second {
            put(second, i, s, limbs);
        }
    }
}

/// Writes `words` as number `i` of a piece.
fn put(piece: &mut Piece<'_>, i: usize, words: &[u64], limbs: &mut Vec<Limb>) {
    if let Some(number) = piece.contiguous_mut(i) {
        unpack(number, words);
    } else {
        grow(limbs, piece.width);
        unpack(limbs, words);
        piece.store(i, limbs);
    }
}
