//! What trees of products compute of each node, with every factor transformed once: sums of two
//! fractions on the way up, and two halves of one on the way down ([`number`] has the maths).
//!
//! Both are for numbers that transforms multiply one by one; shorter ones are left to products.

use bigint_core::{Layout, Limb, Shape};

use super::mul::{as_words, as_words_mut, takes_lanes};
use super::number::limbs::{pack, trimmed, unpack};
use super::{Cpu, number};
use crate::memory::{grow, or_out_of_memory};
use crate::piece::Piece;
use crate::share::{Cut, copy, share};
use crate::{Error, Numbers, NumbersMut};

impl Cpu {
    /// `s = a d + b c` for every number, and `p = c d` where it is wanted, of fractions `(a, c)` and `(b, d)`: the
    /// sum of `a / c` and `b / d` is `s / p`.
    ///
    /// Results are modulo `2^(32 w)`, and as wide as the products or narrower. The cost is that of one and
    /// two thirds of a product, or of two with `p`. Scratch, for each thread, is 12 to 14 times a product.
    ///
    /// # Errors
    ///
    /// [`Error::Count`] if there are not as many numbers in all batches, and [`Error::OutOfMemory`] if
    /// scratch cannot be allocated. Then `s` and `p` may hold anything.
    ///
    /// # Panics
    ///
    /// If [`Cpu::takes_sums_of_fractions`] says no.
    pub fn sums_of_fractions(
        &self,
        s: NumbersMut<'_>,
        p: Option<NumbersMut<'_>>,
        fractions: [(Numbers<'_>, Numbers<'_>); 2],
    ) -> Result<(), Error> {
        let shapes = fractions.map(|(x, y)| (x.shape(), y.shape()));
        let product = p.as_ref().map(|p| p.shape());
        assert!(self.takes_sums_of_fractions(s.shape(), product, shapes));
        let [(a, c), (b, d)] = fractions;
        let (factors, count) = ([a, c, b, d], s.shape().count);
        check(count, &factors)?;
        let (cut, is_shared) = cut(count, longest_product(shapes));
        or_out_of_memory(|| {
            let products = p.map_or_else(Vec::new, |p| Piece::cut(p, None, cut.size));
            let products = products.into_iter().map(Some);
            let products = products.chain(std::iter::repeat_with(|| None));
            let pieces = Piece::cut(s, None, cut.size).into_iter().zip(products);
            share(pieces, cut.threads, |(mut s, mut p)| {
                let mut memory = [const { Vec::new() }; 6];
                for i in 0..s.count {
                    let [a, c, b, d, own_s, own_p] = &mut memory;
                    let [x, z, y, w] = [(a, 0), (c, 1), (b, 2), (d, 3)]
                        .map(|(own, at)| words(factors[at], s.first + i, own));
                    let product = p.as_mut().and_then(|p| p.contiguous_mut(i));
                    let sum = s.contiguous_mut(i).expect("checked");
                    let sum_words = Words::of(sum, own_s);
                    let product = product.map(|product| Words::of(product, own_p));
                    sum_words.fill_two(product, |sum, product| {
                        let fractions = [(x, z), (y, w)];
                        number::sum_of_fractions(sum, product, fractions, self.path(), is_shared);
                    });
                }
            });
        })
    }

    /// Whether [`Cpu::sums_of_fractions`] makes sums, and products, of these shapes of such fractions: if not,
    /// products take less time, or numbers are not contiguous.
    pub fn takes_sums_of_fractions(
        &self,
        s: Shape,
        p: Option<Shape>,
        fractions: [(Shape, Shape); 2],
    ) -> bool {
        let [(a, c), (b, d)] = fractions;
        let (most, factors) = (longest_product(fractions), [a, c, b, d]);
        let fits = |shape: Shape| shape.width <= most && is_contiguous(shape);
        let fit = fits(s) && p.is_none_or(fits) && factors.into_iter().all(is_contiguous);
        fit && self.takes(s.count, factors.map(|x| x.width))
    }

