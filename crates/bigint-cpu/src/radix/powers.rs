//! The powers of ten by which numbers are split and put together.

use super::{LEAF_WORDS, WORD_BASE};
use crate::Path;
use crate::fast::number::division::div_rem;
use crate::fast::number::limbs::multiply_add;
use crate::fast::number::reciprocal::product;

/// The power `10^(19 words)`.
pub(super) struct Power {
    pub(super) words: usize,
    pub(super) value: Vec<u64>,
}

/// One power for each level, the largest first. Each has half the words of the one before.
pub(super) struct Powers(Vec<Power>);

impl Powers {
    /// The powers for numbers of so many words of digits.
    pub(super) fn new(words: usize) -> Self {
        let mut sizes = Vec::new();
        let mut words = words;
        while words > LEAF_WORDS {
            words = words.div_ceil(2);
            sizes.push(words);
        }
        let mut levels: Vec<Power> = Vec::new();
        for &words in sizes.iter().rev() {
            let value = match levels.last() {
                None => small_power(WORD_BASE, words),
                Some(half) => {
                    // The words are those of 2 half.words, or one more.
                    let mut value = product(&half.value, &half.value);
                    if 2 * half.words > words {
                        (value, _) = div_rem(&value, &[WORD_BASE], Path::best());
                    }
                    value
                }
            };
            levels.push(Power { words, value });
        }
        levels.reverse();
        Powers(levels)
    }

    /// The power of a level, or `None` at the level of leaves.
    pub(super) fn level(&self, level: usize) -> Option<&Power> {
        self.0.get(level)
    }
}

/// The power `base^words`, computed word by word.
pub(super) fn small_power(base: u64, words: usize) -> Vec<u64> {
    let mut value = vec![1];
    for _ in 0..words {
        multiply_add(&mut value, base, 0);
    }
    value
}
