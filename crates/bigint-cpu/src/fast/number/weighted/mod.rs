//! Squares modulo `2^p - 1` by the irrational-base discrete weighted transform. [`Modulus`] has what
//! other moduli `k b^n + c` need.
//!
//! **Maths** [Crandall and Fagin 1994], [Thall 2011]. A residue is written in `n` words, with word
//! `j` at bit `ceil(p j / n)`. So words have two lengths, `floor(p / n)` bits and one bit more, and
//! their digits lie on both sides of zero. Weighted by `2^(ceil(p j / n) - p j / n)`, the words are
//! coefficients in the base `2^(p / n)`. As `2^p = 1`, the square is their cyclic convolution: a
//! transform in doubles, without padding.
//!
//! An example is `p = 7`, `n = 4`: the words have 2, 2, 2 and 1 bits, at bits 0, 2, 4 and 6, and
//! the weights are `1, 2^(1/4), 2^(1/2), 2^(3/4)`.
//!
//! **Transform.** Two words are a complex point, and the `M = n / 2 = slow fast` points are a
//! matrix of `slow` rows. One iteration makes two passes over the memory. The pass over rows
//! (`rows`) computes twiddles, transforms, squares, and transforms back. The pass over columns
//! (`columns`) transforms back, removes the weights, rounds, carries, applies the weights and
//! transforms forward. Each pass works on pieces that stay in the second-level cache. Points are
//! two vectors wide, so that nothing is shuffled but at the ends of the rows.
//!
//! **Error.** Doubles round, so nothing here is exact by proof. In every iteration the distance of
//! each word from an integer is measured before it is rounded. If it is near 1/2, the integer may
//! be the wrong one. [`Weighted::square`] returns the greatest distance. Beyond 0.4 the result is
//! not to be trusted, and a longer transform is needed. The residues that come out are the same on
//! every machine.
//!
//! **Products** with other residues, whose transforms are kept, take as long as squares
//! ([`Weighted::multiply`]).
//!
//! **Memory**: `8 n` bytes, and an eighth of that for tables. **Threads**: all that there are if
//! the transform is long enough. They meet twice in an iteration.

mod columns;
mod fft;
mod general;
mod length;
mod machine;
mod operand;
mod rows;
#[cfg(test)]
mod tests;
mod words;

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use self::columns::{Carry, ColumnWeights, Columns, Digits, Finish, Read, Weight};
pub use self::fft::root;
use self::fft::{Pair, Plan};
pub use self::general::{Layout, Modulus, twists};
pub use self::length::Length;
#[cfg(target_arch = "x86_64")]
use self::machine::{Fma256, Fma512};
use self::machine::{Machine, Portable};
pub use self::operand::Operand;
use self::rows::{Group, Keep, Leaf, Matrix, Multiply, Product, Square};
pub use self::words::{digits, limbs};
use super::isa::Isa;
use crate::fast::Path;
use crate::fast::crew::together;
use crate::{memory, share};

/// A residue modulo `2^p - 1` that is squared again and again.
///
/// ```
/// use bigint_cpu::fast::number::weighted::{Length, Weighted};
/// use bigint_cpu::Path;
/// // Lucas-Lehmer: 2^1279 - 1 is prime.
/// let p = 1279;
/// let mut s = Weighted::new(p, Length::for_exponent(p).unwrap(), Path::best());
/// s.set(&[4]);
/// for _ in 0..p - 2 {
///     assert!(s.square(1, 2) < 0.4);
/// }
/// assert!(s.residue().iter().all(|&limb| limb == 0));
/// ```
pub struct Weighted {
    transform: Box<dyn Transform>,
}

/// The transform of a residue, by which others modulo the same number are multiplied. It takes
/// `8 n` bytes or a little more.
pub struct Factor(Box<dyn Any + Send + Sync>);

/// A [`Weighted`] for one machine.
trait Transform: Send {
    fn set(&mut self, digits: &mut dyn Iterator<Item = i64>);
    fn digits(&self) -> Vec<i64>;
    fn layout(&self) -> &Layout;
    fn square(&mut self, by: u32, minus: u32, bit: u32) -> f64;
    fn keep(&mut self) -> Factor;
    fn multiply(&mut self, factor: &Factor, less: Option<&Factor>, minus: u32) -> f64;
    fn product(&mut self, operands: [Operand<&Factor>; 2]) -> f64;
    fn length(&self) -> Length;
}

