//! What both stages compute with: the lazy field of a thread, or that of lanes that share numbers.

use bigint_core::Limb;
use bigint_kernels::field::lazy::{ByLanes, Element, Field};
use bigint_kernels::gpu::window::{Slide, Window};

/// A [lazy field](bigint_kernels::field::lazy) in which the calling thread has `LIMBS` limbs of every number: all of them, or
/// the part of a lane.
pub trait Arithmetic<const LIMBS: usize>: Copy {
    /// The index of the first limb that the thread has.
    fn own(&self) -> u32;

    /// `a b`.
    fn mul<const A: u32, const B: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, B>,
    ) -> Element<LIMBS, 2>;

    /// `a b`, in fewer instructions where one thread has the number and there is a spare bit beside.
    fn mul_lean<const A: u32, const B: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, B>,
    ) -> Element<LIMBS, 2>;

    /// `-a`, as `2 m - a`.
    #[inline(always)]
    fn neg<const R: u32>(&self, a: Element<LIMBS, 2>) -> Element<LIMBS, R> {
        self.sub(Element::<LIMBS, 1>::of_limbs([0; LIMBS]), a)
    }

    /// `a a`.
    fn square<const A: u32>(&self, a: Element<LIMBS, A>) -> Element<LIMBS, 2>;

    /// `a s / 2^32`.
    fn scale<const A: u32, const R: u32>(&self, a: Element<LIMBS, A>, s: Limb)
    -> Element<LIMBS, R>;

    /// `a + b`.
    fn add<const A: u32, const B: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, B>,
    ) -> Element<LIMBS, R>;

    /// `a - b`.
    fn sub<const A: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, 2>,
    ) -> Element<LIMBS, R>;
}

/// Implements the operations by those of the field's own that have their names.
macro_rules! operations {
    ($lean:ident) => {
        #[inline(always)]
        fn mul_lean<const A: u32, const B: u32>(
            &self,
            a: Element<LIMBS, A>,
            b: Element<LIMBS, B>,
        ) -> Element<LIMBS, 2> {
            self.$lean(a, b)
        }

        #[inline(always)]
        fn mul<const A: u32, const B: u32>(
            &self,
            a: Element<LIMBS, A>,
            b: Element<LIMBS, B>,
        ) -> Element<LIMBS, 2> {
            self.mul(a, b)
        }

        #[inline(always)]
        fn square<const A: u32>(&self, a: Element<LIMBS, A>) -> Element<LIMBS, 2> {
            self.square(a)
        }

        #[inline(always)]
        fn scale<const A: u32, const R: u32>(
            &self,
            a: Element<LIMBS, A>,
            s: Limb,
        ) -> Element<LIMBS, R> {
            self.scale(a, s)
        }

        #[inline(always)]
        fn add<const A: u32, const B: u32, const R: u32>(
            &self,
            a: Element<LIMBS, A>,
            b: Element<LIMBS, B>,
        ) -> Element<LIMBS, R> {
            self.add(a, b)
        }

        #[inline(always)]
        fn sub<const A: u32, const R: u32>(
            &self,
            a: Element<LIMBS, A>,
            b: Element<LIMBS, 2>,
        ) -> Element<LIMBS, R> {
            self.sub(a, b)
        }
    };
}

impl<const LIMBS: usize> Arithmetic<LIMBS> for Field<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn own(&self) -> u32 {
        0
    }

    operations!(mul_lean);
}

impl<const LIMBS: usize, const LANES: u32> Arithmetic<LIMBS> for ByLanes<LIMBS, LANES>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn own(&self) -> u32 {
        self.own()
    }

    operations!(mul);
}
