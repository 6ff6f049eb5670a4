//! Words modulo other numbers, where a carry dies out in the two words of a point.

use super::super::words::{BaseWords, ROUND_UPPER, f64_upper};
use super::super::{Block, sixteen};
use super::{ThreadPlace, Words};
use crate::gpu::float::signed;
use crate::gpu::registers::afresh;
use crate::transform::complex::Complex;

#[derive(Clone, Copy)]
pub(super) struct NearWords(BaseWords);

impl Words for NearWords {
    const IS_CYCLIC: bool = false;

    #[inline(always)]
    fn of(block: Block<'_>, place: ThreadPlace) -> Self {
        NearWords(block.base_words(place.row, place.column))
    }

    #[inline(always)]
    fn weigh(self, block: Block<'_>, z: &mut Complex, k: usize) {
        self.0.weigh(z, self.0.steps(block, k));
    }

    #[inline(always)]
    fn carry(
        self,
        block: Block<'_>,
        place: ThreadPlace,
        number: u32,
        ends: bool,
        v: &mut [Complex; 16],
    ) -> bool {
        let words = self.0;
        let mut carries = [0; 16];
        let (mut error, mut excess) = (0, 0);
        block.twist(place, v, true);
        sixteen!(k => {
            if (k as u32) < place.radix {
                let steps = words.steps(block, k);
                let (sum, distance) = block.to_words(&mut v[k], words, steps);
                error = error.max(distance);
                carries[k] = afresh(sum.to_bits() as u32);
                let sign = (carries[k] as i32 >> 31) as u32;
                excess |= ((sum.to_bits() >> 32) as u32).wrapping_sub(sign) ^ ROUND_UPPER;
            }
        });
        let end = carries;
        if !block.hand_on::<true>(place, number, &mut carries) || excess != 0 {
            error = f64_upper(f64::INFINITY);
        }
        block.note(number, error);
        if number == 0 {
            return false;
        }
        block.add_around(place, number, end, v);
        let words = words.afresh();
        sixteen!(k => {
            if (k as u32) < place.radix {
                let steps = words.steps(block, k);
                // The odd word takes the carry that is left, which is at most 1 in size.
                block.add(&mut v[k], signed(carries[k] as i32), steps, true);
                if !ends {
                    words.weigh(&mut v[k], steps);
                }
            }
        });
        if !ends {
            block.twist(place, v, false);
        }
        true
    }
}

impl Block<'_> {
    /// Adds to a word of the last point what goes around; `end` are the carries of the thread's rows.
    #[inline(always)]
    fn add_around(self, place: ThreadPlace, block: u32, end: [u32; 16], v: &mut [Complex; 16]) {
        if !(place.has_end(block) && place.is_last) {
            return;
        }
        sixteen!(k => {
            if k as u32 + 1 == place.radix {
                let [_, high] = self.around(signed(end[k] as i32));
                match self.arguments.behind {
                    1 => v[k].re += high,
                    _ => v[k].im += high,
                }
            }
        });
    }
}
