//! Products by transforms modulo primes on the whole device, in the four launches of
//! [`bigint_core::transform::ntt`], which explains the maths.
//!
//! **Who holds what.** A block has a few neighbouring columns of an operand, or a row of each
//! operand, modulo one prime. They are parts of `n` residues, as words in shared memory. A pass
//! takes one to three levels of the tree: a thread replaces the two, four or eight values of a
//! butterfly in place, between two barriers. The residues of `C` columns alternate, with residue
//! `j` of column `c` at `j C + c`, so that their tree is that of a row without the last levels.
//!
//! ```text
//! forth    limbs of C columns -> parts (of three, of five) -> levels -> residues
//! rows     residues, weights and three levels -> levels -> three levels, products, three
//!          levels up -> levels up -> three levels up, weights -> residues
//! back     residues of C columns -> levels up -> parts back -> coefficients modulo the prime
//! limbs    these of three primes -> coefficients -> eight of them a thread -> limbs, carries
//! ```
//!
//! **Ranges.** On the way down residues are below `2 p`, on the way up below `p`. As `p < 2^31`,
//! they fit words.
//!
//! **Preconditions**: the plan is one of `NttPlan`, and its length holds the product. **Cost**: 15
//! to 16 operations on words for each residue and prime in every three levels. The residues of a
//! limb are 12 bytes; those of each operand are written once and read once, those of the product
//! read and written twice. **Scratch**: the residues.

mod rows;

use super::Columns;
use crate::gpu::block::Team;
use crate::gpu::memory::{Any, Number, Unit};
use crate::gpu::residues::Residues;
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::transform::primes::{Field, coefficient};
use bigint_core::transform::ntt::{CHUNK, CHUNKS, COEFFICIENTS, NttArguments, padded};
use bigint_core::{LIMB_BITS, Limb};

/// A launch's arguments, and the block's threads and shared memory.
#[derive(Clone, Copy)]
pub struct Block<'a, const THREADS: u32> {
    team: Team<THREADS>,
    arguments: &'a NttArguments,
    x: Stretch,
}

/// Polynomials in shared memory: `count` of them, each of `2^log` residues.
#[derive(Clone, Copy)]
struct Parts {
    count: u32,
    log: u32,
    /// Whether the polynomials are neighbours in one tree. Otherwise each has a tree of its own.
    are_of_one_tree: bool,
}

/// The place of residue `k` of several: `first + 2^log k`. `log` is at least 3, or 2 where bit 2 of `first` is 0; or `first`
/// is a multiple of 8, and `k` is less than 8.
#[derive(Clone, Copy)]
struct ResiduePlace {
    first: u32,
    k: u32,
    log: u32,
}

