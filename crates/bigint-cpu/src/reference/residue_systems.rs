//! Montgomery's products in residue number systems, plain to read. [`bigint_core::rns`] has the
//! maths. On a device tensor cores make them fast.

use bigint_core::Limb;
use bigint_core::rns::{PRIME_BITS, RnsPlan};

use super::{copy, rem};

/// A modulus, and two bases of primes. The residues modulo the first base precede those modulo the
/// second.
pub(crate) struct ResidueSystems<'a> {
    plan: RnsPlan,
    n: &'a [Limb],
    bases: [Vec<u64>; 2],
    /// The table that kernels have.
    table: Vec<u32>,
    /// The `k` of each prime of the first base.
    k: Vec<u64>,
    /// The inverses `1/m` modulo `u`, for each `u` of the second base.
    to_second: Vec<Vec<u64>>,
    /// The residues of `U/u`, and last of `-U`, modulo `m`, for each `m` of the first base.
    to_first: Vec<Vec<u64>>,
    /// The residues of `1 / (U/u)` and `1 / M` modulo each prime of the second base.
    second: Vec<[u64; 2]>,
    /// The residues of `n` modulo each prime.
    residues: Vec<u64>,
}

impl<'a> ResidueSystems<'a> {
    /// The systems for a modulus, with spare bases where it has a common factor with the first, or `None` if
    /// it is zero, too wide, or has common factors with both.
    pub fn new(n: &'a [Limb]) -> Option<Self> {
        let plan = RnsPlan::of(n.len())?;
        Self::by(plan, n).or_else(|| Self::by(plan.spare()?, n))
    }

    fn by(plan: RnsPlan, n: &'a [Limb]) -> Option<Self> {
        let channels = plan.channels() as usize;
        let bases = plan
            .bases()
            .map(|base| base[..channels].iter().map(|&p| p.into()).collect());
        let [first, second]: &[Vec<u64>; 2] = &bases;
        let mut table = vec![0; plan.words()];
        plan.fill(&mut table);
        let residues: Vec<u64> = bases.iter().flatten().map(|p| residue(n, *p)).collect();
        if residues[..channels].contains(&0) || n.iter().all(|limb| *limb == 0) {
            return None;
        }
        let others = |base: &[u64], p: u64| {
            let others = base.iter().filter(|other| **other != p);
            others.fold(1, |product, other| product * other % p)
        };
        let k = first.iter().zip(&residues);
        let k = k.map(|(&m, n)| m - invert(n * others(first, m) % m, m));
        let to_second = second
            .iter()
            .map(|&u| first.iter().map(|m| invert(*m, u)).collect());
        let to_first = first.iter().map(|&m| {
            let all = others(second, m);
            let cofactors = second.iter().map(|u| all * invert(*u, m) % m);
            cofactors.chain([m - all]).collect()
        });
        let of_second = second
            .iter()
            .map(|&u| [others(second, u), others(first, u)].map(|x| invert(x, u)));
        Some(ResidueSystems {
            plan,
            n,
            k: k.collect(),
            to_second: to_second.collect(),
            to_first: to_first.collect(),
            second: of_second.collect(),
            residues,
            table,
            bases,
        })
    }

    /// The residues of a number.
    pub fn residues(&self, x: &[Limb]) -> Vec<u64> {
        self.bases
            .iter()
            .flatten()
            .map(|p| residue(x, *p))
            .collect()
    }

    /// The residues of `M^2` modulo the modulus.
    pub fn radix(&self) -> Vec<u64> {
        let mut radix = vec![0; self.n.len()];
        let square = &self.table[self.plan.square_at() as usize..];
        rem::school(
            &mut radix,
            &square[..self.plan.square_limbs() as usize],
            self.n,
        );
        self.residues(&radix)
    }

    /// The product `x y / M`.
    pub fn product(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        let [first, second] = &self.bases;
        let channels = first.len();
        let ((x1, x2), (y1, y2)) = (x.split_at(channels), y.split_at(channels));
        let n = &self.residues[channels..];
        let xi: Vec<u64> = (0..channels)
            .map(|i| x1[i] * y1[i] % first[i] * self.k[i] % first[i])
            .collect();
        let z2: Vec<u64> = (0..channels)
            .map(|j| {
                let u = second[j];
                let q = xi.iter().zip(&self.to_second[j]);
                let q = q.fold(0, |sum, (xi, entry)| (sum + xi * entry) % u);
                (x2[j] * y2[j] % u * self.second[j][1] + q * n[j]) % u
            })
            .collect();
        let mut rho = self.rho(&z2);
        rho.push(alpha(&rho));
        let z1 = first.iter().zip(&self.to_first).map(|(m, row)| {
            let sum = rho.iter().zip(row);
            sum.fold(0, |sum, (rho, entry)| (sum + rho * entry) % m)
        });
        z1.chain(z2).collect()
    }

    /// Sets `r` to `x`, which is below `b n`, modulo the modulus.
    pub fn retrieve(&self, r: &mut [Limb], x: &[u64]) {
        let mut rho = self.rho(&x[self.bases[0].len()..]);
        rho.push(alpha(&rho));
        let each = self.plan.width as usize + 1;
        let weights = self.table[self.plan.weights_at() as usize..].chunks_exact(each);
        let mut sum = vec![0; each];
        for (weight, rho) in weights.zip(rho) {
            let mut carry = 0;
            for (limb, weight) in sum.iter_mut().zip(weight) {
                carry += u64::from(*limb) + u64::from(*weight) * rho;
                *limb = carry as Limb;
                carry >>= Limb::BITS;
            }
        }
        let mut least = vec![0; self.n.len()];
        rem::school(&mut least, &sum, self.n);
        copy(r, &least);
    }

    fn rho(&self, z: &[u64]) -> Vec<u64> {
        let of = z.iter().zip(&self.second).zip(&self.bases[1]);
        of.map(|((z, [inverse, _]), u)| z * inverse % u).collect()
    }
}

/// The sum of `rho / u`, computed from the top 16 bits of each and rounded.
fn alpha(rho: &[u64]) -> u64 {
    let tops = rho.iter().map(|rho| rho >> (PRIME_BITS - 16));
    (tops.sum::<u64>() + (1 << 15)) >> 16
}

fn residue(x: &[Limb], p: u64) -> u64 {
    let limbs = x.iter().rev();
    limbs.fold(0, |residue, limb| (residue << 32 | u64::from(*limb)) % p)
}

fn invert(a: u64, p: u64) -> u64 {
    let (mut square, mut result, mut k) = (a % p, 1, p - 2);
    while k > 0 {
        if k & 1 == 1 {
            result = result * square % p;
        }
        square = square * square % p;
        k >>= 1;
    }
    result
}
