//! The C declarations, and calls of them that a test can make in safe code.

#![allow(unsafe_code)] // Calls C functions, as a program would.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

/// A `CUresult` other than success.
pub type Answer<T = ()> = Result<T, u32>;

unsafe extern "C" {
    fn cuGetErrorName(code: u32, name: *mut *const c_char) -> u32;
    fn cuGetErrorString(code: u32, text: *mut *const c_char) -> u32;
    fn cuDeviceGetCount(count: *mut i32) -> u32;
    fn cuDeviceGetName(name: *mut c_char, bytes: i32, device: i32) -> u32;
    fn cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) -> u32;
    fn cuModuleLoadData(module: *mut usize, image: *const c_void) -> u32;
    fn cuModuleLoadDataEx(
        module: *mut usize,
        image: *const c_void,
        count: u32,
        options: *mut u32,
        values: *mut *mut c_void,
    ) -> u32;
    fn cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char) -> u32;
    fn cuModuleGetGlobal_v2(
        address: *mut u64,
        bytes: *mut usize,
        module: usize,
        name: *const c_char,
    ) -> u32;
    fn cuLaunchKernel(
        function: usize,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: usize,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
    fn cuLaunchCooperativeKernel(
        function: usize,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: usize,
        params: *mut *mut c_void,
    ) -> u32;
    fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut i32,
        block: *mut i32,
        function: usize,
        shared_of: Option<unsafe extern "C" fn(i32) -> usize>,
        shared: usize,
        limit: i32,
    ) -> u32;
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> u32;
    fn cuMemAllocPitch_v2(
        address: *mut u64,
        pitch: *mut usize,
        width: usize,
        height: usize,
        element: u32,
    ) -> u32;
    fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) -> u32;
    fn cuMemFreeHost(pointer: *mut c_void) -> u32;
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: u32) -> u32;
    fn cuMemHostUnregister(pointer: *mut c_void) -> u32;
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> u32;
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> u32;
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: usize) -> u32;
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: usize) -> u32;
    fn cuMemcpy2D_v2(copy: *const Copy2D) -> u32;
    fn cuPointerGetAttribute(value: *mut c_void, attribute: u32, address: u64) -> u32;
    fn cuStreamAddCallback(
        stream: usize,
        function: Option<unsafe extern "C" fn(usize, u32, *mut c_void)>,
        data: *mut c_void,
        flags: u32,
    ) -> u32;
    fn cuLaunchHostFunc(
        stream: usize,
        function: Option<unsafe extern "C" fn(*mut c_void)>,
        data: *mut c_void,
    ) -> u32;
}

/// A `CUDA_MEMCPY2D` between host memory and the device.
#[repr(C)]
struct Copy2D {
    from: Side,
    to: Side,
    width: usize,
    height: usize,
}

#[repr(C)]
struct Side {
    x: usize,
    y: usize,
    memory_type: u32,
    host: *const c_void,
    device: u64,
    array: usize,
    pitch: usize,
}

pub fn answer(code: u32) -> Answer {
    if code == 0 { Ok(()) } else { Err(code) }
}

