//! Steps over registers in memory, a row of registers for each thread. Rows are in tiles, of which a thread moves four limbs at a
//! time ([`bigint_kernels::gpu::quads`]), or batches of either layout.
//!
//! `a` and `b` are rows of registers that earlier launches left, `r` is the row that this one writes, and
//! `c` is the program, one for all threads: four limbs for each step, `[operation, result, place, place]`.
//! A place counts quads, and has its row in the two upper bits ([`ROW`] of them are the quad's number): 0 is `r`, 1 `a`,
//! 2 `b`. A thread has a *product* at hand beside. [`crate::operations`] has what each operation does.
//!
//! The program's author answers for the bounds, in `m`: terms of sums are below 4 and what is subtracted is below 2, as
//! products are, as is what points and pairs are made of; factors and what is copied are below 8.
//!
//! The differences of pairs are `b - a`, so that `2 m - a` is computed once for all `b` of an `a`.
//!
//! Up to 16 limbs a pair takes what was fetched while the product of the pair before was computed.
//!
//! Above 32 limbs two to sixteen lanes share a row, and every number: each has its part of what is at hand.
//!
//! Cost: what a step's product costs, and its numbers' way from memory. A product of pairs fetches one. A sum is six
//! products, squares among them, and fetches six numbers.

use crate::arithmetic::Arithmetic;
use crate::operations::{
    ADD, BEGIN, COPY, END, MUL, PAIRS, QUAD, ROUNDS, ROW, SUB, SUM, SUMS, WALK,
};
use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb};
use bigint_kernels::field::lazy::{Element, Field};
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::memory::{Any, Number, Unit};
use bigint_kernels::gpu::quads::Quads;
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::Batches;
use bigint_kernels::warp;

/// What a launch tells beside its batches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scalars<const LIMBS: usize> {
    field: Field<LIMBS>,
    run: Run,
}

/// What a launch does, whatever the modulus.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Run {
    steps: u32,
    /// The rows that are in tiles, a bit each from the lowest on: `r`, `a`, `b`.
    tiled: u32,
}

/// The rows `r`, `a` and `b`. Those of threads that are *whole* are in tiles, or contiguous.
trait Rows<const LIMBS: usize>: Copy {
    /// A place's number.
    fn fetch<const BOUND: u32>(self, place: u32) -> Element<LIMBS, BOUND>;

    /// Sets a number of `r`.
    fn set<const BOUND: u32>(self, at: u32, x: Element<LIMBS, BOUND>);

    /// The rows, with a place's row for `r`, and the place in it.
    fn turned(self, place: u32) -> (Self, u32);

    /// A place's number, of a whole row.
    fn fetch_whole(self, place: u32) -> Element<LIMBS, 2>;

    /// A number of `r`, which is whole.
    fn written(self, at: u32) -> Element<LIMBS, 2>;

    /// Sets a number of `r`, which is whole.
    fn write(self, at: u32, x: Element<LIMBS, 2>);
}

/// The row of a place, and where in it the place is.
#[inline(always)]
fn of_place<R>([r, a, b]: [R; 3], place: u32) -> (R, u32) {
    let row = match place >> ROW {
        0 => r,
        1 => a,
        _ => b,
    };
    (row, place & ((1 << ROW) - 1))
}

/// A thread's rows.
#[derive(Clone, Copy)]
struct OfThread([Quads; 3]);

impl<const LIMBS: usize> Rows<LIMBS> for OfThread {
    #[inline(always)]
    fn fetch<const BOUND: u32>(self, place: u32) -> Element<LIMBS, BOUND> {
        let (row, at) = of_place(self.0, place);
        Element::of_limbs(row.limbs(at))
    }

    #[inline(always)]
    fn set<const BOUND: u32>(self, at: u32, x: Element<LIMBS, BOUND>) {
        self.0[0].set(at, x.limbs());
    }

    #[inline(always)]
    fn turned(self, place: u32) -> (Self, u32) {
        let (row, at) = of_place(self.0, place);
        let [_, a, b] = self.0;
        (OfThread([row, a, b]), at)
    }

    #[inline(always)]
    fn fetch_whole(self, place: u32) -> Element<LIMBS, 2> {
        let (row, at) = of_place(self.0, place);
        Element::of_limbs(row.quads(at))
    }

    #[inline(always)]
    fn written(self, at: u32) -> Element<LIMBS, 2> {
        Element::of_limbs(self.0[0].quads(at))
    }

    #[inline(always)]
    fn write(self, at: u32, x: Element<LIMBS, 2>) {
        self.0[0].set_quads(at, x.limbs());
    }
}

/// A lane's part of rows: of each register the limbs from `own` on.
#[derive(Clone, Copy)]
struct OfLane {
    rows: [Number<Any>; 3],
    own: u32,
}

impl<const LIMBS: usize> Rows<LIMBS> for OfLane {
    #[inline(always)]
    fn fetch<const BOUND: u32>(self, place: u32) -> Element<LIMBS, BOUND> {
        let (row, at) = of_place(self.rows, place);
        Element::of_limbs(load(row, QUAD * at + self.own))
    }

    #[inline(always)]
    fn set<const BOUND: u32>(self, at: u32, x: Element<LIMBS, BOUND>) {
        store(self.rows[0], QUAD * at + self.own, x.limbs());
    }

    #[inline(always)]
    fn turned(self, place: u32) -> (Self, u32) {
        let (row, at) = of_place(self.rows, place);
        let [_, a, b] = self.rows;
        let rows = [row, a, b];
        (OfLane { rows, ..self }, at)
    }

    #[inline(always)]
    fn fetch_whole(self, place: u32) -> Element<LIMBS, 2> {
        self.fetch(place)
    }

