//! Products that have factors in common, each of which is transformed once.
//!
//! ```text
//! a / c + b / d      s = a d + b c      p = c d       4 transforms, 1 back for s and 1 for p
//! halves of f        f c                f d           3 transforms, 1 back for each
//! ```
//!
//! Values of transforms are added as products are, so that a sum of products goes back once. Alone, the
//! three products of the first row take nine transforms, and the two of the second six.
//!
//! An example modulo `x - 3` and `x + 3`, where a transform is the values at 3 and -3: `a d` for
//! `a = x`, `d = 1` has the values `3, -3`, and `b c` for `b = 2`, `c = 1` the values `2, 2`. Their sums
//! `5, -1` are those of `x + 2`.
//!
//! **Exactness**: a coefficient of `s` is a sum of twice as many terms as one of a product, for which
//! [`Plan::pieces`] makes room. **Scratch**: 12 to 14 times the size of `p` for `s`, with or without `p`,
//! and 9 to 12 times the size of `f` for halves.

use super::buffer::with_rows;
use super::engine::{Engine, Job, PortableEngine};
use super::field::{Ring, Row, Stored};
use super::{Plan, Product, passes};
use crate::fast::number::isa::Isa;

/// Two fractions `x / y`: `(a, c)` and `(b, d)`.
pub(crate) type Fractions<'a> = [(&'a [u64], &'a [u64]); 2];

/// Computes `s = a d + b c`, and `p = c d` where it is wanted, modulo the powers of `2^64` at the ends
/// of `s` and `p`. These are no longer than the longest product.
pub(crate) fn sum_of_fractions(
    s: &mut [u64],
    p: Option<&mut [u64]>,
    fractions: Fractions<'_>,
    isa: Isa,
    parallel: bool,
) {
    let plan = Plan::of_fractions(fractions);
    let length = s.len();
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token, _) => {
            let engine = super::engine::Avx512Engine(token);
            Product::new(engine, plan, length, parallel).sum_of_fractions(s, p, fractions);
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(token) => {
            let engine = super::engine::Avx2Engine(token);
            Product::new(engine, plan, length, parallel).sum_of_fractions(s, p, fractions);
        }
        _ => Product::new(PortableEngine, plan, length, parallel).sum_of_fractions(s, p, fractions),
    }
}

/// At least `counts[i]` limbs of `f factors[i]`, up to the last below `B^n`, for `f` of `n` limbs. Of
/// a factor of `m` limbs, the upper `n - m` are right to a unit, as [`super::Factor::middle`] has them.
pub(crate) fn middles(
    f: &[u64],
    factors: [&[u64]; 2],
    counts: [usize; 2],
    isa: Isa,
    parallel: bool,
) -> [Vec<u64>; 2] {
    let longest = factors[0].len().max(factors[1].len());
    let plan = Plan::middle(f.len(), longest);
    let length = f.len();
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token, _) => {
            let engine = super::engine::Avx512Engine(token);
            Product::new(engine, plan, length, parallel).middles(f, factors, counts)
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(token) => {
            let engine = super::engine::Avx2Engine(token);
            Product::new(engine, plan, length, parallel).middles(f, factors, counts)
        }
        _ => Product::new(PortableEngine, plan, length, parallel).middles(f, factors, counts),
    }
}

impl Plan {
    /// The smallest shape for the products of these fractions.
    pub(super) fn of_fractions([(a, c), (b, d)]: Fractions<'_>) -> Self {
        let pairs = [(a, d), (b, c), (c, d)].map(|(x, y)| (x.len(), y.len()));
        let shortest = pairs.map(|(x, y)| x.min(y)).into_iter().max();
        let h = Plan::pieces(2, shortest.unwrap_or(0));
        let plans = pairs.map(|(x, y)| Plan::with_pieces(h, x, y));
        let [first, rest @ ..] = plans;
        let longer = |x: Plan, y: Plan| if x.rows() >= y.rows() { x } else { y };
        rest.into_iter().fold(first, longer)
    }
}

impl<E: Engine> Product<E> {
    /// Computes [`sum_of_fractions`].
    pub(super) fn sum_of_fractions(
        &self,
        s: &mut [u64],
        p: Option<&mut [u64]>,
        [(a, c), (b, d)]: Fractions<'_>,
    ) {
        let Product { engine, plan, .. } = *self;
        let length = 4 * plan.stride();
        with_rows(4 * length, |buffer| {
            let (xs, ys) = buffer.split_at_mut(2 * length);
            let ((x, y), (z, w)) = (xs.split_at_mut(length), ys.split_at_mut(length));
            self.together(|| {
                self.split([(&mut *x, a), (&mut *y, d), (&mut *z, b), (&mut *w, c)]);
                let roots = self.roots();
                let first = self.blocks(x).zip(self.blocks(y));
                let blocks = first.zip(self.blocks(z).zip(self.blocks(w)));
                self.for_each(blocks.enumerate(), |(i, ((a, d), (b, c)))| {
                    let (prime, index) = (i / plan.blocks, i % plan.blocks);
                    engine.enter(FractionBlocks {
                        place: Place::of(plan, prime, index, &roots[prime]),
                        sum: [(a, &mut *d), (b, &mut *c)],
                        has_product: p.is_some(),
                    });
                });
                self.back(s, x, 0);
                if let Some(p) = p {
                    self.back(p, y, 0);
                }
            });
        });
    }

