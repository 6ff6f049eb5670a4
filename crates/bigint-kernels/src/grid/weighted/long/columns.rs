//! A few columns: they are transformed back to points, become words and carries, and are
//! transformed to frequencies again.

mod binary;
mod far;
mod handing;
mod near;
mod reach;

use super::{Block, eighth_on, sixteen, turned};
use crate::gpu::handed::Handed;
use crate::gpu::known::Known;
use crate::gpu::registers::known_later;
use crate::gpu::thread;
use crate::grid::weighted::around;
use crate::grid::weighted::few::{butterfly, transform};
use crate::transform::butterflies::{down, up};
use crate::transform::complex::{Complex, complex};
use bigint_core::specialization::LongTransform;
use bigint_core::weighted::long::{
    ColumnPlaces, Nodes, POINTS, Stage, Tables, WARPS, last_roots, log_width, quotient,
};

/// Calls a method that is generic in the factor, which is the radix of a column's last pass.
macro_rules! with_factor {
    ($m:expr, $self:ident.$method:ident($($argument:expr),*)) => {
        match $m {
            1 => $self.$method::<1>($($argument),*),
            2 => $self.$method::<2>($($argument),*),
            4 => $self.$method::<4>($($argument),*),
            9 => $self.$method::<9>($($argument),*),
            10 => $self.$method::<10>($($argument),*),
            _ => $self.$method::<8>($($argument),*),
        }
    };
}

/// A thread's place among its block's columns.
#[derive(Clone, Copy)]
struct ThreadPlace {
    /// The radix of a column's first pass, `f`.
    radix: u32,
    nodes: Nodes,
    /// The radix of a column's last pass, `m`.
    factor: u32,
    /// The points of a row.
    row_points: u32,
    /// The index of the block's group of columns among all groups.
    group: u32,
    /// The thread's column.
    column: u32,
    /// The index of the thread's column among the block's.
    lane: u32,
    /// Whether the thread's column is the block's last.
    is_last: bool,
    /// The first of the thread's rows in the first pass, which are `16 m` apart.
    row: u32,
    /// The node that the thread has in the middle pass.
    node: u32,
    /// Whether the thread has a node in the middle pass.
    has_node: bool,
    /// The thread's row in that node.
    row_of_node: u32,
    /// The place of the thread's first point in the first pass. Its points are `places.outer`
    /// apart.
    first: u32,
    /// The place of the thread's first point in the middle pass. Its points are `places.inner`
    /// apart.
    middle: u32,
    places: ColumnPlaces,
    tables: Tables,
}

impl ThreadPlace {
    /// Whether the thread has the first row of the first block that carries, into which goes what goes around.
    #[inline(always)]
    fn is_first(self, block: u32) -> bool {
        block == 1 && self.row == 0
    }

    /// The number of the block's columns behind the thread's.
    #[inline(always)]
    fn lanes_behind(self) -> u32 {
        (1 << log_width(self.factor)) - 1 - self.lane
    }

    /// Whether the thread has the last row, in the last block, which has the last columns.
    #[inline(always)]
    fn has_end(self, block: u32) -> bool {
        let is_last_block = block == self.row_points >> log_width(self.factor);
        is_last_block && self.row + 1 == 16 * self.factor
    }

    /// The limbs, in fours, of a region of carries.
    #[inline(always)]
    fn region(self) -> u32 {
        let blocks = (self.row_points >> log_width(self.factor)) + 1;
        4 * blocks * 16 * self.factor
    }

    /// The place, in fours, of group `i` of the carries of a row that a block hands on in a region.
    #[inline(always)]
    fn of_four(self, block: u32, [region, i]: [u32; 2], row: u32) -> u32 {
        region * self.region() + (4 * block + i) * 16 * self.factor + row
    }
}

