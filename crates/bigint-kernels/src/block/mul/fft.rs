//! Multiplication by a transform over the complex numbers in FP64, exact by proof.
//!
//! [`bigint_core::transform`] explains the ring, the tree, the passes and the proof. With `T`
//! threads and one part, operands have `8 T` limbs, which are `L = 16 T` digits of 16 bits, and a
//! thread has 16 complex values at a time. Thread `t` has these values in each pass:
//!
//! ```text
//! pass       values of a thread, k < R                            shared memory
//! first      digits 2t + k L/R, and 2t+1 + k L/R: a limb for      written
//!            each k, real, radix 8, 10 or 12
//! middle     c + k m/R of a node of m values, radix 8 or 16       read, written in place
//! last       8 or 16 neighbours: one or two levels down,          both operands' read,
//!            products modulo x^4 - z, and up again                the product's written
//! middle     as above, up                                         read, written in place
//! first      as above, up: coefficients, rounded; two of them     read; sums written
//!            are added to a sum for each limb of the result
//! carries    16 neighbouring sums                                 read
//! ```
//!
//! There are `L` sums for `2 L` coefficients. Real parts are coefficients `0 .. L`, imaginary parts
//! `L .. 2 L`.
//!
//! In a first pass of radix 10 or 12 only the lowest `L / 2R` threads have values. Where `T` is not a
//! multiple of 32, the last warp has threads that have none at all, and whose limbs are zero.
//!
//! With several parts (module `parts`), operands have as many times more limbs.
//!
//! If both operands are the same number, it is transformed once.
//!
//! Wider operands are cut into pieces. The products of pieces are added up row by row, with one
//! carry from product to product. A specialised kernel knows whether there are several pieces; if
//! not, a thread has little to remember beside its values.
//!
//! Cost for one piece: `3 log2(L/4)` levels of `L/2` butterflies of six operations in FP64 (on the
//! way up four to six), and fewer in the first levels down. Each pass moves `16 L` bytes for each
//! operand to and from shared memory, except the very first and last. No scratch. `r` overlaps no
//! operand.

mod parts;
pub mod rings;

use super::super::Work;
use crate::gpu::block::Team;
use crate::gpu::float::Roots;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::stretch::Stretch;
use crate::gpu::warp::Group;
use crate::transform::butterflies::{
    down, down_from_the_root, down_to_fours, multiply_and_up, up, up_to_the_root,
};
use crate::transform::carries::{self, CHUNK};
use crate::transform::complex::Complex;
use crate::transform::digits;
use crate::transform::exchange::Exchange;
use crate::transform::odd;
use bigint_core::Limb;
use bigint_core::transform::Plan;

/// `r = a * b`, cut or zero-extended to the width of `r`, by the plan for `LANES`, which has so many
/// threads and parts, and a first pass of radix `FIRST`.
#[inline(always)]
pub fn product<
    const LANES: u32,
    const THREADS: u32,
    const PARTS: usize,
    const FIRST: usize,
    S: Stride,
>(
    work: Work<THREADS, S>,
) {
    let team = work.team;
    let transform =
        Transform::<LANES, THREADS, PARTS, FIRST>::new(team, work.roots, work.is_square);
    by_pieces(
        work,
        const { Plan::of(LANES).limbs() },
        (team.thread(), THREADS),
        #[inline(always)]
        |window, earlier, a, b, has_carry| {
            transform.piece(window, earlier, a, b, has_carry);
        },
    );
}

/// Computes `r = a * b` by products of pieces of `piece` limbs. Each product is added to its window
/// of the result, with the carry of the product before it in the same row. `multiply` gets the
/// window, the part of it that earlier products have set, the two pieces, and whether there is such
/// a carry. The calling thread is `thread` of `threads` that share the number.
#[inline(always)]
fn by_pieces<const THREADS: u32, S: Stride>(
    work: Work<THREADS, S>,
    piece: u32,
    (thread, threads): (u32, u32),
    multiply: impl Fn(Number<S>, Number<S>, Number<S>, Number<S>, bool),
) {
    let Work {
        team,
        r,
        a,
        b,
        is_one_piece,
        ..
    } = work;
    let ends = a.width().next_multiple_of(piece);
    let mut j = 0;
    loop {
        let mut i = 0;
        loop {
            // The lowest so many limbs of the window have been set by earlier products.
            let earlier = match (i, j) {
                (0, 0) => 0,
                (_, 0) => piece,
                _ => ends - i,
            };
            if earlier > 0 {
                team.sync();
            }
            let window = r.part(i + j, i + j + 2 * piece);
            multiply(
                window,
                window.part(0, earlier),
                a.part(i, i + piece),
                b.part(j, j + piece),
                i > 0,
            );
            i += piece;
            if is_one_piece || i >= a.width() || i + j >= r.width() {
                break;
            }
        }
        j += piece;
        if is_one_piece || j >= b.width() || j >= r.width() {
            break;
        }
    }
    let mut at = ends + b.width().next_multiple_of(piece);
    if is_one_piece {
        at = 2 * piece;
    }
    while at < r.width() {
        r.set(at + thread, 0);
        at += threads;
    }
}

