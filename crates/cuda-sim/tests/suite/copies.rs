//! Asynchronous copies to shared memory, and barriers in memory.

use crate::common::{bytes_of, fault, kernel, run, words_of};
use cuda_sim::FaultKind;

/// Each thread copies four words to shared memory and reads its neighbour's back.
fn neighbours(wait: &str) -> String {
    kernel(
        2,
        &format!(
            ".shared .align 16 .b8 s[1024];
             mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, s; add.u32 %r3, %r2, %r1;
             cvt.u64.u32 %d0, %r1; add.u64 %d1, %a0, %d0; add.u64 %d2, %a1, %d0;
             cp.async.cg.shared.global [%r3], [%d1], 16;
             cp.async.commit_group;
             {wait}
             bar.sync 0;
             xor.b32 %r1, %r1, 16; add.u32 %r3, %r2, %r1;
             ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r3];
             setp.eq.u32 %p0, %r4, %r7; @%p0 bra over; over:
             st.global.v4.u32 [%d2], {{%r4, %r5, %r6, %r7}};"
        ),
    )
}

#[test]
fn a_copy_is_there_once_it_is_waited_for() {
    let given: Vec<u32> = (0..256).map(|i| i * 0x0001_0107).collect();
    for wait in ["cp.async.wait_group 0;", "cp.async.wait_all;"] {
        let mut buffers = [bytes_of(&given), vec![0; 1024]];
        run(&neighbours(wait), (1, 64), &mut buffers);
        let want: Vec<u32> = (0..256).map(|i| given[i ^ 4]).collect();
        assert_eq!(words_of(&buffers[1]), want);
    }
    for wait in ["", "cp.async.wait_group 1;"] {
        let mut buffers = [bytes_of(&given), vec![0; 1024]];
        let found = fault(&neighbours(wait), (1, 64), &mut buffers);
        assert_eq!(found.kind, FaultKind::UninitialisedMemory, "{wait}");
    }
}

#[test]
fn the_last_groups_may_stay_under_way() {
    let source = |groups: u32, read: &str| {
        kernel(
            2,
            &format!(
                ".shared .align 16 .b8 s[64]; mov.u32 %r0, s;
                 cp.async.ca.shared.global [%r0], [%a0], 4; cp.async.commit_group;
                 cp.async.ca.shared.global [%r0+8], [%a0+8], 8; cp.async.commit_group;
                 cp.async.ca.shared.global [%r0+16], [%a0+16], 16; cp.async.commit_group;
                 cp.async.wait_group {groups};
                 {read} setp.eq.u32 %p0, %r1, 0; @%p0 bra over; over:
                 st.global.u32 [%a1], %r1;"
            ),
        )
    };
    let given = bytes_of(&[1, 2, 3, 4, 5, 6, 7, 8]);
    for (groups, offset, want) in [
        (2, 0, Some(1)),
        (2, 8, None),
        (1, 12, Some(4)),
        (0, 28, Some(8)),
    ] {
        let source = source(groups, &format!("ld.shared.u32 %r1, [%r0+{offset}];"));
        let mut buffers = [given.clone(), vec![0; 4]];
        match want {
            Some(word) => {
                run(&source, (1, 1), &mut buffers);
                assert_eq!(words_of(&buffers[1]), [word]);
            }
            None => {
                let kind = fault(&source, (1, 1), &mut buffers).kind;
                assert_eq!(kind, FaultKind::UninitialisedMemory);
            }
        }
    }
}

#[test]
fn what_a_copy_does_not_read_is_zero() {
    let source = kernel(
        2,
        ".shared .align 16 .b8 s[48]; mov.u32 %r0, s; mov.u32 %r1, 6; setp.eq.u32 %p0, %r1, 6;
         cp.async.cg.shared.global [%r0], [%a0], 16, %r1;
         cp.async.ca.shared.global [%r0+16], [%a0], 8, %p0;
         cp.async.ca.shared.global [%r0+24], [%a0], 8, !%p0;
         cp.async.ca.shared.global.L2::128B [%r0+32], [%a0], 4, 0;
         cp.async.wait_all;
         ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r0]; st.global.v4.u32 [%a1], {%r2, %r3, %r4, %r5};
         ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r0+16]; st.global.v4.u32 [%a1+16], {%r2, %r3, %r4, %r5};
         ld.shared.u32 %r2, [%r0+32]; st.global.u32 [%a1+32], %r2;",
    )
    .replace(", !%p0;", ", %p1;")
    .replace("setp.eq.u32 %p0,", "setp.eq.u32 %p0|%p1,");
    let mut buffers = [bytes_of(&[0x0403_0201, 0x0807_0605]), vec![0; 36]];
    run(&source, (1, 1), &mut buffers);
    assert_eq!(
        words_of(&buffers[1]),
        [0x0403_0201, 0x0605, 0, 0, 0, 0, 0x0403_0201, 0x0807_0605, 0]
    );
}

