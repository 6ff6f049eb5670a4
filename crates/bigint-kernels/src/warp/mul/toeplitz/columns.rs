//! The sums of all columns, by steps of products of matrices.

use super::{BLOCK, COLUMNS, Warp, for_each, for_each_column};
use crate::gpu::matrix::{self, Sums, multiply_add};
use crate::gpu::stretch::Stretch;
use crate::gpu::wide;

/// Does `work` for each of the numbers, unless it breaks off.
macro_rules! each {
    ($i:ident => $work:block; $first:literal $($more:literal)*) => {
        let $i = $first;
        $work
        each!($i => $work; $($more)*);
    };
    ($i:ident => $work:block;) => {};
}

/// The state of the columns.
pub(super) struct Columns<const P: usize> {
    warp: Warp<P>,
    /// The sums of each group, of the first matrix and of the second.
    sums: [[Sums; 2]; P],
    /// The words of columns of `b` for the last `P` steps, step `d` at `d` modulo `P`.
    right: [[u32; 2]; P],
    /// The words for the next step: those of `a`, from the top down, and those of `b`.
    next: ([u32; 3], u64),
    /// The place at which the words of `a` for the first step of two rounds begin.
    a_at: u32,
    /// The lane's words of the column of `b` for that step.
    b_at: Stretch,
    /// Where the sums of the lane's columns go.
    sums_at: Stretch,
    /// Half of the place of the lane's first column in a group.
    q: u32,
}

impl<const P: usize> Columns<P> {
    #[inline(always)]
    pub(super) fn new(warp: Warp<P>) -> Self {
        let (plan, lane) = (warp.plan, warp.lane());
        let (g, q) = (lane / 4 % 8, lane % 4);
        let b_at = plan.columns_at() + plan.apart() * (COLUMNS + g) + 2 * q;
        // A column of each group, and two, are a multiple of units; eight limbs are two units of four.
        let own = plan.sum(2 * BLOCK * P as u32 * q) + g + if P % 2 == 1 { g / 4 } else { 0 };
        let mut columns = Columns {
            warp,
            sums: [[[0; 4]; 2]; P],
            right: [[0; 2]; P],
            next: ([0; 3], 0),
            a_at: BLOCK + g - 2 * q,
            b_at: warp.shared.from_word(b_at / 2),
            sums_at: warp.shared.from_word(own),
            q,
        };
        for_each::<P>(
            #[inline(always)]
            |p| {
                if p > 0 {
                    columns.right[p] = halves(columns.b_at.word(4 * (P - p) as u32));
                }
            },
        );
        columns.next = (columns.of_a(0), columns.of_b(0));
        columns
    }

    /// Makes all steps, in rounds of `P`, and stores the sums of all columns.
    #[inline(always)]
    pub(super) fn multiply(self, steps: u32) {
        if P < 7 {
            self.one_by_one(steps);
        } else {
            self.by_rounds(steps);
        }
    }

