//! Chains of products modulo numbers, told by instructions, which the kernels of powers run.
//!
//! A chain has *places*, of which each holds a residue of every number, as what a product made or in the *form* of factors.
//! An [`Instruction`] is a product, of what stands at a place or of the last product, by itself, by a factor or by `M^2`;
//! and a sum or a difference: with `b = 2 C + 1`
//!
//! ```text
//! z = (x y + q n) / M + t        or        z = (x y + (q + b M) n) / M - t
//! ```
//!
//! which is of the second base alone, as `q` is known in the first. So a term costs a load, and no product.
//!
//! **Bounds.** A product of `x, y < 2 b n` is below `b n`, as `M > 4 n b^2` ([`RnsPlan::of`](super::RnsPlan::of) leaves two bits more
//! than `b^2` has, and a test adds up all plans); with a term below `b n` it is below `2 b n`. So a term is no sum itself.

/// The bases of a [`Window`](super::Window) of a chain.
pub const CHAIN: u32 = 4;

/// No place.
const NOWHERE: u32 = 0xffff;

const CHOOSES: u32 = 1 << 16;
const SQUARES: u32 = 1 << 17;
const BY_RADIX: u32 = 1 << 18;
const SUBTRACTS: u32 = 1 << 19;

/// An instruction, as kernels read it. Place 0 has the form of 1, by which a product leaves Montgomery's.
///
/// Word 0 is a bit of exponents and what kind it is; then halves of words are places: the first factors, the other one and the
/// term, and where the result is kept, and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction(pub [u32; 4]);

impl Instruction {
    /// A product of the last one by itself, which is kept nowhere.
    pub const SQUARE: Self = Instruction([SQUARES, u32::MAX, u32::MAX, u32::MAX]);

    const fn with_half(mut self, half: usize, place: u32) -> Self {
        let (word, at) = (1 + half / 2, 16 * (half % 2));
        self.0[word] = self.0[word] & !(NOWHERE << at) | place << at;
        self
    }

    #[inline(always)]
    fn half(self, half: usize) -> u32 {
        self.0[1 + half / 2] >> (16 * (half % 2)) & NOWHERE
    }

    /// Of what stands at a place.
    pub const fn of(self, place: u32) -> Self {
        self.with_half(0, place).with_half(1, place)
    }

    /// Of what stands at the first of two places, or at the second where the exponent has this bit.
    pub const fn of_chosen(mut self, bit: u32, places: [u32; 2]) -> Self {
        self.0[0] |= CHOOSES | bit;
        self.with_half(0, places[0]).with_half(1, places[1])
    }

    /// By the factor at a place.
    pub const fn by(mut self, place: u32) -> Self {
        self.0[0] &= !SQUARES;
        self.with_half(2, place)
    }

    /// By `M^2`.
    pub const fn by_radix(mut self) -> Self {
        self.0[0] = self.0[0] & !SQUARES | BY_RADIX;
        self
    }

    /// And what stands at a place.
    pub const fn plus(self, place: u32) -> Self {
        self.with_half(3, place)
    }

    /// Less what stands at a place.
    pub const fn minus(mut self, place: u32) -> Self {
        self.0[0] |= SUBTRACTS;
        self.with_half(3, place)
    }

    /// Kept at a place.
    pub const fn kept(self, place: u32) -> Self {
        self.with_half(4, place)
    }

    /// Its form kept at a place.
    pub const fn form(self, place: u32) -> Self {
        self.with_half(5, place)
    }

    /// Whether it begins with what stands at places, not with the last product.
    #[inline(always)]
    pub fn loads(self) -> bool {
        self.half(0) != NOWHERE
    }

    /// The bit by which an exponent chooses the first factor, if it does.
    #[inline(always)]
    pub fn bit(self) -> Option<u32> {
        (self.0[0] & CHOOSES != 0).then_some(self.0[0] & NOWHERE)
    }

    /// The places of the first factor.
    #[inline(always)]
    pub fn sources(self) -> [u32; 2] {
        [self.half(0), self.half(1)]
    }

    /// Whether the product is by itself.
    #[inline(always)]
    pub fn squares(self) -> bool {
        self.0[0] & SQUARES != 0
    }

    /// Whether it is by `M^2`.
    #[inline(always)]
    pub fn is_by_radix(self) -> bool {
        self.0[0] & BY_RADIX != 0
    }

    /// The place of the factor.
    #[inline(always)]
    pub fn factor(self) -> u32 {
        self.half(2)
    }

    /// The place of a term.
    #[inline(always)]
    pub fn term(self) -> Option<u32> {
        somewhere(self.half(3))
    }

    /// Whether the term is subtracted.
    #[inline(always)]
    pub fn subtracts(self) -> bool {
        self.0[0] & SUBTRACTS != 0
    }

    /// Where the result is kept.
    #[inline(always)]
    pub fn place(self) -> Option<u32> {
        somewhere(self.half(4))
    }

    /// Where its form is kept; nowhere is above all places.
    #[inline(always)]
    pub fn place_of_form(self) -> u32 {
        self.half(5)
    }
}

#[inline(always)]
fn somewhere(place: u32) -> Option<u32> {
    (place != NOWHERE).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::super::RnsPlan;

    /// In bits: primes are above 2^30 - 2^15, so that `c` of them miss less than `c 2^-14` of a bit.
    #[test]
    fn factors_that_are_sums_keep_to_the_bounds_of_products() {
        for width in 1..=256 {
            let plan = RnsPlan::of(width).unwrap();
            let c = f64::from(plan.channels());
            let b = 2.0 * c + 1.0;
            let bases = plan.bases();
            let least = bases.iter().flat_map(|base| &base[..c as usize]).min();
            assert!(*least.unwrap() > (1 << 30) - (1 << 15));
            let of_base = 30.0 * c - c / 16_384.0 - 32.0 * f64::from(plan.width);
            assert!(of_base > 2.0 + 2.0 * b.log2(), "{width}");
            assert!(of_base > 8.0 + 1.0 + b.log2(), "{width}");
        }
    }
}
