//! Streams, events, and host functions on streams.

use super::call;
use super::entries::entries;
use super::raw::{HostFunction, HostPointer, Out, StreamCallback, UserData};
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::contexts;
use crate::state::graph::{Work, kind};
use crate::state::handle::Handle;
use crate::state::stream::{Event, NON_BLOCKING, PRIORITIES, Stream, Target};
use crate::state::thread::own_stream;
use std::sync::Arc;

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`: names of the default streams.
const LEGACY: Handle = Handle(1);
const PER_THREAD: Handle = Handle(2);
/// `CU_EVENT_BLOCKING_SYNC`, `CU_EVENT_DISABLE_TIMING`, `CU_EVENT_INTERPROCESS`.
const EVENT_FLAGS: u32 = 7;

entries! {
    context fn cuStreamCreate(out: Out<Handle>, flags: u32) |context| {
        create(context, &out, flags, 0)
    }

    context fn cuStreamCreateWithPriority(out: Out<Handle>, flags: u32, priority: i32) |context| {
        create(context, &out, flags, priority)
    }

    context fn cuStreamGetPriority + _ptsz(stream: Handle, priority: Out<i32>) |context| {
        let created = created(context, stream)?;
        priority.set(created.map_or(0, |stream| stream.priority))
    }

    context fn cuStreamGetFlags + _ptsz(stream: Handle, flags: Out<u32>) |context| {
        let created = created(context, stream)?;
        flags.set(created.map_or(0, |stream| stream.flags))
    }

    context fn cuStreamGetCtx + _ptsz(stream: Handle, out: Out<Handle>) |context| {
        let created = created(context, stream)?;
        out.set(created.map_or(context.handle, |stream| stream.context))
    }

    context fn cuStreamWaitEvent + _ptsz(stream: Handle, event: Handle, flags: u32) |context| {
        let target = target(context, stream)?;
        let event = known_event(context, event)?;
        // 0, or CU_EVENT_WAIT_EXTERNAL, which matters to graphs alone.
        if flags > 1 {
            return Err(no_flags(flags));
        }
        if wait_in_capture(context, target, &event)? {
            return Ok(());
        }
        // An event that was never recorded has happened.
        if let Some(ticket) = event.ticket() {
            context.submit(target, &[ticket], |state| state)?;
        }
        Ok(())
    }

    context fn cuStreamQuery + _ptsz(stream: Handle) |context| {
        let target = target(context, stream)?;
        context.refuse_capture(target)?;
        let last = context.last(target);
        answer(context, last.is_none_or(|ticket| context.driver.scheduler.poll(ticket)))
    }

    context fn cuStreamSynchronize + _ptsz(stream: Handle) |context| {
        context.synchronize_stream(target(context, stream)?)
    }

    release fn cuStreamDestroy_v2(stream: Handle) |context| {
        let destroyed = context.driver.streams.remove(stream);
        let destroyed = destroyed.ok_or_else(|| no_stream(stream))?;
        contexts::known(destroyed.context)?.retire(stream);
        Ok(())
    }

    context fn cuStreamAddCallback + _ptsz(
        stream: Handle,
        callback: StreamCallback,
        data: HostPointer,
        flags: u32,
    ) |context| {
        let target = target(context, stream)?;
        context.refuse_capture(target)?;
        let callback = callback.ok_or_else(|| invalid("the callback is null"))?;
        if flags != 0 {
            return Err(no_flags(flags));
        }
        let data = UserData::new(data);
        context.submit(target, &[], move |state| {
            let status = state.err().unwrap_or(Code::SUCCESS);
            data.call_back(callback, stream, status);
            Ok(())
        })?;
        Ok(())
    }

    context fn cuLaunchHostFunc + _ptsz(stream: Handle, function: HostFunction, data: HostPointer) |context| {
        let target = target(context, stream)?;
        let function = function.ok_or_else(|| invalid("the host function is null"))?;
        let data = UserData::new(data);
        context.enqueue(target, Work::new(kind::HOST, move || {
            data.call(function);
            Ok(())
        }))
    }

    context fn cuStreamGetId + _ptsz(stream: Handle, id: Out<u64>) |context| {
        target(context, stream)?;
        id.set(stream.0 as u64)
    }

    context fn cuStreamGetDevice + _ptsz(stream: Handle, device: Out<i32>) |context| {
        let created = created(context, stream)?;
        device.set(created.map_or(context.ordinal, |stream| stream.ordinal) as i32)
    }

    context fn cuStreamAttachMemAsync + _ptsz(stream: Handle, address: u64, _bytes: usize, _flags: u32) |context| {
        target(context, stream)?;
        // Managed memory moves at launches, whatever it is attached to.
        let block = context.driver.memory.block(address).map(|_| ());
        block.ok_or_else(|| invalid(format!("{address:#x} is no managed memory")))
    }

    context fn cuStreamSetAttribute + _ptsz(stream: Handle, _attribute: u32, _value: HostPointer) |context| {
        target(context, stream).map(|_| ())
    }

    context fn cuStreamCopyAttributes + _ptsz(to: Handle, from: Handle) |context| {
        target(context, to)?;
        target(context, from).map(|_| ())
    }

    context fn cuEventCreate(out: Out<Handle>, flags: u32) |context| {
        out.check()?;
        if flags & !EVENT_FLAGS != 0 {
            return Err(no_flags(flags));
        }
        let handle = Handle::fresh();
        let event = Arc::new(Event::new(context.handle, flags));
        context.driver.events.insert(handle, event);
        out.set(handle)
    }

    context fn cuEventRecord + _ptsz(event: Handle, stream: Handle) |context| {
        record(context, event, stream)
    }

    context fn cuEventRecordWithFlags + _ptsz(event: Handle, stream: Handle, flags: u32) |context| {
        if flags > 1 {
            return Err(no_flags(flags));
        }
        record(context, event, stream)
    }

    context fn cuEventQuery(event: Handle) |context| {
        let ticket = outside_captures(context, event)?.ticket();
        answer(context, ticket.is_none_or(|ticket| context.driver.scheduler.poll(ticket)))
    }

    context fn cuEventSynchronize(event: Handle) |context| {
        let ticket = outside_captures(context, event)?.ticket();
        let tickets: Vec<_> = ticket.into_iter().collect();
        context.driver.scheduler.wait(&tickets);
        context.state()
    }

    context fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) |context| {
        let (start, end) = (known_event(context, start)?, known_event(context, end)?);
        milliseconds.set(start.elapsed(&end)?)
    }

    release fn cuEventDestroy_v2(event: Handle) |context| {
        context.driver.events.remove(event).ok_or_else(|| no_event(event))?;
        Ok(())
    }
}

/// The created stream with this handle; none for a default stream's name.
fn created(context: &Context, handle: Handle) -> Result<Option<Arc<Stream>>> {
    if [Handle::NULL, LEGACY, PER_THREAD].contains(&handle) {
        return Ok(None);
    }
    let stream = context.driver.streams.get(handle);
    stream.map(Some).ok_or_else(|| no_stream(handle))
}

/// The target of work for the stream `handle` of the current context.
pub(super) fn target(context: &Context, handle: Handle) -> Result<Target> {
    match created(context, handle)? {
        Some(stream) if stream.context != context.handle => {
            let why = "the stream is of another context than the current one";
            Err(Code::INVALID_HANDLE.because(why))
        }
        Some(stream) => Ok(stream.target(handle)),
        None if handle == PER_THREAD => own_stream(context),
        None if handle == LEGACY => Ok(Target::Default),
        None => default_target(context),
    }
}

/// The target of work for the default stream.
pub(super) fn default_target(context: &Context) -> Result<Target> {
    if call::is_per_thread() {
        own_stream(context)
    } else {
        Ok(Target::Default)
    }
}

fn no_stream(handle: Handle) -> Code {
    handle.is_no(Code::INVALID_HANDLE, "stream")
}

fn no_event(handle: Handle) -> Code {
    handle.is_no(Code::INVALID_HANDLE, "event")
}

fn no_flags(flags: u32) -> Code {
    invalid(format!("there are no such flags as {flags:#x} here"))
}

fn create(context: &Context, out: &Out<Handle>, flags: u32, priority: i32) -> Result {
    out.check()?;
    if flags & !NON_BLOCKING != 0 {
        return Err(no_flags(flags));
    }
    let (least, greatest) = PRIORITIES;
    let handle = Handle::fresh();
    let stream = Stream {
        context: context.handle,
        ordinal: context.ordinal,
        flags,
        priority: priority.clamp(greatest, least),
    };
    context.driver.streams.insert(handle, Arc::new(stream));
    out.set(handle)
}

/// An event to ask after, which must not stand in a capture.
fn outside_captures(context: &Context, handle: Handle) -> Result<Arc<Event>> {
    let event = known_event(context, handle)?;
    let captured = event.captured().is_some();
    if captured {
        return Err(Code::CAPTURED_EVENT.because("the event was recorded in a capture"));
    }
    Ok(event)
}

/// Makes a stream wait for an event, if one of the two captures: the stream then takes part in the
/// event's capture. Answers whether that was so.
fn wait_in_capture(context: &Context, target: Target, event: &Event) -> Result<bool> {
    let own = context.capture_of(target);
    let captured = event.captured().clone();
    if captured
        .as_ref()
        .is_some_and(|(capture, _)| capture.is_over())
    {
        let why = "the event was last recorded in a capture, which has ended";
        return Err(Code::CAPTURED_EVENT.because(why));
    }
    let (Some((capture, behind)), Target::Stream { handle, .. }) = (captured, target) else {
        if let Some(own) = own {
            own.invalidate();
            let why = "a stream that captures waits for an event outside of its capture";
            return Err(Code::STREAM_CAPTURE_ISOLATION.because(why));
        }
        return match event.captured().is_some() {
            // The default stream cannot be captured.
            true => {
                let why = "the default stream waits for an event in a capture";
                Err(Code::STREAM_CAPTURE_IMPLICIT.because(why))
            }
            false => Ok(false),
        };
    };
    capture.state()?;
    if own.is_some_and(|own| own.id != capture.id) {
        capture.invalidate();
        let why = "the stream and the event take part in different captures";
        return Err(Code::STREAM_CAPTURE_MERGE.because(why));
    }
    let mut lanes = capture.lanes();
    let lane = lanes.entry(handle).or_default();
    for node in behind {
        if !lane.contains(&node) {
            lane.push(node);
        }
    }
    drop(lanes);
    context.captures().insert(target, capture);
    Ok(true)
}

fn known_event(context: &Context, handle: Handle) -> Result<Arc<Event>> {
    let event = context.driver.events.get(handle);
    event.ok_or_else(|| no_event(handle))
}

pub(super) fn record(context: &Arc<Context>, event: Handle, stream: Handle) -> Result {
    let target = target(context, stream)?;
    let event = known_event(context, event)?;
    if event.context != context.handle {
        let why = "the event is of another context than the current one";
        return Err(Code::INVALID_HANDLE.because(why));
    }
    context.record(&event, target)
}

/// The answer of a query.
fn answer(context: &Context, done: bool) -> Result {
    context.state()?;
    if done { Ok(()) } else { Err(Code::NOT_READY) }
}
