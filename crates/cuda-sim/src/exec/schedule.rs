//! The order in which blocks, and the warps of a block, take turns.

use std::str::FromStr;

/// The order in which the blocks and warps of a launch take turns. Each is one that a GPU may
/// choose, and the same every time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Ascending: each runs until it has done something that others can see.
    #[default]
    Rotating,
    /// Random, from this seed.
    Random(u64),
    /// All that have room begin, then the youngest goes first, each until it
    /// waits for another: what the kernel forgot to order goes wrong.
    Adversarial,
}

impl FromStr for Schedule {
    type Err = String;

    /// `rotating`, `random:SEED` or `adversarial`.
    fn from_str(text: &str) -> Result<Self, String> {
        let seed = || text.strip_prefix("random:")?.parse().ok();
        match text {
            "rotating" => Ok(Schedule::Rotating),
            "adversarial" => Ok(Schedule::Adversarial),
            _ => seed()
                .map(Schedule::Random)
                .ok_or_else(|| format!("`{text}` is not rotating, random:SEED or adversarial")),
        }
    }
}

/// What a schedule leaves to chance.
pub(crate) struct Dice {
    schedule: Schedule,
    state: u64,
}

/// The order of the warps of a block for one round.
pub(super) struct Order {
    first: usize,
    count: usize,
    descending: bool,
}

impl Order {
    /// The warp whose turn is the `i`th.
    pub fn at(&self, i: usize) -> usize {
        let place = (self.first + i) % self.count;
        if self.descending {
            self.count - 1 - place
        } else {
            place
        }
    }
}

impl Dice {
    /// Dice for a schedule, thrown only where that is by chance.
    pub fn new(schedule: Schedule) -> Self {
        let mut dice = Dice { schedule, state: 0 };
        dice.block(0);
        dice
    }

    /// Begins anew for a block that runs by itself, whatever ran before it.
    pub fn block(&mut self, number: u64) {
        if let Schedule::Random(seed) = self.schedule {
            self.state = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    /// A number below `end` (SplitMix64, Steele, Lea and Flood 2014).
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }

    /// The order of so many warps in the next round.
    pub(super) fn order(&mut self, count: usize) -> Order {
        let (first, descending) = match self.schedule {
            Schedule::Rotating => (0, false),
            Schedule::Random(_) => (self.below(count), self.below(2) == 0),
            Schedule::Adversarial => (0, true),
        };
        Order {
            first,
            count,
            descending,
        }
    }

    /// Warp instructions of a turn.
    pub fn turn(&mut self, most: u64) -> u64 {
        match self.schedule {
            Schedule::Random(_) => (most >> self.below(12)).max(1),
            _ => most,
        }
    }

    /// Whether a warp that has done something others can see, or waited for it,
    /// lets them have their turn.
    pub fn yields(&mut self, polled: bool) -> bool {
        polled
            || match self.schedule {
                Schedule::Rotating => true,
                Schedule::Random(_) => self.below(2) == 0,
                Schedule::Adversarial => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_every_warp_once() {
        for schedule in [
            Schedule::Rotating,
            Schedule::Random(7),
            Schedule::Adversarial,
        ] {
            let mut dice = Dice::new(schedule);
            for count in 1..40 {
                let order = dice.order(count);
                let mut warps: Vec<usize> = (0..count).map(|i| order.at(i)).collect();
                warps.sort_unstable();
                assert_eq!(warps, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn schedules_are_read_as_they_are_written() {
        assert_eq!("rotating".parse(), Ok(Schedule::Rotating));
        assert_eq!("random:17".parse(), Ok(Schedule::Random(17)));
        assert_eq!("adversarial".parse(), Ok(Schedule::Adversarial));
        assert!("random".parse::<Schedule>().is_err());
        assert!("random:x".parse::<Schedule>().is_err());
    }
}
