//! Steps over registers in memory, a row of registers for each thread.
//!
//! `a` and `b` are rows of registers that earlier launches left, `r` is the row that this one writes, and
//! `c` is the program, one for all threads: four limbs for each step, `[operation, result, place, place]`.
//! A place has its row in the two upper bits ([`ROW`] of them are the limb's number): 0 is `r`, 1 `a`,
//! 2 `b`. A thread has two numbers at hand beside: one that is *held*, and a *product*.
//!
//! The program's author answers for the bounds: factors and what is copied are below `4 m`, terms of sums
//! and differences below `2 m`, as products are; sums and differences are below `4 m`.
//!
//! A product of pairs comes after what is held, or another: up to 12 limbs it takes what was fetched while that
//! step computed.
//!
//! Cost: what a step's product costs, and its numbers' way from memory. A product of pairs fetches one.

use crate::operations::{ADD, BEGIN, COPY, END, HOLD, MUL, PAIR, ROW, SUB};
use bigint_core::{Arguments, Limb};
use bigint_kernels::field::lazy::{Element, Field};
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::{Batches, Work};

/// What a launch tells beside its batches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scalars<const LIMBS: usize> {
    field: Field<LIMBS>,
    steps: u32,
}

/// A place's number.
#[inline(always)]
fn fetch<const LIMBS: usize, const BOUND: u32>(
    work: &Work<Unit>,
    place: u32,
) -> Element<LIMBS, BOUND> {
    let (row, at) = row(work, place);
    Element::of_limbs(load(row, at))
}

/// A place's row, and the limb in it.
#[inline(always)]
pub(crate) fn row(work: &Work<Unit>, place: u32) -> (Number<Unit>, u32) {
    let row = match place >> ROW {
        0 => work.r,
        1 => work.a,
        _ => work.b,
    };
    (row, place & ((1 << ROW) - 1))
}

/// Does the steps, modulo one number for all.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
pub unsafe fn registers<const LIMBS: usize>(arguments: &Arguments, scalars: &Scalars<LIMBS>)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<Unit>::new(arguments) };
    for work in batches.numbers_in_step() {
        // Above, the registers that it takes would leave a multiprocessor room for fewer blocks.
        let is_ahead = LIMBS <= 12;
        run(&batches, &work, &scalars.field, scalars.steps, is_ahead);
    }
}

/// Does the steps, each thread modulo the first register of its row `a`.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
pub unsafe fn own_registers<const LIMBS: usize>(arguments: &Arguments, steps: u32)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<Unit>::new(arguments) };
    for work in batches.numbers_in_step() {
        let field = Field::of_modulus(load(work.a, 0));
        run(&batches, &work, &field, steps, LIMBS <= 8);
    }
}

/// Does a thread's steps; `is_ahead`: fetches before it is time.
#[inline(always)]
fn run<const LIMBS: usize>(
    batches: &Batches<Unit>,
    work: &Work<Unit>,
    field: &Field<LIMBS>,
    steps: u32,
    is_ahead: bool,
) where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let mut held: Element<LIMBS, 2> = Element::of_limbs([0; LIMBS]);
    let mut product = held;
    // What the next step takes from `held`, on its way from memory while this one computes.
    let mut ahead = held;
    let step = |at: u32| load(work.c, 4 * at.min(steps - 1));
    let [mut next, mut after]: [[Limb; 4]; 2] = [step(0), step(1)];
    let mut at = 0;
    while at < steps {
        // Warps that drift apart would fetch the code again and again.
        if LIMBS >= 12 {
            batches.team().sync();
        }
        let [operation, r, a, b] = if is_ahead { next } else { step(at) };
        if is_ahead {
            (next, after) = (after, step(at + 2));
        }
        at += 1;
        if operation <= PAIR {
            // One body of code for both.
            let (x, y): (Element<LIMBS, 4>, Element<LIMBS, 4>) = if operation == PAIR {
                let other = if is_ahead { ahead } else { fetch(work, b) };
                let difference = field.sub(held, other);
                if is_ahead && next[0] == PAIR {
                    ahead = fetch(work, next[3]);
                }
                (Element::of_limbs(product.limbs()), difference)
            } else {
                (fetch(work, a), fetch(work, b))
            };
            let z = field.mul(x, y);
            if operation == PAIR {
                product = z;
            } else {
                store(work.r, r, z.limbs());
            }
        } else if operation <= SUB {
            let (x, y): (Element<LIMBS, 2>, _) = (fetch(work, a), fetch(work, b));
            let z: Element<LIMBS, 4> = match operation {
                ADD => field.add::<2, 2, 4>(x, y),
                _ => field.sub::<2, 4>(x, y),
            };
            store(work.r, r, z.limbs());
        } else {
            match operation {
                COPY => store(work.r, r, fetch::<LIMBS, 4>(work, a).limbs()),
                HOLD => {
                    held = fetch(work, a);
                    if is_ahead {
                        ahead = fetch(work, next[3]);
                    }
                }
                BEGIN => product = fetch(work, a),
                _ => store(work.r, r, product.limbs()),
            }
        }
    }
}

/// The operations are in the order that [`registers`] tells them apart by.
const _: () = assert!(MUL < PAIR && PAIR < ADD && ADD < SUB && SUB < COPY && BEGIN < END);