    #[inline(always)]
    fn written(self, at: u32) -> Element<LIMBS, 2> {
        Element::of_limbs(load(self.rows[0], QUAD * at + self.own))
    }

    #[inline(always)]
    fn write(self, at: u32, x: Element<LIMBS, 2>) {
        self.set(at, x);
    }
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
    // SAFETY: by this function's own contract; the program is one number, which is contiguous.
    let (batches, program) = unsafe {
        let batches = Batches::<Any>::new(arguments);
        (batches, Number::new(&arguments.c, 0))
    };
    for rows in batches.quads_in_step(scalars.run.tiled) {
        // Above, the registers that it takes would leave a multiprocessor room for fewer blocks.
        let is_ahead = LIMBS <= 16;
        run(
            batches.team(),
            OfThread(rows),
            (program, scalars.run.steps),
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
        let rows = OfLane {
            rows: [work.r, work.a, work.b],
            own: field.own(),
        };
        run(
            batches.team(),
            rows,
            (program, scalars.run.steps),
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
pub unsafe fn own_registers<const LIMBS: usize>(arguments: &Arguments, launch: &Run)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract; the program is one number, which is contiguous.
    let (batches, program) = unsafe {
        let batches = Batches::<Any>::new(arguments);
        (batches, Number::new(&arguments.c, 0))
    };
    for rows in batches.quads_in_step(launch.tiled) {
        let field = Field::of_modulus(rows[1].limbs(0));
        let (team, is_ahead) = (batches.team(), LIMBS <= 8);
        run(
            team,
            OfThread(rows),
            (program, launch.steps),
            &field,
            is_ahead,
        );
    }
}

/// Two factors of a product: sums or differences of what is in rows.
type Factors<const LIMBS: usize> = [Element<LIMBS, 4>; 2];

/// Does a thread's steps; `is_ahead`: fetches before it is time.
#[inline(always)]
fn run<F: Arithmetic<LIMBS>, R: Rows<LIMBS>, const LIMBS: usize>(
    team: Team<BLOCK>,
    rows: R,
    (program, steps): (Number<Unit>, u32),
    field: &F,
    is_ahead: bool,
) {
    let mut product: Element<LIMBS, 2> = Element::of_limbs([0; LIMBS]);
    let step = |at: u32| -> [Limb; 4] { load(program, 4 * at) };
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
        if operation == PAIRS {
            let held: Element<LIMBS, 3> = field.neg(rows.fetch_whole(a));
            let (rows, _) = rows.turned(b);
            let first = 4 * at;
            let place = |i: u32| program.limb(first + i.min(r - 1));
            // What the next pair takes, on its way from memory while this one's product is computed.
            let (mut i, mut next) = (0, place(0));
            let mut ahead = rows.written(next);
            next = place(1);
            while i < r {
                in_step();
                let other = ahead;
                i += 1;
                if is_ahead {
                    ahead = rows.written(next);
                    next = place(i + 1);
                }
                let difference: Element<LIMBS, 5> = field.add(other, held);
                product = field.mul_lean(product, difference);
                if !is_ahead {
                    ahead = rows.written(next);
                    next = place(i + 1);
                }
            }
            at += r.div_ceil(4);
        } else if LIMBS <= SUMS && operation == SUM {
            let ([c, d, e, f], [g, rounds, ..]) = (step(at), step(at + 1));
            at += 2;
            let [x, z, other_x, other_z] = [b, c, d, e].map(|place| rows.fetch_whole(place));
            let mut of_first: Factors<LIMBS> = [field.sub(x, z), field.add(other_x, other_z)];
            let mut of_second: Factors<LIMBS> = [field.add(x, z), field.sub(other_x, other_z)];
            let mut round = 0;
            while round < rounds {
                in_step();
                let first = field.mul_lean(of_first[0], of_first[1]);
                let second = field.mul_lean(of_second[0], of_second[1]);
                round += 1;
                if round == 1 {
                    of_first = [field.add(first, second); 2];
                    of_second = [field.sub(first, second); 2];
                } else if round < rounds {
                    of_first = [first.widened(), rows.fetch_whole(g).widened()];
                    of_second = [second.widened(), rows.fetch_whole(f).widened()];
                } else {
                    rows.write(r, first);
                    rows.write(a, second);
                }
            }
        } else if LIMBS <= SUMS && operation == WALK {
            let [up, ..] = step(at);
            at += 1;
            let (mut left, mut top, mut bottom) = (r, a, b);
            while left > 0 {
                in_step();
                left -= 1;
                let (x, y) = (rows.written(top), rows.written(bottom));
                rows.write(top, field.mul_lean(product, x));
                product = field.mul_lean(product, y);
                top = top.wrapping_add(up);
                bottom = bottom.wrapping_add(up);
            }
        } else if operation == MUL {
            let (x, y): (Element<LIMBS, 8>, Element<LIMBS, 8>) = (rows.fetch(a), rows.fetch(b));
            rows.set(r, field.mul_lean(x, y));
        } else if operation <= SUB {
            let (x, y): (Element<LIMBS, 4>, Element<LIMBS, 4>) = (rows.fetch(a), rows.fetch(b));
            let z: Element<LIMBS, 8> = match operation {
                ADD => field.add(x, y),
                _ => field.sub(x, Element::of_limbs(y.limbs())),
            };
            rows.set(r, z);
        } else {
            match operation {
                COPY => rows.set(r, rows.fetch::<8>(a)),
                BEGIN => product = rows.fetch(a),
                _ => rows.set(r, product),
            }
        }
    }
}

/// The operations are in the order that [`run`] tells them apart by.
const _: () = assert!(MUL < ADD && ADD < SUB && SUB < COPY && BEGIN < END && ROUNDS == 3);
