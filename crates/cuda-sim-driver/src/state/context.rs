//! A context, and how work enters its streams.

use crate::error::{CONTEXT_LOST, Code, Result};
use crate::state::driver::{Device, Driver};
use crate::state::gpu::Gpu;
use crate::state::graph::{Capture, Work};
use crate::state::handle::Handle;
use crate::state::library::{Kernel, Library};
use crate::state::module::{Function, Module};
use crate::state::schedule::Ticket;
use crate::state::stream::{Event, Target};
use crate::sync::locked;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// A context: its work, and whether it still lives.
pub struct Context {
    /// The context's handle, which the program holds.
    pub handle: Handle,
    /// The driver.
    pub driver: &'static Driver,
    /// The device's ordinal.
    pub ordinal: usize,
    /// Whether the context is its device's primary one.
    pub is_primary: bool,
    /// `CU_CTX_*` flags.
    pub flags: AtomicU32,
    /// `cuCtxSetLimit`, cache and shared-memory preferences.
    pub settings: Mutex<Settings>,
    destroyed: AtomicBool,
    failure: AtomicU32,
    lanes: Mutex<Lanes>,
    /// The captures, by stream.
    captures: Mutex<HashMap<Target, Arc<Capture>>>,
}

/// The settings of a context that a program may change, and that the simulator keeps and answers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The limits, by `CUlimit`; zero for a limit without a default here.
    pub limits: [usize; 6],
    /// `CUfunc_cache`.
    pub cache: u32,
    /// `CUsharedconfig`.
    pub shared: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            // Stack, printf buffer, heap, synchronisation depth, pending launches,
            // fetch granularity: a real driver's defaults.
            limits: [1024, 1 << 20, 8 << 20, 2, 2048, 64],
            cache: 0,
            shared: 0,
        }
    }
}

/// The order of work within a context: one lane for each stream.
#[derive(Default)]
struct Lanes {
    /// The legacy default stream's last task.
    default: Option<Ticket>,
    others: HashMap<Handle, Lane>,
    /// Last tasks of destroyed streams; whether the stream was a blocking one.
    retired: Vec<(Ticket, bool)>,
}

struct Lane {
    blocking: bool,
    last: Option<Ticket>,
}

impl Context {
    /// A new context on a device, with nothing in it.
    pub fn new(
        driver: &'static Driver,
        ordinal: usize,
        handle: Handle,
        flags: u32,
        is_primary: bool,
    ) -> Context {
        Context {
            handle,
            driver,
            ordinal,
            is_primary,
            flags: AtomicU32::new(flags),
            settings: Mutex::default(),
            destroyed: AtomicBool::new(false),
            failure: AtomicU32::new(0),
            lanes: Mutex::default(),
            captures: Mutex::default(),
        }
    }

