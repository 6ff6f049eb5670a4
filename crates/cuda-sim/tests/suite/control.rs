//! Branches, calls, counts, limits, and what is not understood.

use crate::common::{device_with, fault, kernel, launch_on, module, not_known, run, words_of};
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Class, Device, DeviceConfig, FaultKind, Grid, LoadError};

fn threads(body: &str, count: u32) -> Vec<u32> {
    let source = kernel(
        1,
        &format!(
            "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0;
             {body} st.global.u32 [%d1], %r3;"
        ),
    );
    let mut out = [vec![0; 4 * count as usize]];
    run(&source, (1, count), &mut out);
    words_of(&out[0])
}

#[test]
fn loops_of_different_length_end_for_each_lane_and_meet_again() {
    let out = threads(
        "mov.u32 %r1, %r0; mov.u32 %r3, 0;
         again: setp.eq.u32 %p0, %r1, 0; @%p0 bra out; add.u32 %r3, %r3, %r1; sub.u32 %r1, %r1, 1;
         and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra again; add.u32 %r3, %r3, 1000; bra again;
         out: vote.sync.ballot.b32 %r4, 1, -1; setp.eq.u32 %p2, %r4, -1; @!%p2 trap;",
        32,
    );
    let want: Vec<u32> = (0..32u32)
        .map(|n| n * n.saturating_sub(1) / 2 + n + 1000 * (n / 2))
        .collect();
    assert_eq!(out, want);
}

#[test]
fn lanes_meet_right_behind_a_condition() {
    let source = kernel(
        1,
        "mov.u32 %r0, %laneid; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra even;
         mov.u32 %r3, 1; bra join;
         even: mov.u32 %r3, 2;
         join: add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1;",
    );
    let counts = run(&source, (1, 32), &mut [vec![0; 4]]).counts;
    assert_eq!((counts.branches, counts.divergent_branches), (1, 1));
    // The three additions run once, with all lanes: and, setp and they are integer.
    let integer = counts.class(Class::Integer);
    assert_eq!((integer.warps, integer.lanes), (5, 160));
    let moves = counts.class(Class::Move);
    assert_eq!((moves.warps, moves.lanes), (3, 64));
}

#[test]
fn jump_tables_take_each_lane_to_its_case() {
    let out = threads(
        "and.b32 %r1, %r0, 3; table: .branchtargets L0, L1, L2, L1; brx.idx %r1, table;
         L0: mov.u32 %r3, 100; bra join;
         L1: mov.u32 %r3, 101; bra join;
         L2: mov.u32 %r3, 102;
         join:",
        32,
    );
    let want: Vec<u32> = (0..32).map(|i| [100, 101, 102, 101][i % 4]).collect();
    assert_eq!(out, want);
    let wrong = kernel(
        1,
        "mov.u32 %r1, %laneid; table: .branchtargets L0, L0; brx.idx %r1, table; L0:",
    );
    let found = fault(&wrong, (1, 32), &mut [vec![0; 4]]);
    assert_eq!(
        (found.kind, found.thread),
        (FaultKind::InvalidTarget, [2, 0, 0])
    );
}

#[test]
fn names_in_braces_hide_those_outside() {
    let out = threads(
        "mov.u32 %r3, 5;
         { .reg .u32 %r3; .reg .pred p; mov.u32 %r3, 9; setp.eq.u32 p, %r3, 9; @p bra L; trap; L: }
         { .reg .u32 t; mov.u32 t, %r3; L: add.u32 t, t, 1; setp.lt.u32 %p0, t, 20; @%p0 bra L; mov.u32 %r3, t; }",
        4,
    );
    assert_eq!(out, [20; 4]);
}

