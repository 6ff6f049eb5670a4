//! An engine is a ring together with the machine that it runs on. It enters vector code, and has
//! the tables in the form that the ring multiplies by.

use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use super::super::isa::{Avx2, Avx512};
use super::field::{self, MIN_H, PRIMES, Ring, Stored, inverse_mod, pow_mod};
use super::portable::{self, PortableRing};
use super::recombine::{self, Inverses};
use super::stages::Stages;
use super::top::TopRoots;

/// A piece of work that is generic over the ring.
///
/// `run` and all that it calls must be `#[inline(always)]`: [`Engine::enter`] is the function that
/// enables the vector instructions, and only code that is inlined into it is compiled with them.
pub(super) trait Job {
    type Output;
    fn run<E: Engine>(self, engine: E) -> Self::Output;
}

/// A machine that runs transforms.
pub(super) trait Engine: Copy + Send + Sync {
    type Ring: Stages;
    /// The arithmetic modulo `PRIMES[prime]`.
    fn ring(self, prime: usize) -> Self::Ring;
    /// Runs a job with the vector instructions of the machine.
    fn enter<J: Job>(self, job: J) -> J::Output;
    /// The constants and roots for [`Engine::Ring`].
    fn tables(self) -> &'static Tables;

    /// The rings of all four primes.
    #[inline(always)]
    fn rings(self) -> [Self::Ring; 4] {
        [self.ring(0), self.ring(1), self.ring(2), self.ring(3)]
    }
}

/// The constants modulo the four primes, and as many of their roots as have been needed so far.
pub(super) struct Tables {
    stored: fn(u64, usize) -> Stored,
    /// The [`Ring::LOG_RADIX`] of the ring.
    log_radix: u32,
    constants: OnceLock<Constants>,
    /// The roots. Entry `c` holds `2^(3 c + 6)` roots of each prime.
    roots: [OnceLock<[Vec<Stored>; 4]>; 9],
}

/// All tables but the roots. The first index is that of the prime.
pub(super) struct Constants {
    pub(super) top: [TopRoots; 4],
    pub(super) minus_one: [Stored; 4],
    /// The powers of `2^h`, at index `h - 40`.
    pub(super) radix: [[Stored; 5]; 4],
    /// The factors `R / 2^(3 + s)`, at index `s`, by which a product of transforms is multiplied so
    /// that it comes out exact.
    pub(super) scale: [[Stored; 30]; 4],
    pub(super) inverses: Inverses,
}

impl Tables {
    const fn new<R: Ring>(stored: fn(u64, usize) -> Stored) -> Self {
        Tables {
            stored,
            log_radix: R::LOG_RADIX,
            constants: OnceLock::new(),
            roots: [const { OnceLock::new() }; 9],
        }
    }

    pub(super) fn constants(&self) -> &Constants {
        self.constants.get_or_init(|| {
            let stored = self.stored;
            let of = |prime: usize, w: u64| stored(w % PRIMES[prime], prime);
            Constants {
                top: std::array::from_fn(|prime| {
                    let roots = field::roots(prime, 4, |w, _| [w, 0]);
                    let half = inverse_mod(2, PRIMES[prime]);
                    TopRoots {
                        roots: [1, 2, 3].map(|j| of(prime, roots[j][0])),
                        half: of(prime, field::mul_mod(roots[3][0], half, PRIMES[prime])),
                    }
                }),
                minus_one: std::array::from_fn(|prime| of(prime, PRIMES[prime] - 1)),
                radix: std::array::from_fn(|prime| {
                    std::array::from_fn(|h| of(prime, 1 << (MIN_H as usize + h)))
                }),
                scale: std::array::from_fn(|prime| {
                    let p = PRIMES[prime];
                    std::array::from_fn(|s| {
                        let length = pow_mod(2, 3 + s as u64, p);
                        of(
                            prime,
                            field::mul_mod(
                                pow_mod(2, self.log_radix.into(), p),
                                inverse_mod(length, p),
                                p,
                            ),
                        )
                    })
                }),
                inverses: recombine::inverses(stored),
            }
        })
    }

    /// The roots of each prime, at least `len` of them.
    pub(super) fn roots(&self, len: usize) -> &[Vec<Stored>; 4] {
        let class = len
            .next_power_of_two()
            .ilog2()
            .saturating_sub(6)
            .div_ceil(3) as usize;
        self.roots[class].get_or_init(|| {
            std::array::from_fn(|prime| field::roots(prime, 64 << (3 * class), self.stored))
        })
    }
}

/// The engine in safe Rust.
#[derive(Clone, Copy)]
pub(super) struct PortableEngine;

impl Engine for PortableEngine {
    type Ring = PortableRing;
    fn ring(self, prime: usize) -> PortableRing {
        PortableRing::new(prime)
    }
    fn enter<J: Job>(self, job: J) -> J::Output {
        job.run(self)
    }
    fn tables(self) -> &'static Tables {
        static TABLES: Tables = Tables::new::<PortableRing>(portable::stored);
        &TABLES
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2Engine, Avx512Engine};

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![allow(unsafe_code)]

    use super::super::avx2::{self, Avx2Ring};
    use super::super::avx512::Avx512Ring;
    use super::{Avx2, Avx512, Engine, Job, Tables, field};

    /// The engine that uses AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2Engine(pub(in super::super) Avx2);

    impl Engine for Avx2Engine {
        type Ring = Avx2Ring;
        #[inline(always)]
        fn ring(self, prime: usize) -> Avx2Ring {
            Avx2Ring::new(prime, self.0)
        }
        fn enter<J: Job>(self, job: J) -> J::Output {
            #[target_feature(enable = "avx2,fma,bmi2,adx")]
            fn run<J: Job>(engine: Avx2Engine, job: J) -> J::Output {
                job.run(engine)
            }
            // SAFETY: the token proves that the machine has the features.
            unsafe { run(self, job) }
        }
        fn tables(self) -> &'static Tables {
            static TABLES: Tables = Tables::new::<Avx2Ring>(avx2::stored);
            &TABLES
        }
    }

    /// The engine that uses AVX-512 with IFMA.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx512Engine(pub(in super::super) Avx512);

    impl Engine for Avx512Engine {
        type Ring = Avx512Ring;
        #[inline(always)]
        fn ring(self, prime: usize) -> Avx512Ring {
            Avx512Ring::new(prime, self.0)
        }
        fn enter<J: Job>(self, job: J) -> J::Output {
            #[target_feature(
                enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,avx2,fma,bmi2,adx"
            )]
            fn run<J: Job>(engine: Avx512Engine, job: J) -> J::Output {
                job.run(engine)
            }
            // SAFETY: the token proves that the machine has the features.
            unsafe { run(self, job) }
        }
        fn tables(self) -> &'static Tables {
            static TABLES: Tables = Tables::new::<Avx512Ring>(field::montgomery);
            &TABLES
        }
    }
}
