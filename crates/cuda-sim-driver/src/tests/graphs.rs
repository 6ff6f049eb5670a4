//! Graphs: captured and built, launched and changed.

use super::launches::{Kernels, ONE, WARP};
use super::{api, later, program};

/// `scale(out, in, count, factor)` on one stream.
fn scale(kernels: &Kernels, stream: usize, out: u64, from: u64, factor: u64) -> api::Answer {
    let function = kernels.get("scale");
    api::launch(
        function,
        [32, 1, 1],
        WARP,
        0,
        stream,
        &[out, from, 1000, factor],
    )
}

#[test]
fn what_a_stream_captures_runs_at_every_launch() {
    for schedule in ["submission", "adversarial"] {
        program(&[("CUDA_SIM_SCHEDULE", schedule)], || {
            let kernels = Kernels::start();
            let [a, b, c] = [0; 3].map(|_| api::alloc(4000).expect("memory"));
            let [main, side] = [1; 2].map(|flags| api::stream_create(flags).expect("a stream"));
            let [fork, join] = [2; 2].map(|flags| api::event_create(flags).expect("an event"));
            assert_eq!(later::is_capturing(main), Ok(0));
            later::begin_capture(main, 0).expect("begun");
            assert_eq!(later::is_capturing(main), Ok(1));
            api::fill32_async(a, 3, 1000, main).expect("captured");
            // b = 5 a and c = 7 a side by side, then a = 2 c.
            api::event_record(fork, main).expect("recorded");
            api::stream_wait(side, fork, 0).expect("joins the capture");
            assert_eq!(later::is_capturing(side), Ok(1));
            scale(&kernels, main, b, a, 5).expect("captured");
            scale(&kernels, side, c, a, 7).expect("captured");
            api::event_record(join, side).expect("recorded");
            api::stream_wait(main, join, 0).expect("waits");
            scale(&kernels, main, a, c, 2).expect("captured");
            let graph = later::end_capture(main).expect("a graph");
            assert_eq!(later::is_capturing(side), Ok(0));
            let (_, kinds, edges) = later::shape(graph);
            assert_eq!(kinds, [2, 0, 0, 0]);
            assert_eq!(edges, [(0, 1), (0, 2), (1, 3), (2, 3)]);
            // Nothing has run.
            for address in [a, b, c] {
                api::fill32(address, 1, 1000).expect("filled");
            }
            api::synchronize().expect("done");
            let executable = later::instantiate(graph, 0).expect("ready");
            later::graph_destroy(graph).expect("no longer needed");
            for _ in 0..2 {
                later::graph_launch(executable, main).expect("launched");
            }
            api::stream_synchronize(main).expect("done");
            for (address, word) in [(a, 42), (b, 15), (c, 21)] {
                assert_eq!(api::read(address, 1000), Ok(vec![word; 1000]));
            }
            later::executable_destroy(executable).expect("destroyed");
            for address in [a, b, c] {
                api::free(address).expect("freed");
            }
            for (stream, event) in [(main, fork), (side, join)] {
                api::stream_destroy(stream).expect("destroyed");
                api::event_destroy(event).expect("destroyed");
            }
            kernels.stop();
        });
    }
}

#[test]
fn what_a_capture_does_not_allow_spoils_it() {
    program(&[], || {
        let kernels = Kernels::start();
        let a = api::alloc(4000).expect("memory");
        let [stream, other] = [0, 1].map(|flags| api::stream_create(flags).expect("a stream"));
        let event = api::event_create(2).expect("an event");
        let spoiled = |by: &dyn Fn() -> api::Answer, code: u32| {
            later::begin_capture(stream, 0).expect("begun");
            assert_eq!(by(), Err(code));
            assert_eq!(later::is_capturing(stream), Ok(2));
            assert_eq!(api::fill32_async(a, 3, 1000, stream), Err(901));
            assert_eq!(later::end_capture(stream), Err(901));
            assert_eq!(later::is_capturing(stream), Ok(0));
        };
        spoiled(&|| api::stream_synchronize(stream), 900);
        spoiled(&|| api::stream_query(stream), 900);
        spoiled(&|| api::alloc_async(4, stream).map(|_| ()), 900);
        // The default stream waits for blocking ones.
        spoiled(&|| api::fill32(a, 1, 1000), 906);
        // An event outside of the capture.
        api::event_record(event, other).expect("recorded");
        spoiled(&|| api::stream_wait(stream, event, 0), 905);
        // What is not joined again.
        later::begin_capture(stream, 1).expect("begun");
        assert_eq!(later::begin_capture(stream, 1), Err(401));
        api::event_record(event, stream).expect("recorded");
        assert_eq!(api::event_synchronize(event), Err(907));
        api::stream_wait(other, event, 0).expect("joins");
        scale(&kernels, other, a, a, 2).expect("captured");
        assert_eq!(later::end_capture(stream), Err(904));
        // An event of a capture that has ended draws no stream into it.
        assert_eq!(api::stream_wait(other, event, 0), Err(907));
        assert_eq!(later::is_capturing(other), Ok(0));
        assert_eq!(later::begin_capture(0, 0), Err(900));
        assert_eq!(later::end_capture(stream), Err(401));
        api::free(a).expect("freed");
        api::event_destroy(event).expect("destroyed");
        for stream in [stream, other] {
            api::stream_destroy(stream).expect("destroyed");
        }
        kernels.stop();
    });
}

