//! What thresholds measured on one GPU are on another: a model of times.
//!
//! A kernel keeps several pipes busy: multiply-adds of integers, doubles, tensor cores, shared memory, the
//! issue of instructions, device memory. The simulator counts exactly what each of them does for one number
//! (`cargo xtask count`), and the driver tells what each of them does in a second ([`Facts`], and NVIDIA's
//! table of results a clock). The busiest pipe bounds a kernel's time from below:
//!
//! ```text
//! bound(device)   = max over pipes of  count / rate(device)
//! modelled(there) = measured(here) bound(there) / bound(here)
//! ```
//!
//! so that what a bound leaves out, latencies and waiting, is as it was measured. Where the device is the
//! one that was measured, both bounds are one, and times are the measured ones. Counts and rates stand in
//! `tuning/pipes.toml`.

use crate::Tuning;
use crate::common::facts::Facts;
use crate::tuning::gpu::{FftTuning, ToeplitzTuning};
use bigint_core::rns::RnsPlan;
use serde::Deserialize;
use std::sync::LazyLock;

impl Facts {
    /// The multiply-adds of bytes that tensor cores do in a second, by NVIDIA's table; 0 where there are none.
    pub(crate) fn byte_multiply_adds_per_second(&self) -> f64 {
        self.rates().tensor * 1e9
    }

    /// The operations that each pipe does in a nanosecond.
    fn rates(&self) -> Pipes {
        let of_clock = PIPES.rates_of(self.capability);
        let clocks = f64::from(self.multiprocessors) * f64::from(self.clock_khz) / 1e6;
        Pipes {
            multiply_adds: of_clock.multiply_adds * clocks,
            doubles: of_clock.floats * clocks / f64::from(self.floats_for_a_double.max(1)),
            tensor: of_clock.tensor * clocks,
            shared: of_clock.shared * clocks,
            issued: of_clock.issued * clocks,
            bytes: self.memory_bytes_per_nanosecond(),
        }
    }
}

/// The operations of pipes: for one number, or in a nanosecond.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Pipes {
    /// Multiply-adds of 32 by 32 bits with a sum of 64.
    multiply_adds: f64,
    /// Operations on doubles.
    doubles: f64,
    /// Multiply-adds of bytes by tensor cores.
    tensor: f64,
    /// Passes of shared memory.
    shared: f64,
    /// Instructions of warps.
    issued: f64,
    /// Bytes of device memory.
    bytes: f64,
}

impl Pipes {
    /// The nanoseconds that the busiest pipe takes at these rates.
    fn bound(&self, rates: &Pipes) -> f64 {
        let pairs = [
            (self.multiply_adds, rates.multiply_adds),
            (self.doubles, rates.doubles),
            (self.tensor, rates.tensor),
            (self.shared, rates.shared),
            (self.issued, rates.issued),
            (self.bytes, rates.bytes),
        ];
        let times = pairs.iter().filter(|(count, _)| *count > 0.0);
        times.map(|(count, rate)| count / rate).fold(0.0, f64::max)
    }
}

/// Results a clock and multiprocessor, from a compute capability on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfClock {
    capability: (u32, u32),
    floats: f64,
    multiply_adds: f64,
    tensor: f64,
    shared: f64,
    issued: f64,
}

/// The counts of products and squares by transforms of blocks of so many lanes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfBlock {
    lanes: u32,
    product: Pipes,
    square: Pipes,
}

/// The counts of products by Toeplitz matrices of operands of so many limbs.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfWidth {
    max_width: usize,
    product: Pipes,
}

/// The counts of what takes steps for each limb, and passes for each square of a limb: of divisors by
/// Lehmer's steps, and of products in residue number systems, whose limbs are pairs of groups of primes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfSteps {
    limb: Pipes,
    square: Pipes,
}

impl OfSteps {
    /// The operations for numbers of `n` limbs.
    fn of(&self, n: usize) -> Pipes {
        let n = n as f64;
        let sum = |limb: f64, square: f64| n * (limb + n * square);
        let (limb, square) = (&self.limb, &self.square);
        Pipes {
            multiply_adds: sum(limb.multiply_adds, square.multiply_adds),
            doubles: sum(limb.doubles, square.doubles),
            tensor: sum(limb.tensor, square.tensor),
            shared: sum(limb.shared, square.shared),
            issued: sum(limb.issued, square.issued),
            bytes: sum(limb.bytes, square.bytes),
        }
    }
}

