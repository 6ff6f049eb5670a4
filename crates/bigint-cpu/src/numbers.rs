//! Batches of numbers in the CPU's memory: limbs and their shape.

use bigint_core::{Layout, Limb, Shape};

use crate::Error;
use crate::memory::grow;

/// A batch of numbers to read: `limbs[shape.index(i, j)]` is limb `j` of number `i`.
///
/// A batch of one number is used for all numbers of the result.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    limbs: &'a [Limb],
    shape: Shape,
}

/// A batch of numbers to write, with the same layout as [`Numbers`]. Padding is left as it is.
#[derive(Debug)]
pub struct NumbersMut<'a> {
    limbs: &'a mut [Limb],
    shape: Shape,
}

/// The memory that an operation writes.
#[derive(Debug)]
pub struct Results<'a> {
    /// The result.
    pub r: NumbersMut<'a>,
    /// The second result, for operations that have two. It has as many numbers as the first.
    pub s: Option<NumbersMut<'a>>,
    /// One word for each number, which gets the number's flag (0 or 1), if the caller wants
    /// flags. Operations without a flag do not change the words.
    pub flags: Option<&'a mut [Limb]>,
}

#[inline]
fn check(found: usize, shape: Shape) -> Result<(), Error> {
    if shape.checked_limbs() == Some(found) {
        Ok(())
    } else {
        Err(Error::Length { shape, found })
    }
}

impl<'a> Numbers<'a> {
    /// The batch of `shape` in `limbs`.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] unless `limbs` has exactly `shape.limbs()` limbs.
    #[inline]
    pub fn new(limbs: &'a [Limb], shape: Shape) -> Result<Self, Error> {
        check(limbs.len(), shape)?;
        Ok(Numbers { limbs, shape })
    }

    /// The memory, padding included.
    #[inline]
    pub fn limbs(&self) -> &'a [Limb] {
        self.limbs
    }

    /// The shape: count, width and layout.
    #[inline]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether both batches are the same numbers in the same memory.
    #[inline]
    pub(crate) fn same(&self, other: &Numbers<'_>) -> bool {
        std::ptr::eq(self.limbs, other.limbs) && self.shape == other.shape
    }

    /// Whether number 0 is used for all numbers of the result.
    #[inline]
    pub(crate) fn is_broadcast(&self) -> bool {
        self.shape.count == 1
    }

    /// Returns an error if the batch has neither one number nor `count` numbers.
    #[inline]
    pub(crate) fn check_count(&self, count: usize) -> Result<(), Error> {
        if self.shape.count == count || self.shape.count == 1 {
            Ok(())
        } else {
            Err(Error::Count {
                operand: self.shape.count,
                result: count,
            })
        }
    }

    /// Number `i` as a slice if it is contiguous, or `None` if the batch is interleaved.
    #[inline(always)]
    pub(crate) fn contiguous(&self, i: usize) -> Option<&'a [Limb]> {
        let i = if self.is_broadcast() { 0 } else { i };
        match self.shape.layout {
            Layout::Contiguous => Some(&self.limbs[i * self.shape.width..][..self.shape.width]),
            Layout::Interleaved => None,
        }
    }

    /// The limbs of the number, if the batch has one number and it is contiguous.
    #[inline(always)]
    pub(crate) fn alone(&self) -> Option<&'a [Limb]> {
        (self.shape.count == 1 && self.shape.layout == Layout::Contiguous).then_some(self.limbs)
    }

    /// Number `i` as a slice: in place if it is contiguous, or else gathered into `buffer`.
    #[inline(always)]
    pub(crate) fn gather<'b>(&self, i: usize, buffer: &'b mut Vec<Limb>) -> &'b [Limb]
    where
        'a: 'b,
    {
        if let Some(number) = self.contiguous(i) {
            return number;
        }
        let i = if self.is_broadcast() { 0 } else { i };
        let row = self.shape.strides().limb;
        grow(buffer, self.shape.width);
        buffer.clear();
        buffer.extend((0..self.shape.width).map(|limb| self.limbs[limb * row + i]));
        buffer
    }
}

impl<'a> NumbersMut<'a> {
    /// The batch of `shape` in `limbs`.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] unless `limbs` has exactly `shape.limbs()` limbs.
    #[inline]
    pub fn new(limbs: &'a mut [Limb], shape: Shape) -> Result<Self, Error> {
        check(limbs.len(), shape)?;
        Ok(NumbersMut { limbs, shape })
    }

    /// The shape: count, width and layout.
    #[inline]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The limbs of the number, if the batch has one number and it is contiguous.
    #[inline(always)]
    pub(crate) fn alone_mut(&mut self) -> Option<&mut [Limb]> {
        (self.shape.count == 1 && self.shape.layout == Layout::Contiguous).then_some(self.limbs)
    }

    /// The memory, padding included.
    #[inline]
    pub fn into_limbs(self) -> &'a mut [Limb] {
        self.limbs
    }
}
