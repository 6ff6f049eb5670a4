//! Multiples of points by secret numbers.
//!
//! A number is read in windows of four bits, from the top: four doublings, then the sum with one of sixteen multiples of the
//! point. All sixteen are read each time, and masks, of which the compiler knows nothing, choose. Sums are by formulas
//! that hold for any two points, without a branch.

use crate::ecdsa::{self, OnHost, P256, Secp256k1};
use crate::ed25519::F;
use crate::host::fold::{Of25519, Special};
use crate::host::words::{self, Words, of_big_endian, of_little_endian};
use crate::host::{batch, complete};
use crate::shared::combination::{Direct, Group};
use crate::shared::field::Limbs;
use crate::shared::weierstrass::decoded;
use crate::shared::{curves, edwards};
use crate::{Curve, Rejection};
use std::hint::black_box;
use std::marker::PhantomData;

/// A group whose sums are without a branch.
trait Complete {
    type Sum: Copy;
    type Entry: Copy;

    fn identity() -> Self::Sum;
    fn double(p: Self::Sum) -> Self::Sum;
    fn add(p: Self::Sum, q: Self::Entry) -> Self::Sum;
    fn entry(p: Self::Sum) -> Self::Entry;
    /// `p` for a mask of all ones, `q` for zeros.
    fn select(mask: u64, p: Self::Entry, q: Self::Entry) -> Self::Entry;
}

/// Bits of a window.
const WINDOW: usize = 4;

/// All ones if two numbers below `2^63` are equal, zeros if not.
fn mask_of_equal(x: u64, y: u64) -> u64 {
    black_box(((x ^ y).wrapping_sub(1) >> 63).wrapping_neg())
}

/// `v p`.
fn multiple<G: Complete>(p: G::Sum, v: Words) -> G::Sum {
    let step = G::entry(p);
    let mut sum = G::identity();
    let table: [G::Entry; 1 << WINDOW] = std::array::from_fn(|_| {
        let entry = G::entry(sum);
        sum = G::add(sum, step);
        entry
    });
    let mut sum = G::identity();
    for window in (0..256 / WINDOW).rev() {
        for _ in 0..WINDOW {
            sum = G::double(sum);
        }
        let bit = WINDOW * window;
        let digit = v[bit / 64] >> (bit % 64) & ((1 << WINDOW) - 1);
        let mut chosen = table[0];
        for (at, entry) in (0..).zip(table) {
            chosen = G::select(mask_of_equal(at, digit), entry, chosen);
        }
        sum = G::add(sum, chosen);
    }
    sum
}

/// The points of a curve in short form.
struct Short<C>(PhantomData<C>);

impl<C: OnHost> Complete for Short<C> {
    type Sum = [Words; 3];
    type Entry = [Words; 3];

    fn identity() -> Self::Sum {
        complete::infinity::<C>()
    }

    fn double(p: Self::Sum) -> Self::Sum {
        complete::add::<C>(p, p)
    }

    fn add(p: Self::Sum, q: Self::Entry) -> Self::Sum {
        complete::add::<C>(p, q)
    }

    fn entry(p: Self::Sum) -> Self::Entry {
        p
    }

    fn select(mask: u64, p: Self::Entry, q: Self::Entry) -> Self::Entry {
        std::array::from_fn(|i| words::select(mask, p[i], q[i]))
    }
}

/// The points of edwards25519.
struct Edwards;

type Points = edwards::Points<F>;

impl Complete for Edwards {
    type Sum = edwards::Point<Words>;
    type Entry = edwards::Multiple<Words>;

    fn identity() -> Self::Sum {
        Points::identity()
    }

    fn double(p: Self::Sum) -> Self::Sum {
        Points::double(p)
    }

    fn add(p: Self::Sum, q: Self::Entry) -> Self::Sum {
        Points::add(p, q)
    }

    fn entry(p: Self::Sum) -> Self::Entry {
        Points::multiple(p)
    }

    fn select(mask: u64, p: Self::Entry, q: Self::Entry) -> Self::Entry {
        p.zip(q, |p, q| words::select(mask, p, q))
    }
}

