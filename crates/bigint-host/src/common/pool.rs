//! Host memory that batches have given back, for the results to come.
//!
//! Fresh memory costs a result more than its computation may: the system hands out
//! zeroed pages one fault at a time. Memory that was written before has its pages, and
//! a result that is written whole needs no zeros.

use crate::Error;
use bigint_core::Limb;
use std::collections::VecDeque;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use zeroize::Zeroize;

/// Below this length the allocator is as fast, zeros included.
const LEAST_LIMBS: usize = 1 << 10;

/// The most limbs that are kept by default: 1 GiB, the result of a million products of 4096 bits.
const MOST_LIMBS: usize = 1 << 28;

/// The most vectors that are kept.
const MOST_VECTORS: usize = 64;

/// How many of the last requests are remembered.
const MOST_ASKED: usize = 16;

/// Memory that waits to be used again.
pub(crate) struct Pool {
    kept: Mutex<Kept>,
    /// The most limbs that are kept.
    most: usize,
    /// Whether memory is overwritten when it is given back.
    is_for_secrets: bool,
    /// The process that made the pool.
    process: u32,
}

#[derive(Default)]
struct Kept {
    /// The vectors that were given back, newest last.
    vectors: VecDeque<Vec<Limb>>,
    /// The lengths of the last requests, newest last. Operands come from elsewhere, and the length
    /// of their memory may be one that no result has.
    asked: VecDeque<usize>,
}

impl Kept {
    /// The newest vector that has room for `length` limbs and for little more.
    fn take(&mut self, length: usize) -> Option<Vec<Limb>> {
        self.asked.retain(|&asked| asked != length);
        self.asked.push_back(length);
        if self.asked.len() > MOST_ASKED {
            self.asked.pop_front();
        }
        let fits = |limbs: &Vec<Limb>| fits(limbs, length);
        let found = self.vectors.iter().rposition(fits);
        found.and_then(|at| self.vectors.remove(at))
    }

    /// The vector whose length was not requested for the longest time; of several, the oldest.
    fn least_wanted(&mut self) -> Option<Vec<Limb>> {
        let wanted = |limbs: &Vec<Limb>| self.asked.iter().rposition(|&length| fits(limbs, length));
        let vectors = self.vectors.iter().enumerate();
        let (at, _) = vectors.min_by_key(|(_, limbs)| wanted(limbs))?;
        self.vectors.remove(at)
    }
}

/// Whether the memory has room for `length` limbs, and at most an eighth more.
fn fits(limbs: &Vec<Limb>, length: usize) -> bool {
    (length..=length + length / 8).contains(&limbs.capacity())
}

impl Default for Pool {
    fn default() -> Self {
        Pool::keeping(MOST_LIMBS)
    }
}

impl Pool {
    /// Makes a pool that keeps at most `most` limbs.
    pub fn keeping(most: usize) -> Self {
        Pool {
            kept: Mutex::default(),
            most,
            process: process::id(),
            is_for_secrets: false,
        }
    }

    /// Makes an empty pool with the same settings.
    pub fn alike(&self) -> Self {
        Pool {
            is_for_secrets: self.is_for_secrets,
            ..Pool::keeping(self.most)
        }
    }

    /// Makes an empty pool with the same settings that overwrites memory given back to it.
    pub fn for_secrets(&self) -> Self {
        Pool {
            is_for_secrets: true,
            ..self.alike()
        }
    }

    /// Whether memory is overwritten when it is given back.
    pub fn is_for_secrets(&self) -> bool {
        self.is_for_secrets
    }

    /// Overwrites memory that is about to be freed, if it may hold secrets.
    pub fn wipe(&self, limbs: &mut Vec<Limb>) {
        if self.is_for_secrets {
            limbs.zeroize();
        }
    }

    /// Memory for `length` limbs with any content: memory given back if there is some, or fresh.
    pub fn take(&self, length: usize) -> Result<Vec<Limb>, Error> {
        if length < LEAST_LIMBS {
            return Ok(bigint_cpu::zeroed(length)?);
        }
        let found = self.lock().and_then(|mut kept| kept.take(length));
        if let Some(mut limbs) = found {
            limbs.resize(length, 0);
            return Ok(limbs);
        }
        bigint_cpu::zeroed(length).or_else(|_| {
            // What is kept may be what is missing.
            if let Some(mut kept) = self.lock() {
                kept.vectors.clear();
            }
            Ok(bigint_cpu::zeroed(length)?)
        })
    }

    /// Keeps memory for later, and frees other memory where that is too much: the vectors whose
    /// lengths were not requested for the longest time.
    pub fn give(&self, mut limbs: Vec<Limb>) {
        self.wipe(&mut limbs);
        if !(LEAST_LIMBS..=self.most).contains(&limbs.capacity()) {
            return;
        }
        let Some(mut kept) = self.lock() else { return };
        kept.vectors.push_back(limbs);
        let mut total: usize = kept.vectors.iter().map(Vec::capacity).sum();
        let mut gone = Vec::new();
        while total > self.most || kept.vectors.len() > MOST_VECTORS {
            let Some(vector) = kept.least_wanted() else {
                break;
            };
            total -= vector.capacity();
            gone.push(vector);
        }
        // Memory goes back to the system after the lock has.
        drop(kept);
    }

    /// Keeps memory of any size for a result that is computed at once.
    pub fn hand(&self, limbs: Vec<Limb>) {
        if let Some(mut kept) = self.lock() {
            kept.vectors.push_back(limbs);
        }
    }

    /// The pool's content. None in a forked process where another thread of the parent held the
    /// lock.
    fn lock(&self) -> Option<MutexGuard<'_, Kept>> {
        match self.kept.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) if process::id() != self.process => None,
            Err(TryLockError::WouldBlock) => {
                Some(self.kept.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
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
        assert_eq!(pool.lock().unwrap().vectors.len(), MOST_VECTORS);
        // Pages that nobody touches: this much memory is only asked for.
        for _ in 0..3 {
            pool.give(vec![0; MOST_LIMBS / 2]);
        }
        let kept = &pool.lock().unwrap().vectors;
        assert!(kept.iter().map(Vec::capacity).sum::<usize>() <= MOST_LIMBS);
        assert_eq!(kept.len(), 2);
    }

    #[test]
    fn operands_do_not_take_the_place_of_results() {
        let pool = Pool::keeping(10_000);
        // Their lengths were asked for once, the result's since then.
        drop(pool.take(3000));
        let result = pool.take(6000).unwrap();
        let address = result.as_ptr();
        for limbs in [result, vec![1; 3000], vec![1; 3000], vec![1; 2000]] {
            pool.give(limbs);
        }
        let lengths = |kept: &Kept| kept.vectors.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(&pool.lock().unwrap()), [6000, 3000]);
        let again = pool.take(6000).unwrap();
        assert_eq!(again.as_ptr(), address);
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let bytes = usize::MAX / 8;
        let error = Pool::default().take(bytes / 4).unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
    }
}