    /// The highest limbs up to limb `n` of `f c` and `f d`, for every number, for `f` of `n` limbs: as many
    /// as each result has. Right to a unit of the lowest, modulo `2^(32 w)`, where what a product has above limb `n`
    /// is below the power of `2^32` at the lowest.
    ///
    /// The cost is that of five transforms of `n` limbs, where two products of `n` by `n / 2` limbs take six of
    /// half as many more. Scratch, for each thread, is 9 to 12 times `f`.
    ///
    /// # Errors
    ///
    /// As [`Cpu::sums_of_fractions`].
    ///
    /// # Panics
    ///
    /// If [`Cpu::takes_middles`] says no.
    pub fn middles(
        &self,
        r: [NumbersMut<'_>; 2],
        f: Numbers<'_>,
        factors: [Numbers<'_>; 2],
    ) -> Result<(), Error> {
        let (n, count) = (f.shape().width, f.shape().count);
        let results = [r[0].shape(), r[1].shape()];
        assert!(self.takes_middles(results, f.shape(), factors.map(|x| x.shape())));
        let [c, d] = factors;
        check(count, &[c, d])?;
        let counts = results.map(|shape| n.div_ceil(2) - (n - shape.width) / 2);
        let (cut, is_shared) = cut(count, n);
        or_out_of_memory(|| {
            let [low, high] = r.map(|r| Piece::cut(r, None, cut.size));
            share(low.into_iter().zip(high), cut.threads, |(low, high)| {
                let mut pieces = [low, high];
                let mut memory = [const { Vec::new() }; 3];
                for i in 0..pieces[0].count {
                    let index = pieces[0].first + i;
                    let [own_f, own_c, own_d] = &mut memory;
                    let whole = words(f, index, own_f);
                    let parts = [words(c, index, own_c), words(d, index, own_d)];
                    let made = number::middles(whole, parts, counts, self.path(), is_shared);
                    for (piece, made) in pieces.iter_mut().zip(made) {
                        let to = piece.contiguous_mut(i).expect("checked");
                        // Limb `from` of the product, in words that end with the last of `f`.
                        let from = n - to.len();
                        let before = whole.len() - made.len();
                        copy_limbs(to, &made, from - 2 * before, is_shared);
                    }
                }
            });
        })
    }

    /// Whether [`Cpu::middles`] makes results of these shapes of such an `f` and factors, as
    /// [`Cpu::takes_sums_of_fractions`].
    pub fn takes_middles(&self, results: [Shape; 2], f: Shape, factors: [Shape; 2]) -> bool {
        let [c, d] = factors;
        let shorter = [c, d].into_iter().chain(results);
        let fit = shorter.clone().all(|shape| shape.width < f.width);
        let fit = fit && shorter.chain([f]).all(is_contiguous);
        fit && self.takes(f.count, [f, c, f, d].map(|x| x.width))
    }

    /// The highest limbs of the fraction of `x / d`, as many as `r` has, for one number each and a `d` that is not zero: off by less than
    /// 2 of the last place, modulo 1.
    ///
    /// The cost is that of thirteen transforms of as many limbs, where a quotient takes fifteen, where `x` is less than `d`.
    /// Scratch is some 20 times `d`.
    ///
    /// # Errors
    ///
    /// As [`Cpu::sums_of_fractions`].
    ///
    /// # Panics
    ///
    /// If [`Cpu::takes_fraction`] says no, or `d` is zero.
    pub fn fraction(
        &self,
        mut r: NumbersMut<'_>,
        x: Numbers<'_>,
        d: Numbers<'_>,
    ) -> Result<(), Error> {
        assert!(self.takes_fraction(r.shape(), x.shape(), d.shape()));
        or_out_of_memory(|| {
            let mut memory = [const { Vec::new() }; 3];
            let [own_r, own_x, own_d] = &mut memory;
            let (x, d) = (words(x, 0, own_x), trimmed(words(d, 0, own_d)));
            assert!(!d.is_empty(), "a divisor that is not zero");
            let to = r.alone_mut().expect("checked");
            if let Some(to) = as_words_mut(to) {
                return number::reciprocal::fraction(to, x, d, self.path());
            }
            let length = to.len().div_ceil(2);
            grow(own_r, length);
            number::reciprocal::fraction(own_r, x, d, self.path());
            // The lowest half of a word is below the last place.
            copy_limbs(to, own_r, 2 * length - to.len(), true);
        })
    }

    /// Whether [`Cpu::fraction`] makes a result of this shape: it is one number of long ones.
    pub fn takes_fraction(&self, r: Shape, x: Shape, d: Shape) -> bool {
        let fit = [r, x, d]
            .into_iter()
            .all(|shape| shape.count == 1 && is_contiguous(shape));
        fit && d.width > SHARED_LIMBS && (d.width / 2..=2 * d.width).contains(&r.width)
    }

    /// Whether transforms take `count` numbers of these widths one by one: from half the length on from
    /// which they take one product, as they share more.
    fn takes(&self, count: usize, [a, c, b, d]: [usize; 4]) -> bool {
        let shortest = a.min(c).min(b).min(d);
        // A factor that is much shorter than the other would be transformed for nothing.
        let is_balanced = 2 * c.min(d) >= c.max(d);
        let transform = self.tuning().number.of(self.path()).product.transform;
        let is_long = shortest.div_ceil(2) >= transform / 2;
        is_balanced && is_long && !takes_lanes(self, count, shortest)
    }
}

/// The limbs of the longer of the two products of a sum.
fn longest_product([(a, c), (b, d)]: [(Shape, Shape); 2]) -> usize {
    (a.width + d.width).max(b.width + c.width)
}

fn is_contiguous(shape: Shape) -> bool {
    shape.layout == Layout::Contiguous
}

/// The way to cut so many numbers, with transforms of so many limbs, and whether all threads share each.
fn cut(count: usize, limbs: usize) -> (Cut, bool) {
    let threads = crate::threads();
    let is_shared = count < threads && limbs > SHARED_LIMBS;
    let size = match is_shared {
        true => count.max(1),
        false => count.div_ceil(PIECES_OF_THREAD * threads).max(1),
    };
    (Cut { size, threads }, is_shared)
}

/// The limbs of a product below which threads do not share it.
const SHARED_LIMBS: usize = 1 << 13;

/// The pieces that a thread takes one after another.
const PIECES_OF_THREAD: usize = 4;

fn check(count: usize, factors: &[Numbers<'_>]) -> Result<(), Error> {
    factors.iter().try_for_each(|x| x.check_count(count))
}

/// The words of a number: in place, or packed into `own`.
fn words<'a>(numbers: Numbers<'a>, index: usize, own: &'a mut Vec<u64>) -> &'a [u64] {
    let limbs = numbers.contiguous(index).expect("checked");
    if let Some(words) = as_words(limbs) {
        return words;
    }
    grow(own, limbs.len().div_ceil(2));
    let own = &mut own[..limbs.len().div_ceil(2)];
    pack(own, limbs);
    own
}

/// Limbs of a result, which are written as words.
enum Words<'a> {
    InPlace(&'a mut [u64]),
    Packed(&'a mut [Limb], &'a mut Vec<u64>),
}

impl<'a> Words<'a> {
    fn of(limbs: &'a mut [Limb], own: &'a mut Vec<u64>) -> Self {
        if as_words(limbs).is_some() {
            return Words::InPlace(as_words_mut(limbs).expect("as it is for reading"));
        }
        grow(own, limbs.len().div_ceil(2));
        Words::Packed(limbs, own)
    }

    fn fill(self, write: impl FnOnce(&mut [u64])) {
        match self {
            Words::InPlace(words) => write(words),
            Words::Packed(limbs, own) => {
                let own = &mut own[..limbs.len().div_ceil(2)];
                write(own);
                unpack(limbs, own);
            }
        }
    }

    fn fill_two(self, other: Option<Self>, write: impl FnOnce(&mut [u64], Option<&mut [u64]>)) {
        self.fill(|first| match other {
            Some(other) => other.fill(|second| write(first, Some(second))),
            None => write(first, None),
        });
    }
}

/// Limbs `from ..` of words, on all threads where they share a number.
fn copy_limbs(to: &mut [Limb], words: &[u64], from: usize, is_shared: bool) {
    if cfg!(target_endian = "little") {
        let limbs = &bytemuck::cast_slice(words)[from..][..to.len()];
        return match is_shared {
            true => copy(to, limbs),
            false => to.copy_from_slice(limbs),
        };
    }
    let limb = |at: usize| (words[at / 2] >> (at % 2 * 32)) as Limb;
    for (to, at) in to.iter_mut().zip(from..) {
        *to = limb(at);
    }
}
