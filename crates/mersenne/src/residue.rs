//! Residues modulo `2^p - 1`, exactly.

use bigint_cpu::Path;
use bigint_cpu::fast::number;

/// A number below `2^p - 1`, which stands for its class modulo that.
///
/// ```
/// use mersenne::Residue;
/// let three = Residue::from_u64(7, 3); // modulo 127
/// let nine = three.mul(&three);
/// assert_eq!(nine.mul(&nine), Residue::from_u64(7, 81));
/// assert_eq!(nine.mul(&nine).mul(&nine), Residue::from_u64(7, 729 % 127));
/// assert_eq!(nine.divided_by_9(), Residue::from_u64(7, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residue {
    p: u32,
    limbs: Vec<u64>,
}

impl Residue {
    /// `x` modulo `2^p - 1`.
    pub fn from_u64(p: u32, x: u64) -> Self {
        Self::reduce(p, &[x])
    }

    /// The number with these limbs, least significant first, modulo `2^p - 1`. Linear in
    /// their number.
    ///
    /// # Panics
    /// If `p` is 0.
    pub fn reduce(p: u32, limbs: &[u64]) -> Self {
        assert!(p > 0, "2^0 - 1 is no modulus");
        let length = p.div_ceil(64) as usize;
        // 2^p = 1: what is above bit p is added below, `p` bits at a time.
        let mut sum = vec![0u64; length];
        let total = limbs.len() as u64 * 64;
        let mut carry = 0;
        for start in (0..total).step_by(p as usize) {
            carry += add_bits(&mut sum, limbs, start, p);
        }
        while carry != 0 {
            let above = [std::mem::take(&mut carry)];
            for start in (0..64).step_by(p as usize) {
                carry += add_bits(&mut sum, &above, start, p);
            }
        }
        let top = u64::MAX >> (length as u64 * 64 - u64::from(p));
        if sum[length - 1] == top && sum[..length - 1].iter().all(|&limb| limb == u64::MAX) {
            sum.fill(0);
        }
        Residue { p, limbs: sum }
    }

    /// The exponent of the modulus.
    pub fn p(&self) -> u32 {
        self.p
    }

    /// The limbs, as many as `p` bits need.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The low 64 bits: what hunters compare.
    pub fn res64(&self) -> u64 {
        self.limbs[0]
    }

    /// The product, by the engine's exact multiplication on all cores.
    #[must_use]
    pub fn mul(&self, other: &Residue) -> Residue {
        let mut product = vec![0; 2 * self.limbs.len()];
        number::mul(&mut product, &self.limbs, &other.limbs, Path::best(), true);
        Self::reduce(self.p, &product)
    }

    /// The square, less `minus`.
    #[must_use]
    pub fn square_minus(&self, minus: u32) -> Residue {
        let mut square = vec![0; 2 * self.limbs.len()];
        number::mul(&mut square, &self.limbs, &self.limbs, Path::best(), true);
        let mut square = Self::reduce(self.p, &square);
        square.subtract(minus.into());
        square
    }

    fn subtract(&mut self, x: u64) {
        let x = Self::from_u64(self.p, x);
        // -x is the complement of its bits.
        let top = u64::MAX >> (self.limbs.len() as u64 * 64 - u64::from(self.p));
        let mut minus: Vec<u64> = x.limbs.iter().map(|limb| !limb).collect();
        *minus.last_mut().expect("p is not 0") &= top;
        minus.resize(self.limbs.len(), 0);
        let mut sum = std::mem::take(&mut self.limbs);
        let carry = add_bits(&mut sum, &minus, 0, self.p);
        sum.push(0);
        let (p, at) = (self.p as usize, self.p as usize / 64);
        let above = u128::from(carry) << (p % 64);
        sum[at] |= above as u64;
        *self = Self::reduce(self.p, &sum);
    }

