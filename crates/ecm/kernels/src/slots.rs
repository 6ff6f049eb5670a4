//! The ladder with its numbers in shared memory, by threads or by lanes: six slots for each, of the limbs that it has.
//!
//! `q u w v` are in slots 0, 2, 4 and 5. The steps of a bit are two rounds of two products and two squares each: all
//! products go through one body of code, as do all squares. Eight bodies would not fit the memory of instructions, nor do two
//! if warps drift apart, so that a block waits for its warps before each product.
//!
//! Two lanes with 32 limbs each have in registers a window, both factors and the modulus. What waits is in shared memory, and
//! there is as much of that for two blocks of 64 curves as six numbers of a curve take.

use crate::Scalars;
use crate::arithmetic::Arithmetic;
use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb};
use bigint_kernels::field::lazy::Element;
use bigint_kernels::field::slots;
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::shared::Column;
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::{thread, warp};

/// A thread's numbers in shared memory, or a lane's parts of numbers.
#[derive(Clone, Copy)]
pub struct Slots<const LIMBS: usize>(slots::Slots<LIMBS>);

impl<const LIMBS: usize> Slots<LIMBS> {
    /// The pairs of limbs of a thread's column of shared memory.
    pub const PAIRS: u32 = slots::Slots::<LIMBS>::pairs(6);

    /// The slots in a column.
    #[inline(always)]
    pub fn new(column: Column) -> Self {
        Slots(slots::Slots::new(column))
    }

    #[inline(always)]
    pub fn get<const BOUND: u32>(self, slot: u32) -> Element<LIMBS, BOUND> {
        Element::of_limbs(self.0.get(slot))
    }

    #[inline(always)]
    pub fn set<const BOUND: u32>(self, slot: u32, x: Element<LIMBS, BOUND>) {
        self.0.set(slot, x.limbs());
    }
}

/// The slots of `q u w v`, four bits each from the lowest on.
const PLACES: u32 = 0x5420;

/// Where the points have changed places.
const SWAPPED: u32 = 0x2054;

/// The slot of one of them.
#[inline(always)]
pub fn place(places: u32, which: u32) -> u32 {
    places >> (4 * which) & 15
}

/// The ladder, a thread for each curve.
///
/// # Safety
/// As for [`thread::Batches::new`], with shared memory for six numbers of each thread.
#[inline(always)]
pub unsafe fn ladder_in_slots<const LIMBS: usize>(arguments: &Arguments, scalars: &Scalars<LIMBS>)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract.
    let batches = unsafe { thread::Batches::<Unit>::new(arguments) };
    let slots = Slots::<LIMBS>::new(batches.column(Slots::<LIMBS>::PAIRS));
    for work in batches.numbers_in_step() {
        let numbers = [work.r, work.a, work.b, work.c];
        walk(&scalars.field, slots, batches.team(), numbers, scalars);
    }
}

/// The ladder, some lanes for each curve.
///
/// # Safety
/// As for [`warp::Batches::new`], with shared memory for six times a lane's limbs of each lane.
#[inline(always)]
pub unsafe fn ladder_by_lanes<const ALL: usize, const LANES: u32, const LIMBS: usize>(
    arguments: &Arguments,
    scalars: &Scalars<ALL>,
) where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract.
    let batches = unsafe { warp::Batches::<LANES, Unit>::new(arguments) };
    let slots = Slots::<LIMBS>::new(batches.column(Slots::<LIMBS>::PAIRS));
    for work in batches.numbers() {
        let field = scalars.field.by_lanes::<LIMBS, LANES>(work.group);
        let numbers = [work.r, work.a, work.b, work.c];
        walk(&field, slots, batches.team(), numbers, scalars);
    }
}

/// Walks the bits.
#[inline(always)]
fn walk<F: Arithmetic<LIMBS>, const LIMBS: usize, const ALL: usize>(
    field: &F,
    slots: Slots<LIMBS>,
    team: Team<BLOCK>,
    [new, state, sigma, scalar]: [Number<Unit>; 4],
    Scalars { from, to, two, .. }: &Scalars<ALL>,
) {
    let at = |i: u32| i * ALL as u32 + field.own();
    let mut i = 0;
    while i < 2 * *two {
        let limbs = load(state, at(i));
        slots.set(place(PLACES, i), Element::<LIMBS, 4>::of_limbs(limbs));
        i += 1;
    }
    let sigma = sigma.limb(0);
    let (mut left, mut is_swapped, mut bits) = (*from, 0, scalar.limb(from / 32));
    while left > *to {
        left -= 1;
        if left % 32 == 31 {
            bits = scalar.limb(left / 32);
        }
        let bit = bits >> (left % 32) & 1;
        // The points change places by the slots' names.
        let places = if bit == is_swapped { PLACES } else { SWAPPED };
        is_swapped = bit;
        let [q, u, w, v] = [0, 1, 2, 3].map(|i| place(places, i));
        let (x, z) = (slots.get::<2>(q), slots.get::<4>(u));
        let a: Element<LIMBS, 6> = field.add(z, x);
        let e: Element<LIMBS, 6> = field.sub(z, x);
        let (x, z) = (slots.get::<2>(w), slots.get::<4>(v));
        let s: Element<LIMBS, 6> = field.add(z, x);
        let f: Element<LIMBS, 6> = field.sub(z, x);
        slots.set(0, s);
        slots.set(1, e);
        slots.set(2, f);
        slots.set(3, a);
        let mut round = 0;
        while round < *two {
            let mut m = 0;
            while m < *two {
                team.sync();
                // s e and f a, then a^2 e^2 and K (e^2 + d K).
                let (x, y) = (slots.get::<8>(2 * m), slots.get::<8>(2 * m + 1));
                slots.set(2 * m, field.mul(x, y));
                m += 1;
            }
            let mut m = 0;
            while m < *two {
                team.sync();
                // a and e, then the sum and the difference.
                let place = if round == 0 { 3 - 2 * m } else { 4 + m };
                slots.set(place, field.square(slots.get::<8>(place)));
                m += 1;
            }
            if round == 0 {
                let (cb, da) = (slots.get::<2>(0), slots.get::<2>(2));
                let sum: Element<LIMBS, 4> = field.add(da, cb);
                let difference: Element<LIMBS, 4> = field.sub(da, cb);
                slots.set(4, sum);
                slots.set(5, difference);
                let (aa, bb) = (slots.get::<2>(3), slots.get::<2>(1));
                let k: Element<LIMBS, 4> = field.sub(aa, bb);
                let scaled: Element<LIMBS, 5> = field.scale(k, sigma);
                let sum: Element<LIMBS, 7> = field.add(scaled, bb);
                slots.set(0, aa);
                slots.set(2, k);
                slots.set(3, sum);
            }
            round += 1;
        }
        let square = slots.get::<2>(5);
        let v: Element<LIMBS, 4> = field.add(square, square);
        slots.set(5, v);
    }
    let places = match is_swapped {
        0 => PLACES,
        _ => SWAPPED,
    };
    let mut i = 0;
    while i < 2 * *two {
        store(new, at(i), slots.get::<4>(place(places, i)).limbs());
        i += 1;
    }
}
