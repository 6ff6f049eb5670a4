//! Graphs, node by node.

use super::call;
use super::copies::Copy3D;
use super::entries::entries;
use super::fills::{fill_work, plan_fill};
use super::launches::prepare;
use super::raw::{HostFunction, HostPointer, Out, ParamBlock, UserData, Values};
use super::streams::target;
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::contexts;
use crate::state::copy::{self, Source};
use crate::state::driver::Driver;
use crate::state::graph::{Executable, Graph, Work, kind};
use crate::state::handle::Handle;
use sim::Grid;
use std::sync::Arc;

/// A `CUDA_KERNEL_NODE_PARAMS_v1`, with which the later one begins.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelParams {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    params: HostPointer,
    extra: HostPointer,
}

/// A `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelParams2 {
    first: KernelParams,
    /// The kernel, which may stand in place of the function.
    kernel: Handle,
    /// The context, which may stand in place of the current one.
    context: Handle,
}

/// A `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostParams {
    function: HostFunction,
    argument: HostPointer,
}

/// A `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FillParams {
    to: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

/// A `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct InstantiateParams {
    flags: u64,
    upload: Handle,
    failed: Handle,
    result: u32,
}

/// A `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UpdateResult {
    result: u32,
    failed: Handle,
    failed_from: Handle,
}