/// The block's threads, roots and shared memory for transforms.
#[derive(Clone, Copy)]
struct Transform<const LANES: u32, const THREADS: u32, const PARTS: usize, const FIRST: usize> {
    team: Team<THREADS>,
    roots: Roots,
    is_square: bool,
    /// Shared memory for the first operand and, in its place, the product (`x`); and for the second
    /// operand and, in its place, the sums (`y`).
    x: Exchange,
    y: Exchange,
    /// The carries between warps while sums become limbs.
    links: Stretch,
    /// The carry from one piece's product to the next, and the carry from one round to the next.
    kept_carries: Stretch,
}

impl<const LANES: u32, const THREADS: u32, const PARTS: usize, const FIRST: usize>
    Transform<LANES, THREADS, PARTS, FIRST>
{
    const PLAN: Plan = {
        let plan = Plan::of(LANES);
        assert!(plan.threads() == THREADS);
        assert!(plan.parts == PARTS as u32 && plan.first == FIRST as u32);
        plan
    };
    const LENGTH: u32 = Self::PLAN.length();
    /// The values of a part, which are also the limbs of a round.
    const PART: u32 = Self::PLAN.part();
    const LIMBS: u32 = Self::PLAN.limbs();
    /// The threads that have values, 16 each, in all passes but the first.
    const SHARERS: u32 = Self::PLAN.sharers();
    /// The distance of a thread's values in the first pass.
    const APART: u32 = Self::PART / FIRST as u32;
    /// The threads that have values in the first pass, two columns of them each.
    const COLUMNS: u32 = Self::APART / 2;
    const NODES: [u32; 3] = [
        Self::PLAN.nodes(0),
        Self::PLAN.nodes(1),
        Self::PLAN.nodes(2),
    ];
    const DOWN_AT: [u32; 3] = [
        Self::PLAN.forward_at(0),
        Self::PLAN.forward_at(1),
        Self::PLAN.forward_at(2),
    ];
    const UP_AT: [u32; 2] = [Self::PLAN.inverse_at(0), Self::PLAN.inverse_at(1)];
    const RUN: u32 = Self::PLAN.run();
    const BUFFER: u32 = Self::PLAN.buffer_bytes();
    const LINKS_AT: u32 = Self::PLAN.links_at();
    /// The end of shared memory for products, and for squares.
    const ENDS: [u32; 2] = [
        Self::PLAN.shared_bytes(false),
        Self::PLAN.shared_bytes(true),
    ];

    #[inline(always)]
    fn new(team: Team<THREADS>, roots: Roots, is_square: bool) -> Self {
        let stretch = |from| Stretch::new(team, from);
        Transform {
            team,
            roots,
            is_square,
            x: Exchange::new(stretch(0), Self::RUN),
            y: Exchange::new(stretch(Self::BUFFER), Self::RUN),
            links: stretch(Self::LINKS_AT),
            kept_carries: stretch(Self::ENDS[usize::from(is_square)] - 16),
        }
    }

    /// Adds the product of pieces `a` and `b` to the window of the result, with the carry of the
    /// product before if it `has_carry`.
    #[inline(always)]
    fn piece<S: Stride>(
        self,
        window: Number<S>,
        earlier: Number<S>,
        a: Number<S>,
        b: Number<S>,
        has_carry: bool,
    ) {
        let release = |round| self.release(round, window, earlier, has_carry);
        if PARTS > 1 {
            return self.by_parts(a, b, release);
        }
        if self.has_columns() {
            let a = self.own_limbs(a);
            if !self.is_square {
                let b = self.own_limbs(b);
                self.spread(b, self.y);
            }
            self.spread(a, self.x);
        }
        self.team.sync();
        self.multiply(0);
        self.sums();
        release(0);
    }

    /// Whether the thread has values in the first pass.
    #[inline(always)]
    fn has_columns(self) -> bool {
        Self::COLUMNS == THREADS || self.team.thread() < Self::COLUMNS
    }

    /// Whether the thread has values in the passes after the first.
    #[inline(always)]
    fn has_values(self) -> bool {
        Self::SHARERS == THREADS || self.team.thread() < Self::SHARERS
    }

    /// The passes of a part between the first one down and the first one up. They leave the product
    /// in `x`.
    #[inline(always)]
    fn multiply(self, part: u32) {
        match Self::PLAN.middle {
            8 => self.down::<8>(part),
            _ => self.down::<16>(part),
        }
        // Each warp goes on with the 512 values that it has set itself.
        let warp = self.team.warp();
        warp.sync();
        match Self::PLAN.last {
            8 => self.multiply_leaves::<8>(part),
            _ => self.multiply_leaves::<16>(part),
        }
        warp.sync();
        match Self::PLAN.middle {
            8 => self.up::<8>(part),
            _ => self.up::<16>(part),
        }
        self.team.sync();
    }

    /// The last pass: down, products modulo `x^4 - z`, and up again.
    #[inline(always)]
    fn multiply_leaves<const R: usize>(self, part: u32) {
        each_group::<R>(
            #[inline(always)]
            |g| {
                let group = self.neighbours::<R>(g);
                if Self::SHARERS != THREADS && group >= Self::PART / R as u32 {
                    return;
                }
                let roots = self.last_roots::<R>(part * (Self::PART / R as u32) + group);
                let at = R as u32 * group;
                let mut values = self.x.get::<R>(at, 1);
                down_to_fours(&mut values, &roots);
                let mut product = values;
                if !self.is_square {
                    product = self.y.get::<R>(at, 1);
                    down_to_fours(&mut product, &roots);
                }
                multiply_and_up(&values, &mut product, &roots, self.is_square);
                self.x.set(at, 1, &product);
            },
        );
    }

    /// The limbs of a number in one part that the calling thread cuts into digits.
    #[inline(always)]
    fn own_limbs(self, a: Number<impl Stride>) -> [Limb; FIRST] {
        let own = a.part(self.team.thread(), u32::MAX).settled();
        let mut limbs = [0; FIRST];
        let mut k = 0;
        while k < FIRST {
            limbs[k] = own.limb(k as u32 * Self::COLUMNS);
            k += 1;
        }
        limbs
    }

    /// The first pass down of a number in one part: cuts limbs into digits, and leaves values in
    /// shared memory.
    #[inline(always)]
    fn spread(self, limbs: [Limb; FIRST], to: Exchange) {
        let thread = self.team.thread();
        let (mut lower, mut upper) = ([0.0; FIRST], [0.0; FIRST]);
        let mut k = 0;
        while k < FIRST {
            [lower[k], upper[k]] = digits::plain(limbs[k]);
            k += 1;
        }
        to.set(2 * thread, Self::APART, &down_from_the_root(lower));
        to.set(2 * thread + 1, Self::APART, &down_from_the_root(upper));
    }

    /// The middle pass down, of one operand or two.
    #[inline(always)]
    fn down<const R: usize>(self, part: u32) {
        let apart = Self::APART / R as u32;
        each_group::<R>(
            #[inline(always)]
            |g| {
                if !self.has_values() {
                    return;
                }
                let (node, at) = self.column::<R>(part, g);
                let roots = self.roots_down::<R>(1, node);
                down_in_place::<R>(self.x, at, apart, &roots);
                if !self.is_square {
                    down_in_place::<R>(self.y, at, apart, &roots);
                }
            },
        );
    }

    /// The middle pass up, of the product.
    #[inline(always)]
    fn up<const R: usize>(self, part: u32) {
        let apart = Self::APART / R as u32;
        each_group::<R>(
            #[inline(always)]
            |g| {
                if !self.has_values() {
                    return;
                }
                let (node, at) = self.column::<R>(part, g);
                let mut values = self.x.get::<R>(at, apart);
                self.up_from(1, node, &mut values);
                self.x.set(at, apart, &values);
            },
        );
    }

    /// Pass `pass` up, of the values of a node.
    #[inline(always)]
    fn up_from<const R: usize>(self, pass: usize, node: u32, v: &mut [Complex; R]) {
        match R.is_power_of_two() {
            true => up(v),
            false => *v = odd::transform(*v, true),
        }
        let mut k = 1;
        while k < R {
            v[k] = v[k].times(self.root_up(pass, node, k as u32));
            k += 1;
        }
    }

    /// The root by which pass `pass` up multiplies value `k` of a node.
    #[inline(always)]
    fn root_up(self, pass: usize, node: u32, k: u32) -> Complex {
        self.root(node, Self::UP_AT[pass] + (k - 1) * Self::NODES[pass])
    }

    /// The node of the middle pass to which the thread's group `g` belongs, and the place of the
    /// group's first value.
    #[inline(always)]
    fn column<const R: usize>(self, part: u32, g: u32) -> (u32, u32) {
        let apart = Self::APART / R as u32;
        let q = self.group(g);
        let node = q / apart;
        (part * FIRST as u32 + node, node * Self::APART + q % apart)
    }

    /// The index, among all groups of a pass, of the thread's group `g`.
    #[inline(always)]
    fn group(self, g: u32) -> u32 {
        self.team.thread() + g * THREADS
    }

    /// The index, among all groups of the last pass, of the thread's group `g`. A warp's groups are
    /// neighbours there.
    #[inline(always)]
    fn neighbours<const R: usize>(self, g: u32) -> u32 {
        let lane = self.team.warp().lane();
        16 / R as u32 * (self.team.thread() - lane) + lane + 32 * g
    }

    /// The roots of a node in the last pass.
    #[inline(always)]
    fn last_roots<const R: usize>(self, node: u32) -> [Complex; 3] {
        let mut roots = [Complex::ZERO; 3];
        let mut j = 0;
        while j < if R == 16 { 3 } else { 1 } {
            roots[j] = self.root(node, Self::DOWN_AT[2] + j as u32 * Self::NODES[2]);
            j += 1;
        }
        roots
    }

    /// The roots of a node in pass `pass` down.
    #[inline(always)]
    fn roots_down<const R: usize>(self, pass: usize, node: u32) -> [Complex; 8] {
        let mut roots = [Complex::ZERO; 8];
        let mut j = 0;
        while j < R / 2 {
            roots[j] = self.root(node, Self::DOWN_AT[pass] + j as u32 * Self::NODES[pass]);
            j += 1;
        }
        roots
    }

    /// The root of a node, among roots that begin at `at` in the table.
    #[inline(always)]
    fn root(self, node: u32, at: u32) -> Complex {
        let [re, im] = self.roots.up(node).at(at);
        Complex::new(re, im)
    }

    /// The first pass up. It leads to coefficients, two of which are added to one sum for each
    /// limb.
    #[inline(always)]
    fn sums(self) {
        if self.has_columns() {
            self.set_sums_of_columns();
        }
        self.team.sync();
    }

    /// The first pass up, of the thread's two columns.
    #[inline(always)]
    fn set_sums_of_columns(self) {
        let thread = self.team.thread();
        // All passes up are sums over the `L/4` leaves.
        let scale = const { 4.0 / Self::LENGTH as f64 };
        let (mut low, mut high) = ([0; FIRST], [0; FIRST]);
        let v = up_to_the_root(self.x.get::<FIRST>(2 * thread, Self::APART));
        let mut k = 0;
        while k < FIRST {
            low[k] = digits::lower(v[k].re, scale);
            high[k] = digits::lower(v[k].im, scale);
            k += 1;
        }
        let v = up_to_the_root(self.x.get::<FIRST>(2 * thread + 1, Self::APART));
        let mut k = 0;
        while k < FIRST {
            low[k] = low[k].wrapping_add(digits::upper(v[k].re, scale));
            high[k] = high[k].wrapping_add(digits::upper(v[k].im, scale));
            k += 1;
        }
        if thread == 0 {
            low[0] += digits::TELESCOPED;
        }
        let mut k = 0;
        while k < FIRST {
            self.set_sums(k as u32, [low[k], high[k]]);
            k += 1;
        }
    }

    /// Sets sum `k` of the thread in each half of a round, that of the lower half first.
    #[inline(always)]
    fn set_sums(self, k: u32, [lower, upper]: [u64; 2]) {
        let sums = self.y.memory();
        let first = sum_at(self.team.thread());
        sums.set_word(first + sum_at(k * Self::COLUMNS), lower);
        sums.set_word(first + sum_at((FIRST as u32 + k) * Self::COLUMNS), upper);
    }

    /// Turns the sums of a round into limbs of the result.
    #[inline(always)]
    fn release(
        self,
        round: u32,
        window: Number<impl Stride>,
        earlier: Number<impl Stride>,
        has_carry: bool,
    ) {
        let Transform { team, links, .. } = self;
        let thread = team.thread();
        let at = CHUNK as u32 * thread;
        let sums = self.y.memory();
        let mut carry = 0;
        // The thread that has the limb to which the product before carries adds its carry.
        if has_carry && round * Self::PART + at == Self::LIMBS {
            carry = u64::from(self.kept_carries.limb(0));
        }
        if round > 0 && thread == 0 {
            carry += u64::from(self.kept_carries.limb(1));
        }
        let before: [Limb; CHUNK] = match earlier.width() {
            0 => [0; CHUNK],
            _ => earlier.limbs(round * Self::PART + at),
        };
        let (limbs, over) = carries::release(team, team.warp(), links, |i| {
            let more = if i == 0 { carry } else { 0 };
            match self.has_values() {
                true => sums.word(sum_at(at) + i) + u64::from(before[i as usize]) + more,
                false => 0,
            }
        });
        let warp = team.warp();
        let first = CHUNK as u32 * (thread - warp.lane());
        let own = sums.from_word(sum_at(first));
        // Threads that have no values have no limbs.
        let end = match Self::SHARERS == THREADS {
            true => u32::MAX,
            false => (round + 1) * Self::PART,
        };
        let window = window.part(round * Self::PART + first, end);
        set_side_by_side(warp, own, window, limbs);
        if thread == Self::SHARERS - 1 {
            match round == PARTS as u32 - 1 {
                true => {
                    let carry = over.wrapping_sub(digits::TELESCOPED as Limb);
                    self.kept_carries.set_limb(0, carry);
                }
                false => self.kept_carries.set_limb(1, over),
            }
        }
    }
}

