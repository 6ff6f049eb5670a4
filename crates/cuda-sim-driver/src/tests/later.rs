//! The C declarations of what CUDA 11 and later brought: graphs, libraries, pools,
//! the linker, launches with attributes, and functions by name.

#![allow(unsafe_code)] // Calls C functions, as a program would.

use super::api::{Answer, answer, calls};
use std::ffi::{CString, c_char, c_void};
use std::ptr;

unsafe extern "C" {
    fn cuGetProcAddress_v2(
        symbol: *const c_char,
        function: *mut usize,
        version: i32,
        flags: u64,
        status: *mut u32,
    ) -> u32;
    fn cuStreamEndCapture(stream: usize, graph: *mut usize) -> u32;
    fn cuStreamIsCapturing(stream: usize, status: *mut u32) -> u32;
    fn cuOccupancyMaxActiveClusters(
        clusters: *mut i32,
        function: usize,
        config: *const Config,
    ) -> u32;
    fn cuGraphGetNodes(graph: usize, nodes: *mut usize, count: *mut usize) -> u32;
    fn cuGraphGetEdges(graph: usize, from: *mut usize, to: *mut usize, count: *mut usize) -> u32;
    fn cuGraphNodeGetType(node: usize, kind: *mut u32) -> u32;
    fn cuGraphKernelNodeGetParams(node: usize, params: *mut KernelParams) -> u32;
    fn cuGraphAddKernelNode(
        node: *mut usize,
        graph: usize,
        after: *const usize,
        count: usize,
        params: *const KernelParams,
    ) -> u32;
    fn cuGraphAddDependencies(graph: usize, from: *const usize, to: *const usize, n: usize) -> u32;
    fn cuGraphExecKernelNodeSetParams(
        executable: usize,
        node: usize,
        params: *const KernelParams,
    ) -> u32;
    fn cuGraphExecUpdate_v2(executable: usize, graph: usize, result: *mut [usize; 3]) -> u32;
    fn cuLibraryLoadData(
        library: *mut usize,
        code: *const c_void,
        options: *mut u32,
        values: *mut *mut c_void,
        count: u32,
        library_options: *mut u32,
        library_values: *mut *mut c_void,
        library_count: u32,
    ) -> u32;
    fn cuLibraryGetKernel(kernel: *mut usize, library: usize, name: *const c_char) -> u32;
    fn cuLibraryGetGlobal(
        address: *mut u64,
        bytes: *mut usize,
        library: usize,
        name: *const c_char,
    ) -> u32;
    fn cuLinkCreate_v2(
        count: u32,
        options: *mut u32,
        values: *mut *mut c_void,
        linker: *mut usize,
    ) -> u32;
    fn cuLinkAddData_v2(
        linker: usize,
        kind: u32,
        image: *const c_void,
        bytes: usize,
        name: *const c_char,
        count: u32,
        options: *mut u32,
        values: *mut *mut c_void,
    ) -> u32;
    fn cuLinkComplete(linker: usize, image: *mut *const u8, bytes: *mut usize) -> u32;
    fn cuLinkDestroy(linker: usize) -> u32;
    fn cuLaunchKernelEx(
        config: *const Config,
        function: usize,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
    fn cuMemPoolCreate(pool: *mut usize, properties: *const [u64; 11]) -> u32;
    fn cuMemPoolGetAttribute(pool: usize, attribute: u32, value: *mut c_void) -> u32;
    fn cuMemPoolSetAttribute(pool: usize, attribute: u32, value: *mut c_void) -> u32;
}

/// A `CUDA_KERNEL_NODE_PARAMS_v1`.
#[repr(C)]
pub struct KernelParams {
    pub function: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
}

#[repr(C)]
struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: usize,
    attributes: *const Attribute,
    count: u32,
}

/// A `CUlaunchAttribute`, with the first 8 bytes of its value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    id: u32,
    padding: u32,
    value: [u64; 8],
}

impl Attribute {
    pub fn new(id: u32, value: [u64; 2]) -> Attribute {
        let mut attribute = Attribute {
            id,
            padding: 0,
            value: [0; 8],
        };
        attribute.value[..2].copy_from_slice(&value);
        attribute
    }
}

calls! {
    fn instantiate = cuGraphInstantiateWithFlags(graph: usize, flags: u64) -> usize;
    fn kernel_count = cuLibraryGetKernelCount(library: usize) -> u32;
    fn kernel_function = cuKernelGetFunction(kernel: usize) -> usize;
    fn kernel_attribute = cuKernelGetAttribute(attribute: u32, kernel: usize, device: i32) -> i32;
    fn default_pool = cuDeviceGetDefaultMemPool(device: i32) -> usize;
    fn alloc_from = cuMemAllocFromPoolAsync(bytes: usize, pool: usize, stream: usize) -> u64;
    fn elapsed = cuEventElapsedTime_v2(start: usize, end: usize) -> f32;
}

