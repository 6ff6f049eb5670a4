//! Multiplication by Toeplitz matrices of bytes, on tensor cores, exact by a bound.
//!
//! Cut `b` into columns of `R` bytes, and let `b[s]` be column `s`, a vector. Column `s` of the product is
//!
//! ```text
//! c[s] = sum over d of A[d] b[s - d],     A[d][r][k] = a[R d + r - k],   0 <= r, k < R
//! ```
//!
//! where `A[d]` has the same bytes of `a` along each diagonal (Toeplitz). All columns of `b` are
//! multiplied by the same matrices, so that a product of numbers is one of matrices, with as many columns on
//! the right as `b` has. Entries of `c[s]` are sums of products of bytes, which carries make bytes of.
//!
//! By hand, in decimal digits, with `R` = 2: 1234 by 5678. `a` = 4, 3, 2, 1 and `b` has columns (8, 7)
//! and (6, 5); `A[0]` = (4 0 / 3 4), `A[1]` = (2 3 / 1 2), `A[2]` = (0 1 / 0 0).
//!
//! ```text
//! c[0] = A[0] (8 7)             = (32 52)          32
//! c[1] = A[1] (8 7) + A[0] (6 5) = (37 22) + (24 38)   + 520 + 6100 + 60000
//! c[2] = A[2] (8 7) + A[1] (6 5) = ( 7  0) + (27 16)   + 340000 + 1600000
//! c[3] = A[2] (6 5)             = ( 5  0)          + 5000000               = 7006652
//! ```
//!
//! Columns are cyclic: there are `N` of them, and `b[s - d]` with `s < d` is `b[s - d + N]`, which makes
//! column `s + N` of the product. So one accumulator makes both: what it has after `d = s` is `c[s]`,
//! which is kept, and what comes from there on is `c[s + N]`, the end less what was kept. No step is in
//! vain but for those at the ends of the band.
//!
//! A warp has `N = 8 P` columns, eight in each of `P` passes, and `R = 32 T`. A step multiplies, for each of
//! `T` blocks of 32 rows, two matrices of 16 rows and 32 columns by one of 32 rows and eight columns.
//! What `A` has in such a block depends on `R d + 32 m - k` alone: the words that a step makes of `a`
//! serve `T` blocks, one after the other. Rows are taken in such an order that the four sums of a lane
//! belong to four neighbouring bytes, a limb. With `g = lane / 4` and `q = lane % 4`:
//!
//! ```text
//!                 first matrix, row g   g + 8     second, row g   g + 8
//! byte of c            32 m + 4 g        + 1            + 2         + 3       in columns 2 q, 2 q + 1
//! words of a      8 t + g - 2 q, and the two below it, bytes reversed, for step t
//! words of b      2 q and 2 q + 1 of a block of column g - d
//! ```
//!
//! Bound: a sum has at most `4 * 512` products below 2^16, and so less than 2^27; of the four that make
//! a limb, below `2^27 (1 + 2^8 + 2^16 + 2^24) < 2^52`; with a limb, and with what comes from below, below
//! 2^53. (Bytes may be as many as 33025 before sums reach 2^31.)
//!
//! Wider operands are cut into pieces of 512 limbs, whose products are added up, by rows (School).
//!
//! Cost: `2 T P (ceil(n / 8 T) T + (T + 1) / 2)` products of matrices, of 4096 bytes by bytes each, for `n` limbs of the
//! narrower operand; for each `2 T` of them eight permutations of bytes, and four loads of shared memory.
//! No scratch. `r` is no operand.

use crate::gpu::known::Known;
use crate::gpu::matrix::{self, Sums, multiply_add};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::gpu::warp::Group;
use crate::warp::{Batches, LANES, lookahead};
use bigint_core::kernel::Toeplitz;
use bigint_core::specialization::{Toeplitz as Of, moves_fours};
use bigint_core::{LIMB_BITS, Limb};

/// Limbs of a block.
const BLOCK: u32 = 8;

