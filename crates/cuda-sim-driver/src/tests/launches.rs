//! Launches: what they compute, what they refuse, what a fault does to a context.

use super::{api, later};
use super::{process, program};

/// `scale(out, in, count, factor)`: out[i] = in[i] * factor for i < count, 32-bit
/// words; parameters are 64 bits wide each.
/// `crash()`: a trap. `stray(address)`: a word stored there. `spin()`: no end.
const KERNELS: &str = "
.version 7.0
.target sm_75
.address_size 64

.visible .entry scale(.param .u64 out, .param .u64 in, .param .u64 count, .param .u64 factor)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %d<9>;
    ld.param.u64 %d1, [out];
    ld.param.u64 %d2, [in];
    ld.param.u64 %d3, [count];
    ld.param.u32 %r5, [factor];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    cvt.u64.u32 %d4, %r1;
    setp.ge.u64 %p, %d4, %d3;
    @%p ret;
    shl.b64 %d5, %d4, 2;
    add.u64 %d6, %d2, %d5;
    add.u64 %d7, %d1, %d5;
    ld.global.u32 %r4, [%d6];
    mul.lo.u32 %r4, %r4, %r5;
    st.global.u32 [%d7], %r4;
    ret;
}

.visible .entry crash()
{
    trap;
    ret;
}

.visible .entry stray(.param .u64 address)
{
    .reg .b32 %r1;
    .reg .b64 %d1;
    ld.param.u64 %d1, [address];
    mov.u32 %r1, 1;
    st.global.u32 [%d1], %r1;
    ret;
}

.visible .entry spin()
{
again:
    bra again;
}

.visible .entry meet(.param .u64 counter)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %d1;
    ld.param.u64 %d1, [counter];
    mov.u32 %r1, %nctaid.x;
    atom.global.add.u32 %r2, [%d1], 1;
wait:
    ld.volatile.global.u32 %r3, [%d1];
    setp.lt.u32 %p, %r3, %r1;
    @%p bra wait;
    ret;
}

.visible .entry small()
.maxntid 64, 1, 1
{
    ret;
}

.visible .entry exact()
.reqntid 32, 2, 1
{
    ret;
}
";

pub(super) const ONE: [u32; 3] = [1, 1, 1];
pub(super) const WARP: [u32; 3] = [32, 1, 1];

/// The context with the module, and a way to its kernels.
pub(super) struct Kernels(usize);

impl Kernels {
    pub(super) fn start() -> Kernels {
        api::start();
        Kernels(api::load(KERNELS).expect("the kernels load"))
    }

    pub(super) fn get(&self, name: &str) -> usize {
        api::function(self.0, name).expect("a kernel of the module")
    }

    pub(super) fn stop(self) {
        api::module_unload(self.0).expect("unloaded");
        api::stop();
    }
}

#[test]
fn a_kernel_computes() {
    for schedule in ["submission", "adversarial"] {
        program(&[("CUDA_SIM_SCHEDULE", schedule)], || {
            let kernels = Kernels::start();
            let scale = kernels.get("scale");
            let [out, source] = [0, 0].map(|_| api::alloc(4000).expect("memory"));
            let words: Vec<u32> = (0..1000).map(|i| i * i).collect();
            let scaled = |by: u32| words.iter().map(|w| w.wrapping_mul(by)).collect::<Vec<_>>();
            api::write(source, &words).expect("written");
            let params = [out, source, 1000, 7];
            api::launch(scale, [8, 1, 1], [128, 1, 1], 0, 0, &params).expect("launched");
            assert_eq!(api::read(out, 1000), Ok(scaled(7)));
            // Twice, each on its own stream, one after the other by an event.
            let [a, b] = [1, 1].map(|flags| api::stream_create(flags).expect("a stream"));
            let event = api::event_create(2).expect("an event");
            let grid = [32, 1, 1];
            api::launch(scale, grid, WARP, 0, a, &[out, source, 1000, 3]).expect("launched");
            api::event_record(event, a).expect("recorded");
            api::stream_wait(b, event, 0).expect("waits");
            api::launch(scale, grid, WARP, 0, b, &[out, out, 1000, 5]).expect("launched");
            api::stream_synchronize(b).expect("done");
            assert_eq!(api::read(out, 1000), Ok(scaled(15)));

            api::launch_with_buffer(scale, &[out, source, 10, 9]).expect("launched");
            assert_eq!(api::read(out, 10).expect("read")[..], scaled(9)[..10]);
            assert_eq!(api::launch_with_buffer(scale, &[out]), Err(1));
            assert_eq!(api::launch(scale, ONE, WARP, 0, 0, &[]), Err(1));
            for address in [out, source] {
                api::free(address).expect("freed");
            }
            for stream in [a, b] {
                api::stream_destroy(stream).expect("destroyed");
            }
            api::event_destroy(event).expect("destroyed");
            kernels.stop();
        });
    }
}

