//! The choice of a transform for squares and products modulo `2^p - 1` and other `k b^n + c`.

use crate::tuning::gpu::MersenneTuning;
use crate::{Engine, Tuning};
use bigint_cpu::fast::number::weighted::{Length, Modulus};

/// The least bits of a word for which a longer transform modulo other numbers than `2^p - 1` in two launches is faster than
/// a shorter one in three.
const LEAST_BITS: usize = 8;

/// Whether the CPU squares modulo `2^p - 1` faster by a transform in doubles than by an exact
/// product.
pub fn mersenne_by_doubles(p: u32) -> bool {
    p >= Tuning::default().mersenne.doubles_min_exponent
}

impl Engine {
    /// The number of words, above `longer_than` if that is given, of the transform by which the engine's device
    /// squares modulo a number in the least time, for [`Engine::squares_modulo`]. `None` on the CPU, and where none
    /// suits the modulus.
    pub fn transform_modulo(&self, modulus: Modulus, longer_than: Option<usize>) -> Option<usize> {
        let tuning = &self.tuning().mersenne;
        let in_two_launches = |words| self.takes_two_launches(modulus, words);
        let mut lengths = self.mersenne_words();
        let Some(p) = modulus.exponent() else {
            lengths.retain(|&words| self.takes_transform(modulus, words));
            let suits = |words| modulus.suits(words, longer_than);
            return tuning.fastest(modulus.bits(), LEAST_BITS, &lengths, suits, in_two_launches);
        };
        let least = match longer_than {
            Some(words) => words + 1,
            None => Length::for_exponent(p)?.words(),
        };
        let words = tuning.words(p, &lengths, least, longer_than.is_none(), in_two_launches);
        words.filter(|&words| words <= p as usize)
    }
}

impl MersenneTuning {
    /// The fastest of these lengths, given shortest first, for an exponent that needs `least`
    /// words; shorter ones count where they are `open` and exact enough in two launches.
    fn words(
        &self,
        p: u32,
        lengths: &[usize],
        least: usize,
        open: bool,
        in_two_launches: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let suits = |words: usize| {
            let most = words as f64 * (Length::most_bits(words) + self.more_bits);
            words >= least || open && in_two_launches(words) && f64::from(p) <= most
        };
        self.fastest(p.into(), self.min_bits, lengths, suits, &in_two_launches)
    }

    /// The fastest of the lengths that suit a modulus of so many bits, given shortest first. One in two launches that is
    /// longer than needed is taken only if its words have `least` bits.
    fn fastest(
        &self,
        bits: f64,
        least: usize,
        lengths: &[usize],
        suits: impl Fn(usize) -> bool,
        in_two_launches: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut longer = lengths.iter().copied().filter(|&words| suits(words));
        let first = longer.next()?;
        if in_two_launches(first) {
            return Some(first);
        }
        // Two launches for a longer one may take less than three for this.
        let next = longer.find(|&words| in_two_launches(words));
        let is_worth_it =
            |next: &usize| first >= self.two_launches_min_words && bits >= (least * next) as f64;
        Some(next.filter(is_worth_it).unwrap_or(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_transform_in_two_launches_is_taken_where_it_is_faster() {
        let tuning = Tuning::default().mersenne;
        let lengths = [1 << 16, 3 << 15, 5 << 15, 3 << 16, 1 << 18, 1 << 22];
        let in_two = |words: usize| words.is_power_of_two() && words >= 1 << 18;
        let words = |p, least, open| tuning.words(p, &lengths, least, open, in_two);
        assert_eq!(words(1 << 20, 1 << 16, true), Some(1 << 16));
        assert_eq!(words(3_000_000, 5 << 15, true), Some(1 << 18));
        // A word would have fewer bits than a carry needs.
        assert_eq!(words(2_800_000, 5 << 15, true), Some(5 << 15));
        // A little more than a transform is known to hold, but not after it was too short.
        assert_eq!(words(77_232_917, (1 << 22) + 1, true), Some(1 << 22));
        assert_eq!(words(77_232_917, (1 << 22) + 1, false), None);
        // Modulo other numbers a carry may need more words than two.
        let suits = |bits: f64| move |words: usize| bits <= 18.0 * words as f64;
        let modulo = |bits| tuning.fastest(bits, LEAST_BITS, &lengths, suits(bits), in_two);
        assert_eq!(modulo(2_800_000.0), Some(1 << 18));
        assert_eq!(modulo(2_000_000.0), Some(5 << 15));
    }
}