/// Columns of a pass.
const COLUMNS: u32 = 8;

/// The products that fall to the calling lane's warp, of columns of `T` blocks.
#[allow(unsafe_code)]
#[inline(always)]
pub fn products<const T: usize, S: Stride>(batches: Batches<'_, LANES, S>) {
    let (a, b) = (&batches.arguments.a, &batches.arguments.b);
    let Toeplitz { passes, .. } = Toeplitz::of(a.width as u32, b.width as u32);
    let plan = Toeplitz {
        blocks: T as u32,
        // Columns of fewer blocks are eight.
        passes: if T < 3 { 1 } else { passes },
    };
    // SAFETY: by the contract of `Batches::new` a launch has as much shared memory for each lane.
    let shared = unsafe { Stretch::of_warp(plan.bytes() / LANES) };
    let warp = Warp::<T> {
        group: batches.group,
        plan,
        shared,
    };
    warp.set_zeros();
    let by_fours = Of::BY_FOURS.or(moves_fours(batches.arguments));
    if by_fours {
        for work in batches.numbers() {
            warp.product::<true, S>(work.r, work.a, work.b);
        }
    } else {
        for work in batches.numbers() {
            warp.product::<false, S>(work.r, work.a, work.b);
        }
    }
}

/// A warp, its shared memory and how it cuts numbers, of which `T` blocks make a column.
#[derive(Clone, Copy)]
struct Warp<const T: usize> {
    group: Group<LANES>,
    plan: Toeplitz,
    shared: Stretch,
}

impl<const T: usize> Warp<T> {
    /// Limbs of a column.
    const COLUMN: u32 = BLOCK * T as u32;
    /// Limbs of all columns of a pass.
    const PASS: u32 = Self::COLUMN * COLUMNS;
    /// Sums that lanes make limbs of together, those of a pass and of as many limbs above.
    const ROUND: u32 = 2 * Self::PASS;
    /// Whether operands may be wider than their columns.
    const HAS_PIECES: bool = T == 4;

    /// The calling lane, of which nothing is computed ahead of where this is asked for.
    #[inline(always)]
    fn lane(self) -> u32 {
        thread::here(self.group.lane())
    }

    /// The zeros below and above the words of `a`.
    #[inline(always)]
    fn set_zeros(self) {
        let lane = self.lane();
        let above = BLOCK + self.plan.limbs();
        if lane < BLOCK {
            self.shared.set_limb(lane, 0);
        }
        let mut at = above + lane;
        while at < self.plan.matrix_limbs() {
            self.shared.set_limb(at, 0);
            at += LANES;
        }
    }

    /// `r = a * b`, cut or zero-extended to the width of `r`.
    #[inline(always)]
    fn product<const FOURS: bool, S: Stride>(self, r: Number<S>, a: Number<S>, b: Number<S>) {
        let (a, b) = if a.width() > b.width() {
            (b, a)
        } else {
            (a, b)
        };
        let piece = self.plan.limbs();
        let mut end = 2 * piece;
        if Self::HAS_PIECES {
            end = self.by_pieces::<FOURS, S>(r, a, b);
        } else {
            self.piece::<FOURS, S>(r.part(0, end), r.part(0, 0), a, b, 0);
        }
        let mut at = end + self.lane();
        while at < r.width() {
            r.set(at, 0);
            at += LANES;
        }
    }

    /// `r = a * b`, as far as its limbs are not zero for certain, from the limb on that this gives.
    #[inline(always)]
    fn by_pieces<const FOURS: bool, S: Stride>(
        self,
        r: Number<S>,
        a: Number<S>,
        b: Number<S>,
    ) -> u32 {
        // A power of two; wider operands are cut into pieces of the most that there are.
        let piece = self.plan.limbs();
        let up = |width: u32| (width + piece - 1) & !(piece - 1);
        let (a_end, b_end) = (up(a.width()), up(b.width()));
        let mut j = 0;
        while j < b_end && j < r.width() {
            let (mut i, mut carry) = (0, 0);
            while i < a_end && i + j < r.width() {
                // Below this, the window has limbs of earlier products.
                let earlier = match (i, j) {
                    (0, 0) => 0,
                    (_, 0) => piece,
                    _ => a_end - i,
                };
                let window = r.part(i + j, i + j + 2 * piece);
                let (a, b) = (a.part(i, i + piece), b.part(j, j + piece));
                carry = self.piece::<FOURS, S>(window, window.part(0, earlier), a, b, carry);
                i += piece;
            }
            j += piece;
        }
        a_end + b_end
    }

