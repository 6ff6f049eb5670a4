//! Values that nobody defined: passed on freely, and a mistake where they decide something.

use crate::common::{bytes_of, device_with, fault, kernel, launch_on, module, run, words_of};
use cuda_sim::ptx::Module;
use cuda_sim::{Checks, Fault, FaultKind, Grid};

const GRID: Grid = Grid {
    grid: [1, 1, 1],
    block: [32, 1, 1],
    shared_bytes: 0,
};

/// Three bytes of a word of local memory, of which the fourth is padding; in `%r1`.
const PADDED: &str = ".local .align 8 .b8 m[16]; mov.u64 %d0, m; mov.u32 %r0, %laneid;
    st.local.u8 [%d0], %r0; st.local.u16 [%d0+2], 7; ld.local.u32 %r1, [%d0];";

/// Runs with a branch on whether `%r9` is zero.
fn deciding(body: &str) -> Result<(), Fault> {
    let source = kernel(
        1,
        &format!("{PADDED} {body} setp.eq.u32 %p0, %r9, 0; @%p0 bra over; over:"),
    );
    let device = device_with(Checks::ALL);
    launch_on(&device, &source, (1, 32), &mut [vec![0; 64]]).map(|_| ())
}

#[test]
fn bits_are_followed_one_by_one_through_what_moves_them() {
    for (body, well) in [
        ("mov.u32 %r9, %r1;", false),
        ("and.b32 %r9, %r1, 0xffff00ff;", true),
        ("and.b32 %r9, %r1, 0xff00;", false),
        ("or.b32 %r9, %r1, 0xff00;", true),
        ("or.b32 %r9, %r1, 0xfe00;", false),
        ("xor.b32 %r9, %r1, %r1;", true),
        ("not.b32 %r2, %r1; and.b32 %r9, %r2, 0xff;", true),
        ("lop3.b32 %r9, %r1, 0xffff00ff, 0, 0xc0;", true),
        ("lop3.b32 %r9, %r1, 0xffff00ff, 0, 0x3c;", false),
        ("shl.b32 %r9, %r1, 24;", true),
        ("shr.u32 %r9, %r1, 16;", true),
        ("shr.u32 %r9, %r1, 15;", false),
        ("bfe.u32 %r9, %r1, 16, 16;", true),
        ("bfe.s32 %r9, %r1, 0, 16;", false),
        ("bfi.b32 %r9, 5, %r1, 8, 8;", true),
        ("bfi.b32 %r9, 5, %r1, 9, 8;", false),
        ("prmt.b32 %r9, %r1, 0, 0x3320;", true),
        ("prmt.b32 %r9, %r1, 0, 0x3120;", false),
        ("cvt.u32.u8 %r9, %r1;", true),
        ("cvt.s32.s16 %r9, %r1;", false),
        ("mov.b32 {%h0, %h1}, %r1; cvt.u32.u16 %r9, %h1;", true),
        ("mov.b32 {%h0, %h1}, %r1; cvt.u32.u16 %r9, %h0;", false),
        ("mov.b64 %d1, {%r0, %r1}; cvt.u32.u64 %r9, %d1;", true),
        (
            "mov.b64 %d1, {%r0, %r1}; shr.u64 %d1, %d1, 40; cvt.u32.u64 %r9, %d1;",
            false,
        ),
        ("setp.eq.u32 %p1, %r0, 99; selp.u32 %r9, %r1, 3, %p1;", true),
        (
            "setp.eq.u32 %p1, %r0, 99; selp.u32 %r9, 3, %r1, %p1;",
            false,
        ),
        ("add.u32 %r2, %r1, 1; mov.u32 %r9, 1;", true),
        ("add.u32 %r2, %r1, 1; and.b32 %r9, %r2, 1;", false),
        ("shr.u32 %r9, 1024, %r1;", false),
        ("setp.eq.u32 %p1, %r1, 0; selp.u32 %r9, 1, 2, %p1;", false),
        (
            "setp.eq.u32 %p1, %r1, 0; and.pred %p1, %p1, 0; selp.u32 %r9, 1, 2, %p1;",
            true,
        ),
        ("add.cc.u32 %r2, %r1, 1; addc.u32 %r9, 0, 0;", false),
        ("add.cc.u32 %r2, %r0, 1; addc.u32 %r9, 0, 0;", true),
        (
            "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; and.b32 %r9, %r2, 0xff;",
            true,
        ),
        ("shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1;", false),
    ] {
        let found = deciding(body);
        assert_eq!(found.is_ok(), well, "{body} {found:?}");
        if let Err(fault) = found {
            assert_eq!(fault.kind, FaultKind::UninitialisedMemory, "{body} {fault}");
            assert!(fault.detail.contains("local memory at line"), "{fault}");
        }
    }
}

