//! An allocator that has no memory for the requests that a test names.

// It is an allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The system's allocator, which refuses the requests that [`Failing::arm`] names.
#[derive(Debug)]
pub struct Failing;

/// Requests seen.
static SEEN: AtomicU64 = AtomicU64::new(0);
/// The first request that fails, and the first after it that does not.
static FAILS: [AtomicU64; 2] = [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)];

/// Bytes that are taken, and the most of them that ever were.
static BYTES: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);
/// Whether failed requests are reported.
static TELLS: AtomicBool = AtomicBool::new(false);

impl Failing {
    /// Makes request `BIGINT_FAIL_AT` fail, counted from here and from 1, and in all as many as
    /// `BIGINT_FAIL_FOR` says: 1 without it, all that follow where it is 0.
    pub fn arm() {
        TELLS.store(
            std::env::var_os("BIGINT_TELL_MEMORY").is_some(),
            Ordering::Relaxed,
        );
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

    /// Tells on standard error how many requests there were, and the most bytes that were
    /// taken at one time, where `BIGINT_TELL_MEMORY` was set.
    pub fn tell() {
        if TELLS.load(Ordering::Relaxed) {
            let [requests, most] = [SEEN.load(Ordering::Relaxed), MOST.load(Ordering::Relaxed)];
            eprintln!("memory: {requests} requests, {most} bytes at most");
        }
    }

    /// Counts what replaces `old` bytes, where it could be had.
    fn count(pointer: *mut u8, old: usize, new: usize) -> *mut u8 {
        let [old, new] = [old, new].map(|bytes| bytes as u64);
        if !pointer.is_null() {
            BYTES.fetch_sub(old, Ordering::Relaxed);
            let bytes = BYTES.fetch_add(new, Ordering::Relaxed) + new;
            MOST.fetch_max(bytes, Ordering::Relaxed);
        }
        pointer
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
        Failing::count(unsafe { System.alloc(layout) }, 0, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Failing::fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        Failing::count(unsafe { System.alloc_zeroed(layout) }, 0, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if Failing::fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps `realloc`'s contract.
        Failing::count(
            unsafe { System.realloc(old, layout, size) },
            layout.size(),
            size,
        )
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(old, layout) }
    }
}
