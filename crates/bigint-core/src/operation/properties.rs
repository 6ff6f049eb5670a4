//! Properties of operations that follow from their declarations.

use crate::algorithm::{Algorithm, Level, named};
use crate::operation::{Cost, Operation, Property, Row, Width};
use crate::shape::Layout;

impl Operation {
    /// The operation that a declaration calls `name`, looked up at compile time.
    pub(crate) const fn named(name: &str) -> Self {
        named!(Self::ALL, name)
    }

    /// The operation's name, which its files, kernels, tests and benches bear.
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// The limbs that hold every value of the first result, for operands of these widths.
    pub fn exact_width(self, widths: &[usize]) -> usize {
        self.declaration().exact[0].limbs(widths)
    }

    /// The limbs of the wrapping form's result: as many as the widest operand has.
    pub fn wrapping_width(self, widths: &[usize]) -> usize {
        Width::Widest(0).limbs(widths)
    }

    /// The quantity with which the operation's time grows.
    pub const fn cost(self) -> Cost {
        self.declaration().cost
    }

    /// Whether the operation's declaration states `property`.
    pub const fn is(self, property: Property) -> bool {
        let properties = self.declaration().properties;
        let mut i = 0;
        while i < properties.len() {
            if properties[i] as usize == property as usize {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The index of the operand that is the operation's [guide](Property::Guided), if it has
    /// one.
    pub const fn guide(self) -> Option<usize> {
        match self.is(Property::Guided) {
            true => Some(self.declaration().operands.len() - 1),
            false => None,
        }
    }

    /// Whether the operation's cost is that of a product.
    pub const fn multiplies(self) -> bool {
        matches!(self.cost(), Cost::Product | Cost::Square)
    }

    /// Whether the operation's cost is that of a division.
    pub const fn divides(self) -> bool {
        matches!(self.cost(), Cost::Quotient)
    }

    /// Whether the operation's cost is that of Montgomery products modulo the last operand. The
    /// modulus's width then decides who computes.
    pub const fn multiplies_modulo(self) -> bool {
        matches!(self.cost(), Cost::Residue) || self.is_power()
    }

    /// Whether the operation is a power modulo its last operand.
    pub const fn is_power(self) -> bool {
        use Cost::{PairOfPowers, Power, PowerByTable};
        matches!(self.cost(), Power | PairOfPowers | PowerByTable)
    }

    /// Whether `algorithm` computes this operation at some level.
    pub fn has(self, algorithm: Algorithm) -> bool {
        let mut rows = self.declaration().rows.iter();
        rows.any(|row| row.algorithm == algorithm)
    }

    /// The algorithms that compute this operation at `level`.
    pub fn algorithms(self, level: Level) -> impl Iterator<Item = Algorithm> {
        let rows = self.declaration().rows;
        let algorithm = move |row: &Row| (row.level == level).then_some(row.algorithm);
        // An algorithm has several rows where its numbers of lanes depend on the layout.
        let is_new = move |i: usize| {
            rows[..i]
                .iter()
                .all(|row| algorithm(row) != algorithm(&rows[i]))
        };
        (0..rows.len()).filter_map(move |i| algorithm(&rows[i]).filter(|_| is_new(i)))
    }

    /// The name of the PTX module that has the texts of the operation's kernels: its own, or
    /// that of another operation whose texts they share. It is `None` if the operation has no
    /// kernels.
    pub fn module(self) -> Option<&'static str> {
        let row = self.declaration().rows.first()?;
        Some(row.text.map_or(self.name(), |(operation, _)| operation))
    }

    /// Whether the operation has a PTX module of its own: it has one if a row has a text of its
    /// own.
    pub const fn has_module(self) -> bool {
        let rows = self.declaration().rows;
        let mut i = 0;
        while i < rows.len() {
            if rows[i].text.is_none() {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The numbers of lanes with which the operation has kernels at `level`, fewest first. If
    /// there are several algorithms, these are the lanes of the one that the declaration names
    /// first. Additions and subtractions at warp level take whole warps: their lanes share a
    /// stretch of limbs, be it of one number or of many.
    pub fn lanes(self, level: Level) -> &'static [u32] {
        let mut rows = self.declaration().rows.iter();
        rows.find(|row| row.level == level)
            .map_or(&[], |row| row.lanes)
    }

    /// The numbers of lanes with which the operation has kernels by `algorithm` at `level` for a layout,
    /// fewest first.
    pub fn lanes_by(self, algorithm: Algorithm, level: Level, layout: Layout) -> &'static [u32] {
        let rows = self.declaration().rows.iter();
        let mut rows = rows.filter(|row| (row.algorithm, row.level) == (algorithm, level));
        let first = rows.clone().next();
        // Where no row has the layout, kernels of the first take any.
        let row = rows.find(|row| row.layouts.contains(&layout)).or(first);
        row.map_or(&[], |row| row.lanes)
    }
}
