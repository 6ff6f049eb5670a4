//! Stage 1 on twisted Edwards curves with `a = -1`, a thread or some lanes for each curve.
//!
//! The steps are those of `edwards.rs` of the crate `ecm`, which has the maths, and the digits are the same for all curves:
//! so all threads double and add together. Up to 16 limbs a thread has its point in registers, above in six
//! numbers of shared memory; above 32 limbs two to sixteen lanes share a curve. What is added comes from the curve's own table, which a program over
//! registers has made ([`crate::registers`]): a thread fetches four numbers once for each digit.
//!
//! `a` has a curve's point, `X Y Z T` of `LIMBS` limbs each, and `r` gets the new one; `b` is the row of registers
//! with the table; `c` has the digits, one number for all, two limbs for each: the doublings before it, and what is added,
//! 0 for nothing (else [`Digit::new`]). The digits `from`, `from + 1`, ... `to - 1` are walked.
//!
//! Bounds of a doubling, in moduli: squares 2, `H = A + B` and `G = A - B` 4, `E = H - (X + Y)^2` 6, `F = G + 2 Z^2`
//! 8; of an addition, all four 4.
//!
//! Cost: three products and four squares a doubling, one product more before an addition, seven an addition.

use crate::arithmetic::Arithmetic;
use crate::operations::{CACHED, TABLE};
use crate::slots::{Slots, place};
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
    /// The first digit.
    from: u32,
    /// The digit behind the last one.
    to: u32,
    /// 2: what the compiler does not know it does not unroll.
    two: u32,
}

/// A digit.
#[derive(Clone, Copy)]
struct Digit {
    doublings: u32,
    is_added: bool,
    is_negative: bool,
    /// The limb of the row of registers at which what is added begins.
    at: u32,
}

impl Digit {
    /// No doubling, and no addition.
    const NOTHING: Digit = Digit {
        doublings: 0,
        is_added: false,
        is_negative: false,
        at: 0,
    };

    /// Digit `i`. What is added is `2 entry + 1`, and one more where it is negative.
    #[inline(always)]
    fn new<const LIMBS: usize>(digits: Number<Unit>, i: u32) -> Self {
        let code = digits.limb(2 * i + 1);
        let entry = code.wrapping_sub(1) / 2;
        Digit {
            doublings: digits.limb(2 * i),
            is_added: code > 0,
            is_negative: code > 0 && code % 2 == 0,
            at: (TABLE + CACHED * entry) * LIMBS as u32,
        }
    }

    /// Where number `i` of what is added is: of `-P` the first two, `Y - X` and `Y + X`, have changed places.
    #[inline(always)]
    fn number<const LIMBS: usize>(self, i: u32) -> u32 {
        let i = if self.is_negative && i < 2 { 1 - i } else { i };
        self.at + i * LIMBS as u32
    }
}

/// The batches, and the digits, whose limbs are neighbours.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
unsafe fn batches(arguments: &Arguments) -> (Batches<'_, Any>, Number<Unit>) {
    // SAFETY: by this function's own contract; the digits are one number, which is contiguous.
    unsafe { (Batches::new(arguments), Number::new(&arguments.c, 0)) }
}

/// `E F G H`, of which products of two are the point.
type Halves<const LIMBS: usize> = (
    Element<LIMBS, 6>,
    Element<LIMBS, 8>,
    Element<LIMBS, 4>,
    Element<LIMBS, 4>,
);

/// A point `X Y Z T`.
#[derive(Clone, Copy)]
struct Point<const LIMBS: usize>([Element<LIMBS, 2>; 4]);

