//! Threads for one stage of the pipeline.

use std::cell::OnceCell;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// As many threads as rayon's own pool has, which computes. In that one a product would
/// wait behind the tasks of the other stages, and their time count as its own.
#[derive(Default)]
pub struct Pool(OnceCell<Option<ThreadPool>>);

impl Pool {
    /// Runs `work`, and what it shares out, on these threads; on rayon's where there are
    /// no more to be had.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.0.get_or_init(|| ThreadPoolBuilder::new().build().ok()) {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}
