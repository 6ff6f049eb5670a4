//! Streams and events: what programs hold of them. `Context` puts work on them.

use crate::error::{Code, Result};
use crate::state::graph::Capture;
use crate::state::handle::Handle;
use crate::state::schedule::Ticket;
use crate::sync::locked;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

/// `CU_STREAM_NON_BLOCKING`: no order with the legacy default stream.
pub const NON_BLOCKING: u32 = 1;
/// Priorities: the least urgent and the most; kept and answered, not acted on.
pub const PRIORITIES: (i32, i32) = (0, -5);

/// A stream that work can be put on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// The legacy default stream: its work comes after everything before it on
    /// blocking streams, and before everything after it there.
    Default,
    /// Any other.
    Stream {
        /// The stream.
        handle: Handle,
        /// Whether the stream takes part in the default stream's order.
        blocking: bool,
    },
}

/// A created stream.
pub struct Stream {
    /// The context it belongs to.
    pub context: Handle,
    /// The device of that context.
    pub ordinal: usize,
    /// The stream's creation flags.
    pub flags: u32,
    /// The stream's priority, within [`PRIORITIES`].
    pub priority: i32,
}

impl Stream {
    /// The target of the stream's work.
    pub fn target(&self, handle: Handle) -> Target {
        Target::Stream {
            handle,
            blocking: self.flags & NON_BLOCKING == 0,
        }
    }
}

/// `CU_EVENT_DISABLE_TIMING`.
pub const DISABLE_TIMING: u32 = 2;

/// A created event.
pub struct Event {
    /// The context it belongs to.
    pub context: Handle,
    /// The event's creation flags.
    pub flags: u32,
    recorded: Mutex<Option<Record>>,
    /// The capture it was last recorded in, and the nodes it stands behind there.
    captured: Mutex<Option<(Arc<Capture>, Vec<Handle>)>>,
}

/// One recording of an event.
#[derive(Clone)]
struct Record {
    ticket: Ticket,
    /// When the stream got there.
    reached: Arc<OnceLock<Instant>>,
}

impl Event {
    /// An event that was never recorded.
    pub fn new(context: Handle, flags: u32) -> Event {
        Event {
            context,
            flags,
            recorded: Mutex::default(),
            captured: Mutex::default(),
        }
    }

    fn recorded(&self) -> MutexGuard<'_, Option<Record>> {
        locked(&self.recorded)
    }

    /// The capture that the event was last recorded in, if it was, and its place there.
    pub fn captured(&self) -> MutexGuard<'_, Option<(Arc<Capture>, Vec<Handle>)>> {
        locked(&self.captured)
    }

    /// Records the event: `submit` puts a task on a stream that notes the time when it runs.
    pub fn record(&self, submit: impl FnOnce(Arc<OnceLock<Instant>>) -> Result<Ticket>) -> Result {
        let reached = Arc::new(OnceLock::new());
        // Held over the submission: of two threads that record one event, the
        // later task must be the later record.
        let mut recorded = self.recorded();
        let ticket = submit(Arc::clone(&reached))?;
        *recorded = Some(Record { ticket, reached });
        Ok(())
    }

    /// The ticket that must be done for the event to have happened.
    pub fn ticket(&self) -> Option<Ticket> {
        self.recorded().as_ref().map(|record| record.ticket)
    }

    /// Milliseconds from this event to `end`.
    pub fn elapsed(&self, end: &Event) -> Result<f32> {
        if (self.flags | end.flags) & DISABLE_TIMING != 0 {
            return Err(Code::INVALID_HANDLE.because("an event was made without timing"));
        }
        // One lock at a time: both may be the same event.
        let from = self.recorded().clone();
        let to = end.recorded().clone();
        let (Some(from), Some(to)) = (from, to) else {
            return Err(Code::INVALID_HANDLE.because("an event was never recorded"));
        };
        match (from.reached.get(), to.reached.get()) {
            (Some(from), Some(to)) => Ok(match to.checked_duration_since(*from) {
                Some(forward) => forward.as_secs_f32() * 1e3,
                None => -from.duration_since(*to).as_secs_f32() * 1e3,
            }),
            _ => Err(Code::NOT_READY),
        }
    }
}
