//! The transforms by which a whole device multiplies, and the memory of their points.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::common::error::{DeviceError, DeviceErrorKind};
use crate::values::node::{Kept, Node, Transformed};
use bigint_core::transform::grid::GridPlan;
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Algorithm, Limb};
use std::ops::Range;
use std::sync::Arc;

/// The transform by which a whole device multiplies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Transform {
    Fft(GridPlan),
    Ntt(NttPlan),
    /// Several transforms modulo primes.
    Pieces(Pieces),
}

impl Transform {
    /// The transforms that compute products of `n` by `m` limbs, of which `width` are wanted; those
    /// modulo primes may have `longest` limbs.
    pub fn of(n: usize, m: usize, width: usize, longest: usize) -> impl Iterator<Item = Transform> {
        let ffts = [GridPlan::of(n.max(m)), GridPlan::daring(n.max(m))];
        let ffts = ffts.into_iter().flatten().map(Transform::Fft);
        let (n, m) = (n.min(width), m.min(width));
        let ntt = NttPlan::of(n, m).filter(|plan| plan.length() as usize <= longest);
        let ntt = match ntt {
            Some(plan) => Transform::Ntt(plan),
            None => Transform::Pieces(Pieces::of(n, m, longest)),
        };
        ffts.chain([ntt])
    }

    /// Whether its blocks fit a device with so many bytes of shared memory for each.
    pub fn fits(&self, shared_bytes: u32) -> bool {
        match self {
            Transform::Fft(plan) => plan.fits(shared_bytes),
            Transform::Ntt(plan) => plan.fits(shared_bytes),
            Transform::Pieces(pieces) => pieces.fits(shared_bytes),
        }
    }

    pub fn algorithm(&self) -> Algorithm {
        match self {
            Transform::Fft(_) => Algorithm::Fft,
            Transform::Ntt(_) | Transform::Pieces(_) => Algorithm::Ntt,
        }
    }
}

/// The lengths of halves are multiples of this, so that they begin at whole lines.
const LINE: usize = 64;

/// Products of `n` by `m` limbs, by transforms of at most `longest` limbs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pieces {
    n: usize,
    m: usize,
    pub longest: usize,
}

/// How a product is computed from smaller ones.
pub(crate) enum Split {
    /// It is not split: one transform.
    Whole(NttPlan),
    /// The shorter operand times the lowest so many limbs of the longer, and times the rest.
    Longer(usize),
    /// Three products, with both operands cut at so many limbs.
    Both(usize),
}

impl Pieces {
    pub fn of(n: usize, m: usize, longest: usize) -> Pieces {
        Pieces { n, m, longest }
    }

    /// The sum of all transforms' lengths, in limbs.
    pub fn transformed(&self) -> usize {
        self.split().1
    }

    /// The first split of the product, and the sum of all transforms' lengths in limbs.
    pub fn split(&self) -> (Split, usize) {
        let Pieces { n, m, longest } = *self;
        let plan = NttPlan::of(n, m).filter(|plan| plan.length() as usize <= longest);
        if let Some(plan) = plan {
            return (Split::Whole(plan), plan.length() as usize);
        }
        let (n, m) = (n.max(m), n.min(m));
        let h = n.div_ceil(2).next_multiple_of(LINE);
        let of = |n, m| Pieces { n, m, longest }.transformed();
        let longer = of(h, m) + of(n - h, m);
        if m > h {
            let both = 2 * of(h, h) + of(n - h, m - h);
            if both < longer {
                return (Split::Both(h), both);
            }
        }
        (Split::Longer(h), longer)
    }

    /// Whether the blocks of every transform fit a device with so many bytes of shared memory for
    /// each.
    pub fn fits(&self, shared_bytes: u32) -> bool {
        let mut plans = NttPlan::all().filter(|plan| plan.length() as usize <= self.longest);
        plans.all(|plan| plan.fits(shared_bytes))
    }
}

/// The bytes of points of a round of launches, unless one number has more. On an H200 products of 2^20 bits take 5.9 us
/// each in rounds of 24 MB, whose launches leave it idle at either end, and 3.1 in rounds of 400
/// (2026-11-28-products-beyond-a-block.txt).
const ROUND_BYTES: usize = 512 << 20;

