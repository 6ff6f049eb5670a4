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

    /// Whether sums with the point that adds nothing are right, too.
    const HAS_IDENTITY: bool;

    /// The point that adds nothing.
    fn identity() -> Self::Point;

    /// `2 p`.
    fn double(p: Self::Point) -> Self::Point;

    /// `q` itself.
    #[inline(always)]
    fn of_multiple(q: Self::Multiple) -> Self::Point {
        Self::add(Self::identity(), q)
    }

    /// `p + q`.
    fn add(p: Self::Point, q: Self::Multiple) -> Self::Point;

    /// `q` itself.
    #[inline(always)]
    fn of_fixed(q: Self::Fixed) -> Self::Point {
        Self::add_fixed(Self::identity(), q)
    }

    /// `p + q`.
    fn add_fixed(p: Self::Point, q: Self::Fixed) -> Self::Point;

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
    /// Answers what they have in common.
    fn fill(table: &mut [Self::Multiple; ENTRIES], q: Self::Point, are_odd: bool) -> Self::Scale;

    /// A point of the table of `G` as one of the table of `Q`, if they have the same form: then one body of code adds both.
    const OF_FIXED: Option<fn(Self::Fixed) -> Self::Multiple> = None;

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

    /// Whether threads walk in step, so that none may end before the others.
    const IS_IN_STEP: bool = false;

    /// The digit of a window of a term, or nothing for 0.
    fn digit(&self, term: usize, window: u32) -> Option<Digit>;

    /// Comes before each double and each sum: where threads in step wait for one another.
    #[inline(always)]
    fn meet(&self) {}
}

impl<G: Direct> Table for G {
    type Scale = ();

    #[inline(always)]
    fn first(q: Self::Point) -> Self::Multiple {
        Self::multiple(q)
    }

    #[inline(always)]
    fn fill(table: &mut [Self::Multiple; ENTRIES], q: Self::Point, are_odd: bool) {
        let twice = G::double(q);
        let (step, mut last) = if are_odd { (twice, q) } else { (q, twice) };
        let step = G::multiple(step);
        let mut at = 1;
        if !are_odd {
            table[1] = G::multiple(twice);
            at = 2;
        }
        while at < ENTRIES {
            last = G::add(last, step);
            table[at] = G::multiple(last);
            at += 1;
        }
    }

    #[inline(always)]
    fn restored(sum: Self::Point, (): ()) -> Self::Point {
        sum
    }
}

/// Bits of a place of `u`.
pub const PLACE_BITS: u32 = 8;

/// Points in the table of `G` for each place.
pub const PLACE_ENTRIES: usize = 1 << (PLACE_BITS - 1);

/// The digit of a window of so many bits, from the window's limb of a number to which one less than half of a window's range was
/// added in every window. In base 10, 1874 + 4444 is 6318, whose digits less 4 are 2, -1, -3 and 4, and 2000 - 100 - 30 + 4
/// is 1874. A number below half of all windows' range has no digit above them.
///
/// The entry is that in a table of `1, 2, 3, ...` times a point.
#[inline(always)]
pub fn digit_of(limb: u32, bits: u32, window: u32) -> Option<Digit> {
    let range = 1 << bits;
    let digit = (limb >> (window * bits % 32) & (range - 1)) as i32 - (range / 2 - 1) as i32;
    (digit != 0).then(|| (digit.unsigned_abs() as usize - 1, digit < 0))
}

/// `u G + v Q`. `u` has `places` places, whose points `fixed` finds.
#[inline(always)]
pub fn combine<G: Table, D: Digits>(
    q: G::Point,
    digits: &D,
    places: u32,
    fixed: impl Fn(u32) -> Option<(G::Fixed, bool)>,
) -> G::Point {
    let mut table = [G::first(q); ENTRIES];
    let scale = G::fill(&mut table, q, D::ARE_ODD);
    let fixed = |place| {
        let (entry, is_negative) = fixed(place)?;
        Some(if is_negative {
            G::negated_fixed(entry)
        } else {
            entry
        })
    };
    let multiple = |term, window| {
        let (at, is_negative) = digits.digit(term as usize, window)?;
        // Kernels have no checks of bounds.
        let mut entry = table[at % ENTRIES];
        if term == 1 {
            entry = G::image(entry);
        }
        Some(if is_negative {
            G::negated(entry)
        } else {
            entry
        })
    };
    let mut sum = G::identity();
    let mut has_begun = G::HAS_IDENTITY;
    let mut window = D::WINDOWS;
    loop {
        window -= 1;
        let (mut term, mut terms) = (0, D::TERMS as u32);
        if window == 0 && G::OF_FIXED.is_some() {
            terms += places;
        }
        while term < terms {
            digits.meet();
            let entry = match G::OF_FIXED {
                Some(multiple) if term >= D::TERMS as u32 => {
                    if term == D::TERMS as u32 {
                        sum = G::restored(sum, scale);
                    }
                    fixed(term - D::TERMS as u32).map(multiple)
                }
                _ => multiple(term, window),
            };
            if let Some(entry) = entry {
                sum = if has_begun {
                    G::add(sum, entry)
                } else {
                    G::of_multiple(entry)
                };
                has_begun = true;
            }
            term += 1;
        }
        if window == 0 {
            break;
        }
        let mut bit = 0;
        while bit < D::BITS {
            digits.meet();
            sum = G::double(sum);
            bit += 1;
        }
    }
    if G::OF_FIXED.is_some() {
        return sum;
    }
    sum = G::restored(sum, scale);
    let mut place = 0;
    while place < places {
        digits.meet();
        if let Some(entry) = fixed(place) {
            sum = if has_begun {
                G::add_fixed(sum, entry)
            } else {
                G::of_fixed(entry)
            };
            has_begun = true;
        }
        place += 1;
    }
    sum
}
