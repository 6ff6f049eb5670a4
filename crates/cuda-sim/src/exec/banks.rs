//! Bank conflicts of shared memory: a word of each of its 32 banks moves in one pass.

use super::mask::lanes_of;
use crate::ir::Longs;

/// Which words an access touches.
#[derive(Default)]
pub(super) struct Banks {
    /// For each row of 32 words, a bit for each word; all zero between accesses.
    rows: Vec<u32>,
}

impl Banks {
    /// The passes that lanes need which touch so many words each, and the fewest that so many
    /// words could need. Accesses are aligned to their size.
    pub fn passes(&mut self, addresses: &Longs, mask: u32, words: u32) -> (u64, u64) {
        let ones = u32::MAX >> (32 - words);
        let mut touched = [0; 32];
        let mut n = 0;
        for lane in lanes_of(mask) {
            let word = (addresses[lane] / 4) as usize;
            let row = word / 32;
            if row >= self.rows.len() {
                self.rows.resize(row + 1, 0);
            }
            if self.rows[row] == 0 {
                touched[n] = row;
                n += 1;
            }
            self.rows[row] |= ones << (word % 32);
        }
        // A counter of up to 32 rows for each bank, bit by bit over all banks.
        let mut counters = [0; 6];
        let mut total = 0;
        for &row in &touched[..n] {
            let mut carry = std::mem::take(&mut self.rows[row]);
            total += u64::from(carry.count_ones());
            for counter in &mut counters {
                (*counter, carry) = (*counter ^ carry, *counter & carry);
            }
        }
        // The highest counter: of those that are the highest so far, those with the next bit.
        let (mut highest, mut most) = (u32::MAX, 0);
        for counter in counters.iter().rev() {
            most *= 2;
            if highest & counter != 0 {
                highest &= counter;
                most += 1;
            }
        }
        (most, total.div_ceil(32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn passes_are_the_most_different_words_of_a_bank() {
        let mut banks = Banks::default();
        let mut state = 1u64;
        for round in 0..500 {
            let words = [1, 2, 4][round % 3];
            let spread = [1, 7, 64, 3000][round % 4];
            let addresses: Longs = std::array::from_fn(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) % spread * u64::from(4 * words)
            });
            let mask = u32::MAX >> (32 - 32 / words) >> (round % 5);
            let touched: BTreeSet<u64> = lanes_of(mask)
                .flat_map(|lane| (0..u64::from(words)).map(move |k| addresses[lane] / 4 + k))
                .collect();
            let of_bank = |bank| touched.iter().filter(|&word| word % 32 == bank).count() as u64;
            let most = (0..32).map(of_bank).max().unwrap_or(0);
            let fewest = (touched.len() as u64).div_ceil(32);
            assert_eq!(banks.passes(&addresses, mask, words), (most, fewest));
        }
    }
}