calls! {
    fn begin_capture = cuStreamBeginCapture_v2(stream: usize, mode: u32);
    fn graph_destroy = cuGraphDestroy(graph: usize);
    fn executable_destroy = cuGraphExecDestroy(executable: usize);
    fn graph_launch = cuGraphLaunch(executable: usize, stream: usize);
    fn library_unload = cuLibraryUnload(library: usize);
    fn pool_destroy = cuMemPoolDestroy(pool: usize);
}

/// What a program of a CUDA version gets for a name: the answer, and the status.
pub fn proc_address(name: &str, version: i32, flags: u64) -> (Answer<usize>, u32) {
    let name = CString::new(name).expect("no zero");
    let (mut function, mut status) = (0, 9);
    // SAFETY: the name ends in a zero, the rest is good for the write.
    let code =
        unsafe { cuGetProcAddress_v2(name.as_ptr(), &mut function, version, flags, &mut status) };
    (answer(code).map(|()| function), status)
}

pub fn end_capture(stream: usize) -> Answer<usize> {
    let mut graph = 0;
    // SAFETY: good for the write.
    answer(unsafe { cuStreamEndCapture(stream, &mut graph) })?;
    Ok(graph)
}

pub fn is_capturing(stream: usize) -> Answer<u32> {
    let mut status = 9;
    // SAFETY: good for the write.
    answer(unsafe { cuStreamIsCapturing(stream, &mut status) })?;
    Ok(status)
}

/// The nodes of a graph with their types, and its edges as places among them.
pub fn shape(graph: usize) -> (Vec<usize>, Vec<u32>, Vec<(usize, usize)>) {
    let mut count = 0;
    // SAFETY: null asks for the count; the arrays are as long as it says.
    unsafe {
        answer(cuGraphGetNodes(graph, ptr::null_mut(), &mut count)).expect("a count");
        let mut nodes = vec![0; count];
        answer(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count)).expect("nodes");
        let kinds = nodes.iter().map(|&node| {
            let mut kind = 99;
            answer(cuGraphNodeGetType(node, &mut kind)).expect("a type");
            kind
        });
        let kinds = kinds.collect();
        answer(cuGraphGetEdges(
            graph,
            ptr::null_mut(),
            ptr::null_mut(),
            &mut count,
        ))
        .expect("n");
        let (mut from, mut to) = (vec![0; count], vec![0; count]);
        answer(cuGraphGetEdges(
            graph,
            from.as_mut_ptr(),
            to.as_mut_ptr(),
            &mut count,
        ))
        .expect("e");
        let place = |node| {
            nodes
                .iter()
                .position(|&known| known == node)
                .expect("a node")
        };
        let edges = from.into_iter().zip(to).map(|(a, b)| (place(a), place(b)));
        let edges = edges.collect();
        (nodes, kinds, edges)
    }
}

/// A kernel's parameters of 64 bits each, for as long as `with` runs.
fn with_params<R>(
    function: usize,
    (grid, block): ([u32; 3], [u32; 3]),
    params: &[u64],
    with: impl FnOnce(&KernelParams) -> R,
) -> R {
    let mut values = params.to_vec();
    let mut pointers: Vec<*mut c_void> =
        values.iter_mut().map(|v| ptr::from_mut(v).cast()).collect();
    with(&KernelParams {
        function,
        grid,
        block,
        shared: 0,
        params: pointers.as_mut_ptr(),
        extra: ptr::null_mut(),
    })
}

pub fn add_kernel(
    graph: usize,
    after: &[usize],
    function: usize,
    extent: ([u32; 3], [u32; 3]),
    params: &[u64],
) -> Answer<usize> {
    let mut node = 0;
    with_params(function, extent, params, |params| {
        // SAFETY: the lists are as long as is said, and live through the call.
        answer(unsafe {
            cuGraphAddKernelNode(&mut node, graph, after.as_ptr(), after.len(), params)
        })
    })?;
    Ok(node)
}

pub fn set_kernel(
    executable: usize,
    node: usize,
    function: usize,
    extent: ([u32; 3], [u32; 3]),
    params: &[u64],
) -> Answer {
    with_params(function, extent, params, |params| {
        // SAFETY: the parameters live through the call.
        answer(unsafe { cuGraphExecKernelNodeSetParams(executable, node, params) })
    })
}

/// A kernel node's grid, block, and first parameter.
pub fn kernel_of(node: usize) -> Answer<([u32; 3], [u32; 3], u64)> {
    let mut params = KernelParams {
        function: 0,
        grid: [0; 3],
        block: [0; 3],
        shared: 0,
        params: ptr::null_mut(),
        extra: ptr::null_mut(),
    };
    // SAFETY: good for the write; what it answers leads to as many parameters as the
    // kernel has, which is one at least.
    unsafe {
        answer(cuGraphKernelNodeGetParams(node, &mut params))?;
        Ok((
            params.grid,
            params.block,
            (*params.params).cast::<u64>().read_unaligned(),
        ))
    }
}

