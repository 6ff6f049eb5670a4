//! Multiplication by a transform over the complex numbers in FP64, exact by proof.
//!
//! The ring, the tree and the passes are those of [`bigint_core::transform`], with the proof.
//! For `T` threads operands have `8 T` limbs, which are `L = 16 T` digits of 16 bits, and a
//! thread has 16 complex values at a time. With `t` the thread:
//!
//! ```text
//! pass       values of a thread, k < R                            shared memory
//! first      digits 2t + k L/8, and 2t+1 + k L/8: a limb for      written
//!            each k, real, radix 8
//! middle     c + k m/R of a node of m values, radix 8 or 16       read, written in place
//! last       8 or 16 neighbours: one or two levels down,          both operands' read,
//!            products modulo x^4 - z, and up again                the product's written
//! middle     as above, up                                         read, written in place
//! first      as above, up: coefficients, rounded; two of them     read; sums written
//!            are added to a sum for each limb of the result
//! carries    16 neighbouring sums                                 read
//! ```
//!
//! Sums are `L` for `2 L` coefficients: real parts are coefficients `0 .. L`, imaginary ones
//! `L .. 2 L`. Where shared memory has room for one operand only, the first one's values
//! stay in registers before the products, while the second is transformed.
//!
//! Operands that are the same number are transformed once.
//!
//! Wider operands are cut into pieces of `8 T` limbs, the products of which are added up,
//! as by rows (School), with one carry from product to product.
//!
//! Cost for one piece: `3 log2(L/4)` levels of `L/2` butterflies of six (up: four to six)
//! operations in FP64, less in the first levels down; `16 L` bytes to and from shared memory
//! for each pass and operand but the first and last of all. No scratch. `r` is no operand.

use super::super::Work;
use crate::gpu::block::Team;
use crate::gpu::float::Roots;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::stretch::Stretch;
use crate::transform::butterflies::{
    down, down_from_the_root, down_to_fours, multiply_and_up, up, up_to_the_root,
};
use crate::transform::carries::{self, CHUNK};
use crate::transform::complex::Complex;
use crate::transform::digits;
use crate::transform::exchange::Exchange;
use bigint_core::Limb;
use bigint_core::transform::Plan;

/// `r = a * b`, cut or zero-extended to the width of `r`.
#[inline(always)]
pub fn product<const THREADS: u32, S: Stride>(work: Work<THREADS, S>) {
    let Work {
        team,
        r,
        a,
        b,
        is_square,
        roots,
    } = work;
    let transform = Transform::new(team, roots);
    let piece = Transform::<THREADS>::LIMBS;
    let ends = a.width().next_multiple_of(piece);
    let mut j = 0;
    while j == 0 || j < b.width() && j < r.width() {
        let mut i = 0;
        while i == 0 || i < a.width() && i + j < r.width() {
            // Below this, the window has limbs of earlier products.
            let earlier = match (i, j) {
                (0, 0) => 0,
                (_, 0) => piece,
                _ => ends - i,
            };
            if earlier > 0 {
                team.sync();
            }
            let window = r.part(i + j, i + j + 2 * piece);
            transform.piece(
                window,
                window.part(0, earlier),
                a.part(i, i + piece),
                b.part(j, j + piece),
                is_square,
                i > 0,
            );
            i += piece;
        }
        j += piece;
    }
    let mut at = ends + b.width().next_multiple_of(piece);
    while at < r.width() {
        r.set(at + team.thread(), 0);
        at += THREADS;
    }
}

/// What a block needs for transforms.
#[derive(Clone, Copy)]
struct Transform<const THREADS: u32> {
    team: Team<THREADS>,
    roots: Roots,
    /// The first operand, the second where both have room, and the product in place of the
    /// first; then the sums in place of the second.
    x: Exchange,
    y: Exchange,
    /// Carries between warps, while sums are released.
    links: Stretch,
    /// The carry from one piece's product to the next.
    kept_carry: Stretch,
}