#[test]
fn guarded_calls_returns_and_exits_concern_their_lanes_only() {
    let source = module(
        ".func (.reg .u32 out) half(.reg .u32 x, .reg .u32 y)
         { .reg .pred p; setp.lt.u32 p, x, 10; mov.u32 out, y; @p ret; add.u32 out, x, y; ret; }
         .visible .entry k(.param .u64 a) { .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<4>;
         ld.param.u64 %d0, [a]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;
         setp.ge.u32 %p0, %r0, 28; @%p0 exit; setp.lt.u32 %p1, %r0, 20; mov.u32 %r1, 3;
         @%p1 call (%r1), half, (%r0, 1000); st.global.u32 [%d1], %r1; ret; }",
    );
    let mut out = [vec![0; 128]];
    run(&source, (1, 32), &mut out);
    let want: Vec<u32> = (0..32)
        .map(|i| match i {
            0..10 => 1000,
            10..20 => 1000 + i,
            20..28 => 3,
            _ => 0,
        })
        .collect();
    assert_eq!(words_of(&out[0]), want);
}

const FACTORIAL: &str = ".func (.param .b32 out) factorial(.param .b32 n)
     { .reg .b32 %r<5>; .reg .pred %p; .local .b32 keep; ld.param.b32 %r0, [n]; setp.gt.u32 %p, %r0, 1;
       mov.u32 %r2, 1; @!%p bra done; st.local.u32 [keep], %r0; sub.u32 %r1, %r0, 1;
       { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call.uni (q), factorial, (p); ld.param.b32 %r2, [q]; }
       ld.local.u32 %r3, [keep]; mul.lo.u32 %r2, %r2, %r3;
       done: st.param.b32 [out], %r2; ret; }";

#[test]
fn functions_may_call_themselves_to_a_different_depth_in_each_lane() {
    let source = module(&format!(
        "{FACTORIAL}
         .visible .entry k(.param .u64 a) {{ .reg .b64 %d<9>; .reg .b32 %r<9>;
         ld.param.u64 %d0, [a]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;
         {{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; call.uni (q), factorial, (p); ld.param.b32 %r1, [q]; }}
         st.global.u32 [%d1], %r1; ret; }}"
    ));
    let mut out = [vec![0; 128]];
    run(&source, (1, 32), &mut out);
    let want: Vec<u32> = (0..32u32)
        .map(|n| (1..=n).fold(1u32, u32::wrapping_mul))
        .collect();
    assert_eq!(words_of(&out[0]), want);
}

#[test]
fn endless_recursion_overflows_the_stack() {
    let source = module(
        ".func f() { call.uni f; ret; }
         .visible .entry k(.param .u64 a) { call.uni f; ret; }",
    );
    assert_eq!(
        fault(&source, (1, 1), &mut [vec![0; 4]]).kind,
        FaultKind::StackOverflow
    );
}

#[test]
fn calls_through_pointers_go_to_each_lanes_function() {
    let text = |pointer: &str| {
        module(&format!(
            ".func (.param .b32 r) one(.param .b32 x) {{ .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }}
             .func (.param .b32 r) two(.param .b32 x) {{ .reg .b32 %r; ld.param.b32 %r, [x]; mul.lo.u32 %r, %r, 2; st.param.b32 [r], %r; ret; }}
             .visible .entry k(.param .u64 a) {{ .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p;
             ld.param.u64 %d0, [a]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;
             mov.u64 %d2, one; mov.u64 %d3, two; setp.lt.u32 %p, %r0, 7; selp.b64 %d4, %d2, %d3, %p; {pointer}
             proto: .callprototype (.param .b32 _) _ (.param .b32 _);
             {{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; call (q), %d4, (p), proto; ld.param.b32 %r1, [q]; }}
             st.global.u32 [%d1], %r1; ret; }}"
        ))
    };
    let mut out = [vec![0; 128]];
    run(&text(""), (1, 32), &mut out);
    let want: Vec<u32> = (0..32).map(|i| if i < 7 { i + 1 } else { 2 * i }).collect();
    assert_eq!(words_of(&out[0]), want);
    let found = fault(&text("add.u64 %d4, %d4, 1;"), (1, 32), &mut [vec![0; 128]]);
    assert_eq!(found.kind, FaultKind::InvalidTarget);
}

