//! The powers themselves: chains of Montgomery products in two bases.
//!
//! **Who holds what.** A warp has a tile of sixteen numbers, and their residues in registers: `xi` of the
//! first base and `rho` of the second, as units, one of each for every pair of groups of primes. It
//! multiplies all units of one base by the columns of a matrix for a pair, and makes of the sums a unit of
//! the other. The matrices stand in shared memory, or, where they are too wide, pass through it pair by
//! pair, the next while one is in use.
//!
//! ```text
//! xi  -> matrix -> rho of the product, and top bits for alpha
//! rho -> matrix -> residues of the product -> xi of the next
//! ```
//!
//! The unit that is made comes first; then they are turned by one place, so that one code serves all pairs. Above 4096 bits registers
//! do not hold both bases: a lane's units are in memory of its own, and none is turned.
//!
//! **Steps.** The table's entries 1, 2, ... and in the end 0, the form of 1; then for each window its squares and a
//! product by an entry; and a product by 1. With `R` entries in a row, entry `i + R j` is `a^i b^j`. A row
//! begins with a base, and goes on by products by `a`. That of `b^j` begins with `b` for want of `b^(j - 1)`, which
//! has left the registers, and with a product by that.
//! What a product is by is multiplied by `k[i]`, or by what `rho` takes, beforehand. Where all have the table of one base,
//! there are a product of 1 that makes up for the table's form, one for each window, and a product by 1. Those of a chain are
//! [told](chain).
//!
//! **Cost**: a step `8 P^2` products of matrices a tile, seven products of words for each residue, and eight
//! loads of fours a unit and base. Where all entries are read for each window, no branch and no address depends on
//! numbers.

mod chain;

use super::places::{Beginning, Place, entry_of};
use super::{Prime, number, row};
use crate::gpu::block::Team;
use crate::gpu::flat::Row;
use crate::gpu::known::of_residues;
use crate::gpu::matrix::{Sums, multiply_add_signed};
use crate::gpu::memory::{Any, Number};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::gpu::warp::Group;
use crate::gpu::wide::{multiply, multiply_add};
use bigint_core::kernel::TABLE_WINDOW;
use bigint_core::rns::{Instruction, MOST_JOINED, PRIME_BITS, RnsArguments, RnsPlan, TILE};

/// The last place of a base has no prime: two bytes 255 on top.
pub(super) const BYTES: u32 = 0xffff << 16;

/// The most pairs of which registers hold the units of both bases.
const MOST_IN_REGISTERS: usize = 18;

/// Units of a base: words that a lane has of two groups of primes and two numbers.
pub(super) type Units<const PAIRS: usize> = [[u32; 4]; PAIRS];

/// What a number is multiplied by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Factor {
    /// Itself.
    Itself,
    /// 1, to leave Montgomery's form.
    One,
    /// `M^2`, to come to it.
    Radix,
    /// An entry that is the same for all numbers, or a place of a chain.
    Made(u32),
    /// The entry of a window.
    Entry,
}

/// A product: by what, of windows at which places of the lane's two numbers, and where in the table it is
/// kept.
#[derive(Clone, Copy)]
struct Step {
    factor: Factor,
    digits: [u32; 2],
    /// The window.
    window: u32,
    kept: u32,
    is_last: bool,
    /// Of a chain.
    instruction: Instruction,
}

/// The table of a base for all numbers, as the calling lane reads it.
#[derive(Clone, Copy)]
pub(super) struct OfBase {
    pub row: Row,
    /// Units of an entry.
    pub units: u32,
    pub q: u32,
    /// Whether all entries of a window are read.
    pub scans: bool,
}

