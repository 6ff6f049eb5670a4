//! Accesses of a whole warp whose lanes go to places at equal distances in shared memory, as
//! most do: side by side, every fourth word, or all to one place. What they need of banks,
//! bounds and shadows is said of all lanes at once.
//!
//! Example: lanes 0 to 31 that load a word each from byte 272 on, 16 bytes apart, go to words
//! 68, 72, ... 192. By rows of 32 words, word 64 the first of row 2, these are the words of mask
//! `0x11111110` in row 2, of `0x11111111` in rows 3, 4 and 5, and of `0x00000001` in row 6.

use super::frame::Frame;
use crate::ir::Address;
use crate::ir::Reg;
use crate::memory::SHARED_WINDOW;
use crate::syntax::types::Space;

/// The addresses of an access at equal distances: lane `i` goes to so many words at `at + i * step`
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stride<const WORDS: usize> {
    pub at: u64,
    pub step: u64,
}

/// Whether numbers rise from the first by `step` each, four at a time.
macro_rules! rises_by {
    ($name:ident, $number:ty) => {
        #[inline(always)]
        fn $name(numbers: &[$number; 32], step: $number) -> bool {
            let mut differs = [0; 4];
            let mut expected: [$number; 4] =
                std::array::from_fn(|k| numbers[0].wrapping_add(step.wrapping_mul(k as $number)));
            for numbers in numbers.as_chunks::<4>().0 {
                for k in 0..4 {
                    differs[k] |= numbers[k] ^ expected[k];
                    expected[k] = expected[k].wrapping_add(step.wrapping_mul(4));
                }
            }
            differs == [0; 4]
        }
    };
}

rises_by!(words_rise_by, u32);
rises_by!(longs_rise_by, u64);

/// Every `1 << i`th bit of a word.
const EVERY: [u32; 6] = [
    0xffff_ffff,
    0x5555_5555,
    0x1111_1111,
    0x0101_0101,
    0x0001_0001,
    0x0000_0001,
];

impl<const WORDS: usize> Stride<WORDS> {
    /// The stride of an access, if its lanes go upwards, aligned and at equal distances.
    #[inline(always)]
    pub fn of(frame: &Frame, space: Space, address: &Address) -> Option<Self> {
        let (at, step) = match address.base {
            Reg::Word(base) => {
                let base = &frame.words[base.0 as usize];
                let step = base[1].wrapping_sub(base[0]);
                if !words_rise_by(base, step) {
                    return None;
                }
                // 32-bit addresses wrap: those that do lie behind all that there is.
                let first = base[0].wrapping_add(address.offset as u32);
                (first.into(), step.into())
            }
            Reg::Long(base) => {
                let base = &frame.longs[base.0 as usize];
                let step = base[1].wrapping_sub(base[0]);
                if !longs_rise_by(base, step) {
                    return None;
                }
                (base[0].wrapping_add(address.offset as u64), step)
            }
            Reg::Pred(_) => return None,
        };
        let window = if space == Space::Shared {
            0
        } else {
            SHARED_WINDOW
        };
        let stride = Stride {
            at: u64::checked_sub(at, window)?,
            step,
        };
        let aligned = (stride.at | step).is_multiple_of(4 * WORDS as u64);
        (aligned && step <= u64::from(u32::MAX)).then_some(stride)
    }

