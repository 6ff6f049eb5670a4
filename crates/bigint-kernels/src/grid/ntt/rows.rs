//! Products of rows: a row of each operand goes down the tree, they are multiplied, and the product
//! goes up, or the sum of two products.

use super::{Block, Field, Parts};
use crate::gpu::residues::Residues;
use crate::gpu::thread;
use crate::transform::primes::one_of;
use bigint_core::transform::ntt::{Factor, LOG_ORDER, NttArguments, Second, padded};

/// The row of a number's operands that a block has, modulo one prime.
#[derive(Clone, Copy)]
struct Row<'a, const THREADS: u32> {
    block: Block<'a, THREADS>,
    number: u32,
    prime: u32,
    field: Field,
    /// The row of each operand, one after the other; none of kept ones.
    parts: Parts,
    /// The place in an operand's residues at which the row begins.
    begin: u32,
    /// The binary logarithm of an eighth of the row's length.
    eighth: u32,
    /// The step of the row's weights: that of coefficient `j` is `e(step j / 2^26)`.
    step: u32,
    /// The place in shared memory of the [weights of eighths](Self::weight).
    weights: u32,
    /// The second factor of the products: a `Second`, as a number.
    second: u32,
}

impl<'a, const THREADS: u32> Block<'a, THREADS> {
    /// Goes down the tree by rows, multiplies, and goes up again.
    #[inline(always)]
    pub fn rows(self) {
        let row = Row::of(self);
        let Row {
            field,
            parts,
            eighth,
            ..
        } = row;
        row.set_weights();
        self.team.sync();
        row.down();
        self.team.sync();
        self.tree(field, parts).downs(3, eighth);
        // The residues of the first operand, whose place those of the product take.
        let points = self.points(row.number, 0, row.prime);
        row.multiply(points);
        if row.second == Second::Nothing as u32 {
            return;
        }
        self.team.sync();
        self.tree(field, Parts { count: 1, ..parts }).ups(3, eighth);
        row.up(points);
    }
}

impl<'a, const THREADS: u32> Row<'a, THREADS> {
    #[inline(always)]
    fn of(block: Block<'a, THREADS>) -> Self {
        let NttArguments {
            plan,
            operands,
            second,
            ..
        } = *block.arguments;
        let (which, prime) = (thread::block_index() / 3, thread::block_index() % 3);
        let rows = plan.rows().max(1);
        let (number, row) = (which / rows, which % rows);
        Row {
            block,
            number,
            prime,
            field: block.field(prime),
            parts: Parts {
                count: operands,
                log: plan.log_row,
                are_of_one_tree: false,
            },
            begin: row << plan.log_row,
            eighth: plan.log_row - 3,
            step: row.reverse_bits() >> (32 - LOG_ORDER + plan.log_row),
            weights: padded(block.arguments.rows_of_number() << plan.log_row) + 1 & !1,
            second,
        }
    }

    /// Puts the weights of eighths, and their inverses, into shared memory.
    #[inline(always)]
    fn set_weights(self) {
        let Row { block, field, .. } = self;
        let thread = block.team.thread();
        if thread < 16 {
            let j = (thread & 7) << self.eighth;
            let j = if thread < 8 { j } else { j.wrapping_neg() };
            let factor = field.factor(field.reduced(field.power(self.step.wrapping_mul(j))));
            block.x.set_limb(self.weights + 2 * thread, factor.w);
            let at = self.weights + 2 * thread + 1;
            block.x.set_limb(at, factor.quotient);
        }
    }

    /// The weight of the first coefficient of eighth `k` of the row. From `k` = 8 on it is the
    /// inverse of that of `k - 8`.
    #[inline(always)]
    fn weight(self, k: u32) -> Factor {
        Factor {
            w: self.block.x.limb(self.weights + 2 * k),
            quotient: self.block.x.limb(self.weights + 2 * k + 1),
        }
    }

