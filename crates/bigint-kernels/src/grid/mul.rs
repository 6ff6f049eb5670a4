//! Products by transforms over the complex numbers on the whole device, in the four launches of
//! [`bigint_core::transform::grid`], which explains the maths and the proof.
//!
//! **Who holds what.** A block has a few neighbouring columns, or a row of each operand, as arrays
//! of points in shared memory. They are parts of `n` points, each a polynomial modulo `y^n' - i`. A
//! pass takes one to three levels of the tree: a thread replaces the two, four or eight values of a
//! butterfly in place, between two barriers. The points of `C` columns alternate, with point `j` of
//! column `c` at `j C + c`, so that their tree is that of a row without the last levels.
//!
//! ```text
//! forth    digits of C columns -> parts (of three) -> levels -> points
//! rows     points, weights and three levels -> levels -> products modulo x^4 - z -> levels
//!          up -> three levels up, weights -> points
//! back     points of C columns -> levels up -> parts back -> coefficients
//! digits   coefficients -> 32 of either half a thread -> limbs, and what is carried
//! ```
//!
//! **Preconditions**: the plan is one of `GridPlan`, and its length holds both operands. **Cost**:
//! about `30 log2 L` operations in FP64 for each point; eight times 16 bytes for each digit to and
//! from device memory. **Scratch**: the points.

use super::{Columns, Levels};
use crate::gpu::block::Team;
use crate::gpu::float::{NEAREST_OFFSET, Pairs, Roots, nearest, signed};
use crate::gpu::memory::{Any, Number, Unit};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::transform::butterflies::{down, merge_up, multiply_fours};
use crate::transform::complex::{Complex, complex};
use bigint_core::transform::grid::{
    CARRIES_AT, CHUNK, CHUNK_LIMBS, CHUNKS, GridArguments, HALF_WORDS, LIMBS_AT, THREADS, TREE,
    padded,
};
use bigint_core::{LIMB_BITS, Limb};

/// Half the square root of 3.
const HALF_SQRT_3: f64 = 0.866_025_403_784_438_6;

/// A launch's arguments, and the block's threads and shared memory.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    team: Team<THREADS>,
    arguments: &'a GridArguments,
    x: Stretch,
}

/// Polynomials in shared memory: `count` of them, each of `2^log` points.
#[derive(Clone, Copy)]
struct Parts {
    count: u32,
    log: u32,
}

