//! Steps over registers in memory, a row of registers for each thread. Rows of either layout will do;
//! of interleaved ones a warp reads a register in whole lines.
//!
//! `a` and `b` are rows of registers that earlier launches left, `r` is the row that this one writes, and
//! `c` is the program, one for all threads: four limbs for each step, `[operation, result, place, place]`.
//! A place has its row in the two upper bits ([`ROW`] of them are the limb's number): 0 is `r`, 1 `a`,
//! 2 `b`. A thread has two numbers at hand beside: one that is *held*, and a *product*. Pairs follow what is held
//! for them.
//!
//! The program's author answers for the bounds, in `m`: terms of sums are below 4 and what is subtracted is below 2, as
//! products are; factors and what is copied are below 8.
//!
//! Up to 12 limbs a pair takes what was fetched while the product of the pair before was computed.
//!
//! Cost: what a step's product costs, and its numbers' way from memory. A product of pairs fetches one.

use crate::operations::{ADD, BEGIN, COPY, END, HOLD, MUL, PAIR, ROW, SUB};
use bigint_core::{Arguments, Limb};
use bigint_kernels::field::lazy::{Element, Field};
use bigint_kernels::gpu::memory::{Any, Number, Stride, Unit};
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
    work: &Work<Any>,
    place: u32,
) -> Element<LIMBS, BOUND> {
    let (row, at) = row(work, place);
    Element::of_limbs(load(row, at))
}

/// A place's row, and the limb in it.
#[inline(always)]
pub(crate) fn row<S: Stride>(work: &Work<S>, place: u32) -> (Number<S>, u32) {
    let row = match place >> ROW {
        0 => work.r,
        1 => work.a,
        _ => work.b,
    };
    (row, place & ((1 << ROW) - 1))
}

/// The batches, and the program, whose limbs are neighbours.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
unsafe fn batches(arguments: &Arguments) -> (Batches<'_, Any>, Number<Unit>) {
    // SAFETY: by this function's own contract; the program is one number, which is contiguous.
    unsafe { (Batches::new(arguments), Number::new(&arguments.c, 0)) }
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
    let (batches, program) = unsafe { batches(arguments) };
    for work in batches.numbers_in_step() {
        // Above, the registers that it takes would leave a multiprocessor room for fewer blocks.
        let is_ahead = LIMBS <= 12;
        run(&batches, &work, (program, scalars.steps), &scalars.field, is_ahead);
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
    let (batches, program) = unsafe { batches(arguments) };
    for work in batches.numbers_in_step() {
        let field = Field::of_modulus(load(work.a, 0));
        run(&batches, &work, (program, steps), &field, LIMBS <= 8);
    }
}

/// Does a thread's steps; `is_ahead`: fetches before it is time.
#[inline(always)]
fn run<const LIMBS: usize>(
    batches: &Batches<Any>,
    work: &Work<Any>,
    (program, steps): (Number<Unit>, u32),
    field: &Field<LIMBS>,
    is_ahead: bool,
) where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let mut product: Element<LIMBS, 2> = Element::of_limbs([0; LIMBS]);
    let step = |at: u32| -> [Limb; 4] { load(program, 4 * at.min(steps - 1)) };
    // Warps that drift apart would fetch the code again and again.
    let in_step = || {
        if LIMBS >= 12 {
            batches.team().sync();
        }
    };
    let mut at = 0;
    while at < steps {
        in_step();
        let [operation, r, a, b] = step(at);
        at += 1;
        if operation == HOLD {
            let held: Element<LIMBS, 2> = fetch(work, a);
            let [mut next, mut after] = [step(at), step(at + 1)];
            // What the next pair takes from `held`, on its way from memory while this one's product is computed.
            let mut ahead = held;
            if is_ahead {
                ahead = fetch(work, next[3]);
            }
            while next[0] == PAIR {
                in_step();
                let other = if is_ahead { ahead } else { fetch(work, next[3]) };
                let difference: Element<LIMBS, 4> = field.sub(held, other);
                at += 1;
                (next, after) = (after, step(at + 1));
                if is_ahead && next[0] == PAIR {
                    ahead = fetch(work, next[3]);
                }
                product = field.mul(product, difference);
            }
        } else if operation == MUL {
            let (x, y): (Element<LIMBS, 8>, Element<LIMBS, 8>) = (fetch(work, a), fetch(work, b));
            let z: Element<LIMBS, 2> = field.mul(x, y);
            store(work.r, r, z.limbs());
        } else if operation <= SUB {
            let x: Element<LIMBS, 4> = fetch(work, a);
            let z: Element<LIMBS, 8> = match operation {
                ADD => field.add::<4, 4, 8>(x, fetch(work, b)),
                _ => field.sub(x, fetch(work, b)),
            };
            store(work.r, r, z.limbs());
        } else {
            match operation {
                COPY => store(work.r, r, fetch::<LIMBS, 8>(work, a).limbs()),
                BEGIN => product = fetch(work, a),
                _ => store(work.r, r, product.limbs()),
            }
        }
    }
}

/// The operations are in the order that [`run`] tells them apart by.
const _: () = assert!(MUL < PAIR && PAIR < ADD && ADD < SUB && SUB < COPY && BEGIN < END);
