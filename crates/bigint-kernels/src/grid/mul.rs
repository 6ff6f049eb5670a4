//! Products by transforms over the complex numbers on the whole device, in the three launches of
//! [`bigint_core::transform::grid`], which explains the maths and the proof.
//!
//! **Who holds what.** A block has a few neighbouring columns, or rows of each operand, as arrays
//! of points in shared memory. A pass takes one to four levels of the tree: a thread replaces the `R` values of a
//! butterfly in place, between two barriers. The first pass of columns has a butterfly for each of the block's threads,
//! with a row of the column's part each; that of rows has 16 points for each thread.
//!
//! ```text
//! forth    digits of C columns -> f parts -> 2 to 6 levels -> points
//! rows     points -> 4 levels -> 1 to 4 levels -> 1 level -> products modulo x^4 - z -> the same levels up -> points
//! back     points of C columns -> levels up -> f parts put together -> coefficients -> a row of C of them a
//!          thread -> chunks, and what they carry
//! sums     chunks and carries -> limbs
//! ```
//!
//! **Preconditions**: the plan is one of `GridPlan`, and its length holds both operands. **Cost**:
//! about `10 log2 L` operations in FP64 for each point of a product; seven times 16 bytes for each to and
//! from device memory. **Scratch**: the points.

mod again;
mod carries;
mod limbs;

pub use self::carries::sums;
use self::limbs::Digits;
use super::Columns;
use super::weighted::long::sixteen;
use crate::gpu::block::Team;
use crate::gpu::float::{Pairs, Roots, multiply_add, nearest};
use crate::gpu::memory::{Any, Number};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::transform::butterflies::{
    down, down_from_the_root, down_to_fours, merge_up, multiply_and_up, multiply_leaves,
    pairs_down_from_the_root, up_from_fours, up_to_the_root,
};
use crate::transform::complex::{Complex, complex};
use bigint_core::transform::grid::{FIRST_LEVELS, FURTHER, GridArguments, ROW_ROOTS, Way, padded};

/// A launch's arguments, and the block's threads and shared memory.
#[derive(Clone, Copy)]
pub struct Block<'a, const THREADS: u32> {
    team: Team<THREADS>,
    arguments: &'a GridArguments,
    x: Stretch,
    /// The block's place in a launch for all numbers.
    index: u32,
}

/// Calls a method that is generic in the radix of a column's first pass.
macro_rules! with_radix {
    ($radix:expr, $self:ident.$method:ident($($argument:expr),*)) => {
        match $radix {
            8 => $self.$method::<8>($($argument),*),
            9 => $self.$method::<9>($($argument),*),
            10 => $self.$method::<10>($($argument),*),
            _ => $self.$method::<12>($($argument),*),
        }
    };
}

