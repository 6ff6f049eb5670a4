//! Work shared out among threads, as far as waking them is worth it.
//!
//! A sleeping thread takes microseconds to wake, one after another: a short batch is
//! done before the last one is there. So the caller works as well, the parts are taken
//! by whoever is awake, and those who have been woken wake the next.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::threads;
use rayon::Scope;
use serde::{Deserialize, Serialize};

/// The amounts of work from which on it is shared out, in the time of a product of two limbs among
/// many: one to three hundredths of a nanosecond with AVX-512 IFMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// Work for each thread, where there is enough for `WORTH_WAKING` of them.
    pub thread: usize,
    /// The least that a thread takes at a time.
    pub piece: usize,
}

impl Default for Sharing {
    /// From some ten microseconds on, which is less than sleeping threads take to wake;
    /// then soon all of them: in a stream of batches they stay awake, unless some are left
    /// out, which sleep, and which each batch wakes for nothing.
    fn default() -> Self {
        Sharing {
            thread: 1 << 17,
            piece: 1 << 18,
        }
    }
}

/// Threads whose work is worth waking them.
const WORTH_WAKING: usize = 8;

/// What a limb that is read or written costs, in the unit of [`Sharing`].
pub const LIMB_WORK: usize = 16;

/// Pieces that a thread takes one after another, where there is work enough: a thread
/// that comes late leaves some of its own to the others.
const PIECES_OF_THREAD: usize = 4;

/// Threads that a thread wakes before it works.
const WOKEN: usize = 4;

/// How long the caller waits for the others before it sleeps, which costs it the time
/// to wake again.
const PATIENCE: Duration = Duration::from_micros(50);

/// How a batch is cut, and how many threads share the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Numbers in a piece; the last may have fewer.
    pub size: usize,
    /// Threads, the caller's included.
    pub threads: usize,
}

impl Sharing {
    /// How `count` numbers of so much `work` each are cut: into pieces of at most `most`
    /// numbers, but whole multiples of `granule`, and into one piece for one thread.
    pub fn cut(&self, count: usize, work: usize, most: usize, granule: usize) -> Cut {
        let total = count.saturating_mul(work);
        let wanted = total / self.thread.max(1);
        // Counting the threads that there are takes longer than a short product.
        let threads = match wanted {
            0..WORTH_WAKING => 1,
            _ => wanted.min(crate::threads()),
        };
        if threads == 1 {
            return Cut {
                size: count,
                threads,
            };
        }
        let of_thread = total / threads / self.piece.max(1);
        let pieces = (threads * of_thread.clamp(1, PIECES_OF_THREAD))
            .max(count.div_ceil(most.max(1)))
            .next_multiple_of(threads);
        let size = count.div_ceil(pieces).next_multiple_of(granule);
        Cut { size, threads }
    }
}

/// Bytes that a thread copies before it takes more.
const COPIED: usize = 256 << 10;

/// Runs `work` on every part, on at most so many threads: the caller's, and others of
/// those that [`threads`](crate::threads) counts.
pub fn share<T: Send>(parts: impl IntoIterator<Item = T>, threads: usize, work: impl Fn(T) + Sync) {
    let threads = match threads {
        0 | 1 => 1,
        _ => threads.min(crate::threads()),
    };
    if threads == 1 {
        return parts.into_iter().for_each(work);
    }
    let parts: Vec<_> = parts
        .into_iter()
        .map(|part| Mutex::new(Some(part)))
        .collect();
    let team = Team {
        threads: threads.min(parts.len()),
        parts,
        next: AtomicUsize::new(0),
        at_work: AtomicUsize::new(0),
        work,
    };
    threads::scope(|scope| {
        team.join_in(scope, 0);
        // A thread of the pool has better to do.
        if !threads::is_in_pool() {
            let started = Instant::now();
            while team.at_work.load(Ordering::Acquire) > 0 && started.elapsed() < PATIENCE {
                std::hint::spin_loop();
            }
        }
    });
}

/// What `work` makes of every part, in their order; otherwise as [`share`].
pub fn map<T: Send, R: Send>(
    parts: impl IntoIterator<Item = T>,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let parts: Vec<T> = parts.into_iter().collect();
    let mut results: Vec<_> = parts.iter().map(|_| None).collect();
    share(
        parts.into_iter().zip(&mut results),
        threads,
        |(part, result)| {
            *result = Some(work(part));
        },
    );
    results.into_iter().flatten().collect()
}

/// Copies `from` to `to`, which is as long, on all threads of the current rayon pool.
///
/// # Panics
/// Where the lengths differ.
pub fn copy<T: Copy + Send + Sync>(to: &mut [T], from: &[T]) {
    assert_eq!(to.len(), from.len());
    let part = (COPIED / size_of::<T>().max(1)).max(1);
    let parts = to.chunks_mut(part).zip(from.chunks(part));
    share(parts, usize::MAX, |(to, from)| to.copy_from_slice(from));
}

struct Team<T, W> {
    parts: Vec<Mutex<Option<T>>>,
    /// The part that is taken next.
    next: AtomicUsize,
    /// Threads woken that have not finished.
    at_work: AtomicUsize,
    threads: usize,
    work: W,
}

impl<T: Send, W: Fn(T) + Sync> Team<T, W> {
    /// Wakes the threads whose turn comes after that of thread `rank`, and takes parts
    /// while there are any.
    fn join_in<'s>(&'s self, scope: &Scope<'s>, rank: usize) {
        let first = WOKEN * rank + 1;
        for other in first..(first + WOKEN).min(self.threads) {
            if self.next.load(Ordering::Relaxed) >= self.parts.len() {
                return;
            }
            self.at_work.fetch_add(1, Ordering::Relaxed);
            scope.spawn(move |scope| {
                self.join_in(scope, other);
                self.at_work.fetch_sub(1, Ordering::Release);
            });
        }
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let part = part.lock().unwrap_or_else(PoisonError::into_inner).take();
            part.into_iter().for_each(&self.work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_worked_on_once() {
        for threads in [1, 2, 3, 16, 40] {
            for count in [0, 1, 2, 15, 16, 17, 1000] {
                let mut seen = vec![0; count];
                share(&mut seen, threads, |times| *times += 1);
                assert_eq!(seen, vec![1; count], "{threads} threads");
            }
        }
    }

    #[test]
    fn short_work_wakes_nobody_and_long_work_has_pieces_for_each() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(16).build();
        pool.expect("sixteen threads").install(|| {
            let sharing = Sharing::default();
            let alone = Cut {
                size: 64,
                threads: 1,
            };
            // 64 products of 512 bits.
            assert_eq!(sharing.cut(64, 16 * 16 + 16 * 64, 512, 8), alone);
            for (count, work) in [
                (1000, 2200),
                (4096, 24_000),
                (1000, 1_000_000),
                (1 << 20, 2000),
            ] {
                let cut = sharing.cut(count, work, 4096, 8);
                assert_eq!((cut.threads, cut.size % 8), (16, 0));
                assert!((16..300).contains(&count.div_ceil(cut.size)), "{cut:?}");
                assert!(cut.size <= 4096);
            }
        });
    }
}
