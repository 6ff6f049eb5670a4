//! Squares modulo `2^p - 1` and modulo other `k b^n + c` by the irrational-base discrete weighted transform
//! [Crandall and Fagin 1994], [Thall 2011], in the three launches of [`bigint_core::weighted`].
//!
//! **Who holds what.** A block has two transforms of `m` points in shared memory, one behind
//! the other: a row of frequencies and its mirror, or two columns. Each step of radix 8 has
//! `m / 4` butterflies, which threads share, between two barriers.
//!
//! **Preconditions**: `m` is `2^a` with `a` at least 3, or, for columns, 3, 5 or 7 times that;
//! digits have at most 25 bits. **Cost**: three passes over memory; 15 operations for each word
//! for weights and carries, and about five more for every doubling of `n`. **Scratch**: the
//! block's shared memory, [`bigint_core::weighted::shared_bytes`].

mod few;
pub mod long;

use crate::gpu::block::Team;
use crate::gpu::float::{Pairs, Roots, multiply_add};
use crate::gpu::stretch::Stretch;
use crate::gpu::thread;
use crate::transform::complex::{Complex, complex, multiply_mirrored, square_mirrored};
use bigint_core::weighted::{
    Around, NEAR, THREADS, WeightedArguments, first_bits, frequency, kept_place, padded, place,
};
use few::butterfly;

/// A launch's arguments, and the block's threads.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    team: Team<THREADS>,
    arguments: &'a WeightedArguments,
    x: Stretch,
}

/// Repeats a block for `u` from 0 to 7, written out. A loop would not be unrolled, and arrays
/// indexed by `u` would be in memory.
macro_rules! eight {
    ($u:ident => $body:block) => {
        four!($u => $body);
        copies!($u => $body, 4 5 6 7);
    };
}

macro_rules! four {
    ($u:ident => $body:block) => {
        copies!($u => $body, 0 1 2 3);
    };
}

macro_rules! copies {
    ($u:ident => $body:block, $($value:literal)*) => {$({
        let $u: usize = $value;
        $body
    })*};
}
pub(super) use copies;
use four;

/// The points that a thread has on their way from device memory at a time.
const AT_ONCE: usize = 8;

/// The number `3 2^51`. Adding and subtracting it rounds doubles below 2^51 to integers.
const ROUND: f64 = 6755399441055744.0;

