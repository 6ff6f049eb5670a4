//! Both stages modulo numbers that a thread's registers do not hold: `D` digits of `X` limbs, in shared memory.
//!
//! A product goes digit by digit of one factor. A digit's row is `D` passes, each over a window of `X` limbs:
//! the first finds the `X` quotients that make the lowest digit zero, the others multiply by them. With
//! `C = B^X`:
//!
//! ```text
//! sum = sum + a[i] b + q m, a multiple of C         q[r] from the lowest limb of a window, one after another
//! pass 0:  a[i] b[0] + q m[0]      its lower digit is zero, its upper one goes on to
//! pass j:  a[i] b[j] + q m[j]      whose lower digit is digit j - 1 of the new sum
//! ```
//!
//! By hand, with `C` = 10, `D` = 2 and `m` = 77, whose `-1/m` is 7: 12 times 34, that is 2 * 34 = 68 first,
//! with `q` = 6 is 530, and 53; then 34 + 53 = 87, with `q` = 9 is 780, and 78. Indeed 78 * 100 is 12 * 34
//! modulo 77.
//!
//! A square of two digits is made first, with each product of two limbs once, and then made a multiple of `C`
//! twice by the same passes.
//!
//! Bounds are those of [`bigint_kernels::field::lazy`], and are told here in words: `R = C^D > 64 m`, factors are
//! `x m` and `y m` with `x y <= 64`, products below `2 m`. A sum is below `b + m` after each row, and so below
//! `R`.
//!
//! Cost: `2 n^2 + n` multiply-adds for a product of `n = D X` limbs, `1.5 (n^2 + n)` for a square of two digits.
//! Shared memory: six numbers of each thread for the ladder, four for a program.

use crate::operations::{ADD, BEGIN, COPY, END, HOLD, PAIR, SUB};
use crate::registers::row;
use crate::{PLACES, SWAPPED, place};
use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb};
use bigint_kernels::field::slots;
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::triangle;
use bigint_kernels::gpu::window::{Slide, Window, top};
use bigint_kernels::montgomery::{inverse, load, store};
use bigint_kernels::squares::each;
use bigint_kernels::thread::Batches;

/// A modulus as the host writes it into the parameters of a launch: its limbs, then those of its double.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Field<const X: usize, const D: usize> {
    modulus: [[Limb; X]; D],
    twice: [[Limb; X]; D],
}

/// What a launch of the ladder tells beside its batches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ladder<const X: usize, const D: usize> {
    field: Field<X, D>,
    from: u32,
    to: u32,
    /// 2, and `D`: what the compiler does not know it does not unroll.
    two: u32,
    digits: u32,
}

/// What a launch of a program tells beside its batches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Program<const X: usize, const D: usize> {
    field: Field<X, D>,
    steps: u32,
    digits: u32,
}

/// A thread's numbers in shared memory, and how to compute with them.
#[derive(Clone, Copy)]
struct Slots<'a, const X: usize, const D: usize> {
    /// A slot for each digit.
    all: slots::Slots<X>,
    field: &'a Field<X, D>,
    digits: u32,
    team: Team<BLOCK>,
}

/// `of(0)`, `of(1)`, ... (Written out, as in a loop the limbs would have to be in memory.)
#[inline(always)]
fn each_digit<T: Copy, const D: usize>(zero: T, mut of: impl FnMut(usize) -> T) -> [T; D] {
    const { assert!(D >= 2 && D <= 3, "numbers of two or three digits") }
    let mut digits = [zero; D];
    digits[0] = of(0);
    digits[1] = of(1);
    if D > 2 {
        digits[2] = of(2);
    }
    digits
}

/// `a + b + carry`, of which `carry` is at most 1, and the carry out.
#[inline(always)]
fn add<const X: usize>(a: [Limb; X], b: [Limb; X], carry: Limb) -> ([Limb; X], Limb)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    // With b' = C - 1 - b this is a - b' - (1 - carry) + C.
    let (limbs, borrow) = Window::<X>::subtract(a, each(|i| !b[i]), 1 - carry);
    (limbs, 1 - borrow)
}

