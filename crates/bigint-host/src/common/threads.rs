//! Threads that wait for devices, and locks that outlive a thread's panic.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Applies `work` to every item, each on a thread of its own where it can be had; results are in
/// the items' order. These threads wait for devices: in a pool of threads that compute, one that
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

/// An item, and the result for it.
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
    fn each_item_is_worked_on_once_and_in_order() {
        for count in [0, 1, 2, 9] {
            let squares = each((0..count).collect(), |i: usize| i * i);
            assert!(squares.into_iter().eq((0..count).map(|i| i * i)));
        }
    }
}