    /// Behind the last byte that a lane goes to.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        (self.at + 4 * WORDS as u64).saturating_add(31 * self.step)
    }

    /// The first word, and the distance in words.
    #[inline(always)]
    pub fn in_words(&self) -> (usize, usize) {
        (self.at as usize / 4, self.step as usize / 4)
    }

    /// Whether the lanes go side by side.
    #[inline(always)]
    pub fn is_dense(&self) -> bool {
        self.step == 4 * WORDS as u64
    }

    /// The passes that banks need: 8- and 16-byte accesses go by half and quarter warps, of
    /// which each has lanes enough for all banks. Of these lanes meet in a bank as many as the
    /// distance, in accesses, has factors of two in common with their number; those of one
    /// place share a pass.
    pub fn passes(&self) -> u64 {
        let distance = self.step / (4 * WORDS as u64);
        let lanes = 32 / WORDS as u64;
        let meeting = if distance == 0 {
            1
        } else {
            lanes.min(1 << distance.trailing_zeros().min(5))
        };
        WORDS as u64 * meeting
    }

    /// Shows the rows of 32 words that the lanes go to, ascending, each with a mask of the
    /// words there, until `visit` answers no; whether it never did. The lanes must not go all
    /// to one place.
    #[inline(always)]
    pub fn rows(&self, mut visit: impl FnMut(usize, u32) -> bool) -> bool {
        let (first, step) = self.in_words();
        if step == WORDS && first.is_multiple_of(32) {
            return (first / 32..first / 32 + WORDS).all(|row| visit(row, u32::MAX));
        }
        let ones = u32::MAX >> (32 - WORDS);
        if step.is_power_of_two() && step <= 32 {
            // One in every `step` bits, as often as a lane has words.
            let every = EVERY[step.trailing_zeros() as usize].wrapping_mul(ones) << (first % step);
            let last = first + 31 * step + WORDS - 1;
            let mut mask = every & u32::MAX << (first % 32);
            for row in first / 32..last / 32 {
                if !visit(row, mask) {
                    return false;
                }
                mask = every;
            }
            return visit(last / 32, mask & u32::MAX >> (31 - last % 32));
        }
        let mut word = first;
        let mut lane = 0;
        while lane < 32 {
            let row = word / 32;
            let mut mask = 0;
            while lane < 32 && word / 32 == row {
                mask |= ones << (word % 32);
                word += step;
                lane += 1;
            }
            if !visit(row, mask) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::banks::Banks;
    use super::*;
    use std::collections::BTreeMap;

    fn check<const WORDS: usize>(at: u64, distance: u64) {
        let stride = Stride::<WORDS> {
            at: at * 4 * WORDS as u64,
            step: distance * 4 * WORDS as u64,
        };
        let addresses = std::array::from_fn(|lane| stride.at + lane as u64 * stride.step);
        let mut passes = 0;
        for group in 0..WORDS {
            let lanes = 32 / WORDS;
            let mask = (u32::MAX >> (32 - lanes)) << (group * lanes);
            passes += Banks::default().passes(&addresses, mask, WORDS as u32).0;
        }
        assert_eq!(stride.passes(), passes, "{stride:?} of {WORDS} words");
        if distance == 0 {
            return;
        }
        let mut masks: BTreeMap<usize, u32> = BTreeMap::new();
        for word in addresses
            .iter()
            .flat_map(|at| (0..WORDS).map(move |k| *at as usize / 4 + k))
        {
            *masks.entry(word / 32).or_default() |= 1 << (word % 32);
        }
        let mut rows = Vec::new();
        assert!(stride.rows(|row, mask| {
            rows.push((row, mask));
            true
        }));
        assert_eq!(
            rows,
            masks.into_iter().collect::<Vec<_>>(),
            "{stride:?} of {WORDS} words"
        );
    }

    #[test]
    fn rows_and_passes_are_those_of_the_lanes_one_by_one() {
        for at in [0, 1, 3, 7, 30, 63] {
            for distance in [0, 1, 2, 3, 4, 5, 8, 12, 16, 24, 31, 32, 33, 48, 64, 96] {
                check::<1>(at, distance);
                check::<2>(at, distance);
                check::<4>(at, distance);
            }
        }
    }

    #[test]
    fn the_example_of_the_head() {
        let mut rows = Vec::new();
        Stride::<1> { at: 272, step: 16 }.rows(|row, mask| {
            rows.push((row, mask));
            true
        });
        let all = 0x1111_1111;
        let want = [(2, 0x1111_1110), (3, all), (4, all), (5, all), (6, 1)];
        assert_eq!(rows, want);
    }
}
