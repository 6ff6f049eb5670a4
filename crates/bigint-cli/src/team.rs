//! Threads to measure with, and the rate at which they copy memory.

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;

/// The least time for which a copy is measured in each sample.
const SAMPLE: Duration = Duration::from_millis(5);

/// Threads that measure together: a fixed number, or all that the process has.
pub struct Team {
    pool: Option<ThreadPool>,
}

impl Team {
    /// Makes one team of each of these sizes, or the process's own where no size is given.
    ///
    /// # Errors
    /// [`Failure::Running`] where the system does not give so many threads.
    pub fn each(threads: &[u16]) -> Result<Vec<Team>, Failure> {
        if threads.is_empty() {
            return Ok(vec![Team { pool: None }]);
        }
        let team = |&threads: &u16| Team::of(usize::from(threads));
        threads.iter().map(team).collect()
    }

    /// Makes a team of so many threads.
    ///
    /// # Errors
    /// As for [`Team::each`].
    pub fn of(threads: usize) -> Result<Team, Failure> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| {
            Failure::Running(format!("{threads} threads cannot be had: {error}"))
        })?;
        Ok(Team { pool: Some(pool) })
    }

    /// The number of threads, where it was given.
    pub fn threads(&self) -> Option<usize> {
        self.pool.as_ref().map(ThreadPool::current_num_threads)
    }

    /// Runs `work` on these threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// The rate of a copy that reads and writes `bytes` bytes in all, an equal part on each thread:
    /// the median of so many samples.
    ///
    /// # Errors
    /// [`Failure::Running`] where there is no memory for them.
    pub fn copy_gigabytes_per_second(&self, bytes: usize, samples: usize) -> Result<f64, Failure> {
        let length = (bytes / 2).max(1);
        let mut from = bigint_cpu::zeroed::<u8>(length)?;
        let mut to = bigint_cpu::zeroed::<u8>(length)?;
        // Pages that nobody has written are all the same one.
        from.fill(1);
        let threads = self.threads().unwrap_or(1);
        let part = length.div_ceil(threads);
        let mut rates = Vec::new();
        self.install(|| {
            // The first finds fresh pages.
            for _ in 0..=samples {
                let (started, mut copies) = (Instant::now(), 0);
                while copies == 0 || started.elapsed() < SAMPLE {
                    let parts = to.chunks_mut(part).zip(from.chunks(part));
                    bigint_cpu::share(parts, threads, |(to, from)| to.copy_from_slice(from));
                    std::hint::black_box(&mut to);
                    copies += 1;
                }
                let moved = 2.0 * length as f64 * f64::from(copies);
                rates.push(moved / started.elapsed().as_secs_f64() / 1e9);
            }
        });
        let rates = &mut rates[1..];
        rates.sort_by(f64::total_cmp);
        Ok(rates[rates.len() / 2])
    }
}
