//! Montgomery products by a block in two small rings, in the form shared by host and device.
//!
//! # The product
//!
//! Let `B` = 2^32, `k` even, `c = B^(k/2)`, and let an odd `m < B^k` be coprime to `R = c^2 + 1`, with `n = 1/m mod R`.
//! Of two numbers `x` and `y`, with an integer `q` that is `x y n` modulo `R`,
//!
//! ```text
//! t = (x y - q m) / R        is  x y / R  modulo m.
//! ```
//!
//! `t` is found without the whole product: `R` is `c` modulo `Q = c^2 - c + 1`, and `c (1 - c)` is 1, so that
//!
//! ```text
//! t = (x y - q m) (1 - c)    modulo Q.
//! ```
//!
//! This is Montgomery's method as McLaughlin has it [McLaughlin 2004], for other rings. By hand, with `c` = 10: `R` is
//! 101 and `Q` is 91. For `m` = 7, `n` is 29. Of 4 times 6, `x y n` is 696, which is 90 modulo 101; so `q` is 90, or
//! -11. With -11, `x y - q m` is 24 + 77 = 101, and `t` is 1. Modulo 91, 101 is 10, and 10 times -9 is -90, which is 1.
//!
//! # The rings
//!
//! Polynomials in digits of 16 bits are multiplied modulo `x^2L + 1` and modulo `x^2L - x^L + 1`, where `x^L` stands for
//! `c`. Over the real numbers these are the complex polynomials modulo `x^L - z` with `z = e(1/4)` and `z = e(1/6)`: of
//! each polynomial's halves `u + v x^L` becomes `u + z v`. So `2 L` digits take `L` complex values, which is a quarter
//! of what a whole product of two such numbers would take both ways, and the tree and the passes are those of
//! [`Plan`], with [roots](RingPlan::fill) of their own. A product takes nine transforms of `L` values, a square seven, as the transforms
//! of `n` and of `m` are kept: two numbers forth and one back modulo `R`, then `x y` times `n` forth and back, then two
//! numbers and `q` forth and `x y - q m` back modulo `Q`.
//!
//! With `z = e(1/6)`, the product `s = z w` of a value `w = u + z v` has `u = im(s)/sqrt(3) + re(s)` and
//! `v = im(s)/sqrt(3) - re(s)`: dividing by `c` costs nothing.
//!
//! # Who has which digit
//!
//! The first pass back of a product leaves each coefficient with the thread that needs it for the first pass of the
//! next one. A coefficient has up to 45 bits. Two of them are one sum for a limb; the sum's upper half goes to the limb
//! above it, once. What it is then is a *limb* from -2^31 to 2^31, and little more: nothing is carried further until a
//! number leaves the block. So numbers are `t = s + j Q`, where `s` is the value of such limbs and `j` is -1, 0 or 1.
//!
//! `j` follows from the lowest limbs. `R` and `Q` are 1 modulo `B`, so that `t = x y - q m` and `t = s + j` there. Modulo
//! `R`, `Q` is `-c`: `j` is subtracted from digit `L`.
//!
//! # Sizes
//!
//! Let `e` be the most that a limb takes from the one below it, in parts of `B`; it is below 1/10. As `q` is balanced, its
//! size is at most `(1/2 + e) R`. Where `m < B^k / 4`, and `x` and `y` are at most `m` in size, or `x` is below `B^k` and `y` at
//! most `m`, `t` is below 1.6 `m` in size, and so are products of such numbers. Else an estimate of `t / B^k` by the upper
//! limbs of `x`, `y`, `q` and `m` decides whether `t` is too great or too small, and `R` is added to `q` or subtracted. The
//! estimate is off by less than `(3 e + 4 e^2) m < 0.34 m`; so `t` stays within `0.84 m` in size, for `x` and `y` within
//! that or between 0 and `m`, and for `x < B^k`. Modulo `Q`, `R` is `c`: 1 is added to digit `L` of `q`, or subtracted.
//!
//! Numbers that leave the block get `m` more if they are negative. They are between 0 and `m`, or at most 1.6 `m` where
//! `m < B^k / 4`. Products by 1, which bring numbers out of Montgomery's form, are at most `(1/2 + e) m` in size, so that
//! what leaves is below `m`.

