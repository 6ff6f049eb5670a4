//! Powers, and Montgomery's trick ([Montgomery 1987]): the inverses of many elements by one inverse.
//!
//! With `w[k]` for the product of `x[0]` to `x[k]`, of `n` elements:
//!
//! ```text
//! i = 1 / w[n-1];  for k from n-1 down to 1:  1 / x[k] = i w[k-1],  i = i x[k];  1 / x[0] = i
//! ```
//!
//! By hand, modulo 7: of 2, 3 and 4 the products are 2, 6 and 3, and `i` = 1/3 = 5. Then 1/4 = 5 * 6 = 2, `i` = 5 * 4 = 6;
//! 1/3 = 6 * 2 = 5, `i` = 6 * 3 = 4, which is 1/2.
//!
//! The threads of a block hand their elements to the lanes of one warp, each of which inverts those of four threads:
//!
//! ```text
//! lane l has threads     l, l + 32, l + 64, l + 96
//! ```
//!
//! Cost: `3 (n - 1)` products and an inverse. A power takes a square for each bit of the exponent but the highest, and a product for
//! each other bit that is 1.

use crate::gpu::block::Team;
use crate::gpu::shared::OfThreads;
use bigint_core::kernel::BLOCK;
use bigint_core::{LIMB_BITS, Limb};

/// What powers and inverses ask of a field: what it does with the limbs of elements. (A trait, as closures that are
/// called from several places would not be inlined.)
pub trait Limbs<const LIMBS: usize> {
    /// The product of two elements. For inverses alone it may be `a b / c`, with a number `c` that is always the same.
    fn product(&self, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS];

    /// The square of an element.
    #[inline(always)]
    fn square_of(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.product(a, a)
    }

    /// The inverse of an element.
    fn inverse(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS];
}

/// Limb `at` of a number. (Indexing would put the limbs in memory.)
#[inline(always)]
pub(super) fn limb<const LIMBS: usize>(limbs: &[Limb; LIMBS], at: u32) -> Limb {
    let mut found = 0;
    for (i, limb) in limbs.iter().enumerate() {
        if i as u32 == at {
            found = *limb;
        }
    }
    found
}

/// `a^e`; `a` if `e` is 0.
#[inline(always)]
pub(super) fn power<const LIMBS: usize>(
    field: &impl Limbs<LIMBS>,
    a: [Limb; LIMBS],
    e: [Limb; LIMBS],
) -> [Limb; LIMBS] {
    let bits = LIMB_BITS as u32;
    let mut power = a;
    let mut is_begun = false;
    let mut at = LIMBS as u32;
    while at > 0 {
        at -= 1;
        let (word, mut left) = (limb(&e, at), bits);
        if !is_begun {
            // The highest bit that is 1 is `a` itself.
            left = (bits - 1).saturating_sub(word.leading_zeros());
            is_begun = word != 0;
        }
        while left > 0 {
            left -= 1;
            power = field.square_of(power);
            if word >> left & 1 == 1 {
                power = field.product(power, a);
            }
        }
    }
    power
}

/// The inverses of up to eight elements.
#[inline(always)]
pub(super) fn inverses<const LIMBS: usize, const N: usize>(
    field: &impl Limbs<LIMBS>,
    of: [[Limb; LIMBS]; N],
) -> [[Limb; LIMBS]; N] {
    const { assert!(N >= 1 && N <= 8, "one to eight elements") }
    let mut products = of;
    // The steps are written out, as in a loop the limbs would have to be in memory.
    macro_rules! each {
        ($step:ident: $($k:literal)*) => {$(
            if $k < N {
                $step!($k);
            }
        )*};
    }
    macro_rules! multiply {
        ($k:literal) => {
            products[$k] = field.product(products[$k - 1], of[$k])
        };
    }
    each!(multiply: 1 2 3 4 5 6 7);
    let mut left = field.inverse(products[N - 1]);
    let mut inverses = of;
    macro_rules! divide {
        ($k:literal) => {
            inverses[$k] = field.product(left, products[$k - 1]);
            left = field.product(left, of[$k])
        };
    }
    each!(divide: 7 6 5 4 3 2 1);
    inverses[0] = left;
    inverses
}

/// The inverse of each thread's element, which warp `turn` modulo 4 computes. Where one has none, others get wrong ones.
#[inline(always)]
pub fn inverses_of_block<const LIMBS: usize>(
    field: &impl Limbs<LIMBS>,
    (team, room, turn): (Team<BLOCK>, OfThreads<LIMBS>, u32),
    x: [Limb; LIMBS],
) -> [Limb; LIMBS] {
    const { assert!(BLOCK == 128, "four threads for each lane of a warp") }
    let thread = team.thread();
    room.set(thread, x);
    team.sync();
    if thread / 32 == turn % 4 {
        let threads = [0, 32, 64, 96].map(|first| thread % 32 + first);
        let [a, b, c, d] = inverses(field, threads.map(|thread| room.get(thread)));
        room.set(threads[0], a);
        room.set(threads[1], b);
        room.set(threads[2], c);
        room.set(threads[3], d);
    }
    team.sync();
    room.get(thread)
}
