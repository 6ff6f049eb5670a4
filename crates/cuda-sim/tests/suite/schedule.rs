//! Threads that go their own way: parts of a warp that come to a barrier one after
//! the other, threads that exit, blocks that share work and wait for each other.

use crate::common::{
    bytes_of, device_with, fault, kernel, launch_on, launch_on_with, run, words_of,
};
use cuda_sim::{Arch, Checks, Device, DeviceConfig, FaultKind, LaunchOptions, Schedule};

const SCHEDULES: [Schedule; 5] = [
    Schedule::Rotating,
    Schedule::Random(1),
    Schedule::Random(2),
    Schedule::Random(3),
    Schedule::Adversarial,
];

fn scheduled(schedule: Schedule) -> Device {
    Device::new(DeviceConfig {
        arch: Arch::SM_90,
        instruction_budget: Some(20_000_000),
        schedule,
        ..DeviceConfig::default()
    })
}

/// Runs under every schedule, with every check; what the buffers are then.
fn every_schedule(source: &str, grid: (u32, u32), buffers: &[Vec<u8>]) -> Vec<Vec<Vec<u8>>> {
    SCHEDULES
        .into_iter()
        .map(|schedule| {
            let mut buffers = buffers.to_vec();
            launch_on(&scheduled(schedule), source, grid, &mut buffers)
                .unwrap_or_else(|fault| panic!("{schedule:?}: {fault}\n{source}"));
            buffers
        })
        .collect()
}

/// Each round one thread takes the next item; all threads of the block add to it.
const POOL: &str = ".shared .align 4 .b32 item;
    mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; mov.u32 %r9, item;
    outer: bar.sync 0;
    @%p0 bra taken;
    atom.global.add.u32 %r1, [%a0], 1; st.shared.u32 [%r9], %r1;
    taken: bar.sync 0;
    ld.shared.u32 %r2, [%r9];
    setp.ge.u32 %p1, %r2, 64; @%p1 bra done;
    mul.wide.u32 %d0, %r2, 4; add.u64 %d1, %a1, %d0;
    red.global.add.u32 [%d1], 1;
    and.b32 %r3, %r0, 1; setp.eq.u32 %p2, %r3, 0;
    @%p2 bra outer;
    add.u32 %r4, %r0, 1;
    bra outer;
    done: mov.u32 %r5, %ctaid.x; mul.wide.u32 %d2, %r5, 4; add.u64 %d3, %a2, %d2;
    @!%p0 st.global.u32 [%d3], %r2;";

const COOPERATIVE: LaunchOptions = LaunchOptions {
    cooperative: true,
    cluster: None,
};

#[test]
fn a_loop_with_two_ways_back_to_its_barrier() {
    let source = kernel(3, POOL);
    let buffers = [vec![0; 4], vec![0; 256], vec![0; 16]];
    for out in every_schedule(&source, (4, 96), &buffers) {
        assert_eq!(words_of(&out[1]), [96; 64]);
        // Every block has asked once too often, each in its turn.
        let mut last = words_of(&out[2]);
        last.sort_unstable();
        assert_eq!(last, [64, 65, 66, 67]);
    }
}

#[test]
fn a_lane_that_polls_while_its_warp_waits_at_the_barrier() {
    let body = ".shared .align 4 .b32 flag;
         mov.u32 %r0, %tid.x; mov.u32 %r9, flag; mov.u32 %r8, 0;
         setp.ne.u32 %p0, %r0, 0; @%p0 bra over; st.volatile.shared.u32 [%r9], %r8; over:
         bar.sync 0;
         setp.ne.u32 %p1, %r0, 3; @%p1 bra second;
         poll: ld.volatile.shared.u32 %r1, [%r9]; setp.eq.u32 %p2, %r1, 0; @%p2 bra poll;
         second: setp.ne.u32 %p3, %r0, 40; @%p3 bra join; mov.u32 %r2, 7;
         st.volatile.shared.u32 [%r9], %r2;
         join: bar.sync 0;
         mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0; ld.volatile.shared.u32 %r3, [%r9];
         st.global.u32 [%d1], %r3;";
    for out in every_schedule(&kernel(1, body), (1, 64), &[vec![0; 256]]) {
        assert_eq!(words_of(&out[0]), [7; 64]);
    }
}