#[test]
fn launches_that_cannot_be_are_refused_at_the_call() {
    program(&[("CUDA_SIM_DEVICES", "sm_75")], || {
        let kernels = Kernels::start();
        let empty = kernels.get("small");
        let refused = |grid, block, shared| api::launch(empty, grid, block, shared, 0, &[]);
        for (grid, block) in [
            ([0, 1, 1], ONE),
            ([1 << 31, 1, 1], ONE),
            ([1, 65536, 1], ONE),
            (ONE, [0, 1, 1]),
            (ONE, [1025, 1, 1]),
            (ONE, [1, 1, 65]),
            (ONE, [32, 32, 2]),
        ] {
            assert_eq!(refused(grid, block, 0), Err(1), "{grid:?} {block:?}");
        }
        // More than the kernel was compiled for.
        assert_eq!(refused(ONE, [65, 1, 1], 0), Err(701));
        assert_eq!(refused(ONE, [64, 1, 1], 0), Ok(()));
        assert_eq!(refused(ONE, WARP, 48 << 10), Ok(()));
        assert_eq!(refused(ONE, WARP, (48 << 10) + 1), Err(1));
        api::function_set(empty, 8, 64 << 10).expect("opts in");
        assert_eq!(refused(ONE, WARP, 64 << 10), Ok(()));
        let exact = kernels.get("exact");
        assert_eq!(api::launch(exact, ONE, [64, 1, 1], 0, 0, &[]), Err(1));
        assert_eq!(api::launch(exact, ONE, [32, 2, 1], 0, 0, &[]), Ok(()));
        assert_eq!(api::launch(exact + 1, ONE, WARP, 0, 0, &[]), Err(400));
        api::synchronize().expect("what was allowed ran");
        kernels.stop();
    });
}

/// Launches a kernel that fails, and goes on as a program would that does not know.
fn fail(kernel: &str, params: &[u64], code: u32) {
    let kernels = Kernels::start();
    let block = api::alloc(64).expect("memory");
    let function = kernels.get(kernel);
    // The launch is asynchronous: the next call that waits is told.
    api::launch(function, ONE, WARP, 0, 0, params).expect("launched");
    assert_eq!(api::synchronize(), Err(code));
    assert_eq!(api::launch(function, ONE, WARP, 0, 0, params), Err(code));
    assert_eq!(api::alloc(4), Err(code));
    assert_eq!(api::free(block), Err(code));
    assert_eq!(api::module_unload(kernels.0), Err(code));
    api::stop();
    // A new context is well.
    Kernels::start().stop();
}

#[test]
fn a_trap_kills_the_context() {
    let stderr = program(&[], || fail("crash", &[], 719));
    assert_eq!(stderr.matches("crash").count(), 1, "{stderr}");
    assert!(
        stderr.contains("trap") && stderr.contains("719"),
        "{stderr}"
    );
}

#[test]
fn a_stray_store_kills_the_context() {
    let stderr = program(&[], || fail("stray", &[0x10_0000], 700));
    assert!(
        stderr.contains("stray") && stderr.contains("0x100000"),
        "{stderr}"
    );
}

#[test]
fn a_misaligned_store_kills_the_context() {
    let stderr = program(&[], || fail("stray", &[0x1000_0000_0002], 716));
    assert!(stderr.contains("misaligned"), "{stderr}");
}

