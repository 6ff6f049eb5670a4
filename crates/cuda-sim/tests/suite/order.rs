//! What orders threads and what does not: mistakes that are found, and right programs
//! that are left alone.

use crate::common::{bytes_of, device_with, fault, kernel, launch_on, run, words_of};
use cuda_sim::{Checks, Fault, FaultKind};

/// Runs a kernel on buffers of zeros that has a mistake, then with it mended.
fn mended(body: &str, mend: (&str, &str), grid: (u32, u32), sizes: &[usize]) -> Fault {
    let buffers = || -> Vec<Vec<u8>> { sizes.iter().map(|&bytes| vec![0; bytes]).collect() };
    let found = fault(&kernel(sizes.len(), body), grid, &mut buffers());
    assert!(body.contains(mend.0));
    let right = body.replace(mend.0, mend.1);
    run(&kernel(sizes.len(), &right), grid, &mut buffers());
    found
}

/// Every thread writes its word of global memory and reads its neighbour's.
const EXCHANGE: &str = "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0;
     st.global.u32 [%d1], %r0;
     bar.sync 0;
     xor.b32 %r1, %r0, 32; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %a0, %d2;
     ld.global.u32 %r2, [%d3];
     add.u64 %d4, %a1, %d0; st.global.u32 [%d4], %r2;";

#[test]
fn threads_of_a_block_race_in_global_memory() {
    let wrong = EXCHANGE.replace("bar.sync 0;", "");
    let found = mended(
        &wrong,
        ("xor.b32", "bar.sync 0; xor.b32"),
        (1, 64),
        &[256, 256],
    );
    assert_eq!(found.kind, FaultKind::GlobalRace, "{found}");
    assert!(found.detail.contains("of the block"), "{found}");
    // Within a warp, bar.warp.sync is enough; between warps it is not.
    let near = EXCHANGE.replace("%r0, 32", "%r0, 1");
    let found = mended(
        &near.replace("bar.sync 0;", ""),
        ("xor.b32", "bar.warp.sync -1; xor.b32"),
        (1, 64),
        &[256, 256],
    );
    assert_eq!(found.kind, FaultKind::GlobalRace);
    let far = EXCHANGE.replace("bar.sync 0", "bar.warp.sync -1");
    let found = fault(&kernel(2, &far), (1, 64), &mut [vec![0; 256], vec![0; 256]]);
    assert_eq!(found.kind, FaultKind::GlobalRace);
}

#[test]
fn a_write_races_with_an_earlier_read_of_the_block() {
    // The first warp reads what the second then changes.
    let body = "mov.u32 %r0, %tid.x; mov.u32 %r3, 5; setp.ge.u32 %p0, %r0, 32; @%p0 bra second;
         ld.global.u32 %r1, [%a0];
         second:
         setp.ne.u32 %p1, %r0, 40; @%p1 bra done; st.global.u32 [%a0], %r3;
         done:";
    let found = mended(body, ("second:", "second: bar.sync 0;"), (1, 64), &[4]);
    assert_eq!(found.kind, FaultKind::GlobalRace);
    assert!(found.detail.contains("read it"), "{found}");
    assert_eq!(found.thread, [40, 0, 0]);
}

#[test]
fn writes_of_one_value_and_of_bytes_are_no_race_within_a_block() {
    let same = "mov.u32 %r0, 7; st.global.u32 [%a0], %r0;";
    run(&kernel(1, same), (1, 96), &mut [vec![0; 4]]);
    let bytes = "mov.u32 %r0, %tid.x; cvt.u64.u32 %d0, %r0; add.u64 %d1, %a0, %d0;
         st.global.u8 [%d1], %r0; ld.global.u8 %r1, [%d1]; add.u32 %r1, %r1, 1;
         st.global.u8 [%d1], %r1;";
    let mut out = [vec![0; 64]];
    run(&kernel(1, bytes), (1, 64), &mut out);
    assert_eq!(out[0], (1..65).collect::<Vec<u8>>());
    let differ = "mov.u32 %r0, %tid.x; st.global.u32 [%a0], %r0;";
    let found = fault(&kernel(1, differ), (1, 32), &mut [vec![0; 4]]);
    assert_eq!(found.kind, FaultKind::GlobalRace);
}