#[test]
fn products_are_counted_once_however_they_are_written() {
    let count = |body: &str| {
        let body =
            format!("mov.u32 %r0, 3; mov.u32 %r1, 5; mov.u32 %r2, 7; mov.u64 %d0, 9; {body}");
        let counts = run(&kernel(0, &body), (1, 32), &mut []).counts;
        assert_eq!(
            (counts.multiply_adds % 32, counts.multiply_lows % 32),
            (0, 0)
        );
        (counts.multiply_adds / 32, counts.multiply_lows / 32)
    };
    assert_eq!(count("mul.wide.u32 %d1, %r0, %r1;"), (1, 0));
    assert_eq!(count("mad.wide.u32 %d1, %r0, %r1, %d0;"), (1, 0));
    assert_eq!(count("mul.lo.u32 %r3, %r0, %r1;"), (0, 1));
    assert_eq!(count("mul.hi.u32 %r3, %r0, %r1;"), (1, 0));
    // The halves of one product, in either order of factors.
    assert_eq!(
        count("mad.lo.cc.u32 %r3, %r0, %r1, %r2; madc.hi.u32 %r4, %r1, %r0, %r2;"),
        (1, 0)
    );
    assert_eq!(
        count("mul.hi.u32 %r3, %r0, %r1; mul.lo.u32 %r4, %r0, %r1;"),
        (1, 0)
    );
    // A factor that changes in between makes them two.
    assert_eq!(
        count("mul.lo.u32 %r3, %r0, %r1; add.u32 %r0, %r0, 1; mul.hi.u32 %r4, %r0, %r1;"),
        (1, 1)
    );
    // Two low halves and one high half.
    assert_eq!(
        count("mul.lo.u32 %r3, %r0, %r1; mul.lo.u32 %r5, %r0, %r1; mul.hi.u32 %r4, %r0, %r1;"),
        (1, 1)
    );
    assert_eq!(count("mul.lo.u64 %d1, %d0, %d0;"), (1, 2));
    assert_eq!(count("mul.hi.u64 %d1, %d0, %d0;"), (4, 0));
    assert_eq!(
        count("mul.lo.u64 %d1, %d0, %d0; mul.hi.u64 %d2, %d0, %d0;"),
        (4, 0)
    );
    // Only lanes that take part count.
    let body = "mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 5; @%p0 mul.wide.u32 %d1, %r0, %r0;";
    let counts = run(&kernel(0, body), (1, 32), &mut []).counts;
    assert_eq!(counts.multiply_adds, 5);
}

#[test]
fn sectors_are_counted_with_the_fewest_possible() {
    let count = |stride: u32, width: &str, bytes: usize| {
        let regs = match width {
            "v4.u32" => "{%r1, %r2, %r3, %r4}",
            _ => "%r1",
        };
        let source = kernel(
            1,
            &format!(
                "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, {stride}; add.u64 %d1, %a0, %d0;
                 ld.global.{width} {regs}, [%d1];"
            ),
        );
        let counts = run(&source, (1, 32), &mut [vec![0; bytes]]).counts;
        assert_eq!((counts.store_sectors, counts.store_sectors_fewest), (0, 0));
        (counts.load_sectors, counts.load_sectors_fewest)
    };
    assert_eq!(count(4, "u32", 128), (4, 4));
    assert_eq!(count(0, "u32", 128), (1, 1));
    assert_eq!(count(8, "u32", 256), (8, 4));
    assert_eq!(count(128, "u32", 4096), (32, 4));
    assert_eq!(count(16, "v4.u32", 512), (16, 16));
    assert_eq!(count(1, "u8", 128), (1, 1));
}

/// Loads and stores of limbs `0 .. 8` of numbers of `stride` bytes, one to a lane, so many rounds.
fn limb_by_limb(access: &str, stride: usize, rounds: usize) -> String {
    let each: String = (0..8)
        .map(|limb| {
            let at = format!("[%d1+{}]", 4 * limb);
            match access.starts_with("ld") {
                true => format!("{access}.u32 %r1, {at};"),
                false => format!("{access}.u32 {at}, %r0;"),
            }
        })
        .collect();
    let rounds = each.repeat(rounds);
    kernel(
        1,
        &format!(
            "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, {stride}; add.u64 %d1, %a0, %d0; {rounds}"
        ),
    )
}

