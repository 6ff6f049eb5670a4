//! Numbers modulo a prime just below a power of two, `2^k - c`, that is known to the compiler: those of secp256k1,
//! of Curve25519, of Mersenne.
//!
//! With `n` limbs, `B^n` is `C = c B^n / 2^k` modulo the prime. So what is above `n` limbs, times `C`, is added to the
//! rest. `C` is below `2^33`, a limb and at most one bit. An [`Element`] is any number of `n` limbs, so a number has several
//! forms, as many as multiples of the prime are below `B^n`.
//!
//! By hand, with 100 in place of `B^n` and `C` = 3: 96 * 95 = 9120, 91 * 3 + 20 = 293, 2 * 3 + 93 = 99, and 9120 =
//! 94 * 97 + 2, which is 99 modulo 97.
//!
//! ```text
//! const FIELD: special::Field<8> = special::Field::constant([!18, !0, !0, !0, !0, !0, !0, !0 >> 1]);
//!
//! let x = FIELD.element(montgomery::load(work.a, 0));
//! montgomery::store(work.r, 0, FIELD.limbs(FIELD.square(x)));
//! ```
//!
//! No branch depends on elements, but in a field that says that its elements are `PUBLIC`: carries that hardly ever go far are
//! followed only where they do.
//!
//! Cost in multiply-adds: `n^2` for a product and `n (n + 1) / 2` for a square, and `n + 1` more to fold them.

use super::powers;
use crate::gpu::block::Team;
use crate::gpu::carry;
use crate::gpu::folding::{self, Folded};
use crate::gpu::shared::OfThreads;
use crate::gpu::triangle;
use crate::gpu::window::{Slide, Window};
use crate::squares::{each, mask};
use bigint_core::kernel::BLOCK;
use bigint_core::{LIMB_BITS, Limb};

/// The field of numbers modulo such a prime, of `LIMBS` limbs, an even number from 4 to 32. Where elements are `PUBLIC`, branches may depend on
/// them.
#[derive(Clone, Copy)]
pub struct Field<const LIMBS: usize, const PUBLIC: bool = false> {
    prime: [Limb; LIMBS],
    /// The lower limb of `C`.
    small: Limb,
    /// Whether `C` has a second limb, which is 1.
    has_limb: bool,
    /// The bits above the prime.
    spare: u32,
}

/// A number of a [`Field`]: any of `LIMBS` limbs.
#[derive(Clone, Copy)]
pub struct Element<const LIMBS: usize>([Limb; LIMBS]);

impl<const LIMBS: usize> Element<LIMBS> {
    /// The element of any number.
    #[inline(always)]
    pub const fn of_limbs(limbs: [Limb; LIMBS]) -> Self {
        Element(limbs)
    }

    /// The limbs of the element, a number that may be the prime or more.
    #[inline(always)]
    pub const fn limbs(self) -> [Limb; LIMBS] {
        self.0
    }
}

/// A number of up to 64 bits.
#[inline(always)]
fn short<const LIMBS: usize>(number: u64) -> [Limb; LIMBS] {
    each(|i| match i {
        0 => number as Limb,
        1 => (number >> LIMB_BITS) as Limb,
        _ => 0,
    })
}

/// The limbs, with a number in place of the two lowest.
#[inline(always)]
fn with_lowest<const LIMBS: usize>(mut limbs: [Limb; LIMBS], lowest: u64) -> [Limb; LIMBS] {
    limbs[0] = lowest as Limb;
    limbs[1] = (lowest >> LIMB_BITS) as Limb;
    limbs
}

/// The two lowest limbs.
#[inline(always)]
fn lowest<const LIMBS: usize>(limbs: [Limb; LIMBS]) -> u64 {
    u64::from(limbs[0]) | u64::from(limbs[1]) << LIMB_BITS
}

/// The same limbs, of which there are as many.
#[inline(always)]
fn same<const LIMBS: usize, const R: usize>(limbs: [Limb; LIMBS]) -> [Limb; R] {
    each(|i| limbs[i])
}