entries! {
    driver_wide fn cuGraphCreate(out: Out<Handle>, flags: u32) |driver| {
        out.check()?;
        if flags != 0 {
            return Err(invalid(format!("graphs have no flags such as {flags:#x}")));
        }
        out.set(insert(driver, Graph::new(Vec::new())))
    }

    driver_wide fn cuGraphClone(out: Out<Handle>, graph: Handle) |driver| {
        out.check()?;
        let nodes = known(driver, graph)?.nodes().clone();
        out.set(insert(driver, Graph::new(nodes)))
    }

    driver_wide fn cuGraphDestroy(graph: Handle) |driver| {
        let removed = driver.graphs.remove(graph).map(|_| ());
        removed.ok_or_else(|| graph.is_no(Code::INVALID_VALUE, "graph"))
    }

    driver_wide fn cuGraphGetNodes(graph: Handle, nodes: Values<Handle>, count: Values<usize>) |driver| {
        let all = known(driver, graph)?;
        let all: Vec<Handle> = all.nodes().iter().map(|node| node.handle).collect();
        list(&all, &nodes, &count)
    }

    driver_wide fn cuGraphGetRootNodes(graph: Handle, nodes: Values<Handle>, count: Values<usize>) |driver| {
        let all = known(driver, graph)?;
        let all = all.nodes();
        let roots = all.iter().filter(|node| node.after.is_empty());
        let roots: Vec<Handle> = roots.map(|node| node.handle).collect();
        list(&roots, &nodes, &count)
    }

    driver_wide fn cuGraphGetEdges_v2(
        graph: Handle,
        from: Values<Handle>,
        to: Values<Handle>,
        kinds: Values<u64>,
        count: Values<usize>,
    ) |driver| {
        let room = count.get(0)?;
        plain(&kinds, room)?;
        let graph = known(driver, graph)?;
        let nodes = graph.nodes();
        let edges = nodes
            .iter()
            .flat_map(|node| node.after.iter().map(|&after| (after, node.handle)));
        let (starts, ends): (Vec<_>, Vec<_>) = edges.unzip();
        list(&starts, &from, &count)?;
        count.set(0, room)?;
        list(&ends, &to, &count)
    }

    driver_wide fn cuGraphNodeGetType(node: Handle, out: Out<u32>) |driver| {
        let graph = graph_of(driver, node)?;
        let nodes = graph.nodes();
        let known = nodes.iter().find(|known| known.handle == node);
        out.set(known.ok_or_else(|| no_node(node))?.work.kind())
    }

    driver_wide fn cuGraphNodeGetDependencies_v2(
        node: Handle,
        before: Values<Handle>,
        kinds: Values<u64>,
        count: Values<usize>,
    ) |driver| {
        plain(&kinds, count.get(0)?)?;
        list(&before_node(driver, node)?, &before, &count)
    }

    driver_wide fn cuGraphNodeGetDependentNodes_v2(
        node: Handle,
        after: Values<Handle>,
        kinds: Values<u64>,
        count: Values<usize>,
    ) |driver| {
        plain(&kinds, count.get(0)?)?;
        list(&after_node(driver, node)?, &after, &count)
    }

    // Kinds of edges say what may begin before a kernel ends; here nothing does.
    driver_wide fn cuGraphAddDependencies_v2(
        graph: Handle,
        from: Values<Handle>,
        to: Values<Handle>,
        _kinds: Values<u64>,
        count: usize,
    ) |driver| {
        add_edges(driver, graph, handles(&from, count)?, handles(&to, count)?)
    }

    driver_wide fn cuGraphDestroyNode(node: Handle) |driver| {
        let graph = graph_of(driver, node)?;
        let mut nodes = graph.nodes();
        nodes.retain(|known| known.handle != node);
        for other in nodes.iter_mut() {
            other.after.retain(|before| *before != node);
        }
        Ok(())
    }

    driver_wide fn cuGraphAddEmptyNode(out: Out<Handle>, graph: Handle, after: Values<Handle>, count: usize) |driver| {
        add(driver, &out, graph, (&after, count), Work::new(kind::EMPTY, || Ok(())))
    }

    driver_wide fn cuGraphAddHostNode(
        out: Out<Handle>,
        graph: Handle,
        after: Values<Handle>,
        count: usize,
        params: Values<HostParams>,
    ) |driver| {
        let params = params.get(0)?;
        let function = params.function.ok_or_else(|| invalid("the host function is null"))?;
        let argument = UserData::new(params.argument);
        let work = Work::new(kind::HOST, move || {
            argument.call(function);
            Ok(())
        });
        add(driver, &out, graph, (&after, count), work)
    }

    driver_wide fn cuGraphAddChildGraphNode(
        out: Out<Handle>,
        graph: Handle,
        after: Values<Handle>,
        count: usize,
        child: Handle,
    ) |driver| {
        let child = known(driver, child)?;
        let child = Executable::new(&child, 0, driver.environment.schedule)?;
        add(driver, &out, graph, (&after, count), child.work())
    }

    driver_wide fn cuGraphAddMemsetNode(
        out: Out<Handle>,
        graph: Handle,
        after: Values<Handle>,
        count: usize,
        params: Values<FillParams>,
        context: Handle,
    ) |driver| {
        let context = contexts::known(context)?;
        let FillParams { to, pitch, value, element, width, height } = params.get(0)?;
        let (unit, rows) = (value.to_ne_bytes(), (width, height));
        let too_wide = || invalid(format!("elements of {element} bytes cannot be filled"));
        let unit = unit.get(..element as usize).ok_or_else(too_wide)?;
        let fills = plan_fill(&context, (to, pitch), unit, rows)?;
        add(driver, &out, graph, (&after, count), fill_work(fills, unit))
    }

    driver_wide fn cuGraphAddMemcpyNode(
        out: Out<Handle>,
        graph: Handle,
        after: Values<Handle>,
        count: usize,
        copy: Values<Copy3D>,
        context: Handle,
    ) |driver| {
        let context = contexts::known(context)?;
        let rows = copy.get(0)?.rows(&context)?;
        let work = Work::new(kind::COPY, move || {
            rows.iter().try_for_each(|&(to, from, bytes)| {
                copy::copy(to, &Source::Memory(from), bytes)
            })
        });
        add(driver, &out, graph, (&after, count), work)
    }

    context fn cuGraphAddKernelNode_v2(
        out: Out<Handle>,
        graph: Handle,
        after: Values<Handle>,
        count: usize,
        params: Values<KernelParams2>,
    ) |context| {
        let work = params.get(0)?.work(context)?;
        add(context.driver, &out, graph, (&after, count), work)
    }

    driver_wide fn cuGraphKernelNodeGetParams(node: Handle, params: Out<KernelParams>) |driver| {
        params.set(kernel_params(driver, node)?)
    }

    driver_wide fn cuGraphKernelNodeGetParams_v2(node: Handle, params: Out<KernelParams2>) |driver| {
        params.set(kernel_params(driver, node)?.into())
    }

    context fn cuGraphKernelNodeSetParams_v2(node: Handle, params: Values<KernelParams2>) |context| {
        set_kernel(context.driver, node, params.get(0)?.work(context)?)
    }

    context fn cuGraphExecKernelNodeSetParams_v2(
        executable: Handle,
        node: Handle,
        params: Values<KernelParams2>,
    ) |context| {
        let work = params.get(0)?.work(context)?;
        set_exec_kernel(context.driver, executable, node, work)
    }

    // The log stays empty.
    driver_wide fn cuGraphInstantiate_v2(
        out: Out<Handle>,
        graph: Handle,
        failed: Out<Handle>,
        _log: HostPointer,
        _bytes: usize,
    ) |driver| {
        failed.set_if_asked(Handle::NULL);
        instantiate(driver, &out, graph, 0)
    }

    driver_wide fn cuGraphInstantiateWithFlags(out: Out<Handle>, graph: Handle, flags: u64) |driver| {
        instantiate(driver, &out, graph, flags)
    }

    driver_wide fn cuGraphInstantiateWithParams + _ptsz(
        out: Out<Handle>,
        graph: Handle,
        params: Values<InstantiateParams>,
    ) |driver| {
        let asked = params.get(0)?;
        let done = instantiate(driver, &out, graph, asked.flags);
        // CUDA_GRAPH_INSTANTIATE_SUCCESS or ..._ERROR.
        let result = u32::from(done.is_err());
        params.set(0, InstantiateParams { failed: Handle::NULL, result, ..asked })?;
        done
    }

    driver_wide fn cuGraphExecGetFlags(executable: Handle, flags: Out<u64>) |driver| {
        flags.set(known_executable(driver, executable)?.flags)
    }

    driver_wide fn cuGraphExecDestroy(executable: Handle) |driver| {
        let removed = driver.executables.remove(executable).map(|_| ());
        removed.ok_or_else(|| executable.is_no(Code::INVALID_VALUE, "executable graph"))
    }

    driver_wide fn cuGraphExecUpdate_v2(
        executable: Handle,
        graph: Handle,
        result: Out<UpdateResult>,
    ) |driver| {
        let (code, failed) = update(driver, executable, graph)?;
        result.set(UpdateResult { result: code, failed, failed_from: Handle::NULL })?;
        if code == 0 { Ok(()) } else { Err(another_shape()) }
    }

    driver_wide fn cuGraphExecUpdate(
        executable: Handle,
        graph: Handle,
        failed: Out<Handle>,
        result: Out<u32>,
    ) |driver| {
        let (code, node) = update(driver, executable, graph)?;
        failed.set(node)?;
        result.set(code)?;
        if code == 0 { Ok(()) } else { Err(another_shape()) }
    }

    context fn cuGraphUpload + _ptsz(executable: Handle, stream: Handle) |context| {
        target(context, stream)?;
        known_executable(context.driver, executable).map(|_| ())
    }

    context fn cuGraphLaunch + _ptsz(executable: Handle, stream: Handle) |context| {
        let work = known_executable(context.driver, executable)?.work();
        context.enqueue(target(context, stream)?, work)
    }
}

