//! Threads for one stage of the pipeline.

use std::cell::OnceCell;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The least number of bytes of text for which threads are worth their start.
const WORTH_THREADS: usize = 1 << 17;

/// As many threads as rayon's own pool has. That pool computes: in it a product would wait behind
/// the tasks of other stages, and their time would count as its own.
#[derive(Default)]
pub struct Pool(OnceCell<Option<ThreadPool>>);

impl Pool {
    /// Runs `work`, which shares out so many bytes of text, on these threads; on rayon's where
    /// there is little text, or where threads cannot be had.
    pub fn run<R: Send>(&self, bytes: usize, work: impl FnOnce() -> R + Send) -> R {
        if bytes < WORTH_THREADS {
            return work();
        }
        match self.0.get_or_init(|| ThreadPoolBuilder::new().build().ok()) {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}
