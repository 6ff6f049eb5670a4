//! Complex Fourier transforms of any length `2^a 3^b 5^c 7^d`. As many transforms are computed at a
//! time as two vectors have lanes.
//!
//! **Maths.** The transform decimates in frequency. With `n = r m`, `j = j1 + m j2` and
//! `k = q + r k1`,
//!
//! ```text
//! X[q + r k1] = sum over j1 of w_m^(j1 k1) w_n^(j1 q) (sum over j2 of w_r^(j2 q) x[j1 + m j2])
//! ```
//!
//! with `w_n = exp(-2 pi i / n)`. So a step is butterflies of `r` points, twiddles, and `r`
//! transforms of `m` points at the places of the columns. Nothing is permuted: position `q m + i`
//! holds frequency `q + r f(i)` ([`Plan::order`]). The inverse goes backwards through the same
//! steps and multiplies by the conjugates. The same code does so if real and imaginary parts are
//! exchanged before and after, because `swap(z) = i conj(z)`, so `swap(z conj(w)) = swap(z) w`. The
//! inverse leaves a factor `n`.
//!
//! An example is `n = 4 = 2 2`: positions 0, 1, 2, 3 hold frequencies 0, 2, 1, 3.
//!
//! **Cost**: `O(n log n)`, 4 operations a point for each doubling with the radices 4 and 8. The
//! transform is in place, with a table of `n` twiddles for each step.

use std::f64::consts::FRAC_1_SQRT_2;

use bytemuck::{Pod, Zeroable};

use super::machine::{Job, Machine};

/// Two vectors of complex numbers: the same point of as many transforms as these have lanes.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Pair<V> {
    pub(super) re: [V; 2],
    pub(super) im: [V; 2],
}

// SAFETY: the fields are four values of one type without padding. So any bytes are a value if any
// are one of `V`, and zeros are a value if they are one of `V`.
#[allow(unsafe_code)]
unsafe impl<V: Zeroable> Zeroable for Pair<V> {}
// SAFETY: as above. The struct is `repr(C)` with fields of one type, so it has no padding.
#[allow(unsafe_code)]
unsafe impl<V: Pod> Pod for Pair<V> {}

impl<V: Pod> Pair<V> {
    /// The points as doubles. Both real parts of a pair precede both imaginary parts.
    pub(super) fn doubles(points: &mut [Self]) -> &mut [f64] {
        bytemuck::cast_slice_mut(points)
    }
}

/// The points whose transform is finished in one go, as they stay in the first-level cache.
const NEAR: usize = 128;

/// The number `exp(-2 pi i k / n)` as its real and its imaginary part.
pub fn root(k: u64, n: u64) -> [f64; 2] {
    // Only angles up to an eighth of a turn are computed, so that the errors are those of sine and
    // cosine near zero.
    let octants = 8 * (k % n);
    let octant = octants / n;
    let rest = (octants % n) as f64 / n as f64 * std::f64::consts::FRAC_PI_4;
    let back = (n - octants % n) as f64 / n as f64 * std::f64::consts::FRAC_PI_4;
    let (cos, sin) = match octant {
        0 => (rest.cos(), rest.sin()),
        1 => (back.sin(), back.cos()),
        2 => (-rest.sin(), rest.cos()),
        3 => (-back.cos(), back.sin()),
        4 => (-rest.cos(), -rest.sin()),
        5 => (-back.sin(), -back.cos()),
        6 => (rest.sin(), -rest.cos()),
        _ => (back.cos(), -back.sin()),
    };
    [cos, -sin]
}

/// One pass: butterflies of `radix` points on stretches of `length` points.
struct Pass {
    radix: usize,
    length: usize,
    /// The twiddles, `radix` for each of `length / radix` columns. The first of each column is 1.
    twiddles: Vec<[f64; 2]>,
    /// The powers of `exp(-2 pi i / radix)`.
    roots: Vec<[f64; 2]>,
}

/// The passes of a transform, and the order of its result.
pub(super) struct Plan {
    steps: Vec<Pass>,
    /// The frequency that each position holds in the end.
    pub(super) order: Vec<u32>,
}

