//! The fields in a thread's registers.

use crate::curves::{Fold, OfSecp256k1};
use crate::shared::field::{Field as _, power};
use crate::walk::Field;
use bigint_core::Limb;
use bigint_kernels::field::lazy::{self, Element};
use bigint_kernels::gpu::memory::{Number, Stride};
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::Modulus;

/// The exponent of an inverse, `p - 2`: a number, and how many bits it has.
#[derive(Clone, Copy)]
pub struct Exponent<S> {
    pub number: Number<S>,
    pub bits: u32,
}

/// Inverses.
pub trait Inverse<const LIMBS: usize>: Field<LIMBS> {
    /// `1 / a = a^(p - 2)`, by a square for each bit of the exponent and a product for each that is 1. All
    /// threads have the same exponent.
    #[inline(always)]
    fn inverse(&self, a: Self::Factor, exponent: Exponent<impl Stride>) -> Self::Factor {
        let (mut power, mut at) = (a, exponent.bits - 1);
        while at > 0 {
            at -= 1;
            power = self.square(power);
            if exponent.number.limb(at / 32) >> (at % 32) & 1 == 1 {
                power = self.product(power, a);
            }
        }
        power
    }
}

/// Modulo a prime that leaves six bits free, in Montgomery's form.
///
/// Cost in multiply-adds: `2 n^2 + n` for a product, `1.5 (n^2 + n)` for a square.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Lazy<const LIMBS: usize>(lazy::Field<LIMBS>);

impl<const LIMBS: usize> Field<LIMBS> for Lazy<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    type Factor = Element<LIMBS, 3>;

    #[inline(always)]
    fn factor(&self, limbs: [Limb; LIMBS]) -> Self::Factor {
        Element::of_limbs(limbs)
    }

    #[inline(always)]
    fn limbs(&self, factor: Self::Factor) -> [Limb; LIMBS] {
        factor.limbs()
    }

    #[inline(always)]
    fn difference(&self, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> Self::Factor {
        let a: Element<LIMBS, 1> = Element::of_limbs(a);
        self.0.sub(a, Element::of_limbs(b))
    }

    #[inline(always)]
    fn product(&self, a: Self::Factor, b: Self::Factor) -> Self::Factor {
        Element::of_limbs(self.0.mul(a, b).limbs())
    }

    #[inline(always)]
    fn square(&self, a: Self::Factor) -> Self::Factor {
        Element::of_limbs(self.0.square(a).limbs())
    }

    #[inline(always)]
    fn square_less(
        &self,
        s: Self::Factor,
        a: [Limb; LIMBS],
        b: [Limb; LIMBS],
    ) -> [Limb; LIMBS] {
        let (a, b): (Element<LIMBS, 1>, Element<LIMBS, 1>) =
            (Element::of_limbs(a), Element::of_limbs(b));
        let difference: Element<LIMBS, 4> = self.0.sub(self.0.square(s), self.0.add(a, b));
        self.0.reduce(difference).limbs()
    }

    #[inline(always)]
    fn product_less(
        &self,
        s: Self::Factor,
        t: Self::Factor,
        a: [Limb; LIMBS],
    ) -> [Limb; LIMBS] {
        let difference: Element<LIMBS, 4> = self.0.sub(self.0.mul(s, t), Element::of_limbs(a));
        self.0.reduce(difference).limbs()
    }
}

impl<const LIMBS: usize> Inverse<LIMBS> for Lazy<LIMBS> where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>
{
}

/// Modulo any odd prime, in Montgomery's form, all numbers less than it.
///
/// Cost in multiply-adds: as for [`Lazy`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Strict<const LIMBS: usize>([Limb; LIMBS]);

impl<const LIMBS: usize> Strict<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn modulus(&self) -> Modulus<1, LIMBS> {
        Modulus::of_limbs(self.0)
    }
}

impl<const LIMBS: usize> Field<LIMBS> for Strict<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    type Factor = [Limb; LIMBS];

    #[inline(always)]
    fn factor(&self, limbs: [Limb; LIMBS]) -> [Limb; LIMBS] {
        limbs
    }

    #[inline(always)]
    fn limbs(&self, factor: [Limb; LIMBS]) -> [Limb; LIMBS] {
        factor
    }

    #[inline(always)]
    fn difference(&self, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS] {
        let (difference, borrow) = Window::<LIMBS>::subtract(a, b, 0);
        let mask = borrow.wrapping_neg();
        Window::<LIMBS>::add_digits(difference, self.0.map(|limb| limb & mask)).0
    }

    #[inline(always)]
    fn product(&self, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.modulus().product(a, b)
    }

    #[inline(always)]
    fn square(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.modulus().square(a)
    }

    #[inline(always)]
    fn square_less(
        &self,
        s: [Limb; LIMBS],
        a: [Limb; LIMBS],
        b: [Limb; LIMBS],
    ) -> [Limb; LIMBS] {
        self.difference(self.difference(self.square(s), a), b)
    }

    #[inline(always)]
    fn product_less(
        &self,
        s: [Limb; LIMBS],
        t: [Limb; LIMBS],
        a: [Limb; LIMBS],
    ) -> [Limb; LIMBS] {
        self.difference(self.product(s, t), a)
    }
}

impl<const LIMBS: usize> Inverse<LIMBS> for Strict<LIMBS> where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>
{
}

/// Modulo the prime of secp256k1, `2^256 - 2^32 - 977`, by the field of `bigint-curves`. Factors are any numbers below
/// `2^256`.
///
/// Cost in multiply-adds: 73 for a product, 45 for a square.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(dead_code)] // The launch tells the prime, which the compiler knows.
pub struct Special([Limb; 8]);

type Of = Fold<OfSecp256k1>;

impl Field<8> for Special {
    type Factor = [Limb; 8];

    #[inline(always)]
    fn factor(&self, limbs: [Limb; 8]) -> [Limb; 8] {
        limbs
    }

    #[inline(always)]
    fn limbs(&self, factor: [Limb; 8]) -> [Limb; 8] {
        factor
    }

    #[inline(always)]
    fn difference(&self, a: [Limb; 8], b: [Limb; 8]) -> [Limb; 8] {
        Of::sub(a, b)
    }

    #[inline(always)]
    fn product(&self, a: [Limb; 8], b: [Limb; 8]) -> [Limb; 8] {
        Of::mul(a, b)
    }

    #[inline(always)]
    fn square(&self, a: [Limb; 8]) -> [Limb; 8] {
        Of::square(a)
    }

    #[inline(always)]
    fn square_less(&self, s: [Limb; 8], a: [Limb; 8], b: [Limb; 8]) -> [Limb; 8] {
        Of::number(Of::sub(Of::sub(Of::square(s), a), b))
    }

    #[inline(always)]
    fn product_less(&self, s: [Limb; 8], t: [Limb; 8], a: [Limb; 8]) -> [Limb; 8] {
        Of::number(Of::sub(Of::mul(s, t), a))
    }
}

impl Inverse<8> for Special {
    /// `p - 2` is, in runs of ones and zeros, `[ones, zeros]` of each, what stands below: 255 squares, 14 products.
    #[inline(always)]
    fn inverse(&self, a: [Limb; 8], _: Exponent<impl Stride>) -> [Limb; 8] {
        power::<Of, 5>(a, [[223, 1], [22, 4], [1, 1], [2, 1], [1, 0]])
    }
}
