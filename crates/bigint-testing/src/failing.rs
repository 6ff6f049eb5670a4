//! An allocator that has no memory for the requests that a test names.

// It is an allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
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

/// The stacks of calls that asked for memory, by their hashes, and the first request of each: 0 where
/// there is none.
static STACKS: [[AtomicU64; 2]; 1 << 16] = [const { [const { AtomicU64::new(0) }; 2] }; 1 << 16];
/// Whether they are looked at.
static LOOKS: AtomicBool = AtomicBool::new(false);
/// The innermost calls that make a stack.
const FRAMES: usize = 64;

thread_local! {
    /// Whether this thread looks at its stack, for which it may need memory.
    static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// What a program told of its requests for memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// How many there were.
    pub requests: u64,
    /// The first of each stack of calls that made one.
    pub firsts: Vec<u64>,
}

impl Told {
    /// What a program that came to its end has told on standard error.
    pub fn of(stderr: &str) -> Option<Self> {
        let numbers = |line: &str| -> Vec<u64> {
            line.split(' ')
                .map_while(|word| word.parse().ok())
                .collect()
        };
        let line = |name| stderr.lines().find_map(|line| line.strip_prefix(name));
        Some(Told {
            requests: *numbers(line("memory: ")?).first()?,
            firsts: line("stacks: ").map_or(Vec::new(), numbers),
        })
    }
}

impl Failing {
    /// Makes request `BIGINT_FAIL_AT` fail, counted from here and from 1, and in all as many as
    /// `BIGINT_FAIL_FOR` says: 1 without it, all that follow where it is 0.
    pub fn arm() {
        let is_set = |name| std::env::var_os(name).is_some();
        TELLS.store(is_set("BIGINT_TELL_MEMORY"), Ordering::Relaxed);
        LOOKS.store(is_set("BIGINT_TELL_STACKS"), Ordering::Relaxed);
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
    /// taken at one time, where `BIGINT_TELL_MEMORY` was set; and the first of each stack of calls,
    /// where `BIGINT_TELL_STACKS` was.
    ///
    /// # Panics
    /// If there are more stacks than there is room for.
    pub fn tell() {
        if LOOKS.swap(false, Ordering::Relaxed) {
            let firsts = STACKS
                .iter()
                .map(|[_, first]| first.load(Ordering::Relaxed));
            let firsts: Vec<u64> = firsts.filter(|&first| first != 0).collect();
            assert!(firsts.len() < STACKS.len(), "too many stacks");
            let firsts: Vec<String> = firsts.iter().map(u64::to_string).collect();
            eprintln!("stacks: {}", firsts.join(" "));
        }
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

    /// Notes a request that is the first of its stack of calls.
    fn look(request: u64) {
        let mut frames = [std::ptr::null_mut(); FRAMES];
        // SAFETY: there is room for as many.
        let count = unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES as i32) };
        // FNV-1a, of whole words.
        let frames = frames[..count as usize].iter();
        let hash = frames.fold(0xcbf2_9ce4_8422_2325_u64, |hash, frame| {
            (hash ^ *frame as u64).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let hash = (hash ^ hash >> 32).max(1);
        for at in 0..STACKS.len() {
            let [stack, first] = &STACKS[(hash as usize).wrapping_add(at) % STACKS.len()];
            match stack.compare_exchange(0, hash, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return first.store(request, Ordering::Relaxed),
                Err(other) if other == hash => return,
                Err(_) => {}
            }
        }
    }

    fn fails() -> bool {
        if IS_LOOKING.get() {
            return false;
        }
        let request = SEEN.fetch_add(1, Ordering::Relaxed) + 1;
        if LOOKS.load(Ordering::Relaxed) {
            IS_LOOKING.set(true);
            Failing::look(request);
            IS_LOOKING.set(false);
        }
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