/// Sets limbs of a number, of which each lane has 16. They pass through the lanes' own shared
/// memory, so that neighbouring lanes set neighbouring limbs.
#[inline(always)]
fn set_side_by_side<const LANES: u32>(
    group: Group<LANES>,
    own: Stretch,
    number: Number<impl Stride>,
    limbs: [Limb; CHUNK],
) {
    let lane = group.lane();
    group.sync();
    for (i, &four) in (0..).zip(limbs.as_chunks().0) {
        own.set_four(four_at(lane, i), four);
    }
    group.sync();
    let number = number.part(4 * lane, u32::MAX).settled();
    for i in 0..CHUNK as u32 / 4 {
        let four = own.four(four_at(lane / 4 + LANES / 4 * i, lane % 4));
        number.set_limbs(4 * LANES * i, four);
    }
}

/// The place of group `four` of a thread's four groups of four limbs. Eight threads that move a
/// group each at once meet in no bank, be it the same group of eight threads or all groups of two.
#[inline(always)]
fn four_at(thread: u32, four: u32) -> u32 {
    4 * thread + (four ^ thread / 2 % 4)
}

/// A pass down of the values `at`, `at + apart`, `at + 2 apart` and so on, in place.
#[inline(always)]
fn down_in_place<const R: usize>(x: Exchange, at: u32, apart: u32, roots: &[Complex; 8]) {
    let mut values = x.get::<R>(at, apart);
    down(&mut values, roots);
    x.set(at, apart, &values);
}

/// Calls `work` for each group of `R` values that a thread has. (There is no loop, as one that is
/// not unrolled would keep values in memory.)
#[inline(always)]
fn each_group<const R: usize>(work: impl Fn(u32)) {
    work(0);
    if R == 8 {
        work(1);
    }
}

/// The place of the sum of limb `limb` of a round. Behind every 16 sums a word is left free, so
/// that threads that go through 16 sums each meet in no bank.
#[inline(always)]
fn sum_at(limb: u32) -> u32 {
    limb + limb / 16
}