#[test]
fn a_graph_is_built_and_changed_node_by_node() {
    program(&[], || {
        let kernels = Kernels::start();
        let [a, b] = [0; 2].map(|_| api::alloc(4000).expect("memory"));
        let function = kernels.get("scale");
        let (extent, wide) = (([32, 1, 1], WARP), ([8, 1, 1], [128, 1, 1]));
        let graph = api::graph_create(0).expect("a graph");
        let params = |factor| [b, a, 1000, factor];
        let first = later::add_kernel(graph, &[], function, extent, &params(3)).expect("added");
        let second =
            later::add_kernel(graph, &[first], function, wide, &[a, b, 1000, 2]).expect("added");
        assert_eq!(
            later::add_kernel(graph, &[1], function, extent, &params(3)),
            Err(1)
        );
        assert_eq!(
            later::shape(graph),
            (vec![first, second], vec![0, 0], vec![(0, 1)])
        );
        assert_eq!(later::kernel_of(second), Ok((wide.0, wide.1, a)));
        let executable = later::instantiate(graph, 0).expect("ready");
        let runs = |factor: u32| {
            api::fill32(a, 10, 1000).expect("filled");
            later::graph_launch(executable, 0).expect("launched");
            assert_eq!(api::read(b, 1000), Ok(vec![10 * factor; 1000]));
            assert_eq!(api::read(a, 1000), Ok(vec![20 * factor; 1000]));
        };
        runs(3);
        later::set_kernel(executable, first, function, wide, &params(4)).expect("changed");
        runs(4);
        // Another graph of the same shape takes its place; one of another does not.
        let like = api::graph_create(0).expect("a graph");
        let start = later::add_kernel(like, &[], function, extent, &params(6)).expect("added");
        assert_eq!(later::update(executable, like), Err(910));
        later::add_kernel(like, &[start], function, extent, &[a, b, 1000, 2]).expect("added");
        later::update(executable, like).expect("updated");
        runs(6);
        // A circle has no order.
        later::add_edge(graph, second, first).expect("added");
        assert_eq!(later::instantiate(graph, 0), Err(1));
        later::executable_destroy(executable).expect("destroyed");
        for graph in [graph, like] {
            later::graph_destroy(graph).expect("destroyed");
        }
        assert_eq!(later::graph_launch(executable, 0), Err(1));
        for address in [a, b] {
            api::free(address).expect("freed");
        }
        kernels.stop();
    });
}

#[test]
fn a_launch_has_attributes() {
    program(&[], || {
        let kernels = Kernels::start();
        let a = api::alloc(4000).expect("memory");
        api::fill32(a, 1, 1000).expect("filled");
        let function = kernels.get("scale");
        let stream = api::stream_create(1).expect("a stream");
        let event = api::event_create(0).expect("an event");
        let attribute = later::Attribute::new;
        let launch = |grid, attributes: &[later::Attribute]| {
            later::launch_ex(function, (grid, WARP), stream, attributes, &[a, a, 1000, 3])
        };
        // Cooperative, overlapping, in clusters of one, with an event behind it.
        let one = [1 | 1 << 32, 1];
        let all = [
            attribute(2, [1, 0]),
            attribute(6, [1, 0]),
            attribute(4, one),
            attribute(7, [event as u64, 0]),
        ];
        launch([32, 1, 1], &all).expect("launched");
        api::event_synchronize(event).expect("reached");
        assert_eq!(api::read(a, 1000), Ok(vec![3; 1000]));
        assert!(later::elapsed(event, event).expect("the time") >= 0.0);
        // More blocks than the device holds at once; clusters larger than the grid.
        assert_eq!(launch([100_000, 1, 1], &[attribute(2, [1, 0])]), Err(720));
        assert_eq!(launch(ONE, &[attribute(4, [2 | 1 << 32, 1])]), Err(912));
        api::free(a).expect("freed");
        api::event_destroy(event).expect("destroyed");
        api::stream_destroy(stream).expect("destroyed");
        kernels.stop();
    });
}
