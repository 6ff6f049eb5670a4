//! The places in which a thread that [scans](crate::Algorithm::Scan) holds its numbers: registers, strips of
//! shared memory, or device memory.

use crate::operation::{Operation, Width};
use crate::shape::Layout;

/// The widest number, in limbs, that a thread scans in shared memory.
pub const WIDEST_SCANNED: u32 = 49;

/// The widest number, in limbs, that a thread scans even if it is not in a strip; lanes share wider ones.
const WIDEST_ALONE: u32 = 16;

/// The widest number, in limbs, of an operation on two numbers that a thread scans in strips.
const WIDEST_OF_TWO: u32 = 33;

/// The limbs of shared memory for each number in a strip of numbers of `width` limbs. Where the width is
/// even, limbs are left out between numbers so that threads meet in no bank, and there is room for one
/// behind each number.
#[inline(always)]
pub const fn strip(width: u32) -> u32 {
    if width.is_multiple_of(2) && width > 0 {
        width + 1
    } else {
        width
    }
}

/// The numbers of `width` limbs that a thread has in strips at a time. It has two narrow ones, as it takes
/// no longer to find out where two of them are than one.
#[inline(always)]
pub const fn numbers_scanned(width: u32) -> u32 {
    match width {
        0..=8 => 2,
        _ => 1,
    }
}

/// Whether it pays for threads to hold operands of `width` limbs in strips. A kernel that is not specialized
/// asks this function, and the host asks it how much shared memory a launch needs.
///
/// An operation that reads each limb once takes longer through shared memory, as the caches hold the rest of
/// a sector anyway. So does one on six limbs, which are moved by three rows at a time. Lanes, which share
/// numbers wider than [`WIDEST_ALONE`], are faster where they move four limbs at a time. On an H200 lanes
/// take 1.5 times as long as a thread with strips to put two numbers of 1056 bits in order, and 1.4 times to
/// count ones; at 1024 bits they take a tenth less, and as long.
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

/// The place in which a thread that [scans](crate::Algorithm::Scan) holds its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// In device memory.
    Far,
    /// Up to four limbs of each operand in registers.
    InRegisters,
    /// In shared memory, of so many limbs for each thread: a strip for each operand and each result. A first
    /// result as wide as `a` stands in the strip of `a`, and a second as wide as `b` in the strip of `b`.
    InStrips(u32),
}

/// The place of a thread's numbers for operands `[a, b, c]` and results `[r, s]` of these widths, in limbs,
/// if numbers of contiguous batches follow one another without gaps.
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

/// Whether contiguous operands of `widths` limbs are scanned in strips, when the first result has `width`
/// limbs.
pub const fn is_in_strips(operation: Operation, widths: &[usize], width: usize) -> bool {
    scanned_bytes(operation, Layout::Contiguous, widths, width).0 > 0
}

/// The bytes of shared memory for each thread that scans operands of `widths` limbs, and the numbers that
/// the thread takes at a time. The first result has `width` limbs.
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

/// The most registers in which each lane holds its limbs of a number that is passed over.
pub const HELD: usize = 8;

/// The registers in which each of `lanes` lanes holds its limbs of numbers of up to `width` limbs. Where they are more than
/// [`HELD`], this is one more.
#[inline(always)]
pub const fn chunks_held(width: usize, lanes: u32) -> u32 {
    match width.div_ceil(lanes as usize) {
        chunks if chunks > HELD => HELD as u32 + 1,
        chunks => chunks as u32,
    }
}
