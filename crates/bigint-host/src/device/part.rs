//! Numbers in device memory, or some limbs of each, as launches take them.

use crate::common::device::Buffer;
use crate::values::node::Node;
use bigint_core::kernel::MatrixArgument;
use bigint_core::{Layout, Limb, Shape};
use std::ops::Range;

/// Some limbs of each of some numbers, and the memory that has them.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub limbs: MatrixArgument,
    pub buffer: &'a Buffer,
}

impl<'a> Part<'a> {
    /// All limbs of the memory, as one number.
    pub fn of(buffer: &'a Buffer) -> Self {
        Part::rows(buffer, 1, buffer.limbs())
    }

    /// `count` numbers of `width` limbs, one after the other.
    pub fn rows(buffer: &'a Buffer, count: usize, width: usize) -> Self {
        Part::of_shape(buffer, Shape::new(count, width, Layout::Contiguous))
    }

    /// All numbers of a batch.
    pub fn of_shape(buffer: &'a Buffer, shape: Shape) -> Self {
        Part {
            limbs: MatrixArgument::new(buffer.address(), shape.width, shape.strides()),
            buffer,
        }
    }

    /// The same from limb `start` of the memory on.
    pub fn of_shape_at(buffer: &'a Buffer, start: usize, shape: Shape) -> Self {
        debug_assert!(start + shape.limbs() <= buffer.limbs());
        let address = buffer.address() + (size_of::<Limb>() * start) as u64;
        Part {
            limbs: MatrixArgument::new(address, shape.width, shape.strides()),
            buffer,
        }
    }

    /// `count` numbers of an operand, or its one number, which stands for them all.
    pub fn of_operand(node: &Node, buffer: &'a Buffer, count: usize) -> Self {
        Part {
            limbs: operand(node, buffer.address(), count),
            buffer,
        }
    }

    /// The first number, which stands for all.
    pub fn for_all(self) -> Self {
        Part {
            limbs: MatrixArgument {
                number_stride: 0,
                ..self.limbs
            },
            ..self
        }
    }

    pub fn width(self) -> usize {
        self.limbs.width as usize
    }

    /// These limbs of each number.
    pub fn at(self, range: Range<usize>) -> Self {
        debug_assert!(range.end <= self.width());
        let below = (size_of::<Limb>() * range.start) as u64 * self.limbs.limb_stride;
        Part {
            limbs: MatrixArgument {
                limbs: self.limbs.limbs + below,
                width: range.len() as u64,
                ..self.limbs
            },
            ..self
        }
    }

    /// The limbs below limb `at`, and the others.
    pub fn halves(self, at: usize) -> [Self; 2] {
        [self.at(0..at), self.at(at..self.width())]
    }

    /// The lowest limbs, as many as that or all.
    pub fn lowest(self, width: usize) -> Self {
        self.at(0..width.min(self.width()))
    }

    /// The numbers from number `first` on.
    pub fn numbers_from(self, first: usize) -> Self {
        let before = (size_of::<Limb>() * first) as u64 * self.limbs.number_stride;
        Part {
            limbs: MatrixArgument {
                limbs: self.limbs.limbs + before,
                ..self.limbs
            },
            ..self
        }
    }
}

/// The argument for an operand at an address: so many numbers, or one for all.
pub(crate) fn operand(node: &Node, address: u64, count: usize) -> MatrixArgument {
    let is_one = node.shape.count == 1;
    let mut strides = Shape {
        count: if is_one { 1 } else { count },
        ..node.shape
    }
    .strides();
    if is_one && count > 1 {
        strides.number = 0;
    }
    MatrixArgument::new(address, node.shape.width, strides)
}
