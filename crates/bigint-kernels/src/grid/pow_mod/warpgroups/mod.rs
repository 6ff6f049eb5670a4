//! The powers by warpgroups: [`powers`](super::powers()) where the tensor cores read matrices from shared memory by
//! themselves, so that four warps share what is read.
//!
//! **Who holds what.** A warp has a tile of sixteen numbers, as there: `xi` and `rho` in registers, in the units
//! that [`bigint_core::rns`] draws, and the sums of a *chunk* of pairs, whose columns are multiplied at once. Chunks
//! stand in shared memory, or pass through a [`ring`] of [`Stages`], which one of a warpgroup of [`readers`] fills, so that
//! those that compute wait for no other. While the tensor cores are at work for one warpgroup, the others make residues.
//!
//! **Windows.** An entry of a table that is read whole is chosen while its window's squares are computed, and goes behind the
//! table. So the product finds one entry as if it had been told which, and memory has the time of the squares.
//! Readers do so for the others, which wait for nothing but that it is done. Where registers have no
//! room for it, warps choose for themselves ([`choice`]): with each chunk a unit of all entries, which was on its way to
//! shared memory since the last chunk. Tables are read once a window: they leave the second cache to what is read in every
//! step.
//!
//! **Steps.** A product by `M^2`, by the base, by an entry or by 1 is one by units in memory, which
//! have been multiplied by `k[i]`, or by what `rho` takes, beforehand; a square is by these themselves.
//!
//! **Registers.** They hold the `8 P` residues of a lane and the sums of a chunk, and hardly more. Of wide moduli they
//! hold the residues of the base that is multiplied; those of the other stand in shared memory, chunk by chunk, and
//! between matrices they change places. What the compiler
//! would compute early, or keep for later in twice the registers, is computed [`here`].
//!
//! **Cost**: a step and tile `8 P^2` products of matrices of 16 rows, seven products of words for each residue,
//! and a load of a four for each unit.

mod chain;
mod choice;
mod made;
mod readers;
mod ring;
mod steps;
mod units;

use self::made::{digits, of_pairs, product};
use self::ring::Progress;
use self::steps::{Factor, Step};
use self::units::{Lane, Primes, each_of_few};
use super::places::{Beginning, Place, entry_of};
use super::powers::{BYTES, Units, each, set_alpha, turn, words};
use super::{Prime, number, row};
use crate::gpu::block::Team;
use crate::gpu::flat::Row;
use crate::gpu::known::of_residues;
use crate::gpu::memory::{Any, Number};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread::{self, here};
use crate::gpu::warp::Group;
use crate::gpu::warpgroup::wait;
use crate::gpu::wide::{multiply, multiply_add};
use bigint_core::rns::{Form, MOST_JOINED, PRIME_BITS, RnsArguments, RnsPlan, Stages, TILE};

/// The most pairs of a chunk.
const MOST_COLUMNS: usize = 3;

/// Threads of a block at most.
const MOST_THREADS: u32 = 1024;

/// Who the calling thread is.
#[derive(Clone, Copy)]
struct Powers<'a, const PAIRS: usize> {
    team: Team<MOST_THREADS>,
    warp: Group<32>,
    arguments: &'a RnsArguments,
    /// The table, and the matrices in it.
    table: Row,
    matrices: Row,
    /// Units of numbers, of moduli and of `M^2`, and tables.
    units: [Row; 4],
    /// The table of a base.
    base: Row,
    shared: Stretch,
    /// Threads of the block that compute.
    threads: u32,
    /// The warp's tile in the launch.
    tile: u32,
    /// The exponents of the lane's two numbers.
    exponents: [Number<Any>; 2],
    /// Powers in a table.
    entries: u32,
}

