//! The library's fields, as walks compute in them.

use crate::walk::Field;
use bigint_core::Limb;
use bigint_core::kernel::BLOCK;
use bigint_kernels::field::lazy::{self, Element};
use bigint_kernels::field::{self, OfLaunch, special};
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::shared::OfThreads;
use bigint_kernels::gpu::window::{Slide, Window};

/// Inverses.
pub trait Inverse<const LIMBS: usize>: Field<LIMBS> {
    /// The factor 1.
    fn one(&self) -> Self::Factor;

    /// The inverse of each thread's factor, of which `turn` chooses the warp that computes them.
    fn inverse_of_block(
        &self,
        team: Team<BLOCK>,
        room: OfThreads<LIMBS>,
        turn: u32,
        of: Self::Factor,
    ) -> Self::Factor;
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
        self.0.mul(a, b).widened()
    }

    #[inline(always)]
    fn square(&self, a: Self::Factor) -> Self::Factor {
        self.0.square(a).widened()
    }

    #[inline(always)]
    fn square_less(&self, s: Self::Factor, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS] {
        let (a, b): (Element<LIMBS, 1>, Element<LIMBS, 1>) =
            (Element::of_limbs(a), Element::of_limbs(b));
        let difference: Element<LIMBS, 4> = self.0.sub(self.0.square(s), self.0.add(a, b));
        self.0.reduce(difference).limbs()
    }

    #[inline(always)]
    fn product_more(&self, s: Self::Factor, t: Self::Factor, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        let a: Element<LIMBS, 1> = Element::of_limbs(a);
        let sum: Element<LIMBS, 3> = self.0.add(self.0.mul(s, t), a);
        self.0.reduce(sum).limbs()
    }

    #[inline(always)]
    fn negative(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        let negative: Element<LIMBS, 3> = self.0.neg(Element::of_limbs(a));
        self.0.reduce(negative).limbs()
    }
}

impl<const LIMBS: usize> Inverse<LIMBS> for Lazy<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn one(&self) -> Self::Factor {
        self.0.one().widened()
    }

    #[inline(always)]
    fn inverse_of_block(
        &self,
        team: Team<BLOCK>,
        room: OfThreads<LIMBS>,
        turn: u32,
        of: Self::Factor,
    ) -> Self::Factor {
        self.0.inverses_of_block(team, room, turn, of).widened()
    }
}

/// Modulo any odd prime, in Montgomery's form, all numbers less than it.
///
/// Cost in multiply-adds: as for [`Lazy`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Strict<const LIMBS: usize>(OfLaunch<LIMBS>);

impl<const LIMBS: usize> Strict<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn field(&self) -> field::Field<LIMBS> {
        field::Field::of_launch(&self.0)
    }
}

impl<const LIMBS: usize> Field<LIMBS> for Strict<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    type Factor = field::Element<LIMBS>;

    #[inline(always)]
    fn factor(&self, limbs: [Limb; LIMBS]) -> Self::Factor {
        field::Element::of_limbs(limbs)
    }

    #[inline(always)]
    fn limbs(&self, factor: Self::Factor) -> [Limb; LIMBS] {
        factor.limbs()
    }

    #[inline(always)]
    fn difference(&self, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> Self::Factor {
        self.field().sub(self.factor(a), self.factor(b))
    }

    #[inline(always)]
    fn product(&self, a: Self::Factor, b: Self::Factor) -> Self::Factor {
        self.field().mul(a, b)
    }

    #[inline(always)]
    fn square(&self, a: Self::Factor) -> Self::Factor {
        self.field().square(a)
    }

    #[inline(always)]
    fn square_less(&self, s: Self::Factor, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS] {
        let difference = self.field().sub(self.square(s), self.factor(a));
        self.field().sub(difference, self.factor(b)).limbs()
    }

    #[inline(always)]
    fn product_more(&self, s: Self::Factor, t: Self::Factor, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.field().add(self.product(s, t), self.factor(a)).limbs()
    }

    #[inline(always)]
    fn negative(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.field().neg(self.factor(a)).limbs()
    }
}

impl<const LIMBS: usize> Inverse<LIMBS> for Strict<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn one(&self) -> Self::Factor {
        self.field().one()
    }

    #[inline(always)]
    fn inverse_of_block(
        &self,
        team: Team<BLOCK>,
        room: OfThreads<LIMBS>,
        turn: u32,
        of: Self::Factor,
    ) -> Self::Factor {
        self.field().inverses_of_block(team, room, turn, of)
    }
}

/// Modulo the prime of secp256k1, `2^256 - 2^32 - 977`. Factors are any numbers below `2^256`.
///
/// Cost in multiply-adds: 73 for a product, 45 for a square.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(dead_code)] // The launch tells the prime, which the compiler knows.
pub struct Special([Limb; 8]);

const SECP256K1: special::Field<8, true> =
    special::Field::constant([!976, !1, !0, !0, !0, !0, !0, !0]);

impl Field<8> for Special {
    type Factor = special::Element<8>;

    #[inline(always)]
    fn factor(&self, limbs: [Limb; 8]) -> Self::Factor {
        special::Element::of_limbs(limbs)
    }

    #[inline(always)]
    fn limbs(&self, factor: Self::Factor) -> [Limb; 8] {
        factor.limbs()
    }

    #[inline(always)]
    fn difference(&self, a: [Limb; 8], b: [Limb; 8]) -> Self::Factor {
        SECP256K1.sub(self.factor(a), self.factor(b))
    }

    #[inline(always)]
    fn product(&self, a: Self::Factor, b: Self::Factor) -> Self::Factor {
        SECP256K1.mul(a, b)
    }

    #[inline(always)]
    fn square(&self, a: Self::Factor) -> Self::Factor {
        SECP256K1.square(a)
    }

    #[inline(always)]
    fn square_less(&self, s: Self::Factor, a: [Limb; 8], b: [Limb; 8]) -> [Limb; 8] {
        SECP256K1.limbs(SECP256K1.square_less(s, [self.factor(a), self.factor(b)]))
    }

    #[inline(always)]
    fn product_more(&self, s: Self::Factor, t: Self::Factor, a: [Limb; 8]) -> [Limb; 8] {
        SECP256K1.limbs(SECP256K1.mul_more(s, t, self.factor(a)))
    }

    #[inline(always)]
    fn negative(&self, a: [Limb; 8]) -> [Limb; 8] {
        SECP256K1.limbs(SECP256K1.neg(self.factor(a)))
    }
}

impl Inverse<8> for Special {
    #[inline(always)]
    fn one(&self) -> Self::Factor {
        SECP256K1.one()
    }

    #[inline(always)]
    fn inverse_of_block(
        &self,
        team: Team<BLOCK>,
        room: OfThreads<8>,
        turn: u32,
        of: Self::Factor,
    ) -> Self::Factor {
        SECP256K1.inverses_of_block(team, room, turn, of)
    }
}