#[test]
fn sectors_that_a_warp_has_in_its_share_of_the_caches_move_once() {
    let count = |access, stride, threads| {
        let source = limb_by_limb(access, stride, 1);
        let memory = vec![0; stride * threads as usize];
        run(&source, (1, threads), &mut [memory]).counts
    };
    // A sector to a lane, of which each load asks for a limb.
    let counts = count("ld.global", 32, 32);
    assert_eq!((counts.load_sectors, counts.load_sectors_moved), (256, 32));
    let counts = count("st.global", 32, 32);
    assert_eq!(
        (counts.store_sectors, counts.store_sectors_moved),
        (256, 32)
    );
    assert_eq!(counts.sectors_moved(), 32);
    // Ordered with other blocks: past the cache.
    let counts = count("ld.volatile.global", 32, 32);
    assert_eq!(counts.load_sectors_moved, 256);
    // Every other number begins within a sector.
    let counts = count("ld.global", 48, 64);
    assert_eq!(counts.load_sectors_moved, 64 * 48 / 32);
    // A line to a lane: a warp has more where blocks have one warp, and fewer where a
    // multiprocessor is full of threads.
    let counts = count("ld.global", 128, 32);
    assert_eq!(counts.load_sectors_moved, 32);
    let counts = count("ld.global", 256, 1024);
    assert!(counts.load_sectors_moved > 1024);
}

#[test]
fn a_block_finds_nothing_that_another_has_loaded() {
    let source = limb_by_limb("ld.global", 32, 2);
    let counts = run(&source, (3, 32), &mut [vec![0; 32 * 32]]).counts;
    assert_eq!(counts.load_sectors, 3 * 2 * 256);
    assert_eq!(counts.load_sectors_moved, 3 * 32);
}

#[test]
fn bank_conflicts_are_passes_beyond_the_fewest() {
    let count = |stride: u32, width: &str| {
        let regs = match width {
            "v4.u32" => "{%r1, %r1, %r1, %r1}",
            "v2.u32" => "{%r1, %r1}",
            _ => "%r1",
        };
        let source = kernel(
            0,
            &format!(
                ".shared .align 16 .b8 m[8192]; mov.u32 %r0, %tid.x; mov.u32 %r1, m;
                 mad.lo.u32 %r2, %r0, {stride}, %r1; mov.u32 %r1, 0; st.shared.{width} [%r2], {regs};"
            ),
        );
        let device = device_with(Checks {
            races: false,
            ..Checks::ALL
        });
        let counts = launch_on(&device, &source, (1, 32), &mut [])
            .unwrap()
            .counts;
        (counts.shared_wavefronts, counts.bank_conflicts())
    };
    assert_eq!(count(4, "u32"), (1, 0));
    assert_eq!(count(0, "u32"), (1, 0));
    assert_eq!(count(8, "u32"), (2, 1));
    assert_eq!(count(128, "u32"), (32, 31));
    assert_eq!(count(132, "u32"), (1, 0));
    assert_eq!(count(8, "v2.u32"), (2, 0));
    assert_eq!(count(16, "v4.u32"), (4, 0));
}

#[test]
fn counts_are_the_same_on_every_run_and_with_every_check() {
    let source = kernel(
        1,
        "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; and.b32 %r2, %r0, 7; mul.lo.u32 %r2, %r2, %r1;
         again: setp.lt.u32 %p0, %r2, 5; @%p0 bra out; sub.u32 %r2, %r2, 5; bra again; out:
         mad.lo.u32 %r3, %r0, 64, %r1; mul.wide.u32 %d0, %r3, 4; add.u64 %d1, %a0, %d0; st.global.u32 [%d1], %r2;",
    );
    let count = |checks| {
        let device = device_with(checks);
        let report = launch_on(&device, &source, (300, 64), &mut [vec![0; 4 * 300 * 64]]);
        report.unwrap().counts
    };
    let first = count(Checks::ALL);
    assert_eq!(first, count(Checks::ALL));
    assert_eq!(first, count(Checks::NONE));
    assert!(first.active_lanes() < 1.0 && first.active_lanes() > 0.3);
    assert_eq!(first.store_sectors, 300 * 8);
}

