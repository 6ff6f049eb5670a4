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
//! [`ByLanes`] computes by the same words where lanes of a warp share a number: each has a part of every number, and of the
//! modulus, in registers.
//!
//! A bound that is exceeded is a compile-time error. `LIMBS` is even, from 2 to 32. A modulus may also be known to the
//! compiler, or each thread's own.
//!
//! Cost: `2 n^2 + n` multiply-adds for a product, `1.5 (n^2 + n)` for a square, `2 n + 1` for
//! [`scale`](Field::scale), `n` for [`mul_small`](Field::mul_small). No scratch.

use super::powers;
use crate::gpu::block::Team;
use crate::gpu::shared::OfThreads;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::montgomery::Modulus;
use crate::squares::{carried, each, mask};
use bigint_core::kernel::BLOCK;
use bigint_core::{LIMB_BITS, Limb};

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

    /// The element, under a bound that is no lower.
    #[inline(always)]
    pub const fn widened<const R: u32>(self) -> Element<LIMBS, R> {
        const {
            assert!(
                BOUND <= R && R <= SPARE,
                "the bound of a number that is widened"
            )
        }
        Element(self.0)
    }
}

impl<const LIMBS: usize> Field<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    /// A modulus that is known to the compiler.
    pub const fn constant(modulus: [Limb; LIMBS]) -> Self {
        assert!(modulus[0] % 2 == 1, "the modulus of a field is odd");
        assert!(
            modulus[LIMBS - 1] >> 26 == 0,
            "six bits of a lazy field's modulus are spare"
        );
        let mut twice = [0; LIMBS];
        let (mut i, mut below) = (0, 0);
        while i < LIMBS {
            twice[i] = modulus[i] << 1 | below >> 31;
            below = modulus[i];
            i += 1;
        }
        Field { modulus, twice }
    }

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

    /// `R` in Montgomery's form: times it, a number becomes its own form. Cost: that of [`one`](Self::one), and some
    /// ten squares.
    #[inline(always)]
    pub fn radix(&self) -> Element<LIMBS, 2> {
        let one = self.one();
        // As in `super::Field`.
        let exponent = (LIMBS * LIMB_BITS) as u32;
        let mut radix: Element<LIMBS, 2> = self.add(one, one);
        let mut left = exponent.ilog2();
        while left > 0 {
            left -= 1;
            radix = self.square(radix);
            if exponent >> left & 1 == 1 {
                radix = self.reduce::<4>(self.add(radix, radix)).widened();
            }
        }
        radix
    }

    /// The number of an element, which is less than the modulus.
    #[inline(always)]
    pub fn limbs<const A: u32>(&self, a: Element<LIMBS, A>) -> [Limb; LIMBS] {
        let mut one = [0; LIMBS];
        one[0] = 1;
        // At most m.
        self.reduce(self.mul::<A, 1>(a, Element(one))).0
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

    /// [`mul`](Self::mul), where the second factor has a spare bit beside: in fewer instructions, with the same multiply-adds.
    #[inline(always)]
    pub fn mul_lean<const A: u32, const B: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, B>,
    ) -> Element<LIMBS, 2> {
        const {
            assert!(
                A * B <= SPARE && B <= SPARE / 2,
                "the bounds of a lean product"
            )
        }
        Element(self.modulus().lean_product(a.0, b.0))
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

    /// `-a`, computed as `2 m - a`.
    #[inline(always)]
    pub fn neg<const R: u32>(&self, a: Element<LIMBS, 2>) -> Element<LIMBS, R> {
        self.sub(Element::<LIMBS, 1>([0; LIMBS]), a)
    }

    /// `S a`, without a reduction. `S` is at least 1.
    #[inline(always)]
    pub fn mul_small<const S: u32, const A: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
    ) -> Element<LIMBS, R> {
        const { assert!(S * A <= R && R <= SPARE, "the bound of a multiple") }
        let mut window = Window::<LIMBS>::new([0; LIMBS]);
        window.multiply(S, a.0);
        Element(window.sum().0)
    }

    /// `a` if `condition`, else `b`, without a branch.
    #[inline(always)]
    pub fn select<const A: u32>(
        &self,
        condition: bool,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, A>,
    ) -> Element<LIMBS, A> {
        Element(Window::<LIMBS>::select(mask(condition), a.0, b.0))
    }

    /// `a^e`, for an `e` of at least 1: a square for each of its bits but the highest, and a product for each that is 1.
    /// If all threads of a warp have the same `e`, they take the same time.
    #[inline(always)]
    pub fn pow<const A: u32>(&self, a: Element<LIMBS, A>, e: [Limb; LIMBS]) -> Element<LIMBS, 8> {
        const { assert!(A <= 8, "the bound of a base") }
        Element(powers::power(self, a.0, e))
    }

    /// `1 / a`, which is `a^(m - 2)` by Fermat if the modulus is a prime above 3. It is 0 if `a` is 0.
    #[inline(always)]
    pub fn invert<const A: u32>(&self, a: Element<LIMBS, A>) -> Element<LIMBS, 2> {
        let mut two = [0; LIMBS];
        two[0] = 2;
        let e = Window::<LIMBS>::subtract(self.modulus, two, 0).0;
        // A prime above 3 less two has more bits than one, so that the power is a product.
        Element(self.pow(a, e).0)
    }

    /// The inverses of up to eight elements, by one inverse and three products for each element but the first. If
    /// one of the elements is 0, all inverses are.
    #[inline(always)]
    pub fn inverses<const A: u32, const N: usize>(
        &self,
        of: [Element<LIMBS, A>; N],
    ) -> [Element<LIMBS, 2>; N] {
        const { assert!(A <= 8, "the bound of numbers that are inverted") }
        powers::inverses(self, of.map(|x| x.0)).map(Element)
    }

    /// The inverse of an element of each thread of a block, as
    /// [`Field::inverses_of_block`](super::Field::inverses_of_block) computes it.
    #[inline(always)]
    pub fn inverses_of_block<const A: u32>(
        &self,
        team: Team<BLOCK>,
        room: OfThreads<LIMBS>,
        turn: u32,
        x: Element<LIMBS, A>,
    ) -> Element<LIMBS, 2> {
        const { assert!(A <= 8, "the bound of numbers that are inverted") }
        Element(powers::inverses_of_block(self, (team, room, turn), x.0))
    }

    /// `a` itself, less than the modulus: two elements are equal if and only if these are.
    #[inline(always)]
    pub fn reduce<const A: u32>(&self, a: Element<LIMBS, A>) -> Element<LIMBS, 1> {
        const { assert!(A <= 4, "the bound of a number that is reduced") }
        let below_twice = if A > 2 { less(a.0, self.twice) } else { a.0 };
        Element(less(below_twice, self.modulus))
    }
}

