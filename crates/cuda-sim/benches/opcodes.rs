//! How fast the simulator runs single instructions, one at a time in long loops:
//! `cargo bench -p cuda-sim --bench opcodes [-- TEXT]`, those whose line contains TEXT.
//!
//! Lane-instructions per second that a core was busy, best of eight launches, with every
//! check off and with all of them on, and how many times as long as `add.u32` each takes.
//! Rates are of the simulator on this machine; they say nothing about a GPU.

use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Device, DeviceConfig, Grid};

/// Instructions in a row, and how often the row is run.
const ROW: u32 = 64;
const ROUNDS: u32 = 64;
const GRID: Grid = Grid {
    grid: [16, 1, 1],
    block: [128, 1, 1],
    shared_bytes: 0,
};

// A vector that the next load overwrites is dropped, unless a guard may hold that back.
const LINES: [&str; 27] = [
    "add.u32 %r1, %r1, %r2;",
    "mad.lo.u32 %r1, %r1, %r2, %r3;",
    "mad.wide.u32 %d1, %r1, %r2, %d1;",
    "add.u64 %d1, %d1, %d2;",
    "add.rn.f64 %g1, %g1, %g2;",
    "mul.rn.f64 %g1, %g1, %g2;",
    "fma.rn.f64 %g1, %g1, %g2, %g3;",
    "fma.rn.f32 %f1, %f1, %f2, %f3;",
    "fma.rz.f64 %g1, %g1, %g2, %g3;",
    "cvt.rni.f64.f64 %g1, %g2;",
    "cvt.rni.s64.f64 %d1, %g2;",
    "cvt.rzi.s32.f64 %r1, %g2;",
    "cvt.rn.f64.s32 %g1, %r1;",
    "cvt.rn.f64.s64 %g1, %d1;",
    "mov.b64 {%r4, %r5}, %g1;",
    "st.shared.v2.f64 [%r8], {%g1, %g2};",
    "@%q ld.shared.v2.f64 {%g4, %g5}, [%r8];",
    "st.shared.f64 [%r7+2048], %g1;",
    "ld.shared.f64 %g4, [%r7+2048];",
    "ld.shared.u32 %r4, [%r9+3072];",
    "st.shared.u32 [%r9+3072], %r1;",
    "ld.shared.u32 %r4, [space];",
    "ld.shared.u32 %r4, [%r8];",
    "st.shared.u32 [%r8], %r1;",
    "ld.local.u32 %r4, [m];",
    "st.local.u32 [m], %r1;",
    "shfl.sync.bfly.b32 %r4, %r1, 3, 31, 0xffffffff;",
];

fn source(line: &str) -> String {
    let row = format!("{line}\n").repeat(ROW as usize);
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64
        .visible .entry k()
        {{
        .reg .pred %p, %q; .reg .b32 %n; .reg .b32 %r<10>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<9>;
        .shared .align 16 .b8 space[4096]; .local .align 4 .b8 m[4];
        mov.u32 %r1, %tid.x; mov.u32 %r2, 12345; mov.u32 %r3, 77; setp.eq.u32 %q, %r3, 77;
        mad.lo.u32 %r8, %r1, 16, space; mad.lo.u32 %r7, %r1, 8, space; mad.lo.u32 %r9, %r1, 4, space;
        cvt.u64.u32 %d1, %r1; mov.u64 %d2, 0x123456789;
        cvt.rn.f64.u32 %g1, %r1; mov.f64 %g4, %g1; mov.f64 %g5, %g1; mov.f64 %g2, 0d3FEFFFFFFF000000; mov.f64 %g3, 0d3FB999999999999A;
        cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F7FFFF0; mov.f32 %f3, 0f3DCCCCCD;
        st.shared.v2.f64 [%r8], {{%g1, %g2}}; st.shared.f64 [%r7+2048], %g1; st.shared.u32 [%r9+3072], %r1; st.local.u32 [m], %r1;
        bar.sync 0; mov.u32 %n, {ROUNDS};
        L:
        {row}
        sub.u32 %n, %n, 1;
        setp.ne.u32 %p, %n, 0;
        @%p bra L;
        bar.sync 0; st.shared.v2.f64 [%r8], {{%g4, %g5}};
        ret;
        }}"
    )
}

/// Lane-instructions per second, in millions.
fn rate(module: &Module, checks: Checks) -> f64 {
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_90,
        checks,
        ..DeviceConfig::default()
    });
    let loaded = device.load(module).expect("the module loads");
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        let start = busy_seconds();
        let report = device.launch(&loaded, "k", GRID, &[]);
        report.unwrap_or_else(|fault| panic!("{fault}"));
        best = best.min(busy_seconds() - start);
    }
    let lanes = GRID.blocks() * GRID.threads() * u64::from(ROW * ROUNDS);
    lanes as f64 / best / 1e6
}

/// Seconds that the threads of this process have spent on a core: on a busy machine the
/// clock says less about the simulator.
fn busy_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanoseconds: u64 = tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|line| line.split(' ').next()?.parse::<u64>().ok())
        .sum();
    nanoseconds as f64 / 1e9
}

fn main() {
    let wanted = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with("--"));
    println!(
        "{:50} {:>9} {:>6} {:>9} {:>6}",
        "instruction", "off, M/s", "times", "all, M/s", "times"
    );
    let mut sum = None;
    for line in LINES {
        if wanted
            .as_ref()
            .is_some_and(|text| !line.contains(text) && line != LINES[0])
        {
            continue;
        }
        let text = source(line);
        let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let rates = [Checks::NONE, Checks::ALL].map(|checks| rate(&module, checks));
        let [off, all] = rates;
        let [by_off, by_all] = sum.get_or_insert(rates);
        let (off_times, all_times) = (*by_off / off, *by_all / all);
        println!("{line:50} {off:>9.0} {off_times:>6.1} {all:>9.0} {all_times:>6.1}");
    }
}