    /// `self / 9` modulo `2^p - 1`, for odd `p`: 3 divides `2^p - 1` for even `p` only.
    #[must_use]
    pub fn divided_by_9(&self) -> Residue {
        assert!(self.p % 2 == 1, "9 has an inverse for odd exponents");
        // self + t (2^p - 1) is a multiple of 9 for one t below 9. 2^6 = 1 modulo 9.
        let modulus = (1u64 << (self.p % 6)) + 8;
        let digits = self.limbs.iter().rev();
        let rest = digits.fold(0, |rest, &limb| {
            ((u128::from(rest) << 64 | u128::from(limb)) % 9) as u64
        });
        let t = (0..9)
            .find(|t| (rest + t * modulus).is_multiple_of(9))
            .expect("gcd(9, 2^p - 1) is 1");
        // self - t, with t at bit p.
        let mut sum = self.limbs.clone();
        sum.push(0);
        let (at, shift) = (self.p as usize / 64, self.p % 64);
        let high = u128::from(t) << shift;
        let (low, overflow) = sum[at].overflowing_add(high as u64);
        sum[at] = low;
        if let Some(next) = sum.get_mut(at + 1) {
            *next += (high >> 64) as u64 + u64::from(overflow);
        }
        let mut borrow = t;
        for limb in &mut sum {
            let (low, under) = limb.overflowing_sub(borrow);
            *limb = low;
            borrow = under.into();
        }
        let mut rest = 0;
        for limb in sum.iter_mut().rev() {
            let value = rest << 64 | u128::from(*limb);
            *limb = (value / 9) as u64;
            rest = value % 9;
        }
        debug_assert_eq!(rest, 0);
        Self::reduce(self.p, &sum)
    }

    /// Little-endian bytes, as many as `p` bits need: how files hold it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self
            .limbs
            .iter()
            .flat_map(|limb| limb.to_le_bytes())
            .collect();
        bytes.truncate(self.p.div_ceil(8) as usize);
        bytes
    }

    /// The residue with these little-endian bytes.
    pub fn from_bytes(p: u32, bytes: &[u8]) -> Self {
        let limb = |chunk: &[u8]| {
            let mut limb = [0; 8];
            limb[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(limb)
        };
        let limbs: Vec<u64> = bytes.chunks(8).map(limb).collect();
        Self::reduce(p, &limbs)
    }

    /// The same residue with one bit of its limbs the other way: what a fault of memory
    /// does, for tests of what catches it.
    #[must_use]
    pub fn with_flipped_bit(&self, bit: u32) -> Residue {
        let mut limbs = self.limbs.clone();
        limbs[bit as usize / 64] ^= 1 << (bit % 64);
        Self::reduce(self.p, &limbs)
    }
}

/// Adds `p` bits of `limbs` from bit `start` on to `sum`, modulo `2^p`; answers with what
/// is above.
fn add_bits(sum: &mut [u64], limbs: &[u64], start: u64, p: u32) -> u64 {
    let (first, shift) = ((start / 64) as usize, start % 64);
    let limb = |i: usize| limbs.get(i).copied().unwrap_or(0);
    let mut carry = false;
    let last = sum.len() - 1;
    let top_bits = u64::from(p) - 64 * last as u64;
    for (i, sum) in sum.iter_mut().enumerate() {
        let low = limb(first + i) >> shift;
        let high = if shift == 0 {
            0
        } else {
            limb(first + i + 1) << (64 - shift)
        };
        let mut value = low | high;
        if i == last && top_bits < 64 {
            value &= (1 << top_bits) - 1;
        }
        let (partial, over) = sum.overflowing_add(value);
        let (total, over2) = partial.overflowing_add(carry.into());
        *sum = total;
        carry = over || over2;
    }
    if top_bits == 64 {
        return carry.into();
    }
    let above = sum[last] >> top_bits;
    sum[last] &= (1 << top_bits) - 1;
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn value(limbs: &[u64]) -> BigUint {
        let halves = limbs
            .iter()
            .flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
        BigUint::new(halves.collect())
    }

    #[test]
    fn residues_are_those_of_num_bigint() {
        let mut seed = 1u64;
        let mut random = |n: usize| -> Vec<u64> {
            let mut next = || {
                seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                match seed >> 61 {
                    0 => u64::MAX,
                    1 => 0,
                    _ => seed,
                }
            };
            (0..n).map(|_| next()).collect()
        };
        for p in [3_u32, 5, 7, 61, 63, 65, 127, 129, 191, 521, 607, 1279] {
            let modulus = (BigUint::from(1u32) << p) - 1u32;
            for _ in 0..20 {
                let [x, y] = [(); 2].map(|()| random(2 * p.div_ceil(64) as usize));
                let (a, b) = (Residue::reduce(p, &x), Residue::reduce(p, &y));
                assert_eq!(value(a.limbs()), value(&x) % &modulus, "p {p}");
                assert_eq!(value(a.mul(&b).limbs()), value(&x) * value(&y) % &modulus);
                let square = value(&x).pow(2) + &modulus - 2u32;
                assert_eq!(value(a.square_minus(2).limbs()), square % &modulus, "p {p}");
                let ninth = a.divided_by_9();
                assert_eq!(value(ninth.limbs()) * 9u32 % &modulus, value(a.limbs()));
                assert_eq!(Residue::from_bytes(p, &a.to_bytes()), a);
            }
        }
    }
}
