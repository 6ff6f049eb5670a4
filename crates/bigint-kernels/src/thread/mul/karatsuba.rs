//! Multiplication by three products of half the width (Karatsuba; [Honda 2015],
//! [Carlessi and Kashani 2013]).
//!
//! With `a = a1 B^h + a0` and `b = b1 B^h + b0`,
//!
//! ```text
//! a b = a1 b1 B^2h + (a0 b0 + a1 b1 - (a0 - a1)(b0 - b1)) B^h + a0 b0
//! ```
//!
//! [`bigint_core::karatsuba`] explains the recursion, its scratch, and operands of unequal
//! length. Here the recursion is unrolled by types: each level is a loop over its two or three
//! products, whose body is the level below. So there is one copy of each level's code, and no
//! call.
//!
//! Cost: at least `(3/4)^DEPTH` of the products of Comba's method. The linear work is done on
//! scratch in device memory.

use super::comba;
use crate::gpu::memory::{Any, Number, Stride};
use crate::thread::{add, sub};
use bigint_core::karatsuba::{DEPTH, Split, split};
use bigint_core::{LIMB_BITS, Limb};
use core::marker::PhantomData;

/// `r = a * b`, cut or zero-extended to the width of `r`. `scratch` has room for the whole
/// product and `bigint_core::karatsuba::scratch` limbs more.
#[inline(always)]
pub fn product<S: Stride>(r: Number<S>, a: Number<S>, b: Number<S>, scratch: Number<Any>) {
    let width = a.width() + b.width();
    let p = scratch.part(0, width);
    let s = scratch.part(width, scratch.width());
    Whole::multiply(p, a.strided(), b.strided(), s);
    let mut at = 0;
    while at < r.width() {
        r.set(at, p.limb(at));
        at += 1;
    }
}

/// A product that may be split [`DEPTH`] times.
type Whole = Halves<Halves<Base>>;
const _: () = assert!(Whole::DEPTH == DEPTH);

/// A level of the recursion, which computes the products of the level above.
trait Level {
    /// The number of splits that are left.
    const DEPTH: usize;

    /// `p = a * b` exactly; `p` has the limbs of both, `s` is scratch.
    fn multiply(p: Number<Any>, a: Number<Any>, b: Number<Any>, s: Number<Any>);
}

/// The end of the recursion: products by Comba's method.
struct Base;

impl Level for Base {
    const DEPTH: usize = 0;

    #[inline(always)]
    fn multiply(p: Number<Any>, a: Number<Any>, b: Number<Any>, _: Number<Any>) {
        comba::product(p, a, b);
    }
}

/// One split, whose products `Below` computes.
struct Halves<Below>(PhantomData<Below>);

impl<Below: Level> Level for Halves<Below> {
    const DEPTH: usize = Below::DEPTH + 1;

    #[inline(always)]
    fn multiply(p: Number<Any>, a: Number<Any>, b: Number<Any>, s: Number<Any>) {
        let (a, b) = if a.width() < b.width() {
            (b, a)
        } else {
            (a, b)
        };
        let (n, m) = (a.width(), b.width());
        let plan = split(n as usize, m as usize, Self::DEPTH);
        let (h, products) = match plan {
            Split::Base => (n, 1),
            Split::Two { half } => (half as u32, 2),
            Split::Three { half } => (half as u32, 3),
        };
        let (a0, a1) = (a.part(0, h), a.part(h, n));
        let (b0, b1) = (b.part(0, h), b.part(h, m));
        let (x, y) = (p.part(0, h), p.part(h, 2 * h));
        let mut same_sign = true;
        if products == 3 {
            same_sign = magnitude(x, a0, a1) == magnitude(y, b0, b1);
        }
        for step in 0..products {
            let (p, a, b) = match (plan, step) {
                (Split::Base, _) => (p, a, b),
                (Split::Two { .. }, 0) => (s.part(0, n - h + m), a1, b),
                (Split::Two { .. }, _) => (p.part(0, h + m), a0, b),
                (Split::Three { .. }, 0) => (s.part(0, 2 * h), x, y),
                (Split::Three { .. }, 1) => (p.part(0, 2 * h), a0, b0),
                (Split::Three { .. }, _) => (p.part(2 * h, n + m), a1, b1),
            };
            Below::multiply(p, a, b, s.part(2 * h + 1, s.width()));
        }
        let upper = p.part(h, n + m);
        match plan {
            Split::Base => {}
            Split::Two { .. } => {
                add::number(upper, p.part(h, h + m), s.part(0, n - h + m));
            }
            Split::Three { .. } => {
                middle(s.part(0, 2 * h + 1), p, h, same_sign);
                add::number(upper, upper, s.part(0, 2 * h + 1));
            }
        }
    }
}

/// Sets `r` to `|x - y|`, and returns whether `x < y`.
#[inline(always)]
fn magnitude(r: Number<Any>, x: Number<Any>, y: Number<Any>) -> bool {
    let negative = sub::number(r, x, y) != 0;
    if negative {
        // A part without limbs reads as zero.
        sub::number(r, r.part(0, 0), r);
    }
    negative
}

/// Sets `t` to `a0 b0 + a1 b1 - t`, or to `a0 b0 + a1 b1 + t` if the differences have unequal
/// signs. `p` holds the first two products.
///
/// Subtraction adds the complement of `t` and 1, cut to the width of `t`. The result is not
/// negative, and fits.
#[inline(always)]
fn middle(t: Number<Any>, p: Number<Any>, h: u32, subtract: bool) {
    let (low, high) = (p.part(0, 2 * h), p.part(2 * h, p.width()));
    let product = t.part(0, 2 * h);
    let complement = if subtract { Limb::MAX } else { 0 };
    let mut carry = u64::from(subtract);
    let mut at = 0;
    while at < t.width() {
        let sum = u64::from(low.limb(at))
            + u64::from(high.limb(at))
            + u64::from(product.limb(at) ^ complement)
            + carry;
        t.set(at, sum as Limb);
        carry = sum >> LIMB_BITS;
        at += 1;
    }
}