impl<const X: usize, const D: usize> Slots<'_, X, D>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// Slots of so many numbers of each thread.
    #[inline(always)]
    fn all(batches: Batches<'_, Unit>, numbers: u32) -> slots::Slots<X> {
        slots::Slots::new(batches.column(slots::Slots::<X>::pairs(numbers * D as u32)))
    }

    #[inline(always)]
    fn get(&self, slot: u32, digit: u32) -> [Limb; X] {
        self.all.get(slot * D as u32 + digit)
    }

    #[inline(always)]
    fn set(&self, slot: u32, digit: u32, limbs: [Limb; X]) {
        self.all.set(slot * D as u32 + digit, limbs);
    }

    /// Sets a slot to a number in memory.
    #[inline(always)]
    fn load(&self, slot: u32, row: Number<Unit>, at: u32) {
        let mut d = 0;
        while d < self.digits {
            self.set(slot, d, load(row, at + d * X as u32));
            d += 1;
        }
    }

    /// Writes a slot to memory.
    #[inline(always)]
    fn store(&self, slot: u32, row: Number<Unit>, at: u32) {
        let mut d = 0;
        while d < self.digits {
            store(row, at + d * X as u32, self.get(slot, d));
            d += 1;
        }
    }

    /// `-1/m` modulo `B`.
    #[inline(always)]
    fn inverse(&self) -> Limb {
        inverse(self.field.modulus[0][0]).wrapping_neg()
    }

    /// Digit `d` of `x - y + 2 m` for digits of `x` and `y`, after a carry and a borrow.
    #[inline(always)]
    fn difference(
        &self,
        d: usize,
        (x, y): ([Limb; X], [Limb; X]),
        (carry, borrow): (&mut Limb, &mut Limb),
    ) -> [Limb; X] {
        let above;
        (above, *carry) = add(x, self.field.twice[d], *carry);
        let limbs;
        (limbs, *borrow) = Window::<X>::subtract(above, y, *borrow);
        limbs
    }

    /// `sum = x + y` and `difference = x - y + 2 m`, of slots that may be the same.
    #[inline(always)]
    fn sum_and_difference(&self, [sum, difference]: [u32; 2], [x, y]: [u32; 2]) {
        let (mut over, mut carry, mut borrow) = (0, 0, 0);
        let _: [(); D] = each_digit((), |d| {
            let of = (self.get(x, d as u32), self.get(y, d as u32));
            let limbs;
            (limbs, over) = add(of.0, of.1, over);
            self.set(sum, d as u32, limbs);
            let limbs = self.difference(d, of, (&mut carry, &mut borrow));
            self.set(difference, d as u32, limbs);
        });
    }

    /// The pass that makes `X` limbs zero: `sum + a b + q m[0]`, without `a b` where there are no factors. Returns
    /// the digit above, what is above it, and `q`.
    #[inline(always)]
    fn first_pass(
        &self,
        sum: [Limb; X],
        factors: Option<[[Limb; X]; 2]>,
    ) -> ([Limb; X], Limb, [Limb; X]) {
        let (mut window, inverse) = (Window::<X>::new(sum), self.inverse());
        let modulus = self.field.modulus[0];
        let quotients = each(|r| match factors {
            Some([a, b]) => {
                let (lowest, carries) = window.add_product(a[r], b, [0; 2]);
                let q = lowest.wrapping_mul(inverse);
                let (_, [even, odd]) = window.add_product(q, modulus, carries);
                let [lower, upper] = top(0, even);
                window.slide([lower, upper + odd]);
                q
            }
            None => {
                let q = window.lowest().wrapping_mul(inverse);
                let (_, carry) = window.multiply(q, modulus);
                window.slide([carry, 0]);
                q
            }
        });
        let (limbs, above) = window.sum();
        (limbs, above, quotients)
    }

    /// Another pass: `sum + below + above C + a b + q m[j]`. Returns its two digits, and what is above them.
    #[inline(always)]
    fn next_pass(
        &self,
        j: usize,
        sum: [Limb; X],
        (below, above): ([Limb; X], Limb),
        quotients: [Limb; X],
        factors: Option<[[Limb; X]; 2]>,
    ) -> ([Limb; X], [Limb; X], Limb) {
        let (start, carry) = Window::<X>::add_digits(sum, below);
        let (mut window, mut above) = (Window::<X>::new(start), above + carry);
        let modulus = self.field.modulus[j];
        let lower = each(|r| {
            let carries = [above, 0];
            above = 0;
            let carries = match factors {
                Some([a, b]) => window.add_product(a[r], b, carries).1,
                None => carries,
            };
            let (lowest, [even, odd]) = window.add_product(quotients[r], modulus, carries);
            let [lower, upper] = top(0, even);
            window.slide([lower, upper + odd]);
            lowest
        });
        let (limbs, above) = window.sum();
        (lower, limbs, above)
    }

    /// The passes of a digit `a`, by which `b` is multiplied: the new sum's digits.
    #[inline(always)]
    fn row(&self, sum: [[Limb; X]; D], a: [Limb; X], b: u32) -> [[Limb; X]; D] {
        let mut made = [[0; X]; D];
        let factors = Some([a, self.get(b, 0)]);
        let (limbs, above, quotients) = self.first_pass(sum[0], factors);
        let factors = Some([a, self.get(b, 1)]);
        let of_two = self.next_pass(1, sum[1], (limbs, above), quotients, factors);
        let (lower, mut limbs, above) = of_two;
        made[0] = lower;
        if D > 2 {
            let factors = Some([a, self.get(b, 2)]);
            let of_three = self.next_pass(2, sum[D - 1], (limbs, above), quotients, factors);
            (made[1], limbs, _) = of_three;
        }
        made[D - 1] = limbs;
        made
    }

    /// `r = x y / R`, of slots that may be the same.
    #[inline(always)]
    fn product(&self, r: u32, x: u32, y: u32) {
        let mut sum = [[0; X]; D];
        let mut i = 0;
        while i < self.digits {
            // Warps that drift apart would fetch the code again and again.
            self.team.sync();
            sum = self.row(sum, self.get(x, i), y);
            i += 1;
        }
        let _: [(); D] = each_digit((), |d| self.set(r, d as u32, sum[d]));
    }

    /// `x = x^2 / R`. The square's upper half waits in the slot for the multiples of `m` that make the lower one
    /// zero.
    #[inline(always)]
    fn square(&self, x: u32) {
        if D != 2 {
            self.product(x, x, x);
            return;
        }
        self.team.sync();
        // Twice the product of both digits: the spare bits are the upper digit's.
        let (a, b) = (self.get(x, 0), self.get(x, 1));
        let twice = each(|i| match i {
            0 => b[0] << 1,
            _ => b[i] << 1 | b[i - 1] >> 31,
        });
        let mut window = Window::<X>::new([0; X]);
        let low = each(|r| {
            let (lowest, carry) = window.multiply(a[r], twice);
            window.slide([carry, 0]);
            lowest
        });
        let (high, _) = window.sum();
        let [third, fourth] = triangle::square(b);
        let (third, carry) = add(third, high, 0);
        self.set(x, 0, third);
        self.set(x, 1, Window::<X>::add(fourth, carry).0);
        let [first, second] = triangle::square(a);
        let (second, carry) = add(second, low, 0);
        let mut sum = [first, second];
        let mut i = 0;
        while i < self.digits {
            self.team.sync();
            let (limbs, above, quotients) = self.first_pass(sum[0], None);
            let (lower, limbs, _) = self.next_pass(1, sum[1], (limbs, above), quotients, None);
            sum = [lower, limbs];
            i += 1;
        }
        let (lower, carry) = add(sum[0], self.get(x, 0), carry);
        let (upper, _) = add(sum[1], self.get(x, 1), carry);
        self.set(x, 0, lower);
        self.set(x, 1, upper);
    }

    /// `k s / B`, for `k` in a slot, without the digits' carries: those stand beside them.
    #[inline(always)]
    fn scaled(&self, k: u32, s: Limb) -> [([Limb; X], Limb); D] {
        let zero = (Window::<X>::new([0; X]), [0; 2], 0);
        let mut q = 0;
        let windows: [_; D] = each_digit(zero, |d| {
            let mut window = zero.0;
            let (lowest, carries) = window.add_product(s, self.get(k, d as u32), [0; 2]);
            if d == 0 {
                q = lowest.wrapping_mul(self.inverse());
            }
            let (lowest, carries) = window.add_product(q, self.field.modulus[d], carries);
            (window, carries, lowest)
        });
        each_digit(([0; X], 0), |d| {
            let (mut window, [even, odd], _) = windows[d];
            let above = match windows.get(d + 1) {
                Some(&(_, _, lowest)) => lowest,
                None => 0,
            };
            let [lower, upper] = top(above, even);
            window.slide([lower, upper + odd]);
            window.sum()
        })
    }

    /// What is between the rounds of a bit: of `CB, BB, DA, AA` in slots 0 to 3 makes `AA, BB, K, BB + d K`, and
    /// `DA + CB`, `DA - CB` in slots 4 and 5.
    #[inline(always)]
    fn between(&self, sigma: Limb) {
        self.sum_and_difference([4, 5], [2, 0]);
        let (mut carry, mut borrow) = (0, 0);
        let _: [(); D] = each_digit((), |d| {
            let (aa, bb) = (self.get(3, d as u32), self.get(1, d as u32));
            self.set(0, d as u32, aa);
            let k = self.difference(d, (aa, bb), (&mut carry, &mut borrow));
            self.set(2, d as u32, k);
        });
        let scaled = self.scaled(2, sigma);
        let (mut over, mut carry) = (0, 0);
        let _: [(); D] = each_digit((), |d| {
            let (limbs, above) = scaled[d];
            let of_below;
            let sum;
            (sum, of_below) = Window::<X>::add(limbs, over);
            over = above + of_below;
            let sum_with;
            (sum_with, carry) = add(sum, self.get(1, d as u32), carry);
            self.set(3, d as u32, sum_with);
        });
    }
}