/// An assembler spills rather than build a kernel that cannot be launched as it is bound.
#[test]
fn a_bound_on_threads_bounds_the_registers_of_a_thread() {
    let loads: String = (0..100)
        .map(|i| format!("ld.global.u32 %r{i}, [%d0+{}];", 4 * i))
        .collect();
    let stores: String = (0..100)
        .map(|i| format!("st.global.u32 [%d0+{}], %r{};", 4 * i, 99 - i))
        .collect();
    let body = format!(
        "{{ .reg .b32 %r<100>; .reg .b64 %d0; ld.param.u64 %d0, [p]; {loads}{stores} ret; }}"
    );
    let registers = |bound: &str| {
        let source = module(&format!(".visible .entry k(.param .u64 p) {bound} {body}"));
        let module = Module::parse(&source).unwrap();
        module.kernel("k").unwrap().registers
    };
    assert!(registers("") > 100);
    assert_eq!(registers(".maxntid 512, 1, 1"), registers(""));
    assert_eq!(registers(".maxntid 1024, 1, 1"), 64);
    assert_eq!(registers(".reqntid 32, 32, 1"), 64);
}

#[test]
fn launches_keep_to_the_limits_of_the_architecture() {
    let source = module(
        ".visible .entry k() { ret; }
         .visible .entry small() .maxntid 64, 1, 1 { ret; }
         .visible .entry exact() .reqntid 32, 2, 1 { ret; }
         .visible .entry large() { .reg .b32 %r; .shared .b8 m[40000]; mov.u32 %r, m; ret; }",
    )
    .replace("sm_90", "sm_75");
    let module = Module::parse(&source).unwrap();
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_75,
        ..DeviceConfig::default()
    });
    let loaded = device.load(&module).unwrap();
    let launch = |kernel: &str, grid: [u32; 3], block: [u32; 3], shared_bytes: u32| {
        let grid = Grid {
            grid,
            block,
            shared_bytes,
        };
        device
            .launch(&loaded, kernel, grid, &[])
            .map(|_| ())
            .map_err(|fault| fault.kind)
    };
    let too_large = Err(FaultKind::LaunchTooLarge);
    assert_eq!(launch("k", [1, 1, 1], [1024, 1, 1], 65536), Ok(()));
    assert_eq!(launch("k", [1, 1, 1], [1024, 1, 1], 65537), too_large);
    assert_eq!(launch("k", [1, 1, 1], [1025, 1, 1], 0), too_large);
    assert_eq!(launch("k", [1, 1, 1], [32, 32, 2], 0), too_large);
    assert_eq!(launch("k", [1, 1, 1], [1, 1, 64], 0), Ok(()));
    assert_eq!(launch("k", [1, 1, 1], [1, 1, 65], 0), too_large);
    assert_eq!(launch("k", [1, 65535, 1], [1, 1, 1], 0), Ok(()));
    assert_eq!(launch("k", [1, 65536, 1], [1, 1, 1], 0), too_large);
    assert_eq!(launch("k", [0, 1, 1], [1, 1, 1], 0), too_large);
    assert_eq!(launch("small", [1, 1, 1], [65, 1, 1], 0), too_large);
    assert_eq!(launch("exact", [1, 1, 1], [32, 2, 1], 0), Ok(()));
    assert_eq!(launch("exact", [1, 1, 1], [64, 1, 1], 0), too_large);
    assert_eq!(launch("large", [1, 1, 1], [1, 1, 1], 25536), Ok(()));
    assert_eq!(launch("large", [1, 1, 1], [1, 1, 1], 25537), too_large);
    assert_eq!(
        launch("none", [1, 1, 1], [1, 1, 1], 0),
        Err(FaultKind::InvalidLaunch)
    );
    let newer = Module::parse(&source.replace("sm_75", "sm_90")).unwrap();
    assert!(matches!(
        device.load(&newer),
        Err(LoadError::TargetTooNew { device: 75, .. })
    ));
    // What is for one architecture, no later one takes.
    let own = Module::parse(&source.replace("sm_75", "sm_70a")).unwrap();
    assert!(device.load(&own).is_err());
}

