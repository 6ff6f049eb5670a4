//! Which widths, layouts, batch lengths and choices go together.

use bigint_host::{Cost, Flag, Layout, Level, MOST_OPERANDS, Operation, Options};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;

/// Widths in limbs: 32 to 2048 bits in steps of 32, then 4096 to 32768 bits.
pub const WIDTHS: [usize; 68] = {
    let mut widths = [0; 68];
    let mut i = 0;
    while i < 64 {
        widths[i] = i + 1;
        i += 1;
    }
    [widths[64], widths[65], widths[66], widths[67]] = [128, 256, 512, 1024];
    widths
};

/// Trials after which widths come again: one of each of [`WIDTHS`], and one of any other to 32768 bits.
pub const ROUND: usize = WIDTHS.len() + 1;

/// The widest of them.
pub const WIDEST: usize = WIDTHS[WIDTHS.len() - 1];

/// Those other widths.
const OTHERS: RangeInclusive<usize> = 65..=WIDEST;

/// The widest modulus that kernels have in registers.
const WIDEST_MODULUS: usize = 512;

/// How many cases of a sum or a shift take as long as one of this, about: by far the most of
/// it in the oracle, which finds one inverse or residue after another.
pub fn weight(operation: Operation) -> usize {
    match operation.cost() {
        _ if operation.is_power() => 25,
        Cost::Residue => 10,
        _ if operation.declaration().flag == Flag::NotInvertible => 10,
        Cost::Euclid => 4,
        _ => 1,
    }
}

/// Batch lengths: nothing, one, a warp and its neighbours.
const COUNTS: [usize; 5] = [1, 31, 32, 33, 0];

/// A long batch, of several blocks, and the widest numbers it is made of.
const LONG: (usize, usize) = (1000, 16);

/// One batch to compute: its widths, layouts, length and choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The trial's place in the sequence, from 0.
    pub index: usize,
    /// Widths of the operands, in limbs.
    pub widths: [usize; MOST_OPERANDS],
    /// Layouts of the operands.
    pub layouts: [Layout; MOST_OPERANDS],
    /// Limbs of a result that is cut, or wider than it need be.
    pub cut: usize,
    /// Numbers in the batch.
    pub count: usize,
    /// Whether the last operand is one number for the whole batch.
    pub broadcast: bool,
    /// What is forced.
    pub choice: Options,
}

impl Trial {
    /// Trial `index` of the sequence over `choices`.
    ///
    /// Within `ROUND * choices` trials every one of [`WIDTHS`] meets every choice; layouts and
    /// lengths walk beside them with periods that share no factor with that.
    pub fn new(index: usize, choices: &[Options], rng: &mut ChaCha8Rng) -> Self {
        let place = index % ROUND;
        let n = WIDTHS.get(place).copied();
        let n = n.unwrap_or_else(|| rng.random_range(OTHERS));
        let choice = choices[(place + index / ROUND) % choices.len()];
        Trial::of_width(index, n, choice, rng)
    }

    /// Trial `index` of the sequence of every width up to [`WIDEST`] with each of `choices`, one width after another. Operands are
    /// as wide as one another, and no batch is empty.
    pub fn of_every_width(index: usize, choices: &[Options], rng: &mut ChaCha8Rng) -> Self {
        let (n, choice) = (1 + index / choices.len(), index % choices.len());
        let trial = Trial::of_width(index, n, choices[choice], rng);
        Trial {
            widths: [n; MOST_OPERANDS],
            count: trial.count.clamp(1, 33),
            ..trial
        }
    }