/// Block 0 hands a number to block 1 by a flag.
const HAND_OVER: &str = "mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 1; @%p0 bra wait;
     mov.u32 %r1, 42; st.global.u32 [%a1], %r1;
     membar.gl;
     mov.u32 %r2, 1; st.volatile.global.u32 [%a0], %r2; bra done;
     wait: ld.volatile.global.u32 %r3, [%a0]; setp.eq.u32 %p1, %r3, 0; @%p1 bra wait;
     membar.gl;
     ld.global.u32 %r4, [%a1]; st.global.u32 [%a2], %r4;
     done:";

#[test]
fn a_flag_without_a_fence_before_it_announces_nothing() {
    let without = HAND_OVER.replacen("membar.gl;", "", 1);
    let found = mended(
        &without,
        ("mov.u32 %r2, 1;", "fence.acq_rel.gpu; mov.u32 %r2, 1;"),
        (2, 1),
        &[4, 4, 4],
    );
    assert_eq!(found.kind, FaultKind::GlobalRace);
    assert!(found.detail.contains("no fence"), "{found}");
    assert_eq!(found.block, [1, 0, 0]);
    // A fence for the block alone does not do; a releasing store or an atomic
    // operation that releases does, a relaxed one does not.
    for (announce, good) in [
        ("membar.cta; st.volatile.global.u32 [%a0], 1;", false),
        ("st.release.gpu.global.u32 [%a0], 1;", true),
        ("st.release.cta.global.u32 [%a0], 1;", false),
        ("atom.global.add.u32 %r5, [%a0], 1;", false),
        ("atom.acq_rel.gpu.global.add.u32 %r5, [%a0], 1;", true),
        ("red.release.sys.global.add.u32 [%a0], 1;", true),
        ("membar.sys; red.global.add.u32 [%a0], 1;", true),
    ] {
        let body = without.replace("st.volatile.global.u32 [%a0], %r2;", announce);
        let source = kernel(3, &body);
        let mut out = [vec![0; 4], vec![0; 4], vec![0; 4]];
        let result = launch_on(&device_with(Checks::ALL), &source, (2, 1), &mut out);
        match result {
            Ok(_) => assert_eq!((good, words_of(&out[2])), (true, vec![42]), "{announce}"),
            Err(found) => {
                assert_eq!(
                    (found.kind, good),
                    (FaultKind::GlobalRace, false),
                    "{announce}"
                );
            }
        }
    }
}

#[test]
fn one_thread_may_release_what_its_block_wrote_before_a_barrier() {
    let body = "mov.u32 %r0, %ctaid.x; mov.u32 %r9, %tid.x; mul.wide.u32 %d0, %r9, 4;
         add.u64 %d1, %a1, %d0; add.u64 %d2, %a2, %d0; setp.ne.u32 %p2, %r9, 0;
         setp.eq.u32 %p0, %r0, 1; @%p0 bra wait;
         st.global.u32 [%d1], %r9;
         bar.sync 0; @%p2 bra done; membar.gl;
         atom.global.add.u32 %r2, [%a0], 1; bra done;
         wait: @%p2 bra join;
         poll: ld.acquire.gpu.global.u32 %r3, [%a0]; setp.eq.u32 %p1, %r3, 0; @%p1 bra poll;
         join: bar.sync 0;
         ld.global.u32 %r4, [%d1]; st.global.u32 [%d2], %r4;
         done:";
    let mut out = [vec![0; 4], vec![0; 256], vec![0; 256]];
    run(&kernel(3, body), (2, 64), &mut out);
    assert_eq!(words_of(&out[2]), (0..64).collect::<Vec<u32>>());
}

#[test]
fn the_read_only_cache_is_for_what_the_launch_leaves_alone() {
    let body = "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0;
         add.u64 %d2, %a1, %d0;
         ld.global.nc.u32 %r1, [%d2]; st.global.u32 [%d1], %r1;
         ld.global.nc.u32 %r2, [%d1];";
    let found = mended(body, ("%r2, [%d1]", "%r2, [%d2]"), (1, 32), &[128, 128]);
    assert_eq!(found.kind, FaultKind::StaleRead);
    let plain = kernel(
        2,
        &body.replace("ld.global.nc.u32 %r2", "ld.global.u32 %r2"),
    );
    run(&plain, (1, 32), &mut [vec![0; 128], vec![0; 128]]);
}