impl<'a, const THREADS: u32> Block<'a, THREADS> {
    /// The calling thread's block.
    ///
    /// # Safety
    /// `arguments` are those of a launch that [`bigint_core::transform::ntt`] describes, with the
    /// memory that it states, and the blocks and shared memory of the kernel that calls this once.
    /// No two blocks of the kernel have the same points.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a NttArguments) -> Self {
        // SAFETY: by this function's own contract.
        let team = unsafe { Team::new() };
        Block {
            team,
            arguments,
            x: Stretch::new(team, 0),
        }
    }

    /// Reduces limbs to residues, and goes down the tree by columns.
    #[inline(always)]
    pub fn forth(self) {
        let plan = self.arguments.plan;
        let (field, points, columns) = self.columns(self.arguments.operands);
        let parts = self.parts_of_columns(columns);
        let a = self.operand(columns);
        let part = plan.log_part + plan.log_row;
        let residue = |at: u32| field.times(a.limb(at), field.one);
        let mut i = self.team.thread();
        while i < 1 << parts.log {
            let at = columns.place(i);
            let x = residue(at);
            if plan.odd == 1 {
                self.set(i, x);
            } else {
                let (x1, x2) = (residue(at + (1 << part)), residue(at + (2 << part)));
                let (x, x1, x2) = (field.reduced(x), field.reduced(x1), field.reduced(x2));
                let set = |k: u32, x: u32| self.set((k << parts.log) + i, x);
                if plan.odd == 3 {
                    // Residues modulo `x^2M - 1`, and modulo `x^M - i`.
                    let (r0, r1) = (field.plus(x, x2), x1);
                    set(0, r0 + r1);
                    set(1, field.p + r0 - r1);
                    let z = field.reduced(field.times(x1, field.table(0).at(1)));
                    set(2, field.minus(x, x2) + z);
                } else {
                    let (x3, x4) = (residue(at + (3 << part)), residue(at + (4 << part)));
                    let (x3, x4) = (field.reduced(x3), field.reduced(x4));
                    // The residue modulo `x^M - z`, where `z` = `e(1/8)`, by Horner's rule. Note
                    // that `z^4 = -1`.
                    let z = field.table(0).at(2);
                    let times_z = |x: u32| field.reduced(field.times(x, z));
                    let at_z = times_z(field.plus(times_z(field.plus(times_z(x3), x2)), x1));
                    set(4, field.minus(x, x4) + at_z);
                    let mut v = [field.plus(x, x4), x1, x2, x3];
                    field.down(&mut v, &field.roots::<4, false>(0));
                    set(0, v[0]);
                    set(1, v[1]);
                    set(2, v[2]);
                    set(3, v[3]);
                }
            }
            i += THREADS;
        }
        self.team.sync();
        let last = plan.log_part - 3;
        self.tree(field, parts).downs(0, last);
        self.pass::<8, false>(
            field,
            parts,
            last,
            |i| self.apart(i),
            |i, v| points.set(self.place_apart(columns, i), v),
        );
    }

    /// Goes up the tree by columns, to coefficients modulo the prime.
    #[inline(always)]
    pub fn back(self) {
        let plan = self.arguments.plan;
        let (field, points, columns) = self.columns(1);
        let parts = self.parts_of_columns(columns);
        let last = plan.log_part - 3;
        self.pass::<8, true>(
            field,
            parts,
            last,
            |i| points.get(self.place_apart(columns, i)),
            |i, v| self.set_apart(i, v),
        );
        self.tree(field, parts).ups(0, last);
        let part = plan.log_part + plan.log_row;
        let mut i = self.team.thread();
        while i < 1 << parts.log {
            let at = columns.place(i);
            let get = |k: u32| self.get((k << parts.log) + i);
            if plan.odd == 1 {
                points.set(at, get(0));
            } else {
                let (p0, p1, p2) = (get(0), get(1), get(2));
                let set = |k: u32, x: u32| points.set(at + (k << part), x);
                if plan.odd == 3 {
                    let (r0, r1) = (field.plus(p0, p1), field.minus(p0, p1));
                    let z = field.reduced(field.times(r1, field.table(0).at(1)));
                    let at_z = field.plus(r0, z);
                    let top = field.half(field.minus(at_z, field.plus(p2, p2)));
                    set(0, field.half(field.minus(r0, top)));
                    set(1, field.half(r1));
                    set(2, field.half(top));
                } else {
                    let mut v = [p0, p1, p2, get(3)];
                    field.up(&mut v, &field.roots::<4, true>(0));
                    let z = field.table(0).at(2);
                    let times_z = |x: u32| field.reduced(field.times(x, z));
                    let at_z = times_z(field.plus(times_z(v[3]), v[2]));
                    let at_z = times_z(field.plus(at_z, v[1]));
                    let two = get(4);
                    let two = field.plus(two, two);
                    let top = field.minus(field.plus(at_z, v[0]), field.plus(two, two));
                    let top = field.half(top);
                    let quarter = |x: u32| field.half(field.half(x));
                    set(0, quarter(field.minus(v[0], top)));
                    set(1, quarter(v[1]));
                    set(2, quarter(v[2]));
                    set(3, quarter(v[3]));
                    set(4, quarter(top));
                }
            }
            i += THREADS;
        }
    }

    /// Turns residues modulo three primes into coefficients, and these into limbs and carries.
    /// Coefficients and limbs pass through shared memory, so that neighbouring threads access
    /// neighbours in device memory.
    #[inline(always)]
    pub fn limbs(self) {
        let NttArguments { plan, wraps, .. } = *self.arguments;
        let (thread, wraps) = (self.team.thread(), wraps > 0);
        let blocks = plan.limb_blocks().max(1);
        let (number, block) = (
            thread::block_index() / blocks,
            thread::block_index() % blocks,
        );
        let first = block * (CHUNK * CHUNKS);
        let here = (CHUNK * CHUNKS).min(plan.length() - first);
        let points = [0, 1, 2].map(|prime| self.points(number, 0, prime));
        let mut i = thread;
        while i < here {
            let at = first + i;
            let words = coefficient(points.map(|points| points.get(at)));
            let mut k = 0;
            while k < 3 {
                self.x
                    .set_limb(k as u32 * COEFFICIENTS + padded(i), words[k]);
                k += 1;
            }
            i += THREADS;
        }
        self.team.sync();
        // The chunk's number so far, without limbs that are done.
        let (mut left, mut top) = (0_u64, 0_u32);
        if CHUNK * thread < here {
            let mut i = 0;
            while i < CHUNK {
                let at = padded(CHUNK * thread) + i;
                let low = u64::from(self.x.limb(at));
                let above = self.x.limb(COEFFICIENTS + at);
                let high = self.x.limb(2 * COEFFICIENTS + at);
                let (sum, carry) = left.overflowing_add(u64::from(above) << LIMB_BITS | low);
                self.x.set_limb(at, sum as Limb);
                top += high + carry as u32;
                left = u64::from(top) << LIMB_BITS | sum >> LIMB_BITS;
                top = 0;
                i += 1;
            }
            let at = padded(CHUNK * thread);
            self.x.set_limb(COEFFICIENTS + at, left as Limb);
            self.x
                .set_limb(COEFFICIENTS + at + 1, (left >> LIMB_BITS) as Limb);
        }
        self.team.sync();
        let (sums, carries) = (
            self.number(&self.arguments.sums, number),
            self.number(&self.arguments.carries, number),
        );
        let mut k = thread;
        while k < here {
            sums.set(first + k, self.x.limb(padded(k)));
            let carry = match k % CHUNK < 2 {
                true => self.x.limb(COEFFICIENTS + padded(k)),
                false => 0,
            };
            // A carry above the number is lost, or, if the product wraps, is added to the lowest
            // limbs.
            let at = first + k + CHUNK;
            let over = if wraps && at >= plan.length() {
                plan.length()
            } else {
                0
            };
            carries.set(at - over, carry);
            k += THREADS;
        }
        if first == 0 && thread < CHUNK && !wraps {
            carries.set(thread, 0);
        }
    }

    /// The levels of the tree over these parts, modulo a prime.
    #[inline(always)]
    fn tree(self, field: Field, parts: Parts) -> Tree<'a, THREADS> {
        Tree {
            block: self,
            field,
            parts,
        }
    }

    /// The block's prime field, its residues and its columns, in a launch with columns of
    /// `operands` operands.
    #[inline(always)]
    fn columns(self, operands: u32) -> (Field, Residues, Columns) {
        let plan = self.arguments.plan;
        let (block, prime) = (thread::block_index() / 3, thread::block_index() % 3);
        let columns = Columns::of(block, plan.log_columns(), plan.log_row, operands);
        let points = self.points(columns.number, columns.operand, prime);
        (self.field(prime), points, columns)
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn field(self, prime: u32) -> Field {
        // SAFETY: `new`'s caller vouches for the tables.
        unsafe { Field::new(prime, self.arguments.tables) }
    }

    #[inline(always)]
    fn parts_of_columns(self, columns: Columns) -> Parts {
        let plan = self.arguments.plan;
        Parts {
            count: plan.odd,
            log: plan.log_part + columns.log,
            are_of_one_tree: true,
        }
    }

    /// The place in the matrix of one of several residues of a column, which are at equal distances
    /// there too.
    #[inline(always)]
    fn place_apart(self, columns: Columns, ResiduePlace { first, k, log }: ResiduePlace) -> u32 {
        columns.place(first) + (k << (log - columns.log + self.arguments.plan.log_row))
    }

    /// Goes `log2 R` levels from `depth` on, down or up. `get` loads the residues, and `set` stores
    /// them.
    #[inline(always)]
    fn pass<const R: usize, const UP: bool>(
        self,
        field: Field,
        parts: Parts,
        depth: u32,
        get: impl Fn(ResiduePlace) -> u32,
        set: impl Fn(ResiduePlace, u32),
    ) {
        let log_groups = parts.log - R.ilog2();
        let log_node = parts.log - depth;
        let log_apart = log_groups - depth;
        let mut g = self.team.thread();
        while g < parts.count << log_groups {
            let (part, q) = (g >> log_groups, g & ((1 << log_groups) - 1));
            let within = q >> log_apart;
            let node = match parts.are_of_one_tree {
                true => (part << depth) + within,
                false => within,
            };
            let first = (part << parts.log) + (within << log_node) + (q & ((1 << log_apart) - 1));
            let roots = field.roots::<R, UP>(node);
            let mut v = [0; R];
            let mut k = 0;
            while k < R {
                v[k] = get(ResiduePlace {
                    first,
                    k: k as u32,
                    log: log_apart,
                });
                k += 1;
            }
            match UP {
                false => field.down(&mut v, &roots),
                true => field.up(&mut v, &roots),
            }
            let mut k = 0;
            while k < R {
                set(
                    ResiduePlace {
                        first,
                        k: k as u32,
                        log: log_apart,
                    },
                    v[k],
                );
                k += 1;
            }
            g += THREADS;
        }
        self.team.sync();
    }

    #[inline(always)]
    fn get(self, i: u32) -> u32 {
        self.x.limb(padded(i))
    }

    #[inline(always)]
    fn set(self, i: u32, v: u32) {
        self.x.set_limb(padded(i), v);
    }

    #[inline(always)]
    fn apart(self, ResiduePlace { first, k, log }: ResiduePlace) -> u32 {
        self.x.limb(padded(first) + (9 * k << log >> 3))
    }

    #[inline(always)]
    fn set_apart(self, ResiduePlace { first, k, log }: ResiduePlace, v: u32) {
        self.x.set_limb(padded(first) + (9 * k << log >> 3), v);
    }

    /// Eight residues from `first` on, `2^log` apart.
    #[inline(always)]
    fn eight(self, first: u32, log: u32) -> [u32; 8] {
        let mut v = [0; 8];
        let mut k = 0;
        while k < 8 {
            v[k] = self.apart(ResiduePlace {
                first,
                k: k as u32,
                log,
            });
            k += 1;
        }
        v
    }

    #[inline(always)]
    fn set_eight(self, first: u32, log: u32, v: &[u32; 8]) {
        let mut k = 0;
        while k < 8 {
            self.set_apart(
                ResiduePlace {
                    first,
                    k: k as u32,
                    log,
                },
                v[k],
            );
            k += 1;
        }
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

    /// The residues of one operand of a number modulo a prime.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn points(self, number: u32, operand: u32, prime: u32) -> Residues {
        let NttArguments { plan, points, .. } = *self.arguments;
        let operands = self.arguments.rows_of_number();
        let before = u64::from(number * operands + operand) * 3 + u64::from(prime);
        // SAFETY: `new`'s caller vouches for the memory, and that blocks do not meet in it.
        unsafe { Residues::new(points + 4 * before * u64::from(plan.length())) }
    }

    /// The kept residues of a number modulo a prime, those of this factor of four.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn kept(self, factor: usize, number: u32, prime: u32) -> Residues {
        let plan = self.arguments.plan;
        let (kept, count) = (
            self.arguments.kept[factor],
            self.arguments.kept_counts[factor],
        );
        let number = if count > 1 { number } else { 0 };
        let before = u64::from(number) * 3 + u64::from(prime);
        // SAFETY: as in `points`; no thread writes there.
        unsafe { Residues::new(kept + 4 * before * u64::from(plan.length())) }
    }
}

