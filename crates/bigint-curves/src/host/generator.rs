//! Tables of the generators' multiples.

use super::batch::invert;
use super::words::Words;
use crate::shared::combination::{Direct, PLACE_ENTRIES};
use crate::shared::edwards;
use crate::shared::field::{Field, Limbs};
use crate::shared::weierstrass::{self, Affine, Curve, Element};

/// `d 256^i` times a point, for every place `i` and `d` from 1 to 128, one place after another.
fn multiples<G: Direct>(generator: G::Point, places: u32) -> Vec<G::Point> {
    let mut all = Vec::with_capacity(places as usize * PLACE_ENTRIES);
    let mut first = generator;
    for _ in 0..places {
        let step = G::multiple(first);
        let mut last = G::double(first);
        all.extend([first, last]);
        for _ in 2..PLACE_ENTRIES {
            (last, _) = G::add(last, step);
            all.push(last);
        }
        first = G::double(last);
    }
    all
}

/// The table of a curve over a field modulo this prime.
pub fn of_curve<C: Curve>(prime: Words) -> Vec<Affine<Element<C>>> {
    let [x, y] = C::GENERATOR.map(C::Field::element);
    let generator = weierstrass::Points::<C>::point(Affine { x, y });
    let all = multiples::<weierstrass::Points<C>>(generator, weierstrass::PLACES);
    let mut inverses: Vec<_> = all.iter().map(|point| point.z).collect();
    invert::<C::Field>(&mut inverses, prime);
    let affine = all.iter().zip(inverses).map(|(point, inverse)| {
        let square = C::Field::square(inverse);
        let cube = C::Field::mul(square, inverse);
        Affine {
            x: C::Field::mul(point.x, square),
            y: C::Field::mul(point.y, cube),
        }
    });
    affine.collect()
}

/// The table of edwards25519.
pub fn of_edwards<F: Field>([x, y]: [Limbs; 2], prime: Words) -> Vec<edwards::Fixed<F::Element>> {
    type Points<F> = edwards::Points<F>;
    let generator = Points::<F>::point(F::element(x), F::element(y));
    let all = multiples::<Points<F>>(generator, edwards::PLACES);
    let all: Vec<_> = all.into_iter().map(Points::<F>::coordinates).collect();
    let mut inverses: Vec<_> = all.iter().map(|point| point[2]).collect();
    invert::<F>(&mut inverses, prime);
    let fixed = all
        .iter()
        .zip(inverses)
        .map(|([x, y, _], inverse)| Points::<F>::fixed(F::mul(*x, inverse), F::mul(*y, inverse)));
    fixed.collect()
}