impl<const ALL: usize> Field<ALL> {
    /// The field for lanes that share numbers, each with `LIMBS` of `ALL` limbs.
    #[inline(always)]
    pub fn by_lanes<const LIMBS: usize, const LANES: u32>(
        &self,
        group: Group<LANES>,
    ) -> ByLanes<LIMBS, LANES>
    where
        Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
    {
        const { assert!(LIMBS * LANES as usize == ALL, "lanes have all limbs") }
        // Chosen and not indexed: parameters that differ between lanes would be read one by one.
        let own = each(|i| {
            let of_lanes = self.modulus.iter().skip(i).step_by(LIMBS).zip(0..);
            of_lanes.fold(0, |own, (&limb, lane)| {
                own | limb & mask(group.lane() == lane)
            })
        });
        ByLanes(Modulus::of_lane(group, own))
    }
}

/// The field of a launch's modulus for lanes that share numbers: an element is the calling lane's `LIMBS` limbs of one.
///
/// Lanes come to every operation together. Cost in each lane: `2 LANES n^2` multiply-adds for a product of `n = LIMBS` limbs,
/// for a square `1.5 LANES n^2` where two or four lanes share it.
#[derive(Clone, Copy)]
pub struct ByLanes<const LIMBS: usize, const LANES: u32>(Modulus<LANES, LIMBS>);

impl<const LIMBS: usize, const LANES: u32> ByLanes<LIMBS, LANES>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    /// The index of the calling lane's first limb.
    #[inline(always)]
    pub fn own(&self) -> u32 {
        self.0.own()
    }

    /// `a b`.
    #[inline(always)]
    pub fn mul<const A: u32, const B: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, B>,
    ) -> Element<LIMBS, 2> {
        const { assert!(A * B <= SPARE, "the bounds of a product") }
        Element(self.0.lazy_product(a.0, b.0))
    }

    /// `a a`.
    #[inline(always)]
    pub fn square<const A: u32>(&self, a: Element<LIMBS, A>) -> Element<LIMBS, 2> {
        const { assert!(A * A <= SPARE, "the bounds of a square") }
        Element(self.0.lazy_square(a.0))
    }

    /// `a s / 2^32`.
    #[inline(always)]
    pub fn scale<const A: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
        s: Limb,
    ) -> Element<LIMBS, R> {
        const { assert!(A < R && R <= SPARE, "the bound of a number that is scaled") }
        Element(self.0.scaled(a.0, s))
    }

    /// `a + b`.
    #[inline(always)]
    pub fn add<const A: u32, const B: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, B>,
    ) -> Element<LIMBS, R> {
        const { assert!(A + B <= R && R <= SPARE, "the bound of a sum") }
        let (limbs, carry) = Window::<LIMBS>::add_digits(a.0, b.0);
        Element(carried(self.0.group(), limbs, carry).0)
    }

    /// `a - b`, computed as `a - b + 2 m`.
    #[inline(always)]
    pub fn sub<const A: u32, const R: u32>(
        &self,
        a: Element<LIMBS, A>,
        b: Element<LIMBS, 2>,
    ) -> Element<LIMBS, R> {
        const { assert!(A + 2 <= R && R <= SPARE, "the bound of a difference") }
        // The modulus twice: its double would take registers.
        let (once, first) = Window::<LIMBS>::add_digits(a.0, self.0.limbs());
        let (twice, second) = Window::<LIMBS>::add_digits(once, self.0.limbs());
        let (above, _) = carried(self.0.group(), twice, first + second);
        Element(self.0.difference(above, b.0).0)
    }
}

/// Limbs are numbers below `8 m`.
impl<const LIMBS: usize> powers::Limbs<LIMBS> for Field<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn product(&self, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.mul::<8, 8>(Element(a), Element(b)).0
    }

    #[inline(always)]
    fn square_of(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.square::<8>(Element(a)).0
    }

    #[inline(always)]
    fn inverse(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.invert::<8>(Element(a)).0
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