impl<'a, const THREADS: u32> Block<'a, THREADS> {
    /// The points of a block of rows, of all operands.
    const POINTS: u32 = 16 * THREADS;

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
            index: thread::block_index(),
        }
    }

    /// Cuts operands into digits, and goes down the tree by columns.
    #[inline(always)]
    pub fn forth(self) {
        let plan = self.arguments.plan;
        let columns = self.columns(Way::Forth, self.arguments.operands);
        let a = self.operand(columns);
        match self.wraps() {
            false => {
                let squares = with_radix!(plan.radix, self.first_forth(a, columns));
                self.keep_norm(squares);
            }
            true => with_radix!(plan.radix, self.first_forth_of_pairs(a, columns)),
        }
        self.team.sync();
        let points = Ends::Device(columns, self.points(columns.number, columns.operand));
        let shared = Ends::Shared;
        match plan.log_part {
            2 => self.pass::<4, 8, 6, false>(shared, points),
            3 => self.pass::<8, 8, 5, false>(shared, points),
            4 => {
                self.pass::<4, 8, 6, false>(shared, shared);
                self.team.sync();
                self.pass::<4, 8, 4, false>(shared, points);
            }
            5 => {
                self.pass::<4, 8, 6, false>(shared, shared);
                self.team.sync();
                self.pass::<8, 8, 3, false>(shared, points);
            }
            _ => {
                self.pass::<8, 9, 6, false>(shared, shared);
                self.team.sync();
                self.pass::<8, 9, 3, false>(shared, points);
            }
        }
    }

    /// The first pass of columns, of radix `R`: a thread has the digits of one column that are `2^q` rows apart. Tells the sum of their
    /// squares.
    #[inline(always)]
    fn first_forth<const R: usize>(self, a: Number<Any>, columns: Columns) -> f64 {
        let mut squares = 0.0;
        let mut point = self.team.thread();
        while point >> self.arguments.plan.log_points_of_part(Way::Forth) == 0 {
            let digits = Digits::from(self.arguments.plan, columns.place(point));
            let mut x = [0.0; R];
            sixteen!(k => {
                if k < R {
                    x[k] = digits.at(a, k as u32, k == R - 1);
                    squares = multiply_add(x[k], x[k], squares);
                }
            });
            self.of_parts(Way::Forth, point).set(&down_from_the_root(x));
            point += THREADS;
        }
        squares
    }

    /// The same, with the upper half of the digits in the imaginary parts.
    #[inline(always)]
    fn first_forth_of_pairs<const R: usize>(self, a: Number<Any>, columns: Columns) {
        let mut point = self.team.thread();
        while point >> self.arguments.plan.log_points_of_part(Way::Forth) == 0 {
            let digits = Digits::from(self.arguments.plan, columns.place(point));
            let mut z = [Complex::ZERO; R];
            sixteen!(k => {
                if k < R {
                    let upper = digits.at(a, (R + k) as u32, k == R - 1);
                    z[k] = Complex::new(digits.at(a, k as u32, false), upper);
                }
            });
            self.of_parts(Way::Forth, point)
                .set(&pairs_down_from_the_root(z));
            point += THREADS;
        }
    }

    /// Goes down the tree by rows, multiplies, and goes up again.
    #[inline(always)]
    pub fn rows(self) {
        let GridArguments { plan, operands, .. } = *self.arguments;
        let log_rows = plan.log_rows_of_block(operands);
        let own = self.own(plan.row_blocks(operands), log_rows);
        let shared = self.shared(own.in_block, own.apart);
        let (rows, slot) = (own.rows, own.slot);
        // The points of all rows of one operand follow those of the other.
        let given = self.points(own.number, slot >> log_rows);
        let w = self.first_roots(own.row);
        let mut z: [Complex; 16] = own.of(given).get();
        down(&mut z, &w);
        shared.set(&z);
        self.team.sync();
        self.middle_of_rows::<false>(rows, Self::POINTS);
        self.team.sync();
        self.multiply(rows, operands);
        self.team.sync();
        let of_product = Self::POINTS >> (operands - 1);
        self.middle_of_rows::<true>(rows, of_product);
        self.team.sync();
        if slot <= rows.mask && rows.has(slot) {
            let mut z: [Complex; 16] = shared.get();
            merge_up(&mut z, &self.first_roots(own.row));
            own.of(self.points(own.number, 0)).set(&z);
        }
    }

    /// Goes down the tree by rows of four operands, makes two products, and goes up again with these.
    ///
    /// ```text
    /// slots          c        a or f   d     b or none
    /// which become   c d, f c          a d + b c, f d
    /// ```
    #[inline(always)]
    pub fn pairs(self) {
        let GridArguments {
            plan,
            operands,
            count,
            kept: [of_c, of_d],
            ..
        } = *self.arguments;
        let own = self.own(plan.pair_blocks(), plan.log_pair_rows());
        let shared = self.shared(own.in_block, own.apart);
        let (rows, number, slot) = (own.rows, own.number, own.slot);
        let (operand, second) = (slot >> plan.log_pair_rows(), number + count);
        let points = |address: u64, number: u32| own.of(self.points_from(address, number));
        let given = match operand {
            0 => points(of_c, number),
            1 => points(self.arguments.points, number),
            2 => points(of_d, number),
            _ => points(self.arguments.points, second),
        };
        if operand < 2 + operands {
            let mut z: [Complex; 16] = given.get();
            down(&mut z, &self.first_roots(own.row));
            shared.set(&z);
        }
        self.team.sync();
        self.middle_of_rows::<false>(rows, Self::POINTS / 4 * (2 + operands));
        self.team.sync();
        self.multiply_pairs(rows, operands);
        self.team.sync();
        self.middle_of_rows::<true>(rows, Self::POINTS / 2);
        self.team.sync();
        if operand < 2 && rows.has(slot & rows.mask) {
            let mut z: [Complex; 16] = shared.get();
            merge_up(&mut z, &self.first_roots(own.row));
            let number = if operand == 0 { second } else { number };
            points(self.arguments.points, number).set(&z);
        }
    }

    /// The calling thread's points where a number's rows have `blocks` blocks, of `2^log_rows` rows each.
    #[inline(always)]
    fn own(self, blocks: u32, log_rows: u32) -> Own {
        let plan = self.arguments.plan;
        let blocks = blocks.max(1);
        let (number, group) = (self.index / blocks, self.index % blocks);
        let rows = Rows {
            first: group << log_rows,
            mask: (1 << log_rows) - 1,
            end: plan.rows(),
            log: plan.log_row,
        };
        let thread = self.team.thread();
        let log_apart = plan.log_row - FIRST_LEVELS;
        let (slot, c) = (thread >> log_apart, thread & ((1 << log_apart) - 1));
        let row = rows.row(slot);
        Own {
            number,
            rows,
            slot,
            row,
            place: (row << plan.log_row) + c,
            in_block: (slot << plan.log_row) + c,
            apart: (1 << log_apart).max(16),
        }
    }

    /// Goes the last level down, makes both products, and goes it up: a thread has 8 values of one of them.
    #[inline(always)]
    fn multiply_pairs(self, rows: Rows, operands: u32) {
        let of_operand = Self::POINTS / 4;
        let thread = self.team.thread();
        let (product, g) = (thread / (THREADS / 2), thread % (THREADS / 2));
        let w = self.last_roots(rows, g);
        let values = |slot: u32| {
            let points = self.shared(slot * of_operand + 8 * g, 1);
            let mut z: [Complex; 8] = points.get();
            down_to_fours(&mut z, &w);
            z
        };
        let factor = if product == 0 && operands == 1 { 1 } else { 2 };
        let mut y = values(product);
        multiply_leaves(&values(factor), &mut y, &w, false);
        if product == 1 && operands == 2 {
            let mut z = values(3);
            multiply_leaves(&values(0), &mut z, &w, false);
            let mut i = 0;
            while i < 8 {
                y[i] = y[i].plus(z[i]);
                i += 1;
            }
        }
        up_from_fours(&mut y, &w);
        // Both products have factors in common.
        self.team.sync();
        self.shared(product * of_operand + 8 * g, 1).set(&y);
    }

    /// The roots of a row's first pass.
    #[inline(always)]
    fn first_roots(self, row: u32) -> [Complex; 8] {
        let roots = self.roots_of_row(row);
        let mut w = [Complex::ZERO; 8];
        let mut k = 0;
        while k < 8 {
            w[k] = complex(roots.at(k as u32));
            k += 1;
        }
        w
    }

    /// The pass of rows between the first and the last, down or up, of the first `points` points.
    #[inline(always)]
    fn middle_of_rows<const UP: bool>(self, rows: Rows, points: u32) {
        match rows.log {
            8 => self.middle::<2, UP>(rows, points),
            9 => self.middle::<4, UP>(rows, points),
            10 => self.middle::<8, UP>(rows, points),
            _ => self.middle::<16, UP>(rows, points),
        }
    }

    /// The pass of rows between the first and the last, of radix `R`, down or up, of the first `points` points. A
    /// node's values are eight apart.
    #[inline(always)]
    fn middle<const R: usize, const UP: bool>(self, rows: Rows, points: u32) {
        let log = R.ilog2();
        let mut g = self.team.thread();
        while g < points >> log {
            // In one row there are 16 nodes of 8 butterflies.
            let (slot, node, c) = (g >> 7, g >> 3 & 15, g & 7);
            let first = (((slot << 4) + node) << (3 + log)) + c;
            let own = self.roots_of_row(rows.row(slot)).up(FURTHER);
            let w = self.roots_of_node::<R>(own, (1 << FIRST_LEVELS) + node);
            let points = self.shared(first, 8);
            let mut z: [Complex; R] = points.get();
            match UP {
                false => down(&mut z, &w),
                true => merge_up(&mut z, &w),
            }
            points.set(&z);
            g += THREADS;
        }
    }

    /// The roots of `log2 R` levels from a node of the rows' common tree on, for a row with these roots.
    #[inline(always)]
    fn roots_of_node<const R: usize>(self, own: Roots, node: u32) -> [Complex; 8] {
        let tree = self.table(self.arguments.tree);
        let of = |level: u32, node: u32| complex(own.at(level)).times(complex(tree.at(node)));
        let mut w = [Complex::ZERO; 8];
        w[0] = of(0, node);
        if R >= 4 {
            w[1] = of(1, 2 * node);
        }
        if R >= 8 {
            w[2] = of(2, 4 * node);
            w[3] = of(2, 4 * node + 2);
        }
        if R >= 16 {
            let mut k = 0;
            while k < 4 {
                w[4 + k] = of(3, 8 * node + 2 * k as u32);
                k += 1;
            }
        }
        w
    }

    /// The roots of the last level, which are one, for values `8 g ..` of an operand's rows.
    #[inline(always)]
    fn last_roots(self, rows: Rows, g: u32) -> [Complex; 3] {
        let log_nodes = rows.log - 3;
        let tree = self.table(self.arguments.tree);
        let (slot, node) = (g >> log_nodes, g & ((1 << log_nodes) - 1));
        let own = self.roots_of_row(rows.row(slot)).up(FURTHER);
        let root = complex(own.at(log_nodes - FIRST_LEVELS));
        [root.times(complex(tree.at((1 << log_nodes) + node))); 3]
    }

    /// Goes the last level down, multiplies, and goes it up, in place of the first operand: 8 values at a time.
    #[inline(always)]
    fn multiply(self, rows: Rows, operands: u32) {
        let mut g = self.team.thread();
        while g < Self::POINTS >> (2 + operands) {
            let w = self.last_roots(rows, g);
            let points = self.shared(8 * g, 1);
            let mut y: [Complex; 8] = points.get();
            down_to_fours(&mut y, &w);
            if operands == 1 {
                let x = y;
                multiply_and_up(&x, &mut y, &w, true);
            } else {
                let mut x: [Complex; 8] = self.shared(Self::POINTS / 2 + 8 * g, 1).get();
                down_to_fours(&mut x, &w);
                multiply_and_up(&x, &mut y, &w, false);
            }
            points.set(&y);
            g += THREADS;
        }
    }

    /// Goes up the tree by columns, rounds to coefficients, and turns these into chunks and carries.
    #[inline(always)]
    pub fn back(self) {
        let plan = self.arguments.plan;
        let columns = self.columns(Way::Back, 1);
        let points = self.points(columns.number, 0);
        let (points, shared) = (Ends::Device(columns, points), Ends::Shared);
        match plan.log_part {
            2 => self.pass::<4, 8, 6, true>(points, shared),
            3 => self.pass::<8, 8, 5, true>(points, shared),
            4 => {
                self.pass::<4, 8, 4, true>(points, shared);
                self.team.sync();
                self.pass::<4, 8, 6, true>(shared, shared);
            }
            5 => {
                self.pass::<8, 9, 4, true>(points, shared);
                self.team.sync();
                self.pass::<4, 9, 7, true>(shared, shared);
            }
            _ => {
                self.pass::<8, 9, 3, true>(points, shared);
                self.team.sync();
                self.pass::<8, 9, 6, true>(shared, shared);
            }
        }
        self.team.sync();
        with_radix!(plan.radix, self.first_back());
        self.team.sync();
        self.carry(columns);
        if columns.first == 0 {
            self.mark(columns.number);
        }
    }

    /// The last pass back, of radix `R`: each thread puts the parts together and rounds.
    #[inline(always)]
    fn first_back<const R: usize>(self) {
        let scale = self.arguments.scale;
        let round = |x| f64::from_bits(nearest(x, scale));
        let mut point = self.team.thread();
        while point >> self.arguments.plan.log_points_of_part(Way::Back) == 0 {
            let points = self.of_parts(Way::Back, point);
            let z: [Complex; R] = up_to_the_root(points.get());
            points.set(&z.map(|z| Complex::new(round(z.re), round(z.im))));
            point += THREADS;
        }
    }

    #[inline(always)]
    fn wraps(self) -> bool {
        self.arguments.wraps > 0
    }

    /// The columns of the block, in a launch with columns of `operands` operands.
    #[inline(always)]
    fn columns(self, way: Way, operands: u32) -> Columns {
        let plan = self.arguments.plan;
        let log = plan.log_columns(way);
        Columns::of(self.index, log, plan.log_row, operands)
    }

    /// Goes `log2 R` levels of the columns down or up, by butterflies whose points are `2^APART` apart, in parts of `2^PART`
    /// points.
    #[inline(always)]
    fn pass<const R: usize, const PART: u32, const APART: u32, const UP: bool>(
        self,
        from: Ends,
        to: Ends,
    ) {
        let plan = self.arguments.plan;
        let log_groups = const { PART - R.ilog2() };
        let depth = const { PART - R.ilog2() - APART };
        let table = self.table(self.arguments.columns);
        let mut g = self.team.thread();
        while g < plan.radix << log_groups {
            let (part, q) = (g >> log_groups, g & ((1 << log_groups) - 1));
            let node = q >> APART;
            let first = (part << PART) + (node << (PART - depth)) + (q & ((1 << APART) - 1));
            let node = (1 << depth) + node;
            let table = table.up(part << plan.log_part);
            let mut w = [Complex::ZERO; 8];
            w[0] = complex(table.at(node));
            w[1] = complex(table.at(2 * node));
            if R == 8 {
                w[2] = complex(table.at(4 * node));
                w[3] = complex(table.at(4 * node + 2));
            }
            let of = |ends: Ends| match ends {
                Ends::Shared => self.shared(first, 1 << APART),
                Ends::Device(columns, points) => Strided {
                    places: Places::Device(points.up(columns.place(first))),
                    apart: 1 << APART >> columns.log << columns.log_row,
                },
            };
            let mut z: [Complex; R] = of(from).get();
            match UP {
                false => down(&mut z, &w),
                true => merge_up(&mut z, &w),
            }
            of(to).set(&z);
            g += THREADS;
        }
    }

    /// Points in shared memory, from point `first` on, `apart` apart: a multiple of 8; or 1 or 4, where `first` is at most so
    /// much less one above such a multiple.
    #[inline(always)]
    fn shared(self, first: u32, apart: u32) -> Strided {
        Strided {
            places: Places::Shared(self.x.from_pair(padded(first))),
            apart,
        }
    }

    /// The points of a butterfly in the first pass of columns: one of each part.
    #[inline(always)]
    fn of_parts(self, way: Way, point: u32) -> Strided {
        let apart = 1 << self.arguments.plan.log_points_of_part(way);
        self.shared(point, apart.max(THREADS))
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn operand(self, columns: Columns) -> Number<Any> {
        // SAFETY: `new`'s caller vouches for the operands.
        unsafe { columns.of_operands(&self.arguments.a, &self.arguments.b) }
    }

    /// The points of one operand of a number.
    #[inline(always)]
    fn points(self, number: u32, operand: u32) -> Pairs {
        let GridArguments {
            operands, points, ..
        } = *self.arguments;
        self.points_from(points, number * operands + operand)
    }

    /// The points of which so many transforms precede.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn points_from(self, address: u64, before: u32) -> Pairs {
        let length = u64::from(self.arguments.plan.length());
        // SAFETY: `new`'s caller vouches for the memory, and that blocks do not meet in it.
        unsafe { Pairs::new(address + 16 * u64::from(before) * length) }
    }

    #[inline(always)]
    fn roots_of_row(self, row: u32) -> Roots {
        self.table(self.arguments.rows).up(ROW_ROOTS * row)
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn table(self, address: u64) -> Roots {
        // SAFETY: `new`'s caller vouches for the tables.
        unsafe { Roots::new(address) }
    }
}

