//! Numbers in device memory, or some limbs of each, as launches take them.

use crate::common::device::Buffer;
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
        let strides = Shape::new(count, width, Layout::Contiguous).strides();
        Part {
            limbs: MatrixArgument::new(buffer.address(), width, strides),
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
