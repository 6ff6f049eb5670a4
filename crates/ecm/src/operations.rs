//! The operations of the kernel of `kernels/src/registers.rs`, as its programs write them, and where a program leaves the
//! table of `kernels/src/edwards.rs`: host and device both compile this file. What each operation does stands at its
//! name; `r a b` are places.

/// `r = a b`.
pub const MUL: u32 = 0;
/// `r = a + b`.
pub const ADD: u32 = 1;
/// `r = a - b`.
pub const SUB: u32 = 2;
/// `r = a`.
pub const COPY: u32 = 3;
/// `product = a`.
pub const BEGIN: u32 = 4;
/// `r = product`.
pub const END: u32 = 5;
/// `product = product (c - a)` for `r` quads `c` of the row of the place `b`: their numbers follow, four in each step.
pub const PAIRS: u32 = 6;
/// The sum of two points whose difference is a third, three steps. After the operation stand the places of the sum's `x` and
/// `z`, of the points', and of the difference's, and [`ROUNDS`].
pub const SUM: u32 = 7;
/// `top = top product`, `product = product bottom` for `r` places, of which the first are `a` and `b`; the first word of the step that follows is
/// what both places go up by.
pub const WALK: u32 = 8;

/// The rounds of a sum, of two products each: what the compiler does not know it does not unroll.
pub const ROUNDS: u32 = 3;

/// The most limbs of numbers for which kernels have sums and walks.
pub const SUMS: usize = 16;

/// Limbs of a quad: places count them.
pub const QUAD: u32 = 4;

/// The bits of a place that are the quad's number; those above say in which row. A walk has all places in `r`.
pub const ROW: u32 = 30;

/// The register at which the table of a point on an Edwards curve begins.
pub const TABLE: u32 = 13;
/// Registers of an entry of the table.
pub const CACHED: u32 = 4;
