//! Planted mistakes, each found and named, and each beside a repaired twin that
//! runs clean.

use crate::common::{bytes_of, device_with, fault, kernel, launch_on, module, run};
use cuda_sim::ptx::Module;
use cuda_sim::{Checks, Fault, FaultKind, Grid};

/// The line on which a marked instruction stands.
fn line_of(source: &str, mark: &str) -> u32 {
    let found = source.lines().position(|line| line.contains(mark));
    found.expect("the mark is in the source") as u32 + 1
}

/// Runs a kernel on one buffer of zeros that is wrong at the line of `// here`,
/// and again with the text repaired.
fn twins(
    body: &str,
    repair: (&str, &str),
    grid: (u32, u32),
    bytes: usize,
    kind: FaultKind,
) -> Fault {
    let wrong = kernel(1, body);
    let found = fault(&wrong, grid, &mut [vec![0; bytes]]);
    assert_eq!(found.kind, kind, "{found}");
    assert_eq!(found.line, line_of(&wrong, "// here"), "{found}");
    assert_eq!(found.kernel, "k");
    assert!(body.contains(repair.0));
    let right = kernel(1, &body.replace(repair.0, repair.1));
    run(&right, grid, &mut [vec![0; bytes]]);
    found
}

#[test]
fn a_store_past_the_end_names_address_block_and_thread() {
    let found = twins(
        "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
         mad.lo.u32 %r3, %r0, %r1, %r2;
         setp.ge.u32 %p0, %r3, 97;
         @%p0 bra done;
         mul.wide.u32 %d0, %r3, 4; add.u64 %d1, %a0, %d0;
         st.global.u32 [%d1], %r3; // here
         done:",
        ("97", "96"),
        (3, 64),
        4 * 96,
        FaultKind::OutOfBounds,
    );
    assert_eq!((found.block, found.thread), ([1, 0, 0], [32, 0, 0]));
    let text = found.to_string();
    assert!(
        text.contains("0 bytes past the end of the 384-byte allocation"),
        "{text}"
    );
    assert!(
        text.contains("block (1, 0, 0), thread (32, 0, 0)"),
        "{text}"
    );
}

#[test]
fn a_load_of_two_bytes_too_far_is_found_though_the_granule_is_there() {
    let body = "ld.global.u32 %r0, [%a0+8]; // here";
    let source = kernel(1, body);
    let found = fault(&source, (1, 1), &mut [vec![0; 10]]);
    assert_eq!(found.kind, FaultKind::OutOfBounds);
    // Without exact bounds the 256-byte granule is what counts, as on a GPU.
    let loose = device_with(Checks {
        bounds: false,
        uninitialised: false,
        ..Checks::ALL
    });
    launch_on(&loose, &source, (1, 1), &mut [vec![0; 10]]).unwrap();
    let far = kernel(1, "ld.global.u32 %r0, [%a0+256];");
    assert!(launch_on(&loose, &far, (1, 1), &mut [vec![0; 10]]).is_err());
}

#[test]
fn misaligned_accesses_are_found_in_every_space() {
    twins(
        "ld.global.u32 %r0, [%a0+2]; // here",
        ("+2", "+4"),
        (1, 1),
        16,
        FaultKind::Misaligned,
    );
    twins(
        "ld.global.v2.u32 {%r0, %r1}, [%a0+4]; // here",
        ("+4", "+8"),
        (1, 1),
        16,
        FaultKind::Misaligned,
    );
    for space in ["shared", "local"] {
        let body = format!(
            ".{space} .align 16 .b8 m[32]; mov.u32 %r0, 7; mov.u64 %d0, m;
             st.{space}.u64 [%d0+12], %d0; // here"
        );
        twins(&body, ("+12", "+8"), (1, 1), 4, FaultKind::Misaligned);
    }
}

#[test]
fn shared_and_local_memory_end_where_they_end() {
    for space in ["shared", "local"] {
        let body = format!(
            ".{space} .align 16 .b8 m[32]; mov.u64 %d0, m; mov.u32 %r0, 1;
             st.{space}.u32 [%d0+32], %r0; // here"
        );
        twins(&body, ("+32", "+28"), (1, 1), 4, FaultKind::OutOfBounds);
    }
}

