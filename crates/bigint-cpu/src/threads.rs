//! Threads: as many as can be had, down to the caller's alone. No other
//! file takes threads from rayon.
//!
//! rayon's own pool has all threads that it wants, or panics when it is used. Here
//! threads are started first, as many as the system gives, and become that pool; where it
//! gives none, nobody touches the pool.
//!
//! A process that is forked has none of its parent's threads, and a pool that waits for them
//! waits for ever. It has a pool of its own.

use std::panic::catch_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock};
use std::{env, io, iter, process, thread};

use rayon::{Scope, ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use crate::fast::pages;
use crate::memory::LEFT;

/// What a thread does.
type Work = Box<dyn FnOnce() + Send>;

/// Threads that work is shared out among: those of the rayon pool that the caller is one
/// of, else those of rayon's own pool. This starts it: one thread for each core, or as
/// many as `RAYON_NUM_THREADS` says, or as the system gives.
///
/// One where it gives none: the caller works alone then, and must not ask rayon for
/// anything, which would panic.
pub fn threads() -> usize {
    match is_in_pool() {
        true => rayon::current_num_threads(),
        false => Outside::here().threads,
    }
}

/// Whether the caller is one of a rayon pool's threads: one that waits may take up other work of
/// that pool, so it must not wait while it holds a lock that this other work wants.
pub fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// The pool that works for a caller that is no thread of a pool.
#[derive(Clone, Copy)]
struct Outside {
    /// The process that these threads are of.
    process: u32,
    threads: usize,
    /// The pool, unless it is rayon's own.
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
        // Nobody waits here: who has the lock may be a thread that this process has not.
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

    /// Starts rayon's own pool.
    fn start() -> Self {
        Outside {
            threads: start(),
            ..Outside::alone()
        }
    }

    /// Starts a pool in a process that was forked from one that had rayon's.
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

    /// The pool to name, where rayon would not find it by itself.
    fn pool() -> Option<&'static ThreadPool> {
        match is_in_pool() {
            true => None,
            false => Outside::here().pool,
        }
    }
}

/// Runs `work`, which may hand work to several threads, on the caller's.
pub(crate) fn scope<'s, R>(work: impl FnOnce(&Scope<'s>) -> R) -> R {
    match Outside::pool() {
        Some(pool) => pool.in_place_scope(work),
        None => rayon::in_place_scope(work),
    }
}

/// What both functions return; they run at the same time where there are threads.
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

/// Runs `stages`, each of which shares work out, on one of several threads: from outside,
/// each would wait for the pool to wake up.
pub(crate) fn inside(stages: impl FnOnce() + Send) {
    match Outside::pool() {
        Some(pool) => pool.scope(|_| stages()),
        None if threads() > 1 => rayon::scope(|_| stages()),
        None => stages(),
    }
}

/// Starts a thread, where there is memory for it.
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
        // The program has used the pool before, which may have failed.
        Err(_) => catch_unwind(rayon::current_num_threads).unwrap_or(1),
    }
}

/// The number of threads that the program wants, if it has said so.
static WANTED: OnceLock<usize> = OnceLock::new();

/// Sets the number of threads that the library starts, in place of `RAYON_NUM_THREADS`. It has no
/// effect once they are started.
pub fn set_threads(threads: usize) {
    // The first call counts.
    let _ = WANTED.set(threads);
}

/// How many threads to start: none where one would be enough, as the caller is one.
fn wanted() -> usize {
    let named = || env::var("RAYON_NUM_THREADS").ok()?.parse().ok();
    let named = WANTED.get().copied().or_else(named);
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let wanted = named.filter(|&number| number > 0);
    match wanted.unwrap_or_else(cores).min(rayon::max_num_threads()) {
        1 => 0,
        wanted => wanted,
    }
}

/// Starts `wanted` threads, or fewer, each of which waits for its part in the pool. They must
/// be there before the pool is, which takes a number of threads and has no use for fewer.
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

/// Makes the waiting threads those of a pool.
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
