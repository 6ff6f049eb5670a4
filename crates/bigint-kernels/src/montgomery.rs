//! Arithmetic modulo `m` in Montgomery's form ([Montgomery 1985], CIOS of [Koç 1996]), in the
//! registers of the lanes that share a number, be it a thread by itself or a group.
//!
//! With `B` = 2^32, `R` = `B^k` and an odd `m`, the form of a residue `x` is `x R mod m`. For two
//! forms `a` and `b`, `a b / R mod m` is the form of the residues' product. It is computed one limb
//! of `a` at a time. With `m' = -1/m mod B`,
//!
//! ```text
//! t = t + a[i] b          q = t[0] m' mod B
//! t = (t + q m) / B       the lowest limb of t + q m is 0
//! ```
//!
//! By hand, with `B` = 10, `m` = 7 and `m'` = 7 (7 * 7 = 49, which is -1 mod 10): for `a` = 5 and
//! `b` = 6, `t` is 30 and `q` is 0, so `t` becomes 3; and 30 / 10 is indeed 3 modulo 7.
//!
//! Lane `l` has limbs `X l .. X l + X` of `a`, `b` and `m`, and a [`Window`] of `t`:
//!
//! ```text
//! lane           0          1          2          3
//! a, b, m     0 .. X    X .. 2X   2X .. 3X   3X .. 4X
//! t          [ lowest][ lowest ][ lowest ][ lowest ]
//! q by lane 0 ^    \____/ each lane's lowest limb goes to the lane below
//! ```
//!
//! All lanes multiply by `a[i]`, which the lane that has it hands to the others, and then by `q`,
//! which lane 0 hands to them. Then the windows slide. The lowest limb of lane 0 has become zero,
//! and goes around to the top lane, above whose window there is nothing.
//!
//! For a square, a thread by itself first computes `a a`, with each product of two limbs once
//! ([`triangle`]). Then it makes the lower `k` limbs zero by adding multiples of `m`, in the same
//! steps without `a[i] b`, and adds the upper limbs. Here too `(a a + q m) / R < 2 m`.
//!
//! Bounds: if `a b < R m`, then `t < 2 m`, and one subtraction reduces it. So `a` may be any number
//! of `k` limbs if `b < m`. A window holds less than `3 B^X`: in each step at most
//! `2 (B - 1) (B^X - 1)` is added, the window is divided by `B`, and gets a limb from above.
//!
//! No branch and no address depends on residues. They depend on widths alone, and in
//! [`Modulus::one`] on `m`.
//!
//! `k` is `n` rounded up to a multiple of `X`, or of four where `X` is 12 and one text serves all numbers of lanes.
//!
//! Cost: `2 k X L + k` products of limbs for `L` lanes, which is `2 n^2 + n` if `m` fills the
//! lanes' `n` limbs; three shuffles for each limb of `a`. A thread's square takes
//! `X (X + 1) / 2 + X^2 + X` products. No scratch.

use crate::gpu::memory::{Number, Stride};
use crate::gpu::triangle;
use crate::gpu::warp::{Group, KNOWN};
use crate::gpu::window::{self, Slide, Window};
use crate::squares::{self, carried, each, mask};
use crate::warp::lookahead::{self, bit};
use bigint_core::{LIMB_BITS, Limb};

/// An odd modulus, as a lane sees it.
#[derive(Clone, Copy)]
pub struct Modulus<const LANES: u32, const X: usize> {
    group: Group<LANES>,
    limbs: [Limb; X],
    /// The number `-1/m mod B`.
    inverse: Limb,
    /// The number of stretches that hold limbs of the modulus. `R` is `B^(STRETCH stretches)`.
    stretches: u32,
}

impl<const X: usize> Modulus<1, X> {
    /// The odd modulus with these limbs, for a thread by itself.
    #[inline(always)]
    pub const fn of_limbs(limbs: [Limb; X]) -> Self {
        Modulus {
            group: Group::thread(),
            limbs,
            inverse: inverse(limbs[0]).wrapping_neg(),
            stretches: 1,
        }
    }
}