/// Calls of one shape, each of which declares the C function and hands on what that is given and
/// answers.
macro_rules! calls {
    // Functions that write their result through the first pointer.
    ($(fn $safe:ident = $c:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {$(
        pub fn $safe($($arg: $type),*) -> Answer<$out> {
            unsafe extern "C" {
                fn $c(out: *mut $out, $($arg: $type),*) -> u32;
            }
            let mut out = <$out>::default();
            // SAFETY: `out` is good for the write; no other argument is a pointer.
            answer(unsafe { $c(&mut out, $($arg),*) })?;
            Ok(out)
        }
    )*};
    // Functions that answer a code alone.
    ($(fn $safe:ident = $c:ident($($arg:ident: $type:ty),*);)*) => {$(
        pub fn $safe($($arg: $type),*) -> Answer {
            unsafe extern "C" {
                fn $c($($arg: $type),*) -> u32;
            }
            // SAFETY: no argument is a pointer.
            answer(unsafe { $c($($arg),*) })
        }
    )*};
}
pub(super) use calls;

calls! {
    fn version = cuDriverGetVersion() -> i32;
    fn device_count = cuDeviceGetCount() -> i32;
    fn device_get = cuDeviceGet(ordinal: i32) -> i32;
    fn total_memory = cuDeviceTotalMem_v2(device: i32) -> usize;
    fn attribute = cuDeviceGetAttribute(attribute: u32, device: i32) -> i32;
    fn primary_retain = cuDevicePrimaryCtxRetain(device: i32) -> usize;
    fn context_create = cuCtxCreate_v2(flags: u32, device: i32) -> usize;
    fn context_pop = cuCtxPopCurrent_v2() -> usize;
    fn context_current = cuCtxGetCurrent() -> usize;
    fn context_device = cuCtxGetDevice() -> i32;
    fn alloc = cuMemAlloc_v2(bytes: usize) -> u64;
    fn alloc_async = cuMemAllocAsync(bytes: usize, stream: usize) -> u64;
    fn alloc_managed = cuMemAllocManaged(bytes: usize, flags: u32) -> u64;
    fn function_attribute = cuFuncGetAttribute(attribute: u32, function: usize) -> i32;
    fn active_blocks = cuOccupancyMaxActiveBlocksPerMultiprocessor(
        function: usize,
        threads: i32,
        shared: usize
    ) -> i32;
    fn available_shared = cuOccupancyAvailableDynamicSMemPerBlock(
        function: usize,
        blocks: i32,
        threads: i32
    ) -> usize;
    fn stream_create = cuStreamCreate(flags: u32) -> usize;
    fn event_create = cuEventCreate(flags: u32) -> usize;
    fn elapsed = cuEventElapsedTime(start: usize, end: usize) -> f32;
    fn graph_create = cuGraphCreate(flags: u32) -> usize;
}

calls! {
    fn init = cuInit(flags: u32);
    fn primary_release = cuDevicePrimaryCtxRelease_v2(device: i32);
    fn primary_reset = cuDevicePrimaryCtxReset_v2(device: i32);
    fn context_destroy = cuCtxDestroy_v2(context: usize);
    fn context_push = cuCtxPushCurrent_v2(context: usize);
    fn context_set = cuCtxSetCurrent(context: usize);
    fn synchronize = cuCtxSynchronize();
    fn module_unload = cuModuleUnload(module: usize);
    fn function_set = cuFuncSetAttribute(function: usize, attribute: u32, value: i32);
    fn free = cuMemFree_v2(address: u64);
    fn free_async = cuMemFreeAsync(address: u64, stream: usize);
    fn copy = cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize);
    fn fill8 = cuMemsetD8_v2(to: u64, value: u8, count: usize);
    fn fill16 = cuMemsetD16_v2(to: u64, value: u16, count: usize);
    fn fill32 = cuMemsetD32_v2(to: u64, value: u32, count: usize);
    fn fill32_async = cuMemsetD32Async(to: u64, value: u32, count: usize, stream: usize);
    fn stream_destroy = cuStreamDestroy_v2(stream: usize);
    fn stream_synchronize = cuStreamSynchronize(stream: usize);
    fn stream_query = cuStreamQuery(stream: usize);
    fn stream_wait = cuStreamWaitEvent(stream: usize, event: usize, flags: u32);
    fn event_destroy = cuEventDestroy_v2(event: usize);
    fn event_record = cuEventRecord(event: usize, stream: usize);
    fn texture_destroy = cuTexObjectDestroy(texture: u64);
    fn event_query = cuEventQuery(event: usize);
    fn event_synchronize = cuEventSynchronize(event: usize);
}

/// Initialises, and makes the primary context of device 0 current.
pub fn start() {
    init(0).expect("cuInit");
    let context = primary_retain(0).expect("a primary context");
    context_set(context).expect("it becomes current");
}

/// Releases what [`start`] retained.
pub fn stop() {
    primary_release(0).expect("the primary context is released");
}

/// `cuInit` for a flag that the caller got wrong, a null pointer, and so on.
pub fn count_to_null() -> Answer {
    // SAFETY: null is the case under test; the function says it is tested.
    answer(unsafe { cuDeviceGetCount(ptr::null_mut()) })
}

/// A code's name and sentence.
pub fn words(code: u32) -> Answer<(String, String)> {
    let (mut name, mut text) = (ptr::null(), ptr::null());
    // SAFETY: both pointers are good for the write.
    unsafe {
        answer(cuGetErrorName(code, &mut name))?;
        answer(cuGetErrorString(code, &mut text))?;
    }
    // SAFETY: on success both are static C strings.
    let string = |s| unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned();
    Ok((string(name), string(text)))
}

/// A device's name, as far as `room` bytes hold it.
pub fn device_name(device: i32, room: usize) -> Answer<String> {
    let mut name = vec![0xff_u8; room];
    // SAFETY: `name` is `room` bytes long.
    answer(unsafe { cuDeviceGetName(name.as_mut_ptr().cast(), room as i32, device) })?;
    let name = CStr::from_bytes_until_nul(&name).expect("a terminating zero");
    Ok(name.to_string_lossy().into_owned())
}

/// Whether a device's primary context is active.
pub fn primary_is_active(device: i32) -> bool {
    let (mut flags, mut active) = (0, 0);
    // SAFETY: both pointers are good for the write.
    let code = unsafe { cuDevicePrimaryCtxGetState(device, &mut flags, &mut active) };
    answer(code).expect("the state");
    active == 1
}

/// Bytes of the current device's memory: free, and in all.
pub fn memory_info() -> (usize, usize) {
    let (mut free, mut total) = (0, 0);
    // SAFETY: both pointers are good for the write.
    answer(unsafe { cuMemGetInfo_v2(&mut free, &mut total) }).expect("memory info");
    (free, total)
}

/// Pitched memory: its address and pitch.
pub fn alloc_pitch(width: usize, height: usize) -> Answer<(u64, usize)> {
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: both pointers are good for the write.
    answer(unsafe { cuMemAllocPitch_v2(&mut address, &mut pitch, width, height, 4) })?;
    Ok((address, pitch))
}

/// Loads PTX.
pub fn load(ptx: &str) -> Answer<usize> {
    let image = CString::new(ptx).expect("no zero in PTX");
    load_image(image.as_bytes_with_nul())
}

/// Loads an image, which ends in a zero.
pub fn load_image(image: &[u8]) -> Answer<usize> {
    let mut module = 0;
    // SAFETY: the image is text that ends in a zero, or has a magic number.
    answer(unsafe { cuModuleLoadData(&mut module, image.as_ptr().cast()) })?;
    Ok(module)
}

/// Loads PTX with an error log of `room` bytes; the answer, the log, and how much
/// of it the driver says it used.
pub fn load_with_log(ptx: &str, room: usize) -> (Answer<usize>, String, usize) {
    let image = CString::new(ptx).expect("no zero in PTX");
    let mut module = 0;
    let mut log = vec![0_u8; room];
    // Registers at most, the error log, its size.
    let mut options = [0, 5, 6];
    let mut values = [
        ptr::without_provenance_mut(64),
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut(room),
    ];
    // SAFETY: options and values are three each, the log is as long as it says.
    let code = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            3,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let text = CStr::from_bytes_until_nul(&log).expect("a terminating zero");
    let text = text.to_string_lossy().into_owned();
    (answer(code).map(|()| module), text, values[2].addr())
}

/// A kernel of a module.
pub fn function(module: usize, name: &str) -> Answer<usize> {
    let name = CString::new(name).expect("no zero in a name");
    let mut function = 0;
    // SAFETY: `function` is good for the write, the name ends in a zero.
    answer(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) })?;
    Ok(function)
}

