//! A prime field in a thread's registers: what a kernel of one's own computes with.
//!
//! [`Field`] is the field of the numbers modulo an odd prime `m` of `LIMBS` limbs, known at
//! compile time ([`Field::constant`]: the compiler has all of its limbs) or at run time
//! ([`Field::new`]); an [`Element`] is one of its numbers, in Montgomery's form
//! ([`crate::montgomery`] has the maths: `x R mod m` stands for `x`, `R` = `B^LIMBS`).
//!
//! ```text
//! const FIELD: Field<8> = Field::constant([0xfffffc2f, 0xfffffffe, ...]);
//!
//! let x = FIELD.element(montgomery::load(work.a, 0));
//! let y = FIELD.add(FIELD.mul(FIELD.square(x), x), FIELD.element([7, 0, 0, 0, 0, 0, 0, 0]));
//! montgomery::store(work.r, 0, FIELD.limbs(y));
//! ```
//!
//! Nothing branches on elements, and nothing is in memory; [`Field::pow`] and
//! [`Field::invert`] branch on the exponent and the modulus. `LIMBS` is 2, 4, 8, 12, 16, 24 or
//! 32; numbers of fewer limbs have zeros on top. What is modulo an odd number that is no
//! prime is right as well, but for inverses.
//!
//! Where all threads of a launch have one modulus, and it has six bits to spare, [`lazy`] is faster.
//!
//! Cost: a product `2 n^2 + n` multiply-adds, a square `1.5 (n^2 + n)`, sums and differences
//! none. No scratch.

pub mod lazy;

use crate::gpu::window::{Slide, Window};
use crate::montgomery::Modulus;
use bigint_core::{LIMB_BITS, Limb};

/// The numbers modulo an odd prime of at most `LIMBS` limbs.
#[derive(Clone, Copy)]
pub struct Field<const LIMBS: usize>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    modulus: Modulus<1, LIMBS>,
    /// `R mod m`: 1.
    one: [Limb; LIMBS],
    /// `R^2 mod m`: `R`.
    radix: [Limb; LIMBS],
}

/// A number of a [`Field`], less than its modulus, in Montgomery's form.
#[derive(Clone, Copy)]
pub struct Element<const LIMBS: usize>([Limb; LIMBS]);

impl<const LIMBS: usize> Field<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    /// The field of a modulus that the compiler is to know: all else is computed by it, too.
    pub const fn constant(modulus: [Limb; LIMBS]) -> Self {
        assert!(modulus[0] % 2 == 1, "the modulus of a field is odd");
        let mut one = [0; LIMBS];
        one[0] = 1;
        // 1 is no residue modulo 1, which is no field.
        let one = doubled(one, modulus, LIMBS * LIMB_BITS);
        Field {
            modulus: Modulus::of_limbs(modulus),
            one,
            radix: doubled(one, modulus, LIMBS * LIMB_BITS),
        }
    }
}

/// `x 2^times mod m`, `x` below `m`.
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
        let modulus = Modulus::of_limbs(modulus);
        let one = modulus.one();
        // 2^e for e from the top: that of `R` in the end.
        let exponent = (LIMBS * LIMB_BITS) as u32;
        let mut radix = modulus.sum(one, one);
        let mut left = exponent.ilog2();
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

    /// The element of a number, which may be any of `LIMBS` limbs.
    #[inline(always)]
    pub fn element(&self, number: [Limb; LIMBS]) -> Element<LIMBS> {
        Element(self.modulus.product(number, self.radix))
    }

    /// The number of an element, less than the modulus.
    #[inline(always)]
    pub fn limbs(&self, x: Element<LIMBS>) -> [Limb; LIMBS] {
        let mut plain = [0; LIMBS];
        plain[0] = 1;
        self.modulus.product(plain, x.0)
    }

    /// 0.
    #[inline(always)]
    pub fn zero(&self) -> Element<LIMBS> {
        Element([0; LIMBS])
    }

    /// 1.
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
        let (difference, borrow) = Window::<LIMBS>::subtract(a.0, b.0, 0);
        let mask = borrow.wrapping_neg();
        let again = self.modulus.limbs().map(|limb| limb & mask);
        Element(Window::<LIMBS>::add_digits(difference, again).0)
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

    /// `a / 2`: of `a` and `a + m` that which is even has a half.
    #[inline(always)]
    pub fn halve(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        let mask = (a.0[0] & 1).wrapping_neg();
        let odd = self.modulus.limbs().map(|limb| limb & mask);
        let (even, carry) = Window::<LIMBS>::add_digits(a.0, odd);
        let above = |i: usize| even.get(i + 1).copied().unwrap_or(carry);
        let mut half = [0; LIMBS];
        for (i, limb) in half.iter_mut().enumerate() {
            *limb = even[i] >> 1 | above(i) << (LIMB_BITS - 1);
        }
        Element(half)
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

    /// `a^e`, in time that depends on `e`, the same for all of a warp if `e` is: a square for
    /// each of its bits, and a product for each 1.
    #[inline(always)]
    pub fn pow(&self, a: Element<LIMBS>, e: [Limb; LIMBS]) -> Element<LIMBS> {
        let mut power = self.one();
        let mut left = (LIMBS * LIMB_BITS) as u32;
        while left > 0 {
            left -= 1;
            power = self.square(power);
            if bit(&e, left) == 1 {
                power = self.mul(power, a);
            }
        }
        power
    }

    /// `1 / a` where the modulus is a prime, by Fermat: `a^(m - 2)`; 0 where `a` is 0.
    #[inline(always)]
    pub fn invert(&self, a: Element<LIMBS>) -> Element<LIMBS> {
        let mut two = [0; LIMBS];
        two[0] = 2;
        self.pow(a, Window::<LIMBS>::subtract(self.modulus.limbs(), two, 0).0)
    }

    /// Whether `a` equals `b`.
    #[inline(always)]
    pub fn equal(&self, a: Element<LIMBS>, b: Element<LIMBS>) -> bool {
        let (difference, _) = Window::<LIMBS>::subtract(a.0, b.0, 0);
        Window::<LIMBS>::are_zero(difference)
    }
}

/// Bit `at`. (Told apart by an index, the limbs would be put in memory.)
#[inline(always)]
fn bit<const LIMBS: usize>(limbs: &[Limb; LIMBS], at: u32) -> Limb {
    let mut found = 0;
    for (i, limb) in limbs.iter().enumerate() {
        if i as u32 == at / LIMB_BITS as u32 {
            found = *limb;
        }
    }
    found >> (at % LIMB_BITS as u32) & 1
}
