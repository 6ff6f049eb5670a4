//! Montgomery products by a block, whose numbers stay in registers from one product to the next.
//!
//! [`bigint_core::transform::rings`] explains the rings, and why nothing is lost. There are `T` threads and `L = 16 T`
//! limbs, which are `2 L` digits. With a first pass of radix `R`, thread `t` has limbs `t + i L/2R` and, in the upper half,
//! `L/2 + t + i L/2R` for `i < R`: digits of the values `2t + i L/R` and `2t+1 + i L/R` of the first pass. A product goes
//!
//! ```text
//! modulo R    x, y forth; products of leaves; back                                  x y
//!             x y forth; products with the kept leaves of n; back                   q
//! modulo Q    x, y forth; products of leaves, which stay in shared memory
//!             q forth; products with the kept leaves of -m, and the sum; back       t
//! ```
//!
//! and of a square `y` is left out. Each way back ends in the registers in which the next way forth begins: limbs get
//! what they take from the ones below by shuffles.
//!
//! Cost of a square: 7 transforms of `L` values, each `log2(L/4)` levels of `L/2` butterflies of six operations in FP64; of
//! a product 9. No scratch.

mod limbs;

use super::parts::each_value;
use super::{Transform, each_group, set_side_by_side};
use crate::gpu::block::Team;
use crate::gpu::float::{self, NEAREST_OFFSET, Pairs, Roots, multiply_add};
use crate::gpu::memory::{Number, Unit};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::transform::butterflies::{down, down_to_fours, multiply_leaves, up, up_from_fours};
use crate::transform::carries::{self, CHUNK};
use crate::transform::complex::Complex;
use crate::transform::digits::{OFFSET, TELESCOPED};
use crate::transform::exchange::Exchange;
use crate::transform::odd;
use bigint_core::Limb;
use bigint_core::transform::rings::{LINK, RingArguments, RingPlan};
use limbs::{Back, Limbs, State};

/// The sine of a sixth of a turn.
const SINE: f64 = 0.866_025_403_784_438_6;

/// The reciprocal of the square root of 3.
const THIRD: f64 = 0.577_350_269_189_625_8;

/// `2^-32`.
const LIMB: f32 = 1.0 / 4_294_967_296.0;

/// Squares numbers, and multiplies them.
///
/// # Safety
/// `arguments` are those of a launch by [`RingArguments::launch`] with the plan for `LANES`, of whose block the constants
/// are. Numbers and tables are allocated, and results overlap nothing else but `x` or `y` as a whole.
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn powers<const LANES: u32, const THREADS: u32, const FIRST: usize>(
    arguments: &RingArguments,
) {
    // SAFETY: by this function's own contract.
    let rings = unsafe { Rings::<LANES, THREADS, FIRST>::new(arguments) };
    let mut index = u64::from(thread::block_index());
    while index < arguments.count {
        // SAFETY: by the same contract; a block sets its own number's result after it has read its operands.
        let [r, x, y, m] = [&arguments.r, &arguments.x, &arguments.y, &arguments.m]
            .map(|matrix| unsafe { Number::<Unit>::new(matrix, index) });
        // SAFETY: by the same contract; nobody writes what is kept.
        let kept = unsafe { Roots::new(arguments.kept + 4 * index * arguments.kept_stride) };
        let mut state = rings.begin(x);
        let steps = arguments.squares + u64::from(y.width() > 0);
        let mut step = 0;
        // One text serves squares and products.
        while step < steps {
            rings.product(&mut state, y, step == arguments.squares, (m, kept));
            step += 1;
        }
        rings.release(&state, m, r);
        rings.transform.team.sync();
        index += arguments.workers;
    }
}

/// Keeps transforms of moduli and of their inverses.
///
/// # Safety
/// As for [`powers`]; nothing else uses what is kept.
#[allow(unsafe_code)]
#[inline(always)]
pub unsafe fn keep<const LANES: u32, const THREADS: u32, const FIRST: usize>(
    arguments: &RingArguments,
) {
    // SAFETY: by this function's own contract.
    let rings = unsafe { Rings::<LANES, THREADS, FIRST>::new(arguments) };
    let mut index = u64::from(thread::block_index());
    while index < arguments.count {
        let mut ring = 0;
        while ring < 2 {
            let matrix = if ring == 0 {
                &arguments.x
            } else {
                &arguments.m
            };
            let at = 4 * index * arguments.kept_stride
                + u64::from(16 * ring * Rings::<LANES, THREADS, FIRST>::LIMBS);
            // SAFETY: by the contract of `powers`, each block keeps those of its own numbers.
            let (number, to) = unsafe {
                (
                    Number::<Unit>::new(matrix, index),
                    Pairs::new(arguments.kept + at),
                )
            };
            rings.keep(rings.limbs_of(number), ring == 1, to);
            rings.transform.team.sync();
            ring += 1;
        }
        index += arguments.workers;
    }
}

