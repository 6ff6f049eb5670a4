//! Memory, copies, fills.

use super::api::{self, Pinned};
use super::program;

const MIB: usize = 1 << 20;

#[test]
fn memory_runs_out_and_comes_back() {
    program(&[("CUDA_SIM_DEVICES", "sm_75:64MiB")], || {
        api::start();
        assert_eq!(api::memory_info(), (64 * MIB, 64 * MIB));
        assert_eq!(api::alloc(0), Err(1));
        assert_eq!(api::alloc(65 * MIB), Err(2));
        assert_eq!(api::alloc(usize::MAX), Err(2));
        let first = api::alloc(40 * MIB).expect("fits");
        assert!(first.is_multiple_of(256));
        assert_eq!(api::alloc(40 * MIB), Err(2));
        assert_eq!(api::memory_info().0, 24 * MIB);
        api::free(first).expect("freed");
        assert_eq!(api::free(first), Err(1));
        assert_eq!(api::free(0), Ok(()));
        let again = api::alloc(40 * MIB).expect("fits again");
        assert_eq!(api::free(again + 256), Err(1));
        api::free(again).expect("freed");
        api::stop();
    });
}

#[test]
fn copies_keep_to_their_block() {
    program(&[], || {
        api::start();
        let block = api::alloc(40).expect("memory");
        let words: Vec<u32> = (0..10).map(|i| 0x0101_0101 * i).collect();
        api::write(block, &words).expect("all of it");
        assert_eq!(api::read(block, 10), Ok(words.clone()));
        assert_eq!(api::read(block + 36, 1), Ok(vec![words[9]]));
        assert_eq!(api::write(block, &[0; 11]), Err(1));
        assert_eq!(api::read(block + 8, 9), Err(1));
        assert_eq!(api::read(block - 4, 1), Err(1));
        assert_eq!(api::read(16, 1), Err(1));
        // Nothing to copy is no error, wherever it is.
        assert_eq!(api::write(block, &[]), Ok(()));

        let other = api::alloc(40).expect("memory");
        api::copy(other, block, 40).expect("within the device");
        assert_eq!(api::read(other, 10), Ok(words));
        assert_eq!(api::copy(other, block + 4, 40), Err(1));
        api::free(block).expect("freed");
        assert_eq!(api::read(block, 1), Err(1));
        api::free(other).expect("freed");
        api::stop();
    });
}

#[test]
fn fills_repeat_their_unit() {
    program(&[], || {
        api::start();
        let block = api::alloc(16).expect("memory");
        api::fill32(block, 0xdead_beef, 4).expect("words");
        assert_eq!(api::read(block, 4), Ok(vec![0xdead_beef; 4]));
        api::fill16(block + 2, 0x1234, 3).expect("halves");
        api::fill8(block + 15, 0xff, 1).expect("a byte");
        assert_eq!(
            api::read(block, 4),
            Ok(vec![0x1234_beef, 0x1234_1234, 0xdead_beef, 0xffad_beef])
        );
        assert_eq!(api::fill32(block, 0, 5), Err(1));
        assert_eq!(api::fill32(block + 2, 0, 1), Err(1));
        assert_eq!(api::fill16(block, 0, usize::MAX), Err(1));
        api::free(block).expect("freed");
        api::stop();
    });
}

#[test]
fn rows_of_pitched_memory_are_apart() {
    program(&[], || {
        api::start();
        let (address, pitch) = api::alloc_pitch(12, 5).expect("memory");
        assert!(pitch >= 12 && pitch.is_multiple_of(16));
        let rows: Vec<u8> = (0..60).collect();
        api::write_rows((address, pitch), &rows, 12, 5).expect("rows");
        for row in 0..5_u32 {
            let words: Vec<u32> = (0..3)
                .map(|i| {
                    let first = (12 * row + 4 * i) as u8;
                    u32::from_ne_bytes([first, first + 1, first + 2, first + 3])
                })
                .collect();
            let start = address + u64::from(row) * pitch as u64;
            assert_eq!(api::read(start, 3), Ok(words));
        }
        assert_eq!(api::write_rows((address, 8), &rows, 12, 5), Err(1));
        assert_eq!(api::write_rows((address, 1 << 40), &rows, 12, 5), Err(1));
        api::free(address).expect("freed");
        api::stop();
    });
}