/// `a a`, the lower and the upper half.
#[inline(always)]
pub fn square<const LIMBS: usize>(a: [Limb; LIMBS]) -> [[Limb; LIMBS]; 2] {
    match LIMBS {
        8 => folding::square(same(a)).map(same),
        _ => triangle::square(a),
    }
}

/// `a b`, the lower and the upper half.
#[inline(always)]
pub fn product<const LIMBS: usize>(a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [[Limb; LIMBS]; 2]
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    rows(Window::of_product(a[0], b), a, b)
}

/// `a b + c`, the lower and the upper half.
#[inline(always)]
fn product_more<const LIMBS: usize>(
    a: [Limb; LIMBS],
    b: [Limb; LIMBS],
    c: [Limb; LIMBS],
) -> [[Limb; LIMBS]; 2]
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let mut window = Window::<LIMBS>::new(c);
    window.add_inside(a[0], b);
    rows(window, a, b)
}

/// The rows of a product after the first one, which is in the window.
#[inline(always)]
fn rows<const LIMBS: usize>(
    mut window: Window<LIMBS>,
    a: [Limb; LIMBS],
    b: [Limb; LIMBS],
) -> [[Limb; LIMBS]; 2]
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let mut lowest = window.lowest();
    let lower = each(|i| {
        if i > 0 {
            lowest = window.add_inside(a[i], b);
        }
        window.slide([0; 2]);
        lowest
    });
    [lower, window.sum().0]
}

