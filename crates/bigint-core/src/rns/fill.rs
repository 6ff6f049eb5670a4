//! What depends on the primes alone: the bases, the matrices, and what converts limbs and residues.

use super::{MOST_CHANNELS, PRIME_BITS, RnsPlan, Stages};

/// Two to the 32nd.
const F: u64 = 1 << 32;

fn times(a: u64, b: u64, p: u32) -> u64 {
    a * b % u64::from(p)
}

fn power(a: u64, mut k: u32, p: u32) -> u64 {
    let (mut square, mut result) = (a % u64::from(p), 1);
    while k > 0 {
        if k & 1 == 1 {
            result = times(result, square, p);
        }
        square = times(square, square, p);
        k >>= 1;
    }
    result
}

fn invert(a: u64, p: u32) -> u64 {
    power(a, p - 2, p)
}

/// Whether an odd number below 2^30 is a prime: by the strong test, which 2, 3, 5 and 7 pass together
/// for no other number below 3,215,031,751.
fn is_prime(p: u32) -> bool {
    let (twos, last) = ((p - 1).trailing_zeros(), u64::from(p - 1));
    [2, 3, 5, 7].into_iter().all(|base| {
        let mut x = power(base, (p - 1) >> twos, p);
        (0..twos).any(|i| {
            let passes = x == last || i == 0 && x == 1;
            x = times(x, x, p);
            passes
        })
    })
}

/// Adds nothing and multiplies a number of some limbs by a word; what is above is cut.
fn multiply(limbs: &mut [u32], by: u32) {
    let mut carry = 0;
    for limb in limbs {
        carry += u64::from(*limb) * u64::from(by);
        *limb = carry as u32;
        carry >>= 32;
    }
}

/// The four digits of a number below 127 times 2^24, of which the lower three are balanced.
fn digits(x: u64) -> [u8; 4] {
    // Digits from -128 to 127 are bytes of `x + 128 (1 + 2^8 + 2^16)`, less 128 each.
    let moved = (x + 0x80_8080) as u32;
    (moved ^ 0x80_8080).to_le_bytes()
}

/// The bases: [`RnsPlan::channels`] primes each, in turns, from the greatest down.
type Bases = [[u32; MOST_CHANNELS]; 2];

/// A base, and what is known modulo each of its primes of both bases' products.
struct Base<'a> {
    own: &'a [u32],
    other: &'a [u32],
}

impl Base<'_> {
    /// The product of the base's other primes, modulo its prime `i`.
    fn of_others(&self, i: usize) -> u64 {
        let p = self.own[i];
        let others = self.own.iter().filter(|other| **other != p);
        others.fold(1, |product, other| times(product, u64::from(*other), p))
    }

    /// The product of the other base, modulo prime `i` of this one.
    fn of_other_base(&self, i: usize) -> u64 {
        let p = self.own[i];
        let other = self.other.iter();
        other.fold(1, |product, other| times(product, u64::from(*other), p))
    }
}

impl RnsPlan {
    /// The primes of both bases, the first one's before the second one's.
    pub fn bases(self) -> Bases {
        let mut bases = [[0; MOST_CHANNELS]; 2];
        let odd = (1..1 << (PRIME_BITS - 1)).map(|i| (1 << PRIME_BITS) - (2 * i - 1));
        let primes = odd.filter(|p| is_prime(*p));
        let channels = self.channels() as usize;
        for (i, p) in primes.take(2 * channels).enumerate() {
            bases[(i + self.spare as usize) % 2][i / 2] = p;
        }
        bases
    }

    /// Fills the table, of [`words`](RnsPlan::words) words: for each base and prime `p` a four `p`,
    /// `-1/p mod 2^32`, and what the words of squares of `rho` are multiplied by; for each another
    /// four for conversions, the last of which is the residue of 1; the matrices; and limbs.
    pub fn fill(self, words: &mut [u32]) {
        let bases = self.bases();
        let channels = self.channels() as usize;
        let [first, second] = [&bases[0][..channels], &bases[1][..channels]];
        let to = [
            Base {
                own: first,
                other: second,
            },
            Base {
                own: second,
                other: first,
            },
        ];
        for (b, base) in to.iter().enumerate() {
            for i in 0..=channels {
                let at = 4 * (b * 8 * self.pairs as usize + i);
                let conversion = self.conversions_at() as usize + at;
                let p = base.own[i % channels];
                let (constants, conversions) = match i < channels {
                    true => self.of_prime(base, b == 1, i),
                    false => ([0; 2], [0; 4]),
                };
                let negative = inverse(p).wrapping_neg();
                words[at..][..4].copy_from_slice(&[p, negative, constants[0], constants[1]]);
                words[conversion..][..4].copy_from_slice(&conversions);
            }
        }
        // What goes to the second base comes first.
        let [one, two] = [0, self.matrix()].map(|at| (self.matrices_at() + at) as usize);
        self.fill_matrix(&to[1], false, &mut words[one..][..self.matrix() as usize]);
        self.fill_matrix(&to[0], true, &mut words[two..][..self.matrix() as usize]);
        self.fill_limbs(first, second, words);
    }

