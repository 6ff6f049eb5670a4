//! The lengths of transforms, and the length that an exponent needs.

/// The length of a transform: `2 slow fast` words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Length {
    /// The number of rows. Its prime factors are 2, 3, 5 and 7.
    pub(super) slow: usize,
    /// The points of a row, a multiple of 16.
    pub(super) fast: usize,
}

/// The bits of the longest words, before a quarter of the logarithm of the number of words and a
/// quarter of the logarithm of that are subtracted. Rounding errors grow with the root of the
/// number of words, with the root of the number of steps, and with the square of a word. The
/// constant is chosen so that the errors in a whole test stay near 0.3 (see docs/mersenne.md).
const BITS: f64 = 25.0;

/// The products of odd primes that divide lengths.
const ODD: [usize; 12] = [1, 3, 5, 7, 9, 15, 21, 25, 27, 35, 45, 49];

impl Length {
    /// The shortest length: 64 words.
    pub const SHORTEST: Length = Length { slow: 2, fast: 16 };

    /// The length of exactly so many words, or `None` if their number is not `2^a` times a product
    /// of 3, 5 and 7 with `a` large enough.
    ///
    /// ```
    /// use bigint_cpu::fast::number::weighted::Length;
    /// assert_eq!(Length::of_words(6 << 20).unwrap().words(), 6 << 20);
    /// assert!(Length::of_words(11 << 20).is_none());
    /// ```
    pub fn of_words(words: usize) -> Option<Length> {
        let points = words / 2;
        let odd = words.checked_shr(words.trailing_zeros())?;
        if odd == 0 || !ODD.contains(&odd) || !words.is_multiple_of(64) {
            return None;
        }
        // The matrix is as square as possible, so that the pieces of both passes are about as long
        // as a side.
        let all = (4..=points.trailing_zeros()).flat_map(|log| {
            let factors = (1..=odd).filter(move |factor| odd.is_multiple_of(*factor));
            factors.map(move |factor| factor << log)
        });
        let fast = all
            .filter(|&fast| points / fast >= 2)
            .min_by_key(|&fast| fast.max(points / fast))?;
        Some(Length {
            slow: points / fast,
            fast,
        })
    }

    /// The shortest length that is expected to be safe for `2^p - 1`. `None` for exponents that
    /// have fewer than 8 bits for each of its words, and for those that no length is safe for.
    pub fn for_exponent(p: u32) -> Option<Length> {
        let mut length = Length::SHORTEST;
        while !length.suits(p) {
            length = length.next()?;
        }
        (length.words() * 8 <= p as usize).then_some(length)
    }

    /// Whether rounding errors are expected to stay small.
    fn suits(self, p: u32) -> bool {
        f64::from(p) / self.words() as f64 <= Self::most_bits(self.words())
    }

    /// The bits that words may have on average in a transform of so many words if rounding errors
    /// are to stay small.
    pub fn most_bits(words: usize) -> f64 {
        let log = (words as f64).log2();
        BITS - 0.25 * (log + log.log2())
    }

    /// The next longer length.
    pub fn next(self) -> Option<Length> {
        Self::all().find(|length| length.words() > self.words())
    }

    /// Every length up to `2^26` words, the shortest first.
    pub fn all() -> impl Iterator<Item = Length> {
        let of = |odd: &'static usize| (6..=26).map(move |log| odd << log);
        let mut words: Vec<usize> = ODD.iter().flat_map(of).collect();
        words.retain(|&words| words <= 1 << 26);
        words.sort_unstable();
        words.into_iter().filter_map(Length::of_words)
    }

    /// The number of words, which are the doubles that are transformed.
    pub fn words(self) -> usize {
        2 * self.points()
    }

    /// The number of complex points.
    pub(super) fn points(self) -> usize {
        self.slow * self.fast
    }
}