/// A variable of a module: its address and length.
pub fn global(module: usize, name: &str) -> Answer<(u64, usize)> {
    let name = CString::new(name).expect("no zero in a name");
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: both pointers are good for the write, the name ends in a zero.
    answer(unsafe { cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()) })?;
    Ok((address, bytes))
}

/// Launches a kernel whose parameters are all 64 bits wide.
pub fn launch(
    function: usize,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: usize,
    params: &[u64],
) -> Answer {
    let mut pointers: Vec<_> = params
        .iter()
        .map(|param| ptr::from_ref(param).cast_mut().cast::<c_void>())
        .collect();
    let params = if params.is_empty() {
        ptr::null_mut()
    } else {
        pointers.as_mut_ptr()
    };
    let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
    // SAFETY: one pointer to eight bytes for each parameter.
    answer(unsafe {
        cuLaunchKernel(
            function,
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            shared,
            stream,
            params,
            ptr::null_mut(),
        )
    })
}

/// Launches blocks of one thread cooperatively, with one 64-bit parameter.
pub fn launch_cooperative(function: usize, blocks: u32, param: u64) -> Answer {
    let mut params = [ptr::from_ref(&param).cast_mut().cast::<c_void>()];
    // SAFETY: one pointer to eight bytes for the parameter.
    answer(unsafe {
        cuLaunchCooperativeKernel(function, blocks, 1, 1, 1, 1, 1, 0, 0, params.as_mut_ptr())
    })
}

