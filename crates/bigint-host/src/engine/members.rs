//! The devices of an engine, what each of them takes of a batch, and threads that wait for
//! them.

use crate::DeviceError;
use crate::cuda::{Device, Memory};
use bigint_core::shape::INTERLEAVE;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The devices of an engine.
pub(crate) struct Members {
    all: Vec<Member>,
}

/// A device, and what this engine knows of it.
struct Member {
    device: Arc<Device>,
    /// How fast it computes, beside the others.
    rate: f64,
    /// Set once the engine goes on without it.
    is_lost: AtomicBool,
}

impl Members {
    /// No devices.
    pub const NOBODY: Self = Members { all: Vec::new() };

    /// Devices with their rates.
    pub fn new(devices: Vec<(Arc<Device>, f64)>) -> Self {
        let member = |(device, rate)| Member {
            device,
            rate,
            is_lost: AtomicBool::new(false),
        };
        Members {
            all: devices.into_iter().map(member).collect(),
        }
    }

    /// Those that can be used, for another engine.
    pub fn ready_again(&self) -> Self {
        let devices = self
            .ready()
            .map(|member| (Arc::clone(&member.device), member.rate));
        Members::new(devices.collect())
    }

    /// Those that can be used, for an engine for secrets.
    pub fn for_secrets(&self) -> Result<Self, DeviceError> {
        let devices = self.ready().map(|member| {
            let device = Device::open(member.device.ordinal(), Memory::Wiped)?;
            Ok((device, member.rate))
        });
        Ok(Members::new(devices.collect::<Result<_, DeviceError>>()?))
    }

    /// Goes on without the device of this number.
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

    /// The devices that can be used.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<Device>> {
        self.ready().map(|member| &member.device)
    }

    /// The number of the first device, lost or not.
    pub fn first_ordinal(&self) -> Option<usize> {
        self.all.first().map(|member| member.device.ordinal())
    }

    /// Which of `count` numbers each device takes, in order: as many as its rate says, of at
    /// most so many devices, the fastest. Batches of equal length that as many share are
    /// shared alike while no device is lost.
    pub fn shares(&self, count: usize, most: usize) -> Vec<(&Arc<Device>, Range<usize>)> {
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

/// The ends of parts of `count` numbers that are to one another as `rates` are: whole tiles
/// of the interleaved layout, but for the last.
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

/// What `work` makes of every item, each on a thread of its own where it can be had; in
/// their order. These threads wait for devices: in a pool of those that compute, one that
/// waits might take up another's work and wait for itself.
pub(crate) fn each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let slot = |item| Slot {
        item: Mutex::new(Some(item)),
        made: Mutex::new(None),
    };
    let slots: Vec<Slot<T, R>> = items.into_iter().map(slot).collect();
    let run = |slot: &Slot<T, R>| {
        if let Some(item) = lock(&slot.item).take() {
            let made = work(item);
            *lock(&slot.made) = Some(made);
        }
    };
    thread::scope(|scope| {
        for slot in slots.iter().skip(1) {
            let run = &run;
            // What no thread takes, this one does below.
            let _ = thread::Builder::new().spawn_scoped(scope, move || run(slot));
        }
        slots.iter().for_each(run);
    });
    let made = slots.into_iter().map(|slot| slot.made.into_inner());
    let made = made.filter_map(|made| made.unwrap_or_else(PoisonError::into_inner));
    made.collect()
}

/// An item, and what is made of it.
struct Slot<T, R> {
    item: Mutex<Option<T>>,
    made: Mutex<Option<R>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn each_item_is_worked_on_once_and_in_order() {
        for count in [0, 1, 2, 9] {
            let squares = each((0..count).collect(), |i: usize| i * i);
            assert!(squares.into_iter().eq((0..count).map(|i| i * i)));
        }
    }
}