/// The block's threads, the roots of both rings, and shared memory: `x` for the first operand and the product, `y` for
/// the second.
#[derive(Clone, Copy)]
struct Rings<const LANES: u32, const THREADS: u32, const FIRST: usize> {
    transform: Transform<LANES, THREADS, 1, FIRST>,
    roots: [Roots; 2],
    /// Two limbs that all threads read.
    told: Stretch,
}

impl<const LANES: u32, const THREADS: u32, const FIRST: usize> Rings<LANES, THREADS, FIRST> {
    const RINGS: RingPlan = RingPlan::of_lanes(LANES);
    const LIMBS: u32 = Self::RINGS.limbs();
    /// Where the roots of each ring would begin if they stood where the plan's stand in the table of all.
    const ROOTS_AT: [u64; 2] = {
        let before = 16 * Self::RINGS.plan().forward_at(0) as u64;
        let [r, q] = [Self::RINGS.roots_at(0), Self::RINGS.roots_at(1)];
        let (r, q) = (16 * r as u64, 16 * q as u64);
        [r.wrapping_sub(before), q.wrapping_sub(before)]
    };

    /// # Safety
    /// As for [`powers`].
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn new(arguments: &RingArguments) -> Self {
        // Where a ring's roots would begin if the first ones had the places that the plan's have in the table of all.
        // SAFETY: by the contract of `powers`; no places are read but those of the ring.
        let (team, roots) = unsafe {
            let roots = Self::ROOTS_AT.map(|at| Roots::new(arguments.roots.wrapping_add(at)));
            (Team::new(), roots)
        };
        let transform = Transform {
            links: Stretch::new(team, const { Self::RINGS.links_at() }),
            ..Transform::new(team, roots[0], true)
        };
        Rings {
            transform,
            roots,
            told: Stretch::new(team, const { Self::RINGS.told_at() }),
        }
    }

    /// Transforms in a ring.
    #[inline(always)]
    fn ring(self, is_q: bool) -> Transform<LANES, THREADS, 1, FIRST> {
        Transform {
            roots: self.roots[usize::from(is_q)],
            ..self.transform
        }
    }

    /// A number from memory.
    #[inline(always)]
    fn begin(self, x: Number<Unit>) -> State<FIRST> {
        State {
            limbs: self.limbs_of(x),
            over: 0,
            top: top_of(x, Self::LIMBS),
        }
    }

    /// The limbs of a number in memory. What is negative as an `i32` takes one from the limb above, but for the topmost.
    #[inline(always)]
    fn limbs_of(self, x: Number<Unit>) -> Limbs<FIRST> {
        let columns = Transform::<LANES, THREADS, 1, FIRST>::COLUMNS;
        let thread = self.transform.team.thread();
        let mut limbs = Limbs::ZERO;
        if !self.transform.has_columns() {
            return limbs;
        }
        let below = x.limb(thread.wrapping_sub(1));
        let own = x.part(thread, u32::MAX).settled();
        let limb = |k: u32| {
            let under = match k {
                0 => below,
                _ => own.limb(k * columns - 1),
            };
            (own.limb(k * columns), (under >> 31) as i32)
        };
        each_value::<FIRST>(
            #[inline(always)]
            |k| {
                let (limb, taken) = limb(k);
                limbs.set(0, k as usize, limb as i32, taken);
            },
        );
        each_value::<FIRST>(
            #[inline(always)]
            |k| {
                let (limb, taken) = limb(FIRST as u32 + k);
                limbs.set(1, k as usize, limb as i32, taken);
                if k == FIRST as u32 - 1 && thread == columns - 1 {
                    limbs.more |= limb >> 31 << (FIRST as u32 + k);
                }
            },
        );
        limbs
    }