/// The rows of a block, of either operand.
#[derive(Clone, Copy)]
struct Rows {
    first: u32,
    /// The number of rows less one. It is one less than a power of two.
    mask: u32,
    /// The number of all rows. The last block may have places for more.
    end: u32,
    /// The binary logarithm of a row's points.
    log: u32,
}

impl Rows {
    /// The row in a slot of the block, whose second half has the second operand's rows; or the last one.
    #[inline(always)]
    fn row(self, slot: u32) -> u32 {
        (self.first + (slot & self.mask)).min(self.end - 1)
    }

    /// Whether there is a row in a slot of the first operand.
    #[inline(always)]
    fn has(self, slot: u32) -> bool {
        self.first + slot < self.end
    }
}

/// The 16 points that a thread has in the first pass over rows, and the last.
#[derive(Clone, Copy)]
struct Own {
    number: u32,
    rows: Rows,
    /// The row's slot in the block, and the row.
    slot: u32,
    row: u32,
    /// The place of the first point among all rows', and in the block.
    place: u32,
    in_block: u32,
    apart: u32,
}

impl Own {
    /// The thread's points, of a number's in device memory.
    #[inline(always)]
    fn of(self, points: Pairs) -> Strided {
        Strided {
            places: Places::Device(points.up(self.place)),
            apart: self.apart,
        }
    }
}

