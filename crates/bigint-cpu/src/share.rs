//! Work that is shared among threads, as far as waking them is worth it.
//!
//! Waking a sleeping thread takes microseconds, and waking many, one after another, takes longer
//! than a short batch. So the caller works too, each part is taken by a thread that is awake, and
//! threads that have been woken wake the next ones.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::fast::crew::Help;
use crate::threads;
use rayon::Scope;
use serde::{Deserialize, Serialize};

/// The amounts of work from which on it is shared. The unit is the time of a product of two limbs
/// among many, which is one to three hundredths of a nanosecond with AVX-512 IFMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// The work for each thread, if there is enough for `WORTH_WAKING` of them.
    pub thread: usize,
    /// The least that a thread takes at a time.
    pub piece: usize,
}

impl Default for Sharing {
    /// Work is shared from some ten microseconds on, which is less than sleeping threads take to
    /// wake, and soon among all threads. In a stream of batches they then stay awake. Threads that
    /// were left out would sleep, and each batch would wake them for nothing.
    fn default() -> Self {
        Sharing {
            thread: 1 << 17,
            piece: 1 << 18,
        }
    }
}

/// The number of threads that it is worth waking if there is work for each.
const WORTH_WAKING: usize = 8;

/// The cost of a limb that is read or written, in the unit of [`Sharing`].
pub const LIMB_WORK: usize = 16;

/// The pieces that a thread takes one after another, if there is enough work, so that a thread
/// that comes late leaves some of its share to the others.
const PIECES_OF_THREAD: usize = 4;

/// The number of threads that a thread wakes before it works.
const WOKEN: usize = 4;

/// The time for which the caller waits for the others before it sleeps. When it sleeps, waking it
/// again takes time.
const PATIENCE: Duration = Duration::from_micros(50);

/// The way in which a batch is cut, and the number of threads that share the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The numbers of a piece. The last piece may have fewer.
    pub size: usize,
    /// The number of threads, including the caller's.
    pub threads: usize,
}

impl Sharing {
    /// The way to cut `count` numbers, each of which costs `work`: into pieces of at most `most`
    /// numbers, which are multiples of `granule`, or into one piece if it is for one thread.
    pub fn cut(&self, count: usize, work: usize, most: usize, granule: usize) -> Cut {
        let total = count.saturating_mul(work);
        let wanted = total / self.thread.max(1);
        // Counting the threads takes longer than a short product.
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

/// The bytes that a thread copies before it takes more.
const COPIED: usize = 256 << 10;

/// Runs `work` on each part, on at most `threads` threads: the caller's, and others of those that
/// [`threads`](crate::threads) counts.
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
    let take = |at: usize| {
        let mut part = parts[at].lock().unwrap_or_else(PoisonError::into_inner);
        part.take()
    };
    share_indices(parts.len(), threads, &|at| {
        take(at).into_iter().for_each(&work)
    });
}

/// [`share`] of the numbers below `count`. It is compiled once for all kinds of work.
fn share_indices(count: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) {
    match Help::here() {
        Help::Asleep => {}
        Help::Awake(crew) => return crew.share(count, threads, work),
        Help::Nobody => return (0..count).for_each(work),
    }
    let team = Team {
        threads: threads.min(count),
        count,
        next: AtomicUsize::new(0),
        at_work: AtomicUsize::new(0),
        work,
    };
    threads::scope(|scope| {
        team.join_in(scope, 0);
        // A thread of the pool does not wait awake, as it has other work to do.
        if !threads::is_in_pool() {
            let started = Instant::now();
            while team.at_work.load(Ordering::Acquire) > 0 && started.elapsed() < PATIENCE {
                std::hint::spin_loop();
            }
        }
    });
}

/// The results of `work` for all parts, in their order. Otherwise it is like [`share`].
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

/// Copies `from` to `to`, which has the same length, on all threads of the current rayon pool.
///
/// # Panics
/// If the lengths differ.
pub fn copy<T: Copy + Send + Sync>(to: &mut [T], from: &[T]) {
    assert_eq!(to.len(), from.len());
    let part = (COPIED / size_of::<T>().max(1)).max(1);
    let parts = to.chunks_mut(part).zip(from.chunks(part));
    share(parts, usize::MAX, |(to, from)| to.copy_from_slice(from));
}

struct Team<'w> {
    /// The number of parts.
    count: usize,
    /// The number of the part that is taken next.
    next: AtomicUsize,
    /// The number of threads that were woken and have not finished.
    at_work: AtomicUsize,
    threads: usize,
    work: &'w (dyn Fn(usize) + Sync),
}

impl Team<'_> {
    /// Wakes the threads that thread `rank` must wake, and takes parts while there are any.
    fn join_in<'s>(&'s self, scope: &Scope<'s>, rank: usize) {
        let first = WOKEN * rank + 1;
        for other in first..(first + WOKEN).min(self.threads) {
            if self.next.load(Ordering::Relaxed) >= self.count {
                return;
            }
            self.at_work.fetch_add(1, Ordering::Relaxed);
            scope.spawn(move |scope| {
                self.join_in(scope, other);
                self.at_work.fetch_sub(1, Ordering::Release);
            });
        }
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            if at >= self.count {
                return;
            }
            (self.work)(at);
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
