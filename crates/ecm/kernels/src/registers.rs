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
//! Above 32 limbs two or four lanes share a row, and every number: each has its part of what is at hand.
//!
//! Cost: what a step's product costs, and its numbers' way from memory. A product of pairs fetches one.

use crate::arithmetic::Arithmetic;
use crate::operations::{ADD, BEGIN, COPY, END, HOLD, MUL, PAIR, ROW, SUB};
use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb};
use bigint_kernels::field::lazy::{Element, Field};
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::memory::{Any, Number, Unit};
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::Batches;
use bigint_kernels::warp;

/// What a launch tells beside its batches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scalars<const LIMBS: usize> {
    field: Field<LIMBS>,
    steps: u32,
}

/// The rows `r`, `a` and `b`, and the limb of each register from which on the calling thread has it.
struct Rows {
    rows: [Number<Any>; 3],
    own: u32,
}

impl Rows {
    /// A place's number.
    #[inline(always)]
    fn fetch<const LIMBS: usize, const BOUND: u32>(&self, place: u32) -> Element<LIMBS, BOUND> {
        let [r, a, b] = self.rows;
        let row = match place >> ROW {
            0 => r,
            1 => a,
            _ => b,
        };
        let at = place & ((1 << ROW) - 1);
        Element::of_limbs(load(row, at + self.own))
    }

    /// Sets a number of `r`.
    #[inline(always)]
    fn set<const LIMBS: usize, const BOUND: u32>(&self, at: u32, x: Element<LIMBS, BOUND>) {
        store(self.rows[0], at + self.own, x.limbs());
    }
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
        let rows = Rows {
            rows: [work.r, work.a, work.b],
            own: 0,
        };
        run(
            batches.team(),
            &rows,
            (program, scalars.steps),
            &scalars.field,
            is_ahead,
        );
    }
}

/// Does the steps, modulo one number for all, by lanes that share a row.
///
/// # Safety
/// As for [`warp::Batches::new`].
#[inline(always)]
pub unsafe fn registers_by_lanes<const ALL: usize, const LANES: u32, const LIMBS: usize>(
    arguments: &Arguments,
    scalars: &Scalars<ALL>,
) where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract; the program is one number, which is contiguous.
    let (batches, program) = unsafe {
        let batches = warp::Batches::<LANES, Any>::new(arguments);
        (batches, Number::new(&arguments.c, 0))
    };
    for work in batches.numbers() {
        let field = scalars.field.by_lanes::<LIMBS, LANES>(work.group);
        let rows = Rows {
            rows: [work.r, work.a, work.b],
            own: field.own(),
        };
        run(
            batches.team(),
            &rows,
            (program, scalars.steps),
            &field,
            false,
        );
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
        let rows = Rows {
            rows: [work.r, work.a, work.b],
            own: 0,
        };
        run(batches.team(), &rows, (program, steps), &field, LIMBS <= 8);
    }
}

/// Does a thread's steps; `is_ahead`: fetches before it is time.
#[inline(always)]
fn run<F: Arithmetic<LIMBS>, const LIMBS: usize>(
    team: Team<BLOCK>,
    rows: &Rows,
    (program, steps): (Number<Unit>, u32),
    field: &F,
    is_ahead: bool,
) {
    let mut product: Element<LIMBS, 2> = Element::of_limbs([0; LIMBS]);
    let step = |at: u32| -> [Limb; 4] { load(program, 4 * at.min(steps - 1)) };
    // Warps that drift apart would fetch the code again and again.
    let in_step = || {
        if LIMBS >= 12 {
            team.sync();
        }
    };
    let mut at = 0;
    while at < steps {
        in_step();
        let [operation, r, a, b] = step(at);
        at += 1;
        if operation == HOLD {
            let held: Element<LIMBS, 2> = rows.fetch(a);
            let [mut next, mut after] = [step(at), step(at + 1)];
            // What the next pair takes from `held`, on its way from memory while this one's product is computed.
            let mut ahead = held;
            if is_ahead {
                ahead = rows.fetch(next[3]);
            }
            while next[0] == PAIR {
                in_step();
                let other = if is_ahead { ahead } else { rows.fetch(next[3]) };
                let difference: Element<LIMBS, 4> = field.sub(held, other);
                at += 1;
                (next, after) = (after, step(at + 1));
                if is_ahead && next[0] == PAIR {
                    ahead = rows.fetch(next[3]);
                }
                product = field.mul(product, difference);
            }
        } else if operation == MUL {
            let (x, y): (Element<LIMBS, 8>, Element<LIMBS, 8>) = (rows.fetch(a), rows.fetch(b));
            let z: Element<LIMBS, 2> = field.mul(x, y);
            rows.set(r, z);
        } else if operation <= SUB {
            let x: Element<LIMBS, 4> = rows.fetch(a);
            let z: Element<LIMBS, 8> = match operation {
                ADD => field.add::<4, 4, 8>(x, rows.fetch(b)),
                _ => field.sub(x, rows.fetch(b)),
            };
            rows.set(r, z);
        } else {
            match operation {
                COPY => rows.set(r, rows.fetch::<LIMBS, 8>(a)),
                BEGIN => product = rows.fetch(a),
                _ => rows.set(r, product),
            }
        }
    }
}

/// The operations are in the order that [`run`] tells them apart by.
const _: () = assert!(MUL < PAIR && PAIR < ADD && ADD < SUB && SUB < COPY && BEGIN < END);