impl OfBase {
    /// A unit of two numbers' entries in a window.
    #[inline(always)]
    pub fn unit(self, window: u32, at: u32, digits: [u32; 2]) -> [u32; 4] {
        let OfBase { units, q, .. } = self;
        let of_both: [[u32; 2]; 2] = match self.scans {
            false => digits.map(|digit| {
                let entry = (window << TABLE_WINDOW) + digit;
                self.row.two(4 * (units * entry + at) + q)
            }),
            true => {
                // Two entries in a four; one of two by each bit.
                let first = 4 * (4 * (units * window + at) + q);
                let fours = [0, 1, 2, 3].map(|i| self.row.four(first + i, u32::MAX));
                digits.map(|digit| {
                    let is = |bit: u32| digit >> bit & 1 == 1;
                    let of_two = |lower: [u32; 4], upper: [u32; 4], is_upper: bool| {
                        words(|k| if is_upper { upper[k] } else { lower[k] })
                    };
                    let [lower, upper] = [0, 2].map(|i| of_two(fours[i], fours[i + 1], is(1)));
                    let [a, b, c, d] = of_two(lower, upper, is(2));
                    if is(0) { [c, d] } else { [a, b] }
                })
            }
        };
        words(|k| of_both[k % 2][k / 2])
    }
}

/// Who the calling thread is.
#[derive(Clone, Copy)]
struct Powers<'a, const PAIRS: usize, const THREADS: u32> {
    team: Team<THREADS>,
    warp: Group<32>,
    arguments: &'a RnsArguments,
    plan: RnsPlan,
    table: Row,
    /// Units of numbers, of moduli and of `M^2`, and tables.
    units: [Row; 4],
    of_base: OfBase,
    shared: Stretch,
    /// The warp's tile in the launch.
    tile: u32,
    /// The exponents of the lane's two numbers.
    exponents: [Number<Any>; 2],
    /// Powers in a table.
    entries: u32,
}

/// A pair of groups of primes in a base, of which the calling lane has two.
#[derive(Clone, Copy)]
struct Pair {
    base: u32,
    at: u32,
    primes: [Prime; 2],
    /// Whether the second is none.
    is_last: bool,
}

/// The block's powers, by so many pairs and threads.
///
/// # Safety
/// As for [`radix`](super::radix).
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn powers<const PAIRS: usize, const THREADS: u32>(arguments: &RnsArguments) {
    let arguments = &of_residues(arguments);
    // SAFETY: by this function's own contract.
    let (team, table, base, [units, own, radix, tables, _]) = unsafe {
        (
            Team::<THREADS>::new(),
            row(arguments.table),
            row(arguments.base),
            arguments.scratch.map(|address| row(address)),
        )
    };
    let warp = team.warp();
    let tile = thread::block_index() * (THREADS / 32) + thread::index_in_block() / 32;
    let exponent = |half: u32| {
        let index = TILE * tile + 8 * half + warp.lane() / 4;
        // SAFETY: as before.
        unsafe { number(&arguments.e, index, arguments.count) }
    };
    let powers = Powers::<PAIRS, THREADS> {
        team,
        warp,
        arguments,
        plan: RnsPlan {
            pairs: PAIRS as u32,
            ..arguments.plan
        },
        table,
        units: [units, own, radix, tables],
        of_base: OfBase {
            row: base,
            units: 2 * PAIRS as u32,
            q: warp.lane() % 4,
            scans: arguments.window.scans == 1,
        },
        shared: Stretch::new(team, 0),
        tile,
        exponents: [exponent(0), exponent(1)],
        entries: arguments.window.entries(),
    };
    powers.run();
}