#[test]
fn constant_memory_cannot_be_written() {
    let text = |address: &str| {
        module(&format!(
            ".const .align 4 .u32 c[2] = {{1, 2}}; .global .align 4 .u32 g[2];
             .visible .entry k(.param .u64 p) {{ .reg .b64 %d<4>; .reg .b32 %r<4>;
             ld.const.u32 %r0, [c+4]; mov.u64 %d0, {address}; st.global.u32 [%d0], %r0; ret; }}"
        ))
    };
    let found = fault(&text("c"), (1, 1), &mut [vec![0; 4]]);
    assert_eq!(found.kind, FaultKind::ReadOnly);
    run(&text("g"), (1, 1), &mut [vec![0; 4]]);
}

#[test]
fn an_unset_register_is_found_where_it_is_used_not_where_it_is_copied() {
    let found = twins(
        "mov.u32 %r1, %r0; // unset: copied only
         mov.u32 %r2, %r1;
         add.u32 %r3, %r2, 1;
         setp.eq.u32 %p0, %r3, 7;
         @%p0 bra over; // here
         over:",
        ("mov.u32 %r2, %r1", "mov.u32 %r2, 5"),
        (1, 32),
        4,
        FaultKind::UninitialisedRegister,
    );
    assert!(found.detail.contains("`%r0`"), "{found}");
}

#[test]
fn a_register_set_on_one_path_only_is_found_in_the_other_lanes() {
    let found = twins(
        "mov.u32 %r0, %laneid;
         setp.lt.u32 %p0, %r0, 20;
         @%p0 mov.u32 %r1, 3;
         add.u32 %r2, %r1, %r0;
         setp.eq.u32 %p1, %r2, 7;
         @%p1 bra over; // here
         over:",
        ("20", "32"),
        (1, 32),
        4,
        FaultKind::UninitialisedRegister,
    );
    assert_eq!(found.thread, [20, 0, 0]);
}

#[test]
fn a_selection_is_as_unset_as_what_it_takes() {
    let found = twins(
        "mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 20;
         selp.u32 %r2, %r0, %r1, %p0; // %r1 is unset
         setp.lt.u32 %p1, %r0, 24;
         @!%p1 bra over;
         setp.eq.u32 %p2, %r2, 7;
         @%p2 bra over; // here
         over:",
        ("24", "20"),
        (1, 32),
        4,
        FaultKind::UninitialisedRegister,
    );
    assert_eq!(found.thread, [20, 0, 0]);
}

#[test]
fn an_unset_guard_is_found() {
    twins(
        "@%p0 bra over; // here
         over:",
        ("@%p0", ""),
        (1, 32),
        4,
        FaultKind::UninitialisedRegister,
    );
}

#[test]
fn unwritten_memory_is_found_in_every_space() {
    for space in ["shared", "local"] {
        let body = format!(
            ".{space} .align 16 .b8 m[32]; mov.u64 %d0, m; mov.u32 %r0, 1;
             st.{space}.u32 [%d0+8], %r0; st.{space}.u16 [%d0+12], %r0;
             ld.{space}.v2.u32 {{%r1, %r2}}, [%d0+8]; // loaded
             add.u32 %r3, %r1, %r2; setp.eq.u32 %p0, %r3, 0;
             @%p0 bra over; // here
             over:"
        );
        let found = twins(
            &body,
            (&format!("st.{space}.u16"), &format!("st.{space}.u32")),
            (1, 1),
            4,
            FaultKind::UninitialisedMemory,
        );
        assert_eq!(found.address.unwrap() % 16, 14);
        let loaded = line_of(&kernel(1, &body), "// loaded");
        let why =
            format!("it decides a branch, and was loaded from {space} memory at line {loaded}");
        assert!(found.detail.contains(&why), "{found}");
    }
    let device = device_with(Checks::ALL);
    let source = kernel(
        1,
        "ld.global.u8 %r0, [%a0+3]; setp.eq.u32 %p0, %r0, 0; @%p0 bra over; over:",
    );
    let loaded = device.load(&Module::parse(&source).unwrap()).unwrap();
    let address = device.alloc(8).unwrap();
    device.write(address, &[1, 2, 3]).unwrap();
    let grid = Grid {
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
    };
    let found = device
        .launch(&loaded, "k", grid, &address.to_le_bytes())
        .unwrap_err();
    assert_eq!(found.kind, FaultKind::UninitialisedMemory);
    assert_eq!(found.address, Some(address + 3));
    device.fill(address + 3, &[0], 1).unwrap();
    device
        .launch(&loaded, "k", grid, &address.to_le_bytes())
        .unwrap();
}

