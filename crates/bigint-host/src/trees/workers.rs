//! Who computes groups of numbers: each device a group at a time, side by side.
//!
//! An engine of one device remembers nothing to make results again, as one does that goes on without a device. What a
//! device loses is begun again, as a whole group: by another device, or in the end by the engine of all.

use crate::common::threads::lock;
use crate::trees::product_tree::ProductTree;
use crate::{Batch, Engine, Error};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// Is told of so many more groups that are done, and levels.
pub(super) type Tell<'a> = &'a dyn Fn(usize, usize);

/// Is called when a level of a tree is done, of either way.
pub(crate) type Tick<'a> = &'a dyn Fn();

/// Products of numbers that are no leaves of a tree, made as they are wanted.
pub(super) type Others<'a> = &'a mut dyn Iterator<Item = Result<Batch, Error>>;

/// Those who compute the groups of a run.
pub(super) struct Workers<'a> {
    all: &'a Engine,
    /// Engines of a device each, until that fails.
    alone: Vec<Option<Engine>>,
}

/// A group that is to be computed, with its tree and the worker that has made it.
pub(super) struct Task {
    pub group: usize,
    pub tree: Option<(usize, ProductTree)>,
}

impl<'a> Workers<'a> {
    /// Each usable device of this engine, or the engine itself where groups are to be computed by `all` of it.
    pub fn new(all: &'a Engine, by_devices: bool) -> Self {
        let inner = &all.inner;
        let devices = inner.devices().filter(|_| by_devices && inner.falls_back());
        let alone = |device| Engine {
            inner: Arc::new(inner.on_device(Some(device))),
            options: all.options,
        };
        Workers {
            all,
            alone: devices.map(|device| Some(alone(device))).collect(),
        }
    }

    /// The results of tasks in their order. `work` has the number of the worker, its engine and a task.
    pub fn each<R: Send>(
        &mut self,
        tasks: Vec<Task>,
        tell: Tell<'_>,
        work: impl Fn((usize, &Engine), Task, Tell<'_>) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let is_there = |of: &usize| !matches!(self.alone.get(*of), Some(None));
        let own = |task: Task| Task {
            tree: task.tree.filter(|(of, _)| is_there(of)),
            ..task
        };
        let tasks: Vec<Task> = tasks.into_iter().map(own).collect();
        let made: Vec<Mutex<Option<R>>> = tasks.iter().map(|_| Mutex::default()).collect();
        let left = Mutex::new(tasks.into_iter().enumerate().collect::<Vec<_>>());
        let take = |worker| {
            let mut left = lock(&left);
            let is_own =
                |(_, task): &(usize, Task)| task.tree.as_ref().is_none_or(|&(of, _)| of == worker);
            let at = left.iter().position(is_own)?;
            Some(left.remove(at))
        };
        let work = &work;
        let all_of = |worker: usize, engine: &Engine, tell: Tell<'_>| {
            while let Some((at, task)) = take(worker) {
                let group = task.group;
                match work((worker, engine), task, tell) {
                    Ok(result) => *lock(&made[at]) = Some(result),
                    Err(error) => {
                        lock(&left).push((at, Task { group, tree: None }));
                        return Err(error);
                    }
                }
            }
            Ok(())
        };
        loop {
            let alone = self.alone.iter().enumerate();
            let ready = alone.filter_map(|(worker, of)| Some((worker, of.as_ref()?)));
            let ready: Vec<(usize, &Engine)> = ready.collect();
            let ended = side_by_side(&ready, tell, &all_of);
            let mut failed = Vec::new();
            for (&(worker, engine), ended) in ready.iter().zip(ended) {
                let warnings = engine.warnings().into_iter();
                warnings.for_each(|warning| self.all.inner.warn(warning));
                failed.extend(ended.err().map(|error| (worker, error)));
            }
            if failed.is_empty() {
                break;
            }
            for (worker, error) in failed {
                self.all.inner.hand_over(error)?;
                self.alone[worker] = None;
                for (_, task) in lock(&left).iter_mut() {
                    task.tree.take_if(|(of, _)| *of == worker);
                }
            }
        }
        all_of(self.alone.len(), self.all, tell)?;
        let made = made.into_iter().map(|made| made.into_inner());
        let made = made.map(|made| made.unwrap_or_else(PoisonError::into_inner));
        Ok(made
            .map(|made| made.expect("each task is done or failed"))
            .collect())
    }
}

/// Has each worker do its part, on a thread of its own where there are several; what they tell is told on this one.
fn side_by_side<R: Send>(
    workers: &[(usize, &Engine)],
    tell: Tell<'_>,
    work: &(impl Fn(usize, &Engine, Tell<'_>) -> R + Sync),
) -> Vec<R> {
    if let [(worker, engine)] = workers {
        return vec![work(*worker, engine, tell)];
    }
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let begun = workers.iter().map(|&(worker, engine)| {
            let sender = sender.clone();
            scope.spawn(move || {
                work(worker, engine, &|groups, levels| {
                    // It is received as long as this thread lives.
                    let _ = sender.send((groups, levels));
                })
            })
        });
        let threads: Vec<_> = begun.collect();
        drop(sender);
        receiver
            .iter()
            .for_each(|(groups, levels)| tell(groups, levels));
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}