impl Weighted {
    /// Zero modulo `2^p - 1`, to be squared by transforms of this length, with the instructions of
    /// `path` or of the best path below it that the machine has.
    ///
    /// # Panics If the length has more words than `p` has bits.
    pub fn new(p: u32, length: Length, path: Path) -> Self {
        assert!(length.words() <= p as usize, "a word has at least one bit");
        Self::modulo(Modulus::mersenne(p), length, path).expect("2^p goes around")
    }

    /// The same modulo another number. There a residue `x` is kept as `X = x / k`, and what is said
    /// of squares, products and residues below is true of `X` with `k X^2` for `x^2`, `k X Y` for
    /// `x y`, and `minus / k` for `minus`. `None` where no such length suits the modulus.
    ///
    /// ```
    /// use bigint_cpu::fast::number::weighted::{Modulus, Weighted};
    /// use bigint_cpu::Path;
    /// let modulus = Modulus { k: 2, base: 3, n: 700, c: -1 };
    /// let length = modulus.length(None).unwrap();
    /// let mut x = Weighted::modulo(modulus, length, Path::best()).unwrap();
    /// x.set(&[7]);
    /// assert!(x.square(1, 0) < 0.4);
    /// let (limbs, is_negative) = x.signed_residue();
    /// assert_eq!((limbs[0], is_negative), (2 * 7 * 7, false));
    /// assert!(limbs[1..].iter().all(|&limb| limb == 0));
    /// ```
    pub fn modulo(modulus: Modulus, length: Length, path: Path) -> Option<Self> {
        let layout = Layout::new(modulus, length.words()).filter(|layout| layout.reach == 4)?;
        let transform: Box<dyn Transform> = match Isa::of(path) {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(token, _) => Box::new(Words::new(Fma512(token), layout, length)),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(token) => Box::new(Words::new(Fma256(token), layout, length)),
            _ => Box::new(Words::new(Portable, layout, length)),
        };
        Some(Weighted { transform })
    }

    /// The `p` of `2^p - 1`, if that is the modulus.
    fn exponent(&self) -> Option<u32> {
        self.transform.layout().modulus.exponent()
    }

    /// Sets the residue to the number with these limbs.
    ///
    /// # Panics If the modulus is `2^p - 1` and the number has more than `p` bits.
    pub fn set(&mut self, limbs: &[u64]) {
        let words = self.length().words();
        match self.exponent() {
            Some(p) => self.transform.set(&mut words::digits(limbs, p, words)),
            None => {
                let digits = self.transform.layout().digits(limbs);
                self.transform.set(&mut digits.into_iter());
            }
        }
    }

    /// The residue, below `2^p - 1`, in as many limbs as `p` bits need. It is computed on one
    /// thread, and takes as long as an iteration or two.
    ///
    /// # Panics If the modulus is not `2^p - 1`.
    pub fn residue(&self) -> Vec<u64> {
        let p = self.exponent().expect("the modulus is 2^p - 1");
        let digits = self.transform.digits().into_iter();
        words::limbs(digits, p, self.length().words())
    }

    /// A number that is the residue modulo `k b^n + c`, and no longer: its magnitude, and whether
    /// it is negative. It takes as long as tens of iterations.
    pub fn signed_residue(&self) -> (Vec<u64>, bool) {
        let digits = self.transform.digits();
        self.transform.layout().value(digits, 0)
    }

    /// Replaces the residue `x` by `by x^2 - minus`, where `by` is at most 3. Returns the greatest
    /// distance of a word of `x^2` from an integer before it was rounded.
    pub fn square(&mut self, by: u32, minus: u32) -> f64 {
        self.transform.square(by, minus, 0)
    }

    /// Replaces the residue `x` by `by x^2 - minus 2^bit`, where `by` is at most 3, `minus` below
    /// 2^16 and `bit` below `p`. Returns the same as [`square`](Self::square). With it a residue
    /// that is kept multiplied by a power of two is squared as others are.
    ///
    /// # Panics If `bit` is not below `p`.
    pub fn square_shifted(&mut self, by: u32, minus: u32, bit: u32) -> f64 {
        self.transform.square(by, minus, bit)
    }

    /// The transform of the present residue, for products with it. It takes about half as long as a
    /// square.
    pub fn keep(&mut self) -> Factor {
        self.transform.keep()
    }

