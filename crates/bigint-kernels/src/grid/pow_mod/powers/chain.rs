//! Chains of products that instructions tell: [`bigint_core::rns::Instruction`] has what they are. Places are as those of
//! [warpgroups](super::super::warpgroups()).

use super::{Factor, Pair, Powers, Step, Units, words};
use crate::power::digit;
use bigint_core::rns::{Instruction, TILE};

impl<const PAIRS: usize, const THREADS: u32> Powers<'_, PAIRS, THREADS> {
    /// The warp's tile of a place, among those of all.
    #[inline(always)]
    pub(super) fn tile_of_place(self, place: u32) -> u32 {
        let of_block = THREADS / 32;
        let tiles = self.arguments.count.div_ceil(of_block * TILE) * of_block;
        tiles * place + self.tile
    }

    /// The step of the instruction behind which there are as many less one.
    #[inline(always)]
    pub(super) fn instructed(self, left: u32) -> Step {
        let at = self.arguments.windows as u32 - left;
        let instruction = Instruction(self.of_base.row.four(at, at));
        let factor = match instruction.factor() {
            _ if instruction.squares() => Factor::Itself,
            _ if instruction.is_by_radix() => Factor::Radix,
            0 => Factor::One,
            place => Factor::Made(place),
        };
        Step {
            factor,
            digits: [0; 2],
            window: 0,
            kept: instruction.place_of_form(),
            is_last: left == 1,
            instruction,
        }
    }

    /// What stands at the places of an instruction, and its `xi` for the product.
    #[inline(always)]
    pub(super) fn load(self, now: Step) -> (Units<PAIRS>, Units<PAIRS>) {
        let [first, second] = now.instruction.sources();
        let bits = match now.instruction.bit() {
            Some(bit) => self.exponents.map(|e| digit(e, bit, 1)),
            None => [0; 2],
        };
        let places = bits.map(|bit| if bit == 1 { second } else { first });
        let of = |pair: Pair| {
            let [a, b] = places.map(|place| self.at_place(pair, place));
            [a[0], b[1], a[2], b[3]]
        };
        let (mut xi, mut rho) = ([[0; 4]; PAIRS], [[0; 4]; PAIRS]);
        let mut at = 0;
        while at < PAIRS as u32 {
            let [first, second] = [self.pair(0, at), self.pair(1, at)];
            let k_of = self.of_modulus(1, first);
            Self::put(&mut xi, at, self.xi_of(first, [of(first), k_of], now));
            Self::put(&mut rho, at, of(second));
            at += 1;
        }
        (xi, rho)
    }

    #[inline(always)]
    fn at_place(self, pair: Pair, place: u32) -> [u32; 4] {
        let at = self.entry(pair, place);
        self.units[3].four(at, at)
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

    /// A unit of a product of the second base, and of the term, below three times the primes.
    #[inline(always)]
    pub(super) fn with_term(self, now: Step, pair: Pair, made: [u32; 4]) -> [u32; 4] {
        let Some(place) = now.instruction.term() else {
            return made;
        };
        let (term, is_subtracted) = (self.at_place(pair, place), now.instruction.subtracts());
        words(|k| pair.primes[k / 2].with_term(made[k], term[k], is_subtracted))
    }

    /// Keeps a unit of a result at a place, if it is wanted.
    #[inline(always)]
    pub(super) fn keep_place(self, now: Step, pair: Pair, unit: [u32; 4]) {
        if let Some(place) = now.instruction.place() {
            let at = self.entry(pair, place);
            self.units[3].set_four_below(at, u32::MAX, unit);
        }
    }
}
