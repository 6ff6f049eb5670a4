//! Where a warp keeps the numbers of products in shared memory.
//!
//! Neighbouring numbers of a contiguous batch are one run of memory, whatever their
//! width. A warp copies a tile of them as it lies, in whole lines, and finds each number
//! in shared memory. Threads that look at the same limb of neighbouring numbers then are
//! a width apart: of an odd width no two meet in a bank, of twice an odd width none that
//! takes two limbs at a time, of four times an odd width none that takes four. A number
//! of a multiple of eight limbs is followed by four of padding.
//!
//! ```text
//! width 3:   000111222333...       a four of the copy may hold parts of two numbers
//! width 8:   00000000....11111111....22222222....
//! ```

use crate::kernel::BLOCK;
use crate::{Algorithm, Limb};

/// Where limb `j` of number `i` of a tile is: limb `start + i stride + j` of the warp's
/// shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first number's place, a multiple of four limbs.
    pub start: u32,
    /// Limbs from number to number.
    pub stride: u32,
}

/// Where the operands and results of a tile are. The results take the place of
/// the second operands, which are in registers before, but for products by columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staging {
    /// The first operands.
    pub a: Region,
    /// The second operands.
    pub b: Region,
    /// The results.
    pub r: Region,
    /// Limbs left out in the middle of each second operand.
    pub gap: u32,
    /// Of a product by two rows of 16 limbs: where, from the begin of the result, the
    /// first row's limbs from the 16th on wait for the second.
    pub handed: u32,
    /// Limbs of all.
    limbs: u32,
}

/// Limbs that a thread, or a lane, has of an operand in registers, at most.
pub const ROW: usize = 16;

/// Limbs of the widest operands that a thread multiplies by columns here.
const COLUMNS: usize = 8;

/// Limbs of shared memory that a warp may take: 48 KiB for a block, as every device has.
const MOST: u32 = (48 << 10) / (BLOCK / 32) / size_of::<Limb>() as u32;

/// Limbs from number to number.
#[inline(always)] // As all that kernels call.
const fn stride(width: u32) -> u32 {
    if width.is_multiple_of(8) {
        width + 4
    } else {
        width
    }
}

/// Limbs of a region. A run may begin up to three limbs past a multiple of four.
#[inline(always)]
const fn room(numbers: u32, width: u32) -> u32 {
    (numbers * stride(width) + 3).next_multiple_of(4)
}

#[inline(always)]
const fn greater(x: u32, y: u32) -> u32 {
    if x > y { x } else { y }
}

impl Staging {
    /// The places of a warp's products of `n` by `m` limbs, cut or extended to `width`,
    /// each by this many lanes; `None` where `algorithm` takes its operands from device
    /// memory. Exchanged operands have the same answer and as many limbs.
    #[inline(always)]
    pub const fn of(
        algorithm: Algorithm,
        lanes: u32,
        (n, m): (usize, usize),
        width: usize,
    ) -> Option<Staging> {
        let wider = if n > m { n } else { m };
        let widest = match (algorithm, lanes) {
            (Algorithm::School, 1) => 2 * ROW,
            (Algorithm::School, _) => ROW * lanes as usize,
            (Algorithm::Comba, 1) => COLUMNS,
            _ => 0,
        };
        if n == 0 || m == 0 || width == 0 || wider > widest || width > MOST as usize {
            return None;
        }
        let numbers = WARP / lanes;
        if lanes == 1 && n == 2 * ROW && m == n && width == 2 * n {
            return Some(TWO_ROWS);
        }
        // All are narrow enough for 32 bits here.
        let (n, m, width) = (n as u32, m as u32, width as u32);
        // A number of eight limbs takes more than one of nine.
        let start = greater(room(numbers, n), room(numbers, m));
        // Rows have operands in registers when results take their place; columns do not.
        let behind = match algorithm {
            Algorithm::Comba => 2 * start,
            _ => start,
        };
        let staging = Staging {
            a: Region {
                start: 0,
                stride: stride(n),
            },
            b: Region {
                start,
                stride: stride(m),
            },
            r: Region {
                start: behind,
                stride: stride(width),
            },
            gap: 0,
            handed: ROW as u32,
            limbs: behind + greater(start, room(numbers, width)),
        };
        if staging.limbs > MOST {
            None
        } else {
            Some(staging)
        }
    }

    /// Whether operands and results lie between each other.
    #[inline(always)]
    pub const fn is_shared(&self) -> bool {
        self.gap > 0
    }

    /// Limbs of one warp.
    #[inline(always)]
    pub const fn limbs(&self) -> u32 {
        self.limbs
    }
}

/// Threads in a warp.
const WARP: u32 = 32;

/// Products of 32 by 32 limbs, which are too many for places apart: a result's begins with
/// the lower half of `b`, `a` follows, and then the upper half of `b`, in whose place and
/// behind it limbs wait.
///
/// ```text
/// b0..b15  a0..a31  b16..b31  -
/// r0.......r47      handed............
/// ```
const TWO_ROWS: Staging = {
    let stride = 84;
    Staging {
        a: Region { start: 16, stride },
        b: Region { start: 0, stride },
        r: Region { start: 0, stride },
        gap: 32,
        handed: 48,
        limbs: WARP * stride,
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_operand_or_result_is_where_another_is_that_is_not_over() {
        for (n, m, width) in [(8, 9, 17), (9, 8, 17), (7, 8, 9), (16, 15, 16), (1, 8, 30)] {
            for (algorithm, lanes) in [
                (Algorithm::School, 1),
                (Algorithm::Comba, 1),
                (Algorithm::School, 8),
            ] {
                let Some(staging) = Staging::of(algorithm, lanes, (n, m), width) else {
                    continue;
                };
                let ends =
                    |region: Region, width: usize| region.start + room(WARP / lanes, width as u32);
                assert!(ends(staging.a, n) <= staging.b.start);
                assert!(ends(staging.a, n) <= staging.r.start);
                assert!(ends(staging.b, m) <= staging.limbs());
                assert!(ends(staging.r, width) <= staging.limbs());
                let other = Staging::of(algorithm, lanes, (m, n), width).unwrap();
                assert_eq!(other.limbs(), staging.limbs());
            }
        }
    }

    #[test]
    fn every_product_of_up_to_32_limbs_by_one_as_wide_has_a_place() {
        for n in 1..=32 {
            for width in [n, 2 * n] {
                let staging = Staging::of(Algorithm::School, 1, (n, n), width).unwrap();
                assert!(staging.limbs() <= MOST);
            }
        }
        for lanes in [4, 8, 16, 32] {
            for n in [1, 33, 16 * lanes as usize] {
                let n = n.min(16 * lanes as usize);
                assert!(Staging::of(Algorithm::School, lanes, (n, n), 2 * n).is_some());
            }
        }
        assert_eq!(Staging::of(Algorithm::School, 1, (33, 1), 34), None);
        assert_eq!(Staging::of(Algorithm::Karatsuba, 1, (8, 8), 16), None);
    }

    /// Lanes that take the greatest power of two of limbs, at most four, that divides the
    /// stride: as many limbs as there are banks are in as many banks.
    #[test]
    fn neighbouring_numbers_meet_in_no_bank() {
        for width in 1..=64 {
            let together = 1 << stride(width).trailing_zeros().min(2);
            let mut taken = [false; 32];
            for lane in 0..WARP / together {
                for limb in 0..together {
                    let bank = (lane * stride(width) + limb) % 32;
                    assert!(!taken[bank as usize], "{width}");
                    taken[bank as usize] = true;
                }
            }
        }
    }
}
