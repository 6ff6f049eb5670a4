//! Multiplication by Toeplitz matrices of bytes, on tensor cores, exact by a bound.
//!
//! Cut `b` into columns of `R` bytes, and let the vector `b[s]` be column `s`. Column `s` of the product is
//!
//! ```text
//! c[s] = sum over d of A[d] b[s - d],     A[d][r][k] = a[R d + r - k],   0 <= r, k < R
//! ```
//!
//! where `A[d]` has the same byte of `a` along each diagonal (a Toeplitz matrix). All columns of `b` are multiplied
//! by the same matrices, so a product of numbers is a product of matrices, with as many columns on the right as `b`
//! has. Entries of `c[s]` are sums of products of bytes, which carries turn into bytes.
//!
//! By hand, 1234 times 5678 in decimal digits with `R` = 2: `a` is 4, 3, 2, 1, and `b` has the columns (8, 7) and (6,
//! 5). `A[0]` is (4 0 / 3 4), `A[1]` is (2 3 / 1 2), and `A[2]` is (0 1 / 0 0).
//!
//! ```text
//! c[0] = A[0] (8 7)             = (32 52)          32
//! c[1] = A[1] (8 7) + A[0] (6 5) = (37 22) + (24 38)   + 520 + 6100 + 60000
//! c[2] = A[2] (8 7) + A[1] (6 5) = ( 7  0) + (27 16)   + 340000 + 1600000
//! c[3] = A[2] (6 5)             = ( 5  0)          + 5000000               = 7006652
//! ```
//!
//! Columns are cyclic: there are `N` of them, and for `s < d`, `b[s - d]` is `b[s - d + N]`, whose product belongs to
//! column `s + N`. So one accumulator computes both columns. After `d = s` it has `c[s]`, which is kept; its value at
//! the end, minus what was kept, is `c[s + N]`. No step is wasted except those at the ends of the band.
//!
//! A warp has `N = 8 P` columns, eight in each of `P` passes, and `R = 32 T`. For each of `T` blocks of 32 rows, a
//! step multiplies two matrices of 16 rows and 32 columns by one of 32 rows and eight columns. The part of `A` in
//! block `m` depends only on `R d + 32 m - k`, so the words that a step computes from `a` serve `T` blocks, one after
//! the other. Rows are in such an order that the four sums of a lane belong to four neighbouring bytes, which are a
//! limb. With `g = lane / 4` and `q = lane % 4`:
//!
//! ```text
//!                 first matrix, row g   g + 8     second, row g   g + 8
//! byte of c            32 m + 4 g        + 1            + 2         + 3       in columns 2 q, 2 q + 1
//! words of a      8 t + g - 2 q, and the two below it, bytes reversed, for step t
//! words of b      2 q and 2 q + 1 of a block of column g - d
//! ```
//!
//! Bound: a sum has at most `4 * 512` products below 2^16, so it is less than 2^27. The four sums of a limb are
//! together below `2^27 (1 + 2^8 + 2^16 + 2^24) < 2^52`. With a limb of an earlier product and the carry from below
//! they are below 2^53. (There may be up to 33025 bytes before sums reach 2^31.)
//!
//! Wider operands are cut into pieces of 512 limbs, whose products are added up row by row.
//!
//! Cost: `2 T P (ceil(n / 8 T) T + (T + 1) / 2)` products of matrices, of 4096 bytes by bytes each, for `n` limbs of
//! the narrower operand; for each `2 T` of them eight permutations of bytes, and four loads of shared memory. No
//! scratch. `r` overlaps no operand.

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

/// The most blocks of a column for which a lane keeps sums in registers. For more it keeps them where they go in the end.
const KEEPS_UP_TO: usize = 3;

/// The limbs of a block.
const BLOCK: u32 = 8;

/// The columns of a pass.
const COLUMNS: u32 = 8;

