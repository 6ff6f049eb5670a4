//! Chains of products that instructions tell: [`bigint_core::rns::Instruction`] has what they are.
//!
//! A place is of all numbers: its units stand together, tile by tile, as those of numbers do, so that other kernels convert them
//! there. What stands at a place are words of 32 bits, with the `alpha` that is theirs.

use super::super::powers::{Units, each, turn, words};
use super::steps::{Factor, Step};
use super::{MOST_COLUMNS, Powers};
use crate::power::digit;
use bigint_core::rns::{Instruction, TILE};

impl<const PAIRS: usize> Powers<'_, PAIRS> {
    /// The place of the form of 1: the first of a chain's, or behind a table.
    #[inline(always)]
    pub(super) fn place_of_one(self) -> u32 {
        match self.arguments.window.is_chain() {
            true => 0,
            false => self.entries,
        }
    }

    /// The first four of a place.
    #[inline(always)]
    pub(super) fn first_of_place(self, place: u32) -> u32 {
        let of_block = self.threads / 32;
        let tiles = self.arguments.count.div_ceil(of_block * TILE) * of_block;
        self.first_four(tiles * place + self.tile)
    }

    /// The step of the instruction behind which there are as many less one.
    #[inline(always)]
    pub(super) fn instructed(self, left: u32) -> Step {
        let at = self.arguments.windows as u32 - left;
        let instruction = Instruction(self.base.four(at, at));
        let squares = instruction.squares();
        let of_modulus = |row: usize| Factor {
            row: self.units[row],
            fours: [self.first_four(self.tile_of_modulus()); 2],
        };
        let factor = match (squares, instruction.is_by_radix()) {
            (true, _) => of_modulus(1),
            (_, true) => of_modulus(2),
            _ => Factor {
                row: self.units[3],
                fours: [self.first_of_place(instruction.factor()); 2],
            },
        };
        Step {
            squares,
            factor,
            is_last: left == 1,
            kept: instruction.place_of_form(),
            digits: [0; 2],
            is_by_entry: false,
            chooses: false,
            instruction,
        }
    }

    /// Sets what stands at the places of an instruction, and its `xi` for the product.
    #[inline(always)]
    pub(super) fn load(self, now: Step, xi: &mut Units<PAIRS>, rho: &mut Units<PAIRS>) {
        let [first, second] = now.instruction.sources();
        let bits = match now.instruction.bit() {
            Some(bit) => self.exponents.map(|e| digit(e, bit, 1)),
            None => [0; 2],
        };
        let places = bits.map(|bit| if bit == 1 { second } else { first });
        let source = Factor {
            row: self.units[3],
            fours: places.map(|place| self.first_of_place(place)),
        };
        let mut at = 0;
        while at < PAIRS {
            let primes = self.primes().of(at);
            let ([x, ..], [y, ..]) = (self.factors(source, at, 1), self.factors(now.factor, at, 1));
            let product = words(|k| {
                let prime = primes[k / 2];
                let x = if now.squares {
                    prime.times(x[k], x[k])
                } else {
                    x[k]
                };
                prime.times(x, y[k])
            });
            turn(xi, self.with_byte(at, product));
            let [residues, ..] = self.factors(source, PAIRS + at, 1);
            match Self::STAGES.is_wide() {
                true => self.set_other(at, residues),
                false => turn(rho, residues),
            }
            at += 1;
        }
    }

    /// How many more `M` make a difference positive.
    #[inline(always)]
    pub(super) fn above(self, now: Step) -> u32 {
        let is_difference = now.instruction.term().is_some() && now.instruction.subtracts();
        match self.arguments.window.is_chain() && is_difference {
            true => 16 * PAIRS as u32 - 1,
            false => 0,
        }
    }

    /// Units of a product of the second base, and of the term, below three times the primes; kept where they are wanted.
    #[inline(always)]
    pub(super) fn with_terms(
        self,
        now: Step,
        chunk: usize,
        mut all: [[u32; 4]; MOST_COLUMNS],
    ) -> [[u32; 4]; MOST_COLUMNS] {
        let [first, pairs] = Self::chunk(chunk);
        each::<MOST_COLUMNS>(
            #[inline(always)]
            |i| {
                if i >= pairs {
                    return;
                }
                let unit = PAIRS + first + i;
                if let Some(term) = now.instruction.term() {
                    let (primes, t) = (self.primes().of(unit), self.entry(term).unit(unit));
                    let is_subtracted = now.instruction.subtracts();
                    all[i] = words(|k| primes[k / 2].with_term(all[i][k], t[k], is_subtracted));
                }
                if let Some(place) = now.instruction.place() {
                    self.entry(place).set_unit(unit, all[i]);
                }
            },
        );
        all
    }

    /// Keeps what a chunk of the first base made, if it is wanted.
    #[inline(always)]
    pub(super) fn keep_place(self, now: Step, chunk: usize, z: [[u32; 4]; MOST_COLUMNS]) {
        let [first, pairs] = Self::chunk(chunk);
        if self.arguments.window.is_chain()
            && let Some(place) = now.instruction.place()
        {
            each::<MOST_COLUMNS>(
                #[inline(always)]
                |i| {
                    if i < pairs {
                        self.entry(place).set_unit(first + i, z[i]);
                    }
                },
            );
        }
    }

    /// Keeps `alpha` with a result, of which the lane has the last unit.
    #[inline(always)]
    pub(super) fn keep_alpha(self, now: Step, unit: [u32; 4]) {
        if self.arguments.window.is_chain()
            && let Some(place) = now.instruction.place()
        {
            self.entry(place).set_unit(2 * PAIRS - 1, unit);
        }
    }
}