impl<const LIMBS: usize> Point<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn load(row: Number<Any>) -> Self {
        let element = |i: u32| Element::of_limbs(load(row, i * LIMBS as u32));
        Point([element(0), element(1), element(2), element(3)])
    }

    #[inline(always)]
    fn store(self, row: Number<Any>) {
        let [x, y, z, t] = self.0;
        let n = LIMBS as u32;
        store(row, 0, x.limbs());
        store(row, n, y.limbs());
        store(row, 2 * n, z.limbs());
        store(row, 3 * n, t.limbs());
    }

    /// The double.
    #[inline(always)]
    fn doubled(self, field: &Field<LIMBS>) -> Halves<LIMBS> {
        let [x, y, z, _] = self.0;
        let c = field.square(z);
        let (a, b) = (field.square(x), field.square(y));
        let sum: Element<LIMBS, 4> = field.add(x, y);
        let s = field.square(sum);
        let c: Element<LIMBS, 4> = field.add(c, c);
        let h: Element<LIMBS, 4> = field.add(a, b);
        let g: Element<LIMBS, 4> = field.sub(a, b);
        (field.sub(h, s), field.add(g, c), g, h)
    }

    /// The sum with what a digit adds, of the table in `row`.
    #[inline(always)]
    fn with(self, field: &Field<LIMBS>, row: Number<Any>, digit: Digit) -> Halves<LIMBS> {
        let [x, y, z, t] = self.0;
        let added = |i: u32| -> Element<LIMBS, 4> {
            Element::of_limbs(load(row, digit.number::<LIMBS>(i)))
        };
        let difference: Element<LIMBS, 4> = field.sub(y, x);
        let sum: Element<LIMBS, 4> = field.add(y, x);
        let (a, b) = (field.mul(difference, added(0)), field.mul(sum, added(1)));
        let (c, d) = (field.mul(t, added(2)), field.mul(z, added(3)));
        let e: Element<LIMBS, 6> = field.sub(b, a);
        let h: Element<LIMBS, 4> = field.add(b, a);
        let mut f: Element<LIMBS, 4> = field.sub(d, c);
        let mut g: Element<LIMBS, 4> = field.add(d, c);
        if digit.is_negative {
            (f, g) = (g, f);
        }
        (e, Element::of_limbs(f.limbs()), g, h)
    }

    /// Becomes the point of these halves, with its `T` if it is needed.
    #[inline(always)]
    fn set(&mut self, field: &Field<LIMBS>, (e, f, g, h): Halves<LIMBS>, has_t: bool) {
        self.0[0] = field.mul(e, f);
        if has_t {
            self.0[3] = field.mul(e, h);
        }
        self.0[1] = field.mul(g, h);
        self.0[2] = field.mul(f, g);
    }
}

/// Walks the digits.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
pub unsafe fn edwards<const LIMBS: usize>(arguments: &Arguments, scalars: &Scalars<LIMBS>)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let Scalars {
        field, from, to, ..
    } = scalars;
    // SAFETY: by this function's own contract.
    let (batches, digits) = unsafe { batches(arguments) };
    for work in batches.numbers_in_step() {
        let mut point = Point::<LIMBS>::load(work.a);
        let mut next = *from;
        while next < *to {
            let digit = Digit::new::<LIMBS>(digits, next);
            next += 1;
            let mut left = digit.doublings;
            while left > 0 {
                left -= 1;
                point.set(field, point.doubled(field), left == 0 && digit.is_added);
            }
            if digit.is_added {
                point.set(field, point.with(field, work.b, digit), false);
            }
        }
        point.store(work.r);
    }
}

/// [`edwards`] of 12 and 16 limbs. Sums and doubles share the products that a point is made of, as a second body of them would push the
/// first out of the memory of instructions. There is one loop for all digits: what a digit says is then not the same all the loop
/// long, and addresses in its table are not kept in registers for it.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
pub unsafe fn edwards_in_one_loop<const LIMBS: usize>(
    arguments: &Arguments,
    scalars: &Scalars<LIMBS>,
) where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let Scalars {
        field, from, to, ..
    } = scalars;
    // SAFETY: by this function's own contract.
    let (batches, digits) = unsafe { batches(arguments) };
    for work in batches.numbers_in_step() {
        let mut point = Point::<LIMBS>::load(work.a);
        let (mut next, mut left, mut digit) = (*from, 0, Digit::NOTHING);
        while next < *to || left > 0 {
            if left == 0 {
                digit = Digit::new::<LIMBS>(digits, next);
                next += 1;
                left = digit.doublings + u32::from(digit.is_added);
                continue;
            }
            left -= 1;
            // Warps that drift apart would fetch the code again and again.
            batches.team().sync();
            let halves = match left == 0 && digit.is_added {
                true => point.with(field, work.b, digit),
                false => point.doubled(field),
            };
            point.set(field, halves, left == 1 && digit.is_added);
        }
        point.store(work.r);
    }
}