#[test]
fn a_lane_in_a_long_loop_while_its_warp_waits_at_the_barrier() {
    let body = "mov.u32 %r0, %tid.x; mov.u32 %r1, 0; setp.ne.u32 %p0, %r0, 5; @%p0 bra join;
         again: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100000; @%p1 bra again;
         join: bar.sync 0;
         @%p0 bra done; st.global.u32 [%a0], %r1; done:";
    for out in every_schedule(&kernel(1, body), (1, 64), &[vec![0; 4]]) {
        assert_eq!(words_of(&out[0]), [100_000]);
    }
}

#[test]
fn a_barrier_whose_other_lanes_wait_elsewhere_is_not_reached() {
    // Half of the warp waits at one barrier, half at another.
    let body = "mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 16; @%p0 bra low;
         bar.sync 1; bra join;
         low: bar.sync 0; // here
         join:";
    let source = kernel(1, body);
    let found = fault(&source, (1, 32), &mut [vec![0; 4]]);
    assert_eq!(found.kind, FaultKind::BarrierDivergence);
    assert!(found.detail.contains("waits elsewhere"), "{found}");
    // At the same barrier, by number, they meet on a GPU, wherever it stands.
    let loose = device_with(Checks {
        barriers: false,
        ..Checks::ALL
    });
    launch_on(
        &loose,
        &source.replace("bar.sync 1", "bar.sync 0"),
        (1, 32),
        &mut [vec![0; 4]],
    )
    .unwrap();
    // One lane waits for a shuffle, which comes only behind the barrier.
    let body = "mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 16; @%p0 bra low;
         vote.sync.ballot.b32 %r1, 1, -1; bra join;
         low: bar.sync 0;
         join:";
    let found = fault(&kernel(1, body), (1, 32), &mut [vec![0; 4]]);
    assert!(
        matches!(
            found.kind,
            FaultKind::BarrierDivergence | FaultKind::InactiveLane
        ),
        "{found}"
    );
}

#[test]
fn lanes_that_have_left_are_not_waited_for() {
    for (op, want) in [
        ("vote.sync.ballot.b32 %r1, 1, -1;", 0xf_ffff),
        ("shfl.sync.idx.b32 %r1, %r0, 3, 31, -1;", 3),
        ("redux.sync.add.u32 %r1, %r0, -1;", 190),
        ("bar.warp.sync -1; mov.u32 %r1, 5;", 5),
    ] {
        // The lanes that stay come first, and last.
        for (first, second) in [("lt", "20"), ("ge", "20")] {
            let (stay, leave) = ("stay", "leave");
            let target = if first == "lt" { stay } else { leave };
            let other = if first == "lt" { leave } else { stay };
            let body = format!(
                "mov.u32 %r0, %laneid; setp.{first}.u32 %p0, %r0, {second}; @%p0 bra {target};
                 bra {other};
                 leave: add.u32 %r5, %r0, 1; ret;
                 stay: {op}
                 mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0; st.global.u32 [%d1], %r1;"
            );
            let mut out = [vec![0; 80]];
            run(&kernel(1, &body), (1, 32), &mut out);
            assert_eq!(words_of(&out[0]), [want; 20], "{op}");
        }
    }
}

#[test]
fn a_lock_that_one_lane_of_a_warp_holds() {
    // Every thread of every block adds one under the same lock.
    let body = "mov.u32 %r5, 0;
         try: atom.global.cas.b32 %r1, [%a0], 0, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra try;
         membar.gl;
         ld.volatile.global.u32 %r2, [%a1]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%a1], %r2;
         membar.gl;
         atom.global.exch.b32 %r3, [%a0], 0;";
    for out in every_schedule(&kernel(2, body), (3, 64), &[vec![0; 4], vec![0; 4]]) {
        assert_eq!(words_of(&out[1]), [192]);
    }
}

