//! Host memory that batches have given back, for the results to come.
//!
//! Fresh memory costs a result more than its computation may: the system hands out
//! zeroed pages one fault at a time. Memory that was written before has its pages, and
//! a result that is written whole needs no zeros.

use crate::Error;
use bigint_core::Limb;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Limbs below which the allocator is as fast, zeros included.
const LEAST_LIMBS: usize = 1 << 10;

/// Limbs kept at most, unless somebody says otherwise: 1 GiB, the result of a million
/// products of 4096 bits.
const MOST_LIMBS: usize = 1 << 28;

/// Vectors kept at most.
const MOST_VECTORS: usize = 64;

/// Memory that waits to be used again, the newest last.
pub(crate) struct Pool {
    kept: Mutex<VecDeque<Vec<Limb>>>,
    /// Limbs kept at most.
    most: usize,
}

impl Default for Pool {
    fn default() -> Self {
        Pool::keeping(MOST_LIMBS)
    }
}

impl Pool {
    /// A pool that keeps so many limbs.
    pub fn keeping(most: usize) -> Self {
        Pool {
            kept: Mutex::default(),
            most,
        }
    }

    /// `length` limbs that hold anything: the memory given back last of those that are at
    /// most an eighth longer, else fresh.
    pub fn take(&self, length: usize) -> Result<Vec<Limb>, Error> {
        if length < LEAST_LIMBS {
            return Ok(bigint_cpu::zeroed(length)?);
        }
        let fits = |limbs: &Vec<Limb>| (length..=length + length / 8).contains(&limbs.capacity());
        let mut kept = self.lock();
        let found = kept.iter().rposition(fits);
        let found = found.and_then(|at| kept.remove(at));
        drop(kept);
        if let Some(mut limbs) = found {
            limbs.resize(length, 0);
            return Ok(limbs);
        }
        bigint_cpu::zeroed(length).or_else(|_| {
            // What is kept may be what is missing.
            self.lock().clear();
            Ok(bigint_cpu::zeroed(length)?)
        })
    }

    /// Keeps memory for later, and lets the oldest go where that is too much.
    pub fn give(&self, limbs: Vec<Limb>) {
        if !(LEAST_LIMBS..=self.most).contains(&limbs.capacity()) {
            return;
        }
        let mut kept = self.lock();
        let mut total: usize = kept.iter().map(Vec::capacity).sum();
        total += limbs.capacity();
        let mut gone = Vec::new();
        while total > self.most || kept.len() >= MOST_VECTORS {
            let Some(oldest) = kept.pop_front() else {
                break;
            };
            total -= oldest.capacity();
            gone.push(oldest);
        }
        kept.push_back(limbs);
        // Memory goes back to the system after the lock has.
        drop(kept);
    }

    /// Keeps memory of any size for a result that is computed at once.
    pub fn hand(&self, limbs: Vec<Limb>) {
        self.lock().push_back(limbs);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Vec<Limb>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_given_back_is_what_the_next_of_its_size_gets() {
        let pool = Pool::default();
        let first = pool.take(5000).unwrap();
        let address = first.as_ptr();
        pool.give(first);
        let others = [10_000, 4000].map(|length| pool.take(length).unwrap());
        assert!(others.iter().all(|other| other.as_ptr() != address));
        let again = pool.take(4900).unwrap();
        assert_eq!((again.as_ptr(), again.len()), (address, 4900));
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let pool = Pool::default();
        for _ in 0..1000 {
            pool.give(vec![1; 2000]);
        }
        assert_eq!(pool.lock().len(), MOST_VECTORS);
        // Pages that nobody touches: this much memory is only asked for.
        for _ in 0..3 {
            pool.give(vec![0; MOST_LIMBS / 2]);
        }
        let kept = pool.lock();
        assert!(kept.iter().map(Vec::capacity).sum::<usize>() <= MOST_LIMBS);
        assert_eq!(kept.len(), 2);
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let bytes = usize::MAX / 8;
        let error = Pool::default().take(bytes / 4).unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
    }
}