/// The slots of `X Y Z T`, four bits each from the lowest on.
const POINT: u32 = 0x5104;

/// The slots of what a doubling squares: `X Y Z` and `X + Y`.
const SQUARED: u32 = 0x2104;

/// The slots of `E F G H`.
const HALVES: u32 = 0x0132;

/// The products `X Y Z` of these, and `T` before what it needs is overwritten: factors and results.
const LEFT: u32 = 0x3122;
const RIGHT: u32 = 0x1003;
const RESULT: u32 = 0x1054;

/// Which of the products is `T`.
const OF_T: u32 = 1;

/// What the numbers of an entry are multiplied by: `Y - X`, `Y + X`, `T` and `Z`.
const WITH_ENTRY: u32 = 0x1504;

/// [`edwards`] with the numbers in shared memory: all products go through one body of code, as do all squares.
///
/// # Safety
/// As for [`Batches::new`], with shared memory for six numbers of each thread.
#[inline(always)]
pub unsafe fn edwards_in_slots<const LIMBS: usize>(arguments: &Arguments, scalars: &Scalars<LIMBS>)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract.
    let (batches, digits) = unsafe { batches(arguments) };
    let slots = Slots::<LIMBS>::new(batches.column(Slots::<LIMBS>::PAIRS));
    for work in batches.numbers_in_step() {
        let numbers = [work.r, work.a, work.b];
        walk_in_slots(
            &scalars.field,
            slots,
            batches.team(),
            (numbers, digits),
            scalars,
        );
    }
}

/// [`edwards_in_slots`], some lanes for each curve.
///
/// # Safety
/// As for [`warp::Batches::new`], with shared memory for six times a lane's limbs of each lane.
#[inline(always)]
pub unsafe fn edwards_by_lanes<const ALL: usize, const LANES: u32, const LIMBS: usize>(
    arguments: &Arguments,
    scalars: &Scalars<ALL>,
) where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract; the digits are one number, which is contiguous.
    let (batches, digits) = unsafe {
        let batches = warp::Batches::<LANES, Any>::new(arguments);
        (batches, Number::new(&arguments.c, 0))
    };
    let slots = Slots::<LIMBS>::new(batches.column(Slots::<LIMBS>::PAIRS));
    for work in batches.numbers() {
        let field = scalars.field.by_lanes::<LIMBS, LANES>(work.group);
        let numbers = [work.r, work.a, work.b];
        walk_in_slots(&field, slots, batches.team(), (numbers, digits), scalars);
    }
}