pub fn add_edge(graph: usize, from: usize, to: usize) -> Answer {
    // SAFETY: both lists have one entry.
    answer(unsafe { cuGraphAddDependencies(graph, &from, &to, 1) })
}

pub fn update(executable: usize, graph: usize) -> Answer {
    let mut result = [0; 3];
    // SAFETY: good for the write.
    answer(unsafe { cuGraphExecUpdate_v2(executable, graph, &mut result) })
}

/// Loads a library from an image, which is text that ends in a zero, or has a length
/// of its own.
pub fn library(image: &[u8]) -> Answer<usize> {
    let mut library = 0;
    let (options, values) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: there are no options.
    answer(unsafe {
        cuLibraryLoadData(
            &mut library,
            image.as_ptr().cast(),
            options,
            values,
            0,
            options,
            values,
            0,
        )
    })?;
    Ok(library)
}

pub fn kernel(library: usize, name: &str) -> Answer<usize> {
    let name = CString::new(name).expect("no zero");
    let mut kernel = 0;
    // SAFETY: the name ends in a zero.
    answer(unsafe { cuLibraryGetKernel(&mut kernel, library, name.as_ptr()) })?;
    Ok(kernel)
}

pub fn library_global(library: usize, name: &str) -> Answer<(u64, usize)> {
    let name = CString::new(name).expect("no zero");
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the name ends in a zero, the rest is good for the write.
    answer(unsafe { cuLibraryGetGlobal(&mut address, &mut bytes, library, name.as_ptr()) })?;
    Ok((address, bytes))
}

/// Links sources, and gives the image to `with`.
pub fn link<R>(sources: &[&str], with: impl FnOnce(&[u8]) -> R) -> R {
    let mut linker = 0;
    let none = ptr::null_mut();
    // SAFETY: no options are passed; sources are as long as is said; the image lives
    // until the linker is destroyed.
    unsafe {
        answer(cuLinkCreate_v2(0, none, ptr::null_mut(), &mut linker)).expect("a linker");
        for source in sources {
            let start = source.as_ptr().cast();
            let name = ptr::null();
            let added = cuLinkAddData_v2(
                linker,
                1,
                start,
                source.len(),
                name,
                0,
                none,
                ptr::null_mut(),
            );
            answer(added).expect("added");
        }
        let (mut image, mut bytes) = (ptr::null(), 0);
        answer(cuLinkComplete(linker, &mut image, &mut bytes)).expect("an image");
        let result = with(std::slice::from_raw_parts(image, bytes));
        answer(cuLinkDestroy(linker)).expect("destroyed");
        result
    }
}

pub fn launch_ex(
    function: usize,
    (grid, block): ([u32; 3], [u32; 3]),
    stream: usize,
    attributes: &[Attribute],
    params: &[u64],
) -> Answer {
    let config = Config {
        grid,
        block,
        shared: 0,
        stream,
        attributes: attributes.as_ptr(),
        count: attributes.len() as u32,
    };
    with_params(function, (grid, block), params, |params| {
        // SAFETY: everything lives through the call.
        answer(unsafe { cuLaunchKernelEx(&config, function, params.params, ptr::null_mut()) })
    })
}

/// Clusters of a launch that the device holds at once.
pub fn active_clusters(function: usize, grid: [u32; 3], attributes: &[Attribute]) -> Answer<i32> {
    let config = Config {
        grid,
        block: [32, 1, 1],
        shared: 0,
        stream: 0,
        attributes: attributes.as_ptr(),
        count: attributes.len() as u32,
    };
    let mut clusters = 0;
    // SAFETY: everything lives through the call.
    answer(unsafe { cuOccupancyMaxActiveClusters(&mut clusters, function, &config) })?;
    Ok(clusters)
}

pub fn pool_create(device: i32) -> Answer<usize> {
    // Pinned memory of the device: a CUmemPoolProps of 88 bytes.
    let mut properties = [0; 11];
    properties[0] = 1;
    properties[1] = 1 | (device as u64) << 32;
    let mut pool = 0;
    // SAFETY: as long as the struct is.
    answer(unsafe { cuMemPoolCreate(&mut pool, &properties) })?;
    Ok(pool)
}

/// An attribute of 64 bits.
pub fn pool_attribute(pool: usize, attribute: u32) -> Answer<u64> {
    let mut value = 0_u64;
    // SAFETY: good for the write.
    answer(unsafe { cuMemPoolGetAttribute(pool, attribute, ptr::from_mut(&mut value).cast()) })?;
    Ok(value)
}

pub fn set_pool_attribute(pool: usize, attribute: u32, mut value: u64) -> Answer {
    // SAFETY: a value of 64 bits is there.
    answer(unsafe { cuMemPoolSetAttribute(pool, attribute, ptr::from_mut(&mut value).cast()) })
}
