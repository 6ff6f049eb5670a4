//! Sums and halves of fractions beside num-bigint, on every path of this machine.

use bigint_core::{Layout, Limb, Shape};
use bigint_cpu::{Cpu, Numbers, NumbersMut, Path, Tuning};
use num_bigint::BigUint;

/// The generator xorshift64.
struct Random(u64);

impl Random {
    fn limb(&mut self) -> Limb {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as Limb
    }
}

/// Engines for every path, with the default thresholds, and with transforms of the shortest numbers.
fn engines() -> Vec<Cpu> {
    let mut short = Tuning::default();
    (short.avx512ifma.widest, short.avx2.widest) = (0, 0);
    for path in Path::ALL {
        short.number.of_mut(path).product.transform = 2;
    }
    let engines = Path::ALL.into_iter().filter_map(|path| Cpu::new(path).ok());
    engines
        .flat_map(|cpu| [cpu.with_tuning(short), cpu])
        .collect()
}

/// `count` numbers of so many limbs: all ones, zeros with ends, and any.
fn batch(random: &mut Random, count: usize, width: usize, ones: bool) -> (Vec<Limb>, Shape) {
    let limbs = |i: usize| -> Vec<Limb> {
        match i % 5 {
            _ if ones => vec![Limb::MAX; width],
            3 => {
                let mut limbs = vec![0; width];
                (limbs[0], limbs[width - 1]) = (1, 1 << 31);
                limbs
            }
            4 => vec![0; width],
            _ => (0..width).map(|_| random.limb()).collect(),
        }
    };
    let all = (0..count).flat_map(limbs).collect();
    (all, Shape::new(count, width, Layout::Contiguous))
}

fn big(limbs: &[Limb]) -> BigUint {
    BigUint::new(limbs.to_vec())
}

/// Number `i`.
fn number((limbs, shape): &(Vec<Limb>, Shape), i: usize) -> BigUint {
    big(&limbs[i * shape.width..][..shape.width])
}

fn given((limbs, shape): &(Vec<Limb>, Shape)) -> Numbers<'_> {
    Numbers::new(limbs, *shape).unwrap()
}

#[test]
fn sums_of_fractions_are_those_of_num_bigint() {
    let mut random = Random(1);
    for cpu in engines() {
        let mut done = 0;
        for (count, [a, c, b, d]) in [
            (1, [8, 8, 8, 8]),
            (3, [40, 40, 40, 40]),
            (2, [41, 41, 41, 41]),
            (7, [33, 32, 49, 48]),
            (5, [50, 49, 61, 60]),
            (1, [5000, 5000, 5000, 5000]),
            (2, [5001, 5000, 7001, 7000]),
            (1, [40_000, 40_000, 40_000, 40_000]),
        ] {
            for ones in [false, true] {
                let widths = [a, c, b, d];
                let factors = widths.map(|width| batch(&mut random, count, width, ones));
                let most = (a + d).max(b + c);
                for (width, has_product) in [(most, true), (most, false), (c + d, true)] {
                    let mut s = batch(&mut random, count, width, false);
                    let mut p = batch(&mut random, count, c + d, false);
                    let [fa, fc, fb, fd] = &factors;
                    let of_s = NumbersMut::new(&mut s.0, s.1).unwrap();
                    let of_p = has_product.then(|| NumbersMut::new(&mut p.0, p.1).unwrap());
                    let fractions = [(given(fa), given(fc)), (given(fb), given(fd))];
                    let shapes = fractions.map(|(x, y)| (x.shape(), y.shape()));
                    let product = of_p.as_ref().map(|p| p.shape());
                    if !cpu.takes_sums_of_fractions(of_s.shape(), product, shapes) {
                        continue;
                    }
                    cpu.sums_of_fractions(of_s, of_p, fractions).unwrap();
                    done += 1;
                    let modulus = BigUint::from(1u8) << (32 * width);
                    for i in 0..count {
                        let [a, c, b, d] = [0, 1, 2, 3].map(|at| number(&factors[at], i));
                        let sum = (&a * &d + &b * &c) % &modulus;
                        assert!(number(&s, i) == sum, "{widths:?} on {cpu:?}");
                        if has_product {
                            assert!(number(&p, i) == &c * &d, "{widths:?} on {cpu:?}");
                        }
                    }
                }
            }
        }
        assert!(done >= 6, "{done} on {cpu:?}");
    }
}

#[test]
fn halves_of_fractions_are_right_to_a_unit() {
    let mut random = Random(2);
    for cpu in engines() {
        let mut done = 0;
        // Limbs of the fraction, of both factors, and of both results.
        for (count, n, [c, d], wanted) in [
            (1, 16, [8, 8], [8, 8]),
            (3, 81, [40, 40], [41, 41]),
            (2, 352, [176, 176], [176, 176]),
            (2, 704, [352, 352], [352, 351]),
            (4, 95, [40, 54], [55, 41]),
            (5, 111, [50, 60], [61, 51]),
            (1, 10_000, [5000, 5000], [5000, 4999]),
            (2, 10_001, [5000, 5000], [5001, 5001]),
            (1, 90_001, [50_000, 40_000], [40_001, 50_001]),
        ] {
            for ones in [false, true] {
                let f = batch(&mut random, count, n, ones);
                let factors = [c, d].map(|width| batch(&mut random, count, width, ones));
                let mut made = wanted.map(|width| batch(&mut random, count, width, false));
                let [low, high] = &mut made;
                let results = [low, high].map(|r| NumbersMut::new(&mut r.0, r.1).unwrap());
                let parts = [given(&factors[0]), given(&factors[1])];
                let shapes = results.each_ref().map(|r| r.shape());
                if !cpu.takes_middles(shapes, f.1, parts.map(|x| x.shape())) {
                    continue;
                }
                cpu.middles(results, given(&f), parts).unwrap();
                done += 1;
                for (which, width) in wanted.into_iter().enumerate() {
                    let modulus = BigUint::from(1u8) << (32 * width);
                    for i in 0..count {
                        let product = number(&f, i) * number(&factors[which], i);
                        let expected = (product >> (32 * (n - width))) % &modulus;
                        let found = number(&made[which], i);
                        let off = (found + 1u8 + &modulus - expected) % &modulus;
                        assert!(off <= 2u8.into(), "{n} x {c}, {d} on {cpu:?}");
                    }
                }
            }
        }
        assert!(done >= 4, "{done} on {cpu:?}");
    }
}
