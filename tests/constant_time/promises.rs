//! All that promises constant time on the CPU: no branch and no address depends on numbers, but on how
//! wide and how many they are, and on moduli that are shorter than they are wide; of `inv_odd_mod`, on
//! no moduli.

use crate::memcheck;
use bigint_curves::Curve;
use bigint_host::{
    Algorithm, Batch, BigUint, Engine, FixedBase, Layout, Limb, MontgomeryParams, Operation,
    Options, Residues, Shape,
};
use std::hint::black_box;

/// What is computed with: moduli that anybody may know, and secrets.
#[derive(Clone)]
pub struct Setting {
    engine: Engine,
    params: MontgomeryParams,
    base: FixedBase,
    /// The same, by [`Algorithm::Window`] as the reference has it.
    plain_base: FixedBase,
    shape: Shape,
    /// Which of two sets of secrets.
    other: bool,
}

/// As many numbers as lanes take at once, one more, and one, in both layouts; then wider ones, of 1024
/// and of 2048 bits.
pub fn settings() -> impl Iterator<Item = Setting> {
    [
        (8, 4, Layout::Contiguous),
        (9, 3, Layout::Interleaved),
        (1, 4, Layout::Contiguous),
        (2, 32, Layout::Contiguous),
        (1, 64, Layout::Contiguous),
    ]
    .into_iter()
    .map(|(count, width, layout)| Setting::new(Shape::new(count, width, layout)))
}

/// The lowest limb of the modulus of `width` limbs, whose others are all ones: primes are 2^64 - 59,
/// 2^96 - 17, 2^128 - 159, 2^1024 - 105, 2^2048 -
/// 1942289.
fn lowest(width: usize) -> Limb {
    match width {
        2 => 59_u32.wrapping_neg(),
        3 => 17_u32.wrapping_neg(),
        4 => 159_u32.wrapping_neg(),
        32 => 105_u32.wrapping_neg(),
        _ => 1_942_289_u32.wrapping_neg(),
    }
}

impl Setting {
    fn new(shape: Shape) -> Self {
        let engine = Engine::cpu();
        let mut modulus = vec![Limb::MAX; shape.width];
        modulus[0] = lowest(shape.width);
        let moduli = engine
            .batch_from_biguints(&[BigUint::new(modulus)])
            .unwrap();
        let params = MontgomeryParams::new(&engine, &moduli).unwrap();
        let [base, plain_base] = [Algorithm::Auto, Algorithm::Window].map(|algorithm| {
            let engine = engine.using(Options::from(algorithm));
            let params = MontgomeryParams::new(&engine, &moduli).unwrap();
            let three = engine.batch_from_biguints(&[3u32.into()]).unwrap();
            FixedBase::new(&Residues::new(&three, &params).unwrap(), 70).unwrap()
        });
        Setting {
            engine,
            params,
            base,
            plain_base,
            shape,
            other: false,
        }
    }

    pub fn name(&self) -> String {
        format!(
            "{:?} on {}",
            self.shape,
            bigint_cpu::Cpu::current().path().name()
        )
    }

    /// The same with the other secrets.
    pub fn with(&self, other: bool) -> Self {
        Setting {
            other,
            ..self.clone()
        }
    }

    /// What is of this set of secrets, chosen as secrets are.
    fn one_of(&self, [x, y]: [Limb; 2]) -> Limb {
        let mask = black_box(Limb::from(self.other).wrapping_neg());
        x ^ (x ^ y) & mask
    }

    /// A batch of secrets of `width` limbs: of each three numbers one is 1, one is all ones, or one
    /// less than the modulus, and one is of any bits; which is which depends on the set.
    fn secret(&self, width: usize, salt: usize) -> Batch {
        let shape = Shape {
            width,
            ..self.shape
        };
        let mut limbs = vec![0; shape.limbs()];
        for number in 0..shape.count {
            for limb in 0..width {
                let bits = (0x9e37_79b9 * (7 * number + 3 * limb + salt + 1) as u64) as Limb;
                let of_set = |set: usize| match (number + salt + set) % 3 {
                    0 => Limb::from(limb == 0),
                    1 if limb == 0 && width == self.shape.width => lowest(width) - 1,
                    1 => Limb::MAX,
                    _ if limb + 1 == width => bits >> 1,
                    _ => bits,
                };
                limbs[shape.index(number, limb)] = self.one_of([of_set(0), of_set(1)]);
            }
        }
        memcheck::hide(&mut limbs);
        self.engine.batch_from_limbs(limbs, shape).unwrap()
    }