/// The memory from which a pass over columns comes, or to which it goes.
#[derive(Clone, Copy)]
enum Ends {
    Shared,
    Device(Columns, Pairs),
}

/// The memory of points.
#[derive(Clone, Copy)]
enum Places {
    Shared(Stretch),
    Device(Pairs),
}

/// Points in shared or in device memory, so many points apart.
#[derive(Clone, Copy)]
struct Strided {
    places: Places,
    apart: u32,
}

impl Strided {
    /// The place in shared memory of point `k`, from the first one's on.
    #[inline(always)]
    fn place(self, k: u32) -> u32 {
        match self.apart < 8 {
            true => padded(k * self.apart),
            false => k * padded(self.apart),
        }
    }

    #[inline(always)]
    fn get<const R: usize>(self) -> [Complex; R] {
        let mut z = [Complex::ZERO; R];
        let mut k = 0;
        while k < R {
            z[k] = complex(match self.places {
                Places::Shared(x) => x.pair(self.place(k as u32)),
                Places::Device(points) => points.pair(k as u32 * self.apart),
            });
            k += 1;
        }
        z
    }

    #[inline(always)]
    fn set<const R: usize>(self, z: &[Complex; R]) {
        let mut k = 0;
        while k < R {
            let pair = [z[k].re, z[k].im];
            match self.places {
                Places::Shared(x) => x.set_pair(self.place(k as u32), pair),
                Places::Device(points) => points.set_pair(k as u32 * self.apart, pair),
            }
            k += 1;
        }
    }
}