#[test]
fn a_step_from_one_shared_variable_into_the_next_is_out_of_bounds() {
    let body = ".shared .align 4 .b8 one[64]; .shared .align 4 .b8 two[64];
         mov.u32 %r0, one; mov.u32 %r1, two; mov.u32 %r3, 1;
         st.shared.u32 [%r1], %r3;
         mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r0;
         st.shared.u32 [%r2], %r3;";
    let source = kernel(1, body);
    run(&source, (1, 16), &mut [vec![0; 4]]);
    let found = fault(&source, (1, 17), &mut [vec![0; 4]]);
    assert_eq!(found.kind, FaultKind::OutOfBounds);
    assert!(
        found.detail.contains("0 bytes past the end of the 64"),
        "{found}"
    );
    assert_eq!(found.thread, [16, 0, 0]);
    // Without the check they lie as on a GPU, one behind the other.
    let loose = device_with(Checks {
        bounds: false,
        races: false,
        ..Checks::ALL
    });
    let swapped = body.to_owned() + "ld.shared.u32 %r5, [%r0+64]; st.global.u32 [%a0], %r5;";
    let mut out = [vec![0; 4]];
    launch_on(&loose, &kernel(1, &swapped), (1, 1), &mut out).unwrap();
    assert_eq!(words_of(&out[0]), [1]);
}

#[test]
fn the_distance_of_shared_variables_changes_no_count() {
    // Lane i uses word i of the first and word i + 1 of the second, as if they were one.
    let body = ".shared .align 4 .b8 one[68]; .shared .align 4 .b8 two[64];
         mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; and.b32 %r4, %r3, 63; mov.u32 %r0, one;
         mov.u32 %r1, two; setp.lt.u32 %p0, %r2, 16; selp.b32 %r5, %r0, %r1, %p0;
         add.u32 %r5, %r5, %r4; st.shared.u32 [%r5], %r2;";
    let source = kernel(1, body);
    let counts = run(&source, (1, 32), &mut [vec![0; 4]]).counts;
    let loose = device_with(Checks::NONE);
    let compact = launch_on(&loose, &source, (1, 32), &mut [vec![0; 4]]).unwrap();
    assert_eq!(counts, compact.counts);
    assert_eq!(counts.shared_wavefronts, 2);
}

/// The second warp hands a number to the first in shared memory.
const SHARED_FLAG: &str = ".shared .align 4 .b32 flag; .shared .align 4 .b32 number;
     mov.u32 %r0, %tid.x; mov.u32 %r8, flag; mov.u32 %r9, number; mov.u32 %r1, 0;
     setp.ne.u32 %p0, %r0, 0; @%p0 bra begun; st.shared.u32 [%r8], %r1;
     begun: bar.sync 0;
     setp.eq.u32 %p1, %r0, 0; @%p1 bra wait;
     setp.ne.u32 %p2, %r0, 32; @%p2 bra done;
     mov.u32 %r2, 42; mov.u32 %r3, 1; st.shared.u32 [%r9], %r2;
     SET.u32 [%r8], %r3; bra done;
     wait: GET.u32 %r4, [%r8]; setp.eq.u32 %p3, %r4, 0; @%p3 bra wait;
     ld.shared.u32 %r5, [%r9]; st.global.u32 [%a0], %r5;
     done:";

#[test]
fn flags_in_shared_memory_order_what_they_announce() {
    for (set, get) in [
        ("st.release.cta.shared", "ld.acquire.cta.shared"),
        ("membar.cta; st.volatile.shared", "ld.volatile.shared"),
        (
            "fence.acq_rel.cta; st.relaxed.cta.shared",
            "ld.relaxed.cta.shared",
        ),
    ] {
        let body = SHARED_FLAG.replace("SET", set).replace("GET", get);
        let mut out = [vec![0; 4]];
        run(&kernel(1, &body), (1, 64), &mut out);
        assert_eq!(words_of(&out[0]), [42], "{set}");
    }
    // A plain flag is a race, and so is a number that is written after its flag.
    let plain = SHARED_FLAG
        .replace("SET", "st.shared")
        .replace("GET", "ld.volatile.shared");
    let found = fault(&kernel(1, &plain), (1, 64), &mut [vec![0; 4]]);
    assert_eq!(found.kind, FaultKind::SharedRace);
    let late = SHARED_FLAG
        .replace("st.shared.u32 [%r9], %r2;", "st.shared.u32 [%r9], %r1;")
        .replace("[%r8], %r3;", "[%r8], %r3; st.shared.u32 [%r9], %r2;")
        .replace("SET", "st.release.cta.shared")
        .replace("GET", "ld.acquire.cta.shared");
    let found = fault(&kernel(1, &late), (1, 64), &mut [vec![0; 4]]);
    assert_eq!(found.kind, FaultKind::SharedRace);
}

