//! Launches and occupancy.

use super::call;
use super::entries::entries;
use super::modules::{known_function, max_threads, registers};
use super::raw::{HostPointer, Out, SharedOfBlock, Values, shared_of_block};
use super::streams::{record, target};
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::graph::Work;
use crate::state::handle::Handle;
use crate::state::launch::Launch;
use crate::state::module::Function;
use sim::occupancy::{self, BlockNeeds};
use sim::{Grid, LaunchOptions};
use std::sync::atomic::Ordering;

/// `CU_LAUNCH_PARAM_END`, `..._BUFFER_POINTER`, `..._BUFFER_SIZE`.
const PARAM_END: u64 = 0;
const PARAM_BUFFER: u64 = 1;
const PARAM_BYTES: u64 = 2;

entries! {
    context fn cuLaunchKernel + _ptsz(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        stream: Handle,
        params: Values<HostPointer>,
        extra: Values<HostPointer>,
    ) |context| {
        let grid = Grid {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes,
        };
        let launch = prepare(context, function, grid, &params, &extra)?;
        context.enqueue(target(context, stream)?, Work::Kernel(launch))
    }

    context fn cuLaunchCooperativeKernel + _ptsz(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        stream: Handle,
        params: Values<HostPointer>,
    ) |context| {
        let grid = Grid {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes,
        };
        let mut launch = prepare(context, function, grid, &params, &Values::NONE)?;
        cooperate(context, &mut launch)?;
        context.enqueue(target(context, stream)?, Work::Kernel(launch))
    }

    context fn cuLaunchKernelEx + _ptsz(
        config: Values<LaunchConfig>,
        function: Handle,
        params: Values<HostPointer>,
        extra: Values<HostPointer>,
    ) |context| {
        let config = config.get(0)?;
        let grid = Grid {
            grid: config.grid,
            block: config.block,
            shared_bytes: config.shared_bytes,
        };
        let mut launch = prepare(context, function, grid, &params, &extra)?;
        let target = target(context, config.stream)?;
        let mut events = Vec::new();
        let attributes = config.attributes.values::<Attribute>();
        for index in 0..config.count as usize {
            let Attribute { id, value, .. } = attributes.get(index)?;
            match id {
                COOPERATIVE if value[0] as u32 != 0 => cooperate(context, &mut launch)?,
                // Three dimensions of 32 bits; none means that nothing is asked for.
                CLUSTER if value[0] != 0 => {
                    let shape = [value[0] as u32, (value[0] >> 32) as u32, value[1] as u32];
                    launch.options.cluster = Some(shape);
                    check_cluster(context, &launch.function, &grid, shape)?;
                }
                PROGRAMMATIC_EVENT | COMPLETION_EVENT => events.push(Handle(value[0] as usize)),
                // Priorities, caches, and launches that may overlap: none need to.
                _ => {}
            }
        }
        context.enqueue(target, Work::Kernel(launch))?;
        for event in events {
            record(context, event, config.stream)?;
        }
        Ok(())
    }

    context fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>,
        function: Handle,
        threads: i32,
        dynamic_shared: usize,
        _flags: u32,
    ) |context| {
        blocks.set(active_blocks(context, function, threads, dynamic_shared)?)
    }

    context fn cuOccupancyMaxPotentialClusterSize(
        size: Out<i32>,
        function: Handle,
        config: Values<LaunchConfig>,
    ) |context| {
        config.get(0)?;
        let function = known_function(context, function)?;
        if context.device().gpu.arch().sm() < 90 {
            return Err(no_clusters());
        }
        let large = function.large_clusters.load(Ordering::Relaxed);
        size.set(if large { LARGEST_CLUSTER } else { PORTABLE_CLUSTER } as i32)
    }

    context fn cuOccupancyMaxActiveClusters(
        clusters: Out<i32>,
        function: Handle,
        config: Values<LaunchConfig>,
    ) |context| {
        let config = config.get(0)?;
        let function = known_function(context, function)?;
        let grid = Grid {
            grid: config.grid,
            block: config.block,
            shared_bytes: config.shared_bytes,
        };
        let mut shape = function.kernel.required_cluster.unwrap_or([1; 3]);
        let attributes = config.attributes.values::<Attribute>();
        for index in 0..config.count as usize {
            let Attribute { id, value, .. } = attributes.get(index)?;
            if id == CLUSTER && value[0] != 0 {
                shape = [value[0] as u32, (value[0] >> 32) as u32, value[1] as u32];
            }
        }
        check_cluster(context, &function, &grid, shape)?;
        let (threads, dynamic) = (grid.threads() as u32, u64::from(grid.shared_bytes));
        let multiprocessors = context.device().gpu.arch().multiprocessors;
        let blocks = resident(context, &function, threads, dynamic) * multiprocessors;
        clusters.set((blocks / shape.iter().product::<u32>()) as i32)
    }

    context fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        least_grid: Out<i32>,
        threads: Out<i32>,
        function: Handle,
        shared_of: SharedOfBlock,
        dynamic_shared: usize,
        limit: i32,
        _flags: u32,
    ) |context| {
        let (grid, block) = best_block(context, function, shared_of, dynamic_shared, limit)?;
        least_grid.set(grid)?;
        threads.set(block)
    }

    context fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>,
        function: Handle,
        blocks: i32,
        threads: i32,
    ) |context| {
        let function = known_function(context, function)?;
        let blocks = positive(blocks)?;
        let fixed = u64::from(function.kernel.shared_bytes);
        // So many blocks must fit in the first place.
        if resident(context, &function, positive(threads)?, 0) < blocks {
            return Err(invalid("so many blocks are not resident at once"));
        }
        let arch = context.device().gpu.arch();
        bytes.set(occupancy::spare_shared(arch, blocks, fixed) as usize)
    }
}