/// `tuning/pipes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    rates: Vec<OfClock>,
    school: Pipes,
    toeplitz: Vec<OfWidth>,
    fft: Vec<OfBlock>,
    grid_near: Pipes,
    grid_far: Pipes,
    ntt: Pipes,
    doubles: OfSteps,
    words: OfSteps,
    rns: OfSteps,
}

static PIPES: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../tuning/pipes.toml")).expect("a test reads the shipped table")
});

impl Table {
    /// The rates of the newest capability that is not newer than this one, or those of the oldest if there is
    /// none.
    fn rates_of(&self, capability: (u32, u32)) -> &OfClock {
        let known = self.rates.iter().rev();
        let mut older = known.filter(|rates| rates.capability <= capability);
        older.next().unwrap_or(&self.rates[0])
    }
}

impl Tuning {
    /// The thresholds on a device: times become what the model says of it.
    #[must_use]
    pub fn on(&self, facts: &Facts) -> Tuning {
        let mut tuning = self.clone();
        let Some(measured) = self.device.filter(|measured| measured != facts) else {
            return tuning;
        };
        tuning.is_modelled = true;
        let (here, there) = (measured.rates(), facts.rates());
        let times = |pipes: &Pipes| pipes.bound(&there) / pipes.bound(&here);
        tuning.provenance.how = format!(
            "measured on {}, modelled for {facts}",
            self.provenance.machine
        );
        let mul = &mut tuning.mul;
        mul.school_nanoseconds *= times(&PIPES.school);
        for row in &mut mul.toeplitz {
            scale_toeplitz(row, times);
        }
        for row in &mut mul.fft {
            scale_fft(row, times, f64::from(facts.multiprocessors));
        }
        let (near, far) = (times(&PIPES.grid_near), times(&PIPES.grid_far));
        mul.grid.digit_nanoseconds *= near;
        mul.grid.square_digit_nanoseconds *= near;
        mul.grid.far_digit_nanoseconds *= far;
        mul.grid.far_square_digit_nanoseconds *= far;
        let ntt = times(&PIPES.ntt);
        mul.ntt.limb_nanoseconds *= ntt;
        mul.ntt.square_limb_nanoseconds *= ntt;
        for row in &mut tuning.modular.rns {
            let pairs = RnsPlan::of(row.width).map_or(0, |plan| plan.pairs);
            if measured.has_warpgroups() && !facts.has_warpgroups() {
                row.vartime_nanoseconds *= row.warps_nanoseconds / row.nanoseconds;
                row.nanoseconds = row.warps_nanoseconds;
            }
            row.vartime_nanoseconds *= times(&PIPES.rns.of(pairs as usize));
            row.nanoseconds *= times(&PIPES.rns.of(pairs as usize));
            row.warps_nanoseconds *= times(&PIPES.rns.of(pairs as usize));
            row.conversion_nanoseconds *= times(&PIPES.school);
            row.windows_nanoseconds *= times(&PIPES.school);
            row.windows_vartime_nanoseconds *= times(&PIPES.school);
        }
        // Windows take multiply-adds as the square of the width, rings doubles as the width.
        let weaker = |of: fn(&Pipes) -> f64| of(&here) / of(&there);
        let by = weaker(|rates| rates.doubles) / weaker(|rates| rates.multiply_adds);
        tuning.modular.rings_min_width =
            (tuning.modular.rings_min_width as f64 * by.max(1.0)).ceil() as usize;
        if near > ntt {
            // Where doubles are weaker beside integers than where it was measured, times alone decide.
            mul.ntt.shortest = 0;
        }
        let is_by_words =
            |&n: &usize| PIPES.words.of(n).bound(&there) < PIPES.doubles.of(n).bound(&there);
        let widest = tuning.div.gcd_device_max_width;
        tuning.div.words_max_width = (1..=widest).rev().find(is_by_words).unwrap_or(0);
        tuning
    }
}

fn scale_toeplitz(row: &mut ToeplitzTuning, times: impl Fn(&Pipes) -> f64) {
    let rows = &PIPES.toeplitz;
    let counts = rows.iter().find(|counts| row.max_width <= counts.max_width);
    let by = times(&counts.or(rows.last()).expect("a table has rows").product);
    row.nanoseconds *= by;
    row.limb_nanoseconds *= by;
}

