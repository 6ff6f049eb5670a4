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
//! words of a      8 t + g - 2 q, and the two below it, for step t
//! words of b      2 q and 2 q + 1 of a block of column g - d, bytes reversed
//! ```
//!
//! Bound: a sum has at most `4 * 512` products below 2^16, so it is less than 2^27. The four sums of a limb are
//! together below `2^27 (1 + 2^8 + 2^16 + 2^24) < 2^52`. With a limb of an earlier product and the carry from below
//! they are below 2^53. (There may be up to 33025 bytes before sums reach 2^31.)
//!
//! Operands that are a few limbs wider than the columns are multiplied with these limbs by multiply-adds (`above`).
//! Wider ones are cut into pieces of 512 limbs, whose products are added up row by row.
//!
//! Cost: `2 T P (ceil(n / 8 T) T + (T + 1) / 2)` products of matrices, of 4096 bytes by bytes each, for `n` limbs of
//! the narrower operand; for each `2 T` of them six permutations of bytes, and four loads of shared memory. Times on an H200 are explained by
//! a scheduler that issues nothing else for six cycles after a product of matrices. No scratch. `r` overlaps no operand.

mod above;
mod columns;
mod release;

use crate::gpu::known::Known;
use crate::gpu::matrix;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::gpu::warp::Group;
use crate::warp::{Batches, LANES};
use bigint_core::kernel::{MOST_ABOVE, Toeplitz};
use bigint_core::specialization::{Toeplitz as Of, moves_fours};
use bigint_core::{Arguments, Limb};
use columns::Columns;

/// The limbs of a block.
const BLOCK: u32 = 8;

/// The columns of a pass.
const COLUMNS: u32 = 8;

