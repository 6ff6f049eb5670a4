//! Walks over the points of a curve, some for each thread.
//!
//! What a step is, is the program's own source, `src/walk.rs`. `a` has the walks of each thread, and `r` gets them where
//! they are `steps` steps later: for each walk `x`, `y`, and room that is the kernel's own, of `LIMBS` limbs
//! each. Four limbs of a thread stand beside the same four of the other threads of its block, so that a warp moves
//! 512 bytes at a time ([`Fours`]). `b`, one number for all, has the jumps, `x` and `y` of each. `s`
//! gets the distinguished points that walks have left, `records` at most for each thread: the walk's number and one in a group of four limbs,
//! then `x`. Where there is no room left a walk stays at its distinguished point for the rest of the launch. So none is lost.
//!
//! A step of all walks of a block takes one inverse in each lane of one warp. With `d[k]` for the `u - x` of a thread's
//! walk `k`, and `w[k]` for the product of `d[0]` to `d[k]`:
//!
//! ```text
//! thread       all = w[K-1]         to shared memory
//! lane         the products of four threads' `all`, one inverse, four inverses
//! thread       i = 1 / w[K-1];  for k from K-1 down to 0:  1 / d[k] = i w[k-1],  i = i d[k]
//! ```
//!
//! While a thread takes its walks in this order it makes the products of their new `d[k]`, which the next step takes the other way
//! round: each walk is read and written once in a step. The warp that inverts is another one in each step, as a warp
//! has but a quarter of a multiprocessor's units.
//!
//! Cost of a step: five products and a square; `(9 products and an inverse) / 4 K` for its part of the block's inverse.

#![no_std]
#![feature(abi_ptx)]

mod fields;
#[path = "../../src/walk.rs"]
mod walk;

use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb};
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::fours::Fours;
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::shared::{OfThreads, Region};
use bigint_kernels::thread::Batches;
use fields::{Inverse, Lazy, Special, Strict};
use walk::{HEAD, JUMPS, Jumps, chosen, is_distinguished};

/// What a launch tells beside its batches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scalars<F> {
    field: F,
    /// Steps of each walk.
    steps: u32,
    /// Walks of each thread, `K`.
    walks: u32,
    /// The bits that distinguish points.
    mask: u32,
    /// Distinguished points that there is room for, for each thread.
    records: u32,
}

/// The block's jumps, in shared memory.
#[derive(Clone, Copy)]
struct Shared<const LIMBS: usize>(Region);

impl<const LIMBS: usize> Shared<LIMBS> {
    /// Groups of four limbs of a number.
    const FOURS: u32 = LIMBS as u32 / 4;

    /// Groups of all jumps.
    const OF_JUMPS: u32 = 2 * Self::FOURS * JUMPS;

    /// The `LIMBS` limbs from group `at` on.
    #[inline(always)]
    fn limbs(self, at: u32) -> [Limb; LIMBS] {
        let mut limbs = [0; LIMBS];
        for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            // SAFETY: the launch has shared memory for all groups, by the contract of `walk`.
            *four = unsafe { self.0.four(at + i as u32) };
        }
        limbs
    }

    /// Fetches the jumps, of which each thread fetches some.
    #[inline(always)]
    fn fetch(self, jumps: Number<Unit>, team: Team<BLOCK>) {
        let mut at = team.thread();
        while at < Self::OF_JUMPS {
            // SAFETY: as in `limbs`.
            unsafe { self.0.set_four(at, jumps.limbs(4 * at)) };
            at += BLOCK;
        }
        team.sync();
    }
}

impl<const LIMBS: usize> Jumps<LIMBS> for Shared<LIMBS> {
    #[inline(always)]
    fn x(&self, jump: u32) -> [Limb; LIMBS] {
        self.limbs(2 * Self::FOURS * jump)
    }

    #[inline(always)]
    fn y(&self, jump: u32) -> [Limb; LIMBS] {
        self.limbs(2 * Self::FOURS * jump + Self::FOURS)
    }
}

/// The distinguished points of a thread.
struct Told {
    /// Room for them.
    room: Number<Unit>,
    /// How many there is room for.
    most: u32,
    /// How many there are.
    count: u32,
}

impl Told {
    /// None yet.
    #[inline(always)]
    fn new<const LIMBS: usize>(room: Number<Unit>, most: u32) -> Self {
        let mut at = 0;
        while at < most * (HEAD + LIMBS as u32) {
            room.set_limbs(at, [0; 4]);
            at += 4;
        }
        Told {
            room,
            most,
            count: 0,
        }
    }