    /// Replaces a number by its Montgomery product with `y` if it `is_product`, else by its Montgomery square.
    #[inline(always)]
    fn product(
        self,
        x: &mut State<FIRST>,
        y: Number<Unit>,
        is_product: bool,
        (m, kept): (Number<Unit>, Roots),
    ) {
        let is_first = self.transform.team.thread() == 0;
        let own_low = x.limbs.limbs[0][0].wrapping_add(x.over as Limb);
        let (low, top) = match is_product {
            false => (own_low, x.top),
            true => (y.limb(0), top_of(y, Self::LIMBS)),
        };
        let (m_low, m_top) = (m.limb(0), top_of(m, Self::LIMBS));
        let mut made = Back {
            limbs: Limbs::ZERO,
            top: 0.0,
        };
        // What is added to `q`, in parts of `R`, and the lowest limb of `q`.
        let (mut more, mut q_low) = (0, 0);
        let mut phase = 0;
        while phase < 3 {
            let is_q = phase == 2;
            let ring = self.ring(is_q);
            // One text serves `x`, `y` and what the last way back made.
            let mut operand = if phase == 1 { 2 } else { 0 };
            loop {
                let (limbs, to, more) = match operand {
                    0 => (x.limbs, ring.x, if is_q { 0 } else { -x.over }),
                    1 => (self.limbs_of(y), ring.y, 0),
                    _ => (made.limbs, ring.y, more),
                };
                ring.forth(&limbs, to, is_q, more);
                if operand == 0 && is_product {
                    operand = 1;
                    continue;
                }
                if operand == 2 {
                    let at = if is_q { Self::LIMBS } else { 0 };
                    ring.kept_leaves(kept.up(at), is_q);
                    break;
                }
                ring.leaves(is_product, !is_q);
                if !is_q {
                    break;
                }
                if is_product {
                    // All have read `y`.
                    ring.team.sync();
                }
                operand = 2;
            }
            made = ring.back(is_q);
            if phase == 1 && is_first {
                let estimate = x.top * top - made.top * m_top;
                if m_top >= 0.25 {
                    more = i32::from(2.0 * estimate > m_top) - i32::from(2.0 * estimate < -m_top);
                }
            }
            if phase == 1 {
                q_low = made.limbs.limbs[0][0].wrapping_add(more as Limb);
            }
            phase += 1;
        }
        let expected = own_low
            .wrapping_mul(low)
            .wrapping_sub(Limb::wrapping_mul(q_low, m_low));
        let over = expected.wrapping_sub(made.limbs.limbs[0][0]) as i32;
        *x = State {
            limbs: made.limbs,
            over: if is_first { over } else { 0 },
            top: made.top + over as f32,
        };
    }

    /// Sets a number in memory, between 0 and `m`.
    #[inline(always)]
    fn release(self, x: &State<FIRST>, m: Number<Unit>, r: Number<Unit>) {
        let Rings {
            transform, told, ..
        } = self;
        let (team, thread) = (transform.team, transform.team.thread());
        if transform.has_columns() {
            each_value::<FIRST>(
                #[inline(always)]
                |k| {
                    let sum = |half: usize| {
                        let limb = i64::from(x.limbs.limbs[half][k as usize] as i32);
                        let over = i64::from(x.limbs.over(half, k as usize)) << 32;
                        OFFSET.wrapping_add((limb + over) as u64)
                    };
                    let (mut lower, mut upper) = (sum(0), sum(1));
                    if k == 0 && thread == 0 {
                        let over = i64::from(x.over) as u64;
                        lower = lower.wrapping_add(TELESCOPED.wrapping_add(over));
                        upper = upper.wrapping_sub(over);
                    }
                    transform.set_sums(k, [lower, upper]);
                },
            );
        }
        if thread == 0 {
            told.set_limb(0, x.over as Limb);
        }
        team.sync();
        let (at, sums) = (CHUNK as u32 * thread, transform.y.memory());
        let has_values = transform.has_values();
        let (limbs, over) =
            carries::release(team, team.warp(), transform.links, |i| match has_values {
                true => sums.word(super::sum_at(at) + i),
                false => 0,
            });
        if thread == Transform::<LANES, THREADS, 1, FIRST>::SHARERS - 1 {
            told.set_limb(1, over.wrapping_sub(TELESCOPED as Limb));
        }
        team.sync();
        let is_negative = told.limb(0).wrapping_add(told.limb(1)) != 0;
        let more: [Limb; CHUNK] = match is_negative {
            true => m.limbs(at),
            false => [0; CHUNK],
        };
        let (limbs, _) = carries::release(team, team.warp(), transform.links, |i| {
            u64::from(limbs[i as usize]) + u64::from(more[i as usize])
        });
        let first = CHUNK as u32 * (thread - team.warp().lane());
        let own = sums.from_word(super::sum_at(first));
        set_side_by_side(team.warp(), own, r.part(first, Self::LIMBS), limbs);
    }

