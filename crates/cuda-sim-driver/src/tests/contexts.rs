//! Initialisation, devices, contexts.

use super::api;
use super::{process, program};

#[test]
fn before_initialisation_only_the_version_is_known() {
    program(&[("CUDA_SIM_DRIVER_VERSION", "12.4")], || {
        assert_eq!(api::version(), Ok(12040));
        assert_eq!(api::device_count(), Err(3));
        assert_eq!(api::alloc(4), Err(3));
        assert_eq!(api::init(1), Err(1));
        assert_eq!(api::init(0), Ok(()));
        assert_eq!(api::init(0), Ok(()));
        assert_eq!(api::alloc(4), Err(201));
    });
}

#[test]
fn errors_have_their_cuda_names() {
    program(&[], || {
        assert_eq!(
            api::words(2),
            Ok(("CUDA_ERROR_OUT_OF_MEMORY".into(), "out of memory".into()))
        );
        assert_eq!(
            api::words(0),
            Ok(("CUDA_SUCCESS".into(), "no error".into()))
        );
        assert_eq!(api::words(12345), Err(1));
    });
}

#[test]
fn a_bad_environment_fails_initialisation_and_says_why() {
    let ended = process(&[("CUDA_SIM_DEVICES", "sm_90:lots")], || {
        assert_eq!(api::init(0), Err(1));
        assert_eq!(api::init(0), Err(1));
        assert_eq!(api::device_count(), Err(3));
    });
    assert_eq!(ended.code, Some(0));
    assert_eq!(
        ended.stderr.matches("CUDA_SIM_DEVICES=sm_90:lots").count(),
        1
    );
}

#[test]
fn a_machine_may_have_no_device() {
    program(&[("CUDA_SIM_DEVICES", "none")], || {
        assert_eq!(api::init(0), Err(100));
        assert_eq!(api::device_count(), Err(100));
    });
}

#[test]
fn devices_are_what_the_environment_says() {
    program(&[("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_75:64MiB")], || {
        api::init(0).expect("two devices");
        assert_eq!(api::device_count(), Ok(2));
        assert_eq!(api::count_to_null(), Err(1));
        assert_eq!(api::device_get(1), Ok(1));
        assert_eq!(api::device_get(2), Err(101));
        assert_eq!(api::device_get(-1), Err(101));
        assert_eq!(api::total_memory(0), Ok(1 << 30));
        assert_eq!(api::total_memory(1), Ok(64 << 20));
        let name = api::device_name(1, 128).expect("a name");
        assert!(
            name.contains("Simulated") && name.contains("sm_75"),
            "{name}"
        );
        assert_eq!(api::device_name(1, 4), Ok(name[..3].into()));
        assert_eq!(api::device_name(1, 0), Err(1));
        // Compute capability, warp, threads per block, shared memory to opt in to.
        let attributes = |device| [75, 76, 10, 1, 97].map(|a| api::attribute(a, device));
        assert_eq!(attributes(0), [9, 0, 32, 1024, 227 << 10].map(Ok));
        assert_eq!(attributes(1), [7, 5, 32, 1024, 64 << 10].map(Ok));
        assert_eq!(api::attribute(0, 0), Err(1));
        assert_eq!(api::attribute(100_000, 0), Err(1));
        assert_eq!(api::attribute(1, 7), Err(101));
    });
}

#[test]
fn the_primary_context_lives_between_retain_and_release() {
    program(&[], || {
        api::init(0).expect("a device");
        assert!(!api::primary_is_active(0));
        assert_eq!(api::primary_release(0), Err(201));
        let context = api::primary_retain(0).expect("a context");
        assert_eq!(api::primary_retain(0), Ok(context));
        assert_eq!(api::context_current(), Ok(0));
        api::context_set(context).expect("it is current");
        assert_eq!(api::context_current(), Ok(context));
        assert_eq!(api::context_device(), Ok(0));
        assert_eq!(api::context_destroy(context), Err(201));
        api::primary_release(0).expect("once");
        assert!(api::primary_is_active(0));
        api::primary_release(0).expect("twice");
        assert!(!api::primary_is_active(0));
        // Still current, but gone.
        assert_eq!(api::synchronize(), Err(709));
        assert_eq!(api::alloc(4), Err(709));
        // Back again, under the same name.
        assert_eq!(api::primary_retain(0), Ok(context));
        api::context_set(context).expect("current again");
        assert_eq!(api::synchronize(), Ok(()));
        api::primary_reset(0).expect("reset");
        assert_eq!(api::synchronize(), Err(709));
        assert_eq!(api::primary_release(0), Err(201));
    });
}