#[test]
fn host_memory_is_known_while_it_is_page_locked() {
    program(&[], || {
        api::start();
        let pinned = Pinned::new(8).expect("page-locked memory");
        pinned.free().expect("freed");
        let mut own = vec![7_u32; 1000];
        let answers = api::register_and_unregister(&mut own);
        assert_eq!(answers, (Ok(()), Err(712), Ok(())));
        assert_eq!(api::unregister_unknown(&mut own), Err(713));
        api::stop();
    });
}

#[test]
fn addresses_say_where_they_are() {
    program(&[("CUDA_SIM_DEVICES", "2xsm_80:64MiB")], || {
        api::init(0).expect("two devices");
        let contexts = [0, 1].map(|device| api::primary_retain(device).expect("a context"));
        let blocks = contexts.map(|context| {
            api::context_set(context).expect("current");
            api::alloc(100).expect("memory")
        });
        for (device, (block, context)) in blocks.into_iter().zip(contexts).enumerate() {
            let attribute = |attribute| api::pointer_attribute(attribute, block + 99);
            assert_eq!(attribute(1), Ok(context as u64));
            assert_eq!(attribute(2), Ok(2));
            assert_eq!(attribute(9), Ok(device as u64));
            assert_eq!(attribute(11), Ok(block));
            assert_eq!(attribute(12), Ok(100));
            // Not host memory, and one byte too far.
            assert_eq!(attribute(4), Err(1));
            assert_eq!(api::pointer_attribute(9, block + 100), Err(1));
        }
        // One device's memory goes to the other's.
        api::fill32(blocks[1], 42, 25).expect("filled");
        api::synchronize().expect("filled");
        api::context_set(contexts[0]).expect("current");
        api::copy(blocks[0], blocks[1], 100).expect("across");
        assert_eq!(api::read(blocks[0], 25), Ok(vec![42; 25]));
        for (context, block) in contexts.into_iter().zip(blocks) {
            api::context_set(context).expect("current");
            api::free(block).expect("freed");
        }
        for device in [0, 1] {
            api::primary_release(device).expect("released");
        }
    });
}

#[test]
fn managed_memory_has_one_address() {
    program(&[], || {
        api::start();
        let managed = api::alloc_managed(40, 1).expect("memory");
        assert_eq!(api::pointer_attribute(8, managed), Ok(1));
        api::managed_words(managed, 10)[3] = 33;
        assert_eq!(api::read(managed, 10).expect("as device memory")[3], 33);
        api::fill32(managed, 5, 2).expect("filled");
        api::synchronize().expect("done");
        assert_eq!(api::managed_words(managed, 10)[..4], [5, 5, 0, 33]);
        assert_eq!(api::alloc_managed(40, 0), Err(1));
        assert_eq!(api::alloc_managed(0, 1), Err(1));
        assert_eq!(api::alloc_managed(1 << 50, 1), Err(2));
        api::free(managed).expect("freed");
        api::stop();
    });
}

#[test]
fn what_nothing_wrote_may_be_kept_from_the_host() {
    let copies = || {
        api::start();
        let block = api::alloc(16).expect("memory");
        api::write(block, &[1, 2, 3]).expect("written");
        assert_eq!(api::read(block, 3), Ok(vec![1, 2, 3]));
        let checked = std::env::var_os("CUDA_SIM_CHECKS").is_some();
        let all = api::read(block, 4).map(|words| words.len());
        assert_eq!(all, if checked { Err(719) } else { Ok(4) });
    };
    let off = ("CUDA_SIM_LEAKS", "off");
    program(&[off], copies);
    let stderr = program(&[off, ("CUDA_SIM_CHECKS", "all,copies")], copies);
    let words = "a copy to the host of 16 bytes from 0x100000000000 on: nothing defined has been \
                 written to 0x10000000000c; device 0 answers";
    assert!(stderr.contains(words), "{stderr}");
}
