//! A result that is cut into pieces of consecutive numbers, each of which is computed by one
//! thread.
//!
//! The numbers of an interleaved batch share rows, so a piece of it is a short slice of each
//! row. Such a slice costs 16 bytes for each row and piece, and allows safe code for both
//! layouts.

use bigint_core::{Layout, Limb};

use crate::memory::{empty, or_out_of_memory};
use crate::share::{Cut, share};
use crate::{Error, NumbersMut};

/// A piece: `count` numbers of a result, from number `first` on, and their carry words.
pub(crate) struct Piece<'a> {
    pub first: usize,
    pub count: usize,
    pub width: usize,
    pub limbs: PieceLimbs<'a>,
    pub carry: Option<&'a mut [Limb]>,
}

/// The memory of a piece.
pub(crate) enum PieceLimbs<'a> {
    /// `count * width` limbs, number after number.
    Contiguous(&'a mut [Limb]),
    /// `width` rows of `count` limbs.
    Rows(Vec<&'a mut [Limb]>),
}

impl<'a> Piece<'a> {
    /// Cuts the piece before its number `at`. Returns the piece of the numbers from there on.
    pub fn split_off(&mut self, at: usize) -> Piece<'a> {
        let rest = Piece {
            first: self.first + at,
            count: self.count - at,
            width: self.width,
            limbs: match &mut self.limbs {
                PieceLimbs::Contiguous(limbs) => {
                    PieceLimbs::Contiguous(split_back(limbs, at * self.width))
                }
                PieceLimbs::Rows(rows) => {
                    PieceLimbs::Rows(listed(rows.iter_mut().map(|row| split_back(row, at))))
                }
            },
            carry: self.carry.as_mut().map(|words| split_back(words, at)),
        };
        self.count = at;
        rest
    }

    /// Number `i` of the piece as a slice, if it is contiguous.
    pub fn contiguous_mut(&mut self, i: usize) -> Option<&mut [Limb]> {
        match &mut self.limbs {
            PieceLimbs::Contiguous(limbs) => Some(&mut limbs[i * self.width..][..self.width]),
            PieceLimbs::Rows(_) => None,
        }
    }

    /// Writes number `i` of the piece.
    pub fn store(&mut self, i: usize, number: &[Limb]) {
        match &mut self.limbs {
            PieceLimbs::Contiguous(limbs) => {
                limbs[i * self.width..][..self.width].copy_from_slice(number);
            }
            PieceLimbs::Rows(rows) => {
                for (row, limb) in rows.iter_mut().zip(number) {
                    row[i] = *limb;
                }
            }
        }
    }

    /// Writes the carry of number `i`, if the caller wants carries.
    pub fn store_carry(&mut self, i: usize, carry: Limb) {
        if let Some(words) = &mut self.carry {
            words[i] = carry;
        }
    }

    /// Cuts a result and its carry words into pieces of `size` numbers, inside
    /// [`or_out_of_memory`].
    pub fn cut(r: NumbersMut<'a>, carry: Option<&'a mut [Limb]>, size: usize) -> Vec<Piece<'a>> {
        let shape = r.shape();
        let row_length = shape.strides().limb;
        let counts = (0..shape.count)
            .step_by(size)
            .map(|first| (first, size.min(shape.count - first)));
        let mut rest = r.into_limbs();
        let mut rows: Vec<&mut [Limb]> = match shape.layout {
            Layout::Contiguous => Vec::new(),
            Layout::Interleaved => {
                listed(std::mem::take(&mut rest).chunks_exact_mut(row_length.max(1)))
            }
        };
        let mut carry = carry;
        let pieces = counts.map(|(first, count)| Piece {
            first,
            count,
            width: shape.width,
            limbs: match shape.layout {
                Layout::Contiguous => {
                    PieceLimbs::Contiguous(split_front(&mut rest, count * shape.width))
                }
                Layout::Interleaved => {
                    PieceLimbs::Rows(listed(rows.iter_mut().map(|row| split_front(row, count))))
                }
            },
            carry: carry.as_mut().map(|words| split_front(words, count)),
        });
        listed(pieces)
    }
}

/// A vector of everything that `items` yields, for use inside [`or_out_of_memory`].
fn listed<T>(items: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut list = empty(items.len());
    list.extend(items);
    list
}

/// Removes the first `length` limbs from `rest`, and returns them.
fn split_front<'a>(rest: &mut &'a mut [Limb], length: usize) -> &'a mut [Limb] {
    let (front, back) = std::mem::take(rest).split_at_mut(length);
    *rest = back;
    front
}

/// Removes the limbs after the first `length` from `rest`, and returns them.
fn split_back<'a>(rest: &mut &'a mut [Limb], length: usize) -> &'a mut [Limb] {
    let front = split_front(rest, length);
    std::mem::replace(rest, front)
}

/// Runs `work` on each piece of the result, which is cut as `cut` says, on as many threads as
/// `cut` says.
///
/// # Errors
///
/// [`Error::OutOfMemory`] if `work` cannot allocate its scratch.
pub(crate) fn for_each_piece<'a>(
    r: NumbersMut<'a>,
    carry: Option<&'a mut [Limb]>,
    cut: Cut,
    work: impl Fn(Piece<'a>) + Sync + Send,
) -> Result<(), Error> {
    let size = cut.size.max(1);
    if r.shape().count <= size && r.shape().layout == Layout::Contiguous {
        // One piece needs no list of pieces, which would take longer than a short product.
        return or_out_of_memory(|| {
            work(Piece {
                first: 0,
                count: r.shape().count,
                width: r.shape().width,
                limbs: PieceLimbs::Contiguous(r.into_limbs()),
                carry,
            });
        });
    }
    or_out_of_memory(|| share(Piece::cut(r, carry, size), cut.threads, work))
}
