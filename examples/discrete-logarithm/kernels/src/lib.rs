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
//! round: each walk is read and written once in a step, and has `w[k-1]` beside it. The next one is on its way to shared memory
//! meanwhile. The warp that inverts is another one in each step, as a warp has but a quarter of a multiprocessor's units.
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
use walk::{Field, HEAD, JUMPS, Jumps, chosen, is_distinguished};

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

    /// Groups of a jump: `x`, `y` and `-y`.
    const OF_JUMP: u32 = 3 * Self::FOURS;

    /// Groups of all jumps.
    const OF_JUMPS: u32 = Self::OF_JUMP * JUMPS;

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

    /// Sets the limbs from group `at` on.
    #[inline(always)]
    fn set_limbs(self, at: u32, limbs: [Limb; LIMBS]) {
        for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
            // SAFETY: as in `limbs`.
            unsafe { self.0.set_four(at + i as u32, *four) };
        }
    }

    /// Fetches the jumps, of which each thread fetches some.
    #[inline(always)]
    fn fetch(self, field: &impl Field<LIMBS>, jumps: Number<Unit>, team: Team<BLOCK>) {
        let mut jump = team.thread();
        while jump < JUMPS {
            let (from, to) = (2 * LIMBS as u32 * jump, Self::OF_JUMP * jump);
            let [x, y] = [0, LIMBS as u32].map(|at| jumps.limbs(from + at));
            self.set_limbs(to, x);
            self.set_limbs(to + Self::FOURS, y);
            self.set_limbs(to + 2 * Self::FOURS, field.negative(y));
            jump += BLOCK;
        }
        team.sync();
    }

    /// The `y` of a jump, or `-y`.
    #[inline(always)]
    fn y(self, jump: u32, is_negative: bool) -> [Limb; LIMBS] {
        self.limbs(Self::OF_JUMP * jump + Self::FOURS * (1 + u32::from(is_negative)))
    }
}

impl<const LIMBS: usize> Jumps<LIMBS> for Shared<LIMBS> {
    #[inline(always)]
    fn x(&self, jump: u32) -> [Limb; LIMBS] {
        self.limbs(Self::OF_JUMP * jump)
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
/// As for [`Batches::new`]: a launch of whole blocks of [`BLOCK`] threads, with shared memory for the jumps and four numbers of
/// each thread, batches that are allocated and contiguous, and results that overlap none of them.
#[inline(always)]
unsafe fn walk<F: Inverse<LIMBS>, const LIMBS: usize>(arguments: &Arguments, scalars: &Scalars<F>) {
    let Scalars { field, walks, .. } = scalars;
    let fours = Shared::<LIMBS>::FOURS;
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<Unit>::new(arguments) };
    // SAFETY: as above; a thread has the room of its number in `a` and in `r`.
    let (from, to) = unsafe { (Fours::new(&arguments.a, 1), Fours::new(&arguments.r, 1)) };
    // SAFETY: as above; threads meet at barriers where one reads what another wrote.
    let shared = Shared::<LIMBS>(unsafe { Region::new(0, 0) });
    // SAFETY: as above; four numbers of each thread are behind the jumps.
    let [room, ahead @ ..] = [0, 1, 2, 3]
        .map(|i| unsafe { OfThreads::<LIMBS>::new(Shared::<LIMBS>::OF_JUMPS + i * fours * BLOCK) });
    let team = batches.team();
    for work in batches.numbers_in_step() {
        shared.fetch(field, work.b, team);
        let mut told = Told::new::<LIMBS>(work.s, scalars.records);
        let one = field.one();
        // The product of the walks' `u - x` before the one at hand.
        let mut all = one;
        let mut k = 0;
        while k < *walks {
            let at = 3 * fours * k;
            let [x, y] = [from.limbs(at), from.limbs(at + fours)];
            // After the last step it is `y` itself.
            let is_negative = scalars.steps % 2 == 1;
            to.set_limbs(at, x);
            to.set_limbs(at + fours, if is_negative { field.negative(y) } else { y });
            to.set_limbs(at + 2 * fours, field.limbs(all));
            all = field.product(all, field.difference(chosen(&shared, x).1, x));
            k += 1;
        }
        let mut step = 0;
        while step < scalars.steps {
            // The inverse of the product of the walks that are left.
            let mut inverses = field.inverse_of_block(team, room, step, all);
            all = one;
            // The first step begins with the last walk, the second with the first.
            let (mut k, by) = match step % 2 {
                0 => (*walks - 1, u32::MAX),
                _ => (0, 1),
            };
            let is_negative = (scalars.steps - step) % 2 == 1;
            let bring = |k: u32| {
                for (i, room) in (0..).zip(ahead) {
                    to.bring(fours * (3 * k + i), room);
                }
            };
            bring(k);
            let mut left = *walks;
            while left > 0 {
                left -= 1;
                to.wait();
                let [x, y, w] = ahead.map(|room| room.get(team.thread()));
                let (this, at) = (k, 3 * fours * k);
                k = k.wrapping_add(by);
                if left > 0 {
                    bring(k);
                }
                let (jump, u) = chosen(&shared, x);
                let inverse = field.product(inverses, field.factor(w));
                inverses = field.product(inverses, field.difference(u, x));
                let jump = [u, shared.y(jump, is_negative)];
                let mut point = walk::third(field, [x, y], jump, inverse);
                if is_distinguished(x, scalars.mask) {
                    // From memory, so that no register waits for what is rare.
                    let [x, y] = [to.limbs(at), to.limbs(at + fours)];
                    if !told.tell(this, x) {
                        point = [x, field.negative(y)];
                    }
                }
                to.set_limbs(at, point[0]);
                to.set_limbs(at + fours, point[1]);
                to.set_limbs(at + 2 * fours, field.limbs(all));
                let [x, _] = point;
                all = field.product(all, field.difference(chosen(&shared, x).1, x));
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
