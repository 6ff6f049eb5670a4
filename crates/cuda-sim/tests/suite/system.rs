//! What kernels print, and failed assertions.

use crate::common::{device_with, module};
use cuda_sim::ptx::Module;
use cuda_sim::{Checks, FaultKind, Grid};

/// A kernel whose text ends up in `vprintf(format, arguments)`.
fn program(format: &str, arguments: &str) -> String {
    let bytes: Vec<String> = format.bytes().chain([0]).map(|b| b.to_string()).collect();
    module(&format!(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
         .extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
         .global .align 1 .b8 format[{}] = {{{}}};
         .global .align 1 .b8 word[6] = {{104, 101, 108, 108, 111, 0}};
         .visible .entry k() {{ .local .align 8 .b8 buffer[64]; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f64 %g<4>; .reg .pred %p<3>;
         mov.u64 %d1, buffer; cvta.local.u64 %d2, %d1; mov.u64 %d3, format; cvta.global.u64 %d4, %d3;
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u64 %d5, word; cvta.global.u64 %d6, %d5;
         {arguments}
         {{ .param .b64 a; .param .b64 b; .param .b32 count; st.param.b64 [a], %d4; st.param.b64 [b], %d2;
         call.uni (count), vprintf, (a, b); ld.param.b32 %r3, [count]; }}
         setp.ne.u32 %p1, %r3, COUNT; @%p1 trap; ret; }}",
        bytes.len(),
        bytes.join(", ")
    ))
}

fn printed(source: &str, blocks: u32, threads: u32) -> String {
    let device = device_with(Checks::ALL);
    let loaded = device.load(&Module::parse(source).unwrap()).unwrap();
    let grid = Grid {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        shared_bytes: 0,
    };
    device.launch(&loaded, "k", grid, &[]).unwrap();
    let text = device.take_printed();
    assert_eq!(device.take_printed(), "");
    text
}

#[test]
fn a_kernel_prints_what_c_would() {
    let source = program(
        "%d|%5u|%-4x|%lld|%s|%.3f|%c|100%%|%08.3e\n",
        "st.local.u32 [buffer], -7; st.local.u32 [buffer+4], 42; st.local.u32 [buffer+8], 255;
         st.local.u64 [buffer+16], -9000000000; st.local.u64 [buffer+24], %d6;
         mov.f64 %g1, 0d400921FB54442D18; st.local.f64 [buffer+32], %g1; st.local.u32 [buffer+40], 33;
         st.local.f64 [buffer+48], %g1;",
    )
    .replace("COUNT", "8");
    assert_eq!(
        printed(&source, 1, 1),
        "-7|   42|ff  |-9000000000|hello|3.142|!|100%|3.142e+00\n"
    );
}

#[test]
fn threads_print_in_their_order() {
    let source = program(
        "block %d thread %d\n",
        "st.local.u32 [buffer], %r2; st.local.u32 [buffer+4], %r1;",
    )
    .replace("COUNT", "2");
    let lines = (0..3).flat_map(|block| (0..40).map(move |thread| (block, thread)));
    let mut want: Vec<String> = lines
        .map(|(block, thread)| format!("block {block} thread {thread}"))
        .collect();
    let text = printed(&source, 3, 40);
    let mut got: Vec<&str> = text.lines().collect();
    // Blocks may take turns; every line is there once and whole.
    got.sort_unstable();
    want.sort_unstable();
    assert_eq!(got, want);
}

#[test]
fn a_failed_assertion_says_what_and_where() {
    let source = program("f.cu", "").replace(
        "call.uni (count), vprintf, (a, b); ld.param.b32 %r3, [count];",
        ".param .b32 l; .param .b64 s; st.param.b64 [a], %d6; st.param.b64 [b], %d4;
         st.param.b32 [l], 77; st.param.b64 [s], 1; call.uni __assertfail, (a, b, l, a, s);",
    );
    let device = device_with(Checks::ALL);
    let parsed = Module::parse(&source.replace("COUNT", "0")).unwrap();
    let loaded = device.load(&parsed).unwrap();
    let grid = Grid {
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
    };
    let fault = device.launch(&loaded, "k", grid, &[]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Trap);
    assert!(
        fault.detail.contains("`hello` failed at f.cu:77"),
        "{fault}"
    );
}
