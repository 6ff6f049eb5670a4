//! The walks, one source for both sides: the program compiles it for the processor, the crate in `kernels/` for
//! the device.
//!
//! An *r-adding walk* ([Teske 1998]) over the points of `y^2 = x^3 + a x + b` goes from `P` to `P + J`, where `J` is
//! one of [`JUMPS`] points, chosen by `x(P)`. Walks that have met stay together. A point is *distinguished* if some bits of
//! its `x` are zeros ([van Oorschot and Wiener 1999]); walks tell those points alone. The sum of `(x, y)` and a jump
//! `(u, v)` is
//!
//! ```text
//! s = (v - y) / (u - x)      x' = s^2 - x - u      y' = s (x - x') - y
//! ```
//!
//! The third point of their line, minus the sum, takes less: its `y` is `s (x' - x) + y`, and a product adds `y` for nothing. So a
//! kernel has `P`, `-(P + J)`, `P + J + J'`, ..., and every other time adds minus the jump.
//!
//! The sum fails if `x` is `u`: the points are equal or opposite. A walk then takes the next jump, whose `x` is another.
//! So no walk comes to infinity, and no inverse is that of 0.
//!
//! Coordinates are a field's forms of numbers, less than the prime: which jump is taken, and what is distinguished, is the same
//! on every machine. The inverses of many walks cost one inverse and three products each (Montgomery's trick,
//! [Montgomery 1987]).
//!
//! Cost of a step: a square and two products, and those three.

/// Jumps, a power of two. More of them make a walk more like one of random steps: with `r` jumps two walks meet after
/// `1 / sqrt(1 - 1/r)` times as many steps, with 64 after a hundredth more.
pub const JUMPS: u32 = 64;

/// Limbs before the point that a walk tells, where its number is.
pub const HEAD: u32 = 4;

/// A prime field, as walks compute in it. Numbers are less than the prime; *factors* are reduced as late as the field
/// likes.
pub trait Field<const LIMBS: usize> {
    /// What products are made of.
    type Factor: Copy;

    /// The factor that [`limbs`](Field::limbs) gave.
    fn factor(&self, limbs: [u32; LIMBS]) -> Self::Factor;

    /// A factor as limbs.
    fn limbs(&self, factor: Self::Factor) -> [u32; LIMBS];

    /// `a - b`.
    fn difference(&self, a: [u32; LIMBS], b: [u32; LIMBS]) -> Self::Factor;

    /// `a b`.
    fn product(&self, a: Self::Factor, b: Self::Factor) -> Self::Factor;

    /// `a a`.
    fn square(&self, a: Self::Factor) -> Self::Factor;

    /// `s^2 - a - b`.
    fn square_less(&self, s: Self::Factor, a: [u32; LIMBS], b: [u32; LIMBS]) -> [u32; LIMBS];

    /// `s t + a`.
    fn product_more(&self, s: Self::Factor, t: Self::Factor, a: [u32; LIMBS]) -> [u32; LIMBS];

    /// `-a`.
    fn negative(&self, a: [u32; LIMBS]) -> [u32; LIMBS];
}

/// The jumps.
pub trait Jumps<const LIMBS: usize> {
    /// The `x` of a jump.
    fn x(&self, jump: u32) -> [u32; LIMBS];
}

/// The jump that a walk takes from a point, and its `x`.
#[inline(always)]
pub fn chosen<const LIMBS: usize>(
    jumps: &impl Jumps<LIMBS>,
    x: [u32; LIMBS],
) -> (u32, [u32; LIMBS]) {
    let jump = x[0] % JUMPS;
    let u = jumps.x(jump);
    if u[0] == x[0] && are_equal(u, x) {
        let next = (jump + 1) % JUMPS;
        return (next, jumps.x(next));
    }
    (jump, u)
}

/// Whether two numbers are equal.
#[inline(always)]
fn are_equal<const LIMBS: usize>(a: [u32; LIMBS], b: [u32; LIMBS]) -> bool {
    let mut unlike = 0;
    for i in 0..LIMBS {
        unlike |= a[i] ^ b[i];
    }
    unlike == 0
}

/// Whether a point is distinguished: the bits of `mask` are zeros above those that choose the jump.
#[inline(always)]
pub fn is_distinguished<const LIMBS: usize>(x: [u32; LIMBS], mask: u32) -> bool {
    (x[0] / JUMPS) & mask == 0
}

/// The third point of the line through a point and a jump whose `x` is `u`, where `inverse` is `1 / (u - x)`: minus their sum.
#[inline(always)]
pub fn third<F: Field<LIMBS>, const LIMBS: usize>(
    field: &F,
    [x, y]: [[u32; LIMBS]; 2],
    [u, v]: [[u32; LIMBS]; 2],
    inverse: F::Factor,
) -> [[u32; LIMBS]; 2] {
    let slope = field.product(field.difference(v, y), inverse);
    let to = field.square_less(slope, x, u);
    [to, field.product_more(slope, field.difference(to, x), y)]
}