/// The ladder, as [`crate::ladder_in_slots`] walks it.
///
/// # Safety
/// As for [`Batches::new`], with shared memory for six numbers of each thread.
#[inline(always)]
pub unsafe fn ladder<const X: usize, const D: usize>(arguments: &Arguments, scalars: &Ladder<X, D>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let Ladder { field, from, to, two, digits } = scalars;
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<Unit>::new(arguments) };
    let limbs = (X * D) as u32;
    let slots = Slots::<X, D> {
        all: Slots::<X, D>::all(batches, 6),
        field,
        digits: *digits,
        team: batches.team(),
    };
    for work in batches.numbers_in_step() {
        let mut i = 0;
        while i < 2 * *two {
            slots.load(place(PLACES, i), work.a, i * limbs);
            i += 1;
        }
        let sigma = work.b.limb(0);
        let (mut at, mut is_swapped, mut bits) = (*from, 0, work.c.limb(from / 32));
        while at > *to {
            at -= 1;
            if at % 32 == 31 {
                bits = work.c.limb(at / 32);
            }
            let bit = bits >> (at % 32) & 1;
            // The points change places by the slots' names.
            let places = if bit == is_swapped { PLACES } else { SWAPPED };
            is_swapped = bit;
            let [q, u, w, v] = [0, 1, 2, 3].map(|i| place(places, i));
            slots.sum_and_difference([3, 1], [u, q]);
            slots.sum_and_difference([0, 2], [v, w]);
            let mut round = 0;
            while round < *two {
                let mut m = 0;
                while m < *two {
                    slots.product(2 * m, 2 * m, 2 * m + 1);
                    m += 1;
                }
                let mut m = 0;
                while m < *two {
                    slots.square(if round == 0 { 3 - 2 * m } else { 4 + m });
                    m += 1;
                }
                if round == 0 {
                    slots.between(sigma);
                }
                round += 1;
            }
            let mut carry = 0;
            let _: [(); D] = each_digit((), |d| {
                let square = slots.get(5, d as u32);
                let twice;
                (twice, carry) = add(square, square, carry);
                slots.set(5, d as u32, twice);
            });
        }
        let places = match is_swapped {
            0 => PLACES,
            _ => SWAPPED,
        };
        let mut i = 0;
        while i < 2 * *two {
            slots.store(place(places, i), work.r, i * limbs);
            i += 1;
        }
    }
}