#[test]
fn a_kernel_without_end_is_ended() {
    program(&[("CUDA_SIM_BUDGET", "100000")], || fail("spin", &[], 702));
}

#[test]
fn the_blocks_of_a_cooperative_launch_run_together() {
    for blocks in ["rotating", "random:5", "adversarial"] {
        program(&[("CUDA_SIM_BLOCKS", blocks)], || {
            let kernels = Kernels::start();
            let meet = kernels.get("meet");
            let counter = api::alloc(4).expect("memory");
            api::write(counter, &[0]).expect("written");
            api::launch_cooperative(meet, 300, counter).expect("launched");
            assert_eq!(api::read(counter, 1), Ok(vec![300]));
            // 132 multiprocessors hold 32 blocks each.
            assert_eq!(api::launch_cooperative(meet, 4225, counter), Err(720));
            api::free(counter).expect("freed");
            kernels.stop();
        });
    }
}

/// Each block gives its number to the next of its cluster, and notes what it was given.
const CLUSTERED: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry pass(.param .u64 out) {
    .reg .b32 %r<9>; .reg .b64 %d<3>; .shared .b32 gift;
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
    add.u32 %r1, %r1, 1; rem.u32 %r1, %r1, %r2;
    mov.u32 %r3, gift; mapa.shared::cluster.u32 %r3, %r3, %r1;
    barrier.cluster.arrive; barrier.cluster.wait;
    st.shared::cluster.u32 [%r3], %r0;
    barrier.cluster.arrive; barrier.cluster.wait;
    ld.shared.u32 %r4, [gift];
    mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1; st.global.u32 [%d2], %r4;
    ret;
}
.visible .entry pairs(.param .u64 out) .reqnctapercluster 2, 1, 1 { ret; }";

#[test]
fn blocks_of_a_cluster_run_together() {
    program(&[], || {
        api::start();
        let module = api::load(CLUSTERED).expect("the kernels load");
        let [pass, pairs] = ["pass", "pairs"].map(|name| api::function(module, name));
        let (pass, pairs) = (pass.expect("a kernel"), pairs.expect("a kernel"));
        let out = api::alloc(4 * 32).expect("memory");
        let cluster = |x: u64| [later::Attribute::new(4, [1 << 32 | x, 1])];
        let launch = |function, blocks, x| {
            let extent = ([blocks, 1, 1], ONE);
            later::launch_ex(function, extent, 0, &cluster(x), &[out])
        };
        launch(pass, 32, 4).expect("launched");
        let given: Vec<u32> = (0..32).map(|i| i / 4 * 4 + (i + 3) % 4).collect();
        assert_eq!(api::read(out, 32), Ok(given));
        // CUDA_ERROR_INVALID_CLUSTER_SIZE: uneven, too large without leave, not as required.
        assert_eq!(launch(pass, 31, 4), Err(912));
        assert_eq!(launch(pass, 32, 16), Err(912));
        api::function_set(pass, 14, 1).expect("set");
        launch(pass, 32, 16).expect("launched");
        assert_eq!(launch(pairs, 32, 4), Err(912));
        api::launch(pairs, [32, 1, 1], ONE, 0, 0, &[out]).expect("launched");
        assert_eq!(api::launch(pairs, [3, 1, 1], ONE, 0, 0, &[out]), Err(912));
        assert_eq!(
            [10, 11, 12].map(|a| api::function_attribute(a, pairs)),
            [Ok(1), Ok(2), Ok(1)]
        );
        // 132 multiprocessors hold 32 blocks each.
        let held = later::active_clusters(pass, [32, 1, 1], &cluster(4));
        assert_eq!(held, Ok(132 * 32 / 4));
        api::free(out).expect("freed");
        api::module_unload(module).expect("unloaded");
        api::stop();
    });
}

