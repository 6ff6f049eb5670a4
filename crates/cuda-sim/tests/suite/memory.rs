//! Loads, stores and atomics in every space.

use crate::common::{
    bytes_of, device_with, fault, fault_of_parsing, kernel, launch_on, module, run, words_of,
};
use cuda_sim::{Checks, FaultKind, Grid};

/// One thread on one buffer of words.
fn one(body: &str, words: &[u32]) -> Vec<u32> {
    let mut buffers = [bytes_of(words)];
    run(&kernel(1, body), (1, 1), &mut buffers);
    words_of(&buffers[0])
}

#[test]
fn vectors_of_every_width_move_their_elements_in_order() {
    let numbers = [
        0x0302_0100,
        0x0706_0504,
        0x8b8a_8988,
        0x8f8e_8d8c,
        0,
        0,
        0,
        0,
    ];
    let out = one(
        "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a0]; st.global.v4.u32 [%a0+16], {%r3, %r2, %r1, %r0};",
        &numbers,
    );
    assert_eq!(
        out[4..],
        [0x8f8e_8d8c, 0x8b8a_8988, 0x0706_0504, 0x0302_0100]
    );
    let out = one(
        "ld.global.v2.b64 {%d0, %d1}, [%a0]; st.global.v2.b64 [%a0+16], {%d1, %d0};",
        &numbers,
    );
    assert_eq!(out[4..], [numbers[2], numbers[3], numbers[0], numbers[1]]);
    let out = one(
        "ld.global.v4.u8 {%r0, %r1, %r2, %r3}, [%a0+8]; st.global.v4.u8 [%a0+16], {%r3, %r2, %r1, %r0};",
        &numbers,
    );
    assert_eq!(out[4], 0x8889_8a8b);
    let out = one(
        "ld.global.v2.s16 {%r0, %r1}, [%a0+8]; st.global.v2.u32 [%a0+16], {%r0, %r1};",
        &numbers,
    );
    assert_eq!(out[4..6], [0xffff_8988, 0xffff_8b8a]);
    let out = one(
        "ld.global.v4.u16 {%h0, %h1, %h2, %h3}, [%a0]; st.global.v4.u16 [%a0+16], {%h3, %h2, %h1, %h0};",
        &numbers,
    );
    assert_eq!(out[4..6], [0x0504_0706, 0x0100_0302]);
    let out = one(
        "ld.global.v4.u32 {_, %r1, _, %r3}, [%a0]; st.global.u32 [%a0+16], %r1; st.global.u32 [%a0+20], %r3;",
        &numbers,
    );
    assert_eq!(out[4..6], [0x0706_0504, 0x8f8e_8d8c]);
}