    /// Residues that have inverses.
    fn below(&self, salt: usize) -> Batch {
        self.secret(self.shape.width, salt)
    }

    fn residues(&self, salt: usize) -> Residues {
        Residues::new(&self.below(salt), &self.params).unwrap()
    }

    fn exponents(&self) -> Batch {
        self.secret(1, 5)
    }

    /// Two numbers in one.
    fn two(&self) -> Batch {
        self.secret(2 * self.shape.width, 6)
    }

    /// A point times a secret.
    fn multiply(&self, curve: Curve) {
        let secret = self.secret(8, 7);
        let limbs = secret.rows().unwrap();
        let number = std::array::from_fn(|i| (limbs[i / 4] >> (8 * (i % 4))) as u8);
        black_box(curve.multiply_secret(&curve.generator(), &number).unwrap());
    }

    fn moduli(&self) -> &Batch {
        self.params.moduli()
    }

    fn naming(&self, algorithm: Algorithm) -> Engine {
        self.engine.using(Options::from(algorithm))
    }

    /// An operation on two residues, as its own algorithm computes it and as `Auto` does.
    fn of_residues(&self, operation: Operation, algorithm: Algorithm) {
        for algorithm in [Algorithm::Auto, algorithm] {
            let engine = self.naming(algorithm);
            let (a, b) = (self.below(1), self.below(2));
            let operands = [&a, &b, self.moduli()];
            let form = bigint_host::Form::Exact;
            engine.compute(operation, form, &operands).unwrap();
        }
    }
}

type Work = fn(&Setting);