#[test]
fn what_decides_is_a_mistake_and_says_so() {
    for (body, why) in [
        ("@%p9 bra over; over:", "decides a branch"),
        (
            "@%p9 mov.u32 %r2, 3;",
            "decides whether the instruction runs",
        ),
        (
            "cvt.u64.u32 %d1, %r1; and.b64 %d1, %d1, 0x100; add.u64 %d1, %d1, %a0; ld.global.u32 %r2, [%d1];",
            "is an address",
        ),
        (
            "cvt.u64.u32 %d1, %r1; and.b64 %d1, %d1, 0x100; add.u64 %d1, %d1, %a0; st.global.u32 [%d1], 2;",
            "is an address",
        ),
        (
            "red.global.add.u32 [%a0], %r1;",
            "an atomic operation uses it",
        ),
        (
            "and.b32 %r2, %r1, 0x100; shfl.sync.idx.b32 %r3, %r0, %r2, 31, -1;",
            "chooses a lane",
        ),
        ("vote.sync.ballot.b32 %r2, %p9, -1;", "other lanes see"),
        ("match.any.sync.b32 %r2, %r1, -1;", "other lanes see"),
        (
            "and.b32 %r2, %r1, 0x100; ts: .branchtargets over; brx.idx %r2, ts; over:",
            "a jump's target",
        ),
    ] {
        let source = kernel(1, &format!("{PADDED} setp.gt.u32 %p9, %r1, 9; {body}"));
        let found = fault(&source, (1, 32), &mut [vec![0; 1024]]);
        assert_eq!(found.kind, FaultKind::UninitialisedMemory, "{body} {found}");
        assert!(found.detail.contains(why), "{body} {found}");
    }
}

#[test]
fn padding_is_copied_through_every_memory_and_every_call() {
    // A struct of a byte and a word, by registers, parameters and all spaces.
    let source = module(
        ".global .align 8 .b8 g[8];
         .func (.param .align 8 .b8 r[8]) pass(.param .align 8 .b8 s[8], .reg .b32 %x)
         { .reg .b64 %d; .reg .b32 %y; ld.param.b64 %d, [s]; mov.u32 %y, %x; st.param.b64 [r], %d; ret; }
         .visible .entry k(.param .u64 p)
         { .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p;
         .local .align 8 .b8 l[8]; .shared .align 8 .b8 s[8];
         mov.u32 %r0, %tid.x; setp.ne.u32 %p, %r0, 0; @%p ret;
         ld.param.u64 %d0, [p];
         st.local.u8 [l], 5; st.local.u32 [l+4], 6; ld.local.b64 %d1, [l];
         st.shared.b64 [s], %d1; ld.shared.b64 %d2, [s];
         st.global.b64 [g], %d2; ld.global.v2.u32 {%r1, %r2}, [g]; mov.b64 %d3, {%r1, %r2};
         { .param .align 8 .b8 a[8]; .param .align 8 .b8 b[8];
           st.param.b64 [a], %d3; call (b), pass, (a, %r1); ld.param.b64 %d4, [b]; }
         st.global.b64 [%d0], %d4;
         setp.eq.u32 %p, %r2, 6; @!%p trap;
         cvt.u32.u64 %r4, %d4; and.b32 %r4, %r4, 255; setp.eq.u32 %p, %r4, 5; @!%p trap;
         ret; }",
    );
    let device = device_with(Checks::ALL);
    let loaded = device.load(&Module::parse(&source).unwrap()).unwrap();
    let out = device.alloc(8).unwrap();
    device.fill(out, &[1], 8).unwrap();
    assert_eq!(device.first_unwritten(out, 8).unwrap(), None);
    let launched = device.launch(&loaded, "k", GRID, &out.to_le_bytes());
    launched.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(device.first_unwritten(out, 8).unwrap(), Some(out + 1));
    assert_eq!(device.first_unwritten(out + 4, 4).unwrap(), None);
    // Who looks at the padding is told, wherever it has been.
    let looks = source.replace("and.b32 %r4, %r4, 255", "and.b32 %r4, %r4, 511");
    let loaded = device.load(&Module::parse(&looks).unwrap()).unwrap();
    let found = device
        .launch(&loaded, "k", GRID, &out.to_le_bytes())
        .unwrap_err();
    assert_eq!(found.kind, FaultKind::UninitialisedMemory, "{found}");
    assert!(found.detail.contains("parameter"), "{found}");
}