use super::Plan;
use crate::kernel::{EntryPoint, Launch, MatrixArgument};

/// The PTX module of these kernels.
pub const MODULE: &str = "rings";

/// The lanes of [`RingPlan::of_lanes`] for which there are kernels.
pub const RING_LANES: [u32; 2] = [32, 64];

/// The kernels that compute powers, and those that keep transforms.
pub const KERNELS: [[EntryPoint; 2]; RING_LANES.len()] = {
    const fn of(name: &'static str) -> EntryPoint {
        EntryPoint {
            name,
            module: MODULE,
        }
    }
    [
        [of("rings_powers_32"), of("rings_keep_32")],
        [of("rings_powers_64"), of("rings_keep_64")],
    ]
};

/// The orders of the roots of unity `z` of the two rings: that of `R` and that of `Q`.
pub const ORDERS: [u32; 2] = [4, 6];

/// The limbs of shared memory through which a warp hands on what limbs take from one another.
pub const LINK: u32 = 32;

/// The number of roots, each a complex number, in the table of all plans and both rings.
pub const RING_ROOTS: usize = RingPlan {
    index: RING_LANES.len(),
}
.roots_at(0) as usize;

/// How a block multiplies modulo numbers of up to so many limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RingPlan {
    index: usize,
}

impl RingPlan {
    /// The plan for moduli of so many limbs; none where they are too wide.
    pub const fn of(width: usize) -> Option<RingPlan> {
        let mut index = 0;
        while index < RING_LANES.len() {
            let plan = RingPlan { index };
            if width <= plan.limbs() as usize {
                return Some(plan);
            }
            index += 1;
        }
        None
    }

    /// The plan for some lanes, one of [`RING_LANES`].
    pub const fn of_lanes(lanes: u32) -> RingPlan {
        let mut index = 0;
        while RING_LANES[index] != lanes {
            index += 1;
        }
        RingPlan { index }
    }

    /// The plan of the passes.
    pub const fn plan(&self) -> Plan {
        Plan::of(RING_LANES[self.index])
    }

    /// The limbs of numbers: `k`. There are as many complex values.
    pub const fn limbs(&self) -> u32 {
        self.plan().length()
    }

    /// The kernel that computes powers, and the one that keeps transforms.
    pub const fn kernels(&self) -> [EntryPoint; 2] {
        KERNELS[self.index]
    }

    /// The threads of a block, and the blocks that a multiprocessor should have room for.
    pub const fn bounds(&self) -> [u32; 2] {
        self.plan().bounds()
    }

    /// The limbs of the two transforms that are kept of a modulus.
    pub const fn kept_limbs(&self) -> usize {
        2 * 4 * self.limbs() as usize
    }

    /// The offset in shared memory, in bytes, of what warps hand one another. Behind it are two limbs.
    pub const fn links_at(&self) -> u32 {
        2 * self.plan().buffer_bytes()
    }

    /// The offset in shared memory of two limbs that all threads read.
    pub const fn told_at(&self) -> u32 {
        self.links_at() + 4 * LINK * (self.plan().threads() / 32)
    }

    /// The bytes of shared memory that a block takes.
    pub const fn shared_bytes(&self) -> u32 {
        self.told_at() + 16
    }

    /// The index in the table of the roots of ring 0 or 1. They are laid out as [`Plan::forward_at`] and
    /// [`Plan::inverse_at`] have them, counted from the plan's first; then follow those of the first pass.
    pub const fn roots_at(&self, ring: u32) -> u32 {
        let mut at = 0;
        let mut index = 0;
        while index < self.index {
            at += 2 * RingPlan { index }.roots();
            index += 1;
        }
        match ring {
            0 => at,
            _ => at + self.roots(),
        }
    }

    /// The roots of a ring.
    const fn roots(&self) -> u32 {
        self.first_up_at() + self.plan().first - 1 - self.plan().forward_at(0)
    }

    /// Where the first pass has its roots on the way down, in place of [`Plan::forward_at`] of pass 0. A pass with an odd
    /// factor takes the conjugates of those on the way up.
    pub const fn first_down_at(&self) -> u32 {
        self.plan().inverse_at(2)
    }

