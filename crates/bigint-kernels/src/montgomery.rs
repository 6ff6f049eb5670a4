//! Arithmetic modulo `m` in Montgomery's form ([Montgomery 1985], CIOS of [Koç 1996]), in
//! the registers of the lanes that share a number: of a thread by itself, or of a group.
//!
//! With `B` = 2^32 and `R` = `B^k`, a residue `x` stands as `x R mod m`, `m` odd. The product
//! of two such, `a b / R mod m`, stands for the product of the residues. It is made a limb of
//! `a` at a time: with `m' = -1/m mod B`,
//!
//! ```text
//! t = t + a[i] b          q = t[0] m' mod B
//! t = (t + q m) / B       the lowest limb of t + q m is 0
//! ```
//!
//! By hand, with `B` = 10, `m` = 7 and `m'` = 7 (7 * 7 = 49, -1 mod 10): 5 times 6 is 30,
//! `q` = 0, so 3; and 30 / 10 is 3 modulo 7.
//!
//! Lane `l` has limbs `X l .. X l + X` of `a`, `b` and `m`, and of `t` a [`Window`]:
//!
//! ```text
//! lane           0          1          2          3
//! a, b, m     0 .. X    X .. 2X   2X .. 3X   3X .. 4X
//! t          [ lowest][ lowest ][ lowest ][ lowest ]
//! q by lane 0 ^    \____/ each lane's lowest limb goes to the lane below
//! ```
//!
//! All lanes multiply by `a[i]`, which the lane that has it hands round, then by `q`, which
//! lane 0 does; then the windows slide. The lowest limb of lane 0 has become zero and comes
//! round to the top lane, above whose window there is nothing.
//!
//! A thread by itself squares first, each two limbs multiplied once ([`triangle`]), then takes
//! the lower `k` limbs of `a a` away as multiples of `m`, by the same steps without `a[i] b`,
//! and adds the upper ones: `(a a + q m) / R < 2 m` likewise.
//!
//! Bounds: `a b < R m` gives `t < 2 m`, and one subtraction ends it; `a`, so, may be any
//! number of `k` limbs where `b < m`. A window holds less than `3 B^X`: it gets at most
//! `2 (B - 1) (B^X - 1)`, is divided by `B`, and gets a limb from above.
//!
//! What lanes do depends on widths alone, and on `m` in [`Modulus::one`]: no branch and no
//! address on residues.
//!
//! Cost: `2 k X L + k` products for `L` lanes: `2 n^2 + n` where the limbs of lanes are full;
//! three shuffles a limb of `a`. A thread's square takes `X (X + 1) / 2 + X^2 + X`. No scratch.

use crate::gpu::memory::{Number, Stride};
use crate::gpu::triangle;
use crate::gpu::warp::Group;
use crate::gpu::window::{self, Slide, Window};
use crate::squares::{self, carried, each, mask};
use crate::warp::lookahead::{self, bit};
use bigint_core::{LIMB_BITS, Limb};

/// An odd modulus, as a lane sees it.
#[derive(Clone, Copy)]
pub struct Modulus<const LANES: u32, const X: usize> {
    group: Group<LANES>,
    limbs: [Limb; X],
    /// `-1/m mod B`.
    inverse: Limb,
    /// Lanes that limbs of the modulus are in, rounded up: `R` is `B^(X digits)`.
    digits: u32,
}

impl<const X: usize> Modulus<1, X> {
    /// The odd modulus of these limbs, as a thread by itself has it.
    #[inline(always)]
    pub const fn of_limbs(limbs: [Limb; X]) -> Self {
        Modulus {
            group: Group::thread(),
            limbs,
            inverse: inverse(limbs[0]).wrapping_neg(),
            digits: 1,
        }
    }

    /// The modulus's limbs.
    #[inline(always)]
    pub const fn limbs(self) -> [Limb; X] {
        self.limbs
    }
}