impl<'a> Block<'a> {
    /// The calling thread's block.
    ///
    /// # Safety
    /// `arguments` are those of a launch that [`bigint_core::transform::grid`] describes, with the
    /// memory that it states, and the blocks and shared memory of the kernel that calls this once.
    /// No two blocks of the kernel have the same points.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a GridArguments) -> Self {
        // SAFETY: by this function's own contract.
        let team = unsafe { Team::new() };
        Block {
            team,
            arguments,
            x: Stretch::new(team, 0),
        }
    }

    /// Cuts operands into digits, and goes down the tree by columns.
    #[inline(always)]
    pub fn forth(self) {
        let plan = self.arguments.plan;
        let columns = self.columns(self.arguments.operands);
        let parts = self.parts_of_columns(columns);
        let (row, third) = (plan.log_row, plan.log_part + plan.log_row);
        let a = self.operand(columns);
        let mut i = self.team.thread();
        while i < 1 << parts.log {
            let j = i >> columns.log;
            let at = (j << row) + columns.first + (i & ((1 << columns.log) - 1));
            let x0 = self.digit(a, at);
            if plan.odd == 1 {
                self.set(i, Complex::new(x0, 0.0));
            } else {
                let (x1, x2) = (
                    self.digit(a, at + (1 << third)),
                    self.digit(a, at + (2 << third)),
                );
                let y = thirds([x0, x1, x2]);
                let mut k = 0;
                while k < 3 {
                    let weight = self.weight_of_part(k as u32, j);
                    self.set(((k as u32) << parts.log) + i, y[k].times(weight));
                    k += 1;
                }
            }
            i += THREADS;
        }
        self.team.sync();
        let points = self.points(columns.number, columns.operand);
        let out = |i: u32, v: Complex| points.set(columns.place(i), v);
        if plan.log_part >= 3 {
            let last = plan.log_part - 3;
            self.tree(parts).downs(0, last);
            self.pass::<8, false>(parts, last, |i| self.get(i), out);
        } else {
            self.tree(parts).downs(0, plan.log_part);
            let mut i = self.team.thread();
            while i < parts.count << parts.log {
                out(i, self.get(i));
                i += THREADS;
            }
        }
    }

    /// Goes down the tree by rows, multiplies, and goes up again.
    #[inline(always)]
    pub fn rows(self) {
        let GridArguments { plan, operands, .. } = *self.arguments;
        let (block, rows) = (thread::block_index(), plan.rows().max(1));
        let (number, p) = (block / rows, block % rows);
        let parts = Parts {
            count: operands,
            log: plan.log_row,
        };
        let eighth = plan.log_row - 3;
        let b = (p & ((1 << plan.log_part) - 1)).reverse_bits() >> 1 >> (31 - plan.log_part);
        let r = (p >> plan.log_part) + plan.odd * b;
        // The `w` of the row is `e(step / 4 L)`.
        let step = (1 + 4 * r).wrapping_sub(rows);
        let mut steps = [Complex::ZERO; 8];
        let mut k = 0;
        while k < 8 {
            steps[k] = self.far((k as u32).wrapping_mul(step));
            k += 1;
        }
        let roots = self.roots(1);
        let mut g = self.team.thread();
        while g < operands << eighth {
            let (operand, c) = (g >> eighth, g & ((1 << eighth) - 1));
            let points = self.points(number, operand);
            let mut v = [Complex::ZERO; 8];
            let mut k = 0;
            while k < 8 {
                v[k] = points.get((p << plan.log_row) + c + ((k as u32) << eighth));
                k += 1;
            }
            let first = self.weight(c, step);
            let mut k = 0;
            while k < 8 {
                v[k] = v[k].times(first.times(steps[k]));
                k += 1;
            }
            down(&mut v, &roots);
            self.set_eight((operand << parts.log) + c, eighth, &v);
            g += THREADS;
        }
        self.team.sync();
        self.tree(parts).downs(3, plan.log_row - 2);
        let mut f = self.team.thread();
        while f < 1 << (plan.log_row - 2) {
            let parent = self.root((1 << eighth) + (f >> 1));
            let z = if f & 1 == 0 { parent } else { parent.negated() };
            let x = self.four(4 * f);
            let mut y = match operands {
                1 => x,
                _ => self.four((1 << parts.log) + 4 * f),
            };
            multiply_fours(x, &mut y, 0, z, false);
            let mut k = 0;
            while k < 4 {
                self.set(4 * f + k as u32, y[k]);
                k += 1;
            }
            f += THREADS;
        }
        self.team.sync();
        self.tree(Parts { count: 1, ..parts })
            .ups(3, plan.log_row - 2);
        let points = self.points(number, 0);
        let mut c = self.team.thread();
        while c < 1 << eighth {
            let mut v = self.eight(c, eighth);
            merge_up(&mut v, &roots);
            let first = self.weight(c, step);
            let mut k = 0;
            while k < 8 {
                let weight = first.times(steps[k]).conjugate();
                let at = (p << plan.log_row) + c + ((k as u32) << eighth);
                points.set(at, v[k].times(weight));
                k += 1;
            }
            c += THREADS;
        }
    }

    /// Goes up the tree by columns, and rounds to coefficients.
    #[inline(always)]
    pub fn back(self) {
        let GridArguments { plan, scale, .. } = *self.arguments;
        let columns = self.columns(1);
        let parts = self.parts_of_columns(columns);
        let points = self.points(columns.number, 0);
        let given = |i: u32| points.get(columns.place(i));
        if plan.log_part >= 3 {
            let last = plan.log_part - 3;
            self.pass::<8, true>(parts, last, given, |i, v| self.set(i, v));
            self.tree(parts).ups(0, last);
        } else {
            let mut i = self.team.thread();
            while i < parts.count << parts.log {
                self.set(i, given(i));
                i += THREADS;
            }
            self.team.sync();
            self.tree(parts).ups(0, plan.log_part);
        }
        let round = |x| f64::from_bits(nearest(x, scale));
        let coefficient = |v: Complex| Complex::new(round(v.re), round(v.im));
        let third = plan.log_part + plan.log_row;
        let mut i = self.team.thread();
        while i < 1 << parts.log {
            let at = columns.place(i);
            if plan.odd == 1 {
                points.set(at, coefficient(self.get(i)));
            } else {
                let mut y = [Complex::ZERO; 3];
                let mut k = 0;
                while k < 3 {
                    let weight = self.weight_of_part(k as u32, i >> columns.log);
                    y[k] = self
                        .get(((k as u32) << parts.log) + i)
                        .times(weight.conjugate());
                    k += 1;
                }
                let x = thirds_back(y);
                let mut k = 0;
                while k < 3 {
                    points.set(at + ((k as u32) << third), coefficient(x[k]));
                    k += 1;
                }
            }
            i += THREADS;
        }
    }

    /// Turns coefficients into limbs and carries. Coefficients and limbs pass through shared
    /// memory, so that neighbouring threads access neighbours in device memory.
    #[inline(always)]
    pub fn digits(self) {
        let GridArguments { plan, .. } = *self.arguments;
        let (thread, bits) = (self.team.thread(), plan.digit_bits);
        let blocks = plan.digit_blocks().max(1);
        let (number, block) = (
            thread::block_index() / blocks,
            thread::block_index() % blocks,
        );
        let (first, chunks) = (block * CHUNKS, plan.chunks());
        let here = CHUNKS.min(chunks - first);
        // `2^48 - 2^(48 - bits)` is added to every coefficient, so that none is negative. These
        // sums telescope: together they add `2^48` above the last coefficient, and subtract
        // `2^(48 - bits)` from the first one.
        let telescoped = 1 << (48 - bits);
        let more = (1_u64 << 48) - telescoped;
        let of = |x: f64| x.to_bits().wrapping_sub(NEAREST_OFFSET).wrapping_add(more);
        let points = self.points(number, 0);
        let mut i = thread;
        while i < CHUNK * here {
            let v = points.get(CHUNK * first + i);
            self.x.set_word(i + i / CHUNK, of(v.re));
            self.x.set_word(HALF_WORDS + i + i / CHUNK, of(v.im));
            i += THREADS;
        }
        self.team.sync();
        let (half, c) = (thread / CHUNKS, thread % CHUNKS);
        if half < 2 && c < here {
            let mut left = match half == 0 && first + c == 0 {
                true => telescoped,
                false => 0,
            };
            let (mut waiting, mut waiting_bits, mut at) = (0, 0, LIMBS_AT + CHUNK_LIMBS * thread);
            let mut i = 0;
            while i < CHUNK {
                left += self.x.word(half * HALF_WORDS + (CHUNK + 1) * c + i);
                waiting |= (left & ((1 << bits) - 1)) << waiting_bits;
                left >>= bits;
                waiting_bits += bits;
                if waiting_bits >= LIMB_BITS as u32 {
                    self.x.set_limb(at, waiting as Limb);
                    waiting >>= LIMB_BITS;
                    waiting_bits -= LIMB_BITS as u32;
                    at += 1;
                }
                i += 1;
            }
            self.x.set_limb(CARRIES_AT + 2 * thread, left as Limb);
            self.x
                .set_limb(CARRIES_AT + 2 * thread + 1, (left >> LIMB_BITS) as Limb);
        }
        self.team.sync();
        let (sums, carries) = (
            self.number(&self.arguments.sums, number),
            self.number(&self.arguments.carries, number),
        );
        let mut k = thread;
        while k < 2 * here * bits {
            let half = (k >= here * bits) as u32;
            let in_half = k - half * here * bits;
            let (c, place) = (in_half / bits.max(1), in_half % bits.max(1));
            let (at, from) = ((first + half * chunks) * bits + in_half, half * CHUNKS + c);
            sums.set(at, self.x.limb(LIMBS_AT + CHUNK_LIMBS * from + place));
            let carry = match place < 2 {
                true => self.x.limb(CARRIES_AT + 2 * from + place),
                false => 0,
            };
            // A carry above the number is lost.
            carries.set(at + bits, carry);
            k += THREADS;
        }
        if first == 0 && thread < bits {
            carries.set(thread, 0);
        }
    }

    /// The levels of these parts.
    #[inline(always)]
    fn tree(self, parts: Parts) -> Tree<'a> {
        Tree { block: self, parts }
    }

    /// The columns of the block, in a launch with columns of `operands` operands.
    #[inline(always)]
    fn columns(self, operands: u32) -> Columns {
        let plan = self.arguments.plan;
        let log = plan.log_columns();
        Columns::of(thread::block_index(), log, plan.log_row, operands)
    }

    #[inline(always)]
    fn parts_of_columns(self, columns: Columns) -> Parts {
        let plan = self.arguments.plan;
        Parts {
            count: plan.odd,
            log: plan.log_part + columns.log,
        }
    }

    /// Goes `log2 R` levels from `depth` on, down or up. `get` loads the points, and `set` stores
    /// them.
    #[inline(always)]
    fn pass<const R: usize, const UP: bool>(
        self,
        parts: Parts,
        depth: u32,
        get: impl Fn(u32) -> Complex,
        set: impl Fn(u32, Complex),
    ) {
        let log_groups = parts.log - R.ilog2();
        let log_node = parts.log - depth;
        let log_apart = log_groups - depth;
        let mut g = self.team.thread();
        while g < parts.count << log_groups {
            let (part, q) = (g >> log_groups, g & ((1 << log_groups) - 1));
            let node = q >> log_apart;
            let first = (part << parts.log) + (node << log_node) + (q & ((1 << log_apart) - 1));
            let roots = self.roots((1 << depth) + node);
            let mut v = [Complex::ZERO; R];
            let mut k = 0;
            while k < R {
                v[k] = get(first + ((k as u32) << log_apart));
                k += 1;
            }
            match UP {
                false => down(&mut v, &roots),
                true => merge_up(&mut v, &roots),
            }
            let mut k = 0;
            while k < R {
                set(first + ((k as u32) << log_apart), v[k]);
                k += 1;
            }
            g += THREADS;
        }
        self.team.sync();
    }

    /// The roots of three levels from a node on; `node` is its index in the table of the tree.
    #[inline(always)]
    fn roots(self, node: u32) -> [Complex; 8] {
        let mut roots = [Complex::ZERO; 8];
        roots[0] = self.root(node);
        roots[1] = self.root(2 * node);
        roots[2] = self.root(4 * node);
        roots[3] = self.root(4 * node + 2);
        roots
    }

    #[inline(always)]
    fn root(self, node: u32) -> Complex {
        // Butterflies of the lowest levels do not use the roots below the tree.
        self.table(self.arguments.tree, node % TREE as u32)
    }

    /// `e(numerator / 32 N)`, for a numerator that may be negative, but is above `-32 N`.
    #[inline(always)]
    fn far(self, numerator: u32) -> Complex {
        let roots = 32 * self.arguments.plan.rows();
        let below = (numerator as i32) < 0;
        let at = if below {
            numerator.wrapping_add(roots)
        } else {
            numerator
        };
        self.table(self.arguments.far, at)
    }

    /// `e(c step / 4 L)`.
    #[inline(always)]
    fn weight(self, c: u32, step: u32) -> Complex {
        let eighth = self.arguments.plan.log_row - 3;
        let numerator = c.wrapping_mul(step);
        let near = self.table(self.arguments.near, numerator & ((1 << eighth) - 1));
        near.times(self.far((numerator as i32 >> eighth) as u32))
    }

    /// The weight by which coefficient `j` of part `k` is multiplied: `e((2 k - 1) j / 2 N)`.
    #[inline(always)]
    fn weight_of_part(self, k: u32, j: u32) -> Complex {
        self.far((2 * k).wrapping_sub(1).wrapping_mul(16 * j))
    }

    #[inline(always)]
    fn get(self, i: u32) -> Complex {
        complex(self.x.pair(padded(i)))
    }

    #[inline(always)]
    fn set(self, i: u32, v: Complex) {
        self.x.set_pair(padded(i), [v.re, v.im]);
    }

    #[inline(always)]
    fn four(self, i: u32) -> [Complex; 4] {
        [
            self.get(i),
            self.get(i + 1),
            self.get(i + 2),
            self.get(i + 3),
        ]
    }

    /// Eight points from `i` on, `2^log` apart.
    #[inline(always)]
    fn eight(self, i: u32, log: u32) -> [Complex; 8] {
        let mut v = [Complex::ZERO; 8];
        let mut k = 0;
        while k < 8 {
            v[k] = self.get(i + ((k as u32) << log));
            k += 1;
        }
        v
    }

    #[inline(always)]
    fn set_eight(self, i: u32, log: u32, v: &[Complex; 8]) {
        let mut k = 0;
        while k < 8 {
            self.set(i + ((k as u32) << log), v[k]);
            k += 1;
        }
    }

    /// Balanced digit `at` of an operand. A digit whose top bit is set counts `2^bits` less, and
    /// the digit above it 1 more; the last digit is not balanced.
    #[inline(always)]
    fn digit(self, a: Number<Any>, at: u32) -> f64 {
        let plan = self.arguments.plan;
        let bits = plan.digit_bits;
        // The bits begin with the one below the digit; below the lowest digit there is none.
        let from = (at * bits).saturating_sub(1);
        let limb = from / LIMB_BITS as u32;
        let both = u64::from(a.limb(limb + 1)) << LIMB_BITS | u64::from(a.limb(limb));
        let both = both >> (from % LIMB_BITS as u32);
        let both = if at == 0 { both << 1 } else { both };
        let digit = (both >> 1) as i32 & ((1 << bits) - 1);
        let is_top = at == plan.length() - 1;
        let over = if is_top {
            0
        } else {
            digit >> (bits - 1) << bits
        };
        signed(digit - over + (both & 1) as i32)
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn operand(self, columns: Columns) -> Number<Any> {
        // SAFETY: `new`'s caller vouches for the operands.
        unsafe { columns.of_operands(&self.arguments.a, &self.arguments.b) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn number(self, matrix: &bigint_core::MatrixArgument, number: u32) -> Number<Unit> {
        // SAFETY: `new`'s caller vouches for the memory; no two threads have the same limbs.
        unsafe { Number::new(matrix, u64::from(number)) }
    }

    /// The points of one operand of a number.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn points(self, number: u32, operand: u32) -> Points {
        let GridArguments {
            plan,
            operands,
            points,
            ..
        } = *self.arguments;
        let before = u64::from(number) * u64::from(operands) + u64::from(operand);
        // SAFETY: `new`'s caller vouches for the memory, and that blocks do not meet in it.
        Points(unsafe { Pairs::new(points + 16 * before * u64::from(plan.length())) })
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn table(self, address: u64, at: u32) -> Complex {
        // SAFETY: `new`'s caller vouches for the tables.
        let [re, im] = unsafe { Roots::new(address) }.at(at);
        Complex::new(re, im)
    }
}

/// The tree over parts whose points are in the block's shared memory.
#[derive(Clone, Copy)]
struct Tree<'a> {
    block: Block<'a>,
    parts: Parts,
}

impl Levels for Tree<'_> {
    #[inline(always)]
    fn pass_in_place<const R: usize, const UP: bool>(self, depth: u32) {
        let Tree { block, parts } = self;
        block.pass::<R, UP>(parts, depth, |i| block.get(i), |i, v| block.set(i, v));
    }
}