#[test]
fn a_lane_that_is_told_apart_in_a_loop_is_followed_to_the_use() {
    // The word of lane 9 alone is missing, and the sum over all lanes has it.
    let source = |missing: u32| {
        kernel(
            1,
            &format!(
                ".shared .align 4 .b8 m[128]; mov.u32 %r0, %laneid; shl.b32 %r1, %r0, 2; mov.u32 %r2, m;
                 add.u32 %r1, %r1, %r2; setp.ne.u32 %p0, %r0, {missing}; @%p0 st.shared.u32 [%r1], %r0;
                 bar.sync 0;
                 mov.u32 %r3, 0; mov.u32 %r4, 0;
                 L: ld.shared.u32 %r5, [%r2]; add.u32 %r3, %r3, %r5; add.u32 %r2, %r2, 4; add.u32 %r4, %r4, 1;
                 setp.lt.u32 %p1, %r4, 32; @%p1 bra L;
                 setp.eq.u32 %p2, %r3, 496; @!%p2 trap; // here
                 st.global.u32 [%a0], 496;"
            ),
        )
    };
    let mut out = [vec![0; 4]];
    run(&source(32), (1, 32), &mut out);
    assert_eq!(out[0], bytes_of(&[496]));
    let wrong = source(9);
    let found = fault(&wrong, (1, 32), &mut [vec![0; 4]]);
    let here = wrong
        .lines()
        .position(|line| line.contains("// here"))
        .unwrap() as u32
        + 1;
    assert_eq!(
        (found.kind, found.line),
        (FaultKind::UninitialisedMemory, here)
    );
    assert_eq!(found.address, Some(36), "{found}");
}

#[test]
fn rows_of_matrices_and_copies_in_flight_carry_what_is_missing() {
    // Row 3 of the matrix is not written: lanes 12 to 15 hold it.
    let source = |lane: u32| {
        kernel(
            1,
            &format!(
                ".shared .align 16 .b8 m[128]; mov.u32 %r0, %laneid; mov.u32 %r2, m;
                 shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r2;
                 shr.u32 %r3, %r0, 2; setp.ne.u32 %p0, %r3, 3; @%p0 st.shared.u32 [%r1], %r0; bar.sync 0;
                 and.b32 %r4, %r0, 7; shl.b32 %r4, %r4, 4; add.u32 %r4, %r4, %r2;
                 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r5}}, [%r4];
                 setp.ne.u32 %p1, %r0, {lane}; @%p1 bra over;
                 setp.eq.u32 %p2, %r5, 1; @%p2 bra over; over:
                 st.global.u32 [%a0], 1;"
            ),
        )
    };
    run(&source(11), (1, 32), &mut [vec![0; 4]]);
    run(&source(16), (1, 32), &mut [vec![0; 4]]);
    let found = fault(&source(13), (1, 32), &mut [vec![0; 4]]);
    assert_eq!(found.kind, FaultKind::UninitialisedMemory);
    assert_eq!(found.address, Some(4 * 13), "{found}");
    // Of the source of a copy the second word is not written.
    for (offset, well) in [(0, true), (4, false), (8, true)] {
        let source = kernel(
            1,
            &format!(
                ".shared .align 16 .b8 s[16]; mov.u32 %r0, s;
                 cp.async.cg.shared.global [%r0], [%a0], 16; cp.async.wait_all;
                 ld.shared.u32 %r1, [%r0+{offset}]; setp.eq.u32 %p0, %r1, 0; @%p0 bra over; over:"
            ),
        );
        let device = device_with(Checks::ALL);
        let loaded = device.load(&Module::parse(&source).unwrap()).unwrap();
        let from = device.alloc(16).unwrap();
        device.fill(from, &[1], 4).unwrap();
        device.fill(from + 8, &[1], 8).unwrap();
        let grid = Grid {
            block: [1, 1, 1],
            ..GRID
        };
        let done = device.launch(&loaded, "k", grid, &from.to_le_bytes());
        assert_eq!(done.is_ok(), well, "{offset} {done:?}");
    }
}

#[test]
fn a_value_is_defined_again_once_it_is_written() {
    let source = kernel(
        1,
        "mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 16; @%p0 mov.u32 %r1, 1;
         add.u32 %r2, %r1, 1; @!%p0 mov.u32 %r2, 2;
         setp.eq.u32 %p1, %r2, 2; @!%p1 trap;
         mul.wide.u32 %d0, %r0, 4; add.u64 %d0, %d0, %a0; st.global.u32 [%d0], %r2;",
    );
    let mut out = [vec![0; 128]];
    run(&source, (1, 32), &mut out);
    assert_eq!(words_of(&out[0]), [2; 32]);
}
