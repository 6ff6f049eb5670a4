//! The devices of an engine, and the share of a batch that each takes.

use crate::DeviceError;
use crate::common::device::{Device, Memory};
use crate::engine::driver;
use bigint_core::shape::INTERLEAVE;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The devices of an engine.
pub(crate) struct Members {
    all: Vec<Member>,
}

/// A device with its state in this engine.
struct Member {
    device: Arc<dyn Device>,
    /// The device's speed, relative to the others.
    rate: f64,
    /// Whether the engine goes on without the device.
    is_lost: AtomicBool,
}

impl Members {
    /// An engine's devices where there are none.
    pub const NOBODY: Self = Members { all: Vec::new() };

    /// Devices with their rates.
    pub fn new(devices: Vec<(Arc<dyn Device>, f64)>) -> Self {
        let member = |(device, rate)| Member {
            device,
            rate,
            is_lost: AtomicBool::new(false),
        };
        Members {
            all: devices.into_iter().map(member).collect(),
        }
    }

    /// The usable devices, for another engine.
    pub fn ready_again(&self) -> Self {
        let devices = self
            .ready()
            .map(|member| (Arc::clone(&member.device), member.rate));
        Members::new(devices.collect())
    }

    /// The usable devices, opened anew for an engine for secrets.
    pub fn for_secrets(&self) -> Result<Self, DeviceError> {
        let devices = self.ready().map(|member| {
            let device = driver::open(member.device.ordinal(), Memory::Wiped)?;
            Ok((device, member.rate))
        });
        Ok(Members::new(devices.collect::<Result<_, DeviceError>>()?))
    }

    /// Marks the device of this number as lost.
    pub fn lose(&self, ordinal: usize) {
        let mut members = self.all.iter();
        if let Some(member) = members.find(|member| member.device.ordinal() == ordinal) {
            member.is_lost.store(true, Ordering::Relaxed);
        }
    }

    fn ready(&self) -> impl Iterator<Item = &Member> {
        let members = self.all.iter();
        members.filter(|member| !member.is_lost.load(Ordering::Relaxed))
    }

    /// The usable devices.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<dyn Device>> {
        self.ready().map(|member| &member.device)
    }

    /// How many devices there are, lost ones too.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The number of the first device, lost or not.
    pub fn first_ordinal(&self) -> Option<usize> {
        self.all.first().map(|member| member.device.ordinal())
    }

    /// The range of `count` numbers that each device takes, in order and in proportion to its
    /// speed; at most `most` devices, the fastest, take any. While no device is lost, batches of
    /// equal length that equally many devices share are shared alike.
    pub fn shares(&self, count: usize, most: usize) -> Vec<(&Arc<dyn Device>, Range<usize>)> {
        let mut members: Vec<&Member> = self.ready().collect();
        if count == 0 || members.is_empty() {
            return Vec::new();
        }
        members.sort_by(|a, b| b.rate.total_cmp(&a.rate));
        members.truncate(most.clamp(1, count));
        members.sort_by_key(|member| member.device.ordinal());
        let rates = members.iter().map(|member| member.rate);
        let rates: Vec<f64> = rates.collect();
        let ends = cut(count, &rates);
        let mut start = 0;
        let shares = members.iter().zip(ends).map(|(member, end)| {
            let numbers = start..end;
            start = end;
            (&member.device, numbers)
        });
        shares.filter(|(_, numbers)| !numbers.is_empty()).collect()
    }
}

/// How many devices should share `work` picoseconds of work, where a launch takes `launch_ns`.
///
/// An operation costs each of `k` devices a launch, which the host makes one after the other,
/// and the `k`-th part of the work: `max(k launch, work / k)`, least where `k^2 = work / launch`.
pub(crate) fn devices(work: f64, launch_ns: f64) -> usize {
    (work / (1000.0 * launch_ns)).sqrt().max(1.0) as usize
}

/// The ends of parts of `count` numbers in proportion to `rates`. All parts but the last are whole
/// tiles of the interleaved layout.
fn cut(count: usize, rates: &[f64]) -> Vec<usize> {
    let total: f64 = rates.iter().sum();
    let mut sum = 0.0;
    let end = |(i, rate): (usize, &f64)| {
        sum += rate;
        match i + 1 == rates.len() {
            true => count,
            false => {
                let end = (count as f64 * sum / total) as usize;
                end.next_multiple_of(INTERLEAVE).min(count)
            }
        }
    };
    rates.iter().enumerate().map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_the_rates_are_and_leave_nothing_out() {
        assert_eq!(cut(4096, &[1.0; 4]), [1024, 2048, 3072, 4096]);
        assert_eq!(cut(1000, &[3.0, 1.0]), [768, 1000]);
        assert_eq!(cut(33, &[1.0, 1.0]), [32, 33]);
        assert_eq!(cut(20, &[1.0, 1.0]), [20, 20]);
    }
}