/// How many numbers a round of launches has, each with so many bytes of points.
pub(crate) fn numbers_at_a_time(bytes: usize) -> usize {
    (ROUND_BYTES / bytes).max(1)
}

/// Makes the memory for rounds of numbers that each have so many bytes of points, and tells how many have room in it: half
/// as many, and half again, where a device has less memory.
pub(crate) fn in_rounds<T>(
    bytes: usize,
    count: usize,
    make: impl Fn(usize) -> Result<T, DeviceError>,
) -> Result<(usize, T), DeviceError> {
    let mut numbers = numbers_at_a_time(bytes).min(count);
    loop {
        match make(numbers) {
            Err(DeviceError {
                kind: DeviceErrorKind::OutOfMemory { .. },
                ..
            }) if numbers > 1 => numbers = numbers.div_ceil(2),
            made => return Ok((numbers, made?)),
        }
    }
}

/// The bytes of points that stay in a device's cache between launches.
const CACHE_BYTES: usize = 32 << 20;

/// Whether a number's points stay in the cache between launches.
pub(crate) fn stays_in_cache(bytes: usize) -> bool {
    bytes <= CACHE_BYTES
}

/// The bytes of a product's or square's points over the complex numbers.
pub(crate) fn grid_point_bytes(plan: &GridPlan, operands: u32) -> usize {
    16 * plan.length() as usize * operands as usize
}

/// The bytes of a product's or square's points modulo primes.
pub(crate) fn ntt_point_bytes(plan: &NttPlan, operands: u32) -> usize {
    size_of::<Limb>() * plan.point_limbs() * operands as usize
}

/// The transform of these of a batch's numbers, which is made if it is not there, and kept with the batch if products should
/// keep it.
pub(crate) fn kept(
    device: &Arc<dyn Device>,
    node: &Node,
    numbers: &Range<usize>,
    plan: Transformed,
    make: impl FnOnce(&Range<usize>) -> Result<Buffer, Error>,
) -> Result<Arc<Buffer>, Error> {
    let one = 0..1;
    let numbers = if node.shape.count == 1 { &one } else { numbers };
    let mut kept = node.kept();
    let is_it =
        |kept: &&Kept| (kept.plan, &kept.numbers) == (plan, numbers) && kept.buffer.is_of(device);
    if let Some(found) = kept.iter().flat_map(|kept| kept.iter()).find(is_it) {
        return Ok(Arc::clone(&found.buffer));
    }
    let buffer = Arc::new(make(numbers)?);
    if let Some(kept) = &mut kept {
        kept.push(Kept {
            plan,
            numbers: numbers.clone(),
            buffer: Arc::clone(&buffer),
        });
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_as_long_as_there_is_memory() {
        let lacking = || DeviceError {
            ordinal: 0,
            during: "a test".to_owned(),
            kind: DeviceErrorKind::OutOfMemory { bytes: 1 },
        };
        let most = |room: usize| {
            move |numbers| match numbers <= room {
                true => Ok(numbers),
                false => Err(lacking()),
            }
        };
        let bytes = ROUND_BYTES / 16;
        assert_eq!(in_rounds(bytes, 100, most(100)).unwrap(), (16, 16));
        assert_eq!(in_rounds(bytes, 9, most(100)).unwrap(), (9, 9));
        assert_eq!(in_rounds(bytes, 100, most(3)).unwrap(), (2, 2));
        assert_eq!(in_rounds(2 * ROUND_BYTES, 100, most(1)).unwrap(), (1, 1));
        assert!(in_rounds(bytes, 100, most(0)).is_err());
    }

    #[test]
    fn what_no_transform_holds_is_three_of_halves_or_two_where_one_is_short() {
        let longest = 1 << 12;
        let transformed = |n, m| Pieces::of(n, m, longest).transformed();
        assert_eq!(transformed(1 << 11, 1 << 11), longest);
        assert_eq!(transformed(1 << 12, 1 << 12), 3 * longest);
        assert_eq!(transformed(1 << 13, 1 << 13), 9 * longest);
        assert_eq!(transformed(1 << 12, 1 << 11), 2 * longest);
        assert_eq!(transformed(1 << 12, 1), 2 * transformed(1 << 11, 1));
        // Little more than half as long: three products would take 512 limbs more.
        let split = Pieces::of(3000, 1600, longest).split().0;
        assert!(matches!(split, Split::Longer(1536)));
    }
}