    /// Replaces the residue `x` by `x (factor - less) - minus`. Returns the greatest distance of a word
    /// from an integer before it was rounded. With a `less`, that is some 1.4 times the distance of
    /// a square.
    ///
    /// ```
    /// use bigint_cpu::fast::number::weighted::{Length, Weighted};
    /// use bigint_cpu::Path;
    /// let p = 1279;
    /// let mut x = Weighted::new(p, Length::for_exponent(p).unwrap(), Path::best());
    /// x.set(&[7]);
    /// let seven = x.keep();
    /// x.set(&[9]);
    /// x.multiply(&seven, None, 0);
    /// assert_eq!(x.residue()[0], 63);
    /// let sixty_three = x.keep();
    /// x.multiply(&sixty_three, Some(&seven), 2);
    /// assert_eq!(x.residue()[0], 63 * 56 - 2);
    /// ```
    ///
    /// # Panics If a factor is of another exponent, length or path.
    pub fn multiply(&mut self, factor: &Factor, less: Option<&Factor>, minus: u32) -> f64 {
        self.transform.multiply(factor, less, minus)
    }

    /// Replaces the residue by the product of two sides, without transforming what it was. Returns the greatest distance of a word from an integer before it was rounded, some
    /// 1.4 times that of a square for each side that is a sum or difference.
    ///
    /// ```
    /// use bigint_cpu::fast::number::weighted::{Length, Operand, Weighted};
    /// use bigint_cpu::Path;
    /// let p = 1279;
    /// let mut x = Weighted::new(p, Length::for_exponent(p).unwrap(), Path::best());
    /// x.set(&[7]);
    /// let seven = x.keep();
    /// x.set(&[9]);
    /// let nine = x.keep();
    /// x.product([Operand::Sum(&seven, &nine), Operand::Difference(&nine, &seven)]);
    /// assert_eq!(x.residue()[0], 16 * 2);
    /// ```
    ///
    /// # Panics If a factor is of another exponent, length or path.
    pub fn product(&mut self, operands: [Operand<&Factor>; 2]) -> f64 {
        self.transform.product(operands)
    }

    /// The length of the transform.
    pub fn length(&self) -> Length {
        self.transform.length()
    }
}

/// The points below which one thread does all the work.
const ALONE: usize = 1 << 13;

struct Words<M: Machine> {
    m: M,
    layout: Layout,
    length: Length,
    /// The points, block after block of `slow` points, as the pass over columns leaves them.
    points: Vec<Pair<M::V>>,
    slow: Plan,
    fast: Plan,
    leaves: Vec<Leaf>,
    groups: Vec<Group<M::V>>,
    row_weights: Vec<Weight<f64>>,
    twists: Vec<[f64; 2]>,
    column_weights: Vec<ColumnWeights<M::V>>,
    /// The range of blocks of each thread.
    parts: Vec<Part<M::V>>,
    scratch: Mutex<Vec<Vec<Pair<M::V>>>>,
}

/// The contents of a [`Factor`].
struct Kept<V> {
    modulus: Modulus,
    length: Length,
    /// The points of each group of rows.
    groups: Vec<Vec<Pair<V>>>,
}

/// Blocks that follow one another, with their carries.
struct Part<V> {
    blocks: usize,
    /// The carry out of the last block, for each row.
    carry: Vec<V>,
    error: V,
}