#[test]
fn a_copy_races_with_who_still_reads() {
    // Thread 0 copies over what thread 32 reads without a barrier between.
    let source = kernel(
        1,
        ".shared .align 16 .b8 s[16]; mov.u32 %r0, s; mov.u32 %r1, %tid.x;
         setp.eq.u32 %p0, %r1, 0; @%p0 st.shared.u32 [%r0], 5; bar.sync 0;
         @%p0 bra copy; ld.shared.u32 %r2, [%r0]; bra done;
         copy: cp.async.ca.shared.global [%r0], [%a0], 4; cp.async.wait_all; done:",
    );
    let mut buffers = [bytes_of(&[1])];
    let kind = fault(&source, (1, 64), &mut buffers).kind;
    assert!(
        matches!(kind, FaultKind::SharedRace | FaultKind::UninitialisedMemory),
        "{kind}"
    );
}

#[test]
fn misaligned_and_oversized_copies_are_faults() {
    for (body, kind) in [
        (
            "cp.async.cg.shared.global [%r0+4], [%a0], 16;",
            FaultKind::Misaligned,
        ),
        (
            "cp.async.cg.shared.global [%r0], [%a0+8], 16;",
            FaultKind::Misaligned,
        ),
        (
            "cp.async.ca.shared.global [%r0], [%a0], 4, %r1;",
            FaultKind::InvalidOperand,
        ),
        (
            "cp.async.cg.shared.global [%r0], [%a0+32], 16;",
            FaultKind::OutOfBounds,
        ),
        (
            "cp.async.cg.shared.global [%r0+16], [%a0], 16;",
            FaultKind::OutOfBounds,
        ),
    ] {
        let source = kernel(
            1,
            &format!(".shared .align 16 .b8 s[16]; mov.u32 %r0, s; mov.u32 %r1, 5; {body}"),
        );
        let mut buffers = [vec![0; 32]];
        assert_eq!(fault(&source, (1, 1), &mut buffers).kind, kind, "{body}");
    }
}

#[test]
fn a_barrier_in_memory_counts_arrivals_over_its_phases() {
    // One thread plays four: each test's outcome becomes a bit.
    let source = kernel(
        1,
        ".shared .align 8 .b64 m; mov.u32 %r0, m; mov.u32 %r9, 0;
         mbarrier.init.shared.b64 [%r0], 4;
         mbarrier.arrive.shared.b64 %d0, [%r0];
         mbarrier.arrive.shared::cta.b64 %d1, [%r0], 2;
         mbarrier.pending_count.b64 %r1, %d1;
         mbarrier.test_wait.shared.b64 %p0, [%r0], %d0; @%p0 or.b32 %r9, %r9, 1;
         mbarrier.try_wait.parity.shared.b64 %p0, [%r0], 0; @%p0 or.b32 %r9, %r9, 2;
         mbarrier.arrive.release.cta.shared.b64 %d2, [%r0];
         mbarrier.test_wait.shared.b64 %p0, [%r0], %d0; @%p0 or.b32 %r9, %r9, 4;
         mbarrier.try_wait.parity.acquire.cta.shared.b64 %p0, [%r0], 0; @%p0 or.b32 %r9, %r9, 8;
         mbarrier.try_wait.parity.shared.b64 %p0, [%r0], 1; @%p0 or.b32 %r9, %r9, 16;
         mbarrier.arrive_drop.shared.b64 %d3, [%r0];
         mbarrier.arrive.shared.b64 %d3, [%r0], 3;
         mbarrier.try_wait.parity.shared.b64 %p0, [%r0], 1; @%p0 or.b32 %r9, %r9, 32;
         mbarrier.arrive.shared.b64 %d3, [%r0], 3;
         mbarrier.try_wait.parity.shared.b64 %p0, [%r0], 0; @%p0 or.b32 %r9, %r9, 64;
         mbarrier.inval.shared.b64 [%r0];
         shl.b32 %r1, %r1, 16; or.b32 %r9, %r9, %r1; st.global.u32 [%a0], %r9;",
    );
    let mut out = [vec![0; 4]];
    run(&source, (1, 1), &mut out);
    assert_eq!(words_of(&out[0]), [3 << 16 | 0b110_1100]);
}