impl Plan {
    /// The passes for `n` points. The prime factors of `n` are 2, 3, 5 and 7.
    pub(super) fn new(n: usize) -> Self {
        let mut steps = Vec::new();
        let mut length = n;
        for radix in radices(n) {
            let columns = length / radix;
            let twiddles = (0..columns * radix)
                .map(|i| root((i / radix * (i % radix)) as u64, length as u64))
                .collect();
            steps.push(Pass {
                radix,
                length,
                twiddles,
                roots: (0..radix).map(|k| root(k as u64, radix as u64)).collect(),
            });
            length = columns;
        }
        debug_assert_eq!(length, 1);
        let mut order = vec![0];
        for step in steps.iter().rev() {
            let radix = step.radix as u32;
            order = (0..radix)
                .flat_map(|q| order.iter().map(move |f| q + radix * f))
                .collect();
        }
        Plan { steps, order }
    }

    /// The position of each frequency.
    pub(super) fn positions(&self) -> Vec<u32> {
        let mut positions = vec![0; self.order.len()];
        for (position, &k) in self.order.iter().enumerate() {
            positions[k as usize] = position as u32;
        }
        positions
    }

    /// Transforms points into frequencies.
    pub(super) fn forward<M: Machine>(&self, m: M, x: &mut [Pair<M::V>]) {
        m.enter(Forward { plan: self, x });
    }

    /// Transforms frequencies into points, multiplied by the number of points.
    pub(super) fn inverse<M: Machine>(&self, m: M, x: &mut [Pair<M::V>]) {
        m.enter(Inverse { plan: self, x });
    }

    fn first_near(&self) -> usize {
        let near = self.steps.iter().position(|step| step.length <= NEAR);
        near.unwrap_or(self.steps.len())
    }
}

/// A transform as one job, so that it is compiled once for each machine and not for each caller.
struct Forward<'a, V> {
    plan: &'a Plan,
    x: &'a mut [Pair<V>],
}

impl<M: Machine> Job<M> for Forward<'_, M::V> {
    type Output = ();

    #[inline(always)]
    fn run(self, m: M) {
        let Plan { steps, .. } = self.plan;
        let (far, near) = steps.split_at(self.plan.first_near());
        for steps in [far, near] {
            let length = steps.first().map_or(1, |step| step.length);
            for x in self.x.chunks_exact_mut(length) {
                for step in steps {
                    step.run::<M, false>(m, x);
                }
            }
        }
    }
}

struct Inverse<'a, V> {
    plan: &'a Plan,
    x: &'a mut [Pair<V>],
}

impl<M: Machine> Job<M> for Inverse<'_, M::V> {
    type Output = ();

    #[inline(always)]
    fn run(self, m: M) {
        let Plan { steps, .. } = self.plan;
        let (far, near) = steps.split_at(self.plan.first_near());
        for steps in [near, far] {
            let length = steps.first().map_or(1, |step| step.length);
            for x in self.x.chunks_exact_mut(length) {
                for step in steps.iter().rev() {
                    step.run::<M, true>(m, x);
                }
            }
        }
    }
}

/// The radices of the passes. The odd ones come first, so that points within the near cache are
/// done by eights.
fn radices(mut n: usize) -> Vec<usize> {
    let mut radices = Vec::new();
    for prime in [7, 5, 3] {
        while n.is_multiple_of(prime) {
            radices.push(prime);
            n /= prime;
        }
    }
    assert!(n.is_power_of_two(), "prime factors 2, 3, 5 and 7 only");
    match n.ilog2() % 3 {
        1 if n >= 16 => {
            radices.extend([4, 4]);
            n /= 16;
        }
        1 => {
            radices.push(2);
            n /= 2;
        }
        2 => {
            radices.push(4);
            n /= 4;
        }
        _ => {}
    }
    radices.extend(std::iter::repeat_n(8, n.ilog2() as usize / 3));
    radices
}

type Complex<V> = [V; 2];

