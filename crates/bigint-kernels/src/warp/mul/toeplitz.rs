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
//! A warp has `N = 8 P` columns in `P` groups of eight, column `s` in group `s mod P`, and `R = 32`, a block of eight
//! limbs. A step multiplies two matrices of 16 rows and 32 columns, which are `A[d]`, by one of 32 rows and eight
//! columns for each group. Group `p + 1` takes in the next step what group `p` takes in this one. So a step loads
//! columns of `b` for one group, and three words of `a` for all. Rows are in such an order that the four sums of a
//! lane belong to four neighbouring bytes, which are a limb. With `g = lane / 4` and `q = lane % 4`:
//!
//! ```text
//!                 first matrix, row g   g + 8     second, row g   g + 8
//! byte of c                   4 g        + 1            + 2         + 3     in columns 2 q, 2 q + 1 of a group
//! words of a      8 d + g - 2 q, and the two below it, for step d
//! words of b      2 q and 2 q + 1 of column P g - d for group 0, bytes reversed
//! ```
//!
//! Bound: a sum has at most `4 * 512` products below 2^16, so it is less than 2^27. The four sums of a limb are
//! together below `2^27 (1 + 2^8 + 2^16 + 2^24) < 2^52`. With a limb of an earlier product and the carry from below
//! they are below 2^53. (There may be up to 33025 bytes before sums reach 2^31.)
//!
//! Operands that are a limb wider than the columns are multiplied with it by multiply-adds (`above`).
//! Wider ones are cut into pieces of 512 limbs, whose products are added up row by row.
//!
//! Cost: `2 P (ceil(n / 8) + 1)` products of matrices, of 4096 bytes by bytes each, for `n` limbs of the narrower
//! operand, from seven groups on of whole rounds of `P` steps; for each step six permutations of bytes, four loads of
//! shared memory, and a sum that is kept. Times on an H200 are explained by a scheduler that issues nothing else for
//! six cycles after a product of matrices. No scratch. `r` overlaps no operand.

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
use bigint_core::kernel::Toeplitz;
use bigint_core::specialization::{Toeplitz as Of, moves_fours};
use bigint_core::{Arguments, Limb};
use columns::Columns;

/// The limbs of a block.
const BLOCK: u32 = 8;

/// The columns of a group.
const COLUMNS: u32 = 8;

/// Computes the products that fall to the calling lane's warp, by `P` groups of columns.
#[allow(unsafe_code)]
#[inline(always)]
pub fn products<const P: usize, S: Stride>(batches: Batches<'_, LANES, S>) {
    let (a, b) = (&batches.arguments.a, &batches.arguments.b);
    let found = Toeplitz::of(a.width as u32, b.width as u32);
    let plan = Toeplitz {
        groups: P as u32,
        above: match Of::HAS_ABOVE.or(found.above > 0) {
            true => (a.width.max(b.width) as u32).saturating_sub(Warp::<P>::LIMBS),
            false => 0,
        },
    };
    // SAFETY: by the contract of `Batches::new` a launch has as much shared memory for each lane.
    let shared = unsafe { Stretch::of_warp(plan.bytes() / LANES) };
    let warp = Warp::<P> {
        group: batches.group,
        plan,
        shared,
    };
    warp.set_zeros();
    warp.all::<S>(batches);
}

/// A warp, its shared memory, and its cut of numbers into `P` groups of columns.
#[derive(Clone, Copy)]
struct Warp<const P: usize> {
    group: Group<LANES>,
    plan: Toeplitz,
    shared: Stretch,
}

impl<const P: usize> Warp<P> {
    /// The limbs of all columns.
    const LIMBS: u32 = BLOCK * COLUMNS * P as u32;
    /// Whether operands may be wider than their columns by any number of limbs.
    const HAS_PIECES: bool = P == 8;

    /// The words from a sum to the one so many limbs above: a multiple of the [unit](Toeplitz::unit), or of the limbs of a
    /// column where these reach no further than their unit.
    #[inline(always)]
    const fn up(limbs: u32) -> u32 {
        let unit = Toeplitz {
            groups: P as u32,
            above: 0,
        }
        .unit();
        limbs + limbs / unit
    }

    /// The calling lane's index, such that nothing that depends on it is computed earlier.
    #[inline(always)]
    fn lane(self) -> u32 {
        thread::here(self.group.lane())
    }

    /// Sets the zeros below and above the words of `a`.
    #[inline(always)]
    fn set_zeros(self) {
        let lane = self.lane();
        // A block below, two above.
        let at = if lane < BLOCK {
            lane
        } else {
            Self::LIMBS + lane
        };
        self.shared.set_limb_below(lane, 3 * BLOCK, at, 0);
    }

