//! The entry of a table that a window wants, where no others read it for those that compute: chosen while the window's squares
//! are computed, a unit of all entries after the other, or, where tables have four, two.

use super::super::powers::OfBase;
use super::ring::Progress;
use super::steps::Step;
use super::units::Lane;
use super::{Powers, each, words};
use crate::gpu::thread::here;
use bigint_core::rns::SCANNED;

impl<const PAIRS: usize> Powers<'_, PAIRS> {
    /// Whether the warp reads its numbers' tables whole.
    #[inline(always)]
    fn scans_itself(self) -> bool {
        Self::STAGES.is_wide() && self.arguments.window.scans_own()
    }

    /// Bits of an entry's place among the units of all entries that are chosen at once.
    #[inline(always)]
    fn index_bits(self) -> u32 {
        2 + self.entries / 8
    }

    /// The first four in shared memory of a slot.
    #[inline(always)]
    fn four_of_slot(self, slot: usize) -> u32 {
        Self::STAGES.entries_at() / 16 + Self::FORM.threads * slot as u32
    }

    /// Begins to bring the next units of all entries to shared memory, for the thread itself.
    #[inline(always)]
    fn bring_unit(self, progress: &Progress) {
        let first = Lane::of(self.units[3], self.first_of_entry(0) + 32 * progress.unit);
        let place = here(self.team.thread());
        each::<SCANNED>(
            #[inline(always)]
            |slot| {
                let place = self.four_of_slot(slot) + place;
                let bits = self.index_bits();
                let (unit, entry) = (slot as u32 >> bits, slot as u32 & ((1 << bits) - 1));
                let from = 32 * (2 * PAIRS as u32 * entry + unit);
                self.shared.bring_rare_four(place, first.row(), from);
            },
        );
    }

    /// Chooses the units that were brought, of the entries that are told, reading them of all.
    #[inline(always)]
    fn choose(self, digits: [u32; 2], progress: &mut Progress) {
        self.shared.wait();
        let place = here(self.team.thread());
        let mut units = [[0; 4]; SCANNED];
        each::<SCANNED>(
            #[inline(always)]
            |slot| {
                let four = self.four_of_slot(slot) + place;
                units[slot] = self.shared.four(four);
            },
        );
        // One of two by each bit, from the lowest on.
        each::<3>(
            #[inline(always)]
            |bit| {
                if bit as u32 >= self.index_bits() {
                    return;
                }
                let is_upper = digits.map(|digit| digit >> bit & 1 == 1);
                each::<4>(
                    #[inline(always)]
                    |i| {
                        if i < SCANNED >> (bit + 1) {
                            let [lower, upper] = [units[2 * i], units[2 * i + 1]];
                            units[i] = words(|k| if is_upper[k % 2] { upper[k] } else { lower[k] });
                        }
                    },
                );
            },
        );
        self.set_chosen(progress.unit, units[0]);
        progress.unit += 1;
        if self.entries == 4 {
            self.set_chosen(progress.unit, units[1]);
            progress.unit += 1;
        }
        if progress.unit < 2 * PAIRS as u32 {
            self.bring_unit(progress);
        }
    }

    /// Begins with the entry of a window.
    #[inline(always)]
    pub(super) fn begin_choice(self, progress: &mut Progress) {
        progress.unit = 0;
        if self.scans_itself() {
            self.bring_unit(progress);
        }
    }

    /// Chooses the units that are left where all are read.
    #[inline(always)]
    pub(super) fn choose_rest(self, digits: [u32; 2], progress: &mut Progress) {
        while self.scans_itself() && progress.unit < 2 * PAIRS as u32 {
            self.choose(digits, progress);
        }
    }

    /// Chooses the entry of a window from the table of a base: what comes behind the numbers' own.
    #[inline(always)]
    pub(super) fn choose_of_base(self, window: u32, digits: [u32; 2]) {
        let table = OfBase {
            row: self.base,
            units: 2 * PAIRS as u32,
            q: self.warp.lane() % 4,
            scans: self.arguments.window.scans == 1,
        };
        let mut pair = 0;
        while pair < PAIRS as u32 {
            let units = [pair, PAIRS as u32 + pair];
            let chosen = units.map(|unit| table.unit(window, unit, digits));
            self.set_chosen(units[0], chosen[0]);
            self.set_chosen(units[1], chosen[1]);
            pair += 1;
        }
    }

    /// Chooses 1, to leave Montgomery's form.
    #[inline(always)]
    pub(super) fn choose_one(self) {
        let mut pair = 0;
        while pair < PAIRS {
            let [first, second] = [pair, PAIRS + pair].map(|pair| self.primes().of(pair));
            let k_of = self.of_modulus(1).unit(pair);
            self.set_chosen(pair as u32, words(|k| first[k / 2].times(k_of[k], 1)));
            let one = self.unity(1, pair);
            let one = words(|k| second[k / 2].in_form(one[k]));
            self.set_chosen((PAIRS + pair) as u32, one);
            pair += 1;
        }
    }

    #[inline(always)]
    fn set_chosen(self, unit: u32, words: [u32; 4]) {
        self.entry(self.place_of_one())
            .set_unit(unit as usize, words);
    }

    /// Chooses a unit while a product runs.
    #[inline(always)]
    pub(super) fn choose_next(self, step: Step, progress: &mut Progress) {
        if step.chooses && progress.unit < 2 * PAIRS as u32 {
            self.choose(step.digits, progress);
        }
    }
}