/// Points in device memory.
#[derive(Clone, Copy)]
struct Points(Pairs);

impl Points {
    #[inline(always)]
    fn get(self, at: u32) -> Complex {
        complex(self.0.pair(at))
    }

    #[inline(always)]
    fn set(self, at: u32, v: Complex) {
        self.0.set_pair(at, [v.re, v.im]);
    }
}

/// A polynomial in `X^n` with three real coefficients, reduced modulo `X^n - e(t)` for `t` = 1/12,
/// 5/12 and 9/12.
#[inline(always)]
fn thirds([x0, x1, x2]: [f64; 3]) -> [Complex; 3] {
    use crate::gpu::float::multiply_add as fma;
    const H: f64 = HALF_SQRT_3;
    [
        Complex::new(fma(0.5, x2, fma(H, x1, x0)), fma(H, x2, 0.5 * x1)),
        Complex::new(fma(0.5, x2, fma(-H, x1, x0)), fma(-H, x2, 0.5 * x1)),
        Complex::new(x0 - x2, -x1),
    ]
}

/// The inverse of [`thirds`], three times too great, for coefficients that may be complex.
#[inline(always)]
fn thirds_back([y0, y1, y2]: [Complex; 3]) -> [Complex; 3] {
    const H: f64 = HALF_SQRT_3;
    let plus = |a: Complex, b: Complex| Complex::new(a.re + b.re, a.im + b.im);
    [
        plus(plus(y0, y1), y2),
        y2.turned()
            .plus_product(y0, Complex::new(H, -0.5))
            .plus_product(y1, Complex::new(-H, -0.5)),
        y2.negated()
            .plus_product(y0, Complex::new(0.5, -H))
            .plus_product(y1, Complex::new(0.5, H)),
    ]
}
