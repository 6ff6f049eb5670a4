//! Tables of the generators' multiples.

use super::batch::invert;
use super::words::Words;
use crate::shared::combination::Direct;
use crate::shared::edwards;
use crate::shared::field::{Field, Limbs};
use crate::shared::weierstrass::{self, Affine, Curve, Element};

/// Bits of a number, taken so many at a time.
#[derive(Clone, Copy)]
pub struct Places {
    /// How many places there are.
    pub count: u32,
    /// Bits of each.
    pub bits: u32,
}

impl Places {
    /// The points of each place, on all cores: `d 2^(bits i) G` for place `i` and `d` from 1 to `2^(bits - 1)`, one place after another.
    /// `together` brings the points of a place to their form.
    fn points<G: Direct<Point: Send + Sync>, T: Send + Clone>(
        self,
        generator: G::Point,
        together: impl Fn(Vec<G::Point>) -> Vec<T> + Sync,
    ) -> Vec<T> {
        let firsts = (0..self.count).scan(generator, |next, _| {
            let first = *next;
            *next = (0..self.bits).fold(first, |point, _| G::double(point));
            Some(first)
        });
        let firsts: Vec<_> = firsts.collect();
        let tables = bigint_cpu::map(firsts, usize::MAX, |first| {
            let (step, twice) = (G::multiple(first), G::double(first));
            let more = std::iter::successors(Some(twice), |last| Some(G::add(*last, step)));
            let all = std::iter::once(first).chain(more);
            together(all.take(1 << (self.bits - 1)).collect())
        });
        tables.concat()
    }
}

/// The table of a curve over a field modulo this prime.
pub fn of_curve<C: Curve<Field: Field<Element: Send + Sync>>>(
    places: Places,
    prime: Words,
) -> Vec<Affine<Element<C>>> {
    let [x, y] = C::GENERATOR.map(C::Field::element);
    let generator = weierstrass::Points::<C>::point(Affine { x, y });
    places.points::<weierstrass::Points<C>, _>(generator, |points| {
        let mut inverses: Vec<_> = points.iter().map(|point| point.z).collect();
        invert::<C::Field>(&mut inverses, prime);
        let affine = points.iter().zip(inverses).map(|(point, inverse)| {
            let square = C::Field::square(inverse);
            let cube = C::Field::mul(square, inverse);
            Affine {
                x: C::Field::mul(point.x, square),
                y: C::Field::mul(point.y, cube),
            }
        });
        affine.collect()
    })
}

/// The table of edwards25519.
pub fn of_edwards<F: Field<Element: Send + Sync>>(
    places: Places,
    [x, y]: [Limbs; 2],
    prime: Words,
) -> Vec<edwards::Fixed<F::Element>> {
    type Points<F> = edwards::Points<F>;
    let generator = Points::<F>::point(F::element(x), F::element(y));
    places.points::<Points<F>, _>(generator, |points| {
        let all: Vec<_> = points.into_iter().map(Points::<F>::coordinates).collect();
        let mut inverses: Vec<_> = all.iter().map(|point| point[2]).collect();
        invert::<F>(&mut inverses, prime);
        let fixed = all.iter().zip(inverses).map(|([x, y, _], inverse)| {
            Points::<F>::fixed(F::mul(*x, inverse), F::mul(*y, inverse))
        });
        fixed.collect()
    })
}