#[inline(always)]
pub(super) fn product<M: Machine>(m: M, a: Complex<M::V>, b: Complex<M::V>) -> Complex<M::V> {
    [
        m.neg_mul_add(a[1], b[1], m.mul(a[0], b[0])),
        m.mul_add(a[1], b[0], m.mul(a[0], b[1])),
    ]
}

#[inline(always)]
fn sum<M: Machine>(m: M, a: Complex<M::V>, b: Complex<M::V>) -> Complex<M::V> {
    [m.add(a[0], b[0]), m.add(a[1], b[1])]
}

#[inline(always)]
fn difference<M: Machine>(m: M, a: Complex<M::V>, b: Complex<M::V>) -> Complex<M::V> {
    [m.sub(a[0], b[0]), m.sub(a[1], b[1])]
}

impl Pass {
    #[inline(always)]
    fn run<M: Machine, const INVERSE: bool>(&self, m: M, x: &mut [Pair<M::V>]) {
        match (self.radix, self.length == self.radix) {
            (2, false) => self.pass::<M, 2, INVERSE>(m, x),
            (2, true) => self.last::<M, 2, INVERSE>(m, x),
            (3, false) => self.pass::<M, 3, INVERSE>(m, x),
            (3, true) => self.last::<M, 3, INVERSE>(m, x),
            (4, false) => self.pass::<M, 4, INVERSE>(m, x),
            (4, true) => self.last::<M, 4, INVERSE>(m, x),
            (5, false) => self.pass::<M, 5, INVERSE>(m, x),
            (5, true) => self.last::<M, 5, INVERSE>(m, x),
            (7, false) => self.pass::<M, 7, INVERSE>(m, x),
            (7, true) => self.last::<M, 7, INVERSE>(m, x),
            (_, false) => self.pass::<M, 8, INVERSE>(m, x),
            (_, true) => self.last::<M, 8, INVERSE>(m, x),
        }
    }

    // Arithmetic is written in loops that fill arrays, although `array::from_fn` would be shorter,
    // because closures are not compiled for the machine's instructions.

    #[inline(always)]
    fn roots<M: Machine, const R: usize>(&self, m: M) -> [Complex<M::V>; R] {
        let mut roots = [[m.splat(0.0); 2]; R];
        for (splat, [re, im]) in roots.iter_mut().zip(&self.roots) {
            *splat = [m.splat(*re), m.splat(-*im)];
        }
        roots
    }

    #[inline(always)]
    fn pass<M: Machine, const R: usize, const INVERSE: bool>(&self, m: M, x: &mut [Pair<M::V>]) {
        let columns = self.length / R;
        let zero = [m.splat(0.0); 2];
        let roots = self.roots::<M, R>(m);
        for x in x.chunks_exact_mut(self.length) {
            let mut parts = x.chunks_exact_mut(columns);
            let parts: [&mut [Pair<M::V>]; R] =
                std::array::from_fn(|_| parts.next().unwrap_or_default());
            for (j, twiddles) in (0..columns).zip(self.twiddles.as_chunks::<R>().0) {
                for h in 0..2 {
                    let mut z = [zero; R];
                    for q in 0..R {
                        z[q] = parts[q][j].get::<INVERSE>(h);
                        if INVERSE && q > 0 {
                            let [re, im] = twiddles[q];
                            z[q] = product(m, z[q], [m.splat(re), m.splat(im)]);
                        }
                    }
                    butterfly(m, &mut z, &roots);
                    for q in 0..R {
                        if !INVERSE && q > 0 {
                            let [re, im] = twiddles[q];
                            z[q] = product(m, z[q], [m.splat(re), m.splat(im)]);
                        }
                        parts[q][j].put::<INVERSE>(h, z[q]);
                    }
                }
            }
        }
    }

    /// Computes a step whose twiddles are all 1.
    #[inline(always)]
    fn last<M: Machine, const R: usize, const INVERSE: bool>(&self, m: M, x: &mut [Pair<M::V>]) {
        let zero = [m.splat(0.0); 2];
        let roots = self.roots::<M, R>(m);
        for x in x.as_chunks_mut::<R>().0 {
            for h in 0..2 {
                let mut z = [zero; R];
                for q in 0..R {
                    z[q] = x[q].get::<INVERSE>(h);
                }
                butterfly(m, &mut z, &roots);
                for q in 0..R {
                    x[q].put::<INVERSE>(h, z[q]);
                }
            }
        }
    }
}