/// Every thread writes its word of shared memory and reads its neighbour's.
const EXCHANGE: &str = ".shared .align 4 .b8 m[512];
    mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, m; add.u32 %r3, %r2, %r1;
    st.shared.u32 [%r3], %r0;
    bar.sync 0;
    xor.b32 %r4, %r1, 128; add.u32 %r4, %r2, %r4;
    ld.shared.u32 %r5, [%r4]; // here
    mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0; st.global.u32 [%d1], %r5;";

#[test]
fn a_missing_barrier_is_a_race_between_warps() {
    let wrong = kernel(1, &EXCHANGE.replace("bar.sync 0;", ""));
    let found = fault(&wrong, (1, 64), &mut [vec![0; 256]]);
    assert_eq!(found.kind, FaultKind::SharedRace);
    let races = device_with(Checks {
        uninitialised: false,
        ..Checks::ALL
    });
    let found = launch_on(&races, &wrong, (1, 64), &mut [vec![0; 256]]).unwrap_err();
    assert_eq!(found.kind, FaultKind::SharedRace, "{found}");
    assert!(found.detail.contains("line"), "{found}");
    let mut out = [vec![0; 256]];
    run(&kernel(1, EXCHANGE), (1, 64), &mut out);
    let want: Vec<u32> = (0..64).map(|i| i ^ 32).collect();
    assert_eq!(out[0], bytes_of(&want));
}

#[test]
fn a_missing_barrier_before_the_next_round_is_a_race_too() {
    // Each thread changes its word, which its neighbour may still have to read.
    // Warps run in turns, so the second warp's read is what comes too late.
    let body = EXCHANGE.to_owned()
        + "
         st.shared.u32 [%r3], %r5;
         bar.sync 0; ld.shared.u32 %r6, [%r3];";
    let repair = (
        "st.shared.u32 [%r3], %r5",
        "bar.sync 0; st.shared.u32 [%r3], %r5",
    );
    let found = twins(&body, repair, (1, 64), 256, FaultKind::SharedRace);
    assert!(found.detail.contains("wrote it at line"), "{found}");
}

#[test]
fn within_a_warp_bar_warp_sync_orders() {
    let body = EXCHANGE.replace("128", "4");
    let wrong = kernel(1, &body.replace("bar.sync 0;", ""));
    let found = fault(&wrong, (1, 32), &mut [vec![0; 128]]);
    assert_eq!(found.kind, FaultKind::SharedRace);
    let right = kernel(1, &body.replace("bar.sync 0;", "bar.warp.sync -1;"));
    run(&right, (1, 32), &mut [vec![0; 128]]);
}

#[test]
fn bar_warp_sync_does_not_order_warps() {
    let races = device_with(Checks {
        uninitialised: false,
        ..Checks::ALL
    });
    let wrong = kernel(1, &EXCHANGE.replace("bar.sync 0;", "bar.warp.sync -1;"));
    let found = launch_on(&races, &wrong, (1, 64), &mut [vec![0; 256]]).unwrap_err();
    assert_eq!(found.kind, FaultKind::SharedRace);
}

#[test]
fn shared_atomics_do_not_race_with_each_other_but_with_plain_reads() {
    let found = twins(
        ".shared .align 4 .b8 m[4]; mov.u32 %r0, %tid.x; mov.u32 %r1, m; mov.u32 %r2, 0;
         setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [%r1], %r2;
         bar.sync 0;
         red.shared.add.u32 [%r1], 1; // here
         bar.warp.sync -1;
         ld.shared.u32 %r3, [%r1];",
        ("bar.warp.sync -1", "bar.sync 0"),
        (1, 64),
        4,
        FaultKind::SharedRace,
    );
    assert!(found.detail.contains("written while unordered"), "{found}");
}

#[test]
fn blocks_that_write_the_same_word_race() {
    let found = twins(
        "mov.u32 %r0, %ctaid.x; mul.wide.u32 %d0, %r0, 0; add.u64 %d1, %a0, %d0;
         st.global.u32 [%d1], %r0; // here",
        ("%r0, 0;", "%r0, 4;"),
        (8, 1),
        32,
        FaultKind::GlobalRace,
    );
    // In order, the second block is the one that comes to a word already written.
    assert_eq!(found.block, [1, 0, 0]);
}