impl<const LIMBS: usize, const PUBLIC: bool> Field<LIMBS, PUBLIC>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    /// The field of a prime of at most 31 bits less than `LIMBS` limbs.
    pub const fn constant(prime: [Limb; LIMBS]) -> Self {
        assert!(LIMBS >= 4, "a special prime has at least four limbs");
        let spare = prime[LIMBS - 1].leading_zeros();
        assert!(
            spare < 32,
            "a special prime fills its limbs but for some bits"
        );
        // `C` is minus the prime's greatest multiple by a power of two.
        let mut c = [0; LIMBS];
        let (mut i, mut below, mut carry) = (0, 0, true);
        while i < LIMBS {
            let above = (prime[i] as u64) << spare;
            (c[i], carry) = (!(above as Limb | below)).overflowing_add(carry as Limb);
            below = (above >> LIMB_BITS) as Limb;
            assert!(
                i == 0 || c[i] <= (i == 1) as Limb,
                "B^LIMBS modulo a special prime is below 2^33"
            );
            i += 1;
        }
        Field {
            prime,
            small: c[0],
            has_limb: c[1] == 1,
            spare,
        }
    }

    /// `C` where `bit` is 1, 0 where it is 0.
    #[inline(always)]
    fn c_if(&self, bit: Limb) -> u64 {
        (u64::from(self.small) | u64::from(self.has_limb) << LIMB_BITS)
            & u64::from(bit).wrapping_neg()
    }

    /// `sum + above B^LIMBS`, for an `above` of at most 34 bits.
    #[inline(always)]
    fn absorbed(&self, sum: [Limb; LIMBS], above: u64) -> [Limb; LIMBS] {
        // `C above` is less than 2^67.
        let (low, high) = (above & 0xffff_ffff, above >> LIMB_BITS);
        let lowest = low * u64::from(self.small);
        let mut again = short(lowest);
        if self.has_limb {
            let second = (lowest >> LIMB_BITS) + low + high * u64::from(self.small);
            again = each(|i| match i {
                0 => lowest as Limb,
                1 => second as Limb,
                2 => (second >> LIMB_BITS) as Limb + high as Limb,
                _ => 0,
            });
        }
        let (sum, carry) = Window::<LIMBS>::add_digits(sum, again);
        // After a carry the sum is less than 2^67.
        let c = self.c_if(carry);
        let four = [sum[0], sum[1], sum[2], sum[3]];
        let (four, _) = carry::add(four, [c as Limb, (c >> LIMB_BITS) as Limb, 0, 0], 0);
        each(|i| if i < 4 { four[i] } else { sum[i] })
    }

    /// Whether differences from a product are taken before what is above it is folded in ([`Folded`]).
    #[inline(always)]
    const fn has_folded(&self) -> bool {
        LIMBS == 8 && self.has_limb
    }

    /// `lower + C upper` less some numbers, at most three.
    #[inline(always)]
    fn folded_less<const N: usize>(
        &self,
        halves: [[Limb; LIMBS]; 2],
        less: [Element<LIMBS>; N],
    ) -> Element<LIMBS> {
        const { assert!(N <= 3, "the bound of what is above eight limbs") }
        // The steps are written out, as in a loop the limbs would have to be in memory.
        macro_rules! each {
            ($step:expr) => {
                less.first().map($step);
                less.get(1).map($step);
                less.get(2).map($step);
            };
        }
        if self.has_folded() {
            let mut folded = Folded::new([same(halves[0]), same(halves[1])], self.small);
            each!(|b| folded = folded.less(same(b.0)));
            return Element(same(match (PUBLIC, N) {
                (false, _) => folded.limbs(self.small),
                (true, 0) => folded.public_limbs::<true>(self.small),
                (true, _) => folded.public_limbs::<false>(self.small),
            }));
        }
        let mut rest = Element(self.folded(halves));
        each!(|b| rest = self.sub(rest, *b));
        rest
    }

    /// `lower + C upper`.
    #[inline(always)]
    fn folded(&self, [lower, upper]: [[Limb; LIMBS]; 2]) -> [Limb; LIMBS] {
        if self.has_folded() {
            return self.folded_less([lower, upper], []).0;
        }
        let mut window = Window::<LIMBS>::new(lower);
        // The sum is less than B^(LIMBS + 1), so that nothing is carried above the limb after the last.
        let (_, [carry, _]) = window.add_product(self.small, upper, [0; 2]);
        let (mut sum, above) = window.sum();
        let mut above = u64::from(above) + u64::from(carry);
        if self.has_limb {
            let moved = each(|i| if i == 0 { 0 } else { upper[i - 1] });
            let carry;
            (sum, carry) = Window::<LIMBS>::add_digits(sum, moved);
            above += u64::from(upper[LIMBS - 1]) + u64::from(carry);
        }
        self.absorbed(sum, above)
    }

    /// The element of any number.
    #[inline(always)]
    pub fn element(&self, number: [Limb; LIMBS]) -> Element<LIMBS> {
        Element(number)
    }

    /// The number of an element, which is less than the prime. Cost: a difference for each spare bit, and one.
    #[inline(always)]
    pub fn limbs(&self, x: Element<LIMBS>) -> [Limb; LIMBS] {
        let (mut x, mut left) = (x.0, self.spare + 1);
        if PUBLIC && self.spare == 0 && x[LIMBS - 1] < self.prime[LIMBS - 1] {
            return x;
        }
        while left > 0 {
            left -= 1;
            let multiple = each(|i| {
                let below = if i == 0 {
                    0
                } else {
                    u64::from(self.prime[i - 1])
                };
                ((u64::from(self.prime[i]) << LIMB_BITS | below) << left >> LIMB_BITS) as Limb
            });
            let (less, borrow) = Window::<LIMBS>::subtract(x, multiple, 0);
            x = Window::<LIMBS>::select(borrow.wrapping_neg(), x, less);
        }
        x
    }

    /// The element 0.
    #[inline(always)]
    pub fn zero(&self) -> Element<LIMBS> {
        Element([0; LIMBS])
    }

    /// The element 1.
    #[inline(always)]
    pub fn one(&self) -> Element<LIMBS> {
        Element(short(1))
    }

    /// `a + b`.
    #[inline(always)]
    pub fn add(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> Element<LIMBS> {
        let (sum, carry) = Window::<LIMBS>::add_digits(a.0, b.0);
        let (sum, carry) = Window::<LIMBS>::add_digits(sum, short(self.c_if(carry)));
        // After a second carry the sum is less than C.
        let least = lowest(sum).wrapping_add(self.c_if(carry));
        Element(with_lowest(sum, least))
    }

    /// `a - b`.
    #[inline(always)]
    pub fn sub(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> Element<LIMBS> {
        if PUBLIC && self.has_folded() {
            let difference = folding::public_difference(same(a.0), same(b.0), self.small);
            return Element(same(difference));
        }
        let (difference, borrow) = Window::<LIMBS>::subtract(a.0, b.0, 0);
        let c = short(self.c_if(borrow));
        let (difference, borrow) = Window::<LIMBS>::subtract(difference, c, 0);
        // After a second borrow the difference is B^LIMBS - C or more.
        let least = lowest(difference).wrapping_sub(self.c_if(borrow));
        Element(with_lowest(difference, least))
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

    /// `a / 2`: half of `a` or of `a` and the prime, whichever is even.
    #[inline(always)]
    pub fn halve(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        let odd = mask(a.0[0] & 1 == 1);
        let (even, above) = Window::<LIMBS>::add_digits(a.0, self.prime.map(|limb| limb & odd));
        Element(each(|i| {
            let next = if i + 1 < LIMBS { even[i + 1] } else { above };
            even[i] >> 1 | next << (LIMB_BITS - 1)
        }))
    }

    /// `S a`. Cost: `LIMBS + 1` multiply-adds.
    #[inline(always)]
    pub fn mul_small<const S: u32>(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        let mut window = Window::<LIMBS>::new([0; LIMBS]);
        let (_, [carry, _]) = window.add_product(S, a.0, [0; 2]);
        let (sum, above) = window.sum();
        Element(self.absorbed(sum, u64::from(above) + u64::from(carry)))
    }

    /// `a b`.
    #[inline(always)]
    pub fn mul(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> Element<LIMBS> {
        Element(self.folded(product(a.0, b.0)))
    }

    /// `a a`.
    #[inline(always)]
    pub fn square(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        Element(self.folded(square(a.0)))
    }

    /// `a b - c`, which takes less than both one after the other.
    #[inline(always)]
    pub fn mul_less(
        &self,
        a: Element<LIMBS>,
        b: Element<LIMBS>,
        c: Element<LIMBS>,
    ) -> Element<LIMBS> {
        self.folded_less(product(a.0, b.0), [c])
    }

    /// `a b + c`, which takes no longer than `a b`.
    #[inline(always)]
    pub fn mul_more(
        &self,
        a: Element<LIMBS>,
        b: Element<LIMBS>,
        c: Element<LIMBS>,
    ) -> Element<LIMBS> {
        Element(self.folded(product_more(a.0, b.0, c.0)))
    }

    /// `a a` less up to three numbers, which takes less than all one after the other.
    #[inline(always)]
    pub fn square_less<const N: usize>(
        &self,
        a: Element<LIMBS>,
        less: [Element<LIMBS>; N],
    ) -> Element<LIMBS> {
        self.folded_less(square(a.0), less)
    }

    /// `a^(2^times)`.
    #[inline(always)]
    fn squares(&self, mut a: Element<LIMBS>, times: u32) -> Element<LIMBS> {
        let mut done = 0;
        while done < times {
            a = self.square(a);
            done += 1;
        }
        a
    }

    /// `a` if `condition`, else `b`, without a branch.
    #[inline(always)]
    pub fn select(&self, condition: bool, a: Element<LIMBS>, b: Element<LIMBS>) -> Element<LIMBS> {
        Element(Window::<LIMBS>::select(mask(condition), a.0, b.0))
    }

    /// `a^e`: a square for each of its bits, and a product for each that is 1.
    #[inline(always)]
    pub fn pow(&self, a: Element<LIMBS>, e: [Limb; LIMBS]) -> Element<LIMBS> {
        let is_zero = Window::<LIMBS>::are_zero(e);
        let power = powers::power(self, a.0, e);
        self.select(is_zero, self.one(), Element(power))
    }

    /// `1 / a`, which is `a^(p - 2)` by Fermat. It is 0 if `a` is 0.
    ///
    /// The bits of `p - 2` are ones but for some of the lowest 64. They are taken by runs of ones and zeros:
    /// `a^(2^r - 1)` for a run of `r` ones comes by the bits of `r`, from `a^(2^j - 1)` to that of `2 j` and `2 j + 1`.
    ///
    /// Cost: a square for each bit, and some `2 log r` products for each run.
    #[inline(always)]
    pub fn invert(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        let (mut bits, mut left) = (lowest(self.prime).wrapping_sub(2), 64);
        let mut ones = (LIMBS * LIMB_BITS) as u32 - self.spare - 64;
        let mut power = a;
        let mut is_first = true;
        loop {
            // What of the run is in the lowest bits, which are not all ones.
            let here = (!bits).leading_zeros().min(left);
            (bits, left, ones) = (bits << here, left - here, ones + here);
            let (mut all, mut length) = (a, 1);
            let mut at = 31 - ones.leading_zeros();
            while at > 0 {
                at -= 1;
                all = self.mul(self.squares(all, length), all);
                length *= 2;
                if ones >> at & 1 == 1 {
                    all = self.mul(self.square(all), a);
                    length += 1;
                }
            }
            power = match is_first {
                true => all,
                false => self.mul(self.squares(power, ones), all),
            };
            is_first = false;
            let zeros = bits.leading_zeros().min(left);
            power = self.squares(power, zeros);
            (bits, left, ones) = (bits << zeros, left - zeros, 0);
            if left == 0 {
                return power;
            }
        }
    }

    /// The inverses of up to eight elements, by one inverse and three products for each element but the first. If
    /// one of the elements is 0, all inverses are.
    #[inline(always)]
    pub fn inverses<const N: usize>(&self, of: [Element<LIMBS>; N]) -> [Element<LIMBS>; N] {
        powers::inverses(self, of.map(|x| x.0)).map(Element)
    }

    /// The inverse of an element of each thread of a block, as
    /// [`Field::inverses_of_block`](super::Field::inverses_of_block) computes it.
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

    /// Whether `a` is 0. Cost: `2 LIMBS` operations for each multiple of a prime that has no or one spare bit; of
    /// others, that of [`limbs`](Self::limbs).
    #[inline(always)]
    pub fn is_zero(&self, a: Element<LIMBS>) -> bool {
        if self.spare > 1 {
            return Window::<LIMBS>::are_zero(self.limbs(a));
        }
        let (mut is_zero, mut k) = (false, 0);
        while k <= 1 << self.spare {
            let mut carry = 0;
            is_zero |= Window::<LIMBS>::are_zero(each(|i| {
                carry += u64::from(self.prime[i]) * k;
                let limb = carry as Limb;
                carry >>= LIMB_BITS;
                a.0[i] ^ limb
            }));
            k += 1;
        }
        is_zero
    }

    /// Whether `a` equals `b`.
    #[inline(always)]
    pub fn equal(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> bool {
        self.is_zero(self.sub(a, b))
    }
}

impl<const LIMBS: usize, const PUBLIC: bool> powers::Limbs<LIMBS> for Field<LIMBS, PUBLIC>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    #[inline(always)]
    fn product(&self, a: [Limb; LIMBS], b: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.folded(product(a, b))
    }

    #[inline(always)]
    fn square_of(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.folded(square(a))
    }

    #[inline(always)]
    fn inverse(&self, a: [Limb; LIMBS]) -> [Limb; LIMBS] {
        self.invert(Element(a)).0
    }
}
