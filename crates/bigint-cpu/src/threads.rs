//! Threads: as many as can be had, down to the caller's alone. Nothing else here asks
//! rayon for any.
//!
//! rayon's own pool has the threads that it asked for or panics when it is used. Here
//! threads are started first, as many as the system gives, and become that pool; where it
//! gives none, nobody touches the pool.

use std::panic::catch_unwind;
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::{env, io, iter, thread};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

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
    static OF_THE_PROCESS: OnceLock<usize> = OnceLock::new();
    match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        None => *OF_THE_PROCESS.get_or_init(start),
    }
}

/// Both results, at the same time where there are threads.
pub(crate) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads() > 1 {
        rayon::join(a, b)
    } else {
        (a(), b())
    }
}

/// Runs `stages`, each of which shares work out, on one of several threads: from outside,
/// each would wait for the pool to wake up.
pub(crate) fn inside(stages: impl FnOnce() + Send) {
    if threads() > 1 {
        rayon::scope(|_| stages());
    } else {
        stages();
    }
}

fn start() -> usize {
    let spawn = |work| match pages::can_be_had(LEFT) {
        true => thread::Builder::new().spawn(work).map(drop),
        false => Err(io::ErrorKind::OutOfMemory.into()),
    };
    let threads = waiting(wanted(), spawn);
    if threads.is_empty() {
        return 1;
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads.len());
    match pool.spawn_handler(employ(threads)).build_global() {
        Ok(()) => rayon::current_num_threads(),
        // The program has asked for the pool before, and may have been refused.
        Err(_) => catch_unwind(rayon::current_num_threads).unwrap_or(1),
    }
}

fn wanted() -> usize {
    let named = env::var("RAYON_NUM_THREADS").ok();
    let named = named.and_then(|number| number.parse().ok());
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let wanted = named.filter(|&number| number > 0);
    wanted.unwrap_or_else(cores).min(rayon::max_num_threads())
}

/// Threads that wait to be told what they are, `wanted` or fewer. The pool takes a
/// number of threads and has no use for fewer: they must be there before it is.
fn waiting(
    wanted: usize,
    mut spawn: impl FnMut(Work) -> io::Result<()>,
) -> Vec<SyncSender<ThreadBuilder>> {
    let thread = || {
        let (tell, told) = sync_channel(1);
        let work = move || {
            if let Ok(thread) = told.recv() {
                ThreadBuilder::run(thread);
            }
        };
        spawn(Box::new(work)).ok().map(|()| tell)
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