    /// Adds the product of two pieces to the limbs of the window that are there from `earlier` ones, and
    /// the carry of the product before to the middle of the window. Gives the carry out of the window.
    #[inline(always)]
    fn piece<const FOURS: bool, S: Stride>(
        self,
        window: Number<S>,
        earlier: Number<S>,
        a: Number<S>,
        b: Number<S>,
        carry: Limb,
    ) -> Limb {
        self.bring_in::<FOURS, S>(a, b);
        self.group.sync();
        // The steps of the band, in turns of `T`: those that have limbs of `a` and the first, which begins
        // below them.
        let turns = a.width().div_ceil(Self::COLUMN) + 1;
        let mut pass = 0;
        while pass < self.plan.passes {
            Columns::<T>::new(self, pass).multiply(turns);
            pass += 1;
        }
        self.group.sync();
        let (mut round, mut out) = (0, 0);
        while round < self.plan.passes && round * Self::ROUND < window.width() {
            let from = round * Self::ROUND;
            if Self::HAS_PIECES && round == 1 {
                out += carry;
            }
            let to = from + Self::ROUND;
            out =
                self.release::<FOURS, S>(round, window.part(from, to), earlier.part(from, to), out);
            round += 1;
        }
        self.group.sync();
        out
    }

    /// Both operands to shared memory, with zeros above.
    #[inline(always)]
    fn bring_in<const FOURS: bool, S: Stride>(self, a: Number<S>, b: Number<S>) {
        let lane = self.lane();
        let mut pass = 0;
        while pass < self.plan.passes {
            let from = pass * Self::PASS;
            let (a, b) = (a.part(from, u32::MAX), b.part(from, u32::MAX));
            // Unit `y` of both operands' limbs, `each` of which are of one.
            let source = |y: u32, each: u32| match y < each {
                true => (a, y),
                false => (b, y - each),
            };
            if FOURS {
                let each = Self::PASS / 4;
                let mut fours = [[0; 4]; T];
                for_each::<T>(
                    #[inline(always)]
                    |k| {
                        let (number, four) = source(lane + LANES * k as u32, each);
                        fours[k] = number.fours::<4, true>(4 * four);
                    },
                );
                for_each::<T>(
                    #[inline(always)]
                    |k| {
                        let at = self.place(lane + LANES * k as u32, 4, from);
                        self.shared.set_four(at / 4, fours[k]);
                    },
                );
            } else {
                let each = Self::PASS;
                let mut limbs = [[0; 4]; T];
                for_each_limb::<T>(
                    #[inline(always)]
                    |i, k| {
                        let (number, limb) = source(lane + LANES * (4 * i + k) as u32, each);
                        limbs[i][k] = number.limb(limb);
                    },
                );
                for_each_limb::<T>(
                    #[inline(always)]
                    |i, k| {
                        let at = self.place(lane + LANES * (4 * i + k) as u32, 1, from);
                        self.shared.set_limb(at, limbs[i][k]);
                    },
                );
            }
            pass += 1;
        }
    }

    /// Where unit `y`, of so many limbs, of both operands' limbs `from ..` of a pass goes.
    #[inline(always)]
    fn place(self, y: u32, limbs: u32, from: u32) -> u32 {
        let each = Self::PASS / limbs;
        match y < each {
            true => BLOCK + from + limbs * y,
            false => {
                let limb = from + limbs * (y - each);
                let (column, at) = (limb / Self::COLUMN, limb % Self::COLUMN);
                self.plan.columns_at() + self.plan.column_limbs() * column + at
            }
        }
    }

