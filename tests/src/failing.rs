//! An allocator that has no memory when it is told to, for tests.

// It is an allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, but for the requests that [`Failing::arm`] says.
pub struct Failing;

/// Requests seen.
static SEEN: AtomicU64 = AtomicU64::new(0);
/// The first request that fails, and the first after it that does not.
static FAILS: [AtomicU64; 2] = [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)];

impl Failing {
    /// Has request `BIGINT_FAIL_AT` fail, counted from here and from 1, and as many as
    /// `BIGINT_FAIL_FOR` says in all: 1 without it, all that follow where it is 0.
    pub fn arm() {
        let number = |name| std::env::var(name).ok()?.parse::<u64>().ok();
        let (Some(at), most) = (number("BIGINT_FAIL_AT"), number("BIGINT_FAIL_FOR")) else {
            return;
        };
        let first = SEEN.load(Ordering::Relaxed).saturating_add(at);
        let after = match most.unwrap_or(1) {
            0 => u64::MAX,
            most => first.saturating_add(most),
        };
        FAILS[1].store(after, Ordering::Relaxed);
        FAILS[0].store(first, Ordering::Relaxed);
    }

    fn fails() -> bool {
        let request = SEEN.fetch_add(1, Ordering::Relaxed) + 1;
        let [first, after] = [&FAILS[0], &FAILS[1]].map(|bound| bound.load(Ordering::Relaxed));
        first <= request && request < after
    }
}

// SAFETY: every request is the system's allocator's, or is answered with null.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Failing::fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Failing::fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if Failing::fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps `realloc`'s contract.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(old, layout) }
    }
}
