//! tmp
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Device, DeviceConfig, Grid};
const ROW: u32 = 64;
const GRID: Grid = Grid {
    grid: [1, 1, 1],
    block: [128, 1, 1],
    shared_bytes: 0,
};
fn source(line: &str, rounds: u32) -> String {
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
        bar.sync 0; mov.u32 %n, {rounds};
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

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let text = source(&a[1], a[3].parse().unwrap());
    let module = Module::parse(&text).unwrap();
    let checks = if a[2] == "all" {
        Checks::ALL
    } else {
        Checks::NONE
    };
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_90,
        checks,
        ..DeviceConfig::default()
    });
    let loaded = device.load(&module).unwrap();
    device.launch(&loaded, "k", GRID, &[]).unwrap();
}