/// Launches one block of 32 threads, with the parameters in a ready-made buffer.
pub fn launch_with_buffer(function: usize, params: &[u64]) -> Answer {
    let mut bytes = size_of_val(params);
    let mut extra = [
        ptr::without_provenance_mut(1),
        params.as_ptr().cast_mut().cast::<c_void>(),
        ptr::without_provenance_mut(2),
        ptr::from_mut(&mut bytes).cast::<c_void>(),
        ptr::null_mut(),
    ];
    // SAFETY: `extra` names a buffer and its length, and has its end mark.
    answer(unsafe {
        cuLaunchKernel(
            function,
            1,
            1,
            1,
            32,
            1,
            1,
            0,
            0,
            ptr::null_mut(),
            extra.as_mut_ptr(),
        )
    })
}

/// The block size for most threads, and the grid that fills the device.
pub fn best_block(function: usize, limit: i32, shared_per_thread: bool) -> Answer<(i32, i32)> {
    unsafe extern "C" fn kibibyte_each(threads: i32) -> usize {
        1024 * threads as usize
    }
    let shared_of: Option<unsafe extern "C" fn(i32) -> usize> = if shared_per_thread {
        Some(kibibyte_each)
    } else {
        None
    };
    let (mut grid, mut block) = (0, 0);
    // SAFETY: both pointers are good for the write; the function needs nothing.
    answer(unsafe {
        cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, shared_of, 0, limit)
    })?;
    Ok((grid, block))
}

/// Copies words to the device.
pub fn write(to: u64, words: &[u32]) -> Answer {
    // SAFETY: the source is as long as it says.
    answer(unsafe { cuMemcpyHtoD_v2(to, words.as_ptr().cast(), size_of_val(words)) })
}

/// Copies words from the device.
pub fn read(from: u64, count: usize) -> Answer<Vec<u32>> {
    let mut words = vec![0_u32; count];
    // SAFETY: the target is as long as it says.
    answer(unsafe { cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), from, 4 * count) })?;
    Ok(words)
}

/// Copies words to the device on a stream from memory that is gone after the call.
pub fn write_async(to: u64, words: &[u32], stream: usize) -> Answer {
    let source = words.to_vec();
    // SAFETY: pageable memory is read before the call returns.
    answer(unsafe { cuMemcpyHtoDAsync_v2(to, source.as_ptr().cast(), 4 * source.len(), stream) })
}

/// Copies words from the device on a stream into pageable memory.
pub fn read_async(from: u64, count: usize, stream: usize) -> Answer<Vec<u32>> {
    let mut words = vec![0_u32; count];
    // SAFETY: pageable memory is written before the call returns.
    answer(unsafe { cuMemcpyDtoHAsync_v2(words.as_mut_ptr().cast(), from, 4 * count, stream) })?;
    Ok(words)
}

/// Copies a rectangle of `height` rows of `width` bytes to pitched memory.
pub fn write_rows(to: (u64, usize), from: &[u8], width: usize, height: usize) -> Answer {
    assert_eq!(from.len(), width * height);
    let copy = Copy2D {
        from: Side {
            x: 0,
            y: 0,
            memory_type: 1,
            host: from.as_ptr().cast(),
            device: 0,
            array: 0,
            pitch: 0,
        },
        to: Side {
            x: 0,
            y: 0,
            memory_type: 2,
            host: ptr::null(),
            device: to.0,
            array: 0,
            pitch: to.1,
        },
        width,
        height,
    };
    // SAFETY: the source is a rectangle of that size.
    answer(unsafe { cuMemcpy2D_v2(&copy) })
}

