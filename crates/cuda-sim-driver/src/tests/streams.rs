//! Streams, events, callbacks; with lazy work that runs in the worst order CUDA
//! allows.

use super::api::{self, Pinned};
use super::program;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};

const ADVERSARIAL: (&str, &str) = ("CUDA_SIM_SCHEDULE", "adversarial");

/// Appends to a list when its turn on a stream comes.
fn note(list: &Arc<Mutex<Vec<u32>>>, stream: usize, number: u32) {
    let list = Arc::clone(list);
    api::host_function(stream, move || {
        list.lock().expect("no panic").push(number);
    })
    .expect("a host function");
}

fn noted(list: &Arc<Mutex<Vec<u32>>>) -> Vec<u32> {
    std::mem::take(&mut *list.lock().expect("no panic"))
}

#[test]
fn a_stream_runs_in_order_and_streams_are_independent() {
    program(&[ADVERSARIAL], || {
        api::start();
        let list = Arc::default();
        let [a, b] = [1, 1].map(|flags| api::stream_create(flags).expect("a stream"));
        note(&list, a, 1);
        note(&list, a, 2);
        note(&list, b, 3);
        note(&list, b, 4);
        api::synchronize().expect("done");
        assert_eq!(noted(&list), [3, 4, 1, 2]);
        for stream in [a, b] {
            api::stream_destroy(stream).expect("destroyed");
        }
        assert_eq!(api::stream_destroy(a), Err(400));
        assert_eq!(api::stream_synchronize(a), Err(400));
        api::stop();
    });
}

#[test]
fn an_event_orders_two_streams() {
    program(&[ADVERSARIAL], || {
        api::start();
        let list = Arc::default();
        let [a, b] = [1, 1].map(|flags| api::stream_create(flags).expect("a stream"));
        let event = api::event_create(2).expect("an event");
        // Never recorded: has happened.
        assert_eq!(api::event_query(event), Ok(()));
        api::stream_wait(b, event, 0).expect("waits for nothing");
        note(&list, a, 1);
        api::event_record(event, a).expect("recorded");
        note(&list, a, 3);
        api::stream_wait(b, event, 0).expect("waits");
        note(&list, b, 2);
        api::stream_synchronize(b).expect("done");
        api::event_synchronize(event).expect("long done");
        api::synchronize().expect("done");
        let ran = noted(&list);
        let place = |number| ran.iter().position(|n| *n == number);
        assert!(place(1) < place(2) && place(1) < place(3), "{ran:?}");
        api::event_destroy(event).expect("destroyed");
        assert_eq!(api::event_query(event), Err(400));
        for stream in [a, b] {
            api::stream_destroy(stream).expect("destroyed");
        }
        api::stop();
    });
}

#[test]
fn the_default_stream_orders_blocking_streams() {
    program(&[ADVERSARIAL], || {
        api::start();
        let list = Arc::default();
        let [a, b, free] = [0, 0, 1].map(|flags| api::stream_create(flags).expect("a stream"));
        note(&list, a, 1);
        note(&list, 0, 2);
        note(&list, b, 3);
        api::synchronize().expect("done");
        assert_eq!(noted(&list), [1, 2, 3]);
        // CU_STREAM_LEGACY is the same stream; the thread's own is a blocking one.
        note(&list, 2, 1);
        note(&list, 1, 2);
        note(&list, 2, 3);
        api::synchronize().expect("done");
        assert_eq!(noted(&list), [1, 2, 3]);
        // A non-blocking stream is outside of that order.
        note(&list, 0, 1);
        note(&list, free, 2);
        api::synchronize().expect("done");
        assert_eq!(noted(&list), [2, 1]);
        // What a destroyed stream still has to do keeps its place.
        note(&list, a, 1);
        api::stream_destroy(a).expect("destroyed");
        note(&list, 0, 2);
        api::synchronize().expect("done");
        assert_eq!(noted(&list), [1, 2]);
        for stream in [b, free] {
            api::stream_destroy(stream).expect("destroyed");
        }
        api::stop();
    });
}

#[test]
fn queries_do_not_wait_but_get_there() {
    for schedule in ["submission", "adversarial"] {
        program(&[("CUDA_SIM_SCHEDULE", schedule)], || {
            api::start();
            let stream = api::stream_create(0).expect("a stream");
            let event = api::event_create(0).expect("an event");
            let (go, gate) = mpsc::channel::<()>();
            assert_eq!(api::stream_query(stream), Ok(()));
            api::host_function(stream, move || gate.recv().expect("a go")).expect("a gate");
            api::event_record(event, stream).expect("recorded");
            assert_eq!(api::stream_query(stream), Err(600));
            assert_eq!(api::event_query(event), Err(600));
            assert_eq!(api::elapsed(event, event), Err(600));
            go.send(()).expect("the gate is there");
            while api::event_query(event) == Err(600) {
                std::thread::yield_now();
            }
            assert_eq!(api::stream_query(stream), Ok(()));
            assert_eq!(api::elapsed(event, event), Ok(0.0));
            api::event_destroy(event).expect("destroyed");
            api::stream_destroy(stream).expect("destroyed");
            api::stop();
        });
    }
}