impl<const THREADS: u32> Transform<THREADS> {
    const PLAN: Plan = Plan::of(THREADS);
    const LENGTH: u32 = Self::PLAN.length();
    const LIMBS: u32 = Self::PLAN.limbs();
    const NODES: [u32; 3] = [
        Self::PLAN.nodes(0),
        Self::PLAN.nodes(1),
        Self::PLAN.nodes(2),
    ];
    const DOWN_AT: [u32; 2] = [Self::PLAN.forward_at(0), Self::PLAN.forward_at(1)];
    const LAST_AT: u32 = Self::PLAN.last_at();
    const UP_AT: [u32; 2] = [Self::PLAN.inverse_at(0), Self::PLAN.inverse_at(1)];
    const RUN: u32 = Self::PLAN.run();
    const BUFFER: u32 = Self::PLAN.buffer_bytes();

    #[inline(always)]
    fn new(team: Team<THREADS>, roots: Roots) -> Self {
        let second = match Self::PLAN.has_two_buffers {
            true => Self::BUFFER,
            false => 0,
        };
        let stretch = |from| Stretch::new(team, from);
        Transform {
            team,
            roots,
            x: Exchange::new(stretch(0), Self::RUN),
            y: Exchange::new(stretch(second), Self::RUN),
            // Sums take 8.5 bytes for each of `L`.
            links: stretch(second + 9 * Self::LENGTH),
            // Behind the last run of values.
            kept_carry: stretch(second + Self::BUFFER - 16),
        }
    }

    /// Adds the product of pieces to what is in the window of the result, and the carry of
    /// the product before, if it `has_carry`.
    #[inline(always)]
    fn piece(
        self,
        window: Number<impl Stride>,
        earlier: Number<impl Stride>,
        a: Number<impl Stride>,
        b: Number<impl Stride>,
        is_square: bool,
        has_carry: bool,
    ) {
        match Self::PLAN.last {
            8 => self.multiply::<8>(a, b, is_square),
            _ => self.multiply::<16>(a, b, is_square),
        }
        self.ups(1);
        self.ups(0);
        self.sums();
        self.release(window, earlier, has_carry);
    }

    /// Forward, and products: the product's values before the last pass are in `x`.
    #[inline(always)]
    fn multiply<const R: usize>(
        self,
        a: Number<impl Stride>,
        b: Number<impl Stride>,
        is_square: bool,
    ) {
        let Transform { team, x, y, .. } = self;
        if Self::PLAN.has_two_buffers {
            let second = (!is_square).then_some(y);
            self.spread(a, x);
            if let Some(y) = second {
                self.spread(b, y);
            }
            team.sync();
            self.downs(0, x, second);
            self.downs(1, x, second);
            each_group::<R>(
                #[inline(always)]
                |g| {
                    let values = self.fours::<R>(x, g);
                    self.multiply_fours(&values, second, g);
                },
            );
        } else {
            self.spread(a, x);
            team.sync();
            self.downs(0, x, None);
            self.downs(1, x, None);
            let first = self.fours::<R>(x, 0);
            let second = match R {
                8 => self.fours::<R>(x, 1),
                _ => first,
            };
            if !is_square {
                team.sync();
                self.spread(b, x);
                team.sync();
                self.downs(0, x, None);
                self.downs(1, x, None);
            }
            let other = (!is_square).then_some(x);
            self.multiply_fours(&first, other, 0);
            if R == 8 {
                self.multiply_fours(&second, other, 1);
            }
        }
        team.sync();
    }

    /// The last pass of the second operand in `from`, or of the same, by the values of the
    /// first, to `x`.
    #[inline(always)]
    fn multiply_fours<const R: usize>(self, values: &[Complex; R], from: Option<Exchange>, g: u32) {
        let roots = self.last_roots::<R>(g);
        let mut product = match from {
            Some(from) => self.fours::<R>(from, g),
            None => *values,
        };
        multiply_and_up(values, &mut product, &roots);
        self.x.set(R as u32 * self.node(g), 1, &product);
    }

    /// The first pass down: digits, to shared memory.
    #[inline(always)]
    fn spread(self, a: Number<impl Stride>, to: Exchange) {
        let thread = self.team.thread();
        let d = |k| self.digits(a, thread + k * THREADS);
        // (No loop: one that is not unrolled would keep digits in memory.)
        let [d0, d1, d2, d3] = [d(0), d(1), d(2), d(3)];
        let [d4, d5, d6, d7] = [d(4), d(5), d(6), d(7)];
        let of = |i: usize| [d0[i], d1[i], d2[i], d3[i], d4[i], d5[i], d6[i], d7[i]];
        to.set(2 * thread, 2 * THREADS, &down_from_the_root(of(0)));
        to.set(2 * thread + 1, 2 * THREADS, &down_from_the_root(of(1)));
    }