    /// Sums of a round to limbs of its window, and the carry out of it, the same in all lanes; `carry`
    /// comes in.
    #[inline(always)]
    fn release<const FOURS: bool, S: Stride>(
        self,
        round: u32,
        window: Number<S>,
        earlier: Number<S>,
        carry: Limb,
    ) -> Limb {
        let Warp { group, shared, .. } = self;
        let lane = self.lane();
        let chunk = 4 * T as u32;
        let first = self.plan.sum(round * Self::ROUND + chunk * lane);
        // What earlier products have left there, or else what makes way for limbs.
        let mut limbs = [[0; 4]; T];
        if Self::HAS_PIECES && earlier.width() > 0 {
            for_each_limb::<T>(
                #[inline(always)]
                |i, k| limbs[i][k] = earlier.limb(chunk * lane + (4 * i + k) as u32),
            );
        }
        let mut left = u64::from(if lane == 0 { carry } else { 0 });
        for_each_limb::<T>(
            #[inline(always)]
            |i, k| {
                let at = (4 * i + k) as u32;
                left += shared.word(first + at) + u64::from(limbs[i][k]);
                limbs[i][k] = left as Limb;
                left >>= LIMB_BITS;
            },
        );
        let over = left as Limb;
        let below = group.rotate_up(over, 1);
        let below = if lane == 0 { 0 } else { below };
        let (lowest, carries) = limbs[0][0].overflowing_add(below);
        let mut out = over;
        if group.all(!carries) {
            // As for nearly all numbers: what is left over is far less than a limb.
            limbs[0][0] = lowest;
        } else {
            let carry = add(&mut limbs, below);
            let mut all = Limb::MAX;
            for_each_limb::<T>(
                #[inline(always)]
                |i, k| all &= limbs[i][k],
            );
            let (generate, propagate) = (group.ballot(carry != 0), group.ballot(all == Limb::MAX));
            let carries = lookahead::carries(generate, propagate, 0);
            out += carry + add(&mut limbs, lookahead::bit(carries, lane));
        }
        self.set_side_by_side::<FOURS, S>(round, window, limbs);
        group.shuffle(out, LANES - 1)
    }

    /// Sets limbs of a round's window, of which each lane has `4 T`: by way of shared memory, in the place of
    /// the sums, so that neighbours set neighbouring limbs.
    #[inline(always)]
    fn set_side_by_side<const FOURS: bool, S: Stride>(
        self,
        round: u32,
        window: Number<S>,
        limbs: [[Limb; 4]; T],
    ) {
        let lane = self.lane();
        let own = self.shared.from_word(self.plan.sum(round * Self::ROUND));
        self.group.sync();
        for_each::<T>(
            #[inline(always)]
            |i| own.set_four(Self::four_at(T as u32 * lane + i as u32), limbs[i]),
        );
        self.group.sync();
        if FOURS {
            for_each::<T>(
                #[inline(always)]
                |i| {
                    let at = lane + LANES * i as u32;
                    window.set_fours::<4, true>(4 * at, own.four(Self::four_at(at)));
                },
            );
        } else {
            for_each_limb::<T>(
                #[inline(always)]
                |i, k| {
                    let at = lane + LANES * (4 * i + k) as u32;
                    window.set(at, own.limb(4 * Self::four_at(at / 4) + at % 4));
                },
            );
        }
    }

    /// The place of limbs `4 four ..` of a round: those that eight lanes set at once lie in different
    /// banks, and so do those that they get.
    #[inline(always)]
    fn four_at(four: u32) -> u32 {
        match T {
            2 => four ^ four / 8 % 2,
            4 => four ^ four / 8 % 4,
            _ => four,
        }
    }
}

