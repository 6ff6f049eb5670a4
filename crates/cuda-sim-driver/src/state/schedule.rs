//! The order of asynchronous work.
//!
//! Everything a program submits becomes a task with a ticket, and says which
//! tickets it must come after: the one before it on its stream, the events it
//! waits for, and what the legacy default stream adds. One thread per device
//! runs what is ready, so the host goes on meanwhile, and what is submitted in
//! the same order runs in the same order: a fault shows itself every time.
//!
//! Two kernels never run at the same time on one device. CUDA allows that.

use crate::environment::Schedule;
use crate::sync::locked;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A task's place in the order of submission.
pub type Ticket = u64;

/// The work of a task.
pub type Work = Box<dyn FnOnce() + Send>;

struct Task {
    device: usize,
    after: Vec<Ticket>,
    work: Work,
}

#[derive(Default)]
struct State {
    next: Ticket,
    pending: BTreeMap<Ticket, Task>,
    running: BTreeSet<Ticket>,
    /// Devices whose thread has been started.
    started: BTreeSet<usize>,
    /// Threads in [`Scheduler::wait`].
    waiting: usize,
    /// Someone asked whether work is done: let one task run.
    nudged: bool,
}

impl State {
    fn is_done(&self, ticket: Ticket) -> bool {
        ticket < self.next && !self.pending.contains_key(&ticket) && !self.running.contains(&ticket)
    }

    fn ready(&self, device: usize, schedule: Schedule) -> Option<Ticket> {
        let is_ready = |(ticket, task): (&Ticket, &Task)| {
            let ready = task.device == device && task.after.iter().all(|t| self.is_done(*t));
            ready.then_some(*ticket)
        };
        match schedule {
            Schedule::Submission => self.pending.iter().find_map(is_ready),
            Schedule::Adversarial if self.waiting > 0 || self.nudged => {
                self.pending.iter().rev().find_map(is_ready)
            }
            Schedule::Adversarial => None,
        }
    }
}

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread runs a device's work: a host function that the
/// program put on a stream must not call the driver.
pub fn on_worker_thread() -> bool {
    IS_WORKER.try_with(Cell::get).unwrap_or(false)
}

/// All work that was submitted and is not done.
pub struct Scheduler {
    schedule: Schedule,
    state: Mutex<State>,
    changed: Condvar,
}

impl Scheduler {
    /// An empty queue.
    pub fn new(schedule: Schedule) -> Self {
        Scheduler {
            schedule,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No task runs under this lock, so no panic leaves the state half changed.
        locked(&self.state)
    }

    /// Queues `work` for `device`, to start when all of `after` are done.
    ///
    /// The error says why the device's thread could not be started.
    pub fn submit(
        &'static self,
        device: usize,
        after: Vec<Ticket>,
        work: Work,
    ) -> std::io::Result<Ticket> {
        let mut state = self.lock();
        if !state.started.contains(&device) {
            std::thread::Builder::new()
                .name(format!("cuda-sim device {device}"))
                .spawn(move || self.run(device))?;
            state.started.insert(device);
        }
        let ticket = state.next;
        state.next += 1;
        let task = Task {
            device,
            after,
            work,
        };
        state.pending.insert(ticket, task);
        self.changed.notify_all();
        Ok(ticket)
    }

    /// Whether a task is done. Asking makes lazy work go on, so that a program
    /// which asks until the answer is yes gets there.
    pub fn poll(&self, ticket: Ticket) -> bool {
        let mut state = self.lock();
        let done = state.is_done(ticket);
        if !done {
            state.nudged = true;
            self.changed.notify_all();
        }
        done
    }

    /// Returns when all of `tickets` are done.
    pub fn wait(&self, tickets: &[Ticket]) {
        let mut state = self.lock();
        state.waiting += 1;
        self.changed.notify_all();
        while !tickets.iter().all(|ticket| state.is_done(*ticket)) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
    }

    /// Returns when everything that was submitted before is done.
    pub fn finish(&self) {
        let state = self.lock();
        let pending = state.pending.keys();
        let tickets: Vec<_> = pending.chain(&state.running).copied().collect();
        drop(state);
        self.wait(&tickets);
    }

    /// A device's thread: runs for as long as the process.
    fn run(&self, device: usize) {
        IS_WORKER.set(true);
        let mut state = self.lock();
        loop {
            let Some(ticket) = state.ready(device, self.schedule) else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Some(task) = state.pending.remove(&ticket) else {
                continue;
            };
            state.nudged = false;
            state.running.insert(ticket);
            drop(state);
            // A task reports its own failure; should it panic nevertheless, those
            // who wait for it must not wait for ever.
            let _ = catch_unwind(AssertUnwindSafe(task.work));
            state = self.lock();
            state.running.remove(&ticket);
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Submits tasks 0, 1, ... that come after the given earlier ones, waits for
    /// all, and returns the order in which they ran.
    fn order(schedule: Schedule, tasks: &[(usize, &[usize])]) -> Vec<usize> {
        let scheduler: &'static Scheduler = Box::leak(Box::new(Scheduler::new(schedule)));
        let ran = Arc::new(Mutex::new(Vec::new()));
        let mut tickets = Vec::new();
        for (number, (device, after)) in tasks.iter().enumerate() {
            let after = after.iter().map(|t| tickets[*t]).collect();
            let ran = Arc::clone(&ran);
            let work = Box::new(move || ran.lock().expect("no panic").push(number));
            tickets.push(scheduler.submit(*device, after, work).expect("a thread"));
        }
        scheduler.wait(&tickets);
        ran.lock().expect("no panic").clone()
    }

    #[test]
    fn independent_work_runs_as_submitted() {
        assert_eq!(
            order(Schedule::Submission, &[(0, &[]), (0, &[]), (0, &[0])]),
            [0, 1, 2]
        );
    }

    #[test]
    fn the_adversary_turns_round_what_is_not_ordered_and_nothing_else() {
        assert_eq!(
            order(Schedule::Adversarial, &[(0, &[]), (0, &[]), (0, &[0])]),
            [1, 0, 2]
        );
        assert_eq!(
            order(Schedule::Adversarial, &[(0, &[]), (0, &[0]), (0, &[1])]),
            [0, 1, 2]
        );
    }

    #[test]
    fn a_task_waits_for_another_device() {
        for schedule in [Schedule::Submission, Schedule::Adversarial] {
            assert_eq!(
                order(schedule, &[(0, &[]), (1, &[0]), (0, &[1]), (1, &[2])]),
                [0, 1, 2, 3]
            );
        }
    }

    #[test]
    fn a_task_that_panics_is_done() {
        let scheduler: &'static Scheduler =
            Box::leak(Box::new(Scheduler::new(Schedule::Submission)));
        let ticket = scheduler
            .submit(0, Vec::new(), Box::new(|| panic!("on purpose")))
            .expect("a thread");
        scheduler.wait(&[ticket]);
        assert!(scheduler.poll(ticket));
    }

    #[test]
    fn asking_is_enough_to_get_there() {
        let scheduler: &'static Scheduler =
            Box::leak(Box::new(Scheduler::new(Schedule::Adversarial)));
        let first = scheduler.submit(0, Vec::new(), Box::new(|| ())).expect("a");
        let second = scheduler
            .submit(0, vec![first], Box::new(|| ()))
            .expect("b");
        while !scheduler.poll(second) {
            std::thread::yield_now();
        }
    }
}
