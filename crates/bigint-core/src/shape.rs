//! The layout of a batch of fixed-width numbers in memory.

use crate::algorithm::named;

/// A limb, the digit of every number. Numbers are little-endian arrays of 32-bit limbs.
///
/// 32 bits is the width of the GPU's integer registers and of its carry chain.
pub type Limb = u32;

/// The bits of a [`Limb`].
pub const LIMB_BITS: usize = Limb::BITS as usize;

/// The widest number that a batch may hold, in limbs (2^33 bits, which are 2^30 bytes).
///
/// Column sums are kept in 96 bits. That is enough for operands this wide: 2^28 terms below
/// 2^64 sum to less than 2^92.
pub const MAX_WIDTH: usize = 1 << 28;

/// The widest number, in limbs, whose count of bits fits one limb. Operations that take or
/// return counts of bits ([`CountsBits`](crate::operation::Property::CountsBits)) take none
/// wider.
pub const WIDEST_COUNTED: usize = (1 << 27) - 1;

/// The numbers of an interleaved batch are padded to a multiple of this count, so that every
/// row of limbs begins on a 128-byte line.
pub const INTERLEAVE: usize = 32;

/// The order of limbs in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// All limbs of number 0, then all limbs of number 1, and so on.
    #[default]
    Contiguous,
    /// Limb 0 of every number, then limb 1 of every number, and so on. Each of these rows is
    /// padded to a multiple of [`INTERLEAVE`] numbers. Neighbouring GPU threads that hold one
    /// number each read neighbouring words.
    Interleaved,
}

impl Layout {
    /// Both layouts.
    pub const ALL: [Layout; 2] = [Layout::Contiguous, Layout::Interleaved];

    /// The layout's name, as it stands in kernel names and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Contiguous => "contiguous",
            Layout::Interleaved => "interleaved",
        }
    }

    /// The layout that a declaration calls `name`, looked up at compile time.
    pub(crate) const fn named(name: &str) -> Self {
        named!(Self::ALL, name)
    }
}

/// The distances, in limbs, between neighbours in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strides {
    /// The distance from limb `j` of number `i` to limb `j` of number `i + 1`. It is zero where
    /// one number stands for the whole batch (a broadcast operand).
    pub number: usize,
    /// The distance from limb `j` of a number to its limb `j + 1`.
    pub limb: usize,
}

/// The shape of a batch: `count` numbers of `width` limbs each, in a layout.
///
/// ```
/// # use bigint_core as bigint_host;
/// use bigint_host::{Layout, Shape};
/// let shape = Shape::new(3, 2, Layout::Interleaved);
/// assert_eq!(shape.strides().limb, 32); // rows are padded to 32 numbers
/// assert_eq!(shape.index(1, 1), 33);
/// assert_eq!(shape.limbs(), 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The number of numbers in the batch.
    pub count: usize,
    /// The limbs of each number.
    pub width: usize,
    /// The order of the limbs.
    pub layout: Layout,
}

impl Shape {
    /// Makes the shape of a batch of `count` numbers of `width` limbs.
    pub const fn new(count: usize, width: usize, layout: Layout) -> Self {
        Shape {
            count,
            width,
            layout,
        }
    }

    /// The distances between neighbouring limbs and numbers.
    pub const fn strides(self) -> Strides {
        match self.layout {
            Layout::Contiguous => Strides {
                number: self.width,
                limb: 1,
            },
            Layout::Interleaved => Strides {
                number: 1,
                limb: self.count.next_multiple_of(INTERLEAVE),
            },
        }
    }

    /// The index in the batch of limb `limb` of number `number`.
    pub const fn index(self, number: usize, limb: usize) -> usize {
        let strides = self.strides();
        number * strides.number + limb * strides.limb
    }

    /// The limbs of memory that the batch takes, padding included.
    pub const fn limbs(self) -> usize {
        match self.layout {
            Layout::Contiguous => self.count * self.width,
            Layout::Interleaved => self.strides().limb * self.width,
        }
    }

    /// Like [`Shape::limbs`], or `None` where that overflows.
    pub const fn checked_limbs(self) -> Option<usize> {
        match self.layout {
            Layout::Contiguous => self.count.checked_mul(self.width),
            Layout::Interleaved => match self.count.checked_next_multiple_of(INTERLEAVE) {
                Some(row) => row.checked_mul(self.width),
                None => None,
            },
        }
    }

    /// The same shape with another width.
    pub const fn with_width(self, width: usize) -> Self {
        Shape { width, ..self }
    }
}
