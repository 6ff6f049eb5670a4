//! Devices, and the runtime's version.

use super::call::{self, DEVICE, LAST, RETAINED, VERSION, driver_call, enter, started};
use crate::error::Code;
use crate::ffi::contexts::{
    cuCtxSetCurrent, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxSetFlags_v2,
};
use crate::ffi::devices::{
    attribute_of, cuDeviceGetAttribute, cuDeviceGetByPCIBusId, cuDeviceGetCount,
    cuDeviceGetPCIBusId, cuDriverGetVersion, uuid_of,
};
use crate::ffi::entries::entries;
use crate::ffi::raw::{Out, Text, Values};
use crate::state::handle::Handle;
use crate::state::thread;
use crate::sync::locked;

/// Bytes of a `cudaDeviceProp` of CUDA 13.
const PROPERTIES: usize = 1008;
/// The places of the device's name, identifier and memory size.
const NAME: usize = 0;
const UUID: usize = 256;
const TOTAL_MEMORY: usize = 288;
/// The places of the other fields, the bytes that they have, and the `CUdevice_attribute` that each
/// is. What no device here has is zero.
const FIELDS: &[(usize, usize, i32)] = &[
    (296, 8, 8),
    (304, 4, 12),
    (308, 4, 10),
    (312, 8, 11),
    (320, 4, 1),
    (324, 4, 2),
    (328, 4, 3),
    (332, 4, 4),
    (336, 4, 5),
    (340, 4, 6),
    (344, 4, 7),
    (352, 8, 9),
    (360, 4, 75),
    (364, 4, 76),
    (368, 8, 14),
    (384, 4, 16),
    (560, 4, 31),
    (568, 4, 33),
    (584, 4, 40),
    (588, 4, 41),
    (592, 4, 37),
    (596, 4, 38),
    (604, 4, 39),
    (608, 4, 78),
    (612, 4, 79),
    (616, 4, 80),
    (624, 8, 81),
    (632, 4, 82),
    (636, 4, 83),
    (644, 4, 85),
    (668, 4, 95),
    (672, 8, 97),
    (688, 4, 106),
    (696, 8, 111),
    (704, 4, 99),
    (720, 4, 115),
];

entries! {
    runtime_wide fn cudaRuntimeGetVersion(version: Out<i32>) | | {
        version.set(VERSION)
    }

    runtime_wide fn cudaDriverGetVersion(version: Out<i32>) | | {
        driver_call!(cuDriverGetVersion(version))
    }

    runtime_wide fn cudaGetDeviceCount(count: Out<i32>) | | {
        started()?;
        driver_call!(cuDeviceGetCount(count))
    }

    runtime_wide fn cudaSetDevice(device: i32) | | {
        enter(device)
    }

    runtime_wide fn cudaGetDevice(device: Out<i32>) | | {
        started()?;
        let current = thread::top()?;
        device.set(current.map_or(DEVICE.get(), |context| context.ordinal as i32))
    }

    runtime_wide fn cudaDeviceGetAttribute(value: Out<i32>, attribute: i32, device: i32) | | {
        started()?;
        driver_call!(cuDeviceGetAttribute(value, attribute, device))
    }

    runtime_wide fn cudaGetDeviceProperties(out: Out<[u8; PROPERTIES]>, ordinal: i32) | | {
        let driver = started()?;
        let gpu = &driver.device(ordinal)?.gpu;
        let ordinal = ordinal as usize;
        let mut properties = [0; PROPERTIES];
        let mut put = |at: usize, bytes: &[u8]| properties[at..at + bytes.len()].copy_from_slice(bytes);
        put(NAME, gpu.name().as_bytes());
        put(UUID, &uuid_of(gpu, ordinal));
        put(TOTAL_MEMORY, &gpu.memory_info().1.to_le_bytes());
        for (at, bytes, attribute) in FIELDS {
            // Never negative, so what is wider is zero above.
            let value = attribute_of(driver, gpu, ordinal, *attribute)? as u64;
            put(*at, &value.to_le_bytes()[..*bytes]);
        }
        out.set(properties)
    }

    runtime_wide fn cudaDeviceGetPCIBusId(name: Values<u8>, bytes: i32, device: i32) | | {
        started()?;
        driver_call!(cuDeviceGetPCIBusId(name, bytes, device))
    }

    runtime_wide fn cudaDeviceGetByPCIBusId(device: Out<i32>, name: Text) | | {
        started()?;
        driver_call!(cuDeviceGetByPCIBusId(device, name))
    }

    runtime_wide fn cudaSetDeviceFlags(flags: u32) | | {
        started()?;
        driver_call!(cuDevicePrimaryCtxSetFlags_v2(DEVICE.get(), flags))
    }

    // Contexts are made at their first use, which costs nothing here.
    runtime_wide fn cudaInitDevice(device: i32, _device_flags: u32, _flags: u32) | | {
        started()?.device(device).map(|_| ())
    }

    runtime_wide fn cudaDeviceReset() | | {
        started()?;
        let device = thread::top()?.map_or(DEVICE.get(), |context| context.ordinal as i32);
        let mut retained = locked(&RETAINED);
        retained.get_or_insert_default().remove(&device);
        driver_call!(cuCtxSetCurrent(Handle::NULL))?;
        driver_call!(cuDevicePrimaryCtxReset_v2(device))?;
        LAST.set(Code::SUCCESS);
        Ok(())
    }
}

/// A `cudaChannelFormatDesc`.
#[repr(C)]
pub struct ChannelFormat {
    bits: [i32; 4],
    kind: u32,
}

/// Puts a description of texels together; there are no textures to use it with.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(
    x: i32,
    y: i32,
    z: i32,
    w: i32,
    kind: u32,
) -> ChannelFormat {
    ChannelFormat {
        bits: [x, y, z, w],
        kind,
    }
}
