//! A prime field in a thread's registers, for kernels that users write.
//!
//! [`Field`] is the field of numbers modulo an odd prime `m` of `LIMBS` limbs. `m` is known at
//! compile time ([`Field::constant`]) or at run time ([`Field::new`]). An [`Element`] is one of its
//! numbers in Montgomery's form: `x R mod m` stands for `x`, where `R` = `B^LIMBS`.
//! [`crate::montgomery`] explains the maths.
//!
//! ```text
//! const FIELD: Field<8> = Field::constant([0xfffffc2f, 0xfffffffe, ...]);
//!
//! let x = FIELD.element(montgomery::load(work.a, 0));
//! let y = FIELD.add(FIELD.mul(FIELD.square(x), x), FIELD.element([7, 0, 0, 0, 0, 0, 0, 0]));
//! montgomery::store(work.r, 0, FIELD.limbs(y));
//! ```
//!
//! No branch depends on elements, and nothing is in memory. [`Field::pow`] and [`Field::invert`]
//! branch on the exponent and the modulus. `LIMBS` is 2, 4, 8, 12, 16, 24 or 32; numbers of fewer
//! limbs have zeros on top. Modulo an odd number that is no prime all results except inverses are
//! right too.
//!
//! If all threads of a launch have the same modulus, and it has six bits to spare, [`lazy`] is
//! faster.
//!
//! Cost: `2 n^2 + n` multiply-adds for a product, `1.5 (n^2 + n)` for a square, none for sums and
//! differences. No scratch.

pub mod lazy;

use crate::gpu::window::{Slide, Window};
use crate::montgomery::Modulus;
use bigint_core::{LIMB_BITS, Limb};

/// The field of numbers modulo an odd prime of at most `LIMBS` limbs.
#[derive(Clone, Copy)]
pub struct Field<const LIMBS: usize>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    modulus: Modulus<1, LIMBS>,
    /// The form of 1, `R mod m`.
    one: [Limb; LIMBS],
    /// The form of `R`, `R^2 mod m`.
    radix: [Limb; LIMBS],
}

/// A number of a [`Field`] in Montgomery's form, less than the modulus.
#[derive(Clone, Copy)]
pub struct Element<const LIMBS: usize>([Limb; LIMBS]);

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
        let modulus = Modulus::of_limbs(modulus);
        let one = modulus.one();
        // The form of 2^e, where e takes up the bits of the exponent of `R` from the top.
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

    /// The element of any number of `LIMBS` limbs.
    #[inline(always)]
    pub fn element(&self, number: [Limb; LIMBS]) -> Element<LIMBS> {
        Element(self.modulus.product(number, self.radix))
    }

    /// The number of an element, which is less than the modulus.
    #[inline(always)]
    pub fn limbs(&self, x: Element<LIMBS>) -> [Limb; LIMBS] {
        let mut plain = [0; LIMBS];
        plain[0] = 1;
        self.modulus.product(plain, x.0)
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

    /// `a / 2`: half of `a` or of `a + m`, whichever is even.
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

    /// `a^e`, in a time that depends on `e`: a square for each of its bits, and a product for
    /// each bit that is 1. If all threads of a warp have the same `e`, they take the same time.
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

    /// `1 / a`, which is `a^(m - 2)` by Fermat if the modulus is a prime. It is 0 if `a` is 0.
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

/// Bit `at` of a number. (Indexing would put the limbs in memory.)
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