/// The block's powers, by the [`Form`] of so many pairs.
///
/// # Safety
/// As for [`radix`](super::radix).
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn warpgroups<const PAIRS: usize>(arguments: &RnsArguments) {
    let arguments = &of_residues(arguments);
    // SAFETY: by this function's own contract.
    let (team, table, base, [units, own, radix, tables, _]) = unsafe {
        (
            Team::<MOST_THREADS>::new(),
            row(arguments.table),
            row(arguments.base),
            arguments.scratch.map(|address| row(address)),
        )
    };
    let warp = team.warp();
    let threads = Powers::<PAIRS>::FORM.computing_threads(arguments.window);
    let tile = thread::block_index() * (threads / 32) + thread::index_in_block() / 32;
    let plan = RnsPlan {
        pairs: PAIRS as u32,
        ..arguments.plan
    };
    let powers = Powers::<PAIRS> {
        team,
        warp,
        arguments,
        table,
        matrices: table.up(plan.matrices_at()),
        units: [units, own, radix, tables],
        base,
        shared: Stretch::new(team, 0),
        threads,
        tile,
        // SAFETY: as before.
        exponents: unsafe { exponents(arguments, tile, warp) },
        entries: arguments.window.entries(),
    };
    powers.run();
}

impl<const PAIRS: usize> Powers<'_, PAIRS> {
    const FORM: Form = Form::of_warpgroups(PAIRS as u32);

    const STAGES: Stages = {
        let (form, stages) = (Self::FORM, Stages::of(Self::FORM));
        assert!(form.columns <= MOST_COLUMNS as u32);
        assert!(form.threads.is_multiple_of(128) && form.beside_readers.is_multiple_of(128));
        assert!(stages.is_wide() == (form.beside_readers == 0));
        assert!(!stages.is_wide() || stages.pairs.is_multiple_of(form.columns));
        assert!(stages.are_resident() || stages.released() <= 3);
        stages
    };

    /// Whether readers fill a ring.
    const HAS_RING: bool = Self::FORM.has_ring();

    /// Windows of which readers choose the entries in one reading.
    const AT_ONCE: u32 = Self::FORM.at_once;

    /// Warps of readers that read tables.
    const WARPS_FOR_TABLES: u32 = Self::FORM.warps_for_tables();

    /// Whether stages of a chunk are given back while products of its other parts are at work.
    const GIVES_BACK_EARLY: bool = Self::STAGES.released() < Self::STAGES.parts();

    /// Whether a part of a chunk begins with a unit.
    const BEGINS_PART: [bool; PAIRS] = {
        let (mut begins, mut s) = ([false; PAIRS], 0);
        while s < PAIRS {
            begins[s] = Self::STAGES.begins_part(s as u32);
            s += 1;
        }
        begins
    };

    /// Whether one ends with it.
    const ENDS_PART: [bool; PAIRS] = {
        let (mut ends, mut s) = ([true; PAIRS], 1);
        while s < PAIRS {
            ends[s - 1] = Self::BEGINS_PART[s];
            s += 1;
        }
        ends
    };

    /// Whether moduli and factors are loaded before products begin, of which most have passed when all have begun.
    const LOADS_FIRST: bool = Self::GIVES_BACK_EARLY;

    #[inline(always)]
    fn run(self) {
        let mut progress = self.fetch_first();
        if self.has_readers() {
            // Told by one lane: so the driver's compiler knows that a warp goes one way.
            if self.warp.shuffle(self.team.thread(), 0) >= self.threads {
                self.leave_registers();
                self.read();
                return;
            }
            self.take_registers();
        }
        if self.is_idle() {
            // The block meets no more.
            return;
        }
        let is_chain = self.arguments.window.is_chain();
        if is_chain {
            self.choose_one();
        }
        let mut window = 0;
        let mut place = Place::first(self.arguments);
        let mut digits = [0; 2];
        let mut now = self.step(place, digits, window);
        let (mut xi, mut rho) = ([[0; 4]; PAIRS], [[0; 4]; PAIRS]);
        loop {
            if let Some(beginning) = place.begins() {
                self.begin(beginning, &mut xi, &mut rho);
            } else if is_chain && now.instruction.loads() {
                self.load(now, &mut xi, &mut rho);
            }
            let tops = self.to_second(&xi, &mut rho, now, &mut progress);
            if self.reads_tables() && now.is_by_entry {
                window += 1;
                if window.is_multiple_of(Self::AT_ONCE) {
                    self.free_choice(window - 1);
                }
            }
            if Self::STAGES.is_wide() {
                each::<PAIRS>(
                    #[inline(always)]
                    |at| rho[at] = self.other(at),
                );
            }
            set_alpha(self.warp, &mut rho, tops);
            self.keep_alpha(now, rho[PAIRS - 1]);
            if now.is_last {
                break;
            }
            let has_windows = !place.is_of_table();
            place.advance();
            if place.begins_window() && !self.reads_tables() && !is_chain {
                // The next window's are on their way during a product.
                let of = self.arguments.window;
                digits = self.exponents.map(|e| entry_of(of, e, place.windows - 1));
            }
            let next = self.step(place, digits, window);
            if is_chain {
                // Instructions tell all places.
            } else if next.is_last {
                self.choose_one();
            } else if self.arguments.window.is_of_table() {
                self.choose_of_base(place.windows - 1, next.digits);
            } else if self.reads_tables() && next.is_by_entry {
                self.wait_for_choice(window);
            } else if next.is_by_entry {
                self.choose_rest(next.digits, &mut progress);
            } else if place.square == 0 && has_windows {
                self.begin_choice(&mut progress);
            }
            self.to_first(&mut xi, &rho, now, next, &mut progress);
            if Self::STAGES.is_wide() {
                each::<PAIRS>(
                    #[inline(always)]
                    |at| {
                        xi[at] = self.other(at);
                        self.set_other(at, rho[at]);
                    },
                );
            }
            if !has_windows && !place.is_of_table() {
                // All entries are there.
                if self.reads_tables() {
                    self.free_choice(0);
                    self.free_choice(Self::AT_ONCE);
                }
                self.begin_choice(&mut progress);
            }
            now = next;
        }
        if is_chain {
            return;
        }
        each::<PAIRS>(
            #[inline(always)]
            |at| {
                self.own(0).set_unit(PAIRS + at, rho[at]);
            },
        );
    }

    /// Whether a warpgroup reads for the others.
    #[inline(always)]
    fn has_readers(self) -> bool {
        Self::HAS_RING || self.reads_tables()
    }

    /// Whether it reads tables.
    #[inline(always)]
    fn reads_tables(self) -> bool {
        Self::FORM.reads_tables(self.arguments.window)
    }

    /// The tile of a warp of the block.
    #[inline(always)]
    fn tile_of_warp(self, warp: u32) -> u32 {
        thread::block_index() * (self.threads / 32) + warp
    }

    /// Whether there is nothing for a warp with this tile to do, nor for the three beside it.
    #[inline(always)]
    fn is_idle(self) -> bool {
        Self::STAGES.are_resident() && TILE * (self.tile / 4 * 4) >= self.arguments.count
    }

    #[inline(always)]
    fn tile_of_modulus(self) -> u32 {
        match self.arguments.moduli {
            1 => 0,
            _ => self.tile,
        }
    }

    /// The lane's first four of a tile's units. The lane has every 32nd: of the first base's pairs, then of the
    /// second's.
    #[inline(always)]
    fn first_four(self, tile: u32) -> u32 {
        2 * PAIRS as u32 * tile * 32 + self.warp.lane()
    }

    /// The first four of an entry of tables, behind which is what was chosen; or of a place of a chain.
    #[inline(always)]
    fn first_of_entry(self, entry: u32) -> u32 {
        match self.arguments.window.is_chain() {
            true => self.first_of_place(entry),
            false => self.first_four(self.tile * (self.entries + 2 * Self::AT_ONCE) + entry),
        }
    }

    /// Units of this one of the bases of the warp's tile; of the first in the end those of powers.
    #[inline(always)]
    fn own(self, which: u32) -> Lane {
        let tile = self.arguments.window.numbers() * self.tile + which;
        Lane::of(self.units[0], self.first_four(tile))
    }

    /// Units of moduli, or of `M^2`.
    #[inline(always)]
    fn of_modulus(self, which: usize) -> Lane {
        Lane::of(self.units[which], self.first_four(self.tile_of_modulus()))
    }

    /// Units of an entry of tables.
    #[inline(always)]
    fn entry(self, entry: u32) -> Lane {
        Lane::of(self.units[3], self.first_of_entry(entry))
    }

    /// Where the entry that readers choose for a window stands.
    #[inline(always)]
    fn place_of_chosen(self, window: u32) -> u32 {
        self.entries + window % (2 * Self::AT_ONCE)
    }

    /// Units of a factor, from one on: those of the first number and of the second.
    #[inline(always)]
    fn factors(self, factor: Factor, from: usize, pairs: usize) -> [[u32; 4]; MOST_COLUMNS] {
        let [first, second] = factor.fours.map(|four| Lane::of(factor.row, four));
        of_pairs(pairs, |i| {
            let ([a, _, c, _], [_, b, _, d]) = (first.unit(from + i), second.unit(from + i));
            [a, b, c, d]
        })
    }

    /// The primes of bases.
    #[inline(always)]
    fn primes(self) -> Primes {
        let four = Self::STAGES.primes_at() / 16 + here(self.warp.lane() % 4);
        Primes(self.shared.from_word(2 * four))
    }

    /// The unit of 1.
    #[inline(always)]
    fn unity(self, base: u32, pair: usize) -> [u32; 4] {
        let plan = RnsPlan {
            pairs: PAIRS as u32,
            ..self.arguments.plan
        };
        let of = |group: u32| 8 * pair as u32 + 4 * group + self.warp.lane() % 4;
        let [a, b] = [0, 1].map(|i| Prime::unity(self.table, plan, base, of(i)));
        [a, a, b, b]
    }

    /// A unit of the first base, with the bytes 255 in the place that has no prime.
    #[inline(always)]
    fn with_byte(self, pair: usize, [a, b, c, d]: [u32; 4]) -> [u32; 4] {
        match pair == PAIRS - 1 && self.warp.lane() % 4 == 3 {
            true => [a, b, BYTES, BYTES],
            false => [a, b, c, d],
        }
    }

    /// Sets a base, or 1, as it is, and its `xi` for a product by `M^2`.
    #[inline(always)]
    fn begin(self, beginning: Beginning, xi: &mut Units<PAIRS>, rho: &mut Units<PAIRS>) {
        let mut at = 0;
        while at < PAIRS {
            let primes = self.primes();
            let first = primes.of(at);
            let of = |base: usize| match beginning {
                Beginning::Base(which) => self.own(which).unit(PAIRS * base + at),
                Beginning::One => self.unity(base as u32, at),
            };
            let (x, y) = (of(0), self.of_modulus(2).unit(at));
            let product = words(|k| first[k / 2].times(x[k], y[k]));
            turn(xi, self.with_byte(at, product));
            let residues = of(1);
            match Self::STAGES.is_wide() {
                true => self.set_other(at, residues),
                false => turn(rho, residues),
            }
            at += 1;
        }
    }

    /// Keeps residues, made less than their primes, in a table.
    #[inline(always)]
    fn keep(self, primes: [Prime; 2], unit: usize, entry: u32, residues: [u32; 4]) {
        let residues = words(|k| primes[k / 2].least(residues[k]));
        self.entry(entry).set_unit(unit, residues);
    }

    /// From `xi` of a product to its `rho`; gives the sums of their top bits.
    #[inline(always)]
    fn to_second(
        self,
        xi: &Units<PAIRS>,
        rho: &mut Units<PAIRS>,
        now: Step,
        progress: &mut Progress,
    ) -> [u32; 2] {
        let mut tops = [0; 2];
        Self::each_chunk(
            #[inline(always)]
            |chunk| {
                let [first, pairs] = Self::chunk(chunk);
                // On their way while products run.
                let load = || -> [[[u32; 4]; MOST_COLUMNS]; 2] {
                    let own = self.of_modulus(1);
                    let moduli = of_pairs(pairs, |i| own.unit(PAIRS + first + i));
                    match now.squares {
                        true => [moduli, [[0; 4]; MOST_COLUMNS]],
                        false => [moduli, self.factors(now.factor, PAIRS + first, pairs)],
                    }
                };
                let mut loaded = [[[0; 4]; MOST_COLUMNS]; 2];
                if Self::LOADS_FIRST {
                    loaded = load();
                }
                let sums = self.multiplied(0, chunk as u32, xi, progress);
                if Self::STAGES.is_wide() {
                    self.choose_next(now, progress);
                }
                if !Self::LOADS_FIRST {
                    loaded = load();
                }
                let [moduli, factors] = loaded;
                let sums = wait(sums, pairs);
                self.release(Self::STAGES.released(), progress);
                let primes = self.primes();
                let above = self.above(now);
                let mut all = [[0; 4]; MOST_COLUMNS];
                if now.squares {
                    each::<MOST_COLUMNS>(
                        #[inline(always)]
                        |i| {
                            if i < pairs {
                                let primes = primes.of(PAIRS + first + i);
                                let x = self.of_base(rho, first + i);
                                let squared = |k: usize, qn| primes[k / 2].squared(x[k], qn);
                                all[i] =
                                    product::<PAIRS>(primes, &sums[i], squared, (moduli[i], above));
                                self.set_of_base(rho, first + i, all[i]);
                            }
                        },
                    );
                } else {
                    each::<MOST_COLUMNS>(
                        #[inline(always)]
                        |i| {
                            if i < pairs {
                                let primes = primes.of(PAIRS + first + i);
                                let (x, y) = (self.of_base(rho, first + i), factors[i]);
                                let times = |k: usize, [q, n]: [u32; 2]| {
                                    multiply_add(x[k], y[k], multiply(q, n))
                                };
                                all[i] =
                                    product::<PAIRS>(primes, &sums[i], times, (moduli[i], above));
                                self.set_of_base(rho, first + i, all[i]);
                            }
                        },
                    );
                }
                if self.arguments.window.is_chain() {
                    all = self.with_terms(now, chunk, all);
                    each::<MOST_COLUMNS>(
                        #[inline(always)]
                        |i| {
                            if i < pairs {
                                self.set_of_base(rho, first + i, all[i]);
                            }
                        },
                    );
                }
                tops = self.kept(now, chunk, all, tops);
            },
        );
        tops
    }

    /// Keeps the form of what a chunk made, if it is wanted, and adds up the top bits.
    #[inline(always)]
    fn kept(
        self,
        now: Step,
        chunk: usize,
        all: [[u32; 4]; MOST_COLUMNS],
        mut tops: [u32; 2],
    ) -> [u32; 2] {
        let [first, pairs] = Self::chunk(chunk);
        let primes = self.primes();
        each::<MOST_COLUMNS>(
            #[inline(always)]
            |i| {
                if i < pairs {
                    let made = all[i];
                    let is_last = first + i == PAIRS - 1 && self.warp.lane() % 4 == 3;
                    let top = |k: usize| made[k] >> (PRIME_BITS - 16);
                    let upper = |k: usize| if is_last { 0 } else { top(k) };
                    tops = [tops[0] + top(0) + upper(2), tops[1] + top(1) + upper(3)];
                }
            },
        );
        if now.kept < self.entries {
            each::<MOST_COLUMNS>(
                #[inline(always)]
                |i| {
                    if i < pairs {
                        let (pair, primes) = (first + i, primes.of(PAIRS + first + i));
                        let form = words(|k| primes[k / 2].in_form(all[i][k]));
                        self.keep(primes, PAIRS + pair, now.kept, form);
                    }
                },
            );
        }
        tops
    }

    /// From `rho` of a product, which may be kept, to `xi` of the next.
    #[inline(always)]
    fn to_first(
        self,
        xi: &mut Units<PAIRS>,
        rho: &Units<PAIRS>,
        now: Step,
        next: Step,
        progress: &mut Progress,
    ) {
        Self::each_chunk(
            #[inline(always)]
            |chunk| {
                let [first, pairs] = Self::chunk(chunk);
                let load = || match next.squares {
                    true => {
                        let own = self.of_modulus(1);
                        of_pairs(pairs, |i| own.unit(first + i))
                    }
                    false => self.factors(next.factor, first, pairs),
                };
                let mut factors: [_; MOST_COLUMNS] = [[0; 4]; MOST_COLUMNS];
                if Self::LOADS_FIRST {
                    factors = load();
                }
                let kept = now.kept;
                let sums = self.multiplied(1, chunk as u32, rho, progress);
                if Self::STAGES.is_wide() && kept == self.entries {
                    self.choose_next(next, progress);
                }
                if !Self::LOADS_FIRST {
                    factors = load();
                }
                let sums = wait(sums, pairs);
                self.release(Self::STAGES.released(), progress);
                let primes = self.primes();
                let prime = |i: usize, k: usize| primes.of(first + i)[k / 2];
                // Here and not where it is wanted: sums take twice the registers, or four times.
                let reduced = |i: usize, k: usize| {
                    here(prime(i, k).of_digits(digits(&sums[i], k), PAIRS <= MOST_JOINED))
                };
                let mut z: [_; MOST_COLUMNS] = of_pairs(pairs, |i| words(|k| reduced(i, k)));
                if kept < self.entries {
                    let own = self.of_modulus(1);
                    each::<MOST_COLUMNS>(
                        #[inline(always)]
                        |i| {
                            if i < pairs {
                                let k_of = own.unit(first + i);
                                let form = words(|k| prime(i, k).times(z[i][k], k_of[k]));
                                self.keep(primes.of(first + i), first + i, kept, form);
                            }
                        },
                    );
                }
                self.keep_place(now, chunk, z);
                if next.squares {
                    z = of_pairs(pairs, |i| words(|k| prime(i, k).times(z[i][k], z[i][k])));
                }
                each::<MOST_COLUMNS>(
                    #[inline(always)]
                    |i| {
                        if i < pairs {
                            let made = |k: usize| prime(i, k).times(z[i][k], factors[i][k]);
                            let made = words(|k| here(made(k)));
                            self.set_of_base(xi, first + i, self.with_byte(first + i, made));
                        }
                    },
                );
            },
        );
    }

    /// Does `work` for each chunk; in a loop where units that are made have no registers.
    #[inline(always)]
    fn each_chunk(mut work: impl FnMut(usize)) {
        if Self::STAGES.is_wide() {
            let mut chunk = 0;
            while chunk < Self::STAGES.chunks() as usize {
                work(chunk);
                chunk += 1;
            }
        } else {
            each_of_few(Self::STAGES.chunks(), work);
        }
    }

    /// The first pair of a chunk, and how many there are.
    #[inline(always)]
    fn chunk(chunk: usize) -> [usize; 2] {
        let chunk = chunk as u32;
        [Self::STAGES.first(chunk), Self::STAGES.pairs_of(chunk)].map(|pairs| pairs as usize)
    }
}

/// The exponents of the lane's two numbers of a tile.
///
/// # Safety
/// As for [`radix`](super::radix).
#[allow(unsafe_code)]
#[inline(always)]
pub(super) unsafe fn exponents(
    arguments: &RnsArguments,
    tile: u32,
    warp: Group<32>,
) -> [Number<Any>; 2] {
    [0, 8].map(|half| {
        let index = TILE * tile + half + warp.lane() / 4;
        // SAFETY: by this function's own contract.
        unsafe { number(&arguments.e, index, arguments.count) }
    })
}