    /// A trial whose first operand has `n` limbs.
    fn of_width(index: usize, n: usize, choice: Options, rng: &mut ChaCha8Rng) -> Self {
        let round = index / ROUND;
        let any = WIDTHS[rng.random_range(0..WIDTHS.len())];
        // A round more is 71 more, a prime.
        let walk = index + 2 * round;
        let m = match walk % 7 {
            0..=2 => n,
            3 => any,
            4 => n + 1,
            5 => (n - 1).max(1),
            _ => 1,
        };
        let k = [n, n + m, m, any][(index / 3 + 2 * round) % 4].min(n + m);
        // The widest operands are few: their cost grows with the square. So are those that a
        // block has to itself, which may be far narrower than what it computes.
        let count = match n.max(m) {
            _ if matches!(choice.level, Some(Level::Block | Level::Grid)) => walk % 3,
            wide if wide > 256 => 1 + usize::from(index.is_multiple_of(8)),
            wide if wide <= LONG.1 && walk % 11 == 5 => LONG.0,
            _ => COUNTS[walk % COUNTS.len()],
        };
        let flip = |odd: bool| Layout::ALL[usize::from(odd)];
        let layout = (index / 2 + round) % 2 == 1;
        Trial {
            index,
            widths: [n, m, k],
            layouts: [
                flip(layout),
                flip(layout != (index % 10 == 4)),
                flip(layout != (index % 8 == 3)),
            ],
            cut: rng.random_range(1..=n + m + 1),
            count,
            broadcast: index % 13 == 6 && count > 0,
            choice,
        }
    }

    /// The trial with what `operation` can take: moduli that a warp's registers hold; for powers,
    /// which cost as many products as the exponent has bits, short exponents, and at most two where
    /// the modulus has more than two limbs; for inverses in constant time, short numbers.
    pub fn of(self, operation: Operation) -> Self {
        let [a, b, c] = self.widths;
        let modulus = 1 + c % 20;
        let powers = self.count.min(if modulus > 2 { 2 } else { 33 });
        match operation.cost() {
            Cost::Residue => Trial {
                widths: [a, b, c.min(WIDEST_MODULUS)],
                ..self
            },
            Cost::Power => Trial {
                widths: [a.min(70), 1 + usize::from(b % 8 == 0), modulus],
                count: powers,
                ..self
            },
            Cost::PairOfPowers => Trial {
                widths: [a.min(70), 1 + b % 4, modulus],
                count: powers,
                ..self
            },
            // The first operand is a table of windows of 64 entries.
            Cost::PowerByTable => Trial {
                widths: [64 * modulus * (1 + a % 5), 1 + b % 2, modulus],
                count: powers,
                ..self
            },
            // Rounds go over all digits, whatever the numbers; a lane has those of 16 limbs.
            Cost::Divsteps => Trial {
                widths: [1 + a % 24, 1 + b % 20, c],
                count: self.count.min(33),
                ..self
            },
            // Threads take as many steps for each limb as a number has.
            Cost::Radix => Trial {
                widths: [a.min(256), b, c],
                count: self.count.min(33),
                ..self
            },
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_host::{Algorithm, Engine, Operation};
    use rand::SeedableRng;
    use std::collections::HashSet;

    #[test]
    fn every_width_meets_every_choice_in_one_sequence() {
        let choices = Engine::cpu().choices(Operation::Mul);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let trials = 0..WIDEST * choices.len();
        let trials = trials.map(|index| Trial::of_every_width(index, &choices, &mut rng));
        let met = trials.filter(|trial| trial.count > 0 && trial.widths[0] == trial.widths[1]);
        let met: HashSet<_> = met.map(|t| (t.widths[0], t.choice.algorithm)).collect();
        assert_eq!(met.len(), WIDEST * choices.len());
    }

    #[test]
    fn every_width_meets_every_choice_and_every_length_every_layout() {
        let choices = Engine::cpu().choices(Operation::Mul);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let trials: Vec<_> = (0..ROUND * 30)
            .map(|index| Trial::new(index, &choices, &mut rng))
            .collect();
        let mut met: HashSet<(usize, Algorithm)> = trials
            .iter()
            .map(|t| (t.widths[0], t.choice.algorithm))
            .collect();
        met.retain(|(n, _)| WIDTHS.contains(n));
        assert_eq!(met.len(), WIDTHS.len() * choices.len());
        let others = trials.iter().map(|t| t.widths[0]);
        let others: HashSet<_> = others.filter(|n| !WIDTHS.contains(n)).collect();
        assert!(others.len() > 25 && others.iter().all(|n| OTHERS.contains(n)));
        let lengths: HashSet<_> = trials.iter().map(|t| (t.count, t.layouts[0])).collect();
        for count in [0, 1, 31, 32, 33, 1000] {
            for layout in Layout::ALL {
                assert!(lengths.contains(&(count, layout)), "{count} {layout:?}");
            }
        }
        assert!(trials.iter().any(|t| t.broadcast && t.count > 1));
        assert!(trials.iter().any(|t| t.layouts[0] != t.layouts[1]));
    }
}