impl Curve {
    /// The generator, as [`multiply_secret`](Self::multiply_secret) takes it.
    pub fn generator(self) -> Vec<u8> {
        match self {
            Curve::Secp256k1 => {
                uncompressed(<Secp256k1 as crate::shared::weierstrass::Curve>::GENERATOR)
            }
            Curve::P256 => uncompressed(<P256 as crate::shared::weierstrass::Curve>::GENERATOR),
            Curve::Ed25519 => words::bytes(words::of_limbs(curves::GENERATOR[1])).to_vec(),
        }
    }

    /// A point times a secret number of 32 bytes, in constant time on the CPU: no branch and no address depends on
    /// the number or on the result, but on the point.
    ///
    /// On [`Curve::Secp256k1`] and [`Curve::P256`] the highest byte is first, the point is 33 or 65 bytes, as SEC 1 has
    /// it, and the result 65, or 65 zeros for the point at infinity. On [`Curve::Ed25519`] the lowest byte is first, no bit is set or
    /// cleared, and points are 32 bytes. The number need not be below the number of points.
    ///
    /// Stacks and registers are not overwritten.
    ///
    /// ```
    /// use bigint_curves::Curve;
    ///
    /// let (alice, bob) = ([7; 32], [9; 32]);
    /// let of_alice = Curve::P256.multiply_secret(&Curve::P256.generator(), &alice)?;
    /// let of_bob = Curve::P256.multiply_secret(&Curve::P256.generator(), &bob)?;
    /// // Diffie and Hellman's exchange: both have the same point.
    /// let shared = Curve::P256.multiply_secret(&of_bob, &alice)?;
    /// assert_eq!(shared, Curve::P256.multiply_secret(&of_alice, &bob)?);
    /// # Ok::<(), bigint_curves::Rejection>(())
    /// ```
    ///
    /// # Errors
    /// [`Rejection::KeyEncoding`] or [`Rejection::NotOnCurve`], for the point.
    pub fn multiply_secret(self, point: &[u8], number: &[u8; 32]) -> Result<Vec<u8>, Rejection> {
        match self {
            Curve::Secp256k1 => multiply_short::<Secp256k1>(point, number),
            Curve::P256 => multiply_short::<P256>(point, number),
            Curve::Ed25519 => {
                let point = point.try_into().map_err(|_| Rejection::KeyEncoding)?;
                let encoding = words::limbs(of_little_endian(point));
                let (point, is_point) = edwards::decoded::<F>(encoding);
                let [x, y] = is_point.then_some(point).ok_or(Rejection::NotOnCurve)?;
                let sum = multiple::<Edwards>(Points::point(x, y), of_little_endian(number));
                let sum = Points::coordinates(sum);
                let inverse = batch::inverse::<F>(sum[2], Of25519::PRIME);
                let encoding = edwards::encoded::<F>(sum, inverse);
                Ok(words::bytes(words::of_limbs(encoding)).to_vec())
            }
        }
    }
}

fn multiply_short<C: OnHost>(point: &[u8], number: &[u8; 32]) -> Result<Vec<u8>, Rejection> {
    let (x, y) = ecdsa::key::<C>(point)?;
    let (point, is_on_curve) = decoded::<C>(x, y);
    let point = is_on_curve.then_some(point).ok_or(Rejection::NotOnCurve)?;
    let sum = multiple::<Short<C>>(complete::point::<C>(point), of_big_endian(number));
    let coordinates = complete::affine::<C>(sum, C::PRIME);
    let mut bytes = uncompressed(coordinates);
    // Both are 0 for the point at infinity alone: (0, 0) is on neither curve.
    let any = coordinates
        .as_flattened()
        .iter()
        .fold(0, |any, limb| any | limb);
    let is_point = black_box((u64::from(any).wrapping_neg() >> 63) as u8);
    bytes[0] = is_point << 2;
    Ok(bytes)
}

/// The 65 bytes of a point.
fn uncompressed(coordinates: [Limbs; 2]) -> Vec<u8> {
    let mut all = vec![4];
    for coordinate in coordinates {
        let mut bytes = words::bytes(words::of_limbs(coordinate));
        bytes.reverse();
        all.extend(bytes);
    }
    all
}
