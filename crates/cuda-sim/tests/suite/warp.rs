//! What the lanes of a warp and the threads of a block do together.

use crate::common::{kernel, run, words_of};
use cuda_sim::Report;

/// Runs one block of threads whose result is left in `%r3`.
fn results(threads: u32, body: &str) -> (Vec<u32>, Report) {
    let source = kernel(
        1,
        &format!(
            "mov.u32 %r0, %tid.x; mov.u32 %r1, %laneid; mul.wide.u32 %d0, %r0, 4;
             add.u64 %d1, %a0, %d0; setp.lt.u32 %p0, %r1, 13;
             {body}
             st.global.u32 [%d1], %r3;"
        ),
    );
    let mut out = [vec![0; 4 * threads as usize]];
    let report = run(&source, (1, threads), &mut out);
    (words_of(&out[0]), report)
}

fn lanes(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(f).collect()
}

#[test]
fn shuffles_read_the_lane_that_the_manual_says() {
    let check = |body: &str, want: &dyn Fn(u32) -> u32| {
        let body = format!("mul.lo.u32 %r2, %r1, 100; {body}");
        assert_eq!(results(32, &body).0, lanes(want), "{body}");
    };
    check("shfl.sync.idx.b32 %r3, %r2, 5, 31, -1;", &|_| 500);
    check(
        "add.u32 %r4, %r1, 1; shfl.sync.idx.b32 %r3, %r2, %r4, 31, -1;",
        &|i| (i + 1) % 32 * 100,
    );
    // Segments of eight lanes: the upper bits of the lane stay.
    check("shfl.sync.idx.b32 %r3, %r2, 3, 0x181f, -1;", &|i| {
        (i / 8 * 8 + 3) * 100
    });
    check("shfl.sync.bfly.b32 %r3, %r2, 5, 31, -1;", &|i| {
        (i ^ 5) * 100
    });
    check(
        "shfl.sync.up.b32 %r3, %r2, 2, 0, -1;",
        &|i| if i < 2 { i } else { i - 2 } * 100,
    );
    check(
        "shfl.sync.up.b32 %r3, %r2, 2, 0x1800, -1;",
        &|i| if i % 8 < 2 { i } else { i - 2 } * 100,
    );
    check(
        "shfl.sync.down.b32 %r3, %r2, 3, 31, -1;",
        &|i| if i > 28 { i } else { i + 3 } * 100,
    );
    check(
        "shfl.sync.down.b32 %r3|%p1, %r2, 3, 0x1807, -1; selp.u32 %r3, 1, 0, %p1;",
        &|i| u32::from(i % 8 < 5),
    );
}

#[test]
fn votes_and_matches_count_members_only() {
    let check = |body: &str, want: &dyn Fn(u32) -> u32| {
        assert_eq!(results(32, body).0, lanes(want), "{body}");
    };
    check("vote.sync.ballot.b32 %r3, %p0, -1;", &|_| 0x1fff);
    check("vote.sync.ballot.b32 %r3, !%p0, -1;", &|_| !0x1fff);
    check(
        "vote.sync.any.pred %p1, %p0, -1; selp.u32 %r3, 1, 0, %p1;",
        &|_| 1,
    );
    check(
        "vote.sync.all.pred %p1, %p0, -1; selp.u32 %r3, 1, 0, %p1;",
        &|_| 0,
    );
    check(
        "vote.sync.uni.pred %p1, %p0, -1; selp.u32 %r3, 1, 0, %p1;",
        &|_| 0,
    );
    // Groups of four lanes vote apart.
    check(
        "and.b32 %r4, %r1, 28; shl.b32 %r5, 15, %r4; vote.sync.ballot.b32 %r3, %p0, %r5;",
        &|i| (15 << (i / 4 * 4)) & 0x1fff,
    );
    check(
        "and.b32 %r4, %r1, 28; shl.b32 %r5, 15, %r4; vote.sync.uni.pred %p1, %p0, %r5; selp.u32 %r3, 1, 0, %p1;",
        &|i| u32::from(i / 4 != 3),
    );
    check(
        "and.b32 %r4, %r1, 3; match.sync.any.b32 %r3, %r4, -1;",
        &|i| 0x1111_1111 << (i % 4),
    );
    check(
        "cvt.u64.u32 %d2, %r1; match.sync.any.b64 %r3, %d2, -1;",
        &|i| 1 << i,
    );
    check(
        "match.sync.all.b32 %r3|%p1, 7, -1; @!%p1 mov.u32 %r3, 1;",
        &|_| u32::MAX,
    );
    check(
        "match.sync.all.b32 %r3|%p1, %r1, -1; @%p1 mov.u32 %r3, 1;",
        &|_| 0,
    );
    check("elect.sync %r3|%p1, -1; @%p1 add.u32 %r3, %r3, 9;", &|i| {
        if i == 0 { 9 } else { 0 }
    });
}

#[test]
fn reductions_over_a_warp() {
    let check = |body: &str, want: u32| {
        let body = format!("sub.u32 %r2, %r1, 16; {body}");
        assert_eq!(results(32, &body).0, lanes(|_| want), "{body}");
    };
    check("redux.sync.add.u32 %r3, %r1, -1;", 31 * 16);
    check("redux.sync.min.s32 %r3, %r2, -1;", -16i32 as u32);
    check("redux.sync.max.s32 %r3, %r2, -1;", 15);
    check("redux.sync.min.u32 %r3, %r2, -1;", 0);
    check("redux.sync.max.u32 %r3, %r2, -1;", u32::MAX);
    check("redux.sync.and.b32 %r3, %r2, -1;", 0);
    check("redux.sync.or.b32 %r3, %r2, -1;", u32::MAX);
    check("redux.sync.xor.b32 %r3, %r1, -1;", 0);
}

