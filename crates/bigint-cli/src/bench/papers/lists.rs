//! Lists of computations on numbers of random lengths, as benchmarks have them.

use std::f64::consts::TAU;
use std::fmt;
use std::time::Duration;

use bigint_core::{LIMB_BITS, Limb, Operation, Shape};
use bigint_host::{Batch, Computation, Engine, Error, Form, Integers};

use crate::bench::sample::{Times, random, time};

/// How many numbers the computations of a list take their operands from.
const POOL: usize = 1024;

/// The length in bits of a giant number among short ones.
const GIANT: usize = 1 << 20;

/// A list of computations to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    pub operation: Operation,
    /// The number of computations; of short numbers only, where there is a giant beside them.
    pub count: usize,
    pub lengths: Lengths,
    pub way: Way,
}

/// How long the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Lengths are normally distributed, with so many hundredths of the mean as deviation, and at
    /// least a limb.
    Normal { deviation: usize },
    /// All numbers have the mean length; each is multiplied by the next.
    Short,
    /// One giant number is squared.
    Giant,
    /// The short numbers and the giant are in one list.
    Both,
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lengths::Normal { deviation } => write!(f, "deviation {deviation} %"),
            Lengths::Short => f.write_str("the short ones"),
            Lengths::Giant => f.write_str("the giant"),
            Lengths::Both => f.write_str("both"),
        }
    }
}

/// Where operands come from and where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From integers on the host to integers on the host.
    Whole,
    /// Without transfers: the operands are where the engine computes, and results stay there.
    OnDevice,
    /// From padded batches on the host to padded batches on the host.
    Sorted,
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Way::Whole => "with transfers",
            Way::OnDevice => "without transfers",
            Way::Sorted => "sorted batches with transfers",
        }
    }
}

impl List {
    /// Makes the integers, about `bits` bits long, and the computations.
    fn made(self, bits: usize) -> Result<(Integers, Vec<Computation>), Error> {
        let List {
            operation,
            count,
            lengths,
            ..
        } = self;
        let mut random = random(count as u64);
        let limbs_of = |bits: f64| ((bits / LIMB_BITS as f64).round() as usize).max(1);
        let widths: Vec<usize> = match lengths {
            Lengths::Normal { deviation } => {
                let mut unit = || (f64::from(random()) + 0.5) / 2f64.powi(32);
                let mut normal = || (-2.0 * unit().ln()).sqrt() * (TAU * unit()).cos();
                let deviation = deviation as f64 / 100.0;
                let length = |_| limbs_of(bits as f64 * (1.0 + deviation * normal()));
                (0..POOL).map(length).collect()
            }
            Lengths::Giant => vec![GIANT / LIMB_BITS],
            Lengths::Short | Lengths::Both => {
                let giant = (lengths == Lengths::Both).then_some(GIANT / LIMB_BITS);
                let short = vec![limbs_of(bits as f64); count];
                short.into_iter().chain(giant).collect()
            }
        };
        let mut integers = Integers::new();
        let mut limbs: Vec<Limb> = Vec::new();
        for &width in &widths {
            limbs.clear();
            limbs.extend((0..width).map(|_| random()));
            limbs[width - 1] |= 1 << (LIMB_BITS - 1);
            integers.push(false, &limbs)?;
        }
        let last = widths.len() - 1;
        let pair = |i: usize, random: &mut dyn FnMut() -> Limb| match lengths {
            Lengths::Normal { .. } => (random() as usize % POOL, random() as usize % POOL),
            // The giant is the last, and has no next.
            _ if i == last => (i, i),
            _ if i + 1 == count => (i, 0),
            _ => (i, i + 1),
        };
        let computations = match lengths {
            Lengths::Normal { .. } => count,
            _ => widths.len(),
        };
        let computation = |i| {
            let (a, b) = pair(i, &mut random);
            Computation { operation, a, b }
        };
        Ok((integers, (0..computations).map(computation).collect()))
    }