#[test]
fn bulk_copies_complete_the_phase_that_expects_their_bytes() {
    let source = kernel(
        2,
        ".shared .align 16 .b8 s[64]; .shared .align 8 .b64 m; mov.u32 %r0, s; mov.u32 %r1, m; mov.u32 %r9, 0;
         mbarrier.init.shared.b64 [%r1], 1; fence.mbarrier_init.release.cluster;
         mbarrier.arrive.expect_tx.shared.b64 %d0, [%r1], 64;
         mbarrier.try_wait.shared.b64 %p0, [%r1], %d0; @%p0 or.b32 %r9, %r9, 1;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%a0], 48, [%r1];
         mbarrier.try_wait.shared.b64 %p0, [%r1], %d0; @%p0 or.b32 %r9, %r9, 2;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0+48], [%a0+48], 16, [%r1];
         mbarrier.try_wait.shared.b64 %p0, [%r1], %d0, 1000; @%p0 or.b32 %r9, %r9, 4;
         ld.shared.u32 %r2, [%r0+60]; add.u32 %r2, %r2, 1; st.shared.u32 [%r0+60], %r2;
         fence.proxy.async.shared::cta;
         cp.async.bulk.global.shared::cta.bulk_group [%a1], [%r0], 64;
         cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
         st.global.u32 [%a1+64], %r9;",
    );
    let given: Vec<u32> = (100..116).collect();
    let mut buffers = [bytes_of(&given), vec![0; 68]];
    run(&source, (1, 1), &mut buffers);
    let mut want = given;
    want[15] += 1;
    want.push(4);
    assert_eq!(words_of(&buffers[1]), want);
}

#[test]
fn one_warp_waits_at_a_barrier_in_memory_for_what_another_copies() {
    // Warp 1 copies, each thread a word, and arrives when its copy has; warp 0 waits
    // for 32 arrivals and reads what another thread copied.
    let source = kernel(
        2,
        ".shared .align 8 .b64 m; .shared .align 16 .b8 s[128];
         mov.u32 %r0, m; mov.u32 %r1, s; mov.u32 %r2, %tid.x; setp.eq.u32 %p0, %r2, 0;
         @%p0 mbarrier.init.shared.b64 [%r0], 32; bar.sync 0;
         and.b32 %r3, %r2, 31; shl.b32 %r4, %r3, 2; cvt.u64.u32 %d0, %r4; add.u64 %d1, %a0, %d0; add.u32 %r5, %r1, %r4;
         setp.lt.u32 %p1, %r2, 32; @%p1 bra reader;
         cp.async.ca.shared.global [%r5], [%d1], 4;
         cp.async.mbarrier.arrive.noinc.shared.b64 [%r0];
         bra done;
         reader: mbarrier.try_wait.parity.shared.b64 %p2, [%r0], 0; @!%p2 bra reader;
         xor.b32 %r5, %r5, 4; ld.shared.u32 %r6, [%r5]; add.u64 %d2, %a1, %d0; st.global.u32 [%d2], %r6;
         done:",
    );
    let given: Vec<u32> = (0..32).map(|i| 7 * i + 1).collect();
    let mut buffers = [bytes_of(&given), vec![0; 128]];
    run(&source, (1, 64), &mut buffers);
    let want: Vec<u32> = (0..32).map(|i| given[i ^ 1]).collect();
    assert_eq!(words_of(&buffers[1]), want);
    // Who does not wait races.
    let hasty = source.replace("@!%p2 bra reader;", "");
    let mut buffers = [bytes_of(&given), vec![0; 128]];
    let kind = fault(&hasty, (1, 64), &mut buffers).kind;
    assert!(
        matches!(kind, FaultKind::UninitialisedMemory | FaultKind::SharedRace),
        "{kind}"
    );
}
