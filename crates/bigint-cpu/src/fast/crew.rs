//! Threads that stay awake between the stages of a computation.
//!
//! Where a stage ends, threads without work fall asleep, and the next stage has to wake them: that takes some ten
//! microseconds for each, longer than a short stage. Within [`together`] the threads of a pool form a crew. They wait
//! awake for the stages, which are the calls of [`share`](crate::share()) by the thread that leads the crew.
//!
//! No stage waits for a thread that has not begun, as the leader can do all of the work alone. A thread that waits for
//! the next stage does other work of the pool meanwhile, so that a long computation does not keep others from theirs.
//! A part of a stage is one thread's: what it shares, it does alone.
//!
//! **Posting a job.** The leader stores the job's address, counts it, works, and clears the address. Then it waits until
//! no thread is inside. A thread that sees the count change goes inside, and reads the address only then: it finds
//! either a job that the leader still waits for, or none.

// A job that is borrowed from the leader's stack is read by other threads.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{hint, thread};

use rayon::Scope;

use crate::threads;

/// The members of a crew that each member calls.
const CALLED: usize = 4;

/// The times that a thread looks before it does other work, or lets others run: some ten microseconds.
const LOOKS: usize = 1000;

/// What the calling thread is in a crew.
enum Role {
    None,
    Leader(Arc<Crew>),
    /// A thread that works on a part of a job.
    Worker,
}

thread_local! {
    static ROLE: RefCell<Role> = const { RefCell::new(Role::None) };
}

/// Who does the parts of work that the calling thread shares.
pub(crate) enum Help {
    /// Threads that must be woken.
    Asleep,
    Awake(Arc<Crew>),
    /// Nobody, as the work is a part of a crew's job.
    Nobody,
}

impl Help {
    pub(crate) fn here() -> Self {
        ROLE.with_borrow(|role| match role {
            Role::None => Help::Asleep,
            Role::Leader(crew) => Help::Awake(Arc::clone(crew)),
            Role::Worker => Help::Nobody,
        })
    }
}

/// Computes `stages` on this thread, which other threads of the pool help with all that it shares, and for which they
/// stay awake. It does not use rayon in any other way, as it might wait for threads that wait for it.
pub(crate) fn together<R>(threads: usize, stages: impl FnOnce() -> R) -> R {
    if threads.min(threads::threads()) <= 1 || !matches!(Help::here(), Help::Asleep) {
        return stages();
    }
    let crew = Arc::new(Crew::default());
    threads::scope(|scope| {
        let _dismissed = Leading::begin(&crew);
        enlist(scope, &crew, 0, threads.min(threads::threads()));
        stages()
    })
}

/// Calls the members below member `rank`.
fn enlist<'s>(scope: &Scope<'s>, crew: &Arc<Crew>, rank: usize, threads: usize) {
    let first = CALLED * rank + 1;
    for other in first..(first + CALLED).min(threads) {
        if crew.posted.load(Ordering::Acquire) == DISMISSED {
            return;
        }
        let crew = Arc::clone(crew);
        scope.spawn(move |scope| {
            enlist(scope, &crew, other, threads);
            crew.serve(other);
        });
    }
}

/// The time in which a thread leads a crew.
struct Leading<'c>(&'c Crew);

impl<'c> Leading<'c> {
    fn begin(crew: &'c Arc<Crew>) -> Self {
        ROLE.set(Role::Leader(Arc::clone(crew)));
        Leading(crew)
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        ROLE.set(Role::None);
        self.0.posted.store(DISMISSED, Ordering::Release);
    }
}

/// The number of jobs posted when there will be no more.
const DISMISSED: usize = usize::MAX;

#[derive(Default)]
pub(crate) struct Crew {
    /// The number of jobs posted so far.
    posted: AtomicUsize,
    /// The job, or null between two jobs.
    job: AtomicPtr<Job<'static>>,
    /// The threads that may be reading the job.
    inside: AtomicUsize,
    /// What a part panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Parts of work that are numbered.
struct Job<'w> {
    work: &'w (dyn Fn(usize) + Sync),
    count: usize,
    threads: usize,
    /// The part that is taken next.
    next: AtomicUsize,
}

impl Job<'_> {
    /// Does parts of the job while there are any.
    fn take_parts(&self) {
        let role = ROLE.replace(Role::Worker);
        let _role = Restored(Some(role));
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.count {
                return;
            }
            (self.work)(part);
        }
    }
}

/// Gives a thread its role back, also when a part panics.
struct Restored(Option<Role>);

impl Drop for Restored {
    fn drop(&mut self) {
        ROLE.set(self.0.take().unwrap_or(Role::None));
    }
}

/// The time in which the crew works on a job.
struct Posted<'c>(&'c Crew);

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.0.job.store(ptr::null_mut(), Ordering::SeqCst);
        wait_until(|| self.0.inside.load(Ordering::SeqCst) == 0, || false);
    }
}

