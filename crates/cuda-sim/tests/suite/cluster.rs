//! Clusters: who is where in them, their barrier, each other's shared memory, and what
//! must not be done with it.

use crate::common::{device_with, fault_of_parsing, kernel, launch_on_with, module, words_of};
use cuda_sim::ptx::Module;
use cuda_sim::{
    Arch, Checks, Device, DeviceConfig, Fault, FaultKind, Grid, LaunchOptions, Schedule,
};

fn grid(blocks: [u32; 3], threads: u32) -> Grid {
    Grid {
        grid: blocks,
        block: [threads, 1, 1],
        shared_bytes: 0,
    }
}

fn in_clusters(shape: [u32; 3]) -> LaunchOptions {
    LaunchOptions {
        cooperative: false,
        cluster: Some(shape),
    }
}

/// Runs with every check under every kind of schedule; what is in the buffer, which
/// must be the same each time.
fn run(source: &str, grid: Grid, shape: [u32; 3], words: usize) -> Vec<u32> {
    let schedules = [
        Schedule::Rotating,
        Schedule::Random(1),
        Schedule::Random(2),
        Schedule::Adversarial,
    ];
    let mut results = schedules.map(|schedule| {
        let device = Device::new(DeviceConfig {
            arch: Arch::SM_90,
            checks: Checks::ALL,
            schedule,
            instruction_budget: Some(10_000_000),
            ..DeviceConfig::default()
        });
        let mut buffers = [vec![0; 4 * words]];
        launch_on_with(&device, source, grid, &mut buffers, in_clusters(shape))
            .unwrap_or_else(|fault| panic!("{schedule:?}: {fault}"));
        words_of(&buffers[0])
    });
    results.sort();
    assert_eq!(results[0], results[3]);
    results[0].clone()
}

fn fault(source: &str, grid: Grid, shape: [u32; 3]) -> Fault {
    let device = device_with(Checks::ALL);
    launch_on_with(
        &device,
        source,
        grid,
        &mut [vec![0; 4096]],
        in_clusters(shape),
    )
    .expect_err("a fault was planted")
}

/// The place of the block's `words` words and of the thread's word in the buffer: `%a1`
/// and `%a2`; the block's number in the grid is `%r0`, the thread's `%r1`.
const PLACES: &str = "
    mov.u32 %r0, %ctaid.z; mov.u32 %r1, %nctaid.y; mad.lo.u32 %r0, %r0, %r1, 0;
    mov.u32 %r1, %ctaid.y; add.u32 %r0, %r0, %r1;
    mov.u32 %r1, %nctaid.x; mul.lo.u32 %r0, %r0, %r1;
    mov.u32 %r1, %ctaid.x; add.u32 %r0, %r0, %r1;
    mov.u32 %r1, %ntid.x; mul.lo.u32 %r2, %r0, %r1; mul.wide.u32 %d0, %r2, 4;
    add.u64 %a1, %a0, %d0;
    mov.u32 %r1, %tid.x; mul.wide.u32 %d0, %r1, 4; add.u64 %a2, %a1, %d0;";

const MEET: &str = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";

#[test]
fn blocks_know_their_place_in_their_cluster() {
    // Eight words a block, by thread 0.
    let source = kernel(
        1,
        &format!(
            "{PLACES}
             mov.u32 %r10, %cluster_ctarank; st.global.u32 [%a1], %r10;
             mov.u32 %r10, %cluster_nctarank; st.global.u32 [%a1+4], %r10;
             mov.u32 %r10, %cluster_ctaid.x; st.global.u32 [%a1+8], %r10;
             mov.u32 %r10, %cluster_ctaid.y; st.global.u32 [%a1+12], %r10;
             mov.u32 %r10, %clusterid.x; st.global.u32 [%a1+16], %r10;
             mov.u32 %r10, %clusterid.y; st.global.u32 [%a1+20], %r10;
             mov.u32 %r10, %nclusterid.x; mov.u32 %r11, %cluster_nctaid.y;
             shl.b32 %r10, %r10, 8; add.u32 %r10, %r10, %r11; st.global.u32 [%a1+24], %r10;
             mov.pred %p0, %is_explicit_cluster; selp.u32 %r10, 1, 0, %p0;
             st.global.u32 [%a1+28], %r10;"
        ),
    );
    // All threads of a block write the same.
    let words = run(&source, grid([6, 4, 1], 8), [3, 2, 1], 6 * 4 * 8);
    for y in 0..4u32 {
        for x in 0..6u32 {
            let at = 8 * (6 * y + x) as usize;
            let rank = y % 2 * 3 + x % 3;
            let want = [rank, 6, x % 3, y % 2, x / 3, y / 2, 2 << 8 | 2, 1];
            assert_eq!(words[at..at + 8], want, "block {x}, {y}");
        }
    }
    // Without clusters each block is one.
    let device = device_with(Checks::ALL);
    let mut buffers = [vec![0; 32 * 4]];
    let none = LaunchOptions::default();
    launch_on_with(&device, &source, grid([4, 1, 1], 8), &mut buffers, none).unwrap();
    assert_eq!(
        words_of(&buffers[0])[24..32],
        [0, 1, 0, 0, 3, 0, 4 << 8 | 1, 0]
    );
}

