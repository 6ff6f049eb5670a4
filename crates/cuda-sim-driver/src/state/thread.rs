//! What each thread has of its own: a stack of contexts, and a default stream in each.

use crate::error::{Code, Result};
use crate::state::context::Context;
use crate::state::handle::Handle;
use crate::state::stream::Target;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

thread_local! {
    /// The calling thread's contexts; the last is the current one.
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
    /// The per-thread default stream of each context this thread used it in.
    static OWN_STREAMS: RefCell<HashMap<Handle, Handle>> = RefCell::default();
}

fn with_stack<R>(f: impl FnOnce(&mut Vec<Arc<Context>>) -> R) -> Result<R> {
    STACK
        .try_with(|stack| f(&mut stack.borrow_mut()))
        .map_err(|_| Code::DEINITIALIZED)
}

/// The calling thread's current context, alive or not, if there is one.
pub fn top() -> Result<Option<Arc<Context>>> {
    with_stack(|stack| stack.last().cloned())
}

/// The calling thread's current context, alive or not; an error if it has none.
pub fn current() -> Result<Arc<Context>> {
    top()?.ok_or_else(no_context)
}

/// Makes a context current above the one that is.
pub fn push(context: Arc<Context>) -> Result {
    with_stack(|stack| stack.push(context))
}

/// Takes the current context off the stack.
pub fn pop() -> Result<Arc<Context>> {
    with_stack(|stack| stack.pop())?.ok_or_else(no_context)
}

/// The error of a thread without a current context.
pub fn no_context() -> Code {
    Code::INVALID_CONTEXT.because("the calling thread has no current context")
}

/// Makes a context current in place of the one that is; none: takes that off.
pub fn replace(context: Option<Arc<Context>>) -> Result {
    with_stack(|stack| {
        stack.pop();
        stack.extend(context);
    })
}

/// The calling thread's own default stream in `context` (`CU_STREAM_PER_THREAD`).
pub fn own_stream(context: &Context) -> Result<Target> {
    let handle = OWN_STREAMS
        .try_with(|streams| {
            *streams
                .borrow_mut()
                .entry(context.handle)
                .or_insert_with(Handle::fresh)
        })
        .map_err(|_| Code::DEINITIALIZED)?;
    Ok(Target::Stream {
        handle,
        blocking: true,
    })
}
