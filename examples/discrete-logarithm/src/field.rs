//! The fields on the processor, in words of 64 bits. Numbers have the forms that they have on the device.

use bigint_curves::host::fold::{Fold, OfSecp256k1, Special as _};
use bigint_curves::host::words::{self, Words, add_word, multiply_word};
use bigint_curves::shared::field::{Field as _, power};
use num_bigint::BigUint;

use crate::walk;

/// A field of which there is a kernel.
pub trait Field<const LIMBS: usize>:
    walk::Field<LIMBS, Factor = Words> + Clone + Send + Sync + 'static
{
    /// The form of a number.
    fn form(&self, number: &BigUint) -> [u32; LIMBS];

    /// The number of a form.
    fn number(&self, form: [u32; LIMBS]) -> BigUint;

    /// `1 / a`, or 0 for 0.
    fn inverse(&self, a: Words) -> Words;

    /// The factor 1.
    fn one(&self) -> Words;

    /// The kernel that walks in this field.
    fn kernel(&self) -> &'static str;

    /// The prime.
    fn prime(&self) -> &BigUint;

    /// What a launch tells of the field: as many limbs as [`kernel`](Field::kernel) takes.
    fn scalars(&self) -> Vec<u32>;
}

/// The lowest limbs of a number.
pub fn limbs<const LIMBS: usize>(number: &BigUint) -> [u32; LIMBS] {
    let digits = number.to_u32_digits();
    std::array::from_fn(|i| digits.get(i).copied().unwrap_or(0))
}

/// Limbs as words.
fn of_limbs<const LIMBS: usize>(limbs: [u32; LIMBS]) -> Words {
    let limb = |i: usize| u64::from(limbs.get(i).copied().unwrap_or(0));
    std::array::from_fn(|i| limb(2 * i) | limb(2 * i + 1) << 32)
}

/// Words as limbs.
fn to_limbs<const LIMBS: usize>(words: Words) -> [u32; LIMBS] {
    std::array::from_fn(|i| (words[i / 2] >> (32 * (i % 2))) as u32)
}

/// Numbers modulo an odd prime that is known at run time, in Montgomery's form, which `bigint-curves` has for primes that
/// the compiler knows: `R = 2^(32 LIMBS)`.
///
/// Cost: `2 n^2 + n` products of words, for `n = LIMBS / 2`.
#[derive(Clone, Debug)]
pub struct Montgomery<const LIMBS: usize> {
    p: BigUint,
    m: Words,
    /// `-1/m` modulo `2^64`.
    inverse: u64,
    /// `R` modulo `m`.
    one: Words,
}

impl<const LIMBS: usize> Montgomery<LIMBS> {
    /// Words of a number.
    const WORDS: usize = LIMBS / 2;

    /// Modulo `p`.
    pub fn new(p: &BigUint) -> Self {
        let m = of_limbs(limbs::<LIMBS>(p));
        let mut inverse = m[0];
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(m[0].wrapping_mul(inverse)));
        }
        let one = (BigUint::from(1u8) << (32 * LIMBS)) % p;
        Montgomery {
            p: p.clone(),
            m,
            inverse: inverse.wrapping_neg(),
            one: of_limbs(limbs::<LIMBS>(&one)),
        }
    }

    /// `number + carry R`, which is less than `2 m`, modulo `m`.
    fn reduced(&self, number: Words, carry: u64) -> Words {
        let (less, borrow) = words::subtract(number, self.m);
        words::select((borrow & !carry).wrapping_neg(), number, less)
    }

    /// `a - b`.
    fn sub(&self, a: Words, b: Words) -> Words {
        let (difference, borrow) = words::subtract(a, b);
        let again = self.m.map(|word| word & borrow.wrapping_neg());
        words::add(difference, again).0
    }
}

impl<const LIMBS: usize> walk::Field<LIMBS> for Montgomery<LIMBS> {
    type Factor = Words;

    fn factor(&self, limbs: [u32; LIMBS]) -> Words {
        of_limbs(limbs)
    }

    fn limbs(&self, factor: Words) -> [u32; LIMBS] {
        to_limbs(factor)
    }

    fn difference(&self, a: [u32; LIMBS], b: [u32; LIMBS]) -> Words {
        self.sub(of_limbs(a), of_limbs(b))
    }

    #[inline]
    fn product(&self, a: Words, b: Words) -> Words {
        let n = Self::WORDS;
        let (mut t, mut above) = ([0; 4], 0);
        for &word in &a[..n] {
            let mut carry = 0;
            for i in 0..n {
                (t[i], carry) = multiply_word(t[i], word, b[i], carry);
            }
            let (top, over) = add_word(above, carry, 0);
            let q = t[0].wrapping_mul(self.inverse);
            (_, carry) = multiply_word(t[0], q, self.m[0], 0);
            for i in 1..n {
                (t[i - 1], carry) = multiply_word(t[i], q, self.m[i], carry);
            }
            (t[n - 1], carry) = add_word(top, carry, 0);
            above = over + carry;
        }
        self.reduced(t, above)
    }

    fn square(&self, a: Words) -> Words {
        self.product(a, a)
    }

    fn square_less(&self, s: Words, a: [u32; LIMBS], b: [u32; LIMBS]) -> [u32; LIMBS] {
        let difference = self.sub(self.square(s), of_limbs(a));
        to_limbs(self.sub(difference, of_limbs(b)))
    }

    fn product_more(&self, s: Words, t: Words, a: [u32; LIMBS]) -> [u32; LIMBS] {
        to_limbs(self.sub(self.product(s, t), self.sub([0; 4], of_limbs(a))))
    }

