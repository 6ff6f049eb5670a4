//! Damaged PTX on the simulator: every launch ends, with a report or a fault.
#![no_main]

use bigint_fuzz::damage::{Damage, damaged};
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Device, DeviceConfig, Grid};

const KERNELS: [&str; 2] = [
    include_str!("../../crates/bigint-host/ptx/gather.ptx"),
    include_str!("../../crates/cuda-sim/tests/suite/ptx/rustc.ptx"),
];

libfuzzer_sys::fuzz_target!(|input: (bool, Vec<Damage<'_>>)| {
    let (which, damages) = input;
    let text = damaged(KERNELS[usize::from(which)].as_bytes(), &damages);
    let Ok(module) = Module::parse(&String::from_utf8_lossy(&text)) else {
        return;
    };
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_90,
        memory_bytes: 1 << 24,
        checks: Checks::ALL,
        count: true,
        instruction_budget: Some(20_000),
        ..DeviceConfig::default()
    });
    let Ok(loaded) = device.load(&module) else {
        return;
    };
    let buffer = device.alloc(4096).expect("memory suffices");
    device
        .fill(buffer, &[1], 4096)
        .expect("the buffer is there");
    for kernel in module.kernels() {
        let words = (kernel.param_bytes as usize).min(1 << 16).div_ceil(8);
        let parameters = buffer.to_le_bytes().repeat(words);
        let grid = Grid {
            grid: [3, 1, 1],
            block: [48, 1, 1],
            shared_bytes: 256,
        };
        let _ = device.launch(&loaded, &kernel.name, grid, &parameters);
    }
});