impl<const LANES: u32, const X: usize> Modulus<LANES, X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// The limbs of a stretch, of which `R` has whole ones: a whole digit where registers are few, as code that may end
    /// within one takes more of them.
    const STRETCH: usize = match (LANES, X) {
        (KNOWN, 12) => 4,
        _ => X,
    };

    /// The stretches of a digit.
    const STRETCHES: u32 = (X / Self::STRETCH) as u32;

    /// The odd modulus of which the calling lane has these limbs.
    #[inline(always)]
    pub fn of_lane(group: Group<LANES>, limbs: [Limb; X]) -> Self {
        let lowest = group.shuffle(limbs[0], 0);
        Modulus {
            group,
            limbs,
            inverse: inverse(lowest).wrapping_neg(),
            stretches: Self::STRETCHES * group.lanes(),
        }
    }

    /// The modulus `m`, of at most `X LANES` limbs.
    #[inline(always)]
    pub fn new(group: Group<LANES>, m: Number<impl Stride>) -> Self {
        let limbs = load(m, X as u32 * group.lane());
        let stretches = match LANES {
            1 => 1,
            _ => m.width().div_ceil(Self::STRETCH as u32),
        };
        Modulus {
            stretches,
            ..Self::of_lane(group, limbs)
        }
    }

    /// The lane's limbs of the modulus.
    #[inline(always)]
    pub const fn limbs(self) -> [Limb; X] {
        self.limbs
    }

    /// The lanes that share a number.
    #[inline(always)]
    pub const fn group(self) -> Group<LANES> {
        self.group
    }

    /// Whether the modulus is odd, in every lane.
    #[inline(always)]
    pub fn is_odd(self) -> bool {
        self.group.shuffle(self.limbs[0], 0) % 2 == 1
    }

    /// The index of the calling lane's first limb.
    #[inline(always)]
    pub fn own(self) -> u32 {
        X as u32 * self.group.lane()
    }

    /// `r = x`, cut or zero-extended to the width of `r`.
    #[inline(always)]
    pub fn store(self, r: Number<impl Stride>, x: [Limb; X]) {
        store(r, self.own(), x);
        let lanes = self.group.lanes();
        let mut at = X as u32 * lanes + self.group.lane();
        while at < r.width() {
            r.set(at, 0);
            at += lanes;
        }
    }

    /// The number of limbs of `R`. It is never zero, which `max` tells the compiler.
    #[inline(always)]
    pub fn limbs_of_r(self) -> u32 {
        (Self::STRETCH as u32 * self.stretches).max(1)
    }

    /// `a b / R mod m`, for `a b < R m`.
    #[inline(always)]
    pub fn product(self, a: [Limb; X], b: [Limb; X]) -> [Limb; X] {
        self.reduced(self.multiplied(a, b))
    }

    /// The lanes' windows of `a b / R`, not reduced.
    #[inline(always)]
    fn multiplied(self, a: [Limb; X], b: [Limb; X]) -> Window<X> {
        let mut window = Window::<X>::new([0; X]);
        let mut stretches = 0;
        loop {
            let lane = stretches / Self::STRETCHES;
            // The steps for a digit are written out, as in a loop the limbs would have to be in memory.
            macro_rules! steps {
                ($($first:literal)*) => {$(
                    if Self::may_end_at($first) && stretches + Self::stretches_below($first) >= self.stretches {
                        break;
                    }
                    self.four_steps::<$first>(&mut window, a, b, lane);
                )*};
            }
            steps! { 0 4 8 12 16 20 24 28 }
            if X % 4 == 2 {
                self.step(&mut window, self.group.shuffle(a[X - 2], lane), b);
                self.step(&mut window, self.group.shuffle(a[X - 1], lane), b);
            }
            stretches += Self::STRETCHES;
            if LANES == 1 || stretches >= self.stretches {
                break;
            }
        }
        window
    }

    /// Whether limb `at` of a digit is the first of a stretch above the first.
    #[inline(always)]
    const fn may_end_at(at: usize) -> bool {
        at > 0 && at < X && at.is_multiple_of(Self::STRETCH)
    }

    /// The stretches below limb `at` of a digit.
    #[inline(always)]
    const fn stretches_below(at: usize) -> u32 {
        (at / Self::STRETCH) as u32
    }

    /// The number of lanes that hold limbs of `R`.
    #[inline(always)]
    const fn digits(self) -> u32 {
        self.stretches.div_ceil(Self::STRETCHES)
    }

    /// `a^2 / R mod m`, for `a < m`.
    #[inline(always)]
    pub fn square(self, a: [Limb; X]) -> [Limb; X] {
        if LANES != 1 {
            return self.product(a, a);
        }
        let [lower, upper] = triangle::square(a);
        let (limbs, over) = self.lazily_reduced(lower).sum();
        let (limbs, carry) = Window::<X>::add_digits(limbs, upper);
        self.subtracted(limbs, over + carry)
    }

    /// `a b / R` modulo `m`, not reduced but below `m + a b / R`, for `a b < (R - m) R`.
    #[inline(always)]
    pub fn lazy_product(self, a: [Limb; X], b: [Limb; X]) -> [Limb; X] {
        let (limbs, over) = self.multiplied(a, b).sum();
        carried(self.group, limbs, over).0
    }

    /// [`lazy_product`](Self::lazy_product) by a thread for `b < R / 2` and `m < R / 4`: no chain but one has a carry, which saves five
    /// additions a limb.
    #[inline(always)]
    pub fn lean_product(self, a: [Limb; X], b: [Limb; X]) -> [Limb; X] {
        const { assert!(LANES == 1, "lean products are a thread's") }
        let mut window = Window::<X>::new([0; X]);
        // Written out, as in `steps`.
        let _: [Limb; X] = each(|i| {
            let (lowest, carry) = window.add_below(a[i], b, 0);
            let q = lowest.wrapping_mul(self.inverse);
            let (_, carry) = window.add_below(q, self.limbs, carry);
            window.slide([carry, 0]);
            0
        });
        window.sum().0
    }

    /// `a^2 / R` modulo `m`, not reduced, as [`lazy_product`](Self::lazy_product).
    #[inline(always)]
    pub fn lazy_square(self, a: [Limb; X]) -> [Limb; X] {
        if LANES != 1 {
            return self.squared(a).0;
        }
        let [lower, upper] = triangle::square(a);
        let limbs = self.lazily_reduced(lower).sum().0;
        Window::<X>::add_digits(limbs, upper).0
    }

    /// `a s / B` modulo `m`, not reduced but below `m + a s / B`, as
    /// [`lazy_product`](Self::lazy_product).
    #[inline(always)]
    pub fn scaled(self, a: [Limb; X], s: Limb) -> [Limb; X] {
        let mut window = Window::<X>::new([0; X]);
        self.step(&mut window, s, a);
        let (limbs, over) = window.sum();
        carried(self.group, limbs, over).0
    }

    /// The window of a thread that held the limbs `lower`, after multiples of `m` have made all of
    /// them zero.
    #[inline(always)]
    fn lazily_reduced(self, lower: [Limb; X]) -> Window<X> {
        let mut window = Window::<X>::new(lower);
        // The steps are written out, as in `steps`.
        self.reduce_four(&mut window, 0);
        self.reduce_four(&mut window, 4);
        self.reduce_four(&mut window, 8);
        self.reduce_four(&mut window, 12);
        self.reduce_four(&mut window, 16);
        self.reduce_four(&mut window, 20);
        self.reduce_four(&mut window, 24);
        self.reduce_four(&mut window, 28);
        if X % 4 == 2 {
            self.reduce(&mut window);
            self.reduce(&mut window);
        }
        window
    }

    /// Whether lanes [square](Self::square_by_lanes) faster than they multiply. Lanes with wide
    /// digits do.
    #[inline(always)]
    pub fn lanes_square(self) -> bool {
        LANES != 1 && X >= 24
    }

    /// `a^2 / R mod m`, for `a < m`, if [lanes square](Self::lanes_square).
    #[inline(always)]
    pub fn square_by_lanes(self, a: [Limb; X]) -> [Limb; X] {
        let (limbs, above) = self.squared(a);
        self.subtracted(limbs, above)
    }

    /// `a^2 / R` by lanes, not reduced: the lane's limbs, and the limb above all lanes.
    #[inline(always)]
    fn squared(self, a: [Limb; X]) -> ([Limb; X], Limb) {
        let (lower, upper, over) = squares::square(self.group, a);
        let mut window = Window::<X>::new(lower);
        let mut lane = 0;
        loop {
            let _: [Limb; X] = each(|_| {
                self.reduce_shared(&mut window);
                0
            });
            lane += 1;
            if lane >= self.digits() {
                break;
            }
        }
        let (mut upper, mut over) = (upper, over);
        // The upper half of the square begins at the lane after all lanes, but `R` may take fewer
        // lanes. So its digits move up by the lanes that hold nothing of `R`.
        let missing = self.group.lanes() - self.digits();
        if missing > 0 {
            let (lane, group) = (self.group.lane(), self.group);
            let moved =
                |limb| group.shuffle(limb, lane.wrapping_sub(missing)) & mask(lane >= missing);
            upper = each(|i| moved(upper[i]));
            over = moved(over);
        }
        let (limbs, above) = window.sum();
        let (limbs, carry) = Window::<X>::add_digits(limbs, upper);
        carried(self.group, limbs, above + carry + over)
    }

    /// Makes the lowest limb of the number in all lanes' windows zero by adding a multiple of `m`,
    /// and slides the windows.
    #[inline(always)]
    fn reduce_shared(self, window: &mut Window<X>) {
        let q = window.lowest().wrapping_mul(self.inverse);
        let (lowest, carry) = window.multiply(self.group.shuffle(q, 0), self.limbs);
        window.slide(window::top(self.group.rotate_down(lowest), carry));
    }

    /// The steps for limbs `FIRST .. FIRST + 4` of lane `lane`, if lanes have so many limbs.
    #[inline(always)]
    fn four_steps<const FIRST: usize>(
        self,
        window: &mut Window<X>,
        a: [Limb; X],
        b: [Limb; X],
        lane: u32,
    ) {
        if let Some(&[a0, a1, a2, a3]) = a.get(FIRST..).and_then(|a| a.first_chunk::<4>()) {
            self.step(window, self.group.shuffle(a0, lane), b);
            self.step(window, self.group.shuffle(a1, lane), b);
            self.step(window, self.group.shuffle(a2, lane), b);
            self.step(window, self.group.shuffle(a3, lane), b);
        }
    }

    #[inline(always)]
    fn step(self, window: &mut Window<X>, limb: Limb, b: [Limb; X]) {
        let (lowest, carries) = window.add_product(limb, b, [0; 2]);
        let q = self.group.shuffle(lowest.wrapping_mul(self.inverse), 0);
        let (lowest, [even, odd]) = window.add_product(q, self.limbs, carries);
        let above = match LANES {
            1 => 0,
            _ => self.group.rotate_down(lowest),
        };
        let [lower, upper] = window::top(above, even);
        window.slide([lower, upper + odd]);
    }

    /// Makes limbs `first .. first + 4` zero, if there are so many.
    #[inline(always)]
    fn reduce_four(self, window: &mut Window<X>, first: usize) {
        if first + 4 <= X {
            self.reduce(window);
            self.reduce(window);
            self.reduce(window);
            self.reduce(window);
        }
    }

    /// Makes the lowest limb of a thread's window zero by adding a multiple of `m`, and slides the
    /// window.
    #[inline(always)]
    fn reduce(self, window: &mut Window<X>) {
        let q = window.lowest().wrapping_mul(self.inverse);
        let (_, carry) = window.multiply(q, self.limbs);
        window.slide([carry, 0]);
    }

    /// The number in the windows of all lanes, which is less than `2 m`, modulo `m`.
    #[inline(always)]
    fn reduced(self, window: Window<X>) -> [Limb; X] {
        let (limbs, over) = window.sum();
        let (limbs, above) = carried(self.group, limbs, over);
        self.subtracted(limbs, above)
    }

    /// `limbs + above R`, minus `m` unless it is below `m`.
    #[inline(always)]
    fn subtracted(self, limbs: [Limb; X], above: Limb) -> [Limb; X] {
        let (difference, borrow) = self.difference(limbs, self.limbs);
        let keep = (borrow & !above & 1).wrapping_neg();
        Window::<X>::select(keep, limbs, difference)
    }

    /// `a - b` cut to the limbs of all lanes, and the borrow out.
    #[inline(always)]
    pub fn difference(self, a: [Limb; X], b: [Limb; X]) -> ([Limb; X], Limb) {
        let (limbs, borrow) = Window::<X>::subtract(a, b, 0);
        if LANES == 1 {
            return (limbs, borrow);
        }
        let group = self.group;
        if LANES == 2 {
            // The first lane is asked for nothing, so that borrows end here.
            let asked = group.rotate_up(borrow, 1) & mask(group.lane() == 1);
            let (limbs, again) = Window::<X>::subtract(limbs, [0; X], asked);
            return (limbs, group.shuffle(borrow + again, 1));
        }
        let generate = group.ballot(borrow != 0);
        let propagate = group.ballot(Window::<X>::are_zero(limbs));
        let borrows = lookahead::carries(generate, propagate, 0);
        let (limbs, _) = Window::<X>::subtract(limbs, [0; X], bit(borrows, group.lane()));
        (limbs, bit(borrows, group.lanes()))
    }

    /// `a + b`, minus `m` unless it is below `m`.
    #[inline(always)]
    pub fn sum(self, a: [Limb; X], b: [Limb; X]) -> [Limb; X] {
        let (limbs, carry) = Window::<X>::add_digits(a, b);
        let (limbs, above) = carried(self.group, limbs, carry);
        self.subtracted(limbs, above)
    }

    /// `a - b`, plus `m` if it is negative.
    #[inline(always)]
    pub fn less(self, a: [Limb; X], b: [Limb; X]) -> [Limb; X] {
        let (difference, borrow) = self.difference(a, b);
        let mask = borrow.wrapping_neg();
        let again = self.limbs.map(|limb| limb & mask);
        let (limbs, carry) = Window::<X>::add_digits(difference, again);
        carried(self.group, limbs, carry).0
    }

    /// `R mod m`, which is 1 in Montgomery's form; but 1 if `m` is 1.
    ///
    /// The highest power of two below `m` is doubled modulo `m` until it has become `R`: once if
    /// `R` is only twice as great. This is the only place where time depends on a number, and that
    /// number is the modulus.
    #[inline(always)]
    pub fn one(self) -> [Limb; X] {
        let mut own = 0;
        for (i, limb) in self.limbs.iter().enumerate() {
            let end = (LIMB_BITS * (i + 1)) as u32;
            own = if *limb == 0 {
                own
            } else {
                end - limb.leading_zeros()
            };
        }
        let holders = self.group.ballot(own != 0);
        let top = 63 - (holders | 1).leading_zeros();
        let bits = (X * LIMB_BITS) as u32 * top + self.group.shuffle(own, top);
        let place = bits
            .saturating_sub(1)
            .wrapping_sub(LIMB_BITS as u32 * self.own());
        let mut power = [0; X];
        for (i, limb) in power.iter_mut().enumerate() {
            let is_here = place / LIMB_BITS as u32 == i as u32;
            *limb = Limb::from(is_here) << (place % LIMB_BITS as u32);
        }
        let mut left = LIMB_BITS as u32 * self.limbs_of_r() + 1 - bits.max(1);
        while !self.group.all(left == 0) {
            let doubled = self.sum(power, power);
            power = Window::<X>::select(Limb::from(left == 0).wrapping_neg(), power, doubled);
            left = left.saturating_sub(1);
        }
        power
    }
}

