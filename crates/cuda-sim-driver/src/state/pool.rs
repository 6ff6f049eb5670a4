//! Memory pools: what allocations on streams come out of. A pool here keeps no
//! memory of its own, it counts what was taken from it.

use crate::state::handle::Handle;
use crate::sync::locked;
use std::sync::{Mutex, MutexGuard};

/// A `CUmemoryPool`.
pub struct Pool {
    /// The pool's handle, which the program holds.
    pub handle: Handle,
    /// The device whose memory it is.
    pub ordinal: usize,
    /// Whether the program made it; else it is a device's default one.
    pub created: bool,
    account: Mutex<Account>,
}

/// A pool's attributes.
#[derive(Clone, Copy, Default)]
pub struct Account {
    /// Whether memory may be used again across streams, in three ways: kept.
    pub reuse: [i32; 3],
    /// Bytes to keep when they are free: kept.
    pub threshold: u64,
    /// Bytes taken now, and the most there ever were.
    pub used: u64,
    /// See `used`.
    pub most: u64,
}

impl Pool {
    /// An empty pool.
    pub fn new(ordinal: usize, created: bool) -> Pool {
        Pool {
            handle: Handle::fresh(),
            ordinal,
            created,
            account: Mutex::new(Account {
                reuse: [1; 3],
                ..Account::default()
            }),
        }
    }

    /// The attributes, with exclusive access.
    pub fn account(&self) -> MutexGuard<'_, Account> {
        locked(&self.account)
    }

    /// Counts bytes that are taken.
    pub fn take(&self, bytes: u64) {
        let mut account = self.account();
        account.used += bytes;
        account.most = account.most.max(account.used);
    }

    /// Counts bytes that are given back.
    pub fn give_back(&self, bytes: u64) {
        let mut account = self.account();
        account.used = account.used.saturating_sub(bytes);
    }
}
