//! The columns of a pass: their sums, by steps of products of matrices.

use super::{BLOCK, COLUMNS, Warp, for_each, for_each_sum};
use crate::gpu::matrix::{self, Sums, multiply_add};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::warp::LANES;

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
pub(super) struct Columns<const T: usize> {
    warp: Warp<T>,
    pass: u32,
    /// The sums of each block, of the first matrix and of the second.
    sums: [[Sums; 2]; T],
    /// The words of `a` for the last `T` steps.
    rows: [[u32; BLOCK as usize]; T],
    /// The words for the next step: those of `a`, from the top down, and those of `b`.
    next: ([u32; 3], u64),
    /// The place at which the words of `a` for the first turn of a round begin.
    a_at: u32,
    /// The lane's words of the column of `b` for the first turn of a round.
    b_at: Stretch,
    /// The lane's row of a block.
    g: u32,
    /// Half of its first column's place among eight.
    q: u32,
}

impl<const T: usize> Columns<T> {
    /// The words from the sums of a column to those of the next.
    const APART: u32 = Warp::<T>::COLUMN + 2;

    #[inline(always)]
    pub(super) fn new(warp: Warp<T>, pass: u32) -> Self {
        let lane = warp.lane();
        let (g, q) = (lane / 4 % 8, lane % 4);
        let column = COLUMNS * (warp.plan.passes + pass) + g;
        let b_at = warp.plan.columns_at() + warp.plan.column_limbs() * column + 2 * q;
        let mut columns = Columns {
            warp,
            pass,
            sums: [[[0; 4]; 2]; T],
            rows: [[0; BLOCK as usize]; T],
            next: ([0; 3], 0),
            a_at: BLOCK + g - 2 * q,
            b_at: warp.shared.from_word(b_at / 2),
            g,
            q,
        };
        columns.next = (columns.of_a(0), columns.of_b(0, 0));
        columns
    }

    /// Makes all turns, in rounds of eight, and stores the sums of all columns.
    #[inline(always)]
    pub(super) fn multiply(mut self, turns: u32) {
        let passes = self.warp.plan.passes;
        self.turn::<true>(0);
        let mut round = 0;
        'all: while round < passes {
            eight!(turn => {
                if COLUMNS * round + turn + 1 >= turns {
                    break 'all;
                }
                // The columns of a pass are done one after the other in the round of its number.
                if round == self.pass {
                    self.keep(turn);
                }
                self.turn::<false>(turn + 1);
            });
            if passes == 1 {
                break;
            }
            self.a_at += COLUMNS * Warp::<T>::COLUMN;
            self.b_at = self
                .b_at
                .words_down(COLUMNS * self.warp.plan.column_limbs() / 2);
            round += 1;
        }
        self.finish(turns);
    }

    /// Keeps the sums so far of column `column` of the pass, in the lanes that have it.
    #[inline(always)]
    fn keep(&self, column: u32) {
        if self.q != column / 2 {
            return;
        }
        let second = column as usize % 2;
        for_each::<T>(
            #[inline(always)]
            |m| {
                let sums = of_column(self.sums[m], second);
                for_each::<4>(
                    #[inline(always)]
                    |i| {
                        let at = self.kept_at(m, second) + LANES * i as u32;
                        self.warp.shared.set_limb(at, sums[i]);
                    },
                );
            },
        );
    }

    /// The place of the first of the four sums that are kept of block `m` in the lane's first or second column: where
    /// the sums of its pass go in the end.
    #[inline(always)]
    fn kept_at(&self, m: usize, second: usize) -> u32 {
        let Warp { group, plan, .. } = self.warp;
        let from = plan.sum(second as u32 * plan.limbs() + self.pass * Warp::<T>::PASS);
        2 * from + group.lane() + 4 * LANES * m as u32
    }

    /// Stores the sums of both columns: what was kept, or else all, and the rest.
    #[inline(always)]
    fn finish(&self, turns: u32) {
        let Warp {
            group,
            plan,
            shared,
        } = self.warp;
        let mut kept = [[[0; 4]; 2]; T];
        for_each_sum::<T>(
            #[inline(always)]
            |m, second| {
                let at = self.kept_at(m, second);
                kept[m][second] = [0, 1, 2, 3].map(
                    #[inline(always)]
                    |i| shared.limb(at + LANES * i),
                );
            },
        );
        group.sync();
        if turns <= COLUMNS * plan.passes {
            let first = thread::here(self.first_column());
            for_each_sum::<T>(
                #[inline(always)]
                |m, second| {
                    if first + second as u32 + 1 >= turns {
                        kept[m][second] = of_column(self.sums[m], second);
                    }
                },
            );
        }
        let up = plan.limbs() + 2 * COLUMNS * plan.passes;
        for_each_sum::<T>(
            #[inline(always)]
            |m, second| {
                let at = self.place(m, second as u32);
                let (all, low) = (of_column(self.sums[m], second), kept[m][second]);
                shared.set_word(at, sum::<T>(low));
                shared.set_word(
                    at + up,
                    sum::<T>([0, 1, 2, 3].map(
                        #[inline(always)]
                        |i| all[i].wrapping_sub(low[i]),
                    )),
                );
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

    /// Makes `T` steps, which go once along each column: turn `turn` of a round, from 1 to 8. The very first
    /// turn is 0, and its steps begin above the band.
    #[inline(always)]
    fn turn<const IS_FIRST: bool>(&mut self, turn: u32) {
        let group = self.warp.group;
        for_each::<T>(
            #[inline(always)]
            |i| {
                let ([r0, r1, r2], b) = self.next;
                let step = i as u32 + 1;
                let of_b = if i + 1 < T {
                    self.of_b(turn, step)
                } else {
                    self.of_b(turn + 1, 0)
                };
                self.next = (self.of_a(T as u32 * turn + step), of_b);
                for_each::<3>(
                    #[inline(always)]
                    |k| {
                        let order = 0x4321 + 0x1111 * k as u32;
                        self.rows[i][k] = matrix::permuted(r1, r0, order);
                        self.rows[i][4 + k] = matrix::permuted(r2, r1, order);
                    },
                );
                (self.rows[i][3], self.rows[i][7]) = (r0, r1);
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

    /// The words of `a` for step `i` of a round.
    #[inline(always)]
    fn of_a(&self, i: u32) -> [u32; 3] {
        let at = self.a_at + BLOCK * i;
        [0, 1, 2].map(|below| self.warp.shared.limb(at.wrapping_sub(below)))
    }

    /// The words of a column of `b` for step `i` of turn `turn` of a round, the upper blocks first.
    #[inline(always)]
    fn of_b(&self, turn: u32, i: u32) -> u64 {
        let back = self.warp.plan.column_limbs() / 2 * turn;
        self.b_at
            .word((BLOCK / 2 * (T as u32 - 1 - i)).wrapping_sub(back))
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

/// The sum for a limb, of columns of `T` blocks in one pass or two.
#[inline(always)]
fn sum<const T: usize>([s0, s1, s2, s3]: [u32; 4]) -> u64 {
    if T == 1 {
        // At most 256 products of bytes make `255^2 256 (1 + 2^8) < 2^32`.
        let [low, high] = [s0 + (s1 << 8), s2 + (s3 << 8)];
        return u64::from(low) + (u64::from(high) << 16);
    }
    [(s1, 8), (s2, 16), (s3, 24)].iter().fold(
        u64::from(s0),
        #[inline(always)]
        |sum, &(byte, up)| sum + (u64::from(byte) << up),
    )
}
