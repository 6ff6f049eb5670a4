//! What is valid PTX and what is not, as ptxas 13.0 has it, and what becomes of a
//! kernel that the simulator does not understand.

use crate::common::{bytes_of, device_with, kernel, module, run, words_of};
use cuda_sim::ptx::Module;
use cuda_sim::{Checks, FaultKind, Grid};

const GRID: Grid = Grid {
    grid: [1, 1, 1],
    block: [1, 1, 1],
    shared_bytes: 0,
};

#[test]
fn what_is_not_known_is_a_fault_of_who_executes_it() {
    let source = module(
        ".func inner() { frobnicate.u32; ret; }
         .func outer() { call inner; ret; }
         .visible .entry after() { ret; frobnicate.u32; }
         .visible .entry beside() { .reg .pred %p; setp.eq.u32 %p, 1, 2; @%p frobnicate.u32; ret; }
         .visible .entry through() { call outer; ret; }
         .visible .entry well(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 7; ret; }",
    );
    let parsed = Module::parse(&source).unwrap();
    let device = device_with(Checks::ALL);
    let loaded = device.load(&parsed).unwrap();
    let word = device.alloc(4).unwrap();
    let launch = |name: &str| device.launch(&loaded, name, GRID, &word.to_le_bytes());
    for (name, line) in [("after", Some(6)), ("through", Some(4)), ("well", None)] {
        let why = parsed.kernel(name).unwrap().unknown.as_ref();
        assert_eq!(why.map(|why| why.line), line, "{name}");
    }
    for name in ["after", "beside", "well"] {
        launch(name).unwrap_or_else(|fault| panic!("{fault}"));
    }
    let fault = launch("through").unwrap_err();
    assert_eq!((fault.kind, fault.line), (FaultKind::Unknown, 4));
    assert!(fault.to_string().contains("frobnicate.u32"), "{fault}");
    let mut bytes = [0; 4];
    device.read(word, &mut bytes).unwrap();
    assert_eq!(bytes, [7, 0, 0, 0]);
}

#[test]
fn textures_tensors_the_heap_and_vectors_of_atomics_refuse_no_module() {
    for (body, opcode) in [
        (
            "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f4, %f5}];",
            "tex.2d",
        ),
        (
            "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d0, {%r0}];",
            "tex.1d",
        ),
        ("suld.b.1d.b32.trap %r0, [u, {%r1}];", "suld.b"),
        (
            "atom.global.v4.f32.add {%f0, %f1, %f2, %f3}, [%d0], {%f4, %f5, %f6, %f7};",
            "atom.global.v4",
        ),
        ("red.global.add.noftz.f16x2 [%d0], %r0;", "f16x2"),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d1, 1, 1, 1, 0, 0;",
            "wgmma",
        ),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%d0], [%d1, {%r0, %r1}], [%d2];",
            "tensor",
        ),
        (
            "{ .param .b64 n; .param .b64 r; st.param.b64 [n], %d0; call.uni (r), malloc, (n); ld.param.b64 %d1, [r]; }",
            "malloc",
        ),
    ] {
        let source = module(&format!(
            ".extern .func (.param .b64 r) malloc(.param .b64 n);
             .global .texref t; .global .surfref u;
             .visible .entry k(.param .u32 c) {{
             .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;
             ld.param.u32 %r0, [c]; mov.u64 %d0, 64; setp.eq.u32 %p, %r0, 0; @%p ret;
             {body} // here
             ret; }}"
        ));
        let device = device_with(Checks::ALL);
        let parsed = Module::parse(&source).unwrap_or_else(|error| panic!("{opcode}: {error}"));
        let loaded = device.load(&parsed).unwrap();
        let launch = |c: u32| device.launch(&loaded, "k", GRID, &c.to_le_bytes());
        launch(0).unwrap_or_else(|fault| panic!("{opcode}: {fault}"));
        let fault = launch(1).unwrap_err();
        assert_eq!((fault.kind, fault.line), (FaultKind::Unknown, 9), "{fault}");
        assert!(fault.to_string().contains(opcode), "{fault}");
    }
}

