//! Running a kernel in a test: buffers in, buffers and report out.

use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Device, DeviceConfig, Fault, Grid, LaunchOptions, Report};

/// A device with every check, and a budget that ends what would not end.
pub fn device_with(checks: Checks) -> Device {
    Device::new(DeviceConfig {
        arch: Arch::SM_90,
        memory_bytes: 1 << 30,
        checks,
        count: true,
        instruction_budget: Some(100_000_000),
        ..DeviceConfig::default()
    })
}

/// PTX around the text of functions and variables.
pub fn module(text: &str) -> String {
    format!(".version 8.7\n.target sm_90\n.address_size 64\n{text}")
}

/// A kernel `k` whose parameters are pointers, loaded into `%a0`, `%a1`, ...,
/// with the usual registers declared.
pub fn kernel(pointers: usize, body: &str) -> String {
    let formals: Vec<String> = (0..pointers).map(|i| format!(".param .u64 p{i}")).collect();
    let loads: String = (0..pointers)
        .map(|i| format!("ld.param.u64 %a{i}, [p{i}];\n"))
        .collect();
    module(&format!(
        ".visible .entry k({})\n{{\n.reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<60>;\n\
         .reg .b64 %d<60>;\n.reg .b64 %a<9>;\n.reg .f32 %f<20>;\n.reg .f64 %g<20>;\n{loads}{body}\nret;\n}}\n",
        formals.join(", ")
    ))
}

pub fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap()))
        .collect()
}

/// Runs kernel `k` on buffers, which it may change.
pub fn launch_on(
    device: &Device,
    source: &str,
    grid: impl Into<Extent>,
    buffers: &mut [Vec<u8>],
) -> Result<Report, Fault> {
    launch_on_with(device, source, grid, buffers, LaunchOptions::default())
}

/// Runs kernel `k` on buffers.
pub fn launch_on_with(
    device: &Device,
    source: &str,
    grid: impl Into<Extent>,
    buffers: &mut [Vec<u8>],
    options: LaunchOptions,
) -> Result<Report, Fault> {
    let module = Module::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let loaded = device.load(&module).unwrap();
    let mut params = Vec::new();
    let mut addresses = Vec::new();
    for buffer in buffers.iter() {
        let address = device.alloc(buffer.len() as u64).unwrap();
        device.write(address, buffer).unwrap();
        params.extend(address.to_le_bytes());
        addresses.push(address);
    }
    let grid = grid.into().0;
    let result = device.launch_with(&loaded, "k", grid, &params, options);
    for (buffer, &address) in buffers.iter_mut().zip(&addresses) {
        device.read(address, buffer).unwrap();
        device.free(address).unwrap();
    }
    device.unload(loaded);
    assert!(device.allocations().is_empty());
    result
}

/// Blocks and threads, both along x, or a whole grid.
pub struct Extent(Grid);

impl From<(u32, u32)> for Extent {
    fn from((blocks, threads): (u32, u32)) -> Self {
        Extent(Grid {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
        })
    }
}

impl From<Grid> for Extent {
    fn from(grid: Grid) -> Self {
        Extent(grid)
    }
}

/// Runs with every check; the report.
pub fn run(source: &str, grid: impl Into<Extent>, buffers: &mut [Vec<u8>]) -> Report {
    let device = device_with(Checks::ALL);
    launch_on(&device, source, grid, buffers).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Runs with every check; the fault that must come.
pub fn fault(source: &str, grid: impl Into<Extent>, buffers: &mut [Vec<u8>]) -> Fault {
    let device = device_with(Checks::ALL);
    launch_on(&device, source, grid, buffers).expect_err("a fault was planted")
}

/// Why kernel `k` cannot run from its beginning to its end: an error of the source, or an
/// instruction that is not known.
pub fn not_known(source: &str) -> cuda_sim::ptx::ParseError {
    let parsed = match Module::parse(source) {
        Err(error) => return error,
        Ok(parsed) => parsed,
    };
    let kernel = parsed.kernel("k").unwrap();
    let unknown = kernel.unknown.clone();
    unknown.unwrap_or_else(|| panic!("all of this is known:\n{source}"))
}

/// The error of a source that must not be taken.
pub fn fault_of_parsing(source: &str) -> cuda_sim::ptx::ParseError {
    match Module::parse(source) {
        Err(error) => error,
        Ok(_) => panic!("this was taken:\n{source}"),
    }
}