    /// Measures the list; answers the times, and the size in bytes of its operands and results.
    ///
    /// # Errors
    /// The engine's.
    pub fn times(self, engine: &Engine, bits: usize, samples: u32) -> Result<(Times, u64), Error> {
        let (integers, computations) = self.made(bits)?;
        let limbs = computations.iter().map(|computation| {
            let [n, m] = [computation.a, computation.b].map(|i| integers.magnitude(i).len());
            n + m + self.operation.exact_width(&[n, m])
        });
        let bytes = (limbs.sum::<usize>() * size_of::<Limb>()) as u64;
        let each = |once: &dyn Fn() -> Result<(), Error>| {
            Times::of(samples, Duration::MAX, |repeats| {
                time(engine, repeats, once)
            })
        };
        let times = match self.way {
            Way::Whole => each(&|| engine.run(&integers, &computations).map(drop)),
            Way::OnDevice => {
                let prepared = engine.prepare(&integers, &computations)?;
                each(&|| prepared.compute().map(drop))
            }
            Way::Sorted => {
                let prepared = engine.prepare(&integers, &computations)?;
                let limbs = |batch: &Batch| Ok::<_, Error>((batch.to_limbs()?, batch.shape()));
                let batches = prepared.batches().map(|(operation, operands)| {
                    let operands = operands.iter().map(|operand| limbs(operand.magnitude()));
                    Ok((operation, operands.collect::<Result<Vec<_>, Error>>()?))
                });
                let batches = batches.collect::<Result<Vec<_>, Error>>()?;
                drop(prepared);
                each(&|| {
                    let batch = |(limbs, shape): &(Vec<Limb>, Shape)| {
                        engine.batch_from_limbs(limbs.clone(), *shape)
                    };
                    let results = batches.iter().map(|(operation, operands)| {
                        let operands = operands.iter().map(batch);
                        let operands = operands.collect::<Result<Vec<_>, _>>()?;
                        let operands: Vec<&Batch> = operands.iter().collect();
                        engine.compute(*operation, Form::Exact, &operands)
                    });
                    for result in results.collect::<Result<Vec<_>, _>>()? {
                        result.results[0].rows()?;
                    }
                    Ok(())
                })
            }
        };
        Ok((times?, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_lengths_and_pairs_that_they_say() {
        let list = |lengths, count| List {
            operation: Operation::Mul,
            count,
            lengths,
            way: Way::Whole,
        };
        let made = |lengths, count, bits| list(lengths, count).made(bits).unwrap();
        let (integers, computations) = made(Lengths::Normal { deviation: 25 }, 5000, 8192);
        assert_eq!((integers.len(), computations.len()), (POOL, 5000));
        let widths: Vec<f64> = (0..POOL)
            .map(|i| integers.magnitude(i).len() as f64)
            .collect();
        let mean = widths.iter().sum::<f64>() / POOL as f64;
        let spread = widths
            .iter()
            .map(|width| (width - mean).powi(2))
            .sum::<f64>();
        let deviation = (spread / POOL as f64).sqrt();
        // 256 limbs and 64: the mean of 1024 is off by 2, the deviation by 1.4, usually.
        assert!((mean - 256.0).abs() < 8.0 && (deviation - 64.0).abs() < 6.0);
        let (integers, _) = made(Lengths::Normal { deviation: 0 }, 10, 1024);
        assert!((0..POOL).all(|i| integers.magnitude(i).len() == 32));
        let (integers, computations) = made(Lengths::Both, 100, 64);
        assert_eq!((integers.len(), computations.len()), (101, 101));
        assert_eq!(integers.magnitude(100).len(), GIANT / LIMB_BITS);
        assert!(computations[..100].iter().all(|c| c.a < 100 && c.b < 100));
        assert_eq!((computations[100].a, computations[100].b), (100, 100));
    }

    #[test]
    fn every_way_computes() {
        let engine = Engine::cpu();
        for way in [Way::Whole, Way::OnDevice, Way::Sorted] {
            for operation in [Operation::Add, Operation::Mul] {
                let lengths = Lengths::Normal { deviation: 50 };
                let list = List {
                    operation,
                    count: 50,
                    lengths,
                    way,
                };
                let (times, bytes) = list.times(&engine, 320, 1).unwrap();
                assert!(times.mean > 0.0 && bytes > 50 * 8);
            }
        }
    }
}
