//! What is said of calls that fail, and pointers that lead nowhere.

#![allow(unsafe_code)] // Calls C functions, as a program would.

use super::api::{self, answer};
use super::{later, process, program};
use std::ffi::c_void;
use std::ptr;

unsafe extern "C" {
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> u32;
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> u32;
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: usize) -> u32;
    fn cuMemcpy(to: u64, from: u64, bytes: usize) -> u32;
    fn cuStreamBeginCapture_v2(stream: usize, mode: u32) -> u32;
    fn cuStreamBeginCapture_v2_ptsz(stream: usize, mode: u32) -> u32;
    fn cuStreamEndCapture_ptsz(stream: usize, graph: *mut usize) -> u32;
    fn cuMemsetD8Async_ptsz(to: u64, value: u8, count: usize, stream: usize) -> u32;
    fn cuTexRefCreate(reference: *mut usize) -> u32;
    fn cudaMallocArray(array: *mut usize) -> u32;
    fn cudaGetLastError() -> u32;
}

fn to_device(to: u64, from: u64, bytes: usize) -> api::Answer {
    let from = ptr::with_exposed_provenance(from as usize);
    // SAFETY: the driver looks at both addresses before it uses them.
    answer(unsafe { cuMemcpyHtoD_v2(to, from, bytes) })
}

fn to_host(to: u64, from: u64, bytes: usize) -> api::Answer {
    let to = ptr::with_exposed_provenance_mut(to as usize);
    // SAFETY: as above.
    answer(unsafe { cuMemcpyDtoH_v2(to, from, bytes) })
}

#[test]
fn a_device_pointer_in_place_of_a_host_pointer_is_an_invalid_value() {
    let stderr = program(&[], || {
        api::start();
        let [a, b] = [0; 2].map(|_| api::alloc(64).expect("memory"));
        api::write(a, &[7; 16]).expect("written");
        assert_eq!(to_device(b, a, 64), Err(1));
        assert_eq!(to_host(b, a, 64), Err(1));
        let from = ptr::with_exposed_provenance(a as usize + 4);
        // SAFETY: as above.
        let later = unsafe { cuMemcpyHtoDAsync_v2(b, from, 4, 0) };
        assert_eq!(later, 1);
        api::free(b).expect("freed");
        // Memory that is freed is nobody's.
        assert_eq!(to_device(a, b, 64), Err(1));
        // SAFETY: as above.
        let anywhere = unsafe { cuMemcpy(a, b, 64) };
        assert_eq!(anywhere, 1);
        // And the context is well.
        assert_eq!(api::read(a, 16), Ok(vec![7; 16]));
        api::free(a).expect("freed");
        api::stop();
    });
    for words in [
        "cuMemcpyHtoD_v2 answers CUDA_ERROR_INVALID_VALUE (1): the host pointer 0x",
        "leads to memory of device 0",
        "64 bytes from the host pointer 0x",
        "on cannot all be read",
    ] {
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
}

#[test]
fn host_memory_that_is_not_there_is_an_invalid_value() {
    program(&[], || {
        const PAGE: usize = 4096;
        let map = |protection| {
            // SAFETY: a new mapping of nobody's addresses.
            let start = unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                libc::mmap(ptr::null_mut(), 3 * PAGE, protection, flags, -1, 0)
            };
            assert_ne!(start, libc::MAP_FAILED);
            start
        };
        api::start();
        let device = api::alloc(3 * PAGE).expect("memory");
        api::write(device, &vec![5; 3 * PAGE / 4]).expect("written");
        for wild in [8, 0x1234_5000, u64::MAX - 4096] {
            assert_eq!(to_device(device, wild, 4), Err(1), "{wild:#x}");
            assert_eq!(to_host(wild, device, 4), Err(1), "{wild:#x}");
        }
        // A hole of a page in the middle, which a copy must not reach over.
        let whole = map(libc::PROT_READ | libc::PROT_WRITE);
        let start = whole.expose_provenance() as u64;
        assert_eq!(to_host(start, device, 3 * PAGE), Ok(()));
        assert_eq!(to_device(device, start, 3 * PAGE), Ok(()));
        // SAFETY: the page is this test's own, and nothing refers to it.
        let unmapped = unsafe { libc::munmap(whole.byte_add(PAGE), PAGE) };
        assert_eq!(unmapped, 0);
        for (offset, bytes, good) in [
            (0, PAGE, true),
            (0, PAGE + 1, false),
            (0, 3 * PAGE, false),
            (2 * PAGE - 1, 2, false),
            (2 * PAGE, PAGE, true),
        ] {
            let (address, want) = (start + offset as u64, if good { Ok(()) } else { Err(1) });
            assert_eq!(to_device(device, address, bytes), want, "{offset}");
            assert_eq!(to_host(address, device, bytes), want, "{offset}");
        }
        // Memory to read alone can be sent, and not received into.
        let constant = map(libc::PROT_READ).expose_provenance() as u64;
        assert_eq!(to_device(device, constant, 3 * PAGE), Ok(()));
        assert_eq!(to_host(constant, device, 1), Err(1));
        assert_eq!(api::read(device, 1), Ok(vec![0]));
        api::free(device).expect("freed");
        api::stop();
    });
}

