//! Captures: the work that a program puts on streams becomes a graph.

use super::call;
use super::entries::entries;
use super::graphs::handles;
use super::raw::{HostPointer, Out, Values};
use super::streams::target;
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::graph::Capture;
use crate::state::handle::Handle;
use crate::state::stream::Target;
use std::sync::Arc;

entries! {
    context fn cuStreamBeginCapture_v2 + _ptsz(stream: Handle, mode: u32) |context| {
        begin_capture(context, stream, mode)
    }

    context fn cuStreamEndCapture + _ptsz(stream: Handle, out: Out<Handle>) |context| {
        let capture = capture(context, stream)?.ok_or_else(not_capturing)?;
        out.set(Handle::NULL)?;
        if capture.origin != lane(context, stream)? {
            capture.invalidate();
            let why = "the capture began on another stream";
            return Err(Code::STREAM_CAPTURE_UNMATCHED.because(why));
        }
        context.captures().retain(|_, other| other.id != capture.id);
        capture.end();
        capture.state()?;
        if !capture.is_joined() {
            let why = "another stream of the capture has work that this one does not wait for";
            return Err(Code::STREAM_CAPTURE_UNJOINED.because(why));
        }
        let graph = Arc::clone(&capture.graph);
        context.driver.graphs.insert(graph.handle, Arc::clone(&graph));
        out.set(graph.handle)
    }

    context fn cuStreamIsCapturing + _ptsz(stream: Handle, status: Out<u32>) |context| {
        status.set(status_of(capture(context, stream)?.as_deref()))
    }

    context fn cuStreamGetCaptureInfo_v2 + _ptsz(
        stream: Handle,
        status: Out<u32>,
        id: Out<u64>,
        graph: Out<Handle>,
        behind: Out<*const Handle>,
        count: Out<usize>,
    ) |context| {
        capture_info(context, stream, (&status, &id, &graph), (&behind, &count))
    }

    context fn cuStreamGetCaptureInfo_v3 + _ptsz(
        stream: Handle,
        status: Out<u32>,
        id: Out<u64>,
        graph: Out<Handle>,
        behind: Out<*const Handle>,
        edges: Out<*const u8>,
        count: Out<usize>,
    ) |context| {
        edges.set_if_asked(std::ptr::null());
        capture_info(context, stream, (&status, &id, &graph), (&behind, &count))
    }

    context fn cuStreamUpdateCaptureDependencies_v2 + _ptsz(
        stream: Handle,
        behind: Values<Handle>,
        _edges: HostPointer,
        count: usize,
        flags: u32,
    ) |context| {
        let capture = capture(context, stream)?.ok_or_else(not_capturing)?;
        let mut lanes = capture.lanes();
        let lane = lanes.entry(lane(context, stream)?).or_default();
        // CU_STREAM_SET_CAPTURE_DEPENDENCIES; else they are added.
        if flags & 1 != 0 {
            lane.clear();
        }
        lane.extend(handles(&behind, count)?);
        Ok(())
    }

    // Modes say which calls elsewhere spoil a capture; here those on its streams do.
    driver_wide fn cuThreadExchangeStreamCaptureMode(mode: Values<u32>) |_driver| {
        let asked = mode.get(0)?;
        if asked > 2 {
            return Err(invalid(format!("{asked} is no capture mode")));
        }
        mode.set(0, 0)
    }
}

fn not_capturing() -> Code {
    Code::ILLEGAL_STATE.because("the stream does not capture")
}

/// The stream's handle, where it can take part in a capture.
fn lane(context: &Context, stream: Handle) -> Result<Handle> {
    match target(context, stream)? {
        Target::Stream { handle, .. } => Ok(handle),
        Target::Default => {
            let why = "the legacy default stream cannot capture";
            Err(Code::STREAM_CAPTURE_UNSUPPORTED.because(why))
        }
    }
}

/// The capture that a stream takes part in.
fn capture(context: &Context, stream: Handle) -> Result<Option<Arc<Capture>>> {
    Ok(context.capture_of(target(context, stream)?))
}

/// A `CUstreamCaptureStatus`.
fn status_of(capture: Option<&Capture>) -> u32 {
    match capture.map(Capture::state) {
        None => 0,
        Some(Ok(())) => 1,
        Some(Err(_)) => 2,
    }
}

fn begin_capture(context: &Context, stream: Handle, mode: u32) -> Result {
    if mode > 2 {
        return Err(invalid(format!("{mode} is no capture mode")));
    }
    let lane = lane(context, stream)?;
    let target = target(context, stream)?;
    let mut captures = context.captures();
    if captures.contains_key(&target) {
        return Err(Code::ILLEGAL_STATE.because("the stream captures already"));
    }
    captures.insert(target, Arc::new(Capture::new(lane)));
    Ok(())
}

fn capture_info(
    context: &Context,
    stream: Handle,
    (status, id, graph): (&Out<u32>, &Out<u64>, &Out<Handle>),
    (behind, count): (&Out<*const Handle>, &Out<usize>),
) -> Result {
    let capture = capture(context, stream)?;
    status.set(status_of(capture.as_deref()))?;
    let Some(capture) = capture else {
        return Ok(());
    };
    // A graph under capture can be asked for and added to.
    let graphs = &context.driver.graphs;
    graphs.insert(capture.graph.handle, Arc::clone(&capture.graph));
    id.set_if_asked(capture.id);
    graph.set_if_asked(capture.graph.handle);
    let lanes = capture.lanes();
    let nodes = lanes
        .get(&lane(context, stream)?)
        .map_or(&[][..], Vec::as_slice);
    // The caller's until the next call that changes them, as CUDA says.
    behind.set_if_asked(nodes.as_ptr());
    count.set_if_asked(nodes.len());
    Ok(())
}