    /// Keeps the leaves of a number's transform: value `i` of each group of the last pass, then value `i + 1`. Modulo
    /// `Q` they are those of its negative.
    #[inline(always)]
    fn keep(self, limbs: Limbs<FIRST>, is_q: bool, to: Pairs) {
        let ring = self.ring(is_q);
        ring.forth(&limbs, ring.x, is_q, 0);
        match Transform::<LANES, THREADS, 1, FIRST>::PLAN.last {
            8 => ring.keep_leaves::<8>(is_q, to),
            _ => ring.keep_leaves::<16>(is_q, to),
        }
    }
}

/// A number divided by `2^(32 limbs)`, about.
#[inline(always)]
fn top_of(x: Number<Unit>, limbs: u32) -> f32 {
    x.limb(limbs - 1) as f32 * LIMB
}

impl<const LANES: u32, const THREADS: u32, const FIRST: usize> Transform<LANES, THREADS, 1, FIRST> {
    const RINGS: RingPlan = RingPlan::of_lanes(LANES);
    /// The warps whose threads have limbs.
    const LIMB_WARPS: u32 = {
        assert!(Self::COLUMNS.is_multiple_of(32));
        Self::COLUMNS / 32
    };

    /// All passes forth but for the last, of limbs, with `more` added to digit `L` by thread 0, where it is 0 for others.
    #[inline(always)]
    fn forth(self, limbs: &Limbs<FIRST>, to: Exchange, is_q: bool, more: i32) {
        if self.has_columns() {
            let thread = self.team.thread();
            let lower = self.first_down(limbs, false, is_q, more);
            to.set(2 * thread, Self::APART, &lower);
            let upper = self.first_down(limbs, true, is_q, 0);
            to.set(2 * thread + 1, Self::APART, &upper);
        }
        self.team.sync();
        let alone = Transform { x: to, ..self };
        match Self::PLAN.middle {
            8 => alone.down::<8>(0),
            _ => alone.down::<16>(0),
        }
        // Each warp goes on with the 512 values that it has set itself.
        self.team.warp().sync();
    }

    /// The first pass forth of the lower or the upper digits of limbs.
    #[inline(always)]
    fn first_down(
        self,
        limbs: &Limbs<FIRST>,
        is_upper: bool,
        is_q: bool,
        more: i32,
    ) -> [Complex; FIRST] {
        let mut v = [Complex::ZERO; FIRST];
        each_value::<FIRST>(
            #[inline(always)]
            |k| {
                let k = k as usize;
                let (low, high) = (limbs.digit(0, k, is_upper), limbs.digit(1, k, is_upper));
                let high = if k == 0 { high + more } else { high };
                v[k] = Complex::new(float::signed(low), float::signed(high));
            },
        );
        if is_q {
            let mut k = 0;
            while k < FIRST {
                let Complex { re, im } = v[k];
                v[k] = Complex::new(multiply_add(0.5, im, re), SINE * im);
                k += 1;
            }
        }
        if FIRST == 8 {
            let mut roots = [Complex::ZERO; 8];
            let mut j = 0;
            while j < FIRST / 2 {
                roots[j] = self.root(0, const { Self::RINGS.first_down_at() } + j as u32);
                j += 1;
            }
            down(&mut v, &roots);
            return v;
        }
        let mut k = 1;
        while k < FIRST {
            v[k] = v[k].times(self.first_root_up(k).conjugate());
            k += 1;
        }
        odd::transform(v, false)
    }

    /// The root by which the first pass back multiplies value `k`.
    #[inline(always)]
    fn first_root_up(self, k: usize) -> Complex {
        self.root(0, const { Self::RINGS.first_up_at() } + k as u32 - 1)
    }

