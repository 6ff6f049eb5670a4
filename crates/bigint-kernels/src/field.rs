//! Prime fields in registers, for kernels that users write.
//!
//! | field | modulus | products |
//! |---|---|---|
//! | [`Field::constant`] | odd, known to the compiler | below the modulus |
//! | [`Field::of_launch`] | odd, a parameter of the kernel, in constant memory | below it |
//! | [`Field::new`] | odd, each thread's own | below it |
//! | [`Field::by_lanes`] | odd, shared by 2 to 32 lanes of a warp: up to 1024 limbs | below it |
//! | [`lazy::Field`] | odd, with six bits to spare: any of the three | below twice the modulus |
//! | [`lazy::ByLanes`] | the same of a launch, shared by lanes | below twice the modulus |
//! | [`special::Field`] | `2^k - c` with a small `c`, known to the compiler | any number of so many limbs |
//!
//! An element of the first four is a number in Montgomery's form: `x R mod m` stands for `x`, where `R` = `B^LIMBS`
//! ([`crate::montgomery`] explains the maths). All fields have `add`, `sub`, `neg`, `mul_small`, `mul`, `square`, `select`,
//! `pow`, `invert` and `inverses` of up to eight elements; those of threads have `inverses_of_block`, too. Elements that
//! registers have no room for wait in [`slots`] of shared memory.
//!
//! ```text
//! const FIELD: Field<8> = Field::constant([0xfffffc2f, 0xfffffffe, ...]);
//!
//! let x = FIELD.element(montgomery::load(work.a, 0));
//! let y = FIELD.add(FIELD.mul(FIELD.square(x), x), FIELD.element([7, 0, 0, 0, 0, 0, 0, 0]));
//! montgomery::store(work.r, 0, FIELD.limbs(y));
//! ```
//!
//! Four lanes of a warp compute modulo 2048 bits by the same words, each with sixteen limbs of every number:
//!
//! ```text
//! // SAFETY: the kernel's launch is one at warp level, with these arguments, and its blocks call this once.
//! for work in unsafe { warp::Batches::<4, Unit>::new(&arguments) }.numbers() {
//!     let field = Field::<16, 4>::by_lanes(work.group, work.c);
//!     let x = field.element(montgomery::load(work.a, field.own()));
//!     montgomery::store(work.r, field.own(), field.limbs(field.square(x)));
//! }
//! ```
//!
//! The threads of a block share inverses, in shared memory for `OfThreads::<8>::BYTES`:
//!
//! ```text
//! // SAFETY: the block has `BLOCK` threads and that much shared memory, which nothing else uses.
//! let room = unsafe { OfThreads::new(0) };
//! for work in batches.numbers_in_step() {
//!     let x = FIELD.element(montgomery::load(work.a, 0));
//!     let inverse = FIELD.inverses_of_block(batches.team(), room, 0, x);
//!     montgomery::store(work.r, 0, FIELD.limbs(inverse));
//! }
//! ```
//!
//! No branch depends on elements, and nothing is in memory. `pow` and `invert` of a thread branch on the exponent and
//! the modulus. `LIMBS` is even, from 2 to 32; numbers of fewer limbs have zeros on top. Modulo an odd
//! number that is no prime all results except inverses are right too.
//!
//! Cost: `2 n^2 + n` multiply-adds for a product, `1.5 (n^2 + n)` for a square, none for sums and
//! differences; a lane takes a product for a square, and `2 n LIMBS + n` for `n` limbs in all. No scratch.

pub mod lazy;
pub mod powers;
pub mod slots;
pub mod special;

use crate::gpu::block::Team;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::shared::OfThreads;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::montgomery::Modulus;
use crate::squares::{carried, mask};
use bigint_core::kernel::BLOCK;
use bigint_core::{LIMB_BITS, Limb};