#[test]
fn blocks_read_and_write_each_others_shared_memory() {
    // Each thread gives its number to the next block of the cluster, and reads what the
    // block before it has; once by addresses of the cluster, once by generic ones.
    let source = kernel(
        1,
        &format!(
            ".shared .align 8 .b32 own[64]; .shared .b32 gift[64];
             {PLACES}
             mul.lo.u32 %r3, %r0, 1000; add.u32 %r3, %r3, %r1;
             mov.u32 %r4, own; mad.lo.u32 %r4, %r1, 4, %r4;
             st.shared::cta.u32 [%r4], %r3;
             {MEET}
             mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank;
             add.u32 %r7, %r5, 1; rem.u32 %r7, %r7, %r6;
             add.u32 %r8, %r5, %r6; sub.u32 %r8, %r8, 1; rem.u32 %r8, %r8, %r6;
             mov.u32 %r9, gift; mad.lo.u32 %r9, %r1, 4, %r9;
             mapa.shared::cluster.u32 %r10, %r9, %r7;
             st.shared::cluster.u32 [%r10], %r3;
             cvt.u64.u32 %d1, %r4; cvta.shared.u64 %d1, %d1;
             mapa.u64 %d2, %d1, %r8;
             ld.u32 %r11, [%d2];
             getctarank.u64 %r12, %d2;
             getctarank.shared::cluster.u32 %r13, %r10;
             isspacep.shared::cluster %p0, %d2; isspacep.shared::cta %p1, %d2;
             {MEET}
             ld.shared.u32 %r14, [%r9];
             selp.u32 %r15, 1, 0, %p0; selp.u32 %r16, 2, 0, %p1; or.b32 %r15, %r15, %r16;
             sub.u32 %r11, %r14, %r11;
             mad.lo.u32 %r11, %r12, 0x1000000, %r11;
             mad.lo.u32 %r11, %r13, 0x100000, %r11;
             mad.lo.u32 %r11, %r15, 0x10000, %r11;
             st.global.u32 [%a2], %r11;"
        ),
    );
    let words = run(&source, grid([8, 1, 1], 64), [4, 1, 1], 8 * 64);
    for (i, word) in words.into_iter().enumerate() {
        let rank = i as u32 / 64 % 4;
        let (before, after) = ((rank + 3) % 4, (rank + 1) % 4);
        // The gift and what was read come from the block before.
        assert_eq!(word, before << 24 | after << 20 | 1 << 16, "thread {i}");
    }
}

#[test]
fn a_cluster_counts_in_the_memory_of_its_first_block() {
    let source = kernel(
        1,
        &format!(
            ".shared .b32 count; .shared .align 16 .b64 pair[2]; .reg .b128 %q<4>;
             {PLACES}
             mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p0, %r5, 0;
             setp.eq.u32 %p1, %r1, 0; and.pred %p1, %p0, %p1;
             @%p1 st.shared.u32 [count], 0;
             @%p1 st.shared.v2.b64 [pair], {{0, 0}};
             {MEET}
             mov.u32 %r6, count; mapa.shared::cluster.u32 %r6, %r6, 0;
             atom.add.release.cluster.shared::cluster.u32 %r7, [%r6], 3;
             mov.u32 %r8, pair; mapa.shared::cluster.u32 %r8, %r8, 0;
             mov.u64 %d3, 1; mov.u64 %d4, 1;
             // Adds one to both halves together.
             ld.volatile.shared::cluster.v2.b64 {{%d5, %d6}}, [%r8];
             L:
             add.u64 %d7, %d5, 1; add.u64 %d8, %d6, 1;
             mov.b128 %q0, {{%d5, %d6}}; mov.b128 %q1, {{%d7, %d8}};
             atom.cas.shared::cluster.b128 %q2, [%r8], %q0, %q1;
             mov.b128 {{%d9, %d10}}, %q2;
             setp.ne.u64 %p2, %d9, %d5; mov.u64 %d5, %d9; mov.u64 %d6, %d10;
             @%p2 bra L;
             {MEET}
             ld.shared::cluster.u32 %r9, [%r6]; ld.shared::cluster.v2.b64 {{%d5, %d6}}, [%r8];
             sub.u64 %d6, %d6, %d5; cvt.u32.u64 %r10, %d6; cvt.u32.u64 %r11, %d5;
             add.u32 %r9, %r9, %r10; mad.lo.u32 %r9, %r11, 1000, %r9;
             st.global.u32 [%a2], %r9;
             {MEET}"
        ),
    );
    let words = run(&source, grid([6, 1, 1], 40), [3, 1, 1], 6 * 40);
    assert_eq!(words, vec![120 * 3 + 120 * 1000; 240]);
}

