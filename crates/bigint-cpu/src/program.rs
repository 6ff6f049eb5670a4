//! What a program that uses the library does when memory runs out.
//!
//! The library allocates memory in two ways. An allocation whose size grows with the numbers may
//! fail: the caller gets an error, or takes smaller pieces. The many small allocations beside
//! these may not, and Rust ends a process by SIGABRT if one of them fails. A library cannot change
//! that. A program whose allocator is [`Memory`] ends with a message and the exit code 1.

// An allocator is unsafe to write, and so are the C library's settings of its own.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::OnceLock;

thread_local! {
    /// Whether this thread goes on when one of its allocations fails.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// The function that runs when a program ends because memory ran out.
static LAST: OnceLock<fn()> = OnceLock::new();

/// An allocator that ends the program if `A` has no memory, unless the request is [`fallible`]. On
/// systems other than Linux it is the same as `A`.
///
/// ```
/// use bigint_cpu::program::Memory;
/// use std::alloc::System;
/// #[global_allocator]
/// static MEMORY: Memory<System> = Memory(System);
/// assert!(bigint_cpu::zeroed::<u64>(1 << 58).is_err());
/// ```
#[derive(Debug)]
pub struct Memory<A>(pub A);

// SAFETY: every request is handed to `A` as it is, and what `A` returns is handed back, or
// nothing is: the program ends.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Memory<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps `alloc`'s contract.
        had(unsafe { self.0.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        had(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps `realloc`'s contract.
        had(unsafe { self.0.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { self.0.dealloc(old, layout) }
    }
}

/// Runs a request for memory that may fail. [`Memory`] does not end the program then.
pub fn fallible<R>(request: impl FnOnce() -> R) -> R {
    let before = MAY_FAIL.replace(true);
    let answer = request();
    MAY_FAIL.set(before);
    answer
}

/// Registers a function that runs once when the program ends because memory ran out. `last` must
/// neither allocate memory nor wait for a lock.
pub fn at_end(last: fn()) {
    // Only the first call has an effect.
    let _ = LAST.set(last);
}

/// Sets up the C library's allocator, at the start of a program.
///
/// Each of its arenas takes 64 MiB of addresses, whether they are used or not, and there are more
/// arenas if there are more threads. If addresses are limited, arenas could leave too few for
/// numbers. Then all threads share one arena, and large memory is given back to the system as soon
/// as it is free.
pub fn start() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const LARGE: libc::c_int = 1 << 17;
        let mut limit = libc::rlimit {
            rlim_cur: libc::RLIM_INFINITY,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: the limit is written to a place of its own, and settings of the allocator are
        // allowed at any time.
        unsafe {
            let is_known = libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) == 0;
            if is_known && limit.rlim_cur != libc::RLIM_INFINITY {
                libc::mallopt(libc::M_ARENA_MAX, 1);
                libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
            }
        }
    }
}

/// Returns `pointer`. Ends the program if it is null and the thread may not go on.
fn had(pointer: *mut u8, bytes: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if pointer.is_null() && !MAY_FAIL.get() {
        end(bytes);
    }
    let _ = bytes;
    pointer
}

/// Ends the program without an allocation.
#[cfg(target_os = "linux")]
#[cold]
fn end(bytes: usize) -> ! {
    use std::io::Write;
    use std::sync::atomic::{AtomicI32, Ordering};

    static ENDING: AtomicI32 = AtomicI32::new(0);
    // SAFETY: a thread only reads its own number.
    let me = unsafe { libc::gettid() };
    match ENDING.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {
            let mut line = [0; 100];
            let mut rest = &mut line[..];
            let _ = writeln!(rest, "error: out of memory: {bytes} bytes cannot be had");
            let length = 100 - rest.len();
            // SAFETY: so many bytes of the line have been written. Rust's own stream may be
            // locked.
            unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), length) };
            if let Some(last) = LAST.get() {
                last();
            }
        }
        // The function that was registered allocates memory.
        Err(thread) if thread == me => {}
        // Another thread is ending the program.
        Err(_) => loop {
            // SAFETY: this waits for a signal, of which none comes back.
            unsafe { libc::pause() };
        },
    }
    // SAFETY: nothing of the program's is run any more.
    unsafe { libc::_exit(1) }
}
