//! Products and squares that no transform holds, on a device: made of products of halves of
//! their operands, by [`ntt`], and added up there.
//!
//! With `B = 2^(32 h)`, `a = a0 + a1 B` and `b = b0 + b1 B`,
//!
//! ```text
//! a b = a0 b0 + (a0 b0 + a1 b1 - (a0 - a1) (b0 - b1)) B + a1 b1 B^2
//! ```
//!
//! which is three products (Karatsuba). Differences of halves are no longer than halves, as
//! sums might be; the device is asked which are negative. Where `b` is not much longer than
//! half of `a`, two products take less time: `a b = a0 b + a1 b B`. What is too long still is
//! cut again. For 4321 and 2134 by halves of two digits: `21 34 = 714`, `43 21 = 903`, and
//! `(21 - 43) (34 - 21) = -286`, so that the product is `714 + 100 1903 + 10000 903`.
//!
//! Cost: the transforms, and for three products eight passes over memory.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::device::grid::add;
use crate::device::ntt;
use crate::device::part::Part;
use crate::device::transform::{Pieces, Split};
use bigint_core::{Arguments, Operation};
use std::sync::Arc;

/// Multiplies `count` numbers by others, by transforms of at most `longest` limbs. Results are no wider than
/// products.
pub(crate) fn multiply(
    device: &Arc<dyn Device>,
    longest: usize,
    count: usize,
    r: Part<'_>,
    factors: [Part<'_>; 2],
) -> Result<(), Error> {
    let products = Products { device, longest };
    for number in 0..count {
        let r = r.numbers_from(number);
        let [a, b] = factors.map(|factor| factor.numbers_from(number));
        if a.width() + b.width() == r.width() {
            products.multiply(r, a, b)?;
        } else {
            let whole = products.product(a, b)?;
            products.sum(Operation::Add, r, &[Part::of(&whole)], None)?;
        }
    }
    Ok(())
}

/// The multiplication of pieces on a device.
#[derive(Clone, Copy)]
struct Products<'a> {
    device: &'a Arc<dyn Device>,
    longest: usize,
}

impl Products<'_> {
    /// `r = a b`, `r` as wide as both together.
    fn multiply(self, r: Part<'_>, a: Part<'_>, b: Part<'_>) -> Result<(), Error> {
        let (a, b) = if a.width() < b.width() {
            (b, a)
        } else {
            (a, b)
        };
        let pieces = Pieces::of(a.width(), b.width(), self.longest);
        match pieces.split().0 {
            Split::Whole(plan) => ntt::multiply(self.device, plan, 1, r, [a, b]),
            Split::Longer(h) => {
                let [below, above] = a.halves(h);
                let [low, high] = [self.product(below, b)?, self.product(above, b)?];
                let ([r_low, r_high], [low, carried]) = (r.halves(h), Part::of(&low).halves(h));
                self.sum(Operation::Add, r_low, &[low], None)?;
                self.sum(Operation::Add, r_high, &[Part::of(&high), carried], None)
            }
            Split::Both(h) => {
                let outer = self.device.allocate(r.width())?;
                let outer = Part::of(&outer);
                let middle = {
                    let ([a0, a1], [b0, b1]) = (a.halves(h), b.halves(h));
                    let [low, high] = outer.halves(2 * h);
                    self.multiply(low, a0, b0)?;
                    self.multiply(high, a1, b1)?;
                    self.middle([low, high], [a0, a1], [b0, b1])?
                };
                let ([r_low, r_high], [low, high]) = (r.halves(h), outer.halves(h));
                self.sum(Operation::Add, r_low, &[low], None)?;
                self.sum(Operation::Add, r_high, &[high, Part::of(&middle)], None)
            }
        }
    }

    /// `a b` in memory of its own.
    fn product(self, a: Part<'_>, b: Part<'_>) -> Result<Buffer, Error> {
        let r = self.device.allocate(a.width() + b.width())?;
        self.multiply(Part::of(&r), a, b)?;
        Ok(r)
    }

    /// `a0 b1 + a1 b0`, of the products of the lower halves and of the upper ones.
    fn middle(
        self,
        outer: [Part<'_>; 2],
        a: [Part<'_>; 2],
        b: [Part<'_>; 2],
    ) -> Result<Buffer, Error> {
        let (product, is_negative) = {
            let (of_a, a_is_negative) = self.distance(a)?;
            if a.map(|a| a.limbs) == b.map(|b| b.limbs) {
                let of_a = Part::of(&of_a);
                (self.product(of_a, of_a)?, false)
            } else {
                let (of_b, b_is_negative) = self.distance(b)?;
                let product = self.product(Part::of(&of_a), Part::of(&of_b))?;
                (product, a_is_negative != b_is_negative)
            }
        };
        // Both terms are below `B^2`.
        let limbs = product.limbs() + 1;
        let [sum, middle] = [self.device.allocate(limbs)?, self.device.allocate(limbs)?];
        self.sum(Operation::Add, Part::of(&sum), &outer, None)?;
        let operation = match is_negative {
            true => Operation::Add,
            false => Operation::Sub,
        };
        let terms = [Part::of(&sum), Part::of(&product)];
        self.sum(operation, Part::of(&middle), &terms, None)?;
        Ok(middle)
    }

    /// The absolute difference of two numbers, the first no narrower, and whether it is
    /// negative. Waits for the device.
    fn distance(self, [x, y]: [Part<'_>; 2]) -> Result<(Buffer, bool), Error> {
        let difference = self.device.allocate(x.width())?;
        let borrow = self.device.allocate(1)?;
        let r = Part::of(&difference);
        self.sum(Operation::Sub, r, &[x, y], Some(&borrow))?;
        let mut is_negative = [0];
        self.device.download(&borrow, &mut is_negative)?;
        if is_negative != [0] {
            self.sum(Operation::Sub, r, &[y, x], None)?;
        }
        Ok((difference, is_negative != [0]))
    }

    /// The sum or difference of two numbers, or one number as it is, cut or extended to the
    /// result's width; the carry goes to `carry` if there is one.
    fn sum(
        self,
        operation: Operation,
        r: Part<'_>,
        operands: &[Part<'_>],
        carry: Option<&Buffer>,
    ) -> Result<(), Error> {
        let limbs: Vec<_> = operands.iter().map(|operand| operand.limbs).collect();
        let arguments = Arguments {
            carry: carry.map_or(0, Buffer::address),
            ..Arguments::of(&[r.limbs], &limbs)
        };
        let buffers: Vec<_> = operands.iter().map(|operand| operand.buffer).collect();
        let buffers: Vec<_> = buffers.into_iter().chain([r.buffer]).chain(carry).collect();
        add(self.device, operation, 1, arguments, &buffers)
    }
}
