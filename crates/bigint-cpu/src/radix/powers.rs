//! The powers of ten at which numbers are halved.

use super::division::Divisor;
use super::{LEAF_WORDS, WORD_BASE, product};

/// `10^(19 words)`.
pub(super) struct Power {
    pub(super) words: usize,
    pub(super) value: Vec<u64>,
    divisor: Option<Divisor>,
}

impl Power {
    /// `(x / 10^(19 words), x mod 10^(19 words))`, both trimmed.
    pub(super) fn divide(&self, x: &[u64]) -> (Vec<u64>, Vec<u64>) {
        match &self.divisor {
            Some(divisor) => divisor.divide(x, &self.value),
            None => Divisor::new(&self.value).divide(x, &self.value),
        }
    }
}

/// One power per level, largest first, each of half the words of the one
/// before.
pub(super) struct Powers(Vec<Power>);

impl Powers {
    /// The powers for numbers of so many words of digits; with reciprocals, if
    /// they are to divide.
    pub(super) fn new(words: usize, divide: bool) -> Self {
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
            let divisor = divide.then(|| Divisor::new(&value));
            levels.push(Power {
                words,
                value,
                divisor,
            });
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
fn small_power(words: usize) -> Vec<u64> {
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