#[test]
fn barriers_in_memory_are_told_across_blocks() {
    // Block 1 sends block 0 a word by each thread, a sum and 64 bytes, and arrives.
    let source = kernel(
        1,
        &format!(
            ".shared .align 8 .b64 bar; .shared .align 16 .b8 parcel[64];
             .shared .b32 words[32]; .shared .b32 sum;
             {PLACES}
             mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p0, %r5, 0;
             setp.eq.u32 %p1, %r1, 0;
             mov.u32 %r10, bar; mov.u32 %r11, words; mad.lo.u32 %r11, %r1, 4, %r11;
             mov.u32 %r12, sum; mov.u32 %r13, parcel;
             setp.lt.u32 %p3, %r1, 16; mad.lo.u32 %r14, %r1, 4, %r13; add.u32 %r15, %r1, 500;
             @%p3 st.shared.u32 [%r14], %r15;
             @%p1 st.shared.u32 [sum], 0;
             @%p1 mbarrier.init.shared.b64 [bar], 33;
             // 32 words, 32 changes and the parcel.
             @%p1 mbarrier.arrive.expect_tx.shared.b64 %d1, [bar], 320;
             bar.sync 0;
             {MEET}
             @%p0 bra RECEIVE;
             mapa.shared::cluster.u32 %r20, %r10, 0; mapa.shared::cluster.u32 %r21, %r11, 0;
             mapa.shared::cluster.u32 %r22, %r12, 0; mapa.shared::cluster.u32 %r23, %r13, 0;
             st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r21], %r1, [%r20];
             red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r22], %r1, [%r20];
             @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r23], [%r13], 64, [%r20];
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r20];
             bra DONE;
             RECEIVE:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra RECEIVE;
             ld.shared.u32 %r30, [%r11]; ld.shared.u32 %r31, [sum];
             and.b32 %r32, %r1, 15; mad.lo.u32 %r32, %r32, 4, %r13; ld.shared.u32 %r32, [%r32];
             mad.lo.u32 %r30, %r31, 100, %r30; mad.lo.u32 %r30, %r32, 100000, %r30;
             st.global.u32 [%a2], %r30;
             DONE:
             {MEET}"
        ),
    );
    let words = run(&source, grid([2, 1, 1], 32), [2, 1, 1], 64);
    for (i, word) in words[..32].iter().enumerate() {
        assert_eq!(*word as usize, i + 496 * 100 + (500 + i % 16) * 100_000);
    }
}

#[test]
fn threads_arrive_and_wait_apart_and_those_that_left_do_not_count() {
    let source = kernel(
        1,
        &format!(
            ".shared .b32 x;
             {PLACES}
             setp.ge.u32 %p0, %r1, 40; @%p0 ret;
             setp.eq.u32 %p1, %r1, 0; mov.u32 %r5, %cluster_ctarank;
             @%p1 st.shared.u32 [x], %r0;
             barrier.cluster.arrive;
             add.u32 %r6, %r0, %r1;
             barrier.cluster.wait;
             xor.b32 %r5, %r5, 1; mov.u32 %r7, x; mapa.shared::cluster.u32 %r7, %r7, %r5;
             ld.shared::cluster.u32 %r8, [%r7];
             add.u32 %r6, %r6, %r8;
             st.global.u32 [%a2], %r6;
             barrier.cluster.arrive.relaxed; barrier.cluster.wait;"
        ),
    );
    let words = run(&source, grid([4, 1, 1], 64), [2, 1, 1], 256);
    for (i, word) in words.into_iter().enumerate() {
        let (block, thread) = (i as u32 / 64, i as u32 % 64);
        let want = if thread < 40 {
            block + thread + (block ^ 1)
        } else {
            0
        };
        assert_eq!(word, want);
    }
}

