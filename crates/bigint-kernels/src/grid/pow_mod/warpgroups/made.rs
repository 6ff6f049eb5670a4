//! The units that a lane makes: one for each pair of a chunk, of what the chunk's sums make.

use super::{MOST_COLUMNS, Prime, each, words};
use crate::gpu::thread::here;
use crate::gpu::warpgroup::WideSums;
use bigint_core::rns::MOST_JOINED;

/// A unit for each of the pairs of a chunk.
#[inline(always)]
pub(super) fn of_pairs(pairs: usize, unit: impl Fn(usize) -> [u32; 4]) -> [[u32; 4]; MOST_COLUMNS] {
    let mut units = [[0; 4]; MOST_COLUMNS];
    each::<MOST_COLUMNS>(
        #[inline(always)]
        |i| {
            if i < pairs {
                units[i] = unit(i);
            }
        },
    );
    units
}

/// A unit of products, and of those of what the sums make, with so many more `M`, and a modulus, over `F`.
#[inline(always)]
pub(super) fn product<const PAIRS: usize>(
    primes: [Prime; 2],
    sums: &WideSums,
    product: impl Fn(usize, [u32; 2]) -> u64,
    (modulus, above): ([u32; 4], u32),
) -> [u32; 4] {
    words(|k| {
        let prime = primes[k / 2];
        let q = prime.of_digits(digits(sums, k), PAIRS <= MOST_JOINED);
        here(prime.reduced(product(k, [q.wrapping_add(above), modulus[k]])))
    })
}

/// The sums of the digits of word `k`.
#[inline(always)]
pub(super) fn digits(sums: &WideSums, k: usize) -> [u32; 4] {
    let at = 8 * (k / 2) + 2 * (k % 2);
    [0, 1, 4, 5].map(|digit| sums[at + digit])
}