/// `1/m mod B` by Newton's method. If `x` has `c` correct bits, `x (2 - m x)` has `2 c`; the first
/// `x`, `3 m xor 2`, has five.
#[inline(always)]
pub const fn inverse(m: Limb) -> Limb {
    let mut x = m.wrapping_mul(3) ^ 2;
    x = x.wrapping_mul(2u32.wrapping_sub(m.wrapping_mul(x)));
    x = x.wrapping_mul(2u32.wrapping_sub(m.wrapping_mul(x)));
    x.wrapping_mul(2u32.wrapping_sub(m.wrapping_mul(x)))
}

/// The `X` limbs of a number from limb `at` on. If `X` is a multiple of four, so is `at`.
#[inline(always)]
pub fn load<const X: usize>(number: Number<impl Stride>, at: u32) -> [Limb; X] {
    if X % 4 == 0 && number.in_fours() {
        number.fours::<X, true>(at)
    } else {
        number.fours::<X, false>(at)
    }
}

/// The `X` limbs from limb `at` on of a number that is moved up by `by` limbs.
#[inline(always)]
pub fn load_up<const X: usize>(number: Number<impl Stride>, at: u32, by: u32) -> [Limb; X] {
    let mut moved = [0; X];
    for (i, limb) in moved.iter_mut().enumerate() {
        // A place below the number wraps around to one past its end, and reads as zero.
        *limb = number.limb((at + i as u32).wrapping_sub(by));
    }
    moved
}

/// Sets the `X` limbs of a number from limb `at` on, as [`load`] loads them.
#[inline(always)]
pub fn store<const X: usize>(number: Number<impl Stride>, at: u32, limbs: [Limb; X]) {
    if X % 4 == 0 && number.in_fours() {
        number.set_fours::<X, true>(at, limbs);
    } else {
        number.set_fours::<X, false>(at, limbs);
    }
}

/// `r = a b / B^n mod m`, cut or zero-extended to the width of `r`. `m` has `n` limbs, and both
/// operands are below it.
#[inline(always)]
pub fn number<const LANES: u32, const X: usize, S: Stride>(
    modulus: Modulus<LANES, X>,
    r: Number<S>,
    a: Number<S>,
    b: Number<S>,
    m: Number<S>,
) where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let own = modulus.own();
    let missing = modulus.limbs_of_r() - m.width();
    let (a, b) = (a.part(0, m.width()), b.part(0, m.width()));
    let a = match missing {
        0 => load(a, own),
        _ => load_up(a, own, missing),
    };
    let product = modulus.product(a, load(b, own));
    modulus.store(r, product);
}