    /// The last pass: down, products of leaves or their squares, and up if the product `goes_up`.
    #[inline(always)]
    fn leaves(self, is_product: bool, goes_up: bool) {
        match Self::PLAN.last {
            8 => self.leaves_of::<8>(is_product, goes_up),
            _ => self.leaves_of::<16>(is_product, goes_up),
        }
    }

    #[inline(always)]
    fn leaves_of<const R: usize>(self, is_product: bool, goes_up: bool) {
        self.each_node::<R>(
            #[inline(always)]
            |node, at| {
                let roots = self.last_roots::<R>(node);
                let mut product = self.x.get::<R>(at, 1);
                down_to_fours(&mut product, &roots);
                if is_product {
                    let mut other = self.y.get::<R>(at, 1);
                    down_to_fours(&mut other, &roots);
                    multiply_leaves(&other, &mut product, &roots, false);
                } else {
                    let values = product;
                    multiply_leaves(&values, &mut product, &roots, true);
                }
                if goes_up {
                    up_from_fours(&mut product, &roots);
                }
                self.x.set(at, 1, &product);
            },
        );
    }

    /// The last pass of `y` with kept leaves; if it `adds`, with what is in `x` added to products.
    #[inline(always)]
    fn kept_leaves(self, kept: Roots, adds: bool) {
        match Self::PLAN.last {
            8 => self.kept_leaves_of::<8>(kept, adds),
            _ => self.kept_leaves_of::<16>(kept, adds),
        }
    }

    #[inline(always)]
    fn kept_leaves_of<const R: usize>(self, kept: Roots, adds: bool) {
        self.each_node::<R>(
            #[inline(always)]
            |node, at| {
                let roots = self.last_roots::<R>(node);
                let mut product = self.y.get::<R>(at, 1);
                down_to_fours(&mut product, &roots);
                let own = kept.up(node);
                let mut factor = [Complex::ZERO; R];
                let mut i = 0;
                while i < R {
                    let [re, im] = own.at(i as u32 * (Self::PART / R as u32));
                    factor[i] = Complex::new(re, im);
                    i += 1;
                }
                multiply_leaves(&factor, &mut product, &roots, false);
                if adds {
                    let term = self.x.get::<R>(at, 1);
                    let mut i = 0;
                    while i < R {
                        product[i].re += term[i].re;
                        product[i].im += term[i].im;
                        i += 1;
                    }
                }
                up_from_fours(&mut product, &roots);
                self.x.set(at, 1, &product);
            },
        );
    }

    /// The last pass of a number whose leaves, or their negatives, are kept.
    #[inline(always)]
    fn keep_leaves<const R: usize>(self, negates: bool, to: Pairs) {
        let sign = if negates { -1.0 } else { 1.0 };
        self.each_node::<R>(
            #[inline(always)]
            |node, at| {
                let mut values = self.x.get::<R>(at, 1);
                down_to_fours(&mut values, &self.last_roots::<R>(node));
                let mut i = 0;
                while i < R {
                    let value = [sign * values[i].re, sign * values[i].im];
                    to.set_pair(node + i as u32 * (Self::PART / R as u32), value);
                    i += 1;
                }
            },
        );
    }

    /// Calls `work` with each node of the last pass that the thread has, and with the place of its values.
    #[inline(always)]
    fn each_node<const R: usize>(self, work: impl Fn(u32, u32)) {
        each_group::<R>(
            #[inline(always)]
            |g| {
                let node = self.neighbours::<R>(g);
                if Self::SHARERS == THREADS || node < Self::PART / R as u32 {
                    work(node, R as u32 * node);
                }
            },
        );
    }

    /// All passes back but for the last, to limbs.
    #[inline(always)]
    fn back(self, is_q: bool) -> Back<FIRST> {
        self.team.warp().sync();
        match Self::PLAN.middle {
            8 => self.up::<8>(0),
            _ => self.up::<16>(0),
        }
        self.team.sync();
        let mut sums = [[0; FIRST]; 2];
        if self.has_columns() {
            self.add_coefficients(&mut sums, false, is_q);
            self.add_coefficients(&mut sums, true, is_q);
        }
        self.hand_on(&sums, is_q)
    }