#[test]
fn each_thread_has_a_stack_of_contexts() {
    program(&[], || {
        api::init(0).expect("a device");
        let first = api::context_create(0, 0).expect("a context");
        let second = api::context_create(1, 0).expect("another");
        assert_eq!(api::context_create(3, 0), Err(1));
        assert_eq!(api::context_current(), Ok(second));
        assert_eq!(api::context_pop(), Ok(second));
        assert_eq!(api::context_current(), Ok(first));
        api::context_push(second).expect("pushed");
        api::context_push(second).expect("pushed twice");
        assert_eq!(api::context_push(0x1234), Err(201));

        std::thread::spawn(move || {
            assert_eq!(api::context_current(), Ok(0));
            assert_eq!(api::context_pop(), Err(201));
            assert_eq!(api::alloc(4), Err(201));
            api::context_set(first).expect("current here too");
            assert_eq!(api::synchronize(), Ok(()));
        })
        .join()
        .expect("the thread's assertions hold");

        api::context_destroy(second).expect("destroyed and popped");
        // What is left of it on the stack answers so.
        assert_eq!(api::synchronize(), Err(709));
        assert_eq!(api::context_destroy(second), Err(201));
        api::context_set(0).expect("off the stack");
        assert_eq!(api::context_current(), Ok(first));
        api::context_destroy(first).expect("destroyed");
    });
}

#[test]
fn what_a_program_does_not_free_is_listed_at_exit() {
    let forget = || {
        api::start();
        api::alloc(1000).expect("memory");
        api::alloc_managed(8, 1).expect("managed memory");
        api::Pinned::new(3).expect("page-locked memory");
        api::stream_create(0).expect("a stream");
        let event = api::event_create(0).expect("an event");
        api::event_destroy(event).expect("destroyed");
        api::load(super::modules::EMPTY).expect("a module");
    };
    let ended = process(&[], forget);
    assert_eq!(ended.code, Some(0));
    for words in [
        "not freed by the program: 5",
        "1000 bytes, allocation 1, by cuMemAlloc_v2",
        "managed memory",
        "12 bytes, allocation 3, by cuMemAllocHost_v2",
        "stream",
        "module",
    ] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("event"));
    assert!(!ended.stderr.contains("context"));
}

#[test]
fn leaks_can_fail_a_program_or_be_ignored() {
    let leak = || {
        api::start();
        api::alloc(1).expect("memory");
    };
    let failing = process(&[("CUDA_SIM_LEAKS", "fail")], leak);
    assert_eq!(failing.code, Some(86));
    let ignoring = process(&[("CUDA_SIM_LEAKS", "off")], leak);
    assert_eq!(ignoring.code, Some(0));
    assert!(!ignoring.stderr.contains("not freed"));
}

#[test]
fn memory_that_only_its_context_freed_is_a_leak_too() {
    let ended = process(&[], || {
        api::init(0).expect("a device");
        let context = api::context_create(0, 0).expect("a context");
        let address = api::alloc(64).expect("memory");
        api::context_destroy(context).expect("destroyed");
        assert_eq!(api::free(address), Err(201));
    });
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("freed only with its context"));
}

#[test]
fn what_the_simulator_has_not_is_not_supported() {
    program(&[], || {
        assert_eq!(api::texture_destroy(1), Err(3));
        api::init(0).expect("a device");
        assert_eq!(api::texture_destroy(1), Err(801));
    });
}