/// The slots of a program: two factors, the number that is held, and the product.
const FACTOR: u32 = 0;
const OTHER: u32 = 1;
const HELD: u32 = 2;
const PRODUCT: u32 = 3;

/// Steps over registers, as [`crate::registers`] does them.
///
/// # Safety
/// As for [`Batches::new`], with shared memory for four numbers of each thread.
#[inline(always)]
pub unsafe fn registers<const X: usize, const D: usize>(
    arguments: &Arguments,
    scalars: &Program<X, D>,
) where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let Program { field, steps, digits } = scalars;
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<Unit>::new(arguments) };
    let slots = Slots::<X, D> {
        all: Slots::<X, D>::all(batches, 4),
        field,
        digits: *digits,
        team: batches.team(),
    };
    for work in batches.numbers_in_step() {
        let mut at = 0;
        while at < *steps {
            let [operation, r, a, b] = load(work.c, 4 * at);
            at += 1;
            let ((row_a, a), (row_b, b)) = (row(&work, a), row(&work, b));
            let digit = |row: Number<Unit>, at: u32, d: usize| load(row, at + (d * X) as u32);
            if operation <= PAIR {
                let x = if operation == PAIR {
                    let (mut carry, mut borrow) = (0, 0);
                    let _: [(); D] = each_digit((), |d| {
                        let of = (slots.get(HELD, d as u32), digit(row_b, b, d));
                        let limbs = slots.difference(d, of, (&mut carry, &mut borrow));
                        slots.set(OTHER, d as u32, limbs);
                    });
                    PRODUCT
                } else {
                    slots.load(FACTOR, row_a, a);
                    slots.load(OTHER, row_b, b);
                    FACTOR
                };
                slots.product(x, x, OTHER);
                if operation != PAIR {
                    slots.store(x, work.r, r);
                }
            } else if operation == ADD {
                let mut carry = 0;
                let _: [(); D] = each_digit((), |d| {
                    let limbs;
                    (limbs, carry) = add(digit(row_a, a, d), digit(row_b, b, d), carry);
                    store(work.r, r + (d * X) as u32, limbs);
                });
            } else if operation == SUB {
                let (mut carry, mut borrow) = (0, 0);
                let _: [(); D] = each_digit((), |d| {
                    let of = (digit(row_a, a, d), digit(row_b, b, d));
                    let limbs = slots.difference(d, of, (&mut carry, &mut borrow));
                    store(work.r, r + (d * X) as u32, limbs);
                });
            } else {
                match operation {
                    COPY => {
                        slots.load(FACTOR, row_a, a);
                        slots.store(FACTOR, work.r, r);
                    }
                    HOLD => slots.load(HELD, row_a, a),
                    BEGIN => slots.load(PRODUCT, row_a, a),
                    _ => slots.store(PRODUCT, work.r, r),
                }
            }
        }
    }
}

/// The operations are in the order that [`registers`] tells them apart by.
const _: () = assert!(PAIR < ADD && ADD < SUB && SUB < COPY && BEGIN < END);
