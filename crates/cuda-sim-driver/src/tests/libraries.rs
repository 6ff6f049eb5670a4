//! Libraries, fat binaries, the linker, functions by name, and memory pools.

use super::{api, later, program};

const HEAD: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

/// `put(out)`: 7 goes to `out` and to the variable `last`.
const PUT: &str = "
.visible .global .u32 last;
.visible .entry put(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, 7;
    st.global.u32 [%d1], %r1;
    st.global.u32 [last], %r1;
    ret;
}";

pub fn image() -> Vec<u8> {
    format!("{HEAD}{PUT}\0").into_bytes()
}

/// A fat binary with one entry for each content: kind, architecture, flags, bytes,
/// and how many they are uncompressed.
pub fn fat_binary(entries: &[(u16, u32, u64, &[u8], u64)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, sm, flags, content, whole) in entries {
        let padded = content.len().next_multiple_of(8);
        let mut head = [0; 64];
        head[..2].copy_from_slice(&kind.to_le_bytes());
        head[4..8].copy_from_slice(&64_u32.to_le_bytes());
        head[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        head[16..20].copy_from_slice(&(content.len() as u32).to_le_bytes());
        head[28..32].copy_from_slice(&sm.to_le_bytes());
        head[40..48].copy_from_slice(&flags.to_le_bytes());
        head[56..].copy_from_slice(&whole.to_le_bytes());
        body.extend(head);
        body.extend(*content);
        body.resize(body.len() + padded - content.len(), 0);
    }
    let mut file = 0xba55_ed50_u32.to_le_bytes().to_vec();
    file.extend([1, 0, 16, 0]);
    file.extend((body.len() as u64).to_le_bytes());
    file.extend(body);
    file
}

#[test]
fn a_library_is_loaded_into_each_context_that_uses_it() {
    program(&[("CUDA_SIM_DEVICES", "2xsm_90")], || {
        api::start();
        let library = later::library(&image()).expect("loaded");
        assert_eq!(later::kernel_count(library), Ok(1));
        assert_eq!(later::kernel(library, "no"), Err(500));
        let put = later::kernel(library, "put").expect("a kernel");
        assert_eq!(later::kernel(library, "put"), Ok(put));
        for device in [0, 1] {
            let context = api::context_create(0, device).expect("a context");
            let out = api::alloc(4).expect("memory");
            api::fill32(out, 0, 1).expect("filled");
            // The kernel itself is launched, and the function that it stands for.
            let function = later::kernel_function(put).expect("a function");
            for function in [put, function] {
                api::launch(function, [1; 3], [1; 3], 0, 0, &[out]).expect("launched");
            }
            assert_eq!(api::read(out, 1), Ok(vec![7]));
            let (last, bytes) = later::library_global(library, "last").expect("a variable");
            assert_eq!((bytes, api::read(last, 1)), (4, Ok(vec![7])));
            assert_eq!(later::kernel_attribute(0, put, device), Ok(1024));
            api::free(out).expect("freed");
            api::context_destroy(context).expect("destroyed");
        }
        later::library_unload(library).expect("unloaded");
        assert_eq!(later::kernel_function(put), Err(400));
        api::stop();
    });
}

#[test]
fn a_fat_binary_gives_the_newest_ptx_that_the_device_takes() {
    program(&[("CUDA_SIM_DEVICES", "sm_80")], || {
        api::start();
        let source = image();
        let empty = format!("{HEAD}\0").into_bytes();
        let packed = lz4_flex::block::compress(&source);
        let whole = source.len() as u64;
        let squeezed = ruzstd::encoding::compress_to_vec(
            &source[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        let plain: (u16, u32, u64, &[u8], u64) = (1, 80, 0, &source, 0);
        for newest in [
            plain,
            (1, 80, 0x2000, &packed, whole),
            (1, 80, 0x8000, &squeezed, whole),
        ] {
            let code: (u16, u32, u64, &[u8], u64) = (2, 80, 0, b"\x7fELF", 0);
            let file = fat_binary(&[(1, 75, 0, &empty, 0), code, newest, (1, 90, 0, &empty, 0)]);
            let library = later::library(&file).expect("loaded");
            assert_eq!(later::kernel_count(library), Ok(1));
            later::library_unload(library).expect("unloaded");
            let module = api::load_image(&file).expect("loaded");
            api::module_unload(module).expect("unloaded");
        }
        // Machine code alone, and what ends too early.
        assert_eq!(
            later::library(&fat_binary(&[(2, 80, 0, b"\x7fELF", 0)])),
            Err(209)
        );
        let damaged = fat_binary(&[(1, 80, 0x2000, &packed[..9], whole)]);
        assert_eq!(later::library(&damaged), Err(200));
        api::stop();
    });
}

#[test]
fn the_linker_makes_one_image_of_several_sources() {
    program(&[], || {
        api::start();
        let call = format!(
            "{}.extern .func (.param .b32 r) seven();
            .visible .entry put(.param .u64 out) {{ .reg .b32 %r; .reg .b64 %d; .param .b32 x;
            ld.param.u64 %d, [out]; call (x), seven; ld.param.b32 %r, [x]; st.global.u32 [%d], %r; ret; }}",
            HEAD.replace("7.0", "7.8")
        );
        let seven = format!(
            "{HEAD}.visible .func (.param .b32 r) seven() {{ .reg .b32 %r; mov.u32 %r, 7; st.param.b32 [r], %r; ret; }}"
        );
        for sources in [[&call, &seven], [&seven, &call]] {
            let module = later::link(&sources.map(String::as_str), api::load_image);
            let module = module.expect("loaded");
            let out = api::alloc(4).expect("memory");
            let put = api::function(module, "put").expect("a kernel");
            api::launch(put, [1; 3], [1; 3], 0, 0, &[out]).expect("launched");
            assert_eq!(api::read(out, 1), Ok(vec![7]));
            api::free(out).expect("freed");
            api::module_unload(module).expect("unloaded");
        }
        api::stop();
    });
}

#[test]
fn functions_are_found_by_the_names_and_versions_of_programs() {
    program(&[("CUDA_SIM_DRIVER_VERSION", "12.4")], || {
        let address = |name: &str, version| later::proc_address(name, version, 0);
        let (old, new) = (
            address("cuGetProcAddress", 11030),
            address("cuGetProcAddress", 12000),
        );
        assert!(old.0.is_ok() && new.0.is_ok() && old != new);
        for name in [
            "cuInit",
            "cuMemAlloc",
            "cuLaunchKernel",
            "cuLibraryLoadData",
            "cuGraphLaunch",
        ] {
            let (function, status) = address(name, 12000);
            assert!(
                function.is_ok_and(|function| function != 0) && status == 0,
                "{name}"
            );
        }
        // Not known at all; known to later drivers only.
        assert_eq!(address("cuFrobnicate", 12000), (Err(500), 1));
        assert_eq!(address("cuLaunchKernelEx", 11000), (Err(500), 2));
        assert_eq!(
            address("cuEventElapsedTime", 12080),
            address("cuEventElapsedTime", 12000)
        );
    });
}

#[test]
fn pools_count_what_is_taken_from_them() {
    program(&[], || {
        api::start();
        let default = later::default_pool(0).expect("a pool");
        assert_eq!(later::default_pool(0), Ok(default));
        assert_eq!(later::pool_destroy(default), Err(1));
        let pool = later::pool_create(0).expect("a pool");
        assert_eq!(later::pool_create(7), Err(101));
        let stream = api::stream_create(1).expect("a stream");
        let [a, b] =
            [100, 1000].map(|bytes| later::alloc_from(bytes, pool, stream).expect("memory"));
        let c = api::alloc_async(50, stream).expect("memory");
        // Bytes in use, and the most there were.
        assert_eq!(later::pool_attribute(pool, 7), Ok(1100));
        assert_eq!(later::pool_attribute(default, 7), Ok(50));
        api::free_async(b, stream).expect("freed");
        api::stream_synchronize(stream).expect("done");
        let marks = |pool| [7, 8].map(|attribute| later::pool_attribute(pool, attribute));
        assert_eq!(marks(pool), [Ok(100), Ok(1100)]);
        later::set_pool_attribute(pool, 8, 0).expect("set back");
        assert_eq!(marks(pool), [Ok(100), Ok(100)]);
        later::set_pool_attribute(pool, 4, 1 << 20).expect("kept");
        assert_eq!(later::pool_attribute(pool, 4), Ok(1 << 20));
        for address in [a, c] {
            api::free(address).expect("freed");
        }
        later::pool_destroy(pool).expect("destroyed");
        assert_eq!(later::alloc_from(4, pool, stream), Err(1));
        api::stream_destroy(stream).expect("destroyed");
        api::stop();
    });
}
