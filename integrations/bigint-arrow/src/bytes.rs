//! Integers as bytes, and memory that Arrow and the engine share.

use std::borrow::Cow;

use arrow_buffer::{ArrowNativeType, Buffer};
use bigint_host::{Batch, Integers, Limb};
use bytemuck::Pod;
use bytes::Bytes;

use crate::{Error, Fixed, Order, Sign};

/// Bytes of a limb.
pub const LIMB_BYTES: usize = size_of::<Limb>();

/// What Arrow holds of a column whose limbs it borrows.
struct Held<T>(T, fn(&T) -> &[u8]);

impl<T> AsRef<[u8]> for Held<T> {
    fn as_ref(&self) -> &[u8] {
        self.1(&self.0)
    }
}

fn held<T: Send + 'static>(owner: T, bytes: fn(&T) -> &[u8]) -> Buffer {
    Buffer::from(Bytes::from_owner(Held(owner, bytes)))
}

/// The limbs of integers and their offsets, which stay where they are.
pub fn buffers(integers: &Integers) -> (Buffer, Buffer) {
    let limbs = held(integers.clone(), |own| bytemuck::cast_slice(own.limbs()));
    let offsets = held(integers.clone(), |own| bytemuck::cast_slice(own.offsets()));
    (limbs, offsets)
}

/// The limbs of a batch row after row, which stay where they are unless they are interleaved.
pub fn rows(batch: &Batch) -> Result<Buffer, Error> {
    let owned = match batch.rows()? {
        Cow::Owned(rows) => Some(rows),
        Cow::Borrowed(_) => None,
    };
    Ok(match owned {
        Some(rows) => Buffer::from_vec(rows),
        None => held(batch.clone(), |own| match own.rows() {
            Ok(Cow::Borrowed(rows)) => bytemuck::cast_slice(rows),
            _ => unreachable!("rows that are on the host stay there"),
        }),
    })
}

/// The elements of a buffer: its own memory where it was allocated as such a vector and nobody
/// else has it, or else a copy.
pub fn into_vec<T: ArrowNativeType + Pod>(buffer: Buffer) -> Vec<T> {
    let copied = |buffer: Buffer| bytemuck::pod_collect_to_vec(buffer.as_slice());
    buffer.into_vec().unwrap_or_else(copied)
}

impl Fixed {
    /// Whether a number of these bytes is negative.
    fn is_negative(self, bytes: &[u8]) -> bool {
        let top = match self.order {
            Order::Little => bytes.last(),
            Order::Big => bytes.first(),
        };
        self.sign == Sign::TwosComplement && top.is_some_and(|top| top >> 7 == 1)
    }

    /// Limb `index` of the two's complement of a number of these bytes, which has infinitely many.
    #[inline]
    fn limb(self, bytes: &[u8], index: usize, filler: Limb) -> Limb {
        let (low, high) = (LIMB_BYTES * index, LIMB_BYTES * (index + 1));
        if high <= bytes.len() {
            let place = match self.order {
                Order::Little => low..high,
                Order::Big => bytes.len() - high..bytes.len() - low,
            };
            let bytes = bytes[place]
                .try_into()
                .expect("as many bytes as a limb has");
            return match self.order {
                Order::Little => Limb::from_le_bytes(bytes),
                Order::Big => Limb::from_be_bytes(bytes),
            };
        }
        let mut limb = filler.to_le_bytes();
        for (at, byte) in (low..bytes.len()).zip(&mut limb) {
            *byte = match self.order {
                Order::Little => bytes[at],
                Order::Big => bytes[bytes.len() - 1 - at],
            };
        }
        Limb::from_le_bytes(limb)
    }

    /// How many limbs the magnitude has of the number that these bytes are, zeros on top left out, and
    /// whether it is negative.
    pub fn length(self, bytes: &[u8]) -> (usize, bool) {
        let negative = self.is_negative(bytes);
        let filler = if negative { Limb::MAX } else { 0 };
        let limb = |index| self.limb(bytes, index, filler);
        let top = (0..bytes.len().div_ceil(LIMB_BYTES)).rev();
        let length = top.clone().find(|&index| limb(index) != filler);
        let length = length.map_or(0, |top| top + 1);
        // Of `-x` the limbs are those of `x - 1`, every bit the other: a power of 2^32 is one longer.
        let is_power = negative && (0..length).all(|index| limb(index) == 0);
        (length + usize::from(is_power), negative)
    }