    /// The last two of a prime's constants, and what converts to its residues.
    fn of_prime(self, base: &Base<'_>, is_second: bool, i: usize) -> ([u32; 2], [u32; 4]) {
        let p = base.own[i];
        let all = |factors: &[u64]| factors.iter().fold(1, |x, y| times(x, y % u64::from(p), p));
        let own = base.of_others(i);
        let inverse = invert(own, p);
        let up = power(F, self.width, p);
        let word = |x: u64| x as u32;
        if is_second {
            let e = times(own, invert(base.of_other_base(i), p), p);
            return (
                [all(&[e, F]), all(&[e, F, F])].map(word),
                [
                    all(&[up, F, inverse]),
                    all(&[up, F, F, inverse]),
                    all(&[up, F, F, inverse, e]),
                    inverse,
                ]
                .map(word),
            );
        }
        let negative = u64::from(p) - inverse;
        (
            [0; 2],
            [all(&[up, F]), all(&[up, F, F]), all(&[negative, F, F]), 1].map(word),
        )
    }

    /// The matrix from the other base to this one: `1 / p` of each prime `p` there, or its cofactor.
    fn fill_matrix(self, to: &Base<'_>, of_cofactors: bool, words: &mut [u32]) {
        let channels = self.channels() as usize;
        for j in 0..8 * self.pairs as usize {
            let p = to.own[j % channels];
            let all = to.of_other_base(j % channels);
            let p_wide = u64::from(p);
            for i in 0..=channels {
                let x = match (i < channels, of_cofactors) {
                    (true, false) => invert(u64::from(to.other[i]), p),
                    (true, true) => times(all, invert(u64::from(to.other[i]), p), p),
                    (false, of_alpha) => u64::from(of_alpha) * (p_wide - all),
                };
                let entry = |byte: usize| match byte {
                    // Bytes 255, each of which adds half of three times the prime: no sum is below zero.
                    2 | 3 if i == channels => (3 * p_wide - 1) / 2 + byte as u64 - 2,
                    _ => times(x, (1 << (8 * byte)) % p_wide, p),
                };
                let bytes: [[u8; 4]; 4] = core::array::from_fn(|byte| match j < channels {
                    true => digits(entry(byte)),
                    false => [0; 4],
                });
                for digit in 0..4 {
                    let word = core::array::from_fn(|byte| bytes[byte][digit]);
                    words[self.place(i, j, digit)] = u32::from_le_bytes(word);
                }
            }
        }
    }

    /// Where a matrix has the word of prime `i` it comes from, for a digit of prime `j` it goes to: as a lane has it
    /// of `mma.sync`, or in the order of [`Stages`].
    fn place(self, i: usize, j: usize, digit: usize) -> usize {
        let pairs = self.pairs as usize;
        let (s, half, q) = (i / 8, i / 4 % 2, i % 4);
        let (pair, group, g) = (j / 8, j / 4 % 2, 2 * (j % 4) + digit % 2);
        let form = self.form();
        if form.columns == 0 {
            let unit = ((pair * pairs + s) * 2 + group) * 32 + 4 * g + q;
            return 4 * unit + 2 * (digit / 2) + half;
        }
        let stages = Stages::of(form);
        let is_above = |chunk: &u32| stages.first(*chunk) as usize > pair;
        let next = (0..stages.chunks()).find(is_above);
        let chunk = next.unwrap_or(stages.chunks()) - 1;
        let [first, in_chunk] = [stages.first(chunk), stages.pairs_of(chunk)].map(|n| n as usize);
        let eight = ((pair - first) * 2 + group) * 2 + digit / 2;
        256 * (pairs * first + s * in_chunk) + 64 * eight + 32 * half + 4 * g + q
    }

    /// The cofactors of the second base's primes and what takes its product away, and `M^2`.
    fn fill_limbs(self, first: &[u32], second: &[u32], words: &mut [u32]) {
        let each = self.width as usize + 1;
        let weights = &mut words[self.weights_at() as usize..];
        for (j, limbs) in weights
            .chunks_exact_mut(each)
            .take(second.len() + 1)
            .enumerate()
        {
            limbs.fill(0);
            limbs[0] = 1;
            let others = second.iter().enumerate().filter(|(i, _)| *i != j);
            others.for_each(|(_, p)| multiply(limbs, *p));
        }
        let all = &mut weights[second.len() * each..][..each];
        let mut carry = true;
        for limb in all {
            (*limb, carry) = (!*limb).overflowing_add(u32::from(carry));
        }
        let square = &mut words[self.square_at() as usize..][..self.square_limbs() as usize];
        square.fill(0);
        square[0] = 1;
        first.iter().chain(first).for_each(|p| multiply(square, *p));
        words[(self.square_at() + self.square_limbs()) as usize..].fill(0);
    }
}

/// `1/p mod 2^32`, by Newton: each step doubles the bits that are right, and `p p` is 1 modulo 8.
const fn inverse(p: u32) -> u32 {
    let (mut x, mut step) = (p, 0);
    while step < 4 {
        x = x.wrapping_mul(2_u32.wrapping_sub(p.wrapping_mul(x)));
        step += 1;
    }
    x
}