    /// Tells that a walk leaves the point with this `x`; whether there was room for it.
    #[inline(always)]
    fn tell<const LIMBS: usize>(&mut self, walk: u32, x: [Limb; LIMBS]) -> bool {
        if self.count == self.most {
            return false;
        }
        let at = self.count * (HEAD + LIMBS as u32);
        self.room.set_limbs(at, [walk + 1, 0, 0, 0]);
        self.room.set_limbs(at + HEAD, x);
        self.count += 1;
        true
    }
}

/// Walks the steps.
///
/// # Safety
/// As for [`Batches::new`]: a launch of whole blocks of [`BLOCK`] threads, with shared memory for the jumps and a number of
/// each thread, batches that are allocated and contiguous, and results that overlap none of them.
#[inline(always)]
unsafe fn walk<F: Inverse<LIMBS>, const LIMBS: usize>(
    arguments: &Arguments,
    scalars: &Scalars<F>,
) {
    let Scalars { field, walks, .. } = scalars;
    let fours = Shared::<LIMBS>::FOURS;
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<Unit>::new(arguments) };
    // SAFETY: as above; a thread has the room of its number in `a` and in `r`.
    let (from, to) = unsafe { (Fours::new(&arguments.a, 1), Fours::new(&arguments.r, 1)) };
    // SAFETY: as above; threads meet at barriers where one reads what another wrote.
    let shared = Shared::<LIMBS>(unsafe { Region::new(0, 0) });
    // SAFETY: as above; the numbers of threads are behind the jumps.
    let room = unsafe { OfThreads::new(Shared::<LIMBS>::OF_JUMPS) };
    let team = batches.team();
    for work in batches.numbers_in_step() {
        shared.fetch(work.b, team);
        let mut told = Told::new::<LIMBS>(work.s, scalars.records);
        // The product of the walks' `u - x` up to the one at hand.
        let mut all = field.factor([0; LIMBS]);
        let mut k = 0;
        while k < *walks {
            let at = 3 * fours * k;
            let [x, y] = [from.limbs(at), from.limbs(at + fours)];
            to.set_limbs(at, x);
            to.set_limbs(at + fours, y);
            let d = field.difference(chosen(&shared, x).1, x);
            all = if k == 0 { d } else { field.product(all, d) };
            to.set_limbs(at + 2 * fours, field.limbs(all));
            k += 1;
        }
        let mut step = 0;
        while step < scalars.steps {
            // The inverse of the product of the walks that are left.
            let mut inverses = field.inverse_of_block(team, room, step, all);
            let mut left = *walks;
            while left > 0 {
                left -= 1;
                let is_last = left + 1 == *walks;
                // The first step begins with the last walk, the second with the first.
                let (k, next) = match step % 2 {
                    0 => (left, left.wrapping_sub(1)),
                    _ => (*walks - 1 - left, *walks - left),
                };
                let at = 3 * fours * k;
                let [x, y] = [to.limbs(at), to.limbs(at + fours)];
                let (jump, u) = chosen(&shared, x);
                let mut inverse = inverses;
                if left > 0 {
                    let w = field.factor(to.limbs(3 * fours * next + 2 * fours));
                    inverse = field.product(inverses, w);
                    inverses = field.product(inverses, field.difference(u, x));
                }
                let mut point = [x, y];
                if !is_distinguished(x, scalars.mask) || told.tell(k, x) {
                    point = walk::sum(field, point, [u, shared.y(jump)], inverse);
                    to.set_limbs(at, point[0]);
                    to.set_limbs(at + fours, point[1]);
                }
                let d = field.difference(chosen(&shared, point[0]).1, point[0]);
                all = if is_last { d } else { field.product(all, d) };
                to.set_limbs(at + 2 * fours, field.limbs(all));
            }
            step += 1;
        }
    }
}

macro_rules! walks {
    ($($name:ident $field:ty, $limbs:literal;)*) => {$(
        /// Walks in this field.
        ///
        /// # Safety
        /// As for [`walk`].
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(arguments: Arguments, scalars: Scalars<$field>) {
            // SAFETY: by this function's own contract.
            unsafe { walk::<$field, $limbs>(&arguments, &scalars) }
        }
    )*};
}

walks! {
    walk_lazy_4 Lazy<4>, 4;
    walk_lazy_8 Lazy<8>, 8;
    walk_strict_8 Strict<8>, 8;
    walk_secp256k1 Special, 8;
}
