//! Failures on request.

use super::api;
use super::{process, program};

#[test]
fn memory_can_run_out_at_any_allocation() {
    for n in 1..=3 {
        let fault = format!("cuMemAlloc_v2:{n}=2");
        program(&[("CUDA_SIM_FAULT", &fault)], || {
            api::start();
            let blocks: Vec<_> = (0..4).map(|_| api::alloc(100)).collect();
            let failed: Vec<_> = blocks.iter().filter(|block| block.is_err()).collect();
            assert_eq!(failed, [&Err(2)]);
            for block in blocks.into_iter().flatten() {
                api::free(block).expect("freed");
            }
            // Out of memory is no end: the context works on.
            assert_eq!(api::synchronize(), Ok(()));
            api::stop();
        });
    }
}

#[test]
fn a_sticky_error_stays_until_the_context_goes() {
    let stderr = program(
        &[(
            "CUDA_SIM_FAULT",
            "cuCtxSynchronize:2=CUDA_ERROR_LAUNCH_FAILED",
        )],
        || {
            api::start();
            let block = api::alloc(4).expect("memory");
            let stream = api::stream_create(0).expect("a stream");
            assert_eq!(api::synchronize(), Ok(()));
            assert_eq!(api::synchronize(), Err(719));
            assert_eq!(api::synchronize(), Err(719));
            assert_eq!(api::alloc(4), Err(719));
            assert_eq!(api::read(block, 1), Err(719));
            assert_eq!(api::primary_retain(0), Err(719));
            // Who frees is told, but has freed.
            assert_eq!(api::free(block), Err(719));
            assert_eq!(api::stream_destroy(stream), Err(719));
            // Devices can be asked still, and a new context is a new beginning.
            assert_eq!(api::device_count(), Ok(1));
            api::primary_release(0).expect("released");
            api::start();
            let block = api::alloc(4).expect("memory");
            api::free(block).expect("freed");
            api::stop();
        },
    );
    // The first call says why it fails, and of the others one for all.
    let told: Vec<_> = stderr.lines().collect();
    assert_eq!(told.len(), 2, "{stderr}");
    assert!(told[0].ends_with("CUDA_SIM_FAULT asks for it"), "{stderr}");
    assert!(
        told[1].ends_with("every later call there answers the same"),
        "{stderr}"
    );
}

#[test]
fn what_a_dead_context_has_is_no_leak() {
    program(&[("CUDA_SIM_FAULT", "cuCtxSynchronize:1=700")], || {
        api::start();
        api::alloc(4).expect("memory");
        api::stream_create(0).expect("a stream");
        assert_eq!(api::synchronize(), Err(700));
    });
}

#[test]
fn a_lost_device_stays_lost() {
    program(
        &[
            ("CUDA_SIM_DEVICES", "2xsm_80:64MiB"),
            ("CUDA_SIM_FAULT", "cuMemAlloc_v2:2=CUDA_ERROR_UNKNOWN!@1"),
        ],
        || {
            api::init(0).expect("two devices");
            let contexts = [0, 1].map(|device| api::primary_retain(device).expect("a context"));
            api::context_set(contexts[1]).expect("current");
            let block = api::alloc(4).expect("the first one");
            assert_eq!(api::alloc(4), Err(999));
            assert_eq!(api::synchronize(), Err(999));
            assert_eq!(api::free(block), Err(999));
            api::primary_release(1).expect("released");
            assert_eq!(api::primary_retain(1), Err(999));
            assert_eq!(api::context_create(0, 1), Err(999));
            assert_eq!(api::total_memory(1), Err(999));
            // The other one is well.
            api::context_set(contexts[0]).expect("current");
            let block = api::alloc(4).expect("memory");
            api::free(block).expect("freed");
            api::primary_release(0).expect("released");
        },
    );
}

#[test]
fn a_broken_second_device_can_be_had() {
    program(
        &[
            ("CUDA_SIM_DEVICES", "sm_90,sm_75:64MiB"),
            (
                "CUDA_SIM_FAULT",
                "cuDevicePrimaryCtxRetain:*=46@1; cuCtxCreate_v2:*=46@1",
            ),
        ],
        || {
            api::init(0).expect("two devices");
            assert_eq!(api::device_count(), Ok(2));
            assert_eq!(api::primary_retain(1), Err(46));
            assert_eq!(api::context_create(0, 1), Err(46));
            api::start();
            api::stop();
        },
    );
}

#[test]
fn initialisation_can_fail() {
    program(&[("CUDA_SIM_FAULT", "cuInit:1=803")], || {
        assert_eq!(api::init(0), Err(803));
        assert_eq!(api::init(0), Ok(()));
    });
}

#[test]
fn a_failed_free_is_a_leak() {
    let ended = process(&[("CUDA_SIM_FAULT", "cuMemFree_v2:1=1")], || {
        api::start();
        let block = api::alloc(4).expect("memory");
        assert_eq!(api::free(block), Err(1));
    });
    assert!(ended.stderr.contains("not freed by the program: 1"));
}

#[test]
fn messages_can_go_to_a_file() {
    let path = std::env::temp_dir().join(format!("cuda-sim-log-{}", std::process::id()));
    let file = path.to_str().expect("a temporary folder with a plain name");
    let ended = process(&[("CUDA_SIM_LOG", file)], || {
        api::start();
        api::alloc(4).expect("memory");
    });
    assert_eq!(ended.stderr, "");
    let log = std::fs::read_to_string(&path).expect("the log");
    assert!(
        log.starts_with("cuda-sim: not freed by the program: 1\n"),
        "{log}"
    );
    std::fs::remove_file(path).expect("it is ours to remove");
}