/// Says of so many edges that they are of the plain kind: a `CUgraphEdgeData` of zeros.
fn plain(kinds: &Values<u64>, count: usize) -> Result {
    if kinds.is_null() {
        return Ok(());
    }
    (0..count).try_for_each(|index| kinds.set(index, 0))
}

/// The nodes that a node comes after.
fn before_node(driver: &Driver, node: Handle) -> Result<Vec<Handle>> {
    let graph = graph_of(driver, node)?;
    let nodes = graph.nodes();
    let known = nodes.iter().find(|known| known.handle == node);
    Ok(known.ok_or_else(|| no_node(node))?.after.clone())
}

/// The nodes that come after a node.
fn after_node(driver: &Driver, node: Handle) -> Result<Vec<Handle>> {
    let graph = graph_of(driver, node)?;
    let nodes = graph.nodes();
    let after = nodes.iter().filter(|other| other.after.contains(&node));
    Ok(after.map(|other| other.handle).collect())
}

fn add_edges(driver: &Driver, graph: Handle, from: Vec<Handle>, to: Vec<Handle>) -> Result {
    let graph = known(driver, graph)?;
    let mut nodes = graph.nodes();
    for (before, after) in from.into_iter().zip(to) {
        if !nodes.iter().any(|node| node.handle == before) {
            return Err(no_node(before));
        }
        let mut all = nodes.iter_mut();
        let node = all.find(|node| node.handle == after);
        node.ok_or_else(|| no_node(after))?.after.push(before);
    }
    Ok(())
}

fn no_node(node: Handle) -> Code {
    node.is_no(Code::INVALID_VALUE, "node of the graph")
}

fn no_kernel(node: Handle) -> Code {
    node.is_no(Code::INVALID_VALUE, "kernel among the nodes")
}

fn another_shape() -> Code {
    Code::GRAPH_EXEC_UPDATE_FAILURE.because("the graph has other nodes or edges than before")
}

fn insert(driver: &Driver, graph: Graph) -> Handle {
    let handle = graph.handle;
    driver.graphs.insert(handle, Arc::new(graph));
    handle
}

/// The graph with this handle.
fn known(driver: &Driver, handle: Handle) -> Result<Arc<Graph>> {
    let graph = driver.graphs.get(handle);
    graph.ok_or_else(|| handle.is_no(Code::INVALID_VALUE, "graph"))
}

