//! The places of a chain of products that makes a power: its table, and the windows of the exponent.

use crate::gpu::memory::{Any, Number};
use crate::power::{digit, half};
use bigint_core::rns::{RnsArguments, Window};

/// With what a part of a chain begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// This one of the bases.
    Base(u32),
    One,
}

/// How far a chain of products has come.
#[derive(Clone, Copy)]
pub(super) struct Place {
    window: Window,
    /// The entry that is made, of which the last is 0, or more where all are.
    pub entry: u32,
    /// Whether it is the first of a row, and has begun.
    has_begun: bool,
    /// The squares of the window before the next step.
    pub square: u32,
    /// The windows that are left.
    pub windows: u32,
}

impl Place {
    #[inline(always)]
    pub fn first(arguments: &RnsArguments) -> Self {
        Place {
            window: arguments.window,
            // A chain has no table.
            entry: match arguments.window.is_chain() {
                true => u32::MAX / 2,
                false => 1,
            },
            has_begun: false,
            square: 0,
            windows: arguments.windows as u32,
        }
    }

    /// Goes to the next step.
    #[inline(always)]
    pub fn advance(&mut self) {
        if self.window.is_chain() {
            self.windows -= 1;
            return;
        }
        let (row, entries) = (self.window.row(), self.window.entries());
        // The second row begins with `b` alone.
        let is_later = row < self.entry && self.entry < entries;
        if is_later && self.is_first_of_row() && !self.has_begun {
            self.has_begun = true;
            return;
        }
        self.has_begun = false;
        if self.entry <= entries {
            self.entry += 1;
        } else {
            self.square += 1;
        }
        if self.square > self.window.squares() {
            self.square = 0;
            self.windows -= 1;
        }
    }

    #[inline(always)]
    fn is_first_of_row(self) -> bool {
        self.entry & (self.window.row() - 1) == 0
    }

    /// Whether an entry is made.
    #[inline(always)]
    pub fn is_of_table(self) -> bool {
        self.entry <= self.window.entries()
    }

    /// Whether it is the first of a window.
    #[inline(always)]
    pub fn begins_window(self) -> bool {
        !self.is_of_table() && self.square == 0 && self.windows > 0
    }

    /// Where in the table the product is kept; beyond it where it is not.
    #[inline(always)]
    pub fn kept(self) -> u32 {
        match self.is_of_table() {
            true => self.entry & (self.window.entries() - 1),
            false => self.window.entries(),
        }
    }

    /// With what a part of the chain begins, by a product by `M^2`.
    #[inline(always)]
    pub fn begins(self) -> Option<Beginning> {
        let is_first = self.is_first_of_row() && !self.has_begun;
        match self.entry {
            entry if entry == self.window.entries() => Some(Beginning::One),
            1 => Some(Beginning::Base(0)),
            _ if is_first && self.is_of_table() => Some(Beginning::Base(1)),
            _ => None,
        }
    }

    /// The entry by which the next is made.
    #[inline(always)]
    pub fn made_by(self) -> u32 {
        match self.has_begun {
            true => self.entry - self.window.row(),
            false => 1,
        }
    }
}

/// The entry that a window wants of an exponent, or of a pair.
#[inline(always)]
pub(super) fn entry_of(window: Window, e: Number<Any>, i: u32) -> u32 {
    let Window { bits, bases, .. } = window;
    let digit = |which: u32| digit(half(bases == 2, e, which), i, bits);
    match bases {
        2 => digit(0) | digit(1) << bits,
        _ => digit(0),
    }
}