impl Crew {
    /// Does `work` on the numbers below `count`, on at most `threads` threads, of which the leader is one.
    pub(crate) fn share(&self, count: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) {
        let job = Job {
            work,
            count,
            threads,
            next: AtomicUsize::new(0),
        };
        let posted = Posted(self);
        self.job.store(
            ptr::from_ref(&job).cast_mut().cast::<Job<'static>>(),
            Ordering::SeqCst,
        );
        self.posted.fetch_add(1, Ordering::Release);
        job.take_parts();
        drop(posted);
        let panic = self.panic.lock();
        if let Some(panic) = panic.unwrap_or_else(PoisonError::into_inner).take() {
            resume_unwind(panic);
        }
    }

    /// Works on all jobs as member `rank`, until there are no more.
    fn serve(&self, rank: usize) {
        let mut seen = 0;
        loop {
            let posted = || self.posted.load(Ordering::Acquire);
            wait_until(|| posted() != seen, threads::help_others);
            seen = posted();
            if seen == DISMISSED {
                return;
            }
            self.inside.fetch_add(1, Ordering::SeqCst);
            let job = self.job.load(Ordering::SeqCst);
            // SAFETY: the address is null or that of a job on the leader's stack. In the one order of all these operations
            // this thread went inside before it read the address, and the leader clears the address before it waits
            // until nobody is inside. So it waits for this thread before the job ends.
            let job = unsafe { job.as_ref() };
            if let Some(job) = job.filter(|job| rank < job.threads)
                && let Err(panic) = catch_unwind(AssertUnwindSafe(|| job.take_parts()))
            {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
            self.inside.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Waits awake. If it takes longer, does `meanwhile`, or lets other threads run where that does nothing.
fn wait_until(done: impl Fn() -> bool, meanwhile: impl Fn() -> bool) {
    let mut looks = 0;
    while !done() {
        looks += 1;
        if looks < LOOKS {
            hint::spin_loop();
        } else if !meanwhile() {
            thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share;
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    fn in_a_pool_of_four(work: impl FnOnce() + Send) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
        pool.expect("four threads").install(work);
    }

    #[test]
    fn stages_follow_one_another() {
        let stages = || {
            for length in [0, 1, 2, 3, 64, 1000] {
                let mut numbers: Vec<usize> = (0..length).collect();
                for stage in 0..50 {
                    // Every part of a stage sees what the one before left.
                    share(numbers.iter_mut().enumerate(), 4, |(i, number)| {
                        assert_eq!(*number, i + stage);
                        *number += 1;
                    });
                }
                assert_eq!(numbers, (50..50 + length).collect::<Vec<_>>());
            }
        };
        together(4, stages);
        in_a_pool_of_four(|| together(4, stages));
    }

    #[test]
    fn work_within_a_part_and_a_crew_within_a_crew_are_done() {
        in_a_pool_of_four(|| {
            let mut sums = vec![0; 40];
            together(4, || {
                together(4, || {
                    share(sums.iter_mut().enumerate(), 4, |(i, sum)| {
                        let mut parts = vec![0; i];
                        together(4, || share(&mut parts, 4, |part| *part = 1));
                        *sum = parts.iter().sum();
                    });
                });
            });
            assert_eq!(sums, (0..40).collect::<Vec<usize>>());
        });
    }

    #[test]
    fn a_panic_of_a_part_is_the_leaders_and_leaves_the_pool_as_it_was() {
        in_a_pool_of_four(|| {
            for bad in 0..20 {
                let failed = catch_unwind(|| {
                    together(4, || share(0..20, 4, |i| assert_ne!(i, bad)));
                });
                assert!(failed.is_err());
                assert!(matches!(Help::here(), Help::Asleep));
            }
            stages_of_many_crews();
        });
    }

    fn stages_of_many_crews() {
        let mut numbers = vec![0; 100];
        for _ in 0..100 {
            together(4, || share(&mut numbers, 4, |number| *number += 1));
        }
        assert_eq!(numbers, vec![100; 100]);
    }

    #[test]
    fn a_busy_pool_delays_nobody() {
        in_a_pool_of_four(|| {
            let busy = AtomicUsize::new(0);
            rayon::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|_| {
                        busy.fetch_add(1, Ordering::SeqCst);
                        wait_until(|| busy.load(Ordering::SeqCst) == 4, || false);
                    });
                }
                wait_until(|| busy.load(Ordering::SeqCst) == 3, || false);
                // All other threads wait until these stages are done, which is told from within.
                together(4, || {
                    share(0..10, 4, |_| {});
                    busy.fetch_add(1, Ordering::SeqCst);
                });
            });
        });
    }

    #[test]
    fn members_that_wait_do_other_work_of_the_pool() {
        in_a_pool_of_four(|| {
            let begun = AtomicUsize::new(0);
            together(4, || {
                // All threads of the pool are members.
                share(0..4, 4, |_| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    wait_until(|| begun.load(Ordering::SeqCst) == 4, || false);
                });
                let (sender, receiver) = sync_channel(1);
                rayon::spawn(move || sender.send(()).expect("a receiver"));
                let done = receiver.recv_timeout(Duration::from_secs(60));
                assert!(done.is_ok(), "nobody does it");
            });
        });
    }
}
