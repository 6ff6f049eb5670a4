//! What measurements share: operands, repetitions that take long enough for a clock, and samples.

use std::time::{Duration, Instant};

use bigint_core::operation::{Cost, Property};
use bigint_core::{LIMB_BITS, Layout, Limb, Operation, Shape};
use bigint_host::{Batch, Engine, Error};

/// The least time of a sample: its repetitions take so long that neither the clock nor a launch
/// shows.
const SAMPLE: Duration = Duration::from_millis(5);

/// The times of a measurement's samples, in nanoseconds for one repetition.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub samples: usize,
    pub mean: f64,
    pub median: f64,
    pub least: f64,
    pub greatest: f64,
}

impl Times {
    /// Takes so many samples. `sample` repeats something as often as it is told and answers how
    /// long that took. Where all samples would take longer than `limit`, fewer are taken, but at
    /// least one. Repetitions before the first sample do not count.
    ///
    /// # Errors
    /// Those of `sample`.
    pub fn of(
        samples: u32,
        limit: Duration,
        sample: impl Fn(u32) -> Result<Duration, Error>,
    ) -> Result<Self, Error> {
        let started = Instant::now();
        // The first launch of a kernel waits for the driver to compile it.
        sample(1)?;
        let mut repeats = 1;
        let mut took = sample(repeats)?;
        while took < SAMPLE && repeats < 1 << 20 {
            repeats *= 2;
            took = sample(repeats)?;
        }
        let mut times = vec![took];
        while times.len() < samples as usize && started.elapsed() + took <= limit {
            took = sample(repeats)?;
            times.push(took);
        }
        let each = |took: Duration| took.as_secs_f64() * 1e9 / f64::from(repeats);
        let mut times: Vec<f64> = times.into_iter().map(each).collect();
        times.sort_by(f64::total_cmp);
        Ok(Times {
            samples: times.len(),
            mean: times.iter().sum::<f64>() / times.len() as f64,
            median: times[times.len() / 2],
            least: times[0],
            greatest: times[times.len() - 1],
        })
    }

    /// The times for one of `count` numbers.
    #[must_use]
    pub fn each(self, count: usize) -> Self {
        let each = |time: f64| time / count as f64;
        Times {
            mean: each(self.mean),
            median: each(self.median),
            least: each(self.least),
            greatest: each(self.greatest),
            ..self
        }
    }
}

/// The time of so many repetitions of `once`, until the engine has done the last.
///
/// # Errors
/// Those of `once`; [`Error::Device`] on a device.
pub fn time<T>(
    engine: &Engine,
    repeats: u32,
    once: impl Fn() -> Result<T, Error>,
) -> Result<Duration, Error> {
    let started = Instant::now();
    for _ in 0..repeats {
        once()?;
    }
    engine.wait()?;
    Ok(started.elapsed())
}

/// The limbs that SplitMix64 makes of `seed`, one after another.
pub fn random(seed: u64) -> impl FnMut() -> Limb {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 + seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as Limb
    }
}

/// Makes a batch of numbers from `seed`. With `top` they have exactly `bits` bits and are odd, so
/// that they can be moduli; without, they are any numbers of at most so many bits.
///
/// # Errors
/// [`Error::Device`] on a device.
pub fn operand(
    engine: &Engine,
    bits: usize,
    count: usize,
    seed: u64,
    top: bool,
) -> Result<Batch, Error> {
    let width = bits.div_ceil(LIMB_BITS);
    let shape = Shape::new(count, width, Layout::Contiguous);
    let mut random = random(seed);
    let mut limbs = bigint_cpu::collect((0..shape.limbs()).map(|_| random()))?;
    let top_bit = 1 << ((bits - 1) % LIMB_BITS);
    for row in limbs.chunks_exact_mut(width) {
        let limb = &mut row[width - 1];
        *limb &= top_bit - 1;
        if top {
            *limb |= top_bit;
            row[0] |= 1;
        }
    }
    engine.batch_from_limbs(limbs, shape)
}

/// The operands of an operation, in the order that it needs. Modulo a number, the greatest comes
/// last and the others are below it; otherwise the greatest comes first.
pub fn arranged<'a>(
    operation: Operation,
    greater: &'a Batch,
    [x, y]: [&'a Batch; 2],
) -> Vec<&'a Batch> {
    match operation.cost() {
        _ if operation.is(Property::BelowModulus) || operation.is_power() => vec![x, y, greater],
        Cost::Divsteps => vec![x, greater],
        _ => [greater, x, greater][..operation.declaration().operands.len()].to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::{SAMPLE, Times, operand};
    use bigint_host::Engine;
    use std::cell::Cell;
    use std::time::Duration;

    #[test]
    fn what_is_slow_once_is_repeated_as_often_as_what_never_is() {
        let (calls, most) = (Cell::new(0), Cell::new(0));
        let times = Times::of(3, Duration::MAX, |repeats| {
            calls.set(calls.get() + 1);
            most.set(most.get().max(repeats));
            let is_first = calls.get() == 1;
            Ok(if is_first {
                SAMPLE
            } else {
                SAMPLE / 8 * repeats
            })
        });
        assert_eq!(most.get(), 8);
        assert_eq!(times.unwrap().median, SAMPLE.as_nanos() as f64 / 8.0);
    }

    #[test]
    fn samples_end_with_their_time() {
        let hour = Duration::from_secs(3600);
        let times = |limit| Times::of(15, limit, |_| Ok(hour)).unwrap();
        assert_eq!(times(hour / 2).samples, 1);
        assert_eq!(times(2 * hour).samples, 15);
    }

    #[test]
    fn numbers_that_may_be_moduli_are_odd_and_greater_than_the_others() {
        let engine = Engine::cpu();
        for bits in [1, 31, 32, 33, 257] {
            let numbers =
                |top| operand(&engine, bits, 50, 1, top).and_then(|all| all.to_biguints());
            let (moduli, others) = (numbers(true).unwrap(), numbers(false).unwrap());
            for (m, x) in moduli.iter().zip(&others) {
                assert!(m.bits() == bits as u64 && m.bit(0));
                assert!(x < m);
            }
        }
    }
}
