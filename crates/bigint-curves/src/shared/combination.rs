//! `u G + v Q`, Straus' way ([Straus 1964]): one chain of doublings for all terms.
//!
//! `v`, or the halves that an endomorphism splits it into, is written in signed digits. Each digit adds a
//! small multiple of `Q` from a table that is made for this `Q`. `G` is always the same, so there is a table
//! of `d 256^i G` for each digit `d` of each place `i` of `u` in base 256, and no doubling is for its sake.
//!
//! How numbers are written is the caller's choice. A processor takes digits that are mostly zeros (w-NAF, one
//! bit to a window); lanes of a device walk in step, so that a zero of one is no gain to the others, and
//! take four bits to a window.

/// A group of points, and its sums in the forms in which they are cheap.
pub trait Group {
    /// A point that is computed with.
    type Point: Copy;

    /// A point of the table of `Q`.
    type Multiple: Copy;

    /// A point of the table of `G`.
    type Fixed: Copy;

    /// The point that adds nothing.
    fn identity() -> Self::Point;

    /// `2 p`.
    fn double(p: Self::Point) -> Self::Point;

    /// `p + q`, and whether the formula fails for these two.
    fn add(p: Self::Point, q: Self::Multiple) -> (Self::Point, bool);

    /// `p + q`, and whether the formula fails for these two.
    fn add_fixed(p: Self::Point, q: Self::Fixed) -> (Self::Point, bool);

    /// `-q`.
    fn negated(q: Self::Multiple) -> Self::Multiple;

    /// `-q`.
    fn negated_fixed(q: Self::Fixed) -> Self::Fixed;

    /// The image of a point by the endomorphism, where the curve has one.
    fn image(q: Self::Multiple) -> Self::Multiple;
}

/// A group, and how tables of `Q` are made for it.
pub trait Table: Group {
    /// What the points of a table have in common, and sums of them leave out.
    type Scale: Copy;

    /// The table's entry of `Q` as long as there are no others.
    fn first(q: Self::Point) -> Self::Multiple;

    /// Fills the table of `Q`, whose first entry is there, with `Q, 3 Q, 5 Q, ...` if `are_odd` is set, else with `Q, 2 Q, 3 Q, ...`.
    /// Answers what they have in common, and whether a formula failed.
    fn fill(
        table: &mut [Self::Multiple; ENTRIES],
        q: Self::Point,
        are_odd: bool,
    ) -> (Self::Scale, bool);

    /// A sum of points of a table, as the point that it stands for.
    fn restored(sum: Self::Point, scale: Self::Scale) -> Self::Point;
}

/// A group in which each point for itself can be a table's.
pub trait Direct: Group {
    /// The form of a table's entry.
    fn multiple(p: Self::Point) -> Self::Multiple;
}

/// Points in the table of `Q`.
pub const ENTRIES: usize = 8;

/// The place of a digit's multiple in its table, and whether it is subtracted.
pub type Digit = (usize, bool);

/// A number as the sum of terms, and their digits.
pub trait Digits {
    /// Terms. The second is a multiple of the endomorphism's image.
    const TERMS: usize;
    /// Windows of a term.
    const WINDOWS: u32;
    /// Bits to a window.
    const BITS: u32;
    /// The table's entries: `Q, 3 Q, 5 Q, ...` if set, else `Q, 2 Q, 3 Q, ...`.
    const ARE_ODD: bool;

    /// The digit of a window of a term, or nothing for 0.
    fn digit(&self, term: usize, window: u32) -> Option<Digit>;
}

impl<G: Direct> Table for G {
    type Scale = ();

    #[inline(always)]
    fn first(q: Self::Point) -> Self::Multiple {
        Self::multiple(q)
    }

    #[inline(always)]
    fn fill(
        table: &mut [Self::Multiple; ENTRIES],
        q: Self::Point,
        are_odd: bool,
    ) -> (Self::Scale, bool) {
        ((), fill_directly::<Self>(table, q, are_odd))
    }

    #[inline(always)]
    fn restored(sum: Self::Point, (): ()) -> Self::Point {
        sum
    }
}

/// [`Table::fill`] where points have nothing in common.
#[inline(always)]
fn fill_directly<G: Direct>(
    table: &mut [G::Multiple; ENTRIES],
    q: G::Point,
    are_odd: bool,
) -> bool {
    let twice = G::double(q);
    let (step, mut last) = if are_odd { (twice, q) } else { (q, twice) };
    let step = G::multiple(step);
    let (mut at, mut has_failed) = (1, false);
    if !are_odd {
        table[1] = G::multiple(twice);
        at = 2;
    }
    while at < ENTRIES {
        let failed;
        (last, failed) = G::add(last, step);
        table[at] = G::multiple(last);
        has_failed |= failed;
        at += 1;
    }
    has_failed
}

/// Bits of a place of `u`.
pub const PLACE_BITS: u32 = 8;

/// Points in the table of `G` for each place.
pub const PLACE_ENTRIES: usize = 1 << (PLACE_BITS - 1);

/// The digit of a window of so many bits, from the window's limb of a number to which half of a window's range was added
/// in every window. In base 10, 1874 + 5555 is 7429, whose digits less 5 are 2, -1, -3 and 4, and 2000 - 100 - 30 + 4
/// is 1874.
///
/// The entry is that in a table of `1, 2, 3, ...` times a point.
#[inline(always)]
pub fn digit_of(limb: u32, bits: u32, window: u32) -> Option<Digit> {
    let range = 1 << bits;
    let digit = (limb >> (window * bits % 32) & (range - 1)) as i32 - (range / 2) as i32;
    (digit != 0).then(|| (digit.unsigned_abs() as usize - 1, digit < 0))
}

/// `u G + v Q`, and whether a formula failed: then the sum is not this one. `u` has `places` places, whose points
/// `fixed` finds.
#[inline(always)]
pub fn combine<G: Table, D: Digits>(
    q: G::Point,
    digits: &D,
    places: u32,
    fixed: impl Fn(u32) -> Option<(G::Fixed, bool)>,
) -> (G::Point, bool) {
    let mut table = [G::first(q); ENTRIES];
    let (scale, mut has_failed) = G::fill(&mut table, q, D::ARE_ODD);
    let mut sum = G::identity();
    let mut window = D::WINDOWS;
    while window > 0 {
        window -= 1;
        let mut bit = 0;
        while bit < D::BITS {
            sum = G::double(sum);
            bit += 1;
        }
        let mut term = 0;
        while term < D::TERMS {
            if let Some((at, is_negative)) = digits.digit(term, window) {
                // Kernels have no checks of bounds.
                let mut entry = table[at % ENTRIES];
                if term == 1 {
                    entry = G::image(entry);
                }
                if is_negative {
                    entry = G::negated(entry);
                }
                let failed;
                (sum, failed) = G::add(sum, entry);
                has_failed |= failed;
            }
            term += 1;
        }
    }
    sum = G::restored(sum, scale);
    let mut place = 0;
    while place < places {
        if let Some((mut entry, is_negative)) = fixed(place) {
            if is_negative {
                entry = G::negated_fixed(entry);
            }
            let failed;
            (sum, failed) = G::add_fixed(sum, entry);
            has_failed |= failed;
        }
        place += 1;
    }
    (sum, has_failed)
}
