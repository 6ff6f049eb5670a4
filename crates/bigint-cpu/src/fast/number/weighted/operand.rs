//! The sides of products of factors.

/// A side of a product of factors: one, or the sum or difference of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand<F> {
    /// A factor.
    One(F),
    /// The sum of two.
    Sum(F, F),
    /// The first less the second.
    Difference(F, F),
}

impl<F> Operand<F> {
    /// The same side with what `f` makes of its factors.
    pub fn map<G>(self, f: impl Fn(F) -> G) -> Operand<G> {
        match self {
            Operand::One(a) => Operand::One(f(a)),
            Operand::Sum(a, b) => Operand::Sum(f(a), f(b)),
            Operand::Difference(a, b) => Operand::Difference(f(a), f(b)),
        }
    }

    /// The first factor, and the second with its sign, 1 or -1.
    #[inline(always)]
    pub fn parts(self) -> (F, Option<(f64, F)>) {
        match self {
            Operand::One(a) => (a, None),
            Operand::Sum(a, b) => (a, Some((1.0, b))),
            Operand::Difference(a, b) => (a, Some((-1.0, b))),
        }
    }
}
