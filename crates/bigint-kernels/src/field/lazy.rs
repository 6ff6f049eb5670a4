//! Numbers modulo an odd number that is the same for a whole launch, reduced as late as possible.
//!
//! All threads compute modulo the same number `m`, which is a parameter of the kernel. Parameters are in
//! constant memory, from which multiply-adds can take an operand, so the modulus takes no registers. As
//! `R = B^LIMBS > 64 m`, six bits are spare. The type of an [`Element`] says that it is below `BOUND m`.
//! The product of `a < x m` and `b < y m` with `x y <= 64` is below `(64 m m + R m) / R < 2 m` without a
//! subtraction at its end. Sums and differences need none either.
//!
//! ```text
//! let sum: Element<8, 4> = field.add(x, y);            // x, y below 2 m
//! let difference: Element<8, 4> = field.sub(x, y);     // x - y + 2 m
//! let product = field.mul(sum, difference);            // 4 * 4 <= 64: below 2 m
//! ```
//!
//! By hand, with `R` = 1000 and `m` = 7: 4, which is below 7, times 27, which is below 28, is 108. As
//! 108 + 556 * 7 = 4000, the product is 4, and indeed 4 times 1000 is 108 modulo 7.
//!
//! A bound that is exceeded is a compile-time error. `LIMBS` is 4, 8, 12, 16, 24 or 32.
//!
//! Cost: `2 n^2 + n` multiply-adds for a product, `1.5 (n^2 + n)` for a square, `2 n + 1` for
//! [`scale`](Field::scale). No scratch.

use crate::gpu::window::{Slide, Window};
use crate::montgomery::Modulus;
use bigint_core::Limb;

/// The greatest product of bounds.
pub const SPARE: u32 = 64;

/// A modulus as the host writes it into the parameters of a launch: its limbs, then those of its double.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Field<const LIMBS: usize> {
    modulus: [Limb; LIMBS],
    twice: [Limb; LIMBS],
}

/// A number in Montgomery's form, below `BOUND` times the modulus.
#[derive(Clone, Copy)]
pub struct Element<const LIMBS: usize, const BOUND: u32>([Limb; LIMBS]);

impl<const LIMBS: usize, const BOUND: u32> Element<LIMBS, BOUND> {
    /// The element with these limbs, which are a number below `BOUND` times the modulus.
    #[inline(always)]
    pub const fn of_limbs(limbs: [Limb; LIMBS]) -> Self {
        Element(limbs)
    }

    /// The limbs of the element, a number that may be the modulus or more.
    #[inline(always)]
    pub const fn limbs(self) -> [Limb; LIMBS] {
        self.0
    }
}

impl<const LIMBS: usize> Field<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    /// A thread's own modulus, which is odd and has six spare bits: it and its double are in registers.
    #[inline(always)]
    pub fn of_modulus(modulus: [Limb; LIMBS]) -> Self {
        Field {
            modulus,
            twice: Window::<LIMBS>::add_digits(modulus, modulus).0,
        }
    }

    /// 1 in Montgomery's form, of a modulus above 1. Cost: `32 LIMBS` sums and differences.
    #[inline(always)]
    pub fn one(&self) -> Element<LIMBS, 1> {
        let mut limbs = [0; LIMBS];
        limbs[0] = 1;
        let mut one: Element<LIMBS, 1> = Element(limbs);
        let mut left = 32 * LIMBS as u32;
        while left > 0 {
            one = self.reduce::<2>(self.add(one, one));
            left -= 1;
        }
        one
    }

    #[inline(always)]
    fn modulus(&self) -> Modulus<1, LIMBS> {
        Modulus::of_limbs(self.modulus)
    }

    /// `a b`.
    #[inline(always)]
    pub fn mul<const A: u32, const B: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, B>,
    ) -> Element<LIMBS, 2> {
        const { assert!(A * B <= SPARE, "the bounds of a product") }
        Element(self.modulus().lazy_product(a.0, b.0))
    }

    /// `a a`.
    #[inline(always)]
    pub fn square<const A: u32>(&self, a: Element<LIMBS, A>) -> Element<LIMBS, 2> {
        const { assert!(A * A <= SPARE, "the bounds of a square") }
        Element(self.modulus().lazy_square(a.0))
    }

    /// `a s / 2^32`.
    #[inline(always)]
    pub fn scale<const A: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
        s: Limb,
    ) -> Element<LIMBS, R> {
        const { assert!(A < R && R <= SPARE, "the bound of a number that is scaled") }
        Element(self.modulus().scaled(a.0, s))
    }

    /// `a + b`.
    #[inline(always)]
    pub fn add<const A: u32, const B: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, B>,
    ) -> Element<LIMBS, R> {
        const { assert!(A + B <= R && R <= SPARE, "the bound of a sum") }
        Element(Window::<LIMBS>::add_digits(a.0, b.0).0)
    }

    /// `a - b`, computed as `a - b + 2 m`.
    #[inline(always)]
    pub fn sub<const A: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, 2>,
    ) -> Element<LIMBS, R> {
        const { assert!(A + 2 <= R && R <= SPARE, "the bound of a difference") }
        let above = Window::<LIMBS>::add_digits(a.0, self.twice).0;
        Element(Window::<LIMBS>::subtract(above, b.0, 0).0)
    }

    /// `a` itself, less than the modulus: two elements are equal if and only if these are.
    #[inline(always)]
    pub fn reduce<const A: u32>(&self, a: Element<LIMBS, A>) -> Element<LIMBS, 1> {
        const { assert!(A <= 4, "the bound of a number that is reduced") }
        let below_twice = if A > 2 { less(a.0, self.twice) } else { a.0 };
        Element(less(below_twice, self.modulus))
    }
}

/// `a - b`, or `a` if it is less than `b`.
#[inline(always)]
fn less<const LIMBS: usize>(a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS]
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let (difference, borrow) = Window::<LIMBS>::subtract(a, b, 0);
    Window::<LIMBS>::select(borrow.wrapping_neg(), a, difference)
}