#[test]
fn an_element_of_a_vector_that_nothing_reads_may_be_unwritten() {
    for space in ["shared", "local", "global"] {
        let place = if space == "global" { "%a5" } else { "m" };
        let body = format!(
            ".shared .align 16 .b8 unused[16]; .{} .align 16 .b8 m[32]; mov.u64 %d0, {place};
             mov.u32 %r0, 3;
             st.{space}.v2.u32 [%d0], {{%r0, %r0}}; st.{space}.u32 [%d0+8], %r0;
             ld.{space}.v4.u32 {{%r1, %r2, %r3, %r4}}, [%d0];
             add.u32 %r5, %r1, %r2; add.u32 %r5, %r5, %r3;
             st.global.u32 [%a0], %r5;",
            if space == "global" { "local" } else { space },
        );
        // Global memory that nothing has written: behind the buffer of one word.
        let body = body.replace("mov.u64 %d0, %a5;", "mov.u64 %d0, g;");
        let source = kernel(1, &body).replace(
            ".visible .entry",
            ".global .align 16 .b8 g[16];\n.visible .entry",
        );
        let mut out = [vec![0; 4]];
        run(&source, (1, 1), &mut out);
        assert_eq!(words_of(&out[0]), [9], "{space}");
        if space != "global" {
            let used = source.replace("%r5, %r5, %r3", "%r5, %r5, %r4").replace(
                "st.global.u32 [%a0], %r5;",
                "setp.eq.u32 %p0, %r5, 9; @%p0 bra over; over:",
            );
            let found = fault(&used, (1, 1), &mut [vec![0; 4]]);
            assert_eq!(found.kind, FaultKind::UninitialisedMemory, "{space}");
        }
    }
}

#[test]
fn a_compare_and_swap_may_begin_with_a_plain_read() {
    // Every thread of every block adds its number.
    for space in ["global", "shared"] {
        let place = if space == "global" { "%a0" } else { "%d0" };
        let body = format!(
            ".shared .align 4 .b32 m; mov.u64 %d0, m; mov.u32 %r0, %tid.x;
             mov.u32 %r6, 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra begun; st.shared.u32 [%d0], %r6;
             begun: bar.sync 0;
             ld.{space}.u32 %r1, [{place}];
             again: add.u32 %r2, %r1, %r0; mov.u32 %r3, %r1;
             atom.{space}.cas.b32 %r1, [{place}], %r3, %r2;
             setp.ne.u32 %p0, %r1, %r3; @%p0 bra again;
             bar.sync 0; @%p1 bra done; ld.{space}.u32 %r4, [{place}]; st.global.u32 [%a1], %r4;
             done:"
        );
        let mut out = [bytes_of(&[0]), bytes_of(&[0])];
        run(&kernel(2, &body), (1, 96), &mut out);
        assert_eq!(words_of(&out[1]), [95 * 48], "{space}");
    }
    let blocks = "mov.u32 %r0, %ctaid.x; ld.global.u32 %r1, [%a0];
         again: add.u32 %r2, %r1, %r0; mov.u32 %r3, %r1;
         atom.global.cas.b32 %r1, [%a0], %r3, %r2; setp.ne.u32 %p0, %r1, %r3; @%p0 bra again;";
    let mut out = [bytes_of(&[0])];
    run(&kernel(1, blocks), (50, 1), &mut out);
    assert_eq!(words_of(&out[0]), [49 * 25]);
    // A plain write beside it is a race.
    let wrong = blocks.replace(
        "ld.global.u32 %r1, [%a0];",
        "mov.u32 %r1, 0; st.global.u32 [%a0], %r0;",
    );
    let found = fault(&kernel(1, &wrong), (50, 1), &mut [bytes_of(&[0])]);
    assert_eq!(found.kind, FaultKind::GlobalRace);
}