fn known_executable(driver: &Driver, handle: Handle) -> Result<Arc<Executable>> {
    let executable = driver.executables.get(handle);
    executable.ok_or_else(|| handle.is_no(Code::INVALID_VALUE, "executable graph"))
}

/// The graph that a node is of.
fn graph_of(driver: &Driver, node: Handle) -> Result<Arc<Graph>> {
    let has = |graph: &Graph| graph.nodes().iter().any(|known| known.handle == node);
    let graph = driver.graphs.find(has).ok_or_else(|| no_node(node))?;
    known(driver, graph)
}

pub(super) fn handles(values: &Values<Handle>, count: usize) -> Result<Vec<Handle>> {
    (0..count).map(|index| values.get(index)).collect()
}

/// Gives a list to a caller who says how much room there is, or who asks how long it is.
fn list(all: &[Handle], out: &Values<Handle>, count: &Values<usize>) -> Result {
    if !out.is_null() {
        let room = count.get(0)?;
        // What is left over is null.
        for index in 0..room {
            out.set(index, all.get(index).copied().unwrap_or(Handle::NULL))?;
        }
    }
    count.set(0, all.len())
}

fn add(
    driver: &Driver,
    out: &Out<Handle>,
    graph: Handle,
    (after, count): (&Values<Handle>, usize),
    work: Work,
) -> Result {
    out.check()?;
    let after = handles(after, count)?;
    out.set(known(driver, graph)?.add(after, work)?)
}

fn instantiate(driver: &Driver, out: &Out<Handle>, graph: Handle, flags: u64) -> Result {
    out.check()?;
    let graph = known(driver, graph)?;
    let executable = Executable::new(&graph, flags, driver.environment.schedule)?;
    let handle = executable.handle;
    driver.executables.insert(handle, Arc::new(executable));
    out.set(handle)
}

/// A `CUgraphExecUpdateResult`, and the node that is to blame.
fn update(driver: &Driver, executable: Handle, graph: Handle) -> Result<(u32, Handle)> {
    let executable = known_executable(driver, executable)?;
    let updated = executable.update(&*known(driver, graph)?, driver.environment.schedule);
    Ok(match updated {
        Ok(()) => (0, Handle::NULL),
        // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
        Err(node) => (2, node),
    })
}

impl KernelParams {
    fn work(&self, context: &Context) -> Result<Work> {
        let grid = Grid {
            grid: self.grid,
            block: self.block,
            shared_bytes: self.shared_bytes,
        };
        let (params, extra) = (self.params.values(), self.extra.values());
        prepare(context, self.function, grid, &params, &extra).map(Work::Kernel)
    }
}

impl From<KernelParams> for KernelParams2 {
    fn from(first: KernelParams) -> Self {
        KernelParams2 {
            first,
            kernel: Handle::NULL,
            context: Handle::NULL,
        }
    }
}

impl KernelParams2 {
    fn work(&self, current: &Arc<Context>) -> Result<Work> {
        let given = match self.context {
            Handle::NULL => None,
            handle => Some(contexts::known(handle)?),
        };
        let mut params = self.first;
        if params.function == Handle::NULL {
            params.function = self.kernel;
        }
        params.work(given.as_ref().unwrap_or(current))
    }
}

fn kernel_params(driver: &Driver, node: Handle) -> Result<KernelParams> {
    let graph = graph_of(driver, node)?;
    let nodes = graph.nodes();
    let known = nodes.iter().find(|known| known.handle == node);
    let Some(Work::Kernel(launch)) = known.map(|node| &node.work) else {
        return Err(no_kernel(node));
    };
    let params = launch.function.kernel.params.iter();
    let offsets: Vec<usize> = params.map(|param| param.offset as usize).collect();
    Ok(KernelParams {
        function: launch.function.handle,
        grid: launch.grid.grid,
        block: launch.grid.block,
        shared_bytes: launch.grid.shared_bytes,
        params: ParamBlock::keep(&launch.params, &offsets),
        extra: HostPointer::NULL,
    })
}

fn set_kernel(driver: &Driver, node: Handle, work: Work) -> Result {
    let graph = graph_of(driver, node)?;
    let mut nodes = graph.nodes();
    let mut all = nodes.iter_mut();
    let known = all.find(|known| known.handle == node);
    match known.map(|node| &mut node.work) {
        Some(old @ Work::Kernel(_)) => {
            *old = work;
            Ok(())
        }
        _ => Err(no_kernel(node)),
    }
}

fn set_exec_kernel(driver: &Driver, executable: Handle, node: Handle, work: Work) -> Result {
    let executable = known_executable(driver, executable)?;
    match work {
        Work::Kernel(launch) => executable.set_kernel(node, launch),
        Work::Other(..) => Err(no_kernel(node)),
    }
}