#[test]
fn blocks_that_read_what_another_writes_race() {
    twins(
        "mov.u32 %r0, %ctaid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0;
         ld.global.u32 %r1, [%a0+28];
         st.global.u32 [%d1+0], %r0; // here
         ",
        ("%d1+0", "%d1+32"),
        (8, 1),
        64,
        // The last block writes what the others read.
        FaultKind::GlobalRace,
    );
}

#[test]
fn atomics_of_many_blocks_do_not_race_but_plain_stores_beside_them_do() {
    twins(
        "mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 3; mov.u32 %r1, 1;
         red.global.add.u32 [%a0], %r1;
         @%p0 st.global.u32 [%a0], %r1; // here",
        ("@%p0 st.global.u32 [%a0]", "@%p0 st.global.u32 [%a0+4]"),
        (8, 1),
        8,
        FaultKind::GlobalRace,
    );
}

#[test]
fn accesses_are_called_what_they_are() {
    // The last block reads or writes plainly what the first has touched.
    for (first, last, before, now) in [
        (
            "ld.volatile.global.u32 %r1, [%a0]",
            "st.global.u32 [%a0], 1",
            "used as volatile",
            "written",
        ),
        (
            "st.volatile.global.u32 [%a0], 1",
            "ld.global.u32 %r1, [%a0]",
            "used as volatile",
            "read",
        ),
        (
            "red.global.add.u32 [%a0], 1",
            "st.global.u32 [%a0], 1",
            "used atomically",
            "written",
        ),
        (
            "st.global.u32 [%a0], 1",
            "ld.volatile.global.u32 %r1, [%a0]",
            "written",
            "read by a volatile load",
        ),
        (
            "ld.global.u32 %r1, [%a0]",
            "st.volatile.global.u32 [%a0], 1",
            "read",
            "written by a volatile store",
        ),
        (
            "ld.global.u32 %r1, [%a0]",
            "st.relaxed.gpu.global.u32 [%a0], 1",
            "read",
            "written with an order",
        ),
        (
            "ld.global.u32 %r1, [%a0]",
            "red.global.add.u32 [%a0], 1",
            "read",
            "changed atomically",
        ),
    ] {
        let source = kernel(
            1,
            &format!(
                "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra last;
                 {first}; bra done; last: {last}; done:"
            ),
        );
        let found = fault(&source, (2, 1), &mut [vec![0; 4]]);
        assert_eq!(found.kind, FaultKind::GlobalRace, "{found}");
        let want = format!("{now} by block number 1, {before} by block number 0");
        assert!(found.detail.starts_with(&want), "{found}, not {want}");
    }
}

#[test]
fn neighbouring_bytes_of_a_word_are_no_race() {
    let source = kernel(
        1,
        "mov.u32 %r0, %ctaid.x; cvt.u64.u32 %d0, %r0; add.u64 %d1, %a0, %d0;
         st.global.u8 [%d1], %r0;",
    );
    let mut out = [vec![0xff; 64]];
    run(&source, (64, 1), &mut out);
    assert_eq!(out[0], (0..64).collect::<Vec<u8>>());
}

#[test]
fn a_barrier_in_a_branch_is_not_reached_by_all() {
    let found = twins(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 7; @!%p0 bra over;
         bar.sync 0; // here
         over:",
        ("%r0, 7;", "%r0, 64;"),
        (1, 64),
        4,
        FaultKind::BarrierDivergence,
    );
    assert_eq!(found.thread, [7, 0, 0]);
}

#[test]
fn threads_that_exit_before_a_barrier_are_missed() {
    let found = twins(
        "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 32; @%p0 exit;
         bar.sync 0; // here
         ",
        ("@%p0 exit;", ""),
        (1, 64),
        4,
        FaultKind::BarrierDivergence,
    );
    assert_eq!(found.thread, [32, 0, 0]);
}

#[test]
fn warps_that_wait_at_different_barriers_wait_for_ever() {
    twins(
        "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5;
         barrier.sync %r1; // here
         ",
        ("barrier.sync %r1", "barrier.sync 3"),
        (1, 64),
        4,
        FaultKind::Deadlock,
    );
}

