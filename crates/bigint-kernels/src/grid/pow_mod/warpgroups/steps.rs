//! What a product is by, of powers and of chains.

use super::super::places::Place;
use super::Powers;
use crate::gpu::flat::Row;
use bigint_core::rns::Instruction;

/// Where a product finds what it is by, for the lane's two numbers: fours of a row, behind which the other pairs'
/// follow.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    pub row: Row,
    pub fours: [u32; 2],
}

/// A product, by itself or by a factor, and where in the table it is kept.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub squares: bool,
    pub factor: Factor,
    pub is_last: bool,
    pub kept: u32,
    /// The window's digits of the lane's two numbers, and whether the product is by their entries.
    pub digits: [u32; 2],
    pub is_by_entry: bool,
    /// Whether their entries are chosen meanwhile.
    pub chooses: bool,
    /// Of a chain.
    pub instruction: Instruction,
}

impl<const PAIRS: usize> Powers<'_, PAIRS> {
    /// The step at a place, with the digits of its window.
    #[inline(always)]
    pub(super) fn step(self, place: Place, digits: [u32; 2], at: u32) -> Step {
        if self.arguments.window.is_chain() {
            return self.instructed(place.windows);
        }
        let (entries, window) = (self.entries, self.arguments.window);
        let is_of_table = place.is_of_table();
        let is_last = !is_of_table && place.windows == 0;
        let is_of_window = !is_of_table && !is_last;
        let is_by_radix = place.begins().is_some();
        // The second power comes before the base can be read as an entry.
        let squares = is_of_table && place.entry == 2 && !is_by_radix
            || is_of_window && place.square < window.squares();
        let digits = match is_of_window {
            true => digits,
            false => [place.made_by(); 2],
        };
        // The first place behind a table, or, where readers choose, one of those of windows.
        let is_chosen =
            is_last || window.scans == 1 && is_of_window || window.is_of_table() && is_of_window;
        let place_of_chosen = match self.reads_tables() && is_of_window {
            true => self.place_of_chosen(at),
            false => entries,
        };
        // A square is by `k` in the first base, which is of the modulus.
        let factor = match is_by_radix || squares {
            true => Factor {
                row: self.units[if squares { 1 } else { 2 }],
                fours: [self.first_four(self.tile_of_modulus()); 2],
            },
            false => Factor {
                row: self.units[3],
                fours: digits.map(|digit| {
                    self.first_of_entry(if is_chosen { place_of_chosen } else { digit })
                }),
            },
        };
        Step {
            squares,
            factor,
            is_last,
            kept: place.kept(),
            digits,
            is_by_entry: is_of_window && !squares,
            chooses: window.scans == 1 && is_of_window && squares,
            instruction: Instruction::SQUARE,
        }
    }
}
