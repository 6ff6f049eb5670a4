//! Streams and events.

use crate::context::{Context, Target};
use crate::error::{Code, Result};
use crate::graph::Capture;
use crate::handle::Handle;
use crate::schedule::Ticket;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// `CU_STREAM_NON_BLOCKING`: no order with the legacy default stream.
pub const NON_BLOCKING: u32 = 1;
/// Priorities: the least urgent and the most; kept and answered, not acted on.
pub const PRIORITIES: (i32, i32) = (0, -5);

/// A created stream.
pub struct Stream {
    /// Whose it is.
    pub context: Arc<Context>,
    /// Its creation flags.
    pub flags: u32,
    /// Its priority, within [`PRIORITIES`].
    pub priority: i32,
}

impl Stream {
    /// Where its work goes.
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
    /// Whose it is.
    pub context: Handle,
    /// Its creation flags.
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
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the event stands in a capture, if it was last recorded in one.
    pub fn captured(&self) -> MutexGuard<'_, Option<(Arc<Capture>, Vec<Handle>)>> {
        self.captured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the event behind the work that is on a stream of `context` now, or
    /// in the graph that the stream captures.
    pub fn record(&self, context: &Arc<Context>, target: Target) -> Result {
        if let (Some(capture), Target::Stream { handle, .. }) = (context.capture_of(target), target)
        {
            capture.state()?;
            let behind = capture.lanes().get(&handle).cloned().unwrap_or_default();
            *self.captured() = Some((capture, behind));
            return Ok(());
        }
        context.refuse_capture(target)?;
        *self.captured() = None;
        let reached = Arc::new(OnceLock::new());
        let stamp = Arc::clone(&reached);
        // Held over the submission: of two threads that record one event, the
        // later task must be the later record.
        let mut recorded = self.recorded();
        let ticket = context.submit(target, &[], move |_| {
            // Set once: the stamp belongs to this task alone.
            let _ = stamp.set(Instant::now());
            Ok(())
        })?;
        *recorded = Some(Record { ticket, reached });
        Ok(())
    }

    /// What must be done for the event to have happened.
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