/// The columns of a pass, on their way.
struct Columns<const T: usize> {
    warp: Warp<T>,
    /// Sums of each block, by the first matrix and the second.
    sums: [[Sums; 2]; T],
    /// Words of `a` of the last `T` steps.
    rows: [[u32; BLOCK as usize]; T],
    /// What the next step takes: the words of `a` from above, and those of `b`.
    next: ([u32; 3], u64),
    /// Where the words of `a` for the next turn begin.
    a_at: u32,
    /// Where those of its column of `b` do, in pairs, and those of the first column.
    b_at: u32,
    b_first: u32,
    /// The word of the lane's row in the first of its two columns, and how many turns it is until that
    /// column is done.
    own: u32,
    due: u32,
    /// The lane's row of a block.
    g: u32,
}

impl<const T: usize> Columns<T> {
    /// Words from a column's sums to the next one's.
    const APART: u32 = Warp::<T>::COLUMN + 2;

    #[inline(always)]
    fn new(warp: Warp<T>, pass: u32) -> Self {
        let lane = warp.lane();
        let (g, q) = (lane / 4 % 8, lane % 4);
        let plan = warp.plan;
        let (first, own) = (COLUMNS * pass, COLUMNS * pass + 2 * q);
        let b_first = plan.columns_at() / 2 + q;
        let mut columns = Columns {
            warp,
            sums: [[[0; 4]; 2]; T],
            rows: [[0; BLOCK as usize]; T],
            next: ([0; 3], 0),
            a_at: BLOCK + g - 2 * q,
            b_at: b_first + plan.column_limbs() / 2 * (first + g),
            b_first,
            own: plan.sums_at() + Self::APART * own + g,
            due: own,
            g,
        };
        columns.next = (columns.of_a(0), columns.of_b(columns.b_at, 0));
        columns
    }

    /// All turns, and what comes of them: the sums of all columns.
    #[inline(always)]
    fn multiply(mut self, turns: u32) {
        self.turn::<true>();
        let mut turn = 1;
        while turn < turns {
            // Column `turn - 1` is done.
            if self.due == 0 {
                self.keep::<0>();
            }
            if self.due == u32::MAX {
                self.keep::<1>();
            }
            self.due = self.due.wrapping_sub(1);
            self.turn::<false>();
            turn += 1;
        }
        // Those that were kept are due no more.
        self.finish::<0>(self.due > u32::MAX / 2);
        self.finish::<1>(self.due.wrapping_add(1) > u32::MAX / 2);
    }

    /// Keeps the sums so far of the lane's first column or its second.
    #[inline(always)]
    fn keep<const SECOND: u32>(&self) {
        for_each::<T>(
            #[inline(always)]
            |m| {
                let at = self.place::<SECOND>(m);
                self.warp.shared.set_word(at, self.sum::<SECOND>(m));
            },
        );
    }

    /// The sums of the lane's first column or its second: what was kept, or else all, and the rest.
    #[inline(always)]
    fn finish<const SECOND: u32>(&self, is_kept: bool) {
        let Warp { plan, shared, .. } = self.warp;
        let up = plan.limbs() + 2 * COLUMNS * plan.passes;
        for_each::<T>(
            #[inline(always)]
            |m| {
                let at = self.place::<SECOND>(m);
                let all = self.sum::<SECOND>(m);
                let low = if is_kept { shared.word(at) } else { all };
                shared.set_word(at, low);
                shared.set_word(at + up, all - low);
            },
        );
    }

    /// The [word](Toeplitz::sum) for the lane's limb of block `m` of its first column or its second.
    #[inline(always)]
    fn place<const SECOND: u32>(&self, m: usize) -> u32 {
        let limb = BLOCK * m as u32 + self.g;
        self.own + Self::APART * SECOND + BLOCK * m as u32 + limb / (4 * T as u32)
    }

