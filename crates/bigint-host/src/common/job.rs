//! One operation on batches, as dispatch sees it.

use crate::common::limbs;
use crate::{Error, Options};
use bigint_core::operation::{MOST_RESULTS, Property};
use bigint_core::{Algorithm, Layout, Operation, Shape, WIDEST_COUNTED};

/// One operation on operands of known shapes, with the form of its results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub operation: Operation,
    /// The shapes of all results, in declared order; unused entries repeat the first.
    shapes: [Shape; MOST_RESULTS],
    pub options: Options,
    pub wanted: Wanted,
}

/// Which flags are wanted beside the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Nothing,
    /// A word for each number.
    Flags,
    /// The index of the first number whose flag is 1.
    First,
}

impl Job {
    /// A job whose results have these widths.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where operands have different lengths, neither of which
    /// is one; [`Error::Width`] and [`Error::TooLarge`] for results that cannot be;
    /// [`Error::TooManyBits`] where bits are counted of numbers too wide for it.
    pub fn new(
        operation: Operation,
        operands: &[Shape],
        widths: &[usize],
        options: Options,
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let mut longest = operands[0];
        for operand in &operands[1..] {
            match (longest.count, operand.count) {
                (a, b) if a == b || b == 1 => {}
                (1, _) => longest = *operand,
                (a, b) => return Err(Error::CountMismatch { a, b }),
            }
        }
        let shape = |width| Shape { width, ..longest };
        let mut shapes = [shape(widths[0]); MOST_RESULTS];
        for (slot, &width) in shapes.iter_mut().zip(widths) {
            *slot = shape(width);
            limbs::checked_limbs(*slot)?;
        }
        let width = shapes[0].width.max(operands[0].width);
        if operation.is(Property::CountsBits) && width > WIDEST_COUNTED {
            return Err(Error::TooManyBits { operation, width });
        }
        Ok(Job {
            operation,
            shapes,
            options,
            wanted,
        })
    }

    /// The shape of each result.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes[..self.operation.declaration().results.len()]
    }

    /// The shape of the flags.
    pub fn flags_shape(&self) -> Shape {
        Shape::new(self.count(), 1, Layout::Contiguous)
    }

    /// The number of numbers in each result.
    pub fn count(&self) -> usize {
        self.shapes[0].count
    }

    /// The job on `count` of the numbers.
    pub fn with_count(mut self, count: usize) -> Self {
        for shape in &mut self.shapes {
            shape.count = count;
        }
        self
    }

    /// The job on numbers that all have values.
    pub fn without_flags(self) -> Self {
        let wanted = Wanted::Nothing;
        Job { wanted, ..self }
    }

    /// The job computed as another operation with the same results.
    pub fn of(self, operation: Operation) -> Self {
        Job { operation, ..self }
    }

    /// Whether no forced option decides between this operation and `other`.
    pub fn leaves_open(&self, other: Operation) -> bool {
        let Options { level, lanes, .. } = self.options;
        let is_named = |operation| self.options.algorithm_for(operation) != Algorithm::Auto;
        level.is_none() && lanes.is_none() && !is_named(self.operation) && !is_named(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_of_numbers_whose_bits_a_limb_counts() {
        let job = |operation, widths: &[usize], result| {
            let of = |&width| Shape::new(1, width, Layout::Contiguous);
            let shapes: Vec<Shape> = widths.iter().map(of).collect();
            let options = Options::default();
            Job::new(operation, &shapes, &[result], options, Wanted::Nothing)
        };
        let most = WIDEST_COUNTED;
        assert!(job(Operation::BitLength, &[most], 1).is_ok());
        assert!(job(Operation::Shr, &[most, 2], most).is_ok());
        assert!(job(Operation::Shl, &[most, 2], most + 1).is_ok());
        assert!(job(Operation::Add, &[most + 1; 2], most + 2).is_ok());
        for (operation, width, result) in [
            (Operation::BitLength, most + 1, 1),
            (Operation::TestBit, most + 1, 1),
        ] {
            let refused = job(operation, &[width, 1], result).map(|_| ()).unwrap_err();
            let expected = most + 1;
            assert!(matches!(refused, Error::TooManyBits { width, .. } if width == expected));
        }
    }
}