#[test]
fn time_passes_between_events() {
    program(&[], || {
        api::start();
        let [start, end] = [0, 0].map(|flags| api::event_create(flags).expect("an event"));
        let untimed = api::event_create(2).expect("an event");
        assert_eq!(api::elapsed(start, end), Err(400));
        api::event_record(start, 0).expect("recorded");
        let pause = std::time::Duration::from_millis(2);
        api::host_function(0, move || std::thread::sleep(pause)).expect("a pause");
        api::event_record(end, 0).expect("recorded");
        api::event_record(untimed, 0).expect("recorded");
        api::event_synchronize(untimed).expect("done");
        let forward = api::elapsed(start, end).expect("both happened");
        assert!(forward >= 2.0);
        assert_eq!(api::elapsed(end, start), Ok(-forward));
        assert_eq!(api::elapsed(start, untimed), Err(400));
        for event in [start, end, untimed] {
            api::event_destroy(event).expect("destroyed");
        }
        assert_eq!(api::event_create(8), Err(1));
        api::stop();
    });
}

#[test]
fn page_locked_memory_is_copied_when_its_turn_comes() {
    program(&[ADVERSARIAL], || {
        api::start();
        let stream = api::stream_create(1).expect("a stream");
        let block = api::alloc(16).expect("memory");
        let mut source = Pinned::new(4).expect("page-locked memory");
        let mut target = Pinned::new(4).expect("page-locked memory");
        source.words().fill(1);
        source.write_async(block, stream).expect("queued");
        // Lazy work has not read it yet: a program that relies on that is wrong,
        // and sees it here.
        source.words().fill(2);
        target.read_async(block, stream).expect("queued");
        assert_eq!(target.words(), [0; 4]);
        api::stream_synchronize(stream).expect("done");
        assert_eq!(target.words(), [2; 4]);

        // Pageable memory is read at once, and written before the call returns.
        api::write_async(block, &[3, 4, 5, 6], stream).expect("queued");
        assert_eq!(api::read_async(block, 4, stream), Ok(vec![3, 4, 5, 6]));
        source.free().expect("freed");
        target.free().expect("freed");
        api::free(block).expect("freed");
        api::stream_destroy(stream).expect("destroyed");
        api::stop();
    });
}

#[test]
fn memory_of_a_stream_is_freed_in_its_order() {
    program(&[ADVERSARIAL, ("CUDA_SIM_DEVICES", "sm_80:2MiB")], || {
        api::start();
        let stream = api::stream_create(1).expect("a stream");
        let block = api::alloc_async(1 << 20, stream).expect("memory");
        api::fill32_async(block, 7, 1 << 18, stream).expect("filled");
        api::free_async(block, stream).expect("freed later");
        assert_eq!(api::free_async(block, stream), Err(1));
        assert_eq!(api::memory_info().0, 1 << 20);
        api::stream_synchronize(stream).expect("done");
        assert_eq!(api::memory_info().0, 2 << 20);
        api::stream_destroy(stream).expect("destroyed");
        api::stop();
    });
}

#[test]
fn host_functions_must_not_call_the_driver() {
    program(&[], || {
        api::start();
        let seen = Arc::new(AtomicU32::new(0));
        let told = Arc::new(AtomicU32::new(99));
        let (seen_too, told_too) = (Arc::clone(&seen), Arc::clone(&told));
        api::host_function(0, move || {
            let code = api::alloc(4).expect_err("not allowed here");
            seen_too.store(code, Ordering::Relaxed);
        })
        .expect("queued");
        api::callback(0, move |status| told_too.store(status, Ordering::Relaxed)).expect("queued");
        api::synchronize().expect("done");
        assert_eq!(seen.load(Ordering::Relaxed), 800);
        assert_eq!(told.load(Ordering::Relaxed), 0);
        api::stop();
    });
}

#[test]
fn handles_of_another_context_are_refused() {
    program(&[], || {
        api::init(0).expect("a device");
        let first = api::context_create(0, 0).expect("a context");
        let stream = api::stream_create(0).expect("a stream");
        let event = api::event_create(0).expect("an event");
        let second = api::context_create(0, 0).expect("another");
        assert_eq!(api::stream_synchronize(stream), Err(400));
        assert_eq!(api::fill32_async(0, 0, 0, stream), Err(400));
        assert_eq!(api::event_record(event, 0), Err(400));
        // To wait across contexts is what events are for.
        assert_eq!(api::stream_wait(0, event, 0), Ok(()));
        // A handle of one kind is none of another.
        assert_eq!(api::event_query(stream), Err(400));
        assert_eq!(api::stream_query(event), Err(400));
        api::context_destroy(second).expect("destroyed");
        api::stream_destroy(stream).expect("destroyed");
        api::event_destroy(event).expect("destroyed");
        api::context_destroy(first).expect("destroyed");
    });
}