    /// The first pass back of the lower or the upper digits of limbs, to coefficients, which are added to the sums.
    #[inline(always)]
    fn add_coefficients(self, sums: &mut [[u64; FIRST]; 2], is_upper: bool, is_q: bool) {
        // All passes back are sums over the `L/4` leaves.
        let scale = const { 4.0 / Self::LENGTH as f64 };
        let at = 2 * self.team.thread() + u32::from(is_upper);
        let mut v = self.x.get::<FIRST>(at, Self::APART);
        match FIRST {
            8 => up(&mut v),
            _ => v = odd::transform(v, true),
        }
        let mut k = 1;
        while k < FIRST {
            v[k] = v[k].times(self.first_root_up(k));
            k += 1;
        }
        if is_q {
            let mut k = 0;
            while k < FIRST {
                let Complex { re, im } = v[k];
                v[k] = Complex::new(multiply_add(im, THIRD, re), multiply_add(im, THIRD, -re));
                k += 1;
            }
        }
        let term = |x| match is_upper {
            // The offset of `nearest` is shifted out.
            true => float::nearest(x, scale) << 16,
            false => float::nearest(x, scale).wrapping_sub(NEAREST_OFFSET),
        };
        each_value::<FIRST>(
            #[inline(always)]
            |k| {
                let k = k as usize;
                sums[0][k] = sums[0][k].wrapping_add(term(v[k].re));
                sums[1][k] = sums[1][k].wrapping_add(term(v[k].im));
            },
        );
    }

    /// Turns sums, signed, into limbs, each of which takes the upper half of the sum below. What goes beyond the
    /// topmost limb is a multiple of `c^2`, which is -1 modulo `R`, and `c - 1` modulo `Q`.
    #[inline(always)]
    fn hand_on(self, sums: &[[u64; FIRST]; 2], is_q: bool) -> Back<FIRST> {
        let warp = self.team.warp();
        let (lane, number) = (warp.lane(), self.team.thread() / 32);
        let over = |sum: u64| (sum.wrapping_add(1 << 31) >> 32) as Limb;
        let mut taken = [[0; FIRST]; 2];
        let topmost = sums[1][FIRST - 1] as Limb;
        let mut top = warp.rotate_up(topmost, 1);
        each_value::<FIRST>(
            #[inline(always)]
            |k| {
                let k = k as usize;
                taken[0][k] = warp.rotate_up(over(sums[0][k]), 1);
                taken[1][k] = warp.rotate_up(over(sums[1][k]), 1);
            },
        );
        if Self::LIMB_WARPS > 1 {
            if lane == 31 {
                each_value::<FIRST>(
                    #[inline(always)]
                    |k| {
                        let at = LINK * number + k;
                        self.links.set_limb(at, over(sums[0][k as usize]));
                        self.links
                            .set_limb(at + FIRST as u32, over(sums[1][k as usize]));
                    },
                );
                self.links
                    .set_limb(LINK * number + 2 * FIRST as u32, topmost);
            }
            self.team.sync();
            if lane == 0 {
                let below = match number {
                    0 => Self::LIMB_WARPS - 1,
                    _ => number - 1,
                };
                each_value::<FIRST>(
                    #[inline(always)]
                    |k| {
                        let at = LINK * below + k;
                        taken[0][k as usize] = self.links.limb(at);
                        taken[1][k as usize] = self.links.limb(at + FIRST as u32);
                    },
                );
                top = self.links.limb(LINK * below + 2 * FIRST as u32);
            }
        }
        let is_first = self.team.thread() == 0;
        let mut limbs = Limbs::ZERO;
        let last = taken[1][FIRST - 1] as i32;
        // Thread 0 takes from the last thread, one place further down.
        let mut before = -last;
        each_value::<FIRST>(
            #[inline(always)]
            |k| {
                let k = k as usize;
                let own = taken[0][k] as i32;
                let from = if is_first { before } else { own };
                limbs.set(0, k, sums[0][k] as i32, from);
                before = own;
            },
        );
        before += if is_q { last } else { 0 };
        each_value::<FIRST>(
            #[inline(always)]
            |k| {
                let k = k as usize;
                let own = taken[1][k] as i32;
                let from = if is_first { before } else { own };
                limbs.set(1, k, sums[1][k] as i32, from);
                before = own;
            },
        );
        Back {
            limbs,
            top: top as i32 as f32 * LIMB,
        }
    }
}