#[test]
fn after_a_fault_callbacks_are_told_and_host_functions_not_called() {
    program(&[("CUDA_SIM_SCHEDULE", "adversarial")], || {
        let kernels = Kernels::start();
        let (told, heard) = std::sync::mpsc::channel();
        let told_too = told.clone();
        api::launch(kernels.get("crash"), ONE, WARP, 0, 0, &[]).expect("launched");
        api::callback(0, move |status| told.send(status).expect("a listener")).expect("queued");
        api::host_function(0, move || told_too.send(1).expect("a listener")).expect("queued");
        assert_eq!(api::synchronize(), Err(719));
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), [719]);
        assert_eq!(api::module_unload(kernels.0), Err(719));
        api::stop();
    });
}

#[test]
fn a_launch_can_be_made_to_fail() {
    program(&[("CUDA_SIM_FAULT", "cuLaunchKernel:2=719")], || {
        let kernels = Kernels::start();
        let small = kernels.get("small");
        assert_eq!(api::launch(small, ONE, WARP, 0, 0, &[]), Ok(()));
        assert_eq!(api::launch(small, ONE, WARP, 0, 0, &[]), Err(719));
        assert_eq!(api::synchronize(), Err(719));
        assert_eq!(api::module_unload(kernels.0), Err(719));
        api::stop();
    });
}

#[test]
fn managed_memory_is_where_kernels_and_host_meet() {
    program(&[], || {
        let kernels = Kernels::start();
        let managed = api::alloc_managed(400, 1).expect("memory");
        for (i, word) in api::managed_words(managed, 100).iter_mut().enumerate() {
            *word = i as u32;
        }
        let params = [managed, managed, 100, 3];
        api::launch(kernels.get("scale"), [4, 1, 1], WARP, 0, 0, &params).expect("launched");
        api::synchronize().expect("done");
        let tripled: Vec<u32> = (0..100).map(|i| 3 * i).collect();
        assert_eq!(api::managed_words(managed, 100), tripled);
        api::free(managed).expect("freed");
        kernels.stop();
    });
}

#[test]
fn checks_can_be_switched_off() {
    for (checks, works) in [
        ("all", true),
        ("all,copies", false),
        ("uninitialised,copies", false),
        ("bounds,races", true),
        ("none", true),
    ] {
        let ended = process(&[("CUDA_SIM_CHECKS", checks)], || {
            let kernels = Kernels::start();
            let [source, out] = [0; 2].map(|_| api::alloc(128).expect("memory"));
            // Nothing was ever written to the source.
            let params = [out, source, 32, 1];
            api::launch(kernels.get("scale"), ONE, WARP, 0, 0, &params).expect("launched");
            api::synchronize().expect("nothing hung on what was read");
            let code = api::read(out, 32).err().unwrap_or(0);
            std::process::exit(if code == 0 { 0 } else { 1 });
        });
        assert_eq!(ended.code, Some(i32::from(!works)), "{}", ended.stderr);
        let says = "a copy to the host of 128 bytes";
        assert_eq!(ended.stderr.contains(says), !works, "{}", ended.stderr);
    }
}

#[test]
fn counts_are_written_for_each_launch() {
    let path = std::env::temp_dir().join(format!("cuda-sim-counts-{}", std::process::id()));
    let file = path.to_str().expect("a temporary folder with a plain name");
    program(&[("CUDA_SIM_COUNTS", file)], || {
        let kernels = Kernels::start();
        let small = kernels.get("small");
        for blocks in 1..=2 {
            api::launch(small, [blocks, 1, 1], WARP, 0, 0, &[]).expect("launched");
        }
        api::synchronize().expect("done");
        kernels.stop();
    });
    let counts = std::fs::read_to_string(&path).expect("the counts");
    let lines: Vec<_> = counts.lines().collect();
    assert_eq!(lines.len(), 2);
    for (line, blocks) in lines.iter().zip(1..) {
        for part in [
            r#""kernel":"small""#.to_owned(),
            format!(r#""grid":[{blocks}, 1, 1]"#),
            format!(r#""lane_instructions":{}"#, 32 * blocks),
        ] {
            assert!(line.contains(&part), "{part}: {line}");
        }
    }
    std::fs::remove_file(path).expect("it is ours to remove");
}
