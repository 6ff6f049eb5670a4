//! Multiplication by three products of half the width (Karatsuba; [Honda 2015]).
//!
//! With `a = a1 B^h + a0` and `b = b1 B^h + b0`,
//!
//! ```text
//! a b = a1 b1 B^2h + (a0 b0 + a1 b1 - (a0 - a1)(b0 - b1)) B^h + a0 b0
//! ```
//!
//! [`bigint_core::karatsuba`] explains the recursion, its scratch, and operands of unequal
//! length. Here the recursion is unrolled by types, as at thread level. Signs become masks and
//! never branches.
//!
//! Halves begin anywhere, so a lane reads limbs that other lanes wrote. Barriers separate the
//! parts.
//!
//! Cost: at least `(3/4)^DEPTH` of the products of Comba's method. The linear work is done on
//! scratch in device memory.

use super::comba;
use crate::gpu::memory::{Any, Number, Stride, Unit};
use crate::gpu::warp::Group;
use crate::warp::{LANES, add, sub};
use bigint_core::Limb;
use bigint_core::karatsuba::{DEPTH, Split, split};
use core::marker::PhantomData;

/// `r = a * b`, cut or zero-extended to the width of `r`. `scratch` has room for the whole
/// product and `bigint_core::karatsuba::scratch` limbs more.
#[inline(always)]
pub fn product<S: Stride>(
    group: Group<LANES>,
    r: Number<S>,
    a: Number<S>,
    b: Number<S>,
    scratch: Number<Unit>,
) {
    let width = a.width() + b.width();
    let p = scratch.part(0, width);
    let s = scratch.part(width, scratch.width());
    Whole::multiply(group, p, a.strided(), b.strided(), s);
    group.sync();
    let mut at = 0;
    while at < r.width() {
        let own = at + group.lane();
        r.set(own, p.limb(own));
        at += LANES;
    }
    // The next number's product uses the same scratch.
    group.sync();
}

/// A product that may be split [`DEPTH`] times.
type Whole = Halves<Halves<Base>>;
const _: () = assert!(Whole::DEPTH == DEPTH);

/// A level of the recursion, which computes the products of the level above.
trait Level {
    /// The number of splits that are left.
    const DEPTH: usize;

    /// `p = a * b` exactly; `p` has the limbs of both, `s` is scratch. Operands are complete
    /// when this is called; the product is complete after the next barrier.
    fn multiply(
        group: Group<LANES>,
        p: Number<Unit>,
        a: Number<Any>,
        b: Number<Any>,
        s: Number<Unit>,
    );
}

/// The end of the recursion: products by Comba's method.
struct Base;

impl Level for Base {
    const DEPTH: usize = 0;

    #[inline(always)]
    fn multiply(
        group: Group<LANES>,
        p: Number<Unit>,
        a: Number<Any>,
        b: Number<Any>,
        _: Number<Unit>,
    ) {
        comba::product(group, p, a, b);
    }
}

/// One split, whose products `Below` computes.
struct Halves<Below>(PhantomData<Below>);

impl<Below: Level> Level for Halves<Below> {
    const DEPTH: usize = Below::DEPTH + 1;

    #[inline(always)]
    fn multiply(
        group: Group<LANES>,
        p: Number<Unit>,
        a: Number<Any>,
        b: Number<Any>,
        s: Number<Unit>,
    ) {
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
        let mut subtract = 0;
        if products == 3 {
            // The middle product is subtracted if both signs are the same.
            subtract = 1 ^ magnitude(group, x, a0, a1) ^ magnitude(group, y, b0, b1);
            group.sync();
        }
        for step in 0..products {
            let (p, a, b) = match (plan, step) {
                (Split::Base, _) => (p, a, b),
                (Split::Two { .. }, 0) => (s.part(0, n - h + m), a1, b),
                (Split::Two { .. }, _) => (p.part(0, h + m), a0, b),
                (Split::Three { .. }, 0) => (s.part(0, 2 * h), x.strided(), y.strided()),
                (Split::Three { .. }, 1) => (p.part(0, 2 * h), a0, b0),
                (Split::Three { .. }, _) => (p.part(2 * h, n + m), a1, b1),
            };
            Below::multiply(group, p, a, b, s.part(2 * h + 1, s.width()));
            group.sync();
        }
        let upper = p.part(h, n + m);
        match plan {
            Split::Base => {}
            Split::Two { .. } => {
                add::number(group, upper, p.part(h, h + m), s.part(0, n - h + m));
            }
            Split::Three { .. } => {
                middle(group, s.part(0, 2 * h + 1), p, h, subtract);
                group.sync();
                add::number(group, upper, upper, s.part(0, 2 * h + 1));
            }
        }
    }
}

/// Sets `r` to `|x - y|`, and returns 1 if `x < y`, else 0.
///
/// A negative difference is complemented, and 1 is added. Other differences go through the same
/// steps with nothing to complement or add.
#[inline(always)]
fn magnitude(group: Group<LANES>, r: Number<Unit>, x: Number<Any>, y: Number<Any>) -> Limb {
    let negative = sub::number(group, r, x, y);
    let complement = negative.wrapping_neg();
    let mut carry = negative;
    let mut at = 0;
    while at < r.width() {
        let own = at + group.lane();
        let (limb, carries) = add::chunk(group, r.limb(own) ^ complement, 0, carry);
        r.set(own, limb);
        carry = (carries >> LANES) as Limb & 1;
        at += LANES;
    }
    negative
}

/// Sets `t` to `a0 b0 + a1 b1 - t` if `subtract` is 1, and to `a0 b0 + a1 b1 + t` if it is 0.
/// `p` holds the first two products.
///
/// Subtraction adds the complement of `t` and 1, cut to the width of `t`. The result is not
/// negative, and fits.
#[inline(always)]
fn middle(group: Group<LANES>, t: Number<Unit>, p: Number<Unit>, h: u32, subtract: Limb) {
    let (low, high) = (p.part(0, 2 * h), p.part(2 * h, p.width()));
    let product = t.part(0, 2 * h);
    let complement = subtract.wrapping_neg();
    let (mut carry, mut second_carry) = (0, subtract);
    let mut at = 0;
    while at < t.width() {
        let own = at + group.lane();
        let (sum, carries) = add::chunk(group, low.limb(own), high.limb(own), carry);
        carry = (carries >> LANES) as Limb & 1;
        let term = product.limb(own) ^ complement;
        let (limb, carries) = add::chunk(group, sum, term, second_carry);
        second_carry = (carries >> LANES) as Limb & 1;
        t.set(own, limb);
        at += LANES;
    }
}