#[test]
fn a_call_through_a_pointer_may_reach_any_function_but_no_kernel() {
    let source = |broken: &str| {
        module(&format!(
            ".func f() {{ ret; }} .func g() {{ {broken} ret; }}
             .visible .entry other() {{ frobnicate.u32; ret; }}
             .visible .entry k() {{ .reg .b64 %d; mov.u64 %d, f; P: .callprototype _ (); call %d, (), P; ret; }}"
        ))
    };
    let reaches = |source: &str| {
        let parsed = Module::parse(source).unwrap();
        parsed.kernel("k").unwrap().unknown.is_some()
    };
    assert!(!reaches(&source("")));
    assert!(reaches(&source("frobnicate.u32;")));
}

#[test]
fn faults_name_the_line_of_the_source() {
    let source = module(
        ".func outer() { trap; }
         .visible .entry k(.param .u64 p)
         {
         .reg .b32 %r<4>; .reg .b64 %d<4>;
         .loc 1 20 3
         ld.param.u64 %d0, [p];
         .loc 2 7 1, function_name $L__info_string0, inlined_at 1 21 3
         st.global.u32 [%d0+4], 1;
         .loc 1 22 9
         ret;
         }
         .visible .entry bare() { trap; }
         .file 1 \"/home/me/kernel.cu\"
         .file 2 \"header.h\", 1700000000, 123
         .section .debug_str { $L__info_string0: .b8 107,0 }",
    );
    let device = device_with(Checks::ALL);
    let loaded = device.load(&Module::parse(&source).unwrap()).unwrap();
    let word = device.alloc(4).unwrap();
    let launch = |name: &str| device.launch(&loaded, name, GRID, &word.to_le_bytes());
    let fault = launch("k").unwrap_err();
    let place = fault
        .source
        .clone()
        .map(|source| (source.file, source.line));
    assert_eq!(place, Some(("header.h".to_owned(), 7)), "{fault}");
    assert!(
        fault.to_string().contains("at header.h:7 (PTX line 11)"),
        "{fault}"
    );
    // What no directive speaks of has no source.
    let fault = launch("bare").unwrap_err();
    assert_eq!((fault.source.clone(), fault.line), (None, 15), "{fault}");
}

#[test]
fn directives_need_no_space_between_them() {
    let source = ".version 7.8\n.target sm_90\n.address_size 64\n
        .visible.entry k(.param.u64 p)\n.maxntid 32,1,1\n{ .reg.b32 %x; .reg.b64 %d<2>;\n
        .shared.align 4 .b32 s; ld.param.u64 %d1, [p]; mov.u32 %x, 3; st.shared.u32 [s], %x;\n
        ld.shared.u32 %x, [s]; st.global.u32 [%d1], %x; ret; }";
    let mut out = [vec![0; 4]];
    run(source, (1, 1), &mut out);
    assert_eq!(words_of(&out[0]), [3]);
}

#[test]
fn vector_registers_are_moved_whole_and_by_component() {
    let source = kernel(
        1,
        ".reg .v4 .b32 %v; .reg .v2 .u32 %w<3>;
         ld.global.v4.b32 %v, [%a0];
         add.u32 %r0, %v.x, %v.w; add.u32 %r1, %v.r, %v.a; mov.b32 %v.y, %r0;
         mov.v4.b32 {%r2, %r3, %r4, %r5}, %v;
         mov.v2.u32 %w1, {%r5, %r2}; mov.v2.u32 %w1, {%w1.y, %w1.x}; mov.v2.u32 %w2, %w1;
         st.global.v4.b32 [%a0], {%r1, %r3, %w2.x, %w2.y};",
    );
    let mut buffer = [bytes_of(&[1, 20, 300, 4000])];
    run(&source, (1, 1), &mut buffer);
    assert_eq!(words_of(&buffer[0]), [4001, 4001, 1, 4000]);
}