#[test]
fn mistakes_in_a_cluster_are_found() {
    let planted = |body: &str| {
        let body = format!(".shared .b32 x; mov.u32 %r5, %cluster_ctarank; {body}");
        fault(&kernel(1, &body), grid([2, 1, 1], 32), [2, 1, 1])
    };
    let of_first = "mov.u32 %r6, x; mapa.shared::cluster.u32 %r7, %r6, 0;";
    // The first block has left when the second looks.
    let found = planted(&format!(
        "st.shared.u32 [x], 1; {MEET} setp.eq.u32 %p0, %r5, 0; @%p0 ret; {of_first}
         mov.u32 %r8, 0; L: add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 200000; @%p1 bra L;
         ld.shared::cluster.u32 %r9, [%r7];"
    ));
    assert_eq!(found.kind, FaultKind::OutOfBounds);
    assert!(found.to_string().contains("has exited"), "{found}");
    // There is no third one.
    let found = planted(
        "mov.u32 %r6, x; mapa.shared::cluster.u32 %r7, %r6, 2; st.shared::cluster.u32 [%r7], 1;",
    );
    assert!(found.to_string().contains("does not have"), "{found}");
    // Past the end of the other's memory, and before it wrote there.
    let beyond = format!("{MEET} {of_first} ld.shared::cluster.u32 %r9, [%r7+4]; {MEET}");
    assert_eq!(planted(&beyond).kind, FaultKind::OutOfBounds);
    let early = format!(
        "{MEET} {of_first} ld.shared::cluster.u32 %r9, [%r7];
         setp.eq.u32 %p1, %r9, 0; @%p1 bra over; over: {MEET}"
    );
    assert_eq!(planted(&early).kind, FaultKind::UninitialisedMemory);
    // What is not of the block is not `shared::cta`.
    let wrong =
        format!("setp.eq.u32 %p0, %r5, 0; {MEET} {of_first} @!%p0 st.shared.u32 [%r7], 1; {MEET}");
    assert_eq!(planted(&wrong).kind, FaultKind::OutOfBounds);
    // Arriving twice, waiting without it, and waiting for who never comes.
    let twice = "barrier.cluster.arrive; barrier.cluster.arrive;";
    assert_eq!(planted(twice).kind, FaultKind::BarrierDivergence);
    assert_eq!(
        planted("barrier.cluster.wait;").kind,
        FaultKind::BarrierDivergence
    );
    // In each block one warp waits for a third, which is not there.
    let waits =
        format!("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 barrier.sync 1, 96; {MEET}");
    let found = fault(&kernel(1, &waits), grid([2, 1, 1], 64), [2, 1, 1]);
    assert_eq!(found.kind, FaultKind::Deadlock);
}

#[test]
fn clusters_that_no_device_has_are_refused() {
    let source = |directive: &str| {
        module(&format!(
            ".visible .entry k(.param .u64 p) {directive} {{ ret; }}"
        ))
    };
    let launch = |arch, directive: &str, blocks, shape: Option<[u32; 3]>| {
        let device = Device::new(DeviceConfig {
            arch,
            ..DeviceConfig::default()
        });
        let text = if arch == Arch::SM_90 {
            source(directive)
        } else {
            source(directive).replace("sm_90", "sm_80")
        };
        let options = LaunchOptions {
            cooperative: false,
            cluster: shape,
        };
        launch_on_with(&device, &text, grid(blocks, 32), &mut [vec![0; 4]], options)
            .map_err(|fault| fault.kind)
            .map(|_| ())
    };
    let h200 = Arch::SM_90;
    assert_eq!(launch(h200, "", [32, 1, 1], Some([16, 1, 1])), Ok(()));
    let too_large = Err(FaultKind::LaunchTooLarge);
    assert_eq!(launch(h200, "", [32, 1, 1], Some([32, 1, 1])), too_large);
    assert_eq!(launch(h200, "", [3, 1, 1], Some([2, 1, 1])), too_large);
    assert_eq!(launch(h200, "", [3, 1, 1], Some([0, 1, 1])), too_large);
    assert_eq!(
        launch(Arch::SM_80, "", [4, 1, 1], Some([2, 1, 1])),
        too_large
    );
    let pairs = ".reqnctapercluster 2, 1, 1";
    assert_eq!(launch(h200, pairs, [4, 1, 1], None), Ok(()));
    assert_eq!(launch(h200, pairs, [3, 1, 1], None), too_large);
    let other = Some([4, 1, 1]);
    assert_eq!(
        launch(h200, pairs, [4, 1, 1], other),
        Err(FaultKind::InvalidLaunch)
    );
    let parsed = Module::parse(&source(pairs)).unwrap();
    assert_eq!(
        parsed.kernel("k").unwrap().required_cluster,
        Some([2, 1, 1])
    );
    // As ptxas has it.
    let line = |line: &str| {
        module(&format!(
            ".visible .entry k() {{ .reg .b32 %r<3>; .reg .b64 %d<3>; {line} ret; }}"
        ))
        .replace("sm_90", "sm_89")
    };
    fault_of_parsing(&source(pairs).replace("sm_90", "sm_89"));
    fault_of_parsing(&source(pairs).replace("8.7", "7.7"));
    for text in [
        "mov.u32 %r0, %cluster_ctarank;",
        "barrier.cluster.arrive;",
        "mapa.u64 %d0, %d1, 0;",
        "getctarank.u64 %r0, %d1;",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];",
    ] {
        fault_of_parsing(&line(text));
    }
}