    /// The context's device.
    pub fn device(&self) -> &'static Device {
        &self.driver.devices[self.ordinal]
    }

    /// The GPU and the context that modules for this context are loaded into.
    pub fn place(&self) -> (&'static Gpu, Handle) {
        (&self.device().gpu, self.handle)
    }

    /// A library in this context.
    pub fn module_of(&self, library: &Library) -> Result<Arc<Module>> {
        library.module(self.place(), &self.driver.modules)
    }

    /// A library's kernel in this context.
    pub fn function_of(&self, kernel: &Kernel) -> Result<Arc<Function>> {
        let tables = (&self.driver.modules, &self.driver.functions);
        kernel.function(self.place(), tables)
    }

    /// The preferences, with exclusive access.
    pub fn settings(&self) -> MutexGuard<'_, Settings> {
        locked(&self.settings)
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        locked(&self.lanes)
    }

    /// Whether the context can work: an error for a destroyed context, a lost device, or a context
    /// that met a sticky error.
    pub fn state(&self) -> Result {
        if self.destroyed.load(Ordering::Acquire) {
            return Err(Code::CONTEXT_IS_DESTROYED.because("the current context was destroyed"));
        }
        self.device().state()?;
        let code = Code(self.failure.load(Ordering::Acquire));
        code.result().map_err(|code| code.because(CONTEXT_LOST))
    }

    /// Whether the context or its device met an error that it does not survive.
    pub fn is_dead(&self) -> bool {
        self.failure.load(Ordering::Acquire) != 0 || self.device().state().is_err()
    }

    /// Kills the context with a code; the first cause stays.
    pub fn fail(&self, code: Code) {
        let _ = self
            .failure
            .compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The captures under way, with exclusive access.
    pub fn captures(&self) -> MutexGuard<'_, HashMap<Target, Arc<Capture>>> {
        locked(&self.captures)
    }

    /// The capture that a stream takes part in.
    pub fn capture_of(&self, target: Target) -> Option<Arc<Capture>> {
        self.captures().get(&target).cloned()
    }

    /// An error for what a capturing stream cannot have on it, which spoils the capture.
    /// On the default stream it is an error where a blocking stream captures.
    pub fn refuse_capture(&self, target: Target) -> Result {
        if let Some(capture) = self.capture_of(target) {
            capture.invalidate();
            let why = "the stream captures a graph, which cannot have this in it";
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED.because(why));
        }
        let captures = self.captures();
        let blocks = |stream: &Target| matches!(stream, Target::Stream { blocking: true, .. });
        if target == Target::Default && captures.keys().any(blocks) {
            captures.values().for_each(|capture| capture.invalidate());
            let why = "the default stream would wait for a stream that captures a graph";
            return Err(Code::STREAM_CAPTURE_IMPLICIT.because(why));
        }
        Ok(())
    }

    /// Puts work on a stream, or into the graph that the stream captures.
    pub fn enqueue(self: &Arc<Self>, target: Target, work: Work) -> Result {
        if let (Some(capture), Target::Stream { handle, .. }) = (self.capture_of(target), target) {
            return capture.add(handle, work).map(|_| ());
        }
        self.refuse_capture(target)?;
        self.submit(target, &[], move |state| {
            state?;
            work.run()
        })?;
        Ok(())
    }

    /// Records an event behind the work that is on a stream now, or in the graph that the
    /// stream captures.
    pub fn record(self: &Arc<Self>, event: &Event, target: Target) -> Result {
        if let (Some(capture), Target::Stream { handle, .. }) = (self.capture_of(target), target) {
            capture.state()?;
            let behind = capture.lanes().get(&handle).cloned().unwrap_or_default();
            *event.captured() = Some((capture, behind));
            return Ok(());
        }
        self.refuse_capture(target)?;
        *event.captured() = None;
        event.record(|reached| {
            self.submit(target, &[], move |_| {
                // Set once: it belongs to this task alone.
                let _ = reached.set(Instant::now());
                Ok(())
            })
        })
    }

    /// Puts `work` on a stream, after `also` too. Work is given the context's state, and an
    /// error that it returns kills the context.
    pub fn submit(
        self: &Arc<Self>,
        target: Target,
        also: &[Ticket],
        work: impl FnOnce(Result) -> Result + Send + 'static,
    ) -> Result<Ticket> {
        let context = Arc::clone(self);
        let task = Box::new(move || {
            let state = context.state();
            let done = catch_unwind(AssertUnwindSafe(|| work(state)));
            match done {
                Ok(Ok(())) => {}
                Ok(Err(code)) => context.fail(code),
                Err(_) => context.fail(Code::UNKNOWN),
            }
        });
        // The lock is held over the submission: tickets on a lane must rise.
        let mut lanes = self.lanes();
        let mut after = lanes.before(target);
        after.extend_from_slice(also);
        let ticket = self
            .driver
            .scheduler
            .submit(self.ordinal, after, task)
            .map_err(|why| {
                Code::OPERATING_SYSTEM.because(format!("cannot start a device's thread: {why}"))
            })?;
        lanes.set_last(target, ticket);
        Ok(ticket)
    }

    /// The last task on a stream, if there ever was one.
    pub fn last(&self, target: Target) -> Option<Ticket> {
        let lanes = self.lanes();
        match target {
            Target::Default => lanes.default,
            Target::Stream { handle, .. } => lanes.others.get(&handle)?.last,
        }
    }

    /// Waits for a stream, and answers the context's state after it.
    pub fn synchronize_stream(&self, target: Target) -> Result {
        self.refuse_capture(target)?;
        let last: Vec<_> = self.last(target).into_iter().collect();
        self.driver.scheduler.wait(&last);
        self.state()
    }

    /// Waits for everything that was submitted to this context.
    pub fn finish(&self) {
        let all = self.lanes().all();
        self.driver.scheduler.wait(&all);
    }

    /// A destroyed stream's work goes on; its lane is no longer needed.
    pub fn retire(&self, stream: Handle) {
        let mut lanes = self.lanes();
        if let Some(lane) = lanes.others.remove(&stream) {
            let scheduler = &self.driver.scheduler;
            lanes.retired.retain(|(ticket, _)| !scheduler.poll(*ticket));
            lanes
                .retired
                .extend(lane.last.map(|ticket| (ticket, lane.blocking)));
        }
    }

    /// Ends the context: waits for all work, then frees what belongs to it. Threads that
    /// still have it current get the error that it is destroyed.
    pub fn destroy(&self) {
        // Not only this context's: another's copy may read memory of this one.
        self.driver.scheduler.finish();
        self.destroyed.store(true, Ordering::Release);
        let left = self.driver.free_resources_of(self.handle);
        // Nobody can free anything in a dead context.
        if !self.is_dead() {
            locked(&self.driver.abandoned).extend(left);
        }
    }
}

impl Lanes {
    fn before(&self, target: Target) -> Vec<Ticket> {
        match target {
            Target::Default => {
                let others = self.others.values().filter(|lane| lane.blocking);
                let retired = self.retired.iter().filter(|(_, blocking)| *blocking);
                self.default
                    .into_iter()
                    .chain(others.filter_map(|lane| lane.last))
                    .chain(retired.map(|(ticket, _)| *ticket))
                    .collect()
            }
            Target::Stream { handle, blocking } => {
                let own = self.others.get(&handle).and_then(|lane| lane.last);
                let default = self.default.filter(|_| blocking);
                own.into_iter().chain(default).collect()
            }
        }
    }

    fn set_last(&mut self, target: Target, ticket: Ticket) {
        match target {
            Target::Default => {
                self.default = Some(ticket);
                // The new task comes after them, so what follows it does too.
                self.retired.retain(|(_, blocking)| !blocking);
            }
            Target::Stream { handle, blocking } => {
                let last = Some(ticket);
                self.others.insert(handle, Lane { blocking, last });
            }
        }
    }

    fn all(&self) -> Vec<Ticket> {
        let others = self.others.values().filter_map(|lane| lane.last);
        let retired = self.retired.iter().map(|(ticket, _)| *ticket);
        self.default
            .into_iter()
            .chain(others)
            .chain(retired)
            .collect()
    }
}