impl<const PAIRS: usize, const THREADS: u32> Powers<'_, PAIRS, THREADS> {
    #[inline(always)]
    fn run(self) {
        let mut of_all = 0;
        while of_all
            < if self.plan.is_resident() {
                2 * PAIRS as u32
            } else {
                1
            }
        {
            self.bring(of_all);
            of_all += 1;
        }
        if self.plan.is_resident() {
            self.shared.wait();
            self.team.sync();
            // The others meet at no barrier from here on.
            if TILE * self.tile >= self.arguments.count {
                return;
            }
        }
        let mut place = Place::first(self.arguments);
        let mut now = self.step(place);
        let (mut xi, mut rho) = ([[0; 4]; PAIRS], [[0; 4]; PAIRS]);
        let is_chain = self.arguments.window.is_chain();
        loop {
            if let Some(beginning) = place.begins() {
                (xi, rho) = self.begin(beginning);
            } else if is_chain && now.instruction.loads() {
                (xi, rho) = self.load(now);
            }
            let tops = self.to_second(&xi, &mut rho, now);
            set_alpha(self.warp, &mut rho, tops);
            if is_chain {
                self.keep_place(now, self.pair(1, PAIRS as u32 - 1), rho[PAIRS - 1]);
            }
            if now.is_last {
                break;
            }
            place.advance();
            let next = self.step(place);
            self.to_first(&mut xi, &rho, now, next);
            now = next;
        }
        self.shared.wait();
        if is_chain {
            return;
        }
        let mut at = 0;
        while at < PAIRS as u32 {
            let pair = self.pair(1, at);
            let unit = Self::at(&rho, at);
            self.units[0].set_four_below(self.unit(pair, 0), u32::MAX, unit);
            Self::put(&mut rho, at, unit);
            at += 1;
        }
    }

    /// The step at a place.
    #[inline(always)]
    fn step(self, place: Place) -> Step {
        let window = self.arguments.window;
        if window.is_chain() {
            return self.instructed(place.windows);
        }
        let factor = match place {
            _ if place.begins().is_some() => Factor::Radix,
            _ if place.is_of_table() => Factor::Made(place.made_by()),
            Place { windows: 0, .. } => Factor::One,
            Place { square, .. } if square == window.squares() => Factor::Entry,
            _ => Factor::Itself,
        };
        let of = |e: Number<Any>| match factor {
            Factor::Entry => entry_of(window, e, place.windows - 1),
            _ => 0,
        };
        Step {
            factor,
            digits: self.exponents.map(of),
            window: place.windows.wrapping_sub(1),
            kept: place.kept(),
            is_last: factor == Factor::One,
            instruction: Instruction::SQUARE,
        }
    }

    #[inline(always)]
    fn pair(self, base: u32, at: u32) -> Pair {
        let q = self.warp.lane() % 4;
        let prime = |group: u32| Prime::of(self.table, self.plan, base, 8 * at + 4 * group + q);
        Pair {
            base,
            at,
            primes: [prime(0), prime(1)],
            is_last: at == self.plan.pairs - 1 && q == 3,
        }
    }

    /// The unit of 1.
    #[inline(always)]
    fn unity(self, pair: Pair) -> [u32; 4] {
        let q = self.warp.lane() % 4;
        let of = |group: u32| 8 * pair.at + 4 * group + q;
        let [a, b] = [0, 1].map(|i| Prime::unity(self.table, self.plan, pair.base, of(i)));
        [a, a, b, b]
    }

    /// The four in device memory, among the units of a tile.
    #[inline(always)]
    fn within(self, pair: Pair, tile: u32) -> u32 {
        ((2 * tile + pair.base) * self.plan.pairs + pair.at) * 32 + self.warp.lane()
    }

    /// The four of the lane's unit of this one of its numbers' bases.
    #[inline(always)]
    fn unit(self, pair: Pair, which: u32) -> u32 {
        self.within(pair, self.arguments.window.numbers() * self.tile + which)
    }

    /// The unit of moduli, or of `M^2`.
    #[inline(always)]
    fn of_modulus(self, which: usize, pair: Pair) -> [u32; 4] {
        let tile = if self.arguments.moduli == 1 {
            0
        } else {
            self.tile
        };
        let at = self.within(pair, tile);
        self.units[which].four(at, at)
    }

    /// The four of an entry of tables, or of a place of a chain.
    #[inline(always)]
    fn entry(self, pair: Pair, entry: u32) -> u32 {
        let at = match self.arguments.window.is_chain() {
            true => self.tile_of_place(entry),
            false => self.tile * self.entries + entry,
        };
        self.within(pair, at)
    }

    /// A base, or 1, as it is, and its `xi` for a product by `M^2`.
    #[inline(always)]
    fn begin(self, beginning: Beginning) -> (Units<PAIRS>, Units<PAIRS>) {
        let (mut xi, mut rho) = ([[0; 4]; PAIRS], [[0; 4]; PAIRS]);
        let mut at = 0;
        while at < PAIRS as u32 {
            let [first, second] = [self.pair(0, at), self.pair(1, at)];
            let of = |pair: Pair| match beginning {
                Beginning::Base(which) => {
                    let at = self.unit(pair, which);
                    self.units[0].four(at, at)
                }
                Beginning::One => self.unity(pair),
            };
            let (x, y) = (of(first), self.of_modulus(2, first));
            let product = words(|k| first.primes[k / 2].times(x[k], y[k]));
            Self::put(&mut xi, at, first.with_byte(product));
            Self::put(&mut rho, at, of(second));
            at += 1;
        }
        (xi, rho)
    }

    /// Begins to bring the columns for a pair, of both matrices' pairs, to shared memory: all have a place
    /// of their own, or two places take turns.
    #[inline(always)]
    fn bring(self, of_all: u32) {
        let columns = 64 * PAIRS as u32;
        let place = match self.plan.is_resident() {
            true => columns * of_all,
            false => columns * (of_all % 2),
        };
        let matrices = self.table.up(self.plan.matrices_at());
        let mut four = self.team.thread();
        while four < columns {
            self.shared
                .bring_four(place + four, matrices, columns * of_all + four);
            four += THREADS;
        }
    }

    /// What the other base's units make by the matrix for a pair.
    #[inline(always)]
    fn multiplied(self, pair: Pair, other: &Units<PAIRS>) -> [[Sums; 2]; 2] {
        let columns = 64 * PAIRS as u32;
        let of_all = (1 - pair.base) * PAIRS as u32 + pair.at;
        let mut first = columns * of_all;
        if !self.plan.is_resident() {
            self.shared.wait();
            // Those of all threads are there; and who is here has left the other place.
            self.team.sync();
            let next = of_all + 1;
            self.bring(if next < 2 * PAIRS as u32 { next } else { 0 });
            first = columns * (of_all % 2);
        }
        first += self.warp.lane();
        let mut sums = [[[0; 4]; 2]; 2];
        if Self::IS_WIDE {
            let mut s = 0;
            while s < PAIRS {
                self.add_products(&mut sums, other[s], first + 64 * s as u32);
                s += 1;
            }
        } else {
            each::<PAIRS>(
                #[inline(always)]
                |s| self.add_products(&mut sums, other[s], first + 64 * s as u32),
            );
        }
        sums
    }

    /// Adds what a unit makes by the columns from a four on.
    #[inline(always)]
    fn add_products(self, sums: &mut [[Sums; 2]; 2], unit: [u32; 4], at: u32) {
        let right = [self.shared.four(at), self.shared.four(at + 32)];
        for group in 0..2 {
            let [b0, b1, b2, b3] = right[group];
            let [low, high] = &mut sums[group];
            *low = multiply_add_signed(self.warp, *low, unit, [b0, b1]);
            *high = multiply_add_signed(self.warp, *high, unit, [b2, b3]);
        }
    }

    /// Whether units are in memory.
    const IS_WIDE: bool = PAIRS > MOST_IN_REGISTERS;

    /// The unit that is made next, of the pair at a place.
    #[inline(always)]
    fn at(units: &Units<PAIRS>, at: u32) -> [u32; 4] {
        units[if Self::IS_WIDE { at as usize } else { 0 }]
    }

    /// Puts it in its place, or behind the others.
    #[inline(always)]
    fn put(units: &mut Units<PAIRS>, at: u32, unit: [u32; 4]) {
        match Self::IS_WIDE {
            true => units[at as usize] = unit,
            false => turn(units, unit),
        }
    }

    /// What a residue is multiplied by, for each word of a unit, if it is neither itself nor 1.
    #[inline(always)]
    fn factor(self, step: Step, pair: Pair) -> [u32; 4] {
        let unit = |entry: u32| {
            let at = self.entry(pair, entry);
            self.units[3].four(at, at)
        };
        match step.factor {
            Factor::Radix => self.of_modulus(2, pair),
            Factor::Made(entry) => unit(entry),
            Factor::One => {
                let one = self.unity(pair);
                words(|k| pair.primes[k / 2].in_form(one[k]))
            }
            _ if self.arguments.window.is_of_table() => {
                let at = pair.base * self.plan.pairs + pair.at;
                self.of_base.unit(step.window, at, step.digits)
            }
            _ if self.arguments.window.scans == 0 => {
                let [first, second] = step.digits.map(unit);
                [first[0], second[1], first[2], second[3]]
            }
            _ => {
                let (mut chosen, mut entry) = ([0; 4], 0);
                while entry < self.entries {
                    // Four at a time, as there are no fewer.
                    let units = [0, 1, 2, 3].map(|i| unit(entry + i));
                    each::<4>(
                        #[inline(always)]
                        |i| {
                            let is_it = |digit| digit == entry + i as u32;
                            let masks = step
                                .digits
                                .map(|digit| u32::from(is_it(digit)).wrapping_neg());
                            chosen = words(|k| chosen[k] | units[i][k] & masks[k % 2]);
                        },
                    );
                    entry += 4;
                }
                chosen
            }
        }
    }

    /// From `xi` of a product to its `rho`; gives the sums of their top bits.
    #[inline(always)]
    fn to_second(self, xi: &Units<PAIRS>, rho: &mut Units<PAIRS>, now: Step) -> [u32; 2] {
        let mut tops = [0; 2];
        let above = self.above(now);
        let mut at = 0;
        while at < PAIRS as u32 {
            let pair = self.pair(1, at);
            let modulus = self.of_modulus(1, pair);
            let sums = self.multiplied(pair, xi);
            let x = Self::at(rho, at);
            let of_modulus = |k: usize| {
                let q = pair.primes[k / 2].of_digits(digits(&sums, k), PAIRS <= MOST_JOINED);
                [q.wrapping_add(above), modulus[k]]
            };
            let product = match now.factor {
                Factor::Itself => {
                    [0, 1, 2, 3].map(|k| pair.primes[k / 2].squared(x[k], of_modulus(k)))
                }
                _ => {
                    let y = self.factor(now, pair);
                    [0, 1, 2, 3].map(|k| {
                        let [q, n] = of_modulus(k);
                        multiply_add(x[k], y[k], multiply(q, n))
                    })
                }
            };
            let mut made = words(|k| pair.primes[k / 2].reduced(product[k]));
            if self.arguments.window.is_chain() {
                made = self.with_term(now, pair, made);
                self.keep_place(now, pair, made);
            }
            let top = |k: usize| made[k] >> (PRIME_BITS - 16);
            let upper = |k: usize| if pair.is_last { 0 } else { top(k) };
            tops = [tops[0] + top(0) + upper(2), tops[1] + top(1) + upper(3)];
            if now.kept < self.entries {
                let form = |k: usize| pair.primes[k / 2].in_form(made[k]);
                self.keep(pair, now.kept, words(form));
            }
            Self::put(rho, at, made);
            at += 1;
        }
        tops
    }

    /// From `rho` of a product, which may be kept, to `xi` of the next.
    #[inline(always)]
    fn to_first(self, xi: &mut Units<PAIRS>, rho: &Units<PAIRS>, now: Step, next: Step) {
        let mut at = 0;
        while at < PAIRS as u32 {
            let pair = self.pair(0, at);
            let k_of = self.of_modulus(1, pair);
            let sums = self.multiplied(pair, rho);
            let z = words(|k| pair.primes[k / 2].of_digits(digits(&sums, k), PAIRS <= MOST_JOINED));
            if now.kept < self.entries {
                let form = |k: usize| pair.primes[k / 2].times(z[k], k_of[k]);
                self.keep(pair, now.kept, words(form));
            }
            if self.arguments.window.is_chain() {
                self.keep_place(now, pair, z);
            }
            Self::put(xi, at, self.xi_of(pair, [z, k_of], next));
            at += 1;
        }
    }

    /// A unit of `xi` of a product of residues, of a modulus with this `k`.
    #[inline(always)]
    fn xi_of(self, pair: Pair, [z, k_of]: [[u32; 4]; 2], next: Step) -> [u32; 4] {
        let [x, y] = match next.factor {
            Factor::Itself | Factor::One => {
                let is_one = next.factor == Factor::One;
                let by = |k: usize| if is_one { 1 } else { z[k] };
                [words(|k| pair.primes[k / 2].times(z[k], by(k))), k_of]
            }
            _ => [z, self.factor(next, pair)],
        };
        pair.with_byte(words(|k| pair.primes[k / 2].times(x[k], y[k])))
    }

    /// Keeps residues, made less than their primes, in a table.
    #[inline(always)]
    fn keep(self, pair: Pair, entry: u32, unit: [u32; 4]) {
        let unit = words(|k| pair.primes[k / 2].least(unit[k]));
        self.units[3].set_four_below(self.entry(pair, entry), u32::MAX, unit);
    }
}