impl<'a> Block<'a> {
    /// The calling thread's block.
    ///
    /// # Safety
    /// `arguments` are those of a launch that [`bigint_core::weighted`] describes, with the
    /// memory that it states, and the blocks and shared memory of the kernel that calls this
    /// once. No two blocks of the kernel have the same points.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a WeightedArguments) -> Self {
        // SAFETY: by this function's own contract.
        let team = unsafe { Team::new() };
        Block {
            team,
            arguments,
            x: Stretch::new(team, 0),
        }
    }

    /// Multiplies a row and its mirror by twiddles, transforms them, squares, and goes the same
    /// way back.
    #[inline(always)]
    pub fn rows(self) {
        let pair = self.load();
        self.each_frequency(pair, |i, other, y| {
            let [z, w] = self.mirrored(i, other);
            square_mirrored(z, w, y)
        });
        self.store(pair);
    }

    /// The same with a product in place of the square: by the factor, or by what it is above another.
    #[inline(always)]
    pub fn multiply(self) {
        let WeightedArguments {
            fast, factor, less, ..
        } = *self.arguments;
        let [of_factor, of_less] = [factor, less].map(|address| self.pairs(address));
        let pair = self.load();
        self.each_frequency(pair, |i, other, y| {
            let at = kept_place(pair.rows[0].1, i, fast);
            let mut by = [0, 1].map(|side| complex(of_factor.pair(at + side)));
            if less != 0 {
                let less = [0, 1].map(|side| complex(of_less.pair(at + side)));
                by = [by[0].minus(less[0]), by[1].minus(less[1])];
            }
            multiply_mirrored(self.mirrored(i, other), by, y)
        });
        self.store(pair);
    }

    /// The product of two factors, or of sums or differences of factors, in place of the points: it is transformed
    /// back as [`rows`](Self::rows) does.
    #[inline(always)]
    pub fn product(self) {
        let WeightedArguments {
            fast,
            factor,
            less,
            other,
            signs,
            ..
        } = *self.arguments;
        let pair = self.row_pair();
        let side = |[first, second]: [u64; 2], sign: f64, at: u32| {
            let [of_first, of_second] = [first, second].map(|address| self.pairs(address));
            [0, 1].map(|side| {
                let x = complex(of_first.pair(at + side));
                if second == 0 {
                    return x;
                }
                let y = complex(of_second.pair(at + side));
                Complex::new(
                    multiply_add(sign, y.re, x.re),
                    multiply_add(sign, y.im, x.im),
                )
            })
        };
        self.each_frequency(pair, |i, _, y| {
            let at = kept_place(pair.rows[0].1, i, fast);
            let [left, right] = [
                side(other, signs[0], at),
                side([factor, less], signs[1], at),
            ];
            multiply_mirrored(left, right, y)
        });
        self.store(pair);
    }

    /// Transforms a row and its mirror as [`rows`](Self::rows) does, and writes them as a factor. The points
    /// stay.
    #[inline(always)]
    pub fn keep(self) {
        let WeightedArguments { fast, factor, .. } = *self.arguments;
        let kept = self.pairs(factor);
        let pair = self.load();
        let mut i = self.team.thread();
        while i < fast {
            let [z, w] = self.mirrored(i, self.mirror(pair, frequency(i, fast.trailing_zeros())));
            let at = kept_place(pair.rows[0].1, i, fast);
            kept.set_pair(at, [z.re, z.im]);
            kept.set_pair(at + 1, [w.re, w.im]);
            i += THREADS;
        }
    }

    /// The block's row and its mirror.
    #[inline(always)]
    fn row_pair(self) -> RowPair {
        let WeightedArguments { slow, fast, .. } = *self.arguments;
        let log_fast = fast.trailing_zeros();
        let k = thread::block_index();
        let half = u32::from(self.arguments.is_negacyclic());
        let is_zero = k + half == 0;
        let mirror = if is_zero { 0 } else { slow - half - k };
        let of = |s: u32| (place(s, slow) << log_fast, s);
        RowPair {
            rows: [of(k), of(mirror)],
            is_zero,
        }
    }

    /// Brings the block's row and its mirror to shared memory, with twiddles, and transforms them.
    #[inline(always)]
    fn load(self) -> RowPair {
        let WeightedArguments { fast, .. } = *self.arguments;
        let log_fast = fast.trailing_zeros();
        let pair = self.row_pair();
        let points = self.pairs(self.arguments.points);
        let mut i = self.team.thread();
        while i < 2 * fast {
            let mut z = [Complex::ZERO; AT_ONCE];
            let mut k_of = [0; AT_ONCE];
            eight!(u => {
                let i = (i + u as u32 * THREADS).min(2 * fast - 1);
                let ((row, s), c) = (pair.row(i >> log_fast), i & (fast - 1));
                z[u] = complex(points.pair(row + c));
                k_of[u] = c * self.times(s);
            });
            eight!(u => {
                let place = i + u as u32 * THREADS;
                if place < 2 * fast {
                    self.set(place, z[u].times(self.twiddle(k_of[u])));
                }
            });
            i += AT_ONCE as u32 * THREADS;
        }
        self.team.sync();
        self.transform::<false>(fast, self.arguments.fast_roots);
        pair
    }

    /// Goes the same way back as [`load`](Self::load) came.
    #[inline(always)]
    fn store(self, pair: RowPair) {
        let WeightedArguments { fast, .. } = *self.arguments;
        let log_fast = fast.trailing_zeros();
        let points = self.pairs(self.arguments.points);
        self.transform::<true>(fast, self.arguments.fast_roots);
        // A row that is its own mirror is written once.
        let [(row, _), (mirror, _)] = pair.rows;
        let end = if mirror == row { fast } else { 2 * fast };
        let mut i = self.team.thread();
        while i < end {
            let ((row, s), c) = (pair.row(i >> log_fast), i & (fast - 1));
            let z = self
                .get(i)
                .times(self.twiddle(c * self.times(s)).conjugate());
            points.set_pair(row + c, [z.re, z.im]);
            i += THREADS;
        }
    }

    /// A row's frequency, in what the near and far roots count: frequencies are half-odd in a negacyclic
    /// transform, and twice them, `2 s + 1`, counts roots of twice the order.
    #[inline(always)]
    fn times(self, s: u32) -> u32 {
        let half = u32::from(self.arguments.is_negacyclic());
        (s << half) + half
    }

    /// The point at a place of the row, and the conjugate of the point at its mirror.
    #[inline(always)]
    fn mirrored(self, i: u32, other: u32) -> [Complex; 2] {
        [self.get(i), self.get(other).conjugate()]
    }

    /// Replaces the point at each place `i` of the row, and the conjugate of the point at its mirror, by what
    /// `f` makes of their places and of the root `y` of [`square_mirrored`]. It ends with a barrier.
    #[inline(always)]
    fn each_frequency(self, pair: RowPair, f: impl Fn(u32, u32, Complex) -> (Complex, Complex)) {
        let WeightedArguments { fast, .. } = *self.arguments;
        let log_fast = fast.trailing_zeros();
        let fast_roots = self.roots(self.arguments.fast_roots);
        let first = self.twiddle(self.times(pair.rows[0].1));
        let mut i = self.team.thread();
        while i < fast {
            let c = frequency(i, log_fast);
            let other = self.mirror(pair, c);
            let y = first.times(complex(fast_roots.at(c)));
            let (z, w) = f(i, other, y);
            self.set(i, z);
            self.set(other, w.conjugate());
            i += THREADS;
        }
        self.team.sync();
    }

    /// The place of the mirror of the row's frequency `c`.
    #[inline(always)]
    fn mirror(self, pair: RowPair, c: u32) -> u32 {
        let WeightedArguments { fast, .. } = *self.arguments;
        // Row 0 of a cyclic transform is its own mirror by c -> -c, every other row by c -> -1 - c.
        let other = if pair.is_zero { fast - c } else { fast - 1 - c };
        fast + place(other & (fast - 1), fast)
    }

    /// Transforms two columns back to points, and splits their words into digits and a carry
    /// for each row.
    #[inline(always)]
    pub fn back(self) {
        let WeightedArguments {
            slow,
            fast,
            scale,
            by,
            ..
        } = *self.arguments;
        let log_fast = fast.trailing_zeros();
        let block = thread::block_index();
        let points = self.pairs(self.arguments.points);
        let mut i = self.team.thread();
        while i < 2 * slow {
            let mut z = [Complex::ZERO; AT_ONCE];
            eight!(u => {
                let i = (i + u as u32 * THREADS).min(2 * slow - 1);
                z[u] = complex(points.pair((i >> 1 << log_fast) + 2 * block + (i & 1)));
            });
            eight!(u => {
                let i = i + u as u32 * THREADS;
                if i < 2 * slow {
                    self.set((i & 1) * slow + (i >> 1), z[u]);
                }
            });
            i += AT_ONCE as u32 * THREADS;
        }
        self.team.sync();
        self.transform::<true>(slow, self.arguments.slow_roots);
        let (digits, carries) = (
            self.pairs(self.arguments.digits),
            self.pairs(self.arguments.carries),
        );
        let mut error = 0.0;
        let mut s = self.team.thread();
        while s < slow {
            let (mut carry, mut side) = (0.0, 0);
            while side < 2 {
                let z = self.get(side * slow + s);
                let z = match self.twist(s) {
                    Some(twist) => z.times(twist.conjugate()),
                    None => z,
                };
                let mut digit = [z.re, z.im];
                let mut part = 0;
                while part < 2 {
                    let word = self.word(s, 4 * block + 2 * side + part as u32);
                    let exact = digit[part] * (word.inverse * scale);
                    let whole = round(exact);
                    let distance = exact - whole;
                    let distance = if distance < 0.0 { -distance } else { distance };
                    // If the distance is not a number, the comparison fails, and it becomes the
                    // error.
                    error = if distance <= error { error } else { distance };
                    (digit[part], carry) = word.split(multiply_add(whole, by, carry));
                    part += 1;
                }
                digits.set_pair((s << log_fast) + 2 * block + side, digit);
                side += 1;
            }
            carries.set_double((s << (log_fast - 1)) + block, carry);
            s += THREADS;
        }
        let errors = self.pairs(self.arguments.errors);
        let mine = block * THREADS + self.team.thread();
        let before = errors.double(mine);
        if !(error <= before) {
            errors.set_double(mine, error);
        }
    }

    /// Adds the carries of other blocks to the digits of two columns, applies the weights, and
    /// transforms to frequencies.
    #[inline(always)]
    pub fn forth(self) {
        let WeightedArguments { slow, fast, .. } = *self.arguments;
        let log_fast = fast.trailing_zeros();
        let block = thread::block_index();
        let (digits, carries) = (
            self.pairs(self.arguments.digits),
            self.pairs(self.arguments.carries),
        );
        let WeightedArguments {
            group, minus, more, ..
        } = *self.arguments;
        // The first block and another one have what goes around.
        let [low, high] = if block == 0 || block == group & (fast / 2 - 1) {
            let carry = carries.double((slow << (log_fast - 1)) - 1);
            let [low, high] = around(self.arguments.around, carry, minus);
            [low, high + more]
        } else {
            [0.0; 2]
        };
        let mut s = self.team.thread();
        while s < slow {
            let mut rows = [([[0.0; 2]; 2], 0.0); AT_ONCE / 2];
            four!(u => {
                let s = (s + u as u32 * THREADS).min(slow - 1);
                let (mine, at) = ((s << (log_fast - 1)) + block, (s << log_fast) + 2 * block);
                rows[u] = (
                    [digits.pair(at), digits.pair(at + 1)],
                    if mine == 0 { low } else { carries.double(mine - 1) },
                );
            });
            four!(u => {
                let s = s + u as u32 * THREADS;
                if (s << (log_fast - 1)) + block == group {
                    rows[u].0 = self.with_high(rows[u].0, high);
                }
                if s < slow {
                    self.weigh(s, 4 * block, slow, rows[u]);
                }
            });
            s += AT_ONCE as u32 / 2 * THREADS;
        }
        self.team.sync();
        self.transform::<false>(slow, self.arguments.slow_roots);
        let points = self.pairs(self.arguments.points);
        let mut i = self.team.thread();
        while i < 2 * slow {
            let (s, side) = (i >> 1, i & 1);
            let z = self.get(side * slow + s);
            points.set_pair((s << log_fast) + 2 * block + side, [z.re, z.im]);
            i += THREADS;
        }
    }

    /// Four words with `high` added to one of them.
    #[inline(always)]
    fn with_high(self, mut digits: [[f64; 2]; 2], high: f64) -> [[f64; 2]; 2] {
        let word = self.arguments.word;
        four!(i => {
            if word == i as u32 {
                digits[i / 2][i % 2] += high;
            }
        });
        digits
    }

    /// The factor of the points of a row in a negacyclic transform.
    #[inline(always)]
    fn twist(self, row: u32) -> Option<Complex> {
        let twists = self.roots(self.arguments.twists);
        let is_negacyclic = self.arguments.is_negacyclic();
        is_negacyclic.then(|| complex(twists.at(row)))
    }

    /// Adds the carry to the four words of row `s` from `column` on, applies the weights, and
    /// stores them in shared memory.
    #[inline(always)]
    fn weigh(self, s: u32, column: u32, slow: u32, (digits, carry): ([[f64; 2]; 2], f64)) {
        let (mut carry, mut side) = (carry, 0);
        while side < 2 {
            let mut digit = digits[side];
            let mut part = 0;
            while part < 2 {
                let word = self.word(s, column + 2 * side as u32 + part as u32);
                let sum = digit[part] + carry;
                // The last word takes the carry that is left, which is at most 1 in size.
                let is_last = side + part == 2;
                let (low, out) = word.split(sum);
                carry = out;
                digit[part] = word.weight * if is_last { sum } else { low };
                part += 1;
            }
            let z = complex(digit);
            let z = match self.twist(s) {
                Some(twist) => z.times(twist),
                None => z,
            };
            self.set(side as u32 * slow + s, z);
            side += 1;
        }
    }

    /// Makes both transforms of `n` points. It ends with a barrier.
    #[inline(always)]
    fn transform<const INVERSE: bool>(self, n: u32, roots: u64) {
        let roots = self.roots(roots);
        let log = n.trailing_zeros();
        let (odd, first) = (n >> log, first_bits(log));
        if !INVERSE {
            self.odd_step::<false>(n, odd, roots);
        }
        // The first step has length `log`; the others have the length that it leaves, less
        // three each.
        if INVERSE {
            let mut length = 3;
            while length <= log - first {
                self.step::<8, true>(n, length, roots);
                length += 3;
            }
        }
        match first {
            1 => self.step::<2, INVERSE>(n, log, roots),
            2 => self.step::<4, INVERSE>(n, log, roots),
            _ => self.step::<8, INVERSE>(n, log, roots),
        }
        if !INVERSE {
            let mut length = log - first;
            while length > 0 {
                self.step::<8, false>(n, length, roots);
                length -= 3;
            }
        }
        if INVERSE {
            self.odd_step::<true>(n, odd, roots);
        }
    }

    #[inline(always)]
    fn odd_step<const INVERSE: bool>(self, n: u32, odd: u32, roots: Roots) {
        match odd {
            3 => self.butterflies::<3, INVERSE>(n, n, n.trailing_zeros(), roots),
            5 => self.butterflies::<5, INVERSE>(n, n, n.trailing_zeros(), roots),
            7 => self.butterflies::<7, INVERSE>(n, n, n.trailing_zeros(), roots),
            _ => {}
        }
    }

    /// Butterflies of `R` points on stretches of `2^length` points.
    #[inline(always)]
    fn step<const R: usize, const INVERSE: bool>(self, n: u32, length: u32, roots: Roots) {
        self.butterflies::<R, INVERSE>(n, 1 << length, length - R.ilog2(), roots);
    }

    /// Butterflies of `R` points that are `2^apart` apart, on stretches of `length` points. The
    /// inverse exchanges real and imaginary parts before and after.
    #[inline(always)]
    fn butterflies<const R: usize, const INVERSE: bool>(
        self,
        n: u32,
        length: u32,
        apart: u32,
        roots: Roots,
    ) {
        // The number of stretches, and the distance in the table from one root of a stretch to
        // the next.
        let (stretches, stride) = match R {
            3 | 5 | 7 => (2, 1),
            _ => {
                let log = length.trailing_zeros();
                (2 * n >> log, n >> log)
            }
        };
        let mut t = self.team.thread();
        while t < stretches << apart {
            let j = t & ((1 << apart) - 1);
            let base = (t >> apart) * length + j;
            let w = powers::<R>(roots, j * stride);
            let mut z = [Complex::ZERO; R];
            eight!(q => {
                if q < R {
                    z[q] = self.get(base + ((q as u32) << apart));
                    if INVERSE {
                        z[q] = z[q].swapped();
                        if q > 0 {
                            z[q] = z[q].times(w[q]);
                        }
                    }
                }
            });
            butterfly(&mut z);
            eight!(q => {
                if q < R {
                    if INVERSE {
                        z[q] = z[q].swapped();
                    } else if q > 0 {
                        z[q] = z[q].times(w[q]);
                    }
                    self.set(base + ((q as u32) << apart), z[q]);
                }
            });
            t += THREADS;
        }
        self.team.sync();
    }

    #[inline(always)]
    fn get(self, i: u32) -> Complex {
        complex(self.x.pair(padded(i)))
    }

    #[inline(always)]
    fn set(self, i: u32, z: Complex) {
        self.x.set_pair(padded(i), [z.re, z.im]);
    }

    /// The twiddle `exp(-2 pi i k / m)`, with the `m` of [`WeightedArguments::near_roots`].
    #[inline(always)]
    fn twiddle(self, k: u32) -> Complex {
        let near = self.roots(self.arguments.near_roots).at(k % NEAR);
        let far = self.roots(self.arguments.far_roots).at(k / NEAR);
        complex(near).times(complex(far))
    }

    /// The weight, its inverse and the base of word `column` of a row.
    #[inline(always)]
    fn word(self, row: u32, column: u32) -> Word {
        let WeightedArguments {
            unit,
            long,
            base: [b, b_inverse],
            short: [power, power_inverse],
            ..
        } = *self.arguments;
        let (rows, columns) = (
            self.roots(self.arguments.row_weights),
            self.roots(self.arguments.column_weights),
        );
        let ([row_weight, row_inverse], [row_g, _]) = (rows.at(2 * row), rows.at(2 * row + 1));
        let ([weight, inverse], [g, _]) = (columns.at(2 * column), columns.at(2 * column + 1));
        let sum = row_g + g;
        let wraps = sum >= unit;
        let g = if wraps { sum - unit } else { sum };
        let is_long = g < long;
        Word {
            weight: row_weight * weight * if wraps { b_inverse } else { 1.0 },
            inverse: row_inverse * inverse * if wraps { b } else { 1.0 },
            base: power * if is_long { b } else { 1.0 },
            base_inverse: power_inverse * if is_long { b_inverse } else { 1.0 },
        }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn roots(self, address: u64) -> Roots {
        // SAFETY: `new`'s caller vouches for the tables.
        unsafe { Roots::new(address) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn pairs(self, address: u64) -> Pairs {
        // SAFETY: `new`'s caller vouches for the memory, and that blocks do not meet in it.
        unsafe { Pairs::new(address) }
    }
}

/// A row and its mirror, which a block has.
#[derive(Clone, Copy)]
struct RowPair {
    /// Where each begins, and its frequency.
    rows: [(u32, u32); 2],
    /// Whether the row is its own mirror by `c -> -c`.
    is_zero: bool,
}

impl RowPair {
    #[inline(always)]
    fn row(self, side: u32) -> (u32, u32) {
        if side == 0 {
            self.rows[0]
        } else {
            self.rows[1]
        }
    }
}

struct Word {
    weight: f64,
    inverse: f64,
    base: f64,
    base_inverse: f64,
}

impl Word {
    /// Splits `x` into a digit, which may be negative, and a carry.
    #[inline(always)]
    fn split(&self, x: f64) -> (f64, f64) {
        let carry = round(x * self.base_inverse);
        (multiply_add(-carry, self.base, x), carry)
    }
}

/// What a carry out of the last word, and `-minus / k`, which is `c minus b^n`, add to the first word and to
/// another. Everything is exact: the host has taken care that no product reaches 2^51.
#[inline(always)]
fn around(around: Around, carry: f64, minus: f64) -> [f64; 2] {
    let Around {
        k: [k, inverse],
        over,
        c,
        power,
    } = around;
    let q = round(carry * inverse);
    let above = multiply_add(multiply_add(-q, k, carry), over, c * minus);
    let more = round(above * inverse);
    [
        -c * multiply_add(q, over, more),
        multiply_add(-more, k, above) * power,
    ]
}

#[inline(always)]
fn round(x: f64) -> f64 {
    (x + ROUND) - ROUND
}

/// The powers of root `k` of the table. Those with an exponent that is a power of two are in
/// the table; the others take one product or two.
#[inline(always)]
fn powers<const R: usize>(roots: Roots, k: u32) -> [Complex; R] {
    let mut w = [Complex::new(1.0, 0.0); R];
    eight!(q => {
        if q > 0 && q < R {
        w[q] = match q {
            1 | 2 | 4 => complex(roots.at(q as u32 * k)),
            3 => w[1].times(w[2]),
            5 => w[1].times(w[4]),
            6 => w[2].times(w[4]),
            _ => w[3].times(w[4]),
        };
        }
    });
    w
}