/// The words of a thread, and how points become words and words points.
trait Words: Copy {
    /// Whether the transform is cyclic, modulo any number of the kernel's.
    const IS_CYCLIC: bool;
    /// The words of the calling thread.
    fn of(block: Block<'_>, place: ThreadPlace) -> Self;
    /// Multiplies the words of the thread's point `k` by their weights.
    fn weigh(self, block: Block<'_>, z: &mut Complex, k: usize);
    /// Turns points into words, rounds, carries, and applies the weights again unless the launch
    /// `ends` with the words. Returns false if the block, `number`, has only handed its carries on.
    fn carry(
        self,
        block: Block<'_>,
        place: ThreadPlace,
        number: u32,
        ends: bool,
        v: &mut [Complex; 16],
    ) -> bool;
}

impl Block<'_> {
    /// Computes the columns of the calling block, modulo `2^p - 1`.
    #[inline(always)]
    pub fn columns(self) {
        self.through_words::<binary::BinaryWords>();
    }

    /// Computes them modulo other numbers, where carries die out in a point.
    #[inline(always)]
    pub fn columns_modulo(self) {
        self.through_words::<near::NearWords>();
    }

    /// Computes them modulo other numbers, where carries reach over more than a point.
    #[inline(always)]
    pub fn columns_far(self) {
        self.through_words::<far::FarWords>();
    }

    /// Computes them modulo `k 2^n + 1` and `k 2^n - 1`, where carries reach over more than a point.
    #[inline(always)]
    pub fn columns_reach(self) {
        self.through_words::<reach::ReachingWords>();
    }

    #[inline(always)]
    fn through_words<W: Words>(self) {
        let arguments = self.arguments;
        let factor = LongTransform::FACTOR.or(arguments.factor).max(1);
        let radix = self.radix();
        let stage = LongTransform::STAGE.or(arguments.stage);
        let (begins, ends) = (stage == Stage::Begin as u32, stage == Stage::End as u32);
        let block = thread::block_index();
        let row_points = POINTS * self.row();
        let log = log_width(factor);
        let width = 1 << log;
        let groups = row_points >> log;
        let group = match begins {
            true => block,
            false => (block + groups - 1) & (groups - 1),
        };
        let t = self.team.thread();
        let (row, lane) = (t >> log, t & (width - 1));
        // The node in the first pass, which is also the place of the node in the middle pass.
        let node = quotient(row, arguments.reciprocals[1]);
        let row_of_node = row - factor * node;
        let places = ColumnPlaces::of(factor);
        let mut nodes = self.nodes();
        nodes.is_negacyclic &= !W::IS_CYCLIC;
        let place = ThreadPlace {
            radix,
            nodes,
            factor,
            row_points,
            group,
            column: (group << log) + lane,
            lane,
            is_last: lane == width - 1,
            row,
            node: nodes.at(node),
            has_node: radix == 16 || nodes.has(node),
            row_of_node,
            first: node * places.inner + (row_of_node << log) + lane,
            middle: node * places.outer + (row_of_node << log) + lane,
            places,
            tables: Tables::of(radix, factor),
        };
        let words = W::of(self, place);
        thread::waits_here();
        let digits = self.pairs(arguments.digits);
        let digit = |k: usize| (row + 16 * factor * k as u32) * row_points + place.column;
        let mut v = [Complex::ZERO; 16];
        if begins {
            sixteen!(k => {
                if (k as u32) < radix {
                    v[k] = complex(digits.pair(digit(k)));
                }
            });
            sixteen!(k => {
                if (k as u32) < radix {
                    words.weigh(self, &mut v[k], k);
                }
            });
            self.twist(place, &mut v, false);
        } else {
            with_factor!(factor, self.last_back(place));
            self.team.sync_part(part_warps(factor));
            self.back(place, &mut v);
            if !words.carry(self, place, block, ends, &mut v) {
                return;
            }
        }
        if ends {
            sixteen!(k => {
                if (k as u32) < radix {
                    digits.set_pair(digit(k), [v[k].re, v[k].im]);
                }
            });
            return;
        }
        self.forth(place, &v);
        with_factor!(factor, self.last(place));
    }

    /// The first pass back, of radix `M`, from device memory. All points are loaded at once, as
    /// loads take long.
    #[inline(always)]
    fn last_back<const M: usize>(self, place: ThreadPlace) {
        if !self.has_butterfly::<M>(place.nodes, 0) {
            return;
        }
        let points = self.pairs(self.arguments.points);
        let mut z = [[Complex::ZERO; M]; 16];
        // From `m = 4` on a part of the block has the butterflies of one pair of nodes. If half of these do not exist,
        // points of others are loaded and not used.
        let is_one_pair = M >= 4;
        let has = |g: usize| {
            is_one_pair && g < 16 / M
                || (!is_one_pair || 16 % M > 0) && self.has_butterfly::<M>(place.nodes, g)
        };
        sixteen!(g => {
            if has(g) {
                let [_, _, point] = self.places_of_butterfly::<M>(place, g as u32);
                sixteen!(j => {
                    if j < M {
                        z[g][j] = complex(points.pair(point + 2 * j as u32 * place.row_points));
                    }
                });
            }
        });
        sixteen!(g => {
            if has(g) {
                let [side, first, _] = self.places_of_butterfly::<M>(place, g as u32);
                reversed_where(side == 1, &mut z[g]);
                butterfly(&mut z[g]);
                sixteen!(j => {
                    if j < M {
                        self.set(first + (j << log_width(M as u32)) as u32, z[g][j]);
                    }
                });
            }
        });
    }

    /// The last pass, of radix `M`, to device memory. Roots are loaded before they are needed:
    /// while other threads come to the barrier, and while the butterfly before is stored.
    #[inline(always)]
    fn last<const M: usize>(self, place: ThreadPlace) {
        let points = self.pairs(self.arguments.points);
        let mut w = self.roots_of_butterfly::<M>(0);
        self.team.sync_part(part_warps(M as u32));
        let mut g = 0;
        // The bound is known to the driver's compiler, which unrolls the loop.
        while g < known_later(16_u32.div_ceil(M as u32)) {
            let is_there = self.has_butterfly::<M>(place.nodes, g as usize);
            if !is_there && M >= 4 {
                return;
            }
            let [side, first, point] = self.places_of_butterfly::<M>(place, g);
            let mut z = [Complex::ZERO; M];
            if is_there {
                sixteen!(j => {
                    if j < M {
                        z[j] = self.get(first + (j << log_width(M as u32)) as u32);
                    }
                });
                forth_in_order(&mut z, w);
                reversed_where(side == 1, &mut z);
            }
            g += 1;
            if self.has_butterfly::<M>(place.nodes, g as usize) {
                w = self.roots_of_butterfly::<M>(g);
            }
            if is_there {
                sixteen!(j => {
                    if j < M {
                        let point = point + 2 * j as u32 * place.row_points;
                        points.set_pair(point, [z[j].re, z[j].im]);
                    }
                });
            }
        }
    }

    /// The roots of butterfly `g` of the last pass.
    #[inline(always)]
    fn roots_of_butterfly<const M: usize>(self, g: u32) -> [Complex; 16] {
        let roots = self.roots(self.arguments.roots);
        let at = Tables::of(self.radix(), M as u32).last
            + (self.butterfly_at::<M>(g) >> log_width(M as u32));
        let mut w = [Complex::ZERO; 16];
        sixteen!(j => {
            if j < last_roots(M as u32) as usize {
                w[j] = complex(roots.at(at + 256 * j as u32));
            }
        });
        w
    }

    /// Whether the thread has a butterfly `g` of the last pass. All threads have `16 / M` of
    /// them, and some whole warps have one more if that leaves a remainder. If `f` is not 16,
    /// only threads that have nodes have butterflies.
    #[inline(always)]
    fn has_butterfly<const M: usize>(self, nodes: Nodes, g: usize) -> bool {
        let radix = self.radix();
        if radix != 16 {
            let pair = self.butterfly_at::<M>(g as u32) >> (log_width(M as u32) + 1);
            return g < 16 / M && nodes.has_pair(pair);
        }
        let threads = 32 * part_warps(M as u32);
        let rest = of_part::<M>() - 16 / M as u32 * threads;
        g < 16 / M || g == 16 / M && self.team.thread() % threads < rest
    }

    /// The index of butterfly `g` of the thread among those of the block.
    #[inline(always)]
    fn butterfly_at<const M: usize>(self, g: u32) -> u32 {
        let threads = 32 * part_warps(M as u32);
        let (part, t) = (self.team.thread() / threads, self.team.thread() % threads);
        part * of_part::<M>() + t + threads * g
    }

    /// The side of its pair on which the butterfly's node is, the place of its first point in
    /// shared memory, and the place of its first point in device memory; on the second side this
    /// is the last point.
    #[inline(always)]
    fn places_of_butterfly<const M: usize>(self, place: ThreadPlace, g: u32) -> [u32; 3] {
        let at = self.butterfly_at::<M>(g);
        let ColumnPlaces { outer, inner } = place.places;
        let log = log_width(M as u32);
        let (lane, side, pair) = (at & ((1 << log) - 1), at >> log & 1, at >> (log + 1));
        let (node, i) = place.nodes.of_pair(pair, side);
        let columns = (place.group << (log + 1)) + at % (2 << log);
        [
            side,
            node * outer + i * inner + lane,
            place.nodes.in_order(pair) * M as u32 * 2 * place.row_points + columns,
        ]
    }

    /// The second and the third pass back.
    #[inline(always)]
    fn back(self, place: ThreadPlace, v: &mut [Complex; 16]) {
        let ThreadPlace {
            radix,
            factor,
            tables,
            ..
        } = place;
        let ColumnPlaces { outer, inner } = place.places;
        if place.has_node {
            let w = self.node_roots(tables.middle_back + place.row_of_node, factor);
            sixteen!(i => {
                v[i] = self.get(place.middle + inner * i as u32).swapped();
            });
            down(v, &w);
            sixteen!(i => {
                self.set(place.middle + inner * i as u32, v[turned::<16>(i)].swapped());
            });
        }
        self.team.sync();
        let mut x = [Complex::ZERO; 16];
        sixteen!(i => {
            if (i as u32) < radix {
                x[i] = self.get(place.first + outer * place.nodes.place(i as u32));
            }
        });
        if radix == 16 {
            let w = self.node_roots(tables.first_back + place.row, 16 * factor);
            x = x.map(Complex::swapped);
            down(&mut x, &w);
            sixteen!(i => {
                v[i] = x[turned::<16>(i)].swapped();
            });
        } else {
            let roots = self.roots(self.arguments.roots);
            let at = tables.first_back + place.row;
            sixteen!(i => {
                if (i > 0 || place.nodes.is_negacyclic) && (i as u32) < radix {
                    x[i] = x[i].times(complex(roots.at(at + 16 * factor * i as u32)));
                }
            });
            transform(radix, &mut x);
            *v = x;
        }
    }

    /// The first and the second pass forth.
    #[inline(always)]
    fn forth(self, place: ThreadPlace, v: &[Complex; 16]) {
        let radix = place.radix;
        let ColumnPlaces { outer, inner } = place.places;
        let mut x = [Complex::ZERO; 16];
        if radix == 16 {
            sixteen!(i => {
                x[turned::<16>(i)] = v[i].swapped();
            });
            up(&mut x);
        } else {
            x = v.map(Complex::swapped);
            transform(radix, &mut x);
        }
        sixteen!(i => {
            if (i as u32) < radix {
                self.set(place.first + outer * place.nodes.place(i as u32), x[i].swapped());
            }
        });
        self.team.sync();
        if place.has_node {
            let w = self.node_roots(place.tables.middle + place.node, 16);
            sixteen!(i => {
                x[i] = self.get(place.middle + inner * i as u32);
            });
            down(&mut x, &w);
            sixteen!(i => {
                self.set(place.middle + inner * i as u32, x[turned::<16>(i)]);
            });
        }
    }

    #[inline(always)]
    fn node_roots(self, at: u32, apart: u32) -> [Complex; 8] {
        let roots = self.roots(self.arguments.roots);
        let mut w = [Complex::ZERO; 8];
        sixteen!(j => {
            if j < 8 {
                w[j] = complex(roots.at(at + apart * j as u32));
            }
        });
        w
    }

    /// Multiplies the points of a negacyclic transform by the factors of their steps, or, on the way `back`, by the
    /// conjugates, and by those of their rows where these are not in the [roots](Tables).
    #[inline(always)]
    fn twist(self, place: ThreadPlace, v: &mut [Complex; 16], back: bool) {
        if !place.nodes.is_negacyclic {
            return;
        }
        if back && place.radix == 16 {
            let row = complex(self.roots(self.arguments.twists).at(place.row));
            sixteen!(k => {
                let twist = row.times(complex(self.arguments.step_twists[k]));
                v[k] = v[k].times(twist.conjugate());
            });
            return;
        }
        sixteen!(k => {
            if k > 0 && (k as u32) < place.radix {
                let twist = complex(self.arguments.step_twists[k]);
                v[k] = v[k].times(if back { twist.conjugate() } else { twist });
            }
        });
    }

    /// What a carry out of the last word adds to the first word, and to a word of the last point.
    #[inline(always)]
    fn around(self, carry: f64) -> [f64; 2] {
        around(self.arguments.around, carry, self.arguments.minus)
    }

    /// Records the greatest error of the warp.
    #[inline(always)]
    fn note(self, block: u32, error: u32) {
        let warp = self.team.warp();
        let mut error = error;
        let mut apart = 16;
        while apart > 0 {
            error = error.max(warp.shuffle(error, warp.lane() ^ apart));
            apart /= 2;
        }
        if warp.lane() == 0 {
            let errors = self.handed(self.arguments.errors);
            errors.raise_to(WARPS * block + self.team.thread() / 32, error);
        }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn handed(self, address: u64) -> Handed {
        // SAFETY: `new`'s caller vouches for the memory.
        unsafe { Handed::new(address) }
    }
}

/// The number of warps in a part of the block, which exchange values between the last two passes
/// only among themselves. A part has whole nodes of the middle pass.
#[inline(always)]
const fn part_warps(m: u32) -> u32 {
    m >> m.trailing_zeros()
}

/// The butterflies of the last pass, of radix `M`, that a part has: as many as take 16 points for
/// each of its threads.
#[inline(always)]
const fn of_part<const M: usize>() -> u32 {
    512 >> M.trailing_zeros()
}

/// A butterfly of a column's last pass, with its [`last_roots`]. Frequencies come out in order.
#[inline(always)]
fn forth_in_order<const M: usize>(z: &mut [Complex; M], mut w: [Complex; 16]) {
    if M.is_power_of_two() {
        w[3] = eighth_on(w[2]);
        if M > 1 {
            down(z, &[w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]]);
        }
        let tree = *z;
        sixteen!(j => {
            if j < M {
                z[j] = tree[turned::<M>(j)];
            }
        });
    } else {
        sixteen!(j => {
            if j < M {
                if j > 0 {
                    z[j] = z[j].times(w[j - 1]);
                }
                z[j] = z[j].swapped();
            }
        });
        butterfly(z);
        sixteen!(j => {
            if j < M {
                z[j] = z[j].swapped();
            }
        });
    }
}

/// Reverses the order of the points if `is_so`.
#[inline(always)]
fn reversed_where<const M: usize>(is_so: bool, z: &mut [Complex; M]) {
    sixteen!(j => {
        if 2 * j + 1 < M {
            let (a, b) = (z[j], z[M - 1 - j]);
            (z[j], z[M - 1 - j]) = if is_so { (b, a) } else { (a, b) };
        }
    });
}