#[test]
fn what_is_not_understood_is_an_error_that_names_the_line() {
    let check = |body: &str, words: &str| {
        let source = kernel(1, &format!("mov.u32 %r0, 1;\n{body}"));
        let error = not_known(&source);
        let line = source.lines().position(|line| line == body).unwrap() + 1;
        assert_eq!(error.line as usize, line, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    check(
        "frobnicate.u32 %r0, %r0;",
        "unknown opcode `frobnicate.u32`",
    );
    check("add.odd.u32 %r0, %r0, %r0;", "unknown modifier `.odd`");
    check("add.u32 %r0, %r0;", "2 operands, expected 3");
    check("add.u32 %r0, %nowhere, 1;", "`%nowhere` is not declared");
    check(
        "add.u32 %r0, %d0, 1;",
        "`%d0` has 64 bits where 32 are wanted",
    );
    check(
        "div.rn.f16 %h0, %h0, %h0;",
        "type that is missing or not supported",
    );
    check("bra nowhere;", "`nowhere` is no label");
    check("ld.param.u32 %r0, [p0+8];", "outside the parameters");
    check("fma.f32 %f0, %f0, %f0, %f0;", "rounding mode is missing");
    check("shfl.down.b32 %r0, %r0, 1, 31;", "unknown opcode");
    check("call missing, (%r0);", "`missing` is no function");
    check("cvt.f32.u32 %f0, %r0;", "rounding mode is missing");
    check("tcgen05.fence::before_thread_sync;", "unknown opcode");
}

#[test]
fn what_nvcc_adds_for_debuggers_and_linkers_is_passed_over() {
    let source = ".version 8.3\n.target sm_90a, debug\n.address_size 64\n
        .file 1 \"kernel.cu\"\n.extern .func (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 vprintf_param_0,\n\t.param .b64 vprintf_param_1\n)\n;\n
        .weak .func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)\n{\n\t.reg .b32 %r<3>;\n\t.loc 1 3 0\n
        ld.param.u32 %r1, [twice_param_0];\n\tshl.b32 %r2, %r1, 1;\n\tst.param.b32 [func_retval0+0], %r2;\n\tret;\n}\n
        .visible .entry k(\n\t.param .u64 k_param_0\n)\n.maxntid 256, 1, 1\n.minnctapersm 2\n{\n\t.reg .pred %p<2>;\n\t.reg .b16 %rs<2>;\n\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<5>;\n
        .loc 1 9 5, function_name $L__info_string0, inlined_at 1 12 3\n\tld.param.u64 \t%rd1, [k_param_0];\n\tcvta.to.global.u64 \t%rd2, %rd1;\n
        mov.u32 \t%r1, %tid.x;\n\t{ // callseq 0, 0\n\t.reg .b32 temp_param_reg;\n\t.param .b32 param0;\n\tst.param.b32 \t[param0+0], %r1;\n\t.param .b32 retval0;\n
        call.uni (retval0), \n\ttwice, \n\t(\n\tparam0\n\t);\n\tld.param.b32 \t%r2, [retval0+0];\n\t} // callseq 0\n
        mul.wide.s32 \t%rd3, %r1, 4;\n\tadd.s64 \t%rd4, %rd2, %rd3;\n\t.pragma \"nounroll\";\n\tst.global.u32 \t[%rd4], %r2;\n\tret;\n\n}\n
        .section\t.debug_str\n{\n$L__info_string0:\n.b8 107,101,0\n}\n";
    let mut out = [vec![0; 128]];
    run(source, (1, 32), &mut out);
    let want: Vec<u32> = (0..32).map(|i| 2 * i).collect();
    assert_eq!(words_of(&out[0]), want);
}