/// Walks the digits, from the second of the numbers to the first, with the table in the third.
#[inline(always)]
fn walk_in_slots<F: Arithmetic<LIMBS>, const LIMBS: usize, const ALL: usize>(
    field: &F,
    slots: Slots<LIMBS>,
    team: Team<BLOCK>,
    ([new, state, table], digits): ([Number<Any>; 3], Number<Unit>),
    Scalars { from, to, two, .. }: &Scalars<ALL>,
) {
    let mut i = 0;
    while i < 2 * *two {
        let limbs = load(state, i * ALL as u32 + field.own());
        slots.set(place(POINT, i), Element::<LIMBS, 2>::of_limbs(limbs));
        i += 1;
    }
    let mut next = *from;
    while next < *to {
        let digit = Digit::new::<ALL>(digits, next);
        next += 1;
        let mut left = digit.doublings + u32::from(digit.is_added);
        while left > 0 {
            left -= 1;
            let is_addition = left == 0 && digit.is_added;
            let [x, y] = [0, 1].map(|i| slots.get::<2>(place(POINT, i)));
            let sum: Element<LIMBS, 4> = field.add(y, x);
            if is_addition {
                let difference: Element<LIMBS, 4> = field.sub(y, x);
                slots.set(place(WITH_ENTRY, 0), difference);
                slots.set(place(WITH_ENTRY, 1), sum);
            } else {
                slots.set(place(SQUARED, 3), sum);
                let mut i = 0;
                while i < 2 * *two {
                    team.sync();
                    let square = field.square(slots.get::<4>(place(SQUARED, i)));
                    slots.set(place(SQUARED, i), square);
                    i += 1;
                }
                halves_of_double(field, slots);
            }
            // Products with an entry's numbers, which a doubling has not, and those of the halves.
            let mut round = u32::from(!is_addition);
            while round < *two {
                let mut i = 0;
                while i < 2 * *two {
                    let is_skipped = round == 1 && i == OF_T && !(left == 1 && digit.is_added);
                    if !is_skipped {
                        team.sync();
                        let (r, x, y): (_, Element<LIMBS, 8>, Element<LIMBS, 8>) = if round == 0 {
                            let slot = place(WITH_ENTRY, i);
                            let at = digit.number::<ALL>(i) + field.own();
                            (slot, slots.get(slot), Element::of_limbs(load(table, at)))
                        } else {
                            let [left, right] = [LEFT, RIGHT].map(|of| slots.get(place(of, i)));
                            (place(RESULT, i), left, right)
                        };
                        slots.set(r, field.mul(x, y));
                    }
                    i += 1;
                }
                if round == 0 {
                    halves_of_sum(field, slots, digit);
                }
                round += 1;
            }
        }
    }
    let mut i = 0;
    while i < 2 * *two {
        let number = slots.get::<2>(place(POINT, i));
        store(new, i * ALL as u32 + field.own(), number.limbs());
        i += 1;
    }
}

/// `E F G H` of a doubling from its squares.
#[inline(always)]
fn halves_of_double<F: Arithmetic<LIMBS>, const LIMBS: usize>(field: &F, slots: Slots<LIMBS>) {
    let square = |i| slots.get::<2>(place(SQUARED, i));
    let (a, b) = (square(0), square(1));
    let h: Element<LIMBS, 4> = field.add(a, b);
    let g: Element<LIMBS, 4> = field.sub(a, b);
    let e: Element<LIMBS, 6> = field.sub(h, square(3));
    let c = square(2);
    let c: Element<LIMBS, 4> = field.add(c, c);
    let f: Element<LIMBS, 8> = field.add(g, c);
    slots.set(place(HALVES, 0), e);
    slots.set(place(HALVES, 1), f);
    slots.set(place(HALVES, 2), g);
    slots.set(place(HALVES, 3), h);
}

/// `E F G H` of an addition from the products with an entry's numbers.
#[inline(always)]
fn halves_of_sum<F: Arithmetic<LIMBS>, const LIMBS: usize>(
    field: &F,
    slots: Slots<LIMBS>,
    digit: Digit,
) {
    let product = |i| slots.get::<2>(place(WITH_ENTRY, i));
    let (a, b) = (product(0), product(1));
    let e: Element<LIMBS, 4> = field.sub(b, a);
    let h: Element<LIMBS, 4> = field.add(b, a);
    let (c, d) = (product(2), product(3));
    let f: Element<LIMBS, 4> = field.sub(d, c);
    let g: Element<LIMBS, 4> = field.add(d, c);
    let swapped = u32::from(digit.is_negative);
    slots.set(place(HALVES, 0), e);
    slots.set(place(HALVES, 1 + swapped), f);
    slots.set(place(HALVES, 2 - swapped), g);
    slots.set(place(HALVES, 3), h);
}