/// The field of numbers modulo an odd prime, of which each of `LANES` lanes has `LIMBS` limbs.
#[derive(Clone, Copy)]
pub struct Field<const LIMBS: usize, const LANES: u32 = 1>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    modulus: Modulus<LANES, LIMBS>,
    /// The form of 1, `R mod m`.
    one: [Limb; LIMBS],
    /// The form of `R`, `R^2 mod m`.
    radix: [Limb; LIMBS],
}

/// The modulus of a launch, as the host writes it into the kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OfLaunch<const LIMBS: usize> {
    modulus: [Limb; LIMBS],
    /// The number `R mod m`, with `R = B^LIMBS`.
    one: [Limb; LIMBS],
    /// The number `R^2 mod m`.
    radix: [Limb; LIMBS],
}

/// A number of a [`Field`] in Montgomery's form, less than the modulus; of lanes, the calling lane's limbs of it.
#[derive(Clone, Copy)]
pub struct Element<const LIMBS: usize>([Limb; LIMBS]);

impl<const LIMBS: usize> Element<LIMBS> {
    /// The element with this form, which is less than the modulus.
    #[inline(always)]
    pub const fn of_limbs(limbs: [Limb; LIMBS]) -> Self {
        Element(limbs)
    }

    /// The limbs of the element's form.
    #[inline(always)]
    pub const fn limbs(self) -> [Limb; LIMBS] {
        self.0
    }
}

impl<const LIMBS: usize> Field<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    /// The field of a modulus that is known to the compiler, which also computes all constants from
    /// it.
    pub const fn constant(modulus: [Limb; LIMBS]) -> Self {
        assert!(modulus[0] % 2 == 1, "the modulus of a field is odd");
        let mut one = [0; LIMBS];
        one[0] = 1;
        // Modulo 1, which is no field, 1 would be no residue.
        let one = doubled(one, modulus, LIMBS * LIMB_BITS);
        Field {
            modulus: Modulus::of_limbs(modulus),
            one,
            radix: doubled(one, modulus, LIMBS * LIMB_BITS),
        }
    }
}

/// `x 2^times mod m`, for `x` below `m`.
const fn doubled<const LIMBS: usize>(
    mut x: [Limb; LIMBS],
    m: [Limb; LIMBS],
    times: usize,
) -> [Limb; LIMBS] {
    let mut time = 0;
    while time < times {
        let mut less = [0; LIMBS];
        let (mut above, mut borrow, mut i) = (0, false, 0);
        while i < LIMBS {
            let twice = x[i] << 1 | above;
            above = x[i] >> (LIMB_BITS - 1);
            let (limb, under) = twice.overflowing_sub(m[i]);
            let again;
            (less[i], again) = limb.overflowing_sub(borrow as Limb);
            borrow = under | again;
            x[i] = twice;
            i += 1;
        }
        if above == 1 || !borrow {
            x = less;
        }
        time += 1;
    }
    x
}

impl<const LIMBS: usize> Field<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    /// The field of an odd modulus. Cost: some ten squares.
    #[inline(always)]
    pub fn new(modulus: [Limb; LIMBS]) -> Self {
        Field::of(Modulus::of_limbs(modulus))
    }

    /// The field of a launch's modulus. It costs nothing, and takes no registers.
    #[inline(always)]
    pub fn of_launch(
        OfLaunch {
            modulus,
            one,
            radix,
        }: &OfLaunch<LIMBS>,
    ) -> Self {
        Field {
            modulus: Modulus::of_limbs(*modulus),
            one: *one,
            radix: *radix,
        }
    }

    /// The inverse of an element of each thread of a block, which all compute modulo the same prime, by one inverse in
    /// each lane of one warp: that of number `turn` modulo 4. Blocks that take turns keep all parts of a
    /// multiprocessor busy. If one of the elements is 0, so are the inverses of three others.
    ///
    /// All threads of the block come here together. What `room` held is lost.
    ///
    /// Cost: nine products and an inverse for four threads, two barriers.
    #[inline(always)]
    pub fn inverses_of_block(
        &self,
        team: Team<BLOCK>,
        room: OfThreads<LIMBS>,
        turn: u32,
        x: Element<LIMBS>,
    ) -> Element<LIMBS> {
        Element(powers::inverses_of_block(self, (team, room, turn), x.0))
    }
}