    fn negative(&self, a: [u32; LIMBS]) -> [u32; LIMBS] {
        to_limbs(self.sub([0; 4], of_limbs(a)))
    }
}

impl<const LIMBS: usize> Field<LIMBS> for Montgomery<LIMBS> {
    fn form(&self, number: &BigUint) -> [u32; LIMBS] {
        limbs(&((number << (32 * LIMBS)) % &self.p))
    }

    fn number(&self, form: [u32; LIMBS]) -> BigUint {
        let plain = walk::Field::product(self, of_limbs(form), [1, 0, 0, 0]);
        BigUint::from_slice(&to_limbs::<LIMBS>(plain))
    }

    fn inverse(&self, a: Words) -> Words {
        // By Fermat, `a^(p - 2)`.
        let exponent = &self.p - 2u8;
        let mut power = self.one;
        for bit in (0..exponent.bits()).rev() {
            power = walk::Field::square(self, power);
            if exponent.bit(bit) {
                power = walk::Field::product(self, power, a);
            }
        }
        power
    }

    fn one(&self) -> Words {
        self.one
    }

    fn kernel(&self) -> &'static str {
        /// Bits that a prime leaves free for the lazy kernels.
        const SPARE: u64 = 6;
        match LIMBS {
            4 => "walk_lazy_4",
            _ if self.p.bits() + SPARE <= 256 => "walk_lazy_8",
            _ => "walk_strict_8",
        }
    }

    fn prime(&self) -> &BigUint {
        &self.p
    }

    fn scalars(&self) -> Vec<u32> {
        let limbs = |number: &BigUint| limbs::<LIMBS>(number).to_vec();
        let modulus = limbs(&self.p);
        let one = (BigUint::from(1u8) << (32 * LIMBS)) % &self.p;
        match self.kernel() {
            "walk_strict_8" => [modulus, limbs(&one), limbs(&(&one * &one % &self.p))].concat(),
            _ => [modulus, limbs(&(&self.p << 1u8))].concat(),
        }
    }
}

/// The greatest bits of a prime of which four limbs leave six bits free.
pub const MOST_BITS_OF_FOUR: u64 = 122;

/// Numbers modulo the prime of secp256k1, by `bigint-curves`.
#[derive(Clone, Debug)]
pub struct Secp256k1(BigUint);

type Of = Fold<OfSecp256k1>;

impl Secp256k1 {
    /// The field, if this is its prime.
    pub fn new(p: &BigUint) -> Option<Self> {
        (*p == BigUint::from_slice(&words::limbs(OfSecp256k1::PRIME))).then(|| Secp256k1(p.clone()))
    }
}

impl walk::Field<8> for Secp256k1 {
    type Factor = Words;

    fn factor(&self, limbs: [u32; 8]) -> Words {
        of_limbs(limbs)
    }

    fn limbs(&self, factor: Words) -> [u32; 8] {
        to_limbs(factor)
    }

    fn difference(&self, a: [u32; 8], b: [u32; 8]) -> Words {
        Of::sub(of_limbs(a), of_limbs(b))
    }

    #[inline]
    fn product(&self, a: Words, b: Words) -> Words {
        Of::mul(a, b)
    }

    #[inline]
    fn square(&self, a: Words) -> Words {
        Of::square(a)
    }

    fn square_less(&self, s: Words, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        Of::number(Of::sub(Of::sub(Of::square(s), of_limbs(a)), of_limbs(b)))
    }

    fn product_more(&self, s: Words, t: Words, a: [u32; 8]) -> [u32; 8] {
        Of::number(Of::add(Of::mul(s, t), of_limbs(a)))
    }

    fn negative(&self, a: [u32; 8]) -> [u32; 8] {
        Of::number(Of::sub([0; 4], of_limbs(a)))
    }
}

impl Field<8> for Secp256k1 {
    fn form(&self, number: &BigUint) -> [u32; 8] {
        limbs(&(number % &self.0))
    }

    fn number(&self, form: [u32; 8]) -> BigUint {
        BigUint::from_slice(&form)
    }

    fn inverse(&self, a: Words) -> Words {
        // `p - 2`, in runs of ones and zeros.
        power::<Of, 5>(a, [[223, 1], [22, 4], [1, 1], [2, 1], [1, 0]])
    }

    fn one(&self) -> Words {
        [1, 0, 0, 0]
    }

    fn kernel(&self) -> &'static str {
        "walk_secp256k1"
    }

    fn prime(&self) -> &BigUint {
        &self.0
    }

    fn scalars(&self) -> Vec<u32> {
        limbs::<8>(&self.0).to_vec()
    }
}

/// The sum of a point and a jump whose `x` is `u`, where `inverse` is `1 / (u - x)`.
pub fn sum<F: Field<LIMBS>, const LIMBS: usize>(
    field: &F,
    point: [[u32; LIMBS]; 2],
    jump: [[u32; LIMBS]; 2],
    inverse: Words,
) -> [[u32; LIMBS]; 2] {
    let [x, y] = walk::third(field, point, jump, inverse);
    [x, field.negative(y)]
}

/// Replaces every factor, none of which is 0, by its inverse: Montgomery's trick.
pub fn invert<F: Field<LIMBS>, const LIMBS: usize>(field: &F, factors: &mut [Words]) {
    let mut before = Vec::with_capacity(factors.len());
    let mut product = field.one();
    for &factor in factors.iter() {
        before.push(product);
        product = field.product(product, factor);
    }
    let mut inverse = field.inverse(product);
    for (factor, before) in factors.iter_mut().zip(before).rev() {
        (*factor, inverse) = (
            field.product(inverse, before),
            field.product(inverse, *factor),
        );
    }
}