    /// Loads the row of each operand, applies the weights, and goes three levels down.
    #[inline(always)]
    fn down(self) {
        let Row { block, field, .. } = self;
        let roots = field.roots::<8, false>(0);
        let mut g = block.team.thread();
        while g < self.parts.count << self.eighth {
            let (operand, c) = (g >> self.eighth, g & ((1 << self.eighth) - 1));
            let points = block.points(self.number, operand, self.prime);
            let first = field.factor(field.reduced(field.power(self.step.wrapping_mul(c))));
            let mut v = [0; 8];
            let mut k = 0;
            while k < 8 {
                let x = points.get(self.begin + c + ((k as u32) << self.eighth));
                v[k] = field.times(field.times(x, self.weight(k as u32)), first);
                k += 1;
            }
            field.down(&mut v, &roots);
            block.set_eight((operand << self.parts.log) + c, self.eighth, &v);
            g += THREADS;
        }
    }

    /// Goes the last three levels down, multiplies, and goes the first three levels up. If only the
    /// transform of an operand is wanted, its residues are the result.
    #[inline(always)]
    fn multiply(self, points: Residues) {
        let Row {
            block,
            field,
            second,
            ..
        } = self;
        let mut f = block.team.thread();
        while f < 1 << self.eighth {
            let roots = field.roots::<8, false>(f);
            // The second operand comes first, if there is one, and then the first.
            let (mut x, mut y) = ([0; 8], [0; 8]);
            let mut operand = self.parts.count;
            while operand > 0 {
                operand -= 1;
                y = x;
                x = block.eight((operand << self.parts.log) + 8 * f, 0);
                field.down(&mut x, &roots);
                let mut k = 0;
                while k < 8 {
                    x[k] = field.reduced(x[k]);
                    k += 1;
                }
            }
            // What is added to their product.
            let mut z = [0; 8];
            let at = self.begin + 8 * f;
            if second == Second::Nothing as u32 {
                points.set_four(at, [x[0], x[1], x[2], x[3]]);
                points.set_four(at + 4, [x[4], x[5], x[6], x[7]]);
            } else {
                if second == Second::Both as u32 {
                    if block.arguments.kept_counts[2] > 0 {
                        z = self.products(self.kept(2, at), self.kept(3, at));
                    }
                    (x, y) = (self.kept(1, at), self.kept(0, at));
                } else if second == Second::Same as u32 {
                    y = x;
                } else if second != Second::Other as u32 {
                    if second == Second::Sum as u32 {
                        z = self.products(y, self.kept(1, at));
                    }
                    y = self.kept(0, at);
                }
                x = self.products(x, y);
                let mut k = 0;
                while k < 8 {
                    x[k] = field.plus(x[k], z[k]);
                    k += 1;
                }
                field.up(&mut x, &field.roots::<8, true>(f));
                block.set_eight(8 * f, 0, &x);
            }
            f += THREADS;
        }
    }

    #[inline(always)]
    fn products(self, x: [u32; 8], y: [u32; 8]) -> [u32; 8] {
        let mut products = [0; 8];
        let mut k = 0;
        while k < 8 {
            products[k] = self.field.product(x[k], y[k]);
            k += 1;
        }
        products
    }

    /// Eight residues of a row that is kept, from a place in its number's residues on.
    #[inline(always)]
    fn kept(self, factor: usize, at: u32) -> [u32; 8] {
        let kept = self.block.kept(factor, self.number, self.prime);
        let (low, high) = (kept.four(at), kept.four(at + 4));
        [
            low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3],
        ]
    }

    /// Goes the last three levels up, removes the weights, and multiplies by the scale.
    #[inline(always)]
    fn up(self, points: Residues) {
        let Row { block, field, .. } = self;
        let roots = field.roots::<8, true>(0);
        let scale = one_of(self.prime, block.arguments.scales);
        let scale = Factor {
            w: scale as u32,
            quotient: (scale >> 32) as u32,
        };
        let mut c = block.team.thread();
        while c < 1 << self.eighth {
            let mut v = block.eight(c, self.eighth);
            field.up(&mut v, &roots);
            let first = field.power(self.step.wrapping_mul(c).wrapping_neg());
            let first = field.factor(field.reduced(field.times(first, scale)));
            let mut k = 0;
            while k < 8 {
                let x = field.times(field.times(v[k], self.weight(8 + k as u32)), first);
                let at = self.begin + c + ((k as u32) << self.eighth);
                points.set(at, field.reduced(x));
                k += 1;
            }
            c += THREADS;
        }
    }
}