#[test]
fn every_call_that_fails_says_why_and_once() {
    let failing = || {
        api::start();
        let stream = api::stream_create(0).expect("a stream");
        for _ in 0..3 {
            assert_eq!(api::alloc(0), Err(1));
            assert_eq!(api::alloc(usize::MAX), Err(2));
            assert_eq!(api::stream_synchronize(0xbad0), Err(400));
            assert_eq!(api::free(0xbad1), Err(1));
            assert_eq!(api::device_get(3), Err(101));
            assert_eq!(api::count_to_null(), Err(1));
            assert_eq!(
                api::load(".version 7.0\n.target sm_75\nnonsense").map(|_| ()),
                Err(218)
            );
        }
        api::stream_destroy(stream).expect("destroyed");
        api::stop();
    };
    let stderr = program(&[], failing);
    let invalid = "answers CUDA_ERROR_INVALID_VALUE (1)";
    for words in [
        &format!("cuMemAlloc_v2 {invalid}: 0 bytes are asked for\n"),
        "cuMemAlloc_v2 answers CUDA_ERROR_OUT_OF_MEMORY (2): 18446744073709551615 bytes are asked \
         for, 4294967296 of 4294967296 are free\n",
        "cuStreamSynchronize answers CUDA_ERROR_INVALID_HANDLE (400): 0xbad0 is no stream, or one \
         that is gone\n",
        &format!("cuMemFree_v2 {invalid}: no allocation begins at 0xbad1, or it is freed\n"),
        "cuDeviceGet answers CUDA_ERROR_INVALID_DEVICE (101): there is no device 3\n",
        &format!("cuDeviceGetCount {invalid}: a pointer is null\n"),
        "cuModuleLoadData answers CUDA_ERROR_INVALID_PTX (218): ptxas error",
    ] {
        assert_eq!(stderr.matches(words).count(), 1, "{words}: {stderr}");
    }
    assert_eq!(program(&[("CUDA_SIM_QUIET", "1")], failing), "");
}

#[test]
fn no_more_is_said_than_anybody_reads() {
    let stderr = program(&[], || {
        api::start();
        for stream in 0..100 {
            assert_eq!(api::stream_synchronize(0xbad0 + stream), Err(400));
        }
        api::stop();
    });
    assert_eq!(stderr.lines().count(), 51, "{stderr}");
    assert!(
        stderr.ends_with("no more kinds of failure are logged\n"),
        "{stderr}"
    );
}

#[test]
fn a_misspelt_variable_fails_initialisation() {
    let ended = process(&[("CUDA_SIM_CHECK", "none")], || {
        assert_eq!(api::init(0), Err(1));
    });
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stderr,
        "cuda-sim: bad environment: there is no variable CUDA_SIM_CHECK; is CUDA_SIM_CHECKS meant?\n"
    );
}

#[test]
fn what_the_simulator_has_not_says_so_once() {
    let stderr = program(&[], || {
        let mut out = 0_usize;
        // SAFETY: good for the write, had they anything to write.
        let mut refused = || unsafe { (cuTexRefCreate(&mut out), cudaMallocArray(&mut out)) };
        assert_eq!(refused(), (3, 801));
        api::init(0).expect("a device");
        assert_eq!(refused(), (801, 801));
        assert_eq!(refused(), (801, 801));
        // SAFETY: it has no precondition.
        let last = unsafe { cudaGetLastError() };
        assert_eq!(last, 801);
    });
    let why = "answers CUDA_ERROR_NOT_SUPPORTED (801): the simulator has nothing behind it\n";
    for function in ["cuTexRefCreate", "cudaMallocArray"] {
        let words = format!("{function} {why}");
        assert_eq!(stderr.matches(&words).count(), 1, "{stderr}");
    }
}

#[test]
fn every_function_of_the_driver_is_found_by_name() {
    program(
        &[("CUDA_SIM_DRIVER_VERSION", "13.5"), ("CUDA_SIM_QUIET", "1")],
        || {
            let mut names = 0;
            for line in include_str!("../ffi/driver_functions.txt").lines() {
                let words: Vec<_> = line.split(' ').collect();
                let since = words[1].parse().expect("a version");
                let (function, status) = later::proc_address(words[0], since, 0);
                assert!(function.is_ok_and(|f| f != 0) && status == 0, "{line}");
                // The form for default streams of each thread's own is another function.
                let own = later::proc_address(words[0], since, 2).0;
                assert!(
                    own.is_ok() && (words.len() > 2 || own == function),
                    "{line}"
                );
                names += 1;
            }
            assert!(names > 600);
            // Of each number of parameters the form that a program's version has.
            let [old, new] =
                [12000, 13000].map(|version| later::proc_address("cuCtxSynchronize", version, 0));
            assert_ne!(old, new);
            let [legacy, own] = [0, 2].map(|flags| later::proc_address("cuMemcpy", 12000, flags));
            assert_ne!(legacy, own);
        },
    );
}

#[test]
fn a_program_may_have_a_default_stream_for_each_thread() {
    program(&[], || {
        api::start();
        let block = api::alloc(4).expect("memory");
        // The legacy default stream cannot capture; a thread's own can, by the same name.
        let mut graph = 0;
        // SAFETY: the block is as long as the fill, and the graph good for the write.
        unsafe {
            assert_eq!(cuStreamBeginCapture_v2(0, 0), 900);
            assert_eq!(cuStreamBeginCapture_v2_ptsz(0, 0), 0);
            assert_eq!(cuMemsetD8Async_ptsz(block, 1, 4, 0), 0);
            assert_eq!(cuStreamEndCapture_ptsz(0, &mut graph), 0);
        }
        assert_eq!(later::shape(graph).1.len(), 1);
        later::graph_destroy(graph).expect("destroyed");
        api::free(block).expect("freed");
        api::stop();
    });
}