/// One product alone takes as long as it did, or what one of so many multiprocessors takes for it.
fn scale_fft(row: &mut FftTuning, times: impl Fn(&Pipes) -> f64, multiprocessors: f64) {
    let rows = &PIPES.fft;
    let counts = rows.iter().find(|counts| row.lanes <= counts.lanes);
    let counts = counts.or(rows.last()).expect("a table has rows");
    row.nanoseconds *= times(&counts.product);
    row.square_nanoseconds *= times(&counts.square);
    let alone = |was: f64, one: f64| was.max(one * multiprocessors);
    row.alone_nanoseconds = alone(row.alone_nanoseconds, row.nanoseconds);
    row.square_alone_nanoseconds = alone(row.square_alone_nanoseconds, row.square_nanoseconds);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::common::device::Abilities;
    use bigint_core::{Algorithm, Layout, Operation, Shape};

    /// An RTX 4090, as its driver tells.
    const WEAK: Facts = Facts {
        capability: (8, 9),
        multiprocessors: 128,
        clock_khz: 2_520_000,
        memory_clock_khz: 10_501_000,
        memory_bus_bits: 384,
        cache_bytes: 72 << 20,
        floats_for_a_double: 64,
    };

    fn measured() -> Facts {
        Tuning::default()
            .device
            .expect("the shipped table names its device")
    }

    #[test]
    fn on_the_device_that_was_measured_times_are_as_measured() {
        let (shipped, same) = (Tuning::default(), Tuning::default().on(&measured()));
        assert!(!same.is_modelled);
        assert_eq!(same.mul.school_nanoseconds, shipped.mul.school_nanoseconds);
        let own = Tuning {
            device: None,
            ..Tuning::default()
        };
        let own = own.on(&WEAK);
        assert!(!own.is_modelled && own.div.words_max_width == 0);
    }

    /// The bound is below what was measured on the same chip, and not by much: a kernel is as far from it
    /// on another device.
    #[test]
    fn measured_times_of_products_are_near_the_bounds_of_the_model() {
        let (tuning, rates) = (Tuning::default(), measured().rates());
        let mut shares = vec![PIPES.school.bound(&rates) / tuning.mul.school_nanoseconds];
        for (row, counts) in tuning.mul.fft.iter().zip(&PIPES.fft) {
            assert_eq!(row.lanes, counts.lanes);
            shares.push(counts.product.bound(&rates) / row.nanoseconds);
            shares.push(counts.square.bound(&rates) / row.square_nanoseconds);
        }
        for (row, counts) in tuning.mul.toeplitz.iter().zip(&PIPES.toeplitz) {
            let width = row.max_width;
            let time = row.nanoseconds + row.limb_nanoseconds * width as f64;
            shares.push(counts.product.bound(&rates) / time);
        }
        assert!(
            shares.iter().all(|share| (0.44..1.0).contains(share)),
            "{shares:?}"
        );
    }

    /// The nanoseconds of records of 2026-11-26 of an H100, whose memory alone differs from that of an
    /// H200, by the model of the table of the H200.
    #[test]
    fn times_of_an_h100_are_within_a_quarter_of_the_model() {
        let h100 = Facts {
            memory_clock_khz: 2_619_000,
            memory_bus_bits: 5120,
            cache_bytes: 50 << 20,
            ..measured()
        };
        let tuning = Tuning::default().on(&h100);
        assert!(tuning.is_modelled);
        let blocks = |limbs| tuning.blocks(Operation::Mul, limbs, limbs).one;
        for (modelled, measured) in [
            (blocks(256), 4.409),
            (blocks(512), 9.486),
            (64.0 * 64.0 * tuning.mul.school_nanoseconds, 0.5959),
            (128.0 * 128.0 * tuning.mul.school_nanoseconds, 2.295),
        ] {
            let off = f64::abs(modelled / measured - 1.0);
            assert!(
                off < 0.25,
                "{modelled} ns by the model, {measured} measured"
            );
        }
    }

    #[test]
    fn slow_doubles_leave_products_and_divisors_to_integers() {
        let tuning = Tuning::default().on(&WEAK);
        let device = Abilities {
            shared_bytes: 99 << 10,
            has_tensor_cores: true,
            has_warpgroups: false,
            multiprocessors: None,
        };
        for limbs in [1, 16, 64, 96, 128, 256, 512] {
            for operation in [Operation::Mul, Operation::Gcd, Operation::InvMod] {
                let widths = [limbs; 2];
                let shape = Shape::new(10_000, operation.exact_width(&widths), Layout::Contiguous);
                let options = Options::default();
                let chosen = tuning.kernel_and_why(operation, &widths, shape, options, device);
                let algorithm = chosen.unwrap().0.algorithm;
                let by_doubles = [Algorithm::Fft, Algorithm::Lehmer].contains(&algorithm);
                assert!(
                    !by_doubles || limbs >= 128 && operation != Operation::Mul,
                    "{operation:?} of {limbs} limbs"
                );
            }
        }
    }
}