pub const PROMISES: &[(&str, Work)] = &[
    ("Residues::new", |s| drop(s.residues(1))),
    ("Residues::new of wide numbers", |s| {
        drop(Residues::new(&s.two(), &s.params).unwrap());
    }),
    ("Residues::retrieve", |s| {
        drop(s.residues(1).retrieve().unwrap())
    }),
    ("Residues::add", |s| {
        drop(s.residues(1).add(&s.residues(2)).unwrap())
    }),
    ("Residues::sub", |s| {
        drop(s.residues(1).sub(&s.residues(2)).unwrap())
    }),
    ("Residues::neg", |s| drop(s.residues(1).neg().unwrap())),
    ("Residues::double", |s| {
        drop(s.residues(1).double().unwrap())
    }),
    ("Residues::halve", |s| drop(s.residues(1).halve().unwrap())),
    ("Residues::mul", |s| {
        drop(s.residues(1).mul(&s.residues(2)).unwrap())
    }),
    ("Residues::square", |s| {
        drop(s.residues(1).square().unwrap())
    }),
    ("Residues::equal", |s| {
        drop(s.residues(1).equal(&s.residues(2)).unwrap())
    }),
    ("Residues::equal of equal ones", |s| {
        drop(s.residues(1).equal(&s.residues(1)).unwrap())
    }),
    ("Residues::pow", |s| {
        drop(s.residues(1).pow(&s.exponents()).unwrap())
    }),
    ("Residues::pow_bounded_exp", |s| {
        drop(s.residues(1).pow_bounded_exp(&s.exponents(), 9).unwrap());
    }),
    ("Residues::multi_exponentiate", |s| {
        let (a, b, e) = (s.residues(1), s.residues(2), s.exponents());
        drop(Residues::multi_exponentiate(&[(&a, &e), (&b, &e), (&a, &e)]).unwrap());
    }),
    ("Residues::multi_exponentiate_bounded_exp", |s| {
        let (a, b, e) = (s.residues(1), s.residues(2), s.exponents());
        drop(Residues::multi_exponentiate_bounded_exp(&[(&a, &e), (&b, &e)], 9).unwrap());
    }),
    ("Residues::try_invert", |s| {
        drop(s.residues(1).try_invert().unwrap())
    }),
    ("Residues::masked_invert", |s| {
        drop(s.residues(1).masked_invert().unwrap())
    }),
    ("FixedBase::pow", |s| {
        drop(s.base.pow(&s.secret(3, 1)).unwrap())
    }),
    ("FixedBase::pow of short exponents", |s| {
        drop(s.base.pow(&s.exponents()).unwrap())
    }),
    ("Engine::pow_mod", |s| {
        let (a, e) = (s.below(1), s.exponents());
        drop(s.engine.pow_mod(&a, &e, s.moduli()).unwrap());
    }),
    ("Engine::pow_mod of wide bases", |s| {
        let (a, e) = (s.two(), s.exponents());
        drop(s.engine.pow_mod(&a, &e, s.moduli()).unwrap());
    }),
    ("Engine::pow_mod by its own algorithm", |s| {
        let engine = s.naming(Algorithm::Window);
        for a in [s.below(1), s.two()] {
            drop(engine.pow_mod(&a, &s.exponents(), s.moduli()).unwrap());
        }
    }),
    ("Engine::pow_pair", |s| {
        for algorithm in [Algorithm::Auto, Algorithm::Window] {
            let (engine, e) = (s.naming(algorithm), s.secret(2, 1));
            drop(engine.pow_pair(&s.two(), &e, s.moduli()).unwrap());
        }
    }),
    ("FixedBase::pow by its own algorithm", |s| {
        drop(s.plain_base.pow(&s.exponents()).unwrap());
    }),
    // As RSA's primes are: odd, and as long as they are wide. valgrind is not told that they are
    // secrets, as it would find that zeros are looked for.
    ("moduli", |s| {
        let mut modulus = vec![Limb::MAX; s.shape.width];
        modulus[0] = s.one_of([0x1234_5679, Limb::MAX - 2]);
        modulus[1] = s.one_of([0, 7]);
        let moduli = s
            .engine
            .batch_from_limbs(modulus, Shape::new(1, s.shape.width, Layout::Contiguous));
        let params = MontgomeryParams::new(&s.engine, &moduli.unwrap()).unwrap();
        let power = Residues::new(&s.below(1), &params)
            .unwrap()
            .pow(&s.exponents())
            .unwrap();
        drop(power.retrieve().unwrap());
    }),
    ("Engine::mod_add", |s| {
        s.of_residues(Operation::ModAdd, Algorithm::Scan)
    }),
    ("Engine::mod_sub", |s| {
        s.of_residues(Operation::ModSub, Algorithm::Scan)
    }),
    ("Engine::mont_mul", |s| {
        s.of_residues(Operation::MontMul, Algorithm::Cios)
    }),
    ("Engine::inv_odd_mod", |s| {
        // The moduli are secrets too: odd, and prime to the lowest of the numbers.
        let (a, one) = (
            s.below(0),
            s.engine.batch_from_biguints(&[1u32.into()]).unwrap(),
        );
        let moduli = s.engine.or(&s.below(1), &one).unwrap();
        drop(s.engine.masked_inv_odd_mod(&a, &moduli).unwrap());
    }),
    ("Curve::multiply_secret on secp256k1", |s| {
        s.multiply(Curve::Secp256k1)
    }),
    ("Curve::multiply_secret on P-256", |s| {
        s.multiply(Curve::P256)
    }),
    ("Curve::multiply_secret on edwards25519", |s| {
        s.multiply(Curve::Ed25519)
    }),
];

/// A branch and an address that depend on a secret: what judges must find.
pub const LEAKS: &[(&str, Work)] = &[
    ("a branch", |s| {
        // 1, or one less than an odd modulus.
        let limb = s.below(0).rows().unwrap()[0];
        if black_box(limb) & 1 == 0 {
            black_box(s);
        }
    }),
    ("an address", |s| {
        let limb = s.below(0).rows().unwrap()[0];
        black_box(black_box(&[1; 64])[limb as usize % 64]);
    }),
];
