//! The reasons for choices, in words that name thresholds.

use std::fmt;

/// A reason for a choice; `key` is the threshold's name in the file of thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Why {
    /// The user forces it.
    Forced,
    /// A rule without a threshold.
    Said(&'static str),
    /// Operands have so many limbs, and the threshold is the most.
    AtMost {
        limbs: usize,
        key: &'static str,
        limit: usize,
    },
    /// Operands have so many limbs, and the threshold is the least.
    AtLeast {
        limbs: usize,
        key: &'static str,
        limit: usize,
    },
    /// There are so many numbers, and the threshold is the least.
    Many {
        numbers: usize,
        key: &'static str,
        limit: usize,
    },
    /// The first method takes less time than the second, in nanoseconds by two tables.
    Faster {
        key: &'static str,
        nanoseconds: f64,
        than: &'static str,
        other: f64,
    },
}

impl Why {
    /// Whether the numbers are on the side of the threshold that the reason names.
    pub fn holds(&self) -> bool {
        match *self {
            Why::Forced | Why::Said(_) => true,
            Why::AtMost { limbs, limit, .. } => limbs <= limit,
            Why::AtLeast { limbs, limit, .. } => limbs >= limit,
            Why::Many { numbers, limit, .. } => numbers >= limit,
            Why::Faster {
                nanoseconds, other, ..
            } => nanoseconds < other,
        }
    }

    /// Whether all of these hold; with the first that does not, or else the first.
    pub fn all<const N: usize>(of: [Why; N]) -> (bool, Why) {
        let broken = of.iter().find(|why| !why.holds());
        (broken.is_none(), *broken.unwrap_or(&of[0]))
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [at_most, at_least, less] = match self.holds() {
            true => ["at most", "at least", "less than"],
            false => ["more than", "fewer than", "more than"],
        };
        match *self {
            Why::Forced => f.write_str("forced"),
            Why::Said(words) => f.write_str(words),
            Why::AtMost { limbs, key, limit } => {
                write!(f, "{limbs} limbs, {at_most} {key} = {limit}")
            }
            Why::AtLeast { limbs, key, limit } => {
                write!(f, "{limbs} limbs, {at_least} {key} = {limit}")
            }
            Why::Many {
                numbers,
                key,
                limit,
            } => write!(f, "{numbers} numbers, {at_least} {key} = {limit}"),
            Why::Faster {
                key,
                nanoseconds,
                than,
                other,
            } => write!(
                f,
                "{nanoseconds:.3} ns by {key}, {less} {other:.3} ns by {than}"
            ),
        }
    }
}