impl<M: Machine> Words<M> {
    fn new(m: M, layout: Layout, length: Length) -> Self {
        let Length { slow, fast } = length;
        let blocks = fast / M::LANES / 2;
        let is_negacyclic = layout.modulus.is_negacyclic();
        let g = |j: usize| layout.exponent(j);
        let weight = |j: usize| layout.weight(j, g(j));
        let zero: M::V = bytemuck::Zeroable::zeroed();
        let row_weights = (0..slow)
            .map(|row| {
                let j = 2 * fast * row;
                Weight {
                    weight: weight(j),
                    inverse: 1.0 / weight(j),
                    g: g(j) as f64,
                }
            })
            .collect();
        let scale = layout.modulus.k as f64 / (4.0 * length.points() as f64);
        let column_weights = (0..blocks)
            .map(|block| {
                [0, 1].map(|h| {
                    [0, 1].map(|part| {
                        let word = |lane| 2 * (lane * (fast / M::LANES) + 2 * block + h) + part;
                        let lanes = |f: &dyn Fn(usize) -> f64| {
                            let mut v = zero;
                            let lanes: &mut [f64] =
                                bytemuck::cast_slice_mut(std::slice::from_mut(&mut v));
                            for (lane, x) in lanes.iter_mut().enumerate() {
                                *x = f(word(lane));
                            }
                            v
                        };
                        Weight {
                            weight: lanes(&weight),
                            inverse: lanes(&|j| scale / weight(j)),
                            g: lanes(&|j| g(j) as f64),
                        }
                    })
                })
            })
            .collect();
        let (slow_plan, fast_plan) = (Plan::new(slow), Plan::new(fast));
        let threads = if length.points() < ALONE {
            1
        } else {
            crate::threads().clamp(1, blocks)
        };
        let part = |i: usize| Part {
            blocks: (i + 1) * blocks / threads - i * blocks / threads,
            carry: vec![zero; slow],
            error: zero,
        };
        Words {
            m,
            layout,
            length,
            points: memory::zeroed(slow * blocks).expect("memory for the points"),
            leaves: rows::leaves(&fast_plan),
            groups: rows::groups(m, &slow_plan, fast, is_negacyclic),
            slow: slow_plan,
            fast: fast_plan,
            row_weights,
            twists: if is_negacyclic {
                twists(slow)
            } else {
                Vec::new()
            },
            column_weights,
            parts: (0..threads).map(part).collect(),
            scratch: Mutex::new(Vec::new()),
        }
    }