/// Computes the products that fall to the calling lane's warp, by columns of `T` blocks.
#[allow(unsafe_code)]
#[inline(always)]
pub fn products<const T: usize, S: Stride>(batches: Batches<'_, LANES, S>) {
    let (a, b) = (&batches.arguments.a, &batches.arguments.b);
    let Toeplitz { passes, .. } = Toeplitz::of(a.width as u32, b.width as u32);
    let plan = Toeplitz {
        blocks: T as u32,
        // If columns have fewer blocks, there are eight of them.
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

/// A warp, its shared memory, and its cut of numbers into columns of `T` blocks.
#[derive(Clone, Copy)]
struct Warp<const T: usize> {
    group: Group<LANES>,
    plan: Toeplitz,
    shared: Stretch,
}

impl<const T: usize> Warp<T> {
    /// The limbs of a column.
    const COLUMN: u32 = BLOCK * T as u32;
    /// The limbs of all columns of a pass.
    const PASS: u32 = Self::COLUMN * COLUMNS;
    /// The sums that lanes turn into limbs together: those of a pass, and of as many limbs above.
    const ROUND: u32 = 2 * Self::PASS;
    /// Whether operands may be wider than their columns.
    const HAS_PIECES: bool = T == 4;

    /// The calling lane's index, such that nothing that depends on it is computed earlier.
    #[inline(always)]
    fn lane(self) -> u32 {
        thread::here(self.group.lane())
    }

    /// Sets the zeros below and above the words of `a`, 40 above at most.
    #[inline(always)]
    fn set_zeros(self) {
        let lane = self.lane();
        let above = BLOCK + self.plan.limbs();
        if lane < BLOCK {
            self.shared.set_limb(lane, 0);
        }
        for_each::<2>(
            #[inline(always)]
            |i| {
                let at = above + lane + LANES * i as u32;
                if at < self.plan.matrix_limbs() {
                    self.shared.set_limb(at, 0);
                }
            },
        );
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

    /// Computes `r = a * b`, except limbs that are certainly zero, and returns the limb from which on these are.
    #[inline(always)]
    fn by_pieces<const FOURS: bool, S: Stride>(
        self,
        r: Number<S>,
        a: Number<S>,
        b: Number<S>,
    ) -> u32 {
        // The width of a piece is a power of two. Wider operands are cut into the widest pieces.
        let piece = self.plan.limbs();
        let up = |width: u32| (width + piece - 1) & !(piece - 1);
        let (a_end, b_end) = (up(a.width()), up(b.width()));
        let mut j = 0;
        while j < b_end && j < r.width() {
            let (mut i, mut carry) = (0, 0);
            while i < a_end && i + j < r.width() {
                // The lowest so many limbs of the window have been set by earlier products.
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

    /// Adds the product of two pieces to the limbs of the window that `earlier` products have set, and the carry of
    /// the product before to the middle of the window. Returns the carry out of the window.
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
        // The steps of the band, in turns of `T` steps: those that have limbs of `a`, and the first turn, which
        // begins below them.
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

    /// Moves both operands to shared memory, with zeros above.
    #[inline(always)]
    fn bring_in<const FOURS: bool, S: Stride>(self, a: Number<S>, b: Number<S>) {
        let lane = self.lane();
        let mut pass = 0;
        while pass < self.plan.passes {
            let from = pass * Self::PASS;
            let (a, b) = (a.part(from, u32::MAX), b.part(from, u32::MAX));
            // The number and the place of unit `y` of both operands together. Each operand has `each` units.
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

    /// The place in shared memory of unit `y`, of `limbs` limbs, of both operands' limbs of a pass, which begin at
    /// limb `from`.
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

    /// Turns the sums of a round into limbs of its window, with `carry` coming in. Returns the carry out, the same in
    /// all lanes.
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
        // The limbs of earlier products, if there are any; then those of the result.
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
            // This is so for nearly all numbers, as carries between lanes are far less than a limb.
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

    /// Sets the limbs of a round's window, of which each lane has `4 T`. They pass through shared memory, in the
    /// place of the sums, so that neighbouring lanes set neighbouring limbs.
    #[inline(always)]
    fn set_side_by_side<const FOURS: bool, S: Stride>(
        self,
        round: u32,
        window: Number<S>,
        limbs: [[Limb; 4]; T],
    ) {
        let lane = self.lane();
        if FOURS && T == 1 {
            window.set_fours::<4, true>(4 * lane, limbs[0]);
            return;
        }
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

    /// The place of limbs `4 four .. 4 four + 4` of a round. Those that eight lanes set at once lie in different
    /// banks, and so do those that they load at once.
    #[inline(always)]
    fn four_at(four: u32) -> u32 {
        match T {
            2 => four ^ four / 8 % 2,
            4 => four ^ four / 8 % 4,
            _ => four,
        }
    }
}

/// Does `work` for 0 to 7, unrolled, unless it breaks off.
macro_rules! eight {
    ($i:ident => $work:block) => {
        eight!($i => $work; 0 1 2 3 4 5 6 7);
    };
    ($i:ident => $work:block; $first:literal $($more:literal)*) => {
        let $i = $first;
        $work
        eight!($i => $work; $($more)*);
    };
    ($i:ident => $work:block;) => {};
}

/// The state of the columns of a pass.
struct Columns<const T: usize> {
    warp: Warp<T>,
    pass: u32,
    /// The sums of each block, of the first matrix and of the second.
    sums: [[Sums; 2]; T],
    /// The sums that are kept of the lane's first column and its second, where registers have room.
    kept: [[[u32; 4]; 2]; T],
    /// The words of `a` for the last `T` steps.
    rows: [[u32; BLOCK as usize]; T],
    /// The words for the next step: those of `a`, from the top down, and those of `b`.
    next: ([u32; 3], u64),
    /// The place at which the words of `a` for the first turn of a round begin.
    a_at: u32,
    /// The lane's row of a block.
    g: u32,
    /// Half of its first column's place among eight.
    q: u32,
}

impl<const T: usize> Columns<T> {
    /// The words from the sums of a column to those of the next.
    const APART: u32 = Warp::<T>::COLUMN + 2;
    /// Whether sums are kept in registers.
    const KEEPS: bool = T <= KEEPS_UP_TO;

    #[inline(always)]
    fn new(warp: Warp<T>, pass: u32) -> Self {
        let lane = warp.lane();
        let (g, q) = (lane / 4 % 8, lane % 4);
        let mut columns = Columns {
            warp,
            pass,
            sums: [[[0; 4]; 2]; T],
            kept: [[[0; 4]; 2]; T],
            rows: [[0; BLOCK as usize]; T],
            next: ([0; 3], 0),
            a_at: BLOCK + g - 2 * q,
            g,
            q,
        };
        columns.next = (columns.of_a(0), columns.of_b(columns.round(0)[0], 0, 0));
        columns
    }

    /// Makes all turns, in rounds of eight, and stores the sums of all columns.
    #[inline(always)]
    fn multiply(mut self, turns: u32) {
        let passes = self.warp.plan.passes;
        let mut columns = self.round(0);
        self.turn::<true>(0, columns, columns);
        let mut round = 0;
        'all: while round < passes {
            let next = self.round(round + 1);
            // The columns of a pass are done one after the other in the round of its number.
            let due = if round == self.pass { self.q } else { COLUMNS };
            eight!(turn => {
                if COLUMNS * round + turn + 1 >= turns {
                    break 'all;
                }
                if due == turn / 2 {
                    self.keep(turn % 2);
                }
                self.turn::<false>(turn + 1, columns, next);
            });
            self.a_at += COLUMNS * Warp::<T>::COLUMN;
            columns = next;
            round += 1;
        }
        self.finish(turns);
    }

    /// Keeps the sums so far of the lane's first or second column.
    #[inline(always)]
    fn keep(&mut self, second: u32) {
        for_each::<T>(
            #[inline(always)]
            |m| {
                let sums = of_column(self.sums[m], second as usize);
                if Self::KEEPS {
                    self.kept[m][second as usize] = sums;
                } else {
                    let at = self.place(m, second);
                    self.warp.shared.set_word(at, sum(sums));
                }
            },
        );
    }

    /// Stores the sums of both columns: what was kept, or else all, and the rest.
    #[inline(always)]
    fn finish(&self, turns: u32) {
        let Warp { plan, shared, .. } = self.warp;
        let up = plan.limbs() + 2 * COLUMNS * plan.passes;
        for_each_sum::<T>(
            #[inline(always)]
            |m, second| {
                let at = self.place(m, second as u32);
                let all = sum(of_column(self.sums[m], second));
                let low = if self.first_column() + second as u32 + 1 >= turns {
                    all
                } else if Self::KEEPS {
                    sum(self.kept[m][second])
                } else {
                    shared.word(at)
                };
                shared.set_word(at, low);
                shared.set_word(at + up, all - low);
            },
        );
    }

    /// The lane's first column.
    #[inline(always)]
    fn first_column(&self) -> u32 {
        COLUMNS * self.pass + 2 * self.q
    }

    /// The [word](Toeplitz::sum) of the lane's limb of block `m` in its first or second column.
    #[inline(always)]
    fn place(&self, m: usize, second: u32) -> u32 {
        let row = BLOCK * m as u32 + self.g;
        let column = self.warp.plan.sums_at() + Self::APART * (self.first_column() + second);
        column + row + row / (4 * T as u32)
    }

    /// The places from which the turns of a round count columns of `b`: up to the turn of the lane's row, and
    /// after it, as columns are cyclic.
    #[inline(always)]
    fn round(&self, round: u32) -> [Stretch; 2] {
        let Warp { plan, shared, .. } = self.warp;
        let apart = plan.column_limbs() / 2;
        let at = plan.columns_at() / 2 + apart * self.g + self.q;
        // There are one or two passes.
        let eight = |round: u32| apart * COLUMNS * ((self.pass + round) % plan.passes);
        [at + eight(round), at + eight(round + 1) + apart * COLUMNS].map(|at| shared.from_word(at))
    }

    /// Makes `T` steps, which go once along each column: turn `turn` of a round, from 1 to 8. The very first
    /// turn is 0, and its steps begin above the band.
    #[inline(always)]
    fn turn<const IS_FIRST: bool>(&mut self, turn: u32, columns: [Stretch; 2], next: [Stretch; 2]) {
        let group = self.warp.group;
        for_each::<T>(
            #[inline(always)]
            |i| {
                let ([r0, r1, r2], b) = self.next;
                let step = i as u32 + 1;
                let of_b = if i + 1 < T {
                    self.of_b(self.column(turn, columns), turn, step)
                } else if turn < COLUMNS {
                    self.of_b(self.column(turn + 1, columns), turn + 1, 0)
                } else {
                    self.of_b(self.column(1, next), 1, 0)
                };
                self.next = (self.of_a(T as u32 * turn + step), of_b);
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
    }

    /// The one of a round's two places from which turn `turn` counts.
    #[inline(always)]
    fn column(&self, turn: u32, [here, above]: [Stretch; 2]) -> Stretch {
        if turn <= self.g { here } else { above }
    }

    /// The words of `a` for step `i` of a round.
    #[inline(always)]
    fn of_a(&self, i: u32) -> [u32; 3] {
        let at = self.a_at + BLOCK * i;
        [0, 1, 2].map(|below| self.warp.shared.limb(at.wrapping_sub(below)))
    }

    /// The words of a column of `b` for step `i` of turn `turn` of a round, the upper blocks first.
    #[inline(always)]
    fn of_b(&self, column: Stretch, turn: u32, i: u32) -> u64 {
        let back = self.warp.plan.column_limbs() / 2 * turn;
        column.word((BLOCK / 2 * (T as u32 - 1 - i)).wrapping_sub(back))
    }
}

/// The four sums that make a limb, in a lane's first column or its second.
#[inline(always)]
fn of_column([[x0, y0, x1, y1], [x2, y2, x3, y3]]: [Sums; 2], second: usize) -> [u32; 4] {
    match second {
        0 => [x0, x1, x2, x3],
        _ => [y0, y1, y2, y3],
    }
}

/// The sum for a limb.
#[inline(always)]
fn sum([s0, s1, s2, s3]: [u32; 4]) -> u64 {
    [(s1, 8), (s2, 16), (s3, 24)].iter().fold(
        u64::from(s0),
        #[inline(always)]
        |sum, &(byte, up)| sum + (u64::from(byte) << up),
    )
}

/// Adds one limb, and returns the carry out.
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

/// Calls `work` with each number below `N`, which is at most 4. (There is no loop, as one that is not unrolled would
/// keep values in memory.)
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

/// Calls `work` for each of a lane's `2 T` sums of a pass, by block and column.
#[inline(always)]
fn for_each_sum<const T: usize>(mut work: impl FnMut(usize, usize)) {
    for_each::<T>(
        #[inline(always)]
        |m| {
            for_each::<2>(
                #[inline(always)]
                |second| work(m, second),
            );
        },
    );
}

/// Calls `work` for each of a lane's `4 T` limbs, as [`for_each`] does.
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