/// A `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    pub(super) shared_bytes: u32,
    /// The upper half of the same in a `cudaLaunchConfig_t`; nothing here.
    pub(super) shared_high: u32,
    stream: Handle,
    attributes: HostPointer,
    count: u32,
}

/// A `CUlaunchAttribute`: its value is 64 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attribute {
    id: u32,
    padding: u32,
    value: [u64; 8],
}

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`, `..._CLUSTER_DIMENSION`,
/// `..._PROGRAMMATIC_EVENT`, `..._LAUNCH_COMPLETION_EVENT`.
const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;
const PROGRAMMATIC_EVENT: u32 = 7;
const COMPLETION_EVENT: u32 = 12;

/// A launch whose shape and parameters are good. Parameters are read now: the program
/// may change them after the call.
pub(super) fn prepare(
    context: &Context,
    function: Handle,
    grid: Grid,
    params: &Values<HostPointer>,
    extra: &Values<HostPointer>,
) -> Result<Launch> {
    let function = known_function(context, function)?;
    if function.module.context != context.handle {
        let why = "the function is of another context than the current one";
        return Err(Code::INVALID_HANDLE.because(why));
    }
    check_shape(context, &function, &grid)?;
    if let Some(shape) = function.kernel.required_cluster {
        check_cluster(context, &function, &grid, shape)?;
    }
    let params = read_params(&function, params, extra)?;
    Ok(Launch {
        memory: &context.driver.memory,
        function,
        grid,
        options: LaunchOptions::default(),
        params,
    })
}

/// Makes a launch cooperative; an error where its blocks are more than the device has
/// room for at once.
fn cooperate(context: &Context, launch: &mut Launch) -> Result {
    let grid = &launch.grid;
    let (threads, dynamic) = (grid.threads() as u32, u64::from(grid.shared_bytes));
    let each = resident(context, &launch.function, threads, dynamic);
    let most = u64::from(each) * u64::from(context.device().gpu.arch().multiprocessors);
    if grid.blocks() > most {
        let why = format!("{} blocks, and {most} are resident at once", grid.blocks());
        return Err(Code::COOPERATIVE_LAUNCH_TOO_LARGE.because(why));
    }
    launch.options.cooperative = true;
    Ok(())
}

/// Blocks of a cluster that every device with clusters takes, and that ours does where
/// the program allows for it.
const PORTABLE_CLUSTER: u64 = 8;
const LARGEST_CLUSTER: u64 = 16;

/// Holds clusters to what the device has and the kernel asks for.
fn check_cluster(context: &Context, function: &Function, grid: &Grid, shape: [u32; 3]) -> Result {
    let required = function.kernel.required_cluster;
    let one = shape == [1; 3];
    if context.device().gpu.arch().sm() < 90 && !one {
        return Err(no_clusters());
    }
    let most = if function.large_clusters.load(Ordering::Relaxed) {
        LARGEST_CLUSTER
    } else {
        PORTABLE_CLUSTER
    };
    let blocks = shape
        .iter()
        .try_fold(1u64, |all, &n| all.checked_mul(n.into()));
    let divides = (0..3).all(|axis| grid.grid[axis].is_multiple_of(shape[axis]));
    if blocks.is_none_or(|blocks| blocks > most)
        || !divides
        || required.is_some_and(|required| required != shape)
    {
        let why = format!(
            "clusters of {shape:?} blocks: at most {most} in all, the grid a multiple of each, \
             and of the kernel's own shape if it has one"
        );
        return Err(Code::INVALID_CLUSTER_SIZE.because(why));
    }
    Ok(())
}

fn positive(number: i32) -> Result<u32> {
    u32::try_from(number)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| invalid(format!("{number} is no number of threads or blocks")))
}

fn no_clusters() -> Code {
    Code::NOT_SUPPORTED.because("clusters came with sm_90")
}

/// Checks what CUDA refuses at the call, before any work starts.
fn check_shape(context: &Context, function: &Function, grid: &Grid) -> Result {
    let arch = context.device().gpu.arch();
    let kernel = &function.kernel;
    let within = |sizes: &[u32; 3], most: &[u32; 3]| {
        sizes
            .iter()
            .zip(most)
            .all(|(n, most)| (1..=*most).contains(n))
    };
    let (name, dynamic) = (
        &kernel.name,
        function.max_dynamic_shared.load(Ordering::Relaxed),
    );
    let Grid {
        grid: blocks,
        block: threads,
        shared_bytes,
    } = *grid;
    if !within(&blocks, &arch.max_grid_dim) {
        let why = format!(
            "{name}: a grid of {blocks:?} blocks, and the most is {:?}",
            arch.max_grid_dim
        );
        return Err(invalid(why));
    }
    if !within(&threads, &arch.max_block_dim)
        || grid.threads() > u64::from(arch.max_threads_per_block)
    {
        let (most, in_all) = (arch.max_block_dim, arch.max_threads_per_block);
        let why = format!(
            "{name}: a block of {threads:?} threads; the most is {most:?}, {in_all} in all"
        );
        return Err(invalid(why));
    }
    if let Some(required) = kernel.required_threads
        && required != threads
    {
        let why = format!("{name}: a block of {threads:?} threads, and it requires {required:?}");
        return Err(invalid(why));
    }
    if shared_bytes > dynamic {
        return Err(invalid(format!(
            "{name}: {shared_bytes} bytes of dynamic shared memory, and the most is {dynamic}, \
             unless an attribute of the function asks for more"
        )));
    }
    let most = max_threads(context, function);
    if grid.threads() > u64::from(most) {
        let why = format!("{name}: a block of {threads:?} threads, and its registers allow {most}");
        return Err(Code::LAUNCH_OUT_OF_RESOURCES.because(why));
    }
    Ok(())
}

/// The parameter buffer, from one pointer per parameter or from a buffer ready made.
fn read_params(
    function: &Function,
    params: &Values<HostPointer>,
    extra: &Values<HostPointer>,
) -> Result<Vec<u8>> {
    let kernel = &function.kernel;
    let mut buffer = vec![0; kernel.param_bytes as usize];
    match (params.is_null(), extra.is_null()) {
        (true, true) if kernel.params.is_empty() => {}
        (false, true) => {
            for (index, param) in kernel.params.iter().enumerate() {
                let (start, bytes) = (param.offset as usize, param.size as usize);
                let target = &mut buffer[start..start + bytes];
                let source = params.get(index)?.span(bytes)?;
                source.with_bytes(|source| target.copy_from_slice(source));
            }
        }
        (true, false) => read_extra(extra, &mut buffer)?,
        (true, true) => {
            let count = kernel.params.len();
            let why = format!(
                "{} takes {count} parameters, and none are passed",
                kernel.name
            );
            return Err(invalid(why));
        }
        (false, false) => {
            return Err(invalid(
                "parameters are passed in both ways, by kernelParams and extra",
            ));
        }
    }
    Ok(buffer)
}

/// `extra`: names and values in turn, up to the end mark.
fn read_extra(extra: &Values<HostPointer>, buffer: &mut [u8]) -> Result {
    let (mut start, mut bytes) = (None, None);
    // Two settings there are; a longer list has lost its end mark.
    for pair in 0..3 {
        let value = |index: usize| extra.get(2 * pair + index);
        match value(0)?.address() {
            PARAM_END => break,
            PARAM_BUFFER => start = Some(value(1)?),
            PARAM_BYTES => {
                let mut size = [0; size_of::<usize>()];
                let source = value(1)?.span(size.len())?;
                source.with_bytes(|source| size.copy_from_slice(source));
                bytes = Some(usize::from_ne_bytes(size));
            }
            other => return Err(invalid(format!("extra has an unknown setting {other}"))),
        }
    }
    match (start, bytes) {
        (Some(start), Some(bytes)) if bytes >= buffer.len() => {
            let source = start.span(buffer.len())?;
            source.with_bytes(|source| buffer.copy_from_slice(source));
            Ok(())
        }
        _ => Err(invalid(format!(
            "extra must have a buffer and its size, of the {} bytes that the kernel takes at least",
            buffer.len()
        ))),
    }
}

fn resident(context: &Context, function: &Function, threads: u32, dynamic: u64) -> u32 {
    if threads > max_threads(context, function) {
        return 0;
    }
    let needs = BlockNeeds {
        threads,
        registers: registers(context, function),
        shared: dynamic.saturating_add(u64::from(function.kernel.shared_bytes)),
    };
    occupancy::resident_blocks(context.device().gpu.arch(), needs)
}

fn active_blocks(context: &Context, function: Handle, threads: i32, dynamic: usize) -> Result<i32> {
    let function = known_function(context, function)?;
    let blocks = resident(context, &function, positive(threads)?, dynamic as u64);
    i32::try_from(blocks).map_err(|_| invalid("more blocks than a number holds"))
}

/// The least grid that fills the device, and its block, as `c_int`s.
fn best_block(
    context: &Context,
    function: Handle,
    shared_of: SharedOfBlock,
    dynamic: usize,
    limit: i32,
) -> Result<(i32, i32)> {
    let function = known_function(context, function)?;
    // Zero: no limit of the program's.
    let limit = match u32::try_from(limit) {
        Ok(0) => u32::MAX,
        Ok(limit) => limit,
        Err(_) => return Err(invalid("the limit of threads is negative")),
    };
    let dynamic_of = |threads| match shared_of {
        Some(shared_of) => shared_of_block(shared_of, threads),
        None => dynamic as u64,
    };
    let best = occupancy::best_block(
        context.device().gpu.arch(),
        registers(context, &function),
        u64::from(function.kernel.shared_bytes),
        limit.min(function.kernel.max_threads),
        dynamic_of,
    );
    let (grid, block) = best.ok_or_else(|| invalid("no block of the kernel fits the device"))?;
    Ok((grid as i32, block as i32))
}
