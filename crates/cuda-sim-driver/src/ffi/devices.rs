//! Initialisation, versions, error texts and devices.

use super::entries::entries;
use super::raw::{HostPointer, Out, Text, Values};
use super::{call, exit};
use crate::environment::environment;
use crate::error::{Code, Result, invalid};
use crate::state::driver::{Driver, initialise};
use crate::state::gpu::Gpu;
use std::ffi::{CStr, c_char};

/// A `CUuuid`.
pub type Uuid = [u8; 16];

/// A `CUdevprop`.
#[repr(C)]
pub struct Properties {
    threads_per_block: i32,
    block: [i32; 3],
    grid: [i32; 3],
    shared_per_block: i32,
    constant_bytes: i32,
    warp: i32,
    pitch: i32,
    registers_per_block: i32,
    clock_khz: i32,
    texture_align: i32,
}

entries! {
    bare fn cuInit(flags: u32) | | {
        if flags != 0 {
            return Err(invalid(format!("cuInit takes no flags, and these are {flags:#x}")));
        }
        initialise()?;
        exit::report_leaks_at_exit();
        Ok(())
    }

    bare fn cuDriverGetVersion(version: Out<i32>) | | {
        version.set(environment()?.version.0)
    }

    bare fn cuGetErrorName(error: Code, name: Out<*const c_char>) | | {
        set_words(&name, error.name())
    }

    bare fn cuGetErrorString(error: Code, text: Out<*const c_char>) | | {
        set_words(&text, error.text())
    }

    driver_wide fn cuDeviceGetCount(count: Out<i32>) |driver| {
        count.set(driver.devices.len() as i32)
    }

    driver_wide fn cuDeviceGet(device: Out<i32>, ordinal: i32) |driver| {
        driver.device(ordinal)?;
        device.set(ordinal)
    }

    device(dev) fn cuDeviceGetName(name: Values<u8>, bytes: i32, dev: i32) |_driver, device, _ordinal| {
        set_text(&name, bytes, &device.gpu.name())
    }

    device(dev) fn cuDeviceGetUuid_v2(uuid: Out<Uuid>, dev: i32) |_driver, device, ordinal| {
        uuid.set(uuid_of(&device.gpu, ordinal))
    }

    device(dev) fn cuDeviceTotalMem_v2(bytes: Out<usize>, dev: i32) |_driver, device, _ordinal| {
        bytes.set(device.gpu.memory_info().1 as usize)
    }

    device(dev) fn cuDeviceGetAttribute(value: Out<i32>, attribute: i32, dev: i32) |driver, device, ordinal| {
        value.set(attribute_of(driver, &device.gpu, ordinal, attribute)?)
    }

    device(dev) fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, dev: i32) |_driver, device, _ordinal| {
        let (high, low) = device.gpu.arch().compute_capability;
        major.set(high as i32)?;
        minor.set(low as i32)
    }

    device(dev) fn cuDeviceGetProperties(properties: Out<Properties>, dev: i32) |_driver, device, _ordinal| {
        let arch = device.gpu.arch();
        properties.set(Properties {
            threads_per_block: arch.max_threads_per_block as i32,
            block: arch.max_block_dim.map(|n| n as i32),
            grid: arch.max_grid_dim.map(|n| n as i32),
            shared_per_block: arch.shared_per_block as i32,
            constant_bytes: arch.constant_bytes as i32,
            warp: WARP,
            pitch: i32::MAX,
            registers_per_block: arch.registers_per_block as i32,
            clock_khz: arch.clock_khz as i32,
            texture_align: TEXTURE_ALIGN,
        })
    }

    device(dev) fn cuDeviceGetPCIBusId(name: Values<u8>, bytes: i32, dev: i32) |_driver, _device, ordinal| {
        set_text(&name, bytes, &format!("0000:{:02X}:00.0", ordinal + 1))
    }

    driver_wide fn cuDeviceGetByPCIBusId(device: Out<i32>, name: Text) |driver| {
        let name = name.string()?;
        let all = 0..driver.devices.len();
        let mut same = all.filter(|ordinal| name == format!("0000:{:02X}:00.0", ordinal + 1));
        device.set(same.next().ok_or_else(|| invalid(format!("no device is at '{name}'")))? as i32)
    }

    device(dev) fn cuDeviceGetP2PAttribute(value: Out<i32>, _attribute: u32, dev: i32, peer: i32) |driver, _device, _ordinal| {
        driver.device(peer)?;
        value.set(0)
    }

    device(dev) fn cuDeviceGetLuid(_luid: HostPointer, _mask: Out<u32>, dev: i32) |_driver, _device, _ordinal| {
        // Windows alone has such a thing.
        Err(Code::NOT_SUPPORTED.because("devices have such a name on Windows alone"))
    }

    device(dev) fn cuDeviceCanAccessPeer(can: Out<i32>, dev: i32, peer: i32) |driver, _device, _ordinal| {
        driver.device(peer)?;
        can.set(0)
    }
}