    /// The two digits of limb `at`.
    #[inline(always)]
    fn digits(self, a: Number<impl Stride>, at: u32) -> [f64; 2] {
        let limb = a.limb(at);
        if Self::PLAN.is_balanced {
            // Below the lowest there is none: its place is above all widths.
            let below = a.limb(at.wrapping_sub(1));
            digits::balanced(limb, below, at == Self::LIMBS - 1)
        } else {
            digits::plain(limb)
        }
    }

    /// Middle pass `pass` down, of one polynomial or two.
    #[inline(always)]
    fn downs(self, pass: usize, x: Exchange, y: Option<Exchange>) {
        match Self::PLAN.middle[pass] {
            8 => self.down::<8>(pass, x, y),
            16 => self.down::<16>(pass, x, y),
            _ => {}
        }
    }

    #[inline(always)]
    fn down<const R: usize>(self, pass: usize, x: Exchange, y: Option<Exchange>) {
        let nodes = Self::NODES[pass];
        let apart = Self::LENGTH / nodes / R as u32;
        each_group::<R>(
            #[inline(always)]
            |g| {
                let (node, at) = self.column::<R>(pass, g);
                let first = Self::DOWN_AT[pass] + node;
                let [r0, r1, r2, r3] = self.four_roots(first, nodes);
                let [r4, r5, r6, r7] = match R {
                    8 => [Complex::ZERO; 4],
                    _ => self.four_roots(first + 4 * nodes, nodes),
                };
                let roots = [r0, r1, r2, r3, r4, r5, r6, r7];
                down_in_place::<R>(x, at, apart, &roots);
                if let Some(y) = y {
                    down_in_place::<R>(y, at, apart, &roots);
                }
            },
        );
        self.team.sync();
    }

    /// Middle pass `pass` up, of the product.
    #[inline(always)]
    fn ups(self, pass: usize) {
        match Self::PLAN.middle[pass] {
            8 => self.up::<8>(pass),
            16 => self.up::<16>(pass),
            _ => {}
        }
    }

    #[inline(always)]
    fn up<const R: usize>(self, pass: usize) {
        let nodes = Self::NODES[pass];
        let apart = Self::LENGTH / nodes / R as u32;
        each_group::<R>(
            #[inline(always)]
            |g| {
                let (node, at) = self.column::<R>(pass, g);
                let mut v = self.x.get::<R>(at, apart);
                up(&mut v);
                let mut k = 1;
                while k < R {
                    let root = Self::UP_AT[pass] + (k as u32 - 1) * nodes + node;
                    v[k] = v[k].times(self.root(root));
                    k += 1;
                }
                self.x.set(at, apart, &v);
            },
        );
        self.team.sync();
    }

    /// The node of middle pass `pass`, and the place of the first value, of the thread's
    /// group `g`.
    #[inline(always)]
    fn column<const R: usize>(self, pass: usize, g: u32) -> (u32, u32) {
        let values = Self::LENGTH / Self::NODES[pass];
        let apart = values / R as u32;
        let q = self.node(g);
        (q / apart, q / apart * values + q % apart)
    }

    /// The thread's group `g` of all groups in a pass.
    #[inline(always)]
    fn node(self, g: u32) -> u32 {
        self.team.thread() + g * THREADS
    }

    /// The last pass down: polynomials modulo `x^4 - z`.
    #[inline(always)]
    fn fours<const R: usize>(self, from: Exchange, g: u32) -> [Complex; R] {
        let roots = self.last_roots::<R>(g);
        let mut values = from.get::<R>(R as u32 * self.node(g), 1);
        down_to_fours(&mut values, &roots);
        values
    }

    /// The roots of the last pass.
    #[inline(always)]
    fn last_roots<const R: usize>(self, g: u32) -> [Complex; 3] {
        let mut roots = [Complex::ZERO; 3];
        let mut j = 0;
        while j < if R == 16 { 3 } else { 1 } {
            let at = Self::LAST_AT + j as u32 * Self::NODES[2] + self.node(g);
            roots[j] = self.root(at);
            j += 1;
        }
        roots
    }