impl<const LANES: u32, const X: usize> Modulus<LANES, X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// The modulus `m`, of at most `X LANES` limbs.
    #[inline(always)]
    pub fn new(group: Group<LANES>, m: Number<impl Stride>) -> Self {
        let limbs = load(m, X as u32 * group.lane());
        let lowest = group.shuffle(limbs[0], 0);
        let digits = match LANES {
            1 => 1,
            _ => m.width().div_ceil(X as u32),
        };
        Modulus {
            group,
            limbs,
            inverse: inverse(lowest).wrapping_neg(),
            digits,
        }
    }

    /// Whether the modulus is odd, in every lane.
    #[inline(always)]
    pub fn is_odd(self) -> bool {
        self.group.shuffle(self.limbs[0], 0) % 2 == 1
    }

    /// The first limb of the calling lane.
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

    /// Limbs of `R`; no modulus has none, which the compiler must be told.
    #[inline(always)]
    pub fn limbs_of_r(self) -> u32 {
        (X as u32 * self.digits).max(1)
    }

    /// `a b / R mod m`, where `a b < R m`.
    #[inline(always)]
    pub fn product(self, a: [Limb; X], b: [Limb; X]) -> [Limb; X] {
        let mut window = Window::<X>::new([0; X]);
        let mut lane = 0;
        loop {
            // Written out: in a loop the limbs would have to be in memory.
            self.four_steps::<0>(&mut window, a, b, lane);
            self.four_steps::<4>(&mut window, a, b, lane);
            self.four_steps::<8>(&mut window, a, b, lane);
            self.four_steps::<12>(&mut window, a, b, lane);
            self.four_steps::<16>(&mut window, a, b, lane);
            self.four_steps::<20>(&mut window, a, b, lane);
            self.four_steps::<24>(&mut window, a, b, lane);
            self.four_steps::<28>(&mut window, a, b, lane);
            lane += 1;
            if LANES == 1 || lane >= self.digits {
                break;
            }
        }
        self.reduced(window)
    }

    /// `a^2 / R mod m`, where `a < m`.
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

    /// `a b / R`, of a thread by itself, where `a b < (R - m) R`: below `m + a b / R`, and not reduced.
    #[inline(always)]
    pub fn lazy_product(self, a: [Limb; X], b: [Limb; X]) -> [Limb; X] {
        let mut window = Window::<X>::new([0; X]);
        // Written out, as in `product`.
        self.four_steps::<0>(&mut window, a, b, 0);
        self.four_steps::<4>(&mut window, a, b, 0);
        self.four_steps::<8>(&mut window, a, b, 0);
        self.four_steps::<12>(&mut window, a, b, 0);
        self.four_steps::<16>(&mut window, a, b, 0);
        self.four_steps::<20>(&mut window, a, b, 0);
        self.four_steps::<24>(&mut window, a, b, 0);
        self.four_steps::<28>(&mut window, a, b, 0);
        window.sum().0
    }

    /// `a^2 / R`, as [`lazy_product`](Self::lazy_product).
    #[inline(always)]
    pub fn lazy_square(self, a: [Limb; X]) -> [Limb; X] {
        let [lower, upper] = triangle::square(a);
        let limbs = self.lazily_reduced(lower).sum().0;
        Window::<X>::add_digits(limbs, upper).0
    }

    /// `a s / B`, as [`lazy_product`](Self::lazy_product): below `m + a s / B`.
    #[inline(always)]
    pub fn scaled(self, a: [Limb; X], s: Limb) -> [Limb; X] {
        let mut window = Window::<X>::new([0; X]);
        self.step(&mut window, s, a);
        window.sum().0
    }

    /// A thread's window whose lower limbs were these, once they are taken away.
    #[inline(always)]
    fn lazily_reduced(self, lower: [Limb; X]) -> Window<X> {
        let mut window = Window::<X>::new(lower);
        // Written out, as in `product`.
        self.reduce_four(&mut window, 0);
        self.reduce_four(&mut window, 4);
        self.reduce_four(&mut window, 8);
        self.reduce_four(&mut window, 12);
        self.reduce_four(&mut window, 16);
        self.reduce_four(&mut window, 20);
        self.reduce_four(&mut window, 24);
        self.reduce_four(&mut window, 28);
        window
    }

    /// Whether lanes [square](Self::square_by_lanes): those with the widest digits.
    #[inline(always)]
    pub fn lanes_square(self) -> bool {
        LANES != 1 && X == 32
    }

    /// `a^2 / R mod m`, where `a < m` and [lanes square](Self::lanes_square).
    #[inline(always)]
    pub fn square_by_lanes(self, a: [Limb; X]) -> [Limb; X] {
        let (lower, upper, over) = squares::square(self.group, a);
        let mut window = Window::<X>::new(lower);
        let mut lane = 0;
        loop {
            let _: [Limb; X] = each(|_| {
                self.reduce_shared(&mut window);
                0
            });
            lane += 1;
            if lane >= self.digits {
                break;
            }
        }
        let (mut upper, mut over) = (upper, over);
        // What lanes have of the square stands as many lanes higher as have nothing of `R`.
        let missing = self.group.lanes() - self.digits;
        if missing > 0 {
            let (lane, group) = (self.group.lane(), self.group);
            let moved =
                |limb| group.shuffle(limb, lane.wrapping_sub(missing)) & mask(lane >= missing);
            upper = each(|i| moved(upper[i]));
            over = moved(over);
        }
        let (limbs, above) = window.sum();
        let (limbs, carry) = Window::<X>::add_digits(limbs, upper);
        let (limbs, above) = carried(self.group, limbs, above + carry + over);
        self.subtracted(limbs, above)
    }

    /// Takes the lowest limb of the windows of all lanes away, by a multiple of `m`.
    #[inline(always)]
    fn reduce_shared(self, window: &mut Window<X>) {
        let q = window.lowest().wrapping_mul(self.inverse);
        let (lowest, carry) = window.multiply(self.group.shuffle(q, 0), self.limbs);
        window.slide(window::top(self.group.rotate_down(lowest), carry));
    }

    /// The steps of limbs `FIRST .. FIRST + 4` of `lane`, if it has so many.
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

    /// Takes limbs `first .. first + 4` away, if there are so many.
    #[inline(always)]
    fn reduce_four(self, window: &mut Window<X>, first: usize) {
        if first < X {
            self.reduce(window);
            self.reduce(window);
            self.reduce(window);
            self.reduce(window);
        }
    }

    /// Takes the lowest limb of a thread's window away, by a multiple of `m`.
    #[inline(always)]
    fn reduce(self, window: &mut Window<X>) {
        let q = window.lowest().wrapping_mul(self.inverse);
        let (_, carry) = window.multiply(q, self.limbs);
        window.slide([carry, 0]);
    }

    /// The number that the windows of all lanes hold, less than `2 m`, modulo `m`.
    #[inline(always)]
    fn reduced(self, window: Window<X>) -> [Limb; X] {
        let (limbs, over) = window.sum();
        let (limbs, above) = carried(self.group, limbs, over);
        self.subtracted(limbs, above)
    }

    /// `limbs + above R` less `m` where it is not below `m`.
    #[inline(always)]
    fn subtracted(self, limbs: [Limb; X], above: Limb) -> [Limb; X] {
        let (difference, borrow) = self.difference(limbs, self.limbs);
        let keep = (borrow & !above & 1).wrapping_neg();
        Window::<X>::select(keep, limbs, difference)
    }

    /// `a - b` modulo the limbs of all lanes, and the borrow out.
    #[inline(always)]
    fn difference(self, a: [Limb; X], b: [Limb; X]) -> ([Limb; X], Limb) {
        let (limbs, borrow) = Window::<X>::subtract(a, b, 0);
        if LANES == 1 {
            return (limbs, borrow);
        }
        let group = self.group;
        let generate = group.ballot(borrow != 0);
        let propagate = group.ballot(Window::<X>::are_zero(limbs));
        let borrows = lookahead::carries(generate, propagate, 0);
        let (limbs, _) = Window::<X>::subtract(limbs, [0; X], bit(borrows, group.lane()));
        (limbs, bit(borrows, group.lanes()))
    }

    /// `a + b`, less `m` where it is not below `m`.
    #[inline(always)]
    pub fn sum(self, a: [Limb; X], b: [Limb; X]) -> [Limb; X] {
        let (limbs, carry) = Window::<X>::add_digits(a, b);
        let (limbs, above) = carried(self.group, limbs, carry);
        self.subtracted(limbs, above)
    }

    /// `R mod m`: 1 in Montgomery's form; but 1 where `m` is 1.
    ///
    /// The highest power of two that is below `m` is doubled modulo `m` as often as it
    /// takes: once where the top bit of `m` is set. The only place where time depends on a
    /// number, and that is the modulus.
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

