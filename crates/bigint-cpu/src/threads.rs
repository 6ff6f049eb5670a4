//! Threads to share work among: as many as the system gives, or only the caller's. No other file
//! takes threads from rayon.
//!
//! rayon's global pool panics when it is used if the system does not give it all its threads. So
//! this module first starts as many threads as the system gives, and makes them that pool. If the
//! system gives none, the pool is never used.
//!
//! A forked process has none of its parent's threads, and the parent's pool would wait for them
//! for ever. So it gets a pool of its own.

use std::panic::catch_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock};
use std::{env, io, iter, process, thread};

use rayon::{Scope, ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use crate::fast::pages;
use crate::memory::LEFT;

/// The function that a thread runs.
type Work = Box<dyn FnOnce() + Send>;

/// The number of threads among which work is shared. If the caller is a thread of a rayon pool,
/// they are those of that pool, else those of rayon's global pool, or in a forked process those
/// of a pool of its own. The pool is started if it is not yet there: with one thread for each
/// core, or with as many as `RAYON_NUM_THREADS` says, or with as many as the system gives.
///
/// The number is 1 if the system gives no threads. Then the caller works alone, and must not call
/// rayon, which would panic.
pub fn threads() -> usize {
    match is_in_pool() {
        true => rayon::current_num_threads(),
        false => Outside::here().threads,
    }
}

/// Whether the caller is a thread of a rayon pool. While such a thread waits, it may take up
/// other work of the pool, so it must not wait while it holds a lock that the other work needs.
pub fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// The pool that works for callers that are not threads of a pool.
#[derive(Clone, Copy)]
struct Outside {
    /// The process that has these threads.
    process: u32,
    threads: usize,
    /// The pool, unless it is rayon's global one.
    pool: Option<&'static ThreadPool>,
}

impl Outside {
    /// The threads of this process, which are started when they are first needed.
    fn here() -> Self {
        static FIRST: OnceLock<Outside> = OnceLock::new();
        static FORKED: Mutex<Option<Outside>> = Mutex::new(None);
        let first = FIRST.get_or_init(Outside::start);
        let process = process::id();
        if first.process == process {
            return *first;
        }
        // No thread may wait here, as the lock may be held by a thread of the parent, which this
        // process does not have.
        let Ok(mut forked) = FORKED.try_lock() else {
            return Outside::alone();
        };
        match *forked {
            Some(outside) if outside.process == process => outside,
            _ => *forked.insert(Outside::start_again()),
        }
    }

    fn alone() -> Self {
        Outside {
            process: process::id(),
            threads: 1,
            pool: None,
        }
    }

    /// Starts rayon's global pool.
    fn start() -> Self {
        Outside {
            threads: start(),
            ..Outside::alone()
        }
    }

    /// Starts a pool in a process that was forked from one with a global pool.
    fn start_again() -> Self {
        let threads = waiting(wanted(), spawn);
        if threads.is_empty() {
            return Outside::alone();
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads.len());
        match pool.spawn_handler(employ(threads)).build() {
            Ok(pool) if pool.current_num_threads() > 1 => Outside {
                threads: pool.current_num_threads(),
                pool: Some(Box::leak(Box::new(pool))),
                ..Outside::alone()
            },
            _ => Outside::alone(),
        }
    }

    /// The pool that must be named to rayon, if it is not the one that rayon would use.
    fn pool() -> Option<&'static ThreadPool> {
        match is_in_pool() {
            true => None,
            false => Outside::here().pool,
        }
    }
}

/// Runs `work` on the caller's thread. It may spawn work for other threads.
pub(crate) fn scope<'s, R>(work: impl FnOnce(&Scope<'s>) -> R) -> R {
    match Outside::pool() {
        Some(pool) => pool.in_place_scope(work),
        None => rayon::in_place_scope(work),
    }
}

/// Runs both functions, at the same time if there are several threads. Returns their results.
pub(crate) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    match Outside::pool() {
        Some(pool) => pool.join(a, b),
        None if threads() > 1 => rayon::join(a, b),
        None => (a(), b()),
    }
}

