//! The powers of ten at which numbers are put together.

use super::{LEAF_WORDS, WORD_BASE};
use crate::fast::number::reciprocal::product;

/// `10^(19 words)`.
pub(super) struct Power {
    pub(super) words: usize,
    pub(super) value: Vec<u64>,
}

/// One power per level, largest first, each of half the words of the one
/// before.
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
                None => small_power(words),
                Some(half) => {
                    // 2 half.words is words or one more.
                    let mut value = product(&half.value, &half.value);
                    if 2 * half.words > words {
                        let rest = super::divide_word(&mut value, WORD_BASE);
                        debug_assert_eq!(rest, 0);
                    }
                    super::trim(value)
                }
            };
            levels.push(Power { words, value });
        }
        levels.reverse();
        Powers(levels)
    }

    /// The power of a level; none where leaves begin.
    pub(super) fn level(&self, level: usize) -> Option<&Power> {
        self.0.get(level)
    }
}

/// `10^(19 words)`, word by word.
pub(super) fn small_power(words: usize) -> Vec<u64> {
    let mut value = vec![1];
    for _ in 0..words {
        let mut carry = 0;
        for limb in &mut value {
            let t = u128::from(*limb) * u128::from(WORD_BASE) + u128::from(carry);
            (*limb, carry) = (t as u64, (t >> 64) as u64);
        }
        value.push(carry);
    }
    super::trim(value)
}