    fn columns(&self) -> Columns<'_, M> {
        let (short, long) = self.layout.short();
        let b = f64::from(self.layout.modulus.base);
        let power = b.powi(short as i32);
        let powers = [power, b * power];
        Columns {
            m: self.m,
            plan: &self.slow,
            rows: &self.row_weights,
            twists: &self.twists,
            digits: Digits {
                unit: self.layout.unit as f64,
                long: long as f64,
                base: [b, 1.0 / b],
                powers,
                inverses: powers.map(|power| 1.0 / power),
            },
        }
    }

    /// Whether the modulus is `2^p - 1`.
    fn is_mersenne(&self) -> bool {
        self.layout.modulus.exponent().is_some()
    }

    /// The place of word `j`: the index of its point, and that of the double within the point.
    fn place(&self, j: usize) -> (usize, usize) {
        let Length { slow, fast } = self.length;
        let (row, column) = (j / 2 / fast, j / 2 % fast);
        let (lane, i) = (column / (fast / M::LANES), column % (fast / M::LANES));
        let within = (j % 2) * 2 * M::LANES + i % 2 * M::LANES + lane;
        (i / 2 * slow + row, within)
    }

    /// Does the work of each group of rows, on all threads.
    fn pass_over_rows(&mut self, work: impl Fn(usize, Square<'_, M>) + Sync) {
        let threads = self.parts.len();
        // SAFETY: the slice is borrowed for the whole function, which uses it through the matrix
        // alone, and each group is in one of the ranges below.
        #[allow(unsafe_code)]
        let matrix = unsafe { Matrix::new(&mut self.points, self.length.slow) };
        let (plan, leaves) = (&self.fast, &self.leaves[..]);
        let pool = &self.scratch;
        let take = || pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        share(self.groups.iter().enumerate(), threads, |(i, group)| {
            let zero = bytemuck::Zeroable::zeroed;
            let scratch = take();
            let mut scratch = scratch.unwrap_or_else(|| vec![zero(); plan.order.len()]);
            let rows = Square {
                plan,
                leaves,
                group,
                matrix,
                scratch: &mut scratch,
            };
            work(i, rows);
            let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
            pool.push(scratch);
        });
    }

    /// The points of each group of a factor.
    fn kept<'a>(&self, factor: &'a Factor) -> &'a [Vec<Pair<M::V>>] {
        let groups = factor.0.downcast_ref::<Kept<M::V>>();
        let groups =
            groups.filter(|kept| (kept.modulus, kept.length) == (self.layout.modulus, self.length));
        &groups.expect("a factor of the same kind").groups
    }

    /// The word whose block waits, and what its digits are lessened by there: by `minus 2^bit`. Other moduli
    /// than `2^p - 1` have something for one of the last words, when all carries are known, and the last
    /// block waits.
    fn special(&self, minus: u32, bit: u32) -> (usize, f64) {
        if !self.is_mersenne() {
            assert_eq!(bit, 0, "a bit of 2^p - 1");
            return (self.length.words() - 1, 0.0);
        }
        let (word, value) = self.layout.bit(bit);
        (word, f64::from(minus) * value)
    }

    /// Adds what goes around the end to the first carry and to one of the last words, whose block has
    /// waited, and finishes that block, unless it waits for its own carry.
    fn around(&self, points: &mut [Pair<M::V>], first: &mut f64, minus: u32, is_first: bool) {
        let (m, slow) = (self.m, self.length.slow);
        let (low, word, high) = self.layout.around(*first, minus);
        *first = low;
        let (point, within) = self.place(word);
        Pair::<M::V>::doubles(points)[point * 4 * M::LANES + within] += high;
        if is_first {
            return;
        }
        let last = self.column_weights.len() - 1;
        m.enter(Finish {
            columns: self.columns(),
            weights: &self.column_weights[last],
            x: &mut points[last * slow..],
            carry: &vec![m.splat(0.0); slow],
        });
    }

    /// Rounds words, carries, subtracts `minus 2^bit` and transforms.
    fn carry_columns(&mut self, by: u32, minus: u32, bit: u32) -> f64 {
        let is_mersenne = self.is_mersenne();
        let (word, amount) = self.special(minus, bit);
        let (point, within) = self.place(word);
        let take_off = |block: &mut [Pair<M::V>]| {
            let doubles = Pair::<M::V>::doubles(block);
            doubles[point % self.length.slow * 4 * M::LANES + within] -= amount;
        };
        let special = point / self.length.slow;
        let mut parts = std::mem::take(&mut self.parts);
        let mut points = std::mem::take(&mut self.points);
        let columns = self.columns();
        let (m, slow, threads) = (self.m, self.length.slow, parts.len());
        let by = m.splat(by.into());
        for part in &mut parts {
            part.carry.fill(m.splat(0.0));
            part.error = m.splat(0.0);
        }
        let zeros = vec![m.splat(0.0); slow];
        share(self.ranges(&mut points, &mut parts), threads, |range| {
            let (first, blocks, weights, part) = range;
            let all = blocks.chunks_exact_mut(slow).zip(weights);
            for ((x, weights), block) in all.zip(first..) {
                let is_special = block == special;
                let waits = block == first || is_special;
                part.error = m.enter(Carry {
                    columns,
                    weights,
                    x,
                    carry: &mut part.carry,
                    error: part.error,
                    by,
                    waits,
                });
                if is_special {
                    take_off(x);
                }
                if waits && block != first && is_mersenne {
                    let carry = &zeros;
                    m.enter(Finish {
                        columns,
                        weights,
                        x,
                        carry,
                    });
                }
            }
        });

        // The carry out of the last lane of a row goes into the first lane of the next row.
        let last = &parts[threads - 1].carry;
        let mut turned = last.clone();
        let doubles: &mut [f64] = bytemuck::cast_slice_mut(&mut turned);
        doubles.rotate_right(1);
        if !is_mersenne {
            let is_first = parts[threads - 1].blocks == 1;
            self.around(&mut points, &mut doubles[0], minus, is_first);
        }
        let carries: Vec<Vec<M::V>> = std::iter::once(turned)
            .chain(parts[..threads - 1].iter().map(|part| part.carry.clone()))
            .collect();
        let firsts = self.ranges(&mut points, &mut parts);
        share(
            firsts.into_iter().zip(&carries),
            threads,
            |(range, carry)| {
                let (_, blocks, weights, _) = range;
                m.enter(Finish {
                    columns,
                    weights: &weights[0],
                    x: &mut blocks[..slow],
                    carry,
                });
            },
        );
        let error = parts.iter().fold(0.0, |greatest: f64, part| {
            let lanes: &[f64] = bytemuck::cast_slice(std::slice::from_ref(&part.error));
            // A value that is not a number must not pass for a small error.
            lanes.iter().fold(greatest, |greatest, &lane| {
                if lane > greatest || lane.is_nan() {
                    lane
                } else {
                    greatest
                }
            })
        });
        (self.parts, self.points) = (parts, points);
        error
    }

    /// The number of the first block, the blocks, their weights and the carries of each part.
    fn ranges<'a>(
        &'a self,
        mut points: &'a mut [Pair<M::V>],
        parts: &'a mut [Part<M::V>],
    ) -> Vec<Range<'a, M::V>> {
        let (mut weights, mut next) = (&self.column_weights[..], 0);
        let range = |part: &'a mut Part<M::V>| {
            let first = next;
            next += part.blocks;
            let blocks;
            (blocks, points) =
                std::mem::take(&mut points).split_at_mut(part.blocks * self.length.slow);
            let these;
            (these, weights) = weights.split_at(part.blocks);
            (first, blocks, these, part)
        };
        parts.iter_mut().map(range).collect()
    }
}

