//! Where a thread that [scans](crate::Algorithm::Scan) has its numbers: in registers, in strips of
//! shared memory, or in device memory.

use crate::operation::{Operation, Width};
use crate::shape::Layout;

/// The widest number, in limbs, that a thread scans by way of shared memory.
pub const WIDEST_SCANNED: u32 = 49;

/// The widest number, in limbs, that a thread scans whether it is in a strip or not.
const WIDEST_ALONE: u32 = 16;

/// The widest of two numbers, in limbs, that a thread scans by way of strips.
const WIDEST_OF_TWO: u32 = 33;

/// Limbs of shared memory for each number of `width` limbs in a strip of a warp's numbers, where one
/// may be left out behind each of an even width.
#[inline(always)]
pub const fn strip(width: u32) -> u32 {
    if width.is_multiple_of(2) && width > 0 {
        width + 1
    } else {
        width
    }
}

/// Numbers of `width` limbs that a thread has in strips: of narrow ones two, as where they are takes
/// as long to find out for two as for one.
#[inline(always)]
pub const fn numbers_scanned(width: u32) -> u32 {
    match width {
        0..=8 => 2,
        _ => 1,
    }
}

/// Whether threads have operands of so many limbs in strips. A kernel decides so for itself where it
/// is not specialized, and the host by the same function how much shared memory it needs.
///
/// An operation that reads each limb once takes longer by way of shared memory, as caches have the rest of
/// a sector; so does one of six limbs, of which three rows at a time are moved. Lanes, which share what is
/// wider than [`WIDEST_ALONE`], are ahead where they move four limbs at a time: on an H200 at 1056 bits they
/// take 1.5 times as long for two numbers in order and 1.4 times for counts of ones, at 1024 bits a tenth
/// less and as long.
#[inline(always)]
const fn pay(operation: Operation, width: u32) -> bool {
    match operation {
        Operation::Min | Operation::Max | Operation::MinMax | Operation::AbsDiff
            if width > WIDEST_ALONE =>
        {
            width <= WIDEST_OF_TWO && !width.is_multiple_of(4)
        }
        Operation::CountOnes if width > WIDEST_ALONE => !width.is_multiple_of(4),
        _ if width > WIDEST_ALONE => false,
        Operation::Min | Operation::Max => width == 5 || width >= 7,
        Operation::MinMax => width >= 5,
        Operation::AbsDiff => width >= 7,
        Operation::AddSigned => width >= 8,
        Operation::ModAdd | Operation::ModSub => width >= 9,
        Operation::TrailingZeros | Operation::CountOnes => width >= 15,
        _ => false,
    }
}

/// The place of the numbers of a thread that [scans](crate::Algorithm::Scan).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// In device memory.
    Far,
    /// Up to four limbs of each operand in registers.
    InRegisters,
    /// By way of so many limbs of shared memory for each thread: a strip for each operand and each
    /// result. The first result stands in the strip of `a` where it is as wide as `a`, and the second
    /// in the strip of `b` where it is as wide as `b`.
    InStrips(u32),
}

/// The place of a thread's numbers where operands `[a, b, c]` and results `[r, s]` have these
/// widths, and contiguous ones follow one another without gaps.
#[inline(always)]
pub const fn scanned(
    operation: Operation,
    layout: Layout,
    [a, b, c]: [u32; 3],
    [r, s]: [u32; 2],
) -> Scanned {
    let are_few = a <= 4 && b <= 4 && c <= 4;
    let are_narrow = a <= WIDEST_SCANNED
        && b <= WIDEST_SCANNED
        && c <= WIDEST_SCANNED
        && r <= WIDEST_SCANNED
        && s <= WIDEST_SCANNED;
    let is_contiguous = matches!(layout, Layout::Contiguous);
    if are_few && !operation.makes_one_limb() {
        Scanned::InRegisters
    } else if is_contiguous && are_narrow && pay(operation, if a > b { a } else { b }) {
        let own_r = if r == a { 0 } else { strip(r) };
        let own_s = if s == b { 0 } else { strip(s) };
        let limbs = strip(a) + strip(b) + strip(c) + own_r + own_s;
        Scanned::InStrips(numbers_scanned(a) * limbs)
    } else {
        Scanned::Far
    }
}

/// Whether contiguous operands of these widths, and results of which the first is `width` limbs wide, are
/// scanned by way of strips.
pub const fn is_in_strips(operation: Operation, widths: &[usize], width: usize) -> bool {
    scanned_bytes(operation, Layout::Contiguous, widths, width).0 > 0
}

/// Bytes of shared memory for each thread that scans operands of these widths for results of which
/// the first is `width` limbs wide, and numbers that it takes at a time.
pub(crate) const fn scanned_bytes(
    operation: Operation,
    layout: Layout,
    widths: &[usize],
    width: usize,
) -> (usize, usize) {
    let operands = match widths {
        [a, b, c, ..] => [*a as u32, *b as u32, *c as u32],
        [a, b] => [*a as u32, *b as u32, 0],
        [a] => [*a as u32, 0, 0],
        [] => [0; 3],
    };
    let second = match operation.declaration().exact {
        [_, Width::Limbs(limbs)] => *limbs as u32,
        [_, _] => width as u32,
        _ => 0,
    };
    match scanned(operation, layout, operands, [width as u32, second]) {
        Scanned::InStrips(limbs) => (4 * limbs as usize, numbers_scanned(operands[0]) as usize),
        Scanned::Far | Scanned::InRegisters => (0, 1),
    }
}