/// Page-locked memory of the driver's, as words.
pub struct Pinned {
    start: *mut u32,
    count: usize,
}

impl Pinned {
    pub fn new(count: usize) -> Answer<Pinned> {
        let mut start = ptr::null_mut();
        // SAFETY: `start` is good for the write.
        answer(unsafe { cuMemAllocHost_v2(&mut start, 4 * count) })?;
        let start = start.cast();
        Ok(Pinned { start, count })
    }

    /// Its words; no copy may be under way.
    pub fn words(&mut self) -> &mut [u32] {
        // SAFETY: as many words were allocated, and the driver zeroes them.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.count) }
    }

    pub fn write_async(&self, to: u64, stream: usize) -> Answer {
        // SAFETY: as many words were allocated, and tests do not free or change
        // them before they have waited for the stream.
        answer(unsafe { cuMemcpyHtoDAsync_v2(to, self.start.cast(), 4 * self.count, stream) })
    }

    pub fn read_async(&self, from: u64, stream: usize) -> Answer {
        // SAFETY: as for `write_async`.
        answer(unsafe { cuMemcpyDtoHAsync_v2(self.start.cast(), from, 4 * self.count, stream) })
    }

    pub fn free(self) -> Answer {
        // SAFETY: the driver allocated it.
        answer(unsafe { cuMemFreeHost(self.start.cast()) })
    }
}

/// The words of managed memory; no kernel may be under way.
pub fn managed_words(address: u64, count: usize) -> &'static mut [u32] {
    // SAFETY: tests pass what `alloc_managed` answered for as many words, and use
    // the slice before they free it.
    unsafe {
        std::slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(address as usize), count)
    }
}

/// Registers memory, and unregisters it again.
pub fn register_and_unregister(words: &mut [u32]) -> (Answer, Answer, Answer) {
    let (start, bytes) = (words.as_mut_ptr().cast(), size_of_val(words));
    // SAFETY: the range is the slice.
    unsafe {
        (
            answer(cuMemHostRegister_v2(start, bytes, 0)),
            answer(cuMemHostRegister_v2(start, bytes, 0)),
            answer(cuMemHostUnregister(start)),
        )
    }
}

/// Unregisters memory that was never registered.
pub fn unregister_unknown(words: &mut [u32]) -> Answer {
    // SAFETY: the pointer is only looked up.
    answer(unsafe { cuMemHostUnregister(words.as_mut_ptr().cast()) })
}

/// A pointer attribute that is 64 bits wide.
pub fn pointer_attribute(attribute: u32, address: u64) -> Answer<u64> {
    let mut value = 0_u64;
    // SAFETY: eight bytes hold an attribute of any kind.
    answer(unsafe { cuPointerGetAttribute(ptr::from_mut(&mut value).cast(), attribute, address) })?;
    Ok(value)
}

/// Has `f` called on a stream.
pub fn host_function<F: FnOnce() + Send + 'static>(stream: usize, f: F) -> Answer {
    unsafe extern "C" fn call<F: FnOnce()>(data: *mut c_void) {
        // SAFETY: made from a box of this type below, and passed once.
        let f = unsafe { Box::from_raw(data.cast::<F>()) };
        f();
    }
    let data = Box::into_raw(Box::new(f)).cast();
    // SAFETY: `call` takes what `data` is.
    answer(unsafe { cuLaunchHostFunc(stream, Some(call::<F>), data) })
}

/// Has `f` told the state of a stream when its turn comes.
pub fn callback<F: FnOnce(u32) + Send + 'static>(stream: usize, f: F) -> Answer {
    unsafe extern "C" fn call<F: FnOnce(u32)>(_stream: usize, status: u32, data: *mut c_void) {
        // SAFETY: made from a box of this type below, and passed once.
        let f = unsafe { Box::from_raw(data.cast::<F>()) };
        f(status);
    }
    let data = Box::into_raw(Box::new(f)).cast();
    // SAFETY: `call` takes what `data` is.
    answer(unsafe { cuStreamAddCallback(stream, Some(call::<F>), data, 0) })
}