    /// Computes [`middles`].
    pub(super) fn middles(
        &self,
        f: &[u64],
        factors: [&[u64]; 2],
        counts: [usize; 2],
    ) -> [Vec<u64>; 2] {
        let Product { engine, plan, .. } = *self;
        let length = 4 * plan.stride();
        let mut parts = counts.map(|count| self.room_for_middle(f.len(), count));
        with_rows(3 * length, |buffer| {
            let (x, ys) = buffer.split_at_mut(length);
            let (y, z) = ys.split_at_mut(length);
            self.together(|| {
                self.split([(&mut *x, f), (&mut *y, factors[0]), (&mut *z, factors[1])]);
                let roots = self.roots();
                let blocks = self.blocks(x).zip(self.blocks(y).zip(self.blocks(z)));
                self.for_each(blocks.enumerate(), |(i, (f, (y, z)))| {
                    let (prime, index) = (i / plan.blocks, i % plan.blocks);
                    engine.enter(MiddleBlocks {
                        place: Place::of(plan, prime, index, &roots[prime]),
                        f,
                        factors: [y, z],
                    });
                });
                for ((first, part), rows) in parts.iter_mut().zip([y, z]) {
                    self.back(part, rows, *first);
                }
            });
        });
        parts.map(|(_, part)| part)
    }
}

/// One block modulo one prime, with what its passes need.
#[derive(Clone, Copy)]
struct Place<'a> {
    plan: Plan,
    prime: usize,
    /// The number of the block, which is the number of its node.
    index: usize,
    roots: &'a [Stored],
}

impl<'a> Place<'a> {
    fn of(plan: Plan, prime: usize, index: usize, roots: &'a [Stored]) -> Self {
        Place {
            plan,
            prime,
            index,
            roots,
        }
    }

    #[inline(always)]
    fn forward<E: Engine>(self, engine: E, x: &mut [Row]) {
        passes::forward(engine.ring(self.prime), x, self.index, self.roots);
    }

    /// Multiplies `x` by `y`, both of which have gone forward.
    #[inline(always)]
    fn multiply<E: Engine>(self, engine: E, x: &mut [Row], y: &[Row]) {
        use super::stages::Stages;
        let constants = engine.tables().constants();
        let scale = &constants.scale[self.prime][self.plan.log_block as usize];
        let below = &self.roots[self.index * x.len() / 2..];
        let ring = engine.ring(self.prime);
        ring.pointwise(self.prime, x, Some(y), below, scale);
    }

    #[inline(always)]
    fn inverse<E: Engine>(self, engine: E, x: &mut [Row]) {
        let minus_one = &engine.tables().constants().minus_one[self.prime];
        let ring = engine.ring(self.prime);
        passes::inverse(ring, x, self.index, self.roots, minus_one);
    }
}

/// The job that makes `a` a block of `a d + b c`, and `d` one of `c d` where that is wanted.
struct FractionBlocks<'a> {
    place: Place<'a>,
    /// The pairs `(a, d)` and `(b, c)`.
    sum: [(&'a mut [Row], &'a mut [Row]); 2],
    has_product: bool,
}

impl Job for FractionBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) {
        let FractionBlocks { place, sum, .. } = self;
        let [(a, d), (b, c)] = sum;
        place.forward(engine, d);
        place.forward(engine, a);
        place.multiply(engine, a, d);
        place.forward(engine, c);
        place.forward(engine, b);
        place.multiply(engine, b, c);
        let ring = engine.ring(place.prime);
        for (to, from) in a.iter_mut().zip(&*b) {
            for part in 0..E::Ring::PARTS {
                let sum = ring.add(ring.load(part, to), ring.load(part, from));
                ring.store(part, to, ring.fold4(sum));
            }
        }
        place.inverse(engine, a);
        if self.has_product {
            place.multiply(engine, d, c);
            place.inverse(engine, d);
        }
    }
}

/// The job that multiplies blocks of two factors by one of `f`.
struct MiddleBlocks<'a> {
    place: Place<'a>,
    f: &'a mut [Row],
    factors: [&'a mut [Row]; 2],
}

impl Job for MiddleBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) {
        let MiddleBlocks { place, f, factors } = self;
        place.forward(engine, f);
        for factor in factors {
            place.forward(engine, factor);
            place.multiply(engine, factor, f);
            place.inverse(engine, factor);
        }
    }
}