    /// Where the first pass has its roots on the way up, but for the first one, which is 1.
    pub const fn first_up_at(&self) -> u32 {
        let plan = self.plan();
        self.first_down_at() + if plan.odd() == 1 { plan.first / 2 } else { 0 }
    }

    /// Fills the table of the roots of all plans and both rings, which has [`RING_ROOTS`] entries.
    pub fn fill(table: &mut [[f64; 2]]) {
        for index in 0..RING_LANES.len() {
            let ring_plan = RingPlan { index };
            for (ring, order) in (0..).zip(ORDERS) {
                let of_ring = &mut table[ring_plan.roots_at(ring) as usize..];
                super::roots::fill_ring(
                    &mut of_ring[..ring_plan.roots() as usize],
                    ring_plan,
                    order,
                );
            }
        }
    }
}

/// The one parameter of the kernels, passed by value. All numbers are contiguous.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingArguments {
    /// The results, of `k` limbs.
    pub r: MatrixArgument,
    /// What is squared `squares` times, each a Montgomery square: up to `k` limbs. For the kernel that keeps transforms,
    /// the inverses `n`.
    pub x: MatrixArgument,
    /// What the last square is multiplied by, unless its width is 0: up to `k` limbs.
    pub y: MatrixArgument,
    /// The moduli, of `k` limbs; one for all if their stride is 0.
    pub m: MatrixArgument,
    /// The device address of the kept transforms: of each modulus that of `n` modulo `R`, then that of `-m` modulo `Q`.
    pub kept: u64,
    /// The limbs from one modulus' transforms to the next one's; 0 if there is one for all.
    pub kept_stride: u64,
    /// The device address of the table of [`RingPlan::fill`].
    pub roots: u64,
    /// How often numbers are squared.
    pub squares: u64,
    /// The number of numbers.
    pub count: u64,
    /// The number of blocks.
    pub workers: u64,
}

impl RingArguments {
    /// The launch for these arguments; it also sets their `workers`.
    pub const fn launch(&mut self, plan: RingPlan) -> Launch {
        let most = i32::MAX as u64;
        let grid = if self.count > most { most } else { self.count };
        self.workers = grid;
        Launch {
            grid: grid as u32,
            block: plan.plan().threads(),
            shared_bytes: plan.shared_bytes(),
            workers: grid as usize,
            scratch_width: 0,
        }
    }

    /// The transforms that are kept: their address and limbs.
    pub const fn kept(&self, plan: RingPlan) -> (u64, u64) {
        let before = (self.count - 1) * self.kept_stride;
        (self.kept, before + plan.kept_limbs() as u64)
    }

    /// The plan of the kernels, whose moduli have as many limbs as it has.
    pub const fn plan(&self) -> Option<RingPlan> {
        RingPlan::of(self.m.width as usize)
    }

    /// The arguments in the order in which a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let rest = [
            self.kept,
            self.kept_stride,
            self.roots,
            self.squares,
            self.count,
            self.workers,
        ];
        let matrices = [self.r, self.x, self.y, self.m];
        matrices.into_iter().flat_map(matrix).chain(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::LANES;
    use super::*;

    #[test]
    fn moduli_have_the_shortest_ring_that_holds_them() {
        let limbs = |width| RingPlan::of(width).map(|plan| plan.limbs());
        let [.., last] = RING_LANES;
        assert_eq!(limbs(1), Some(512));
        assert_eq!(limbs(512), Some(512));
        assert_eq!(limbs(513), Some(1024));
        assert_eq!(limbs(16 * last as usize), Some(16 * last));
        assert_eq!(limbs(16 * last as usize + 1), None);
        for lanes in RING_LANES {
            assert!(LANES.contains(&lanes));
            let plan = RingPlan::of_lanes(lanes);
            assert_eq!(plan.plan().parts, 1);
            assert!(plan.shared_bytes() * plan.plan().blocks <= 227 << 10);
            assert!(2 * plan.plan().first < LINK);
        }
    }

    /// Digits are small enough, and coefficients near enough to integers.
    #[test]
    fn every_ring_is_exact_by_proof() {
        for lanes in RING_LANES {
            let (bound, taken) = RingPlan::of_lanes(lanes).error_bound();
            assert!(bound < 0.5, "{lanes} lanes: {bound}");
            assert!(taken < 0.1, "{lanes} lanes: {taken}");
        }
    }
}