impl<V: Copy> Pair<V> {
    #[inline(always)]
    fn get<const SWAP: bool>(&self, h: usize) -> Complex<V> {
        if SWAP {
            [self.im[h], self.re[h]]
        } else {
            [self.re[h], self.im[h]]
        }
    }

    #[inline(always)]
    fn put<const SWAP: bool>(&mut self, h: usize, [a, b]: Complex<V>) {
        (self.re[h], self.im[h]) = if SWAP { (b, a) } else { (a, b) };
    }
}

/// Computes the transform of `R` points. `roots` are the cosines and sines of `2 pi k / R`.
#[inline(always)]
fn butterfly<M: Machine, const R: usize>(
    m: M,
    z: &mut [Complex<M::V>; R],
    roots: &[Complex<M::V>; R],
) {
    match R {
        2 => (z[0], z[1]) = (sum(m, z[0], z[1]), difference(m, z[0], z[1])),
        4 => {
            let x = four(m, [z[0], z[1], z[2], z[3]]);
            z.copy_from_slice(&x);
        }
        8 => {
            let e = four(m, [z[0], z[2], z[4], z[6]]);
            let o = four(m, [z[1], z[3], z[5], z[7]]);
            let half = m.splat(FRAC_1_SQRT_2);
            let first = [
                m.mul(m.add(o[1][0], o[1][1]), half),
                m.mul(m.sub(o[1][1], o[1][0]), half),
            ];
            // These are the conjugates of the values that are added for k = 2 and 3.
            let second = [o[2][1], o[2][0]];
            let third = [
                m.mul(m.sub(o[3][1], o[3][0]), half),
                m.mul(m.add(o[3][0], o[3][1]), half),
            ];
            for (k, o) in [(0, o[0]), (1, first)] {
                z[k] = sum(m, e[k], o);
                z[k + 4] = difference(m, e[k], o);
            }
            for (k, o) in [(2, second), (3, third)] {
                z[k] = [m.add(e[k][0], o[0]), m.sub(e[k][1], o[1])];
                z[k + 4] = [m.sub(e[k][0], o[0]), m.add(e[k][1], o[1])];
            }
        }
        _ => {
            // X[k] and X[R - k] are a -+ i b, where a is the sum of the points times cosines, and b
            // the sum of the points times sines.
            let x = *z;
            for j in 1..=R / 2 {
                z[0] = sum(m, z[0], sum(m, x[j], x[R - j]));
            }
            for k in 1..=R / 2 {
                let mut a = x[0];
                let mut b = [m.splat(0.0); 2];
                for j in 1..=R / 2 {
                    let [cos, sin] = roots[j * k % R];
                    let s = sum(m, x[j], x[R - j]);
                    let d = difference(m, x[j], x[R - j]);
                    a = [m.mul_add(s[0], cos, a[0]), m.mul_add(s[1], cos, a[1])];
                    b = [m.mul_add(d[0], sin, b[0]), m.mul_add(d[1], sin, b[1])];
                }
                z[k] = [m.add(a[0], b[1]), m.sub(a[1], b[0])];
                z[R - k] = [m.sub(a[0], b[1]), m.add(a[1], b[0])];
            }
        }
    }
}

#[inline(always)]
fn four<M: Machine>(m: M, z: [Complex<M::V>; 4]) -> [Complex<M::V>; 4] {
    let (a, b) = (sum(m, z[0], z[2]), difference(m, z[0], z[2]));
    let (c, d) = (sum(m, z[1], z[3]), difference(m, z[1], z[3]));
    [
        sum(m, a, c),
        [m.add(b[0], d[1]), m.sub(b[1], d[0])],
        difference(m, a, c),
        [m.sub(b[0], d[1]), m.add(b[1], d[0])],
    ]
}