    /// Makes so many steps. They all stand in the text, so that the driver's compiler drops what a launch does not make.
    #[inline(always)]
    fn one_by_one(mut self, steps: u32) {
        'all: {
            each!(round => {
                each!(i => {
                    if i < P {
                        self.step(round * P + i);
                        if (round * P + i) as u32 + 1 == steps {
                            break 'all;
                        }
                        self.keep(i, round % 2, round as u32 / 2);
                    }
                }; 0 1 2 3 4 5);
            }; 0 1 2 3 4 5 6 7);
            self.step(COLUMNS as usize * P);
        }
        self.finish(steps - 1);
    }

    /// Makes whole rounds: steps above the words of `a` change nothing.
    #[inline(always)]
    fn by_rounds(mut self, steps: u32) {
        let rounds = steps.div_ceil(P as u32);
        let mut pair = 0;
        'all: while pair < COLUMNS / 2 {
            each!(half => {
                each!(i => {
                    if i < P {
                        self.step(half * P + i);
                        self.keep(i, half, pair);
                    }
                }; 0 1 2 3 4 5 6 7);
                if 2 * pair + half as u32 + 1 == rounds {
                    break 'all;
                }
            }; 0 1);
            self.a_at += 2 * BLOCK * P as u32;
            self.b_at = self.b_at.words_down(self.warp.plan.apart());
            pair += 1;
        }
        if rounds > COLUMNS {
            self.step(0);
        }
        self.finish(rounds * P as u32);
    }

    /// Makes step `i` from the places on.
    #[inline(always)]
    fn step(&mut self, i: usize) {
        let group = self.warp.group;
        let ([r0, r1, r2], right) = self.next;
        self.next = (self.of_a(i as u32 + 1), self.of_b(i + 1));
        self.right[i % P] = halves(right);
        let of = |high, low, k: u32| matrix::permuted(low, high, 0x4321 + 0x1111 * k);
        let [first, second] = [
            [of(r0, r1, 0), of(r0, r1, 1), of(r1, r2, 0), of(r1, r2, 1)],
            [of(r0, r1, 2), r0, of(r1, r2, 2), r1],
        ];
        for_each::<P>(
            #[inline(always)]
            |p| {
                let right = self.right[(i + P - p) % P];
                let sums = &mut self.sums[p];
                sums[0] = multiply_add(group, sums[0], first, right);
                sums[1] = multiply_add(group, sums[1], second, right);
            },
        );
    }

    /// Keeps the sum so far of a column of group `p` in the lanes that have it.
    #[inline(always)]
    fn keep(&self, p: usize, second: usize, q: u32) {
        let sum = sum::<P>(of_column(self.sums[p], second));
        let at = Self::place(p, second);
        self.sums_at.set_word_if_equal(self.q, q, at, sum);
    }

    /// Stores the sums of all columns: what was kept, of so many columns, or else all, and the rest.
    #[inline(always)]
    fn finish(&self, kept: u32) {
        let up = Warp::<P>::up(Warp::<P>::LIMBS);
        for_each_column::<P>(
            #[inline(always)]
            |p, second| {
                let at = Self::place(p, second);
                let all = sum::<P>(of_column(self.sums[p], second));
                let mut low = self.sums_at.word(at);
                if kept < COLUMNS * P as u32 {
                    if p as u32 + P as u32 * (2 * self.q + second as u32) >= kept {
                        low = all;
                    }
                    self.sums_at.set_word(at, low);
                }
                let mut high = all - low;
                if self.warp.plan.above > 0 {
                    high += self.sums_at.word(at + up);
                }
                self.sums_at.set_word(at + up, high);
            },
        );
    }

    /// The distance to the lane's sum of its first or second column of group `p`, in words.
    #[inline(always)]
    fn place(p: usize, second: usize) -> u32 {
        Warp::<P>::up(BLOCK * (p + P * second) as u32)
    }

    /// The words of `a` for step `i` from there on.
    #[inline(always)]
    fn of_a(&self, i: u32) -> [u32; 3] {
        let at = self.a_at + BLOCK * i;
        [0, 1, 2].map(|below| self.warp.shared.limb(at.wrapping_sub(below)))
    }

    /// The words of a column of `b` for step `i` from there on.
    #[inline(always)]
    fn of_b(&self, i: usize) -> u64 {
        // Where the step is not the first of its round, the columns are behind the free block.
        let free = usize::from(P % 2 == 0 && i % P > 0);
        let blocks = (i / P) * (P | 1) + i % P + free;
        self.b_at.word((BLOCK / 2 * blocks as u32).wrapping_neg())
    }
}

/// Both halves of a word.
#[inline(always)]
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// The four sums that make a limb, in a lane's first column or its second.
#[inline(always)]
fn of_column([[x0, y0, x1, y1], [x2, y2, x3, y3]]: [Sums; 2], second: usize) -> [u32; 4] {
    match second {
        0 => [x0, x1, x2, x3],
        _ => [y0, y1, y2, y3],
    }
}

/// The sum for a limb, of `P` groups.
#[inline(always)]
fn sum<const P: usize>([s0, s1, s2, s3]: [u32; 4]) -> u64 {
    if P == 1 {
        // At most 256 products of bytes make `255^2 256 (1 + 2^8) < 2^32`.
        let [low, high] = [s0 + (s1 << 8), s2 + (s3 << 8)];
        return u64::from(low) + (u64::from(high) << 16);
    }
    [(s1, 8), (s2, 16), (s3, 24)].iter().fold(
        u64::from(s0),
        #[inline(always)]
        |sum, &(byte, up)| wide::multiply_add(byte, 1 << up, sum),
    )
}
