//! Shifts of a number of any length: how long the result is, then the result in its place.

use crate::common::limbs::bit_length;
use crate::integers::passing::Number;
use bigint_core::{LIMB_BITS, Limb};

/// A number of bits to shift by; more than there can be where it has more than two limbs.
#[inline]
pub(crate) fn count((bits, _): Number<'_>) -> usize {
    match bits {
        [] => 0,
        [bits] => *bits as usize,
        [low, high] => (*high as usize) << LIMB_BITS | *low as usize,
        _ => usize::MAX,
    }
}

/// The limbs of `x 2^bits`.
#[inline]
pub(crate) fn shifted_length(x: &[Limb], bits: usize) -> usize {
    match x {
        [] => 0,
        _ => bit_length(x).saturating_add(bits).div_ceil(LIMB_BITS),
    }
}

/// The limb that two neighbours become in a shift, of which the higher gives its low bits.
#[inline]
fn joined(low: Limb, high: Limb, right: usize) -> Limb {
    ((u64::from(high) << LIMB_BITS | u64::from(low)) >> right) as Limb
}

/// Each limb of `x` but the last, [joined] with the next.
#[inline]
fn join(place: &mut [Limb], x: &[Limb], right: usize) {
    let pairs = x.iter().zip(x.get(1..).unwrap_or_default());
    let pairs = place.iter_mut().zip(pairs);
    match right % LIMB_BITS {
        // By none, or by all.
        0 => pairs.for_each(|(slot, (&low, &high))| *slot = if right == 0 { low } else { high }),
        // A vector of limbs has no shifts of two at once.
        right => pairs.for_each(|(slot, (&low, &high))| {
            *slot = low >> right | high << (LIMB_BITS - right);
        }),
    }
}

pub(crate) fn shift_left(place: &mut [Limb], x: &[Limb], bits: usize) {
    let (whole, left) = (bits / LIMB_BITS, bits % LIMB_BITS);
    let [first, .., last] = x else {
        let wide = x.first().map_or(0, |&limb| u64::from(limb) << left);
        for (i, slot) in place.iter_mut().enumerate() {
            let at = i.wrapping_sub(whole);
            *slot = if at < 2 {
                (wide >> (LIMB_BITS * at)) as Limb
            } else {
                0
            };
        }
        return;
    };
    let (zeros, place) = place.split_at_mut(whole);
    zeros.fill(0);
    place[0] = first << left;
    join(&mut place[1..], x, LIMB_BITS - left);
    if let Some(top) = place.get_mut(x.len()) {
        *top = joined(*last, 0, LIMB_BITS - left);
    }
}

/// `x / 2^bits`, rounded down: of the magnitude of a negative number, up.
pub(crate) struct Floor<'a> {
    /// The limbs that are left when whole limbs are shifted out.
    limbs: &'a [Limb],
    right: usize,
    is_up: bool,
}

impl<'a> Floor<'a> {
    #[inline]
    pub fn of((x, negative): Number<'a>, bits: usize) -> Self {
        let (cut, limbs) = x.split_at(x.len().min(bits / LIMB_BITS));
        let right = bits % LIMB_BITS;
        let is_odd = || {
            limbs
                .first()
                .is_some_and(|&low| low << 1 << (LIMB_BITS - 1 - right) != 0)
        };
        Floor {
            limbs,
            right,
            is_up: negative && (cut.iter().any(|&limb| limb != 0) || right > 0 && is_odd()),
        }
    }

    #[inline]
    fn limb(&self, i: usize) -> Limb {
        joined(
            self.limbs[i],
            self.limbs.get(i + 1).copied().unwrap_or(0),
            self.right,
        )
    }

    #[inline]
    pub fn length(&self) -> usize {
        let bits = bit_length(self.limbs).saturating_sub(self.right);
        let length = bits.div_ceil(LIMB_BITS);
        // One more is longer where all bits are ones.
        let is_longer = self.is_up
            && bits.is_multiple_of(LIMB_BITS)
            && (0..length).rev().all(|i| self.limb(i) == Limb::MAX);
        length + usize::from(is_longer)
    }

    #[inline]
    pub fn write(&self, place: &mut [Limb]) {
        join(place, self.limbs, self.right);
        if let Some(top) = self.limbs.len().checked_sub(1)
            && let Some(slot) = place.get_mut(top)
        {
            *slot = self.limb(top);
        }
        if let Some(above) = place.get_mut(self.limbs.len()) {
            *above = 0;
        }
        if self.is_up {
            for slot in place {
                *slot = slot.wrapping_add(1);
                if *slot != 0 {
                    break;
                }
            }
        }
    }
}