#[test]
fn narrow_loads_extend_to_the_register() {
    let out = one(
        "ld.global.s8 %r0, [%a0+1]; ld.global.u8 %r1, [%a0+1]; ld.global.s16 %r2, [%a0];
         ld.global.s32 %d0, [%a0]; ld.global.u32 %d1, [%a0]; ld.global.b16 %r3, [%a0+2];
         ld.global.s8 %h0, [%a0+1]; cvt.u32.u16 %r4, %h0; ld.global.s8 %d2, [%a0+1];
         st.global.v4.u32 [%a0+16], {%r0, %r1, %r2, %r3}; st.global.v2.u64 [%a0+32], {%d0, %d1};
         st.global.u32 [%a0+48], %r4; st.global.u64 [%a0+56], %d2;",
        &[0x8000_9081, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    assert_eq!(out[4..8], [0xffff_ff90, 0x90, 0xffff_9081, 0x8000]);
    assert_eq!(out[8..12], [0x8000_9081, 0xffff_ffff, 0x8000_9081, 0]);
    assert_eq!(out[12], 0xff90);
    assert_eq!(out[14..], [0xffff_ff90, 0xffff_ffff]);
}

#[test]
fn stores_of_parts_leave_the_rest_of_the_word() {
    let out = one(
        "mov.u64 %d0, 0x1122334455667788; st.global.u8 [%a0+1], %d0; st.global.b16 [%a0+6], %d0;
         st.global.b32 [%a0+8], %d0;",
        &[u32::MAX; 4],
    );
    assert_eq!(out, [0xffff_88ff, 0x7788_ffff, 0x5566_7788, u32::MAX]);
}

#[test]
fn cache_hints_and_orders_change_no_value() {
    let out = one(
        "ld.global.nc.L1::no_allocate.u32 %r0, [%a0]; ld.global.ca.u32 %r1, [%a0]; ld.global.cg.L2::128B.u32 %r2, [%a0];
         ld.volatile.global.u32 %r3, [%a0]; ld.relaxed.gpu.global.u32 %r4, [%a0]; ld.acquire.sys.global.u32 %r5, [%a0];
         add.u32 %r6, %r0, %r1; add.u32 %r6, %r6, %r2; add.u32 %r6, %r6, %r3; add.u32 %r6, %r6, %r4; add.u32 %r6, %r6, %r5;
         prefetch.global.L2 [%a0]; st.global.wt.u32 [%a0+4], %r6; st.release.gpu.global.u32 [%a0+8], %r6;
         st.volatile.global.u32 [%a0+12], %r6; membar.gl; fence.acq_rel.gpu; nanosleep.u32 20;",
        &[7, 0, 0, 0],
    );
    assert_eq!(out, [7, 42, 42, 42]);
}

#[test]
fn generic_addresses_reach_every_space() {
    let out = one(
        ".shared .align 8 .b8 s[16]; .local .align 8 .b8 l[16];
         mov.u64 %d0, s; cvta.shared.u64 %d1, %d0; mov.u64 %d2, l; cvta.local.u64 %d3, %d2;
         cvta.global.u64 %d4, %a0; cvta.to.global.u64 %d5, %d4;
         mov.u32 %r0, 11; mov.u32 %r1, 22; st.u32 [%d1+4], %r0; st.u32 [%d3+8], %r1;
         ld.shared.u32 %r2, [%d0+4]; ld.local.u32 %r3, [%d2+8]; ld.u32 %r4, [%d4];
         st.v2.u32 [%d5+8], {%r2, %r3}; st.u32 [%d5+16], %r4;
         cvta.to.shared.u64 %d6, %d1; setp.eq.u64 %p0, %d6, %d0; isspacep.shared %p1, %d1; isspacep.local %p2, %d3;
         isspacep.global %p3, %d4; isspacep.global %p4, %d1; isspacep.shared %p5, %d3;
         and.pred %p0, %p0, %p1; and.pred %p0, %p0, %p2; and.pred %p0, %p0, %p3;
         not.pred %p4, %p4; and.pred %p0, %p0, %p4; not.pred %p5, %p5; and.pred %p0, %p0, %p5;
         selp.u32 %r5, 1, 0, %p0; st.u32 [%d5+20], %r5;",
        &[5, 0, 0, 0, 0, 0],
    );
    assert_eq!(out, [5, 0, 11, 22, 5, 1]);
}

#[test]
fn one_instruction_may_go_to_two_spaces() {
    let source = kernel(
        1,
        ".shared .align 4 .b8 s[128]; mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4;
         mov.u64 %d1, s; add.u64 %d1, %d1, %d0; cvta.shared.u64 %d2, %d1; add.u64 %d3, %a0, %d0;
         st.shared.u32 [%d1], %r0; setp.lt.u32 %p0, %r0, 10; selp.u64 %d4, %d2, %d3, %p0;
         ld.u32 %r1, [%d4]; add.u32 %r1, %r1, 100; st.global.u32 [%d3], %r1;",
    );
    let mut out = [vec![0; 128]];
    run(&source, (1, 32), &mut out);
    let want: Vec<u32> = (0..32)
        .map(|i| if i < 10 { 100 + i } else { 100 })
        .collect();
    assert_eq!(words_of(&out[0]), want);
}

#[test]
fn local_memory_is_each_threads_own_at_any_index() {
    let source = kernel(
        1,
        ".local .align 4 .b8 l[64]; mov.u32 %r0, %tid.x; mov.u64 %d0, l; mov.u32 %r1, 0;
         fill: mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d0, %d1; mad.lo.u32 %r2, %r0, 100, %r1; st.local.u32 [%d1], %r2;
         add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 16; @%p0 bra fill;
         and.b32 %r3, %r0, 15; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d0, %d1; ld.local.u32 %r4, [%d1];
         mul.wide.u32 %d2, %r0, 4; add.u64 %d3, %a0, %d2; st.global.u32 [%d3], %r4;",
    );
    let mut out = [vec![0; 256]];
    run(&source, (1, 64), &mut out);
    let want: Vec<u32> = (0..64).map(|i| 100 * i + i % 16).collect();
    assert_eq!(words_of(&out[0]), want);
}

#[test]
fn variables_have_initial_values_and_addresses_of_each_other() {
    let source = module(
        ".const .align 4 .u32 c[3] = {5, 6, 7};
         .global .align 8 .u64 p[2] = {c+4, generic(g)};
         .global .align 4 .u32 g = 99;
         .extern .shared .align 16 .b8 dyn[];
         .shared .align 4 .u32 fixed[3];
         .visible .entry k(.param .u64 out) { .reg .b64 %d<9>; .reg .b32 %r<9>;
         ld.param.u64 %d0, [out]; ld.global.u64 %d1, [p]; ld.global.u64 %d2, [p+8];
         ld.const.u32 %r0, [%d1]; ld.u32 %r1, [%d2]; ld.const.u32 %r2, [c];
         mov.u32 %r3, dyn; mov.u32 %r4, fixed;
         st.global.v2.u32 [%d0], {%r0, %r1}; st.global.v2.u32 [%d0+8], {%r2, %r3}; st.global.u32 [%d0+16], %r4; ret; }",
    );
    let mut out = [vec![0; 20]];
    let grid = Grid {
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 64,
    };
    // Dynamic shared memory begins behind what is static, on 16 bytes; where bounds are
    // checked, beyond a gap.
    run(&source, grid, &mut out);
    assert_eq!(words_of(&out[0]), [6, 99, 5, 1040, 0]);
    let loose = device_with(Checks {
        bounds: false,
        ..Checks::ALL
    });
    launch_on(&loose, &source, grid, &mut out).unwrap();
    assert_eq!(words_of(&out[0]), [6, 99, 5, 16, 0]);
}

#[test]
fn atomics_apply_once_per_lane_in_every_space() {
    for space in ["global", "shared"] {
        let prologue = if space == "shared" {
            ".shared .align 8 .b8 s[8]; mov.u64 %d0, s; mov.u32 %r0, %tid.x;
             ld.global.u64 %d1, [%a0]; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u64 [%d0], %d1; bar.sync 0;"
        } else {
            "mov.u64 %d0, %a0; mov.u32 %r0, %tid.x;"
        };
        let epilogue = if space == "shared" {
            "bar.sync 0; ld.shared.u64 %d1, [%d0]; @%p0 st.global.u64 [%a0], %d1;"
        } else {
            ""
        };
        let check = |op: &str, operands: &str, start: u64, want: u64| {
            let body = format!(
                "{prologue} cvt.u64.u32 %d5, %r0; red.{space}.{op} [%d0], {operands}; {epilogue}"
            );
            let mut out = [start.to_le_bytes().to_vec()];
            run(&kernel(1, &body), (1, 64), &mut out);
            let got = u64::from_le_bytes(out[0].clone().try_into().unwrap());
            assert_eq!(got, want, "{space} {op}");
        };
        let high = 0xabcd_0000_0000;
        check("add.u32", "%r0", high, high + 2016);
        check("add.u64", "%d5", u64::MAX, 2015);
        check("max.u32", "%r0", 5, 63);
        check("min.s32", "%r0", 0xffff_fff0, 0xffff_fff0);
        check("max.s32", "%r0", 0xffff_fff0, 63);
        check("min.u32", "%r0", 0xffff_fff0, 0);
        check("min.s64", "%d5", u64::MAX, u64::MAX);
        check("max.u64", "%d5", 7, 63);
        check("or.b32", "%r0", 64, 127);
        check("and.b64", "%d5", u64::MAX, 0);
        check("xor.b32", "%r0", 9, 9);
        check("inc.u32", "9", 0, 4);
        check("dec.u32", "9", 3, 9);
    }
}

#[test]
fn atomics_return_what_was_there() {
    let source = kernel(
        2,
        "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a1, %d0;
         atom.global.add.u32 %r1, [%a0], 2; st.global.u32 [%d1], %r1;
         setp.ne.u32 %p0, %r0, 40; @%p0 bra done;
         atom.global.exch.b32 %r2, [%a0+4], 77; atom.global.cas.b32 %r3, [%a0+8], 6, 66; atom.global.cas.b32 %r4, [%a0+12], 6, 66;
         atom.global.add.f32 %f0, [%a0+16], 0f3F000000; atom.global.cas.b64 %d3, [%a0+24], 0, 5; atom.global.add.f64 %g0, [%a0+32], 0d3FE0000000000000;
         add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%a0+20], %r2;
         done:",
    );
    let mut buffers = [
        bytes_of(&[10, 1, 6, 7, 1f32.to_bits(), 0, 0, 0, 0, 0]),
        vec![0; 256],
    ];
    run(&source, (1, 64), &mut buffers);
    let words = words_of(&buffers[0]);
    assert_eq!(words[..8], [138, 77, 66, 7, 1.5f32.to_bits(), 14, 5, 0]);
    assert_eq!(buffers[0][32..], 0.5f64.to_le_bytes());
    let want: Vec<u32> = (0..64).map(|i| 10 + 2 * i).collect();
    assert_eq!(words_of(&buffers[1]), want);
}

#[test]
fn tickets_are_drawn_in_the_order_of_blocks_on_any_machine() {
    let source = kernel(
        2,
        "mov.u32 %r0, %ctaid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a1, %d0;
         atom.global.add.u32 %r1, [%a0], 1; st.global.u32 [%d1], %r1;",
    );
    let mut buffers = [vec![0; 4], vec![0; 4000]];
    run(&source, (1000, 1), &mut buffers);
    assert_eq!(words_of(&buffers[1]), (0..1000).collect::<Vec<u32>>());
}

#[test]
fn commuting_atomics_of_parallel_blocks_lose_nothing() {
    let source = kernel(
        1,
        "red.global.add.u32 [%a0], 1; red.global.add.u64 [%a0+8], 3;",
    );
    let mut buffers = [vec![0; 16]];
    run(&source, (500, 64), &mut buffers);
    assert_eq!(words_of(&buffers[0]), [32000, 0, 96000, 0]);
}

#[test]
fn a_block_may_rely_on_what_an_earlier_one_released() {
    // Each block waits for the flag of the one before it.
    let body = "mov.u32 %r0, %ctaid.x; mul.wide.u32 %d0, %r0, 8; add.u64 %d1, %a0, %d0;
         setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, 0; @%p0 bra go;
         wait: ld.acquire.gpu.global.u32 %r2, [%d1+-4]; setp.eq.u32 %p1, %r2, 0; @%p1 bra wait;
         ld.global.u32 %r1, [%d1+-8];
         go: add.u32 %r1, %r1, %r0; st.global.u32 [%d1], %r1; st.release.gpu.global.u32 [%d1+4], 1;";
    let mut buffers = [vec![0; 800]];
    run(&kernel(1, body), (100, 1), &mut buffers);
    assert_eq!(words_of(&buffers[0])[198], 4950);
}

#[test]
fn warps_of_a_block_may_wait_for_each_other() {
    // The first warp waits in a loop for what the second writes.
    let body = ".shared .u32 flag; mov.u32 %r0, %tid.x; mov.u32 %r1, 0; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [flag], %r1;
         bar.sync 0; setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 32; mov.u32 %r3, 1;
         @%p1 st.volatile.shared.u32 [flag], %r3; @!%p0 bra done;
         wait: ld.volatile.shared.u32 %r2, [flag]; setp.eq.u32 %p2, %r2, 0; @%p2 bra wait;
         st.global.u32 [%a0], %r2; done:";
    let device = device_with(Checks {
        races: false,
        ..Checks::ALL
    });
    let mut buffers = [vec![0; 4]];
    launch_on(&device, &kernel(1, body), (1, 64), &mut buffers).unwrap();
    assert_eq!(words_of(&buffers[0]), [1]);
}

#[test]
fn parameters_of_every_size_are_read_where_they_lie() {
    let source = module(
        ".visible .entry k(.param .u64 out, .param .u8 b, .param .u16 h, .param .align 8 .b8 s[24], .param .f64 f)
         { .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f64 %g<2>;
         ld.param.u64 %d0, [out]; ld.param.u8 %r0, [b]; ld.param.s16 %r1, [h]; ld.param.v2.u32 {%r2, %r3}, [s+8];
         ld.param.f64 %g0, [f]; mov.u64 %d1, s; ld.param.u32 %r4, [%d1+20];
         st.global.v4.u32 [%d0], {%r0, %r1, %r2, %r3}; st.global.f64 [%d0+16], %g0; st.global.u32 [%d0+24], %r4; ret; }",
    );
    let device = device_with(Checks::ALL);
    let parsed = cuda_sim::ptx::Module::parse(&source).unwrap();
    let loaded = device.load(&parsed).unwrap();
    let out = device.alloc(32).unwrap();
    let mut params = vec![0; parsed.kernel("k").unwrap().param_bytes as usize];
    params[..8].copy_from_slice(&out.to_le_bytes());
    params[8] = 200;
    params[10..12].copy_from_slice(&(-3i16).to_le_bytes());
    for i in 0..24 {
        params[16 + i] = i as u8;
    }
    params[40..48].copy_from_slice(&2.5f64.to_le_bytes());
    let grid = Grid {
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
    };
    device.launch(&loaded, "k", grid, &params).unwrap();
    let mut bytes = vec![0; 28];
    device.read(out, &mut bytes).unwrap();
    assert_eq!(
        words_of(&bytes)[..4],
        [200, -3i32 as u32, 0x0b0a_0908, 0x0f0e_0d0c]
    );
    assert_eq!(bytes[16..24], 2.5f64.to_le_bytes());
    assert_eq!(words_of(&bytes)[6], 0x1716_1514);
    let short = device
        .launch(&loaded, "k", grid, &params[..40])
        .unwrap_err();
    assert_eq!(short.kind, FaultKind::InvalidLaunch);
}

#[test]
fn freed_memory_is_named_when_it_is_used() {
    let device = device_with(Checks::ALL);
    let parsed = cuda_sim::ptx::Module::parse(&kernel(1, "ld.global.u32 %r0, [%a0];")).unwrap();
    let loaded = device.load(&parsed).unwrap();
    let address = device.alloc(64).unwrap();
    device.free(address).unwrap();
    let grid = Grid {
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
    };
    let found = device
        .launch(&loaded, "k", grid, &address.to_le_bytes())
        .unwrap_err();
    assert_eq!(found.kind, FaultKind::OutOfBounds);
    assert!(found.detail.contains("were freed"), "{found}");
    let null = device.launch(&loaded, "k", grid, &[0; 8]).unwrap_err();
    assert_eq!(null.address, Some(0));
}

#[test]
fn sixteen_bytes_change_as_one() {
    // Every thread of every block adds (1, 3) to a pair in global memory, by exchange of
    // what it saw, then the last of each block leaves its mark in shared memory.
    let source = kernel(
        2,
        ".reg .b128 %q<5>; .shared .align 16 .b64 pair[2];
         mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
         ld.volatile.global.v2.b64 {%d0, %d1}, [%a0];
         L: add.u64 %d2, %d0, 1; add.u64 %d3, %d1, 3;
         mov.b128 %q0, {%d0, %d1}; mov.b128 %q1, {%d2, %d3};
         atom.global.relaxed.gpu.cas.b128 %q2, [%a0], %q0, %q1;
         mov.b128 {%d4, %d5}, %q2;
         setp.ne.u64 %p0, %d4, %d0; setp.ne.u64 %p1, %d5, %d1; or.pred %p0, %p0, %p1;
         mov.u64 %d0, %d4; mov.u64 %d1, %d5;
         @%p0 bra L;
         setp.eq.u32 %p2, %r0, 0; mov.u64 %d6, 7; mov.u64 %d7, -9; mov.b128 %q3, {%d6, %d7};
         @%p2 st.shared.v2.b64 [pair], {%d7, %d6};
         bar.sync 0;
         setp.eq.u32 %p3, %r0, 33; @!%p3 ret;
         atom.shared.exch.b128 %q4, [pair], %q3;
         mov.b128 {%d8, %d9}, %q4; ld.shared.v2.b64 {%d10, %d11}, [pair];
         sub.u64 %d8, %d8, %d11; sub.u64 %d9, %d9, %d10; or.b64 %d8, %d8, %d9;
         mul.wide.u32 %d12, %r1, 8; add.u64 %d12, %a1, %d12; st.global.u64 [%d12], %d8;",
    );
    let mut buffers = [vec![0; 16], vec![0xff; 24]];
    run(&source, (3, 64), &mut buffers);
    let want: Vec<u8> = [192u64, 576].iter().flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!(buffers[0], want);
    assert_eq!(buffers[1], [0; 24]);
    let misaligned = kernel(
        1,
        ".reg .b128 %q<2>; mov.b128 %q0, {%a0, %a0};
         atom.global.exch.b128 %q1, [%a0+8], %q0;",
    );
    let found = fault(&misaligned, (1, 1), &mut [vec![0; 32]]);
    assert_eq!(found.kind, FaultKind::Misaligned);
}

#[test]
fn cache_policies_are_taken_and_change_no_value() {
    let source = kernel(
        1,
        "createpolicy.fractional.L2::evict_last.b64 %d0, 1.0;
         createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d1;
         createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %d2, [%a0], 16, 32;
         ld.global.L2::cache_hint.u32 %r0, [%a0], %d0;
         ld.global.L1::evict_last.L2::256B.u32 %r1, [%a0+4];
         add.u32 %r0, %r0, %r1;
         st.global.L2::cache_hint.u32 [%a0], %r0, %d1;
         atom.global.add.L2::cache_hint.u32 %r2, [%a0], 5, %d2;
         red.global.add.L2::cache_hint.u32 [%a0], 7, %d0;
         st.global.L1::no_allocate.u32 [%a0+4], %r2;
         prefetch.global.L2::evict_last [%a0];
         applypriority.global.L2::evict_normal [%a0], 128;
         griddepcontrol.wait; griddepcontrol.launch_dependents;",
    );
    let mut buffers = [bytes_of(&[30, 12])];
    run(&source, (1, 1), &mut buffers);
    assert_eq!(words_of(&buffers[0]), [54, 42]);
    // A policy must be there where it is said to be, and only there.
    for line in [
        "ld.global.L2::cache_hint.u32 %r0, [%a0];",
        "ld.global.u32 %r0, [%a0], %d0;",
        "st.global.L2::cache_hint.u32 [%a0], %r0, %r1;",
    ] {
        fault_of_parsing(&kernel(1, line));
    }
}

#[test]
fn whole_warps_move_what_parts_of_warps_move() {
    let widths = [
        ("u32", 1, "%r10"),
        ("v2.u32", 2, "{%r10, %r11}"),
        ("v4.u32", 4, "{%r10, %r11, %r12, %r13}"),
        ("u64", 2, "%d10"),
        ("v2.u64", 4, "{%d10, %d11}"),
    ];
    for (width, words, regs) in widths {
        for (space, base) in [("shared.", "%r2"), ("shared.", "%d2"), ("", "%d3")] {
            // 31 threads go lane by lane.
            for threads in [32, 31] {
                let bytes = 4 * words;
                let source = kernel(
                    3,
                    &format!(
                        ".shared .align 16 .b8 m[512]; mov.u32 %r0, %tid.x; mov.u32 %r1, m;
                         mad.lo.u32 %r2, %r0, {bytes}, %r1; cvt.u64.u32 %d2, %r2; cvta.shared.u64 %d3, %d2;
                         mad.lo.u32 %r10, %r0, 400, 1; add.u32 %r11, %r10, 100; add.u32 %r12, %r11, 100; add.u32 %r13, %r12, 100;
                         mov.b64 %d10, {{%r10, %r11}}; mov.b64 %d11, {{%r12, %r13}};
                         st.{space}{width} [{base}], {regs}; bar.sync 0;
                         mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u64 %d10, 0; mov.u64 %d11, 0;
                         ld.{space}{width} {regs}, [{base}];
                         mul.wide.u32 %d4, %r0, {bytes}; add.u64 %d5, %a0, %d4; add.u64 %d6, %a1, %d4;
                         st.global.{width} [%d5], {regs};
                         ld.shared.{width} {regs}, [m+{fifth}]; st.global.{width} [%d6], {regs};
                         mad.lo.u32 %r3, %r0, 4, %r1; mul.wide.u32 %d7, %r0, 4; add.u64 %d7, %a2, %d7;
                         ld.shared.u32 %r4, [%r3]; st.global.u32 [%d7], %r4;",
                        fifth = 5 * bytes
                    ),
                );
                let word = |i: u32| 1 + i / words * 400 + i % words * 100;
                let n = threads * words;
                let mut buffers = [n, n, threads].map(|n| bytes_of(&vec![0; n as usize]));
                run(&source, (1, threads), &mut buffers);
                let [own, fifth, first] = buffers.map(|buffer| words_of(&buffer));
                let case = format!("{space}{width} at {base} by {threads} threads");
                assert_eq!(own, (0..n).map(word).collect::<Vec<_>>(), "{case}");
                let expected: Vec<u32> = (0..n).map(|i| word(5 * words + i % words)).collect();
                assert_eq!(fifth, expected, "{case}");
                assert_eq!(first, (0..threads).map(word).collect::<Vec<_>>(), "{case}");
            }
        }
    }
}