const WARP: i32 = sim::Arch::WARP as i32;
const TEXTURE_ALIGN: i32 = 512;
/// `CUdevice_attribute` numbers go this far in CUDA 13; beyond is no attribute.
const LAST_ATTRIBUTE: i32 = 150;

/// A `CUdevice_attribute` of a device. What the simulator does not have (textures,
/// surfaces, peer access, ...) is zero.
pub(super) fn attribute_of(
    driver: &Driver,
    gpu: &Gpu,
    ordinal: usize,
    attribute: i32,
) -> Result<i32> {
    let arch = gpu.arch();
    let value = match attribute {
        1 => arch.max_threads_per_block,
        2..=4 => arch.max_block_dim[attribute as usize - 2],
        5..=7 => arch.max_grid_dim[attribute as usize - 5],
        8 => arch.shared_per_block,
        9 => arch.constant_bytes,
        10 => sim::Arch::WARP,
        // The widest pitch; a single multiprocessor's copies overlap its kernels.
        11 => i32::MAX as u32,
        12 => arch.registers_per_block,
        13 => arch.clock_khz,
        14 => TEXTURE_ALIGN as u32,
        15 => 1,
        16 => arch.multiprocessors,
        // Concurrent kernels on different streams: allowed, though run in turn.
        31 => 1,
        33 => ordinal as u32 + 1,
        36 => arch.memory_clock_khz,
        37 => arch.memory_bus_bits,
        38 => arch.l2_bytes,
        39 => arch.max_threads_per_multiprocessor,
        // Copy engines; unified addressing.
        40 | 41 => 1,
        75 => arch.compute_capability.0,
        76 => arch.compute_capability.1,
        // Stream priorities; caches of global and local memory.
        78..=80 => 1,
        81 => arch.shared_per_multiprocessor,
        82 => arch.registers_per_multiprocessor,
        // Managed memory.
        83 => 1,
        // A group of its own for each board.
        85 => ordinal as u32,
        87 => arch.floats_for_a_double,
        // Cooperative launches.
        95 => 1,
        97 => arch.shared_per_block_optin,
        // Host memory can be registered.
        99 => 1,
        106 => arch.max_blocks_per_multiprocessor,
        111 => arch.reserved_shared_per_block,
        // cuMemAllocAsync, since CUDA 11.2.
        115 => u32::from(driver.environment.version.0 >= 11020),
        // Launches in clusters.
        120 => u32::from(arch.sm() >= 90),
        _ if (1..=LAST_ATTRIBUTE).contains(&attribute) => 0,
        _ => return Err(invalid(format!("{attribute} is no attribute of devices"))),
    };
    i32::try_from(value).map_err(|_| invalid("an attribute is too large for its type"))
}

/// A name of the device that no other has.
pub(super) fn uuid_of(gpu: &Gpu, ordinal: usize) -> Uuid {
    let mut uuid = *b"cuda-sim device\0";
    uuid[14] = gpu.arch().sm() as u8;
    uuid[15] = ordinal as u8;
    uuid
}

fn set_words(out: &Out<*const c_char>, words: Option<&'static CStr>) -> Result {
    match words {
        Some(words) => out.set(words.as_ptr()),
        None => {
            out.set(std::ptr::null())?;
            Err(invalid("CUDA has no such code"))
        }
    }
}

/// Writes a string of at most `bytes` bytes, its terminating zero included.
fn set_text(out: &Values<u8>, bytes: i32, text: &str) -> Result {
    let room = usize::try_from(bytes).unwrap_or(0);
    if room == 0 {
        return Err(invalid("there is no room for a text"));
    }
    let shown = text.as_bytes().iter().take(room - 1);
    for (index, byte) in shown.chain(&[0]).enumerate() {
        out.set(index, *byte)?;
    }
    Ok(())
}