#[test]
fn items_of_a_pool_go_to_every_block() {
    let body = "mov.u32 %r0, %ctaid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a1, %d0;
         mov.u32 %r2, 0;
         again: atom.global.add.u32 %r1, [%a0], 1; setp.ge.u32 %p0, %r1, 100; @%p0 bra done;
         add.u32 %r2, %r2, 1; bra again;
         done: st.global.u32 [%d1], %r2;";
    let source = kernel(2, body);
    let mut out = [vec![0; 4], vec![0; 40]];
    run(&source, (10, 1), &mut out);
    assert_eq!(words_of(&out[1]), [10; 10]);
    // The youngest takes all when it may, and chance is the same every time.
    let shares = every_schedule(&source, (10, 1), &[vec![0; 4], vec![0; 40]]);
    assert_eq!(words_of(&shares[4][1])[9], 100);
    assert_ne!(shares[1][1], shares[2][1]);
    assert_eq!(
        shares,
        every_schedule(&source, (10, 1), &[vec![0; 4], vec![0; 40]])
    );
    for share in shares {
        assert_eq!(words_of(&share[1]).iter().sum::<u32>(), 100);
    }
}

#[test]
fn a_block_may_wait_for_a_later_one() {
    let body = "mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 0; @%p0 bra wait;
         setp.ne.u32 %p1, %r0, 7; @%p1 bra done;
         mov.u32 %r1, 42; st.global.u32 [%a1], %r1; membar.gl;
         mov.u32 %r2, 1; st.volatile.global.u32 [%a0], %r2; bra done;
         wait: ld.volatile.global.u32 %r3, [%a0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait;
         ld.global.u32 %r4, [%a1]; st.global.u32 [%a2], %r4;
         done:";
    for out in every_schedule(
        &kernel(3, body),
        (8, 32),
        &[vec![0; 4], vec![0; 4], vec![0; 4]],
    ) {
        assert_eq!(words_of(&out[2]), [42]);
    }
}

/// Every block adds to a counter and waits until all have; twice.
const GRID_BARRIER: &str = "mov.u32 %r0, %tid.x; mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %d0, %r2, 4; add.u64 %d1, %a1, %d0; mov.u32 %r9, 0; mov.u32 %r8, 0;
    setp.ne.u32 %p0, %r0, 0;
    round: add.u32 %r9, %r9, %r1; @%p0 bra join;
    add.u32 %r3, %r2, %r8; st.global.u32 [%d1], %r3;
    membar.gl; atom.global.add.u32 %r4, [%a0], 1;
    wait: ld.volatile.global.u32 %r5, [%a0]; setp.lt.u32 %p1, %r5, %r9; @%p1 bra wait;
    membar.gl;
    add.u32 %r6, %r2, 1; rem.u32 %r6, %r6, %r1; mul.wide.u32 %d2, %r6, 4; add.u64 %d3, %a1, %d2;
    ld.global.u32 %r8, [%d3];
    membar.gl; atom.global.add.u32 %r4, [%a2], 1;
    leave: ld.volatile.global.u32 %r5, [%a2]; setp.lt.u32 %p1, %r5, %r9; @%p1 bra leave;
    join: bar.sync 0; add.u32 %r7, %r1, %r1; setp.lt.u32 %p2, %r9, %r7; @%p2 bra round;
    @%p0 bra done; add.u64 %d4, %a3, %d0; st.global.u32 [%d4], %r8; done:";

#[test]
fn all_blocks_of_a_cooperative_launch_meet() {
    let source = kernel(4, GRID_BARRIER);
    for schedule in SCHEDULES {
        let device = scheduled(schedule);
        let mut out = [vec![0; 4], vec![0; 52], vec![0; 4], vec![0; 52]];
        launch_on_with(&device, &source, (13, 64), &mut out, COOPERATIVE)
            .unwrap_or_else(|fault| panic!("{schedule:?}: {fault}"));
        // The neighbour's number, and its neighbour's with it.
        let want: Vec<u32> = (0..13).map(|i| (i + 1) % 13 + (i + 2) % 13).collect();
        assert_eq!(words_of(&out[3]), want, "{schedule:?}");
    }
}

/// `cooperative_groups::this_grid().sync()` as nvcc 13.0 compiles it for sm_90.
fn grid_sync(number: u32) -> String {
    "mov.u32 %r40, %envreg2; cvt.u64.u32 %d40, %r40; mov.u32 %r41, %envreg1; cvt.u64.u32 %d41, %r41;
     bfi.b64 %d42, %d41, %d40, 32, 32; setp.ne.s64 %p10, %d42, 0; @%p10 bra valid#; trap; valid#:
     add.s64 %d43, %d42, 4; barrier.sync 0;
     mov.u32 %r42, %tid.x; mov.u32 %r43, %tid.y; add.s32 %r44, %r42, %r43; mov.u32 %r45, %tid.z;
     neg.s32 %r45, %r45; setp.ne.s32 %p11, %r44, %r45; @%p11 bra wait#;
     mov.u32 %r46, %nctaid.x; mov.u32 %r47, %nctaid.y; mul.lo.s32 %r46, %r46, %r47; mov.u32 %r48, %nctaid.z;
     mul.lo.s32 %r46, %r46, %r48; mov.u32 %r47, %ctaid.y; mov.u32 %r49, %ctaid.x; add.s32 %r48, %r49, %r47;
     mov.u32 %r49, %ctaid.z; neg.s32 %r49, %r49; setp.eq.s32 %p12, %r48, %r49;
     mov.u32 %r50, -2147483647; sub.s32 %r51, %r50, %r46; selp.b32 %r52, %r51, 1, %p12;
     atom.add.release.gpu.u32 %r53, [%d43], %r52;
     again#: ld.acquire.gpu.u32 %r54, [%d43]; xor.b32 %r55, %r54, %r53; setp.gt.s32 %p13, %r55, -1;
     @%p13 bra again#; wait#: barrier.sync 0;\n"
        .replace('#', &number.to_string())
}

#[test]
fn cooperative_groups_synchronise_the_grid() {
    // Each block writes its number, sums those of all, and writes the sum over its number.
    let body = |first: &str, second: &str| {
        format!(
            "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r0, %r2, %r1;
             mul.wide.u32 %d0, %r3, 4; add.u64 %d1, %a0, %d0; st.global.u32 [%d1], %r0;
             {first} mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u64 %d2, %a0; mul.wide.u32 %d3, %r2, 4;
             mov.u32 %r7, %nctaid.x;
             L: ld.global.u32 %r6, [%d2]; add.u32 %r4, %r4, %r6; add.u64 %d2, %d2, %d3; add.u32 %r5, %r5, 1;
             setp.lt.u32 %p0, %r5, %r7; @%p0 bra L;
             {second} st.global.u32 [%d1], %r4;"
        )
    };
    let source = kernel(1, &body(&grid_sync(1), &grid_sync(2)));
    for schedule in SCHEDULES {
        let device = scheduled(schedule);
        let mut out = [vec![0; 4 * 640]];
        launch_on_with(&device, &source, (10, 64), &mut out, COOPERATIVE)
            .unwrap_or_else(|fault| panic!("{schedule:?}: {fault}"));
        assert_eq!(words_of(&out[0]), [45; 640], "{schedule:?}");
        // Without either of them blocks race, and without a cooperative launch there is none.
        for (first, second) in [(grid_sync(1), String::new()), (String::new(), grid_sync(2))] {
            let racing = kernel(1, &body(&first, &second));
            let found = launch_on_with(&device, &racing, (10, 64), &mut out, COOPERATIVE);
            assert_eq!(
                found.unwrap_err().kind,
                FaultKind::GlobalRace,
                "{schedule:?}"
            );
        }
        let found = launch_on(&device, &source, (10, 64), &mut out).unwrap_err();
        assert_eq!(found.kind, FaultKind::Trap);
    }
}

#[test]
fn a_cooperative_launch_must_fit_the_device() {
    // 2048 threads on each of 132 multiprocessors: two blocks of 1024.
    let source = kernel(1, "");
    let device = scheduled(Schedule::Rotating);
    launch_on_with(
        &device,
        &source,
        (264, 1024),
        &mut [vec![0; 4]],
        COOPERATIVE,
    )
    .unwrap();
    let found = launch_on_with(
        &device,
        &source,
        (265, 1024),
        &mut [vec![0; 4]],
        COOPERATIVE,
    )
    .unwrap_err();
    assert_eq!(found.kind, FaultKind::LaunchTooLarge);
    assert!(found.detail.contains("holds 264"), "{found}");
    launch_on(&device, &source, (265, 1024), &mut [vec![0; 4]]).unwrap();
}

#[test]
fn blocks_beyond_those_resident_begin_when_others_end() {
    // On 264 places: the last block can only come when one has gone, and all wait for it.
    let body = "mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra done;
         mov.u32 %r1, %nctaid.x; atom.global.add.u32 %r2, [%a0], 1;
         wait: ld.volatile.global.u32 %r3, [%a0]; setp.lt.u32 %p1, %r3, %r1; @%p1 bra wait;
         done:";
    let source = kernel(1, body);
    let device = scheduled(Schedule::Rotating);
    launch_on(&device, &source, (264, 1024), &mut [vec![0; 4]]).unwrap();
    let found = launch_on(&device, &source, (265, 1024), &mut [vec![0; 4]]).unwrap_err();
    assert_eq!(found.kind, FaultKind::Deadlock);
    assert!(found.detail.contains("nobody changes"), "{found}");
}

#[test]
fn what_never_ends_ends_by_default() {
    let budget = DeviceConfig::default().instruction_budget;
    assert_eq!(budget, Some(DeviceConfig::BUDGET));
    // Nobody sets the flag, in global memory or in shared.
    for place in ["%a0", "%d0"] {
        let space = if place == "%a0" { "global" } else { "shared" };
        let body = format!(
            ".shared .align 4 .b32 flag; mov.u64 %d0, flag; mov.u32 %r1, 0;
             st.volatile.{space}.u32 [{place}], %r1;
             wait: ld.volatile.{space}.u32 %r0, [{place}]; setp.eq.u32 %p0, %r0, 0; @%p0 bra wait;"
        );
        let device = Device::new(DeviceConfig {
            arch: Arch::SM_90,
            ..DeviceConfig::default()
        });
        let found = launch_on(&device, &kernel(1, &body), (1, 1), &mut [bytes_of(&[0])]);
        assert_eq!(found.unwrap_err().kind, FaultKind::Deadlock, "{space}");
    }
}

#[test]
fn who_looks_at_much_waits_for_nothing() {
    // More than a million volatile loads in a row, of one word after the other.
    let body = "mov.u32 %r0, 0; mov.u32 %r2, 0;
         again: and.b32 %r1, %r0, 1023; mul.wide.u32 %d0, %r1, 4; add.u64 %d1, %a0, %d0;
         ld.volatile.global.u32 %r3, [%d1]; add.u32 %r2, %r2, %r3;
         add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 1200000; @%p0 bra again;
         st.global.u32 [%a1], %r2;";
    let mut out = [bytes_of(&[3; 1024]), vec![0; 4]];
    run(&kernel(2, body), (1, 1), &mut out);
    assert_eq!(words_of(&out[1]), [3_600_000]);
}