/// `1/m mod B`, by Newton: `x` with `c` right bits gives `x (2 - m x)` with `2 c`, and
/// `3 m xor 2` has five.
#[inline(always)]
pub const fn inverse(m: Limb) -> Limb {
    let mut x = m.wrapping_mul(3) ^ 2;
    x = x.wrapping_mul(2u32.wrapping_sub(m.wrapping_mul(x)));
    x = x.wrapping_mul(2u32.wrapping_sub(m.wrapping_mul(x)));
    x.wrapping_mul(2u32.wrapping_sub(m.wrapping_mul(x)))
}

/// The `X` limbs of a number from limb `at` on.
#[inline(always)]
pub fn load<const X: usize>(number: Number<impl Stride>, at: u32) -> [Limb; X] {
    if number.in_fours() {
        number.fours::<X, true>(at)
    } else {
        number.fours::<X, false>(at)
    }
}

/// The `X` limbs from limb `at` on of a number that is moved up by so many limbs.
#[inline(always)]
pub fn load_up<const X: usize>(number: Number<impl Stride>, at: u32, by: u32) -> [Limb; X] {
    let mut moved = [0; X];
    for (i, limb) in moved.iter_mut().enumerate() {
        // Below the number as above it: an index past its end.
        *limb = number.limb((at + i as u32).wrapping_sub(by));
    }
    moved
}

/// Sets the `X` limbs of a number from limb `at` on.
#[inline(always)]
pub fn store<const X: usize>(number: Number<impl Stride>, at: u32, limbs: [Limb; X]) {
    if number.in_fours() {
        number.set_fours::<X, true>(at, limbs);
    } else {
        number.set_fours::<X, false>(at, limbs);
    }
}

/// `r = a b / B^n mod m`, cut or zero-extended to the width of `r`; `n` limbs in `m`, and
/// both operands below it.
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