type Range<'a, V> = (
    usize,
    &'a mut [Pair<V>],
    &'a [ColumnWeights<V>],
    &'a mut Part<V>,
);

impl<M: Machine> Transform for Words<M> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn set(&mut self, digits: &mut dyn Iterator<Item = i64>) {
        let mut points = std::mem::take(&mut self.points);
        let doubles = Pair::<M::V>::doubles(&mut points);
        for (j, digit) in digits.enumerate() {
            let (point, within) = self.place(j);
            doubles[point * 4 * M::LANES + within] = digit as f64;
        }
        let (m, slow) = (self.m, self.length.slow);
        let carry = &vec![m.splat(0.0); slow][..];
        let columns = self.columns();
        for (x, weights) in points.chunks_exact_mut(slow).zip(&self.column_weights) {
            m.enter(Finish {
                columns,
                weights,
                x,
                carry,
            });
        }
        self.points = points;
    }

    fn digits(&self) -> Vec<i64> {
        let mut points = self.points.clone();
        let (m, slow) = (self.m, self.length.slow);
        let columns = self.columns();
        for (x, weights) in points.chunks_exact_mut(slow).zip(&self.column_weights) {
            m.enter(Read {
                columns,
                weights,
                x,
                scale: 4.0 * self.length.fast as f64 / self.layout.modulus.k as f64,
            });
        }
        let doubles = Pair::<M::V>::doubles(&mut points);
        let digit = |j| {
            let (point, within) = self.place(j);
            doubles[point * 4 * M::LANES + within] as i64
        };
        (0..self.length.words()).map(digit).collect()
    }

    fn square(&mut self, by: u32, minus: u32, bit: u32) -> f64 {
        let m = self.m;
        together(self.parts.len(), || {
            self.pass_over_rows(|_, rows| m.enter(rows));
            self.carry_columns(by, minus, bit)
        })
    }

    fn keep(&mut self) -> Factor {
        let m = self.m;
        let groups: Vec<Mutex<Vec<Pair<M::V>>>> =
            self.groups.iter().map(|_| Mutex::default()).collect();
        self.pass_over_rows(|i, rows| {
            let mut points = vec![bytemuck::Zeroable::zeroed(); rows.scratch.len()];
            let keep = &mut points;
            m.enter(Keep { rows, points: keep });
            *groups[i].lock().unwrap_or_else(PoisonError::into_inner) = points;
        });
        let points = |group: Mutex<_>| group.into_inner().unwrap_or_else(PoisonError::into_inner);
        Factor(Box::new(Kept {
            modulus: self.layout.modulus,
            length: self.length,
            groups: groups.into_iter().map(points).collect(),
        }))
    }

    fn multiply(&mut self, factor: &Factor, less: Option<&Factor>, minus: u32) -> f64 {
        let (factor, less) = (self.kept(factor), less.map(|less| self.kept(less)));
        let m = self.m;
        together(self.parts.len(), || {
            self.pass_over_rows(|i, rows| {
                m.enter(Multiply {
                    rows,
                    factor: &factor[i],
                    less: less.map(|less| &less[i][..]),
                });
            });
            self.carry_columns(1, minus, 0)
        })
    }

    fn product(&mut self, operands: [Operand<&Factor>; 2]) -> f64 {
        let operands = operands.map(|side| side.map(|factor| self.kept(factor)));
        let m = self.m;
        together(self.parts.len(), || {
            self.pass_over_rows(|i, rows| {
                let operands = operands.map(|side| side.map(|groups| &groups[i][..]));
                m.enter(Product { rows, operands });
            });
            self.carry_columns(1, 0, 0)
        })
    }

    fn length(&self) -> Length {
        self.length
    }
}
