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
            Transform::Pieces(pieces) => pieces.plan.fits(shared_bytes),
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

/// The products of pieces that have one way back, where pieces of both factors are as long as one another: sums of so many have room
/// in the [primes](bigint_core::transform::ntt).
pub(crate) const TOGETHER: usize = 2;

/// How factors are cut into pieces whose products are transforms by one plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pieces {
    pub plan: NttPlan,
    /// The limbs of a piece of either factor, but for the last.
    pub limbs: [usize; 2],
    /// The lengths of all transforms of a product, in limbs.
    pub transformed: usize,
}

impl Pieces {
    /// Those of factors of `n` and `m` limbs, by transforms of at most `longest` limbs: that which transforms least.
    /// Factors as long as one another are cut alike.
    pub fn of(n: usize, m: usize, longest: usize) -> Pieces {
        let (long, short) = (n.max(m), n.min(m));
        let piece = |width: usize, count: usize| width.div_ceil(count).next_multiple_of(LINE);
        let cut = |(count, alike): (usize, bool)| {
            let of_short = piece(short, count);
            let room = longest.checked_sub(of_short).filter(|&room| room >= LINE)?;
            let of_long = match alike {
                true => of_short,
                false => piece(long, long.div_ceil(room)),
            };
            let plan = NttPlan::of(of_long, of_short)?;
            let [x, y] = [long.div_ceil(of_long), short.div_ceil(of_short)];
            let back = match alike {
                true => (1..x + y)
                    .map(|place| place.min(y).min(x + y - place).div_ceil(TOGETHER))
                    .sum(),
                false => x * y,
            };
            let transforms = x + y + back;
            let is_in_order = n >= m;
            (plan.length() as usize <= longest).then_some(Pieces {
                plan,
                limbs: match is_in_order {
                    true => [of_long, of_short],
                    false => [of_short, of_long],
                },
                transformed: transforms * plan.length() as usize,
            })
        };
        // More pieces of the shorter one would have more products.
        let counts = 1..=2 * short.div_ceil(longest) + 2;
        let cuts = counts.flat_map(|count| [true, false].map(|alike| (count, alike)));
        let cuts = cuts.filter(|&(_, alike)| alike || n != m).filter_map(cut);
        let least = cuts.min_by_key(|pieces| pieces.transformed);
        least.expect("the shorter one is cut until there is room for a piece of the other")
    }

    /// The pieces of such a factor of so many limbs.
    pub fn count(&self, index: usize, width: usize) -> usize {
        width.div_ceil(self.limbs[index])
    }
}

/// The bytes of points of a round of launches, unless one number has more. On an H200, which launches leave idle at either end, products
/// of 2^20 bits take 2.32 us each in rounds of 512 MB, 2.14 in rounds of 2 GB, and 2.11 in rounds of 4
/// (2026-12-01-products-in-longer-rounds.txt).
const ROUND_BYTES: usize = 2 << 30;

/// How many numbers a round of launches has, each with so many bytes of points.
pub(crate) fn numbers_at_a_time(bytes: usize) -> usize {
    (ROUND_BYTES / bytes).max(1)
}

/// Makes the memory for rounds of numbers that each have so many bytes of points, and tells how many have room in it: as many in each
/// round; half as many, and half again, where a device has less memory.
pub(crate) fn in_rounds<T>(
    bytes: usize,
    count: usize,
    make: impl Fn(usize) -> Result<T, DeviceError>,
) -> Result<(usize, T), DeviceError> {
    let rounds = count.div_ceil(numbers_at_a_time(bytes)).max(1);
    let mut numbers = count.div_ceil(rounds);
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

/// The bytes of a number's points from which on columns are so long that each costs more (2026-12-01-products-32-to-2p24.json).
const NEAR_BYTES: usize = 10 << 20;

/// Whether a number has so few bytes of points that the times of near ones hold.
pub(crate) fn are_near(bytes: usize) -> bool {
    bytes <= NEAR_BYTES
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
        assert_eq!(in_rounds(bytes, 100, most(100)).unwrap(), (15, 15));
        assert_eq!(in_rounds(bytes, 9, most(100)).unwrap(), (9, 9));
        assert_eq!(in_rounds(bytes, 100, most(3)).unwrap(), (2, 2));
        assert_eq!(in_rounds(2 * ROUND_BYTES, 100, most(1)).unwrap(), (1, 1));
        assert!(in_rounds(bytes, 100, most(0)).is_err());
    }

    #[test]
    fn what_no_transform_holds_is_cut_so_that_little_is_transformed() {
        let longest = 1 << 12;
        let of = |n, m| Pieces::of(n, m, longest);
        let halves = of(longest, longest);
        assert_eq!(
            (halves.limbs, halves.transformed),
            ([longest / 2; 2], 7 * longest)
        );
        assert_eq!(of(2 * longest, 2 * longest).transformed, 18 * longest);
        let twice = of(2 * longest, longest);
        assert_eq!(
            (twice.limbs, twice.transformed),
            ([longest / 2; 2], 11 * longest)
        );
        // The shorter one is whole.
        let long = of(3 * longest, longest / 4);
        assert_eq!(
            (long.limbs, long.transformed),
            ([3 * longest / 4, longest / 4], 9 * longest)
        );
        for n in (1..20_000).step_by(997) {
            for m in (1..20_000).step_by(1009) {
                let Pieces { plan, limbs, .. } = of(n, m);
                assert!(plan.length() as usize >= limbs[0] + limbs[1], "{n} {m}");
                assert!(plan.length() as usize <= longest, "{n} {m}");
                assert!(n != m || limbs[0] == limbs[1]);
            }
        }
    }
}
