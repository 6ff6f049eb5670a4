//! Coefficients of a product become limbs and carries.
//!
//! A chunk of 8 or 16 digits is a whole number of half limbs. A thread adds its coefficients up, lowest first, each with what is
//! left of those below; what is left in the end is the chunk's carry, of less than 38 bits. So a chunk of two digits to the base 10
//! with coefficients 57 and 34 is 97, and its carry 3: `57 = 7 + 10 5`, `34 + 5 = 9 + 10 3`.
//!
//! Then limbs go to device memory, and the carry to the place of the next chunk in a number of its own.

use super::super::Columns;
use super::super::weighted::long::sixteen;
use super::Block;
use super::limbs::Halves;
use crate::gpu::float::NEAREST_OFFSET;
use bigint_core::transform::grid::{GridArguments, padded};
use bigint_core::{LIMB_BITS, Limb};
use core::cmp::Ordering;

impl<const THREADS: u32> Block<'_, THREADS> {
    /// Turns coefficients into limbs and carries, by chunks of 8 or 16 digits.
    #[inline(always)]
    pub(super) fn carry(self, columns: Columns) {
        let plan = self.arguments.plan;
        match (plan.digit_bits, plan.log_chunk()) {
            (12, 3) => self.carry_of::<12, 8>(columns),
            (12, _) => self.carry_of::<12, 16>(columns),
            (13, _) => self.carry_of::<13, 16>(columns),
            (14, 3) => self.carry_of::<14, 8>(columns),
            (14, _) => self.carry_of::<14, 16>(columns),
            (15, _) => self.carry_of::<15, 16>(columns),
            (_, 3) => self.carry_of::<16, 8>(columns),
            _ => self.carry_of::<16, 16>(columns),
        }
    }

    /// The same for digits of so many bits, so many in a chunk. A thread has those of the low half of the product or of the
    /// high one. Limb `k` takes the place of coefficient `k`, and the carry that of the last one.
    #[inline(always)]
    fn carry_of<const BITS: usize, const DIGITS: usize>(self, columns: Columns) {
        let plan = self.arguments.plan;
        // `2^48 - 2^(48 - BITS)` is added to every coefficient, so that none is negative. These
        // sums telescope: together they add `2^48` above the last coefficient, and subtract
        // `2^(48 - BITS)` from the first one.
        let telescoped = self.telescoped();
        let more = ((1_u64 << 48) - telescoped).wrapping_sub(NEAREST_OFFSET);
        let mut task = self.team.thread();
        while task < 2 * plan.chunks() {
            let first = (task >> 1) * DIGITS as u32;
            let words = self.x.from_pair(padded(first));
            let mut left = 0_u64;
            if task == 0 && columns.first == 0 {
                left = match self.wraps() {
                    false => telescoped,
                    // What is above, modulo `2^(32 n) + 1`, and room for `wrapped_carry`.
                    true => telescoped.wrapping_neg(),
                };
            }
            let place = |i: usize| 2 * padded(i as u32) + (task & 1);
            let mut limbs = [0; 17];
            sixteen!(i => {
                if i < DIGITS {
                    left += words.word(place(i)).wrapping_add(more);
                    let digit = left as Limb & ((1 << BITS) - 1);
                    left >>= BITS;
                    let (limb, bit) = (i * BITS / LIMB_BITS, i * BITS % LIMB_BITS);
                    limbs[limb] |= digit << bit;
                    if bit + BITS > LIMB_BITS {
                        limbs[limb + 1] = digit >> (LIMB_BITS - bit);
                    }
                }
            });
            // A chunk that begins in the middle of a limb leaves the limb's lower half to the chunk before.
            let is_odd = self.first_half_limb(columns, first) & 1;
            sixteen!(k => {
                if k < DIGITS / 2 {
                    let below = if k == 0 { 0 } else { limbs[k.saturating_sub(1)] };
                    let limb = match is_odd {
                        0 => limbs[k],
                        _ => limbs[k] << 16 | below >> 16,
                    };
                    words.set_word(place(k), limb.into());
                }
            });
            let next_is_odd = (is_odd + const { (BITS * DIGITS / 16) as u32 }) & 1;
            words.set_word(place(DIGITS - 1), left << (16 * next_is_odd));
            task += THREADS;
        }
    }

    /// The first half limb, in its row, of the chunk from point `first` of the block on.
    #[inline(always)]
    fn first_half_limb(self, columns: Columns, first: u32) -> u32 {
        self.half_limbs(columns.first + (first & ((1 << columns.log) - 1)))
    }

    /// The half limbs of so many digits.
    #[inline(always)]
    fn half_limbs(self, digits: u32) -> u32 {
        digits * self.arguments.plan.digit_bits / 16
    }

    /// Moves limbs and carries to device memory. A thread has the same limb of several runs, each of one chunk, or of two chunks
    /// of a row that are a whole number of limbs together, and no whole number each.
    #[inline(always)]
    pub(super) fn put(self, columns: Columns) {
        let plan = self.arguments.plan;
        let log = plan.log_chunk();
        let of_chunk = self.half_limbs(1 << log);
        match of_chunk & 1 {
            1 if columns.log > log => self.put_runs::<true>(columns, log + 1),
            _ => self.put_runs::<false>(columns, log),
        }
    }

    /// The same for runs of `2^log` digits.
    #[inline(always)]
    fn put_runs<const TWO: bool>(self, columns: Columns, log: u32) {
        let GridArguments {
            plan,
            sums,
            carries,
            ..
        } = *self.arguments;
        let (sums, carries) = (
            self.number(&sums, columns.number),
            self.number(&carries, columns.number),
        );
        let of_run = self.half_limbs(1 << log);
        // A run touches at most half as many limbs as it has digits.
        let log_limbs = log - 1;
        let (thread, upper) = (self.team.thread(), self.half_limbs(plan.length()) / 2);
        let k = thread & ((1 << log_limbs) - 1);
        let mut run = thread >> log_limbs;
        // The thread's runs have the same columns.
        let begin = self.first_half_limb(columns, run << log);
        // The first carry begins at the next chunk.
        let next = begin + if TWO { of_run / 2 } else { of_run };
        let (own, carried) = (
            Halves::of(k, begin, begin + of_run),
            Halves::of(k, next, next + of_run),
        );
        // Whether runs begin and end between limbs.
        let is_whole = TWO || (begin | of_run) & 1 == 0;
        let runs = (plan.rows() << columns.log) >> log;
        while run < runs {
            let place = run << log;
            let row = place >> columns.log;
            let before = self.half_limbs(row << columns.log_row) / 2;
            let (limbs, carry) = self.limbs_of_run::<TWO>(place, k, of_run);
            let mut half = 0;
            while half < 2 {
                let before = before + half as u32 * upper;
                // One above the number is lost.
                if is_whole {
                    if k < of_run / 2 {
                        sums.set(before + begin / 2 + k, limbs[half]);
                        carries.set(before + next / 2 + k, carry[half]);
                    }
                } else {
                    own.set(sums, before, limbs[half]);
                    carried.set(carries, before, carry[half]);
                }
                half += 1;
            }
            run += THREADS >> log_limbs;
        }
        let (is_first, is_last) = (
            columns.first == 0,
            columns.first + (1 << columns.log) == 1 << columns.log_row,
        );
        let is_lowest = if self.wraps() { is_last } else { is_first };
        if is_lowest && thread >> log_limbs == 0 {
            let carry = match (self.wraps(), k) {
                (true, 0) => self.wrapped_carry(columns),
                (true, 1) => self.wrapped_carry(columns) >> LIMB_BITS,
                _ => 0,
            };
            let lowest = if TWO { of_run / 4 * 2 } else { of_run };
            Halves::of(k, 0, lowest).set(carries, 0, carry as Limb);
        }
    }

    /// Limb `k` of the run of either half of the product that begins at place `place`, and limb `k` of what its chunks carry, from the limb on
    /// in which the first one ends.
    #[inline(always)]
    fn limbs_of_run<const TWO: bool>(
        self,
        place: u32,
        k: u32,
        of_run: u32,
    ) -> ([Limb; 2], [Limb; 2]) {
        let digits = 1 << self.arguments.plan.log_chunk();
        // What a chunk carries is two limbs.
        let of_carry = |place: u32, k: u32| match k < 2 {
            true => self
                .words(place + digits - 1)
                .map(|left| (left >> (LIMB_BITS as u32 * k)) as Limb),
            false => [0; 2],
        };
        let limbs = |place: u32, k: u32| self.words(place + k).map(|limb| limb as Limb);
        if !TWO {
            return (limbs(place, k), of_carry(place, k));
        }
        // The limb that has the end of the first chunk and the beginning of the second one. Each has zeros where the other has digits.
        let middle = of_run / 4;
        let (second, in_second) = (place + digits, k.wrapping_sub(middle));
        let own = match k.cmp(&middle) {
            Ordering::Less => limbs(place, k),
            Ordering::Greater => limbs(second, in_second),
            Ordering::Equal => {
                let (low, high) = (limbs(place, k), limbs(second, 0));
                [low[0] | high[0], low[1] | high[1]]
            }
        };
        let carry = match k < 2 {
            true => of_carry(place, k),
            // The second one ends `middle + 1` limbs above the first.
            false => of_carry(second, in_second.wrapping_sub(1)),
        };
        (own, carry)
    }

    /// What the lowest place of the carries has where products wrap: `2^(48 - bits)` for each of what was added to coefficients
    /// above and below and what was left for this, less what is carried above the number, which is less than two of them.
    #[inline(always)]
    fn wrapped_carry(self, columns: Columns) -> u64 {
        let carried = self.words((self.arguments.plan.rows() << columns.log) - 1);
        3 * self.telescoped() - carried[1]
    }

    /// What the numbers that are added to coefficients come to above the last one, and are too little by in the first.
    #[inline(always)]
    fn telescoped(self) -> u64 {
        1 << (48 - self.arguments.plan.digit_bits)
    }
}
