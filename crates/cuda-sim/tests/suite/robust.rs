//! Damaged sources are errors or faults, never panics; and the number of cores
//! changes nothing.

use crate::common::{bytes_of, device_with, kernel, launch_on};
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Device, DeviceConfig, FaultKind, Grid};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Every launch of a damaged module ends.
fn launch_all(module: &Module, checks: Checks) {
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_100,
        memory_bytes: 1 << 24,
        checks,
        count: true,
        instruction_budget: Some(20_000),
        ..DeviceConfig::default()
    });
    let Ok(loaded) = device.load(module) else {
        return;
    };
    let Ok(buffer) = device.alloc(4096) else {
        return;
    };
    device.fill(buffer, &[1], 4096).unwrap();
    for kernel in module.kernels() {
        let mut params = Vec::new();
        while params.len() < (kernel.param_bytes as usize).min(1 << 16) {
            params.extend(buffer.to_le_bytes());
        }
        let grid = Grid {
            grid: [3, 1, 1],
            block: [48, 1, 1],
            shared_bytes: 256,
        };
        // A report or a fault: either is an answer.
        let _ = device.launch(&loaded, &kernel.name, grid, &params);
    }
}

const SCRAPS: &[&str] = &[
    "%r1",
    "%rd1",
    "%p1",
    "0",
    "-1",
    "4294967295",
    "18446744073709551615",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "@",
    "!",
    "|",
    "+",
    "-",
    ".u32",
    ".b64",
    ".pred",
    ".align",
    ".shared",
    ".local",
    ".param",
    ".reg",
    "bra",
    "call",
    "ret;",
    "bar.sync 0;",
    "shfl.sync.idx.b32",
    "mad.lo.cc.u32",
    "L",
    "\"",
    "/*",
    "//",
    "0x",
    "0f",
    "1e",
    "é",
    "_",
    "<9>",
    ".branchtargets",
    "@%p1",
    "exit;",
    "trap;",
    "addc.u32 %r1, %r1, %r1;",
    "st.shared.u32 [%r1], %r1;",
];

#[test]
fn damaged_sources_do_not_panic() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let whole = include_str!("ptx/rustc.ptx");
    let pieces: Vec<&str> = whole.split_inclusive([' ', '\n', ',', ';']).collect();
    let mut parsed = 0;
    for round in 0..3000 {
        let mut damaged: Vec<&str> = pieces.clone();
        for _ in 0..1 + round % 4 {
            let at = random.below(damaged.len());
            match random.below(5) {
                0 => damaged[at] = SCRAPS[random.below(SCRAPS.len())],
                1 => damaged[at] = pieces[random.below(pieces.len())],
                2 => {
                    damaged.remove(at);
                }
                3 => {
                    let next = (at + 1) % damaged.len();
                    damaged.swap(at, next);
                }
                _ => damaged.insert(at, SCRAPS[random.below(SCRAPS.len())]),
            }
        }
        if let Ok(module) = Module::parse(&damaged.concat()) {
            parsed += 1;
            if parsed % 4 == 0 {
                let checks = if parsed % 8 == 0 {
                    Checks::ALL
                } else {
                    Checks::NONE
                };
                launch_all(&module, checks);
            }
        }
    }
    // Damage that is still a program has been tried too.
    assert!(parsed > 100, "{parsed}");
}

#[test]
fn extreme_sizes_are_refused() {
    let head = ".version 7.8\n.target sm_90\n.address_size 64\n";
    let nested = "{".repeat(100_000);
    let parentheses = format!(".global .u32 x = {}1;", "(".repeat(100_000));
    let braces = format!(".global .u32 x = {}1;", "{".repeat(100_000));
    for text in [
        ".global .b8 x[1099511627775];",
        ".shared .b8 x[1099511627775];",
        ".global .align 9223372036854775808 .b8 x;",
        ".shared .align 4294967296 .b8 x;",
        ".visible .entry k(.param .b8 x[4294967295]) { ret; }",
        ".visible .entry k(.param .u64 x) { .local .b8 y[4294967296]; ret; }",
        ".visible .entry k(.param .u64 x) { .reg .b32 %r; ld.param.u32 %r, [x+9223372036854775807]; ret; }",
        ".visible .entry k() .maxntid 4294967296 { ret; }",
        &parentheses,
        &braces,
        &format!(".visible .entry k() {{ {nested} }}"),
    ] {
        let shown = &text[..text.len().min(80)];
        assert!(Module::parse(&format!("{head}{text}")).is_err(), "{shown}");
    }
    let many = ".shared .b8 y[1048576];".replace('y', "%");
    let many: String = (0..6000)
        .map(|i| many.replace('%', &format!("y{i}")))
        .collect();
    let uses: String = (0..6000).map(|i| format!("mov.u32 %r, y{i};")).collect();
    let source = format!(
        "{head}{many} .visible .entry k() .maxntid 65536, 65536, 65536 {{ .reg .b32 %r; {uses} ret; }}"
    );
    if let Ok(module) = Module::parse(&source) {
        launch_all(&module, Checks::ALL);
    }
}

#[test]
fn results_counts_and_faults_do_not_depend_on_the_number_of_cores() {
    let good = kernel(
        1,
        "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r0, 64, %r1; mov.u32 %r3, %r2;
         again: and.b32 %r4, %r3, 1; setp.eq.u32 %p0, %r4, 0; shr.u32 %r5, %r3, 1; mad.lo.u32 %r6, %r3, 3, 1;
         selp.u32 %r3, %r5, %r6, %p0; setp.gt.u32 %p1, %r3, 1; @%p1 bra again;
         red.global.add.u32 [%a0], %r6; mul.wide.u32 %d0, %r2, 4; add.u64 %d1, %a0, %d0; st.global.u32 [%d1+4], %r6;",
    );
    let races = kernel(
        1,
        "mov.u32 %r0, %ctaid.x; and.b32 %r1, %r0, 63; mul.wide.u32 %d0, %r1, 4; add.u64 %d1, %a0, %d0;
         ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, %r0; st.global.u32 [%d1], %r2;",
    );
    let mut seen = Vec::new();
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let outcome = pool.install(|| {
            let device = device_with(Checks::ALL);
            let mut out = [vec![0; 4 * (1 + 64 * 200)]];
            let report = launch_on(&device, &good, (200, 64), &mut out).unwrap();
            let mut raced = [bytes_of(&[5; 64])];
            let fault = launch_on(&device, &races, (300, 1), &mut raced).unwrap_err();
            (report, out, fault, raced)
        });
        assert_eq!(outcome.2.kind, FaultKind::GlobalRace);
        assert_eq!(outcome.2.block, [64, 0, 0]);
        seen.push(outcome);
    }
    for other in &seen[1..] {
        assert_eq!(*other, seen[0]);
    }
}