#[test]
fn a_shuffle_from_a_lane_that_left_is_found() {
    let found = twins(
        "mov.u32 %r0, %laneid; setp.ge.u32 %p0, %r0, 24; @%p0 exit;
         shfl.sync.down.b32 %r1, %r0, 8, 31, -1; // here
         ",
        ("@%p0 exit;", ""),
        (1, 32),
        4,
        FaultKind::InactiveLane,
    );
    assert_eq!(found.thread, [16, 0, 0]);
    assert!(found.detail.contains("lane 24"), "{found}");
}

#[test]
fn a_shuffle_that_names_lanes_which_are_elsewhere_is_found() {
    twins(
        "mov.u32 %r0, %laneid; setp.ge.u32 %p0, %r0, 16; @%p0 bra other;
         shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; // here
         bra join;
         other: bar.warp.sync 0xffff0000;
         shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffff0000;
         join: bar.warp.sync -1;",
        ("1, 31, -1", "1, 31, 0xffff"),
        (1, 32),
        4,
        FaultKind::InactiveLane,
    );
}

#[test]
fn a_lane_must_be_a_member_of_its_own_mask() {
    twins(
        "vote.sync.ballot.b32 %r1, 1, 0x7fffffff; // here",
        ("0x7fffffff", "0xffffffff"),
        (1, 32),
        4,
        FaultKind::InactiveLane,
    );
}

#[test]
fn a_lost_carry_is_found() {
    let found = twins(
        "mov.u32 %r0, 1; add.u32 %r1, %r0, %r0;
         addc.u32 %r2, %r0, %r0; // here
         ",
        ("add.u32", "add.cc.u32"),
        (1, 32),
        4,
        FaultKind::CarryNotSet,
    );
    assert!(
        found
            .to_string()
            .starts_with("carry flag consumed that nothing set")
    );
    // A carry set under a guard is set in those lanes only.
    let found = twins(
        "mov.u32 %r0, %laneid; setp.ne.u32 %p0, %r0, 9; @%p0 add.cc.u32 %r1, %r0, %r0;
         subc.u32 %r2, %r0, %r0; // here
         ",
        ("@%p0 add.cc", "add.cc"),
        (1, 32),
        4,
        FaultKind::CarryNotSet,
    );
    assert_eq!(found.thread, [9, 0, 0]);
}

#[test]
fn a_trap_is_a_fault_of_its_own() {
    twins(
        "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 70;
         @%p0 trap; // here
         ",
        ("70", "700"),
        (1, 96),
        4,
        FaultKind::Trap,
    );
}

#[test]
fn what_does_not_end_is_ended_by_the_budget() {
    twins(
        "again:
         bra again; // here
         ",
        ("bra again;", ""),
        (1, 32),
        4,
        FaultKind::InstructionBudget,
    );
}

#[test]
fn the_lowest_block_is_the_one_reported_whatever_runs_first() {
    // Blocks from 100 on store out of bounds, later ones sooner.
    let source = kernel(
        1,
        "mov.u32 %r0, %ctaid.x; setp.lt.u32 %p0, %r0, 100; @%p0 bra done;
         sub.u32 %r1, 1000, %r0; mul.lo.u32 %r1, %r1, 10;
         spin: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra spin;
         st.global.u32 [%a0+4096], %r0;
         done:",
    );
    for checks in [Checks::ALL, Checks::NONE] {
        for _ in 0..3 {
            let device = device_with(checks);
            let found = launch_on(&device, &source, (900, 32), &mut [vec![0; 4]]).unwrap_err();
            assert_eq!(found.kind, FaultKind::OutOfBounds);
            assert_eq!(found.block, [100, 0, 0]);
        }
    }
}

#[test]
fn an_undone_launch_leaves_what_running_in_order_leaves() {
    // Every block writes its own word; two blocks then race.
    let source = kernel(
        1,
        "mov.u32 %r0, %ctaid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0;
         ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;
         setp.ne.u32 %p0, %r0, 40; @%p0 bra done; st.global.u32 [%a0], %r0;
         done:",
    );
    for _ in 0..5 {
        let mut out = [bytes_of(&[7; 64])];
        let found = fault(&source, (64, 1), &mut out);
        assert_eq!(
            (found.kind, found.block),
            (FaultKind::GlobalRace, [40, 0, 0])
        );
        let mut want = vec![8u32; 41];
        want.resize(64, 7);
        assert_eq!(out[0], bytes_of(&want));
    }
}