#[test]
fn registers_of_128_bits_are_two_of_64() {
    let source = kernel(
        1,
        ".reg .b128 %q<3>;
         ld.global.b128 %q0, [%a0]; mov.b128 {%d0, %d1}, %q0; mov.b128 %q1, {%d1, %d0};
         mov.b128 %q2, %q1; st.global.b128 [%a0+16], %q2;",
    );
    let mut buffer = [bytes_of(&[1, 2, 3, 4, 0, 0, 0, 0])];
    run(&source, (1, 1), &mut buffer);
    assert_eq!(words_of(&buffer[0]), [1, 2, 3, 4, 3, 4, 1, 2]);
}

#[test]
fn a_table_of_functions_is_called_through() {
    let source = module(
        ".func (.reg .b32 %y) twice(.reg .b32 %x) { add.u32 %y, %x, %x; ret; }
         .func (.reg .b32 %y) next(.reg .b32 %x) { add.u32 %y, %x, 1; ret; }
         .global .u64 table[2] = {twice, next};
         .visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %d<6>;
         ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 8; mov.u64 %d2, table;
         add.u64 %d3, %d2, %d1; ld.global.u64 %d4, [%d3]; mov.u32 %r1, 20;
         P: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (%r2), %d4, (%r1), P;
         mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r2; ret; }",
    );
    let mut out = [vec![0; 8]];
    run(&source, (1, 2), &mut out);
    assert_eq!(words_of(&out[0]), [40, 21]);
}

#[test]
fn names_are_declared_once_in_a_scope() {
    let refused = |text: &str, name: &str| {
        let error = Module::parse(&module(text)).expect_err(text);
        let words = error.to_string();
        assert!(words.contains("twice") && words.contains(name), "{words}");
    };
    let body =
        |text: &str| format!(".visible .entry k(.param .u64 p) {{ .reg .b32 %r<9>; {text} ret; }}");
    for (text, name) in [
        ("L: mov.u32 %r1, 1; L: mov.u32 %r2, 2;", "`L`"),
        (".reg .b32 L; L: mov.u32 %r1, 1;", "`L`"),
        (".reg .b32 x; .reg .b64 x;", "`x`"),
        (".reg .b32 %r<5>;", "`%r<...>`"),
        (".reg .b32 p;", "`p`"),
        (".shared .u32 x; .shared .u32 x;", "`x`"),
        (".local .u32 x; .local .u32 x;", "`x`"),
    ] {
        refused(&body(text), name);
    }
    refused(".global .u32 x; .global .u32 x;", "`x`");
    refused(&format!(".global .u32 k; {}", body("")), "`k`");
    // In a scope of its own a name may come again, and a declaration before its
    // definition is no second one.
    for text in [
        &body("L: mov.u32 %r1, 1; { L: mov.u32 %r2, 2; .reg .b32 p; } { L: .reg .b32 %r<2>; }"),
        ".extern .global .u32 x; .global .u32 x; .visible .entry k() { ret; }",
    ] {
        Module::parse(&module(text)).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn instructions_are_held_to_the_version_and_the_target() {
    let check = |version: &str, target: &str, body: &str| {
        let source = kernel(0, body)
            .replace(".version 8.7", &format!(".version {version}"))
            .replace("sm_90", target);
        Module::parse(&source).err().map(|error| error.to_string())
    };
    let redux = "redux.sync.add.u32 %r0, %r1, -1;";
    assert_eq!(check("7.0", "sm_80", redux), None);
    let why = check("7.0", "sm_75", redux).unwrap();
    assert!(why.contains("needs .target sm_80"), "{why}");
    let why = check("6.5", "sm_80", redux).unwrap();
    assert!(why.contains("needs .version 7.0"), "{why}");
    let elect = "elect.sync %r0|%p0, -1;";
    assert_eq!(check("8.0", "sm_90", elect), None);
    assert!(check("8.0", "sm_80", elect).is_some());
    assert!(check("7.8", "sm_90", elect).is_some());
}