    /// Writes the magnitude of the number that these bytes are, of its [`Fixed::length`].
    pub fn fill(self, bytes: &[u8], limbs: &mut [Limb]) {
        let negative = self.is_negative(bytes);
        let filler = if negative { Limb::MAX } else { 0 };
        // Those that are whole pairs of limbs go without a look at each.
        let (pairs, _) = limbs.as_chunks_mut();
        let place =
            |(pair, word): (&mut [Limb; 2], u64)| *pair = [word as Limb, (word >> 32) as Limb];
        match self.order {
            Order::Little => {
                let words = bytes.as_chunks().0.iter();
                pairs
                    .iter_mut()
                    .zip(words.map(|word| u64::from_le_bytes(*word)))
                    .for_each(place);
            }
            Order::Big => {
                let words = bytes.as_rchunks().1.iter().rev();
                pairs
                    .iter_mut()
                    .zip(words.map(|word| u64::from_be_bytes(*word)))
                    .for_each(place);
            }
        }
        let done = 2 * (limbs.len() / 2).min(bytes.len() / 8);
        let rest = limbs.iter_mut().enumerate().skip(done);
        rest.for_each(|(index, limb)| *limb = self.limb(bytes, index, filler));
        if negative {
            negate(limbs);
        }
    }
}

/// Memory for so many elements.
pub fn with_room<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut room = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>());
    room.try_reserve_exact(count)
        .map_err(|_| out_of_memory(bytes))?;
    Ok(room)
}

fn out_of_memory(bytes: usize) -> Error {
    bigint_host::Error::OutOfMemory { bytes }.into()
}

/// What [`Integers`] are made of, on the way.
pub struct Parts {
    pub limbs: Vec<Limb>,
    offsets: Vec<i64>,
    signs: Vec<u8>,
}

impl Parts {
    /// No number yet, and room for the offsets and signs of so many.
    pub fn with_capacity(count: usize) -> Result<Self, Error> {
        let mut offsets = with_room(count + 1)?;
        offsets.push(0);
        Ok(Parts {
            limbs: Vec::new(),
            offsets,
            signs: with_room(count.div_ceil(8))?,
        })
    }

    /// The next number is what was put behind the last one's limbs.
    pub fn end(&mut self, negative: bool) {
        let index = self.offsets.len() - 1;
        let start = self.offsets[index] as usize / LIMB_BYTES;
        while self.limbs.len() > start && self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        if index.is_multiple_of(8) {
            self.signs.push(0);
        }
        let negative = negative && self.limbs.len() > start;
        self.signs[index / 8] |= u8::from(negative) << (index % 8);
        self.offsets.push((self.limbs.len() * LIMB_BYTES) as i64);
    }

    /// Takes the number in that these bytes are.
    pub fn push(&mut self, bytes: &[u8], fixed: Fixed) -> Result<(), Error> {
        let start = self.limbs.len();
        let (length, negative) = fixed.length(bytes);
        let room = self.limbs.try_reserve(length);
        room.map_err(|_| out_of_memory(LIMB_BYTES * length))?;
        self.limbs.resize(start + length, 0);
        fixed.fill(bytes, &mut self.limbs[start..]);
        self.end(negative);
        Ok(())
    }

    /// Makes the last number negative, which is not zero.
    pub fn negate_last(&mut self) {
        let index = self.offsets.len() - 2;
        self.signs[index / 8] |= 1 << (index % 8);
    }

    /// The integers.
    pub fn finish(self) -> Result<Integers, Error> {
        Ok(Integers::from_parts(self.limbs, self.offsets, self.signs)?)
    }
}

/// The two's complement of limbs, in their place.
fn negate(limbs: &mut [Limb]) {
    let mut carry = true;
    for limb in limbs {
        (*limb, carry) = (!*limb).overflowing_add(Limb::from(carry));
    }
}

/// Writes a number, which has no zero limb on top, as bytes, all of `place`; whether it fits.
pub fn write(magnitude: &[Limb], negative: bool, fixed: Fixed, place: &mut [u8]) -> bool {
    let zeros = magnitude
        .last()
        .map_or(0, |top| top.leading_zeros() / u8::BITS);
    if LIMB_BYTES * magnitude.len() - zeros as usize > place.len() {
        return false;
    }
    let mut limbs = magnitude.iter().copied();
    let mut next = || limbs.next().unwrap_or(0);
    match fixed.order {
        Order::Little => {
            let (whole, rest) = place.as_chunks_mut();
            whole
                .iter_mut()
                .for_each(|bytes| *bytes = next().to_le_bytes());
            rest.copy_from_slice(&next().to_le_bytes()[..rest.len()]);
        }
        Order::Big => {
            let (rest, whole) = place.as_rchunks_mut();
            whole
                .iter_mut()
                .rev()
                .for_each(|bytes| *bytes = next().to_be_bytes());
            rest.copy_from_slice(&next().to_be_bytes()[LIMB_BYTES - rest.len()..]);
        }
    }
    if negative {
        let mut carry = true;
        let mut negate = |byte: &mut u8| (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
        match fixed.order {
            Order::Little => place.iter_mut().for_each(&mut negate),
            Order::Big => place.iter_mut().rev().for_each(&mut negate),
        }
    }
    match fixed.sign {
        Sign::Unsigned => !negative,
        // Zero is not negative, and the least number is its own negation.
        Sign::TwosComplement => fixed.is_negative(place) == negative,
    }
}