/// Computes the products that fall to the calling lane's warp, by columns of `T` blocks.
#[allow(unsafe_code)]
#[inline(always)]
pub fn products<const T: usize, S: Stride>(batches: Batches<'_, LANES, S>) {
    let (a, b) = (&batches.arguments.a, &batches.arguments.b);
    let Toeplitz { passes, above, .. } = Toeplitz::of(a.width as u32, b.width as u32);
    let plan = Toeplitz {
        blocks: T as u32,
        // If columns have fewer blocks, there are eight of them.
        passes: if T < 3 { 1 } else { Of::PASSES.or(passes) },
        above: if Of::HAS_ABOVE.or(above > 0) {
            above
        } else {
            0
        },
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
        warp.all::<true, S>(batches);
    } else {
        warp.all::<false, S>(batches);
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
        if lane < BLOCK * (T as u32 + 1) {
            self.shared.set_limb(above + lane, 0);
        }
        if T > 3 && lane < BLOCK {
            self.shared.set_limb(above + LANES + lane, 0);
        }
        if self.plan.above > 0 {
            self.set_zeros_around_copy();
        }
    }

    /// Computes the products that fall to the warp.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn all<const FOURS: bool, S: Stride>(self, batches: Batches<'_, LANES, S>) {
        let Arguments {
            r,
            a,
            b,
            count,
            workers,
            ..
        } = batches.arguments;
        let (a, b) = match Of::SWAPS.or(a.width > b.width) {
            true => (b, a),
            false => (a, b),
        };
        let is_once = Of::ONCE.or(workers >= count);
        let mut index = self.group.index();
        // What is branched on is the same in the whole warp.
        while index < *count {
            // SAFETY: by the contract of `Batches::new`; `index` is in the batch, and no other warp writes its result.
            let (r, a, b) = unsafe {
                (
                    Number::new(r, index),
                    Number::new(a, index),
                    Number::new(b, index),
                )
            };
            self.product::<FOURS, S>(r, a, b);
            if is_once {
                break;
            }
            index += workers;
        }
    }

    /// `r = a * b`, cut or zero-extended to the width of `r`. `b` is no narrower than `a`.
    #[inline(always)]
    fn product<const FOURS: bool, S: Stride>(self, r: Number<S>, a: Number<S>, b: Number<S>) {
        let piece = self.plan.limbs();
        let mut end = 2 * piece;
        if Self::HAS_PIECES {
            end = self.by_pieces::<FOURS, S>(r, a, b);
        } else {
            self.piece::<FOURS, S>(r, r.part(0, 0), a, b, 0);
        }
        if self.plan.above > 0 {
            end = 2 * (piece + MOST_ABOVE);
        }
        if end < r.width() {
            let mut at = end + self.lane();
            while at < r.width() {
                r.set(at, 0);
                at += LANES;
            }
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
        let (mut a_end, mut b_end) = (up(a.width()), up(b.width()));
        if self.plan.above > 0 {
            (a_end, b_end) = (piece, piece);
        }
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
                let window = r.part(i + j, u32::MAX);
                let (a, b) = (a.part(i, u32::MAX), b.part(j, u32::MAX));
                carry = self.piece::<FOURS, S>(window, window.part(0, earlier), a, b, carry);
                i += piece;
            }
            j += piece;
        }
        a_end + b_end
    }

    /// Adds the product of two pieces to the limbs of the window that `earlier` products have set, and the carry of
    /// the product before to the middle of the window. Returns the carry out of the window. (Operands that have limbs
    /// above the columns are one piece.)
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
        let narrower = a.width().min(self.plan.limbs());
        let turns = Of::TURNS.or(narrower.div_ceil(Self::COLUMN) + 1);
        let mut pass = 0;
        while pass < self.plan.passes {
            Columns::<T>::new(self, pass).multiply(turns);
            // So the driver's compiler sees that there is no loop where there is one pass.
            if self.plan.passes == 1 {
                break;
            }
            pass += 1;
        }
        self.group.sync();
        if self.plan.above > 0 {
            self.add_above();
        }
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
        if self.plan.above > 0 {
            self.release_above(window, out);
        }
        self.group.sync();
        out
    }

    /// Moves both operands to shared memory, with zeros above.
    #[inline(always)]
    fn bring_in<const FOURS: bool, S: Stride>(self, a: Number<S>, b: Number<S>) {
        let lane = self.lane();
        if self.plan.above > 0 {
            self.bring_in_above(a, b);
        }
        let mut pass = 0;
        while pass < self.plan.passes {
            let from = pass * Self::PASS;
            if FOURS {
                let (a, b) = (a.part(from, u32::MAX), b.part(from, u32::MAX));
                let each = Self::PASS / 4;
                // The number and the place of four `y` of both operands together. Each operand has `each` fours.
                let source = |y: u32, each: u32| match y < each {
                    true => (a, y),
                    false => (b, y - each),
                };
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
                        let y = lane + LANES * k as u32;
                        let (_, four) = source(y, each);
                        let limb = from + 4 * four;
                        if 2 * (k + 1) <= T || y < each {
                            self.shared.set_four((BLOCK + limb) / 4, fours[k]);
                        } else {
                            if self.plan.above > 0 {
                                let at = self.plan.copy_at() + BLOCK + limb;
                                self.shared.set_four(at / 4, fours[k]);
                            }
                            let [first, second] = self.place(limb);
                            let reversed = fours[k].map(reversed);
                            self.shared.set_four(first / 4, reversed);
                            self.shared.set_four(second / 4, reversed);
                        }
                    },
                );
            } else {
                // From here places are constant, and addresses are computed once.
                let (a, b) = (a.part(from + lane, u32::MAX), b.part(from + lane, u32::MAX));
                let mut limbs = [[0; 4]; T];
                for_each_limb::<T>(
                    #[inline(always)]
                    |i, k| {
                        let unit = 4 * i + k;
                        let number = if unit < 2 * T { a } else { b };
                        limbs[i][k] = number.limb(LANES * (unit % (2 * T)) as u32);
                    },
                );
                for_each_limb::<T>(
                    #[inline(always)]
                    |i, k| {
                        let unit = 4 * i + k;
                        let limb = from + lane + LANES * (unit % (2 * T)) as u32;
                        if unit < 2 * T {
                            self.shared.set_limb(BLOCK + limb, limbs[i][k]);
                        } else {
                            if self.plan.above > 0 {
                                let at = self.plan.copy_at() + BLOCK + limb;
                                self.shared.set_limb(at, limbs[i][k]);
                            }
                            let [first, second] = self.place(limb);
                            self.shared.set_limb(first, reversed(limbs[i][k]));
                            self.shared.set_limb(second, reversed(limbs[i][k]));
                        }
                    },
                );
            }
            pass += 1;
        }
    }

    /// The two places of a limb of `b` in shared memory.
    #[inline(always)]
    fn place(self, limb: u32) -> [u32; 2] {
        let (column, at) = (limb / Self::COLUMN, limb % Self::COLUMN);
        let apart = self.plan.column_limbs();
        let at = self.plan.columns_at() + apart * column + at;
        [at, at + apart * COLUMNS * self.plan.passes]
    }
}

/// A limb with its bytes reversed.
#[inline(always)]
fn reversed(limb: Limb) -> Limb {
    matrix::permuted(limb, limb, 0x0123)
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