    /// Roots `at`, `at + apart`, `at + 2 apart` and `at + 3 apart` of the table.
    #[inline(always)]
    fn four_roots(self, at: u32, apart: u32) -> [Complex; 4] {
        [
            self.root(at),
            self.root(at + apart),
            self.root(at + 2 * apart),
            self.root(at + 3 * apart),
        ]
    }

    #[inline(always)]
    fn root(self, at: u32) -> Complex {
        let [re, im] = self.roots.at(at);
        Complex::new(re, im)
    }

    /// The first pass up: coefficients, two of which are added to one sum for each limb.
    #[inline(always)]
    fn sums(self) {
        let thread = self.team.thread();
        // 2^-l, of the l levels down to fours.
        let scale = const { 4.0 / Self::LENGTH as f64 };
        let (mut low, mut high) = ([0; 8], [0; 8]);
        let v = up_to_the_root(self.x.get::<8>(2 * thread, 2 * THREADS));
        let mut k = 0;
        while k < 8 {
            low[k] = digits::lower(v[k].re, scale);
            high[k] = digits::lower(v[k].im, scale);
            k += 1;
        }
        let v = up_to_the_root(self.x.get::<8>(2 * thread + 1, 2 * THREADS));
        let mut k = 0;
        while k < 8 {
            low[k] = low[k].wrapping_add(digits::upper(v[k].re, scale));
            high[k] = high[k].wrapping_add(digits::upper(v[k].im, scale));
            k += 1;
        }
        if thread == 0 {
            low[0] += digits::TELESCOPED;
        }
        if !Self::PLAN.has_two_buffers {
            // The sums take the place of values that others read.
            self.team.sync();
        }
        let sums = self.y.memory();
        let mut k = 0;
        while k < 8 {
            let at = thread + k as u32 * THREADS;
            sums.set_word(sum_at(at), low[k]);
            sums.set_word(sum_at(at + Self::LIMBS), high[k]);
            k += 1;
        }
        self.team.sync();
    }

    /// Sums to limbs of the result.
    #[inline(always)]
    fn release(self, window: Number<impl Stride>, earlier: Number<impl Stride>, has_carry: bool) {
        let Transform { team, links, .. } = self;
        let thread = team.thread();
        let at = CHUNK as u32 * thread;
        let sums = self.y.memory();
        // The limb that the product before has carried to.
        let carry_at = THREADS / 2;
        let carry = match has_carry && thread == carry_at {
            true => u64::from(self.kept_carry.limb(0)),
            false => 0,
        };
        let before: [Limb; CHUNK] = match earlier.width() {
            0 => [0; CHUNK],
            _ => earlier.limbs(at),
        };
        let (limbs, over) = carries::release(team, links, |i| {
            let more = if i == 0 { carry } else { 0 };
            sums.word(sum_at(at + i)) + u64::from(before[i as usize]) + more
        });
        window.set_limbs(at, limbs);
        if THREADS == 32 {
            // One warp has met at no barrier since it read the carry before.
            team.sync();
        }
        if thread == THREADS - 1 {
            let carry = over.wrapping_sub(digits::TELESCOPED as Limb);
            self.kept_carry.set_limb(0, carry);
        }
    }
}

/// A pass down of the values `at`, `at + apart`, ...
#[inline(always)]
fn down_in_place<const R: usize>(x: Exchange, at: u32, apart: u32, roots: &[Complex; 8]) {
    let mut values = x.get::<R>(at, apart);
    down(&mut values, roots);
    x.set(at, apart, &values);
}

/// Does `work` for each group of `R` values that a thread has. (No loop: one that is not
/// unrolled would keep values in memory.)
#[inline(always)]
fn each_group<const R: usize>(work: impl Fn(u32)) {
    work(0);
    if R == 8 {
        work(1);
    }
}

/// Where the sum of limb `limb` is: behind every 16 a word is left free, so that threads
/// that go along 16 each meet in no bank.
#[inline(always)]
fn sum_at(limb: u32) -> u32 {
    limb + limb / 16
}