impl<const LIMBS: usize, const LANES: u32> Field<LIMBS, LANES>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    /// The field of an odd modulus that the lanes of a group share, of at most `LANES LIMBS` limbs. Cost: some ten
    /// squares.
    #[inline(always)]
    pub fn by_lanes(group: Group<LANES>, modulus: Number<impl Stride>) -> Self {
        Field::of(Modulus::new(group, modulus))
    }

    #[inline(always)]
    fn of(modulus: Modulus<LANES, LIMBS>) -> Self {
        let one = modulus.one();
        // The form of 2^e, where e takes up the bits of the exponent of `R` from the top.
        let exponent = LIMB_BITS as u32 * modulus.limbs_of_r();
        let mut radix = modulus.sum(one, one);
        let mut left = 31 - exponent.leading_zeros();
        while left > 0 {
            left -= 1;
            radix = modulus.square(radix);
            if exponent >> left & 1 == 1 {
                radix = modulus.sum(radix, radix);
            }
        }
        Field {
            modulus,
            one,
            radix,
        }
    }

    /// The index of the calling lane's first limb: where it loads and stores its part of a number.
    #[inline(always)]
    pub fn own(&self) -> u32 {
        self.modulus.own()
    }

    /// A small number: the lowest limb is the first lane's.
    #[inline(always)]
    fn small(&self, limb: Limb) -> [Limb; LIMBS] {
        let mut limbs = [0; LIMBS];
        limbs[0] = limb & mask(self.modulus.group().lane() == 0);
        limbs
    }

    /// The element of any number of as many limbs as the modulus has.
    #[inline(always)]
    pub fn element(&self, number: [Limb; LIMBS]) -> Element<LIMBS> {
        Element(self.modulus.product(number, self.radix))
    }

    /// The number of an element, which is less than the modulus.
    #[inline(always)]
    pub fn limbs(&self, x: Element<LIMBS>) -> [Limb; LIMBS] {
        self.modulus.product(self.small(1), x.0)
    }

    /// The element 0.
    #[inline(always)]
    pub fn zero(&self) -> Element<LIMBS> {
        Element([0; LIMBS])
    }

    /// The element 1.
    #[inline(always)]
    pub fn one(&self) -> Element<LIMBS> {
        Element(self.one)
    }

    /// `a + b`.
    #[inline(always)]
    pub fn add(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> Element<LIMBS> {
        Element(self.modulus.sum(a.0, b.0))
    }

    /// `a - b`.
    #[inline(always)]
    pub fn sub(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> Element<LIMBS> {
        Element(self.modulus.less(a.0, b.0))
    }

    /// `-a`.
    #[inline(always)]
    pub fn neg(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        self.sub(self.zero(), a)
    }

    /// `2 a`.
    #[inline(always)]
    pub fn double(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        self.add(a, a)
    }

    /// `a / 2`: half of `a` or of `a + m`, whichever is even.
    #[inline(always)]
    pub fn halve(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        let group = self.modulus.group();
        let mask = (group.shuffle(a.0[0], 0) & 1).wrapping_neg();
        let odd = self.modulus.limbs().map(|limb| limb & mask);
        let (even, carry) = Window::<LIMBS>::add_digits(a.0, odd);
        let (even, carry) = carried(group, even, carry);
        let of_next = group.rotate_down(even[0]);
        let is_last = group.lane() + 1 == group.lanes();
        let next = if is_last { carry } else { of_next };
        let above = |i: usize| even.get(i + 1).copied().unwrap_or(next);
        let mut half = [0; LIMBS];
        for (i, limb) in half.iter_mut().enumerate() {
            *limb = even[i] >> 1 | above(i) << (LIMB_BITS - 1);
        }
        Element(half)
    }

    /// `S a`, by doublings and sums: at most two for each bit of `S`, which is at least 1.
    #[inline(always)]
    pub fn mul_small<const S: u32>(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        const { assert!(S > 0, "a factor of at least 1") }
        let (mut multiple, mut left) = (a, S.ilog2());
        while left > 0 {
            left -= 1;
            multiple = self.double(multiple);
            if S >> left & 1 == 1 {
                multiple = self.add(multiple, a);
            }
        }
        multiple
    }

    /// `a b`.
    #[inline(always)]
    pub fn mul(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> Element<LIMBS> {
        Element(self.modulus.product(a.0, b.0))
    }

    /// `a a`.
    #[inline(always)]
    pub fn square(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        Element(self.modulus.square(a.0))
    }

    /// `a` if `condition`, else `b`, without a branch.
    #[inline(always)]
    pub fn select(&self, condition: bool, a: Element<LIMBS>, b: Element<LIMBS>) -> Element<LIMBS> {
        Element(Window::<LIMBS>::select(mask(condition), a.0, b.0))
    }

    /// `a^e`, for an `e` of as many limbs as the modulus has. A thread takes a square for each bit of `e`, and a
    /// product for each that is 1: if all threads of a warp have the same `e`, they take the same time. Lanes, whose
    /// groups have exponents of their own, take both for each bit.
    #[inline(always)]
    pub fn pow(&self, a: Element<LIMBS>, e: [Limb; LIMBS]) -> Element<LIMBS> {
        if LANES == 1 {
            let is_zero = Window::<LIMBS>::are_zero(e);
            let power = powers::power(self, a.0, e);
            return self.select(is_zero, self.one(), Element(power));
        }
        let group = self.modulus.group();
        let (bits, mut lane) = (LIMB_BITS as u32, self.modulus.limbs_of_r() / LIMBS as u32);
        let mut power = self.one();
        while lane > 0 {
            lane -= 1;
            let mut at = LIMBS as u32;
            while at > 0 {
                at -= 1;
                let (word, mut left) = (group.shuffle(powers::limb(&e, at), lane), bits);
                while left > 0 {
                    left -= 1;
                    power = self.square(power);
                    power = self.select(word >> left & 1 == 1, self.mul(power, a), power);
                }
            }
        }
        power
    }

    /// `1 / a`, which is `a^(m - 2)` by Fermat if the modulus is a prime. It is 0 if `a` is 0.
    #[inline(always)]
    pub fn invert(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        let modulus = self.modulus.limbs();
        self.pow(a, self.modulus.difference(modulus, self.small(2)).0)
    }

    /// The inverses of up to eight elements, by one inverse and three products for each element but the first. If
    /// one of the elements is 0, all inverses are.
    #[inline(always)]
    pub fn inverses<const N: usize>(&self, of: [Element<LIMBS>; N]) -> [Element<LIMBS>; N] {
        powers::inverses(self, of.map(|x| x.0)).map(Element)
    }

    /// Whether `a` equals `b`.
    #[inline(always)]
    pub fn equal(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> bool {
        let (difference, _) = Window::<LIMBS>::subtract(a.0, b.0, 0);
        let is_zero = Window::<LIMBS>::are_zero(difference);
        match LANES {
            1 => is_zero,
            _ => self.modulus.group().ballot(!is_zero) == 0,
        }
    }
}

impl<const LIMBS: usize, const LANES: u32> powers::Limbs<LIMBS> for Field<LIMBS, LANES>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn product(&self, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.modulus.product(a, b)
    }

    #[inline(always)]
    fn square_of(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.modulus.square(a)
    }

    #[inline(always)]
    fn inverse(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.invert(Element(a)).0
    }
}