/// Does other work that waits for a thread of the caller's pool, if there is any; says whether it did.
pub(crate) fn help_others() -> bool {
    rayon::yield_now() == Some(rayon::Yield::Executed)
}

/// Starts a thread if there is memory for it.
fn spawn(work: Work) -> io::Result<()> {
    match pages::can_be_had(LEFT) {
        true => thread::Builder::new().spawn(work).map(drop),
        false => Err(io::ErrorKind::OutOfMemory.into()),
    }
}

fn start() -> usize {
    let threads = waiting(wanted(), spawn);
    if threads.is_empty() {
        return 1;
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads.len());
    match pool.spawn_handler(employ(threads)).build_global() {
        Ok(()) => rayon::current_num_threads(),
        // The program has used the pool before, and the pool may have failed to start.
        Err(_) => catch_unwind(rayon::current_num_threads).unwrap_or(1),
    }
}

/// The number of threads that are wanted. A forked process wants as many as its parent: it may have
/// secrets on its stack, and the C library compares the names of variables 32 bytes at a time.
static WANTED: OnceLock<usize> = OnceLock::new();

/// Sets the number of threads that the library starts, in place of `RAYON_NUM_THREADS`; 0 is one for
/// each core. It has no effect once they are started.
pub fn set_threads(threads: usize) {
    // The first call counts.
    let _ = WANTED.set(of_cores(threads));
}

/// The number itself, or one for each core in place of 0.
fn of_cores(threads: usize) -> usize {
    match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// The number of threads to start. It is 0 if one thread is wanted, as the caller is one.
fn wanted() -> usize {
    let named = || env::var("RAYON_NUM_THREADS").ok()?.parse().ok();
    let wanted = *WANTED.get_or_init(|| of_cores(named().unwrap_or(0)));
    match wanted.min(rayon::max_num_threads()) {
        1 => 0,
        wanted => wanted,
    }
}

/// Starts `wanted` threads, or fewer if the system does not give so many. Each waits until it
/// becomes a thread of the pool. They are started before the pool, as a pool is built for a given
/// number of threads and fails with fewer.
fn waiting(
    wanted: usize,
    mut spawn: impl FnMut(Work) -> io::Result<()>,
) -> Vec<SyncSender<ThreadBuilder>> {
    let thread = || {
        let (sender, receiver) = sync_channel(1);
        let work = move || {
            if let Ok(thread) = receiver.recv() {
                ThreadBuilder::run(thread);
            }
        };
        spawn(Box::new(work)).ok().map(|()| sender)
    };
    iter::repeat_with(thread)
        .take(wanted)
        .map_while(|thread| thread)
        .collect()
}

/// Makes the waiting threads the threads of a pool.
fn employ(threads: Vec<SyncSender<ThreadBuilder>>) -> impl FnMut(ThreadBuilder) -> io::Result<()> {
    let mut threads = threads.into_iter();
    move |thread| {
        let waiting = threads.next().ok_or(io::ErrorKind::WouldBlock)?;
        waiting
            .send(thread)
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_the_threads_that_could_be_had() {
        for (wanted, most) in [(1, 1), (4, 4), (4, 3), (4, 1), (4, 9)] {
            let mut left = most;
            let waiting = waiting(wanted, |work| {
                left = usize::checked_sub(left, 1).ok_or(io::ErrorKind::WouldBlock)?;
                thread::Builder::new().spawn(work).map(drop)
            });
            assert_eq!(waiting.len(), wanted.min(most));
            let pool = ThreadPoolBuilder::new().num_threads(waiting.len());
            let pool = pool.spawn_handler(employ(waiting)).build().unwrap();
            let sums = pool.install(|| {
                assert_eq!(threads(), wanted.min(most));
                crate::map(0..100_000_u64, threads(), |i| i)
            });
            assert_eq!(sums.into_iter().sum::<u64>(), 4_999_950_000);
        }
        let refused = |_| Err(io::ErrorKind::WouldBlock.into());
        assert!(waiting(4, refused).is_empty());
    }
}