    /// Computes the products that fall to the warp.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn all<S: Stride>(self, batches: Batches<'_, LANES, S>) {
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
        let by_fours = Of::BY_FOURS.or(moves_fours(batches.arguments));
        let is_once = Of::ONCE.or(workers >= count);
        let mut index = self.group.index();
        // What is branched on is the same in the whole warp.
        while index < *count {
            // SAFETY: by the contract of `Batches::new`; `index` is in the batch, and no other warp writes its result.
            let (r, a, b) = unsafe {
                (
                    Number::<S>::new(r, index),
                    Number::new(a, index),
                    Number::new(b, index),
                )
            };
            self.product(by_fours, r, a, b);
            if is_once {
                break;
            }
            index += workers;
        }
    }

    /// `r = a * b`, cut or zero-extended to the width of `r`. `b` is no narrower than `a`.
    #[inline(always)]
    fn product<S: Stride>(self, by_fours: bool, r: Number<S>, a: Number<S>, b: Number<S>) {
        let mut end = 2 * Self::LIMBS;
        if Self::HAS_PIECES {
            end = self.by_pieces(by_fours, r, a, b);
        } else {
            self.piece(by_fours, r, r.part(0, 0), a, b, 0);
        }
        if self.plan.above > 0 {
            end += 2 * self.plan.above;
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
    fn by_pieces<S: Stride>(self, by_fours: bool, r: Number<S>, a: Number<S>, b: Number<S>) -> u32 {
        // The width of a piece is a power of two.
        let piece = Self::LIMBS;
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
                let window = r.part(i + j, u32::MAX);
                let (a, b) = (a.part(i, u32::MAX), b.part(j, u32::MAX));
                carry = self.piece(by_fours, window, window.part(0, earlier), a, b, carry);
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
    fn piece<S: Stride>(
        self,
        by_fours: bool,
        window: Number<S>,
        earlier: Number<S>,
        a: Number<S>,
        b: Number<S>,
        carry: Limb,
    ) -> Limb {
        self.bring_in(by_fours, a, b);
        self.group.sync();
        if self.plan.above > 0 {
            self.add_above();
        }
        // The steps of the band that have limbs of `a`, and one more: a limb of the last reaches a block above.
        let narrower = a.width().min(Self::LIMBS);
        let steps = Of::STEPS.or(narrower.div_ceil(BLOCK) + 1);
        Columns::<P>::new(self).multiply(steps);
        self.group.sync();
        let out = self.release(by_fours, window, earlier, carry);
        if self.plan.above > 0 {
            self.release_above(window, out);
        }
        self.group.sync();
        out
    }

    /// Moves both operands to shared memory, with zeros above.
    #[inline(always)]
    fn bring_in<S: Stride>(self, by_fours: bool, a: Number<S>, b: Number<S>) {
        let lane = self.lane();
        if self.plan.above > 0 {
            self.bring_in_above(a, b);
        }
        if by_fours {
            let each = Self::LIMBS / 4;
            // The number and the place of four `y` of both operands together. Each operand has `each` fours.
            let source = |y: u32| match y < each {
                true => (a, y),
                false => (b, y - each),
            };
            let mut fours = [[0; 4]; P];
            for_each::<P>(
                #[inline(always)]
                |k| {
                    let (number, four) = source(lane + LANES * k as u32);
                    fours[k] = number.fours::<4, true>(4 * four);
                },
            );
            for_each::<P>(
                #[inline(always)]
                |k| {
                    let y = lane + LANES * k as u32;
                    let (_, four) = source(y);
                    let limb = 4 * four;
                    if 2 * (k + 1) <= P || y < each {
                        self.shared.set_four((BLOCK + limb) / 4, fours[k]);
                    } else {
                        let [first, second] = self.place(limb);
                        let reversed = fours[k].map(reversed);
                        self.shared.set_four(first / 4, reversed);
                        self.shared.set_four(second / 4, reversed);
                    }
                },
            );
        } else {
            // From here places are constant, and addresses are computed once.
            let (a, b) = (a.part(lane, u32::MAX), b.part(lane, u32::MAX));
            let mut limbs = [[0; 4]; P];
            for_each_limb::<P>(
                #[inline(always)]
                |i, k| {
                    let unit = 4 * i + k;
                    let number = if unit < 2 * P { a } else { b };
                    limbs[i][k] = number.limb(LANES * (unit % (2 * P)) as u32);
                },
            );
            for_each_limb::<P>(
                #[inline(always)]
                |i, k| {
                    let unit = 4 * i + k;
                    let limb = lane + LANES * (unit % (2 * P)) as u32;
                    if unit < 2 * P {
                        self.shared.set_limb(BLOCK + limb, limbs[i][k]);
                    } else {
                        let [first, second] = self.place(limb);
                        self.shared.set_limb(first, reversed(limbs[i][k]));
                        self.shared.set_limb(second, reversed(limbs[i][k]));
                    }
                },
            );
        }
    }

    /// The two places of a limb of `b` in shared memory.
    #[inline(always)]
    fn place(self, limb: u32) -> [u32; 2] {
        let at = self.first_place(limb);
        [at, at + COLUMNS * self.plan.apart()]
    }

    /// The first place of a limb of `b`. Below limb 0 are the zeros above `a`.
    #[inline(always)]
    fn first_place(self, limb: u32) -> u32 {
        let at = self.plan.columns_at().wrapping_add(limb);
        if P % 2 == 1 {
            return at;
        }
        // A block is free behind the columns that stand side by side in all groups.
        let round = BLOCK * P as u32;
        (at + BLOCK * (limb.wrapping_add(round) / round)).wrapping_sub(BLOCK)
    }
}

/// A limb with its bytes reversed.
#[inline(always)]
fn reversed(limb: Limb) -> Limb {
    matrix::permuted(limb, limb, 0x0123)
}

/// Calls `work` with each number below `N`, which is at most 8. (There is no loop, as one that is not unrolled would
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
    if N > 4 {
        work(4);
    }
    if N > 5 {
        work(5);
    }
    if N > 6 {
        work(6);
    }
    if N > 7 {
        work(7);
    }
}

/// Calls `work` for each of a lane's `2 P` columns, by group and column.
#[inline(always)]
fn for_each_column<const P: usize>(mut work: impl FnMut(usize, usize)) {
    for_each::<P>(
        #[inline(always)]
        |p| {
            for_each::<2>(
                #[inline(always)]
                |second| work(p, second),
            );
        },
    );
}

/// Calls `work` for each of a lane's `4 P` limbs, as [`for_each`] does.
#[inline(always)]
fn for_each_limb<const P: usize>(mut work: impl FnMut(usize, usize)) {
    for_each::<P>(
        #[inline(always)]
        |i| {
            for_each::<4>(
                #[inline(always)]
                |k| work(i, k),
            );
        },
    );
}