/// The tree over parts whose residues, modulo a prime, are in the block's shared memory. A pass takes one to three
/// levels.
#[derive(Clone, Copy)]
struct Tree<'a, const THREADS: u32> {
    block: Block<'a, THREADS>,
    field: Field,
    parts: Parts,
}

impl<const THREADS: u32> Tree<'_, THREADS> {
    /// Goes `log2 R` levels from `depth` on, down or up, in place.
    #[inline(always)]
    fn pass_in_place<const R: usize, const UP: bool>(self, depth: u32) {
        let Tree {
            block,
            field,
            parts,
        } = self;
        let (get, set) = (|i| block.apart(i), |i, v| block.set_apart(i, v));
        block.pass::<R, UP>(field, parts, depth, get, set);
    }

    /// Goes down the levels from `from` to `to`.
    #[inline(always)]
    fn downs(self, from: u32, to: u32) {
        let mut depth = from;
        match (to - from) % 3 {
            1 => {
                self.pass_in_place::<2, false>(depth);
                depth += 1;
            }
            2 => {
                self.pass_in_place::<4, false>(depth);
                depth += 2;
            }
            _ => {}
        }
        while depth < to {
            self.pass_in_place::<8, false>(depth);
            depth += 3;
        }
    }

    /// Goes up the levels from `to` to `from`.
    #[inline(always)]
    fn ups(self, from: u32, to: u32) {
        let rest = (to - from) % 3;
        let mut depth = to;
        while depth > from + rest {
            depth -= 3;
            self.pass_in_place::<8, true>(depth);
        }
        match rest {
            1 => self.pass_in_place::<2, true>(from),
            2 => self.pass_in_place::<4, true>(from),
            _ => {}
        }
    }
}
