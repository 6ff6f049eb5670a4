//! A warpgroup that reads for the others of its block: tables whole, of which they find chosen entries behind tables, those of one or of
//! four windows while others are made; and matrices, where one of its warps fills the ring. It has few registers, and leaves the others as many.

use super::units::{Lane, each_of_few};
use super::{Powers, each, entry_of, exponents, words};
use crate::gpu::arrivals::Arrivals;
use crate::gpu::thread::here;
use crate::gpu::warpgroup::{less_registers, more_registers};
use bigint_core::rns::READERS;

/// The most windows of which entries are chosen in one reading.
const MOST_AT_ONCE: usize = 4;

impl<const PAIRS: usize> Powers<'_, PAIRS> {
    /// The barrier of a warp's chosen entries: that they have been read, and that they are there.
    #[inline(always)]
    fn barrier_of_choice(self, warp: u32, window: u32, is_there: bool) -> Arrivals {
        let at = 4 * warp + 2 * u32::from(is_there) + window / Self::AT_ONCE % 2;
        Arrivals::at(self.shared, Self::STAGES.choices_at() + 8 * at)
    }

    /// Sets the barriers of choices.
    #[inline(always)]
    pub(super) fn set_choices(self) {
        let mut at = 0;
        while at < 4 * (Self::FORM.beside_readers / 32) {
            Arrivals::at(self.shared, Self::STAGES.choices_at() + 8 * at).set(32);
            at += 1;
        }
    }

    /// The phase of a window's barriers.
    #[inline(always)]
    fn phase_of_choice(window: u32) -> u32 {
        window / (2 * Self::AT_ONCE) % 2
    }

    /// Tells the readers that the places of a window's entry, and of those chosen with it, may be written.
    #[inline(always)]
    pub(super) fn free_choice(self, window: u32) {
        let warp = self.team.thread() / 32;
        self.barrier_of_choice(warp, window, false).arrive();
    }

    /// Waits for the entry of a window.
    #[inline(always)]
    pub(super) fn wait_for_choice(self, window: u32) {
        let warp = self.team.thread() / 32;
        self.barrier_of_choice(warp, window, true)
            .wait(Self::phase_of_choice(window));
    }

    /// Leaves registers to the warps that compute: more where no tables are read.
    #[inline(always)]
    pub(super) fn leave_registers(self) {
        match PAIRS {
            0..=5 => less_registers::<80>(),
            6..=9 => less_registers::<88>(),
            _ if self.reads_tables() => less_registers::<56>(),
            _ => less_registers::<24>(),
        }
    }

    /// Takes them: of 65,536 a third of what readers leave, or half of it.
    #[inline(always)]
    pub(super) fn take_registers(self) {
        match PAIRS {
            0..=5 => more_registers::<144>(),
            6..=9 => more_registers::<208>(),
            _ if self.reads_tables() => more_registers::<224>(),
            _ => more_registers::<240>(),
        }
    }

    /// What the warps of readers do: the last fills the ring, where there is one, and the others read tables.
    #[inline(always)]
    pub(super) fn read(self) {
        let warp = (self.warp.shuffle(self.team.thread(), 0) - self.threads) / 32;
        if Self::HAS_RING && warp == READERS / 32 - 1 {
            self.fill();
        } else if self.reads_tables() {
            self.read_tables();
        }
    }

    /// Each warp chooses the entries of every fourth of those that compute, or every third, of all windows.
    #[inline(always)]
    fn read_tables(self) {
        let (mut window, mut left) = (0, self.arguments.windows as u32);
        while left > 0 {
            let mut warp = (self.team.thread() - Self::FORM.beside_readers) / 32;
            while warp < Self::FORM.beside_readers / 32 {
                let of_warp = Powers {
                    tile: self.tile_of_warp(warp),
                    ..self
                };
                if !of_warp.is_idle() {
                    #[allow(unsafe_code)]
                    // SAFETY: by the contract of `warpgroups`.
                    let exponents = unsafe { exponents(self.arguments, of_warp.tile, self.warp) };
                    let mut digits = [[0; 2]; MOST_AT_ONCE];
                    each_of_few(
                        Self::AT_ONCE,
                        #[inline(always)]
                        |i| {
                            // Behind the last window there is none.
                            let at = left.saturating_sub(i as u32 + 1);
                            digits[i] = exponents.map(|e| entry_of(self.arguments.window, e, at));
                        },
                    );
                    self.barrier_of_choice(warp, window, false)
                        .wait(Self::phase_of_choice(window));
                    of_warp.read_table(window, digits);
                    self.barrier_of_choice(warp, window, true).arrive();
                }
                warp += Self::WARPS_FOR_TABLES;
            }
            window += Self::AT_ONCE;
            left = left.saturating_sub(Self::AT_ONCE);
        }
    }

    /// Chooses the entries of a window and of those behind it, reading the whole table.
    #[inline(always)]
    fn read_table(self, window: u32, digits: [[u32; 2]; MOST_AT_ONCE]) {
        let mut next = Four {
            unit: 0,
            first: 0,
            stage: 0,
        };
        let mut at = next;
        each_of_few(
            Self::STAGES.ahead(),
            #[inline(always)]
            |_| self.bring_entries(&mut next),
        );
        let mut chosen = [[0; 4]; MOST_AT_ONCE];
        while at.unit < 2 * PAIRS as u32 {
            self.wait_for_entries();
            let place = self.place_of(at.stage);
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| self.shared.four(place + READERS * i));
            each_of_few(
                Self::AT_ONCE,
                #[inline(always)]
                |i| {
                    // One of two by each bit.
                    let of_two = |bit: u32, lower: [u32; 4], upper: [u32; 4]| {
                        let is_upper = digits[i].map(|digit| digit >> bit & 1 == 1);
                        words(|k| if is_upper[k % 2] { upper[k] } else { lower[k] })
                    };
                    let of_four = of_two(1, of_two(0, a, b), of_two(0, c, d));
                    let is_it = digits[i].map(|digit| digit / 4 == at.first / 4);
                    chosen[i] = words(|k| {
                        if is_it[k % 2] {
                            of_four[k]
                        } else {
                            chosen[i][k]
                        }
                    });
                },
            );
            self.bring_entries(&mut next);
            let unit = at.unit;
            at.advance(self.entries, Self::STAGES.ahead());
            if at.unit != unit {
                each_of_few(
                    Self::AT_ONCE,
                    #[inline(always)]
                    |i| {
                        self.entry(self.place_of_chosen(window + i as u32))
                            .set_unit(unit as usize, chosen[i]);
                    },
                );
            }
        }
    }

    /// Waits for the first entries of those on their way.
    #[inline(always)]
    fn wait_for_entries(self) {
        match Self::STAGES.ahead() {
            4 => self.shared.wait_for_first_of::<4>(),
            6 => self.shared.wait_for_first_of::<6>(),
            _ => self.shared.wait_for_first_of::<12>(),
        }
    }

    /// The place of a stage's first four of the calling thread.
    #[inline(always)]
    fn place_of(self, stage: u32) -> u32 {
        Self::STAGES.entries_at() / 16
            + 4 * READERS * stage
            + here(self.team.thread() - Self::FORM.beside_readers)
    }

    /// Begins to bring the next four entries of a unit to shared memory, for the thread itself.
    #[inline(always)]
    fn bring_entries(self, next: &mut Four) {
        if next.unit < 2 * PAIRS as u32 {
            let first = Lane::of(
                self.units[3],
                self.first_of_entry(next.first) + 32 * next.unit,
            );
            let place = self.place_of(next.stage);
            each::<4>(
                #[inline(always)]
                |i| {
                    let i = i as u32;
                    self.shared.bring_rare_four(
                        place + READERS * i,
                        first.row(),
                        64 * PAIRS as u32 * i,
                    );
                },
            );
        }
        self.shared.commit();
        next.advance(self.entries, Self::STAGES.ahead());
    }
}

/// Four entries of a unit, and the stage to which they are brought.
#[derive(Clone, Copy)]
struct Four {
    unit: u32,
    first: u32,
    stage: u32,
}

impl Four {
    /// Goes to the next.
    #[inline(always)]
    fn advance(&mut self, entries: u32, stages: u32) {
        self.first += 4;
        if self.first == entries {
            self.first = 0;
            self.unit += 1;
        }
        self.stage += 1;
        if self.stage == stages {
            self.stage = 0;
        }
    }
}