    /// `T` steps, which go once along each column; the first ones begin above the band.
    #[inline(always)]
    fn turn<const IS_FIRST: bool>(&mut self) {
        let group = self.warp.group;
        let plan = self.warp.plan;
        let apart = plan.column_limbs() / 2;
        // Columns are cyclic.
        let (column, above) = match self.b_at < self.b_first + apart {
            true => (self.b_at, self.b_at + apart * (COLUMNS * plan.passes - 1)),
            false => (self.b_at, self.b_at - apart),
        };
        for_each::<T>(
            #[inline(always)]
            |i| {
                let ([r0, r1, r2], b) = self.next;
                self.next = match i + 1 < T {
                    true => (self.of_a(i as u32 + 1), self.of_b(column, i as u32 + 1)),
                    false => (self.of_a(i as u32 + 1), self.of_b(above, 0)),
                };
                for_each::<4>(
                    #[inline(always)]
                    |k| {
                        self.rows[i][k] = matrix::reversed(r1, r0, 4 + k);
                        self.rows[i][4 + k] = matrix::reversed(r2, r1, 4 + k);
                    },
                );
                let right = [b as u32, (b >> 32) as u32];
                for_each::<T>(
                    #[inline(always)]
                    |back| {
                        if IS_FIRST && back > i {
                            return;
                        }
                        let of = self.rows[(i + T - back) % T];
                        let [first, second] = &mut self.sums[T - 1 - back];
                        *first = multiply_add(group, *first, [of[0], of[1], of[4], of[5]], right);
                        *second = multiply_add(group, *second, [of[2], of[3], of[6], of[7]], right);
                    },
                );
            },
        );
        self.a_at += Warp::<T>::COLUMN;
        self.b_at = above;
    }

    /// The words of `a` for step `i` of a turn.
    #[inline(always)]
    fn of_a(&self, i: u32) -> [u32; 3] {
        let at = self.a_at + BLOCK * i;
        [0, 1, 2].map(|below| self.warp.shared.limb(at.wrapping_sub(below)))
    }

    /// The words of a column of `b` for step `i` of a turn, the upper blocks first.
    #[inline(always)]
    fn of_b(&self, column: u32, i: u32) -> u64 {
        self.warp
            .shared
            .word(column + BLOCK / 2 * (T as u32 - 1 - i))
    }

    /// The sum for a limb: of block `m` of the lane's first column or its second.
    #[inline(always)]
    fn sum<const SECOND: u32>(&self, m: usize) -> u64 {
        let [[x0, y0, x1, y1], [x2, y2, x3, y3]] = self.sums[m];
        let [s0, s1, s2, s3] = match SECOND {
            0 => [x0, x1, x2, x3],
            _ => [y0, y1, y2, y3],
        };
        [(s1, 8), (s2, 16), (s3, 24)].iter().fold(
            u64::from(s0),
            #[inline(always)]
            |sum, &(byte, up)| sum + (u64::from(byte) << up),
        )
    }
}

/// Adds one limb; the carry out.
#[inline(always)]
fn add<const T: usize>(limbs: &mut [[Limb; 4]; T], limb: Limb) -> Limb {
    let mut carry = u64::from(limb);
    for_each_limb::<T>(
        #[inline(always)]
        |i, k| {
            carry += u64::from(limbs[i][k]);
            limbs[i][k] = carry as Limb;
            carry >>= LIMB_BITS;
        },
    );
    carry as Limb
}

/// Does `work` for each of `N` things, at most 4. (No loop: one that is not unrolled would keep
/// values in memory.)
#[inline(always)]
fn for_each<const N: usize>(mut work: impl FnMut(usize)) {
    work(0);
    if N > 1 {
        work(1);
    }
    if N > 2 {
        work(2);
    }
    if N > 3 {
        work(3);
    }
}

/// The same for each of a lane's `4 T` limbs.
#[inline(always)]
fn for_each_limb<const T: usize>(mut work: impl FnMut(usize, usize)) {
    for_each::<T>(
        #[inline(always)]
        |i| {
            for_each::<4>(
                #[inline(always)]
                |k| work(i, k),
            );
        },
    );
}
