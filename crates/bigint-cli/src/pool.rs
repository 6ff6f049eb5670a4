//! Threads for one stage of the pipeline.

use std::cell::OnceCell;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Bytes of text that are worth threads of their own.
const WORTH_THREADS: usize = 1 << 17;

/// As many threads as rayon's own pool has, which computes. In that one a product would
/// wait behind the tasks of the other stages, and their time count as its own.
#[derive(Default)]
pub struct Pool(OnceCell<Option<ThreadPool>>);

impl Pool {
    /// Runs `work` on so many bytes of text, and what it shares out, on these threads; on
    /// rayon's where it is little, or there are no more to be had.
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