impl Pair {
    /// A unit of the first base, with the byte 1 in the place that has no prime.
    #[inline(always)]
    fn with_byte(self, [a, b, c, d]: [u32; 4]) -> [u32; 4] {
        match self.is_last {
            true => [a, b, BYTES, BYTES],
            false => [a, b, c, d],
        }
    }
}

/// Sets `alpha`, from the sums of top bits of each lane.
#[inline(always)]
pub(super) fn set_alpha<const PAIRS: usize>(
    warp: Group<32>,
    rho: &mut Units<PAIRS>,
    tops: [u32; 2],
) {
    let lane = warp.lane();
    let [first, second] = tops.map(|top| {
        let top = top + warp.shuffle(top, lane ^ 1);
        let top = top + warp.shuffle(top, lane ^ 2);
        (top + (1 << 15)) >> 16 | BYTES
    });
    let [a, b, c, d] = rho[PAIRS - 1];
    rho[PAIRS - 1] = match lane % 4 {
        3 => [a, b, first, second],
        _ => [a, b, c, d],
    };
}

/// Does `work` for each of `N` units, at most 36. (No loop: one that is not unrolled would keep units in
/// memory.)
#[inline(always)]
pub(super) fn each<const N: usize>(mut work: impl FnMut(usize)) {
    macro_rules! each {
        ($($at:literal)*) => {$(
            if $at < N {
                work($at);
            }
        )*};
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17);
    each!(18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35);
}

/// Moves every unit a place down, and this one to the top.
#[inline(always)]
pub(super) fn turn<const PAIRS: usize>(units: &mut Units<PAIRS>, unit: [u32; 4]) {
    each::<PAIRS>(
        #[inline(always)]
        |at| units[at] = if at + 1 < PAIRS { units[at + 1] } else { unit },
    );
}

/// The words of a unit.
#[inline(always)]
pub(super) fn words(of: impl Fn(usize) -> u32) -> [u32; 4] {
    [of(0), of(1), of(2), of(3)]
}

/// The sums of the digits of word `k`.
#[inline(always)]
fn digits(sums: &[[Sums; 2]; 2], k: usize) -> [u32; 4] {
    let [low, high] = sums[k / 2];
    let at = k % 2 * 2;
    [low[at], low[at + 1], high[at], high[at + 1]]
}