#[test]
fn barriers_reduce_predicates_over_the_block() {
    let (out, report) = results(
        96,
        "setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r3, 0, %p1;",
    );
    assert_eq!(out, vec![40; 96]);
    assert_eq!(report.counts.barriers, 1);
    let body = |kind: &str| {
        format!(
            "setp.lt.u32 %p1, %r0, 40; bar.red.{kind}.pred %p2, 0, %p1; selp.u32 %r3, 1, 0, %p2;"
        )
    };
    assert_eq!(results(96, &body("and")).0, vec![0; 96]);
    assert_eq!(results(96, &body("or")).0, vec![1; 96]);
}

#[test]
fn one_warp_arrives_where_another_waits() {
    // The first warp writes and arrives, the second waits and reads.
    let (out, _) = results(
        64,
        ".shared .u32 m[32]; mov.u32 %r3, 0; mov.u32 %r5, m; mad.lo.u32 %r5, %r1, 4, %r5;
         setp.lt.u32 %p1, %r0, 32; @%p1 bra write;
         bar.sync 1, 64; ld.shared.u32 %r3, [%r5]; bra join;
         write: st.shared.u32 [%r5], %r0; bar.arrive 1, 64;
         join:",
    );
    let want: Vec<u32> = (0..64).map(|i: u32| i.saturating_sub(32)).collect();
    assert_eq!(out, want);
}

#[test]
fn lanes_in_different_branches_can_meet_at_a_barrier_that_is_not_aligned() {
    let (out, _) = results(
        32,
        "@%p0 bra low; mov.u32 %r3, 2; barrier.sync 0; bra join;
         low: mov.u32 %r3, 1; barrier.sync 0;
         join: bar.warp.sync -1;",
    );
    assert_eq!(out, lanes(|i| if i < 13 { 1 } else { 2 }));
    // bar.warp.sync in both branches names all lanes.
    let (out, _) = results(
        32,
        "@%p0 bra low; mov.u32 %r3, 2; bar.warp.sync -1; bra join;
         low: mov.u32 %r3, 1; bar.warp.sync -1;
         join:",
    );
    assert_eq!(out, lanes(|i| if i < 13 { 1 } else { 2 }));
}

#[test]
fn special_registers_say_who_and_where() {
    let check = |body: &str, want: &dyn Fn(u32) -> u32| {
        assert_eq!(results(32, body).0, lanes(want), "{body}");
    };
    check("mov.u32 %r3, %lanemask_eq;", &|i| 1 << i);
    check("mov.u32 %r3, %lanemask_lt;", &|i| (1 << i) - 1);
    check("mov.u32 %r3, %lanemask_le;", &|i| u32::MAX >> (31 - i));
    check("mov.u32 %r3, %lanemask_gt;", &|i| !(u32::MAX >> (31 - i)));
    check("mov.u32 %r3, %lanemask_ge;", &|i| u32::MAX << i);
    check("mov.u32 %r3, 0; @%p0 activemask.b32 %r3;", &|i| {
        if i < 13 { 0x1fff } else { 0 }
    });
    check("mov.u32 %r3, WARP_SZ;", &|_| 32);
    check(
        "mov.u32 %r4, %nwarpid; mov.u32 %r5, %warpid; sub.u32 %r3, %r4, %r5;",
        &|_| 1,
    );
    check(
        "mov.u32 %r4, %nsmid; mov.u32 %r5, %smid; setp.lt.u32 %p1, %r5, %r4; selp.u32 %r3, 1, 0, %p1;",
        &|_| 1,
    );
    check(
        "mov.u64 %d2, %gridid; setp.ne.u64 %p1, %d2, 0; selp.u32 %r3, 1, 0, %p1;",
        &|_| 1,
    );
    check(
        "mov.u32 %r4, %clock; mov.u64 %d2, %clock64; cvt.u32.u64 %r5, %d2; setp.gt.u32 %p1, %r5, %r4; selp.u32 %r3, 1, 0, %p1;",
        &|_| 1,
    );
    check("mov.u32 %r3, %dynamic_smem_size;", &|_| 0);
    check(
        ".shared .u32 m[5]; mov.u32 %r4, m; mov.u32 %r3, %total_smem_size;",
        &|_| 20,
    );
}

#[test]
fn threads_and_blocks_are_numbered_along_three_axes() {
    let source = kernel(
        1,
        "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
         mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z;
         mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ctaid.z;
         mov.u32 %r9, %nctaid.x; mov.u32 %r10, %nctaid.y;
         mad.lo.u32 %r11, %r8, %r10, %r7; mad.lo.u32 %r11, %r11, %r9, %r6;
         mad.lo.u32 %r12, %r11, %r5, %r2; mad.lo.u32 %r12, %r12, %r4, %r1; mad.lo.u32 %r12, %r12, %r3, %r0;
         mul.wide.u32 %d0, %r12, 4; add.u64 %d1, %a0, %d0;
         mad.lo.u32 %r13, %r11, 1000, %r0; mad.lo.u32 %r13, %r1, 10, %r13; mad.lo.u32 %r13, %r2, 100, %r13;
         st.global.u32 [%d1], %r13;",
    );
    let grid = cuda_sim::Grid {
        grid: [2, 3, 2],
        block: [5, 3, 4],
        shared_bytes: 0,
    };
    let mut out = [vec![0; 4 * 12 * 60]];
    run(&source, grid, &mut out);
    let mut want = Vec::new();
    for block in 0..12 {
        for z in 0..4 {
            for y in 0..3 {
                for x in 0..5 {
                    want.push(1000 * block + 100 * z + 10 * y + x);
                }
            }
        }
    }
    assert_eq!(words_of(&out[0]), want);
}
